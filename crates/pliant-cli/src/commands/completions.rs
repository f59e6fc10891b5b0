//! `pliant completions`: scripts that complete the command line.

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Arguments, Completions};
use crate::failure::Failure;
use crate::output::Answer;

/// The script of a shell.
pub fn run(arguments: &Completions) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "pliant", &mut script);
    let text = String::from_utf8(script).map_err(Failure::job)?;
    let json = json!({ "shell": arguments.shell.to_string(), "script": text });
    Ok(Answer { text, warnings: Vec::new(), counted: Vec::new(), json })
}
