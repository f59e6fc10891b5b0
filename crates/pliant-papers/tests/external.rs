//! Claim: the page that the program writes and its plots open in a browser without a message on its console. Where there is no
//! browser, the test is listed as ignored, with the reason.

#[path = "../../pliant-cli/tests/external/browser.rs"]
mod browser;
#[allow(dead_code)] // tests/papers.rs uses the rest
#[path = "../../pliant-cli/tests/common/mod.rs"]
mod common;
#[path = "../../pliant-io/tests/external/trial.rs"]
mod trial;

fn main() {
    let pages = trial::trial("pages_open_in_a_browser_without_a_message", || {
        let run = common::Run::new("papers-pages");
        browser::check_in_browser(&run, || {
            run.json(&["--quick", "-o", "out"], 0);
            ["index.html", "hernandez-figure-4.svg"].map(|name| run.folder.join("out").join(name)).to_vec()
        })
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), vec![pages]).exit()
}
