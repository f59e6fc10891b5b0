//! `peers contact SCENE.toml`: a scene of contact by the reduced engine. It first comes to rest, following its targets; then
//! a line `block N` is answered with the median CPU time of a step, µs, over runs of twenty, all links rebuilt in each, and
//! `rest BODY` with the body's height, what contact pushes each body with, and the solver's residual.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufRead;

use pliant::contact::{Scene, Surfaces};
use pliant::engine::Simulation;
use pliant::nalgebra::Vector3;
use pliant::reduced::Reduction;
use serde_json::json;

use crate::protocol::{answer, now};

/// s.
const DT: f64 = 1.0 / 240.0;

/// Steps before anything is timed, and of a run.
const SETTLE: usize = 1200;
const RUN: usize = 20;

/// Answers until the driver has no more to ask.
pub fn serve(file: &str) -> Result<(), Box<dyn Error>> {
    let whole = pliant::io::load(file)?;
    let apart = whole.take_apart();
    let held = apart.held.as_ref().ok_or("the scene has no mechanism")?;
    let simulation = Reduction::at_rest(held).modes_for_contact(DT).build()?.simulate();
    let mut scene = Scene::of(&whole, apart, Surfaces::new(), Some(simulation.into()))?;
    for _ in 0..SETTLE {
        scene.step(DT)?;
    }
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["block", steps] => {
                let mut times = Vec::new();
                for _ in 0..steps.parse::<usize>()?.div_ceil(RUN) {
                    let start = now();
                    for _ in 0..RUN {
                        scene.step(DT)?;
                    }
                    times.push((now() - start) / RUN as f64);
                }
                times.sort_by(f64::total_cmp);
                answer(&json!({ "us": times[times.len() / 2] }))?;
            }
            ["rest", body] => {
                scene.step(DT)?;
                let height = scene.pose(whole.find_body(body).ok_or("no such body")?)?.position.z;
                let mut forces: BTreeMap<String, Vector3<f64>> = BTreeMap::new();
                let world = scene.world();
                for contact in world.contacts() {
                    *forces.entry(world.name(contact.first)?.to_string()).or_default() -= contact.force;
                    *forces.entry(world.name(contact.second)?.to_string()).or_default() += contact.force;
                }
                let forces: BTreeMap<_, [f64; 3]> =
                    forces.into_iter().map(|(name, f)| (name, f.into())).collect();
                answer(&json!({ "height": height, "forces": forces, "residual": scene.report().residual }))?;
            }
            _ => break,
        }
    }
    Ok(())
}
