//! What is wrong with a file, and how it is shown: the offending text underlined, with what would be
//! right next to it.
//!
//! ```text
//! error: body `upper`: the mass is -0.2
//!   --> scene.toml:12:8
//!    |
//! 12 | mass = -0.2
//!    |        ^^^^ it must be finite and zero or above, kg
//! ```

use std::fmt::{self, Write as _};
use std::ops::Range;

/// How many errors are shown to people; the list has them all.
const SHOWN: usize = 50;
/// How many columns of a line are shown.
const WIDTH: usize = 100;
/// How many columns are shown before the underlined text of a longer line.
const BEFORE: usize = 30;
/// How many columns a tab takes.
const TAB: usize = 4;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The name of the file, as it was given.
    pub file: String,
    /// Line of the first offending character, from 1.
    pub line: usize,
    /// Column of the first offending character, in characters, from 1.
    pub column: usize,
    /// The offending text, in bytes of the file.
    pub span: Range<usize>,
    /// What is wrong, naming the element.
    pub message: String,
    /// What would be right.
    pub help: String,
}

/// Everything that is wrong with a file and the files it takes in, at once, in the order of the files.
///
/// `Display` shows each error with its line, the offending text underlined.
///
/// ```
/// let text = r#"
/// [[body]]
/// name = "upper"
/// mass = -0.2
/// inertia = [1.0, 1.0, 1.0]
/// free = true
/// "#;
/// let errors = pliant_io::scene::read(text, "scene.toml").unwrap_err();
/// let first = &errors.diagnostics()[0];
/// assert_eq!((first.line, first.column), (4, 8));
/// assert_eq!(&text[first.span.clone()], "-0.2");
/// assert_eq!(first.help, "it must be finite and zero or above, kg");
/// assert!(errors.to_string().contains("^^^^ it must be finite")); // as people see it
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneErrors {
    /// Never empty; the first is the one that was to be read.
    sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// As it was given; no two are the same.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// The line of a byte, from 1.
    pub(crate) fn line(&self, byte: usize) -> usize {
        1 + self.text.as_bytes()[..byte.min(self.text.len())].iter().filter(|b| **b == b'\n').count()
    }
}

/// One thing that is wrong, before its line is known.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl SceneErrors {
    /// Sorts findings by their place and looks up their lines.
    pub(crate) fn new(file: &str, text: &str, findings: Vec<Finding>) -> SceneErrors {
        let source = Source { name: file.into(), text: text.into() };
        SceneErrors::of(vec![source], findings.into_iter().map(|finding| (0, finding)).collect())
    }

    /// The same for findings in several files, each with the position of its file in the list.
    pub(crate) fn of(sources: Vec<Source>, mut findings: Vec<(usize, Finding)>) -> SceneErrors {
        findings.sort_by_key(|(source, finding)| (*source, finding.span.start));
        let starts: Vec<Vec<usize>> = sources.iter().map(|source| line_starts(&source.text)).collect();
        let diagnostics = findings
            .into_iter()
            .map(|(source, Finding { span, message, help })| {
                let (Source { name, text }, starts) = (&sources[source], &starts[source]);
                let start = floor(text, span.start);
                let span = start..floor(text, span.end).max(start);
                let line = starts.partition_point(|s| *s <= start);
                let column = text[starts[line - 1]..start].chars().count() + 1;
                Diagnostic { file: name.clone(), line, column, span, message, help }
            })
            .collect();
        SceneErrors { sources, diagnostics }
    }

    /// The name of the file that was to be read, as it was given.
    pub fn file(&self) -> &str {
        &self.sources[0].name
    }

    /// The errors, at least one, in the order of the file.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, diagnostic: &Diagnostic) -> fmt::Result {
        let Diagnostic { file, line, column, span, message, help } = diagnostic;
        let source = self.sources.iter().find(|source| source.name == *file);
        let text = source.map_or("", |source| &source.text);
        let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let source = text[start..end].trim_end_matches('\r');
        let marked = (span.start - start).min(source.len())..(span.end - start).min(source.len());
        let excerpt = Excerpt::new(source, marked);

        let gutter = line.to_string().len();
        writeln!(f, "error: {}", printable(message))?;
        writeln!(f, "{:gutter$}--> {}:{line}:{column}", "", printable(file))?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{}", format!("{line} | {}", excerpt.text).trim_end())?;
        let underline = "^".repeat(excerpt.marked.len());
        let help = printable(help);
        write!(
            f,
            "{}",
            format!("{:gutter$} | {:2$}{underline} {help}", "", "", excerpt.marked.start).trim_end()
        )
    }
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().take(SHOWN).enumerate() {
            if i > 0 {
                f.write_str("\n\n")?;
            }
            self.show(f, diagnostic)?;
        }
        match self.diagnostics.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            1 => f.write_str("\n\nand one more error"),
            more => write!(f, "\n\nand {more} more errors"),
        }
    }
}

impl std::error::Error for SceneErrors {}

/// What is shown of a line, and which of its columns are underlined.
struct Excerpt {
    text: String,
    marked: Range<usize>,
}

impl Excerpt {
    /// Of a line with a marked range of bytes. At least one column is underlined.
    fn new(line: &str, marked: Range<usize>) -> Excerpt {
        let width = |range: Range<usize>| line[range].chars().map(columns).sum::<usize>();
        let before = width(0..marked.start);
        // A line that does not fit loses its beginning as far as the marked text allows.
        let skip = if width(0..line.len()) > WIDTH { before.saturating_sub(BEFORE) } else { 0 };

        let mut text = String::new();
        let (mut at, mut shown) = (0, 0);
        let mut first = None;
        for (byte, c) in line.char_indices() {
            let c_columns = columns(c);
            if at >= skip {
                if shown + c_columns > WIDTH {
                    text.push('…');
                    break;
                }
                if text.is_empty() && byte > 0 {
                    text.push('…');
                    shown += 1;
                }
                if byte >= marked.start {
                    first.get_or_insert(shown);
                }
                push_visible(&mut text, c);
                shown += c_columns;
            }
            at += c_columns;
        }
        let start = first.unwrap_or(shown);
        let length = width(marked).min(shown.saturating_sub(start)).max(1);
        Excerpt { text, marked: start..start + length }
    }
}

/// How many columns a terminal gives a character.
fn columns(c: char) -> usize {
    match c {
        '\t' => TAB,
        // Combining marks and joiners.
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        // Hangul, Han, kana, full-width forms and most pictures.
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Appends a character of a source line, in the number of columns that [`columns`] says.
fn push_visible(text: &mut String, c: char) {
    match c {
        '\t' => text.push_str("    "),
        c if is_unsafe(c) => text.push('\u{fffd}'),
        c => text.push(c),
    }
}

/// Whether a terminal would act on a character instead of showing it.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A message with what a terminal would act on written out.
fn printable(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for c in message.chars() {
        if is_unsafe(c) {
            write!(text, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string");
        } else {
            text.push(c);
        }
    }
    text
}

/// Byte positions at which lines start.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect()
}

/// The nearest position at or before one that lies between two characters.
fn floor(text: &str, mut position: usize) -> usize {
    position = position.min(text.len());
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
}

#[cfg(test)]
mod tests {
    //! Claim: the underline sits under the offending text, whatever the line is made of.

    use super::*;

    fn shown(text: &str, offending: &str) -> String {
        let start = text.find(offending).unwrap();
        let finding = Finding { span: start..start + offending.len(), message: "m".into(), help: "h".into() };
        SceneErrors::new("f", text, vec![finding]).to_string()
    }

    #[test]
    fn tabs_take_four_columns() {
        assert_eq!(shown("\ta = 1", "1"), "error: m\n --> f:1:6\n  |\n1 |     a = 1\n  |         ^ h");
    }

    #[test]
    fn accents_and_wide_characters_count_by_their_columns() {
        assert_eq!(shown("é = 1", "1"), "error: m\n --> f:1:5\n  |\n1 | é = 1\n  |     ^ h");
        assert_eq!(shown("\"腕\" = 1", "1"), "error: m\n --> f:1:7\n  |\n1 | \"腕\" = 1\n  |        ^ h");
        assert_eq!(
            shown("a = \"腕腕\"", "\"腕腕\""),
            "error: m\n --> f:1:5\n  |\n1 | a = \"腕腕\"\n  |     ^^^^^^ h"
        );
    }

    #[test]
    fn a_span_over_several_lines_is_underlined_to_the_end_of_its_first() {
        assert_eq!(
            shown("a = [1,\r\n2]\n", "[1,\r\n2]"),
            "error: m\n --> f:1:5\n  |\n1 | a = [1,\n  |     ^^^ h"
        );
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let rendered = shown(&text, "X");
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[3], format!("1 | …{}X{}…", "a".repeat(30), "b".repeat(68)));
        assert_eq!(lines[4].find('^'), Some(4 + 31));
        let rendered = shown(&text, &text);
        assert_eq!(rendered.lines().nth(4).unwrap(), format!("  | {} h", "^".repeat(100)));
    }

    #[test]
    fn the_end_of_the_file_and_an_empty_one_have_a_place() {
        let end = |text: &str| {
            let finding = Finding { span: 999..1000, message: "m".into(), help: "h".into() };
            SceneErrors::new("f", text, vec![finding]).to_string()
        };
        assert_eq!(end(""), "error: m\n --> f:1:1\n  |\n1 |\n  | ^ h");
        assert_eq!(end("a\n"), "error: m\n --> f:2:1\n  |\n2 |\n  | ^ h");
        assert_eq!(end("a"), "error: m\n --> f:1:2\n  |\n1 | a\n  |  ^ h");
    }

    #[test]
    fn a_terminal_gets_no_escape_codes() {
        let finding = Finding { span: 0..1, message: "\u{1b}[31m".into(), help: "\u{202e}".into() };
        let rendered = SceneErrors::new("f\u{7}", "\u{1b}[0m", vec![finding]).to_string();
        assert_eq!(rendered, "error: \\u{1b}[31m\n --> f\\u{7}:1:1\n  |\n1 | \u{fffd}[0m\n  | ^ \\u{202e}");
    }

    #[test]
    fn very_many_errors_are_counted_not_shown() {
        let findings = (0..52).map(|i| Finding { span: i..i, message: "m".into(), help: "h".into() });
        let errors = SceneErrors::new("f", &"x\n".repeat(60), findings.collect());
        assert_eq!(errors.diagnostics().len(), 52);
        assert!(errors.to_string().ends_with("and 2 more errors"));
        assert_eq!(errors.to_string().matches("error: ").count(), 50);
    }
}
