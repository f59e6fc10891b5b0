//! With all motions, mass made in every step and no geometric stiffness, the reduced engine is the articulated one.

use nalgebra::DMatrix;

use super::{Model, Options};
use crate::engine::Simulation;
use crate::{articulated, gallery};

#[test]
fn all_motions_are_the_articulated_engine() {
    for name in ["chain:12", "helix:20", "y", "arm"] {
        let mechanism = gallery::build(name).unwrap();
        let n = mechanism.coordinate_count();
        // Any combination of all coordinates will do.
        let mix = DMatrix::from_fn(n, n, |i, k| f64::from(i == k) + 0.1 * ((3 * i + 7 * k) as f64).sin() / n as f64);
        let options = Options { turned: 0.0, geometric: false };
        let mut few = Model::with_motions(&mechanism, &mix).with_options(options).simulate();
        let mut all = articulated::Model::new(&mechanism).simulate();
        few.inputs_mut().add_scene_loads();
        all.inputs_mut().add_scene_loads();
        for _ in 0..40 {
            few.step(0.01).unwrap();
            all.step(0.01).unwrap();
        }
        let (a, b) = (few.state().clone(), all.state().clone());
        let off = a.poses.iter().zip(&b.poses).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
        let moved = mechanism.bodies().iter().zip(&b.poses).map(|(a, b)| (a.pose.position - b.position).norm()).fold(0.0, f64::max);
        let spun = a.twists.iter().zip(&b.twists).map(|(a, b)| (a.to_vector() - b.to_vector()).norm()).fold(0.0, f64::max);
        eprintln!("{name}: {off:.1e} of {moved:.2e}, twists {spun:.1e}");
        assert!(off < 1e-10 && spun < 1e-8, "{name}");
    }
}
