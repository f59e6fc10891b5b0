//! Claim: a live step allocates no memory, whatever is set before it.

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use pliant_core::gallery;
use pliant_core::inputs::Pull;
use pliant_core::live::Model;
use pliant_core::mechanism::{BodyId, EffectorId, JointId};
use pliant_core::spatial::{Pose, Twist, Wrench};

#[test]
fn a_step_allocates_nothing() {
    for name in ["chain:100", "arm", "hand", "helix:50", "y", "gripper", "rungs:18", "loop", "graph"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap();
        let mut simulation = model.simulate();
        let last = BodyId::from_index(mechanism.bodies().len() - 1);
        let pull = simulation
            .inputs_mut()
            .add_pull(Pull {
                body: last,
                frame: Pose::identity(),
                target: mechanism.body(last).pose,
                target_twist: Twist::ZERO,
                stiffness: 100.0,
                turning_stiffness: 1.0,
                damping: 1.0,
                turning_damping: 0.1,
            })
            .unwrap();
        let joint = (0..mechanism.joints().len()).map(JointId::from_index);
        let joint = joint.into_iter().find(|j| !mechanism.joint(*j).freedoms.is_empty()).unwrap();
        let freedoms = mechanism.joint(joint).freedoms.len();
        let mut counted = [0; 7];
        for (step, count) in counted.iter_mut().enumerate() {
            let x = 0.01 * step as f64;
            let inputs = simulation.inputs_mut();
            for e in 0..mechanism.effectors().len() {
                inputs.set_load(EffectorId::from_index(e), Wrench::force([1.0, x, -x])).unwrap();
            }
            inputs.set_body_load(last, Wrench::torque([x, x, x])).unwrap();
            inputs.set_target(&mechanism, joint, &[x; 6][..freedoms]).unwrap();
            inputs.set_gravity([x, 0.0, -9.81]).unwrap();
            inputs.set_base(Pose::translation([0.01 * x, 0.0, 0.0]), Twist::ZERO).unwrap();
            inputs
                .set_pull(pull, Pose::translation([x, 0.0, 0.0]) * mechanism.body(last).pose, Twist::ZERO)
                .unwrap();
            *count = allocations(|| simulation.step(1.0 / 240.0).unwrap());
        }
        // The first step makes the plan of a pull.
        assert_eq!(counted[1..], [0; 6], "{name}: allocations in the first step {}", counted[0]);
    }
}
