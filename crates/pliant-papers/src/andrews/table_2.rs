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

/// What the paper prints for these, µs.
const PRINTED: [(&str, [f64; 3]); 3] =
    [("helix:200", [78.0, 96.0, 160.0]), ("ladder:36", [37.0, 82.0, 99.0]), ("arm", [26.0, 47.0, 86.0])];

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
        (
            "blended_twist_us",
            "links by twists",
            Options { links: Links::Twist, branches: false, ..Options::default() },
        ),
        ("blended_joint_us", "links by joints", Options::default()),
    ];
    let mut rows = Vec::new();
    let (mut series, mut spans) = (Vec::new(), Vec::new());
    for ((name, printed), class) in PRINTED.into_iter().zip(["full", "joint", "motions"]) {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let mut line = Vec::new();
        for (models, us) in MODELS.into_iter().zip(printed) {
            let mut row = vec![Cell::Word(name.into()), Cell::Number(models as f64), Cell::Time(us)];
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
    let mut columns =
        vec![ours("mechanism", "mechanism"), ours("models", "models"), paper("paper_us", "paper")];
    columns.extend(ways.iter().map(|(key, title, _)| ours(key, title)));
    let finding = eigenvectors::finding()?;
    effort.tick();
    Ok(Section {
        id: "andrews-table-2",
        title: "Andrews 2015, Table 2: the time of a step with several models",
        about: "Models at rest and at loaded equilibria, blended in every step, all links placed. Links by twists are what the \
                paper does; by joints nothing comes apart."
            .into(),
        tables: vec![Table {
            id: "andrews-table-2",
            title: "Time of a step".into(),
            columns,
            rows,
            caption: "The paper's first row of the arm has 26 µs, its Table 1 has 24 for the same model.".into(),
        }],
        figures: vec![Figure {
            title: "Time against the number of models".into(),
            plot: Plot {
                id: "andrews-table-2-models",
                title: "Time of a step against the number of models".into(),
                description: "The paper's times as dots, those of this machine, links by twists, as lines.".into(),
                x: Axis { label: "models".into(), scale: Scale::Whole, percent: false },
                y: Axis { label: "time a step, µs".into(), scale: Scale::Log { floor: 1e-3 }, percent: false },
                series,
                marks: Vec::new(),
            },
            caption: "Dots without a line are the paper's; lines are the blend alone with links by twists.".into(),
        }],
        findings: vec![finding],
    })
}
