//! Shapes as triangles, for shaded drawings: each body's in its link frame. Meshes of files are made coarse by putting points of one cell of a
//! grid together; a drawing of some hundred pixels shows no more.

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

use pliant::contact::{Surface, Surfaces};
use pliant::mechanism::{BodyId, Geometry, Mechanism, Shape};
use pliant::nalgebra::Vector3;

/// Triangles of one body, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    pub vertices: Vec<Vector3<f64>>,
    pub triangles: Vec<[u32; 3]>,
}

/// Sides of what is round, and rings of half a ball.
const SIDES: usize = 12;
const RINGS: usize = 3;

/// Cells of the grid along the longest edge of a mesh, from fine to coarse, until it has no more triangles than wanted.
const GRIDS: [f64; 7] = [60.0, 38.0, 24.0, 14.0, 9.0, 6.0, 4.0];

/// Triangles of all surfaces that a player holds, about, and at least of each.
const PLAYED: usize = 20_000;
const LEAST: usize = 200;

/// Surfaces as the player draws them, none with more triangles than its share.
pub fn light(surfaces: &Surfaces) -> Surfaces {
    let most = (PLAYED / surfaces.len().max(1)).max(LEAST);
    let light = |surface: &Surface| {
        let vertices = surface.points.iter().map(|p| Vector3::from(*p)).collect();
        let solid = coarse(Solid { vertices, triangles: surface.triangles.clone() }, most);
        Surface {
            points: solid.vertices.iter().map(|p| [p.x, p.y, p.z]).collect(),
            triangles: solid.triangles,
        }
    };
    surfaces.iter().map(|(file, surface)| (file.clone(), light(surface))).collect()
}

impl Solid {
    /// Of all shapes of a body and its elastic zones, each with at most so many triangles where it lies in a file.
    pub fn of(mechanism: &Mechanism, body: BodyId, surfaces: &Surfaces, most: usize) -> Solid {
        let mut solid = Solid::default();
        let shapes = mechanism.shapes_of(Some(body)).expect("a body of this mechanism");
        // What is drawn but not touched comes with what is, coarser, in most robot files.
        shapes
            .filter(|shape| shape.touches)
            .for_each(|shape| solid.add(of_shape(shape, surfaces, most), shape));
        solid
    }

    fn add(&mut self, other: Solid, shape: &Shape) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|v| shape.pose.transform_point(v)));
        self.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|k| first + k)));
    }

    /// A surface of revolution about z: its outline from the lowest to the highest point, as radius and height.
    fn round(outline: &[(f64, f64)]) -> Solid {
        let mut solid = Solid::default();
        for (radius, height) in outline {
            for k in 0..SIDES {
                let (s, c) = (TAU * k as f64 / SIDES as f64).sin_cos();
                solid.vertices.push(Vector3::new(radius * c, radius * s, *height));
            }
        }
        let n = SIDES as u32;
        for ring in 0..outline.len() as u32 - 1 {
            for k in 0..n {
                let (a, b) = (ring * n + k, ring * n + (k + 1) % n);
                solid.triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
            }
        }
        solid
    }
}

fn of_shape(shape: &Shape, surfaces: &Surfaces, most: usize) -> Solid {
    match &shape.geometry {
        Geometry::Box { size } => of_box(&(size * 0.5)),
        &Geometry::Ball { radius } => Solid::round(&halves(radius, 0.0)),
        &Geometry::Capsule { radius, half_length } => Solid::round(&halves(radius, half_length)),
        &Geometry::Cylinder { radius, half_length: h } => {
            Solid::round(&[(0.0, -h), (radius, -h), (radius, h), (0.0, h)])
        }
        Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => match surfaces.get(file) {
            Some(surface) => {
                let points = surface.points.iter().map(|p| Vector3::from(*p).component_mul(scale));
                let mut triangles = surface.triangles.clone();
                // A mirrored mesh has its outside inside.
                if scale.product() < 0.0 {
                    triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
                }
                coarse(Solid { vertices: points.collect(), triangles }, most)
            }
            None => Solid::default(),
        },
        // Floors and fields are drawn as lines.
        Geometry::Heightfield { .. } | Geometry::Plane => Solid::default(),
    }
}

fn of_box(half: &Vector3<f64>) -> Solid {
    let corner = |k: usize| {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        half.component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
    };
    let faces: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    Solid { vertices: (0..8).map(corner).collect(), triangles }
}

/// The outline of two half balls, so far from the middle.
fn halves(radius: f64, apart: f64) -> Vec<(f64, f64)> {
    let point = |k: usize, sign: f64| {
        let angle = 0.5 * PI * k as f64 / RINGS as f64;
        (radius * angle.sin(), sign * (apart + radius * angle.cos()))
    };
    let lower = (0..=RINGS).map(|k| point(k, -1.0));
    lower.chain((0..=RINGS).rev().map(|k| point(k, 1.0))).collect()
}

/// The same with at most so many triangles, if the coarsest grid has no more.
fn coarse(solid: Solid, most: usize) -> Solid {
    if solid.triangles.len() <= most {
        return solid;
    }
    let mut found = Solid::default();
    for cells in GRIDS {
        found = clustered(&solid, cells);
        if found.triangles.len() <= most {
            break;
        }
    }
    found
}

/// Points in one cell of a grid become their mean; triangles that lose a corner go, and those that are there twice.
fn clustered(solid: &Solid, cells: f64) -> Solid {
    let none = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    let (low, high) = solid.vertices.iter().fold(none, |(low, high), p| (low.inf(p), high.sup(p)));
    let edge = (high - low).amax() / cells;
    let mut of_cell: HashMap<[i64; 3], u32> = HashMap::new();
    let mut sums: Vec<(Vector3<f64>, f64)> = Vec::new();
    let number: Vec<u32> = (solid.vertices.iter())
        .map(|p| {
            let cell = [0, 1, 2].map(|k| ((p[k] - low[k]) / edge.max(f64::MIN_POSITIVE)) as i64);
            let number = *of_cell.entry(cell).or_insert_with(|| {
                sums.push((Vector3::zeros(), 0.0));
                sums.len() as u32 - 1
            });
            sums[number as usize].0 += p;
            sums[number as usize].1 += 1.0;
            number
        })
        .collect();
    let mut triangles: Vec<[u32; 3]> = (solid.triangles.iter())
        .filter_map(|triangle| {
            let corners = triangle.map(|k| number.get(k as usize).copied());
            let [Some(a), Some(b), Some(c)] = corners else { return None };
            // The smallest first, so that equal ones are found; the sense stays.
            let turned = if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            };
            (a != b && b != c && c != a).then_some(turned)
        })
        .collect();
    triangles.sort_unstable();
    triangles.dedup();
    Solid { vertices: sums.into_iter().map(|(sum, n)| sum / n).collect(), triangles }
}

#[cfg(test)]
mod tests {
    use super::{Solid, clustered, halves, of_box};
    use pliant::nalgebra::Vector3;

    /// Six times the volume that triangles enclose: above zero where they look outwards.
    fn volume(solid: &Solid) -> f64 {
        let at = |k: u32| solid.vertices[k as usize];
        solid.triangles.iter().map(|[a, b, c]| at(*a).dot(&at(*b).cross(&at(*c)))).sum::<f64>() / 6.0
    }

    #[test]
    fn triangles_look_outwards() {
        assert!((volume(&of_box(&Vector3::new(0.5, 1.0, 1.5))) - 6.0).abs() < 1e-12);
        // A prism of twelve sides has 3/π of the cylinder.
        let part = volume(&Solid::round(&[(0.0, -1.0), (1.0, -1.0), (1.0, 1.0), (0.0, 1.0)]));
        assert!((part - 6.0).abs() < 1e-12, "{part}");
        let ball = volume(&Solid::round(&halves(1.0, 0.0)));
        assert!(ball > 0.8 * 4.18879 && ball < 4.18879, "{ball}");
    }

    #[test]
    fn a_coarse_ball_is_a_ball() {
        let fine: Vec<(f64, f64)> = (0..=200)
            .map(|k| (std::f64::consts::PI * k as f64 / 200.0).sin_cos())
            .map(|(s, c)| (s, -c))
            .collect();
        let ball = Solid::round(&fine);
        let few = clustered(&ball, 6.0);
        assert!(few.triangles.len() < ball.triangles.len() / 4);
        assert!((volume(&few) / volume(&ball) - 1.0).abs() < 0.25, "{} {}", volume(&few), volume(&ball));
    }
}
