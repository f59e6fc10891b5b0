//! Factor and solve, in memory that is made once.

use super::joint_front::{self, Carry, Shape};
use super::kernel;
use super::symbolic::{Front, LANES, Run, Symbolic, update_size, update_width};
use crate::algebra::lanes::fma;
use crate::algebra::wide::wide;

/// A pivot was zero or not finite: the matrix is singular there, or an entry was not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pivot {unknown} is zero or not finite")]
pub struct ZeroPivot {
    /// Position of the pivot among the unknowns.
    pub unknown: usize,
}

/// What fills the fronts. A trait and not a closure, so that it can be compiled into the vector code.
pub trait Assemble {
    /// Adds the blocks of the elements placed in front f to the upper triangle of the row-major
    /// matrix, whose rows are `stride` long, and their right-hand side to column `size`.
    fn add_front(&self, f: usize, front: &mut [f64], stride: usize, size: usize);

    /// Whether the unit of front f is a body and the rows of the joint by which it hangs on a later one or on
    /// nothing, so that [`Numeric::carry_and_solve`] can use [`Assemble::add_carried`].
    #[inline(always)]
    fn is_carried(&self, _f: usize) -> bool {
        false
    }

    /// As [`Assemble::add_front`], but the rows of the unit's joint are given by their inverse. Sets every part of
    /// `carry` that counts.
    #[inline(always)]
    fn add_carried(&self, f: usize, front: &mut [f64], stride: usize, size: usize, _carry: &mut Carry) {
        self.add_front(f, front, stride, size);
    }
}

/// The memory of an elimination: factors, updates on their way, one front.
#[derive(Clone, Debug)]
pub struct Numeric {
    /// The rows of each front in turn, as the kernel writes them: 1/d_k, l_kj, y_k.
    factors: Vec<[f64; LANES]>,
    /// Updates on their way to the front they go to.
    stack: Vec<[f64; LANES]>,
    front: Vec<f64>,
    /// The unknowns of one front.
    near: Vec<[f64; LANES]>,
    negative: usize,
    /// Which fronts were carried in the last factorisation; one of them, and its elimination's memory.
    carried: Vec<bool>,
    carry: Carry,
    scratch: Vec<[f64; LANES]>,
}

impl Numeric {
    /// Memory for a plan.
    pub fn new(plan: &Symbolic) -> Numeric {
        let widest = plan.fronts.iter().map(|f| f.stride / LANES).max().unwrap_or(0);
        Numeric {
            factors: vec![[0.0; LANES]; plan.factors],
            stack: vec![[0.0; LANES]; plan.stack],
            front: vec![0.0; plan.largest + LANES],
            near: vec![[0.0; LANES]; widest],
            negative: 0,
            carried: vec![false; plan.fronts.len()],
            carry: Carry::default(),
            scratch: vec![[0.0; LANES]; joint_front::scratch(widest)],
        }
    }

    wide! {
        /// Factors the matrix that `assemble` adds up, front by front, and solves for its right-hand side.
        pub fn factor_and_solve, factor_and_solve_lanes<false>(
            &mut self: Numeric, plan: &Symbolic, solution: &mut [f64], assemble: impl Assemble
        ) -> Result<(), ZeroPivot>
    }

    wide! {
        /// As [`Numeric::factor_and_solve`], faster, with those fronts carried that `assemble` says can be. The factors
        /// are for this one right-hand side.
        pub fn carry_and_solve, factor_and_solve_lanes<true>(
            &mut self: Numeric, plan: &Symbolic, solution: &mut [f64], assemble: impl Assemble
        ) -> Result<(), ZeroPivot>
    }

    #[inline(always)]
    fn factor_and_solve_lanes<const FUSED: bool, const CARRY: bool>(
        &mut self,
        plan: &Symbolic,
        solution: &mut [f64],
        assemble: impl Assemble,
    ) -> Result<(), ZeroPivot> {
        debug_assert_eq!(solution.len(), plan.unknowns);
        self.negative = 0;
        for (f, front) in plan.fronts.iter().enumerate() {
            let (size, stride, pivots) = (front.size, front.stride, front.pivots);
            let carried = CARRY && assemble.is_carried(f);
            self.carried[f] = carried;
            // One more vector, for lanes that reach beyond the last row.
            let F = &mut self.front[..size * stride + LANES];
            if carried {
                // Rows of the joint are not there.
                F[..6 * stride].fill(0.0);
                F[pivots * stride..].fill(0.0);
            } else {
                F.fill(0.0);
            }
            if carried {
                assemble.add_carried(f, F, stride, size, &mut self.carry);
            } else {
                assemble.add_front(f, F, stride, size);
            }
            for &child in plan.children(front) {
                take_update(F, stride, size, plan, &plan.fronts[child], &self.stack);
            }
            let rows = &mut self.factors[front.rows..][..kernel::row_start(pivots, stride / LANES)];
            let width = update_width(front);
            let eliminated = if carried {
                let shape = Shape { size, stride, pivots, width };
                joint_front::eliminate::<FUSED>(F, shape, &self.carry, &mut self.scratch, rows)
            } else {
                kernel::eliminate::<FUSED>(F, size, stride, pivots, rows)
            };
            match eliminated {
                Ok(negative) => self.negative += negative,
                Err(k) => return Err(ZeroPivot { unknown: front.first + k }),
            }
            let update = &mut self.stack[front.update..front.update + update_size(front)];
            for (i, row) in update.chunks_exact_mut(width).enumerate() {
                let from = F[(pivots + i) * stride + pivots..].as_chunks::<LANES>().0;
                for (to, from) in row.iter_mut().zip(from).skip(i / LANES) {
                    *to = *from;
                }
            }
        }
        self.substitute_back::<FUSED>(plan, solution);
        Ok(())
    }

    /// How many pivots of the last factorisation were negative: by Sylvester's law of inertia, how
    /// many negative eigenvalues the matrix has.
    pub fn negative_pivots(&self) -> usize {
        self.negative
    }

    /// Solves for another right-hand side with the factors at hand, in place. The factors keep the last
    /// right-hand side only.
    ///
    /// # Panics
    /// If the factors are those of [`Numeric::carry_and_solve`].
    pub fn solve(&mut self, plan: &Symbolic, x: &mut [f64]) {
        debug_assert_eq!(x.len(), plan.unknowns);
        assert!(!self.carried.contains(&true), "factors of carried fronts solve once");
        for front in &plan.fronts {
            let width = front.stride / LANES;
            let own = front.first..front.first + front.pivots;
            for k in 0..front.pivots {
                let row = self.factors[front.rows + kernel::row_start(k, width)..][..width - k / LANES]
                    .as_flattened_mut();
                let row = &mut row[k % LANES..]; // from the diagonal on
                let z = x[front.first + k];
                let unknowns = own
                    .clone()
                    .skip(k + 1)
                    .chain(plan.runs(front).iter().flat_map(|run| run.unknown..run.unknown + run.count));
                for (i, l) in unknowns.zip(&row[1..]) {
                    x[i] -= l * z;
                }
                row[front.size - k] = z * row[0];
            }
        }
        self.substitute_back::<false>(plan, x);
    }

    /// x_k = y_k − Σ_j l_kj x_j, last front first.
    #[inline(always)]
    fn substitute_back<const FUSED: bool>(&mut self, plan: &Symbolic, x: &mut [f64]) {
        for (front, carried) in plan.fronts.iter().zip(&self.carried).rev() {
            let (width, pivots) = (front.stride / LANES, front.pivots);
            if *carried {
                // Pivots depend on later unknowns alone.
                let width = update_width(front);
                let near = &mut self.near[..width];
                gather(near, plan.runs(front), 0, x);
                let rows = self.factors[front.rows..].chunks_exact(width);
                for (x, row) in x[front.first..front.first + pivots].iter_mut().zip(rows) {
                    *x = -kernel::dot::<FUSED>(row, near);
                }
                continue;
            }
            let first = pivots / LANES;
            let near = &mut self.near[..width];
            gather(&mut near[first..], plan.runs(front), pivots % LANES, x);
            // What later unknowns take, pivot by pivot, then what pivots take from those before them, column
            // by column: no operation of an inner loop waits for another.
            let rows = &self.factors[front.rows..];
            let own = &mut x[front.first..front.first + pivots];
            let mut start = 0;
            for (k, x) in own.iter_mut().enumerate() {
                let row = &rows[start + first - k / LANES..][..width - first];
                *x = -kernel::dot::<FUSED>(row, &near[first..]);
                start += width - k / LANES;
            }
            let rows = rows.as_flattened();
            for j in (1..pivots).rev() {
                let (before, rest) = own.split_at_mut(j);
                // Column j of row 0; the next row starts where this one ends, and every fourth a lane later.
                let mut at = j;
                for (k, x) in before.iter_mut().enumerate() {
                    *x = fma::<FUSED>(-rows[at], rest[0], *x);
                    at += (width - k / LANES) * LANES - if k % LANES == LANES - 1 { LANES } else { 0 };
                }
            }
        }
    }
}

/// The later unknowns of a front from a place on, then −1 for y; zero for all else.
#[inline(always)]
fn gather(near: &mut [[f64; LANES]], runs: &[Run], start: usize, x: &[f64]) {
    near.fill([0.0; LANES]);
    let flat = near.as_flattened_mut();
    let mut j = start;
    for run in runs {
        for i in run.unknown..run.unknown + run.count {
            flat[j] = x[i];
            j += 1;
        }
    }
    flat[j] = -1.0;
}

/// Adds the update of an earlier front. Rows of a run are added whole: what that does below the diagonal is never
/// read.
#[inline(always)]
pub(super) fn take_update(
    F: &mut [f64],
    stride: usize,
    size: usize,
    plan: &Symbolic,
    child: &Front,
    stack: &[[f64; LANES]],
) {
    let (rest, width) = (child.size - child.pivots, update_width(child));
    let update = &stack[child.update..child.update + update_size(child)];
    // Later nodes stand in the order of the solution in every front, so what is above the diagonal
    // here is above it there.
    let runs = plan.runs(child);
    for (r, run) in runs.iter().enumerate() {
        for i in 0..run.count {
            let row = update[(run.at - child.pivots + i) * width..][..width].as_flattened();
            let to = &mut F[(run.to + i) * stride..][..stride];
            for run in &runs[r..] {
                add(&mut to[run.to..run.to + run.count], &row[run.at - child.pivots..]);
            }
            to[size] += row[rest];
        }
    }
}

#[inline(always)]
fn add(to: &mut [f64], from: &[f64]) {
    if let (Ok(to), Some(from)) = (<&mut [f64; 6]>::try_from(&mut *to), from.first_chunk::<6>()) {
        for i in 0..6 {
            to[i] += from[i]; // a body
        }
    } else {
        for (to, from) in to.iter_mut().zip(from) {
            *to += from;
        }
    }
}
