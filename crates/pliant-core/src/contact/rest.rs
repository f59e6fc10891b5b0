//! Where a scene comes to rest on what it touches: statics with contact and friction.
//!
//! The scene is moved in steps of contact after each of which everything is stopped: what a step then moves is what forces are
//! left over, over M/h² + K. It ends where nothing moves any more, which is where weights, springs, contact forces and friction
//! hold each other: the quasi-static motion from where the scene is. Where friction leaves many rests it is the first on the way.
//!
//! How far that is from slipping is asked of the same search: the least factor on all coefficients of friction with which it
//! still stays. It does not depend on how contacts share a load, which is often not determined.

use super::scene::Scene;
use super::world::{Contact, Solver};
use crate::engine::touch::Internal;
use crate::engine::{Simulation, StepError, Unsupported};
use crate::spatial::{Pose, Twist};

/// Length of the steps, s. What nothing holds falls by g h² in one.
const STEP: f64 = 1.0 / 60.0;

/// At most so many steps, and so many to find out whether less friction holds.
const MOST_STEPS: usize = 20_000;
const TRIAL_STEPS: usize = 600;

/// At rest, the way that is left, as the last steps let expect it, is less than this, in radii; or each step moves less than the
/// second, for so many steps.
const LEFT: f64 = 1e-8;
const STILL: f64 = 1e-12;
const WATCHED: usize = 20;

/// What has gone so far, in radii, is not held by anything; nor is what moves as much in a step, to a part, as so many steps before.
const GONE: f64 = 50.0;
const STEADY: f64 = 1e-3;
const STEADY_STEPS: usize = 400;

/// The least factor of friction is found to 2 to the minus this.
const HALVINGS: usize = 14;

/// Exact solver's: its residual is part of what each step moves.
const SOLVER: Solver = Solver::Exact { tolerance: 1e-10 };

/// What came of looking for rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    /// Whether it is at rest.
    pub converged: bool,
    /// Steps taken.
    pub steps: usize,
    /// How far anything moved in the last step, m; rotations count by the mechanism's radius.
    pub moved: f64,
    /// Where nothing holds it: the body that goes farthest, and whether something pushes on it, so that it slides or tips rather
    /// than falls.
    pub unheld: Option<(String, bool)>,
    /// The least factor on all friction coefficients with which it stays where it is: 1 is about to slip, 0 needs no friction. None
    /// if it was not asked for.
    pub friction_needed: Option<f64>,
}

/// Whether the two sides of a contact hold fast along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    /// The force is within the cone of friction.
    Sticks,
    /// It is on the cone.
    Slips,
}

impl Contact {
    /// What part of its friction is in use, 0 to 1; where contacts share a load in many ways, as the solver shared it.
    pub fn friction_used(&self) -> f64 {
        let pressing = self.force.dot(&self.normal);
        let along = (self.force - self.normal * pressing).norm();
        if along == 0.0 { 0.0 } else { along / (self.friction * pressing) }
    }

    /// Whether it holds fast.
    pub fn grip(&self) -> Grip {
        if self.friction_used() < 1.0 - 1e-6 { Grip::Sticks } else { Grip::Slips }
    }
}

impl Scene {
    /// Looks for where everything rests, from where it is, with friction and the set-points of now; it is stopped there. Without an answer, and after an error,
    /// the scene is as it was.
    pub fn rest(&mut self) -> Result<Rest, StepError> {
        let before = self.clone();
        let result = self.look_for_rest(MOST_STEPS);
        if !matches!(&result, Ok(rest) if rest.converged) {
            *self = before;
        }
        result
    }

    /// The same, and how much of the friction it needs ([`Rest::friction_needed`]).
    pub fn rest_with_margin(&mut self) -> Result<Rest, StepError> {
        let mut rest = self.rest()?;
        if !rest.converged {
            return Ok(rest);
        }
        let holds = |part: f64| -> Result<bool, StepError> {
            let mut trial = self.clone();
            trial.world_mut().friction_part = part;
            Ok(trial.look_for_rest(TRIAL_STEPS)?.converged)
        };
        let (mut low, mut high) = (0.0, 1.0);
        if holds(0.0)? {
            high = 0.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if high > 0.0 && holds(middle)? {
                high = middle;
            } else {
                low = middle.min(high);
            }
        }
        rest.friction_needed = Some(high);
        Ok(rest)
    }

    fn look_for_rest(&mut self, most: usize) -> Result<Rest, StepError> {
        let able = ["full", "articulated", "contact"];
        if !able.contains(&self.engine()) {
            let (engine, what) = (self.engine(), "rest with contact");
            return Err(Unsupported { engine, what, engines: &["full", "articulated"] }.into());
        }
        let solver = self.world().solver;
        self.world_mut().set_solver(SOLVER);
        let (time, steps) = (self.world().time(), self.world().steps());
        let result = self.relax(most, time, steps);
        self.world_mut().set_solver(solver);
        self.stop(time, steps);
        result
    }

    fn relax(&mut self, most: usize, time: f64, steps: u64) -> Result<Rest, StepError> {
        let radius = self.mechanism().radius().max(self.world().largest_size());
        let count = self.mechanism().bodies().len();
        let poses = |scene: &Scene| -> Vec<Pose> { (0..count).map(|body| scene.body_pose(body)).collect() };
        let far =
            |a: &Pose, b: &Pose| (a.position - b.position).norm() + radius * a.rotation.angle_to(&b.rotation);
        let start = poses(self);
        let mut now = start.clone();
        let mut moves: Vec<f64> = Vec::new();
        // Set-points stay those of now.
        self.stop(time - STEP, steps);
        let mut rest = Rest { converged: false, steps: 0, moved: 0.0, unheld: None, friction_needed: None };
        while rest.steps < most {
            self.step(STEP)?;
            self.stop(time - STEP, steps);
            let next = poses(self);
            rest.moved = now.iter().zip(&next).map(|(a, b)| far(a, b)).fold(0.0, f64::max);
            now = next;
            rest.steps += 1;
            moves.push(rest.moved / radius);
            let (n, moved) = (moves.len(), rest.moved / radius);
            if n > WATCHED {
                let recent = &moves[n - WATCHED..];
                let ratio = (moved / recent[0]).powf(1.0 / (WATCHED - 1) as f64).min(1.0 - 1e-9);
                let largest = recent.iter().fold(0.0, |a: f64, b| a.max(*b));
                if largest < STILL || largest / (1.0 - ratio) < LEFT {
                    rest.converged = true;
                    return Ok(rest);
                }
            }
            let gone = start.iter().zip(&now).map(|(a, b)| far(a, b) / radius);
            let (body, farthest) =
                gone.enumerate().fold((0, 0.0), |best, (i, x)| if x > best.1 { (i, x) } else { best });
            let steady = n > STEADY_STEPS
                && moves[n - STEADY_STEPS..].iter().all(|x| (x - moved).abs() < STEADY * moved);
            if farthest > GONE || steady {
                let name = self.mechanism().bodies()[body].name.clone();
                let touched = self.mechanism().body_ids().nth(body).and_then(|id| self.touched(id).ok());
                let is_pushed = |contact: &Contact| {
                    contact.force.norm() > 0.0
                        && [contact.first, contact.second].iter().any(|one| Some(*one) == touched)
                };
                rest.unheld = Some((name, self.world().contacts().iter().any(is_pushed)));
                return Ok(rest);
            }
        }
        Ok(rest)
    }

    /// Takes all velocity from everything, and sets its time; contact remembers what pushed.
    fn stop(&mut self, time: f64, steps: u64) {
        self.world_mut().set_time(time, steps);
        if let Some(held) = self.held_mut() {
            let mut state = held.state().clone();
            (state.time, state.steps) = (time, steps);
            state.rates.fill(0.0);
            state.twists.fill(Twist::ZERO);
            held.set_state(&state).expect("a state of its own");
        }
        for body in &mut self.world_mut().bodies {
            body.place(body.pose(), Twist::ZERO);
        }
    }
}
