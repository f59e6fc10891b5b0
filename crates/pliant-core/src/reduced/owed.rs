//! What a step with mass of an earlier pose leaves of its impulses, for the next step.
//!
//! With M of the present pose and M_k that is kept, A = M_k + a + hD + h²(K + G), impulses b and what the last step left, r:
//!
//! ```text
//! A Δ = b + r,   Δ = ẏ⁺ − ẏ,   r⁺ = (M_k − M) Δ      so that   Σ M Δ + … = Σ b − r⁺ of the last step
//! ```
//!
//! Without r accelerations are wrong by the part M_k − M of them, in steps of any length. With it the impulses of all steps are in the
//! rates but for the last one's remainder: an error of first order in the step. It decays while M_k − M is less than A on what
//! changes; where rᵀA⁻¹r comes near ΔᵀAΔ, mass is made again.

use super::model::Constants;
use super::momentum::{gained, gather};
use super::motion::{Motion, tangent};
use super::springs::Springs;
use super::step::Workspace;
use crate::algebra::dense::cholesky;
use crate::algebra::wide::dot;

/// What is left is left out where it turns a link by less than this in a step, rad: rounding. At rest it costs nothing.
const NEGLIGIBLE: f64 = 1e-15;

/// The part of what a step changes, in the norm of its matrix, above which mass no longer serves.
const MOST: f64 = 0.5;

/// Finds what the solution leaves, from the twists at the start and the end of the step, into the next motion.
pub(super) fn leave(model: &Constants, springs: &Springs, h: f64, motion: &Motion, work: &mut Workspace) {
    let (tree, n, stride) = (&model.tree, model.basis.count, model.basis.stride);
    work.next.owed.fill(0.0);
    work.next.stale = false;
    let (mut moved, mut turned) = (0.0, 0.0);
    for k in 0..n {
        work.change[k] = work.solution[k] - motion.rates[k];
        moved += model.turns[k] * work.change[k].abs();
        turned += model.turns[k] * (motion.y[k] - work.made.y[k]).abs();
    }
    // M_k − M is about `turned` of M; none where it was made in this step.
    if h * moved * turned <= NEGLIGIBLE {
        return;
    }
    // M Δ, by links.
    let basis = tangent(model, &motion.closed);
    gained(&motion.places, &tree.weights, &motion.now, &work.end, &motion.carried, &mut work.sums);
    gather(tree, basis, &motion.places, &mut work.sums, &mut work.columns, &mut work.Q);
    // r⁺ = (M_k − M) Δ
    for k in 0..n {
        let row = k * stride..(k + 1) * stride;
        work.next.owed[k] = dot(&work.system.M[row], &work.change) - work.Q[k];
    }
    // Rotors are in M_k: those of the present tangent.
    for (i, armature) in springs.rotors().enumerate().filter(|own| own.1 != 0.0) {
        let row = motion.row(model, i);
        let gain = armature * dot(row, &work.change);
        work.next.owed.iter_mut().zip(row).for_each(|(owed, theta)| *owed -= gain * theta);
    }
    // rᵀA⁻¹r against ΔᵀAΔ
    work.pushed.clear();
    work.pushed.extend_from_slice(&work.next.owed[..n]);
    cholesky::forward(if work.more { &work.whole } else { &work.factor }, n, &mut work.pushed);
    let left = dot(&work.pushed, &work.pushed);
    let change = &work.change[..n];
    let whole: f64 = work.base.chunks_exact(n).zip(change).map(|(row, x)| x * dot(row, change)).sum();
    work.next.stale = left > MOST * MOST * whole;
}
