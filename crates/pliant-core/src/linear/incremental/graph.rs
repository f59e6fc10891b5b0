//! The graph that chains, splits and merges are found in: nodes, and joints that lead from one to another.
//!
//! A joint leads from its parent to its child, unless welds make that run against the order of nodes: a body
//! that is welded to the world or to an ancestor, and carried by a descendant, too. Such a joint is turned
//! round. So joints lead from lower to higher nodes, and never to what is held: the world and free bases, which
//! are the root together.

use nalgebra::{DMatrix, Matrix6};

use super::super::reference::Reference;
use crate::mechanism::order::Tree;
use crate::spatial::Pose;

/// A joint that leads to a node. Lengths are in radii.
pub(super) struct Edge {
    /// Among the joints of the reference.
    pub joint: usize,
    /// The root is the number of nodes.
    pub from: usize,
    pub to: usize,
    pub turned: bool,
    /// F with F Fᵀ = J Cθ Jᵀ over the sprung freedoms, and P = J over the passive ones; frame of `to`.
    pub F: DMatrix<f64>,
    pub P: DMatrix<f64>,
}

/// Nodes, edges, and which of them matter.
pub(super) struct Graph {
    pub edges: Vec<Edge>,
    /// The edges that lead to each node.
    pub into: Vec<Vec<usize>>,
    /// The node before each through which all paths from the root lead: its immediate dominator.
    pub dominators: Tree,
    /// Whether an effector sits on a node or anywhere below it. Other nodes carry nothing.
    pub loaded: Vec<bool>,
    /// Nodes at which branches merge that do more than meet there.
    pub open: Vec<usize>,
}

/// Ad(a,b) in radii: twists in the frame of b to that of a.
pub(super) fn adjoint(reference: &Reference, a: usize, b: usize) -> Matrix6<f64> {
    let pose = |n: usize| reference.poses.get(n).copied().unwrap_or(Pose::identity());
    in_radii(reference, &pose(a).inverse_times(&pose(b)).adjoint())
}

/// A matrix between twists with their lengths in radii.
pub(super) fn in_radii(reference: &Reference, Ad: &Matrix6<f64>) -> Matrix6<f64> {
    let unit = |i: usize| if i < 3 { reference.radius } else { 1.0 };
    Matrix6::from_fn(|i, k| Ad[(i, k)] / unit(i) * unit(k))
}

impl Graph {
    pub fn new(reference: &Reference, effectors: &[usize]) -> Graph {
        let root = reference.poses.len();
        let edges = edges(reference);
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); root];
        edges.iter().enumerate().for_each(|(e, edge)| into[edge.to].push(e));

        let mut loaded = vec![false; root + 1];
        effectors.iter().for_each(|&n| loaded[n] = true);
        let mut dominators = Tree::new(root + 1, root);
        for n in (0..root).rev() {
            if loaded[n] {
                into[n].iter().for_each(|&e| loaded[edges[e].from] = true);
            }
        }
        for n in 0..root {
            let from = into[n].iter().map(|&e| edges[e].from);
            let dominator = from.reduce(|a, b| dominators.common_ancestor(a, b)).unwrap_or(root);
            dominators.hang(n, dominator);
        }
        let mut graph = Graph { edges, into, dominators, loaded, open: Vec::new() };
        graph.open = graph.open_merges(effectors);
        graph
    }

    /// Where more than one joint leads to a node.
    pub fn merges(&self, n: usize) -> bool {
        self.into[n].len() > 1
    }

    /// The merges whose branches hold an effector, or lead elsewhere. With merges that are all closed, what
    /// lies between one and its dominator carries nothing but what the merge does: it is a chain of wider links.
    ///
    /// A branch begins at a child c of the dominator, in the tree of dominators; it is closed if all ways from c
    /// to an effector lead through the merge m: m post-dominates c. If c is itself a merge, what lies before it is
    /// c's to tell. Nodes that carry nothing are left out; a merge of these is closed if its branches are such, too.
    fn open_merges(&self, effectors: &[usize]) -> Vec<usize> {
        let root = self.into.len();
        // The same tree backwards, on a sink behind all effectors.
        let sink = root;
        let mut after = Tree::new(root + 1, sink);
        let mut next: Vec<Option<usize>> = vec![None; root + 1];
        effectors.iter().for_each(|&n| next[n] = Some(sink));
        for n in (0..root).rev().filter(|&n| self.loaded[n]) {
            let next_of_n = next[n].expect("leads to an effector");
            after.hang(n, next_of_n);
            for &e in &self.into[n] {
                let from = &mut next[self.edges[e].from];
                *from = Some(from.map_or(n, |other| after.common_ancestor(other, n)));
            }
        }
        let closed = |m: usize, e: usize| {
            let (d, from) = (self.dominators.parent[m], self.edges[e].from);
            if from == d {
                return true;
            }
            let c = self.dominators.child_towards(d, from);
            if self.loaded[m] { after.common_ancestor(m, c) == m } else { !self.loaded[c] }
        };
        (0..root).filter(|&m| self.merges(m) && !self.into[m].iter().all(|&e| closed(m, e))).collect()
    }
}

fn edges(reference: &Reference) -> Vec<Edge> {
    let root = reference.poses.len();
    let held = |n: Option<usize>| n.filter(|&n| reference.moves(n)).unwrap_or(root);
    let unit = |i: usize| if i < 3 { reference.radius } else { 1.0 };
    let mut edges = Vec::with_capacity(reference.joints.len());
    for (j, joint) in reference.joints.iter().enumerate() {
        let (parent, child) = (held(joint.parent), held(joint.child));
        if parent == child {
            continue;
        }
        let turned = child == root || (parent != root && parent > child);
        let (from, to) = if turned { (child, parent) } else { (parent, child) };
        let freedoms = 0..joint.freedoms();
        let (sprung, passive): (Vec<_>, Vec<_>) = freedoms.partition(|&k| joint.stiffness[k] > 0.0);
        let mut J = Matrix6::from_fn(|i, k| {
            let translation = if k < joint.kind.translations() { reference.radius } else { 1.0 };
            joint.motion[(i, k)] / unit(i) * translation
        });
        if turned {
            // The child's frame is that of the world where the child is welded to it.
            let child = joint.child.unwrap_or(root);
            J = adjoint(reference, to, child) * J;
        }
        let select = |columns: &[usize]| DMatrix::from_fn(6, columns.len(), |i, k| J[(i, columns[k])]);
        let mut F = select(&sprung);
        for (mut column, &k) in F.column_iter_mut().zip(&sprung) {
            let translation = if k < joint.kind.translations() { reference.radius } else { 1.0 };
            column /= joint.stiffness[k].sqrt() * translation;
        }
        edges.push(Edge { joint: j, from, to, turned, F, P: select(&passive) });
    }
    edges
}
