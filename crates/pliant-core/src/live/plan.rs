//! Which links carry which effectors. A *port* is a frame whose wrenches make the moving shapes: an effector or a
//! frame that is pulled. A *segment* is a row of links, each on the one before, that carry the same ports: there the
//! shapes of all joints come from one matrix, and sums over a segment are all that the small system needs.

use std::ops::Range;

use super::model::{BASE, Constants};
use crate::engine::Spring;
use crate::spatial::Pose;

/// No segment.
pub(super) const NONE: usize = usize::MAX;

/// A frame on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub link: usize,
    /// In the node's frame.
    pub frame: Pose,
}

/// A row of links that carry the same ports.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// The segment that it goes on from.
    pub parent: usize,
    /// Its links, in [`Plan::path`].
    pub path: Range<usize>,
    /// What it carries.
    pub ports: Vec<usize>,
}

/// Ports and segments of one tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub ports: Range<usize>,
    pub segments: Range<usize>,
    /// The free base that it stands on; [`NONE`] if it does not.
    pub float: usize,
    /// The last segment that carries both of two ports, row by row.
    pub common: Vec<usize>,
}

/// Ports and segments of all trees.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub ports: Vec<Port>,
    /// The port of each pull; [`NONE`] on the base.
    pub pulls: Vec<usize>,
    pub segments: Vec<Segment>,
    pub path: Vec<usize>,
    /// The segment of each link.
    pub segment_of: Vec<usize>,
    pub trees: Vec<Tree>,
    /// Free bases that carry no port.
    pub rigid: Vec<usize>,
    /// The pulls it was made for.
    made_for: Vec<(usize, Pose)>,
}

impl Plan {
    /// The plan of a model and the pulls on it.
    pub fn new(model: &Constants, pulls: &[Spring]) -> Plan {
        Plan::build(model, pulls, model.loops.is_empty())
    }

    /// With or without segments: shapes of loops are not made of them, and there every link counts for itself.
    pub(super) fn build(model: &Constants, pulls: &[Spring], segments: bool) -> Plan {
        let in_node = |body, frame: Pose| {
            let (node, offset) = model.place(body);
            Some(Port { link: node?, frame: offset * frame })
        };
        let of_effectors = model.effectors.iter().map(|e| in_node(e.body, e.frame));
        let all: Vec<Option<Port>> =
            of_effectors.chain(pulls.iter().map(|p| in_node(p.body, p.frame))).collect();
        // Ports of one tree stand together.
        let root = |mut n: usize| {
            while model.links[n].parent != BASE {
                n = model.links[n].parent;
            }
            n
        };
        let mut sorted: Vec<usize> = (0..all.len()).filter(|&i| all[i].is_some()).collect();
        let port = |i: usize| all[i].expect("it is on a link");
        sorted.sort_by_key(|&i| (root(port(i).link), i));
        let mut place = vec![NONE; all.len()];
        sorted.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let ports: Vec<Port> = sorted.iter().map(|&i| port(i)).collect();

        let mut carried: Vec<Vec<usize>> = vec![Vec::new(); model.links.len()];
        for (p, port) in ports.iter().enumerate() {
            let mut n = port.link;
            while n != BASE {
                carried[n].push(p);
                n = model.links[n].parent;
            }
        }
        let mut plan = Plan {
            pulls: place[model.effectors.len()..].to_vec(),
            segments: Vec::new(),
            path: Vec::new(),
            segment_of: vec![NONE; model.links.len()],
            trees: Vec::new(),
            rigid: Vec::new(),
            made_for: pulls.iter().map(|p| (p.body.index(), p.frame)).collect(),
            ports,
        };
        if segments {
            plan.find_segments(model, &carried);
            plan.find_trees(model, &carried);
        } else {
            plan.segment_of.fill(0);
        }
        plan
    }

    /// Whether it still fits.
    pub fn fits(&self, pulls: &[Spring]) -> bool {
        self.made_for.len() == pulls.len()
            && self
                .made_for
                .iter()
                .zip(pulls)
                .all(|((body, frame), p)| *body == p.body.index() && *frame == p.frame)
    }

    fn find_segments(&mut self, model: &Constants, carried: &[Vec<usize>]) {
        // A link begins a segment unless it carries what its parent carries.
        for n in (0..model.links.len()).filter(|&n| !carried[n].is_empty()) {
            let parent = model.links[n].parent;
            let above = if parent == BASE { NONE } else { self.segment_of[parent] };
            self.segment_of[n] = if above != NONE && self.segments[above].ports == carried[n] {
                above
            } else {
                self.segments.push(Segment { parent: above, path: 0..0, ports: carried[n].clone() });
                self.segments.len() - 1
            };
        }
        for s in 0..self.segments.len() {
            let start = self.path.len();
            self.path.extend((0..model.links.len()).filter(|&n| self.segment_of[n] == s));
            self.segments[s].path = start..self.path.len();
        }
    }

    fn find_trees(&mut self, model: &Constants, carried: &[Vec<usize>]) {
        // Segments come parents first and trees one after the other, as links do.
        let mut s = 0;
        while s < self.segments.len() {
            let roots = |t: &usize| self.segments[*t].parent == NONE;
            let ports = &self.segments[s].ports;
            let (first, last) = (ports[0], ports[ports.len() - 1]);
            let end = (s + 1..self.segments.len()).find(roots).unwrap_or(self.segments.len());
            let count = last + 1 - first;
            let mut common = vec![NONE; count * count];
            for t in s..end {
                for &a in &self.segments[t].ports {
                    for &b in &self.segments[t].ports {
                        common[(a - first) * count + b - first] = t;
                    }
                }
            }
            debug_assert!(carried.iter().flatten().all(|p| *p < self.ports.len()));
            let float = model.links[self.path[self.segments[s].path.start]].float;
            self.trees.push(Tree { ports: first..last + 1, segments: s..end, float, common });
            s = end;
        }
        self.rigid.extend((0..model.floats.len()).filter(|f| self.trees.iter().all(|t| t.float != *f)));
    }
}
