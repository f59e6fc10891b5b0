//! Claim: what a scene does has nothing to do with how it is written down. Over random scenes and every engine the answer
//! stays the same when the scene is turned, moved or mirrored, when lengths, masses and times are scaled together, when its parts
//! are listed in another order, when a body that touches nothing is added, when a link is split by a fixed joint, and when it is
//! saved and restored on the way; with numbers of six digits it stays close; and with shorter steps it converges.
//!
//! A scene that fails is printed as a file that reproduces it. `PLIANT_LONG=1` runs ten times as many.

mod change;
mod contact;
mod mechanisms;

use pliant_core::mechanism::Mechanism;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;

/// Numbers from 0 to 1 that are always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn direction(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-1.0, 1.0)).normalize()
    }

    fn pose(&mut self, size: f64) -> Pose {
        let turn = Pose::rotation(self.direction().into(), self.between(-3.0, 3.0));
        Pose::translation((self.direction() * size).into()) * turn
    }
}

/// Whether a number is more than it may be, or none.
fn exceeds(x: f64, most: f64) -> bool {
    x > most || x.is_nan()
}

/// How many times as many scenes are tried.
fn factor() -> u64 {
    if std::env::var_os("PLIANT_LONG").is_some() { 10 } else { 1 }
}

/// Stops with a scene that fails, as a file.
fn fail(mechanism: &Mechanism, what: &str) -> ! {
    panic!("{what}\n\n# the scene:\n{}", pliant_io::scene::write(mechanism))
}
