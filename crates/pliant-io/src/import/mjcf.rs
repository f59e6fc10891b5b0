//! MJCF to parts.

use super::context::Context;
use super::parts::Parts;
use super::xml::Element;

/// Reads a robot from the root element.
pub(super) fn read(root: &mut Element, context: &mut Context) -> Parts {
    root.splice_includes(context);
    if context.has_errors() {
        return Parts::default();
    }
    context.error(&root.place, "MJCF files are not supported yet", "a URDF file");
    Parts::default()
}
