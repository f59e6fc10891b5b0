//! Convex hull by quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron that grows to the farthest
//! point outside one of its faces, until none is left.

use std::collections::{HashMap, HashSet};

use pliant_core::nalgebra::Vector3;

use super::Mesh;

/// How far outside a face a point must lie to count, relative to the size of the cloud.
const TOLERANCE: f64 = 1e-12;

struct Face {
    corners: [usize; 3],
    normal: Vector3<f64>,
    offset: f64,
    /// Points outside this face, each in the list of one face only.
    outside: Vec<usize>,
}

impl Face {
    fn new(points: &[Vector3<f64>], corners: [usize; 3]) -> Face {
        let [a, b, c] = corners.map(|i| points[i]);
        let normal = (b - a).cross(&(c - a));
        let normal = normal / normal.norm().max(f64::MIN_POSITIVE);
        Face { corners, normal, offset: normal.dot(&a), outside: Vec::new() }
    }

    fn height(&self, x: &Vector3<f64>) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

/// The hull of a cloud; `None` if it is flat.
pub(super) fn hull(points: &[Vector3<f64>]) -> Option<Mesh> {
    let size = points.iter().map(|x| (x - points[0]).amax()).fold(0.0, f64::max);
    let near = TOLERANCE * size;
    let [a, b, c, d] = tetrahedron(points, 1e3 * near)?;
    let mut faces: Vec<Option<Face>> =
        [[a, b, c], [a, c, d], [a, d, b], [b, d, c]].map(|corners| Some(Face::new(points, corners))).into();
    give(points, (0..points.len()).collect(), &mut faces, 0, near);

    let mut pending: Vec<usize> = (0..4).collect();
    while let Some(f) = pending.pop() {
        let Some(face) = &faces[f] else { continue };
        let height = |i: &usize| face.height(&points[*i]);
        let Some(&apex) = face.outside.iter().max_by(|a, b| height(a).total_cmp(&height(b))) else {
            continue;
        };

        // All faces that the apex sees go; their border gets new faces to the apex.
        let mut orphans = Vec::new();
        let mut edges: HashSet<(usize, usize)> = HashSet::new();
        for slot in &mut faces {
            if slot.as_ref().is_some_and(|face| face.height(&points[apex]) > near) {
                let Face { corners: [a, b, c], mut outside, .. } = slot.take().expect("checked");
                orphans.append(&mut outside);
                edges.extend([(a, b), (b, c), (c, a)]);
            }
        }
        let mut border: Vec<(usize, usize)> =
            edges.iter().filter(|(a, b)| !edges.contains(&(*b, *a))).copied().collect();
        // The set has no order of its own, and the answer must be the same every time.
        border.sort_unstable();
        let first = faces.len();
        faces.extend(border.into_iter().map(|(a, b)| Some(Face::new(points, [a, b, apex]))));
        orphans.retain(|i| *i != apex);
        give(points, orphans, &mut faces, first, near);
        pending.extend(first..faces.len());
        // Dead faces are swept out before they are the most.
        if faces.len() > 64 && faces.iter().filter(|face| face.is_none()).count() * 2 > faces.len() {
            faces.retain(Option::is_some);
            pending = (0..faces.len()).collect();
        }
    }
    Some(compact(points, faces.into_iter().flatten()))
}

/// Gives each point to the first new face that it is outside of.
fn give(points: &[Vector3<f64>], cloud: Vec<usize>, faces: &mut [Option<Face>], first: usize, near: f64) {
    for i in cloud {
        let sees = |face: &&mut Face| face.height(&points[i]) > near;
        if let Some(face) = faces[first..].iter_mut().flatten().find(sees) {
            face.outside.push(i);
        }
    }
}

/// Four points far from being in a plane, the fourth below the first three.
fn tetrahedron(points: &[Vector3<f64>], near: f64) -> Option<[usize; 4]> {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        (0..points.len()).max_by(|a, b| measure(&points[*a]).total_cmp(&measure(&points[*b])))
    };
    let a = farthest(&|x| -x.x)?;
    let b = farthest(&|x| (x - points[a]).norm())?;
    let along = points[b] - points[a];
    if along.norm() <= near {
        return None;
    }
    let along = along.normalize();
    let c = farthest(&|x| (x - points[a]).cross(&along).norm())?;
    let normal = along.cross(&(points[c] - points[a]));
    if normal.norm() <= near {
        return None;
    }
    let normal = normal.normalize();
    let d = farthest(&|x| normal.dot(&(x - points[a])).abs())?;
    let height = normal.dot(&(points[d] - points[a]));
    if height.abs() <= near {
        return None;
    }
    Some(if height < 0.0 { [a, b, c, d] } else { [a, c, b, d] })
}

/// Only the points that are corners.
fn compact(points: &[Vector3<f64>], faces: impl Iterator<Item = Face>) -> Mesh {
    let mut mesh = Mesh::default();
    let mut index = HashMap::new();
    for face in faces {
        let corners = face.corners.map(|i| {
            *index.entry(i).or_insert_with(|| {
                mesh.points.push(points[i]);
                mesh.points.len() - 1
            })
        });
        mesh.triangles.push(corners);
    }
    mesh
}
