//! `<contact>`: `exclude` names two bodies that do not touch, `pair` two geoms that do, whatever their bits say. Here bodies
//! pass through each other or do not: a geom that touches by pairs alone is taken where no other of its body
//! touches; its body then passes through all but the bodies of its partners. Other pairs are left out.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::bodies::{Bodies, Touches};
use super::replicate::Copies;
use crate::import::context::Context;
use crate::import::xml::Element;

/// What a pair says.
const PAIR: [&str; 11] = [
    "name",
    "class",
    "geom1",
    "geom2",
    "condim",
    "friction",
    "solref",
    "solimp",
    "solreffriction",
    "margin",
    "gap",
];

/// Of each body whose geoms touch by pairs alone (`None` is the world), its partners with their geoms.
type Partners = BTreeMap<Option<usize>, BTreeMap<Option<usize>, BTreeSet<String>>>;

/// The names of all geoms that pairs name.
pub(super) fn paired(root: &Element, copies: &Copies) -> HashSet<String> {
    let pairs = root.all("contact").flat_map(|section| section.all("pair"));
    let pairs = pairs.flat_map(|pair| copies.of_reference(pair, &["geom1", "geom2"]));
    pairs
        .flat_map(|pair| ["geom1", "geom2"].map(|side| pair.value(side).map(str::to_string)))
        .flatten()
        .collect()
}

/// Reads all `<contact>` elements.
pub(super) fn read(root: &Element, bodies: &mut Bodies<'_>, copies: &Copies, context: &mut Context) {
    let by_pairs = bodies.geoms.values().filter(|geom| geom.what == Touches::Pairs);
    let mut partners: Partners = by_pairs.map(|geom| (geom.body, BTreeMap::new())).collect();
    for element in root.all("contact").flat_map(|section| &section.children) {
        match element.name.as_str() {
            "exclude" => {
                element.check_attributes(&["name", "class", "body1", "body2"], context);
                for element in copies.of_reference(element, &["body1", "body2"]) {
                    let side = |name: &str, context: &mut Context| {
                        let body = element.required(name, context)?;
                        bodies.find(body, element.place_of(name), context)
                    };
                    let (one, two) = (side("body1", context), side("body2", context));
                    if let (Some(one), Some(two)) = (one, two) {
                        pass(bodies, one, two);
                    }
                }
            }
            "pair" => {
                element.check_attributes(&PAIR, context);
                for element in copies.of_reference(element, &["geom1", "geom2"]) {
                    pair(&element, bodies, &mut partners, context);
                }
            }
            _ => super::left_out(element, context),
        }
    }
    for (&body, of) in &partners {
        let all = (0..bodies.parts.links.len()).map(Some).chain([None]);
        for other in all.filter(|other| *other != body && !of.contains_key(other)) {
            pass(bodies, body, other);
        }
        for (&other, geoms) in of.iter().filter(|(other, _)| !partners.contains_key(other)) {
            let shapes = match other {
                Some(i) => bodies.parts.links[i].body.shapes.iter().filter(|shape| shape.touches).count(),
                None => bodies.parts.world_shapes.iter().filter(|(shape, _)| shape.touches).count(),
            };
            if shapes > geoms.len()
                && let Some(i) = body.or(other)
            {
                let (name, whose) = (bodies.name(body), bodies.name(other));
                context.warning_of("pair of bodies", &bodies.parts.links[i].place.clone(), || {
                    format!(
                        "body `{name}`: a <pair> names geoms of `{whose}`, and here the pair applies to all of them"
                    )
                });
            }
        }
    }
}

/// Notes the sides of a pair, if one touches by pairs alone.
fn pair(element: &Element, bodies: &Bodies<'_>, partners: &mut Partners, context: &mut Context) {
    let mut side = |name: &str| {
        let geom = element.required(name, context)?.to_string();
        let found = bodies.geoms.get(&geom).copied();
        if found.is_none() {
            context.error(element.place_of(name), format!("there is no geom `{geom}`"), "the name of a geom");
        }
        Some((geom, found?))
    };
    let (Some((first, one)), Some((second, two))) = (side("geom1"), side("geom2")) else { return };
    let whats = [one.what, two.what];
    if !whats.contains(&Touches::Pairs) || whats.contains(&Touches::Nothing) || one.body == two.body {
        super::left_out(element, context);
        return;
    }
    if element.attribute("friction").is_some() {
        context.warning_of("pair friction", element.place_of("friction"), || {
            "<pair>: `friction` is not supported: that of its geoms is used".into()
        });
    }
    for (body, other, geom) in [(one.body, two.body, second), (two.body, one.body, first)] {
        if let Some(of) = partners.get_mut(&body) {
            of.entry(other).or_default().insert(geom);
        }
    }
}

/// Lets two bodies pass through each other; `None` is the world.
fn pass(bodies: &mut Bodies<'_>, one: Option<usize>, two: Option<usize>) {
    // The later one says it.
    let (Some(later), other) = (one.max(two), one.min(two)) else { return };
    let other = bodies.name(other);
    let passes = &mut bodies.parts.links[later].body.passes;
    if !passes.contains(&other) {
        passes.push(other);
    }
}
