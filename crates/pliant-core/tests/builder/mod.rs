//! Claim: the builder accepts what is legal and reports everything else, each kind of defect with
//! the element, the scene file's key and a message that names what is wrong.

mod graph;
mod values;

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
    change: impl FnOnce(&mut MechanismBuilder) -> &mut MechanismBuilder,
    at: (Element, &'static str),
    [message, help]: [&str; 2],
) {
    let mut builder = arm();
    change(&mut builder);
    let defects = defects(builder);
    assert_eq!(defects.len(), 1, "{defects:#?}");
    let defect = &defects[0];
    assert_eq!((defect.element, defect.field), (at.0, Some(at.1)), "{defect:?}");
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
    assert_eq!(arm.find_joint("elbow").map(|j| arm.parent_name(&arm[j])), Some("upper"));
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
    refused(|b| b.body(free("")), (Element::Body(2), "name"), ["a body has no name", "name = "]);
    refused(|b| b.body(free("a\nb")), (Element::Body(2), "name"), ["control character", "printable"]);
    refused(|b| b.body(free("world")), (Element::Body(2), "name"), ["called `world`", "the fixed world"]);
    refused(|b| b.body(free("upper")), (Element::Body(2), "name"), ["already a body `upper`", "own name"]);
    refused(|b| b.joint(hinge("elbow")), (Element::Joint(2), "name"), ["already a joint `elbow`", "own"]);
    refused(|b| b.joint(hinge("")), (Element::Joint(2), "name"), ["a joint has no name", "name = "]);
    let effector =
        |name: &str| EffectorDescription { name: name.into(), body: "upper".into(), frame: Pose::identity() };
    refused(
        |b| b.effector(effector("tip")),
        (Element::Effector(1), "name"),
        ["already an effector `tip`", "own name"],
    );
    refused(|b| b.effector(effector("")), (Element::Effector(1), "name"), ["no name", "name = "]);
    // Names of different kinds may be the same.
    let mut builder = arm();
    builder.effector(effector("upper")).joint(hinge("upper"));
    assert!(builder.build().is_ok());
}

#[test]
fn references() {
    let joint = |parent: &str, child: &str| JointDescription::new("j", JointKind::Hinge, parent, child);
    refused(
        |b| b.joint(joint("uper", "lower")),
        (Element::Joint(2), "parent"),
        ["no body `uper`", "did you mean `upper`?"],
    );
    refused(
        |b| b.joint(joint("gearbox", "lower")),
        (Element::Joint(2), "parent"),
        ["no body `gearbox`", "or `world`"],
    );
    refused(|b| b.joint(joint("upper", "lowr")), (Element::Joint(2), "child"), ["no body `lowr`", "`lower`"]);
    refused(
        |b| b.joint(joint("upper", "world")),
        (Element::Joint(2), "child"),
        ["joint `j` has the world as its child", "swap"],
    );
    refused(
        |b| {
            b.effector(EffectorDescription { name: "e".into(), body: "hand".into(), frame: Pose::identity() })
        },
        (Element::Effector(1), "body"),
        ["no body `hand`", "name a body"],
    );
    refused(
        |b| b.load(LoadDescription { effector: "tipp".into(), wrench: Wrench::ZERO }),
        (Element::Load(0), "effector"),
        ["no effector `tipp`", "did you mean `tip`?"],
    );
    refused(
        |b| b.coupling(coupling("knee", "elbow")),
        (Element::Coupling(0), "joint"),
        ["no joint `knee`", "name a joint"],
    );
    refused(
        |b| b.coupling(coupling("elbow", "elbw")),
        (Element::Coupling(0), "of"),
        ["no joint `elbw`", "`elbow`"],
    );
    refused(
        |b| b.target(target("knee", &[0.0], &[&[0.0]])),
        (Element::Target(0), "joint"),
        ["no joint `knee`", "name a joint"],
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
