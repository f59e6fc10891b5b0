//! Loads a scene file, puts a load on it and finds where it settles; then asks for the compliance there.

use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lamp = io::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lamp.toml"))?;
    let mut simulation = full::Model::new(&lamp).simulate();
    let head = simulation.effector("head")?;
    simulation.settle(&Default::default())?;
    let alone = simulation.effector_pose(head)?.position;

    simulation.set_load(head, Wrench::force([0.0, 0.0, -2.0]))?; // N
    let equilibrium = simulation.settle(&Default::default())?;
    assert!(equilibrium.converged && equilibrium.stable);
    let loaded = simulation.effector_pose(head)?.position;
    println!("2 N take the head down by {:.1} mm", 1e3 * (alone.z - loaded.z));

    let elbow = lamp.find_joint("elbow").ok_or("no elbow")?;
    println!("the elbow turns by {:.3} rad", simulation.joint_positions(elbow)?[0]);

    // Compliance at the equilibrium: what one more newton does.
    let model = linear::Linearisation::at(linear::Reference::at_equilibrium(&mut simulation)).build()?;
    let compliance = model.projection().compliance();
    println!("it is {:.2} mm/N soft along its z", 1e3 * compliance[(2, 2)]);
    Ok(())
}
