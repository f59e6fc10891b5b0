//! Hand, hexapod, firefighters: bones and limits, balance, symmetry.

use super::*;

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
        let bone = &hand[tip.body];
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
        let [.., ball] = &hexapod[foot.body].shapes[..] else { panic!("no shapes") };
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
    let mut parts = 0;
    for (part, one) in scene.bodies().iter().filter_map(|b| Some((b.name.strip_prefix("west_")?, b))) {
        let (p, other) = (one.pose.position, body(&scene, &format!("east_{part}")));
        assert_near(other.pose.position, vector(-p.x, -p.y, p.z));
        assert_eq!(other.inertia.mass, one.inertia.mass);
        parts += 1;
    }
    assert_eq!(parts, 15);
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
    let grips = scene.joints().iter().filter(|j| scene[j.child].name == "trampoline").count();
    assert_eq!(grips, 4);
    assert_near(effector(&scene, "trampoline").position, vector(0.0, 0.0, 1.03));
    assert_eq!(force(&scene, "trampoline"), vector(0.0, 0.0, -800.0));
}
