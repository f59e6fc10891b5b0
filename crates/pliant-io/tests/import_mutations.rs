//! Claim: 20,000 changed URDF, MJCF and SDF files (bytes turned over, cut off, elements doubled, removed,
//! moved and nested deep, huge numbers, entity bombs, files that include themselves, paths out of the
//! folder) never make a reader panic, hang or eat memory; every error has a place and says what would be
//! right, and what still loads can be written as a scene and read again.

#![allow(unsafe_code)] // a global allocator is unsafe by its trait; this one only counts and passes on

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::changes::{assert_errors, copy, replace_number};
use crate::common::{Random, assert_round_trip};
use pliant_io::import::{Options, read};

/// How many files, on how many threads.
const FILES: usize = 20_000;
const THREADS: usize = 2;
/// The longest that one file may take. Files take a millisecond; the machine may be busy.
const LONGEST: Duration = Duration::from_secs(5);
/// The longest that all of them may take.
const ALL: Duration = Duration::from_secs(60);
/// The most memory that one file may need at any time, bytes.
const MOST_MEMORY: isize = 64 << 20;

struct Counting;

thread_local! {
    /// Bytes that this thread holds now, and the most it held.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is to be changed: an extension and a text.
const SEEDS: [(&str, &str); 6] = [
    ("sdf", include_str!("sdf/frames.sdf")),
    ("sdf", include_str!("sdf/world.sdf")),
    ("urdf", include_str!("mutations/arm.urdf")),
    ("urdf", include_str!("mutations/mimic.urdf")),
    ("xml", include_str!("mutations/hand.xml")),
    ("xml", include_str!("mutations/loops.xml")),
];

/// Of these formats.
const MORE: [&str; 13] = [
    "-1e308",
    "1e-300",
    "1e150",
    "1e16",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999",
    "",
    "x",
    "0x10",
    "1,5",
    "1e-9",
    "0.125",
];

/// Paths that are to be refused or do no harm.
const PATHS: [&str; 12] = [
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "package://../../etc/passwd",
    "model://..",
    "package://x/../../../../etc/passwd",
    "http://example.org/a.stl",
    "a\\..\\..\\..\\etc\\passwd",
    "self.sdf",
    "self.xml",
    "/dev/zero",
    ".",
];

/// A folder with files that include themselves and each other.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("changed-files/robots");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("self.xml", "<mujoco><include file='other.xml'/><include file='self.xml'/></mujoco>");
    write("other.xml", "<mujoco><worldbody><body><include file='self.xml'/></body></worldbody></mujoco>");
    write("part.xml", "<mujoco><worldbody><body name='part'><geom size='0.1'/></body></worldbody></mujoco>");
    let sdf = |uri: &str| {
        format!(
            "<sdf version='1.9'><model name='m'><link name='l'/><include><uri>{uri}</uri></include></model></sdf>"
        )
    };
    write("self.sdf", &sdf("other.sdf"));
    write("other.sdf", &sdf("self.sdf"));
    write("part.sdf", "<sdf version='1.9'><model name='part'><link name='l'/></model></sdf>");
    write("meshes/a.stl", "solid a\nendsolid a\n");
    write("meshes/a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    folder
}

/// Reads a file as a user would, and checks the answer. Whether it loaded.
fn check(text: &str, extension: &str, folder: &Path, round_trip: bool) -> bool {
    let file = folder.join(format!("changed.{extension}")).display().to_string();
    let start = Instant::now();
    HELD.with(|held| held.set((0, 0)));
    let options = Options { free_base: text.len().is_multiple_of(7), ..Options::default() };
    let answer = read(text, &file, &options);
    let (took, (_, most)) = (start.elapsed(), HELD.with(Cell::get));
    assert!(took < LONGEST, "{took:?} for\n{text}");
    assert!(most < MOST_MEMORY + 40 * text.len() as isize, "{most} bytes for\n{text}");
    match answer {
        Ok(mechanism) => {
            if round_trip {
                assert_round_trip(&mechanism);
            }
            true
        }
        Err(errors) => {
            assert_errors(text, &file, &errors);
            let outside = errors.diagnostics().iter().find(|d| d.message.contains("root:"));
            assert!(outside.is_none(), "what lies outside was read: {outside:?}");
            false
        }
    }
}

#[test]
fn twenty_thousand_changed_files() {
    let folder = folder();
    for (extension, seed) in SEEDS {
        assert!(check(seed, extension, &folder, true), "{extension}: the file loads before it is changed");
    }
    let start = Instant::now();
    let loaded: Vec<[usize; 3]> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let folder = &folder;
                scope.spawn(move || {
                    let mut random = Random(100 + thread as u64);
                    let mut loaded = [0; 3];
                    for i in 0..FILES / THREADS {
                        let (extension, seed) = SEEDS[i % SEEDS.len()];
                        let mut bytes = seed.as_bytes().to_vec();
                        for _ in 0..=random.below(3) {
                            change(&mut bytes, &mut random);
                        }
                        let text = String::from_utf8_lossy(&bytes);
                        loaded[i % SEEDS.len() / 2] +=
                            usize::from(check(&text, extension, folder, i % 8 == 0));
                    }
                    loaded
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    let took = start.elapsed();
    let sum = [0, 1, 2].map(|k| loaded.iter().map(|counts| counts[k]).sum::<usize>());
    println!("{took:?}; loaded: {} SDF, {} URDF, {} MJCF of {}", sum[0], sum[1], sum[2], FILES / 3);
    assert!(took < ALL, "{took:?}");
    // The changes are neither all harmless nor all fatal, or the test would show nothing.
    for (k, count) in sum.iter().enumerate() {
        assert!((FILES / 30..FILES / 3 * 9 / 10).contains(count), "{}: {count} loaded", SEEDS[2 * k].0);
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    if length < 2 {
        return;
    }
    let (from, to) = (random.below(length), random.below(length));
    let range = from..(from + random.below(30)).min(length);
    match random.below(24) {
        0 => bytes[from] ^= 1 << random.below(8),
        1 => bytes[from] = random.next() as u8,
        2 => drop(bytes.drain(range)),
        3 => copy(bytes, range, to),
        4 if random.one_in(5) => bytes.truncate(from),
        5..=7 => {
            if let Some(element) = element(bytes, random) {
                bytes.drain(element);
            }
        }
        8..=10 => {
            if let Some(element) = element(bytes, random) {
                let copy = bytes[element.clone()].to_vec();
                // Beside itself, or into something else.
                let at = if random.one_in(2) { element.end } else { next(bytes, to, b'>') + 1 };
                for _ in 0..=random.below(4) {
                    bytes.splice(at..at, copy.iter().copied());
                }
            }
        }
        11 => nest(bytes, random),
        12 => {
            let bomb: String = (1..12)
                .map(|i| format!("<!ENTITY e{i} \"{}\">", format!("&e{};", i - 1).repeat(10)))
                .collect();
            let start = next(bytes, 0, b'>') + 1;
            let text = format!("<!DOCTYPE x [<!ENTITY e0 \"bomb\">{bomb}]>");
            bytes.splice(start..start, text.bytes());
            if let Some(quoted) = quoted(bytes, random) {
                bytes.splice(quoted, *b"&e11;");
            }
        }
        13 => {
            let path = PATHS[random.below(PATHS.len())];
            let include = match random.below(3) {
                0 => format!("<include file=\"{path}\"/>"),
                1 => format!("<include><uri>{path}</uri></include>"),
                _ => format!(
                    "<visual name='v'><geometry><mesh filename=\"{path}\"><uri>{path}</uri></mesh></geometry></visual>"
                ),
            };
            let at = next(bytes, to, b'>') + 1;
            bytes.splice(at..at, include.into_bytes());
        }
        14 => {
            // A name for another.
            if let (Some(a), Some(b)) = (quoted(bytes, random), quoted(bytes, random)) {
                let copy = bytes[b].to_vec();
                bytes.splice(a, copy);
            }
        }
        15 => {
            if let Some(path) = quoted(bytes, random) {
                bytes.splice(path, PATHS[random.below(PATHS.len())].bytes());
            }
        }
        16 => bytes.extend_from_within(..from),
        _ => replace_number(bytes, random, b".-", &MORE),
    }
}

/// Where a byte is next, or the last place.
fn next(bytes: &[u8], from: usize, byte: u8) -> usize {
    bytes[from..].iter().position(|b| *b == byte).map_or(bytes.len() - 1, |i| from + i)
}

/// Some element from its start tag to its end tag, as far as that can be told.
fn element(bytes: &[u8], random: &mut Random) -> Option<std::ops::Range<usize>> {
    let from = random.below(bytes.len());
    let start = from + bytes[from..].windows(2).position(|w| w[0] == b'<' && w[1].is_ascii_alphabetic())?;
    let mut depth = 0;
    let mut at = start;
    while at + 1 < bytes.len() {
        if bytes[at] == b'<' {
            let end = next(bytes, at, b'>');
            match bytes[at + 1] {
                b'/' => depth -= 1,
                b'!' | b'?' => {}
                _ if bytes[end.max(1) - 1] == b'/' => {}
                _ => depth += 1,
            }
            at = end + 1;
            if depth <= 0 {
                return Some(start..at.min(bytes.len()));
            }
        } else {
            at += 1;
        }
    }
    None
}

/// The inside of some pair of quotes.
fn quoted(bytes: &[u8], random: &mut Random) -> Option<std::ops::Range<usize>> {
    let from = random.below(bytes.len());
    let quote = |b: &u8| matches!(b, b'"' | b'\'');
    let start = from + bytes[from..].iter().position(|b| *b == b'=')? + 2;
    let end = start + bytes.get(start..)?.iter().position(quote)?;
    Some(start..end)
}

/// Puts an element into many of another name.
fn nest(bytes: &mut Vec<u8>, random: &mut Random) {
    let words = ["model", "link", "body", "frame", "default", "geometry", "replicate", "worldbody", "x"];
    let word = words[random.below(words.len())];
    let depth = [3, 30, 150, 250, 3000][random.below(5)];
    let Some(element) = element(bytes, random) else { return };
    let inner = bytes[element.clone()].to_vec();
    let mut nested = format!("<{word} name='n' count='9'>").repeat(depth).into_bytes();
    nested.extend(inner);
    nested.extend(format!("</{word}>").repeat(depth).into_bytes());
    bytes.splice(element, nested);
}

#[test]
fn bombs_and_abysses_are_refused() {
    let folder = folder();
    for (extension, root) in [("urdf", "robot"), ("xml", "mujoco"), ("sdf", "sdf")] {
        let bomb: String =
            (1..20).map(|i| format!("<!ENTITY e{i} \"{}\">", format!("&e{};", i - 1).repeat(10))).collect();
        let text = format!("<!DOCTYPE x [<!ENTITY e0 \"bomb\">{bomb}]><{root} name=\"&e19;\">&e19;</{root}>");
        assert!(!check(&text, extension, &folder, false));
        let outside = format!(
            "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><{root} name=\"&e;\">&e;</{root}>"
        );
        assert!(!check(&outside, extension, &folder, false));
        for word in ["link", "body", "model", "default"] {
            let deep = format!("<{word} name='a'>").repeat(20_000) + &format!("</{word}>").repeat(20_000);
            assert!(!check(&format!("<{root}>{deep}</{root}>"), extension, &folder, false));
            assert!(!check(
                &format!("<{root}>{}", format!("<{word}>").repeat(20_000)),
                extension,
                &folder,
                false
            ));
        }
    }
    // Copies of copies of copies.
    let many =
        "<replicate count='1000'>".repeat(8) + "<body><geom size='1'/></body>" + &"</replicate>".repeat(8);
    assert!(!check(&format!("<mujoco><worldbody>{many}</worldbody></mujoco>"), "xml", &folder, false));
    let many = "<mujoco><worldbody><replicate count='2000000000'><body><geom size='1'/></body></replicate></worldbody></mujoco>";
    assert!(!check(many, "xml", &folder, false));
}

#[test]
fn files_that_include_themselves_are_refused() {
    let folder = folder();
    for (extension, name) in
        [("xml", "self.xml"), ("xml", "other.xml"), ("sdf", "self.sdf"), ("sdf", "other.sdf")]
    {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let errors = read(&text, &folder.join(name).display().to_string(), &Options::default()).unwrap_err();
        assert!(errors.to_string().contains("includes itself"), "{errors}");
        assert!(!check(&text, extension, &folder, false));
    }
    // A long way down, by files that each nest as deep as they may.
    let (deep, back) = ("<body>".repeat(150), "</body>".repeat(150));
    for i in 0..200 {
        let inner = if i == 199 { String::new() } else { format!("<include file='deep{}.xml'/>", i + 1) };
        let text = format!("<mujoco><worldbody>{deep}{inner}{back}</worldbody></mujoco>");
        fs::write(folder.join(format!("deep{i}.xml")), text).unwrap();
    }
    let text = "<mujoco><include file='deep0.xml'/></mujoco>";
    assert!(!check(text, "xml", &folder, false));
}

#[test]
fn large_files_take_no_more_than_their_share_of_time() {
    let folder = folder();
    let count = 5000;
    let inertia = "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/>";
    let mut urdf = String::from("<robot name='r'>");
    let mut sdf = String::from("<sdf version='1.9'><model name='m'>");
    let mut kinds = String::from("<robot name='r'><link name='l'/>");
    let mut wrong = String::from("<sdf version='1.9'><model name='m'><link name='l'/>");
    for i in 0..count {
        urdf += &format!("<link name='l{i}'><inertial><mass value='1'/>{inertia}</inertial></link>\n");
        sdf += &format!("<link name='l{i}'><pose>0 0 {i} 0 0 0</pose></link>\n");
        for k in 0..6 {
            kinds += &format!("<k{i}{k}/>\n");
        }
        wrong += &format!("<joint name='j{i}' type='t'><parent>p</parent><child>c</child></joint>\n");
        if i > 0 {
            let ends = (i - 1, i);
            urdf += &format!(
                "<joint name='j{i}' type='continuous'><parent link='l{}'/><child link='l{}'/></joint>\n",
                ends.0, ends.1
            );
            sdf += &format!(
                "<joint name='j{i}' type='revolute'><parent>l{}</parent><child>l{}</child></joint>\n",
                ends.0, ends.1
            );
        }
    }
    for (extension, text, end, loads) in [
        ("urdf", urdf, "</robot>", true),
        ("sdf", sdf, "</model></sdf>", true),
        ("urdf", kinds, "</robot>", true),
        ("sdf", wrong, "</model></sdf>", false),
    ] {
        let start = Instant::now();
        assert_eq!(check(&(text + end), extension, &folder, false), loads);
        println!("{extension}: {:?}", start.elapsed());
    }
}
