//! What every page must be.

/// Every tag is closed, in order, and attributes are quoted; nothing refers to anything outside.
#[track_caller]
pub fn check_page(page: &str) {
    // The script of the player is that of the viewer, whose claims are of its own; the page's policy lets it load nothing.
    let (before, script) = page.split_once("<script>\n").unwrap_or((page, ""));
    let after = script.rsplit_once("</script>").map_or("", |(_, after)| after);
    let page = &format!("{before}{}{after}", if script.is_empty() { "" } else { "<script></script>" });
    for outside in ["src=", "href=", "http:", "https:", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(outside), "`{outside}` is in the page");
    }
    assert!(page.match_indices("url(").all(|(i, _)| page[i..].starts_with("url(#")), "only own markers");
    // The frames' base 64 may spell anything.
    let markup = page.split("motion-data").next().expect("a start");
    assert!(!markup.contains("NaN") && !markup.contains(">inf"), "numbers are finite");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "a stray `>` in {:?}", &rest[..start]);
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
            continue;
        }
        let name = tag.split([' ', '/', '\n']).next().expect("a name");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty(), "`<{tag}>`");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of `<{tag}>`");
        if tag.ends_with('/') {
            continue;
        }
        if matches!(name, "script" | "style") {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("raw text ends");
            rest = &rest[end + close.len()..];
            continue;
        }
        open.push(name);
    }
    assert_eq!(open, [""; 0], "everything is closed");
}
