//! Firefighters: two people face each other along x and hold a trampoline between them, with both
//! hands each.
//!
//! ```text
//!       O                          O        z up, x to the right
//!      /|\________________________/|\       five loops: each pelvis stands on two legs,
//!       | \______________________/ |        and the trampoline hangs on four hands
//!      / \                        / \
//!   ══/═══\══════════════════════/═══\══    feet welded to the world
//! ```
//! Each weighs 75 kg. Joints are held as by muscles: ankles and wrists universal, knees and elbows
//! hinges, hips, waist, neck, shoulders and grips ball joints. Gravity acts, and 800 N down on the
//! trampoline: somebody has landed.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::link::{Link, box_body, effector, finish, load, rotation, weld};
use crate::joints::JointKind;
use crate::mechanism::{Body, Geometry, JointDescription, Mechanism, MechanismBuilder, Shape};
use crate::spatial::{Pose, SpatialInertia};

/// Damping over stiffness, s.
const DAMPING_TIME: f64 = 0.02;
/// Half the distance along x between the hands of the two, m.
const GRIP: f64 = 0.71;
/// Names and signs of y of the two sides of a person.
const SIDES: [(&str, f64); 2] = [("left", 1.0), ("right", -1.0)];
pub(super) const PLATE: [f64; 3] = [1.5, 1.0, 0.03];
const PLATE_MASS: f64 = 8.0;

/// Points of a person who looks along +x, standing on the origin; those with a y are of the left side.
mod body {
    pub const FOOT: [f64; 3] = [0.05, 0.11, 0.04];
    pub const ANKLE: [f64; 3] = [0.0, 0.11, 0.08];
    pub const KNEE: [f64; 3] = [0.03, 0.105, 0.5];
    pub const HIP: [f64; 3] = [0.0, 0.1, 0.92];
    pub const PELVIS: [f64; 3] = [0.0, 0.0, 0.98];
    pub const WAIST: [f64; 3] = [0.0, 0.0, 1.07];
    pub const NECK: [f64; 3] = [0.0, 0.0, 1.52];
    pub const HEAD: [f64; 3] = [0.0, 0.0, 1.65];
    pub const SHOULDER: [f64; 3] = [0.0, 0.2, 1.43];
    pub const ELBOW: [f64; 3] = [0.06, 0.25, 1.15];
    pub const WRIST: [f64; 3] = [0.31, 0.28, 1.06];
    pub const HOLD: [f64; 3] = [0.39, 0.28, 1.03];
}

/// Two people with a trampoline.
pub fn firefighters() -> Mechanism {
    let mut builder = MechanismBuilder::new("firefighters");
    parts(&mut builder);
    builder.load(load("trampoline", [0.0, 0.0, -800.0]));
    finish(builder)
}

/// The people and what they hold.
pub(super) fn parts(builder: &mut MechanismBuilder) {
    let distance = GRIP + body::HOLD[0];
    let half_turn = UnitQuaternion::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 1.0));
    let people = [
        Person { name: "west", stand: Pose::translation([-distance, 0.0, 0.0]) },
        Person { name: "east", stand: Pose::new(half_turn, Vector3::new(distance, 0.0, 0.0)) },
    ];
    for person in &people {
        person.add(builder);
    }
    let center = Pose::translation([0.0, 0.0, body::HOLD[2]]);
    builder.body(box_body("trampoline", center, PLATE_MASS, PLATE));
    for person in &people {
        for (side, sign) in SIDES {
            let (hand, hold) = (person.part(side, "hand"), person.point(body::HOLD, sign));
            builder.joint(person.joint(side, "grip", JointKind::Ball, [&hand, "trampoline"], hold, 300.0));
        }
    }
    builder.effector(effector("trampoline", "trampoline", Pose::identity()));
}

fn sprung(joint: JointDescription, stiffness: f64) -> JointDescription {
    joint.stiffness(stiffness).damping(DAMPING_TIME * stiffness)
}

struct Person {
    name: &'static str,
    /// Where and how the person stands.
    stand: Pose,
}

impl Person {
    fn add(&self, builder: &mut MechanismBuilder) {
        for (side, sign) in SIDES {
            self.leg(builder, side, sign);
        }
        self.trunk(builder);
        for (side, sign) in SIDES {
            self.arm(builder, side, sign);
        }
    }

    fn leg(&self, builder: &mut MechanismBuilder, side: &str, sign: f64) {
        let at = |p: [f64; 3]| self.point(p, sign);
        let [foot, shin, thigh] = ["foot", "shin", "thigh"].map(|part| self.part(side, part));
        let sole = Pose::new(self.stand.rotation, at(body::FOOT));
        builder.body(box_body(&foot, sole, 1.1, [0.26, 0.09, 0.08]));
        builder.joint(weld(&foot, at(body::FOOT)));
        builder.body(limb(&shin, at(body::ANKLE), at(body::KNEE), 3.5, 0.045));
        builder.joint(self.joint(
            side,
            "ankle",
            JointKind::Universal,
            [&foot, &shin],
            at(body::ANKLE),
            3000.0,
        ));
        builder.body(limb(&thigh, at(body::KNEE), at(body::HIP), 8.5, 0.065));
        builder.joint(self.joint(side, "knee", JointKind::Hinge, [&shin, &thigh], at(body::KNEE), 3000.0));
    }

    fn trunk(&self, builder: &mut MechanismBuilder) {
        let at = |p: [f64; 3]| self.point(p, 1.0);
        let upright = |position: Vector3<f64>| Pose::new(self.stand.rotation, position);
        let [pelvis, torso, head] = ["pelvis", "torso", "head"].map(|part| format!("{}_{part}", self.name));
        builder.body(box_body(&pelvis, upright(at(body::PELVIS)), 11.0, [0.2, 0.32, 0.16]));
        for (side, sign) in SIDES {
            let hip = self.point(body::HIP, sign);
            let thigh = self.part(side, "thigh");
            builder.joint(self.joint(side, "hip", JointKind::Ball, [&thigh, &pelvis], hip, 3000.0));
        }
        let chest = (at(body::WAIST) + at(body::NECK)) * 0.5;
        builder.body(box_body(&torso, upright(chest), 25.0, [0.22, 0.34, 0.44]));
        let waist = JointDescription::new(format!("{}_waist", self.name), JointKind::Ball, &pelvis, &torso);
        builder.joint(sprung(waist.frame(upright(at(body::WAIST))), 3000.0));
        builder.body(ball(&head, upright(at(body::HEAD)), 5.0, 0.11));
        let neck = JointDescription::new(format!("{}_neck", self.name), JointKind::Ball, &torso, &head);
        builder.joint(sprung(neck.frame(upright(at(body::NECK))), 300.0));
    }

    fn arm(&self, builder: &mut MechanismBuilder, side: &str, sign: f64) {
        let at = |p: [f64; 3]| self.point(p, sign);
        let torso = format!("{}_torso", self.name);
        let [upper, fore, hand] = ["upper_arm", "forearm", "hand"].map(|part| self.part(side, part));
        builder.body(limb(&upper, at(body::SHOULDER), at(body::ELBOW), 2.1, 0.045));
        builder.joint(self.joint(
            side,
            "shoulder",
            JointKind::Ball,
            [&torso, &upper],
            at(body::SHOULDER),
            1500.0,
        ));
        builder.body(limb(&fore, at(body::ELBOW), at(body::WRIST), 1.3, 0.035));
        builder.joint(self.joint(side, "elbow", JointKind::Hinge, [&upper, &fore], at(body::ELBOW), 1500.0));
        let palm = Link::new(at(body::WRIST), at(body::HOLD));
        builder.body(box_body(&hand, palm.pose(), 0.5, [palm.length(), 0.08, 0.03]));
        builder.joint(self.joint(
            side,
            "wrist",
            JointKind::Universal,
            [&fore, &hand],
            at(body::WRIST),
            500.0,
        ));
    }

    /// A sprung joint in the person's axes: hinges turn about the y across, and so does a universal
    /// joint after it has turned about the x that the person looks along.
    fn joint(
        &self,
        side: &str,
        name: &str,
        kind: JointKind,
        [parent, child]: [&str; 2],
        position: Vector3<f64>,
        stiffness: f64,
    ) -> JointDescription {
        let axes = if kind == JointKind::Hinge { across_as_z() } else { UnitQuaternion::identity() };
        let frame = Pose::new(self.stand.rotation * axes, position);
        sprung(JointDescription::new(self.part(side, name), kind, parent, child).frame(frame), stiffness)
    }

    fn part(&self, side: &str, part: &str) -> String {
        format!("{}_{side}_{part}", self.name)
    }

    /// A point of the left (sign 1) or right (sign −1) side, in the world.
    fn point(&self, [x, y, z]: [f64; 3], sign: f64) -> Vector3<f64> {
        self.stand.transform_point(&Vector3::new(x, sign * y, z))
    }
}

/// A frame whose z is the y of the person and whose x is the person's.
fn across_as_z() -> UnitQuaternion<f64> {
    rotation(Matrix3::from_columns(&[Vector3::x(), -Vector3::z(), Vector3::y()]))
}

/// A capsule between two joints, with the inertia of a box around it.
fn limb(name: &str, from: Vector3<f64>, to: Vector3<f64>, mass: f64, radius: f64) -> Body {
    let link = Link::new(from, to);
    let half_length = 0.5 * link.length() - radius;
    let shape = Shape::new(Geometry::Capsule { radius, half_length })
        .at(Pose::with_z_along(Vector3::x(), Vector3::zeros()));
    let around = [link.length(), 2.0 * radius, 2.0 * radius];
    Body::new(name, link.pose()).inertia(SpatialInertia::of_box(mass, around)).shape(shape)
}

fn ball(name: &str, pose: Pose, mass: f64, radius: f64) -> Body {
    let inertia = SpatialInertia {
        mass,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::identity() * (0.4 * mass * radius * radius),
    };
    Body::new(name, pose).inertia(inertia).shape(Shape::new(Geometry::Ball { radius }))
}
