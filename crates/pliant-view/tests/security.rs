//! Claim: only the page that was opened by its token speaks to the server, and nothing that is sent to it stops it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use pliant_core::gallery;
use pliant_view::protocol::{LONGEST_COMMAND, REPLACED};
use pliant_view::{Command, Loaded, PAGE, Session};
use tungstenite::{Bytes, Message, WebSocket};

use crate::common::{Frame, ask, serve};
use crate::sockets::open;

fn server() -> (u16, String) {
    serve(Session::new(Loaded::of(gallery::arm()), 1.0 / 120.0).expect("a session"))
}

fn get(port: u16, path: &str) -> (String, Vec<u8>) {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"))
}

/// Whether the page is alive: it says hello and gets a scene.
fn answers(port: u16, token: &str) -> bool {
    let mut socket = open(port, token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    socket.send(Message::Binary(Command::Hello {}.write().into())).expect("it is sent");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        match socket.read() {
            Ok(Message::Binary(bytes)) if bytes[0] == 0 => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}

#[test]
fn the_page_is_given_to_who_has_the_token() {
    let (port, token) = server();
    let (line, answer) = get(port, &format!("/?token={token}"));
    assert_eq!(line, "HTTP/1.1 200 OK");
    let text = String::from_utf8(answer).expect("text");
    assert!(
        text.ends_with(PAGE)
            && text.contains("frame-ancestors 'none'")
            && text.contains("default-src 'none'")
    );
    for wrong in ["", "?token=", "?token=00000000000000000000000000000000", "?tokens=x"] {
        assert!(get(port, &format!("/{wrong}")).0.contains("403"), "{wrong}");
    }
    assert!(get(port, &format!("/?token={}", &token[..31])).0.contains("403"));
}

#[test]
fn nothing_is_served_but_the_page() {
    let (port, token) = server();
    for path in
        ["/index.html", "/favicon.ico", "/../Cargo.toml", "/etc/passwd", "//", "/socket/x", "/%2e%2e/x"]
    {
        let (line, answer) = get(port, &format!("{path}?token={token}"));
        assert!(line.contains("404") && answer.len() < 1000, "{path}: {line}");
    }
    let post = ask(port, &format!("POST /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
    assert!(post.0.contains("405"));
}

#[test]
fn another_name_for_this_machine_is_refused() {
    let (port, token) = server();
    for host in [
        "evil.example".into(),
        format!("evil.example:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", port ^ 1),
    ] {
        let head = format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(ask(port, &head).0.contains("403"), "{host}");
    }
    assert!(ask(port, &format!("GET /?token={token} HTTP/1.1\r\n\r\n")).0.contains("403"));
}

#[test]
fn only_the_own_page_connects() {
    let (port, token) = server();
    let own = format!("http://127.0.0.1:{port}");
    for origin in [
        "",
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1",
        &format!("{own}.evil.example"),
    ] {
        let refused = open(port, &token, origin).err().unwrap_or_default();
        assert!(refused.contains("403"), "{origin}: {refused}");
    }
    let refused = open(port, "00000000000000000000000000000000", &own).err().unwrap_or_default();
    assert!(refused.contains("403"), "{refused}");
    assert!(answers(port, &token));
}

#[test]
fn messages_that_are_too_long_end_their_connection_alone() {
    let (port, token) = server();
    let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    let sent = socket.send(Message::Binary(Bytes::from(vec![0u8; 4 * LONGEST_COMMAND])));
    let start = Instant::now();
    let mut ended = sent.is_err();
    while !ended && start.elapsed() < Duration::from_secs(20) {
        ended = socket.read().is_err();
    }
    assert!(ended, "it is still open");
    assert!(answers(port, &token));
}

/// Random bytes: as requests, as frames of the WebSocket, and as messages.
#[test]
fn random_bytes_do_not_stop_it() {
    let (port, token) = server();
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as u8
    };
    let mut bytes = |n: usize| (0..n).map(|_| random()).collect::<Vec<u8>>();
    for length in [1, 10, 100, 3000, 40_000] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        // It may be closed before all was sent.
        let _ = stream.write_all(&bytes(length));
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    for _ in 0..20 {
        let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
        for k in 0..20 {
            let mut message = bytes(1 + k * 7 % 40);
            message[0] %= 24;
            // Random numbers are seldom small enough to be taken: steps and speeds that are come by themselves.
            if socket.send(Message::Binary(message.into())).is_err() {
                break;
            }
        }
        let _ = socket.send(Message::Text("no bytes".into()));
        // And then bytes that are no frame at all.
        let _ = socket.get_mut().write_all(&bytes(200));
    }
    assert!(answers(port, &token));
}

/// Many connections that say nothing shut no page out: the oldest of them go.
#[test]
fn idle_connections_do_not_lock_it() {
    let (port, token) = server();
    // As many as wait in the listener's own queue: one more would be tried again after a second.
    let idle: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("a connection")).collect();
    let start = Instant::now();
    assert!(answers(port, &token));
    assert!(start.elapsed() < Duration::from_millis(1500), "after {:?}", start.elapsed());
    drop(idle);
}

/// A page that opens later takes over, and the first gets the reason for the end of its connection, so that it does not come back by itself: also when it
/// opens at once, so that the threads of both run side by side (often enough that an order left to chance would show).
#[test]
fn a_later_page_takes_over() {
    let (port, token) = server();
    for _ in 0..100 {
        let mut first = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
        assert!(answers(port, &token));
        let (start, mut code) = (Instant::now(), None);
        while let Ok(message) = first.read() {
            if let Message::Close(frame) = message {
                code = frame.map(|frame| u16::from(frame.code));
            }
            assert!(start.elapsed() < Duration::from_secs(20));
        }
        assert_eq!(code, Some(REPLACED));
    }
}

/// Speeds and steps of any size, which no clock could wait for.
#[test]
fn no_number_stops_it() {
    let (port, token) = server();
    for exponent in (-320..310).step_by(7) {
        let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
        for number in [10f64.powi(exponent), -(10f64.powi(exponent))] {
            for command in [
                Command::Speed { factor: number },
                Command::TimeStep { dt: number },
                Command::Scale { stiffness: number, damping: number },
                Command::Gravity { x: number, y: 0.0, z: number },
                Command::Grab { body: 1, x: number, y: 0.0, z: 0.0, stiffness: number },
                Command::Pull { x: number, y: number, z: 0.0 },
            ] {
                socket.send(Message::Binary(command.write().into())).expect("it is sent");
            }
        }
    }
    assert!(answers(port, &token));
}

/// The next frame of a page.
fn frame(socket: &mut WebSocket<TcpStream>) -> Frame {
    loop {
        match socket.read().expect("a message") {
            Message::Binary(bytes) if bytes[0] == 3 => return Frame(bytes.to_vec()),
            _ => {}
        }
    }
}

/// What a page holds when it goes is let go, also before another page opens.
#[test]
fn a_hold_does_not_outlive_its_page() {
    let (port, token) = server();
    let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    for command in [Command::Hello {}, Command::Grab { body: 1, x: 0.0, y: 0.0, z: 0.0, stiffness: 10.0 }] {
        socket.send(Message::Binary(command.write().into())).expect("it is sent");
    }
    let start = Instant::now();
    while frame(&mut socket).number("held") != 1.0 {
        assert!(start.elapsed() < Duration::from_secs(20));
    }
    drop(socket);
    std::thread::sleep(Duration::from_millis(300));
    let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    assert_eq!(frame(&mut socket).number("held"), 0.0);
}

/// More commands than can be taken at once: they wait in the page, steps go on, and the last one is heard.
#[test]
fn a_flood_of_commands_does_not_stop_time() {
    let (port, token) = server();
    let mut socket = open(port, &token, &format!("http://127.0.0.1:{port}")).expect("a socket");
    let before = frame(&mut socket).number("steps");
    let start = Instant::now();
    let (mut sent, ellipsoids) = (0, Command::Ellipsoids { on: 1 }.write());
    while start.elapsed() < Duration::from_secs(3) {
        socket.send(Message::Binary(ellipsoids.clone().into())).expect("it is sent");
        sent += 1;
    }
    socket.send(Message::Binary(Command::Drawn { frame: 0 }.write().into())).expect("it is sent");
    let mut after = before;
    while after < before + 100.0 {
        after = frame(&mut socket).number("steps");
        assert!(start.elapsed() < Duration::from_secs(20), "{sent} commands, {after} steps");
    }
}
