//! The motions of a segment among others: the softest directions of its compliance, whatever axes they are told in.
//!
//! With Q orthonormal that spans them and QᵀC̄Q = RᵀR,
//!
//! ```text
//! P = Q R⁻¹,   L = C̄ P:     LᵀP = 1,   y = Pᵀξ̄,   w = P y
//! ```
//!
//! A finger or stem has often fewer joints than its tip has rows. Rows that are pivots tell its motions too, but where
//! another row becomes the pivot the blend would jump by what ξ̄ is off its motions.

use super::aligned::orthonormalise;
use crate::reduced::cholesky;

/// Multiplications with C̄ that turn Q onto its softest directions.
const TURNS: usize = 6;

/// P and L, m×r row by row with strides r and m, of a compliance and an L that spans its r softest directions nearly; Q
/// and R are memory. False if these directions are lost in rounding, and then nothing has changed.
pub(super) fn turn(
    C: &[f64],
    m: usize,
    r: usize,
    L: &mut [f64],
    P: &mut [f64],
    Q: &mut [f64],
    R: &mut [f64],
) -> bool {
    for u in 0..r {
        (0..m).for_each(|i| Q[u * m + i] = L[i * m + u]);
    }
    for turn in 0..=TURNS {
        if !orthonormalise(&mut Q[..m * r], m) {
            return false;
        }
        // P holds C̄Q until R is known.
        for u in 0..r {
            for i in 0..m {
                P[i * r + u] = (0..m).map(|k| C[i * m + k] * Q[u * m + k]).sum();
            }
        }
        if turn < TURNS {
            for u in 0..r {
                (0..m).for_each(|i| Q[u * m + i] = P[i * r + u]);
            }
        }
    }
    for u in 0..r {
        for v in 0..r {
            R[u * r + v] = (0..m).map(|i| Q[u * m + i] * P[i * r + v]).sum();
        }
    }
    if !cholesky::factor(&mut R[..r * r], r) {
        return false;
    }
    // Rows of C̄Q and Q times R⁻¹.
    for i in 0..m {
        for u in 0..r {
            let (mut l, mut p) = (P[i * r + u], Q[u * m + i]);
            for v in 0..u {
                l -= L[i * m + v] * R[u * r + v];
                p -= Q[v * m + i] * R[u * r + v];
            }
            // The factor has one over its diagonal.
            (L[i * m + u], Q[u * m + i]) = (l * R[u * r + u], p * R[u * r + u]);
        }
    }
    for i in 0..m {
        (0..r).for_each(|u| P[i * r + u] = Q[u * m + i]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// LᵀP = 1 and C̄P = L; and P LᵀC̄ is C̄ but for the eigenvalues left out, wherever it starts.
    #[test]
    fn it_spans_the_softest_directions() {
        let (m, r) = (6, 2);
        let U = DMatrix::from_fn(m, m, |i, k| (1.3 * i as f64 + 2.1 * (i * k) as f64 + 0.7 * k as f64).sin())
            .qr()
            .q();
        let values = nalgebra::DVector::from_vec(vec![2.0, 0.3, 0.004, 1e-3, 0.0, 0.0]);
        let C = &U * DMatrix::from_diagonal(&values) * U.transpose();
        let mut first: Option<DMatrix<f64>> = None;
        for rows in [[0, 1], [3, 5]] {
            let (mut L, mut P) = (vec![0.0; m * m], vec![0.0; m * m]);
            for i in 0..m {
                (0..r).for_each(|u| L[i * m + u] = C[(i, rows[u])]);
            }
            let (mut Q, mut R) = (vec![0.0; m * m], vec![0.0; m * m]);
            assert!(turn(C.as_slice(), m, r, &mut L, &mut P, &mut Q, &mut R));
            let L = DMatrix::from_fn(m, r, |i, u| L[i * m + u]);
            let P = DMatrix::from_fn(m, r, |i, u| P[i * r + u]);
            // Rounding times the spread of the eigenvalues that are kept.
            assert!((L.transpose() * &P - DMatrix::identity(r, r)).amax() < 1e-13);
            assert!((&C * &P - &L).amax() < 1e-13);
            let onto = &L * P.transpose();
            // Each turn leaves 0.004/0.3 of what is off.
            let softest = U.columns(0, r) * U.columns(0, r).transpose();
            assert!((&onto - softest).amax() < 1e-11);
            if let Some(first) = &first {
                assert!((first - &onto).amax() < 1e-11);
            }
            first = Some(onto);
        }
    }
}
