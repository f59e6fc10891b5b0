//! Answers on standard output, failures and warnings on standard error.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use pliant::engine::Warning;
pub use pliant::shared::words::{count, first_few, quantity, radii};
use serde_json::{Value, json};

use crate::failure::{Failure, with_options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// What a command has to say, in both formats.
#[derive(Debug)]
pub struct Answer {
    /// For people; ends with a line break unless it is empty.
    pub text: String,
    /// For people, next to the answer.
    pub warnings: Vec<String>,
    /// Of them, those of this run, which `--strict` counts.
    pub counted: Vec<Warning>,
    /// For scripts, warnings included.
    pub json: Value,
}

impl Answer {
    /// With what was said of the file, and what counts of this run: `warnings` of the document and, if there are of these,
    /// `measures`, one for each warning.
    pub fn warned(text: String, said: Vec<String>, counted: Vec<Warning>, mut json: Value) -> Answer {
        if !counted.is_empty() {
            let none = said.iter().map(|_| Value::Null);
            json["measures"] = none.chain(counted.iter().map(measure)).collect();
        }
        let texts = counted.iter().map(|warning| warning.text.clone());
        let warnings: Vec<String> = said.into_iter().chain(texts).map(|text| with_options(&text)).collect();
        json["warnings"] = warnings.as_slice().into();
        Answer { text, warnings, counted, json }
    }

    /// What `--strict` has against it.
    fn minded(&self, strict: bool) -> Option<String> {
        let n = self.counted.len();
        (strict && n > 0).then(|| format!("{}, which are errors with --strict", count(n, "warning")))
    }
}

/// The same warnings, with one line for all that a robot file's reader left out or repaired.
fn in_short(warnings: &[String]) -> Vec<String> {
    let (of_file, mut others): (Vec<&String>, Vec<&String>) =
        warnings.iter().partition(|warning| place(warning).is_some());
    let Some(first) = of_file.first() else { return warnings.to_vec() };
    let file = place(first).unwrap_or_default();
    let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    let (n, others_too) = (of_file.len(), of_file.iter().any(|warning| place(warning) != Some(file)));
    let of = if others_too { format!("{name} and what it includes") } else { name.into() };
    let (things, them) = if n == 1 { ("1 thing".into(), "it") } else { (format!("{n} things"), "them") };
    let are = if n == 1 { "is" } else { "are" };
    let short =
        format!("{things} of {of} {are} left out or repaired: `pliant info` lists {them}, --verbose too");
    others.insert(0, &short);
    others.into_iter().cloned().collect()
}

/// The robot file of a warning that begins with its place, as `hand.urdf:12: …`.
fn place(warning: &str) -> Option<&str> {
    let (at, _) = warning.split_once(": ")?;
    let (file, line) = at.rsplit_once(':')?;
    let is_robot = [".urdf", ".xml", ".sdf"].iter().any(|end| file.trim_end_matches('\'').ends_with(end));
    (is_robot && line.parse::<usize>().is_ok()).then_some(file)
}

/// How much a warning is.
fn measure(warning: &Warning) -> Value {
    json!({ "kind": warning.kind, "measure": warning.measure, "unit": warning.unit })
}

/// Prints an answer and gives the exit code. A reader that has seen enough, such as `head`, is no failure.
pub fn print(format: Format, strict: bool, verbose: bool, answer: &Answer) -> Result<ExitCode, Failure> {
    let minded = answer.minded(strict);
    let written = match format {
        Format::Json => {
            let mut json = answer.json.clone();
            if let Some(error) = &minded {
                json["error"] = error.as_str().into();
            }
            write_out(&document(&json))
        }
        Format::Text => {
            let warnings = if verbose { answer.warnings.clone() } else { in_short(&answer.warnings) };
            for warning in &warnings {
                // Nothing can be done about a standard error that is closed.
                let _ = writeln!(io::stderr(), "warning: {warning}");
            }
            let written = write_out(&answer.text);
            if let Some(error) = &minded {
                let _ = writeln!(io::stderr(), "error: {error}");
            }
            written
        }
    };
    written.map_err(|error| Failure::job(format!("cannot write to standard output: {error}")))?;
    Ok(if minded.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub fn fail(format: Format, failure: &Failure) -> ExitCode {
    if format == Format::Json {
        let mut object = failure.details.clone();
        object.insert("error".into(), failure.message.clone().into());
        // If this cannot be written either, the exit code still says it.
        let _ = write_out(&document(&Value::Object(object)));
    } else {
        // The errors of a scene file come as a list, each with its own head.
        let head = if failure.message.starts_with("error: ") { "" } else { "error: " };
        let _ = writeln!(io::stderr(), "{head}{}", failure.message.trim_end());
    }
    ExitCode::from(failure.code)
}

/// Reports bad usage, or prints the help or version that was asked for.
pub fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // The arguments were not understood, but whether JSON was wanted can be seen.
    if std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json") {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end();
        return fail(Format::Json, &Failure::input(message));
    }
    let _ = error.print();
    ExitCode::from(2)
}

fn document(json: &Value) -> String {
    format!("{json:#}\n")
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Rows of cells, each column as wide as its widest cell, two spaces apart.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Not by a format's width, which ends at 65535.
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Names with what there is to say of each.
pub fn listing<'n>(rows: impl IntoIterator<Item = (&'n str, String)>) -> String {
    let rows = rows.into_iter().map(|(key, value)| vec![key.to_string(), value]);
    table(&rows.collect::<Vec<_>>())
}

/// Finds out that a file cannot be written before minutes are spent on it.
pub fn writable(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::job(format!("cannot write `{shown}`: it is a directory, not a file")));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => {
            Err(Failure::job(format!("cannot write `{shown}`: there is no folder `{}`", folder.display())))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up() {
        let cells = |row: [&str; 2]| row.map(String::from).to_vec();
        assert_eq!(table(&[cells(["a", "é"]), cells(["long", ""])]), "a     é\nlong\n");
        assert_eq!(table(&[]), "");
        // The effectors of a large robot make one long line.
        let wide = "x".repeat(70_000);
        assert_eq!(table(&[cells([&wide, "y"]), cells(["", "y"])]).len(), 2 * (wide.len() + 4));
    }
}
