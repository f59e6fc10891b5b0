//! Exponential and logarithm of rotations and poses, and the Jacobians of exp.
//!
//! exp takes a twist ξ = (v, ω) to the pose reached by moving along it for unit time:
//! R = exp(\[ω\]×), p = V(ω) v. The right Jacobian is defined by exp(ξ + δ) ≈ exp(ξ) exp(Jr(ξ) δ), the
//! left one by exp(ξ + δ) ≈ exp(Jl(ξ) δ) exp(ξ); Jr(ξ) = Jl(−ξ) = Σ (−ad ξ)^k / (k+1)!.
//!
//! Everything is written in the functions of the angle below. Each is even and entire, or has its
//! first pole at 2π; near zero, where its closed form cancels, its power series takes over. No
//! function here has any trouble at θ = π: the logarithm of a rotation works on the quaternion.

use nalgebra::{Matrix3, Matrix6, Quaternion, UnitQuaternion, Vector3};

use super::{Pose, Twist, skew};

/// Σ c_k x^k by Horner's rule.
#[inline]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    c.iter().rev().fold(0.0, |s, c| s * x + c)
}

/// sin(θ)/θ as a function of θ².
#[inline]
fn sinc(t2: f64) -> f64 {
    // Two terms are exact to the last bit below θ = 1e-3.
    if t2 < 1e-6 { 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0) } else { t2.sqrt().sin() / t2.sqrt() }
}

/// (1 − cos θ)/θ² = ½ sinc²(θ/2): never cancels.
#[inline]
fn one_minus_cos(t2: f64) -> f64 {
    let s = sinc(0.25 * t2);
    0.5 * s * s
}

/// (θ − sin θ)/θ³ = Σ (−1)^k θ^2k / (2k+3)!.
#[inline]
fn theta_minus_sin(t2: f64) -> f64 {
    if t2 < 1.0 {
        // The first term left out is θ¹⁸/21! < 2e-20.
        polynomial(
            -t2,
            [
                1.0 / 6.0,
                1.0 / 120.0,
                1.0 / 5_040.0,
                1.0 / 362_880.0,
                1.0 / 39_916_800.0,
                1.0 / 6_227_020_800.0,
                1.0 / 1_307_674_368_000.0,
                1.0 / 355_687_428_096_000.0,
                1.0 / 121_645_100_408_832_000.0,
            ],
        )
    } else {
        let t = t2.sqrt();
        (t - t.sin()) / (t2 * t)
    }
}

/// (1 − (θ/2) cot(θ/2))/θ², with pole at 2π.
#[inline]
fn one_minus_half_cot(t2: f64) -> f64 {
    if t2 < 0.25 {
        // Σ |B_2k| θ^(2k−2)/(2k)!; the terms fall as (θ/2π)², the first left out is below 1e-18.
        polynomial(
            t2,
            [
                1.0 / 12.0,
                1.0 / 720.0,
                1.0 / 30_240.0,
                1.0 / 1_209_600.0,
                1.0 / 47_900_160.0,
                691.0 / 1_307_674_368_000.0,
                1.0 / 74_724_249_600.0,
                3_617.0 / 10_670_622_842_880_000.0,
            ],
        )
    } else {
        let half = 0.5 * t2.sqrt();
        (1.0 - half / half.tan()) / t2
    }
}

/// (θ² + 2 cos θ − 2)/(2 θ⁴) = Σ (−1)^k θ^2k / (2k+4)!.
#[inline]
fn block_second(t2: f64) -> f64 {
    if t2 < 1.0 {
        // The first term left out is θ¹⁶/20! < 5e-19.
        polynomial(
            -t2,
            [
                1.0 / 24.0,
                1.0 / 720.0,
                1.0 / 40_320.0,
                1.0 / 3_628_800.0,
                1.0 / 479_001_600.0,
                1.0 / 87_178_291_200.0,
                1.0 / 20_922_789_888_000.0,
                1.0 / 6_402_373_705_728_000.0,
            ],
        )
    } else {
        // ½ − (1 − cos θ)/θ², over θ².
        (0.5 - one_minus_cos(t2)) / t2
    }
}

/// (2θ − 3 sin θ + θ cos θ)/(2 θ⁵) = Σ (−1)^k (k+1) θ^2k / (2k+5)!.
#[inline]
fn block_third(t2: f64) -> f64 {
    if t2 < 1.0 {
        // The first term left out is 9 θ¹⁶/21! < 3e-17 of the first.
        polynomial(
            -t2,
            [
                1.0 / 120.0,
                2.0 / 5_040.0,
                3.0 / 362_880.0,
                4.0 / 39_916_800.0,
                5.0 / 6_227_020_800.0,
                6.0 / 1_307_674_368_000.0,
                7.0 / 355_687_428_096_000.0,
                8.0 / 121_645_100_408_832_000.0,
            ],
        )
    } else {
        let t = t2.sqrt();
        (2.0 * t - 3.0 * t.sin() + t * t.cos()) / (2.0 * t2 * t2 * t)
    }
}

/// The rotation by |ω| rad about ω.
#[inline]
pub fn exp_rotation(w: &Vector3<f64>) -> UnitQuaternion<f64> {
    // (cos θ/2, ½ sinc(θ/2) ω); for tiny ω the square underflows and sinc is one, as it should be.
    let x2 = 0.25 * w.norm_squared();
    let (c, s) = if x2 < 0.0625 {
        // Turns below half a radian, as of one step: the first terms left out are below 1e-17.
        (
            polynomial(
                -x2,
                [
                    1.0,
                    1.0 / 2.0,
                    1.0 / 24.0,
                    1.0 / 720.0,
                    1.0 / 40_320.0,
                    1.0 / 3_628_800.0,
                    1.0 / 479_001_600.0,
                ],
            ),
            polynomial(
                -x2,
                [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5_040.0, 1.0 / 362_880.0, 1.0 / 39_916_800.0],
            ),
        )
    } else {
        (x2.sqrt().cos(), sinc(x2))
    };
    let v = w * (0.5 * s);
    UnitQuaternion::new_unchecked(Quaternion::new(c, v.x, v.y, v.z))
}

/// The rotation vector, of length at most π.
#[inline]
pub fn log_rotation(q: &UnitQuaternion<f64>) -> Vector3<f64> {
    // Of the two quaternions of a rotation, take the one with w ≥ 0: θ = 2 atan2(|v|, w) ≤ π.
    let (w, v) = if q.w < 0.0 { (-q.w, -q.imag()) } else { (q.w, q.imag()) };
    let n2 = v.norm_squared();
    if n2 < 1e-6 {
        // atan(x)/x = 1 − x²/3 + x⁴/5 − …, x = |v|/w: safe where n2 underflows.
        let x2 = n2 / (w * w);
        v * (2.0 / w * (1.0 - x2 * (1.0 / 3.0 - x2 * (1.0 / 5.0 - x2 / 7.0))))
    } else {
        let n = n2.sqrt();
        v * (2.0 * n.atan2(w) / n)
    }
}

/// The pose reached along a twist in unit time.
#[inline]
pub fn exp(xi: &Twist) -> Pose {
    let (v, w) = (&xi.linear, &xi.angular);
    let t2 = w.norm_squared();
    // p = V v, V = I + (1−cos θ)/θ² [ω] + (θ−sin θ)/θ³ [ω]²
    let wv = w.cross(v);
    let position = v + wv * one_minus_cos(t2) + w.cross(&wv) * theta_minus_sin(t2);
    Pose { rotation: exp_rotation(w), position }
}

/// The twist that reaches a pose in unit time, with the smallest angle (at most π).
#[inline]
pub fn log(pose: &Pose) -> Twist {
    let w = log_rotation(&pose.rotation);
    // v = V⁻¹ p, V⁻¹ = I − ½[ω] + (1 − (θ/2)cot(θ/2))/θ² [ω]²
    let wp = w.cross(&pose.position);
    let linear = pose.position - wp * 0.5 + w.cross(&wp) * one_minus_half_cot(w.norm_squared());
    Twist { linear, angular: w }
}

/// Jl(ω) = I + (1−cos θ)/θ² \[ω\] + (θ−sin θ)/θ³ \[ω\]².
#[inline]
pub fn left_jacobian_rotation(w: &Vector3<f64>) -> Matrix3<f64> {
    let t2 = w.norm_squared();
    let W = skew(w);
    Matrix3::identity() + W * one_minus_cos(t2) + W * W * theta_minus_sin(t2)
}

/// Jr(ω) = Jl(−ω) = Jl(ω)ᵀ.
#[inline]
pub fn right_jacobian_rotation(w: &Vector3<f64>) -> Matrix3<f64> {
    left_jacobian_rotation(&-w)
}

/// Jl(ω)⁻¹ = I − ½\[ω\] + (1 − (θ/2)cot(θ/2))/θ² \[ω\]²; exists up to 2π.
#[inline]
pub fn left_jacobian_rotation_inverse(w: &Vector3<f64>) -> Matrix3<f64> {
    let W = skew(w);
    Matrix3::identity() - W * 0.5 + W * W * one_minus_half_cot(w.norm_squared())
}

/// Jr(ω)⁻¹ = Jl(ω)⁻ᵀ.
#[inline]
pub fn right_jacobian_rotation_inverse(w: &Vector3<f64>) -> Matrix3<f64> {
    left_jacobian_rotation_inverse(&-w)
}

/// The upper right block Q of Jl(ξ): with V = \[v\], W = \[ω\],
/// Q = ½V + a(WV + VW + WVW) + b(WWV + VWW − 3WVW) + c(WVWW + WWVW),
/// a = (θ−sin θ)/θ³, b = (θ²+2cos θ−2)/(2θ⁴), c = (2θ−3 sin θ+θ cos θ)/(2θ⁵). With s = ω·v:
/// WV + VW = vωᵀ + ωvᵀ − 2s, WVW = −sW, WWV + VWW = −θ²V − sW, WW = ωωᵀ − θ².
fn left_jacobian_block(xi: &Twist) -> Matrix3<f64> {
    let (v, w) = (&xi.linear, &xi.angular);
    let (t2, s) = (w.norm_squared(), w.dot(v));
    let (a, b, c) = (theta_minus_sin(t2), block_second(t2), 2.0 * s * block_third(t2));
    let crossed = skew(&(v * (0.5 - b * t2) + w * (s * (2.0 * b - a))));
    let vw = v * w.transpose();
    let square = w * w.transpose();
    let straight = Matrix3::from_diagonal_element(c * t2 - 2.0 * s * a);
    crossed + (vw + vw.transpose()) * a - square * c + straight
}

fn upper_triangular(diagonal: Matrix3<f64>, corner: Matrix3<f64>) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    J.fixed_view_mut::<3, 3>(0, 0).copy_from(&diagonal);
    J.fixed_view_mut::<3, 3>(0, 3).copy_from(&corner);
    J.fixed_view_mut::<3, 3>(3, 3).copy_from(&diagonal);
    J
}

/// The left Jacobian of exp on poses, Jl(ξ) = Σ (ad ξ)^k / (k+1)!.
pub fn left_jacobian(xi: &Twist) -> Matrix6<f64> {
    upper_triangular(left_jacobian_rotation(&xi.angular), left_jacobian_block(xi))
}

/// The inverse of [`left_jacobian`]; exists up to an angle of 2π.
pub fn left_jacobian_inverse(xi: &Twist) -> Matrix6<f64> {
    // [J Q; 0 J]⁻¹ = [J⁻¹, −J⁻¹QJ⁻¹; 0, J⁻¹]
    let J = left_jacobian_rotation_inverse(&xi.angular);
    upper_triangular(J, -(J * left_jacobian_block(xi) * J))
}

/// The right Jacobian of exp on poses, Jr(ξ) = Σ (−ad ξ)^k / (k+1)!.
pub fn right_jacobian(xi: &Twist) -> Matrix6<f64> {
    left_jacobian(&-*xi)
}

/// The blocks of the right Jacobian, Jr(ξ) = [D Q; 0 D].
#[inline]
pub fn right_jacobian_blocks(xi: &Twist) -> (Matrix3<f64>, Matrix3<f64>) {
    let back = -*xi;
    (left_jacobian_rotation(&back.angular), left_jacobian_block(&back))
}

/// The inverse of [`right_jacobian`]; exists up to an angle of 2π.
pub fn right_jacobian_inverse(xi: &Twist) -> Matrix6<f64> {
    left_jacobian_inverse(&-*xi)
}
