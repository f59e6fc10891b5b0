//! One connection: the page, or its WebSocket; anything else is refused.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Bytes, Message, WebSocket};

use super::PAGE;
use super::door::Guest;
use super::engine::{Ended, Engine};
use super::request::Request;
use crate::protocol::{LONGEST_COMMAND, REPLACED, TOO_SLOW};

/// How long a request may stand still.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a page has to answer that its connection ends.
const PARTING: Duration = Duration::from_secs(1);
/// How long the page may take no byte.
const STUCK: Duration = Duration::from_secs(10);

/// Reads a request and answers it, until the connection ends.
pub fn answer(
    mut stream: TcpStream,
    port: u16,
    token: &str,
    engine: &Engine,
    mut guest: Guest,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(STUCK))?;
    stream.set_nodelay(true)?;
    let Some(request) = Request::read(&mut stream)? else {
        return refuse(&mut stream, "400 Bad Request", "this request is not supported");
    };
    let own = |host: &str| ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"));
    if !request.header("host").is_some_and(own) {
        return refuse(&mut stream, "403 Forbidden", "the Host is not this server");
    }
    if request.method != "GET" {
        return refuse(&mut stream, "405 Method Not Allowed", "only GET is supported");
    }
    match request.path.as_str() {
        "/" | "/socket" if !request.has_token(token) => refuse(
            &mut stream,
            "403 Forbidden",
            "the token is missing or wrong: open the address that `pliant view` printed",
        ),
        "/" | "/socket" if !guest.is_known() => {
            refuse(&mut stream, "503 Service Unavailable", "there are too many connections")
        }
        "/" => send_page(&mut stream, port),
        "/socket" => {
            let from = request.header("origin").and_then(|origin| origin.strip_prefix("http://"));
            if !from.is_some_and(own) {
                return refuse(&mut stream, "403 Forbidden", "the Origin is not this server's page");
            }
            let key = request.header("sec-websocket-key");
            let upgrades = request.lists("connection", "upgrade") && request.lists("upgrade", "websocket");
            match key.filter(|_| upgrades && request.header("sec-websocket-version") == Some("13")) {
                Some(key) => speak(stream, key, engine),
                None => refuse(&mut stream, "400 Bad Request", "this is not a WebSocket of version 13"),
            }
        }
        _ => refuse(&mut stream, "404 Not Found", "there is only the page here"),
    }
}

fn refuse(stream: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    respond(stream, status, "text/plain; charset=utf-8", "", &format!("{why}\n"))
}

fn send_page(stream: &mut TcpStream, port: u16) -> io::Result<()> {
    let policy = format!(
        "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
         img-src data: blob:; media-src blob:; connect-src ws://127.0.0.1:{port} ws://localhost:{port}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'\r\n"
    );
    respond(stream, "200 OK", "text/html; charset=utf-8", &policy, PAGE)
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, more: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         {more}Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()?;
    stream.shutdown(Shutdown::Write)
}

/// The WebSocket. The page is known to the engine before it is answered, so that of two pages the one that was answered later takes over,
/// whichever of their threads is faster.
fn speak(stream: TcpStream, key: &str, engine: &Engine) -> io::Result<()> {
    let page = engine.open();
    let spoken = converse(stream, key, engine, page);
    engine.close(page);
    spoken
}

/// This thread reads commands, another one sends what there is for the page.
fn converse(mut stream: TcpStream, key: &str, engine: &Engine, page: u64) -> io::Result<()> {
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.set_read_timeout(None)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(LONGEST_COMMAND))
        .max_frame_size(Some(LONGEST_COMMAND))
        .read_buffer_size(4 << 10);
    let mut sending = WebSocket::from_raw_socket(stream.try_clone()?, Role::Server, Some(config));
    let other = stream.try_clone()?;
    let mut reading = WebSocket::from_raw_socket(stream, Role::Server, Some(config));
    let (own, closing) = (engine.clone(), other.try_clone()?);
    thread::Builder::new().name("sender".into()).spawn(move || {
        let ended = loop {
            let message = match own.next(page) {
                Ok(message) => message,
                Err(ended) => break Some(ended),
            };
            if sending.send(Message::Binary(Bytes::from(message))).is_err() {
                break None;
            }
        };
        if let Some(ended) = ended {
            // Read before the connection is closed, it reaches the page, which closes its side.
            let _ = sending.close(Some(reason(ended))).and_then(|()| sending.flush());
            thread::sleep(PARTING);
        }
        // Wakes the reader, which may be waiting for a page that is gone.
        let _ = closing.shutdown(Shutdown::Both);
    })?;
    // Too long a message, one that is no message, or the end.
    while let Ok(message) = reading.read() {
        match message {
            Message::Binary(bytes) => engine.message(page, bytes.to_vec()),
            Message::Close(_) => break,
            _ => {}
        }
    }
    let _ = other.shutdown(Shutdown::Both);
    Ok(())
}

/// The reason a page gets at the end; it connects again by itself but for the first.
fn reason(ended: Ended) -> CloseFrame {
    let (code, words) = match ended {
        Ended::Replaced => (REPLACED, "another page took over"),
        Ended::TooSlow => (TOO_SLOW, "it reads too slowly"),
    };
    CloseFrame { code: CloseCode::from(code), reason: words.into() }
}
