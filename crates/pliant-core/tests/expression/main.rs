//! Expression joints. One program of many files: each file states its claim at its head.

#[path = "../common/mod.rs"]
mod common;

mod compiled;
mod engines;
mod joints;
mod language;
mod motion;
