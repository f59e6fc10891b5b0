//! Claim: base, teleport, pull, coupling, rotor, damper, dead load and turning hinge each do what their
//! closed form says.

use pliant_core::engine::Simulation as _;
use std::f64::consts::TAU;

use crate::common::{FRAME, apart, come_to_rest, edited};
use pliant_core::engine::Spring;
use pliant_core::engine::State;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::Model;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, BodyId, CouplingDescription, EffectorDescription, JointDescription, JointId, Mechanism,
    MechanismBuilder, PerFreedom, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench, exp_rotation};

/// The first body of a mechanism.
fn first(mechanism: &Mechanism) -> BodyId {
    crate::common::handles::body(mechanism, 0)
}

/// A wheel about z through its centre of mass.
fn wheel(change: impl FnOnce(JointDescription) -> JointDescription) -> Mechanism {
    let mut builder = MechanismBuilder::new("wheel");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("wheel", Pose::identity()).inertia(SpatialInertia::of_box(3.0, [0.3, 0.3, 0.1])));
    builder.joint(change(JointDescription::new("axle", JointKind::Hinge, WORLD, "wheel")));
    builder.build().unwrap()
}

/// Its moment about z, kg·m².
const MOMENT: f64 = 3.0 * (0.09 + 0.09) / 12.0;

/// A rotor adds to the inertia that its coordinate feels, and to nothing else: ω = t τ/(I + a).
#[test]
fn a_rotor_adds_inertia() {
    let (rotor, torque) = (0.37, 0.2);
    let mechanism = wheel(|joint| joint.armature(rotor));
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_body_load(first(&mechanism), Wrench::torque([0.0, 0.0, torque])).unwrap();
    for step in 1..=100 {
        simulation.step(FRAME).unwrap();
        let expected = step as f64 * FRAME * torque / (MOMENT + rotor);
        // A linear system solved in every step: rounding alone.
        assert!((simulation.state().rates[0] / expected - 1.0).abs() < 1e-12);
    }
    // On a slide it is a mass.
    let mut builder = MechanismBuilder::new("slide");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("sled", Pose::identity()).inertia(SpatialInertia::of_box(2.0, [0.3, 0.3, 0.1])));
    builder.joint(JointDescription::new("rail", JointKind::Prismatic, WORLD, "sled").armature(0.5));
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_body_load(first(&mechanism), Wrench::force([0.0, 0.0, 5.0])).unwrap();
    simulation.step(FRAME).unwrap();
    assert!((simulation.state().rates[0] / (FRAME * 5.0 / 2.5) - 1.0).abs() < 1e-12);
}

/// A damper takes ω to ω/(1 + h d/I) in each step, which goes to exp(−d t/I) with the step.
#[test]
fn a_damper_decays_exponentially() {
    let damping = 0.09;
    let mechanism = wheel(|joint| joint.damping(damping));
    let model = Model::new(&mechanism);
    let after_a_second = |steps: usize| {
        let dt = 1.0 / steps as f64;
        let mut simulation = model.simulate();
        let mut state = State::at_rest(&mechanism);
        state.twists[0].angular.z = 2.0;
        state.rates[0] = 2.0;
        simulation.set_state(&state).unwrap();
        for step in 1..=steps {
            simulation.step(dt).unwrap();
            let expected = 2.0 * (1.0 + dt * damping / MOMENT).powi(-(step as i32));
            assert!((simulation.state().rates[0] / expected - 1.0).abs() < 1e-11);
        }
        simulation.state().rates[0]
    };
    let exact = 2.0 * (-damping / MOMENT).exp();
    let errors = [1000, 2000, 4000].map(|n| after_a_second(n) / exact - 1.0);
    println!("errors {errors:?}");
    assert!(errors.windows(2).all(|e| (e[0] / e[1] - 2.0).abs() < 0.01), "first order: {errors:?}");
    assert!(errors[2] < 1e-3);
}

/// A hinge that turns more than ten times counts its turns, both ways, and a spring pulls it back through
/// all of them.
#[test]
fn a_hinge_counts_its_turns() {
    let mechanism = wheel(|joint| joint.stiffness(0.05).damping(0.2));
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    for (torque, sign) in [(4.0, 1.0), (-4.0, -1.0)] {
        simulation.inputs_mut().set_body_load(first(&mechanism), Wrench::torque([0.0, 0.0, torque])).unwrap();
        let mut sum = simulation.state().coordinates[0];
        let mut farthest = 0.0f64;
        for _ in 0..6000 {
            simulation.step(FRAME).unwrap();
            sum += FRAME * simulation.state().rates[0];
            farthest = farthest.max(sign * simulation.state().coordinates[0]);
            // θ⁺ = θ + h ω⁺ exactly; 6000 roundings of numbers up to 80.
            assert!((simulation.state().coordinates[0] - sum).abs() < 1e-9);
        }
        assert!(farthest > 10.0 * TAU, "{farthest}");
        assert!((simulation.state().coordinates[0] - torque / 0.05).abs() < 1e-3);
    }
    // Without spring, from a set-point 12 turns away.
    let mechanism = wheel(|joint| joint.stiffness(1.0).damping(1.0));
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_target(crate::common::handles::joint(&mechanism, 0), &[12.0 * TAU]).unwrap();
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    assert!((simulation.state().coordinates[0] - 12.0 * TAU).abs() < 1e-9);
}

/// A force that keeps its direction at the end of a sprung arm: k φ = F L cos φ, though the arm's own
/// origin and centre of mass are elsewhere.
#[test]
fn a_dead_load_acts_at_its_point() {
    let (stiffness, length, force) = (3.0, 0.8, 10.0);
    let mut builder = MechanismBuilder::new("arm");
    builder.gravity([0.0; 3]);
    let mut inertia = SpatialInertia::of_box(0.5, [0.8, 0.1, 0.1]);
    inertia.center_of_mass = Vector3::new(0.1, 0.02, 0.0);
    // The link frame is turned and aside; the effector's frame brings its point to (0.8, 0, 0).
    let pose = Pose::new(exp_rotation(&Vector3::new(0.3, -0.2, 0.9)), Vector3::new(0.2, 0.1, -0.1));
    builder.body(Body::new("arm", pose).inertia(inertia));
    let joint = JointDescription::new("hinge", JointKind::Hinge, WORLD, "arm");
    builder.joint(joint.stiffness(stiffness).damping(1.0));
    let frame = pose.inverse() * Pose::translation([length, 0.0, 0.0]);
    builder.effector(EffectorDescription { name: "end".into(), body: "arm".into(), frame });
    let mechanism = builder.build().unwrap();
    let mut angle = 0.5f64;
    for _ in 0..50 {
        let (f, slope) =
            (stiffness * angle - force * length * angle.cos(), stiffness + force * length * angle.sin());
        angle -= f / slope;
    }
    assert!(angle > 1.0);
    let model = Model::new(&mechanism);
    let mut statics = model.simulate();
    let end = statics.effector("end").unwrap();
    statics.set_load(end, Wrench::force([0.0, force, 0.0])).unwrap();
    let mut moving = statics.clone();
    let equilibrium = statics.settle(&StaticsSettings::default()).unwrap();
    assert!(equilibrium.converged && equilibrium.stable);
    assert!(
        (statics.state().coordinates[0] - angle).abs() < 1e-12,
        "{}",
        statics.state().coordinates[0] - angle
    );
    come_to_rest(&mut moving, FRAME, 3000);
    assert!((moving.state().coordinates[0] - angle).abs() < 1e-11);
}

/// A brick without joints, pulled to a frame by a spring at a corner: it hangs lower by weight over stiffness
/// and tilts until k φ = m g r cos φ; the pull reports the weight.
#[test]
fn a_pull_balances_the_weight() {
    let (mass, aside, stiffness, turning) = (2.0, 0.3, 500.0, 8.0);
    let mut builder = MechanismBuilder::new("brick");
    builder.body(
        Body::new("brick", Pose::identity()).inertia(SpatialInertia::of_box(mass, [0.6, 0.2, 0.1])).free(),
    );
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let weight = mass * 9.81;
    let mut tilt = 0.0f64;
    for _ in 0..100 {
        let (f, slope) =
            (turning * tilt - weight * aside * tilt.cos(), turning + weight * aside * tilt.sin());
        tilt -= f / slope;
    }
    let target = Pose::translation([0.4, -0.2, 1.0]);
    let pull = Spring {
        body: first(&mechanism),
        frame: Pose::translation([aside, 0.0, 0.0]),
        target,
        target_twist: Twist::ZERO,
        stiffness,
        turning_stiffness: turning,
        damping: 50.0,
        turning_damping: 1.0,
    };
    let mut simulation = model.simulate();
    let id = simulation.inputs_mut().add_spring(pull).unwrap();
    let mut statics = simulation.clone();
    come_to_rest(&mut simulation, FRAME, 5000);
    let equilibrium = statics.settle(&StaticsSettings::default()).unwrap();
    assert!(equilibrium.converged && equilibrium.stable, "{equilibrium:?}");
    for simulation in [&mut simulation, &mut statics] {
        // The end of the frame sinks by weight/stiffness; what is pulled up turns the brick's x axis down.
        let at = simulation.state().poses[0] * pull.frame;
        let expected = target.position - Vector3::new(0.0, 0.0, weight / stiffness);
        assert!((at.position - expected).norm() < 1e-10, "{:e}", (at.position - expected).norm());
        let turned = simulation.state().poses[0].rotation.scaled_axis();
        assert!((turned - Vector3::new(0.0, -tilt, 0.0)).norm() < 1e-9, "{turned:?} {tilt}");
        let wrench = simulation.spring_force(id).unwrap();
        assert!((wrench.force - Vector3::new(0.0, 0.0, weight)).norm() < 1e-9 * weight);
        assert!((wrench.torque.norm() - turning * tilt).abs() < 1e-9);
    }
}

/// Two wheels about z with θ_a = r θ_b + c.
fn gears(ratio: f64, offset: f64, stiffness: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("gears");
    builder.gravity([0.0; 3]);
    for (name, x, mass) in [("a", 0.0, 3.0), ("b", 1.0, 1.0)] {
        let pose = Pose::translation([x, 0.0, 0.0]);
        builder.body(Body::new(name, pose).inertia(SpatialInertia::of_box(mass, [0.3, 0.3, 0.1])));
        let joint = JointDescription::new(name, JointKind::Hinge, WORLD, name).frame(pose);
        builder.joint(if name == "b" && stiffness > 0.0 {
            joint.stiffness(stiffness).damping(0.5)
        } else {
            joint
        });
    }
    builder.coupling(CouplingDescription { joint: "a".into(), of: "b".into(), ratio, offset });
    builder.build().unwrap()
}

/// A torque τ on the geared wheel turns the sprung one by r τ/k, and the coupling carries −τ.
#[test]
fn gears_pass_torque_on_by_their_ratio() {
    let (ratio, offset, stiffness, torque) = (-2.5, 0.2, 4.0, 1.2);
    let mechanism = gears(ratio, offset, stiffness);
    let model = Model::new(&mechanism);
    let mut statics = model.simulate();
    statics.inputs_mut().set_body_load(first(&mechanism), Wrench::torque([0.0, 0.0, torque])).unwrap();
    let mut moving = statics.clone();
    let equilibrium = statics.settle(&StaticsSettings::default()).unwrap();
    assert!(equilibrium.converged && equilibrium.stable, "{equilibrium:?}");
    come_to_rest(&mut moving, FRAME, 5000);
    for (simulation, bound) in [(&mut statics, 1e-12), (&mut moving, 1e-9)] {
        let [a, b] = simulation.state().coordinates[..] else { panic!() };
        assert!((b - ratio * torque / stiffness).abs() < bound, "{b}");
        assert!((a - ratio * b - offset).abs() < bound, "{a} {b}");
        assert!((simulation.state().multipliers.last().unwrap() + torque).abs() < 1e-9);
    }
    // Dynamics: ω_b = t r τ/(r² I_a + I_b), an exact linear law.
    let mechanism = gears(ratio, 0.0, 0.0);
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_body_load(first(&mechanism), Wrench::torque([0.0, 0.0, torque])).unwrap();
    let inertia = ratio * ratio * MOMENT + MOMENT / 3.0;
    for step in 1..=100 {
        simulation.step(FRAME).unwrap();
        let expected = step as f64 * FRAME * ratio * torque / inertia;
        // Rows of a tree are not soft; what is left is the second iteration's own error.
        assert!((simulation.state().rates[1] / expected - 1.0).abs() < 1e-8);
    }
}

/// Couplings hold while things move, as well as Newton's method has converged: between hinges and a slide of a
/// chain that falls and spins (2 iterations 1.7e-7, 3 iterations 7e-9), and in a loop with limits.
#[test]
fn couplings_hold_in_motion() {
    let mut builder = MechanismBuilder::new("rack and pinion");
    let mut inertia = SpatialInertia::of_box(1.0, [0.3, 0.2, 0.1]);
    inertia.center_of_mass = Vector3::new(0.1, 0.0, 0.02);
    for (name, parent, kind, x) in [
        ("a", WORLD, JointKind::Hinge, 0.0),
        ("b", "a", JointKind::Prismatic, 0.2),
        ("c", "b", JointKind::Hinge, 0.4),
    ] {
        builder.body(Body::new(name, Pose::translation([x, 0.0, 0.0])).inertia(inertia));
        let joint = JointDescription::new(name, kind, parent, name);
        builder.joint(joint.axis(Vector3::new(x, 0.0, 0.0), Vector3::new(0.3, 1.0, 0.2)).damping(0.05));
    }
    builder.coupling(CouplingDescription { joint: "b".into(), of: "a".into(), ratio: 0.1, offset: 0.02 });
    builder.coupling(CouplingDescription { joint: "c".into(), of: "a".into(), ratio: -1.5, offset: 0.0 });
    let rack = builder.build().unwrap();
    for (mechanism, iterations, bound) in
        [(&rack, 2, 1e-6), (&rack, 3, 1e-8), (&gallery::gripper(), 2, 1e-14)]
    {
        let model = Model::new(mechanism);
        let mut simulation = model.simulate();
        simulation.set_iterations(iterations).unwrap();
        simulation.inputs_mut().add_scene_loads();
        let (mut worst, mut moved) = (0.0f64, 0.0f64);
        for step in 0..300 {
            simulation.step(FRAME).unwrap();
            let mut q = |j: JointId| simulation.state().coordinates_of(mechanism, j).unwrap()[0];
            for c in mechanism.couplings() {
                moved = moved.max(q(c.of).abs());
                // The first two steps bring an offset of the file's pose together.
                if step > 1 {
                    worst = worst.max((q(c.joint) - c.ratio * q(c.of) - c.offset).abs());
                }
            }
        }
        println!("{}: {worst:.1e} while it moved by {moved:.2}", mechanism.name());
        assert!(worst < bound, "{worst:e}");
        assert!(moved > 0.05);
    }
}

/// A base that swings slowly carries a stiff chain along as one piece; what is welded to it goes with it
/// exactly.
#[test]
fn a_moving_base_carries_the_mechanism() {
    let mechanism = edited(&gallery::chain(10), |joint| {
        joint.stiffness = Some(PerFreedom::All(1e8));
        joint.damping = Some(PerFreedom::All(1e4));
    });
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    let (reach, frequency, h) = (0.2, TAU * 0.25, 1.0 / 240.0);
    let base = |t: f64| {
        let s = (frequency * t).sin();
        Pose::new(exp_rotation(&Vector3::new(0.0, 0.0, 0.5 * s)), Vector3::new(reach * s, 0.1 * s, -0.05 * s))
    };
    let twist = |t: f64| {
        let c = frequency * (frequency * t).cos();
        Twist::new(Vector3::new(reach * c, 0.1 * c, -0.05 * c), Vector3::new(0.0, 0.0, 0.5 * c))
    };
    let (mut apart, mut speed) = (0.0f64, 0.0f64);
    for step in 1..=960 {
        let t = step as f64 * h;
        simulation.inputs_mut().set_base(base(t), twist(t)).unwrap();
        simulation.step(h).unwrap();
        for (b, body) in mechanism.bodies().iter().enumerate() {
            let (id, rigid) = (crate::common::handles::body(&mechanism, b), base(t) * body.pose);
            apart = apart.max((simulation.state().pose(id).unwrap().position - rigid.position).norm());
            let w = twist(t);
            let v = w.linear + w.angular.cross(&(rigid.position - base(t).position));
            if step > 10 {
                speed = speed.max((simulation.state().world_twist(id).unwrap().linear - v).norm());
            }
        }
    }
    println!("apart from rigid {apart:.1e} m, speed {speed:.1e} m/s");
    // Bending by inertia: 1 kg at 1 m accelerated with 1 m/s² bends hinges of 1e8 N·m/rad by some 1e-8 rad each;
    // velocities are differences over a step, off by ½h times an acceleration of 1 m/s².
    assert!(apart < 1e-6, "{apart:e}");
    assert!(speed < 5e-3, "{speed:e}");

    let mechanism = gallery::gripper();
    let palm = mechanism.find_body("palm").unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    for step in 1..=100 {
        let t = step as f64 * h;
        simulation.inputs_mut().set_base(base(t), twist(t)).unwrap();
        simulation.step(h).unwrap();
        assert_eq!(simulation.state().pose(palm).unwrap(), base(t) * mechanism[palm].pose);
        let at = simulation.state().pose(palm).unwrap().position - base(t).position;
        let moving = simulation.state().world_twist(palm).unwrap();
        assert!((moving.angular - twist(t).angular).norm() < 1e-14);
        assert!((moving.linear - twist(t).linear - twist(t).angular.cross(&at)).norm() < 1e-14);
        assert!(simulation.violation() < 1e-4);
    }
}

/// Moved as a whole in mid-run, with gravity turned along, everything goes on as it would have.
#[test]
fn a_teleport_changes_nothing_else() {
    let motion = Pose::new(exp_rotation(&Vector3::new(0.7, -1.1, 0.4)), Vector3::new(2.0, -1.0, 0.5));
    for name in ["chain", "ladder:36", "hand", "gripper", "hexapod", "graph"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut still = model.simulate();
        for _ in 0..20 {
            still.step(FRAME).unwrap();
        }
        let mut moved = still.clone();
        moved.teleport(&motion).unwrap();
        let gravity = motion.rotation * still.inputs().gravity();
        moved.inputs_mut().set_gravity(gravity.into()).unwrap();
        for _ in 0..60 {
            still.step(FRAME).unwrap();
            moved.step(FRAME).unwrap();
        }
        let mut expected = still.state().clone();
        expected.poses.iter_mut().for_each(|pose| *pose = motion * *pose);
        let difference = apart(&mechanism, &expected, moved.state());
        let twists = still.state().twists.iter().zip(&moved.state().twists);
        let speed = twists.map(|(a, b)| (a.to_vector() - b.to_vector()).amax()).fold(0.0, f64::max);
        println!("{name}: {difference:.1e} radii, {speed:.1e} m/s or rad/s");
        assert!(difference < 1e-12, "{name}: {difference:e}");
        assert!(speed < 1e-11, "{name}: {speed:e}");
    }
}
