//! Firefighters-catch: somebody of 60 kg, curled up, falls on the trampoline from half a metre above it.

use super::super::firefighters::{self, PLATE};
use super::super::link::finish;
use super::loose_box;
use crate::mechanism::{Mechanism, MechanismBuilder};

/// Two people catch somebody.
pub fn firefighters_catch() -> Mechanism {
    let mut builder = MechanismBuilder::new("firefighters-catch");
    firefighters::parts(&mut builder);
    let size = [0.7, 0.45, 0.4];
    let height = 1.03 + 0.5 * (PLATE[2] + size[2]) + 0.5;
    builder.body(loose_box("fallen", [0.0, 0.0, height], 60.0, size, 0.8));
    finish(builder)
}
