//! Programs that try to break Pliant: changed files, hostile files and random calls. Each case is made of one number, so that
//! a failure can be repeated; tests of `pliant-cli` run some of them, `PLIANT_FUZZ=N` N times as many, and `cargo fuzz run` goes
//! on for ever.

pub mod api;
pub mod files;
pub mod hostile;

use pliant::numbers::splitmix64;

/// Numbers that are the same every time.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A number as users give it, and one in eight as nobody should.
    pub fn number(&mut self) -> f64 {
        const ODD: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e300, 5e-324, 0.0, -0.0];
        match self.below(8) {
            0 => *self.of(&ODD),
            k => (self.below(2001) as f64 / 1000.0 - 1.0) * 10f64.powi(k as i32 - 4),
        }
    }
}

/// What came of many cases, to be printed.
#[derive(Debug, Default)]
pub struct Counts {
    pub cases: usize,
    /// Of files: those that were read. Of calls: those that were taken.
    pub taken: usize,
    pub refused: usize,
    pub steps: usize,
}

/// How many cases to run: so many, or `PLIANT_FUZZ` times as many.
pub fn cases(few: usize) -> usize {
    let times = std::env::var("PLIANT_FUZZ").ok().and_then(|n| n.parse::<usize>().ok());
    few * times.unwrap_or(1)
}
