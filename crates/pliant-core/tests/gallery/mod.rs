//! Claim: every entry of the gallery is the mechanism its description says, at every size it allows:
//! counts from formulas counted by hand, positions, axes, masses, effectors and loads from closed
//! forms; and a name or size that does not exist is refused in words.

mod creatures;
mod formulas;
mod linkages;
mod links;
mod machines;

use pliant_core::gallery::{self, LARGEST_SIZE};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, EffectorId, Freedom, Geometry, Joint, Mechanism};
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
    &mechanism[mechanism.find_body(name).unwrap_or_else(|| panic!("no body {name}"))]
}

#[track_caller]
fn joint<'a>(mechanism: &'a Mechanism, name: &str) -> &'a Joint {
    &mechanism[mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"))]
}

/// Parent's and child's name.
fn ends<'a>(mechanism: &'a Mechanism, name: &str) -> (&'a str, &'a str) {
    let id = mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"));
    (mechanism.parent_name(&mechanism[id]), &mechanism[mechanism[id].child].name)
}

fn axis(joint: &Joint) -> Vector3<f64> {
    joint.frame.rotation * Vector3::z()
}

/// Where an effector is in the world.
#[track_caller]
fn effector(mechanism: &Mechanism, name: &str) -> Pose {
    let effector = &mechanism[mechanism.find_effector(name).expect(name)];
    mechanism[effector.body].pose * effector.frame
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

/// There are so many hinges, all with the same spring.
#[track_caller]
fn assert_hinges_sprung(mechanism: &Mechanism, hinges: usize, stiffness: f64, damping: f64) {
    let expected = Freedom { stiffness, damping, ..Freedom::PASSIVE };
    let of_kind: Vec<&Joint> =
        mechanism.joints().iter().filter(|joint| joint.kind == JointKind::Hinge).collect();
    assert_eq!(of_kind.len(), hinges, "{}", mechanism.name());
    for joint in of_kind {
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
               torus-chain windmill spline-slide surface-slide adaptive-gripper delta stewart excavator fin-ray \
               spring-leg tendon-finger flexure dragged-arm";
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
    // A palm, and per finger four bodies with five hinges.
    assert_eq!(counts(&gallery::adaptive_gripper()), [9, 11, 8, 2]);
    // Per arm a hinge, two universal joints and two balls, one of the six balls in the forest.
    assert_eq!(counts(&gallery::delta()), [10, 15, 3 * (1 + 2 * 2) + 3, 5]);
    // Per leg a universal joint, a slide and a ball.
    assert_eq!(counts(&gallery::stewart()), [13, 18, 6 * (2 + 1) + 3, 5]);
    // Six hinges of the arm, and per cylinder two bodies, two hinges and a slide.
    assert_eq!(counts(&gallery::excavator()), [5 + 3 * 2, 6 + 3 * 3, 5 + 3 * 2, 4]);
    // Ten segments and four ribs; the ribs and the tip close five loops.
    assert_eq!(counts(&gallery::fin_ray()), [14, 10 + 2 * 4 + 1, 14, 5]);
    assert_eq!(counts(&gallery::spring_leg()), [6, 7, 6, 1]);
    // Three phalanges and three slides, and the motor that closes.
    assert_eq!(counts(&gallery::tendon_finger()), [6, 7, 6, 1]);
}

#[test]
fn joint_frames_of_parent_and_child_coincide() {
    for entry in gallery::entries() {
        let mechanism = entry.build();
        for joint in mechanism.joints() {
            let id = mechanism.find_joint(&joint.name).unwrap();
            let parent = joint.parent.map_or(Pose::identity(), |p| mechanism[p].pose);
            let on_parent = parent * mechanism.frame_in_parent(&mechanism[id]);
            let on_child = mechanism[joint.child].pose * mechanism.frame_in_child(&mechanism[id]);
            let gap = on_parent.inverse_times(&on_child);
            assert!(gap.position.norm() < TOLERANCE && gap.rotation.angle() < 1e-7, "{}", joint.name);
        }
    }
}

#[test]
fn long_ones_need_no_stack_and_no_quadratic_time() {
    let chain = gallery::chain(100_000);
    assert_eq!(counts(&chain), [100_000, 100_000, 100_000, 0]);
    assert_eq!(chain.order().nodes().last().unwrap().depth, 100_000);
    assert_eq!(chain[*chain.order().bodies().last().unwrap()].name, "link99999");
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
