//! What stands below the options in the help.

/// Units, files, JSON keys and examples.
pub const EXAMPLES: &str = "\
Andrews 2015: Tables 1 and 2, Figures 4 to 7; Hernandez 2011: Figure 4 and the hand; Si 2010:
Table 1, Figures 1 to 4. Each is computed now, on one thread of this machine, and stands next to
what the paper prints; where a paper was found wrong, there is the number that shows it. Times (µs)
are measured as by `pliant bench`, with p10 and p90 for the noise of the machine; errors and
displacements are over the mechanism's radius. It takes some minutes, with --quick some seconds.

The folder gets index.html, which needs no network, a .svg file for each plot and drawing, a .csv
file for each table, and paper.json: the document that --json prints. DIR that is a file or cannot
be written to is bad input (exit code 2).

JSON keys: version, quick, folder, files (names), and
  sections       one for each table or figure: id, title, about,
                 tables: [{id, title, file, rows: [{column: value}]}], a time with its spread is
                 {median, p10, p90}, a value that the paper does not print is \"not printed\";
                 drawings: [{id, title, file}];
                 figures: [{id, title, file, x, y (labels), series: [{name, points}]}];
                 findings: [{place, claim, shown (sentences), number, meaning}]

Exit codes: 0 done, 1 the job failed, 2 bad usage or bad input.

Examples:
  pliant-papers                          writes the folder paper
  pliant-papers --quick -o /tmp/papers
  pliant-papers --json | jq '.sections[].findings[].shown'
  cargo run --release -p pliant-papers -- -o papers
                                         the same from the sources of Pliant";
