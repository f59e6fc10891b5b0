//! Sparse Cholesky of a stiffness that is already in its order of elimination, by faer; and its last, dense part.
//!
//! If the unknowns wanted are the last ones, K = L Lᵀ has the corner L_ss, and with S = K_ss − K_si K_ii⁻¹ K_is the stiffness
//! condensed to them, S = L_ss L_ssᵀ: no right-hand sides are needed for S⁻¹.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::SparseColMat;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Conj, MatMut, Par, Side};

use crate::ElasticError;

/// Memory that a precomputation may take, bytes: 6 GiB, or half of what 32 bits address.
pub const MEMORY_LIMIT: u64 = if usize::BITS > 32 { 6 << 30 } else { 2 << 30 };

pub(crate) struct Factor {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

/// An error if more than [`MEMORY_LIMIT`] is needed.
pub(crate) fn check_memory(what: &'static str, bytes: u64) -> Result<(), ElasticError> {
    if bytes > MEMORY_LIMIT { Err(ElasticError::Memory { what, bytes, limit: MEMORY_LIMIT }) } else { Ok(()) }
}

impl Factor {
    /// The factor of the matrix whose lower triangle is given.
    pub(crate) fn new(A: &SparseColMat<usize, f64>) -> Result<Self, ElasticError> {
        let what = "the factor of the stiffness";
        let out_of_memory = || ElasticError::Memory { what, bytes: u64::MAX, limit: MEMORY_LIMIT };
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        // Without an ordering of its own, faer reads the upper triangle whichever side is given.
        let A = A.transpose().to_col_major().map_err(|_| out_of_memory())?;
        let symbolic =
            factorize_symbolic_cholesky(A.symbolic(), Side::Upper, SymmetricOrdering::Identity, params)
                .map_err(|_| out_of_memory())?;
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        check_memory(what, 8 * symbolic.len_val() as u64 + scratch.unaligned_bytes_required() as u64)?;
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| out_of_memory())?;
        let mut values = vec![0.0; symbolic.len_val()];
        symbolic
            .factorize_numeric_llt(
                &mut values,
                A.as_ref(),
                Side::Upper,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|LltError::NonPositivePivot { index }| ElasticError::Singular { unknown: index })?;
        Ok(Self { symbolic, values })
    }

    /// Solves for several right-hand sides, one after the other in `columns`.
    pub(crate) fn solve(&self, columns: &mut [f64]) {
        let n = self.symbolic.nrows();
        let k = columns.len() / n;
        let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(k, Par::Seq));
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(columns, n, k),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// L_ss of the unknowns from `first` on: dense, by columns, its upper triangle zero.
    pub(crate) fn corner(&self, first: usize) -> Vec<f64> {
        let m = self.symbolic.nrows() - first;
        let mut corner = vec![0.0; m * m];
        let SymbolicCholeskyRaw::Supernodal(symbolic) = self.symbolic.raw() else {
            unreachable!("supernodal was asked for");
        };
        let factor = SupernodalLltRef::new(symbolic, &self.values);
        for s in 0..symbolic.n_supernodes() {
            let node = factor.supernode(s);
            let (start, values) = (node.start(), node.val());
            for c in 0..values.ncols() {
                let Some(column) = (start + c).checked_sub(first) else { continue };
                let target = &mut corner[column * m..(column + 1) * m];
                for r in c..values.nrows() {
                    let row = if r < values.ncols() { start + r } else { node.pattern()[r - values.ncols()] };
                    target[row - first] = values[(r, c)];
                }
            }
        }
        corner
    }
}

/// (L Lᵀ)⁻¹ of a dense lower triangle given by columns, exactly symmetric.
pub(crate) fn inverse(L: Vec<f64>, n: usize) -> Vec<f64> {
    use faer::linalg::cholesky::llt::inverse as llt;
    let mut out = vec![0.0; n * n];
    let mut memory = MemBuffer::new(llt::inverse_scratch::<f64>(n, Par::Seq));
    llt::inverse(
        MatMut::from_column_major_slice_mut(&mut out, n, n),
        faer::MatRef::from_column_major_slice(&L, n, n),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    mirror(&mut out, n);
    out
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(A: &mut [f64], n: usize) {
    for c in 0..n {
        for r in c + 1..n {
            A[c + r * n] = A[r + c * n];
        }
    }
}

/// Whether a dense symmetric matrix, given by columns, is positive definite.
pub(crate) fn positive_definite(A: &[f64], n: usize) -> bool {
    use faer::linalg::cholesky::llt::factor as llt;
    let mut copy = A.to_vec();
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    llt::cholesky_in_place(
        MatMut::from_column_major_slice_mut(&mut copy, n, n),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .is_ok()
}
