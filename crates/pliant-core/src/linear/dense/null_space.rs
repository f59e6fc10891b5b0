//! The motions that rows leave: R θ̇ = 0, by elimination with pivots, block of rows after block.
//!
//! Within a block the largest entry is the next pivot, and of equals the first; what is left below the tolerance repeats rows before it. Rows
//! touch few columns where loops are local: each row has a span of columns, outside which it is zero.

use std::ops::Range;

/// Entries below this, of the largest row entry, are rounding, or the digits of a file.
const REPEATED: f64 = 1e-5;

/// Entries that differ by less, of themselves, are equal: rounding must not choose between the halves of a symmetric mechanism.
const EQUAL: f64 = 1e-6;

/// Rows in elimination, and what came of them.
#[derive(Clone, Debug)]
pub(crate) struct NullSpace {
    n: usize,
    /// Rows, their right-hand sides R θ = −c, and the multipliers by which earlier pivots were taken from each.
    pub R: Vec<f64>,
    pub c: Vec<f64>,
    taken: Vec<f64>,
    /// First column of each row that is not zero, and the one after the last.
    spans: Vec<Range<usize>>,
    /// Row and column of each pivot.
    pivots: Vec<(usize, usize)>,
    pub is_pivot: Vec<bool>,
    done: Vec<bool>,
    /// Columns that are free.
    pub free: Vec<usize>,
    /// Z, n rows of as many numbers as columns are free.
    pub Z: Vec<f64>,
    /// A θ that satisfies the rows.
    pub particular: Vec<f64>,
    mu: Vec<f64>,
}

impl NullSpace {
    pub fn new(m: usize, n: usize) -> NullSpace {
        NullSpace {
            n,
            R: vec![0.0; m * n],
            c: vec![0.0; m],
            taken: vec![0.0; m * m],
            spans: vec![0..n; m],
            pivots: Vec::with_capacity(m),
            is_pivot: vec![false; n],
            done: vec![false; m],
            free: Vec::with_capacity(n),
            Z: vec![0.0; n * n],
            particular: vec![0.0; n],
            mu: vec![0.0; m],
        }
    }

    /// Begins with rows of zeros that may be written to within the spans of their blocks.
    #[inline(always)]
    pub fn clear(&mut self, blocks: &[Range<usize>], spans: &[Range<usize>]) {
        for (block, span) in blocks.iter().zip(spans) {
            for i in block.clone() {
                let old = std::mem::replace(&mut self.spans[i], span.clone());
                self.R[i * self.n..][old].fill(0.0);
            }
        }
    }

    /// The row's entries in its span.
    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        &self.R[i * self.n..][self.spans[i].clone()]
    }

    /// Eliminates.
    #[inline(always)]
    pub fn solve(&mut self, blocks: &[Range<usize>]) {
        let (n, m) = (self.n, self.c.len());
        let tolerance = REPEATED * (0..m).map(|i| size(self.row(i))).fold(0.0, f64::max);
        self.pivots.clear();
        self.is_pivot.fill(false);
        self.done.fill(false);
        for block in blocks {
            for k in 0..self.pivots.len() {
                let pivot = self.pivots[k];
                for i in block.clone() {
                    self.take(i, k, pivot);
                }
            }
            loop {
                let (mut row, mut largest) = (usize::MAX, tolerance);
                for i in block.clone().filter(|&i| !self.done[i]) {
                    let most = size(self.row(i));
                    if most > largest * (1.0 + EQUAL) {
                        (row, largest) = (i, most);
                    }
                }
                if row == usize::MAX {
                    break;
                }
                let at = self.row(row).iter().position(|x| x.abs() >= largest * (1.0 - EQUAL));
                let best = (row, self.spans[row].start + at.expect("it is the largest"));
                let k = self.pivots.len();
                self.pivots.push(best);
                self.done[best.0] = true;
                self.is_pivot[best.1] = true;
                for i in block.clone() {
                    if !self.done[i] {
                        self.take(i, k, best);
                    }
                }
            }
        }
        debug_assert_eq!(m * n, self.R.len());
        self.free.clear();
        self.free.extend((0..n).filter(|&j| !self.is_pivot[j]));
        let z = self.free.len();
        self.Z[..n * z].fill(0.0);
        self.particular.fill(0.0);
        for (k, &j) in self.free.iter().enumerate() {
            self.Z[j * z + k] = 1.0;
        }
        // θ_pivot = −(c + Σ R θ)/R_pivot, last pivot first.
        for &(i, p) in self.pivots.iter().rev() {
            let inverse = -1.0 / self.R[i * n + p];
            let mut particular = self.c[i] * inverse;
            for j in self.spans[i].clone().filter(|&j| j != p) {
                let f = self.R[i * n + j] * inverse;
                if f != 0.0 {
                    particular += f * self.particular[j];
                    let (first, second) = self.Z.split_at_mut(z * p.max(j));
                    let (low, high) = (&mut first[z * p.min(j)..][..z], &mut second[..z]);
                    let (to, from) = if p < j { (low, high) } else { (high, low) };
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += f * *from);
                }
            }
            self.particular[p] = particular;
        }
    }

    /// Takes pivot k from a row.
    #[inline(always)]
    fn take(&mut self, i: usize, k: usize, (row, column): (usize, usize)) {
        let n = self.n;
        let x = self.R[i * n + column];
        if x == 0.0 {
            self.taken[i * self.c.len() + k] = 0.0;
            return;
        }
        let l = x / self.R[row * n + column];
        self.taken[i * self.c.len() + k] = l;
        let span = self.spans[row].clone();
        let (first, second) = self.R.split_at_mut(n * i.max(row));
        let (low, high) = (&mut first[n * i.min(row)..][..n], &mut second[..n]);
        let (to, from) = if i < row { (low, high) } else { (high, low) };
        for (to, from) in to[span.clone()].iter_mut().zip(&from[span.clone()]) {
            *to -= l * *from;
        }
        let own = &mut self.spans[i];
        *own = own.start.min(span.start)..own.end.max(span.end);
        self.R[i * n + column] = 0.0;
        self.c[i] -= l * self.c[row];
    }

    /// The forces λ on the rows, as they were given, that balance f along the pivots: f + Rᵀλ = 0 there.
    pub fn forces(&mut self, f: &[f64], lambda: &mut [f64]) {
        let (n, m) = (self.n, self.c.len());
        lambda.fill(0.0);
        for k in 0..self.pivots.len() {
            let (row, column) = self.pivots[k];
            let mut s = -f[column];
            for l in 0..k {
                s -= self.R[self.pivots[l].0 * n + column] * self.mu[l];
            }
            self.mu[k] = s / self.R[row * n + column];
        }
        for k in (0..self.pivots.len()).rev() {
            let row = self.pivots[k].0;
            lambda[row] = self.mu[k];
            for l in 0..k {
                self.mu[l] -= self.taken[row * m + l] * self.mu[k];
            }
        }
    }
}

/// The largest entry, without its sign.
#[inline(always)]
fn size(row: &[f64]) -> f64 {
    row.iter().fold(0.0, |most, x| if x.abs() > most { x.abs() } else { most })
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    /// R Z = 0, R θ = −c, f + Rᵀλ = 0 along the pivots, and the rank, with a row that repeats others.
    #[test]
    fn finds_what_rows_leave() {
        let (m, n) = (7, 9);
        let mut R = DMatrix::from_fn(m, n, |i, k| (1.3 * i as f64 + 2.1 * (k * i + k) as f64).sin());
        R[(2, 3)] = 0.0;
        let sum = R.row(0) + R.row(4) * 0.5;
        R.set_row(5, &sum);
        let c = DVector::from_fn(m, |i, _| (i as f64).cos());
        let mut c = c;
        c[5] = c[0] + 0.5 * c[4];
        let mut space = super::NullSpace::new(m, n);
        space.R.copy_from_slice(R.transpose().as_slice());
        space.c.copy_from_slice(c.as_slice());
        space.solve(&[0..3, 3..6, 6..7]);
        let z = space.free.len();
        assert_eq!(z, n - 6);
        let Z = DMatrix::from_row_slice(n, z, &space.Z[..n * z]);
        // Rounding, times the growth of a few pivots.
        assert!((&R * Z).amax() < 1e-13);
        let theta = DVector::from_column_slice(&space.particular);
        assert!((&R * theta + c).amax() < 1e-13);
        let f = DVector::from_fn(n, |i, _| (2.0 * i as f64).sin());
        let mut lambda = vec![0.0; m];
        space.forces(f.as_slice(), &mut lambda);
        let left = f + R.transpose() * DVector::from_vec(lambda);
        for j in (0..n).filter(|&j| space.is_pivot[j]) {
            assert!(left[j].abs() < 1e-13, "{}", left[j]);
        }
    }
}
