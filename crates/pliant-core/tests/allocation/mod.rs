//! No engine allocates memory in a step.

mod articulated;
mod blended;
mod full;
mod linear;
mod reduced;
mod zones;
