//! What a section of the answer is made of: tables, drawings, plots, and where the paper was found wrong. Plain data, apart
//! from how it is shown.

use serde_json::{Map, Value, json};

use pliant_cli::page::plot::Plot;

/// A table or figure of a paper, computed here.
pub struct Section {
    /// Unique in the folder, and part of the names of its files.
    pub id: &'static str,
    /// What of the paper it is.
    pub title: &'static str,
    /// What was measured, and how, in sentences.
    pub about: String,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Mechanisms, drawn.
    pub drawings: Vec<Sketch>,
    /// Its plots.
    pub figures: Vec<Figure>,
    /// Where the paper was found wrong.
    pub findings: Vec<Finding>,
}

/// A plot with a heading and what to see in it.
pub struct Figure {
    /// Heading.
    pub title: String,
    /// The plot; its id is the name of its file.
    pub plot: Plot,
    /// What to see.
    pub caption: String,
}

/// A drawing of a mechanism with a heading and what to see in it.
pub struct Sketch {
    /// Unique in the folder: the name of its file.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// The drawing, as it stands in a page.
    pub svg: String,
    /// What to see.
    pub caption: String,
}

/// A table.
pub struct Table {
    /// Unique in the folder: the name of its file.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What to know of it.
    pub caption: String,
}

/// A column.
pub struct Column {
    /// Its key in JSON and its head in CSV files, with the unit.
    pub key: &'static str,
    /// Its head for people.
    pub title: &'static str,
    /// Whether its numbers are the paper's.
    pub of_paper: bool,
}

/// A column of what was measured here.
pub fn ours(key: &'static str, title: &'static str) -> Column {
    Column { key, title, of_paper: false }
}

/// A column of what the paper says.
pub fn paper(key: &'static str, title: &'static str) -> Column {
    Column { key, title, of_paper: true }
}

/// A cell.
#[derive(Clone)]
pub enum Cell {
    /// A name.
    Word(String),
    /// A number.
    Number(f64),
    /// A ratio, shown in per cent.
    Ratio(f64),
    /// A factor, shown as × so much.
    Times(f64),
    /// The time of a step, µs.
    Time(f64),
    /// Such a time with its spread, µs: median, p10 and p90.
    Spread([f64; 3]),
    /// The paper has no such value.
    NotPrinted,
    /// What this engine or paper does not have.
    Nothing,
}

impl Cell {
    /// A number of the paper, µs, if it is known.
    pub fn of_paper(us: Option<f64>) -> Cell {
        us.map_or(Cell::NotPrinted, Cell::Time)
    }

    /// The time of a step as `pliant bench` measures it.
    pub fn step(step: &[f64; 5]) -> Cell {
        Cell::Spread([step[0], step[1], step[2]])
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        match self {
            Cell::Word(word) => word.as_str().into(),
            Cell::Number(x) | Cell::Ratio(x) | Cell::Times(x) | Cell::Time(x) => (*x).into(),
            Cell::Spread([median, p10, p90]) => json!({ "median": median, "p10": p10, "p90": p90 }),
            Cell::NotPrinted => "not printed".into(),
            Cell::Nothing => Value::Null,
        }
    }
}

/// Where a paper was found wrong.
pub struct Finding {
    /// Paper, equation or section.
    pub place: &'static str,
    /// What it says, and what is right.
    pub claim: String,
    /// What shows it, a sentence with the numbers just computed.
    pub shown: String,
    /// The number that shows it.
    pub number: f64,
    /// What that number is.
    pub meaning: &'static str,
}

impl Section {
    /// For scripts.
    pub fn json(&self) -> Value {
        let tables = self.tables.iter().map(Table::json);
        let figures = self.figures.iter().map(|f| {
            let series = f.plot.series.iter().filter(|s| !s.name.is_empty());
            json!({
                "id": f.plot.id,
                "title": f.title,
                "file": format!("{}.svg", f.plot.id),
                "x": f.plot.x.label,
                "y": f.plot.y.label,
                "series": series.map(|s| json!({ "name": s.name, "points": s.points })).collect::<Vec<_>>(),
            })
        });
        let findings = self.findings.iter().map(|f| {
            json!({ "place": f.place, "claim": f.claim, "shown": f.shown, "number": f.number, "meaning": f.meaning })
        });
        let drawings = (self.drawings.iter())
            .map(|d| json!({ "id": d.id, "title": d.title, "file": format!("{}.svg", d.id) }));
        json!({
            "id": self.id,
            "title": self.title,
            "about": self.about,
            "tables": tables.collect::<Vec<_>>(),
            "drawings": drawings.collect::<Vec<_>>(),
            "figures": figures.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}

impl Table {
    fn json(&self) -> Value {
        let row = |cells: &Vec<Cell>| -> Map<String, Value> {
            self.columns.iter().zip(cells).map(|(c, cell)| (c.key.to_string(), cell.json())).collect()
        };
        json!({
            "id": self.id,
            "title": self.title,
            "file": format!("{}.csv", self.id),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// As a file of comma-separated values; a time with its spread takes three columns.
    pub fn csv(&self) -> String {
        let split = |column: usize| {
            let of = |cell: &Cell| match cell {
                Cell::Spread(_) => &["", "_p10", "_p90"][..],
                _ => &[""][..],
            };
            // The most that any row needs.
            self.rows.iter().map(|row| of(&row[column])).max_by_key(|heads| heads.len()).unwrap_or(&[""])
        };
        let heads: Vec<&[&str]> = (0..self.columns.len()).map(split).collect();
        let head = self.columns.iter().zip(&heads).flat_map(|(column, ends)| {
            ends.iter().map(|end| match column.key.strip_suffix("_us") {
                Some(stem) => format!("{stem}{end}_us"),
                None => format!("{}{end}", column.key),
            })
        });
        let mut lines = vec![head.collect::<Vec<_>>().join(",")];
        for row in &self.rows {
            let cells = row.iter().zip(&heads).flat_map(|(cell, ends)| {
                let mut parts = match cell {
                    Cell::Spread(numbers) => numbers.map(number).to_vec(),
                    Cell::Word(word) => vec![quoted(word)],
                    Cell::Number(x) | Cell::Ratio(x) | Cell::Times(x) | Cell::Time(x) => vec![number(*x)],
                    Cell::NotPrinted => vec!["not printed".into()],
                    Cell::Nothing => vec![String::new()],
                };
                parts.resize(ends.len(), String::new());
                parts
            });
            lines.push(cells.collect::<Vec<_>>().join(","));
        }
        lines.join("\n") + "\n"
    }
}

/// A number with nine digits: what is beyond is of the clock's units and of rounding.
fn number(x: f64) -> String {
    format!("{x:.8e}").parse::<f64>().map_or_else(|_| String::new(), |rounded| rounded.to_string())
}

/// A word for a file of comma-separated values.
fn quoted(word: &str) -> String {
    if word.contains([',', '"', '\n']) { format!("\"{}\"", word.replace('"', "\"\"")) } else { word.into() }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Table, ours, paper};

    #[test]
    fn spreads_take_three_columns() {
        let table = Table {
            id: "t",
            title: String::new(),
            columns: vec![ours("name", ""), paper("printed_us", ""), ours("full_us", "")],
            rows: vec![
                vec![Cell::Word("a, b".into()), Cell::NotPrinted, Cell::Spread([2.0, 1.0, 3.5])],
                vec![Cell::Word("c".into()), Cell::Time(7.0), Cell::Nothing],
            ],
            caption: String::new(),
        };
        assert_eq!(
            table.csv(),
            "name,printed_us,full_us,full_p10_us,full_p90_us\n\"a, b\",not printed,2,1,3.5\nc,7,,,\n"
        );
    }
}
