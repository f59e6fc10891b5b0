//! What other programs say of robots, and poses to compare with.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Pose;
use serde_json::Value;

/// The answers of a Python script of this folder to jobs.
pub fn ask(python: &Path, script: &str, name: &str, jobs: Vec<Value>) -> Value {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = |what: &str| folder.join(format!("{name}-{what}.json"));
    let (input, output) = (file("jobs"), file("answers"));
    fs::write(&input, Value::from(jobs).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external").join(script);
    let ran = Command::new(python).arg(script).arg(&input).arg(&output).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_str(&fs::read_to_string(&output).unwrap()).unwrap()
}

/// Poses of all bodies at coordinates of the joints of the tree; zero where there are none.
pub fn poses(mechanism: &Mechanism, q: &HashMap<String, Vec<f64>>) -> Vec<Pose> {
    let mut poses: Vec<Pose> = mechanism.bodies().iter().map(|body| body.pose).collect();
    for &body in mechanism.order().bodies() {
        let Some(j) = mechanism.order().tree_joint_of(body) else { continue };
        let joint = &mechanism[j];
        let parent = joint.parent.map_or(Pose::identity(), |parent| poses[parent.index()]);
        let zero = vec![0.0; joint.freedoms.len()];
        let X = joint.kind.transform(q.get(&joint.name).unwrap_or(&zero));
        poses[body.index()] =
            parent * mechanism.frame_in_parent(joint) * X * mechanism.frame_in_child(joint).inverse();
    }
    poses
}
