#![doc = include_str!("README.md")]

mod chain;
mod context;
mod default_springs;
mod draft;
mod effectors;
mod mass;
mod meaning;
pub mod mesh;
mod mjcf;
mod parts;
mod sdf;
mod shape;
mod starting;
mod urdf;
mod xml;

use std::path::{Path, PathBuf};

use pliant_core::mechanism::Mechanism;

use crate::diagnostic::SceneErrors;
pub(crate) use context::{Context, Place};
pub(crate) use draft::Draft;
pub(crate) use meaning::weld;

/// What a user may say about a robot file that is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The root moves freely instead of being fixed to the world.
    pub free_base: bool,
    /// The folder that included files and meshes must lie in. Without one: the package that the file
    /// belongs to (the nearest folder with a `package.xml`), else the folder above the file's own.
    pub root: Option<PathBuf>,
    /// Folders that files may lie in too. The packages of `package://` and `model://` are looked for in them, after those
    /// above the file: each is such a package or has some in it.
    pub packages: Vec<PathBuf>,
}

impl Options {
    /// The folders that `ROS_PACKAGE_PATH` lists, as ROS does.
    pub fn with_ros_packages(mut self) -> Options {
        let listed = std::env::var_os("ROS_PACKAGE_PATH").unwrap_or_default();
        self.packages.extend(std::env::split_paths(&listed).filter(|folder| folder.is_absolute()));
        self
    }
}

/// A format of robot files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Unified Robot Description Format, `<robot>`.
    Urdf,
    /// MuJoCo's format, `<mujoco>`.
    Mjcf,
    /// Simulation Description Format, `<sdf>`.
    Sdf,
}

impl Format {
    /// By a file's extension.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "urdf" => Some(Format::Urdf),
            "xml" => Some(Format::Mjcf),
            "sdf" => Some(Format::Sdf),
            _ => None,
        }
    }

    /// By the name of the root element, which is what counts.
    fn of_root(name: &str) -> Option<Format> {
        match name {
            "robot" => Some(Format::Urdf),
            "mujoco" => Some(Format::Mjcf),
            "sdf" => Some(Format::Sdf),
            _ => None,
        }
    }
}

/// Reads a mechanism from the text of a robot file; `file` is its path, which errors show and from which
/// other files are found. What could not be taken, or was repaired, is among the mechanism's warnings.
///
/// ```
/// let text = r#"<robot name="pendulum">
///   <link name="base"/>
///   <link name="bob">
///     <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
///   </link>
///   <joint name="pivot" type="continuous">
///     <parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
///   </joint>
/// </robot>"#;
/// let mechanism = pliant_io::import::read(text, "pendulum.urdf", &Default::default())?;
/// assert_eq!(mechanism.summary().freedoms, 1);
/// # Ok::<(), pliant_io::SceneErrors>(())
/// ```
pub fn read(text: &str, file: &str, options: &Options) -> Result<Mechanism, SceneErrors> {
    let mut context = Context::new(text.to_string(), file, options);
    let mechanism = read_draft(&mut context).and_then(|draft| draft.build(&mut context));
    mechanism.ok_or_else(|| context.into_errors())
}

/// The robot of the context's first file; `None` if something is wrong, which is reported.
pub(crate) fn read_draft(context: &mut Context) -> Option<Draft> {
    let mut root = xml::parse(0, context)?;
    let parts = match Format::of_root(&root.name) {
        Some(Format::Urdf) => urdf::read(&root, context),
        Some(Format::Mjcf) => mjcf::read(&mut root, context),
        Some(Format::Sdf) => sdf::read(&root, context),
        None => {
            let message = format!("<{}> is not a robot", root.name);
            context.error(&root.place, message, "<robot> (URDF), <mujoco> (MJCF) or <sdf>");
            return None;
        }
    };
    if context.has_errors() {
        return None;
    }
    if parts.links.is_empty() {
        context.error(&root.place, "the file has no links", "add at least one");
        return None;
    }
    let mut draft = meaning::draft(parts, context);
    draft.choose_start(context);
    (!context.has_errors()).then_some(draft)
}
