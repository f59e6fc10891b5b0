//! Derivatives of a graph, as nodes of the same graph.
//!
//! A [`Derivative`] is a direction in the space of inputs: it knows how each input changes and with that,
//! forward through the list, how every node does. Along a coordinate the inputs change by 0 and 1; along the
//! motion by the rates, which do not change themselves: applied twice it gives the second directional
//! derivative. What a derivative needs is shared with the value and with other derivatives.

use super::graph::{Graph, Node, Operation};

/// A direction, with the derivatives of the nodes seen so far.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Derivative {
    /// How each input changes; those beyond the list do not.
    inputs: Vec<Node>,
    /// The derivative of each node that was visited.
    known: Vec<Option<Node>>,
}

impl Derivative {
    /// Along input number `k`.
    pub fn along_input(graph: &mut Graph, k: usize) -> Derivative {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let mut inputs = vec![zero; k];
        inputs.push(one);
        Derivative { inputs, known: Vec::new() }
    }

    /// Along the motion: input k < d changes at the rate that is input d + k.
    pub fn along_motion(graph: &mut Graph, d: usize) -> Derivative {
        Derivative { inputs: (0..d).map(|k| graph.input(d + k)).collect(), known: Vec::new() }
    }

    /// The derivative of a node.
    pub fn of(&mut self, graph: &mut Graph, node: Node) -> Node {
        // Everything that the node needs, by a stack of its own: a graph can be deep.
        let mut stack = vec![node];
        while let Some(&top) = stack.last() {
            if self.get(top).is_some() {
                stack.pop();
                continue;
            }
            let operation = graph.operation(top);
            let missing = operands(operation).into_iter().flatten().filter(|a| self.get(*a).is_none());
            let before = stack.len();
            stack.extend(missing);
            if stack.len() == before {
                let derivative = self.rule(graph, top, operation);
                self.known.resize(self.known.len().max(top.index() + 1), None);
                self.known[top.index()] = Some(derivative);
                stack.pop();
            }
        }
        self.get(node).expect("computed above")
    }

    fn get(&self, node: Node) -> Option<Node> {
        self.known.get(node.index()).copied().flatten()
    }

    /// The derivative of a node from those of its operands.
    fn rule(&self, graph: &mut Graph, node: Node, operation: Operation) -> Node {
        let d = |a: Node| self.get(a).expect("operands come first");
        match operation {
            Operation::Constant(_) | Operation::Less(..) => graph.constant(0.0),
            Operation::Input(k) => match self.inputs.get(k as usize) {
                Some(change) => *change,
                None => graph.constant(0.0),
            },
            Operation::Negate(a) => graph.negate(d(a)),
            Operation::Add(a, b) => graph.add(d(a), d(b)),
            Operation::Subtract(a, b) => graph.subtract(d(a), d(b)),
            // (ab)' = a'b + ab'
            Operation::Multiply(a, b) => {
                let (left, right) = (graph.multiply(d(a), b), graph.multiply(a, d(b)));
                graph.add(left, right)
            }
            // (a/b)' = (a' − (a/b) b')/b
            Operation::Divide(a, b) => {
                let part = graph.multiply(node, d(b));
                let above = graph.subtract(d(a), part);
                graph.divide(above, b)
            }
            // (√a)' = a'/(2√a)
            Operation::Root(a) => {
                let two = graph.constant(2.0);
                let below = graph.multiply(two, node);
                graph.divide(d(a), below)
            }
            Operation::Sine(a) => {
                let cosine = graph.cosine(a);
                graph.multiply(cosine, d(a))
            }
            Operation::Cosine(a) => {
                let sine = graph.sine(a);
                let product = graph.multiply(sine, d(a));
                graph.negate(product)
            }
            // (aⁿ)' = n aⁿ⁻¹ a', n constant
            Operation::Power(a, n) => {
                let exponent = graph.value(n).expect("powers have constant exponents");
                let lower = graph.power(a, exponent - 1.0);
                let slope = graph.multiply(n, lower);
                graph.multiply(slope, d(a))
            }
            // At a break the derivative is that of the side on which the value is taken.
            Operation::Select(condition, a, b) => graph.select(condition, d(a), d(b)),
        }
    }
}

/// What an operation is computed from.
pub(super) fn operands(operation: Operation) -> [Option<Node>; 3] {
    match operation {
        Operation::Constant(_) | Operation::Input(_) => [None; 3],
        Operation::Negate(a) | Operation::Root(a) | Operation::Sine(a) | Operation::Cosine(a) => {
            [Some(a), None, None]
        }
        Operation::Add(a, b)
        | Operation::Subtract(a, b)
        | Operation::Multiply(a, b)
        | Operation::Divide(a, b)
        | Operation::Power(a, b)
        | Operation::Less(a, b) => [Some(a), Some(b), None],
        Operation::Select(a, b, c) => [Some(a), Some(b), Some(c)],
    }
}
