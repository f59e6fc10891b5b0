//! Contact moves a blended model by the live engine, as loads do by default: where forces come from the blend alone, it does not
//! take part.

use super::Force;
use super::simulation::Simulation;
use crate::engine::StepError;
use crate::engine::touch::{Push, Touch, internal};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

internal!(|simulation, body| simulation.link_pose(body));

impl Touch for Simulation {
    fn boxed_touch(&self) -> Box<dyn Touch> {
        Box::new(self.clone())
    }

    fn touch(&self, body: BodyId) -> Option<usize> {
        if self.options.force == Force::Live { self.mover.touch(body) } else { None }
    }

    fn touch_pose(&self, body: usize) -> Pose {
        self.mover.touch_pose(body)
    }

    fn touch_twist(&self, body: usize) -> Twist {
        self.mover.touch_twist(body)
    }

    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.follow_targets(h);
        self.inform_mover();
        self.mover.solve_free(h)
    }

    fn free_twist(&self, body: usize, h: f64) -> Twist {
        self.mover.free_twist(body, h)
    }

    fn respond(&mut self, h: f64, part: usize, pushes: &[Push], out: &mut [f64]) {
        self.mover.respond(h, part, pushes, out);
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        self.mover.attempt(h, impulses)
    }

    fn take(&mut self, h: f64) {
        self.mover.take(h);
        self.moved(h);
    }
}
