//! Claim: the blocks of a step are mass, damping and stiffness, by finite differences of the coordinates.

use super::*;

/// Dynamics: M + Σ (h²k + hd + a) ∂θᵀ∂θ on the bodies, with ∂θ the finite difference of the coordinates;
/// the right-hand side M(v₀ − v) + h f, in which the damper's rate is ∂θ v.
#[test]
fn dynamics_blocks_are_mass_damping_and_stiffness() {
    let h = 1.0 / 60.0;
    let mut worst = [0.0f64; 2];
    let (mut pulled, mut tense, mut closed) = (0, 0, 0);
    for (seed, mechanism) in mechanisms(7).iter().enumerate() {
        let model = Constants::new(mechanism);
        let worst = &mut worst[usize::from(has_formulas(mechanism))];
        let mut setup = Setup::new(&model, &mut Random(seed as u64), dynamics(h), h);
        // Half of the mechanisms under tension that needs geometric stiffness.
        let tension = if seed % 2 == 0 { 0.0 } else { 1e4 };
        let mut numbers = Random(seed as u64);
        setup.state.multipliers.iter_mut().for_each(|x| *x = tension * numbers.signed());
        setup.multipliers.clone_from(&setup.state.multipliers);
        let n = 6 * model.nodes.len();
        let unknowns = setup.unknowns();
        let (bodies, rows) = unknowns.split_at(n);
        let (A, b) = setup.assembled();
        let v = DVector::from_iterator(
            n,
            setup.frames[..n / 6].iter().flat_map(|f| [f.v.x, f.v.y, f.v.z, f.w.x, f.w.y, f.w.z]),
        );

        let mut expected = DMatrix::zeros(n, n);
        let mut right = DVector::zeros(n);
        for (k, node) in model.nodes.iter().enumerate() {
            let frame = &setup.frames[k];
            // The inertia of the middle of the step, and the momentum at its start, from the state.
            let (pose, twist) =
                (setup.state.pose(node.head).unwrap(), setup.state.world_twist(node.head).unwrap());
            let middle = (exp_rotation(&(twist.angular * (0.5 * h))) * pose.rotation).to_rotation_matrix();
            let inertia = middle * node.inertia * middle.transpose();
            let R = pose.rotation_matrix();
            let L = R * node.inertia * R.transpose() * twist.angular;
            let v0 = twist.linear + twist.angular.cross(&(R * node.center));

            let mut M = Matrix6::zeros();
            M.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Matrix3::identity() * node.mass));
            M.fixed_view_mut::<3, 3>(3, 3).copy_from(&inertia);

            expected.view_mut((6 * k, 6 * k), (6, 6)).copy_from(&M);
            let linear = (v0 - frame.v) * node.mass + frame.force * h;
            let angular = L - inertia * frame.w + frame.torque * h;
            right.rows_mut(6 * k, 3).copy_from(&linear);
            right.rows_mut(6 * k + 3, 3).copy_from(&angular);
        }
        let base = &setup.frames[n / 6];
        let mut at = 0;
        let all = setup.coordinate_rows();
        for joint in &model.joints {
            let q = setup.coordinates(joint, &setup.frames);
            // How the base's own motion moves the coordinates.
            let with_base = |t: f64| {
                let mut frames = setup.frames.clone();
                let base = &mut frames[n / 6];
                base.pose = Pose::new(
                    exp_rotation(&(base.w * t)) * base.pose.rotation,
                    base.pose.position + base.v * t,
                );
                let q = setup.coordinates(joint, &frames);
                DVector::from_column_slice(q.as_slice())
            };
            let drift = if base.w.norm() > 0.0 { sixth_order(with_base) } else { DVector::zeros(6) };
            for k in 0..joint.kind.freedoms() {
                let (row, freedom) = &all[at];
                at += 1;
                let rate = row.dot(&v) + drift[k];
                let limit = freedom.limit;
                let mut stiffness = freedom.stiffness;
                let mut force = freedom.stiffness * (setup.inputs.rest[joint.coordinate + k] - q[k]);
                for (beyond, bound) in
                    [(q[k] > freedom.upper, freedom.upper), (q[k] < freedom.lower, freedom.lower)]
                {
                    if beyond {
                        stiffness += limit;
                        force += limit * (bound - q[k]);
                    }
                }
                force -= freedom.damping * rate;
                let rotor = freedom.armature * (setup.state.rates[joint.coordinate + k] - rate);
                let weight = h * h * stiffness + h * freedom.damping + freedom.armature;
                expected += row * row.transpose() * weight;
                right += row * (h * force + rotor);
            }
        }
        // The pull: force −k e − d ė of the frame's six displacements, e by finite differences of them.
        let pull = setup.inputs.springs[0];
        if let Some((node, frame)) = model.frame_in_node(pull.body, pull.frame) {
            pulled += 1;
            let gap = |frames: &[Frame]| {
                let at = frames[node].pose * frame;
                let e = crate::spatial::log_rotation(&(at.rotation * pull.target.rotation.inverse()));
                let x = at.position - pull.target.position;
                Vector6::new(x.x, x.y, x.z, e.x, e.y, e.z)
            };
            let x = gap(&setup.frames);
            let mut T = DMatrix::zeros(6, 6);
            for k in 0..6 {
                let at = |t: f64| {
                    let mut motion = vec![0.0; n];
                    motion[6 * node + k] = t;
                    DVector::from_column_slice(gap(&setup.moved(&motion)).as_slice())
                };
                T.set_column(k, &sixth_order(at));
            }
            // The torque −k e has the derivative −k B, B = ∂e/∂θ.
            let own = v.rows(6 * node, 6);
            let point = DVector::from_column_slice((T.rows(0, 3) * own).as_slice());
            let linear =
                (T.rows(0, 3).transpose() * T.rows(0, 3)) * (h * h * pull.stiffness + h * pull.damping);
            let B = T.view((3, 3), (3, 3)).into_owned();
            let mut K = linear;
            let turn = (&B + B.transpose()) * (0.5 * h * h * pull.turning_stiffness)
                + DMatrix::identity(3, 3) * (h * pull.turning_damping);
            let mut corner = K.view_mut((3, 3), (3, 3));
            corner += turn;
            let mut block = expected.view_mut((6 * node, 6 * node), (6, 6));
            block += K;
            let target = pull.target_twist;
            let force: DVector<f64> = DVector::from_fn(3, |i, _| {
                -pull.stiffness * x[i] + pull.damping * (target.linear[i] - point[i])
            });
            let torque = DVector::from_fn(3, |i, _| {
                -pull.turning_stiffness * x[3 + i] + pull.turning_damping * (target.angular[i] - own[3 + i])
            });
            let mut total = T.rows(0, 3).transpose() * force;
            let mut angular = total.rows_mut(3, 3);
            angular += torque;
            let mut block = right.rows_mut(6 * node, 6);
            block += total * h;
        }
        // Geometric stiffness of the constraint forces of joints with h²|λ|·lever above one.
        for joint in &model.joints {
            let range = joint.row..joint.row + 6 - joint.kind.freedoms();
            let largest = setup.state.multipliers[range.clone()].iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if h * h * largest * joint.lever > 1.0 {
                tense += 1;
                let (mut with, mut without) = (setup.state.clone(), setup.state.clone());
                without.multipliers.fill(0.0);
                with.multipliers.fill(0.0);
                with.multipliers[range.clone()].copy_from_slice(&setup.state.multipliers[range]);
                let G = setup.derivative(&with).rows(0, n) - setup.derivative(&without).rows(0, n);
                expected -= (&G + G.transpose()) * (0.5 * h * h);
            }
        }
        let assembled = dense_block(&A, bodies, bodies);
        let error = (&expected - &assembled).amax() / assembled.amax();
        let b_bodies = DVector::from_fn(n, |k, _| b[bodies[k]]);
        let error_right = (&right - &b_bodies).amax() / b_bodies.amax();
        *worst = worst.max(error).max(error_right);
        // Rows: closures over h, soft against the last multiplier.
        let D = setup.derivative(&setup.state);
        let still = setup.residual(&vec![0.0; n], &setup.state);
        for (i, &unknown) in rows.iter().enumerate().filter(|(_, u)| **u != ABSENT) {
            closed += 1;
            let assembled = DVector::from_fn(n, |k, _| A[(bodies[k], unknown)]);
            *worst = worst.max((D.row(n + i).transpose() - &assembled).amax() / assembled.amax());
            let soft = -A[(unknown, unknown)];
            let closing = -still[n + i] / h + soft * setup.state.multipliers[i] * h;
            assert!((b[unknown] - closing).abs() <= 1e-11, "{:e}", b[unknown] - closing);
        }
    }
    println!("dynamics {worst:?}");
    assert_eq!((pulled, tense, closed), (28, 95, 753), "mechanisms, joints, rows");
    // Rounding of the difference quotients: 1e-13 of the coordinates, squared stiffness terms likewise.
    // The coordinates of formulas bend more, and their geometric stiffness is of differences.
    assert!(worst[0] < 1e-11 && worst[1] < 1e-7, "{worst:?}");
}
