//! What the page would do: reads frames by the layout of the protocol, and speaks to a server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use pliant_view::{Command, Server, Session, Watched};
use serde_json::Value;

/// The names of a frame's numbers and lists, from the page's table.
fn layout(constant: &str) -> Vec<(String, usize)> {
    let table = include_str!("../page/src/layout.ts");
    let own = table.split(&format!("export const {constant} = [\n")).nth(1).expect("the table");
    let lines = own.lines().take_while(|line| *line != "] as const;");
    lines
        .map(|line| (line.split('"').nth(1).expect("a name").to_string(), line.split('"').count() / 2 - 1))
        .collect()
}

/// A frame, as the page reads it.
pub struct Frame(pub Vec<u8>);

impl Frame {
    pub fn of(session: &mut Session) -> Frame {
        let mut bytes = Vec::new();
        session.frame(&mut bytes);
        Frame(bytes)
    }

    pub fn number(&self, name: &str) -> f64 {
        let at = layout("NUMBERS").iter().position(|(own, _)| own == name).expect("a number");
        f64::from_le_bytes(self.0[8 + 8 * at..][..8].try_into().expect("eight bytes"))
    }

    pub fn three(&self, prefix: &str) -> [f64; 3] {
        ["x", "y", "z"].map(|axis| self.number(&format!("{prefix}_{axis}")))
    }

    pub fn list(&self, name: &str) -> Vec<f32> {
        let (mut at, lists) = (8 + 8 * layout("NUMBERS").len(), layout("LISTS"));
        let mut start = at + 4 * lists.len();
        for (own, entry) in &lists {
            let count =
                u32::from_le_bytes(self.0[at..][..4].try_into().expect("four bytes")) as usize * entry;
            if own == name {
                let numbers = self.0[start..][..4 * count].chunks_exact(4);
                return numbers.map(|n| f32::from_le_bytes(n.try_into().expect("four bytes"))).collect();
            }
            (at, start) = (at + 4, start + 4 * count);
        }
        panic!("there is no list {name}")
    }

    /// The origin of each body.
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.list("bodies").chunks_exact(16).map(|m| [m[12], m[13], m[14]]).collect()
    }
}

/// Messages that wait, by their first byte.
pub fn drain(session: &mut Session) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| session.next_message()).collect()
}

/// The texts of notes among them, errors alone.
pub fn errors(session: &mut Session) -> Vec<String> {
    let messages = drain(session).into_iter().filter(|message| message[..2] == [4, 1]);
    messages.map(|message| String::from_utf8(message[2..].to_vec()).expect("text")).collect()
}

/// The last status.
pub fn status(session: &mut Session) -> Value {
    let messages = drain(session);
    let last = messages.iter().rev().find(|message| message[0] == 2).expect("a status");
    serde_json::from_slice(&last[1..]).expect("JSON")
}

pub fn give(session: &mut Session, command: Command) {
    session.take(&command.write());
}

/// Seconds pass, on a clock that each look moves on by a microsecond.
pub fn pass(session: &mut Session, from: &mut f64, seconds: f64) {
    let end = *from + seconds;
    while *from < end {
        *from += 0.01;
        session.advance(1.0, || {
            *from += 1e-6;
            *from
        });
    }
}

/// A server in a thread; gives its port and token.
pub fn serve(session: Session) -> (u16, String) {
    serve_watched(session, None)
}

/// The same, of a file that is watched.
pub fn serve_watched(session: Session, watched: Option<Watched>) -> (u16, String) {
    let server = Server::start(session, 0, watched).expect("a port");
    let address = server.address().expect("an address");
    thread::spawn(move || server.run());
    let rest = address.strip_prefix("http://127.0.0.1:").expect("the loopback address");
    let (port, token) = rest.split_once("/?token=").expect("a token");
    assert_eq!(token.len(), 32);
    (port.parse().expect("a port"), token.to_string())
}

/// Sends a head and gives the status line and all that follows.
pub fn ask(port: u16, head: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.write_all(head.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    // A connection that is closed while bytes are under way is an answer too.
    let _ = stream.read_to_end(&mut answer);
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    (String::from_utf8_lossy(line).into_owned(), answer)
}
