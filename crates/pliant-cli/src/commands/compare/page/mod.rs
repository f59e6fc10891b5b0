//! The page: what was measured, explained to somebody who has read no documentation, then drawn. Each section is a file here.

mod drawings;
mod engines;
mod errors;
mod frequencies;
mod moving;
mod opening;
mod speed;

use std::fmt::Write as _;

use pliant::contact::Surfaces;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

use super::drawing::{Arrow, View, arrows};
use super::measure::{Comparison, DEFAULT, Frame, Ramp, Sample, size};
use super::motion;
use super::skeleton::Skeleton;
use super::verdict::Verdict;
use crate::page::plot::Axis;
use crate::page::text::{escape, figure, prose, sentence};
use crate::page::{bound, head};

/// Ratios below this are drawn at the edge of a plot.
const FLOOR: f64 = 1e-6;

pub fn page(
    name: &str,
    mechanism: &Mechanism,
    surfaces: &Surfaces,
    skeleton: &Skeleton,
    comparison: &Comparison,
) -> String {
    let places = Places::new(mechanism, skeleton, comparison);
    let page = Page { name, mechanism, surfaces, skeleton, comparison, places };
    let mut html = String::new();
    page.write(&mut html).expect("strings take everything");
    html
}

/// Where drawings look from, and the loads they show.
struct Places {
    view: View,
    arrows: Vec<Arrow>,
    /// Height of the player, px.
    height: f64,
}

impl Places {
    fn new(mechanism: &Mechanism, skeleton: &Skeleton, comparison: &Comparison) -> Places {
        let frames = &comparison.transient.frames;
        let some = frames.iter().step_by(frames.len().div_ceil(12).max(1));
        let mut points: Vec<Vector3<f64>> = some.flat_map(|f| skeleton.place(&f.full)).collect();
        if let Some(settled) = comparison.ramp.as_ref().ok().and_then(|r| r.scene.as_ref()) {
            points.extend(skeleton.place(&settled.full.poses));
        }
        let view = View::of(&points);
        let [width, height] = view.extent(&points);
        let height = (1000.0 * height / width + 140.0).clamp(240.0, 460.0).round();
        Places { view, arrows: arrows(mechanism), height }
    }
}

/// What plots of rising loads are over: how far the effector moves, or the load, where more of it does not always move it
/// further and lines would turn back.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Displacement,
    Load,
}

impl Over {
    fn of(ramp: &Ramp) -> Over {
        if ramp.rises() { Over::Displacement } else { Over::Load }
    }

    fn name(self) -> &'static str {
        match self {
            Over::Displacement => "displacement",
            Over::Load => "load",
        }
    }

    fn at(self, sample: &Sample) -> f64 {
        match self {
            Over::Displacement => sample.displacement,
            Over::Load => sample.scale,
        }
    }

    fn axis(self) -> Axis {
        match self {
            Over::Displacement => Axis::log("displacement of the effector over radius", FLOOR).of_ratios(),
            Over::Load => Axis::log("load over the scene's", FLOOR),
        }
    }

    /// Where the scene's load is.
    fn mark(self, ramp: &Ramp) -> Vec<(f64, String)> {
        ramp.at_scene().map(|sample| (self.at(sample), "scene's load".to_string())).into_iter().collect()
    }
}

struct Page<'a> {
    name: &'a str,
    mechanism: &'a Mechanism,
    surfaces: &'a Surfaces,
    skeleton: &'a Skeleton,
    comparison: &'a Comparison,
    places: Places,
}

impl Page<'_> {
    fn write(&self, html: &mut String) -> std::fmt::Result {
        let name = escape(self.name);
        html.push_str(&head(&format!("{}: full against linear", self.name)));
        html.push_str(&Verdict::of(self.comparison).html());
        self.lead(html)?;
        self.cards(html)?;
        let Comparison { notes, warnings, .. } = self.comparison;
        for note in notes.iter().cloned().chain(warnings.iter().map(|warning| sentence(&warning.text))) {
            writeln!(html, "<p class=\"note\">{}</p>", prose(&note))?;
        }
        self.drawings(html)?;
        self.player(html)?;
        self.paths(html)?;
        self.errors(html)?;
        self.speed(html)?;
        self.frequencies(html)?;
        writeln!(
            html,
            "<footer class=\"muted\"><p>Made by <code>pliant compare {name}</code>, version {}. Errors and gaps are over the \
             mechanism's radius, {} m: that of the ball around all its joints and links. Times were measured on one thread of the \
             machine that made this page; everything else is reproducible.</p></footer>\n</main>",
            env!("CARGO_PKG_VERSION"),
            figure(size(self.mechanism))
        )?;
        *html = bound(html);
        let frames = &self.comparison.transient.frames;
        let by = |of: fn(&Frame) -> &[Pose]| frames.iter().map(of).collect::<Vec<_>>();
        let runs = vec![
            ("full", by(|frame| &frame.full)),
            ("joint", by(|frame| &frame.linear[DEFAULT])),
            ("twist", by(|frame| &frame.linear[0])),
        ];
        let Places { view, arrows, .. } = &self.places;
        let times = frames.iter().map(|frame| frame.time).collect();
        html.push_str(&motion::tail(self.mechanism, self.surfaces, (view, arrows), times, runs));
        Ok(())
    }

    /// What the pose is called in which all starts.
    fn start(&self) -> &'static str {
        if self.mechanism.start().is_some() { "the start pose" } else { "the file's pose" }
    }
}
