//! One step of backward Euler.

use nalgebra::Vector3;

use super::assembly::{Geometric, STATIC_SOFTNESS, Scene, Scheme};
use super::floating::Floating;
use super::frames::{self, Frame, NodeLoad};
use super::model::{ABSENT, Constants};
use crate::algebra::elimination::Numeric;
use crate::engine::State;
use crate::engine::laws::{self, Pieces};
use crate::engine::{Inputs, StepError};
use crate::joints::JointKind;
use crate::mechanism::JointId;

/// Memory of the engine between and during steps.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub frames: Vec<Frame>,
    pub loads: Vec<NodeLoad>,
    pub solution: Vec<f64>,
    pub numeric: Numeric,
    pub floating: Floating,
    pub pieces: Pieces,
    /// Force and torque left over on each node, and closures: statics only.
    pub forces: Vec<(Vector3<f64>, Vector3<f64>)>,
    pub closures: Vec<f64>,
    /// Coordinates of all joints after the move that was solved for: statics only.
    pub ahead: Vec<f64>,
    /// The state at the end of the step, until it is known to be good.
    pub next: State,
}

impl Workspace {
    pub fn new(model: &Constants) -> Workspace {
        Workspace {
            frames: vec![Frame::empty(); model.nodes.len() + 1],
            loads: Vec::with_capacity(model.mechanism.bodies().len() + model.mechanism.effectors().len()),
            solution: vec![0.0; model.plan.unknowns()],
            numeric: Numeric::new(&model.plan),
            floating: Floating::new(model),
            pieces: Pieces::default(),
            forces: vec![Default::default(); model.nodes.len()],
            closures: vec![0.0; State::at_rest(&model.mechanism).multipliers.len()],
            ahead: vec![0.0; model.mechanism.coordinate_count()],
            next: State::at_rest(&model.mechanism),
        }
    }
}

/// The weights of mass, springs, dampers and loads in a step of h seconds.
pub(super) fn scheme(h: f64) -> Scheme {
    Scheme {
        mass: 1.0,
        stiffness: h * h,
        damping: h,
        force: h,
        closing: 1.0 / h,
        augment: [0.0; 2],
        row_softness: STATIC_SOFTNESS,
        geometric: Geometric::WhereNeeded,
        equilibrium: false,
    }
}

/// Takes one step of h seconds.
pub(super) fn step(
    model: &Constants,
    inputs: &Inputs,
    iterations: usize,
    h: f64,
    state: &mut State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    attempt(model, inputs, iterations, h, state, work)?;
    std::mem::swap(state, &mut work.next);
    Ok(())
}

/// Makes the next state of a step of h seconds, in memory; nothing moves.
pub(super) fn attempt(
    model: &Constants,
    inputs: &Inputs,
    iterations: usize,
    h: f64,
    state: &State,
    work: &mut Workspace,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    frames::start(model, inputs, state, &mut work.frames);
    work.floating.start(model, h, &mut work.frames);
    frames::aim(model, h, &mut work.frames);
    frames::collect_loads(model, inputs, &mut work.loads);
    let scheme = scheme(h);
    work.next.multipliers.copy_from_slice(&state.multipliers);
    work.pieces.start(inputs, state, h);
    for _ in 0..iterations {
        frames::apply_loads(model, &inputs.gravity, &work.loads, 1.0, &mut work.frames);
        work.pieces.resume();
        while solve(model, inputs, h, &scheme, state, work)? {}
        for (n, (node, frame)) in model.nodes.iter().zip(work.frames.iter_mut()).enumerate() {
            let x = &work.solution[node.unknown..node.unknown + 6];
            frame.v += Vector3::new(x[0], x[1], x[2]);
            frame.w += Vector3::new(x[3], x[4], x[5]);
            frame.advance(node, h);
            if !frame.pose.is_finite() {
                return Err(singular(model, inputs, state, h, work).unwrap_or(not_finite(model, state, n, h)));
            }
        }
        store_multipliers(model, h, &work.solution, &mut work.next.multipliers);
    }
    let torn = finish(model, inputs, h, &scheme, state, work);
    if !work.next.is_finite() {
        let body = first_not_finite(model, &work.next);
        return Err(singular(model, inputs, state, h, work).unwrap_or(not_finite(model, state, body, h)));
    }
    if let Some((joint, gap)) = torn {
        let joint = model.mechanism[joint].name.clone();
        return Err(StepError::Torn { step: state.steps + 1, joint, gap, dt: h });
    }
    Ok(())
}

/// Solves for the next iterate; whether friction and torque limits are on other pieces there than it was solved for, and so
/// to be solved for again.
#[inline(always)]
fn solve(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    scheme: &Scheme,
    state: &State,
    work: &mut Workspace,
) -> Result<bool, StepError> {
    let mut solved = Ok(());
    for geometric in [Geometric::WhereNeeded, Geometric::Nowhere] {
        let scene = Scene {
            model,
            frames: &work.frames,
            inputs,
            laws: work.pieces.laws(inputs),
            loads: &work.loads,
            state,
            multipliers: &work.next.multipliers,
            scheme: &Scheme { geometric, ..*scheme },
            load_scale: 1.0,
            ahead: &[],
        };
        solved = work.numeric.carry_and_solve(&model.plan, &mut work.solution, scene);
        // With as many negative pivots as rows, the step is a minimum. Far from the solution, geometric
        // stiffness can spoil that: then it is left out.
        if work.numeric.negative_pivots() == model.rows {
            break;
        }
    }
    if let Err(pivot) = solved {
        let body = body_of_unknown(model, pivot.unknown);
        return Err(singular(model, inputs, state, h, work).unwrap_or(not_finite(model, state, body, h)));
    }
    Ok(!inputs.governed.is_empty() && revise(model, inputs, h, scheme, state, work))
}

/// By coordinates and rates where the solution leads, to first order.
#[inline(never)]
fn revise(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    scheme: &Scheme,
    state: &State,
    work: &mut Workspace,
) -> bool {
    let Workspace { frames, loads, pieces, solution, .. } = work;
    let (multipliers, laws) = (&state.multipliers, &inputs.laws);
    let scene =
        Scene { model, frames, inputs, laws, loads, state, multipliers, scheme, load_scale: 1.0, ahead: &[] };
    pieces.revise(inputs, state, h, |at| match model.joints.get(model.joint_of[at]) {
        None => (state.coordinates[at], 0.0),
        Some(joint) => {
            let (placed, k) = (scene.place(joint), at - joint.coordinate);
            let change = scene.moves(joint, &placed, solution)[k];
            (placed.q[k] + h * change, placed.rate[k] + change)
        }
    })
}

/// Writes the constraint forces of a solution, which holds −λ as an impulse.
fn store_multipliers(model: &Constants, h: f64, solution: &[f64], multipliers: &mut [f64]) {
    let to_force = -1.0 / h;
    model.for_each_row(|row, unknown| multipliers[row] = solution[unknown] * to_force);
}

/// Fills the next state but for its multipliers: poses, twists, coordinates with rates and forces. Returns
/// the first joint that is open by more than the arms of its two bodies, with its gap.
fn finish(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    scheme: &Scheme,
    state: &State,
    work: &mut Workspace,
) -> Option<(JointId, f64)> {
    let mut torn = None;
    let next = &mut work.next;
    work.floating.advance(model, inputs, h, &work.frames);
    frames::store(model, &work.frames, &inputs.base, &inputs.base_twist, Some(&work.floating), next);
    next.time = state.time + h;
    next.steps = state.steps + 1;
    let multipliers = &state.multipliers;
    let (frames, loads, laws) = (&work.frames, &work.loads, &inputs.laws);
    let scene =
        Scene { model, frames, inputs, laws, loads, state, multipliers, scheme, load_scale: 1.0, ahead: &[] };
    for joint in &model.joints {
        let placed = scene.place(joint);
        let d = joint.kind.freedoms();
        if torn.is_none() && placed.gap2 > joint.reach * joint.reach {
            torn = Some((joint.id, placed.gap2.sqrt()));
        }
        for k in 0..d {
            let at = joint.coordinate + k;
            next.coordinates[at] = placed.q[k];
            next.rates[at] = placed.rate[k];
            next.forces[at] = scene.drive(joint, k, &placed).force;
        }
    }
    if !inputs.governed.is_empty() {
        laws::bound_motors(inputs, next);
        work.pieces.store_friction(inputs, next);
    }
    next.private.clone_from(&state.private);
    torn
}

/// The first joint whose coordinates are lost, at the iterate or at the state it started from.
fn singular(
    model: &Constants,
    inputs: &Inputs,
    state: &State,
    h: f64,
    work: &mut Workspace,
) -> Option<StepError> {
    if work.frames.iter().any(|frame| !frame.pose.is_finite()) {
        frames::load(model, inputs, state, h, &mut work.frames);
    }
    let lost = |joint: &super::model::Joint| {
        let JointKind::Expression(expression) = &joint.kind else { return None };
        let side = |node: Option<usize>| &work.frames[node.unwrap_or(model.nodes.len())].pose;
        let outer = *side(joint.parent) * joint.in_parent;
        let X = outer.inverse_times(&(*side(joint.child) * joint.in_child));
        let q = &state.coordinates[joint.coordinate..joint.coordinate + joint.kind.freedoms()];
        let found = joint.kind.coordinates(&X, q);
        let rows = joint.kind.rows(&X, &found.as_slice()[..q.len()]);
        if found.iter().chain(rows.iter()).all(|x| x.is_finite()) {
            return None;
        }
        let coordinate = expression.lost_freedom(q).unwrap_or(0);
        Some(StepError::Singular {
            step: state.steps + 1,
            joint: model.mechanism[joint.id].name.clone(),
            coordinate: joint.kind.coordinate_name(coordinate).into(),
            dt: h,
        })
    };
    model.joints.iter().find_map(lost)
}

/// The first node with a number that is not finite, of its own or of a joint that carries it.
fn first_not_finite(model: &Constants, state: &State) -> usize {
    let of_joint = |joint: &super::model::Joint| {
        let d = joint.kind.freedoms();
        let coordinates = joint.coordinate..joint.coordinate + d;
        let lists = [&state.coordinates, &state.rates, &state.forces].map(|list| &list[coordinates.clone()]);
        let rows = &state.multipliers[joint.row..joint.row + 6 - d];
        let finite = lists.iter().chain([&rows]).all(|list| list.iter().all(|x| x.is_finite()));
        (!finite).then_some(joint.child.or(joint.parent)).flatten()
    };
    let body = state.first_not_finite().and_then(|body| model.mechanism.order().node_of(body));
    body.or_else(|| model.joints.iter().find_map(of_joint)).unwrap_or(0)
}

/// The node that an unknown belongs to or, for a multiplier, a node of its joint.
fn body_of_unknown(model: &Constants, unknown: usize) -> usize {
    let of_joint = |j: &super::model::Joint| {
        let rows = 6 - j.kind.freedoms();
        (j.unknown != ABSENT && (j.unknown..j.unknown + rows).contains(&unknown))
            .then_some(j.child.or(j.parent))
            .flatten()
    };
    (model.nodes.iter().position(|n| (n.unknown..n.unknown + 6).contains(&unknown)))
        .or_else(|| model.joints.iter().find_map(of_joint))
        .unwrap_or(0)
}

fn not_finite(model: &Constants, state: &State, node: usize, h: f64) -> StepError {
    let head = model.nodes[node].head;
    let twist = state.world_twist_at(head.index());
    let speed = twist.linear.norm().max(twist.angular.norm() * model.radius);
    let cause = if speed * h > 10.0 * model.radius {
        format!(
            "it was moving at {speed:.3e} m/s already, so an earlier step or load was too large for dt = {h} s"
        )
    } else {
        format!(
            "a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt"
        )
    };
    StepError::NotFinite { step: state.steps + 1, body: model.mechanism[head].name.clone(), cause }
}
