//! Claim: the documents at the root speak of what is there: every path they name exists.

use std::path::Path;

/// Words in backquotes that look like paths of the repository.
fn paths(text: &str) -> Vec<&str> {
    let known = ["crates/", "fuzz/", ".ci/", "docs/", "bench/"];
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| known.iter().any(|start| word.starts_with(start)))
        .collect()
}

/// Targets of links to files.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|l| !l.contains("://"))
        .collect()
}

#[test]
fn every_named_path_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut named = 0;
    for document in ["README.md", "ARCHITECTURE.md", "NOTATION.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(root.join(document)).expect(document);
        for path in paths(&text).into_iter().chain(links(&text)) {
            assert!(root.join(path).exists(), "{document} names {path}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20, "the documents were read");
}
