//! All tests of the viewer without a browser, in one program. Each file states its claim at its head.

mod common;

mod layout;
mod messages;
mod security;
mod session;
mod sockets;
mod watching;
