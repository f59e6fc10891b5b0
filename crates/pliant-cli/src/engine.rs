//! The option `--engine`, and what only some engines take.

use std::str::FromStr;

use pliant::blended;
use pliant::mechanism::closest;
use pliant::reduced;

/// What simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Implicit, maximal coordinates, loops.
    Full,
    /// Implicit, joint coordinates.
    Articulated,
    /// One linear model of the effectors at the file's pose.
    Reduced,
    /// The effectors' motions, linear anew in every step.
    Live,
    /// Several linear models, at equilibria, blended.
    Blended,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 5] =
        [Engine::Full, Engine::Articulated, Engine::Reduced, Engine::Live, Engine::Blended];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Full => "full",
            Engine::Articulated => "articulated",
            Engine::Reduced => "reduced",
            Engine::Live => "live",
            Engine::Blended => "blended",
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        if let Some(engine) = Engine::ALL.into_iter().find(|engine| engine.name() == text) {
            return Ok(engine);
        }
        let guess = closest(text, Engine::ALL.into_iter().map(Engine::name));
        let guess = guess.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Err(format!(
            "there is no engine `{text}`{guess} (there are `full`, `articulated`, `reduced`, `live` and `blended`)"
        ))
    }
}

/// How many modes a reduced model keeps beside the motions of its effectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    /// So many of each independent part.
    Count(usize),
    /// All that the time step can follow.
    Auto,
}

impl FromStr for Modes {
    type Err = String;

    fn from_str(text: &str) -> Result<Modes, String> {
        if text == "auto" {
            return Ok(Modes::Auto);
        }
        text.parse()
            .map(Modes::Count)
            .map_err(|_| "it must be a whole number, zero or above, or `auto`".into())
    }
}

/// The reconstructions and their names on the command line.
pub const RECONSTRUCTIONS: [(&str, reduced::Reconstruction); 3] = [
    ("twist", reduced::Reconstruction::Twist),
    ("joint", reduced::Reconstruction::Joint),
    ("corrected", reduced::Reconstruction::Corrected),
];

/// Reads the name of a reconstruction.
pub fn reconstruction(text: &str) -> Result<reduced::Reconstruction, String> {
    let found = RECONSTRUCTIONS.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, reconstruction)| reconstruction).ok_or_else(|| {
        let guess = closest(text, RECONSTRUCTIONS.into_iter().map(|(name, _)| name));
        let guess = guess.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("there is no reconstruction `{text}`{guess} (there are `twist`, `joint` and `corrected`)")
    })
}

/// Reads where the force of a blended model comes from.
pub fn force(text: &str) -> Result<blended::Force, String> {
    match text {
        "live" => Ok(blended::Force::Live),
        "blend" => Ok(blended::Force::Blend),
        _ => Err(format!("there is no force `{text}` (there are `live` and `blend`)")),
    }
}

/// Reads the name of a method.
pub fn method(text: &str) -> Result<reduced::Method, String> {
    match text {
        "exact" => Ok(reduced::Method::Exact),
        "incremental" => Ok(reduced::Method::Incremental),
        _ => Err(format!("there is no method `{text}` (there are `exact` and `incremental`)")),
    }
}
