//! The motion: its player, the path of an effector, and how far every engine is from it.

use std::fmt::Write as _;

use super::super::measure::{MODES, Moment};
use super::super::motion;
use super::{FLOOR, Page};
use crate::page::plot::{Axis, Mark, Plot, Series};
use crate::page::text::{escape, percent, significant, time};

/// Points of a line over time, at most.
const LINE: usize = 600;

impl Page<'_> {
    pub(super) fn player(&self, html: &mut String) -> std::fmt::Result {
        let transient = &self.comparison.transient;
        writeln!(
            html,
            "<h2>The motion</h2>\n<p class=\"muted\">From {} at rest, {} in steps of {}. Drag to turn the view.</p>",
            self.start(),
            if self.mechanism.targets().is_empty() {
                "the loads applied at once,"
            } else {
                "following the scene's targets,"
            },
            time(transient.dt * 1e6)
        )?;
        if let Some(why) = &transient.stopped {
            writeln!(html, "<p class=\"note\">It ends early: {}.</p>", escape(why.trim_end_matches('.')))?;
        }
        let links = [("joint", "joint"), ("twist", "twist")];
        html.push_str(&motion::player(self.places.height, "linear, links by", &links));
        Ok(())
    }

    pub(super) fn paths(&self, html: &mut String) -> std::fmt::Result {
        let transient = &self.comparison.transient;
        if transient.displacement < FLOOR {
            return writeln!(
                html,
                "<p class=\"note\">No effector moves by more than 0.0001 % of the radius: there is no path to show.</p>"
            );
        }
        let effector = &self.mechanism.effectors()[transient.effector].name;
        let every = transient.path.len().div_ceil(LINE).max(1);
        let line = |of: &dyn Fn(&Moment) -> f64| -> Vec<[f64; 2]> {
            thinned(&transient.path.iter().map(of).collect::<Vec<_>>(), every, transient.dt)
        };
        let series = |name: &str, class, of: &dyn Fn(&Moment) -> f64| Series {
            name: name.into(),
            class,
            points: line(of),
            mark: Mark::Line,
        };
        let richer = format!("linear, with {MODES} modes");
        let d = transient.direction;
        let direction = [d.x, d.y, d.z].map(|x| significant((x * 100.0).round() / 100.0, 2)).join(", ");
        let path = Plot {
            id: "path",
            title: format!("Displacement of effector {effector} over time"),
            description: format!(
                "The path of full, linear and linear with modes; full and linear are at most {} of the radius apart.",
                percent(transient.max_error())
            ),
            x: Axis::linear("time, s"),
            y: Axis::linear("displacement, m"),
            series: vec![
                series("full", "full wide", &|at| at.along[0]),
                series("linear", "joint dashed", &|at| at.along[1]),
                series(&richer, "corrected dotted", &|at| at.along[2]),
            ],
            marks: Vec::new(),
        };
        let apart = Plot {
            id: "apart",
            title: "Distance of the effectors from the full simulation's over time".into(),
            description: format!(
                "At most {} and {} at the end.",
                percent(transient.max_error()),
                percent(transient.final_error())
            ),
            x: Axis::linear("time, s"),
            y: Axis::linear("distance over radius").of_ratios(),
            series: [
                series("linear", "joint", &|at| at.error[0]),
                series(&richer, "corrected dotted", &|at| at.error[1]),
            ]
            .into_iter()
            .chain(transient.others.iter().map(|other| Series {
                name: other.engine.into(),
                class: match other.engine {
                    "articulated" => "articulated dashed",
                    "reduced" => "reduced",
                    _ => "blended dashed",
                },
                points: thinned(&other.error, every, transient.dt),
                mark: Mark::Line,
            }))
            .collect(),
            marks: Vec::new(),
        };
        let (several, of_them) = match self.mechanism.effectors().len() {
            1 => ("", ""),
            _ => (" (the one that moves most)", " that is furthest off"),
        };
        let others: String =
            transient.others.iter().map(|o| format!(", {} {}", o.engine, percent(o.max_error()))).collect();
        let figures = [
            path.figure(
                &format!("Path of effector {}{several}", escape(effector)),
                &format!(
                    "Its displacement from the file's pose along ({direction}), the direction of its largest displacement."
                ),
            ),
            apart.figure(
                "Distance from the full simulation",
                &format!(
                    "Of the effector{of_them}. Largest: linear {}, with {MODES} modes {}{others}. Modes are vibrations of the links \
                     while the effector is fixed; the default model has none.",
                    percent(transient.max_error()),
                    percent(transient.max_errors()[1])
                ),
            ),
        ];
        writeln!(html, "<div class=\"pair\">{}</div>", figures.concat())
    }
}

/// Every so many of some numbers and the last, each with its time.
fn thinned(x: &[f64], every: usize, dt: f64) -> Vec<[f64; 2]> {
    let some = x.iter().enumerate().filter(|(i, _)| i.is_multiple_of(every) || i + 1 == x.len());
    some.map(|(i, x)| [i as f64 * dt, *x]).collect()
}
