//! `<default>`: classes of attributes, each starting from the one it lies in.

use std::collections::HashMap;

use crate::import::context::Context;
use crate::import::xml::Element;

/// The class of elements that name none.
const MAIN: usize = 0;

/// All classes.
#[derive(Debug)]
pub(super) struct Defaults {
    classes: Vec<Class>,
    names: HashMap<String, usize>,
}

/// What one class says itself.
#[derive(Debug, Default)]
struct Class {
    parent: Option<usize>,
    /// Later ones win.
    elements: Vec<Element>,
}

impl Defaults {
    /// Of all `<default>` elements of the root.
    pub(super) fn read(root: &Element, context: &mut Context) -> Defaults {
        let mut defaults =
            Defaults { classes: vec![Class::default()], names: HashMap::from([("main".into(), MAIN)]) };
        for element in root.all("default") {
            if let Some(name) = element.value("class") {
                defaults.names.insert(name.to_string(), MAIN);
            }
            defaults.take(element, MAIN, context);
        }
        defaults
    }

    /// Recursion as deep as the file, which is bounded.
    fn take(&mut self, element: &Element, class: usize, context: &mut Context) {
        element.check_attributes(&["class"], context);
        for child in element.children.iter().filter(|child| child.name != "default") {
            let plain = Element { children: Vec::new(), ..child.clone() };
            self.classes[class].elements.push(plain);
        }
        for child in element.all("default") {
            let name = child.value("class").unwrap_or_default().to_string();
            let index = *self.names.entry(name).or_insert(self.classes.len());
            if index == self.classes.len() {
                self.classes.push(Class { parent: Some(class), elements: Vec::new() });
            }
            self.take(child, index, context);
        }
    }

    /// The class of an element: its own, else that of what it lies in, else the main one.
    fn class_of(&self, element: &Element, outer: Option<&str>, context: &mut Context) -> usize {
        let Some(name) = element.value("class").or(outer) else { return MAIN };
        match self.names.get(name) {
            Some(class) => *class,
            None => {
                let message = format!("{}: there is no default class `{name}`", element.what());
                context.error(element.place_of("class"), message, "the class of a <default>");
                MAIN
            }
        }
    }

    /// Everything that a class says of some elements, what counts most last.
    pub(super) fn of<'d>(
        &'d self,
        element: &Element,
        outer: Option<&str>,
        names: &'d [&str],
        context: &mut Context,
    ) -> Vec<&'d Element> {
        let mut chain = Vec::new();
        let mut class = Some(self.class_of(element, outer, context));
        while let Some(index) = class {
            let Class { parent, elements } = &self.classes[index];
            chain.extend(elements.iter().rev().filter(|e| names.contains(&e.name.as_str())));
            class = *parent;
        }
        chain.reverse();
        chain
    }

    /// An element with the attributes of its class next to its own; without children.
    pub(super) fn merged(&self, element: &Element, outer: Option<&str>, context: &mut Context) -> Element {
        self.merged_as(&element.name, element, outer, context)
    }

    /// The same where the class has another name for the element.
    pub(super) fn merged_as(
        &self,
        name: &str,
        element: &Element,
        outer: Option<&str>,
        context: &mut Context,
    ) -> Element {
        let mut merged = Element {
            name: element.name.clone(),
            place: element.place.clone(),
            attributes: element.attributes.clone(),
            children: Vec::new(),
            text: String::new(),
        };
        for default in self.of(element, outer, &[name], context).into_iter().rev() {
            for attribute in &default.attributes {
                if merged.attribute(&attribute.name).is_none() {
                    merged.attributes.push(attribute.clone());
                }
            }
        }
        merged
    }
}
