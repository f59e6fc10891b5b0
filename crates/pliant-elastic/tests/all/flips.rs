//! Nodes flipped between force and displacement, both ways and in any order, against a direct solve of the finite element
//! equations with those boundary conditions that shares no code; and no allocation while flipping.

use pliant_elastic::nalgebra::{DMatrix, DVector, Rotation3, Vector3};
use pliant_elastic::{Capacitance, Mesh, Solid, Surface};

use crate::common::{Random, material};
use crate::counting::allocations;
use crate::dense;

#[test]
fn random_flips_equal_a_direct_solve() {
    let mut random = Random(11);
    let mesh = Mesh::from_surface(&Surface::ball(0.01).unwrap(), 0.007).unwrap();
    let held = |p: &Vector3<f64>| p.z <= -0.004;
    let material = material(0.45);
    let solid = Solid::new(&mesh, &material, held, |_| {}).unwrap();
    let (T, surface) = dense::ties(&mesh, held);
    let K = T.transpose() * dense::stiffness(&mesh, &material) * &T;
    let mut capacitance = Capacitance::new(3 * solid.nodes());
    let (mut checked, mut most) = (0, 0);
    for flip in 0..600 {
        // Rows along random directions; held ones are released as often once there are many.
        let count = capacitance.rows().len();
        if count > 0 && (random.below(40) < count || flip % 7 == 0) {
            capacitance.release(random.below(count));
        } else {
            // One of three directions of the node, turned by its own rotation.
            let node = random.below(solid.nodes());
            let n = Rotation3::new(Random(node as u64).vector()) * Vector3::ith(random.below(3), 1.0);
            let again = capacitance.rows().contains(&(node, n));
            assert_eq!(capacitance.hold(&solid, node, n).is_err(), again);
        }
        most = most.max(capacitance.rows().len());
        if flip % 20 != 19 {
            continue;
        }
        let rows = capacitance.rows().to_vec();
        let displacements: Vec<f64> = rows.iter().map(|_| 1e-3 * random.number()).collect();
        let loads: Vec<(usize, Vector3<f64>)> =
            (0..3).map(|_| (random.below(solid.nodes()), random.vector())).collect();
        let forces = capacitance.solve(&solid, &loads, displacements.iter().copied()).to_vec();

        // [K Nᵀ; N 0][u; −f] = [loads; displacements].
        let (n, m) = (K.nrows(), rows.len());
        let scale = K.amax();
        let mut A = DMatrix::zeros(n + m, n + m);
        A.view_mut((0, 0), (n, n)).copy_from(&K);
        let mut b = DVector::zeros(n + m);
        for &(node, f) in &loads {
            for axis in 0..3 {
                b[3 * node + axis] += f[axis];
            }
        }
        for (k, &(node, direction)) in rows.iter().enumerate() {
            for axis in 0..3 {
                A[(n + k, 3 * node + axis)] = direction[axis] * scale;
                A[(3 * node + axis, n + k)] = direction[axis] * scale;
            }
            b[n + k] = displacements[k] * scale;
        }
        let x = A.lu().solve(&b).unwrap();
        let largest = forces.iter().fold(0.0f64, |a, f| a.max(f.abs()));
        for k in 0..m {
            let direct = -x[n + k] * scale;
            assert!((forces[k] - direct).abs() < 1e-10 * largest, "{flip}: {} {direct}", forces[k]);
        }
        let all: Vec<_> =
            loads.iter().copied().chain(rows.iter().zip(&forces).map(|(r, f)| (r.0, r.1 * *f))).collect();
        let mut u = vec![Vector3::zeros(); solid.points().len()];
        solid.displacement(&all, &mut u);
        let largest = u.iter().map(|u| u.norm()).fold(0.0, f64::max);
        for i in 0..surface.len() {
            let direct = Vector3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
            assert!((u[i] - direct).norm() < 1e-10 * largest);
        }
        checked += 1;
    }
    assert!(checked == 30 && most > 20, "{checked} {most}");
}

#[test]
fn a_row_twice_is_refused() {
    let mesh = Mesh::cuboid(Vector3::repeat(0.01), 0.005).unwrap();
    let solid = Solid::new(&mesh, &material(0.3), |p| p.z < -0.009, |_| {}).unwrap();
    let mut capacitance = Capacitance::new(8);
    for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
        capacitance.hold(&solid, 4, axis).unwrap();
    }
    let before = capacitance.clone().solve(&solid, &[], [1.0, 2.0, 3.0]).to_vec();
    let error = capacitance.hold(&solid, 4, Vector3::new(0.6, 0.0, 0.8)).unwrap_err();
    assert!(error.part.abs() < 1e-12 && error.to_string().contains("node 4"), "{error}");
    assert_eq!(capacitance.solve(&solid, &[], [1.0, 2.0, 3.0]), before);
    assert_eq!(capacitance.rows().len(), 3);
}

#[test]
fn flipping_allocates_nothing() {
    let mesh = Mesh::cuboid(Vector3::repeat(0.01), 0.005).unwrap();
    let solid = Solid::new(&mesh, &material(0.3), |p| p.z < -0.009, |_| {}).unwrap();
    let mut capacitance = Capacitance::new(30);
    let mut u = vec![Vector3::zeros(); solid.points().len()];
    let count = allocations(|| {
        for round in 0..4 {
            for node in 0..10 {
                for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
                    capacitance.hold(&solid, node, axis).unwrap();
                }
            }
            let force = capacitance.solve(&solid, &[(12, Vector3::x())], (0..30).map(|k| k as f64))[0];
            solid.displacement(&[(0, Vector3::x() * force)], &mut u);
            for k in 0..10 {
                capacitance.release((7 * k + round) % capacitance.rows().len());
            }
            capacitance.clear();
        }
    });
    assert_eq!(count, 0);
}
