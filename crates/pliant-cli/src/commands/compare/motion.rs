//! The motion in a page: the player's place, and what it plays.

use pliant::contact::Surfaces;
use pliant::mechanism::Mechanism;
use pliant::spatial::Pose;
use pliant_view::recorded::{self, Recorded};

use super::drawing::{Arrow, View};
use super::solids;

/// Letters that the frames may take.
const BUDGET: usize = 900_000;

/// Frames at most: more than a screen shows in the time.
const MOST: usize = 240;

/// How many frames of a mechanism fit on the page, each by so many engines.
pub fn frames(mechanism: &Mechanism, runs: usize) -> usize {
    (BUDGET / recorded::letters(mechanism, runs).max(1)).clamp(2, MOST)
}

/// The player: its canvas and what it is played with; `others` are the sets next to `full`, by colour and name.
pub fn player(height: f64, word: &str, others: &[(&str, &str)]) -> String {
    let speeds: String = ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"]
        .map(|s| {
            let selected = if s == "1" { " selected=\"selected\"" } else { "" };
            format!("<option value=\"{s}\"{selected}>× {s}</option>")
        })
        .concat();
    let options: String =
        others.iter().map(|(set, name)| format!("<option value=\"{set}\">{name}</option>")).collect();
    let first = others.first().map_or("full", |(set, _)| set);
    format!(
        "<figure class=\"player\">\n<canvas id=\"motion-canvas\" style=\"height: {height}px\" tabindex=\"0\" role=\"img\" aria-label=\"The mechanism in motion, full and otherwise, over each other: drag to turn the view\"></canvas>\n\
         <div class=\"controls\"><button id=\"motion-play\" type=\"button\">Play</button>\
         <label>time <input id=\"motion-time\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\"/></label><span id=\"motion-clock\">0 s</span>\
         <label>speed <select id=\"motion-speed\">{speeds}</select></label>\
         <span><span class=\"key full\"></span>full</span>\
         <label><span class=\"key thin {first}\" id=\"motion-key\"></span>{word} <select id=\"motion-links\">{options}</select></label>\
         <button id=\"motion-reset\" type=\"button\">Reset view</button><span id=\"motion-grid\" class=\"muted\"></span></div>\n<noscript><p>Only the player needs JavaScript.</p></noscript>\n</figure>\n"
    )
}

/// The end of a page, with what the player plays: `full` is solid, the others over it.
pub fn tail(
    mechanism: &Mechanism,
    surfaces: &Surfaces,
    (view, arrows): (&View, &[Arrow]),
    times: Vec<f64>,
    runs: Vec<(&'static str, Vec<&[Pose]>)>,
) -> String {
    let forces = arrows.iter().filter(|arrow| !arrow.torque).map(|arrow| (arrow.effector, arrow.direction));
    let surfaces = &solids::light(surfaces);
    let recorded = Recorded {
        mechanism,
        surfaces,
        times,
        runs,
        forces: forces.collect(),
        from: view.right.cross(&view.up),
    };
    // A name must not end the element.
    let data = recorded.data().to_string().replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"motion-data\">{data}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
        recorded::PLAYER
    )
}
