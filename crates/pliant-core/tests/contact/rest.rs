//! Claim: where a scene rests on what it touches, with what forces, and how much friction it needs is what closed forms say: a block on
//! a slope, a ladder at a wall, a block between two fingers, a table on springs; and it is where the motion comes to rest.

use pliant_core::contact::{Grip, Scene, Surfaces, Touched};
use pliant_core::engine::Simulation;
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape,
};
use pliant_core::nalgebra::{DMatrix, Matrix6, UnitQuaternion, Vector3, Vector6};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench, log};
use pliant_core::{articulated, full, gallery};

const G: f64 = 9.81;

fn cuboid(size: [f64; 3], friction: f64) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(Geometry::Box { size: size.into() }) }
}

fn plane(friction: f64, pose: Pose) -> Shape {
    Shape { friction: Some(friction), ..Shape::new(Geometry::Plane) }.at(pose)
}

fn loose(mechanism: &Mechanism) -> Scene {
    Scene::new(mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate()).unwrap()
}

/// A block on a plane at an angle needs tan(angle)/µ of its friction, of any size and mass; past that it slides, and says so.
#[test]
fn block_on_a_slope() {
    let friction = 0.6;
    for (size, mass) in [(1e-3, 1e-6), (0.1, 2.0), (10.0, 1e6)] {
        for part in [0.0, 0.3, 0.9, 0.99, 1.01, 1.5] {
            let angle = f64::atan(part * friction);
            let turn = Pose::rotation([0.0, 1.0, 0.0], angle);
            let mut builder = MechanismBuilder::new("slope");
            builder.gravity([0.0, 0.0, -G * size / 0.1]);
            builder.world_shape(plane(friction, turn));
            let start = turn * Pose::translation([0.0, 0.0, 0.26 * size]);
            let edges = [1.2, 0.8, 0.5].map(|edge| edge * size);
            let inertia = SpatialInertia::of_box(mass, edges);
            builder.body(Body::new("block", start).inertia(inertia).shape(cuboid(edges, friction)).free());
            let mut scene = loose(&builder.build().unwrap());
            let rest = scene.rest_with_margin().unwrap();
            assert_eq!(rest.converged, part < 1.0, "{size} m at {part}: {rest:?}");
            if part > 1.0 {
                assert_eq!(rest.unheld, Some(("block".into(), true)), "it slides");
                continue;
            }
            // Bisected to 2⁻¹⁴, and what moves by less than 1e-12 radii a step counts as held.
            let needed = rest.friction_needed.unwrap();
            assert!((needed - part).abs() < 2e-4, "{size} m: {needed} of {part}");
            let weight = mass * G * size / 0.1;
            let force: Vector3<f64> = scene.world().contacts().iter().map(|contact| contact.force).sum();
            assert!((force - Vector3::z() * weight).norm() < 1e-6 * weight, "{force} of {weight}");
            let pushing = scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0);
            assert!(pushing.clone().count() >= 3 && pushing.into_iter().all(|c| c.grip() == Grip::Sticks));
        }
    }
}

/// A ladder of length l with round ends of radius r, mass m at its middle, at an angle a to a floor with µ, at a wall without friction:
/// the wall pushes with mg ½l cos a/(l sin a + r), because friction acts r below the lower end's centre, and µ must hold that.
#[test]
fn ladder_at_a_wall() {
    let (length, mass, thick) = (3.0, 12.0, 0.02);
    for (angle, friction, stays) in [(1.2f64, 0.5, true), (1.0, 0.5, true), (0.7, 0.5, false)] {
        let mut builder = MechanismBuilder::new("ladder");
        builder.world_shape(plane(friction, Pose::identity()));
        let wall = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
        builder.world_shape(plane(0.0, wall));
        // It leans to −x, at the wall x = 0; two rails as capsules.
        let along = Vector3::new(-angle.cos(), 0.0, angle.sin());
        let middle =
            Vector3::new(0.5 * length * angle.cos() + thick, 0.0, 0.5 * length * angle.sin() + thick);
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap();
        let capsule = Geometry::Capsule { radius: thick, half_length: 0.5 * length };
        let rail = |y: f64| {
            let shape = Shape::new(capsule.clone()).at(Pose::translation([0.0, y, 0.0]));
            Shape { friction: Some(friction), ..shape }
        };
        let inertia = SpatialInertia::of_box(mass, [0.1, 0.4, length]);
        let body = Body::new("ladder", Pose::new(turn, middle)).inertia(inertia);
        builder.body(body.shape(rail(-0.2)).shape(rail(0.2)).free());
        let mut scene = loose(&builder.build().unwrap());
        let rest = scene.rest_with_margin().unwrap();
        let needs = 0.5 * length * angle.cos() / (length * angle.sin() + thick);
        assert_eq!(needs < friction, stays);
        if !stays {
            // It slides down until it lies on the floor, or nothing holds it.
            let down = scene.mechanism().find_body("ladder").unwrap();
            assert!(!rest.converged || scene.pose(down).unwrap().position.z < 0.1, "{rest:?}");
            continue;
        }
        assert!(rest.converged, "{rest:?}");
        let needed = rest.friction_needed.unwrap();
        assert!((needed - needs / friction).abs() < 1e-3, "{needed} of {}", needs / friction);
        let pushed: f64 = scene.world().contacts().iter().map(|contact| contact.force.x.max(0.0)).sum();
        assert!((pushed / (mass * G * needs) - 1.0).abs() < 1e-3, "{pushed}");
    }
}

/// A thin ladder (round ends of radius r) on a floor with µ₁ at a wall with µ₂ stands as long as both µ are more than a part σ of what they
/// are, at which both ends are about to slip: F₁ = σµ₁N₁ = N₂, F₂ = σµ₂N₂, N₁ + F₂ = mg, and moments about its middle vanish. The
/// angle for a given σ is solved for here; the search must find σ, however flat the ladder then is, and let it slide where σ > 1.
#[test]
fn ladder_with_friction_at_both_ends() {
    let (length, mass, r) = (3.0, 12.0, 0.02);
    let mut cases = 0;
    for (floor, wall) in [(0.5, 0.4), (0.3, 0.3), (0.8, 0.2), (0.2, 0.8), (1.0, 0.5), (0.6, 0.0)] {
        for part in [0.3, 0.7, 0.92, 0.97, 0.99, 1.01] {
            let (a, b) = (part * floor, part * wall);
            let normal = 1.0 / (1.0 + a * b); // N₁/mg
            let moment = |angle: f64| {
                let (x, z) = (0.5 * length * angle.cos(), 0.5 * length * angle.sin());
                let lower = x * normal - (z + r) * a * normal;
                lower - (x + r) * b * a * normal - z * a * normal
            };
            let (mut flat, mut steep) = (0.3f64, 1.5);
            if moment(flat) < 0.0 || moment(steep) > 0.0 {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (flat + steep);
                if moment(middle) > 0.0 { flat = middle } else { steep = middle }
            }
            let angle = flat;
            let mut builder = MechanismBuilder::new("ladder");
            // The friction of two shapes is the geometric mean; that of the ladder is 1.
            builder.world_shape(plane(floor * floor, Pose::identity()));
            let upright = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
            builder.world_shape(plane(wall * wall, upright));
            let along = Vector3::new(-angle.cos(), 0.0, angle.sin());
            let middle = Vector3::new(0.5 * length * angle.cos() + r, 0.0, 0.5 * length * angle.sin() + r);
            let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap();
            let rail = |y: f64| {
                let shape = Shape::new(Geometry::Capsule { radius: r, half_length: 0.5 * length });
                Shape { friction: Some(1.0), ..shape.at(Pose::translation([0.0, y, 0.0])) }
            };
            let inertia = SpatialInertia::of_box(mass, [0.1, 0.4, length]);
            let body = Body::new("ladder", Pose::new(turn, middle)).inertia(inertia);
            builder.body(body.shape(rail(-0.2)).shape(rail(0.2)).free());
            let mut scene = loose(&builder.build().unwrap());
            let ladder = scene.mechanism().find_body("ladder").unwrap();
            let rest = scene.rest_with_margin().unwrap();
            let moved = (scene.pose(ladder).unwrap().position - middle).norm();
            if part > 1.0 {
                assert!(!rest.converged || moved > 0.1, "µ {floor}, {wall}, σ {part}: {rest:?}");
            } else {
                // Contact yields under the weight by some 1e-5 of its size.
                assert!(
                    rest.converged && moved < 2e-5 * length,
                    "µ {floor}, {wall}, σ {part}: {moved} {rest:?}"
                );
                let needed = rest.friction_needed.unwrap();
                // Bisected to 2⁻¹⁴; contact yields, which changes the angle.
                assert!((needed - part).abs() < 1.5e-4, "µ {floor}, {wall}: {needed} of {part}");
            }
            cases += 1;
        }
    }
    assert!(cases > 25, "{cases}");
}

/// What starts far above the ground comes to rest on it, and with the same pose as what starts just above it; without ground it falls.
#[test]
fn what_starts_high_above_the_ground_falls_onto_it() {
    for (size, mass) in [(0.02, 0.01), (0.3, 2.0), (5.0, 1e4)] {
        for height in [0.3 * size, 4.0, 30.0] {
            for ground in [true, false] {
                let mut builder = MechanismBuilder::new("high");
                let edges = [1.2, 0.8, 0.5].map(|edge| edge * size);
                let beside = cuboid([size; 3], 0.5).at(Pose::translation([9.0 * size, 0.0, 0.0]));
                builder.world_shape(if ground { plane(0.5, Pose::identity()) } else { beside });
                let start = Pose::translation([0.0, 0.0, height + 0.25 * size]);
                let inertia = SpatialInertia::of_box(mass, edges);
                builder.body(Body::new("block", start).inertia(inertia).shape(cuboid(edges, 0.5)).free());
                let mut scene = loose(&builder.build().unwrap());
                let rest = scene.rest().unwrap();
                assert_eq!(rest.converged, ground, "{size} m from {height} m: {rest:?}");
                if !ground {
                    assert_eq!(rest.unheld, Some(("block".into(), false)));
                    continue;
                }
                let block = scene.mechanism().find_body("block").unwrap();
                let pose = scene.pose(block).unwrap();
                let apart = (pose.position - Vector3::new(0.0, 0.0, 0.25 * size)).norm();
                // Contact yields by up to 7e-4 radii.
                assert!(apart < 7e-4 * size, "{size} m from {height} m: {}", pose.position);
            }
        }
    }
    // A robot with a free base.
    let plain = gallery::build("hexapod-terrain").expect("a scene of the gallery");
    let height = |up: f64| {
        let mut builder = plain.to_builder();
        for body in plain.bodies() {
            builder.body_mut(&body.name).unwrap().pose.position.z += up;
        }
        for joint in plain.joints() {
            builder.joint_mut(&joint.name).unwrap().frame.position.z += up;
        }
        let mut scene = loose(&builder.build().unwrap());
        let rest = scene.rest().unwrap();
        assert!(rest.converged, "{up} m: {rest:?}");
        scene.pose(plain.body_ids().next().unwrap()).unwrap().position.z
    };
    // Friction leaves many rests; they are within a part of the terrain's steps.
    let (low, high) = (height(0.0), height(3.0));
    assert!((low - high).abs() < 0.02, "{low} {high}");
}

/// A block that two sprung fingers press on: each with the force of its spring, held if that times 2µ is more than its weight.
#[test]
fn block_between_two_fingers() {
    for (stiffness, stays) in [(400.0, true), (2000.0, true), (100.0, false)] {
        let (friction, mass, press) = (0.5, 1.0, 0.05);
        let mut builder = MechanismBuilder::new("grasp");
        for (name, side) in [("left", -1.0), ("right", 1.0)] {
            let start = Pose::translation([side * 0.0701, 0.0, 0.0]);
            let inertia = SpatialInertia::of_box(0.1, [0.04, 0.1, 0.1]);
            builder.body(Body::new(name, start).inertia(inertia).shape(cuboid([0.04, 0.1, 0.1], friction)));
            let mut slide =
                JointDescription::new(format!("{name}_slide"), JointKind::Prismatic, "world", name);
            slide = slide.axis(start.position, Vector3::x());
            slide = slide.stiffness(stiffness).damping(1.0).rest(-side * press);
            builder.joint(slide);
        }
        let block = cuboid([0.1, 0.06, 0.06], friction);
        let inertia = SpatialInertia::of_box(mass, [0.1, 0.06, 0.06]);
        builder.body(Body::new("block", Pose::identity()).inertia(inertia).shape(block).free());
        let whole = builder.build().unwrap();
        for engine in ["full", "articulated"] {
            let mut scene = Scene::new(&whole, Surfaces::new(), |held| -> Box<dyn Simulation> {
                if engine == "full" {
                    full::Model::new(held).simulate().into()
                } else {
                    articulated::Model::new(held).simulate().into()
                }
            })
            .unwrap();
            let rest = scene.rest_with_margin().unwrap();
            // The fingers start 0.1 mm off.
            let force = stiffness * (press - 1e-4);
            let needs = mass * G / (2.0 * friction * force);
            assert_eq!(needs < 1.0, stays);
            assert_eq!(rest.converged, stays, "{engine}: {rest:?}");
            if !stays {
                assert_eq!(rest.unheld.as_ref().map(|(name, _)| name.as_str()), Some("block"), "{engine}");
                continue;
            }
            let needed = rest.friction_needed.unwrap();
            assert!((needed / needs - 1.0).abs() < 1e-3, "{engine}: {needed} of {needs}");
            let block = scene.touched(whole.find_body("block").unwrap()).unwrap();
            assert!((scene.world().force_on(block).unwrap().force.z - mass * G).abs() < 1e-6);
            let left = scene.touched(whole.find_body("left").unwrap()).unwrap();
            let press = scene.world().force_on(left).unwrap().force.x;
            // Contact gives way by up to 7e-4 radii, which the spring feels.
            assert!((press.abs() - force).abs() < 7e-4 * 0.075 * stiffness, "{engine}: {press} of {force}");
        }
    }
}

/// A robot of the gallery that stands on six feet, and would walk as time goes on, carries its weight where it stands, has not gone
/// anywhere, and rests where its motion does once its legs are told to stay.
#[test]
fn hexapod_stands_where_it_comes_to_rest() {
    let whole = gallery::build("hexapod-terrain").expect("a scene of the gallery");
    let mut scene = loose(&whole);
    let start = scene.pose(whole.body_ids().next().unwrap()).unwrap();
    let rest = scene.rest().unwrap();
    assert!(rest.converged, "{rest:?}");
    assert_eq!((scene.time(), scene.state().time), (0.0, 0.0));
    let weight = whole.mass() * G;
    let ground = |scene: &Scene| -> f64 {
        let contacts = scene.world().contacts().iter().filter(|contact| contact.first == Touched::World);
        contacts.map(|contact| contact.force.z).sum()
    };
    assert!((ground(&scene) / weight - 1.0).abs() < 1e-4, "{} of {weight}", ground(&scene));
    let base = scene.pose(whole.body_ids().next().unwrap()).unwrap();
    assert!((base.position - start.position).norm() < 0.1 * whole.radius(), "{base:?}");
    let mut moving = loose(&whole);
    for joint in whole.joint_ids() {
        let count = whole[joint].coordinates().len();
        moving.inputs_mut().set_target(joint, &vec![0.0; count]).unwrap();
    }
    for _ in 0..2400 {
        moving.step(1.0 / 240.0).unwrap();
    }
    // Where feet land friction holds them, so there are many rests; that of the motion is one.
    let before: Vec<Pose> = whole.body_ids().map(|body| moving.pose(body).unwrap()).collect();
    assert!(moving.rest().unwrap().converged);
    for (body, before) in whole.body_ids().zip(before) {
        let moved = (moving.pose(body).unwrap().position - before.position).norm();
        assert!(moved < 1e-5 * whole.radius(), "{}: {moved}", whole[body].name);
    }
}

/// The compliance of a scene at rest at its effector `tip`: that of its constraints, how the rest moves with small wrenches, by central
/// differences, and what rolling adds to the first. Angles are by a length of 0.2 m, so that all entries are alike.
fn compliances(mut scene: Scene) -> [Matrix6<f64>; 3] {
    let whole = scene.mechanism().clone();
    let mut held = scene.stuck().unwrap();
    let stuck = &mut held.simulation;
    assert!(stuck.settle(&Default::default()).unwrap().converged, "{}", whole.name());
    let poses = stuck.state().poses.iter().zip(&scene.state().poses);
    let apart = poses.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-6 * whole.radius(), "{}: it is at rest there, not {apart} away", whole.name());
    let reduction = Linearisation::at(Reference::at_equilibrium(stuck)).effectors(["tip"]);
    let projection = reduction.project().unwrap();
    let rolling = held.left_out_by_rolling(&projection, reduction.reference()).unwrap();
    let C = projection.compliance();
    let tip = whole.find_effector("tip").unwrap();
    let at = scene.effector_pose(tip).unwrap();
    let mut moves = Matrix6::zeros();
    for k in 0..6 {
        // Small compared with what presses, so that everything sticks.
        let size = if k < 3 { 0.2 } else { 0.01 };
        let found = [1.0, -1.0].map(|sign| {
            let mut wrench = Vector6::zeros();
            wrench[k] = sign * size;
            let own = Wrench::from_vector(&wrench).turned(&at.rotation);
            let mut trial = scene.clone();
            trial.inputs_mut().set_load(tip, own).unwrap();
            assert!(trial.rest().unwrap().converged);
            log(&at.inverse_times(&trial.effector_pose(tip).unwrap())).to_vector()
        });
        moves.set_column(k, &((found[0] - found[1]) / (2.0 * size)));
    }
    let scale = |i: usize| [1.0, 0.2][usize::from(i > 2)];
    let entries = |C: &DMatrix<f64>| Matrix6::from_fn(|i, k| C[(i, k)]);
    [entries(C), moves, entries(&rolling)].map(|C| C.map_with_location(|i, k, c| c * scale(i) * scale(k)))
}

/// A plate on sprung legs with flat feet that stand on a floor: how the effector moves under small wrenches, as the constraints of contact
/// have it, is how the rest moves with these wrenches.
#[test]
fn compliance_at_rest_is_how_the_rest_moves() {
    let mut stool = MechanismBuilder::new("stool");
    stool.world_shape(plane(0.8, Pose::identity()));
    let top = [0.5, 0.4, 0.04];
    let body = Body::new("top", Pose::translation([0.0, 0.0, 0.4])).inertia(SpatialInertia::of_box(5.0, top));
    stool.body(body.free());
    for (i, (x, y)) in [(0.2, 0.15), (-0.2, 0.15), (0.2, -0.15), (-0.2, -0.15)].into_iter().enumerate() {
        let foot = [0.08, 0.06, 0.04];
        let at = Pose::translation([x, y, 0.0201]);
        let name = format!("foot{i}");
        stool.body(Body::new(&*name, at).inertia(SpatialInertia::of_box(0.3, foot)).shape(cuboid(foot, 0.8)));
        // Springs of all six freedoms at the ankle, of different stiffness on each leg.
        let k = 1.0 + 0.3 * i as f64;
        let leg = JointDescription::new(format!("leg{i}"), JointKind::Bushing, "top", &*name);
        let leg = leg.frame(Pose::translation([x, y, 0.2]));
        stool.joint(leg.stiffness([200.0 * k, 200.0, 500.0 * k, 3.0, 2.0 * k, 1.0]).damping(1.0));
    }
    let frame = Pose::translation([0.1, 0.05, 0.02]);
    stool.effector(EffectorDescription { name: "tip".into(), body: "top".into(), frame });
    let mut scene = loose(&stool.build().unwrap());
    let rest = scene.rest_with_margin().unwrap();
    assert!(rest.converged && rest.friction_needed.unwrap() < 0.9, "{rest:?}");
    // Contact itself yields where it rests, by less than 7e-4 radii under the weight.
    let [C, moves, rolling] = compliances(scene);
    assert_eq!(rolling, Matrix6::zeros(), "flat feet do not roll");
    let error = (moves - C).amax() / C.amax();
    assert!(error < 2e-3, "{error:.2e}");
}

/// The same of a block between two sprung fingers, which carry a given force whatever the masses. Contact of a rest yields by 1e-3 of
/// its W_nn, and the block turns on its small sides by that; constraints do not yield. W_nn falls as masses rise, the compliance is
/// linear in it, and where it vanishes it is that of the constraints.
#[test]
fn compliance_of_a_grasp_is_how_its_rest_moves() {
    let (finger, block, side) = ([0.04, 0.1, 0.1], [0.1, 0.06, 0.06], 0.03);
    let (stiffness, damping, step) = ([1e3, 3e3, 2e3, 50.0, 60.0, 40.0], 1.0, 1.0 / 60.0);
    let found = [1.0, 10.0, 100.0].map(|heavier| {
        let (light, heavy) = (0.1 * heavier, heavier);
        let mut grasp = MechanismBuilder::new("grasp");
        grasp.gravity([0.0; 3]);
        for (name, side) in [("left", -1.0), ("right", 1.0)] {
            let start = Pose::translation([side * 0.0701, 0.0, 0.0]);
            let inertia = SpatialInertia::of_box(light, finger);
            grasp.body(Body::new(name, start).inertia(inertia).shape(cuboid(finger, 0.8)));
            let joint = JointDescription::new(name, JointKind::Bushing, "world", name).frame(start);
            let joint = joint.stiffness(stiffness).damping(damping);
            grasp.joint(joint.rest([-side * 0.05, 0.0, 0.0, 0.0, 0.0, 0.0]));
        }
        let inertia = SpatialInertia::of_box(heavy, block);
        let shape = cuboid(block, 0.8);
        grasp.body(Body::new("block", Pose::identity()).inertia(inertia).shape(shape).free());
        let frame = Pose::translation([0.1, 0.05, 0.02]);
        grasp.effector(EffectorDescription { name: "tip".into(), body: "block".into(), frame });
        let whole = grasp.build().unwrap();
        let mut scene = loose(&whole);
        let weight = Wrench::force([0.0, 0.0, -G]);
        scene.inputs_mut().set_body_load(whole.find_body("block").unwrap(), weight).unwrap();
        let rest = scene.rest_with_margin().unwrap();
        assert!(rest.converged && rest.friction_needed.unwrap() < 0.9, "{heavier}: {rest:?}");
        // A corner of the block's side, where it moves along x: translation, rotation about y and about z, of the finger by
        // M + hD + h²K, of the block by M.
        let turning = |mass: f64, [x, y, _]: [f64; 3]| mass * (x * x + y * y) / 12.0;
        let stiff = |k: usize| step * damping + step * step * stiffness[k];
        let W = 1.0 / (light + stiff(0))
            + side * side / (turning(light, finger) + stiff(4))
            + side * side / (turning(light, finger) + stiff(5))
            + 1.0 / heavy
            + 2.0 * side * side / turning(heavy, block);
        let [C, moves, _] = compliances(scene);
        (W, C, moves)
    });
    for [a, b] in [[0, 1], [1, 2]] {
        let (W, C, moves) = found[a];
        let (less, _, closer) = found[b];
        let limit = (closer * W - moves * less) / (W - less);
        let error = (limit - C).amax() / C.amax();
        // Rests are found to 1e-8 radii, which is some 5e-5 of what the moments move.
        assert!(error < 1.5e-4, "{error:.2e} between W_nn = {W} and {less}");
    }
    // As light as it is at first, contact yields by more than a percent of the compliance: there is something to extrapolate.
    let (_, C, moves) = found[0];
    assert!((moves - C).amax() > 0.01 * C.amax());
}

/// A ball that a spring holds on a floor, on another ball and on a capsule: what its constraints leave out of how the rest moves is what rolling
/// adds, to the second order in it.
#[test]
fn what_rolls_is_reported() {
    let radius = 0.1;
    let ball = Geometry::Ball { radius };
    let capsule = Geometry::Capsule { radius: 0.3, half_length: 0.4 };
    // The capsule lies along x, in which direction it is flat.
    let lying = Pose::rotation([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    for (name, ground, rotation, top) in [
        ("floor", Geometry::Plane, Pose::identity(), 0.0),
        ("ball", Geometry::Ball { radius: 0.3 }, Pose::identity(), 0.3),
        ("capsule", capsule, lying, 0.3),
    ] {
        let mut builder = MechanismBuilder::new(name);
        builder.world_shape(Shape { friction: Some(1.0), ..Shape::new(ground).at(rotation) });
        let at = Pose::translation([0.0, 0.0, top + radius + 1e-5]);
        let above = at * Pose::translation([0.0, 0.0, 0.2]);
        let shape = Shape { friction: Some(1.0), ..Shape::new(ball.clone()) };
        builder.body(Body::new("ball", at).inertia(SpatialInertia::of_box(2.0, [0.5; 3])).shape(shape));
        let joint = JointDescription::new("held", JointKind::Bushing, "world", "ball").frame(above);
        let joint = joint.stiffness([900.0, 700.0, 1e3, 200.0, 150.0, 100.0]).damping(1.0);
        builder.joint(joint.rest([0.0, 0.0, -0.05, 0.0, 0.0, 0.0]));
        let frame = Pose::translation([0.02, -0.03, 0.05]);
        builder.effector(EffectorDescription { name: "tip".into(), body: "ball".into(), frame });
        let mut scene = loose(&builder.build().unwrap());
        assert!(scene.rest().unwrap().converged);
        let [C, moves, rolling] = compliances(scene);
        let left_out = (moves - C).amax();
        assert!(left_out > 0.01 * C.amax(), "{name}: there is something to compare");
        // Of the second order it is 3 %: as the spring of rolling, 7 N·m/rad, is to those that hold the ball, 230 N·m/rad.
        let error = (moves - C - rolling).amax() / left_out;
        assert!(error < 0.04, "{name}: {error}");
    }
}

/// A round bar on a flat is held by nothing along it: it rests as well as its line of contact is known, and its weight is on the post.
#[test]
fn a_round_bar_rests_on_a_flat() {
    let whole = gallery::build("adaptive-thick").unwrap();
    let bar = whole.find_body("bar").unwrap();
    let mut scene = loose(&whole);
    let before = scene.pose(bar).unwrap();
    let rest = scene.rest_with_margin().unwrap();
    assert!(rest.converged && rest.unheld.is_none(), "{rest:?}");
    // It needs no friction, and stays: bounded by what counts as rest.
    assert!(rest.wander < 1e-4 * whole.radius(), "{rest:?}");
    assert!(rest.friction_needed.unwrap() < 0.05, "{rest:?}");
    let moved = (scene.pose(bar).unwrap().position - before.position).norm();
    assert!(moved < 1e-3 * whole.radius(), "{moved}");
    // What creeps by 3e-9 m in a step of 1/60 s feels 1e-6 of its weight.
    let on_bar = scene.touched(bar).unwrap();
    let push: Vector3<f64> = (scene.world().contacts().iter())
        .filter(|contact| [contact.first, contact.second].contains(&on_bar))
        .map(|contact| if contact.second == on_bar { contact.force } else { -contact.force })
        .sum();
    let weight = whole[bar].inertia.mass * G;
    assert!((push - Vector3::z() * weight).norm() < 1e-4 * weight, "{push:?}, {weight} N");
}
