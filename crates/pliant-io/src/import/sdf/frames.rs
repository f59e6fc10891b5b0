//! Frames of SDF: every model, link, joint and frame has a pose in some other frame, found by name in the
//! model that it is written in; what is in a model within is `model::name`.

use std::collections::HashMap;

use pliant_core::mechanism::WORLD;
use pliant_core::nalgebra::{Quaternion, UnitQuaternion};
use pliant_core::spatial::Pose;

use super::super::context::Context;
use super::super::xml::Element;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    World,
    Model,
    Link,
    Joint,
    Frame,
}

/// Something that has a pose.
pub(super) struct Node<'e> {
    pub(super) kind: Kind,
    pub(super) element: &'e Element,
    /// The model, or the world, that it is written in.
    pub(super) scope: usize,
    /// Its name in the mechanism.
    pub(super) name: String,
    /// Whether the model does not move.
    pub(super) fixed: bool,
}

/// What a frame sits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    World,
    /// By its node.
    Link(usize),
}

/// All of them; the world is the first.
pub(super) struct Frames<'e> {
    pub(super) nodes: Vec<Node<'e>>,
    names: HashMap<(usize, &'e str), usize>,
    /// The pose of each in its scope.
    local: Vec<Option<Pose>>,
}

const WORLD_NODE: usize = 0;

impl<'e> Frames<'e> {
    /// Collects what is in a world, or in a file without one, and finds all poses.
    pub(super) fn new(world: &'e Element, context: &mut Context) -> Frames<'e> {
        let node = Node { kind: Kind::World, element: world, scope: 0, name: WORLD.into(), fixed: true };
        let mut frames = Frames { nodes: vec![node], names: HashMap::new(), local: Vec::new() };
        let alone = world.all("model").count() == 1;
        let mut models = frames.collect(WORLD_NODE, "", alone, context);
        models.reverse();
        while let Some((model, prefix)) = models.pop() {
            models.extend(frames.collect(model, &prefix, false, context).into_iter().rev());
        }
        frames.resolve(context);
        frames
    }

    /// What is directly in a scope; the models among it, with the prefix of what is in them.
    fn collect(
        &mut self,
        scope: usize,
        prefix: &str,
        alone: bool,
        context: &mut Context,
    ) -> Vec<(usize, String)> {
        let mut models: Vec<(usize, String)> = Vec::new();
        let (element, fixed) = (self.nodes[scope].element, self.nodes[scope].fixed && scope != WORLD_NODE);
        for child in &element.children {
            let kind = match child.name.as_str() {
                "model" => Kind::Model,
                "link" => Kind::Link,
                "joint" => Kind::Joint,
                "frame" => Kind::Frame,
                _ => continue,
            };
            let Some(name) = child.value("name") else {
                let message = format!("a <{}> has no name", child.name);
                context.error(&child.place, message, "add name=\"…\"");
                continue;
            };
            let index = self.nodes.len();
            let mut full = format!("{prefix}{name}");
            let fixed = fixed
                || match kind {
                    Kind::Model => says(child, "static"),
                    // Older files write the world down as a link without mass.
                    Kind::Link => name == WORLD && child.child("inertial").is_none(),
                    _ => false,
                };
            if kind == Kind::Link && full == WORLD && !fixed {
                full = "world_link".into();
                let message = "`world` is the name of the fixed world: the link was renamed `world_link`";
                context.warning(child.place_of("name"), message);
            }
            if kind == Kind::Model && self.names.contains_key(&(scope, name)) {
                let taken =
                    |full: &str| models.iter().any(|(_, prefix)| prefix.strip_suffix("::") == Some(full));
                full = (2..).map(|i| format!("{full}_{i}")).find(|full| !taken(full)).unwrap_or(full);
                let message = format!("there is already a model `{name}`: this one was renamed `{full}`");
                context.warning(child.place_of("name"), message);
            }
            if kind == Kind::Model {
                models.push((index, if alone { String::new() } else { format!("{full}::") }));
            }
            self.nodes.push(Node { kind, element: child, scope, name: full, fixed });
            self.names.entry((scope, name)).or_insert(index);
        }
        models
    }

    /// What a name means in a scope.
    pub(super) fn find(&self, scope: usize, path: &str) -> Option<usize> {
        let mut at = scope;
        for (i, word) in path.split("::").enumerate() {
            at = match word {
                "__model__" => at,
                WORLD if i == 0 => self.names.get(&(scope, WORLD)).copied().unwrap_or(WORLD_NODE),
                word => *self.names.get(&(at, word))?,
            };
        }
        Some(at)
    }

    /// A node's pose in the world.
    pub(super) fn pose(&self, node: usize) -> Pose {
        self.pose_below(node, WORLD_NODE).unwrap_or_else(Pose::identity)
    }

    /// The pose of a node in one of the scopes that it is in.
    fn pose_below(&self, mut node: usize, scope: usize) -> Option<Pose> {
        let mut pose = Pose::identity();
        while node != scope {
            if node == WORLD_NODE {
                return None;
            }
            pose = self.local[node].unwrap_or_else(Pose::identity) * pose;
            node = self.nodes[node].scope;
        }
        Some(pose)
    }

    /// The nodes from one up to a scope; up to the world, if that is no scope of it.
    fn above(&self, mut node: usize, scope: usize) -> Vec<usize> {
        let mut list = Vec::new();
        while node != scope && node != WORLD_NODE {
            list.push(node);
            node = self.nodes[node].scope;
        }
        list
    }

    /// The node whose frame a node's pose is given in.
    fn base(&self, node: usize, context: &mut Context) -> usize {
        let Node { kind, element, scope, .. } = self.nodes[node];
        let by_pose = element.child("pose").and_then(|pose| {
            let given = pose.attribute("relative_to").or_else(|| pose.attribute("frame"));
            given.map(|attribute| (attribute.value.trim(), &attribute.place))
        });
        let by_kind = match kind {
            Kind::Joint => element.child("child").map(|child| (end_name(child), &child.place)),
            Kind::Frame => element.attribute("attached_to").map(|a| (a.value.trim(), &a.place)),
            _ => None,
        };
        let given = |entry: &(&str, _)| !entry.0.is_empty();
        let Some((name, place)) = by_pose.filter(given).or(by_kind.filter(given)) else { return scope };
        self.find(scope, name).unwrap_or_else(|| {
            let message = format!("{}: there is no frame `{name}`", element.what());
            context.error(place, message, "the name of a link, joint, frame or model of the same model");
            scope
        })
    }

    /// What must be known before a node's pose can be.
    fn needs(&self, node: usize, base: usize) -> Vec<usize> {
        let scope = self.nodes[node].scope;
        let mut list = self.above(base, scope);
        if self.pose_is_outside(base, scope) {
            list.extend(self.above(scope, WORLD_NODE));
        }
        if let Some(placed) = self.placement(node) {
            list.extend(self.above(placed, node));
        }
        list
    }

    fn pose_is_outside(&self, mut node: usize, scope: usize) -> bool {
        while node != scope {
            if node == WORLD_NODE {
                return true;
            }
            node = self.nodes[node].scope;
        }
        false
    }

    /// The frame of a model that its pose is that of, if it is not the model's own.
    fn placement(&self, node: usize) -> Option<usize> {
        let name = self.nodes[node].element.value("placement_frame").filter(|name| !name.is_empty())?;
        self.find(node, name).filter(|_| self.nodes[node].kind == Kind::Model)
    }

    /// All poses; those that depend on themselves are reported.
    fn resolve(&mut self, context: &mut Context) {
        let count = self.nodes.len();
        let bases: Vec<usize> =
            (0..count).map(|node| if node == 0 { 0 } else { self.base(node, context) }).collect();
        self.local = vec![None; count];
        self.local[WORLD_NODE] = Some(Pose::identity());
        let mut waits = vec![false; count];
        for first in 1..count {
            let mut stack = vec![first];
            while let Some(&node) = stack.last() {
                if self.local[node].is_some() {
                    stack.pop();
                    continue;
                }
                waits[node] = true;
                let needs = self.needs(node, bases[node]);
                let is_missing = |need: &&usize| self.local[**need].is_none();
                if let Some(&next) = needs.iter().filter(is_missing).find(|need| !waits[**need]) {
                    stack.push(next);
                } else if needs.iter().any(|need| is_missing(&need)) {
                    // What is waited for waits itself.
                    let element = self.nodes[node].element;
                    let message = format!("{}: its pose depends on itself", element.what());
                    context.error(&element.place, message, "a pose in a frame that does not depend on it");
                    self.local[node] = Some(Pose::identity());
                } else {
                    self.local[node] = Some(self.compute(node, bases[node], context));
                }
            }
        }
    }

    fn compute(&self, node: usize, base: usize, context: &mut Context) -> Pose {
        let Node { element, scope, .. } = self.nodes[node];
        let base = match self.pose_below(base, scope) {
            Some(pose) => pose,
            None => self.pose(scope).inverse_times(&self.pose(base)),
        };
        let pose = base * element.child("pose").map_or_else(Pose::identity, |pose| read_pose(pose, context));
        match self.placement(node).and_then(|placed| self.pose_below(placed, node)) {
            Some(placed) => pose * placed.inverse(),
            None => pose,
        }
    }

    /// The link that a node sits on: a frame's by what it is attached to, a model's by its first link.
    pub(super) fn owner(&self, mut node: usize) -> Option<Owner> {
        for _ in 0..=self.nodes.len() {
            let Node { kind, element, scope, .. } = self.nodes[node];
            node = match kind {
                Kind::World => return Some(Owner::World),
                Kind::Link => return Some(Owner::Link(node)),
                Kind::Joint => self.find(scope, end_name(element.child("child")?))?,
                Kind::Frame => match element.value("attached_to").filter(|name| !name.is_empty()) {
                    Some(name) => self.find(scope, name)?,
                    None => scope,
                },
                Kind::Model => match element.value("canonical_link").filter(|name| !name.is_empty()) {
                    Some(name) => self.find(node, name)?,
                    None => {
                        let first = element.child("link").or_else(|| element.child("model"))?;
                        self.find(node, first.value("name")?)?
                    }
                },
            };
        }
        None
    }
}

/// What an end of a joint names: the text, or as older files have it an attribute.
pub(super) fn end_name(end: &Element) -> &str {
    if end.text.is_empty() { end.value("link").unwrap_or("").trim() } else { &end.text }
}

/// Whether a child of a name says yes.
pub(super) fn says(element: &Element, name: &str) -> bool {
    element.child(name).is_some_and(|child| matches!(child.text.as_str(), "1" | "true" | "True" | "TRUE"))
}

/// `x y z roll pitch yaw`, or with a quaternion x y z w.
pub(super) fn read_pose(element: &Element, context: &mut Context) -> Pose {
    element.check_attributes(&["relative_to", "frame", "degrees", "rotation_format"], context);
    if element.text.is_empty() {
        return Pose::identity();
    }
    if element.value("rotation_format") == Some("quat_xyzw") {
        let Some([x, y, z, qx, qy, qz, qw]) = element.text_vector::<7>(context) else {
            return Pose::identity();
        };
        let q = Quaternion::new(qw, qx, qy, qz);
        let norm = q.norm();
        if !(norm.is_finite() && norm > 1e-150) {
            context.error(
                &element.place,
                "the quaternion of a <pose> has no direction",
                "x y z w, not all zero",
            );
            return Pose::identity();
        }
        return Pose::new(UnitQuaternion::new_normalize(q), [x, y, z].into());
    }
    let Some([x, y, z, roll, pitch, yaw]) = element.text_vector::<6>(context) else {
        return Pose::identity();
    };
    let degrees = matches!(element.value("degrees"), Some("1" | "true" | "True"));
    let [roll, pitch, yaw] = [roll, pitch, yaw].map(|angle| if degrees { angle.to_radians() } else { angle });
    Pose::new(UnitQuaternion::from_euler_angles(roll, pitch, yaw), [x, y, z].into())
}
