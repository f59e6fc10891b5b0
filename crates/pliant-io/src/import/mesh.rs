//! Triangles of a mesh file: bounds, volume, inertia and convex hull.

mod hull;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::SpatialInertia;

/// The largest file that is read, bytes.
const LARGEST_FILE: u64 = 256 << 20;

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mesh {
    /// Points, m.
    pub(crate) points: Vec<Vector3<f64>>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub(crate) triangles: Vec<[usize; 3]>,
}

impl Mesh {
    /// Reads a file (STL, OBJ, Collada), each axis times a factor; or says why it cannot be read.
    pub(crate) fn load(path: &Path, scale: &Vector3<f64>) -> Result<Mesh, String> {
        let size = fs::metadata(path).map_err(|reason| reason.to_string())?.len();
        if size > LARGEST_FILE {
            return Err(format!("it has {size} bytes, more than {LARGEST_FILE}"));
        }
        let bytes = fs::read(path).map_err(|reason| reason.to_string())?;
        // The libraries index what the file says: a broken file must not end the program.
        let mesh = catch_unwind(AssertUnwindSafe(|| parse(&bytes, path)))
            .unwrap_or_else(|_| Err("its format is broken".into()))?;
        let count = mesh.points.len();
        if mesh.triangles.is_empty() || mesh.triangles.iter().flatten().any(|i| *i >= count) {
            return Err("it has no triangles".into());
        }
        if mesh.points.iter().flatten().any(|x| !x.is_finite()) {
            return Err("it has points that are not finite".into());
        }
        Ok(mesh.scaled(scale))
    }

    /// With each axis times a factor; a mirror image keeps its outside.
    fn scaled(mut self, scale: &Vector3<f64>) -> Mesh {
        self.points.iter_mut().for_each(|x| x.component_mul_assign(scale));
        if scale.product() < 0.0 {
            self.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        self
    }

    /// Smallest and largest coordinates.
    pub(crate) fn bounds(&self) -> (Vector3<f64>, Vector3<f64>) {
        let start = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        self.points.iter().fold(start, |(low, high), x| (low.inf(x), high.sup(x)))
    }

    /// Mass, centre and inertia of the solid inside at density one: sums over the tetrahedra between
    /// each triangle and the centre of the bounds (Tonon 2004); the mass is the volume, negative where
    /// the triangles face inwards.
    pub(crate) fn solid(&self) -> SpatialInertia {
        let (low, high) = self.bounds();
        let origin = (low + high) * 0.5;
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for corners in &self.triangles {
            let [a, b, c] = corners.map(|i| self.points[i] - origin);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += sum * (v / 4.0);
            // ∫ x xᵀ = v/20 (Σ pᵢ pᵢᵀ + s sᵀ), one corner being the origin.
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose();
            second += squares * (v / 20.0);
        }
        if volume == 0.0 {
            return SpatialInertia { mass: 0.0, center_of_mass: origin, inertia: Matrix3::zeros() };
        }
        let c = first / volume;
        let second = second - c * c.transpose() * volume;
        SpatialInertia {
            mass: volume,
            center_of_mass: origin + c,
            inertia: Matrix3::identity() * second.trace() - second,
        }
    }

    /// The convex hull, as triangles that face outwards; `None` for points in a plane.
    pub(crate) fn hull(&self) -> Option<Mesh> {
        hull::hull(&self.points)
    }
}

fn parse(bytes: &[u8], path: &Path) -> Result<Mesh, String> {
    let loader = mesh_loader::Loader::default();
    match loader.load_from_slice(bytes, path) {
        Ok(scene) => {
            let mut mesh = Mesh::default();
            for part in scene.meshes {
                let first = mesh.points.len();
                mesh.points.extend(part.vertices.iter().map(|x| Vector3::from(x.map(f64::from))));
                mesh.triangles.extend(part.faces.iter().map(|f| f.map(|i| first + i as usize)));
            }
            Ok(mesh)
        }
        Err(reason) => {
            // Some ASCII STL only this one takes.
            let mut cursor = std::io::Cursor::new(bytes);
            let stl = stl_io::read_stl(&mut cursor).map_err(|_| reason.to_string())?;
            Ok(Mesh {
                points: stl
                    .vertices
                    .iter()
                    .map(|x| Vector3::new(x[0].into(), x[1].into(), x[2].into()))
                    .collect(),
                triangles: stl.faces.iter().map(|face| face.vertices).collect(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    //! Claim: a box and a tetrahedron have the volume, centre and inertia of the textbook, as they are
    //! and as the hull of points in and on them.

    use super::*;

    fn corners(size: [f64; 3], center: [f64; 3]) -> Vec<Vector3<f64>> {
        (0..8)
            .map(|i| Vector3::from_fn(|axis, _| center[axis] + size[axis] * (f64::from(i >> axis & 1) - 0.5)))
            .collect()
    }

    #[test]
    fn a_box_with_points_inside_and_on_its_faces() {
        let mut points = corners([1.0, 2.0, 3.0], [0.1, -0.2, 5.0]);
        points.push(Vector3::new(0.1, -0.2, 5.0));
        points.push(Vector3::new(0.6, -0.2, 5.0));
        points.push(Vector3::new(0.6, 0.8, 5.3));
        points.push(points[0]);
        let mesh = Mesh { points, triangles: Vec::new() };
        let hull = mesh.hull().unwrap();
        let solid = hull.solid();
        assert!((solid.mass - 6.0).abs() < 1e-12, "{}", solid.mass);
        assert!((solid.center_of_mass - Vector3::new(0.1, -0.2, 5.0)).norm() < 1e-12);
        let expected = SpatialInertia::of_box(6.0, [1.0, 2.0, 3.0]).inertia;
        assert!((solid.inertia - expected).norm() < 1e-12, "{}", solid.inertia);
        let mirrored = hull.clone().scaled(&Vector3::new(-1.0, 1.0, 2.0)).solid();
        assert!((mirrored.mass - 12.0).abs() < 1e-12);
    }

    #[test]
    fn random_points_are_all_inside_their_hull() {
        let mut state = 7u64;
        let mut unit = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for count in [4, 5, 10, 100, 2000] {
            let points: Vec<_> = (0..count).map(|_| Vector3::new(unit(), unit(), unit())).collect();
            let hull = hull::hull(&points).unwrap();
            for corners in &hull.triangles {
                let [a, b, c] = corners.map(|i| hull.points[i]);
                let n = (b - a).cross(&(c - a)).normalize();
                assert!(points.iter().all(|x| n.dot(&(x - a)) < 1e-9), "{count}");
            }
            // Euler: a closed surface of triangles.
            assert_eq!(hull.triangles.len(), 2 * hull.points.len() - 4, "{count}");
        }
    }

    #[test]
    fn points_in_a_plane_have_none() {
        let flat: Vec<_> = corners([1.0, 2.0, 0.0], [0.0; 3]);
        assert_eq!(hull::hull(&flat), None);
        assert_eq!(hull::hull(&[]), None);
        assert_eq!(hull::hull(&[Vector3::zeros(); 10]), None);
    }

    #[test]
    fn an_ascii_stl_and_a_broken_one() {
        let path = std::env::temp_dir().join(format!("pliant-mesh-{}.stl", std::process::id()));
        let facet = |c: [&str; 3]| {
            let corners: String = c.iter().map(|x| format!("      vertex {x}\n")).collect();
            format!("  facet normal 0 0 0\n    outer loop\n{corners}    endloop\n  endfacet\n")
        };
        let [o, x, y, z] = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
        let facets = [[o, y, x], [o, x, z], [o, z, y], [x, y, z]].map(facet).concat();
        fs::write(&path, format!("solid tetrahedron\n{facets}endsolid tetrahedron\n")).unwrap();
        let mesh = Mesh::load(&path, &Vector3::repeat(2.0)).unwrap();
        assert!((mesh.solid().mass - 8.0 / 6.0).abs() < 1e-12);
        assert_eq!(mesh.bounds(), (Vector3::zeros(), Vector3::repeat(2.0)));
        fs::write(&path, "solid nothing").unwrap();
        assert!(Mesh::load(&path, &Vector3::repeat(1.0)).is_err());
        fs::remove_file(&path).unwrap();
        assert!(Mesh::load(&path, &Vector3::repeat(1.0)).is_err());
    }
}
