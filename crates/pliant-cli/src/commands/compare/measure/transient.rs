//! The motion from the file's pose at rest, under the scene's loads, gravity and targets, in steps of equal length.

use pliant::full;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::reduced::Model;
use pliant::spatial::Pose;

use super::{
    Effectors, Frequencies, LinkError, RECONSTRUCTIONS, effector_poses, effectors, period, target_end,
};

/// Lowest periods that the motion lasts, and steps in each.
const PERIODS: f64 = 5.0;
const STEPS_A_PERIOD: f64 = 200.0;

/// Steps at most.
const MOST: f64 = 4000.0;

/// Longest step, s.
const LONGEST: f64 = 1.0 / 60.0;

/// A motion and how far the two simulations of it are apart.
pub struct Transient {
    /// Length of a step, s.
    pub dt: f64,
    /// Steps taken.
    pub steps: usize,
    /// Why it ends before it was meant to.
    pub stopped: Option<String>,
    /// The effector that moves most, among the mechanism's.
    pub effector: usize,
    /// The direction it moves in, world axes.
    pub direction: Vector3<f64>,
    /// After each step and at the start: the effector's displacement in that direction (full, reduced), m, and the
    /// largest distance between the effectors of both over the radius.
    pub path: Vec<[f64; 3]>,
    /// Largest displacement of an effector of the full simulation, over the radius.
    pub displacement: f64,
    /// Some of the moments, evenly.
    pub frames: Vec<Frame>,
    /// Largest of the frames, by reconstruction.
    pub links: [LinkError; 3],
}

/// A moment of the motion.
pub struct Frame {
    /// When, s.
    pub time: f64,
    /// Joint coordinates of the full simulation.
    pub coordinates: Vec<f64>,
    /// Link frames of the full simulation.
    pub full: Vec<Pose>,
    /// Link frames of the reduced one, by reconstruction.
    pub reduced: [Vec<Pose>; 3],
}

impl Transient {
    /// The largest distance between effectors, over the radius.
    pub fn max_error(&self) -> f64 {
        self.path.iter().map(|at| at[2]).fold(0.0, f64::max)
    }

    /// The root mean square of that distance.
    pub fn rms_error(&self) -> f64 {
        (self.path.iter().map(|at| at[2] * at[2]).sum::<f64>() / self.path.len() as f64).sqrt()
    }

    /// The distance at the end.
    pub fn final_error(&self) -> f64 {
        self.path.last().map_or(0.0, |at| at[2])
    }
}

/// Length of a step, s, and their number.
fn pace(mechanism: &Mechanism, frequencies: &Frequencies) -> (f64, usize) {
    let period = period(frequencies).unwrap_or(1.0);
    let duration = (PERIODS * period).max(1.25 * target_end(mechanism));
    let dt = below((period / STEPS_A_PERIOD).min(LONGEST)).max(below(duration / MOST));
    (dt, (duration / dt).round().clamp(1.0, MOST) as usize)
}

/// The largest of 1, 2, 5, 10, … that is not above x.
fn below(x: f64) -> f64 {
    let power = x.log10().floor() as i32;
    let of = |m: f64| format!("{m}e{power}").parse::<f64>().unwrap_or(x);
    [5.0, 2.0, 1.0].into_iter().map(of).find(|y| *y <= x * (1.0 + 1e-12)).unwrap_or(x)
}

/// Lets both move.
pub fn measure(
    mechanism: &Mechanism,
    model: &Model,
    frequencies: &Frequencies,
    frames: usize,
    tick: &mut dyn FnMut(),
) -> Transient {
    let (dt, steps) = pace(mechanism, frequencies);
    let points = Effectors::new(mechanism);
    let full_model = full::Model::new(mechanism);
    let (mut full, mut reduced) = (full_model.simulate(), model.simulate());
    full.inputs_mut().add_scene_loads(mechanism);
    reduced.inputs_mut().add_scene_loads(mechanism);
    let stride = steps.div_ceil(frames.max(2) - 1).max(1);
    let mut both: Vec<(Vec<Pose>, Vec<Pose>)> = Vec::new();
    let mut kept: Vec<Frame> = Vec::new();
    let mut links = [LinkError::default(); 3];
    let mut stopped = None;
    for step in 0..=steps {
        let time = step as f64 * dt;
        full.inputs_mut().follow_targets(mechanism, time);
        if !mechanism.targets().is_empty() || step == 0 {
            reduced.inputs_mut().follow_targets(mechanism, time);
        }
        if step > 0 {
            let moved = full.step(dt).map_err(|error| format!("the full simulation stops: {error}"));
            let moved = moved.and_then(|()| {
                reduced.step_effectors(dt).map_err(|error| format!("the reduced simulation stops: {error}"))
            });
            if let Err(why) = moved {
                stopped = Some(why);
                break;
            }
        }
        both.push((
            effector_poses(mechanism, full.state()),
            effectors(mechanism).map(|e| reduced.effector_pose(e)).collect(),
        ));
        if step.is_multiple_of(stride) || step == steps {
            let rebuilt = std::array::from_fn(|k| {
                reduced.set_reconstruction(RECONSTRUCTIONS[k].0);
                let state = reduced.state();
                let error = LinkError::between(mechanism, full.state(), state);
                links[k].mean = links[k].mean.max(error.mean);
                links[k].max = links[k].max.max(error.max);
                links[k].violation = links[k].violation.max(error.violation);
                state.poses.clone()
            });
            let state = full.state();
            let (coordinates, poses) = (state.coordinates.clone(), state.poses.clone());
            kept.push(Frame { time, coordinates, full: poses, reduced: rebuilt });
        }
        if step.is_multiple_of(steps.div_ceil(8)) {
            tick();
        }
    }
    let moved = |e: usize, poses: &[Pose]| poses[e].position - points.rest[e].position;
    // Ties, as in symmetric mechanisms, go to the first.
    let (mut effector, mut furthest) = (0, Vector3::zeros());
    for (poses, _) in &both {
        for e in 0..poses.len() {
            let by = moved(e, poses);
            if by.norm() > furthest.norm() * (1.0 + 1e-6) {
                (effector, furthest) = (e, by);
            }
        }
    }
    let direction = if furthest.norm() > 0.0 { furthest.normalize() } else { Vector3::z() };
    let path = (both.iter())
        .map(|(full, reduced)| {
            let along = |poses| moved(effector, poses).dot(&direction);
            [along(full), along(reduced), points.largest(full, reduced)]
        })
        .collect();
    Transient {
        dt,
        steps: both.len() - 1,
        stopped,
        effector,
        direction,
        path,
        displacement: furthest.norm() / points.radius,
        frames: kept,
        links,
    }
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
