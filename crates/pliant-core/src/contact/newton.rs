//! Newton's method on the natural map of Coulomb's law, for what a few sweeps leave of a small island:
//!
//! ```text
//! G(λ) = λ − P(z) = 0,   z = λ − ρu,   u = b + Wλ,   P on the cone: z_n ≥ 0, and z_t on the disk of radius μz_n
//! (I − P'(z) + ρP'(z)(W + δ)) step = −G                               (Alart and Curnier 1991)
//! ```
//!
//! with ρ the inverse of a contact's own W. While every contact goes on to stick, slide or part as it does, that is one linear system,
//! where sweeps come nearer by a constant factor each. δ, a small part of a contact's own W, is in the matrix alone: it keeps
//! what does not matter, of contacts that share a load in many ways, where it was, and the solution is the same.

use nalgebra::{Matrix3, Vector3};

use super::delassus::Equations;
use super::exact::{project, slope};
use crate::algebra::dense::lu;
use crate::algebra::wide::dot;

/// Contacts of an island that this is for, at most: a step takes the cube of their number.
pub(super) const SMALL: usize = 16;

/// The same where nodes of zones touch: each of these feels all others, and sweeps go on for long.
pub(super) const SOFT: usize = 40;

/// And where sweeps leave much of it.
pub(super) const MOST_SOFT: usize = 150;

/// Steps at most.
const STEPS: usize = 8;

/// The residual at which it ends, of the fastest velocity; and that which is as good as a solution if it goes no further.
const ENOUGH: f64 = 1e-10;
const GOOD: f64 = 1e-8;

/// δ, of a contact's own W.
const REGULAR: f64 = 1e-9;

/// Memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Where each contact of the equations is in the island.
    place: Vec<usize>,
    /// W with softness, row by row; b, μ and ρ.
    W: Vec<f64>,
    b: Vec<f64>,
    friction: Vec<f64>,
    rho: Vec<f64>,
    /// λ and u, and the step.
    now: Vec<f64>,
    u: Vec<f64>,
    step: Vec<f64>,
    /// Contacts that push, P' of each, the matrix, its right-hand side, order of rows and solution.
    active: Vec<usize>,
    slopes: Vec<Matrix3<f64>>,
    J: Vec<f64>,
    right: Vec<f64>,
    rows: Vec<usize>,
    x: Vec<f64>,
}

fn three(x: &[f64], i: usize) -> Vector3<f64> {
    Vector3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])
}

impl Memory {
    /// Solves an island from the impulses that are there; whether it is solved. If not, the impulses are unchanged.
    pub fn solve(&mut self, equations: &mut Equations, island: usize) -> bool {
        self.gather(equations, island);
        let n = self.friction.len();
        let speed = (0..n).map(|i| three(&self.b, i).norm()).fold(0.0, f64::max);
        multiply(&self.W, &self.b, &self.now, &mut self.u);
        let mut far = self.residual(&self.now, &self.u);
        for _ in 0..STEPS {
            if !(far > ENOUGH * speed && self.direction()) {
                break;
            }
            // Whole steps: the map has kinks, behind which a step may look worse before the next one is the last.
            self.now.iter_mut().zip(&self.step).for_each(|(x, step)| *x += step);
            multiply(&self.W, &self.b, &self.now, &mut self.u);
            far = self.residual(&self.now, &self.u);
        }
        // Not a number is no solution.
        let solved = far <= GOOD * speed;
        if solved {
            for i in 0..n {
                let c = equations.islands.contacts(island)[i];
                equations.set_impulse(c, project(&three(&self.now, i), self.friction[i]));
            }
        }
        solved
    }

    fn gather(&mut self, equations: &Equations, island: usize) {
        let members = equations.islands.contacts(island);
        let n = members.len();
        self.place.resize(equations.meetings.len(), 0);
        members.iter().enumerate().for_each(|(i, c)| self.place[*c] = i);
        self.W.clear();
        self.W.resize(9 * n * n, 0.0);
        for list in [&mut self.b, &mut self.now, &mut self.friction, &mut self.rho] {
            list.clear();
        }
        for list in [&mut self.u, &mut self.step] {
            list.resize(3 * n, 0.0);
        }
        self.slopes.resize(n, Matrix3::zeros());
        for (i, &c) in members.iter().enumerate() {
            let meeting = &equations.meetings[c];
            self.b.extend_from_slice(meeting.free.as_slice());
            self.now.extend_from_slice(meeting.impulse.as_slice());
            self.friction.push(meeting.friction);
            self.rho.push(3.0 / meeting.own.trace());
            for side in meeting.sides {
                let Some(part) = equations.parts.get(side.part) else { continue };
                let wide = 3 * part.pushes.len();
                for a in 0..3 {
                    let row = &part.matrix[(3 * side.place + a) * wide..][..wide];
                    let to = &mut self.W[(3 * i + a) * 3 * n..][..3 * n];
                    for (from, other) in row.as_chunks::<3>().0.iter().zip(&part.contacts) {
                        let k = 3 * self.place[*other];
                        (0..3).for_each(|b| to[k + b] += from[b]);
                    }
                }
            }
            self.W[3 * i * (3 * n + 1)] += meeting.softness;
        }
    }

    /// z of a contact.
    fn target(&self, i: usize, impulses: &[f64], u: &[f64]) -> Vector3<f64> {
        three(impulses, i) - three(u, i) * self.rho[i]
    }

    /// The largest |G| as a velocity, m/s; not a number where one of them is not.
    fn residual(&self, impulses: &[f64], u: &[f64]) -> f64 {
        (0..self.friction.len())
            .map(|i| {
                let pushed = project(&self.target(i, impulses, u), self.friction[i]);
                (three(impulses, i) - pushed).norm() / self.rho[i]
            })
            .fold(0.0, super::residual::worse)
    }

    /// Newton's step; whether there is one.
    fn direction(&mut self) -> bool {
        let n = self.friction.len();
        self.active.clear();
        for i in 0..n {
            let z = self.target(i, &self.now, &self.u);
            let to = 3 * i..3 * i + 3;
            if z.x > 0.0 {
                self.slopes[i] = slope(&z, self.friction[i]);
                self.active.push(i);
            } else {
                // What parts does not push: that is known without the others.
                self.step[to.clone()].iter_mut().zip(&self.now[to]).for_each(|(x, now)| *x = -now);
            }
        }
        let m = 3 * self.active.len();
        self.J.clear();
        self.J.resize(m * m, 0.0);
        self.right.clear();
        let parting = self.active.len() < n;
        for (r, &i) in self.active.iter().enumerate() {
            let (P, rho) = (&self.slopes[i], self.rho[i]);
            let rows: [&[f64]; 3] = std::array::from_fn(|a| &self.W[(3 * i + a) * 3 * n..][..3 * n]);
            let z = self.target(i, &self.now, &self.u);
            let mut G = three(&self.now, i) - project(&z, self.friction[i]);
            if parting {
                // ρP'W of the contacts that part, times their steps.
                let mut moved = Vector3::zeros();
                let mut others = self.active.iter().copied().peekable();
                for k in 0..n {
                    if others.next_if_eq(&k).is_none() {
                        let step = &self.step[3 * k..3 * k + 3];
                        (0..3).for_each(|a| moved[a] += dot(&rows[a][3 * k..3 * k + 3], step));
                    }
                }
                G += P * moved * rho;
            }
            self.right.extend(G.iter().map(|x| -x));
            for a in 0..3 {
                let J = &mut self.J[(3 * r + a) * m..][..m];
                let [x, y, z] = std::array::from_fn(|b| P[(a, b)] * rho);
                for (J, &k) in J.as_chunks_mut::<3>().0.iter_mut().zip(&self.active) {
                    for b in 0..3 {
                        let at = 3 * k + b;
                        J[b] = x * rows[0][at] + y * rows[1][at] + z * rows[2][at];
                    }
                }
                (0..3).for_each(|b| J[3 * r + b] += REGULAR * P[(a, b)] - P[(a, b)]);
                J[3 * r + a] += 1.0;
            }
        }
        self.rows.resize(m, 0);
        if lu::decompose(&mut self.J, m, &mut self.rows).is_some() {
            return false;
        }
        self.x.resize(m, 0.0);
        lu::solve(&self.J, &self.rows, &self.right, &mut self.x);
        for (r, &i) in self.active.iter().enumerate() {
            self.step[3 * i..3 * i + 3].copy_from_slice(&self.x[3 * r..3 * r + 3]);
        }
        true
    }
}

/// u = b + Wλ.
fn multiply(W: &[f64], b: &[f64], impulses: &[f64], u: &mut [f64]) {
    for ((u, b), row) in u.iter_mut().zip(b).zip(W.chunks_exact(b.len())) {
        *u = b + dot(row, impulses);
    }
}
