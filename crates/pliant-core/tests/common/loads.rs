//! Random loads on effectors that bend a mechanism by a wanted displacement, with the full statics there.

use pliant_core::engine::{Simulation, State};
use pliant_core::full;
use pliant_core::mechanism::{Freedom, Mechanism};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Wrench;

/// Numbers in −1…1 that are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next()).normalize()
    }
}

/// A load on every effector, and the equilibrium under it.
pub struct Case {
    pub loads: Vec<Wrench>,
    pub state: State,
}

/// The largest displacement of an effector between two states, over the radius.
pub fn effectors_apart(mechanism: &Mechanism, a: &State, b: &State) -> f64 {
    let place = |state: &State, e| state.effector_pose(mechanism, e).unwrap().position;
    let apart = mechanism.effector_ids().map(|e| (place(a, e) - place(b, e)).norm());
    apart.fold(0.0, f64::max) / mechanism.radius()
}

pub fn set_loads(simulation: &mut dyn Simulation, loads: &[Wrench]) {
    for (effector, load) in simulation.mechanism().effector_ids().zip(loads) {
        simulation.set_load(effector, *load).unwrap();
    }
}

/// A random load under which the largest displacement is `wanted` radii, within a tenth of it, or less where a joint
/// comes to its limit before; `None` if the statics do not get there.
pub fn case(mechanism: &Mechanism, random: &mut Random, wanted: f64, turning: bool) -> Option<Case> {
    let model = full::Model::new(mechanism);
    let mut start = model.simulate();
    start.settle(&Default::default()).ok()?;
    let rest = start.state().clone();
    let unit: Vec<Wrench> = (mechanism.effectors().iter())
        .map(|_| {
            let torque = random.direction() * if turning { 0.3 * mechanism.radius() } else { 0.0 };
            Wrench::new(random.direction(), torque)
        })
        .collect();
    let (mut scale, mut limited) = (1.0, false);
    for _ in 0..20 {
        let mut simulation = start.clone();
        let loads: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
        set_loads(&mut simulation, &loads);
        let found = simulation.settle(&Default::default()).ok()?;
        if !found.converged || !found.stable && !turning {
            scale *= 0.7;
            continue;
        }
        let displacement = effectors_apart(mechanism, simulation.state(), &rest);
        let freedoms = mechanism.joints().iter().flat_map(|j| &j.freedoms);
        let inside = |(f, q): (&Freedom, &f64)| (f.lower..=f.upper).contains(q);
        if !freedoms.zip(&simulation.state().coordinates).all(inside) {
            scale *= 0.8;
            limited = true;
            continue;
        }
        if limited || (displacement / wanted - 1.0).abs() < 0.1 {
            return Some(Case { loads, state: simulation.state().clone() });
        }
        scale *= (wanted / displacement).clamp(0.3, 4.0);
    }
    None
}
