//! Claim: with every motion, a scene of contact goes as with the articulated engine; any body of it can touch.

use pliant_core::articulated;
use pliant_core::contact::Scene;
use pliant_core::engine::Simulation;
use pliant_core::gallery;

use super::every_motion::{apart, every_motion};

#[test]
fn contact_is_that_of_the_articulated_engine() {
    for name in ["hand-grasp", "hexapod-terrain"] {
        let mechanism = gallery::build(name).unwrap();
        let held = mechanism.take_apart().held.unwrap();
        let scene = |simulation: Box<dyn Simulation>| {
            Scene::of(&mechanism, mechanism.take_apart(), Default::default(), Some(simulation)).unwrap()
        };
        let mut few = scene(every_motion(&held).simulate().into());
        let mut all = scene(articulated::Model::new(&held).simulate().into());
        for _ in 0..100 {
            few.step(1.0 / 240.0).unwrap();
            all.step(1.0 / 240.0).unwrap();
        }
        let off = apart(&mechanism, few.state(), all.state()).0;
        // Sweeps end at a relative measure of 1e-9 of the velocities, and contact makes more of rounding.
        assert!(off < 1e-6, "{name}: {off:e}");
    }
}
