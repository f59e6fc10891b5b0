//! Tests of the solid from outside, one file for each claim.

mod cantilever;
mod common;
#[path = "../../../pliant-core/tests/common/counting.rs"]
mod counting;
mod dense;
mod errors;
mod flexure;
mod flips;
mod gmsh;
mod indentation;
mod patch;
mod probe;
mod seam_stiffness;
mod seams;
mod stored;
mod stuffing;
