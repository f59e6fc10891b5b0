//! How a rigid body turns on its own.
//!
//! In the body's axes its angular momentum Π goes round: Π⁺ = exp(−x)Π for a turn by the rotation vector x, so that in
//! world axes it stays as it is, whatever x. The turn of h seconds is
//!
//! ```text
//! I x = ½h(Π + Π⁺)
//! ```
//!
//! Then ½Π⁺·I⁻¹Π⁺ − ½Π·I⁻¹Π = ½(Π⁺ + Π)·I⁻¹(Π⁺ − Π), which is zero: Π⁺ − Π is at right angles to x, and so to
//! I⁻¹(Π + Π⁺). So the energy is kept for any h; a turn about a principal axis is exact, any other of second order.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::{exp_rotation, right_jacobian_rotation, skew};

/// Largest turn in one go, rad: it is off by a thousandth of itself, or less. The time is cut into as many parts as that takes, but no
/// more than [`MOST`].
const LARGEST: f64 = 0.2;
const MOST: f64 = 64.0;

/// Newton iterations of one turn: five are enough, and where they are not, momentum is kept all the same.
const ITERATIONS: usize = 12;

/// The turn of a rigid body with inertia I and angular momentum L, both about the centre of mass and in the same axes,
/// in h seconds: a rotation R that turns by R(h) what has the rotation of these axes at the start. Momentum is then RᵀL in the
/// axes that turned along.
pub fn free_turn(
    inertia: &Matrix3<f64>,
    inverse: &Matrix3<f64>,
    momentum: &Vector3<f64>,
    h: f64,
) -> UnitQuaternion<f64> {
    // ω² ≤ 2E/I_min along the whole way.
    let rate = (inverse.norm() * momentum.dot(&(inverse * momentum))).sqrt();
    let parts = (h * rate / LARGEST).ceil().clamp(1.0, MOST);
    let (h, mut L, mut R) = (h / parts, *momentum, UnitQuaternion::identity());
    for _ in 0..parts as usize {
        let turned = exp_rotation(&turn_once(inertia, inverse, &L, h));
        L = turned.inverse() * L;
        R *= turned;
    }
    R.renormalize();
    R
}

/// One turn, by Newton's method: with Π⁺ + Π⁺×Jr(x)δ for Π⁺ at x + δ, (I − ½h[Π⁺]Jr)δ = ½h(Π + Π⁺) − I x.
fn turn_once(I: &Matrix3<f64>, inverse: &Matrix3<f64>, L: &Vector3<f64>, h: f64) -> Vector3<f64> {
    let mut x = inverse * L * h;
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let after = exp_rotation(&-x) * L;
        let rest = (L + after) * (0.5 * h) - I * x;
        let J = I - skew(&after) * right_jacobian_rotation(&x) * (0.5 * h);
        let Some(step) = J.try_inverse().map(|inverse| inverse * rest) else { break };
        // Down to rounding, which is where steps no longer get shorter.
        let length = step.norm();
        if length.is_nan() || length >= last {
            break;
        }
        x += step;
        last = length;
        // Each iteration doubles the digits: the next would be below rounding.
        if length <= 1e-10 {
            break;
        }
    }
    x
}
