//! SDF to parts.
//!
//! - The zero of every joint is the file's pose.
//! - A link that is the child of two joints hangs on the first of them; the other closes a loop, as does a
//!   joint that would make a circle.
//! - The root of a file with one model is fixed to the world like that of any robot; in a `<world>`, what
//!   no joint holds is free. Links of a static model are part of the world.
//! - A gearbox couples the two joints that it refers to: θ_child = −ratio θ_parent.
//! - What only drawing, control and sensing need is left out without a warning.

mod frames;
mod include;
mod link;

use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{CouplingDescription, PerFreedom, WORLD};
use pliant_core::nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use super::context::Context;
use super::parts::{Connection, Joint, Parts};
use super::shape;
use super::xml::Element;
use frames::{Frames, Kind, Owner, end_name, says};
use include::expand;

/// Limits from here on are none: the format's default is 1e16.
const UNLIMITED: f64 = 1e15;

/// How exactly the axes of a universal joint must be square.
const SQUARE: f64 = 1e-9;

/// The attribute that keeps the version of the file that a model is from.
const VERSION: &str = "__version";

/// Reads a robot from the root element.
pub(super) fn read(root: &Element, context: &mut Context) -> Parts {
    root.check_children(&["model", "world", "include", "light", "actor"], context);
    let version = version_of(root);
    let mut worlds = root.all("world");
    let world = worlds.next();
    if let Some(second) = worlds.next() {
        context.warning(&second.place, "only the first <world> was read");
    }
    if let Some(actor) = world.unwrap_or(root).child("actor") {
        context.warning(&actor.place, "<actor> is not supported and was left out");
    }
    let scene = expand(world.unwrap_or(root), version, 0, context);
    let frames = Frames::new(&scene, context);
    let mut parts = Parts::default();
    if let Some(world) = world {
        parts.gravity = world.child("gravity").and_then(|gravity| gravity.text_vector::<3>(context));
    }
    parts.name = match (world, scene.child("model")) {
        (Some(world), _) => world.value("name").unwrap_or_default().to_string(),
        (None, Some(model)) => model.value("name").unwrap_or_default().to_string(),
        (None, None) => String::new(),
    };
    read_models(&frames, context);
    let in_world = read_links(&frames, &mut parts, context);
    read_joints(&frames, &in_world, &mut parts, context);
    let carried: HashSet<&str> = parts.connections.iter().map(|c| c.child.as_str()).collect();
    let carries: HashSet<&str> = parts.connections.iter().map(|c| c.parent.as_str()).collect();
    let roots = parts.links.iter_mut().filter(|link| !carried.contains(link.body.name.as_str()));
    for (i, link) in roots.enumerate() {
        // Files for Bullet fix a robot so: the format has no mass of zero, and without one nothing falls.
        let fixed = link.body.inertia.mass == 0.0 && carries.contains(link.body.name.as_str());
        link.body.free = world.is_some() && !fixed;
        if world.is_some() && fixed && !context.options.free_base {
            context.note(format!(
                "link `{}` has children and a mass of zero: it was fixed to the world, as in Bullet",
                link.body.name
            ));
        }
        if i == 0 && world.is_none() && !context.options.free_base {
            context.note(format!(
                "link `{}` is the root and was fixed to the world, although the format leaves it free: read it with a free base to let it fall",
                link.body.name
            ));
        }
    }
    parts
}

fn version_of(root: &Element) -> f64 {
    root.value("version").and_then(|version| version.trim().parse().ok()).unwrap_or(1.7)
}

/// Warns of what models have that is not supported.
fn read_models(frames: &Frames<'_>, context: &mut Context) {
    const KNOWN: [&str; 10] = [
        "link",
        "joint",
        "frame",
        "model",
        "pose",
        "static",
        "self_collide",
        "allow_auto_disable",
        "enable_wind",
        "gripper",
    ];
    for node in frames.nodes.iter().filter(|node| node.kind == Kind::Model) {
        node.element.check_children(&KNOWN, context);
    }
}

/// One number in a child of a name; absent, or wrong and reported, is `None`.
fn number(element: &Element, name: &str, context: &mut Context) -> Option<f64> {
    element.child(name)?.text_vector::<1>(context).map(|[x]| x)
}

/// All links; the nodes of those that are part of the world.
fn read_links(frames: &Frames<'_>, parts: &mut Parts, context: &mut Context) -> HashSet<usize> {
    let all = || (0..frames.nodes.len()).filter(|node| frames.nodes[*node].kind == Kind::Link);
    // A file with nothing but a static model is about that.
    let only_fixed = all().all(|node| frames.nodes[node].fixed);
    let mut in_world = HashSet::new();
    for node in all() {
        let mut link = link::read_link(node, frames, context);
        if !frames.nodes[node].fixed || only_fixed {
            shape::end_planes(&mut link.body.shapes, &link.place, context);
        }
        if !frames.nodes[node].fixed {
            parts.links.push(link);
        } else if only_fixed {
            let child = link.body.name.clone();
            parts.connections.push(Connection { parent: WORLD.into(), child, joints: Vec::new() });
            parts.links.push(link);
        } else {
            in_world.insert(node);
            let (pose, place) = (link.body.pose, link.place);
            let shapes = shape::of_world(link.body.shapes);
            parts
                .world_shapes
                .extend(shapes.map(|shape| (shape.clone().at(pose * shape.pose), place.clone())));
        }
    }
    in_world
}

/// A joint with its ends.
struct SdfJoint<'e> {
    element: &'e Element,
    node: usize,
    /// One, or two that follow each other.
    steps: Vec<Joint>,
    /// Names of links, or `world`.
    parent: String,
    child: String,
    /// The axis of the first step, world axes.
    axis: Vector3<f64>,
}

/// A gearbox, yet to be laid on two joints.
struct Gearbox<'e> {
    element: &'e Element,
    scope: usize,
    parent: String,
    child: String,
    axes: [Vector3<f64>; 2],
}

fn read_joints(frames: &Frames<'_>, in_world: &HashSet<usize>, parts: &mut Parts, context: &mut Context) {
    let (mut joints, mut gearboxes) = (Vec::new(), Vec::new());
    for (node, entry) in frames.nodes.iter().enumerate().filter(|(_, entry)| entry.kind == Kind::Joint) {
        if entry.fixed {
            continue;
        }
        let mut end = |which: &str| end_of(node, which, frames, in_world, context);
        let (parent, child) = (end("parent"), end("child"));
        let (Some(parent), Some(child)) = (parent, child) else { continue };
        let Some(kind) = entry.element.required("type", context) else { continue };
        if kind == "gearbox" {
            let axes = ["axis", "axis2"].map(|name| axis(node, name, frames, context));
            gearboxes.push(Gearbox { element: entry.element, scope: entry.scope, parent, child, axes });
        } else if let Some((steps, axis)) = steps_of(node, kind, frames, parts, context) {
            joints.push(SdfJoint { element: entry.element, node, steps, parent, child, axis });
        }
    }
    read_mimics(&joints, frames, parts, context);
    for gearbox in &gearboxes {
        couple(gearbox, &joints, frames, in_world, parts, context);
    }
    connect(joints, parts, context);
}

/// The link that an end of a joint means, by its name in the mechanism.
fn end_of(
    node: usize,
    which: &str,
    frames: &Frames<'_>,
    in_world: &HashSet<usize>,
    context: &mut Context,
) -> Option<String> {
    let entry = &frames.nodes[node];
    let name = &entry.name;
    let Some(end) = entry.element.child(which).filter(|end| !end_name(end).is_empty()) else {
        let help = format!("add <{which}>…</{which}>");
        context.error(&entry.element.place, format!("joint `{name}` has no {which}"), help);
        return None;
    };
    match frames.find(entry.scope, end_name(end)).and_then(|found| frames.owner(found)) {
        Some(owner) => Some(owner_name(owner, frames, in_world)),
        None => {
            let message = format!("joint `{name}`: there is no link or frame `{}`", end_name(end));
            context.error(&end.place, message, "the name of a link or frame of the same model");
            None
        }
    }
}

fn owner_name(owner: Owner, frames: &Frames<'_>, in_world: &HashSet<usize>) -> String {
    match owner {
        Owner::Link(link) if !in_world.contains(&link) => frames.nodes[link].name.clone(),
        _ => WORLD.to_string(),
    }
}

/// An axis of a joint, world axes; x, y, z are in the joint's frame unless the file says otherwise.
fn axis(node: usize, which: &str, frames: &Frames<'_>, context: &mut Context) -> Vector3<f64> {
    let entry = &frames.nodes[node];
    let Some(axis) = entry.element.child(which) else { return frames.pose(node).rotation * Vector3::z() };
    let xyz = axis.child("xyz");
    let given = xyz.and_then(|xyz| xyz.text_vector::<3>(context));
    let mut direction: Vector3<f64> = given.map_or(Vector3::z(), Vector3::from);
    if direction.amax() == 0.0 {
        let name = &entry.name;
        context.warning(&axis.place, format!("joint `{name}`: the axis has no length; z was used"));
        direction = Vector3::z();
    }
    let version =
        frames.nodes[entry.scope].element.value(VERSION).and_then(|v| v.parse().ok()).unwrap_or(1.7);
    let expressed_in =
        xyz.and_then(|xyz| xyz.attribute("expressed_in")).filter(|name| !name.value.is_empty());
    let frame = if let Some(attribute) = expressed_in {
        frames.find(entry.scope, &attribute.value).unwrap_or_else(|| {
            let message = format!("joint `{}`: there is no frame `{}`", entry.name, attribute.value);
            context.error(
                &attribute.place,
                message,
                "the name of a link, joint, frame or model of the same model",
            );
            node
        })
    } else if says(axis, "use_parent_model_frame") || version < 1.5 {
        entry.scope
    } else {
        node
    };
    frames.pose(frame).rotation * direction
}

/// The joint as one step, or two in a chain, and its axis.
fn steps_of(
    node: usize,
    kind: &str,
    frames: &Frames<'_>,
    parts: &mut Parts,
    context: &mut Context,
) -> Option<(Vec<Joint>, Vector3<f64>)> {
    const KNOWN: [&str; 12] = [
        "parent",
        "child",
        "pose",
        "axis",
        "axis2",
        "physics",
        "sensor",
        "thread_pitch",
        "screw_thread_pitch",
        "gearbox_ratio",
        "gearbox_reference_body",
        "provide_feedback",
    ];
    let entry = &frames.nodes[node];
    let (element, name, place) = (entry.element, &entry.name, entry.element.place_of("name").clone());
    element.check_children(&KNOWN, context);
    let pose = frames.pose(node);
    let first = axis(node, "axis", frames, context);
    let along = |axis: &Vector3<f64>| Pose::with_z_along(*axis, pose.position);
    let step = |name: &str, kind: JointKind, frame: Pose| {
        let default_spring = kind != JointKind::Fixed;
        let mut joint = Joint::new(name, kind, place.clone());
        joint.description.frame = frame;
        joint.default_spring = default_spring;
        joint
    };
    let mut steps = match kind {
        "revolute" | "continuous" => vec![step(name, JointKind::Hinge, along(&first))],
        "prismatic" => vec![step(name, JointKind::Prismatic, along(&first))],
        "ball" => vec![step(name, JointKind::Ball, pose)],
        "fixed" => vec![step(name, JointKind::Fixed, pose)],
        "universal" | "revolute2" => {
            let second = axis(node, "axis2", frames, context);
            let (x, y) = (first.normalize(), second.normalize());
            if x.dot(&y).abs() <= SQUARE {
                let R = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, x.cross(&y)]));
                let frame = Pose::new(UnitQuaternion::from_rotation_matrix(&R), pose.position);
                vec![step(name, JointKind::Universal, frame)]
            } else {
                let second_name = format!("{name}:2");
                vec![
                    step(name, JointKind::Hinge, along(&first)),
                    step(&second_name, JointKind::Hinge, along(&second)),
                ]
            }
        }
        "screw" => screw(
            element,
            name,
            [
                step(name, JointKind::Hinge, along(&first)),
                step(&format!("{name}:travel"), JointKind::Prismatic, along(&first)),
            ],
            parts,
            context,
        ),
        other => {
            let message = format!("joint `{name}`: there is no joint of type `{other}`");
            let help =
                "one of revolute, continuous, revolute2, universal, prismatic, ball, screw, gearbox, fixed";
            context.error(element.place_of("type"), message, help);
            return None;
        }
    };
    let unlimited = matches!(kind, "continuous" | "ball" | "fixed");
    let mut words: Vec<Held> = Vec::new();
    for axis in ["axis", "axis2"].into_iter().filter_map(|which| element.child(which)) {
        words.push(read_axis(axis, name, unlimited, context));
    }
    match &mut steps[..] {
        [one] => hold(one, &words),
        [one, two] if kind == "revolute2" || kind == "universal" => {
            hold(one, &words);
            hold(two, words.get(1..).unwrap_or_default());
        }
        // Of a screw, the turning is held.
        [one, ..] => hold(one, &words),
        [] => {}
    }
    Some((steps, first))
}

/// A hinge and a slider along one axis, coupled.
fn screw(
    element: &Element,
    name: &str,
    steps: [Joint; 2],
    parts: &mut Parts,
    context: &mut Context,
) -> Vec<Joint> {
    // Metres per turn, or as older files have it radians per metre the other way round.
    let per_turn = number(element, "screw_thread_pitch", context);
    let ratio = match (per_turn, number(element, "thread_pitch", context)) {
        (Some(pitch), _) => pitch / TAU,
        (None, Some(pitch)) if pitch != 0.0 => -1.0 / pitch,
        _ => -1.0,
    };
    if !ratio.is_finite() {
        context.error(&element.place, format!("joint `{name}`: the thread has no pitch"), "metres per turn");
    }
    let travel = steps[1].description.name.clone();
    let coupling = CouplingDescription { joint: travel, of: name.to_string(), ratio, offset: 0.0 };
    parts.couplings.push((coupling, element.place.clone()));
    steps.into()
}

/// How an axis is held.
#[derive(Clone, Copy)]
struct Held {
    stiffness: f64,
    rest: f64,
    damping: f64,
    friction: f64,
    limits: (f64, f64),
}

impl Held {
    const NONE: Held = Held {
        stiffness: 0.0,
        rest: 0.0,
        damping: 0.0,
        friction: 0.0,
        limits: (f64::NEG_INFINITY, f64::INFINITY),
    };
}

fn read_axis(axis: &Element, joint: &str, unlimited: bool, context: &mut Context) -> Held {
    axis.check_children(
        &["xyz", "dynamics", "limit", "use_parent_model_frame", "initial_position", "mimic"],
        context,
    );
    let mut held = Held::NONE;
    if number(axis, "initial_position", context).is_some_and(|position| position != 0.0) {
        context.warning_of("initial position", &axis.place, || {
            format!("joint `{joint}`: <initial_position> is not supported and was left out")
        });
    }
    if let Some(dynamics) = axis.child("dynamics") {
        dynamics.check_children(&["damping", "friction", "spring_reference", "spring_stiffness"], context);
        let mut positive = |name: &str| {
            let value = number(dynamics, name, context).unwrap_or(0.0);
            if value < 0.0 {
                let message = format!("joint `{joint}`: <{name}> is {value}; it was read as 0");
                context.warning(&dynamics.place, message);
            }
            value.max(0.0)
        };
        held.stiffness = positive("spring_stiffness");
        held.damping = positive("damping");
        held.friction = positive("friction");
        held.rest = number(dynamics, "spring_reference", context).unwrap_or(0.0);
    }
    if let Some(limit) = axis.child("limit").filter(|_| !unlimited) {
        let mut bound = |name: &str, none: f64| {
            let Some(child) = limit.child(name) else { return none };
            match child.text.trim().parse::<f64>() {
                Ok(x) if x.abs() >= UNLIMITED => none,
                Ok(x) if !x.is_nan() => x,
                _ => {
                    let text: String = child.text.chars().take(40).collect();
                    let message = format!("joint `{joint}`: `{text}` is not a limit");
                    context.error(&child.place, message, "a number, or inf");
                    none
                }
            }
        };
        held.limits = (bound("lower", f64::NEG_INFINITY), bound("upper", f64::INFINITY));
    }
    held
}

/// Puts what holds the axes on a joint.
fn hold(joint: &mut Joint, axes: &[Held]) {
    let freedoms = joint.description.kind.freedoms();
    let Some(&first) = axes.first().filter(|_| freedoms > 0) else { return };
    // A ball joint has one axis at most, which counts for all.
    let absent = Held::NONE;
    let each: Vec<Held> = match joint.description.kind {
        JointKind::Ball => vec![first; freedoms],
        _ => (0..freedoms).map(|f| axes.get(f).copied().unwrap_or(absent)).collect(),
    };
    fn list<T: PartialEq + Copy>(
        each: &[Held],
        absent: T,
        value: impl Fn(&Held) -> T,
    ) -> Option<PerFreedom<T>> {
        let values: Vec<T> = each.iter().map(value).collect();
        values.iter().any(|x| *x != absent).then_some(match values[..] {
            [x] => PerFreedom::All(x),
            _ => PerFreedom::Each(values),
        })
    }
    let description = &mut joint.description;
    description.stiffness = list(&each, 0.0, |held| held.stiffness);
    description.damping = list(&each, 0.0, |held| held.damping);
    description.friction = list(&each, 0.0, |held| held.friction);
    description.limits = list(&each, absent.limits, |held| held.limits);
    if description.stiffness.is_some() && description.kind != JointKind::Ball {
        joint.default_spring = false;
        description.rest = list(&each, 0.0, |held| held.rest);
    }
}

/// `<mimic>` of an axis (SDF 1.11): θ = multiplier (θ_of − reference) + offset.
fn read_mimics(joints: &[SdfJoint<'_>], frames: &Frames<'_>, parts: &mut Parts, context: &mut Context) {
    for SdfJoint { element, node, steps, .. } in joints {
        let mimic = ["axis", "axis2"].iter().filter_map(|which| element.child(which)?.child("mimic")).next();
        let Some(mimic) = mimic else { continue };
        let Some(of) = mimic.required("joint", context) else { continue };
        let name = &frames.nodes[*node].name;
        let leader = frames.find(frames.nodes[*node].scope, of);
        let leader = leader.and_then(|leader| joints.iter().find(|joint| joint.node == leader));
        let single = |steps: &[Joint]| steps.len() == 1 && steps[0].description.kind.freedoms() == 1;
        let Some(leader) = leader.filter(|leader| single(&leader.steps) && single(steps)) else {
            let message =
                format!("joint `{name}` cannot mimic `{of}`: only joints of one freedom can; left out");
            context.warning(mimic.place_of("joint"), message);
            continue;
        };
        let ratio = number(mimic, "multiplier", context).unwrap_or(1.0);
        let offset = number(mimic, "offset", context).unwrap_or(0.0);
        let reference = number(mimic, "reference", context).unwrap_or(0.0);
        let coupling = CouplingDescription {
            joint: name.clone(),
            of: leader.steps[0].description.name.clone(),
            ratio,
            offset: offset - ratio * reference,
        };
        parts.couplings.push((coupling, mimic.place.clone()));
    }
}

/// Lays a gearbox on the joints from its reference body to its two links. With θ_p and θ_c the angles from the
/// reference to the parent and to the child, each about its axis: θ_c = −ratio θ_p.
///
/// Whose axis is whose is not agreed on: by the specification (1.4 to 1.11) `axis` is the parent's and `axis2` the
/// child's, by what Gazebo does (and the proposal of `mimic` says) it is the other way round. Where all axes are
/// parallel both mean the same. Otherwise (bevel gears) the reading counts that lies better along the hinges.
fn couple(
    gearbox: &Gearbox<'_>,
    joints: &[SdfJoint<'_>],
    frames: &Frames<'_>,
    in_world: &HashSet<usize>,
    parts: &mut Parts,
    context: &mut Context,
) {
    let Gearbox { element, scope, parent, child, axes } = gearbox;
    let what = element.what();
    let reference = (element.child("gearbox_reference_body"))
        .and_then(|body| frames.find(*scope, &body.text))
        .and_then(|body| frames.owner(body))
        .map(|owner| owner_name(owner, frames, in_world));
    // The hinge between the reference and a link, and the direction about which its coordinate is the angle of
    // the link as seen from the reference.
    let hinge = |to: &str| {
        let reference = reference.as_deref()?;
        joints.iter().find_map(|joint| {
            let [Joint { description, .. }] = &joint.steps[..] else { return None };
            let sense = match (joint.parent == reference, joint.child == to) {
                (true, true) => 1.0,
                _ if joint.child == reference && joint.parent == to => -1.0,
                _ => return None,
            };
            (description.kind == JointKind::Hinge)
                .then(|| (description.name.clone(), joint.axis.normalize() * sense))
        })
    };
    let (Some((first, p)), Some((second, c))) = (hinge(parent), hinge(child)) else {
        context.warning_of("gearbox", &element.place, || {
            format!("{what} was left out: it needs hinges from its reference body to its two links")
        });
        return;
    };
    let [a, b] = axes.map(|axis| axis.normalize());
    let (as_written, as_done) = (a.dot(&p) * b.dot(&c), a.dot(&c) * b.dot(&p));
    let sense = if as_written.abs() > as_done.abs() { as_written } else { as_done }.signum();
    let ratio = number(element, "gearbox_ratio", context).unwrap_or(1.0);
    let coupling = CouplingDescription { joint: second, of: first, ratio: -ratio * sense, offset: 0.0 };
    parts.couplings.push((coupling, element.place.clone()));
    for axis in ["axis", "axis2"].into_iter().filter_map(|which| element.child(which)) {
        if axis.child("dynamics").is_some() || axis.child("limit").is_some() {
            context.warning_of("gearbox dynamics", &axis.place, || {
                format!(
                    "{what}: damping and limits of a gearbox were left out; its two joints have their own"
                )
            });
        }
    }
}

/// The spanning tree, in the order of the file; what is left closes loops.
fn connect(joints: Vec<SdfJoint<'_>>, parts: &mut Parts, context: &mut Context) {
    let mut trees = Trees::default();
    for Connection { parent, child, .. } in &parts.connections {
        trees.hang(child, parent);
    }
    for SdfJoint { element, mut steps, mut parent, mut child, .. } in joints {
        if parent == child {
            context.warning_of("joint on one link", &element.place, || {
                format!("{} connects `{parent}` to itself and was left out", element.what())
            });
            continue;
        }
        if child == WORLD {
            // The other way round, the axis points the other way and the coordinate keeps its sense.
            std::mem::swap(&mut parent, &mut child);
            steps.reverse();
            for Joint { description, .. } in &mut steps {
                match description.kind {
                    JointKind::Universal => {
                        context.warning_of("joint to the world", &element.place, || {
                            format!("{} has the world as its child: parent and child were swapped, and its springs and limits with them", element.what())
                        });
                    }
                    JointKind::Ball | JointKind::Fixed => {}
                    _ => description.frame = description.frame * Pose::rotation([1.0, 0.0, 0.0], TAU / 2.0),
                }
            }
        }
        if trees.hang(&child, &parent) {
            parts.connections.push(Connection { parent, child, joints: steps });
            continue;
        }
        if steps.len() > 1 {
            context.warning(
                &element.place,
                format!("{} closes a loop and was left out: only joints of one kind can", element.what()),
            );
            let names: Vec<String> = steps.iter().map(|step| step.description.name.clone()).collect();
            parts.couplings.retain(|(c, _)| !names.contains(&c.joint) && !names.contains(&c.of));
            continue;
        }
        parts.loops.extend(steps.into_iter().map(|mut step| {
            step.description.parent = parent.clone();
            step.description.child = child.clone();
            step
        }));
    }
}

/// Which link is the root of each link's tree.
#[derive(Default)]
struct Trees {
    /// Some link above each link that is carried.
    above: HashMap<String, String>,
}

impl Trees {
    fn root(&mut self, link: &str) -> String {
        let mut root = link.to_string();
        let mut passed = Vec::new();
        while let Some(above) = self.above.get(&root) {
            passed.push(std::mem::replace(&mut root, above.clone()));
        }
        // The next way is short.
        for link in passed {
            self.above.insert(link, root.clone());
        }
        root
    }

    /// Hangs a link on another, unless something carries it or it carries the other.
    fn hang(&mut self, child: &str, parent: &str) -> bool {
        let root = self.root(parent);
        let open = !self.above.contains_key(child) && root != child;
        if open {
            self.above.insert(child.to_string(), root);
        }
        open
    }
}
