//! All tests of the library's interface, in one program. Each file states its claim at its head.

mod common;

mod errors;
mod files;
mod import;
mod import_mutations;
mod import_sdf;
mod metamorphic;
mod mjcf;
mod model;
mod mutations;
mod reading;
mod round_trip;
#[cfg(unix)]
mod surroundings;
mod zones;
