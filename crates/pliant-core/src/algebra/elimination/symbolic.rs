//! The order of elimination, the fronts and where everything lies in memory: computed once.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::kernel::row_start;

pub(super) use crate::algebra::lanes::LANES;

/// What is to be solved: nodes with their sizes, the units they are eliminated in, and the
/// elements that couple them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Number of unknowns of each node.
    pub sizes: Vec<usize>,
    /// Groups of nodes that are eliminated together, in the order within the group. Every node is
    /// in exactly one.
    pub units: Vec<Vec<usize>>,
    /// Groups of nodes of which each pair may share a block.
    pub elements: Vec<Vec<usize>>,
    /// (unit, nodes): the unit's own block is not definite until one of these nodes has been eliminated, as a
    /// joint's is not before one of its bodies. A unit may be listed several times and waits for each.
    pub waiting: Vec<(usize, Vec<usize>)>,
}

/// In which sequence the units go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// As they are listed: leaf to root for a tree.
    AsGiven,
    /// Always the one with the fewest unknowns around it.
    MinimumDegree,
}

/// One front: the unknowns of a unit, then those of the later nodes that it touches, then one
/// column for the right-hand side.
#[derive(Clone, Debug)]
pub(super) struct Front {
    /// Unknowns eliminated here.
    pub pivots: usize,
    /// All unknowns of the front.
    pub size: usize,
    /// Row length in memory: size + 1 (right-hand side), padded.
    pub stride: usize,
    /// First pivot unknown in the solution; the pivots of a front are contiguous there.
    pub first: usize,
    /// Its later unknowns: `runs` of the plan, first and end.
    pub runs: (usize, usize),
    /// Fronts whose updates are added here, most recent last on the stack: `children` of the plan, first and end.
    pub children: (usize, usize),
    /// Where the update of this front lies on the stack of updates.
    pub update: usize,
    /// Where its rows lie among the factors, in lanes.
    pub rows: usize,
}

/// Later unknowns of a front that follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Position of the first in the front, and in the one that the front's update is left to.
    pub at: usize,
    pub to: usize,
    /// The first in the solution.
    pub unknown: usize,
    pub count: usize,
}

/// Where a node's unknowns are in the front of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The front, in the sequence of elimination.
    pub front: usize,
    /// Position in the front of each node of the element.
    pub positions: Vec<usize>,
}

/// The plan of elimination for one graph.
#[derive(Clone, Debug)]
pub struct Symbolic {
    pub(super) fronts: Vec<Front>,
    runs: Vec<Run>,
    children: Vec<usize>,
    pub(super) unknowns: usize,
    pub(super) stack: usize,
    pub(super) factors: usize,
    pub(super) largest: usize,
    first_of_node: Vec<usize>,
    front_of_node: Vec<usize>,
    /// Nodes of each front with their position in it.
    nodes_of_front: Vec<Vec<(usize, usize)>>,
}

impl Symbolic {
    /// Plans the elimination of a graph.
    pub fn new(graph: &Graph, ordering: Ordering) -> Symbolic {
        let nodes = graph.sizes.len();
        let mut unit_of = vec![usize::MAX; nodes];
        for (u, unit) in graph.units.iter().enumerate() {
            for &n in unit {
                debug_assert_eq!(unit_of[n], usize::MAX, "a node belongs to one unit");
                unit_of[n] = u;
            }
        }
        debug_assert!(unit_of.iter().all(|u| *u != usize::MAX), "every node belongs to a unit");

        // The nodes around each unit, at the time it is eliminated.
        let (sequence, around) = eliminate_pattern(graph, &unit_of, ordering);

        // Sequence positions; a unit's update goes to the front of the first later unit it touches.
        let units = graph.units.len();
        let mut position = vec![0; units];
        for (at, &u) in sequence.iter().enumerate() {
            position[u] = at;
        }
        let parent: Vec<Option<usize>> = (0..units)
            .map(|u| around[u].iter().map(|&n| position[unit_of[n]]).min().map(|at| sequence[at]))
            .collect();
        let postorder = postorder(&sequence, &parent);
        let mut front_of_unit = vec![0; units];
        for (f, &u) in postorder.iter().enumerate() {
            front_of_unit[u] = f;
        }

        let mut plan = Symbolic {
            fronts: Vec::with_capacity(units),
            runs: Vec::new(),
            children: Vec::new(),
            unknowns: 0,
            stack: 0,
            factors: 0,
            largest: 0,
            first_of_node: vec![0; nodes],
            front_of_node: vec![0; nodes],
            nodes_of_front: Vec::with_capacity(units),
        };
        for (f, &u) in postorder.iter().enumerate() {
            for &n in &graph.units[u] {
                plan.first_of_node[n] = plan.unknowns;
                plan.front_of_node[n] = f;
                plan.unknowns += graph.sizes[n];
            }
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); units];
        let mut top = 0;
        for (f, &u) in postorder.iter().enumerate() {
            let own = std::mem::take(&mut children[f]);
            top -= own.iter().map(|&c: &usize| update_size(&plan.fronts[c])).sum::<usize>();
            let front = plan.layout(graph, u, &around[u], own, top);
            if front.size > front.pivots {
                let p = parent[u].expect("later nodes have a front");
                top += update_size(&front);
                plan.stack = plan.stack.max(top);
                children[front_of_unit[p]].push(f);
            }
            plan.factors += row_start(front.pivots, front.stride / LANES);
            plan.largest = plan.largest.max(front.size * front.stride);
            plan.fronts.push(front);
        }
        // Now that every front's nodes are placed, updates know where they go.
        for f in 0..units {
            let start = plan.runs.len();
            let pivots = plan.fronts[f].pivots;
            for &(n, at) in plan.nodes_of_front[f].iter().filter(|(_, at)| *at >= pivots) {
                let p = front_of_unit[parent[postorder[f]].expect("later nodes have a front")];
                let run = Run {
                    at,
                    to: plan.position_in(p, n),
                    unknown: plan.first_of_node[n],
                    count: graph.sizes[n],
                };
                match plan.runs[start..].last_mut() {
                    Some(last) if last.is_followed_by(&run) => last.count += run.count,
                    _ => plan.runs.push(run),
                }
            }
            plan.fronts[f].runs = (start, plan.runs.len());
        }
        plan
    }

    /// The later unknowns of a front.
    #[inline(always)]
    pub(super) fn runs(&self, front: &Front) -> &[Run] {
        &self.runs[front.runs.0..front.runs.1]
    }

    /// The fronts that leave their updates to a front.
    #[inline(always)]
    pub(super) fn children(&self, front: &Front) -> &[usize] {
        &self.children[front.children.0..front.children.1]
    }

    /// Number of unknowns of all nodes together.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// Number of fronts.
    pub fn fronts(&self) -> usize {
        self.fronts.len()
    }

    /// Unknowns of a front, and how many of them are eliminated there.
    pub fn front_size(&self, front: usize) -> (usize, usize) {
        (self.fronts[front].size, self.fronts[front].pivots)
    }

    /// Where pivot k of a front is in right-hand sides and solutions.
    pub fn pivot(&self, front: usize, k: usize) -> usize {
        self.fronts[front].first + k
    }

    /// Where a node's unknowns start in right-hand sides and solutions.
    pub fn first_of(&self, node: usize) -> usize {
        self.first_of_node[node]
    }

    /// The front that an element is assembled in: that of its first eliminated node, which holds
    /// all the others too.
    pub fn place(&self, element: &[usize]) -> Place {
        let front = element.iter().map(|&n| self.front_of_node[n]).min().expect("an element has nodes");
        Place { front, positions: element.iter().map(|&n| self.position_in(front, n)).collect() }
    }

    /// Position of a node in a front.
    fn position_in(&self, front: usize, node: usize) -> usize {
        let nodes = &self.nodes_of_front[front];
        nodes.iter().find(|(n, _)| *n == node).expect("the front holds the node").1
    }

    /// Lays out the front of a unit, but for where its update goes; children are known already.
    fn layout(
        &mut self,
        graph: &Graph,
        unit: usize,
        around: &BTreeSet<usize>,
        children: Vec<usize>,
        update: usize,
    ) -> Front {
        let mut nodes = Vec::new();
        let mut size = 0;
        for &n in &graph.units[unit] {
            nodes.push((n, size));
            size += graph.sizes[n];
        }
        let pivots = size;
        let first = graph.units[unit].first().map_or(0, |&n| self.first_of_node[n]);
        // Later nodes in the order of the solution, so that runs of them are contiguous everywhere.
        let mut later: Vec<usize> = around.iter().copied().collect();
        later.sort_by_key(|&n| self.first_of_node[n]);
        for n in later {
            nodes.push((n, size));
            size += graph.sizes[n];
        }
        self.nodes_of_front.push(nodes);
        let stride = (size + 1).div_ceil(LANES) * LANES;
        let start = self.children.len();
        self.children.extend(children);
        let children = (start, self.children.len());
        Front { pivots, size, stride, first, runs: (0, 0), children, update, rows: self.factors }
    }
}

impl Run {
    /// Whether another run follows this one everywhere.
    fn is_followed_by(&self, next: &Run) -> bool {
        [self.at, self.to, self.unknown].map(|x| x + self.count) == [next.at, next.to, next.unknown]
    }
}

/// Lanes of a row of a front's update: the later unknowns and the right-hand side.
pub(super) fn update_width(front: &Front) -> usize {
    (front.size - front.pivots + 1).div_ceil(LANES)
}

/// Lanes that an update takes on the stack: a row for each later unknown.
pub(super) fn update_size(front: &Front) -> usize {
    (front.size - front.pivots) * update_width(front)
}

/// Eliminates units on the pattern alone. Returns the sequence and, for each unit, the later nodes
/// it touches when its turn comes.
fn eliminate_pattern(
    graph: &Graph,
    unit_of: &[usize],
    ordering: Ordering,
) -> (Vec<usize>, Vec<BTreeSet<usize>>) {
    let units = graph.units.len();
    // The nodes outside a unit that its nodes share an element (or, later, an update) with.
    let mut around: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units];
    for element in &graph.elements {
        for &a in element {
            around[unit_of[a]].extend(element.iter().filter(|&&b| unit_of[b] != unit_of[a]));
        }
    }
    let mut weights: Vec<usize> =
        around.iter().map(|nodes| nodes.iter().map(|&n| graph.sizes[n]).sum()).collect();
    // What each unit still waits for, and which of the waits the elimination of a unit ends.
    let mut waits = vec![0usize; units];
    let mut over = vec![false; graph.waiting.len()];
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); units];
    if ordering == Ordering::MinimumDegree {
        for (wait, (u, nodes)) in graph.waiting.iter().enumerate() {
            waits[*u] += 1;
            nodes.iter().for_each(|&n| ends[unit_of[n]].push(wait));
        }
    }
    let mut done = vec![false; units];
    let mut sequence = Vec::with_capacity(units);
    let mut heap: BinaryHeap<Reverse<(usize, usize)>> = match ordering {
        // Weights stand for the given sequence itself.
        Ordering::AsGiven => (0..units).map(|u| Reverse((u, u))).collect(),
        Ordering::MinimumDegree => {
            (0..units).filter(|&u| waits[u] == 0).map(|u| Reverse((weights[u], u))).collect()
        }
    };
    while let Some(Reverse((w, u))) = heap.pop() {
        if done[u] || (ordering == Ordering::MinimumDegree && w != weights[u]) {
            continue; // an older entry of a unit whose neighbourhood has changed since
        }
        done[u] = true;
        sequence.push(u);
        // What the unit touched becomes one clique, without the unit.
        let clique = around[u].clone();
        let mut touched: Vec<usize> = clique.iter().map(|&n| unit_of[n]).collect();
        touched.sort_unstable();
        touched.dedup();
        for v in touched {
            for n in &graph.units[u] {
                weights[v] -= if around[v].remove(n) { graph.sizes[*n] } else { 0 };
            }
            for &n in clique.iter().filter(|&&n| unit_of[n] != v) {
                weights[v] += if around[v].insert(n) { graph.sizes[n] } else { 0 };
            }
            if ordering == Ordering::MinimumDegree && waits[v] == 0 {
                heap.push(Reverse((weights[v], v)));
            }
        }
        for &wait in &ends[u] {
            if !std::mem::replace(&mut over[wait], true) {
                let v = graph.waiting[wait].0;
                waits[v] -= 1;
                if waits[v] == 0 {
                    heap.push(Reverse((weights[v], v)));
                }
            }
        }
    }
    debug_assert_eq!(sequence.len(), units, "what a unit waits for comes");
    (sequence, around)
}

/// The sequence, rearranged so that each front follows right after the fronts whose updates it
/// takes: updates then live on a stack.
fn postorder(sequence: &[usize], parent: &[Option<usize>]) -> Vec<usize> {
    let units = parent.len();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); units];
    let mut roots = Vec::new();
    for &u in sequence {
        match parent[u] {
            Some(p) => children[p].push(u),
            None => roots.push(u),
        }
    }
    let mut order = Vec::with_capacity(units);
    // Depth first without recursion: a unit is listed when all its children have been.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in roots {
        stack.push((root, 0));
        while let Some((u, next)) = stack.last_mut() {
            if let Some(&c) = children[*u].get(*next) {
                *next += 1;
                stack.push((c, 0));
            } else {
                order.push(*u);
                stack.pop();
            }
        }
    }
    order
}
