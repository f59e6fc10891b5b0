//! Claim: what the page shows is the mechanism: a pull settles where the statics put the same force, engines change without a jump, the
//! blend comes nearer to the ghost by a model, contact carries the weight, and nothing that is asked leaves a broken state.

use std::time::Duration;

use pliant_core::contact::{Scene, Surfaces};
use pliant_core::engine::{Simulation, StaticsSettings};
use pliant_core::engines::Engine;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, Geometry, Mechanism, MechanismBuilder, PerFreedom, Shape, SpringDescription, SpringEnd, SpringStart,
};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};
use pliant_core::{full, gallery};
use pliant_view::{Command, Loaded, Session, parcel};
use serde_json::Value;

use crate::common::{Frame, drain, errors, give, pass, status};

const DT: f64 = 1.0 / 120.0;

fn session(name: &str, engine: Engine) -> Session {
    let mechanism = gallery::build(name).expect("a mechanism");
    Session::new(Loaded { engine, ..Loaded::of(mechanism) }, DT).expect("a session")
}

fn place(engine: Engine) -> u8 {
    Engine::ALL.iter().position(|other| *other == engine).expect("an engine") as u8
}

/// Holds an effector at its origin, pulls it so far and lets it settle.
fn pull(session: &mut Session, mechanism: &pliant_core::mechanism::Mechanism, way: [f64; 3]) {
    let effector = &mechanism.effectors()[0];
    let [x, y, z] = effector.frame.position.into();
    give(session, Command::Grab { body: effector.body.index() as u32, x, y, z, stiffness: 0.0 });
    let [a, b, c] = Frame::of(session).three("held");
    give(session, Command::Pull { x: a + way[0], y: b + way[1], z: c + way[2] });
}

#[test]
fn a_pull_settles_where_the_statics_put_its_force() {
    for (name, engine) in [
        ("arm", Engine::Full),
        ("arm", Engine::Articulated),
        ("arm", Engine::Reduced),
        ("rungs", Engine::Articulated),
        ("y", Engine::Full),
    ] {
        let mechanism = gallery::build(name).expect("a mechanism");
        let (mut session, mut clock) = (session(name, engine), 0.0);
        pull(&mut session, &mechanism, [0.1 * mechanism.radius(); 3]);
        pass(&mut session, &mut clock, 60.0);
        let shown = Frame::of(&mut session);
        assert_eq!(errors(&mut session), [""; 0], "{name}");
        let force = shown.three("force");
        let mut exact = full::Model::new(&mechanism).simulate();
        let tip = mechanism.effector_ids().next().expect("an effector");
        exact.set_load(tip, Wrench::force(force)).expect("a load");
        let start = exact.effector_pose(tip).expect("a pose").position;
        assert!(exact.settle(&StaticsSettings::default()).expect("statics").converged);
        let wanted = exact.effector_pose(tip).expect("a pose").position;
        let off = (wanted - pliant_core::nalgebra::Vector3::from(shown.three("held"))).norm();
        let way = (wanted - start).norm();
        // At rest the two solve the same equations; what is left is the motion that has not died out after a minute.
        assert!(
            way > 1e-5 * mechanism.radius() && off < 1e-3 * way,
            "{name}: off by {off:.2e} of {way:.2e} m"
        );
    }
}

/// At rest under gravity every engine stands where `full` does, but for its own error, and none jumps when it takes over.
#[test]
fn engines_change_without_a_jump() {
    let mut worst = 0.0f64;
    for name in ["arm", "hand", "rungs", "y", "four-bar", "helix"] {
        let mechanism = gallery::build(name).expect("a mechanism");
        let (mut session, mut clock) = (session(name, Engine::Full), 0.0);
        pass(&mut session, &mut clock, 20.0);
        give(&mut session, Command::Play { on: 0 });
        for engine in Engine::ALL {
            let before = Frame::of(&mut session);
            give(&mut session, Command::Engine { engine: place(engine) });
            let after = Frame::of(&mut session);
            assert_eq!(errors(&mut session), [""; 0], "{name} {}", engine.name());
            assert_eq!(before.number("time"), after.number("time"));
            let jumps = before.positions().into_iter().zip(after.positions()).map(|(a, b)| {
                (0..3).map(|k| f64::from(a[k] - b[k]).powi(2)).sum::<f64>().sqrt() / mechanism.radius()
            });
            let jump = jumps.fold(0.0, f64::max);
            println!("{name}: {} jumps by {jump:.1e} of the radius", engine.name());
            worst = worst.max(jump);
            // Back to the full state before the next.
            give(&mut session, Command::Engine { engine: place(Engine::Full) });
        }
    }
    assert!(worst < 1e-3, "{worst:.2e} of the radius");
}

#[test]
fn a_model_brings_the_blend_nearer_to_the_ghost() {
    let mechanism = gallery::build("y").expect("a mechanism");
    let loaded =
        Loaded { engine: Engine::Blended, ghost: Some(Engine::Full), ..Loaded::of(mechanism.clone()) };
    let (mut session, mut clock) = (Session::new(loaded, DT).expect("a session"), 0.0);
    pull(&mut session, &mechanism, [0.0, 0.6 * mechanism.radius(), 0.4 * mechanism.radius()]);
    pass(&mut session, &mut clock, 15.0);
    let before = Frame::of(&mut session).number("distance");
    give(&mut session, Command::AddModel {});
    pass(&mut session, &mut clock, 15.0);
    let after = Frame::of(&mut session);
    assert_eq!(errors(&mut session), [""; 0]);
    let weights = after.list("weights");
    println!("distance {before:.2e} before, {:.2e} after; weights {weights:?}", after.number("distance"));
    assert!(before > 1e-3 && after.number("distance") < 0.25 * before);
    assert!(weights.len() == 2 && (weights.iter().sum::<f32>() - 1.0).abs() < 1e-3);
}

#[test]
fn contact_carries_the_weight() {
    let mechanism = gallery::build("humanoid-stands").expect("a scene");
    let mut session = Session::new(Loaded::of(mechanism.clone()), 1.0 / 240.0).expect("a session");
    let mut clock = 0.0;
    pass(&mut session, &mut clock, 4.0);
    let contacts = Frame::of(&mut session).list("contacts");
    let up: f64 = contacts.chunks_exact(12).map(|contact| f64::from(contact[8])).sum();
    let weight = 9.81 * mechanism.mass();
    assert!((up / weight - 1.0).abs() < 0.01, "{up} N of {weight} N");
}

/// Where things touch, `linear` keeps the modes that an impact excites, as `pliant simulate` does: without them the motion is another.
#[test]
fn linear_keeps_its_modes_where_things_touch() {
    let (dt, steps) = (1.0 / 240.0, 120);
    for name in ["humanoid-stands", "firefighters-catch"] {
        let mechanism = gallery::build(name).expect("a scene");
        let loaded = Loaded { engine: Engine::Linear, ..Loaded::of(mechanism.clone()) };
        let mut session = Session::new(loaded, dt).expect("a session");
        give(&mut session, Command::Play { on: 0 });
        (0..steps).for_each(|_| give(&mut session, Command::Step {}));
        assert_eq!(session.steps(), steps);
        let places = |model: fn(&Mechanism) -> Linearisation| {
            let made = |held: &Mechanism| model(held).build().expect("a model").simulate();
            let mut scene = Scene::new(&mechanism, Surfaces::new(), made).expect("a scene");
            (0..steps).for_each(|_| scene.step(dt).expect("a step"));
            let poses = scene.state().poses.iter();
            poses.map(|pose| pose.position.cast::<f32>().into()).collect::<Vec<[f32; 3]>>()
        };
        let shown = Frame::of(&mut session).positions();
        assert_eq!(
            shown,
            places(|held| Linearisation::at_rest(held).modes_for_contact(1.0 / 240.0)),
            "{name}"
        );
        assert_ne!(shown, places(Linearisation::at_rest), "{name}");
    }
}

#[test]
fn a_loose_body_is_pulled() {
    let block = |size: f64| Shape::new(Geometry::Box { size: [size; 3].into() });
    let mut builder = MechanismBuilder::new("block");
    let body = Body::new("block", Pose::translation([0.0, 0.0, 0.1])).free().shape(block(0.2));
    builder.body(body.inertia(SpatialInertia::of_box(3.0, [0.2; 3])));
    builder.world_shape(Shape::new(Geometry::Plane));
    let mut session =
        Session::new(Loaded::of(builder.build().expect("a scene")), 1.0 / 240.0).expect("a session");
    let (mut clock, weight) = (0.0, 9.81 * 3.0);
    give(&mut session, Command::Grab { body: 0, x: 0.0, y: 0.0, z: 0.1, stiffness: 0.0 });
    give(&mut session, Command::Pull { x: 0.5, y: 0.0, z: 1.0 });
    pass(&mut session, &mut clock, 20.0);
    let frame = Frame::of(&mut session);
    let ([x, _, z], [fx, _, fz]) = (frame.three("held"), frame.three("force"));
    // It hangs below where it is pulled to.
    assert!((x - 0.5).abs() < 1e-3 && z > 0.5, "{x} {z}");
    assert!((fz - weight).abs() < 1e-3 * weight && fx.abs() < 1e-3 * weight, "{fx} {fz} N of {weight} N");
    give(&mut session, Command::Release {});
    pass(&mut session, &mut clock, 3.0);
    let frame = Frame::of(&mut session);
    let up: f64 = frame.list("contacts").chunks_exact(12).map(|contact| f64::from(contact[8])).sum();
    assert!((up - weight).abs() < 0.02 * weight, "{up} N of {weight} N on the floor");
    assert_eq!((frame.number("held"), errors(&mut session).len()), (0.0, 0));
}

#[test]
fn reset_is_the_start_and_a_kept_pose_returns() {
    let (mut session, mut clock) = (session("arm", Engine::Articulated), 0.0);
    let start = Frame::of(&mut session);
    pass(&mut session, &mut clock, 0.5);
    give(&mut session, Command::Save {});
    let kept = Frame::of(&mut session);
    give(&mut session, Command::Gravity { x: 1.0, y: 2.0, z: 3.0 });
    give(&mut session, Command::Scale { stiffness: 0.5, damping: 2.0 });
    pass(&mut session, &mut clock, 0.5);
    assert_ne!(Frame::of(&mut session).positions(), kept.positions());
    give(&mut session, Command::Restore {});
    assert_eq!(Frame::of(&mut session).positions(), kept.positions());
    give(&mut session, Command::Reset {});
    let again = Frame::of(&mut session);
    assert_eq!((again.positions(), again.number("time")), (start.positions(), 0.0));
    let status = status(&mut session);
    assert_eq!(status["gravity"][2], -9.81);
    assert_eq!(status["stiffnessScale"], 1.0);
    assert_eq!(errors(&mut session), [""; 0]);
}

#[test]
fn set_points_stay_within_limits_and_torques_go() {
    let mechanism = gallery::build("hand").expect("a mechanism");
    let (mut session, mut clock) = (session("hand", Engine::Articulated), 0.0);
    let at = mechanism
        .joints()
        .iter()
        .position(|joint| joint.freedoms.first().is_some_and(|f| f.upper.is_finite()))
        .expect("a limit");
    let joint = &mechanism.joints()[at];
    give(&mut session, Command::Target { joint: at as u32, freedom: 0, value: 100.0 });
    let rest = Frame::of(&mut session).list("targets")[joint.coordinates().start];
    assert_eq!(rest, joint.freedoms[0].upper as f32);
    give(&mut session, Command::Torques { on: 0 });
    pass(&mut session, &mut clock, 1.0);
    let limp = Frame::of(&mut session).number("elastic");
    assert_eq!((limp, errors(&mut session).len()), (0.0, 0));
    give(&mut session, Command::Torques { on: 1 });
    assert!(Frame::of(&mut session).number("elastic") > 0.0);
}

#[test]
fn the_scene_as_it_stands_starts_there() {
    for name in ["arm", "hexapod"] {
        let (mut session, mut clock) = (session(name, Engine::Articulated), 0.0);
        pass(&mut session, &mut clock, 0.3);
        give(&mut session, Command::SceneFile {});
        let file = drain(&mut session).into_iter().find(|message| message[0] == 5).expect("a file");
        let file: Value = serde_json::from_slice(&file[1..]).expect("JSON");
        let scene =
            pliant_io::scene::read(file["text"].as_str().expect("text"), "view.toml").expect("a scene");
        let mut again = Session::new(Loaded::of(scene), DT).expect("a session");
        let (now, then) = (Frame::of(&mut session).positions(), Frame::of(&mut again).positions());
        for (a, b) in now.iter().zip(&then) {
            assert!((0..3).all(|k| (a[k] - b[k]).abs() < 1e-5), "{name}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_broken_file_shows_its_error_and_the_last_good_scene_goes_on() {
    let (mut session, mut clock) = (session("arm", Engine::Articulated), 0.0);
    pass(&mut session, &mut clock, 0.1);
    session.load(Err("scene.toml:3: it is broken".into()));
    assert_eq!(status(&mut session)["broken"], "scene.toml:3: it is broken");
    let before = session.steps();
    pass(&mut session, &mut clock, 0.1);
    assert!(session.steps() > before);
    session.load(Ok(Loaded::of(gallery::build("y").expect("a mechanism"))));
    let messages = drain(&mut session);
    let scene = messages.iter().find(|message| message[0] == 0).expect("a scene");
    let scene: Value = serde_json::from_slice(&scene[1..]).expect("JSON");
    assert_eq!(scene["name"], "y");
    let last = messages.iter().rev().find(|message| message[0] == 2).expect("a status");
    assert_eq!(serde_json::from_slice::<Value>(&last[1..]).expect("JSON")["broken"], Value::Null);
}

/// Time is that of the clock: as many steps as fit, and a pause of the machine is not caught up.
#[test]
fn steps_follow_the_clock() {
    let (mut session, mut clock) = (session("arm", Engine::Articulated), 0.0);
    pass(&mut session, &mut clock, 2.0);
    let time = Frame::of(&mut session).number("time");
    assert!((time - clock).abs() < 0.02, "{time} s simulated in {clock} s");
    clock += 1000.0;
    pass(&mut session, &mut clock, 0.01);
    assert!(Frame::of(&mut session).number("time") < time + 0.3);
}

/// The ellipsoids are finite differences of where the full mechanism settles, at the file's pose and at another.
#[test]
fn ellipsoids_are_how_far_a_newton_moves_it() {
    let mut compared = 0;
    for (name, bend) in
        [("two-link", 0.0), ("two-link", 0.5), ("y", 0.0), ("rungs:12", 0.0), ("helix:20", 0.1)]
    {
        let mechanism = gallery::build(name).expect("a mechanism");
        assert_eq!(mechanism.gravity().norm(), 0.0, "{name}: gravity would bend it");
        let (mut session, mut clock) = (session(name, Engine::Full), 0.0);
        let mut exact = full::Model::new(&mechanism).simulate();
        let joint = mechanism.joint_ids().last().expect("a joint");
        if bend != 0.0 {
            let last = joint.index() as u32;
            give(&mut session, Command::Target { joint: last, freedom: 0, value: bend });
            exact.inputs_mut().set_target(joint, &[bend]).expect("a target");
            pass(&mut session, &mut clock, 30.0);
        }
        give(&mut session, Command::Ellipsoids { on: 1 });
        let shown = Frame::of(&mut session).list("ellipsoids");
        assert_eq!((shown.len(), errors(&mut session).len()), (9 * mechanism.effectors().len(), 0), "{name}");
        for (e, tip) in mechanism.effector_ids().enumerate() {
            let C = &shown[9 * e..9 * e + 9];
            let largest = C.iter().fold(0.0f32, |most, x| most.max(x.abs()));
            for axis in 0..3 {
                // A force that moves it by 1e-5 m or so, both ways: what is left is of second order.
                let newton = 1e-5 / f64::from(largest);
                let mut settled = |sign: f64| {
                    let mut force = [0.0; 3];
                    force[axis] = sign * newton;
                    exact.set_load(tip, Wrench::force(force)).expect("a load");
                    assert!(exact.settle(&StaticsSettings::default()).expect("statics").converged);
                    exact.effector_pose(tip).expect("a pose").position
                };
                let way = (settled(1.0) - settled(-1.0)) / (2.0 * newton);
                exact.set_load(tip, Wrench::ZERO).expect("no load");
                for row in 0..3 {
                    let off = (way[row] - f64::from(C[3 * axis + row])).abs();
                    assert!(off < 1e-5 * f64::from(largest), "{name} {e} {axis} {row}: {way} {C:?}");
                    compared += 1;
                }
            }
        }
        give(&mut session, Command::Ellipsoids { on: 0 });
        assert!(Frame::of(&mut session).list("ellipsoids").is_empty());
    }
    assert!(compared >= 45, "{compared}");
    let mut long = session("helix:400", Engine::Reduced);
    give(&mut long, Command::Ellipsoids { on: 1 });
    assert!(errors(&mut long)[0].contains("at most 200 bodies"));
}

/// What a page without a server has in it is the same scene to the last bit.
#[test]
fn a_parcel_moves_as_what_was_packed() {
    for name in ["arm", "hand-grasp", "hexapod-terrain", "y"] {
        let mut loaded = Loaded::of(gallery::build(name).expect("a mechanism"));
        let tip = loaded.mechanism.effector_ids().next().expect("an effector");
        loaded.inputs.set_load(tip, Wrench::force([0.1, 0.2, 0.3])).expect("a load");
        loaded.inputs.set_gravity([0.0, 1.0, -9.0]).expect("gravity");
        let (unpacked, dt) = parcel::unpack(&parcel::pack(&loaded, DT)).expect("a parcel");
        assert_eq!((unpacked.engine, unpacked.ghost, dt), (loaded.engine, loaded.ghost, DT));
        let frames = [loaded, unpacked].map(|loaded| {
            let (mut session, mut clock) = (Session::new(loaded, DT).expect("a session"), 0.0);
            pass(&mut session, &mut clock, 0.5);
            let frame = Frame::of(&mut session);
            (frame.list("bodies"), frame.number("kinetic").to_bits(), frame.number("elastic").to_bits())
        });
        assert_eq!(frames[0], frames[1], "{name}");
    }
    let loaded = Loaded::of(gallery::build("arm").expect("a mechanism"));
    let whole = parcel::pack(&loaded, DT);
    let surface = |corner: u32| {
        let surface =
            format!("{{\"m.stl\":{{\"points\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,{corner}]]}}}}");
        whole.replace("\"surfaces\":{}", &format!("\"surfaces\":{surface}"))
    };
    assert!(parcel::unpack(&surface(2)).is_ok());
    assert!(parcel::unpack(&surface(3)).unwrap_err().contains("refers to a missing point"));
    for damaged in
        ["{}", "{\"scene\": \"[[body]]\"}", "[[body]]\nname = 1", "{\"scene\": \"\", \"engine\": 3}"]
    {
        assert!(parcel::unpack(damaged).is_err(), "{damaged}");
    }
}

/// The springs of a scene and the loads on it are listed where they act; a pull of the mouse is not among them.
#[test]
fn what_acts_is_listed() {
    for held in [false, true] {
        let mut builder = gallery::arm().to_builder();
        let name = gallery::arm().effectors()[0].name.clone();
        let (on, to) = (SpringStart::Effector(name), SpringEnd::Point([0.5, 0.25, 1.0]));
        builder.spring(SpringDescription::new("hook", on, to).stiffness(200.0));
        let mechanism = builder.build().expect("a mechanism");
        let tip = mechanism.effector_ids().next().expect("an effector");
        let first = mechanism.body_ids().next().expect("a body");
        let mut loaded = Loaded::of(mechanism.clone());
        loaded.inputs.set_load(tip, Wrench::force([1.0, 2.0, 3.0])).expect("a load");
        loaded.inputs.set_body_load(first, Wrench::force([0.0, 4.0, 0.0])).expect("a load");
        let mut session = Session::new(loaded, DT).expect("a session");
        if held {
            pull(&mut session, &mechanism, [0.1; 3]);
        }
        let frame = Frame::of(&mut session);
        let [springs, loads] = ["springs", "loads"].map(|name| frame.list(name));
        let at = (mechanism[mechanism[tip].body].pose * mechanism[tip].frame).position.map(|x| x as f32);
        assert_eq!(springs.len(), 7);
        assert_eq!((&springs[..3], &springs[3..6]), (at.as_slice(), &[0.5, 0.25, 1.0][..]));
        let way = (at - pliant_core::nalgebra::Vector3::new(0.5, 0.25, 1.0)).norm();
        assert!((springs[6] - 200.0 * way).abs() < 1e-3 * 200.0 * way, "{} N over {way} m", springs[6]);
        assert_eq!((&loads[..3], &loads[3..6]), (at.as_slice(), &[1.0, 2.0, 3.0][..]));
        assert_eq!(&loads[9..], [0.0, 4.0, 0.0]);
    }
}

/// A loose body that is pulled has its pull as a load, which is not one that was given.
#[test]
fn a_pull_on_a_loose_body_is_no_load() {
    let mut session = session("hand-grasp", Engine::Articulated);
    let mechanism = gallery::build("hand-grasp").expect("a mechanism");
    let jointed = |id| mechanism.joints().iter().any(|joint| joint.child == id || joint.parent == Some(id));
    let loose = mechanism.body_ids().find(|id| !jointed(*id)).expect("a loose body");
    give(&mut session, Command::Grab { body: loose.index() as u32, x: 0.0, y: 0.0, z: 0.0, stiffness: 0.0 });
    give(&mut session, Command::Pull { x: 0.1, y: 0.1, z: 0.1 });
    pass(&mut session, &mut 0.0, 0.1);
    let frame = Frame::of(&mut session);
    assert_eq!((frame.number("held"), frame.list("loads").len()), (1.0, 0));
}

/// A clock that ticks only every 100 µs, as that of a browser, gives the time of a step nevertheless.
#[test]
fn a_coarse_clock_times_steps() {
    const STEP: f64 = 23.7e-6;
    let (mut session, mut now) = (session("two-link", Engine::Articulated), 0.0);
    while session.steps() < 500 {
        // Each burst begins with two looks, at its start; each step ends with one.
        now += DT;
        let mut looks = 0;
        session.advance(1.0, || {
            now += if looks > 0 { STEP } else { 0.0 };
            looks += 1;
            (now / 1e-4).floor() * 1e-4
        });
    }
    let shown = Frame::of(&mut session).number("step_time");
    assert!((shown - 1e6 * STEP).abs() < 0.2 * 1e6 * STEP, "{shown} µs");
}

/// A file that is dropped on a page is read by its extension.
#[test]
fn dropped_files_are_read_by_their_extension() {
    let dropped = |file: &str, text: &str| {
        let message = serde_json::json!({ "file": file, "text": text }).to_string();
        parcel::unpack(&message).map(|(loaded, _)| loaded.mechanism.bodies().len())
    };
    let joint = r#"<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"#;
    let mass =
        r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;
    let urdf = format!(r#"<robot name="r"><link name="a"/><link name="b">{mass}</link>{joint}</robot>"#);
    let mjcf = r#"<mujoco><worldbody><body name="b"><joint type="hinge"/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"#;
    assert_eq!(dropped("R.URDF", &urdf), Ok(2));
    assert_eq!(dropped("r.xml", mjcf), Ok(1));
    assert!(dropped("r.sdf", "<sdf").unwrap_err().contains("r.sdf:1:"));
    assert!(dropped("own.toml", "x = ").unwrap_err().contains("own.toml:1:"));
    for other in ["y.pliant", "robot.step", "robot"] {
        let error = dropped(other, "").unwrap_err();
        assert!(error.contains(other) && error.contains("written by the program `pliant`"), "{error}");
    }
}

/// The slowest speed is one in which the next step can be waited for, and slower ones are refused.
#[test]
fn no_speed_is_too_slow_for_a_clock() {
    let mut session = session("arm", Engine::Articulated);
    for factor in [1e-30, 1e-300, 5e-324, -1.0, 1e9] {
        give(&mut session, Command::Speed { factor });
        assert_eq!(errors(&mut session).len(), 1, "{factor}");
    }
    for factor in [1e-3, 0.0, 1000.0] {
        give(&mut session, Command::TimeStep { dt: 0.1 });
        give(&mut session, Command::Speed { factor });
        let due = session.due().expect("it plays");
        assert_eq!(errors(&mut session), [""; 0]);
        assert!(Duration::try_from_secs_f64(due).expect("a time to wait") <= Duration::from_secs(100));
    }
}

/// What one of the two does not take, neither has; what fails half way leaves nothing.
#[test]
fn a_refused_command_leaves_everything_as_it_was() {
    let (mut session, mut clock) = (session("arm", Engine::Full), 0.0);
    give(&mut session, Command::Ghost { engine: place(Engine::Linear) });
    assert_eq!(errors(&mut session), [""; 0]);
    pass(&mut session, &mut clock, 0.3);
    let before = Frame::of(&mut session).number("elastic");
    assert!(before > 0.0);
    for command in [Command::Scale { stiffness: 3.0, damping: 1.0 }, Command::Torques { on: 0 }] {
        give(&mut session, command);
        let said = errors(&mut session);
        assert!(said.len() == 1 && said[0].contains("the ghost (`linear`)"), "{said:?}");
        assert_eq!(Frame::of(&mut session).number("elastic"), before, "{command:?}");
    }
    give(&mut session, Command::Ghost { engine: 255 });
    give(&mut session, Command::Scale { stiffness: 3.0, damping: 1.0 });
    assert_eq!(errors(&mut session), [""; 0]);
    let scaled = Frame::of(&mut session).number("elastic");
    assert!((scaled / before - 3.0).abs() < 1e-9);
    // A ghost that cannot have these is not there afterwards.
    give(&mut session, Command::Ghost { engine: place(Engine::Linear) });
    assert_eq!(errors(&mut session).len(), 1);
    give(&mut session, Command::Hello {});
    assert_eq!(status(&mut session)["ghost"], Value::Null);
    assert_eq!(Frame::of(&mut session).number("elastic"), scaled);
    // An engine made of the file's stiffness has that, and so has the next.
    for engine in [Engine::Linear, Engine::Full] {
        give(&mut session, Command::Engine { engine: place(engine) });
        let messages = drain(&mut session);
        let last = messages.iter().rev().find(|message| message[0] == 2).expect("a status");
        let status: Value = serde_json::from_slice(&last[1..]).expect("JSON");
        assert_eq!((&status["engine"], &status["stiffnessScale"]), (&engine.name().into(), &1.0.into()));
    }
    assert!((Frame::of(&mut session).number("elastic") / before - 1.0).abs() < 0.1);
    // A body that is not there takes nothing from the hand.
    give(&mut session, Command::Grab { body: 1, x: 0.0, y: 0.0, z: 0.0, stiffness: 100.0 });
    give(&mut session, Command::Grab { body: 999, x: 0.0, y: 0.0, z: 0.0, stiffness: 100.0 });
    assert_eq!(Frame::of(&mut session).number("held"), 1.0);
}

/// Of two joints the second takes no factor of 10,000: then the first has none either.
#[test]
fn joints_are_scaled_all_or_none() {
    let two_links = gallery::build("two-link").expect("a mechanism");
    let mut builder = two_links.to_builder();
    builder.joint_mut(&two_links.joints()[1].name).expect("a joint").stiffness = Some(PerFreedom::All(1e305));
    let mechanism = builder.build().expect("a mechanism");
    let loaded = Loaded { engine: Engine::Full, ..Loaded::of(mechanism) };
    let mut session = Session::new(loaded, DT).expect("a session");
    give(&mut session, Command::Target { joint: 0, freedom: 0, value: 0.1 });
    let before = Frame::of(&mut session).number("elastic");
    assert!(before > 0.0);
    give(&mut session, Command::Scale { stiffness: 1e4, damping: 1.0 });
    assert_eq!(errors(&mut session).len(), 1);
    assert_eq!(Frame::of(&mut session).number("elastic"), before);
}

/// A page that opens holds nothing that another one held.
#[test]
fn a_page_that_opens_holds_nothing() {
    let mechanism = gallery::build("arm").expect("a mechanism");
    let mut session = session("arm", Engine::Articulated);
    pull(&mut session, &mechanism, [0.1; 3]);
    assert_eq!(Frame::of(&mut session).number("held"), 1.0);
    give(&mut session, Command::Hello {});
    assert_eq!(Frame::of(&mut session).number("held"), 0.0);
}

/// A file that the present engine does not take is shown by its own one, with all else that it has, and the page gets a note.
#[test]
fn a_changed_file_keeps_what_belongs_to_it() {
    let mut session = session("y", Engine::Blended);
    drain(&mut session);
    let mut loaded =
        Loaded { contact: false, ..Loaded::of(gallery::build("hexapod-terrain").expect("a scene")) };
    let foot = loaded.mechanism.effector_ids().next().expect("a foot");
    loaded.inputs.set_load(foot, Wrench::force([1.0, 2.0, 3.0])).expect("a load");
    loaded.inputs.set_gravity([0.0, 0.5, -9.0]).expect("gravity");
    session.load(Ok(loaded.clone()));
    let messages = drain(&mut session);
    let json = |kind: u8| -> Value {
        let message = messages.iter().rev().find(|message| message[0] == kind).expect("a message");
        serde_json::from_slice(&message[1..]).expect("JSON")
    };
    assert_eq!((&json(0)["name"], &json(0)["touches"]), (&"hexapod-terrain".into(), &false.into()));
    assert_eq!((&json(2)["engine"], &json(2)["broken"]), (&loaded.engine.name().into(), &Value::Null));
    assert_eq!(json(2)["gravity"][1], 0.5);
    let notes: Vec<String> = (messages.iter().filter(|message| message[0] == 4))
        .map(|note| String::from_utf8_lossy(&note[2..]).into_owned())
        .collect();
    assert!(
        notes.len() == 1 && notes[0].contains("`blended`") && notes[0].contains("free base"),
        "{notes:?}"
    );
    // One that neither engine takes: what the engine in use says is shown, and the last good scene moves on.
    let mut session = self::session("y", Engine::Blended);
    session.load(Ok(Loaded { engine: Engine::Blended, ..loaded }));
    let broken = status(&mut session)["broken"].as_str().expect("an error").to_string();
    assert!(broken.contains("free base"), "{broken}");
    assert_eq!(Frame::of(&mut session).positions().len(), gallery::build("y").expect("y").bodies().len());
}

/// Andrews 2015, §8.1: pull, go on in full, let it settle, add a model, go back: the blend has it, and stands where the full simulation did.
#[test]
fn a_model_made_by_another_engine_is_kept_for_the_blend() {
    let mechanism = gallery::build("y").expect("a mechanism");
    let (mut session, mut clock) = (session("y", Engine::Blended), 0.0);
    pull(&mut session, &mechanism, [0.0, 0.6 * mechanism.radius(), 0.4 * mechanism.radius()]);
    pass(&mut session, &mut clock, 15.0);
    let blend = Frame::of(&mut session);
    give(&mut session, Command::Engine { engine: place(Engine::Full) });
    pass(&mut session, &mut clock, 15.0);
    let full = Frame::of(&mut session);
    let apart = |a: &Frame, b: &Frame| {
        let both = a.positions().into_iter().zip(b.positions());
        let ways = both.map(|(a, b)| (0..3).map(|k| f64::from(a[k] - b[k]).powi(2)).sum::<f64>().sqrt());
        ways.fold(0.0, f64::max) / mechanism.radius()
    };
    let before = apart(&blend, &full);
    give(&mut session, Command::AddModel {});
    assert_eq!(status(&mut session)["models"], 2);
    assert!(Frame::of(&mut session).list("weights").is_empty());
    give(&mut session, Command::Engine { engine: place(Engine::Blended) });
    pass(&mut session, &mut clock, 15.0);
    let again = Frame::of(&mut session);
    let (after, weights) = (apart(&again, &full), again.list("weights"));
    println!("off by {before:.2e} of the radius before, {after:.2e} with the model; weights {weights:?}");
    assert!(before > 1e-3 && after < 0.1 * before);
    assert!(weights.len() == 2 && weights[1] > 0.9);
    // Models are not forgotten by a reset, but when that is asked.
    give(&mut session, Command::Reset {});
    assert_eq!(Frame::of(&mut session).list("weights").len(), 2);
    give(&mut session, Command::ForgetModels {});
    assert_eq!(Frame::of(&mut session).list("weights").len(), 1);
    assert_eq!(errors(&mut session), [""; 0]);
}

/// The gap of each joint is that of the state; their sum is the violation. A linear model opens a loop's joints, the reference does not.
#[test]
fn gaps_are_those_of_the_joints() {
    let mechanism = gallery::build("four-bar").expect("a mechanism");
    let mut seen = Vec::new();
    for engine in [Engine::Full, Engine::Linear] {
        let (mut session, mut clock) = (session("four-bar", engine), 0.0);
        pull(&mut session, &mechanism, [0.5 * mechanism.radius(); 3]);
        pass(&mut session, &mut clock, 1.0);
        let frame = Frame::of(&mut session);
        let gaps = frame.list("gaps");
        assert_eq!((gaps.len(), errors(&mut session).len()), (mechanism.joints().len(), 0));
        let sum = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / mechanism.radius();
        assert!((sum - frame.number("violation")).abs() <= 1e-12 + 1e-6 * sum);
        seen.push(sum);
    }
    assert!(seen[0] < 1e-6 && seen[1] > 10.0 * seen[0].max(1e-7), "{seen:?}");
}

/// Models have an end.
#[test]
fn models_are_bounded() {
    let (mut session, mut clock) = (session("two-link", Engine::Full), 0.0);
    for _ in 0..70 {
        give(&mut session, Command::AddModel {});
        pass(&mut session, &mut clock, 0.02);
    }
    give(&mut session, Command::Hello {});
    let said = errors(&mut session);
    assert!(!said.is_empty() && said.iter().all(|one| one.contains("at most 64 models")), "{said:?}");
}

/// Numbers of one pseudo-random row.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }
}

/// Whatever is sent, the state stays finite and the session goes on.
#[test]
fn no_message_breaks_a_session() {
    let mut random = Random(7);
    for (name, engine) in
        [("arm", Engine::Reduced), ("hand-grasp", Engine::Articulated), ("four-bar", Engine::Linear)]
    {
        let (mut session, mut clock) = (session(name, engine), 0.0);
        for _ in 0..400 {
            let kind = (random.next() % 24) as u8;
            let length = [0, 1, 4, 8, 16, 24, 28, 36][random.next() as usize % 8];
            let mut message = vec![kind];
            for _ in 0..length / 4 {
                let number = match random.next() % 4 {
                    0 => (random.next() % 9) as u32,
                    1 => random.next() as u32,
                    2 => ((random.next() % 2000) as f32 / 1000.0 - 1.0).to_bits(),
                    _ => 0x4000_0000,
                };
                message.extend(number.to_le_bytes());
            }
            message.truncate(1 + length);
            // A number of any size, tiny ones too, where one is taken.
            if length == 8 {
                let number = 10f64.powi((random.next() % 640) as i32 - 320);
                message[1..].copy_from_slice(&number.to_le_bytes());
            }
            session.take(&message);
            let due = session.due();
            assert!(due.is_none_or(|due| Duration::try_from_secs_f64(due).is_ok()), "{due:?}: {message:?}");
            pass(&mut session, &mut clock, 0.02);
            let frame = Frame::of(&mut session);
            assert!(frame.list("bodies").iter().all(|x| x.is_finite()), "{name}: {message:?}");
            drain(&mut session);
        }
        give(&mut session, Command::Reset {});
        give(&mut session, Command::Speed { factor: 1.0 });
        give(&mut session, Command::TimeStep { dt: DT });
        give(&mut session, Command::Play { on: 1 });
        let before = session.steps();
        pass(&mut session, &mut clock, 0.5);
        assert!(session.steps() > before, "{name}");
    }
}
