//! Claim: of the 1136 robot files in the wheel pybullet, all load but ten, and those are refused for what is wrong
//! with them.

use std::fs;

use crate::trial::{Found, trial};
use crate::wheels;
use libtest_mimic::Trial;

/// The files that do not load, and what is said of them.
const REFUSED: [(&str, &str); 10] = [
    ("bicycle/bike.urdf", "`0.07,` in `xyz` is not a finite number"),
    ("biped/biped2d_pybullet.urdf", "`-1.57.` in `lower` is not a finite number"),
    ("husky/husky.urdf", "`$(optenv` in `rpy` is not a finite number"),
    ("mjcf/ground.xml", "the file has no links"),
    ("mjcf/ground_plane.xml", "the file has no links"),
    ("mjcf/hopper.xml", "`coordinate` is `global`"),
    ("mjcf/humanoid_fixed.xml", "joint `root`: `type` is `fixed`"),
    ("mjcf/walker2d.xml", "`coordinate` is `global`"),
    ("quadruped/microtaur/microtaur.urdf", "`rpy` has 4 numbers, but takes 3"),
    ("torus_deform.urdf", "the file has no links"),
];

pub fn trials() -> Vec<Trial> {
    vec![trial("pybullet::files_load_or_are_refused_with_reason", files_load_or_are_refused_with_reason)]
}

fn files_load_or_are_refused_with_reason() -> Found<()> {
    let folder = wheels::large_wheel("pybullet", "3.2.7")?;
    let folder = folder.join("pybullet_data");
    let mut refused = Vec::new();
    for (extension, number) in [("urdf", 1095), ("sdf", 15), ("xml", 26)] {
        let mut files = wheels::files(&folder, extension);
        files.retain(|file| {
            let is_mjcf = |text: Vec<u8>| text.windows(7).any(|word| word == b"<mujoco");
            extension != "xml" || fs::read(file).is_ok_and(is_mjcf)
        });
        assert_eq!(files.len(), number, "{extension}");
        let before = refused.len();
        for file in &files {
            if let Err(error) = pliant_io::load(file) {
                let name = file.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
                refused.push((name, error.to_string()));
            }
        }
        println!("{extension}: {} of {number} load", number - (refused.len() - before));
    }
    refused.sort();
    let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, REFUSED.map(|(name, _)| name));
    for ((name, error), (_, reason)) in refused.iter().zip(REFUSED) {
        assert!(error.contains(reason), "{name}: {error}");
    }
    Ok(())
}
