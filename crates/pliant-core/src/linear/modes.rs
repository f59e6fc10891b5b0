//! Fixed-interface modes: how a part swings while its effectors are held (Craig and Bampton 1968).
//!
//! They are the eigenvectors of C_fixed M with eigenvalues 1/ω², where C_fixed f = C f − N (UᵀS)(C f)_E is the
//! static answer to a load with the effectors held. A block Krylov space of C_fixed M, orthonormal under M, is
//! grown until the modes asked for stand still; the block is wider than the number of equal modes that
//! symmetric mechanisms have.

use nalgebra::{DMatrix, SymmetricEigen};

use super::field::{Field, Inertia};
use super::kkt::Undetermined;
use crate::algebra::dense::eigen;

/// Columns of a block: modes as equal as the legs of a hexapod are found together.
const BLOCK: usize = 8;

/// Change of an eigenvalue from block to block, relative, at which it stands still.
const STILL: f64 = 1e-12;

/// A direction whose length falls by this in orthogonalisation is one that the space has already.
const DEPENDENT: f64 = 1e-9;

/// Eigenvalues below this part of the largest are noise.
const NOISE: f64 = 1e-13;

/// Which modes are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    /// So many of the lowest.
    Count(usize),
    /// All below a frequency, rad/s.
    Below(f64),
}

/// Modes of mass one and their frequencies, rad/s, ascending.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    pub shapes: Field,
    pub frequencies: Vec<f64>,
}

/// Computes modes. `answer` is C_fixed.
pub(super) fn fixed_interface(
    like: &Field,
    inertia: &Inertia,
    wanted: Wanted,
    answer: impl Fn(&Field) -> Result<Field, Undetermined>,
) -> Result<Modes, Undetermined> {
    let rows = like.nodes.len() / like.columns.max(1);
    let coordinates = like.coordinates.len() / like.columns.max(1);
    let none = |space: &Field| Modes {
        shapes: space.times(&DMatrix::zeros(space.columns, 0)),
        frequencies: Vec::new(),
    };
    // Loads that no symmetry shares, and columns that no others add up to: the phase is no sum of one of the
    // row and one of the column.
    let mut start = Field::zeros(rows / 6, coordinates, BLOCK);
    start.nodes.iter_mut().enumerate().for_each(|(i, x)| *x = (1.0 + 0.7 * (i % 10_007).pow(2) as f64).sin());
    let mut block = answer(&inertia.times(&start))?;
    let mut space = Field::zeros(rows / 6, coordinates, 0);
    let mut H = DMatrix::zeros(0, 0);
    let mut last: Vec<f64> = Vec::new();
    loop {
        let first = space.columns;
        orthonormalise(&mut space, &block, inertia);
        if space.columns == first && first == 0 {
            return Ok(none(&space));
        }
        if space.columns > first {
            let new = space.times(&DMatrix::from_fn(space.columns, space.columns - first, |i, k| {
                f64::from(i == first + k)
            }));
            block = answer(&inertia.times(&new))?;
            // Rayleigh–Ritz: H = Vᵀ M C_fixed M V, grown by the rows of the new directions.
            let rows = space.dot(&inertia.times(&block));
            let grown = DMatrix::from_fn(space.columns, space.columns, |i, k| match (i < first, k < first) {
                (true, true) => H[(i, k)],
                (_, false) => rows[(i, k - first)],
                (false, true) => rows[(k, i - first)],
            });
            H = (&grown + grown.transpose()) * 0.5;
        }
        let SymmetricEigen { eigenvalues, eigenvectors } = eigen::sorted(H.clone());
        let top = eigenvalues[0];
        let values: Vec<f64> = eigenvalues.iter().copied().take_while(|x| *x > NOISE * top).collect();
        // One more than is wanted must stand still, so that none is missed.
        let needed = match wanted {
            Wanted::Count(k) => k,
            Wanted::Below(w) => values.iter().filter(|&&v| v * w * w > 1.0).count() + 1,
        };
        let still = |k: usize| last.get(k).is_some_and(|v| (values[k] - v).abs() <= STILL * values[k]);
        let exhausted = space.columns == first;
        if exhausted || (values.len() >= needed && (0..needed).all(still)) {
            let count = match wanted {
                Wanted::Count(k) => k.min(values.len()),
                Wanted::Below(w) => values.iter().filter(|&&v| v * w * w > 1.0).count(),
            };
            let shapes = space.times(&eigenvectors.columns(0, count).into_owned());
            return Ok(Modes {
                shapes,
                frequencies: values[..count].iter().map(|v| 1.0 / v.sqrt()).collect(),
            });
        }
        last = values;
    }
}

/// Adds the columns of a block to an orthonormal space, under the mass, twice for accuracy; those that it has
/// already are left out.
fn orthonormalise(space: &mut Field, block: &Field, inertia: &Inertia) {
    for c in 0..block.columns {
        let pick = DMatrix::from_fn(block.columns, 1, |i, _| f64::from(i == c));
        let mut v = block.times(&pick);
        let before = inertia.times(&v).dot(&v)[(0, 0)].sqrt();
        if before.is_nan() || before <= 0.0 {
            continue;
        }
        for _ in 0..2 {
            if space.columns > 0 {
                let along = space.dot(&inertia.times(&v));
                v.subtract(&space.times(&along));
            }
        }
        let after = inertia.times(&v).dot(&v)[(0, 0)].sqrt();
        if after > DEPENDENT * before {
            *space = space.beside(&v.times(&DMatrix::from_element(1, 1, 1.0 / after)));
        }
    }
}
