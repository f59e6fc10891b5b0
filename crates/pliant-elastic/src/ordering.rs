//! The sequence in which unknown nodes are eliminated: nested dissection by coordinates (George 1973), those that are wanted
//! dense at the end.

use nalgebra::Vector3;

use crate::surface::bounds;

/// Parts of this many nodes are not cut further.
const LEAF: usize = 48;

/// Neighbours of each unknown node, itself left out.
pub(crate) struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// The graph in which the members of each group are all neighbours.
    pub(crate) fn new(count: usize, groups: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); count];
        for group in groups {
            for &a in &group {
                of[a as usize].extend(group.iter().copied().filter(|&b| b != a));
            }
        }
        let mut starts = Vec::with_capacity(count + 1);
        let mut neighbours = Vec::new();
        starts.push(0);
        for list in &mut of {
            list.sort_unstable();
            list.dedup();
            neighbours.append(list);
            starts.push(neighbours.len());
        }
        Self { starts, neighbours }
    }

    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }
}

/// Place of each unknown in the elimination: the first `first` of them dissected, the others behind them as they come.
pub(crate) fn places(graph: &Graph, points: &[Vector3<f64>], first: usize) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..first as u32).collect();
    let mut order = Vec::with_capacity(points.len());
    let mut side = vec![0u8; points.len()];
    dissect(graph, points, &mut nodes, &mut side, &mut order);
    let order = postordered(graph, &order, points.len());
    let mut place: Vec<u32> = (0..points.len() as u32).collect();
    for (k, &node) in order.iter().enumerate() {
        place[node as usize] = k as u32;
    }
    place
}

/// Two halves, then the nodes of one that touch the other.
fn dissect(graph: &Graph, points: &[Vector3<f64>], nodes: &mut [u32], side: &mut [u8], order: &mut Vec<u32>) {
    if nodes.len() <= LEAF {
        return order.extend_from_slice(nodes);
    }
    let (low, high) = bounds(&nodes.iter().map(|&i| points[i as usize]).collect::<Vec<_>>());
    let axis = (high - low).imax();
    let middle = nodes.len() / 2;
    let key = |i: u32| points[i as usize][axis];
    nodes.select_nth_unstable_by(middle, |&i, &j| key(i).total_cmp(&key(j)).then(i.cmp(&j)));
    let (left, right) = nodes.split_at_mut(middle);
    left.iter().for_each(|&i| side[i as usize] = 1);
    right.iter().for_each(|&i| side[i as usize] = 2);
    let touches = |i: u32, other: u8| graph.of(i as usize).iter().any(|&j| side[j as usize] == other);
    let (mut l, mut from_left): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    left.iter().for_each(|&i| if touches(i, 2) { from_left.push(i) } else { l.push(i) });
    let (mut r, mut from_right): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    right.iter().for_each(|&i| if touches(i, 1) { from_right.push(i) } else { r.push(i) });
    left.iter().chain(right.iter()).for_each(|&i| side[i as usize] = 0);
    let separator = if from_left.len() <= from_right.len() {
        r.append(&mut from_right);
        from_left
    } else {
        l.append(&mut from_left);
        from_right
    };
    dissect(graph, points, &mut l, side, order);
    dissect(graph, points, &mut r, side, order);
    order.extend(separator);
}

/// The same elimination with every subtree in a row, so that equal columns of the factor are neighbours (Liu 1990).
fn postordered(graph: &Graph, order: &[u32], count: usize) -> Vec<u32> {
    let n = order.len();
    let mut place = vec![u32::MAX; count];
    order.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
    // Elimination tree with path compression.
    let mut parent = vec![usize::MAX; n];
    let mut ancestor = vec![usize::MAX; n];
    for k in 0..n {
        for &j in graph.of(order[k] as usize) {
            let mut i = place[j as usize] as usize;
            while i < k {
                let next = ancestor[i];
                ancestor[i] = k;
                if next == usize::MAX {
                    parent[i] = k;
                    break;
                }
                i = next;
            }
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut stack = Vec::new();
    for k in (0..n).rev() {
        if parent[k] == usize::MAX {
            stack.push((k, false));
        } else {
            children[parent[k]].push(k);
        }
    }
    let mut result = Vec::with_capacity(n);
    while let Some((k, done)) = stack.pop() {
        if done {
            result.push(order[k]);
        } else {
            stack.push((k, true));
            stack.extend(children[k].iter().map(|&c| (c, false)));
        }
    }
    result
}
