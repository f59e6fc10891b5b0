//! A motion that was recorded, for pages that play it: the scene as the viewer draws it, and where all bodies are in each frame, by one
//! engine and by others over it. The page's part is `page/src/player.ts`.

use data_encoding::BASE64;
use pliant_core::contact::{Surface, Surfaces};
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;
use serde_json::{Map, Value, json};

use crate::drawing;

/// The script of the player. It plays what is in the page's element `motion-data`.
pub const PLAYER: &str = include_str!("../page/dist/player.js");

/// A motion by several engines, frame by frame.
pub struct Recorded<'a> {
    /// What moves.
    pub mechanism: &'a Mechanism,
    /// Surfaces of shapes that lie in files.
    pub surfaces: &'a Surfaces,
    /// When the frames are, s.
    pub times: Vec<f64>,
    /// By name: where all bodies are in each frame. The first is drawn solid, one of the others over it.
    pub runs: Vec<(&'static str, Vec<&'a [Pose]>)>,
    /// Effectors by their place, and forces on them, world axes, N.
    pub forces: Vec<(usize, Vector3<f64>)>,
    /// The direction from which all of it is seen at first.
    pub from: Vector3<f64>,
}

/// Letters that a frame of so many runs takes in the page.
pub fn letters(mechanism: &Mechanism, runs: usize) -> usize {
    // Seven numbers of two bytes a body, four letters for three bytes.
    runs * mechanism.bodies().len() * 7 * 2 * 4 / 3
}

impl Recorded<'_> {
    /// What the element `motion-data` holds.
    pub fn data(&self) -> Value {
        let (scene, meshes) = drawing::scene(self.mechanism, self.surfaces, false);
        let all = || self.runs.iter().flat_map(|(_, frames)| frames).flat_map(|frame| frame.iter());
        let low = all().fold(Vector3::repeat(f64::INFINITY), |a, pose| a.inf(&pose.position));
        let high = all().fold(Vector3::repeat(f64::NEG_INFINITY), |a, pose| a.sup(&pose.position));
        let center = (low + high) * 0.5;
        let unit = ((high - low).amax() * 0.5 / LARGEST).max(1e-300);
        let coded = |pose: &Pose| {
            let (p, q) = ((pose.position - center) / unit, pose.rotation);
            [p.x, p.y, p.z, q.w * LARGEST, q.i * LARGEST, q.j * LARGEST, q.k * LARGEST]
        };
        let run = |frames: &Vec<&[Pose]>| {
            let numbers = frames.iter().flat_map(|frame| frame.iter()).flat_map(coded);
            let bytes: Vec<u8> = numbers.flat_map(|x| (x.round() as i16).to_le_bytes()).collect();
            BASE64.encode(&bytes)
        };
        let runs: Map<String, Value> =
            self.runs.iter().map(|(name, frames)| (name.to_string(), run(frames).into())).collect();
        let three = |v: &Vector3<f64>| [v.x, v.y, v.z];
        let forces = self.forces.iter().map(|(at, force)| json!({ "effector": at, "force": three(force) }));
        json!({
            "scene": short(scene),
            "meshes": meshes.into_iter().map(mesh).collect::<Vec<_>>(),
            "times": short(json!(self.times)),
            "center": three(&center),
            "unit": unit,
            "solid": self.runs[0].0,
            "runs": runs,
            "forces": forces.collect::<Vec<_>>(),
            "from": three(&self.from),
        })
    }
}

/// The largest number of sixteen bits, which stands for 1 in a quaternion.
const LARGEST: f64 = i16::MAX as f64;

fn mesh(surface: &Surface) -> Value {
    let points = surface.points.iter().flatten().flat_map(|x| (*x as f32).to_le_bytes());
    let triangles = surface.triangles.iter().flatten().flat_map(|k| k.to_le_bytes());
    json!({
        "points": BASE64.encode(&points.collect::<Vec<u8>>()),
        "triangles": BASE64.encode(&triangles.collect::<Vec<u8>>()),
    })
}

/// All numbers with seven digits, which is more than a player shows.
fn short(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(x) => json!(format!("{x:.6e}").parse::<f64>().unwrap_or(x)),
            None => Value::Number(number),
        },
        Value::Array(values) => values.into_iter().map(short).collect(),
        Value::Object(entries) => entries.into_iter().map(|(key, value)| (key, short(value))).collect(),
        other => other,
    }
}
