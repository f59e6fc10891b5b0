//! The engines beside `reduced` that go far: where `live` and `blended` come to rest, and what they say of their error.

use std::ops::ControlFlow;

use pliant::blended::{self, Doing, Options, Progress, Sampling};
use pliant::inputs::Inputs;
use pliant::io::ModelFile;
use pliant::live;
use pliant::mechanism::Mechanism;
use pliant::reduced;
use pliant::spatial::Pose;

use crate::blending::{self, Clock};
use crate::estimate;
use crate::page::text::figure;

use super::{Effectors, Ramp, effectors};

/// Random loads that a model of the comparison's own is trained on at first, and tested with; equilibria that are
/// searched for it at most, so that it is the same on every machine; and seconds that it may take all the same.
const LOADS: usize = 12;
const EQUILIBRIA: usize = 60;
const SECONDS: f64 = 6.0;

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
    /// Whether it is that of a model file.
    pub of_file: bool,
    /// Error under loads that nothing was trained on, over the radius; and how many loads these were.
    pub held_out: Option<(f64, usize)>,
    /// Error that was asked for, over the radius, and the displacement up to which.
    pub asked: Option<(f64, f64)>,
}

/// The blended model of a file, or one made in a moment under random loads; or why there is none.
pub fn blended_model<'m>(
    mechanism: &'m Mechanism,
    file: Option<&'m ModelFile>,
    tick: &mut dyn FnMut(),
) -> Result<(blended::Model<'m>, BlendedModel), String> {
    let (model, report) = match file {
        Some(file) => (file.model().map_err(|error| error.to_string())?, file.report.clone()),
        None => {
            let sampling = Sampling { loads: LOADS, ..Sampling::default() };
            let clock = Clock::new(SECONDS);
            let told = |progress: Progress| {
                if progress.searched.is_multiple_of(EQUILIBRIA / 20) {
                    tick();
                }
                // Checking goes on: it is what tells the error.
                match progress.searched < EQUILIBRIA || progress.doing == Doing::Checking {
                    true => clock.allows(&progress),
                    false => ControlFlow::Break(()),
                }
            };
            let made = sampling.run(mechanism, Options::default(), told);
            let (model, outcome) = made.map_err(|error| error.to_string())?;
            (model, Some((sampling, outcome)))
        }
    };
    let about = BlendedModel {
        models: model.samples().len(),
        of_file: file.is_some(),
        held_out: report.as_ref().map(|(_, o)| (o.held_out, o.tested)).filter(|(error, _)| error.is_finite()),
        asked: report.map(|(sampling, _)| (sampling.max_error, sampling.displacement)),
    };
    Ok((model, about))
}

/// What to tell where loads are beyond those that the blended model was made with: under the scene's load, or else under the
/// least at which that is so.
pub fn beyond(ramp: &Ramp, about: &BlendedModel) -> Option<String> {
    let (bound, _) = about.asked?;
    ramp.at_scene().into_iter().chain(&ramp.samples).find_map(|sample| {
        let why = blending::beyond(bound, sample.blended?.estimate)?;
        let load = match sample.scale {
            1.0 => "the scene's load".to_string(),
            times => format!("{} times the scene's load", figure(times)),
        };
        Some(format!("blended at rest under {load}: {why}"))
    })
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
