//! Claim: seams resist small motions of a bone as differences of their pull say, and a bar that is cut and joined again as one flexure.

use pliant_elastic::nalgebra::{
    Isometry3, Matrix6, SymmetricEigen, Translation3, UnitQuaternion, Vector3, Vector6,
};
use pliant_elastic::{Flexure, Mesh, Seam, Seams, Solid};

use crate::common::{Random, material};

/// The largest part by which one energy differs from another, over all motions: the eigenvalues of K⁻¹(K' − K).
fn apart(K: &Matrix6<f64>, other: &Matrix6<f64>) -> f64 {
    let root = SymmetricEigen::new(*K);
    let inverse = root.eigenvectors * Matrix6::from_diagonal(&root.eigenvalues.map(|x| x.sqrt().recip()));
    let left = inverse.transpose() * (other - K) * inverse;
    SymmetricEigen::new(0.5 * (left + left.transpose())).eigenvalues.amax()
}

/// Two halves of a bar, held at its ends.
fn halves(cells: usize) -> (Mesh, [Solid; 2]) {
    let axis = |from: f64, to: f64, n: usize| -> Vec<f64> {
        (0..=n).map(|k| from + (to - from) * k as f64 / n as f64).collect()
    };
    let side = axis(-0.004, 0.004, cells);
    let half = |from: f64, end: f64| {
        let mesh = Mesh::grid(&axis(from, from + 0.012, 3 * cells / 2), &side, &side).unwrap();
        let at = move |x: f64| move |p: &Vector3<f64>| (p.x - x).abs() < 1e-9;
        Solid::with_seams(&mesh, &material(0.3), at(end), at(0.012), |_| {}).unwrap()
    };
    (Mesh::grid(&axis(0.0, 0.024, 3 * cells), &side, &side).unwrap(), [half(0.0, 0.0), half(0.012, 0.024)])
}

#[test]
fn seams_resist_as_their_pull_says() {
    let mut random = Random(33);
    let (_, solids) = halves(4);
    let solids: Vec<&Solid> = solids.iter().collect();
    let turn = UnitQuaternion::from_scaled_axis(random.vector());
    let poses = [Isometry3::from_parts(random.vector().into(), turn); 2];
    let list = vec![Seam::matching(&solids, &poses, [0, 1], 1e-9).unwrap()];
    let mut seams = Seams::new(&solids, list).unwrap();
    seams.factor(&solids, &poses).unwrap();
    let about = poses[0].translation.vector + random.vector() * 0.02;
    let K = seams.stiffness(1, &poses, &about);
    let small = 1e-7;
    for column in 0..6 {
        let step = if column < 3 { small * 0.01 } else { small };
        let mut pull = [Vector6::zeros(); 2];
        for (pull, sign) in pull.iter_mut().zip([1.0, -1.0]) {
            let (mut v, mut ω) = (Vector3::zeros(), Vector3::zeros());
            if column < 3 {
                v[column] = sign * step
            } else {
                ω[column - 3] = sign * step
            }
            let mut moved = poses;
            let motion = Translation3::from(about + v)
                * UnitQuaternion::from_scaled_axis(ω)
                * Translation3::from(-about);
            moved[1] = motion * poses[1];
            let gap = seams.solve(&solids, &moved, |_| &[], 6);
            assert!(gap < 1e-12 * step, "{gap:e}");
            let wrench = seams.wrench(1, &moved[1]);
            let torque = wrench.torque + (moved[1].translation.vector - about).cross(&wrench.force);
            *pull = Vector6::from_iterator(wrench.force.iter().chain(torque.iter()).copied());
        }
        let difference = -(pull[0] - pull[1]) / (2.0 * step);
        // Rounding of places of about 1 m against steps of 1e-9 m.
        let error = (difference - K.column(column)).norm() / K.column(column).norm();
        assert!(error < 1e-5, "column {column}: {error:e}");
    }
    // Turned axes and another point: the same stiffness.
    let plain = [Isometry3::identity(); 2];
    seams.factor(&solids, &plain).unwrap();
    let there = seams.stiffness(1, &plain, &poses[0].inverse_transform_point(&about.into()).coords);
    let mut back = Matrix6::zeros();
    let R = turn.to_rotation_matrix();
    back.fixed_view_mut::<3, 3>(0, 0).copy_from(R.matrix());
    back.fixed_view_mut::<3, 3>(3, 3).copy_from(R.matrix());
    assert!((back * there * back.transpose() - K).norm() < 1e-9 * K.norm());
}

/// A bar that is cut and joined again is as stiff as one flexure; surfaces of triangles are a little stiffer, the less the finer.
#[test]
fn a_joined_bar_is_a_flexure() {
    let mut errors = Vec::new();
    for cells in [4, 6] {
        let (whole, solids) = halves(cells);
        let solids: Vec<&Solid> = solids.iter().collect();
        let poses = [Isometry3::identity(); 2];
        let list = vec![Seam::matching(&solids, &poses, [0, 1], 1e-9).unwrap()];
        let mut seams = Seams::new(&solids, list).unwrap();
        seams.factor(&solids, &poses).unwrap();
        let middle = Vector3::new(0.012, 0.0, 0.0);
        let K = seams.stiffness(1, &poses, &middle);
        let interface =
            |p: &Vector3<f64>| if p.x < 1e-9 { Some(0) } else { (p.x > 0.024 - 1e-9).then_some(1) };
        let flexure = Flexure::new(&whole, &material(0.3), &[middle, middle], interface, |_| {}).unwrap();
        let exact = Matrix6::from_fn(|i, k| flexure.stiffness()[(6 + i, 6 + k)]);
        errors.push(apart(&exact, &K));
    }
    println!("stiffer than a flexure by {errors:.3?}");
    assert!(errors[1] < 0.75 * errors[0] && errors[1] < 0.1, "{errors:?}");
}
