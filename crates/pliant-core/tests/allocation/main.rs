//! No engine allocates memory in a step. One program of many files: each file states its claim at its head.

#[path = "../common/allocation.rs"]
mod allocation;
#[path = "../common/counting.rs"]
mod counting;

mod articulated;
mod blended;
mod full;
mod live;
mod reduced;
