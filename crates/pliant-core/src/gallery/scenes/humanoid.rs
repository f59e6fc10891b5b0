//! Humanoid-stands: a robot of 1.2 m and 30 kg on two flat feet, under the control of its joints.
//!
//! ```text
//!      O  head             z up, x forward, y to the left
//!    ┌───┐ chest           each leg: hip yaw, roll and pitch, knee, ankle pitch and roll
//!   ╱│   │╲  arms          each arm: shoulder pitch and roll, elbow
//!  ╱ └┬─┬┘ ╲               waist yaw; 19 hinges and a free base
//!     │ │ legs, knees a little bent
//!    ─┴─┴─ feet
//! ```
//! Shapes and dimensions are our own. Springs of the joints are PD control at fixed set-points; knees are bent by 0.4 rad so that the robot is
//! away from the singular pose.

use nalgebra::Vector3;

use super::super::link::{Link, box_body, box_shape, effector, finish};
use super::ground;
use crate::joints::JointKind;
use crate::mechanism::{Body, JointDescription, Mechanism, MechanismBuilder};
use crate::spatial::{Pose, SpatialInertia};

/// Half the bend of a knee, rad: hip and ankle take one half each.
const BEND: f64 = 0.2;
/// Length of thigh and of shin, m.
const BONE: f64 = 0.3;
/// Height of the ankle over the sole, m, and the foot's edges.
const ANKLE: f64 = 0.06;
const FOOT: [f64; 3] = [0.2, 0.1, 0.04];
const FRICTION: f64 = 0.8;
/// Half the distance of the legs and of the shoulders, m.
const HIP: f64 = 0.09;
const SHOULDER: f64 = 0.19;

/// A humanoid that stands.
pub fn humanoid_stands() -> Mechanism {
    let mut builder = MechanismBuilder::new("humanoid-stands");
    robot(&mut builder);
    builder.world_shape(ground(0.0, FRICTION));
    finish(builder)
}

fn robot(builder: &mut MechanismBuilder) {
    let (s, c) = BEND.sin_cos();
    let hip = ANKLE + 2.0 * BONE * c;
    let waist = hip + 0.08;
    let shoulder = waist + 0.3;
    let upright = |x: f64, y: f64, z: f64| Pose::translation([x, y, z]);
    let mut pelvis = box_body("pelvis", upright(0.0, 0.0, hip + 0.03), 4.0, [0.14, 0.24, 0.1]).free();
    pelvis.passes = vec!["left_thigh".into(), "right_thigh".into()];
    builder.body(pelvis);
    // What is between two hinges at one point has no shape.
    let motor = |name: String, at: Pose, mass: f64| {
        Body::new(name, at).inertia(SpatialInertia::of_box(mass, [0.06; 3]))
    };
    builder.body(box_body("chest", upright(0.0, 0.0, waist + 0.17), 9.0, [0.16, 0.3, 0.3]));
    builder.body(box_body("head", upright(0.02, 0.0, shoulder + 0.16), 2.0, [0.14, 0.14, 0.18]));
    // Springs as stiff as what they carry asks for: they sag by some hundredths of a radian.
    let hinge =
        |name: &str, parent: &str, child: &str, at: Vector3<f64>, axis: Vector3<f64>, stiffness: f64| {
            let joint = JointDescription::new(name, JointKind::Hinge, parent, child).axis(at, axis);
            joint.stiffness(stiffness).damping(0.03 * stiffness)
        };
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    builder.joint(hinge("waist", "pelvis", "chest", Vector3::new(0.0, 0.0, waist), z, 400.0));
    builder.joint(hinge("neck", "chest", "head", Vector3::new(0.0, 0.0, shoulder + 0.06), y, 50.0));
    for (side, sign) in [("left", 1.0), ("right", -1.0)] {
        let part = |name: &str| format!("{side}_{name}");
        let across = sign * HIP;
        let at = |x: f64, z: f64| Vector3::new(x, across, z);
        let (top, knee, ankle) = (at(0.0, hip), at(BONE * s, hip - BONE * c), at(0.0, ANKLE));
        builder.body(motor(part("hip_yaw"), upright(0.0, across, hip + 0.02), 0.4));
        builder.body(motor(part("hip_roll"), upright(0.0, across, hip), 0.4));
        builder.body(Link::new(top, knee).mass(2.5).section(0.08).body(part("thigh")));
        builder.body(Link::new(knee, ankle).mass(1.6).section(0.06).body(part("shin")));
        builder.body(motor(part("ankle"), upright(0.0, across, ANKLE), 0.2));
        let sole = Pose::translation([0.02, across, 0.5 * FOOT[2]]);
        let mut foot = box_body(part("foot"), sole, 0.7, FOOT);
        foot.shapes[0].friction = Some(FRICTION);
        builder.body(foot);
        for (name, parent, child, at, axis, stiffness) in [
            ("hip_yaw", "pelvis".into(), part("hip_yaw"), top, z, 600.0),
            ("hip_roll", part("hip_yaw"), part("hip_roll"), top, x, 1500.0),
            ("hip_pitch", part("hip_roll"), part("thigh"), top, y, 1500.0),
            ("knee", part("thigh"), part("shin"), knee, y, 1500.0),
            ("ankle_pitch", part("shin"), part("ankle"), ankle, y, 1500.0),
            ("ankle_roll", part("ankle"), part("foot"), ankle, x, 1500.0),
        ] {
            builder.joint(hinge(&part(name), &parent, &child, at, axis, stiffness));
        }
        let out = sign * SHOULDER;
        let (socket, elbow) = (Vector3::new(0.0, out, shoulder), Vector3::new(0.0, out, shoulder - 0.22));
        let palm = elbow + Vector3::new(0.24, 0.0, 0.0);
        builder.body(motor(part("shoulder"), Pose::translation(socket.into()), 0.4));
        builder.body(Link::new(socket, elbow).mass(1.2).section(0.06).body(part("upper_arm")));
        let fore = Link::new(elbow, palm).mass(0.9).section(0.05);
        let mut forearm = fore.body(part("forearm"));
        // A flat palm inside, which is what touches.
        let mut pad = box_shape([0.1, 0.03, 0.12]);
        pad.friction = Some(FRICTION);
        let inward = Pose::translation([palm.x, out - sign * 0.04, palm.z]);
        forearm.shapes.push(pad.at(forearm.pose.inverse_times(&inward)));
        builder.body(forearm);
        builder.joint(hinge(&part("shoulder_pitch"), "chest", &part("shoulder"), socket, y, 300.0));
        builder.joint(hinge(&part("shoulder_roll"), &part("shoulder"), &part("upper_arm"), socket, x, 300.0));
        builder.joint(hinge(&part("elbow"), &part("upper_arm"), &part("forearm"), elbow, y, 200.0));
        builder.effector(effector(&part("hand"), part("forearm"), fore.end()));
        builder.effector(effector(
            &part("foot"),
            part("foot"),
            Pose::translation([0.0, 0.0, -0.5 * FOOT[2]]),
        ));
    }
}
