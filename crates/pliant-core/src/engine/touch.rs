//! What contact asks of an engine, and the other questions that only this crate asks.
//!
//! A step with contact: [`Touch::solve_free`] without it, [`Touch::respond`] for the response W to impulses, and once these
//! are known [`Touch::attempt`] with them; [`Touch::take`] moves on.

use nalgebra::Vector6;

use super::{Inputs, Simulation, State, StepError};
use crate::mechanism::{BodyId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};

/// A contact as it acts on one body: three unit wrenches, world axes at its link frame's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Which of the touched bodies, as [`Touch::touch`] has it.
    pub touch: usize,
    /// Along normal and tangents.
    pub rows: [Vector6<f64>; 3],
}

/// What only this crate asks of a simulation. It has no name outside, so that a user cannot write an engine of his own.
pub trait Internal {
    /// Itself, as a trait object.
    fn as_simulation(&self) -> &dyn Simulation;

    /// A copy of itself.
    fn boxed(&self) -> Box<dyn Simulation>;

    /// Itself, if contact can move it.
    fn into_touch(self: Box<Self>) -> Option<Box<dyn Touch>>;

    /// The engine's name.
    fn name(&self) -> &'static str;

    /// The mechanism that moves.
    fn whole(&self) -> &Mechanism;

    /// The link frame of a body, by its position in the mechanism.
    fn body_pose(&self, body: usize) -> Pose;

    /// Computes the state, if there was a step since.
    fn refresh(&mut self);

    /// The state as it was last computed, its time and number of steps as they are now, and the inputs.
    fn state_and_inputs(&self) -> (&State, &Inputs);

    /// The inputs, when nothing is to be computed again after a change.
    fn own_inputs(&mut self) -> &mut Inputs;

    /// Bounds the dry friction of its states by the laws of the joints; false if its model is made of these laws, so that they cannot
    /// change.
    fn bound_friction(&mut self) -> bool;
}

/// Implements [`Internal`] for an engine's simulation, which has the fields `state` and `inputs`: its name, where its mechanism is, how
/// contact takes it (`Some`, or a function that gives `None`), the states whose dry friction the laws of joints bound (none if these laws cannot
/// change), the method that computes the state where no step does (it has a field `filled` then), and the link frame of a body.
macro_rules! internal {
    (
        name: $name:literal,
        mechanism: $($mechanism:ident).+,
        touch: $touch:expr,
        bounded: [$($($bounded:ident).+),*],
        fill: [$($fill:ident)?],
        pose: |$simulation:ident, $body:ident| $pose:expr $(,)?
    ) => {
        impl crate::engine::touch::Internal for Simulation {
            fn as_simulation(&self) -> &dyn crate::engine::Simulation {
                self
            }

            fn boxed(&self) -> Box<dyn crate::engine::Simulation> {
                Box::new(self.clone())
            }

            fn into_touch(self: Box<Self>) -> Option<Box<dyn crate::engine::touch::Touch>> {
                $touch(self)
            }

            fn name(&self) -> &'static str {
                $name
            }

            fn whole(&self) -> &crate::mechanism::Mechanism {
                &self.$($mechanism).+
            }

            fn body_pose(&self, $body: usize) -> crate::spatial::Pose {
                let $simulation = self;
                $pose
            }

            fn refresh(&mut self) {
                $(if !self.filled {
                    self.$fill();
                    self.filled = true;
                })?
            }

            fn state_and_inputs(&self) -> (&crate::engine::State, &crate::engine::Inputs) {
                (&self.state, &self.inputs)
            }

            fn own_inputs(&mut self) -> &mut crate::engine::Inputs {
                &mut self.inputs
            }

            fn bound_friction(&mut self) -> bool {
                let bounded = 0 $(+ {
                    self.inputs.bound_friction(&mut self.$($bounded).+);
                    1
                })*;
                bounded > 0
            }
        }
    };
}
pub(crate) use internal;

/// An engine as contact sees it.
pub trait Touch: Simulation {
    /// What a body is touched by; `None` if the engine cannot touch with it, or it does not move. It is the body itself where every link
    /// can be touched.
    fn touch(&self, body: BodyId) -> Option<usize> {
        self.mechanism().order().node_of(body).map(|_| body.index())
    }

    /// Number of parts that do not feel each other's impulses.
    fn part_count(&self) -> usize {
        1
    }

    /// Which of them a touched body is in.
    fn part_of(&self, _touch: usize) -> usize {
        0
    }

    /// The link frame of a touched body.
    fn touch_pose(&self, touch: usize) -> Pose {
        self.body_pose(touch)
    }

    /// Its twist now, world axes at the link frame.
    fn touch_twist(&self, touch: usize) -> Twist {
        self.state_and_inputs().0.world_twist_at(touch)
    }

    /// Solves a step of h seconds without contact; the state is unchanged.
    fn solve_free(&mut self, h: f64) -> Result<(), StepError>;

    /// The twist of a touched body at the end of that step, world axes at where its link frame is now.
    fn free_twist(&self, touch: usize, h: f64) -> Twist;

    /// Response of the touched bodies of a part to impulses in that step: G A⁻¹ Gᵀ, row by row.
    fn respond(&mut self, h: f64, part: usize, pushes: &[Push], out: &mut [f64]);

    /// Whether the step with impulses is exactly that without them and what the response adds.
    fn responds_exactly(&self) -> bool {
        false
    }

    /// Solves that step with impulses on touched bodies, world axes at their link frames; the state is unchanged.
    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError>;

    /// The link frame of a touched body at the end of the step that was attempted, if the engine has it by then.
    fn next_touch_pose(&self, _touch: usize) -> Option<Pose> {
        None
    }

    /// The energy at the end of the step that was attempted ([`Energy::with_loads`](super::Energy::with_loads)), if the engine knows it
    /// by then.
    fn next_energy(&mut self) -> Option<f64> {
        None
    }

    /// Takes the step that was attempted.
    fn take(&mut self, h: f64);
}

impl std::fmt::Debug for dyn Touch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_simulation().fmt(f)
    }
}

impl Clone for Box<dyn Touch> {
    fn clone(&self) -> Self {
        self.boxed().into_touch().expect("contact moves it")
    }
}
