//! Claim: a body from which several branches with effectors go out is an effector too, so that each branch is weighed and
//! blended alone: its linear model is the tangent of the full statics, its mass that of the mechanism, and the same
//! samples are worth more than with weights for all branches together.

use super::motion::{largest_jump, off_the_path, set};
use crate::common::loads::{Random, case, effectors_apart, set_loads};
use crate::common::{FRAME, apart, bits, builder};
use pliant_core::blended::{Links, Model, Options, Sampling};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

/// A stem of three hinges whose last link is a palm, and three fingers of three hinges on it, with gravity.
fn stem_hand() -> Mechanism {
    hand("stem hand", [1.0, 0.0, 0.4], [[1.0, 0.0, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
}

/// The same with hinges across each other, so that a turn of a fingertip tells all joints of its finger, and one of the
/// palm all joints of the stem: no motion of them is too stiff to be one of the blend.
fn crossed_hand() -> Mechanism {
    hand("crossed hand", [0.2, 0.0, 1.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.3, 1.0]])
}

/// A hand with given axes of the palm and, as parts across, out and along, of the fingers' joints.
fn hand(name: &str, palm: [f64; 3], fingers: [[f64; 3]; 3]) -> Mechanism {
    let mut builder = MechanismBuilder::new(name);
    let stem = [("stem0", [1.0, 0.2, 0.0]), ("stem1", [0.0, 1.0, 0.3]), ("palm", palm)];
    let mut parent = WORLD.to_string();
    for (i, (name, axis)) in stem.into_iter().enumerate() {
        let from = Vector3::new(0.0, 0.0, 0.1 * i as f64);
        link(&mut builder, name, &parent, from, Vector3::z() * 0.1, axis, 0.3, 20.0);
        parent = name.into();
    }
    for k in 0..3 {
        let turn = std::f64::consts::TAU * k as f64 / 3.0;
        let out = Vector3::new(turn.cos(), turn.sin(), 0.0);
        let (along, across) = ((out * 0.5 + Vector3::z()).normalize(), Vector3::z().cross(&out));
        let (mut parent, mut from) = ("palm".to_string(), Vector3::new(0.0, 0.0, 0.3) + out * 0.04);
        for (i, [a, b, c]) in fingers.into_iter().enumerate() {
            let name = format!("finger{k}{i}");
            let axis = across * a + out * b + along * c;
            link(&mut builder, &name, &parent, from, along * 0.06, axis.into(), 0.05, 4.0);
            (parent, from) = (name, from + along * 0.06);
        }
        let frame = Pose::translation((along * 0.03).into());
        builder.effector(EffectorDescription { name: format!("tip{k}"), body: parent, frame });
    }
    builder.build().unwrap()
}

/// A stem that forks into two arms, each with a palm and two fingers, all of two hinges across each other, with gravity.
fn candelabra() -> Mechanism {
    let mut builder = MechanismBuilder::new("candelabra");
    let axes = [[1.0, 0.0, 0.3], [0.1, 1.0, 0.0]];
    let mut branch = |name: &str, parent: &str, from: Vector3<f64>, way: Vector3<f64>, stiffness: f64| {
        for (i, axis) in axes.into_iter().enumerate() {
            let parent = if i == 0 { parent.to_string() } else { format!("{name}0") };
            let from = from + way * i as f64;
            link(&mut builder, &format!("{name}{i}"), &parent, from, way, axis, 0.01 * stiffness, stiffness);
        }
        from + way * 2.0
    };
    let fork = branch("stem", WORLD, Vector3::zeros(), Vector3::z() * 0.1, 40.0);
    let mut tips = Vec::new();
    for (side, x) in [("left", -0.06), ("right", 0.06)] {
        let palm = branch(side, "stem1", fork, Vector3::new(x, 0.02, 0.06), 15.0);
        for (finger, y) in [("near", -0.03), ("far", 0.04)] {
            let name = format!("{side}_{finger}");
            branch(&name, &format!("{side}1"), palm, Vector3::new(0.3 * x, y, 0.04), 4.0);
            tips.push(name);
        }
    }
    for name in tips {
        let body = format!("{name}1");
        builder.effector(EffectorDescription { name, body, frame: Pose::translation([0.0, 0.0, 0.02]) });
    }
    builder.build().unwrap()
}

#[allow(clippy::too_many_arguments)] // a helper of one place
fn link(
    builder: &mut MechanismBuilder,
    name: &str,
    parent: &str,
    from: Vector3<f64>,
    way: Vector3<f64>,
    axis: [f64; 3],
    mass: f64,
    stiffness: f64,
) {
    let pose = Pose::translation((from + way * 0.5).into());
    let size = 0.02 + way.norm();
    builder.body(Body::new(name, pose).inertia(SpatialInertia::of_box(mass, [size, 0.5 * size, size])));
    builder.joint(
        JointDescription::new(name, JointKind::Hinge, parent, name)
            .axis(from, axis.into())
            .stiffness(stiffness)
            .damping(0.01 * stiffness),
    );
}

fn settled(model: &Model, options: Options, loads: &[Wrench]) -> Option<State> {
    let mut simulation = model.simulate();
    simulation.set_options(options);
    set(&mut simulation, loads);
    simulation.settle(&Default::default()).unwrap().converged.then(|| simulation.state().clone())
}

/// The full statics under loads.
fn truth(mechanism: &Mechanism, loads: &[Wrench]) -> State {
    let model = full::Model::new(mechanism);
    let mut simulation = model.simulate();
    set_loads(&mut simulation, loads);
    assert!(simulation.settle(&Default::default()).unwrap().converged);
    simulation.state().clone()
}

#[test]
fn bodies_that_separate_branches_are_effectors() {
    let inner = |mechanism: &Mechanism| -> Vec<String> {
        let model = Model::new(mechanism, Options::default()).unwrap();
        let own = mechanism.effectors().len();
        model.effectors()[own..].iter().map(|effector| effector.name.clone()).collect()
    };
    assert_eq!(inner(&gallery::y()), ["stem1"]);
    let hand = stem_hand();
    assert_eq!(inner(&hand), ["palm"]);
    assert_eq!(inner(&candelabra()), ["stem1", "left1", "right1"]);
    // Fingers of a palm that does not move are apart already; one effector has no branches.
    for name in ["hand", "arm", "helix:20", "rungs:18"] {
        assert!(inner(&gallery::build(name).unwrap()).is_empty(), "{name}");
    }
    let joined = |mechanism: &Mechanism, pairs: &[[&str; 2]]| {
        let mut builder = builder(mechanism, |_| {});
        for (i, [parent, child]) in pairs.iter().enumerate() {
            let joint = JointDescription::new(format!("loop{i}"), JointKind::Bushing, *parent, *child);
            builder.joint(joint.stiffness(vec![1.0; 6]));
        }
        builder.build().unwrap()
    };
    // Two fingers that a spring joins are one segment, the third another; three are nothing to separate.
    assert_eq!(inner(&joined(&hand, &[["finger01", "finger12"]])), ["palm"]);
    assert!(inner(&joined(&hand, &[["finger01", "finger12"], ["finger02", "finger21"]])).is_empty());
    // A spring from the palm is inside its finger; one from below joins the finger to the stem, and one from the world.
    assert_eq!(inner(&joined(&hand, &[["palm", "finger02"]])), ["palm"]);
    assert_eq!(inner(&joined(&hand, &[["stem0", "finger02"]])), ["palm"]);
    assert_eq!(inner(&joined(&hand, &[[WORLD, "finger02"]])), ["palm"]);
    assert!(inner(&joined(&hand, &[["stem0", "finger02"], ["stem1", "finger11"]])).is_empty());
    assert!(inner(&joined(&gallery::y(), &[["left1", "right1"]])).is_empty());
}

/// From one loaded sample, with loads that differ by a part of it: the error of every link falls as the square of that.
#[test]
fn a_sample_is_the_tangent_of_the_full_statics() {
    for mechanism in [gallery::y(), stem_hand(), candelabra()] {
        let mut random = Random(8);
        let (at, way) = loop {
            let cases = [0.5, 0.5].map(|wanted| case(&mechanism, &mut random, wanted, false));
            if let [Some(at), Some(way)] = cases {
                break (at, way);
            }
        };
        let sample = (at.state.clone(), at.loads.clone());
        let model = Model::from_samples(&mechanism, Options::default(), [sample]).unwrap();
        let error = |part: f64| {
            let pairs = at.loads.iter().zip(&way.loads);
            let loads: Vec<Wrench> = pairs.map(|(a, b)| *a + *b * part).collect();
            let state = settled(&model, Options::default(), &loads).unwrap();
            apart(&mechanism, &state, &truth(&mechanism, &loads))
        };
        let (coarse, fine) = (error(0.02), error(0.01));
        eprintln!("{}: {coarse:.1e} to {fine:.1e}, {:.2}", mechanism.name(), coarse / fine);
        assert!(fine < 1e-3 && coarse / fine > 3.5, "{}: {coarse} {fine}", mechanism.name());
    }
}

#[test]
fn at_a_sample_it_is_that_sample() {
    for mechanism in [stem_hand(), candelabra()] {
        is_its_samples(&mechanism);
    }
}

fn is_its_samples(mechanism: &Mechanism) {
    let mut model = Model::new(mechanism, Options::default()).unwrap();
    let mut random = Random(2);
    while model.samples().len() < 5 {
        if let Some(case) = case(mechanism, &mut random, 0.6, false) {
            let _ = model.add(&case.loads);
        }
    }
    for sample in model.samples() {
        for links in [Links::Joint, Links::Twist] {
            let options = Options { links, ..Options::default() };
            let state = settled(&model, options, sample.loads()).unwrap();
            let off = apart(mechanism, &state, sample.state());
            // Newton's method ends within 1e-10 radii; gravity adds what the statics of the samples leave over.
            assert!(off < 1e-7, "{options:?}: {off}");
        }
    }
}

/// Errors of the effectors, in radii, under loads that nothing was trained on, on every tip for itself.
#[test]
fn the_same_samples_are_worth_more() {
    for (mechanism, counts) in [(gallery::y(), [3, 7, 15]), (stem_hand(), [7, 15, 31])] {
        let mut random = Random(21);
        let mut draw = |count: usize| {
            let mut cases = Vec::new();
            for k in 0..4 * count {
                if cases.len() < count {
                    cases.extend(case(&mechanism, &mut random, [0.4, 0.7, 1.0][k % 3], false));
                }
            }
            assert_eq!(cases.len(), count, "{}", mechanism.name());
            cases
        };
        let (training, testing) = (draw(counts[2] - 1), draw(24));
        let rest = vec![Wrench::ZERO; mechanism.effectors().len()];
        let mut samples = vec![(truth(&mechanism, &rest), rest)];
        samples.extend(training.into_iter().map(|case| (case.state, case.loads)));
        for &count in &counts {
            let [apart, together] = [true, false].map(|branches| {
                let options = Options { branches, ..Options::default() };
                let model =
                    Model::from_samples(&mechanism, options, samples[..count].iter().cloned()).unwrap();
                let mut errors: Vec<f64> = (testing.iter())
                    .map(|case| {
                        settled(&model, options, &case.loads)
                            .map_or(f64::INFINITY, |state| effectors_apart(&mechanism, &state, &case.state))
                    })
                    .collect();
                errors.sort_by(f64::total_cmp);
                (errors[errors.len() / 2], errors[errors.len() - 1])
            });
            eprintln!(
                "{} {count}: branches apart {:.5} (worst {:.4}), together {:.5} (worst {:.4})",
                mechanism.name(),
                apart.0,
                apart.1,
                together.0,
                together.1
            );
            assert!(apart.0 < together.0, "{} {count}", mechanism.name());
        }
    }
}

/// Weights of a stem of two joints change fast between two samples that do not agree, but they do not
/// jump: where y is steepest on this path, four times finer steps are near four times smaller.
#[test]
fn poses_do_not_jump() {
    let mechanism = gallery::y();
    let mut model = Model::new(&mechanism, Options::default()).unwrap();
    let mut random = Random(5);
    for k in 0..6 {
        let Some(case) = case(&mechanism, &mut random, [0.8, 0.5][k % 2], false) else { continue };
        let opposite: Vec<Wrench> = case.loads.iter().map(|w| *w * -1.0).collect();
        let _ = (model.add(&case.loads), model.add(&opposite));
    }
    assert_eq!(model.samples().len(), 9);
    let mut random = Random(17);
    let corners: Vec<Vec<Wrench>> =
        (0..3).filter_map(|_| case(&mechanism, &mut random, 0.7, false)).map(|case| case.loads).collect();
    assert_eq!(corners.len(), 2, "of 3");
    let largest = |steps: usize| {
        let mut simulation = model.simulate();
        let part = steps * 64 / 100..=steps * 71 / 100;
        corners
            .windows(2)
            .map(|pair| largest_jump(&mut simulation, pair, part.clone(), steps))
            .fold(0.0, f64::max)
    };
    let (coarse, fine) = (largest(1600), largest(6400));
    eprintln!("{coarse:.5} to {fine:.5}, {:.2}", coarse / fine);
    // A jump would stay as it is, a ratio of one.
    assert!(coarse / fine > 3.3, "{coarse} {fine}");
}

/// Where the segments' motions are all that the joints can do, the mass is that of the mechanism: the first short step
/// from rest is that of the full engine.
#[test]
fn the_first_step_is_that_of_the_full_engine() {
    for mechanism in [gallery::y(), crossed_hand(), candelabra()] {
        let mut random = Random(6);
        let case = (0..9).find_map(|_| case(&mechanism, &mut random, 0.5, false)).unwrap();
        let sample = (case.state.clone(), case.loads.clone());
        let model = Model::from_samples(&mechanism, Options::default(), [sample]).unwrap();
        let full_model = full::Model::new(&mechanism);
        let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
        expected.set_state(&case.state).unwrap();
        // Other loads than those that hold the pose.
        let loads: Vec<Wrench> =
            (case.loads.iter()).map(|w| *w + Wrench::force(random.direction().into())).collect();
        set_loads(&mut expected, &loads);
        set(&mut simulation, &loads);
        let h = 1e-6;
        expected.step(h).unwrap();
        simulation.step(h).unwrap();
        let (rates, own) = (&expected.state().rates, &simulation.state().rates);
        let largest = rates.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let off = rates.iter().zip(own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest;
        eprintln!("{}: {off:.1e} of {largest:.1e} rad/s", mechanism.name());
        assert!(off < 1e-3, "{}: {off}", mechanism.name());
    }
}

/// In motion: near the full engine, and a damped run comes to rest where the statics are.
#[test]
fn it_moves_and_comes_to_rest() {
    let mechanism = stem_hand();
    let sampling = Sampling { most_samples: 7, loads: 2, ..Sampling::default() };
    let (model, _) =
        sampling.run(&mechanism, Options::default(), |_| std::ops::ControlFlow::Continue(())).unwrap();
    let mut random = Random(13);
    let case = (0..9).find_map(|_| case(&mechanism, &mut random, 0.4, false)).unwrap();
    let full_model = full::Model::new(&mechanism);
    let (mut expected, mut simulation) = (full_model.simulate(), model.simulate());
    expected.settle(&Default::default()).unwrap();
    let start = expected.state().clone();
    simulation.set_state(&start).unwrap();
    set_loads(&mut expected, &case.loads);
    set(&mut simulation, &case.loads);
    let (error, largest) = off_the_path(&mut simulation, &mut expected);
    for _ in 0..3000 {
        simulation.step(FRAME).unwrap();
    }
    let rest = simulation.state().clone();
    simulation.step(FRAME).unwrap();
    let moved = effectors_apart(&mechanism, simulation.state(), &rest);
    simulation.settle(&Default::default()).unwrap();
    let off = apart(&mechanism, simulation.state(), &rest);
    eprintln!("path {error:.4} at {largest:.2}, {moved:.1e} a step, {off:.1e} from the statics");
    assert!(error < 0.4, "{error}");
    // Rounding; a limit cycle would be 1e-4 and more.
    assert!(moved < 1e-12, "{moved}");
    // Newton's method ends within 1e-10.
    assert!(off < 1e-8, "{off}");
}

/// A stiff pull at a fingertip takes it along, and the palm with it; the same bits twice and after restoring.
#[test]
fn pulls_act_through_the_palm() {
    let mechanism = crossed_hand();
    let model = Model::new(&mechanism, Options::default()).unwrap();
    let mut simulation = model.simulate();
    let tip = mechanism.effectors()[0].clone();
    let palm = mechanism.find_body("palm").unwrap();
    let (start, palm_start) =
        (simulation.pose(tip.body).unwrap() * tip.frame, simulation.pose(palm).unwrap());
    let target = Pose::translation([0.01, 0.005, -0.005]) * start;
    let pull = super::pull(tip.body, tip.frame, target, 1e6);
    let id = simulation.inputs_mut().add_spring(pull).unwrap();
    for _ in 0..1500 {
        simulation.step(FRAME).unwrap();
    }
    // Far stiffer than the fingers: it is where it is pulled to, but for the ratio of the two.
    let off = ((simulation.pose(tip.body).unwrap() * tip.frame).position - target.position).norm();
    let along = (simulation.pose(palm).unwrap().position - palm_start.position).norm();
    assert!(off < 1e-4 && along > 1e-3, "{off} {along}");
    // At rest the load that stands for the pull holds the same pose.
    let force = simulation.spring_force(id).unwrap();
    let pulled = simulation.state().clone();
    let mut held = model.simulate();
    held.set_load(
        crate::common::handles::effector(&mechanism, 0),
        Wrench { torque: Vector3::zeros(), ..force },
    )
    .unwrap();
    assert!(held.settle(&Default::default()).unwrap().converged);
    let off = apart(&mechanism, held.state(), &pulled);
    eprintln!("{off:.1e} from where its force holds it, palm moved {along:.4}");
    // A pull acts where the links are, a load where the blend has the effector: at 0.04 radii 1e-4 apart.
    assert!(off < 3e-5, "{off}");
    let mut again = model.simulate();
    *again.inputs_mut() = simulation.inputs().clone();
    again.set_state(&pulled).unwrap();
    assert_eq!(bits(again.state()), bits(&pulled));
    simulation.step(FRAME).unwrap();
    again.step(FRAME).unwrap();
    assert_eq!(bits(again.state()), bits(simulation.state()));
}
