//! Claim: a step of the articulated engine allocates no memory, whatever is set before it: loads, set-points, gravity,
//! base, pull; by either integrator.

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use pliant_core::articulated::{Integrator, Model};
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::inputs::Pull;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{BodyId, EffectorId, JointId, Mechanism};
use pliant_core::spatial::{Pose, Twist, Wrench};

#[test]
fn a_step_allocates_nothing() {
    let names =
        ["chain:100", "ladder:36", "rungs:24", "loop", "hand", "gripper", "firefighters", "hexapod", "graph"];
    let mut mechanisms: Vec<Mechanism> = names.iter().map(|name| gallery::build(name).unwrap()).collect();
    let options = RandomOptions { bodies: 30, loops: 0.3, bushiness: 1.0, ..RandomOptions::default() };
    mechanisms.push(gallery::random(5, &options));
    for mechanism in mechanisms {
        let name = mechanism.name();
        let model = Model::new(&mechanism);
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
        let mut counted = [0; 4];
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
        // The first step may still fill what later ones reuse.
        assert_eq!(counted[1..], [0; 3], "{name}: allocations in the first step {}", counted[0]);

        if simulation.set_integrator(Integrator::RungeKutta4).is_ok() {
            simulation.step(1e-6).unwrap();
            assert_eq!(allocations(|| simulation.step(1e-6).unwrap()), 0, "{name}: Runge and Kutta");
        }
    }
}
