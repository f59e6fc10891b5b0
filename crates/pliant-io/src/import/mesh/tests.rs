//! Claim: volumes, centres and inertias are those of the closed forms, hulls are convex, closed and hold
//! every point, and no bytes make a reader panic.

use std::f64::consts::PI;
use std::fmt::Write as _;

use pliant_core::nalgebra::{Matrix3, UnitQuaternion, Vector3};
use pliant_core::numbers::splitmix64;
use pliant_core::spatial::{Pose, SpatialInertia};

use super::{Mesh, MeshError};

/// Numbers between −1 and 1 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.unit(), self.unit(), self.unit())
    }
}

fn box_mesh(size: Vector3<f64>) -> Mesh {
    let corners = (0..8).map(|i| Vector3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64));
    let points = corners.map(|c| (c - Vector3::repeat(0.5)).component_mul(&size)).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh { points, triangles }
}

/// Points on the unit sphere along rings of latitude.
fn sphere_points(rings: usize) -> Vec<Vector3<f64>> {
    let mut points = vec![Vector3::z(), -Vector3::z()];
    for i in 1..rings {
        let (s, c) = (PI * i as f64 / rings as f64).sin_cos();
        for k in 0..2 * rings {
            let (y, x) = (PI * k as f64 / rings as f64).sin_cos();
            points.push(Vector3::new(s * x, s * y, c));
        }
    }
    points
}

fn moved(mut mesh: Mesh, pose: &Pose) -> Mesh {
    mesh.points.iter_mut().for_each(|point| *point = pose.transform_point(point));
    mesh
}

fn assert_close(a: &SpatialInertia, b: &SpatialInertia, tolerance: f64) {
    assert!((a.mass - b.mass).abs() < tolerance, "{a:?} {b:?}");
    assert!((a.center_of_mass - b.center_of_mass).norm() < tolerance, "{a:?} {b:?}");
    assert!((a.inertia - b.inertia).norm() < tolerance, "{a:?} {b:?}");
}

#[test]
fn a_box_anywhere() {
    let mut random = Random(1);
    for _ in 0..50 {
        let size = random.vector().abs() + Vector3::repeat(0.1);
        let turn = UnitQuaternion::from_scaled_axis(random.vector() * 3.0);
        let pose = Pose::new(turn, random.vector() * 5.0);
        let mesh = moved(box_mesh(size), &pose);
        assert!(mesh.is_closed());
        let expected = SpatialInertia::of_box(size.product(), size.into()).in_outer(&pose);
        assert_close(&mesh.solid(), &expected, 1e-12);
        let hull = mesh.hull().unwrap();
        assert_eq!((hull.points.len(), hull.triangles.len()), (8, 12));
        assert_close(&hull.solid(), &expected, 1e-12);
    }
}

#[test]
fn a_tetrahedron() {
    // With corners at 0 and 1 along the axes: V = 1/6, the centre at 1/4, about it
    // ∫x² = V 3/80 and ∫xy = −V/80.
    let points = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let mesh = Mesh { points, triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] };
    let V = 1.0 / 6.0;
    let inertia = Matrix3::from_element(V / 80.0) + Matrix3::identity() * (V * 5.0 / 80.0);
    let expected = SpatialInertia { mass: V, center_of_mass: Vector3::repeat(0.25), inertia };
    assert_close(&mesh.solid(), &expected, 1e-15);
    let mirrored = mesh.clone().scaled(&Vector3::new(-1.0, 1.0, 1.0));
    assert!((mirrored.solid().mass - V).abs() < 1e-15);
    let mut inside_out = mesh.clone();
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert!((inside_out.solid().mass + V).abs() < 1e-15);
    inside_out.triangles.pop();
    assert!(mesh.is_closed() && !inside_out.is_closed());
    // The triangle that is gone had three edges, of points 1, 2 and 3; one that stands twice has them too often.
    assert_eq!(inside_out.open_edges(), Some((3, [Vector3::x(), Vector3::y()])));
    let mut twice = mesh.clone();
    twice.triangles.push(twice.triangles[0]);
    assert_eq!((mesh.open_edges(), twice.open_edges()), (None, Some((3, [Vector3::zeros(), Vector3::x()]))));
    assert!(!Mesh { triangles: Vec::new(), ..mesh }.is_closed());
}

#[test]
fn a_sphere_from_its_hull() {
    // Second order: a hull of n rings misses about 1/n² of the ball.
    let mut last = f64::INFINITY;
    for rings in [10, 20, 40] {
        let hull = Mesh { points: sphere_points(rings), triangles: vec![] }.hull().unwrap();
        assert!(hull.is_closed());
        assert_eq!(hull.triangles.len(), 2 * hull.points.len() - 4, "Euler");
        let (solid, ball) = (hull.solid(), 4.0 / 3.0 * PI);
        let error = (solid.mass - ball).abs() / ball;
        assert!(error < last / 3.8 && solid.mass < ball, "{rings}: {error}");
        let moment = 0.4 * ball;
        assert!((solid.inertia - Matrix3::identity() * moment).norm() / moment < 6.0 * error);
        last = error;
    }
    assert!(last < 3e-3);
}

#[test]
fn hulls_hold_every_point() {
    let mut random = Random(2);
    let (mut hulls, mut slivers) = (0, 0);
    for round in 0..200 {
        let count = 4 + (random.next() % 300) as usize;
        let points: Vec<Vector3<f64>> = (0..count)
            .map(|_| match round % 4 {
                0 => random.vector(),
                // A grid: many points in common planes and on common lines.
                1 => random.vector().map(|x| (x * 3.0).round()),
                2 => random.vector().normalize(),
                // As a mesh file of single precision has it, flat and turned.
                _ => {
                    let flat = random
                        .vector()
                        .component_mul(&Vector3::new(1.0, 1.0, 0.05))
                        .map(|x| (x * 50.0).round());
                    (UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.5, 0.7)) * flat)
                        .cast::<f32>()
                        .cast()
                }
            })
            .collect();
        let Ok(hull) = (Mesh { points: points.clone(), triangles: vec![] }).hull() else { continue };
        hulls += 1;
        assert!(hull.is_closed(), "round {round}");
        assert_eq!(hull.triangles.len(), 2 * hull.points.len() - 4, "round {round}");
        let extent = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
        for triangle in &hull.triangles {
            let [a, b, c] = triangle.map(|i| hull.points[i as usize]);
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(1e-9 * extent * extent) else {
                slivers += 1;
                continue;
            };
            let outside = points.iter().map(|p| normal.dot(&(p - a))).fold(0.0, f64::max);
            assert!(outside <= 1e-6 * extent, "round {round}: {outside}");
        }
    }
    assert_eq!((hulls, slivers), (200, 0), "hulls, and triangles without a normal");
}

#[test]
fn no_hull_without_extent() {
    let flat = |points: Vec<Vector3<f64>>| Mesh { points, triangles: vec![] }.hull();
    let mut random = Random(3);
    assert_eq!(flat(vec![]), Err(MeshError::Flat));
    assert_eq!(flat(vec![Vector3::x(); 9]), Err(MeshError::Flat));
    assert_eq!(flat((0..9).map(|_| Vector3::x() * random.unit()).collect()), Err(MeshError::Flat));
    let plane = (0..99).map(|_| random.vector().component_mul(&Vector3::new(1.0, 1.0, 0.0))).collect();
    assert_eq!(flat(plane), Err(MeshError::Flat));
}

#[test]
fn a_large_hull_is_quick() {
    let mut random = Random(4);
    let points: Vec<Vector3<f64>> = (0..100_000).map(|_| random.vector().normalize()).collect();
    let start = std::time::Instant::now();
    let hull = Mesh { points, triangles: vec![] }.hull().unwrap();
    assert!(hull.points.len() > 50_000 && hull.is_closed());
    assert!(start.elapsed().as_secs() < 20);
}

fn binary_stl(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in &mesh.triangles {
        bytes.extend([0; 12]);
        for corner in triangle {
            bytes.extend(mesh.points[*corner as usize].iter().flat_map(|x| (*x as f32).to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn ascii_stl(mesh: &Mesh, name: &str) -> String {
    let mut text = format!("solid {name}\n");
    for triangle in &mesh.triangles {
        text += " facet normal 0 0 0\n  outer loop\n";
        for corner in triangle {
            let p = mesh.points[*corner as usize];
            let _ = writeln!(text, "   vertex {:e} {} {}", p.x, p.y, p.z);
        }
        text += "  endloop\n endfacet\n";
    }
    text + "endsolid " + name + "\n"
}

fn obj(mesh: &Mesh) -> String {
    let points = mesh.points.iter().map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = mesh.triangles.iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    "mtllib ../../../etc/passwd\n".to_string() + &points.collect::<String>() + &faces.collect::<String>()
}

/// In centimetres, turned and moved, its sides as polygons of four.
fn dae(size: Vector3<f64>) -> String {
    let mesh = box_mesh(size * 100.0);
    let numbers: String = mesh.points.iter().map(|p| format!("{} {} {} ", p.x, p.y, p.z)).collect();
    let sides: String = (mesh.triangles.chunks(2))
        .map(|pair| {
            let ([a, b, c], [_, _, d]) = (pair[0], pair[1]);
            format!("{a} 0 {b} 0 {c} 0 {d} 0 ")
        })
        .collect();
    format!(
        r##"<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
        <asset><unit meter="0.01" name="centimeter"/><up_axis>Z_UP</up_axis></asset>
        <library_geometries><geometry id="g"><mesh>
          <source id="p"><float_array id="pa" count="24">{numbers}</float_array>
            <technique_common><accessor source="#pa" count="8" stride="3"/></technique_common></source>
          <source id="names"><Name_array id="na" count="1">x</Name_array></source>
          <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
          <polylist count="6"><input semantic="VERTEX" source="#v" offset="0"/>
            <input semantic="NORMAL" source="#n" offset="1"/>
            <vcount>4 4 4 4 4 4</vcount><p>{sides}</p></polylist>
        </mesh></geometry></library_geometries>
        <library_visual_scenes><visual_scene id="s"><node id="a"><translate>100 0 0</translate>
          <node id="b"><rotate>0 0 1 90</rotate><instance_geometry url="#g"/></node>
          <node id="c"><matrix>-1 0 0 500 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"/></node>
        </node></visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#s"/></scene></COLLADA>"##
    )
}

#[test]
fn every_format() {
    let size = Vector3::new(0.5, 1.0, 2.0);
    let mesh = box_mesh(size);
    let expected = SpatialInertia::of_box(1.0, size.into());
    let files: [(&str, Vec<u8>); 5] = [
        ("stl", binary_stl(&mesh)),
        ("STL", ascii_stl(&mesh, "a box").into_bytes()),
        // mesh-loader does not take words in capitals.
        ("stl", ascii_stl(&mesh, "x").to_uppercase().into_bytes()),
        ("stl", ascii_stl(&mesh, "").into_bytes()),
        ("obj", obj(&mesh).into_bytes()),
    ];
    for (extension, bytes) in files {
        let read = Mesh::read(&bytes, extension).unwrap();
        assert_eq!((read.points.len(), read.triangles.len()), (8, 12), "{extension}");
        assert!(read.is_closed());
        assert_close(&read.solid(), &expected, 1e-12);
        let (low, high) = read.bounds().unwrap();
        assert_eq!((low, high), (size * -0.5, size * 0.5));
    }
    let read = Mesh::read(dae(size).as_bytes(), "dae").unwrap();
    assert!(read.is_closed());
    let quarter = Pose::rotation([0.0, 0.0, 1.0], PI / 2.0);
    let two = expected.in_outer(&(Pose::translation([1.0, 0.0, 0.0]) * quarter));
    // The mirrored one is not inside out.
    let two = two.welded(&expected.in_outer(&Pose::translation([6.0, 0.0, 0.0])));
    assert_close(&read.solid(), &two, 1e-12);
    assert!(matches!(Mesh::read(b"", "ply"), Err(MeshError::Unknown { .. })));
    assert!(matches!(Mesh::load("there/is/none.stl", &size), Err(MeshError::Unreadable { .. })));
}

#[test]
fn a_scene_that_is_part_of_itself_is_refused() {
    let text = |instances: &str| {
        format!(
            r##"<COLLADA><library_visual_scenes><visual_scene id="s"><node id="a">{instances}</node>
            </visual_scene></library_visual_scenes></COLLADA>"##
        )
    };
    for instances in
        [r##"<instance_node url="#a"/>"##.to_string(), r##"<instance_node url="#a"/>"##.repeat(9)]
    {
        assert!(Mesh::read(text(&instances).as_bytes(), "dae").is_err());
    }
    let deep = "<node>".repeat(5000) + &"</node>".repeat(5000);
    assert!(Mesh::read(text(&deep).as_bytes(), "dae").is_err());
}

#[test]
fn garbage_never_panics() {
    let size = Vector3::new(0.5, 1.0, 2.0);
    let mesh = box_mesh(size);
    let seeds: [(&str, Vec<u8>); 4] = [
        ("stl", binary_stl(&mesh)),
        ("stl", ascii_stl(&mesh, "x").into_bytes()),
        ("obj", obj(&mesh).into_bytes()),
        ("dae", dae(size).into_bytes()),
    ];
    let mut random = Random(5);
    let mut sound = 0;
    for round in 0..8000 {
        let (extension, seed) = &seeds[round % 4];
        let mut bytes = seed.clone();
        for _ in 0..=random.next() % 4 {
            let at = (random.next() % bytes.len().max(1) as u64) as usize;
            let end = (at + (random.next() % 30) as usize).min(bytes.len());
            match random.next() % 6 {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                3 => drop(bytes.splice(at..end, *b" 4294967295 -1 1e999 nan ")),
                _ if at < bytes.len() => bytes[at] = random.next() as u8,
                _ => {}
            }
        }
        if let Ok(mesh) = Mesh::read(&bytes, extension) {
            sound += 1;
            let _ = (mesh.solid(), mesh.hull(), mesh.is_closed());
        }
    }
    assert!((400..7600).contains(&sound), "{sound} read");
}
