//! `pliant list`: the gallery.

use pliant::gallery::{self, Entry};
use serde_json::{Value, json};

use crate::output::{Answer, table};

/// One line for each entry.
pub fn run() -> Answer {
    let entries: Vec<&Entry> = gallery::entries().iter().chain(gallery::scenes()).collect();
    let header = ["NAME", "SIZE", "SHOWS"].map(String::from).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(entries.iter().map(|entry| row(entry))).collect();
    let json = entries.iter().map(|e| json!({ "name": e.name, "about": e.about })).collect::<Vec<Value>>();
    Answer { text: table(&rows), warnings: Vec::new(), counted: Vec::new(), json: Value::Array(json) }
}

fn row(entry: &Entry) -> Vec<String> {
    let size = entry.size.map_or("-".to_string(), |size| size.default.to_string());
    vec![entry.name.to_string(), size, entry.about.to_string()]
}
