//! Oracles and random inputs that several test files share. Runs are the same every time: the
//! generators take fixed seeds.

use pliant_core::nalgebra::{Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, Twist};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};

/// `cases` random cases from a fixed seed, no regression file.
pub fn seeded(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        rng_algorithm: RngAlgorithm::ChaCha,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A vector with entries up to `size`.
pub fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

/// A direction, any one.
pub fn direction() -> impl Strategy<Value = Vector3<f64>> {
    vector(1.0).prop_filter("too short to have a direction", |v| v.norm() > 0.1).prop_map(|v| v.normalize())
}

/// A twist with entries up to these sizes.
pub fn twist(linear: f64, angular: f64) -> impl Strategy<Value = Twist> {
    (vector(linear), vector(angular)).prop_map(|(v, w)| Twist::new(v, w))
}

/// f′(0) by the central difference of sixth order. With h = 0.01 the formula is off by h⁶/140, or
/// 7e-15, of the seventh derivative, and rounding adds about 1e-14 of f.
pub fn derivative(f: impl Fn(f64) -> Vector6<f64>) -> Vector6<f64> {
    let h = 0.01;
    let odd = |k: f64| f(k * h) - f(-k * h);
    (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) / (60.0 * h)
}

/// The matrix whose column k is the derivative of f along unit direction k.
pub fn jacobian(f: impl Fn(&Vector6<f64>) -> Vector6<f64>) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    for k in 0..6 {
        let unit = Vector6::ith(k, 1.0);
        J.set_column(k, &derivative(|t| f(&(unit * t))));
    }
    J
}

/// How far two poses are apart: the larger of the quaternions' difference, up to their common
/// sign, and the distance.
pub fn distance(a: &Pose, b: &Pose) -> f64 {
    let (p, q) = (a.rotation.coords, b.rotation.coords);
    (p - q).norm().min((p + q).norm()).max((a.position - b.position).norm())
}
