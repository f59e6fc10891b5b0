//! Claim: on a free base, linear and angular momentum change by what acts from outside alone, to rounding, with few motions as
//! with all.

use pliant_core::engine::Simulation;
use pliant_core::gallery::{Passive, RandomOptions, random};
use pliant_core::joints::JointKind;
use pliant_core::nalgebra::Vector3;
use pliant_core::reduced::Reduction;

use crate::common::momentum;

#[test]
fn momentum_is_kept() {
    let options = RandomOptions {
        bodies: 10,
        loops: 0.0,
        passive: Passive::Never,
        kinds: vec![JointKind::Hinge, JointKind::Universal, JointKind::Prismatic],
        free_bases: true,
        effectors: 1,
        limits: false,
        rests: false,
        ..RandomOptions::default()
    };
    let mut ran = 0;
    for seed in 0..60 {
        let mechanism = random(seed, &options);
        let one = mechanism.bodies().iter().filter(|b| b.free).count() == 1;
        if !one || mechanism.joints().iter().any(|j| j.parent.is_none()) || mechanism.coordinate_count() == 0
        {
            continue;
        }
        let mut simulation = Reduction::at_rest(&mechanism).modes(2).build().unwrap().simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let mut state = simulation.state().clone();
        for twist in &mut state.twists {
            twist.angular += Vector3::new(2.0, -1.0, 3.0);
        }
        state.private.clear();
        simulation.set_state(&state).unwrap();
        let (P, L) = momentum(&mechanism, simulation.state());
        for _ in 0..200 {
            simulation.step(1.0 / 60.0).unwrap();
        }
        let (p, l) = momentum(&mechanism, simulation.state());
        let size = L.norm().max(P.norm());
        assert!((p - P).norm() < 1e-9 * size, "{seed}: linear {:e}", (p - P).norm() / size);
        assert!((l - L).norm() < 1e-9 * size, "{seed}: angular {:e}", (l - L).norm() / size);
        ran += 1;
    }
    assert!(ran >= 10, "{ran}");
}
