//! Random changes of files, and what every answer of a reader to them must be.

use std::ops::Range;

use pliant_core::mechanism::Mechanism;
use pliant_io::SceneErrors;

use super::{Random, assert_round_trip};

/// Numbers that are special in every format.
pub const NUMBERS: [&str; 9] = ["nan", "inf", "-inf", "1e400", "-1", "0", "-0.0", "1e308", "5e-324"];

impl Random {
    /// One of these, or of [`NUMBERS`].
    pub fn number_or(&mut self, more: &[&'static str]) -> &'static str {
        let i = self.below(NUMBERS.len() + more.len());
        NUMBERS.get(i).copied().unwrap_or_else(|| more[i - NUMBERS.len()])
    }
}

/// Puts a copy of a range somewhere.
pub fn copy(bytes: &mut Vec<u8>, range: Range<usize>, to: usize) {
    let copy = bytes[range].to_vec();
    bytes.splice(to..to, copy);
}

/// Swaps two lines, or removes one, where that may be.
pub fn change_lines(bytes: &mut Vec<u8>, random: &mut Random, remove: bool) {
    let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    if remove && !random.one_in(2) {
        lines.remove(a);
    } else {
        lines.swap(a, b);
    }
    *bytes = lines.join(&b'\n');
}

/// Replaces the number after some position, if there is one; digits and `signs` are part of it.
pub fn replace_number(bytes: &mut Vec<u8>, random: &mut Random, signs: &[u8], more: &[&'static str]) {
    let from = random.below(bytes.len());
    let is_digit = |b: &u8| b.is_ascii_digit() || signs.contains(b);
    let Some(start) = bytes[from..].iter().position(is_digit).map(|i| from + i) else { return };
    let end = bytes[start..].iter().position(|b| !is_digit(b)).map_or(bytes.len(), |i| start + i);
    bytes.splice(start..end, random.number_or(more).bytes());
}

/// Whether a changed text of this file was read. What was can be written and read again; else every error has a place, inside
/// the text where it is of this file, and says what would be right.
#[track_caller]
pub fn is_read(text: &str, file: &str, answer: Result<Mechanism, SceneErrors>) -> bool {
    match answer {
        Ok(mechanism) => {
            assert_round_trip(&mechanism);
            true
        }
        Err(errors) => {
            assert_errors(text, file, &errors);
            false
        }
    }
}

#[track_caller]
pub fn assert_errors(text: &str, file: &str, errors: &SceneErrors) {
    assert!(!errors.diagnostics().is_empty());
    for d in errors.diagnostics() {
        assert!(d.line > 0 && d.column > 0 && !d.help.is_empty() && !d.message.is_empty(), "{d:?}\n{text}");
        assert!(d.file != file || text.get(d.span.clone()).is_some(), "{d:?}\n{text}");
    }
    assert!(errors.to_string().starts_with("error: "));
}
