//! Oracles and random inputs that several test files share. Runs are the same every time: the
//! generators take fixed seeds.

pub mod allocation;
pub mod counting;
pub mod default_residual;
pub mod dense;
pub mod forest;
pub mod formulas;
pub mod handles;
pub mod loads;
pub mod maps;
pub mod models;
pub mod scenes;

use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::full::Simulation;
use pliant_core::mechanism::{
    CouplingDescription, EffectorDescription, JointDescription, LoadDescription, Mechanism, MechanismBuilder,
    PerFreedom, TargetDescription,
};
use pliant_core::nalgebra::{Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, Twist};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};

/// `cases` random cases from a fixed seed, no regression file.
pub fn seeded(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        rng_algorithm: RngAlgorithm::ChaCha,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A vector with entries up to `size`.
pub fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

/// A direction, any one.
pub fn direction() -> impl Strategy<Value = Vector3<f64>> {
    vector(1.0).prop_filter("too short to have a direction", |v| v.norm() > 0.1).prop_map(|v| v.normalize())
}

/// A twist with entries up to these sizes.
pub fn twist(linear: f64, angular: f64) -> impl Strategy<Value = Twist> {
    (vector(linear), vector(angular)).prop_map(|(v, w)| Twist::new(v, w))
}

/// f′(0) by the central difference of sixth order. With h = 0.01 the formula is off by h⁶/140, or
/// 7e-15, of the seventh derivative, and rounding adds about 1e-14 of f.
pub fn derivative(f: impl Fn(f64) -> Vector6<f64>) -> Vector6<f64> {
    let h = 0.01;
    let odd = |k: f64| f(k * h) - f(-k * h);
    (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) / (60.0 * h)
}

/// The matrix whose column k is the derivative of f along unit direction k.
pub fn jacobian(f: impl Fn(&Vector6<f64>) -> Vector6<f64>) -> Matrix6<f64> {
    let mut J = Matrix6::zeros();
    for k in 0..6 {
        let unit = Vector6::ith(k, 1.0);
        J.set_column(k, &derivative(|t| f(&(unit * t))));
    }
    J
}

/// How far two poses are apart: the larger of the quaternions' difference, up to their common
/// sign, and the distance.
pub fn distance(a: &Pose, b: &Pose) -> f64 {
    let (p, q) = (a.rotation.coords, b.rotation.coords);
    (p - q).norm().min((p + q).norm()).max((a.position - b.position).norm())
}

/// The step of most tests: a frame of video, s.
pub const FRAME: f64 = 1.0 / 60.0;

/// The mechanism built again from its own parts, with its joints changed on the way.
pub fn edited(mechanism: &Mechanism, change: impl FnMut(&mut JointDescription)) -> Mechanism {
    builder(mechanism, change).build().unwrap()
}

/// A builder that holds a mechanism's own parts, with its joints changed on the way.
pub fn builder(mechanism: &Mechanism, mut change: impl FnMut(&mut JointDescription)) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new(mechanism.name());
    builder.gravity(mechanism.gravity().into());
    for body in mechanism.bodies() {
        builder.body(body.clone());
    }
    for (j, joint) in mechanism.joints().iter().enumerate() {
        let id = crate::common::handles::joint(mechanism, j);
        let child = &mechanism[joint.child].name;
        let each = |f: fn(&pliant_core::mechanism::Freedom) -> f64| -> Vec<f64> {
            joint.freedoms.iter().map(f).collect()
        };
        let limits: Vec<(f64, f64)> = joint.freedoms.iter().map(|f| (f.lower, f.upper)).collect();
        let mut description = JointDescription::new(
            &joint.name,
            joint.kind.clone(),
            mechanism.parent_name(&mechanism[id]),
            child,
        )
        .frame(joint.frame);
        if !joint.freedoms.is_empty() {
            description = description
                .stiffness(each(|f| f.stiffness))
                .damping(each(|f| f.damping))
                .limits(limits)
                .rest(each(|f| f.rest))
                .armature(each(|f| f.armature))
                .friction(each(|f| f.friction))
                .torque_limit(each(|f| f.torque_limit))
                .start(joint.start.clone());
        }
        change(&mut description);
        builder.joint(description);
    }
    for effector in mechanism.effectors() {
        let body = mechanism[effector.body].name.clone();
        builder.effector(EffectorDescription { name: effector.name.clone(), body, frame: effector.frame });
    }
    for coupling in mechanism.couplings() {
        builder.coupling(CouplingDescription {
            joint: mechanism[coupling.joint].name.clone(),
            of: mechanism[coupling.of].name.clone(),
            ratio: coupling.ratio,
            offset: coupling.offset,
        });
    }
    for load in mechanism.loads() {
        let effector = mechanism[load.effector].name.clone();
        builder.load(LoadDescription { effector, wrench: load.wrench });
    }
    for target in mechanism.targets() {
        builder.target(TargetDescription {
            joint: mechanism[target.joint].name.clone(),
            time: target.time.clone(),
            position: target.position.clone(),
        });
    }
    builder
}

/// The mechanism with as much damping as lets it creep to rest soon.
pub fn creeping(mechanism: &Mechanism) -> Mechanism {
    let creep = |k: &f64| 0.05 * k;
    edited(mechanism, |joint| {
        joint.damping = joint.stiffness.as_ref().map(|stiffness| match stiffness {
            PerFreedom::All(k) => PerFreedom::All(creep(k)),
            PerFreedom::Each(list) => PerFreedom::Each(list.iter().map(creep).collect()),
        });
    })
}

/// Every number of a state, to the last bit.
pub fn bits(state: &State) -> Vec<u64> {
    let pose = |p: &Pose| [p.rotation.coords.as_slice(), p.position.as_slice()].concat();
    let twist = |t: &Twist| t.to_vector().as_slice().to_vec();
    let mut numbers = vec![state.time, state.steps as f64];
    numbers.extend(state.poses.iter().chain([&state.base]).flat_map(pose));
    numbers.extend(state.twists.iter().flat_map(twist));
    for list in
        [&state.coordinates, &state.rates, &state.forces, &state.friction, &state.multipliers, &state.private]
    {
        numbers.extend(list);
    }
    numbers.into_iter().map(f64::to_bits).collect()
}

/// Largest distance between the same body's places in two states, over the mechanism's radius.
pub fn apart(mechanism: &Mechanism, a: &State, b: &State) -> f64 {
    let distance = |(a, b): (&Pose, &Pose)| (a.position - b.position).norm();
    a.poses.iter().zip(&b.poses).map(distance).fold(0.0, f64::max) / mechanism.radius()
}

/// Linear momentum, and angular momentum about the world's origin.
pub fn momentum(mechanism: &Mechanism, state: &State) -> (Vector3<f64>, Vector3<f64>) {
    let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for ((body, pose), twist) in mechanism.bodies().iter().zip(&state.poses).zip(&state.twists) {
        let p = pose.wrench_to_outer(&body.inertia.momentum(twist));
        linear += p.force;
        angular += p.torque;
    }
    (linear, angular)
}

/// Steps until nothing moves faster than 1e-11 radii a second, or for `steps` steps; how many it took.
pub fn come_to_rest(simulation: &mut Simulation, dt: f64, steps: usize) -> usize {
    let radius = simulation.mechanism().radius();
    for step in 1..=steps {
        simulation.step(dt).unwrap();
        let speed = |t: &Twist| t.linear.norm().max(t.angular.norm() * radius);
        if simulation.state().twists.iter().map(speed).fold(0.0, f64::max) < 1e-11 * radius {
            return step;
        }
    }
    steps
}
