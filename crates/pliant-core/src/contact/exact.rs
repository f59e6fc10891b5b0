//! Newton's method on the augmented Lagrangian of all contacts that feel each other.
//!
//! With the softness in W, so that u is u + cλ on normals, Coulomb's law is λ = P(λ − u/R) for any R > 0, where P makes
//! λ_n = max(0, ·) and takes λ_t to the disk of radius μλ_n. Outer steps hold the λ in there, inner ones solve for u:
//!
//! ```text
//! F(u) = u − b − W P(λ_k − u/R) = 0,   F' = I + W P'/R,   then λ_k+1 = P(λ_k − u/R)
//! ```
//!
//! A small R nears the law faster and is harder to solve: R falls after an outer step that Newton solved and rises after one that
//! it did not. R is a part of each contact's own W. Contacts with P' = 0 are left out of the linear system.

use nalgebra::{Matrix3, Vector3};

use super::delassus::Equations;
use super::{newton, pgs, residual};
use crate::algebra::dense::lu;
use crate::algebra::wide::dot;

/// Sweeps of Gauss–Seidel before the first Newton step.
const SWEEPS: usize = 20;

/// R at the start, of the mean of a contact's own W, and how it goes on.
const START: f64 = 0.01;
const FALL: f64 = 0.3;
const RISE: f64 = 4.0;
const LEAST: f64 = 1e-9;

/// Newton steps in an outer step, and outer and Newton steps of an island in all.
const INNER: usize = 8;
const OUTER: usize = 150;
const NEWTON: usize = 300;

/// Halvings of a Newton step.
const HALVINGS: usize = 8;

/// How exactly the inner problem is solved, of the tolerance, and what rounding leaves, of the velocities.
const INNER_TOLERANCE: f64 = 0.1;
const ROUNDING: f64 = 1e-14;

/// What sweeps may leave, of the fastest velocity of an island, and as a way in a step, of the smaller shape's radius, less where nodes of
/// zones touch; what Newton
/// then makes of it, in at most so many of its steps: each takes the cube of the number of contacts. Beyond so many of these there are fewer steps, that
/// take no longer, and beyond many more none.
const FAR: f64 = 0.01;
const FAR_IN_A_STEP: f64 = 1e-3;
const FAR_OF_SOFT: f64 = 1e-4;
const FINISHED: f64 = 0.01;
const SMALL: usize = 30;
const LARGE: usize = 48;

/// Sweeps before Newton's method is tried.
const FIRST: usize = 4;
const FINISHING: usize = 60;

/// Memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pgs: pgs::Memory,
    newton: newton::Memory,
    /// The contacts of the island at hand, and where each contact is among them.
    members: Vec<usize>,
    place: Vec<usize>,
    /// Their W with softness, row by row, and b.
    W: Vec<f64>,
    b: Vec<Vector3<f64>>,
    friction: Vec<f64>,
    /// Mean own W, then R.
    own: Vec<f64>,
    R: Vec<f64>,
    /// λ_k, what follows it, and the best so far.
    held: Vec<Vector3<f64>>,
    next: Vec<Vector3<f64>>,
    best: Vec<Vector3<f64>>,
    /// u and F there, Newton's step, and the same for a trial.
    u: Vec<Vector3<f64>>,
    F: Vec<Vector3<f64>>,
    step: Vec<Vector3<f64>>,
    trial: Vec<Vector3<f64>>,
    trial_F: Vec<Vector3<f64>>,
    /// P'/R, the contacts where it is not zero, their F', right-hand side, order of rows and solution.
    slope: Vec<Matrix3<f64>>,
    active: Vec<usize>,
    J: Vec<f64>,
    right: Vec<f64>,
    rows: Vec<usize>,
    x: Vec<f64>,
}

/// Solves to a residual, of the fastest velocity of each island, from the impulses that are there. What comes out is never worse
/// than they are.
pub(super) fn solve(equations: &mut Equations, tolerance: f64, memory: &mut Memory) {
    let all = equations.meetings.len();
    memory.next.clear();
    memory.next.extend(equations.meetings.iter().map(|m| m.impulse));
    let before = residual::largest(equations, 0..all);
    pgs::solve(equations, SWEEPS, &mut memory.pgs);
    let no_worse = residual::largest(equations, 0..all) <= before;
    if !no_worse {
        for c in 0..all {
            equations.set_impulse(c, memory.next[c]);
        }
    }
    for island in 0..equations.islands.len() {
        memory.gather(equations, island);
        let speed = memory.b.iter().map(Vector3::norm).fold(0.0, f64::max);
        memory.solve_island(equations, tolerance * speed, NEWTON);
    }
}

/// Takes so many sweeps, and finishes small islands that these leave far from the law in a step of h seconds. Of very small ones a few sweeps are a start for
/// Newton's method, which takes less time than the others; where it finds nothing, they go on. Free bodies alone are left to
/// sweeps, and so are engines whose step is not what W says: of many ways to share a load, sweeps stay near that of the last step.
pub(super) fn sweep_and_finish(equations: &mut Equations, sweeps: usize, h: f64, memory: &mut Memory) {
    for island in 0..equations.islands.len() {
        let count = equations.islands.contacts(island).len();
        let soft = equations.islands.contacts(island).iter().any(|c| equations.meetings[*c].soft);
        let newton =
            if soft { count <= newton::SOFT } else { count <= newton::SMALL && equations.is_exact(island) };
        if sweeps > FIRST && newton {
            // The material keeps the impulses of the last step near those of this one.
            if soft && memory.newton.solve(equations, island) {
                continue;
            }
            let still = pgs::solve_island(equations, island, FIRST, &mut memory.pgs);
            if still || memory.newton.solve(equations, island) {
                continue;
            }
        }
        pgs::solve_island(equations, island, sweeps, &mut memory.pgs);
        let contacts = equations.islands.contacts(island);
        let (mut speed, mut size) = (0.0f64, f64::INFINITY);
        for meeting in contacts.iter().map(|c| &equations.meetings[*c]) {
            (speed, size) = (speed.max(meeting.free.norm()), size.min(meeting.size));
        }
        let in_a_step = if soft { FAR_OF_SOFT } else { FAR_IN_A_STEP };
        let far = (FAR * speed).min(in_a_step * size / h);
        let left = residual::largest(equations, contacts.iter().copied());
        if left > far && soft && count <= newton::MOST_SOFT && memory.newton.solve(equations, island) {
            continue;
        }
        if left > far && count <= LARGE {
            let most = (FINISHING * SMALL.pow(3) / count.pow(3)).min(FINISHING);
            memory.gather(equations, island);
            memory.solve_island(equations, FINISHED * far, most);
        }
    }
}

impl Memory {
    /// Gathers the contacts of an island and their W, b.
    fn gather(&mut self, equations: &Equations, island: usize) {
        self.members.clear();
        self.members.extend_from_slice(equations.islands.contacts(island));
        self.place.resize(equations.meetings.len(), 0);
        self.members.iter().enumerate().for_each(|(i, c)| self.place[*c] = i);
        let n = self.members.len();
        let rows = 3 * n;
        self.W.clear();
        self.W.resize(rows * rows, 0.0);
        for values in [
            &mut self.b,
            &mut self.held,
            &mut self.best,
            &mut self.u,
            &mut self.F,
            &mut self.step,
            &mut self.trial,
            &mut self.trial_F,
        ] {
            values.resize(n, Vector3::zeros());
        }
        self.next.resize(n.max(equations.meetings.len()), Vector3::zeros());
        self.slope.resize(n, Matrix3::zeros());
        self.friction.resize(n, 0.0);
        self.own.resize(n, 0.0);
        self.R.resize(n, 0.0);
        for i in 0..n {
            let meeting = &equations.meetings[self.members[i]];
            self.b[i] = meeting.free;
            self.best[i] = meeting.impulse;
            self.friction[i] = meeting.friction;
            self.own[i] = meeting.own.trace() / 3.0;
            // W = Σ G A⁻¹ Gᵀ over the parts, and softness on normals.
            for side in meeting.sides {
                let Some(part) = equations.parts.get(side.part) else { continue };
                let wide = 3 * part.pushes.len();
                for (place, other) in part.contacts.iter().enumerate() {
                    let k = self.place[*other];
                    for a in 0..3 {
                        let from = (3 * side.place + a) * wide + 3 * place;
                        let to = (3 * i + a) * rows + 3 * k;
                        (0..3).for_each(|b| self.W[to + b] += part.matrix[from + b]);
                    }
                }
            }
            self.W[3 * i * (rows + 1)] += meeting.softness;
        }
    }

    /// Writes impulses of the island and says how far they are from the law.
    fn judge(members: &[usize], impulses: &[Vector3<f64>], equations: &mut Equations) -> f64 {
        for (&c, impulse) in members.iter().zip(impulses) {
            equations.set_impulse(c, *impulse);
        }
        residual::largest(equations, members.iter().copied())
    }

    /// Solves to a residual, m/s, in at most so many of Newton's steps.
    fn solve_island(&mut self, equations: &mut Equations, tolerance: f64, most: usize) {
        let n = self.members.len();
        let mut least = residual::largest(equations, self.members.iter().copied());
        self.held.copy_from_slice(&self.best);
        let (mut scale, mut newton) = (START, 0);
        for _ in 0..OUTER {
            if !(least > tolerance && newton < most) {
                break;
            }
            (0..n).for_each(|i| self.R[i] = scale * self.own[i]);
            let solved = self.newton(tolerance, &mut newton);
            // λ_k+1 = P(λ_k − u/R)
            for i in 0..n {
                self.next[i] = project(&(self.held[i] - self.u[i] / self.R[i]), self.friction[i]);
            }
            let now = Self::judge(&self.members, &self.next[..n], equations);
            if now < least {
                least = now;
                self.best.copy_from_slice(&self.next[..n]);
            }
            if solved || now < 10.0 * least {
                self.held.copy_from_slice(&self.next[..n]);
            }
            scale = if solved { (scale * FALL).max(LEAST) } else { scale * RISE };
        }
        Self::judge(&self.members, &self.best, equations);
    }

    /// F(u) = u − b − W P(λ_k − u/R), into F.
    fn evaluate(&mut self, trial: bool) -> f64 {
        let n = self.members.len();
        let (u, F) = if trial { (&self.trial, &mut self.trial_F) } else { (&self.u, &mut self.F) };
        self.x.clear();
        for i in 0..n {
            let impulse = project(&(self.held[i] - u[i] / self.R[i]), self.friction[i]);
            self.x.extend_from_slice(impulse.as_slice());
        }
        for i in 0..n {
            F[i] = u[i] - self.b[i];
            for a in 0..3 {
                F[i][a] -= dot(&self.W[(3 * i + a) * 3 * n..(3 * i + a + 1) * 3 * n], &self.x);
            }
        }
        F.iter().map(Vector3::norm_squared).sum::<f64>().sqrt()
    }

    /// Solves for u with λ_k held, from u = b + Wλ_k; whether it came to that.
    fn newton(&mut self, tolerance: f64, newton: &mut usize) -> bool {
        let n = self.members.len();
        self.x.clear();
        self.held.iter().for_each(|impulse| self.x.extend_from_slice(impulse.as_slice()));
        for i in 0..n {
            self.u[i] = self.b[i];
            for a in 0..3 {
                self.u[i][a] += dot(&self.W[(3 * i + a) * 3 * n..(3 * i + a + 1) * 3 * n], &self.x);
            }
        }
        let speed = self.b.iter().chain(&self.u).map(Vector3::norm_squared).sum::<f64>().sqrt();
        let enough = INNER_TOLERANCE * tolerance + ROUNDING * speed;
        let mut size = self.evaluate(false);
        for _ in 0..INNER {
            if size <= enough {
                return true;
            }
            *newton += 1;
            if !self.direction() {
                return false;
            }
            let (mut length, mut shorter) = (1.0, false);
            for _ in 0..=HALVINGS {
                (0..n).for_each(|i| self.trial[i] = self.u[i] + self.step[i] * length);
                let trial = self.evaluate(true);
                shorter = trial < size * (1.0 - 1e-4 * length);
                if shorter {
                    std::mem::swap(&mut self.u, &mut self.trial);
                    std::mem::swap(&mut self.F, &mut self.trial_F);
                    size = trial;
                    break;
                }
                length *= 0.5;
            }
            if !shorter {
                return false;
            }
        }
        size <= enough
    }

    /// Newton's step: (I + W P'/R) step = −F; whether there is one.
    fn direction(&mut self) -> bool {
        let n = self.members.len();
        self.active.clear();
        for i in 0..n {
            let z = self.held[i] - self.u[i] / self.R[i];
            if z.x > 0.0 {
                self.slope[i] = slope(&z, self.friction[i]) / self.R[i];
                self.active.push(i);
            }
        }
        let m = 3 * self.active.len();
        self.J.clear();
        self.J.resize(m * m, 0.0);
        self.right.clear();
        for (row, &i) in self.active.iter().enumerate() {
            for a in 0..3 {
                let W = &self.W[(3 * i + a) * 3 * n..(3 * i + a + 1) * 3 * n];
                let J = &mut self.J[(3 * row + a) * m..(3 * row + a + 1) * m];
                for (column, &k) in self.active.iter().enumerate() {
                    let D = &self.slope[k];
                    for b in 0..3 {
                        J[3 * column + b] =
                            W[3 * k] * D[(0, b)] + W[3 * k + 1] * D[(1, b)] + W[3 * k + 2] * D[(2, b)];
                    }
                }
                J[3 * row + a] += 1.0;
                self.right.push(-self.F[i][a]);
            }
        }
        self.rows.resize(m, 0);
        if lu::decompose(&mut self.J, m, &mut self.rows).is_some() {
            return false;
        }
        self.x.resize(m, 0.0);
        lu::solve(&self.J, &self.rows, &self.right, &mut self.x);
        if self.x.iter().any(|x| !x.is_finite()) {
            return false;
        }
        // The others follow: step = −F − W (P'/R) step.
        for (row, &i) in self.active.iter().enumerate() {
            let step = Vector3::from_column_slice(&self.x[3 * row..3 * row + 3]);
            let pushed = self.slope[i] * step;
            self.x[3 * row..3 * row + 3].copy_from_slice(pushed.as_slice());
            self.step[i] = step;
        }
        let mut next = 0;
        for i in 0..n {
            if self.active.get(next) == Some(&i) {
                next += 1;
                continue;
            }
            self.step[i] = -self.F[i];
            for a in 0..3 {
                let W = &self.W[(3 * i + a) * 3 * n..(3 * i + a + 1) * 3 * n];
                for (row, &k) in self.active.iter().enumerate() {
                    (0..3).for_each(|b| self.step[i][a] -= W[3 * k + b] * self.x[3 * row + b]);
                }
            }
        }
        true
    }
}

/// P(z).
pub(super) fn project(z: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    let normal = z.x.max(0.0);
    let (length, bound) = ((z.y * z.y + z.z * z.z).sqrt(), friction * normal);
    let part = if length > bound { bound / length } else { 1.0 };
    Vector3::new(normal, z.y * part, z.z * part)
}

/// P'(z) where z_n > 0: inside the disk I, outside λ_t = μ z_n t with t = z_t/|z_t| and t' = (I − ttᵀ)/|z_t|.
pub(super) fn slope(z: &Vector3<f64>, friction: f64) -> Matrix3<f64> {
    let (length, bound) = ((z.y * z.y + z.z * z.z).sqrt(), friction * z.x);
    if length <= bound {
        return Matrix3::identity();
    }
    let (t, s, part) = (z.y / length, z.z / length, bound / length);
    Matrix3::new(
        1.0,
        0.0,
        0.0,
        friction * t,
        part * s * s,
        -part * s * t,
        friction * s,
        -part * s * t,
        part * t * t,
    )
}
