//! `pliant export`: a mechanism as a scene file.

use pliant::io::{self, SaveError};
use serde_json::json;

use crate::args::{Common, Export};
use crate::failure::Failure;
use crate::output::Answer;

/// Writes the file, or the text to standard output.
pub fn run(arguments: &Export, common: &Common) -> Result<Answer, Failure> {
    let mechanism = arguments.mechanism.load(common)?;
    let (name, warnings) = (mechanism.name(), mechanism.warnings());
    if arguments.output.as_os_str() == "-" {
        let text = io::scene::write(&mechanism);
        let json = json!({ "name": name, "file": null, "scene": text, "warnings": warnings });
        return Ok(Answer { text, warnings, counted: Vec::new(), json });
    }
    io::save(&mechanism, &arguments.output).map_err(|error| match error {
        SaveError::Unwritable { .. } => Failure::job(error),
        SaveError::Unsupported { .. } | SaveError::NotAModel { .. } => Failure::input(error),
    })?;
    let file = arguments.output.display().to_string();
    let text = format!("wrote {file}\n");
    let json = json!({ "name": name, "file": file, "warnings": warnings });
    Ok(Answer { text, warnings, counted: Vec::new(), json })
}
