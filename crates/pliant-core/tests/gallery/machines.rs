//! Grippers and linkages as machines have them: where they rest, that the engines agree on it, and what each is built for
//! against a closed form.

use super::*;
use crate::common::loads::effectors_apart;
use pliant_core::engine::{Simulation, State, StaticsSettings};
use pliant_core::linear::Linearisation;
use pliant_core::nalgebra::{Complex, Matrix6, Vector6};
use pliant_core::{articulated, full};

/// Name, and the largest gap of the joints over the radius at 1/60 s in `full` and in `articulated`.
///
/// Two are large in `full`, in the first steps: it solves for the gripper once before it knows that the couplers press on their
/// stops, and the tendon moves its finger far in a step.
const MACHINES: [(&str, [f64; 2]); 7] = [
    ("adaptive-gripper", [1e-2, 1e-8]),
    ("delta", [2e-7, 2e-8]),
    ("stewart", [1e-7, 1e-8]),
    ("excavator", [1e-7, 1e-8]),
    ("fin-ray", [5e-6, 5e-5]),
    ("spring-leg", [1e-6, 1e-7]),
    ("tendon-finger", [5e-4, 1e-11]),
];

fn settled(mut simulation: impl Simulation) -> State {
    let settings = StaticsSettings { tolerance: 1e-12, ..Default::default() };
    let found = simulation.settle(&settings).unwrap();
    assert!(found.stable && (found.converged || found.residual < 1e-8), "{found:?}");
    simulation.state().clone()
}

/// Under their loads, from the file's pose, in both engines and with steps of 1/60, 1/240 and 1/1000 s: they come to rest where the
/// statics of either engine puts them; loops stay closed, to the square of the step; and the engines move alike, the more so the
/// shorter the step.
#[test]
fn machines_rest_where_statics_says_at_every_step_size() {
    for (name, gaps) in MACHINES {
        let mechanism = gallery::build(name).unwrap();
        let (full, articulated) = (full::Model::new(&mechanism), articulated::Model::new(&mechanism));
        let mut statics = full.simulate();
        statics.inputs_mut().add_scene_loads();
        let exact = settled(statics);
        let mut other = articulated.simulate();
        other.inputs_mut().add_scene_loads();
        let apart = crate::common::apart(&mechanism, &settled(other), &exact);
        assert!(apart < 1e-12, "{name}: {apart:e}");
        let deflection = effectors_apart(&mechanism, &State::at_rest(&mechanism), &exact);
        println!("{name}: deflection {deflection:.4} radii, statics of the engines {apart:.0e} apart");
        let mut alike = Vec::new();
        for per_second in [60, 240, 1000] {
            let dt = 1.0 / f64::from(per_second);
            let mut engines: [Box<dyn Simulation>; 2] =
                [full.simulate().into(), articulated.simulate().into()];
            for simulation in &mut engines {
                simulation.inputs_mut().add_scene_loads();
            }
            let (mut gap, mut on_the_way) = ([0.0f64; 2], 0.0f64);
            for _ in 0..3 * per_second {
                for (simulation, gap) in engines.iter_mut().zip(&mut gap) {
                    simulation.step(dt).unwrap();
                    *gap = gap.max(simulation.violation());
                }
                let [a, b] = &mut engines;
                on_the_way = on_the_way.max(effectors_apart(&mechanism, a.state(), b.state()) / deflection);
            }
            let off = engines.each_mut().map(|s| effectors_apart(&mechanism, s.state(), &exact) / deflection);
            println!(
                "  1/{per_second} s: gap {:.0e} {:.0e}; off by {:.0e} {:.0e} of the deflection, on the way {:.1e} apart",
                gap[0], gap[1], off[0], off[1], on_the_way
            );
            for i in 0..2 {
                assert!(
                    gap[i] < gaps[i] * (60.0 * dt).powi(2),
                    "{name} {}: {:e}",
                    engines[i].engine(),
                    gap[i]
                );
                // What is left of the motion after 3 s.
                assert!(off[i] < 1e-8, "{name} {}: {:e}", engines[i].engine(), off[i]);
            }
            alike.push(on_the_way);
        }
        // Both are of first order in the step: from 1/240 s on their difference is, too.
        let [_, coarse, fine] = alike[..] else { unreachable!() };
        assert!(coarse < alike[0] && fine < coarse / 3.0 && fine < 5e-3, "{name}: {alike:?}");
    }
}

/// The mechanism without weight and loads, with the springs of joints relaxed at these coordinates: where it rests.
fn driven(mechanism: &Mechanism, joints: &[(&str, f64)]) -> State {
    let mut builder = mechanism.to_builder();
    builder.gravity([0.0; 3]);
    let mechanism = builder.build().unwrap();
    let mut simulation = full::Model::new(&mechanism).simulate();
    for (name, rest) in joints {
        let joint = mechanism.find_joint(name).unwrap();
        simulation.inputs_mut().set_target(joint, &[*rest]).unwrap();
    }
    settled(simulation)
}

/// The platform goes where the arms' closed-form inverse kinematics says, and does not turn.
///
/// In the plane of an arm, with J from its hip to its joint on the platform, u outward, v down and w aside:
/// |J − L (cos θ, sin θ, 0)| = l, or u cos θ + v sin θ = (J² + L² − l²)/2L.
#[test]
fn delta_follows_the_inverse_kinematics() {
    let delta = gallery::delta();
    let drawn = body(&delta, "platform").pose.position;
    let (R, L, l, r) = (0.164, 0.524, 1.244, 0.044);
    let angles = |p: Vector3<f64>| {
        [0.0f64, 120.0, 240.0].map(|degrees| {
            let (s, c) = degrees.to_radians().sin_cos();
            let [u, v, w] = [p.x * c + p.y * s + r - R, -p.z, p.y * c - p.x * s];
            let k = (u * u + v * v + w * w + L * L - l * l) / (2.0 * L);
            v.atan2(u) - (k / u.hypot(v)).acos()
        })
    };
    let start = angles(drawn);
    for angle in start {
        assert!((angle - std::f64::consts::FRAC_PI_6).abs() < 1e-12, "{start:?}");
    }
    for (x, y, z) in [(0.1, 0.0, 0.0), (-0.15, 0.1, 0.05), (0.05, -0.2, -0.08), (0.2, 0.2, 0.1)] {
        let to = drawn + vector(x, y, z);
        let wanted = angles(to);
        let names = ["arm0", "arm1", "arm2"];
        let joints: Vec<_> = (0..3).map(|i| (names[i], wanted[i] - start[i])).collect();
        let state = driven(&delta, &joints);
        let platform = state.poses[delta.find_body("platform").unwrap().index()];
        let (off, turned) = ((platform.position - to).norm(), platform.rotation.angle());
        println!("{to:?}: off by {off:.0e} m, turned by {turned:.0e}");
        assert!(off < 1e-9 && turned < 1e-9, "{off:e} {turned:e}");
    }
}

/// The platform's compliance is (JᵀKJ)⁻¹, J the Plücker lines of the legs: force and moment at its centre.
#[test]
fn stewart_compliance_is_that_of_its_legs() {
    let stewart = gallery::stewart();
    let center = effector(&stewart, "platform").position;
    let mut stiffness = Matrix6::zeros();
    for leg in 0..6 {
        let head = joint(&stewart, &format!("head{leg}")).frame.position;
        let foot = joint(&stewart, &format!("tube{leg}")).frame.position;
        let along = (head - foot).normalize();
        let moment = (head - center).cross(&along);
        let J = Vector6::new(along.x, along.y, along.z, moment.x, moment.y, moment.z);
        stiffness += J * J.transpose() * joint(&stewart, &format!("leg{leg}")).freedoms[0].stiffness;
    }
    let expected = stiffness.try_inverse().unwrap();
    let projection = Linearisation::at_rest(&stewart).project().unwrap();
    let found = projection.compliance();
    let off = (found - expected).amax() / expected.amax();
    println!("off by {off:.0e}");
    assert!(off < 1e-12, "{off:e}: {found} {expected}");
}

/// A point of the xz plane.
fn plane(p: Vector3<f64>) -> Complex<f64> {
    Complex::new(p.x, p.z)
}

/// The point at distances from two others, to the left of the way from one to the other or to its right.
fn meet(a: Complex<f64>, ra: f64, b: Complex<f64>, rb: f64, side: f64) -> Complex<f64> {
    let d = (b - a).norm();
    let along = (d * d + ra * ra - rb * rb) / (2.0 * d);
    let across = (ra * ra - along * along).sqrt();
    a + (b - a) / d * Complex::new(along, across * side.signum())
}

/// Above zero where p is to the left of the way from a to b.
fn side(a: Complex<f64>, b: Complex<f64>, p: Complex<f64>) -> f64 {
    ((b - a).conj() * (p - a)).im
}

/// The bucket goes where circles about the hinges meet: law of cosines at the boom and the stick, and the four-bar of the bucket.
#[test]
fn excavator_bucket_is_where_the_cylinders_put_it() {
    let excavator = gallery::excavator();
    let at = |name: &str| plane(joint(&excavator, name).frame.position);
    let tip = plane(effector(&excavator, "tip").position);
    for stroke in [[0.0; 3], [0.1, -0.05, 0.08], [-0.12, 0.1, -0.1], [0.2, 0.15, 0.15]] {
        // A body that turns about `pin` so that `foot` and `head` are apart by the cylinder: the motion of its points.
        let turned = |pin: Complex<f64>, foot: Complex<f64>, head: Complex<f64>, stroke: f64| {
            let length = (head - foot).norm() + stroke;
            let moved = meet(pin, (head - pin).norm(), foot, length, side(pin, foot, head));
            (moved - pin) / (head - pin)
        };
        let about = |pin: Complex<f64>, turn: Complex<f64>, p: Complex<f64>| pin + turn * (p - pin);
        let boom = turned(at("A"), at("boom_foot"), at("boom_head"), stroke[0]);
        // In the boom's own frame, as drawn; likewise in the stick's.
        let stick = turned(at("E"), at("stick_foot"), at("stick_head"), stroke[1]);
        let rocker = turned(at("S"), at("bucket_foot"), at("T"), stroke[2]);
        let (F, T, U) = (at("F"), at("T"), at("U"));
        let T_moved = about(at("S"), rocker, T);
        let U_moved = meet(F, (U - F).norm(), T_moved, (U - T).norm(), side(F, T, U));
        let bucket = (U_moved - F) / (U - F);
        let expected = about(at("A"), boom, about(at("E"), stick, about(F, bucket, tip)));
        let turn = boom * stick * bucket;

        let names = ["boom_cylinder", "stick_cylinder", "bucket_cylinder"];
        let joints: Vec<_> = (0..3).map(|i| (names[i], stroke[i])).collect();
        let state = driven(&excavator, &joints);
        let id = excavator.find_effector("tip").unwrap();
        let bucket = state.poses[excavator[id].body.index()];
        let found = (bucket * excavator[id].frame).position;
        let rotation = bucket.rotation * excavator[excavator[id].body].pose.rotation.inverse();
        let x = rotation * Vector3::x();
        let off = (plane(found) - expected).norm().max(found.y.abs());
        let turned = (plane(x) - turn).norm();
        println!("{stroke:?}: tip at {expected:.3}, off by {off:.0e} m and {turned:.0e} rad");
        assert!(off < 1e-9 && turned < 1e-9, "{stroke:?}: {found:?} is not {expected}, {turned:e}");
    }
}

/// Pushed on a flank, the tip moves against the push; from a twentieth of the load to twice the load.
#[test]
fn fin_ray_bends_toward_its_contact() {
    let finger = gallery::fin_ray();
    let [tip, flank] = ["tip", "flank"].map(|name| finger.find_effector(name).unwrap());
    for scale in [0.05, 1.0, 2.0] {
        let mut simulation = full::Model::new(&finger).simulate();
        for load in finger.loads() {
            simulation.set_load(load.effector, load.wrench * scale).unwrap();
        }
        let state = settled(simulation);
        let moved = |id: EffectorId| {
            let effector = &finger[id];
            let now = state.poses[effector.body.index()] * effector.frame;
            (now.position - (finger[effector.body].pose * effector.frame).position).x
        };
        let (tip, flank) = (moved(tip), moved(flank));
        println!("{scale} of the load: flank {flank:.2e} m, tip {tip:.2e} m");
        assert!(flank > 0.0 && tip < -0.5 * flank, "{flank} {tip}");
    }
}

/// The foot's compliance is Σ j jᵀ/k over the sprung joints, j how the foot moves with one of them by the linkage's closed form:
/// the heel's end is where the rod and the tarsus let it be, and the tarsus turns with it.
#[test]
fn spring_leg_compliance_is_that_of_its_springs() {
    let leg = gallery::spring_leg();
    let at = |name: &str| plane(joint(&leg, name).frame.position);
    let [H, K, S, T, heel, X] =
        ["hip", "knee", "shin_spring", "tarsus", "heel_spring", "achilles_end"].map(at);
    let foot = plane(effector(&leg, "foot").position);
    for (length, published) in [((K - H).norm(), 0.12), ((X - H).norm(), 0.5012), ((X - heel).norm(), 0.12)] {
        assert!((length - published).abs() < 2e-3, "{length} is not {published}");
    }
    let place = |angles: [f64; 4]| {
        let turn = |angle: f64| Complex::from_polar(1.0, angle);
        let [hip, knee, shin, bent] = angles;
        let K_moved = H + turn(hip) * (K - H);
        let S_moved = K_moved + turn(hip + knee) * (S - K);
        let T_moved = S_moved + turn(hip + knee + shin) * (T - S);
        let arm = (heel - T) + turn(bent) * (X - heel);
        let X_moved = meet(T_moved, arm.norm(), H, (X - H).norm(), side(T, H, X));
        T_moved + (X_moved - T_moved) / arm * (foot - T)
    };
    assert!((place([0.0; 4]) - foot).norm() < 1e-15);
    let mut expected = [0.0; 3];
    for (i, name) in ["hip", "knee", "shin_spring", "heel_spring"].into_iter().enumerate() {
        let h = 1e-4;
        let moved = |by: f64| {
            let mut angles = [0.0; 4];
            angles[i] = by;
            place(angles)
        };
        let j = ((moved(h) - moved(-h)) * 8.0 - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
        let k = joint(&leg, name).freedoms[0].stiffness;
        for (sum, term) in expected.iter_mut().zip([j.re * j.re, j.re * j.im, j.im * j.im]) {
            *sum += term / k;
        }
    }
    let projection = Linearisation::at_rest(&leg).project().unwrap();
    let R = effector(&leg, "foot").rotation_matrix();
    let C = R * projection.compliance().fixed_view::<3, 3>(0, 0) * R.transpose();
    for (found, expected) in [C[(0, 0)], C[(0, 2)], C[(2, 2)]].into_iter().zip(expected) {
        println!("{found:e} {expected:e}");
        // Differences of fourth order: rounding over the step.
        assert!((found - expected).abs() < 1e-10 * C.amax(), "{found} is not {expected}");
    }
}

/// Free, with the motor pulled by x, the tendon's force is F = k_m (x − Σ rθ), and each joint turns by Fr/k.
#[test]
fn tendon_turns_every_joint_by_its_pulley() {
    let file = gallery::tendon_finger();
    let (k, motor, pulled) = (0.05, 5000.0, 0.006);
    let pulleys = [("proximal", 0.009), ("middle", 0.007), ("distal", 0.005)];
    let force = motor * pulled / (1.0 + motor * pulleys.iter().map(|(_, r)| r * r / k).sum::<f64>());
    let state = driven(&file, &[("motor", pulled)]);
    for (name, r) in pulleys {
        let angle = state.coordinates[joint(&file, name).coordinates()][0];
        println!("{name}: {angle:.4} rad, off by {:.0e}", angle - force * r / k);
        assert!((angle - force * r / k).abs() < 1e-9, "{name}: {angle}");
    }
}
