//! What a reader works with: the files it has read, what it found, and where other files may lie.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::mem::take;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use pliant_core::nalgebra::Vector3;

use super::Options;
use super::mesh::Mesh;
use super::shape::plain;
use crate::diagnostic::{Finding, SceneErrors, Source};
use crate::files::{self, LARGEST_TEXT};

/// Why a file is not opened that could be.
pub(crate) const OUTSIDE: &str = "it lies outside the folder of the file: move it there, or allow its folder";
/// The most files that one file may take in.
const MOST_FILES: usize = 256;

/// Some text of one of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Position of the file among those that were read.
    pub(crate) source: usize,
    /// Bytes of its text.
    pub(crate) span: Range<usize>,
}

impl Place {
    /// The beginning of the first file.
    pub(crate) const START: Place = Place { source: 0, span: 0..0 };
}

/// Something the user should know. Those of one kind are reported once, with their number.
struct Warning {
    place: Place,
    message: String,
    more: usize,
}

/// See the [module](self).
pub(crate) struct Context {
    /// What the user asked for.
    pub(crate) options: Options,
    sources: Vec<Source>,
    /// The path of each source, and the source that includes it.
    paths: Vec<(PathBuf, Option<usize>)>,
    bytes: u64,
    errors: Vec<(usize, Finding)>,
    warnings: Vec<Warning>,
    /// The warning of each kind, by its position.
    kinds: HashMap<String, usize>,
    notes: Vec<String>,
    /// The folder that no path may leave.
    root: PathBuf,
    resolved: HashMap<(usize, String), Result<PathBuf, String>>,
    /// Meshes that were opened, with or without their hull.
    meshes: HashMap<(PathBuf, bool), Result<(), String>>,
}

impl Context {
    /// Starts from the text of a file; `name` is its path as the user gave it.
    pub(crate) fn new(text: String, name: &str, options: &Options) -> Context {
        let path = PathBuf::from(name);
        let root = options.root.clone().unwrap_or_else(|| default_root(&path));
        Context {
            options: options.clone(),
            bytes: text.len() as u64,
            sources: vec![Source { name: name.into(), text }],
            paths: vec![(path, None)],
            errors: Vec::new(),
            warnings: Vec::new(),
            kinds: HashMap::new(),
            notes: Vec::new(),
            root,
            resolved: HashMap::new(),
            meshes: HashMap::new(),
        }
    }

    /// Starts from a robot file that a scene names.
    pub(crate) fn open(path: &Path, scene: &Path, options: &Options) -> Result<Context, String> {
        let root = options.root.clone().unwrap_or_else(|| default_root(scene));
        if !(inside(path, &root) || options.packages.iter().any(|folder| inside(path, folder))) {
            return Err(OUTSIDE.into());
        }
        let text = read_text(path, LARGEST_TEXT)?;
        Ok(Context::new(text, &path.display().to_string(), options))
    }

    /// The text of a file that was read.
    pub(crate) fn text(&self, source: usize) -> &str {
        &self.sources[source].text
    }

    /// The file name and line of a place, as `hand.urdf:12`.
    pub(crate) fn line(&self, place: &Place) -> String {
        let source = &self.sources[place.source];
        format!("{}:{}", source.name, source.line(place.span.start))
    }

    /// Reports what is wrong with some text; nothing is built then.
    pub(crate) fn error(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        let finding = Finding { span: place.span.clone(), message: message.into(), help: help.into() };
        self.errors.push((place.source, finding));
    }

    /// The same, unless something is wrong with that text already, from which this most likely follows.
    pub(crate) fn error_once(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        if !self.errors.iter().any(|(source, finding)| *source == place.source && finding.span == place.span)
        {
            self.error(place, message, help);
        }
    }

    /// Warns of what could not be taken, or was repaired and how.
    pub(crate) fn warning(&mut self, place: &Place, message: impl Into<String>) {
        self.warnings.push(Warning { place: place.clone(), message: message.into(), more: 0 });
    }

    /// The same for what may come often: the first of a kind is reported, the others are counted.
    pub(crate) fn warning_of(
        &mut self,
        kind: impl Into<String>,
        place: &Place,
        message: impl FnOnce() -> String,
    ) {
        match self.kinds.entry(kind.into()) {
            Entry::Occupied(known) => self.warnings[*known.get()].more += 1,
            Entry::Vacant(new) => {
                new.insert(self.warnings.len());
                self.warnings.push(Warning { place: place.clone(), message: message(), more: 0 });
            }
        }
    }

    /// Notes what was assumed and is most likely meant; `--strict` does not count it.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// What a function reads that is for drawing only: what it finds wrong is not reported.
    pub(crate) fn quietly<T>(&mut self, read: impl FnOnce(&mut Context) -> T) -> T {
        let (errors, warnings) = (take(&mut self.errors), take(&mut self.warnings));
        let (kinds, notes) = (take(&mut self.kinds), take(&mut self.notes));
        let value = read(self);
        (self.errors, self.warnings, self.kinds, self.notes) = (errors, warnings, kinds, notes);
        value
    }

    /// Whether anything is wrong.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The warnings, each with its file and line, in the order of the files.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut order: Vec<usize> = (0..self.warnings.len()).collect();
        let place = |i: &usize| &self.warnings[*i].place;
        order.sort_by_key(|i| (place(i).source, place(i).span.start));
        // Lines are counted on from warning to warning.
        let mut lines = vec![0; order.len()];
        let (mut source, mut at, mut line) = (0, 0, 1);
        for &i in &order {
            if place(&i).source != source {
                (source, at, line) = (place(&i).source, 0, 1);
            }
            let text = self.text(source).as_bytes();
            let start = place(&i).span.start.min(text.len());
            line += text[at..start].iter().filter(|byte| **byte == b'\n').count();
            (at, lines[i]) = (start, line);
        }
        // Those of one line as they came.
        order.sort_by_key(|i| (place(i).source, lines[*i], *i));
        (order.into_iter())
            .map(|i| {
                let Warning { place, message, more } = &self.warnings[i];
                let (name, line) = (&self.sources[place.source].name, lines[i]);
                match more {
                    0 => format!("{name}:{line}: {message}"),
                    more => format!("{name}:{line}: {message} ({more} more like it)"),
                }
            })
            .collect()
    }

    /// What was assumed.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Everything that is wrong.
    pub(crate) fn into_errors(self) -> SceneErrors {
        SceneErrors::of(self.sources, self.errors)
    }

    /// Everything that is wrong with a scene and with the robot that it imports.
    pub(crate) fn into_errors_of(self, file: &str, text: &str, findings: Vec<Finding>) -> SceneErrors {
        let scene = Source { name: file.into(), text: text.into() };
        let sources = std::iter::once(scene).chain(self.sources).collect();
        let own = findings.into_iter().map(|finding| (0, finding));
        let others = self.errors.into_iter().map(|(source, finding)| (source + 1, finding));
        SceneErrors::of(sources, own.chain(others).collect())
    }

    /// Reads a file that another one includes; `None` if it cannot, which is reported at the place.
    pub(crate) fn include(&mut self, file: &str, place: &Place) -> Option<usize> {
        let path = match self.resolve(file, place) {
            Ok(path) => path,
            Err(reason) => {
                let help = "a path to a file next to this one";
                self.error(place, format!("cannot include `{file}`: {reason}"), help);
                return None;
            }
        };
        let mut from = Some(place.source);
        while let Some(source) = from {
            let (including, above) = &self.paths[source];
            if same_file(including, &path) {
                self.error(place, format!("`{file}` includes itself"), "remove one of the includes");
                return None;
            }
            from = *above;
        }
        if self.sources.len() >= MOST_FILES {
            let message = format!("more than {MOST_FILES} files are included");
            self.error(place, message, "include fewer files");
            return None;
        }
        match read_text(&path, LARGEST_TEXT.saturating_sub(self.bytes)) {
            Ok(text) => {
                self.bytes += text.len() as u64;
                // A file that is included twice gets a name of its own, so that each text has one.
                let mut name = path.display().to_string();
                while self.sources.iter().any(|source| source.name == name && source.text != text) {
                    name.push('\'');
                }
                self.sources.push(Source { name, text });
                self.paths.push((path, Some(place.source)));
                Some(self.sources.len() - 1)
            }
            Err(reason) => {
                self.error(place, format!("cannot include `{file}`: {reason}"), "a file of readable text");
                None
            }
        }
    }

    /// Where a file lies that some text names: relative to that text's file, or `package://name/…` or
    /// `model://name/…` in a folder of that name above it, next to one above it, or among the user's. It must
    /// be a regular file below the file's root, that folder, or one of the user's.
    pub(crate) fn resolve(&mut self, uri: &str, place: &Place) -> Result<PathBuf, String> {
        let key = (place.source, uri.to_string());
        if let Some(known) = self.resolved.get(&key) {
            return known.clone();
        }
        let found = self.look_up(uri, place.source);
        self.resolved.insert(key, found.clone());
        found
    }

    /// The path, if it is a mesh that can be read and, where one is wanted, has a convex hull.
    pub(crate) fn open_mesh(&mut self, path: PathBuf, hull: bool) -> Result<PathBuf, String> {
        let key = (path, hull);
        let opened = self.meshes.entry(key.clone()).or_insert_with_key(|(path, hull)| {
            let mesh = Mesh::load(path, &Vector3::repeat(1.0)).map_err(|error| error.to_string())?;
            if *hull {
                mesh.hull().map_err(|error| error.to_string())?;
            }
            Ok(())
        });
        opened.clone().map(|()| key.0)
    }

    fn look_up(&self, uri: &str, source: usize) -> Result<PathBuf, String> {
        if uri.is_empty() || uri.contains('\0') {
            return Err("that is not a path".into());
        }
        let folder = self.paths[source].0.parent().unwrap_or(Path::new(""));
        let (package, path) = match uri.split_once("://") {
            None => (None, uri),
            Some(("file", path)) => (None, path),
            Some(("package" | "model", rest)) => {
                // Three slashes are common.
                let rest = rest.trim_start_matches('/');
                let (package, path) = rest.split_once('/').unwrap_or((rest, ""));
                (Some(package), path)
            }
            Some((scheme, _)) => return Err(format!("`{scheme}://` is not supported")),
        };
        // Files from Windows have the other slash.
        let path = PathBuf::from(path.replace('\\', "/"));
        let (base, root) = match package {
            None => (folder.to_path_buf(), self.root.clone()),
            Some(package) => {
                let found = find_package(folder, package, &self.options.packages)
                    .ok_or(format!("there is no package `{package}`"))?;
                (found.clone(), found)
            }
        };
        let joined = base.join(&path);
        if !(inside(&joined, &root) || self.is_allowed(&joined)) {
            return Err(OUTSIDE.into());
        }
        match fs::metadata(&joined) {
            Ok(data) if data.is_file() => Ok(joined),
            Ok(_) => Err("it is not a regular file".into()),
            Err(_) => Err("there is no such file".into()),
        }
    }

    /// Whether a path lies in a folder that the user named.
    fn is_allowed(&self, path: &Path) -> bool {
        self.options.packages.iter().any(|folder| inside(path, folder))
    }

    /// The path that a scene gives a mesh: a whole one, which an import or an export wrote, may also lie in a package that
    /// the scene's folder reaches.
    pub(crate) fn resolve_mesh(&mut self, file: &str) -> Result<PathBuf, String> {
        let scene = &self.paths[0].0;
        if Path::new(file).is_absolute() {
            let folder = scene.parent().unwrap_or(Path::new(""));
            let of_package = |place: &Path| {
                let is_one = place.join("package.xml").is_file() || place.join("model.config").is_file();
                let name = place.file_name().and_then(|name| name.to_str()).filter(|_| is_one);
                let found = name.and_then(|name| find_package(folder, name, &self.options.packages));
                found.is_some_and(|found| same_file(&found, place) && inside(Path::new(file), place))
            };
            // Those of a robot file were found when it was read.
            if super::Format::of(scene).is_some() || Path::new(file).ancestors().skip(1).any(of_package) {
                return Ok(file.into());
            }
        }
        self.resolve(file, &Place::START)
    }
}

/// The package that a file belongs to (the nearest folder above it with a `package.xml`), else the
/// folder above its own: files commonly lie in `urdf/` and refer to `../meshes/`.
fn default_root(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut folders = absolute.ancestors().skip(1);
    if let Some(package) = folders.clone().take(8).find(|folder| folder.join("package.xml").is_file()) {
        return package.to_path_buf();
    }
    let own = folders.next().unwrap_or(Path::new("/"));
    folders.next().filter(|above| above.parent().is_some()).unwrap_or(own).to_path_buf()
}

/// A folder of that name among those above a folder, or next to one of them; by the path as it was given,
/// then with its links followed; then among the user's folders, or in one of them.
fn find_package(folder: &Path, package: &str, packages: &[PathBuf]) -> Option<PathBuf> {
    let plain =
        !package.is_empty() && Path::new(package).components().all(|c| matches!(c, Component::Normal(_)));
    if !plain {
        return None;
    }
    let at = |place: &Path| {
        // Beside the root of the file system lies what is no robot's.
        place.parent()?;
        if place.file_name().is_some_and(|name| name == package) {
            return Some(place.to_path_buf());
        }
        Some(place.join(package)).filter(|inside| inside.is_dir())
    };
    // A file without a folder lies in that of the program.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let absolute = std::path::absolute(folder).ok()?;
    let linked = fs::canonicalize(&absolute).ok().filter(|linked| *linked != absolute);
    let above = [Some(absolute), linked].into_iter().flatten();
    above.into_iter().find_map(|folder| folder.ancestors().find_map(at)).or_else(|| {
        let given = packages.iter().filter_map(|place| std::path::absolute(place).ok());
        given.into_iter().find_map(|place| at(&place).filter(|found| found.is_dir()))
    })
}

/// Whether a path lies below a folder: where both exist with their links followed, else by its words.
fn inside(path: &Path, folder: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => plain(path.to_path_buf()).starts_with(plain(folder.to_path_buf())),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// The text of a file of at most so many bytes. What is no UTF-8 (comments in other encodings, mostly)
/// is replaced, as other tools never look at it.
fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let bytes = files::read(path, most).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        _ => reason.to_string(),
    })?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
