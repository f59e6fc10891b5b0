//! x
use pliant_core::{full::*, gallery};
fn main() {
    let name = std::env::args().nth(1).unwrap_or("chain:1000".into());
    let n: usize = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(300);
    let m = gallery::build(&name).unwrap();
    let model = Model::new(&m);
    let mut sim = model.simulate();
    sim.inputs_mut().set_gravity([0.0; 3]).unwrap();
    sim.inputs_mut().set_scene_loads(&m);
    sim.set_iterations(1).unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..n {
        let t = std::time::Instant::now();
        sim.step(1.0 / 60.0).unwrap();
        best = best.min(t.elapsed().as_secs_f64() * 1e6);
    }
    println!("{name} best {:.2} µs/step {:.3} µs/link", best, best / m.bodies().len() as f64);
}
