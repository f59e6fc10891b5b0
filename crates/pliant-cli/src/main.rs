//! The command line of Pliant.

mod args;
mod commands;
mod failure;
mod mechanism;
mod output;

use std::process::ExitCode;

use clap::Parser;

use args::Arguments;
use output::Format;

fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => {
            let format = if arguments.common.json { Format::Json } else { Format::Text };
            match commands::run(&arguments).and_then(|answer| output::print(format, &answer)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => output::fail(format, &failure),
            }
        }
        Err(error) => output::usage(&error),
    }
}
