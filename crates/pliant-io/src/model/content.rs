//! What is behind the head of a model file: an archive of plain numbers and the text of the scene. It is checked once
//! more when it is read: whoever makes a file by other means gets an error, not a model that cannot be.

use pliant_core::nalgebra::{DMatrix, Vector6};
use pliant_core::reduced::{Every, Limit, Model, Outcome, Sampling};
use pliant_core::spatial::Wrench;
use rkyv::rancor::Error;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize};

use super::{ModelError, ModelFile};

/// What limits an error, by its place in the file.
const LIMIT: [Limit; 3] = [Limit::None, Limit::Equilibria, Limit::Stalled];

#[derive(Archive, Serialize, Deserialize)]
struct Content {
    scene: String,
    /// What the reader of the mechanism said of it, which a scene cannot hold.
    warnings: Vec<String>,
    notes: Vec<String>,
    /// Motions, one after the other: a number for each coordinate of the mechanism.
    motions: Vec<Vec<f64>>,
    report: Option<Report>,
}

/// What was asked for and what came out. Loads are lists of wrenches on the effectors, linear part first.
#[derive(Archive, Serialize, Deserialize)]
struct Report {
    /// Error and displacement.
    asked: [f64; 2],
    /// Hz.
    frequency: Option<f64>,
    /// Random loads, equilibria at most.
    allowed: [u64; 2],
    seed: u64,
    samples: Vec<Vec<[f64; 6]>>,
    /// Error where motions were chosen, held-out error, its median, displacement of the worst.
    found: [f64; 4],
    /// Tested, within the bound, out of reach, searched.
    counts: [u64; 4],
    worst_loads: Vec<[f64; 6]>,
    unsolved: Vec<Vec<[f64; 6]>>,
    unsettled: Vec<Vec<[f64; 6]>>,
    several: Vec<Vec<[f64; 6]>>,
    every: Option<Reason>,
    /// Place in [`LIMIT`].
    limit: u8,
}

/// Why every motion is kept.
#[derive(Archive, Serialize, Deserialize)]
enum Reason {
    Few,
    Restless(String),
    Untested,
}

/// The archive of a model.
pub(super) fn write(file: &ModelFile) -> AlignedVec {
    let content = Content {
        scene: crate::scene::write(&file.mechanism),
        warnings: file.mechanism.reader_warnings().to_vec(),
        notes: file.mechanism.notes().to_vec(),
        motions: file.motions.column_iter().map(|column| column.iter().copied().collect()).collect(),
        report: file.report.as_ref().map(|(sampling, outcome)| report(sampling, outcome)),
    };
    rkyv::to_bytes::<Error>(&content).expect("memory takes everything")
}

fn report(sampling: &Sampling, outcome: &Outcome) -> Report {
    let lists = |list: &[Vec<Wrench>]| list.iter().map(|loads| numbers(loads)).collect();
    let counts = [outcome.tested, outcome.within, outcome.out_of_reach, outcome.searched];
    Report {
        asked: [sampling.max_error, sampling.displacement],
        frequency: sampling.frequency,
        allowed: [sampling.loads as u64, sampling.most_equilibria as u64],
        seed: sampling.seed,
        samples: lists(&outcome.samples),
        found: [outcome.error, outcome.held_out, outcome.held_out_median, outcome.worst_displacement],
        counts: counts.map(|n| n as u64),
        worst_loads: numbers(&outcome.worst_loads),
        unsolved: lists(&outcome.unsolved),
        unsettled: lists(&outcome.unsettled),
        several: lists(&outcome.several),
        every: outcome.every.as_ref().map(|every| match every {
            Every::Few => Reason::Few,
            Every::Restless(why) => Reason::Restless(why.clone()),
            Every::Untested => Reason::Untested,
        }),
        limit: LIMIT.iter().position(|limit| *limit == outcome.limit).expect("the list is complete") as u8,
    }
}

fn numbers(loads: &[Wrench]) -> Vec<[f64; 6]> {
    loads.iter().map(|w| w.to_vector().into()).collect()
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
    let rows = mechanism.coordinate_count();
    if let Some(k) = content.motions.iter().position(|motion| motion.len() != rows) {
        let (k, has) = (k + 1, content.motions[k].len());
        return Err(wrong(format!("motion {k} has {has} numbers, but there are {rows} coordinates")));
    }
    let motions = DMatrix::from_iterator(rows, content.motions.len(), content.motions.into_iter().flatten());
    Model::from_columns(&mechanism, &motions).map_err(|error| wrong(error.to_string()))?;
    let report = content.report.map(|report| outcome(report, mechanism.effectors().len())).transpose()?;
    Ok(ModelFile { mechanism, motions, report })
}

fn wrong(what: String) -> ModelError {
    ModelError::Content(what)
}

fn outcome(report: Report, effectors: usize) -> Result<(Sampling, Outcome), ModelError> {
    let loads = |list: &[[f64; 6]]| -> Result<Vec<Wrench>, ModelError> {
        if list.len() != effectors {
            return Err(wrong(format!(
                "a load has {} wrenches, but there are {effectors} effectors",
                list.len()
            )));
        }
        if list.iter().flatten().any(|x| !x.is_finite()) {
            return Err(wrong("a load is not finite".into()));
        }
        Ok(list.iter().map(|w| Wrench::from_vector(&Vector6::from(*w))).collect())
    };
    let lists = |list: &[Vec<[f64; 6]>]| list.iter().map(|one| loads(one)).collect::<Result<_, _>>();
    let count = |n: u64| usize::try_from(n).map_err(|_| wrong("a count is too large".into()));
    let mut all = report.asked.iter().chain(&report.found).chain(&report.frequency);
    if all.any(|x| !(x.is_finite() && *x >= 0.0)) {
        return Err(wrong("an error or a displacement is not a valid number".into()));
    }
    let [max_error, displacement] = report.asked;
    let [error, held_out, held_out_median, worst_displacement] = report.found;
    let [tested, within, out_of_reach, searched] = report.counts;
    let [drawn, most_equilibria] = report.allowed;
    let sampling = Sampling {
        max_error,
        displacement,
        frequency: report.frequency,
        loads: count(drawn)?,
        most_equilibria: count(most_equilibria)?,
        seed: report.seed,
    };
    let outcome = Outcome {
        samples: lists(&report.samples)?,
        error,
        held_out,
        held_out_median,
        tested: count(tested)?,
        within: count(within)?,
        worst_loads: if report.worst_loads.is_empty() { Vec::new() } else { loads(&report.worst_loads)? },
        worst_displacement,
        unsolved: lists(&report.unsolved)?,
        unsettled: lists(&report.unsettled)?,
        several: lists(&report.several)?,
        out_of_reach: count(out_of_reach)?,
        searched: count(searched)?,
        every: report.every.map(|reason| match reason {
            Reason::Few => Every::Few,
            Reason::Restless(why) => Every::Restless(why),
            Reason::Untested => Every::Untested,
        }),
        limit: *LIMIT
            .get(usize::from(report.limit))
            .ok_or_else(|| wrong("the limit of its error is unknown".into()))?,
    };
    Ok((sampling, outcome))
}
