//! Loads a scene file, applies a load and finds the equilibrium; then computes the compliance there.

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
    println!("2 N move the head down by {:.1} mm", 1e3 * (alone.z - loaded.z));

    let elbow = lamp.find_joint("elbow").ok_or("no elbow")?;
    println!("the elbow turns by {:.3} rad", simulation.joint_positions(elbow)?[0]);

    // Compliance at the equilibrium: what one more newton does.
    let model = linear::Linearisation::at(linear::Reference::at_equilibrium(&mut simulation)).build()?;
    let compliance = model.projection().compliance();
    println!("its compliance along z is {:.2} mm/N", 1e3 * compliance[(2, 2)]);
    Ok(())
}
