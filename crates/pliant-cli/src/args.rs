//! What the program and its commands take, and the help they give.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::engine::Engine;
use crate::help;
use crate::load::Loading;
use crate::mechanism::MechanismArgument;
use crate::output::Format;

/// Simulates compliant articulated mechanisms: grippers, hands, arms, legs and linkages whose joints
/// are held by springs.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, max_term_width = 100, after_help = help::EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Print one JSON document and nothing else; failures are {"error": …}
    #[arg(long, global = true)]
    pub json: bool,
    /// Take warnings for errors (exit code 2)
    #[arg(long, global = true)]
    pub strict: bool,
    /// Let the base of a robot file move freely instead of fixing it to the world
    #[arg(long, global = true)]
    pub free_base: bool,
}

impl Common {
    /// Who reads the answer.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the gallery: mechanisms to try things on
    #[command(after_help = help::LIST_EXAMPLES)]
    List,
    /// Tell what a mechanism is made of: counts, radius (m), mass (kg), warnings
    #[command(after_help = help::INFO_EXAMPLES)]
    Info(Info),
    /// Write a mechanism as a scene file
    #[command(after_help = help::EXPORT_EXAMPLES)]
    Export(Export),
    /// Find where a mechanism settles under gravity and loads
    #[command(after_help = help::STATICS_EXAMPLES)]
    Statics(Statics),
    /// Let a mechanism move, from the file's pose at rest
    #[command(after_help = help::SIMULATE_EXAMPLES)]
    Simulate(Simulate),
    /// Time the engines on this machine
    #[command(after_help = help::BENCH_EXAMPLES)]
    Bench(Bench),
    /// Print the completion script of a shell
    #[command(after_help = help::COMPLETIONS_EXAMPLES)]
    Completions(Completions),
}

/// Arguments of `pliant info`.
#[derive(Debug, Args)]
pub struct Info {
    /// The mechanism.
    #[command(flatten)]
    pub mechanism: MechanismArgument,
}

/// Arguments of `pliant export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The mechanism.
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// File to write (.toml); what it held is replaced. `-` is standard output
    #[arg(short, long, value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// Arguments of `pliant statics`.
#[derive(Debug, Args)]
pub struct Statics {
    /// The mechanism.
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// What simulates: full
    #[arg(long, value_name = "E", default_value = "full")]
    pub engine: Engine,
    /// What acts on it.
    #[command(flatten)]
    pub loading: Loading,
}

/// Arguments of `pliant simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// The mechanism.
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// What simulates: full
    #[arg(long, value_name = "E")]
    pub engine: Engine,
    /// How long it moves, s; rounded to whole steps
    #[arg(long, value_name = "S", value_parser = duration, allow_negative_numbers = true)]
    pub duration: f64,
    /// Length of a step, s
    #[arg(long, value_name = "S", value_parser = time_step, allow_negative_numbers = true)]
    pub dt: f64,
    /// What acts on it.
    #[command(flatten)]
    pub loading: Loading,
    /// Newton iterations of a step
    #[arg(long, value_name = "N", default_value_t = pliant::full::DEFAULT_ITERATIONS)]
    pub iterations: usize,
    /// Trajectory to write (.csv or .npz): the start and every step; what it held is replaced
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Arguments of `pliant bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Mechanisms to time, as MECH elsewhere; those of the comparison tables if none is given
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub names: Vec<OsString>,
}

fn duration(text: &str) -> Result<f64, String> {
    seconds(text).filter(|s| *s >= 0.0).ok_or("it must be a finite number of seconds, zero or above".into())
}

fn time_step(text: &str) -> Result<f64, String> {
    seconds(text).filter(|s| *s > 0.0).ok_or("it must be a finite number of seconds above zero".into())
}

fn seconds(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|s| s.is_finite())
}

/// Arguments of `pliant completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}
