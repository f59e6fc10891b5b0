//! States of a mechanism as JSON and as tables: the same keys and columns in every command.

use pliant::engine::{Simulation, State};
use pliant::spatial::Pose;
use serde_json::{Map, Value, json};

use crate::output::{quantity, table};

/// Why a handle is known.
const OWN: &str = "a handle of the simulation's own mechanism";

/// The frames of all effectors in the world.
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
    let rest = State::at_rest(mechanism);
    let header = ["EFFECTOR", "X", "Y", "Z", "MOVED BY"].map(String::from).to_vec();
    let rows = mechanism.effectors().iter().zip(effector_poses(simulation)).map(|(effector, pose)| {
        let at = pose.position;
        let moved = (at - (rest.poses[effector.body.index()] * effector.frame).position).norm();
        let numbers = [at.x, at.y, at.z, moved].map(|x| quantity(x, "m"));
        std::iter::once(effector.name.clone()).chain(numbers).collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    if rows.len() == 1 { "no effectors\n".into() } else { table(&rows) }
}

/// The joint coordinates that went furthest from the start: the largest turn (rad) and the largest
/// slide (m), each where there is a joint that can.
pub fn largest_motions(simulation: &mut dyn Simulation) -> Vec<Vec<String>> {
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
    let row = |((what, unit), found): ((&str, &str), Option<(f64, &str)>)| {
        let (size, joint) = found?;
        Some(vec![what.to_string(), format!("{} (joint `{joint}`)", quantity(size, unit))])
    };
    [("largest turn", "rad"), ("largest slide", "m")].into_iter().zip(largest).filter_map(row).collect()
}
