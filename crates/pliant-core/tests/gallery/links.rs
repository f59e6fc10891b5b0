//! Links in rows, ladders, rings and trees: positions, axes, masses and loads from closed forms.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::*;

/// A row of links between points, with hinges at their starts about y and z in turn.
fn assert_row(mechanism: &Mechanism, point: impl Fn(usize) -> Vector3<f64>) {
    let n = mechanism.bodies().len();
    for i in 0..n {
        let link = body(mechanism, &format!("link{i}"));
        assert_link(link, point(i), point(i + 1), 0.1, 0.02);
        let name = format!("hinge{i}");
        let parent = if i == 0 { "world".to_string() } else { format!("link{}", i - 1) };
        assert_eq!(ends(mechanism, &name), (parent.as_str(), link.name.as_str()));
        assert_near(joint(mechanism, &name).frame.position, point(i));
        let local = if i % 2 == 0 { Vector3::y() } else { Vector3::z() };
        assert_near(axis(joint(mechanism, &name)), link.pose.rotation * local);
    }
    assert_hinges_sprung(mechanism, n, 1000.0, 1.0);
    assert_eq!(effector(mechanism, "tip"), mechanism.bodies()[n - 1].pose);
}

#[test]
fn chain_is_straight_and_heavy() {
    let chain = gallery::chain(21);
    assert_row(&chain, |i| vector(0.1 * i as f64, 0.0, 0.0));
    assert_eq!(chain.gravity(), vector(0.0, 0.0, -9.81));
    assert!(chain.loads().is_empty());
    // Joints reach from 0 to 2, the last link's frame 0.05 further.
    assert!((chain.radius() - 1.025).abs() < TOLERANCE);
}

#[test]
fn helix_is_wound_as_the_anchors_say() {
    let helix = gallery::helix(400);
    let point = |i: usize| {
        let (s, c) = (PI * i as f64 / 6.0).sin_cos();
        vector(0.1 * c, 0.1 * s, -0.005 * i as f64)
    };
    assert_row(&helix, point);
    assert_eq!(helix.gravity(), Vector3::zeros());
    assert_eq!(force(&helix, "tip"), vector(0.0, 0.0, -100.0));
    assert!((helix.mass() - 40.0).abs() < 1e-10);
    // After a whole turn it is 12 drops lower.
    assert_near(joint(&helix, "hinge12").frame.position, vector(0.1, 0.0, -0.06));
    // A chord is 2 r sin(15°) across.
    let Geometry::Box { size } = helix.bodies()[0].shapes[0].geometry else { panic!("not a box") };
    assert!((size.x - (0.2 * (PI / 12.0).sin()).hypot(0.005)).abs() < TOLERANCE);
}

#[test]
fn ladder_has_rungs_closed_by_passive_balls() {
    let ladder = gallery::ladder(36);
    for i in 0..12 {
        let (low, high) = (0.1 * i as f64, 0.1 * (i + 1) as f64);
        let [left, right, rung] = ["left", "right", "rung"].map(|part| format!("{part}{i}"));
        assert_link(body(&ladder, &left), vector(0.0, 0.0, low), vector(0.0, 0.0, high), 0.1, 0.02);
        assert_link(body(&ladder, &right), vector(0.2, 0.0, low), vector(0.2, 0.0, high), 0.1, 0.02);
        assert_link(body(&ladder, &rung), vector(0.0, 0.0, high), vector(0.2, 0.0, high), 0.1, 0.02);
        for (part, x, z) in [(&left, 0.0, low), (&right, 0.2, low), (&rung, 0.0, high)] {
            assert_near(axis(joint(&ladder, part)), Vector3::y());
            assert_near(joint(&ladder, part).frame.position, vector(x, 0.0, z));
        }
        assert_eq!(ends(&ladder, &rung), (left.as_str(), rung.as_str()));
        let close = format!("close{i}");
        assert_eq!(ends(&ladder, &close), (right.as_str(), rung.as_str()));
        assert_eq!(joint(&ladder, &close).kind, JointKind::Ball);
        assert_eq!(joint(&ladder, &close).freedoms, [Freedom::PASSIVE; 3]);
        assert_near(joint(&ladder, &close).frame.position, vector(0.2, 0.0, high));
        assert_eq!(ladder.order().loop_joints()[i], ladder.find_joint(&close).unwrap());
    }
    assert_eq!(ends(&ladder, "left0").0, "world");
    assert_eq!(ends(&ladder, "right1").0, "right0");
    assert_hinges_sprung(&ladder, 36, 1000.0, 1.0);
    assert_eq!(ladder.gravity(), Vector3::zeros());
    assert_eq!(effector(&ladder, "tip"), ladder.bodies()[35].pose);
    assert_near(effector(&ladder, "tip").position, vector(0.1, 0.0, 1.2));
    assert_eq!(force(&ladder, "tip"), vector(100.0, 0.0, 0.0));
}

#[test]
fn rungs_carry_the_next_stage() {
    let rungs = gallery::rungs(48);
    for i in 0..16 {
        let (low, high) = (0.15 * i as f64, 0.15 * (i + 1) as f64);
        let [left, right, rung] = ["left", "right", "rung"].map(|part| format!("{part}{i}"));
        assert_link(body(&rungs, &left), vector(0.0, low, 0.0), vector(0.0, high, 0.0), 0.2, 0.02);
        assert_link(body(&rungs, &right), vector(0.15, low, 0.0), vector(0.15, high, 0.0), 0.2, 0.02);
        assert_link(body(&rungs, &rung), vector(0.0, high, 0.0), vector(0.15, high, 0.0), 0.2, 0.02);
        let below = if i == 0 { "world".to_string() } else { format!("rung{}", i - 1) };
        for (side, x) in [(&left, 0.0), (&right, 0.15)] {
            let (foot, head) = (format!("{side}_foot"), format!("{side}_head"));
            assert_eq!(ends(&rungs, &foot), (below.as_str(), side.as_str()));
            assert_eq!(ends(&rungs, &head), (side.as_str(), rung.as_str()));
            assert_near(joint(&rungs, &foot).frame.position, vector(x, low, 0.0));
            assert_near(joint(&rungs, &head).frame.position, vector(x, high, 0.0));
            assert_near(axis(joint(&rungs, &foot)), Vector3::z());
            assert_near(axis(joint(&rungs, &head)), Vector3::z());
        }
        // Every path to a rung goes through the one below.
        let dominator = rungs.order().dominator_of(rungs.find_body(&rung).unwrap());
        assert_eq!(dominator, rungs.find_body(&below));
    }
    assert_hinges_sprung(&rungs, 64, 1000.0, 1.0);
    assert_eq!(rungs.gravity(), Vector3::zeros());
    assert_eq!(effector(&rungs, "tip"), rungs.bodies()[47].pose);
    assert_eq!(force(&rungs, "tip"), vector(100.0, 0.0, 0.0));
    assert!((rungs.mass() - 9.6).abs() < TOLERANCE);
}

#[test]
fn loop_stacks_regular_hexagons() {
    let rings = gallery::closed_loop(18);
    let apothem = 0.1 * (PI / 6.0).cos();
    for ring in 0..3 {
        let bottom = 0.2 * ring as f64;
        for (side, sign) in [("left", -1.0), ("right", 1.0)] {
            let corners = [(0.0, 0.0), (apothem, 0.05), (apothem, 0.15), (0.0, 0.2)];
            for i in 0..3 {
                let [from, to] = [corners[i], corners[i + 1]].map(|(x, z)| vector(sign * x, 0.0, bottom + z));
                let name = format!("ring{ring}_{side}{i}");
                assert!(((to - from).norm() - 0.1).abs() < TOLERANCE);
                assert_link(body(&rings, &name), from, to, 0.1, 0.02);
                assert_near(joint(&rings, &name).frame.position, from);
            }
            let below = if ring == 0 { "world".to_string() } else { format!("ring{}_left2", ring - 1) };
            assert_eq!(ends(&rings, &format!("ring{ring}_{side}0")).0, below);
        }
        let [close, left, right] = ["close", "left2", "right2"].map(|part| format!("ring{ring}_{part}"));
        assert_near(joint(&rings, &close).frame.position, vector(0.0, 0.0, bottom + 0.2));
        assert_eq!(rings.order().loop_joints()[ring], rings.find_joint(&close).unwrap());
        assert_eq!(ends(&rings, &close), (right.as_str(), left.as_str()));
    }
    assert!(rings.joints().iter().all(|joint| (axis(joint) - Vector3::y()).norm() < TOLERANCE));
    assert_hinges_sprung(&rings, 21, 1000.0, 1.0);
    assert_eq!(rings.gravity(), Vector3::zeros());
    assert_eq!(effector(&rings, "tip"), body(&rings, "ring2_left2").pose);
    assert_eq!(force(&rings, "tip"), vector(100.0, 0.0, 0.0));
}

#[test]
fn two_link_is_loaded_at_its_end() {
    let two = gallery::two_link();
    assert_link(body(&two, "upper"), Vector3::zeros(), vector(0.5, 0.0, 0.0), 0.5, 0.02);
    assert_link(body(&two, "lower"), vector(0.5, 0.0, 0.0), vector(1.0, 0.0, 0.0), 0.5, 0.02);
    assert_hinges_sprung(&two, 2, 100.0, 1.0);
    assert_near(axis(joint(&two, "elbow")), Vector3::z());
    assert_near(joint(&two, "elbow").frame.position, vector(0.5, 0.0, 0.0));
    assert_near(two.effectors()[0].frame.position, vector(0.25, 0.0, 0.0));
    assert_near(effector(&two, "tip").position, vector(1.0, 0.0, 0.0));
    assert_eq!(force(&two, "tip"), vector(0.0, 40.0, 0.0));
    assert_eq!(two.gravity(), Vector3::zeros());
}

#[test]
fn y_forks_at_the_end_of_its_stem() {
    let y = gallery::y();
    let fork = vector(0.0, 0.3, 0.0);
    assert_link(body(&y, "stem0"), Vector3::zeros(), vector(0.0, 0.15, 0.0), 0.2, 0.02);
    assert_link(body(&y, "stem1"), vector(0.0, 0.15, 0.0), fork, 0.2, 0.02);
    for (side, sign) in [("left", -1.0), ("right", 1.0)] {
        let step = vector(sign * FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0) * 0.15;
        assert_link(body(&y, &format!("{side}0")), fork, fork + step, 0.2, 0.02);
        assert_link(body(&y, &format!("{side}1")), fork + step, fork + step * 2.0, 0.2, 0.02);
        assert_eq!(ends(&y, &format!("{side}0")).0, "stem1");
        assert_near(effector(&y, side).position, fork + step * 1.5);
    }
    assert!(y.joints().iter().all(|joint| (axis(joint) - Vector3::z()).norm() < TOLERANCE));
    assert_hinges_sprung(&y, 6, 1000.0, 1.0);
    assert_eq!(y.gravity(), Vector3::zeros());
    assert_eq!(force(&y, "left"), vector(100.0, 0.0, 0.0));
    assert_eq!(force(&y, "right"), Vector3::zeros());
}

#[test]
fn arm_has_three_fingers_at_its_wrist() {
    let arm = gallery::arm();
    let wrist = vector(0.72, 0.0, 0.6);
    let mut from = Vector3::zeros();
    for i in 0..8 {
        let step = if i < 2 { vector(0.0, 0.0, 0.15) } else { vector(0.12, 0.0, 0.05) };
        let name = format!("arm{i}");
        assert_link(body(&arm, &name), from, from + step, 1.0, 0.06);
        assert_near(joint(&arm, &name).frame.position, from);
        from += step;
    }
    assert_near(from, wrist);
    // Upright links have y along world x and z along world y; leaning ones have y along world y.
    assert_near(axis(joint(&arm, "arm0")), Vector3::x());
    assert_near(axis(joint(&arm, "arm1")), Vector3::y());
    assert_near(axis(joint(&arm, "arm2")), Vector3::y());
    assert_near(axis(joint(&arm, "arm3")), vector(-5.0, 0.0, 12.0) / 13.0);
    for finger in 0..3 {
        let (s, c) = (2.0 * PI * f64::from(finger) / 3.0).sin_cos();
        let (start, step) = (wrist + vector(0.0, 0.04 * c, 0.04 * s), vector(0.04, 0.005 * c, 0.005 * s));
        for i in 0..4 {
            let name = format!("finger{finger}_{i}");
            let from = start + step * f64::from(i);
            let link = body(&arm, &name);
            assert_link(link, from, from + step, 0.05, 0.015);
            assert_near(joint(&arm, &name).frame.position, from);
            let local = if i % 2 == 0 { Vector3::y() } else { Vector3::z() };
            assert_near(axis(joint(&arm, &name)), link.pose.rotation * local);
        }
        assert_eq!(ends(&arm, &format!("finger{finger}_0")).0, "arm7");
    }
    assert_hinges_sprung(&arm, 20, 1000.0, 1.0);
    assert_eq!(arm.gravity(), vector(0.0, 0.0, -9.81));
    assert!((arm.mass() - 8.6).abs() < TOLERANCE);
    assert_eq!(effector(&arm, "tip"), arm.bodies()[19].pose);
    assert_eq!(force(&arm, "tip"), vector(0.0, 0.0, -100.0));
}
