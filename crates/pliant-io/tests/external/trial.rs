//! Tests that need what may be absent: a network, a Python package, a browser.

use libtest_mimic::{Completion, Trial};

/// Why something that a test needs is unavailable.
#[derive(Clone)]
pub struct Absent(pub String);

pub type Found<T> = Result<T, Absent>;

/// A test that is listed as ignored, with the reason, where what it needs is absent.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Found<()> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, || {
        Ok(match test() {
            Ok(()) => Completion::Completed,
            Err(Absent(reason)) => Completion::ignored_with(reason),
        })
    })
}
