//! States of a mechanism as JSON and as tables: the same keys and columns in every command.

use pliant::mechanism::{EffectorId, JointId, Mechanism};
use pliant::spatial::Pose;
use pliant::state::State;
use serde_json::{Map, Value, json};

use crate::output::{quantity, table};

/// `bodies`, `effectors` (where the engine has them) and `joints` of a state, by name.
pub fn state(
    mechanism: &Mechanism,
    state: &State,
    effector_pose: impl Fn(EffectorId) -> Pose,
) -> Map<String, Value> {
    let bodies = mechanism.bodies().iter().zip(&state.poses).map(|(b, p)| (b.name.clone(), pose(p)));
    let effectors = effectors(mechanism).map(|(id, name)| (name.to_string(), pose(&effector_pose(id))));
    let joints = (0..mechanism.joints().len()).map(JointId::from_index).map(|id| {
        let range = mechanism.coordinates_of(id);
        let about = json!({ "position": state.coordinates[range.clone()], "force": state.forces[range] });
        (mechanism.joint(id).name.clone(), about)
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
pub fn effector_table(mechanism: &Mechanism, effector_pose: impl Fn(EffectorId) -> Pose) -> String {
    let rest = State::at_rest(mechanism);
    let header = ["EFFECTOR", "X", "Y", "Z", "MOVED BY"].map(String::from).to_vec();
    let rows = effectors(mechanism).map(|(id, name)| {
        let at = effector_pose(id).position;
        let moved = (at - rest.effector_pose(mechanism, id).position).norm();
        let numbers = [at.x, at.y, at.z, moved].map(|x| quantity(x, "m"));
        std::iter::once(name.to_string()).chain(numbers).collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    if rows.len() == 1 { "no effectors\n".into() } else { table(&rows) }
}

fn effectors(mechanism: &Mechanism) -> impl Iterator<Item = (EffectorId, &str)> {
    let names = mechanism.effectors().iter().map(|effector| effector.name.as_str());
    names.enumerate().map(|(e, name)| (EffectorId::from_index(e), name))
}

/// The joint coordinates that went furthest from the start: the largest turn (rad) and the largest
/// slide (m), each where there is a joint that can.
pub fn largest_motions(mechanism: &Mechanism, state: &State) -> Vec<Vec<String>> {
    let mut largest: [Option<(f64, &str)>; 2] = [None, None];
    let start = State::at_rest(mechanism).coordinates;
    for (j, joint) in mechanism.joints().iter().enumerate() {
        for (k, at) in mechanism.coordinates_of(JointId::from_index(j)).enumerate() {
            let slot = &mut largest[usize::from(k < joint.kind.translations())];
            let way = (state.coordinates[at] - start[at]).abs();
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
