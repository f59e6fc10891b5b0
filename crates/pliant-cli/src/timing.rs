//! How long steps take.

use std::time::{Duration, Instant};

/// How many durations are kept: 4 MB of them.
const CAPACITY: usize = 1 << 19;

/// Least length of a timed block: the clock itself takes some 30 ns.
const BLOCK: Duration = Duration::from_micros(20);

/// Durations of steps, all of them or, of a long run, an even selection.
#[derive(Debug)]
pub struct Timings {
    nanoseconds: Vec<u64>,
    /// Every how many-th duration is kept.
    every: u64,
    seen: u64,
}

impl Default for Timings {
    fn default() -> Timings {
        Timings { nanoseconds: Vec::new(), every: 1, seen: 0 }
    }
}

impl Timings {
    pub fn push(&mut self, duration: Duration) {
        if self.seen.is_multiple_of(self.every) {
            if self.nanoseconds.len() == CAPACITY {
                let mut k = 0;
                self.nanoseconds.retain(|_| {
                    k += 1;
                    k % 2 == 1
                });
                self.every *= 2;
            }
            self.nanoseconds.push(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
        }
        self.seen += 1;
    }

    /// What the given fractions of the steps did not exceed, µs; `None` without any step.
    pub fn percentiles<const N: usize>(&self, fractions: [f64; N]) -> Option<[f64; N]> {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let rank = |fraction: f64| (fraction * last as f64).round() as usize;
        Some(fractions.map(|fraction| sorted[rank(fraction)] as f64 * 1e-3))
    }
}

/// What a figure rests on.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Steps that are not timed: caches and branch predictors get to know the mechanism.
    pub warm_up: usize,
    pub steps: usize,
    pub time: Duration,
}

impl Pace {
    /// For figures that people read.
    pub const STEADY: Pace = Pace { warm_up: 50, steps: 200, time: Duration::from_millis(500) };

    /// For one of many figures on a page.
    pub const BRIEF: Pace = Pace { warm_up: 0, steps: 30, time: Duration::from_millis(150) };

    /// The median time of a step, µs; steps too short for a clock are timed in blocks.
    pub fn median<E>(&self, mut step: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        let mut block = 1u32;
        loop {
            let start = Instant::now();
            (0..block).try_for_each(|_| step())?;
            if start.elapsed() >= BLOCK {
                break;
            }
            block *= 2;
        }
        let timings = self.time(|| (0..block).try_for_each(|_| step()))?;
        let [median] = timings.percentiles([0.5]).expect("some blocks");
        Ok(median / f64::from(block))
    }

    /// Times one step after the other.
    pub fn time<E>(&self, mut step: impl FnMut() -> Result<(), E>) -> Result<Timings, E> {
        for _ in 0..self.warm_up {
            step()?;
        }
        let mut timings = Timings::default();
        let (mut steps, started) = (0, Instant::now());
        while steps < self.steps || started.elapsed() < self.time {
            let start = Instant::now();
            step()?;
            timings.push(start.elapsed());
            steps += 1;
        }
        Ok(timings)
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Timings};
    use std::time::Duration;

    #[test]
    fn percentiles_of_few() {
        let mut timings = Timings::default();
        assert_eq!(timings.percentiles([0.5]), None);
        for us in [5, 1, 4, 2, 3] {
            timings.push(Duration::from_micros(us));
        }
        assert_eq!(timings.percentiles([0.0, 0.5, 0.99]), Some([1.0, 3.0, 5.0]));
    }

    #[test]
    fn a_long_run_is_thinned_evenly() {
        let mut timings = Timings::default();
        let n = 3 * CAPACITY as u64;
        (0..n).for_each(|k| timings.push(Duration::from_micros(k)));
        assert!(timings.nanoseconds.len() <= CAPACITY);
        let [median, p99] = timings.percentiles([0.5, 0.99]).expect("some steps");
        assert!((median / n as f64 - 0.5).abs() < 1e-4 && (p99 / n as f64 - 0.99).abs() < 1e-4);
    }
}
