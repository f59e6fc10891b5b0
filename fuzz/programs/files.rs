//! Changed files: a file of some mechanism with a few numbers, lines, words or bytes changed is read, written again, settled,
//! reduced and moved by some engine, with contact where things touch. Nothing may panic; what a step returns is finite.

use pliant::Moving;
use pliant::engine::StaticsSettings;
use pliant::engines::Engine;
use pliant::linear::Linearisation;
use pliant::mechanism::Mechanism;
use pliant::{gallery, io};

use super::{Counts, Random};

const NAMES: [&str; 12] = [
    "two-link",
    "y",
    "four-bar",
    "gripper",
    "graph",
    "hexapod",
    "hand",
    "loop:6",
    "gripper-pick",
    "hand-grasp",
    "spline-slide",
    "windmill",
];

const ROBOT: &str = r#"<robot name="r">
<link name="base"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><origin xyz="0 0 0.2" rpy="0 0.1 0"/><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1"/></joint>
<joint name="wrist" type="continuous"><origin xyz="0 0 0.3"/><parent link="arm"/><child link="hand"/><axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="2"/></joint>
</robot>"#;

const MODEL: &str = r#"<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="1 1 0.1"/>
<body name="a" pos="0 0 0.5"><joint name="j" type="hinge" axis="0 1 0" stiffness="5" damping="0.1" range="-1 1"/><geom type="capsule" size="0.05 0.2" mass="1"/>
<body name="b" pos="0 0 0.4"><joint name="k" type="ball"/><geom type="box" size="0.1 0.1 0.1" mass="0.5"/><site name="tip" pos="0 0 0.1"/></body></body>
</worldbody><equality><joint joint1="j" joint2="j" polycoef="0 1 0 0 0"/></equality></mujoco>"#;

const WORLD: &str = r#"<sdf version="1.7"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose><inertial><mass>1</mass>
<inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link><link name="b"><pose>0 0 1.5 0 0.1 0</pose>
<inertial><mass>1</mass></inertial></link><joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>1</upper></limit><dynamics><spring_stiffness>3</spring_stiffness></dynamics></axis></joint></model></sdf>"#;

const NUMBERS: [&str; 20] = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1",
    "0",
    "-0.0",
    "1e308",
    "1e-308",
    "5e-324",
    "1e30",
    "1e-30",
    "[]",
    "\"x\"",
    "1",
    "0.125",
    "1e-9",
    "123456.789",
    "-1e9",
    "9007199254740993",
];

/// The text of a case, and the extension of its file.
pub fn changed(random: &mut Random) -> (Vec<u8>, &'static str) {
    let (text, extension) = match random.below(NAMES.len() + 3) {
        0 => (ROBOT.to_string(), "urdf"),
        1 => (MODEL.to_string(), "xml"),
        2 => (WORLD.to_string(), "sdf"),
        k => (io::scene::write(&gallery::build(NAMES[k - 3]).expect("it is of the gallery")), "toml"),
    };
    let mut bytes = text.into_bytes();
    for _ in 0..random.below(4) {
        change(&mut bytes, random);
    }
    (bytes, extension)
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.len() < 2 {
        return;
    }
    let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
    let range = from..(from + random.below(20)).min(bytes.len());
    match random.below(12) {
        0 => bytes[from] ^= 1 << random.below(8),
        1 => drop(bytes.drain(range)),
        2 => {
            let copy = bytes[range].to_vec();
            bytes.splice(to..to, copy);
        }
        3 => {
            let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            let (a, b) = (random.below(lines.len()), random.below(lines.len()));
            lines.swap(a, b);
            *bytes = lines.join(&b'\n');
        }
        // Most: the number after some place is another.
        _ => {
            let is_digit = |b: &u8| b.is_ascii_digit() || *b == b'.';
            let Some(start) = bytes[from..].iter().position(is_digit).map(|i| from + i) else { return };
            let end = bytes[start..].iter().position(|b| !is_digit(b)).map_or(bytes.len(), |i| start + i);
            let number = match random.below(3) {
                0 => random.of(&NUMBERS).to_string(),
                _ => format!(
                    "{:?}",
                    (random.below(2001) as f64 / 1000.0 - 1.0) * 10f64.powi(random.below(9) as i32 - 4)
                ),
            };
            bytes.splice(start..end, number.into_bytes());
        }
    }
}

/// One case.
pub fn run(seed: u64, counts: &mut Counts) {
    let mut random = Random(seed);
    let (bytes, extension) = changed(&mut random);
    counts.cases += 1;
    let text = String::from_utf8_lossy(&bytes);
    let read = match extension {
        "toml" => io::scene::read(&text, "fuzz.toml"),
        extension => {
            let options = io::Options { free_base: random.below(3) == 0, ..io::Options::default() };
            io::import::read(&text, &format!("fuzz.{extension}"), &options)
        }
    };
    let mechanism = match read {
        Ok(mechanism) => mechanism,
        Err(errors) => {
            assert!(!errors.to_string().is_empty());
            counts.refused += 1;
            return;
        }
    };
    counts.taken += 1;
    let written = io::scene::write(&mechanism);
    let again =
        io::scene::read(&written, "again.toml").unwrap_or_else(|error| panic!("{error}\n\n{written}"));
    assert_eq!(written, io::scene::write(&again));
    use_it(&mechanism, &mut random, counts);
}

/// Does with a mechanism what commands do.
fn use_it(mechanism: &Mechanism, random: &mut Random, counts: &mut Counts) {
    // Iterations enough to come to an end, few enough to do so soon.
    let settings = StaticsSettings { iterations: 20, halvings: 2, ..StaticsSettings::default() };
    if let Ok(projection) = Linearisation::at_rest(mechanism).project() {
        assert_eq!(projection.compliance().nrows(), 6 * mechanism.effectors().len());
    }
    let engine = *random.of(&Engine::ALL);
    let Ok(mut moving) = Moving::new(mechanism, Default::default(), engine) else { return };
    let simulation = moving.simulation();
    if random.below(2) == 0 {
        simulation.inputs_mut().add_scene_loads();
    }
    let dt = 10f64.powi(-(random.below(4) as i32));
    for _ in 0..4 {
        if simulation.step(dt).is_err() {
            break;
        }
        counts.steps += 1;
        assert!(simulation.state().is_finite(), "{engine:?} is not finite");
    }
    assert!(simulation.state().is_finite(), "{engine:?} is not finite after its last step");
    let _ = simulation.settle(&settings);
    let _ = simulation.estimate();
    simulation.violation();
    simulation.energy();
    assert!(simulation.state().is_finite(), "{engine:?} is not finite at rest");
}
