//! Claim: as the step shrinks, a pendulum's period goes to the elliptic integral and a tumbling body's spin
//! to Jacobi's elliptic functions, with the order that the method has.

use pliant_core::engine::Simulation as _;
use std::f64::consts::FRAC_PI_2;

use crate::common::{FRAME, momentum};
use pliant_core::engine::State;
use pliant_core::full::Model;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

/// The complete elliptic integral K(k) = π / (2 agm(1, √(1 − k²))).
fn complete_elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    FRAC_PI_2 / a
}

/// Jacobi's (sn, cn, dn)(u, k) by descending arithmetic-geometric means (Abramowitz and Stegun, 16.4).
fn jacobi(u: f64, k: f64) -> (f64, f64, f64) {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    let mut steps = Vec::new();
    while (a - b).abs() > 1e-16 * a && steps.len() < 30 {
        steps.push((a, 0.5 * (a - b)));
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let mut phi = a * u * f64::powi(2.0, steps.len() as i32);
    for i in (0..steps.len()).rev() {
        // sin(2φ_{i−1} − φ_i) = (c_i/a_i) sin φ_i, where c_i and a_i belong to the smaller step.
        let c = steps[i].1;
        let a_after = if i + 1 < steps.len() { steps[i + 1].0 } else { a };
        phi = 0.5 * (phi + (c / a_after * phi.sin()).asin());
    }
    let sn = phi.sin();
    (sn, phi.cos(), (1.0 - k * k * sn * sn).sqrt())
}

#[test]
fn elliptic_functions_are_right() {
    assert!((complete_elliptic(0.0) - FRAC_PI_2).abs() < 1e-15);
    // K(1/√2) = Γ(1/4)²/(4√π).
    assert!((complete_elliptic(0.5f64.sqrt()) - 1.854_074_677_301_372).abs() < 1e-14);
    let k = 0.9;
    let quarter = complete_elliptic(k);
    let (sn, cn, dn) = jacobi(quarter, k);
    assert!((sn - 1.0).abs() < 1e-14 && cn.abs() < 1e-14 && (dn - (1.0 - k * k).sqrt()).abs() < 1e-14);
    // sn′ = cn dn.
    let h = 1e-4;
    let slope = (jacobi(0.7 + h, k).0 - jacobi(0.7 - h, k).0) / (2.0 * h);
    let (_, cn, dn) = jacobi(0.7, k);
    assert!((slope - cn * dn).abs() < 1e-8);
}

/// A plate on a passive hinge, let go at a right angle: the time to the first passage at the bottom is a
/// quarter of 4√(I/mgd) K(sin(φ₀/2)). Backward Euler is of first order.
#[test]
fn a_pendulum_has_the_period_of_the_elliptic_integral() {
    let mut builder = MechanismBuilder::new("pendulum");
    let (mass, arm) = (0.7, 0.4);
    let inertia = SpatialInertia::of_box(mass, [0.8, 0.1, 0.05]);
    builder.body(Body::new("plate", Pose::translation([arm, 0.0, 0.0])).inertia(inertia));
    let joint = JointDescription::new("pivot", JointKind::Hinge, WORLD, "plate");
    builder.joint(joint.axis(Vector3::zeros(), Vector3::y()));
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let about_pivot = inertia.inertia[(1, 1)] + mass * arm * arm;
    let exact = (about_pivot / (mass * 9.81 * arm)).sqrt() * complete_elliptic((0.5 * FRAC_PI_2).sin());

    let quarter = |dt: f64| {
        let mut simulation = model.simulate();
        simulation.set_iterations(3).unwrap();
        loop {
            let (before, rate_before) = (simulation.state().coordinates[0], simulation.state().rates[0]);
            simulation.step(dt).unwrap();
            let (q, rate) = (simulation.state().coordinates[0], simulation.state().rates[0]);
            if q >= FRAC_PI_2 {
                // Cubic Hermite between the two states: its root, by bisection.
                let at = |s: f64| {
                    let (d0, d1) = (dt * rate_before, dt * rate);
                    let (a, b) = (2.0 * (before - q) + d0 + d1, 3.0 * (q - before) - 2.0 * d0 - d1);
                    ((a * s + b) * s + d0) * s + before - FRAC_PI_2
                };
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if at(middle) < 0.0 { low = middle } else { high = middle }
                }
                return simulation.state().time - dt * (1.0 - low);
            }
        }
    };
    let errors: Vec<f64> = (0..6).map(|k| quarter(1.0 / (120.0 * f64::powi(2.0, k))) / exact - 1.0).collect();
    let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
    let extrapolated = 2.0 * errors[5] - errors[4];
    println!("errors {errors:?}, ratios {ratios:.3?}, extrapolated {extrapolated:.1e}");
    assert!(ratios[2..].iter().all(|r| (r - 2.0).abs() < 0.1), "{ratios:?}");
    assert!(errors[5].abs() < 2e-3, "{:e}", errors[5]);
    assert!(extrapolated.abs() < 1e-5, "{extrapolated:e}");
}

/// Principal moments of the tumbling body, kg·m².
const MOMENTS: [f64; 3] = [0.01, 0.02, 0.03];

fn tumbler() -> Mechanism {
    let mut builder = MechanismBuilder::new("tumbler");
    builder.gravity([0.0; 3]);
    let inertia = SpatialInertia {
        mass: 2.0,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&MOMENTS.into()),
    };
    builder.body(Body::new("body", Pose::identity()).inertia(inertia).free());
    builder.build().unwrap()
}

fn spinning(mechanism: &Mechanism, w: Vector3<f64>) -> State {
    let mut state = State::at_rest(mechanism);
    state.twists[0] = Twist::new(Vector3::zeros(), w);
    state
}

/// ω(t) in body axes from ω(0) = (w₁, 0, w₃), for moments that rise and M² > 2EI₂ (Landau and Lifshitz,
/// Mechanics, §37).
fn exact_spin(w: Vector3<f64>, t: f64) -> Vector3<f64> {
    let [I1, I2, I3] = MOMENTS;
    let energy2 = I1 * w.x * w.x + I3 * w.z * w.z;
    let M2 = (I1 * w.x).powi(2) + (I3 * w.z).powi(2);
    assert!(M2 > energy2 * I2);
    let k = ((I2 - I1) * (energy2 * I3 - M2) / ((I3 - I2) * (M2 - energy2 * I1))).sqrt();
    let u = t * ((I3 - I2) * (M2 - energy2 * I1) / (I1 * I2 * I3)).sqrt();
    let (sn, cn, dn) = jacobi(u, k);
    // The sign of ω₂ is that of ω̇₂(0) = (I₃ − I₁) ω₁ω₃/I₂.
    Vector3::new(
        ((energy2 * I3 - M2) / (I1 * (I3 - I1))).sqrt() * cn,
        ((energy2 * I3 - M2) / (I2 * (I3 - I2))).sqrt() * sn,
        ((M2 - energy2 * I1) / (I3 * (I3 - I1))).sqrt() * dn,
    )
}

/// Euler's equations by Runge and Kutta's fourth order: a second opinion on the elliptic functions.
fn integrated_spin(w: Vector3<f64>, t: f64) -> Vector3<f64> {
    let [a, b, c] = MOMENTS;
    let rate = |w: Vector3<f64>| {
        Vector3::new((b - c) / a * w.y * w.z, (c - a) / b * w.z * w.x, (a - b) / c * w.x * w.y)
    };
    let steps = 20_000;
    let h = t / steps as f64;
    (0..steps).fold(w, |w, _| {
        let k1 = rate(w);
        let k2 = rate(w + k1 * (0.5 * h));
        let k3 = rate(w + k2 * (0.5 * h));
        let k4 = rate(w + k3 * h);
        w + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
    })
}

/// The step's midpoint rule for rotations is of second order.
#[test]
fn a_tumbling_body_follows_the_elliptic_functions() {
    let mechanism = tumbler();
    let model = Model::new(&mechanism);
    // Near the separatrix M² = 2EI₂, so that it turns over: k² = 0.96 and a full turn in 3 s.
    let w = Vector3::new(3.4, 0.0, 2.0);
    let duration = 2.0;
    assert!((exact_spin(w, duration) - integrated_spin(w, duration)).norm() < 1e-10);
    let error = |dt: f64| {
        let mut simulation = model.simulate();
        simulation.set_state(&spinning(&mechanism, w)).unwrap();
        let mut worst = 0.0f64;
        for _ in 0..(duration / dt).round() as usize {
            simulation.step(dt).unwrap();
            let exact = exact_spin(w, simulation.state().time);
            worst = worst.max((simulation.state().twists[0].angular - exact).norm() / w.norm());
        }
        worst
    };
    let errors: Vec<f64> = (0..5).map(|k| error(1.0 / (120.0 * f64::powi(2.0, k)))).collect();
    let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
    println!("errors {errors:?}, ratios {ratios:.3?}");
    assert!(ratios[1..].iter().all(|r| (3.7..4.3).contains(r)), "{ratios:?}");
    assert!(errors[4] < 1e-4, "{:e}", errors[4]);
}

/// About the intermediate axis for five seconds: the worst case for energy, here with a tenth of a radian a
/// step at 1/60 s. The error falls as the square of the step. Angular momentum is kept to
/// rounding at any step.
#[test]
fn intermediate_axis_tumbling_keeps_energy_and_momentum() {
    let mechanism = tumbler();
    let model = Model::new(&mechanism);
    for (dt, bound) in [(FRAME, 1e-3), (FRAME / 2.0, 2.5e-4), (FRAME / 4.0, 6e-5)] {
        let mut simulation = model.simulate();
        simulation.set_state(&spinning(&mechanism, Vector3::new(0.01, 6.0, 0.01))).unwrap();
        let (energy, (_, L)) = (simulation.energy().kinetic, momentum(&mechanism, simulation.state()));
        let (mut drift, mut lost, mut turned) = (0.0f64, 0.0f64, false);
        for _ in 0..(5.0 / dt).round() as usize {
            simulation.step(dt).unwrap();
            drift = drift.max((simulation.energy().kinetic / energy - 1.0).abs());
            lost = lost.max((momentum(&mechanism, simulation.state()).1 - L).norm() / L.norm());
            turned |= simulation.state().twists[0].angular.y < -3.0;
        }
        println!("dt {dt:.5}: energy {drift:.2e}, angular momentum {lost:.1e}");
        assert!(turned, "it turns over");
        assert!(drift < bound, "dt {dt}: {drift:e}");
        assert!(lost < 1e-12, "{lost:e}");
    }
}
