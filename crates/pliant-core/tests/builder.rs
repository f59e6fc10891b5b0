//! Claim: the builder accepts what is legal and reports everything else, each kind of defect with
//! the element, the scene file's key and a message that names what is wrong.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::*;
use pliant_core::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

/// A body of 1 kg.
fn heavy(name: &str) -> Body {
    Body::new(name, Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1, 0.2, 0.3]))
}

/// `upper` on the world by hinge `shoulder`, `lower` on `upper` by hinge `elbow`, effector `tip`.
fn arm() -> MechanismBuilder {
    let mut builder = MechanismBuilder::new("arm");
    builder.body(heavy("upper")).body(heavy("lower"));
    builder.joint(JointDescription::new("shoulder", JointKind::Hinge, "world", "upper").stiffness(10.0));
    builder.joint(JointDescription::new("elbow", JointKind::Hinge, "upper", "lower").stiffness(10.0));
    builder.effector(EffectorDescription {
        name: "tip".into(),
        body: "lower".into(),
        frame: Pose::identity(),
    });
    builder
}

fn defects(builder: MechanismBuilder) -> Vec<Defect> {
    builder.build().expect_err("should be refused").defects
}

/// The arm, changed, has exactly one defect: this one.
#[track_caller]
fn refused(
    change: impl FnOnce(&mut MechanismBuilder),
    element: Element,
    field: &'static str,
    message: &str,
    help: &str,
) {
    let mut builder = arm();
    change(&mut builder);
    let defects = defects(builder);
    assert_eq!(defects.len(), 1, "{defects:#?}");
    let defect = &defects[0];
    assert_eq!((defect.element, defect.field), (element, Some(field)), "{defect:?}");
    assert!(defect.message.contains(message), "{defect:?}");
    assert!(defect.help.contains(help), "{defect:?}");
    assert_eq!(defect.to_string(), format!("{} ({})", defect.message, defect.help));
}

fn hinge(name: &str) -> JointDescription {
    JointDescription::new(name, JointKind::Hinge, "upper", "lower")
}

fn coupling(joint: &str, of: &str) -> CouplingDescription {
    CouplingDescription { joint: joint.into(), of: of.into(), ratio: 1.0, offset: 0.0 }
}

fn target(joint: &str, time: &[f64], position: &[&[f64]]) -> TargetDescription {
    TargetDescription {
        joint: joint.into(),
        time: time.to_vec(),
        position: position.iter().map(|p| p.to_vec()).collect(),
    }
}

fn not_finite() -> Pose {
    Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(f64::NAN, 0.0, 0.0, 0.0)), Vector3::zeros())
}

#[test]
fn the_arm_itself_is_legal() {
    let arm = arm().build().expect("legal");
    let summary = arm.summary();
    assert_eq!((summary.bodies, summary.joints, summary.freedoms, summary.loops), (2, 2, 2, 0));
    assert_eq!((summary.effectors, summary.mass), (vec!["tip".to_string()], 2.0));
    assert!(summary.warnings.is_empty());
    assert_eq!(arm.find_body("lower").map(|b| b.index()), Some(1));
    assert_eq!(arm.find_joint("elbow").map(|j| arm.parent_name(j)), Some("upper"));
    assert_eq!(arm.find_effector("nose"), None);
}

#[test]
fn an_empty_mechanism_is_legal() {
    let empty = MechanismBuilder::new("").build().expect("legal");
    assert_eq!((empty.radius(), empty.mass()), (0.0, 0.0));
}

#[test]
fn names() {
    let free = |name: &str| heavy(name).free();
    refused(
        |b| {
            b.body(free(""));
        },
        Element::Body(2),
        "name",
        "a body has no name",
        "name = ",
    );
    refused(
        |b| {
            b.body(free("a\nb"));
        },
        Element::Body(2),
        "name",
        "control character",
        "printable",
    );
    refused(
        |b| {
            b.body(free("world"));
        },
        Element::Body(2),
        "name",
        "called `world`",
        "does not move",
    );
    refused(
        |b| {
            b.body(free("upper"));
        },
        Element::Body(2),
        "name",
        "already a body `upper`",
        "own name",
    );
    refused(
        |b| {
            b.joint(hinge("elbow"));
        },
        Element::Joint(2),
        "name",
        "already a joint `elbow`",
        "own",
    );
    refused(
        |b| {
            b.joint(hinge(""));
        },
        Element::Joint(2),
        "name",
        "a joint has no name",
        "name = ",
    );
    let effector =
        |name: &str| EffectorDescription { name: name.into(), body: "upper".into(), frame: Pose::identity() };
    refused(
        |b| {
            b.effector(effector("tip"));
        },
        Element::Effector(1),
        "name",
        "already an effector `tip`",
        "own name",
    );
    refused(
        |b| {
            b.effector(effector(""));
        },
        Element::Effector(1),
        "name",
        "no name",
        "name = ",
    );
    // Names of different kinds may be the same.
    let mut builder = arm();
    builder.effector(effector("upper")).joint(hinge("upper"));
    assert!(builder.build().is_ok());
}

#[test]
fn references() {
    let joint = |parent: &str, child: &str| JointDescription::new("j", JointKind::Hinge, parent, child);
    refused(
        |b| {
            b.joint(joint("uper", "lower"));
        },
        Element::Joint(2),
        "parent",
        "no body `uper`",
        "did you mean `upper`?",
    );
    refused(
        |b| {
            b.joint(joint("gearbox", "lower"));
        },
        Element::Joint(2),
        "parent",
        "no body `gearbox`",
        "or `world`",
    );
    refused(
        |b| {
            b.joint(joint("upper", "lowr"));
        },
        Element::Joint(2),
        "child",
        "no body `lowr`",
        "`lower`",
    );
    refused(
        |b| {
            b.joint(joint("upper", "world"));
        },
        Element::Joint(2),
        "child",
        "joint `j` has the world as its child",
        "swap",
    );
    refused(
        |b| {
            b.effector(EffectorDescription {
                name: "e".into(),
                body: "hand".into(),
                frame: Pose::identity(),
            });
        },
        Element::Effector(1),
        "body",
        "no body `hand`",
        "name a body",
    );
    refused(
        |b| {
            b.load(LoadDescription { effector: "tipp".into(), wrench: Wrench::ZERO });
        },
        Element::Load(0),
        "effector",
        "no effector `tipp`",
        "did you mean `tip`?",
    );
    refused(
        |b| {
            b.coupling(coupling("knee", "elbow"));
        },
        Element::Coupling(0),
        "joint",
        "no joint `knee`",
        "name a joint",
    );
    refused(
        |b| {
            b.coupling(coupling("elbow", "elbw"));
        },
        Element::Coupling(0),
        "of",
        "no joint `elbw`",
        "`elbow`",
    );
    refused(
        |b| {
            b.target(target("knee", &[0.0], &[&[0.0]]));
        },
        Element::Target(0),
        "joint",
        "no joint `knee`",
        "name a joint",
    );
}

/// A joint with an unknown child does not make its body look unheld as well.
#[test]
fn one_mistake_is_reported_once() {
    let mut builder = MechanismBuilder::new("");
    builder.body(heavy("a"));
    builder.joint(JointDescription::new("j", JointKind::Hinge, "wordl", "a"));
    assert_eq!(defects(builder).len(), 1);
}

#[test]
fn numbers_of_the_mechanism_and_of_poses() {
    refused(
        |b| {
            b.gravity([0.0, f64::NAN, 0.0]);
        },
        Element::Mechanism,
        "gravity",
        "not finite",
        "m/s²",
    );
    let far = Pose::translation([f64::INFINITY, 0.0, 0.0]);
    let base = |pose: Pose| Body { pose, ..heavy("base").free() };
    let long =
        Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(0.0, 2.0, 0.0, 0.0)), Vector3::zeros());
    refused(
        |b| {
            b.body(base(long));
        },
        Element::Body(2),
        "rotation",
        "a quaternion of norm 2.0000",
        "normalise",
    );
    refused(
        |b| {
            b.body(base(far));
        },
        Element::Body(2),
        "position",
        "body `base`",
        "finite",
    );
    refused(
        |b| {
            b.body(base(not_finite()));
        },
        Element::Body(2),
        "rotation",
        "body `base`",
        "w, x, y, z",
    );
    refused(
        |b| {
            b.joint(hinge("j").frame(far));
        },
        Element::Joint(2),
        "position",
        "joint `j`",
        "finite",
    );
    refused(
        |b| {
            b.joint(hinge("j").axis(Vector3::zeros(), Vector3::zeros()));
        },
        Element::Joint(2),
        "rotation",
        "joint `j`",
        "w, x, y, z",
    );
    refused(
        |b| {
            b.effector(EffectorDescription { name: "e".into(), body: "upper".into(), frame: far });
        },
        Element::Effector(1),
        "position",
        "effector `e`",
        "m",
    );
    for (field, wrench) in [
        ("force", Wrench::force([0.0, 0.0, f64::INFINITY])),
        ("torque", Wrench::torque([f64::NAN, 0.0, 0.0])),
    ] {
        refused(
            |b| {
                b.load(LoadDescription { effector: "tip".into(), wrench });
            },
            Element::Load(0),
            field,
            "load on `tip` is not finite",
            "three finite numbers, N",
        );
    }
}

#[test]
fn inertias() {
    let box_ = SpatialInertia::of_box(1.0, [0.1, 0.2, 0.3]);
    let diagonal = |a, b, c| Matrix3::from_diagonal(&Vector3::new(a, b, c));
    let cases = [
        ("mass", SpatialInertia { mass: -1.0, ..box_ }, "the mass is -1", "kg"),
        ("mass", SpatialInertia { mass: f64::NAN, ..box_ }, "the mass is NaN", "kg"),
        (
            "center_of_mass",
            SpatialInertia { center_of_mass: Vector3::repeat(f64::NAN), ..box_ },
            "centre of mass is not finite",
            "m",
        ),
        (
            "inertia",
            SpatialInertia { inertia: diagonal(f64::INFINITY, 1.0, 1.0), ..box_ },
            "inertia is not finite",
            "kg·m²",
        ),
        ("inertia", SpatialInertia { mass: 0.0, ..box_ }, "inertia without mass", "mass above zero"),
        ("inertia", SpatialInertia { inertia: diagonal(1.0, 2.0, 4.0), ..box_ }, "no rigid body", "the sum"),
        (
            "inertia",
            SpatialInertia { inertia: diagonal(-1.0, 1.0, 1.0), ..box_ },
            "no rigid body",
            "negative",
        ),
        (
            "inertia",
            SpatialInertia {
                inertia: box_.inertia + Matrix3::new(0.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ..box_
            },
            "not symmetric",
            "xy = yx",
        ),
        (
            "inertia",
            SpatialInertia { inertia: diagonal(1e300, 1e300, 3e300), ..box_ },
            "no rigid body",
            "the sum",
        ),
    ];
    for (field, inertia, message, help) in cases {
        // Welded to a body of mass, so that nothing else is wrong with it.
        let mut builder = arm();
        builder.body(Body::new("part", Pose::identity()).inertia(inertia));
        builder.joint(JointDescription::new("weld", JointKind::Fixed, "lower", "part"));
        let defects = defects(builder);
        assert_eq!(defects.len(), 1, "{defects:?}");
        let defect = &defects[0];
        assert_eq!((defect.element, defect.field), (Element::Body(2), Some(field)));
        assert!(defect.message.contains("body `part`") && defect.message.contains(message), "{defect:?}");
        assert!(defect.help.contains(help), "{defect:?}");
    }
    // A thin rod and a plate sit on the bound, a file's six digits may sit a little beyond.
    for inertia in [diagonal(1.0, 1.0, 2.0), diagonal(0.333333, 0.666667, 1.0), diagonal(1.0, 1.0, 1e-9)] {
        let mut builder = arm();
        builder.body(heavy("part").free().inertia(SpatialInertia { inertia, ..box_ }));
        assert!(builder.build().is_ok(), "{inertia}");
    }
}

#[test]
fn shapes() {
    let with = |shape: Shape| {
        move |b: &mut MechanismBuilder| {
            b.world_shape(shape);
        }
    };
    let element = Element::WorldShape(0);
    let ball = |radius| Shape::new(Geometry::Ball { radius });
    refused(with(ball(0.0)), element, "radius", "a ball shape of the world: radius", "above zero");
    refused(with(ball(f64::NAN)), element, "radius", "not NaN", "above zero");
    let size = Vector3::new(1.0, -1.0, 1.0);
    refused(with(Shape::new(Geometry::Box { size })), element, "size", "a box shape", "m");
    for geometry in [
        Geometry::Capsule { radius: 0.1, half_length: -0.1 },
        Geometry::Cylinder { radius: 0.1, half_length: f64::INFINITY },
    ] {
        refused(with(Shape::new(geometry)), element, "half_length", "positive length", "m");
    }
    let file = || "part.obj".to_string();
    for geometry in [
        Geometry::Mesh { file: file(), scale: Vector3::new(1.0, 0.0, 1.0) },
        Geometry::Convex { file: file(), scale: Vector3::repeat(f64::NAN) },
    ] {
        refused(with(Shape::new(geometry)), element, "scale", "zero or infinite", "three");
    }
    for heights in [vec![], vec![vec![0.0, 1.0]], vec![vec![0.0, 1.0], vec![0.0]], vec![vec![f64::NAN; 2]; 2]]
    {
        let field = Shape::new(Geometry::Heightfield { size: [1.0, 1.0], heights });
        refused(with(field), element, "heights", "do not form a grid", "two rows");
    }
    let flat = Geometry::Heightfield { size: [1.0, 0.0], heights: vec![vec![0.0; 2]; 2] };
    refused(with(Shape::new(flat)), element, "size", "a heightfield shape", "m");
    refused(with(Shape { density: Some(0.0), ..ball(1.0) }), element, "density", "positive", "kg/m³");
    refused(with(Shape { friction: Some(-0.1), ..ball(1.0) }), element, "friction", "-0.1", "zero or above");
    refused(with(ball(1.0).at(not_finite())), element, "rotation", "not finite", "w, x, y, z");
    refused(
        |b| {
            b.body(heavy("base").free().shape(ball(1.0)).shape(ball(-1.0)));
        },
        Element::BodyShape(2, 1),
        "radius",
        "a ball shape of body `base`",
        "m",
    );
}

#[test]
fn values_per_freedom() {
    let element = Element::Joint(2);
    let with = |joint: JointDescription| {
        move |b: &mut MechanismBuilder| {
            b.joint(joint);
        }
    };
    refused(with(hinge("j").stiffness(-1.0)), element, "stiffness", "stiffness is -1", "N·m/rad");
    refused(with(hinge("j").damping(f64::NAN)), element, "damping", "damping is NaN", "N·m·s/rad");
    refused(with(hinge("j").armature(f64::INFINITY)), element, "armature", "armature is inf", "kg·m²");
    refused(with(hinge("j").rest(f64::INFINITY)), element, "rest", "rest is inf", "finite");
    refused(
        with(hinge("j").stiffness([1.0, 2.0])),
        element,
        "stiffness",
        "stiffness has 2 entries, but a hinge joint has 1 freedom",
        "a list of 1",
    );
    refused(with(hinge("j").rest(Vec::new())), element, "rest", "rest has 0 entries", "list of 1");
    let fixed = || JointDescription::new("j", JointKind::Fixed, "upper", "lower");
    refused(with(fixed().damping(1.0)), element, "damping", "a fixed joint has no freedom", "leave it out");
    refused(with(fixed().limits((0.0, 1.0))), element, "limits", "a fixed joint has no freedom", "leave");
    refused(with(fixed().rest(Vec::new())), element, "rest", "a fixed joint has no freedom", "leave it out");
    refused(with(hinge("j").limits((1.0, -1.0))), element, "limits", "1 is above", "[-1, 1]");
    refused(with(hinge("j").limits((f64::NAN, 1.0))), element, "limits", "not a number", "inf for none");
    let infinity = f64::INFINITY;
    refused(with(hinge("j").limits((infinity, infinity))), element, "limits", "no coordinate", "-inf");
    refused(with(hinge("j").limits([(0.0, 1.0); 3])), element, "limits", "limits has 3 entries", "list of 1");
}

#[test]
fn couplings() {
    let element = Element::Coupling(0);
    for (field, ratio, offset) in [("ratio", f64::NAN, 0.0), ("offset", 1.0, f64::INFINITY)] {
        refused(
            |b| {
                b.coupling(CouplingDescription { ratio, offset, ..coupling("elbow", "shoulder") });
            },
            element,
            field,
            "coupling of `elbow` is not finite",
            "finite",
        );
    }
    refused(
        |b| {
            b.joint(JointDescription::new("wrist", JointKind::Ball, "upper", "lower"));
            b.coupling(coupling("elbow", "wrist"));
        },
        element,
        "of",
        "joint `wrist` has 3 freedoms",
        "one freedom",
    );
    refused(
        |b| {
            b.joint(JointDescription::new("weld", JointKind::Fixed, "world", "upper"));
            b.coupling(coupling("weld", "elbow"));
        },
        element,
        "joint",
        "joint `weld` has 0 freedoms",
        "one freedom",
    );
    refused(
        |b| {
            b.coupling(coupling("elbow", "elbow"));
        },
        element,
        "of",
        "joint `elbow` would follow itself",
        "free one",
    );
    refused(
        |b| {
            b.joint(hinge("third")).joint(hinge("fourth"));
            b.coupling(coupling("elbow", "third")).coupling(coupling("third", "fourth"));
            b.coupling(coupling("fourth", "elbow"));
        },
        Element::Coupling(2),
        "of",
        "joint `fourth` would follow itself",
        "free one",
    );
    refused(
        |b| {
            b.joint(hinge("third"));
            b.coupling(coupling("elbow", "third")).coupling(coupling("elbow", "shoulder"));
        },
        Element::Coupling(1),
        "joint",
        "joint `elbow` is coupled already",
        "only one",
    );
    // Several may follow one, and followers may lead.
    let mut builder = arm();
    builder.joint(hinge("third")).joint(hinge("fourth"));
    builder.coupling(coupling("elbow", "shoulder")).coupling(coupling("third", "shoulder"));
    builder.coupling(coupling("fourth", "third"));
    assert_eq!(builder.build().expect("legal").couplings().len(), 3);
}

#[test]
fn targets() {
    let element = Element::Target(0);
    let with = |target: TargetDescription| {
        move |b: &mut MechanismBuilder| {
            b.target(target);
        }
    };
    refused(with(target("elbow", &[], &[])), element, "time", "target of `elbow`", "at least one");
    refused(
        with(target("elbow", &[0.0, 0.0], &[&[0.0], &[0.0]])),
        element,
        "time",
        "do not increase",
        "later",
    );
    refused(
        with(target("elbow", &[1.0, 0.0], &[&[0.0], &[0.0]])),
        element,
        "time",
        "do not increase",
        "later",
    );
    refused(with(target("elbow", &[f64::NAN], &[&[0.0]])), element, "time", "do not increase", "finite");
    refused(
        with(target("elbow", &[0.0, 1.0], &[&[0.0]])),
        element,
        "position",
        "has 1 position for 2 times",
        "one",
    );
    refused(with(target("elbow", &[0.0], &[&[0.0, 1.0]])), element, "position", "its 1 freedom", "1 finite");
    refused(with(target("elbow", &[0.0], &[&[f64::NAN]])), element, "position", "its 1 freedom", "rad");
    let mut builder = arm();
    builder.target(target("elbow", &[-1.0, 0.5], &[&[0.0], &[0.3]]));
    assert_eq!(builder.build().expect("legal").targets().len(), 1);
}

#[test]
fn bodies_that_nothing_holds_and_free_ones_that_something_does() {
    refused(
        |b| {
            b.body(heavy("stray"));
        },
        Element::Body(2),
        "name",
        "nothing holds body `stray`",
        "free = true",
    );
    refused(
        |b| {
            b.body(heavy("base").free());
            b.joint(JointDescription::new("j", JointKind::Ball, "upper", "base"));
        },
        Element::Body(2),
        "free",
        "body `base` is free, but joint `j` holds it",
        "remove one",
    );
}

#[test]
fn circles_of_parents() {
    let mut builder = MechanismBuilder::new("");
    builder.body(heavy("a")).body(heavy("b")).body(heavy("c")).body(heavy("tail"));
    for (i, (parent, child)) in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "tail")].into_iter().enumerate() {
        builder.joint(JointDescription::new(format!("j{i}"), JointKind::Hinge, parent, child));
    }
    let defects = defects(builder);
    assert_eq!(defects.len(), 1, "{defects:?}");
    assert_eq!(defects[0].field, Some("child"));
    assert!(matches!(defects[0].element, Element::Joint(0..=2)));
    let message = &defects[0].message;
    assert!(
        ["a → b → c → a", "b → c → a → b", "c → a → b → c"].iter().any(|round| message.contains(round)),
        "{message}"
    );
    refused(
        |b| {
            b.joint(JointDescription::new("j", JointKind::Hinge, "upper", "upper"));
        },
        Element::Joint(2),
        "child",
        "circle: upper → upper",
        "turn one",
    );
}

/// Very many circles, or a very long one, come soon and are told in few words.
#[test]
fn many_and_long_circles() {
    let circles = |count: usize, length: usize| {
        let mut builder = MechanismBuilder::new("");
        for i in 0..count * length {
            let next = if (i + 1) % length == 0 { i + 1 - length } else { i + 1 };
            builder.body(heavy(&format!("b{i}")));
            let (parent, child) = (format!("b{i}"), format!("b{next}"));
            builder.joint(JointDescription::new(format!("j{i}"), JointKind::Hinge, parent, child));
        }
        defects(builder)
    };
    assert_eq!(circles(20_000, 2).len(), 20_000);
    let long = circles(1, 20_000);
    assert_eq!(long.len(), 1);
    assert!(long[0].message.contains(" → … → ") && long[0].message.len() < 200, "{}", long[0].message);
}

#[test]
fn mass_must_come_from_somewhere() {
    let bare = |name: &str| Body::new(name, Pose::translation([0.0, 0.0, 1.0]));
    refused(
        |b| {
            b.body(bare("bare")).joint(JointDescription::new("j", JointKind::Hinge, "lower", "bare"));
        },
        Element::Body(2),
        "mass",
        "body `bare` has no mass",
        "weld it to a body with mass or to the world",
    );
    refused(
        |b| {
            b.body(bare("one")).joint(JointDescription::new("j", JointKind::Hinge, "lower", "one"));
            b.body(bare("two")).joint(JointDescription::new("k", JointKind::Fixed, "one", "two"));
        },
        Element::Body(2),
        "mass",
        "body `one` has no mass, and neither has anything welded to it",
        "give mass and inertia",
    );
    let point = SpatialInertia { mass: 1.0, ..SpatialInertia::ZERO };
    refused(
        |b| {
            b.body(bare("point").inertia(point).free());
        },
        Element::Body(2),
        "inertia",
        "body `point` has mass but turns about some axis without inertia",
        "kg·m²",
    );
    refused(
        |b| {
            let huge = SpatialInertia { mass: f64::MAX, ..SpatialInertia::of_box(1.0, [1.0; 3]) };
            b.body(heavy("one").inertia(huge).free()).body(heavy("two").inertia(huge));
            b.joint(JointDescription::new("j", JointKind::Fixed, "one", "two"));
        },
        Element::Body(2),
        "mass",
        "body `one` and what is welded to it are too heavy",
        "SI units",
    );
    // Legal: welded to mass on either side of the weld, and welded to the world.
    let mut builder = arm();
    builder.body(bare("hand")).joint(JointDescription::new("w1", JointKind::Fixed, "lower", "hand"));
    builder.body(bare("carrier")).joint(JointDescription::new("j", JointKind::Ball, "upper", "carrier"));
    builder.body(heavy("bob")).joint(JointDescription::new("w2", JointKind::Fixed, "carrier", "bob"));
    builder.body(bare("ground")).joint(JointDescription::new("w3", JointKind::Fixed, "world", "ground"));
    let mechanism = builder.build().expect("legal");
    assert_eq!(mechanism.order().nodes().len(), 3);
    let ground = mechanism.find_body("ground").expect("there");
    assert_eq!(mechanism.order().node_of(ground), None);
}

#[test]
fn many_defects_are_all_reported() {
    let mut builder = arm();
    builder.gravity([f64::NAN; 3]);
    builder.body(heavy("stray"));
    builder.joint(hinge("j").stiffness(-1.0).damping(-1.0));
    builder.load(LoadDescription { effector: "?".into(), wrench: Wrench::ZERO });
    let defects = defects(builder);
    assert_eq!(defects.len(), 5, "{defects:#?}");
    let invalid = InvalidMechanism { defects };
    assert_eq!(invalid.to_string().lines().count(), 5);
}

#[test]
fn warnings_say_what_is_legal_but_odd() {
    let mut builder = arm();
    builder.body(heavy("hand")).joint(JointDescription::new("weld", JointKind::Fixed, "lower", "hand"));
    builder.joint(JointDescription::new("stuck", JointKind::Hinge, "lower", "hand").stiffness(1.0));
    builder.joint(hinge("outside").limits((0.1, 0.2)));
    builder.coupling(CouplingDescription { offset: 0.5, ..coupling("elbow", "shoulder") });
    let warnings = builder.build().expect("legal").warnings();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for (warning, part) in warnings.iter().zip(["`stuck`", "`outside`", "0.5"]) {
        assert!(warning.contains(part), "{warning}");
    }
}
