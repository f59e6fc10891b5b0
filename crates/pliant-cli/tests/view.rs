//! Claim: `pliant view` prints an address of this machine at which its page is, and refuses bad input before that. What the page does is
//! tested in `pliant-view`, and in a browser in `external/viewer.rs`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{Run, snapshot_of_help};

#[test]
fn help() {
    snapshot_of_help(&Run::new("view-help"), "help_view", &["view", "--help"]);
}

#[test]
fn the_page_is_at_the_address() {
    let run = Run::new("view-address");
    let command = &mut run.command(&["view", "arm", "--no-open", "--json", "--ghost", "full"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let document: Value = serde_json::from_str(&line).expect("one JSON document");
    let address = document["address"].as_str().expect("an address");
    let (host, path) = address.strip_prefix("http://").and_then(|a| a.split_once('/')).expect("a path");
    assert!(host.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(host).expect("a connection");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    child.kill().and_then(|()| child.wait()).expect("it ends");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.contains("<canvas"),
        "{}",
        &answer[..200.min(answer.len())]
    );
}

#[test]
fn bad_input_is_refused_at_once() {
    let run = Run::new("view-refuses");
    run.file("broken.toml", "[[body]]\nname = \"a\"\nmass = -1\n");
    for (arguments, words) in [
        (vec!["view", "nothing"], "there is no `nothing` in the gallery"),
        (vec!["view", "broken.toml"], "broken.toml:3:8"),
        (vec!["view", "arm", "--dt", "1"], "between 0.000001 and 0.1 s"),
        (vec!["view", "arm", "--engine", "fast"], "no engine `fast`"),
        (vec!["view", "hand-grasp", "--engine", "blended"], "does not support contact"),
        (vec!["view", "arm", "--port", "70000"], "70000"),
        (vec!["view", "arm", "--load", "nobody=1,2,3"], "nobody"),
    ] {
        let outcome = run.run(&[&arguments[..], &["--no-open"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(words), "{arguments:?}: {}", outcome.err);
    }
}
