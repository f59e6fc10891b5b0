//! The slowest modes with the effectors held (Craig and Bampton 1968).
//!
//! Modes are the largest eigenvalues 1/ω² of (I − ΘΘᵀK)K⁻¹M, Θ the shapes: what a load does with the effectors held. They are
//! found by iterating a block of motions, with Rayleigh and Ritz' method in each round.

use nalgebra::{DMatrix, DVector};

use super::compliance::Compliance;
use super::shapes::{Motions, Shape};
use crate::algebra::dense::eigen;

/// Modes at most.
const MOST_MODES: usize = 24;

/// Rounds of the search for modes, and how many more than asked for are sought.
const ROUNDS: usize = 30;
const MORE: usize = 4;

/// Change of an eigenvalue, relative, at which it is found.
const FOUND: f64 = 1e-6;

/// Which modes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Modes {
    /// So many of the slowest.
    Count(usize),
    /// All below a frequency, rad/s, up to [`MOST_MODES`].
    Below(f64),
    /// All below a frequency, rad/s.
    AllBelow(f64),
}

impl Shape<'_> {
    /// All modes below a frequency, rad/s: as many more as are found, until one is above it.
    pub fn add_all_modes(&self, own: &[[f64; 10]], frequency: f64, motions: &mut Motions) {
        let held = motions.columns.len();
        let mut most = MOST_MODES;
        loop {
            motions.columns.truncate(held);
            let found = self.add_modes_up_to(own, Modes::Below(frequency), most, motions);
            if found < most || motions.columns.len() >= self.joints.len() {
                return;
            }
            most *= 2;
        }
    }

    pub fn add_modes(&self, own: &[[f64; 10]], modes: Modes, motions: &mut Motions) -> usize {
        self.add_modes_up_to(own, modes, MOST_MODES, motions)
    }

    /// The slowest modes with all that is there held; how many.
    pub fn add_modes_up_to(
        &self,
        own: &[[f64; 10]],
        modes: Modes,
        most: usize,
        motions: &mut Motions,
    ) -> usize {
        let n = self.joints.len();
        let free =
            self.compliance.as_ref().map_or(n, Compliance::freedoms).saturating_sub(motions.columns.len());
        let wanted = match modes {
            Modes::Count(count) => count.min(free),
            Modes::Below(_) | Modes::AllBelow(_) => most.min(free),
        };
        if wanted == 0 {
            return 0;
        }
        let block = (wanted + MORE).min(free);
        let phase = |i: usize, k: usize| (1.0 + 0.7 * ((i + 31 * k) % 10_007).pow(2) as f64).sin();
        let mut space: Vec<DVector<f64>> = (0..block)
            .map(|k| self.soften(DVector::from_fn(n, |i, _| phase(i, k) * self.norms[i].sqrt())))
            .collect();
        let mut last = vec![0.0; wanted];
        for _ in 0..ROUNDS {
            let held = motions.columns.len();
            for x in std::mem::take(&mut space) {
                motions.add(self.soften(self.mass_times(own, &x)), 1e-10);
            }
            let found: Vec<DVector<f64>> = motions.columns.split_off(held);
            if found.is_empty() {
                return 0;
            }
            let moved: Vec<DVector<f64>> = found.iter().map(|x| self.mass_times(own, x)).collect();
            let H = DMatrix::from_fn(found.len(), found.len(), |i, k| {
                0.5 * (found[i].dot(&moved[k]) + found[k].dot(&moved[i]))
            });
            let ritz = eigen::sorted(H);
            space = (0..found.len())
                .map(|k| {
                    let mut x = DVector::zeros(n);
                    ritz.eigenvectors.column(k).iter().zip(&found).for_each(|(v, f)| x.axpy(*v, f, 1.0));
                    x
                })
                .collect();
            let values = ritz.eigenvalues.as_slice();
            let now = |k: usize| values.get(k).copied().unwrap_or(0.0);
            let done = (0..wanted).all(|k| (now(k) - last[k]).abs() <= FOUND * now(k).abs());
            (0..wanted).for_each(|k| last[k] = now(k));
            if done {
                break;
            }
        }
        space.truncate(match modes {
            Modes::Count(_) => wanted,
            Modes::Below(w) | Modes::AllBelow(w) => last.iter().filter(|value| **value * w * w > 1.0).count(),
        });
        let found = space.len();
        space.into_iter().for_each(|x| motions.add(x, 1e-8));
        found
    }
}
