//! Claim: a robot file is read as its format says; what cannot be taken is a warning with file and line,
//! what is wrong an error at its place; a scene file can change what it imports; and no file does harm.

mod chains;
mod colors;
mod errors;
mod meaning;
pub mod meshes;
mod mutations;
mod overlay;
mod refused;
mod urdf;
mod warnings;

use crate::common::folder::Folder;
use pliant_core::mechanism::Mechanism;
use pliant_io::{Options, SceneErrors};

/// A link with mass 1 and moments 0.1.
fn link(name: &str) -> String {
    format!(
        "<link name=\"{name}\"><inertial><mass value=\"1\"/>\
         <inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n"
    )
}

fn links(names: &[&str]) -> String {
    names.iter().map(|name| link(name)).collect()
}

/// A joint with what else it says.
fn joint(name: &str, kind: &str, parent: &str, child: &str, rest: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{rest}</joint>\n"
    )
}

/// A robot of lines.
fn robot(lines: &[&str]) -> String {
    format!("<robot name=\"r\">\n{}</robot>\n", lines.concat())
}

fn read_with(text: &str, options: &Options) -> Result<Mechanism, SceneErrors> {
    pliant_io::import::read(text, "robot.urdf", options)
}

/// It is read, with exactly these warnings.
#[track_caller]
fn read(text: &str, warnings: &[&str]) -> Mechanism {
    let mechanism = read_with(text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(mechanism.warnings(), warnings);
    crate::common::assert_round_trip(&mechanism);
    mechanism
}

/// It is refused with exactly this text.
#[track_caller]
fn expect(text: &str, errors: &str) {
    let found = read_with(text, &Options::default()).expect_err("the file is wrong").to_string();
    assert_eq!(found, errors.trim_matches('\n'), "\n{found}");
}
