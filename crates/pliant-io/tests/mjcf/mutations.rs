//! Changed files: none makes the reader panic or hang, and every error has a place.

use std::fs;
use std::time::{Duration, Instant};

use super::features;
use crate::common::Random;
use crate::common::changes::is_read;

/// Changes of each of the small files: a share of the twenty thousand of all formats.
const ROUNDS: usize = 600;

#[test]
fn changed_files() {
    let names = [
        "orientations.xml",
        "defaults.xml",
        "joints.xml",
        "geoms.xml",
        "compiler.xml",
        "include.xml",
        "replicate.xml",
        "four_bar.xml",
        "equality.xml",
        "actuators.xml",
        "left_out.xml",
    ];
    let mut random = Random(5);
    let (mut loaded, mut all) = (0, 0);
    for name in names {
        let path = features::folder().join(name).display().to_string();
        let original = fs::read_to_string(&path).unwrap();
        for _ in 0..ROUNDS {
            let mut text = original.clone();
            for _ in 0..=random.below(3) {
                text = change(&text, &mut random);
            }
            let start = Instant::now();
            let read = pliant_io::import::read(&text, &path, &Default::default());
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}:\n{text}", start.elapsed());
            all += 1;
            loaded += usize::from(is_read(&text, &path, read));
        }
    }
    println!("{loaded} of {all} changed files load");
    assert!((all / 20..all * 19 / 20).contains(&loaded), "{loaded} of {all} loaded");
}

fn change(text: &str, random: &mut Random) -> String {
    let mut text = text.to_string();
    let spans = |text: &str, open: char, close: char| -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let mut from = 0;
        while let Some(start) = text[from..].find(open).map(|at| from + at + open.len_utf8()) {
            let Some(end) = text[start..].find(close).map(|at| start + at) else { break };
            spans.push((start, end));
            from = end + close.len_utf8();
        }
        spans
    };
    let values = spans(&text, '"', '"');
    let tags = spans(&text, '<', '>');
    match random.below(8) {
        // A value becomes another, of the file or not.
        0 if !values.is_empty() => {
            let (start, end) = values[random.below(values.len())];
            text.replace_range(start..end, random.number_or(&["", "x", "1 2 3", "1e-9", "100000"]));
        }
        1 if !values.is_empty() => {
            let (a, b) = values[random.below(values.len())];
            let (start, end) = values[random.below(values.len())];
            let other = text[a..b].to_string();
            text.replace_range(start..end, &other);
        }
        // One number of a value.
        2 if !values.is_empty() => {
            let (start, end) = values[random.below(values.len())];
            let mut words: Vec<String> = text[start..end].split(' ').map(str::to_string).collect();
            let at = random.below(words.len());
            words[at] = random.number().to_string();
            text.replace_range(start..end, &words.join(" "));
        }
        // A tag goes, comes twice, or moves.
        3..=5 if !tags.is_empty() => {
            let (start, end) = tags[random.below(tags.len())];
            let tag = format!("<{}>", &text[start..end]);
            if random.one_in(2) {
                text.replace_range(start - 1..end + 1, "");
            }
            if random.one_in(2) {
                let places: Vec<usize> = text.match_indices('<').map(|(at, _)| at).collect();
                if !places.is_empty() {
                    text.insert_str(places[random.below(places.len())], &tag);
                }
            }
        }
        // A character goes, or another comes.
        _ => {
            let places: Vec<(usize, char)> = text.char_indices().collect();
            if let Some((at, c)) = places.get(random.below(places.len().max(1))).copied() {
                let new = ["", "<", ">", "\"", "/", "é", " ", "0"][random.below(8)];
                text.replace_range(at..at + c.len_utf8(), new);
            }
        }
    }
    text
}

#[test]
fn bombs_and_circles_are_refused() {
    let read = |text: &str| pliant_io::import::read(text, "bomb.xml", &Default::default());
    let entities = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><mujoco model="&b;"/>"#;
    assert!(read(entities).unwrap_err().to_string().contains("DOCTYPE"));
    let deep = format!(
        "<mujoco><worldbody>{}<geom size='1'/>{}</worldbody></mujoco>",
        "<body>".repeat(5000),
        "</body>".repeat(5000)
    );
    assert!(read(&deep).unwrap_err().to_string().contains("nested"));
    let many = r#"<mujoco><worldbody><replicate count="6000"><body name="b"><geom size="1"/></body></replicate>
        </worldbody></mujoco>"#;
    assert_eq!(read(many).unwrap().bodies().len(), 6000);
    let folder = std::env::temp_dir().join(format!("pliant-mjcf-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (a, b) = (folder.join("a.xml"), folder.join("b.xml"));
    fs::write(&a, r#"<mujoco><include file="b.xml"/></mujoco>"#).unwrap();
    fs::write(&b, r#"<mujoco><include file="a.xml"/></mujoco>"#).unwrap();
    let error = pliant_io::load(&a).unwrap_err().to_string();
    fs::remove_dir_all(&folder).unwrap();
    assert!(error.contains("includes itself"), "{error}");
}
