//! Further than one linear model: the engines `live` and `blended` under the same loads.

use std::fmt::Write as _;

use super::super::measure::{AtRest, Ramp, Sample};
use super::{FLOOR, Over, Page};
use crate::page::plot::{Axis, Mark, Plot, Scale, Series};
use crate::page::text::{count, escape, figure, percent, percent_cell};

/// Rows of a table that is meant to be read, about.
const ROWS: usize = 8;

impl Page<'_> {
    /// The engines that go further than one linear model, under the same loads.
    pub(super) fn engines(&self, html: &mut String, ramp: &Ramp) -> std::fmt::Result {
        writeln!(html, "<h2>Further than one linear model</h2>")?;
        let about = match &self.comparison.blended {
            Ok(about) => {
                let models = count(about.models, "linear model", "linear models");
                let from = match (about.of_file, about.asked) {
                    (true, _) => " of its file".into(),
                    (false, Some((bound, displacement))) => format!(
                        ", made in a moment for an error of {} under random loads that move an effector by up to {}",
                        percent(bound),
                        percent(displacement)
                    ),
                    (false, None) => String::new(),
                };
                let error = about.held_out.map_or(String::new(), |(error, loads)| {
                    let loads = count(loads, "other load", "other loads");
                    format!(
                        "; under {loads}, which it was not made with, it is off by {} at most",
                        percent(error)
                    )
                });
                format!("here between {models}{from}{error}")
            }
            Err(why) => format!("but not here: {why}"),
        };
        writeln!(
            html,
            "<p class=\"muted\">The same loads at rest. <b class=\"live\">live</b> makes the linear model anew in every step, at the pose as it is; \
             <b class=\"blended\">blended</b> goes between several made once, {}. Every engine can tell its own error: the estimate is how far one \
             Gauss–Newton step to balance moves a link, and of reduced how far its effector is from its links besides.</p>",
            escape(&about)
        )?;
        let axis =
            |label: &str| Axis { label: label.into(), scale: Scale::Log { floor: FLOOR }, percent: true };
        let over = Over::of(ramp);
        let series = |name: &str, class, mark, of: &dyn Fn(&Sample) -> Option<f64>| Series {
            name: name.into(),
            class,
            points: ramp.samples.iter().filter_map(|s| Some([over.at(s), of(s)?])).collect(),
            mark,
        };
        let all = vec![
            series("reduced", "joint", Mark::LineAndDots, &|s| Some(s.effector)),
            series("reduced, estimate", "joint dotted", Mark::Line, &|s| s.estimate),
            series("blended", "blended", Mark::LineAndDots, &|s| s.blended.map(|b| b.effector)),
            series("blended, estimate", "blended dotted", Mark::Line, &|s| s.blended.map(|b| b.estimate)),
            series("live", "live", Mark::LineAndDots, &|s| s.live.map(|l| l.effector)),
        ];
        let plot = Plot {
            id: "engines",
            title: format!("Error of three engines against {}, with their estimates", over.name()),
            description: "Lines of the effector's error, dotted ones of what the engine says it is.".into(),
            x: over.axis(),
            y: axis("error of the effector over radius"),
            series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
            marks: over.mark(ramp),
        };
        writeln!(
            html,
            "<div class=\"pair\"><figure><h3>Error of the effector at rest</h3>\n{}<figcaption>Solid: distance from the full simulation. Dotted: the engine's \
             own estimate. What is below 0.0001 % is drawn at the lower edge.{}</figcaption></figure>",
            plot.svg(),
            escape(&plot.coinciding())
        )?;
        html.push_str(
            "<figure><h3>Error and estimate</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">load</th><th scope=\"col\">moved by</th>\
             <th scope=\"col\">reduced</th><th scope=\"col\">blended</th><th scope=\"col\">live</th></tr></thead><tbody>\n",
        );
        let every = ramp.samples.len().div_ceil(ROWS).max(1);
        let last = ramp.samples.len() - 1;
        for (i, s) in ramp.samples.iter().enumerate() {
            if !(last - i).is_multiple_of(every) && s.scale != 1.0 {
                continue;
            }
            write!(
                html,
                "<tr><td>× {}</td><td>{}</td>",
                figure(s.scale),
                escape(&percent_cell(s.displacement))
            )?;
            let of = |a: &AtRest| (a.effector, Some(a.estimate));
            for cell in [Some((s.effector, s.estimate)), s.blended.as_ref().map(of), s.live.as_ref().map(of)]
            {
                match cell {
                    None => html.push_str("<td>–</td>"),
                    Some((error, estimate)) => {
                        let estimate = estimate.map_or("–".into(), percent_cell);
                        let (error, estimate) = (escape(&percent_cell(error)), escape(&estimate));
                        write!(html, "<td>{error}<small>{estimate}</small></td>")?;
                    }
                }
            }
            html.push_str("</tr>\n");
        }
        writeln!(
            html,
            "</tbody></table></div>\n<figcaption>Below each error the engine's own estimate; – where it does not come to rest.</figcaption></figure></div>"
        )
    }
}
