//! Claim: the order visits every body after all its parents, makes a spanning forest whose leftover
//! joints are the loops, joins welded bodies into nodes with their summed inertia, and finds
//! dominators; for graphs of any depth, without recursion.

use std::collections::HashSet;

use pliant_core::joints::JointKind;
use pliant_core::mechanism::*;
use pliant_core::spatial::{Pose, SpatialInertia};

fn body(name: impl Into<String>, x: f64) -> Body {
    Body::new(name, Pose::translation([x, 0.0, 0.0])).inertia(SpatialInertia::of_box(1.0, [0.1, 0.2, 0.3]))
}

/// Bodies b0, b1, … and joints (kind, parent, child), the world as `None`.
fn graph(count: usize, joints: &[(JointKind, Option<usize>, usize)]) -> Mechanism {
    let mut builder = MechanismBuilder::new("graph");
    for i in 0..count {
        let held = joints.iter().any(|(_, _, child)| *child == i);
        builder.body(Body { free: !held, ..body(format!("b{i}"), i as f64) });
    }
    for (j, (kind, parent, child)) in joints.iter().enumerate() {
        let parent = parent.map_or(WORLD.to_string(), |p| format!("b{p}"));
        builder.joint(JointDescription::new(format!("j{j}"), kind.clone(), parent, format!("b{child}")));
    }
    builder.build().expect("legal")
}

fn check_forest(mechanism: &Mechanism) {
    let order = mechanism.order();
    // Every body once, after all its parents.
    let mut seen = HashSet::new();
    for &b in order.bodies() {
        let parents = mechanism.joints().iter().filter(|j| j.child == b).filter_map(|j| j.parent);
        assert!(parents.into_iter().all(|p| seen.contains(&p)), "a parent comes late");
        assert!(seen.insert(b));
    }
    assert_eq!(seen.len(), mechanism.bodies().len());
    // Every joint either carries its child in the forest or closes a loop.
    let tree = mechanism
        .bodies()
        .iter()
        .enumerate()
        .filter_map(|(b, _)| order.tree_joint_of(crate::common::handles::body(mechanism, b)));
    let mut joints: Vec<JointId> = tree.chain(order.loop_joints().iter().copied()).collect();
    joints.sort();
    assert_eq!(joints, mechanism.joint_ids().collect::<Vec<_>>());
    // Nodes come parents first, one deeper each, and weigh what their bodies weigh.
    for (n, node) in order.nodes().iter().enumerate() {
        match (node.parent, node.joint) {
            (Some(p), Some(_)) => {
                assert!(p < n);
                assert_eq!(node.depth, order.nodes()[p].depth + 1);
            }
            (None, joint) => assert_eq!(node.depth, usize::from(joint.is_some())),
            (Some(_), None) => panic!("a free base has no parent"),
        }
        let members = (0..mechanism.bodies().len())
            .filter(|b| order.node_of(crate::common::handles::body(mechanism, *b)) == Some(n));
        let mass: f64 = members.map(|b| mechanism.bodies()[b].inertia.mass).sum();
        assert!((node.inertia.mass - mass).abs() <= 1e-12 * mass);
    }
}

/// The dominator by its definition: the last body without which the world does not reach b.
fn dominator_by_definition(mechanism: &Mechanism, b: usize) -> Option<usize> {
    let reaches = |without: usize| {
        let mut reached: HashSet<usize> =
            (0..mechanism.bodies().len()).filter(|i| mechanism.bodies()[*i].free && *i != without).collect();
        loop {
            let before = reached.len();
            for joint in mechanism.joints() {
                let from = joint.parent.is_none_or(|p| reached.contains(&p.index()));
                if from && joint.child.index() != without {
                    reached.insert(joint.child.index());
                }
            }
            if reached.len() == before {
                return reached.contains(&b);
            }
        }
    };
    let position = |i: usize| mechanism.order().bodies().iter().position(|x| x.index() == i);
    (0..mechanism.bodies().len()).filter(|&a| a != b && !reaches(a)).max_by_key(|&a| position(a))
}

#[test]
fn a_chain() {
    let joints: Vec<_> = (0..5).map(|i: usize| (JointKind::Hinge, i.checked_sub(1), i)).collect();
    let chain = graph(5, &joints);
    check_forest(&chain);
    assert_eq!(chain.order().nodes()[4].depth, 5);
    assert_eq!(chain.order().loop_joints(), &[]);
    for b in 1..5 {
        assert_eq!(
            chain.order().dominator_of(crate::common::handles::body(&chain, b)),
            Some(crate::common::handles::body(&chain, b - 1))
        );
    }
}

/// Fixed joints are preferred as tree joints, then sprung ones: the passive joint closes the loop,
/// wherever it stands in the list.
#[test]
fn passive_joints_close_loops() {
    let kinds = |j: usize| JointDescription::new(format!("j{j}"), JointKind::Hinge, "world", "b");
    let mut builder = MechanismBuilder::new("");
    builder.body(body("b", 0.0));
    builder.joint(kinds(0)).joint(kinds(1).stiffness(1.0)).joint(kinds(2));
    let one = builder.clone().build().expect("legal");
    let tree = |m: &Mechanism| m.order().tree_joint_of(crate::common::handles::body(m, 0)).map(|j| j.index());
    assert_eq!(tree(&one), Some(1));
    assert_eq!(one.order().loop_joints().iter().map(|j| j.index()).collect::<Vec<_>>(), [0, 2]);
    builder.joint(JointDescription::new("weld", JointKind::Fixed, "world", "b"));
    let welded = builder.build().expect("legal");
    assert_eq!(tree(&welded), Some(3));
    assert_eq!(welded.order().nodes().len(), 0);
    assert_eq!(welded.warnings().len(), 3, "three joints that cannot move");
}

#[test]
fn welds_make_nodes() {
    use JointKind::{Fixed, Hinge};
    // world ─hinge─ b0 ─fixed─ b1 ─fixed─ b2 ─hinge─ b3; b4 on the world by a weld, b5 on it by a hinge.
    let mechanism = graph(
        6,
        &[
            (Hinge, None, 0),
            (Fixed, Some(0), 1),
            (Fixed, Some(1), 2),
            (Hinge, Some(2), 3),
            (Fixed, None, 4),
            (Hinge, Some(4), 5),
        ],
    );
    check_forest(&mechanism);
    let order = mechanism.order();
    let node = |b: usize| order.node_of(crate::common::handles::body(&mechanism, b));
    assert_eq!([node(0), node(1), node(2), node(4)], [Some(0), Some(0), Some(0), None]);
    let offset = order.offset_of(crate::common::handles::body(&mechanism, 2));
    assert_eq!(offset, Pose::translation([2.0, 0.0, 0.0]));
    // Three boxes in a row: M = Σ of the 6×6 matrices, each in the frame of the first.
    let sum = (0..3).fold(pliant_core::nalgebra::Matrix6::zeros(), |sum, b| {
        sum + mechanism.bodies()[b].inertia.in_outer(&Pose::translation([b as f64, 0.0, 0.0])).matrix()
    });
    assert!((order.nodes()[0].inertia.matrix() - sum).amax() <= 1e-14);
    // What hangs on a body that is welded to the world hangs on the world.
    let hung = node(5).map(|n| &order.nodes()[n]).expect("it moves");
    assert_eq!((hung.parent, hung.depth), (None, 1));
    assert_eq!(mechanism.summary().freedoms, 3);
}

#[test]
fn a_free_base_has_six_freedoms() {
    let mechanism = graph(2, &[(JointKind::Ball, Some(0), 1)]);
    check_forest(&mechanism);
    assert_eq!(mechanism.summary().freedoms, 9);
    assert_eq!(mechanism.order().dominator_of(crate::common::handles::body(&mechanism, 0)), None);
}

/// Random graphs with loops, from a fixed generator: the forest's invariants, and dominators
/// against their definition.
#[test]
fn random_graphs() {
    let mut state = 7u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n as u64) as usize
    };
    for _ in 0..300 {
        let count = 1 + below(9);
        // Joints go from smaller to larger numbers of a shuffled list: no circles.
        let mut shuffled: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            shuffled.swap(i, below(i + 1));
        }
        let mut joints = Vec::new();
        for i in 0..count {
            for _ in 0..below(4) {
                let parent = if i == 0 || below(4) == 0 { None } else { Some(shuffled[below(i)]) };
                joints.push((JointKind::ALL[below(8)].clone(), parent, shuffled[i]));
            }
        }
        let mechanism = graph(count, &joints);
        check_forest(&mechanism);
        for b in 0..count {
            let found = mechanism
                .order()
                .dominator_of(crate::common::handles::body(&mechanism, b))
                .map(|d| d.index());
            assert_eq!(found, dominator_by_definition(&mechanism, b), "body {b} of {joints:?}");
        }
    }
}

/// Long chains only take longer. The thread has 128 KiB of stack, which any recursion over 100,000
/// bodies would overflow.
#[test]
fn a_chain_of_100_000_bodies() {
    let long = || {
        let count = 100_000;
        let mut builder = MechanismBuilder::new("long");
        for i in 0..count {
            builder.body(body(format!("b{i}"), i as f64));
            let parent = if i == 0 { WORLD.to_string() } else { format!("b{}", i - 1) };
            builder.joint(JointDescription::new(format!("j{i}"), JointKind::Hinge, parent, format!("b{i}")));
        }
        // And a ring as long: its two ends meet again in the last body.
        builder.joint(JointDescription::new("close", JointKind::Ball, "b0", format!("b{}", count - 1)));
        let mechanism = builder.build().expect("legal");
        assert_eq!(mechanism.order().nodes().len(), count);
        assert_eq!(mechanism.order().nodes()[count - 1].depth, count);
        assert_eq!(mechanism.order().loop_joints().len(), 1);
        let last = crate::common::handles::body(&mechanism, count - 1);
        assert_eq!(mechanism.order().dominator_of(last), Some(crate::common::handles::body(&mechanism, 0)));
    };
    std::thread::Builder::new()
        .stack_size(128 * 1024)
        .spawn(long)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// A circle of 100,000 parents is found as one.
#[test]
fn a_long_circle() {
    let count = 100_000;
    let mut builder = MechanismBuilder::new("");
    for i in 0..count {
        let (name, parent, child) = (format!("j{i}"), format!("b{i}"), format!("b{}", (i + 1) % count));
        builder.body(body(parent.clone(), 0.0));
        builder.joint(JointDescription::new(name, JointKind::Fixed, parent, child));
    }
    let defects = builder.build().expect_err("a circle").defects;
    assert_eq!(defects.len(), 1);
    let named = defects[0].message.matches('`').count() / 2;
    assert!(defects[0].message.contains("b0") || named > 0, "{}", defects[0].message);
}
