//! Hernandez, Garre, Casillas, Otaduy 2011: Figure 4, the time of a step of hanging chains against the number of links, and the hand.

mod ball_spring;
mod held_forces;

use pliant::engines::articulated_model;
use pliant::gallery;
use pliant::mechanism::Mechanism;

use crate::Effort;
use crate::section::{Cell, Figure, Section, Table, ours, paper};
use pliant_cli::bench;
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Scale, Series};
use pliant_cli::page::text::significant;

/// What the paper shows, links and µs, one core at 2.4 GHz.
const PRINTED: [(usize, f64); 2] = [(1_000, 22_000.0), (10_000, 285_000.0)];

/// Of the hand of 16 bones, µs.
const HAND: f64 = 360.0;

/// Links of the chains.
const LINKS: [usize; 7] = [10, 30, 100, 300, 1_000, 3_000, 10_000];

/// Measures it.
pub fn section(effort: &mut Effort) -> Result<Section, Failure> {
    let mut rows = Vec::new();
    let (mut full_line, mut articulated_line, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    for links in LINKS {
        if effort.quick && !matches!(links, 10 | 100 | 1_000 | 10_000) {
            continue;
        }
        let name = format!("chain:{links}");
        let (full, articulated) = both(&hanging(&name)?, effort)?;
        let x = links as f64;
        full_line.push([x, full[0]]);
        articulated_line.push([x, articulated[0]]);
        spans.extend([&full, &articulated].iter().flat_map(|s| [[x, s[1]], [x, s[2]]]));
        let printed = PRINTED.iter().find(|(n, _)| *n == links).map(|(_, us)| *us);
        rows.push(row(&name, printed, &full, &articulated));
    }
    let (full, articulated) = both(&gallery::build("hand").map_err(Failure::job)?, effort)?;
    rows.push(row("hand", Some(HAND), &full, &articulated));

    let far: Vec<[f64; 2]> = full_line.iter().copied().filter(|p| p[0] >= 100.0).collect();
    let printed: Vec<[f64; 2]> = PRINTED.iter().map(|(n, us)| [*n as f64, *us]).collect();
    let [ours_slope, paper_slope] = [slope(&far), slope(&printed)];
    let series = |name: &str, class, points, mark| Series { name: name.into(), class, points, mark };
    let plot = Plot {
        id: "hernandez-figure-4",
        title: "Time of a step against the number of links, hanging chains".into(),
        description: format!(
            "On log axes the slope from 100 links up is {}, the paper's {}.",
            significant(ours_slope, 3),
            significant(paper_slope, 3)
        ),
        x: Axis { label: "links".into(), scale: Scale::Log { floor: 1.0 }, percent: false },
        y: Axis { label: "time a step, µs".into(), scale: Scale::Log { floor: 1e-3 }, percent: false },
        series: vec![
            series("paper", "paper", printed, Mark::Dots),
            series("full", "full", full_line, Mark::LineAndDots),
            series("articulated", "articulated", articulated_line, Mark::LineAndDots),
            series("p10 to p90", "paper", spans, Mark::Spans),
        ],
        marks: Vec::new(),
    };
    let (spring, of_spring) = ball_spring::figure()?;
    let (held, of_held) = held_forces::figure(effort.quick)?;
    effort.tick();
    Ok(Section {
        id: "hernandez-figure-4",
        title: "Hernandez 2011, Figure 4 and the hand: linear time",
        about: "Hanging chains of hinge links with stiff springs, all links simulated, one Newton iteration a step, as in the paper; and a hand of \
                16 bones (Figures 1 and 5). Articulated is the same in joint coordinates. The paper's springs and the measures of its hand are not known here."
            .into(),
        tables: vec![Table {
            id: "hernandez-figure-4",
            title: "Time of a step".into(),
            columns: vec![
                ours("mechanism", "mechanism"),
                paper("paper_us", "paper"),
                ours("full_us", "full"),
                ours("articulated_us", "articulated"),
                ours("ratio", "paper over full"),
            ],
            rows,
            caption: format!(
                "On log axes time grows with slope {} from 100 to 10,000 links (full; 1 is linear), in the paper with {} from 1,000 to 10,000.",
                significant(ours_slope, 3),
                significant(paper_slope, 3)
            ),
        }],
        drawings: Vec::new(),
        figures: vec![
            Figure {
                title: "Time against the number of links".into(),
                plot,
                caption: "Dots without a line are the paper's: 22 and 285 ms.".into(),
            },
            spring,
            held,
        ],
        findings: vec![of_spring, of_held],
    })
}

/// A chain of the gallery with weight along its links, so that it hangs.
fn hanging(name: &str) -> Result<Mechanism, Failure> {
    let mut builder = gallery::build(name).map_err(Failure::job)?.to_builder();
    builder.gravity([9.81, 0.0, 0.0]);
    builder.build().map_err(Failure::job)
}

/// Steps of both engines.
fn both(mechanism: &Mechanism, effort: &mut Effort) -> Result<([f64; 5], [f64; 5]), Failure> {
    let failed = |error| Failure::job(format!("{}: {error}", mechanism.name()));
    let full = bench::steps(bench::full(mechanism), &effort.pace).map_err(failed)?;
    effort.tick();
    let articulated = articulated_model(mechanism).map_err(Failure::job)?.simulate();
    let articulated = bench::steps(articulated, &effort.pace).map_err(failed)?;
    effort.tick();
    Ok((full, articulated))
}

fn row(name: &str, printed: Option<f64>, full: &[f64; 5], articulated: &[f64; 5]) -> Vec<Cell> {
    vec![
        Cell::Word(name.into()),
        Cell::of_paper(printed),
        Cell::step(full),
        Cell::step(articulated),
        printed.map_or(Cell::Nothing, |us| Cell::Times(us / full[0])),
    ]
}

/// The slope of the line of least squares through the logarithms.
fn slope(points: &[[f64; 2]]) -> f64 {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::ln)).collect();
    let n = logs.len() as f64;
    let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let top: f64 = logs.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    top / logs.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points: Vec<[f64; 2]> =
            [1.0, 3.0, 10.0, 40.0f64].iter().map(|x| [*x, 7.0 * x.powf(1.3)]).collect();
        assert!((slope(&points) - 1.3).abs() < 1e-12);
    }
}
