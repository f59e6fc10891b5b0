//! SDF to parts.

use super::context::Context;
use super::parts::Parts;
use super::xml::Element;

/// Reads a robot from the root element.
pub(super) fn read(root: &Element, context: &mut Context) -> Parts {
    context.error(&root.place, "SDF files are not supported yet", "a URDF file");
    Parts::default()
}
