//! The scene file that all programs read, and where its tip comes to rest.

use std::error::Error;

use pliant::engine::Simulation;
use pliant::mechanism::Mechanism;
use pliant::{full, gallery, io};
use serde_json::json;

use crate::engines::tip;

/// Where the tip is in the file's pose.
pub fn home(mechanism: &Mechanism) -> [f64; 3] {
    let tip = &mechanism[tip(mechanism)];
    (mechanism[tip.body].pose * tip.frame).position.into()
}

/// Writes a mechanism of the gallery, or of a file, and answers with its radius and the displacement of its tip at rest under
/// the scene's load, by the full statics.
pub fn write(name: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let mechanism = if name.ends_with(".toml") { io::load(name)? } else { gallery::build(name)? };
    io::save(&mechanism, file)?;
    let mut simulation = full::Model::new(&mechanism).simulate();
    simulation.inputs_mut().add_scene_loads();
    let found = simulation.settle(&Default::default());
    let (displacement, why) = match found {
        Ok(equilibrium) if equilibrium.converged => {
            let (home, at) = (home(&mechanism), simulation.effector_pose(tip(&mechanism))?.position);
            (Some([0, 1, 2].map(|i| at[i] - home[i])), None)
        }
        Ok(_) => (None, Some("the full statics found no equilibrium".to_string())),
        Err(why) => (None, Some(why.to_string())),
    };
    println!("{}", json!({ "radius": mechanism.radius(), "displacement": displacement, "why": why }));
    Ok(())
}
