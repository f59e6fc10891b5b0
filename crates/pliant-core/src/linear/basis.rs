//! The motions of the effectors that a model has: a basis of the range of their compliance.
//!
//! With translations over the radius, C = U Λ Uᵀ; the eigenvalues above [`RANK`] of the largest are kept. Then
//! ξ_E = B y with B = S⁻¹U and y = UᵀS ξ_E, S the scaling; the stiffness along y is Λ⁻¹, and the wrench that
//! holds y is P y with P = S U Λ⁻¹ (Andrews 2015, §4.3, in compliance form: a truncated stiffness is never
//! inverted).

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::algebra::dense::eigen;

/// Eigenvalues of the compliance below this part of the largest are not motions: rounding leaves 1e-15, and
/// joints of real mechanisms differ less.
pub(super) const RANK: f64 = 1e-9;

/// What rounding leaves of a compliance, relative to the softest joint's.
const ROUNDING: f64 = 1e-13;

/// A basis of the motions of some effectors.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    /// B, 6|E|×r: coordinates to twists.
    pub motion: DMatrix<f64>,
    /// Its left inverse UᵀS, r×6|E|.
    pub measure: DMatrix<f64>,
    /// P, 6|E|×r: coordinates to the wrenches that hold them.
    pub wrench: DMatrix<f64>,
    /// Λ⁻¹.
    pub stiffness: DVector<f64>,
    /// Whether some motion has a negative compliance: the pose is no stable equilibrium.
    pub unstable: bool,
}

impl Basis {
    /// The basis of a compliance, of which rounding leaves some parts of the softest joint's.
    pub fn new(compliance: &DMatrix<f64>, radius: f64, softest: f64) -> Basis {
        let m = compliance.nrows();
        let s = |i: usize| if i % 6 < 3 { 1.0 / radius } else { 1.0 };
        let scaled = DMatrix::from_fn(m, m, |i, j| s(i) * compliance[(i, j)] * s(j));
        let largest = scaled.amax();
        if m == 0 || largest == 0.0 {
            let none = DMatrix::zeros(m, 0);
            return Basis {
                motion: none.clone(),
                measure: DMatrix::zeros(0, m),
                wrench: none,
                stiffness: DVector::zeros(0),
                unstable: false,
            };
        }
        // Softest first.
        let SymmetricEigen { eigenvalues, eigenvectors } = eigen::sorted(scaled / largest);
        let least = (RANK * eigenvalues.amax()).max(ROUNDING * softest / largest);
        let r = eigenvalues.iter().filter(|x| **x > least).count();
        let u = |i: usize, k: usize| eigenvectors[(i, k)];
        let lambda = |k: usize| eigenvalues[k] * largest;
        Basis {
            motion: DMatrix::from_fn(m, r, |i, k| u(i, k) / s(i)),
            measure: DMatrix::from_fn(r, m, |k, i| u(i, k) * s(i)),
            wrench: DMatrix::from_fn(m, r, |i, k| s(i) * u(i, k) / lambda(k)),
            stiffness: DVector::from_fn(r, |k, _| 1.0 / lambda(k)),
            unstable: eigenvalues.iter().any(|x| *x < -least),
        }
    }

    /// Number of motions.
    pub fn rank(&self) -> usize {
        self.stiffness.len()
    }
}
