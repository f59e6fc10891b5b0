//! The elimination of one front: the joint of a node with what is open across it, or the multipliers of a closure.
//!
//! With K z + g = 0 over twists ξ, speeds u and multipliers φ = −h f (module [`super`]):
//!
//! ```text
//! node n:     y_x = SᵀK_nx;  K_nx −= U D⁻¹y_x;  K_xz −= y_xᵀD⁻¹y_z;  g_x += y_xᵀD⁻¹u;  K_λx += XᵀK_nx
//! closure c:  L Lᵀ = −K_cc;  Z_x = L⁻¹K_cx;  z = L⁻¹g_c;  K_xz += Z_xᵀZ_z;  g_x += Z_xᵀz
//! ```
//! with x and z of the boundary, and K_xx of a node in its slot.

use super::Closing;
use super::schedule::{Front, Parent, Unknown};
use crate::articulated::model::{Constants, Motion};
use crate::articulated::slot::{Six, Slot, Slots};
use crate::articulated::small::*;

/// The coupling of two unknowns, by rows of what is eliminated first.
pub type Block = [Six; 6];

pub const EMPTY: Block = [[0.0; 6]; 6];

/// y + s x.
#[inline(always)]
pub fn add<const FUSED: bool>(y: &mut Six, s: f64, x: &Six) {
    for i in 0..6 {
        y[i] = fma::<FUSED>(s, x[i], y[i]);
    }
}

/// The inertia of a slot and s x yᵀ, of a sum of such terms that is symmetric.
#[inline(always)]
fn add_outer<const FUSED: bool>(slot: &mut Slot, s: f64, x: &Six, y: &Six) {
    let x = x.map(|x| x * s);
    let mut at = 0;
    for i in 0..3 {
        for k in 0..3 {
            slot.B[i][k] = fma::<FUSED>(x[i], y[3 + k], slot.B[i][k]);
        }
        for k in i..3 {
            slot.A[at] = fma::<FUSED>(x[i], y[k], slot.A[at]);
            slot.C[at] = fma::<FUSED>(x[3 + i], y[3 + k], slot.C[at]);
            at += 1;
        }
    }
}

/// Adds s x to what acts against an unknown.
#[inline(always)]
fn add_right<const FUSED: bool>(slots: &mut [Slot], g: &mut [Six], unknown: Unknown, s: f64, x: &Six) {
    match unknown {
        Unknown::Slot(b) => {
            slots[b].f = add_scaled::<FUSED>([x[0], x[1], x[2]], s, slots[b].f);
            slots[b].t = add_scaled::<FUSED>([x[3], x[4], x[5]], s, slots[b].t);
        }
        Unknown::Rows(c) => add::<FUSED>(&mut g[c], s, x),
    }
}

/// Takes what is open across a node whose joint is eliminated to its parent.
#[inline(always)]
pub fn carry_open<const FUSED: bool>(
    model: &Constants,
    slots: &mut Slots,
    closing: &mut Closing,
    front: &Front,
    n: usize,
) {
    let node = &model.nodes[n];
    let Closing { blocks, y, x, g, rows, seen, .. } = closing;
    let d = match node.motion {
        Motion::Hinge => {
            let slot = &slots.slots[n + 1];
            let U = [slot.Uf[0], slot.Uf[1], slot.Uf[2], slot.Ut[0], slot.Ut[1], slot.Ut[2]];
            let (a, inverse) = (slot.axis, slot.inverse);
            for (e, open) in front.open.iter().enumerate() {
                let K = &mut blocks[open.block];
                let mut own = K[3].map(|k| a[0] * k);
                add::<FUSED>(&mut own, a[1], &K[4]);
                add::<FUSED>(&mut own, a[2], &K[5]);
                if let Unknown::Rows(c) = open.unknown {
                    own[0] += rows[c].along(n);
                }
                let scaled = own.map(|y| y * inverse);
                (y[front.y + e], x[e]) = (own, scaled);
                (0..6).for_each(|i| add::<FUSED>(&mut K[i], -U[i], &scaled));
            }
            1
        }
        Motion::General(g) | Motion::Free(g) => {
            let (own, d) = (&slots.general[g], model.general[g].freedoms);
            for (e, open) in front.open.iter().enumerate() {
                let K = &mut blocks[open.block];
                let y = &mut y[front.y + e * d..front.y + (e + 1) * d];
                for k in 0..d {
                    y[k] = [0.0; 6];
                    (0..6).for_each(|i| add::<FUSED>(&mut y[k], own.S[k][i], &K[i]));
                }
                if let Unknown::Rows(c) = open.unknown {
                    y[0][0] += rows[c].along(n);
                }
                for k in 0..d {
                    let scaled = &mut x[e * d + k];
                    *scaled = [0.0; 6];
                    (0..d).for_each(|l| add::<FUSED>(scaled, own.inverse[k][l], &y[l]));
                    (0..6).for_each(|i| add::<FUSED>(&mut K[i], -own.U[k][i], scaled));
                }
            }
            d
        }
    };
    // K_xz −= y_xᵀ D⁻¹y_z and g_x += (D⁻¹y_x)ᵀu.
    let mut pairs = front.pairs.iter();
    for (j, open) in front.open.iter().enumerate() {
        for i in 0..j {
            let K = &mut blocks[*pairs.next().expect("a block for every pair")];
            for k in 0..d {
                let (y, x) = (&y[front.y + i * d + k], &x[j * d + k]);
                (0..6).for_each(|r| add::<FUSED>(&mut K[r], -y[r], x));
            }
        }
        for k in 0..d {
            let (y, x) = (&y[front.y + j * d + k], &x[j * d + k]);
            let u = match node.motion {
                Motion::Hinge => slots.slots[n + 1].u,
                Motion::General(g) | Motion::Free(g) => slots.general[g].u[k],
            };
            add_right::<FUSED>(&mut slots.slots, g, open.unknown, u, x);
            match open.unknown {
                Unknown::Slot(b) => add_outer::<FUSED>(&mut slots.slots[b], -1.0, y, x),
                Unknown::Rows(c) => {
                    (0..rows[c].count).for_each(|r| add::<FUSED>(&mut blocks[c][r], -y[r], x));
                    (0..6).for_each(|r| seen[c][r] = fma::<FUSED>(y[r], x[r], seen[c][r]));
                }
            }
        }
    }
    // To the parent: force stays, torque + r×force comes for torque.
    let r = slots.slots[n + 1].r;
    for open in &front.open {
        if open.parent == Parent::None {
            continue;
        }
        let mut K = blocks[open.block];
        for i in 0..3 {
            let (a, b) = ((i + 1) % 3, (i + 2) % 3);
            let (near, far) = (K[b], K[a]);
            add::<FUSED>(&mut K[3 + i], r[a], &near);
            add::<FUSED>(&mut K[3 + i], -r[b], &far);
        }
        match open.parent {
            Parent::None => {}
            Parent::Base => {
                let known = twist(&slots.slots[0]);
                (0..6).for_each(|i| {
                    add_right::<FUSED>(&mut slots.slots, g, open.unknown, known[i], &K[i]);
                });
            }
            Parent::Same => {
                let parent = &mut slots.slots[node.parent];
                let mut at = 0;
                for i in 0..3 {
                    for k in 0..3 {
                        parent.B[i][k] += K[i][3 + k] + K[3 + k][i];
                    }
                    for k in i..3 {
                        parent.A[at] += K[i][k] + K[k][i];
                        parent.C[at] += K[3 + i][3 + k] + K[3 + k][3 + i];
                        at += 1;
                    }
                }
            }
            Parent::Other(place) => {
                let to = &mut blocks[place.block];
                for i in 0..6 {
                    (0..6).for_each(|k| to[i][k] += if place.transposed { K[k][i] } else { K[i][k] });
                }
            }
        }
    }
}

/// The twist that the outward sweep found.
#[inline(always)]
pub fn twist(slot: &Slot) -> Six {
    let (v, w) = (slot.av, slot.aw);
    [v[0], v[1], v[2], w[0], w[1], w[2]]
}

/// Eliminates the multipliers of a closure. Returns by how much that makes the inertia of a node larger, the digits that are lost of
/// it; not a number if its equations have no solution.
#[inline(always)]
pub fn eliminate_rows<const FUSED: bool>(
    slots: &mut Slots,
    closing: &mut Closing,
    front: &Front,
    c: usize,
) -> f64 {
    let Closing { blocks, factors, g, z, rows, .. } = closing;
    let count = rows[c].count;
    let mut growth = 1.0f64;
    // L in the lower triangle, the inverses of its diagonal on it.
    let L = &mut factors[c];
    for r in 0..count {
        for k in 0..=r {
            let mut sum = -blocks[c][r][k];
            (0..k).for_each(|l| sum = fma::<FUSED>(-L[r][l], L[k][l], sum));
            if k < r {
                L[r][k] = sum * L[k][k];
            } else if sum > 0.0 && sum < f64::INFINITY {
                L[r][r] = 1.0 / sum.sqrt();
            } else {
                return f64::NAN;
            }
        }
    }
    let own = forward(L, count, std::mem::take(&mut g[c]));
    z[c] = own;
    for open in &front.open {
        let Z = &mut blocks[open.block];
        for r in 0..count {
            for k in 0..r {
                let before = Z[k];
                add::<FUSED>(&mut Z[r], -L[r][k], &before);
            }
            Z[r] = Z[r].map(|x| x * L[r][r]);
        }
    }
    let mut pairs = front.pairs.iter();
    for (j, open) in front.open.iter().enumerate() {
        let Z = blocks[open.block];
        let before = match open.unknown {
            Unknown::Slot(b) => traces(&slots.slots[b]),
            Unknown::Rows(_) => [f64::INFINITY; 2],
        };
        for first in &front.open[..j] {
            let at = *pairs.next().expect("a block for every pair");
            let Zi = blocks[first.block];
            let K = &mut blocks[at];
            for k in 0..count {
                (0..6).for_each(|r| add::<FUSED>(&mut K[r], Zi[k][r], &Z[k]));
            }
        }
        for k in 0..count {
            add_right::<FUSED>(&mut slots.slots, g, open.unknown, own[k], &Z[k]);
            match open.unknown {
                Unknown::Slot(b) => add_outer::<FUSED>(&mut slots.slots[b], 1.0, &Z[k], &Z[k]),
                Unknown::Rows(other) => {
                    let other_count = rows[other].count;
                    (0..other_count).for_each(|r| add::<FUSED>(&mut blocks[other][r], Z[k][r], &Z[k]));
                }
            }
        }
        if let Unknown::Slot(b) = open.unknown {
            let after = traces(&slots.slots[b]);
            growth = growth.max(after[0] / before[0]).max(after[1] / before[1]);
        }
    }
    growth
}

/// How large the inertia of a slot is, against translations and against turns.
#[inline(always)]
fn traces(slot: &Slot) -> [f64; 2] {
    [&slot.A, &slot.C].map(|S| S[0] + S[3] + S[5])
}

/// L⁻¹g.
#[inline(always)]
pub fn forward(L: &Block, count: usize, mut g: Six) -> Six {
    for r in 0..count {
        for k in 0..r {
            g[r] -= L[r][k] * g[k];
        }
        g[r] *= L[r][r];
    }
    g
}

/// L⁻ᵀz.
#[inline(always)]
pub fn backward(L: &Block, count: usize, mut z: Six) -> Six {
    for r in (0..count).rev() {
        z[r] *= L[r][r];
        for k in 0..r {
            z[k] -= L[r][k] * z[r];
        }
    }
    z
}
