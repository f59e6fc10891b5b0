//! Every key of a scene file, by section: the only lists of keys there are. The reader refuses any other key, and a test
//! compares the lists with the tables of docs/scene.md.

/// A group of keys that stand together in one table of docs/scene.md.
pub(super) struct Section {
    /// The heading of that table.
    heading: &'static str,
    keys: &'static [&'static str],
}

const SECTIONS: [Section; 17] = [
    Section {
        heading: "Top of the file",
        keys: &[
            "mechanism",
            "body",
            "joint",
            "effector",
            "coupling",
            "load",
            "target",
            "spring",
            "zone",
            "world",
            "import",
            "free_base",
        ],
    },
    Section { heading: "[mechanism]", keys: &["name", "gravity"] },
    Section { heading: "[world]", keys: &["shape"] },
    Section {
        heading: "[[body]]",
        keys: &[
            "name",
            "position",
            "rotation",
            "rpy",
            "mass",
            "center_of_mass",
            "inertia",
            "free",
            "shape",
            "passes",
        ],
    },
    Section { heading: "[[body]] with match", keys: &["match", "shape", "passes"] },
    Section {
        heading: "[[body.shape]] and [[world.shape]]",
        keys: &[
            "kind",
            "position",
            "rotation",
            "rpy",
            "density",
            "friction",
            "restitution",
            "touches",
            "color",
        ],
    },
    Section {
        heading: "[[joint]]",
        keys: &["name", "kind", "parent", "child", "position", "axis", "rotation", "rpy"],
    },
    Section {
        heading: "[[joint]]: springs and limits",
        keys: &[
            "stiffness",
            "compliance",
            "damping",
            "limits",
            "rest",
            "armature",
            "friction",
            "torque_limit",
            "linear_to",
            "start",
        ],
    },
    Section {
        heading: "[[joint]] of kind expression",
        keys: &["transform", "ready", "lengths", "angles", "parameters"],
    },
    Section { heading: "[[joint]] with match", keys: &["match", "kind"] },
    Section { heading: "[[effector]]", keys: &["name", "body", "position", "rotation", "rpy"] },
    Section { heading: "[[effector]] with match", keys: &["match", "position", "rotation", "rpy"] },
    Section { heading: "[[coupling]]", keys: &["joint", "of", "ratio", "offset"] },
    Section { heading: "[[load]]", keys: &["effector", "force", "torque"] },
    Section { heading: "[[target]]", keys: &["joint", "time", "position"] },
    Section {
        heading: "[[spring]]",
        keys: &[
            "name",
            "body",
            "effector",
            "position",
            "rotation",
            "rpy",
            "point",
            "time",
            "to",
            "stiffness",
            "turning_stiffness",
            "damping",
            "turning_damping",
        ],
    },
    Section {
        heading: "[[zone]]",
        keys: &[
            "name",
            "body",
            "kind",
            "position",
            "rotation",
            "rpy",
            "young",
            "poisson",
            "damping",
            "density",
            "friction",
            "resolution",
            "nodes",
            "bonded",
            "to",
            "pieces",
        ],
    },
];

/// What each kind of shape takes in addition to the keys of all shapes; the heading is the kind.
const SHAPES: [Section; 8] = [
    Section { heading: "box", keys: &["size"] },
    Section { heading: "ball", keys: &["radius"] },
    Section { heading: "capsule", keys: &["radius", "half_length"] },
    Section { heading: "cylinder", keys: &["radius", "half_length"] },
    Section { heading: "mesh", keys: &["file", "scale"] },
    Section { heading: "convex", keys: &["file", "scale"] },
    Section { heading: "heightfield", keys: &["size", "heights"] },
    Section { heading: "plane", keys: &[] },
];

/// The section of a heading, which must be one of the list.
pub(super) fn section(heading: &str) -> &'static Section {
    let found = SECTIONS.iter().find(|section| section.heading == heading);
    found.unwrap_or_else(|| panic!("no section of the scene file is called {heading}"))
}

/// The keys of a kind of shape; `None` if there is no such kind.
pub(super) fn shape(kind: &str) -> Option<&'static Section> {
    SHAPES.iter().find(|section| section.heading == kind)
}

/// Whether a kind of shape is read from a file.
pub(super) fn is_file(kind: &Section) -> bool {
    kind.keys.contains(&"file")
}

/// Every kind of shape.
pub(super) fn shape_kinds() -> Vec<&'static str> {
    SHAPES.iter().map(|section| section.heading).collect()
}

impl Section {
    pub(super) fn keys(&self) -> &'static [&'static str] {
        self.keys
    }
}

#[cfg(test)]
mod tests;
