//! `peers scene NAME SCENE.toml`: writes a scene as `pliant export` does, and tells what the full statics say of its tip, as
//! `pliant statics --scene-load` does.
//!
//! `peers contact SCENE.toml ENGINE`: steps a scene of contact, as the lines on stdin ask.
//!
//! `peers linkage SCENE.toml ENGINE`: moves a mechanism under its loads, as the lines on stdin ask.
//!
//! `peers ENGINE SCENE.toml`: steps a scene with an engine of Pliant or with Rapier, as the driver's lines on stdin ask.
//! ENGINE is `pliant` with an engine's words (`pliant:linear:joint`), `rapier:multibody` or `rapier:impulse`.

mod contact;
mod engines;
mod linkage;
mod protocol;
mod rapier;
mod scene;

use std::error::Error;
use std::time::Instant;

fn main() {
    if let Err(why) = run() {
        println!("{}", serde_json::json!({ "error": why.to_string() }));
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (engine, scene) = match arguments.as_slice() {
        [word, name, file] if word == "scene" => return scene::write(name, file),
        [word, file, engine] if word == "contact" => return contact::serve(file, engine),
        [word, file, engine] if word == "linkage" => return linkage::serve(file, engine),
        [engine, scene] => (engine, scene),
        _ => return Err("usage: peers scene NAME SCENE.toml, or peers ENGINE SCENE.toml".into()),
    };
    let mechanism = pliant::io::load(scene)?;
    let home = scene::home(&mechanism);
    let started = Instant::now();
    let words: Vec<&str> = engine.split(':').collect();
    match words.as_slice() {
        ["pliant", words @ ..] => engines::race(&mechanism, words, home, started),
        ["rapier", joints] => {
            let joints = match *joints {
                "multibody" => rapier::Joints::Multibody,
                "impulse" => rapier::Joints::Impulse,
                _ => return Err(format!("no engine `{engine}`").into()),
            };
            protocol::serve(&mut rapier::World::new(&mechanism, joints)?, home, started)
        }
        _ => Err(format!("no engine `{engine}`").into()),
    }
}
