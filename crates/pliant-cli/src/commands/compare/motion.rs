//! The motion as the page's player takes it: points of all frames in 16 bits, as base 64.

use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use serde_json::{Map, Value, json};

use super::drawing::{Arrow, View};
use super::skeleton::{Carried, Skeleton};

pub const SCRIPT: &str = include_str!("motion.js");

/// Bytes of text that the frames may take.
const BUDGET: usize = 900_000;

/// Frames at most: more than a screen shows in the time.
const MOST: usize = 240;

/// How many frames of a mechanism fit on the page, each with so many sets of points.
pub fn frames(skeleton: &Skeleton, sets: usize) -> usize {
    // Two bytes a number, four letters for three bytes.
    (BUDGET / (sets * skeleton.len() * 3 * 2 * 4 / 3).max(1)).clamp(2, MOST)
}

pub struct Played {
    /// When the frames are, s.
    pub times: Vec<f64>,
    /// By the name of its colour, `full` among them: the points of each frame.
    pub sets: Vec<(&'static str, Vec<Vec<Vector3<f64>>>)>,
    /// Lines that stay where they are.
    pub world: Vec<Vec<Vector3<f64>>>,
}

/// The player: its canvas and what it is played with; `others` are the sets beside `full`, by colour and name.
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
        "<figure class=\"player\">\n<canvas id=\"motion-canvas\" style=\"height: {height}px\" tabindex=\"0\" role=\"img\" aria-label=\"The mechanism in motion, full and otherwise, over each other\"></canvas>\n\
         <div class=\"controls\"><button id=\"motion-play\" type=\"button\">Play</button>\
         <label>time <input id=\"motion-time\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\"/></label><span id=\"motion-clock\">0 s</span>\
         <label>speed <select id=\"motion-speed\">{speeds}</select></label>\
         <span><span class=\"key full\"></span>full</span>\
         <label><span class=\"key thin {first}\" id=\"motion-key\"></span>{word} <select id=\"motion-links\">{options}</select></label>\
         <button id=\"motion-reset\" type=\"button\">Reset view</button></div>\n<noscript><p>The player needs JavaScript; all else on this page does not.</p></noscript>\n</figure>\n"
    )
}

pub fn data(
    mechanism: &Mechanism,
    skeleton: &Skeleton,
    view: &View,
    arrows: &[Arrow],
    played: &Played,
) -> Value {
    let Played { times, sets, world } = played;
    let all = || sets.iter().flat_map(|(_, frames)| frames).chain(world).flatten();
    let low = all().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = all().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    let center = (low + high) * 0.5;
    let unit = ((high - low).amax() * 0.5 / f64::from(i16::MAX)).max(1e-300);
    let coded = |p: &Vector3<f64>| ((p - center) / unit).map(|x| x.round() as i16);
    let sets: Map<String, Value> = (sets.iter())
        .map(|(name, frames)| {
            let numbers = frames.iter().flatten().flat_map(|p| coded(p).data.0[0]);
            let bytes: Vec<u8> = numbers.flat_map(i16::to_le_bytes).collect();
            (name.to_string(), base64(&bytes).into())
        })
        .collect();
    let world: Vec<Vec<[i16; 3]>> =
        world.iter().map(|line| line.iter().map(|p| coded(p).data.0[0]).collect()).collect();
    let three = |v: &Vector3<f64>| [v.x, v.y, v.z];
    let arrows: Vec<Value> = (arrows.iter())
        .map(|a| json!({ "at": skeleton.effectors[a.effector], "direction": three(&a.direction), "torque": a.torque }))
        .collect();
    json!({
        "name": mechanism.name(),
        "points": skeleton.len(),
        "segments": skeleton.segments,
        "joints": skeleton.joints,
        "effectors": skeleton.effectors,
        "anchors": skeleton.anchors,
        "outlines": skeleton.outlines,
        "wires": skeleton.wires,
        "solids": skeleton.solids.iter().map(solid).collect::<Vec<_>>(),
        "arrows": arrows,
        "center": three(&center),
        "unit": unit,
        "right": three(&view.right),
        "up": three(&view.up),
        "times": times.iter().map(|t| round(*t)).collect::<Vec<f64>>(),
        "sets": sets,
        "world": world,
    })
}

/// A solid: its frame, and its vertices in thousandths of the frame's arms.
fn solid(carried: &Carried) -> Value {
    let vertices =
        carried.solid.vertices.iter().map(|v| (v * (1000.0 / carried.arm)).map(|x| x.round() as i32));
    let vertices: Vec<[i32; 3]> = vertices.map(|v| v.data.0[0]).collect();
    json!({ "frame": carried.frame, "vertices": vertices, "triangles": carried.solid.triangles })
}

/// Nine digits, which is more than a player shows.
fn round(x: f64) -> f64 {
    format!("{x:.8e}").parse().unwrap_or(x)
}

/// RFC 4648, §4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, k| bits << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize] as char;
            text.push(if k <= group.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// The examples of RFC 4648, §10.
    #[test]
    fn base_64() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }
}
