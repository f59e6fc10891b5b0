//! The inward and the outward sweep: articulated inertias, then accelerations; or in a step the twists at its end.
//!
//! ```text
//! inward:   U = IA S;  D = SᵀU + w;  u = τ − Sᵀp
//!           Ia = IA − U D⁻¹ Uᵀ;  pa = p + Ia c + U D⁻¹ u;  IA_λ += XᵀIa X;  p_λ += Xᵀpa
//! outward:  a' = X a_λ + c;  u̇ = D⁻¹(u − Uᵀa');  a = a' + S u̇                 [Si 2010, eqs 25–35]
//! ```
//! For accelerations, p is the force of the present motion less loads, τ what springs and dampers apply now, w the
//! rotors, and the base accelerates by −g.
//!
//! A step of h seconds solves the same equations for the twist and speeds at its end, at the present pose:
//! p = −(momentum + h·loads), c = 0, w = a + h d + h²k and τ = a q̇ + h k(q₀ − q) for a coordinate with spring k, damper d
//! and rotor a. The twists are then the nearest, in the metric of all masses, rotors and springs, to those that each body
//! would have on its own: that adds no kinetic energy however fast it turns, and any k is stable.
//!
//! Axes are the world's, so X only shifts: of [A, B; Bᵀ, C] by r, A stays, B − A[r] comes for B, and
//! C + [r]B + ([r]B)ᵀ − [r]A[r] for C. A hinge's S is (0; a) at o, and U two products of three by three.

use super::floating::Floating;
use super::model::{Constants, GeneralNode, Motion, Node};
use super::placing::pose_of;
use super::slot::{General, Six, Slot, Slots};
use super::small::*;
use crate::algebra::dense::gauss_jordan;
use crate::algebra::wide::wide;
use crate::engine::laws::Law;
use crate::engine::{Inputs, State};
use crate::expression::SINGULAR;
use crate::joints::{JointKind, expression};
use crate::spatial::{Pose, exp_rotation};
use nalgebra::{Matrix6, UnitQuaternion, Vector3, Vector6};

/// A pivot that is not a positive number: the node whose motion nothing resists, and the place of its freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoPivot {
    pub node: usize,
    pub freedom: usize,
}

/// What acts along coordinates.
#[derive(Clone, Copy)]
pub(super) struct Along<'a> {
    /// Coordinates and rates; in a step, twists as well.
    pub state: &'a State,
    /// What acts along coordinates, and where springs are relaxed; springs, dampers and limits do not act without.
    pub laws: &'a [Law],
    pub rest: Option<&'a [f64]>,
    /// Further forces along the speeds.
    pub forces: Option<&'a [f64]>,
    /// Gravity and length of a step.
    pub gravity: V,
    pub h: f64,
    /// Rates by which it is judged in a step which limits act.
    pub ahead: &'a [f64],
    /// In a step, whether what hangs on nodes holds them at its end.
    pub hanging: bool,
    /// In a step, the axes in which trees on free bases are stepped.
    pub floating: Option<&'a Floating>,
}

/// Force of spring, damper and limit of a coordinate, now.
#[inline(always)]
pub(super) fn force(law: &Law, rest: f64, q: f64, rate: f64) -> f64 {
    let motor = law.stiffness * (rest - q) - law.damping * rate;
    let mut force = motor.max(-law.torque_limit).min(law.torque_limit);
    law.add_limit(q, q, &mut 0.0, &mut force);
    force
}

/// Impulse and weight of spring, damper, push, limit and rotor of a coordinate in a step: a q̇ + h(k(q₀ − q) + f) and
/// a + h d + h²k. A limit acts if the coordinate `ahead` is beyond it.
#[inline(always)]
pub(super) fn impulse(law: &Law, rest: f64, (q, rate, ahead): (f64, f64, f64), h: f64) -> (f64, f64) {
    let mut stiffness = law.stiffness;
    let mut force = law.stiffness * (rest - q) + law.push;
    law.add_limit(ahead, q, &mut stiffness, &mut force);
    (law.armature * rate + h * force, law.armature + h * (law.damping + h * stiffness))
}

impl<'a> Along<'a> {
    /// What acts now, in no step.
    pub(super) fn now(state: &'a State, inputs: &'a Inputs) -> Along<'a> {
        Along {
            state,
            laws: &inputs.laws,
            rest: Some(&inputs.rest),
            forces: None,
            gravity: v(&inputs.gravity),
            h: 0.0,
            ahead: &[],
            hanging: false,
            floating: None,
        }
    }

    /// Force and weight of a coordinate, or in a step impulse and weight.
    #[inline(always)]
    pub(super) fn drive<const STEP: bool>(&self, coordinate: usize) -> (f64, f64) {
        let law = &self.laws[coordinate];
        let Some(rest) = self.rest else { return (0.0, law.armature) };
        let (q, rate) = (self.state.coordinates[coordinate], self.state.rates[coordinate]);
        let rest = rest[coordinate];
        if STEP {
            let ahead = q + self.h * self.ahead[coordinate];
            impulse(law, rest, (q, rate, ahead), self.h)
        } else {
            (force(law, rest, q, rate), law.armature)
        }
    }

    /// Takes the momentum that a node would have at the end of the step on its own, from the twist of the state and gravity:
    /// P = R m(v + ω×c) + h m g at the centre of mass, L = R I ω; about o, L + c×P. The inertia about the centre of mass is
    /// that in the middle of the present turn, R exp(½hω): at the start of it, a tumbling body would gain energy.
    #[inline(always)]
    pub(super) fn take_momentum<const FUSED: bool>(&self, n: usize, node: &Node, slot: &mut Slot) {
        let (mut twist, mut turning) = (&self.state.twists[node.head], self.state.twists[node.head].angular);
        if let Some(floating) = self.floating {
            twist = &floating.twists[node.head];
            turning = twist.angular - pose_of(slot).rotation.inverse() * floating.rates[n];
        }
        let w = v(&twist.angular);
        let own = scale(add_cross::<FUSED>(w, node.in_link, v(&twist.linear)), node.mass);
        let weight = scale(self.gravity, self.h * node.mass);
        let P = add_turn::<FUSED>(&slot.R, own, weight);
        let L = turn::<FUSED>(&slot.R, apply::<FUSED>(&node.about_center, w));
        let c = turn::<FUSED>(&slot.R, node.center);
        slot.f = minus(slot.f, P);
        slot.t = minus(slot.t, add_cross::<FUSED>(c, P, L));
        let half = exp_rotation(&(turning * (0.5 * self.h)));
        let middle = matrix::<FUSED>(product::<FUSED, _>(slot.q, half.coords.into()));
        slot.K = turned::<FUSED>(&middle, &node.about_center);
        (0..6).for_each(|k| slot.C[k] += slot.K[k]);
    }
}

wide! {
    /// Inward, from the leaves to the base, for accelerations.
    pub(super) fn inward, inward_lanes<false>(work: &mut Slots, model: &Constants, along: Along) -> Result<(), NoPivot>
}

wide! {
    /// Inward, from the leaves to the base, for a step.
    pub(super) fn inward_step, inward_lanes<true>(
        work: &mut Slots, model: &Constants, along: Along
    ) -> Result<(), NoPivot>
}

#[inline(always)]
fn inward_lanes<const FUSED: bool, const STEP: bool>(
    work: &mut Slots,
    model: &Constants,
    along: Along,
) -> Result<(), NoPivot> {
    for (n, node) in model.nodes.iter().enumerate().rev() {
        let (before, after) = work.slots.split_at_mut(n + 1);
        let (parent, slot) = (&mut before[node.parent], &mut after[0]);
        inward_node::<FUSED, STEP>(model, &along, n, (parent, slot), &mut work.general)?;
        if !STEP {
            add_bias::<FUSED>(slot);
        }
        pass_on::<FUSED>(slot, parent);
    }
    Ok(())
}

/// Eliminates the joint of a node whose children are.
#[inline(always)]
pub(super) fn inward_node<const FUSED: bool, const STEP: bool>(
    model: &Constants,
    along: &Along,
    n: usize,
    (parent, slot): (&mut Slot, &mut Slot),
    general: &mut [General],
) -> Result<(), NoPivot> {
    let node = &model.nodes[n];
    if STEP {
        along.take_momentum::<FUSED>(n, node, slot);
        if along.hanging {
            let factor = along.h * along.h;
            hold::<FUSED>(
                slot,
                turn::<FUSED>(&slot.R, node.center),
                scale(along.gravity, factor * node.mass),
            );
            hold::<FUSED>(parent, slot.r, scale(along.gravity, factor * model.carried[n]));
        }
    }
    match node.motion {
        Motion::Hinge => {
            let (force, weight) = along.drive::<STEP>(node.coordinate);
            let force = force + along.forces.map_or(0.0, |f| f[node.speed]);
            let a = slot.axis;
            let (Uf, Ut) = (turn::<FUSED>(&slot.B, a), apply::<FUSED>(&slot.C, a));
            let D = add_dot::<FUSED>(a, Ut, weight);
            if D.is_nan() || D <= 0.0 {
                return Err(NoPivot { node: n, freedom: 0 });
            }
            let inverse = 1.0 / D;
            let u = force - dot::<FUSED, _>(a, slot.t);
            slot.A = add_square::<FUSED>(&slot.A, Uf, -inverse);
            slot.C = add_square::<FUSED>(&slot.C, Ut, -inverse);
            let scaled = scale(Ut, -inverse);
            for i in 0..3 {
                slot.B[i] = add_scaled::<FUSED>(scaled, Uf[i], slot.B[i]);
            }
            (slot.Uf, slot.Ut, slot.inverse, slot.u) = (Uf, Ut, inverse, u);
            let gain = u * inverse;
            slot.f = add_scaled::<FUSED>(Uf, gain, slot.f);
            slot.t = add_scaled::<FUSED>(Ut, gain, slot.t);
        }
        Motion::General(g) | Motion::Free(g) => {
            inward_general::<STEP>(model, &model.general[g], n, node, along, slot, &mut general[g])?;
        }
    }
    Ok(())
}

/// Geometric stiffness of a force f at an arm r, (r·f) − ½(r fᵀ + f rᵀ), as far as it holds: its eigenvalue ½(r·f + |r||f|)
/// across r. Exact where a weight hangs straight down.
#[inline(always)]
fn hold<const FUSED: bool>(slot: &mut Slot, r: V, f: V) {
    let square = dot::<FUSED, _>(r, r);
    if square > 0.0 {
        let along = 0.5 * (dot::<FUSED, _>(r, f) + (square * dot::<FUSED, _>(f, f)).sqrt());
        slot.C = add_square::<FUSED>(&slot.C, r, -along / square);
        (0..3).for_each(|i| slot.C[[0, 3, 5][i]] += along);
    }
}

/// p + Ia c.
#[inline(always)]
fn add_bias<const FUSED: bool>(slot: &mut Slot) {
    let (A, B, C) = (&slot.A, &slot.B, &slot.C);
    let f = add_apply::<FUSED>(A, slot.cv, add_turn::<FUSED>(B, slot.cw, slot.f));
    let t = add_turn_back::<FUSED>(B, slot.cv, add_apply::<FUSED>(C, slot.cw, slot.t));
    (slot.f, slot.t) = (f, t);
}

/// Ia and pa go to the parent.
#[inline(always)]
pub(super) fn pass_on<const FUSED: bool>(slot: &Slot, parent: &mut Slot) {
    let (A, B, C, r, f, t) = (&slot.A, &slot.B, &slot.C, slot.r, slot.f, slot.t);
    parent.f = plus(parent.f, f);
    parent.t = plus(parent.t, add_cross::<FUSED>(r, f, t));
    for k in 0..6 {
        parent.A[k] += A[k];
    }
    // Rows of A times [r] are rows × r: (a [r])_k = (a × r)_k.
    let rows: M = [[A[0], A[1], A[2]], [A[1], A[3], A[4]], [A[2], A[4], A[5]]];
    let Ar: M = std::array::from_fn(|i| cross::<FUSED, _>(rows[i], r));
    let N: M = std::array::from_fn(|i| minus(B[i], Ar[i]));
    for i in 0..3 {
        parent.B[i] = plus(parent.B[i], N[i]);
    }
    // [r]B + ([r]B)ᵀ − [r]A[r] = [r]N + ([r]B)ᵀ, row i of [r]X being r_{i+1} X_{i+2} − r_{i+2} X_{i+1}.
    let times = |X: &M, i: usize, k: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        fma::<FUSED>(r[a], X[b][k], -(r[b] * X[a][k]))
    };
    let mut at = 0;
    for i in 0..3 {
        for k in i..3 {
            parent.C[at] += C[at] + (times(&N, i, k) + times(B, k, i));
            at += 1;
        }
    }
}

/// IA times a motion.
#[inline(always)]
pub(super) fn inertia_times(slot: &Slot, x: &Six) -> Six {
    let (l, a) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
    let f = add_apply::<false>(&slot.A, l, turn::<false>(&slot.B, a));
    let t = add_turn_back::<false>(&slot.B, l, apply::<false>(&slot.C, a));
    [f[0], f[1], f[2], t[0], t[1], t[2]]
}

#[inline(always)]
pub(super) fn dot6(a: &Six, b: &Six) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
}

fn inward_general<const STEP: bool>(
    model: &Constants,
    constants: &GeneralNode,
    n: usize,
    node: &Node,
    along: &Along,
    slot: &mut Slot,
    own: &mut General,
) -> Result<(), NoPivot> {
    let d = constants.freedoms;
    let (mut forces, mut D) = own.drives::<STEP>(model, constants, node, along);
    if let Some(freedom) = constants.own_length.and_then(|length| lost_freedom(&own.S[..d], length))
        && D[freedom][freedom] == 0.0
    {
        return Err(NoPivot { node: n, freedom });
    }
    if let Some(more) = along.forces {
        (0..d).for_each(|k| forces[k] += more[node.speed + k]);
    }
    let p = [slot.f[0], slot.f[1], slot.f[2], slot.t[0], slot.t[1], slot.t[2]];
    for k in 0..d {
        own.U[k] = inertia_times(slot, &own.S[k]);
    }
    for k in 0..d {
        own.u[k] = forces[k] - dot6(&own.S[k], &p);
        for l in 0..d {
            D[k][l] += dot6(&own.S[k], &own.U[l]);
        }
    }
    own.inverse = gauss_jordan::inverse(&D, d).map_err(|freedom| NoPivot { node: n, freedom })?;
    // U D⁻¹, then Ia = IA − (U D⁻¹)Uᵀ and p + (U D⁻¹)u.
    for k in 0..d {
        let mut column = [0.0; 6];
        for l in 0..d {
            for i in 0..6 {
                column[i] += own.U[l][i] * own.inverse[l][k];
            }
        }
        let U = &own.U[k];
        for i in 0..3 {
            for j in 0..3 {
                slot.B[i][j] -= column[i] * U[3 + j];
            }
            slot.f[i] += column[i] * own.u[k];
            slot.t[i] += column[3 + i] * own.u[k];
        }
        let mut at = 0;
        for i in 0..3 {
            for j in i..3 {
                slot.A[at] -= column[i] * U[j];
                slot.C[at] -= column[3 + i] * U[3 + j];
                at += 1;
            }
        }
    }
    Ok(())
}

/// The first freedom of a formula that moves nothing that the others do not, as the longitude at a pole. Rounding leaves it
/// a little, and so a positive pivot.
fn lost_freedom(S: &[Six], length: f64) -> Option<usize> {
    let size = |x: &Six| {
        let (l, a) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        dot::<false, _>(l, l) / (length * length) + dot::<false, _>(a, a)
    };
    let most = S.iter().map(size).fold(0.0, f64::max);
    S.iter().position(|x| size(x) <= SINGULAR * SINGULAR * most)
}

impl General {
    /// Forces of springs, dampers, limits and rotors along the speeds, and their weights.
    pub(super) fn drives<const STEP: bool>(
        &self,
        model: &Constants,
        constants: &GeneralNode,
        node: &Node,
        along: &Along,
    ) -> (Six, [Six; 6]) {
        let (mut forces, mut weights) = ([0.0; 6], [[0.0; 6]; 6]);
        let Some(joint) = constants.joint else { return (forces, weights) };
        let d = constants.freedoms;
        let mut drives = [(0.0, 0.0); 6];
        (0..d).for_each(|k| drives[k] = along.drive::<STEP>(node.coordinate + k));
        let turns = first_turn(&model.mechanism[joint].kind);
        for k in 0..turns {
            (forces[k], weights[k][k]) = drives[k];
        }
        if turns < d {
            let rotors = if STEP || along.rest.is_none() { None } else { Some(along.state) };
            let at = node.coordinate + turns;
            let (force, weight) = self.drive_turns(model, at, rotors, &drives[turns..]);
            for i in 0..3 {
                forces[turns + i] = force[i];
                weights[turns + i][turns..turns + 3].copy_from_slice(&weight[i]);
            }
        }
        (forces, weights)
    }

    /// Springs, dampers and rotors of the turns of a ball or bushing, whose coordinates start at `at`: with φ̇ = B ω, Bᵀτ
    /// along ω and BᵀWB for its rate. A rotor resists φ̈ = B ω̇ + Ḃω, Ḃω = −B J̇r φ̇, at the state of `rotors`.
    fn drive_turns(
        &self,
        model: &Constants,
        at: usize,
        rotors: Option<&State>,
        drives: &[(f64, f64)],
    ) -> (V, M) {
        let B = &self.rates;
        let mut force: V = std::array::from_fn(|k| drives[k].0);
        if let Some(state) = rotors.filter(|_| (0..3).any(|k| model.laws[at + k].armature > 0.0)) {
            let bias = JointKind::Ball.bias(&state.coordinates[at..at + 3], &state.rates[at..at + 3]);
            let change = turn::<false>(B, v(&bias.angular));
            (0..3).for_each(|k| force[k] += model.laws[at + k].armature * change[k]);
        }
        let mut weights = [ZERO; 3];
        for i in 0..3 {
            for k in i..3 {
                let sum = (0..3).map(|l| B[l][i] * drives[l].1 * B[l][k]).sum();
                (weights[i][k], weights[k][i]) = (sum, sum);
            }
        }
        (turn_back::<false, _>(B, force), weights)
    }
}

/// The first freedom whose speed is not its coordinate's rate; the number of freedoms if there is none.
pub(super) fn first_turn(kind: &JointKind) -> usize {
    match kind {
        JointKind::Ball => 0,
        JointKind::Bushing => 3,
        kind => kind.freedoms(),
    }
}

/// Outward, from the base to the leaves, for accelerations. The base's, less gravity, is in its slot; `free` is what
/// bases that hang on nothing start from: −g.
pub(super) fn outward(work: &mut Slots, model: &Constants, free: V) {
    outward_now(work, model, free, 1.0, &mut []);
}

/// Outward, from the base to the leaves, for the twists at the end of a step. The base's is in its slot. Writes the
/// constraint forces of tree joints, unless there is no room for them.
pub(super) fn outward_step(work: &mut Slots, model: &Constants, h: f64, multipliers: &mut [f64]) {
    outward_ahead(work, model, ZERO, h, multipliers);
}

wide! {
    fn outward_now, outward_lanes<false>(
        work: &mut Slots, model: &Constants, free: V, h: f64, multipliers: &mut [f64]
    )
}

wide! {
    fn outward_ahead, outward_lanes<true>(
        work: &mut Slots, model: &Constants, free: V, h: f64, multipliers: &mut [f64]
    )
}

#[inline(always)]
fn outward_lanes<const FUSED: bool, const STEP: bool>(
    work: &mut Slots,
    model: &Constants,
    free: V,
    h: f64,
    multipliers: &mut [f64],
) {
    let per_step = 1.0 / h;
    for n in 0..model.nodes.len() {
        outward_node::<FUSED, STEP>(model, n, work, free, per_step, multipliers);
    }
}

/// A node whose parent's twist or acceleration is found.
#[inline(always)]
pub(super) fn outward_node<const FUSED: bool, const STEP: bool>(
    model: &Constants,
    n: usize,
    work: &mut Slots,
    free: V,
    per_step: f64,
    multipliers: &mut [f64],
) {
    let node = &model.nodes[n];
    let (before, after) = work.slots.split_at_mut(n + 1);
    let (parent, slot) = (&before[node.parent], &mut after[0]);
    let mut av = add_cross::<FUSED>(parent.aw, slot.r, parent.av);
    let mut aw = parent.aw;
    if STEP && !multipliers.is_empty() {
        constraint_forces::<FUSED>(
            model,
            node,
            (parent, slot),
            &work.general,
            (av, aw),
            per_step,
            multipliers,
        );
    } else if !STEP {
        (av, aw) = (plus(av, slot.cv), plus(aw, slot.cw));
    }
    let g = match node.motion {
        Motion::Hinge => {
            let x = slot.u - add_dot::<FUSED>(slot.Uf, av, dot::<FUSED, _>(slot.Ut, aw));
            let found = x * slot.inverse;
            work.found[node.speed] = found;
            slot.av = av;
            slot.aw = add_scaled::<FUSED>(slot.axis, found, aw);
            return;
        }
        Motion::General(g) => g,
        Motion::Free(g) => {
            (av, aw) = (free, ZERO);
            g
        }
    };
    let a = [av[0], av[1], av[2], aw[0], aw[1], aw[2]];
    let d = model.general[g].freedoms;
    outward_general(slot, &work.general[g], a, &mut work.found[node.speed..node.speed + d]);
}

/// The constraint forces of a tree joint from the twist ξ of its parent at o: the impulse Ia ξ + pa by which the parent
/// moves the node, in terms of the joint's rows. On the manifold, those of a hinge are the force in the parent's axes,
/// and the torque about its y and less that about its x.
#[inline(always)]
pub(super) fn constraint_forces<const FUSED: bool>(
    model: &Constants,
    node: &Node,
    (parent, slot): (&Slot, &Slot),
    general: &[General],
    (l, a): (V, V),
    per_step: f64,
    multipliers: &mut [f64],
) {
    if matches!(node.motion, Motion::Free(_)) {
        return;
    }
    let f = add_apply::<FUSED>(&slot.A, l, add_turn::<FUSED>(&slot.B, a, slot.f));
    let t = add_turn_back::<FUSED>(&slot.B, l, add_apply::<FUSED>(&slot.C, a, slot.t));
    let (f, t) = (scale(f, per_step), scale(t, per_step));
    if let Motion::General(g) = node.motion {
        let (constants, own) = (&model.general[g], &general[g]);
        let F = pose_of(slot) * constants.in_child;
        let kind = &model.mechanism[constants.joint.expect("a joint")].kind;
        let w = in_axes(&F.rotation.inverse(), &[f[0], f[1], f[2], t[0], t[1], t[2]]);
        let found = match kind {
            JointKind::Expression(formula) => {
                let mut S = Matrix6::zeros();
                for k in 0..constants.freedoms {
                    S.set_column(k, &in_axes(&F.rotation.inverse(), &own.S[k]));
                }
                Some(expression::multipliers(formula, &S, &w))
            }
            _ => solve_rows(
                kind,
                &w,
                &(pose_of(parent) * constants.in_parent).inverse_times(&F),
                &own.q[..constants.freedoms],
            ),
        };
        if let Some(found) = found {
            let count = 6 - constants.freedoms;
            multipliers[node.row..node.row + count].copy_from_slice(&found.as_slice()[..count]);
        }
    } else {
        // In the axes of the parent's joint frame.
        let local = |x: V| turn_back::<FUSED, _>(&node.joint_axes, turn_back::<FUSED, _>(&parent.R, x));
        let (f, t) = (local(f), local(t));
        multipliers[node.row..node.row + 5].copy_from_slice(&[f[0], f[1], f[2], t[1], -t[0]]);
    }
}

/// A motion or wrench in other axes.
fn in_axes(axes: &UnitQuaternion<f64>, x: &Six) -> Vector6<f64> {
    let (l, a) = (axes * Vector3::new(x[0], x[1], x[2]), axes * Vector3::new(x[3], x[4], x[5]));
    Vector6::new(l.x, l.y, l.z, a.x, a.y, a.z)
}

/// Multipliers of any joint from the wrench w = Jᵀλ + Jθᵀτ on its child frame, in the axes of that.
fn solve_rows(kind: &JointKind, w: &Vector6<f64>, X: &Pose, q: &[f64]) -> Option<Vector6<f64>> {
    let d = kind.freedoms();
    let (J, Jq) = (kind.rows(X, q), kind.coordinates_jacobian(X, q));
    let mut A = Matrix6::zeros();
    for i in 0..6 {
        A.set_column(i, &if i < 6 - d { J.row(i) } else { Jq.row(i + d - 6) }.transpose());
    }
    // Where the last three have no force, as of a hinge, a ball or a universal joint, the first three have all of it.
    if A.fixed_view::<3, 3>(0, 3).iter().all(|x| *x == 0.0) {
        let (first, last) = (A.fixed_view::<3, 3>(0, 0), A.fixed_view::<3, 3>(3, 3));
        let f = first.try_inverse()? * w.fixed_rows::<3>(0);
        let t = last.try_inverse()? * (w.fixed_rows::<3>(3) - A.fixed_view::<3, 3>(3, 0) * f);
        return Some(Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z));
    }
    A.lu().solve(w)
}

fn outward_general(slot: &mut Slot, own: &General, mut a: Six, found: &mut [f64]) {
    let d = found.len();
    let mut rest = own.u;
    for k in 0..d {
        rest[k] -= dot6(&own.U[k], &a);
    }
    for k in 0..d {
        found[k] = (0..d).map(|l| own.inverse[k][l] * rest[l]).sum();
    }
    for k in 0..d {
        for i in 0..6 {
            a[i] += own.S[k][i] * found[k];
        }
    }
    slot.av = [a[0], a[1], a[2]];
    slot.aw = [a[3], a[4], a[5]];
}
