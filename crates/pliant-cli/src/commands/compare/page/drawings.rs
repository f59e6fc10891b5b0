//! The mechanism, drawn at rest under load, or where the two motions are furthest apart.

use std::fmt::Write as _;

use pliant::engine::State;
use pliant::spatial::Pose;

use super::super::drawing::{Drawing, Figure};
use super::super::measure::{DEFAULT, size};
use super::Page;
use crate::page::text::{figure, percent};

impl Page<'_> {
    pub(super) fn drawings(&self, html: &mut String) -> std::fmt::Result {
        let view = if self.places.view.planar { "Seen face-on" } else { "Seen from a corner, z upwards" };
        let outlines = match self.skeleton.outlines.is_empty() {
            true => "",
            false => ", thin lines the rims of discs and the paths of expression joints",
        };
        writeln!(
            html,
            "<h2>The mechanism</h2>\n<p class=\"muted\">{view}, true to scale; circles are effectors, dots joints, triangles connections \
             to the world{outlines}. <b class=\"joint\">joint</b> turns each joint by the angle that the model gives it, so \
             that joints have no gaps; <b class=\"twist\">twist</b> moves each link on its own, which is faster, and gaps in joints grow \
             with the motion.</p>\n<div class=\"pair\">"
        )?;
        let ramp = self.comparison.ramp.as_ref().ok();
        // Where nothing moves, one drawing shows it.
        let far = ramp.filter(|ramp| ramp.moves()).and_then(|ramp| ramp.far.as_ref());
        let settled = [ramp.and_then(|ramp| ramp.scene.as_ref()), far];
        for (settled, id) in settled.into_iter().zip(["drawing-scene", "drawing-far"]) {
            let Some(settled) = settled else { continue };
            let load = match settled.scale {
                1.0 => "the scene's load".to_string(),
                times => format!("{} times the scene's load", figure(times)),
            };
            let title = format!("At rest under {load}");
            let caption = format!("The effector moves by {} of the radius.", percent(settled.displacement));
            let poses = (&settled.full.poses[..], &settled.linear);
            self.drawing(html, id, (&title, &caption), poses, settled.scale)?;
        }
        if settled[0].is_none() {
            // The moment at which the two are furthest apart.
            let frames = &self.comparison.transient.frames;
            let apart = |k: usize| -> f64 {
                let both = frames[k].full.iter().zip(&frames[k].linear[DEFAULT]);
                both.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max)
            };
            let worst = (0..frames.len()).max_by(|&a, &b| apart(a).total_cmp(&apart(b))).unwrap_or(0);
            let title = format!("In motion, {} s after the start", figure(frames[worst].time));
            let caption = format!(
                "Where full and joint are furthest apart: {} of the radius.",
                percent(apart(worst) / size(self.mechanism))
            );
            let poses = (&frames[worst].full[..], &frames[worst].linear);
            self.drawing(html, "drawing-moving", (&title, &caption), poses, 1.0)?;
        }
        writeln!(html, "</div>")
    }

    fn drawing(
        &self,
        html: &mut String,
        id: &'static str,
        (title, caption): (&str, &str),
        (full, linear): (&[Pose], &[Vec<Pose>; 3]),
        scale: f64,
    ) -> std::fmt::Result {
        let rest = State::at_rest(self.mechanism).poses;
        let [rest, full, twist, joint] =
            [&rest, full, &linear[0], &linear[DEFAULT]].map(|poses| self.skeleton.place(poses));
        let drawing = Drawing {
            id,
            title: format!("{title}: the mechanism in {}, full, and linear in two ways", self.start()),
            skeleton: self.skeleton,
            view: &self.places.view,
            figures: vec![
                Figure { name: self.start().trim_start_matches("the "), class: "rest", points: &rest },
                Figure { name: "full", class: "full", points: &full },
                Figure { name: "linear, twist", class: "twist", points: &twist },
                Figure { name: "linear, joint", class: "joint dashed", points: &joint },
            ],
            arrows: &self.places.arrows,
            loaded: 1,
            load_scale: scale,
        };
        writeln!(
            html,
            "<figure><h3>{title}</h3>\n{}<figcaption>{caption}</figcaption></figure>",
            drawing.svg()
        )
    }
}
