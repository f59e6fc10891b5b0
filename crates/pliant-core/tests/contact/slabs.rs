//! Claim: a convex hull that is thrown at a closed surface, however thin, stops at it: its lowest corner, which geometry has, and what
//! the report says, are 0.5 mm deep at most, and in proportion for hulls smaller than 0.05 m.

use pliant_core::contact::{Surface, Surfaces, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

use crate::common::forest::Numbers;

/// The edge of a slab, m.
const WIDTH: f64 = 8.0;

/// A closed slab of n × n cells a side, its top at z = 0 of a frame.
fn slab(frame: &Pose, thickness: f64, n: u32) -> Surface {
    let at = |i: u32| WIDTH * (f64::from(i) / f64::from(n) - 0.5);
    let corner = |i: u32, k: u32, side: u32| side * (n + 1) * (n + 1) + i * (n + 1) + k;
    let mut points = Vec::new();
    for side in [0.0, 1.0] {
        let grid = (0..=n).flat_map(|i| (0..=n).map(move |k| (i, k)));
        let place = |(i, k)| frame.transform_point(&Vector3::new(at(i), at(k), -thickness * side));
        points.extend(grid.map(|cell| <[f64; 3]>::from(place(cell))));
    }
    let mut triangles = Vec::new();
    for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
        let [a, b, c, d] = [(i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)].map(|(i, k)| corner(i, k, 0));
        let [e, f, g, h] = [a, b, c, d].map(|top| top + (n + 1) * (n + 1));
        triangles.extend([[a, b, c], [a, c, d], [e, g, f], [e, h, g]]);
    }
    for i in 0..n {
        let rims = [[(i, 0), (i + 1, 0)], [(i + 1, n), (i, n)], [(0, i + 1), (0, i)], [(n, i), (n, i + 1)]];
        for rim in rims {
            let [a, b] = rim.map(|(i, k)| corner(i, k, 0));
            let [c, d] = rim.map(|(i, k)| corner(i, k, 1));
            triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    Surface { points, triangles }
}

/// A number from 0 to `count` − 1.
pub fn pick(numbers: &mut Numbers, count: usize) -> usize {
    (0.5 * (numbers.next() + 1.0) * count as f64) as usize
}

pub fn direction(numbers: &mut Numbers) -> Vector3<f64> {
    loop {
        let v = numbers.vector();
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

pub fn rotation(numbers: &mut Numbers) -> Pose {
    Pose::rotation(direction(numbers).into(), 3.0 * numbers.next())
}

/// Corners of a hull about their mean, in a box with edges of 2: a pyramid, a cube, and hulls of 20 and 100 points.
pub fn corners(kind: usize, numbers: &mut Numbers) -> Vec<Vector3<f64>> {
    let sign = |i: u32| 2.0 * f64::from(i & 1) - 1.0;
    let mut points: Vec<Vector3<f64>> = match kind {
        0 => (0..5)
            .map(|i| if i == 4 { Vector3::z() } else { Vector3::new(sign(i), sign(i >> 1), -1.0) })
            .collect(),
        1 => (0..8).map(|i| Vector3::new(sign(i), sign(i >> 1), sign(i >> 2))).collect(),
        2 => (0..20).map(|_| numbers.vector()).collect(),
        _ => (0..100).map(|_| direction(numbers)).collect(),
    };
    let mean = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
    points.iter_mut().for_each(|p| *p -= mean);
    points
}

/// How deep the lowest corner of a hull came, how deep the report says, and how often it was pushed, in a second after a throw; and what
/// was thrown.
fn thrown(seed: u64) -> (f64, f64, usize, f64, String) {
    let mut numbers = Numbers(seed * 7919 + 13);
    let numbers = &mut numbers;
    (0..5).for_each(|_| _ = numbers.next());
    let thickness = [1e-3, 2e-3, 3e-3, 0.01, 0.05, 1.0][pick(numbers, 6)];
    let size = [0.02, 0.05, 0.2, 0.5, 1.0][pick(numbers, 5)];
    let kind = pick(numbers, 4);
    let dt = [1.0 / 60.0, 1.0 / 240.0][pick(numbers, 2)];
    let cells = [1, 5, 24][pick(numbers, 3)];
    let speed = [1.0, 4.0, 10.0, 20.0][pick(numbers, 4)];
    let spin = [0.0, 10.0, 50.0][pick(numbers, 3)];
    let ground = if pick(numbers, 2) == 0 { Pose::identity() } else { rotation(numbers) };
    let what = format!(
        "seed {seed}: {size} m, kind {kind}, on {thickness} m, {cells} cells, {speed} m/s, {spin} rad/s, dt {dt}"
    );

    let half = 0.5 * size * Vector3::new(1.0, 0.7 + 0.3 * numbers.next(), 0.5 + 0.3 * numbers.next());
    let points: Vec<_> = corners(kind, numbers).iter().map(|p| p.component_mul(&half)).collect();
    let hull = Surface { points: points.iter().map(|p| (*p).into()).collect(), triangles: Vec::new() };
    let surfaces = [("slab", slab(&ground, thickness, cells)), ("hull", hull)];
    let up = ground.rotation * Vector3::z();
    let mut world = World::new((up * -9.81).into());
    world.set_surfaces(
        surfaces.into_iter().map(|(name, surface)| (name.into(), surface)).collect::<Surfaces>(),
    );
    let scale = [1.0; 3].into();
    world.add_shape(&Shape::new(Geometry::Mesh { file: "slab".into(), scale })).unwrap();
    let height = 1.1 * size + 0.25 + 0.2 * numbers.next();
    let over = Pose::translation([0.3 * numbers.next(), 0.3 * numbers.next(), height]);
    let start = ground * over * rotation(numbers);
    let inertia = SpatialInertia::of_box(1000.0 * size.powi(3), (half * 2.0).into());
    let shape = Shape::new(Geometry::Convex { file: "hull".into(), scale });
    let id = world.add_body(&Body::new("thing", start).inertia(inertia).shape(shape).free()).unwrap();
    let aside = 0.2 * speed;
    let linear = ground.rotation * Vector3::new(aside * numbers.next(), aside * numbers.next(), -speed);
    world.body_mut(id).unwrap().place(start, Twist { linear, angular: direction(numbers) * spin });

    let (mut deepest, mut reported, mut pushes) = (0.0f64, 0.0f64, 0);
    for _ in 0..(1.0 / dt) as usize {
        let report = world.step(dt).unwrap();
        let pose = world.body(id).unwrap().pose();
        let at = ground.inverse().transform_point(&pose.position);
        // Past the edge there is nothing to stop it.
        if at.xy().amax() > 0.5 * WIDTH - 1.2 * size - 0.35 {
            break;
        }
        pushes += report.pushing.min(1);
        reported = reported.max(report.penetration);
        let depths = points.iter().map(|p| -up.dot(&pose.transform_point(p)));
        deepest = depths.fold(deepest, f64::max);
    }
    (deepest, reported, pushes, 5e-4 * (size / 0.05).min(1.0), what)
}

const THROWS: u64 = 1200;

/// 1200 throws of pyramids, cubes and hulls of 20 and 100 points, 0.02 to 1 m, at 1–20 m/s and up to 50 rad/s, onto slabs of 1 mm to 1 m of
/// 12 to 2500 triangles that lie in any direction, at dt 1/60 and 1/240. With PLIANT_LONG=1 six times as many, of which none goes through;
/// those after the first 1200 that come deeper than the bound are listed.
#[test]
fn hulls_stop_at_closed_surfaces() {
    let throws = if std::env::var_os("PLIANT_LONG").is_some() { 6 * THROWS } else { THROWS };
    let (mut hits, mut wrong, mut deep) = (0, Vec::new(), 0);
    for seed in 0..throws {
        let (deepest, reported, pushes, bound, what) = thrown(seed);
        hits += pushes;
        // What has gone through falls on, by metres.
        let is_through = deepest > 0.01;
        if deepest > bound || reported > bound {
            let line = format!("{what}: {deepest} m deep, {reported} m reported");
            println!("{line}");
            if seed < THROWS || is_through { wrong.push(line) } else { deep += 1 }
        }
    }
    println!("{throws} throws, {deep} after the first {THROWS} are too deep");
    assert!(wrong.is_empty(), "{} of {throws}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(hits > 12_000, "{hits}");
}
