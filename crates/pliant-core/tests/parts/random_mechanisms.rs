//! Claim: random mechanisms are valid and repeatable and show everything a mechanism can have; and on
//! them, and on the gallery, the order that engines follow keeps its promises, each checked against a
//! slower and simpler way to the same answer.

use std::collections::HashSet;

use pliant_core::gallery::{self, Passive, RandomOptions, random};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{BodyId, Joint, JointId, Mechanism};
use pliant_core::spatial::{Pose, SpatialInertia};

const SEEDS: u64 = 500;

/// Options that, over the seeds, go through all shapes: chains and bushes, free bases, passive joints
/// anywhere, many loops and few.
fn varied(seed: u64) -> RandomOptions {
    let s = seed as usize;
    RandomOptions {
        bodies: 1 + s % 30,
        loops: [0.0, 0.2, 0.6, 1.0][s % 4],
        passive: [Passive::Never, Passive::InLoops, Passive::Anywhere][s % 3],
        bushiness: [0.0, 0.3, 1.0][s / 3 % 3],
        free_bases: s / 9 % 2 == 1,
        effectors: s % 5,
        massless: [0.0, 0.3][s / 18 % 2],
        ..RandomOptions::default()
    }
}

fn mechanisms() -> impl Iterator<Item = Mechanism> {
    let seeded = (0..SEEDS).map(|seed| random(seed, &varied(seed)));
    seeded.chain(gallery::entries().iter().map(|entry| entry.build()))
}

fn bodies(mechanism: &Mechanism) -> impl Iterator<Item = BodyId> + use<> {
    mechanism.body_ids()
}

/// The joints that carry a body.
fn carriers(mechanism: &Mechanism, body: BodyId) -> Vec<JointId> {
    let numbered = mechanism.joints().iter().enumerate();
    numbered
        .filter(|(_, joint)| joint.child == body)
        .map(|(i, _)| crate::common::handles::joint(mechanism, i))
        .collect()
}

#[test]
fn same_seed_same_mechanism() {
    // The name look-ups are hash maps, whose order changes from one print to the next.
    let print = |m: &Mechanism| {
        format!("{:?} {:?} {:?} {:?} {:?}", m.bodies(), m.joints(), m.effectors(), m.loads(), m.order())
    };
    for seed in 0..SEEDS {
        // Building panics on an invalid one.
        let options = varied(seed);
        let (one, two) = (random(seed, &options), random(seed, &options));
        assert_eq!(one, two);
        assert_eq!(print(&one), print(&two));
        assert_eq!(one.bodies().len(), options.bodies);
        assert_eq!(one.effectors().len(), options.effectors);
    }
    assert_ne!(random(1, &RandomOptions::default()), random(2, &RandomOptions::default()));
}

#[test]
fn everything_occurs_by_default() {
    let options = RandomOptions::default();
    let (mut tree_kinds, mut loop_kinds) = (HashSet::new(), HashSet::new());
    let mut seen = HashSet::new();
    for seed in 0..SEEDS {
        let mechanism = random(seed, &options);
        let mut note = |what: &'static str, occurs: bool| {
            if occurs {
                seen.insert(what);
            }
        };
        let mut pairs = HashSet::new();
        for (i, joint) in mechanism.joints().iter().enumerate() {
            let closes =
                mechanism.order().loop_joints().contains(&crate::common::handles::joint(&mechanism, i));
            let kinds = if closes { &mut loop_kinds } else { &mut tree_kinds };
            kinds.insert(joint.kind.name());
            note("two joints between the same bodies", !pairs.insert((joint.parent, joint.child)));
            for freedom in &joint.freedoms {
                note("limits", freedom.lower.is_finite() && freedom.upper.is_finite());
                note("rest", freedom.rest != 0.0);
                note("armature", freedom.armature != 0.0);
                note("passive", !freedom.is_sprung());
                assert!(!freedom.is_sprung() || (10.0..=1e4).contains(&freedom.stiffness));
            }
        }
        for effector in mechanism.effectors() {
            note("effector in a loop", carriers(&mechanism, effector.body).len() > 1);
            note("effector with a frame", effector.frame != Pose::identity());
        }
        note("massless", mechanism.bodies().iter().any(|body| body.inertia.mass == 0.0));
    }
    assert_eq!(tree_kinds.len(), JointKind::ALL.len(), "{tree_kinds:?}");
    assert_eq!(loop_kinds.len(), JointKind::ALL.len(), "{loop_kinds:?}");
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[test]
fn options_are_kept() {
    let plain = RandomOptions {
        bodies: 20,
        loops: 0.0,
        passive: Passive::Never,
        kinds: vec![JointKind::Hinge, JointKind::Ball],
        bushiness: 0.0,
        massless: 0.0,
        limits: false,
        rests: false,
        armatures: false,
        ..RandomOptions::default()
    };
    for seed in 0..50 {
        let mechanism = random(seed, &plain);
        assert_eq!(mechanism.joints().len(), 20);
        assert_eq!(mechanism.summary().loops, 0);
        assert!(mechanism.joints().iter().all(|j| matches!(j.kind, JointKind::Hinge | JointKind::Ball)));
        for freedom in mechanism.joints().iter().flat_map(|joint| &joint.freedoms) {
            assert!(freedom.is_sprung() && freedom.rest == 0.0 && freedom.armature == 0.0);
            assert!(freedom.lower == f64::NEG_INFINITY && freedom.upper == f64::INFINITY);
        }
        assert!(mechanism.bodies().iter().all(|body| body.inertia.mass > 0.0 && !body.free));

        // Passive in loops only: every body has a joint whose springs hold it.
        let held = random(seed, &RandomOptions { loops: 0.5, passive: Passive::InLoops, ..plain.clone() });
        for body in bodies(&held) {
            assert!(carriers(&held, body).iter().any(|j| held[*j].is_held()));
        }
        let free = random(seed, &RandomOptions { free_bases: true, ..plain.clone() });
        assert!(free.bodies().iter().any(|body| body.free));
    }
}

#[test]
fn bushes_are_shallower_than_chains() {
    let depth = |bushiness: f64| -> usize {
        let options = RandomOptions { bodies: 60, bushiness, ..RandomOptions::default() };
        let deepest = |m: Mechanism| m.order().nodes().iter().map(|node| node.depth).max().unwrap_or(0);
        (0..20).map(|seed| deepest(random(seed, &options))).sum()
    };
    assert!(depth(1.0) * 2 < depth(0.0));
}

#[test]
fn bodies_come_after_all_their_parents() {
    for mechanism in mechanisms() {
        let order = mechanism.order();
        let mut place = vec![None; mechanism.bodies().len()];
        for (i, body) in order.bodies().iter().enumerate() {
            assert_eq!(place[body.index()].replace(i), None, "listed twice");
        }
        assert_eq!(order.bodies().len(), place.len());
        for joint in mechanism.joints() {
            assert!(joint.parent.is_none_or(|parent| place[parent.index()] < place[joint.child.index()]));
        }
    }
}

#[test]
fn tree_joints_are_the_preferred_ones() {
    let rank = |joint: &Joint| {
        let sprung = joint.freedoms.iter().filter(|freedom| freedom.stiffness > 0.0).count();
        match (&joint.kind, sprung) {
            (JointKind::Fixed, _) => 0,
            (kind, n) if n == kind.freedoms() => 1,
            (_, n) if n > 0 => 2,
            _ => 3,
        }
    };
    let mut ranks_of_trees = HashSet::new();
    for mechanism in mechanisms() {
        let order = mechanism.order();
        let mut left_over: Vec<JointId> = mechanism.joint_ids().collect();
        for body in bodies(&mechanism) {
            let depth = |mut at: Option<BodyId>| {
                let mut joints = 0;
                while let Some(joint) = at.and_then(|body| order.tree_joint_of(body)) {
                    (joints, at) = (joints + 1, mechanism[joint].parent);
                }
                joints
            };
            let best = carriers(&mechanism, body).into_iter().min_by_key(|j| {
                let joint = &mechanism[*j];
                let name = (joint.name.len(), &joint.name);
                (rank(joint), joint.kind.freedoms(), depth(joint.parent), name)
            });
            assert_eq!(order.tree_joint_of(body), best);
            assert_eq!(best.is_none(), mechanism[body].free);
            ranks_of_trees.extend(best.map(|joint| rank(&mechanism[joint])));
            left_over.retain(|joint| Some(*joint) != best);
        }
        left_over.sort_by_key(|joint| (mechanism[*joint].name.len(), &mechanism[*joint].name));
        assert_eq!(order.loop_joints(), left_over);
        assert_eq!(mechanism.summary().loops, left_over.len());
    }
    assert_eq!(ranks_of_trees.len(), 4, "every rank was a tree joint somewhere");
}

/// The first body of the node of a body, by walking up fixed tree joints; `None` is the world.
fn head(mechanism: &Mechanism, mut body: BodyId) -> Option<BodyId> {
    while let Some(joint) = mechanism.order().tree_joint_of(body).map(|j| &mechanism[j]) {
        if joint.kind != JointKind::Fixed {
            break;
        }
        body = joint.parent?;
    }
    Some(body)
}

#[test]
fn nodes_are_welded_bodies() {
    for mechanism in mechanisms() {
        let order = mechanism.order();
        let mut freedoms = 0;
        for (n, node) in order.nodes().iter().enumerate() {
            assert!(node.parent.is_none_or(|parent| parent < n));
            assert_eq!(node.joint, order.tree_joint_of(node.head));
            assert_eq!(order.node_of(node.head), Some(n));
            let carrier = node.joint.and_then(|joint| mechanism[joint].parent);
            assert_eq!(node.parent, carrier.and_then(|body| order.node_of(body)));
            // Joints up to the world, counted one by one.
            let (mut depth, mut at) = (0, Some(n));
            while let Some(node) = at.map(|i| &order.nodes()[i]) {
                depth += usize::from(node.joint.is_some());
                at = node.parent;
            }
            assert_eq!(node.depth, depth);
            freedoms += node.joint.map_or(6, |joint| mechanism[joint].kind.freedoms());
        }
        assert_eq!(mechanism.summary().freedoms, freedoms);
        for body in bodies(&mechanism) {
            let node = order.node_of(body).map(|n| &order.nodes()[n]);
            assert_eq!(node.map(|node| node.head), head(&mechanism, body));
            // Offsets put every body back where it rests.
            let frame = node.map_or(Pose::identity(), |node| mechanism[node.head].pose);
            let (back, rest) = (frame * order.offset_of(body), mechanism[body].pose);
            assert!((back.position - rest.position).norm() < 1e-12);
            assert!(back.rotation.angle_to(&rest.rotation) < 1e-7);
        }
    }
}

#[test]
fn node_inertias_are_sums() {
    for mechanism in mechanisms() {
        let order = mechanism.order();
        for (n, node) in order.nodes().iter().enumerate() {
            let inside = || bodies(&mechanism).filter(|body| order.node_of(*body) == Some(n));
            let mass: f64 = inside().map(|body| mechanism[body].inertia.mass).sum();
            assert!((node.inertia.mass - mass).abs() <= 1e-12 * mass);
            // The 6×6 matrices add up: Σ Ad⁻ᵀ M Ad⁻¹, with the offsets from the rest poses.
            let mut sum = SpatialInertia::ZERO.matrix();
            for body in inside() {
                let offset = mechanism[node.head].pose.inverse_times(&mechanism[body].pose);
                let back = offset.inverse().adjoint();
                sum += back.transpose() * mechanism[body].inertia.matrix() * back;
            }
            assert!((node.inertia.matrix() - sum).norm() <= 1e-12 * sum.norm());
        }
    }
}

/// Which bodies can be reached from the world and the free bases without passing through one of them.
fn reachable_without(mechanism: &Mechanism, removed: Option<BodyId>) -> Vec<bool> {
    let mut reached: Vec<bool> =
        bodies(mechanism).map(|body| mechanism[body].free && Some(body) != removed).collect();
    loop {
        let mut grew = false;
        for joint in mechanism.joints() {
            let open = joint.parent.is_none_or(|parent| reached[parent.index()]);
            if open && !reached[joint.child.index()] && Some(joint.child) != removed {
                reached[joint.child.index()] = true;
                grew = true;
            }
        }
        if !grew {
            return reached;
        }
    }
}

#[test]
fn dominators_are_what_cannot_be_left_out() {
    let mut loops_from_a_body = 0;
    for mechanism in mechanisms() {
        let order = mechanism.order();
        assert!(reachable_without(&mechanism, None).iter().all(|reached| *reached));
        let mut expected: Vec<HashSet<BodyId>> = vec![HashSet::new(); mechanism.bodies().len()];
        for removed in bodies(&mechanism) {
            let reached = reachable_without(&mechanism, Some(removed));
            for body in bodies(&mechanism).filter(|body| *body != removed && !reached[body.index()]) {
                expected[body.index()].insert(removed);
            }
        }
        for body in bodies(&mechanism) {
            let mut chain = HashSet::new();
            let mut at = order.dominator_of(body);
            while let Some(dominator) = at {
                chain.insert(dominator);
                at = order.dominator_of(dominator);
            }
            assert_eq!(chain, expected[body.index()]);
            let parent = order.tree_joint_of(body).and_then(|joint| mechanism[joint].parent);
            loops_from_a_body += usize::from(!chain.is_empty() && order.dominator_of(body) != parent);
        }
    }
    assert!(loops_from_a_body > 100, "{loops_from_a_body}");
}
