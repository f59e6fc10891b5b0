//! What a user asks for: where to linearise, which effectors, by which method, with which mass.

use super::effectors;
use super::error::ReductionError;
use super::kkt::{Kkt, Softness};
use super::projection::{Method, Projection, project};
use super::reference::Reference;
use crate::mechanism::Mechanism;

/// A reduction to be built.
#[derive(Clone, Debug)]
pub struct Reduction<'m> {
    pub(super) reference: Reference<'m>,
    pub(super) effectors: Option<Vec<String>>,
    pub(super) method: Method,
}

impl<'m> Reduction<'m> {
    /// At the file's pose, unloaded.
    pub fn at_rest(mechanism: &'m Mechanism) -> Reduction<'m> {
        Reduction::at(Reference::at_rest(mechanism))
    }

    /// At a given pose.
    pub fn at(reference: Reference<'m>) -> Reduction<'m> {
        Reduction { reference, effectors: None, method: Method::Exact }
    }

    /// To these effectors or bodies instead of all effectors of the file.
    pub fn effectors<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Reduction<'m> {
        self.effectors = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// By this method instead of [`Method::Exact`].
    pub fn method(mut self, method: Method) -> Reduction<'m> {
        self.method = method;
        self
    }

    /// The pose it is made at.
    pub fn reference(&self) -> &Reference<'m> {
        &self.reference
    }

    /// Compliance and maps alone, without a model that moves.
    pub fn project(&self) -> Result<Projection, ReductionError> {
        let effectors = effectors::choose(self.reference.mechanism, self.effectors.as_deref())?;
        let softness = Softness::of_springs(&self.reference);
        let kkt = Kkt::new(&self.reference, &softness)
            .map_err(|at| super::projection::not_held(&self.reference, &effectors, at))?;
        project(&self.reference, &kkt, effectors, self.method)
    }
}
