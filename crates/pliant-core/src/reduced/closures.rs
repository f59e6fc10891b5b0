//! Which closures of loops say something of their own.
//!
//! Two closures that repeat each other but for the digits of a file, say hinges of a planar linkage whose axes
//! are parallel to 1e-5, would hold a motion that the mechanism has, with forces that no number can carry. They
//! are told by geometry alone: with all springs alike the last block of the statics is the Gram matrix AAᵀ of the
//! closures' Jacobian A by all coordinates, in radii. Directions in which A is below [`PARALLEL`] are left out:
//! their gap, up to that part of a motion, stays open.

use nalgebra::{DMatrix, Matrix6, SymmetricEigen};

use super::reference::Reference;
use super::softness::Softness;
use super::system::System;
use crate::linear::dense::pivoted_cholesky;
use crate::linear::elimination::{Ordering, Pivoted, Symbolic};

/// Closures that differ by less, in radii or radians of all coordinates, are the same: more than a file rounds,
/// less than a mechanism means.
const PARALLEL: f64 = 1e-4;

/// Closures that differ by less are the same to the last digits, and no harm.
const IDENTICAL: f64 = 3e-7;

/// Whether some closures repeat others nearly, but not to the last digits.
pub(super) fn are_nearly_redundant(reference: &Reference) -> bool {
    let Some((_, _, G)) = gram(reference) else { return false };
    // The largest pivot first: the pivots fall with the eigenvalues.
    let n = G.nrows();
    let (mut L, mut left, mut pivots) = (vec![0.0; n * n], vec![0.0; n], vec![0; n]);
    let largest = G.diagonal().iter().fold(0.0, |most: f64, x| most.max(*x));
    if largest < PARALLEL * PARALLEL {
        return largest > IDENTICAL * IDENTICAL;
    }
    let least = PARALLEL * PARALLEL / largest;
    let rank = pivoted_cholesky::factor::<false>(G.as_slice(), n, least, &mut L, &mut left, &mut pivots);
    rank < n && left.iter().fold(0.0, |most: f64, x| most.max(*x)) > IDENTICAL * IDENTICAL
}

/// What the unknowns of the last unit are bound to: wrenches and multipliers along independent closures, and
/// passive coordinates as they are.
pub(super) fn independent(reference: &Reference, system: &System, plan: &Symbolic) -> Option<DMatrix<f64>> {
    let (closures, own, G) = gram(reference)?;
    let count = G.nrows();
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::try_new(G, f64::EPSILON, 10_000)?;
    let kept: Vec<usize> = (0..count).filter(|&i| eigenvalues[i] > PARALLEL * PARALLEL).collect();

    // From the last unit of these closures to the last unit of the system.
    let size = system.closing();
    let (first, own_first) = (plan.unknowns() - size, own.unknowns() - count);
    let mut place = vec![0; count];
    let mut is_closure = vec![false; size];
    let wrenches = system.joints.iter().zip(&closures.joints).map(|(s, c)| (s.wrench, c.wrench, 6));
    let multipliers = system.couplings.iter().zip(&closures.couplings).map(|(s, c)| (*s, *c, 1));
    for (to, from, rows) in wrenches.chain(multipliers).filter(|(to, ..)| *to >= first) {
        for i in 0..rows {
            place[from + i - own_first] = to + i - first;
            is_closure[to + i - first] = true;
        }
    }
    let others: Vec<usize> = (0..size).filter(|&i| !is_closure[i]).collect();
    let mut T = DMatrix::zeros(size, kept.len() + others.len());
    for (column, &k) in kept.iter().enumerate() {
        (0..count).for_each(|i| T[(place[i], column)] = eigenvectors[(i, k)]);
    }
    others.iter().enumerate().for_each(|(i, &row)| T[(row, kept.len() + i)] = 1.0);
    Some(T)
}

/// AAᵀ with its system and plan; `None` if there are no closures.
fn gram(reference: &Reference) -> Option<(System, Symbolic, DMatrix<f64>)> {
    let mut alike = reference.clone();
    alike.geometric.clear();
    let compliance = |joint: &super::reference::Joint, k: usize| match k {
        k if k >= joint.freedoms() => 0.0,
        k if k < joint.kind.translations() => reference.radius * reference.radius,
        _ => 1.0,
    };
    let softness: Vec<Softness> = (alike.joints.iter())
        .map(|joint| Softness {
            compliance: Matrix6::from_fn(|i, k| if i == k { compliance(joint, k) } else { 0.0 }),
            passive: [false; 6],
        })
        .collect();
    let mut closures = System::new(&alike, &softness);
    if closures.closing() == 0 {
        return None; // only coordinates that nothing holds
    }
    closures.join_closings();
    let plan = Symbolic::new(&closures.graph, Ordering::AsGiven);
    closures.number(&plan);
    let block = Pivoted::last_block(&plan, &closures.matrix.placed(&plan)).ok()?;
    Some((closures, plan, -block))
}
