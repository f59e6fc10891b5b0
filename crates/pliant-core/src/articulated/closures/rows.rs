//! The rows at a pose: J of every closure as wrenches on slots, with its softness E and right-hand side.

use super::Closing;
use super::constants::End;
use super::front::EMPTY;
use super::loop_joint::Evaluated;
use crate::articulated::model::Constants;
use crate::articulated::slot::{Six, Slots};
use crate::articulated::sweeps::{dot6, impulse};
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::laws::Law;

/// The rows of a closure at a pose: those that close, then those of a loop joint's coordinates on which something acts.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub count: usize,
    /// Forces along the only freedom of nodes, of a coupling.
    pub direct: [(usize, f64); 2],
    /// E; 0 where ε is still to be found.
    pub softness: Six,
    /// Place in the state's multipliers of a row that closes.
    pub multiplier: [usize; 6],
    /// Whether it closes an angle, not a length.
    pub is_angle: [bool; 6],
}

/// A weight that no mass feels.
const NO_WEIGHT: f64 = 1e-200;

/// No place, and no node.
const NOWHERE: usize = usize::MAX;

impl Rows {
    pub const EMPTY: Rows = Rows {
        count: 0,
        direct: [(NOWHERE, 0.0); 2],
        softness: [0.0; 6],
        multiplier: [NOWHERE; 6],
        is_angle: [false; 6],
    };

    /// Whether a row closes a loop or coupling.
    #[inline(always)]
    pub fn closes(&self, row: usize) -> bool {
        self.multiplier[row] != NOWHERE
    }

    /// What of a coupling acts along the only freedom of a node.
    #[inline(always)]
    pub fn along(&self, n: usize) -> f64 {
        let own = |(at, factor): (usize, f64)| if at == n { factor } else { 0.0 };
        own(self.direct[0]) + own(self.direct[1])
    }
}

/// Lists the rows at the state that the slots are placed in and loop joints evaluated, with the base's twist in its slot: couplings of
/// closures with slots in blocks, and what they start from.
pub fn list(
    model: &Constants,
    (inputs, laws): (&Inputs, &[Law]),
    state: &State,
    h: f64,
    work: &Slots,
    closing: &mut Closing,
) {
    let closures = &model.closures;
    closing.blocks.fill(EMPTY);
    closing.seen.fill([0.0; 6]);
    for (c, joint) in closures.joints.iter().enumerate() {
        closing.start(c);
        let kind = &model.mechanism[joint.id].kind;
        let d = kind.freedoms();
        let Evaluated { placed, q, C, J } = closing.at[c];
        for i in joint.rows(d) {
            let row: Six = std::array::from_fn(|k| J[(i, k)]);
            let r = closing.push(c, 0.0, -C[i] / h, joint.row + i, row[..3] == [0.0; 3]);
            closing.put(model, work, (c, r), &joint.wrenches(&placed, row, work));
        }
        for k in 0..d {
            let at = joint.coordinate + k;
            let rest = inputs.rest[at];
            let along = (q[k], state.rates[at], q[k] + h * state.rates[at]);
            let (impulse, weight) = impulse(&laws[at], rest, along, h);
            if weight > 0.0 || impulse != 0.0 {
                // A force that nothing resists has a weight that is none, but for which it has a row.
                let weight = weight.max(NO_WEIGHT);
                // Never the 0 of a row that closes, however long the step.
                let softness = (h / weight).max(f64::MIN_POSITIVE);
                let r = closing.push(c, softness, impulse / weight, NOWHERE, false);
                let Jq = kind.coordinates_jacobian(&placed.X, &q[..d]);
                let row = std::array::from_fn(|i| Jq[(k, i)]);
                closing.put(model, work, (c, r), &joint.wrenches(&placed, row, work));
            }
        }
    }
    for (at, coupling) in closures.couplings.iter().enumerate() {
        let c = closures.joints.len() + at;
        closing.start(c);
        let is_angle = model.mechanism[coupling.joint].kind.translations() == 0;
        let right = -coupling.open(model, state, closing) / h;
        let r = closing.push(c, 0.0, right, coupling.row, is_angle);
        for (e, (end, factor)) in coupling.ends.iter().enumerate() {
            match *end {
                End::Tree(n) => closing.rows[c].direct[e] = (n, *factor),
                End::Loop(j) => {
                    let joint = &closures.joints[j];
                    let Evaluated { placed, q, .. } = closing.at[j];
                    let kind = &model.mechanism[joint.id].kind;
                    let J = kind.coordinates_jacobian(&placed.X, &q[..1]);
                    let row = std::array::from_fn(|i| factor * J[(0, i)]);
                    closing.put(model, work, (c, r), &joint.wrenches(&placed, row, work));
                }
            }
        }
    }
}

impl Closing {
    fn start(&mut self, c: usize) {
        (self.rows[c], self.g[c]) = (Rows::EMPTY, [0.0; 6]);
    }

    /// A further row of a closure: J u + E f = right.
    fn push(&mut self, c: usize, softness: f64, right: f64, multiplier: usize, is_angle: bool) -> usize {
        let rows = &mut self.rows[c];
        let r = rows.count;
        rows.count += 1;
        (rows.softness[r], rows.multiplier[r], rows.is_angle[r]) = (softness, multiplier, is_angle);
        self.g[c][r] = -right;
        r
    }

    /// Wrenches of a row on slots.
    fn put(&mut self, model: &Constants, work: &Slots, (c, r): (usize, usize), wrenches: &[(usize, Six); 2]) {
        for (slot, w) in wrenches {
            let Some(n) = slot.checked_sub(1) else {
                self.g[c][r] += dot6(w, &super::front::twist(&work.slots[0]));
                continue;
            };
            let ends = &model.closures.schedule(self.careful).ends[c];
            let (_, place) = ends.iter().find(|(node, _)| *node == n).expect("it is an end");
            let K = &mut self.blocks[place.block];
            if place.transposed {
                (0..6).for_each(|i| K[r][i] += w[i]);
            } else {
                (0..6).for_each(|i| K[i][r] += w[i]);
            }
        }
    }
}
