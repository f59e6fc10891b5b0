//! `<keyframe>`: the key frame `home`, or else the first, says where the robot starts, and its controls where position actuators hold
//! their joints. The file's own pose (`qpos0`) stays the zero of all coordinates; a free body that starts elsewhere
//! is put there with all that it carries.

use std::collections::HashMap;

use pliant_core::joints::JointKind;
use pliant_core::mechanism::PerFreedom;
use pliant_core::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use super::bodies::Bodies;
use crate::import::context::Context;
use crate::import::xml::Element;

/// The key frame in which the robot starts, and its name in messages.
pub(super) struct Key<'r> {
    pub(super) element: &'r Element,
    pub(super) what: String,
}

/// The key frame `home`, or the first.
pub(super) fn home<'r>(root: &'r Element, context: &mut Context) -> Option<Key<'r>> {
    let keys: Vec<&Element> = root.all("keyframe").flat_map(|section| section.all("key")).collect();
    let home = keys.iter().find(|key| key.value("name") == Some("home"));
    let element = *home.or(keys.first())?;
    let what = match element.value("name") {
        Some(name) => format!("the key frame `{name}`"),
        None => "the first key frame".into(),
    };
    for name in ["qvel", "act", "mpos", "mquat"] {
        let Some(values) = element.numbers(name, context) else { continue };
        if values.iter().any(|x| *x != 0.0) {
            let message = format!("`{name}` of {what} was left out: all start at rest");
            context.warning(element.place_of(name), message);
        }
    }
    Some(Key { element, what })
}

/// What numbers of `qpos` belong to.
pub(super) enum Seat {
    /// Position and quaternion of a free body, by its place among the links.
    Free(usize),
    /// A joint of a connection, by its place in that, its `ref`, and how many numbers it has.
    Joint(usize, usize, f64, usize),
}

/// Who sits where in `qpos`: body by body in the order of the file. To be asked before equalities are read, which may
/// take joints away.
pub(super) fn seats(bodies: &Bodies<'_>) -> Vec<Seat> {
    let references: HashMap<(usize, usize), f64> = bodies
        .joints
        .values()
        .map(|&(connection, position, reference)| ((connection, position), reference))
        .collect();
    let mut carried = vec![None; bodies.parts.links.len()];
    for (c, connection) in bodies.parts.connections.iter().enumerate() {
        if let Some(child) = bodies.link(&connection.child) {
            carried[child] = Some(c);
        }
    }
    let mut seats = Vec::new();
    for (i, link) in bodies.parts.links.iter().enumerate() {
        if link.body.free {
            seats.push(Seat::Free(i));
        } else if let Some(c) = carried[i] {
            let joints = bodies.parts.connections[c].joints.iter().enumerate();
            let reference = |j: usize| references.get(&(c, j)).copied().unwrap_or(0.0);
            seats.extend(joints.filter_map(|(j, joint)| match joint.description.kind {
                JointKind::Fixed => None,
                JointKind::Ball => Some(Seat::Joint(c, j, reference(j), 4)),
                _ => Some(Seat::Joint(c, j, reference(j), 1)),
            }));
        }
    }
    seats
}

/// Lets joints and free bodies start where the key frame has them.
pub(super) fn start(key: &Key<'_>, seats: &[Seat], bodies: &mut Bodies<'_>, context: &mut Context) {
    let Key { element, what } = key;
    let Some(qpos) = element.numbers("qpos", context) else { return };
    let size = |seat: &Seat| match *seat {
        Seat::Free(_) => 7,
        Seat::Joint(.., size) => size,
    };
    let count: usize = seats.iter().map(size).sum();
    if qpos.len() != count {
        let message = format!(
            "{what} has {} numbers in `qpos`, but the joints have {count}: it was left out",
            qpos.len()
        );
        context.warning(key.element.place_of("qpos"), message);
        return;
    }
    let mut rest = &qpos[..];
    let mut moved = false;
    for seat in seats {
        let (own, others) = rest.split_at(size(seat));
        rest = others;
        match *seat {
            Seat::Free(i) => {
                let at = Pose::new(turn(&own[3..]), Vector3::new(own[0], own[1], own[2]));
                moved |= put(i, at, key, bodies, context);
            }
            Seat::Joint(c, j, reference, _) => {
                let joint = &mut bodies.parts.connections[c].joints[j].description;
                let start = match joint.kind {
                    JointKind::Fixed => continue,
                    JointKind::Ball => turn(own).scaled_axis().iter().copied().collect(),
                    _ => vec![own[0] - reference],
                };
                if start.iter().any(|x| *x != 0.0) {
                    moved = true;
                    joint.start = Some(match start[..] {
                        [x] => PerFreedom::All(x),
                        _ => PerFreedom::Each(start),
                    });
                }
            }
        }
    }
    bodies.parts.in_key_frame = true;
    if moved {
        let line = context.line(&element.place);
        context.note(format!("{line}: the robot starts in {what}"));
    }
}

/// The rotation of a quaternion w, x, y, z of any length; of none, no rotation.
fn turn(q: &[f64]) -> UnitQuaternion<f64> {
    let q = Quaternion::new(q[0], q[1], q[2], q[3]);
    if q.norm() > 0.0 { UnitQuaternion::new_normalize(q) } else { UnitQuaternion::identity() }
}

/// Moves a free body to a place, with all that it carries; whether it was moved.
fn put(root: usize, at: Pose, key: &Key<'_>, bodies: &mut Bodies<'_>, context: &mut Context) -> bool {
    let from = bodies.parts.links[root].body.pose;
    if from == at {
        return false;
    }
    let mut carried = vec![false; bodies.parts.links.len()];
    for (i, parent) in bodies.parents().into_iter().enumerate() {
        carried[i] = i == root || parent.is_some_and(|p| carried[p]);
    }
    let here = |name: &str| bodies.link(name).is_some_and(|i| carried[i]);
    let tied = |parent: &str, child: &str| here(parent) != here(child);
    let name = &bodies.parts.links[root].body.name;
    let loops = bodies.parts.loops.iter().map(|joint| &joint.description);
    if !bodies.parts.links[root].body.free || loops.clone().any(|d| tied(&d.parent, &d.child)) {
        let message = format!(
            "body `{name}` does not start in {}: an equality couples it to a body that does not move there",
            key.what
        );
        context.warning(key.element.place_of("qpos"), message);
        return false;
    }
    let motion = at * from.inverse();
    let own: Vec<bool> = loops.map(|d| here(&d.child)).collect();
    let below: Vec<bool> = bodies.parts.connections.iter().map(|c| here(&c.child)).collect();
    for (link, _) in bodies.parts.links.iter_mut().zip(carried).filter(|(_, carried)| *carried) {
        link.body.pose = motion * link.body.pose;
    }
    bodies.parts.links[root].body.pose = at;
    for (connection, _) in bodies.parts.connections.iter_mut().zip(below).filter(|(_, below)| *below) {
        for joint in &mut connection.joints {
            joint.description.frame = motion * joint.description.frame;
        }
    }
    for (joint, _) in bodies.parts.loops.iter_mut().zip(own).filter(|(_, own)| *own) {
        joint.description.frame = motion * joint.description.frame;
    }
    true
}
