//! Parts of a mechanism that share nothing: each is reduced and solved alone.
//!
//! Nodes are in one component if joints or couplings connect them, the world left out. A free base connects
//! what hangs on it.

use super::reference::Reference;

/// One part, as lists of what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its nodes, parents first.
    pub nodes: Vec<usize>,
    /// Its joints, among those of the reference.
    pub joints: Vec<usize>,
    /// Its free bases.
    pub bases: Vec<usize>,
}

/// The parts of a reference, in the order of their first nodes.
pub(super) fn parts(reference: &Reference) -> Vec<Part> {
    let mut set: Vec<usize> = (0..reference.poses.len()).collect();
    fn find(set: &mut [usize], mut n: usize) -> usize {
        while set[n] != n {
            set[n] = set[set[n]];
            n = set[n];
        }
        n
    }
    let mut join = |a: Option<usize>, b: Option<usize>| {
        if let (Some(a), Some(b)) = (a, b) {
            let (a, b) = (find(&mut set, a), find(&mut set, b));
            set[a.max(b)] = a.min(b);
        }
    };
    reference.joints.iter().for_each(|joint| join(joint.child, joint.parent));
    let end = |id| reference.joints.iter().find(|j| j.id == id).and_then(|j| j.child.or(j.parent));
    for coupling in reference.mechanism.coupled() {
        join(end(coupling.joint), end(coupling.of));
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut part_of_root = vec![usize::MAX; reference.poses.len()];
    for n in 0..reference.poses.len() {
        let root = find(&mut set, n);
        if part_of_root[root] == usize::MAX {
            part_of_root[root] = parts.len();
            parts.push(Part { nodes: Vec::new(), joints: Vec::new(), bases: Vec::new() });
        }
        let part = &mut parts[part_of_root[root]];
        part.nodes.push(n);
        if !reference.moves(n) {
            part.bases.push(n);
        }
    }
    for (j, joint) in reference.joints.iter().enumerate() {
        if let Some(n) = joint.child.or(joint.parent) {
            parts[part_of_root[find(&mut set, n)]].joints.push(j);
        }
    }
    parts
}
