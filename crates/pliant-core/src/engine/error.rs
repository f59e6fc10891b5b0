//! Why an engine did not do what it was asked.

use crate::mechanism::UnknownHandle;

/// A number that is not finite, a list of the wrong length, a handle of something else, or what the engine cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    message: String,
    unsupported: Option<Unsupported>,
}

impl InputError {
    pub(crate) fn new(message: impl Into<String>) -> InputError {
        InputError { message: message.into(), unsupported: None }
    }

    /// What the engine cannot do, and which can, if that is the error.
    pub fn unsupported(&self) -> Option<&Unsupported> {
        self.unsupported.as_ref()
    }
}

impl From<UnknownHandle> for InputError {
    fn from(error: UnknownHandle) -> InputError {
        InputError::new(error.to_string())
    }
}

impl From<Unsupported> for InputError {
    fn from(error: Unsupported) -> InputError {
        InputError { message: error.to_string(), unsupported: Some(error) }
    }
}

/// Something that an engine cannot do, with the engines that can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine `{engine}` has no {what}{}{}", if .engines.is_empty() { "" } else { "; these have: " }, .engines.join(", "))]
pub struct Unsupported {
    /// The engine that was asked.
    pub engine: &'static str,
    /// What it was asked for.
    pub what: &'static str,
    /// Names of the engines that can.
    pub engines: &'static [&'static str],
}

/// Why a step was not taken. The state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The time step is not a positive number.
    #[error("the time step must be a finite number of seconds above zero, not {dt}")]
    TimeStep {
        /// What was given, s.
        dt: f64,
    },
    /// The step would have left a joint open by more than the size of its own links.
    #[error(
        "step {step} would leave a gap of {gap:.3e} m in joint `{joint}`: a load or speed is too large for dt = {dt} s; try a smaller dt or more iterations"
    )]
    Torn {
        /// Number of the step that failed, counted from 1.
        step: u64,
        /// The joint.
        joint: String,
        /// Its gap, m.
        gap: f64,
        /// The time step, s.
        dt: f64,
    },
    /// The step would have taken a joint to where its pose has no coordinates.
    #[error(
        "step {step} would take joint `{joint}` to a pose where its coordinate `{coordinate}` is undefined: its formula is singular there, or the gap in the joint is large; keep it away by limits, or try a smaller dt than {dt} s"
    )]
    Singular {
        /// Number of the step that failed, counted from 1.
        step: u64,
        /// The joint.
        joint: String,
        /// The first coordinate that is lost.
        coordinate: String,
        /// The time step, s.
        dt: f64,
    },
    /// The equations of motion in joint coordinates have no solution.
    #[error(
        "step {step}: the motion of joint `{joint}` is not determined{}: its coordinates are singular there, or its state or load is too large for f64",
        coordinate.as_ref().map(|name| format!(" along its coordinate `{name}`")).unwrap_or_default()
    )]
    Undetermined {
        /// Number of the step that failed, counted from 1.
        step: u64,
        /// The joint.
        joint: String,
        /// Which of its coordinates, as [`JointKind::coordinate_name`](crate::joints::JointKind::coordinate_name) has it; `None` for what closes a loop or coupling.
        coordinate: Option<String>,
    },
    /// A spring coupling on a body where the engine takes none.
    #[error("the spring coupling on body `{body}` cannot act: {why}")]
    Spring {
        /// The body.
        body: String,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// Something acts that the engine has not, as it is set up.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The inputs are those of another mechanism.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// The step would have led to numbers that are not finite.
    #[error("step {step} would leave body `{body}` with numbers that are not finite: {cause}")]
    NotFinite {
        /// Number of the step that failed, counted from 1.
        step: u64,
        /// The first body concerned.
        body: String,
        /// What probably led to it.
        cause: String,
    },
}
