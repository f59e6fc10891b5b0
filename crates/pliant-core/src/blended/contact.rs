//! Contact: a blended model takes no part in it. An impulse bends links between the effectors, and the blend knows how these
//! move under loads on the effectors alone.

use super::simulation::Simulation;
use crate::engine;
use crate::engine::touch::{Internal, Touch};
use crate::engine::{Inputs, State};
use crate::spatial::Pose;

impl Internal for Simulation {
    fn as_simulation(&self) -> &dyn engine::Simulation {
        self
    }

    fn boxed(&self) -> Box<dyn engine::Simulation> {
        Box::new(self.clone())
    }

    fn into_touch(self: Box<Self>) -> Option<Box<dyn Touch>> {
        None
    }

    fn body_pose(&self, body: usize) -> Pose {
        self.link_pose(body)
    }

    fn state_and_inputs(&self) -> (&State, &Inputs) {
        (&self.state, &self.inputs)
    }
}
