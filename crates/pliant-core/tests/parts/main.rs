//! What engines are made of: joints, twists, the order of links, elimination, random mechanisms. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;

mod elimination;
mod garbage;
mod joints;
mod order;
mod random_mechanisms;
mod spatial;
mod start;
mod wrench_derivative;
