//! Claim: every entry of the gallery is the mechanism its description says, at every size it allows:
//! counts from formulas counted by hand, positions, axes, masses, effectors and loads from closed
//! forms; and a name or size that does not exist is refused in words.
#![allow(non_snake_case)] // points of a linkage have capital letters

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use pliant_core::gallery::{self, LARGEST_SIZE};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, Freedom, Geometry, Joint, Mechanism};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, SpatialInertia};

const TOLERANCE: f64 = 1e-12;

fn vector(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

#[track_caller]
fn assert_near(a: Vector3<f64>, b: Vector3<f64>) {
    assert!((a - b).norm() <= TOLERANCE * (1.0 + b.norm()), "{a:?} is not {b:?}");
}

#[track_caller]
fn body<'a>(mechanism: &'a Mechanism, name: &str) -> &'a Body {
    mechanism.body(mechanism.find_body(name).unwrap_or_else(|| panic!("no body {name}")))
}

#[track_caller]
fn joint<'a>(mechanism: &'a Mechanism, name: &str) -> &'a Joint {
    mechanism.joint(mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}")))
}

/// Parent's and child's name.
fn ends<'a>(mechanism: &'a Mechanism, name: &str) -> (&'a str, &'a str) {
    let id = mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"));
    (mechanism.parent_name(id), &mechanism.body(mechanism.joint(id).child).name)
}

fn axis(joint: &Joint) -> Vector3<f64> {
    joint.frame.rotation * Vector3::z()
}

/// Where an effector is in the world.
#[track_caller]
fn effector(mechanism: &Mechanism, name: &str) -> Pose {
    let effector = mechanism.effector(mechanism.find_effector(name).expect(name));
    mechanism.body(effector.body).pose * effector.frame
}

/// Force on an effector; every gallery load is a pure force.
fn force(mechanism: &Mechanism, name: &str) -> Vector3<f64> {
    let id = mechanism.find_effector(name);
    let loads = mechanism.loads().iter().filter(|load| Some(load.effector) == id);
    loads.inspect(|load| assert_eq!(load.wrench.torque, Vector3::zeros())).map(|load| load.wrench.force).sum()
}

/// Bodies, joints, freedoms, loops.
fn counts(mechanism: &Mechanism) -> [usize; 4] {
    let summary = mechanism.summary();
    [summary.bodies, summary.joints, summary.freedoms, summary.loops]
}

fn assert_hinges_sprung(mechanism: &Mechanism, stiffness: f64, damping: f64) {
    let expected = Freedom { stiffness, damping, ..Freedom::PASSIVE };
    for joint in mechanism.joints().iter().filter(|joint| joint.kind == JointKind::Hinge) {
        assert_eq!(joint.freedoms, [expected], "{}", joint.name);
    }
}

/// The body is a bar between two points: frame, inertia and shape as the anchors say.
#[track_caller]
fn assert_link(body: &Body, from: Vector3<f64>, to: Vector3<f64>, mass: f64, section: f64) {
    let length = (to - from).norm();
    assert_near(body.pose.position, (from + to) * 0.5);
    let x = (to - from) / length;
    let up = if x.z.abs() < 0.9 { Vector3::z() } else { Vector3::y() };
    let y = up.cross(&x).normalize();
    assert_near(body.pose.rotation * Vector3::x(), x);
    assert_near(body.pose.rotation * Vector3::y(), y);
    assert_near(body.pose.rotation * Vector3::z(), x.cross(&y));
    let SpatialInertia { mass: m, center_of_mass, inertia } = body.inertia;
    assert_eq!((m, center_of_mass), (mass, Vector3::zeros()));
    // A box: (b² + c²) m/12 about each axis.
    let along = mass * (section * section + section * section) / 12.0;
    let across = mass * (length * length + section * section) / 12.0;
    assert_near(inertia.diagonal(), vector(along, across, across));
    let Geometry::Box { size } = body.shapes[0].geometry else { panic!("not a box") };
    assert_near(size, vector(length, section, section));
}

#[test]
fn every_entry_builds_and_is_named_after_itself() {
    let mut names = Vec::new();
    for entry in gallery::entries() {
        let mechanism = gallery::build(entry.name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(mechanism, entry.build());
        match entry.size {
            Some(size) => {
                assert_eq!(mechanism.name(), format!("{}:{}", entry.name, size.default));
                assert_eq!(mechanism.bodies().len(), size.default);
                assert!(size.default.is_multiple_of(size.multiple));
            }
            None => assert_eq!(mechanism.name(), entry.name),
        }
        assert_eq!(gallery::build(mechanism.name()).unwrap(), mechanism);
        assert!(!mechanism.effectors().is_empty(), "{}", entry.name);
        assert!(mechanism.warnings().is_empty(), "{}: {:?}", entry.name, mechanism.warnings());
        assert!(!entry.about.is_empty() && !entry.about.ends_with('.'));
        names.push(entry.name);
    }
    let all = "chain helix ladder rungs loop two-link y graph four-bar arm gripper hand hexapod firefighters \
               torus-chain windmill spline-slide surface-slide";
    assert_eq!(names.join(" "), all);
}

#[test]
fn default_sizes() {
    let sizes = gallery::entries().iter().filter_map(|e| Some((e.name, e.size?.default, e.size?.multiple)));
    let expected = [
        ("chain", 20, 1),
        ("helix", 50, 1),
        ("ladder", 36, 3),
        ("rungs", 48, 3),
        ("loop", 12, 6),
        ("torus-chain", 10, 1),
    ];
    assert_eq!(sizes.collect::<Vec<_>>(), expected);
}

#[test]
fn counts_follow_from_the_size() {
    for n in [1, 2, 7, 50, 400] {
        assert_eq!(counts(&gallery::chain(n)), [n, n, n, 0]);
        assert_eq!(counts(&gallery::helix(n)), [n, n, n, 0]);
    }
    for stages in [1, 2, 12, 50] {
        let n = 3 * stages;
        // Per stage: two rail hinges, one rung hinge, one ball joint that closes.
        assert_eq!(counts(&gallery::ladder(n)), [n, 4 * stages, n, stages]);
        // Per stage: two hinges at the feet of the rails, two at their heads.
        assert_eq!(counts(&gallery::rungs(n)), [n, 4 * stages, n, stages]);
    }
    for rings in [1, 2, 5] {
        assert_eq!(counts(&gallery::closed_loop(6 * rings)), [6 * rings, 7 * rings, 6 * rings, rings]);
    }
    assert_eq!(counts(&gallery::two_link()), [2, 2, 2, 0]);
    assert_eq!(counts(&gallery::y()), [6, 6, 6, 0]);
    assert_eq!(counts(&gallery::arm()), [20, 20, 20, 0]);
    // Nine hinges and a weld; eight bodies that move.
    assert_eq!(counts(&gallery::graph()), [9, 10, 8, 1]);
    assert_eq!(counts(&gallery::four_bar()), [3, 4, 3, 1]);
    // A palm, and per finger three bodies with four hinges.
    assert_eq!(counts(&gallery::gripper()), [7, 9, 6, 2]);
    // A palm, and per finger a universal joint and two hinges.
    assert_eq!(counts(&gallery::hand()), [16, 16, 20, 0]);
    // Six of the free base, three of each leg.
    assert_eq!(counts(&gallery::hexapod()), [19, 18, 24, 0]);
    // Per person 15 bodies, 16 joints without the grips and 27 freedoms; one loop through the pelvis.
    // The trampoline has four grips of three freedoms, one of them in the forest.
    assert_eq!(counts(&gallery::firefighters()), [2 * 15 + 1, 2 * 16 + 4, 2 * 27 + 3, 2 + 3]);
    // Two of the first ring, four of each that follows: 38 and 78 for ten and twenty.
    for n in [1, 2, 10, 20] {
        assert_eq!(counts(&gallery::torus_chain(n)), [n, n, 2 + 4 * (n - 1), 0]);
    }
    // The hub, and per arm a blade on five freedoms and a ring on four.
    assert_eq!(counts(&gallery::windmill()), [17, 17, 73, 0]);
    // The carriage, and five rings.
    assert_eq!(counts(&gallery::spline_slide()), [6, 6, 1 + 5 * 4, 0]);
    // The board's three, and two of the mast.
    assert_eq!(counts(&gallery::surface_slide()), [2, 2, 5, 0]);
}

/// Rings touch: centres are two radii apart, in a row, and rolling leaves the tubes in touch.
#[test]
fn rings_of_a_torus_chain_touch() {
    let chain = gallery::torus_chain(5);
    for i in 0..5 {
        assert_near(
            body(&chain, &format!("ring{i}")).pose.position,
            vector(0.06 + 0.12 * i as f64, 0.0, 0.0),
        );
    }
    let roll = joint(&chain, "roll1");
    let JointKind::Expression(expression) = &roll.kind else { panic!("not a formula") };
    assert_eq!(expression.formula().ready_name(), Some("torus-torus"));
    for (u, v) in [(0.0, 0.0), (0.5, 0.2), (-2.0, 1.0)] {
        // The centres of the two tubes, where u and v lead on either ring, are two tube radii apart.
        let G = expression.start() * expression.transform(&[u, v, 0.3, -0.7]);
        let tube = |u: f64| vector(0.05 * u.cos(), 0.05 * u.sin(), 0.0);
        let apart = G.transform_point(&tube(-0.7)) - tube(u);
        assert!((apart.norm() - 0.02).abs() < TOLERANCE, "{}", apart.norm());
    }
    assert_eq!(force(&chain, "tip"), vector(0.0, 0.5, -1.0));
}

/// A windmill's blades stand off the hub by both radii, all round; half of them roll on spheres.
#[test]
fn windmill_stands_all_round() {
    let mill = gallery::windmill();
    let names = |name: &str| {
        let formula = |joint: &&Joint| match &joint.kind {
            JointKind::Expression(expression) => expression.formula().ready_name() == Some(name),
            _ => false,
        };
        mill.joints().iter().filter(formula).count()
    };
    assert_eq!(["sphere-sphere", "ellipsoid-ellipsoid", "torus-torus"].map(names), [4, 4, 8]);
    for i in 0..8 {
        let root = joint(&mill, &format!("root{i}")).frame.position;
        assert!((root.norm() - 0.13).abs() < TOLERANCE && root.y.abs() < TOLERANCE, "{root:?}");
        let ring = body(&mill, &format!("ring{i}")).pose.position;
        assert!((ring.norm() - (0.13 + 0.25 + 0.12)).abs() < TOLERANCE);
    }
}

/// The carriage starts in the middle of its curve and the board off the middle of its patch, on it and along it.
#[test]
fn slides_start_on_their_curve_and_patch() {
    // Bernstein's weights at 1/2 of seven points: 1, 6, 15, 20, 15, 6, 1 of 64.
    let slide = gallery::spline_slide();
    let middle = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0].map(|w: f64| w / 64.0);
    let z: f64 = middle.iter().zip([0.2, 0.0, 0.1, -0.2, 0.1, 0.0, 0.3]).map(|(w, z)| w * z).sum();
    let carriage = body(&slide, "carriage").pose;
    assert!(carriage.position.x.abs() < TOLERANCE && (carriage.position.z - z).abs() < TOLERANCE);
    let JointKind::Expression(curve) = &joint(&slide, "slide").kind else { panic!("not a formula") };
    assert_near(curve.subspace(&[0.0]).fixed_view::<3, 1>(0, 0).normalize(), Vector3::x());

    let slide = gallery::surface_slide();
    let JointKind::Expression(patch) = &joint(&slide, "slide").kind else { panic!("not a formula") };
    // Both slides are across the normal, and the spin is about it.
    let S = patch.subspace(&[0.1, -0.2, 0.5]);
    assert!(S[(2, 0)].abs() < TOLERANCE && S[(2, 1)].abs() < TOLERANCE);
    assert_near(S.fixed_view::<3, 1>(3, 2).into(), Vector3::z());
}

#[test]
fn joint_frames_of_parent_and_child_coincide() {
    for entry in gallery::entries() {
        let mechanism = entry.build();
        for joint in mechanism.joints() {
            let id = mechanism.find_joint(&joint.name).unwrap();
            let parent = joint.parent.map_or(Pose::identity(), |p| mechanism.body(p).pose);
            let on_parent = parent * mechanism.frame_in_parent(id);
            let on_child = mechanism.body(joint.child).pose * mechanism.frame_in_child(id);
            let gap = on_parent.inverse_times(&on_child);
            assert!(gap.position.norm() < TOLERANCE && gap.rotation.angle() < 1e-7, "{}", joint.name);
        }
    }
}

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
    assert_hinges_sprung(mechanism, 1000.0, 1.0);
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
    assert_hinges_sprung(&ladder, 1000.0, 1.0);
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
    assert_hinges_sprung(&rungs, 1000.0, 1.0);
    assert_eq!(rungs.gravity(), Vector3::zeros());
    assert_eq!(effector(&rungs, "tip"), rungs.bodies()[47].pose);
    assert_eq!(force(&rungs, "tip"), vector(100.0, 0.0, 0.0));
    assert!((rungs.mass() - 9.6).abs() < TOLERANCE);
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
    assert_hinges_sprung(&y, 1000.0, 1.0);
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
    assert_hinges_sprung(&arm, 1000.0, 1.0);
    assert_eq!(arm.gravity(), vector(0.0, 0.0, -9.81));
    assert!((arm.mass() - 8.6).abs() < TOLERANCE);
    assert_eq!(effector(&arm, "tip"), arm.bodies()[19].pose);
    assert_eq!(force(&arm, "tip"), vector(0.0, 0.0, -100.0));
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
    assert_hinges_sprung(&rings, 1000.0, 1.0);
    assert_eq!(rings.gravity(), Vector3::zeros());
    assert_eq!(effector(&rings, "tip"), body(&rings, "ring2_left2").pose);
    assert_eq!(force(&rings, "tip"), vector(100.0, 0.0, 0.0));
}

#[test]
fn two_link_is_loaded_at_its_end() {
    let two = gallery::two_link();
    assert_link(body(&two, "upper"), Vector3::zeros(), vector(0.5, 0.0, 0.0), 0.5, 0.02);
    assert_link(body(&two, "lower"), vector(0.5, 0.0, 0.0), vector(1.0, 0.0, 0.0), 0.5, 0.02);
    assert_hinges_sprung(&two, 100.0, 1.0);
    assert_near(axis(joint(&two, "elbow")), Vector3::z());
    assert_near(joint(&two, "elbow").frame.position, vector(0.5, 0.0, 0.0));
    assert_near(two.effectors()[0].frame.position, vector(0.25, 0.0, 0.0));
    assert_near(effector(&two, "tip").position, vector(1.0, 0.0, 0.0));
    assert_eq!(force(&two, "tip"), vector(0.0, 40.0, 0.0));
    assert_eq!(two.gravity(), Vector3::zeros());
}

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
    for joint in graph.joints().iter().filter(|joint| joint.kind == JointKind::Hinge) {
        let parent = graph.body(joint.parent.unwrap()).pose.position;
        assert_near(joint.frame.position, (parent + graph.body(joint.child).pose.position) * 0.5);
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

#[test]
fn hand_has_sixteen_bones_with_limits() {
    let hand = gallery::hand();
    assert_eq!(hand.summary().effectors, ["thumb", "index", "middle", "ring", "little"]);
    let of_kind = |kind| hand.joints().iter().filter(|joint| joint.kind == kind).count();
    assert_eq!([JointKind::Fixed, JointKind::Universal, JointKind::Hinge].map(of_kind), [1, 5, 10]);
    for joint in hand.joints() {
        for freedom in &joint.freedoms {
            assert!((1.0..=5.0).contains(&freedom.stiffness) && freedom.damping > 0.0);
            assert!(-1.0 < freedom.lower && freedom.lower < 0.0, "{}", joint.name);
            assert!(0.0 < freedom.upper && freedom.upper < 2.0, "{}", joint.name);
        }
    }
    for tip in hand.effectors() {
        let bone = hand.body(tip.body);
        let Geometry::Capsule { radius, half_length } = bone.shapes[0].geometry else { panic!("no capsule") };
        // At the far end of the capsule, along the bone.
        assert_near(tip.frame.position, vector(half_length + radius, 0.0, 0.0));
        // Bending a fingertip moves it down: the palm looks down.
        let last = joint(&hand, &bone.name);
        let lever = effector(&hand, &tip.name).position - last.frame.position;
        assert!(axis(last).cross(&lever).z < 0.0, "{}", bone.name);
    }
    // The second freedom of a knuckle, about the carried y, is flexion too.
    for finger in ["thumb_metacarpal", "index_proximal", "little_proximal"] {
        let knuckle = joint(&hand, finger);
        let lever = body(&hand, finger).pose.position - knuckle.frame.position;
        assert!((knuckle.frame.rotation * Vector3::y()).cross(&lever).z < 0.0, "{finger}");
    }
    assert!((0.4..0.5).contains(&hand.mass()), "{}", hand.mass());
    assert_eq!(force(&hand, "index"), vector(0.0, 0.0, 2.0));
}

#[test]
fn hexapod_stands_in_balance() {
    let hexapod = gallery::hexapod();
    assert!(body(&hexapod, "base").free);
    assert_eq!(hexapod.effectors().len(), 6);
    let mut total = hexapod.gravity() * hexapod.mass();
    let mut moment = Vector3::zeros();
    for body in hexapod.bodies() {
        let center = body.pose.transform_point(&body.inertia.center_of_mass);
        moment += center.cross(&(hexapod.gravity() * body.inertia.mass));
    }
    for foot in hexapod.effectors() {
        let position = effector(&hexapod, &foot.name).position;
        let [.., ball] = &hexapod.body(foot.body).shapes[..] else { panic!("no shapes") };
        let Geometry::Ball { radius } = ball.geometry else { panic!("no ball") };
        assert!((position.z - radius).abs() < TOLERANCE, "the foot touches height 0");
        assert_eq!(foot.name.starts_with("front"), position.x > 0.1);
        assert_eq!(foot.name.starts_with("rear"), position.x < -0.1);
        assert_eq!(foot.name.ends_with("left"), position.y > 0.0);
        total += force(&hexapod, &foot.name);
        moment += position.cross(&force(&hexapod, &foot.name));
    }
    assert_near(total, Vector3::zeros());
    assert_near(moment, Vector3::zeros());
    for joint in hexapod.joints() {
        let about_z = (axis(joint) - Vector3::z()).norm() < TOLERANCE;
        assert_eq!(about_z, joint.name.ends_with("coxa"));
        assert!(about_z || axis(joint).z.abs() < TOLERANCE);
    }
}

#[test]
fn firefighters_are_two_equal_people() {
    let scene = gallery::firefighters();
    assert!((scene.mass() - (2.0 * 75.0 + 8.0)).abs() < 1e-10);
    // A half turn about z takes one to the other.
    for (part, one) in scene.bodies().iter().filter_map(|b| Some((b.name.strip_prefix("west_")?, b))) {
        let (p, other) = (one.pose.position, body(&scene, &format!("east_{part}")));
        assert_near(other.pose.position, vector(-p.x, -p.y, p.z));
        assert_eq!(other.inertia.mass, one.inertia.mass);
    }
    let kinds = [
        ("foot", JointKind::Fixed),
        ("ankle", JointKind::Universal),
        ("knee", JointKind::Hinge),
        ("hip", JointKind::Ball),
        ("shoulder", JointKind::Ball),
        ("elbow", JointKind::Hinge),
        ("wrist", JointKind::Universal),
        ("grip", JointKind::Ball),
    ];
    for person in ["west", "east"] {
        for (part, kind) in kinds.clone() {
            for side in ["left", "right"] {
                assert_eq!(joint(&scene, &format!("{person}_{side}_{part}")).kind, kind);
            }
        }
        for part in ["waist", "neck"] {
            assert_eq!(joint(&scene, &format!("{person}_{part}")).kind, JointKind::Ball);
        }
        assert_near(axis(joint(&scene, &format!("{person}_left_knee"))).abs(), Vector3::y());
        let foot = scene.find_body(&format!("{person}_left_foot")).unwrap();
        assert_eq!(scene.order().node_of(foot), None, "feet stand on the world");
    }
    for freedom in scene.joints().iter().flat_map(|joint| &joint.freedoms) {
        assert!((300.0..=3000.0).contains(&freedom.stiffness));
        assert!((0.01..=0.05).contains(&(freedom.damping / freedom.stiffness)));
    }
    let grips = scene.joints().iter().filter(|j| scene.body(j.child).name == "trampoline").count();
    assert_eq!(grips, 4);
    assert_near(effector(&scene, "trampoline").position, vector(0.0, 0.0, 1.03));
    assert_eq!(force(&scene, "trampoline"), vector(0.0, 0.0, -800.0));
}

#[test]
fn long_ones_need_no_stack_and_no_quadratic_time() {
    let chain = gallery::chain(100_000);
    assert_eq!(counts(&chain), [100_000, 100_000, 100_000, 0]);
    assert_eq!(chain.order().nodes().last().unwrap().depth, 100_000);
    assert_eq!(chain.body(*chain.order().bodies().last().unwrap()).name, "link99999");
    let ladder = gallery::ladder(99_999);
    assert_eq!(counts(&ladder), [99_999, 133_332, 99_999, 33_333]);
    // The rails meet nowhere but in the world.
    assert_eq!(ladder.order().dominator_of(ladder.find_body("rung33332").unwrap()), None);
}

fn refusal(name: &str) -> String {
    gallery::build(name).expect_err(name).to_string()
}

#[test]
fn refusals_say_what_would_be_right() {
    assert!(refusal("helx").contains("did you mean `helix`?"));
    assert!(refusal("tractor").contains("chain, helix, ladder"));
    assert!(!refusal("tractor").contains("did you mean"));
    assert!(refusal("").contains("there is no ``"));
    for size in ["", "many", "-1", "+1", "1.5", "1e3", "4:5", " 4"] {
        assert!(refusal(&format!("helix:{size}")).contains("not a whole number"), "{size:?}");
    }
    assert!(refusal("helix:0").contains("smallest is `helix:1`"));
    assert!(refusal("loop:0").contains("smallest is `loop:6`"));
    assert!(refusal("ladder:37").contains("a multiple of 3, such as 36 or 39"));
    assert!(refusal("loop:1").contains("a multiple of 6, such as 6 or 12"));
    assert!(refusal("chain:1000001").contains("at most 1000000"));
    assert!(
        refusal("chain:99999999999999999999999").contains("`chain:99999999999999999999999` is too large")
    );
    assert!(refusal("arm:20").contains("only one size"));
    assert_eq!(LARGEST_SIZE, 1_000_000);
}

#[test]
fn sizes_may_be_given() {
    assert_eq!(gallery::build("helix:400").unwrap(), gallery::helix(400));
    assert_eq!(gallery::build("loop:6").unwrap(), gallery::closed_loop(6));
    assert_eq!(gallery::build("ladder:3").unwrap(), gallery::ladder(3));
}

#[test]
#[should_panic(expected = "the size of `rungs` is a multiple of 3")]
fn functions_panic_on_impossible_sizes() {
    gallery::rungs(4);
}

#[test]
#[should_panic(expected = "has no bodies")]
fn functions_panic_on_no_bodies() {
    gallery::chain(0);
}
