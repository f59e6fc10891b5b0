//! The thread that owns the session. It steps in real time, whatever pages and sockets do: it waits for none of them. Frames go into one
//! place, where a newer one takes the place of one that nobody took yet; other messages wait in a row.

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::protocol::{Command, Kind, outlives_a_scene};
use crate::running::Loaded;
use crate::session::Session;

/// Between two frames, at least: the next one is made when the last one was drawn, so that it shows what is then.
const FRAME: Duration = Duration::from_millis(8);
/// How long steps may go on before commands are looked at, s.
const BURST: f64 = 0.012;
/// How long commands may be taken before steps come in between.
const TAKING: Duration = Duration::from_millis(12);
/// How long a page may take to draw a frame before it is sent another one all the same.
const IMPATIENT: Duration = Duration::from_millis(500);
/// Bytes that may wait for a page when there is more to send: one that takes less has to connect again.
const MOST_WAITING: usize = 16 << 20;
/// Commands that may wait for the engine; a page that sends more has to wait itself.
const MOST_COMMANDS: usize = 256;

enum Request {
    Message(u64, Vec<u8>),
    /// A page is gone.
    Gone(u64),
    Load(Box<Result<Loaded, String>>),
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A later page took over.
    Replaced,
    /// It took too little of what it was sent.
    TooSlow,
}

/// What waits to be sent to the page.
#[derive(Debug, Default)]
struct Outbox {
    /// The connection that is served: a later one takes the page over.
    page: u64,
    /// The last one that took too little.
    slow: u64,
    messages: VecDeque<Vec<u8>>,
    frame: Option<Vec<u8>>,
}

impl Outbox {
    /// Adds messages. What a later scene replaces is not sent any more, frames included.
    fn add(&mut self, batch: Vec<Vec<u8>>) {
        if batch.iter().any(|message| message[0] == Kind::Scene as u8) {
            self.messages.retain(|waiting| outlives_a_scene(waiting));
            self.frame = None;
        }
        if self.messages.iter().map(Vec::len).sum::<usize>() > MOST_WAITING {
            self.slow = self.page;
            self.page += 1;
            self.messages.clear();
        } else {
            self.messages.extend(batch);
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    outbox: Mutex<Outbox>,
    filled: Condvar,
}

/// The thread, to be spoken to.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    requests: SyncSender<Request>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Request")
    }
}

impl Engine {
    pub fn start(session: Session) -> io::Result<Engine> {
        let (requests, received) = sync_channel(MOST_COMMANDS);
        let engine = Engine { requests, shared: Arc::default() };
        let shared = engine.shared.clone();
        thread::Builder::new().name("engine".into()).spawn(move || run(session, &received, &shared))?;
        Ok(engine)
    }

    /// A page that opens takes over; gives its number.
    pub fn open(&self) -> u64 {
        let mut outbox = locked(&self.shared.outbox);
        outbox.page += 1;
        outbox.messages.clear();
        outbox.frame = None;
        self.shared.filled.notify_all();
        outbox.page
    }

    /// A page that is gone is sent nothing more, and holds nothing any more.
    pub fn close(&self, page: u64) {
        let mut outbox = locked(&self.shared.outbox);
        let served = outbox.page == page;
        if served {
            outbox.page += 1;
        }
        let last = served || outbox.slow == page;
        drop(outbox);
        self.shared.filled.notify_all();
        if last {
            let _ = self.requests.send(Request::Gone(page));
        }
    }

    /// A message of a page; one that another took over from is not heard.
    pub fn message(&self, page: u64, message: Vec<u8>) {
        let _ = self.requests.send(Request::Message(page, message));
    }

    /// Another scene.
    pub fn load(&self, loaded: Result<Loaded, String>) {
        let _ = self.requests.send(Request::Load(Box::new(loaded)));
    }

    /// What is to be sent next to a page, or why there is nothing more.
    pub fn next(&self, page: u64) -> Result<Vec<u8>, Ended> {
        let mut outbox = locked(&self.shared.outbox);
        loop {
            if outbox.page != page {
                return Err(if outbox.slow == page { Ended::TooSlow } else { Ended::Replaced });
            }
            let next = outbox.messages.pop_front();
            if let Some(next) = next.or_else(|| outbox.frame.take()) {
                return Ok(next);
            }
            outbox = self.shared.filled.wait(outbox).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

/// A thread that panicked while it held the lock left lists of messages, which are whole.
fn locked(outbox: &Mutex<Outbox>) -> MutexGuard<'_, Outbox> {
    outbox.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Lets a session do something. A panic, which is a defect of the program, ends what was asked: the scene starts again, paused, and the page
/// shows what happened.
fn guarded<T>(session: &mut Session, does: impl FnOnce(&mut Session) -> T) -> Option<T> {
    let panic = match catch_unwind(AssertUnwindSafe(|| does(session))) {
        Ok(done) => return Some(done),
        Err(panic) => panic,
    };
    let words = format!("{}; the scene starts again, paused", defect(&*panic));
    let _ = catch_unwind(AssertUnwindSafe(|| session.rebuild(&words)));
    None
}

/// Another scene; one that makes the program panic is a scene that is wrong.
fn load(session: &mut Session, loaded: Result<Loaded, String>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| session.load(loaded))) {
        session.load(Err(format!("the scene is not loaded: {}", defect(&*panic))));
    }
}

/// What a panic said.
pub(super) fn defect(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    format!("an internal error of the program: {text}")
}

fn run(mut session: Session, requests: &Receiver<Request>, shared: &Shared) {
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let mut next_frame = Instant::now();
    let (mut sent, mut drawn, mut sent_at) = (0u32, 0u32, Instant::now());
    loop {
        let now = Instant::now();
        // One that is too long for a clock is never.
        let until_step = session
            .due()
            .map_or(Duration::MAX, |due| Duration::try_from_secs_f64(due).unwrap_or(Duration::MAX));
        let wait = until_step.min(next_frame.saturating_duration_since(now));
        let mut request = match requests.recv_timeout(wait) {
            Ok(request) => Some(request),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // However many there are, steps come in between.
        let taking = Instant::now();
        while let Some(one) = request {
            match one {
                Request::Load(loaded) => load(&mut session, *loaded),
                Request::Gone(page) => {
                    // Another one that opened meanwhile says so itself.
                    if page + 1 == locked(&shared.outbox).page {
                        guarded(&mut session, |session| session.take(&Command::Release {}.write()));
                    }
                }
                Request::Message(page, message) => {
                    if page == locked(&shared.outbox).page {
                        match Command::read(&message) {
                            Some(Command::Drawn { frame }) => {
                                drawn = frame;
                                next_frame = next_frame.min(sent_at + FRAME);
                            }
                            Some(Command::Hello {}) => drawn = sent,
                            _ => {}
                        }
                        guarded(&mut session, |session| session.take(&message));
                    }
                }
            }
            request = (taking.elapsed() < TAKING).then(|| requests.try_recv().ok()).flatten();
        }
        guarded(&mut session, |session| session.advance(BURST, clock));
        let batch: Vec<Vec<u8>> = std::iter::from_fn(|| session.next_message()).collect();
        if !batch.is_empty() {
            if batch.iter().any(|message| message[0] == Kind::Scene as u8) {
                drawn = sent;
            }
            locked(&shared.outbox).add(batch);
            shared.filled.notify_all();
        }
        let now = Instant::now();
        if now < next_frame {
            continue;
        }
        next_frame = now + FRAME;
        // What the page says wakes this thread.
        if sent == drawn || now - sent_at > IMPATIENT {
            let mut frame = Vec::new();
            guarded(&mut session, |session| session.frame(&mut frame));
            (sent, sent_at) = (session.frame_number(), now);
            if !frame.is_empty() {
                locked(&shared.outbox).frame = Some(frame);
                shared.filled.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_core::gallery;

    use super::*;

    fn notes(session: &mut Session) -> Vec<String> {
        let messages = std::iter::from_fn(|| session.next_message());
        let notes = messages.filter(|message| message[..2] == [Kind::Note as u8, 1]);
        notes.map(|note| String::from_utf8_lossy(&note[2..]).into_owned()).collect()
    }

    /// A panic ends what was asked, not the engine: the scene is there again.
    #[test]
    fn a_panic_becomes_a_note_and_the_scene_starts_again() {
        let mut session = Session::new(Loaded::of(gallery::arm()), 0.01).expect("a session");
        guarded(&mut session, |session| session.take(&Command::Step {}.write()));
        assert_eq!(session.steps(), 1);
        assert_eq!(guarded(&mut session, |_| -> u8 { panic!("seven is {}", 7) }), None);
        assert_eq!((session.steps(), session.is_playing()), (0, false));
        let said = notes(&mut session);
        assert_eq!(said, ["an internal error of the program: seven is 7; the scene starts again, paused"]);
        guarded(&mut session, |session| session.take(&Command::Step {}.write()));
        assert_eq!(session.steps(), 1);
    }

    /// Of scenes only the last one is sent; a page that takes nothing is given up, and keeps nothing.
    #[test]
    fn what_waits_is_bounded() {
        let message = |kind: Kind, length: usize| {
            let mut message = vec![0; length];
            message[0] = kind as u8;
            message
        };
        let mut outbox = Outbox { page: 3, frame: Some(Vec::new()), ..Default::default() };
        for _ in 0..100 {
            let (mesh, scene) = (message(Kind::Mesh, MOST_WAITING), message(Kind::Scene, 10));
            outbox.add(vec![message(Kind::Note, 5), mesh, scene, message(Kind::Status, 7)]);
        }
        let lengths: Vec<usize> = outbox.messages.iter().map(Vec::len).collect();
        assert_eq!(lengths[99..], [5, MOST_WAITING, 10, 7]);
        assert!(lengths[..99].iter().all(|length| *length == 5) && outbox.frame.is_none());
        outbox.add(vec![message(Kind::Note, 5)]);
        assert_eq!((outbox.page, outbox.slow, outbox.messages.len()), (4, 3, 0));
    }
}
