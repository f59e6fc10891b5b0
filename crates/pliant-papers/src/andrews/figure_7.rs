//! Andrews 2015, Figure 7: gaps in the joints of a Y and a ladder as one effector is pulled in various directions with growing
//! force, links placed by twists: one model against several, blended. Next to it, what 1, 2 and 4 models are worth at the effector.

use pliant::blended::Model;
use pliant::engine::State;
use pliant::full;
use pliant::gallery;

use super::directions;
use crate::Effort;
use crate::section::{Cell, Figure, Finding, Section, Table, ours};
use crate::statics::{apart, error_of, loads, settle, settled, size_for};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Series};
use pliant_cli::page::text::{percent, significant};

/// Displacements, in radii, at which models are made next to the one at rest.
const SAMPLES: [&[f64]; 3] = [&[], &[1.0], &[0.35, 0.7, 1.0]];

/// Displacements of the table.
const COLUMNS: [f64; 6] = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0];

/// What the paper says of its method with one model at displacement 1, for both mechanisms: the sum of gaps over the radius.
pub const PRINTED: [f64; 2] = [0.1, 0.15];

/// What was measured of one number of models.
struct Curve {
    models: usize,
    /// Displacement and error of the effector; not a number where the blend comes to no rest.
    points: Vec<[f64; 2]>,
}

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let (pulled, opened) = directions::figures(effort)?;
    let names: &[&'static str] =
        if effort.quick { &["y", "rungs:18"] } else { &["y", "rungs:18", "helix:50"] };
    let mut rows = Vec::new();
    let mut figures = pulled;
    let mut findings = vec![opened];
    for &name in names {
        let curves = curves(name, effort)?;
        for curve in &curves {
            let at = |d: f64| curve.points.iter().find(|p| (p[0] - d).abs() < 1e-6);
            let cell = |x: f64| if x.is_finite() { Cell::Ratio(x) } else { Cell::Nothing };
            let mut row = vec![Cell::Word(name.into()), Cell::Number(curve.models as f64)];
            row.extend(COLUMNS.map(|d| at(d).map_or(Cell::Nothing, |p| cell(p[1]))));
            rows.push(row);
        }
        if name == "y" {
            figures.push(plot(&curves));
            findings.extend(two_are_worse(name, &curves));
        }
    }
    let mut columns = vec![ours("mechanism", "mechanism"), ours("models", "models")];
    let keys =
        ["error_at_0.05", "error_at_0.2", "error_at_0.4", "error_at_0.6", "error_at_0.8", "error_at_1"];
    let heads = ["error at 5 %", "20 %", "40 %", "60 %", "80 %", "100 %"];
    columns.extend(keys.into_iter().zip(heads).map(|(key, head)| ours(key, head)));
    Ok(Section {
        id: "andrews-figure-7",
        title: "Andrews 2015, Figure 7: gaps in the joints, one model and several",
        about: "One effector is pulled in various directions with slowly growing force. Across: the norm of its twist from rest, the linear part over the radius and the \
                angular part over π. Up: the distances between the two attachment points of every joint, summed, over the radius. Links are placed by twists, as in the paper; with links \
                placed by joints nothing opens on a tree. The paper states neither its directions nor the number of its models."
            .into(),
        tables: vec![Table {
            id: "andrews-figure-7",
            title: "Error of the effector over the radius, by displacement".into(),
            columns,
            rows,
            caption: "Ours, which the paper does not print: models placed by hand under the scene's load, at rest; also where the effector has moved by one radius; also at 0.35 \
                      and 0.7 of it. Forces from the blend, compliances blended as they are, all effectors weighed together, against the full statics. – where the blend comes to no rest."
                .into(),
        }],
        drawings: Vec::new(),
        figures,
        findings,
    })
}

/// Sweeps the load with each number of models.
fn curves(name: &str, effort: &mut Effort) -> Result<Vec<Curve>, Failure> {
    let mechanism = gallery::build(name).map_err(Failure::job)?;
    let truth = full::Model::new(&mechanism);
    let start = State::at_rest(&mechanism);
    let every = if effort.quick { 0.2 } else { 0.05 };
    let count = (1.0f64 / every).round() as usize;
    let mut displacements: Vec<f64> = (1..=count).map(|k| k as f64 * every).chain(COLUMNS).collect();
    displacements.sort_by(f64::total_cmp);
    displacements.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let mut loaded = Vec::new();
    for &displacement in &displacements {
        let size = size_for(&truth, displacement);
        loaded.push((size, settled(&truth, size)));
    }
    effort.tick();
    let mut curves = Vec::new();
    for samples in SAMPLES {
        let mut model = Model::new(&mechanism, super::ours()).map_err(Failure::job)?;
        for &at in samples {
            model.add(&loads(&mechanism, size_for(&truth, at))).map_err(Failure::job)?;
        }
        let mut points = Vec::new();
        for (displacement, (size, state)) in displacements.iter().zip(&loaded) {
            let mut simulation = model.simulate();
            let rests = settle(&mut simulation, *size);
            let error = match state {
                Some(state) if rests => error_of(&simulation, state),
                _ => f64::NAN,
            };
            let moved = state.as_ref().map_or(*displacement, |s| apart(&mechanism, s, &start));
            // What bisection leaves is nothing to a reader.
            let at = if (moved - displacement).abs() < 1e-6 { *displacement } else { moved };
            points.push([at, error]);
        }
        curves.push(Curve { models: samples.len() + 1, points });
        effort.tick();
    }
    Ok(curves)
}

/// The error of a mechanism's effector.
fn plot(curves: &[Curve]) -> Figure {
    let named = |models: usize| if models == 1 { "1 model".to_string() } else { format!("{models} models") };
    let series = curves.iter().zip(["full", "joint", "reduced"]).map(|(curve, class)| Series {
        name: named(curve.models),
        class,
        points: curve.points.clone(),
        mark: Mark::LineAndDots,
    });
    Figure {
        title: "Error of the effector, y".into(),
        plot: Plot {
            id: "andrews-figure-7-error",
            title: "Error of the effector of y against displacement".into(),
            description: "With 1, 2 and 4 models placed by hand.".into(),
            x: Axis::linear("displacement of the effector over radius").of_ratios(),
            y: Axis::log("error over radius", 1e-5).of_ratios(),
            series: series.collect(),
            marks: Vec::new(),
        },
        caption: "What is below 0.001 % is drawn at the lower edge: at its own samples a blend is exact."
            .into(),
    }
}

/// Where two models are furthest behind one.
fn two_are_worse(name: &str, curves: &[Curve]) -> Option<Finding> {
    let (one, two) = (&curves[0], &curves[1]);
    let pairs = one.points.iter().zip(&two.points).filter(|(a, b)| a[1] > 1e-6 && b[1].is_finite());
    let (a, b) = pairs.max_by(|(a, b), (c, d)| (b[1] / a[1]).total_cmp(&(d[1] / c[1])))?;
    (b[1] > a[1]).then(|| Finding {
        place: "[A] §7, Fig. 7",
        claim: "Models are added to bring the error down. Between two that are far apart, a blend of both can be worse than the one at rest alone: \
                models must lie close enough, which sampling by the error sees to."
            .into(),
        shown: format!(
            "{name} at displacement {}: two models are off by {}, one by {}: {} times as much.",
            percent(a[0]),
            percent(b[1]),
            percent(a[1]),
            significant(b[1] / a[1], 2)
        ),
        number: b[1] / a[1],
        meaning: "error with two models over that with one, where it is worst",
    })
}
