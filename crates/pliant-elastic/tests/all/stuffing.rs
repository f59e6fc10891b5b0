//! Tetrahedra from surfaces: elements within the angles that Labelle and Shewchuk prove, a closed surface whose corners are on
//! the given one, volume to second order; the surface's own triangles do not matter.

use pliant_elastic::nalgebra::{Rotation3, Vector3};
use pliant_elastic::surface::SurfaceTree;
use pliant_elastic::{Mesh, Surface};

use crate::common::Random;

fn shapes() -> Vec<(&'static str, Surface)> {
    vec![
        ("ball", Surface::ball(0.01).unwrap()),
        ("capsule", Surface::capsule(0.01, 0.006).unwrap()),
        ("cylinder", Surface::cylinder(0.01, 0.006).unwrap()),
        ("box", Surface::cuboid(Vector3::new(0.01, 0.008, 0.006)).unwrap()),
    ]
}

fn moved(surface: &Surface, random: &mut Random) -> Surface {
    let (turn, shift) = (Rotation3::new(random.vector() * 2.0), random.vector());
    let points = surface.points().iter().map(|p| turn * p + shift).collect();
    Surface::new(points, surface.triangles().to_vec()).unwrap()
}

#[test]
fn elements_surface_and_volume() {
    let mut random = Random(3);
    let (mut least, mut largest) = (f64::INFINITY, 0.0f64);
    for (name, shape) in shapes() {
        for spacing in [0.004, 0.003, 0.002, 0.0013] {
            let surface = moved(&shape, &mut random);
            let mesh = Mesh::from_surface(&surface, spacing).unwrap();
            let quality = mesh.quality();
            least = least.min(quality.least_dihedral.to_degrees());
            largest = largest.max(quality.largest_dihedral.to_degrees());
            // The boundary is closed and oriented, of one solid's volume.
            let own =
                Surface::new(mesh.points()[..mesh.corners()].to_vec(), mesh.boundary().to_vec()).unwrap();
            assert!((own.volume() / mesh.volume() - 1.0).abs() < 1e-9);
            let tree = SurfaceTree::new(&surface);
            for &i in mesh.boundary().iter().flatten() {
                let off = tree.nearest(&mesh.points()[i as usize]).distance;
                assert!(off < 1e-3 * spacing, "{name}: a corner is {off} m off the surface");
            }
            // Chords and cut edges: the volume falls short by the area times the square of the spacing over a radius.
            let lost = 1.0 - mesh.volume() / surface.volume();
            let bound = 0.2 * surface.area() / surface.volume() * spacing * spacing / 0.006;
            assert!(lost > -1e-3 && lost < bound, "{name}: {lost} of the volume is lost, bound {bound}");
        }
    }
    println!("dihedral angles {least:.1}° to {largest:.1}°");
    // Labelle and Shewchuk 2007, table 1, for these distances of snapping.
    assert!(least > 10.78 && largest < 164.74, "{least} {largest}");
}

#[test]
fn slivers_and_crossing_walls_do_not_matter() {
    // Two boxes that cross as one surface of 24 triangles: meshed as their union, where the winding number is one or two.
    let cube = Surface::cuboid(Vector3::repeat(0.01)).unwrap();
    let shift = Vector3::new(0.012, 0.004, 0.003);
    let mut points = cube.points().to_vec();
    points.extend(cube.points().iter().map(|p| p + shift));
    let mut triangles = cube.triangles().to_vec();
    triangles.extend(cube.triangles().iter().map(|t| t.map(|i| i + 8)));
    let crossing = Surface::new(points, triangles).unwrap();
    let union = 2.0 * 0.02f64.powi(3) - 0.008 * 0.016 * 0.017;
    let mesh = Mesh::from_surface(&crossing, 0.0018);
    // The surface's own volume counts the overlap twice, and reports it so.
    let volume = match mesh {
        Ok(mesh) => mesh.volume(),
        Err(e) => panic!("{e}"),
    };
    assert!((volume / union - 1.0).abs() < 0.05, "{volume} of {union}");

    // A needle of a triangle: a point on an edge of the cube, a nanometre off it.
    let mut points = cube.points().to_vec();
    points.push((points[0] + points[1]) / 2.0 + Vector3::new(0.0, -1e-9, -1e-9));
    let triangles = cube
        .triangles()
        .iter()
        .flat_map(|&t| {
            match (0..3).find(|&k| [t[k], t[(k + 1) % 3]] == [0, 1] || [t[k], t[(k + 1) % 3]] == [1, 0]) {
                Some(k) => vec![[t[k], 8, t[(k + 2) % 3]], [8, t[(k + 1) % 3], t[(k + 2) % 3]]],
                None => vec![t],
            }
        })
        .collect();
    let needle = Surface::new(points, triangles).unwrap();
    let (a, b) = (Mesh::from_surface(&needle, 0.003).unwrap(), Mesh::from_surface(&cube, 0.003).unwrap());
    assert!((a.volume() / b.volume() - 1.0).abs() < 1e-4);
}

#[test]
fn distances_against_all_triangles() {
    let mut random = Random(9);
    let surface = moved(&Surface::ball(0.01).unwrap(), &mut random);
    let tree = SurfaceTree::new(&surface);
    let (low, high) = surface.bounds();
    let mut inside = 0;
    for _ in 0..500 {
        let p = low + (high - low).component_mul(&((random.vector() + Vector3::repeat(1.0)) / 2.0));
        // Nearest of many points on each triangle is never nearer than the tree's, and hardly further.
        let brute = (0..surface.triangles().len())
            .flat_map(|t| {
                let [a, b, c] = surface.corners(t);
                (0..=4).flat_map(move |i| {
                    (0..=4 - i).map(move |j| {
                        let (s, t) = (i as f64 / 4.0, j as f64 / 4.0);
                        a * (1.0 - s - t) + b * s + c * t
                    })
                })
            })
            .map(|q| (q - p).norm())
            .fold(f64::INFINITY, f64::min);
        let near = tree.nearest(&p);
        assert!(near.distance <= brute + 1e-15 && brute < near.distance + 1.5e-4);
        assert!(((near.point - p).norm() - near.distance).abs() < 1e-15);
        // The triangle that is nearest faces away from points inside.
        let [a, b, c] = surface.corners(near.triangle);
        let facing = (b - a).cross(&(c - a)).dot(&(p - near.point));
        if near.distance > 1e-5 {
            assert_eq!(tree.inside(&p), facing < 0.0);
            assert_eq!(tree.signed_distance(&p), if facing < 0.0 { -near.distance } else { near.distance });
            inside += (facing < 0.0) as usize;
        }
    }
    assert!(inside > 50 && inside < 450);
}

#[test]
fn about_as_many_nodes_as_asked_for() {
    // Lattices gain rows of nodes at once, which matters less the more there are.
    for (nodes, bound) in [(100, 0.2), (834, 0.1)] {
        for (name, shape) in shapes() {
            let ratio =
                Mesh::from_surface_with_nodes(&shape, nodes).unwrap().surface_nodes() as f64 / nodes as f64;
            println!("{name}: {ratio:.3} of {nodes}");
            assert!((ratio - 1.0).abs() < bound, "{name}: {ratio} of {nodes}");
        }
        let ratio = Mesh::cuboid_with_nodes(Vector3::new(0.01, 0.008, 0.006), nodes).unwrap().surface_nodes()
            as f64
            / nodes as f64;
        assert!((ratio - 1.0).abs() < bound, "{ratio} of {nodes}");
    }
    assert!(Mesh::cuboid_with_nodes(Vector3::new(0.01, f64::NAN, 0.006), 100).is_err());
    assert!(Mesh::from_surface_with_nodes(&Surface::ball(0.1).unwrap(), 3).is_err());
    assert!(Mesh::from_surface_with_nodes(&Surface::ball(0.1).unwrap(), 10_000_000).is_err());
}
