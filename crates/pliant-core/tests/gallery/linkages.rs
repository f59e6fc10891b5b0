//! Graph, four-bar, gripper: edges, shapes of the loops, and what is passive in them.

use super::*;

#[test]
fn graph_has_the_edges_of_the_figure() {
    let graph = gallery::graph();
    let mut edges: Vec<_> = graph.joints().iter().map(|joint| ends(&graph, &joint.name)).collect();
    edges.sort_unstable();
    let expected = [
        ("a", "b"),
        ("b", "c"),
        ("b", "h"),
        ("c", "d"),
        ("c", "e"),
        ("d", "g"),
        ("e", "f"),
        ("h", "i"),
        ("i", "e"),
        ("world", "a"),
    ];
    assert_eq!(edges, expected);
    assert_eq!(graph.order().node_of(graph.find_body("a").unwrap()), None);
    let hinges: Vec<&Joint> = graph.joints().iter().filter(|j| j.kind == JointKind::Hinge).collect();
    assert_eq!(hinges.len(), 9);
    for joint in hinges {
        let parent = graph[joint.parent.unwrap()].pose.position;
        assert_near(joint.frame.position, (parent + graph[joint.child].pose.position) * 0.5);
        assert_near(axis(joint), Vector3::y());
        assert!(joint.is_held());
    }
    // No two bodies overlap: their centres are farther apart than a box is wide.
    for (i, a) in graph.bodies().iter().enumerate() {
        assert_eq!(a.pose.position.y, 0.0);
        for b in &graph.bodies()[..i] {
            assert!((a.pose.position - b.pose.position).amax() > 0.1, "{} and {}", a.name, b.name);
        }
    }
    // Everything beyond b passes through b, and e is reached both ways.
    assert_eq!(graph.order().dominator_of(graph.find_body("e").unwrap()), graph.find_body("b"));
    assert_eq!(graph.summary().effectors, ["f", "g"]);
    assert_eq!(force(&graph, "f"), vector(0.0, 0.0, -10.0));
    assert_eq!(graph.gravity(), Vector3::zeros());
}

#[test]
fn four_bar_is_neither_a_parallelogram_nor_singular() {
    let bars = gallery::four_bar();
    let [A, B, C, D] = ["A", "B", "C", "D"].map(|name| joint(&bars, name).frame.position);
    let lengths = [B - A, C - B, D - C, A - D].map(|bar| bar.norm());
    let shortest = lengths.into_iter().fold(f64::INFINITY, f64::min);
    let longest = lengths.into_iter().fold(0.0, f64::max);
    assert_eq!(shortest, lengths[0]);
    assert!(2.0 * (shortest + longest) < lengths.iter().sum::<f64>(), "Grashof");
    for (a, b) in [(B - A, C - B), (C - B, D - C), (D - C, A - D), (A - D, B - A)] {
        assert!(a.normalize().cross(&b.normalize()).norm() > 0.3);
    }
    for name in ["B", "C", "D"] {
        assert_eq!(joint(&bars, name).freedoms, [Freedom::PASSIVE]);
    }
    assert!(joint(&bars, "A").is_held());
    assert_link(body(&bars, "coupler"), B, C, 0.25, 0.02);
    assert_eq!(effector(&bars, "coupler"), body(&bars, "coupler").pose);
    assert_eq!(force(&bars, "coupler"), vector(0.0, 0.0, -50.0));
    assert_eq!(bars.gravity(), Vector3::zeros());
}

#[test]
fn gripper_fingers_are_mirrored_parallelograms() {
    let gripper = gallery::gripper();
    let at = |name: &str| joint(&gripper, name).frame.position;
    for side in ["left", "right"] {
        let named = |part: &str| format!("{side}_{part}");
        let driver = at(&named("tip_driver")) - at(&named("driver"));
        assert_near(driver, at(&named("tip_follower")) - at(&named("follower")));
        let across = at(&named("follower")) - at(&named("driver"));
        assert!(driver.normalize().cross(&across.normalize()).norm() > 0.5, "folded flat");
        assert!(joint(&gripper, &named("driver")).is_held());
        for passive in ["follower", "tip_driver", "tip_follower"] {
            assert_eq!(joint(&gripper, &named(passive)).freedoms, [Freedom::PASSIVE]);
        }
        let tip = gripper.find_body(&named("tip")).unwrap();
        assert_eq!(gripper.order().tree_joint_of(tip), gripper.find_joint(&named("tip_driver")));
    }
    let mirror = |p: Vector3<f64>| vector(-p.x, p.y, p.z);
    for part in ["driver", "follower", "tip_driver", "tip_follower"] {
        assert_near(at(&format!("left_{part}")), mirror(at(&format!("right_{part}"))));
    }
    let [left, right] = ["left", "right"].map(|side| effector(&gripper, side).position);
    assert_near(left, mirror(right));
    assert_near(force(&gripper, "left"), mirror(force(&gripper, "right")));
    assert!(force(&gripper, "right").x > 0.0, "the object opens the fingers");

    let [coupling] = gripper.couplings() else { panic!("one coupling") };
    assert_eq!((coupling.ratio, coupling.offset), (-1.0, 0.0));
    let [l, r] = ["left_driver", "right_driver"].map(|name| joint(&gripper, name).freedoms[0]);
    assert_eq!((l.lower, l.upper), (-r.upper, -r.lower));
    // At its closing limit the parallelogram has brought each pad to the middle plane, within 1 mm.
    let driver = at("right_tip_driver") - at("right_driver");
    let moved = Pose::rotation([0.0, 1.0, 0.0], r.upper).rotation * driver - driver;
    assert!((right.x + moved.x).abs() < 1e-3, "{}", right.x + moved.x);
}
