//! How long a scene file of 10,000 bodies takes to read and to write.
//!
//! Measured on two cores of an AMD EPYC server with other work running, `cargo bench -p pliant-io`,
//! Rust 1.95, criterion's median of 20 samples: read 171 ms, write 28 ms, for 4.3 MB of text.
#![allow(missing_docs)] // the macros below make public functions

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

/// A chain of bodies with a capsule and a sprung hinge each, as `pliant export` would write it.
fn chain(count: usize) -> String {
    let mut text = "[mechanism]\nname = \"chain\"\n".to_string();
    let mut parent = "world".to_string();
    for i in 0..count {
        let z = -0.1 * (i as f64 + 0.5);
        write!(
            text,
            "\n[[body]]\nname = \"link {i}\"\nposition = [0.0, 0.0, {z}]\nmass = 0.2\n\
             inertia = [0.001, 0.001, 0.0001]\n\n\
             [[body.shape]]\nkind = \"capsule\"\nradius = 0.01\nhalf_length = 0.05\nfriction = 0.5\n\n\
             [[joint]]\nname = \"joint {i}\"\nkind = \"hinge\"\nparent = \"{parent}\"\nchild = \"link {i}\"\n\
             position = [0.0, 0.0, {}]\nrotation = [0.7071067811865476, 0.0, 0.7071067811865476, 0.0]\n\
             stiffness = 1000.0\ndamping = 1.0\nlimits = [-1.5, 1.5]\n",
            z + 0.05
        )
        .expect("writing to a string");
        parent = format!("link {i}");
    }
    text
}

fn scene(criterion: &mut Criterion) {
    let text = chain(10_000);
    let mechanism = pliant_io::scene::read(&text, "chain.toml").expect("the scene is valid");
    let mut group = criterion.benchmark_group("10,000 bodies");
    group.sample_size(20);
    group.bench_function("read", |bencher| {
        bencher.iter(|| pliant_io::scene::read(black_box(&text), "chain.toml").map(|m| m.bodies().len()));
    });
    group.bench_function("write", |bencher| bencher.iter(|| pliant_io::scene::write(black_box(&mechanism))));
    group.finish();
}

criterion_group!(benches, scene);
criterion_main!(benches);
