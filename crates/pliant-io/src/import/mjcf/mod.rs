//! MJCF to parts.
//!
//! | file | does |
//! |---|---|
//! | `compiler.rs` | how numbers, orientations and inertias are to be read |
//! | `defaults.rs` | classes of attributes |
//! | `replicate.rs` | copies |
//! | `bodies.rs` | the tree: bodies, frames, sites, inertias |
//! | `joints.rs`, `geoms.rs`, `assets.rs` | what bodies have |
//! | `equality.rs` | loops and couplings |
//! | `actuators.rs`, `tendons.rs`, `spring_dampers.rs` | springs that hold joints |
//! | `contact.rs` | what touches in pairs, and what does not touch |
//! | `keyframe.rs` | where joints start, and where actuators hold them |
//!
//! The mechanism's pose is MuJoCo's `qpos0`; its coordinates are MuJoCo's less `ref`. It starts in the key frame `home`, or
//! the first, if there is one. What only drawing, sensing and MuJoCo's own solver need (textures, cameras, `solref`…) is left out without a warning.

mod actuators;
mod assets;
mod bodies;
mod compiler;
mod contact;
mod defaults;
mod equality;
mod geoms;
mod joints;
mod keyframe;
mod replicate;
mod spring_dampers;
mod tendons;

use std::collections::HashSet;

use super::context::Context;
use super::parts::Parts;
use super::xml::Element;
use assets::Assets;
use bodies::Bodies;
use compiler::Compiler;
use defaults::Defaults;
use replicate::Copies;

/// Sections that are read, and those that say nothing about mechanics.
const SECTIONS: [&str; 18] = [
    "compiler",
    "option",
    "size",
    "statistic",
    "visual",
    "default",
    "extension",
    "custom",
    "asset",
    "worldbody",
    "deformable",
    "contact",
    "tendon",
    "equality",
    "actuator",
    "sensor",
    "keyframe",
    "include",
];

/// Reads a robot from the root element.
pub(super) fn read(root: &mut Element, context: &mut Context) -> Parts {
    root.splice_includes(context);
    if context.has_errors() {
        return Parts::default();
    }
    root.check_children(&SECTIONS, context);
    let compiler = Compiler::read(root, context);
    let mut copies = Copies::default();
    for world in root.children.iter_mut().filter(|child| child.name == "worldbody") {
        copies.expand(world, &compiler, context);
    }
    let root = &*root;
    let defaults = Defaults::read(root, context);
    let assets = Assets::read(root, &compiler, &defaults, context);
    let touches = !root.all("option").flat_map(|option| option.all("flag")).any(is_contact_off);
    let paired = if touches { contact::paired(root, &copies) } else { HashSet::new() };
    let mut bodies = Bodies::read(root, &compiler, &defaults, assets, (touches, paired), context);
    let gravity = options(root, context);
    let home = keyframe::home(root, context);
    let seats = keyframe::seats(&bodies);
    spring_dampers::apply(&mut bodies);
    let tendons = tendons::read(root, &bodies, context);
    equality::read(root, &mut bodies, &copies, &tendons, context);
    let controls = home.as_ref().and_then(|key| key.element.numbers("ctrl", context));
    let controls = home.as_ref().zip(controls.as_deref()).map(|(key, list)| (key.what.as_str(), list));
    if let Some(key) = &home {
        keyframe::start(key, &seats, &mut bodies, context);
    }
    tendons::act(&tendons, &mut bodies, context);
    actuators::read(root, &mut bodies, &copies, &tendons, controls, context);
    if touches {
        contact::read(root, &mut bodies, &copies, context);
    }
    for section in ["extension", "deformable", "sensor"] {
        for element in root.all(section).flat_map(|section| &section.children) {
            match section {
                "sensor" => context.warning_of("sensors", &element.place, || "sensors were left out".into()),
                _ => left_out(element, context),
            }
        }
    }
    let mut parts = bodies.parts;
    parts.name = root.value("model").unwrap_or_default().to_string();
    parts.gravity = gravity;
    parts
}

/// Warns once that a kind of element is not supported.
fn left_out(element: &Element, context: &mut Context) {
    context.warning_of(format!("<{}>", element.name), &element.place, || {
        format!("<{}> is not supported and was left out", element.name)
    });
}

/// Whether a flag lets nothing touch.
fn is_contact_off(flag: &Element) -> bool {
    flag.value("contact").map(str::trim) == Some("disable")
}

/// Gravity; what else acts on bodies is a warning.
fn options(root: &Element, context: &mut Context) -> Option<[f64; 3]> {
    let mut gravity = None;
    for option in root.all("option") {
        gravity = option.vector("gravity", context).or(gravity);
        for name in ["density", "viscosity", "wind"] {
            let Some(values) = option.numbers(name, context) else { continue };
            if values.iter().any(|x| *x != 0.0) {
                context.warning_of(format!("option {name}"), option.place_of(name), || {
                    format!("<option>: `{name}` is not supported and was left out")
                });
            }
        }
        for flag in option.all("flag") {
            for attribute in flag.attributes.iter().filter(|a| a.value.trim() == "disable") {
                match attribute.name.as_str() {
                    "gravity" => gravity = Some([0.0; 3]),
                    "limit" | "spring" | "damper" | "equality" | "constraint" | "actuation" => {
                        let name = &attribute.name;
                        context.warning_of(format!("flag {name}"), &attribute.place, || {
                            format!("<flag>: `{name}` stays enabled")
                        });
                    }
                    _ => {}
                }
            }
        }
    }
    gravity
}
