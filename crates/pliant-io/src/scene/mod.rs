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
//!
//! ```
//! let text = r#"
//! [[body]]
//! name = "door"
//! position = [0.4, 0.0, 1.0]
//! mass = 20.0
//! inertia = [1.7, 2.7, 1.1]
//! [[joint]]
//! name = "hinges"
//! kind = "hinge"
//! parent = "world"
//! child = "door"
//! axis = [0, 0, 1]
//! "#;
//! let door = pliant_io::scene::read(text, "door.toml")?;
//! assert_eq!(door.summary().freedoms, 1);
//! let error = pliant_io::scene::read(&text.replace("hinge\"", "hing\""), "door.toml").unwrap_err();
//! assert!(error.to_string().contains("did you mean"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
