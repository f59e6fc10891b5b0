//! The commands, one file or folder each: from arguments to an answer.

pub mod bench;
pub mod compare;
mod completions;
mod compliance;
mod export;
mod info;
mod list;
mod reduce;
mod rest;
mod simulate;
mod statics;
mod view;

use crate::args::{Arguments, Command};
use crate::failure::Failure;
use crate::output::Answer;

pub fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let common = &arguments.common;
    match &arguments.command {
        Command::List => Ok(list::run()),
        Command::Info(info) => info::run(info, common),
        Command::Export(export) => export::run(export, common),
        Command::Compliance(compliance) => compliance::run(compliance, common),
        Command::Statics(statics) => statics::run(statics, common),
        Command::Simulate(simulate) => simulate::run(simulate, common),
        Command::Reduce(reduce) => reduce::run(reduce, common),
        Command::View(view) => view::run(view, common),
        Command::Compare(compare) => compare::run(compare, common),
        Command::Bench(bench) => bench::run(bench, common),
        Command::Paper => Err(Failure::input(
            "the papers' tables and figures are computed by a separate program, `pliant-papers`; in the sources of Pliant: \
             `cargo run --release -p pliant-papers -- -o papers`",
        )),
        Command::Completions(completions) => completions::run(completions),
    }
}
