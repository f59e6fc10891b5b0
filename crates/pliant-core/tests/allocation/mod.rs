//! No engine allocates memory in a step.

mod articulated;
mod blended;
mod full;
mod live;
mod motions;
mod reduced;
