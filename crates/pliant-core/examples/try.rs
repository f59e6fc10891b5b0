//! x
use pliant_core::{full::*, gallery};
fn main() {
    for name in [
        "chain:1000",
        "chain:10000",
        "chain:20",
        "helix:50",
        "ladder:36",
        "y",
        "arm",
        "rungs:24",
        "loop",
        "two-link",
        "graph",
        "four-bar",
        "gripper",
        "hand",
        "firefighters",
        "hexapod",
    ] {
        let m = gallery::build(name).unwrap();
        let model = Model::new(&m);
        let mut sim = model.simulate();
        sim.inputs_mut().set_scene_loads(&m);
        let e = m.effectors()[0].clone();
        let id = sim.effector(&e.name).unwrap();
        let p0 = sim.effector_pose(id).position;
        let t = std::time::Instant::now();
        let r = sim.settle(&StaticsSettings::default());
        let el = t.elapsed();
        let d = sim.effector_pose(id).position - p0;
        println!(
            "{name:12} {:?} move {:.6} {:.6} {:.6} viol {:.2e}  {:?}",
            r,
            d.x,
            d.y,
            d.z,
            sim.violation(),
            el
        );
        let ps = sim.effector_pose(id).position;
        let mut dynsim = model.simulate();
        dynsim.inputs_mut().set_scene_loads(&m);
        let t = std::time::Instant::now();
        let n = 1200;
        let mut worst = 0.0f64;
        for i in 0..n {
            if let Err(e) = dynsim.step(1.0 / 60.0) {
                println!("   step {i}: {e}");
                break;
            }
        }
        let el = t.elapsed().as_secs_f64() / n as f64 * 1e6;
        let d2 = dynsim.effector_pose(id).position - ps;
        println!(
            "     dynamics: settle diff {:.3e}  viol max {:.2e} energy {:?} {:.2} µs/step {:.3} µs/link/iter",
            d2.norm(),
            worst,
            dynsim.energy().kinetic,
            el,
            el / 2.0 / m.bodies().len() as f64
        );
    }
}
