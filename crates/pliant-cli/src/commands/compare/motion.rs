//! The motion as the page's player takes it: points of all frames in 16 bits, as base 64.

use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use serde_json::{Value, json};

use super::drawing::{Arrow, View};
use super::measure::Transient;
use super::skeleton::Skeleton;

/// The player.
pub const SCRIPT: &str = include_str!("motion.js");

/// Bytes of text that the frames may take.
const BUDGET: usize = 900_000;

/// Frames at most: more than a screen shows in the time.
const MOST: usize = 240;

/// Sets of points in a frame: full, joint and twist.
const SETS: usize = 3;

/// How many frames of a mechanism fit on the page.
pub fn frames(skeleton: &Skeleton) -> usize {
    // Two bytes a number, four letters for three bytes.
    (BUDGET / (SETS * skeleton.len() * 3 * 2 * 4 / 3).max(1)).clamp(2, MOST)
}

/// Everything the player needs.
pub fn data(
    mechanism: &Mechanism,
    skeleton: &Skeleton,
    view: &View,
    arrows: &[Arrow],
    transient: &Transient,
) -> Value {
    let sets: [Vec<Vec<Vector3<f64>>>; SETS] = [
        transient.frames.iter().map(|f| skeleton.place(&f.full)).collect(),
        transient.frames.iter().map(|f| skeleton.place(&f.reduced[1])).collect(),
        transient.frames.iter().map(|f| skeleton.place(&f.reduced[0])).collect(),
    ];
    let all = || sets.iter().flatten().flatten();
    let low = all().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = all().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    let center = (low + high) * 0.5;
    let unit = ((high - low).amax() * 0.5 / f64::from(i16::MAX)).max(1e-300);
    let coded = sets.each_ref().map(|frames| {
        let numbers =
            frames.iter().flatten().flat_map(|p| ((p - center) / unit).iter().copied().collect::<Vec<_>>());
        base64(&numbers.flat_map(|x| (x.round() as i16).to_le_bytes()).collect::<Vec<u8>>())
    });
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
        "arrows": arrows,
        "center": three(&center),
        "unit": unit,
        "right": three(&view.right),
        "up": three(&view.up),
        "times": transient.frames.iter().map(|f| round(f.time)).collect::<Vec<f64>>(),
        "full": coded[0],
        "joint": coded[1],
        "twist": coded[2],
    })
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
