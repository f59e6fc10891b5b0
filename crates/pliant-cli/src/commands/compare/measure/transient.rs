//! The motion from the file's pose at rest, under the scene's loads, gravity and targets, in steps of equal length.

use pliant::engine::{Balance, Simulation, Warning};
use pliant::engines::Engine;
use pliant::full;
use pliant::linear::Model;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

use super::models::Models;
use super::{Effectors, Frequencies, LinkError, period, target_end};
use crate::choices::RECONSTRUCTIONS;
use crate::report::effector_poses;

/// Lowest periods that the motion lasts, and steps in each.
const PERIODS: f64 = 5.0;
const STEPS_A_PERIOD: f64 = 200.0;

const MOST: f64 = 4000.0;

/// Longest step, s.
const LONGEST: f64 = 1.0 / 60.0;

/// A motion and how far the two simulations of it are apart.
pub struct Transient {
    /// Length of a step, s.
    pub dt: f64,
    pub steps: usize,
    pub stopped: Option<String>,
    /// The effector that moves most, among the mechanism's.
    pub effector: usize,
    /// The direction it moves in, world axes.
    pub direction: Vector3<f64>,
    /// At the start and after each step.
    pub path: Vec<Moment>,
    /// Largest displacement of an effector of the full simulation, over the radius.
    pub displacement: f64,
    /// Some of the moments, evenly.
    pub frames: Vec<Frame>,
    /// Largest of the frames, by reconstruction.
    pub links: [LinkError; 3],
    pub others: Vec<InMotion>,
    /// Of engines whose energy grows.
    pub warnings: Vec<Warning>,
}

/// The motion by another engine.
pub struct InMotion {
    pub engine: &'static str,
    /// Largest distance of an effector from the full simulation's, over the radius, at the start and after each step.
    pub error: Vec<f64>,
    pub stopped: Option<String>,
}

impl InMotion {
    pub fn max_error(&self) -> f64 {
        self.error.iter().fold(0.0, |a, b| b.max(a))
    }
}

/// Where the effectors are at a moment.
pub struct Moment {
    /// Displacement of the one that moves most, in its direction, m: full, linear, and linear with modes.
    pub along: [f64; 3],
    /// Largest distance of an effector from the full simulation's, over the radius: linear, and with modes.
    pub error: [f64; 2],
}

/// Where all links are at a moment.
pub struct Frame {
    /// When, s.
    pub time: f64,
    /// Joint coordinates of the full simulation.
    pub coordinates: Vec<f64>,
    /// Link frames of the full simulation.
    pub full: Vec<Pose>,
    /// Link frames of the linear one, by reconstruction.
    pub linear: [Vec<Pose>; 3],
}

impl Transient {
    /// The largest distance between effectors, over the radius: linear, and with modes.
    pub fn max_errors(&self) -> [f64; 2] {
        self.path.iter().fold([0.0, 0.0], |[a, b], at| [at.error[0].max(a), at.error[1].max(b)])
    }

    /// The largest of the linear model without modes.
    pub fn max_error(&self) -> f64 {
        self.max_errors()[0]
    }

    /// The root mean square of its distance.
    pub fn rms_error(&self) -> f64 {
        (self.path.iter().map(|at| at.error[0].powi(2)).sum::<f64>() / self.path.len() as f64).sqrt()
    }

    /// Its distance at the end.
    pub fn final_error(&self) -> f64 {
        self.path.last().map_or(0.0, |at| at.error[0])
    }
}

/// Length of a step, s, if it is not given, and their number.
fn pace(mechanism: &Mechanism, frequencies: &Frequencies, given: Option<f64>) -> (f64, usize) {
    let period = period(frequencies).unwrap_or(1.0);
    let duration = (PERIODS * period).max(1.25 * target_end(mechanism));
    let fit = || below((period / STEPS_A_PERIOD).min(LONGEST)).max(below(duration / MOST));
    let dt = given.unwrap_or_else(fit);
    (dt, (duration / dt).round().clamp(1.0, MOST) as usize)
}

/// The largest of 1, 2, 5, 10, … that is not above x.
fn below(x: f64) -> f64 {
    let power = x.log10().floor() as i32;
    let of = |m: f64| format!("{m}e{power}").parse::<f64>().unwrap_or(x);
    [5.0, 2.0, 1.0].into_iter().map(of).find(|y| *y <= x * (1.0 + 1e-12)).unwrap_or(x)
}

/// Lets them move: full, linear, and linear with modes; then the others.
pub fn measure(
    models: &Models,
    [model, with_modes]: [&Model; 2],
    frequencies: &Frequencies,
    dt: Option<f64>,
    frames: usize,
    tick: &mut dyn FnMut(),
) -> Transient {
    let mechanism = &models.mechanism;
    let (dt, steps) = pace(mechanism, frequencies, dt);
    let points = Effectors::new(mechanism);
    let mut full = full::Model::new(mechanism).simulate();
    let (mut linear, mut richer) = (model.simulate(), with_modes.simulate());
    for inputs in [full.inputs_mut(), linear.inputs_mut(), richer.inputs_mut()] {
        inputs.add_scene_loads();
    }
    let (mut balance, mut warnings) = (Balance::new(&mut full), Vec::new());
    let stride = steps.div_ceil(frames.max(2) - 1).max(1);
    let mut all: Vec<[Vec<Pose>; 3]> = Vec::new();
    let mut kept: Vec<Frame> = Vec::new();
    let mut links = [LinkError::default(); 3];
    let mut stopped = None;
    for step in 0..=steps {
        let time = step as f64 * dt;
        if step > 0 {
            let moved = full.step(dt).map_err(|error| format!("the full simulation stops: {error}"));
            let moved = moved.and_then(|()| {
                let both = linear.step_effectors(dt).and_then(|()| richer.step_effectors(dt));
                both.map_err(|error| format!("the linear simulation stops: {error}"))
            });
            if let Err(why) = moved {
                stopped = Some(why);
                break;
            }
        }
        all.push([effector_poses(&full), effector_poses(&linear), effector_poses(&richer)]);
        if step.is_multiple_of(stride) || step == steps {
            let rebuilt = std::array::from_fn(|k| {
                linear.set_reconstruction(RECONSTRUCTIONS[k].1);
                let state = linear.state();
                let error = LinkError::between(mechanism, full.state(), state);
                links[k].mean = links[k].mean.max(error.mean);
                links[k].max = links[k].max.max(error.max);
                links[k].violation = links[k].violation.max(error.violation);
                state.poses.clone()
            });
            let gained = balance.as_mut().and_then(|balance| balance.look(&mut full));
            gained.into_iter().for_each(|gained| Warning::keep_worst(&mut warnings, gained));
            let state = full.state();
            let (coordinates, poses) = (state.coordinates.clone(), state.poses.clone());
            kept.push(Frame { time, coordinates, full: poses, linear: rebuilt });
        }
        if step.is_multiple_of(steps.div_ceil(8)) {
            tick();
        }
    }
    let moved = |e: usize, poses: &[Pose]| poses[e].position - points.rest[e].position;
    // Ties, as in symmetric mechanisms, go to the first.
    let (mut effector, mut furthest) = (0, Vector3::zeros());
    for [poses, ..] in &all {
        for e in 0..poses.len() {
            let by = moved(e, poses);
            if by.norm() > furthest.norm() * (1.0 + 1e-6) {
                (effector, furthest) = (e, by);
            }
        }
    }
    let direction = if furthest.norm() > 0.0 { furthest.normalize() } else { Vector3::z() };
    let moment = |[full, linear, richer]: &[Vec<Pose>; 3]| Moment {
        along: [full, linear, richer].map(|poses| moved(effector, poses).dot(&direction)),
        error: [linear, richer].map(|poses| points.largest(full, poses)),
    };
    let path = all.iter().map(moment).collect();
    let of_full: Vec<Vec<Pose>> = all.into_iter().map(|[full, ..]| full).collect();
    let others = others(models, dt, stride, &of_full, (&points, &mut warnings), tick);
    Transient {
        dt,
        steps: of_full.len() - 1,
        stopped,
        effector,
        direction,
        path,
        displacement: furthest.norm() / points.radius,
        frames: kept,
        links,
        others,
        warnings,
    }
}

/// Lets the other engines that take the mechanism move as the full one did: where its effectors were at the start and
/// after each step.
fn others(
    models: &Models,
    dt: f64,
    stride: usize,
    full: &[Vec<Pose>],
    (points, warnings): (&Effectors, &mut Vec<Warning>),
    tick: &mut dyn FnMut(),
) -> Vec<InMotion> {
    let mut all = Vec::new();
    let engines = [Engine::Articulated, Engine::Reduced, Engine::Blended];
    for engine in engines {
        tick();
        let Ok(mut simulation) = models.simulate(engine) else { continue };
        let (mut error, mut stopped) = (Vec::with_capacity(full.len()), None);
        let (mut balance, mut gained) = (Balance::new(&mut *simulation), Vec::new());
        for (step, full) in full.iter().enumerate() {
            if step > 0
                && let Err(why) = simulation.step(dt)
            {
                stopped = Some(why.to_string());
                break;
            }
            error.push(points.largest(full, &effector_poses(&*simulation)));
            if step.is_multiple_of(stride) {
                let found = balance.as_mut().and_then(|balance| balance.look(&mut *simulation));
                found.into_iter().for_each(|found| Warning::keep_worst(&mut gained, found));
            }
        }
        warnings.append(&mut gained);
        all.push(InMotion { engine: engine.name(), error, stopped });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn steps_are_round_numbers() {
        for (x, y) in [(0.9, 0.5), (0.5, 0.5), (0.0199, 0.01), (3e-4, 2e-4), (1.0, 1.0)] {
            assert_eq!(below(x), y);
        }
    }
}
