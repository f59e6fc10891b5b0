//! Claim: the linearization of a step predicts the next state, and at rest it implies how the equilibrium moves under loads, which is found
//! without it; what it cannot be of is refused.

use pliant::nalgebra::{DMatrix, DVector};
use pliant::prelude::*;
use pliant::{LinearizationError, Moving, linearize};

/// The equilibrium under a load on the first effector, and what acts in it.
fn settled(mechanism: &Mechanism, load: [f64; 3]) -> (State, Inputs) {
    let mut exact = full::Model::new(mechanism).simulate();
    let tip = mechanism.effector_ids().next().unwrap();
    exact.set_load(tip, Wrench::force(load)).unwrap();
    // To rounding, so that the differences below are those of the equilibrium.
    for _ in 0..3 {
        assert!(exact.settle(&StaticsSettings::default()).unwrap().converged);
    }
    (exact.state().clone(), exact.inputs().clone())
}

/// x* − x = (1 − A)⁻¹ B_loads w: the step stays where the load balances.
#[test]
fn it_implies_how_the_equilibrium_moves() {
    for mechanism in [gallery::two_link(), gallery::arm(), gallery::helix(20)] {
        let (rest, inputs) = settled(&mechanism, [0.0; 3]);
        let step = linearize(&mechanism, &rest, &inputs, 0.01).unwrap();
        let n = mechanism.coordinate_count();
        assert_eq!((step.A.shape(), step.B.shape(), step.warnings.len()), ((2 * n, 2 * n), (2 * n, n), 0));
        let map = (DMatrix::identity(2 * n, 2 * n) - &step.A).lu();
        let weight = 9.81 * mechanism.mass();
        for k in 0..3 {
            // Central differences: their error is that of the third derivative, 1e-6 of the load's square.
            let h = 1e-3 * weight;
            let at = |h: f64| {
                let mut load = [0.0; 3];
                load[k] = h;
                DVector::from_column_slice(&settled(&mechanism, load).0.coordinates)
            };
            let moved = (at(h) - at(-h)) / (2.0 * h);
            let implied = map.solve(&step.B_loads.column(k).into_owned()).unwrap();
            let off = (implied.rows(0, n) - &moved).amax();
            assert!(off < 1e-5 * moved.amax().max(1e-6 / weight), "{}: {off:.1e}", mechanism.name());
        }
    }
}

/// A small step away from the state goes where A and B say, to the square of its size.
#[test]
fn it_predicts_the_next_state() {
    let mechanism = gallery::arm();
    let (rest, inputs) = settled(&mechanism, [0.0; 3]);
    let (dt, n) = (0.01, mechanism.coordinate_count());
    let step = linearize(&mechanism, &rest, &inputs, dt).unwrap();
    let after = |size: f64| {
        let mut moving = Moving::from(Engine::Articulated.simulate(&mechanism).unwrap());
        let mut placing = pliant::placing::Placing::new(&mechanism).unwrap();
        let x: Vec<f64> =
            rest.coordinates.iter().enumerate().map(|(i, q)| q + size * (i as f64).sin()).collect();
        moving.simulation().set_state(placing.state(&x, &vec![0.0; n]).unwrap()).unwrap();
        moving.simulation().step(dt).unwrap();
        let state = moving.simulation().state();
        DVector::from_iterator(2 * n, state.coordinates.iter().chain(&state.rates).copied())
    };
    let direction = DVector::from_fn(2 * n, |i, _| if i < n { (i as f64).sin() } else { 0.0 });
    let start = after(0.0);
    let errors = [2e-3, 1e-3].map(|size| (after(size) - &start - &step.A * &direction * size).norm());
    assert!(errors[0] < 0.05 * (after(2e-3) - &start).norm() && errors[1] < 0.3 * errors[0], "{errors:?}");
}

#[test]
fn what_it_cannot_be_of_is_refused() {
    let (arm, other) = (gallery::arm(), gallery::two_link());
    let (state, inputs) = (State::at_rest(&arm), Inputs::new(&arm));
    assert_eq!(linearize(&other, &state, &Inputs::new(&other), 0.01), Err(LinearizationError::State));
    for dt in [0.0, -1.0, f64::NAN] {
        assert!(matches!(linearize(&arm, &state, &inputs, dt), Err(LinearizationError::Step(_))));
    }
    let free = gallery::hexapod();
    let refused = linearize(&free, &State::at_rest(&free), &Inputs::new(&free), 0.01).unwrap_err();
    assert!(refused.to_string().contains("joint positions do not include the free body"), "{refused}");
}
