//! Claim: a linear model moves as the full engine does under small loads, stays stable for any stiffness, does
//! not gain energy, follows set-points and pulls, and gives the same bits again.

use crate::common::{FRAME, bits, edited};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::Spring;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::linear::{Linearisation, Reconstruction, Simulation};
use pliant_core::mechanism::{Mechanism, PerFreedom};
use pliant_core::spatial::{Pose, Twist, Wrench};

/// With all springs and dampers scaled.
fn scaled(mechanism: &Mechanism, stiffness: f64, damping: f64) -> Mechanism {
    edited(mechanism, |joint| {
        for (list, factor) in [(&mut joint.stiffness, stiffness), (&mut joint.damping, damping)] {
            if let Some(PerFreedom::Each(list)) = list {
                list.iter_mut().for_each(|x| *x *= factor);
            }
        }
    })
}

#[test]
fn small_loads_move_it_as_they_move_the_full_engine() {
    for name in
        ["helix:50", "y", "rungs:48", "chain:20", "arm", "hand", "gripper", "ladder:48", "loop", "graph"]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Linearisation::at_rest(&mechanism).modes(4).build().unwrap();
        let full = full::Model::new(&mechanism);
        let (mut linear, mut exact) = (model.simulate(), full.simulate());
        linear.inputs_mut().set_gravity([0.0; 3]).unwrap();
        exact.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let effector = crate::common::handles::effector(&mechanism, 0);
        let effector = mechanism.loads().first().map_or(effector, |load| load.effector);
        let load = mechanism.loads().first().map_or(Wrench::force([0.0, 0.0, -1.0]), |load| load.wrench);
        linear.set_load(effector, load * 0.01).unwrap();
        exact.set_load(effector, load * 0.01).unwrap();
        let start = exact.effector_pose(effector).unwrap().position;
        let (mut off, mut peak) = (0.0f64, 0.0f64);
        for _ in 0..240 {
            linear.step(1.0 / 240.0).unwrap();
            exact.step(1.0 / 240.0).unwrap();
            let truth = exact.effector_pose(effector).unwrap().position;
            off = off.max((linear.effector_pose(effector).unwrap().position - truth).norm());
            peak = peak.max((truth - start).norm());
        }
        assert!(off < 0.03 * peak, "{name}: {}", off / peak);
    }
}

#[test]
fn undamped_motion_of_a_radian_does_not_gain_energy() {
    for name in ["y", "helix:50", "loop", "arm"] {
        let mechanism = scaled(&gallery::build(name).unwrap(), 1.0, 0.0);
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        // Spring it out by a radian, then let go.
        let weightless = || {
            let mut simulation = model.simulate();
            simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
            simulation
        };
        let mut simulation = weightless();
        let load = mechanism.loads()[0];
        let turn = |s: &Simulation| {
            s.effector_pose(load.effector)
                .unwrap()
                .rotation
                .angle_to(&model.simulate().effector_pose(load.effector).unwrap().rotation)
        };
        let mut scale = 1.0;
        while turn(&simulation) < 1.0 {
            scale *= 1.1;
            simulation = weightless();
            simulation.set_load(load.effector, load.wrench * scale).unwrap();
            (0..60).for_each(|_| simulation.step(0.1).unwrap());
            assert!(scale < 1e6, "{name} does not turn");
        }
        simulation.set_load(load.effector, Wrench::ZERO).unwrap();
        let energy = |s: &Simulation| s.model_energy().0 + s.model_energy().1;
        let mut last = energy(&simulation);
        for dt in [1.0 / 60.0, 1.0 / 1000.0] {
            for _ in 0..2_000 {
                simulation.step(dt).unwrap();
                // Backward Euler takes energy out; rounding may add its bit.
                assert!(energy(&simulation) <= last * (1.0 + 1e-12), "{name}");
                last = energy(&simulation);
            }
        }
    }
}

#[test]
fn stable_for_any_stiffness() {
    for name in ["helix:50", "y", "rungs:24", "arm"] {
        for k in [1e-2, 1.0, 1e3, 1e6] {
            // Springs of 1000 N·m/rad become 10 to 1e9.
            let mechanism = scaled(&gallery::build(name).unwrap(), k, 1.0);
            for modes in [0, 4] {
                let model = Linearisation::at_rest(&mechanism).modes(modes).build().unwrap();
                let mut simulation = model.simulate();
                let load = mechanism.loads()[0];
                simulation.set_load(load.effector, load.wrench * (0.01 * k.min(1.0))).unwrap();
                for _ in 0..3_600 {
                    simulation.step(FRAME).unwrap();
                }
                let moved = (simulation.effector_pose(load.effector).unwrap().position
                    - model.simulate().effector_pose(load.effector).unwrap().position)
                    .norm();
                let (kinetic, elastic) = simulation.model_energy();
                assert!(
                    moved < mechanism.radius() && kinetic <= 1e-6 * elastic.max(1e-12),
                    "{name} {k:e}: {moved:e} {kinetic:e}"
                );
            }
        }
    }
}

#[test]
fn set_points_are_followed() {
    // The targets of all joints at once: the posture that the full engine settles to, for small targets.
    let mechanism = gallery::build("hand").unwrap();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let full = full::Model::new(&mechanism);
    let (mut linear, mut exact) = (model.simulate(), full.simulate());
    for j in 0..mechanism.joints().len() {
        let joint = crate::common::handles::joint(&mechanism, j);
        let d = mechanism[joint].coordinates().len();
        let target = vec![1e-4 * (1.0 + j as f64).sin(); d];
        for inputs in [linear.inputs_mut(), exact.inputs_mut()] {
            inputs.set_gravity([0.0; 3]).unwrap();
            inputs.set_target(joint, &target).unwrap();
        }
    }
    (0..2_000).for_each(|_| linear.step(0.1).unwrap());
    assert!(exact.settle(&Default::default()).unwrap().converged);
    let (got, expected) = (linear.state().clone(), exact.state().clone());
    for (got, expected) in got.coordinates.iter().zip(&expected.coordinates) {
        // Linear but for the square of 1e-4.
        assert!((got - expected).abs() < 1e-7, "{got} {expected}");
    }
}

/// A pull of a mouse on a link: where it comes to rest, the force that it reports is that which holds the
/// effector, and the full engine rests at the same place.
#[test]
fn pulls_of_any_stiffness_are_stable_and_report_their_force() {
    for (name, body) in
        [("y", "left1"), ("rungs:24", ""), ("hexapod", "base"), ("hexapod", "front_left_tibia")]
    {
        let mechanism = gallery::build(name).unwrap();
        let body = mechanism
            .find_body(body)
            .unwrap_or(crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1));
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let full = full::Model::new(&mechanism);
        for stiffness in [10.0, 1e4, 1e7] {
            let (mut linear, mut exact) = (model.simulate(), full.simulate());
            let target = Pose::translation([1e-4, 0.0, 0.0]) * mechanism[body].pose;
            let pull = Spring {
                body,
                frame: Pose::identity(),
                target,
                target_twist: Twist::ZERO,
                stiffness,
                turning_stiffness: stiffness * 0.01,
                damping: stiffness * 0.1,
                turning_damping: stiffness * 1e-3,
            };
            for inputs in [linear.inputs_mut(), exact.inputs_mut()] {
                inputs.set_gravity([0.0; 3]).unwrap();
            }
            let id = linear.inputs_mut().add_spring(pull).unwrap();
            let full_id = exact.inputs_mut().add_spring(pull).unwrap();
            for _ in 0..3_000 {
                linear.step(FRAME).unwrap();
                exact.step(FRAME).unwrap();
            }
            let (a, b) = (linear.pose(body).unwrap(), exact.state().pose(body).unwrap());
            let moved = (b.position - mechanism[body].pose.position).norm();
            assert!(
                (a.position - b.position).norm() < 1e-3 * moved + 1e-12,
                "{name} {stiffness:e}: {} {}",
                a.position,
                b.position
            );
            let (f, g) = (linear.spring_force(id).unwrap().force, exact.spring_force(full_id).unwrap().force);
            // The force is the small difference that a stiff spring leaves of a move of 1e-4 m: two digits less.
            assert!((f - g).norm() < 0.02 * g.norm() + 1e-6, "{name} {stiffness:e}: {f} {g}");
        }
    }
}

/// A base that is accelerated pushes the links back, as it does in the full engine.
#[test]
fn an_accelerated_base_leaves_the_links_behind() {
    let mechanism = gallery::build("y").unwrap();
    let model = Linearisation::at_rest(&mechanism).modes(4).build().unwrap();
    let full = full::Model::new(&mechanism);
    let (mut linear, mut exact) = (model.simulate(), full.simulate());
    let (dt, a) = (1.0 / 240.0, 0.05);
    let effector = crate::common::handles::effector(&mechanism, 0);
    let start = exact.effector_pose(effector).unwrap().position;
    let (mut x, mut v) = (0.0, 0.0);
    let (mut off, mut peak) = (0.0f64, 0.0f64);
    for _ in 0..240 {
        v += a * dt;
        x += v * dt;
        for inputs in [linear.inputs_mut(), exact.inputs_mut()] {
            inputs
                .set_base(
                    Pose::translation([x, 0.0, 0.0]),
                    Twist::new([v, 0.0, 0.0].into(), Default::default()),
                )
                .unwrap();
        }
        linear.step(dt).unwrap();
        exact.step(dt).unwrap();
        let carried = start + pliant_core::nalgebra::Vector3::new(x, 0.0, 0.0);
        let truth = exact.effector_pose(effector).unwrap().position - carried;
        off = off.max((linear.effector_pose(effector).unwrap().position - carried - truth).norm());
        peak = peak.max(truth.norm());
    }
    assert!(peak > 1e-6 && off < 0.03 * peak, "{off:e} {peak:e}");
}

/// Runs a while with loads; gives the bits of the state.
fn run(simulation: &mut Simulation, steps: usize) -> Vec<u64> {
    for load in simulation.mechanism().loads().to_vec() {
        simulation.set_load(load.effector, load.wrench).unwrap();
    }
    (0..steps).for_each(|_| simulation.step(FRAME).unwrap());
    bits(simulation.state())
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let mechanism = gallery::build("chain:9000").unwrap();
    let stiff = scaled(&mechanism, 1e6, 1.0);
    let model = Linearisation::at_rest(&stiff).build().unwrap();
    let of = |threads| {
        let mut simulation = model.simulate();
        simulation.set_reconstruction(Reconstruction::Twist);
        simulation.set_threads(threads);
        (0..5).for_each(|_| simulation.step(FRAME).unwrap());
        let poses: Vec<Pose> = simulation.poses().map(|(_, pose)| pose).collect();
        poses
    };
    let one = of(1);
    for threads in [2, 8] {
        assert_eq!(one, of(threads));
    }
}

#[test]
fn a_state_of_the_full_engine_is_taken_over() {
    for name in ["y", "helix:50", "hexapod"] {
        let mechanism = gallery::build(name).unwrap();
        let full = full::Model::new(&mechanism);
        let mut exact = full.simulate();
        for load in mechanism.loads() {
            exact.set_load(load.effector, load.wrench * 0.1).unwrap();
        }
        (0..20).for_each(|_| exact.step(FRAME).unwrap());
        let model = Linearisation::at_rest(&mechanism).build().unwrap();
        let mut linear = model.simulate();
        linear.set_state(exact.state()).unwrap();
        for e in 0..mechanism.effectors().len() {
            let effector = crate::common::handles::effector(&mechanism, e);
            let (a, b) = (linear.effector_pose(effector).unwrap(), exact.effector_pose(effector).unwrap());
            // What of the displacement, 1e-3 of a radius, is not in the range of the compliance: its square.
            assert!((a.position - b.position).norm() < 1e-3 * mechanism.radius(), "{name}");
        }
        // And the other way round: a state of the linear engine starts the full one.
        exact.set_state(linear.state()).unwrap();
        exact.step(FRAME).unwrap();
    }
}

#[test]
fn only_chosen_links_are_rebuilt_with_the_same_bits() {
    let mechanism = gallery::build("hand").unwrap();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    for how in [Reconstruction::Twist, Reconstruction::Joint, Reconstruction::Corrected] {
        let (mut all, mut some) = (model.simulate(), model.simulate());
        let chosen = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        all.set_reconstruction(how);
        some.set_reconstruction(how);
        some.rebuild_only(&[chosen]).unwrap();
        for load in mechanism.loads() {
            all.set_load(load.effector, load.wrench).unwrap();
            some.set_load(load.effector, load.wrench).unwrap();
        }
        for _ in 0..10 {
            all.step(FRAME).unwrap();
            some.step(FRAME).unwrap();
        }
        assert_eq!(all.pose(chosen), some.pose(chosen));
        // The others are where the linear motion alone takes them, which is off by its square.
        for ((_, a), (_, b)) in all.poses().zip(some.poses()) {
            assert!((a.position - b.position).norm() < 0.05 * mechanism.radius(), "{how:?}");
        }
        assert_eq!(bits(all.state()), bits(some.state()));
    }
}

#[test]
fn a_load_beyond_all_bounds_is_an_error() {
    let mechanism = gallery::build("y").unwrap();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let mut simulation = model.simulate();
    run(&mut simulation, 5);
    let before = bits(simulation.state());
    let tip = simulation.effector("left").unwrap();
    // A load beyond all bounds: an error that names the step and the body, and the state is unchanged.
    simulation.set_load(tip, Wrench::force([1e300, 0.0, 0.0])).unwrap();
    let error = simulation.step(FRAME).unwrap_err().to_string();
    assert!(error.contains("step 6") && error.contains("left1"), "{error}");
    assert_eq!(bits(simulation.state()), before);
}

/// The fingers of a hand on a fixed palm share nothing: each is solved alone, and a load on one leaves every bit of
/// the others as it was.
#[test]
fn parts_that_share_nothing_do_not_feel_each_other() {
    let mechanism = gallery::build("hand").unwrap();
    let model = Linearisation::at_rest(&mechanism).modes(1).build().unwrap();
    let (mut loaded, mut free) = (model.simulate(), model.simulate());
    let load = mechanism.loads()[0];
    loaded.set_load(load.effector, load.wrench).unwrap();
    for _ in 0..20 {
        loaded.step(FRAME).unwrap();
        free.step(FRAME).unwrap();
    }
    for e in 0..mechanism.effectors().len() {
        let effector = crate::common::handles::effector(&mechanism, e);
        let same = loaded.effector_pose(effector).unwrap() == free.effector_pose(effector).unwrap();
        assert_eq!(same, effector != load.effector, "{}", mechanism[effector].name);
    }
    let compliance = model.projection().compliance();
    for a in 0..mechanism.effectors().len() {
        for b in (0..mechanism.effectors().len()).filter(|b| *b != a) {
            assert_eq!(compliance.view((6 * a, 6 * b), (6, 6)).amax(), 0.0);
        }
    }
}

/// A part without any linear coordinate still takes loads and pulls: a base alone.
#[test]
fn a_base_alone_takes_loads_and_pulls() {
    let mechanism = gallery::build("hexapod").unwrap();
    let model = Linearisation::at_rest(&mechanism).effectors(["base"]).build().unwrap();
    assert_eq!(model.rank(), 0);
    let base = mechanism.find_body("base").unwrap();
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    simulation.inputs_mut().set_body_load(base, Wrench::force([0.0, 0.0, 1.0])).unwrap();
    (0..10).for_each(|_| simulation.step(FRAME).unwrap());
    let mass: f64 = mechanism.bodies().iter().map(|b| b.inertia.mass).sum();
    let rise = simulation.pose(base).unwrap().position.z - mechanism[base].pose.position.z;
    // A dead force through the base's origin, which is not the centre of mass: to first order in the turn.
    assert!((rise / (55.0 * FRAME * FRAME / mass) - 1.0).abs() < 1e-2, "{rise}");
}

/// Two equal springs on one free base leave it half-way between their targets, whatever their stiffness.
#[test]
fn several_pulls_on_a_free_base_share_it() {
    let mechanism = gallery::build("hexapod").unwrap();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let base = mechanism.find_body("base").unwrap();
    let rest = mechanism[base].pose;
    for stiffness in [1e3, 1e5, 1e7] {
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let ids = [0.0, 1e-3].map(|x| {
            let pull = Spring {
                body: base,
                frame: Pose::identity(),
                target: Pose::translation([x, 0.0, 0.0]) * rest,
                target_twist: Twist::ZERO,
                stiffness,
                turning_stiffness: stiffness * 0.1,
                damping: stiffness * 0.05,
                turning_damping: stiffness * 0.005,
            };
            simulation.inputs_mut().add_spring(pull).unwrap()
        });
        (0..2_000).for_each(|_| simulation.step(FRAME).unwrap());
        let x = simulation.pose(base).unwrap().position.x - rest.position.x;
        assert!((x - 5e-4).abs() < 1e-9, "{stiffness:e}: {x}");
        let sum =
            simulation.spring_force(ids[0]).unwrap().force + simulation.spring_force(ids[1]).unwrap().force;
        assert!(sum.norm() < 1e-6 * stiffness * 1e-3, "{sum}");
    }
}

/// From the linear engine to the full one and back: the pose that the full engine came to, not the old one.
#[test]
fn a_state_goes_round_through_the_full_engine() {
    let mechanism = gallery::build("y").unwrap();
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let full = full::Model::new(&mechanism);
    let (mut linear, mut exact) = (model.simulate(), full.simulate());
    let load = mechanism.loads()[0];
    exact.set_state(linear.state()).unwrap();
    exact.set_load(load.effector, load.wrench * 0.1).unwrap();
    (0..60).for_each(|_| exact.step(FRAME).unwrap());
    linear.set_state(exact.state()).unwrap();
    let (a, b) = (linear.effector_pose(load.effector).unwrap(), exact.effector_pose(load.effector).unwrap());
    let moved = (b.position - model.simulate().effector_pose(load.effector).unwrap().position).norm();
    assert!((a.position - b.position).norm() < 0.05 * moved, "{} {}", a.position, b.position);
    // A state of another model of the same size is measured, not taken for one's own.
    let other = Linearisation::at_rest(&mechanism).effectors(["right", "left"]).build().unwrap();
    let mut other = other.simulate();
    other.set_state(linear.state()).unwrap();
    let c = other.effector_pose(load.effector).unwrap();
    // (Links end a little off the effector, so it is measured to second order.)
    assert!((a.position - c.position).norm() < 0.05 * moved, "{} {}", a.position, c.position);
}

/// A limit that acts at the reference holds the joint where the full engine's statics has it.
#[test]
fn a_limit_at_the_reference_acts() {
    let mechanism = edited(&gallery::build("two-link").unwrap(), |joint| {
        joint.limits = Some(PerFreedom::All((0.1, 0.5)));
    });
    let model = Linearisation::at_rest(&mechanism).build().unwrap();
    let full = full::Model::new(&mechanism);
    let (mut linear, mut exact) = (model.simulate(), full.simulate());
    (0..2_000).for_each(|_| linear.step(0.1).unwrap());
    assert!(exact.settle(&Default::default()).unwrap().converged);
    let (got, expected) = (linear.state().coordinates.clone(), exact.state().coordinates.clone());
    for (got, expected) in got.iter().zip(&expected) {
        // Linear in angles of 0.1 rad but for what gravity's arms change.
        assert!((got - expected).abs() < 1e-3, "{got} {expected}");
    }
}
