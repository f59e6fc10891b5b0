//! A struct owns a mechanism, its model and a running simulation, moves to another thread, and comes back.

use std::thread;

use pliant::prelude::*;

struct Robot {
    mechanism: Mechanism,
    model: reduced::Model,
    simulation: reduced::Simulation,
}

impl Robot {
    fn new(mechanism: Mechanism) -> Result<Robot, Box<dyn std::error::Error>> {
        let model = Reduction::at_rest(&mechanism).build()?;
        let simulation = model.simulate();
        Ok(Robot { mechanism, model, simulation })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut robot = Robot::new(gallery::arm())?;
    let tip = robot.simulation.effector("tip")?;
    robot.simulation.set_load(tip, Wrench::force([0.0, 0.0, -5.0]))?;
    let saved = robot.simulation.state().clone();

    let mut robot =
        thread::spawn(move || (0..100).try_for_each(|_| robot.simulation.step(0.01)).map(|()| robot))
            .join()
            .map_err(|_| "the thread panicked")??;
    let first = robot.simulation.state().clone();
    println!(
        "{} at {} s: {}",
        robot.mechanism.name(),
        first.time,
        robot.simulation.effector_pose(tip)?.position
    );

    // Models are shared: a second simulation costs its workspace alone. From the same state it gives the same bits.
    let mut second = robot.model.simulate();
    second.set_load(tip, Wrench::force([0.0, 0.0, -5.0]))?;
    second.set_state(&saved)?;
    (0..100).try_for_each(|_| second.step(0.01))?;
    assert_eq!(*second.state(), first);
    Ok(())
}
