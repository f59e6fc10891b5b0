//! What several test files need: random numbers, the bits of a mechanism as text, and a scene that
//! uses every key.

pub mod changes;
pub mod folder;

use std::fmt::Write as _;

use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::numbers::splitmix64;
use pliant_core::spatial::Pose;

/// A small seeded generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    /// A whole number below a bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-1.0, 1.0)).normalize()
    }

    /// A turn of up to 3 rad and a way of this length.
    pub fn pose(&mut self, size: f64) -> Pose {
        let turn = Pose::rotation(self.direction().into(), self.between(-3.0, 3.0));
        Pose::translation((self.direction() * size).into()) * turn
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A finite number of any size, often a special one.
    pub fn number(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => -0.0,
            2 => 1.0,
            3 => (self.unit() - 0.5) * 10f64.powi(self.below(600) as i32 - 300),
            _ => 2.0 * self.unit() - 1.0,
        }
    }

    /// A number of ordinary size above zero.
    pub fn positive(&mut self) -> f64 {
        (self.unit() + 0.01) * 10f64.powi(self.below(7) as i32 - 3)
    }
}

/// Everything a mechanism was made of, every number to its last bit: `PartialEq` would take q and −q,
/// or 0 and −0, for the same.
pub fn bits(mechanism: &Mechanism) -> String {
    let mut text = String::new();
    writeln!(text, "{:?} {:?}", mechanism.name(), mechanism.gravity()).unwrap();
    writeln!(text, "{:?}", mechanism.world_shapes()).unwrap();
    writeln!(text, "{:?}", mechanism.bodies()).unwrap();
    writeln!(text, "{:?}", mechanism.joints()).unwrap();
    writeln!(text, "{:?}", mechanism.start()).unwrap();
    writeln!(text, "{:?}", mechanism.effectors()).unwrap();
    writeln!(text, "{:?}", mechanism.couplings()).unwrap();
    writeln!(text, "{:?}", mechanism.loads()).unwrap();
    writeln!(text, "{:?}", mechanism.targets()).unwrap();
    writeln!(text, "{:?}", mechanism.springs()).unwrap();
    text
}

/// Reading what is written gives the same mechanism, and writing that the same text.
#[track_caller]
pub fn assert_round_trip(mechanism: &Mechanism) {
    let text = pliant_io::scene::write(mechanism);
    let again = pliant_io::scene::read(&text, "again.toml").unwrap_or_else(|e| panic!("{e}\n\n{text}"));
    assert_eq!(bits(mechanism), bits(&again), "\n{text}");
    assert_eq!(text, pliant_io::scene::write(&again));
}

/// A scene that uses every key.
pub const EVERY_KEY: &str = include_str!("every_key.toml");
