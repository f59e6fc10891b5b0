//! Claim: the pages that the program writes open in a browser without a message on its console.

use libtest_mimic::Trial;

use crate::browser::check_in_browser;
use crate::common::Run;
use crate::trial::{Found, trial};

/// A ball that falls on a box, with a link next to it.
const DROP: &str = include_str!("../scenes/drop-beside-a-link.toml");

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
