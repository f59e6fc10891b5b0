//! The scene file, Pliant's native format, in TOML.
//!
//! | file | does |
//! |---|---|
//! | `read.rs` | text to mechanism, the top of a file and its small elements |
//! | `body.rs`, `joint.rs`, `pose.rs` | the larger elements |
//! | `keys.rs` | the keys of every section; docs/scene.md explains them |
//! | `overlay.rs` | a scene that starts from a robot file |
//! | `table.rs` | one table of the file, read key by key |
//! | `report.rs` | collects everything that is wrong |
//! | `write.rs` | mechanism to text |
//!
//! Values and references are checked by the mechanism's builder, once, for every format; the reader
//! checks only what the builder cannot see (types, unknown and missing keys, keys that exclude each
//! other) and finds the text that a defect belongs to.

mod body;
mod expression;
mod joint;
mod keys;
mod overlay;
mod pose;
mod read;
mod report;
mod table;
mod write;
mod zone;

pub use read::{read, read_with};
pub use write::write;
