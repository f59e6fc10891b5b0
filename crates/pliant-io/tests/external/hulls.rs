//! Claim: the hulls of real robots' links, dropped from 6 cm on a plane, a box and a height field, come to rest without sinking in
//! and stay where they are.
//!
//! Each hull starts with one of its sides down: that on which it is hardest to tip over.

use libtest_mimic::Trial;
use pliant_core::contact::{Surface, Surfaces, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::{UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};
use pliant_io::import::mesh::Mesh;

use crate::trial::{Found, trial};
use crate::wheels;

const DT: f64 = 1.0 / 240.0;

/// Seconds to come to rest in, and for which it is watched then.
const SETTLE: usize = 2;
const WATCH: usize = 10;

/// One mesh in so many is tried.
const EVERY: usize = 2;

/// kg/m³.
const DENSITY: f64 = 500.0;

pub fn trials() -> Vec<Trial> {
    vec![trial("hulls::links_of_real_robots_lie_still", links_of_real_robots_lie_still)]
}

/// What came of a drop.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// Deepest overlap of all steps, m.
    depth: f64,
    /// Way and turn in the ten seconds after, m and rad.
    drift: (f64, f64),
}

impl Outcome {
    fn is_good(&self) -> bool {
        self.depth < 0.5e-3 && self.drift.0 < 0.5e-3 && self.drift.1 < 0.5f64.to_radians()
    }
}

/// A hull with its inertia, its centre of mass at the origin, and how it is turned to lie on its steadiest side, with the angle by
/// which it can be tipped there, rad.
fn steadiest(hull: &Mesh) -> (SpatialInertia, UnitQuaternion<f64>, f64) {
    let solid = hull.solid();
    let center = solid.center_of_mass;
    let mut planes: Vec<(Vector3<f64>, f64)> = Vec::new();
    for triangle in &hull.triangles {
        let [a, b, c] = triangle.map(|i| hull.points[i as usize]);
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
        planes.push((normal, normal.dot(&(a - center))));
    }
    // Over a side, seen along it, the way from the centre to the nearest edge of all corners that lie in it.
    let extent = hull.points.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
    let mut best = (0.0, Vector3::z());
    for (normal, height) in &planes {
        let on: Vec<Vector3<f64>> = (hull.points.iter())
            .map(|p| p - center)
            .filter(|p| normal.dot(p) > height - 1e-4 * extent)
            .map(|p| p - normal * normal.dot(&p))
            .collect();
        // The least reach over directions around the normal.
        let across = normal.cross(&Vector3::new(0.3, 0.5, 0.8)).normalize();
        let other = normal.cross(&across);
        let reach = |angle: f64| {
            let d = across * angle.cos() + other * angle.sin();
            on.iter().map(|p| d.dot(p)).fold(f64::NEG_INFINITY, f64::max)
        };
        let least =
            (0..48).map(|k| reach(f64::from(k) * std::f64::consts::TAU / 48.0)).fold(f64::INFINITY, f64::min);
        let tip = (least / height).atan();
        if tip > best.0 {
            best = (tip, *normal);
        }
    }
    let turn = UnitQuaternion::rotation_between(&best.1, &-Vector3::z())
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    (solid, turn, best.0)
}

fn grounds() -> [(&'static str, Shape); 3] {
    let slab = Geometry::Box { size: [40.0, 40.0, 1.0].into() };
    let field = Geometry::Heightfield { size: [20.0; 2], heights: vec![vec![0.0; 101]; 101] };
    [
        ("plane", Shape::new(Geometry::Plane)),
        ("box", Shape::new(slab).at(Pose::translation([0.0, 0.0, -0.5]))),
        ("field", Shape::new(field)),
    ]
}

fn drop(hull: &Mesh, solid: &SpatialInertia, turn: &UnitQuaternion<f64>, ground: &Shape) -> Outcome {
    let points = hull.points.iter().map(|p| p - solid.center_of_mass);
    let low = points.clone().map(|p| (turn * p).z).fold(f64::INFINITY, f64::min);
    let surface =
        Surface { points: points.map(|p| [p.x, p.y, p.z]).collect(), triangles: hull.triangles.clone() };
    let mut world = World::new([0.0, 0.0, -9.81]);
    world.set_surfaces(Surfaces::from([("hull".into(), surface)]));
    world.add_shape(ground).unwrap();
    let inertia = SpatialInertia {
        mass: solid.mass * DENSITY,
        center_of_mass: Vector3::zeros(),
        inertia: solid.inertia * DENSITY,
    };
    let shape = Shape::new(Geometry::Convex { file: "hull".into(), scale: Vector3::repeat(1.0) });
    let start = Pose::new(*turn, Vector3::new(0.0137, -0.0221, 0.06 - low));
    let body = world.add_body(&Body::new("hull", start).inertia(inertia).shape(shape).free()).unwrap();
    let mut outcome = Outcome::default();
    let mut rest = start;
    for step in 0..240 * (SETTLE + WATCH) {
        let report = world.step(DT).unwrap();
        outcome.depth = outcome.depth.max(report.penetration);
        if step == 240 * SETTLE - 1 {
            rest = world.body(body).unwrap().pose();
        }
    }
    let end = world.body(body).unwrap().pose();
    outcome.drift = ((end.position - rest.position).norm(), end.rotation.angle_to(&rest.rotation));
    outcome
}

/// Of all packages with `PLIANT_ALL_ROBOTS=1`, every second mesh of each; otherwise of the smaller two.
fn links_of_real_robots_lie_still() -> Found<()> {
    let mut folders =
        vec![wheels::wheel("example-robot-data", "5.0.0")?, wheels::wheel("mujoco-mjx", "3.17.0")?];
    if std::env::var_os("PLIANT_ALL_ROBOTS").is_some() {
        folders.push(wheels::wheel("robosuite", "1.5.2")?);
        folders.push(wheels::wheel("genesis-world", "1.4.5")?);
        folders.push(wheels::wheel("pybullet", "3.2.7")?);
    }
    let (mut hulls, mut bad) = (0, Vec::new());
    let mut drops = 0;
    for folder in folders {
        let mut files: Vec<_> =
            ["stl", "STL", "obj"].iter().flat_map(|extension| wheels::files(&folder, extension)).collect();
        files.sort();
        for path in files.iter().step_by(EVERY) {
            let Ok(mesh) = Mesh::load(path, &Vector3::repeat(1.0)) else { continue };
            let Some((low, high)) = mesh.bounds() else { continue };
            // Some files are in mm.
            let scale = if (high - low).amax() > 5.0 { 1e-3 } else { 1.0 };
            let Ok(hull) = mesh.scaled(&Vector3::repeat(scale)).hull() else { continue };
            let (solid, turn, tip) = steadiest(&hull);
            if solid.mass < 1e-9 {
                continue;
            }
            hulls += 1;
            // One ground each, in turn, unless there is time.
            for (i, (name, ground)) in grounds().iter().enumerate() {
                if i != hulls % 3 && std::env::var_os("PLIANT_ALL_ROBOTS").is_none() {
                    continue;
                }
                let outcome = drop(&hull, &solid, &turn, ground);
                drops += 1;
                assert!(outcome.depth < 0.5e-3, "{} on the {name}: {outcome:?}", path.display());
                if !outcome.is_good() {
                    let file = path.strip_prefix(&folder).unwrap_or(path).display();
                    let tip = tip.to_degrees();
                    bad.push(format!("{file} on the {name}, tips at {tip:.1}°: {outcome:?}"));
                }
            }
        }
    }
    println!("{hulls} hulls, {drops} drops, {} that drift:\n{}", bad.len(), bad.join("\n"));
    assert!(hulls >= 200 && (bad.len() as f64) < 0.05 * f64::from(drops), "{} of {drops}", bad.len());
    Ok(())
}
