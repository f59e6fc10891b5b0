//! `pliant compare`: the full simulation against linear models of the same mechanism, as one page and as JSON.

mod contact_comparison;
mod contact_page;
pub mod drawing;
mod lead;
mod measure;
mod motion;
mod page;
pub mod skeleton;
mod solids;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::contact::Surfaces;
use pliant::engine::Warning;
use pliant::engines::{CONTACT_STEP, Engine};
use pliant::io::ModelFile;
use pliant::linear::ReductionError;
use pliant::mechanism::Mechanism;
use serde_json::{Map, Value, json};

use crate::args::{Common, Compare};
use crate::choices::RECONSTRUCTIONS;
use crate::contact_options::Stage;
use crate::failure::Failure;
use crate::output::{Answer, listing, table, writable};
use crate::page::text;
use crate::progress::Bar;
use crate::setup;
use contact_comparison::ContactComparison;
use measure::{Comparison, Frequencies, LinkError, Ramp, Speed, Transient};
use skeleton::Skeleton;
use verdict::Verdict;

pub fn run(arguments: &Compare, common: &Common) -> Result<Answer, Failure> {
    let opened = arguments.setup.open(&arguments.mechanism, common, |name| arguments.loading.acts_on(name));
    let (source, mut counted) = opened?;
    if let (Some(_), Some(option)) = (&source.model, arguments.loading.option()) {
        return Err(setup::of_a_model(option));
    }
    if source.model.is_some() && arguments.setup.has_springs() {
        return Err(setup::of_a_model("--spring"));
    }
    let mechanism = &arguments.loading.of_scene(source.mechanism)?;
    let path = match &arguments.output {
        Some(path) => checked(path)?,
        None => PathBuf::from(file_name(&arguments.mechanism.label())),
    };
    let stage = arguments.touching.stage(mechanism, &arguments.mechanism, common)?;
    // A surface that cannot be read is not drawn; contact has said so already where it matters.
    let surfaces = arguments.mechanism.surfaces(mechanism, common).unwrap_or_default();
    let mut bar = Bar::new(common.format(), measure::TICKS);
    let mut done = 0;
    let mut tick = || {
        done = (done + 1).min(measure::TICKS);
        bar.update(done, Instant::now());
    };
    let name = match mechanism.name() {
        "" => arguments.mechanism.label(),
        name => name.to_string(),
    };
    let mut said = mechanism.warnings();
    if stage.is_none() {
        said.extend(arguments.touching.untouched(mechanism));
    }
    let refused = |error| arguments.mechanism.unreduced_to_effectors(error);
    let compared = compared(
        mechanism,
        &name,
        (stage.as_ref(), &surfaces),
        source.model.as_ref(),
        arguments.dt,
        &mut tick,
        refused,
    );
    drop(bar);
    let Compared { html, mut json, text, warnings } = compared?;
    pliant::io::files::write(&path, html)
        .map_err(|error| Failure::job(format!("cannot write `{}`: {error}", path.display())))?;
    json["page"] = path.display().to_string().into();
    counted.extend(warnings);
    Ok(Answer::warned(format!("{text}wrote {}\n", path.display()), said, counted, json))
}

/// What comes of a comparison.
pub struct Compared {
    /// The page.
    pub html: String,
    /// Its figures.
    pub json: Value,
    /// The same for people.
    pub text: String,
    pub warnings: Vec<Warning>,
}

/// Compares the engines of a mechanism, with contact if it has a stage, and draws its surfaces. `refused` says why there is no linear model.
pub fn compared(
    mechanism: &Mechanism,
    name: &str,
    (stage, surfaces): (Option<&Stage>, &Surfaces),
    model: Option<&ModelFile>,
    dt: Option<f64>,
    tick: &mut dyn FnMut(),
    refused: impl FnOnce(ReductionError) -> Failure,
) -> Result<Compared, Failure> {
    let mut skeleton = Skeleton::new(mechanism);
    skeleton.add_solids(mechanism, surfaces);
    if let Some(stage) = stage {
        let frames = motion::frames(mechanism, Engine::ALL.len());
        let compared =
            contact_comparison::measure(mechanism, stage, model, dt.unwrap_or(CONTACT_STEP), frames, tick)?;
        return Ok(Compared {
            html: contact_page::page(name, mechanism, stage.surfaces(), &skeleton, &compared),
            json: of_contact(name, mechanism, &compared),
            text: contest_text(mechanism, &compared),
            warnings: compared.warnings,
        });
    }
    let frames = motion::frames(mechanism, 3);
    let comparison = measure::measure(mechanism, model, dt, frames, tick).map_err(refused)?;
    Ok(Compared {
        html: page::page(name, mechanism, surfaces, &skeleton, &comparison),
        json: document(name, mechanism, &comparison),
        text: comparison_text(mechanism, &comparison),
        warnings: comparison.warnings,
    })
}

/// A page's path, if it is one and its folder is there: so that an error does not come after a minute of work.
fn checked(path: &Path) -> Result<PathBuf, Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    if !matches!(extension.as_deref(), Some("html" | "htm")) {
        let message = format!("`{}`: a comparison is a page, such as page.html", path.display());
        return Err(Failure::input(message));
    }
    writable(path)?;
    Ok(path.to_path_buf())
}

/// A name that every file system takes: `helix:50` makes `helix-50-compare.html`.
fn file_name(label: &str) -> String {
    let portable = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = label.chars().map(portable).collect();
    let name = name.trim_matches(['-', '.']);
    format!("{}-compare.html", if name.is_empty() { "mechanism" } else { name })
}

/// The answer for people: the page says the rest.
fn comparison_text(mechanism: &Mechanism, comparison: &Comparison) -> String {
    let Comparison { speed, ramp, transient, .. } = comparison;
    let mut rows = vec![
        ("bodies", mechanism.bodies().len().to_string()),
        ("coordinates", comparison.coordinates.to_string()),
    ];
    let steps = [
        ("step, full", speed.of(Engine::Full)),
        ("step, articulated", speed.of(Engine::Articulated)),
        ("step, reduced", speed.of(Engine::Reduced)),
        ("step, blended", speed.of(Engine::Blended)),
        ("step, linear", speed.of(Engine::Linear)),
    ];
    rows.extend(steps.into_iter().filter_map(|(name, us)| Some((name, text::time(us?)))));
    match ramp {
        Err(why) => rows.push(("error at rest, linear", format!("unavailable: {why}"))),
        Ok(ramp) => {
            if let Some(sample) = ramp.at_scene() {
                rows.push(("error at rest, linear", at_rest(sample.effector, sample.estimate)));
                for (name, other) in [("  blended", sample.blended), ("  reduced", sample.reduced)] {
                    let told = other.map(|other| at_rest(other.effector, Some(other.estimate)));
                    rows.extend(told.map(|told| (name, told)));
                }
                rows.push(("displacement", format!("{} of the radius", text::percent(sample.displacement))));
            }
            if let Some(why) = &ramp.stopped {
                rows.push(("loads", why.clone()));
            }
        }
    }
    rows.push((
        "error in motion, linear",
        format!("{} of the radius at most", text::percent(transient.max_error())),
    ));
    for other in &transient.others {
        let stopped = other.stopped.as_ref().map_or(String::new(), |why| format!("; it stops: {why}"));
        let name = match other.engine {
            "articulated" => "  articulated",
            "reduced" => "  reduced",
            _ => "  blended",
        };
        rows.push((name, format!("{} of the radius at most{stopped}", text::percent(other.max_error()))));
    }
    if let Some(why) = &transient.stopped {
        rows.push(("motion", why.clone()));
    }
    let verdict = Verdict::of(comparison).text();
    format!("{verdict}\n\n{}\n\n{}\n", lead::lead(mechanism, comparison), listing(rows))
}

/// An error, with what its estimate says.
fn at_rest(error: f64, estimate: Option<f64>) -> String {
    let estimate = estimate.map(|estimate| format!(", estimated as {}", text::percent(estimate)));
    format!("{} of the radius{}", text::percent(error), estimate.unwrap_or_default())
}

/// The answer for people about a scene of contact.
fn contest_text(mechanism: &Mechanism, compared: &ContactComparison) -> String {
    let head = ["ENGINE", "STEP", "FURTHEST OFF", "PENETRATION", "RESIDUAL"].map(String::from).to_vec();
    let rows = compared.runs.iter().map(|run| {
        let furthest = compared.distances(run).into_iter().fold(0.0, f64::max);
        vec![
            run.engine.to_string(),
            run.taken.map_or("-".into(), |[median, _]| text::time(median)),
            if run.engine == "full" { "-".into() } else { contact_page::length(furthest) },
            contact_page::length(run.worst.penetration),
            format!("{} m/s", text::significant(run.worst.residual, 2)),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let absent: String = (compared.absent.iter())
        .map(|(engine, why)| format!("the engine {engine} is left out: {why}\n"))
        .collect();
    let lead = contact_page::lead(compared);
    let verdict = Verdict::of_contact(compared, mechanism.radius()).text();
    format!("{verdict}\n\n{lead}\n\n{}{absent}\n", table(&rows))
}

fn of_contact(name: &str, mechanism: &Mechanism, compared: &ContactComparison) -> Value {
    let effectors: Vec<&str> = mechanism.effectors().iter().map(|e| e.name.as_str()).collect();
    let run = |run: &contact_comparison::Run| {
        let distances = compared.distances(run);
        json!({
            "engine": run.engine,
            "time_per_step_us": run.taken.map(|[median, _]| median),
            "p99_us": run.taken.map(|[_, p99]| p99),
            "times_as_fast": compared.gain(run),
            "max_distance": distances.iter().copied().fold(0.0, f64::max),
            "final_distance": distances.last(),
            "penetration": run.worst.penetration,
            "residual": run.worst.residual,
            "max_force": compared.forces(run).map(|forces| forces.fold(0.0, f64::max)),
            "stopped": run.stopped,
        })
    };
    let absent = compared.absent.iter().map(|(engine, why)| json!({ "engine": engine, "error": why }));
    json!({
        "mechanism": name,
        "bodies": mechanism.bodies().len(),
        "effectors": effectors,
        "radius": mechanism.radius(),
        "contact": {
            "dt": compared.dt,
            "steps": compared.steps,
            "duration": compared.steps as f64 * compared.dt,
            "loaded": compared.loaded.map(|e| &mechanism[e].name),
            "exact_engine": compared.exact().map(|(engine, _)| engine),
            "engines": compared.runs.iter().map(run).chain(absent).collect::<Vec<_>>(),
        },
        "verdict": Verdict::of_contact(compared, mechanism.radius()).json(),
        "notes": contact_page::notes(compared),
    })
}

fn document(name: &str, mechanism: &Mechanism, comparison: &Comparison) -> Value {
    let Comparison { coordinates, ramp, transient, frequencies, speed, blended, notes, .. } = comparison;
    let (error, stopped) = match ramp {
        Ok(ramp) => (samples(ramp), ramp.stopped.clone()),
        Err(why) => (Vec::new(), Some(why.clone())),
    };
    let effectors: Vec<&str> = mechanism.effectors().iter().map(|e| e.name.as_str()).collect();
    json!({
        "mechanism": name,
        "bodies": mechanism.bodies().len(),
        "coordinates": coordinates,
        "effectors": effectors,
        "radius": mechanism.radius(),
        "errors": error,
        "error_stopped": stopped,
        "transient": of_transient(transient),
        "frequencies": of_frequencies(frequencies),
        "speed": of_speed(speed),
        "blended": match blended {
            Ok(about) => json!({
                "models": about.models,
                "held_out": about.held_out.map(|(error, _)| error),
                "tested": about.held_out.map_or(0, |(_, loads)| loads),
                "bound": about.asked.map(|(bound, _)| bound),
                "error": null,
            }),
            Err(why) => json!({ "models": 0, "held_out": null, "tested": 0, "bound": null, "error": why }),
        },
        "verdict": Verdict::of(comparison).json(),
        "notes": notes,
    })
}

fn of_links(links: &[LinkError; 3]) -> Map<String, Value> {
    let one = |link: &LinkError| json!({ "mean": link.mean, "max": link.max, "violation": link.violation });
    RECONSTRUCTIONS.iter().zip(links).map(|((name, _), link)| (name.to_string(), one(link))).collect()
}

fn samples(ramp: &Ramp) -> Vec<Value> {
    let sample = |s: &measure::Sample| {
        let mut entry = of_links(&s.links);
        entry.insert("load_scale".into(), s.scale.into());
        entry.insert("displacement".into(), s.displacement.into());
        entry.insert("effector".into(), s.effector.into());
        entry.insert("estimate".into(), s.estimate.into());
        for (name, other) in [("reduced", s.reduced), ("blended", s.blended)] {
            let other = other.map(|a| json!({ "effector": a.effector, "estimate": a.estimate }));
            entry.insert(name.into(), other.into());
        }
        Value::Object(entry)
    };
    ramp.samples.iter().map(sample).collect()
}

fn of_transient(transient: &Transient) -> Value {
    let mut entry = of_links(&transient.links);
    for (key, value) in [
        ("dt", transient.dt.into()),
        ("steps", transient.steps.into()),
        ("duration", (transient.steps as f64 * transient.dt).into()),
        ("max_displacement_relative", transient.displacement.into()),
        ("max_error_relative", transient.max_error().into()),
        ("max_error_relative_4_modes", transient.max_errors()[1].into()),
        ("rms_error_relative", transient.rms_error().into()),
        ("final_error_relative", transient.final_error().into()),
        ("stopped", transient.stopped.clone().into()),
    ] {
        let value: Value = value;
        entry.insert(key.into(), value);
    }
    for other in &transient.others {
        entry.insert(
            other.engine.into(),
            json!({
                "max_error_relative": other.max_error(),
                "final_error_relative": other.error.last(),
                "stopped": other.stopped,
            }),
        );
    }
    Value::Object(entry)
}

fn of_frequencies(frequencies: &Frequencies) -> Value {
    let model = |row: &measure::FrequencyRow| {
        let (coordinates, own, error) = match &row.result {
            Ok((coordinates, own)) => (Some(coordinates), own.as_slice(), None),
            Err(why) => (None, &[][..], Some(why)),
        };
        let ratios: Vec<f64> = own.iter().zip(&frequencies.full).map(|(own, full)| own / full).collect();
        json!({
            "mass": "condensed", "modes": row.modes, "coordinates": coordinates,
            "hz": own, "ratio": ratios, "error": error,
        })
    };
    json!({ "full_hz": frequencies.full, "models": frequencies.models.iter().map(model).collect::<Vec<_>>() })
}

fn of_speed(speed: &Speed) -> Value {
    let [twist, joint, corrected] = speed.linear;
    json!({
        "dt": speed.dt,
        "full_us": speed.of(Engine::Full),
        "articulated_us": speed.of(Engine::Articulated),
        "twist_us": twist,
        "joint_us": joint,
        "corrected_us": corrected,
        "effectors_us": speed.effectors,
        "reduced_us": speed.of(Engine::Reduced),
        "blended_us": speed.of(Engine::Blended),
        "exact_engine": speed.exact().map(|(engine, _)| engine.name()),
        "exact_us": speed.exact().map(|(_, us)| us),
        "times_as_fast": speed.of(Engine::Linear).and_then(|us| speed.gain(us)),
        "build_full_us": speed.build_full,
        "build_linear_us": speed.build_linear,
    })
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_names_are_portable() {
        for (label, name) in [
            ("rungs", "rungs-compare.html"),
            ("helix:50", "helix-50-compare.html"),
            ("my hand", "my-hand-compare.html"),
            ("../x", "x-compare.html"),
            ("", "mechanism-compare.html"),
        ] {
            assert_eq!(file_name(label), name);
        }
    }
}
