//! Which engine simulates where none is named (`auto`).
//!
//! The rule is never to take an engine that is less exact than another, and of the two with every freedom the faster one:
//! `articulated`, unless loops are more than it takes. Measured (release build, one thread, µs a step, and the largest distance of an effector
//! from `full` in the motion of `pliant compare`, over the radius):
//!
//! | | full | articulated | linear |
//! |---|---|---|---|
//! | hand | 20.6 | 4.80, 1e-5 | 1.92, 7e-4 |
//! | hexapod | 22.8 | 6.92, 7e-7 | 2.83, 7e-6 |
//! | arm | 22.5 | 2.81, 0.002 | 0.49, 0.09 |
//! | helix:50 | 51.8 | 6.91, 0.001 | 0.83, 0.04 |
//! | helix:400 | 479 | 54.3, 0.02 | 4.38, 0.6 |
//! | hexapod-terrain | 136 | 24.0, 0.005 | 28.0, 0.1 |
//! | hand-grasp | 184 | 30.5, 6e-5 | 35.2, 0.06 |
//! | bridge-heap | 607 | 251, 0.01 | 83.2, 0.6 |
//!
//! `linear` wins only in time (helix:400), and pays for it in the motion, by an amount that depends on loads which are not
//! known before a run, and so does `reduced`, by less. So they are taken by name only. With loops, by
//! `pliant bench`, whose `full` has one Newton iteration, half of its default: ladder:48 64 and 42, ladder:480 825 and 1163, rungs:48
//! 64 and 19, rungs:480 726 and 325, loop:240 293 and 152 µs in `full` and `articulated`.

use std::str::FromStr;

use super::words::count;
use crate::articulated::{MOST_CLOSING_ROWS, closing_rows};
use crate::engines::Engine;
use crate::mechanism::Mechanism;

/// An engine, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The best one for what is simulated.
    Auto,
    /// This one.
    Engine(Engine),
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        if text == "auto" {
            return Ok(Named::Auto);
        }
        text.parse().map(Named::Engine)
    }
}

impl Named {
    /// The engine for what joints hold together, if anything is, and why it is that one unless it was named.
    pub fn choose(self, held: Option<&Mechanism>, is_model: bool) -> (Engine, Option<String>) {
        let (engine, why) = match (self, is_model) {
            (Named::Engine(engine), _) => return (engine, None),
            (Named::Auto, true) => (Engine::OF_MODEL_FILES, "it is the engine of model files".into()),
            (Named::Auto, false) => choose(held),
        };
        (engine, Some(why))
    }
}

/// The engine for what joints hold together, if anything is, and why it is that one.
pub fn choose(held: Option<&Mechanism>) -> (Engine, String) {
    match held {
        None => (Engine::Full, "there are loose bodies only".into()),
        Some(held) => of_held(held),
    }
}

/// An engine with every freedom: right at rest and in motion, with loops, limits and contact of every link.
fn of_held(mechanism: &Mechanism) -> (Engine, String) {
    let rows = closing_rows(mechanism);
    let mechanism = mechanism.summary();
    let all = format!("it simulates every freedom ({})", mechanism.freedoms);
    if rows > MOST_CLOSING_ROWS {
        let most = format!("`articulated` supports at most {MOST_CLOSING_ROWS}");
        return (
            Engine::Full,
            format!("{all}, and the mechanism has {rows} rows that close its loops: {most}"),
        );
    }
    let loops = match mechanism.loops {
        0 => "without loops".into(),
        n => format!("with {}", count(n, "loop")),
    };
    (Engine::Articulated, format!("{all}, and {loops} it is faster than `full`"))
}
