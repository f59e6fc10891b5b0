//! Collects everything that is wrong with a file, each key of each element at most once: what a broken
//! value leads to is not an error of its own.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use pliant_core::expression::Expression;

use crate::diagnostic::Finding;

/// Marks a value that could not be read and was reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// A value of the file: absent, there, or wrong and reported.
pub(super) type Optional<T> = Result<Option<T>, Reported>;

pub(super) struct Report<'t> {
    /// The text of the file.
    pub(super) source: &'t str,
    pub(super) findings: Vec<Finding>,
    /// The formulas that were read so far: joints of the same formula share it.
    pub(super) formulas: Vec<Arc<Expression>>,
    /// Where the element's header starts, and the key.
    reported: HashSet<(usize, &'static str)>,
}

impl<'t> Report<'t> {
    pub(super) fn new(source: &'t str) -> Report<'t> {
        Report { source, findings: Vec::new(), formulas: Vec::new(), reported: HashSet::new() }
    }

    /// Reports what is wrong with some text of the file.
    pub(super) fn add(&mut self, span: Range<usize>, message: String, help: String) -> Reported {
        self.findings.push(Finding { span, message, help });
        Reported
    }

    /// Whether this is the first report on a key of the element whose header starts there.
    pub(super) fn first(&mut self, header: usize, field: &'static str) -> bool {
        self.reported.insert((header, field))
    }
}
