//! Natural frequencies of the mechanism and of its linear models.

use std::fmt::Write as _;

use super::super::measure::Frequencies;
use super::Page;
use crate::page::text::{escape, figure, ratio};

impl Page<'_> {
    pub(super) fn frequencies(&self, html: &mut String) -> std::fmt::Result {
        let Frequencies { full, models } = &self.comparison.frequencies;
        writeln!(html, "<h2>Natural frequencies</h2>")?;
        if full.is_empty() {
            return writeln!(html, "<p class=\"note\">The mechanism has none: it has no vibration.</p>");
        }
        writeln!(
            html,
            "<p class=\"muted\">The lowest of the linear mechanism, in Hz{}, and those of linear models with their ratio to the full \
             one's: 1 is exact. With modes a model follows faster motions.</p>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">model</th><th scope=\"col\">coordinates</th>",
            if self.comparison.free_base { ", the free base held" } else { "" }
        )?;
        for k in 1..=full.len() {
            write!(html, "<th scope=\"col\">f<sub>{k}</sub></th>")?;
        }
        write!(html, "</tr></thead><tbody>\n<tr><td><b class=\"full\">full</b></td><td>–</td>")?;
        for f in full {
            write!(html, "<td>{}</td>", figure(*f))?;
        }
        html.push_str("</tr>\n");
        for row in models {
            write!(html, "<tr><td>{}</td>", row.name)?;
            match &row.result {
                Err(why) => {
                    let why = escape(why.lines().next().unwrap_or_default());
                    write!(html, "<td class=\"why\" colspan=\"{}\">{why}</td>", full.len() + 1)?;
                }
                Ok((coordinates, own)) => {
                    write!(html, "<td>{coordinates}</td>")?;
                    for (k, f) in full.iter().enumerate() {
                        match own.get(k) {
                            Some(own) => {
                                write!(html, "<td>{}<small>× {}</small></td>", figure(*own), ratio(own / f))?;
                            }
                            None => html.push_str("<td>–</td>"),
                        }
                    }
                }
            }
            html.push_str("</tr>\n");
        }
        writeln!(html, "</tbody></table></div>")
    }
}
