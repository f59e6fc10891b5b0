//! Claim: of the meshes in the wheel example-robot-data, nearly all load, and each has a closed convex hull
//! with the same bounds that encloses at least the volume of the mesh.

use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;
use pliant_core::nalgebra::Vector3;
use pliant_io::import::mesh::{Mesh, MeshError};

pub fn trials() -> Vec<Trial> {
    vec![trial("meshes::meshes_of_real_robots", meshes_of_real_robots)]
}

fn meshes_of_real_robots() -> Found<()> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?;
    let (mut loaded, mut closed, mut flat, mut failed) = (0, 0, 0, Vec::new());
    let mut faces = 0;
    for extension in ["stl", "STL", "obj", "dae"] {
        for path in wheels::files(&folder, extension) {
            let what = path.display();
            let mesh = match Mesh::load(&path, &Vector3::repeat(1.0)) {
                Ok(mesh) => mesh,
                Err(error) => {
                    failed.push(format!("{what}: {error}"));
                    continue;
                }
            };
            loaded += 1;
            let hull = match mesh.hull() {
                Ok(hull) => hull,
                Err(error) => {
                    flat += 1;
                    assert_eq!(error, MeshError::Flat, "{what}");
                    continue;
                }
            };
            assert!(hull.is_closed(), "{what}");
            let ((low, high), (hull_low, hull_high)) = (mesh.bounds().unwrap(), hull.bounds().unwrap());
            let extent = (high - low).norm();
            let lost = (low - hull_low).norm() + (high - hull_high).norm();
            assert!(lost < 1e-6 * extent, "{what}: {lost} of {extent}");
            // Thin faces say little about their side; every other one has no point of the mesh outside.
            for triangle in &hull.triangles {
                let [a, b, c] = triangle.map(|i| hull.points[i as usize]);
                let normal = (b - a).cross(&(c - a));
                if normal.norm() < 1e-4 * extent * extent {
                    continue;
                }
                faces += 1;
                let step = mesh.points.len() / 2000 + 1;
                let distance = |p: &Vector3<f64>| normal.normalize().dot(&(p - a));
                let outside = mesh.points.iter().step_by(step).map(distance).fold(0.0, f64::max);
                assert!(outside < 1e-6 * extent, "{what}: {outside} of {extent}");
            }
            if mesh.is_closed() {
                closed += 1;
                // What lies in itself counts twice: parts of one mesh may overlap, their hull does not.
                let (volume, whole) = (mesh.solid().mass, hull.solid().mass);
                assert!(whole > 0.0 && volume < 4.0 * whole, "{what}: {volume} {whole}");
            }
        }
    }
    println!("{loaded} meshes loaded, {closed} of them closed, {flat} flat; not: {failed:#?}");
    assert_eq!((loaded, closed, flat, failed.len()), (783, 454, 1, 0), "{failed:#?}");
    // Faces that say something about their side: how many depends on the rounding of the hulls.
    assert!(faces > 490_000, "{faces}");
    Ok(())
}
