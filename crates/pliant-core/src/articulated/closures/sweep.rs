//! All fronts, inward and outward: with the step's own forces, or for others with the factors of the step.

use super::front::{backward, carry_open, eliminate_rows, forward, twist};
use super::schedule::{Front, Unknown};
use super::{Closing, Stuck};
use crate::algebra::wide::wide;
use crate::articulated::model::{Constants, Motion};
use crate::articulated::slot::{Six, Slots};
use crate::articulated::small::*;
use crate::articulated::sweeps::{Along, dot6, inward_node, outward_node, pass_on};

wide! {
    /// Inward, for a step, with the closures that `closing` lists. The base's twist is in its slot.
    pub fn inward, inward_lanes(
        work: &mut Slots, closing: &mut Closing, model: &Constants, along: Along
    ) -> Result<(), Stuck>
}

#[inline(always)]
fn inward_lanes<const FUSED: bool>(
    work: &mut Slots,
    closing: &mut Closing,
    model: &Constants,
    along: Along,
) -> Result<(), Stuck> {
    for front in &model.closures.schedule.fronts {
        match front.unknown {
            Unknown::Slot(s) => {
                let (node, n) = (&model.nodes[s - 1], s - 1);
                let (before, after) = work.slots.split_at_mut(s);
                let (parent, slot) = (&mut before[node.parent], &mut after[0]);
                inward_node::<FUSED, true>(model, &along, n, (parent, slot), &mut work.general)
                    .map_err(Stuck::Node)?;
                pass_on::<FUSED>(slot, parent);
                if !front.open.is_empty() {
                    carry_open::<FUSED>(model, work, closing, front, n);
                }
            }
            Unknown::Rows(c) => {
                closing.soften(model, c, along.state, along.h);
                if !eliminate_rows::<FUSED>(work, closing, front, c) {
                    return Err(Stuck::Closure(c));
                }
            }
        }
    }
    Ok(())
}

/// What an unknown was found to be.
#[inline(always)]
fn found(work: &Slots, closing: &Closing, unknown: Unknown) -> Six {
    match unknown {
        Unknown::Slot(s) => twist(&work.slots[s]),
        Unknown::Rows(c) => closing.found[c],
    }
}

wide! {
    /// Outward, for the twists at the end of a step: multipliers, then the twists with them. Writes the constraint forces of
    /// all joints.
    pub fn outward, outward_lanes(
        work: &mut Slots, closing: &mut Closing, model: &Constants, h: f64, multipliers: &mut [f64]
    )
}

#[inline(always)]
fn outward_lanes<const FUSED: bool>(
    work: &mut Slots,
    closing: &mut Closing,
    model: &Constants,
    h: f64,
    multipliers: &mut [f64],
) {
    let per_step = 1.0 / h;
    for front in model.closures.schedule.fronts.iter().rev() {
        match front.unknown {
            Unknown::Slot(s) => {
                let n = s - 1;
                for (e, open) in front.open.iter().enumerate() {
                    let x = found(work, closing, open.unknown);
                    match model.nodes[n].motion {
                        Motion::Hinge => work.slots[s].u -= dot6(&closing.y[front.y + e], &x),
                        Motion::General(g) | Motion::Free(g) => {
                            let d = model.general[g].freedoms;
                            for k in 0..d {
                                work.general[g].u[k] -= dot6(&closing.y[front.y + e * d + k], &x);
                            }
                        }
                    }
                    let (K, slot) = (&closing.blocks[open.block], &mut work.slots[s]);
                    (0..3).for_each(|i| slot.f[i] += dot6(&K[i], &x));
                    (0..3).for_each(|i| slot.t[i] += dot6(&K[3 + i], &x));
                }
                outward_node::<FUSED, true>(model, n, work, ZERO, per_step, multipliers);
            }
            Unknown::Rows(c) => {
                find_rows(work, closing, front, c);
                let rows = &closing.rows[c];
                for r in (0..rows.count).filter(|&r| rows.closes(r)) {
                    multipliers[rows.multiplier[r]] = -per_step * closing.found[c][r];
                }
            }
        }
    }
}

/// φ = L⁻ᵀ(z + Σ Z x).
#[inline(always)]
fn find_rows(work: &Slots, closing: &mut Closing, front: &Front, c: usize) {
    let (mut z, count) = (closing.z[c], closing.rows[c].count);
    for open in &front.open {
        let (x, Z) = (found(work, closing, open.unknown), &closing.blocks[open.block]);
        (0..count).for_each(|r| z[r] += dot6(&Z[r], &x));
    }
    closing.found[c] = backward(&closing.factors[c], count, z);
}

/// Takes the wrench p against a node or the numbers g against a closure inward, with the factors of a step: what is left is
/// u or z, and the number of them; the rest goes to the boundary.
#[inline(always)]
pub fn reduce(
    model: &Constants,
    work: &Slots,
    closing: &mut Closing,
    front: &Front,
    wrenches: &mut [Six],
) -> (Six, usize) {
    match front.unknown {
        Unknown::Rows(c) => {
            let count = closing.rows[c].count;
            let z = forward(&closing.factors[c], count, std::mem::take(&mut closing.g[c]));
            for open in &front.open {
                let Z = &closing.blocks[open.block];
                let to = match open.unknown {
                    Unknown::Slot(s) => &mut wrenches[s],
                    Unknown::Rows(other) => &mut closing.g[other],
                };
                (0..count).for_each(|k| (0..6).for_each(|i| to[i] += Z[k][i] * z[k]));
            }
            (z, count)
        }
        Unknown::Slot(s) => {
            let (node, slot) = (&model.nodes[s - 1], &work.slots[s]);
            let mut p = std::mem::take(&mut wrenches[s]);
            let (mut u, mut gain) = ([0.0; 6], [0.0; 6]);
            let d = match node.motion {
                Motion::Hinge => {
                    u[0] = -dot::<false, _>(slot.axis, [p[3], p[4], p[5]]);
                    gain[0] = u[0] * slot.inverse;
                    for i in 0..3 {
                        p[i] += slot.Uf[i] * gain[0];
                        p[3 + i] += slot.Ut[i] * gain[0];
                    }
                    1
                }
                Motion::General(g) | Motion::Free(g) => {
                    let (own, d) = (&work.general[g], model.general[g].freedoms);
                    (0..d).for_each(|k| u[k] = -dot6(&own.S[k], &p));
                    for k in 0..d {
                        gain[k] = (0..d).map(|l| own.inverse[k][l] * u[l]).sum();
                        (0..6).for_each(|i| p[i] += own.U[k][i] * gain[k]);
                    }
                    d
                }
            };
            for (e, open) in front.open.iter().enumerate() {
                let to = match open.unknown {
                    Unknown::Slot(s) => &mut wrenches[s],
                    Unknown::Rows(c) => &mut closing.g[c],
                };
                for k in 0..d {
                    let y = &closing.y[front.y + e * d + k];
                    (0..6).for_each(|i| to[i] += y[i] * gain[k]);
                }
            }
            let f = [p[0], p[1], p[2]];
            let t = add_cross::<false>(slot.r, f, [p[3], p[4], p[5]]);
            let parent = &mut wrenches[node.parent];
            for i in 0..3 {
                parent[i] += f[i];
                parent[3 + i] += t[i];
            }
            (u, d)
        }
    }
}

/// The speeds `moves` and twists that the numbers g against closures alone make, with the factors of a step.
pub fn answer(model: &Constants, work: &Slots, closing: &mut Closing) {
    let mut wrenches = std::mem::take(&mut closing.wrenches);
    closing.moves.fill(0.0);
    let fronts = &model.closures.schedule.fronts;
    for front in fronts.iter().filter(|front| front.reached) {
        let (own, d) = reduce(model, work, closing, front, &mut wrenches);
        match front.unknown {
            Unknown::Slot(s) => closing.moves[model.nodes[s - 1].speed..][..d].copy_from_slice(&own[..d]),
            Unknown::Rows(c) => closing.z[c] = own,
        }
    }
    wrenches[0] = [0.0; 6];
    closing.wrenches = wrenches;
    closing.twists[0] = [0.0; 6];
    for front in fronts.iter().rev() {
        let found = |closing: &Closing, unknown: Unknown| match unknown {
            Unknown::Slot(s) => closing.twists[s],
            Unknown::Rows(c) => closing.found[c],
        };
        match front.unknown {
            Unknown::Rows(c) => {
                let (mut z, count) = (closing.z[c], closing.rows[c].count);
                for open in &front.open {
                    let (x, Z) = (found(closing, open.unknown), &closing.blocks[open.block]);
                    (0..count).for_each(|r| z[r] += dot6(&Z[r], &x));
                }
                closing.found[c] = backward(&closing.factors[c], count, z);
            }
            Unknown::Slot(s) => {
                let (node, slot) = (&model.nodes[s - 1], &work.slots[s]);
                let t = closing.twists[node.parent];
                let w = [t[3], t[4], t[5]];
                let l = add_cross::<false>(w, slot.r, [t[0], t[1], t[2]]);
                let mut own = [l[0], l[1], l[2], w[0], w[1], w[2]];
                match node.motion {
                    Motion::Hinge => {
                        let U = [slot.Uf[0], slot.Uf[1], slot.Uf[2], slot.Ut[0], slot.Ut[1], slot.Ut[2]];
                        let mut u = closing.moves[node.speed] - dot6(&U, &own);
                        for (e, open) in front.open.iter().enumerate() {
                            u -= dot6(&closing.y[front.y + e], &found(closing, open.unknown));
                        }
                        let x = u * slot.inverse;
                        closing.moves[node.speed] = x;
                        (0..3).for_each(|i| own[3 + i] += slot.axis[i] * x);
                    }
                    Motion::General(g) | Motion::Free(g) => {
                        if matches!(node.motion, Motion::Free(_)) {
                            own = [0.0; 6];
                        }
                        let (general, d) = (&work.general[g], model.general[g].freedoms);
                        let mut u = [0.0; 6];
                        for k in 0..d {
                            u[k] = closing.moves[node.speed + k] - dot6(&general.U[k], &own);
                        }
                        for (e, open) in front.open.iter().enumerate() {
                            let x = found(closing, open.unknown);
                            for k in 0..d {
                                u[k] -= dot6(&closing.y[front.y + e * d + k], &x);
                            }
                        }
                        for k in 0..d {
                            let x: f64 = (0..d).map(|l| general.inverse[k][l] * u[l]).sum();
                            closing.moves[node.speed + k] = x;
                            (0..6).for_each(|i| own[i] += general.S[k][i] * x);
                        }
                    }
                }
                closing.twists[s] = own;
            }
        }
    }
}
