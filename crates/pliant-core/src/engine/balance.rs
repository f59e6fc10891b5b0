//! The balance of energy of a run in which nothing moves but by itself: what it gains is an error of the engine or of its step.
//!
//! With U of springs, weights and dead forces, a motion can at most turn into motion what U has given up: T + U ≤ T₀ + U₀. What is above
//! that is compared with all that the motion was fed by, T₀ + max(U₀ − U).

use super::{Simulation, Warning};
use crate::mechanism::{BodyId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};

/// What may be gained of that: what swings under dead forces at a frequency of h⁻¹/2 goes up and down by a third, and comes back.
const GAINED: f64 = 0.5;

/// What is rounding, of the largest energy at the start; and of turns, rad, and their rates, rad/s, where there is none.
const ROUNDING: f64 = 1e-9;

/// The energies of the start, and the least of U since.
///
/// ```
/// use pliant_core::engine::{Balance, Simulation};
/// use pliant_core::{articulated, gallery};
///
/// let mut chain = articulated::Model::new(&gallery::chain(10)).simulate();
/// let mut balance = Balance::new(&mut chain).expect("nothing puts energy in");
/// (0..50).try_for_each(|_| chain.step(0.01))?;
/// assert_eq!(balance.look(&mut chain), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Balance {
    kinetic: f64,
    potential: f64,
    least: f64,
    size: f64,
    /// The energy of turns and rates that are rounding, J.
    least_size: f64,
    forces: Vec<Force>,
}

/// A dead force on a frame of a body.
#[derive(Clone, Debug)]
struct Force {
    body: BodyId,
    frame: Pose,
    load: Wrench,
}

impl Balance {
    /// `None` where something else puts energy in: a moving base, moving set-points and points, and dead torques, whose work depends on
    /// the way.
    pub fn new(simulation: &mut dyn Simulation) -> Option<Balance> {
        let mechanism = simulation.mechanism().clone();
        let moving = simulation.inputs().base_twist() != Twist::ZERO
            || !mechanism.targets().is_empty()
            || mechanism.springs().iter().any(|spring| !spring.time.is_empty());
        let forces = forces(&mechanism, simulation);
        if moving || forces.iter().any(|force| force.load.torque.norm() > 0.0) {
            return None;
        }
        let radius = mechanism.radius();
        let freedoms = mechanism.joints().iter().flat_map(|joint| {
            let arm = |k: usize| if k < joint.kind.translations() { radius } else { 1.0 };
            joint.freedoms.iter().enumerate().map(move |(k, freedom)| freedom.stiffness * arm(k).powi(2))
        });
        let inertia = mechanism.bodies().iter().map(|body| body.inertia.mass * radius * radius).sum::<f64>();
        let least_size = ROUNDING * ROUNDING * (inertia + freedoms.sum::<f64>());
        let balance = Balance { kinetic: 0.0, potential: 0.0, least: 0.0, size: 0.0, least_size, forces };
        let [kinetic, potential, size] = balance.energies(simulation)?;
        Some(Balance { kinetic, potential, least: potential, size, ..balance })
    }

    /// T, U, and the size of their largest part.
    fn energies(&self, simulation: &mut dyn Simulation) -> Option<[f64; 3]> {
        let energy = simulation.energy();
        let mut parts = vec![energy.elastic, energy.potential];
        let inputs = simulation.inputs();
        for (_, id) in inputs.scene_springs() {
            let spring = inputs.spring(id).ok()?;
            let at = simulation.pose(spring.body).ok()? * spring.frame;
            let turned = at.rotation.angle_to(&spring.target.rotation);
            parts.push(0.5 * spring.stiffness * (at.position - spring.target.position).norm_squared());
            parts.push(0.5 * spring.turning_stiffness * turned * turned);
        }
        for force in &self.forces {
            let at = simulation.pose(force.body).ok()? * force.frame;
            parts.push(-force.load.force.dot(&at.position));
        }
        let size = parts.iter().fold(energy.kinetic, |size, part| size.max(part.abs()));
        Some([energy.kinetic, parts.iter().sum(), size])
    }

    /// What a state has gained.
    pub fn look(&mut self, simulation: &mut dyn Simulation) -> Option<Warning> {
        let [kinetic, potential, _] = self.energies(simulation)?;
        self.least = self.least.min(potential);
        let fed = self.kinetic + self.potential - self.least;
        let gained = kinetic + potential - self.kinetic - self.potential;
        if gained <= GAINED * fed + ROUNDING * self.size + self.least_size {
            return None;
        }
        let (engine, time) = (simulation.engine(), simulation.time());
        let text = format!(
            "at {time:.3} s the motion has {gained:.2e} J more energy than it started with, with no source of energy: springs, weights \
             and loads released {fed:.2e} J; the step is too long for this motion, or the motion is too large for `{engine}`: take a \
             shorter step, or use `full`"
        );
        Some(Warning { kind: "energy", measure: gained, unit: "J", text })
    }
}

fn forces(mechanism: &Mechanism, simulation: &dyn Simulation) -> Vec<Force> {
    let inputs = simulation.inputs();
    let effectors = mechanism.effector_ids().filter_map(|id| {
        let effector = &mechanism[id];
        Some(Force { body: effector.body, frame: effector.frame, load: inputs.load(id).ok()? })
    });
    let bodies = mechanism
        .body_ids()
        .filter_map(|body| Some(Force { body, frame: Pose::identity(), load: inputs.body_load(body).ok()? }));
    effectors.chain(bodies).filter(|force| force.load != Wrench::ZERO).collect()
}
