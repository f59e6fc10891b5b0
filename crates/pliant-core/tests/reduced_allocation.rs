//! Claim: a step of a reduced model allocates no memory, whatever is set before it and however links are rebuilt.

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use pliant_core::gallery;
use pliant_core::inputs::Pull;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{BodyId, EffectorId, JointId, Mechanism};
use pliant_core::reduced::{Reconstruction, Reduction};
use pliant_core::spatial::{Pose, Twist, Wrench};

#[test]
fn a_step_allocates_nothing() {
    let names = [
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
    let mechanisms: Vec<Mechanism> = names.iter().map(|name| gallery::build(name).unwrap()).collect();
    for mechanism in mechanisms {
        let name = mechanism.name();
        let model = Reduction::at_rest(&mechanism).modes(1).build().unwrap();
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
        let joint = joint.into_iter().find(|j| mechanism.joint(*j).kind != JointKind::Fixed).unwrap();
        let freedoms = mechanism.joint(joint).freedoms.len();
        let mut counted = [0; 7];
        for (step, count) in counted.iter_mut().enumerate() {
            simulation.set_reconstruction(
                [Reconstruction::Joint, Reconstruction::Twist, Reconstruction::Corrected][step % 3],
            );
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
        // The first step may still fill what later ones reuse.
        assert_eq!(counted[1..], [0; 6], "{name}: allocations in the first step {}", counted[0]);
    }
}
