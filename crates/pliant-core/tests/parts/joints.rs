//! Claim: every joint kind answers its questions consistently. X(q), S, Ṡ, θ(X), Jθ, C and J agree
//! with each other and with finite differences, on the manifold and off it, over many turns; and
//! the fast constraint rows of each kind span what the default residual log(X(q)⁻¹X) says.
#![allow(non_snake_case)]

use std::f64::consts::TAU;

use crate::common::default_residual;
use crate::common::{derivative, direction, distance, jacobian, seeded, twist, vector};
use pliant_core::joints::JointKind;
use pliant_core::nalgebra::{DMatrix, Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, Twist, exp};
use proptest::prelude::*;

/// A rotation vector up to nearly two turns, but not within 0.2 rad of a full one, where the
/// coordinates of a ball joint are singular.
fn rotation_vector() -> impl Strategy<Value = Vector3<f64>> {
    let angle = prop_oneof![
        3 => 0.0..TAU - 0.2,
        1 => TAU + 0.2..2.0 * TAU - 0.2,
        1 => (-300.0..0.0).prop_map(|e| 10f64.powf(e)),
        1 => Just(0.1f64.sqrt()),
    ];
    (direction(), angle).prop_map(|(axis, angle)| axis * angle)
}

/// A kind with coordinates: slides up to 2 m, angles up to 20 rad.
fn joint() -> impl Strategy<Value = (JointKind, Vec<f64>)> {
    (prop::sample::select(&JointKind::ALL[..]), vector(2.0), vector(20.0), rotation_vector()).prop_map(
        |(kind, p, a, r)| {
            let q = match kind {
                JointKind::Hinge => vec![a.x],
                JointKind::Ball => vec![r.x, r.y, r.z],
                JointKind::Universal => vec![a.x, a.y],
                JointKind::Prismatic => vec![p.x],
                JointKind::Cylindrical => vec![p.x, a.x],
                JointKind::Planar => vec![p.x, p.y, a.x],
                JointKind::Fixed => vec![],
                JointKind::Bushing => vec![p.x, p.y, p.z, r.x, r.y, r.z],
                JointKind::Expression(_) => unreachable!("tests/expression/joints.rs"),
            };
            (kind, q)
        },
    )
}

/// q + t·rate.
fn along(q: &[f64], rate: &[f64], t: f64) -> Vec<f64> {
    q.iter().zip(rate).map(|(q, r)| q + t * r).collect()
}

fn padded(q: &[f64]) -> Vector6<f64> {
    let mut x = Vector6::zeros();
    x.as_mut_slice()[..q.len()].copy_from_slice(q);
    x
}

/// Of a matrix whose first d columns (or rows) count.
fn columns(M: &Matrix6<f64>, d: usize) -> DMatrix<f64> {
    DMatrix::from_fn(6, d, |i, j| M[(i, j)])
}

/// Eigenvalues of a symmetric matrix, in increasing order.
fn eigenvalues(A: DMatrix<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = A.symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The identity of d entries, in a matrix of zeros.
fn partial_identity(d: usize) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| if i == j && i < d { 1.0 } else { 0.0 })
}

/// How much the coordinates of a rotation vector amplify: θ/(2 sin θ/2) is the norm of Jr⁻¹.
fn stretch(kind: &JointKind, q: &[f64]) -> f64 {
    let r = match kind {
        JointKind::Ball => q,
        JointKind::Bushing => &q[3..],
        _ => return 1.0,
    };
    let half = 0.5 * Vector3::from_row_slice(r).norm();
    if half < 1e-3 { 1.0 } else { (half / half.sin()).abs() }
}

proptest! {
    #![proptest_config(seeded(3_000, 2))]

    /// θ(X(q)) = q, on the turn of the reference. An angle of 20 rad is known to 4e-15, and it
    /// passes through sines and cosines of a few ε.
    #[test]
    fn coordinates_undo_transform((kind, q) in joint()) {
        let back = kind.coordinates(&kind.transform(&q), &q);
        let error = (back - padded(&q)).amax();
        prop_assert!(error <= 1e-14 * stretch(&kind, &q), "{kind:?} {q:?} {error:e}");
    }

    /// A reference that is off by less than half a turn leads to the same turn.
    #[test]
    fn coordinates_take_the_nearest_turn((kind, q) in joint(), away in prop::array::uniform6(-1.0..1.0f64)) {
        prop_assume!(!matches!(kind, JointKind::Ball | JointKind::Bushing) || stretch(&kind, &q) < 2.0);
        let back = kind.coordinates(&kind.transform(&q), &along(&q, &away, 1.0));
        prop_assert!((back - padded(&q)).amax() <= 2e-14, "{kind:?} {q:?}");
    }

    /// X⁻¹Ẋ = S q̇, by the sixth-order difference of log(X(q)⁻¹ X(q + t q̇)).
    #[test]
    fn subspace_is_the_rate_of_the_transform((kind, q) in joint(), rate in prop::array::uniform6(-1.0..1.0f64)) {
        let X = kind.transform(&q);
        let numeric = derivative(|t| {
            pliant_core::spatial::log(&X.inverse_times(&kind.transform(&along(&q, &rate, t)))).to_vector()
        });
        let S = kind.subspace(&q);
        let rate = padded(&rate[..q.len()]);
        prop_assert!((S * rate - numeric).amax() <= 1e-12, "{kind:?} {q:?}");
        prop_assert!(S.columns(q.len(), 6 - q.len()).amax() == 0.0 || q.len() == 6, "the rest is zero");
    }

    /// Ṡ, by differences of S, and the bias Ṡq̇.
    #[test]
    fn subspace_rate_is_the_rate_of_the_subspace(
        (kind, q) in joint(), rate in prop::array::uniform6(-1.0..1.0f64),
    ) {
        let d = q.len();
        let rate = &rate[..d];
        let D = kind.subspace_rate(&q, rate);
        for k in 0..6 {
            let numeric = derivative(|t| kind.subspace(&along(&q, rate, t)).column(k).into_owned());
            prop_assert!((D.column(k) - numeric).amax() <= 1e-12, "{kind:?} {q:?} column {k}");
        }
        let bias = kind.bias(&q, rate).to_vector();
        prop_assert!((bias - D * padded(rate)).amax() <= 1e-15);
    }

    /// Jθ, by differences of θ(X exp tξ), on the manifold and up to 0.9 rad and 1 m off it. At a
    /// distance ρ from a full turn the difference formula is off by 36 h⁶θ/ρ⁷: rotation vectors
    /// nearer than ρ ≈ 1.8 are left to the identity Jθ S = 1 below.
    #[test]
    fn coordinates_jacobian_is_the_rate_of_the_coordinates(
        (kind, q) in joint(), off in twist(1.0, 0.5), near in any::<bool>(),
    ) {
        let X = kind.transform(&q) * exp(&(off * if near { 0.0 } else { 1.0 }));
        let q = kind.coordinates(&X, &q);
        let q = &q.as_slice()[..kind.freedoms()];
        prop_assume!(stretch(&kind, q) < 3.0);
        let J = kind.coordinates_jacobian(&X, q);
        let numeric = jacobian(|xi| kind.coordinates(&(X * exp(&Twist::from_vector(xi))), q));
        let error = (J - numeric).amax();
        prop_assert!(error <= 1e-10, "{kind:?} {q:?} {error:e}");
    }

    /// J, by differences of C(X exp tξ), on the manifold and off it.
    #[test]
    fn rows_are_the_rate_of_the_residual((kind, q) in joint(), off in twist(2.0, 1.5), near in any::<bool>()) {
        let X = kind.transform(&q) * exp(&(off * if near { 0.0 } else { 1.0 }));
        let numeric = jacobian(|xi| kind.residual(&(X * exp(&Twist::from_vector(xi))), &q));
        let error = (kind.rows(&X, &q) - numeric).amax();
        prop_assert!(error <= 2e-12, "{kind:?} {q:?} {error:e}");
    }

    /// On the manifold C = 0, J S = 0, Jθ S = 1 and J Jᵀ = 1: the rows are orthonormal, so their
    /// rank is 6 − d.
    #[test]
    fn rows_and_subspace_complement_each_other((kind, q) in joint()) {
        let d = q.len();
        let X = kind.transform(&q);
        let (J, S, T) = (kind.rows(&X, &q), kind.subspace(&q), kind.coordinates_jacobian(&X, &q));
        prop_assert!(kind.residual(&X, &q).amax() <= 2e-15, "{kind:?} {q:?}");
        prop_assert!((J * S).amax() <= 4e-15, "{kind:?} {q:?}");
        prop_assert!((J * J.transpose() - partial_identity(6 - d)).amax() <= 4e-15, "{kind:?} {q:?}");
        prop_assert!((T * S - partial_identity(d)).amax() <= 1e-14 * stretch(&kind, &q), "{kind:?} {q:?}");
    }

    /// A finite step along S stays on the manifold to second order: half the step, a quarter of the
    /// residual, or nothing but rounding.
    #[test]
    fn moving_along_the_subspace_keeps_the_constraint(
        (kind, q) in joint(), rate in prop::array::uniform6(-1.0..1.0f64),
    ) {
        let xi = Twist::from_vector(&(kind.subspace(&q) * padded(&rate[..q.len()])));
        let residual = |h: f64| kind.residual(&(kind.transform(&q) * exp(&(xi * h))), &q).amax();
        let (whole, half) = (residual(1e-3), residual(5e-4));
        prop_assert!(whole <= 5e-15 || (whole / half - 4.0).abs() <= 0.02 + 1e-13 / half, "{kind:?} {whole:e} {half:e}");
        prop_assert!(whole <= 1e-6);
    }

    /// The default residual, its rows and its coordinate columns, off the manifold.
    #[test]
    fn default_residual_has_these_derivatives((kind, q) in joint(), off in twist(1.0, 1.0)) {
        let d = q.len();
        let X = kind.transform(&q) * exp(&off);
        let e = default_residual::residual(&kind, &X, &q);
        prop_assert!((e - off).to_vector().amax() <= 1e-14);
        let numeric = jacobian(|xi| {
            default_residual::residual(&kind, &(X * exp(&Twist::from_vector(xi))), &q).to_vector()
        });
        prop_assert!((default_residual::rows(&e) - numeric).amax() <= 1e-11);
        let numeric = jacobian(|x| {
            default_residual::residual(&kind, &X, &along(&q, &x.as_slice()[..d], 1.0)).to_vector()
        });
        prop_assert!((default_residual::coordinate_columns(&kind, &e, &q) - numeric).amax() <= 1e-11);
    }

    /// Eliminating q from the default residual (projecting its rows off the range of its coordinate
    /// columns) leaves the row space of the fast rows.
    #[test]
    fn fast_rows_span_those_of_the_default_residual((kind, q) in joint()) {
        let d = q.len();
        // The singular values of S of a ball are those of Jr, the smallest 1/stretch: rank is clear.
        prop_assume!(stretch(&kind, &q) < 20.0);
        let X = kind.transform(&q);
        let e = default_residual::residual(&kind, &X, &q);
        prop_assert!(e.to_vector().amax() <= 2e-15);
        let B = columns(&default_residual::coordinate_columns(&kind, &e, &q), d);
        let rows = columns(&default_residual::rows(&e), 6);
        let slow = match (B.transpose() * &B).cholesky() {
            Some(gram) if d > 0 => &rows - &B * gram.solve(&(B.transpose() * &rows)),
            _ => rows.clone(),
        };
        let fast = columns(&kind.rows(&X, &q).transpose(), 6 - d).transpose();
        // Gram matrices of either alone and of both together all have rank 6 − d: same row space.
        let both = slow.transpose() * &slow + fast.transpose() * &fast;
        for gram in [slow.transpose() * &slow, fast.transpose() * &fast, both] {
            let values = eigenvalues(gram);
            prop_assert!(values[..d].iter().all(|v| v.abs() <= 1e-12), "{kind:?} {q:?} {values:?}");
            prop_assert!(values[d..].iter().all(|v| *v >= 0.9), "{kind:?} {q:?} {values:?}");
        }
    }
}

/// The file's pose: coordinates zero, frames coincide.
#[test]
fn zero_is_the_identity() {
    for kind in JointKind::ALL {
        let q = vec![0.0; kind.freedoms()];
        assert_eq!(kind.transform(&q), Pose::identity(), "{kind:?}");
        assert_eq!(kind.coordinates(&Pose::identity(), &q), Vector6::zeros());
        assert_eq!(kind.residual(&Pose::identity(), &q), Vector6::zeros());
    }
}

/// Translations come first: their columns of S have no angular part, the others have one.
#[test]
fn translations_come_first() {
    for kind in JointKind::ALL {
        let S = kind.subspace(&vec![0.3; kind.freedoms()]);
        for k in 0..kind.freedoms() {
            let turns = S.fixed_view::<3, 1>(3, k).norm() > 0.5;
            assert_eq!(turns, k >= kind.translations(), "{kind:?} freedom {k}");
        }
    }
}

#[test]
fn names_find_their_kind() {
    for kind in JointKind::ALL {
        assert_eq!(JointKind::from_name(kind.name()), Some(kind));
    }
    assert_eq!(JointKind::from_name("revolute"), None);
}

/// Followed in small steps with itself as the reference, a coordinate counts on over three turns
/// each way. (A ball's passes its singular full turns between two steps.)
#[test]
fn turns_count_on() {
    let axis = Vector3::new(1.0, 2.0, -2.0) / 3.0;
    for sign in [1.0, -1.0] {
        let (mut hinge, mut ball) = (vec![0.0], Vector3::zeros());
        for step in 1..=400 {
            let angle = sign * 0.05 * f64::from(step);
            let X = JointKind::Hinge.transform(&[angle]);
            hinge = vec![JointKind::Hinge.coordinates(&X, &hinge)[0]];
            assert!((hinge[0] - angle).abs() <= 1e-14, "hinge at {angle}: {hinge:?}");
            let r = axis * angle;
            let X = JointKind::Ball.transform(r.as_slice());
            ball = JointKind::Ball.coordinates(&X, ball.as_slice()).fixed_rows::<3>(0).into_owned();
            // Near a full turn the axis of the little rest is what is known least.
            assert!((ball - r).norm() <= 1e-12, "ball at {angle}: {ball:?}");
        }
    }
}

/// A pose whose rotation is a whole turn has no axis of its own; the reference's axis is taken.
#[test]
fn whole_turns_of_a_ball_follow_the_reference() {
    let axis = Vector3::new(0.0, 0.6, 0.8);
    let r = axis * TAU;
    let back = JointKind::Ball.coordinates(&Pose::identity(), (axis * 6.0).as_slice());
    assert!((back.fixed_rows::<3>(0) - r).norm() <= 1e-15);
    let back = JointKind::Ball.coordinates(&Pose::identity(), &[0.0, 1.0, 2.0]);
    assert_eq!(back, Vector6::zeros());
}

/// The rate of a ball's subspace switches from series to closed form at θ² = 0.1, without a jump:
/// the closed form divides a difference known to ε by 0.1, twice.
#[test]
fn no_jump_where_the_series_of_the_subspace_rate_ends() {
    let (axis, rate) = (Vector3::new(2.0, -1.0, 2.0) / 3.0, [0.3, -1.0, 0.8]);
    let at = |factor: f64| {
        let r = axis * (0.1f64.sqrt() * factor);
        JointKind::Ball.subspace_rate(r.as_slice(), &rate)
    };
    let jump = (at(1.0 + 1e-15) - at(1.0 - 1e-15)).amax();
    assert!(jump <= 1e-14, "{jump:e}");
}

/// Fixed and prismatic joints hold at the identity only: half a turn away, where dot products of
/// axes would vanish as well, the residual is as large as it gets.
#[test]
fn half_a_turn_is_not_held() {
    for kind in [JointKind::Fixed, JointKind::Prismatic] {
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let X = Pose::rotation(axis, std::f64::consts::PI);
            let q = vec![0.0; kind.freedoms()];
            assert!(kind.residual(&X, &q).norm() > 1.9, "{kind:?}");
            assert!(distance(&X, &Pose::identity()) > 1.0);
        }
    }
}
