//! Broad phase: which shapes may come near each other in a step.
//!
//! A box around each shape is grown by how far the shape can come in the step. Boxes of what moves are sorted along the
//! axis on which they are spread most and swept: each is compared with those that begin before it ends. Static shapes are
//! compared with each box that moves. Boxes are made a little larger than that: while all shapes stay in theirs, the pairs are those
//! of the last sweep. So n bodies that lie about take n log n, m static shapes n·m comparisons of boxes; bodies
//! that all overlap along every axis are n² pairs, whatever is done.

use nalgebra::Vector3;

/// The box around a shape, world axes, with how far it can come in a step; and what carries it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub low: Vector3<f64>,
    pub high: Vector3<f64>,
    pub thing: usize,
}

impl Bounds {
    /// Whether a box about a point, of this half length, is in it.
    #[inline]
    pub fn holds(&self, center: &Vector3<f64>, half: f64) -> bool {
        (0..3).all(|i| self.low[i] <= center[i] - half && center[i] + half <= self.high[i])
    }

    #[inline]
    fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|i| self.low[i] <= other.high[i] && other.low[i] <= self.high[i])
    }
}

/// Memory of the sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    pub bounds: Vec<Bounds>,
    /// What moves, in the order of the last sweep, and along which axis.
    order: Vec<usize>,
    axis: usize,
    /// Pairs of shapes of two things that may come near each other, each and all ascending.
    pub found: Vec<(usize, usize)>,
}

impl Broad {
    /// Finds the pairs of all bounds; the first `fixed` of them do not move.
    pub fn sweep(&mut self, fixed: usize) {
        self.found.clear();
        let (still, moving) = self.bounds.split_at(fixed);
        let axis = widest(moving);
        if self.order.len() != moving.len() || self.axis != axis {
            self.order.clear();
            self.order.extend(0..moving.len());
            self.axis = axis;
            self.order.sort_by(|a, b| moving[*a].low[axis].total_cmp(&moving[*b].low[axis]));
        } else {
            // Nearly sorted since the last step.
            for i in 1..self.order.len() {
                let mut k = i;
                while k > 0 && moving[self.order[k]].low[axis] < moving[self.order[k - 1]].low[axis] {
                    self.order.swap(k, k - 1);
                    k -= 1;
                }
            }
        }
        for (i, &a) in self.order.iter().enumerate() {
            let one = &moving[a];
            for &b in &self.order[i + 1..] {
                let two = &moving[b];
                if two.low[axis] > one.high[axis] {
                    break;
                }
                if one.thing != two.thing && one.meets(two) {
                    self.found.push((fixed + a.min(b), fixed + a.max(b)));
                }
            }
        }
        for (a, one) in still.iter().enumerate() {
            let near = moving.iter().enumerate().filter(|(_, two)| one.meets(two));
            self.found.extend(near.map(|(b, _)| (a, fixed + b)));
        }
        self.found.sort_unstable();
    }
}

/// The axis along which the middles of boxes are spread most.
fn widest(bounds: &[Bounds]) -> usize {
    let (mut sum, mut squares) = (Vector3::zeros(), Vector3::zeros());
    for b in bounds {
        let middle = (b.low + b.high) * 0.5;
        sum += middle;
        squares += middle.component_mul(&middle);
    }
    let n = bounds.len().max(1) as f64;
    (squares / n - sum.component_mul(&sum) / (n * n)).imax()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    /// The sweep finds what comparing all with all does, also when boxes move from step to step, pass each other, are put
    /// elsewhere, or have no finite place.
    #[test]
    fn finds_all_pairs() {
        let mut numbers = Numbers(7);
        let mut random = |size: f64| Vector3::from_fn(|_, _| numbers.between(-size, size));
        for (count, fixed) in [(0, 0), (1, 1), (60, 0), (60, 7), (200, 3)] {
            let mut broad = Broad::default();
            let mut middles: Vec<Vector3<f64>> = (0..count).map(|_| random(3.0)).collect();
            let (mut pairs, mut axes) = (0, [false; 3]);
            for step in 0..30 {
                let stretch = Vector3::from_fn(|i, _| if i == step / 10 { 3.0 } else { 1.0 });
                for middle in &mut middles[fixed..] {
                    *middle += random(0.2);
                }
                broad.bounds = (middles.iter().enumerate())
                    .map(|(i, middle)| {
                        let (at, half) = (middle.component_mul(&stretch), random(0.5).abs());
                        Bounds {
                            low: at - half,
                            high: at + half,
                            thing: if i < fixed { 0 } else { 1 + i / 2 },
                        }
                    })
                    .collect();
                broad.sweep(fixed);
                let mut expected = Vec::new();
                for a in 0..count {
                    for b in a + 1..count {
                        let (one, two) = (&broad.bounds[a], &broad.bounds[b]);
                        if b >= fixed && one.thing != two.thing && one.meets(two) {
                            expected.push((a, b));
                        }
                    }
                }
                assert_eq!(broad.found, expected);
                pairs += expected.len();
                axes[broad.axis] = true;
            }
            assert!(count < 60 || (pairs > 50 && axes == [true; 3]), "{count}: {pairs} {axes:?}");
        }
    }
}
