//! Claim: whatever is wrong with a scene file is reported once, at its line, with the offending text
//! underlined and what would be right next to it; and nothing else is.
//!
//! The files in `cases/` have the scenes and their errors: `=== name`, the scene, `---`, the report in full. A line such as
//! `<elbow>` stands for the part of [`PARTS`] of that name; places in reports count its lines.

use pliant_io::scene::read;

const PARTS: [(&str, &str); 4] = [
    ("<upper>", "[[body]]\nname = \"upper\"\nmass = 0.2\ninertia = [1e-3, 1e-3, 1e-4]"),
    ("<elbow>", "[[joint]]\nname = \"elbow\"\nkind = \"hinge\"\nparent = \"world\"\nchild = \"upper\""),
    (
        "<nut>",
        "[[body]]\nname = \"nut\"\nmass = 0.1\ninertia = [1e-4, 1e-4, 1e-4]
[[joint]]\nname = \"j\"\nkind = \"expression\"\nparent = \"world\"\nchild = \"nut\"",
    ),
    ("<free>", "[[body]]\nname = \"a\"\nfree = true\nmass = 1\ninertia = [1, 1, 1]"),
];

/// The lines of a scene with its parts written out.
fn scene(short: &str) -> String {
    let part = |line| PARTS.into_iter().find(|(name, _)| *name == line).map_or(line, |(_, text)| text);
    short.lines().map(|line| part(line).to_string() + "\n").collect()
}

/// Every scene of a file is refused with exactly the text that follows it; all that are not are reported with their names.
#[track_caller]
fn check(file: &str, count: usize) {
    let cases: Vec<&str> = file.split("\n=== ").skip(1).collect();
    assert_eq!(cases.len(), count);
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(case)).collect();
    assert!(wrong.is_empty(), "{} of {count} cases\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// What is wrong with the answer to a case.
fn wrong(case: &str) -> Option<String> {
    let (name, rest) = case.split_once('\n').expect("a name, then the scene");
    let (short, expected) = rest.split_once("---\n").expect("the scene, then its errors");
    let text = scene(short);
    let answer = match read(&text, "scene.toml") {
        Ok(_) => "it was read".to_string(),
        Err(errors) => {
            let (answer, all) = (errors.to_string(), errors.diagnostics());
            let whole = all.iter().all(|d| !d.help.is_empty() && !d.message.is_empty());
            if answer == expected.trim_matches('\n')
                && whole
                && answer.matches("error: ").count() == all.len()
            {
                return None;
            }
            answer
        }
    };
    Some(format!("=== {name}\n{text}--- expected\n{}\n--- is\n{answer}", expected.trim_matches('\n')))
}

#[test]
fn bodies() {
    check(include_str!("cases/bodies.txt"), 20);
}

#[test]
fn graph() {
    check(include_str!("cases/graph.txt"), 20);
}

#[test]
fn joints() {
    check(include_str!("cases/joints.txt"), 21);
}

#[test]
fn keys() {
    check(include_str!("cases/keys.txt"), 13);
}

#[test]
fn several() {
    check(include_str!("cases/several.txt"), 7);
}

#[test]
fn expressions() {
    check(include_str!("cases/expressions.txt"), 13);
}

#[test]
fn springs() {
    check(include_str!("cases/springs.txt"), 5);
}

#[test]
fn numbers_without_digits() {
    for number in [".5", "5.", "1.e5", "1e", "-.5", "[0, .5]"] {
        let scene = format!("[mechanism]\ngravity = {number}\n");
        let message = read(&scene, "scene.toml").expect_err("the scene is wrong").to_string();
        assert!(
            message.starts_with("error: cannot read the file: a number lacks digits\n"),
            "{number}: {message}"
        );
        assert!(
            message.contains("digits before and after a point, and after `e`, such as 0.5 or 1e-3"),
            "{message}"
        );
    }
}

/// Brackets a thousand deep and a million terms.
#[test]
fn expressions_that_are_too_large() {
    let message = |expression: String| {
        let text = scene(&format!("<nut>\nangles = [\"a\"]\ntransform = \"{expression}\""));
        read(&text, "scene.toml").expect_err("too large").diagnostics()[0].message.clone()
    };
    let deep = format!("rotate_z({}a{})", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(message(deep), "joint `j`: brackets are nested too deeply");
    let long = format!("rotate_z(a{})", " + a".repeat(1_000_000));
    assert_eq!(message(long), "joint `j`: this expression is too long");
}
