//! Claim: bad input is refused with a message that says what and where, nothing is changed by it, and a
//! simulation goes on after it as if nothing had been asked.

use crate::common::{FRAME, bits, edited};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::Spring;
use pliant_core::engine::{StaticsError, StaticsSettings, StepError};
use pliant_core::full::Model;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, JointDescription, MechanismBuilder, WORLD};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench};

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let mechanism = gallery::hand();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let effector = simulation.effector("index").unwrap();
    let body = crate::common::handles::body(&mechanism, 3);
    let hinge = crate::common::handles::joint(
        &mechanism,
        mechanism.joints().iter().position(|j| j.kind == JointKind::Hinge).unwrap(),
    );
    let good = Spring {
        body,
        frame: Pose::identity(),
        target: Pose::identity(),
        target_twist: Twist::ZERO,
        stiffness: 1.0,
        turning_stiffness: 1.0,
        damping: 1.0,
        turning_damping: 1.0,
    };
    let pull = simulation.inputs_mut().add_spring(good).unwrap();
    let (inputs_before, state_before) = (simulation.inputs().clone(), bits(simulation.state()));
    for x in BAD {
        let (force, torque, at) =
            (Wrench::force([0.0, x, 0.0]), Wrench::torque([0.0, 0.0, x]), Pose::translation([x, 0.0, 0.0]));
        let moving = Twist::new(Vector3::new(0.0, x, 0.0), Vector3::zeros());
        let name = &mechanism[hinge].name;
        let mut refused = Vec::new();
        for load in [force, torque] {
            refused.push((simulation.set_load(effector, load).unwrap_err(), "load on effector"));
            refused.push((simulation.inputs_mut().set_body_load(body, load).unwrap_err(), "load on body"));
        }
        refused.push((simulation.teleport(&at).unwrap_err(), "teleport"));
        let inputs = simulation.inputs_mut();
        refused.push((inputs.set_gravity([0.0, 0.0, x]).unwrap_err(), "gravity"));
        refused.push((inputs.set_target(hinge, &[x]).unwrap_err(), name));
        refused.push((inputs.set_base(at, Twist::ZERO).unwrap_err(), "base"));
        refused.push((inputs.set_base(Pose::identity(), moving).unwrap_err(), "base"));
        refused.push((inputs.set_spring_target(pull, at, Twist::ZERO).unwrap_err(), "spring"));
        refused.push((inputs.set_spring_target(pull, Pose::identity(), moving).unwrap_err(), "spring"));
        for bad in [
            Spring { stiffness: x, ..good },
            Spring { turning_stiffness: x, ..good },
            Spring { damping: x, ..good },
            Spring { turning_damping: x, ..good },
            Spring { frame: at, ..good },
            Spring { stiffness: -1.0, ..good },
        ] {
            refused.push((inputs.add_spring(bad).unwrap_err(), "spring"));
        }
        for (error, word) in refused {
            let message = error.to_string();
            assert!(message.contains(word) && message.contains("finite"), "{message:?} should say {word:?}");
        }
    }
    let error = simulation.inputs_mut().set_target(hinge, &[0.0, 0.0]).unwrap_err().to_string();
    assert!(error.contains("2 numbers") && error.contains("1 freedoms"), "{error}");
    assert_eq!(simulation.inputs(), &inputs_before);
    assert_eq!(bits(simulation.state()), state_before);
    simulation.step(FRAME).unwrap();
}

#[test]
fn a_time_step_must_be_a_positive_number() {
    let mechanism = gallery::y();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.step(FRAME).unwrap();
    let before = bits(simulation.state());
    for dt in [0.0, -0.0, -1e-3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = simulation.step(dt).unwrap_err();
        assert!(matches!(error, StepError::TimeStep { .. }), "{error}");
        assert_eq!(bits(simulation.state()), before);
    }
}

#[test]
fn an_unknown_effector_is_answered_with_those_there_are() {
    let mut builder = MechanismBuilder::new("bare");
    builder.body(Body::new("bob", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3])));
    builder.joint(JointDescription::new("pivot", JointKind::Ball, WORLD, "bob"));
    let (y, bare) = (gallery::y(), builder.build().unwrap());
    let (y, bare) = (Model::new(&y), Model::new(&bare));
    let error = y.simulate().effector("middle").unwrap_err().to_string();
    for word in ["`middle`", "`left`", "`right`"] {
        assert!(error.contains(word), "{error}");
    }
    let error = bare.simulate().effector("tip").unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}

#[test]
fn a_step_needs_an_iteration() {
    let mechanism = gallery::y();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let error = simulation.set_iterations(0).unwrap_err().to_string();
    assert!(error.contains("iteration"), "{error}");
    simulation.step(FRAME).unwrap();
}

/// A joint that nothing holds has no one equilibrium: the error names it, among others that are held.
#[test]
fn statics_names_the_joint_that_swings_freely() {
    for free in ["hinge0", "hinge3", "hinge5"] {
        let mut mechanism = gallery::chain(6);
        mechanism = edited(&mechanism, |joint| {
            if joint.name == free {
                joint.stiffness = None;
            }
        });
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
        let before = bits(simulation.state());
        let error = simulation.settle(&StaticsSettings::default()).unwrap_err();
        assert_eq!(error, StaticsError::NotUnique { joint: free.into() });
        assert!(error.to_string().contains(&format!("`{free}`")), "{error}");
        assert_eq!(bits(simulation.state()), before, "the state is as it was");
    }
}

#[test]
fn statics_names_a_free_base() {
    let mechanism = gallery::hexapod();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let before = bits(simulation.state());
    let error = simulation.settle(&StaticsSettings::default()).unwrap_err();
    let base = mechanism.bodies().iter().find(|b| b.free).unwrap();
    assert_eq!(error, StaticsError::FreeBase { body: base.name.clone() });
    assert!(error.to_string().contains(&base.name), "{error}");
    assert_eq!(bits(simulation.state()), before);
}

/// A step that would blow up is not taken: the error says which, where and why, the state is the last
/// good one to the bit, and the next step with a sane load is the one that it would have been.
#[test]
fn a_step_that_blows_up_is_not_taken() {
    for name in ["chain", "ladder:36", "hand", "hexapod"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let (mut simulation, mut undisturbed) = (model.simulate(), model.simulate());
        for _ in 0..7 {
            simulation.step(FRAME).unwrap();
            undisturbed.step(FRAME).unwrap();
        }
        let good = bits(simulation.state());
        let body = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        for load in [Wrench::force([1e308, 1e308, 1e308]), Wrench::torque([0.0, 1e308, 0.0])] {
            simulation.inputs_mut().set_body_load(body, load).unwrap();
            let error = simulation.step(FRAME).unwrap_err();
            let StepError::NotFinite { step, body, cause } = &error else { panic!("{error}") };
            assert_eq!(*step, 8);
            assert!(mechanism.find_body(body).is_some());
            assert!(cause.contains("load"), "{cause}");
            let message = error.to_string();
            assert!(message.contains("step 8") && message.contains(body.as_str()), "{message}");
            assert_eq!(bits(simulation.state()), good, "{name}");
        }
        simulation.inputs_mut().set_body_load(body, Wrench::ZERO).unwrap();
        simulation.step(FRAME).unwrap();
        undisturbed.step(FRAME).unwrap();
        assert_eq!(bits(simulation.state()), bits(undisturbed.state()), "{name}");
    }
}

/// However large a load, the state that a step leaves has finite numbers only.
#[test]
fn a_state_is_finite_whatever_the_load() {
    let mechanism = gallery::y();
    let model = Model::new(&mechanism);
    for exponent in (0..=308).step_by(4) {
        let mut simulation = model.simulate();
        let effector = simulation.effector("left").unwrap();
        let size = 10f64.powi(exponent);
        simulation.set_load(effector, Wrench::force([size, -size, size])).unwrap();
        for _ in 0..5 {
            let before = bits(simulation.state());
            if simulation.step(FRAME).is_err() {
                assert_eq!(bits(simulation.state()), before);
            }
            assert!(simulation.state().is_finite(), "1e{exponent} N");
        }
    }
}

/// A load that throws the links apart within one step is an error that names the joint; the state stays.
#[test]
fn a_torn_joint_is_an_error() {
    let mechanism = gallery::y();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let left = simulation.effector("left").unwrap();
    simulation.set_load(left, Wrench::force([1e5, 3e4, 0.0])).unwrap();
    let error = (0..200).find_map(|_| {
        let before = simulation.state().clone();
        let error = simulation.step(1.0 / 60.0).err()?;
        assert_eq!(&before, simulation.state());
        Some(error)
    });
    let Some(StepError::Torn { joint, gap, .. }) = error else { panic!("{error:?}") };
    assert!(mechanism.find_joint(&joint).is_some() && gap > 0.15, "{joint} {gap}");
    simulation.set_load(left, Wrench::ZERO).unwrap();
    simulation.step(1.0 / 60.0).unwrap();
}

/// Whatever validates can be simulated: inertias near the limits of f64 are refused or survive.
#[test]
fn extreme_inertias_are_refused_or_work() {
    for exponent in [-320, -200, -110, -99, -60, -20, 20, 60, 99] {
        let moment = 10f64.powi(exponent);
        let mut inertia = SpatialInertia::of_box(1.0, [0.1; 3]);
        inertia.inertia = pliant_core::nalgebra::Matrix3::from_diagonal_element(moment);
        let mut builder = MechanismBuilder::new("extreme");
        builder.body(Body::new("a", Pose::translation([0.1, 0.0, 0.0])).inertia(inertia));
        builder.joint(JointDescription::new("j", JointKind::Hinge, WORLD, "a").stiffness(10.0));
        match builder.build() {
            Err(invalid) => assert!(exponent < -99, "{invalid}"),
            Ok(mechanism) => {
                let model = Model::new(&mechanism);
                let mut simulation = model.simulate();
                let _ = simulation.step(FRAME); // finite or an error, but no panic
                let _ = simulation.settle(&StaticsSettings::default());
                assert!(simulation.state().is_finite());
            }
        }
    }
}

/// A passive joint is found whatever the stiffness of the others, and a soft spring is not taken for none.
#[test]
fn uniqueness_does_not_depend_on_units() {
    for (stiff, soft, moment) in [(1e3, 0.0, 1e-4), (1e8, 0.0, 1e-4), (1e12, 0.0, 1e-4), (1e3, 0.0, 1e-9)] {
        let error = two_links(stiff, soft, moment).unwrap_err();
        assert_eq!(error, StaticsError::NotUnique { joint: "soft".into() }, "{stiff} {moment}");
    }
    for (stiff, soft, moment) in [(1e-6, 1e-6, 1.0), (0.5, 0.5, 1e6), (1e8, 1.0, 1e-4)] {
        assert!(two_links(stiff, soft, moment).unwrap(), "{stiff} {soft} {moment}");
    }
}

/// Whether two links, stiff and soft, the second with the given moments, come to rest.
fn two_links(stiff: f64, soft: f64, moment: f64) -> Result<bool, StaticsError> {
    let mut inertia = SpatialInertia::of_box(0.1, [0.1; 3]);
    let mut builder = MechanismBuilder::new("two links");
    builder.gravity([0.0; 3]);
    builder.body(Body::new("a", Pose::translation([0.1, 0.0, 0.0])).inertia(inertia));
    inertia.inertia = pliant_core::nalgebra::Matrix3::from_diagonal_element(moment);
    builder.body(Body::new("b", Pose::translation([0.3, 0.0, 0.0])).inertia(inertia));
    for (name, parent, child, x, stiffness) in
        [("stiff", WORLD, "a", 0.0, stiff), ("soft", "a", "b", 0.2, soft)]
    {
        let joint = JointDescription::new(name, JointKind::Hinge, parent, child);
        builder.joint(joint.axis(Vector3::new(x, 0.0, 0.0), Vector3::y()).stiffness(stiffness));
    }
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    model.simulate().settle(&StaticsSettings::default()).map(|found| found.converged)
}

/// A search that ends under part of the loads reports what is left of all of them.
#[test]
fn a_failed_search_tells_the_whole_residual() {
    let mut builder = MechanismBuilder::new("slider");
    builder.body(Body::new("a", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3])));
    builder.joint(JointDescription::new("slide", JointKind::Prismatic, WORLD, "a"));
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    let found = simulation.settle(&StaticsSettings::default()).unwrap();
    assert!(!found.converged && found.load_reached < 1.0, "{found:?}");
    assert!((found.residual - 9.81).abs() < 1e-9, "nothing holds 1 kg: {found:?}");
    assert!(simulation.state().is_finite());
}
