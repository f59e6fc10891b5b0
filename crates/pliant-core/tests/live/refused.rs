//! Claim: what the live engine cannot do it refuses with the engines that can, before it takes memory; and steps that it cuts
//! short are counted.

use crate::common::FRAME;
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::live::Model;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, JointDescription, MechanismBuilder, WORLD,
};
use pliant_core::spatial::{Pose, SpatialInertia};

/// A torso with two legs on hinges, one of which may follow the other; the torso may be free.
fn walker(free: bool, coupled: bool) -> pliant_core::mechanism::Mechanism {
    let mut builder = MechanismBuilder::new("walker");
    let solid = SpatialInertia::of_box(1.0, [0.2, 0.1, 0.1]);
    let torso = Body::new("torso", Pose::identity()).inertia(solid);
    builder.body(if free { torso.free() } else { torso });
    if !free {
        builder.joint(JointDescription::new("root", JointKind::Hinge, WORLD, "torso").stiffness(vec![50.0]));
    }
    for (name, joint, x) in [("left", "hip1", 0.1), ("right", "hip2", -0.1)] {
        let at = Pose::translation([x, 0.0, -0.1]);
        builder.body(Body::new(name, at).inertia(solid));
        builder.joint(
            JointDescription::new(joint, JointKind::Hinge, "torso", name).frame(at).stiffness(vec![20.0]),
        );
        builder.effector(EffectorDescription {
            name: name.into(),
            body: name.into(),
            frame: Pose::identity(),
        });
    }
    if coupled {
        builder.coupling(CouplingDescription {
            joint: "hip2".into(),
            of: "hip1".into(),
            ratio: -1.0,
            offset: 0.0,
        });
    }
    builder.build().unwrap()
}

#[test]
fn couplings_on_a_free_base_are_refused() {
    let error = Model::new(&walker(true, true)).unwrap_err().to_string();
    assert!(error.contains("`torso`") && error.contains("use `full` or `articulated`"), "{error}");
    for (free, coupled) in [(true, false), (false, true), (false, false)] {
        let mut simulation = Model::new(&walker(free, coupled)).unwrap().simulate();
        (0..10).for_each(|_| simulation.step(FRAME).unwrap());
    }
}

#[test]
fn loops_that_would_take_gigabytes_are_refused_with_the_figure() {
    for n in [9_000, 30_000] {
        let error = Model::new(&gallery::build(&format!("loop:{n}")).unwrap()).unwrap_err().to_string();
        assert!(error.contains("GiB") && error.contains("use `full`"), "{error}");
    }
    assert!(Model::new(&gallery::build("loop:42").unwrap()).is_ok());
}

/// A joint that starts at 2 and at 30 rad/s: 0.03 and 0.5 rad in a step.
#[test]
fn steps_that_are_cut_short_are_counted() {
    for (rate, capped) in [(2.0, false), (30.0, true)] {
        let mut simulation = Model::new(&gallery::two_link()).unwrap().simulate();
        let mut state = simulation.state().clone();
        (state.rates[0], state.private) = (rate, Vec::new());
        simulation.set_state(&state).unwrap();
        (0..20).for_each(|_| simulation.step(FRAME).unwrap());
        assert_eq!(simulation.capped_steps() > 0, capped, "{rate}: {}", simulation.capped_steps());
        assert!(simulation.capped_steps() <= 20);
        let warned = simulation.warnings().iter().any(|warning| warning.kind == "capped steps");
        assert_eq!(warned, capped);
    }
}
