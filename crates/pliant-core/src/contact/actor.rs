//! A mechanism with the engine that moves it, as contact sees it.

use super::delassus::Push;
use crate::full::StepError;
use crate::inputs::Inputs;
use crate::mechanism::{BodyId, EffectorId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;
use crate::{articulated, blended, full, live, reduced};

/// A running simulation of any engine.
#[derive(Clone, Debug)]
pub enum Actor<'m> {
    /// Touched by any body that has a shape.
    Full(Box<full::Simulation<'m>>),
    /// Touched by any body that has a shape.
    Articulated(Box<articulated::Simulation<'m>>),
    /// Touched by the bodies of its effectors.
    Reduced(Box<reduced::Simulation<'m>>),
    /// Touched by the bodies of its effectors and by its inner links.
    Live(Box<live::Simulation<'m>>),
    /// Touched by the bodies of its effectors, with forces from the live engine.
    Blended(Box<blended::Simulation<'m>>),
}

impl<'m> From<full::Simulation<'m>> for Actor<'m> {
    fn from(simulation: full::Simulation<'m>) -> Actor<'m> {
        Actor::Full(Box::new(simulation))
    }
}

impl<'m> From<articulated::Simulation<'m>> for Actor<'m> {
    fn from(simulation: articulated::Simulation<'m>) -> Actor<'m> {
        Actor::Articulated(Box::new(simulation))
    }
}

impl<'m> From<reduced::Simulation<'m>> for Actor<'m> {
    fn from(simulation: reduced::Simulation<'m>) -> Actor<'m> {
        Actor::Reduced(Box::new(simulation))
    }
}

impl<'m> From<live::Simulation<'m>> for Actor<'m> {
    fn from(simulation: live::Simulation<'m>) -> Actor<'m> {
        Actor::Live(Box::new(simulation))
    }
}

impl<'m> From<blended::Simulation<'m>> for Actor<'m> {
    fn from(simulation: blended::Simulation<'m>) -> Actor<'m> {
        Actor::Blended(Box::new(simulation))
    }
}

/// The same call of whichever engine it is.
macro_rules! each {
    ($actor:expr, $simulation:ident => $call:expr) => {
        match $actor {
            Actor::Full($simulation) => $call,
            Actor::Articulated($simulation) => $call,
            Actor::Reduced($simulation) => $call,
            Actor::Live($simulation) => $call,
            Actor::Blended($simulation) => $call,
        }
    };
}

impl<'m> Actor<'m> {
    /// The mechanism that moves.
    pub fn mechanism(&self) -> &'m Mechanism {
        each!(self, simulation => simulation.mechanism())
    }

    /// The engine's name.
    pub fn engine(&self) -> &'static str {
        match self {
            Actor::Full(_) => "full",
            Actor::Articulated(_) => "articulated",
            Actor::Reduced(_) => "reduced",
            Actor::Live(_) => "live",
            Actor::Blended(_) => "blended",
        }
    }

    /// What acts from outside, besides contact.
    pub fn inputs(&self) -> &Inputs {
        each!(self, simulation => simulation.inputs())
    }

    /// What acts from outside, to change it.
    pub fn inputs_mut(&mut self) -> &mut Inputs {
        each!(self, simulation => simulation.inputs_mut())
    }

    /// Where everything is.
    pub fn state(&mut self) -> &State {
        each!(self, simulation => simulation.state())
    }

    /// The frame of an effector, as the engine has it.
    pub fn effector_pose(&self, effector: EffectorId) -> Pose {
        each!(self, simulation => simulation.effector_pose(effector))
    }

    /// What a body is touched by; `None` if the engine cannot touch with it, or it does not move.
    pub(super) fn touch(&self, body: BodyId) -> Option<usize> {
        match self {
            Actor::Full(_) | Actor::Articulated(_) => {
                self.mechanism().order().node_of(body).map(|_| body.index())
            }
            Actor::Reduced(simulation) => simulation.touch(body),
            Actor::Live(simulation) => simulation.touch(body),
            Actor::Blended(simulation) => simulation.touch(body),
        }
    }

    /// Parts that do not feel each other's pushes.
    pub(super) fn part_count(&self) -> usize {
        match self {
            Actor::Reduced(simulation) => simulation.part_count(),
            _ => 1,
        }
    }

    /// Which of them a touched body is in.
    pub(super) fn part_of(&self, touch: usize) -> usize {
        match self {
            Actor::Reduced(simulation) => simulation.part_of(touch),
            _ => 0,
        }
    }

    /// The link frame of a touched body.
    pub(super) fn pose(&self, touch: usize) -> Pose {
        each!(self, simulation => simulation.touch_pose(touch))
    }

    /// Its twist now, world axes at the link frame.
    pub(super) fn twist(&self, touch: usize) -> Twist {
        each!(self, simulation => simulation.touch_twist(touch))
    }

    /// Solves a step of h seconds as if nothing touched; nothing moves.
    pub(super) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        each!(self, simulation => simulation.solve_free(h))
    }

    /// The twist of a touched body at the end of that step.
    pub(super) fn free_twist(&self, touch: usize, h: f64) -> Twist {
        match self {
            Actor::Full(simulation) => simulation.free_twist(touch),
            Actor::Articulated(simulation) => simulation.free_twist(touch),
            Actor::Reduced(simulation) => simulation.free_twist(touch),
            Actor::Live(simulation) => simulation.free_twist(touch, h),
            Actor::Blended(simulation) => simulation.free_twist(touch, h),
        }
    }

    /// How the touched bodies of a part answer to pushes in that step: G A⁻¹ Gᵀ, row by row.
    pub(super) fn respond(&mut self, h: f64, part: usize, pushes: &[Push], out: &mut [f64]) {
        match self {
            Actor::Full(simulation) => simulation.respond(pushes, out),
            Actor::Articulated(simulation) => simulation.respond(h, pushes, out),
            Actor::Reduced(simulation) => simulation.respond(part, pushes, out),
            Actor::Live(simulation) => simulation.respond(pushes, out),
            Actor::Blended(simulation) => simulation.respond(pushes, out),
        }
    }

    /// Solves that step once more, with impulses on touched bodies, world axes at their link frames; nothing moves.
    pub(super) fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        each!(self, simulation => simulation.attempt(h, impulses))
    }

    /// Takes the step that was attempted.
    pub(super) fn take(&mut self, h: f64) {
        each!(self, simulation => simulation.take(h))
    }
}
