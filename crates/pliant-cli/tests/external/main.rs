//! Tests of the command line that need real robots, from PyPI, or a browser: where those are absent they are listed as
//! ignored, with the reason. Each file states its claim at its head.

#[allow(dead_code)] // tests/all.rs uses the rest
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code)] // only the decoding of frames is used here
#[path = "../../../pliant-view/tests/common.rs"]
mod frames;
#[path = "../../../pliant-io/tests/external/trial.rs"]
mod trial;
#[allow(dead_code)] // the robots are needed here, Python is not
#[path = "../../../pliant-io/tests/external/wheels.rs"]
mod wheels;

mod browser;
mod pages;
mod robots;
mod viewer;

fn main() {
    let trials = pages::trials().into_iter().chain(viewer::trials()).chain(robots::trials()).collect();
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit()
}
