//! The rows at a pose: J of every closure as wrenches on slots, with its softness E and right-hand side.

use super::Closing;
use super::constants::End;
use crate::articulated::model::Constants;
use crate::articulated::slot::{Six, Slots};
use crate::articulated::sweeps::impulse;
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::laws::Law;

/// A row at a pose: wrenches on slots at their points o, world axes; forces along the only freedom of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub wrenches: [(usize, Six); 4],
    pub direct: [(usize, f64); 2],
    /// Which closure it belongs to: loop joints, then couplings.
    pub closure: usize,
    /// Place among the numbers y.
    pub first: usize,
    /// E (0 where ε is still to be found) and right-hand side but for J u⁺_free.
    pub softness: f64,
    pub right: f64,
    /// Place in the state's multipliers of a row that closes.
    pub multiplier: usize,
    /// Whether it closes an angle, not a length.
    pub is_angle: bool,
}

/// A weight that no mass feels.
const NO_WEIGHT: f64 = 1e-200;

/// No place, and no node.
pub const NOWHERE: usize = usize::MAX;

/// Lists the rows at the state that the slots are placed in.
pub fn list(
    model: &Constants,
    (inputs, laws): (&Inputs, &[Law]),
    state: &State,
    h: f64,
    work: &Slots,
    closing: &mut Closing,
) {
    let closures = &model.closures;
    closing.rows.clear();
    let mut first = 0;
    let empty = Row {
        wrenches: [(0, [0.0; 6]); 4],
        direct: [(NOWHERE, 0.0); 2],
        closure: 0,
        first: 0,
        softness: 0.0,
        right: 0.0,
        multiplier: NOWHERE,
        is_angle: false,
    };
    for (closure, joint) in closures.joints.iter().enumerate() {
        let kind = &model.mechanism[joint.id].kind;
        let d = kind.freedoms();
        let placed = joint.place(work);
        let q = joint.coordinates(model, &placed, &state.coordinates);
        let (C, J) = joint.closure(model, &placed, &q[..d]);
        let mut push = |row: [f64; 6], softness: f64, right: f64, multiplier: usize| {
            let is_angle = row[..3] == [0.0; 3];
            let [child, parent] = joint.wrenches(&placed, row, work);
            let wrenches = [child, parent, (0, [0.0; 6]), (0, [0.0; 6])];
            closing.rows.push(Row {
                wrenches,
                closure,
                first,
                softness,
                right,
                multiplier,
                is_angle,
                ..empty
            });
            first += joint.path.length;
        };
        for i in joint.rows(d) {
            push(std::array::from_fn(|k| J[(i, k)]), 0.0, -C[i] / h, joint.row + i);
        }
        let Jq = kind.coordinates_jacobian(&placed.X, &q[..d]);
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
                push(std::array::from_fn(|i| Jq[(k, i)]), softness, impulse / weight, NOWHERE);
            }
        }
    }
    for (c, coupling) in closures.couplings.iter().enumerate() {
        let mut row = Row {
            closure: closures.joints.len() + c,
            first,
            right: -coupling.open(model, state, work) / h,
            multiplier: coupling.row,
            is_angle: model.mechanism[coupling.joint].kind.translations() == 0,
            ..empty
        };
        for (e, (end, factor)) in coupling.ends.iter().enumerate() {
            match *end {
                End::Tree(n) => row.direct[e] = (n, *factor),
                End::Loop(j) => {
                    let joint = &closures.joints[j];
                    let placed = joint.place(work);
                    let q = joint.coordinates(model, &placed, &state.coordinates);
                    let kind = &model.mechanism[joint.id].kind;
                    let J = kind.coordinates_jacobian(&placed.X, &q[..1]);
                    let wrenches = joint.wrenches(&placed, std::array::from_fn(|i| factor * J[(0, i)]), work);
                    row.wrenches[2 * e..2 * e + 2].copy_from_slice(&wrenches);
                }
            }
        }
        closing.rows.push(row);
        first += coupling.path.length;
    }
}
