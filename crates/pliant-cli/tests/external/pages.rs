//! Claim: the pages that the program writes open in a browser without a word on its console.

use libtest_mimic::Trial;

use crate::browser::{browser, console, open};
use crate::common::Run;
use crate::trial::{Found, trial};

/// A ball that falls on a box, with a link beside it.
const DROP: &str = r#"
[mechanism]
name = "drop"
[[world.shape]]
kind = "box"
size = [1.0, 1.0, 0.1]
[[body]]
name = "link"
position = [0.3, 0.0, 0.3]
mass = 0.2
inertia = [1e-3, 1e-3, 1e-3]
[[body.shape]]
kind = "ball"
radius = 0.03
[[joint]]
name = "hinge"
kind = "hinge"
parent = "world"
child = "link"
position = [0.2, 0.0, 0.3]
axis = [0, 1, 0]
stiffness = 20.0
damping = 0.2
[[effector]]
name = "tip"
body = "link"
[[body]]
name = "ball"
free = true
position = [0.0, 0.0, 0.2]
[[body.shape]]
kind = "ball"
radius = 0.05
density = 500.0
"#;

pub fn trials() -> Vec<Trial> {
    vec![trial("pages::open_in_a_browser_without_a_word", pages_open_in_a_browser_without_a_word)]
}

/// Pages of `paper`, of a comparison and of one with contact.
fn pages_open_in_a_browser_without_a_word() -> Found<()> {
    let browser = browser()?;
    let run = Run::new("pages");
    run.file("drop.toml", DROP);
    run.file("broken.html", "<!DOCTYPE html><script>nothing.there();</script><p>broken</p>");
    // What would be seen if something were wrong.
    let (log, dom) = open(&browser, &run.folder, &run.folder.join("broken.html"));
    assert!(dom.contains("broken"), "the browser shows no page: {log}");
    assert!(!console(&log).is_empty(), "an error does not show: {log}");

    run.json(&["compare", "four-bar", "-o", "four-bar.html"], 0);
    run.json(&["compare", "drop.toml", "-o", "drop.html"], 0);
    run.json(&["paper", "--quick", "-o", "paper"], 0);
    let paper = run.folder.join("paper");
    let of_paper = ["index.html", "hernandez-figure-4.svg"].map(|name| paper.join(name));
    let of_compare = ["four-bar.html", "drop.html"].map(|name| run.folder.join(name));
    for page in of_paper.iter().chain(&of_compare) {
        let (log, dom) = open(&browser, &run.folder, page);
        assert_eq!(console(&log), [""; 0], "{}", page.display());
        assert!(dom.contains("<svg"), "{} has no plot: {log}", page.display());
    }
    Ok(())
}
