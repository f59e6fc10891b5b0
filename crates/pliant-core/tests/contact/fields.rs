//! Claim: a body that is thrown at a height field stops at it, however rough: none goes through, and what comes deeper than 0.5 mm, in proportion for
//! bodies smaller than 0.05 m, one in a hundred at most, is warned of.
//!
//! How deep is found apart from the engine: a point of the body below the surface, or one of the surface inside of the body, is at least as far from the
//! way out as from the nearest surface of the other.

use pliant_core::contact::{Surface, Surfaces, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

use super::slabs::{corners, direction, pick, rotation};
use crate::common::forest::Numbers;

/// The edge of a field, m.
const WIDTH: f64 = 8.0;

/// Heights on a square grid.
struct Field {
    heights: Vec<Vec<f64>>,
    cell: f64,
}

impl Field {
    /// Of cells so wide, with corners up to `steep` of that higher or lower.
    fn new(cells: usize, steep: f64, numbers: &mut Numbers) -> Field {
        let cell = WIDTH / cells as f64;
        let heights = (0..=cells).map(|_| numbers.list(cells + 1).iter().map(|z| z * steep * cell).collect());
        Field { heights: heights.collect(), cell }
    }

    fn corner(&self, row: usize, column: usize) -> Vector3<f64> {
        let at = |i: usize| self.cell * i as f64 - 0.5 * WIDTH;
        Vector3::new(at(column), at(row), self.heights[row][column])
    }

    fn cells_around(&self, p: &Vector3<f64>, far: f64) -> impl Iterator<Item = (usize, usize)> + use<> {
        let cells = self.heights.len() - 1;
        let at = |x: f64| ((x + 0.5 * WIDTH) / self.cell).floor().clamp(0.0, cells as f64 - 1.0) as usize;
        let (rows, columns) = (at(p.y - far)..=at(p.y + far), at(p.x - far)..=at(p.x + far));
        rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
    }

    /// Both triangles of a cell: its diagonal goes from low x and y to high x and y.
    fn triangles(&self, (row, column): (usize, usize)) -> [[Vector3<f64>; 3]; 2] {
        let (a, b) = (self.corner(row, column), self.corner(row + 1, column + 1));
        [[a, b, self.corner(row + 1, column)], [a, self.corner(row, column + 1), b]]
    }

    /// How far a point is above the surface, along z.
    fn above(&self, p: &Vector3<f64>) -> f64 {
        let cell = self.cells_around(p, 0.0).next().unwrap();
        let along = |[a, b, c]: [Vector3<f64>; 3]| {
            let n = (b - a).cross(&(c - a));
            n.dot(&(p - a)) / n.z
        };
        // Which side of the diagonal.
        let q = p - self.corner(cell.0, cell.1);
        along(self.triangles(cell)[usize::from(q.x > q.y)])
    }

    /// How far a point below the surface is from it; how far one above is, below zero, if it is nearer than `far`.
    fn depth(&self, p: &Vector3<f64>, far: f64) -> f64 {
        let above = self.above(p);
        let reach = if above < 0.0 { -above } else { far };
        let near = self.cells_around(p, reach).flat_map(|cell| self.triangles(cell));
        near.map(|t| distance(&t, p)).fold(reach, f64::min) * -above.signum()
    }

    /// Corners and points of edges near a place.
    fn points(&self, p: &Vector3<f64>, far: f64) -> impl Iterator<Item = Vector3<f64>> {
        let edge = |a: Vector3<f64>, b: Vector3<f64>| (0..8).map(move |k| a + (b - a) * (f64::from(k) / 8.0));
        self.cells_around(p, far).flat_map(move |cell| {
            let [[a, b, c], [_, d, _]] = self.triangles(cell);
            edge(a, b).chain(edge(a, c)).chain(edge(a, d))
        })
    }
}

/// How far a triangle is from a point.
fn distance(t: &[Vector3<f64>; 3], p: &Vector3<f64>) -> f64 {
    let n = (t[1] - t[0]).cross(&(t[2] - t[0])).normalize();
    let sides = [0, 1, 2].map(|i| (t[i], t[(i + 1) % 3] - t[i]));
    if sides.iter().all(|(a, side)| side.cross(&(p - a)).dot(&n) >= 0.0) {
        return n.dot(&(p - t[0])).abs();
    }
    let to_side = |(a, side): &(Vector3<f64>, Vector3<f64>)| {
        (p - a - side * (side.dot(&(p - a)) / side.norm_squared()).clamp(0.0, 1.0)).norm()
    };
    sides.iter().map(to_side).fold(f64::INFINITY, f64::min)
}

/// How deep a shape at a pose in the frame of a field is in it, at least.
fn depth(field: &Field, geometry: &Geometry, hull: &[Vector3<f64>], at: &Pose, size: f64) -> f64 {
    let below = |p: Vector3<f64>| field.depth(&at.transform_point(&p), 0.0);
    let inside = |depth: &dyn Fn(&Vector3<f64>) -> f64| {
        let points = field.points(&at.position, size);
        points.map(|p| depth(&(at.inverse().transform_point(&p)))).fold(0.0, f64::max)
    };
    let sign = |i: u32| if i & 1 == 0 { -1.0 } else { 1.0 };
    match *geometry {
        Geometry::Box { size } => {
            let half = 0.5 * size;
            let corner = |i: u32| Vector3::new(sign(i), sign(i >> 1), sign(i >> 2)).component_mul(&half);
            let edges =
                (0..8u32).flat_map(|i| (0..3).filter(move |k| i >> k & 1 == 0).map(move |k| (i, i | 1 << k)));
            let along =
                edges.flat_map(|(i, j)| (0..=8).map(move |k| corner(i).lerp(&corner(j), f64::from(k) / 8.0)));
            along.map(below).fold(inside(&|p| (half - p.abs()).min()), f64::max)
        }
        Geometry::Cylinder { radius, half_length } => {
            let rim = (0..64u32).map(|k| {
                let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 32.0).sin_cos();
                Vector3::new(radius * cos, radius * sin, if k < 32 { half_length } else { -half_length })
            });
            rim.map(below).fold(inside(&|p| (radius - p.xy().norm()).min(half_length - p.z.abs())), f64::max)
        }
        Geometry::Capsule { radius, half_length } => {
            let axis = (-4..=4).map(|k| Vector3::new(0.0, 0.0, half_length * f64::from(k) / 4.0));
            axis.map(|p| radius + field.depth(&at.transform_point(&p), radius)).fold(0.0, f64::max)
        }
        Geometry::Ball { radius } => radius + field.depth(&at.position, radius),
        _ => hull.iter().copied().map(below).fold(0.0, f64::max),
    }
}

/// What came of a throw: how deep, how deep the report says, how deep it may be, how often it was pushed, whether there was a warning, and what was thrown.
struct Thrown {
    deepest: f64,
    reported: f64,
    bound: f64,
    pushes: usize,
    warned: bool,
    what: String,
    size: f64,
}

fn thrown(seed: u64) -> Thrown {
    let mut numbers = Numbers(seed * 6151 + 17);
    let numbers = &mut numbers;
    (0..5).for_each(|_| _ = numbers.next());
    let size = [0.02, 0.05, 0.2, 0.5, 1.0][pick(numbers, 5)];
    let kind = pick(numbers, 6);
    let dt = [1.0 / 60.0, 1.0 / 240.0][pick(numbers, 2)];
    let cells = [5, 20, 80][pick(numbers, 3)];
    let steep = [0.0, 0.05, 0.2, 0.5][pick(numbers, 4)];
    // In proportion for what is smaller than the least of the bodies.
    let small = (size / 0.05f64).min(1.0);
    let speed = small * [1.0, 4.0, 10.0, 20.0][pick(numbers, 4)];
    let spin = [0.0, 10.0, 50.0][pick(numbers, 3)];
    let ground = if pick(numbers, 2) == 0 { Pose::identity() } else { rotation(numbers) };
    let field = Field::new(cells, steep, numbers);

    let half = 0.5 * size * Vector3::new(1.0, 0.7 + 0.3 * numbers.next(), 0.5 + 0.3 * numbers.next());
    let hull: Vec<_> = corners(kind & 1 | 2, numbers).iter().map(|p| p.component_mul(&half)).collect();
    let geometry = match kind {
        0 => Geometry::Box { size: half * 2.0 },
        1 => Geometry::Ball { radius: half.y },
        2 => Geometry::Capsule { radius: half.z, half_length: half.x },
        3 => Geometry::Cylinder { radius: half.y, half_length: half.z },
        _ => Geometry::Convex { file: "hull".into(), scale: [1.0; 3].into() },
    };
    let what = format!(
        "seed {seed}: {} of {size} m, {cells} cells, {steep} steep, {speed} m/s, {spin} rad/s, dt {dt}",
        geometry.name()
    );
    let up = ground.rotation * Vector3::z();
    let mut world = World::new((up * -9.81).into());
    let surface = Surface { points: hull.iter().map(|p| (*p).into()).collect(), triangles: Vec::new() };
    world.set_surfaces(Surfaces::from([("hull".into(), surface)]));
    let heights = Geometry::Heightfield { size: [WIDTH; 2], heights: field.heights.clone() };
    world.add_shape(&Shape::new(heights).at(ground)).unwrap();
    let height = 1.1 * size + 0.25 + 0.2 * numbers.next() + steep * field.cell;
    let over = Pose::translation([0.3 * numbers.next(), 0.3 * numbers.next(), height]);
    let start = ground * over * rotation(numbers);
    let inertia = SpatialInertia::of_box(1000.0 * size.powi(3), (half * 2.0).into());
    let shape = Shape::new(geometry.clone());
    let id = world.add_body(&Body::new("thing", start).inertia(inertia).shape(shape).free()).unwrap();
    let aside = 0.2 * speed;
    let linear = ground.rotation * Vector3::new(aside * numbers.next(), aside * numbers.next(), -speed);
    world.body_mut(id).unwrap().place(start, Twist { linear, angular: direction(numbers) * spin });

    let bound = 5e-4 * small;
    let mut found = Thrown { deepest: 0.0, reported: 0.0, bound, pushes: 0, warned: false, what, size };
    for _ in 0..(1.0 / dt) as usize {
        let report = world.step(dt).unwrap();
        let at = ground.inverse() * world.body(id).unwrap().pose();
        // Past the edge there is nothing to stop it.
        if at.position.xy().amax() > 0.5 * WIDTH - 1.2 * size - 0.35 {
            break;
        }
        found.pushes += report.pushing.min(1);
        found.reported = found.reported.max(report.penetration);
        found.deepest = found.deepest.max(depth(&field, &geometry, &hull, &at, size));
    }
    found.warned = world.warnings().iter().any(|warning| warning.kind == "deep overlap");
    found
}

const THROWS: u64 = 1200;

/// 1200 throws of boxes, balls, capsules, cylinders and hulls of 0.02 to 1 m, at 1–20 m/s and up to 50 rad/s, onto fields of 50 to 12,800 triangles, flat
/// and rough. With PLIANT_LONG=1 six times as many.
#[test]
fn bodies_stop_at_height_fields() {
    let throws = if std::env::var_os("PLIANT_LONG").is_some() { 6 * THROWS } else { THROWS };
    let (mut hits, mut deep, mut wrong) = (0, 0, Vec::new());
    for seed in 0..throws {
        let Thrown { deepest, reported, bound, pushes, warned, what, size } = thrown(seed);
        hits += pushes;
        let most = deepest.max(reported);
        if most > bound {
            let line = format!("{what}: {deepest:.5} m deep, {reported:.5} m reported, warned of {warned}");
            println!("{line}");
            deep += 1;
            // What has gone through falls on, by metres.
            if !warned || most > 0.1 * size {
                wrong.push(line);
            }
        }
    }
    println!("{throws} throws, {deep} too deep");
    assert!(wrong.is_empty(), "{} of {throws}:\n{}", wrong.len(), wrong.join("\n"));
    // 9 of the first 1200, by 1.05 mm at most.
    assert!(deep as u64 <= throws / 100, "{deep} of {throws}");
    assert!(hits > 12_000, "{hits}");
}
