//! Claim: joint limits act inside a live step: a mechanism pressed against them comes to rest where the full statics,
//! with limits as one-sided springs, have it; it does not pass them on the way; and let go, it leaves them.

use crate::common::loads;
use pliant_core::engine::Simulation as _;

use crate::common::loads::Random;
use crate::common::{FRAME, edited};
use pliant_core::full::{self, LIMIT_STIFFNESS};
use pliant_core::gallery;
use pliant_core::live::Model;
use pliant_core::spatial::Wrench;

#[test]
fn pressed_joints_rest_at_their_limits() {
    let mut most = 0;
    for (name, size, bound) in
        [("y", 400.0, 0.1), ("arm", 300.0, 0.05), ("hand", 20.0, 0.1), ("helix:20", 300.0, 0.03)]
    {
        let free = gallery::build(name).unwrap();
        let mechanism = edited(&free, |joint| {
            let freedoms = joint.kind.freedoms();
            if freedoms > 0 {
                joint.limits = Some(vec![(-bound, bound); freedoms].into());
            }
        });
        let model = Model::new(&mechanism).unwrap();
        let full_model = full::Model::new(&mechanism);
        let mut random = Random(3);
        for _ in 0..6 {
            let loads: Vec<Wrench> = (mechanism.effectors().iter())
                .map(|_| Wrench::new(random.direction() * size, Default::default()))
                .collect();
            let mut expected = full_model.simulate();
            let mut simulation = model.simulate();
            loads::set_loads(&mut expected, &loads);
            crate::common::loads::set_loads(&mut simulation, &loads);
            let found = expected.settle(&Default::default()).unwrap();
            assert!(found.converged, "{name}");
            let mut furthest = 0.0f64;
            for _ in 0..1500 {
                simulation.step(FRAME).unwrap();
                let q = &simulation.state().coordinates;
                furthest = furthest.max(q.iter().fold(0.0, |m, q| q.abs().max(m)));
            }
            let rest = simulation.state();
            let at_limit = rest.coordinates.iter().filter(|q| q.abs() > bound).count();
            most = most.max(at_limit);
            let off = rest.coordinates.iter().zip(&expected.state().coordinates).map(|(a, b)| (a - b).abs());
            let off = off.fold(0.0, f64::max);
            // Both are at rest to rounding.
            assert!(off < 1e-12, "{name}: {off}");
            // A limit gives by torque over stiffness: 300 N on a metre, and twice that in the swing.
            assert!(furthest - bound < 600.0 / LIMIT_STIFFNESS, "{name}: {furthest}");
            for e in 0..loads.len() {
                simulation.set_load(crate::common::handles::effector(&mechanism, e), Wrench::ZERO).unwrap();
            }
            for _ in 0..1500 {
                simulation.step(FRAME).unwrap();
            }
            let left = simulation.state().coordinates.iter().filter(|q| q.abs() > bound).count();
            assert_eq!(left, 0, "{name}");
        }
    }
    assert!(most >= 3, "limits were pressed: {most}");
}
