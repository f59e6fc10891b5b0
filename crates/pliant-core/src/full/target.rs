//! Writing blocks into a front: only its upper triangle exists, so a block between two nodes lands as it is or
//! transposed, by which of them stands first.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::assembly::Drive;
use super::model::ABSENT;
use super::placing::Placed;

/// A front that is being assembled: upper triangle, right-hand side in column `size`.
pub(super) struct Target<'a> {
    pub F: &'a mut [f64],
    pub stride: usize,
    pub size: usize,
}

impl Target<'_> {
    #[inline(always)]
    pub fn right(&mut self, at: usize, x: &Vector3<f64>) {
        for k in 0..3 {
            self.F[(at + k) * self.stride + self.size] += x[k];
        }
    }

    /// A constraint row (l, a)·factor between a row node and a body.
    #[inline(always)]
    pub fn row(&mut self, row: usize, body: usize, l: &Vector3<f64>, a: &Vector3<f64>, factor: f64) {
        if body == ABSENT {
            return;
        }
        let (start, step) =
            if body < row { (body * self.stride + row, self.stride) } else { (row * self.stride + body, 1) };
        let F = &mut self.F[start..start + 5 * step + 1];
        for k in 0..3 {
            F[k * step] += factor * l[k];
            F[(3 + k) * step] += factor * a[k];
        }
    }

    /// weight·(row)ᵀ(row) and impulse·(row)ᵀ of row i of a joint on its two bodies.
    #[inline(always)]
    pub fn drive(
        &mut self,
        child: usize,
        parent: usize,
        placed: &Placed,
        i: usize,
        drive: &Drive,
        translates: bool,
    ) {
        if drive.weight == 0.0 && drive.impulse == 0.0 {
            return; // a passive freedom
        }
        let (l, c, p) = (&placed.linear[i], &placed.child[i], &placed.parent[i]);
        if translates {
            let c = Vector6::new(l.x, l.y, l.z, c.x, c.y, c.z);
            let p = -Vector6::new(l.x, l.y, l.z, p.x, p.y, p.z);
            for (body, x) in [(child, &c), (parent, &p)] {
                if body != ABSENT {
                    self.symmetric6(body, &(x * x.transpose() * drive.weight));
                    for k in 0..6 {
                        self.F[(body + k) * self.stride + self.size] += x[k] * drive.impulse;
                    }
                }
            }
            if child != ABSENT && parent != ABSENT {
                self.block6(child, parent, &(c * p.transpose() * drive.weight));
            }
        } else {
            // A rotation's row has no linear part, and is the same on both sides but for the sign.
            if child != ABSENT {
                self.symmetric(child + 3, &(c * c.transpose() * drive.weight));
                self.right(child + 3, &(c * drive.impulse));
            }
            if parent != ABSENT {
                self.symmetric(parent + 3, &(p * p.transpose() * drive.weight));
                self.right(parent + 3, &(p * -drive.impulse));
            }
            if child != ABSENT && parent != ABSENT {
                let K = c * p.transpose() * -drive.weight;
                let (a, b, K) =
                    if child < parent { (child, parent, K) } else { (parent, child, K.transpose()) };
                for k in 0..3 {
                    for l in 0..3 {
                        self.F[(a + 3 + k) * self.stride + b + 3 + l] += K[(k, l)];
                    }
                }
            }
        }
    }

    /// A symmetric 3×3 block on the diagonal.
    #[inline(always)]
    pub fn symmetric(&mut self, at: usize, K: &Matrix3<f64>) {
        for k in 0..3 {
            for l in k..3 {
                self.F[(at + k) * self.stride + at + l] += K[(k, l)];
            }
        }
    }

    /// A 3×3 block off the diagonal.
    #[inline(always)]
    pub fn block3(&mut self, a: usize, b: usize, K: &Matrix3<f64>) {
        let (start, row, column) =
            if a < b { (a * self.stride + b, self.stride, 1) } else { (b * self.stride + a, 1, self.stride) };
        for k in 0..3 {
            for l in 0..3 {
                self.F[start + k * row + l * column] += K[(k, l)];
            }
        }
    }

    /// A symmetric 6×6 block on the diagonal.
    #[inline(always)]
    pub fn symmetric6(&mut self, at: usize, K: &Matrix6<f64>) {
        for k in 0..6 {
            for l in k..6 {
                self.F[(at + k) * self.stride + at + l] += K[(k, l)];
            }
        }
    }

    /// A 6×6 block between two bodies.
    #[inline(always)]
    pub fn block6(&mut self, a: usize, b: usize, K: &Matrix6<f64>) {
        for k in 0..6 {
            for l in 0..6 {
                let at = if a < b { (a + k) * self.stride + b + l } else { (b + l) * self.stride + a + k };
                self.F[at] += K[(k, l)];
            }
        }
    }
}
