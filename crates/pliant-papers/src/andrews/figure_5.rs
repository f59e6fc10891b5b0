//! Andrews 2015, Figure 5: helix, spring ladder and Y at rest under 100 N, by one linear model and in full. Next to the drawings
//! stands what is needed to judge one linear model: its error at rest over growing displacements, and its motion, with the
//! paper's mass and with ours.

use pliant::engine::{Simulation, State};
use pliant::full;
use pliant::gallery;
use pliant::linear::{Linearisation, Reconstruction};

use super::accelerability::{self, Mass};
use super::{free_base, mass};
use crate::Effort;
use crate::section::{Figure, Section, Sketch};
use crate::sketch::{Loads, Posed, draw};
use crate::statics::{apart, error_of, error_of_linear, load, settle, settled, size_for};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::percent;

/// The mechanism that moves, how far at rest (in radii), for how many of its lowest periods, and steps in each.
const MOVING: &str = "helix:50";
const DISPLACEMENT: f64 = 0.05;
const PERIODS: f64 = 3.0;
const STEPS: f64 = 200.0;

/// What the paper draws, by the gallery's names, and the names of our drawings.
const DRAWN: [(&str, &str); 3] = [
    ("helix:50", "andrews-figure-5-helix"),
    ("rungs:18", "andrews-figure-5-ladder"),
    ("y", "andrews-figure-5-y"),
];

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let drawings = DRAWN.into_iter().map(|(name, id)| drawn(name, id)).collect::<Result<Vec<_>, _>>()?;
    effort.tick();
    let at_rest = at_rest(effort)?;
    let motion = motion(effort)?;
    let (table, of_mass) = mass::table(effort)?;
    let of_base = free_base::finding()?;
    effort.tick();
    Ok(Section {
        id: "andrews-figure-5",
        title: "Andrews 2015, Figure 5: one linear model at rest and in motion",
        about: "The paper draws a helix, a spring ladder and a Y at rest, by one model and in full (Vortex), under 100 N at an effector, every joint with a \
                compliance of 0.001 rad/(N·m); it states neither the number of links nor the directions, so ours are those of the gallery. Below the drawings: how far \
                the effector is off at rest as the displacement grows, and how it moves after a load is put on at once, with the paper's mass and with the condensed one."
            .into(),
        tables: vec![table],
        drawings,
        figures: vec![at_rest, motion],
        findings: vec![of_mass, of_base],
    })
}

/// A mechanism at rest, by one model, links by twists as in the paper, and in full.
fn drawn(name: &str, id: &'static str) -> Result<Sketch, Failure> {
    let mechanism = gallery::build(name).map_err(Failure::job)?;
    let rest = State::at_rest(&mechanism);
    let truth = settled(&full::Model::new(&mechanism), 1.0)
        .ok_or_else(|| Failure::job(format!("{name}: the full statics do not converge")))?;
    let mut simulation = Linearisation::at_rest(&mechanism).build().map_err(Failure::job)?.simulate();
    simulation.set_reconstruction(Reconstruction::Twist);
    if !settle(&mut simulation, 1.0) {
        return Err(Failure::job(format!("{name}: one model comes to no rest")));
    }
    let off = error_of(&simulation, &truth);
    let one = simulation.state().poses.clone();
    let posed = [
        Posed { name: "rest", class: "rest", poses: &rest.poses },
        Posed { name: "full", class: "full", poses: &truth.poses },
        Posed { name: "one model", class: "twist", poses: &one },
    ];
    let caption = format!(
        "The effector moves by {} of the radius; one model puts it {} of the radius from there, and all gaps in its joints together are {}.",
        percent(apart(&mechanism, &truth, &rest)),
        percent(off),
        percent(simulation.violation())
    );
    Ok(draw(&mechanism, id, (name.into(), caption), &posed, Loads::Scene { times: 1.0, on: 1 }))
}

/// Error of one model at rest.
fn at_rest(effort: &mut Effort) -> Result<Figure, Failure> {
    let mut series = Vec::new();
    let points = if effort.quick { 8 } else { 20 };
    for (name, class) in [("y", "full"), ("rungs:18", "joint"), ("helix:50", "reduced")] {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let truth = full::Model::new(&mechanism);
        let model = Linearisation::at_rest(&mechanism).build().map_err(Failure::job)?;
        let start = State::at_rest(&mechanism);
        let largest = size_for(&truth, 1.0);
        let mut line = Vec::new();
        for k in 0..points {
            // From a fiftieth of the largest load up, evenly on a logarithmic axis.
            let size = largest * 0.02f64.powf(1.0 - f64::from(k) / f64::from(points - 1));
            let Some(state) = settled(&truth, size) else { continue };
            // Far out a linear model may come to no rest.
            let Some(off) = error_of_linear(&model, size, &state) else { continue };
            line.push([apart(&mechanism, &state, &start), off]);
        }
        effort.tick();
        series.push(Series { name: name.into(), class, points: line, mark: Mark::LineAndDots });
    }
    let over = |label: &str| Axis { label: label.into(), scale: Scale::Log { floor: 1e-7 }, percent: true };
    Ok(Figure {
        title: "One model at rest".into(),
        plot: Plot {
            id: "andrews-one-model-at-rest",
            title: "Error of the effector against displacement, one linear model".into(),
            description: "The error grows at least as the square of the displacement.".into(),
            x: over("displacement of the effector over radius"),
            y: over("error of the effector over radius"),
            series,
            marks: Vec::new(),
        },
        caption: "Under the scene's load, from a fiftieth of what moves the effector by one radius up to that, against the full statics; a line ends where the model comes to no \
                  rest."
            .into(),
    })
}

/// Motion after a load is put on at once.
fn motion(effort: &mut Effort) -> Result<Figure, Failure> {
    let mechanism = gallery::build(MOVING).map_err(Failure::job)?;
    let full_model = full::Model::new(&mechanism);
    let size = size_for(&full_model, DISPLACEMENT);
    let rest = Linearisation::at_rest(&mechanism);
    let condensed = rest.clone().build().map_err(Failure::job)?;
    let modes = rest.clone().modes(4).build().map_err(Failure::job)?;
    let paper = accelerability::model(&mechanism, Mass::Accelerability)?;
    let lowest = condensed.full_frequencies(1).map_err(Failure::job)?[0];
    let dt = std::f64::consts::TAU / lowest / STEPS;
    let steps = (PERIODS * STEPS) as usize;
    let tip =
        mechanism.effector_ids().next().ok_or_else(|| Failure::job(format!("{MOVING}: no effector")))?;
    let at =
        |state: &State| state.effector_pose(&mechanism, tip).map(|pose| pose.position).map_err(Failure::job);
    let start = at(&State::at_rest(&mechanism))?;
    let end = settled(&full_model, size)
        .ok_or_else(|| Failure::job(format!("{MOVING}: the full statics do not converge")))?;
    let along = (at(&end)? - start).normalize();

    let mut full = full_model.simulate();
    let mut linear = [&paper, &condensed, &modes].map(|model| model.simulate());
    load(&mut full, size);
    linear.iter_mut().for_each(|simulation| load(simulation, size));
    let mut lines: [Vec<[f64; 2]>; 4] = Default::default();
    for step in 0..=steps {
        if step > 0 {
            full.step(dt).map_err(Failure::job)?;
            for simulation in &mut linear {
                simulation.step_effectors(dt).map_err(Failure::job)?;
            }
        }
        let poses = [full.effector_pose(tip)].into_iter().chain(linear.iter().map(|s| s.effector_pose(tip)));
        for (line, pose) in lines.iter_mut().zip(poses) {
            let moved = pose.map_err(Failure::job)?.position - start;
            line.push([step as f64 * dt, moved.dot(&along)]);
        }
    }
    effort.tick();
    let names = [
        ("full", "full wide"),
        ("linear, paper's mass", "paper dotted"),
        ("linear, condensed", "joint dashed"),
        ("linear, condensed, 4 modes", "corrected dotted"),
    ];
    let series = names.into_iter().zip(lines).map(|((name, class), points)| Series {
        name: name.into(),
        class,
        points,
        mark: Mark::Line,
    });
    Ok(Figure {
        title: format!("One model in motion, {MOVING}"),
        plot: Plot {
            id: "andrews-one-model-in-motion",
            title: format!("Displacement of the tip of {MOVING} over time"),
            description: "The full simulation and linear models with three choices of mass.".into(),
            x: Axis { label: "time, s".into(), scale: Scale::Linear, percent: false },
            y: Axis { label: "displacement of the tip, m".into(), scale: Scale::Linear, percent: false },
            series: series.collect(),
            marks: Vec::new(),
        },
        caption: format!(
            "After a load is put on at once that moves the tip by {} of the radius at rest. With the paper's mass the tip is there at once: it \
             weighs next to nothing.",
            percent(DISPLACEMENT)
        ),
    })
}
