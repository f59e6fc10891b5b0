//! After a step: displacements that close what it left open, with the factors of its start: Ĥ⁻¹Jᵀf with
//! (h W + E) f = −C/h.

use super::Closing;
use super::rows::NOWHERE;
use super::sweep::{along, gather, pass_inward};
use crate::articulated::model::{Constants, Motion};
use crate::articulated::slot::{Six, Slots};
use crate::articulated::small::*;
use crate::articulated::sweeps::dot6;
use crate::engine::State;
use crate::linear::dense::cholesky::solve_packed;

/// A closure that is smaller, in radii or rad, is not corrected.
const CLOSED: f64 = 1e-13;

/// After the step, at the pose of the slots: displacements along the speeds that close what is left open, by the factors
/// of the step. Returns false if everything is closed.
pub fn correct(model: &Constants, state: &State, h: f64, work: &Slots, closing: &mut Closing) -> bool {
    let closures = &model.closures;
    let mut worst = 0.0f64;
    let mut at = 0;
    let count = closing.rows.len();
    for joint in &closures.joints {
        let kind = &model.mechanism[joint.id].kind;
        let placed = joint.place(work);
        let q = joint.coordinates(model, &placed, &state.coordinates);
        let (C, J) = joint.closure(model, &placed, &q[..kind.freedoms()]);
        for i in joint.rows(kind.freedoms()) {
            let is_length = (0..3).any(|k| J[(i, k)] != 0.0);
            worst = worst.max(C[i].abs() / if is_length { model.radius } else { 1.0 });
            closing.forces[at] = -C[i] / h;
            at += 1;
        }
        while at < count && closing.rows[at].multiplier == NOWHERE {
            closing.forces[at] = 0.0;
            at += 1;
        }
    }
    for coupling in &closures.couplings {
        let C = coupling.open(model, state, work);
        worst = worst.max(C.abs());
        closing.forces[at] = -C / h;
        at += 1;
    }
    if worst <= CLOSED {
        return false;
    }
    solve_packed(&closing.factor, &mut closing.forces[..count]);
    // Ĥ⁻¹Jᵀf, inward and outward without anything else.
    gather(h, closing);
    for n in (0..model.nodes.len()).rev() {
        let direct = if closures.couplings.is_empty() { 0.0 } else { along(h, closing, n) };
        let mut y = [0.0; 6];
        let (d, _) = pass_inward(model, work, n, &[(n, direct)], &mut closing.wrenches, &mut y);
        closing.moves[model.nodes[n].speed..][..d].copy_from_slice(&y[..d]);
    }
    closing.twists[0] = [0.0; 6];
    for (n, node) in model.nodes.iter().enumerate() {
        let slot = &work.slots[n + 1];
        let t = closing.twists[node.parent];
        let w = [t[3], t[4], t[5]];
        let l = add_cross::<false>(w, slot.r, [t[0], t[1], t[2]]);
        let mut own = [l[0], l[1], l[2], w[0], w[1], w[2]];
        match node.motion {
            Motion::Hinge => {
                let U = [slot.Uf[0], slot.Uf[1], slot.Uf[2], slot.Ut[0], slot.Ut[1], slot.Ut[2]];
                let x = (closing.moves[node.speed] - dot6(&U, &own)) * slot.inverse;
                closing.moves[node.speed] = x;
                (0..3).for_each(|i| own[3 + i] += slot.axis[i] * x);
            }
            Motion::General(g) | Motion::Free(g) => {
                if matches!(node.motion, Motion::Free(_)) {
                    own = [0.0; 6];
                }
                let (general, d) = (&work.general[g], model.general[g].freedoms);
                let y: Six = std::array::from_fn(|k| {
                    if k < d { closing.moves[node.speed + k] - dot6(&general.U[k], &own) } else { 0.0 }
                });
                for k in 0..d {
                    let x: f64 = (0..d).map(|l| general.inverse[k][l] * y[l]).sum();
                    closing.moves[node.speed + k] = x;
                    (0..6).for_each(|i| own[i] += general.S[k][i] * x);
                }
            }
        }
        closing.twists[n + 1] = own;
    }
    // The rows' forces were for a change of speed of −C/h.
    closing.moves.iter_mut().for_each(|x| *x *= h);
    true
}
