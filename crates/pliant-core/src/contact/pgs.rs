//! Projected Gauss–Seidel: contact by contact, normal and then tangents, the latter projected on the disk of radius μλ_n.
//!
//! What a sweep changes is taken for a gradient that nonlinear conjugate gradients go along (Silcowitz-Hansen, Niebe and
//! Erleben 2010): a stack of ten boxes needs 40 sweeps instead of hundreds.
//!
//! At the bound of the disk the tangents take gradient steps of length 1/‖W_tt‖, whose fixed point has λ_t exactly against u_t;
//! a projected Newton step would end elsewhere where W_tt is not round.
//!
//! Velocities Wλ are kept next to the impulses, part by part: an impulse that changes adds three columns of W, which is symmetric, and
//! conjugate gradients take both along.

use nalgebra::{Vector2, Vector3};

use super::delassus::{Equations, Side};
use crate::algebra::lanes::fma;
use crate::algebra::wide::{add_rows, padded, wide};

/// A sweep that changes no velocity by more than this, of the fastest that contact must change, is the last.
const STILL: f64 = 1e-9;

/// Steps of the tangents at the bound, each sweep.
const SLIDING: usize = 3;

/// Memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    contacts: Vec<Local>,
    blocks: Vec<Option<Block>>,
    /// W of all parts, in rows of padded length.
    columns: Vec<f64>,
    /// Impulses of all contacts, then Wλ of all parts.
    now: Vec<f64>,
    before: Vec<f64>,
    along: Vec<f64>,
}

/// A part: where its velocities and its columns begin, and how long these are.
#[derive(Clone, Copy, Debug)]
struct Block {
    velocity: usize,
    column: usize,
    stride: usize,
}

/// A contact.
#[derive(Clone, Copy, Debug)]
struct Local {
    /// Where the velocities of its sides are, and those that its impulse changes: a part's, and the columns.
    at: [usize; 2],
    blocks: [Block; 2],
    free: Vector3<f64>,
    friction: f64,
    softness: f64,
    /// 1/(W_nn + c), W_tn, W_tt, W_tt⁻¹ with its numbers xx, xy, yy, the largest of W_ii.
    give: f64,
    down: Vector2<f64>,
    W: [f64; 3],
    inverse: [f64; 3],
    largest: f64,
}

/// Takes so many sweeps from the impulses that are there, fewer in an island where one changes nothing any more.
pub(super) fn solve(equations: &mut Equations, sweeps: usize, memory: &mut Memory) {
    for island in 0..equations.islands.len() {
        solve_island(equations, island, sweeps, memory);
    }
}

/// The same of one island; whether the last sweep changed nothing any more.
pub(super) fn solve_island(
    equations: &mut Equations,
    island: usize,
    sweeps: usize,
    memory: &mut Memory,
) -> bool {
    memory.gather(equations, island);
    let still = run(memory, sweeps);
    for i in 0..memory.contacts.len() {
        let c = equations.islands.contacts(island)[i];
        equations.set_impulse(c, Vector3::from_column_slice(&memory.now[3 * i..3 * i + 3]));
    }
    still
}

impl Memory {
    /// Takes over W and the impulses of an island.
    fn gather(&mut self, equations: &Equations, island: usize) {
        let members = equations.islands.contacts(island);
        self.columns.clear();
        self.now.clear();
        for &c in members {
            self.now.extend_from_slice(equations.meetings[c].impulse.as_slice());
        }
        // After the impulses, the velocity of what does not move: zero.
        let still = 3 * members.len();
        self.now.resize(padded(still + 3), 0.0);
        self.blocks.clear();
        self.blocks.resize(equations.parts.len(), None);
        self.contacts.clear();
        for &c in members {
            let meeting = &equations.meetings[c];
            let W = &meeting.own;
            let (xx, xy, yy) = (W[(1, 1)], W[(1, 2)], W[(2, 2)]);
            let inverse = 1.0 / (xx * yy - xy * xy);
            let blocks = meeting.sides.map(|side| match equations.parts.get(side.part) {
                Some(part) => *self.blocks[side.part].get_or_insert_with(|| {
                    let wide = part.impulses.len();
                    let block =
                        Block { velocity: self.now.len(), column: self.columns.len(), stride: padded(wide) };
                    for row in part.matrix.chunks_exact(wide) {
                        self.columns.extend_from_slice(row);
                        self.columns.resize(self.columns.len() + block.stride - wide, 0.0);
                    }
                    self.now.resize(self.now.len() + block.stride, 0.0);
                    block
                }),
                None => Block { velocity: still, column: 0, stride: 0 },
            });
            let at = |i: usize, side: &Side| blocks[i].velocity + 3 * side.place;
            self.contacts.push(Local {
                at: [at(0, &meeting.sides[0]), at(1, &meeting.sides[1])],
                blocks: std::array::from_fn(|i| {
                    let column = blocks[i].column + 3 * meeting.sides[i].place * blocks[i].stride;
                    Block { column, ..blocks[i] }
                }),
                free: meeting.free,
                friction: meeting.friction,
                softness: meeting.softness,
                give: 1.0 / (W[(0, 0)] + meeting.softness),
                down: Vector2::new(W[(1, 0)], W[(2, 0)]),
                W: [xx, xy, yy],
                inverse: [yy * inverse, -xy * inverse, xx * inverse],
                largest: W[(0, 0)].max(xx).max(yy),
            });
        }
    }
}

wide! {
    fn run, run_lanes(memory: &mut Memory, sweeps: usize) -> bool
}

#[inline(always)]
fn run_lanes<const FUSED: bool>(memory: &mut Memory, sweeps: usize) -> bool {
    let Memory { contacts, columns, now, before, along, .. } = memory;
    for contact in 0..contacts.len() {
        let impulse = std::array::from_fn(|a| now[3 * contact + a]);
        contacts[contact].push::<FUSED>(&impulse, columns, now);
    }
    along.clear();
    along.resize(now.len(), 0.0);
    let speed = contacts.iter().map(|contact| contact.free.norm()).fold(0.0, f64::max);
    let mut last = f64::INFINITY;
    for sweep in 0..sweeps {
        before.clone_from(now);
        let mut changed = 0.0f64;
        for (c, contact) in contacts.iter().enumerate() {
            changed = changed.max(contact.relax::<FUSED>(3 * c, columns, now));
        }
        if changed <= STILL * speed {
            return true;
        }
        if sweep + 1 == sweeps {
            break;
        }
        // What a sweep changes is the gradient that nonlinear conjugate gradients go along.
        // Its length is an energy, so that light and heavy things count alike.
        let mut length = 0.0;
        for (contact, (x, y)) in contacts.iter().zip(now.chunks_exact(3).zip(before.chunks_exact(3))) {
            let square = x.iter().zip(y).fold(0.0, |sum, (x, y)| fma::<FUSED>(x - y, x - y, sum));
            length = fma::<FUSED>(contact.largest, square, length);
        }
        // Where nothing moves at all both are zero.
        let beta = if length <= last && last > 0.0 { length / last } else { 0.0 };
        last = length;
        for ((x, old), along) in now.iter_mut().zip(before.iter()).zip(along.iter_mut()) {
            let ahead = *along * beta;
            *along = ahead + (*x - old);
            *x += ahead;
        }
    }
    false
}

impl Local {
    /// Adds what an impulse does to the velocities.
    #[inline(always)]
    fn push<const FUSED: bool>(&self, impulse: &[f64; 3], columns: &[f64], now: &mut [f64]) {
        for Block { velocity, column, stride } in self.blocks {
            add_rows::<FUSED, 3>(impulse, &columns[column..], &mut now[velocity..velocity + stride]);
        }
    }

    /// Solves the contact whose impulse is at a place with all others held; how much its velocity changes by that, m/s.
    #[inline(always)]
    fn relax<const FUSED: bool>(&self, place: usize, columns: &[f64], now: &mut [f64]) -> f64 {
        let [i, k] = self.at;
        let u: [f64; 3] = std::array::from_fn(|a| self.free[a] + now[i + a] + now[k + a]);
        let normal = now[place];
        let old = Vector2::new(now[place + 1], now[place + 2]);
        let pushed = (normal - (u[0] + self.softness * normal) * self.give).max(0.0);
        // u_t = slip + W_tt λ_t
        let apply = |[xx, xy, yy]: &[f64; 3], x: &Vector2<f64>| {
            Vector2::new(fma::<FUSED>(*xx, x.x, xy * x.y), fma::<FUSED>(*xy, x.x, yy * x.y))
        };
        let slip = Vector2::new(u[1], u[2]) + self.down * (pushed - normal) - apply(&self.W, &old);
        let bound = self.friction * pushed;
        let mut tangent = -apply(&self.inverse, &slip);
        let sticks = tangent.norm_squared() <= bound * bound;
        if !sticks {
            let [xx, xy, yy] = self.W;
            let step = 1.0 / (0.5 * (xx + yy) + (0.25 * (xx - yy) * (xx - yy) + xy * xy).sqrt());
            tangent = old;
            for _ in 0..SLIDING {
                tangent -= (slip + apply(&self.W, &tangent)) * step;
                let length = tangent.norm();
                if length > bound {
                    tangent *= bound / length;
                }
            }
        }
        let change = [pushed - normal, tangent.x - old.x, tangent.y - old.y];
        if change != [0.0; 3] {
            now[place..place + 3].copy_from_slice(&[pushed, tangent.x, tangent.y]);
            self.push::<FUSED>(&change, columns, now);
        }
        change.iter().fold(0.0f64, |most, x| most.max(x.abs())) * self.largest
    }
}
