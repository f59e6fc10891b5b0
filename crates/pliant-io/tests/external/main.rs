//! Tests against other programs and their robots, which come from PyPI: what cannot be fetched is listed as ignored, with
//! the reason. Each file states its claim at its head.

mod answers;
#[allow(dead_code)] // tests/all.rs uses the rest
#[path = "../common/mod.rs"]
mod common;
mod trial;
mod wheels;

mod articulated_pinocchio;
mod hulls;
mod meshes;
mod mjcf;
mod pybullet;
mod robots_sdf;
mod robots_urdf;
mod standing;

fn main() {
    let trials = [
        articulated_pinocchio::trials(),
        hulls::trials(),
        meshes::trials(),
        mjcf::trials(),
        pybullet::trials(),
        robots_sdf::trials(),
        robots_urdf::trials(),
        standing::trials(),
    ];
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.into_iter().flatten().collect()).exit()
}
