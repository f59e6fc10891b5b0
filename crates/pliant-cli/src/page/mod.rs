//! What every page that the program writes has: its beginning, style, plots, and numbers for people.

pub mod plot;
pub mod text;

use text::escape;

/// Colours, and what plots look like.
pub const PLOT_STYLE: &str = include_str!("plot.css");

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
