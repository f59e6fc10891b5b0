//! The engines beside `reduced` that go far: where `live` and `blended` come to rest, and what they say of their error.

use pliant::blended::{self, Options};
use pliant::inputs::Inputs;
use pliant::io::ModelFile;
use pliant::live;
use pliant::mechanism::Mechanism;
use pliant::reduced;
use pliant::spatial::{Pose, Wrench};

use crate::estimate;

use super::{Effectors, effector_poses, effectors};

/// Scales of the scene's loads at which a model of the comparison's own has samples, as powers of two, as long as no
/// effector moves further than a radius; and how far above those, so that no load of the ramp is one of them.
const SCALES: std::ops::RangeInclusive<i32> = -2..=6;
const BETWEEN: f64 = 0.25;
const FAR: f64 = 1.0;

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

/// What there is to know of the blended model.
pub struct BlendedModel {
    /// Number of linear models in it.
    pub models: usize,
    /// Error under loads that nothing was trained on, over the radius, if it was made by `pliant reduce`.
    pub held_out: Option<f64>,
    /// Error that was asked for, over the radius.
    pub bound: Option<f64>,
}

/// The blended model of a file, or one along the scene's loads; or why there is none.
pub fn blended_model<'m>(
    mechanism: &'m Mechanism,
    file: Option<&'m ModelFile>,
    tick: &mut dyn FnMut(),
) -> Result<(blended::Model<'m>, BlendedModel), String> {
    if let Some(file) = file {
        let model = file.model().map_err(|error| error.to_string())?;
        let report = file.report.as_ref();
        let about = BlendedModel {
            models: model.samples().len(),
            held_out: report.map(|(_, outcome)| outcome.held_out),
            bound: report.map(|(sampling, _)| sampling.max_error),
        };
        return Ok((model, about));
    }
    let mut model = blended::Model::new(mechanism, Options::default()).map_err(|error| error.to_string())?;
    let points = Effectors::new(mechanism);
    let loads = pulling(mechanism);
    for exponent in SCALES {
        tick();
        let scaled: Vec<Wrench> =
            loads.iter().map(|w| *w * 2f64.powf(f64::from(exponent) + BETWEEN)).collect();
        let rest = effector_poses(mechanism, model.samples()[0].state());
        let added = model.add(&scaled).is_ok();
        let state = model.samples().last().map(|sample| sample.state());
        let moved = state.map_or(0.0, |state| points.largest(&effector_poses(mechanism, state), &rest));
        if !added || moved > FAR {
            break;
        }
    }
    let about = BlendedModel { models: model.samples().len(), held_out: None, bound: None };
    Ok((model, about))
}

/// The scene's loads; without any, the mechanism's weight on its effectors.
fn pulling(mechanism: &Mechanism) -> Vec<Wrench> {
    let count = mechanism.effectors().len();
    let mut loads = vec![Wrench::ZERO; count];
    for load in mechanism.loads() {
        loads[load.effector.index()] = loads[load.effector.index()] + load.wrench;
    }
    if mechanism.loads().is_empty() {
        let weight = mechanism.gravity() * mechanism.summary().mass / count as f64;
        loads.fill(Wrench::force(weight.into()));
    }
    loads
}

/// Both engines, under the same rising loads as the full one.
pub struct Others<'m> {
    points: &'m Effectors,
    live: Option<live::Simulation<'m>>,
    /// The live engine that tells how far a reduced model's pose is off.
    judge: Option<live::Simulation<'m>>,
    blended: Option<blended::Simulation<'m>>,
}

impl<'m> Others<'m> {
    /// At the file's pose.
    pub fn new(
        points: &'m Effectors,
        live: Option<&'m live::Model<'m>>,
        blended: Option<&'m blended::Model<'m>>,
    ) -> Others<'m> {
        Others {
            points,
            live: live.map(live::Model::simulate),
            judge: live.map(live::Model::simulate),
            blended: blended.map(blended::Model::simulate),
        }
    }

    /// The estimate for the pose of the reduced model.
    pub fn judge(&mut self, reduced: &mut reduced::Simulation) -> Option<f64> {
        let judge = self.judge.as_mut()?;
        estimate::of_reduced(reduced, judge).filter(|x| x.is_finite())
    }

    /// The live engine at rest under these inputs, if it comes to it.
    pub fn live(&mut self, inputs: &Inputs, full: &[Pose]) -> Option<AtRest> {
        let simulation = self.live.as_mut()?;
        simulation.inputs_mut().clone_from(inputs);
        let start = simulation.state().clone();
        let mut at_rest = false;
        for dt in STRIDES {
            for _ in 0..MOST {
                at_rest = simulation.step(dt).is_ok() && simulation.estimate() < REST;
                if at_rest {
                    break;
                }
            }
            if at_rest {
                break;
            }
            simulation.set_state(&start).ok()?;
            simulation.inputs_mut().clone_from(inputs);
        }
        let own: Vec<Pose> = effectors(simulation.mechanism()).map(|e| simulation.effector_pose(e)).collect();
        let effector = self.points.largest(full, &own);
        at_rest.then(|| AtRest { effector, estimate: simulation.estimate() })
    }

    /// The blended engine at rest under these inputs, if it comes to it.
    pub fn blended(&mut self, inputs: &Inputs, full: &[Pose]) -> Option<AtRest> {
        let simulation = self.blended.as_mut()?;
        simulation.inputs_mut().clone_from(inputs);
        if !simulation.settle().ok()?.converged {
            return None;
        }
        let own: Vec<Pose> = effectors(simulation.mechanism()).map(|e| simulation.effector_pose(e)).collect();
        let effector = self.points.largest(full, &own);
        Some(AtRest { effector, estimate: simulation.estimate() })
    }
}
