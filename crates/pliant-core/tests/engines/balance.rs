//! Claim: a motion that gains energy which nothing gave it is warned of, with how much: by more than the half of what fed it, and
//! not by less than a third. Energies are computed here apart from the engines, after each step.

use pliant_core::engine::{Balance, Simulation};
use pliant_core::gallery::Passive;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, STANDARD_GRAVITY, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};

use super::Kind;
use super::momentum::{scaled, spinning, trees};
use crate::common::FRAME;

/// T = ½ Σ vᵀIv + ½ Σ a q̇², and U = ½ Σ k (q − q₀)² − Σ m g·c.
fn energies(simulation: &mut dyn Simulation) -> [f64; 2] {
    let mechanism = simulation.mechanism().clone();
    let gravity = Vector3::from(simulation.inputs().gravity());
    let state = simulation.state();
    let (mut kinetic, mut potential) = (0.0, 0.0);
    for (i, body) in mechanism.bodies().iter().enumerate() {
        kinetic += body.inertia.kinetic_energy(&state.twists[i]);
        let center = state.poses[i].transform_point(&body.inertia.center_of_mass);
        potential -= body.inertia.mass * gravity.dot(&center);
    }
    for joint in mechanism.joints() {
        for (freedom, at) in joint.freedoms.iter().zip(joint.coordinates()) {
            kinetic += 0.5 * freedom.armature * state.rates[at].powi(2);
            potential += 0.5 * freedom.stiffness * (state.coordinates[at] - freedom.rest).powi(2);
        }
    }
    [kinetic, potential]
}

/// How much a motion gained at most, of what fed it, as was looked at after so many steps; and what was warned of, of the same.
fn gained(simulation: &mut dyn Simulation, dt: f64, steps: usize) -> (f64, f64) {
    let [kinetic, potential] = energies(simulation);
    let mut balance = Balance::new(simulation).expect("nothing puts energy in");
    let (mut least, mut most, mut warned) = (potential, 0.0f64, 0.0f64);
    for step in 1..=steps {
        if simulation.step(dt).is_err() {
            break; // which says why
        }
        if step % 8 != 0 {
            continue;
        }
        let [now, up] = energies(simulation);
        least = least.min(up);
        let fed = kinetic + potential - least;
        most = most.max((now + up - kinetic - potential) / fed);
        if let Some(warning) = balance.look(simulation) {
            assert_eq!((warning.kind, warning.unit), ("energy", "J"));
            warned = warned.max(warning.measure / fed);
        }
    }
    (most, warned)
}

/// Links of 0.1 m on passive hinges, all level where they start.
fn passive_chain(links: usize) -> Mechanism {
    let mut builder = MechanismBuilder::new("chain");
    builder.gravity(STANDARD_GRAVITY);
    for i in 0..links {
        let (x, name) = (0.1 * i as f64, format!("link {i}"));
        let inertia = SpatialInertia::of_box(0.1, [0.1, 0.02, 0.03]);
        builder.body(Body::new(&name, Pose::translation([x + 0.05, 0.0, 0.0])).inertia(inertia));
        let parent = if i == 0 { WORLD.to_string() } else { format!("link {}", i - 1) };
        let joint = JointDescription::new(format!("joint {i}"), JointKind::Hinge, parent, &name);
        let lean = Vector3::new(0.0, 1.0, if i % 2 == 0 { 0.0 } else { 0.3 });
        builder.joint(joint.axis(Vector3::new(x, 0.0, 0.0), lean));
    }
    let body = format!("link {}", links - 1);
    builder.effector(EffectorDescription { name: "tip".into(), body, frame: Pose::identity() });
    builder.build().unwrap()
}

/// 64 runs of free trees that spin at 20 and 50 rad/s on springs of four strengths or none, and 36 of passive chains that fall, at steps of 1/240 to 0.1 s.
#[test]
fn energy_from_nowhere_is_warned_of() {
    let mut runs: Vec<(String, Box<dyn Simulation>, f64, usize)> = Vec::new();
    let both = trees(4, Passive::Never).into_iter().chain(trees(4, Passive::Anywhere));
    for (k, tree) in both.enumerate() {
        for springs in [1.0, 1e-1, 1e-2, 1e-3] {
            let tree = scaled(&tree, 1.0, 1.0, springs);
            for ((rate, dt), kind) in
                [(50.0, 1.0 / 240.0), (20.0, FRAME)].into_iter().zip([Kind::Full, Kind::Articulated])
            {
                let w = Vector3::new(0.6, -0.5, 0.62).normalize() * rate;
                let name = format!("{kind:?} tree {k}, springs {springs}, {rate} rad/s");
                runs.push((name, spinning(kind, &tree, w), dt, 240));
            }
        }
    }
    for links in [2, 3, 5, 8] {
        for (kind, dt) in [Kind::Full, Kind::Articulated, Kind::Reduced]
            .into_iter()
            .flat_map(|k| [0.1, 0.03, FRAME].map(|dt| (k, dt)))
        {
            let simulation = kind.simulate(&passive_chain(links));
            runs.push((format!("{kind:?} chain of {links}"), simulation, dt, (6.0 / dt) as usize));
        }
    }
    let (mut gaining, mut quiet) = (0, 0);
    for (name, mut simulation, dt, steps) in runs {
        let (most, warned) = gained(&mut *simulation, dt, steps);
        if most > 0.1 {
            println!("{name}, {dt:.4} s: {most:.3}, warned of {warned:.3}");
        }
        assert!((warned > 0.0) == (most > 0.5), "{name}, {dt}: {most} and {warned}");
        assert!(warned <= most * (1.0 + 1e-6), "{name}, {dt}: {most} and {warned}");
        gaining += usize::from(most > 0.5);
        quiet += usize::from(most < 0.01);
    }
    println!("{gaining} gain more than half, {quiet} hardly anything");
    assert!(gaining >= 2 && quiet >= 90, "{gaining}, {quiet}");
}
