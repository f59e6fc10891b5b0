//! Speed of rebuilding all links from six coordinates.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pliant_core::joints::JointKind;
use pliant_core::linear::reconstruction::{Joints, PoseLanes, TreeLink, Twists};
use pliant_core::spatial::Pose;

const COORDINATES: usize = 6;

/// Numbers between −1 and 1, the same every time.
fn numbers(count: usize) -> impl FnMut() -> Vec<f64> {
    let mut x = 1u64;
    move || {
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }
}

fn twists(c: &mut Criterion) {
    let mut group = c.benchmark_group("twist reconstruction");
    let moved = Pose::translation([1.0, 2.0, 3.0]) * Pose::rotation([1.0, 1.0, 0.0], 0.5);
    for (links, threads) in [(400, 1), (100_000, 1), (100_000, 2)] {
        let references: Vec<Pose> =
            (0..links).map(|n| Pose::rotation([0.0, 0.6, 0.8], 0.1 * n as f64)).collect();
        let model = Twists::new(&references, &numbers(6 * links * COORDINATES)(), COORDINATES);
        let offsets = model.offsets();
        let z = [0.1, -0.2, 0.3, 0.1, -0.1, 0.2];
        let mut out = PoseLanes::new(links);
        group.throughput(Throughput::Elements(links as u64));
        for (name, base) in [("fixed base", Pose::identity()), ("moving base", moved)] {
            let id = BenchmarkId::new(name, format!("{links} links, {threads} threads"));
            group.bench_function(id, |b| b.iter(|| model.rebuild(&z, &offsets, &base, threads, &mut out)));
        }
    }
    group.finish();
}

fn joints(c: &mut Criterion) {
    let mut group = c.benchmark_group("joint reconstruction");
    for links in [400, 100_000] {
        let map = numbers(links * COORDINATES)();
        for (name, bush) in [("chain", false), ("bush", true)] {
            let tree: Vec<TreeLink> = (0..links)
                .map(|n| TreeLink {
                    parent: if bush { n.checked_sub(1 + n * n % 7) } else { n.checked_sub(1) },
                    kind: JointKind::Hinge,
                    frame_in_parent: Pose::translation([0.0, 0.1, 0.2])
                        * Pose::rotation([0.0, 0.6, 0.8], 0.3),
                    frame_in_child: Pose::rotation([0.6, 0.8, 0.0], 0.3) * Pose::translation([0.1, 0.1, 0.0]),
                    reference: &[0.1],
                    map: &map[n * COORDINATES..][..COORDINATES],
                })
                .collect();
            let model = Joints::new(&tree, COORDINATES);
            let offsets = model.offsets();
            let z = [0.1, -0.2, 0.3, 0.1, -0.1, 0.2];
            let base = Pose::translation([1.0, 2.0, 3.0]) * Pose::rotation([1.0, 1.0, 0.0], 0.5);
            let mut out = PoseLanes::new(links);
            group.throughput(Throughput::Elements(links as u64));
            let id = BenchmarkId::new(name, format!("{links} links"));
            group.bench_function(id, |b| b.iter(|| model.rebuild(&z, &offsets, &base, &mut out)));
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = twists, joints
}
criterion_main!(benches);
