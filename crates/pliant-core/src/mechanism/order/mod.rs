//! The order in which engines visit a mechanism, computed from the user's graph without changing it.
//!
//! - Every body gets one *tree joint* among the joints that carry it; fixed joints are preferred,
//!   then sprung ones, then passive ones, so that passive freedoms close loops; of equals that with the fewest freedoms, so
//!   that loops are closed by few rows, and then the nearest to the world. What is left over are the *loop joints*.
//! - Bodies joined by fixed tree joints move as one *node*; those welded to the world do not move.
//! - Nodes form a forest on the world, listed parents first.
//! - Names decide between equals, shorter ones first, so that `link9` is before `link10`: in which order a file lists its bodies
//!   and joints must not matter.
//!
//! No step recurses: a chain of any length is only a longer loop.

mod dominators;

pub(crate) use dominators::Tree;

use super::{Body, BodyId, Joint, JointId};
use crate::joints::JointKind;
use crate::spatial::{Pose, SpatialInertia};

/// One or several bodies that move as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The first body of the node, whose link frame is the node's frame and which the tree joint carries.
    pub head: BodyId,
    /// The tree joint that carries the head; `None` for a free base.
    pub joint: Option<JointId>,
    /// The node that the tree joint hangs on; `None` is the world.
    pub parent: Option<usize>,
    /// Number of tree joints (fixed ones not counted) between the node and the world or the free base.
    pub depth: usize,
    /// The inertia of all its bodies, in the node's frame.
    pub inertia: SpatialInertia,
}

/// See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    bodies: Vec<BodyId>,
    nodes: Vec<Node>,
    node_of_body: Vec<Option<usize>>,
    offset_of_body: Vec<Pose>,
    tree_joint_of_body: Vec<Option<JointId>>,
    loop_joints: Vec<JointId>,
    dominator_of_body: Vec<Option<BodyId>>,
}

/// Directed cycles of a graph that should have none, each as the bodies along it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycles(pub Vec<Vec<BodyId>>);

impl Order {
    /// The order of a graph, or its cycles.
    pub(super) fn new(bodies: &[Body], joints: &[Joint], mark: u32) -> Result<Order, Cycles> {
        let by_name = by_name(joints.iter().map(|joint| joint.name.as_str()));
        let topological: Vec<BodyId> = match topological_order(bodies, joints, &by_name) {
            Ok(order) => order.into_iter().map(|b| BodyId::new(b, mark)).collect(),
            Err(cycles) => {
                let handles = |cycle: Vec<usize>| cycle.into_iter().map(|b| BodyId::new(b, mark)).collect();
                return Err(Cycles(cycles.into_iter().map(handles).collect()));
            }
        };

        // Of the joints that carry a body, the best is the tree joint.
        let mut carriers: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
        by_name.iter().for_each(|&j| carriers[joints[j].child.index()].push(j));
        let mut tree_joint_of_body: Vec<Option<JointId>> = vec![None; bodies.len()];
        let mut joints_to_world = vec![0; bodies.len()];
        for &b in &topological {
            let away = |j: usize| joints[j].parent.map_or(1, |p| joints_to_world[p.index()] + 1);
            let rank = |j: &usize| (preference(&joints[*j]), joints[*j].kind.freedoms(), away(*j));
            if let Some(best) = carriers[b.index()].iter().copied().min_by_key(rank) {
                joints_to_world[b.index()] = away(best);
                tree_joint_of_body[b.index()] = Some(JointId::new(best, mark));
            }
        }
        let loop_joints = (by_name.iter())
            .map(|&j| JointId::new(j, mark))
            .filter(|j| tree_joint_of_body[joints[j.index()].child.index()] != Some(*j))
            .collect();

        let mut nodes: Vec<Node> = Vec::new();
        let mut node_of_body: Vec<Option<usize>> = vec![None; bodies.len()];
        let mut offset_of_body = vec![Pose::identity(); bodies.len()];
        for &b in &topological {
            let body = &bodies[b.index()];
            let tree_joint = tree_joint_of_body[b.index()];
            let parent = tree_joint.and_then(|j| joints[j.index()].parent);
            let parent_node = parent.and_then(|p| node_of_body[p.index()]);
            let welded = tree_joint.is_some_and(|j| joints[j.index()].kind == JointKind::Fixed);
            match (welded, parent_node) {
                (true, Some(n)) => {
                    // Offsets come from the rest poses, not from a product along the welds.
                    let offset = bodies[nodes[n].head.index()].pose.inverse_times(&body.pose);
                    nodes[n].inertia = nodes[n].inertia.welded(&body.inertia.in_outer(&offset));
                    offset_of_body[b.index()] = offset;
                    node_of_body[b.index()] = Some(n);
                }
                (true, None) => offset_of_body[b.index()] = body.pose,
                (false, _) => {
                    node_of_body[b.index()] = Some(nodes.len());
                    nodes.push(Node {
                        head: b,
                        joint: tree_joint,
                        parent: parent_node,
                        depth: match tree_joint {
                            Some(_) => parent_node.map_or(1, |n| nodes[n].depth + 1),
                            None => 0,
                        },
                        inertia: body.inertia,
                    });
                }
            }
        }

        let dominator_of_body = dominators::dominators(&topological, joints, mark);
        Ok(Order {
            bodies: topological,
            nodes,
            node_of_body,
            offset_of_body,
            tree_joint_of_body,
            loop_joints,
            dominator_of_body,
        })
    }

    /// All bodies, every body after all its parents.
    pub fn bodies(&self) -> &[BodyId] {
        &self.bodies
    }

    /// The nodes, parents first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes of each tree that hangs on nothing, its free base first.
    pub(crate) fn free_trees(&self) -> Vec<Vec<usize>> {
        let mut trees: Vec<Vec<usize>> = Vec::new();
        let mut tree_of = vec![None; self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            tree_of[n] = match node.parent {
                Some(parent) => tree_of[parent],
                None if node.joint.is_none() => {
                    trees.push(Vec::new());
                    Some(trees.len() - 1)
                }
                None => None,
            };
            if let Some(tree) = tree_of[n] {
                trees[tree].push(n);
            }
        }
        trees
    }

    /// The node a body belongs to; `None` if it is welded to the world.
    pub fn node_of(&self, body: BodyId) -> Option<usize> {
        self.node_of_body[body.index()]
    }

    /// The same, by the body's position in the list.
    pub(crate) fn node_of_index(&self, body: usize) -> Option<usize> {
        self.node_of_body[body]
    }

    /// The body's link frame in its node's frame; in the world, if it is welded to that.
    pub fn offset_of(&self, body: BodyId) -> Pose {
        self.offset_of_body[body.index()]
    }

    /// The joint that carries a body in the spanning forest; `None` for a free base.
    pub fn tree_joint_of(&self, body: BodyId) -> Option<JointId> {
        self.tree_joint_of_body[body.index()]
    }

    /// The joints that close loops, by name.
    pub fn loop_joints(&self) -> &[JointId] {
        &self.loop_joints
    }

    /// The immediate dominator of a body in the user's graph: the last body that every path from
    /// the world (or a free base) to it passes through; `None` is the world.
    pub fn dominator_of(&self, body: BodyId) -> Option<BodyId> {
        self.dominator_of_body[body.index()]
    }

    /// Freedoms of the spanning forest: those of its joints, and six for each free base. Loops and
    /// couplings take some of them away again.
    pub fn freedoms(&self, joints: &[Joint]) -> usize {
        self.nodes.iter().map(|n| n.joint.map_or(6, |j| joints[j.index()].kind.freedoms())).sum()
    }
}

/// The smaller, the better a tree joint.
fn preference(joint: &Joint) -> u8 {
    if joint.kind == JointKind::Fixed {
        0
    } else if joint.is_held() {
        1
    } else if joint.freedoms.iter().any(|f| f.is_sprung()) {
        2
    } else {
        3
    }
}

/// Indices of names, shorter ones first.
fn by_name<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut list: Vec<(usize, &str)> = names.enumerate().collect();
    list.sort_by_key(|(_, name)| (name.len(), *name));
    list.into_iter().map(|(i, _)| i).collect()
}

/// Joints by the body they hang on: `children(parent)` by name, without a list per body.
struct Children {
    start: Vec<usize>,
    joints: Vec<usize>,
}

impl Children {
    fn new(bodies: usize, joints: &[Joint], by_name: &[usize]) -> Children {
        let mut start = vec![0; bodies + 1];
        for joint in joints {
            if let Some(p) = joint.parent {
                start[p.index() + 1] += 1;
            }
        }
        for b in 0..bodies {
            start[b + 1] += start[b];
        }
        let mut next = start.clone();
        let mut list = vec![0; start[bodies]];
        for &j in by_name {
            if let Some(p) = joints[j].parent {
                list[next[p.index()]] = j;
                next[p.index()] += 1;
            }
        }
        Children { start, joints: list }
    }

    fn of(&self, body: usize) -> &[usize] {
        &self.joints[self.start[body]..self.start[body + 1]]
    }
}

/// Every body after all its parents; branches are followed to their end one after the other, so
/// that neighbours in the order are neighbours in the mechanism.
fn topological_order(
    bodies: &[Body],
    joints: &[Joint],
    by_name: &[usize],
) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let count = bodies.len();
    let children = Children::new(count, joints, by_name);
    let mut parents_left = vec![0usize; count];
    for joint in joints.iter().filter(|j| j.parent.is_some()) {
        parents_left[joint.child.index()] += 1;
    }
    let mut stack = self::by_name(bodies.iter().map(|body| body.name.as_str()));
    stack.retain(|&b| parents_left[b] == 0);
    stack.reverse();
    let mut order = Vec::with_capacity(count);
    while let Some(b) = stack.pop() {
        order.push(b);
        for &j in children.of(b).iter().rev() {
            let child = joints[j].child.index();
            parents_left[child] -= 1;
            if parents_left[child] == 0 {
                stack.push(child);
            }
        }
    }
    if order.len() == count { Ok(order) } else { Err(cycles(&parents_left, joints)) }
}

/// The cycles among the bodies that still wait for a parent.
fn cycles(parents_left: &[usize], joints: &[Joint]) -> Vec<Vec<usize>> {
    // One waiting parent of each waiting body; following them must run into a cycle.
    let mut parent = vec![None; parents_left.len()];
    for joint in joints {
        if let Some(p) = joint.parent
            && parents_left[p.index()] > 0
        {
            parent[joint.child.index()] = Some(p.index());
        }
    }
    let mut seen_in_walk = vec![0usize; parents_left.len()];
    let mut found = Vec::new();
    for start in 0..parents_left.len() {
        if parents_left[start] == 0 {
            continue;
        }
        let walk = start + 1;
        let mut b = start;
        while seen_in_walk[b] == 0 {
            seen_in_walk[b] = walk;
            match parent[b] {
                Some(p) => b = p,
                None => break,
            }
        }
        if seen_in_walk[b] == walk && parent[b].is_some() {
            let mut cycle = vec![b];
            let mut p = parent[b].expect("checked");
            while p != b {
                cycle.push(p);
                p = parent[p].expect("a cycle never ends");
            }
            cycle.reverse();
            found.push(cycle);
        }
    }
    found
}
