//! Text to tokens, each with its place.

use std::ops::Range;

use super::error::ExpressionError;

/// The smallest pieces of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A name or a word of the language; its text is that of its span.
    Name,
    /// One of `+ - * / ^ ( ) [ ] , ; = .`
    Sign(u8),
    End,
}

/// Splits a text. `#` starts a comment that ends with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ExpressionError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                out.push((Token::Name, start..at));
            }
            b if b.is_ascii_digit() || (b == b'.' && digit(at + 1)) => {
                at = end_of_number(bytes, at);
                let value: f64 = text[start..at].parse().map_err(|_| {
                    ExpressionError::at(start..at, "this is not a number", "write it as 1, 0.5 or 1e-3")
                })?;
                if !value.is_finite() {
                    return Err(ExpressionError::at(
                        start..at,
                        "this number is too large",
                        "at most about 1.8e308",
                    ));
                }
                out.push((Token::Number(value), start..at));
            }
            b
            @ (b'+' | b'-' | b'*' | b'/' | b'^' | b'(' | b')' | b'[' | b']' | b',' | b';' | b'=' | b'.') => {
                at += 1;
                out.push((Token::Sign(b), start..at));
            }
            _ => {
                let c = text[at..].chars().next().unwrap_or(' ');
                let span = start..start + c.len_utf8();
                let help = "names, numbers, + - * / ^ ( ) [ ] , ; = and # for a comment";
                return Err(ExpressionError::at(
                    span,
                    format!("`{}` has no meaning here", c.escape_debug()),
                    help,
                ));
            }
        }
    }
    out.push((Token::End, text.len()..text.len()));
    Ok(out)
}

/// Digits, a point with digits, and an exponent.
fn end_of_number(bytes: &[u8], mut at: usize) -> usize {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    at = digits(at);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at = digits(at + 1 + sign);
        }
    }
    at
}
