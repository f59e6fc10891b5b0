//! What MuJoCo says of a file (`oracle.py`), and how it compares.

use std::collections::HashMap;

use pliant_core::engine::State;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

/// What MuJoCo says of one file.
#[derive(Debug, Default)]
pub struct Answer {
    pub file: String,
    pub error: Option<String>,
    pub mass: f64,
    pub freedoms: usize,
    pub gravity: Vec<f64>,
    pub bodies: Vec<(SpatialInertia, String)>,
    /// Body from 1, kind (free, ball, slide, hinge) and name.
    pub joints: Vec<(usize, usize, String)>,
    /// For each configuration, the coordinates of each joint, then its first one at `qpos0`.
    pub configurations: Vec<(Vec<Vec<f64>>, Vec<Pose>)>,
    /// Where the bodies are in the key frame `home`, if there is one.
    pub home: Vec<Pose>,
}

impl Answer {
    pub fn parse(text: &str) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            if word == "file" {
                answers.push(Answer { file: rest.to_string(), ..Answer::default() });
                continue;
            }
            let Some(answer) = answers.last_mut() else { continue };
            let numbers = |text: &str| -> Vec<f64> {
                text.split_whitespace().map_while(|word| word.parse().ok()).collect()
            };
            match word {
                "error" => answer.error = Some(rest.to_string()),
                "mass" => answer.mass = rest.parse().unwrap(),
                "freedoms" => answer.freedoms = rest.parse().unwrap(),
                "gravity" => answer.gravity = numbers(rest),
                "body" => {
                    let mut words = rest.splitn(14, ' ');
                    let x: Vec<f64> = words.by_ref().take(13).map(|word| word.parse().unwrap()).collect();
                    let inertia = SpatialInertia {
                        mass: x[0],
                        center_of_mass: Vector3::from_column_slice(&x[1..4]),
                        inertia: Matrix3::from_row_slice(&x[4..13]),
                    };
                    answer.bodies.push((inertia, words.next().unwrap_or("").to_string()));
                }
                "joint" => {
                    let mut words = rest.splitn(3, ' ');
                    let mut number = || words.next().unwrap().parse().unwrap();
                    let (body, kind) = (number(), number());
                    answer.joints.push((body, kind, words.next().unwrap_or("").to_string()));
                }
                "at" => {
                    let count = answer.joints.len();
                    if answer.configurations.last().is_none_or(|(q, _)| q.len() == count) {
                        answer.configurations.push(Default::default());
                    }
                    answer.configurations.last_mut().unwrap().0.push(numbers(rest));
                }
                "pose" => {
                    let poses = answer.configurations.last().map(|(_, poses)| poses.len());
                    if answer.joints.is_empty() && poses.is_none_or(|n| n == answer.bodies.len()) {
                        answer.configurations.push(Default::default());
                    }
                    answer.configurations.last_mut().unwrap().1.push(pose(&numbers(rest)));
                }
                "home" => answer.home.push(pose(&numbers(rest))),
                _ => {}
            }
        }
        answers
    }

    /// Everything in which a mechanism differs; nothing is the claim.
    pub fn differences(&self, mechanism: &Mechanism) -> Vec<String> {
        let mut differences = Vec::new();
        let mass = mechanism.mass();
        if (mass - self.mass).abs() > 1e-9 * self.mass.max(1e-3) {
            differences.push(format!("mass {mass} instead of {}", self.mass));
        }
        let freedoms: usize = (mechanism.joints().iter().enumerate())
            .filter(|(j, _)| self.is_tree_joint(mechanism, *j))
            .map(|(_, joint)| joint.kind.freedoms())
            .sum::<usize>()
            + 6 * mechanism.bodies().iter().filter(|body| body.free).count();
        if freedoms != self.freedoms {
            differences.push(format!("{freedoms} freedoms instead of {}", self.freedoms));
        }
        if (mechanism.gravity() - Vector3::from_column_slice(&self.gravity)).norm() > 1e-12 {
            differences.push(format!("gravity {:?} instead of {:?}", mechanism.gravity(), self.gravity));
        }
        if mechanism.bodies().len() < self.bodies.len() {
            differences.push(format!("{} bodies of {}", mechanism.bodies().len(), self.bodies.len()));
            return differences;
        }
        self.compare_inertias(mechanism, &mut differences);
        // A free body has no coordinates here: it lies where the file, or its key frame, has it.
        let start = State::at_rest(mechanism).poses;
        let configurations = self.configurations.iter().map(|(q, poses)| (poses, self.place(mechanism, q)));
        for (poses, found) in configurations.chain([(&self.home, start)]) {
            for (b, (pose, found)) in poses.iter().zip(found).enumerate() {
                let off = (pose.position - found.position).norm();
                let turn = pose.rotation.angle_to(&found.rotation);
                if !(off < 1e-9 && turn < 1e-7) || chord(&pose.rotation, &found.rotation) > 1e-9 {
                    let name = &mechanism.bodies()[b].name;
                    differences.push(format!("body `{name}` is off by {off:.2e} and {turn:.2e}"));
                }
            }
        }
        differences
    }

    fn is_tree_joint(&self, mechanism: &Mechanism, j: usize) -> bool {
        let child = mechanism.joints()[j].child;
        !mechanism[child].free && mechanism.joints()[..j].iter().all(|other| other.child != child)
    }

    fn compare_inertias(&self, mechanism: &Mechanism, differences: &mut Vec<String>) {
        // Links between the joints of one body take a share of what they carry: the sum counts there.
        let split = mechanism.bodies().len() > self.bodies.len()
            || mechanism.notes().iter().any(|note| note.contains("of the mass it carries"));
        for (b, (expected, name)) in self.bodies.iter().enumerate() {
            let body = &mechanism.bodies()[b];
            if !name.is_empty() && *name != body.name {
                differences.push(format!("body `{}` where `{name}` is expected", body.name));
            }
            if split {
                continue;
            }
            let M = &body.inertia;
            let off = (M.mass - expected.mass).abs() / expected.mass.max(1e-6);
            let center = (M.center_of_mass - expected.center_of_mass).norm();
            let moments = (M.inertia - expected.inertia).norm() / expected.inertia.norm().max(1e-12);
            if off > 1e-9 || expected.mass > 0.0 && (center > 1e-7 || moments > 1e-5) {
                differences.push(format!(
                    "inertia of `{}` is off by {off:.2e} in mass ({}), {center:.2e} in the centre and {moments:.2e} in the moments",
                    body.name, expected.mass
                ));
            }
        }
    }

    /// Where the bodies are when MuJoCo's joints are at these coordinates, loops left open.
    pub fn place(&self, mechanism: &Mechanism, coordinates: &[Vec<f64>]) -> Vec<Pose> {
        let mut values: HashMap<String, (usize, Vec<f64>)> = HashMap::new();
        let mut bases: HashMap<usize, Pose> = HashMap::new();
        let mut seen: HashMap<usize, usize> = HashMap::new();
        for ((body, kind, name), x) in self.joints.iter().zip(coordinates) {
            let number = seen.entry(*body).and_modify(|n| *n += 1).or_insert(1);
            let body_name = &mechanism.bodies()[body - 1].name;
            let name = match (name.as_str(), *number) {
                ("", 1) => format!("{body_name}_joint"),
                ("", n) => format!("{body_name}_joint{n}"),
                (name, _) => name.to_string(),
            };
            let turn = |x: &[f64]| UnitQuaternion::new_normalize(Quaternion::new(x[0], x[1], x[2], x[3]));
            match kind {
                0 => {
                    bases.insert(body - 1, Pose::new(turn(&x[3..]), Vector3::new(x[0], x[1], x[2])));
                }
                1 => {
                    values.insert(name, (*kind, turn(x).scaled_axis().iter().copied().collect()));
                }
                _ => {
                    values.insert(name, (*kind, vec![x[0] - x[1]]));
                }
            }
        }
        let mut poses: Vec<Option<Pose>> = vec![None; mechanism.bodies().len()];
        (0..mechanism.bodies().len()).map(|b| self.pose(mechanism, b, &values, &bases, &mut poses)).collect()
    }

    fn pose(
        &self,
        mechanism: &Mechanism,
        body: usize,
        values: &HashMap<String, (usize, Vec<f64>)>,
        bases: &HashMap<usize, Pose>,
        poses: &mut Vec<Option<Pose>>,
    ) -> Pose {
        if let Some(pose) = poses[body] {
            return pose;
        }
        let joint = mechanism.joints().iter().find(|joint| joint.child.index() == body);
        let pose = match joint {
            _ if mechanism.bodies()[body].free => {
                bases.get(&body).copied().unwrap_or(mechanism.bodies()[body].pose)
            }
            None => mechanism.bodies()[body].pose,
            Some(joint) => {
                let outer = match joint.parent {
                    Some(parent) => self.pose(mechanism, parent.index(), values, bases, poses),
                    None => Pose::identity(),
                };
                let q = positions(&joint.kind, &joint.name, values);
                let X = joint.kind.transform(&q);
                outer * mechanism.frame_in_parent(joint) * X * mechanism.frame_in_child(joint).inverse()
            }
        };
        poses[body] = Some(pose);
        pose
    }
}

/// Position, then quaternion w, x, y, z.
fn pose(x: &[f64]) -> Pose {
    let rotation = UnitQuaternion::new_normalize(Quaternion::new(x[3], x[4], x[5], x[6]));
    Pose::new(rotation, Vector3::new(x[0], x[1], x[2]))
}

/// |q ∓ p|, half the angle between two rotations where that is small.
fn chord(p: &UnitQuaternion<f64>, q: &UnitQuaternion<f64>) -> f64 {
    (p.coords - q.coords).norm().min((p.coords + q.coords).norm())
}

/// The coordinates of a joint that is MuJoCo's, or several of them joined.
fn positions(kind: &JointKind, name: &str, values: &HashMap<String, (usize, Vec<f64>)>) -> Vec<f64> {
    if let Some((_, q)) = values.get(name).filter(|(_, q)| q.len() == kind.freedoms()) {
        return q.clone();
    }
    let mut parts: Vec<&(usize, Vec<f64>)> = name.split('+').filter_map(|name| values.get(name)).collect();
    // Translations (MuJoCo's 2) come first in a joint.
    parts.sort_by_key(|(kind, _)| *kind);
    let q: Vec<f64> = parts.into_iter().flat_map(|(_, q)| q.clone()).collect();
    if q.len() == kind.freedoms() { q } else { vec![0.0; kind.freedoms()] }
}
