//! One step: the rates of the motions at its end, from the momenta of all links, what acts on them, and springs, dampers and
//! limits at the end of the step.
//!
//! ```text
//! (M + a + hD + h²(K + G)) ẏ⁺ = M ẏ + a ẏ + r + ΘᵀJᵀ(momenta carried − momenta of ẏ + h·loads) + hK(y₀ − y),   y⁺ = y + h ẏ⁺
//! ```
//!
//! With M of the present pose the momenta of ẏ drop out, and this is the step of the articulated engine on the motions: the
//! twists nearest to those that each link would have alone. M is made again when a link has turned by [`TURNED`] since, and G
//! with it; between, M multiplies the change of the rates alone, and what it leaves of the impulses the next step has (`owed.rs`).

use super::acting::{add_spring, base_at_point, each_load, jacobian};
use super::balls;
use super::failing::{failed, finite, torn};
use super::floating::Floating;
use super::limits::{Extra, Small};
use super::matrix::{Made, make_if_needed};
use super::model::Constants;
use super::momentum::{Around, Carried, carry, gather, own_impulses, push};
use super::motion::{Motion, tangent};
use super::owed;
use super::placing::{Six, Turns};
use super::springs::Springs;
use super::system::System;
use crate::algebra::lanes::Lanes;
use crate::algebra::three::six;
use crate::algebra::wide::dot;
use crate::engine::laws::Pieces;
use crate::engine::{Inputs, State, StepError};
use crate::spatial::{Pose, Twist, Wrench};
use nalgebra::{Matrix6, Vector3, Vector6};

/// How far a link may have turned since mass and geometric stiffness were made, rad; slides count over the radius.
pub(super) const TURNED: f64 = 0.05;

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub next: Motion,
    pub system: System,
    pub made: Made,
    /// The matrix of a step without what changes in every one, and its factor; the same with all, and its factor.
    pub base: Vec<f64>,
    pub factor: Vec<f64>,
    pub matrix: Vec<f64>,
    pub whole: Vec<f64>,
    /// Whether the last step had more than the first.
    pub more: bool,
    pub sums: Vec<[Lanes; 6]>,
    pub columns: Vec<Lanes>,
    pub Q: Vec<f64>,
    pub right: Vec<f64>,
    /// The same without contact, and what contact adds to it.
    pub free: Vec<f64>,
    pub pushed: Vec<f64>,
    /// ẏ⁺.
    pub solution: Vec<f64>,
    /// ẏ⁺ − ẏ.
    pub change: Vec<f64>,
    pub end: Turns,
    pub floating: Floating,
    /// Momenta in the axes that turn with free trees, and where their bases end.
    pub back: Vec<Carried>,
    bases: Vec<Pose>,
    pub extras: Vec<Extra>,
    /// Along each freedom, where there are curved closures.
    torques: Vec<f64>,
    /// Rates of limited freedoms by which it is judged which limits act.
    pub ahead: Vec<f64>,
    pub pieces: Pieces,
    jacobian: Vec<f64>,
    pub effectors: usize,
    /// Numbers of X.
    pub leaning: usize,
    /// Coordinates, rates and friction as the laws of friction ask for them.
    pub state: State,
}

impl Workspace {
    pub fn new(model: &Constants, motion: &Motion) -> Workspace {
        let (tree, basis) = (&model.tree, &model.basis);
        let (n, stride) = (basis.count, basis.stride);
        Workspace {
            next: motion.clone(),
            system: System::new(tree, basis),
            made: Made::default(),
            base: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            matrix: vec![0.0; n * n],
            whole: vec![0.0; n * n],
            more: false,
            sums: vec![[Lanes::ZERO; 6]; tree.joints.len()],
            columns: vec![Lanes::ZERO; n],
            Q: vec![0.0; n],
            right: vec![0.0; n],
            free: vec![0.0; n],
            pushed: vec![0.0; n],
            solution: vec![0.0; stride],
            change: vec![0.0; stride],
            end: Turns::new(tree),
            floating: Floating::new(model),
            back: if tree.floats.is_empty() { Vec::new() } else { motion.carried.clone() },
            bases: motion.places.floats.clone(),
            extras: Vec::with_capacity(2 * (tree.freedoms.len() + model.closures.freedoms.len())),
            ahead: vec![0.0; tree.limited.len() + model.closures.limited.len()],
            torques: vec![0.0; if model.closures.curved { tree.freedoms.len() } else { 0 }],
            pieces: Pieces::default(),
            jacobian: vec![0.0; 6 * stride],
            effectors: tree.mechanism.effectors().len(),
            leaning: motion.closed.X.len(),
            state: State::at_rest(&tree.mechanism),
        }
    }

    /// The factor of the last step's matrix.
    pub fn factored(&self) -> &[f64] {
        if self.more { &self.whole } else { &self.factor }
    }
}

/// Solves for ẏ⁺ in a step of h seconds, in memory; nothing moves.
pub(super) fn solve(
    model: &Constants,
    springs: &mut Springs,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    let (tree, n) = (&model.tree, model.basis.count);
    let curved = model.closures.curved;
    let base = base_at_point(&motion.places, inputs);
    springs.begin(h);
    if curved {
        motion.closed.slip.fill(0.0);
    }
    if !springs.still {
        if curved {
            motion.closed.lead(model, &springs.drift);
        }
        let drift = if curved { &motion.closed.drift } else { &springs.drift };
        let basis = tangent(model, &motion.closed);
        motion.places.spin(tree, basis, &motion.rates[..n], Some(drift), &mut motion.now);
        motion.led = true;
        if curved {
            motion.closed.spin_loops(model, &motion.now);
        }
    } else {
        motion.forget_lead(model);
    }
    let around = Around { base, gravity: inputs.gravity.into(), h };
    let places = &motion.places;
    let (floating, back) = (&mut work.floating, &mut work.back);
    if floating.is_empty() {
        let carried = &mut motion.carried;
        own_impulses(tree, places, &motion.now, &around, &[], carried, &mut work.sums);
    } else {
        floating.start(model, places, &motion.carried, back, h);
        own_impulses(tree, places, &motion.now, &around, &floating.rates, back, &mut work.sums);
    }
    let sums = &mut work.sums;
    each_load(tree, places, inputs, |n, at, load| {
        let impulse = six((load.force * h).into(), (load.torque * h).into());
        push(sums, places, n, at.into(), &impulse);
    });
    make_if_needed(model, springs, inputs, h, motion, work)?;
    let basis = tangent(model, &motion.closed);
    let (places, sums) = (&motion.places, &mut work.sums);
    work.more = !inputs.springs.is_empty();
    if work.more {
        work.matrix.copy_from_slice(&work.base);
    }
    for spring in &inputs.springs {
        // h²k + h d on the velocity of its frame, and the impulse on a frame at rest where it is now.
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        let Wrench { force, torque } = spring.wrench(&at, &Twist::ZERO);
        jacobian(tree, basis, places, link, &mut work.jacobian);
        let mut W = Matrix6::from_diagonal_element(h * (h * spring.stiffness + spring.damping));
        let turning = spring.turning(&at) * (h * h)
            + nalgebra::Matrix3::from_diagonal_element(h * spring.turning_damping);
        W.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        let arm = at.position - Vector3::from(places.point);
        add_spring(&mut work.matrix, n, &mut work.jacobian, basis.stride, &arm, &W);
        // What moves the frame without the motions: the base, and a reference that moves.
        let twist = motion.now.twists[link / 4].map(|x| x[link % 4]);
        let w = Vector3::new(twist[3] + base[3], twist[4] + base[4], twist[5] + base[5]);
        let v = Vector3::new(twist[0] + base[0], twist[1] + base[1], twist[2] + base[2]) + w.cross(&arm);
        let moved = Vector6::from_fn(|i, _| {
            let own = dot(&work.jacobian[i * basis.stride..(i + 1) * basis.stride], &motion.rates);
            if i < 3 { v[i] - own } else { w[i - 3] - own }
        });
        let held = W * moved;
        let impulse: Six =
            std::array::from_fn(|i| if i < 3 { h * force[i] - held[i] } else { h * torque[i - 3] - held[i] });
        push(sums, places, link, at.position.into(), &impulse);
    }
    gather(tree, basis, places, sums, &mut work.columns, &mut work.Q);
    if curved {
        act_along(model, springs, inputs, h, motion, work);
        return Small { model, inputs, h, motion }.solve(work);
    }
    // M ẏ + Q + r + hK(y₀ − y), and what a reference that moves does to dampers and rotors.
    for k in 0..n {
        let row = k * basis.stride..k * basis.stride + basis.stride;
        work.right[k] = work.Q[k]
            + motion.owed[k]
            + dot(&work.system.M[row.clone()], &motion.rates)
            + h * (springs.pull[k] - dot(&springs.K[row], &motion.y));
    }
    if !springs.still {
        springs.resist(model, h, &mut work.right);
    }
    Small { model, inputs, h, motion }.solve(work)
}

/// The right side where T changes from step to step: springs, dampers and rotors act as they would with the present rates, and the matrix
/// multiplies the change of these, (M + hD + h²K)(ẏ⁺ − ẏ) = Q + r + Tᵀ(h(k(θ₀ − θ − hθ̇) − dθ̇) − a(θ̇ − θ̇_last)). Then what closes.
fn act_along(
    model: &Constants,
    springs: &Springs,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
    work: &mut Workspace,
) {
    let (tree, basis) = (&model.tree, &motion.closed.tangent);
    let n = basis.count;
    for k in 0..n {
        let row = k * basis.stride..(k + 1) * basis.stride;
        work.right[k] = work.Q[k]
            + motion.owed[k]
            + dot(&work.system.M[row.clone()], &motion.rates)
            + h * dot(&springs.D[row.clone()], &motion.rates)
            + h * h * dot(&springs.K[row], &motion.rates);
    }
    let impulse = |at: usize, q: f64, rate: f64, rolled: f64| {
        let law = &inputs.laws[at];
        h * (law.stiffness * (inputs.rest[at] - q - h * rate) - law.damping * rate)
            - law.armature * (rate - rolled)
    };
    for (i, freedom) in tree.freedoms.iter().enumerate() {
        work.torques[i] = 0.0;
        let Some(at) = freedom.coordinate else { continue };
        let (q, rate) = (motion.places.coordinate(tree, i), motion.now.rate(tree, i));
        let tau = impulse(at, q, rate, motion.closed.rolled[i]);
        work.torques[i] = tau;
        if tau != 0.0 {
            work.right.iter_mut().zip(basis.row(i)).for_each(|(to, t)| *to += tau * t);
        }
    }
    for (l, freedom) in model.closures.freedoms.iter().enumerate() {
        let closed = &motion.closed;
        let tau = impulse(freedom.coordinate, closed.at.q[l], closed.loop_rates[l], closed.loop_rolled[l]);
        if tau == 0.0 {
            continue;
        }
        let row = &closed.loop_rows[l * basis.stride..(l + 1) * basis.stride];
        work.right.iter_mut().zip(row).for_each(|(to, t)| *to += tau * t);
        let joint = &model.closures.joints[freedom.joint];
        let S = &closed.at.loops[joint.at + freedom.own * joint.path.len()..];
        joint.path.iter().zip(S).for_each(|((i, _), S)| work.torques[*i] += S * tau);
    }
    // What closes balances the rest, at the present rates.
    let (places, sums) = (&motion.places, &work.sums);
    for (i, freedom) in tree.freedoms.iter().enumerate().filter(|(_, f)| f.coordinate.is_some()) {
        let (s, sum) = (places.axis(tree, i), sums[freedom.link / 4].map(|x| x[freedom.link % 4]));
        work.torques[i] += s.iter().zip(&sum).map(|(s, f)| s * f).sum::<f64>();
    }
    motion.closed.balance(model, |i| work.torques[i] / h);
}

/// The twists that the solution gives all links where they are.
pub(super) fn spin_end(model: &Constants, springs: &Springs, motion: &Motion, work: &mut Workspace) {
    let closed = &motion.closed;
    let drift = if model.closures.curved { &closed.drift } else { &springs.drift };
    let solution = &work.solution[..model.basis.count];
    let drift = (!springs.still).then_some(drift);
    motion.places.spin(&model.tree, tangent(model, closed), solution, drift, &mut work.end);
}

/// Of a link, at P, with that of the base.
pub(super) fn end_twist(inputs: &Inputs, motion: &Motion, work: &Workspace, n: usize) -> Twist {
    let own = work.end.twists[n / 4].map(|x| x[n % 4]);
    let base = base_at_point(&motion.places, inputs);
    let of = |k: usize| own[k] + base[k];
    Twist::new(Vector3::new(of(0), of(1), of(2)), Vector3::new(of(3), of(4), of(5)))
}

/// Moves on with the solution, in memory; its twists are at the end.
pub(super) fn advance(
    model: &Constants,
    springs: &Springs,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let (tree, n) = (&model.tree, model.basis.count);
    let Workspace { next, solution, end, floating, back, .. } = &mut *work;
    next.copy_small(motion);
    next.time += h;
    next.steps += 1;
    next.led = false;
    next.base_twist = inputs.base_twist;
    let base = base_at_point(&motion.places, inputs);
    let from = if floating.is_empty() { &motion.carried } else { &*back };
    carry(&motion.places, end, &base, from, &mut next.carried);
    floating.turn(model, &motion.places, end, back, h, &mut next.places.floats);
    next.rates[..n].copy_from_slice(&solution[..n]);
    for k in 6 * tree.floats.len()..n {
        next.y[k] += h * solution[k];
    }
    next.places.base = inputs.base;
    if model.closures.curved {
        next.closed.predict(&motion.closed, &solution[..n], h);
        for (i, rolled) in next.closed.rolled.iter_mut().enumerate() {
            *rolled = end.rate(tree, i);
        }
        for (l, rolled) in next.closed.loop_rolled.iter_mut().enumerate() {
            let freedom = &model.closures.freedoms[l];
            let joint = &model.closures.joints[freedom.joint];
            let S = &motion.closed.at.loops[joint.at + freedom.own * joint.path.len()..];
            *rolled = joint.path.iter().zip(S).map(|((i, _), S)| S * end.rate(tree, *i)).sum();
        }
    }
    owed::leave(model, springs, h, motion, work);
    balls::turn(model, inputs, h, motion, work)?;
    let Workspace { next, end, floating, bases, .. } = &mut *work;
    // The rates of a reference that moves are not those of the motions alone.
    next.place_alike(model, &springs.goal, springs.still.then_some(&*end));
    if model.closures.curved {
        torn(model, next, h)?;
    }
    if !floating.is_empty() {
        let (places, carried) = (&next.places, &mut next.carried);
        bases.clone_from(&places.floats);
        floating.end(model, places, carried, bases);
        next.places.floats.copy_from_slice(bases);
        next.place(model, &springs.goal);
    }
    if finite(next) { Ok(()) } else { Err(failed(model, motion, next, h)) }
}
