//! Contact and friction.

mod bodies;
mod bounces;
mod engines;
mod errors;
mod fields;
mod fixed;
mod friction;
mod holding;
mod hulls;
mod humans;
mod impulses;
mod links;
mod machines;
mod masses;
mod overlaps;
mod passing;
mod repeat;
mod rest;
mod scenes;
mod shapes;
mod slabs;
mod soft_compliance;
mod soft_friction;
mod soft_hands;
mod tumbling;
mod zones;

use pliant_core::contact::World;

/// The step of tests that choose none, s.
const H: f64 = 1.0 / 240.0;

fn run(world: &mut World, steps: usize) {
    for _ in 0..steps {
        world.step(H).unwrap();
    }
}

/// Time, residual, and all that bodies are, to the last bit.
fn bits_of_bodies(world: &World) -> Vec<u64> {
    let mut all = vec![world.time().to_bits(), world.report().residual.to_bits()];
    for (_, body) in world.bodies() {
        let (pose, momentum) = (body.pose(), body.momentum());
        let numbers = pose.rotation.coords.iter().chain(&pose.position).chain(&momentum.0).chain(&momentum.1);
        all.extend(numbers.map(|x| x.to_bits()));
    }
    all
}
