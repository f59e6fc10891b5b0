//! Claim: a scene file that changes is shown, from the moment it is first read on, and a loader that fails is an error in the page.

use std::fs;
use std::time::{Duration, Instant};

use pliant_core::gallery;
use pliant_view::{Command, Loaded, Session, Watched};
use serde_json::Value;
use tungstenite::Message;

use crate::common::serve_watched;
use crate::sockets::open;

fn loaded(name: &str) -> Result<Loaded, String> {
    Ok(Loaded::of(gallery::build(name).expect("a mechanism")))
}

/// Waits for a message of this kind that has this at a key.
fn wait(socket: &mut tungstenite::WebSocket<std::net::TcpStream>, kind: u8, has: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    loop {
        if let Message::Binary(bytes) = socket.read().expect("a message")
            && bytes[0] == kind
            && has(&serde_json::from_slice(&bytes[1..]).expect("JSON"))
        {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn what_changes_while_the_program_starts_is_seen() {
    let file = std::env::temp_dir().join(format!("pliant-view-watched-{}.txt", std::process::id()));
    fs::write(&file, "arm").expect("a file");
    let own = file.clone();
    let watched = Watched::new(file.clone(), move || match &*fs::read_to_string(&own).expect("a file") {
        "panics" => panic!("no such scene"),
        name => loaded(name),
    });
    let session = Session::new(loaded("arm").expect("a scene"), 0.01).expect("a session");
    // It changes after it was read, and before the server runs.
    fs::write(&file, "four-bar").expect("a file");
    let (port, token) = serve_watched(session, Some(watched));
    let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    socket.send(Message::Binary(Command::Hello {}.write().into())).expect("it is sent");
    wait(&mut socket, 0, |scene| scene["name"] == "four-bar");
    fs::write(&file, "panics").expect("a file");
    wait(&mut socket, 2, |status| {
        status["broken"].as_str().is_some_and(|text| text.contains("no such scene"))
    });
    fs::write(&file, "arm").expect("a file");
    wait(&mut socket, 0, |scene| scene["name"] == "arm");
    let _ = fs::remove_file(&file);
}
