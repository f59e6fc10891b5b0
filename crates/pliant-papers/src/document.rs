//! The page: every section with its tables, plots and findings, and links to the files next to it.

use std::fmt::Write as _;

use crate::section::{Cell, Finding, Section, Table};
use pliant_cli::page::text::{escape, percent_cell, ratio, significant, time};
use pliant_cli::page::{bound, head};

/// The whole page.
pub fn page(sections: &[Section], quick: bool) -> String {
    let mut html = head("The papers' tables and figures");
    write(&mut html, sections, quick).expect("strings take everything");
    bound(&html)
}

fn write(html: &mut String, sections: &[Section], quick: bool) -> std::fmt::Result {
    writeln!(
        html,
        "<p class=\"lead\">Tables and figures of the three papers that Pliant builds on, computed now on this machine, each next to what the \
         paper prints; and where a paper was found wrong, the number that shows it.</p>\n\
         <p class=\"muted\">[A] Andrews, Teichmann, Kry 2015, <i>Blended linear models for linear compliant mechanical systems</i>, IEEE \
         Transactions on Visualization and Computer Graphics. \
         [H] Hernandez, Garre, Casillas, Otaduy 2011, <i>Linear-time dynamics of characters with stiff joints</i>, CEIG. \
         [S] Si, Guenter 2010, <i>Linear-time dynamics for multibody systems with general joint models</i>. \
         Shaded columns are the paper's. “Not printed”: the paper has no such value.</p>\n\
         <p class=\"muted\">Times are the median of one step with every link's pose, one thread, dt = 1/60 s, under gravity and the scene's load, \
         measured as <code>pliant bench</code> does; below a time is where the middle eight of ten steps lie (p10 to p90): the noise of this \
         machine. The papers' machines were others, of 2009 to 2015: compare ratios and slopes first, times second.</p>"
    )?;
    if let Some(times) = noise(sections).filter(|times| *times > NOISY) {
        writeln!(
            html,
            "<p class=\"note\">Other work ran on this machine at the same time: the p90 of some steps is {} times their p10. Run it again on a quiet \
             one for times and slopes to quote.</p>",
            significant(times, 2)
        )?;
    }
    if quick {
        writeln!(
            html,
            "<p class=\"note\">A quick run: few steps behind each time, few sizes and points. Leave out <code>--quick</code> for figures to quote.</p>"
        )?;
    }
    writeln!(html, "<h2>Where the papers are wrong</h2>\n<ul class=\"findings\">")?;
    for section in sections {
        for finding in &section.findings {
            let Finding { place, shown, .. } = finding;
            writeln!(html, "<li><a href=\"#{}\">{}</a>: {}</li>", section.id, escape(place), escape(shown))?;
        }
    }
    writeln!(html, "</ul>")?;
    for section in sections {
        self::section(html, section)?;
    }
    writeln!(
        html,
        "<footer class=\"muted\"><p>Made by <code>pliant-papers{}</code>, version {}. All numbers, for scripts: <a href=\"paper.json\">paper.json</a>. Times \
         differ from run to run; everything else comes out the same again.</p></footer>\n</main>\n</body>\n</html>",
        if quick { " --quick" } else { "" },
        env!("CARGO_PKG_VERSION")
    )
}

/// p90 over p10 from which on times are not to be quoted.
const NOISY: f64 = 1.5;

/// The largest p90 over p10 of all times.
fn noise(sections: &[Section]) -> Option<f64> {
    let cells = sections.iter().flat_map(|s| &s.tables).flat_map(|t| &t.rows).flatten();
    let ratios = cells.filter_map(|cell| match cell {
        Cell::Spread([_, p10, p90]) => Some(p90 / p10),
        _ => None,
    });
    ratios.max_by(f64::total_cmp)
}

fn section(html: &mut String, section: &Section) -> std::fmt::Result {
    writeln!(
        html,
        "<h2 id=\"{}\">{}</h2>\n<p class=\"muted\">{}</p>",
        section.id,
        escape(section.title),
        escape(&section.about)
    )?;
    for table in &section.tables {
        self::table(html, table)?;
    }
    writeln!(html, "<div class=\"pair\">")?;
    for drawing in &section.drawings {
        writeln!(
            html,
            "<figure><h3>{}</h3>\n{}<figcaption>{} <a href=\"{}.svg\">SVG</a></figcaption></figure>",
            escape(&drawing.title),
            drawing.svg,
            escape(&drawing.caption),
            drawing.id
        )?;
    }
    for figure in &section.figures {
        writeln!(
            html,
            "<figure><h3>{}</h3>\n{}<figcaption>{} <a href=\"{}.svg\">SVG</a></figcaption></figure>",
            escape(&figure.title),
            figure.plot.svg(),
            escape(&figure.caption),
            figure.plot.id
        )?;
    }
    writeln!(html, "</div>")?;
    for finding in &section.findings {
        writeln!(
            html,
            "<p class=\"note\"><b>{}.</b> {} {}</p>",
            escape(finding.place),
            escape(&finding.claim),
            escape(&finding.shown)
        )?;
    }
    Ok(())
}

fn table(html: &mut String, table: &Table) -> std::fmt::Result {
    write!(
        html,
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"papers\"><thead><tr>",
        escape(&table.title)
    )?;
    // The first of the paper's columns has a line on its left.
    let class = |k: usize| match (table.columns[k].of_paper, k > 0 && table.columns[k - 1].of_paper) {
        (true, false) => " class=\"printed first\"",
        (true, true) => " class=\"printed\"",
        (false, _) => "",
    };
    for (k, column) in table.columns.iter().enumerate() {
        write!(html, "<th scope=\"col\"{}>{}</th>", class(k), escape(column.title))?;
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (k, cell) in row.iter().enumerate() {
            write!(html, "<td{}>{}</td>", class(k), shown(cell))?;
        }
        html.push_str("</tr>\n");
    }
    writeln!(
        html,
        "</tbody></table></div>\n<p class=\"muted\">{} <a href=\"{}.csv\">CSV</a></p>",
        escape(&table.caption),
        table.id
    )
}

/// A cell for people.
fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Word(word) => escape(word),
        Cell::Number(x) => significant(*x, 3),
        Cell::Ratio(x) => escape(&percent_cell(*x)),
        Cell::Times(x) => format!("× {}", ratio(*x)),
        Cell::Time(us) => time(*us),
        Cell::Spread([median, p10, p90]) => {
            format!("{}<small>{}</small>", time(*median), from_to(&time(*p10), &time(*p90)))
        }
        Cell::NotPrinted => "not printed".into(),
        Cell::Nothing => "–".into(),
    }
}

/// Two quantities, with the unit once if both have the same.
fn from_to(from: &str, to: &str) -> String {
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{to}"),
        _ => format!("{from}–{to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::from_to;

    #[test]
    fn units_are_told_once() {
        assert_eq!(from_to("27.9 ms", "40.1 ms"), "27.9–40.1 ms");
        assert_eq!(from_to("620 µs", "1.2 ms"), "620 µs–1.2 ms");
    }
}
