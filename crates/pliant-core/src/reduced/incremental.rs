//! The incremental method of Andrews 2015.

use super::kkt::{Columns, Undetermined};
use super::reference::Reference;
use crate::spatial::Pose;

/// Fills the maps.
pub(super) fn project(
    _reference: &Reference,
    _places: &[Option<(usize, Pose)>],
    _maps: &mut Columns,
) -> Result<Vec<String>, Undetermined> {
    todo!()
}
