//! Files of solids: tetrahedra of Gmsh (.msh), and Green's functions that were measured or made elsewhere (.npz).

use pliant_core::elastic::mesh::Mesh;
use pliant_core::elastic::{Material, Solid, SolidParts};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::SpatialInertia;

use crate::import::mesh;

/// Midside nodes may be this far off the middles of their edges, of the length of the mesh: elements have straight edges.
const STRAIGHT: f64 = 1e-3;

/// The tetrahedra of a Gmsh file whose unit of length is `unit` metres, or what is wrong with it.
pub(crate) fn tetrahedra(bytes: &[u8], unit: f64) -> Result<Mesh, String> {
    // A binary file says so in its second line, which is text.
    let text = String::from_utf8_lossy(bytes);
    let read = Mesh::from_gmsh(&text, unit).map_err(|error| error.to_string())?;
    let points = read.mesh.points();
    let low = points.iter().fold(points[0], |low, p| low.inf(p));
    let high = points.iter().fold(points[0], |high, p| high.sup(p));
    let length = (high - low).norm();
    if read.straightened > STRAIGHT * length {
        return Err(format!(
            "midside nodes are up to {:.2e} m off the middles of their edges, which are read as straight: save straight elements \
             (Mesh.SecondOrderLinear = 1), or make them smaller",
            read.straightened
        ));
    }
    Ok(read.mesh)
}

/// The triangles around tetrahedra.
pub(crate) fn boundary(mesh: &Mesh) -> mesh::Mesh {
    mesh::Mesh { points: mesh.points()[..mesh.corners()].to_vec(), triangles: mesh.boundary().to_vec() }
}

/// What a file of Green's functions holds.
pub(crate) struct Measured {
    /// Those that can be loaded first, m, and triangles around them.
    pub surface: mesh::Mesh,
    /// Ξ by columns, m/N.
    pub green: Vec<f64>,
}

impl Measured {
    /// Of the bytes of an .npz file with `points` (n×3, m), `triangles` (t×3) and `green` (3k×3k, m/N) of the first k points.
    pub fn read(bytes: &[u8]) -> Result<Measured, String> {
        let (shape, points) = arrays::floats(bytes, "points")?;
        if shape.len() != 2 || shape[1] != 3 {
            return Err(format!("`points` is {shape:?}: n rows of three numbers, m"));
        }
        let points: Vec<Vector3<f64>> = points.chunks_exact(3).map(Vector3::from_column_slice).collect();
        let (shape, numbers) = arrays::indices(bytes, "triangles")?;
        if shape.len() != 2 || shape[1] != 3 {
            return Err(format!("`triangles` is {shape:?}: rows of three numbers of points, from 0"));
        }
        let triangles: Vec<[u32; 3]> = numbers.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
        if let Some(triangle) = triangles.iter().position(|t| t.iter().any(|i| *i as usize >= points.len())) {
            return Err(format!("triangle {triangle} refers to a missing point: there are {}", points.len()));
        }
        let (shape, green) = arrays::floats(bytes, "green")?;
        if shape.len() != 2 || shape[0] != shape[1] || shape[0] == 0 || shape[0] % 3 != 0 {
            return Err(format!("`green` is {shape:?}: as many rows as columns, three for each node, m/N"));
        }
        if shape[0] > 3 * points.len() as u64 {
            let nodes = shape[0] / 3;
            return Err(format!("`green` is of {nodes} nodes, but there are {} points", points.len()));
        }
        Ok(Measured { surface: mesh::Mesh { points, triangles }, green })
    }

    /// The solid, scaled, with this damping time, s, and density, kg/m³; and its inertia.
    pub fn solid(self, scale: f64, damping: f64, density: f64) -> Result<(Solid, SpatialInertia), String> {
        let surface = self.surface.scaled(&Vector3::repeat(scale));
        let text = |error: pliant_core::elastic::ElasticError| error.to_string();
        // Its constants are in the Green's functions.
        let material = Material::new(1.0, 0.0, damping, density).map_err(text)?;
        let volume = surface.solid();
        if !surface.is_closed() || volume.mass <= 0.0 {
            return Err("its triangles must enclose a volume, counter-clockwise seen from outside".into());
        }
        let mass = volume.mass * density;
        let inertia = volume.inertia * density;
        let symmetric: Matrix3<f64> = (inertia + inertia.transpose()) * 0.5;
        let nodes = self.green.len().isqrt() / 3;
        let solid = Solid::measured(SolidParts {
            material,
            points: surface.points,
            triangles: surface.triangles,
            nodes,
            green: self.green,
            mass,
            centre: volume.center_of_mass,
            inertia: symmetric,
        })
        .map_err(text)?;
        Ok((solid, SpatialInertia { mass, inertia, ..volume }))
    }
}

#[cfg(not(target_family = "wasm"))]
mod arrays {
    use std::io::Cursor;

    use npyz::{NpyFile, Order};

    type Array = NpyFile<Cursor<Vec<u8>>>;

    /// An array of an archive.
    fn array(bytes: &[u8], name: &str) -> Result<(Vec<u64>, Array), String> {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
            format!(
                "it is not an .npz file ({error}): write one by numpy.savez(file, points=…, triangles=…, green=…)"
            )
        })?;
        let mut file = archive.by_name(&npyz::npz::file_name_from_array_name(name)).map_err(|error| {
            format!("its array `{name}` cannot be read ({error}): it needs points, triangles and green, not compressed")
        })?;
        // Its sum is checked once all is read; no more than the file says.
        let mut plain = Vec::new();
        std::io::copy(&mut std::io::Read::take(&mut file, bytes.len() as u64), &mut plain)
            .map_err(|error| format!("its array `{name}` is damaged: {error}"))?;
        let array =
            NpyFile::new(Cursor::new(plain)).map_err(|error| format!("`{name}` is not an array: {error}"))?;
        let shape = array.shape().to_vec();
        if array.order() == Order::Fortran && shape.iter().filter(|n| **n > 1).count() > 1 {
            return Err(format!("`{name}` is in Fortran's order: write numpy.ascontiguousarray({name})"));
        }
        Ok((shape, array))
    }

    pub fn floats(bytes: &[u8], name: &str) -> Result<(Vec<u64>, Vec<f64>), String> {
        let (shape, array) = array(bytes, name)?;
        let wrong = |what: String| format!("`{name}` must be of float64 or float32: {what}");
        let numbers = match array.try_data::<f64>() {
            Ok(data) => data.collect::<Result<Vec<f64>, _>>(),
            Err(array) => match array.try_data::<f32>() {
                Ok(data) => data.map(|x| x.map(f64::from)).collect(),
                Err(array) => return Err(wrong(format!("it is of {}", array.dtype().descr()))),
            },
        };
        Ok((shape, numbers.map_err(|error| wrong(error.to_string()))?))
    }

    pub fn indices(bytes: &[u8], name: &str) -> Result<(Vec<u64>, Vec<u32>), String> {
        let (shape, array) = array(bytes, name)?;
        let wrong = |what: String| format!("`{name}` must be of whole numbers from 0: {what}");
        let of = |x: std::io::Result<i64>| x.map_err(|error| wrong(error.to_string()));
        let numbers: Vec<Result<i64, String>> = match array.try_data::<i64>() {
            Ok(data) => data.map(of).collect(),
            Err(array) => match array.try_data::<i32>() {
                Ok(data) => data.map(|x| of(x.map(i64::from))).collect(),
                Err(array) => match array.try_data::<u32>() {
                    Ok(data) => data.map(|x| of(x.map(i64::from))).collect(),
                    Err(array) => return Err(wrong(format!("it is of {}", array.dtype().descr()))),
                },
            },
        };
        let small =
            |x: Result<i64, String>| x.and_then(|x| u32::try_from(x).map_err(|_| wrong(format!("{x}"))));
        Ok((shape, numbers.into_iter().map(small).collect::<Result<_, _>>()?))
    }
}

/// Pages have no such files.
#[cfg(target_family = "wasm")]
mod arrays {
    pub fn floats(_: &[u8], _: &str) -> Result<(Vec<u64>, Vec<f64>), String> {
        Err("a page does not read .npz files".into())
    }

    pub fn indices(_: &[u8], _: &str) -> Result<(Vec<u64>, Vec<u32>), String> {
        Err("a page does not read .npz files".into())
    }
}
