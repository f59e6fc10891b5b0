//! Claim: what is wrong between elements is reported once: couplings, targets, holders, circles, mass.

use super::*;

#[test]
fn couplings() {
    let element = Element::Coupling(0);
    for (field, ratio, offset) in [("ratio", f64::NAN, 0.0), ("offset", 1.0, f64::INFINITY)] {
        refused(
            |b| b.coupling(CouplingDescription { ratio, offset, ..coupling("elbow", "shoulder") }),
            (element, field),
            ["coupling of `elbow` is not finite", "finite"],
        );
    }
    refused(
        |b| {
            b.joint(JointDescription::new("wrist", JointKind::Ball, "upper", "lower"))
                .coupling(coupling("elbow", "wrist"))
        },
        (element, "of"),
        ["joint `wrist` has 3 freedoms", "one freedom"],
    );
    refused(
        |b| {
            b.joint(JointDescription::new("weld", JointKind::Fixed, "world", "upper"))
                .coupling(coupling("weld", "elbow"))
        },
        (element, "joint"),
        ["joint `weld` has 0 freedoms", "one freedom"],
    );
    refused(
        |b| b.coupling(coupling("elbow", "elbow")),
        (element, "of"),
        ["joint `elbow` would follow itself", "free one"],
    );
    refused(
        |b| {
            b.joint(hinge("third"))
                .joint(hinge("fourth"))
                .coupling(coupling("elbow", "third"))
                .coupling(coupling("third", "fourth"))
                .coupling(coupling("fourth", "elbow"))
        },
        (Element::Coupling(2), "of"),
        ["joint `fourth` would follow itself", "free one"],
    );
    refused(
        |b| {
            b.joint(hinge("third"))
                .coupling(coupling("elbow", "third"))
                .coupling(coupling("elbow", "shoulder"))
        },
        (Element::Coupling(1), "joint"),
        ["joint `elbow` is coupled already", "only one"],
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
    fn with(target: TargetDescription) -> impl FnOnce(&mut MechanismBuilder) -> &mut MechanismBuilder {
        move |b| b.target(target)
    }
    let element = Element::Target(0);
    refused(with(target("elbow", &[], &[])), (element, "time"), ["target of `elbow`", "at least one"]);
    refused(
        with(target("elbow", &[0.0, 0.0], &[&[0.0], &[0.0]])),
        (element, "time"),
        ["do not increase", "later"],
    );
    refused(
        with(target("elbow", &[1.0, 0.0], &[&[0.0], &[0.0]])),
        (element, "time"),
        ["do not increase", "later"],
    );
    refused(with(target("elbow", &[f64::NAN], &[&[0.0]])), (element, "time"), ["do not increase", "finite"]);
    refused(
        with(target("elbow", &[0.0, 1.0], &[&[0.0]])),
        (element, "position"),
        ["has 1 position for 2 times", "one"],
    );
    refused(
        with(target("elbow", &[0.0], &[&[0.0, 1.0]])),
        (element, "position"),
        ["its 1 freedom", "1 finite"],
    );
    refused(with(target("elbow", &[0.0], &[&[f64::NAN]])), (element, "position"), ["its 1 freedom", "rad"]);
    let mut builder = arm();
    builder.target(target("elbow", &[-1.0, 0.5], &[&[0.0], &[0.3]]));
    assert_eq!(builder.build().expect("legal").targets().len(), 1);
}

#[test]
fn bodies_that_nothing_holds_and_free_ones_that_something_does() {
    refused(
        |b| b.body(heavy("stray")),
        (Element::Body(2), "name"),
        ["nothing holds body `stray`", "free = true"],
    );
    refused(
        |b| b.body(heavy("base").free()).joint(JointDescription::new("j", JointKind::Ball, "upper", "base")),
        (Element::Body(2), "free"),
        ["body `base` is free, but joint `j` holds it", "remove one"],
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
        |b| b.joint(JointDescription::new("j", JointKind::Hinge, "upper", "upper")),
        (Element::Joint(2), "child"),
        ["cycle: upper → upper", "swap parent and child of one"],
    );
}

/// Very many circles, or a very long one, come soon and are reported in few words.
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
        |b| b.body(bare("bare")).joint(JointDescription::new("j", JointKind::Hinge, "lower", "bare")),
        (Element::Body(2), "mass"),
        ["body `bare` has no mass", "weld it to a body with mass or to the world"],
    );
    refused(
        |b| {
            b.body(bare("one"))
                .joint(JointDescription::new("j", JointKind::Hinge, "lower", "one"))
                .body(bare("two"))
                .joint(JointDescription::new("k", JointKind::Fixed, "one", "two"))
        },
        (Element::Body(2), "mass"),
        ["body `one` has no mass, and neither has anything welded to it", "give mass and inertia"],
    );
    let point = SpatialInertia { mass: 1.0, ..SpatialInertia::ZERO };
    refused(
        |b| b.body(bare("point").inertia(point).free()),
        (Element::Body(2), "inertia"),
        ["body `point` has mass but turns about some axis without inertia", "kg·m²"],
    );
    refused(
        |b| {
            let huge = SpatialInertia { mass: f64::MAX, ..SpatialInertia::of_box(1.0, [1.0; 3]) };
            b.body(heavy("one").inertia(huge).free()).body(heavy("two").inertia(huge));
            b.joint(JointDescription::new("j", JointKind::Fixed, "one", "two"))
        },
        (Element::Body(2), "mass"),
        ["body `one` and what is welded to it are too heavy", "SI units"],
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
    let warnings = builder.build().expect("legal").warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for (warning, part) in warnings.iter().zip(["`stuck`", "`outside`"]) {
        assert!(warning.contains(part), "{warning}");
    }
}
