//! Claim: each feature of SDF that is read means what the format says, and what is not read is reported once,
//! with file and line. Expectations are computed by hand.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fs;
use std::path::PathBuf;

use pliant_core::engine::{Simulation, StaticsSettings};
use pliant_core::full::Model;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Geometry, Joint, Mechanism};
use pliant_core::nalgebra::Vector3;
use pliant_io::import::{Options, read};

const INERTIAL: &str =
    "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>";

/// A model with `{i}` standing for an inertia.
fn model(text: &str) -> String {
    format!("<sdf version='1.9'><model name='m'>{}</model></sdf>", text.replace("{i}", INERTIAL))
}

fn load(text: &str) -> Mechanism {
    read(text, "test.sdf", &Options::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn error(text: &str) -> String {
    read(text, "test.sdf", &Options::default()).unwrap_err().to_string()
}

fn joint<'m>(mechanism: &'m Mechanism, name: &str) -> &'m Joint {
    &mechanism[mechanism.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"))]
}

fn axis(joint: &Joint) -> Vector3<f64> {
    joint.frame.rotation * Vector3::z()
}

#[test]
fn springs_dampers_and_limits() {
    let mechanism = load(&model(
        "<link name='a'>{i}</link><link name='b'><pose>0 0 1 0 0 0</pose>{i}</link>
         <link name='c'>{i}</link>
         <joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 2 0</xyz>
           <limit><lower>-0.5</lower><upper>1e16</upper></limit>
           <dynamics><spring_stiffness>30</spring_stiffness><spring_reference>0.2</spring_reference>
             <damping>0.4</damping><friction>0.1</friction></dynamics></axis></joint>
         <joint name='k' type='revolute2'><parent>b</parent><child>c</child>
           <axis><xyz>1 0 0</xyz><dynamics><spring_stiffness>3</spring_stiffness></dynamics></axis>
           <axis2><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>inf</upper></limit></axis2></joint>",
    ));
    let j = joint(&mechanism, "j");
    assert_eq!(j.kind, JointKind::Hinge);
    assert!((axis(j) - Vector3::y()).norm() < 1e-15 && j.frame.position == Vector3::z());
    let freedom = j.freedoms[0];
    assert_eq!((freedom.stiffness, freedom.rest, freedom.damping), (30.0, 0.2, 0.4));
    assert_eq!(freedom.friction, 0.1);
    assert_eq!((freedom.lower, freedom.upper), (-0.5, f64::INFINITY));
    let k = joint(&mechanism, "k");
    assert_eq!(k.kind, JointKind::Universal);
    assert_eq!((k.freedoms[0].stiffness, k.freedoms[1].stiffness), (3.0, 0.0));
    assert_eq!((k.freedoms[0].lower, k.freedoms[1].lower), (f64::NEG_INFINITY, -1.0));
    assert!((k.frame.rotation * Vector3::y() - Vector3::z()).norm() < 1e-15);
    assert!(!mechanism.warnings().iter().any(|warning| warning.contains("friction")));
}

#[test]
fn axes_of_old_versions_are_in_the_frame_of_the_model() {
    let text = |version: &str, more: &str| {
        format!(
            "<sdf version='{version}'><model name='m'><pose>0 0 0 0 0 {FRAC_PI_2}</pose><link name='a'>{INERTIAL}</link>
             <link name='b'><pose>0 0 0 {FRAC_PI_2} 0 0</pose>{INERTIAL}</link>
             <joint name='j' type='revolute'><parent>a</parent><child>b</child>
             <axis><xyz>0 1 0</xyz>{more}</axis></joint></model></sdf>"
        )
    };
    let along = |version: &str, more: &str| axis(joint(&load(&text(version, more)), "j"));
    let (of_model, of_joint) = (-Vector3::x(), Vector3::z());
    assert!((along("1.4", "") - of_model).norm() < 1e-12);
    assert!((along("1.6", "") - of_joint).norm() < 1e-12);
    let yes = "<use_parent_model_frame>1</use_parent_model_frame>";
    assert!((along("1.6", yes) - of_model).norm() < 1e-12);
}

#[test]
fn a_link_on_two_joints_closes_a_loop() {
    let mechanism = load(&model(
        "<link name='a'>{i}</link><link name='b'>{i}</link><link name='c'>{i}</link>
         <joint name='ab' type='revolute'><parent>a</parent><child>b</child></joint>
         <joint name='ac' type='revolute'><parent>a</parent><child>c</child></joint>
         <joint name='bc' type='ball'><parent>b</parent><child>c</child></joint>
         <joint name='ca' type='prismatic'><parent>c</parent><child>a</child></joint>",
    ));
    assert_eq!(mechanism.summary().loops, 2);
    assert_eq!(mechanism.joints().len(), 5);
    assert!(mechanism.warnings().is_empty(), "{:?}", mechanism.warnings());
}

#[test]
fn a_circle_of_joints_has_a_root() {
    let mechanism = load(&model(
        "<link name='a'>{i}</link><link name='b'>{i}</link>
         <joint name='ab' type='revolute'><parent>a</parent><child>b</child></joint>
         <joint name='ba' type='revolute'><parent>b</parent><child>a</child></joint>",
    ));
    assert_eq!(mechanism.summary().loops, 1);
}

#[test]
fn a_gearbox_is_a_coupling() {
    // θ₂ = −ratio θ₁; the second joint's axis is the other way round, so that its angle has the same sign.
    let text = |sign: &str| {
        model(&format!(
            "<link name='a'>{{i}}</link><link name='rotor'>{{i}}</link><link name='out'>{{i}}</link>
             <joint name='in' type='revolute'><parent>a</parent><child>rotor</child><axis><xyz>0 0 1</xyz></axis></joint>
             <joint name='end' type='revolute'><parent>a</parent><child>out</child><axis><xyz>0 0 {sign}1</xyz></axis></joint>
             <joint name='gear' type='gearbox'><parent>rotor</parent><child>out</child>
               <gearbox_reference_body>a</gearbox_reference_body><gearbox_ratio>0.25</gearbox_ratio>
               <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>"
        ))
    };
    for (sign, ratio) in [("", -0.25), ("-", 0.25)] {
        let mechanism = load(&text(sign));
        let [coupling] = mechanism.couplings() else { panic!("{:?}", mechanism.couplings()) };
        assert_eq!(coupling.ratio, ratio);
        assert_eq!(mechanism[coupling.joint].name, "end");
        assert_eq!(mechanism[coupling.of].name, "in");
    }
}

/// How far a link is turned about an axis of the world, by where it settles without gravity.
fn turned(mechanism: &Mechanism, link: &str, axis: Vector3<f64>) -> f64 {
    let mut simulation = Model::new(mechanism).simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).unwrap();
    assert!(simulation.settle(&StaticsSettings::default()).unwrap().converged);
    let body = mechanism.find_body(link).unwrap();
    let turn = simulation.state().poses[body.index()].rotation * mechanism[body].pose.rotation.inverse();
    assert!(turn.scaled_axis().cross(&axis).norm() < 1e-9, "{link} turns about {axis}");
    turn.scaled_axis().dot(&axis)
}

/// The format's words: a torque −stiffness (θ − reference), and θ_child = −ratio θ_parent of a gearbox. The spring
/// turns the rotor by its reference about its axis as the file gives it; the other link answers. Seen on the links
/// themselves, whatever joints and couplings they became.
#[test]
fn springs_and_gearboxes_turn_links_the_right_way() {
    let file = |rotor: &str, out: &str, axis: &str, axis2: &str| {
        model(&format!(
            "<link name='a'>{{i}}</link><link name='rotor'><pose>0 0 0 0.3 0 0</pose>{{i}}</link><link name='out'>{{i}}</link>
             <joint name='in' type='revolute'>{rotor}
               <axis><xyz expressed_in='a'>0 0 1</xyz><dynamics><spring_stiffness>30</spring_stiffness>
                 <spring_reference>0.4</spring_reference></dynamics></axis></joint>
             <joint name='end' type='revolute'><parent>a</parent><child>out</child>
               <axis><xyz expressed_in='a'>{out}</xyz></axis></joint>
             <joint name='gear' type='gearbox'><parent>rotor</parent><child>out</child>
               <gearbox_reference_body>a</gearbox_reference_body><gearbox_ratio>0.25</gearbox_ratio>
               <axis><xyz expressed_in='a'>{axis}</xyz></axis><axis2><xyz expressed_in='a'>{axis2}</xyz></axis2></joint>"
        ))
    };
    let plain = "<parent>a</parent><child>rotor</child>";
    let (x, z) = (Vector3::x(), Vector3::z());
    // Spur gears turn against each other about one direction, however the hinge of the second is drawn; with one
    // of the gearbox's own axes turned over, with each other.
    for (out, axis, axis2, sign) in [
        ("0 0 1", "0 0 1", "0 0 1", -1.0),
        ("0 0 -1", "0 0 1", "0 0 1", -1.0),
        ("0 0 1", "0 0 -1", "0 0 -1", -1.0),
        ("0 0 1", "0 0 1", "0 0 -1", 1.0),
        ("0 0 -1", "0 0 -1", "0 0 1", 1.0),
    ] {
        let mechanism = load(&file(plain, out, axis, axis2));
        assert!((turned(&mechanism, "rotor", z) - 0.4).abs() < 1e-9);
        assert!((turned(&mechanism, "out", z) - sign * 0.1).abs() < 1e-9, "{out} {axis} {axis2}");
    }
    // Bevel gears: the axes as the specification has them, and as Gazebo does.
    for (axis, axis2, sign) in [
        ("0 0 1", "1 0 0", -1.0),
        ("1 0 0", "0 0 1", -1.0),
        ("-1 0 0", "0 0 1", 1.0),
        ("0 0 1", "-1 0 0", 1.0),
    ] {
        let mechanism = load(&file(plain, "1 0 0", axis, axis2));
        assert!((turned(&mechanism, "out", x) - sign * 0.1).abs() < 1e-9, "{axis} {axis2}");
    }
    // A joint drawn from the rotor to the reference: the rotor, now the parent, turns the other way.
    let mechanism = load(&file("<parent>rotor</parent><child>a</child>", "0 0 1", "0 0 1", "0 0 1"));
    let between = turned(&mechanism, "a", z) - turned(&mechanism, "rotor", z);
    assert!((between - 0.4).abs() < 1e-9, "{between}");
    let out = turned(&mechanism, "out", z) - turned(&mechanism, "a", z);
    assert!((out - 0.1).abs() < 1e-9, "{out}");
}

#[test]
fn a_screw_is_a_hinge_and_a_slider_coupled() {
    for (pitch, ratio) in [
        ("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02 / TAU),
        ("<thread_pitch>-100</thread_pitch>", 0.01),
    ] {
        let text = format!(
            "<link name='a'>{{i}}</link><link name='b'>{{i}}</link>
             <joint name='s' type='screw'><parent>a</parent><child>b</child>{pitch}<axis><xyz>0 0 1</xyz></axis></joint>"
        );
        let mechanism = load(&model(&text));
        assert_eq!(mechanism.couplings()[0].ratio, ratio);
        assert_eq!(joint(&mechanism, "s").kind, JointKind::Hinge);
        assert_eq!(joint(&mechanism, "s:travel").kind, JointKind::Prismatic);
    }
}

#[test]
fn a_joint_follows_another() {
    let mechanism = load(&model(
        "<link name='a'>{i}</link><link name='b'>{i}</link><link name='c'>{i}</link>
         <joint name='ab' type='revolute'><parent>a</parent><child>b</child></joint>
         <joint name='bc' type='revolute'><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz>
           <mimic joint='ab' axis='axis'><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>
         </axis></joint>",
    ));
    let coupling = mechanism.couplings()[0];
    assert_eq!((coupling.ratio, coupling.offset), (2.0, 0.5 - 0.2));
}

#[test]
fn a_joint_to_the_world() {
    for (parent, child) in [("world", "a"), ("a", "world")] {
        let mechanism = load(&model(&format!(
            "<link name='a'><pose>0 0 1 0 0 0</pose>{{i}}</link>
             <joint name='j' type='prismatic'><pose relative_to='a'>0 0 0 0 0 0</pose>
             <parent>{parent}</parent><child>{child}</child><axis><xyz>1 0 0</xyz></axis></joint>"
        )));
        assert_eq!(mechanism.joints().len(), 1);
        let j = joint(&mechanism, "j");
        assert_eq!(j.parent, None);
        let x = if parent == "world" { 1.0 } else { -1.0 };
        assert!((axis(j) - Vector3::x() * x).norm() < 1e-12, "{}", axis(j));
    }
}

#[test]
fn shapes() {
    let mechanism = load(&model(
        "<link name='a'>{i}
           <visual name='v'><geometry><box><size>9 9 9</size></box></geometry></visual>
           <collision name='1'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
             <surface><friction><ode><mu>0.7</mu></ode></friction></surface></collision>
           <collision name='2'><geometry><sphere><radius>0.5</radius></sphere></geometry></collision>
           <collision name='3'><geometry><cylinder><radius>0.5</radius><length>2</length></cylinder></geometry></collision>
           <collision name='4'><geometry><capsule><radius>0.5</radius><length>2</length></capsule></geometry></collision>
           <collision name='5'><geometry><ellipsoid><radii>0.1 0.5 0.1</radii></ellipsoid></geometry></collision>
           <collision name='6'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>
           <collision name='7'><geometry><mesh><uri>model://none/a.stl</uri></mesh></geometry></collision>
           <collision name='8'><geometry><heightmap/></geometry></collision>
           <collision name='9'><geometry><heightmap/></geometry></collision>
         </link>",
    ));
    let shapes = &mechanism.bodies()[0].shapes;
    assert_eq!(shapes.len(), 7);
    assert_eq!(
        (&shapes[6].geometry, shapes[6].touches),
        (&Geometry::Box { size: Vector3::repeat(9.0) }, false)
    );
    assert_eq!(shapes[0].geometry, Geometry::Box { size: Vector3::new(1.0, 2.0, 3.0) });
    assert_eq!((shapes[0].pose.position, shapes[0].friction), (Vector3::z(), Some(0.7)));
    assert_eq!(shapes[1].geometry, Geometry::Ball { radius: 0.5 });
    assert_eq!(shapes[2].geometry, Geometry::Cylinder { radius: 0.5, half_length: 1.0 });
    assert_eq!(shapes[3].geometry, Geometry::Capsule { radius: 0.5, half_length: 1.0 });
    assert_eq!(shapes[4].geometry, Geometry::Capsule { radius: 0.1, half_length: 0.4 });
    assert!((shapes[4].pose.rotation * Vector3::z() - Vector3::y()).norm() < 1e-15);
    assert_eq!(shapes[5].pose.position.z, -0.5);
    for word in ["ellipsoid", "plane", "there is no package `none`", "<heightmap>"] {
        let told: Vec<String> = mechanism.warnings().into_iter().filter(|w| w.contains(word)).collect();
        assert_eq!(told.len(), 1, "{word}: {:?}", mechanism.warnings());
    }
    let heightmap = mechanism.warnings().into_iter().find(|w| w.contains("<heightmap>")).unwrap();
    assert!(heightmap.contains("(1 more like it)") && heightmap.starts_with("test.sdf:11:"), "{heightmap}");
}

#[test]
fn mass_from_shapes() {
    let mechanism = load(&model(
        "<link name='a'><inertial auto='true'><density>100</density></inertial>
           <collision name='1'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></collision>
           <collision name='2'><density>200</density><geometry><box><size>1 1 1</size></box></geometry></collision>
         </link>",
    ));
    let inertia = mechanism.bodies()[0].inertia;
    assert!((inertia.mass - 800.0).abs() < 1e-9);
    assert!((inertia.center_of_mass.z - 0.75).abs() < 1e-12);
}

#[test]
fn a_link_without_inertia_gets_that_of_the_format() {
    let mechanism = load(&model("<link name='a'/><link name='b'/>"));
    assert_eq!(mechanism.mass(), 2.0);
    assert_eq!(mechanism.warnings().len(), 1);
    assert!(mechanism.warnings()[0].contains("has no <inertial>"));
}

#[test]
fn a_world_with_several_models() {
    let mechanism = load(&format!(
        "<sdf version='1.7'><world name='w'><gravity>0 0 -1.62</gravity>
         <model name='ground'><static>true</static><pose>0 0 -2 0 0 0</pose><link name='l'>
           <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link></model>
         <model name='a'><link name='l'>{INERTIAL}</link></model>
         <model name='b'><pose>1 0 0 0 0 0</pose><link name='l'>{INERTIAL}</link>
           <joint name='j' type='fixed'><parent>world</parent><child>l</child></joint></model>
         <include><uri>model://sun</uri></include></world></sdf>"
    ));
    assert_eq!(mechanism.gravity().z, -1.62);
    let names: Vec<(&str, bool)> = mechanism.bodies().iter().map(|b| (b.name.as_str(), b.free)).collect();
    assert_eq!(names, [("a::l", true), ("b::l", false)]);
    assert_eq!(mechanism.joints()[0].name, "b::j");
    assert_eq!(mechanism.world_shapes().len(), 1);
    assert_eq!(mechanism.world_shapes()[0].pose.position.z, -2.0);
    assert_eq!(mechanism.warnings().len(), 1, "{:?}", mechanism.warnings());
    assert!(mechanism.warnings()[0].contains("model://sun"));
}

/// Bullet's files fix a robot by a base without mass; one with a mass is free.
#[test]
fn a_base_without_mass_is_fixed() {
    for mass in [0.0, 1.0] {
        let base = INERTIAL.replace("<mass>1<", &format!("<mass>{mass}<"));
        let mechanism = load(&format!(
            "<sdf version='1.7'><world name='w'><model name='m'><link name='a'>{base}</link><link name='b'>{INERTIAL}</link>
             <joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
             </model></world></sdf>"
        ));
        let free = mechanism.bodies().iter().any(|body| body.free);
        let fixed = "has children and a mass of zero: it was fixed to the world";
        let noted = mechanism.notes().iter().any(|note| note.contains(fixed));
        assert_eq!((free, noted), (mass > 0.0, mass == 0.0), "{:?}", mechanism.notes());
    }
}

#[test]
fn a_static_model_alone_is_fixed() {
    let text = format!(
        "<sdf version='1.7'><model name='m'><static>1</static><link name='a'>{INERTIAL}</link>
         <link name='b'>{INERTIAL}</link><joint name='j' type='revolute'><parent>a</parent><child>b</child></joint>
         </model></sdf>"
    );
    let mechanism = load(&text);
    assert_eq!((mechanism.bodies().len(), mechanism.summary().freedoms), (2, 0));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let two = "<link name='a'>{i}</link><link name='b'>{i}</link>\n";
    for (text, message) in [
        ("<joint name='j' type='revolute'><parent>a</parent><child>c</child></joint>", "`c`"),
        ("<joint name='j' type='revolute'><parent>a</parent></joint>", "joint `j` has no child"),
        (
            "<joint name='j' type='hinge'><parent>a</parent><child>b</child></joint>",
            "no joint of type `hinge`",
        ),
        ("<joint name='j'><parent>a</parent><child>b</child></joint>", "`type` is missing"),
        ("<frame name='f'><pose relative_to='g'/></frame>", "there is no frame `g`"),
        ("<frame name='f'><pose relative_to='f'/></frame>", "depends on itself"),
        (
            "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>",
            "depends on itself",
        ),
        ("<frame name='f'><pose>1 2 3</pose></frame>", "has 3 numbers, but takes 6"),
        ("<frame name='f'><pose>1 2 3 x 0 0</pose></frame>", "`x`"),
        ("<link>{i}</link>", "a <link> has no name"),
        ("<include/>", "<include> has no <uri>"),
        ("<link name='c'><inertial><mass>1e999</mass></inertial></link>", "not a finite number"),
    ] {
        let errors = error(&model(&format!("{two}{text}")));
        assert!(errors.contains(message), "{text}:\n{errors}");
        assert!(errors.contains("test.sdf:2"), "{text}:\n{errors}");
    }
    assert!(error("<sdf version='1.7'/>").contains("no links"));
}

#[test]
fn models_that_are_included() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sdf-include");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("arm")).unwrap();
    fs::create_dir_all(folder.join("scenes")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write(
        "arm/model.config",
        "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>arm.sdf</sdf></model>",
    );
    write(
        "arm/arm.sdf",
        &format!(
            "<sdf version='1.9'><model name='arm'><pose>5 5 5 0 0 0</pose><link name='l'>{INERTIAL}</link>
             <frame name='f'><pose>0 0 1 0 0 0</pose></frame></model></sdf>"
        ),
    );
    let include = |uri: &str, more: &str| {
        format!(
            "<sdf version='1.9'><model name='m'><link name='base'>{INERTIAL}</link>
             <include><uri>{uri}</uri>{more}</include>
             <joint name='j' type='fixed'><parent>base</parent><child>right::l</child></joint></model></sdf>"
        )
    };
    let named = "<name>right</name><pose>1 0 0 0 0 0</pose><placement_frame>f</placement_frame>";
    let path = folder.join("scenes/robot.sdf");
    let file = path.display().to_string();
    for uri in ["model://arm", "../arm/arm.sdf"] {
        let mechanism =
            read(&include(uri, named), &file, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let body = &mechanism[mechanism.find_body("right::l").unwrap()];
        assert_eq!(body.pose.position, Vector3::new(1.0, 0.0, -1.0), "{uri}");
    }
    // One that includes itself, and one out of the folder.
    write("scenes/robot.sdf", &include("robot.sdf", ""));
    let errors = read(&include("robot.sdf", ""), &file, &Options::default()).unwrap_err().to_string();
    assert!(errors.contains("includes itself"), "{errors}");
    let outside = format!(
        "<sdf version='1.9'><model name='m'><link name='l'>{INERTIAL}</link>
         <include><uri>../../../../../etc/passwd</uri></include></model></sdf>"
    );
    let mechanism = read(&outside, &file, &Options::default()).unwrap();
    assert!(mechanism.warnings()[0].contains("outside the folder"), "{:?}", mechanism.warnings());
}

#[test]
fn models_in_models_in_models_are_refused_in_time() {
    let text = |depth: usize| {
        let inner = format!("<link name='l'>{INERTIAL}</link>");
        format!(
            "<sdf version='1.9'>{}{inner}{}</sdf>",
            "<model name='m'>".repeat(depth),
            "</model>".repeat(depth)
        )
    };
    assert_eq!(load(&text(20)).bodies().len(), 1);
    assert!(error(&text(100)).contains("32 deep"));
    assert!(error(&text(5000)).contains("200 deep"));
}

#[test]
fn a_long_chain_of_frames() {
    // As long as it may be, each frame in the one that comes after it: no recursion, and no square time.
    let count = 20_000;
    let frames: String = (0..count)
        .map(|i| format!("<frame name='f{i}'><pose relative_to='f{}'>0 0 1 0 0 0</pose></frame>", i + 1))
        .collect();
    let text = format!("<link name='l'><pose relative_to='f0'/>{{i}}</link>{frames}<frame name='f{count}'/>");
    let mechanism = load(&model(&text));
    assert_eq!(mechanism.bodies()[0].pose.position.z, count as f64);
}

#[test]
fn a_link_called_world_and_models_of_one_name() {
    let mechanism = load(&model(
        "<link name='world'/><link name='a'>{i}</link>
         <joint name='j' type='prismatic'><parent>world</parent><child>a</child></joint>",
    ));
    assert_eq!((mechanism.bodies().len(), joint(&mechanism, "j").parent), (1, None));
    assert_eq!(mechanism.warnings(), [""; 0]);
    let mechanism = load(&model("<link name='world'>{i}</link>"));
    assert_eq!(mechanism.bodies()[0].name, "world_link");
    assert!(
        mechanism.warnings()[0].starts_with("test.sdf:1: `world` is the name"),
        "{:?}",
        mechanism.warnings()
    );
    let one = format!("<model name='m'><link name='a'>{INERTIAL}</link></model>");
    let mechanism = load(&format!("<sdf version='1.9'><world name='w'>{one}\n{one}\n{one}</world></sdf>"));
    let names: Vec<&str> = mechanism.bodies().iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["m::a", "m_2::a", "m_3::a"]);
    let warnings = mechanism.warnings();
    assert!(
        warnings[1].ends_with("test.sdf:3: there is already a model `m`: this one was renamed `m_3`"),
        "{warnings:?}"
    );
}
