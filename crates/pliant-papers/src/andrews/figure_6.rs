//! Andrews 2015, Figure 6: ladder, helix and loop structure at an equilibrium that is no sample, by one model, by two models
//! blended and in full.

use pliant::blended::{Model, Options};
use pliant::engine::{Simulation, State};
use pliant::full;
use pliant::gallery;

use crate::Effort;
use crate::section::{Cell, Section, Sketch, Table, ours};
use crate::sketch::{Loads, Posed, draw};
use crate::statics::{apart, error_of, loads, settle, settled, size_for};
use pliant_cli::failure::Failure;
use pliant_cli::page::text::percent;

/// Mechanisms of the gallery, and the names of their drawings.
const DRAWN: [(&str, &str); 3] = [
    ("rungs:18", "andrews-figure-6-ladder"),
    ("helix:50", "andrews-figure-6-helix"),
    ("loop", "andrews-figure-6-loop"),
];

/// How far the effector has moved where the second model is made, and in the drawing, in radii.
const SAMPLED: f64 = 0.8;
const SHOWN: f64 = 0.55;

/// Draws and measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let (mut drawings, mut rows) = (Vec::new(), Vec::new());
    for (name, id) in DRAWN {
        let (drawing, row) = one(name, id)?;
        drawings.push(drawing);
        rows.push(row);
        effort.tick();
    }
    Ok(Section {
        id: "andrews-figure-6",
        title: "Andrews 2015, Figure 6: two models, blended",
        about: format!(
            "A ladder, a helix and a structure of loops under the scene's load where it moves the effector by {}: at rest, by one model at rest, by two models \
             blended (the second made where the effector has moved by {}), and in full. The paper draws the same and states no magnitudes. Links are placed by twists. \
             As printed: weights 1/d², Algorithm 3. Ours: weights 1/d⁴, compliances blended as they are.",
            percent(SHOWN),
            percent(SAMPLED)
        ),
        tables: vec![Table {
            id: "andrews-figure-6",
            title: "Error of the effector, and gaps in the joints, over the radius".into(),
            columns: vec![
                ours("mechanism", "mechanism"),
                ours("moved", "moved"),
                ours("error_one", "one model off by"),
                ours("error_printed", "two, as printed"),
                ours("error_ours", "two, ours"),
                ours("gaps_one", "gaps, one model"),
                ours("gaps_printed", "two, as printed"),
                ours("gaps_ours", "two, ours"),
            ],
            rows,
            caption: "– where a blend comes to no rest.".into(),
        }],
        drawings,
        figures: Vec::new(),
        findings: Vec::new(),
    })
}

/// A blend at rest: where its links are, the error of its effector, and its gaps.
struct Rest {
    state: State,
    error: f64,
    gaps: f64,
}

fn one(name: &str, id: &'static str) -> Result<(Sketch, Vec<Cell>), Failure> {
    let mechanism = gallery::build(name).map_err(Failure::job)?;
    let model = full::Model::new(&mechanism);
    let rest = State::at_rest(&mechanism);
    let [sampled, shown] = [SAMPLED, SHOWN].map(|d| size_for(&model, d));
    let truth = settled(&model, shown)
        .ok_or_else(|| Failure::job(format!("{name}: the full statics do not converge")))?;
    let blend = |options: Options, second: bool| -> Result<Option<Rest>, Failure> {
        let mut model = Model::new(&mechanism, options).map_err(Failure::job)?;
        if second {
            model.add(&loads(&mechanism, sampled)).map_err(Failure::job)?;
        }
        Ok(at_rest(model, shown, &truth))
    };
    let single = blend(Options::printed(), false)?;
    let printed = blend(Options::printed(), true)?;
    let own = blend(super::ours(), true)?;
    let mut posed = vec![
        Posed { name: "rest", class: "rest", poses: &rest.poses },
        Posed { name: "full", class: "full", poses: &truth.poses },
    ];
    for (found, name, class) in [
        (&single, "one model", "twist"),
        (&printed, "two, as printed", "joint"),
        (&own, "two, ours", "blended dashed"),
    ] {
        posed.extend(found.as_ref().map(|found| Posed { name, class, poses: &found.state.poses }));
    }
    let caption = format!("Under {} times the scene's load.", pliant_cli::page::text::significant(shown, 3));
    let drawing = draw(&mechanism, id, (name.into(), caption), &posed, Loads::Scene { times: shown, on: 1 });
    let cell = |found: &Option<Rest>, of: fn(&Rest) -> f64| {
        found.as_ref().map_or(Cell::Nothing, |found| Cell::Ratio(of(found)))
    };
    let mut row = vec![Cell::Word(name.into()), Cell::Ratio(apart(&mechanism, &truth, &rest))];
    row.extend([&single, &printed, &own].map(|found| cell(found, |f| f.error)));
    row.extend([&single, &printed, &own].map(|found| cell(found, |f| f.gaps)));
    Ok((drawing, row))
}

/// Where a blend comes to rest, if it does.
fn at_rest(model: Model, size: f64, truth: &State) -> Option<Rest> {
    let mut simulation = model.simulate();
    settle(&mut simulation, size).then(|| Rest {
        error: error_of(&simulation, truth),
        gaps: simulation.violation(),
        state: simulation.state().clone(),
    })
}
