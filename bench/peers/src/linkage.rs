//! `peers linkage SCENE.toml ENGINE`: a mechanism without contact under its scene's loads. A line `exact` is answered with where the
//! full statics have its effectors, and where they are in the file's pose; `run DT SECONDS` with where they are after a motion from its
//! start, the largest sum of the gaps in its joints on the way and at the end, m, and the median CPU time of a step, µs, over runs of
//! twenty.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufRead;

use pliant::engine::Simulation;
use pliant::engines::Engine;
use pliant::full;
use serde_json::json;

use crate::protocol::{answer, now};

/// Steps of a run.
const RUN: usize = 20;

type Places = BTreeMap<String, [f64; 3]>;

fn effectors(simulation: &dyn Simulation) -> Result<Places, Box<dyn Error>> {
    let mechanism = simulation.mechanism();
    let mut places = Places::new();
    for id in mechanism.effector_ids() {
        let at = simulation.effector_pose(id)?.position;
        places.insert(mechanism[id].name.clone(), at.into());
    }
    Ok(places)
}

/// Answers until the driver has no more to ask.
pub fn serve(file: &str, engine: &str) -> Result<(), Box<dyn Error>> {
    let mechanism = pliant::io::load(file)?;
    let engine: Engine = engine.parse()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["exact"] => {
                let mut simulation = full::Model::new(&mechanism).simulate();
                let home = effectors(&simulation)?;
                simulation.inputs_mut().add_scene_loads();
                let found = simulation.settle(&Default::default())?;
                let at = found.converged.then(|| effectors(&simulation)).transpose()?;
                answer(&json!({ "home": home, "at": at, "radius": mechanism.radius() }))?;
            }
            ["run", dt, seconds] => {
                let (dt, seconds) = (dt.parse::<f64>()?, seconds.parse::<f64>()?);
                let mut simulation = engine.simulate(&mechanism)?;
                simulation.inputs_mut().add_scene_loads();
                let (mut times, mut gap) = (Vec::new(), 0.0f64);
                while simulation.time() < seconds {
                    let start = now();
                    for _ in 0..RUN {
                        simulation.step(dt)?;
                    }
                    times.push((now() - start) / RUN as f64);
                    gap = gap.max(simulation.violation());
                }
                times.sort_by(f64::total_cmp);
                let scale = mechanism.radius();
                answer(&json!({
                    "us": times[times.len() / 2],
                    "at": effectors(&*simulation)?,
                    "gap": gap * scale,
                    "gap_at_rest": simulation.violation() * scale,
                }))?;
            }
            _ => break,
        }
    }
    Ok(())
}
