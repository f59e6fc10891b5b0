//! Claim: a model file brings back the model that was written, to the last bit; and a file that is not as it was
//! written, in whatever way, is refused with what is wrong, at once and without a panic.

use std::collections::HashSet;
use std::fs;

use crate::common::Random;
use crate::common::folder::Folder;
use pliant_core::engine::Simulation as _;
use pliant_core::gallery;
use pliant_core::reduced::{Every, Model, Reduction, Sampling, Simulation};
use pliant_core::spatial::Wrench;
use pliant_io::{LoadError, ModelError, ModelFile};

/// A few motions.
fn few(name: &str) -> Model {
    Reduction::at_rest(&gallery::build(name).unwrap()).build().unwrap()
}

/// The bits of a motion, with what the model says of its own error on the way.
fn motion(mut simulation: Simulation) -> Vec<u64> {
    let first = simulation.mechanism().effector_ids().next().unwrap();
    simulation.set_load(first, Wrench::force([0.3, -0.2, -0.4])).unwrap();
    let mut bits = Vec::new();
    for step in 0..20 {
        simulation.step(0.01).unwrap();
        if step % 5 == 0 {
            // Of a free base there is none.
            bits.extend(simulation.estimate().ok().map(f64::to_bits));
            let state = simulation.state();
            let poses = state.poses.iter().flat_map(|p| {
                let (x, q) = (p.position, p.rotation.coords);
                [x.x, x.y, x.z, q.x, q.y, q.z, q.w]
            });
            let numbers = poses.chain(state.coordinates.iter().copied()).chain(state.rates.iter().copied());
            bits.extend(numbers.map(f64::to_bits));
        }
    }
    bits.extend(simulation.settle(&Default::default()).ok().map(|settled| settled.residual.to_bits()));
    bits.extend(simulation.state().coordinates.iter().map(|x| x.to_bits()));
    bits
}

/// Few motions and all, several effectors, balls and formulas, a free base.
#[test]
fn a_model_that_was_read_moves_as_the_one_that_was_written() {
    let folder = Folder::new("model-bits");
    for name in ["two-link", "y", "helix:50", "hand", "arm", "torus-chain:3", "hexapod"] {
        let model = few(name);
        let file = ModelFile::new(&model, None);
        let path = folder.0.join("model.pliant");
        file.save(&path).unwrap();
        let back = ModelFile::load(&path).unwrap();
        assert_eq!(back, file, "{name}");
        assert_eq!(back.to_bytes(), file.to_bytes(), "{name}");
        let rebuilt = back.model().unwrap();
        assert_eq!(motion(rebuilt.simulate()), motion(model.simulate()), "{name}");
        // Where a mechanism is wanted, its own is taken.
        assert_eq!(&pliant_io::load(&path).unwrap(), model.mechanism(), "{name}");
    }
}

#[test]
fn what_sampling_said_is_kept() {
    for (name, every) in [("two-link", Some(Every::Few)), ("helix:50", None)] {
        let mechanism = gallery::build(name).unwrap();
        let sampling = Sampling { frequency: Some(5.0), loads: 8, seed: 7, ..Sampling::default() };
        let (model, outcome) = sampling.run(&mechanism, |_| ()).unwrap();
        assert_eq!(outcome.every, every, "{name}");
        let file = ModelFile::new(&model, Some((sampling, outcome)));
        let back = ModelFile::from_bytes(&file.to_bytes()).unwrap();
        assert_eq!(back, file, "{name}");
        assert_eq!(motion(back.model().unwrap().simulate()), motion(model.simulate()), "{name}");
    }
}

#[test]
fn what_a_reader_said_is_kept() {
    let said = |what: &str| vec![format!("{what} of the reader")];
    let mechanism = gallery::build("two-link").unwrap().with_remarks(said("a warning"), said("a note"));
    let model = Reduction::at_rest(&mechanism).build().unwrap();
    let back = ModelFile::from_bytes(&ModelFile::new(&model, None).to_bytes()).unwrap().mechanism;
    assert_eq!((back.warnings(), back.notes()), (said("a warning"), &said("a note")[..]));
    assert_eq!(back, mechanism);
}

/// A file with everything that there may be in one.
fn sampled() -> Vec<u8> {
    let sampling = Sampling { loads: 4, ..Sampling::default() };
    let (model, mut outcome) = sampling.run(&gallery::build("two-link").unwrap(), |_| ()).unwrap();
    outcome.samples.push(outcome.worst_loads.clone());
    outcome.several.push(outcome.worst_loads.clone());
    outcome.every = Some(Every::Restless("no reason".into()));
    ModelFile::new(&model, Some((sampling, outcome))).to_bytes()
}

/// 20,000 files, each damaged in one of nine ways.
#[test]
fn every_damaged_file_is_refused() {
    let whole = sampled();
    let mut random = Random(20_000);
    let (mut kinds, mut files) = (HashSet::new(), 0);
    while files < 20_000 {
        let mut bytes = whole.clone();
        let n = bytes.len();
        match random.below(9) {
            // One bit, or several bytes.
            0 => bytes[random.below(n)] ^= 1 << random.below(8),
            1 => (0..1 + random.below(8)).for_each(|_| bytes[random.below(n)] = random.next() as u8),
            // An end cut off, or some of the middle.
            2 => bytes.truncate(random.below(n)),
            3 => {
                let from = random.below(n);
                bytes.drain(from..n.min(from + 1 + random.below(64)));
            }
            // Something put in, or at the end.
            4 => {
                let at = random.below(n + 1);
                let more: Vec<u8> = (0..1 + random.below(64)).map(|_| random.next() as u8).collect();
                bytes.splice(at..at, more);
            }
            // Put in, and as much cut off.
            5 => {
                bytes.insert(random.below(n), random.next() as u8);
                bytes.pop();
            }
            // Two blocks change places.
            6 => {
                let length = 1 + random.below(n / 4);
                let from = random.below(n / 2 - length);
                let to = n / 2 + random.below(n / 2 - length);
                for k in 0..length {
                    bytes.swap(from + k, to + k);
                }
            }
            // A field of the head.
            7 => {
                let (at, length) = [(0, 8), (8, 4), (12, 8), (20, 8)][random.below(4)];
                let value = match random.below(3) {
                    0 => random.next(),
                    1 => random.next() >> random.below(64),
                    _ => u64::from_le_bytes(whole[12..20].try_into().unwrap()) ^ (1 << random.below(32)),
                };
                bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
            }
            // A block of zeros.
            _ => {
                let from = random.below(n);
                let to = n.min(from + 1 + random.below(200));
                bytes[from..to].fill(0);
            }
        }
        if bytes == whole {
            continue;
        }
        files += 1;
        let error = ModelFile::from_bytes(&bytes).expect_err("a damaged file");
        kinds.insert(std::mem::discriminant(&error));
    }
    // Empty is rare, and what is behind a good checksum is for the next test.
    assert!(kinds.len() >= 5, "{}", kinds.len());
}

/// Whoever changes a file and its checksum gets another model or an error, never a panic.
#[test]
fn a_forged_file_is_refused_or_is_another_model() {
    let whole = sampled();
    let checksum = |bytes: &[u8]| {
        let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let mut random = Random(3);
    let (mut refused, mut taken) = (0, 0);
    for k in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(3) {
            // Half of them behind the scene's text, where the numbers are.
            let from = if k % 2 == 0 { 28 } else { whole.len() / 2 };
            let at = from + random.below(whole.len() - from);
            bytes[at] = if random.below(4) == 0 { 0xff } else { random.next() as u8 };
        }
        let sum = checksum(&bytes[28..]);
        bytes[20..28].copy_from_slice(&sum.to_le_bytes());
        match ModelFile::from_bytes(&bytes) {
            Err(_) => refused += 1,
            Ok(file) => {
                taken += 1;
                if taken % 10 == 0 {
                    let _ = file.model();
                }
            }
        }
    }
    assert!(refused > 300 && taken > 300, "{refused} {taken}");
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let folder = Folder::new("model-errors");
    let whole = ModelFile::new(&few("two-link"), None).to_bytes();
    let path = folder.0.join("arm.pliant");
    let message = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = ModelFile::load(&path).unwrap_err();
        assert!(matches!(error, LoadError::Model { .. }));
        let text = error.to_string();
        assert!(text.starts_with(&format!("cannot read `{}`: ", path.display())), "{text}");
        assert_eq!(pliant_io::load(&path).unwrap_err().to_string(), text);
        text
    };
    let n = whole.len();
    assert!(message(b"").contains("it is empty"));
    assert!(message(b"[mechanism]\nname = \"a\"\n").contains("it is not a model file"));
    assert!(message(&whole[..n - 1]).contains(&format!("truncated: it has {} bytes of {n}", n - 1)));
    assert!(message(&[&whole[..], b"\n"].concat()).contains(&format!("more bytes than the {n}")));
    // Those of versions 1 and 2 held linear models.
    for old in [1, 2] {
        let mut other = whole.clone();
        other[8] = old;
        assert!(
            message(&other)
                .contains(&format!("version {old}, but this program reads version 3: build the model again"))
        );
    }
    let mut other = whole.clone();
    other[8] = 9;
    assert!(message(&other).contains("version 9, but this program reads version 3"));
    let mut flipped = whole.clone();
    flipped[n / 2] ^= 4;
    assert!(message(&flipped).contains("damaged"));
    // A length that no memory holds is no reason to ask for that memory.
    let mut long = whole.clone();
    long[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(message(&long).contains("truncated"));
    assert!(ModelFile::load(&folder.0).unwrap_err().to_string().contains("directory"));
    assert!(ModelFile::load(folder.0.join("none.pliant")).unwrap_err().to_string().contains("cannot read"));
    let file = ModelFile::from_bytes(&whole).unwrap();
    assert!(file.save(folder.0.join("arm.toml")).unwrap_err().to_string().contains(".pliant"));
    assert!(file.save(folder.0.join("no/arm.pliant")).unwrap_err().to_string().contains("cannot write"));
    assert_eq!(ModelFile::from_bytes(b"plia"), Err(ModelError::Short { has: 4, whole: 28 }));
}
