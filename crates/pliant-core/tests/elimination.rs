//! Claim: block elimination solves what a dense solver solves, on trees and on graphs with loops, for
//! blocks of any size, whatever the order, and a second right-hand side with the same factors.

use nalgebra::{DMatrix, DVector};
use pliant_core::elimination::{Assemble, Graph, Numeric, Ordering, Symbolic};

/// A small generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn signed(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64 * 2.0 - 1.0
    }
}

/// A saddle-point graph: bodies of 6, joints of 1 to 6 rows, each body paired with its tree joint,
/// `loops` more joints.
fn saddle_graph(random: &mut Random, bodies: usize, loops: usize) -> Graph {
    let mut graph = Graph::default();
    let mut body_nodes = Vec::new();
    for b in 0..bodies {
        let body = graph.sizes.len();
        graph.sizes.push(6);
        let joint = graph.sizes.len();
        graph.sizes.push(1 + random.below(6));
        graph.units.push(vec![body, joint]);
        let mut element = vec![body, joint];
        if b > 0 {
            element.push(body_nodes[random.below(b)]);
        }
        graph.elements.push(element);
        body_nodes.push(body);
    }
    graph.units.reverse(); // leaf to root
    for _ in 0..loops {
        let joint = graph.sizes.len();
        graph.sizes.push(1 + random.below(5));
        graph.units.push(vec![joint]);
        let (a, b) = (random.below(bodies), random.below(bodies));
        let mut element = vec![joint, body_nodes[a]];
        if a != b {
            element.push(body_nodes[b]);
        }
        graph.elements.push(element);
    }
    graph
}

/// One element's dense matrix: definite on bodies, slightly negative on rows, random in between.
fn element_matrix(random: &mut Random, sizes: &[usize]) -> DMatrix<f64> {
    let n: usize = sizes.iter().sum();
    let mut H = DMatrix::zeros(n, n);
    let mut at = 0;
    for (node, &size) in sizes.iter().enumerate() {
        // The joint is the second node of a tree element and the first of a loop's.
        let body = size == 6 && node != 1;
        for i in at..at + size {
            H[(i, i)] += if body { 4.0 + random.signed() } else { -1e-2 };
        }
        at += size;
    }
    for i in 0..n {
        for j in 0..i {
            let v = 0.2 * random.signed();
            H[(i, j)] += v;
            H[(j, i)] += v;
        }
    }
    H
}

/// Where an element's unknowns are in its front, and its matrix.
type Element = (Vec<usize>, DMatrix<f64>);

/// Dense elements in the front each belongs to.
struct Elements<'a> {
    per_front: &'a [Vec<Element>],
    z: &'a DVector<f64>,
    plan: &'a Symbolic,
}

impl Assemble for Elements<'_> {
    fn add_front(&self, f: usize, front: &mut [f64], stride: usize, size: usize) {
        let (_, pivots) = self.plan.front_size(f);
        for i in 0..pivots {
            front[i * stride + size] = self.z[self.plan.pivot(f, i)];
        }
        for (in_front, H) in &self.per_front[f] {
            for (i, &fi) in in_front.iter().enumerate() {
                for (j, &fj) in in_front.iter().enumerate().filter(|(_, fj)| fi <= **fj) {
                    front[fi * stride + fj] += H[(i, j)];
                }
            }
        }
    }
}

/// The worst of the relative residuals of both solves, and the relative difference to a dense solver.
fn errors(graph: &Graph, ordering: Ordering, random: &mut Random) -> (f64, f64) {
    let plan = Symbolic::new(graph, ordering);
    let n = plan.unknowns();
    let mut dense = DMatrix::<f64>::zeros(n, n);
    let z = DVector::from_fn(n, |_, _| random.signed());
    let mut per_front: Vec<Vec<Element>> = vec![Vec::new(); plan.fronts()];
    for element in &graph.elements {
        let sizes: Vec<usize> = element.iter().map(|&node| graph.sizes[node]).collect();
        let H = element_matrix(random, &sizes);
        let place = plan.place(element);
        let spread = |first: &dyn Fn(usize) -> usize| -> Vec<usize> {
            (0..element.len()).flat_map(|k| first(k)..first(k) + sizes[k]).collect()
        };
        let global = spread(&|k| plan.first_of(element[k]));
        let in_front = spread(&|k| place.positions[k]);
        for (i, &gi) in global.iter().enumerate() {
            for (j, &gj) in global.iter().enumerate() {
                dense[(gi, gj)] += H[(i, j)];
            }
        }
        per_front[place.front].push((in_front, H));
    }
    let mut numeric = Numeric::new(&plan);
    let mut x = vec![0.0; n];
    numeric.factor_and_solve(&plan, &mut x, Elements { per_front: &per_front, z: &z, plan: &plan }).unwrap();
    let residual = |x: &[f64]| {
        let scale = dense.amax() * x.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        (&dense * DVector::from_column_slice(x) - &z).amax() / scale
    };
    let mut again: Vec<f64> = z.iter().copied().collect();
    numeric.solve(&plan, &mut again);
    let oracle = dense.clone().lu().solve(&z).unwrap();
    let difference =
        x.iter().zip(oracle.iter()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / oracle.amax();
    (residual(&x).max(residual(&again)), difference)
}

#[test]
fn equals_a_dense_solve() {
    let mut random = Random(1);
    let (mut left, mut difference) = (0.0f64, 0.0f64);
    for round in 0..200 {
        let bodies = 1 + random.below(25);
        let loops = if round % 2 == 0 { 0 } else { random.below(10) };
        let graph = saddle_graph(&mut random, bodies, loops);
        let orderings = [Ordering::MinimumDegree, Ordering::AsGiven];
        for ordering in orderings.into_iter().take(if loops == 0 { 2 } else { 1 }) {
            let (l, d) = errors(&graph, ordering, &mut random);
            (left, difference) = (left.max(l), difference.max(d));
        }
    }
    println!("residual {left:.1e}, difference {difference:.1e}");
    // Elimination without pivoting grows rounding by the blocks' condition, below about 1e3, and the
    // difference of two solutions by that of the whole matrix.
    assert!(left < 1e-13, "{left:e}");
    assert!(difference < 1e-10, "{difference:e}");
}

#[test]
fn trees_have_no_fill() {
    let mut random = Random(2);
    let graph = saddle_graph(&mut random, 1000, 0);
    for ordering in [Ordering::AsGiven, Ordering::MinimumDegree] {
        let plan = Symbolic::new(&graph, ordering);
        for f in 0..plan.fronts() {
            let (size, pivots) = plan.front_size(f);
            assert!(size - pivots <= 12, "a front touches one other unit only");
            if ordering == Ordering::AsGiven {
                assert!(size - pivots <= 6, "leaf to root, a front touches its parent body only");
            }
        }
    }
}

#[test]
fn a_zero_pivot_is_named() {
    let graph = Graph { sizes: vec![2], units: vec![vec![0]], elements: vec![vec![0]], waiting: vec![] };
    let plan = Symbolic::new(&graph, Ordering::AsGiven);
    let mut x = [0.0; 2];
    struct One;
    impl Assemble for One {
        fn add_front(&self, _: usize, front: &mut [f64], _: usize, _: usize) {
            front[0] = 1.0;
        }
    }
    let error = Numeric::new(&plan).factor_and_solve(&plan, &mut x, One).unwrap_err();
    assert_eq!(error.unknown, 1);
}
