//! Claim: nothing inside a tree on a free base changes its momentum, whatever its joints, springs and rotors: linear and
//! angular momentum about its centre of mass change by what acts from outside alone, to rounding, and energy does not grow.

use pliant_core::articulated::{self, Integrator};
use pliant_core::engine::{Simulation, State};
use pliant_core::gallery::{self, Passive, RandomOptions, random};
use pliant_core::mechanism::{Body, Freedom, JointDescription, Mechanism, MechanismBuilder};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

use super::Kind;
use crate::common::{FRAME, momentum};

const EXACT: [Kind; 2] = [Kind::Full, Kind::Articulated];

/// A free tree of a seed, with all kinds of joints and without limits.
fn tree(seed: u64, passive: Passive) -> Option<Mechanism> {
    let options = RandomOptions {
        bodies: 8,
        loops: 0.0,
        passive,
        free_bases: true,
        effectors: 1,
        limits: false,
        rests: false,
        ..RandomOptions::default()
    };
    let mechanism = random(seed, &options);
    let free = mechanism.bodies().iter().filter(|body| body.free).count();
    (free == 1 && mechanism.joints().iter().all(|joint| joint.parent.is_some())).then_some(mechanism)
}

/// The first free trees.
pub fn trees(count: usize, passive: Passive) -> Vec<Mechanism> {
    let found: Vec<Mechanism> = (0..200).filter_map(|seed| tree(seed, passive)).take(count).collect();
    assert_eq!(found.len(), count);
    found
}

/// The centre of mass and the total mass.
fn center(mechanism: &Mechanism, state: &State) -> (Vector3<f64>, f64) {
    let mass: f64 = mechanism.bodies().iter().map(|body| body.inertia.mass).sum();
    let parts = mechanism.bodies().iter().zip(&state.poses);
    let sum: Vector3<f64> =
        parts.map(|(b, pose)| pose.transform_point(&b.inertia.center_of_mass) * b.inertia.mass).sum();
    (sum / mass, mass)
}

/// Linear momentum, and angular momentum about the centre of mass.
fn momenta(mechanism: &Mechanism, state: &State) -> (Vector3<f64>, Vector3<f64>) {
    let (P, L) = momentum(mechanism, state);
    (P, L - center(mechanism, state).0.cross(&P))
}

/// Everything turns about its centre of mass with ω, and goes along with v.
fn spin(simulation: &mut dyn Simulation, w: Vector3<f64>, v: Vector3<f64>) {
    let mut state = simulation.state().clone();
    let c = center(simulation.mechanism(), &state).0;
    for (pose, twist) in state.poses.iter().zip(&mut state.twists) {
        let R = pose.rotation.inverse();
        *twist = Twist::new(R * (v + w.cross(&(pose.position - c))), R * w);
    }
    state.private.clear();
    simulation.set_state(&state).unwrap();
}

/// What happened in a run without anything from outside, relative: largest changes of linear and angular momentum, of
/// the centre of mass from its straight line, and the largest and the last energy over the first.
#[derive(Debug, Default)]
struct Kept {
    linear: f64,
    angular: f64,
    away: f64,
    most: f64,
    last: f64,
}

fn run(simulation: &mut dyn Simulation, dt: f64, seconds: f64) -> Kept {
    let mechanism = simulation.mechanism().clone();
    let (P, L) = momenta(&mechanism, simulation.state());
    let (start, mass) = center(&mechanism, simulation.state());
    let (energy, time) = (simulation.energy(), simulation.time());
    let first = energy.kinetic + energy.elastic;
    let mut kept = Kept::default();
    for _ in 0..(seconds / dt).round() as usize {
        simulation.step(dt).unwrap();
        let (now_P, now_L) = momenta(&mechanism, simulation.state());
        let way = P / mass * (simulation.time() - time);
        let energy = simulation.energy();
        kept.linear = kept.linear.max((now_P - P).norm() / P.norm());
        kept.angular = kept.angular.max((now_L - L).norm() / L.norm());
        let off = center(&mechanism, simulation.state()).0 - start - way;
        kept.away = kept.away.max(off.norm() / mechanism.radius());
        kept.last = (energy.kinetic + energy.elastic) / first;
        kept.most = kept.most.max(kept.last);
    }
    kept
}

/// The mechanism with masses and lengths of another scale, and springs that make it as fast, times a factor.
pub fn scaled(mechanism: &Mechanism, mass: f64, length: f64, springs: f64) -> Mechanism {
    let shrunk = |pose: &Pose| Pose { position: pose.position * length, ..*pose };
    let mut builder = MechanismBuilder::new(mechanism.name());
    for body in mechanism.bodies() {
        let inertia = SpatialInertia {
            mass: body.inertia.mass * mass,
            center_of_mass: body.inertia.center_of_mass * length,
            inertia: body.inertia.inertia * (mass * length * length),
        };
        builder.body(Body { pose: shrunk(&body.pose), inertia, ..body.clone() });
    }
    for joint in mechanism.joints() {
        let each = |f: fn(&Freedom) -> f64, factor: f64| -> Vec<f64> {
            let turn = factor * mass * length * length;
            let size = |k: usize| if k < joint.kind.translations() { factor * mass } else { turn };
            joint.freedoms.iter().enumerate().map(|(k, freedom)| f(freedom) * size(k)).collect()
        };
        let (parent, child) = (mechanism.parent_name(joint), &mechanism[joint.child].name);
        let mut made = JointDescription::new(&joint.name, joint.kind.clone(), parent, child);
        made = made.frame(shrunk(&joint.frame));
        if !joint.freedoms.is_empty() {
            made = made
                .stiffness(each(|f| f.stiffness, springs))
                .damping(each(|f| f.damping, springs))
                .armature(each(|f| f.armature, 1.0));
        }
        builder.joint(made);
    }
    builder.build().unwrap()
}

/// A free tree that spins, without gravity.
pub fn spinning(kind: Kind, mechanism: &Mechanism, w: Vector3<f64>) -> Box<dyn Simulation> {
    let mut simulation = kind.simulate(mechanism);
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    spin(&mut *simulation, w, Vector3::new(0.3, -0.2, 0.5) * mechanism.radius());
    simulation
}

const AXES: [[f64; 3]; 4] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, -0.5, 0.62]];

/// Ten seconds of spins of 1 to 50 rad/s about several axes, sprung and passive, from grams and millimetres to tons and
/// kilometres, at three steps.
#[test]
fn a_spinning_tree_keeps_its_momentum() {
    let (mut runs, mut quiet) = (0, 0);
    let scales = [(1e-4, 1e-3), (1e4, 1e3), (1.0, 1.0), (1e4, 1e-2), (1e-4, 10.0), (1.0, 1.0)];
    for (kind, passive) in EXACT.into_iter().flat_map(|k| [Passive::Never, Passive::Anywhere].map(|p| (k, p)))
    {
        for (k, (mechanism, (mass, length))) in trees(6, passive).iter().zip(scales).enumerate() {
            let mechanism = &scaled(mechanism, mass, length, 1.0);
            for (rate, dt) in
                [(1.0, FRAME), (10.0, 1.0 / 30.0), (10.0, FRAME), (50.0, 1.0 / 240.0), (50.0, FRAME)]
            {
                let w = Vector3::from(AXES[k % 4]).normalize() * rate;
                let mut simulation = spinning(kind, mechanism, w);
                let kept = run(&mut *simulation, dt, 10.0);
                let warned = simulation.warnings().iter().any(|warning| warning.kind == "fast turning");
                println!(
                    "{kind:?} {passive:?} {k}, {rate} rad/s, {dt:.4} s: linear {:.1e}, angular {:.1e}, away {:.1e}, energy to {:.4}, at last {:.4}",
                    kept.linear, kept.angular, kept.away, kept.most, kept.last
                );
                // Rounding of a few thousand steps, with what is flung out on passive slides up to a thousand radii away.
                let bound = if passive == Passive::Anywhere { 1e-6 } else { 1e-11 };
                assert!(kept.linear < bound && kept.angular < bound && kept.away < bound, "{kept:?}");
                // Never more than at the start, but for rounding, up to 0.2 rad a step. Beyond, what is flung out on passive
                // joints gains in single steps, and the engine says so.
                assert!(kept.most < if warned { 5.0 } else { 1.0 + 1e-9 }, "{kept:?}");
                assert!(warned || rate * dt < 0.2);
                quiet += usize::from(!warned);
                runs += 1;
            }
        }
    }
    assert!(runs == 120 && quiet > 40, "{runs}, {quiet} without a warning");
}

/// Joints that move while all spins: centrifugal and Coriolis forces are those of the explicit integrator of fourth order at a
/// small step, to first order.
#[test]
fn a_spinning_tree_moves_as_the_equations_of_motion_say() {
    for (k, mechanism) in trees(4, Passive::Never).iter().enumerate() {
        // Soft, so that an explicit integrator can follow.
        let mechanism = &scaled(mechanism, 1.0, 1.0, 1e-3);
        let w = Vector3::from(AXES[k]).normalize() * 3.0;
        let mut exact = articulated::Model::new(mechanism).simulate();
        exact.set_integrator(Integrator::RungeKutta4).unwrap();
        exact.inputs_mut().set_gravity([0.0; 3]).unwrap();
        spin(&mut exact, w, Vector3::zeros());
        let start = exact.state().clone();
        for _ in 0..20_000 {
            exact.step(2e-5).unwrap();
        }
        for kind in EXACT {
            let error = |dt: f64| {
                let mut simulation = spinning(kind, mechanism, w);
                spin(&mut *simulation, w, Vector3::zeros());
                for _ in 0..(0.4 / dt).round() as usize {
                    simulation.step(dt).unwrap();
                }
                crate::common::apart(mechanism, simulation.state(), exact.state())
            };
            let errors = [1e-3, 5e-4, 2.5e-4].map(error);
            let moved = crate::common::apart(mechanism, &start, exact.state());
            println!("{kind:?} {k}: {errors:?} of {moved:.2}");
            assert!(errors[2] < 0.01 * moved, "{kind:?} {k}: {errors:?}");
            assert!((1.8..2.2).contains(&(errors[1] / errors[2])), "first order: {errors:?}");
        }
    }
}

/// A force and a torque on the base, by all engines that take a free base: momenta are those of Newton and Euler.
#[test]
fn momentum_changes_by_what_acts() {
    let mechanism = gallery::hexapod();
    let base = mechanism.body_ids().find(|b| mechanism[*b].free).unwrap();
    let (force, torque) = (Vector3::new(1.5, -0.4, 0.8), Vector3::new(0.3, 0.5, -0.2));
    for kind in [Kind::Full, Kind::Articulated, Kind::Linear, Kind::Reduced] {
        for dt in [FRAME, 1.0 / 240.0] {
            let mut simulation = kind.simulate(&mechanism);
            simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
            simulation.inputs_mut().set_body_load(base, Wrench::torque(torque.into())).unwrap();
            let start = center(&mechanism, simulation.state());
            for _ in 0..(2.0 / dt).round() as usize {
                simulation.step(dt).unwrap();
            }
            // Without a force the centre of mass stays, and L = τ t, although the tree spins up.
            let (P, L) = momenta(&mechanism, simulation.state());
            let size = (torque * 2.0).norm();
            let away = (center(&mechanism, simulation.state()).0 - start.0).norm();
            let (P, L) = (P.norm() / size, (L - torque * 2.0).norm() / size);
            println!("{kind:?} {dt:.4}: {P:.1e} {L:.1e} {away:.1e}");
            // Rounding of up to five hundred steps. The links of a linear model are off by the square of how far they bend.
            let bound = if kind == Kind::Linear { 1e-4 } else { 1e-12 };
            assert!(P < bound && L < bound && away < bound, "{kind:?}");
            // Then a force alone, at whatever point: P = F t, and the centre of mass h²n(n + 1)/2 F/m further.
            simulation.inputs_mut().set_body_load(base, Wrench::force(force.into())).unwrap();
            let (start, mass) = center(&mechanism, simulation.state());
            let n = (1.0 / dt).round();
            for _ in 0..n as usize {
                simulation.step(dt).unwrap();
            }
            let P = momenta(&mechanism, simulation.state()).0;
            let way = center(&mechanism, simulation.state()).0 - start;
            let off = (way - force / mass * (dt * dt * n * (n + 1.0) / 2.0)).norm() / way.norm();
            let P = (P - force).norm() / force.norm();
            println!("    {P:.1e} {off:.1e}");
            assert!(P < bound && off < bound, "{kind:?}");
        }
    }
}
