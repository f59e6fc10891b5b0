//! Claim: block elimination solves what a dense solver solves, on trees and on graphs with loops, for
//! blocks of any size, whatever the order, and a second right-hand side with the same factors; and with
//! pivoting inside units, where bodies have nothing on their diagonal and the last unit is singular.

use nalgebra::{DMatrix, DVector};
use pliant_core::algebra::elimination::{Assemble, Blocks, Graph, Numeric, Ordering, Pivoted, Symbolic};
use pliant_core::numbers::splitmix64;

/// A small generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
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

/// Statics of a random mechanism: bodies with nothing on their diagonal, paired with the joint that carries them,
/// `[0 I; I −C]` with C of rank 2, and joints that close loops in one last unit.
struct Statics {
    graph: Graph,
    blocks: Blocks,
}

fn statics(random: &mut Random, bodies: usize, loops: usize, twice: bool) -> Statics {
    let (mut graph, mut blocks) = (Graph::default(), Blocks::default());
    let mut twists: Vec<usize> = Vec::new();
    let soft = |random: &mut Random, blocks: &mut Blocks, joint: usize| {
        let J = DMatrix::from_fn(6, 2, |_, _| random.signed());
        let C = &J * J.transpose();
        blocks.add(joint, joint, 6, 6, |i, k| -C[(i, k)]);
    };
    for b in 0..bodies {
        let (twist, wrench) = (graph.sizes.len(), graph.sizes.len() + 1);
        graph.sizes.extend([6, 6]);
        graph.units.push(vec![twist, wrench]);
        blocks.add(wrench, twist, 6, 6, |i, k| f64::from(i == k));
        if b > 0 {
            let Ad = DMatrix::from_fn(6, 6, |_, _| 0.5 * random.signed());
            let parent = twists[random.below(b)];
            blocks.add(wrench, parent, 6, 6, |i, k| -Ad[(i, k)]);
        }
        soft(random, &mut blocks, wrench);
        twists.push(twist);
    }
    graph.units.reverse(); // leaf to root
    let mut last = Vec::new();
    for _ in 0..loops {
        // A closure, and if it is to be redundant the same once more.
        let (a, b) = (twists[random.below(bodies)], twists[random.below(bodies)]);
        let rows = 1 + random.below(2);
        let G = DMatrix::from_fn(rows, 12, |_, _| random.signed());
        for _ in 0..1 + usize::from(twice) {
            let wrench = graph.sizes.len();
            graph.sizes.push(rows);
            blocks.add(wrench, a, rows, 6, |i, k| G[(i, k)]);
            if a != b {
                blocks.add(wrench, b, rows, 6, |i, k| G[(i, 6 + k)]);
            }
            if !twice {
                // Random closures may hold one body more often than it can move: soft ones always may.
                blocks.add(wrench, wrench, rows, rows, |i, k| if i == k { -0.1 } else { 0.0 });
            }
            last.push(wrench);
        }
    }
    if !last.is_empty() {
        graph.units.push(last);
    }
    graph.elements = blocks.elements();
    Statics { graph, blocks }
}

/// The matrix, read by its products with unit vectors.
fn dense(blocks: &Blocks, plan: &Symbolic) -> DMatrix<f64> {
    let n = plan.unknowns();
    let identity: Vec<f64> = (0..n * n).map(|i| f64::from(i / n == i % n)).collect();
    let mut product = vec![0.0; n * n];
    blocks.subtract_product(plan, &identity, &mut product, n);
    -DMatrix::from_row_slice(n, n, &product)
}

#[test]
fn pivoted_equals_a_dense_solve() {
    let mut random = Random(3);
    let (mut left, mut difference) = (0.0f64, 0.0f64);
    for round in 0..200 {
        let (bodies, columns) = (1 + random.below(12), 1 + random.below(7));
        let loops = if round % 2 == 0 { 0 } else { 1 + random.below(bodies.min(4)) };
        let Statics { graph, blocks } = statics(&mut random, bodies, loops, false);
        let plan = Symbolic::new(&graph, Ordering::AsGiven);
        let H = dense(&blocks, &plan);
        assert_eq!(H, H.transpose());
        let (b, n) = (DMatrix::from_fn(H.nrows(), columns, |_, _| random.signed()), H.nrows());
        let factors = Pivoted::factor(&plan, &blocks.placed(&plan), None).unwrap();
        let mut x: Vec<f64> = b.transpose().as_slice().to_vec();
        factors.solve(&plan, &mut x, columns, &mut Vec::new());
        let x = DMatrix::from_row_slice(n, columns, &x);
        let oracle = H.clone().full_piv_lu().solve(&b).unwrap();
        left = left.max((&H * &x - &b).amax() / (H.amax() * x.amax().max(1.0)));
        difference = difference.max((&x - &oracle).amax() / oracle.amax());
    }
    println!("residual {left:.1e}, difference {difference:.1e}");
    // Rounding with pivots inside units, and for the difference the matrix's condition, below about 1e2.
    assert!(left < 1e-14, "{left:e}");
    assert!(difference < 1e-13, "{difference:e}");
}

#[test]
fn redundant_closures_in_the_last_unit_are_left_out() {
    let mut random = Random(4);
    let (mut left, mut difference) = (0.0f64, 0.0f64);
    for _ in 0..100 {
        let (bodies, columns) = (2 + random.below(10), 1 + random.below(4));
        let loops = 1 + random.below(bodies.min(4));
        let Statics { graph, blocks } = statics(&mut random, bodies, loops, true);
        let plan = Symbolic::new(&graph, Ordering::AsGiven);
        let H = dense(&blocks, &plan);
        // Loads on bodies are consistent whatever closures repeat, and their motions unique.
        let n = H.nrows();
        let mut b = DMatrix::zeros(n, columns);
        let twists: Vec<usize> = (0..2 * bodies).step_by(2).map(|node| plan.first_of(node)).collect();
        for (i, column) in twists.iter().flat_map(|&t| t..t + 6).zip((0..).map(|i| i % columns)) {
            b[(i, column)] = random.signed();
        }
        let factors = Pivoted::factor(&plan, &blocks.placed(&plan), Some(1e-11)).unwrap();
        let mut x: Vec<f64> = b.transpose().as_slice().to_vec();
        factors.solve(&plan, &mut x, columns, &mut Vec::new());
        let x = DMatrix::from_row_slice(n, columns, &x);
        left = left.max((&H * &x - &b).amax() / (H.amax() * x.amax().max(1.0)));
        let svd = H.clone().svd(true, true);
        let oracle = svd.solve(&b, 1e-10 * svd.singular_values[0]).unwrap();
        for i in twists.iter().flat_map(|&t| t..t + 6) {
            difference = difference.max((x.row(i) - oracle.row(i)).amax() / oracle.amax());
        }
    }
    println!("residual {left:.1e}, difference {difference:.1e}");
    // As above.
    assert!(left < 1e-14, "{left:e}");
    assert!(difference < 1e-13, "{difference:e}");
}

#[test]
fn a_unit_without_pivot_is_named() {
    // A body that no joint carries has nothing to pivot on.
    let graph = Graph { sizes: vec![1, 2], units: vec![vec![0], vec![1]], elements: vec![], waiting: vec![] };
    let mut blocks = Blocks::default();
    blocks.add(0, 0, 1, 1, |_, _| 1.0);
    blocks.add(1, 1, 2, 2, |i, k| f64::from(i == 0 && k == 0));
    let plan = Symbolic::new(&graph, Ordering::AsGiven);
    let error = Pivoted::factor(&plan, &blocks.placed(&plan), None).unwrap_err();
    assert_eq!(error.unknown, plan.first_of(1) + 1);
}

#[test]
fn blocks_add_up() {
    let graph = Graph { sizes: vec![1, 2], units: vec![vec![0, 1]], elements: vec![], waiting: vec![] };
    let plan = Symbolic::new(&graph, Ordering::AsGiven);
    let mut some = Blocks::default();
    some.add(0, 1, 1, 2, |_, k| 1.0 + k as f64);
    some.add(1, 0, 2, 1, |i, _| 10.0 * i as f64);
    let mut more = Blocks::default();
    more.add(0, 0, 1, 1, |_, _| 5.0);
    more.add(1, 1, 2, 2, |i, k| if i == k { 3.0 } else { -1.0 });
    assert_eq!(some.elements(), [[0, 1], [1, 0]]);
    let all = some.and(&more);
    let expected = DMatrix::from_row_slice(3, 3, &[5.0, 1.0, 12.0, 1.0, 3.0, -1.0, 12.0, -1.0, 3.0]);
    assert_eq!(dense(&all, &plan), expected);
    // What is assembled is what products are taken with.
    let factors = Pivoted::factor(&plan, &all.placed(&plan), None).unwrap();
    let mut x = (&expected * DVector::from_column_slice(&[1.0, -2.0, 0.5])).as_slice().to_vec();
    factors.solve(&plan, &mut x, 1, &mut Vec::new());
    for (x, wanted) in x.iter().zip([1.0, -2.0, 0.5]) {
        assert!((x - wanted).abs() < 1e-15, "{x} {wanted}");
    }
}
