//! Weights of samples: one over a power of the distance (Andrews 2015, eq. 25), over the nearest few only
//! (Franke and Little 1980 for the compact support).
//!
//! ```text
//! w_i = ((R − d_i)₊ / (R d_i))^p,   α_i = w_i / Σw
//! ```
//!
//! R is the distance of the first sample that does not count, or infinite if all do: a sample comes in and goes out
//! with weight zero.

use super::options::Options;
use crate::spatial::Pose;

/// The samples that count at a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// (sample, weight), nearest first.
    pub of: Vec<(usize, f64)>,
    /// (distance, sample), nearest first: those that count and one more.
    nearest: Vec<(f64, usize)>,
}

/// How far two poses are apart: translations over the radius, turns times `turning`, squared.
#[inline]
pub(super) fn squared_distance(a: &Pose, b: &Pose, radius: f64, turning: f64) -> f64 {
    // The chord of two unit quaternions is 2 sin(φ/4).
    let (p, q) = (a.rotation.coords, b.rotation.coords);
    let chord = (p - q).norm_squared().min((p + q).norm_squared());
    (a.position - b.position).norm_squared() / (radius * radius) + 4.0 * turning * turning * chord
}

impl Weights {
    /// Memory for so many samples.
    pub fn new(samples: usize) -> Weights {
        Weights { of: Vec::with_capacity(samples), nearest: Vec::with_capacity(samples + 1) }
    }

    /// Weighs samples at these squared distances.
    pub fn weigh(&mut self, squared: impl Iterator<Item = f64>, options: &Options) {
        let most = options.neighbours.clamp(1, usize::MAX - 1);
        self.nearest.clear();
        for (i, d) in squared.enumerate() {
            if self.nearest.len() == most + 1 {
                if d >= self.nearest[most].0 {
                    continue;
                }
                self.nearest.pop();
            }
            let at = self.nearest.partition_point(|x| x.0 <= d);
            self.nearest.insert(at, (d, i));
        }
        let inverse = if self.nearest.len() > most { 1.0 / self.nearest[most].0.sqrt() } else { 0.0 };
        self.nearest.truncate(most);
        self.of.clear();
        let Some(&(least, first)) = self.nearest.first() else { return };
        if least == 0.0 {
            self.of.push((first, 1.0));
            return;
        }
        // (1/d − 1/R) over that of the nearest: between 0 and 1 at any distance.
        let least = 1.0 / least.sqrt() - inverse;
        let mut sum = 0.0;
        for &(d, i) in &self.nearest {
            let ratio = if least > 0.0 { ((1.0 / d.sqrt() - inverse) / least).max(0.0) } else { 1.0 };
            let w = ratio.powi(options.power as i32);
            sum += w;
            self.of.push((i, w));
        }
        self.of.iter_mut().for_each(|(_, w)| *w /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights sum to one, are one at a sample, and change continuously as samples come and go.
    #[test]
    fn they_sum_to_one_and_do_not_jump() {
        let options = Options { neighbours: 3, ..Options::default() };
        let places: Vec<f64> = (0..12).map(|i| (1.7 * i as f64).sin() + 0.2 * i as f64).collect();
        let mut weights = Weights::new(places.len());
        let mut last: Option<Vec<f64>> = None;
        let steps = 40_000;
        let mut largest = 0.0f64;
        for k in 0..=steps {
            let x = 3.0 * k as f64 / steps as f64;
            weights.weigh(places.iter().map(|p| (p - x) * (p - x)), &options);
            let mut all = vec![0.0; places.len()];
            weights.of.iter().for_each(|&(i, w)| all[i] = w);
            // Rounding of a dozen sums.
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            if let Some(last) = last {
                let change = all.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                largest = largest.max(change);
            }
            last = Some(all);
        }
        // 3/40000 of the way times the steepest slope, which near two close samples is 40.
        assert!(largest < 5e-3, "{largest}");
        weights.weigh(places.iter().map(|p| (p - places[4]) * (p - places[4])), &options);
        assert_eq!(weights.of, [(4, 1.0)]);
    }
}
