//! The command line of Pliant, as a library for two programs: `pliant` and `pliant-papers`. Nothing here is a
//! promise to others; depend on the crate `pliant` instead.

mod args;
mod blending;
mod choices;
mod commands;
mod contact_options;
#[doc(hidden)]
pub mod failure;
mod help;
mod load;
mod mechanism;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod page;
#[doc(hidden)]
pub mod progress;
mod report;
mod setup;
#[doc(hidden)]
pub mod timing;

use std::process::ExitCode;

use clap::Parser;
use pliant::contact::Surfaces;
use pliant::engine::Warning;
use pliant::mechanism::Mechanism;

#[doc(hidden)]
pub use args::Common;
#[doc(hidden)]
pub use commands::bench;
#[doc(hidden)]
pub use commands::compare::{drawing, skeleton};

use contact_options::Stage;
use failure::Failure;
use output::Answer;

/// The program `pliant`.
pub fn main() -> ExitCode {
    program(|arguments: &args::Arguments| &arguments.common, commands::run)
}

/// The page of `pliant compare`, its figures as JSON, and warnings, for the Python package: with contact if the mechanism has some. An error of
/// input is `Err((true, …))`.
#[doc(hidden)]
pub fn compare(
    mechanism: &Mechanism,
    surfaces: &Surfaces,
    dt: Option<f64>,
    tick: &mut dyn FnMut(),
) -> Result<(String, String, Vec<Warning>), (bool, String)> {
    let name = if mechanism.name().is_empty() { "mechanism" } else { mechanism.name() };
    let stage = mechanism.has_contact().then(|| Stage::with(mechanism, surfaces.clone(), name.to_string()));
    let compared = commands::compare::compared(
        mechanism,
        name,
        (stage.as_ref(), surfaces),
        None,
        dt,
        tick,
        Failure::input,
    );
    match compared {
        Ok(compared) => Ok((compared.html, compared.json.to_string(), compared.warnings)),
        Err(failure) => Err((failure.code == 2, failure.message)),
    }
}

/// A program: reads its arguments, does its job, prints the answer or the failure and returns the exit code.
#[doc(hidden)]
pub fn program<A: Parser>(
    common: impl FnOnce(&A) -> &Common,
    run: impl FnOnce(&A) -> Result<Answer, Failure>,
) -> ExitCode {
    match A::try_parse() {
        Ok(arguments) => {
            let common = common(&arguments);
            let (format, strict, verbose) = (common.format(), common.strict, common.verbose);
            match run(&arguments).and_then(|answer| output::print(format, strict, verbose, &answer)) {
                Ok(code) => code,
                Err(failure) => output::fail(format, &failure),
            }
        }
        Err(error) => output::usage(&error),
    }
}
