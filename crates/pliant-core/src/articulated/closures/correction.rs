//! After a step: displacements that close what it left open, with the factors of its start: those that closures of −C/h
//! alone would make.

use super::Closing;
use super::sweep::answer;
use crate::articulated::model::Constants;
use crate::articulated::slot::Slots;
use crate::engine::State;

/// A closure that is smaller, in radii or rad, is not corrected.
const CLOSED: f64 = 1e-13;

/// After the step, at the pose where loop joints were last evaluated: displacements along the speeds that close what is left open, by
/// the factors of the step. Returns false if everything is closed.
pub fn correct(model: &Constants, state: &State, h: f64, work: &Slots, closing: &mut Closing) -> bool {
    let closures = &model.closures;
    let mut worst = 0.0f64;
    for (c, joint) in closures.joints.iter().enumerate() {
        let at = &closing.at[c];
        let mut g = [0.0; 6];
        for (r, i) in joint.rows(model.mechanism[joint.id].kind.freedoms()).enumerate() {
            worst = worst.max(at.C[i].abs() / if at.is_length(i) { model.radius } else { 1.0 });
            g[r] = at.C[i] / h;
        }
        closing.g[c] = g;
    }
    for (c, coupling) in closures.couplings.iter().enumerate() {
        let C = coupling.open(model, state, closing);
        worst = worst.max(C.abs());
        closing.g[closures.joints.len() + c] = [C / h, 0.0, 0.0, 0.0, 0.0, 0.0];
    }
    if worst <= CLOSED {
        return false;
    }
    answer(model, work, closing);
    closing.moves.iter_mut().for_each(|x| *x *= h);
    true
}
