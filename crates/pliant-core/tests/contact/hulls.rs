//! Claim: hulls whose soles have no exact face, as files of robots have them, rest as boxes do: tessellated, bent, with rounded rims,
//! with the digits of single precision, of any size, on every kind of ground and on each other.

use std::f64::consts::TAU;

use pliant_core::contact::{FreeBodyId, Surface, Surfaces, Touched, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::{UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use crate::common::forest::Numbers;

const H: f64 = 1.0 / 240.0;

/// A foot: its sole z = 0 about an oval of 2 by 1 with rounded rims, bent by `bend`, off by `noise` at each point, its top smaller and
/// at 0.6. All corners of the sole are within `bend` and `noise` of a plane, none of its faces is flat.
fn foot(numbers: &mut Numbers, around: usize, bend: f64, noise: f64) -> Surface {
    let mut points = Vec::new();
    for (ring, (out, up)) in
        [(0.5, 0.0), (0.85, 0.0), (0.95, 0.01), (1.0, 0.05), (0.6, 0.6)].into_iter().enumerate()
    {
        for k in 0..around {
            let angle = TAU * (k as f64 + 0.5 * (ring % 2) as f64) / around as f64;
            let (x, y) = (out * angle.cos(), 0.5 * out * angle.sin());
            let mut off = || noise * numbers.next();
            let p = [x + off(), y + off(), up + bend * (x * x + 2.0 * y * y) + off()];
            // As files have them.
            points.push(p.map(|x| f64::from(x as f32)));
        }
    }
    Surface { points, triangles: Vec::new() }
}

/// Grounds whose top is z = 0.
fn grounds(size: f64) -> Vec<Shape> {
    let slab = Shape::new(Geometry::Box { size: Vector3::new(40.0, 40.0, 4.0) * size });
    let field = Geometry::Heightfield { size: [20.0 * size; 2], heights: vec![vec![0.0; 61]; 61] };
    vec![Shape::new(Geometry::Plane), slab.at(Pose::translation([0.0, 0.0, -2.0 * size])), Shape::new(field)]
}

fn world(foot: Surface, ground: &Shape, size: f64) -> World {
    // Gravity in proportion, so that a scene of any size is the same.
    let mut world = World::new([0.0, 0.0, -9.81 * size / 0.1]);
    world.set_surfaces(Surfaces::from([("foot".into(), foot)]));
    world.add_shape(ground).unwrap();
    world
}

fn convex(size: f64) -> Shape {
    Shape::new(Geometry::Convex { file: "foot".into(), scale: Vector3::repeat(size) })
}

/// Its frame is at the centre of mass.
fn body(name: &str, size: f64, mass: f64, pose: Pose) -> Body {
    let up = Pose::translation([0.0, 0.0, -0.2 * size]);
    let inertia = SpatialInertia::of_box(mass, [1.6 * size, 0.8 * size, 0.5 * size]);
    Body::new(name, pose).inertia(inertia).shape(convex(size).at(up)).free()
}

fn pose(world: &World, id: FreeBodyId) -> Pose {
    world.body(id).unwrap().pose()
}

/// Dropped by six tenths of their size, flat and tilted, 216 feet come to rest: never deeper than 5e-3 of their size, at rest within
/// 2e-4 of where the sole just touches, on three points or more, with their weight on these, and where they are they stay.
#[test]
fn soles_without_a_face_rest() {
    let mut numbers = Numbers(20);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for size in [1e-3, 0.1, 10.0] {
        for (around, bend, noise) in [
            (8, 0.0, 0.0),
            (24, 0.0, 1e-5),
            (24, 1e-3, 0.0),
            (40, 0.0, 1e-4),
            (64, 2e-3, 1e-5),
            (128, 0.0, 1e-6),
        ] {
            for tilt in [0.0, 0.02, 0.2, 0.5] {
                let foot = foot(&mut numbers, around, bend, noise);
                for ground in &grounds(size) {
                    let mut world = world(foot.clone(), ground, size);
                    let turn = UnitQuaternion::from_euler_angles(0.3 * tilt, tilt, 0.7);
                    let start = Pose::new(turn, Vector3::new(0.037, -0.021, 0.9) * size);
                    let id = world.add_body(&body("foot", size, 0.4, start)).unwrap();
                    let mut deepest = 0.0f64;
                    for _ in 0..480 {
                        deepest = deepest.max(world.step(H).unwrap().penetration);
                    }
                    let rest = pose(&world, id);
                    let (mut force, mut points) = (0.0, Vec::new());
                    for step in 0..720 {
                        deepest = deepest.max(world.step(H).unwrap().penetration);
                        if step < 480 {
                            continue;
                        }
                        for contact in world.contacts().iter().filter(|c| c.force.z > 0.0) {
                            force += contact.force.z / 240.0;
                            let near = |p: &Vector3<f64>| (p - contact.point).norm() < 1e-2 * size;
                            if !points.iter().any(near) {
                                points.push(contact.point);
                            }
                        }
                    }
                    let end = pose(&world, id);
                    let (moved, turned) =
                        ((end.position - rest.position).norm() / size, end.rotation.angle_to(&rest.rotation));
                    let weight = 0.4 * 9.81 * size / 0.1;
                    let off = (end.position.z / size - 0.2).abs();
                    count += 1;
                    // A bent sole rests on what is lowest of it, up to its bend and noise from z = 0, and rocks there by what its
                    // corners differ; hulls are taken to 1e-4.
                    let is_good = deepest < 5e-3 * size
                        && moved < 5e-4 + 20.0 * noise
                        && turned < 5e-4 + 20.0 * noise
                        && off < 2e-4 + bend + 2.0 * noise
                        && points.len() >= 3
                        && (force / weight - 1.0).abs() < 1e-3;
                    if !is_good {
                        wrong.push(format!(
                            "{size} m, {around} around, bend {bend}, noise {noise}, tilt {tilt}, {}: {:.1e} deep, {off:.1e} off, crept {moved:.1e} and {turned:.1e} rad, {} points, force {:.6} of the weight",
                            ground.geometry.name(), deepest / size, points.len(), force / weight
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Three feet of unlike meshes stand on each other's tops, and a ball, a box, a capsule and a cylinder lie on one.
#[test]
fn hulls_carry_everything() {
    let mut numbers = Numbers(21);
    let size = 0.1;
    let top = 0.6 * size;
    let lying = Pose::rotation([0.0, 1.0, 0.0], TAU / 4.0);
    let shapes = [
        ("hull", convex(size).at(Pose::translation([0.0, 0.0, -0.2 * size])), 0.2 * size),
        ("box", Shape::new(Geometry::Box { size: Vector3::new(0.06, 0.05, 0.04) }), 0.02),
        ("ball", Shape::new(Geometry::Ball { radius: 0.03 }), 0.03),
        ("capsule", Shape::new(Geometry::Capsule { radius: 0.01, half_length: 0.02 }).at(lying), 0.01),
        ("cylinder", Shape::new(Geometry::Cylinder { radius: 0.02, half_length: 0.015 }), 0.015),
    ];
    for (name, shape, above) in shapes {
        let mut world = world(foot(&mut numbers, 24, 0.0, 1e-5), &Shape::new(Geometry::Plane), size);
        let start = Pose::translation([0.01, 0.02, 0.2 * size]);
        let low = world.add_body(&body("low", size, 1.0, start)).unwrap();
        let inertia = SpatialInertia::of_box(0.3, [0.06, 0.05, 0.04]);
        let start = Pose::translation([0.012, 0.021, top + above + 1e-3]);
        let high = world.add_body(&Body::new(name, start).inertia(inertia).shape(shape).free()).unwrap();
        let (mut deepest, mut force, mut rest) = (0.0f64, 0.0, start);
        for step in 0..720 {
            deepest = deepest.max(world.step(H).unwrap().penetration);
            let ground = world.contacts().iter().filter(|c| c.first == Touched::World);
            force += ground.map(|c| c.force.z).filter(|_| step >= 480).sum::<f64>() / 240.0;
            if step == 480 {
                rest = pose(&world, high);
            }
        }
        let off = pose(&world, high).position.z - top - above;
        assert!(deepest < 1e-4 && off.abs() < 5e-5, "{name}: {off:.1e} off, {deepest:.1e} deep");
        // Nothing stops what rolls on a top that is not quite flat.
        let turned = pose(&world, high).rotation.angle_to(&rest.rotation);
        assert!(["ball", "capsule"].contains(&name) || turned < 1e-3, "{name} turned by {turned:.1e} rad");
        assert!((force / (1.3 * 9.81) - 1.0).abs() < 1e-4, "{name}: {force} N");
        assert!(pose(&world, low).position.z - 0.2 * size < 5e-5);
    }
}
