//! Claim: a joint given by a formula works in the engines as the built-in joints do. Mechanisms with every lower pair
//! written as a formula move as with the built-in joints; the gallery's formulas settle where they come to rest; a
//! linear model yields as the full one does; a step that loses a coordinate says so; and a state of one
//! formula is none of another.

use crate::common::{FRAME, apart, come_to_rest, edited, formulas};
use pliant_core::articulated::{self, Integrator};
use pliant_core::engine::Inputs;
use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::engine::{StaticsSettings, StepError};
use pliant_core::expression::Formula;
use pliant_core::full::{Model, Simulation};
use pliant_core::gallery::{self, Passive, RandomOptions};
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder, WORLD};
use pliant_core::spatial::{Pose, SpatialInertia, Twist, Wrench, log};

const ENTRIES: [&str; 4] = ["torus-chain:4", "windmill", "spline-slide", "surface-slide"];

/// The same mechanism with every lower pair as a formula, and how many these are.
fn as_formulas(mechanism: &Mechanism) -> (Mechanism, usize) {
    let pairs = formulas::lower_pairs();
    let mut replaced = 0;
    let written = edited(mechanism, |joint| {
        if let Some((case, _)) = pairs.iter().find(|(_, kind)| *kind == joint.kind) {
            joint.kind = case.kind();
            replaced += 1;
        }
    });
    (written, replaced)
}

fn scene_loads(simulation: &mut Simulation) {
    for load in simulation.mechanism().loads().to_vec() {
        simulation.set_load(load.effector, load.wrench).unwrap();
    }
}

/// Trees and loops of lower pairs, half a second in motion. Rows of formulas span the same space by other vectors, so the
/// step is the same up to what iterations leave and rounding.
#[test]
fn lower_pairs_move_as_the_built_in_joints() {
    let kinds = vec![
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
    ];
    let mut replaced = 0;
    for seed in 0..6 {
        let options = RandomOptions {
            bodies: 8,
            kinds: kinds.clone(),
            loop_kinds: vec![JointKind::Ball],
            loops: if seed % 2 == 0 { 0.0 } else { 0.3 },
            passive: Passive::Never,
            ..RandomOptions::default()
        };
        let given = gallery::random(seed, &options);
        let (written, count) = as_formulas(&given);
        replaced += count;
        let run = |mechanism: &Mechanism| {
            let model = Model::new(mechanism);
            let mut simulation = model.simulate();
            simulation.set_iterations(8).unwrap();
            for _ in 0..30 {
                simulation.step(FRAME).unwrap();
            }
            simulation.state().clone()
        };
        let (a, b) = (run(&given), run(&written));
        let error = apart(&given, &a, &b);
        assert!(error <= 1e-8, "seed {seed}: {error:e}");
    }
    assert_eq!(replaced, 45, "joints");
}

/// Settled, the gallery's formulas are where the motion comes to rest, with all forces in balance.
#[test]
fn statics_is_where_motion_ends() {
    for name in ENTRIES {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        scene_loads(&mut simulation);
        let found = simulation.settle(&StaticsSettings::default()).unwrap();
        assert!(found.converged && found.stable, "{name}: {found:?}");
        let settled = simulation.state().clone();
        assert!(settled.violation(&mechanism) <= 1e-9, "{name}: {:e}", settled.violation(&mechanism));
        let mut moving = model.simulate();
        scene_loads(&mut moving);
        come_to_rest(&mut moving, 0.02, 3_000);
        let error = apart(&mechanism, &settled, moving.state());
        assert!(error <= 1e-7, "{name}: {error:e}");
    }
}

/// Small loads move the effector of the linear model as that of the full one: to first order in the load, so that a
/// tenth of the load leaves a hundredth of the error.
#[test]
fn the_linear_model_gives_way_as_the_full_one() {
    for name in ENTRIES {
        let mechanism = edited(&gallery::build(name).unwrap(), |_| {});
        let projection = Linearisation::at_rest(&mechanism).project().unwrap();
        let C = projection.compliance();
        let effector = crate::common::handles::effector(&mechanism, 0);
        let model = Model::new(&mechanism);
        let error = |force: f64| {
            let mut simulation = model.simulate();
            simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
            let at_rest = simulation.effector_pose(effector).unwrap();
            let wrench = Wrench::force([force, -0.7 * force, 0.4 * force]);
            simulation.set_load(effector, wrench).unwrap();
            assert!(simulation.settle(&StaticsSettings::default()).unwrap().converged);
            let moved = log(&at_rest.inverse_times(&simulation.effector_pose(effector).unwrap())).to_vector();
            let local = Wrench::new(at_rest.rotation.inverse() * wrench.force, wrench.torque);
            let expected = C.fixed_view::<6, 6>(0, 0) * local.to_vector();
            (moved - expected).norm() / expected.norm()
        };
        let (small, smaller) = (error(1e-3), error(1e-4));
        // The error is a part of the displacement: both are a tenth.
        assert!(small <= 1e-2 && smaller <= 0.12 * small + 1e-7, "{name}: {small:e} {smaller:e}");
    }
}

/// A point on a sphere by longitude and latitude: at the pole the longitude moves nothing. A step of either engine from
/// there says which joint and coordinate, and the state is as it was; so do the equations of motion.
#[test]
fn a_lost_coordinate_is_named() {
    let text = "translate(r * cos(v) * cos(u), r * cos(v) * sin(u), r * sin(v))";
    let formula = Formula::new(text).angle("u").angle("v").parameter("r", 0.3);
    let expression = formula.compile().unwrap();
    let pole = [0.0, std::f64::consts::FRAC_PI_2];
    assert_eq!((expression.lost_freedom(&[0.3, 0.2]), expression.lost_freedom(&pole)), (None, Some(0)));
    let at_pole = expression.transform(&pole);
    let kind = JointKind::from(expression);
    let mut builder = MechanismBuilder::new("globe");
    builder.body(Body::new("ball", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1, 0.1, 0.1])));
    builder.joint(JointDescription::new("place", kind, WORLD, "ball"));
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.step(0.01).unwrap();
    let mut state = State::at_rest(&mechanism);
    state.coordinates.copy_from_slice(&pole);
    state.poses[0] = at_pole;
    simulation.set_state(&state).unwrap();
    let error = simulation.step(0.01).unwrap_err();
    let StepError::Singular { joint, coordinate, .. } = &error else { panic!("{error}") };
    assert_eq!((joint.as_str(), coordinate.as_str()), ("place", "u"));
    assert_eq!(*simulation.state(), state);

    let model = articulated::Model::new(&mechanism);
    let mut simulation = model.simulate();
    for integrator in [Integrator::SemiImplicit, Integrator::RungeKutta4] {
        simulation.set_integrator(integrator).unwrap();
        simulation.set_state(&state).unwrap();
        let before = simulation.state().clone();
        assert_eq!(simulation.step(0.01).unwrap_err(), error, "the same words");
        assert_eq!(*simulation.state(), before);
    }
    let mut dynamics = model.dynamics();
    dynamics.set_state(&state, Twist::ZERO).unwrap();
    let error = dynamics.accelerations(&Inputs::new(&mechanism), &[0.0; 2], &mut [0.0; 2]).unwrap_err();
    assert_eq!((error.element.as_str(), error.freedom.as_str()), ("place", "u"));
}

/// A formula that ends within reach, beyond limits that a blow overruns: the step says which coordinate left it.
#[test]
fn a_formula_that_is_left_is_named() {
    let formula = Formula::new("translate(sqrt(1 - s), 0, 0)").length("s").compile().unwrap();
    let mut builder = MechanismBuilder::new("end");
    builder.body(Body::new("nut", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1, 0.1, 0.1])));
    builder.joint(JointDescription::new("rod", JointKind::from(formula), WORLD, "nut").limits((-0.9, 0.9)));
    let mechanism = builder.build().unwrap();
    let model = articulated::Model::new(&mechanism);
    let mut simulation = model.simulate();
    let blow = Wrench::force([-1e9, 0.0, 0.0]);
    simulation.inputs_mut().set_body_load(crate::common::handles::body(&mechanism, 0), blow).unwrap();
    let error = (0..100).find_map(|_| simulation.step(FRAME).err()).expect("it leaves");
    let StepError::Singular { joint, coordinate, .. } = &error else { panic!("{error}") };
    assert_eq!((joint.as_str(), coordinate.as_str()), ("rod", "s"));
    assert!(simulation.state().is_finite());
}

/// The stamp of a state knows the text and the parameters.
#[test]
fn a_state_belongs_to_its_formula() {
    let build = |pitch: f64| {
        let formula = Formula::ready("screw").unwrap().parameter("pitch", pitch);
        let kind = JointKind::from(formula.compile().unwrap());
        let mut builder = MechanismBuilder::new("screw");
        let inertia = SpatialInertia::of_box(1.0, [0.1, 0.1, 0.1]);
        builder.body(Body::new("nut", Pose::identity()).inertia(inertia));
        builder.joint(JointDescription::new("thread", kind, WORLD, "nut"));
        builder.build().unwrap()
    };
    let (one, other) = (build(0.01), build(0.02));
    assert!(State::at_rest(&one).belongs_to(&build(0.01)));
    assert!(!State::at_rest(&one).belongs_to(&other));
}
