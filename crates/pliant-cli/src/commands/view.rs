//! `pliant view`: a mechanism to take hold of, in a page of the browser.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pliant::engines::CONTACT_STEP;
use pliant::io::files;
use pliant_view::{Loaded, Server, Session, Watched, parcel, standalone};
use serde_json::json;

use crate::args::{Common, View};
use crate::contact_options::Stage;
use crate::failure::Failure;
use crate::output::{Answer, Format};

/// The module that `BUILD` makes.
const MODULE: &str = "pliant_wasm.wasm";
/// Makes the engine for pages.
const BUILD: &str = "cargo build --profile page -p pliant-wasm --target wasm32-unknown-unknown";

/// Serves the page until the program is ended, or writes one that needs no server.
pub fn run(arguments: &View, common: &Common) -> Result<Answer, Failure> {
    let watched = arguments.mechanism.file().map(|file| {
        let (file, arguments, common) = (file.to_path_buf(), arguments.clone(), common.clone());
        Watched::new(file, move || load(&arguments, &common).map_err(|failure| failure.message))
    });
    let loaded = load(arguments, common)?;
    let dt = arguments.dt.unwrap_or(if loaded.touches() { CONTACT_STEP } else { parcel::ALONE });
    if let Some(file) = &arguments.html {
        return write(file, &loaded, dt);
    }
    let session = Session::new(loaded, dt).map_err(Failure::input)?;
    let port = arguments.port;
    let server = Server::start(session, port, watched).map_err(|error| {
        Failure::job(format!("cannot serve the page on port {port} of this machine: {error}"))
    })?;
    let address = server.address().map_err(Failure::job)?;
    let mut out = std::io::stdout();
    let said = match common.format() {
        Format::Json => writeln!(out, "{}", json!({ "address": address })),
        Format::Text => writeln!(out, "{address}\nCtrl-C ends it"),
    };
    // Without standard output there is still the browser.
    let _ = said.and_then(|()| out.flush());
    if !arguments.no_open {
        open(&address);
    }
    server.run().map_err(Failure::job)?;
    Ok(Answer {
        text: String::new(),
        warnings: Vec::new(),
        counted: Vec::new(),
        json: json!({ "address": address }),
    })
}

fn write(file: &Path, loaded: &Loaded, dt: f64) -> Result<Answer, Failure> {
    // What its engine does not take is said here, not in the page.
    Session::new(loaded.clone(), dt).map_err(Failure::input)?;
    let module = module()?;
    let page = standalone::page(&module, loaded, dt).map_err(Failure::job)?;
    files::write(file, &page)
        .map_err(|error| Failure::job(format!("cannot write `{}`: {error}", file.display())))?;
    let (bytes, file) = (page.len(), file.display().to_string());
    let text = format!("wrote {file} ({:.2} MB)\n", bytes as f64 / 1e6);
    Ok(Answer {
        text,
        warnings: Vec::new(),
        counted: Vec::new(),
        json: json!({ "file": file, "bytes": bytes }),
    })
}

/// The engine for pages: named by PLIANT_WASM, next to the program, or where it was built.
fn module() -> Result<Vec<u8>, Failure> {
    let named = std::env::var_os("PLIANT_WASM").map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let beside = folder.map(|folder| folder.join(MODULE));
    let built = folder.map(|folder| folder.join("../wasm32-unknown-unknown/page").join(MODULE));
    let found = [named, beside, built].into_iter().flatten().find(|file| file.is_file());
    let Some(found) = found else {
        return Err(Failure::job(format!(
            "the engine for pages was not built: `{BUILD}`, in the sources of Pliant, builds {MODULE}; put it next to the program, or \
             name it by PLIANT_WASM"
        )));
    };
    std::fs::read(&found).map_err(|error| Failure::job(format!("cannot read `{}`: {error}", found.display())))
}

/// The scene with all that the options say of it.
fn load(arguments: &View, common: &Common) -> Result<Loaded, Failure> {
    let opened = arguments.setup.open(&arguments.mechanism, common, |name| arguments.acting.acts_on(name));
    let (source, _) = opened?;
    let mechanism = source.mechanism;
    let stage = arguments.touching.stage(&mechanism, &arguments.mechanism, common)?;
    let inputs = arguments.acting.inputs(&mechanism)?;
    let held = stage.as_ref().map_or(Some(&mechanism), Stage::held);
    let (engine, _) = arguments.engine.choose(held, source.model.is_some());
    Ok(Loaded {
        surfaces: arguments.mechanism.drawn_surfaces(&mechanism, common),
        motions: source.model.map(|file| file.motions),
        inputs,
        contact: stage.is_some(),
        solver: stage.map(|stage| stage.solver()).unwrap_or_default(),
        engine,
        ghost: arguments.ghost,
        mechanism,
    })
}

/// Opens the browser; where there is none, the address is on the terminal.
fn open(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let _ = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
