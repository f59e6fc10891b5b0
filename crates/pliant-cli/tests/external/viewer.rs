//! Claim: the viewer's page does in a browser what it says: it opens without a message, links are where they are drawn, a pull of the
//! mouse settles where `statics` puts its force, engines change without a jump, a model lowers the ghost's distance, a broken file shows
//! its error, contact carries the weight, and another site gets nothing. The claims themselves are in `page/test/viewer.mjs`, driven by
//! Playwright.

use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use libtest_mimic::Trial;
use pliant::engine::State;
use pliant::engines::{CONTACT_STEP, Engine};
use pliant::gallery;
use pliant_view::{Command, Loaded, Session, parcel};
use serde_json::Value;

use crate::browser::browser;
use crate::common::Run;
use crate::frames::Frame;
use crate::trial::{Absent, Found, trial};

/// Claims of both pages.
const BOTH: [&str; 11] = [
    "opens",
    "pull_settles_where_statics_says",
    "engines_change_without_a_jump",
    "a_model_lowers_the_distance",
    "a_model_is_made_by_any_engine",
    "a_broken_file_shows_its_error",
    "contacts_carry_the_weight",
    "scenes_follow_each_other",
    "starts_in_two_seconds",
    "files_of_all_kinds_open",
    "springs_and_loads_are_drawn",
];

/// Claims of the page that the program serves.
const SERVED: [&str; 16] = [
    "keys_and_files",
    "keys_stay_with_their_controls",
    "another_site_cannot_connect",
    "two_pages_do_not_fight",
    "the_force_stays_clear",
    "pictures_follow_the_mouse",
    "hostile_files_are_errors",
    "a_ghost_from_the_start",
    "arrows_walk_the_hexapod",
    "springs_and_gaps_are_seen",
    "fit_shows_what_is_there_now",
    "panels_show_what_there_is",
    "a_phone_has_room",
    "bodies_have_their_colours",
    "the_engine_does_not_wait_for_pictures",
    "a_comparison_plays",
];

/// Claims of the page with the engine in it, opened as a file.
const ALONE: [&str; 2] = ["a_failing_engine_starts_again", "files_are_dropped"];

pub fn trials() -> Vec<Trial> {
    let served = BOTH.into_iter().chain(SERVED);
    let alone = BOTH.into_iter().chain(ALONE);
    served
        .map(|claim| trial(format!("viewer::{claim}"), move || holds(claim, false)))
        .chain(alone.map(|claim| trial(format!("viewer::alone::{claim}"), move || holds(claim, true))))
        .chain([
            trial("viewer::alone::moves_as_the_program_does", same_motion),
            trial("viewer::alone::memory_is_bounded", bounded_memory),
        ])
        .collect()
}

/// The engine for pages.
fn module() -> Found<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_pliant"))
        .with_file_name("../wasm32-unknown-unknown/page/pliant_wasm.wasm");
    let command = "cargo build --profile page -p pliant-wasm --target wasm32-unknown-unknown";
    built.is_file().then_some(built).ok_or_else(|| Absent(format!("`{command}` was not run")))
}

/// Claims about time: a machine that does something else meanwhile says nothing about them.
const TIMED: [&str; 2] = ["pictures_follow_the_mouse", "starts_in_two_seconds"];

fn holds(claim: &str, alone: bool) -> Found<()> {
    if TIMED.contains(&claim) && std::env::var_os("PLIANT_LONG").is_none() {
        return Err(Absent(
            "a time is measured with PLIANT_LONG=1, on a machine that does nothing else".into(),
        ));
    }
    let browser = browser()?;
    if alone {
        module()?;
    }
    let page = page();
    if !page.join("node_modules/playwright-core").is_dir() {
        return Err(Absent("`npm ci` was not run in crates/pliant-view/page".into()));
    }
    node()?;
    let run = Run::new(&format!("viewer-{claim}{}", if alone { "-alone" } else { "" }));
    let output = process::Command::new("node")
        .args(["test/viewer.mjs", env!("CARGO_BIN_EXE_pliant")])
        .args([&browser, &run.folder])
        .arg(claim)
        .args(alone.then_some("alone"))
        .current_dir(page)
        .output()
        .expect("node runs");
    let [said, wrong] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    println!("{claim}: {said}");
    assert!(output.status.success(), "{claim}: {wrong}");
    Ok(())
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pliant-view/page")
}

fn node() -> Found<()> {
    let runs = process::Command::new("node").arg("--version").stdout(Stdio::null()).status();
    runs.is_ok_and(|status| status.success()).then_some(()).ok_or(Absent("there is no node on PATH".into()))
}

/// Runs commands on the engine for pages, an empty one for a frame.
fn in_a_page(module: &Path, run: &Run, parcel: String, commands: &[Vec<u8>]) -> Value {
    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let commands: Vec<String> = commands.iter().map(hex).collect();
    run.file("parcel.json", parcel).file("commands.json", serde_json::to_string(&commands).expect("JSON"));
    let output = process::Command::new("node")
        .arg(page().join("test/module.mjs"))
        .args([module, &run.folder.join("parcel.json"), &run.folder.join("commands.json")])
        .output()
        .expect("node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Where all links of the scene are that a session sends as a file, and its text says them to the last bit.
fn links(text: &str) -> Vec<[f64; 3]> {
    let scene = pliant::io::scene::read(text, "view.toml").expect("a scene");
    State::at_rest(&scene).poses.iter().map(|pose| pose.position.into()).collect()
}

fn apart(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// In a thousand steps of a pulled mechanism, the point that is pulled goes the way it goes in the program, and every link ends where it does there: within 1e-9
/// of the radius, because the program adds and multiplies in one instruction where the processor has one.
fn same_motion() -> Found<()> {
    let module = module()?;
    node()?;
    let run = Run::new("viewer-motion");
    for (name, engine) in [
        ("arm", Engine::Articulated),
        ("arm", Engine::Full),
        ("arm", Engine::Reduced),
        ("rungs", Engine::Articulated),
        ("rungs", Engine::Full),
        ("helix:400", Engine::Reduced),
        ("y", Engine::Linear),
        ("y", Engine::Blended),
        ("hexapod", Engine::Articulated),
    ] {
        let mechanism = gallery::build(name).expect("a mechanism");
        let loaded = Loaded { engine, ..Loaded::of(mechanism.clone()) };
        let parcel = parcel::pack(&loaded, 1.0 / 120.0);
        let effector = &mechanism.effectors()[0];
        let [x, y, z] = effector.frame.position.into();
        let at = (mechanism[effector.body].pose * effector.frame).position;
        let far = 0.2 * mechanism.radius();
        let mut own = Session::new(loaded, 1.0 / 120.0).expect("a session");
        let (mut list, mut ours) = (Vec::new(), Vec::new());
        for command in [
            Command::Play { on: 0 },
            Command::Grab { body: effector.body.index() as u32, x, y, z, stiffness: 0.0 },
            Command::Pull { x: at.x + far, y: at.y + far, z: at.z + far },
        ] {
            list.push(command.write());
        }
        for step in 1..=1000 {
            list.push(Command::Step {}.write());
            if step % 10 == 0 {
                list.push(Vec::new());
            }
        }
        list.push(Command::SceneFile {}.write());
        for command in &list {
            match command.is_empty() {
                true => ours.push(Frame::of(&mut own)),
                false => own.take(command),
            }
        }
        let file = std::iter::from_fn(|| own.next_message()).find(|message| message[0] == 5).expect("a file");
        let file: Value = serde_json::from_slice(&file[1..]).expect("JSON");
        let answer = in_a_page(&module, &run, parcel, &list);
        let frames = answer["frames"].as_array().expect("frames");
        assert_eq!((frames.len(), ours.len()), (100, 100), "{name}");
        let (mut off, mut way) = (0.0f64, 0.0f64);
        for (ours, theirs) in ours.iter().zip(frames) {
            let digits = theirs.as_str().expect("a frame");
            let byte = |k: usize| u8::from_str_radix(&digits[k..k + 2], 16).expect("a byte");
            let theirs = Frame((0..digits.len()).step_by(2).map(byte).collect());
            assert_eq!(ours.number("steps"), theirs.number("steps"), "{name}");
            let (a, b) = (ours.three("held"), theirs.three("held"));
            off = off.max(apart(&a, &b) / mechanism.radius());
            way = way.max(apart(&a, &at.into()) / mechanism.radius());
        }
        assert!(way > 1e-4, "{name} does not move: {way:.1e}");
        let [a, b] = [&file, &answer["file"]].map(|file| links(file["text"].as_str().expect("a text")));
        assert_eq!((a.len(), b.len()), (mechanism.bodies().len(), a.len()), "{name}");
        let all = a.iter().zip(&b).map(|(a, b)| apart(a, b) / mechanism.radius()).fold(0.0, f64::max);
        println!(
            "{name} by {}: within 1000 steps {off:.1e} of the radius, then no link off by more than {all:.1e}",
            engine.name()
        );
        assert!(off < 1e-9 && all < 1e-9, "{name} by {}: {off:.2e} {all:.2e}", engine.name());
    }
    Ok(())
}

/// Every scene of the gallery takes at most 64 MB in a page, contact, a pull and its frames included; those with elastic zones 512 MB, for
/// the Green's functions that are made there.
fn bounded_memory() -> Found<()> {
    let module = module()?;
    node()?;
    let run = Run::new("viewer-memory");
    let mut most = (0.0f64, "");
    let mut counted = 0;
    for entry in gallery::entries().iter().chain(gallery::scenes()) {
        let loaded = Loaded::of(entry.build());
        let bound = if entry.build().zones().is_empty() { 64.0 } else { 512.0 };
        let dt = if loaded.touches() { CONTACT_STEP } else { parcel::ALONE };
        let mut list = vec![
            Command::Play { on: 0 }.write(),
            Command::Hello {}.write(),
            Command::Grab { body: 0, x: 0.0, y: 0.0, z: 0.0, stiffness: 0.0 }.write(),
        ];
        for _ in 0..60 {
            list.extend([Command::Step {}.write(), Vec::new()]);
        }
        let answer = in_a_page(&module, &run, parcel::pack(&loaded, dt), &list);
        let memory = answer["memory"].as_f64().expect("bytes") / 1e6;
        assert!(memory <= bound, "{}: {memory} MB", entry.name);
        if memory > most.0 && bound == 64.0 {
            most = (memory, entry.name);
        }
        counted += 1;
    }
    println!("{counted} scenes; the most without elastic zones is {:.1} MB, of {}", most.0, most.1);
    assert!(counted >= 40, "{counted}");
    Ok(())
}
