//! Claim: in motion, few motions are near all of them at the same step; energy without damping never grows; steps of any length
//! and stiffness are stable.

use pliant_core::articulated;
use pliant_core::engine::Simulation;
use pliant_core::gallery::build;
use pliant_core::mechanism::{Mechanism, PerFreedom};
use pliant_core::reduced::Reduction;
use pliant_core::spatial::Wrench;

/// Worst distance of effectors from the articulated engine over half a second after the scene's load is put on, over the
/// largest displacement.
fn error(mechanism: &Mechanism, modes: usize, dt: f64) -> f64 {
    let mut few = Reduction::at_rest(mechanism).modes(modes).build().unwrap().simulate();
    let mut all = articulated::Model::new(mechanism).simulate();
    for inputs in [few.inputs_mut(), all.inputs_mut()] {
        inputs.add_scene_loads();
    }
    let start = all.state().clone();
    let (mut worst, mut most) = (0.0f64, 0.0f64);
    for _ in 0..(0.5 / dt) as usize {
        few.step(dt).unwrap();
        all.step(dt).unwrap();
        for e in mechanism.effector_ids() {
            let here = all.effector_pose(e).unwrap().position;
            worst = worst.max((few.effector_pose(e).unwrap().position - here).norm());
            most = most.max((here - start.effector_pose(mechanism, e).unwrap().position).norm());
        }
    }
    worst / most
}

#[test]
fn few_motions_move_as_all_do() {
    // Measured at 1/60 s and 2 ms: arm 0.0002, 0.0007; chain:20 0.00004; helix:50 0.0015, 0.013; y has all its motions.
    for (name, bounds) in
        [("arm", [5e-4, 1e-3]), ("chain:20", [2e-4, 2e-4]), ("helix:50", [5e-3, 2.5e-2]), ("y", [1e-4, 5e-4])]
    {
        let mechanism = build(name).unwrap();
        for (dt, bound) in [1.0 / 60.0, 0.002].into_iter().zip(bounds) {
            let error = error(&mechanism, 4, dt);
            assert!(error < bound, "{name} at {dt}: {error}");
        }
    }
}

/// Without dampers, from the loaded rest let go.
fn undamped(name: &str, stiffness: f64) -> Mechanism {
    let mechanism = build(name).unwrap();
    let mut builder = mechanism.to_builder();
    for joint in mechanism.joints() {
        let own = builder.joint_mut(&joint.name).unwrap();
        own.damping = None;
        own.stiffness =
            Some(PerFreedom::Each(joint.freedoms.iter().map(|f| f.stiffness * stiffness).collect()));
    }
    builder.build().unwrap()
}

#[test]
fn energy_without_damping_never_grows() {
    for name in ["helix:50", "arm", "chain:20", "y"] {
        let mechanism = undamped(name, 1.0);
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let mut simulation = Reduction::at_rest(&mechanism).build().unwrap().simulate();
            simulation.inputs_mut().add_scene_loads();
            simulation.settle(&Default::default()).unwrap();
            for load in mechanism.loads() {
                simulation.set_load(load.effector, Wrench::ZERO).unwrap();
            }
            let start = simulation.energy().total();
            let mut floor = f64::INFINITY;
            for step in 0..400 {
                simulation.step(dt).unwrap();
                let energy = simulation.energy().total();
                floor = floor.min(energy);
                // Of what there is to lose, a thousandth: mass is up to 0.05 rad old.
                assert!(energy <= start + 1e-3 * (start - floor).abs() + 1e-12, "{name}, step {step}");
            }
        }
    }
}

#[test]
fn any_stiffness_and_step_is_stable() {
    let mut ran = 0;
    for name in ["helix:50", "arm", "chain:20"] {
        for stiffness in [1e-2, 1.0, 1e2, 1e4] {
            for damped in [false, true] {
                let mechanism = if damped { build(name).unwrap() } else { undamped(name, stiffness) };
                for dt in [1.0 / 60.0, 0.1] {
                    let model = Reduction::at_rest(&mechanism).unloaded().build().unwrap();
                    let mut simulation = model.simulate();
                    simulation.inputs_mut().add_scene_loads();
                    for _ in 0..200 {
                        simulation.step(dt).unwrap();
                        let far = simulation.poses().map(|(_, p)| p.position.norm()).fold(0.0, f64::max);
                        assert!(
                            far < 20.0 * mechanism.radius() + 1.0,
                            "{name} {stiffness} {damped} {dt}: {far}"
                        );
                    }
                    ran += 1;
                }
            }
        }
    }
    assert_eq!(ran, 48);
}
