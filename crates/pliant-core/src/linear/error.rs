//! Why a mechanism cannot be reduced.

/// A mechanism that cannot be reduced as asked. Every message names what is to be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReductionError {
    /// There is nothing to reduce to.
    #[error(
        "{} has no effector to be reduced to: add an [[effector]] with the name of a body to its file, or reduce it to a body",
        named(.mechanism)
    )]
    NoEffector {
        /// Its name.
        mechanism: String,
    },
    /// A name that is neither an effector nor a body.
    #[error(
        "there is no effector or body `{name}`; effectors of the file: {there}. Name one of these or a body, or add an [[effector]] of that name to the file"
    )]
    UnknownEffector {
        /// What was asked for.
        name: String,
        /// The names there are.
        there: String,
    },
    /// The same effector twice.
    #[error("effector `{name}` is named twice: name each once")]
    Repeated {
        /// Its name.
        name: String,
    },
    /// An effector that no joint lets move.
    #[error(
        "effector `{effector}` on body `{body}` cannot move: {why}. Choose another body, or let a joint between this one and the world move"
    )]
    Immovable {
        /// The effector.
        effector: String,
        /// Its body.
        body: String,
        /// What holds it.
        why: String,
    },
    /// A motion that nothing holds.
    #[error(
        "nothing holds effector `{effector}` on body `{body}`: it moves with joint `{joint}`, which has a freedom without a spring that no loop or coupling holds. Give that joint a stiffness"
    )]
    NotHeld {
        /// The effector.
        effector: String,
        /// Its body.
        body: String,
        /// A passive joint that moves with it.
        joint: String,
    },
    /// Loops that rounding does not let be closed.
    #[error("redundant loop constraints at joint `{joint}`: remove one, or make it a bushing")]
    LostLoops {
        /// A joint that closes one of them.
        joint: String,
    },
    /// Loops of so many joints that the matrices over them are dense and too large.
    #[error(
        "its loops or couplings join {freedoms} freedoms, and choosing motions needs dense matrices of this size, {:.1} GiB, and time with its cube: at most {most} are supported. Use the engine `articulated`",
        *.memory as f64 / f64::from(1u32 << 30)
    )]
    LargeLoops {
        /// Freedoms of all joints.
        freedoms: usize,
        /// That are taken at most.
        most: usize,
        /// Bytes of the matrices.
        memory: usize,
    },
    /// A set of joint positions that the mechanism cannot take.
    #[error("{0}")]
    Position(String),
    /// A choice of mass, modes or free base that do not go together.
    #[error("{0}")]
    Options(String),
    /// A motion off the effectors that nothing holds.
    #[error(
        "links are unconstrained: joint `{joint}` has a freedom without a spring that no loop or coupling holds, so there is no equilibrium under gravity. Give that joint a stiffness"
    )]
    Loose {
        /// The joint.
        joint: String,
    },
}

/// A mechanism by its name, if it has one.
fn named(mechanism: &str) -> String {
    if mechanism.is_empty() { "the mechanism".into() } else { format!("mechanism `{mechanism}`") }
}
