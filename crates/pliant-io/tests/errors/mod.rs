//! Claim: whatever is wrong with a scene file is reported once, at its line, with the offending text
//! underlined and what would be right beside it; and nothing else is.

mod bodies;
mod expressions;
mod graph;
mod joints;
mod keys;
mod several;
mod springs;

/// The scene is refused with exactly this text.
#[track_caller]
fn expect(scene: &str, errors: &str) {
    let found = pliant_io::scene::read(scene, "scene.toml").expect_err("the scene is wrong");
    assert_eq!(found.to_string(), errors.trim_matches('\n'), "\n{found}");
    assert!(found.diagnostics().iter().all(|d| !d.help.is_empty() && !d.message.is_empty()));
    assert_eq!(found.to_string().matches("error: ").count(), found.diagnostics().len());
}
