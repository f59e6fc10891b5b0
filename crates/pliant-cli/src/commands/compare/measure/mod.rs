//! What a comparison measures, as plain data: the full simulation against a linear model of the same
//! mechanism, under the same loads.

mod frequencies;
mod models;
mod ramp;
mod rest;
mod speed;
mod transient;

use pliant::engine::{Inputs, SpringId, State, Warning};
use pliant::io::ModelFile;
use pliant::linear::{Linearisation, Model, ReductionError};
use pliant::mechanism::{Joint, Mechanism};
use pliant::shared::watch;
use pliant::spatial::{Pose, Twist, Wrench};

pub use frequencies::{Frequencies, FrequencyRow};
pub use models::{BlendedModel, Models, blended_model};
pub use ramp::{Ramp, Sample};
pub use rest::AtRest;
pub use speed::Speed;
pub use transient::{Frame, Moment, Transient};

/// Place of the default reconstruction, `joint`, in [`RECONSTRUCTIONS`](crate::choices::RECONSTRUCTIONS).
pub const DEFAULT: usize = 1;

/// Modes of the richer model in the motion.
pub const MODES: usize = 4;

pub struct Comparison {
    pub coordinates: usize,
    /// Whether a free base moves as well.
    pub free_base: bool,
    /// Statics over rising loads; what prevents them otherwise.
    pub ramp: Result<Ramp, String>,
    pub transient: Transient,
    pub frequencies: Frequencies,
    pub speed: Speed,
    pub blended: Result<BlendedModel, String>,
    /// What a reader should know, in sentences.
    pub notes: Vec<String>,
    /// The same where figures are not to be trusted.
    pub warnings: Vec<Warning>,
}

/// How many times [`measure`] calls `tick`, about.
pub const TICKS: u64 = 57;

/// Measures everything. `tick` is called on the way, `dt` is the length of a step, s, if given; `frames` is how many poses of the
/// motion to keep.
pub fn measure(
    mechanism: &Mechanism,
    file: Option<&ModelFile>,
    dt: Option<f64>,
    frames: usize,
    tick: &mut dyn FnMut(),
) -> Result<Comparison, ReductionError> {
    let model = Linearisation::at_rest(mechanism).build()?;
    tick();
    let frequencies = frequencies::measure(mechanism, &model, tick)?;
    let (blended, about) = match blended_model(mechanism, tick) {
        Ok((model, about)) => (Ok(model), Ok(about)),
        Err(why) => (Err(why.clone()), Err(why)),
    };
    let reduced = file.and_then(|file| file.model().ok());
    let models = Models { mechanism: mechanism.clone(), linear: model.clone(), blended, reduced };
    let ramp = ramp::measure(&models, &model, tick);
    let with_modes = Linearisation::at_rest(mechanism).modes(MODES).build()?;
    let transient = transient::measure(&models, [&model, &with_modes], &frequencies, dt, frames, tick);
    let speed = speed::measure(&models, &model, transient.dt, tick)?;
    let mut notes = Vec::new();
    let moving = transient.frames.iter().find_map(|frame| at_limit(mechanism, &frame.coordinates));
    let limited = ramp.as_ref().ok().and_then(|ramp| ramp.limited_from.as_ref());
    if let Some((when, joint)) = match (moving, limited) {
        (Some(joint), _) => Some(("In the motion".to_string(), joint)),
        (None, Some((scale, joint))) => {
            let times = crate::page::text::figure(*scale);
            Some((format!("From {times} times the load on"), joint.as_str()))
        }
        (None, None) => None,
    } {
        notes.push(format!(
            "{when}, joint limits act in the full simulation (“{joint}” for one). A linear model has no limits and moves beyond them."
        ));
    }
    if let Some((joint, rest, unit)) = pulled_away(mechanism) {
        notes.push(format!(
            "Springs pull away from the file's pose, at which the linear model is made (“{joint}” by {} {unit}): it leaves out the \
             motion that they cause.",
            crate::page::text::figure(rest)
        ));
    }
    let free_base = mechanism.bodies().iter().any(|body| body.free);
    if free_base && mechanism.loads().is_empty() && mechanism.gravity().norm() > 0.0 {
        notes.push(
            "The base is free and falls, and displacements include its fall. Loads on effectors that carry it, like the ground, show \
             more."
                .into(),
        );
    }
    if let Ok(Ramp { unstable_from: Some(scale), .. }) = &ramp {
        notes.push(format!(
            "From {} times the load on, the equilibrium of the full simulation is unstable (a saddle point of the energy): the mechanism \
             may not stay there.",
            crate::page::text::figure(*scale)
        ));
    }
    if let Some([before, after]) = ramp.as_ref().ok().and_then(Ramp::snap) {
        notes.push(format!(
            "Between {} and {} times the load the full mechanism snaps through to another shape, which a linear model cannot follow.",
            crate::page::text::figure(before),
            crate::page::text::figure(after)
        ));
    }
    let mut inputs = Inputs::new(mechanism);
    inputs.add_scene_loads();
    let mut warnings: Vec<Warning> = watch::prestress(&model, &inputs).into_iter().collect();
    if let Ok(ramp) = &ramp {
        warnings.extend(ramp.beyond_limits.iter().cloned());
        warnings.extend(rest::another(ramp));
        warnings.extend(about.as_ref().ok().and_then(|about| rest::beyond(ramp, about)));
    }
    warnings.extend(transient.warnings.iter().cloned());
    Ok(Comparison {
        coordinates: coordinates_of(&model),
        free_base,
        ramp,
        transient,
        frequencies,
        speed,
        blended: about,
        notes,
        warnings,
    })
}

/// The mechanism's radius, or 1 m where that is 0.
pub fn size(mechanism: &Mechanism) -> f64 {
    let radius = mechanism.radius();
    if radius > 0.0 { radius } else { 1.0 }
}

/// Distances from the full simulation's links, over the radius, and gaps in joints.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkError {
    pub mean: f64,
    pub max: f64,
    /// Sum of the gaps in all joints, over the radius.
    pub violation: f64,
}

impl LinkError {
    fn between(mechanism: &Mechanism, full: &State, other: &State) -> LinkError {
        let radius = size(mechanism);
        let distances = full.poses.iter().zip(&other.poses).map(|(a, b)| (a.position - b.position).norm());
        let (sum, max) = distances.fold((0.0, 0.0f64), |(sum, max), d| (sum + d, max.max(d)));
        LinkError {
            mean: sum / (radius * full.poses.len() as f64),
            max: max / radius,
            violation: other.violation(mechanism),
        }
    }
}

/// The scene's loads, gravity and set-points, to be put on in part.
struct SceneLoad<'m> {
    mechanism: &'m Mechanism,
    loads: Vec<Wrench>,
    /// Where joints start, and where their set-points end.
    start: Vec<f64>,
    rest: Vec<f64>,
}

impl<'m> SceneLoad<'m> {
    /// With targets where they end.
    fn new(mechanism: &'m Mechanism) -> SceneLoad<'m> {
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        for load in mechanism.loads() {
            loads[load.effector.index()] = loads[load.effector.index()] + load.wrench;
        }
        let mut inputs = Inputs::new(mechanism);
        inputs.follow_targets(target_end(mechanism));
        let start = State::at_rest(mechanism).coordinates;
        SceneLoad { mechanism, loads, start, rest: inputs.rest().to_vec() }
    }

    /// Puts `scale` times loads and gravity on. Set-points, which are no loads, go from where joints start and end where the scene has
    /// them.
    fn apply(&self, inputs: &mut Inputs, scale: f64) {
        let FINITE = "a scene's numbers are finite";
        let gravity = self.mechanism.gravity() * scale;
        inputs.set_gravity(gravity.into()).expect(FINITE);
        for (effector, load) in self.mechanism.effector_ids().zip(&self.loads) {
            inputs.set_load(effector, *load * scale).expect(FINITE);
        }
        for id in self.mechanism.joint_ids() {
            let range = self.mechanism[id].coordinates();
            let way = self.start[range.clone()].iter().zip(&self.rest[range]);
            let part: Vec<f64> = way.map(|(from, to)| from + (to - from) * scale.min(1.0)).collect();
            inputs.set_target(id, &part).expect(FINITE);
        }
        let springs: Vec<SpringId> = inputs.scene_springs().map(|(_, id)| id).collect();
        for (id, spring) in springs.into_iter().zip(self.mechanism.springs()) {
            let [from, to] = [0.0, target_end(self.mechanism)].map(|time| spring.point_at(time).0);
            let mut target = inputs.spring(id).expect("a spring of the scene").target;
            target.position = from + (to - from) * scale.min(1.0);
            inputs.set_spring_target(id, target, Twist::ZERO).expect(FINITE);
        }
    }
}

/// When the scene's last target or spring stops, s.
pub fn target_end(mechanism: &Mechanism) -> f64 {
    let targets = mechanism.targets().iter().filter_map(|target| target.time.last());
    let springs = mechanism.springs().iter().filter_map(|spring| spring.time.last());
    targets.chain(springs).fold(0.0, |a, b| a.max(*b))
}

/// Frames of all effectors, and how far the one that moved most is from the file's pose, over the radius.
pub struct Effectors {
    rest: Vec<Pose>,
    radius: f64,
}

impl Effectors {
    fn new(mechanism: &Mechanism) -> Effectors {
        let state = State::at_rest(mechanism);
        let rest = mechanism.effectors().iter().map(|e| state.poses[e.body.index()] * e.frame);
        Effectors { rest: rest.collect(), radius: size(mechanism) }
    }

    fn displacement(&self, poses: &[Pose]) -> f64 {
        self.largest(poses, &self.rest)
    }

    fn largest(&self, a: &[Pose], b: &[Pose]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max) / self.radius
    }
}

/// How far beyond its limit a joint is that is pressed against it, rad or m: 1e-4 N·m, and not rounding.
const PRESSED: f64 = 1e-9;

/// A joint that is pressed against a limit.
fn at_limit<'m>(mechanism: &'m Mechanism, coordinates: &[f64]) -> Option<&'m str> {
    mechanism.joints().iter().find_map(|joint| {
        let q = &coordinates[joint.coordinates()];
        let beyond =
            joint.freedoms.iter().zip(q).any(|(f, q)| *q > f.upper + PRESSED || *q < f.lower - PRESSED);
        beyond.then_some(joint.name.as_str())
    })
}

/// Rest of a spring, rad or radii, from which on a model at the file's pose is off.
const AWAY: f64 = 0.1;

/// The joint whose spring rests furthest from the file's pose, where that is, and its unit, if that is far.
fn pulled_away(mechanism: &Mechanism) -> Option<(&str, f64, &'static str)> {
    let start = State::at_rest(mechanism);
    let away = |joint: &Joint, k: usize, start: f64| {
        let (size, unit) =
            if k < joint.kind.translations() { (size(mechanism), "radii") } else { (1.0, "rad") };
        let freedom = &joint.freedoms[k];
        let far = if freedom.stiffness > 0.0 { (freedom.rest - start).abs() / size } else { 0.0 };
        (far, unit)
    };
    let all = mechanism.joints().iter().flat_map(|joint| {
        let q = &start.coordinates[joint.coordinates()];
        let away = &away;
        q.iter().enumerate().map(move |(k, q)| (joint.name.as_str(), away(joint, k, *q)))
    });
    let (joint, (rest, unit)) = all.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    (rest > AWAY).then_some((joint, rest, unit))
}

/// The lowest natural period of the linear mechanism, s.
fn period(frequencies: &Frequencies) -> Option<f64> {
    frequencies.full.first().filter(|f| f.is_finite() && **f > 0.0).map(|f| 1.0 / f)
}

/// Coordinates of a model for people: the model with a base that floats has six more.
pub fn coordinates_of(model: &Model) -> usize {
    model.rank() + model.modes()
}
