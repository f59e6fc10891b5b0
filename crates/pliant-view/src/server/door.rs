//! Who is let in: a bounded number of connections, and those that have shown no token make room for newer ones.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// Connections that have shown no token, and those that have.
const MOST_UNKNOWN: usize = 32;
const MOST_KNOWN: usize = 32;

/// Counts connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Door {
    inside: Arc<Mutex<Inside>>,
}

#[derive(Debug, Default)]
struct Inside {
    next: u64,
    /// The oldest first.
    unknown: VecDeque<(u64, TcpStream)>,
    known: usize,
}

/// A connection that was let in; it leaves when this goes, however that comes.
#[derive(Debug)]
pub(super) struct Guest {
    door: Door,
    number: u64,
    known: bool,
}

impl Door {
    /// Lets a connection in. Where there are many that have shown no token, the oldest of them is closed.
    pub fn enter(&self, stream: &TcpStream) -> io::Result<Guest> {
        let own = stream.try_clone()?;
        let mut inside = self.lock();
        while inside.unknown.len() >= MOST_UNKNOWN
            && let Some((_, oldest)) = inside.unknown.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let number = inside.next;
        inside.next += 1;
        inside.unknown.push_back((number, own));
        Ok(Guest { door: self.clone(), number, known: false })
    }

    /// A thread that panicked while it held the lock left a list and numbers, which are whole.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Guest {
    /// It has shown the token; whether there is room for it.
    pub fn is_known(&mut self) -> bool {
        let mut inside = self.door.lock();
        let found = inside.unknown.iter().position(|(number, _)| *number == self.number);
        let Some(at) = found.filter(|_| inside.known < MOST_KNOWN) else { return false };
        inside.unknown.remove(at);
        inside.known += 1;
        drop(inside);
        self.known = true;
        true
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut inside = self.door.lock();
        match self.known {
            true => inside.known -= 1,
            false => inside.unknown.retain(|(number, _)| *number != self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Connections with a token, and without.
    fn counts(door: &Door) -> (usize, usize) {
        let inside = door.lock();
        (inside.known, inside.unknown.len())
    }

    /// Places are free again after a panic, the oldest that shows no token goes first, and those with a token stay.
    #[test]
    fn places_are_left_and_made_room() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let door = Door::default();
        for _ in 0..2 * MOST_KNOWN {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let mut guest = door.enter(&stream).expect("a place");
                assert!(guest.is_known());
                panic!("in a connection");
            }));
            assert!(panicked.is_err());
        }
        assert_eq!(counts(&door), (0, 0));
        let mut guests: Vec<Guest> =
            (0..2 * MOST_UNKNOWN).map(|_| door.enter(&stream).expect("a place")).collect();
        assert_eq!(counts(&door), (0, MOST_UNKNOWN));
        assert!(!guests[0].is_known() && guests.last_mut().expect("a guest").is_known());
        assert_eq!(counts(&door), (1, MOST_UNKNOWN - 1));
        drop(guests);
        assert_eq!(counts(&door), (0, 0));
    }
}
