//! The arguments of the program and its commands, and their help.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Args, Parser, Subcommand, ValueHint, value_parser};
use clap_complete::Shell;
use pliant::engines::{Engine, Modes};
use pliant::linear::{Method, Reconstruction};
use pliant::shared::choosing::Named;

use crate::choices;
use crate::contact_options::Touching;
use crate::help;
use crate::load::{Acting, Gravity, Loading};
use crate::mechanism::MechanismArgument;
use crate::output::Format;
use crate::setup::Setup;

/// Simulates compliant articulated mechanisms: grippers, hands, arms, legs and linkages whose joints
/// are held by springs.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, max_term_width = 100, after_help = help::EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Print one JSON document and nothing else; failures are {"error": …}
    #[arg(long, global = true)]
    pub json: bool,
    /// Treat warnings as errors: those of a file are bad input (exit code 2); those of a run make the job fail (exit code 1),
    /// and its results are still printed
    #[arg(long, global = true)]
    pub strict: bool,
    /// List everything in a robot file that is left out here, as `info` always does
    #[arg(long, global = true)]
    pub verbose: bool,
    /// Folder from which robots, meshes and included files may be read, in addition to the package of the scene, the folder
    /// above it and those of ROS_PACKAGE_PATH. May be given several times
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub allow_path: Vec<PathBuf>,
    /// Let the base of a robot file move freely instead of fixing it to the world
    #[arg(long, global = true)]
    pub free_base: bool,
    /// Threads for the reconstruction of many links; results do not depend on it
    #[arg(long, global = true, value_name = "N", default_value = "1")]
    pub threads: NonZeroUsize,
}

impl Common {
    /// Who reads the answer.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the gallery of built-in mechanisms and scenes
    #[command(after_help = help::LIST_EXAMPLES)]
    List,
    /// Print the properties of a mechanism: counts, radius (m), mass (kg), warnings
    #[command(after_help = help::INFO_EXAMPLES)]
    Info(Info),
    /// Write a mechanism as a scene file
    #[command(after_help = help::EXPORT_EXAMPLES)]
    Export(Export),
    /// Print the compliance of a mechanism at its effectors
    #[command(after_help = help::COMPLIANCE_EXAMPLES)]
    Compliance(Compliance),
    /// Find the equilibrium of a mechanism under gravity and loads
    #[command(after_help = help::STATICS_EXAMPLES)]
    Statics(Statics),
    /// Simulate the motion of a mechanism, from the file's pose at rest
    #[command(after_help = help::SIMULATE_EXAMPLES)]
    Simulate(Simulate),
    /// Interactive viewer: a mechanism moves in real time in a page of the browser and is pulled with the mouse
    #[command(after_help = help::VIEW_EXAMPLES)]
    View(View),
    /// Build a reduced model to an error bound, from a few motions of the joints, and write it to a file
    #[command(after_help = help::REDUCE_EXAMPLES)]
    Reduce(Reduce),
    /// Compare the full simulation with a linear model: error, speed, frequencies and motion, on one page
    #[command(after_help = help::COMPARE_EXAMPLES)]
    Compare(Compare),
    /// Time the engines on this machine
    #[command(after_help = help::BENCH_EXAMPLES)]
    Bench(Bench),
    /// Name the program that computes the papers' tables and figures: pliant-papers
    #[command(after_help = help::PAPER_EXAMPLES, args = options_of_papers())]
    Paper,
    /// Print the completion script of a shell
    #[command(after_help = help::COMPLETIONS_EXAMPLES)]
    Completions(Completions),
}

#[derive(Debug, Args)]
pub struct Info {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
}

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// File to write (.toml), replaced if it exists. `-` is standard output
    #[arg(short, long, value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Compliance {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    #[command(flatten)]
    pub setup: Setup,
    /// exact: one solve, for any loops. incremental: joint by joint, not exact for some loops
    #[arg(long, value_name = "exact|incremental", default_value = "exact", value_parser = choices::method)]
    pub method: Method,
    /// At the equilibrium under gravity, the loads of the scene and those of --load, with the stiffness that
    /// their forces (N, N·m) add
    #[arg(long, conflicts_with = "at")]
    pub loaded: bool,
    /// At the equilibrium with contact, as `statics` finds it, under gravity, the loads of the scene and those of --load;
    /// contacts that push are constraints, and a free base is held by them alone
    #[arg(long, conflicts_with = "loaded")]
    pub resting: bool,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Statics {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// Engine: full (exact), reduced (the motions of a model file, or chosen for these loads) or blended (several linear models,
    /// built for this run) [default: full; of a model file: reduced]
    #[arg(long, value_name = "E")]
    pub engine: Option<Engine>,
    #[command(flatten)]
    pub setup: Setup,
    #[command(flatten)]
    pub acting: Acting,
}

#[derive(Debug, Args)]
pub struct Simulate {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// Engine: full (every freedom), articulated (the same in joint coordinates, faster), reduced (a few motions of the joints
    /// with exact energy, for large motions), linear (one linear model of the effectors, fastest, for small motions), blended
    /// (several linear models, built for this run; less accurate than reduced) or auto (articulated or full, whichever is
    /// faster here; reduced of a model file)
    #[arg(long, value_name = "E", default_value = "auto")]
    pub engine: Named,
    /// Simulated time, s; rounded to whole steps
    #[arg(long, value_name = "S", value_parser = duration, allow_negative_numbers = true)]
    pub duration: f64,
    /// Length of a step, s
    #[arg(long, value_name = "S", value_parser = time_step, allow_negative_numbers = true)]
    pub dt: f64,
    #[command(flatten)]
    pub setup: Setup,
    #[command(flatten)]
    pub acting: Acting,
    /// Of full: Newton iterations of a step [default: 2]
    #[arg(long, value_name = "N")]
    pub iterations: Option<usize>,
    /// Modes kept in addition to the motions of the effectors [default: of reduced 4; of linear 0, and auto with contact].
    /// auto: all that steps of this length can follow (of reduced at most 24); of linear with contact, all that an impact
    /// excites. Of linear a number is for each independent part
    #[arg(long, value_name = "K|auto")]
    pub modes: Option<Modes>,
    /// With --engine reduced: one linear model of the effectors (Andrews 2015), the same as --engine linear
    #[arg(long)]
    pub linear: bool,
    /// Of linear: reconstruction of the links. twist: each on its own, with small gaps in joints; joint: by joint angles, with
    /// small gaps in loops only; corrected: the same, with links that meet the effectors [default: joint]
    #[arg(long, value_name = "twist|joint|corrected", value_parser = choices::reconstruction)]
    pub reconstruction: Option<Reconstruction>,
    #[arg(long, hide = true, value_parser = no_force)]
    force: Option<String>,
    #[command(flatten)]
    pub touching: Touching,
    /// Of elastic zones: every node in contact at the end, with pressure, traction, slip and displacement; with --json also
    /// the whole surface
    #[arg(long, conflicts_with = "no_contact")]
    pub zone_nodes: bool,
    /// Trajectory to write (.csv or .npz), replaced if it exists: the start and every step
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct View {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    /// Engine at the start, as in `simulate`; the page can switch it. blended starts with one linear model, and the page can add others
    #[arg(long, value_name = "E", default_value = "auto")]
    pub engine: Named,
    /// A second engine, drawn next to the first, with the distance between them
    #[arg(long, value_name = "E")]
    pub ghost: Option<Engine>,
    /// Length of a step, s, from 1e-6 to 0.1 [default: 1/240 with contact, else 1/120]
    #[arg(long, value_name = "S", value_parser = time_step, allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Port of the page on this machine; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value = "0")]
    pub port: u16,
    /// Only print the address, do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Write a page with the engine inside, which needs no server and no network, instead of serving one; an existing file is
    /// replaced
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath, conflicts_with_all = ["port", "no_open"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub setup: Setup,
    #[command(flatten)]
    pub acting: Acting,
    #[command(flatten)]
    pub touching: Touching,
}

#[derive(Debug, Args)]
pub struct Reduce {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    #[command(flatten)]
    pub setup: Setup,
    #[command(flatten)]
    pub gravity: Gravity,
    /// Largest error of a link or an effector at rest, over the mechanism's radius
    #[arg(long, value_name = "RADII", default_value = "0.01", value_parser = ratio, allow_negative_numbers = true)]
    pub max_error: f64,
    /// Largest displacement of an effector by the loads, over the mechanism's radius; loads end at the first joint limit
    #[arg(long, value_name = "RADII", default_value = "1", value_parser = ratio, allow_negative_numbers = true)]
    pub displacement: f64,
    /// Keep all modes of the links between the effectors up to this frequency, Hz, for motion [default: the eight slowest]
    #[arg(long, value_name = "HZ", value_parser = frequency, allow_negative_numbers = true)]
    pub frequency: Option<f64>,
    /// Seed of the random loads; the same seed gives the same file
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    pub seed: u64,
    #[arg(long, hide = true, value_parser = no_most_models, allow_negative_numbers = true)]
    most_models: Option<String>,
    #[arg(long, hide = true, value_parser = no_max_seconds, allow_negative_numbers = true)]
    max_seconds: Option<String>,
    #[arg(long, hide = true, value_parser = no_force, allow_negative_numbers = true)]
    force: Option<String>,
    /// Model file to write (.pliant), replaced if it exists
    #[arg(short, long, value_name = "MODEL.pliant", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Compare {
    #[command(flatten)]
    pub mechanism: MechanismArgument,
    #[command(flatten)]
    pub setup: Setup,
    #[command(flatten)]
    pub loading: Loading,
    /// Length of a step, s [default: 1/240 with contact; else a 200th of the slowest mode's period, at most 1/60]
    #[arg(long, value_name = "S", value_parser = time_step, allow_negative_numbers = true)]
    pub dt: Option<f64>,
    #[command(flatten)]
    pub touching: Touching,
    /// Page to write (.html), replaced if it exists [default: in this folder, named after MECH]
    #[arg(short, long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// Mechanisms to time, as MECH in other commands [default: those of the comparison tables]
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub names: Vec<OsString>,
}

/// Options that `pliant paper` had, so that old scripts are sent to the program that has them.
fn options_of_papers() -> [Arg; 2] {
    let output = Arg::new("output").short('o').long("output").value_parser(value_parser!(PathBuf));
    let quick = Arg::new("quick").long("quick").action(ArgAction::SetTrue);
    [output.hide(true), quick.hide(true)]
}

fn duration(text: &str) -> Result<f64, String> {
    seconds(text).filter(|s| *s >= 0.0).ok_or("it must be a finite number of seconds, zero or above".into())
}

fn time_step(text: &str) -> Result<f64, String> {
    seconds(text).filter(|s| *s > 0.0).ok_or("it must be a finite number of seconds above zero".into())
}

fn ratio(text: &str) -> Result<f64, String> {
    seconds(text).filter(|s| *s > 0.0).ok_or("it must be a finite number of radii above zero".into())
}

fn frequency(text: &str) -> Result<f64, String> {
    seconds(text).filter(|f| *f >= 0.0).ok_or("it must be a finite number of hertz, zero or above".into())
}

// Options that were removed.

fn no_most_models(_: &str) -> Result<String, String> {
    Err("it was removed: a model has as many motions as --max-error needs, and no linear models".into())
}

fn no_max_seconds(_: &str) -> Result<String, String> {
    Err("it was removed: reduce takes seconds, and the same seed gives the same file; a larger --max-error takes less time".into())
}

fn no_force(_: &str) -> Result<String, String> {
    Err("it was removed: the steps of `blended` are those of its blend, and those of `reduced` have exact forces".into())
}

fn seconds(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|s| s.is_finite())
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}
