//! Claim: of links that overlap where a scene starts, those near a joint between them never touch, those that are deep elsewhere pass until
//! they are apart and are warned of, and all others touch; what a joint holds on the world touches it as a free body does.

use nalgebra::{UnitQuaternion, Vector3};
use pliant_core::articulated;
use pliant_core::contact::{ContactError, Scene, Surfaces};
use pliant_core::engine::{Simulation, Warning};
use pliant_core::full;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape,
};
use pliant_core::nalgebra;
use pliant_core::reduced::Reduction;
use pliant_core::spatial::{Pose, SpatialInertia};

const ENGINES: [&str; 3] = ["full", "articulated", "reduced"];

fn block(size: [f64; 3]) -> Shape {
    Shape::new(Geometry::Box { size: size.into() })
}

fn body(name: &str, at: [f64; 3], mass: f64, shape: Shape) -> Body {
    Body::new(name, Pose::translation(at)).inertia(SpatialInertia::of_box(mass, [0.1; 3])).shape(shape)
}

fn joint(
    kind: JointKind,
    [parent, child]: [&str; 2],
    at: [f64; 3],
    rotation: UnitQuaternion<f64>,
) -> JointDescription {
    let mut joint = JointDescription::new(format!("to {child}"), kind, parent, child);
    joint.frame = Pose { position: at.into(), rotation };
    joint
}

fn scene(mechanism: &Mechanism, engine: &str) -> Result<Scene, ContactError> {
    Scene::new(mechanism, Surfaces::new(), |held| -> Box<dyn Simulation> {
        match engine {
            "full" => Box::new(full::Model::new(held).simulate()),
            "articulated" => Box::new(articulated::Model::new(held).simulate()),
            _ => Box::new(Reduction::at_rest(held).build().unwrap().simulate()),
        }
    })
}

fn run(scene: &mut Scene, seconds: f64, h: f64) {
    (0..(seconds / h).round() as usize).for_each(|_| scene.step(h).unwrap());
}

fn kinds(scene: &Scene) -> Vec<Warning> {
    let about = ["overlap", "inside", "passing links"];
    scene.world().warnings().into_iter().filter(|warning| about.contains(&warning.kind)).collect()
}

/// Two blocks on slides along y, at −y and y, held by springs of 200 N/m that are relaxed −`rest` and `rest` from there.
fn on_slides(size: [f64; 3], inertia: SpatialInertia, y: f64, damping: f64, rest: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("on slides");
    builder.gravity([0.0; 3]);
    let along = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -std::f64::consts::FRAC_PI_2);
    for (name, side) in [("right", -1.0), ("left", 1.0)] {
        let at = [0.0, side * y, 0.0];
        builder.body(body(name, at, 1.0, block(size)).inertia(inertia));
        let mut slide = joint(JointKind::Prismatic, ["world", name], at, along).damping(damping);
        (slide.stiffness, slide.rest) = (Some(200.0.into()), Some((side * rest).into()));
        builder.joint(slide);
        builder.effector(EffectorDescription {
            name: name.into(),
            body: name.into(),
            frame: Pose::identity(),
        });
    }
    builder.world_shape(Shape::new(Geometry::Plane).at(Pose::translation([0.0, 0.0, -100.0])));
    builder.build().unwrap()
}

/// Springs press them together with 6 N each, a gap between them at the start.
fn fingers(size: f64, gap: f64) -> Mechanism {
    let inertia = SpatialInertia::of_box(0.1, [0.1; 3]);
    on_slides([size, 0.4 * size, size], inertia, 0.2 * size + 0.5 * gap, 5.0, -0.03)
}

#[test]
fn fingers_that_overlap_a_little_hold_each_other() {
    let mut cases = 0;
    for engine in ENGINES {
        for size in [0.02, 0.05, 0.2] {
            for part in [2e-2, 0.0, -2e-4, -2e-3, -2e-2] {
                let gap = part * size;
                let mut scene = scene(&fingers(size, gap), engine).unwrap();
                let warned = kinds(&scene);
                // The radius of such a block is 0.735 of its size.
                assert_eq!(!warned.is_empty(), part < -1e-3, "{engine} {size} {gap}: {warned:?}");
                assert!(warned.iter().all(|one| one.kind == "overlap" && (one.measure + gap).abs() < 1e-9));
                run(&mut scene, 2.0, 0.01);
                let apart = scene.state().poses[1].position.y - scene.state().poses[0].position.y;
                let deep = 0.4 * size - apart;
                assert!(deep.abs() < 1e-3 * size, "{engine} {size} {gap}: {deep} m in each other");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 45);
}

/// Two long blocks on hinges of the world that overlap crosswise, far from both hinges, by a part of their width: they pass, turn away, turn
/// back, and then touch. One warning, with the depth.
#[test]
fn links_that_are_deep_pass_until_they_are_apart() {
    let mut cases = 0;
    for engine in ENGINES {
        for (size, part) in [0.1, 1.0].into_iter().flat_map(|size| [0.5, 0.8].map(|part| (size, part))) {
            let wide = 0.2 * size;
            let long = [3.0 * size, wide, wide];
            let y = 0.5 * wide * (1.0 - part);
            let mechanism = on_slides(long, SpatialInertia::of_box(1.0, long), y, 20.0, size);
            let mut scene = scene(&mechanism, engine).unwrap();
            let warned = kinds(&scene);
            assert_eq!(warned.len(), 1, "{engine} {size} {part}: {warned:?}");
            assert_eq!(warned[0].kind, "passing links");
            assert!((warned[0].measure - part * wide).abs() < 1e-6 * size, "{warned:?}");
            let apart = |scene: &mut Scene| {
                let state = scene.state();
                state.poses[1].position.y - state.poses[0].position.y
            };
            run(&mut scene, 2.0, 0.005);
            assert!(apart(&mut scene) > 1.5 * size, "{engine}: {}", apart(&mut scene));
            for (joint, side) in mechanism.joint_ids().zip([-1.0, 1.0]) {
                scene.inputs_mut().set_target(joint, &[-side * size]).unwrap();
            }
            run(&mut scene, 3.0, 0.005);
            let deep = wide - apart(&mut scene);
            assert!(deep.abs() < 1e-3 * size, "{engine} {size} {part}: {deep} m in each other");
            assert_eq!(kinds(&scene).len(), 1);
            cases += 1;
        }
    }
    assert_eq!(cases, 12);
}

/// Short links around hinges in a row, as robots have at wrists: they overlap where these are, and nothing is said or pushed.
#[test]
fn links_around_a_wrist_never_touch() {
    for engine in ENGINES {
        for size in [0.01, 0.1, 1.0] {
            let mut builder = MechanismBuilder::new("wrist");
            builder.gravity([0.0; 3]);
            let mut parent = "world".to_string();
            for i in 0..6 {
                let (name, x) = (format!("link{i}"), 0.3 * size * f64::from(i));
                builder.body(body(&name, [x, 0.0, 0.0], 1.0, block([0.8 * size, 0.5 * size, 0.5 * size])));
                let about =
                    [UnitQuaternion::identity(), UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 1.5)]
                        [i as usize % 2];
                let hinge = joint(JointKind::Hinge, [&parent, &name], [x, 0.0, 0.0], about);
                builder.joint(hinge.stiffness(10.0).damping(0.1));
                parent = name;
            }
            builder.effector(EffectorDescription {
                name: "tip".into(),
                body: parent,
                frame: Pose::identity(),
            });
            // The first link goes through a post at its hinge.
            builder.world_shape(block([0.3 * size, 0.4 * size, 0.6 * size]));
            let mut scene = scene(&builder.build().unwrap(), engine).unwrap();
            let warned = kinds(&scene);
            assert!(warned.is_empty(), "{engine} {size}: {warned:?}");
            run(&mut scene, 0.2, 0.01);
            assert!(scene.world().contacts().iter().all(|contact| contact.force.norm() == 0.0));
        }
    }
}

/// A weight on a sprung slide of the world, in a table at the start: driven out, and it lies there. Deeper than its radius it is refused.
#[test]
fn a_lift_in_a_table() {
    let mut cases = 0;
    for engine in ENGINES {
        for (size, kind) in
            [0.02, 0.2, 1.0].into_iter().flat_map(|size| [false, true].map(|hinge| (size, hinge)))
        {
            for part in [-0.05, 0.002, 0.05, 0.2, 2.0] {
                let mut builder = MechanismBuilder::new("lift");
                builder.world_shape(block([40.0 * size, 40.0 * size, 10.0 * size]).at(Pose::translation([
                    0.0,
                    0.0,
                    -5.0 * size,
                ])));
                let ball = Shape::new(Geometry::Ball { radius: 0.5 * size });
                let z = size * (0.5 - part);
                builder.body(body("lift", [0.0, 0.0, z], 1.0, ball));
                // A hinge far away is nearly a slide.
                let (at, rotation, of) = match kind {
                    true => {
                        let about =
                            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -std::f64::consts::FRAC_PI_2);
                        ([-10.0 * size, 0.0, z], about, JointKind::Hinge)
                    }
                    false => ([0.0, 0.0, 10.0 * size], UnitQuaternion::identity(), JointKind::Prismatic),
                };
                let mut slide = joint(of, ["world", "lift"], at, rotation);
                slide.stiffness = Some((if kind { 20.0 * size } else { 2.0 / size }).into());
                slide.damping = Some((if kind { 100.0 * size * size } else { 5.0 }).into());
                builder.joint(slide);
                builder.effector(EffectorDescription {
                    name: "lift".into(),
                    body: "lift".into(),
                    frame: Pose::identity(),
                });
                let mechanism = builder.build().unwrap();
                let depth = part * size;
                if part > 1.0 {
                    let error = scene(&mechanism, engine).unwrap_err();
                    assert!(matches!(error, ContactError::Inside { .. }), "{engine} {size}: {error}");
                    cases += 1;
                    continue;
                }
                let mut scene = scene(&mechanism, engine).unwrap();
                let warned = kinds(&scene);
                assert_eq!(warned.len(), usize::from(part > 0.0), "{engine} {size} {part}: {warned:?}");
                assert!(warned.iter().all(|one| one.kind == "overlap" && (one.measure - depth).abs() < 1e-9));
                run(&mut scene, 4.0, 0.01);
                let low = 0.5 * size - scene.state().poses[0].position.z;
                assert!(low.abs() < 2e-3 * size, "{engine} {size} {part} {kind}: {low} m deep");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 90);
}
