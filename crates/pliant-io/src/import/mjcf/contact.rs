//! `<contact>`: `exclude` names two bodies that do not touch. Which geoms touch at all is theirs to say; a `pair` that has
//! contact for itself is left out.

use pliant_core::mechanism::WORLD;

use super::bodies::Bodies;
use super::replicate::Copies;
use crate::import::context::Context;
use crate::import::xml::Element;

/// Reads all `<contact>` elements.
pub(super) fn read(root: &Element, bodies: &mut Bodies<'_>, copies: &Copies, context: &mut Context) {
    for element in root.all("contact").flat_map(|section| &section.children) {
        if element.name != "exclude" {
            super::left_out(element, context);
            continue;
        }
        element.check_attributes(&["name", "class", "body1", "body2"], context);
        for element in copies.of_reference(element, &["body1", "body2"]) {
            let side = |name: &str, context: &mut Context| {
                let body = element.required(name, context)?;
                bodies.find(body, element.place_of(name), context)
            };
            let (one, two) = (side("body1", context), side("body2", context));
            let (Some(one), Some(two)) = (one, two) else { continue };
            // The later one says it.
            let (Some(later), other) = (one.max(two), one.min(two)) else { continue };
            let other = other.map_or(WORLD.to_string(), |i| bodies.parts.links[i].body.name.clone());
            let passes = &mut bodies.parts.links[later].body.passes;
            if !passes.contains(&other) {
                passes.push(other);
            }
        }
    }
}
