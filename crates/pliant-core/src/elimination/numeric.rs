//! Factor and solve, in memory that is made once.

use super::kernel;
use super::symbolic::{Front, LANES, Symbolic};

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
}

/// The memory of an elimination: factors, updates on their way, one front.
#[derive(Clone, Debug)]
pub struct Numeric {
    /// Row k of each front in turn: 1/d_k, then l_kj for the later unknowns of the front.
    factors: Vec<f64>,
    /// Updates on their way to the front they go to.
    stack: Vec<f64>,
    front: Vec<f64>,
    /// The unknowns of one front.
    near: Vec<f64>,
    negative: usize,
    fused: bool,
}

impl Numeric {
    /// Memory for a plan.
    pub fn new(plan: &Symbolic) -> Numeric {
        Numeric {
            factors: vec![0.0; plan.factors],
            stack: vec![0.0; plan.stack],
            front: vec![0.0; plan.largest],
            near: vec![0.0; plan.fronts.iter().map(|f| f.size).max().unwrap_or(0)],
            negative: 0,
            fused: has_fused_lanes(),
        }
    }

    /// Factors the matrix that `assemble` adds up, front by front, and solves for its right-hand side.
    pub fn factor_and_solve(
        &mut self,
        plan: &Symbolic,
        solution: &mut [f64],
        assemble: impl Assemble,
    ) -> Result<(), ZeroPivot> {
        debug_assert_eq!(solution.len(), plan.unknowns);
        #[cfg(target_arch = "x86_64")]
        if self.fused {
            #[allow(unsafe_code)]
            // SAFETY: `fused` is set only after avx2 and fma were found on this machine.
            return unsafe { self.factor_and_solve_avx2(plan, solution, assemble) };
        }
        self.factor_and_solve_lanes::<false>(plan, solution, assemble)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn factor_and_solve_avx2(
        &mut self,
        plan: &Symbolic,
        solution: &mut [f64],
        assemble: impl Assemble,
    ) -> Result<(), ZeroPivot> {
        self.factor_and_solve_lanes::<true>(plan, solution, assemble)
    }

    #[inline(always)]
    fn factor_and_solve_lanes<const FUSED: bool>(
        &mut self,
        plan: &Symbolic,
        solution: &mut [f64],
        assemble: impl Assemble,
    ) -> Result<(), ZeroPivot> {
        self.negative = 0;
        for (f, front) in plan.fronts.iter().enumerate() {
            let (size, stride, pivots) = (front.size, front.stride, front.pivots);
            let F = &mut self.front[..size * stride];
            for (i, row) in F.chunks_exact_mut(stride).enumerate() {
                row[i / LANES * LANES..].fill(0.0);
            }
            assemble.add_front(f, F, stride, size);
            for &child in &front.children {
                take_update(F, stride, size, &plan.fronts[child], &self.stack);
            }
            if let Some(k) = kernel::eliminate::<FUSED>(F, size, stride, pivots) {
                return Err(ZeroPivot { unknown: front.first + k });
            }
            // Keep 1/d, l and y of the pivots, and leave the rest to a later front.
            let mut at = front.rows;
            for k in 0..pivots {
                self.factors[at..at + size - k].copy_from_slice(&F[k * stride + k..k * stride + size]);
                at += size - k;
                self.negative += usize::from(F[k * stride + k] < 0.0);
                solution[front.first + k] = F[k * stride + size];
            }
            let rest = size - pivots;
            let update = &mut self.stack[front.update..front.update + rest * (rest + 1)];
            for (i, row) in update.chunks_exact_mut(rest + 1).enumerate() {
                let from = (pivots + i) * stride + pivots;
                row[i..].copy_from_slice(&F[from + i..from + rest + 1]);
            }
        }
        let mut near = std::mem::take(&mut self.near);
        self.substitute_back::<FUSED>(plan, &mut near, solution);
        self.near = near;
        Ok(())
    }

    /// How many pivots of the last factorisation were negative: by Sylvester's law of inertia, how
    /// many negative eigenvalues the matrix has.
    pub fn negative_pivots(&self) -> usize {
        self.negative
    }

    /// Solves for another right-hand side with the factors at hand, in place.
    pub fn solve(&mut self, plan: &Symbolic, x: &mut [f64]) {
        debug_assert_eq!(x.len(), plan.unknowns);
        for front in &plan.fronts {
            let mut at = front.rows;
            for k in 0..front.pivots {
                let row = &self.factors[at..at + front.size - k];
                let z = x[front.first + k];
                let own = front.pivots - k;
                for j in 1..own {
                    x[front.first + k + j] -= row[j] * z;
                }
                let mut j = own;
                for &(first, count) in &front.later {
                    for i in first..first + count {
                        x[i] -= row[j] * z;
                        j += 1;
                    }
                }
                x[front.first + k] = z * row[0];
                at += front.size - k;
            }
        }
        let mut near = std::mem::take(&mut self.near);
        self.substitute_back::<false>(plan, &mut near, x);
        self.near = near;
    }

    /// x_k = y_k − Σ_j l_kj x_j, last front first. `near` is scratch for the unknowns of one front.
    #[inline(always)]
    fn substitute_back<const FUSED: bool>(&self, plan: &Symbolic, near: &mut [f64], x: &mut [f64]) {
        for front in plan.fronts.iter().rev() {
            let near = &mut near[..front.size];
            near[..front.pivots].copy_from_slice(&x[front.first..front.first + front.pivots]);
            let mut j = front.pivots;
            for &(first, count) in &front.later {
                near[j..j + count].copy_from_slice(&x[first..first + count]);
                j += count;
            }
            // What later unknowns take, pivot by pivot, then what pivots take from those before them, column
            // by column: no operation of an inner loop waits for another.
            let (own, later) = near.split_at_mut(front.pivots);
            let mut at = front.rows;
            for (k, x) in own.iter_mut().enumerate() {
                *x -= kernel::dot::<FUSED>(&self.factors[at + front.pivots - k..at + front.size - k], later);
                at += front.size - k;
            }
            for j in (1..front.pivots).rev() {
                let (before, rest) = own.split_at_mut(j);
                let mut at = front.rows + j;
                for (k, x) in before.iter_mut().enumerate() {
                    *x = kernel::fma::<FUSED>(-self.factors[at], rest[0], *x);
                    at += front.size - k - 1;
                }
            }
            x[front.first..front.first + front.pivots].copy_from_slice(&near[..front.pivots]);
        }
    }
}

/// Adds the update of an earlier front.
#[inline(always)]
fn take_update(F: &mut [f64], stride: usize, size: usize, child: &Front, stack: &[f64]) {
    let rest = child.size - child.pivots;
    let update = &stack[child.update..child.update + rest * (rest + 1)];
    // Later nodes stand in the order of the solution in every front, so what is above the diagonal
    // here is above it there.
    for (r, &(at_i, to_i, count_i)) in child.runs.iter().enumerate() {
        for i in 0..count_i {
            let row = &update[(at_i - child.pivots + i) * (rest + 1)..][..rest + 1];
            let to = &mut F[(to_i + i) * stride..][..stride];
            add(&mut to[to_i + i..to_i + count_i], &row[at_i - child.pivots + i..]);
            for &(at_j, to_j, count_j) in &child.runs[r + 1..] {
                add(&mut to[to_j..to_j + count_j], &row[at_j - child.pivots..]);
            }
            to[size] += row[rest];
        }
    }
}

#[inline(always)]
fn add(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Whether four-wide fused multiply-add is there.
fn has_fused_lanes() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}
