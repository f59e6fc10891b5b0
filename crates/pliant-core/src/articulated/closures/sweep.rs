//! Forces of rows along their paths to the base: y = SᵀF at each node while F − U D⁻¹y passes on to the parent; from
//! these W, and what the forces add to the slots.

use super::Closing;
use crate::articulated::model::{Constants, Motion};
use crate::articulated::slot::{Six, Slots};
use crate::articulated::small::*;
use crate::articulated::sweeps::dot6;

/// y of every row, and W in the place of the factor.
pub fn sweep_rows(model: &Constants, work: &Slots, closing: &mut Closing) {
    for s in 0..closing.rows.len() {
        let row = closing.rows[s];
        for (slot, w) in &row.wrenches {
            (0..6).for_each(|i| closing.wrenches[*slot][i] += w[i]);
        }
        let path = model.closures.path(row.closure);
        for &(n, first) in &path.nodes {
            let node = &model.nodes[n];
            let mut y = [0.0; 6];
            let (d, _) = pass_inward(model, work, n, &row.direct, &mut closing.wrenches, &mut y);
            closing.numbers[row.first + first..][..d].copy_from_slice(&y[..d]);
            // D⁻¹y, where other rows find it.
            let z = &mut closing.scattered[node.speed..node.speed + d];
            match node.motion {
                Motion::Hinge => z[0] = y[0] * work.slots[n + 1].inverse,
                Motion::General(g) | Motion::Free(g) => {
                    let inverse = &work.general[g].inverse;
                    (0..d).for_each(|k| z[k] = (0..d).map(|l| inverse[k][l] * y[l]).sum());
                }
            }
        }
        closing.wrenches[0] = [0.0; 6];
        for r in 0..=s {
            let other = &closing.rows[r];
            let along = model.closures.path(other.closure);
            let numbers = &closing.numbers[other.first..other.first + along.length];
            closing.factor[s * (s + 1) / 2 + r] = gathered_dot(numbers, &along.speeds, &closing.scattered);
        }
        path.speeds.iter().for_each(|speed| closing.scattered[*speed] = 0.0);
    }
}

/// Σ a_i b_at(i), in four sums that do not wait for each other.
#[inline]
fn gathered_dot(a: &[f64], at: &[usize], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((a, a_rest), (at, at_rest)) = (a.as_chunks::<4>(), at.as_chunks::<4>());
    for (a, at) in a.iter().zip(at) {
        (0..4).for_each(|i| sums[i] += a[i] * b[at[i]]);
    }
    let rest: f64 = a_rest.iter().zip(at_rest).map(|(a, at)| a * b[*at]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// As [`pass_inward`], with y among those of all speeds; the number of freedoms.
pub fn pass(
    model: &Constants,
    work: &Slots,
    n: usize,
    direct: &[(usize, f64)],
    wrenches: &mut [Six],
    y: &mut [f64],
) -> usize {
    let mut own = [0.0; 6];
    let (d, _) = pass_inward(model, work, n, direct, wrenches, &mut own);
    let speed = model.nodes[n].speed;
    y[speed..speed + d].copy_from_slice(&own[..d]);
    d
}

/// Takes the wrench on a node's slot: y = SᵀF plus what acts along the freedom itself; F − U D⁻¹y goes to the parent.
/// Returns the number of freedoms, and what went to the parent, at the slot's own point.
#[inline]
pub fn pass_inward(
    model: &Constants,
    work: &Slots,
    n: usize,
    direct: &[(usize, f64)],
    wrenches: &mut [Six],
    y: &mut Six,
) -> (usize, Six) {
    let (node, slot) = (&model.nodes[n], &work.slots[n + 1]);
    let mut F = std::mem::replace(&mut wrenches[n + 1], [0.0; 6]);
    let along: f64 = direct.iter().filter(|(at, _)| *at == n).map(|(_, factor)| factor).sum();
    let d = match node.motion {
        Motion::Hinge => {
            y[0] = dot::<false, _>(slot.axis, [F[3], F[4], F[5]]) + along;
            let x = y[0] * slot.inverse;
            for i in 0..3 {
                F[i] -= slot.Uf[i] * x;
                F[3 + i] -= slot.Ut[i] * x;
            }
            1
        }
        Motion::General(g) | Motion::Free(g) => {
            let (own, d) = (&work.general[g], model.general[g].freedoms);
            (0..d).for_each(|k| y[k] = dot6(&own.S[k], &F));
            y[0] += along;
            for k in 0..d {
                let x: f64 = (0..d).map(|l| own.inverse[k][l] * y[l]).sum();
                (0..6).for_each(|i| F[i] -= own.U[k][i] * x);
            }
            d
        }
    };
    let f = [F[0], F[1], F[2]];
    let t = add_cross::<false>(slot.r, f, [F[3], F[4], F[5]]);
    let parent = &mut wrenches[node.parent];
    for i in 0..3 {
        parent[i] += f[i];
        parent[3 + i] += t[i];
    }
    (d, F)
}

/// Puts the rows' wrenches, times their forces and h, on the slots.
pub fn gather(h: f64, closing: &mut Closing) {
    closing.wrenches.fill([0.0; 6]);
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        for (slot, w) in &row.wrenches {
            (0..6).for_each(|i| closing.wrenches[*slot][i] += w[i] * force * h);
        }
    }
}

/// Of the rows' forces along the only freedom of a node, times h.
pub fn along(h: f64, closing: &Closing, n: usize) -> f64 {
    let mut sum = 0.0;
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        sum += row.direct.iter().filter(|(at, _)| *at == n).map(|(_, x)| x * force * h).sum::<f64>();
    }
    sum
}

/// Adds the rows' forces to reduced forces u and to what slots pass on.
pub fn add_forces(model: &Constants, h: f64, work: &mut Slots, closing: &mut Closing) {
    gather(h, closing);
    for n in (0..model.nodes.len()).rev() {
        let direct = if model.closures.couplings.is_empty() { 0.0 } else { along(h, closing, n) };
        let mut y = [0.0; 6];
        let (d, F) = pass_inward(model, work, n, &[(n, direct)], &mut closing.wrenches, &mut y);
        match model.nodes[n].motion {
            Motion::Hinge => work.slots[n + 1].u += y[0],
            Motion::General(g) | Motion::Free(g) => {
                (0..d).for_each(|k| work.general[g].u[k] += y[k]);
            }
        }
        let slot = &mut work.slots[n + 1];
        slot.f = minus(slot.f, [F[0], F[1], F[2]]);
        slot.t = minus(slot.t, [F[3], F[4], F[5]]);
    }
}
