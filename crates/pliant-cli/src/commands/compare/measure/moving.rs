//! The same motion by the other engines: how far their effectors are from the full simulation's, step by step.

use pliant::full::StepError;
use pliant::inputs::Inputs;
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::spatial::Pose;
use pliant::state::State;
use pliant::{articulated, blended, live};

use super::{Effectors, effectors};
use crate::commands::simulate::too_many_loops;

/// A motion by one engine.
pub struct InMotion {
    /// Its name.
    pub engine: &'static str,
    /// Largest distance of an effector from the full simulation's, over the radius, at the start and after each step.
    pub error: Vec<f64>,
    /// Why it ends early.
    pub stopped: Option<String>,
}

impl InMotion {
    /// The largest of all.
    pub fn max_error(&self) -> f64 {
        self.error.iter().fold(0.0, |a, b| b.max(a))
    }
}

/// Lets those engines that take the mechanism move as the full one did: where its effectors were at the start and after each
/// step.
pub fn measure(
    mechanism: &Mechanism,
    blended: Option<&blended::Model>,
    dt: f64,
    full: &[Vec<Pose>],
    tick: &mut dyn FnMut(),
) -> Vec<InMotion> {
    let course = Course { mechanism, dt, full, points: Effectors::new(mechanism) };
    let mut all = Vec::new();
    if too_many_loops(mechanism).is_none() {
        let model = articulated::Model::new(mechanism);
        let (step, pose) = (articulated::Simulation::step, articulated::Simulation::effector_pose);
        all.push(course.run(
            "articulated",
            model.simulate(),
            articulated::Simulation::inputs_mut,
            step,
            pose,
        ));
    }
    tick();
    if let Ok(model) = live::Model::new(mechanism) {
        let (step, pose) = (live::Simulation::step, live::Simulation::effector_pose);
        all.push(course.run("live", model.simulate(), live::Simulation::inputs_mut, step, pose));
    }
    tick();
    if let Some(model) = blended {
        let (step, pose) = (blended::Simulation::step, blended::Simulation::effector_pose);
        let mut simulation = model.simulate();
        // From the file's pose, as near as the model can come.
        if simulation.set_state(&State::at_rest(mechanism)).is_ok() {
            all.push(course.run("blended", simulation, blended::Simulation::inputs_mut, step, pose));
        }
    }
    tick();
    all
}

/// What all engines go through.
struct Course<'a> {
    mechanism: &'a Mechanism,
    dt: f64,
    full: &'a [Vec<Pose>],
    points: Effectors,
}

impl Course<'_> {
    fn run<S>(
        &self,
        engine: &'static str,
        mut simulation: S,
        inputs: impl Fn(&mut S) -> &mut Inputs,
        step: impl Fn(&mut S, f64) -> Result<(), StepError>,
        pose: impl Fn(&S, EffectorId) -> Pose,
    ) -> InMotion {
        inputs(&mut simulation).add_scene_loads(self.mechanism);
        let (mut error, mut stopped) = (Vec::with_capacity(self.full.len()), None);
        for (k, full) in self.full.iter().enumerate() {
            if k == 0 || !self.mechanism.targets().is_empty() {
                inputs(&mut simulation).follow_targets(self.mechanism, k as f64 * self.dt);
            }
            if k > 0
                && let Err(why) = step(&mut simulation, self.dt)
            {
                stopped = Some(why.to_string());
                break;
            }
            let own: Vec<Pose> = effectors(self.mechanism).map(|e| pose(&simulation, e)).collect();
            error.push(self.points.largest(full, &own));
        }
        InMotion { engine, error, stopped }
    }
}
