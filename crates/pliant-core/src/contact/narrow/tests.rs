//! Claim: the normal and the gap of a box and a capsule or a cylinder, whichever features are nearest, are to rounding those of a search that
//! knows nothing of this module: the least distance of the axis, which is a segment, from the corners, edges and faces of the box, less the
//! radius. So they are in millimetres, metres and kilometres.

use nalgebra::Vector3;

use super::{FLAT_SIDE, Narrow};
use crate::contact::collider::{Collider, Surfaces};
use crate::mechanism::{Geometry, Shape};
use crate::spatial::{Pose, Twist};

/// A small generator with a fixed seed (splitmix64): numbers from -1 to 1.
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((z ^ (z >> 31)) as f64 / u64::MAX as f64) - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed())
    }
}

/// A box at a place.
struct Block {
    half: Vector3<f64>,
    pose: Pose,
}

impl Block {
    fn corners(&self) -> Vec<Vector3<f64>> {
        let sign = |i: usize, k: usize| if i >> k & 1 == 0 { -1.0 } else { 1.0 };
        let corner = |i| self.half.component_mul(&Vector3::new(sign(i, 0), sign(i, 1), sign(i, 2)));
        (0..8).map(|i| self.pose.transform_point(&corner(i))).collect()
    }

    /// Both ends of each edge.
    fn edges(&self) -> Vec<[Vector3<f64>; 2]> {
        let corners = self.corners();
        let of = |k: usize| (0..8).filter(move |i| i >> k & 1 == 0).map(move |i| [i, i | 1 << k]);
        (0..3).flat_map(of).map(|ends| ends.map(|i| corners[i])).collect()
    }

    /// Whether a segment passes through it: there is a part of the way along it within all three pairs of sides.
    fn is_crossed(&self, segment: &[Vector3<f64>; 2]) -> bool {
        let [a, b] = segment.map(|x| self.pose.rotation.inverse() * (x - self.pose.position));
        let (mut first, mut last) = (0.0f64, 1.0f64);
        for i in 0..3 {
            let [x, y] = [-self.half[i], self.half[i]].map(|side| (side - a[i]) / (b[i] - a[i]));
            (first, last) = (first.max(x.min(y)), last.min(x.max(y)));
        }
        first < last
    }

    /// The point of it that is nearest to another.
    fn nearest(&self, x: &Vector3<f64>) -> Vector3<f64> {
        let local = self.pose.rotation.inverse() * (x - self.pose.position);
        let clamped = local.zip_map(&self.half, |x, half| x.clamp(-half, half));
        self.pose.transform_point(&clamped)
    }
}

/// The way from one segment to another, if the nearest points are inside of both.
fn between_edges(a: &[Vector3<f64>; 2], b: &[Vector3<f64>; 2]) -> Option<Vector3<f64>> {
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    // w + tv − su is across both: two equations.
    let (uu, vv, uv, wu, wv) = (u.dot(&u), v.dot(&v), u.dot(&v), w.dot(&u), w.dot(&v));
    let determinant = uu * vv - uv * uv;
    let (s, t) = ((wu * vv - wv * uv) / determinant, (wu * uv - wv * uu) / determinant);
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then(|| w + v * t - u * s)
}

/// The shortest way from a box to a segment, and how well it is known: the sine between edges, where it is between two.
fn search(block: &Block, segment: &[Vector3<f64>; 2]) -> (Vector3<f64>, f64) {
    let axis = segment[1] - segment[0];
    let mut ways: Vec<(Vector3<f64>, f64)> = Vec::new();
    ways.extend(segment.iter().map(|x| (x - block.nearest(x), 1.0)));
    for corner in block.corners() {
        let part = (axis.dot(&(corner - segment[0])) / axis.norm_squared()).clamp(0.0, 1.0);
        ways.push((segment[0] + axis * part - corner, 1.0));
    }
    for edge in block.edges() {
        let known = (edge[1] - edge[0]).normalize().cross(&axis.normalize()).norm();
        ways.extend(between_edges(&edge, segment).map(|way| (way, known)));
    }
    ways.into_iter().min_by(|x, y| x.0.norm().total_cmp(&y.0.norm())).unwrap()
}

#[test]
fn capsules_and_cylinders_at_boxes_in_any_unit() {
    let (mut cases, mut worst) = ([0; 4], [[0.0f64; 2]; 4]);
    for seed in 0..8000 {
        let mut random = Random(seed);
        let unit = [1.0, 1e-3, 1e3, 37.0][seed as usize % 4];
        let mut pose = |far: f64| {
            let rotation = Pose::rotation(random.vector().into(), 3.0 * random.signed());
            Pose::translation((random.vector().normalize() * (unit * far)).into()) * rotation
        };
        let (block, round) = (pose(0.0), pose(0.4));
        let block = Block { half: random.vector().map(|x| unit * (0.2 + 0.1 * x)), pose: block };
        let (radius, half_length) =
            (unit * (0.1 + 0.05 * random.signed()), unit * (0.2 + 0.1 * random.signed()));
        let is_capsule = seed % 8 < 4;
        let geometry = match is_capsule {
            true => Geometry::Capsule { radius, half_length },
            false => Geometry::Cylinder { radius, half_length },
        };
        let axis = round.rotation * Vector3::z();
        let segment = [-half_length, half_length].map(|x| round.position + axis * x);
        let (way, known) = search(&block, &segment);
        let gap = way.norm() - radius;
        let collider = |geometry| Collider::new(&Shape::new(geometry), "", &Surfaces::new()).unwrap();
        let (one, two) = (collider(Geometry::Box { size: 2.0 * block.half }), collider(geometry));
        let size = one.radius.min(two.radius);
        // The axis may be inside of the box; a cylinder is as far away as its axis only where that is nearest between its ends; edges that are nearly
        // parallel, and a way to the axis of hardly any length, have few digits whoever looks for them.
        let is_beside = way.dot(&axis).abs() < 1e-9 * way.norm() && gap > 0.0;
        // And what is as near to a flat side as to its edge, to 1e-7 of the size, has the normal of the side.
        let side = (block.pose.rotation.inverse() * way).amax();
        let is_snapped = way.norm() > side * (1.0 + 1e-14) && way.norm() - side < FLAT_SIDE * size;
        if is_snapped
            || block.is_crossed(&segment)
            || way.norm() < 0.05 * size
            || known < 0.02
            || !(is_capsule || is_beside)
        {
            continue;
        }
        let mut narrow = Narrow::default();
        narrow.find((&one, &block.pose), (&two, &round), unit, size, &Twist::ZERO);
        let deepest = narrow.points.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)).unwrap();
        let (turned, off) = ((deepest.normal - way.normalize()).norm(), (deepest.gap - gap).abs() / size);
        let kind = usize::from(is_capsule) + 2 * usize::from(gap < 0.0);
        cases[kind] += 1;
        worst[kind] = [worst[kind][0].max(turned), worst[kind][1].max(off)];
    }
    // Cylinders and capsules that are apart from a box, and capsules that are in it. Rounding of f64 over the sine between two edges.
    let [cylinders, apart, _, overlap] = cases;
    assert!(cylinders > 800 && apart > 1500 && overlap > 1500, "{cases:?}");
    assert!(worst.iter().all(|[turned, off]| *turned < 1e-12 && *off < 1e-13), "{worst:?}");
}
