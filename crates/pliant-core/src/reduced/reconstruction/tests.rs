//! What cannot be seen from outside: the functions of the angle, and machines without fused multiply-add.

use super::lanes::{LARGEST, half_angle, splat};
use super::{Joints, PoseLanes, TreeLink, Twists};
use crate::joints::JointKind;
use crate::spatial::Pose;

/// Against the library, in whose closed forms nothing cancels above h = 0.3 worse than by a factor of 1/h³.
#[test]
fn series_are_the_functions() {
    for k in 0..=1_000 {
        let h = k as f64 / 1_000.0 * LARGEST.sqrt();
        for f in [half_angle::<false>(splat(h * h)), half_angle::<true>(splat(h * h))] {
            assert!((f.cos[0] - h.cos()).abs() < 3e-16, "{h}");
            assert!((f.sinc[1] * h - h.sin()).abs() < 3e-16, "{h}");
            if h > 0.3 {
                assert!((f.second[2] - (1.0 - h.cos()) / (h * h)).abs() < 3e-16 / (h * h), "{h}");
                assert!((f.third[3] - (h - h.sin()) / (h * h * h)).abs() < 3e-16 / (h * h * h), "{h}");
            }
        }
    }
    for tiny in [0.0, 1e-300, 1e-20] {
        let f = half_angle::<true>(splat(tiny));
        assert_eq!((f.cos[0], f.sinc[0], f.second[0], f.third[0]), (1.0, 1.0, 0.5, 1.0 / 6.0));
    }
}

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
    let mut twists = Twists::new(&references, &map, 2);
    twists.rebuild(&[0.4, -0.7], &twists.offsets(), &base, 1, &mut fast);
    twists.fused = false;
    twists.rebuild(&[0.4, -0.7], &twists.offsets(), &base, 1, &mut plain);
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
    let mut joints = Joints::new(&tree, 2);
    joints.rebuild(&[0.4, -0.7], &joints.offsets(), &base, &mut fast);
    joints.fused = false;
    joints.rebuild(&[0.4, -0.7], &joints.offsets(), &base, &mut plain);
    assert!(apart(&fast, &plain) < 5e-15);
}
