//! What cannot be seen from outside: machines without fused multiply-add.

use super::kinematics::Pass;
use super::{Joints, PoseLanes, TreeLink, Twists};
use crate::joints::JointKind;
use crate::spatial::Pose;

/// The plain instructions give the same poses up to rounding: a few 1e-16 for each link of the chain.
#[test]
fn plain_instructions_do_the_same() {
    let links = 11;
    let map: Vec<f64> = (0..6 * links * 2).map(|k| (k as f64).sin()).collect();
    let pose = |n: usize| Pose::translation([0.1, 0.2, 0.3]) * Pose::rotation([0.0, 0.6, 0.8], n as f64);
    let base = pose(5);
    let (mut fast, mut plain) = (PoseLanes::new(links), PoseLanes::new(links));
    let apart = |a: &PoseLanes, b: &PoseLanes| {
        let one = |(a, b): (Pose, Pose)| {
            (a.position - b.position).norm().max((a.rotation.coords - b.rotation.coords).norm())
        };
        a.iter().zip(b.iter()).map(one).fold(0.0, f64::max)
    };

    let references: Vec<Pose> = (0..links).map(pose).collect();
    let twists = Twists::new(&references, &map, 2);
    twists.rebuild(&[0.4, -0.7], &twists.offsets(), &base, 1, &mut fast);
    twists.rebuild_lanes::<false>(&[0.4, -0.7], &twists.offsets(), &base, 0, &mut plain.blocks);
    assert!(apart(&fast, &plain) < 2e-15);

    let tree: Vec<TreeLink> = (0..links)
        .map(|n| TreeLink {
            parent: n.checked_sub(1 + n % 2),
            kind: JointKind::Hinge,
            frame_in_parent: pose(n),
            frame_in_child: pose(n + 1),
            reference: &[0.2],
            map: &map[2 * n..2 * n + 2],
        })
        .collect();
    let joints = Joints::new(&tree, 2);
    joints.rebuild(&[0.4, -0.7], &joints.offsets(), &base, &mut fast);
    let offsets = joints.offsets();
    Pass { model: &joints, z: &[0.4, -0.7], offsets: &offsets, base: &base }
        .run_lanes::<false>(&mut plain.blocks);
    assert!(apart(&fast, &plain) < 5e-15);
}
