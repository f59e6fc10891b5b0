//! Motions that stay on the closures: θ(y) = θ_ref + Θ y + Φ s, with s such that loops and couplings are closed.
//!
//! ```text
//! s ← s − (CΦ)⁻¹c                       C and what is open, c, at the present pose: Newton's method, from where ṡ leads
//! T = Θ − Φ X,   X = (CΦ)⁻¹CΘ           how θ moves with y: what forces, momenta and masses are projected on
//! λ = (CΦ)⁻ᵀ Φᵀ τ                       forces along the rows, of torques τ on all freedoms
//! ```
//! Φ is the same at all poses, so that θ is a function of y alone and forces have an energy. Where CΦ has lost a direction (a
//! dead centre), (CΦ)⁻¹ is damped: nothing grows without bound, and what is left open is measured.

use super::basis::Basis;
use super::closures::{Evaluated, Group};
use super::model::Constants;
use super::placing::{Places, Reference, Turns};
use super::tree::Tree;
use crate::algebra::dense::{cholesky, lu};
use crate::algebra::wide::{dot, wide};
use nalgebra::DMatrix;

/// What may be left open, radii or rad, and how often it is closed at most.
pub(super) const CLOSED: f64 = 1e-10;
const ROUNDS: usize = 12;

/// The furthest that a round turns a joint, rad, or moves it, in radii.
const FURTHEST: f64 = 0.5;

/// Pivots of CΦ below this part of the largest: a dead centre. C₀Φ is 1.
const DEAD: f64 = 1e-7;

/// Damping of (CΦ)⁻¹ at a dead centre, of the largest entry of CΦ.
const DAMPING: f64 = 1e-4;

/// Where the closures are, at a pose; empty if there is none that is curved.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub s: Vec<f64>,
    /// θ_ref + Φ s.
    pub reference: Reference,
    pub at: Evaluated,
    /// The most that is open, radii or rad; 0 for flat closures.
    pub gap: f64,
    /// What may be left open.
    pub tolerance: f64,
    /// T, and S T of loop joints' coordinates.
    pub tangent: Basis,
    pub loop_rows: Vec<f64>,
    /// X, rows of `stride`.
    pub X: Vec<f64>,
    /// CΦ of each group, its factor, its pivots, and whether it is damped.
    matrices: Vec<f64>,
    factors: Vec<f64>,
    pivots: Vec<usize>,
    damped: Vec<bool>,
    scratch: Vec<f64>,
    /// Rates at the end of the last step: of the tree's freedoms and of loop joints.
    pub rolled: Vec<f64>,
    pub loop_rolled: Vec<f64>,
    /// Rates of loop joints' coordinates now.
    pub loop_rates: Vec<f64>,
    /// How a reference that moves moves θ and s in this step.
    pub drift: Reference,
    pub slip: Vec<f64>,
    /// Forces along the rows of the last step, and of the one being solved.
    pub lambda: Vec<f64>,
    sought: Vec<f64>,
}

impl Closed {
    pub fn new(model: &Constants) -> Closed {
        let (tree, closures) = (&model.tree, &model.closures);
        let some = |n: usize| if closures.curved { n } else { 0 };
        let stride = model.basis.stride;
        let squares: usize = closures.groups.iter().map(|g| g.rows * g.rows).sum();
        let most = closures.groups.iter().map(|g| g.rows * (g.rows + stride)).max().unwrap_or(0);
        let loops = closures.freedoms.len();
        let empty = || Reference { lanes: Vec::new(), all: Vec::new() };
        let mut at = if closures.curved { closures.memory() } else { Evaluated::default() };
        at.q.iter_mut().zip(&closures.freedoms).for_each(|(q, freedom)| *q = freedom.start);
        let tangent = if closures.curved {
            model.basis.clone()
        } else {
            Basis { count: 0, stride: 0, rows: Vec::new(), lanes: Vec::new() }
        };
        Closed {
            s: vec![0.0; some(closures.rows)],
            reference: if closures.curved { Reference::new(tree) } else { empty() },
            at,
            gap: 0.0,
            tolerance: CLOSED,
            tangent,
            loop_rows: vec![0.0; some(loops * stride)],
            X: vec![0.0; some(closures.rows * stride)],
            matrices: vec![0.0; some(squares)],
            factors: vec![0.0; some(squares)],
            pivots: vec![0; some(closures.rows)],
            damped: vec![false; some(closures.groups.len())],
            scratch: vec![0.0; some(most + closures.rows)],
            rolled: vec![0.0; some(tree.freedoms.len())],
            loop_rolled: vec![0.0; some(loops)],
            loop_rates: vec![0.0; some(loops)],
            drift: if closures.curved { Reference::new(tree) } else { empty() },
            slip: vec![0.0; some(closures.rows)],
            lambda: vec![0.0; some(closures.rows)],
            sought: vec![0.0; some(closures.rows)],
        }
    }

    /// Takes what another has that a pose is found from.
    pub fn copy_small(&mut self, other: &Closed) {
        self.s.copy_from_slice(&other.s);
        self.at.q.copy_from_slice(&other.at.q);
        self.lambda.copy_from_slice(&other.lambda);
    }

    /// Puts all links where y has them, closures closed, and finds T there.
    pub fn put(&mut self, model: &Constants, reference: &Reference, y: &[f64], places: &mut Places) {
        let (tree, closures) = (&model.tree, &model.closures);
        let mut last = f64::INFINITY;
        for round in 0..=ROUNDS {
            self.refer(model, reference);
            places.put(tree, &model.basis, &self.reference, y);
            closures.evaluate(tree, places, &mut self.at, false);
            self.factor(model);
            self.gap = self.open(model);
            let rounding = self.gap <= CLOSED && self.gap > 0.1 * last;
            if self.gap.is_nan() || self.gap <= self.tolerance || rounding || round == ROUNDS {
                break;
            }
            last = self.gap;
            self.close(model);
        }
        self.lean(model);
    }

    /// The most that is open.
    fn open(&self, model: &Constants) -> f64 {
        let groups = model.closures.groups.iter().filter(|g| !g.flat);
        let open = groups.flat_map(|g| &self.at.open[g.first..g.first + g.rows]);
        open.fold(0.0, |most: f64, x| if x.is_nan() { f64::NAN } else { most.max(x.abs()) })
    }

    /// θ_ref + Φ s.
    fn refer(&mut self, model: &Constants, from: &Reference) {
        let (tree, closures) = (&model.tree, &model.closures);
        self.reference.copy_from(from);
        for group in closures.groups.iter().filter(|g| !g.flat) {
            let s = &self.s[group.first..group.first + group.rows];
            for (i, row) in group.freedoms.iter().zip(group.corrections.chunks_exact(group.rows)) {
                self.reference.all[*i] += dot(row, s);
                set_lane(tree, &mut self.reference, *i);
            }
        }
    }

    /// One round of Newton's method.
    fn close(&mut self, model: &Constants) {
        let (tree, closures) = (&model.tree, &model.closures);
        let (mut most, mut at) = (0.0f64, 0);
        for (g, group) in closures.groups.iter().enumerate() {
            if !group.flat {
                let own = group.first..group.first + group.rows;
                self.slip[own.clone()].copy_from_slice(&self.at.open[own.clone()]);
                self.solve(group, g, at, own.start, 1);
                for (i, row) in group.freedoms.iter().zip(group.corrections.chunks_exact(group.rows)) {
                    let unit = if super::closures::slides(tree, *i) { tree.radius } else { 1.0 };
                    most = most.max(dot(row, &self.slip[own.clone()]).abs() / unit);
                }
            }
            at += group.rows * group.rows;
        }
        let part = if most > FURTHEST { FURTHEST / most } else { 1.0 };
        self.s.iter_mut().zip(&mut self.slip).for_each(|(s, x)| {
            *s -= part * *x;
            *x = 0.0;
        });
    }

    /// CΦ of all groups, and its factors.
    fn factor(&mut self, model: &Constants) {
        let closures = &model.closures;
        let mut at = 0;
        for (g, group) in closures.groups.iter().enumerate() {
            let m = group.rows;
            let own = at..at + m * m;
            at = own.end;
            if group.flat || m == 0 {
                continue;
            }
            let A = &mut self.matrices[own.clone()];
            A.fill(0.0);
            multiply(group, closures, &self.at.values, A);
            let LU = &mut self.factors[own.clone()];
            LU.copy_from_slice(A);
            let lost = lu::decompose(LU, m, &mut self.pivots[group.first..group.first + m]).is_some();
            let pivots = (0..m).map(|i| LU[i * m + i].abs());
            let (least, most) = pivots.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
            self.damped[g] = lost || least.is_nan() || least <= DEAD * most;
            if self.damped[g] {
                // A Aᵀ + δ²
                let delta = DAMPING * A.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                for i in 0..m {
                    for k in 0..m {
                        let damping = if i == k { delta * delta } else { 0.0 };
                        LU[i * m + k] = dot(&A[i * m..(i + 1) * m], &A[k * m..(k + 1) * m]) + damping;
                    }
                }
                cholesky::factor(LU, m);
            }
        }
    }

    /// (CΦ)⁻¹ of a group on as many columns of X (or, of one, of `slip`), from a row on.
    fn solve(&mut self, group: &Group, g: usize, at: usize, first: usize, columns: usize) {
        let m = group.rows;
        let (factor, A) = (&self.factors[at..at + m * m], &self.matrices[at..at + m * m]);
        let pivots = &self.pivots[group.first..group.first + m];
        let X = if columns == 1 {
            &mut self.slip[first..first + m]
        } else {
            &mut self.X[first * columns..(first + m) * columns]
        };
        let scratch = &mut self.scratch[..m * columns];
        if self.damped[g] {
            // Aᵀ(A Aᵀ + δ²)⁻¹
            let column = &mut scratch[..m];
            for k in 0..columns {
                (0..m).for_each(|i| column[i] = X[i * columns + k]);
                cholesky::solve(factor, m, column);
                for i in 0..m {
                    X[i * columns + k] = (0..m).map(|j| A[j * m + i] * column[j]).sum();
                }
            }
            return;
        }
        for (i, &row) in pivots.iter().enumerate() {
            scratch[i * columns..(i + 1) * columns].copy_from_slice(&X[row * columns..(row + 1) * columns]);
        }
        substitute(factor, m, scratch, columns);
        X.copy_from_slice(scratch);
    }

    /// (CΦ)⁻ᵀ of a group on its part of the λ sought.
    fn solve_transposed(&mut self, group: &Group, g: usize, at: usize) {
        let m = group.rows;
        let (factor, A) = (&self.factors[at..at + m * m], &self.matrices[at..at + m * m]);
        let x = &mut self.sought[group.first..group.first + m];
        let z = &mut self.scratch[..m];
        if self.damped[g] {
            // (A Aᵀ + δ²)⁻¹A
            (0..m).for_each(|i| z[i] = dot(&A[i * m..(i + 1) * m], x));
            cholesky::solve(factor, m, z);
            x.copy_from_slice(z);
            return;
        }
        // Uᵀ, then Lᵀ
        for i in 0..m {
            let sum: f64 = (0..i).map(|k| factor[k * m + i] * z[k]).sum();
            z[i] = (x[i] - sum) / factor[i * m + i];
        }
        for i in (0..m).rev() {
            let sum: f64 = (i + 1..m).map(|k| factor[k * m + i] * z[k]).sum();
            z[i] -= sum;
        }
        let pivots = &self.pivots[group.first..group.first + m];
        pivots.iter().zip(&*z).for_each(|(row, z)| x[*row] = *z);
    }

    /// X, T and S T where closures were last evaluated.
    fn lean(&mut self, model: &Constants) {
        let (tree, closures, basis) = (&model.tree, &model.closures, &model.basis);
        let stride = basis.stride;
        let mut at = 0;
        for (g, group) in closures.groups.iter().enumerate() {
            let m = group.rows;
            if !group.flat && m > 0 {
                let own = group.first * stride..(group.first + m) * stride;
                self.X[own.clone()].fill(0.0);
                for &c in &group.closures {
                    let closure = &closures.all[c];
                    let rows = closure.first * stride..(closure.first + closure.rows) * stride;
                    let values = &self.at.values[closure.at..];
                    spread_rows(values, &closure.path, basis, &mut self.X[rows]);
                }
                self.solve(group, g, at, group.first, stride);
                turn_basis(group, basis, &self.X[own], tree, &mut self.tangent);
            }
            at += m * m;
        }
        for joint in &closures.joints {
            let d = joint.kind.freedoms();
            let rows = &mut self.loop_rows[joint.first * stride..(joint.first + d) * stride];
            rows.fill(0.0);
            for (row, S) in rows
                .chunks_exact_mut(stride.max(1))
                .zip(self.at.loops[joint.at..].chunks_exact(joint.path.len().max(1)))
            {
                for ((i, _), S) in joint.path.iter().zip(S) {
                    row.iter_mut().zip(self.tangent.row(*i)).for_each(|(to, t)| *to += S * t);
                }
            }
        }
    }

    /// Rates of loop joints' coordinates, from those of all freedoms.
    pub fn spin_loops(&mut self, model: &Constants, now: &Turns) {
        for (l, freedom) in model.closures.freedoms.iter().enumerate() {
            let joint = &model.closures.joints[freedom.joint];
            let S = &self.at.loops[joint.at + freedom.own * joint.path.len()..];
            let along = joint.path.iter().zip(S).map(|((i, _), S)| S * now.rate(&model.tree, *i));
            self.loop_rates[l] = along.sum();
        }
    }

    /// How a reference that moves so moves θ and s: d − Φ(CΦ)⁻¹C d.
    pub fn lead(&mut self, model: &Constants, drift: &Reference) {
        let (tree, closures) = (&model.tree, &model.closures);
        self.drift.copy_from(drift);
        let mut at = 0;
        for (g, group) in closures.groups.iter().enumerate() {
            let m = group.rows;
            if !group.flat && m > 0 {
                for &c in &group.closures {
                    let closure = &closures.all[c];
                    let width = closure.path.len();
                    for r in 0..closure.rows {
                        let values = &self.at.values[closure.at + r * width..][..width];
                        let sum = values.iter().zip(&closure.path).map(|(c, i)| c * drift.all[*i]);
                        self.slip[closure.first + r] = sum.sum();
                    }
                }
                self.solve(group, g, at, group.first, 1);
                let slip = &self.slip[group.first..group.first + m];
                for (i, row) in group.freedoms.iter().zip(group.corrections.chunks_exact(m)) {
                    self.drift.all[*i] -= dot(row, slip);
                    set_lane(tree, &mut self.drift, *i);
                }
            }
            at += m * m;
        }
    }

    /// Where s is after h seconds with rates of the motions, and the forces of that step.
    pub fn predict(&mut self, from: &Closed, rates: &[f64], h: f64) {
        self.lambda.copy_from_slice(&from.sought);
        let stride = from.tangent.stride;
        for (j, s) in self.s.iter_mut().enumerate() {
            *s = from.s[j] - h * (dot(&from.X[j * stride..j * stride + rates.len()], rates) + from.slip[j]);
        }
    }

    /// Finds forces along the rows that balance torques on all freedoms, for the end of this step.
    pub fn balance(&mut self, model: &Constants, torques: impl Fn(usize) -> f64) {
        let closures = &model.closures;
        let mut at = 0;
        for (g, group) in closures.groups.iter().enumerate() {
            let m = group.rows;
            if !group.flat && m > 0 {
                let own = group.first..group.first + m;
                self.sought[own.clone()].fill(0.0);
                for (i, row) in group.freedoms.iter().zip(group.corrections.chunks_exact(m)) {
                    let tau = torques(*i);
                    self.sought[own.clone()].iter_mut().zip(row).for_each(|(to, phi)| *to += phi * tau);
                }
                self.solve_transposed(group, g, at);
            }
            at += m * m;
        }
    }
}

fn set_lane(tree: &Tree, reference: &mut Reference, freedom: usize) {
    let n = tree.freedoms[freedom].link;
    if tree.joints[n / 4].freedom[n % 4] == freedom {
        reference.lanes[n / 4][n % 4] = reference.all[freedom];
    }
}

/// Basis with the rank that a matrix has on the closures' motions: columns P x, those that others have left out.
pub(super) fn on_closures(
    closures: &super::closures::Closures,
    tree: &Tree,
    motions: &DMatrix<f64>,
) -> DMatrix<f64> {
    let joints: Vec<usize> =
        (0..tree.freedoms.len()).filter(|i| tree.freedoms[*i].coordinate.is_some()).collect();
    let mut kept: Vec<nalgebra::DVector<f64>> = Vec::new();
    let mut orthonormal: Vec<nalgebra::DVector<f64>> = Vec::new();
    for column in motions.column_iter() {
        let mut x = vec![0.0; tree.freedoms.len()];
        joints.iter().zip(column.iter()).for_each(|(i, c)| x[*i] = *c);
        closures.project(&mut x);
        let own = nalgebra::DVector::from_iterator(joints.len(), joints.iter().map(|i| x[*i]));
        let (size, mut left) = (column.norm(), own.clone());
        for _ in 0..2 {
            for there in &orthonormal {
                let along = there.dot(&left);
                left.axpy(-along, there, 1.0);
            }
        }
        if left.norm() > 1e-8 * size {
            orthonormal.push(left.normalize());
            kept.push(own);
        }
    }
    DMatrix::from_fn(joints.len(), kept.len(), |i, k| kept[k][i])
}

wide! {
    /// CΦ of a group.
    fn multiply, multiply_lanes(group: &Group, closures: &super::closures::Closures, values: &[f64], A: &mut [f64])
}

#[inline(always)]
fn multiply_lanes<const FUSED: bool>(
    group: &Group,
    closures: &super::closures::Closures,
    values: &[f64],
    A: &mut [f64],
) {
    let m = group.rows;
    for &c in &group.closures {
        let closure = &closures.all[c];
        let width = closure.path.len();
        for r in 0..closure.rows {
            let to = (closure.first - group.first + r) * m;
            let to = &mut A[to..to + m];
            let row = &values[closure.at + r * width..][..width];
            for (value, &f) in row.iter().zip(&closure.in_group) {
                let phi = &group.corrections[f * m..(f + 1) * m];
                to.iter_mut().zip(phi).for_each(|(to, phi)| *to += value * phi);
            }
        }
    }
}

wide! {
    /// Rows C Θ of a closure.
    fn spread_rows, spread_rows_lanes(values: &[f64], path: &[usize], basis: &Basis, X: &mut [f64])
}

#[inline(always)]
fn spread_rows_lanes<const FUSED: bool>(values: &[f64], path: &[usize], basis: &Basis, X: &mut [f64]) {
    for (row, values) in X.chunks_exact_mut(basis.stride.max(1)).zip(values.chunks_exact(path.len().max(1))) {
        for (value, i) in values.iter().zip(path) {
            row.iter_mut().zip(basis.row(*i)).for_each(|(to, theta)| *to += value * theta);
        }
    }
}

wide! {
    /// L U X = X.
    fn substitute, substitute_lanes(LU: &[f64], m: usize, X: &mut [f64], columns: usize)
}

#[inline(always)]
fn substitute_lanes<const FUSED: bool>(LU: &[f64], m: usize, X: &mut [f64], columns: usize) {
    lu::substitute(LU, m, m, X, columns);
}

wide! {
    /// T = Θ − Φ X on the freedoms of a group.
    fn turn_basis, turn_basis_lanes(group: &Group, basis: &Basis, X: &[f64], tree: &Tree, tangent: &mut Basis)
}

#[inline(always)]
fn turn_basis_lanes<const FUSED: bool>(
    group: &Group,
    basis: &Basis,
    X: &[f64],
    tree: &Tree,
    tangent: &mut Basis,
) {
    let stride = basis.stride;
    for (&i, phi) in group.freedoms.iter().zip(group.corrections.chunks_exact(group.rows)) {
        let to = &mut tangent.rows[i * stride..(i + 1) * stride];
        to.copy_from_slice(basis.row(i));
        for (phi, row) in phi.iter().zip(X.chunks_exact(stride.max(1))).filter(|(phi, _)| **phi != 0.0) {
            to.iter_mut().zip(row).for_each(|(to, x)| *to -= phi * x);
        }
        let n = tree.freedoms[i].link;
        if tree.joints[n / 4].freedom[n % 4] == i {
            let lanes = &mut tangent.lanes[n / 4 * basis.count..(n / 4 + 1) * basis.count];
            lanes.iter_mut().zip(&*to).for_each(|(lane, x)| lane[n % 4] = *x);
        }
    }
}
