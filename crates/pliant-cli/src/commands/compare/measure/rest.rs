//! Where engines come to rest, and what is estimated of their error.

use pliant::engine::{Inputs, Simulation, StaticsSettings, Warning};
use pliant::shared::watch;
use pliant::shared::words::{RADII, radii};
use pliant::spatial::Pose;

use super::models::BlendedModel;
use super::{Effectors, Ramp};
use crate::page::text::figure;
use crate::report::effector_poses;

/// Where an engine is at rest under a load.
#[derive(Clone, Copy, Debug)]
pub struct AtRest {
    /// Distance of the worst effector from the full simulation's, over the radius.
    pub effector: f64,
    /// What one Newton step of the full statics says it is, over the radius.
    pub estimate: f64,
}

impl AtRest {
    /// Under these inputs; `None` if its statics do not come to rest.
    pub fn find(
        simulation: &mut dyn Simulation,
        inputs: &Inputs,
        points: &Effectors,
        full: &[Pose],
    ) -> Option<AtRest> {
        simulation.inputs_mut().clone_from(inputs);
        let estimate = if settles(simulation) { simulation.estimate().ok()? } else { return None };
        Some(AtRest { effector: points.largest(full, &effector_poses(simulation)), estimate })
    }
}

/// Whether an engine's own statics come to rest.
pub fn settles(simulation: &mut dyn Simulation) -> bool {
    simulation.settle(&StaticsSettings::default()).is_ok_and(|found| found.converged)
}

/// An error that is so many times its estimate, and this large, over the radius, is that of another equilibrium.
const OTHER: (f64, f64) = (5.0, 0.02);

/// The warning where an engine is at rest at another equilibrium than the full mechanism, which its estimate does not see:
/// under the scene's load, or else under the least at which that is so.
pub fn another(ramp: &Ramp) -> Option<Warning> {
    ramp.at_scene().into_iter().chain(&ramp.samples).find_map(|sample| {
        let linear = sample.estimate.map(|estimate| AtRest { effector: sample.effector, estimate });
        let all = [("linear", linear), ("reduced", sample.reduced), ("blended", sample.blended)];
        let apart = |at: &AtRest| at.effector > (OTHER.0 * at.estimate).max(OTHER.1);
        let (engine, AtRest { effector: measure, estimate }) =
            all.into_iter().find_map(|(engine, at)| Some((engine, at.filter(apart)?)))?;
        let text = format!(
            "under {} times the scene's load there is more than one equilibrium: `{engine}` rests {} from the full simulation, and its \
             estimate of {} is the distance to the nearer one",
            figure(sample.scale),
            radii(measure),
            radii(estimate)
        );
        Some(Warning { kind: "another", measure, unit: RADII, text })
    })
}

/// The warning where loads are beyond those that the blended model was made with: under the scene's load, or else under the
/// least at which that is so.
pub fn beyond(ramp: &Ramp, about: &BlendedModel) -> Option<Warning> {
    let (bound, _) = about.asked?;
    ramp.at_scene().into_iter().chain(&ramp.samples).find_map(|sample| {
        let why = watch::beyond("blended", bound, sample.blended?.estimate)?;
        let load = match sample.scale {
            1.0 => "the scene's load".to_string(),
            times => format!("{} times the scene's load", figure(times)),
        };
        Some(Warning { text: format!("blended at rest under {load}: {}", why.text), ..why })
    })
}
