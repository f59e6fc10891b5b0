//! Claim: no file and no call makes anything panic, hang or return what is not finite. The programs are those of `fuzz/`, run
//! here for a few seconds, the same cases every time; `PLIANT_FUZZ=100 cargo test -p pliant-cli fuzz -- --nocapture` runs a
//! hundred times as many and prints the counts.

#[path = "../../../fuzz/programs/mod.rs"]
mod programs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::common::{Run, two_at_a_time};
use programs::{Counts, api, cases, files, hostile};

/// Runs cases by their numbers; a panic tells which one it was, after all have run.
fn run_all(what: &str, n: usize, case: impl Fn(u64, &mut Counts) + Sync) -> Counts {
    let blocks: Vec<usize> = (0..n.div_ceil(50)).collect();
    let done = two_at_a_time(&blocks, |&block| {
        let mut counts = Counts::default();
        let mut failed = Vec::new();
        for seed in (50 * block..n.min(50 * block + 50)).map(|seed| seed as u64) {
            let before = Instant::now();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| case(seed, &mut counts))) {
                let text = payload.downcast_ref::<String>().cloned();
                let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()));
                failed.push((seed, text.unwrap_or_default()));
            }
            // A hundred times what a case takes on a machine that is busy.
            assert!(
                before.elapsed() < Duration::from_secs(60),
                "{what}: case {seed} takes {:?}",
                before.elapsed()
            );
        }
        Some((counts, failed))
    });
    let mut sum = Counts::default();
    let mut failed: Vec<(u64, String)> = Vec::new();
    for (counts, more) in done {
        sum.cases += counts.cases;
        sum.taken += counts.taken;
        sum.refused += counts.refused;
        sum.steps += counts.steps;
        failed.extend(more);
    }
    println!("{what}: {sum:?}");
    failed.sort();
    assert!(failed.is_empty(), "{what}: {} of {n} cases panic: {failed:#?}", failed.len());
    sum
}

#[test]
fn changed_files() {
    let counts = run_all("changed files", cases(800), files::run);
    // Neither all harmless nor all fatal, or it would show nothing.
    assert!(counts.taken * 10 > counts.cases && counts.refused * 10 > counts.cases, "{counts:?}");
    assert!(counts.steps > counts.cases, "{counts:?}");
}

#[test]
fn random_calls() {
    let counts = run_all("random calls", cases(120), |seed, counts| api::run(seed, 60, counts));
    assert!(counts.taken > 10 * counts.cases && counts.refused > 5 * counts.cases, "{counts:?}");
    assert!(counts.steps > counts.cases, "{counts:?}");
}

/// By the program itself, which must end by itself: a panic is exit code 101, too much memory a signal.
#[test]
fn hostile_files() {
    let run = Run::new("fuzz-hostile");
    let files = hostile::files();
    for (name, content) in &files {
        run.file(name, content);
    }
    let ran = two_at_a_time(&files, |(name, _)| {
        let simulate = ["--duration", "0.02", "--dt", "0.01", "--json"];
        let commands: [Vec<&str>; 4] = [
            vec!["info", name, "--json"],
            vec!["statics", name, "--json"],
            [&["simulate", name, "--engine", "full"], &simulate[..]].concat(),
            [&["simulate", name, "--engine", "reduced"], &simulate[..]].concat(),
        ];
        let codes = commands.map(|command| {
            let before = Instant::now();
            let outcome = run.run(&command);
            assert!([0, 1, 2].contains(&outcome.code), "{command:?}: {} {}", outcome.code, outcome.err);
            assert!(
                serde_json::from_str::<serde_json::Value>(&outcome.out).is_ok(),
                "{command:?}: {}",
                outcome.out
            );
            assert!(before.elapsed() < Duration::from_secs(60), "{command:?} takes {:?}", before.elapsed());
            outcome.code
        });
        Some(codes)
    });
    let with = |code: i32| ran.iter().flatten().filter(|c| **c == code).count();
    println!(
        "hostile files: {} in {} runs: {} done, {} failed, {} refused",
        files.len(),
        4 * ran.len(),
        with(0),
        with(1),
        with(2)
    );
    assert_eq!(ran.len(), files.len());
    assert!(with(0) > 20 && with(2) > 100, "{} {} {}", with(0), with(1), with(2));
}
