//! Claim: `pliant-papers` writes a folder whose page links to nothing outside it, whose plots all have axes with units and a legend,
//! and one JSON document with every figure; every number that shows a paper wrong is finite and says so; a folder
//! that cannot be written to is reported at once. `external.rs` opens the pages in a browser.

#[allow(dead_code)] // the command line's tests use the rest
#[path = "../../pliant-cli/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::Run;
use serde_json::Value;

/// One quick run for all tests of this file: the folder and the document.
fn quick() -> &'static (PathBuf, Value) {
    static RUN: OnceLock<(PathBuf, Value)> = OnceLock::new();
    RUN.get_or_init(|| {
        // Some run each test as a program of its own.
        let run = Run::new(&format!("paper-quick-{}", std::process::id()));
        let document = run.json(&["--quick", "-o", "out"], 0);
        (run.folder.join("out"), document)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("`{key}` is no list"))
}

#[test]
fn help() {
    let run = Run::new("papers-help");
    insta::assert_snapshot!("help", common::help(&run, &["--help"]));
    let version = run.run(&["--version"]);
    assert_eq!((version.code, version.out), (0, format!("pliant-papers {}\n", env!("CARGO_PKG_VERSION"))));
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
            "andrews-figure-4",
            "andrews-figure-5",
            "andrews-figure-6",
            "andrews-figure-7",
            "hernandez-figure-4",
            "si-table-1",
            "si-figures"
        ]
    );
    for section in sections {
        let id = &section["id"];
        let shown = ["tables", "drawings", "figures"].map(|what| list(section, what).len());
        assert!(shown.iter().sum::<usize>() > 0, "{id} shows nothing");
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
    assert_eq!([&first["paper_reduced_4_threads_us"], &first["paper_reduced_8_threads_us"]], [12.0, 15.0]);
    assert_eq!(rows(1).len(), 9, "three mechanisms with 1, 2 and 4 models");
    // As the arm straightens its compliance goes: along x to less than a thousandth, across it stays of the same size.
    let compliance = list(&list(&sections[2], "figures")[0], "series");
    let ends = |k: usize| {
        let points = list(&compliance[k], "points");
        [&points[0], &points[points.len() - 1]].map(|p| p[1].as_f64().expect("a compliance"))
    };
    assert!(ends(0)[1] < 1e-3 * ends(0)[0] && ends(1)[1] > 1e-3 * ends(1)[0], "{:?} {:?}", ends(0), ends(1));
    // Two models are nearer to the full statics than one, in every drawing of Figure 6.
    for row in rows(4) {
        let [one, printed, own] =
            ["error_one", "error_printed", "error_ours"].map(|key| row[key].as_f64().expect("a rest"));
        assert!(printed < one && own < one, "{row}");
    }
    let chain = rows(6).iter().find(|row| row["mechanism"] == "chain:10000").expect("the longest chain");
    assert_eq!(chain["paper_us"], 285_000.0);
    let short = rows(6).iter().find(|row| row["mechanism"] == "chain:10").expect("the shortest chain");
    assert_eq!(short["paper_us"], "not printed");
    assert_eq!(rows(7).len(), 6);
    // Steps of fourth order, short ones: what is lost is a rounding next to what moves.
    assert_eq!(rows(8).len(), 4);
    for row in rows(8) {
        assert!(row["drift"].as_f64().is_some_and(|drift| drift < 1e-6), "{row}");
        assert!(row["kinetic"].as_f64().is_some_and(|kinetic| kinetic > 1e-2), "{row}");
    }
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
            let ratio = label.contains(" over ") && svg.contains(" %</text>");
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
    crate::common::page::check_page(&without_links);
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
    assert_eq!(lines.clone().count(), 5);
    assert!(lines.all(|line| line.split(',').count() == head.len()));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_reported_at_once() {
    let run = Run::new("paper-refused");
    run.file("taken", "a file");
    run.fails(&["-o", "taken"], 2, &["`taken`", "it is a file", "folder"]);
    let below = Path::new("taken").join("below");
    let below = below.to_str().expect("a path");
    run.fails(&["-o", below], 2, &[below, "folder"]);
    run.fails(&["--nonsense"], 2, &["--nonsense"]);
    assert_eq!(fs::read(run.folder.join("taken")).expect("the file"), b"a file");
}
