//! Changed files and random calls, for ever: the first eight bytes are the case, the ninth chooses the program.
//!
//! `cargo +nightly fuzz run programs` from the root of the repository; `tests/fuzz.rs` of `pliant-cli` runs the same for
//! seconds.
#![no_main]

#[allow(dead_code)] // the tests use the rest
#[path = "../programs/mod.rs"]
mod programs;

use libfuzzer_sys::fuzz_target;
use programs::{Counts, api, files};

fuzz_target!(|bytes: &[u8]| {
    let Some((case, rest)) = bytes.split_first_chunk::<8>() else { return };
    let (case, mut counts) = (u64::from_le_bytes(*case), Counts::default());
    match rest.first().is_some_and(|byte| byte % 2 == 1) {
        true => api::run(case, 60, &mut counts),
        false => files::run(case, &mut counts),
    }
});
