//! The equations of one step of contact: relative velocities as a linear function of the impulses.
//!
//! ```text
//! u = b + Wλ,   W = Σ G A⁻¹ Gᵀ over what is touched,   b = Σ G v − target
//! 0 ≤ λ_n ⟂ u_n + cλ_n ≥ 0,   |λ_t| ≤ μλ_n,   λ_t against u_t where it is at that bound
//! ```
//!
//! u and λ have three components a contact, along the normal and two tangents. W is kept in dense blocks, one for each
//! thing that moves; a contact is in those of its two sides. Things that contacts connect are an island; islands are solved one
//! by one.
//!
//! The softness c of a contact that lasts decides between contacts that share a load in many ways:
//!
//! ```text
//! c = min(10⁻³ W_nn, V/20λ)
//! ```
//!
//! with W_nn its own, λ the largest load between its two shapes in the last step and V the fastest speed of their recovery from an
//! overlap. So cλ is small against V under any load, and nothing sinks; masses that it does not touch do not matter. Where a hit makes λ
//! larger than it was in the last step, c is cut to V/40λ and the step solved again ([`Equations::stiffen`]).

use nalgebra::{Matrix3, Vector3};

use crate::algebra::wide::dot;
use crate::engine::touch::Push;

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
    /// Whether it is a free body, or a mechanism whose step with impulses is exactly what its matrix says.
    pub is_free: bool,
    pub is_exact: bool,
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
    /// What pushed along its normal in the last step, N·s, and the most of what pushed between its two shapes.
    pub last: f64,
    pub load: f64,
    /// The relative velocity now, how fast its sides are to part, and the fastest with which such shapes recover, m/s.
    pub now: Vector3<f64>,
    pub target: f64,
    pub fastest: f64,
    /// The smaller shape's radius, m.
    pub size: f64,
    /// How much faster its sides part at the end of the step by all that acts but contact, m/s.
    pub gained: f64,
    /// Whether its sides hit each other in this step; and how fast they part after that, m/s, zero where nothing is given back.
    pub hits: bool,
    pub bounce: f64,
    /// Whether one of its sides is soft: it gives way by itself, and an overlap is over at the end of the step.
    pub soft: bool,
    /// Whether it pushes for the whole step, and not in a hit alone.
    pub supports: bool,
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
    pub islands: Islands,
}

/// Contacts that feel each other's impulses, group by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Of each part: another of its island, itself where it stands for the island.
    of: Vec<usize>,
    /// Of each part that stands for an island, its place among them.
    place: Vec<usize>,
    /// All contacts, island by island, in their own order; and where each island ends.
    contacts: Vec<usize>,
    ends: Vec<usize>,
}

impl Islands {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The contacts of one of them.
    pub fn contacts(&self, island: usize) -> &[usize] {
        let first = if island == 0 { 0 } else { self.ends[island - 1] };
        &self.contacts[first..self.ends[island]]
    }

    fn root(&self, mut part: usize) -> usize {
        while self.of[part] != part {
            part = self.of[part];
        }
        part
    }

    fn find(&mut self, meetings: &[Meeting], parts: usize) {
        self.of.clear();
        self.of.extend(0..parts);
        for [a, b] in meetings.iter().map(|meeting| meeting.sides.map(|side| side.part)) {
            if a != usize::MAX && b != usize::MAX {
                let (a, b) = (self.root(a), self.root(b));
                self.of[a.max(b)] = a.min(b);
            }
        }
        // Counted, then sorted by their counts: an island is where its first contact puts it.
        let part = |meeting: &Meeting| meeting.sides.map(|side| side.part).into_iter().min().unwrap_or(0);
        self.place.clear();
        self.place.resize(parts, usize::MAX);
        self.ends.clear();
        for meeting in meetings {
            let root = self.root(part(meeting));
            if self.place[root] == usize::MAX {
                self.place[root] = self.ends.len();
                self.ends.push(0);
            }
            self.ends[self.place[root]] += 1;
        }
        let mut next = 0;
        self.ends.iter_mut().for_each(|end| (*end, next) = (next, next + *end));
        self.contacts.clear();
        self.contacts.resize(meetings.len(), 0);
        for (c, meeting) in meetings.iter().enumerate() {
            let root = self.root(part(meeting));
            let end = &mut self.ends[self.place[root]];
            self.contacts[*end] = c;
            *end += 1;
        }
    }
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

    /// Once all answers are in: sets own blocks, islands, the softness of lasting contacts, as a part of their own W_nn, and
    /// copies of the impulses.
    pub fn prepare(&mut self, softness: f64) {
        for part in &mut self.parts {
            part.impulses.clear();
            for &c in &part.contacts {
                part.impulses.extend_from_slice(self.meetings[c].impulse.as_slice());
            }
        }
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
        }
        self.islands.find(&self.meetings, self.parts.len());
        for island in 0..self.islands.len() {
            let contacts = self.islands.contacts(island);
            let largest = contacts.iter().map(|c| self.meetings[*c].own.trace()).fold(0.0, f64::max);
            for &c in contacts {
                let meeting = &mut self.meetings[c];
                if meeting.soft {
                    continue;
                }
                // An overlap is driven out at the speed u by the energy ½u²/W_nn, which has no bound where joints hardly let
                // the sides part: two links that turn on each other, and touch near the axis. There it is driven slower;
                // and not at all between links of one tree that slide nearly along each other, W_nn < µ|W_nt|, because
                // friction then jams or drives them (Painlevé), and forces that part them have no bound.
                let W = &meeting.own;
                let across = W[(1, 1)].max(W[(2, 2)]);
                let mut part = (W[(0, 0)].max(0.0) / (HARDLY * HARDLY * across)).sqrt().min(1.0);
                let slanted = meeting.friction * W[(0, 1)].hypot(W[(0, 2)]);
                let jams =
                    meeting.sides[0].part == meeting.sides[1].part && (part < 1.0 || W[(0, 0)] < slanted);
                if jams {
                    part = 0.0;
                }
                let less = meeting.target.max(0.0) * (1.0 - part);
                (meeting.target, meeting.free.x) = (meeting.target - less, meeting.free.x + less);
                // Where a side cannot move at all, an impulse is bounded all the same.
                (0..3).for_each(|i| meeting.own[(i, i)] = meeting.own[(i, i)].max(FLOOR * largest));
                meeting.softness = match meeting.last > 0.0 && !jams {
                    true => (softness * meeting.own[(0, 0)]).min(YIELD * meeting.fastest / meeting.load),
                    false => 0.0,
                };
            }
        }
    }

    /// Cuts the softness of contacts that the impulses of this step make yield more than they may; whether there were any.
    pub fn stiffen(&mut self) -> bool {
        let mut any = false;
        for meeting in &mut self.meetings {
            let most = YIELD * meeting.fastest;
            if meeting.softness * meeting.impulse.x > TOLERATED * most {
                meeting.softness = 0.5 * most / meeting.impulse.x;
                any = true;
            }
        }
        any
    }

    /// Whether an exact solution of an island is an exact step: of mechanisms that move as their matrices say, and what they touch. Not
    /// where joints hardly let two sides part, whose impulses are bounded by a floor of W.
    pub fn is_exact(&self, island: usize) -> bool {
        let mut any = false;
        let all = self.islands.contacts(island).iter().all(|c| {
            let meeting = &self.meetings[*c];
            let W = &meeting.own;
            let parts = meeting.sides.iter().filter_map(|side| self.parts.get(side.part));
            let known = parts.into_iter().all(|part| {
                any |= part.is_exact;
                part.is_exact || part.is_free
            });
            known && W[(0, 0)] > HARDLY * HARDLY * W[(1, 1)].max(W[(2, 2)])
        });
        any && all
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

/// How much of the recovery's speed softness takes at most, and how many times that is let be: a load that lasts varies a little.
const YIELD: f64 = 0.05;
const TOLERATED: f64 = 1.1;

/// How much less sides may part along a normal than slide across it, as a ratio of levers, and be driven apart at full speed.
const HARDLY: f64 = 0.1;

/// The smallest diagonal of W, of the largest of its island.
const FLOOR: f64 = 1e-12;
