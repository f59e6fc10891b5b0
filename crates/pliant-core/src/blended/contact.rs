//! Contact: a blended model takes no part in it. An impulse bends links between the effectors, and the blend knows how these
//! move under loads on the effectors alone.

use super::simulation::Simulation;
use crate::engine::touch::{Touch, internal};

fn no_contact(_: Box<Simulation>) -> Option<Box<dyn Touch>> {
    None
}

internal! {
    name: "blended",
    mechanism: model.mechanism,
    touch: no_contact,
    bounded: [],
    fill: [fill],
    pose: |simulation, body| simulation.link_pose(body),
}
