//! Immediate dominators of a directed acyclic graph, in one pass in topological order: the dominator
//! of a body is the common ancestor, in the dominator tree built so far, of all its parents.

use crate::mechanism::{BodyId, Joint};

/// The immediate dominator of each body; `None` is the world.
pub(super) fn dominators(topological: &[BodyId], count: usize, joints: &[Joint]) -> Vec<Option<BodyId>> {
    // The world is number `count`, the root of the dominator tree. `meet` is the common ancestor of
    // the parents seen so far; bodies that no joint carries (free bases) hang on the world.
    const UNSEEN: usize = usize::MAX;
    let world = count;
    let mut meet = vec![UNSEEN; count + 1];
    let mut depth = vec![0usize; count + 1];
    meet[world] = world;

    let mut carried_by: Vec<Vec<usize>> = vec![Vec::new(); count];
    for joint in joints {
        carried_by[joint.child.index()].push(joint.parent.map_or(world, |p| p.index()));
    }
    for &b in topological {
        let mut ancestor = UNSEEN;
        for &parent in &carried_by[b.index()] {
            ancestor = match ancestor {
                UNSEEN => parent,
                mut a => {
                    let mut p = parent;
                    while a != p {
                        if depth[a] >= depth[p] {
                            a = meet[a];
                        } else {
                            p = meet[p];
                        }
                    }
                    a
                }
            };
        }
        let ancestor = if ancestor == UNSEEN { world } else { ancestor };
        meet[b.index()] = ancestor;
        depth[b.index()] = depth[ancestor] + 1;
    }
    meet[..count].iter().map(|&d| (d != world).then(|| BodyId::from_index(d))).collect()
}
