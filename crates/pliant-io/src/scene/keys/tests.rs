//! Claim: the tables of docs/scene.md have exactly the keys, kinds and ready joints that the reader accepts; every example in
//! them is TOML of its key; every block loads; and the blocks together use every key.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pliant_core::joints::{JointKind, ready};
use toml::de::{DeTable, DeValue};

use super::{SECTIONS, SHAPES};

const DOCUMENT: &str = include_str!("../../../../../docs/scene.md");

/// A row of a table, by the words of the table's first row, and the heading above the table.
struct Row {
    heading: String,
    first_column: &'static str,
    cells: BTreeMap<&'static str, &'static str>,
}

impl Row {
    /// The words in backquotes of a cell.
    fn words(&self, column: &str) -> Vec<&'static str> {
        self.cells[column].split('`').skip(1).step_by(2).collect()
    }

    /// The only word in backquotes of a cell.
    #[track_caller]
    fn word(&self, column: &str) -> &'static str {
        let words = self.words(column);
        assert_eq!(words.len(), 1, "{}: {words:?}", self.heading);
        words[0]
    }
}

/// The rows of all tables.
fn rows() -> Vec<Row> {
    let (mut heading, mut columns, mut rows) = (String::new(), Vec::new(), Vec::new());
    for (i, text) in DOCUMENT.split("```").enumerate() {
        if i % 2 == 1 {
            continue; // a block
        }
        for line in text.lines() {
            if line.starts_with('#') {
                heading = line.trim_matches(['#', ' ']).replace('`', "");
            }
            let Some(line) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
                columns.clear();
                continue;
            };
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if columns.is_empty() {
                columns = cells;
                continue;
            }
            assert_eq!(cells.len(), columns.len(), "{line}");
            if !line.starts_with("--") {
                let cells = columns.iter().copied().zip(cells).collect();
                rows.push(Row { heading: heading.clone(), first_column: columns[0], cells });
            }
        }
    }
    rows
}

/// The blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let blocks = DOCUMENT.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// Headings or kinds with their keys, sorted; a key that is there twice stays so.
fn sorted<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_unstable();
    pairs
}

fn listed(sections: &'static [super::Section]) -> Vec<(&'static str, &'static str)> {
    sorted(sections.iter().flat_map(|section| section.keys.iter().map(|key| (section.heading, *key))))
}

#[test]
fn tables_have_the_keys_of_the_reader() {
    let rows = rows();
    let documented = rows.iter().filter(|row| row.first_column == "key");
    assert_eq!(sorted(documented.map(|row| (row.heading.as_str(), row.word("key")))), listed(&SECTIONS));
    let shapes = rows.iter().filter(|row| row.heading == "Kinds of shape");
    let of_kinds = |row: &'_ Row| row.words("kind").into_iter().map(|kind| (kind, row.word("key"))).collect();
    assert_eq!(sorted(shapes.flat_map(|row| -> Vec<_> { of_kinds(row) })), listed(&SHAPES));
}

#[test]
fn every_key_has_a_unit_a_default_and_an_example() {
    let rows = rows();
    let mut count = 0;
    for row in rows.iter().filter(|row| row.cells.contains_key("key")) {
        let (key, example) = (row.word("key"), row.word("example"));
        assert!(!row.cells["unit"].is_empty() && !row.cells["default"].is_empty(), "{}: {key}", row.heading);
        let table = DeTable::parse(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        let keys: Vec<&str> = table.get_ref().keys().map(|key| key.get_ref().as_ref()).collect();
        assert_eq!(keys, [key], "{}", row.heading);
        count += 1;
    }
    // One row of the kinds of shape serves several of them.
    let of_sections = listed(&SECTIONS).len();
    assert!((of_sections..=of_sections + listed(&SHAPES).len()).contains(&count), "{count} keys");
}

#[test]
fn tables_have_the_kinds_of_joint() {
    let rows = rows();
    let documented: Vec<(&str, &str)> = (rows.iter())
        .filter(|row| row.heading == "Kinds of joint")
        .map(|row| (row.word("kind"), row.cells["freedoms"]))
        .collect();
    let counts = JointKind::ALL.map(|kind| kind.freedoms().to_string());
    let mut kinds: Vec<(&str, &str)> =
        JointKind::ALL.iter().zip(&counts).map(|(kind, count)| (kind.name(), count.as_str())).collect();
    kinds.push(("expression", "1 to 6"));
    assert_eq!(documented, kinds);
}

#[test]
fn tables_have_the_ready_joints() {
    let rows = rows();
    let documented: Vec<_> = (rows.iter())
        .filter(|row| row.heading == "Ready joints")
        .map(|row| {
            let [lengths, angles, parameters] = ["lengths", "angles", "parameters"].map(|c| row.words(c));
            (row.word("name"), lengths, angles, parameters)
        })
        .collect();
    let all: Vec<_> = (ready::ALL.iter())
        .map(|joint| {
            let parameters: Vec<&str> = joint.parameters.iter().map(|(name, _)| *name).collect();
            (joint.name, joint.lengths.to_vec(), joint.angles.to_vec(), parameters)
        })
        .collect();
    assert_eq!(documented, all);
}

/// The keys of a block's tables: the table's header, whether it has a `match`, its kind, and the key.
type Used = BTreeSet<(String, bool, String, String)>;

fn gather(table: &DeTable<'_>, header: &str, used: &mut Used) {
    let matched = table.contains_key("match");
    let kind = table.get("kind").and_then(|kind| kind.get_ref().as_str()).unwrap_or_default();
    for (key, value) in table {
        let key = key.get_ref().as_ref();
        used.insert((header.into(), matched, kind.into(), key.into()));
        let path = if header.is_empty() {
            key.to_string()
        } else {
            format!("{}.{key}", header.trim_matches(['[', ']']))
        };
        match value.get_ref() {
            DeValue::Table(table) => gather(table, &format!("[{path}]"), used),
            DeValue::Array(list) => (list.iter())
                .filter_map(|entry| entry.get_ref().as_table())
                .for_each(|table| gather(table, &format!("[[{path}]]"), used)),
            _ => {}
        }
    }
}

#[test]
fn blocks_load_and_use_every_key() {
    let folder = std::env::temp_dir().join(format!("pliant-scene-document-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [robot] = blocks("xml")[..] else { panic!("one robot") };
    fs::write(folder.join("hand.urdf"), robot).unwrap();
    let mut used = Used::new();
    for block in blocks("toml") {
        let path = folder.join("scene.toml");
        fs::write(&path, block).unwrap();
        let mechanism = crate::load(&path).unwrap_or_else(|error| panic!("{error}\n\n{block}"));
        assert_eq!(mechanism.warnings(), [""; 0], "\n{block}");
        gather(DeTable::parse(block).unwrap().get_ref(), "", &mut used);
    }
    fs::remove_dir_all(&folder).unwrap();

    let is_used = |header: &str, matched: bool, kind: Option<&str>, key: &str| {
        used.iter().any(|(h, m, k, used)| {
            h == header && *m == matched && kind.is_none_or(|kind| kind == k) && used == key
        })
    };
    for (heading, key) in listed(&SECTIONS) {
        // `[[joint]] with match` is a `[[joint]]`; the top of the file has no header.
        let top = if heading == "Top of the file" { "" } else { "none" };
        let mut headers = heading.split([' ', ':']).filter(|word| word.starts_with('[')).chain([top]);
        let matched = heading.ends_with("with match");
        assert!(headers.any(|header| is_used(header, matched, None, key)), "no block: {heading}, {key}");
    }
    for (kind, key) in listed(&SHAPES) {
        let used =
            ["[[body.shape]]", "[[world.shape]]"].map(|header| is_used(header, false, Some(kind), key));
        assert!(used.contains(&true), "no block: {kind}, {key}");
    }
}
