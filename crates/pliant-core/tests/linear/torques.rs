//! Claim: under dead torques the compliance at a loaded equilibrium is the derivative of the nonlinear equilibrium, and so is
//! the tangent of the full engine; neither is symmetric then. Loads over four decades, on every effector and on other bodies.

use crate::common::handles::body;
use crate::common::loads::{Random, effectors_apart};
use pliant_core::engine::{JointProperty, Simulation as _};
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::linear::{Linearisation, Reference};
use pliant_core::mechanism::{
    Body, EffectorDescription, EffectorId, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::nalgebra::{DMatrix, Vector3, Vector6};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench, log_rotation};

/// The full simulation at the equilibrium under loads on effectors, one more on a body, and a small one more on an effector.
fn settled(
    start: &full::Simulation,
    loads: &[Wrench],
    more: Wrench,
    extra: Option<(EffectorId, Wrench)>,
) -> Option<full::Simulation> {
    let mut simulation = start.clone();
    let mechanism = simulation.mechanism().clone();
    for (e, load) in mechanism.effector_ids().zip(loads) {
        let extra = extra.filter(|(at, _)| *at == e).map_or(Wrench::ZERO, |(_, w)| w);
        simulation.set_load(e, *load + extra).unwrap();
    }
    let middle = body(&mechanism, mechanism.bodies().len() / 2);
    simulation.inputs_mut().set_body_load(middle, more).unwrap();
    simulation.settle(&Default::default()).ok()?.converged.then_some(simulation)
}

/// Random loads, mostly torques, under which an effector moves by about so many radii.
fn loads(start: &full::Simulation, random: &mut Random, wanted: f64) -> Option<(Vec<Wrench>, Wrench)> {
    let mechanism = start.mechanism().clone();
    let mut wrench = || Wrench::new(random.direction() * 0.2, random.direction() * mechanism.radius());
    let unit: Vec<Wrench> = mechanism.effectors().iter().map(|_| wrench()).collect();
    let more = wrench();
    let rest = settled(start, &vec![Wrench::ZERO; unit.len()], Wrench::ZERO, None)?.state().clone();
    let mut scale = 1.0;
    for _ in 0..25 {
        let scaled: Vec<Wrench> = unit.iter().map(|w| *w * scale).collect();
        match settled(start, &scaled, more * scale, None) {
            None => scale *= 0.5,
            Some(mut at) => {
                let moved = effectors_apart(&mechanism, at.state(), &rest);
                if (moved / wanted - 1.0).abs() < 0.3 {
                    return Some((scaled, more * scale));
                }
                scale *= (wanted / moved).clamp(0.2, 10.0);
            }
        }
    }
    None
}

/// Where an effector is moved from one pose to another, world axes at its origin.
fn twist(from: &Pose, to: &Pose) -> Vector6<f64> {
    let (v, w) = (to.position - from.position, log_rotation(&(to.rotation * from.rotation.inverse())));
    Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
}

/// C of all effectors in world axes, by central differences with Richardson's extrapolation.
fn by_differences(
    start: &full::Simulation,
    loads: &[Wrench],
    more: Wrench,
    C: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let mechanism = start.mechanism().clone();
    let at = settled(start, loads, more, None)?;
    let mut found = C * 0.0;
    for (e, effector) in mechanism.effector_ids().enumerate() {
        for k in 0..6 {
            // It moves an effector by about 1e-3 radii or rad: with the fourth power left, and 1e-13 of rounding over it.
            let length = |i: usize| if i % 6 < 3 { mechanism.radius() } else { 1.0 };
            // A wrench that moves nothing must not be large either.
            let moved = |k: usize| (0..C.nrows()).map(|i| C[(i, k)].abs() / length(i)).fold(0.0, f64::max);
            let most = (k / 3 * 3..k / 3 * 3 + 3).map(|k| moved(6 * e + k)).fold(0.0, f64::max);
            let moved = moved(6 * e + k).max(0.1 * most);
            let column = |part: f64| -> Option<Vec<f64>> {
                let step = part * 1e-3 / moved.max(f64::MIN_POSITIVE);
                let push = |sign: f64| {
                    let unit = Wrench::from_vector(&Vector6::ith(k, sign * step));
                    settled(&at, loads, more, Some((effector, unit)))
                };
                let (plus, minus) = (push(1.0)?, push(-1.0)?);
                let both = mechanism.effector_ids().flat_map(|f| {
                    let pose = |of: &full::Simulation| of.effector_pose(f).unwrap();
                    let difference = twist(&pose(&at), &pose(&plus)) - twist(&pose(&at), &pose(&minus));
                    (difference / (2.0 * step)).iter().copied().collect::<Vec<f64>>()
                });
                Some(both.collect())
            };
            let (whole, half) = (column(1.0)?, column(0.5)?);
            // Where a load this small leads to another equilibrium, or past a limit, there is no slope.
            let apart = whole.iter().zip(&half).map(|(w, h)| (w - h).abs()).fold(0.0, f64::max);
            let size = whole.iter().fold(0.0, |most: f64, x| most.max(x.abs())).max(C.amax() * 1e-3);
            if apart > 1e-3 * size {
                return None;
            }
            for (i, (w, h)) in whole.iter().zip(&half).enumerate() {
                found[(i, 6 * e + k)] = (4.0 * h - w) / 3.0;
            }
        }
    }
    Some(found)
}

/// The compliance of a projection turned into world axes.
fn in_world(mechanism: &Mechanism, at: &full::Simulation, C: &DMatrix<f64>) -> DMatrix<f64> {
    let mut T = DMatrix::zeros(C.nrows(), C.nrows());
    for (e, effector) in mechanism.effector_ids().enumerate() {
        let R = at.effector_pose(effector).unwrap().rotation_matrix();
        for at in [6 * e, 6 * e + 3] {
            T.fixed_view_mut::<3, 3>(at, at).copy_from(&R);
        }
    }
    &T * C * T.transpose()
}

#[test]
fn compliance_under_torques_is_the_slope_of_the_equilibrium() {
    let mut random = Random(5);
    let (mut tried, mut worst, mut skewest, mut tangents) = (0, 0.0f64, 0.0f64, 0.0f64);
    for name in ["two-link", "y", "arm", "helix:12", "graph", "loop:12", "hand"] {
        let mechanism = gallery::build(name).unwrap();
        let start = full::Model::new(&mechanism).simulate();
        for wanted in [1e-3, 1e-2, 0.1, 0.4] {
            let Some((loads, more)) = loads(&start, &mut random, wanted) else {
                println!("no loads: {name} {wanted}");
                continue;
            };
            let mut at = settled(&start, &loads, more, None).unwrap();
            let reduction = Linearisation::at(Reference::at_equilibrium(&mut at));
            let C = in_world(&mechanism, &at, reduction.project().unwrap().compliance());
            let Some(slope) = by_differences(&start, &loads, more, &C) else {
                println!("no differences: {name} {wanted}");
                continue;
            };
            let r = mechanism.radius();
            let scaled = |A: &DMatrix<f64>| {
                DMatrix::from_fn(A.nrows(), A.ncols(), |i, k| {
                    let length = |i: usize| if i % 6 < 3 { r } else { 1.0 };
                    A[(i, k)] / (length(i) * length(k))
                })
            };
            let (C, slope) = (scaled(&C), scaled(&slope));
            let off = (&C - &slope).amax() / slope.amax();
            // The statics stop at 1e-9 of the forces, mostly at 1e-13: over steps of 1e-3, measured 1e-10 for trees; times the
            // condition of loops, measured 3e-7.
            assert!(off < 1e-6, "{name} {wanted}: {off:e}");
            worst = worst.max(off);
            skewest = skewest.max((&C - C.transpose()).amax() / C.amax());
            // The tangent of the full engine, of one effector.
            let mut tangent = at.tangent().unwrap();
            let e = mechanism.effector_ids().next().unwrap();
            let (carrier, pose) = (mechanism[e].body, at.effector_pose(e).unwrap());
            let arm: Vector3<f64> = pose.position - at.pose(carrier).unwrap().position;
            for k in 0..6 {
                let unit = Wrench::from_vector(&Vector6::ith(k, 1.0));
                let load = Wrench::new(unit.force, unit.torque + arm.cross(&unit.force));
                let moved = tangent.displacement(&[(carrier, load)]).unwrap()[carrier.index()];
                let linear = moved.linear + moved.angular.cross(&arm);
                let length = if k < 3 { r } else { 1.0 };
                for i in 0..3 {
                    let apart = (linear[i] / (r * length) - C[(i, k)]).abs();
                    let off = apart.max((moved.angular[i] / length - C[(3 + i, k)]).abs()) / C.amax();
                    // Its rows are soft by 1e-7 of what they would hold: five digits are left of loops near buckling.
                    assert!(off < 1e-5, "{name} {wanted}: the tangent is off by {off:e}");
                    tangents = tangents.max(off);
                }
            }
            tried += 1;
        }
    }
    println!(
        "{tried} cases, off by {worst:e} ({tangents:e} by the tangent), antisymmetric part up to {skewest:e}"
    );
    assert!(tried >= 24, "{tried}");
    // It matters: without its antisymmetric part the compliance would be off by half of this.
    assert!(skewest > 0.05, "{skewest}");
}

/// Where a motor is at its torque limit it has no stiffness, and where its stiffness was changed, that one: against differences of the statics
/// and, of one link, against the closed form.
#[test]
fn at_motors_that_are_at_their_limit() {
    let mut compared = 0;
    for (limit, stiffness) in
        [(1.0, 100.0), (4.0, 100.0), (4.9, 100.0), (f64::INFINITY, 100.0), (f64::INFINITY, 40.0)]
    {
        let mut builder = MechanismBuilder::new("motor");
        let inertia = SpatialInertia::of_box(1.0, [0.2, 0.2, 0.2]);
        builder.body(Body::new("link", Pose::translation([0.5, 0.0, 0.0])).inertia(inertia));
        let joint = JointDescription::new("motor", JointKind::Hinge, WORLD, "link");
        let joint = joint.axis(Vector3::zeros(), Vector3::y()).stiffness(100.0).torque_limit(limit);
        builder.joint(joint);
        builder.effector(EffectorDescription {
            name: "tip".into(),
            body: "link".into(),
            frame: Pose::identity(),
        });
        let mechanism = builder.build().unwrap();
        let mut simulation = full::Model::new(&mechanism).simulate();
        let motor = mechanism.find_joint("motor").unwrap();
        simulation.set_joint(motor, JointProperty::Stiffness, &[stiffness]).unwrap();
        assert!(simulation.settle(&Default::default()).unwrap().converged);
        let angle = simulation.state().coordinates[0];
        // Its weight turns it by θ: m g l cos θ, whose derivative is −m g l sin θ.
        let weight = 9.81 * 0.5 * angle.sin();
        let held = (stiffness * angle).abs() < limit;
        let expected = 1.0 / (weight + if held { stiffness } else { 0.0 });
        let reference = Reference::at_equilibrium(&mut simulation);
        let found = Linearisation::at(reference).project().unwrap().compliance()[(4, 4)];
        assert!((found / expected - 1.0).abs() < 1e-9, "{limit}: {found} {expected}");
        let turned = |torque: f64| {
            let mut more = simulation.clone();
            let tip = more.effector("tip").unwrap();
            more.set_load(tip, Wrench::torque([0.0, torque, 0.0])).unwrap();
            assert!(more.settle(&Default::default()).unwrap().converged);
            more.state().coordinates[0]
        };
        let difference = (turned(1e-4) - turned(-1e-4)) / 2e-4;
        assert!((found / difference - 1.0).abs() < 1e-6, "{limit}: {found} {difference}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}
