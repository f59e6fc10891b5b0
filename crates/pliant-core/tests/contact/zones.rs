//! Claim: elastic zones in contact do what linear elasticity and Coulomb's law say: a flat punch presses as a dense solve of the same
//! Green's functions has it, a ball as Hertz on a bonded layer, two equal pads as one on a mirror; a pad and a spring are in series;
//! a soft block on a slope stays up to tan⁻¹µ. All engines agree; energy never grows; what is saved comes back bit for bit.

use pliant_core::contact::{Scene, Surfaces, Touched, World, ZoneId};
use pliant_core::engine::Simulation;
use pliant_core::engines::Engine;
use pliant_core::gallery::{self, Fingertips};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, Geometry, JointDescription, Mechanism, MechanismBuilder, STANDARD_GRAVITY, Shape, WORLD,
    ZoneDescription,
};
use pliant_core::nalgebra::{DMatrix, DVector, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

const PAD: [f64; 3] = [0.02, 0.02, 0.012];

fn cuboid(size: [f64; 3]) -> Shape {
    Shape::new(Geometry::Box { size: size.into() })
}

/// A pad whose lower face is bonded, its centre at the origin.
fn pad(young: f64, poisson: f64, resolution: f64) -> ZoneDescription {
    let mut zone = ZoneDescription::new("pad", WORLD, cuboid(PAD)).elasticity(young, poisson);
    zone.resolution = Some(resolution);
    zone.bonded = Some(cuboid([0.1, 0.1, 0.01]).at(Pose::translation([0.0, 0.0, -0.5 * PAD[2] - 0.005])));
    zone
}

/// A world without gravity with a pad and a free body above it.
fn pressed(zone: &ZoneDescription, shape: Shape, height: f64) -> (World, ZoneId, Touched) {
    let mut world = World::new([0.0; 3]);
    let zone = world.add_zone(Touched::World, zone, &[]).unwrap();
    let body = Body::new("tool", Pose::translation([0.0, 0.0, 0.5 * PAD[2] + height])).shape(shape);
    let body = world.add_body(&body.inertia(SpatialInertia::of_box(0.02, [0.02; 3]))).unwrap();
    (world, zone, Touched::Free(body))
}

/// Steps until nothing moves, with the body's velocity taken out of it after each step; it is guided along z, because a plate that is
/// pressed without friction tilts and slips off.
fn settle(world: &mut World, body: Touched, load: Wrench, h: f64) {
    let Touched::Free(id) = body else { panic!("a free body") };
    for _ in 0..400 {
        let own = world.body_mut(id).unwrap();
        own.set_load(load);
        own.place(Pose::translation([0.0, 0.0, own.pose().position.z]), Twist::ZERO);
        world.step(h).unwrap();
    }
}

/// A flat frictionless punch larger than the pad: all nodes of the upper face go down by the same. Their forces by a dense solve of the
/// normal rows alone.
#[test]
fn a_flat_punch_presses_as_a_dense_solve_has_it() {
    for (young, poisson) in [(1e5, 0.3), (2e6, 0.48)] {
        let plate = Shape { friction: Some(0.0), ..cuboid([0.05, 0.05, 0.01]) };
        let (mut world, zone, body) = pressed(&pad(young, poisson, 0.0034), plate, 0.005);
        let force = young * 2e-5; // a strain of some percent
        settle(
            &mut world,
            body,
            Wrench { force: Vector3::new(0.0, 0.0, -force), torque: Vector3::zeros() },
            2e-3,
        );
        let state = world.zone(zone).unwrap();
        let solid = state.solid();
        let top: Vec<usize> = (0..solid.nodes()).filter(|i| solid.points()[*i].z > 0.499 * PAD[2]).collect();
        assert!(top.len() >= 49);
        let W = DMatrix::from_fn(top.len(), top.len(), |i, k| solid.block(top[i], top[k])[(2, 2)]);
        let per_depth = W.lu().solve(&DVector::repeat(top.len(), 1.0)).unwrap();
        let depth = force / per_depth.sum();
        let Touched::Free(id) = body else { unreachable!() };
        let came = 0.5 * PAD[2] + 0.005 - world.body(id).unwrap().pose().position.z;
        // The plate stops where steps of 2 ms no longer move it by rounding.
        assert!((came / depth - 1.0).abs() < 1e-6, "{came:e} for {depth:e}");
        for (node, load) in state.loads() {
            let i = top.iter().position(|other| other == &(*node as usize)).unwrap();
            assert!((load.z + per_depth[i] * depth).abs() < 1e-6 * force);
        }
        assert!((state.force().z + force).abs() < 1e-7 * force);
        assert!((state.contact_area() / (PAD[0] * PAD[1]) - 1.0).abs() < 1e-9);
    }
}

/// Of a bonded layer of thickness t, over that of a half space, for a ball of radius R at depth d (Dimitriadis and others 2002).
fn bonded_layer(R: f64, d: f64, t: f64, poisson: f64) -> f64 {
    let (v, pi) = (poisson, std::f64::consts::PI);
    let x = (R * d).sqrt() / t;
    let a = -(1.2876 - 1.4678 * v + 1.3442 * v * v) / (1.0 - v);
    let b = (0.6387 - 1.0277 * v + 1.5164 * v * v) / (1.0 - v);
    1.0 - 2.0 * a / pi * x + 4.0 * a * a / (pi * pi) * x * x
        - 8.0 / pi.powi(3) * (a.powi(3) + 4.0 * pi * pi / 15.0 * b) * x.powi(3)
        + 16.0 * a / pi.powi(4) * (a.powi(3) + 3.0 * pi * pi / 5.0 * b) * x.powi(4)
}

/// A ball that is pressed with a force sinks in as Hertz times the factor of the bonded layer has it. The formula is for a layer without
/// sides and a pressure without grains: with a node every 1.2 mm it is met to 6 % at ν = 0.3, and at 0.45, where the free sides of a
/// pad of 20 mm give way more, to 14 %. It touches over a radius a of √(Rd), to 10 %.
#[test]
fn a_ball_sinks_in_as_hertz_on_a_bonded_layer() {
    for (poisson, depth, within) in [(0.3, 5e-4, 0.06), (0.45, 5e-4, 0.14), (0.3, 9e-4, 0.06)] {
        let (R, young) = (0.01f64, 1e5);
        let hertz = 4.0 / 3.0 * young / (1.0 - poisson * poisson) * R.sqrt() * f64::powf(depth, 1.5);
        let force = hertz * bonded_layer(R, depth, PAD[2], poisson);
        let ball = Shape { friction: Some(0.0), ..Shape::new(Geometry::Ball { radius: R }) };
        let (mut world, zone, body) = pressed(&pad(young, poisson, 1.2e-3), ball, R);
        settle(
            &mut world,
            body,
            Wrench { force: Vector3::new(0.0, 0.0, -force), torque: Vector3::zeros() },
            2e-3,
        );
        let Touched::Free(id) = body else { unreachable!() };
        let came = 0.5 * PAD[2] + R - world.body(id).unwrap().pose().position.z;
        // The mean square of the distance from the middle is 2/5 of a², weighed with the pressure of Hertz.
        let state = world.zone(zone).unwrap();
        let apart = |node: u32| state.solid().points()[node as usize].xy().norm_squared();
        let square: f64 = state.loads().iter().map(|(node, load)| -load.z * apart(*node)).sum();
        let a = (2.5 * square / force).sqrt();
        assert!((a / (R * came).sqrt() - 1.0).abs() < 0.1, "{a:e} at {came:e}, {poisson}");
        // Force goes as the depth to the power of 3/2.
        assert!(((came / depth).powf(1.5) - 1.0).abs() < within, "{came:e} for {depth:e} at {poisson}");
    }
}

/// Two equal pads that are pressed on each other meet in the plane between them: each is as one that is pressed on a frictionless mirror.
#[test]
fn two_pads_are_as_one_on_a_mirror() {
    let force = 0.8;
    let down = Wrench { force: Vector3::new(0.0, 0.0, -force), torque: Vector3::zeros() };
    let mut zone = pad(1e5, 0.4, 0.0034);
    zone.shape.friction = Some(0.0);
    let plate = Shape { friction: Some(0.0), ..cuboid([0.05, 0.05, 0.01]) };
    let (mut one, id, body) = pressed(&zone, plate, 0.005);
    settle(&mut one, body, down, 2e-3);
    let alone = one.zone(id).unwrap().largest_displacement();
    let height = |world: &World, body: Touched| match body {
        Touched::Free(id) => world.body(id).unwrap().pose().position.z,
        _ => unreachable!(),
    };
    let came = 0.5 * PAD[2] + 0.005 - height(&one, body);

    let (mut two, lower, body) =
        pressed(&zone, Shape { touches: false, ..cuboid([0.05, 0.05, 0.01]) }, PAD[2] + 0.005);
    let mut upper = zone.clone();
    // Upside down below the plate, which bonds it.
    upper.name = "upper".into();
    upper.shape.pose = Pose::translation([0.0, 0.0, -0.5 * PAD[2] - 0.005])
        * Pose::rotation([1.0, 0.0, 0.0], std::f64::consts::PI);
    upper.bonded = Some(cuboid([0.1, 0.1, 0.0100001]));
    let upper = two.add_zone(body, &upper, &[]).unwrap();
    settle(&mut two, body, down, 2e-3);
    // Nodes of the one lie on triangles of the other, whose corners share their forces: to 1 %, and 5 % at the rim.
    let both = 1.5 * PAD[2] + 0.005 - height(&two, body);
    assert!((both / (2.0 * came) - 1.0).abs() < 0.01, "{both:e} for {came:e}");
    let states = [two.zone(lower).unwrap(), two.zone(upper).unwrap()];
    for state in &states {
        // On which triangle of the other a node of the rim lies may change from step to step: 1e-3 of the force.
        assert!((state.force().z.abs() / force - 1.0).abs() < 2e-3, "{}", state.force());
        let ratio = state.largest_displacement() / alone;
        assert!((ratio - 1.0).abs() < 0.05, "{}: {ratio}", state.name());
    }
    // The third law; the plate turns in a step by what its guide takes back, so that only the length of the upper one's force is known.
    // Loads below 1e-9 of the largest are not kept.
    let on = two.force_on(body).unwrap().force;
    assert!((states[0].force() + on).norm() < 1e-8, "{} and {on}", states[0].force());
    assert!((states[1].force().norm() - on.norm()).abs() < 1e-8, "{} and {on}", states[1].force());
}

/// A soft block on a slope: µ = 0.5 holds it up to 26.57°.
#[test]
fn a_soft_block_on_a_slope_stays_up_to_its_angle() {
    for (degrees, holds) in [(24.0f64, true), (26.0, true), (27.2, false), (30.0, false)] {
        let slope = degrees.to_radians();
        let gravity = Vector3::new(slope.sin(), 0.0, -slope.cos()) * 9.81;
        let mut world = World::new(gravity.into());
        world.add_shape(&Shape { friction: Some(0.5), ..Shape::new(Geometry::Plane) }).unwrap();
        let block =
            Body::new("block", Pose::translation([0.0, 0.0, 0.0161])).shape(cuboid([0.02, 0.02, 0.008]));
        let block =
            world.add_body(&block.inertia(SpatialInertia::of_box(0.02, [0.02, 0.02, 0.008]))).unwrap();
        let mut sole = ZoneDescription::new("sole", "block", cuboid(PAD)).elasticity(2e5, 0.45);
        (sole.resolution, sole.damping) = (Some(0.0034), 5e-3);
        sole.shape.friction = Some(0.5);
        sole.shape.pose = Pose::translation([0.0, 0.0, -0.01]);
        let sole = world.add_zone(Touched::Free(block), &sole, &[cuboid([0.02, 0.02, 0.0081])]).unwrap();
        for _ in 0..300 {
            world.step(1e-3).unwrap();
        }
        let from = world.body(block).unwrap().pose().position.x;
        for _ in 0..200 {
            world.step(1e-3).unwrap();
        }
        let slid = world.body(block).unwrap().pose().position.x - from;
        if holds {
            assert!(slid.abs() < 2e-6, "{degrees}: {slid:e}");
            let weight = gravity * 0.02;
            assert!((world.zone(sole).unwrap().force() + weight).norm() < 1e-4 * weight.norm());
        } else {
            // ½at² from its speed then; a = g (sin − µ cos).
            let expected = 9.81 * (slope.sin() - 0.5 * slope.cos()) * (0.5f64.powi(2) - 0.3f64.powi(2)) / 2.0;
            assert!(slid > 0.5 * expected, "{degrees}: {slid:e} for {expected:e}");
        }
    }
}

fn scene(mechanism: &Mechanism, engine: &str) -> Scene {
    let engine: Engine = engine.parse().unwrap();
    Scene::new(mechanism, Surfaces::new(), |held| engine.simulate(held).unwrap()).unwrap()
}

/// The tip of `pad` comes to rest where its slide's spring and the pad balance, in every engine; sideways it drags the pad along
/// until it slips.
#[test]
fn engines_agree_on_a_pad() {
    let mechanism = gallery::pad();
    let mut all = Vec::new();
    for engine in ["full", "articulated", "reduced", "linear"] {
        let mut scene = scene(&mechanism, engine);
        (0..400).for_each(|_| scene.step(1e-3).unwrap());
        let (_, state) = scene.world().zones().next().unwrap();
        let pressed = state.force();
        let down = mechanism.find_joint("down").unwrap();
        let position = scene.joint_positions(down).unwrap()[0];
        // 5 kN/m towards −1.5 mm, and the weight of the tip.
        let spring = 5e3 * (position + 1.5e-3) + 0.03 * 9.81;
        assert!((pressed.z + spring).abs() < 1e-4, "{engine}: {} and {spring}", pressed.z);
        (0..400).for_each(|_| scene.step(1e-3).unwrap());
        let (_, state) = scene.world().zones().next().unwrap();
        let dragged = state.force();
        assert!(dragged.x > 0.2 && dragged.x < 0.5 * dragged.z.abs() + 1e-9, "{engine}: {dragged}");
        all.push((pressed, dragged));
    }
    for (pressed, dragged) in &all {
        // Slides move straight: engines differ by the rounding of their solvers alone.
        assert!((pressed - all[0].0).norm() < 1e-5 && (dragged - all[0].1).norm() < 1e-4);
    }
}

/// Soft fingertips hold a bar off its middle; rigid ones of the same shape let it swing.
#[test]
fn soft_fingertips_hold_what_rigid_ones_let_swing() {
    for engine in ["articulated", "full"] {
        for (fingertips, holds) in [(Fingertips::Soft, true), (Fingertips::Rigid, false)] {
            let mechanism = gallery::soft_gripper(fingertips);
            let mut scene = scene(&mechanism, engine);
            let bar = mechanism.find_body("bar").unwrap();
            let before = scene.pose(bar).unwrap();
            let mut tilted = 0.0f64;
            for _ in 0..750 {
                scene.step(2e-3).unwrap();
                tilted = tilted.max(scene.pose(bar).unwrap().rotation.angle_to(&before.rotation));
            }
            let lifted = scene.pose(bar).unwrap().position.z - before.position.z;
            assert!(lifted > 0.06, "{engine}: {lifted}");
            assert_eq!(tilted < 0.15, holds, "{engine}, {fingertips:?}: {tilted} rad");
        }
    }
}

/// A ball that falls on a pad without damping: kinetic, potential and elastic energy together never grow, and most come back.
#[test]
fn energy_of_a_bounce_never_grows() {
    let zone = pad(1e5, 0.3, 0.0034);
    let mut world = World::new(STANDARD_GRAVITY);
    let id = world.add_zone(Touched::World, &zone, &[]).unwrap();
    let (mass, radius) = (0.05, 0.01);
    let shape = Shape { friction: Some(0.0), ..Shape::new(Geometry::Ball { radius }) };
    let ball = Body::new("ball", Pose::translation([0.0, 0.0, 0.5 * PAD[2] + radius + 0.004])).shape(shape);
    let ball = world.add_body(&ball.inertia(SpatialInertia::of_box(mass, [0.016; 3]))).unwrap();
    let energy = |world: &World| {
        let body = world.body(ball).unwrap();
        let state = world.zone(id).unwrap();
        let elastic: f64 = (state.loads().iter())
            .flat_map(|(i, f)| state.loads().iter().map(move |(k, g)| (i, f, k, g)))
            .map(|(i, f, k, g)| 0.5 * f.dot(&(state.solid().block(*i as usize, *k as usize) * g)))
            .sum();
        elastic + 0.5 * mass * body.twist().linear.norm_squared() + mass * 9.81 * body.pose().position.z
    };
    let start = energy(&world);
    let mut last = start;
    let mut lowest = f64::INFINITY;
    for _ in 0..4000 {
        world.step(1e-4).unwrap();
        let now = energy(&world);
        // In flight it is kept to rounding; a step that ends in contact may be ahead of its parabola by ½g²h²m.
        assert!(now < last + 1e-8 * start, "{now} after {last}");
        (last, lowest) = (now, lowest.min(world.body(ball).unwrap().pose().position.z));
    }
    assert!(lowest < 0.5 * PAD[2] + radius - 5e-4, "it was pressed in");
}

#[test]
fn what_is_saved_comes_back() {
    let mut scene = scene(&gallery::pad(), "articulated");
    (0..300).for_each(|_| scene.step(1e-3).unwrap());
    let saved = scene.world().save();
    let run = |scene: &mut Scene| -> Vec<(u32, Vector3<f64>)> {
        for _ in 0..200 {
            scene.world_mut().step(1e-3).unwrap();
        }
        scene.world().zones().next().unwrap().1.loads().to_vec()
    };
    let first = run(&mut scene);
    scene.world_mut().restore(&saved).unwrap();
    assert_eq!(run(&mut scene), first);
    assert!(!first.is_empty());
}

/// The same scene in millimetres, grams and milliseconds.
#[test]
fn units_do_not_matter() {
    let run = |length: f64, mass: f64, time: f64| {
        let stress = mass / (length * time * time);
        let scaled = |size: [f64; 3]| cuboid(size.map(|x| x * length));
        let mut zone = ZoneDescription::new("pad", WORLD, scaled(PAD)).elasticity(1e5 * stress, 0.4);
        (zone.resolution, zone.damping) = (Some(0.0034 * length), 2e-3 * time);
        zone.bonded = Some(scaled([0.1, 0.1, 0.01]).at(Pose::translation([0.0, 0.0, -0.011 * length])));
        let mut world = World::new([0.0, 0.0, -9.81 * length / (time * time)]);
        world.set_recovery_time(time / 48.0).unwrap();
        let id = world.add_zone(Touched::World, &zone, &[]).unwrap();
        let ball = Body::new("ball", Pose::translation([1e-3 * length, 0.0, 0.018 * length]));
        let shape = Shape::new(Geometry::Ball { radius: 0.01 * length });
        let inertia = SpatialInertia::of_box(0.05 * mass, [0.016 * length; 3]);
        let ball = world.add_body(&ball.shape(shape).inertia(inertia)).unwrap();
        for _ in 0..120 {
            world.step(1e-3 * time).unwrap();
        }
        let force = world.zone(id).unwrap().force() * (time * time / (mass * length));
        (force, world.body(ball).unwrap().pose().position / length)
    };
    let (force, position) = run(1.0, 1.0, 1.0);
    assert!(force.norm() > 0.1);
    for (length, mass, time) in [(1e3, 1e3, 1.0), (1e-3, 1.0, 1.0), (1e3, 1e3, 1e3)] {
        let (other, there) = run(length, mass, time);
        assert!((other - force).norm() < 1e-6 * force.norm(), "{other} for {force}");
        assert!((there - position).norm() < 1e-9);
    }
}

/// What is so small that it falls in between nodes is not held, and that is a warning with its depth; what is larger is held, without one.
#[test]
fn what_fits_between_nodes_is_warned_of() {
    for resolution in [4e-3, 1e-3, 2.5e-4] {
        let scale = resolution / 1e-3;
        let mut zone = pad(1e5, 0.3, resolution);
        zone.shape = cuboid(PAD.map(|x| 0.5 * x * scale));
        zone.bonded =
            Some(cuboid([0.1, 0.1, 0.01]).at(Pose::translation([0.0, 0.0, -0.25 * PAD[2] * scale - 0.005])));
        let top = 0.25 * PAD[2] * scale;
        let edge = {
            let mut world = World::new([0.0; 3]);
            let id = world.add_zone(Touched::World, &zone, &[]).unwrap();
            let solid = world.zone(id).unwrap().solid().clone();
            let corners = |t: &[u32; 3]| t.map(|i| solid.points()[i as usize]);
            let sides = solid.triangles().iter().map(corners).flat_map(|[a, b, c]| [a - b, b - c, c - a]);
            sides.map(|side| side.norm()).fold(0.0, f64::max)
        };
        for (part, sinks, holds) in
            [(0.2, true, false), (0.45, false, false), (1.5, false, true), (3.0, false, true)]
        {
            for shape in [
                Geometry::Ball { radius: part * edge },
                Geometry::Box { size: [2.0 * part * edge; 3].into() },
            ] {
                let ball = matches!(shape, Geometry::Ball { .. });
                let mut world = World::new([0.0; 3]);
                world.add_zone(Touched::World, &zone, &[]).unwrap();
                // In the middle of a cell's half, off the diagonal.
                let at = Pose::translation([0.31 * resolution, 0.12 * resolution, top + 1.1 * part * edge]);
                let body = Body::new("grain", at).shape(Shape::new(shape));
                let id =
                    world.add_body(&body.inertia(SpatialInertia::of_box(1e-4, [part * edge; 3]))).unwrap();
                for _ in 0..200 {
                    let own = world.body_mut(id).unwrap();
                    own.set_load(Wrench::force([0.0, 0.0, -3e-4 * scale]));
                    own.place(
                        Pose::translation([at.position.x, at.position.y, own.pose().position.z]),
                        Twist::ZERO,
                    );
                    world.step(2e-3).unwrap();
                }
                let low = world.body(id).unwrap().pose().position.z - part * edge;
                let warned = world.warnings().into_iter().find(|warning| warning.kind == "coarse zone");
                let what = format!(
                    "{resolution} m, {part} of {edge:.2e} m, ball: {ball}: {low:.2e} of {top:.2e}, {warned:?}"
                );
                // What is held by a node next to it is pressed in no deeper than it is wide.
                assert!(warned.is_some() || low > top - part * edge, "{what}");
                assert!(!sinks || warned.is_some(), "{what}");
                assert!(!holds || (warned.is_none() && low > top - 0.2 * part * edge), "{what}");
            }
        }
    }
}

/// A zone of a body that is fixed to the world is as one of the world itself, and does not touch the links that are joined to that body.
#[test]
fn a_zone_of_a_fixed_body_is_as_one_of_the_world() {
    let rest = |fixed: bool| {
        let mut builder = MechanismBuilder::new("bench");
        let turned = Pose::translation([0.03, -0.02, 0.1]) * Pose::rotation([0.0, 0.0, 1.0], 0.7);
        let table = cuboid([0.1, 0.1, 0.02]);
        let soft = cuboid(PAD).at(Pose::translation([0.0, 0.0, 0.01 + 0.5 * PAD[2]]));
        if fixed {
            builder.body(Body::new("table", turned).shape(table));
            builder.joint(JointDescription::new("legs", JointKind::Fixed, WORLD, "table").frame(turned));
            builder.zone(ZoneDescription::new("pad", "table", soft).elasticity(1e5, 0.3));
        } else {
            builder.world_shape(table.at(turned));
            builder.zone(
                ZoneDescription::new("pad", WORLD, soft.clone().at(turned * soft.pose)).elasticity(1e5, 0.3),
            );
        }
        // A guide that lets its slide down onto it.
        let above = turned * Pose::translation([0.002, 0.001, 0.01 + PAD[2] + 0.011]);
        let slide = Body::new("slide", above).inertia(SpatialInertia::of_box(0.05, [0.02; 3]));
        builder.body(slide.shape(Shape::new(Geometry::Ball { radius: 0.01 })));
        let guide = JointDescription::new("guide", JointKind::Prismatic, WORLD, "slide").frame(above);
        builder.joint(guide.stiffness(0.0).damping(1.0));
        builder.gravity(STANDARD_GRAVITY);
        let mechanism = builder.build().unwrap();
        assert!(mechanism.has_contact());
        let mut scene = scene(&mechanism, "articulated");
        (0..500).for_each(|_| scene.step(2e-3).unwrap());
        let zones: Vec<Vector3<f64>> = scene.world().zones().map(|(_, zone)| zone.force()).collect();
        (scene.state().coordinates[0], zones[0])
    };
    let (one, two) = (rest(true), rest(false));
    assert!((one.1.z + 0.05 * 9.81).abs() < 1e-3, "{one:?}");
    // Where the zone is was reckoned in another order: rounding.
    assert!((one.0 - two.0).abs() < 1e-12 && (one.1 - two.1).norm() < 1e-9, "{one:?} {two:?}");
}

#[test]
fn what_cannot_be_a_zone_is_refused() {
    let mut world = World::new(STANDARD_GRAVITY);
    let mut zone = pad(1e5, 0.3, 0.0034);
    zone.bonded = Some(cuboid([0.01; 3]).at(Pose::translation([1.0, 0.0, 0.0])));
    let error = world.add_zone(Touched::World, &zone, &[]).unwrap_err().to_string();
    assert!(error.contains("zone `pad`"), "{error}");
    let mut fine = pad(1e5, 0.3, 1e-5);
    fine.name = "fine".into();
    let error = world.add_zone(Touched::World, &fine, &[]).unwrap_err().to_string();
    assert!(error.contains("zone `fine`"), "{error}");
    assert!(world.zones().next().is_none());
    let other = World::new(STANDARD_GRAVITY)
        .add_body(&Body::new("x", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [1.0; 3])));
    assert!(world.add_zone(Touched::Free(other.unwrap()), &pad(1e5, 0.3, 0.0034), &[]).is_err());
}
