//! The viewer's session as WebAssembly, driven by a worker of its page: the same messages as those of the server.
//!
//! The worker writes into the buffer that `input` gives and calls; what comes back lies at `output`. There is one session. The only
//! `unsafe` are the names that functions have outside, and the clock and the ear for a panic that the worker lends.

// On other targets there is nothing here.
#![cfg(target_family = "wasm")]
// Functions with names of their own, and one of the worker's: nothing else.
#![allow(unsafe_code)]

use std::cell::RefCell;

use pliant_view::{Session, parcel};

thread_local! {
    static PLACE: RefCell<Place> = const { RefCell::new(Place { session: None, input: Vec::new(), output: Vec::new() }) };
}

struct Place {
    session: Option<Session>,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Place {
    /// What the worker wrote; the buffer is free for more.
    fn taken(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input)
    }
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// The worker's clock, s.
    safe fn now() -> f64;
    /// What a panic says, so many bytes of text; the module ends after it.
    safe fn failed(text: *const u8, length: usize);
}

fn with<T>(does: impl FnOnce(&mut Place) -> T) -> T {
    PLACE.with_borrow_mut(does)
}

/// A buffer of so many bytes, to be written before the next call.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|place| {
        place.input = vec![0; length];
        place.input.as_mut_ptr()
    })
}

/// Where the bytes are that a call has left.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|place| place.output.as_ptr())
}

/// Opens the parcel in the buffer: 0, or the length of what is wrong with it. A session that is open takes it as a file that changed.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> usize {
    with(|place| {
        let text = place.taken();
        let unpacked = std::str::from_utf8(&text).map_err(|error| error.to_string()).and_then(parcel::unpack);
        std::panic::set_hook(Box::new(|panic| {
            let text = panic.to_string();
            failed(text.as_ptr(), text.len());
        }));
        let opened = match (&mut place.session, unpacked) {
            (Some(session), unpacked) => {
                session.load(unpacked.map(|(loaded, _)| loaded));
                return 0;
            }
            (None, Ok((loaded, dt))) => Session::new(loaded, dt),
            (None, Err(error)) => Err(error),
        };
        match opened {
            Ok(session) => {
                place.session = Some(session);
                0
            }
            Err(error) => {
                place.output = error.into_bytes();
                place.output.len()
            }
        }
    })
}

/// Does what the message in the buffer asks.
#[unsafe(no_mangle)]
pub extern "C" fn take() {
    with(|place| {
        let message = place.taken();
        if let Some(session) = &mut place.session {
            session.take(&message);
        }
    });
}

/// Takes the steps that are due, for at most so many seconds.
#[unsafe(no_mangle)]
pub extern "C" fn advance(most: f64) {
    with(|place| {
        if let Some(session) = &mut place.session {
            session.advance(most, || now());
        }
    });
}

/// The length of the next message that waits; 0 if none does.
#[unsafe(no_mangle)]
pub extern "C" fn next() -> usize {
    with(|place| {
        place.output = place.session.as_mut().and_then(Session::next_message).unwrap_or_default();
        place.output.len()
    })
}

/// The length of a frame of what is now; 0 without a session.
#[unsafe(no_mangle)]
pub extern "C" fn frame() -> usize {
    with(|place| {
        place.output.clear();
        if let Some(session) = &mut place.session {
            session.frame(&mut place.output);
        }
        place.output.len()
    })
}
