//! Si, Guenter 2010, Table 1: forward dynamics of chains of hinges, of rings that roll on each other, and of a windmill.

use pliant::articulated;
use pliant::engine::{Inputs, State};
use pliant::gallery;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::{DVector, Vector3};
use pliant::spatial::{Pose, Twist, Wrench};

use crate::Effort;
use crate::section::{Cell, Figure, Finding, Section, Table, ours, paper};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::significant;

/// A row of the paper: its name, ours, and µs on a Core 2 at 2.67 GHz of its Method I, Featherstone's, SD/FAST and its Method II.
struct Printed {
    paper: &'static str,
    name: &'static str,
    us: [Option<f64>; 4],
}

const PRINTED: [Printed; 6] = [
    Printed { paper: "RC20", name: "chain:20", us: [Some(20.0), Some(25.0), Some(16.0), Some(1000.0)] },
    Printed { paper: "RC50", name: "chain:50", us: [Some(50.0), Some(64.0), Some(136.0), Some(2400.0)] },
    Printed { paper: "RC100", name: "chain:100", us: [Some(112.0), Some(127.0), None, Some(4900.0)] },
    Printed { paper: "TC10", name: "torus-chain:10", us: [Some(55.0), None, None, Some(1050.0)] },
    Printed { paper: "TC20", name: "torus-chain:20", us: [Some(115.0), None, None, Some(2200.0)] },
    Printed { paper: "WM", name: "windmill", us: [Some(108.0), None, None, Some(2400.0)] },
];

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let mut rows = Vec::new();
    let mut points: [Vec<[f64; 2]>; 6] = Default::default();
    let mut spans = Vec::new();
    let mut worst = 0.0f64;
    for Printed { paper: printed, name, us: all } in PRINTED {
        let us = all[0].expect("its own method is timed on all");
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let model = articulated::Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let inputs = Inputs::new(&mechanism);
        let forces = vec![0.1; model.speeds()];
        let mut accelerations = vec![0.0; model.speeds()];
        let timings = effort
            .pace
            .time(|| dynamics.accelerations(&inputs, &forces, &mut accelerations))
            .map_err(Failure::job)?;
        let [p10, median, p90] = timings.percentiles([0.1, 0.5, 0.9]).expect("some steps");
        effort.tick();
        let off = check(&mechanism, &model)?;
        worst = worst.max(off);
        let freedoms = model.speeds() as f64;
        let kind = if name.starts_with("chain") {
            0
        } else if name.starts_with("torus") {
            1
        } else {
            2
        };
        points[2 * kind].push([freedoms, us]);
        points[2 * kind + 1].push([freedoms, median]);
        spans.extend([[freedoms, p10], [freedoms, p90]]);
        rows.push(vec![
            Cell::Word(printed.into()),
            Cell::Word(name.into()),
            Cell::Number(freedoms),
            Cell::of_paper(all[0]),
            Cell::of_paper(all[1]),
            Cell::of_paper(all[2]),
            Cell::of_paper(all[3]),
            Cell::Spread([median, p10, p90]),
            Cell::Times(us / median),
            Cell::Number(off),
        ]);
        effort.tick();
    }
    let named = [
        ("hinge chains (paper)", "full", Mark::Dots),
        ("hinge chains", "full", Mark::LineAndDots),
        ("torus chains (paper)", "joint", Mark::Dots),
        ("torus chains", "joint", Mark::LineAndDots),
        ("windmill (paper)", "reduced", Mark::Dots),
        ("windmill", "reduced", Mark::LineAndDots),
    ];
    let mut series: Vec<Series> = (named.into_iter().zip(points))
        .map(|((name, class, mark), points)| Series { name: name.into(), class, points, mark })
        .collect();
    series.push(Series { name: "p10 to p90".into(), class: "paper", points: spans, mark: Mark::Spans });
    Ok(Section {
        id: "si-table-1",
        title: "Si 2010, Table 1: forward dynamics with general joints",
        about: "From coordinates and rates to accelerations, in joint coordinates: hinge chains (RC), rings that roll on each other (TC, four freedoms a joint), \
                and a windmill (WM) of spheres, ellipsoids and tori. The joints of the last three are formulas, compiled before their first use. The freedoms are those of \
                the paper; the measures of its windmill are not stated."
            .into(),
        tables: vec![Table {
            id: "si-table-1",
            title: "Time of forward dynamics".into(),
            columns: vec![
                ours("paper_name", "paper's name"),
                ours("mechanism", "mechanism"),
                ours("freedoms", "freedoms"),
                paper("paper_us", "Method I"),
                paper("paper_featherstone_us", "Featherstone"),
                paper("paper_sd_fast_us", "SD/FAST"),
                paper("paper_method_2_us", "Method II"),
                ours("forward_dynamics_us", "articulated"),
                ours("ratio", "Method I over ours"),
                ours("off", "off from M⁻¹"),
            ],
            rows,
            caption: "The last column is the largest difference from a dense solve with the mass matrix and inverse dynamics, which share no pass with it, \
                      over the largest acceleration, at coordinates and rates that are all different."
                .into(),
        }],
        drawings: Vec::new(),
        figures: vec![Figure {
            title: "Time against freedoms".into(),
            plot: Plot {
                id: "si-table-1-freedoms",
                title: "Time of forward dynamics against the number of freedoms".into(),
                description: "The paper's times as dots without a line, ours joined.".into(),
                x: Axis { label: "freedoms".into(), scale: Scale::Linear, percent: false },
                y: Axis {
                    label: "time of forward dynamics, µs".into(),
                    scale: Scale::Log { floor: 1e-3 },
                    percent: false,
                },
                series,
                marks: Vec::new(),
            },
            caption: "Dots without a line are the paper's Method I.".into(),
        }],
        findings: vec![wrong_adjoint(worst)?],
    })
}

/// How far forward dynamics are from a dense solve, M q̈ = τ − bias, over the largest acceleration.
fn check(mechanism: &Mechanism, model: &articulated::Model) -> Result<f64, Failure> {
    let mut dynamics = model.dynamics();
    let inputs = Inputs::new(mechanism);
    let mut state = State::at_rest(mechanism);
    // Coordinates and rates that are all different, and small enough for every formula.
    let wave = |k: usize, turn: f64| (turn * (k + 1) as f64).sin();
    state.coordinates.iter_mut().enumerate().for_each(|(k, q)| *q += 0.05 * wave(k, 1.3));
    state.rates.iter_mut().enumerate().for_each(|(k, r)| *r = 0.5 * wave(k, 2.1));
    dynamics.set_state(&state, Twist::ZERO).map_err(Failure::job)?;
    let n = model.speeds();
    let forces: Vec<f64> = (0..n).map(|k| 0.1 * wave(k, 0.7)).collect();
    let mut accelerations = vec![0.0; n];
    dynamics.accelerations(&inputs, &forces, &mut accelerations).map_err(Failure::job)?;
    let mut bias = vec![0.0; n];
    dynamics.forces(&inputs, &vec![0.0; n], &mut bias);
    let right = DVector::from_vec(forces) - DVector::from_vec(bias);
    let solved = dynamics
        .mass_matrix()
        .cholesky()
        .ok_or_else(|| Failure::job(format!("{}: no mass matrix", mechanism.name())))?
        .solve(&right);
    Ok((DVector::from_vec(accelerations) - &solved).amax() / solved.amax())
}

/// What the printed adjoint does to a force on its way to the base.
fn wrong_adjoint(worst: f64) -> Result<Finding, Failure> {
    let mechanism = gallery::build("torus-chain:10").map_err(Failure::job)?;
    let tip = &mechanism.effectors()[0];
    let at: Pose = mechanism[tip.body].pose * tip.frame;
    let down = Wrench::new(Vector3::new(0.0, 0.0, -1.0), Vector3::zeros());
    let right = at.wrench_to_outer(&down).torque.norm();
    // Ad moves twists; a wrench taken for one has its torque for angular velocity and its force for linear.
    let taken = at.twist_to_outer(&Twist::new(down.force, down.torque));
    let wrong = taken.angular.norm();
    Ok(Finding {
        place: "[S] eqs 21, 30–32, 37, 42, 49",
        claim: "Eq. 30 has Ad where Ad* belongs, which moves forces as if they were motions; 31 and 32 have v̄ for τ̄, 21 the index i for k, 37 and 42 \
                Ṡq̇ for S q̈, 49 q̇ for q̈. As printed they are not the equations of motion."
            .into(),
        shown: format!(
            "1 N down at the tip of torus-chain:10 is a torque of {} N·m at its base; moved by Ad it is {}. With all corrected, forward dynamics equal a dense \
             solve to {}.",
            significant(right, 3),
            significant(wrong, 3),
            significant(worst * 1.05, 1)
        ),
        number: worst,
        meaning: "largest difference of corrected forward dynamics from a dense solve, over the largest acceleration",
    })
}
