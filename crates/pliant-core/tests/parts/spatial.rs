//! Claim: poses, twists, wrenches and inertias obey the identities of the group of rigid motions to
//! rounding, at every angle that a mechanism can meet: none at all, 1e-300 rad, half a turn from
//! both sides, and up to the pole of the logarithm's derivative at a full turn.
//!
//! Oracles: power series and scaling–squaring written here, central differences, 6×6 matrices.
#![allow(non_snake_case)]

use std::f64::consts::{PI, TAU};

use crate::common::{derivative, direction, distance, jacobian, seeded, twist, vector};
use pliant_core::nalgebra::{Matrix3, Matrix6, UnitQuaternion, Vector3, Vector6};
use pliant_core::spatial::*;
use proptest::prelude::*;

/// Σ Aᵏ/(k+1)!, the derivative of the exponential: enough terms for the norms up to 10 used here.
fn series(A: &Matrix6<f64>) -> Matrix6<f64> {
    let (mut sum, mut term) = (Matrix6::identity(), Matrix6::identity());
    for k in 1..80 {
        term = term * A / (k as f64 + 1.0);
        sum += term;
    }
    sum
}

/// exp(A) = (exp(A/2ⁿ))^2ⁿ, with the Taylor series of the small matrix.
fn matrix_exponential(A: &Matrix6<f64>) -> Matrix6<f64> {
    let squarings = 8;
    let small = A / 2f64.powi(squarings);
    let (mut E, mut term) = (Matrix6::identity(), Matrix6::identity());
    for k in 1..20 {
        term = term * small / k as f64;
        E += term;
    }
    for _ in 0..squarings {
        E *= E;
    }
    E
}

/// Angles below half a turn: ordinary ones, tiny ones and ones that nearly reach it.
fn angle() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..PI,
        2 => (-300.0..0.0).prop_map(|e| 10f64.powf(e)),
        2 => (-15.0..-1.0).prop_map(|e| PI - 10f64.powf(e)),
        1 => (-15.0..-9.0).prop_map(|e| PI - 10f64.powf(e)),
        1 => Just(0.0),
    ]
}

/// Twists below half a turn, with linear parts of any size.
fn short_twist() -> impl Strategy<Value = Twist> {
    (direction(), angle(), direction(), -9.0..3.0f64)
        .prop_map(|(axis, angle, v, size)| Twist::new(v * 10f64.powf(size), axis * angle))
}

/// A pose up to half a turn and 2 m away.
fn pose() -> impl Strategy<Value = Pose> {
    (direction(), 0.0..PI, vector(2.0))
        .prop_map(|(axis, angle, p)| Pose::new(exp_rotation(&(axis * angle)), p))
}

/// Angles at which Jacobians are tested, with the switch-overs of every series from both sides:
/// θ² = 1e-6 and 4e-6 (sinc of the angle and of its half), 0.25, 1, and |sin θ/2|² = 1e-6.
fn notable_angles() -> Vec<f64> {
    let mut angles = vec![0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-3, 0.1, 1.0, 2.0, 3.0];
    for switch in switches() {
        angles.extend([switch.next_down(), switch, switch.next_up()]);
    }
    angles.extend([PI - 1e-3, PI - 1e-9, PI, PI + 1e-9, PI + 1e-3, 4.0, 5.0, TAU - 0.1]);
    angles
}

fn switches() -> [f64; 5] {
    [1e-3, 2e-3, 0.5, 1.0, 2.0 * 1e-3f64.asin()]
}

fn notable_twists() -> Vec<Twist> {
    let axes = [Vector3::x(), -Vector3::z(), Vector3::new(1.0, -2.0, 0.5).normalize()];
    let linear = [Vector3::zeros(), Vector3::new(0.3, -0.7, 0.4), Vector3::new(-1.0, 0.0, 0.0)];
    let mut twists = Vec::new();
    for angle in notable_angles() {
        for axis in axes {
            twists.extend(linear.map(|v| Twist::new(v, axis * angle)));
        }
    }
    twists
}

proptest! {
    #![proptest_config(seeded(4_000, 1))]

    /// log∘exp. Each step loses an ε or two (ε = 2.2e-16) and V⁻¹ stretches by at most π/2: 4 ε of
    /// the angle and 9 ε of the linear part at most, relative to each part's own size, whatever that is.
    #[test]
    fn logarithm_of_exponential(xi in short_twist()) {
        let back = log(&exp(&xi));
        prop_assert!((back.angular - xi.angular).amax() <= 1e-15 * xi.angular.amax(), "{xi:?} {back:?}");
        prop_assert!((back.linear - xi.linear).norm() <= 2e-15 * xi.linear.norm(), "{xi:?} {back:?}");
    }

    /// exp∘log, on poses that did not come from exp.
    #[test]
    fn exponential_of_logarithm(
        q in prop::array::uniform4(-1.0..1.0f64), p in vector(10.0), tiny in -300.0..0.0f64, slot in 0..5usize,
    ) {
        // One entry shrinks to anything down to 1e-300: rotations near none and near half a turn.
        let mut q = pliant_core::nalgebra::Quaternion::from(q);
        if slot < 4 {
            q.coords[slot] *= 10f64.powf(tiny);
        }
        prop_assume!(q.norm() > 0.1);
        let X = Pose::new(UnitQuaternion::new_normalize(q), p);
        let xi = log(&X);
        prop_assert!(xi.angular.norm() <= PI * (1.0 + f64::EPSILON));
        let back = exp(&xi);
        prop_assert!((back.position - p).norm() <= 1e-14 * p.norm());
        prop_assert!(distance(&back, &Pose::new(X.rotation, back.position)) <= 2e-15);
    }

    /// Beyond half a turn the logarithm comes round the other way.
    #[test]
    fn logarithm_beyond_half_a_turn(axis in direction(), v in vector(1.0), beyond in -15.0..0.4f64) {
        let angle = PI + 10f64.powf(beyond);
        let xi = Twist::new(v, axis * angle);
        let X = exp(&xi);
        let back = log(&X);
        // The angle itself is only known to ε·2π, which a small rest keeps as absolute error.
        prop_assert!((back.angular - axis * (angle - TAU)).norm() <= 4e-15);
        prop_assert!(distance(&exp(&back), &X) <= 1e-14);
    }

    /// Ad(ab) = Ad(a) Ad(b), Ad(a⁻¹) = Ad(a)⁻¹, and the methods are what the matrix says.
    #[test]
    fn adjoint_is_a_homomorphism(a in pose(), b in pose(), xi in twist(2.0, 2.0)) {
        prop_assert!(((a * b).adjoint() - a.adjoint() * b.adjoint()).amax() <= 1e-14);
        prop_assert!((a.inverse().adjoint() * a.adjoint() - Matrix6::identity()).amax() <= 1e-14);
        let x = xi.to_vector();
        prop_assert!((a.twist_to_outer(&xi).to_vector() - a.adjoint() * x).amax() <= 2e-14);
        prop_assert!((a.twist_to_local(&xi).to_vector() - a.inverse().adjoint() * x).amax() <= 2e-14);
        let w = Wrench::from_vector(&x);
        prop_assert!((a.wrench_to_local(&w).to_vector() - a.adjoint().transpose() * x).amax() <= 2e-14);
        let inverse_transpose = a.inverse().adjoint().transpose();
        prop_assert!((a.wrench_to_outer(&w).to_vector() - inverse_transpose * x).amax() <= 2e-14);
        prop_assert!(distance(&a.inverse_times(&b), &(a.inverse() * b)) <= 4e-15);
    }

    /// Moves to the outer and to the local frame undo each other.
    #[test]
    fn moves_undo_each_other(a in pose(), xi in twist(2.0, 2.0)) {
        let w = Wrench::from_vector(&xi.to_vector());
        let twists = [a.twist_to_local(&a.twist_to_outer(&xi)), a.twist_to_outer(&a.twist_to_local(&xi))];
        let wrenches = [a.wrench_to_local(&a.wrench_to_outer(&w)), a.wrench_to_outer(&a.wrench_to_local(&w))];
        for back in twists.map(|t| t.to_vector()).into_iter().chain(wrenches.map(|w| w.to_vector())) {
            prop_assert!((back - xi.to_vector()).amax() <= 3e-14);
        }
    }

    /// A wrench does the same work on a twist in every frame.
    #[test]
    fn power_does_not_depend_on_the_frame(a in pose(), xi in twist(2.0, 2.0), w in twist(2.0, 2.0)) {
        let w = Wrench::from_vector(&w.to_vector());
        let power = w.power(&xi);
        prop_assert!((a.wrench_to_outer(&w).power(&a.twist_to_outer(&xi)) - power).abs() <= 1e-13);
        prop_assert!((a.wrench_to_local(&w).power(&a.twist_to_local(&xi)) - power).abs() <= 1e-13);
    }

    /// The bracket: its matrix, its transpose, antisymmetry, Jacobi's identity, and as what it is,
    /// the derivative of Ad(exp tξ) η at t = 0.
    #[test]
    fn bracket(a in twist(1.0, 1.0), b in twist(1.0, 1.0), c in twist(1.0, 1.0)) {
        let ab = a.bracket(&b).to_vector();
        prop_assert!((ab - a.bracket_matrix() * b.to_vector()).amax() <= 1e-15);
        prop_assert_eq!(a.bracket(&b), -b.bracket(&a));
        let w = Wrench::from_vector(&c.to_vector());
        let transposed = a.bracket_matrix().transpose() * w.to_vector();
        prop_assert!((a.bracket_transpose(&w).to_vector() - transposed).amax() <= 1e-15);
        let jacobi = a.bracket(&b.bracket(&c)) + b.bracket(&c.bracket(&a)) + c.bracket(&a.bracket(&b));
        prop_assert!(jacobi.to_vector().amax() <= 1e-14);
        let slope = derivative(|t| exp(&(a * t)).twist_to_outer(&b).to_vector());
        prop_assert!((slope - ab).amax() <= 1e-12);
    }

    /// Ad(exp ξ) = exp(ad ξ), up to more than a full turn; the oracle squares eight times, which
    /// costs it 2⁸ ε.
    #[test]
    fn adjoint_of_exponential(axis in direction(), angle in 0.0..8.0f64, v in vector(1.0)) {
        let xi = Twist::new(v, axis * angle);
        let E = matrix_exponential(&xi.bracket_matrix());
        prop_assert!((exp(&xi).adjoint() - E).amax() <= 3e-13);
    }

    /// Momentum, kinetic energy, change of frame and welding, against the 6×6 matrix.
    #[test]
    fn inertia_is_its_matrix(a in inertia(), b in inertia(), xi in twist(2.0, 2.0), X in pose()) {
        let (M, x) = (a.matrix(), xi.to_vector());
        prop_assert!((M - M.transpose()).amax() == 0.0);
        let scale = M.amax();
        prop_assert!((a.momentum(&xi).to_vector() - M * x).amax() <= 1e-14 * scale);
        prop_assert!((a.kinetic_energy(&xi) - 0.5 * x.dot(&(M * x))).abs() <= 3e-14 * scale);
        // The energy of a twist does not depend on the frame: M' = Ad⁻ᵀ M Ad⁻¹.
        let Ad = X.inverse().adjoint();
        let outer = a.in_outer(&X);
        prop_assert!((outer.matrix() - Ad.transpose() * M * Ad).amax() <= 2e-13 * scale);
        prop_assert_eq!(outer.inertia, outer.inertia.transpose());
        let welded = a.welded(&b).matrix();
        prop_assert!((welded - M - b.matrix()).amax() <= 2e-14 * (scale + b.matrix().amax()));
    }

    /// The z axis lands on the axis given, whatever its length, with the least turn that does it.
    #[test]
    fn z_goes_along_an_axis(axis in direction(), length in -300.0..300.0f64, p in vector(1.0)) {
        let long = axis * 10f64.powf(length);
        check_z_along(long, axis, p);
        let turned = Pose::rotation(long.into(), 0.7);
        prop_assert!(distance(&turned, &Pose::rotation(axis.into(), 0.7)) <= 1e-15);
    }

    /// So it does near −z, where the half-way quaternion cancels.
    #[test]
    fn z_goes_nearly_back(turn in 0.0..TAU, off in -320.0..0.0f64) {
        let off = 10f64.powf(off);
        let axis = Vector3::new(off * turn.cos(), off * turn.sin(), -1.0);
        check_z_along(axis, axis.normalize(), Vector3::zeros());
    }
}

fn check_z_along(axis: Vector3<f64>, unit: Vector3<f64>, p: Vector3<f64>) {
    let X = Pose::with_z_along(axis, p);
    assert_eq!(X.position, p);
    assert!((X.rotation.norm() - 1.0).abs() <= 4.0 * f64::EPSILON, "{axis:?}: {X:?}");
    assert!((X.rotation * Vector3::z() - unit).amax() <= 1e-15, "{axis:?}: {X:?}");
    // Least turn: its axis is square to z.
    assert_eq!(X.rotation.k, 0.0);
    assert!(X.rotation.w >= 0.0);
}

fn inertia() -> impl Strategy<Value = SpatialInertia> {
    (0.1..3.0f64, vector(1.0), prop::array::uniform3(0.1..1.0f64), pose()).prop_map(|(mass, c, sides, X)| {
        SpatialInertia { center_of_mass: c, ..SpatialInertia::of_box(mass, sides).in_outer(&X) }
    })
}

#[test]
fn z_along_the_axes_themselves() {
    for axis in [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y(), Vector3::z(), -Vector3::z()] {
        check_z_along(axis, axis, Vector3::zeros());
    }
    assert_eq!(Pose::with_z_along(Vector3::z() * 5.0, Vector3::zeros()), Pose::identity());
    let back = Pose::with_z_along(-Vector3::z(), Vector3::zeros());
    assert_eq!(back.rotation * Vector3::x(), Vector3::x(), "half round about x");
}

#[test]
fn exponential_of_nothing_and_of_next_to_nothing() {
    assert_eq!(exp(&Twist::ZERO), Pose::identity());
    assert_eq!(log(&Pose::identity()), Twist::ZERO);
    for size in [1e-300, 1e-200, 1e-160, 1e-154, 1e-100, 1e-20] {
        let xi = Twist::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.0, -size, 0.5 * size));
        assert_eq!(log(&exp(&xi)), xi, "exact below the square root of the last bit: {size:e}");
    }
}

#[test]
fn half_a_turn_exactly() {
    for axis in [Vector3::x(), Vector3::y(), -Vector3::z(), Vector3::new(0.6, 0.0, 0.8)] {
        let X = exp(&Twist::new(Vector3::new(1.0, -2.0, 0.5), axis * PI));
        assert!(distance(&exp(&log(&X)), &X) <= 1e-15);
        assert!((log(&X).angular.norm() - PI).abs() <= f64::EPSILON * PI);
        // The quaternion's scalar part may come out as either zero, or as −ε.
        for w in [0.0, -0.0, 1e-17, -1e-17] {
            let q = pliant_core::nalgebra::Quaternion::new(w, axis.x, axis.y, axis.z);
            let r = log_rotation(&UnitQuaternion::new_unchecked(q));
            assert!((r.cross(&axis).norm()) <= 1e-15 && (r.norm() - PI).abs() <= 1e-15);
        }
    }
}

/// The series has terms as large as e^|ξ| ≤ e⁷·⁵ ≈ 2e3, so its own rounding is some 1e-12.
#[test]
fn jacobians_are_their_power_series() {
    for xi in notable_twists() {
        let ad = xi.bracket_matrix();
        let tolerance = f64::EPSILON * (4.0 * ad.norm()).exp().clamp(16.0, 4e3);
        assert!((left_jacobian(&xi) - series(&ad)).amax() <= tolerance, "{xi:?}");
        assert!((right_jacobian(&xi) - series(&-ad)).amax() <= tolerance, "{xi:?}");
        let (w, rotation) = (xi.angular, right_jacobian(&xi).fixed_view::<3, 3>(3, 3).into_owned());
        assert!((right_jacobian_rotation(&w) - rotation).amax() == 0.0);
        assert!((left_jacobian_rotation(&w) - rotation.transpose()).amax() <= 4.0 * f64::EPSILON);
    }
}

#[test]
fn jacobians_are_derivatives_of_the_exponential() {
    for xi in notable_twists() {
        let moved = |x: &Vector6<f64>| exp(&(xi + Twist::from_vector(x)));
        let Jr = jacobian(|x| log(&exp(&xi).inverse_times(&moved(x))).to_vector());
        let Jl = jacobian(|x| log(&(moved(x) * exp(&xi).inverse())).to_vector());
        assert!((right_jacobian(&xi) - Jr).amax() <= 1e-12, "{xi:?} {:e}", (right_jacobian(&xi) - Jr).amax());
        assert!((left_jacobian(&xi) - Jl).amax() <= 1e-12, "{xi:?} {:e}", (left_jacobian(&xi) - Jl).amax());
    }
}

/// J⁻¹ grows as θ/(2 sin θ/2), to 63 at 2π − 0.1, and squared in the corner block.
#[test]
fn inverse_jacobians_are_inverses() {
    for xi in notable_twists() {
        let half = 0.5 * xi.angular.norm();
        let growth = if half < 1.0 { 1.0 } else { (half / half.sin()).powi(2) };
        let tolerance = 4e-15 * growth;
        for (J, inverse) in [
            (right_jacobian(&xi), right_jacobian_inverse(&xi)),
            (left_jacobian(&xi), left_jacobian_inverse(&xi)),
        ] {
            assert!((inverse * J - Matrix6::identity()).amax() <= tolerance, "{xi:?}");
            assert!((J * inverse - Matrix6::identity()).amax() <= tolerance, "{xi:?}");
        }
        let w = &xi.angular;
        let (left, right) = (left_jacobian_rotation(w), right_jacobian_rotation(w));
        let identity = Matrix3::identity();
        assert!((left_jacobian_rotation_inverse(w) * left - identity).amax() <= tolerance);
        assert!((right_jacobian_rotation_inverse(w) * right - identity).amax() <= tolerance);
    }
}

/// Neighbouring angles, one on each side of the switch from a series to its closed form, give
/// answers that differ by rounding only.
#[test]
fn no_jump_where_a_series_ends() {
    let (axis, v) = (Vector3::new(2.0, -1.0, 2.0) / 3.0, Vector3::new(0.5, 1.0, -0.25));
    for switch in switches() {
        // The norm of the vector may round to either side of the switch: go a few bits beyond.
        let below = Twist::new(v, axis * (switch * (1.0 - 4.0 * f64::EPSILON)));
        let above = Twist::new(v, axis * (switch * (1.0 + 4.0 * f64::EPSILON)));
        let limit = 1e-14;
        assert!(distance(&exp(&below), &exp(&above)) <= limit);
        assert!((log(&exp(&below)) - log(&exp(&above))).to_vector().amax() <= limit);
        assert!((left_jacobian(&below) - left_jacobian(&above)).amax() <= limit);
        assert!((left_jacobian_inverse(&below) - left_jacobian_inverse(&above)).amax() <= limit);
    }
}

#[test]
fn welding_nothing_changes_nothing() {
    let a = SpatialInertia::of_box(2.0, [0.1, 0.2, 0.3]).in_outer(&Pose::translation([0.5, 0.0, -1.0]));
    assert_eq!(a.welded(&SpatialInertia::ZERO), a);
    assert_eq!(SpatialInertia::ZERO.welded(&a), a);
    assert_eq!(SpatialInertia::ZERO.welded(&SpatialInertia::ZERO), SpatialInertia::ZERO);
}
