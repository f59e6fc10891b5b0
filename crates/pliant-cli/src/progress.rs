//! Signs of life on standard error, for people who wait: nothing in the first second, nothing where
//! standard error is no terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Format;

/// How long a command runs before it shows progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the display changes.
const PACE: Duration = Duration::from_millis(100);

fn is_watched(format: Format) -> bool {
    format == Format::Text && stderr().is_terminal()
}

/// A bar for work whose length is known.
pub struct Bar {
    length: u64,
    template: &'static str,
    /// When to draw next; `None` if the output is no terminal.
    next: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Bar {
    pub fn new(format: Format, length: u64) -> Bar {
        Bar {
            length,
            template: "{wide_bar} {human_pos}/{human_len}, {eta} left",
            next: is_watched(format).then(|| Instant::now() + PATIENCE),
            bar: None,
        }
    }

    /// For so much time at most, in milliseconds: it ends when what is done is good enough.
    pub fn of_time(format: Format, most: Duration) -> Bar {
        let mut bar = Bar::new(format, most.as_millis().try_into().unwrap_or(u64::MAX));
        bar.template = "{wide_bar} {msg}, {elapsed}";
        bar
    }

    /// For work that ends when what is done is good enough.
    pub fn of_search(format: Format) -> Bar {
        let mut bar = Bar::new(format, u64::MAX);
        bar.template = "{spinner} {msg}, {elapsed}";
        bar
    }

    /// Says how far it has come.
    pub fn say(&mut self, what: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(what());
        }
    }

    /// So many steps are done by now.
    pub fn update(&mut self, done: u64, now: Instant) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + PACE);
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(self.template);
            ProgressBar::new(self.length).with_style(style.expect("a good template"))
        });
        bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A sign of life while something of unknown length goes on; gone when dropped.
pub struct Spinner {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// Says what goes on.
    pub fn new(format: Format, what: &'static str) -> Spinner {
        Spinner::drawn(format, move || ProgressBar::new_spinner().with_message(what), ProgressBar::tick)
    }

    /// For work that says now and then what part of it is done, in percent, but goes on for seconds without a word.
    pub fn of_parts(format: Format, what: String, percent: Arc<AtomicU64>) -> Spinner {
        let bar = move || {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {elapsed}");
            ProgressBar::new(100).with_style(style.expect("a good template")).with_message(what)
        };
        Spinner::drawn(format, bar, move |bar| {
            bar.set_position(percent.load(Ordering::Relaxed));
            bar.tick();
        })
    }

    fn drawn(
        format: Format,
        bar: impl FnOnce() -> ProgressBar + Send + 'static,
        draw: impl Fn(&ProgressBar) + Send + 'static,
    ) -> Spinner {
        let start = || {
            let (stop, stopped) = mpsc::channel();
            let thread = thread::spawn(move || {
                if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    let bar = bar();
                    while stopped.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                        draw(&bar);
                    }
                    bar.finish_and_clear();
                }
            });
            (stop, thread)
        };
        Spinner { running: is_watched(format).then(start) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            // A display that failed is no reason to fail.
            let _ = thread.join();
        }
    }
}
