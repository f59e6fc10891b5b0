//! What a step of a pad is made of: a pad of about 834 loadable nodes of its surface, and its precomputation.

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_elastic::nalgebra::Vector3;
use pliant_elastic::{Capacitance, Material, Mesh, Probe, Solid};

/// A block of 20 × 20 × 12 mm on its bone: 865 nodes can be loaded, 289 are bonded.
fn pad() -> Solid {
    let mesh = Mesh::cuboid(Vector3::new(0.010, 0.010, 0.006), 0.020 / 16.0).unwrap();
    let material = Material::new(1e5, 0.45, 0.01, 1000.0).unwrap();
    Solid::new(&mesh, &material, |p| p.z < -0.006 + 1e-9, |_| {}).unwrap()
}

fn steps(c: &mut Criterion) {
    let solid = pad();
    println!("pad: {} loadable nodes, {} bonded", solid.nodes(), solid.points().len() - solid.nodes());
    let mut u = vec![Vector3::zeros(); solid.points().len()];
    for loaded in [10, 100] {
        let forces: Vec<_> =
            (0..loaded).map(|k| (k * 7 % solid.nodes(), Vector3::new(0.1, 0.2, -1.0))).collect();
        c.bench_function(&format!("displacement of the surface, {loaded} loaded nodes"), |b| {
            b.iter(|| solid.displacement(&forces, &mut u))
        });
    }
    let probe = Probe::new(&solid, 3000.0, 0.3).unwrap();
    let mut state = probe.state();
    let mut k = 0;
    c.bench_function("probe, position in, force out", |b| {
        b.iter(|| {
            k = (k + 1) % 1000;
            let angle = 0.00628 * k as f64;
            probe.touch(&Vector3::new(0.006 * angle.cos(), 0.006 * angle.sin(), 0.0052), &mut state)
        })
    });
    // Frictionless contact has a row for each node, sticking contact three.
    for rows in [10, 30, 100, 300] {
        let row = |k: usize| (k / 3 * 7 % solid.nodes(), Vector3::ith(k % 3, 1.0));
        let mut capacitance = Capacitance::new(rows);
        c.bench_function(&format!("hold {rows} rows one by one and solve"), |b| {
            b.iter(|| {
                capacitance.clear();
                (0..rows).for_each(|k| capacitance.hold(&solid, row(k).0, row(k).1).unwrap());
                capacitance.solve(&solid, &[], (0..rows).map(|_| -1e-4))[0]
            })
        });
        c.bench_function(&format!("release and hold one of {rows} rows and solve"), |b| {
            b.iter(|| {
                let (node, direction) = capacitance.rows()[rows / 2];
                capacitance.release(rows / 2);
                capacitance.hold(&solid, node, direction).unwrap();
                capacitance.solve(&solid, &[], (0..rows).map(|_| -1e-4))[0]
            })
        });
    }
}

fn precomputation(c: &mut Criterion) {
    let mut group = c.benchmark_group("precomputation");
    group.sample_size(10);
    group.bench_function("pad", |b| b.iter(pad));
}

criterion_group!(benches, steps, precomputation);
criterion_main!(benches);
