//! What the program and its commands take, and the help they give.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::mechanism::MechanismArgument;

/// Simulates compliant articulated mechanisms: grippers, hands, arms, legs and linkages whose joints
/// are held by springs.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, max_term_width = 100, after_help = EXAMPLES)]
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
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the gallery: mechanisms to try things on
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Tell what a mechanism is made of: counts, radius (m), mass (kg), warnings
    #[command(after_help = INFO_EXAMPLES)]
    Info(Info),
    /// Write a mechanism as a scene file
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
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

/// Arguments of `pliant completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

const EXAMPLES: &str = "\
A mechanism (MECH) is a name of the gallery, with a size if you like (helix:400), or a path to a
scene file (arm.toml). Units are SI and radians everywhere: m, kg, s, N, N·m, N·m/rad.

Exit codes: 0 done, 1 the job failed, 2 bad usage or bad input.

Examples:
  pliant list                            what there is to try
  pliant info helix:400                  bodies, joints, loops, radius (m), mass (kg)
  pliant info hand.toml --json           the same for a script
  pliant export gripper -o gripper.toml  a scene file to start from
  pliant help info                       more about one command";

const LIST_EXAMPLES: &str = "\
Sizes are numbers of bodies: `helix` takes its default, `helix:400` has 400.

Examples:
  pliant list
  pliant list --json                     [{\"name\": …, \"about\": …}, …]";

const INFO_EXAMPLES: &str = "\
Freedoms are those of the joints that hold the bodies up and six for each free base; joints that
close loops take some away again. The radius (m) is that of the ball around all joint and link
origins at rest; the mass (kg) counts every link.

Examples:
  pliant info gripper
  pliant info helix:400 --json           keys: name, bodies, joints, freedoms, loops, effectors,
                                         radius (m), mass (kg), warnings
  pliant info arm.toml --strict          fails (exit code 2) if there is any warning";

const EXPORT_EXAMPLES: &str = "\
The scene file holds every number to the last bit: reading it gives the same mechanism. Lengths are
in m, masses in kg, stiffness in N/m and N·m/rad, damping in N·s/m and N·m·s/rad.

Examples:
  pliant export gripper -o gripper.toml
  pliant export helix:400 -o - | less
  pliant export arm.toml -o tidy.toml    the same mechanism, written anew";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pliant completions bash > ~/.local/share/bash-completion/completions/pliant
  pliant completions zsh > ~/.zfunc/_pliant
  pliant completions fish > ~/.config/fish/completions/pliant.fish";
