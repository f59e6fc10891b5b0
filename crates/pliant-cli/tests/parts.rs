//! Claim: every command answers for a file of several mechanisms, whichever of them have effectors, with an answer or an
//! error, never a panic; and parts without an effector change nothing of where the others come to rest.

use crate::common::{Run, two_at_a_time};

/// A part on its own: a chain of hinges, a slide, a four-bar or a ball joint, next to the others.
fn part(kind: usize, at: usize, effector: bool) -> String {
    let y = at as f64;
    let body = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}{at}\"\nposition = [{x}, {y}, 0]\nmass = 0.5\ninertia = [1e-2, 1e-2, 1e-2]\n"
        )
    };
    let joint = |name: &str, kind: &str, parent: &str, child: &str, [x, z]: [f64; 2], stiffness: f64| {
        let parent = if parent == "world" { parent.into() } else { format!("{parent}{at}") };
        format!(
            "[[joint]]\nname = \"{name}{at}\"\nkind = \"{kind}\"\nparent = \"{parent}\"\nchild = \"{child}{at}\"\n\
             position = [{x}, {y}, {z}]\naxis = [0, 1, 0]\nstiffness = {stiffness:?}\ndamping = 0.5\n"
        )
    };
    let mut text = match kind {
        0 => {
            body("a", 0.2)
                + &body("b", 0.5)
                + &joint("j", "hinge", "world", "a", [0.0, 0.0], 40.0)
                + &joint("k", "hinge", "a", "b", [0.35, 0.0], 20.0)
        }
        1 => body("b", 0.3) + &joint("j", "prismatic", "world", "b", [0.0, 0.0], 400.0),
        2 => {
            body("a", 0.0)
                + &body("b", 0.25)
                + &body("c", 0.5)
                + &joint("j", "hinge", "world", "a", [0.0, 0.0], 50.0)
                + &joint("k", "hinge", "a", "b", [0.1, 0.2], 30.0)
                + &joint("l", "hinge", "b", "c", [0.5, 0.2], 30.0)
                + &joint("m", "hinge", "world", "c", [0.6, 0.0], 30.0)
        }
        _ => body("b", 0.3) + &joint("j", "ball", "world", "b", [0.0, 0.0], 60.0),
    };
    if effector {
        text.push_str(&format!("[[effector]]\nname = \"tip{at}\"\nbody = \"b{at}\"\n"));
        text.push_str(&format!("[[load]]\neffector = \"tip{at}\"\nforce = [0, 0, -2]\n"));
    }
    text
}

#[test]
fn any_parts_with_and_without_effectors() {
    let run = Run::new("parts");
    let cases: Vec<(usize, usize, usize)> =
        (0..4).flat_map(|a| (0..4).flat_map(move |b| [1, 2, 3].map(|which| (a, b, which)))).collect();
    let ran = two_at_a_time(&cases, |&(a, b, which)| {
        let name = format!("{a}{b}{which}");
        let text = part(a, 0, which & 1 != 0) + &part(b, 1, which & 2 != 0);
        run.file(&format!("{name}.toml"), text);
        let [scene, model, page] = ["toml", "pliant", "html"].map(|extension| format!("{name}.{extension}"));
        let steps = ["--duration", "0.1", "--dt", "0.01", "--scene-load"];
        let mut commands: Vec<Vec<&str>> = vec![
            vec!["info", &scene],
            vec!["statics", &scene, "--scene-load"],
            vec!["compliance", &scene, "--loaded"],
            vec!["reduce", &scene, "-o", &model],
            vec!["statics", &model, "--scene-load"],
            [&["simulate", &model], &steps[..]].concat(),
        ];
        for engine in ["full", "articulated", "linear", "reduced"] {
            commands.push([&["simulate", &scene, "--engine", engine], &steps[..]].concat());
        }
        // A blend of linkages takes up to a minute to make.
        if a != 2 && b != 2 {
            commands.push([&["simulate", &scene, "--engine", "blended"], &steps[..]].concat());
        }
        if [(0, 1, 1), (1, 1, 2)].contains(&(a, b, which)) {
            commands.push(vec!["compare", &scene, "-o", &page]);
        }
        for command in &commands {
            let outcome = run.run(command);
            assert_eq!(outcome.code, 0, "{command:?}: {}", outcome.err);
        }
        // What has no effector is where it is at rest all the same.
        let at_rest = |what: &str| run.json(&["statics", what], 0)["bodies"].clone();
        let (exact, moved) = (at_rest(&scene), at_rest(&model));
        for body in ["b0", "b1"] {
            for k in 0..3 {
                let at = |of: &serde_json::Value| of[body]["position"][k].as_f64().expect("a number");
                // It is a sample of the model: rounding of the search for rest, 1e-10 radii.
                assert!((at(&exact) - at(&moved)).abs() < 1e-9, "{name} {body}: {exact} {moved}");
            }
        }
        Some(())
    });
    assert_eq!(ran.len(), 48);
}
