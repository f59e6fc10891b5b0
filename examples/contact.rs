//! A gripper picks up a block; the world is saved during the motion, and restored bit for bit.

use pliant::contact::{Scene, Surfaces};
use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mechanism = gallery::gripper_pick(); // a gripper with targets, a table and a block
    let mut scene = Scene::new(&mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate())?;
    let block = mechanism.find_body("block").ok_or("no block")?;
    let start = scene.pose(block)?.position.z;

    (0..125).try_for_each(|_| scene.step(0.008))?; // the gripper closes and begins to lift
    let saved = scene.world().save();
    (0..125).try_for_each(|_| scene.step(0.008))?;
    let lifted = scene.pose(block)?;
    println!("lifted by {:.1} cm", 100.0 * (lifted.position.z - start));
    for contact in scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0) {
        let name = |touched| scene.world().name(touched);
        println!(
            "{} pushes {} with {:.2} N",
            name(contact.first)?,
            name(contact.second)?,
            contact.force.norm()
        );
    }

    scene.world_mut().restore(&saved)?;
    (0..125).try_for_each(|_| scene.step(0.008))?;
    assert_eq!(scene.pose(block)?, lifted);
    Ok(())
}
