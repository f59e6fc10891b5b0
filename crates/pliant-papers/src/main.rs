//! `pliant-papers`: the tables and figures of the papers that Pliant builds on, computed on this machine, each next to
//! what the paper prints, with the numbers that show where a paper is wrong.

mod andrews;
mod document;
mod help;
mod hernandez;
mod section;
mod si;
mod sketch;
mod statics;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueHint};
use pliant_cli::Common;
use pliant_cli::failure::Failure;
use pliant_cli::output::{Answer, count};
use pliant_cli::page::svg_file;
use pliant_cli::progress::Bar;
use pliant_cli::timing::Pace;
use section::Section;
use serde_json::{Value, json};

/// Computes the papers' tables and figures, next to what the papers print, into a folder with a page.
#[derive(Debug, Parser)]
#[command(name = "pliant-papers", version, max_term_width = 100, after_help = help::EXAMPLES)]
struct Arguments {
    /// Folder to write into, made if there is none; files of the same names are replaced
    #[arg(short, long, value_name = "DIR", default_value = "paper", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Fewer steps per timing, fewer sizes and points: to see that it works, not to be quoted
    #[arg(long)]
    quick: bool,
    /// What every command of `pliant` takes.
    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    pliant_cli::program(|arguments: &Arguments| &arguments.common, run)
}

/// How thorough a run is, and who hears how far it has come.
pub struct Effort<'a> {
    /// What each time rests on.
    pub pace: Pace,
    /// Whether fewer sizes and points will do.
    pub quick: bool,
    tick: &'a mut dyn FnMut(),
}

impl Effort<'_> {
    /// Something is done.
    pub fn tick(&mut self) {
        (self.tick)();
    }
}

/// How often a run ticks, about.
const TICKS: u64 = 110;

/// Computes all sections and writes the folder.
fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let folder = ready(&arguments.output)?;
    let mut bar = Bar::new(arguments.common.format(), TICKS);
    let mut done = 0;
    let mut tick = || {
        done = (done + 1).min(TICKS);
        bar.update(done, Instant::now());
    };
    let quick = arguments.quick;
    let pace = match quick {
        true => Pace { warm_up: 5, steps: 20, time: Duration::from_millis(40) },
        false => Pace::STEADY,
    };
    let sections = sections(&mut Effort { pace, quick, tick: &mut tick })?;
    drop(bar);
    let mut files: Vec<(String, String)> = Vec::new();
    for section in &sections {
        files.extend(section.tables.iter().map(|table| (format!("{}.csv", table.id), table.csv())));
        files.extend(section.drawings.iter().map(|d| (format!("{}.svg", d.id), svg_file(&d.svg))));
        files.extend(section.figures.iter().map(|f| (format!("{}.svg", f.plot.id), f.plot.file())));
    }
    files.push(("index.html".into(), document::page(&sections, quick)));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).chain(["paper.json"]).collect();
    let json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "quick": quick,
        "folder": folder.display().to_string(),
        "files": names,
        "sections": sections.iter().map(Section::json).collect::<Vec<Value>>(),
    });
    let last = ("paper.json".to_string(), format!("{json:#}\n"));
    for (name, content) in files.iter().chain([&last]) {
        let path = folder.join(name);
        pliant::io::files::write(&path, content)
            .map_err(|error| Failure::job(format!("cannot write `{}`: {error}", path.display())))?;
    }
    let text = summary(&sections, &folder, files.len() + 1);
    Ok(Answer { text, warnings: Vec::new(), counted: Vec::new(), json })
}

/// Everything, in the order of the page.
fn sections(effort: &mut Effort) -> Result<Vec<Section>, Failure> {
    Ok(vec![
        andrews::table_1::section(effort)?,
        andrews::table_2::section(effort)?,
        andrews::figure_4::section(effort)?,
        andrews::figure_5::section(effort)?,
        andrews::figure_6::section(effort)?,
        andrews::figure_7::section(effort)?,
        hernandez::section(effort)?,
        si::table_1::section(effort)?,
        si::figures::section(effort)?,
    ])
}

/// The folder, if it is one that can be written to: checked before minutes of work.
fn ready(folder: &Path) -> Result<PathBuf, Failure> {
    let refused = |why: String| {
        Failure::input(format!(
            "cannot write into `{}`: {why}; -o takes a folder, which is made if there is none, such as paper",
            folder.display()
        ))
    };
    if folder.exists() && !folder.is_dir() {
        return Err(refused("it is a file".into()));
    }
    fs::create_dir_all(folder).map_err(|error| refused(error.to_string()))?;
    let trial = folder.join("index.html.part");
    fs::write(&trial, "")
        .and_then(|()| fs::remove_file(&trial))
        .map_err(|error| refused(error.to_string()))?;
    Ok(folder.to_path_buf())
}

/// The answer for people: the page says the rest.
fn summary(sections: &[Section], folder: &Path, files: usize) -> String {
    let mut text = String::new();
    for section in sections {
        text.push_str(section.title);
        text.push('\n');
        for finding in &section.findings {
            text.push_str(&format!("  {}: {}\n", finding.place, finding.shown));
        }
    }
    let index = folder.join("index.html");
    format!("{text}\nwrote {} into {}; open {}\n", count(files, "file"), folder.display(), index.display())
}
