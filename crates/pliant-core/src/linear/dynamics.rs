//! One step of one component.
//!
//! Backward Euler in exponential coordinates about the reference, in the admissible motions z:
//!
//! ```text
//! (M + hD + h²K) ż⁺ = M ż + h(Q + Σ Gᵀw − K z),    z⁺ = z + h ż⁺
//! ```
//!
//! G = Jr(ξ_e)B_e takes ż to an effector's body twist, ξ_e = B_e z, and its pose is H_b H̄_e exp(ξ_e) on a base H_b.
//! Q are loads elsewhere, gravity and set-points, condensed. The matrix is factored once per h; pulls add
//! Gᵀ(h²k + h d)G to it.

use nalgebra::{DMatrix, Matrix6, Vector3, Vector6};

use super::model::Component;
use crate::algebra::dense::cholesky;
use crate::algebra::wide::{combine, dot, padded};
use crate::spatial::{Pose, Twist, Wrench};

/// Coordinates, in radii or rad, beyond which a linear model has broken.
const TOO_FAR: f64 = 1e9;
/// And a rate: what is made of it is a product of three.
const TOO_FAST: f64 = 1e100;

/// What a component's step reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    /// z and its rate.
    pub z: Vec<f64>,
    pub rate: Vec<f64>,
    /// Generalised force of this step, without −K z.
    pub force: Vec<f64>,
    /// Force and torque about the centre of mass on everything as a whole, world axes: of a free base.
    pub rigid: (Vector3<f64>, Vector3<f64>),
    /// M (or M′ of mean axes) and D, row by row; those of M padded.
    mass: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    /// L of LLᵀ = M + hD + h²K, and the h it was made for.
    factors: Vec<f64>,
    step: f64,
    /// L⁻ᵀ and L⁻¹, in padded rows: substitutions are chains of sums that wait for each other, products are not.
    upper: Vec<f64>,
    lower: Vec<f64>,
    /// Memory for padded rows.
    work: [Vec<f64>; 2],
    /// Counts the factors that were solved with.
    version: u64,
    /// The matrix of pulls, and the factors with it.
    pulled: Vec<f64>,
    has_pulls: bool,
    /// Whether the rates that were solved for feel pulls.
    held: bool,
    pub next: Vec<f64>,
}

impl Motion {
    /// At rest at the reference.
    pub fn new(component: &Component, mass: &DMatrix<f64>) -> Motion {
        let n = component.size();
        let rows = |A: &DMatrix<f64>| -> Vec<f64> { A.transpose().as_slice().to_vec() };
        Motion {
            z: vec![0.0; n],
            rate: vec![0.0; n],
            force: vec![0.0; n],
            rigid: Default::default(),
            mass: mass.row_iter().flat_map(|row| pad(row.iter().copied().collect())).collect(),
            damping: rows(&component.damping),
            stiffness: component.stiffness.as_slice().to_vec(),
            factors: vec![0.0; n * n],
            step: 0.0,
            upper: vec![0.0; n * padded(n)],
            lower: vec![0.0; n * padded(n)],
            work: [pad(vec![0.0; n]), pad(vec![0.0; n])],
            version: 0,
            pulled: vec![0.0; n * n],
            has_pulls: false,
            held: false,
            next: vec![0.0; n],
        }
    }

    /// Number of coordinates.
    pub fn size(&self) -> usize {
        self.z.len()
    }

    /// Adds a wrench that works through rows G, 6×n: force += Gᵀ w.
    #[inline]
    pub fn push(&mut self, G: &[f64], w: &Vector6<f64>) {
        let n = self.size();
        if n == 0 {
            return; // nothing but a base that moves
        }
        for (i, row) in G.chunks_exact(n).enumerate() {
            for (f, g) in self.force.iter_mut().zip(row) {
                *f += g * w[i];
            }
        }
    }

    /// Takes away a wrench that works through rows S, 6×n: force −= Sᵀ w.
    #[inline]
    pub fn pull_back(&mut self, S: &[f64], w: &Vector6<f64>) {
        self.push(S, &-w);
    }

    /// Adds a wrench (world axes, at the world's origin) to what acts on everything as a whole.
    #[inline]
    pub fn add_rigid(&mut self, w: &Wrench, center: &Vector3<f64>) {
        self.rigid.0 += w.force;
        self.rigid.1 += w.torque - center.cross(&w.force);
    }

    /// Forgets the pulls of a step that was not taken.
    pub fn let_go(&mut self) {
        self.has_pulls = false;
    }

    /// Adds Gᵀ W G to the matrix of this step.
    pub fn hold(&mut self, G: &[f64], W: &Matrix6<f64>) {
        let n = self.size();
        if !self.has_pulls {
            self.pulled.fill(0.0);
            self.has_pulls = true;
        }
        for i in 0..6 {
            for k in 0..6 {
                for a in 0..n {
                    let left = W[(i, k)] * G[i * n + a];
                    for b in 0..n {
                        self.pulled[a * n + b] += left * G[k * n + b];
                    }
                }
            }
        }
    }

    /// Entry of M + hD + h²K.
    pub fn system(&self, h: f64, i: usize, k: usize) -> f64 {
        let n = self.size();
        self.mass[i * padded(n) + k]
            + h * self.damping[i * n + k]
            + if i == k { h * h * self.stiffness[i] } else { 0.0 }
    }

    /// M ż + h(Q − K z).
    pub fn momentum(&mut self, h: f64) -> &[f64] {
        let n = self.size();
        // M is symmetric: its rows are its columns.
        combine(&self.rate, &self.mass, &mut self.work[0]);
        for i in 0..n {
            self.work[0][i] += h * (self.force[i] - self.stiffness[i] * self.z[i]);
        }
        &self.work[0][..n]
    }

    /// Solves for the rate at the end of a step of h seconds, into `next`. False if the matrix is not
    /// positive definite or a number is not finite; nothing has changed then.
    pub fn solve(&mut self, h: f64) -> bool {
        let n = self.size();
        if n == 0 {
            return true;
        }
        if self.step != h {
            for i in 0..n {
                (0..n).for_each(|k| self.factors[i * n + k] = self.system(h, i, k));
            }
            self.step = 0.0;
            if !cholesky::factor(&mut self.factors, n) {
                return false;
            }
            self.step = h;
            self.version += 1;
            cholesky::invert(&self.factors, n, &mut self.upper, &mut self.lower);
        }
        self.momentum(h);
        let held = std::mem::replace(&mut self.held, std::mem::take(&mut self.has_pulls));
        self.version += u64::from(held || self.held);
        if self.held {
            for i in 0..n {
                (0..n).for_each(|k| self.pulled[i * n + k] += self.system(h, i, k));
            }
            if !cholesky::factor(&mut self.pulled, n) {
                return false;
            }
            self.next.copy_from_slice(&self.work[0][..n]);
            cholesky::solve(&self.pulled, n, &mut self.next);
        } else {
            let [momentum, half] = &mut self.work;
            combine(&momentum[..n], &self.upper, half);
            combine(&half[..n], &self.lower, momentum);
            self.next.copy_from_slice(&momentum[..n]);
        }
        self.within_bounds(h)
    }

    /// Whether the step that was solved for ends within bounds: beyond counts as not finite.
    pub fn within_bounds(&self, h: f64) -> bool {
        self.next.iter().zip(&self.z).all(|(v, z)| (z + h * v).abs() < TOO_FAR && v.abs() < TOO_FAST)
    }

    /// Adds L⁻ᵀx to the rates that were solved for.
    pub fn hit(&mut self, x: &[f64]) {
        let n = self.size();
        let added = &mut self.work[0];
        if self.held {
            added[..n].copy_from_slice(x);
            cholesky::back(&self.pulled, n, &mut added[..n]);
        } else {
            combine(x, &self.lower, added);
        }
        self.next.iter_mut().zip(added).for_each(|(v, x)| *v += *x);
    }

    /// Factors of the matrix that was solved with last.
    pub fn factors(&self) -> &[f64] {
        if self.held { &self.pulled } else { &self.factors }
    }

    /// Another number whenever these are others.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// ½żᵀMż and ½zᵀKz.
    pub fn energy(&self) -> (f64, f64) {
        let n = self.size();
        let momentum = |i: usize| dot(&self.mass[i * padded(n)..i * padded(n) + n], &self.rate);
        let kinetic = (0..n).map(|i| 0.5 * self.rate[i] * momentum(i)).sum();
        (kinetic, (0..n).map(|i| 0.5 * self.stiffness[i] * self.z[i] * self.z[i]).sum())
    }

    /// Takes the step that was solved for.
    pub fn advance(&mut self, h: f64) {
        self.rate.copy_from_slice(&self.next);
        for (z, v) in self.z.iter_mut().zip(&self.rate) {
            *z += h * v;
        }
    }
}

/// A row with zeros up to its length in memory.
fn pad(mut row: Vec<f64>) -> Vec<f64> {
    row.resize(padded(row.len()), 0.0);
    row
}

/// Rows · z of a 6×n matrix that stands row by row, with an offset.
#[inline]
pub(super) fn twist(rows: &[f64], z: &[f64], offset: Option<&[f64]>) -> Twist {
    let n = z.len();
    let row = |i: usize| dot(&rows[i * n..(i + 1) * n], z) + offset.map_or(0.0, |o| o[i]);
    Twist { linear: Vector3::new(row(0), row(1), row(2)), angular: Vector3::new(row(3), row(4), row(5)) }
}

/// Six numbers of a list, from one on, as a twist.
#[inline]
pub(super) fn twist_at(numbers: &[f64], from: usize) -> Twist {
    let x = &numbers[from..from + 6];
    Twist { linear: Vector3::new(x[0], x[1], x[2]), angular: Vector3::new(x[3], x[4], x[5]) }
}

/// A dead wrench (world axes, at a point of a frame) in that frame: `at` is where it acts.
#[inline]
pub(super) fn in_frame(frame: &Pose, at: &Pose, load: &Wrench) -> Wrench {
    let r = frame.rotation.inverse();
    let force = r * load.force;
    Wrench { force, torque: r * load.torque + at.position.cross(&force) }
}
