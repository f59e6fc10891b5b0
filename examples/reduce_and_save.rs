//! Builds a reduced model to an error bound, saves it to a file, and reads it again.

use pliant::prelude::*;
use pliant::reduced::Sampling;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mechanism = gallery::helix(100);
    let sampling = Sampling { max_error: 0.01, ..Sampling::default() };
    let (model, outcome) = sampling.run(&mechanism, |_| ())?;
    println!(
        "{} motions of {} freedoms, with an error of {:.4} of the radius under loads not used to choose them",
        model.motions(),
        model.freedoms(),
        outcome.held_out
    );

    let path = std::env::temp_dir().join(format!("pliant-example-{}.pliant", std::process::id()));
    io::ModelFile::new(&model, Some((sampling, outcome))).save(&path)?;
    let read = io::ModelFile::load(&path)?.model()?;
    std::fs::remove_file(&path)?;

    let mut simulation = read.simulate();
    simulation.inputs_mut().add_scene_loads();
    simulation.settle(&Default::default())?;
    println!("under the scene's load its estimated error is {:.6} of the radius", simulation.estimate()?);
    Ok(())
}
