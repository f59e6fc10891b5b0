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
    /// (sample, weight), nearest first but where samples fade in.
    pub of: Vec<(usize, f64)>,
    /// Those of the samples that do not fade in, or not as the last.
    before: Vec<(usize, f64)>,
    /// (distance, sample), nearest first: those that count and one more.
    nearest: Vec<(f64, usize)>,
}

/// The distance, in radii, that a turn of one radian counts for.
const TURNING: f64 = std::f64::consts::FRAC_1_PI;

/// How far two poses are apart: translations over the radius, turns times [`TURNING`], squared.
#[inline]
pub(super) fn squared_distance(a: &Pose, b: &Pose, radius: f64) -> f64 {
    // The chord of two unit quaternions is 2 sin(φ/4).
    let (p, q) = (a.rotation.coords, b.rotation.coords);
    let chord = (p - q).norm_squared().min((p + q).norm_squared());
    (a.position - b.position).norm_squared() / (radius * radius) + 4.0 * TURNING * TURNING * chord
}

impl Weights {
    /// Memory for so many samples.
    pub fn new(samples: usize) -> Weights {
        let mut weights = Weights::default();
        weights.grow(samples);
        weights
    }

    /// Memory for more samples.
    pub fn grow(&mut self, samples: usize) {
        self.of.reserve(samples.saturating_sub(self.of.len()));
        self.before.reserve(samples.saturating_sub(self.before.len()));
        self.nearest.reserve((samples + 1).saturating_sub(self.nearest.len()));
    }

    /// Weighs samples at these squared distances. The last of them fade in: they count so much of what they will,
    /// α ← (1 − s)α + s α with one more of them.
    pub fn weigh(
        &mut self,
        squared: impl ExactSizeIterator<Item = f64> + Clone,
        options: &Options,
        fading: &[f64],
    ) {
        let settled = squared.len() - fading.len();
        self.weigh_all(squared.clone().take(settled), options);
        for (k, s) in fading.iter().enumerate() {
            std::mem::swap(&mut self.of, &mut self.before);
            self.weigh_all(squared.clone().take(settled + k + 1), options);
            self.of.iter_mut().for_each(|(_, w)| *w *= s);
            for &(i, before) in &self.before {
                match self.of.iter_mut().find(|(other, _)| *other == i) {
                    Some((_, w)) => *w += (1.0 - s) * before,
                    None => self.of.push((i, (1.0 - s) * before)),
                }
            }
        }
    }

    fn weigh_all(&mut self, squared: impl Iterator<Item = f64>, options: &Options) {
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
            weights.weigh(places.iter().map(|p| (p - x) * (p - x)), &options, &[]);
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
        weights.weigh(places.iter().map(|p| (p - places[4]) * (p - places[4])), &options, &[]);
        assert_eq!(weights.of, [(4, 1.0)]);
    }
    /// A sample that fades in counts for nothing at first and in the end as any other, also where it is, where its own
    /// weight is one; several do so one after the other.
    #[test]
    fn samples_fade_in() {
        let options = Options::default();
        let at = |fading: &[f64], count: usize| {
            let mut weights = Weights::new(5);
            weights.weigh([0.3f64, 0.5, 0.2, 0.0, 0.1][..count].iter().copied(), &options, fading);
            let mut all = [0.0; 5];
            weights.of.iter().for_each(|&(i, w)| all[i] += w);
            all
        };
        assert_eq!(at(&[0.0], 4), at(&[], 3));
        assert_eq!(at(&[1.0], 4), at(&[], 4));
        assert_eq!(at(&[1.0, 1.0], 5), at(&[], 5));
        assert_eq!(at(&[0.25, 0.0], 5), at(&[0.25], 4));
        let (none, all) = (at(&[], 3), at(&[], 4));
        for (i, w) in at(&[0.25], 4).into_iter().enumerate() {
            // Rounding of two products.
            assert!((w - 0.75 * none[i] - 0.25 * all[i]).abs() < 1e-15);
        }
    }
}
