//! Andrews, Teichmann, Kry 2015: linear and blended models.

mod accelerability;
mod directions;
mod eigenvectors;
pub mod figure_4;
pub mod figure_5;
pub mod figure_6;
pub mod figure_7;
mod free_base;
mod mass;
mod merge;
pub mod table_1;
pub mod table_2;

use pliant::blended::{Links, Options};

/// Ours, with links by twists, so that gaps can be compared: weights 1/d⁴, compliances blended as they are.
pub fn ours() -> Options {
    Options { links: Links::Twist, branches: false, ..Options::default() }
}
