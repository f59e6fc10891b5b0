//! Loops and couplings, closed by implicit constraints: rows J of the joints that are not in the forest, and of the
//! couplings, with forces f along them.
//!
//! ```text
//! Ĥ u⁺ = b + h Jᵀf,   J u⁺ + E f = E f₀ − C/h
//! ```
//! so that the closure C vanishes at the end of the step, to first order. Ĥ and b are those of the forest, springs
//! included. With φ = −h f this is symmetric, K z + g = 0 over twists, speeds and φ: a node is coupled with a closure by the
//! wrenches of its rows, a closure with itself by −E/h, and the closure's g is C/h − E f₀.
//!
//! Both sweeps of the forest solve it as they are ([`front`]): a node that is eliminated passes on to its parent what is
//! open across it, next to its articulated inertia. A closure is eliminated once both of its branches have met, or have
//! enough freedoms ([`schedule`]): then a node carries only the loops that are open across it, and the time of a step grows with the
//! number of links, not of closures squared (after Brandl, Johanni and Otter 1988, who close each loop where it ends, and
//! Featherstone's articulated bodies; the order is Markowitz's).
//!
//! A row that closes has E = ε, a softness against *changes* of its force, which makes rows that loops repeat solvable
//! and yields nowhere at rest, as in the full engine. Spring, damper, limit and rotor of a loop joint's own coordinate,
//! with impulse i and weight w in a step, are a row with E = h/w and right-hand side i/w.

mod constants;
mod correction;
mod front;
mod loop_joint;
mod rows;
mod schedule;
mod sweep;

use super::model::Constants;
use super::slot::{Six, Slots};
use super::sweeps::{Along, NoPivot};
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::laws::Law;
use crate::mechanism::JointId;
pub(super) use constants::Closures;
pub(super) use correction::correct;
use front::Block;
use loop_joint::Evaluated;
use rows::{Rows, list};
pub(super) use schedule::Unknown;
pub(super) use sweep::reduce;

/// ε relative to the most that a row of its joint, of the same unit, sees of the mechanism, h W_rr.
const SOFTNESS: f64 = 1e-6;

/// What the rows of a closure see, relative to all mass, that stands for nothing: the square of what few digits leave of
/// rows that are repeated.
const NOTHING: f64 = 1e-20;

/// What has no solution: a node's joint, or a closure.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stuck {
    Node(NoPivot),
    Closure(usize),
}

/// Memory of a step. Of lists of six by closure, those of its rows count.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    /// Loop joints where the slots were last placed.
    pub at: Vec<Evaluated>,
    rows: Vec<Rows>,
    /// Couplings K of unknowns, by their blocks; y = SᵀK of all nodes, and D⁻¹y of one.
    blocks: Vec<Block>,
    y: Vec<Six>,
    x: Vec<Six>,
    /// By closure: g, φ, L⁻¹g and L; and Σ yᵀD⁻¹y, how much of the mechanism its rows have seen.
    g: Vec<Six>,
    found: Vec<Six>,
    z: Vec<Six>,
    factors: Vec<Block>,
    seen: Vec<Six>,
    /// ε of each multiplier.
    softness: Vec<f64>,
    /// Whether ε stays as it was: for another try of the same step, about the same rows whatever friction does.
    pub again: bool,
    /// A wrench and a twist for each slot.
    wrenches: Vec<Six>,
    twists: Vec<Six>,
    /// Displacements along the speeds.
    pub moves: Vec<f64>,
}

impl Closing {
    pub fn new(model: &Constants) -> Closing {
        let (closures, slots) = (&model.closures, model.nodes.len() + 1);
        let schedule = &closures.schedule;
        let some = |n: usize| if closures.is_empty() { 0 } else { n };
        let by_closure = || vec![[0.0; 6]; closures.len()];
        Closing {
            at: vec![Evaluated::empty(); closures.joints.len()],
            rows: vec![Rows::EMPTY; closures.len()],
            blocks: vec![front::EMPTY; schedule.blocks],
            y: vec![[0.0; 6]; schedule.sixes],
            x: vec![[0.0; 6]; 6 * schedule.widest],
            g: by_closure(),
            found: by_closure(),
            z: by_closure(),
            factors: vec![front::EMPTY; closures.len()],
            seen: by_closure(),
            softness: vec![0.0; some(State::at_rest(&model.mechanism).multipliers.len())],
            again: false,
            wrenches: vec![[0.0; 6]; some(slots)],
            twists: vec![[0.0; 6]; some(slots)],
            moves: vec![0.0; some(model.speeds)],
        }
    }

    /// Evaluates loop joints where the slots are placed, with the coordinates nearest to a reference.
    pub fn evaluate(&mut self, model: &Constants, work: &Slots, reference: &[f64]) {
        for (joint, at) in model.closures.joints.iter().zip(&mut self.at) {
            *at = joint.evaluate(model, work, reference);
        }
    }

    /// Gives the rows of a closure, once all is known that they see, their softness.
    fn soften(&mut self, model: &Constants, c: usize, state: &State, h: f64) {
        let (rows, plain) = (&mut self.rows[c], &model.closures.plain);
        // The most that rows see of lengths and of angles, relative to all mass; the other unit stands for one that sees nothing.
        let mut most = [0.0f64; 2];
        for r in (0..rows.count).filter(|&r| rows.closes(r)) {
            let unit = usize::from(rows.is_angle[r]);
            most[unit] = most[unit].max(self.seen[c][r] / plain[unit]);
        }
        let either = most[0].max(most[1]);
        let seen = |unit: usize| match most[unit] {
            own if own >= NOTHING => own,
            _ if either >= NOTHING => either,
            _ => 1.0,
        };
        for r in 0..rows.count {
            if rows.softness[r] == 0.0 {
                let (at, unit) = (rows.multiplier[r], usize::from(rows.is_angle[r]));
                if !self.again {
                    self.softness[at] = SOFTNESS * h * seen(unit) * plain[unit];
                }
                rows.softness[r] = self.softness[at];
                self.g[c][r] -= self.softness[at] * state.multipliers[at];
            }
            self.blocks[c][r][r] -= rows.softness[r] / h;
        }
    }
}

/// Both sweeps of a step: twists and speeds in the slots, forces of tree joints and closures in `multipliers`. The base's twist is in
/// its slot, and loop joints are evaluated.
pub(super) fn sweep(
    model: &Constants,
    inputs: &Inputs,
    laws: &[Law],
    along: Along,
    work: &mut Slots,
    closing: &mut Closing,
    multipliers: &mut [f64],
) -> Result<(), Stuck> {
    list(model, (inputs, laws), along.state, along.h, work, closing);
    sweep::inward(work, closing, model, along)?;
    sweep::outward(work, closing, model, along.h, multipliers);
    Ok(())
}

/// The joint of a closure; of a coupling, the one that follows.
pub(super) fn joint_of(model: &Constants, closure: usize) -> JointId {
    let closures = &model.closures;
    match closure.checked_sub(closures.joints.len()) {
        None => closures.joints[closure].id,
        Some(c) => closures.couplings[c].joint,
    }
}

#[cfg(test)]
mod tests;
