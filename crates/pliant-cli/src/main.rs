//! The command line of Pliant.

mod args;
mod blending;
mod commands;
mod engine;
mod estimate;
mod failure;
mod help;
mod load;
mod mechanism;
mod output;
mod page;
mod position;
mod progress;
mod report;
mod rest;
mod timing;
mod touching;

use std::process::ExitCode;

use clap::Parser;

use args::Arguments;

fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => {
            let format = arguments.common.format();
            match commands::run(&arguments).and_then(|answer| output::print(format, &answer)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => output::fail(format, &failure),
            }
        }
        Err(error) => output::usage(&error),
    }
}
