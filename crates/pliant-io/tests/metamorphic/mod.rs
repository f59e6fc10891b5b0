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
