//! A mechanism with the engine that moves it, as contact sees it.

use nalgebra::Vector3;

use super::delassus::Push;
use crate::full::StepError;
use crate::mechanism::{BodyId, Mechanism};
use crate::reduced;
use crate::spatial::{Pose, Twist, Wrench};

/// A running simulation of any engine.
#[derive(Clone, Debug)]
pub enum Actor<'m> {
    /// Touched by its effectors.
    Reduced(Box<reduced::Simulation<'m>>),
}

impl<'m> From<reduced::Simulation<'m>> for Actor<'m> {
    fn from(simulation: reduced::Simulation<'m>) -> Actor<'m> {
        Actor::Reduced(Box::new(simulation))
    }
}

impl Actor<'_> {
    /// The mechanism that moves.
    pub fn mechanism(&self) -> &Mechanism {
        match self {
            Actor::Reduced(simulation) => simulation.mechanism(),
        }
    }

    /// The engine's name.
    pub fn engine(&self) -> &'static str {
        match self {
            Actor::Reduced(_) => "reduced",
        }
    }

    /// Gravity, world axes, m/s².
    pub fn gravity(&self) -> Vector3<f64> {
        match self {
            Actor::Reduced(simulation) => simulation.inputs().gravity(),
        }
    }

    /// What a body is touched by; `None` if the engine cannot touch with it.
    pub(super) fn touch(&self, body: BodyId) -> Option<usize> {
        match self {
            Actor::Reduced(simulation) => simulation.touch(body),
        }
    }

    /// Parts that do not feel each other's pushes, and which of them a touched body is in.
    pub(super) fn part_count(&self) -> usize {
        match self {
            Actor::Reduced(simulation) => simulation.part_count(),
        }
    }

    pub(super) fn part_of(&self, touch: usize) -> usize {
        match self {
            Actor::Reduced(simulation) => simulation.part_of(touch),
        }
    }

    /// The link frame of a touched body.
    pub(super) fn pose(&self, touch: usize) -> Pose {
        match self {
            Actor::Reduced(simulation) => simulation.touch_pose(touch),
        }
    }

    /// Its twist now, world axes at the link frame.
    pub(super) fn twist(&self, touch: usize) -> Twist {
        match self {
            Actor::Reduced(simulation) => simulation.touch_twist(touch, false, 0.0),
        }
    }

    /// Solves a step of h seconds as if nothing touched; nothing moves.
    pub(super) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        match self {
            Actor::Reduced(simulation) => simulation.solve_free(h),
        }
    }

    /// The twist of a touched body at the end of that step.
    pub(super) fn free_twist(&self, touch: usize, h: f64) -> Twist {
        match self {
            Actor::Reduced(simulation) => simulation.touch_twist(touch, true, h),
        }
    }

    /// How the touched bodies of a part answer to pushes in that step: G A⁻¹ Gᵀ, row by row.
    pub(super) fn respond(&mut self, part: usize, pushes: &[Push], out: &mut [f64]) {
        match self {
            Actor::Reduced(simulation) => simulation.respond(part, pushes, out),
        }
    }

    /// Takes that step, with impulses on touched bodies, world axes at their link frames. On an error nothing has moved.
    pub(super) fn finish(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        match self {
            Actor::Reduced(simulation) => simulation.finish(h, impulses),
        }
    }
}
