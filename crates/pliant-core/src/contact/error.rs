//! What is wrong with a scene of contact, before anything moves.

use crate::mechanism::UnknownHandle;

/// Why something cannot take part in contact.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ContactError {
    /// A shape that cannot be touched.
    #[error("the {kind} of {owner} cannot be used for contact: {why}")]
    Shape {
        /// The word of the scene file.
        kind: &'static str,
        /// What carries it.
        owner: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// A free body that cannot move.
    #[error(
        "the free body `{body}` needs a mass above zero and an inertia that is positive definite; give it `mass` and `inertia`, or shapes with `density`"
    )]
    Massless {
        /// Its name.
        body: String,
    },
    /// Friction or restitution out of range.
    #[error("the {what} of {owner} is {value}: it must be {range}")]
    Material {
        /// `friction` or `restitution`.
        what: &'static str,
        /// What carries the shape.
        owner: String,
        /// What was given.
        value: f64,
        /// What would be right.
        range: &'static str,
    },
    /// A free body that cannot be attached or detached.
    #[error("{body} cannot be {what}: {why}")]
    Attachment {
        /// Which.
        body: String,
        /// `attached` or `detached`.
        what: &'static str,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// An engine that has nothing to touch with.
    #[error(
        "no body of mechanism `{mechanism}` that has contact in engine `{engine}` has a shape for contact: give one to {wanted}"
    )]
    NoShape {
        /// Its name.
        mechanism: String,
        /// Its engine.
        engine: &'static str,
        /// Where one is missing.
        wanted: String,
    },
    /// Shapes of a scene that start inside each other.
    #[error("{text} (give a shape that is meant to overlap `touches = false`)")]
    Inside {
        /// Which, and how deep.
        text: String,
    },
    /// An engine that takes no part in contact.
    #[error(
        "the engine `{engine}` of `{mechanism}` does not support contact: use `reduced`, `articulated` or `full`"
    )]
    Untouchable {
        /// The mechanism's name.
        mechanism: String,
        /// Its engine.
        engine: &'static str,
    },
    /// A time of recovery that is none.
    #[error("the recovery time of overlaps is {seconds} s: it must be finite and above zero")]
    RecoveryTime {
        /// What was given.
        seconds: f64,
    },
    /// A scene in a world: both step what is in them.
    #[error("the simulation of `{mechanism}` is a scene with a world of its own: add its parts instead")]
    Nested {
        /// Its name.
        mechanism: String,
    },
    /// A simulation of another mechanism than the one that the scene's joints hold together.
    #[error(
        "the simulation is of mechanism `{mechanism}`, not of the bodies connected by joints in this scene"
    )]
    Foreign {
        /// Its name.
        mechanism: String,
    },
    /// The parts of another mechanism.
    #[error("the parts are those of another mechanism than `{mechanism}`: use its `take_apart`")]
    Apart {
        /// Its name.
        mechanism: String,
    },
    /// An elastic zone that cannot be made.
    #[error("zone `{zone}` cannot be built: {why}")]
    Zone {
        /// Its name.
        zone: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// A handle of another world or mechanism.
    #[error(transparent)]
    Unknown(#[from] UnknownHandle),
}
