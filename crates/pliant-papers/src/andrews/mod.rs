//! Andrews, Teichmann, Kry 2015: reduced and blended models.

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

/// The blend as the paper prints it: weights 1/d² over all models, eigenvalues and eigenvectors blended apart (Algorithm 3, with
/// eigenvectors matched and turned alike, which the paper leaves open), links by log and exp (Algorithm 4), forces from the blend.
pub fn printed() -> Options {
    Options::printed()
}

/// Ours, with links by twists, so that gaps can be compared: weights 1/d⁴, compliances blended as they are.
pub fn ours() -> Options {
    Options { links: Links::Twist, branches: false, ..Options::default() }
}
