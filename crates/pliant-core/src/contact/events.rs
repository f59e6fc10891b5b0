//! What began and what ended to touch in a step.
//!
//! Two things touch in a step where one of their contacts pushes.

use super::pairs::Pair;
use super::world::Touched;

/// What happened between two things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They push each other, and did not in the step before.
    Began,
    /// They pushed each other in the step before, and do not any more.
    Ended,
}

/// A change of what touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub change: Change,
    /// One of the two, in the order of [`super::Contact`].
    pub first: Touched,
    /// The other.
    pub second: Touched,
}

/// Adds the changes of a step or a piece of one, in the order of the pairs: those of the same two things stand together.
pub(super) fn add(pairs: &[Pair], owners: &[Touched], events: &mut Vec<Event>) {
    for shapes in pairs.chunk_by(|a, b| a.things() == b.things()) {
        let (before, now) = (shapes.iter().any(Pair::pushed_before), shapes.iter().any(Pair::pushes));
        if before != now {
            let [first, second] = shapes[0].things().map(|thing| owners[thing]);
            let change = if now { Change::Began } else { Change::Ended };
            events.push(Event { change, first, second });
        }
    }
}
