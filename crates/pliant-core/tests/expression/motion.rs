//! Claim: the tapes of a formula are what they say. X(0) is the identity and X(q) is rigid; S is the rate of X, Ṡ that
//! of S, and Ṡq̇ their product; every lower pair written as a formula equals the built-in joint; and torus on torus
//! equals four hinges in a row, other pairs of round surfaces two spheres.
#![allow(non_snake_case)]

use std::f64::consts::PI;
use std::sync::LazyLock;

use crate::common::formulas::{self, Case};
use crate::common::{derivative, distance, seeded};
use pliant_core::articulated;
use pliant_core::engine::Inputs;
use pliant_core::engine::State;
use pliant_core::expression::{Formula, Parameter, Tape};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant_core::nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, SpatialInertia, Twist, log};
use proptest::prelude::*;

fn along(q: &[f64], rate: &[f64], t: f64) -> Vec<f64> {
    q.iter().zip(rate).map(|(q, r)| q + t * r).collect()
}

fn padded(q: &[f64]) -> Vector6<f64> {
    Vector6::from_fn(|i, _| q.get(i).copied().unwrap_or(0.0))
}

/// Coordinates and rates of every case, from a fixed sequence: the rates are a fifth of the range, so that a
/// difference formula stays inside it.
fn each(count: usize, mut visit: impl FnMut(&Case, &[f64], &[f64])) {
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    for case in formulas::all() {
        for round in 0..count {
            let unit: Vec<f64> = (0..12).map(|k| number(37 * round + 101 * k + 5)).collect();
            let q: Vec<f64> = case.at(&unit).iter().map(|q| 0.8 * q).collect();
            let rate: Vec<f64> = case.at(&unit[6..]).iter().map(|r| (0.2 * r).clamp(-1.0, 1.0)).collect();
            if case.is_smooth_around(&q) {
                visit(&case, &q, &rate);
            }
        }
    }
}

/// The file's pose, and rigid everywhere: products of a few hundred roundings.
#[test]
fn zero_is_the_identity_and_all_is_rigid() {
    each(50, |case, q, _| {
        let zero = case.expression.transform(&vec![0.0; q.len()]);
        assert!(distance(&zero, &Pose::identity()) <= 4e-16, "{}", case.name);
        let mut X = [0.0; 12];
        case.expression.position_tape().run(q, &mut X);
        let R = Matrix3::from_column_slice(&X[..9]);
        assert!((R.transpose() * R - Matrix3::identity()).amax() <= 4e-15, "{} {q:?}", case.name);
    });
}

/// X⁻¹Ẋ = S q̇ by differences of sixth order; the sharpest bends are those of curves and of the knee, near the ends
/// of its range.
#[test]
fn subspace_is_the_rate_of_the_transform() {
    each(50, |case, q, rate| {
        let (X, S) = case.expression.transform_and_subspace(q);
        let numeric =
            derivative(|t| log(&X.inverse_times(&case.expression.transform(&along(q, rate, t)))).to_vector());
        let error = (S * padded(rate) - numeric).amax();
        assert!(error <= 2e-12, "{} {q:?}: {error:e}", case.name);
    });
}

/// Ṡ by differences of S; Ṡq̇ from the recursion over products is Ṡ times q̇ from the derivatives of S.
#[test]
fn subspace_rate_is_the_rate_of_the_subspace() {
    each(50, |case, q, rate| {
        let D = case.expression.subspace_rate(q, rate);
        for k in 0..q.len() {
            let numeric = derivative(|t| case.expression.subspace(&along(q, rate, t)).column(k).into_owned());
            let error = (D.column(k) - numeric).amax();
            assert!(error <= 1e-11 * (1.0 + D.amax()), "{} {q:?} column {k}: {error:e}", case.name);
        }
        let (X, S, bias) = case.expression.motion(q, rate);
        let error = (bias.to_vector() - D * padded(rate)).amax();
        assert!(error <= 1e-13 * (1.0 + D.amax()), "{} {q:?}: {error:e}", case.name);
        let (Y, T) = case.expression.transform_and_subspace(q);
        assert_eq!((X, S), (Y, T), "the same numbers, whichever tape gives them");
        assert_eq!(X, case.expression.transform(q));
    });
}

proptest! {
    #![proptest_config(seeded(2_000, 61))]

    /// The lower pairs, angles up to 20 rad: sines of the same numbers, in another order.
    #[test]
    fn lower_pairs_equal_the_built_in_joints(unit in prop::array::uniform6(-1.0..1.0f64), rate in prop::array::uniform6(-1.0..1.0f64)) {
        static PAIRS: LazyLock<Vec<(Case, JointKind)>> = LazyLock::new(formulas::lower_pairs);
        for (case, kind) in PAIRS.iter() {
            let (q, rate) = (case.at(&unit), &rate[..case.range.len()]);
            let (X, S, bias) = case.expression.motion(&q, rate);
            let (Y, T, other) = kind.motion(&q, rate);
            prop_assert!(distance(&X, &Y) <= 2e-15, "{} {}", case.name, distance(&X, &Y));
            prop_assert!((S - T).amax() <= 1e-15, "{}", case.name);
            prop_assert!((bias - other).to_vector().amax() <= 1e-15, "{}", case.name);
            prop_assert!((case.expression.subspace_rate(&q, rate) - kind.subspace_rate(&q, rate)).amax() <= 1e-15);
        }
    }
}

/// Four hinges about z, −y, y, −z on massless links: F(u, v) = Rz(u) Tx(ring) Ry(−v) Tx(tube) of either ring, written out
/// by hand.
fn four_hinges(q: &[f64], rate: &[f64]) -> (Pose, Matrix6<f64>, Twist) {
    let quarter = std::f64::consts::FRAC_PI_2;
    let along = |x: f64| Pose::translation([x, 0.0, 0.0]);
    let turn = Pose::rotation([0.0, 1.0, 0.0], quarter);
    let flip = Pose::rotation([1.0, 0.0, 0.0], 2.0 * quarter);
    // Each hinge with what follows it up to the next: G = Π hinge(q) · link.
    let links = [
        along(0.2),
        along(0.05) * turn * flip * turn.inverse() * along(-0.04),
        along(-0.15),
        Pose::identity(),
    ];
    let axes = [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]];
    // Twists carried outward, link by link: V' = Ad(B⁻¹)V, and V̇ = Ad(B⁻¹)V̇ + ad(V_A')V_B.
    let at = |q: &[f64]| (0..4).fold(Pose::identity(), |G, k| G * Pose::rotation(axes[k], q[k]) * links[k]);
    let (mut V, mut bias) = (Twist::ZERO, Twist::ZERO);
    let mut S: Vec<Twist> = Vec::new();
    for k in 0..4 {
        let own = Twist::new([0.0; 3].into(), axes[k].into());
        let step = Pose::rotation(axes[k], q[k]);
        let inward = step.twist_to_local(&V);
        bias = step.twist_to_local(&bias) + inward.bracket(&(own * rate[k]));
        V = inward + own * rate[k];
        S.iter_mut().for_each(|s| *s = step.twist_to_local(s));
        S.push(own);
        bias = links[k].twist_to_local(&bias);
        V = links[k].twist_to_local(&V);
        S.iter_mut().for_each(|s| *s = links[k].twist_to_local(s));
    }
    let mut matrix = Matrix6::zeros();
    S.iter().enumerate().for_each(|(k, s)| matrix.set_column(k, &s.to_vector()));
    (at(&[0.0; 4]).inverse_times(&at(q)), matrix, bias)
}

#[test]
fn torus_on_torus_is_four_hinges() {
    let case = formulas::ready().into_iter().find(|case| case.name == "torus-torus").unwrap();
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    for round in 0..500 {
        let q: Vec<f64> = (0..4).map(|k| 3.0 * number(8 * round + k)).collect();
        let rate: Vec<f64> = (0..4).map(|k| 2.0 * number(8 * round + 4 + k)).collect();
        let (X, S, bias) = case.expression.motion(&q, &rate);
        let (Y, T, other) = four_hinges(&q, &rate);
        assert!(distance(&X, &Y) <= 1e-14, "{:e}", distance(&X, &Y));
        assert!((S - T).amax() <= 1e-14, "{:e}", (S - T).amax());
        assert!((bias - other).to_vector().amax() <= 1e-13);
    }
}

/// Pairs of other surfaces, where these are spheres: an ellipsoid of equal radii, a torus whose ring is a point. Frames on
/// ellipsoids have x along the longitude, those on spheres against the latitude, so that two pairs spin from the other side.
#[test]
fn pairs_of_round_surfaces_are_spheres() {
    let (one, two, three) = (0.3, 0.2, [0.15, 0.2, 0.1]);
    let formula = |name: &str, parameters: &[(&str, Parameter)]| {
        let start = Formula::ready(name).unwrap();
        let all = parameters.iter().fold(start, |f, (name, value)| f.parameter(*name, value.clone()));
        all.compile().unwrap()
    };
    let spheres = formula("sphere-sphere", &[("radius1", one.into()), ("radius2", two.into())]);
    let round = |r: f64| Parameter::from([r, r, r]);
    let ellipsoids = formula("ellipsoid-ellipsoid", &[("radii1", round(one)), ("radii2", three.into())]);
    let cases = [
        (formula("sphere-ellipsoid", &[("radius1", one.into()), ("radii2", round(two))]), &spheres, PI),
        (formula("sphere-ellipsoid", &[("radius1", one.into()), ("radii2", three.into())]), &ellipsoids, 0.0),
        (
            formula("sphere-torus", &[("radius1", one.into()), ("ring2", 0.0.into()), ("tube2", two.into())]),
            &spheres,
            0.0,
        ),
        (
            formula(
                "torus-ellipsoid",
                &[("ring1", 0.0.into()), ("tube1", one.into()), ("radii2", three.into())],
            ),
            &ellipsoids,
            0.0,
        ),
    ];
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    for (pair, same, turned) in &cases {
        for round in 0..100 {
            let q: [f64; 5] = std::array::from_fn(|k| [3.0, 1.2][k % 2] * number(8 * round + k));
            let mut other = q;
            other[4] += turned;
            let apart =
                distance(&(pair.start() * pair.transform(&q)), &(same.start() * same.transform(&other)));
            // A few roundings of lengths below 1 m.
            assert!(apart <= 1e-14, "{:?} {apart:e}", pair.formula().ready_name());
        }
    }
}

/// A ring on a ball: the centre of its tube where they touch is both radii from the ball's centre, and an ellipsoid on a torus
/// has its normal against the tube's.
#[test]
fn tori_touch() {
    let [ball, ring, tube] = [0.3, 0.15, 0.04];
    let formula = Formula::ready("sphere-torus").unwrap();
    let formula = formula.parameter("radius1", ball).parameter("ring2", ring).parameter("tube2", tube);
    let on_ball = formula.compile().unwrap();
    let radii = Vector3::new(0.15, 0.2, 0.1);
    let formula = Formula::ready("torus-ellipsoid").unwrap();
    let formula = formula
        .parameter("ring1", ring)
        .parameter("tube1", tube)
        .parameter("radii2", [radii.x, radii.y, radii.z]);
    let on_torus = formula.compile().unwrap();
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    for round in 0..100 {
        let q: [f64; 5] = std::array::from_fn(|k| [3.0, 1.2][k % 2] * number(8 * round + k));
        let [u1, v1, u2, v2, _] = q;
        let G = on_ball.start() * on_ball.transform(&q);
        let center = G.transform_point(&Vector3::new(ring * u2.cos(), ring * u2.sin(), 0.0));
        assert!((center.norm() - ball - tube).abs() <= 1e-14, "{}", center.norm());
        let out = Vector3::new(u1.cos() * v1.cos(), u1.sin() * v1.cos(), v1.sin());
        assert!((center.normalize() - out).norm() <= 1e-14);

        let G = on_torus.start() * on_torus.transform(&q);
        let middle = Vector3::new(u1.cos(), u1.sin(), 0.0);
        let out = middle * v1.cos() + Vector3::z() * v1.sin();
        let touched = middle * ring + out * tube;
        let unit = Vector3::new(v2.cos() * u2.cos(), v2.cos() * u2.sin(), v2.sin());
        let point = G.transform_point(&radii.component_mul(&unit));
        assert!((point - touched).norm() <= 1e-14, "{:e}", (point - touched).norm());
        let normal = G.rotation * unit.component_div(&radii).normalize();
        assert!((normal + out).norm() <= 1e-14, "{:e}", (normal + out).norm());
    }
}

/// Operations of X, S and Ṡq̇: the number that sharing is about. Without it the graph of torus on torus has 22,815.
#[test]
fn tapes_are_short() {
    for case in formulas::ready() {
        let count = |tape: &Tape| (tape.operations(), tape.registers());
        let expression = &case.expression;
        let (motion, registers) = count(expression.motion_tape());
        println!(
            "{:20} X {:4}  X S {:4}  X S Ṡq̇ {motion:4} on {registers} registers  ∂S/∂q {:4}",
            case.name,
            expression.position_tape().operations(),
            expression.subspace_tape().operations(),
            expression.curvature_tape().operations(),
        );
        if case.name == "torus-torus" {
            assert!(motion <= 560, "{motion} operations");
        }
    }
    let hinge = formulas::lower_pairs().remove(0).0;
    assert_eq!(hinge.expression.motion_tape().operations(), 3, "a sine, a cosine and a sign");
}

/// Of each of two rings.
fn ring_inertia() -> SpatialInertia {
    SpatialInertia {
        mass: 0.7,
        center_of_mass: Vector3::new(0.02, -0.01, 0.03),
        inertia: Matrix3::new(0.02, 0.001, 0.0, 0.001, 0.03, -0.002, 0.0, -0.002, 0.025),
    }
}

/// q̈ of bodies that start with Jacobians J_b (6×n, body axes) and bias accelerations, under gravity and coordinate
/// forces: Σ JᵀMJ q̈ = τ − Σ Jᵀ(M bias − ad(V)ᵀM V − M g).
fn accelerations(
    bodies: &[(DMatrix<f64>, Twist, Twist, Vector3<f64>)],
    torques: &DVector<f64>,
) -> DVector<f64> {
    let (M, n) = (ring_inertia(), torques.len());
    let (mut H, mut right) = (DMatrix::zeros(n, n), torques.clone());
    for (J, velocity, bias, gravity) in bodies {
        let turned = velocity.bracket_transpose(&M.momentum(velocity));
        let fall = M.momentum(&(*bias - Twist::new(*gravity, Vector3::zeros())));
        let force = (fall - turned).to_vector();
        H += J.transpose() * M.matrix() * J;
        right -= J.transpose() * force;
    }
    H.cholesky().expect("a mass matrix is positive").solve(&right)
}

/// The same two rings for the articulated engine.
fn two_rings(case: &Case, g: Vector3<f64>) -> Mechanism {
    let start = case.expression.start();
    let mut builder = MechanismBuilder::new("two rings");
    builder.gravity(g.into());
    let (mut parent, mut pose) = (WORLD, Pose::identity());
    for name in ["one", "two"] {
        pose = pose * start;
        builder.body(Body::new(name, pose).inertia(ring_inertia()));
        builder.joint(JointDescription::new(name, case.kind(), parent, name).frame(pose));
        parent = name;
    }
    builder.build().unwrap()
}

/// Two rings on each other and on the world, as formulas and as eight hinges with massless links. The formulas go from
/// body to body with X, S and Ṡq̇, once here and once in the engine; the hinges by the textbook in world axes: axes,
/// lever arms, and the accelerations ω×(ω×r) that are left without q̈.
#[test]
fn torus_on_torus_accelerates_as_four_hinges() {
    let case = formulas::ready().into_iter().find(|case| case.name == "torus-torus").unwrap();
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    let g = Vector3::new(1.0, -2.0, -9.81);
    let start = case.expression.start();
    let mechanism = two_rings(&case, g);
    let model = articulated::Model::new(&mechanism);
    let (mut dynamics, inputs) = (model.dynamics(), Inputs::new(&mechanism));
    for round in 0..50 {
        let q: Vec<f64> = (0..8).map(|k| 2.0 * number(16 * round + k)).collect();
        let rate: Vec<f64> = (0..8).map(|k| 2.0 * number(16 * round + 8 + k)).collect();
        let torques = DVector::from_fn(8, |k, _| number(3 * round + k));

        let mut written = Vec::new();
        let (mut pose, mut V, mut bias) = (Pose::identity(), Twist::ZERO, Twist::ZERO);
        let mut J = DMatrix::zeros(6, 8);
        for j in 0..2 {
            let at = 4 * j..4 * j + 4;
            let (X, S, own) = case.expression.motion(&q[at.clone()], &rate[at.clone()]);
            // The child's ring from the parent's: G = G(0) X.
            let G = start * X;
            let (inward, vJ) = (G.twist_to_local(&V), Twist::from_vector(&(S * padded(&rate[at.clone()]))));
            bias = G.twist_to_local(&bias) + inward.bracket(&vJ) + own;
            V = inward + vJ;
            let mut next = DMatrix::from_fn(6, 6, |i, k| G.inverse().adjoint()[(i, k)]) * &J;
            next.columns_mut(4 * j, 4).copy_from(&S.columns(0, 4));
            J = next;
            pose = pose * G;
            written.push((J.clone(), V, bias, pose.rotation.inverse() * g));
        }

        let mut textbook = Vec::new();
        let (mut at, mut omega, mut alpha) = (Pose::identity(), Vector3::zeros(), Vector3::zeros());
        let (mut v, mut a) = (Vector3::zeros(), Vector3::zeros());
        let mut hinges: Vec<(Vector3<f64>, Vector3<f64>)> = Vec::new();
        let half = Pose::rotation([0.0, 0.0, 1.0], std::f64::consts::PI);
        let links = [0.2, 0.05 + 0.04, -0.15, 0.0];
        for k in 0..8 {
            // Axes z, −y, and after half a turn about z, which turns the second ring over, y and −z.
            let local = [Vector3::z(), -Vector3::y(), Vector3::y(), -Vector3::z()][k % 4];
            let axis = at.rotation * local;
            hinges.push((axis, at.position));
            alpha += omega.cross(&axis) * rate[k];
            omega += axis * rate[k];
            at = at * Pose::rotation(local.into(), q[k]);
            let link = if k % 4 == 1 {
                Pose::translation([links[1], 0.0, 0.0]) * half
            } else {
                Pose::translation([links[k % 4], 0.0, 0.0])
            };
            let next = at * link;
            let r = next.position - at.position;
            v += omega.cross(&r);
            a += alpha.cross(&r) + omega.cross(&omega.cross(&r));
            at = next;
            if k % 4 == 3 {
                let R = at.rotation.inverse();
                let mut J = DMatrix::zeros(6, 8);
                for (i, (axis, origin)) in hinges.iter().enumerate() {
                    J.fixed_view_mut::<3, 1>(0, i).copy_from(&(R * axis.cross(&(at.position - origin))));
                    J.fixed_view_mut::<3, 1>(3, i).copy_from(&(R * axis));
                }
                // The rate of a body-axes velocity is R⁻¹(a − ω×v).
                let velocity = Twist::new(R * v, R * omega);
                textbook.push((J, velocity, Twist::new(R * (a - omega.cross(&v)), R * alpha), R * g));
            }
        }
        let (one, other) = (accelerations(&written, &torques), accelerations(&textbook, &torques));
        let error = (&one - &other).amax() / other.amax();
        assert!(error <= 1e-11, "round {round}: {error:e}");

        let mut state = State::at_rest(&mechanism);
        state.coordinates.copy_from_slice(&q);
        state.rates.copy_from_slice(&rate);
        dynamics.set_state(&state, Twist::ZERO).unwrap();
        let mut engine = DVector::zeros(8);
        dynamics.accelerations(&inputs, torques.as_slice(), engine.as_mut_slice()).unwrap();
        let error = (&engine - &other).amax() / other.amax();
        assert!(error <= 1e-11, "round {round}: engine {error:e}");
    }
}
