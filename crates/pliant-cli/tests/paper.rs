//! Claim: `paper` writes a folder whose page links to nothing outside it, whose plots all have axes with units and a legend,
//! and one JSON document with every figure; every number that shows a paper wrong is finite and says so; a folder
//! that cannot be written to is told at once; and the pages that the program writes open in a browser without a word on its
//! console.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::browser::{browser, console, open};
use common::{Run, snapshot_of_help};
use serde_json::Value;

/// A ball that falls on a box, with a link beside it.
const DROP: &str = r#"
[mechanism]
name = "drop"
[[world.shape]]
kind = "box"
size = [1.0, 1.0, 0.1]
[[body]]
name = "link"
position = [0.3, 0.0, 0.3]
mass = 0.2
inertia = [1e-3, 1e-3, 1e-3]
[[body.shape]]
kind = "ball"
radius = 0.03
[[joint]]
name = "hinge"
kind = "hinge"
parent = "world"
child = "link"
position = [0.2, 0.0, 0.3]
axis = [0, 1, 0]
stiffness = 20.0
damping = 0.2
[[effector]]
name = "tip"
body = "link"
[[body]]
name = "ball"
free = true
position = [0.0, 0.0, 0.2]
[[body.shape]]
kind = "ball"
radius = 0.05
density = 500.0
"#;

/// One quick run for all tests of this file: the folder and the document.
fn quick() -> &'static (PathBuf, Value) {
    static RUN: OnceLock<(PathBuf, Value)> = OnceLock::new();
    RUN.get_or_init(|| {
        // Some run each test as a program of its own.
        let run = Run::new(&format!("paper-quick-{}", std::process::id()));
        let document = run.json(&["paper", "--quick", "-o", "out"], 0);
        (run.folder.join("out"), document)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("`{key}` is no list"))
}

#[test]
fn help() {
    snapshot_of_help(&Run::new("paper-help"), "help_paper", &["paper", "--help"]);
}

#[test]
fn the_folder_holds_what_the_document_names_and_nothing_else() {
    let (folder, document) = quick();
    let named: BTreeSet<&str> = list(document, "files").iter().filter_map(Value::as_str).collect();
    let there: BTreeSet<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(named, there.iter().map(String::as_str).collect());
    let written = fs::read_to_string(folder.join("paper.json")).expect("the document");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), *document);
    assert_eq!(document["quick"], true);
}

#[test]
fn the_document_has_every_table_and_figure() {
    let (_, document) = quick();
    let sections = list(document, "sections");
    let ids: Vec<&str> = sections.iter().filter_map(|s| s["id"].as_str()).collect();
    assert_eq!(
        ids,
        [
            "andrews-table-1",
            "andrews-table-2",
            "andrews-figures-5-6",
            "andrews-figure-7",
            "hernandez-figure-4",
            "si-table-1"
        ]
    );
    for section in sections {
        let id = &section["id"];
        assert!(!list(section, "findings").is_empty(), "{id}: where the paper is wrong");
        for finding in list(section, "findings") {
            assert!(finding["number"].as_f64().is_some_and(f64::is_finite), "{finding}");
            let shown = finding["shown"].as_str().expect("a sentence");
            assert!(shown.contains(|c: char| c.is_ascii_digit()) && !shown.contains('–'), "{shown}");
        }
        for table in list(section, "tables") {
            assert!(!list(table, "rows").is_empty(), "{id}");
        }
        for figure in list(section, "figures") {
            for series in list(figure, "series") {
                assert!(!list(series, "points").is_empty(), "{id}: {}", series["name"]);
            }
        }
    }
    let rows = |k: usize| list(&list(&sections[k], "tables")[0], "rows");
    // The papers' own figures are quoted as they are, and times have their spread.
    let first = &rows(0)[0];
    assert_eq!((&first["mechanism"], &first["paper_full_us"]), (&"helix:50".into(), &240.0.into()));
    for key in ["median", "p10", "p90"] {
        assert!(first["full_us"][key].as_f64().is_some_and(|us| us > 0.0), "{first}");
    }
    assert_eq!(rows(1).len(), 9, "three mechanisms with 1, 2 and 4 models");
    let chain = rows(4).iter().find(|row| row["mechanism"] == "chain:10000").expect("the longest chain");
    assert_eq!(chain["paper_us"], 285_000.0);
    let short = rows(4).iter().find(|row| row["mechanism"] == "chain:10").expect("the shortest chain");
    assert_eq!(short["paper_us"], "not read off");
    assert_eq!(rows(5).len(), 6);
}

/// The numbers that do not depend on the machine.
#[test]
fn the_papers_are_wrong_where_the_notation_page_says_so() {
    let (_, document) = quick();
    let findings: Vec<&Value> = list(document, "sections").iter().flat_map(|s| list(s, "findings")).collect();
    let number = |place: &str| {
        let found = findings.iter().find(|f| f["place"].as_str().is_some_and(|p| p.starts_with(place)));
        found.and_then(|f| f["number"].as_f64()).unwrap_or_else(|| panic!("no finding at {place}"))
    };
    assert!(number("[A] eqs 13–14") > 0.1, "merging by pseudo-inverses");
    assert!(number("[A] Algorithm 1") > 0.01, "a branch inside a loop");
    assert!(number("[A] Algorithm 3") > 0.1, "signs of eigenvectors");
    assert!(number("[A] effective mass") > 100.0, "accelerability");
    assert!(number("[A] §6.1") > 1e-3, "free base");
    assert!(number("[A] §7") > 1.0, "two models are worse than one somewhere");
    // φ/sin φ − 1 at 2 rad.
    assert!((number("[H] eq. 7") - (2.0 / 2f64.sin() - 1.0)).abs() < 1e-9, "angular spring");
    assert!(number("[H] §3") > 10.0, "a hanging chain gains energy");
    assert!(number("[S]") < 1e-9, "corrected, they are the equations of motion");
}

#[test]
fn plots_have_axes_with_units_and_a_legend() {
    let (folder, document) = quick();
    let figures: Vec<&Value> = list(document, "sections").iter().flat_map(|s| list(s, "figures")).collect();
    assert!(figures.len() >= 9);
    for figure in figures {
        let file = figure["file"].as_str().expect("a name");
        let svg = fs::read_to_string(folder.join(file)).expect("a plot");
        let labels = svg.matches("class=\"label\"").count();
        assert_eq!(labels, 2, "{file}: a title for each axis");
        for axis in ["x", "y"] {
            let label = figure[axis].as_str().expect("a label");
            assert!(svg.contains(&format!(">{label}</text>")), "{file}: {label}");
            // What is counted has no unit; a ratio has it at its numbers.
            let counted = ["links", "models", "freedoms"].contains(&label);
            let ratio = label.ends_with(" over radius") && svg.contains(" %</text>");
            assert!(counted || ratio || label.contains(", "), "{file}: `{label}` has no unit");
        }
        let entries = svg.matches("class=\"legend\"").count();
        assert_eq!(entries, list(figure, "series").len(), "{file}: a legend");
        assert!(svg.matches("class=\"tick\"").count() >= 4, "{file}: numbers along both axes");
        assert!(svg.contains("xmlns=") && svg.contains("<style>") && svg.ends_with("</svg>\n"), "{file}");
        assert!(!svg.contains("NaN") && !svg.contains(">inf"), "{file}");
    }
}

#[test]
fn the_page_links_to_files_of_its_folder_alone() {
    let (folder, document) = quick();
    let page = fs::read_to_string(folder.join("index.html")).expect("a page");
    let mut linked = BTreeSet::new();
    for attribute in ["href=\"", "src=\""] {
        for (at, _) in page.match_indices(attribute) {
            let target = page[at + attribute.len()..].split('"').next().expect("an end");
            match target.strip_prefix('#') {
                Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "`{target}` leads nowhere"),
                None => {
                    assert!(folder.join(target).is_file(), "`{target}` is not there");
                    linked.insert(target);
                }
            }
        }
    }
    for file in list(document, "files").iter().filter_map(Value::as_str).filter(|f| *f != "index.html") {
        assert!(linked.contains(file), "nothing leads to {file}");
    }
    let without_links = page.replace("href=\"", "data-to=\"");
    common::page::check_page(&without_links);
}

#[test]
fn tables_are_files_too() {
    let (folder, _) = quick();
    let csv = fs::read_to_string(folder.join("andrews-table-1.csv")).expect("a table");
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    for key in ["mechanism", "paper_full_us", "full_us", "full_p10_us", "full_p90_us", "off"] {
        assert!(head.contains(&key), "{key} is not in {head:?}");
    }
    assert_eq!(lines.clone().count(), 7);
    assert!(lines.all(|line| line.split(',').count() == head.len()));
}

#[test]
fn a_folder_that_cannot_be_is_told_at_once() {
    let run = Run::new("paper-refused");
    run.file("taken", "a file");
    run.fails(&["paper", "-o", "taken"], 2, &["`taken`", "it is a file", "folder"]);
    let below = Path::new("taken").join("below");
    let below = below.to_str().expect("a path");
    run.fails(&["paper", "-o", below], 2, &[below, "folder"]);
    assert_eq!(fs::read(run.folder.join("taken")).expect("the file"), b"a file");
}

/// Pages of `paper`, of a comparison and of one with contact. Without Chromium the test says so and ends.
#[test]
fn pages_open_in_a_browser_without_a_word() {
    let Some(browser) = browser() else {
        assert!(std::env::var_os("PLIANT_REQUIRE_TOOLS").is_none(), "there is no browser on PATH");
        println!("skipped: there is no chromium, chromium-browser or google-chrome on PATH");
        return;
    };
    let run = Run::new("pages");
    run.file("drop.toml", DROP);
    run.file("broken.html", "<!DOCTYPE html><script>nothing.there();</script><p>broken</p>");
    // What would be seen if something were wrong.
    let (log, dom) = open(&browser, &run.folder, &run.folder.join("broken.html"));
    assert!(dom.contains("broken"), "the browser shows no page: {log}");
    assert!(!console(&log).is_empty(), "an error does not show: {log}");

    run.json(&["compare", "four-bar", "-o", "four-bar.html"], 0);
    run.json(&["compare", "drop.toml", "-o", "drop.html"], 0);
    let (paper, _) = quick();
    let of_paper = ["index.html", "hernandez-figure-4.svg"].map(|name| paper.join(name));
    let of_compare = ["four-bar.html", "drop.html"].map(|name| run.folder.join(name));
    for page in of_paper.iter().chain(&of_compare) {
        let (log, dom) = open(&browser, &run.folder, page);
        assert_eq!(console(&log), [""; 0], "{}", page.display());
        assert!(dom.contains("<svg"), "{} has no plot: {log}", page.display());
    }
}
