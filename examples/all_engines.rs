//! All five engines, boxed, driven by one loop.

use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mechanism = gallery::arm();
    let mut simulations: Vec<Box<dyn Simulation>> = Vec::new();
    for engine in Engine::ALL {
        simulations.push(engine.simulate(&mechanism)?);
    }
    let tip = mechanism.find_effector("tip").ok_or("no tip")?;
    let mut transforms = Vec::new(); // for drawing
    for simulation in &mut simulations {
        simulation.set_load(tip, Wrench::force([0.0, 5.0, 0.0]))?;
        (0..300).try_for_each(|_| simulation.step(1.0 / 60.0))?;
        simulation.transforms(&mut transforms);
        assert_eq!(transforms.len(), 16 * mechanism.bodies().len());
        let Energy { kinetic, elastic, .. } = simulation.energy();
        let at = simulation.effector_pose(tip)?.position;
        println!("{:>12}: tip at {at:.4?}, {kinetic:.1e} J kinetic, {elastic:.3} J elastic", simulation.engine());
    }
    Ok(())
}
