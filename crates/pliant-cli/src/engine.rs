//! The option `--engine`.

use std::str::FromStr;

use pliant::mechanism::closest;

/// Engines that are planned, so that asking for one does not look like a misspelling.
const LATER: [&str; 4] = ["articulated", "reduced", "live", "blended"];

/// What simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Implicit, maximal coordinates, loops.
    Full,
}

impl Engine {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Full => "full",
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        if text == Engine::Full.name() {
            return Ok(Engine::Full);
        }
        if LATER.contains(&text) {
            return Err(format!("this version does not have the engine `{text}` yet; use `full`"));
        }
        let guess = closest(text, ["full"].into_iter().chain(LATER));
        let guess = guess.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Err(format!("there is no engine `{text}`{guess} (this version has `full`)"))
    }
}
