//! Files that would do harm.

use super::{Folder, link, read_with, robot};
use pliant_io::Options;

fn refused(text: &str) -> String {
    read_with(text, &Options::default()).unwrap_err().to_string()
}

#[test]
fn entity_bombs() {
    let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<robot name=\"&b;\"/>";
    assert_eq!(refused(bomb).lines().next().unwrap(), "error: cannot read the file: XML with DTD detected");
    let outside = "<!DOCTYPE r [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n<robot name=\"&a;\"/>";
    assert!(refused(outside).contains("entities are not expanded"));
}

#[test]
fn deep_nesting() {
    for depth in [201, 1000, 200_000] {
        let text = format!("<robot>{}{}</robot>", "<a>".repeat(depth), "</a>".repeat(depth));
        assert!(refused(&text).starts_with("error: elements are nested more than 200 deep"), "{depth}");
        assert!(refused(&"<a>".repeat(depth)).starts_with("error: "), "{depth}");
    }
    let shallow = robot(&[&link("a"), &"<gazebo>".repeat(100), &"</gazebo>".repeat(100)]);
    assert!(read_with(&shallow, &Options::default()).is_ok());
}

#[test]
fn includes_that_go_round_or_out() {
    let folder = Folder::new("includes");
    let mujoco = |file: &str| format!("<mujoco><include file=\"{file}\"/></mujoco>");
    let message = |path: std::path::PathBuf| folder.plain(pliant_io::load(path).unwrap_err());
    folder.file("b.xml", &mujoco("a.xml"));
    let round = message(folder.file("a.xml", &mujoco("b.xml")));
    assert!(round.starts_with("error: `a.xml` includes itself\n --> b.xml:1:24\n"), "{round}");
    let own = message(folder.file("own.xml", &mujoco("own.xml")));
    assert!(own.starts_with("error: `own.xml` includes itself\n --> own.xml:1:24\n"), "{own}");
    let out = message(folder.file("out.xml", &mujoco("../../../../../../../../etc/hostname")));
    assert!(out.contains("it lies outside the folder of the file"), "{out}");
    let absolute = message(folder.file("absolute.xml", &mujoco("/etc/hostname")));
    assert!(absolute.contains("it lies outside the folder of the file"), "{absolute}");
    let gone = message(folder.file("gone.xml", &mujoco("nothing.xml")));
    assert!(gone.contains("cannot include `nothing.xml`: there is no such file"), "{gone}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hostname", folder.0.join("link.xml")).unwrap();
        let link = message(folder.file("linked.xml", &mujoco("link.xml")));
        assert!(link.contains("it lies outside the folder of the file"), "{link}");
    }
}

#[test]
fn a_tree_of_includes_that_doubles() {
    // Each file includes the next twice: 2^30 if nobody counts.
    let folder = Folder::new("doubling");
    for i in 0..30 {
        let next = format!("<include file=\"{}.xml\"/>", i + 1);
        folder.file(&format!("{i}.xml"), &format!("<mujoco>{next}{next}</mujoco>"));
    }
    folder.file("30.xml", "<mujoco/>");
    let error = pliant_io::load(folder.0.join("0.xml")).unwrap_err().to_string();
    assert!(error.contains("more than 256 files are included"), "{error}");
}
