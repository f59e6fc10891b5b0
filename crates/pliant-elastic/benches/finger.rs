//! A finger of three pads on three bones, joined by seams at the corners of their faces: a step is the substitution, the
//! factorisation is for bones that have turned.

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_elastic::nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_elastic::{Material, Mesh, Seam, Seams, Solid};

fn finger(c: &mut Criterion) {
    let axis = |from: usize, n: usize| -> Vec<f64> { (from..=from + n).map(|k| 0.0014 * k as f64).collect() };
    let material = Material::new(1e5, 0.45, 0.01, 1000.0).unwrap();
    let solids: Vec<Solid> = (0..3)
        .map(|z| {
            let mesh = Mesh::grid(&axis(12 * z, 12), &axis(0, 10), &axis(0, 8)).unwrap();
            Solid::new(&mesh, &material, |p| p.z < 1e-9, |_| {}).unwrap()
        })
        .collect();
    let solids: Vec<&Solid> = solids.iter().collect();
    let rest = [Isometry3::identity(); 3];
    let list: Vec<Seam> = (0..2).map(|z| Seam::matching(&solids, &rest, [z, z + 1], 1e-9).unwrap()).collect();
    println!("finger: pads of {} loadable nodes, seams of {} nodes", solids[0].nodes(), list[0].points.len());
    let mut seams = Seams::new(&solids, list).unwrap();
    let bent: Vec<Isometry3<f64>> = (0..3)
        .map(|z| {
            let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.02 * z as f64);
            Isometry3::from_parts(Vector3::zeros().into(), turn)
        })
        .collect();
    let loads: Vec<(usize, Vector3<f64>)> =
        (0..10).map(|k| (40 + k, Vector3::new(0.0, 0.01, -0.1))).collect();
    let load = |z: usize| -> &[(usize, Vector3<f64>)] { if z == 2 { &loads } else { &[] } };
    c.bench_function("factor the seams of a finger", |b| b.iter(|| seams.factor(&solids, &bent).unwrap()));
    c.bench_function("seam forces of a finger, 10 loaded nodes", |b| {
        b.iter(|| seams.solve(&solids, &bent, load, 0))
    });
    c.bench_function("seam forces of a finger with one correction", |b| {
        b.iter(|| seams.solve(&solids, &bent, load, 1))
    });
}

criterion_group!(benches, finger);
criterion_main!(benches);
