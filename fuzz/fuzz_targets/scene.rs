//! Any bytes, read as a scene: no panic, errors have a place in the text, and what loads comes back
//! from its own text unchanged.
//!
//! `cargo +nightly fuzz run scene` from the root of the repository.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pliant_io::scene;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match scene::read(&text, "fuzz.toml") {
        Ok(mechanism) => {
            let written = scene::write(&mechanism);
            let again = scene::read(&written, "again.toml").unwrap_or_else(|e| panic!("{e}\n\n{written}"));
            assert_eq!(written, scene::write(&again));
        }
        Err(errors) => {
            assert!(errors.diagnostics().iter().all(|d| text.get(d.span.clone()).is_some()));
            assert!(!errors.to_string().is_empty());
        }
    }
});
