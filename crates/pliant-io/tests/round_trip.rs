//! Claim: a mechanism that is written and read again is the same one, bit for bit: signs of zeros,
//! quaternions, names and all.

use crate::common::{EVERY_KEY, Random, assert_round_trip, bits};
use pliant_core::expression::Formula;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, Geometry, JointDescription, LoadDescription, Mechanism,
    MechanismBuilder, Shape, TargetDescription,
};
use pliant_core::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

#[test]
fn a_scene_with_every_key() {
    assert_round_trip(&pliant_io::scene::read(EVERY_KEY, "every key").unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn the_smallest_scene() {
    let text = "[[body]]\nname = \"a\"\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nfree = true\n";
    let mechanism = pliant_io::scene::read(text, "small").unwrap();
    assert_eq!(pliant_io::scene::write(&mechanism), text);
}

#[test]
fn what_is_written_is_easy_to_read() {
    let mut builder = MechanismBuilder::new("two links");
    let inertia = SpatialInertia::of_box(0.2, [0.1, 0.1, 0.5]);
    builder.body(Body::new("upper", Pose::translation([0.0, 0.0, 0.5])).inertia(inertia));
    builder.joint(
        JointDescription::new("elbow", JointKind::Hinge, "world", "upper")
            .frame(Pose::translation([0.0, 0.0, 0.4]))
            .stiffness(1000.0)
            .limits((-1.5, 1.5)),
    );
    let expected = r#"[mechanism]
name = "two links"

[[body]]
name = "upper"
position = [0.0, 0.0, 0.5]
mass = 0.2
inertia = [0.004333333333333333, 0.004333333333333333, 0.00033333333333333343]

[[joint]]
name = "elbow"
kind = "hinge"
parent = "world"
child = "upper"
position = [0.0, 0.0, 0.4]
stiffness = 1000.0
limits = [-1.5, 1.5]
"#;
    assert_eq!(pliant_io::scene::write(&builder.build().unwrap()), expected);
}

#[test]
fn a_massless_body_keeps_no_mass_beside_shapes_with_a_density() {
    let mut builder = MechanismBuilder::new("");
    let mut ball = Shape::new(Geometry::Ball { radius: 1.0 });
    ball.density = Some(1000.0);
    builder.body(Body::new("a", Pose::identity()).shape(ball));
    builder.joint(JointDescription::new("weld", JointKind::Fixed, "world", "a"));
    assert_round_trip(&builder.build().unwrap());
}

#[test]
fn random_mechanisms() {
    let mut random = Random(1);
    for _ in 0..2000 {
        assert_round_trip(&mechanism(&mut random));
    }
}

#[test]
fn quaternions_that_are_not_quite_unit_settle_once() {
    let mut random = Random(2);
    for _ in 0..10_000 {
        let q = Quaternion::new(random.unit() - 0.5, random.unit(), random.unit(), 0.1);
        let rounding = 1.0 + (random.unit() - 0.5) * 10f64.powi(-(random.below(14) as i32) - 3);
        let q = UnitQuaternion::new_unchecked(q.normalize() * rounding);
        let mut builder = MechanismBuilder::new("");
        let body = Body::new("a", Pose::new(q, Vector3::zeros())).free();
        builder.body(body.inertia(SpatialInertia::of_box(1.0, [1.0; 3])));
        assert_round_trip(&builder.build().unwrap());
    }
}

/// A mechanism with a bit of everything.
fn mechanism(random: &mut Random) -> Mechanism {
    let name = ["", "name", "quote \" and \\ back", "tab\tnew\nline\u{0}\u{7f}\u{85}", "腕"][random.below(5)];
    let mut builder = MechanismBuilder::new(name);
    if random.one_in(2) {
        builder.gravity([random.number(), random.number(), random.number()]);
    }
    for _ in 0..random.below(3) {
        builder.world_shape(shape(random));
    }
    let count = 1 + random.below(6);
    for i in 0..count {
        let mut body = Body::new(format!("body {i} \"é\\"), pose(random)).inertia(inertia(random));
        body.shapes = (0..random.below(3)).map(|_| shape(random)).collect();
        body.free = i == 0;
        builder.body(body);
    }
    let mut kinds = Vec::new();
    for i in 1..count {
        let parent = random.below(i + 1);
        let parent = if parent == i { "world".into() } else { format!("body {parent} \"é\\") };
        let kind = match random.below(10) {
            8 => formula(random),
            9 => ready(random),
            k => JointKind::ALL[k].clone(),
        };
        kinds.push(kind.clone());
        builder.joint(joint(random, format!("joint {i}"), kind, parent, format!("body {i} \"é\\")));
    }
    let single: Vec<usize> = (0..kinds.len()).filter(|i| kinds[*i].freedoms() == 1).collect();
    for pair in single.windows(2) {
        let [joint, of] = [pair[0], pair[1]].map(|i| format!("joint {}", i + 1));
        // The mechanism starts where its couplings hold: where a product of poses can be taken.
        let (ratio, offset) = (4.0 * random.unit() - 2.0, random.unit() - 0.5);
        builder.coupling(CouplingDescription { joint, of, ratio, offset });
    }
    for i in 0..random.below(3) {
        let body = format!("body {} \"é\\", random.below(count));
        builder.effector(EffectorDescription { name: format!("tip {i}"), body, frame: pose(random) });
        let wrench = Wrench { force: vector(random), torque: vector(random) };
        builder.load(LoadDescription { effector: format!("tip {i}"), wrench });
    }
    for (i, kind) in kinds.iter().enumerate().filter(|_| random.one_in(2)) {
        let time: Vec<f64> = (0..3).map(|k| f64::from(k) + 0.5).collect();
        let row = || (0..kind.freedoms()).map(|k| 0.1 * k as f64).collect();
        let position = (0..3).map(|_| row()).collect();
        builder.target(TargetDescription { joint: format!("joint {}", i + 1), time, position });
    }
    builder.build().unwrap_or_else(|e| panic!("{e}"))
}

fn vector(random: &mut Random) -> Vector3<f64> {
    if random.one_in(3) {
        return Vector3::zeros();
    }
    Vector3::new(random.number(), random.number(), random.number())
}

fn pose(random: &mut Random) -> Pose {
    let axis = Vector3::new(random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5);
    let mut rotation = match random.below(3) {
        0 => UnitQuaternion::identity(),
        _ => UnitQuaternion::new(axis * 10.0),
    };
    // Rounding adds up along a product.
    for _ in 0..random.below(20) {
        rotation = rotation * rotation;
    }
    if random.one_in(4) {
        rotation = UnitQuaternion::new_unchecked(-rotation.into_inner());
    }
    Pose::new(rotation, vector(random).map(|x| x.clamp(-1e6, 1e6)))
}

fn inertia(random: &mut Random) -> SpatialInertia {
    let [a, b] = [random.positive(), random.positive()];
    let diagonal = Matrix3::from_diagonal(&Vector3::new(a, b, (a - b).abs() + a.min(b)));
    let com = vector(random).map(|x| x.clamp(-1e3, 1e3));
    let own = SpatialInertia { mass: random.positive(), center_of_mass: com, inertia: diagonal };
    if random.one_in(2) { own } else { own.in_outer(&Pose::new(pose(random).rotation, Vector3::zeros())) }
}

fn shape(random: &mut Random) -> Shape {
    let (radius, half_length) = (random.positive(), random.positive());
    let scale = Vector3::new(radius, [radius, half_length][random.below(2)], radius);
    let file = "a \"b\"\\c\n.stl".to_string();
    let geometry = match random.below(7) {
        0 => Geometry::Box { size: scale },
        1 => Geometry::Ball { radius },
        2 => Geometry::Capsule { radius, half_length },
        3 => Geometry::Cylinder { radius, half_length },
        4 => Geometry::Mesh { file, scale: [scale, Vector3::repeat(1.0)][random.below(2)] },
        5 => Geometry::Convex { file, scale },
        _ => Geometry::Heightfield {
            size: [radius, half_length],
            heights: vec![vec![random.number(), random.number()]; 2 + random.below(2)],
        },
    };
    let density = random.one_in(2).then(|| random.positive());
    let touches = !random.one_in(4);
    let friction = (touches && random.one_in(2)).then(|| random.unit());
    let restitution = (touches && random.one_in(2)).then(|| random.unit());
    let color = friction.map(|mu| [mu, 1.0 - mu, 0.1, restitution.unwrap_or(1.0)]);
    Shape { geometry, pose: pose(random), density, friction, restitution, touches, color }
}

/// A formula with a text of one line or several, and parameters of random bits.
fn formula(random: &mut Random) -> JointKind {
    let number = |random: &mut Random| random.number().clamp(-1e3, 1e3);
    let text = [
        "rotate_z(a) * translate(0, s * s, s + k)",
        "let b = a;\n\t# \"quoted\" 'and' é\nrotate_z(b) * translate(0, 0, s + k)\n",
    ];
    let formula = Formula::new(text[random.below(2)]).angle("a").length("s").parameter("k", number(random));
    JointKind::from(formula.compile().unwrap())
}

/// A ready joint with points of random bits.
fn ready(random: &mut Random) -> JointKind {
    let mut number = |i: usize| 0.1 * random.unit() + i as f64;
    let points: Vec<[f64; 3]> = (0..4).map(|i| [number(i), number(0), number(0)]).collect();
    let formula = Formula::ready("frame-on-curve").unwrap().parameter("points", points);
    let formula = formula.parameter("start", 0.5).parameter("scale", 3.0).parameter("up", [0.0, 0.0, 1.0]);
    JointKind::from(formula.compile().unwrap())
}

fn joint(
    random: &mut Random,
    name: String,
    kind: JointKind,
    parent: String,
    child: String,
) -> JointDescription {
    let count = kind.freedoms();
    let mut joint = JointDescription::new(name, kind, parent, child).frame(pose(random));
    if count == 0 {
        return joint;
    }
    let mut each = |signed: bool| -> Option<Vec<f64>> {
        let equal = random.one_in(2).then(|| random.number());
        let list = (0..count).map(|_| equal.unwrap_or_else(|| random.number()));
        let list = list.map(|x| if signed || x == 0.0 { x } else { x.abs() }).collect();
        random.one_in(2).then_some(list)
    };
    joint.stiffness = each(false).map(Into::into);
    joint.damping = each(false).map(Into::into);
    joint.rest = each(true).map(Into::into);
    joint.armature = each(false).map(Into::into);
    joint.friction = each(false).map(Into::into);
    joint.torque_limit = each(false).map(|list| list.iter().map(|x| x + 1e-9).collect::<Vec<f64>>().into());
    joint.linear_to = joint.torque_limit.clone();
    let bounds = [-0.0, 0.0, f64::INFINITY, 1.5];
    let limits = (0..count).map(|_| (-bounds[random.below(4)], bounds[random.below(4)])).collect::<Vec<_>>();
    if random.one_in(2) { joint.limits(limits) } else { joint }
}

#[test]
fn the_comparison_sees_the_sign_of_a_quaternion_and_of_a_zero() {
    let with = |pose: Pose| {
        let mut builder = MechanismBuilder::new("");
        builder.body(Body::new("a", pose).free().inertia(SpatialInertia::of_box(1.0, [1.0; 3])));
        bits(&builder.build().unwrap())
    };
    let plain = with(Pose::identity());
    let negated = UnitQuaternion::new_unchecked(-Quaternion::identity());
    assert_ne!(plain, with(Pose::new(negated, Vector3::zeros())));
    assert_ne!(plain, with(Pose::translation([0.0, -0.0, 0.0])));
}

/// Where joints start, one freedom or several, loops closed on the way.
#[test]
fn joints_that_start_elsewhere() {
    let four_bar = pliant_io::scene::write(&pliant_core::gallery::build("four-bar").unwrap());
    let text = four_bar.replacen("name = \"A\"\n", "name = \"A\"\nstart = 0.3\n", 1);
    let mechanism = pliant_io::scene::read(&text, "start.toml").unwrap();
    assert!((mechanism.start().unwrap().coordinates[0] - 0.3).abs() < 1e-8);
    assert_round_trip(&mechanism);
    let text = "[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n\
        [[joint]]\nname = \"j\"\nkind = \"ball\"\nparent = \"world\"\nchild = \"a\"\nstart = [0.1, -0.0, 1e-300]\n";
    let mechanism = pliant_io::scene::read(text, "start.toml").unwrap();
    assert_eq!(mechanism.joints()[0].start, [0.1, 0.0, 1e-300]);
    assert_round_trip(&mechanism);
}
