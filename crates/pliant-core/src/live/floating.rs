//! Free bases: what their trees keep of momentum, and how they turn ([`crate::engine::whole`]).
//!
//! The small system says how joints move and, with the base, what the tree's momentum becomes at the pose of the start. The
//! base turns by X, the turn of the whole as a rigid body, and by what the joints' motion leaves it of the solution;
//! at the end, it has the twist with which momentum is what it was and what acted from outside, and the centre of mass is where
//! that took it.

use nalgebra::Vector3;

use super::condensing::Condensed;
use super::kinematics::Places;
use super::model::Constants;
use super::rows::{Row, angular, linear};
use super::step::Motion;
use crate::engine::whole::{Turning, Whole};
use crate::spatial::{Pose, Twist, exp_rotation};

/// Sums over the links of a free base.
fn sums(model: &Constants, places: &Places, f: usize) -> Whole {
    let nodes = model.mechanism.order().nodes();
    let mut whole = Whole::about(places.point.into());
    for n in (0..model.links.len()).filter(|&n| model.links[n].float == f) {
        let (place, own) = (places.link(n), &nodes[n].inertia);
        let (pose, w) = (place.pose(), Vector3::from(angular(&place.twist)));
        let center = pose.transform_point(&own.center_of_mass);
        let velocity = Vector3::from(linear(&place.twist)) + w.cross(&(center - Vector3::from(places.point)));
        let R = pose.rotation_matrix();
        let inertia = R * own.inertia * R.transpose();
        whole.add(own.mass, &center, &velocity, &(inertia * w), &inertia, &w);
    }
    whole
}

/// Moves free bases, and the links with them, by the solution of a step of h seconds: joints are in `next` already.
pub(super) fn advance(
    model: &Constants,
    h: f64,
    motion: &Motion,
    solved: &Condensed,
    turnings: &mut [Option<Turning>],
    next: &mut Motion,
) {
    let point = Vector3::from(motion.places.point);
    for (f, float) in next.floats.iter_mut().enumerate() {
        let whole = sums(model, &motion.places, f);
        let twist = &solved.floats[f];
        *float = motion.floats[f];
        turnings[f] = Turning::new(&whole, h);
        let Some(turning) = &mut turnings[f] else {
            float.advance(twist, motion.places.point, h);
            continue;
        };
        let (after, push) = &solved.pushes[f];
        let about =
            |w: &Row| Vector3::from(angular(w)) - (whole.center() - point).cross(&Vector3::from(linear(w)));
        let w = Vector3::from(angular(twist));
        let rotation =
            exp_rotation(&((w - turning.rate_of(&(about(after) - about(push)))) * h)) * float.pose.rotation;
        let velocity = whole.velocity() + Vector3::from(linear(push)) / whole.mass();
        turning.pass(velocity, about(push), h);
        float.pose = turning.moved(&Pose { rotation, ..float.pose });
        float.twist = Twist::new(velocity, w);
    }
    next.place(model);
    if next.floats.is_empty() {
        return;
    }
    for (f, float) in next.floats.iter_mut().enumerate() {
        let Some(turning) = &turnings[f] else { continue };
        let whole = sums(model, &next.places, f);
        let (shift, lacks) = turning.lacks(&whole);
        let arm = float.pose.position - whole.center();
        float.twist = float.twist + Twist::new(lacks.linear + lacks.angular.cross(&arm), lacks.angular);
        float.pose.position += shift;
    }
    next.place(model);
}
