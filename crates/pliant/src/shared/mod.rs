//! What the command line and the Python package share: names of a mechanism and what is done to it by them, the choice of an engine,
//! statics with what things touch, and the words of their messages. Nothing here is a promise to others.
//!
//! | file | what |
//! |---|---|
//! | `choosing.rs` | the engine that is named, or the best one |
//! | `overlaps.rs` | what is inside of what in a pose |
//! | `setup.rs` | joints, effectors, bodies and springs by name, and the mechanism with them changed |
//! | `statics.rs` | what is said of an equilibrium |
//! | `watch/` | what an engine leaves out of a run, seen from outside |
//! | `words.rs` | words and numbers in messages |

pub mod choosing;
pub mod overlaps;
pub mod setup;
pub mod statics;
pub mod watch;
pub mod words;
