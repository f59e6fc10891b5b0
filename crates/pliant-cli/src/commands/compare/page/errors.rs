//! Error against displacement: effector, links and gaps in joints, of one linear model.

use std::fmt::Write as _;

use super::super::measure::{LinkError, Ramp, Sample};
use super::super::verdict::error_cell;
use super::{FLOOR, Over, Page};
use crate::choices::RECONSTRUCTIONS;
use crate::page::plot::{Axis, Mark, Plot, Series};
use crate::page::table;
use crate::page::text::{escape, figure, percent, percent_cell};

impl Page<'_> {
    pub(super) fn errors(&self, html: &mut String) -> std::fmt::Result {
        let rises = self.comparison.ramp.as_ref().map_or(true, Ramp::rises);
        writeln!(html, "<h2>Error against {}</h2>", if rises { "displacement" } else { "load" })?;
        let ramp = match &self.comparison.ramp {
            Err(why) => {
                return writeln!(
                    html,
                    "<p class=\"note\">There is no static comparison: {}. See the motion above.</p>",
                    escape(why.trim_end_matches('.'))
                );
            }
            Ok(ramp) if ramp.samples.is_empty() => {
                let why = ramp.stopped.as_deref().unwrap_or("nothing moves");
                return writeln!(
                    html,
                    "<p class=\"note\">There is no static comparison: {}.</p>",
                    escape(why)
                );
            }
            Ok(ramp) => ramp,
        };
        let (first, last) = (&ramp.samples[0], &ramp.samples[ramp.samples.len() - 1]);
        if !ramp.moves() {
            return writeln!(
                html,
                "<p class=\"note\">There is nothing to compare: up to {} times the scene's load, no effector moves by more than 0.0001 % of the \
                 radius.</p>",
                figure(last.scale)
            );
        }
        writeln!(
            html,
            "<p class=\"muted\">At rest under {} to {} times the scene's load, gravity included. Each point is one load; the linear \
             model is built at the file's pose, {}.</p>",
            figure(first.scale),
            figure(last.scale),
            match ramp.rises() {
                true => "so the error grows about as the square of the displacement",
                false =>
                    "and here more load does not always move the effector further, so that the error is shown over the load",
            }
        )?;
        if let Some(why) = &ramp.stopped {
            writeln!(html, "<p class=\"note\">The curves end early: {}.</p>", escape(why))?;
        }
        let axis = |label: &str| Axis::log(label, FLOOR).of_ratios();
        let over = Over::of(ramp);
        let line = |of: &dyn Fn(&Sample) -> f64| {
            ramp.samples.iter().map(|s| [over.at(s), of(s)]).collect::<Vec<_>>()
        };
        let each = |what: &str, mark: Mark, of: fn(&LinkError) -> f64| -> Vec<Series> {
            let series = |(k, class): (usize, &&'static str)| Series {
                name: format!("{}{what}", RECONSTRUCTIONS[k].0),
                class,
                points: line(&|s| of(&s.links[k])),
                mark,
            };
            ["twist", "joint", "corrected dashed"].iter().enumerate().map(series).collect()
        };
        let errors = Plot {
            id: "error",
            title: format!("Error against {}", over.name()),
            description: format!(
                "Effector error from {} to {} of the radius while the effector moves by {} to {}.",
                percent(first.effector),
                percent(last.effector),
                percent(first.displacement),
                percent(last.displacement)
            ),
            x: over.axis(),
            y: axis("error over radius"),
            series: [
                each(", worst link", Mark::Line, |l| l.max),
                vec![Series {
                    name: "effector".into(),
                    class: "effector",
                    points: line(&|s| s.effector),
                    mark: Mark::LineAndDots,
                }],
            ]
            .concat(),
            marks: over.mark(ramp),
        };
        let violation = Plot {
            id: "violation",
            title: format!("Gaps in joints against {}", over.name()),
            description: format!(
                "Sum of all gaps over the radius at the largest load: twist {}, joint {}, corrected {}.",
                percent(last.links[0].violation),
                percent(last.links[1].violation),
                percent(last.links[2].violation)
            ),
            x: over.axis(),
            y: axis("sum of gaps over radius"),
            series: each("", Mark::LineAndDots, |l| l.violation),
            marks: over.mark(ramp),
        };
        let below = "Values below 0.0001 % are drawn at the lower edge.";
        let figures = [
            errors.figure(
                "Error of effector and links",
                &format!(
                    "Distance from the full simulation. <b>twist</b>: each link by itself; <b>joint</b>: by joint angles; <b>corrected</b>: the \
                     same, adjusted until the links end at the effector. {below}"
                ),
            ),
            violation.figure(
                "Violation: gaps in the joints",
                &format!("Sum of the gaps in all joints. The full simulation has none. {below}"),
            ),
        ];
        writeln!(html, "<div class=\"pair\">{}</div>", figures.concat())?;
        self.samples(html, ramp)?;
        self.engines(html, ramp)
    }

    fn samples(&self, html: &mut String, ramp: &Ramp) -> std::fmt::Result {
        let mut head: Vec<String> = ["load", "displacement", "effector error"].map(String::from).to_vec();
        for (name, _) in RECONSTRUCTIONS {
            head.extend([format!("{name}: worst link"), "mean".into(), "violation".into()]);
        }
        let rows = ramp.samples.iter().map(|s| {
            let links = s.links.iter().flat_map(|l| [l.max, l.mean, l.violation]);
            let errors = std::iter::once(s.effector).chain(links).map(error_cell);
            let moved = escape(&percent_cell(s.displacement));
            [format!("× {}", figure(s.scale)), moved].into_iter().chain(errors).collect()
        });
        let table = table(head.iter().map(String::as_str), rows);
        writeln!(html, "<details><summary>The figures</summary>{table}</details>")
    }
}
