//! Claim: no text makes the reader panic or hang, every error has a place inside the text, and whatever
//! still loads after a random change can be written and read again.

use crate::common::{EVERY_KEY, Random, assert_round_trip};

const NUMBERS: [&str; 16] = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1",
    "0",
    "-0.0",
    "1e308",
    "5e-324",
    "[]",
    "[[1]]",
    "\"x\"",
    "1",
    "0.125",
    "1e-9",
    "123456.789",
];

#[test]
fn ten_thousand_changed_scenes() {
    let mut random = Random(3);
    let mut loaded = 0;
    for _ in 0..10_000 {
        let mut bytes = EVERY_KEY.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            change(&mut bytes, &mut random);
        }
        let text = String::from_utf8_lossy(&bytes);
        match pliant_io::scene::read(&text, "changed.toml") {
            Ok(mechanism) => {
                loaded += 1;
                assert_round_trip(&mechanism);
            }
            Err(errors) => {
                assert!(!errors.diagnostics().is_empty());
                for d in errors.diagnostics() {
                    assert!(text.get(d.span.clone()).is_some() && d.line > 0 && d.column > 0, "{d:?}");
                    assert!(!d.help.is_empty() && !d.message.is_empty(), "{d:?}");
                }
                assert!(errors.to_string().starts_with("error: "));
            }
        }
    }
    // The changes are neither all harmless nor all fatal, or the test would show nothing.
    assert!((500..9000).contains(&loaded), "{loaded} loaded");
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    if length < 2 {
        return;
    }
    let (from, to) = (random.below(length), random.below(length));
    let range = from.min(to)..(from.min(to) + random.below(20)).min(length);
    match random.below(8) {
        0 => bytes[from] ^= 1 << random.below(8),
        1 => drop(bytes.drain(range)),
        2 => {
            let copy = bytes[range].to_vec();
            bytes.splice(to..to, copy);
        }
        3 => swap_lines(bytes, random),
        4 if random.one_in(10) => bytes.truncate(from),
        5 => bytes[from] = random.next() as u8,
        _ => replace_number(bytes, random),
    }
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(a, b);
    *bytes = lines.join(&b'\n');
}

/// Replaces the number after some position, if there is one.
fn replace_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len());
    let is_digit = |b: &u8| b.is_ascii_digit() || *b == b'.';
    let Some(start) = bytes[from..].iter().position(is_digit).map(|i| from + i) else { return };
    let end = bytes[start..].iter().position(|b| !is_digit(b)).map_or(bytes.len(), |i| start + i);
    bytes.splice(start..end, NUMBERS[random.below(NUMBERS.len())].bytes());
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a="] {
        let text = format!("body = {}", open.repeat(100_000));
        assert!(pliant_io::scene::read(&text, "deep.toml").is_err());
    }
    assert!(pliant_io::scene::read(&format!("a{} = 1", ".a".repeat(100_000)), "deep.toml").is_err());
}
