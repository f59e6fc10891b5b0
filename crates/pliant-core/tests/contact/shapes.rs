//! Claim: every kind of shape rests on every kind of ground where geometry says, without sinking in or creeping; nothing trips
//! over the inner edges of a surface, and nothing fast passes through a thin one.

use super::{H, run};
use pliant_core::contact::{FreeBodyId, Surface, Surfaces, World};
use pliant_core::mechanism::{Body, Geometry, Shape};
use pliant_core::nalgebra::{UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

const G: f64 = 9.81;

/// Somewhere that is on no line of the grounds' grids.
const AT: [f64; 2] = [0.037, -0.021];

/// A cube with edges of 2 m, closed.
fn cube() -> Surface {
    let corner = |i: u32| [i & 1, (i >> 1) & 1, i >> 2].map(|x| f64::from(x) * 2.0 - 1.0);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Surface { points: (0..8).map(corner).collect(), triangles }
}

/// A pyramid on a square of 2 m, its top 4 m above.
fn pyramid() -> Surface {
    let points =
        vec![[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 3.0]];
    Surface { points, triangles: Vec::new() }
}

/// A sheet of 2 m by 2 m in cells of 1/n, seen from +z.
fn sheet(n: u32) -> Surface {
    let at = |i: u32| f64::from(i) * 2.0 / f64::from(n) - 1.0;
    let points = (0..=n).flat_map(|k| (0..=n).map(move |i| [at(i), at(k), 0.0])).collect();
    let triangles = (0..n * n).flat_map(|c| {
        let a = c / n * (n + 1) + c % n;
        [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]
    });
    Surface { points, triangles: triangles.collect() }
}

fn surfaces() -> Surfaces {
    let named = [("cube", cube()), ("pyramid", pyramid()), ("sheet", sheet(40))];
    named.into_iter().map(|(name, surface)| (name.to_string(), surface)).collect()
}

fn mesh(file: &str, scale: [f64; 3]) -> Geometry {
    Geometry::Mesh { file: file.into(), scale: scale.into() }
}

fn flat(size: f64, cells: usize) -> Geometry {
    Geometry::Heightfield { size: [size; 2], heights: vec![vec![0.0; cells + 1]; cells + 1] }
}

/// Grounds whose top is z = 0 over 4 m by 4 m.
fn grounds() -> Vec<Shape> {
    let slab = Shape::new(Geometry::Box { size: [4.0, 4.0, 1.0].into() });
    let mut all = vec![
        slab.at(Pose::translation([0.0, 0.0, -0.5])),
        Shape::new(mesh("sheet", [2.0, 2.0, 1.0])),
        Shape::new(mesh("cube", [2.0, 2.0, 0.5])).at(Pose::translation([0.0, 0.0, -0.5])),
        Shape::new(flat(4.0, 40)),
        Shape::new(Geometry::Plane),
    ];
    all.iter_mut().for_each(|shape| shape.friction = Some(0.6));
    all
}

/// A body of 1 kg with the inertia of a box of about its size.
fn body(name: &str, shape: Shape, pose: Pose) -> Body {
    let shape = Shape { friction: shape.friction.or(Some(0.6)), ..shape };
    Body::new(name, pose).inertia(SpatialInertia::of_box(1.0, [0.2, 0.16, 0.2])).shape(shape).free()
}

/// Shapes, how they lie, and how high their origin is then.
fn resting() -> Vec<(&'static str, Shape, f64)> {
    let lying = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let capsule = Shape::new(Geometry::Capsule { radius: 0.06, half_length: 0.1 });
    let cylinder = Shape::new(Geometry::Cylinder { radius: 0.08, half_length: 0.1 });
    // Upside down, so that its upper side is on the ground.
    let over = Pose::rotation([1.0, 0.0, 0.0], std::f64::consts::PI);
    vec![
        ("ball", Shape::new(Geometry::Ball { radius: 0.07 }), 0.07),
        ("box", Shape::new(Geometry::Box { size: [0.3, 0.2, 0.16].into() }), 0.08),
        ("capsule lying", capsule.at(lying), 0.06),
        ("cylinder standing", cylinder.clone(), 0.1),
        ("cylinder lying", cylinder.at(lying), 0.08),
        ("convex", Shape::new(Geometry::Convex { file: "pyramid".into(), scale: [0.1; 3].into() }), 0.1),
        ("mesh", Shape::new(mesh("cube", [0.15, 0.1, 0.08])), 0.08),
        ("heightfield", Shape::new(flat(0.3, 3)).at(over), 0.0),
    ]
}

fn position(world: &World, body: FreeBodyId) -> Vector3<f64> {
    world.body(body).unwrap().pose().position
}

fn world(ground: &Shape, gravity: f64) -> World {
    let mut world = World::new([0.0, 0.0, -gravity]);
    world.set_surfaces(surfaces());
    world.add_shape(ground).unwrap();
    world
}

/// Dropped by 1 mm, a shape comes to rest where it just touches, is never deeper than 0.5 mm, and stays.
#[test]
fn everything_rests_on_everything() {
    let mut wrong = Vec::new();
    for ground in grounds() {
        for (name, shape, height) in resting() {
            let on = ground.geometry.name();
            let mut world = world(&ground, G);
            let start = Pose::translation([AT[0], AT[1], height + 1e-3]);
            let id = world.add_body(&body(name, shape, start)).unwrap();
            let mut deepest = 0.0f64;
            for _ in 0..240 {
                deepest = deepest.max(world.step(H).unwrap().penetration);
            }
            let settled = world.body(id).unwrap().pose();
            for _ in 0..720 {
                deepest = deepest.max(world.step(H).unwrap().penetration);
            }
            let pose = world.body(id).unwrap().pose();
            let crept = (pose.position - settled.position).norm();
            let turned = (pose.rotation * settled.rotation.inverse()).angle();
            let tilted = (pose.rotation * Vector3::z() - Vector3::z()).norm();
            let off = pose.position.z - height;
            // Lasting contacts are soft by 1e-3 of their W: g·h·1e-3 is recovered in 1/48 s, 0.9 µm deep at most.
            // What can roll keeps the little speed it lands with: nothing holds it.
            let (stays, level) = if name == "cylinder lying" { (5e-4, 1e-2) } else { (1e-6, 1e-4) };
            if !(off.abs() < 2e-6
                && deepest < 5e-4
                && crept < stays
                && turned < 20.0 * stays
                && tilted < level)
            {
                wrong.push(format!(
                    "{name} on {on}: {:.4} mm off, {:.4} mm deep, crept {:.4} mm and {turned:.6}, tilted {tilted:.6}",
                    off * 1e3,
                    deepest * 1e3,
                    crept * 1e3
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A box and a ball go over the edges of many triangles straight, level, and as far as friction lets them: v²/2µg.
#[test]
fn nothing_trips_over_inner_edges() {
    for ground in grounds() {
        let sliding = [
            ("box", Geometry::Box { size: [0.3, 0.2, 0.16].into() }, 0.08),
            ("ball", Geometry::Ball { radius: 0.07 }, 0.07),
            ("mesh", mesh("cube", [0.15, 0.1, 0.08]), 0.08),
        ];
        for (name, geometry, height) in sliding {
            for angle in [0.0, 0.3, 0.8] {
                let on = ground.geometry.name();
                let ground = Shape { friction: Some(0.1), ..ground.clone() };
                let mut world = world(&ground, G);
                let turn = Pose::rotation([0.0, 0.0, 1.0], angle);
                let start = Pose::translation([-0.6, -0.55, height]) * turn;
                let shape = Shape { friction: Some(0.1), ..Shape::new(geometry.clone()) };
                let id = world.add_body(&body(name, shape, start)).unwrap();
                let along = start.rotation * Vector3::x();
                world.body_mut(id).unwrap().place(start, Twist { linear: along, angular: Vector3::zeros() });
                let (mut highest, mut aside) = (0.0f64, 0.0f64);
                for _ in 0..240 {
                    world.step(H).unwrap();
                    let way = position(&world, id) - start.position;
                    highest = highest.max(way.z.abs());
                    aside = aside.max((way - along * way.dot(&along)).xy().norm());
                }
                assert!(highest < 1e-4, "{name} on {on} at {angle}: {highest} up");
                assert!(aside < 1e-4, "{name} on {on} at {angle}: {aside} aside");
                let way = (position(&world, id) - start.position).dot(&along);
                if name != "ball" {
                    // Of the slide of 0.48 s, half a step is what a step's impulse is early by.
                    let stop = 1.0 / (2.0 * 0.1 * G);
                    assert!(way < 0.6 && (way / stop - 1.0).abs() < 0.01, "{name} on {on}: {way} for {stop}");
                } else {
                    assert!(way > 0.5, "{name} on {on}: {way}");
                }
            }
        }
    }
}

/// Bodies of 20 m/s, which is 83 mm a step, stop at surfaces without a thickness, wherever in a step they meet them.
#[test]
fn nothing_fast_passes_through() {
    for ground in grounds() {
        let flying = [
            (Geometry::Ball { radius: 0.01 }, 0.01),
            (Geometry::Box { size: [0.02; 3].into() }, 0.01),
            (Geometry::Capsule { radius: 0.01, half_length: 0.01 }, 0.02),
            (Geometry::Cylinder { radius: 0.01, half_length: 0.01 }, 0.01),
            (Geometry::Convex { file: "pyramid".into(), scale: [0.01; 3].into() }, 0.01),
            (mesh("cube", [0.01; 3]), 0.01),
        ];
        for (geometry, height) in flying {
            let (name, on) = (geometry.name(), ground.geometry.name());
            for i in 0..12 {
                let mut world = world(&ground, 0.0);
                let z = 0.5 + 0.007 * f64::from(i);
                let start = Pose::translation([AT[0], AT[1], z]);
                let id = world.add_body(&body(name, Shape::new(geometry.clone()), start)).unwrap();
                let twist = Twist { linear: Vector3::new(0.0, 0.0, -20.0), angular: Vector3::zeros() };
                world.body_mut(id).unwrap().place(start, twist);
                let mut lowest = f64::INFINITY;
                for _ in 0..60 {
                    world.step(H).unwrap_or_else(|error| panic!("{name} on {on} from {z}: {error}"));
                    let pose = world.body(id).unwrap().pose();
                    lowest = lowest.min(pose.position.z);
                }
                // 0.5 mm deep at most; it may be driven out again.
                assert!(lowest > height - 5e-4, "{name} through {on} from {z}: {lowest}");
                assert!(position(&world, id).z < 0.2, "{name} did not reach {on}");
            }
        }
    }
}

/// Rows of heights go from −y to +y and each from −x to +x: balls lie on four plateaus at the corners.
#[test]
fn heights_are_where_the_file_has_them() {
    let of = |row: usize, column: usize| match (row, column) {
        (0..2, 0..2) => 0.1,
        (0..2, 4..6) => 0.2,
        (4..6, 0..2) => 0.3,
        (4..6, 4..6) => 0.4,
        _ => 0.0,
    };
    // Not square: x and y are told apart by their lengths too.
    let heights = (0..6).map(|row| (0..6).map(|column| of(row, column)).collect()).collect();
    let ground = Shape::new(Geometry::Heightfield { size: [3.0, 2.0], heights });
    let moved = Pose::translation([10.0, 0.0, 1.0]);
    for (x, y, z) in [(-1.2, -0.8, 0.1), (1.2, -0.8, 0.2), (-1.2, 0.8, 0.3), (1.2, 0.8, 0.4)] {
        let mut world = world(&ground.clone().at(moved), G);
        let shape = Shape::new(Geometry::Ball { radius: 0.05 });
        let id = world.add_body(&body("ball", shape, Pose::translation([10.0 + x, y, 1.5]))).unwrap();
        run(&mut world, 480);
        let at = position(&world, id);
        assert!((at - Vector3::new(10.0 + x, y, 1.0 + z + 0.05)).norm() < 1e-5, "({x}, {y}): {at:?}");
    }
}

/// A ball on the slope of a surface rolls down with 5/7 g sin α, whichever the surface is made of.
#[test]
fn a_ball_rolls_down_a_slope_of_triangles() {
    let angle = 0.2f64;
    let tilt = Pose::rotation([0.0, 1.0, 0.0], angle);
    for ground in grounds() {
        let on = ground.geometry.name();
        let ground = Shape { pose: tilt * ground.pose, friction: Some(1.0), ..ground };
        let mut world = world(&ground, G);
        let start = tilt * Pose::translation([AT[0], AT[1], 0.07]);
        let inertia = SpatialInertia::of_box(1.0, [0.07 * 2.4f64.sqrt(); 3]); // m a²/6 = 2/5 m r²
        let shape = Shape { friction: Some(1.0), ..Shape::new(Geometry::Ball { radius: 0.07 }) };
        let id = world.add_body(&Body::new("ball", start).inertia(inertia).shape(shape).free()).unwrap();
        run(&mut world, 240);
        let speed = world.body(id).unwrap().twist().linear.dot(&(tilt.rotation * Vector3::x()));
        let expected = 5.0 / 7.0 * G * angle.sin();
        // The point of contact is as deep as lasting contacts are soft.
        assert!((speed / expected - 1.0).abs() < 1e-4, "{on}: {speed} for {expected}");
    }
}

/// Boxes of a mesh on boxes of a mesh, turned against each other.
#[test]
fn meshes_stand_on_meshes() {
    let mut world = world(&grounds()[0], G);
    let turned = |i: usize| Pose::rotation([0.0, 0.0, 1.0], 0.3 * i as f64);
    let ids: Vec<_> = (0..4)
        .map(|i| {
            let pose = Pose::translation([0.0, 0.0, 0.1 + 0.2 * i as f64]) * turned(i);
            let name = format!("box{i}");
            world.add_body(&body(&name, Shape::new(mesh("cube", [0.1; 3])), pose)).unwrap()
        })
        .collect();
    let mut deepest = 0.0f64;
    for _ in 0..720 {
        deepest = deepest.max(world.step(H).unwrap().penetration);
    }
    assert!(deepest < 5e-4, "{deepest}");
    for (i, id) in ids.iter().enumerate() {
        let pose = world.body(*id).unwrap().pose();
        let expected = Vector3::new(0.0, 0.0, 0.1 + 0.2 * i as f64);
        assert!((pose.position - expected).norm() < 1e-4, "box {i}: {:?}", pose.position);
        let turn: UnitQuaternion<f64> = pose.rotation * turned(i).rotation.inverse();
        assert!(turn.angle() < 1e-3, "box {i} turned by {}", turn.angle());
    }
}

/// Whichever comes first, normals point out of the first into the second: a ball next to a turned box, a millimetre from it.
#[test]
fn normals_point_into_the_second() {
    let ball = |at: f64| {
        body("ball", Shape::new(Geometry::Ball { radius: 0.07 }), Pose::translation([at, 0.013, -0.02]))
    };
    let turn = Pose::rotation([0.0, 1.0, 0.0], 0.3);
    let block = || body("box", Shape::new(Geometry::Box { size: [0.3, 0.2, 0.16].into() }), turn);
    let side = turn.rotation * Vector3::x();
    // The ball's centre, seen along the normal of the side that it is at, is 0.15 + 0.07 + 0.001 away.
    let at = (0.221 + 0.02 * side.z) / side.x;
    for ball_first in [true, false] {
        let mut world = World::new([0.0; 3]);
        let bodies = if ball_first { [ball(at), block()] } else { [block(), ball(at)] };
        let [first, _] = bodies.map(|body| world.add_body(&body).unwrap());
        // Toward the other, so that they look as far.
        let toward = if ball_first { -side } else { side };
        let pose = world.body(first).unwrap().pose();
        world.body_mut(first).unwrap().place(pose, Twist { linear: toward, angular: Vector3::zeros() });
        world.step(H).unwrap();
        let [contact] = world.contacts() else { panic!("{:?}", world.contacts()) };
        assert!((contact.normal - toward).norm() < 1e-12, "{contact:?}");
        assert!((contact.gap - 1e-3).abs() < 1e-12, "{contact:?}");
        assert!(contact.force.dot(&contact.normal) > 0.0);
    }
}

/// Flat sides of boxes and cylinders, on which boxes, cylinders that stand and lie, and capsules just touch, 1e-6 of their size apart or as
/// deep, from 0.1 mm to 100 m, turned anyhow: gaps and normals are those of the geometry. Where two flat sides just touch, a search for the
/// nearest points has nothing to go by.
#[test]
fn flat_sides_that_just_touch() {
    let mut cases = 0;
    for (seed, size) in (0..12u64).flat_map(|seed| [1e-4, 1e-2, 1.0, 1e2].map(|size| (seed, size))) {
        let mut numbers = crate::common::forest::Numbers(seed * 31 + 7);
        let turn = Pose::translation([0.0; 3]) * Pose::rotation([0.6, 0.0, 0.8], 3.0 * numbers.next());
        let turn = turn * Pose::rotation([0.0, 0.6, 0.8], 3.0 * numbers.next());
        let below = [
            Geometry::Box { size: Vector3::new(3.0, 3.0, 1.0) * size },
            Geometry::Cylinder { radius: 2.0 * size, half_length: 0.5 * size },
        ];
        let lying = Pose::rotation([1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2);
        let cylinder = Geometry::Cylinder { radius: 0.5 * size, half_length: 0.6 * size };
        // With how high their frames are above what they stand on.
        let above = [
            (Geometry::Box { size: Vector3::new(0.6, 0.8, 1.0) * size }, Pose::identity(), 0.5),
            (cylinder.clone(), Pose::identity(), 0.6),
            (cylinder, lying, 0.5),
            (Geometry::Capsule { radius: 0.3 * size, half_length: 0.4 * size }, lying, 0.3),
            (Geometry::Capsule { radius: 0.3 * size, half_length: 0.4 * size }, Pose::identity(), 0.7),
        ];
        for ground in &below {
            for (geometry, posture, height) in &above {
                for gap in [0.0, 1e-6, -1e-6, 1e-9, -1e-9] {
                    let mut world = World::new([0.0; 3]);
                    let sunk = Pose::translation([0.0, 0.0, -0.5 * size]);
                    world.add_shape(&Shape::new(ground.clone()).at(turn * sunk)).unwrap();
                    let aside = [0.2 * numbers.next() * size, 0.2 * numbers.next() * size];
                    let at = Pose::translation([aside[0], aside[1], (height + gap) * size]);
                    let about = Pose::rotation([0.0, 0.0, 1.0], 3.0 * numbers.next());
                    let body = Body::new("body", turn * at * about * *posture)
                        .inertia(SpatialInertia::of_box(1.0, [size; 3]))
                        .shape(Shape::new(geometry.clone()));
                    world.add_body(&body).unwrap();
                    world.step(1e-6).unwrap();
                    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
                    let nearest = world.contacts().iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
                    let nearest = nearest.unwrap_or_else(|| panic!("{geometry:?} on {ground:?}: not found"));
                    // Rounding of places of a few sizes.
                    let off = (nearest.gap / size - gap).abs();
                    let tilt = (nearest.normal - turn.rotation * Vector3::z()).norm();
                    assert!(
                        off < 1e-12 && tilt < 1e-12,
                        "{geometry:?} on {ground:?}, {gap}: {off:.1e}, {tilt:.1e}"
                    );
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 48 * 2 * 5 * 5);
}
