//! A server for one page on the loopback address: the page itself, and a WebSocket to a [`Session`](crate::Session) in a thread of its own.
//!
//! What keeps others out: the socket listens on 127.0.0.1 alone; the address has a token of 128 random bits, new in every run, without
//! which neither the page nor the WebSocket is given; `Host` and `Origin` must be this server's own, so that neither a page of another
//! site nor another name for this machine gets in; requests and messages have bounds on their size and time; no file is read but the
//! page, which is in the program.

mod connection;
mod door;
mod engine;
mod request;
mod watching;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use crate::session::Session;
use door::Door;
use engine::Engine;
pub use watching::Watched;

/// The page, built by `page/build.mjs` into one file.
pub const PAGE: &str = include_str!("../../page/dist/index.html");

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    token: String,
    engine: Engine,
}

impl Server {
    /// Listens on a port of the loopback address (0: one that is free) and starts the session in its thread; `watched` gives it another
    /// scene whenever its file changes.
    pub fn start(session: Session, port: u16, watched: Option<Watched>) -> io::Result<Server> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let mut bits = [0u8; 16];
        getrandom::fill(&mut bits).map_err(|error| io::Error::other(error.to_string()))?;
        let token = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let engine = Engine::start(session)?;
        if let Some(watched) = watched {
            watched.start(engine.clone())?;
        }
        Ok(Server { listener, token, engine })
    }

    /// Where the page is.
    pub fn address(&self) -> io::Result<String> {
        Ok(format!("http://{}/?token={}", self.listener.local_addr()?, self.token))
    }

    /// Answers until the listener fails.
    pub fn run(self) -> io::Result<()> {
        let port = self.listener.local_addr()?.port();
        let (token, door) = (Arc::new(self.token), Door::default());
        for stream in self.listener.incoming() {
            // One that is gone already is no reason to stop.
            let Ok(stream) = stream else { continue };
            let Ok(guest) = door.enter(&stream) else { continue };
            let (token, engine) = (token.clone(), self.engine.clone());
            // A connection that breaks is the page's to open again, and so is one that gets no thread.
            let _ = thread::Builder::new().name("connection".into()).spawn(move || {
                let _ = connection::answer(stream, port, &token, &engine, guest);
            });
        }
        Ok(())
    }
}
