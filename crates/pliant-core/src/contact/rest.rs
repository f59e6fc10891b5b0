//! Where a scene comes to rest on what it touches: statics with contact and friction.
//!
//! The scene is moved in steps of contact after each of which everything is stopped: what a step then moves is what forces are
//! left over, over M/h² + K. It ends where nothing moves any more, which is where weights, springs, contact forces and friction
//! hold each other: the quasi-static motion from where the scene is. Where friction leaves many rests it is the first on the way.
//!
//! What nothing touches yet falls to where something does: it keeps the speed of its fall, as a whole, up to a bound.
//!
//! How far that is from slipping is asked of the same search: the least factor on all coefficients of friction with which it
//! still stays where it is, and does not come to rest elsewhere. It does not depend on how contacts share a load, which is often not determined.

use nalgebra::Vector3;

use super::scene::Scene;
use super::world::{Contact, FreeBodyId, Solver, Touched};
use crate::engine::touch::Internal;
use crate::engine::{Simulation, StepError, Unsupported};
use crate::mechanism::BodyId;
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

/// What has gone so far, in radii, and so many times as far as anything was from a shape of the world, is not held by anything; nor is what
/// moves as much in a step, to a part, as so many steps before.
const GONE: f64 = 50.0;
const GONE_SPANS: f64 = 3.0;
const STEADY: f64 = 1e-3;
const STEADY_STEPS: usize = 400;

/// What stays within this, in radii, for so many steps and goes a longer way than that there, to and fro, is at rest as well as contact is
/// known: a round bar on a flat creeps by nanometres until its line of contact is found again.
const WANDERS: f64 = 1e-4;
const WANDER_STEPS: usize = 3000;
const TO_AND_FRO: f64 = 0.3;

/// What falls free moves at most so far in a step, in radii, or this part of the way to where it counts as gone, so that it arrives in time;
/// it does fall if it moves this part of what a free fall would.
const FALL: f64 = 0.05;
const FALL_OF_GONE: f64 = 1.0 / 5000.0;
const FREELY: f64 = 0.9;

/// With less friction it stays where it is if it comes to rest within this, in radii: contact and springs yield a little.
const STAYS: f64 = 0.01;

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
    /// How far it goes to and fro for ever, m, where contact is not known better; zero where it is still.
    pub wander: f64,
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
        self.rest_within(MOST_STEPS)
    }

    /// The same in so many steps at most.
    pub(super) fn rest_within(&mut self, steps: usize) -> Result<Rest, StepError> {
        self.check_inputs()?;
        let before = self.clone();
        let result = self.look_for_rest(steps);
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
        let (radius, start) = (self.rest_radius(), self.rest_poses());
        let holds = |part: f64| -> Result<bool, StepError> {
            let mut trial = self.clone();
            trial.world_mut().friction_part = part;
            let found = trial.look_for_rest(TRIAL_STEPS)?;
            let moved = farthest(&start, &trial.rest_poses(), radius).1;
            // What wanders takes too long to be seen to return.
            let holds = found.converged || (rest.wander > 0.0 && found.unheld.is_none());
            Ok(holds && moved < STAYS * radius)
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
        let still = vec![0.0; self.mechanism().bodies().len()];
        self.stop(time, steps, &still);
        result
    }

    /// What lengths are measured by.
    fn rest_radius(&self) -> f64 {
        self.mechanism().radius().max(self.world().largest_size())
    }

    fn rest_poses(&self) -> Vec<Pose> {
        (0..self.mechanism().bodies().len()).map(|body| self.body_pose(body)).collect()
    }

    /// How far bodies are from shapes of the world at most, m.
    fn span(&self, poses: &[Pose]) -> f64 {
        let shapes = self.mechanism().world_shapes().iter();
        let to =
            |shape: &Pose| poses.iter().map(|p| (p.position - shape.position).norm()).fold(0.0, f64::max);
        shapes.map(|shape| to(&shape.pose)).fold(0.0, f64::max)
    }

    fn relax(&mut self, most: usize, time: f64, steps: u64) -> Result<Rest, StepError> {
        let radius = self.rest_radius();
        let start = self.rest_poses();
        let gone = (GONE * radius).max(GONE_SPANS * self.span(&start));
        let fastest = (FALL * radius).max(FALL_OF_GONE * gone) / STEP;
        let mut now = start.clone();
        let mut moves: Vec<f64> = Vec::new();
        let mut speeds = vec![0.0; start.len()];
        // Set-points stay those of now.
        self.stop(time - STEP, steps, &speeds);
        let mut rest =
            Rest { converged: false, steps: 0, moved: 0.0, wander: 0.0, unheld: None, friction_needed: None };
        // Since a mark: how long the way was, and how far it led.
        let (mut mark, mut way_gone, mut led) = (start.clone(), 0.0, 0.0f64);
        while rest.steps < most {
            self.step(STEP)?;
            let next = self.rest_poses();
            self.fall(&now, &next, fastest, &mut speeds);
            self.stop(time - STEP, steps, &speeds);
            rest.moved = farthest(&now, &next, radius).1;
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
            let (body, way) = farthest(&start, &now, radius);
            let falls = speeds.iter().any(|speed| *speed > 0.0);
            way_gone += rest.moved;
            led = led.max(farthest(&mark, &now, radius).1);
            if rest.steps.is_multiple_of(WANDER_STEPS) {
                if !falls && led < WANDERS * radius && led < TO_AND_FRO * way_gone {
                    rest.converged = true;
                    rest.wander = led;
                    return Ok(rest);
                }
                (mark, way_gone, led) = (now.clone(), 0.0, 0.0);
            }
            let steady = n > STEADY_STEPS
                && !falls
                && moves[n - STEADY_STEPS..].iter().all(|x| (x - moved).abs() < STEADY * moved);
            if way > gone || steady {
                rest.unheld = Some((self.mechanism().bodies()[body].name.clone(), self.is_pushed(body)));
                return Ok(rest);
            }
        }
        Ok(rest)
    }

    /// Whether a contact pushes on a body.
    fn is_pushed(&self, body: usize) -> bool {
        let touched = self.mechanism().body_ids().nth(body).and_then(|id| self.touched(id).ok());
        let on = |contact: &Contact| [contact.first, contact.second].iter().any(|one| Some(*one) == touched);
        self.world().contacts().iter().any(|contact| contact.force.norm() > 0.0 && on(contact))
    }

    /// The speed, along gravity, of each body that falls free after a step: v⁺ = v + g h. Bodies with joints fall together or not at all.
    fn fall(&self, before: &[Pose], after: &[Pose], most: f64, speeds: &mut [f64]) {
        let gravity = self.inputs().gravity();
        let g = gravity.norm();
        if g == 0.0 {
            return;
        }
        let mechanism = self.mechanism();
        let fell = |body: usize, speed: f64| {
            let way = (after[body].position - before[body].position).dot(&gravity) / g;
            way > FREELY * (speed + 0.5 * g * STEP) * STEP && !self.is_pushed(body)
        };
        let loose = mechanism.loose();
        let is_loose = |body: usize| loose.iter().any(|other| other.index() == body);
        let joined = (0..speeds.len()).filter(|body| !is_loose(*body));
        let stands = mechanism.joints().iter().any(|joint| joint.parent.is_none());
        let together = !stands && joined.clone().all(|body| fell(body, speeds[body]));
        for body in 0..speeds.len() {
            let falls = if is_loose(body) { fell(body, speeds[body]) } else { together };
            speeds[body] = if falls { (speeds[body] + g * STEP).min(most) } else { 0.0 };
        }
    }

    /// Takes all velocity from everything but these speeds along gravity, and sets its time; contact remembers what pushed.
    fn stop(&mut self, time: f64, steps: u64, speeds: &[f64]) {
        self.world_mut().set_time(time, steps);
        let down = self.inputs().gravity().try_normalize(0.0).unwrap_or_default();
        let held: Vec<(BodyId, f64)> = (self.mechanism().body_ids().zip(speeds))
            .filter_map(|(body, speed)| match self.touched(body) {
                Ok(Touched::Mechanism(_, own)) => Some((own, *speed)),
                _ => None,
            })
            .collect();
        if let Some(simulation) = self.held_mut() {
            let mut state = simulation.state().clone();
            (state.time, state.steps) = (time, steps);
            state.rates.fill(0.0);
            state.twists.fill(Twist::ZERO);
            for (body, speed) in held {
                let turn = state.poses[body.index()].rotation.inverse();
                state.twists[body.index()].linear = turn * down * speed;
            }
            simulation.set_state(&state).expect("a state of its own");
        }
        let loose: Vec<(FreeBodyId, f64)> = (self.mechanism().body_ids().zip(speeds))
            .filter_map(|(body, speed)| match self.touched(body) {
                Ok(Touched::Free(own)) => Some((own, *speed)),
                _ => None,
            })
            .collect();
        for (id, speed) in loose {
            let body = self.world_mut().body_mut(id).expect("a body of this scene");
            body.place(body.pose(), Twist { linear: down * speed, angular: Vector3::zeros() });
        }
    }
}

/// The body that is farthest from where it was, and how far; rotations count by a radius.
fn farthest(from: &[Pose], to: &[Pose], radius: f64) -> (usize, f64) {
    let far =
        |(a, b): (&Pose, &Pose)| (a.position - b.position).norm() + radius * a.rotation.angle_to(&b.rotation);
    let ways = from.iter().zip(to).map(far).enumerate();
    ways.fold((0, 0.0), |best, (body, way)| if way > best.1 { (body, way) } else { best })
}
