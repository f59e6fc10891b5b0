//! Models that a file of SDF includes, put in its place.

use super::super::context::{Context, Place};
use super::super::xml::{self, Attribute, Element};
use super::{VERSION, version_of};

/// How deep models may lie in models.
const DEEPEST: usize = 32;

/// A copy with every `<include>` replaced by what it includes.
pub(super) fn expand(element: &Element, version: f64, depth: usize, context: &mut Context) -> Element {
    let mut copy = Element {
        name: element.name.clone(),
        place: element.place.clone(),
        attributes: element.attributes.clone(),
        children: Vec::with_capacity(element.children.len()),
        text: element.text.clone(),
    };
    if element.name == "model" {
        let (name, value, place) = (VERSION.into(), version.to_string(), element.place.clone());
        copy.attributes.push(Attribute { name, value, place });
    }
    for child in &element.children {
        let nested = matches!(child.name.as_str(), "model" | "include");
        if nested && depth == DEEPEST {
            let message = format!("models are nested more than {DEEPEST} deep");
            context.error(&child.place, message, "nest them less");
            continue;
        }
        match child.name.as_str() {
            "model" => copy.children.push(expand(child, version, depth + 1, context)),
            "include" => copy.children.extend(include(child, depth, context)),
            // They are not read from here.
            "world" | "plugin" | "light" | "physics" | "scene" | "gui" | "actor" => {}
            _ => copy.children.push(child.clone()),
        }
    }
    copy
}

/// The model of an `<include>`; one that cannot be found is left out with a warning.
fn include(element: &Element, depth: usize, context: &mut Context) -> Option<Element> {
    const KNOWN: [&str; 6] = ["uri", "name", "pose", "static", "placement_frame", "plugin"];
    element.check_children(&KNOWN, context);
    let Some(uri) = element.child("uri").filter(|uri| !uri.text.is_empty()) else {
        context.error(&element.place, "<include> has no <uri>", "add <uri>…</uri>");
        return None;
    };
    let file = match model_file(&uri.text, &uri.place, context) {
        Ok(file) => file,
        Err(reason) => {
            context.warning_of(format!("include: {reason}"), &uri.place, || {
                format!("the included `{}` was left out: {reason}", uri.text)
            });
            return None;
        }
    };
    let source = context.include(&file, &uri.place)?;
    let root = xml::parse(source, context)?;
    if root.name != "sdf" {
        context.error(&root.place, format!("<{}> is not SDF", root.name), "<sdf>");
        return None;
    }
    let Some(model) = root.child("model") else {
        context.warning_of("include without model", &uri.place, || {
            format!("the included `{}` has no model and was left out", uri.text)
        });
        return None;
    };
    if element.flag("merge", context) == Some(true) {
        context.warning_of("merge", element.place_of("merge"), || {
            "`merge` of an <include> is not supported: it was read as a model of its own".into()
        });
    }
    let mut model = expand(model, version_of(&root), depth + 1, context);
    let mut set = |name: &str, value: String, place: &Place| {
        model.attributes.retain(|attribute| attribute.name != name);
        model.attributes.push(Attribute { name: name.into(), value, place: place.clone() });
    };
    for word in ["name", "placement_frame"] {
        if let Some(given) = element.child(word).filter(|given| !given.text.is_empty()) {
            set(word, given.text.clone(), &given.place);
        }
    }
    for word in ["pose", "static"] {
        if let Some(given) = element.child(word) {
            model.children.retain(|child| child.name != word);
            model.children.push(given.clone());
        }
    }
    Some(model)
}

/// The file that a URI means: itself, or what the `model.config` of a folder names.
fn model_file(uri: &str, place: &Place, context: &mut Context) -> Result<String, String> {
    let missing = match context.resolve(uri, place) {
        Ok(_) => return Ok(uri.to_string()),
        Err(reason) => reason,
    };
    let folder = uri.trim_end_matches('/');
    let config = format!("{folder}/model.config");
    if context.resolve(&config, place).is_ok()
        && let Some(source) = context.include(&config, place)
        && let Some(root) = xml::parse(source, context)
    {
        // The newest version that it offers.
        let offered = root.all("sdf").max_by(|a, b| version_of(a).total_cmp(&version_of(b)));
        if let Some(file) = offered.map(|sdf| format!("{folder}/{}", sdf.text)) {
            return context.resolve(&file, place).map(|_| file);
        }
    }
    let file = format!("{folder}/model.sdf");
    context.resolve(&file, place).map(|_| file).map_err(|_| missing)
}
