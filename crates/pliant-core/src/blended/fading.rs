//! Models added while it runs (Andrews 2015, §8.1), without a jump.
//!
//! At the pose of a sample its weight is one: a sample added at the present pose would take over at once, links and forces with
//! it. So it fades in after weights are made sums of one,
//!
//! ```text
//! α = (1 − s) α(without it) + s α(with it),   s from 0 to 1
//! ```
//!
//! and s grows in each step by dt over [`Options::fade`](super::Options::fade), or by less: the step is tried as s was and as it
//! would be, and s grows only as far as no effector's pose at the end of the step differs by more than [`MOST`].

use super::evaluation::Moving;
use super::model::SampleError;
use super::simulation::Simulation;
use crate::engine::{State, StepError};
use crate::spatial::{Pose, Twist, log};

/// How far an effector may go elsewhere in a step because samples fade in, in radii or rad.
const MOST: f64 = 8e-5;

/// Times that a step is tried with s growing by less.
const TRIES: usize = 4;

impl Simulation {
    /// Adds a model at the pose of a state, of any engine: that of [`Model::add_at`](super::Model::add_at). It counts for nothing at first and fades
    /// in over the next steps: in [`Options::fade`](super::Options::fade) seconds, or as much more slowly as it takes that no effector goes
    /// elsewhere by more than 1e-4 of the radius in a step because of it. On an error nothing has changed.
    ///
    /// ```
    /// use pliant_core::{blended, engine::Simulation, full, gallery, spatial::Wrench};
    ///
    /// let mechanism = gallery::two_link();
    /// let mut simulation = blended::Model::new(&mechanism, Default::default())?.simulate();
    /// let tip = simulation.effector("tip")?;
    /// simulation.set_load(tip, Wrench::force([0.0, 40.0, 0.0]))?;
    /// (0..60).try_for_each(|_| simulation.step(1.0 / 60.0))?;
    /// let here = simulation.state().clone();
    /// simulation.add_model(&here)?; // at the present pose
    /// (0..600).try_for_each(|_| simulation.step(1.0 / 60.0))?;
    ///
    /// let mut exact = full::Model::new(&mechanism).simulate();
    /// exact.set_load(tip, Wrench::force([0.0, 40.0, 0.0]))?;
    /// exact.settle(&Default::default())?;
    /// let off = simulation.effector_pose(tip)?.position - exact.effector_pose(tip)?.position;
    /// assert!(off.norm() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_model(&mut self, state: &State) -> Result<(), SampleError> {
        let mut model = self.model();
        model.add_at(state)?;
        self.model = model.constants;
        let added = self.model.samples.last().expect("it was added");
        self.shifts.push(added.model.constants.shifts());
        for (moving, group) in self.groups.iter_mut().zip(&self.model.groups) {
            moving.grow(group);
        }
        self.fading.push(0.0);
        self.faded.push(0.0);
        self.inputs_changed = true;
        self.stale();
        Ok(())
    }

    /// How much each model counts that was added while it ran and is not there in full yet, from 0 to 1.
    pub fn fading(&self) -> &[f64] {
        &self.fading
    }

    /// A step of h seconds in which samples fade in.
    pub(super) fn advance_fading(&mut self, h: f64) -> Result<(), StepError> {
        let start = (self.base, self.base_twist, self.state.time, self.state.steps);
        self.advance_as_it_is(h)?;
        for e in 0..self.unfaded.len() {
            self.unfaded[e] = self.effector_now(e);
        }
        self.faded.copy_from_slice(&self.fading);
        let least = self.faded.iter().fold(1.0, |least: f64, s| least.min(*s));
        let mut growth = (h / self.options.fade.max(h)).min(1.0 - least);
        for _ in 0..TRIES {
            self.go_back(start);
            for (s, before) in self.fading.iter_mut().zip(&self.faded) {
                *s = (before + growth).min(1.0);
            }
            if let Err(error) = self.advance_as_it_is(h) {
                self.fading.copy_from_slice(&self.faded);
                return Err(error);
            }
            let elsewhere = (0..self.unfaded.len()).map(|e| {
                let way = log(&self.unfaded[e].inverse_times(&self.effector_now(e)));
                (way.linear.norm() / self.model.radius).max(way.angular.norm())
            });
            let elsewhere = elsewhere.fold(0.0, f64::max);
            if elsewhere <= MOST {
                let settled = self.fading.iter().take_while(|s| **s == 1.0).count();
                self.fading.drain(..settled);
                self.faded.truncate(self.fading.len());
                return Ok(());
            }
            growth *= 0.7 * MOST / elsewhere;
        }
        self.go_back(start);
        self.fading.copy_from_slice(&self.faded);
        self.advance_as_it_is(h)
    }

    /// The frame of an effector of the mechanism in the world.
    fn effector_now(&self, e: usize) -> Pose {
        let effector = &self.model.mechanism.effectors()[e];
        self.link_pose(effector.body.index()) * effector.frame
    }

    /// Takes back the step that was taken last.
    fn go_back(&mut self, (base, base_twist, time, steps): (Pose, Twist, f64, u64)) {
        (self.base, self.base_twist, self.state.time, self.state.steps) = (base, base_twist, time, steps);
        self.groups.iter_mut().for_each(Moving::go_back);
        self.stale();
    }
}
