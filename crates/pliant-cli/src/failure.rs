//! Why a command did not do what it was asked to.

use serde_json::{Map, Value};

#[derive(Debug)]
pub struct Failure {
    /// What went wrong and what would be right; may have several lines.
    pub message: String,
    /// Exit code: 1 the job failed, 2 bad usage or bad input.
    pub code: u8,
    /// More for the JSON document, in addition to `error`.
    pub details: Map<String, Value>,
}

impl Failure {
    /// Bad usage or bad input.
    pub fn input(message: impl ToString) -> Failure {
        Failure { message: with_options(&message.to_string()), code: 2, details: Map::new() }
    }

    /// The input was good, the job failed.
    pub fn job(message: impl ToString) -> Failure {
        Failure { message: with_options(&message.to_string()), code: 1, details: Map::new() }
    }

    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Failure {
        self.details.insert(key.into(), value.into());
        self
    }
}

/// What the library says, with the options of the command line that do what it asks for.
pub fn with_options(text: &str) -> String {
    text.replace("or allow its folder", "or allow its folder with --allow-path")
        .replace("not a model file", "not a model file; `pliant reduce` writes one")
        .replace("reduced models, not mechanisms alone", "reduced models, which `pliant reduce` makes")
        .replace(
            "contact: use `reduced`, `articulated` or `full`",
            "contact: use --engine reduced, articulated or full, or --no-contact",
        )
        .replace("of the path: keep modes", "of the path: `--modes auto` keeps them")
        .replace(
            "build one for a larger displacement",
            "build one by `pliant reduce` with a larger `--displacement`",
        )
        .replace("simulate it to see how it moves", "see how it moves with `pliant simulate`")
        .replace("simulate it to see where it goes", "see where it goes with `pliant simulate`")
        .replace(
            "simulate it, with contact, until it rests",
            "let it come to rest with `pliant simulate`, which has contact",
        )
        .replace("use another, or leave contact out", "use another, or --no-contact")
        .replace(
            "the root of a robot file is made free when it is read",
            "`--free-base` frees the root of a robot file",
        )
}
