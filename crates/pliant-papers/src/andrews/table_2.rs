//! Andrews 2015, Table 2: the time of a step with 1, 2 and 4 blended models.

use pliant::blended::{Links, Model, Options};
use pliant::gallery;
use pliant::mechanism::Mechanism;
use pliant::spatial::Wrench;

use super::eigenvectors;
use crate::Effort;
use crate::section::{Cell, Figure, Section, Table, ours, paper};
use pliant_cli::bench;
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};

/// Numbers of models.
const MODELS: [usize; 3] = [1, 2, 4];

/// What the paper prints for these, µs with four threads: Vortex, each number of models, and the speed-up with one.
const PRINTED: [(&str, f64, [f64; 3], f64); 3] = [
    ("helix:200", 1048.0, [78.0, 96.0, 160.0], 13.4),
    ("ladder:36", 302.0, [37.0, 82.0, 99.0], 8.2),
    ("arm", 121.0, [26.0, 47.0, 86.0], 4.7),
];

/// Models at rest and under parts of the scene's load, turned about z from one to the next.
fn sampled(mechanism: &Mechanism, models: usize, options: Options) -> Result<Model, Failure> {
    let mut model = Model::new(mechanism, options).map_err(Failure::job)?;
    let mut k = 0;
    while model.samples().len() < models {
        k += 1;
        if k > 50 {
            return Err(Failure::job(format!("{}: no loads to make models at", mechanism.name())));
        }
        let (size, angle) = (0.2 + (k as f64 * 0.618) % 0.8, 2.4 * k as f64);
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        for load in mechanism.loads() {
            let f = load.wrench.force.norm() * size;
            loads[load.effector.index()] = Wrench::force([f * angle.cos(), f * angle.sin(), -0.3 * f]);
        }
        // A load without a stable equilibrium makes no model: the next one does.
        let _ = model.add(&loads);
    }
    Ok(model)
}

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let ways = [
        ("blended_printed_us", "blended as printed", Options::printed()),
        ("blended_twist_us", "ours, links by twists", super::ours()),
        ("blended_joint_us", "ours, links by joints", Options { links: Links::Joint, ..super::ours() }),
    ];
    let mut rows = Vec::new();
    let (mut series, mut spans) = (Vec::new(), Vec::new());
    for ((name, vortex, printed, speed_up), class) in PRINTED.into_iter().zip(["full", "joint", "reduced"]) {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let mut line = Vec::new();
        for (models, us) in MODELS.into_iter().zip(printed) {
            let ratio = if models == 1 { Cell::Times(speed_up) } else { Cell::Nothing };
            let mut row = vec![
                Cell::Word(name.into()),
                Cell::Number(models as f64),
                Cell::Time(vortex),
                Cell::Time(us),
                ratio,
            ];
            for (k, (_, _, options)) in ways.iter().enumerate() {
                let model = sampled(&mechanism, models, *options)?;
                let step = bench::steps(model.simulate(), &effort.pace)
                    .map_err(|error| Failure::job(format!("{name}, {models} models: {error}")))?;
                effort.tick();
                if k == 0 {
                    line.push([models as f64, step[0]]);
                    spans.extend([[models as f64, step[1]], [models as f64, step[2]]]);
                }
                row.push(Cell::step(&step));
            }
            rows.push(row);
        }
        let points = MODELS.into_iter().zip(printed).map(|(models, us)| [models as f64, us]).collect();
        series.push(Series { name: format!("{name} (paper)"), class, points, mark: Mark::Dots });
        series.push(Series { name: name.into(), class, points: line, mark: Mark::LineAndDots });
    }
    series.push(Series { name: "p10 to p90".into(), class: "paper", points: spans, mark: Mark::Spans });
    let mut columns = vec![
        ours("mechanism", "mechanism"),
        ours("models", "models"),
        paper("paper_full_us", "Vortex"),
        paper("paper_us", "blended, 4 threads"),
        paper("paper_ratio", "speed-up"),
    ];
    columns.extend(ways.iter().map(|(key, title, _)| ours(key, title)));
    let finding = eigenvectors::finding()?;
    effort.tick();
    Ok(Section {
        id: "andrews-table-2",
        title: "Andrews 2015, Table 2: the time of a step with several models",
        about: "Models at rest and at loaded equilibria, blended in every step, all links placed, one thread. As printed: weights 1/d² over all models, matrices by \
                eigenvalues and eigenvectors (Algorithm 3), links by log and exp (Algorithm 4). Ours: weights 1/d⁴, compliances blended as they are; with links by joints nothing \
                comes apart."
            .into(),
        tables: vec![Table {
            id: "andrews-table-2",
            title: "Time of a step".into(),
            columns,
            rows,
            caption: "The paper's times are with four threads: its column of one model belongs next to the column of 4 threads in Table 1, where the arm takes 18 µs; blending one \
                      model takes 26.".into(),
        }],
        drawings: Vec::new(),
        figures: vec![Figure {
            title: "Time against the number of models".into(),
            plot: Plot {
                id: "andrews-table-2-models",
                title: "Time of a step against the number of models".into(),
                description: "The paper's times as dots, those of this machine, blended as printed, as lines.".into(),
                x: Axis { label: "models".into(), scale: Scale::Whole, percent: false },
                y: Axis { label: "time a step, µs".into(), scale: Scale::Log { floor: 1e-3 }, percent: false },
                series,
                marks: Vec::new(),
            },
            caption: "Dots without a line are the paper's; lines are ours, blended as printed.".into(),
        }],
        findings: vec![finding],
    })
}
