//! Claim: every number that no mechanism can have is a defect at its element and key.

use super::*;

#[test]
fn numbers_of_the_mechanism_and_of_poses() {
    refused(|b| b.gravity([0.0, f64::NAN, 0.0]), (Element::Mechanism, "gravity"), ["not finite", "m/s²"]);
    let far = Pose::translation([f64::INFINITY, 0.0, 0.0]);
    let base = |pose: Pose| Body { pose, ..heavy("base").free() };
    let long =
        Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(0.0, 2.0, 0.0, 0.0)), Vector3::zeros());
    refused(
        |b| b.body(base(long)),
        (Element::Body(2), "rotation"),
        ["a quaternion of norm 2.0000", "normalise"],
    );
    refused(|b| b.body(base(far)), (Element::Body(2), "position"), ["body `base`", "finite"]);
    refused(|b| b.body(base(not_finite())), (Element::Body(2), "rotation"), ["body `base`", "w, x, y, z"]);
    refused(|b| b.joint(hinge("j").frame(far)), (Element::Joint(2), "position"), ["joint `j`", "finite"]);
    refused(
        |b| b.joint(hinge("j").axis(Vector3::zeros(), Vector3::zeros())),
        (Element::Joint(2), "rotation"),
        ["joint `j`", "w, x, y, z"],
    );
    refused(
        |b| b.effector(EffectorDescription { name: "e".into(), body: "upper".into(), frame: far }),
        (Element::Effector(1), "position"),
        ["effector `e`", "m"],
    );
    for (field, wrench) in [
        ("force", Wrench::force([0.0, 0.0, f64::INFINITY])),
        ("torque", Wrench::torque([f64::NAN, 0.0, 0.0])),
    ] {
        refused(
            |b| b.load(LoadDescription { effector: "tip".into(), wrench }),
            (Element::Load(0), field),
            ["load on `tip` is not finite", "three finite numbers, N"],
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
    fn with(shape: Shape) -> impl FnOnce(&mut MechanismBuilder) -> &mut MechanismBuilder {
        move |b| b.world_shape(shape)
    }
    let element = Element::WorldShape(0);
    let ball = |radius| Shape::new(Geometry::Ball { radius });
    refused(with(ball(0.0)), (element, "radius"), ["a ball shape of the world: radius", "above zero"]);
    refused(with(ball(f64::NAN)), (element, "radius"), ["not NaN", "above zero"]);
    let size = Vector3::new(1.0, -1.0, 1.0);
    refused(with(Shape::new(Geometry::Box { size })), (element, "size"), ["a box shape", "m"]);
    for geometry in [
        Geometry::Capsule { radius: 0.1, half_length: -0.1 },
        Geometry::Cylinder { radius: 0.1, half_length: f64::INFINITY },
    ] {
        refused(with(Shape::new(geometry)), (element, "half_length"), ["positive length", "m"]);
    }
    let file = || "part.obj".to_string();
    for geometry in [
        Geometry::Mesh { file: file(), scale: Vector3::new(1.0, 0.0, 1.0) },
        Geometry::Convex { file: file(), scale: Vector3::repeat(f64::NAN) },
    ] {
        refused(with(Shape::new(geometry)), (element, "scale"), ["zero or infinite", "three"]);
    }
    for heights in [vec![], vec![vec![0.0, 1.0]], vec![vec![0.0, 1.0], vec![0.0]], vec![vec![f64::NAN; 2]; 2]]
    {
        let field = Shape::new(Geometry::Heightfield { size: [1.0, 1.0], heights });
        refused(with(field), (element, "heights"), ["do not form a grid", "two rows"]);
    }
    let flat = Geometry::Heightfield { size: [1.0, 0.0], heights: vec![vec![0.0; 2]; 2] };
    refused(with(Shape::new(flat)), (element, "size"), ["a heightfield shape", "m"]);
    refused(with(Shape { density: Some(0.0), ..ball(1.0) }), (element, "density"), ["positive", "kg/m³"]);
    refused(
        with(Shape { friction: Some(-0.1), ..ball(1.0) }),
        (element, "friction"),
        ["-0.1", "zero or above"],
    );
    refused(with(Shape { restitution: Some(1.5), ..ball(1.0) }), (element, "restitution"), ["1.5", "0 to 1"]);
    let drawn = Shape { friction: Some(0.1), touches: false, ..ball(1.0) };
    refused(with(drawn), (element, "friction"), ["`touches` is false", "leave one"]);
    refused(with(ball(1.0).at(not_finite())), (element, "rotation"), ["not finite", "w, x, y, z"]);
    refused(
        |b| b.body(heavy("base").free().shape(ball(1.0)).shape(ball(-1.0))),
        (Element::BodyShape(2, 1), "radius"),
        ["a ball shape of body `base`", "m"],
    );
}

#[test]
fn values_per_freedom() {
    let element = Element::Joint(2);
    fn with(joint: JointDescription) -> impl FnOnce(&mut MechanismBuilder) -> &mut MechanismBuilder {
        move |b| b.joint(joint)
    }
    refused(with(hinge("j").stiffness(-1.0)), (element, "stiffness"), ["stiffness is -1", "N·m/rad"]);
    refused(with(hinge("j").damping(f64::NAN)), (element, "damping"), ["damping is NaN", "N·m·s/rad"]);
    refused(with(hinge("j").armature(f64::INFINITY)), (element, "armature"), ["armature is inf", "kg·m²"]);
    refused(with(hinge("j").friction(-0.1)), (element, "friction"), ["friction is -0.1", "N·m"]);
    refused(
        with(hinge("j").torque_limit(0.0)),
        (element, "torque_limit"),
        ["torque_limit is 0", "above zero, N or N·m"],
    );
    refused(with(hinge("j").rest(f64::INFINITY)), (element, "rest"), ["rest is inf", "finite"]);
    refused(
        with(hinge("j").stiffness([1.0, 2.0])),
        (element, "stiffness"),
        ["stiffness has 2 entries, but a hinge joint has 1 freedom", "a list of 1"],
    );
    refused(with(hinge("j").rest(Vec::new())), (element, "rest"), ["rest has 0 entries", "list of 1"]);
    let fixed = || JointDescription::new("j", JointKind::Fixed, "upper", "lower");
    refused(
        with(fixed().damping(1.0)),
        (element, "damping"),
        ["a fixed joint has no freedom", "leave it out"],
    );
    refused(with(fixed().limits((0.0, 1.0))), (element, "limits"), ["a fixed joint has no freedom", "leave"]);
    refused(
        with(fixed().rest(Vec::new())),
        (element, "rest"),
        ["a fixed joint has no freedom", "leave it out"],
    );
    refused(with(hinge("j").limits((1.0, -1.0))), (element, "limits"), ["1 is above", "[-1, 1]"]);
    refused(with(hinge("j").limits((f64::NAN, 1.0))), (element, "limits"), ["not a number", "inf for none"]);
    let infinity = f64::INFINITY;
    refused(with(hinge("j").limits((infinity, infinity))), (element, "limits"), ["no coordinate", "-inf"]);
    refused(
        with(hinge("j").limits([(0.0, 1.0); 3])),
        (element, "limits"),
        ["limits has 3 entries", "list of 1"],
    );
}
