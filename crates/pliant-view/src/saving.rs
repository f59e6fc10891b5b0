//! The scene as it stands, as a scene file: everything where it is, and springs resting where they were set to.

use std::collections::HashSet;

use pliant_core::engine::State;
use pliant_core::mechanism::{BodyId, Mechanism, PerFreedom};
use pliant_core::spatial::Pose;
use pliant_io::scene;

/// The text of the file. What stands on a free base is moved with it; joints of the world start at their coordinates.
pub(crate) fn scene_file(
    mechanism: &Mechanism,
    state: &State,
    rest: &[f64],
    gravity: [f64; 3],
) -> Result<String, String> {
    let mut builder = mechanism.to_builder();
    builder.gravity(gravity);
    for base in mechanism.body_ids().filter(|body| mechanism[*body].free) {
        let now = state.pose(base).map_err(|error| error.to_string())?;
        let motion: Pose = now * mechanism[base].pose.inverse();
        let moved = joined(mechanism, base);
        for body in &moved {
            if let Some(body) = builder.body_mut(&mechanism[*body].name) {
                body.pose = motion * body.pose;
            }
        }
        for joint in mechanism.joints().iter().filter(|joint| moved.contains(&joint.child)) {
            if let Some(described) = builder.joint_mut(&joint.name) {
                described.frame = motion * described.frame;
            }
        }
    }
    for joint in mechanism.joints() {
        let Some(described) = builder.joint_mut(&joint.name) else { continue };
        let own = joint.coordinates();
        let differs =
            |now: &[f64], file: &mut dyn Iterator<Item = f64>| now.iter().zip(file).any(|(a, b)| *a != b);
        if differs(&state.coordinates[own.clone()], &mut joint.start.iter().copied()) {
            described.start = Some(PerFreedom::Each(state.coordinates[own.clone()].to_vec()));
        }
        if differs(&rest[own.clone()], &mut joint.freedoms.iter().map(|freedom| freedom.rest)) {
            described.rest = Some(PerFreedom::Each(rest[own].to_vec()));
        }
    }
    let built = builder.build().map_err(|error| format!("the present scene is not valid: {error}"))?;
    Ok(scene::write(&built))
}

/// What joints connect to a body, itself included.
fn joined(mechanism: &Mechanism, base: BodyId) -> HashSet<BodyId> {
    let mut found = HashSet::from([base]);
    loop {
        let before = found.len();
        for joint in mechanism.joints() {
            let Some(parent) = joint.parent else { continue };
            if found.contains(&parent) != found.contains(&joint.child) {
                found.extend([parent, joint.child]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
