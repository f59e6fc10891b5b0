//! Claim: the pages that the program writes open in a browser without a message on its console.

use libtest_mimic::Trial;

use crate::browser::check_in_browser;
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
    vec![trial("pages::open_in_a_browser_without_a_message", pages_open_in_a_browser_without_a_message)]
}

/// A page of a comparison and one with contact.
fn pages_open_in_a_browser_without_a_message() -> Found<()> {
    let run = Run::new("pages");
    run.file("drop.toml", DROP);
    check_in_browser(&run, || {
        [("four-bar", "four-bar.html"), ("drop.toml", "drop.html")]
            .map(|(mechanism, page)| {
                run.json(&["compare", mechanism, "-o", page], 0);
                run.folder.join(page)
            })
            .to_vec()
    })
}
