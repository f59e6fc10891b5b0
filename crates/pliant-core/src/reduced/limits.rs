//! The system of a step with what acts on parts of the freedoms alone: limits, dry friction, torque limits. It is solved on one piece of
//! these laws, and again while its solution lies on others.

use super::failing::undetermined;
use super::model::Constants;
use super::motion::Motion;
use super::step::Workspace;
use crate::algebra::dense::cholesky;
use crate::algebra::wide::dot;
use crate::engine::{Inputs, StepError};

/// A coordinate on which more acts in a step than its spring and damper: an impulse, and a weight on its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    freedom: usize,
    weight: f64,
    impulse: f64,
}

/// The system of a step of h seconds; matrix and right side are in the workspace.
#[derive(Clone, Copy)]
pub(super) struct Small<'a> {
    pub model: &'a Constants,
    pub inputs: &'a Inputs,
    pub h: f64,
    pub motion: &'a Motion,
}

/// Freedoms with a limit, those of loop joints after those of the tree.
pub(super) fn limited(model: &Constants) -> impl Iterator<Item = &usize> {
    model.tree.limited.iter().chain(&model.closures.limited)
}

/// The coordinate of the state that a freedom has.
pub(super) fn coordinate_of(model: &Constants, freedom: usize) -> usize {
    match freedom.checked_sub(model.tree.freedoms.len()) {
        None => model.tree.freedoms[freedom].coordinate.expect("a joint"),
        Some(l) => model.closures.freedoms[l].coordinate,
    }
}

/// The rate of a freedom that the solution has.
#[inline]
fn found(model: &Constants, motion: &Motion, solution: &[f64], freedom: usize) -> f64 {
    dot(motion.row(model, freedom), solution)
}

impl Small<'_> {
    /// Solves with the limits and laws that the solution lies on.
    pub fn solve(self, work: &mut Workspace) -> Result<(), StepError> {
        let Small { model, inputs, h, motion } = self;
        self.judge_by_present_rates(work);
        let governed = !inputs.governed.is_empty();
        if governed {
            for (at, i) in model.freedom_of.iter().enumerate() {
                let Some(i) = *i else { continue };
                work.state.coordinates[at] = motion.coordinate(model, i);
                work.state.rates[at] = motion.rate(model, i);
            }
            work.pieces.start(inputs, &work.state, h);
        }
        self.solve_once(work)?;
        let mut again = self.look_ahead(work) | (governed && self.revise(work));
        while again {
            self.solve_once(work)?;
            again = governed && (self.look_ahead(work) | self.revise(work));
        }
        Ok(())
    }

    /// Solves with more on the right side, on the pieces that the step was solved on. Limits are looked for again: a push may lift a
    /// joint off the stop that it would have come to.
    pub fn solve_pushed(self, work: &mut Workspace) -> Result<(), StepError> {
        work.free.clone_from(&work.right);
        work.right.iter_mut().zip(&work.pushed).for_each(|(right, pushed)| *right += pushed);
        self.judge_by_present_rates(work);
        let mut solved = self.solve_once(work);
        if solved.is_ok() && self.look_ahead(work) {
            solved = self.solve_once(work);
        }
        work.right.clone_from(&work.free);
        solved
    }

    /// The present rates say which limits act, until a solution has others.
    fn judge_by_present_rates(self, work: &mut Workspace) {
        for (ahead, &i) in work.ahead.iter_mut().zip(limited(self.model)) {
            *ahead = self.motion.rate(self.model, i);
        }
    }

    /// Whether the rates found lead beyond limits that did not act.
    fn look_ahead(self, work: &mut Workspace) -> bool {
        let Small { model, inputs, h, motion } = self;
        let mut changed = false;
        for (ahead, &i) in work.ahead.iter_mut().zip(limited(model)) {
            let law = &inputs.laws[coordinate_of(model, i)];
            let q = motion.coordinate(model, i);
            let beyond = |rate: f64| q + h * rate > law.upper || q + h * rate < law.lower;
            let rate = found(model, motion, &work.solution, i);
            if beyond(rate) && !beyond(*ahead) {
                (*ahead, changed) = (rate, true);
            }
        }
        changed
    }

    /// Whether friction and torque limits are on other pieces at the rates found than these were solved for.
    fn revise(self, work: &mut Workspace) -> bool {
        let Small { model, inputs, h, motion } = self;
        let (solution, state) = (&work.solution, &work.state);
        work.pieces.revise(inputs, state, h, |at| {
            let rate = model.freedom_of[at].map_or(0.0, |i| found(model, motion, solution, i));
            (state.coordinates[at] + h * rate, rate)
        })
    }

    /// Solves on the present pieces.
    fn solve_once(self, work: &mut Workspace) -> Result<(), StepError> {
        let Small { model, inputs, h, motion } = self;
        let n = model.basis.count;
        work.extras.clear();
        for (&ahead, &i) in work.ahead.iter().zip(limited(model)) {
            let law = &inputs.laws[coordinate_of(model, i)];
            let (q, stiffness) = (motion.coordinate(model, i), law.limit);
            let end = q + h * ahead;
            let bound = if end > law.upper { law.upper } else { law.lower };
            if end > law.upper || end < law.lower {
                let (weight, impulse) = (h * h * stiffness, h * stiffness * (bound - q));
                work.extras.push(Extra { freedom: i, weight, impulse });
            }
        }
        let laws = work.pieces.laws(inputs);
        for own in &inputs.governed {
            let (at, own) = (own.coordinate, &inputs.laws[own.coordinate]);
            let (Some(i), law) = (model.freedom_of[at], &laws[at]) else { continue };
            let (k, d) = (law.stiffness - own.stiffness, law.damping - own.damping);
            let force = k * (inputs.rest[at] - motion.coordinate(model, i)) + law.push;
            work.extras.push(Extra { freedom: i, weight: h * (d + h * k), impulse: h * force });
        }
        let solution = &mut work.solution;
        solution[..n].copy_from_slice(&work.right);
        if work.extras.is_empty() && inputs.springs.is_empty() {
            work.more = false;
            cholesky::solve(&work.factor, n, &mut solution[..n]);
            return Ok(());
        }
        work.more = true;
        work.whole.copy_from_slice(if inputs.springs.is_empty() { &work.base } else { &work.matrix });
        for extra in &work.extras {
            let row = &motion.row(model, extra.freedom)[..n];
            for i in (0..n).filter(|i| row[*i] != 0.0) {
                let scaled = extra.weight * row[i];
                solution[i] += extra.impulse * row[i];
                for k in 0..n {
                    work.whole[i * n + k] += scaled * row[k];
                }
            }
        }
        if !cholesky::factor(&mut work.whole, n) {
            return Err(undetermined(model, motion, h));
        }
        cholesky::solve(&work.whole, n, &mut solution[..n]);
        Ok(())
    }
}
