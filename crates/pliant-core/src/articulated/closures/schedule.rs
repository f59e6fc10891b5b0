//! In which order nodes and closures are eliminated, and what is open across each of them; once for a mechanism.
//!
//! What is eliminated is a node (the speeds of its joint, once all its children are) or a closure (its multipliers). What
//! it is coupled with by then, other nodes' twists and other closures' multipliers, is its *boundary*; eliminating it
//! couples all of these with each other and with the parent of a node. The order is that of the fewest couplings that were
//! not there before, in numbers, then of the least boundary: a loop is then closed where its branches meet, and of two rails
//! with rungs between them, both are carried on together.
//!
//! A closure waits until what is eliminated has as many freedoms that move it as it has rows, each freedom counted for one
//! closure only, or until all that is left of it hangs on one node: before that its pivots would be its softness alone. Where links
//! are in line (as of a straight bridge), as many freedoms leave them so, each such pivot loses the digits of the softness, and
//! several of them a bridge. So a *patient* closure waits for twice as many. Which are patient is found where the mechanism
//! starts ([`super::trial`]); a step in which another one loses digits is solved once more with all of them patient.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::articulated::model::{Motion, Node};

/// An unknown of several numbers: the twist of a node's slot, or the multipliers of a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Slot(usize),
    Rows(usize),
}

/// What a closure acts on.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// Nodes with wrenches, and nodes along whose freedom it acts.
    pub wrenches: Vec<usize>,
    pub direct: Vec<usize>,
    /// Whether its branches meet nowhere but at the base.
    pub on_base: bool,
    /// Rows that close, and all that it usually has.
    pub closing: usize,
    pub rows: usize,
    /// Whether it waits for twice as many freedoms as rows.
    pub patient: bool,
}

impl Ends {
    /// Adds slots with wrenches.
    pub fn add(&mut self, slots: &[usize]) {
        for slot in slots {
            match slot.checked_sub(1) {
                None => self.on_base = true,
                Some(n) if !self.wrenches.contains(&n) => self.wrenches.push(n),
                Some(_) => {}
            }
        }
    }
}

/// Where the coupling of two unknowns is: the block, and whether its rows are the second one's. Rows are those of what is
/// eliminated first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub block: usize,
    pub transposed: bool,
}

/// Where a node's coupling with an unknown goes when the node is carried by its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A free base has none.
    None,
    /// The base, whose motion is known.
    Base,
    /// The unknown is the parent itself.
    Same,
    Other(Place),
}

/// One of the boundary.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub unknown: Unknown,
    /// Where its coupling with what is eliminated is, by rows of the latter.
    pub block: usize,
    /// Of a node.
    pub parent: Parent,
}

/// What is eliminated in one go.
#[derive(Clone, Debug)]
pub struct Front {
    pub unknown: Unknown,
    /// The boundary but for the parent, in the order of elimination.
    pub open: Vec<Open>,
    /// Blocks of open unknowns i < j: 01, 02, 12, 03, …
    pub pairs: Vec<usize>,
    /// Of a node, its first place among the numbers y.
    pub y: usize,
    /// The front that is the first of its boundary.
    pub next: Option<usize>,
    /// Whether forces of closures, put on when they are eliminated, come here.
    pub reached: bool,
    /// Whether it is a closure with fewer freedoms than it would wait for if it were patient.
    pub early: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Schedule {
    pub fronts: Vec<Front>,
    /// The front of each node.
    pub front_of_node: Vec<usize>,
    /// Blocks of the wrenches of a closure's ends, by node.
    pub ends: Vec<Vec<(usize, Place)>>,
    /// Number of blocks, the first ones being those of each closure with itself; of sixes y; and of the largest boundary.
    pub blocks: usize,
    pub sixes: usize,
    pub widest: usize,
}

/// What it takes to eliminate: new couplings and boundary, in numbers, whether it is a node, and which it is: closures
/// first, and nodes from the leaves.
type Cost = (usize, usize, bool, Reverse<usize>);

/// What is eliminated next, with what it is coupled, and whether it is an early closure.
type Next = (usize, BTreeSet<usize>, bool);

/// The elimination as it goes.
struct Graph<'a> {
    nodes: &'a [Node],
    ends: &'a [Ends],
    /// By node, then by closure: with what each is coupled.
    coupled: Vec<BTreeSet<usize>>,
    /// How many children of a node, or nodes with wrenches of a closure, are left; and nodes along whose freedom it acts.
    left: Vec<usize>,
    direct_left: Vec<usize>,
    /// Freedoms of nodes that are eliminated and closed by nothing; and the nodes that move a closure.
    freedoms: Vec<usize>,
    moved_by: Vec<Vec<usize>>,
    done: Vec<bool>,
    heap: BinaryHeap<Reverse<Cost>>,
}

impl Graph<'_> {
    fn parent(&self, v: usize) -> Option<usize> {
        let node = self.nodes.get(v)?;
        if matches!(node.motion, Motion::Free(_)) { None } else { node.parent.checked_sub(1) }
    }

    fn cost(&self, v: usize) -> Cost {
        let numbers = |x: usize| if x < self.nodes.len() { 6 } else { self.ends[x - self.nodes.len()].rows };
        let own = &self.coupled[v];
        let parent = self.parent(v).filter(|p| !own.contains(p));
        let boundary: Vec<usize> = own.iter().copied().chain(parent).collect();
        let (mut fill, mut width) = (0, 0);
        for (i, &x) in boundary.iter().enumerate() {
            let new = boundary[..i].iter().filter(|&y| !self.coupled[x].contains(y));
            fill += numbers(x) * new.map(|&y| numbers(y)).sum::<usize>();
            width += numbers(x);
        }
        (fill, width, v < self.nodes.len(), Reverse(v))
    }

    fn is_ready(&self, v: usize) -> bool {
        let Some(c) = v.checked_sub(self.nodes.len()) else { return self.left[v] == 0 };
        self.may_close(c, if self.ends[c].patient { 2 } else { 1 })
    }

    /// Whether a closure has so many times the freedoms of its rows, or hangs on one node.
    fn may_close(&self, c: usize, times: usize) -> bool {
        if self.direct_left[c] > 0 {
            return false;
        }
        // What closes on the base is moved by all nodes between.
        let (v, most) = (self.nodes.len() + c, usize::from(!self.ends[c].on_base));
        if self.coupled[v].range(..self.nodes.len()).nth(most).is_none() {
            return true;
        }
        let freedoms: usize = self.moved_by[c].iter().map(|&n| self.freedoms[n]).sum();
        self.left[v] == 0 && freedoms >= times * self.ends[c].closing
    }

    fn offer(&mut self, v: usize) {
        if !self.done[v] && self.is_ready(v) {
            self.heap.push(Reverse(self.cost(v)));
        }
    }

    /// The next one, with its boundary but for its parent, and whether it is early.
    fn next(&mut self) -> Option<Next> {
        loop {
            let Reverse(cost) = self.heap.pop()?;
            let Reverse(v) = cost.3;
            if self.done[v] || !self.is_ready(v) {
                continue;
            }
            if self.cost(v) == cost {
                let early = v.checked_sub(self.nodes.len()).is_some_and(|c| !self.may_close(c, 2));
                return Some((v, self.eliminate(v), early));
            }
            self.offer(v);
        }
    }

    fn eliminate(&mut self, v: usize) -> BTreeSet<usize> {
        let count = self.nodes.len();
        self.done[v] = true;
        let own = std::mem::take(&mut self.coupled[v]);
        let parent = self.parent(v);
        match v.checked_sub(count) {
            None => {
                if let Some(parent) = self.nodes[v].parent.checked_sub(1) {
                    self.left[parent] -= 1;
                }
                for &x in own.range(count..) {
                    let (c, ends) = (x - count, &self.ends[x - count]);
                    self.moved_by[c].push(v);
                    self.left[x] -= usize::from(ends.wrenches.contains(&v));
                    self.direct_left[c] -= ends.direct.iter().filter(|&&n| n == v).count();
                }
            }
            Some(c) => {
                // The last ones first: they are nearest to where the loop closes.
                let mut rows = self.ends[c].closing;
                for &n in self.moved_by[c].iter().rev() {
                    let taken = rows.min(self.freedoms[n]);
                    self.freedoms[n] -= taken;
                    rows -= taken;
                }
                self.moved_by[c] = Vec::new();
            }
        }
        let boundary: Vec<usize> = own.iter().copied().chain(parent.filter(|p| !own.contains(p))).collect();
        for &x in &boundary {
            self.coupled[x].extend(boundary.iter().filter(|&&y| y != x));
            self.coupled[x].remove(&v);
        }
        boundary.iter().for_each(|&x| self.offer(x));
        if let Some(parent) = self.nodes.get(v).and_then(|node| node.parent.checked_sub(1)) {
            self.offer(parent);
        }
        own
    }
}

/// Sees which closures meet nowhere but at the base.
pub fn find_roots(nodes: &[Node], ends: &mut [Ends]) {
    let mut roots: Vec<usize> = Vec::with_capacity(nodes.len());
    for (n, node) in nodes.iter().enumerate() {
        roots.push(node.parent.checked_sub(1).map_or(n, |parent| roots[parent]));
    }
    for ends in ends {
        let mut own = ends.wrenches.iter().chain(&ends.direct).map(|&n| roots[n]);
        let first = own.next();
        ends.on_base |= own.any(|root| Some(root) != first);
    }
}

impl Schedule {
    pub fn new(nodes: &[Node], freedoms: &[usize], ends: &[Ends]) -> Schedule {
        let (count, all) = (nodes.len(), nodes.len() + ends.len());
        if ends.is_empty() {
            let order: Vec<Next> = (0..count).rev().map(|n| (n, BTreeSet::new(), false)).collect();
            return place(nodes, freedoms, ends, &order);
        }
        let mut graph = Graph {
            nodes,
            ends,
            coupled: vec![BTreeSet::new(); all],
            left: vec![0; all],
            direct_left: ends.iter().map(|e| e.direct.len()).collect(),
            freedoms: freedoms.to_vec(),
            moved_by: vec![Vec::new(); ends.len()],
            done: vec![false; all],
            heap: BinaryHeap::new(),
        };
        for node in nodes.iter().filter(|node| node.parent > 0) {
            graph.left[node.parent - 1] += 1;
        }
        for (c, ends) in ends.iter().enumerate() {
            graph.left[count + c] = ends.wrenches.len();
            for &n in ends.wrenches.iter().chain(&ends.direct) {
                graph.coupled[n].insert(count + c);
                graph.coupled[count + c].insert(n);
            }
        }
        (0..all).for_each(|v| graph.offer(v));
        let mut order = Vec::with_capacity(all);
        while let Some(next) = graph.next() {
            order.push(next);
        }
        debug_assert_eq!(order.len(), all);
        place(nodes, freedoms, ends, &order)
    }
}

/// Gives every coupling its block.
fn place(nodes: &[Node], freedoms: &[usize], ends: &[Ends], order: &[Next]) -> Schedule {
    let count = nodes.len();
    let mut at = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, (v, ..))| at[*v] = i);
    // Of what is eliminated first, the blocks with all that come later.
    let mut blocks: Vec<Vec<(usize, usize)>> = vec![Vec::new(); order.len()];
    let mut total = ends.len();
    let mut block = |x: usize, y: usize| -> Place {
        let (first, second) = if at[x] < at[y] { (x, y) } else { (y, x) };
        let list = &mut blocks[first];
        let found = list.iter().find(|(with, _)| *with == second).map(|(_, block)| *block);
        let block = found.unwrap_or_else(|| {
            list.push((second, total));
            total += 1;
            total - 1
        });
        Place { block, transposed: first != x }
    };
    let unknown = |v: usize| match v.checked_sub(count) {
        None => Unknown::Slot(v + 1),
        Some(c) => Unknown::Rows(c),
    };
    let mut fronts: Vec<Front> = Vec::with_capacity(order.len());
    let mut reached = vec![false; order.len()];
    let (mut sixes, mut widest) = (0, 0);
    for (v, own, early) in order {
        let mut own: Vec<usize> = own.iter().copied().collect();
        own.sort_unstable_by_key(|&x| at[x]);
        let node = nodes.get(*v);
        let is_free = node.is_some_and(|node| matches!(node.motion, Motion::Free(_)));
        let parent = node.filter(|_| !is_free).and_then(|node| node.parent.checked_sub(1));
        let mut open = Vec::with_capacity(own.len());
        for &x in &own {
            let carried = match parent {
                _ if node.is_none() || is_free => Parent::None,
                None => Parent::Base,
                Some(p) if p == x => Parent::Same,
                Some(p) => Parent::Other(block(p, x)),
            };
            open.push(Open { unknown: unknown(x), block: block(*v, x).block, parent: carried });
        }
        let mut pairs = Vec::new();
        for j in 0..own.len() {
            pairs.extend((0..j).map(|i| block(own[i], own[j]).block));
        }
        let next = own.first().copied().into_iter().chain(parent).map(|x| at[x]).min();
        let is_reached = node.is_none() || reached[*v];
        if is_reached {
            own.iter().copied().chain(parent).for_each(|x| reached[x] = true);
        }
        widest = widest.max(own.len());
        let (unknown, reached) = (unknown(*v), is_reached);
        fronts.push(Front { unknown, open, pairs, y: sixes, next, reached, early: *early });
        sixes += node.map_or(0, |_| own.len() * freedoms[*v]);
    }
    let ends = (ends.iter().enumerate())
        .map(|(c, ends)| ends.wrenches.iter().map(|&n| (n, block(n, count + c))).collect())
        .collect();
    Schedule { fronts, front_of_node: at[..count].to_vec(), ends, blocks: total, sixes, widest }
}
