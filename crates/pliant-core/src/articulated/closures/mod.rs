//! Loops and couplings, closed by implicit constraints: rows J of the joints that are not in the forest, and of the
//! couplings, with forces f along them.
//!
//! ```text
//! u⁺ = u⁺_free + h Ĥ⁻¹Jᵀf,   (h W + E) f = E f₀ − C/h − J u⁺_free,   W = J Ĥ⁻¹Jᵀ
//! ```
//! so that the closure C vanishes at the end of the step, to first order. Ĥ is what the inward sweep factored, springs
//! included. For a row with wrenches F on slots, a sweep inward along the path to the base gives y = SᵀF at each
//! node, F − U D⁻¹y passing on to the parent, and W_rs = Σ y_rᵀD⁻¹y_s: linear in the length of the path for each
//! row, and no outward sweep.
//!
//! A row that closes has E = ε, a softness against *changes* of its force, which makes rows that loops repeat solvable
//! and gives way nowhere at rest, as in the full engine. Spring, damper, limit and rotor of a loop joint's own coordinate,
//! with impulse i and weight w in a step, are a row with E = h/w and right-hand side i/w − J u⁺_free.

mod constants;
mod correction;
mod loop_joint;
mod rows;
mod sweep;

use super::model::Constants;
use super::slot::{Six, Slots};
use super::sweeps::dot6;
use crate::engine::Inputs;
use crate::engine::State;
use crate::engine::laws::Law;
use crate::linear::dense::cholesky::{factor_packed, solve_packed};
use crate::mechanism::JointId;
pub(super) use constants::Closures;
pub(super) use correction::correct;
use rows::{NOWHERE, Row, list};
pub(super) use sweep::pass_inward;
use sweep::{add_forces, pass, sweep_rows};

/// ε relative to the most that a row of its joint, of the same unit, sees of the mechanism, h W_rr.
const SOFTNESS: f64 = 1e-6;

/// What a row sees, relative to others, that stands for nothing.
const NOTHING: f64 = 1e-20;

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    rows: Vec<Row>,
    numbers: Vec<f64>,
    /// The factor of h W + E, row by row, lower triangle; right-hand sides.
    factor: Vec<f64>,
    forces: Vec<f64>,
    /// ε of each multiplier.
    softness: Vec<f64>,
    /// Whether ε stays as it was: for another try of the same step, about the same rows whatever friction does.
    pub again: bool,
    /// A wrench and a twist for each slot, and a number for each speed.
    wrenches: Vec<Six>,
    twists: Vec<Six>,
    scattered: Vec<f64>,
    /// Displacements along the speeds.
    pub moves: Vec<f64>,
}

impl Closing {
    pub fn new(model: &Constants) -> Closing {
        let (rows, slots) = (model.closures.rows, model.nodes.len() + 1);
        let some = |n: usize| if model.closures.is_empty() { 0 } else { n };
        Closing {
            rows: Vec::with_capacity(rows),
            numbers: vec![0.0; model.closures.numbers],
            factor: vec![0.0; rows * (rows + 1) / 2],
            forces: vec![0.0; rows],
            softness: vec![0.0; some(State::at_rest(&model.mechanism).multipliers.len())],
            again: false,
            wrenches: vec![[0.0; 6]; some(slots)],
            twists: vec![[0.0; 6]; some(slots)],
            scattered: vec![0.0; some(model.speeds)],
            moves: vec![0.0; some(model.speeds)],
        }
    }
}

impl Closing {
    /// How many rows the last step had.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// y of a row at all speeds.
    pub fn sweep(&self, model: &Constants, work: &Slots, row: usize, wrenches: &mut [Six], y: &mut [f64]) {
        let row = &self.rows[row];
        for (slot, w) in &row.wrenches {
            (0..6).for_each(|i| wrenches[*slot][i] += w[i]);
        }
        for n in (0..model.nodes.len()).rev() {
            pass(model, work, n, &row.direct, wrenches, y);
        }
        wrenches[0] = [0.0; 6];
    }

    /// Solves (h W + E) x = x with the factors of the last step.
    pub fn solve(&self, x: &mut [f64]) {
        solve_packed(&self.factor, x);
    }
}

/// Closes what the twists of both sweeps leave open: adds the forces of the rows to the slots, so that another outward
/// sweep gives the twists with them. Writes the forces of closing rows to `multipliers`. An error is the
/// row of a closure whose equations have no solution.
pub(super) fn close(
    model: &Constants,
    (inputs, laws): (&Inputs, &[Law]),
    state: &State,
    h: f64,
    work: &mut Slots,
    closing: &mut Closing,
    multipliers: &mut [f64],
) -> Result<(), usize> {
    list(model, (inputs, laws), state, h, work, closing);
    sweep_rows(model, work, closing);
    for r in 0..closing.rows.len() {
        if closing.rows[r].softness == 0.0 {
            let row = closing.rows[r];
            if !closing.again {
                closing.softness[row.multiplier] = SOFTNESS * h * seen(model, closing, &row);
            }
            closing.rows[r].softness = closing.softness[row.multiplier];
            closing.rows[r].right += closing.softness[row.multiplier] * state.multipliers[row.multiplier];
        }
    }
    for r in 0..closing.rows.len() {
        let row = &closing.rows[r];
        let mut moving = 0.0;
        for (slot, w) in &row.wrenches {
            let (v, a) = (work.slots[*slot].av, work.slots[*slot].aw);
            moving += dot6(w, &[v[0], v[1], v[2], a[0], a[1], a[2]]);
        }
        for (n, factor) in row.direct.iter().filter(|(n, _)| *n != NOWHERE) {
            moving += factor * work.found[model.nodes[*n].speed];
        }
        closing.forces[r] = row.right - moving;
        closing.factor[r * (r + 1) / 2..][..r + 1].iter_mut().for_each(|x| *x *= h);
        closing.factor[r * (r + 1) / 2 + r] += row.softness;
    }
    factor_packed(&mut closing.factor, closing.rows.len())?;
    solve_packed(&closing.factor, &mut closing.forces[..closing.rows.len()]);
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        if row.multiplier != NOWHERE {
            multipliers[row.multiplier] = *force;
        }
    }
    add_forces(model, h, work, closing);
    Ok(())
}

/// The most that a row of the same closure and unit sees, W_rr; of any closure, if those see nothing.
fn seen(model: &Constants, closing: &Closing, row: &Row) -> f64 {
    let most = |same: &dyn Fn(&Row) -> bool| {
        let rows = closing.rows.iter().enumerate().filter(|(_, other)| same(other));
        rows.map(|(r, _)| closing.factor[r * (r + 1) / 2 + r]).fold(0.0f64, f64::max)
    };
    let alike = |other: &Row| other.is_angle == row.is_angle && other.multiplier != NOWHERE;
    let (far, plain) = (most(&alike), model.closures.plain[usize::from(row.is_angle)]);
    // What is nothing has the square of a rounding; stiff springs leave less than this of a mass.
    if far < NOTHING * plain {
        return plain;
    }
    let near = most(&|other| alike(other) && other.closure == row.closure);
    if near < NOTHING * far { far } else { near }
}

/// The joint of a row; of a coupling's, the one that follows.
pub(super) fn joint_of_row(model: &Constants, closing: &Closing, row: usize) -> JointId {
    let (closures, closure) = (&model.closures, closing.rows[row].closure);
    match closure.checked_sub(closures.joints.len()) {
        None => closures.joints[closure].id,
        Some(c) => closures.couplings[c].joint,
    }
}
