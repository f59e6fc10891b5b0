//! Claim: a tape that was compiled to machine code computes what the interpreter computes, to the last bit, for any
//! program and any inputs: signed zeros, infinities, numbers too small to be normal, NaN and roots of negative
//! numbers among them. Where the interpreter gives a NaN, so does the machine; which one neither promises.
#![cfg(feature = "compiled")]

use crate::common::formulas;
use pliant_core::expression::{Graph, Node, Tape};

/// A generator of its own, so that seeds mean the same for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Mostly ordinary numbers, now and then one of those that programs forget.
    fn number(&mut self) -> f64 {
        let odd = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -1e-310, f64::MAX, 1e300];
        if self.below(40) == 0 {
            odd[self.below(odd.len())]
        } else {
            ((self.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 20.0
        }
    }
}

fn random_graph(random: &mut Random, inputs: usize, size: usize) -> (Graph, Vec<Node>) {
    let mut graph = Graph::default();
    let mut nodes: Vec<Node> = (0..inputs).map(|k| graph.input(k)).collect();
    for _ in 0..size {
        let mut pick = || nodes[random.below(nodes.len())];
        let (a, b, c) = (pick(), pick(), pick());
        let node = match random.below(12) {
            0 => graph.constant(random.number()),
            1 => graph.negate(a),
            2 => graph.root(a),
            3 => graph.sine(a),
            4 => graph.cosine(a),
            5 => graph.subtract(a, b),
            6 => graph.divide(a, b),
            7 => graph.power(a, [0.3, -1.7, 100.0][random.below(3)]),
            8 => graph.less(a, b),
            9 => graph.select(a, b, c),
            10 => graph.multiply(a, b),
            _ => graph.add(a, b),
        };
        nodes.push(node);
    }
    let outputs = (0..8).map(|_| nodes[random.below(nodes.len())]).collect();
    (graph, outputs)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn check(tape: &Tape, random: &mut Random, rounds: usize) -> usize {
    let (mut machine, mut interpreter) = (vec![0.0; tape.outputs()], vec![0.0; tape.outputs()]);
    let mut not_numbers = 0;
    for _ in 0..rounds {
        let inputs: Vec<f64> = (0..tape.inputs()).map(|_| random.number()).collect();
        tape.run(&inputs, &mut machine);
        tape.interpret(&inputs, &mut interpreter);
        for (k, (a, b)) in machine.iter().zip(&interpreter).enumerate() {
            assert!(same(*a, *b), "output {k} of {inputs:?}: machine {a:e}, interpreter {b:e}");
        }
        not_numbers += usize::from(interpreter.iter().any(|x| x.is_nan()));
    }
    not_numbers
}

#[test]
fn random_programs() {
    let mut random = Random(1);
    let (mut not_numbers, mut rounds) = (0, 0);
    for size in (0..300).map(|k| 1 + k) {
        let (graph, outputs) = random_graph(&mut random, 5, size);
        let tape = Tape::new(&graph, 5, &outputs).unwrap();
        assert!(Tape::compile(&[&tape]), "this machine is known");
        not_numbers += check(&tape, &mut random, 40);
        rounds += 40;
    }
    println!("{not_numbers} of {rounds} inputs gave a NaN");
    assert!(not_numbers > rounds / 20 && not_numbers < rounds, "both kinds were seen");
}

#[test]
fn every_formula() {
    let mut random = Random(2);
    for case in formulas::all() {
        let joint = &case.expression;
        joint.prepare();
        joint.prepare_curvature();
        let tapes =
            [joint.position_tape(), joint.subspace_tape(), joint.motion_tape(), joint.curvature_tape()];
        tapes.iter().for_each(|tape| _ = check(tape, &mut random, 100));
    }
}

/// The code stays as long as a tape that runs it.
#[test]
fn code_outlives_the_tape_that_it_was_made_from() {
    let mut graph = Graph::default();
    let x = graph.input(0);
    let (sine, root) = (graph.sine(x), graph.root(x));
    let tapes = [sine, root].map(|out| Tape::new(&graph, 1, &[out]).unwrap());
    assert!(Tape::compile(&[&tapes[0], &tapes[1]]));
    let kept = tapes[1].clone();
    drop(tapes);
    let from_elsewhere = std::thread::spawn(move || {
        let mut out = [0.0];
        kept.run(&[2.0], &mut out);
        out[0]
    });
    assert_eq!(from_elsewhere.join().unwrap(), 2f64.sqrt());
}
