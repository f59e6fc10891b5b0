//! Numbers and names as a page shows them.

/// A number with three digits, or with as many as it has if those are fewer.
pub fn figure(x: f64) -> String {
    significant(x, 3)
}

/// A number rounded to so many digits, without needless zeros.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".into() } else { "–".into() };
    }
    let text = format!("{x:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let rounded: f64 = text.parse().unwrap_or(x);
        return grouped(&format!("{rounded}")).replace('-', "−");
    }
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{}·10{}", mantissa.replace('-', "−"), superscript(exponent))
}

/// A number as it stands, with a comma before its thousands from ten thousand on.
fn grouped(text: &str) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    match text[..whole].trim_start_matches('-').len() {
        0..=4 => text.into(),
        _ => format!("{},{}", &text[..whole - 3], &text[whole - 3..]),
    }
}

/// 10ⁿ, of which 1 and 10 are known by themselves.
pub fn power_of_ten(n: i32) -> String {
    match n {
        0 => "1".into(),
        1 => "10".into(),
        n => format!("10{}", superscript(n)),
    }
}

/// Names in a row: `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

fn superscript(n: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    n.to_string().chars().map(digit).collect()
}

/// A ratio as a percentage with two digits. What is below a millionth is as good as none.
pub fn percent(x: f64) -> String {
    if x.is_finite() && x.abs() < 1e-6 {
        "less than 0.0001 %".into()
    } else {
        format!("{} %", significant(100.0 * x, 2))
    }
}

/// The same for a table: short.
pub fn percent_cell(x: f64) -> String {
    if x.is_finite() && x.abs() < 1e-6 {
        "< 0.0001 %".into()
    } else {
        format!("{} %", significant(100.0 * x, 2))
    }
}

/// A time given in µs, in the unit that suits it.
pub fn time(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} µs", significant(us, 3)),
        us if us < 999.5e3 => format!("{} ms", significant(us * 1e-3, 3)),
        us => format!("{} s", significant(us * 1e-6, 3)),
    }
}

/// Text that is safe between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Names may hold control signs, pages may not.
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Such text with what stands between backticks as code.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let paired = parts.len() % 2 == 1;
    let part = |(k, part): (usize, &&str)| match k % 2 == 1 && paired {
        true => format!("<code>{}</code>", escape(part)),
        false => escape(part),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(if paired { "" } else { "`" })
}

/// A warning as a sentence: with a large letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// One number over another that may be equal: near 1 the third decimal tells.
pub fn ratio(x: f64) -> String {
    significant(x, if x.abs() < 2.0 { 4 } else { 3 })
}

/// `1 body`, `2 bodies`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{count, escape, figure, percent, prose, time};

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (85.26, "85.3"),
            (-0.012345, "−0.0123"),
            (2417.0, "2420"),
            (-12000.0, "−12,000"),
            (123456.0, "123,000"),
            (3.04e-9, "3.04·10⁻⁹"),
            (2e12, "2·10¹²"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(figure(x), text);
        }
        assert_eq!(percent(0.00412), "0.41 %");
        assert_eq!(percent(1e-12), "less than 0.0001 %");
        assert_eq!(
            [time(0.81), time(85.2), time(1234.0), time(2.5e6)],
            ["0.81 µs", "85.2 µs", "1.23 ms", "2.5 s"]
        );
        assert_eq!([count(1, "body", "bodies"), count(3, "body", "bodies")], ["1 body", "3 bodies"]);
    }

    #[test]
    fn backticks_are_code() {
        assert_eq!(prose("use `a<b` or `c`"), "use <code>a&lt;b</code> or <code>c</code>");
        assert_eq!(prose("a ` alone"), "a ` alone");
    }

    #[test]
    fn names_cannot_break_the_page() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }
}
