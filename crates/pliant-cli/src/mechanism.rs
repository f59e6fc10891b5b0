//! The argument `MECH`, the same for every command.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;

use clap::{Args, ValueHint};
use pliant::contact::Surfaces;
use pliant::engines::EngineError;
use pliant::io::ModelFile;
use pliant::linear::ReductionError;
use pliant::mechanism::Mechanism;
use pliant::shared::statics::passive_joints;
use pliant::{gallery, io};

use crate::args::Common;
use crate::failure::Failure;
use crate::output::{Format, first_few};

/// Extensions of files that hold a mechanism.
const EXTENSIONS: [&str; 5] = ["toml", "urdf", "xml", "sdf", "pliant"];

/// What MECH names.
#[derive(Debug)]
pub struct Source {
    pub mechanism: Mechanism,
    /// The model file that it is of, if it is one.
    pub model: Option<ModelFile>,
}

/// The first clause of a note, without the place that it may begin with: `hand.urdf:12: 2 joints start …: …`.
fn head(note: &str) -> &str {
    let at = |text: &str| text.rsplit_once(':').is_some_and(|(_, line)| line.parse::<usize>().is_ok());
    let note = note.split_once(": ").filter(|(place, _)| at(place)).map_or(note, |(_, rest)| rest);
    let end = [": ", "; "].iter().filter_map(|end| note.find(end)).min();
    &note[..end.unwrap_or(note.len())]
}

/// A mechanism, by its name in the gallery or by its file.
#[derive(Clone, Debug, Args)]
pub struct MechanismArgument {
    /// Gallery name with optional size (helix:400), or path to a file (arm.toml, hand.urdf, arm.pliant)
    #[arg(value_name = "MECH", value_hint = ValueHint::FilePath)]
    mechanism: OsString,
}

impl MechanismArgument {
    pub fn new(mechanism: impl Into<OsString>) -> MechanismArgument {
        MechanismArgument { mechanism: mechanism.into() }
    }

    /// Whether it names a model file.
    pub fn is_model(&self) -> bool {
        self.gallery_name().is_none() && io::model::is_model(Path::new(&self.mechanism))
    }

    /// The mechanism alone, of a model file too.
    pub fn load(&self, common: &Common) -> Result<Mechanism, Failure> {
        Ok(self.open(common)?.mechanism)
    }

    /// What it names; with `--strict`, a mechanism that has warnings is refused. What was assumed is reported to people, in short.
    pub fn open(&self, common: &Common) -> Result<Source, Failure> {
        let source = self.open_silently(common)?;
        let notes = source.mechanism.notes();
        if common.format() == Format::Text && !notes.is_empty() {
            let short = || {
                let heads: Vec<&str> = notes.iter().map(|note| head(note)).collect();
                vec![format!(
                    "{}: {}; `pliant info` says more, --verbose too",
                    self.file_name(),
                    heads.join("; ")
                )]
            };
            for note in if common.verbose { notes.to_vec() } else { short() } {
                // Nothing can be done about a standard error that is closed.
                let _ = writeln!(std::io::stderr(), "note: {note}");
            }
        }
        Ok(source)
    }

    /// The same where the command itself lists what was assumed.
    pub fn open_silently(&self, common: &Common) -> Result<Source, Failure> {
        let path = Path::new(&self.mechanism);
        let model = match self.is_model() {
            true => Some(ModelFile::load(path).map_err(Failure::input)?),
            false => None,
        };
        let mechanism = match (&model, self.gallery_name()) {
            (Some(file), _) => file.mechanism.clone(),
            (None, Some(name)) => from_gallery(name)?,
            (None, None) => io::load_with(path, &options(common)).map_err(Failure::input)?,
        };
        let warnings = mechanism.warnings();
        if common.strict && !warnings.is_empty() {
            return Err(refused(warnings));
        }
        Ok(Source { mechanism, model })
    }

    /// The same where effectors cannot be named otherwise.
    pub fn unreduced_to_effectors(&self, error: ReductionError) -> Failure {
        match error {
            ReductionError::NoEffector { mechanism } => Failure::input(format!(
                "mechanism `{mechanism}` has no effector, and a linear model has the motion of its effectors: add an [[effector]] \
                 with a name and a body to its file"
            )),
            error => self.unreduced(error),
        }
    }

    /// Why an engine has no model of it.
    pub fn unmodelled(&self, error: EngineError) -> Failure {
        match error {
            EngineError::Reduction(error) => self.unreduced(error),
            error => Failure::input(error),
        }
    }

    /// Why there is no linear model of it; for a robot file, which has no place to say more, with where to.
    pub fn unreduced(&self, error: ReductionError) -> Failure {
        let path = Path::new(&self.mechanism);
        let robot = self.gallery_name().is_none() && io::import::Format::of(path).is_some();
        match &error {
            ReductionError::NoEffector { mechanism } => Failure::input(format!(
                "{} has no effector to be reduced to: add an [[effector]] with the name of a body to its file, or name a body \
                 with --effector",
                if mechanism.is_empty() {
                    "the mechanism".into()
                } else {
                    format!("mechanism `{mechanism}`")
                }
            )),
            ReductionError::NotHeld { joint, .. } | ReductionError::Loose { joint } if robot => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let mechanism = io::load_with(path, &io::Options::default().with_ros_packages()).ok();
                let passive = mechanism.as_ref().map(passive_joints).unwrap_or_default();
                let others = match passive.len() {
                    0 | 1 => String::new(),
                    n => format!(
                        "\n{n} joints of the file have no spring: {}; `match` takes several at once, `*` stands for any letters",
                        first_few(&passive)
                    ),
                };
                Failure::input(format!(
                    "{error}, in a scene file next to it:\n  import = {name:?}\n  [[joint]]\n  match = {joint:?}\n  \
                     stiffness = 100.0{others}"
                ))
            }
            _ => Failure::input(error),
        }
    }

    /// A short name of it: that of the gallery as it was given, or the file's without folder and extension.
    pub fn label(&self) -> String {
        match self.gallery_name() {
            Some(name) => name.to_string(),
            None => Path::new(&self.mechanism).file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    fn file_name(&self) -> String {
        Path::new(&self.mechanism).file_name().unwrap_or(&self.mechanism).to_string_lossy().into_owned()
    }

    pub fn given(&self) -> String {
        self.mechanism.to_string_lossy().into_owned()
    }

    pub fn surfaces(&self, mechanism: &Mechanism, common: &Common) -> Result<Surfaces, Failure> {
        let path = self.gallery_name().map_or(Path::new(&self.mechanism), |_| Path::new(""));
        io::surfaces(mechanism, path, &options(common))
            .map_err(|error| Failure::input(format!("`{}`: {error}", self.given())))
    }

    /// Surfaces of all shapes that can be read, for drawing, with those that are touched.
    pub fn drawn_surfaces(&self, mechanism: &Mechanism, common: &Common) -> Surfaces {
        let path = self.gallery_name().map_or(Path::new(&self.mechanism), |_| Path::new(""));
        io::drawn_surfaces(mechanism, path, &options(common))
    }

    /// The file that it names, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.gallery_name().is_none().then(|| Path::new(&self.mechanism))
    }

    /// The argument as a gallery name, unless it looks like a path or a file of that name exists.
    fn gallery_name(&self) -> Option<&str> {
        let path = Path::new(&self.mechanism);
        let name = self.mechanism.to_str()?;
        let known = path.extension().and_then(OsStr::to_str).map(str::to_lowercase);
        let is_path = known.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
            || name.contains(std::path::is_separator)
            || path.is_file();
        (!is_path).then_some(name)
    }
}

/// What the user says about files.
fn options(common: &Common) -> io::Options {
    let packages = common.allow_path.clone();
    io::Options { free_base: common.free_base, packages, ..io::Options::default() }.with_ros_packages()
}

fn from_gallery(name: &str) -> Result<Mechanism, Failure> {
    gallery::build(name).map_err(|error| {
        let entry = name.split(':').next().unwrap_or_default();
        if gallery::entries().iter().chain(gallery::scenes()).any(|e| e.name == entry) {
            return Failure::input(error);
        }
        Failure::input(format!("{error}\na path to a scene file works too, such as ./{entry}.toml"))
    })
}

pub fn refused(warnings: Vec<String>) -> Failure {
    let listed: Vec<String> = warnings.iter().map(|warning| format!("\n  {warning}")).collect();
    Failure::input(format!("warnings, which are errors with --strict:{}", listed.concat()))
        .detail("warnings", warnings)
}
