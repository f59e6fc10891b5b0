//! Claim: real legged robots stand on a plane, held by the springs that their files get by default, in `articulated` and `full`: on their
//! feet, which carry the weight, do not sink in and do not creep, at the same height in both. `bench/robots/standing.py` has their heights in
//! MuJoCo next to these.

use std::path::Path;

use libtest_mimic::Trial;
use pliant_core::contact::{Scene, Surfaces, Touched};
use pliant_core::engine::Simulation;
use pliant_core::mechanism::{Geometry, Mechanism, Shape};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;
use pliant_core::{articulated, full};
use pliant_io::import::Options;

use crate::trial::{Found, trial};
use crate::wheels;

const DT: f64 = 1.0 / 240.0;

/// Seconds that they stand, and fewer unless `PLIANT_ALL_ROBOTS` is set; forces are means over the last one.
const LONG: usize = 10;
const SHORT: usize = 3;

/// Robots of example-robot-data that stand, those of the shorter run first.
const STANDING: &str = include_str!("../../../../bench/robots/standing.txt");
const FEW: usize = 12;

/// What creeps more than a hundredth of a millimetre a second, and by how much at most, m/s: its feet rock from corner to corner.
const CREEPING: [(&str, f64); 1] = [("go1_description/urdf/go1.urdf", 5e-4)];

/// Robots that cannot stand as their files have them, and why: they fall.
const FALLING: [(&str, &str); 1] = [("bolt_description/robots/bolt.urdf", "two feet that are points")];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("standing::legged_robots_stand", legged_robots_stand),
        trial("standing::robots_without_support_fall", robots_without_support_fall),
    ]
}

/// A robot that stands on a plane.
struct Robot {
    mechanism: Mechanism,
    surfaces: Surfaces,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Deepest overlap of all steps, m.
    depth: f64,
    /// How far the base has gone down since the start, and the way it went in the last second, m.
    fall: f64,
    creep: f64,
    /// The mean force of the plane in the last second, over the weight.
    weight: f64,
}

/// How low a shape at a pose reaches, m.
fn lowest(shape: &Shape, pose: &Pose, surfaces: &Surfaces) -> f64 {
    let place = *pose * shape.pose;
    let height = |p: Vector3<f64>| place.transform_point(&p).z;
    let axis = place.rotation * Vector3::z();
    match &shape.geometry {
        Geometry::Box { size } => {
            let half = size * 0.5;
            (0..8)
                .map(|i| Vector3::from_fn(|k, _| if i >> k & 1 == 0 { -half[k] } else { half[k] }))
                .map(height)
                .fold(f64::INFINITY, f64::min)
        }
        Geometry::Ball { radius } => place.position.z - radius,
        Geometry::Capsule { radius, half_length } => place.position.z - radius - half_length * axis.z.abs(),
        Geometry::Cylinder { radius, half_length } => {
            let across = (1.0 - axis.z * axis.z).max(0.0).sqrt();
            place.position.z - half_length * axis.z.abs() - radius * across
        }
        Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => {
            let points = surfaces[file].points.iter();
            points.map(|p| height(Vector3::from(*p).component_mul(scale))).fold(f64::INFINITY, f64::min)
        }
        _ => f64::INFINITY,
    }
}

impl Robot {
    /// With a plane at its feet.
    fn load(file: &Path) -> Robot {
        let options = Options { free_base: true, ..Options::default() };
        let mechanism = pliant_io::load_with(file, &options).unwrap_or_else(|error| panic!("{error}"));
        let surfaces = pliant_io::surfaces(&mechanism, file, &options).unwrap();
        let poses = articulated::Model::new(&mechanism).simulate().state().poses.clone();
        let touching = mechanism.bodies().iter().zip(&poses).flat_map(|(body, pose)| {
            body.shapes.iter().filter(|shape| shape.touches).map(move |shape| (shape, pose))
        });
        let low = touching.map(|(shape, pose)| lowest(shape, pose, &surfaces)).fold(f64::INFINITY, f64::min);
        let mut builder = mechanism.to_builder();
        let plane = Shape { friction: Some(1.0), ..Shape::new(Geometry::Plane) };
        builder.world_shape(plane.at(Pose::translation([0.0, 0.0, low])));
        Robot { mechanism: builder.build().unwrap(), surfaces }
    }

    fn stand<S: Into<Box<dyn Simulation>>>(
        &self,
        simulate: impl FnOnce(&Mechanism) -> S,
        seconds: usize,
    ) -> Outcome {
        let mut scene = Scene::new(&self.mechanism, self.surfaces.clone(), simulate).unwrap();
        let base = |scene: &mut Scene| scene.state().poses[0].position;
        let start = base(&mut scene);
        let (mut before, mut force, mut depth) = (start, 0.0, 0.0f64);
        let steps = 240 * seconds;
        for step in 0..steps {
            if step == steps - 240 {
                before = base(&mut scene);
            }
            scene.step(DT).unwrap();
            depth = depth.max(scene.report().penetration);
            if step >= steps - 240 {
                force -= scene.world().force_on(Touched::World).unwrap().force.z / 240.0;
            }
        }
        let end = base(&mut scene);
        let weight = force / (self.mechanism.mass() * self.mechanism.gravity().norm());
        Outcome { depth, fall: start.z - end.z, creep: (end - before).norm(), weight }
    }

    fn articulated(&self, seconds: usize) -> Outcome {
        self.stand(|held| articulated::Model::new(held).simulate(), seconds)
    }
}

fn seconds() -> usize {
    if std::env::var_os("PLIANT_ALL_ROBOTS").is_some() { LONG } else { SHORT }
}

fn legged_robots_stand() -> Found<()> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?.join(ROBOTS);
    let seconds = seconds();
    let count = if seconds == LONG { STANDING.lines().count() } else { FEW };
    let mut wrong = Vec::new();
    for name in STANDING.lines().take(count) {
        let robot = Robot::load(&folder.join(name));
        let joints = robot.articulated(seconds);
        let links = robot.stand(|held| full::Model::new(held).simulate(), seconds);
        println!("{name}: {joints:?}, full {links:?}");
        for (engine, outcome) in [("articulated", joints), ("full", links)] {
            let creep =
                CREEPING.iter().find(|(creeping, _)| *creeping == name).map_or(1e-5, |(_, most)| *most);
            let stands = outcome.depth < 1e-3 && outcome.fall.abs() < 0.01 && outcome.creep < creep;
            if !(stands && (outcome.weight - 1.0).abs() < 1e-3) {
                wrong.push(format!("{name} in {engine}: {outcome:?}"));
            }
        }
        if (joints.fall - links.fall).abs() > 1e-3 {
            wrong.push(format!("{name}: {joints:?} but {links:?} in full"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

fn robots_without_support_fall() -> Found<()> {
    let folder = wheels::wheel("example-robot-data", "5.0.0")?.join(ROBOTS);
    for (name, why) in FALLING {
        let outcome = Robot::load(&folder.join(name)).articulated(SHORT);
        assert!(outcome.fall > 0.1 && outcome.depth < 1e-3, "{name}, with {why}: {outcome:?}");
    }
    Ok(())
}

/// Where the robots are in the wheel.
const ROBOTS: &str = "cmeel.prefix/share/example-robot-data/robots";
