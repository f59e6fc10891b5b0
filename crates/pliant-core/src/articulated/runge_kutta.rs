//! The explicit method of Runge and Kutta, of fourth order, in joint coordinates.
//!
//! A configuration is that at the start of the step, moved by displacements δ along the speeds: δ̇ = u, but for turns about
//! any axis, where δ is a rotation vector from the start and δ̇ = Jr(δ)⁻¹ω: small in a step, so never singular. A free
//! base's origin moves along world axes.

use nalgebra::Vector3;

use super::loads;
use super::model::{Constants, Motion};
use super::placing::{place, place_and_move};
use super::small::*;
use super::step::{self, Workspace};
use super::sweeps::{
    Along, NoPivot, constraint_forces, first_turn, inward, inward_step, outward, outward_step,
};
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::StepError;
use crate::engine::laws::Law;
use crate::spatial::{Pose, Twist, exp, exp_rotation, log, right_jacobian_rotation_inverse};

/// Memory of the stages.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    /// Speeds at the start; speeds and displacements of a stage; their rates and the weighted sums of these.
    start: Vec<f64>,
    speeds: Vec<f64>,
    moves: Vec<f64>,
    rates: [Vec<f64>; 2],
    sums: [Vec<f64>; 2],
    /// Whether the base moved in the last step.
    moved: bool,
}

impl Stages {
    pub fn new(model: &Constants) -> Stages {
        let list = || vec![0.0; model.speeds];
        Stages {
            start: list(),
            speeds: list(),
            moves: list(),
            rates: [list(), list()],
            sums: [list(), list()],
            moved: false,
        }
    }
}

/// Takes one step of h seconds.
pub(super) fn attempt(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    state: &mut State,
    work: &mut Workspace,
    stages: &mut Stages,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    if !work.placed {
        place(&mut work.slots, model, state);
    }
    work.placed = false;
    let gone = log(&state.base.inverse_times(&inputs.base));
    let moves = inputs.base_twist != Twist::ZERO;
    if moves || stages.moved {
        start(model, inputs, state, work).map_err(|pivot| step::no_pivot(model, state, pivot, h))?;
        stages.start.copy_from_slice(&work.slots.found);
    } else {
        take_speeds(model, state, &mut stages.start);
    }
    stages.moved = moves;
    // Rates of a step that failed may not be finite.
    for list in stages.sums.iter_mut().chain(&mut stages.rates) {
        list.fill(0.0);
    }
    // k₁ at the start, k₂ and k₃ in the middle, k₄ at the end: (k₁ + 2k₂ + 2k₃ + k₄)/6.
    for (part, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
        for i in 0..model.speeds {
            stages.speeds[i] = stages.start[i] + part * h * stages.rates[0][i];
            stages.moves[i] = part * h * stages.rates[1][i];
        }
        let next = &mut work.next;
        next.base = state.base * exp(&(gone * part));
        put((model, &inputs.laws), state, &stages.moves, &stages.speeds, next);
        place_and_move(&mut work.slots, model, next, &inputs.base_twist);
        loads::apply_now(model, inputs, &mut work.slots);
        let g = v(&inputs.gravity);
        let along = Along::now(next, inputs);
        inward(&mut work.slots, model, along).map_err(|pivot| step::no_pivot(model, state, pivot, h))?;
        // The base's origin does not speed up within the step: as a spatial acceleration, −ω×v.
        let base = &mut work.slots.slots[0];
        (base.av, base.aw) = (minus(cross::<false, _>(base.v, base.w), g), ZERO);
        outward(&mut work.slots, model, scale(g, -1.0));
        stages.rates[0].copy_from_slice(&work.slots.found);
        moving(model, state, &stages.moves, &stages.speeds, &mut stages.rates[1]);
        for (sum, rates) in stages.sums.iter_mut().zip(&stages.rates) {
            sum.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += weight * rate);
        }
    }
    for (n, node) in model.nodes.iter().enumerate() {
        let (parent, slot) = (&work.slots.slots[node.parent], &work.slots.slots[n + 1]);
        let av = add_cross::<false>(parent.aw, slot.r, parent.av);
        let multipliers = &mut work.next.multipliers;
        constraint_forces::<false>(
            model,
            node,
            (parent, slot),
            &work.slots.general,
            (av, parent.aw),
            1.0,
            multipliers,
        );
    }
    for i in 0..model.speeds {
        stages.speeds[i] = stages.start[i] + h / 6.0 * stages.sums[0][i];
        stages.moves[i] = h / 6.0 * stages.sums[1][i];
    }
    let next = &mut work.next;
    next.base = inputs.base;
    put((model, &inputs.laws), state, &stages.moves, &stages.speeds, next);
    place_and_move(&mut work.slots, model, next, &inputs.base_twist);
    step::finish(model, inputs, h, state, next)
}

/// Finds the speeds with which all twists are nearest to those of the state, in the metric of masses: a base that moves
/// otherwise than in the step before pulls at all bodies at once.
fn start(model: &Constants, inputs: &Inputs, state: &State, work: &mut Workspace) -> Result<(), NoPivot> {
    let along = Along { gravity: ZERO, ahead: &state.rates, ..Along::now(state, inputs) };
    inward_step(&mut work.slots, model, along)?;
    let base = &mut work.slots.slots[0];
    (base.av, base.aw) = (v(&inputs.base_twist.linear), v(&inputs.base_twist.angular));
    outward_step(&mut work.slots, model, 1.0, &mut work.next.multipliers);
    Ok(())
}

/// The speeds that the twists of a state make, at its pose, on a base at rest.
fn take_speeds(model: &Constants, state: &State, speeds: &mut [f64]) {
    for (n, node) in model.nodes.iter().enumerate() {
        let twist = state.twists[node.head];
        let Some(id) = model.mechanism.order().nodes()[n].joint else {
            speeds[node.speed..node.speed + 6].copy_from_slice(twist.to_vector().as_slice());
            continue;
        };
        let kind = &model.mechanism[id].kind;
        let (in_parent, in_child) = model.mechanism.frames_in_nodes(&model.mechanism[id]);
        let d = kind.freedoms();
        let q = &state.coordinates[node.coordinate..node.coordinate + d];
        let X = kind.transform(q);
        let outer = node.parent.checked_sub(1).map_or(Twist::ZERO, |p| state.twists[model.nodes[p].head]);
        let relative = in_child.twist_to_local(&twist) - X.twist_to_local(&in_parent.twist_to_local(&outer));
        let rates = kind.coordinates_jacobian(&X, q) * relative.to_vector();
        let first = first_turn(kind);
        speeds[node.speed..node.speed + first].copy_from_slice(&rates.as_slice()[..first]);
        if first < d {
            speeds[node.speed + first..node.speed + d].copy_from_slice(relative.angular.as_slice());
        }
    }
}

/// Three numbers of a list.
fn three(list: &[f64]) -> Vector3<f64> {
    Vector3::new(list[0], list[1], list[2])
}

/// Coordinates and rates, and poses and twists of free bases, after displacements from a state and with speeds.
fn put((model, laws): (&Constants, &[Law]), from: &State, moves: &[f64], speeds: &[f64], to: &mut State) {
    for node in &model.nodes {
        match node.motion {
            Motion::Hinge => {
                to.coordinates[node.coordinate] = from.coordinates[node.coordinate] + moves[node.speed];
                to.rates[node.coordinate] = speeds[node.speed];
            }
            Motion::General(g) => {
                let kind = &model.mechanism[model.general[g].joint.expect("a joint")].kind;
                let d = kind.freedoms();
                let (mut own, mut u) = ([0.0; 6], [0.0; 6]);
                own[..d].copy_from_slice(&moves[node.speed..node.speed + d]);
                u[..d].copy_from_slice(&speeds[node.speed..node.speed + d]);
                step::move_joint(laws, node, kind, &from.coordinates, &own, &mut to.coordinates);
                step::set_rates(node, kind, &u, to);
            }
            Motion::Free(_) => {
                let pose = from.poses[node.head];
                let (p, r) = (three(&moves[node.speed..]), three(&moves[node.speed + 3..]));
                let mut rotation = pose.rotation * exp_rotation(&r);
                rotation.renormalize_fast();
                to.poses[node.head] = Pose { rotation, position: pose.position + p };
                let u = &speeds[node.speed..];
                to.twists[node.head] = Twist::new(three(u), three(&u[3..]));
            }
        }
    }
}

/// δ̇ at displacements δ from a state, with speeds.
fn moving(model: &Constants, from: &State, moves: &[f64], speeds: &[f64], rates: &mut [f64]) {
    rates.copy_from_slice(speeds);
    for node in &model.nodes {
        let turns = match node.motion {
            Motion::Hinge => continue,
            Motion::Free(_) => {
                let turned = from.poses[node.head].rotation * exp_rotation(&three(&moves[node.speed + 3..]));
                let velocity = turned * three(&speeds[node.speed..]);
                rates[node.speed..node.speed + 3].copy_from_slice(velocity.as_slice());
                3
            }
            Motion::General(g) => first_turn(&model.mechanism[model.general[g].joint.expect("a joint")].kind),
        };
        let at = node.speed + turns;
        let ends = match node.motion {
            Motion::General(g) | Motion::Free(g) => node.speed + model.general[g].freedoms,
            Motion::Hinge => at,
        };
        if at < ends {
            let B = right_jacobian_rotation_inverse(&three(&moves[at..]));
            rates[at..ends].copy_from_slice((B * three(&speeds[at..])).as_slice());
        }
    }
}
