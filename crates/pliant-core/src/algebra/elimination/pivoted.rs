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
use crate::algebra::dense::lu::{decompose, decompose_fully, substitute, subtract};

/// The factors of one matrix, for any number of right-hand sides.
#[derive(Clone, Debug)]
pub struct Pivoted {
    /// Of each front in turn: L and U of its pivots, then W.
    factors: Vec<f64>,
    /// Which row of A comes next, front by front.
    rows: Vec<usize>,
    /// Of the last unit: which unknown comes next, and how many pivots it has.
    columns: Option<Vec<usize>>,
    rank: usize,
    /// Where each front's factors and rows start.
    starts: Vec<(usize, usize)>,
}

impl Pivoted {
    /// Factors the matrix that `assemble` adds up. With `singular`, pivots of its last unit below this part of the largest
    /// are left out.
    pub fn factor(
        plan: &Symbolic,
        assemble: impl Assemble,
        singular: Option<f64>,
    ) -> Result<Pivoted, ZeroPivot> {
        let mut out = Pivoted::eliminate(plan, assemble, singular.is_some())?;
        if let (Some(singular), Some(&(at, first))) = (singular, out.starts.last()) {
            let A = &mut out.factors[at..];
            let p = plan.fronts[plan.fronts.len() - 1].pivots;
            let mut columns = vec![0; p];
            out.rank =
                decompose_fully(&mut A[..p * p], p, &mut out.rows[first..][..p], &mut columns, singular);
            out.columns = Some(columns);
        }
        Ok(out)
    }

    /// All units; or all but the last, whose block is left where its factors would be.
    fn eliminate(plan: &Symbolic, assemble: impl Assemble, but_last: bool) -> Result<Pivoted, ZeroPivot> {
        let (mut numbers, mut pivots) = (0, 0);
        let mut starts = Vec::with_capacity(plan.fronts.len());
        for front in &plan.fronts {
            starts.push((numbers, pivots));
            numbers += front.pivots * front.size;
            pivots += front.pivots;
        }
        let (factors, rows) = (vec![0.0; numbers], vec![0; pivots]);
        let mut out = Pivoted { factors, rows, columns: None, rank: 0, starts };
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
            if but_last && f + 1 == plan.fronts.len() {
                break;
            }
            if let Some(k) = decompose(A, p, rows) {
                return Err(ZeroPivot { unknown: front.first + k });
            }
            for (i, &row) in rows.iter().enumerate() {
                W[i * rest..(i + 1) * rest].copy_from_slice(&F[row * stride + p..row * stride + size]);
            }
            substitute(A, p, p, W, rest);
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
    /// takes the pivots of one front, twice.
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
            if let Some(order) = self.columns.as_ref().filter(|_| at + p * front.size == self.factors.len()) {
                self.solve_last(A, &self.rows[first..], order, own, columns, memory);
                continue;
            }
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
            substitute(A, p, p, memory, columns);
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

    /// The last unit, singular: what is left out is zero.
    fn solve_last(
        &self,
        A: &[f64],
        rows: &[usize],
        order: &[usize],
        x: &mut [f64],
        columns: usize,
        memory: &mut Vec<f64>,
    ) {
        let (p, rank) = (order.len(), self.rank);
        memory.clear();
        memory.resize(p * columns, 0.0);
        let permuted = &mut memory[..];
        for (&row, to) in rows[..rank].iter().zip(permuted.chunks_exact_mut(columns)) {
            to.copy_from_slice(&x[row * columns..(row + 1) * columns]);
        }
        substitute(A, p, rank, permuted, columns);
        for (&column, from) in order.iter().zip(permuted.chunks_exact(columns)) {
            x[column * columns..(column + 1) * columns].copy_from_slice(from);
        }
    }
}
