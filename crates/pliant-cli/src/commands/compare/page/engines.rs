//! Further than one linear model: the engines `reduced` and `blended` under the same loads.

use std::fmt::Write as _;

use super::super::measure::{AtRest, Ramp, Sample};
use super::super::verdict::error_cell;
use super::{FLOOR, Over, Page};
use crate::page::plot::{Axis, Mark, Plot, Series};
use crate::page::table;
use crate::page::text::{count, escape, figure, percent, percent_cell};

/// Rows of a table that is meant to be read, about.
const ROWS: usize = 8;

impl Page<'_> {
    pub(super) fn engines(&self, html: &mut String, ramp: &Ramp) -> std::fmt::Result {
        writeln!(html, "<h2>Further than one linear model</h2>")?;
        let about = match &self.comparison.blended {
            Ok(about) => {
                let models = count(about.models, "linear model", "linear models");
                let from = match about.asked {
                    Some((bound, displacement)) => format!(
                        ", sampled for an error of {} under random loads that move an effector by up to {}",
                        percent(bound),
                        percent(displacement)
                    ),
                    None => String::new(),
                };
                let error = about.held_out.map_or(String::new(), |(error, loads)| {
                    let loads = count(loads, "other load", "other loads");
                    format!("; under {loads}, not used to build it, its error is at most {}", percent(error))
                });
                format!("here between {models}{from}{error}")
            }
            Err(why) => format!("but not here: {why}"),
        };
        writeln!(
            html,
            "<p class=\"muted\">The same loads at rest. <b class=\"reduced\">reduced</b> keeps a few motions of the joints, with exact kinematics and forces on them; \
             <b class=\"blended\">blended</b> interpolates between several linear models built once, {}. The estimate needs no full simulation: it is how far one Newton step of the \
             statics moves a link, and of linear in addition how far its effector is from its links.</p>",
            escape(&about)
        )?;
        let over = Over::of(ramp);
        let series = |name: &str, class, mark, of: &dyn Fn(&Sample) -> Option<f64>| Series {
            name: name.into(),
            class,
            points: ramp.samples.iter().filter_map(|s| Some([over.at(s), of(s)?])).collect(),
            mark,
        };
        let all = vec![
            series("linear", "joint", Mark::LineAndDots, &|s| Some(s.effector)),
            series("linear, estimate", "joint dotted", Mark::Line, &|s| s.estimate),
            series("blended", "blended", Mark::LineAndDots, &|s| s.blended.map(|b| b.effector)),
            series("blended, estimate", "blended dotted", Mark::Line, &|s| s.blended.map(|b| b.estimate)),
            series("reduced", "reduced", Mark::LineAndDots, &|s| s.reduced.map(|m| m.effector)),
        ];
        let plot = Plot {
            id: "engines",
            title: format!("Error of three engines against {}, with their estimates", over.name()),
            description: "Solid lines: the effector's error. Dotted lines: its estimate.".into(),
            x: over.axis(),
            y: Axis::log("error of the effector over radius", FLOOR).of_ratios(),
            series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
            marks: over.mark(ramp),
        };
        let errors = plot.figure(
            "Error of the effector at rest",
            "Solid: distance from the full simulation. Dotted: the estimate. Values below 0.0001 % are drawn at the lower edge.",
        );
        let every = ramp.samples.len().div_ceil(ROWS).max(1);
        let last = ramp.samples.len() - 1;
        let shown = |(i, s): &(usize, &Sample)| (last - i).is_multiple_of(every) || s.scale == 1.0;
        let cell = |at_rest: Option<(f64, Option<f64>)>| match at_rest {
            None => "–".into(),
            Some((error, estimate)) => {
                let estimate = estimate.map_or("–".into(), percent_cell);
                format!("{}<small>{}</small>", error_cell(error), escape(&estimate))
            }
        };
        let rows = ramp.samples.iter().enumerate().filter(shown).map(|(_, s)| {
            let of = |at_rest: Option<AtRest>| cell(at_rest.map(|a| (a.effector, Some(a.estimate))));
            let moved = escape(&percent_cell(s.displacement));
            let linear = cell(Some((s.effector, s.estimate)));
            let load = format!("× {}", figure(s.scale));
            vec![load, moved, linear, of(s.blended), of(s.reduced)]
        });
        let table = table(["load", "moved by", "linear", "blended", "reduced"], rows);
        writeln!(
            html,
            "<div class=\"pair\">{errors}<figure><h3>Error and estimate</h3>\n{table}<figcaption>Below each error its \
             estimate; – where it does not come to rest.</figcaption></figure></div>"
        )
    }
}
