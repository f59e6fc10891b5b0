//! Where `live` and `blended` come to rest, and what they say of their error.

use pliant::engine::{Inputs, Simulation, StaticsSettings, Warning};
use pliant::spatial::Pose;

use super::models::BlendedModel;
use super::{Effectors, Ramp};
use crate::blending::{self, RADII, radii};
use crate::page::text::figure;
use crate::report::effector_poses;

/// Lengths of steps to rest by, s, and how many of each.
const STRIDES: [f64; 4] = [1e4, 1.0, 0.1, 0.02];
const MOST: usize = 300;

/// An estimate at which the live engine is at rest, over the radius.
const REST: f64 = 1e-10;

/// Where an engine is at rest under a load.
#[derive(Clone, Copy, Debug)]
pub struct AtRest {
    /// Distance of the worst effector from the full simulation's, over the radius.
    pub effector: f64,
    /// What the engine says it is, over the radius.
    pub estimate: f64,
}

impl AtRest {
    /// Under these inputs, by its statics or by steps; `None` if it does not come to rest.
    pub fn find(
        simulation: &mut dyn Simulation,
        by: fn(&mut dyn Simulation) -> bool,
        inputs: &Inputs,
        points: &Effectors,
        full: &[Pose],
    ) -> Option<AtRest> {
        simulation.inputs_mut().clone_from(inputs);
        let estimate = if by(simulation) { simulation.estimate().ok()? } else { return None };
        Some(AtRest { effector: points.largest(full, &effector_poses(simulation)), estimate })
    }
}

/// Whether an engine's own statics come to rest.
pub fn settles(simulation: &mut dyn Simulation) -> bool {
    simulation.settle(&StaticsSettings::default()).is_ok_and(|found| found.converged)
}

/// Whether steps come to rest. The statics of the live engine are those of the full one: only steps show where it goes
/// by itself.
pub fn steps_to_rest(simulation: &mut dyn Simulation) -> bool {
    let (start, inputs) = (simulation.state().clone(), simulation.inputs().clone());
    STRIDES.into_iter().any(|dt| {
        let mut rests =
            || simulation.step(dt).is_ok() && simulation.estimate().is_ok_and(|estimate| estimate < REST);
        let at_rest = (0..MOST).any(|_| rests());
        if !at_rest && simulation.set_state(&start).is_ok() {
            simulation.inputs_mut().clone_from(&inputs);
        }
        at_rest
    })
}

/// An error that is so many times its estimate, and this large, over the radius, is that of another equilibrium.
const OTHER: (f64, f64) = (5.0, 0.02);

/// What to tell where an engine is at rest at another equilibrium than the full mechanism, which its estimate does not see:
/// under the scene's load, or else under the least at which that is so.
pub fn another(ramp: &Ramp) -> Option<Warning> {
    ramp.at_scene().into_iter().chain(&ramp.samples).find_map(|sample| {
        let reduced = sample.estimate.map(|estimate| AtRest { effector: sample.effector, estimate });
        let all = [("reduced", reduced), ("live", sample.live), ("blended", sample.blended)];
        let apart = |at: &AtRest| at.effector > (OTHER.0 * at.estimate).max(OTHER.1);
        let (engine, AtRest { effector: measure, estimate }) =
            all.into_iter().find_map(|(engine, at)| Some((engine, at.filter(apart)?)))?;
        let text = format!(
            "under {} times the scene's load there is more than one equilibrium: `{engine}` is at rest {} from the full \
             mechanism, and its estimate of {} is how far the nearer one is",
            figure(sample.scale),
            radii(measure),
            radii(estimate)
        );
        Some(Warning { kind: "another", measure, unit: RADII, text })
    })
}

/// What to tell where loads are beyond those that the blended model was made with: under the scene's load, or else under the
/// least at which that is so.
pub fn beyond(ramp: &Ramp, about: &BlendedModel) -> Option<Warning> {
    let (bound, _) = about.asked?;
    ramp.at_scene().into_iter().chain(&ramp.samples).find_map(|sample| {
        let why = blending::beyond(bound, sample.blended?.estimate)?;
        let load = match sample.scale {
            1.0 => "the scene's load".to_string(),
            times => format!("{} times the scene's load", figure(times)),
        };
        Some(Warning { text: format!("blended at rest under {load}: {}", why.text), ..why })
    })
}
