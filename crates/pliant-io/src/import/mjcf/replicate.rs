//! `<replicate>`: copies of what lies in it, each moved on by the same step, names numbered.
//!
//! Copy i of n becomes a `<frame>`; its names get the separator and i, with as many digits as n has.
//! What refers to a name inside (actuators, equalities) is copied with it.

use std::collections::{HashMap, HashSet};

use pliant_core::nalgebra::UnitQuaternion;
use pliant_core::spatial::Pose;

use super::compiler::Compiler;
use crate::import::context::Context;
use crate::import::xml::{Attribute, Element};

/// The most elements that copies may make.
const MOST_COPIES: usize = 20_000;

/// Names that were replaced, by the endings that their copies got.
#[derive(Debug, Default)]
pub(super) struct Copies {
    endings: HashMap<String, Endings>,
    made: usize,
}

/// Endings in the order in which they came.
#[derive(Debug, Default)]
struct Endings {
    list: Vec<String>,
    set: HashSet<String>,
}

impl Copies {
    /// Replaces every `<replicate>` below an element by frames.
    pub(super) fn expand(&mut self, element: &mut Element, compiler: &Compiler, context: &mut Context) {
        let mut expanded = Vec::with_capacity(element.children.len());
        for mut child in std::mem::take(&mut element.children) {
            self.expand(&mut child, compiler, context);
            if child.name == "replicate" {
                self.copy(&child, &mut expanded, compiler, context);
            } else {
                expanded.push(child);
            }
        }
        element.children = expanded;
    }

    fn copy(&mut self, of: &Element, into: &mut Vec<Element>, compiler: &Compiler, context: &mut Context) {
        of.check_attributes(&["count", "sep", "offset", "euler", "childclass"], context);
        let count = of.number("count", context).unwrap_or(1.0);
        let each = size(of);
        if !(count >= 0.0 && count * each as f64 + self.made as f64 <= MOST_COPIES as f64) {
            let message = format!("<replicate>: {count} copies of {each} elements are too many");
            context.error(of.place_of("count"), message, format!("at most {MOST_COPIES} elements in all"));
            return;
        }
        let count = count as usize;
        self.made += count * each;
        let offset = of.vector::<3>("offset", context).unwrap_or_default();
        let angles = of.vector::<3>("euler", context);
        let step = Pose::new(
            angles.map_or(UnitQuaternion::identity(), |angles| compiler.euler_rotation(angles)),
            offset.into(),
        );
        let separator = of.value("sep").unwrap_or_default();
        let digits = count.to_string().len();
        let mut pose = Pose::identity();
        for i in 0..count {
            let ending = format!("{separator}{i:0digits$}");
            let mut frame = Element { name: "frame".into(), ..of.clone() };
            frame.attributes.retain(|attribute| attribute.name == "childclass");
            let (p, q) = (&pose.position, pose.rotation.quaternion());
            let mut set = |name: &str, value: String| {
                frame.attributes.push(Attribute { name: name.into(), value, place: of.place.clone() });
            };
            set("pos", format!("{} {} {}", p.x, p.y, p.z));
            set("quat", format!("{} {} {} {}", q.w, q.i, q.j, q.k));
            for child in &mut frame.children {
                self.rename(child, &ending);
            }
            into.push(frame);
            pose = pose * step;
        }
    }

    fn rename(&mut self, element: &mut Element, ending: &str) {
        for attribute in element.attributes.iter_mut().filter(|a| a.name == "name") {
            let endings = self.endings.entry(attribute.value.clone()).or_default();
            if endings.set.insert(ending.to_string()) {
                endings.list.push(ending.to_string());
            }
            attribute.value.push_str(ending);
        }
        for child in &mut element.children {
            self.rename(child, ending);
        }
    }

    /// The copies of an element that refers to names; itself, if none of them was copied.
    pub(super) fn of_reference(&self, element: &Element, attributes: &[&str]) -> Vec<Element> {
        let mut copies = vec![element.clone()];
        // Once for each level of nested copies, which are few.
        for _ in 0..8 {
            let mut next = Vec::new();
            let mut any = false;
            for element in copies {
                let referred = |a: &Attribute| attributes.contains(&a.name.as_str());
                let Some(endings) = element
                    .attributes
                    .iter()
                    .filter(|a| referred(a))
                    .find_map(|a| self.endings.get(&a.value))
                else {
                    next.push(element);
                    continue;
                };
                any = true;
                for ending in endings.list.iter().take(MOST_COPIES.saturating_sub(next.len())) {
                    let mut copy = element.clone();
                    for attribute in &mut copy.attributes {
                        let copied =
                            self.endings.get(&attribute.value).is_some_and(|e| e.set.contains(ending));
                        let refers = attributes.contains(&attribute.name.as_str());
                        if attribute.name == "name" || refers && copied {
                            attribute.value.push_str(ending);
                        }
                    }
                    next.push(copy);
                }
            }
            copies = next;
            if !any || copies.len() > MOST_COPIES {
                break;
            }
        }
        copies
    }
}

fn size(element: &Element) -> usize {
    1 + element.children.iter().map(size).sum::<usize>()
}
