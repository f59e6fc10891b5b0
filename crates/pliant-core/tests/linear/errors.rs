//! Claim: what cannot be reduced is refused with a message that names the effector, its body and the joint, and
//! says what would be right; by both methods alike.

use crate::common;

use pliant_core::gallery::{self, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Method, ReductionError};
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, JointDescription, Mechanism, MechanismBuilder,
};
use pliant_core::spatial::{Pose, SpatialInertia};

/// A mechanism of 1 kg cubes, of (name, position) each, with these joints (name, kind, parent, child, stiffness) at
/// the child's position, and effectors of the same name as their bodies.
fn build(
    bodies: &[(&str, [f64; 3])],
    joints: &[(&str, JointKind, &str, &str, f64)],
    effectors: &[&str],
) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new("made");
    for (name, at) in bodies {
        let inertia = SpatialInertia::of_box(1.0, [0.1; 3]);
        builder.body(Body::new(*name, Pose::translation(*at)).inertia(inertia));
    }
    for (name, kind, parent, child, stiffness) in joints {
        let at = bodies.iter().find(|(name, _)| name == child).unwrap().1;
        let joint = JointDescription::new(*name, kind.clone(), *parent, *child).frame(Pose::translation(at));
        builder.joint(if kind.freedoms() > 0 { joint.stiffness(*stiffness) } else { joint });
    }
    for name in effectors {
        let (name, body) = (name.to_string(), name.to_string());
        builder.effector(EffectorDescription { name, body, frame: Pose::identity() });
    }
    builder
}

/// The message, which is the same by both methods.
fn refused(mechanism: &Mechanism, names: Option<&[&str]>) -> String {
    let messages = [Method::Exact, Method::Incremental].map(|method| {
        let reduction = Linearisation::at_rest(mechanism).method(method);
        let reduction = match names {
            Some(names) => reduction.effectors(names.iter().copied()),
            None => reduction,
        };
        reduction.project().unwrap_err().to_string()
    });
    assert_eq!(messages[0], messages[1]);
    messages[0].clone()
}

const A_AND_B: [(&str, [f64; 3]); 2] = [("a", [0.0, 0.0, 0.0]), ("b", [1.0, 0.0, 0.0])];

#[test]
fn no_effector() {
    let mechanism = build(&A_AND_B[..1], &[("pivot", JointKind::Hinge, "world", "a", 1.0)], &[]).build();
    let mechanism = mechanism.unwrap();
    let message = "mechanism `made` has no effector to be reduced to: add an [[effector]] with the name of a body \
                   to its file, or reduce it to a body";
    assert_eq!(refused(&mechanism, None), message);
    assert_eq!(refused(&mechanism, Some(&[])), message);
    // A body's name will do.
    assert!(Linearisation::at_rest(&mechanism).effectors(["a"]).project().is_ok());
}

/// A free base that stands on the world by a joint, of any kind and by a chain of any length, is not moved as if it did not.
#[test]
fn a_free_base_on_a_joint_to_the_world() {
    let kinds = [JointKind::Ball, JointKind::Hinge, JointKind::Fixed, JointKind::Bushing];
    for (kind, between) in kinds.into_iter().flat_map(|kind| [0, 1, 3].map(|n| (kind.clone(), n))) {
        let names: Vec<String> = (0..between + 2).map(|i| format!("link{i}")).collect();
        let bodies: Vec<_> =
            names.iter().enumerate().map(|(i, name)| (name.as_str(), [i as f64, 0.0, 0.0])).collect();
        let joints: Vec<(String, &str, &str)> = names
            .windows(2)
            .map(|pair| (format!("to {}", pair[1]), pair[0].as_str(), pair[1].as_str()))
            .collect();
        let joints: Vec<_> = joints.iter().map(|j| (j.0.as_str(), JointKind::Hinge, j.1, j.2, 1.0)).collect();
        let mut builder = build(&bodies, &joints, &["link0"]);
        builder.body_mut("link0").unwrap().free = true;
        let floats = builder.clone().build().unwrap();
        assert!(Linearisation::at_rest(&floats).build().is_ok());
        let at = Pose::translation(bodies.last().unwrap().1);
        let foot =
            JointDescription::new("foot", kind.clone(), "world", names.last().unwrap().as_str()).frame(at);
        builder.joint(if kind.freedoms() > 0 { foot.stiffness(1.0) } else { foot });
        let stands = builder.build().unwrap();
        let message = Linearisation::at_rest(&stands).build().map(|_| ()).unwrap_err().to_string();
        // What is welded to the world is part of it: the joint to that closes the loop.
        let last = names.last().unwrap();
        let closing = if kind == JointKind::Fixed { format!("to {last}") } else { "foot".into() };
        assert_eq!(
            message,
            format!(
                "joint `{closing}` closes a loop between the free base `link0` and the world, which a linear model does not support; use \
                 `articulated` or `full`"
            )
        );
        // Its compliance with the base held is that of a mechanism.
        assert!(Linearisation::at_rest(&stands).project().is_ok());
    }
}

#[test]
fn an_unknown_name() {
    let message = "there is no effector or body `top`; effectors of the file: `left`, `right`. Name one of these or \
                   a body, or add an [[effector]] of that name to the file";
    assert_eq!(refused(&gallery::y(), Some(&["left", "top"])), message);
    let none = build(&A_AND_B[..1], &[("pivot", JointKind::Hinge, "world", "a", 1.0)], &[]).build().unwrap();
    let message = "there is no effector or body `top`; effectors of the file: none. Name one of these or a body, or \
                   add an [[effector]] of that name to the file";
    assert_eq!(refused(&none, Some(&["top"])), message);
}

#[test]
fn a_name_twice() {
    let message = "effector `left` is named twice: name each once";
    assert_eq!(refused(&gallery::y(), Some(&["left", "right", "left"])), message);
    // Two effectors may sit on one body.
    let y = gallery::y();
    assert!(Linearisation::at_rest(&y).effectors(["left", "left1"]).project().is_ok());
}

#[test]
fn welded_to_the_world() {
    let joints = [("weld", JointKind::Fixed, "world", "a", 0.0), ("elbow", JointKind::Hinge, "a", "b", 1.0)];
    let mechanism = build(&A_AND_B, &joints, &["b", "a"]).build().unwrap();
    let message = "effector `a` on body `a` cannot move: it is welded to the world. Choose another body, or let a \
                   joint between this one and the world move";
    assert_eq!(refused(&mechanism, None), message);
    assert!(Linearisation::at_rest(&mechanism).effectors(["b"]).project().is_ok());
}

#[test]
fn held_by_a_loop() {
    // Two parallel hinges, a metre apart, hold one body against the world.
    let mut builder = build(&A_AND_B, &[("one", JointKind::Hinge, "world", "b", 1.0)], &["b"]);
    builder.joint(JointDescription::new("weld", JointKind::Fixed, "world", "a"));
    builder.joint(JointDescription::new("two", JointKind::Hinge, "a", "b").stiffness(1.0));
    let message = "effector `b` on body `b` cannot move: loops or couplings hold joint `one`, which moves it, and \
                   all joints before that. Choose another body, or let a joint between this one and the world move";
    assert_eq!(refused(&builder.build().unwrap(), None), message);
}

#[test]
fn held_by_a_coupling() {
    // A hinge that must follow a prismatic joint which its own loop holds.
    let joints = [
        ("slide", JointKind::Prismatic, "world", "a", 1.0),
        ("turn", JointKind::Hinge, "world", "b", 1.0),
        ("stop", JointKind::Hinge, "world", "a", 1.0),
    ];
    let mut builder = build(&A_AND_B, &joints, &["b"]);
    builder.coupling(CouplingDescription {
        joint: "turn".into(),
        of: "slide".into(),
        ratio: 1.0,
        offset: 0.0,
    });
    let mechanism = builder.build().unwrap();
    // The incremental method does not know couplings, and says so.
    let message = "effector `b` on body `b` cannot move: loops or couplings hold joint `turn`, which moves it, and \
                   all joints before that. Choose another body, or let a joint between this one and the world move";
    assert_eq!(Linearisation::at_rest(&mechanism).project().unwrap_err().to_string(), message);
    let incremental = Linearisation::at_rest(&mechanism).method(Method::Incremental).project().unwrap();
    assert_eq!(incremental.inexact_at(), ["a", "b"]);
}

#[test]
fn a_passive_chain() {
    let joints =
        [("shoulder", JointKind::Hinge, "world", "a", 5.0), ("elbow", JointKind::Hinge, "a", "b", 0.0)];
    let mechanism = build(&A_AND_B, &joints, &["a", "b"]).build().unwrap();
    let message = "nothing holds effector `b` on body `b`: it moves with joint `elbow`, which has a freedom without a \
                   spring that no loop or coupling holds. Give that joint a stiffness";
    assert_eq!(refused(&mechanism, None), message);
    assert_eq!(refused(&mechanism, Some(&["b"])), message);
    // What hangs on the passive joint without being loaded does no harm.
    let a = Linearisation::at_rest(&mechanism).effectors(["a"]).project().unwrap();
    assert!((a.compliance()[(5, 5)] - 0.2).abs() < 1e-15);
}

#[test]
fn a_passive_loop() {
    // The four-bar without its spring turns as one.
    let bar = gallery::four_bar();
    let mechanism = common::edited(&bar, |joint| joint.stiffness = None);
    let message = refused(&mechanism, None);
    let effector = &mechanism.effectors()[0];
    let head = format!(
        "nothing holds effector `{}` on body `{}`: it moves with joint `",
        effector.name, mechanism[effector.body].name
    );
    assert!(message.starts_with(&head), "{message}");
    let tail =
        "`, which has a freedom without a spring that no loop or coupling holds. Give that joint a stiffness";
    assert!(message.ends_with(tail), "{message}");
}

#[test]
fn hundreds_of_loops_at_random_are_not_called_loose() {
    // Springs hold every body; but 400 loops hold each other more than rounding lets be told apart.
    let mechanism = gallery::random(3, &RandomOptions { bodies: 2000, ..RandomOptions::default() });
    match Linearisation::at_rest(&mechanism).project() {
        Ok(_) => {}
        Err(error) => {
            assert!(matches!(error, ReductionError::LostLoops { .. }), "{error}");
            let ReductionError::LostLoops { joint } = &error else { unreachable!() };
            let message =
                format!("redundant loop constraints at joint `{joint}`: remove one, or make it a bushing");
            assert_eq!(error.to_string(), message);
        }
    }
}

/// Two parts of very different stiffness: neither is called immovable for the other's sake.
#[test]
fn a_stiff_part_beside_a_soft_one_moves() {
    let mut builder = MechanismBuilder::new("far apart");
    for (name, stiffness) in [("soft", 1e-3), ("stiff", 1e12)] {
        let body = Body::new(name, Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3]));
        builder.body(body);
        let joint = JointDescription::new(name, JointKind::Hinge, "world", name).stiffness(stiffness);
        builder.joint(joint.frame(Pose::translation([0.1, 0.0, 0.0])));
        let effector = EffectorDescription { name: name.into(), body: name.into(), frame: Pose::identity() };
        builder.effector(effector);
    }
    let mechanism = builder.build().unwrap();
    let reduction = Linearisation::at_rest(&mechanism);
    assert_eq!(reduction.project().unwrap().rank(reduction.reference()), 2);
}
