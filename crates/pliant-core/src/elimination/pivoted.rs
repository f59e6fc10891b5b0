//! Factor and solve with pivoting inside a unit, for matrices whose pivots are not definite: pairs of body and
//! joint, `[K I; I −C]`, of which a row alone may be zero on the diagonal.
//!
//! With A the pivots' block of a front and B their rows to the later unknowns:
//! A = P⁻¹LU, W = A⁻¹B, and F_rest −= BᵀW. A right-hand side z goes forward by z_later −= Wᵀz, y = A⁻¹z, and
//! back by x = y − W x_later. Zeros are skipped: on a tree most blocks are zeros and unit matrices.
//!
//! The last unit may be singular. It is then factored with pivots searched in all of it, and the directions
//! whose pivots are lost in rounding are left out: of the solutions of a consistent system, one.

use super::numeric::{Assemble, ZeroPivot, take_update};
use super::symbolic::{LANES, Run, Symbolic, update_size, update_width};

/// The factors of one matrix, for any number of right-hand sides.
#[derive(Clone, Debug)]
pub struct Pivoted {
    /// Of each front in turn: L and U of its pivots, then W.
    factors: Vec<f64>,
    /// Which row of A comes next, front by front.
    rows: Vec<usize>,
    /// Of the last unit: which unknown comes next, and how many pivots it has.
    columns: Vec<usize>,
    rank: usize,
    /// Where each front's factors and rows start.
    starts: Vec<(usize, usize)>,
}

impl Pivoted {
    /// Factors the matrix that `assemble` adds up. If its last unit may be singular, pivots below that part of
    /// the unit's largest are left out.
    pub fn factor(
        plan: &Symbolic,
        assemble: impl Assemble,
        singular: Option<f64>,
    ) -> Result<Pivoted, ZeroPivot> {
        let (mut numbers, mut pivots) = (0, 0);
        let mut starts = Vec::with_capacity(plan.fronts.len());
        for front in &plan.fronts {
            starts.push((numbers, pivots));
            numbers += front.pivots * front.size;
            pivots += front.pivots;
        }
        let (factors, rows) = (vec![0.0; numbers], vec![0; pivots]);
        let mut out = Pivoted { factors, rows, columns: Vec::new(), rank: 0, starts };
        let mut stack = vec![[0.0; LANES]; plan.stack];
        let mut memory = vec![0.0; plan.largest];
        for (f, front) in plan.fronts.iter().enumerate() {
            let (size, stride, p) = (front.size, front.stride, front.pivots);
            let rest = size - p;
            let F = &mut memory[..size * stride];
            F.fill(0.0);
            assemble.add_front(f, F, stride, size);
            for &child in plan.children(front) {
                take_update(F, stride, size, plan, &plan.fronts[child], &stack);
            }
            let (at, first) = out.starts[f];
            let (A, W) = out.factors[at..at + p * size].split_at_mut(p * p);
            for i in 0..p {
                for j in i..p {
                    A[i * p + j] = F[i * stride + j];
                    A[j * p + i] = F[i * stride + j];
                }
            }
            let rows = &mut out.rows[first..first + p];
            if let Some(tolerance) = singular.filter(|_| f + 1 == plan.fronts.len()) {
                out.columns = vec![0; p];
                out.rank = decompose_fully(A, p, rows, &mut out.columns, tolerance);
                break;
            }
            if let Some(k) = decompose(A, p, rows) {
                return Err(ZeroPivot { unknown: front.first + k });
            }
            for (i, &row) in rows.iter().enumerate() {
                W[i * rest..(i + 1) * rest].copy_from_slice(&F[row * stride + p..row * stride + size]);
            }
            substitute(A, p, W, rest);
            let width = update_width(front);
            let update = &mut stack[front.update..front.update + update_size(front)];
            for i in 0..rest {
                let to = update[i * width..(i + 1) * width].as_flattened_mut();
                to[i..rest].copy_from_slice(&F[(p + i) * stride + p + i..(p + i) * stride + size]);
                to[rest] = 0.0;
                for k in 0..p {
                    let b = F[k * stride + p + i];
                    if b != 0.0 {
                        subtract(&mut to[i..rest], b, &W[k * rest + i..(k + 1) * rest]);
                    }
                }
            }
        }
        Ok(out)
    }

    /// Solves for right-hand sides that stand side by side: `x[unknown * columns + column]`, in place. `memory`
    /// takes the pivots of one front.
    pub fn solve(&self, plan: &Symbolic, x: &mut [f64], columns: usize, memory: &mut Vec<f64>) {
        // A number of columns that the compiler knows has loops without ends: one effector, or one load.
        match columns {
            6 => self.solve_columns(plan, x, 6, memory),
            1 => self.solve_columns(plan, x, 1, memory),
            _ => self.solve_columns(plan, x, columns, memory),
        }
    }

    #[inline(always)]
    fn solve_columns(&self, plan: &Symbolic, x: &mut [f64], columns: usize, memory: &mut Vec<f64>) {
        debug_assert_eq!(x.len(), plan.unknowns * columns);
        for (front, &(at, first)) in plan.fronts.iter().zip(&self.starts) {
            let (p, rest) = (front.pivots, front.size - front.pivots);
            let (A, W) = self.factors[at..at + p * front.size].split_at(p * p);
            let (head, later) = x.split_at_mut((front.first + p) * columns);
            let own = &mut head[front.first * columns..];
            memory.clear();
            for &row in &self.rows[first..first + p] {
                memory.extend_from_slice(&own[row * columns..(row + 1) * columns]);
            }
            // z_later −= Wᵀ z; later unknowns stand after the pivots.
            for k in 0..p {
                let z = &own[k * columns..(k + 1) * columns];
                if z.iter().all(|z| *z == 0.0) {
                    continue;
                }
                let mut w = W[k * rest..(k + 1) * rest].iter();
                for &Run { unknown: from, count, .. } in plan.runs(front) {
                    let start = (from - front.first - p) * columns;
                    for to in later[start..start + count * columns].chunks_exact_mut(columns) {
                        let w = *w.next().expect("one per later unknown");
                        if w != 0.0 {
                            subtract(to, w, z);
                        }
                    }
                }
            }
            if at + p * front.size == self.factors.len() && !self.columns.is_empty() {
                // The last unit: what is left out is zero.
                let r = self.rank;
                for i in r..p {
                    memory[i * columns..(i + 1) * columns].fill(0.0);
                }
                substitute_within(A, p, r, memory, columns);
                for (i, &column) in self.columns.iter().enumerate() {
                    let x = &memory[i * columns..(i + 1) * columns];
                    own[column * columns..(column + 1) * columns].copy_from_slice(x);
                }
                continue;
            }
            substitute(A, p, memory, columns);
            own.copy_from_slice(memory);
        }
        for (front, &(at, _)) in plan.fronts.iter().zip(&self.starts).rev() {
            let (p, rest) = (front.pivots, front.size - front.pivots);
            let W = &self.factors[at + p * p..at + p * front.size];
            let (head, later) = x.split_at_mut((front.first + p) * columns);
            for (k, to) in head[front.first * columns..].chunks_exact_mut(columns).enumerate() {
                let mut w = W[k * rest..(k + 1) * rest].iter();
                for &Run { unknown: from, count, .. } in plan.runs(front) {
                    let start = (from - front.first - p) * columns;
                    for from in later[start..start + count * columns].chunks_exact(columns) {
                        let w = *w.next().expect("one per later unknown");
                        if w != 0.0 {
                            subtract(to, w, from);
                        }
                    }
                }
            }
        }
    }
}

/// PA = LU in place, rows[i] the row of A that is row i of LU. Returns a column without a pivot, if there is
/// one.
fn decompose(A: &mut [f64], p: usize, rows: &mut [usize]) -> Option<usize> {
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    for k in 0..p {
        let size = |i: &usize| A[i * p + k].abs();
        // The first of equals, so that a unit block stays a permutation.
        let best = (k + 1..p).fold(k, |best, i| if size(&i) > size(&best) { i } else { best });
        let pivot = A[best * p + k];
        if !pivot.is_finite() || pivot == 0.0 {
            return Some(rows[best]);
        }
        if best != k {
            rows.swap(best, k);
            let (above, below) = A.split_at_mut(best * p);
            above[k * p..(k + 1) * p].swap_with_slice(&mut below[..p]);
        }
        let (above, below) = A.split_at_mut((k + 1) * p);
        let row = &above[k * p..];
        for below in below.chunks_exact_mut(p) {
            if below[k] != 0.0 {
                below[k] /= pivot;
                let l = below[k];
                subtract(&mut below[k + 1..], l, &row[k + 1..]);
            }
        }
    }
    None
}

/// PAQ = LU in place with the largest entry that is left as the next pivot; returns how many there are above
/// the tolerance.
fn decompose_fully(
    A: &mut [f64],
    p: usize,
    rows: &mut [usize],
    columns: &mut [usize],
    tolerance: f64,
) -> usize {
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    columns.iter_mut().enumerate().for_each(|(i, column)| *column = i);
    let mut largest = 0.0f64;
    for k in 0..p {
        let mut best = (k, k);
        for i in k..p {
            for j in k..p {
                if A[i * p + j].abs() > A[best.0 * p + best.1].abs() {
                    best = (i, j);
                }
            }
        }
        let pivot = A[best.0 * p + best.1];
        largest = largest.max(pivot.abs());
        if !pivot.is_finite() || pivot.abs() <= tolerance * largest {
            return k;
        }
        if best.0 != k {
            rows.swap(best.0, k);
            let (above, below) = A.split_at_mut(best.0 * p);
            above[k * p..(k + 1) * p].swap_with_slice(&mut below[..p]);
        }
        if best.1 != k {
            columns.swap(best.1, k);
            (0..p).for_each(|i| A.swap(i * p + best.1, i * p + k));
        }
        let (above, below) = A.split_at_mut((k + 1) * p);
        let row = &above[k * p..];
        for below in below.chunks_exact_mut(p) {
            if below[k] != 0.0 {
                below[k] /= pivot;
                let l = below[k];
                subtract(&mut below[k + 1..], l, &row[k + 1..]);
            }
        }
    }
    p
}

/// Solves L U X = X for the columns of X, which stand side by side in rows already permuted.
#[inline(always)]
fn substitute(LU: &[f64], p: usize, X: &mut [f64], columns: usize) {
    substitute_within(LU, p, p, X, columns);
}

/// The same with the first pivots alone.
#[inline(always)]
fn substitute_within(LU: &[f64], p: usize, pivots: usize, X: &mut [f64], columns: usize) {
    if columns == 0 {
        return;
    }
    for i in 0..pivots {
        let (above, x) = X.split_at_mut(i * columns);
        for k in 0..i {
            let l = LU[i * p + k];
            if l != 0.0 {
                subtract(&mut x[..columns], l, &above[k * columns..(k + 1) * columns]);
            }
        }
    }
    for i in (0..pivots).rev() {
        let (x, below) = X.split_at_mut((i + 1) * columns);
        let x = &mut x[i * columns..];
        for k in i + 1..pivots {
            let u = LU[i * p + k];
            if u != 0.0 {
                subtract(x, u, &below[(k - i - 1) * columns..(k - i) * columns]);
            }
        }
        let inverse = 1.0 / LU[i * p + i];
        x.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// to −= factor · from.
#[inline(always)]
fn subtract(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to -= factor * from;
    }
}
