//! What every page that the program writes has: its beginning, style, plots, and numbers for people.

pub mod plot;
pub mod text;

use text::escape;

/// Colours, and what plots and drawings look like.
pub const PLOT_STYLE: &str = include_str!("plot.css");

/// What stands behind a number and is never to begin a line.
const UNITS: [&str; 14] =
    ["%", "µs", "ms", "s", "nm", "µm", "mm", "m", "m/s", "m/s²", "N", "N·m", "Hz", "times"];

/// A page on which numbers stay next to their units, and × next to its number, where lines break.
pub fn bound(html: &str) -> String {
    let mut page = String::with_capacity(html.len());
    let mut in_tag = false;
    for (k, c) in html.char_indices() {
        in_tag = if c == '<' { true } else { in_tag && !html[..k].ends_with('>') };
        let (before, after) = (html[..k].chars().next_back(), &html[k + c.len_utf8()..]);
        let unit = after.split([' ', ',', '.', ':', ';', ')', '<', '\n']).next().unwrap_or_default();
        let binds = match before {
            Some('×') => true,
            Some(digit) => digit.is_ascii_digit() && UNITS.contains(&unit),
            None => false,
        };
        page.push(if c == ' ' && !in_tag && binds { '\u{a0}' } else { c });
    }
    page
}

/// The beginning of a page, up to its heading.
pub fn head(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n\
         <title>{title}</title>\n<style>\n{PLOT_STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
        include_str!("style.css")
    )
}

/// An SVG picture of a page as a file of its own, with the style in it.
pub fn svg_file(svg: &str) -> String {
    let own = "svg { background: var(--page); font-family: system-ui, \"Liberation Sans\", sans-serif; }";
    let (opening, rest) = svg.split_once(">\n").unwrap_or((svg, ""));
    format!("{opening} xmlns=\"http://www.w3.org/2000/svg\">\n<style>\n{PLOT_STYLE}{own}\n</style>\n{rest}")
}

/// A table; cells are HTML.
pub fn table<'c>(
    head: impl IntoIterator<Item = &'c str>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let head: String = head.into_iter().map(|cell| format!("<th scope=\"col\">{cell}</th>")).collect();
    let row = |cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::bound;

    #[test]
    fn numbers_stay_beside_their_units() {
        assert_eq!(
            bound("<p a=\"1 m\">100 % of 3 models, × 2 (5 m/s).</p>"),
            "<p a=\"1 m\">100\u{a0}% of 3 models, ×\u{a0}2 (5\u{a0}m/s).</p>"
        );
    }
}
