//! The graph of a formula: every value once.
//!
//! Nodes are kept in a list, each after those it is computed from. Asking for a node that is there already
//! gives that one, so common subexpressions are shared, whoever asks: the formula, its derivatives, or what
//! is made of both. Constants are folded with the operations that the interpreter uses. Products with zero are
//! zero: a derivative does not become NaN because something that it does not depend on is.

use std::collections::HashMap;

/// A value of the graph, by its position in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Node(u32);

impl Node {
    /// Position in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Operation {
    /// The bits of a number.
    Constant(u64),
    /// An input, by its position.
    Input(u32),
    /// −a
    Negate(Node),
    /// √a
    Root(Node),
    /// sin a
    Sine(Node),
    /// cos a
    Cosine(Node),
    /// a + b
    Add(Node, Node),
    /// a − b
    Subtract(Node, Node),
    /// a b
    Multiply(Node, Node),
    /// a / b
    Divide(Node, Node),
    /// a to the power b, as `f64::powf` has it
    Power(Node, Node),
    /// 1 if a < b, else 0
    Less(Node, Node),
    /// b if a is not zero, else c
    Select(Node, Node, Node),
}

/// How many nodes a graph may have.
const LIMIT: usize = 500_000;

/// A graph under construction.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Graph {
    operations: Vec<Operation>,
    known: HashMap<Operation, Node>,
    /// Set once the graph has grown beyond all bounds; from then on its values are meaningless.
    overflown: bool,
}

impl Graph {
    /// How a node is computed.
    pub fn operation(&self, node: Node) -> Operation {
        self.operations[node.index()]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether it was asked for more nodes than it may have.
    pub fn is_overflown(&self) -> bool {
        self.overflown
    }

    fn node(&mut self, operation: Operation) -> Node {
        if let Some(node) = self.known.get(&operation) {
            return *node;
        }
        if self.operations.len() >= LIMIT {
            self.overflown = true;
            return Node(0);
        }
        let node = Node(self.operations.len() as u32);
        self.operations.push(operation);
        self.known.insert(operation, node);
        node
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> Node {
        // One zero only: −0 + x and 0 + x are the same for all x but −0.
        let value = if value == 0.0 { 0.0 } else { value };
        self.node(Operation::Constant(value.to_bits()))
    }

    /// An input.
    pub fn input(&mut self, position: usize) -> Node {
        self.node(Operation::Input(position as u32))
    }

    /// The number of a constant.
    pub fn value(&self, node: Node) -> Option<f64> {
        match self.operation(node) {
            Operation::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn is(&self, node: Node, value: f64) -> bool {
        self.value(node) == Some(value)
    }

    /// Whether it is the constant zero.
    pub fn is_zero(&self, node: Node) -> bool {
        self.is(node, 0.0)
    }

    fn negated(&self, node: Node) -> Option<Node> {
        match self.operation(node) {
            Operation::Negate(a) => Some(a),
            _ => None,
        }
    }

    /// −a
    pub fn negate(&mut self, a: Node) -> Node {
        match self.operation(a) {
            Operation::Constant(bits) => self.constant(-f64::from_bits(bits)),
            Operation::Negate(a) => a,
            Operation::Subtract(a, b) => self.subtract(b, a),
            _ => self.node(Operation::Negate(a)),
        }
    }

    /// a + b
    pub fn add(&mut self, a: Node, b: Node) -> Node {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(b) = self.negated(b) {
            return self.subtract(a, b);
        }
        if let Some(a) = self.negated(a) {
            return self.subtract(b, a);
        }
        self.node(Operation::Add(a.min(b), a.max(b)))
    }

    /// a − b
    pub fn subtract(&mut self, a: Node, b: Node) -> Node {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(x - y),
            (Some(0.0), _) => return self.negate(b),
            (_, Some(0.0)) => return a,
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => self.subtract(b, a),
            (Some(a), None) => {
                let sum = self.add(a, b);
                self.negate(sum)
            }
            (None, Some(b)) => self.add(a, b),
            (None, None) => self.node(Operation::Subtract(a, b)),
        }
    }

    /// a b
    pub fn multiply(&mut self, a: Node, b: Node) -> Node {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(0.0), _) | (_, Some(0.0)) => return self.constant(0.0),
            (Some(1.0), _) => return b,
            (_, Some(1.0)) => return a,
            (Some(-1.0), _) => return self.negate(b),
            (_, Some(-1.0)) => return self.negate(a),
            // The sign goes outside, so that ab and (−a)b share their product.
            (Some(x), _) if x < 0.0 => {
                let positive = self.constant(-x);
                let product = self.multiply(positive, b);
                return self.negate(product);
            }
            (_, Some(_)) if self.value(a).is_none() => return self.multiply(b, a),
            _ => {}
        }
        if let Some(a) = self.negated(a) {
            let product = self.multiply(a, b);
            return self.negate(product);
        }
        if let Some(b) = self.negated(b) {
            let product = self.multiply(a, b);
            return self.negate(product);
        }
        self.node(Operation::Multiply(a.min(b), a.max(b)))
    }

    /// a / b
    pub fn divide(&mut self, a: Node, b: Node) -> Node {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(x / y),
            (Some(0.0), _) => return self.constant(0.0),
            (_, Some(1.0)) => return a,
            (_, Some(-1.0)) => return self.negate(a),
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => self.divide(a, b),
            (Some(a), None) => {
                let ratio = self.divide(a, b);
                self.negate(ratio)
            }
            (None, Some(b)) => {
                let ratio = self.divide(a, b);
                self.negate(ratio)
            }
            (None, None) => self.node(Operation::Divide(a, b)),
        }
    }

    /// √a
    pub fn root(&mut self, a: Node) -> Node {
        match self.value(a) {
            Some(x) => self.constant(x.sqrt()),
            None => self.node(Operation::Root(a)),
        }
    }

    /// sin a
    pub fn sine(&mut self, a: Node) -> Node {
        if let Some(x) = self.value(a) {
            return self.constant(x.sin());
        }
        match self.negated(a) {
            Some(a) => {
                let sine = self.node(Operation::Sine(a));
                self.negate(sine)
            }
            None => self.node(Operation::Sine(a)),
        }
    }

    /// cos a
    pub fn cosine(&mut self, a: Node) -> Node {
        match self.value(a) {
            Some(x) => self.constant(x.cos()),
            None => {
                let a = self.negated(a).unwrap_or(a);
                self.node(Operation::Cosine(a))
            }
        }
    }

    /// a to a constant power: products for whole powers up to 64, with a root for halves, `powf` for others.
    pub fn power(&mut self, a: Node, exponent: f64) -> Node {
        if let Some(x) = self.value(a) {
            return self.constant(x.powf(exponent));
        }
        let twice = 2.0 * exponent;
        if twice.fract() != 0.0 || exponent.abs() > 64.0 {
            let exponent = self.constant(exponent);
            return self.node(Operation::Power(a, exponent));
        }
        let mut result = self.constant(1.0);
        let mut square = a;
        let mut left = exponent.abs().floor() as u32;
        while left > 0 {
            if left & 1 == 1 {
                result = self.multiply(result, square);
            }
            left >>= 1;
            if left > 0 {
                square = self.multiply(square, square);
            }
        }
        if exponent.fract() != 0.0 {
            let root = self.root(a);
            result = self.multiply(result, root);
        }
        if exponent < 0.0 {
            let one = self.constant(1.0);
            result = self.divide(one, result);
        }
        result
    }

    /// 1 if a < b, else 0.
    pub fn less(&mut self, a: Node, b: Node) -> Node {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.constant(f64::from(x < y)),
            _ => self.node(Operation::Less(a, b)),
        }
    }

    /// `yes` if the condition is not zero, else `no`.
    pub fn select(&mut self, condition: Node, yes: Node, no: Node) -> Node {
        match self.value(condition) {
            Some(x) => {
                if x != 0.0 {
                    yes
                } else {
                    no
                }
            }
            None if yes == no => yes,
            None => self.node(Operation::Select(condition, yes, no)),
        }
    }
}
