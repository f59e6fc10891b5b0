//! What a robot file says, in the mechanism's own words, before it is given its meaning.

use std::collections::HashMap;

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, JointDescription, LoadDescription, Shape,
};

use super::context::Place;

/// Everything a reader found. Poses and joint frames are in the world, with every joint at zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// The robot's name, or nothing.
    pub(crate) name: String,
    /// Gravity, if the file says so, m/s².
    pub(crate) gravity: Option<[f64; 3]>,
    /// The links. One that no connection carries is a root.
    pub(crate) links: Vec<Link>,
    /// What carries each link, at most one for each.
    pub(crate) connections: Vec<Connection>,
    /// Joints that close loops, in any direction.
    pub(crate) loops: Vec<Joint>,
    /// Joints that follow others.
    pub(crate) couplings: Vec<(CouplingDescription, Place)>,
    /// Frames that the file names (MJCF sites): the default effectors are chosen among them and the links.
    pub(crate) effectors: Vec<(EffectorDescription, Place)>,
    /// Dead loads.
    pub(crate) loads: Vec<(LoadDescription, Place)>,
    /// Shapes that do not move.
    pub(crate) world_shapes: Vec<(Shape, Place)>,
    /// Whether a key frame says where it starts.
    pub(crate) in_key_frame: bool,
}

/// A body and where it was read.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// As the file says; nothing needs to be repaired by the reader.
    pub(crate) body: Body,
    /// The element.
    pub(crate) place: Place,
}

/// Links by name; of several of one name, the first.
pub(crate) fn index(links: &[Link]) -> HashMap<String, usize> {
    let mut index = HashMap::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        index.entry(link.body.name.clone()).or_insert(i);
    }
    index
}

/// What carries a link: no joint is a weld, several are a chain, parent first.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// A link's name, or `world`.
    pub(crate) parent: String,
    /// A link's name.
    pub(crate) child: String,
    /// Names, kinds and frames count; parent and child are filled in.
    pub(crate) joints: Vec<Joint>,
}

/// A joint and where it was read.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    /// As the file says.
    pub(crate) description: JointDescription,
    /// The element.
    pub(crate) place: Place,
    /// Whether the default springs may hold it: the file says nothing of how it is held.
    pub(crate) default_spring: bool,
}

impl Joint {
    /// A joint of a name and kind; its parent and child are set by the connection.
    pub(crate) fn new(name: impl Into<String>, kind: JointKind, place: Place) -> Joint {
        let description = JointDescription::new(name, kind, "", "");
        Joint { description, place, default_spring: false }
    }
}
