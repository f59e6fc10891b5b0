//! Outward: where every node is, from the coordinates of a state, and its own inertia there; and how it moves, from the
//! rates, with the force that this takes. World axes.
//!
//! ```text
//! o = o_λ + r;  IA = I;  ξ = X ξ_λ + S u;  c = ξ×S u + Ṡ u;  p = ξ×*(I ξ)        [Si 2010, eqs 18–24]
//! ```
//! with X the shift of a twist from o_λ to o: (v + ω×r, ω). A step needs the first two only.

use super::model::{Constants, GeneralNode, Motion, Node};
use super::slot::{General, Six, Slot, Slots};
use super::small::*;
use crate::algebra::wide::wide;
use crate::engine::State;
use crate::joints::JointKind;
use crate::spatial::{Pose, Twist, right_jacobian_rotation, right_jacobian_rotation_inverse};
use nalgebra::{Matrix3, Matrix6, Quaternion, UnitQuaternion, Vector3, Vector6};

/// Places every node by the state's base and coordinates, and free bases by their own poses; writes the poses of all
/// bodies into it.
pub(super) fn place(work: &mut Slots, model: &Constants, state: &mut State) {
    place_still(work, model, state, &Twist::ZERO);
}

wide! {
    fn place_still, place_lanes<false>(work: &mut Slots, model: &Constants, state: &mut State, twist: &Twist)
}

wide! {
    /// As [`place`], and moves every node by the state's rates, and free bases by their own twists; writes the twists
    /// of all bodies. `twist` is that of the base: world axes, at its origin.
    pub(super) fn place_and_move, place_lanes<true>(
        work: &mut Slots, model: &Constants, state: &mut State, twist: &Twist
    )
}

#[inline(always)]
fn place_lanes<const FUSED: bool, const MOVING: bool>(
    work: &mut Slots,
    model: &Constants,
    state: &mut State,
    twist: &Twist,
) {
    place_base::<FUSED>(&mut work.slots[0], &state.base);
    (work.slots[0].v, work.slots[0].w) = (v(&twist.linear), v(&twist.angular));
    for (n, node) in model.nodes.iter().enumerate() {
        let (before, after) = work.slots.split_at_mut(n + 1);
        let (parent, slot) = (&before[node.parent], &mut after[0]);
        match node.motion {
            Motion::Hinge => {
                let (q, rate) = (state.coordinates[node.coordinate], state.rates[node.coordinate]);
                hinge::<FUSED, MOVING>(node, parent, slot, q, rate);
            }
            Motion::General(g) => {
                general(model, &model.general[g], node, parent, slot, &mut work.general[g], state);
            }
            Motion::Free(g) => {
                free(&state.poses[node.head], &state.twists[node.head], slot, &mut work.general[g]);
            }
        }
        own_inertia::<FUSED, MOVING>(node, slot);
        state.poses[node.head] = pose_of(slot);
        if MOVING {
            let angular = turn_back::<FUSED, _>(&slot.R, slot.w);
            let at = add_cross::<FUSED>(slot.w, minus(slot.p, slot.o), slot.v);
            let twist = Twist::new(turn_back::<FUSED, _>(&slot.R, at).into(), angular.into());
            if !matches!(node.motion, Motion::Free(_)) {
                state.twists[node.head] = twist;
            }
        }
    }
    if MOVING {
        follow(model, twist, state);
    } else {
        for (body, slot, offset) in &model.followers {
            state.poses[*body] = pose_of(&work.slots[*slot]) * *offset;
        }
    }
}

wide! {
    /// As [`place`], where nodes are placed but for the positions of free bases.
    pub(super) fn shift, shift_lanes(work: &mut Slots, model: &Constants, state: &mut State)
}

#[inline(always)]
fn shift_lanes<const FUSED: bool>(work: &mut Slots, model: &Constants, state: &mut State) {
    for (n, node) in model.nodes.iter().enumerate() {
        let (before, after) = work.slots.split_at_mut(n + 1);
        let (parent, slot) = (&before[node.parent], &mut after[0]);
        match node.motion {
            Motion::Hinge => hinge_position::<FUSED>(node, parent, slot),
            Motion::General(g) => {
                general(model, &model.general[g], node, parent, slot, &mut work.general[g], state);
            }
            Motion::Free(_) => {
                slot.p = v(&state.poses[node.head].position);
                slot.o = slot.p;
            }
        }
        state.poses[node.head].position = slot.p.into();
    }
}

/// Poses and twists of the bodies that are welded to others, from those of their nodes' heads and of the base.
pub(super) fn follow(model: &Constants, base_twist: &Twist, state: &mut State) {
    for (body, slot, offset) in &model.followers {
        let pose = slot.checked_sub(1).map_or(state.base, |n| state.poses[model.nodes[n].head]);
        state.poses[*body] = pose * *offset;
        let twist = match slot.checked_sub(1) {
            Some(n) => state.twists[model.nodes[n].head],
            None => {
                let Rt = state.base.rotation.inverse();
                Twist::new(Rt * base_twist.linear, Rt * base_twist.angular)
            }
        };
        state.twists[*body] = offset.twist_to_local(&twist);
    }
}

/// The base, still.
#[inline(always)]
pub(super) fn place_base<const FUSED: bool>(slot: &mut Slot, pose: &Pose) {
    *slot = Slot::EMPTY;
    put_pose::<FUSED>(slot, pose);
    slot.o = slot.p;
}

/// The link frame of a slot.
#[inline(always)]
pub(super) fn pose_of(slot: &Slot) -> Pose {
    let [x, y, z, w] = slot.q;
    Pose { rotation: UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), position: slot.p.into() }
}

#[inline(always)]
fn put_pose<const FUSED: bool>(slot: &mut Slot, pose: &Pose) {
    slot.q = pose.rotation.coords.into();
    slot.R = matrix::<FUSED>(slot.q);
    slot.p = v(&pose.position);
}

/// A hinge: the child turns by φ about its own constant axis. S = (0; a), Ṡ = 0.
#[inline(always)]
pub(super) fn hinge<const FUSED: bool, const MOVING: bool>(
    node: &Node,
    parent: &Slot,
    slot: &mut Slot,
    angle: f64,
    rate: f64,
) {
    let (s, c) = sin_cos::<FUSED>(0.5 * angle);
    let turn_by = [s * node.axis[0], s * node.axis[1], s * node.axis[2], c];
    slot.q = unit::<FUSED>(product::<FUSED, _>(product::<FUSED, _>(parent.q, node.turn), turn_by));
    slot.R = matrix::<FUSED>(slot.q);
    hinge_position::<FUSED>(node, parent, slot);
    slot.axis = turn::<FUSED>(&slot.R, node.axis);
    if MOVING {
        let turning = scale(slot.axis, rate);
        slot.w = plus(parent.w, turning);
        slot.v = add_cross::<FUSED>(parent.w, slot.r, parent.v);
        slot.cv = cross::<FUSED, _>(slot.v, turning);
        slot.cw = cross::<FUSED, _>(parent.w, turning);
    }
}

#[inline(always)]
fn hinge_position<const FUSED: bool>(node: &Node, parent: &Slot, slot: &mut Slot) {
    slot.o = add_turn::<FUSED>(&parent.R, node.in_parent, parent.p);
    slot.p = minus(slot.o, turn::<FUSED>(&slot.R, node.in_child));
    slot.r = minus(slot.o, parent.o);
}

/// Any other joint, by the answers of its kind.
pub(super) fn general(
    model: &Constants,
    constants: &GeneralNode,
    node: &Node,
    parent: &Slot,
    slot: &mut Slot,
    own: &mut General,
    state: &State,
) {
    let d = constants.freedoms;
    let kind = &model.mechanism[constants.joint.expect("a joint")].kind;
    let at = node.coordinate..node.coordinate + d;
    own.q[..d].copy_from_slice(&state.coordinates[at.clone()]);
    let moved = motion(kind, &own.q[..d], &state.rates[at], &mut own.rates);
    let F = pose_of(parent) * constants.in_parent * moved.X;
    put_pose::<false>(slot, &(F * constants.in_child.inverse()));
    slot.q = unit::<false>(slot.q);
    slot.R = matrix::<false>(slot.q);
    slot.o = v(&F.position);
    slot.r = minus(slot.o, parent.o);
    let R = F.rotation_matrix();
    let world =
        |x: &Vector6<f64>| -> (V, V) { (v(&(R * x.fixed_rows::<3>(0))), v(&(R * x.fixed_rows::<3>(3)))) };
    let (mut sv, mut sw) = (ZERO, ZERO);
    for k in 0..d {
        let (l, a) = world(&moved.S.column(k).into_owned());
        own.S[k] = [l[0], l[1], l[2], a[0], a[1], a[2]];
        own.speeds[k] = moved.speeds[k];
        sv = add_scaled::<false>(l, moved.speeds[k], sv);
        sw = add_scaled::<false>(a, moved.speeds[k], sw);
    }
    slot.w = plus(parent.w, sw);
    slot.v = plus(add_cross::<false>(parent.w, slot.r, parent.v), sv);
    let (bv, bw) = world(&moved.bias.to_vector());
    slot.cv = add_cross::<false>(slot.w, sv, add_cross::<false>(slot.v, sw, bv));
    slot.cw = add_cross::<false>(slot.w, sw, bw);
}

/// A joint's motion in its speeds.
pub(super) struct JointMotion {
    pub X: Pose,
    pub S: Matrix6<f64>,
    pub speeds: Six,
    pub bias: Twist,
}

/// A joint's X, S, u and Ṡu. The turns of a ball or bushing have the child's angular velocity as speeds, S = I
/// for them; a bushing's slides are along the parent's axes, S = Rᵀ for them with Ṡu = −ω×Rᵀṗ. `turns` gets their
/// coordinates' rates per speed, Jr(φ)⁻¹.
pub(super) fn motion(kind: &JointKind, q: &[f64], rate: &[f64], turns: &mut M) -> JointMotion {
    let first = match kind {
        JointKind::Ball => 0,
        JointKind::Bushing => 3,
        _ => {
            let (X, S, bias) = kind.motion(q, rate);
            let mut speeds = [0.0; 6];
            speeds[..rate.len()].copy_from_slice(rate);
            return JointMotion { X, S, speeds, bias };
        }
    };
    let X = kind.transform(q);
    let phi = Vector3::new(q[first], q[first + 1], q[first + 2]);
    let w = right_jacobian_rotation(&phi) * Vector3::new(rate[first], rate[first + 1], rate[first + 2]);
    *turns = m(&right_jacobian_rotation_inverse(&phi));
    let mut S = Matrix6::zeros();
    S.fixed_view_mut::<3, 3>(3, first).copy_from(&Matrix3::identity());
    let mut speeds = [0.0; 6];
    speeds[first..first + 3].copy_from_slice(w.as_slice());
    let mut bias = Twist::ZERO;
    if first == 3 {
        let Rt = X.rotation_matrix().transpose();
        S.fixed_view_mut::<3, 3>(0, 0).copy_from(&Rt);
        speeds[..3].copy_from_slice(&rate[..3]);
        bias.linear = (Rt * Vector3::new(rate[0], rate[1], rate[2])).cross(&w);
    }
    JointMotion { X, S, speeds, bias }
}

/// A free base: its speeds are its body twist, S turns them into world axes.
pub(super) fn free(pose: &Pose, twist: &Twist, slot: &mut Slot, own: &mut General) {
    put_pose::<false>(slot, pose);
    slot.o = slot.p;
    slot.r = ZERO;
    let R = &slot.R;
    for k in 0..3 {
        own.S[k] = [R[0][k], R[1][k], R[2][k], 0.0, 0.0, 0.0];
        own.S[3 + k] = [0.0, 0.0, 0.0, R[0][k], R[1][k], R[2][k]];
    }
    own.speeds.copy_from_slice(twist.to_vector().as_slice());
    slot.v = turn::<false>(R, v(&twist.linear));
    slot.w = turn::<false>(R, v(&twist.angular));
    (slot.cv, slot.cw) = (ZERO, ZERO);
}

/// The node's own inertia in world axes at o, in a step but for that about its centre of mass; and of a node that moves
/// p = ξ×*(f, t) with its momentum f = m(v + ω×c), t = Cω + mc×v.
#[inline(always)]
pub(super) fn own_inertia<const FUSED: bool, const MOVING: bool>(node: &Node, slot: &mut Slot) {
    let mass = node.mass;
    let c = turn::<FUSED>(&slot.R, node.first_moment);
    slot.A = [mass, 0.0, 0.0, mass, 0.0, mass];
    slot.B = [[0.0, c[2], -c[1]], [-c[2], 0.0, c[0]], [c[1], -c[0], 0.0]];
    (slot.f, slot.t) = (ZERO, ZERO);
    if !MOVING {
        // m(|c|² − ccᵀ): a step adds the inertia about the centre of mass where it is half-way.
        let square = dot::<FUSED, _>(c, c) * node.inverse_mass;
        slot.C = add_square::<FUSED>(&[square, 0.0, 0.0, square, 0.0, square], c, -node.inverse_mass);
    } else {
        slot.C = turned::<FUSED>(&slot.R, &node.inertia);
        let f = add_cross::<FUSED>(slot.w, c, scale(slot.v, mass));
        let t = add_cross::<FUSED>(c, slot.v, apply::<FUSED>(&slot.C, slot.w));
        slot.f = cross::<FUSED, _>(slot.w, f);
        slot.t = add_cross::<FUSED>(slot.w, t, cross::<FUSED, _>(slot.v, f));
    }
}
