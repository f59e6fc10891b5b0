//! `peers contact SCENE.toml ENGINE`: a scene of contact. It first comes to rest, following its targets; then
//! a line `block N` is answered with the median CPU time of a step, µs, over runs of twenty, all links rebuilt in each,
//! `rest BODY` with the body's height, what contact pushes each body with, and the solver's residual, and `whole N EVERY BODY` with the
//! mean CPU time of a step over the first N from the scene's start, and where the body is after every so many of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufRead;

use pliant::contact::{Scene, Surfaces};
use pliant::engine::Simulation;
use pliant::engines::Engine;
use pliant::nalgebra::Vector3;
use pliant::linear::Linearisation;
use serde_json::json;

use crate::protocol::{answer, now};

/// s.
const DT: f64 = 1.0 / 240.0;

/// Steps before anything is timed, and of a run.
const SETTLE: usize = 1200;
const RUN: usize = 20;

/// Answers until the driver has no more to ask.
pub fn serve(file: &str, engine: &str) -> Result<(), Box<dyn Error>> {
    let whole = pliant::io::load(file)?;
    let apart = whole.take_apart();
    let held = apart.held.as_ref().ok_or("the scene has no mechanism")?;
    let simulation: Box<dyn Simulation> = match engine.parse()? {
        Engine::Linear => Linearisation::at_rest(held).modes_for_contact(DT).build()?.simulate().into(),
        engine => engine.simulate(held)?,
    };
    let mut scene = Scene::of(&whole, apart, Surfaces::new(), Some(simulation))?;
    let start = scene.clone();
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
            ["whole", steps, every, body] => {
                let (steps, every) = (steps.parse::<usize>()?, every.parse::<usize>()?);
                let body = whole.find_body(body).ok_or("no such body")?;
                let (mut scene, mut time, mut path) = (start.clone(), 0.0, Vec::new());
                for _ in 0..steps / every {
                    let start = now();
                    for _ in 0..every {
                        scene.step(DT)?;
                    }
                    time += now() - start;
                    path.push(<[f64; 3]>::from(scene.pose(body)?.position));
                }
                answer(&json!({ "us": time / (steps / every * every) as f64, "path": path }))?;
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
