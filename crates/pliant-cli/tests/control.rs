//! Claim: the set-points of a scene drive `articulated` as they drive `full`: a gripper closes, and comes to
//! rest at the same place. One for a joint that is not there is reported.

use crate::common::Run;
use serde_json::Value;

/// Both drivers turn inwards in half a second and stay there.
const CLOSE: &str = r#"
[[target]]
joint = "left_driver"
time = [0.0, 0.5]
position = [0.0, -0.3]
[[target]]
joint = "right_driver"
time = [0.0, 0.5]
position = [0.0, 0.3]
"#;

fn position(document: &Value, effector: &str) -> [f64; 3] {
    let at = &document["effectors"][effector]["position"];
    [0, 1, 2].map(|k| at[k].as_f64().expect("a number"))
}

#[test]
fn a_gripper_closes() {
    let run = Run::new("control");
    let scene = run.run(&["export", "gripper", "-o", "-"]).out;
    run.file("misspelt.toml", format!("{scene}{}", CLOSE.replace("left_driver", "left_drive")));
    let misspelt =
        ["simulate", "misspelt.toml", "--engine", "articulated", "--duration", "1", "--dt", "0.01"];
    run.fails(&misspelt, 2, &["misspelt.toml", "`left_drive`", "`left_driver`"]);
    run.file("gripper.toml", scene + CLOSE);
    let moved = |mechanism: &str, engine: &str| {
        run.json(&["simulate", mechanism, "--engine", engine, "--duration", "3", "--dt", "0.005"], 0)
    };
    let radius = run.json(&["info", "gripper"], 0)["radius"].as_f64().expect("a number");
    let full = moved("gripper.toml", "full");
    let gap = |d: &Value| position(d, "right")[0] - position(d, "left")[0];
    let open = run.json(&["statics", "gripper"], 0);
    assert!(gap(&full) < gap(&open) - 0.3 * radius, "it closes: {} {}", gap(&open), gap(&full));
    for (mechanism, engine) in [("gripper.toml", "articulated")] {
        let document = moved(mechanism, engine);
        for effector in ["left", "right"] {
            let (a, b) = (position(&document, effector), position(&full, effector));
            let off = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt() / radius;
            assert!(off < 1e-3, "{engine}, {effector}: {off}");
        }
    }
}
