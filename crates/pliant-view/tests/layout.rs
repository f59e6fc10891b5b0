//! Claim: the page has the same layout of messages as the program.

use std::fs;
use std::path::Path;

use pliant_view::protocol::typescript;

#[test]
fn layout_of_the_page_is_that_of_the_program() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/src/layout.ts");
    let wanted = typescript();
    if std::env::var_os("PLIANT_WRITE").is_some() {
        fs::write(&file, &wanted).expect("a file to write");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "write it again: PLIANT_WRITE=1 cargo test -p pliant-view layout");
}
