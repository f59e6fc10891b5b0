//! Andrews 2015, Table 1: the time of a step, full and linear, of helices, ladders and the arm.

use pliant::engine::StepError;
use pliant::engines::articulated_model;
use pliant::full;
use pliant::gallery;
use pliant::linear::{Linearisation, Model, Reconstruction};

use super::merge;
use crate::Effort;
use crate::section::{Cell, Figure, Section, Table, ours, paper};
use crate::statics::{apart, error_of_linear, settled};
use pliant_cli::bench;
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::significant;
use pliant_cli::timing::Pace;

/// A row of the paper, µs on an i7 at 2.8 GHz with four cores: mechanism, Vortex, FORK-1S on 1, 4 and 8 threads, and its speed-up.
struct Printed {
    name: &'static str,
    vortex: f64,
    fork: [f64; 3],
    speed_up: f64,
}

const PRINTED: [Printed; 5] = [
    Printed { name: "helix:50", vortex: 240.0, fork: [20.0, 12.0, 15.0], speed_up: 20.0 },
    Printed { name: "helix:100", vortex: 470.0, fork: [32.0, 16.0, 21.0], speed_up: 29.4 },
    Printed { name: "helix:400", vortex: 2150.0, fork: [112.0, 84.0, 76.0], speed_up: 28.3 },
    Printed { name: "ladder:48", vortex: 334.0, fork: [22.0, 14.0, 18.0], speed_up: 23.9 },
    Printed { name: "arm", vortex: 121.0, fork: [24.0, 18.0, 21.0], speed_up: 6.7 },
];

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let mut rows = Vec::new();
    let mut lines: [Vec<[f64; 2]>; 5] = Default::default();
    let mut spans = Vec::new();
    let mut ratios = Vec::new();
    for Printed { name, vortex, fork, speed_up } in PRINTED {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let failed = |error| Failure::job(format!("{name}: {error}"));
        let full = bench::steps(bench::full(&mechanism), &effort.pace).map_err(failed)?;
        effort.tick();
        let articulated = articulated_model(&mechanism).ok().map(|model| model.simulate());
        let articulated = articulated.map(|simulation| bench::steps(simulation, &effort.pace));
        let articulated = articulated.transpose().map_err(failed)?;
        effort.tick();
        let model = Linearisation::at_rest(&mechanism).build().map_err(Failure::job)?;
        let linear = bench::linear(&model, &effort.pace).map_err(failed)?;
        effort.tick();
        let threaded = two_threads(&model, &effort.pace).map_err(failed)?;
        effort.tick();
        let of = |name| linear.iter().find(|f| f.reconstruction == Some(name)).map(|f| f.step);
        let (Some(twist), Some(joint)) = (of("twist"), of("joint")) else {
            return Err(Failure::job(format!("{name}: a reconstruction was not timed")));
        };
        // The static answer next to the time: a fast wrong answer is no result.
        let truth = settled(&full::Model::new(&mechanism), 1.0)
            .ok_or_else(|| Failure::job(format!("{name}: the full statics do not converge")))?;
        let start = pliant::engine::State::at_rest(&mechanism);
        let off = error_of_linear(&model, 1.0, &truth);
        effort.tick();
        ratios.push([speed_up, full[0] / twist[0].min(threaded[0]), vortex / full[0]]);
        rows.push(vec![
            Cell::Word(name.into()),
            Cell::Time(vortex),
            Cell::Time(fork[0]),
            Cell::Time(fork[1]),
            Cell::Time(fork[2]),
            Cell::Times(speed_up),
            Cell::step(&full),
            articulated.as_ref().map_or(Cell::Nothing, Cell::step),
            Cell::step(&twist),
            Cell::step(&threaded),
            Cell::step(&joint),
            Cell::Times(full[0] / twist[0].min(threaded[0])),
            Cell::Ratio(apart(&mechanism, &truth, &start)),
            off.map_or(Cell::Nothing, Cell::Ratio),
        ]);
        if name.starts_with("helix") {
            let links = mechanism.bodies().len() as f64;
            for (line, us) in lines.iter_mut().zip([vortex, fork[0], full[0], twist[0], joint[0]]) {
                line.push([links, us]);
            }
            spans.extend([&full, &twist, &joint].iter().flat_map(|s| [[links, s[1]], [links, s[2]]]));
        }
    }
    let names = [
        ("Vortex, full (paper)", "full", Mark::Dots),
        ("FORK-1S, 1 thread (paper)", "twist", Mark::Dots),
        ("full", "full", Mark::LineAndDots),
        ("linear, by twists as the paper does", "twist", Mark::LineAndDots),
        ("linear, by joints", "joint", Mark::LineAndDots),
    ];
    let mut series: Vec<Series> = (names.into_iter().zip(lines))
        .map(|((name, class, mark), points)| Series { name: name.into(), class, points, mark })
        .collect();
    series.push(Series { name: "p10 to p90".into(), class: "paper", points: spans, mark: Mark::Spans });
    let range = |k: usize| {
        let least = ratios.iter().map(|r| r[k]).fold(f64::INFINITY, f64::min);
        let most = ratios.iter().map(|r| r[k]).fold(0.0, f64::max);
        [least, most].map(|x| significant(x, 2)).join(" to ")
    };
    let plot = Plot {
        id: "andrews-table-1-helices",
        title: "Time of a step of helices of 50 to 400 links".into(),
        description: "The paper's full and linear times as dots, those of this machine as lines.".into(),
        x: Axis { label: "links".into(), scale: Scale::Log { floor: 1.0 }, percent: false },
        y: Axis { label: "time a step, µs".into(), scale: Scale::Log { floor: 1e-3 }, percent: false },
        series,
        marks: Vec::new(),
    };
    let findings = merge::findings()?;
    effort.tick();
    Ok(Section {
        id: "andrews-table-1",
        title: "Andrews 2015, Table 1: the time of a step, full and linear",
        about: "Each mechanism in full and reduced to its effectors, with all links placed. The full simulation of the paper is the commercial \
                engine Vortex; ours takes one Newton iteration in maximal coordinates, or goes in joint coordinates (articulated). By twists is the \
                paper's own way to place the links; by joints nothing comes apart. The paper gives sizes, not measures: our geometry is that of the \
                gallery."
            .into(),
        tables: vec![Table {
            id: "andrews-table-1",
            title: "Time of a step".into(),
            columns: vec![
                ours("mechanism", "mechanism"),
                paper("paper_full_us", "Vortex"),
                paper("paper_reduced_us", "FORK‑1S, 1 thread"),
                paper("paper_reduced_4_threads_us", "4 threads"),
                paper("paper_reduced_8_threads_us", "8 threads"),
                paper("paper_ratio", "speed-up, best"),
                ours("full_us", "full"),
                ours("articulated_us", "articulated"),
                ours("linear_twist_us", "linear, twists, 1 thread"),
                ours("linear_twist_2_threads_us", "2 threads"),
                ours("linear_joint_us", "linear, joints"),
                ours("ratio", "full over twists, best"),
                ours("moved", "moved at rest"),
                ours("off", "one model off by"),
            ],
            rows,
            caption: format!(
                "The paper's linear step is {} times as fast as its full one with the best number of threads, ours {} times, and our full one {} times as fast as the paper's, on \
                 another machine. Links are placed by several threads from 16,000 on: on these mechanisms a second thread has nothing to do. The last two columns are at rest under the scene's load, over the radius: how far the effector moves in full, and how \
                 far the linear model puts it from there, – where it comes to no rest.",
                range(0),
                range(1),
                range(2)
            ),
        }],
        drawings: Vec::new(),
        figures: vec![Figure {
            title: "Helices of 50 to 400 links".into(),
            plot,
            caption: "Dots without a line are the paper's.".into(),
        }],
        findings,
    })
}

/// Steps with links by twists on two threads.
fn two_threads(model: &Model, pace: &Pace) -> Result<[f64; 5], StepError> {
    let mut simulation = model.simulate();
    simulation.set_reconstruction(Reconstruction::Twist);
    simulation.set_threads(2);
    bench::steps(simulation, pace)
}
