//! A closed surface filled with tetrahedra by isosurface stuffing (Labelle, Shewchuk 2007).
//!
//! A body-centred cubic lattice fills the box of the surface. Where an edge of it crosses the surface is a cut point; a lattice
//! point close to a cut point moves onto it; the part inside of each tetrahedron of the lattice is then one of a few stencils.
//! The shapes of the elements do not depend on the surface's triangles, which may be slivers or cross each other.
//! Features finer than the lattice are lost, and sharp edges are cut off by about half a cell: see [`Mesh::grid`] for boxes.

use nalgebra::Vector3;

use super::{Mesh, jacobian};
use crate::ElasticError;
use crate::surface::{Surface, SurfaceTree, positive};

/// Points of the lattice at most, and those of them that are inside: no factor of as many fits into the memory limit.
const LIMIT: f64 = 1.5e6;
const MOST_INSIDE: f64 = 2e5;
/// A lattice point moves to a cut point within this part of a long or short edge.
const SNAP_LONG: f64 = 0.24999;
const SNAP_SHORT: f64 = 0.41189;
/// The volume must be kept within this part.
const VOLUME_KEPT: f64 = 0.25;

impl Mesh {
    /// Fills a closed surface with tetrahedra of a lattice whose cubes have edges of `resolution`, m; the triangles of the mesh's
    /// surface are somewhat smaller.
    pub fn from_surface(surface: &Surface, resolution: f64) -> Result<Self, ElasticError> {
        positive("the resolution", resolution)?;
        let (low, high) = surface.bounds();
        let cubes = ((high - low) / resolution).map(|x| x.ceil() + 2.0);
        let points = 2.0 * (cubes.x + 1.0) * (cubes.y + 1.0) * (cubes.z + 1.0);
        let inside = 2.0 * surface.volume() / resolution.powi(3);
        for (elements, limit) in [(points, LIMIT), (inside, MOST_INSIDE)] {
            if elements > limit {
                return Err(ElasticError::TooFine { elements, limit, resolution });
            }
        }
        let tree = SurfaceTree::new(surface);
        let mut lattice = Lattice::new(&tree, (low + high) / 2.0, cubes.map(|x| x as usize), resolution);
        lattice.snap();
        let (points, tetrahedra) = lattice.stencils();
        if tetrahedra.is_empty() {
            let hint = format!(
                "a resolution of {resolution} m is too coarse for a surface of {:?} m",
                (high - low).as_slice()
            );
            return Err(ElasticError::Empty { hint });
        }
        let mesh = Self::new(&points, &tetrahedra)?;
        let (kept, whole) = (mesh.volume(), surface.volume());
        if (kept / whole - 1.0).abs() > VOLUME_KEPT {
            return Err(ElasticError::Coarse { kept, whole, resolution });
        }
        Ok(mesh)
    }
}

struct Lattice<'a> {
    tree: &'a SurfaceTree,
    /// Corners of cubes along each axis.
    size: [usize; 3],
    points: Vec<Vector3<f64>>,
    /// Positive inside, negative outside, zero on the surface; the distance at ends of edges that are cut.
    depths: Vec<f64>,
    /// Both ends of each edge that is cut, sorted.
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    ends: [u32; 2],
    long: bool,
    /// Where it meets the surface.
    cut: Vector3<f64>,
}

impl<'a> Lattice<'a> {
    fn new(tree: &'a SurfaceTree, centre: Vector3<f64>, cubes: Vector3<usize>, edge: f64) -> Self {
        let size = [cubes.x + 1, cubes.y + 1, cubes.z + 1];
        let start = centre - cubes.map(|n| n as f64) * (edge / 2.0);
        let mut points = Vec::with_capacity(2 * size.iter().product::<usize>());
        // Corners of cubes, then their centres (of one more row than there are cubes, which stays outside).
        for shift in [0.0, 0.5] {
            for k in 0..size[2] {
                for j in 0..size[1] {
                    points.extend((0..size[0]).map(|i| {
                        start + (Vector3::new(i as f64, j as f64, k as f64) + Vector3::repeat(shift)) * edge
                    }));
                }
            }
        }
        // The sign alone at first: distances matter only at edges that cross the surface.
        let depths: Vec<f64> = points.iter().map(|p| if tree.inside(p) { 1.0 } else { -1.0 }).collect();
        let mut lattice = Self { tree, size, points, depths, edges: Vec::new() };
        lattice.cut();
        lattice
    }

    fn corner(&self, [i, j, k]: [usize; 3]) -> u32 {
        (i + self.size[0] * (j + self.size[1] * k)) as u32
    }

    fn centre(&self, cube: [usize; 3]) -> u32 {
        self.corner(cube) + (self.points.len() / 2) as u32
    }

    /// The tetrahedra: two centres next to each other, and an edge of the square between them. The first two are joined by a
    /// long edge, so are the last two.
    fn tetrahedra(&self) -> impl Iterator<Item = [u32; 4]> {
        let [nx, ny, nz] = self.size;
        let cubes =
            (0..nz - 1).flat_map(move |k| (0..ny - 1).flat_map(move |j| (0..nx - 1).map(move |i| [i, j, k])));
        cubes.flat_map(move |cube| {
            (0..3).flat_map(move |axis| {
                let mut next = cube;
                next[axis] += 1;
                let inside = next[axis] + 1 < self.size[axis];
                let (second, third) = ((axis + 1) % 3, (axis + 2) % 3);
                // The square between both, around the axis.
                let square = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
                    let mut at = next;
                    at[second] += a;
                    at[third] += b;
                    self.corner(at)
                });
                let centres = [self.centre(cube), self.centre(next)];
                (0..4)
                    .filter(move |_| inside)
                    .map(move |s| [centres[0], centres[1], square[s], square[(s + 1) % 4]])
            })
        })
    }

    /// Finds the edges that cross the surface and where.
    fn cut(&mut self) {
        let mut edges: Vec<([u32; 2], bool)> = Vec::new();
        for t in self.tetrahedra() {
            for (a, b) in super::EDGES {
                let long = (a, b) == (0, 1) || (a, b) == (2, 3);
                let ends = [t[a].min(t[b]), t[a].max(t[b])];
                if self.depths[ends[0] as usize] * self.depths[ends[1] as usize] < 0.0 {
                    edges.push((ends, long));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut ends: Vec<u32> = edges.iter().flat_map(|e| e.0).collect();
        ends.sort_unstable();
        ends.dedup();
        for i in ends {
            self.depths[i as usize] *= self.tree.nearest(&self.points[i as usize]).distance;
        }
        edges.retain(|(ends, _)| ends.iter().all(|&i| self.depths[i as usize] != 0.0));
        self.edges =
            edges.iter().map(|&(ends, long)| Edge { ends, long, cut: self.crossing(ends) }).collect();
    }

    /// Where an edge meets the surface: false position, the retained end's value halved (Illinois).
    fn crossing(&self, ends: [u32; 2]) -> Vector3<f64> {
        let [a, b] = ends.map(|i| self.points[i as usize]);
        let [mut fa, mut fb] = ends.map(|i| self.depths[i as usize]);
        let (mut ta, mut tb) = (0.0, 1.0);
        let mut t = fa / (fa - fb);
        for _ in 0..8 {
            let f = -self.tree.signed_distance(&a.lerp(&b, t));
            if f.abs() < 1e-6 * (b - a).norm() {
                break;
            }
            if f * fa > 0.0 {
                (ta, fa, fb) = (t, f, fb / 2.0);
            } else {
                (tb, fb, fa) = (t, f, fa / 2.0);
            }
            t = (ta * fb - tb * fa) / (fb - fa);
        }
        a.lerp(&b, t)
    }

    /// Moves lattice points onto cut points that are near, the nearest first; their edges are cut no more.
    fn snap(&mut self) {
        let mut near: Vec<(f64, u32, usize)> = Vec::new();
        for (e, edge) in self.edges.iter().enumerate() {
            let [a, b] = edge.ends.map(|i| self.points[i as usize]);
            let length = (b - a).norm();
            let limit = if edge.long { SNAP_LONG } else { SNAP_SHORT };
            for (end, p) in edge.ends.into_iter().zip([a, b]) {
                let part = (edge.cut - p).norm() / length;
                if part < limit {
                    near.push((part / limit, end, e));
                }
            }
        }
        near.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        for (_, end, e) in near {
            let edge = self.edges[e];
            // Neither end may be on the surface already: the cut point is gone then.
            if edge.ends.iter().all(|&i| self.depths[i as usize] != 0.0) {
                self.points[end as usize] = edge.cut;
                self.depths[end as usize] = 0.0;
            }
        }
        let depths = &self.depths;
        self.edges.retain(|e| e.ends.iter().all(|&i| depths[i as usize] != 0.0));
    }

    /// The part inside of each tetrahedron.
    fn stencils(&self) -> (Vec<Vector3<f64>>, Vec<[u32; 4]>) {
        let mut points = self.points.clone();
        points.extend(self.edges.iter().map(|e| e.cut));
        let mut out = Vec::new();
        for t in self.tetrahedra() {
            let sign = t.map(|i| self.depths[i as usize]);
            let list = |test: fn(f64) -> bool| -> Vec<u32> {
                (0..4).filter(|&k| test(sign[k])).map(|k| t[k]).collect()
            };
            let (inside, on, outside) = (list(|d| d > 0.0), list(|d| d == 0.0), list(|d| d < 0.0));
            let cut = |p: u32, m: u32| self.cut_of(p, m).0;
            match (inside.len(), outside.len()) {
                (0, _) => {}
                (_, 0) => out.push(t),
                (1, _) => {
                    let p = inside[0];
                    let mut corners: Vec<u32> = outside.iter().map(|&m| cut(p, m)).collect();
                    corners.extend(&on);
                    out.push([p, corners[0], corners[1], corners[2]]);
                }
                (2, 1) => {
                    // A pyramid over the quadrilateral of both and their cut points.
                    let (a, b, m, z) = (inside[0], inside[1], outside[0], on[0]);
                    let (ca, cb) = (cut(a, m), cut(b, m));
                    if self.first_diagonal(&points, a, b, m) {
                        out.extend([[a, b, cb, z], [a, cb, ca, z]]);
                    } else {
                        out.extend([[a, b, ca, z], [b, cb, ca, z]]);
                    }
                }
                (2, _) => {
                    let (a, b, c, d) = (inside[0], inside[1], outside[0], outside[1]);
                    let (p, q) = ([a, cut(a, c), cut(a, d)], [b, cut(b, c), cut(b, d)]);
                    let (first, second) =
                        (self.first_diagonal(&points, a, b, c), self.first_diagonal(&points, a, b, d));
                    // The third is free unless the other two rank it: the shorter one.
                    let third = match (first, second) {
                        (true, false) => false,
                        (false, true) => true,
                        _ => distance(&points, p[1], q[2]) < distance(&points, p[2], q[1]),
                    };
                    out.extend(prism(p, q, first, third, second));
                }
                _ => {
                    let m = outside[0];
                    let p = [inside[0], inside[1], inside[2]];
                    let q = p.map(|i| cut(i, m));
                    let diagonal = |i: usize, j: usize| self.first_diagonal(&points, p[i], p[j], m);
                    out.extend(prism(p, q, diagonal(0, 1), diagonal(1, 2), diagonal(0, 2)));
                }
            }
        }
        for t in &mut out {
            if jacobian(&t.map(|i| points[i as usize])) < 0.0 {
                t.swap(2, 3);
            }
        }
        (points, out)
    }

    /// The cut point of an edge, and whether the edge is long.
    fn cut_of(&self, a: u32, b: u32) -> (u32, bool) {
        let ends = [a.min(b), a.max(b)];
        let place =
            self.edges.binary_search_by(|e| e.ends.cmp(&ends)).expect("an edge whose ends differ is cut");
        ((self.points.len() + place) as u32, self.edges[place].long)
    }

    /// Of the quadrilateral a, b, cut(b, m), cut(a, m): whether it is split from a to cut(b, m). Both tetrahedra at the face
    /// agree. A diagonal ends at the cut point of the short edge, which gives the better elements; of two between short edges the
    /// shorter is taken. The three of a prism never run around: two of its sides have a cut long edge in common.
    fn first_diagonal(&self, points: &[Vector3<f64>], a: u32, b: u32, m: u32) -> bool {
        let ((ca, long_a), (cb, long_b)) = (self.cut_of(a, m), self.cut_of(b, m));
        match (long_a, long_b) {
            (true, false) => true,
            (false, true) => false,
            _ => {
                let (first, second) = (distance(points, a, cb), distance(points, b, ca));
                first < second || (first == second && a < b)
            }
        }
    }
}

fn distance(points: &[Vector3<f64>], a: u32, b: u32) -> f64 {
    (points[a as usize] - points[b as usize]).norm()
}

/// A prism between the triangles p and q in three tetrahedra; each side's flag says whether p_i–q_j is its diagonal (else
/// p_j–q_i), for (i, j) = (0, 1), (1, 2), (0, 2). Three diagonals that run around do not occur.
fn prism(p: [u32; 3], q: [u32; 3], d01: bool, d12: bool, d02: bool) -> [[u32; 4]; 3] {
    // p_i–q_j: i comes before j.
    let later = [!d01 as usize + !d02 as usize, d01 as usize + !d12 as usize, d02 as usize + d12 as usize];
    let mut order = [0, 1, 2];
    order.sort_by_key(|&i| later[i]);
    let [a, b, c] = order;
    [[p[a], p[b], p[c], q[c]], [p[a], p[b], q[b], q[c]], [p[a], q[a], q[b], q[c]]]
}
