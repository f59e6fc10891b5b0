//! Contact moves a blended model by the live engine, as loads do by default: where forces come from the blend alone, it does not
//! take part.

use super::Force;
use super::simulation::Simulation;
use crate::contact::Push;
use crate::full::StepError;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

impl Simulation<'_> {
    /// Whether a body carries an effector.
    pub(crate) fn touch(&self, body: BodyId) -> Option<usize> {
        if self.options.force == Force::Live { self.mover.touch(body) } else { None }
    }

    /// The link frame of a body.
    pub(crate) fn touch_pose(&self, body: usize) -> Pose {
        self.mover.touch_pose(body)
    }

    /// Its twist, world axes at the link frame.
    pub(crate) fn touch_twist(&self, body: usize) -> Twist {
        self.mover.touch_twist(body)
    }

    /// Solves the step as if nothing touched; nothing moves.
    pub(crate) fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.inform_mover();
        self.mover.solve_free(h)
    }

    /// The twist of a body in that step.
    pub(crate) fn free_twist(&self, body: usize, h: f64) -> Twist {
        self.mover.free_twist(body, h)
    }

    /// W of pushes on bodies, row by row.
    pub(crate) fn respond(&mut self, pushes: &[Push], out: &mut [f64]) {
        self.mover.respond(pushes, out);
    }

    /// Solves the step with impulses on bodies, world axes at their link frames; nothing moves.
    pub(crate) fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        self.mover.attempt(h, impulses)
    }

    /// Takes the step that was attempted.
    pub(crate) fn take(&mut self, h: f64) {
        self.mover.take(h);
        self.moved(h);
    }
}
