//! What is behind the head of a model file: an archive of plain numbers and the text of the scene. It is checked once
//! more when it is read: whoever makes a file by other means gets an error, not a model that cannot be.

use pliant_core::blended::{Limit, Links, Matrices, Options, Outcome, Sampling};
use pliant_core::engine::State;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{Quaternion, UnitQuaternion, Vector6};
use pliant_core::spatial::{Pose, Twist, Wrench};
use rkyv::rancor::Error;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize};

use super::{ModelError, ModelFile};

/// Choices, by their place in the file.
const MATRICES: [Matrices; 2] = [Matrices::Compliance, Matrices::Eigen];
const LINKS: [Links; 2] = [Links::Joint, Links::Twist];
const LIMIT: [Limit; 6] =
    [Limit::None, Limit::Samples, Limit::Stopped, Limit::Rest, Limit::Another, Limit::Loads];

/// How far from one the length of a quaternion may be.
const UNIT: f64 = 1e-9;

/// What is written in place of choices that are not any more: the distance of a turn, in radii, and the steps of the blend.
const TURNING: f64 = std::f64::consts::FRAC_1_PI;
const STEPS: u8 = 1;

/// More neighbours than this, or a higher power, are no choice of a person.
const MOST: u64 = 1 << 20;

#[derive(Archive, Serialize, Deserialize)]
struct Content {
    scene: String,
    /// What the reader of the mechanism said of it, which a scene cannot hold.
    warnings: Vec<String>,
    notes: Vec<String>,
    power: u32,
    turning: f64,
    neighbours: u64,
    /// Places in [`MATRICES`] and [`LINKS`], and what took the steps, which is not a choice any more.
    choices: [u8; 3],
    geometric: bool,
    branches: bool,
    samples: Vec<Numbers>,
    report: Option<Report>,
}

/// A sample. Poses are position, then quaternion x, y, z, w; twists and loads have the linear part first.
#[derive(Archive, Serialize, Deserialize)]
struct Numbers {
    time: f64,
    steps: u64,
    base: [f64; 7],
    poses: Vec<[f64; 7]>,
    twists: Vec<[f64; 6]>,
    coordinates: Vec<f64>,
    rates: Vec<f64>,
    forces: Vec<f64>,
    multipliers: Vec<f64>,
    private: Vec<f64>,
    loads: Vec<[f64; 6]>,
}

/// What was asked for and what came out.
#[derive(Archive, Serialize, Deserialize)]
struct Report {
    /// Error and displacement.
    asked: [f64; 2],
    most_samples: u64,
    loads: u64,
    seed: u64,
    /// Estimate, held-out error, its median, displacement of the worst.
    found: [f64; 4],
    worst_loads: Vec<[f64; 6]>,
    /// Tested, out of reach, snapped, unusable.
    counts: [u64; 4],
    /// Place in [`LIMIT`].
    limit: u8,
}

/// The archive of a model.
pub(super) fn write(file: &ModelFile) -> AlignedVec {
    let options = &file.options;
    let content = Content {
        scene: crate::scene::write(&file.mechanism),
        warnings: file.mechanism.reader_warnings().to_vec(),
        notes: file.mechanism.notes().to_vec(),
        power: options.power,
        turning: TURNING,
        neighbours: options.neighbours.min(MOST as usize) as u64,
        choices: [place(&MATRICES, &options.matrices), place(&LINKS, &options.links), STEPS],
        geometric: options.geometric,
        branches: options.branches,
        samples: file.samples.iter().map(|(state, loads)| numbers(state, loads)).collect(),
        report: file.report.as_ref().map(|(sampling, outcome)| report(sampling, outcome)),
    };
    rkyv::to_bytes::<Error>(&content).expect("memory takes everything")
}

fn place<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|x| x == one).expect("the list is complete") as u8
}

fn numbers(state: &State, loads: &[Wrench]) -> Numbers {
    Numbers {
        time: state.time,
        steps: state.steps,
        base: pose_numbers(&state.base),
        poses: state.poses.iter().map(pose_numbers).collect(),
        twists: state.twists.iter().map(|t| t.to_vector().into()).collect(),
        coordinates: state.coordinates.clone(),
        rates: state.rates.clone(),
        forces: state.forces.clone(),
        multipliers: state.multipliers.clone(),
        private: state.private.clone(),
        loads: loads.iter().map(|w| w.to_vector().into()).collect(),
    }
}

fn pose_numbers(pose: &Pose) -> [f64; 7] {
    let (p, q) = (pose.position, pose.rotation.coords);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
}

fn report(sampling: &Sampling, outcome: &Outcome) -> Report {
    let counts = [outcome.tested, outcome.out_of_reach, outcome.snapped, outcome.unusable];
    Report {
        asked: [sampling.max_error, sampling.displacement],
        most_samples: sampling.most_samples as u64,
        loads: sampling.loads as u64,
        seed: sampling.seed,
        found: [outcome.estimate, outcome.held_out, outcome.held_out_median, outcome.worst_displacement],
        worst_loads: outcome.worst_loads.iter().map(|w| w.to_vector().into()).collect(),
        counts: counts.map(|n| n as u64),
        limit: place(&LIMIT, &outcome.limit),
    }
}

/// What an archive holds.
pub(super) fn read(archive: &[u8]) -> Result<ModelFile, ModelError> {
    // An archive is read in place, where its numbers must be aligned.
    let mut aligned: AlignedVec = AlignedVec::with_capacity(archive.len());
    aligned.extend_from_slice(archive);
    let content = rkyv::from_bytes::<Content, Error>(&aligned)
        .map_err(|error| wrong(format!("its archive is broken ({error})")))?;
    let mechanism = crate::scene::read(&content.scene, "scene of the model").map_err(ModelError::Scene)?;
    let mechanism = mechanism.with_remarks(content.warnings, content.notes);
    let [matrices, links, _] = content.choices;
    if u64::from(content.power) > MOST || !(1..=MOST).contains(&content.neighbours) {
        return Err(wrong("how samples are blended makes no sense".into()));
    }
    let options = Options {
        power: content.power,
        neighbours: content.neighbours as usize,
        matrices: *choice(&MATRICES, matrices)?,
        links: *choice(&LINKS, links)?,
        geometric: content.geometric,
        branches: content.branches,
        ..Options::default()
    };
    if content.samples.is_empty() {
        return Err(wrong("it has no sample".into()));
    }
    let samples = content.samples.iter().enumerate().map(|(i, numbers)| {
        sample(&mechanism, numbers).map_err(|what| wrong(format!("sample {}: {what}", i + 1)))
    });
    let samples = samples.collect::<Result<_, _>>()?;
    let report = content.report.as_ref().map(outcome).transpose()?;
    Ok(ModelFile { mechanism, options, samples, report })
}

fn wrong(what: String) -> ModelError {
    ModelError::Content(what)
}

fn choice<T>(all: &[T], place: u8) -> Result<&T, ModelError> {
    all.get(usize::from(place)).ok_or_else(|| wrong("it makes a choice that there is not".into()))
}

fn sample(mechanism: &Mechanism, numbers: &Numbers) -> Result<(State, Vec<Wrench>), String> {
    let mut state = State::at_rest(mechanism);
    (state.time, state.steps) = (numbers.time, numbers.steps);
    state.base = pose(&numbers.base)?;
    state.poses = numbers.poses.iter().map(pose).collect::<Result<_, _>>()?;
    state.twists = numbers.twists.iter().map(|t| Twist::from_vector(&Vector6::from(*t))).collect();
    state.coordinates.clone_from(&numbers.coordinates);
    state.rates.clone_from(&numbers.rates);
    state.forces.clone_from(&numbers.forces);
    state.multipliers.clone_from(&numbers.multipliers);
    state.private.clone_from(&numbers.private);
    let loads: Vec<Wrench> = wrenches(&numbers.loads);
    if !state.belongs_to(mechanism) {
        return Err("it is no state of the mechanism".into());
    }
    if loads.len() != mechanism.effectors().len() {
        let there = mechanism.effectors().len();
        return Err(format!("it has {} loads, and there are {there} effectors", loads.len()));
    }
    if !state.is_finite() || numbers.loads.iter().flatten().any(|x| !x.is_finite()) {
        return Err("it has numbers that are not finite".into());
    }
    Ok((state, loads))
}

fn pose(numbers: &[f64; 7]) -> Result<Pose, String> {
    let [px, py, pz, x, y, z, w] = *numbers;
    let rotation = Quaternion::new(w, x, y, z);
    // False also of what is not a number.
    let unit = (rotation.norm() - 1.0).abs() < UNIT;
    if !unit {
        return Err("a quaternion is not of length one".into());
    }
    Ok(Pose::new(UnitQuaternion::new_unchecked(rotation), [px, py, pz].into()))
}

fn wrenches(numbers: &[[f64; 6]]) -> Vec<Wrench> {
    numbers.iter().map(|w| Wrench::from_vector(&Vector6::from(*w))).collect()
}

fn outcome(report: &Report) -> Result<(Sampling, Outcome), ModelError> {
    let [max_error, displacement] = report.asked;
    let [estimate, held_out, held_out_median, worst_displacement] = report.found;
    let count = |n: u64| usize::try_from(n).map_err(|_| wrong("a count is too large".into()));
    let [tested, out_of_reach, snapped, unusable] = report.counts;
    let sampling = Sampling {
        max_error,
        displacement,
        most_samples: count(report.most_samples)?,
        loads: count(report.loads)?,
        seed: report.seed,
    };
    let outcome = Outcome {
        estimate,
        held_out,
        held_out_median,
        worst_loads: wrenches(&report.worst_loads),
        worst_displacement,
        tested: count(tested)?,
        out_of_reach: count(out_of_reach)?,
        snapped: count(snapped)?,
        unusable: count(unusable)?,
        limit: *choice(&LIMIT, report.limit)?,
    };
    Ok((sampling, outcome))
}
