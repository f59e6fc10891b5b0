//! Scenes that start from a robot file.

use pliant_core::joints::JointKind;
use pliant_core::nalgebra::Vector3;

use super::{Folder, joint, link, links, robot};
use crate::common::assert_round_trip;

fn hand() -> String {
    let limit = "<origin xyz=\"0 0 0.1\"/><limit lower=\"-1\" upper=\"1\"/><axis xyz=\"0 1 0\"/>";
    robot(&[
        &links(&["palm", "finger_1", "finger_2", "thumb"]),
        &joint("finger_1", "revolute", "palm", "finger_1", limit),
        &joint("finger_2", "revolute", "finger_1", "finger_2", limit),
        &joint("thumb", "revolute", "palm", "thumb", &format!("{limit}<mimic joint=\"finger_1\"/>")),
    ])
}

struct Scene(Folder);

impl Scene {
    fn new(name: &str) -> Scene {
        let folder = Folder::new(&format!("overlay-{name}"));
        folder.file("robots/hand.urdf", &hand());
        Scene(folder)
    }

    fn read(&self, text: &str) -> pliant_core::mechanism::Mechanism {
        let path = self.0.file("scene.toml", &format!("import = \"robots/hand.urdf\"\n{text}"));
        let mechanism = pliant_io::load(path).unwrap_or_else(|error| panic!("{error}"));
        assert_round_trip(&mechanism);
        mechanism
    }

    #[track_caller]
    fn expect(&self, text: &str, errors: &str) {
        let path = self.0.file("scene.toml", text);
        let found = self.0.plain(pliant_io::load(path).expect_err("the scene is wrong"));
        assert_eq!(found, errors.trim_matches('\n'), "\n{found}");
    }
}

#[test]
fn nothing_but_an_import() {
    let scene = Scene::new("plain");
    let mechanism = scene.read("");
    assert_eq!(mechanism.name(), "r");
    assert_eq!(mechanism.summary().effectors, ["finger_2", "thumb"]);
    assert_eq!((mechanism.notes().len(), mechanism.couplings().len()), (1, 1));
}

#[test]
fn springs_by_name_and_glob() {
    let scene = Scene::new("springs");
    let mechanism = scene.read(
        "[mechanism]\nname = \"my hand\"\ngravity = [0, 0, 0]\n\
         [[joint]]\nmatch = \"finger_?\"\nstiffness = 7\ndamping = 0.5\nrest = 0.25\narmature = 0.01\nfriction = 0.1\ntorque_limit = 3\nlinear_to = 0.9\nlimits = [-2, 2]\n\
         [[joint]]\nmatch = \"finger_2\"\ncompliance = 0.5\n",
    );
    let freedoms: Vec<_> = mechanism.joints()[..2].iter().map(|j| j.freedoms[0]).collect();
    assert_eq!((freedoms[0].stiffness, freedoms[1].stiffness), (7.0, 2.0), "the later word counts");
    for f in freedoms {
        assert_eq!((f.damping, f.rest, f.armature, f.lower, f.upper), (0.5, 0.25, 0.01, -2.0, 2.0));
        assert_eq!((f.friction, f.torque_limit, f.linear_to), (0.1, 3.0, 0.9));
    }
    assert_eq!(mechanism.notes(), [""; 0], "nothing is left to assume");
    assert_eq!((mechanism.name(), mechanism.gravity()), ("my hand", Vector3::zeros()));
}

#[test]
fn joints_start_elsewhere() {
    let scene = Scene::new("start");
    let mechanism = scene.read("[[joint]]\nmatch = \"finger_*\"\nstart = 0.25\n");
    let start = mechanism.start().expect("it starts elsewhere");
    // The thumb follows, and what holds the fingers by default holds them there.
    for (q, joint) in start.coordinates.iter().zip(mechanism.joints()) {
        assert!((q - 0.25).abs() < 1e-8, "{}: {q}", joint.name);
    }
    let rests: Vec<f64> = mechanism.joints()[..3].iter().map(|joint| joint.freedoms[0].rest).collect();
    assert_eq!(rests, [0.25, 0.25, 0.0]);
    scene.expect(
        "import = \"robots/hand.urdf\"\n[[joint]]\nmatch = \"finger_1\"\nstart = [0.1, 0.2]\n",
        r"
error: joint `finger_1`: start has 2 entries, but a hinge joint has 1 freedom
 --> scene.toml:4:9
  |
4 | start = [0.1, 0.2]
  |         ^^^^^^^^^^ give one value for all, or a list of 1
",
    );
}

/// Limits leave zero out, so the robot starts at their middle: springs of a scene hold it there, unless they say otherwise.
#[test]
fn springs_hold_where_the_robot_starts() {
    let scene = Scene::new("bent");
    let robot = r#"<robot name="bent"><link name="base"/><link name="shin"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="knee" type="revolute"><parent link="base"/><child link="shin"/><axis xyz="0 1 0"/>
        <limit lower="-2" upper="-1" effort="1" velocity="1"/></joint></robot>"#;
    scene.0.file("robots/bent.urdf", robot);
    for (keys, rest) in [("", -1.5), ("stiffness = 5.0", -1.5), ("stiffness = 5.0\nrest = -1.2", -1.2)] {
        let text =
            format!("import = \"robots/bent.urdf\"\n[[joint]]\nmatch = \"knee\"\ndamping = 1.0\n{keys}\n");
        let mechanism = pliant_io::load(scene.0.file("scene.toml", &text)).unwrap();
        assert_eq!(mechanism.joints()[0].freedoms[0].rest, rest, "{keys}");
        assert_eq!(mechanism.start().unwrap().coordinates[0], -1.5);
    }
}

#[test]
fn joints_can_be_fixed_and_the_base_set_free() {
    let scene = Scene::new("fixed");
    let mechanism = scene.read("free_base = true\n[[joint]]\nmatch = \"finger_1\"\nkind = \"fixed\"\n");
    assert_eq!(mechanism.joints()[0].kind, JointKind::Fixed);
    assert!(mechanism.bodies()[0].free);
    assert_eq!(mechanism.warnings().len(), 1, "the thumb has nobody to follow");
    let options = pliant_io::Options { free_base: true, ..Default::default() };
    let path = scene.0.file("scene.toml", "import = \"robots/hand.urdf\"\n");
    assert!(pliant_io::load_with(path, &options).unwrap().bodies()[0].free);
}

#[test]
fn bodies_loops_effectors_loads_and_targets_are_added() {
    let scene = Scene::new("more");
    let mechanism = scene.read(
        "[[body]]\nname = \"ball\"\nposition = [0, 0, 0.2]\nmass = 1\ninertia = [1, 1, 1]\n\
         [[joint]]\nname = \"hold\"\nkind = \"ball\"\nparent = \"finger_2\"\nchild = \"ball\"\nposition = [0, 0, 0.2]\n\
         [[joint]]\nname = \"loop\"\nkind = \"ball\"\nparent = \"thumb\"\nchild = \"ball\"\nposition = [0, 0, 0.1]\n\
         [[effector]]\nmatch = \"finger_*\"\nposition = [0, 0, 0.5]\n\
         [[effector]]\nname = \"tip\"\nbody = \"ball\"\n\
         [[load]]\neffector = \"tip\"\nforce = [0, 0, 1]\n\
         [[target]]\njoint = \"finger_1\"\ntime = [0, 1]\nposition = [0, 1]\n\
         [[world.shape]]\nkind = \"ball\"\nradius = 1\n",
    );
    assert_eq!(mechanism.summary().effectors, ["finger_1", "finger_2", "tip"]);
    assert_eq!((mechanism.summary().loops, mechanism.loads().len(), mechanism.targets().len()), (1, 1, 1));
    assert_eq!(mechanism.effectors()[0].frame.position.z, 0.5);
    // A load may act on an effector that nobody named.
    assert_eq!(scene.read("[[load]]\neffector = \"thumb\"\nforce = [0, 0, 1]\n").loads().len(), 1);
}

#[test]
fn what_matches_nothing_is_an_error() {
    let scene = Scene::new("errors");
    let import = "import = \"robots/hand.urdf\"\n";
    scene.expect(&format!("{import}[[joint]]\nmatch = \"toe_*\"\nstiffness = 1\n"), r##"
error: joint 1: no imported joint matches `toe_*`
 --> scene.toml:3:9
  |
3 | match = "toe_*"
  |         ^^^^^^^ there are finger_1, finger_2, thumb, palm_to_world; `*` stands for any letters, `?` for one
"##);
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"thum\"\nstiffness = 1\n"),
        r##"
error: joint 1: no imported joint matches `thum`
 --> scene.toml:3:9
  |
3 | match = "thum"
  |         ^^^^^^ did you mean `thumb`?
"##,
    );
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"palm_*\"\nstiffness = 1\n"),
        r##"
error: joint 1: every joint that `palm_*` matches is fixed
 --> scene.toml:3:9
  |
3 | match = "palm_*"
  |         ^^^^^^^^ name joints that move
"##,
    );
    scene.expect(
        &format!("{import}[[effector]]\nmatch = \"toe_*\"\n"),
        r##"
error: effector 1: no imported link matches `toe_*`
 --> scene.toml:3:9
  |
3 | match = "toe_*"
  |         ^^^^^^^ there are palm, finger_1, finger_2, thumb; `*` stands for any letters, `?` for one
"##,
    );
}

#[test]
fn what_is_wrong_with_an_overlay() {
    let scene = Scene::new("wrong");
    let import = "import = \"robots/hand.urdf\"\n";
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"*\"\nkind = \"ball\"\n"),
        r##"
error: joint 1: an imported joint cannot become ball
 --> scene.toml:4:8
  |
4 | kind = "ball"
  |        ^^^^^^ only "fixed"
"##,
    );
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"*\"\nkind = \"fixed\"\nstiffness = 1\n"),
        r##"
error: joint 1: a fixed joint has no freedom that stiffness could act on
 --> scene.toml:5:13
  |
5 | stiffness = 1
  |             ^ leave it out
"##,
    );
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"*\"\nstiffness = [1, 2]\n"),
        r##"
error: joint `finger_1`: stiffness has 2 entries, but a hinge joint has 1 freedom
 --> scene.toml:4:13
  |
4 | stiffness = [1, 2]
  |             ^^^^^^ give one value for all, or a list of 1
"##,
    );
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"*\"\nlimits = [1, -1]\n"),
        r##"
error: joint `finger_1`: the lower limit 1 is above the upper limit -1
 --> scene.toml:4:10
  |
4 | limits = [1, -1]
  |          ^^^^^^^ write [-1, 1], m or rad
"##,
    );
    scene.expect(
        &format!("{import}[[joint]]\nmatch = \"*\"\nchild = \"palm\"\nstifness = 1\n"),
        r##"
error: joint 1: unknown key `child`
 --> scene.toml:4:1
  |
4 | child = "palm"
  | ^^^^^ known here: match, kind, stiffness, compliance, damping, limits, rest, armature, friction, torque_limit, linear_to, start

error: joint 1: unknown key `stifness`
 --> scene.toml:5:1
  |
5 | stifness = 1
  | ^^^^^^^^ did you mean `stiffness`?
"##,
    );
    scene.expect(&format!("{import}[[body]]\nname = \"thumb\"\n"), r##"
error: there is already a body `thumb`
 --> scene.toml:3:8
  |
3 | name = "thumb"
  |        ^^^^^^^ give each its own name

error: body `thumb` has no mass, and neither has anything welded to it
 --> scene.toml:3:8
  |
3 | name = "thumb"
  |        ^^^^^^^ give mass and inertia (or shapes with a density), or weld it to a body with mass or to the world
"##);
    scene.expect(
        &format!("{import}[[load]]\neffector = \"toe\"\nforce = [0, 0, 1]\n"),
        r##"
error: there is no effector `toe`
 --> scene.toml:3:12
  |
3 | effector = "toe"
  |            ^^^^^ name an effector of this file
"##,
    );
    scene.expect(
        "import = \"robots/foot.urdf\"\n",
        r##"
error: cannot read `robots/foot.urdf`: there is no such file
 --> scene.toml:1:10
  |
1 | import = "robots/foot.urdf"
  |          ^^^^^^^^^^^^^^^^^^ a path to a robot file, relative to this one
"##,
    );
    scene.expect(
        "import = \"other.toml\"\n",
        r##"
error: `other.toml` is not a robot file
 --> scene.toml:1:10
  |
1 | import = "other.toml"
  |          ^^^^^^^^^^^^ a path to a .urdf, .xml (MJCF) or .sdf file, relative to this one
"##,
    );
    scene.expect(
        "import = 3\n",
        r##"
error: `import` must be a string, not a number
 --> scene.toml:1:10
  |
1 | import = 3
  |          ^ write it in quotes
"##,
    );
    scene.expect(
        "free_base = true\n[[body]]\nname = \"a\"\nfree = true\nmass = 1\ninertia = [1, 1, 1]\n",
        r##"
error: `free_base` is given, but no `import`
 --> scene.toml:1:13
  |
1 | free_base = true
  |             ^^^^ say free = true of a body
"##,
    );
}

#[test]
fn errors_of_the_robot_are_shown_in_its_file() {
    let scene = Scene::new("robot");
    scene.0.file("robots/broken.urdf", "<robot name=\"r\">\n<link name=\"a\">\n</robot>\n");
    scene.expect(
        "import = \"robots/broken.urdf\"\n",
        r##"
error: cannot read the file: expected 'link' tag, not 'robot'
 --> robots/broken.urdf:3:1
  |
3 | </robot>
  | ^ not valid XML
"##,
    );
    scene.0.file("robots/twice.urdf", &robot(&[&link("a"), &link("a")]));
    scene.expect(
        "import = \"robots/twice.urdf\"\n",
        r##"
error: there is already a body `a`
 --> robots/twice.urdf:3:13
  |
3 | <link name="a"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz…
  |             ^ give each its own name
"##,
    );
}

#[test]
fn shapes_by_name_and_glob() {
    let scene = Scene::new("shapes");
    scene.0.file("corner.stl", &super::meshes::corner("solid", 3.0));
    let mechanism = scene.read(
        "[[body]]\nmatch = \"finger_*\"\npasses = [\"palm\"]\n[[body.shape]]\nkind = \"ball\"\nradius = 0.5\n\
         [[body]]\nmatch = \"finger_2\"\nshape = []\n\
         [[body]]\nmatch = \"thumb\"\n\
         [[body.shape]]\nkind = \"convex\"\nfile = \"corner.stl\"\nscale = [1, 1, 2]\ndensity = 10\n",
    );
    let body = |name: &str| &mechanism[mechanism.find_body(name).unwrap()];
    assert_eq!(body("finger_1").shapes.len(), 1);
    assert_eq!((body("finger_2").shapes.len(), &body("finger_2").passes[..]), (0, &["palm".to_string()][..]));
    assert_eq!(body("finger_1").inertia.mass, 1.0, "as in the file");
    // A corner with edges 1, 1 and 6: a sixth of their product, its centre a quarter along each.
    let M = &body("thumb").inertia;
    assert!((M.mass - 10.0).abs() < 1e-5, "{}", M.mass);
    assert!((M.center_of_mass - Vector3::new(0.25, 0.25, 1.5)).norm() < 1e-6, "{}", M.center_of_mass);
    scene.expect(
        "import = \"robots/hand.urdf\"\n[[body]]\nmatch = \"toe\"\nshape = []\n",
        r#"
error: body 1: no imported link matches `toe`
 --> scene.toml:3:9
  |
3 | match = "toe"
  |         ^^^^^ there are palm, finger_1, finger_2, thumb; `*` stands for any letters, `?` for one
"#,
    );
    let broken = "import = \"robots/hand.urdf\"\n[[body]]\nmatch = \"palm\"\n[[body.shape]]\nkind = \"ball\"\nradius = -1\n";
    let error = pliant_io::load(scene.0.file("scene.toml", broken)).unwrap_err().to_string();
    assert!(error.contains("scene.toml:6:10"), "{error}");
    let alone = "[[body]]\nmatch = \"palm\"\nshape = []\n";
    let error = pliant_io::load(scene.0.file("alone.toml", alone)).unwrap_err().to_string();
    assert!(error.starts_with("error: body 1: `match` is given, but the scene imports nothing"), "{error}");
}
