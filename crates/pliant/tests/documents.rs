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
    let documents = [
        "README.md",
        "ARCHITECTURE.md",
        "NOTATION.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/guide/1-reduce-your-robot.md",
        "docs/guide/2-choose-the-fidelity.md",
        "docs/guide/3-read-the-error.md",
    ];
    for document in documents {
        let file = root.join(document);
        let text = std::fs::read_to_string(&file).expect(document);
        let beside = file.parent().expect("a folder");
        let from_root = paths(&text).into_iter().map(|path| (path, root.join(path)));
        for (path, there) in from_root.chain(links(&text).into_iter().map(|link| (link, beside.join(link)))) {
            assert!(there.exists(), "{document} names {path}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20, "the documents were read");
}
