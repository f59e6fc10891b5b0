//! A symmetric matrix as a list of dense blocks between nodes: what is assembled into fronts, and what a
//! residual is taken with.

use super::numeric::Assemble;
use super::symbolic::Symbolic;

/// One block: rows of node a, columns of node b; its mirror image is implied.
#[derive(Clone, Copy, Debug)]
struct Block {
    a: usize,
    b: usize,
    rows: usize,
    columns: usize,
    /// Where its numbers start, row by row.
    start: usize,
}

/// Blocks between nodes, several of which may fall on the same pair.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    blocks: Vec<Block>,
    values: Vec<f64>,
}

impl Blocks {
    /// Adds a block between two nodes; on one node alone it must be symmetric.
    pub fn add(
        &mut self,
        a: usize,
        b: usize,
        rows: usize,
        columns: usize,
        value: impl Fn(usize, usize) -> f64,
    ) {
        self.blocks.push(Block { a, b, rows, columns, start: self.values.len() });
        for i in 0..rows {
            self.values.extend((0..columns).map(|j| value(i, j)));
        }
    }

    /// With the blocks of another list.
    pub fn and(mut self, other: &Blocks) -> Blocks {
        let start = self.values.len();
        self.values.extend(&other.values);
        self.blocks.extend(other.blocks.iter().map(|b| Block { start: start + b.start, ..*b }));
        self
    }

    /// The pairs of nodes that share a block.
    pub fn elements(&self) -> Vec<Vec<usize>> {
        self.blocks.iter().filter(|b| b.a != b.b).map(|b| vec![b.a, b.b]).collect()
    }

    /// y −= H x for vectors that stand side by side.
    pub fn subtract_product(&self, plan: &Symbolic, x: &[f64], y: &mut [f64], columns: usize) {
        for block in &self.blocks {
            let (a, b) = (plan.first_of(block.a), plan.first_of(block.b));
            for i in 0..block.rows {
                for j in 0..block.columns {
                    let value = self.values[block.start + i * block.columns + j];
                    if value == 0.0 {
                        continue;
                    }
                    let mut add = |to: usize, from: usize| {
                        let from = &x[from * columns..(from + 1) * columns];
                        for (y, x) in y[to * columns..(to + 1) * columns].iter_mut().zip(from) {
                            *y -= value * x;
                        }
                    };
                    add(a + i, b + j);
                    if block.a != block.b {
                        add(b + j, a + i);
                    }
                }
            }
        }
    }

    /// The blocks, each with the front it is assembled in.
    pub fn placed<'a>(&'a self, plan: &Symbolic) -> Placed<'a> {
        let mut blocks: Vec<(usize, [usize; 2], Block)> = (self.blocks.iter())
            .map(|&block| {
                let place = plan.place(&[block.a, block.b]);
                (place.front, [place.positions[0], place.positions[1]], block)
            })
            .collect();
        blocks.sort_by_key(|(front, ..)| *front);
        let mut first = vec![0; plan.fronts() + 1];
        blocks.iter().for_each(|(front, ..)| first[front + 1] += 1);
        (0..plan.fronts()).for_each(|f| first[f + 1] += first[f]);
        Placed { blocks, first, values: &self.values }
    }
}

/// Blocks by front, ready to be assembled.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    blocks: Vec<(usize, [usize; 2], Block)>,
    first: Vec<usize>,
    values: &'a [f64],
}

impl Assemble for &Placed<'_> {
    fn add_front(&self, f: usize, front: &mut [f64], stride: usize, _size: usize) {
        for (_, [a, b], block) in &self.blocks[self.first[f]..self.first[f + 1]] {
            for i in 0..block.rows {
                for j in 0..block.columns {
                    let (row, column) = (a + i, b + j);
                    if a == b && row > column {
                        continue;
                    }
                    let at = if row <= column { row * stride + column } else { column * stride + row };
                    front[at] += self.values[block.start + i * block.columns + j];
                }
            }
        }
    }
}
