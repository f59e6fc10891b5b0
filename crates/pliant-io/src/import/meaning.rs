//! What the parts of a robot file mean, the same for every format.
//!
//! - A root is fixed to the world, or free if the user says so.
//! - Several joints of one link become one joint of the right kind where they are exactly that, else a
//!   chain with links in between.
//! - Where the file has springs of its own, joints without one are passive; where it has none, all get one
//!   (see [`Draft`]).
//! - Swapped limits are swapped back, impossible inertias are repaired, each with a warning.
//! - A massless link that carries nothing heavy is welded to its parent. One between two joints takes a
//!   small share of what it carries, since nothing can be simulated without mass; the total stays.
//! - Loop joints point from earlier to later links, so that no circle of parents comes about.

use std::collections::{HashMap, HashSet};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{CouplingDescription, JointDescription, PerFreedom, WORLD};
use pliant_core::spatial::Pose;

use super::chain::chain;
use super::context::{Context, Place};
use super::draft::Draft;
use super::mass::{give_mass, give_shapes_mass, repair_inertia};
use super::parts::{self, Connection, Joint, Link, Parts};

/// Gives the parts their meaning.
pub(crate) fn draft(parts: Parts, context: &mut Context) -> Draft {
    let Parts {
        name,
        gravity,
        mut links,
        mut connections,
        mut loops,
        couplings,
        effectors,
        loads,
        world_shapes,
        in_key_frame,
    } = parts;
    for link in &mut links {
        repair_inertia(link, context);
    }
    let moves = |joint: &Joint| joint.description.kind != JointKind::Fixed;
    if connections.iter().flat_map(|connection| &connection.joints).any(moves) {
        give_shapes_mass(&mut links, context);
    }
    hold_roots(&mut links, &mut connections, context);
    let coupled: HashSet<&str> =
        couplings.iter().flat_map(|(c, _)| [c.joint.as_str(), c.of.as_str()]).collect();
    let mut names: HashSet<String> = connections
        .iter()
        .flat_map(|c| &c.joints)
        .chain(&loops)
        .map(|j| j.description.name.clone())
        .collect();
    let mut joints = Vec::new();
    let index = parts::index(&links);
    for connection in connections {
        chain(connection, &coupled, &index, &mut links, &mut joints, &mut names);
    }
    for joint in joints.iter_mut().chain(&mut loops) {
        order_limits(joint, context);
    }
    if joints.iter().chain(&loops).any(|joint| is_sprung(&joint.description)) {
        joints.iter_mut().chain(&mut loops).for_each(|joint| joint.default_spring = false);
    }
    let tree = Tree::new(&links, &joints);
    give_mass(&tree, &mut links, &mut joints, context);
    let mut couplings = couplings;
    drop_stuck_couplings(&mut couplings, &joints, context);
    loops.iter_mut().for_each(|joint| orient(joint, &tree, context));
    joints.append(&mut loops);
    let targets = Vec::new();
    Draft { name, gravity, links, joints, couplings, effectors, loads, world_shapes, targets, in_key_frame }
}

fn is_sprung(description: &JointDescription) -> bool {
    match &description.stiffness {
        None => false,
        Some(PerFreedom::All(k)) => *k > 0.0,
        Some(PerFreedom::Each(list)) => list.iter().any(|k| *k > 0.0),
    }
}

/// Roots are fixed to the world, or free.
fn hold_roots(links: &mut [Link], connections: &mut Vec<Connection>, context: &mut Context) {
    let free_base = context.options.free_base;
    if free_base {
        // What the file welds to the world is let go too.
        let welded: HashSet<String> = (connections.iter())
            .filter(|c| c.parent == WORLD && c.joints.iter().all(|j| j.description.kind == JointKind::Fixed))
            .map(|c| c.child.clone())
            .collect();
        connections.retain(|c| !(c.parent == WORLD && welded.contains(&c.child)));
    }
    let carried: HashSet<String> = connections.iter().map(|c| c.child.clone()).collect();
    let mut names: HashSet<String> =
        connections.iter().flat_map(|c| &c.joints).map(|j| j.description.name.clone()).collect();
    let mut held = false;
    for link in links.iter_mut().filter(|link| !link.body.free && !carried.contains(&link.body.name)) {
        held = true;
        if free_base {
            link.body.free = true;
            continue;
        }
        let mut name = format!("{}_to_world", link.body.name);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        let mut joint = Joint::new(name, JointKind::Fixed, link.place.clone());
        joint.description.frame = link.body.pose;
        connections.push(Connection {
            parent: WORLD.into(),
            child: link.body.name.clone(),
            joints: vec![joint],
        });
    }
    if free_base && !held && !links.iter().any(|link| link.body.free) {
        context.warning(
            &Place::START,
            "there is no base to free: every link is connected to the world by a moving joint",
        );
    }
}

fn pairs(limits: &mut Option<PerFreedom<(f64, f64)>>) -> &mut [(f64, f64)] {
    match limits {
        None => &mut [],
        Some(PerFreedom::All(pair)) => std::slice::from_mut(pair),
        Some(PerFreedom::Each(pairs)) => pairs,
    }
}

/// Limits the wrong way round are swapped.
fn order_limits(joint: &mut Joint, context: &mut Context) {
    let Joint { description, place, .. } = joint;
    for (lower, upper) in pairs(&mut description.limits) {
        if *lower > *upper {
            context.warning(
                place,
                format!(
                    "joint `{}`: the lower limit {lower} is above the upper limit {upper}; they were swapped",
                    description.name
                ),
            );
            std::mem::swap(lower, upper);
        }
    }
}

/// The links in the order of their tree, parents first.
pub(crate) struct Tree {
    /// Links by name; of several of one name, the first.
    index: HashMap<String, usize>,
    /// Positions of links, parents first. Links in circles are not among them.
    pub(crate) order: Vec<usize>,
    /// Position in `order` of each link.
    rank: Vec<Option<usize>>,
    /// The joint that carries each link, by its position among the joints.
    pub(crate) joint: Vec<Option<usize>>,
    /// The parent of each link.
    pub(crate) parent: Vec<Option<usize>>,
}

impl Tree {
    /// Of links and the joints that carry them; the first joint of a link counts.
    pub(crate) fn new(links: &[Link], joints: &[Joint]) -> Tree {
        let index = parts::index(links);
        let mut joint: Vec<Option<usize>> = vec![None; links.len()];
        let mut parent = vec![None; links.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        let mut waits = vec![false; links.len()];
        for (j, Joint { description, .. }) in joints.iter().enumerate() {
            let Some(&child) = index.get(&description.child) else { continue };
            if joint[child].is_some() {
                continue;
            }
            joint[child] = Some(j);
            if description.parent == WORLD {
                continue;
            }
            // A parent that there is none of is reported elsewhere; the link is left out here.
            waits[child] = true;
            if let Some(&p) = index.get(&description.parent) {
                parent[child] = Some(p);
                children[p].push(child);
            }
        }
        let mut order = Vec::with_capacity(links.len());
        let mut stack: Vec<usize> = (0..links.len()).rev().filter(|i| !waits[*i]).collect();
        while let Some(i) = stack.pop() {
            order.push(i);
            stack.extend(children[i].iter().rev());
        }
        let mut rank = vec![None; links.len()];
        order.iter().enumerate().for_each(|(r, i)| rank[*i] = Some(r));
        Tree { index, order, rank, joint, parent }
    }

    /// The link of a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// For each link, the first link of those that are welded together with it; `None` is the world.
    pub(crate) fn heads(&self, joints: &[Joint]) -> Vec<Option<usize>> {
        let mut heads = vec![None; self.rank.len()];
        for &i in &self.order {
            let welded = self.joint[i].is_some_and(|j| joints[j].description.kind == JointKind::Fixed);
            heads[i] = match (welded, self.parent[i]) {
                (true, Some(p)) => heads[p],
                (true, None) => None,
                (false, _) => Some(i),
            };
        }
        heads
    }
}

/// Leaves out couplings of joints that do not move (any more), with a warning.
pub(crate) fn drop_stuck_couplings(
    couplings: &mut Vec<(CouplingDescription, Place)>,
    joints: &[Joint],
    context: &mut Context,
) {
    let fixed: HashSet<&str> = (joints.iter())
        .filter(|joint| joint.description.kind == JointKind::Fixed)
        .map(|joint| joint.description.name.as_str())
        .collect();
    couplings.retain(|(CouplingDescription { joint, of, .. }, place)| {
        let Some(stuck) = [joint, of].into_iter().find(|name| fixed.contains(name.as_str())) else {
            return true;
        };
        context.warning_of("stuck coupling", place, || {
            format!("the coupling of joint `{joint}` to `{of}` was left out: `{stuck}` does not move")
        });
        false
    });
}

/// Makes a joint one that holds its links together.
pub(crate) fn weld(description: &mut JointDescription) {
    description.kind = JointKind::Fixed;
    description.stiffness = None;
    description.damping = None;
    description.limits = None;
    description.rest = None;
    description.armature = None;
    description.friction = None;
    description.torque_limit = None;
    description.linear_to = None;
    description.start = None;
}

/// Turns a loop joint so that its parent comes before its child in the tree.
fn orient(joint: &mut Joint, tree: &Tree, context: &mut Context) {
    let Joint { description, place, .. } = joint;
    let rank =
        |name: &str| if name == WORLD { Some(-1) } else { tree.rank[tree.find(name)?].map(|r| r as i64) };
    let (Some(parent), Some(child)) = (rank(&description.parent), rank(&description.child)) else { return };
    if parent <= child {
        return;
    }
    std::mem::swap(&mut description.parent, &mut description.child);
    match description.kind {
        // Turned over, the axis points the other way and the coordinate keeps its sense.
        JointKind::Hinge | JointKind::Prismatic | JointKind::Cylindrical => {
            description.frame = description.frame * Pose::rotation([1.0, 0.0, 0.0], std::f64::consts::PI);
        }
        JointKind::Fixed => {}
        JointKind::Ball => {
            // The rotation vector of the inverse is its negative.
            match &mut description.rest {
                Some(PerFreedom::All(x)) => *x = -*x,
                Some(PerFreedom::Each(list)) => list.iter_mut().for_each(|x| *x = -*x),
                None => {}
            }
            let turn = |pair: &mut (f64, f64)| *pair = (-pair.1, -pair.0);
            match &mut description.limits {
                Some(PerFreedom::All(pair)) => turn(pair),
                Some(PerFreedom::Each(pairs)) => pairs.iter_mut().for_each(turn),
                None => {}
            }
        }
        // Readers make no expressions.
        JointKind::Universal | JointKind::Planar | JointKind::Bushing | JointKind::Expression(_) => {
            let sprung =
                description.stiffness.is_some() || description.limits.is_some() || description.rest.is_some();
            if sprung {
                context.warning(
                    place,
                    format!("joint `{}` closes a loop: its parent and child were swapped, and its springs and limits act in the axes of the other body", description.name),
                );
            }
        }
    }
}
