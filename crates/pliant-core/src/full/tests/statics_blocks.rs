//! Claim: the blocks of statics are the derivatives of the forces and closures, by finite differences, for
//! every kind of joint, couplings, pulls and dead loads off the centre of mass.

use super::*;

/// Statics: the matrix is minus the symmetric part of the force derivative, plus the pseudo-mass and the
/// augmentation σJᵀJ; the rows are the derivative of the closures and of the forces by the multipliers.
#[test]
fn statics_blocks_are_the_derivatives_of_the_forces() {
    let (mut worst, mut worst_row, mut count, mut closed) = ([0.0f64; 2], [0.0f64; 2], 0, 0);
    for (seed, mechanism) in mechanisms(7).iter().enumerate() {
        let model = Constants::new(mechanism);
        let kind = usize::from(has_formulas(mechanism));
        let (worst, worst_row) = (&mut worst[kind], &mut worst_row[kind]);
        let setup = Setup::new(&model, &mut Random(seed as u64), STATICS, 0.0);
        if setup.is_near_a_limit() {
            continue;
        }
        count += 1;
        let n = 6 * model.nodes.len();
        let unknowns = setup.unknowns();
        let (bodies, rows) = unknowns.split_at(n);
        let (A, b) = setup.assembled();
        let D = setup.derivative(&setup.state);
        let still = setup.residual(&vec![0.0; n], &setup.state);

        let force = D.rows(0, n);
        let mut K = (force + force.transpose()) * -0.5;
        let mut right = still.rows(0, n).into_owned();
        for (k, node) in model.nodes.iter().enumerate() {
            let frame = &setup.frames[k];
            for i in 0..3 {
                K[(6 * k + i, 6 * k + i)] += STATICS.mass * node.mass;
                for j in 0..3 {
                    K[(6 * k + 3 + i, 6 * k + 3 + j)] += STATICS.mass * frame.inertia[(i, j)];
                }
            }
        }
        // Rotors count as pseudo-mass too: their weight comes with the coordinate rows.
        let mut coordinates = setup.coordinate_rows();
        for (row, freedom) in &mut coordinates {
            K += &*row * row.transpose() * (STATICS.mass * freedom.armature);
        }
        let first_coupling = setup.state.multipliers.len() - mechanism.couplings().len();
        for (i, &unknown) in rows.iter().enumerate().filter(|(_, u)| **u != ABSENT) {
            closed += 1;
            let J = D.row(n + i).transpose();
            // ∂force/∂λ: the forces are linear in the multipliers.
            let mut one = setup.state.clone();
            one.multipliers[i] += 1.0;
            let by_multiplier = setup.residual(&vec![0.0; n], &one).rows(0, n) - still.rows(0, n);
            let assembled = DVector::from_fn(n, |k, _| A[(bodies[k], unknown)]);
            // Of a row that is nearly left out, less than a whole one is compared.
            let scale = J.amax().max(0.1);
            *worst_row = worst_row.max((&J - &assembled).amax() / scale);
            *worst_row = worst_row.max((by_multiplier - &assembled).amax() / scale);
            assert!((b[unknown] + still[n + i]).abs() <= 1e-12, "the closure is on the right");
            if i < first_coupling {
                // Rows of formulas count as what they are at rest, those of other kinds are that everywhere.
                let owner = model.joints.iter().find(|j| (j.row..j.row + 6 - j.kind.freedoms()).contains(&i));
                let linear = match owner.filter(|_| kind == 1) {
                    Some(joint) => !joint.turning[i - joint.row],
                    None => (0..n / 6).any(|k| J.rows(6 * k, 3).amax() > 1e-9),
                };
                let sigma = STATICS.augment[usize::from(linear)];
                K += &J * J.transpose() * sigma;
                right -= &J * (sigma * still[n + i]);
            }
        }
        let assembled = dense_block(&A, bodies, bodies);
        *worst = worst.max((K - &assembled).amax() / assembled.amax());
        let b = DVector::from_fn(n, |k, _| b[bodies[k]]);
        *worst = worst.max((right - &b).amax() / b.amax());
    }
    println!("blocks {worst:?}, rows {worst_row:?}");
    // Rounding of the difference quotients: 1e-16 over 1e-3, and a few terms of that. Rows are differences of forces too, of which
    // limits make up to 1e6 N: the last bits of those.
    // Formulas differentiate their wrench by differences of second order.
    assert!(worst[0] < 1e-11 && worst[1] < 1e-7, "{worst:?}");
    assert!(worst_row[0] < 2e-10 && worst_row[1] < 1e-8, "{worst_row:?}");
    assert_eq!((count, closed), (28, 753), "mechanisms, rows");
}

/// At an equilibrium nothing is lost by symmetry: the force derivative is symmetric, whatever the joints.
#[test]
fn the_force_derivative_is_symmetric_at_an_equilibrium() {
    let mut worst = 0.0f64;
    let mut count = 0;
    for mechanism in &mechanisms(7) {
        let model = Constants::new(mechanism);
        let mut simulation = Model::new(&model.mechanism).simulate();
        // Forces only: a torque that keeps its direction in the world has no potential.
        for load in mechanism.loads() {
            simulation.set_load(load.effector, Wrench { torque: Vector3::zeros(), ..load.wrench }).unwrap();
        }
        let Ok(equilibrium) = simulation.settle(&StaticsSettings::default()) else { continue };
        if !equilibrium.converged {
            continue;
        }
        let setup = Setup::of(&model, &mut simulation, STATICS, 0.0);
        if setup.is_near_a_limit() {
            continue;
        }
        count += 1;
        let n = 6 * model.nodes.len();
        let D = setup.derivative(&setup.state);
        let force = D.rows(0, n);
        worst = worst.max((force - force.transpose()).amax() / force.amax());
    }
    println!("antisymmetric part {worst:.1e} over {count} equilibria");
    // What is left over of the forces, 1e-14 to 1e-9 of the largest, and rounding as above.
    assert!(worst < 1e-9, "{worst:e}");
    assert_eq!(count, 19, "equilibria");
}
