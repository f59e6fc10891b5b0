//! Steps of any engine under all that may be set before them, counted.

use pliant_core::engine::{Simulation, Spring};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::{Pose, Twist, Wrench};

use crate::common::counting::allocations;

/// Chains, loops, couplings, free bases, several effectors, formulas.
pub const MECHANISMS: [&str; 13] = [
    "chain:100",
    "ladder:36",
    "rungs:24",
    "loop",
    "hand",
    "gripper",
    "firefighters",
    "hexapod",
    "graph",
    "torus-chain:4",
    "windmill",
    "spline-slide",
    "surface-slide",
];

/// The same with dry friction and a torque limit in every joint.
pub fn rough(mechanism: &Mechanism) -> Mechanism {
    crate::common::edited(mechanism, |joint| {
        if joint.kind != JointKind::Fixed {
            (joint.friction, joint.torque_limit) = (Some(0.01.into()), Some(0.1.into()));
        }
    })
}

/// Asserts that steps of a simulation allocate nothing, whatever is set before them: loads, set-points, gravity, base,
/// spring. `before` is what else is done before each step. The first step may still fill what later ones reuse.
pub fn steps_allocate_nothing<S: Simulation>(simulation: &mut S, before: impl Fn(&mut S, usize)) {
    let mechanism = simulation.mechanism().clone();
    let last = mechanism.body_ids().next_back().unwrap();
    let pull = Spring {
        body: last,
        frame: Pose::identity(),
        target: mechanism[last].pose,
        target_twist: Twist::ZERO,
        stiffness: 100.0,
        turning_stiffness: 1.0,
        damping: 1.0,
        turning_damping: 0.1,
    };
    let pull = simulation.inputs_mut().add_spring(pull).unwrap();
    let mut joints = mechanism.joint_ids();
    let joint = joints.find(|j| !mechanism[*j].freedoms.is_empty()).unwrap();
    let freedoms = mechanism[joint].freedoms.len();
    let mut counted = [0; 7];
    for (i, count) in counted.iter_mut().enumerate() {
        before(simulation, i);
        let x = 0.01 * i as f64;
        let inputs = simulation.inputs_mut();
        for effector in mechanism.effector_ids() {
            inputs.set_load(effector, Wrench::force([1.0, x, -x])).unwrap();
        }
        inputs.set_body_load(last, Wrench::torque([x, x, x])).unwrap();
        inputs.set_target(joint, &[x; 6][..freedoms]).unwrap();
        inputs.set_gravity([x, 0.0, -9.81]).unwrap();
        inputs.set_base(Pose::translation([0.01 * x, 0.0, 0.0]), Twist::ZERO).unwrap();
        let target = Pose::translation([x, 0.0, 0.0]) * mechanism[last].pose;
        inputs.set_spring_target(pull, target, Twist::ZERO).unwrap();
        *count = allocations(|| simulation.step(1.0 / 240.0).unwrap());
    }
    let name = mechanism.name();
    assert_eq!(counted[1..], [0; 6], "{name}: allocations in the first step {}", counted[0]);
}
