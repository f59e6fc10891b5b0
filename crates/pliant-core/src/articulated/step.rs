//! One step: the twists nearest to those that momentum, gravity and loads make of each body on its own, with springs,
//! dampers, limits and pulls at the end of the step; all at the pose of its start.
//!
//! ```text
//! (Σ JᵀMJ + a + hD + h²K) u⁺ = Σ Jᵀ(momentum + h·loads) + a q̇ + hK(q₀ − q),   q⁺ = q moved by h u⁺
//! ```
//! What is carried to the next step is the momentum of every body: its twist in the state is that with which the inertia at
//! the end of the step has the momentum M J u⁺. So what moves on its own keeps its momentum, that of a free-floating
//! tree along straight lines is kept, and projecting it adds no kinetic energy. A tree on a free base is stepped in axes that
//! turn with it ([`super::floating`]), which keeps its angular momentum as well.

use nalgebra::Vector3;

use super::closures::{self, Closing, Stuck};
use super::floating::Floating;
use super::loads;
use super::model::{Constants, Motion, Node, Place};
use super::placing::{follow, free, general, hinge, own_inertia, place, place_base, pose_of};
use super::slot::{Six, Slot, Slots};
use super::small::*;
use super::sweeps::{Along, NoPivot, dot6, first_turn, force, inward_step, outward_step};
use crate::algebra::wide::wide;
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::StepError;
use crate::engine::laws::{Law, Pieces};
use crate::joints::{JointKind, recentred};
use crate::mechanism::JointId;
use crate::spatial::{Pose, Twist, exp, exp_rotation, right_jacobian_rotation_inverse};

/// The square of h times the frequency of links against what hangs on them above which that is held at the end of a step.
const HANGING: f64 = 4.0;

/// How often what a step leaves open is closed by moving coordinates.
const CORRECTIONS: usize = 2;

/// Memory of the engine between and during steps.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub slots: Slots,
    pub closing: Closing,
    pub floating: Floating,
    pub pieces: Pieces,
    /// Whether the slots are placed as the state is, and loop joints evaluated there.
    pub placed: bool,
    pub evaluated: bool,
    /// Whether constraint forces are asked for; and whether the first sweeps of a step were its last.
    pub constrained: bool,
    pub once: bool,
    /// The widest gap of a loop joint that the step leaves, in radii.
    pub open: f64,
    /// The state at the end of the step, until it is known to be good.
    pub next: State,
    /// That at the start of a step that is taken in pieces.
    pub before: State,
}

impl Workspace {
    pub fn new(model: &Constants, state: &State) -> Workspace {
        Workspace {
            slots: Slots::new(model),
            closing: Closing::new(model),
            floating: Floating::new(model, state),
            pieces: Pieces::default(),
            placed: false,
            evaluated: false,
            constrained: true,
            once: false,
            open: 0.0,
            next: state.clone(),
            before: state.clone(),
        }
    }
}

/// Solves for the twists at the end of a step of h seconds, in the slots; nothing moves.
pub(super) fn solve_only(
    model: &Constants,
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
    if !(work.placed && work.evaluated) {
        work.closing.evaluate(model, &work.slots, &state.coordinates);
    }
    (work.placed, work.evaluated) = (false, false);
    work.floating.start(model, &work.slots, state, h);
    solve(model, inputs, h, state, work)
}

/// Makes the next state of a step of h seconds, in memory; nothing moves.
pub(super) fn attempt(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &mut State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    solve_only(model, inputs, h, state, work)?;
    conclude(model, inputs, h, state, work)
}

/// The rest of [`attempt`], from the twists and speeds that were solved for.
pub(super) fn conclude(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    work.next.coordinates.copy_from_slice(&state.coordinates);
    work.next.rates.copy_from_slice(&state.rates);
    work.floating.turn(model, &work.slots, h);
    advance(&mut work.slots, model, inputs, h, state, &work.floating.bases, &mut work.next);
    if !model.closures.is_empty() {
        correct(model, h, work);
    }
    work.floating.end(model, &mut work.slots, &mut work.next);
    if !model.floats.is_empty() {
        work.closing.evaluate(model, &work.slots, &state.coordinates);
    }
    work.evaluated = true;
    let next = &mut work.next;
    follow(model, &inputs.base_twist, next);
    for (joint, at) in model.closures.joints.iter().zip(&work.closing.at) {
        let q = at.q;
        let rates = joint.rates(model, &at.placed, &q, next, &inputs.base_twist);
        let d = model.mechanism[joint.id].kind.freedoms();
        next.coordinates[joint.coordinate..joint.coordinate + d].copy_from_slice(&q[..d]);
        next.rates[joint.coordinate..joint.coordinate + d].copy_from_slice(&rates[..d]);
    }
    work.pieces.store_friction(inputs, next);
    finish(model, inputs, h, state, next)?;
    let (torn, widest) = gaps(model, &work.closing);
    work.open = widest / model.radius;
    if let Some((joint, gap)) = torn {
        let joint = model.mechanism[joint].name.clone();
        return Err(StepError::Torn { step: state.steps + 1, joint, gap, dt: h });
    }
    Ok(())
}

/// Fills in forces along coordinates and the time, and sees that everything is finite.
pub(super) fn finish(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    next: &mut State,
) -> Result<(), StepError> {
    for at in 0..inputs.laws.len() {
        let (q, rate) = (next.coordinates[at], next.rates[at]);
        next.forces[at] = force(&inputs.laws[at], inputs.rest[at], q, rate);
    }
    next.time = state.time + h;
    next.steps = state.steps + 1;
    if is_finite(next) { Ok(()) } else { Err(not_finite(model, state, next, h)) }
}

/// Whether all numbers of a state are finite: 0·x is zero for those alone, and sums of it go fast.
fn is_finite(state: &State) -> bool {
    let mut sums = [0.0; 8];
    for list in [&state.coordinates, &state.rates, &state.forces, &state.multipliers] {
        let (chunks, rest) = list.as_chunks::<8>();
        for chunk in chunks {
            (0..8).for_each(|i| sums[i] += chunk[i] * 0.0);
        }
        rest.iter().for_each(|x| sums[0] += x * 0.0);
    }
    for (pose, twist) in state.poses.iter().zip(&state.twists) {
        let (q, p, v, w) = (&pose.rotation.coords, &pose.position, &twist.linear, &twist.angular);
        (0..4).for_each(|i| sums[i] += q[i] * 0.0);
        (0..3).for_each(|i| sums[4 + i] += p[i] * 0.0 + v[i] * 0.0 + w[i] * 0.0);
    }
    sums.iter().sum::<f64>() == 0.0 && state.base.is_finite() && state.time.is_finite()
}

/// Twists and speeds at the end of the step, and constraint forces of all joints and couplings into the next state.
fn solve(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    work.next.rates.copy_from_slice(&state.rates);
    work.pieces.start(inputs, state, h);
    sweep_once(model, inputs, h, state, work, false)?;
    // Limits that this motion runs into, although the present rates did not: once more, with them; and so with pieces of
    // friction and torque limits that it does not lie on, until it does.
    let governed = !inputs.governed.is_empty();
    let mut again = look_ahead(model, h, state, work) | (governed && revise(model, inputs, h, state, work));
    work.once = !again;
    while again {
        sweep_again(model, inputs, h, state, work)?;
        again = governed && (look_ahead(model, h, state, work) | revise(model, inputs, h, state, work));
    }
    Ok(())
}

/// Solves the same step once more, with limits and pieces as they are now.
pub(super) fn sweep_again(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    work.next.poses.copy_from_slice(&state.poses);
    work.next.coordinates.copy_from_slice(&state.coordinates);
    work.next.base = state.base;
    place(&mut work.slots, model, &mut work.next);
    work.closing.evaluate(model, &work.slots, &state.coordinates);
    sweep_once(model, inputs, h, state, work, !inputs.governed.is_empty())
}

/// Whether friction and torque limits are on other pieces at the speeds found than these were solved for.
#[inline(never)]
fn revise(model: &Constants, inputs: &Inputs, h: f64, state: &State, work: &mut Workspace) -> bool {
    let (slots, pieces) = (&work.slots, &mut work.pieces);
    pieces.revise(inputs, state, h, |at| {
        let rate = found_rate(model, state, slots, at);
        (state.coordinates[at] + h * rate, rate)
    })
}

/// The rate of a coordinate that a solution has.
fn found_rate(model: &Constants, state: &State, slots: &Slots, at: usize) -> f64 {
    match model.places[at] {
        Place::Still => 0.0,
        Place::Tree(n, k) => {
            let node = &model.nodes[n];
            let Motion::General(g) = node.motion else { return slots.found[node.speed] };
            let kind = &model.mechanism[model.general[g].joint.expect("a joint")].kind;
            let Some(turn) = k.checked_sub(first_turn(kind)) else { return slots.found[node.speed + k] };
            let first = node.speed + k - turn;
            (0..3).map(|i| slots.general[g].rates[turn][i] * slots.found[first + i]).sum()
        }
        Place::Loop(j, k) => {
            let joint = &model.closures.joints[j];
            let kind = &model.mechanism[joint.id].kind;
            let placed = joint.place(slots);
            let q = joint.coordinates(model, &placed, &state.coordinates);
            let J = kind.coordinates_jacobian(&placed.X, &q[..kind.freedoms()]);
            let wrenches = joint.wrenches(&placed, std::array::from_fn(|i| J[(k, i)]), slots);
            let along = |(slot, w): &(usize, Six)| {
                let (v, a) = (slots.slots[*slot].av, slots.slots[*slot].aw);
                dot6(w, &[v[0], v[1], v[2], a[0], a[1], a[2]])
            };
            wrenches.iter().map(along).sum()
        }
    }
}

/// Whether the speeds found lead beyond limits that did not act; their rates are then the ones that it is judged by.
pub(super) fn look_ahead(model: &Constants, h: f64, state: &State, work: &mut Workspace) -> bool {
    let mut changed = false;
    for &(at, speed) in &model.limited {
        let beyond = |rate: f64| {
            let ahead = state.coordinates[at] + h * rate;
            ahead > model.laws[at].upper || ahead < model.laws[at].lower
        };
        if beyond(work.slots.found[speed]) && !beyond(work.next.rates[at]) {
            work.next.rates[at] = work.slots.found[speed];
            changed = true;
        }
    }
    changed
}

/// Both sweeps, and what closes loops and couplings. Limits act as the rates in the next state say.
fn sweep_once(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    work: &mut Workspace,
    again: bool,
) -> Result<(), StepError> {
    let slots = &mut work.slots;
    loads::apply_step(model, inputs, h, slots);
    let (rest, gravity) = (Some(&inputs.rest[..]), v(&inputs.gravity));
    let floating = (!model.floats.is_empty()).then_some(&work.floating);
    // Held explicitly, what swings against its load needs h times its frequency below 2. Nothing hangs on what is free.
    let pull = h * h * inputs.gravity.norm() * model.most_hanging;
    let hanging = pull > HANGING && model.floats.is_empty();
    let laws = work.pieces.laws(inputs);
    let along =
        Along { state, laws, rest, forces: None, gravity, h, ahead: &work.next.rates, hanging, floating };
    // The base's twist at the end of the step, at the point where its origin is now.
    let base = &mut slots.slots[0];
    base.aw = v(&inputs.base_twist.angular);
    let back = minus(base.o, v(&inputs.base.position));
    base.av = add_cross::<false>(base.aw, back, v(&inputs.base_twist.linear));
    let multipliers = &mut work.next.multipliers;
    if model.closures.is_empty() {
        inward_step(slots, model, along).map_err(|pivot| no_pivot(model, state, pivot, h))?;
        outward_step(slots, model, h, if work.constrained { multipliers } else { &mut [] });
        return Ok(());
    }
    work.closing.again = again;
    let swept = closures::sweep(model, inputs, laws, along, slots, &mut work.closing, multipliers);
    swept.map_err(|stuck| match stuck {
        Stuck::Node(pivot) => no_pivot(model, state, pivot, h),
        Stuck::Closure(c) => {
            let joint = model.mechanism[closures::joint_of(model, c)].name.clone();
            StepError::Undetermined { step: state.steps + 1, joint, coordinate: None }
        }
    })
}

wide! {
    /// Outward, to the end of the step: coordinates and rates, places, and the twists that carry the momentum on.
    pub(super) fn advance, advance_lanes(
        work: &mut Slots,
        model: &Constants,
        inputs: &Inputs,
        h: f64,
        state: &State,
        bases: &[Pose],
        next: &mut State
    )
}

#[inline(always)]
fn advance_lanes<const FUSED: bool>(
    work: &mut Slots,
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &State,
    bases: &[Pose],
    next: &mut State,
) {
    next.base = inputs.base;
    place_base::<FUSED>(&mut work.slots[0], &next.base);
    let mut bases = bases.iter();
    for (n, node) in model.nodes.iter().enumerate() {
        let (before, after) = work.slots.split_at_mut(n + 1);
        let (parent, slot) = (&before[node.parent], &mut after[0]);
        match node.motion {
            Motion::Hinge => {
                carry::<FUSED>(node, slot);
                let rate = work.found[node.speed];
                let angle = state.coordinates[node.coordinate] + h * rate;
                next.rates[node.coordinate] = rate;
                next.coordinates[node.coordinate] = angle;
                hinge::<FUSED, false>(node, parent, slot, angle, rate);
            }
            Motion::General(g) => {
                carry::<FUSED>(node, slot);
                let d = model.general[g].freedoms;
                let mut speeds = [0.0; 6];
                speeds[..d].copy_from_slice(&work.found[node.speed..node.speed + d]);
                let kind = &model.mechanism[model.general[g].joint.expect("a joint")].kind;
                let moves = speeds.map(|u| h * u);
                move_joint(&inputs.laws, node, kind, &state.coordinates, &moves, &mut next.coordinates);
                set_rates(node, kind, &speeds, next);
                general(model, &model.general[g], node, parent, slot, &mut work.general[g], next);
            }
            Motion::Free(g) => {
                carry::<FUSED>(node, slot);
                let pose = bases.next().expect("a pose for every free base");
                free(pose, &Twist::ZERO, slot, &mut work.general[g]);
            }
        }
        own_inertia::<FUSED, false>(node, slot);
        next.poses[node.head] = pose_of(slot);
        next.twists[node.head] = carried_twist::<FUSED>(node, slot);
    }
}

/// Closes what the step left open by moving coordinates; evaluates loop joints where they end.
fn correct(model: &Constants, h: f64, work: &mut Workspace) {
    work.closing.evaluate(model, &work.slots, &work.next.coordinates);
    for _ in 0..CORRECTIONS {
        if !closures::correct(model, &work.next, h, &work.slots, &mut work.closing) {
            return;
        }
        displace(model, &work.closing.moves, &mut work.next);
        place(&mut work.slots, model, &mut work.next);
        for (node, slot) in model.nodes.iter().zip(&work.slots.slots[1..]) {
            work.next.twists[node.head] = carried_twist::<false>(node, slot);
        }
        work.closing.evaluate(model, &work.slots, &work.next.coordinates);
    }
}

/// Keeps what a node carries on in its slot, in the place of its twist: the velocity of its centre of mass, and its
/// angular momentum about it.
#[inline(always)]
fn carry<const FUSED: bool>(node: &Node, slot: &mut Slot) {
    let c = turn::<FUSED>(&slot.R, node.center);
    slot.av = add_cross::<FUSED>(slot.aw, c, slot.av);
    slot.aw = apply::<FUSED>(&slot.K, slot.aw);
}

/// The body twist that has the carried momentum with the inertia where the node is now.
#[inline(always)]
fn carried_twist<const FUSED: bool>(node: &Node, slot: &Slot) -> Twist {
    let angular = apply::<FUSED>(&node.inverse, turn_back::<FUSED, _>(&slot.R, slot.aw));
    let linear = add_cross::<FUSED>(node.in_link, angular, turn_back::<FUSED, _>(&slot.R, slot.av));
    Twist::new(linear.into(), angular.into())
}

/// Moves coordinates by displacements along the speeds; rates along the coordinates stay those of the same speeds to
/// first order.
fn displace(model: &Constants, moves: &[f64], next: &mut State) {
    for node in &model.nodes {
        match node.motion {
            Motion::Hinge => next.coordinates[node.coordinate] += moves[node.speed],
            Motion::General(g) => {
                let d = model.general[g].freedoms;
                let kind = &model.mechanism[model.general[g].joint.expect("a joint")].kind;
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
pub(super) fn move_joint(
    laws: &[Law],
    node: &Node,
    kind: &JointKind,
    from: &[f64],
    moves: &Six,
    to: &mut [f64],
) {
    let at = node.coordinate..node.coordinate + kind.freedoms();
    to[at.clone()].copy_from_slice(&from[at.clone()]);
    let first = first_turn(kind);
    let passive = laws[at.clone()][first..].iter().all(|f| {
        let held = f.stiffness != 0.0 || f.damping != 0.0 || f.armature != 0.0;
        !held && f.lower == f64::NEG_INFINITY && f.upper == f64::INFINITY
    });
    move_one(kind, &mut to[at], moves, passive);
}

/// As [`move_joint`], of its own coordinates. The rotation vector of a turn about any axis goes to the nearest that
/// describes the new pose; where nothing acts on it, [`recentred`].
fn move_one(kind: &JointKind, q: &mut [f64], moves: &Six, passive: bool) {
    let d = kind.freedoms();
    let first = first_turn(kind);
    if first < d {
        let mut X = kind.transform(q);
        X.rotation *= exp_rotation(&Vector3::new(moves[first], moves[first + 1], moves[first + 2]));
        let to = kind.coordinates(&X, q);
        q[first..].copy_from_slice(&to.as_slice()[first..d]);
        if passive {
            let short = recentred(Vector3::new(q[first], q[first + 1], q[first + 2]));
            q[first..].copy_from_slice(short.as_slice());
        }
    }
    for k in 0..first {
        q[k] += moves[k];
    }
}

/// Rates of a joint's coordinates from its speeds.
pub(super) fn set_rates(node: &Node, kind: &JointKind, speeds: &Six, state: &mut State) {
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
pub(super) fn moved_base(node: &Node, slot: &Slot, h: f64) -> Pose {
    let (v, w) = (Vector3::from(slot.av), Vector3::from(slot.aw));
    let pose = pose_of(slot);
    let arm = pose.rotation * Vector3::from(node.center);
    let mut rotation = exp_rotation(&(w * h)) * pose.rotation;
    rotation.renormalize_fast();
    let position = pose.position + arm + (v + w.cross(&arm)) * h - rotation * Vector3::from(node.center);
    Pose { rotation, position }
}

/// The first loop joint that is open by more than the arms of its two sides, with its gap; and the widest gap of all.
fn gaps(model: &Constants, closing: &Closing) -> (Option<(JointId, f64)>, f64) {
    let (mut torn, mut widest) = (None, 0.0f64);
    for (joint, at) in model.closures.joints.iter().zip(&closing.at) {
        let rows = 0..6 - model.mechanism[joint.id].kind.freedoms();
        let gap2: f64 = rows.filter(|i| at.is_length(*i)).map(|i| at.C[i] * at.C[i]).sum();
        widest = widest.max(gap2);
        if torn.is_none() && gap2 > joint.reach * joint.reach {
            torn = Some((joint.id, gap2.sqrt()));
        }
    }
    (torn, widest.sqrt())
}

pub(super) fn no_pivot(model: &Constants, state: &State, pivot: NoPivot, h: f64) -> StepError {
    let node = &model.mechanism.order().nodes()[pivot.node];
    match node.joint {
        // A state whose numbers are too large for f64 ends here as well.
        Some(id) => singular(model, state, state, h).unwrap_or_else(|| {
            let joint = &model.mechanism[id];
            let coordinate = Some(joint.kind.coordinate_name(pivot.freedom).into());
            StepError::Undetermined { step: state.steps + 1, joint: joint.name.clone(), coordinate }
        }),
        None => StepError::NotFinite {
            step: state.steps + 1,
            body: model.mechanism[node.head].name.clone(),
            cause: cause(h),
        },
    }
}

fn cause(h: f64) -> String {
    format!("a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt")
}

/// The first formula that has lost a coordinate where its joint is.
fn singular(model: &Constants, state: &State, at: &State, h: f64) -> Option<StepError> {
    model.mechanism.joints().iter().find_map(|joint| {
        let JointKind::Expression(formula) = &joint.kind else { return None };
        let q = &at.coordinates[joint.coordinates()];
        let lost = formula.lost_freedom(q).filter(|_| q.iter().all(|q| q.is_finite()))?;
        Some(StepError::Singular {
            step: state.steps + 1,
            joint: joint.name.clone(),
            coordinate: joint.kind.coordinate_name(lost).into(),
            dt: h,
        })
    })
}

pub(super) fn not_finite(model: &Constants, state: &State, next: &State, h: f64) -> StepError {
    if let Some(error) = singular(model, state, next, h) {
        return error;
    }
    let mechanism = &model.mechanism;
    let of_joint = mechanism.joint_ids().find_map(|j| {
        let at = mechanism[j].coordinates();
        let lists = [&next.coordinates[at.clone()], &next.rates[at.clone()], &next.forces[at]];
        let finite = lists.iter().all(|list| list.iter().all(|x| x.is_finite()));
        (!finite).then(|| mechanism[j].child)
    });
    let body = next.first_not_finite().or(of_joint).map_or(model.nodes[0].head, |b| b.index());
    StepError::NotFinite {
        step: state.steps + 1,
        body: mechanism.bodies()[body].name.clone(),
        cause: cause(h),
    }
}
