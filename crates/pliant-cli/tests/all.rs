//! All tests of the command line, in one program. Each file states its claim at its head.

mod common;

mod cli;
mod compare;
mod compliance;
mod contact;
mod control;
mod fuzz;
mod import;
mod linear;
mod options;
mod parts;
mod reduce;
mod simulate;
mod statics;
mod surroundings;
mod view;
mod warnings;
mod zones;
