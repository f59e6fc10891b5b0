//! Convex hull of points: quickhull (Barber, Dobkin, Huhdanpaa 1996).
//!
//! Points nearer to the hull so far than a small part of the extent are left out: mesh files have single
//! precision, and their flat sides would otherwise become many thin triangles; and rounded rims have hundreds of corners. What a point sees is told as
//! exactly as the numbers allow: a face taken for coplanar by the same measure would tilt thin triangles
//! next to it, and everything built on them.

use std::collections::HashMap;

use nalgebra::Vector3;

/// How far outside a point may stay, relative to half the extent of all of them: what single precision leaves uncertain.
pub const FINEST: f64 = 1e-7;

/// How far above a face a point must be to see it: rounding.
const ROUNDING: f64 = 1e-13;

/// How far a point must be from an edge to span a triangle with it.
const THIN: f64 = 1e-10;

/// How often points that could not be taken are tried again, when others have been.
const ROUNDS: usize = 4;

struct Face {
    corners: [usize; 3],
    /// Across each edge, from corner k to corner k + 1.
    neighbours: [usize; 3],
    normal: Vector3<f64>,
    offset: f64,
    /// Points outside of this face.
    outside: Vec<usize>,
    alive: bool,
}

impl Face {
    fn new(corners: [usize; 3], points: &[Vector3<f64>]) -> Face {
        let [a, b, c] = corners.map(|i| points[i]);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vector3::zeros);
        let offset = normal.dot(&((a + b + c) / 3.0));
        Face { corners, neighbours: [usize::MAX; 3], normal, offset, outside: Vec::new(), alive: true }
    }

    fn distance(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// Corners, and triangles between them.
pub type Corners = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

/// The convex hull of points: its corners, and its triangles, which run anticlockwise seen from outside. None if they all lie in one
/// plane. Points may stay outside by `tolerance` of half the extent, [`FINEST`] or more.
pub fn convex_hull(given: &[Vector3<f64>], tolerance: f64) -> Option<Corners> {
    // To the unit cube about the centre, so that nothing overflows.
    let first = *given.first()?;
    let (low, high) = given.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
    let (center, extent) = (low * 0.5 + high * 0.5, (high * 0.5 - low * 0.5).amax());
    if !(extent > 0.0 && extent.is_finite()) {
        return None;
    }
    let points: Vec<Vector3<f64>> = given.iter().map(|point| (point - center) / extent).collect();
    let mut faces = simplex(&points)?;
    let inside =
        faces[0].corners.iter().map(|i| points[*i]).sum::<Vector3<f64>>() + points[faces[1].corners[1]];
    let inside = inside / 4.0;
    let mut waiting: Vec<usize> = (0..points.len()).collect();
    for _ in 0..ROUNDS {
        if waiting.is_empty() {
            break;
        }
        hand_out(&mut waiting, &mut faces, 0, &points, tolerance);
        waiting = take(&mut faces, &points, &inside, tolerance);
    }
    let mut index: HashMap<usize, u32> = HashMap::new();
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for face in faces.iter().filter(|face| face.alive) {
        triangles.push(face.corners.map(|i| {
            *index.entry(i).or_insert_with(|| {
                corners.push(given[i]);
                (corners.len() - 1) as u32
            })
        }));
    }
    Some((corners, triangles))
}

/// Takes in the points outside, the farthest of a face first; those that could not be taken.
fn take(faces: &mut Vec<Face>, points: &[Vector3<f64>], inside: &Vector3<f64>, tolerance: f64) -> Vec<usize> {
    let mut left = Vec::new();
    let mut todo: Vec<usize> = (0..faces.len()).collect();
    while let Some(f) = todo.pop() {
        while faces[f].alive && !faces[f].outside.is_empty() {
            let face = &faces[f];
            let far =
                |a: &&usize, b: &&usize| face.distance(&points[**a]).total_cmp(&face.distance(&points[**b]));
            let Some(&eye) = face.outside.iter().max_by(far) else { break };
            // Where rounding makes the horizon no single circle, or a new face thin or inside out, others of
            // the faces that the point lies on are counted in or out.
            let found = [1.0, -1.0, 100.0, -100.0, 1e4, -1e4].into_iter().find_map(|least| {
                let (visible, horizon) = look(f, &points[eye], least * ROUNDING, faces, points);
                let is_sound = |&(n, e): &(usize, usize)| {
                    let [from, to] = [faces[n].corners[(e + 1) % 3], faces[n].corners[e]];
                    Face::new([from, to, eye], points).distance(inside) < 0.0
                };
                (is_circle(&horizon, faces) && horizon.iter().all(is_sound)).then_some((visible, horizon))
            });
            let Some((visible, horizon)) = found else {
                faces[f].outside.retain(|point| *point != eye);
                left.push(eye);
                continue;
            };
            let mut waiting = Vec::new();
            for v in visible {
                faces[v].alive = false;
                waiting.append(&mut faces[v].outside);
            }
            waiting.retain(|point| *point != eye);
            let first = faces.len();
            grow(eye, &horizon, faces, points);
            hand_out(&mut waiting, faces, first, points, tolerance);
            todo.extend(first..faces.len());
        }
    }
    left
}

/// Four points that are far from each other, as four faces.
fn simplex(points: &[Vector3<f64>]) -> Option<Vec<Face>> {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let best = (0..points.len()).max_by(|a, b| measure(&points[*a]).total_cmp(&measure(&points[*b])));
        best.filter(|i| measure(&points[*i]) > 10.0 * FINEST)
    };
    let a = farthest(&|p| p.norm())?;
    let b = farthest(&|p| (p - points[a]).norm())?;
    let along = (points[b] - points[a]).normalize();
    let c = farthest(&|p| (p - points[a]).cross(&along).norm())?;
    let normal = (points[b] - points[a]).cross(&(points[c] - points[a])).normalize();
    let d = farthest(&|p| (p - points[a]).dot(&normal).abs())?;
    // d is to be below the face (a, b, c).
    let (b, c) = if (points[d] - points[a]).dot(&normal) > 0.0 { (c, b) } else { (b, c) };
    let mut faces: Vec<Face> =
        [[a, b, c], [a, d, b], [b, d, c], [c, d, a]].into_iter().map(|f| Face::new(f, points)).collect();
    let edges: HashMap<(usize, usize), usize> = (faces.iter().enumerate())
        .flat_map(|(f, face)| (0..3).map(move |k| ((face.corners[k], face.corners[(k + 1) % 3]), f)))
        .collect();
    for face in &mut faces {
        for k in 0..3 {
            face.neighbours[k] = edges[&(face.corners[(k + 1) % 3], face.corners[k])];
        }
    }
    Some(faces)
}

/// Gives each point to the first of the new faces that it is outside of.
fn hand_out(
    waiting: &mut Vec<usize>,
    faces: &mut [Face],
    first: usize,
    points: &[Vector3<f64>],
    tolerance: f64,
) {
    for point in waiting.drain(..) {
        let is_outside = |face: &&mut Face| face.alive && face.distance(&points[point]) > tolerance;
        let outside = faces[first..].iter_mut().find(is_outside);
        if let Some(face) = outside {
            face.outside.push(point);
        }
    }
}

/// The faces around one that a point sees, and the edges around them, each as (face beyond, its edge). A
/// face beyond an edge that the point lies in line with counts as seen: no triangle can stand there.
fn look(
    from: usize,
    eye: &Vector3<f64>,
    least: f64,
    faces: &[Face],
    points: &[Vector3<f64>],
) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut seen: HashMap<usize, bool> = HashMap::from([(from, true)]);
    let (mut visible, mut horizon) = (vec![from], Vec::new());
    let mut next = 0;
    while next < visible.len() {
        let f = visible[next];
        next += 1;
        for k in 0..3 {
            let n = faces[f].neighbours[k];
            let sees = *seen.entry(n).or_insert_with(|| {
                let [a, b] = [faces[f].corners[k], faces[f].corners[(k + 1) % 3]].map(|i| points[i]);
                let height = (b - a).cross(&(eye - a)).norm() / (b - a).norm();
                let sees = faces[n].distance(eye) > least || height <= THIN;
                if sees {
                    visible.push(n);
                }
                sees
            });
            if !sees {
                let start = faces[f].corners[(k + 1) % 3];
                let edge = (0..3).find(|e| faces[n].corners[*e] == start).unwrap_or(0);
                horizon.push((n, edge));
            }
        }
    }
    (visible, horizon)
}

/// Whether the edges are one circle, through each point once.
fn is_circle(horizon: &[(usize, usize)], faces: &[Face]) -> bool {
    let mut next: HashMap<usize, usize> = HashMap::new();
    for &(n, e) in horizon {
        if next.insert(faces[n].corners[e], faces[n].corners[(e + 1) % 3]).is_some() {
            return false;
        }
    }
    let Some(&start) = next.keys().next() else { return false };
    let (mut at, mut steps) = (start, 0);
    loop {
        let Some(&to) = next.get(&at) else { return false };
        (at, steps) = (to, steps + 1);
        if at == start || steps > next.len() {
            return steps == next.len();
        }
    }
}

/// One new face for each edge of the horizon.
fn grow(eye: usize, horizon: &[(usize, usize)], faces: &mut Vec<Face>, points: &[Vector3<f64>]) {
    let first = faces.len();
    let mut starting: HashMap<usize, usize> = HashMap::new();
    for &(n, e) in horizon {
        // Seen from the other side, the edge runs the other way.
        let (from, to) = (faces[n].corners[(e + 1) % 3], faces[n].corners[e]);
        let f = faces.len();
        faces[n].neighbours[e] = f;
        let mut face = Face::new([from, to, eye], points);
        face.neighbours[0] = n;
        faces.push(face);
        starting.insert(from, f);
    }
    for f in first..faces.len() {
        // The face that starts where this one's edge ends lies across the edge to the eye.
        let after = starting[&faces[f].corners[1]];
        faces[f].neighbours[1] = after;
        faces[after].neighbours[2] = f;
    }
}
