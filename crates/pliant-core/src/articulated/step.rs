//! One step: the twists nearest to those that momentum, gravity and loads make of each body on its own, with springs,
//! dampers, limits and pulls at the end of the step; all at the pose of its start.
//!
//! ```text
//! (Σ JᵀMJ + a + hD + h²K) u⁺ = Σ Jᵀ(momentum + h·loads) + a q̇ + hK(q₀ − q),   q⁺ = q moved by h u⁺
//! ```
//! What is carried to the next step is the momentum of every body: its twist in the state is that with which the inertia at
//! the end of the step has the momentum M J u⁺. So what moves on its own keeps its momentum, that of a free-floating
//! tree along straight lines is kept, and kinetic energy cannot grow.

use nalgebra::Vector3;

use super::closures::{self, Closing};
use super::loads;
use super::model::{GeneralNode, Model, Motion, Node};
use super::placing::{follow, place, pose_of};
use super::slot::{Six, Slot, Slots};
use super::small::*;
use super::sweeps::{Along, NoPivot, first_turn, force, inward_step, outward_step};
use crate::full::StepError;
use crate::inputs::Inputs;
use crate::joints::JointKind;
use crate::mechanism::{JointId, Mechanism};
use crate::spatial::{Pose, Twist, exp, exp_rotation, right_jacobian_rotation_inverse};
use crate::state::State;

/// A passive turn about any axis is counted from the other side beyond this, rad: far from 2π, where the rates of a
/// rotation vector have no bound.
const RECENTRE: f64 = 1.5 * std::f64::consts::PI;

/// How often what a step leaves open is closed by moving coordinates.
const CORRECTIONS: usize = 2;

/// Memory of the engine between and during steps.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub slots: Slots,
    pub closing: Closing,
    /// Whether the slots are placed as the state is.
    pub placed: bool,
    /// The state at the end of the step, until it is known to be good.
    pub next: State,
}

impl Workspace {
    pub fn new(model: &Model, state: &State) -> Workspace {
        Workspace {
            slots: Slots::new(model),
            closing: Closing::new(model),
            placed: false,
            next: state.clone(),
        }
    }
}

/// Takes one step of h seconds.
pub(super) fn step(
    model: &Model,
    inputs: &Inputs,
    h: f64,
    state: &mut State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    if !work.placed {
        place(&mut work.slots, model, state);
    }
    work.placed = false;
    solve(model, inputs, h, state, work)?;
    advance(model, inputs, h, state, work);
    let next = &mut work.next;
    for joint in &model.closures.joints {
        let placed = joint.place(&work.slots);
        let q = joint.coordinates(model, &placed, &state.coordinates);
        let rates = joint.rates(model, &placed, &q, next, &inputs.base_twist);
        let d = model.mechanism.joint(joint.id).kind.freedoms();
        next.coordinates[joint.coordinate..joint.coordinate + d].copy_from_slice(&q[..d]);
        next.rates[joint.coordinate..joint.coordinate + d].copy_from_slice(&rates[..d]);
    }
    for at in 0..model.freedoms.len() {
        let (q, rate) = (next.coordinates[at], next.rates[at]);
        next.forces[at] = force(&model.freedoms[at], model.limit_stiffness[at], inputs.rest[at], q, rate);
    }
    next.time = state.time + h;
    next.steps = state.steps + 1;
    if !next.is_finite() {
        return Err(not_finite(model, state, &work.next, h));
    }
    if let Some((joint, gap)) = torn(model, &work.slots) {
        let joint = model.mechanism.joint(joint).name.clone();
        return Err(StepError::Torn { step: state.steps + 1, joint, gap, dt: h });
    }
    std::mem::swap(state, &mut work.next);
    work.placed = true;
    Ok(())
}

/// Twists and speeds at the end of the step, and constraint forces of all joints and couplings into the next state.
fn solve(
    model: &Model,
    inputs: &Inputs,
    h: f64,
    state: &State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let slots = &mut work.slots;
    loads::apply_step(model, inputs, h, slots);
    let along = Along { state, rest: Some(&inputs.rest), forces: None, gravity: v(&inputs.gravity), h };
    inward_step(slots, model, along).map_err(|pivot| no_pivot(model, state, pivot, h))?;
    // The base's twist at the end of the step, at the point where its origin is now.
    let base = &mut slots.slots[0];
    base.aw = v(&inputs.base_twist.angular);
    let back = sub(base.o, v(&inputs.base.position));
    base.av = add_cross::<false>(base.aw, back, v(&inputs.base_twist.linear));
    outward_step(slots, model);
    if !model.closures.is_empty() {
        let multipliers = &mut work.next.multipliers;
        closures::close(model, inputs, state, h, slots, &mut work.closing, multipliers).map_err(|row| {
            let joint = closures::name_of_row(model, &work.closing, row);
            StepError::Singular { step: state.steps + 1, joint, coordinate: None }
        })?;
        outward_step(slots, model);
    }
    pass_forces(model, h, slots, &mut work.next.multipliers);
    Ok(())
}

/// The constraint forces of tree joints: the impulse Ia X ξ_λ + pa by which the parent moves the node, in terms of the
/// joint's rows. On the manifold, those of a hinge are the force in the parent's axes, and the torque about its y and
/// less that about its x.
fn pass_forces(model: &Model, h: f64, work: &Slots, multipliers: &mut [f64]) {
    let per_step = 1.0 / h;
    for (n, node) in model.nodes.iter().enumerate() {
        let (parent, slot) = (&work.slots[node.parent], &work.slots[n + 1]);
        if matches!(node.motion, Motion::Free(_)) {
            continue;
        }
        let a = add_cross::<false>(parent.aw, slot.r, parent.av);
        let f = add_apply::<false>(&slot.A, a, add_turn::<false>(&slot.B, parent.aw, slot.f));
        let t = add_turn_back::<false>(&slot.B, a, add_apply::<false>(&slot.C, parent.aw, slot.t));
        // In the axes of the parent's joint frame.
        let local = |x: V| {
            turn_back::<false>(&node.joint_axes, turn_back::<false>(&parent.R, scale(x, per_step)))
        };
        let (f, t) = (local(f), local(t));
        let rows = &mut multipliers[node.row..];
        match node.motion {
            Motion::Hinge => rows[..5].copy_from_slice(&[f[0], f[1], f[2], t[1], -t[0]]),
            Motion::General(g) => {
                let kind = &model.mechanism.joint(model.general[g].joint.expect("a joint")).kind;
                constraint_forces(kind, f, t, pose_in_parent(parent, slot, &model.general[g]), rows);
            }
            Motion::Free(_) => {}
        }
    }
}

/// X of a placed joint.
fn pose_in_parent(parent: &Slot, slot: &Slot, constants: &GeneralNode) -> Pose {
    let outer = pose_of(parent) * constants.in_parent;
    outer.inverse_times(&(pose_of(slot) * constants.in_child))
}

/// Multipliers of any joint from the wrench in the axes of its parent frame at the child frame's origin: that
/// wrench, in child axes, is Jᵀλ + Jθᵀτ.
fn constraint_forces(kind: &JointKind, f: V, t: V, X: Pose, rows: &mut [f64]) {
    let d = kind.freedoms();
    let q = kind.coordinates(&X, &[0.0; 6][..d]);
    let (J, Jq) = (kind.rows(&X), kind.coordinates_jacobian(&X, &q.as_slice()[..d]));
    let mut A = nalgebra::Matrix6::zeros();
    for i in 0..6 {
        A.set_column(i, &if i < 6 - d { J.row(i) } else { Jq.row(i + d - 6) }.transpose());
    }
    let Rt = X.rotation.inverse();
    let (f, t) = (Rt * Vector3::from(f), Rt * Vector3::from(t));
    if let Some(x) = A.lu().solve(&nalgebra::Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z)) {
        rows[..6 - d].copy_from_slice(&x.as_slice()[..6 - d]);
    }
}

/// Speeds, then coordinates, then places at the end of the step.
fn advance(model: &Model, inputs: &Inputs, h: f64, state: &State, work: &mut Workspace) {
    let next = &mut work.next;
    next.coordinates.copy_from_slice(&state.coordinates);
    next.rates.copy_from_slice(&state.rates);
    next.base = inputs.base;
    for (n, node) in model.nodes.iter().enumerate() {
        match node.motion {
            Motion::Hinge => {
                let rate = work.slots.found[node.speed];
                next.rates[node.coordinate] = rate;
                next.coordinates[node.coordinate] = state.coordinates[node.coordinate] + h * rate;
            }
            Motion::General(g) => {
                let d = model.general[g].freedoms;
                let mut speeds = [0.0; 6];
                speeds[..d].copy_from_slice(&work.slots.found[node.speed..node.speed + d]);
                let kind = &model.mechanism.joint(model.general[g].joint.expect("a joint")).kind;
                let moves = speeds.map(|u| h * u);
                move_joint(model, node, kind, &state.coordinates, &moves, &mut next.coordinates);
                set_rates(node, kind, &speeds, next);
            }
            Motion::Free(_) => move_base(node, &work.slots.slots[n + 1], h, &mut next.poses[node.head]),
        }
        let slot = &mut work.slots.slots[n + 1];
        carry(node, slot);
    }
    place(&mut work.slots, model, next);
    if !model.closures.is_empty() {
        for _ in 0..CORRECTIONS {
            if !closures::correct(model, next, h, &work.slots, &mut work.closing) {
                break;
            }
            displace(model, &work.closing.moves, next);
            place(&mut work.slots, model, next);
        }
    }
    for (node, slot) in model.nodes.iter().zip(&work.slots.slots[1..]) {
        next.twists[node.head] = carried_twist(node, slot);
    }
    follow(model, &inputs.base_twist, next);
}

/// Keeps what a node carries on in its slot, in the place of its twist: the velocity of its centre of mass, and its
/// angular momentum about it.
#[inline(always)]
fn carry(node: &Node, slot: &mut Slot) {
    let c = turn::<false>(&slot.R, node.center);
    slot.av = add_cross::<false>(slot.aw, c, slot.av);
    let local = turn_back::<false>(&slot.R, slot.aw);
    slot.aw = turn::<false>(&slot.R, apply::<false>(&node.about_center, local));
}

/// The body twist that has the carried momentum with the inertia where the node is now.
#[inline(always)]
fn carried_twist(node: &Node, slot: &Slot) -> Twist {
    let angular = apply::<false>(&node.inverse, turn_back::<false>(&slot.R, slot.aw));
    let linear = sub(turn_back::<false>(&slot.R, slot.av), cross::<false>(angular, node.in_link));
    Twist::new(linear.into(), angular.into())
}

/// Moves coordinates by displacements along the speeds; rates along the coordinates stay those of the same speeds to
/// first order.
fn displace(model: &Model, moves: &[f64], next: &mut State) {
    for node in &model.nodes {
        match node.motion {
            Motion::Hinge => next.coordinates[node.coordinate] += moves[node.speed],
            Motion::General(g) => {
                let d = model.general[g].freedoms;
                let kind = &model.mechanism.joint(model.general[g].joint.expect("a joint")).kind;
                let mut own = [0.0; 6];
                own[..d].copy_from_slice(&moves[node.speed..node.speed + d]);
                let mut q = [0.0; 6];
                q[..d].copy_from_slice(&next.coordinates[node.coordinate..node.coordinate + d]);
                move_one(kind, &mut q[..d], &own, false);
                next.coordinates[node.coordinate..node.coordinate + d].copy_from_slice(&q[..d]);
            }
            Motion::Free(_) => {
                let own: [f64; 6] = std::array::from_fn(|k| moves[node.speed + k]);
                let pose = &mut next.poses[node.head];
                *pose = *pose * exp(&Twist::from_vector(&own.into()));
                pose.rotation.renormalize_fast();
            }
        }
    }
}

/// Coordinates of a joint after displacements along its speeds.
fn move_joint(model: &Model, node: &Node, kind: &JointKind, from: &[f64], moves: &Six, to: &mut [f64]) {
    let at = node.coordinate..node.coordinate + kind.freedoms();
    to[at.clone()].copy_from_slice(&from[at.clone()]);
    let first = first_turn(kind);
    let passive = model.freedoms[at.clone()][first..].iter().all(|f| {
        let held = f.stiffness != 0.0 || f.damping != 0.0 || f.armature != 0.0;
        !held && f.lower == f64::NEG_INFINITY && f.upper == f64::INFINITY
    });
    move_one(kind, &mut to[at], moves, passive);
}

/// As [`move_joint`], of its own coordinates. The rotation vector of a turn about any axis goes to the nearest that
/// describes the new pose; where nothing acts on it, to one that is no longer than [`RECENTRE`].
fn move_one(kind: &JointKind, q: &mut [f64], moves: &Six, passive: bool) {
    let d = kind.freedoms();
    let first = first_turn(kind);
    if first < d {
        let mut X = kind.transform(q);
        X.rotation *= exp_rotation(&Vector3::new(moves[first], moves[first + 1], moves[first + 2]));
        let to = kind.coordinates(&X, q);
        q[first..].copy_from_slice(&to.as_slice()[first..d]);
        let length = Vector3::new(q[first], q[first + 1], q[first + 2]).norm();
        if passive && length > RECENTRE {
            let turns = (length / std::f64::consts::TAU).round();
            q[first..].iter_mut().for_each(|x| *x *= 1.0 - turns * std::f64::consts::TAU / length);
        }
    }
    for k in 0..first {
        q[k] += moves[k];
    }
}

/// Rates of a joint's coordinates from its speeds.
fn set_rates(node: &Node, kind: &JointKind, speeds: &Six, state: &mut State) {
    let (at, first, d) = (node.coordinate, first_turn(kind), kind.freedoms());
    state.rates[at..at + first].copy_from_slice(&speeds[..first]);
    if first < d {
        let q = &state.coordinates[at + first..at + d];
        let B = right_jacobian_rotation_inverse(&Vector3::new(q[0], q[1], q[2]));
        let rates = B * Vector3::new(speeds[first], speeds[first + 1], speeds[first + 2]);
        state.rates[at + first..at + d].copy_from_slice(rates.as_slice());
    }
}

/// A free base: its centre of mass goes straight on while it turns.
fn move_base(node: &Node, slot: &Slot, h: f64, to: &mut Pose) {
    let (v, w) = (Vector3::from(slot.av), Vector3::from(slot.aw));
    let pose = pose_of(slot);
    let arm = pose.rotation * Vector3::from(node.center);
    let mut rotation = exp_rotation(&(w * h)) * pose.rotation;
    rotation.renormalize_fast();
    let position = pose.position + arm + (v + w.cross(&arm)) * h - rotation * Vector3::from(node.center);
    *to = Pose { rotation, position };
}

/// The first loop joint that is open by more than the arms of its two sides, with its gap.
fn torn(model: &Model, work: &Slots) -> Option<(JointId, f64)> {
    model.closures.joints.iter().find_map(|joint| {
        let placed = joint.place(work);
        let kind = &model.mechanism.joint(joint.id).kind;
        let (C, J) = (kind.residual(&placed.X), kind.rows(&placed.X));
        let is_length = |i: usize| (0..3).any(|k| J[(i, k)] != 0.0);
        let gap2: f64 = (0..6 - kind.freedoms()).filter(|i| is_length(*i)).map(|i| C[i] * C[i]).sum();
        (gap2.sqrt() > joint.reach).then(|| (joint.id, gap2.sqrt()))
    })
}

fn no_pivot(model: &Model, state: &State, pivot: NoPivot, h: f64) -> StepError {
    let node = &model.mechanism.order().nodes()[pivot.node];
    match node.joint {
        // A state whose numbers are too large for f64 ends here as well.
        Some(joint) => {
            let joint = model.mechanism.joint(joint).name.clone();
            StepError::Singular { step: state.steps + 1, joint, coordinate: Some(pivot.freedom) }
        }
        None => StepError::NotFinite {
            step: state.steps + 1,
            body: model.mechanism.body(node.head).name.clone(),
            cause: cause(h),
        },
    }
}

fn cause(h: f64) -> String {
    format!("a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt")
}

fn not_finite(model: &Model, state: &State, next: &State, h: f64) -> StepError {
    let mechanism: &Mechanism = model.mechanism;
    let of_joint = (0..mechanism.joints().len()).map(JointId::from_index).find_map(|j| {
        let at = mechanism.coordinates_of(j);
        let lists = [&next.coordinates[at.clone()], &next.rates[at.clone()], &next.forces[at]];
        let finite = lists.iter().all(|list| list.iter().all(|x| x.is_finite()));
        (!finite).then(|| mechanism.joint(j).child)
    });
    let body = next.first_not_finite().or(of_joint).map_or(model.nodes[0].head, |b| b.index());
    StepError::NotFinite { step: state.steps + 1, body: mechanism.bodies()[body].name.clone(), cause: cause(h) }
}
