//! A step that would leave loops open, or tear them, is taken in shorter ones: where a linkage folds flat, rows depend on each other, and what
//! the factors of the start say of the end holds for a short way only.

use super::simulation::Simulation;
use crate::engine::StepError;

/// A loop joint that is open by more, in radii, is not closed: what a step leaves is 1e-6 and less where its factors hold to its end.
const OPEN: f64 = 1e-3;

/// How many pieces a step has at most.
const PIECES: u32 = 64;

impl Simulation {
    /// Whether an attempted step leaves loops open.
    #[inline]
    pub(super) fn is_open(&self, attempted: &Result<(), StepError>) -> bool {
        match attempted {
            Ok(()) => self.work.open > OPEN,
            Err(error) => matches!(error, StepError::Torn { .. }),
        }
    }

    /// Takes such a step in pieces; as a whole, where these do not get through. What moves with the base, which is at its end from the first piece on,
    /// is left as it is.
    #[cold]
    #[inline(never)]
    pub(super) fn step_in_pieces(&mut self, dt: f64, whole: Result<(), StepError>) -> Result<(), StepError> {
        self.work.before.clone_from(&self.state);
        let (start, steps) = (self.state.time, self.state.steps);
        let (mut left, mut piece) = (PIECES, PIECES / 2);
        let moves = self.inputs.base != self.state.base;
        while left > 0 && !moves {
            let attempted = self.attempt_step(dt * f64::from(piece) / f64::from(PIECES));
            match (self.is_open(&attempted), attempted) {
                (true, _) if piece > 1 => piece /= 2,
                (_, Ok(())) => {
                    self.take_step();
                    left -= piece;
                }
                (_, Err(_)) => break,
            }
        }
        if left == 0 {
            (self.state.time, self.state.steps) = (start + dt, steps + 1);
            return Ok(());
        }
        self.state.clone_from(&self.work.before);
        self.work.placed = false;
        whole?;
        self.attempt_step(dt)?;
        self.take_step();
        Ok(())
    }
}
