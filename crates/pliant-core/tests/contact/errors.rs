//! Claim: a scene of contact that makes no sense is refused with a message that says what and where, or warned of with what
//! is done; a step that is refused changes nothing, and the world goes on after it as if it had not been asked.

use super::{H, bits_of_bodies, run};
use crate::common::models::Models;
use pliant_core::contact::{
    ContactError, FreeBodyId, Scene, SimulationId, Surface, Surfaces, Touched, World,
};
use pliant_core::engine::StepError;
use pliant_core::full::{self};
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape, WORLD,
};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

fn cube(size: f64) -> Shape {
    Shape::new(Geometry::Box { size: [size; 3].into() })
}

fn block(name: &str, position: [f64; 3]) -> Body {
    Body::new(name, Pose::translation(position))
        .inertia(SpatialInertia::of_box(1.0, [0.2; 3]))
        .shape(cube(0.2))
        .free()
}

/// Asserts that a message has these words.
fn says(error: &impl ToString, words: &[&str]) {
    let message = error.to_string();
    words.iter().for_each(|word| assert!(message.contains(word), "{message:?} should say {word:?}"));
}

fn refused(surface: Surface, convex: bool) -> ContactError {
    let mut world = World::new([0.0; 3]);
    world.set_surfaces(Surfaces::from([("rock.stl".to_string(), surface)]));
    let (file, scale) = ("rock.stl".to_string(), Vector3::repeat(1.0));
    let geometry = if convex { Geometry::Convex { file, scale } } else { Geometry::Mesh { file, scale } };
    let body = block("rock", [0.0; 3]).shape(Shape::new(geometry.clone()));
    let error = world.add_body(&body).unwrap_err();
    assert_eq!(world.bodies().count(), 0, "a refused body is not there");
    let on_ground = world.add_shape(&Shape::new(geometry)).unwrap_err();
    says(&on_ground, &["the world"]);
    says(&error, &["body `rock`", "`rock.stl`", if convex { "convex" } else { "mesh" }]);
    error
}

#[test]
fn surfaces_must_be_surfaces() {
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let with = |points: &[[f64; 3]], triangles: &[[u32; 3]]| Surface {
        points: points.to_vec(),
        triangles: triangles.to_vec(),
    };
    says(&refused(with(&corners, &[]), false), &["no triangle with an area"]);
    says(&refused(with(&[], &[]), false), &["no triangle with an area"]);
    // Corners in a line, up to rounding.
    let line = [[0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.3, 0.6, 0.9]];
    says(&refused(with(&line, &[[0, 1, 2], [0, 0, 1]]), false), &["no triangle with an area"]);
    says(&refused(with(&corners, &[[0, 1, 2], [1, 2, 4]]), false), &["triangles without corners"]);
    for bad in [f64::NAN, f64::INFINITY] {
        let points = [[0.0, 0.0, bad], corners[1], corners[2], corners[3]];
        says(&refused(with(&points, &[[0, 1, 2]]), false), &["not finite"]);
        says(&refused(with(&points, &[]), true), &["not finite"]);
    }
    // In a plane, in a line, in a point, none.
    let flat: Vec<_> = (0..9).map(|i| [0.1 * f64::from(i % 3), 0.1 * f64::from(i / 3), 0.3]).collect();
    for points in [&flat[..], &line, &corners[..1], &[]] {
        says(&refused(with(points, &[]), true), &["do not span a volume"]);
    }
}

#[test]
fn a_surface_must_be_there_and_sizes_positive() {
    let mut world = World::new([0.0; 3]);
    let mesh = |scale: [f64; 3]| Shape::new(Geometry::Mesh { file: "no.stl".into(), scale: scale.into() });
    says(&world.add_shape(&mesh([1.0; 3])).unwrap_err(), &["`no.stl` was not read", "mesh", "the world"]);
    let surface =
        Surface { points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], triangles: vec![[0, 1, 2]] };
    world.set_surfaces(Surfaces::from([("no.stl".to_string(), surface)]));
    for scale in [[1.0, 0.0, 1.0], [1.0, f64::NAN, 1.0]] {
        says(&world.add_shape(&mesh(scale)).unwrap_err(), &["scale", "finite and not zero"]);
    }
    for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for geometry in [
            Geometry::Box { size: [1.0, x, 1.0].into() },
            Geometry::Ball { radius: x },
            Geometry::Capsule { radius: 1.0, half_length: x },
            Geometry::Cylinder { radius: x, half_length: 1.0 },
            Geometry::Heightfield { size: [1.0, x], heights: vec![vec![0.0; 2]; 2] },
        ] {
            let kind = geometry.name();
            says(&world.add_shape(&Shape::new(geometry)).unwrap_err(), &[kind, "finite and above zero"]);
        }
    }
    let few: [Vec<Vec<f64>>; 5] =
        [vec![], vec![vec![]], vec![vec![0.0; 2]], vec![vec![0.0]; 3], vec![vec![0.0; 2], vec![0.0; 3]]];
    for heights in few {
        let field = Shape::new(Geometry::Heightfield { size: [1.0; 2], heights });
        says(&world.add_shape(&field).unwrap_err(), &["heightfield", "two or more rows"]);
    }
    let field = Geometry::Heightfield { size: [1.0; 2], heights: vec![vec![0.0, f64::NAN]; 2] };
    says(&world.add_shape(&Shape::new(field)).unwrap_err(), &["heights must be finite"]);
}

#[test]
fn materials_must_be_in_range() {
    let mut world = World::new([0.0; 3]);
    for friction in [-0.1, f64::NAN, f64::INFINITY] {
        let shape = Shape { friction: Some(friction), ..cube(1.0) };
        says(&world.add_shape(&shape).unwrap_err(), &["friction of the world", "zero or above"]);
    }
    for restitution in [-0.1, 1.1, f64::NAN] {
        let shape = Shape { restitution: Some(restitution), ..cube(1.0) };
        let body = block("puck", [0.0; 3]).shape(shape);
        says(&world.add_body(&body).unwrap_err(), &["restitution of body `puck`", "between 0 and 1"]);
    }
    assert_eq!(world.bodies().count(), 0);
}

#[test]
fn a_free_body_needs_mass() {
    let mut world = World::new([0.0; 3]);
    let bodies = [
        SpatialInertia::ZERO,
        SpatialInertia { mass: -1.0, ..SpatialInertia::of_box(1.0, [0.1; 3]) },
        SpatialInertia { mass: f64::NAN, ..SpatialInertia::of_box(1.0, [0.1; 3]) },
        SpatialInertia { inertia: Matrix3::zeros(), ..SpatialInertia::of_box(1.0, [0.1; 3]) },
        SpatialInertia { inertia: -Matrix3::identity(), ..SpatialInertia::of_box(1.0, [0.1; 3]) },
        SpatialInertia { inertia: Matrix3::repeat(f64::NAN), ..SpatialInertia::of_box(1.0, [0.1; 3]) },
        SpatialInertia { center_of_mass: Vector3::repeat(f64::NAN), ..SpatialInertia::of_box(1.0, [0.1; 3]) },
    ];
    for inertia in bodies {
        let error = world.add_body(&Body::new("dust", Pose::identity()).inertia(inertia)).unwrap_err();
        says(&error, &["`dust`", "mass above zero", "density"]);
    }
    assert_eq!(world.bodies().count(), 0);
}

/// Two sprung fingers on the world, with shapes or without.
fn fingers(shapes: [bool; 2]) -> Mechanism {
    let mut builder = MechanismBuilder::new("fingers");
    for (i, with) in shapes.into_iter().enumerate() {
        let (name, x) = (format!("finger{i}"), i as f64);
        let mut body =
            Body::new(&name, Pose::translation([x, 0.0, 1.0])).inertia(SpatialInertia::of_box(0.1, [0.1; 3]));
        if with {
            body = body.shape(cube(0.1));
        }
        builder.body(body);
        let mut joint = JointDescription::new(format!("hinge{i}"), JointKind::Hinge, WORLD, &name);
        joint.frame = Pose::translation([x, 0.5, 1.0]);
        joint.stiffness = Some(10.0.into());
        builder.joint(joint);
        builder.effector(EffectorDescription {
            name: format!("tip{i}"),
            body: name,
            frame: Pose::identity(),
        });
    }
    builder.build().unwrap()
}

#[test]
fn an_effector_needs_a_shape_to_touch_with() {
    let (bare, half, whole) = (fingers([false; 2]), fingers([true, false]), fingers([true; 2]));
    let model = Linearisation::at_rest(&bare).build().unwrap();
    let mut world = World::new([0.0; 3]);
    let error = world.add(model.simulate()).unwrap_err();
    assert!(matches!(error, ContactError::NoShape { .. }));
    says(&error, &["`fingers`", "`linear`", "`finger0`", "`finger1`"]);
    assert!(world.warnings().is_empty());

    let model = Linearisation::at_rest(&half).build().unwrap();
    world.add(model.simulate()).unwrap();
    assert_eq!(world.warnings().len(), 1);
    says(
        &world.warnings()[0].text,
        &["`finger1`", "`fingers`", "no shape", "so no contact: give it a shape"],
    );
    assert!(!world.warnings()[0].text.contains("finger0"));

    let model = Linearisation::at_rest(&whole).build().unwrap();
    let mut world = World::new([0.0; 3]);
    world.add(model.simulate()).unwrap();
    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
}

/// Overlap at the start is told, with what is done about it, and that is what is done.
#[test]
fn an_overlap_at_the_start_is_told_and_recovered() {
    let mut world = World::new([0.0; 3]);
    world.add_shape(&cube(1.0).at(Pose::translation([0.0, 0.0, -0.5]))).unwrap();
    world.add_body(&block("clear", [0.0, 0.3, 0.1])).unwrap();
    assert!(world.warnings().is_empty());
    let id = world.add_body(&block("sunk", [0.0, 0.0, 0.09])).unwrap();
    assert_eq!(world.warnings().len(), 1);
    says(&world.warnings()[0].text, &["`world`", "`sunk`", "10.000 mm", "pushed apart at 0.104 m/s"]);
    let mut fastest = 0.0f64;
    for _ in 0..240 {
        world.step(H).unwrap();
        fastest = fastest.max(world.body(id).unwrap().twist().linear.z);
    }
    // 0.6 radii of the block a second.
    assert!((fastest - 0.06 * 3f64.sqrt()).abs() < 1e-9, "driven apart at {fastest} m/s");
    assert!(world.body(id).unwrap().pose().position.z > 0.1);
    // One that is told once is not told again when something else is added.
    world.add_body(&block("far", [5.0, 0.0, 0.1])).unwrap();
    assert_eq!(world.warnings().len(), 1);
}

/// A ball over a floor under any gravity: it comes down or the step is an error, and the ball is where it was. It does not hover.
#[test]
fn speeds_without_digits_are_refused() {
    let (mut down, mut refused) = (0, 0);
    for exponent in (0..=300).step_by(10) {
        for h in [0.1, H] {
            let g = 10f64.powi(exponent);
            let mut world = World::new([0.0, 0.0, -g]);
            world.add_shape(&Shape::new(Geometry::Plane)).unwrap();
            let ball = Shape::new(Geometry::Ball { radius: 0.1 });
            let start = Pose::translation([0.0, 0.0, 1.0]);
            let ball = Body::new("ball", start).inertia(SpatialInertia::of_box(1.0, [0.1; 3])).shape(ball);
            let id = world.add_body(&ball).unwrap();
            match (0..1000).try_for_each(|_| world.step(h).map(drop)) {
                Ok(()) => {
                    let z = world.body(id).unwrap().pose().position.z;
                    assert!((z - 0.1).abs() < 1e-3, "{g} m/s²: {z}");
                    down += 1;
                }
                Err(error) => {
                    says(&error, &["`ball`"]);
                    assert_eq!(world.body(id).unwrap().pose().position.z, 1.0, "{g} m/s²");
                    refused += 1;
                }
            }
        }
    }
    assert!(down >= 4 && refused >= 40, "{down} down, {refused} refused");
}

fn scene() -> (World, FreeBodyId) {
    let mut world = World::new([0.0, 0.0, -9.81]);
    world.add_shape(&cube(4.0).at(Pose::translation([0.0, 0.0, -2.0]))).unwrap();
    let id = world.add_body(&block("one", [0.0, 0.0, 0.1])).unwrap();
    world.add_body(&block("two", [0.02, 0.03, 0.301])).unwrap();
    run(&mut world, 30);
    (world, id)
}

fn bits(world: &World) -> Vec<u64> {
    let mut all = bits_of_bodies(world);
    all.extend(
        world
            .contacts()
            .iter()
            .flat_map(|c| c.force.iter().chain(&c.point).map(|x| x.to_bits()).collect::<Vec<_>>()),
    );
    all
}

/// What a mechanism's own state has, besides what a world tells.
fn all_bits(world: &mut World, actors: &[SimulationId]) -> Vec<u64> {
    let mut all = bits(world);
    for id in actors {
        let state = world.simulation_mut(*id).unwrap().state();
        all.extend([state.time.to_bits(), state.steps]);
        for (pose, twist) in state.poses.iter().zip(&state.twists) {
            let numbers = pose.rotation.coords.iter().chain(&pose.position);
            all.extend(numbers.chain(&twist.linear).chain(&twist.angular).map(|x| x.to_bits()));
        }
        all.extend(state.coordinates.iter().chain(&state.rates).chain(&state.forces).map(|x| x.to_bits()));
    }
    all
}

/// A world of two mechanisms with a block on each; the second gets a blow that it cannot take. Nothing has moved then, and
/// without the blow all goes on as in a world that never saw it.
#[test]
fn all_mechanisms_step_or_none() {
    // Farther away than the blow comes in a step, and so fast that pieces of a step do not help.
    let (first, second) = (plates([-1e5, 0.0]), plates([0.0, 0.0]));
    let (models, full) = (Models::new(&first), full::Model::new(&second));
    for actor in models.simulations() {
        let engine = actor.engine();
        let mut left = World::new([0.0, 0.0, -9.81]);
        // One iteration takes the plate along a straight line.
        let mut other = full.simulate();
        other.set_iterations(1).unwrap();
        let ids = [left.add(actor).unwrap(), left.add(other).unwrap()];
        let resting = left.add_body(&block("resting", [-1e5, 0.0, 0.2])).unwrap();
        let blow = left.add_body(&block("blow", [0.0, 0.0, 0.2])).unwrap();
        run(&mut left, 30);
        let mut asked = left.clone();
        let (pose, twist) = (left.body(blow).unwrap().pose(), left.body(blow).unwrap().twist());
        let fast = Twist { linear: Vector3::new(0.0, 0.0, -1e6), ..twist };
        asked.body_mut(blow).unwrap().place(pose, fast);
        let before = all_bits(&mut asked, &ids);
        let error = asked.step(H).unwrap_err();
        says(&error, &["step 31", "`hinge`"]);
        assert_eq!(all_bits(&mut asked, &ids), before, "{engine}");
        assert!(
            asked.force_on(Touched::Free(resting)).unwrap().force.z > 0.0,
            "{engine}: contacts of the last step"
        );
        asked.body_mut(blow).unwrap().place(pose, twist);
        left.body_mut(blow).unwrap().place(pose, twist);
        for _ in 0..30 {
            asked.step(H).unwrap();
            left.step(H).unwrap();
            assert_eq!(all_bits(&mut asked, &ids), all_bits(&mut left, &ids), "{engine}: afterwards");
        }
    }
}

/// A plate on a sprung hinge.
fn plates(at: [f64; 2]) -> Mechanism {
    let mut builder = MechanismBuilder::new("plates");
    let size = [0.5, 0.5, 0.1];
    let shape = Shape::new(Geometry::Box { size: size.into() });
    let body = Body::new("plate", Pose::translation([at[0], at[1], 0.05]));
    builder.body(body.inertia(SpatialInertia::of_box(1.0, size)).shape(shape));
    let mut joint = JointDescription::new("hinge", JointKind::Hinge, WORLD, "plate");
    joint.frame = Pose::translation([at[0] - 0.5, at[1], 0.05]) * Pose::rotation([1.0, 0.0, 0.0], 1.5);
    joint.stiffness = Some(1000.0.into());
    builder.joint(joint);
    builder.effector(EffectorDescription {
        name: "top".into(),
        body: "plate".into(),
        frame: Pose::identity(),
    });
    builder.build().unwrap()
}

#[test]
fn a_step_that_is_refused_changes_nothing() {
    let (mut asked, id) = scene();
    let (mut left, _) = scene();
    let before = bits(&asked);
    assert_eq!(before, bits(&left), "the same bits twice");
    for dt in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = asked.step(dt).unwrap_err();
        assert!(matches!(error, StepError::TimeStep { .. }));
        assert_eq!(bits(&asked), before);
    }
    for x in [f64::NAN, f64::INFINITY, -1e308] {
        for load in [Wrench::force([0.0, x, -x]), Wrench::torque([x, 0.0, 1e9 * x])] {
            asked.body_mut(id).unwrap().set_load(load);
            let error = asked.step(1e6 * H).unwrap_err();
            says(&error, &["step 31", "`one`", "not finite"]);
            assert_eq!(bits(&asked), before);
        }
    }
    asked.body_mut(id).unwrap().set_load(Wrench::ZERO);
    let (pose, twist) = (asked.body(id).unwrap().pose(), asked.body(id).unwrap().twist());
    for (pose, twist) in [
        (Pose::translation([f64::NAN, 0.0, 0.0]), twist),
        (pose, Twist { linear: Vector3::repeat(f64::INFINITY), ..twist }),
    ] {
        let mut placed = asked.clone();
        placed.body_mut(id).unwrap().place(pose, twist);
        let before = bits(&placed);
        says(&placed.step(H).unwrap_err(), &["`one`", "not finite"]);
        assert_eq!(bits(&placed), before);
    }
    for _ in 0..30 {
        asked.step(H).unwrap();
        left.step(H).unwrap();
        assert_eq!(bits(&asked), bits(&left));
    }
}

/// A hand inside a block: a scene is refused with what is where and what to do; in a world it is warned of, nothing is driven, and
/// forces stay those of weights and springs, in every engine and for blocks of several sizes.
#[test]
fn what_starts_inside_is_refused() {
    let hand = pliant_core::gallery::build("hand").unwrap();
    for size in [0.5, 1.0, 5.0] {
        let mut builder = hand.to_builder();
        builder.world_shape(cube(size));
        let whole = builder.build().unwrap();
        let models = Models::new(whole.take_apart().held.as_ref().unwrap());
        for simulation in models.simulations() {
            let engine = simulation.engine();
            let scene = Scene::new(&whole, Surfaces::new(), |_| simulation.clone());
            says(&scene.unwrap_err(), &["`world`", "at the start", "touches = false"]);
            let mut world = World::new([0.0, 0.0, -9.81]);
            world.add_shape(&cube(size)).unwrap();
            world.add(simulation).unwrap();
            assert!(world.warnings().iter().any(|warning| warning.kind == "inside"), "{engine}");
            for _ in 0..24 {
                // An error is an answer too.
                if world.step(H).is_err() {
                    break;
                }
                let most = world.contacts().iter().map(|contact| contact.force.norm()).fold(0.0, f64::max);
                // The hand weighs 4.3 N, and its springs press with some newtons.
                assert!(most < 1e3, "{engine}, {size} m: {most} N");
            }
        }
    }
}
