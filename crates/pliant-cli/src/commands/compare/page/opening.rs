//! The opening: the point in a few sentences, and the figures that matter most.

use std::fmt::Write as _;

use pliant::engines::Engine;

use super::super::lead::{lead, loads};
use super::super::measure::{Comparison, Ramp};
use super::super::verdict::{BAD, red};
use super::Page;
use crate::page::text::{count, escape, percent, percent_cell, prose, significant, time};

impl Page<'_> {
    /// The point, in two sentences, with the figures just measured.
    pub(super) fn lead(&self, html: &mut String) -> std::fmt::Result {
        writeln!(html, "<p class=\"lead\">{}</p>", prose(&lead(self.mechanism, self.comparison)))?;
        let kind = if self.comparison.free_base { " with a free base" } else { "" };
        let summary = self.mechanism.summary();
        let loops = match summary.loops {
            0 => "no loop".into(),
            n => count(n, "loop", "loops"),
        };
        writeln!(
            html,
            "<p class=\"muted\">The <b class=\"full\">full</b> simulation computes every link and joint in every step. The <b class=\"joint\">linear</b> \
             model is computed once, at the pose of the file: it has the motion of the {} and reconstructs all other links from it. It is \
             exact for small motions, and its error grows with them. Here: {}{kind}, {}, {loops}; {}.</p>",
            if self.mechanism.effectors().len() == 1 { "effector" } else { "effectors" },
            count(summary.bodies, "link", "links"),
            count(summary.joints, "joint", "joints"),
            escape(&loads(self.mechanism)),
        )
    }

    pub(super) fn cards(&self, html: &mut String) -> std::fmt::Result {
        let Comparison { speed, ramp, transient, .. } = self.comparison;
        html.push_str("<ul class=\"cards\">\n");
        let mut card = |value: String, alarming: bool, what: String| {
            let _ = writeln!(html, "<li><b>{}</b><span>{}</span></li>", red(&value, alarming), escape(&what));
        };
        card(
            count(self.comparison.coordinates, "coordinate", "coordinates"),
            false,
            format!("instead of {}", count(self.mechanism.bodies().len(), "body", "bodies")),
        );
        if let (Some((engine, exact)), Some(linear)) = (speed.exact(), speed.of(Engine::Linear)) {
            card(
                format!("× {}", significant(exact / linear, 2)),
                exact < linear,
                format!("as fast as {}: {} a step instead of {}", engine.name(), time(linear), time(exact)),
            );
        }
        if let Some(sample) = ramp.as_ref().ok().and_then(Ramp::at_scene) {
            card(
                percent_cell(sample.effector),
                sample.effector > BAD,
                format!(
                    "of the radius: error of the effector at rest, after moving {}",
                    percent(sample.displacement)
                ),
            );
        }
        card(
            percent_cell(transient.max_error()),
            transient.max_error() > BAD,
            "of the radius: its largest error in motion".into(),
        );
        html.push_str("</ul>\n");
        Ok(())
    }
}
