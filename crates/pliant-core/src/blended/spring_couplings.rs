//! Springs to moving frames, on bodies that carry an effector.

use nalgebra::{Matrix6, Vector6};

use super::evaluation::Moving;
use super::model::Constants;
use super::simulation::Simulation;
use crate::engine::Spring;
use crate::spatial::{Pose, Twist, Wrench, right_jacobian};

/// Where a pull takes hold: its group, the effector there, and the pulled frame seen from that effector.
pub(super) struct Grip {
    pub group: usize,
    pub effector: usize,
    pub frame: Pose,
}

/// The grip of a pull; `None` where no effector sits on the body.
pub(super) fn grip(model: &Constants, pull: &Spring) -> Option<Grip> {
    let order = model.mechanism.order();
    let node = order.node_of(pull.body)?;
    let (group, link) = model.place_of_node[node];
    let places = &model.groups[group].layout.places;
    let effector = places.iter().position(|(at, _)| *at == link)?;
    let frame = places[effector].1.inverse_times(&(order.offset_of(pull.body) * pull.frame));
    Some(Grip { group, effector, frame })
}

/// The pulled frame in the base of the mechanism.
pub(super) fn in_base(moving: &Moving, seat: Option<&Pose>, grip: &Grip) -> Pose {
    let own = moving.poses[grip.effector] * grip.frame;
    seat.map_or(own, |seat| *seat * own)
}

/// A pull in a step of h seconds: its wrench on the pulled frame at rest on the base, and how that resists the rate
/// at the end of the step, h²K + hD.
pub(super) struct Held {
    pub wrench: Vector6<f64>,
    pub implicit: Matrix6<f64>,
}

/// A pull at a frame in the base, which has a twist at the end of the step.
pub(super) fn held(pull: &Spring, in_base: &Pose, base: (&Pose, &Twist), h: f64) -> Held {
    let (mut wrench, K, D) = pull.in_frame(&(*base.0 * *in_base));
    wrench -= D * carried(base.0, base.1, in_base);
    Held { wrench, implicit: K * (h * h) + D * h }
}

/// Adds a pull to the system of a step of h seconds of a segment on the base, which has a twist at the end of it.
pub(super) fn add(
    moving: &mut Moving,
    pull: &Spring,
    grip: &Grip,
    base: (&Pose, &Twist),
    radius: f64,
    h: f64,
) {
    let r = moving.rank;
    let Held { wrench: w, implicit: W } = held(pull, &in_base(moving, None, grip), base, h);
    let J = grip.frame.inverse().adjoint() * right_jacobian(&moving.away[grip.effector]);
    for u in 0..r {
        let Gu = moving.column(grip.effector, &J, u, radius);
        moving.right[u] += h * Gu.dot(&w);
        let WGu = W * Gu;
        for v in 0..r {
            let Gv = moving.column(grip.effector, &J, v, radius);
            moving.system[u * r + v] += Gv.dot(&WGu);
        }
    }
}

/// The body twist of a frame that moves with the base, whose twist is in world axes at its origin.
fn carried(base: &Pose, twist: &Twist, in_base: &Pose) -> Vector6<f64> {
    in_base.twist_to_local(&twist.turned(&base.rotation.inverse())).to_vector()
}

impl Simulation {
    /// What a spring coupling exerts on its body now, world axes, at its frame's origin.
    pub(super) fn force_of(&mut self, pull: &Spring) -> Wrench {
        let Some(grip) = grip(&self.model, pull) else { return Wrench::ZERO };
        let moving = &self.groups[grip.group];
        let in_base = in_base(moving, self.seats[grip.group].as_ref(), &grip);
        let pose = self.base * in_base;
        let (mut w, _, D) = pull.in_frame(&pose);
        // The effector moves with what carries its segment.
        let (mut g, mut at, mut twist) = (grip.group, grip.frame, Twist::ZERO);
        let mut effector = Some(grip.effector);
        while let Some(k) = effector {
            twist = twist + at.twist_to_local(&self.groups[g].twists[k]);
            at = self.groups[g].anchors[k] * at;
            (g, effector) = self.model.groups[g].carrier.map_or((g, None), |(g, k)| (g, Some(k)));
        }
        w -= D * (twist.to_vector() + carried(&self.base, &self.base_twist, &in_base));
        Wrench::from_vector(&w).turned(&pose.rotation)
    }
}
