//! Claim: every joint's wrench derivative is the derivative of Jᵀλ + Jθᵀτ, on the manifold and off it.

use nalgebra::{Matrix6, Vector6};
use pliant_core::joints::JointKind;
use pliant_core::spatial::{Pose, Twist, exp};

fn wrench(kind: &JointKind, X: &Pose, q: &[f64], multipliers: &[f64], forces: &[f64]) -> Vector6<f64> {
    let (J, Jq) = (kind.rows(X, q), kind.coordinates_jacobian(X, q));
    let mut w = Vector6::zeros();
    for (k, m) in multipliers.iter().enumerate() {
        w += J.row(k).transpose() * *m;
    }
    for (k, f) in forces.iter().enumerate() {
        w += Jq.row(k).transpose() * *f;
    }
    w
}

#[test]
fn equals_finite_differences() {
    let sequence =
        |round: usize, k: usize| ((round * 37 + k * 101) as f64 * 0.618_033_988_749).fract() * 2.0 - 1.0;
    for kind in JointKind::ALL {
        let d = kind.freedoms();
        for round in 0..50 {
            let q: Vec<f64> = (0..d).map(|k| 1.2 * sequence(round, k)).collect();
            let multipliers: Vec<f64> = (0..6 - d).map(|k| sequence(round, 20 + k)).collect();
            let forces: Vec<f64> = (0..d).map(|k| sequence(round, 30 + k)).collect();
            let off = Twist::from_vector(&Vector6::from_fn(|k, _| 0.05 * sequence(round, 40 + k)));
            let X = kind.transform(&q) * exp(&(off * if round % 2 == 0 { 0.0 } else { 1.0 }));
            let at = |X: &Pose| {
                let q = kind.coordinates(X, &q);
                wrench(&kind, X, &q.as_slice()[..d], &multipliers, &forces)
            };
            let H =
                kind.wrench_derivative(&X, &kind.coordinates(&X, &q).as_slice()[..d], &multipliers, &forces);
            let h = 1e-5;
            let mut difference = Matrix6::zeros();
            for k in 0..6 {
                let step = Twist::from_vector(&Vector6::ith(k, h));
                let (plus, minus) = (at(&(X * exp(&step))), at(&(X * exp(&-step))));
                difference.set_column(k, &((plus - minus) / (2.0 * h)));
            }
            // Central differences: h² of the third derivative and 1e-16/h of rounding.
            assert!(
                (H - difference).amax() < 1e-9,
                "{kind:?} round {round}: {:e}\n{H:.4}{difference:.4}",
                (H - difference).amax()
            );
        }
    }
}
