//! Hits of links give back no more than there was: what a step with a hit gains is looked at where it ends.
//!
//! With E the energy of all that a hit reaches, of motion and of where everything is, and s the part of what is given back (`impact.rs`), the
//! step is taken with a large s in 0..1 with which E does not grow: regula falsi, the end that stays halved (the Illinois method), between
//! s = 0, a plain impact, and s = 1. Where E grows by a plain impact, links turn too far in the step: it is taken in pieces.

use super::{Touched, World};
use crate::engine::{Energy, StepError};
use crate::spatial::Twist;

/// How many parts are tried, and what of the energy that a plain impact loses may be lost all the same.
const TRIALS: usize = 8;
const CLOSE: f64 = 1e-3;

/// What is rounding, of the energy; and what a plain impact may gain, of the energy of motion before it.
const ROUNDING: f64 = 1e-9;
const GAINED: f64 = 1e-2;

impl World {
    /// Attempts a step with hits of links again, with smaller parts of what is given back, until it gains no energy; how far something turns,
    /// rad, infinitely far where it is to be taken in pieces. Free bodies that bounce off each other and off the world keep theirs as it is
    /// (`impact.rs`).
    pub(super) fn give_back_less(&mut self, h: f64, turn: f64) -> Result<f64, StepError> {
        self.find_hit();
        if self.hit.is_empty() {
            return Ok(turn);
        }
        let (most, moving) = self.gained_by_hit();
        if most <= 0.0 {
            return Ok(turn);
        }
        if self.equations.meetings.iter().all(|meeting| meeting.bounce <= 0.0) {
            return Ok(if most > GAINED * moving { f64::INFINITY } else { turn });
        }
        let mut turn = self.attempt_part(h, 0.0)?;
        let (none, _) = self.gained_by_hit();
        if none > GAINED * moving {
            return Ok(f64::INFINITY);
        }
        let ([mut low, mut high], mut tried) = ([(0.0, none), (1.0, most)], 0.0);
        for _ in 0..TRIALS {
            if low.1 >= 0.0 {
                break;
            }
            let part = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            (turn, tried) = (self.attempt_part(h, part)?, part);
            let (gained, _) = self.gained_by_hit();
            if gained <= 0.0 {
                (low, high.1) = ((part, gained), 0.5 * high.1);
                if gained > CLOSE * none {
                    break;
                }
            } else {
                (low.1, high) = (0.5 * low.1, (part, gained));
            }
        }
        if tried != low.0 {
            turn = self.attempt_part(h, low.0)?;
        }
        Ok(turn)
    }

    fn attempt_part(&mut self, h: f64, part: f64) -> Result<f64, StepError> {
        // Some engines add impulses to the step that they have solved without them.
        for simulation in &mut self.simulations {
            simulation.solve_free(h)?;
        }
        self.solve_equations(h, Some(part));
        self.finish(h)
    }

    /// Finds what hits of links reach in the step that was attempted; nothing where something does work that is not known: what holds a body,
    /// and a base that moves.
    fn find_hit(&mut self) {
        self.hit.clear();
        let none = !self.equations.meetings.iter().any(|meeting| meeting.hits);
        if none || self.simulations.is_empty() || !self.attachments.holds.is_empty() {
            return;
        }
        let equations = &self.equations;
        for island in 0..equations.islands.len() {
            let contacts = equations.islands.contacts(island);
            if contacts.iter().all(|c| !equations.meetings[*c].hits) {
                continue;
            }
            for thing in contacts.iter().flat_map(|c| self.pairs[self.frames[*c].0].things()) {
                let reached = match self.owners[thing] {
                    Touched::World => continue,
                    Touched::Free(id) => (false, id.index),
                    Touched::Mechanism(id, _) => (true, id.index),
                };
                if !self.hit.contains(&reached) {
                    self.hit.push(reached);
                }
            }
        }
        let links = || self.hit.iter().filter(|(link, _)| *link);
        let stands = |index: usize| self.simulations[index].inputs().base_twist() == Twist::ZERO;
        if links().next().is_none() || !links().all(|(_, index)| stands(*index)) {
            self.hit.clear();
        }
    }

    /// How much more energy these have at the end of the step that was attempted than now, J, 0 where that is rounding, or an engine does not
    /// know it; and how much of motion now.
    fn gained_by_hit(&mut self) -> (f64, f64) {
        let (mut gained, mut size, mut moving) = (0.0f64, 0.0f64, 0.0);
        for &(link, index) in &self.hit {
            let [now, next] = if link {
                let simulation = &mut self.simulations[index];
                simulation.refresh();
                let (state, inputs) = simulation.state_and_inputs();
                let now = Energy::with_loads(state, simulation.mechanism(), inputs);
                moving += state.kinetic_energy(simulation.mechanism());
                let Some(next) = simulation.next_energy() else { return (0.0, 0.0) };
                [now, next]
            } else {
                moving += self.bodies[index].moving();
                self.bodies[index].energies(&self.gravity)
            };
            gained += next - now;
            size += now.abs().max(next.abs());
        }
        (if gained.abs() > ROUNDING * size { gained } else { 0.0 }, moving)
    }
}
