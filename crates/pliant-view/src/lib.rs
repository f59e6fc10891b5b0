//! The viewer: a mechanism in motion that a person takes hold of, in a browser.
//!
//! A [`Session`] owns the simulation and does what the page's [`Command`]s ask; it knows neither threads, nor sockets, nor a clock, so that
//! a worker of the page can own one too. [`Server`] gives it a thread, a clock and a page on the loopback address.
//!
//! ```
//! use pliant_core::gallery;
//! use pliant_view::{Command, Loaded, Session};
//!
//! let mut session = Session::new(Loaded::of(gallery::arm()), 1.0 / 240.0)?;
//! session.take(&Command::Play { on: 0 }.write());
//! session.take(&Command::Step {}.write());
//! let mut frame = Vec::new();
//! session.frame(&mut frame); // what the page draws
//! assert_eq!(session.steps(), 1);
//! # Ok::<(), String>(())
//! ```

mod drawing;
#[doc(hidden)]
pub mod parcel;
#[doc(hidden)]
pub mod protocol;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod recorded;
mod running;
mod saving;
#[cfg(feature = "server")]
mod server;
mod session;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod standalone;

pub use protocol::Command;
pub use running::Loaded;
#[cfg(feature = "server")]
pub use server::{PAGE, Server, Watched};
pub use session::Session;
