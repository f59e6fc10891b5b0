//! All tests of the library's interface, in one program. Each file states its claim at its head.

mod common;

mod articulated_pinocchio;
mod errors;
mod files;
mod import;
mod import_mutations;
mod import_sdf;
mod meshes;
mod mjcf;
mod model;
mod mutations;
mod pybullet;
mod reading;
mod robots_sdf;
mod robots_urdf;
mod round_trip;
