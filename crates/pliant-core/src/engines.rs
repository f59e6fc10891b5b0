//! The choice of an engine by its name, and what is made of all of them.
//!
//! ```
//! use pliant_core::{engine::Simulation, engines::Engine, gallery};
//!
//! let mechanism = gallery::arm();
//! for engine in Engine::ALL {
//!     let mut simulation = engine.simulate(&mechanism)?;
//!     simulation.step(0.01)?;
//!     assert_eq!("reduced".parse::<Engine>()? == engine, simulation.engine() == "reduced");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::str::FromStr;

use nalgebra::DMatrix;

use crate::contact::{ContactError, Scene, Surfaces};
use crate::engine::{Inputs, Simulation, State};
use crate::linear::{Linearisation, ReductionError};
use crate::mechanism::Mechanism;
use crate::reduced::Reduction;
use crate::spatial::Twist;
use crate::words::closest;
use crate::{articulated, blended, full, linear, reduced};

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Implicit, maximal coordinates, every freedom, loops.
    Full,
    /// Implicit, joint coordinates, every freedom.
    Articulated,
    /// A few motions of the joints, with exact energy on them.
    Reduced,
    /// One linear model of the effectors where the mechanism starts.
    Linear,
    /// Several linear models, at equilibria, blended.
    Blended,
}

/// Why an engine does not take a mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// Loops that the articulated engine has no room for.
    #[error(
        "its loops and couplings have {rows} closing rows, but the engine `articulated` supports at most {most}: use the engine `full`"
    )]
    TooManyLoops {
        /// Number of closing rows.
        rows: usize,
        /// What the engine takes.
        most: usize,
    },
    /// A mechanism that cannot be reduced.
    #[error(transparent)]
    Reduction(#[from] ReductionError),
    /// A mechanism without an equilibrium to blend.
    #[error(transparent)]
    Sample(#[from] blended::SampleError),
    /// A scene that cannot be put together.
    #[error(transparent)]
    Contact(#[from] ContactError),
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 5] =
        [Engine::Full, Engine::Articulated, Engine::Reduced, Engine::Linear, Engine::Blended];

    /// The one that model files are of.
    pub const OF_MODEL_FILES: Engine = Engine::Reduced;

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Full => "full",
            Engine::Articulated => "articulated",
            Engine::Linear => "linear",
            Engine::Reduced => "reduced",
            Engine::Blended => "blended",
        }
    }

    /// Its model of a mechanism; where things touch, of what joints hold together ([`Mechanism::take_apart`]).
    pub fn model(self, mechanism: &Mechanism, options: &Options<'_>) -> Result<Model, EngineError> {
        let Options { modes, effectors, motions, dt, touches, acts, interactive } = *options;
        Ok(match self {
            Engine::Full => Model::Full(full::Model::new(mechanism)),
            Engine::Articulated => Model::Articulated(articulated_model(mechanism)?),
            Engine::Reduced if let Some(columns) = motions => {
                Model::Reduced(reduced::Model::from_columns(mechanism, columns)?)
            }
            Engine::Reduced => {
                let mut choice = Reduction::at_rest(mechanism);
                if let Some(inputs) = acts {
                    choice = if interactive { choice } else { choice.unloaded() }.under(inputs);
                }
                choice = if effectors.is_empty() { choice } else { choice.effectors(effectors) };
                choice = match modes {
                    Some(Modes::Count(k)) => choice.modes(k),
                    Some(Modes::Auto) => choice.modes_for(dt),
                    None => choice,
                };
                Model::Reduced(choice.build()?)
            }
            Engine::Linear => {
                let mut choice = Linearisation::at_rest(mechanism);
                choice = if effectors.is_empty() { choice } else { choice.effectors(effectors) };
                choice = match modes {
                    Some(Modes::Count(k)) => choice.modes(k),
                    _ if touches => choice.modes_for_contact(dt),
                    Some(Modes::Auto) => choice.modes_for(dt),
                    None => choice,
                };
                Model::Linear(choice.build()?)
            }
            Engine::Blended if touches => {
                let mechanism = mechanism.name().to_string();
                return Err(ContactError::Untouchable { mechanism, engine: self.name() }.into());
            }
            Engine::Blended => Model::Blended(blended::Model::new(mechanism, Default::default())?),
        })
    }

    /// A simulation with the engine's default settings, without contact.
    pub fn simulate(self, mechanism: &Mechanism) -> Result<Box<dyn Simulation>, EngineError> {
        Ok(self.model(mechanism, &Options::default())?.simulate())
    }

    /// A simulation with contact, by the engine's default settings, of a mechanism in which something can touch
    /// ([`Mechanism::has_contact`]).
    ///
    /// ```
    /// use pliant_core::{engine::Simulation, engines::Engine, gallery};
    ///
    /// let grasp = gallery::hand_grasp(gallery::Grasped::Ball);
    /// let mut scene = Engine::Reduced.scene(&grasp, Default::default())?;
    /// (0..20).try_for_each(|_| scene.step(0.004))?;
    /// assert!(!scene.world().contacts().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scene(self, mechanism: &Mechanism, surfaces: Surfaces) -> Result<Scene, EngineError> {
        let apart = mechanism.take_apart();
        let options = Options { touches: true, ..Options::default() };
        let model = apart.held.as_ref().map(|held| self.model(held, &options)).transpose()?;
        let scene = Scene::of(mechanism, apart, surfaces, model.map(|model| model.simulate()))?;
        scene.check_start()?;
        Ok(scene)
    }
}

/// Length of a step where things touch, s, unless another is given.
pub const CONTACT_STEP: f64 = 1.0 / 240.0;

/// What a model is made for.
///
/// ```
/// use pliant_core::{engines::{Engine, Modes, Options}, gallery};
///
/// let arm = gallery::arm();
/// let options = Options { modes: Some(Modes::Auto), dt: 0.01, ..Options::default() };
/// let mut simulation = Engine::Linear.model(&arm, &options)?.simulate();
/// simulation.step(0.01)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// If not given, `reduced` keeps 4, and `linear` none, or those of [`Modes::Auto`] where things touch.
    pub modes: Option<Modes>,
    /// Names of effectors or bodies to use instead of all effectors of the mechanism; all if empty.
    pub effectors: &'a [String],
    /// Motions of `reduced` that were chosen before, such as those of a model file, one column each; loose bodies have no rows.
    pub motions: Option<&'a DMatrix<f64>>,
    /// Length of a step, s.
    pub dt: f64,
    /// Whether the model becomes part of a scene of contact.
    pub touches: bool,
    /// What acts, if that is known: `reduced` chooses its motions for it, and else for the scene's loads.
    pub acts: Option<&'a Inputs>,
    /// Whether other loads may follow, as from a person: `reduced` chooses its motions for the scene's loads in any case.
    pub interactive: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            modes: None,
            effectors: &[],
            motions: None,
            dt: CONTACT_STEP,
            touches: false,
            acts: None,
            interactive: false,
        }
    }
}

/// How many modes a model of `reduced` or `linear` keeps in addition to the motions of its effectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    /// So many; of `linear`, of each independent part.
    Count(usize),
    /// All that the time step can follow; of `linear` where things touch, all that an impact excites.
    Auto,
}

impl FromStr for Modes {
    type Err = String;

    fn from_str(text: &str) -> Result<Modes, String> {
        match text.parse() {
            Ok(k) => Ok(Modes::Count(k)),
            Err(_) if text == "auto" => Ok(Modes::Auto),
            Err(_) => Err("it must be a whole number, zero or above, or `auto`".into()),
        }
    }
}

/// A model of any engine.
#[derive(Clone, Debug)]
pub enum Model {
    /// Of `full`.
    Full(full::Model),
    /// Of `articulated`.
    Articulated(articulated::Model),
    /// Of `reduced`.
    Reduced(reduced::Model),
    /// Of `linear`.
    Linear(linear::Model),
    /// Of `blended`.
    Blended(blended::Model),
}

impl Model {
    /// A simulation from where the mechanism starts, or as near as the model can come.
    pub fn simulate(&self) -> Box<dyn Simulation> {
        match self {
            Model::Full(model) => model.simulate().into(),
            Model::Articulated(model) => model.simulate().into(),
            Model::Reduced(model) => model.simulate().into(),
            Model::Linear(model) => model.simulate().into(),
            Model::Blended(model) => model.simulate().into(),
        }
    }
}

/// The articulated model of a mechanism that does not have too many loops for it.
pub fn articulated_model(mechanism: &Mechanism) -> Result<articulated::Model, EngineError> {
    let (rows, most) = (articulated::closing_rows(mechanism), articulated::MOST_CLOSING_ROWS);
    if rows > most {
        return Err(EngineError::TooManyLoops { rows, most });
    }
    Ok(articulated::Model::new(mechanism))
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        if let Some(engine) = Engine::ALL.into_iter().find(|engine| engine.name() == text) {
            return Ok(engine);
        }
        let replaced = match text {
            "live" => Some("was removed: use `reduced`"),
            "motions" => Some("is called `reduced`, and the one linear model that had that name `linear`"),
            _ => None,
        };
        if let Some(what) = replaced {
            return Err(format!("the engine `{text}` {what}"));
        }
        let guess = closest(text, Engine::ALL.into_iter().map(Engine::name));
        let guess = guess.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Err(format!(
            "there is no engine `{text}`{guess} (there are `full`, `articulated`, `reduced`, `linear` and `blended`)"
        ))
    }
}

/// Where several equilibria are: how far the one that a pose leads to is from the one that the start leads to, under the same
/// inputs, over the radius, if these are two. An estimate is that of the nearest.
///
/// ```
/// use pliant_core::{engine::Simulation, engines, full, gallery};
///
/// let mut arm = full::Model::new(&gallery::arm()).simulate();
/// assert_eq!(engines::other_equilibrium(&mut arm), None); // it has one
/// ```
pub fn other_equilibrium(simulation: &mut dyn Simulation) -> Option<f64> {
    let mechanism = simulation.mechanism().clone();
    let (model, inputs) = (full::Model::new(&mechanism), simulation.inputs().clone());
    let from = |state: Option<&State>| {
        let mut full = model.simulate();
        full.inputs_mut().clone_from(&inputs);
        if let Some(state) = state {
            full.set_state(state).ok()?;
        }
        full.settle(&Default::default()).ok().filter(|found| found.converged)?;
        Some(full.state().poses.clone())
    };
    let start = from(None)?;
    let mut state = simulation.state().clone();
    state.rates.fill(0.0);
    state.twists.fill(Twist::ZERO);
    state.private.clear();
    let here = from(Some(&state))?;
    let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
    let apart = start.iter().zip(&here).map(|(a, b)| (a.position - b.position).norm() / radius);
    Some(apart.fold(0.0, f64::max)).filter(|apart| *apart > ANOTHER)
}

/// Equilibria nearer to each other than this, in radii, are one: the statics end within 1e-9 of it.
const ANOTHER: f64 = 1e-4;

// What can be shared between threads, and what can be moved to one.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn moved<T: Send>() {}
    shared::<Mechanism>();
    shared::<full::Model>();
    shared::<articulated::Model>();
    shared::<linear::Model>();
    shared::<reduced::Model>();
    shared::<blended::Model>();
    moved::<full::Simulation>();
    moved::<articulated::Simulation>();
    moved::<linear::Simulation>();
    moved::<reduced::Simulation>();
    moved::<blended::Simulation>();
    moved::<Scene>();
    moved::<crate::contact::World>();
    moved::<Box<dyn Simulation>>();
};
