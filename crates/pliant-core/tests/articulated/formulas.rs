//! Claim: joints given by formulas move in the articulated engine as any other: forward dynamics is the dense solve,
//! the energy error of Runge and Kutta's method falls as the fourth power of the step for every formula, and motion
//! comes to rest where the full engine's statics says.

use crate::common;
use pliant_core::engine::Simulation as _;

use crate::common::forest::{Forest, Numbers, random_state, scene_loads};
use crate::common::{creeping, edited, formulas};
use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::Inputs;
use pliant_core::engine::State;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{self};
use pliant_core::gallery::{self, RandomOptions};
use pliant_core::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant_core::nalgebra::{DVector, Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

const GALLERY: [&str; 4] = ["torus-chain:4", "windmill", "spline-slide", "surface-slide"];

/// As in `articulated_dynamics.rs`, which says why 1e-10.
#[test]
fn forward_dynamics_is_the_dense_solve() {
    for name in GALLERY {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut dynamics = model.dynamics();
        let mut inputs = Inputs::new(&mechanism);
        inputs.add_scene_loads();
        let mut numbers = Numbers(7);
        let mut worst = 0.0f64;
        for _ in 0..3 {
            let mut state = random_state(&mechanism, &mut numbers);
            // Not across the poles of a surface, nor off the end of a curve.
            state.coordinates.iter_mut().for_each(|q| *q *= 0.2);
            let forces = numbers.list(model.speeds());
            let mut found = vec![0.0; model.speeds()];
            dynamics.set_state(&state, Twist::ZERO).unwrap();
            dynamics.accelerations(&inputs, &forces, &mut found).unwrap();
            let (M, rest) = Forest::new(&model, &state).equations(&inputs, &scene_loads(&mechanism));
            let right = rest + DVector::from_column_slice(&forces);
            let expected = M.cholesky().expect("positive definite").solve(&right);
            worst = worst.max((DVector::from_column_slice(&found) - &expected).amax() / expected.amax());
        }
        println!("{name}: {worst:.1e}");
        assert!(worst < 1e-10, "{name}: {worst:e}");
    }
}

/// Trees of lower pairs, once as built-in joints and once as formulas, have the same accelerations. Both round a few hundred
/// times, which the condition of the mass matrix makes larger: measured against M q̈.
#[test]
fn lower_pairs_accelerate_as_the_built_in_joints() {
    let pairs = formulas::lower_pairs();
    let (mut worst, mut replaced) = (0.0f64, 0);
    for seed in 0..12 {
        let options = RandomOptions {
            bodies: 8,
            loops: 0.0,
            kinds: pairs.iter().map(|(_, kind)| kind.clone()).collect(),
            limits: false,
            free_bases: seed % 2 == 1,
            armatures: true,
            ..RandomOptions::default()
        };
        let given = gallery::random(seed, &options);
        let written = edited(&given, |joint| {
            if let Some((case, _)) = pairs.iter().find(|(_, kind)| *kind == joint.kind) {
                joint.kind = case.kind();
                replaced += 1;
            }
        });
        let answer = |mechanism: &Mechanism| {
            let model = Model::new(mechanism);
            let mut dynamics = model.dynamics();
            let mut inputs = Inputs::new(mechanism);
            inputs.add_scene_loads();
            let mut numbers = Numbers(seed + 1);
            dynamics.set_state(&random_state(mechanism, &mut numbers), Twist::ZERO).unwrap();
            let forces = numbers.list(model.speeds());
            let mut a = DVector::zeros(model.speeds());
            dynamics.accelerations(&inputs, &forces, a.as_mut_slice()).unwrap();
            (a, dynamics.mass_matrix())
        };
        let ((a, M), (b, _)) = (answer(&given), answer(&written));
        let error = (&M * (&a - &b)).amax() / (M.amax() * a.amax());
        worst = worst.max(error);
        assert!(error < 1e-12, "seed {seed}: {error:e}");
    }
    println!("worst {worst:.1e}");
    assert_eq!(replaced, 83, "joints");
}

/// A body on the joint, and its state with some speed.
fn swing(case: &formulas::Case) -> (Mechanism, State) {
    let mut builder = MechanismBuilder::new(case.name);
    let inertia = SpatialInertia {
        mass: 0.5,
        center_of_mass: Vector3::new(0.03, 0.05, -0.04),
        inertia: Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4e-3)),
    };
    builder.body(Body::new("body", Pose::identity()).inertia(inertia));
    // Limits say where the formula holds; the motion does not reach them.
    let limits: Vec<(f64, f64)> = case.range.iter().map(|r| (-r, *r)).collect();
    builder.joint(JointDescription::new("joint", case.kind(), WORLD, "body").stiffness(2.0).limits(limits));
    let mechanism = builder.build().unwrap();
    let mut state = State::at_rest(&mechanism);
    for (k, rate) in state.rates.iter_mut().enumerate() {
        *rate = case.range[k] * (1.0 + k as f64).sin();
    }
    // The joint's frame is the body's.
    let S = case.kind().subspace(&state.coordinates);
    state.twists[0] = Twist::from_vector(
        &(S.columns(0, state.rates.len()) * DVector::from_column_slice(&state.rates))
            .fixed_rows::<6>(0)
            .into_owned(),
    );
    (mechanism, state)
}

#[test]
fn energy_error_falls_as_the_fourth_power() {
    for case in formulas::all() {
        let (mechanism, start) = swing(&case);
        let model = Model::new(&mechanism);
        let error = |dt: f64| {
            let mut simulation = model.simulate();
            simulation.set_integrator(Integrator::RungeKutta4).unwrap();
            simulation.set_state(&start).unwrap();
            let energy = simulation.energy().total();
            let mut largest = simulation.energy().kinetic;
            for _ in 0..(0.1 / dt).round() as usize {
                simulation.step(dt).unwrap();
                largest = largest.max(simulation.energy().kinetic);
                let inside =
                    simulation.state().coordinates.iter().zip(&case.range).all(|(q, r)| q.abs() < *r);
                assert!(inside, "{}: within its limits", case.name);
            }
            ((simulation.energy().total() - energy) / largest).abs()
        };
        let errors = [4e-3, 2e-3, 1e-3, 5e-4].map(error);
        let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
        println!("{}: {errors:?}, ratios {ratios:.1?}", case.name);
        // Sixteen, or more where errors of opposite signs meet or the fifth power leads. Where pieces of a curve meet,
        // a derivative jumps.
        let smooth = case.breaks.is_empty();
        assert!(!smooth || ratios[2] > 12.0 || errors[3] < 1e-12, "{}: {ratios:?}", case.name);
        assert!(errors[3] < 1e-6, "{}: {errors:?}", case.name);
    }
}

#[test]
fn motion_comes_to_rest_where_statics_says() {
    for name in GALLERY {
        let mechanism = creeping(&gallery::build(name).unwrap());
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        for _ in 0..600 {
            simulation.step(0.05).unwrap();
        }
        let full_model = full::Model::new(&mechanism);
        let mut statics = full_model.simulate();
        statics.inputs_mut().add_scene_loads();
        let settings = StaticsSettings { tolerance: 1e-12, ..Default::default() };
        let found = statics.settle(&settings).unwrap();
        assert!(found.converged || found.residual < 1e-8, "{name}: {found:?}");
        let difference = common::apart(&mechanism, simulation.state(), statics.state());
        let moved = common::apart(&mechanism, statics.state(), &State::at_rest(&mechanism));
        println!("{name}: {difference:.1e} radii after {moved:.1e}");
        assert!(moved > 1e-3, "{name}: {moved:e}");
        // What was asked; statics stops at 1e-12 of its forces.
        assert!(difference < 1e-9, "{name}: {difference:e}");
        // Constraint forces, which either engine finds in its own way.
        let (found, expected) = (&simulation.state().multipliers, &statics.state().multipliers);
        let scale = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{name}: constraint forces {off:.1e} of {scale:.1e} N");
        assert!(off < 1e-6 * scale, "{name}: constraint forces {off:e} of {scale:e}");
    }
}
