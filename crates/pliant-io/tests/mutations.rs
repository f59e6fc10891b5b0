//! Claim: no text makes the reader panic or hang, every error has a place inside the text, and whatever
//! still loads after a random change can be written and read again.

use crate::common::changes::{change_lines, copy, is_read, replace_number};
use crate::common::{EVERY_KEY, Random};

/// Of TOML.
const MORE: [&str; 7] = ["[]", "[[1]]", "\"x\"", "1", "0.125", "1e-9", "123456.789"];

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
        let answer = pliant_io::scene::read(&text, "changed.toml");
        loaded += usize::from(is_read(&text, "changed.toml", answer));
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
        2 => copy(bytes, range, to),
        3 => change_lines(bytes, random, false),
        4 if random.one_in(10) => bytes.truncate(from),
        5 => bytes[from] = random.next() as u8,
        _ => replace_number(bytes, random, b".", &MORE),
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a="] {
        let text = format!("body = {}", open.repeat(100_000));
        assert!(pliant_io::scene::read(&text, "deep.toml").is_err());
    }
    assert!(pliant_io::scene::read(&format!("a{} = 1", ".a".repeat(100_000)), "deep.toml").is_err());
}
