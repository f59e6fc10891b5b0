//! The motions Θ: fixed combinations of joint coordinates, θ = θ_ref + Θ y, one column each.
//!
//! A free base is six columns more, in front: its twist at the common point P, which no coordinate has. A row of Θ is kept
//! for each freedom, and of hinges once more side by side for four links, so that neither way of summing waits for the other.

use std::array::from_fn;

use nalgebra::DMatrix;

use super::tree::Tree;
use crate::algebra::lanes::{Lanes, Number, one_block_at_a_time};
use crate::algebra::wide::padded;

/// Θ in memory.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    /// Columns: six for each free base, then the motions.
    pub count: usize,
    /// Length of a row in memory.
    pub stride: usize,
    /// A row for each freedom.
    pub rows: Vec<f64>,
    /// For each block of four links, four numbers for each column; zero where there is no hinge.
    pub lanes: Vec<Lanes>,
}

impl Basis {
    /// From a matrix with a row for each freedom of the tree's joints, those of free bases left out.
    pub fn new(tree: &Tree, motions: &DMatrix<f64>) -> Basis {
        let base = 6 * tree.floats.len();
        let count = base + motions.ncols();
        let stride = padded(count);
        let mut rows = vec![0.0; tree.freedoms.len() * stride];
        let (mut joint, mut free) = (0, 0);
        for (row, freedom) in rows.chunks_exact_mut(stride.max(1)).zip(&tree.freedoms) {
            if freedom.coordinate.is_some() {
                (0..motions.ncols()).for_each(|k| row[base + k] = motions[(joint, k)]);
                joint += 1;
            } else {
                row[free] = 1.0;
                free += 1;
            }
        }
        let mut lanes = vec![Lanes::ZERO; tree.joints.len() * count];
        for (b, block) in tree.joints.iter().enumerate() {
            for l in (0..4).filter(|l| block.freedom[*l] != usize::MAX) {
                for k in 0..count {
                    lanes[b * count + k][l] = rows[block.freedom[l] * stride + k];
                }
            }
        }
        Basis { count, stride, rows, lanes }
    }

    /// The row of a freedom.
    #[inline(always)]
    pub fn row(&self, freedom: usize) -> &[f64] {
        &self.rows[freedom * self.stride..(freedom + 1) * self.stride]
    }

    /// Adds Θ y to the coordinates of hinges, of blocks of links from `first` on. Four blocks in one go, so that a number of y is
    /// spread over a vector once for all of them.
    #[inline(always)]
    pub fn add_motion<const FUSED: bool>(&self, first: usize, y: &[f64], to: &mut [Lanes]) {
        let count = self.count;
        let theta = &self.lanes[first * count..(first + to.len()) * count];
        let (fours, rest) = to.as_chunks_mut::<4>();
        let (whole, last) = theta.split_at(4 * fours.len() * count);
        for (to, theta) in fours.iter_mut().zip(whole.chunks_exact(4 * count.max(1))) {
            let [one, two, three, four]: [&[Lanes]; 4] = from_fn(|k| &theta[k * count..(k + 1) * count]);
            let mut sums = *to;
            for ((((y, one), two), three), four) in y.iter().zip(one).zip(two).zip(three).zip(four) {
                one_block_at_a_time();
                let y = Lanes::all(*y);
                sums[0] = one.fma::<FUSED>(y, sums[0]);
                sums[1] = two.fma::<FUSED>(y, sums[1]);
                sums[2] = three.fma::<FUSED>(y, sums[2]);
                sums[3] = four.fma::<FUSED>(y, sums[3]);
            }
            *to = sums;
        }
        for (to, theta) in rest.iter_mut().zip(last.chunks_exact(count.max(1))) {
            for (y, theta) in y.iter().zip(theta) {
                *to = theta.fma::<FUSED>(Lanes::all(*y), *to);
            }
        }
    }
}
