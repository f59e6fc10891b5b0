//! Couples a mechanism to a haptic device at 1 kHz: a spring to the position of the device, and its force on the device.

use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mechanism = gallery::arm();
    let mut simulation = Reduction::at_rest(&mechanism).build()?.simulate();
    simulation.settle(&Default::default())?;
    let tip = mechanism.effectors()[0].clone();
    let start = simulation.pose(tip.body)? * tip.frame;
    let spring = simulation.inputs_mut().add_spring(Spring {
        body: tip.body,
        frame: tip.frame,
        target: start,
        target_twist: Twist::ZERO,
        stiffness: 500.0, // N/m
        turning_stiffness: 0.0,
        damping: 2.0, // N·s/m
        turning_damping: 0.0,
    })?;

    let dt = 1e-3;
    let mut most = 0.0f64;
    for k in 1..=1000 {
        // The device: 2 cm to and fro, once a second.
        let (phase, turn) = (std::f64::consts::TAU * dt * f64::from(k), std::f64::consts::TAU);
        let mut target = start;
        target.position.y += 0.02 * phase.sin();
        let mut twist = Twist::ZERO;
        twist.linear.y = 0.02 * turn * phase.cos();
        simulation.inputs_mut().set_spring_target(spring, target, twist)?;
        simulation.step(dt)?;
        most = most.max(simulation.spring_force(spring)?.force.norm()); // what the hand feels is minus this
    }
    println!("the largest force on the device was {most:.1} N");
    assert!(most > 0.1 && most < 500.0 * 0.04);
    simulation.inputs_mut().remove_spring(spring)?;
    Ok(())
}
