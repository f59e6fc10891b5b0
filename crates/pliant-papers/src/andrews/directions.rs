//! Andrews 2015, Figure 7 itself: an effector of a Y and of a ladder pulled in six directions of their plane, with growing force.
//! What opens in the joints with one model, and with three blended as printed and as we do.

use pliant::blended::{Model, Options};
use pliant::engine::{Simulation, State};
use pliant::full;
use pliant::gallery;
use pliant::mechanism::Mechanism;
use pliant::spatial::{Wrench, log};

use super::figure_7::PRINTED;
use crate::Effort;
use crate::section::{Figure, Finding};
use crate::statics::{settle_under, settled_under};
use pliant_cli::failure::Failure;
use pliant_cli::page::plot::{Axis, Mark, Plot, Series};
use pliant_cli::page::text::percent;

/// Mechanisms, and the names of their plots.
const MECHANISMS: [(&str, &str); 2] = [("y", "andrews-figure-7-y"), ("rungs:18", "andrews-figure-7-ladder")];

/// Directions in the x, y plane.
const DIRECTIONS: usize = 6;

/// Displacements at which models are made next to the one at rest, and how far it is pulled.
const SAMPLED: [f64; 2] = [0.5, 1.0];
const FURTHEST: f64 = 1.05;

/// Halvings in the search for a force, and the largest, N.
const HALVINGS: usize = 24;
const LARGEST: f64 = 1e5;

/// The plots, and what placing links by twists opens.
pub fn figures(effort: &mut Effort) -> Result<(Vec<Figure>, Finding), Failure> {
    let mut figures = Vec::new();
    // Gaps of one model nearest to displacement 1, over all directions.
    let mut opened: Vec<f64> = Vec::new();
    for (name, id) in MECHANISMS {
        let mechanism = gallery::build(name).map_err(Failure::job)?;
        let ways = [
            ("1 model", "full", Options::printed(), false),
            ("3 models, as printed", "joint", Options::printed(), true),
            ("3 models, ours", "blended dashed", super::ours(), true),
        ];
        let mut series = Vec::new();
        let (mut pulled, mut left_out) = (0, 0);
        for k in 0..DIRECTIONS {
            let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
            let pull = Pull::new(&mechanism, [angle.cos(), angle.sin()]);
            let Some(forces) = pull.forces(if effort.quick { 8 } else { 22 }) else {
                left_out += 1;
                continue;
            };
            pulled += 1;
            for (which, (label, class, options, several)) in ways.iter().enumerate() {
                let points = pull.gaps(&forces, *options, *several)?;
                if which == 0 {
                    opened.extend(points.iter().filter(|p| (p[0] - 1.0).abs() < 1e-6).map(|p| p[1]));
                }
                // One entry in the legend for all directions.
                let name = if pulled == 1 { label.to_string() } else { String::new() };
                series.push(Series { name, class, points, mark: Mark::LineAndDots });
            }
            effort.tick();
        }
        if pulled == 0 {
            return Err(Failure::job(format!("{name}: no direction has equilibria")));
        }
        series.push(Series {
            name: "1 model (paper)".into(),
            class: "paper",
            points: PRINTED.map(|v| [1.0, v]).to_vec(),
            mark: Mark::Spans,
        });
        let skipped = match left_out {
            0 => String::new(),
            n => format!(" In {n} of {DIRECTIONS} directions it has no equilibria as far out."),
        };
        figures.push(Figure {
            title: format!("Gaps in the joints, {name}"),
            plot: Plot {
                id,
                title: format!("Sum of the gaps in the joints of {name} against displacement"),
                description: "An effector pulled in several directions; one model against three, blended.".into(),
                x: Axis::linear("norm of the effector twist, linear over radius, angular over π"),
                y: Axis::linear("sum of gaps over radius").of_ratios(),
                series,
                marks: Vec::new(),
            },
            caption: format!(
                "{pulled} directions, 60° apart, in the plane of the mechanism; models at rest and at twists of {} and {} in each direction, where the \
                 gaps of a blend return to zero.{skipped}",
                SAMPLED[0], SAMPLED[1]
            ),
        });
    }
    let [least, most] = [f64::min, f64::max].map(|of| opened.iter().copied().reduce(of).unwrap_or(f64::NAN));
    let finding = Finding {
        place: "[A] links by twists",
        claim: "Every other link follows by a twist of its own, and joints open as the square of the motion. The same linear model has joint coordinates \
                too: with forward kinematics nothing opens on a tree."
            .into(),
        shown: format!(
            "y and rungs:18 with one model at a twist of 1: all gaps together are {} to {} of the radius (the paper: {} to {}).",
            percent(least),
            percent(most),
            percent(PRINTED[0]),
            percent(PRINTED[1])
        ),
        number: most,
        meaning: "sum of the gaps in joints over the radius, links by twists, in the worst direction",
    };
    Ok((figures, finding))
}

/// The first effector, pulled in a direction.
struct Pull<'m> {
    mechanism: &'m Mechanism,
    truth: full::Model,
    direction: [f64; 2],
    rest: State,
}

impl<'m> Pull<'m> {
    fn new(mechanism: &'m Mechanism, direction: [f64; 2]) -> Pull<'m> {
        Pull { mechanism, truth: full::Model::new(mechanism), direction, rest: State::at_rest(mechanism) }
    }

    fn loads(&self, force: f64) -> Vec<Wrench> {
        let mut loads = vec![Wrench::ZERO; self.mechanism.effectors().len()];
        loads[0] = Wrench::force([force * self.direction[0], force * self.direction[1], 0.0]);
        loads
    }

    /// The norm of the first effector's twist from rest: linear over the radius, angular over π.
    fn norm(&self, state: &State) -> f64 {
        let effector = &self.mechanism.effectors()[0];
        let at = |state: &State| state.poses[effector.body.index()] * effector.frame;
        let twist = log(&at(&self.rest).inverse_times(&at(state)));
        let linear = twist.linear.norm() / self.mechanism.radius();
        linear.hypot(twist.angular.norm() / std::f64::consts::PI)
    }

    /// The force at which the twist has a norm, by bisection.
    fn force_for(&self, norm: f64) -> Option<f64> {
        let reached = |force: f64| settled_under(&self.truth, &self.loads(force)).map(|s| self.norm(&s));
        let (mut low, mut high) = (0.0, 1.0);
        while reached(high)? < norm {
            (low, high) = (high, 2.0 * high);
            if high > LARGEST {
                return None;
            }
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if reached(middle)? < norm { low = middle } else { high = middle }
        }
        Some(high)
    }

    /// Twists, evenly spaced, with the forces that make them; nothing where there is no equilibrium on the way.
    fn forces(&self, count: usize) -> Option<Vec<(f64, f64)>> {
        let even = (1..=count).map(|k| FURTHEST * k as f64 / count as f64).chain(SAMPLED);
        let mut twists: Vec<f64> = even.collect();
        twists.sort_by(f64::total_cmp);
        twists.into_iter().map(|twist| Some((twist, self.force_for(twist)?))).collect()
    }

    /// The gaps over the twists; a blend that comes to no rest has no point.
    fn gaps(&self, forces: &[(f64, f64)], options: Options, several: bool) -> Result<Vec<[f64; 2]>, Failure> {
        let mut model = Model::new(self.mechanism, options).map_err(Failure::job)?;
        for &(_, force) in forces.iter().filter(|(twist, _)| several && SAMPLED.contains(twist)) {
            model.add(&self.loads(force)).map_err(Failure::job)?;
        }
        let mut points = vec![[0.0, 0.0]];
        for &(twist, force) in forces {
            let mut simulation = model.simulate();
            if settle_under(&mut simulation, &self.loads(force)) {
                points.push([twist, simulation.violation()]);
            }
        }
        Ok(points)
    }
}
