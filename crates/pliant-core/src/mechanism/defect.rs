//! What is wrong with a description of a mechanism.

use std::fmt;

/// A part of a description, by its position in the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The mechanism as a whole.
    Mechanism,
    /// A body.
    Body(usize),
    /// A shape of a body.
    BodyShape(usize, usize),
    /// A shape of the world.
    WorldShape(usize),
    /// A joint.
    Joint(usize),
    /// An effector.
    Effector(usize),
    /// A coupling.
    Coupling(usize),
    /// A load.
    Load(usize),
    /// A target.
    Target(usize),
    /// A spring.
    Spring(usize),
    /// An elastic zone.
    Zone(usize),
}

/// One thing that is wrong: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The part it belongs to.
    pub element: Element,
    /// The scene file's key of the offending value, if it is one value.
    pub field: Option<&'static str>,
    /// What is wrong, naming the element.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.help)
    }
}

/// Everything that is wrong with a description, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidMechanism {
    /// At least one defect, in the order of the description.
    pub defects: Vec<Defect>,
}

impl fmt::Display for InvalidMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, defect) in self.defects.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{defect}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidMechanism {}
