//! A constant strain is reproduced exactly: the field u = a x, zero on the bonded plane x = 0, under its own tractions, for any
//! a, any Poisson's ratio and a mesh whose inner and side nodes are shifted at random.

use pliant_elastic::nalgebra::{Matrix3, Vector3};
use pliant_elastic::{Material, Mesh, Solid};

use crate::common::{Random, material};

/// The field of a constant strain: its nodal forces on the free surface, then the largest error over the largest displacement.
fn error(mesh: &Mesh, material: &Material, a: Vector3<f64>) -> f64 {
    let solid = Solid::new(mesh, material, |p| p.x.abs() < 1e-9, |_| {}).unwrap();
    let (λ, μ) = material.lame();
    let gradient = a * Vector3::x().transpose();
    let strain = (gradient + gradient.transpose()) / 2.0;
    let stress = Matrix3::identity() * (λ * strain.trace()) + strain * (2.0 * μ);
    let mut forces: Vec<(usize, Vector3<f64>)> = (0..solid.nodes()).map(|i| (i, Vector3::zeros())).collect();
    for t in solid.triangles() {
        let [p, q, r] = t.map(|i| solid.points()[i as usize]);
        let normal = (q - p).cross(&(r - p)) / 2.0;
        for &i in t {
            if (i as usize) < solid.nodes() {
                forces[i as usize].1 += stress * normal / 3.0;
            }
        }
    }
    let mut u = vec![Vector3::zeros(); solid.points().len()];
    solid.displacement(&forces, &mut u);
    let largest = u.iter().map(|u| u.norm()).fold(0.0, f64::max);
    assert!(largest > 0.0);
    // The gradient along the surface: |a| times how much of x is in the triangle's plane, the most of any triangle.
    let in_plane = solid.triangles().iter().map(|t| {
        let [p, q, r] = t.map(|i| solid.points()[i as usize]);
        (1.0 - (q - p).cross(&(r - p)).normalize().x.powi(2)).max(0.0).sqrt()
    });
    let steepest = in_plane.fold(0.0, f64::max) * a.norm();
    assert!((solid.largest_gradient(&u).0 / steepest - 1.0).abs() < 1e-8);
    (0..u.len()).map(|i| (u[i] - a * solid.points()[i].x).norm()).fold(0.0, f64::max) / largest
}

/// A block from x = 0 whose nodes off the plane are shifted by up to a fifth of a cell.
fn shifted(random: &mut Random) -> Mesh {
    let axis = |n: usize, from: f64, to: f64| -> Vec<f64> {
        (0..=n).map(|k| from + (to - from) * k as f64 / n as f64).collect()
    };
    let mesh = Mesh::grid(&axis(4, 0.0, 0.04), &axis(3, 0.0, 0.03), &axis(3, -0.01, 0.02)).unwrap();
    let points: Vec<_> = mesh.points()[..mesh.corners()]
        .iter()
        .map(|p| {
            if p.x > 0.0 {
                p + random.vector() * 0.002
            } else {
                p + Vector3::new(0.0, random.number(), random.number()) * 0.002
            }
        })
        .collect();
    let tetrahedra: Vec<[u32; 4]> = mesh.tetrahedra().iter().map(|t| [t[0], t[1], t[2], t[3]]).collect();
    Mesh::new(&points, &tetrahedra).unwrap()
}

#[test]
fn constant_strain_on_shifted_meshes() {
    let mut random = Random(1);
    for poisson in [-0.4, 0.0, 0.3, 0.45, 0.49, 0.499] {
        for _ in 0..3 {
            let error = error(&shifted(&mut random), &material(poisson), random.vector());
            // Rounding times the condition of the stiffness, which grows as 1/(1 − 2ν).
            let bound = if poisson > 0.495 { 1e-9 } else { 1e-10 };
            assert!(error < bound, "{error:e} at ν {poisson}");
        }
    }
}
