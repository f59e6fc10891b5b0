//! Where a mechanism is cut so that fingers are blended alone.
//!
//! Given the pose of a body from which several branches with effectors go out (a palm), what happens in one branch
//! says nothing of the others: their stiffness is block diagonal. So that body becomes an effector of what carries it,
//! and the base of each branch. The parts are *segments*; they form a tree as the nodes do, and inside each there is
//! no such body. A loop or coupling between two segments makes them one, with all that lies between.

use crate::mechanism::{JointId, Mechanism};

/// The segments of a mechanism.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// Segment of each node, named by its first node.
    pub of_node: Vec<usize>,
    /// The node that carries each node's segment; `None` is the world.
    pub base_of_node: Vec<Option<usize>>,
    /// The nodes that carry segments, ascending.
    pub carriers: Vec<usize>,
}

impl Segments {
    /// One segment for each part that hangs on the world.
    pub fn whole(mechanism: &Mechanism) -> Segments {
        Segments::of(mechanism, vec![false; mechanism.order().nodes().len()])
    }

    /// Cut wherever that separates effectors.
    pub fn cut(mechanism: &Mechanism) -> Segments {
        let nodes = mechanism.order().nodes();
        // Effectors in the subtree of each node.
        let mut effectors = vec![0; nodes.len()];
        for effector in mechanism.effectors() {
            if let Some(n) = mechanism.order().node_of(effector.body) {
                effectors[n] += 1;
            }
        }
        let mut branches = vec![0; nodes.len()];
        for n in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[n].parent.filter(|_| effectors[n] > 0) {
                effectors[parent] += effectors[n];
                branches[parent] += 1;
            }
        }
        // Whether a node begins a segment on the node that carries it.
        let mut begins: Vec<bool> = (0..nodes.len())
            .map(|n| effectors[n] > 0 && nodes[n].parent.is_some_and(|parent| branches[parent] > 1))
            .collect();
        loop {
            let segments = Segments::of(mechanism, begins.clone());
            let Some(first) = segments.not_separate(mechanism, &begins) else { return segments };
            begins[first] = false;
        }
    }

    /// The segments whose first nodes are known; those on the same node that loops or couplings connect are one.
    fn of(mechanism: &Mechanism, begins: Vec<bool>) -> Segments {
        let nodes = mechanism.order().nodes();
        let mut of_node: Vec<usize> = (0..nodes.len()).collect();
        let mut base_of_node = vec![None; nodes.len()];
        for n in 0..nodes.len() {
            match nodes[n].parent {
                Some(parent) if !begins[n] => {
                    (of_node[n], base_of_node[n]) = (of_node[parent], base_of_node[parent]);
                }
                parent => base_of_node[n] = parent,
            }
        }
        let mut segments = Segments { of_node, base_of_node, carriers: Vec::new() };
        for (a, b) in segments.connections(mechanism) {
            if segments.base_of_node[a] == segments.base_of_node[b] {
                let (a, b) = (segments.of_node[a], segments.of_node[b]);
                let (to, from) = (a.min(b), a.max(b));
                segments.of_node.iter_mut().filter(|s| **s == from).for_each(|s| *s = to);
            }
        }
        segments.carriers = segments.base_of_node.iter().flatten().copied().collect();
        segments.carriers.sort_unstable();
        segments.carriers.dedup();
        segments
    }

    /// Nodes that loops and couplings connect across segments, but for joints to the body that carries the segment.
    fn connections(&self, mechanism: &Mechanism) -> Vec<(usize, usize)> {
        let order = mechanism.order();
        let ends = |id: JointId| {
            let joint = &mechanism[id];
            (order.node_of(joint.child), joint.parent.and_then(|body| order.node_of(body)))
        };
        let mut pairs = Vec::new();
        for &id in order.loop_joints() {
            let (child, parent) = ends(id);
            let carried = |a: Option<usize>, b: Option<usize>| a.is_some_and(|a| self.base_of_node[a] == b);
            if child == parent || carried(child, parent) || carried(parent, child) {
                continue;
            }
            match (child, parent) {
                (Some(a), Some(b)) => pairs.push((a, b)),
                (Some(a), None) | (None, Some(a)) => pairs.push((a, root(mechanism, a))),
                (None, None) => {}
            }
        }
        for coupling in mechanism.coupled() {
            let (a, b) = (ends(coupling.joint), ends(coupling.of));
            if let (Some(a), Some(b)) = (a.0.or(a.1), b.0.or(b.1)) {
                pairs.push((a, b));
            }
        }
        pairs.retain(|&(a, b)| self.of_node[a] != self.of_node[b]);
        pairs
    }

    /// The first node of a segment that is none: a loop or coupling leads out of it, or nothing else hangs on what
    /// carries it.
    fn not_separate(&self, mechanism: &Mechanism, begins: &[bool]) -> Option<usize> {
        let beginning = |segment: usize| (0..begins.len()).find(|&n| begins[n] && self.of_node[n] == segment);
        // The deeper of the two goes into what carries it, until both are in one or on the same body.
        let depth =
            |n: usize| self.base_of_node[n].map_or(0, |base| 1 + mechanism.order().nodes()[base].depth);
        if let Some(&(a, b)) = self.connections(mechanism).first() {
            return beginning(self.of_node[if depth(a) >= depth(b) { a } else { b }]);
        }
        let alone = |&n: &usize| {
            let own = |&other: &usize| self.base_of_node[other] == self.base_of_node[n];
            begins[n] && (0..begins.len()).filter(own).all(|other| self.of_node[other] == self.of_node[n])
        };
        (0..begins.len()).find(alone)
    }
}

/// The node on the world that a node hangs on in the end.
fn root(mechanism: &Mechanism, mut n: usize) -> usize {
    while let Some(parent) = mechanism.order().nodes()[n].parent {
        n = parent;
    }
    n
}
