//! `--engine auto`; the rule is that of `pliant::shared::choosing`.

use std::str::FromStr;

use pliant::engines::Engine;
use pliant::mechanism::Mechanism;
use pliant::shared::choosing;

/// The option `--engine` of a command that can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineArgument {
    Auto,
    Named(Engine),
}

impl FromStr for EngineArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineArgument, String> {
        if text == "auto" {
            return Ok(EngineArgument::Auto);
        }
        text.parse().map(EngineArgument::Named)
    }
}

impl EngineArgument {
    /// The engine for what joints hold together, if anything is, and why it is that one unless it was named.
    pub fn choose(self, held: Option<&Mechanism>, is_model: bool) -> (Engine, Option<String>) {
        let (engine, why) = match (self, is_model) {
            (EngineArgument::Named(engine), _) => return (engine, None),
            (EngineArgument::Auto, true) => {
                (Engine::OF_MODEL_FILES, "it is the engine of model files".into())
            }
            (EngineArgument::Auto, false) => choosing::choose(held),
        };
        (engine, Some(why))
    }
}
