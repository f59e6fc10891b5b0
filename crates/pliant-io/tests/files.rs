//! Claim: files load and save by their extension, and what cannot be read is named, with the reason.

use std::fs;
use std::path::Path;

use crate::common::folder::Folder;

const SCENE: &str = "[[body]]\nname = \"a\"\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nfree = true\n";

#[test]
fn a_scene_loads_and_saves() {
    let folder = Folder::new("loads");
    let mechanism = pliant_io::load(folder.file("Scene.TOML", SCENE.as_bytes())).unwrap();
    let copy = folder.0.join("copy.toml");
    pliant_io::save(&mechanism, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), SCENE);
}

#[test]
fn a_wrong_scene_names_its_file_and_line() {
    let folder = Folder::new("wrong");
    let path = folder.file("wrong.toml", b"[[body]]\nnam = \"a\"\n");
    let error = pliant_io::load(&path).unwrap_err().to_string();
    assert!(error.contains(&format!("{}:2:1", path.display())), "{error}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let folder = Folder::new("why");
    let message = |path: &Path| pliant_io::load(path).unwrap_err().to_string();
    let named = |name: &str| folder.0.join(name).display().to_string();

    let missing = message(&folder.0.join("missing.toml"));
    assert!(missing.starts_with(&format!("cannot read `{}`: ", named("missing.toml"))), "{missing}");
    assert_eq!(
        message(&folder.0),
        format!("cannot read `{}`: it is a directory, not a file", folder.0.display())
    );
    let binary = folder.file("binary.toml", b"# one\n# two \xff\n");
    assert_eq!(
        message(&binary),
        format!("cannot read `{}`: it is not UTF-8 text (first broken byte on line 2)", named("binary.toml"))
    );
}

#[test]
fn other_formats_say_what_is_supported() {
    let only =
        "this version reads scene files (.toml), robot files (.urdf, .xml, .sdf) and model files (.pliant)";
    for (name, reason) in [("hand.obj", "the extension `.obj` is unknown"), ("hand", "it has no extension")] {
        let error = pliant_io::load(name).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read `{name}`: {reason}; {only}"));
    }
}

#[test]
fn what_cannot_be_written_says_why() {
    let folder = Folder::new("unwritable");
    let mechanism = pliant_io::scene::read(SCENE, "scene").unwrap();
    let error = pliant_io::save(&mechanism, folder.0.join("no/such/folder.toml")).unwrap_err();
    assert!(error.to_string().starts_with("cannot write `"), "{error}");
    let error = pliant_io::save(&mechanism, "scene.urdf").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot write `scene.urdf`: URDF files are not supported yet; this version writes only scene files (.toml)"
    );
    let error = pliant_io::save(&mechanism, "scene.pliant").unwrap_err().to_string();
    assert!(error.contains("reduced models"), "{error}");
}
