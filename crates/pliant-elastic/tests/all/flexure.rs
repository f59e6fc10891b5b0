//! A flexure's condensed stiffness and mass: against a dense solve, Timoshenko's beam and the beam's consistent mass; no stiffness
//! against rigid motions, whose mass is that of the rigid body; convergence with the mesh at ν up to 0.49.

use pliant_elastic::flexure::Flexure;
use pliant_elastic::nalgebra::{DMatrix, Vector3, Vector6};
use pliant_elastic::{ElasticError, Material, Mesh, Surface};

use crate::common::{Random, material};
use crate::dense;

fn bar(length: f64, width: f64, along: usize, across: usize) -> Mesh {
    let axis = |n: usize, from: f64, to: f64| -> Vec<f64> {
        (0..=n).map(|k| from + (to - from) * k as f64 / n as f64).collect()
    };
    let side = axis(across, -width / 2.0, width / 2.0);
    Mesh::grid(&axis(along, 0.0, length), &side, &side).unwrap()
}

fn ends(mesh: &Mesh, material: &Material, length: f64) -> Flexure {
    let origins = [Vector3::zeros(), Vector3::new(length, 0.0, 0.0)];
    let interface = |p: &Vector3<f64>| if p.x < 1e-9 { Some(0) } else { (p.x > length - 1e-9).then_some(1) };
    Flexure::new(mesh, material, &origins, interface, |_| {}).unwrap()
}

/// Six rigid motions about the world's origin as twists of all interfaces.
fn rigid(flexure: &Flexure) -> DMatrix<f64> {
    DMatrix::from_fn(6 * flexure.interfaces(), 6, |row, column| {
        let o = flexure.origins()[row / 6];
        let (v, ω) = if column < 3 {
            (Vector3::ith(column, 1.0), Vector3::zeros())
        } else {
            let ω: Vector3<f64> = Vector3::ith(column - 3, 1.0);
            (ω.cross(&o), ω)
        };
        if row % 6 < 3 { v[row % 6] } else { ω[row % 6 - 3] }
    })
}

#[test]
fn equals_a_dense_condensation() {
    let mesh = Mesh::from_surface(&Surface::capsule(0.01, 0.006).unwrap(), 0.006).unwrap();
    let material = material(0.4);
    // Three interfaces: both ends and a side.
    let origins =
        [Vector3::new(0.0, 0.0, -0.012), Vector3::new(0.001, 0.0, 0.012), Vector3::new(0.006, 0.0, 0.0)];
    let interface = |p: &Vector3<f64>| {
        if p.z < -0.009 {
            Some(0)
        } else if p.z > 0.009 {
            Some(1)
        } else {
            (p.x > 0.003).then_some(2)
        }
    };
    let flexure = Flexure::new(&mesh, &material, &origins, interface, |_| {}).unwrap();
    let K = dense::stiffness(&mesh, &material);
    let n = mesh.points().len();
    let (mut held, mut free) = (Vec::new(), Vec::new());
    (0..n).for_each(|i| if interface(&mesh.points()[i]).is_some() { held.push(i) } else { free.push(i) });
    let pick = |rows: &[usize], columns: &[usize]| {
        DMatrix::from_fn(3 * rows.len(), 3 * columns.len(), |r, c| {
            K[(3 * rows[r / 3] + r % 3, 3 * columns[c / 3] + c % 3)]
        })
    };
    let inner = pick(&free, &free).lu().solve(&pick(&free, &held)).unwrap();
    let condensed = pick(&held, &held) - pick(&held, &free) * inner;
    let mut R = DMatrix::zeros(3 * held.len(), 18);
    for (k, &i) in held.iter().enumerate() {
        let z = interface(&mesh.points()[i]).unwrap();
        for axis in 0..3 {
            R[(3 * k + axis, 6 * z + axis)] = 1.0;
            let turned = Vector3::ith(axis, 1.0).cross(&(mesh.points()[i] - origins[z]));
            (0..3).for_each(|row| R[(3 * k + row, 6 * z + 3 + axis)] = turned[row]);
        }
    }
    let exact = R.transpose() * condensed * R;
    // Twists in metres and radians at 0.01 m: forces and torques differ by that, so does the scale of each block.
    let scale = |i: usize| if i % 6 < 3 { 1.0 } else { 0.01 };
    let largest = exact.amax();
    for i in 0..18 {
        for j in 0..18 {
            let error = (flexure.stiffness()[(i, j)] - exact[(i, j)]).abs();
            assert!(error < 1e-11 * largest * scale(i) * scale(j), "{i} {j}: {error:e}");
        }
    }
}

#[test]
fn rigid_motions_have_no_stiffness_and_the_rigid_body_s_mass() {
    for (mesh, length) in [(bar(0.06, 0.01, 6, 2), 0.06), (bar(0.02, 0.01, 3, 3), 0.02)] {
        let flexure = ends(&mesh, &material(0.45), length);
        let motions = rigid(&flexure);
        let K = flexure.stiffness();
        let wrench = K * &motions;
        assert!(wrench.amax() < 1e-9 * K.amax(), "{:e}", wrench.amax() / K.amax());
        assert_eq!(*K, K.transpose());
        assert_eq!(*flexure.mass(), flexure.mass().transpose());
        // Twelve motions less six rigid ones store energy; all twelve move mass.
        let values = scaled(K, length).symmetric_eigenvalues();
        let positive = values.iter().filter(|v| **v > 1e-9 * values.amax()).count();
        assert_eq!(positive, 6, "{values:?}");
        assert!(scaled(flexure.mass(), length).symmetric_eigenvalues().min() > 0.0);
        let M = motions.transpose() * flexure.mass() * &motions;
        let whole = 1000.0 * length * 0.01 * 0.01;
        let centre = Vector3::new(length / 2.0, 0.0, 0.0);
        let square = 0.01f64.powi(2) / 12.0;
        let own = [2.0 * square, square + length.powi(2) / 12.0, square + length.powi(2) / 12.0];
        for i in 0..3 {
            assert!((M[(i, i)] / whole - 1.0).abs() < 1e-9);
            let about_origin = whole * (own[i] + centre.norm_squared() - centre[i].powi(2));
            assert!((M[(i + 3, i + 3)] / about_origin - 1.0).abs() < 1e-9, "{i}");
        }
        // The surface follows a rigid motion.
        let mut u = vec![Vector3::zeros(); flexure.points().len()];
        let mut random = Random(4);
        let w = Vector6::from_fn(|_, _| random.number());
        let twists: Vec<Vector6<f64>> = (0..2).map(|i| motions.fixed_view::<6, 6>(6 * i, 0) * w).collect();
        flexure.displacement(&twists, &mut u);
        for (u, p) in u.iter().zip(flexure.points()) {
            let exact = w.fixed_rows::<3>(0) + w.fixed_rows::<3>(3).cross(p);
            assert!((u - exact).norm() < 1e-9);
        }
    }
}

/// Rotations in units of a length, so that all rows have one unit.
fn scaled(A: &DMatrix<f64>, length: f64) -> DMatrix<f64> {
    let s = |i: usize| if i % 6 < 3 { 1.0 } else { 1.0 / length };
    DMatrix::from_fn(A.nrows(), A.ncols(), |i, j| A[(i, j)] * s(i) * s(j))
}

/// Stiffness of one end with the other held, over Timoshenko's: along, bending twice, torsion, bending moments twice.
fn over_timoshenko(poisson: f64, length: f64, across: usize) -> [f64; 6] {
    let width = 0.01f64;
    let m = material(poisson);
    let (A, I) = (width * width, width.powi(4) / 12.0);
    let G = m.young() / (2.0 * (1.0 + poisson));
    // Cowper's shear coefficient and Saint-Venant's torsion of a square.
    let kappa = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let J = 0.140577 * width.powi(4);
    let EI = m.young() * I;
    let φ = 12.0 * EI / (kappa * G * A * length * length);
    let (force, moment) = (12.0 * EI / (length.powi(3) * (1.0 + φ)), (4.0 + φ) * EI / (length * (1.0 + φ)));
    let exact = [m.young() * A / length, force, force, G * J / length, moment, moment];
    let along = (5.0 * across as f64 * length / 0.1).round() as usize;
    let flexure = ends(&bar(length, width, along, across), &m, length);
    std::array::from_fn(|i| flexure.stiffness()[(6 + i, 6 + i)] / exact[i])
}

#[test]
fn timoshenko_s_beam() {
    for poisson in [0.0, 0.3, 0.49] {
        let mut last = [f64::INFINITY; 6];
        for across in [1, 2, 4] {
            let ratios = over_timoshenko(poisson, 0.1, across);
            println!("ν {poisson}, {across} across: {ratios:.4?} of the beam's stiffness");
            for i in 0..6 {
                // From above: the elements are stiffer than the solid; tension without contraction is exact.
                assert!(ratios[i] < last[i] + 1e-9, "{i}");
                last[i] = ratios[i];
            }
        }
        // The ends cannot contract, which no beam knows: their part falls as one over the length. Torsion converges last.
        let long = over_timoshenko(poisson, 0.2, 4);
        for i in 0..6 {
            let limit = 2.0 * long[i] - last[i];
            let bound = if i == 3 { 0.004 } else { 0.001 };
            println!(
                "ν {poisson}, {i}: {:.4}, {:.4} at twice the length, {limit:.4} for any",
                last[i], long[i]
            );
            assert!((limit - 1.0).abs() < bound, "ν {poisson}, {i}: {limit}");
        }
    }
}

#[test]
fn consistent_mass_of_a_beam() {
    // A slender beam's mass in bending, m/420 (156, 22 L, 4 L²), and along, m/3: closed forms with a corner of 1/400 for shear.
    let (length, width) = (0.2, 0.01);
    let flexure = ends(&bar(length, width, 20, 2), &material(0.0), length);
    let m = 1000.0 * length * width * width;
    let M = flexure.mass();
    for (i, j, exact) in [
        (6, 6, m / 3.0),
        (0, 6, m / 6.0),
        (7, 7, m * 156.0 / 420.0),
        (1, 7, m * 54.0 / 420.0),
        (7, 11, -m * 22.0 * length / 420.0),
        (11, 11, m * 4.0 * length * length / 420.0),
        (1, 11, -m * 13.0 * length / 420.0),
    ] {
        assert!((M[(i, j)] / exact - 1.0).abs() < 0.012, "{i} {j}: {} of {exact}", M[(i, j)]);
    }
}

#[test]
fn bad_interfaces() {
    let mesh = bar(0.06, 0.01, 4, 1);
    let m = material(0.3);
    let two = [Vector3::zeros(), Vector3::x()];
    let make = |origins: &[Vector3<f64>], interface: &dyn Fn(&Vector3<f64>) -> Option<usize>| {
        Flexure::new(&mesh, &m, origins, interface, |_| {}).err()
    };
    let ends = |p: &Vector3<f64>| if p.x < 1e-9 { Some(0) } else { (p.x > 0.0599).then_some(1) };
    assert!(make(&two, &ends).is_none());
    assert!(matches!(make(&two[..1], &|_| Some(0)), Some(ElasticError::Interface { count: 1, .. })));
    assert!(matches!(make(&two, &|_| None), Some(ElasticError::Interface { interface: 0, nodes: 0, .. })));
    assert!(matches!(
        make(&two, &|p| ends(p).map(|i| 2 * i)),
        Some(ElasticError::Interface { interface: 2, .. })
    ));
    let line =
        |p: &Vector3<f64>| if p.x < 1e-9 { Some(0) } else { (p.x > 0.0599 && p.y > 0.0049).then_some(1) };
    assert!(matches!(make(&two, &line), Some(ElasticError::Interface { interface: 1, .. })));
    let far = [Vector3::zeros(), Vector3::repeat(f64::NAN)];
    assert!(matches!(make(&far, &ends), Some(ElasticError::NotFinite { point: 1 })));
    // Everything rigid: nothing is left to solve, and nothing is soft.
    let halves = |p: &Vector3<f64>| Some((p.x > 0.03) as usize);
    let flexure = Flexure::new(&mesh, &m, &two, halves, |_| {}).unwrap();
    assert!(flexure.stiffness().amax().is_finite());
}
