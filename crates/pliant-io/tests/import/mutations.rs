//! Random changes of a robot file and of a scene that imports it.

use super::{Folder, joint, link, read_with, robot};
use crate::common::changes::{change_lines, copy, is_read};
use crate::common::{Random, assert_round_trip};
use pliant_io::Options;

fn every_element() -> String {
    let shape = |tag: &str, geometry: &str| {
        format!("<{tag}><origin xyz=\"0 0 1\" rpy=\"0.1 0.2 0.3\"/><geometry>{geometry}</geometry></{tag}>\n")
    };
    let rest = "<origin xyz=\"0 0.1 0.2\" rpy=\"0 0 1\"/><axis xyz=\"0 0 1\"/>\n<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>\n<dynamics damping=\"0.1\" friction=\"0.1\"/>";
    robot(&[
        "<material name=\"m\"/>\n",
        &link("base"),
        &link("a"),
        "<link name=\"cross\"/>\n",
        &format!(
            "<link name=\"b\">{}{}{}{}<inertial><origin xyz=\"0 0 1\"/><mass value=\"2\"/>\n<inertia ixx=\"0.1\" iyy=\"0.2\" izz=\"0.3\" ixy=\"0.01\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
            shape("collision", "<box size=\"1 2 3\"/>"),
            shape("collision", "<sphere radius=\"1\"/>"),
            shape("collision", "<mesh filename=\"package://p/a.stl\" scale=\"1 1 1\"/>"),
            shape("visual", "<cylinder radius=\"1\" length=\"2\"/>"),
        ),
        &link("c"),
        "<link name=\"tool\"/>\n",
        &joint("j", "revolute", "base", "a", rest),
        &joint("k", "continuous", "a", "cross", rest),
        &joint(
            "l",
            "prismatic",
            "cross",
            "b",
            &format!("{rest}<mimic joint=\"j\" multiplier=\"2\" offset=\"0.1\"/>"),
        ),
        &joint("m", "floating", "b", "c", rest),
        &joint("n", "fixed", "c", "tool", rest),
    ])
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    if length < 2 {
        return;
    }
    let (from, to) = (random.below(length), random.below(length));
    let range = from.min(to)..(from.min(to) + random.below(40)).min(length);
    match random.below(9) {
        0 => bytes[from] ^= 1 << random.below(8),
        1 => drop(bytes.drain(range)),
        2 => copy(bytes, range, to),
        3 => change_lines(bytes, random, true),
        4 if random.one_in(10) => bytes.truncate(from),
        _ => {
            // A word in quotes becomes another one of the file, or a strange number.
            let words: Vec<&[u8]> = bytes.split(|b| *b == b'"').skip(1).step_by(2).collect();
            if words.is_empty() {
                return;
            }
            let i = random.below(words.len());
            let word = if random.one_in(2) {
                words[random.below(words.len())].to_vec()
            } else {
                random.number_or(&["", "x", "0.125 0.5"]).as_bytes().to_vec()
            };
            let mut parts: Vec<&[u8]> = bytes.split(|b| *b == b'"').collect();
            if 2 * i + 1 < parts.len() {
                parts[2 * i + 1] = &word;
            }
            *bytes = parts.join(&b'"');
        }
    }
}

#[test]
fn twenty_thousand_changed_robots() {
    let original = every_element();
    assert!(read_with(&original, &Options::default()).is_ok());
    let mut random = Random(5);
    let mut loaded = 0;
    for i in 0..20_000 {
        let mut bytes = original.clone().into_bytes();
        for _ in 0..=random.below(3) {
            change(&mut bytes, &mut random);
        }
        let text = String::from_utf8_lossy(&bytes);
        let options = Options { free_base: i % 2 == 0, ..Options::default() };
        loaded += usize::from(is_read(&text, "robot.urdf", read_with(&text, &options)));
    }
    // The changes are neither all harmless nor all fatal, or the test would show nothing.
    assert!((2000..18_000).contains(&loaded), "{loaded} loaded");
}

#[test]
fn changed_overlays() {
    let folder = Folder::new("mutations");
    folder.file("hand.urdf", &every_element());
    let original = "import = \"hand.urdf\"\nfree_base = false\n\
        [[joint]]\nmatch = \"k\"\nstiffness = 3\nlimits = [-1, 1]\n[[joint]]\nmatch = \"j*\"\nkind = \"fixed\"\n\
        [[body]]\nname = \"new\"\nmass = 1\ninertia = [1, 1, 1]\n\
        [[joint]]\nname = \"loop\"\nkind = \"ball\"\nparent = \"b\"\nchild = \"new\"\n\
        [[effector]]\nmatch = \"t*\"\n[[effector]]\nname = \"tip\"\nbody = \"new\"\n[[load]]\neffector = \"tip\"\nforce = [0, 0, 1]\n";
    let file = folder.0.join("scene.toml").display().to_string();
    let mut random = Random(6);
    let mut loaded = 0;
    for _ in 0..2_000 {
        let mut bytes = original.as_bytes().to_vec();
        change(&mut bytes, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        match pliant_io::scene::read(&text, &file) {
            Ok(mechanism) => {
                loaded += 1;
                assert_round_trip(&mechanism);
            }
            Err(errors) => assert!(errors.to_string().starts_with("error: "), "{text}"),
        }
    }
    assert!((200..1800).contains(&loaded), "{loaded} loaded");
}
