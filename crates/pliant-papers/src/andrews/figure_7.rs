//! Andrews 2015, Figure 7: what 1, 2 and 4 models placed by hand are worth as the displacement grows: error of the
//! effector, and gaps in the joints when links are placed by twists.

use pliant::blended::{Links, Model, Options};
use pliant::engine::{Simulation, State};
use pliant::full;
use pliant::gallery;

use crate::Effort;
use crate::section::{Cell, Figure, Finding, Section, Table, ours, paper};
use crate::statics::{apart, error_of, loads, settle, settled, size_for};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::{percent, significant};

/// Displacements, in radii, at which models are made beside the one at rest.
const SAMPLES: [&[f64]; 3] = [&[], &[1.0], &[0.35, 0.7, 1.0]];

/// Displacements of the table.
const COLUMNS: [f64; 6] = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0];

/// What the paper shows for a Y and one model at displacement 1: the sum of gaps over the radius.
const PRINTED: [f64; 2] = [0.1, 0.15];

/// The paper's way: forces from the blend alone, links by twists, all effectors weighed together.
const WAY: fn() -> Options = || Options { links: Links::Twist, branches: false, ..Options::default() };

/// What was measured of one number of models.
struct Curve {
    models: usize,
    /// Displacement, error of the effector, violation by twists; not a number where the blend comes to no rest.
    points: Vec<[f64; 3]>,
}

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let names: &[&'static str] =
        if effort.quick { &["y", "rungs:18"] } else { &["y", "rungs:18", "helix:50"] };
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    let mut findings = Vec::new();
    for &name in names {
        let curves = curves(name, effort)?;
        for curve in &curves {
            let at = |d: f64| curve.points.iter().find(|p| (p[0] - d).abs() < 1e-6);
            let cell = |x: f64| if x.is_finite() { Cell::Ratio(x) } else { Cell::Nothing };
            let mut row = vec![Cell::Word(name.into()), Cell::Number(curve.models as f64)];
            row.extend(COLUMNS.map(|d| at(d).map_or(Cell::Nothing, |p| cell(p[1]))));
            row.push(at(1.0).map_or(Cell::Nothing, |p| cell(p[2])));
            row.push(match (name, curve.models) {
                ("y", 1) => Cell::Range(PRINTED),
                _ => Cell::NotReadOff,
            });
            rows.push(row);
        }
        if name == "y" {
            figures.extend(plots(&curves));
            findings.extend(two_are_worse(name, &curves));
            findings.extend(gaps(&curves));
        }
    }
    let mut columns = vec![ours("mechanism", "mechanism"), ours("models", "models")];
    let keys =
        ["error_at_0.05", "error_at_0.2", "error_at_0.4", "error_at_0.6", "error_at_0.8", "error_at_1"];
    let heads = ["error at 5 %", "20 %", "40 %", "60 %", "80 %", "100 %"];
    columns.extend(keys.into_iter().zip(heads).map(|(key, head)| ours(key, head)));
    columns.push(ours("violation_at_1", "violation at 100 %"));
    columns.push(paper("paper_violation_at_1", "paper's violation, about"));
    Ok(Section {
        id: "andrews-figure-7",
        title: "Andrews 2015, Figure 7: one, two and four models over the range",
        about: "Models placed by hand under the scene's load: at rest; also where the effector has moved by one radius; also at 0.35 and 0.7 of it. \
                The blend is the paper's (forces from the blend alone, all effectors weighed together), compliances blended as they are. The error is that of the effector at rest \
                against the full statics; the violation is the sum of all gaps in joints, over the radius, with links placed by twists. With links \
                placed by joints, nothing opens on a tree."
            .into(),
        tables: vec![Table {
            id: "andrews-figure-7",
            title: "Error of the effector over the radius, by displacement".into(),
            columns,
            rows,
            caption: "– where the blend comes to no rest. Of the paper's curves only one value is known here: about 10 to 15 % for a Y with one model \
                      at displacement 1. Its Y has other measures than ours."
                .into(),
        }],
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
        let mut model = Model::new(&mechanism, WAY()).map_err(Failure::job)?;
        for &at in samples {
            model.add(&loads(&mechanism, size_for(&truth, at))).map_err(Failure::job)?;
        }
        let mut points = Vec::new();
        for (displacement, (size, state)) in displacements.iter().zip(&loaded) {
            let mut simulation = model.simulate();
            simulation.set_options(Options { links: Links::Twist, ..Options::default() });
            let rests = settle(&mut simulation, *size);
            let (error, violation) = match state {
                Some(state) if rests => (error_of(&simulation, state), simulation.violation()),
                _ => (f64::NAN, f64::NAN),
            };
            let moved = state.as_ref().map_or(*displacement, |s| apart(&mechanism, s, &start));
            // What bisection leaves is nothing to a reader.
            let at = if (moved - displacement).abs() < 1e-6 { *displacement } else { moved };
            points.push([at, error, violation]);
        }
        curves.push(Curve { models: samples.len() + 1, points });
        effort.tick();
    }
    Ok(curves)
}

/// The two plots of a mechanism.
fn plots(curves: &[Curve]) -> Vec<Figure> {
    let classes = ["full", "joint", "motions"];
    let lines = |column: usize| -> Vec<Series> {
        let named = |curve: &Curve| match curve.models {
            1 => "1 model".to_string(),
            n => format!("{n} models"),
        };
        (curves.iter().zip(classes))
            .map(|(curve, class)| Series {
                name: named(curve),
                class,
                points: curve.points.iter().map(|p| [p[0], p[column]]).collect(),
                mark: Mark::LineAndDots,
            })
            .collect()
    };
    let displacement = || Axis {
        label: "displacement of the effector over radius".into(),
        scale: Scale::Linear,
        percent: true,
    };
    let mut violations = lines(2);
    let printed = PRINTED.map(|v| [1.0, v]).to_vec();
    violations.push(Series {
        name: "1 model (paper, its own Y)".into(),
        class: "paper",
        points: printed,
        mark: Mark::Spans,
    });
    vec![
        Figure {
            title: "Error of the effector, y".into(),
            plot: Plot {
                id: "andrews-figure-7-error",
                title: "Error of the effector of y against displacement".into(),
                description: "With 1, 2 and 4 models placed by hand.".into(),
                x: displacement(),
                y: Axis {
                    label: "error over radius".into(),
                    scale: Scale::Log { floor: 1e-5 },
                    percent: true,
                },
                series: lines(1),
                marks: Vec::new(),
            },
            caption: "What is below 0.001 % is drawn at the lower edge: at its own samples a blend is exact."
                .into(),
        },
        Figure {
            title: "Gaps in the joints, y, links by twists".into(),
            plot: Plot {
                id: "andrews-figure-7-violation",
                title: "Sum of the gaps in the joints of y against displacement".into(),
                description: "With 1, 2 and 4 models placed by hand, links by twists.".into(),
                x: displacement(),
                y: Axis { label: "sum of gaps over radius".into(), scale: Scale::Linear, percent: true },
                series: violations,
                marks: Vec::new(),
            },
            caption: "The paper's way to place links. By joints all lines are at zero.".into(),
        },
    ]
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

/// What placing links by twists opens.
fn gaps(curves: &[Curve]) -> Option<Finding> {
    let last = curves[0].points.last().filter(|p| p[2].is_finite())?;
    Some(Finding {
        place: "[A] links by twists",
        claim: "Every other link follows by a twist of its own, and joints open as the square of the motion. The same linear model has joint coordinates \
                too: with forward kinematics nothing opens on a tree."
            .into(),
        shown: format!(
            "y with one model at displacement {}: all gaps together are {} of the radius by twists (the paper: about {} to {} for its own Y).",
            percent(last[0]),
            percent(last[2]),
            percent(PRINTED[0]),
            percent(PRINTED[1])
        ),
        number: last[2],
        meaning: "sum of the gaps in joints over the radius, links by twists",
    })
}
