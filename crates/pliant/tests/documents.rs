//! Claim: the documents speak of what is there: every path and every heading they link to exists.

use std::path::Path;

/// Words in backquotes that look like paths of the repository.
fn paths(text: &str) -> Vec<&str> {
    let known = ["crates/", "fuzz/", ".ci/", "docs/", "bench/", "examples/"];
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

/// Whether a document has a heading that a link calls by this anchor: lower case, dashes for spaces, signs left out.
fn has_heading(document: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(document).unwrap_or_default();
    let slug = |heading: &str| -> String {
        let kept =
            heading.trim_matches(['#', ' ']).chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().any(|line| line.starts_with('#') && slug(line) == anchor)
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
        "docs/scene.md",
        "docs/guide/1-reduce-your-robot.md",
        "docs/guide/2-choose-the-fidelity.md",
        "docs/guide/3-read-the-error.md",
        "docs/guide/4-take-hold-of-it.md",
        "docs/guide/5-soft-fingertips.md",
        "docs/python.md",
    ];
    for document in documents {
        let file = root.join(document);
        let text = std::fs::read_to_string(&file).expect(document);
        let beside = file.parent().expect("a folder");
        let from_root = paths(&text).into_iter().map(|path| (path, root.join(path)));
        let linked = links(&text).into_iter().map(|link| {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let there = if path.is_empty() { file.clone() } else { beside.join(path) };
            assert!(anchor.is_empty() || has_heading(&there, anchor), "{document}: no heading for {link}");
            (link, there)
        });
        for (path, there) in from_root.chain(linked) {
            assert!(there.exists(), "{document} names {path}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20, "the documents were read");
}
