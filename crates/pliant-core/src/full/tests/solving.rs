//! Claim: the elimination of the fronts solves the matrix that they add up to, on trees and loops.

use super::super::floating::Floating;
use super::*;

/// The step's elimination equals a dense LU solve of the same matrix. Rows that loops make redundant leave
/// nothing but their softness as pivot, 1e-6: one solve loses that many digits there.
#[test]
fn the_solution_equals_a_dense_one() {
    let h = 1.0 / 60.0;
    let (mut tree, mut left, mut looped, mut velocity, mut pose) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for (seed, mechanism) in mechanisms(12).iter().enumerate() {
        let model = Constants::new(mechanism);
        let setup = Setup::new(&model, &mut Random(seed as u64), dynamics(h), h);
        let (A, b) = setup.assembled();
        let (x, negative) = setup.solved();
        assert_eq!(negative, model.rows, "as many negative pivots as rows");
        let oracle = dense_solve(&A, &b);
        if mechanism.order().loop_joints().is_empty() && mechanism.couplings().is_empty() {
            tree = tree.max((&x - &oracle).amax() / oracle.amax());
            left = left.max((&A * &x - &b).amax() / (A.amax() * x.amax()));
        } else {
            let bodies: Vec<usize> = model.nodes.iter().flat_map(|n| n.unknown..n.unknown + 6).collect();
            let pick = |x: &DVector<f64>| DVector::from_fn(bodies.len(), |k, _| x[bodies[k]]);
            looped = looped.max((pick(&x) - pick(&oracle)).amax() / pick(&oracle).amax());
        }

        // A whole step, the fifth under the scene's loads, with every solve dense.
        let mut simulation = Model::new(&model.mechanism).simulate();
        simulation.inputs_mut().add_scene_loads();
        for _ in 0..4 {
            simulation.step(h).unwrap();
        }
        let mut setup = Setup::of(&model, &mut simulation, dynamics(h), h);
        let mut floating = Floating::new(&model);
        frames::start(&model, &setup.inputs, &setup.state, &mut setup.frames);
        floating.start(&model, h, &mut setup.frames);
        frames::aim(&model, h, &mut setup.frames);
        for _ in 0..DEFAULT_ITERATIONS {
            frames::apply_loads(&model, &setup.inputs.gravity, &setup.loads, 1.0, &mut setup.frames);
            let (A, b) = setup.assembled();
            let x = dense_solve(&A, &b);
            for (node, frame) in model.nodes.iter().zip(&mut setup.frames) {
                frame.v += Vector3::from_fn(|k, _| x[node.unknown + k]);
                frame.w += Vector3::from_fn(|k, _| x[node.unknown + 3 + k]);
                frame.advance(node, h);
            }
            let bodies = 6 * model.nodes.len();
            for (i, unknown) in setup.unknowns()[bodies..].iter().enumerate().filter(|(_, u)| **u != ABSENT) {
                setup.multipliers[i] = -x[*unknown] / h;
            }
        }
        floating.advance(&model, &setup.inputs, h, &setup.frames);
        let mut expected = setup.state.clone();
        let (base, twist) = (&setup.inputs.base, &setup.inputs.base_twist);
        frames::store(&model, &setup.frames, base, twist, Some(&floating), &mut expected);
        simulation.step(h).unwrap();
        let fastest = simulation.state().twists.iter().map(|t| t.to_vector().amax()).fold(0.0, f64::max);
        for head in model.nodes.iter().map(|node| node.head.index()) {
            let state = simulation.state();
            let difference = expected.twists[head].to_vector() - state.twists[head].to_vector();
            velocity = velocity.max(difference.amax() / fastest);
            pose = pose.max((state.poses[head].position - expected.poses[head].position).amax());
        }
    }
    println!("trees {tree:.1e}, residual {left:.1e}; loops, one solve {looped:.1e}");
    println!("a step: velocities {velocity:.1e}, positions {pose:.1e} m");
    assert!(tree < 1e-12, "{tree:e}");
    assert!(left < 1e-14, "{left:e}");
    assert!(looped < 1e-10, "{looped:e}");
    assert!(velocity < 1e-10, "{velocity:e}");
    assert!(pose < 1e-12, "{pose:e}");
}

/// Under tension that needs geometric stiffness, blocks between a body and its parent included, the elimination
/// solves the same matrix and counts its negative eigenvalues, minimum or not.
#[test]
fn tension_is_eliminated_as_a_dense_solver_does() {
    let h = 1.0 / 60.0;
    let (mut worst, mut stiffened, mut indefinite) = (0.0f64, 0, 0);
    for (seed, mechanism) in mechanisms(12).iter().enumerate() {
        let model = Constants::new(mechanism);
        let mut setup = Setup::new(&model, &mut Random(seed as u64), dynamics(h), h);
        let mut numbers = Random(seed as u64);
        setup.multipliers.iter_mut().for_each(|x| *x = 1e3 * numbers.signed());
        let (A, b) = setup.assembled();
        let (x, negative) = setup.solved();
        let eigenvalues = A.clone().symmetric_eigenvalues();
        assert_eq!(negative, eigenvalues.iter().filter(|e| **e < 0.0).count(), "{}", mechanism.name());
        let oracle = dense_solve(&A, &b);
        let bodies: Vec<usize> = model.nodes.iter().flat_map(|n| n.unknown..n.unknown + 6).collect();
        let pick = |x: &DVector<f64>| DVector::from_fn(bodies.len(), |k, _| x[bodies[k]]);
        worst = worst.max((pick(&x) - pick(&oracle)).amax() / pick(&oracle).amax());
        let needs = |joint: &Joint| {
            let rows = &setup.multipliers[joint.row..joint.row + 6 - joint.kind.freedoms()];
            rows.iter().any(|x| h * h * x.abs() * joint.lever > 1.0)
        };
        stiffened += model.joints.iter().filter(|j| needs(j)).count();
        indefinite += usize::from(negative != model.rows);
    }
    println!("under tension {worst:.1e}; {stiffened} joints; {indefinite} mechanisms not at a minimum");
    // Rows that are redundant in some poses only are pivots of nothing but their softness, 1e-8: so many digits are lost.
    assert!(worst < 1e-8, "{worst:e}");
    assert_eq!((stiffened, indefinite), (313, 14), "joints, mechanisms");
}

/// In ordinary motion every matrix has the signs of a minimum, so that no step is solved twice.
#[test]
fn the_matrix_of_a_step_has_the_signs_of_a_minimum() {
    let h = 1.0 / 60.0;
    for name in
        ["chain", "ladder:36", "rungs:24", "loop", "hand", "gripper", "firefighters", "hexapod", "graph"]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Constants::new(&mechanism);
        let mut simulation = Model::new(&model.mechanism).simulate();
        simulation.inputs_mut().add_scene_loads();
        for _ in 0..30 {
            let setup = Setup::of(&model, &mut simulation, dynamics(h), h);
            assert_eq!(setup.solved().1, model.rows, "{name}");
            simulation.step(h).unwrap();
        }
    }
}

/// LU with full pivoting and one step of refinement, which takes its own rounding out.
fn dense_solve(A: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let lu = A.clone().full_piv_lu();
    let x = lu.solve(b).unwrap();
    &x + lu.solve(&(b - A * &x)).unwrap()
}

/// Elimination does not lose digits along a chain of 10,000 links.
#[test]
fn a_long_chain_is_solved_to_rounding() {
    let mechanism = gallery::chain(10_000);
    let model = Constants::new(&mechanism);
    let h = 1.0 / 60.0;
    let mut setup = Setup::new(&model, &mut Random(7), dynamics(h), h);
    setup.state = State::at_rest(&mechanism);
    setup.inputs = Inputs::new(&mechanism);
    setup.inputs.set_load(mechanism.find_effector("tip").unwrap(), Wrench::force([3.0, 5.0, 7.0])).unwrap();
    setup.load(h);
    let (x, _) = setup.solved();
    let n = x.len();
    let (mut Ax, mut right, mut size) =
        (DVector::<f64>::zeros(n), DVector::<f64>::zeros(n), DVector::<f64>::zeros(n));
    setup.each_entry(
        |i, j, a| {
            Ax[i] += a * x[j];
            size[i] += (a * x[j]).abs();
            if i != j {
                Ax[j] += a * x[i];
                size[j] += (a * x[i]).abs();
            }
        },
        |i, b| right[i] += b,
    );
    let relative = (0..n).map(|i| (Ax[i] - right[i]).abs()).fold(0.0, f64::max) / size.amax();
    println!("chain:10000 residual {relative:.1e}");
    assert!(relative < 1e-10, "{relative:e}");
}
