//! What a user asks for: where to linearise, which effectors, by which method, with how many modes.

use super::effectors::{self, EffectorFrame};
use super::error::ReductionError;
use super::kkt::Kkt;
use super::projection::{Method, Projection, project};
use super::reference::Reference;
use super::softness::Softness;
use crate::mechanism::Mechanism;

/// How many fixed-interface modes a model keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ModeChoice {
    /// So many of each independent part.
    Count(usize),
    /// All with dt·ω < 1, dt in s.
    ForStep(f64),
}

/// How a model with a free base moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeBase {
    /// Mean axes: the same motion as the coupled floating frame, with the base uncoupled from the links.
    #[default]
    MeanAxes,
    /// Andrews 2015, §6.1: the base carries everything as one rigid body, and the links do not push back on
    /// it but through the effectors' wrenches.
    Uncoupled,
}

/// A reduction to be built.
///
/// ```
/// use pliant_core::{gallery, linear::Linearisation};
///
/// let mechanism = gallery::helix(50);
/// let model = Linearisation::at_rest(&mechanism).modes(4).build()?;
/// assert_eq!((model.rank(), model.modes()), (6, 4)); // 50 freedoms have become ten
///
/// // The slowest modes are those of the whole helix.
/// let (few, all) = (model.frequencies(), model.full_frequencies(3)?);
/// assert!(few.iter().zip(&all).all(|(few, all)| (few / all - 1.0).abs() < 0.01));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linearisation {
    pub(super) reference: Reference,
    pub(super) effectors: Option<Vec<String>>,
    /// Frames in addition to these.
    pub(super) inner: Vec<EffectorFrame>,
    pub(super) method: Method,
    pub(super) modes: ModeChoice,
    pub(super) free_base: FreeBase,
}

impl Linearisation {
    /// Where the mechanism starts (the file's pose, unless its joints say `start`), unloaded.
    pub fn at_rest(mechanism: &Mechanism) -> Linearisation {
        Linearisation::at(Reference::at_rest(mechanism))
    }

    /// At a given pose.
    pub fn at(reference: Reference) -> Linearisation {
        Linearisation {
            reference,
            effectors: None,
            inner: Vec::new(),
            method: Method::Exact,
            modes: ModeChoice::Count(0),
            free_base: FreeBase::MeanAxes,
        }
    }

    /// To these effectors or bodies instead of all effectors of the file.
    pub fn effectors<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Linearisation {
        self.effectors = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// To these frames too.
    pub(crate) fn and(mut self, inner: &[EffectorFrame]) -> Linearisation {
        self.inner = inner.to_vec();
        self
    }

    /// By this method instead of [`Method::Exact`].
    pub fn method(mut self, method: Method) -> Linearisation {
        self.method = method;
        self
    }

    /// With the k lowest fixed-interface modes of each independent part; none by default.
    pub fn modes(mut self, k: usize) -> Linearisation {
        self.modes = ModeChoice::Count(k);
        self
    }

    /// With all fixed-interface modes that steps of dt seconds can follow: dt·ω < 1.
    pub fn modes_for(mut self, dt: f64) -> Linearisation {
        self.modes = ModeChoice::ForStep(dt);
        self
    }

    /// With all fixed-interface modes that an impact in steps of dt seconds is felt to have: dt·ω < 2. What touches feels
    /// some that free motion does not show.
    pub fn modes_for_contact(self, dt: f64) -> Linearisation {
        self.modes_for(0.5 * dt)
    }

    /// With this treatment of a free base instead of [`FreeBase::MeanAxes`].
    pub fn free_base(mut self, free_base: FreeBase) -> Linearisation {
        self.free_base = free_base;
        self
    }

    /// The pose it is made at.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Compliance and maps alone, without a model that moves.
    pub fn project(&self) -> Result<Projection, ReductionError> {
        let effectors = effectors::choose(&self.reference.mechanism, self.effectors.as_deref())?;
        let softness = Softness::of_springs(&self.reference);
        let kkt = Kkt::new(&self.reference, &softness)
            .map_err(|at| super::projection::not_held(&self.reference, &effectors, at))?;
        // The incremental method is not exact under any load, and says so.
        let torques = if self.method == Method::Exact { self.reference.torques.as_slice() } else { &[] };
        project(&self.reference, &kkt, effectors, torques, self.method)
    }
}
