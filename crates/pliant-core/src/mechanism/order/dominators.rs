//! Immediate dominators of a directed acyclic graph, in one pass in topological order: the dominator
//! of a body is the common ancestor, in the dominator tree built so far, of all its parents.
//!
//! Two long branches that meet again and again (the rails of a ladder) would make a walk along single
//! ancestors quadratic. Every body therefore also keeps one farther ancestor, a *jump*, chosen so that
//! every climb takes O(log n) steps (Myers 1983, "An applicative random-access stack").

use super::super::{BodyId, Joint};

/// The immediate dominator of each body; `None` is the world.
pub(super) fn dominators(topological: &[BodyId], joints: &[Joint], mark: u32) -> Vec<Option<BodyId>> {
    let count = topological.len();
    // The world is number `count`, the root; bodies that no joint carries (free bases) hang on it.
    let world = count;
    let mut tree = Tree::new(count + 1, world);
    let mut carried_by: Vec<Vec<usize>> = vec![Vec::new(); count];
    for joint in joints {
        carried_by[joint.child.index()].push(joint.parent.map_or(world, |p| p.index()));
    }
    for &b in topological {
        let parents = carried_by[b.index()].iter().copied();
        let dominator = parents.reduce(|a, p| tree.common_ancestor(a, p)).unwrap_or(world);
        tree.hang(b.index(), dominator);
    }
    tree.parent[..count].iter().map(|&d| (d != world).then(|| BodyId::new(d, mark))).collect()
}

/// A tree that grows at its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub parent: Vec<usize>,
    jump: Vec<usize>,
    depth: Vec<usize>,
}

impl Tree {
    /// The root alone, with room for `count` numbers, itself included.
    pub fn new(count: usize, root: usize) -> Tree {
        Tree { parent: vec![root; count], jump: vec![root; count], depth: vec![0; count] }
    }

    /// Adds a leaf.
    pub fn hang(&mut self, child: usize, parent: usize) {
        let (near, far) = (self.jump[parent], self.jump[self.jump[parent]]);
        // Two jumps of the same length become one of twice the length.
        let level = self.depth[parent] - self.depth[near] == self.depth[near] - self.depth[far];
        self.parent[child] = parent;
        self.jump[child] = if level { far } else { parent };
        self.depth[child] = self.depth[parent] + 1;
    }

    /// The deepest that both hang on; each hangs on itself.
    pub fn common_ancestor(&self, a: usize, b: usize) -> usize {
        let (mut shallow, mut deep) = if self.depth[a] <= self.depth[b] { (a, b) } else { (b, a) };
        while self.depth[deep] > self.depth[shallow] {
            let far = self.jump[deep];
            deep = if self.depth[far] >= self.depth[shallow] { far } else { self.parent[deep] };
        }
        // At equal depths the jumps are equally long, too.
        while shallow != deep {
            let farther = self.jump[shallow] != self.jump[deep];
            let up = if farther { &self.jump } else { &self.parent };
            (shallow, deep) = (up[shallow], up[deep]);
        }
        shallow
    }
    /// The child of `ancestor` that a number below it hangs on.
    pub fn child_towards(&self, ancestor: usize, mut below: usize) -> usize {
        while self.parent[below] != ancestor {
            let far = self.jump[below];
            below = if self.depth[far] > self.depth[ancestor] { far } else { self.parent[below] };
        }
        below
    }
}
