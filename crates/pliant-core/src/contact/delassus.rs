//! The equations of one step of contact: relative velocities as a linear function of the impulses.
//!
//! ```text
//! u = b + Wλ,   W = Σ G A⁻¹ Gᵀ over what is touched,   b = Σ G v − target
//! 0 ≤ λ_n ⟂ u_n + cλ_n ≥ 0,   |λ_t| ≤ μλ_n,   λ_t against u_t where it is at that bound
//! ```
//!
//! u and λ have three components a contact, along the normal and two tangents. W is kept in dense blocks, one for each
//! thing that moves; a contact is in those of its two sides.

use nalgebra::{Matrix3, Vector3};

use crate::engine::touch::Push;
use crate::linear::wide::dot;

/// Which block a side of a contact is in, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The thing that moves; `usize::MAX` for the static world.
    pub part: usize,
    /// Its place among that thing's pushes.
    pub place: usize,
}

impl Side {
    /// A side that does not move.
    pub const STATIC: Side = Side { part: usize::MAX, place: 0 };
}

/// A thing that moves: its pushes and how it answers to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub pushes: Vec<Push>,
    /// The contact of each push.
    pub contacts: Vec<usize>,
    /// G A⁻¹ Gᵀ, row by row, three rows a push.
    pub matrix: Vec<f64>,
    /// Impulses of its pushes.
    pub impulses: Vec<f64>,
}

/// A contact in the equations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub sides: [Side; 2],
    /// b.
    pub free: Vector3<f64>,
    /// λ, N·s.
    pub impulse: Vector3<f64>,
    pub friction: f64,
    /// Whether it pushed in the last step.
    pub lasting: bool,
    /// c, m/s per N·s.
    pub softness: f64,
    /// W's own block.
    pub own: Matrix3<f64>,
}

/// All equations of a step, with memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Equations {
    pub meetings: Vec<Meeting>,
    pub parts: Vec<Part>,
}

impl Equations {
    /// Empties everything, for so many things that move.
    pub fn clear(&mut self, parts: usize) {
        self.meetings.clear();
        self.parts.resize_with(parts, Part::default);
        for part in &mut self.parts {
            part.pushes.clear();
            part.contacts.clear();
        }
    }

    /// Adds a side's push; where it is.
    pub fn push(&mut self, part: usize, contact: usize, push: Push) -> Side {
        let to = &mut self.parts[part];
        to.pushes.push(push);
        to.contacts.push(contact);
        Side { part, place: to.pushes.len() - 1 }
    }

    /// Once all answers are in: sets own blocks, the softness of lasting contacts, of the mean W, and copies of the impulses.
    pub fn prepare(&mut self, softness: f64) {
        for part in &mut self.parts {
            part.impulses.clear();
            for &c in &part.contacts {
                part.impulses.extend_from_slice(self.meetings[c].impulse.as_slice());
            }
        }
        let mut largest = 0.0f64;
        for c in 0..self.meetings.len() {
            let mut own = Matrix3::zeros();
            let sides = self.meetings[c].sides;
            for (i, a) in sides.iter().enumerate() {
                for (k, b) in sides.iter().enumerate() {
                    if a.part == b.part && a.part != usize::MAX && (i == k || a.place != b.place) {
                        own += self.block(a.part, a.place, b.place);
                    }
                }
            }
            self.meetings[c].own = own;
            largest = largest.max(own.trace());
        }
        let mean =
            self.meetings.iter().map(|m| m.own[(0, 0)]).sum::<f64>() / self.meetings.len().max(1) as f64;
        for meeting in &mut self.meetings {
            meeting.softness = if meeting.lasting { softness * mean } else { 0.0 };
            // Where a side cannot move at all, an impulse is bounded all the same.
            (0..3).for_each(|i| meeting.own[(i, i)] = meeting.own[(i, i)].max(FLOOR * largest));
        }
    }

    fn block(&self, part: usize, i: usize, k: usize) -> Matrix3<f64> {
        let part = &self.parts[part];
        let n = 3 * part.pushes.len();
        Matrix3::from_fn(|a, b| part.matrix[(3 * i + a) * n + 3 * k + b])
    }

    /// u of a contact, without softness.
    #[inline(always)]
    pub fn velocity(&self, c: usize) -> Vector3<f64> {
        let meeting = &self.meetings[c];
        let mut u = meeting.free;
        for side in &meeting.sides {
            if side.part == usize::MAX {
                continue;
            }
            let part = &self.parts[side.part];
            let n = part.impulses.len();
            let rows = &part.matrix[3 * side.place * n..3 * (side.place + 1) * n];
            let (first, rest) = rows.split_at(n);
            let (second, third) = rest.split_at(n);
            u.x += dot(first, &part.impulses);
            u.y += dot(second, &part.impulses);
            u.z += dot(third, &part.impulses);
        }
        u
    }

    /// Sets λ of a contact.
    #[inline]
    pub fn set_impulse(&mut self, c: usize, impulse: Vector3<f64>) {
        self.meetings[c].impulse = impulse;
        for side in self.meetings[c].sides {
            if side.part != usize::MAX {
                let at = 3 * side.place;
                self.parts[side.part].impulses[at..at + 3].copy_from_slice(impulse.as_slice());
            }
        }
    }
}

/// The smallest diagonal of W, of the largest.
const FLOOR: f64 = 1e-12;
