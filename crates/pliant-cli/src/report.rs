//! States of a mechanism as JSON and as tables: the same keys and columns in every command.

use pliant::engine::{Simulation, State};
use pliant::spatial::Pose;
use serde_json::{Map, Value, json};

use crate::output::{quantity, table};

const OWN: &str = "a handle of the simulation's own mechanism";

/// Lengths up to this part of the radius, and angles up to this, rad, are what rounding leaves of zero.
const ROUNDING: f64 = 1e-12;

/// A length or angle for people, zero where it is rounding; `size` is what it is small against.
fn rounded(value: f64, size: f64, unit: &str) -> String {
    quantity(if value.abs() <= ROUNDING * size { 0.0 } else { value }, unit)
}

pub fn effector_poses(simulation: &dyn Simulation) -> Vec<Pose> {
    let effectors = simulation.mechanism().effector_ids();
    effectors.map(|effector| simulation.effector_pose(effector).expect(OWN)).collect()
}

/// `bodies`, `effectors` (where the engine has them) and `joints` of a simulation, by name.
pub fn state(simulation: &mut dyn Simulation) -> Map<String, Value> {
    let mechanism = simulation.mechanism().clone();
    let poses = effector_poses(simulation);
    let state = simulation.state();
    let bodies = mechanism.bodies().iter().zip(&state.poses).map(|(b, p)| (b.name.clone(), pose(p)));
    let effectors = mechanism.effectors().iter().zip(&poses).map(|(e, p)| (e.name.clone(), pose(p)));
    let joints = mechanism.joints().iter().map(|joint| {
        let range = joint.coordinates();
        let about = json!({ "position": state.coordinates[range.clone()], "force": state.forces[range] });
        (joint.name.clone(), about)
    });
    let keys = ["bodies", "effectors", "joints"].map(String::from);
    keys.into_iter()
        .zip([bodies.collect(), effectors.collect(), joints.collect()].map(Value::Object))
        .collect()
}

/// Position (m) and quaternion [w, x, y, z] of a frame in the world.
fn pose(pose: &Pose) -> Value {
    let (p, q) = (pose.position, pose.rotation);
    json!({ "position": [p.x, p.y, p.z], "quaternion": [q.w, q.i, q.j, q.k] })
}

/// Where the effectors are and how far that is from the start.
pub fn effector_table(simulation: &dyn Simulation) -> String {
    let mechanism = simulation.mechanism();
    let (rest, radius) = (State::at_rest(mechanism), mechanism.radius());
    let header = ["EFFECTOR", "X", "Y", "Z", "MOVED BY"].map(String::from).to_vec();
    let rows = mechanism.effectors().iter().zip(effector_poses(simulation)).map(|(effector, pose)| {
        let at = pose.position;
        let moved = (at - (rest.poses[effector.body.index()] * effector.frame).position).norm();
        let numbers = [at.x, at.y, at.z, moved].map(|x| rounded(x, radius, "m"));
        std::iter::once(effector.name.clone()).chain(numbers).collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    if rows.len() == 1 { "no effectors\n".into() } else { table(&rows) }
}

/// The joint coordinates that went furthest from the start: the largest turn (rad) and the largest
/// slide (m), each where there is a joint that can.
pub fn largest_motions(simulation: &mut dyn Simulation) -> Vec<(&'static str, String)> {
    let mechanism = simulation.mechanism().clone();
    let mut largest: [Option<(f64, &str)>; 2] = [None, None];
    let (start, end) = (State::at_rest(&mechanism).coordinates, &simulation.state().coordinates);
    for joint in mechanism.joints() {
        for (k, at) in joint.coordinates().enumerate() {
            let slot = &mut largest[usize::from(k < joint.kind.translations())];
            let way = (end[at] - start[at]).abs();
            if slot.is_none_or(|(most, _)| way > most) {
                *slot = Some((way, &joint.name));
            }
        }
    }
    let kinds = [("largest turn", "rad", 1.0), ("largest slide", "m", mechanism.radius())];
    let rows = kinds.into_iter().zip(largest).filter_map(|((what, unit, scale), found)| {
        let (size, joint) = found?;
        Some((what, format!("{} (joint `{joint}`)", rounded(size, scale, unit))))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rounding_of_zero_is_zero() {
        assert_eq!(rounded(-3e-17, 0.2, "m"), "0 m");
        assert_eq!(rounded(3e-9, 0.2, "m"), "3e-9 m");
        // What is small itself is not.
        assert_eq!(rounded(3e-17, 1e-6, "m"), "3e-17 m");
        assert_eq!(rounded(0.0, 0.0, "rad"), "0 rad");
    }
}
