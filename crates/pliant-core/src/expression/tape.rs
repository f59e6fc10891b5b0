//! A graph as a list of instructions on registers: what runs.
//!
//! Instructions come in the order in which a walk from the outputs needs them. A register is free again after
//! the last use of its value, and outputs are stored as soon as they are known, so that few are needed.

use super::graph::{Graph, Node, Operation};
use super::jet::operands;

/// How many registers a tape may need.
#[doc(hidden)]
pub const REGISTERS: usize = 1024;

/// A register, below [`Tape::registers`].
#[doc(hidden)]
pub type Register = u16;

/// One instruction: code, result and operands. `to` may be one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Instruction {
    /// What is done.
    pub code: Code,
    /// The register of the result; of an output, its position.
    pub to: u16,
    /// First operand: a register, or the position of a constant or input.
    pub a: u16,
    /// Second operand, if there is one.
    pub b: Register,
    /// Third operand, if there is one.
    pub c: Register,
}

/// What an instruction does. All but the first three take and give registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Code {
    /// to = constant number a
    Constant,
    /// to = input number a
    Input,
    /// output number `to` = a
    Output,
    /// to = −a
    Negate,
    /// to = √a, NaN below zero
    Root,
    /// to = sin a
    Sine,
    /// to = cos a
    Cosine,
    /// to = a + b
    Add,
    /// to = a − b
    Subtract,
    /// to = a b
    Multiply,
    /// to = a / b
    Divide,
    /// to = `a.powf(b)`
    Power,
    /// to = 1 if a < b, else 0; 0 if one is NaN
    Less,
    /// to = b if a is not zero, else c; NaN is not zero
    Select,
}

/// A program without branches: inputs to outputs.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct Tape {
    pub(super) instructions: Vec<Instruction>,
    pub(super) constants: Vec<f64>,
    pub(super) registers: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Its machine code, once it is compiled.
    #[cfg(feature = "compiled")]
    pub(super) machine: super::machine::Slot,
}

/// A tape that would need too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct TooLarge {
    /// Registers, or constants, that it would need.
    pub needed: usize,
}

impl Tape {
    /// The tape of some values of a graph, which become the outputs in this order.
    pub fn new(graph: &Graph, inputs: usize, outputs: &[Node]) -> Result<Tape, TooLarge> {
        let order = order(graph, outputs);
        // How often each value is used: by later ones, and once by each output.
        let mut uses = vec![0u32; graph.len()];
        let all = order.iter().flat_map(|n| operands(graph.operation(*n)).into_iter().flatten());
        all.chain(outputs.iter().copied()).for_each(|n| uses[n.index()] += 1);
        let mut wanted: Vec<Vec<u16>> = vec![Vec::new(); graph.len()];
        for (k, node) in outputs.iter().enumerate() {
            wanted[node.index()].push(k as u16);
        }

        let mut tape = Tape {
            instructions: Vec::new(),
            constants: Vec::new(),
            registers: 0,
            inputs,
            outputs: outputs.len(),
            #[cfg(feature = "compiled")]
            machine: super::machine::Slot::default(),
        };
        let mut place: Vec<Register> = vec![0; graph.len()];
        let mut free: Vec<Register> = Vec::new();
        for node in order {
            let operation = graph.operation(node);
            for operand in operands(operation).into_iter().flatten() {
                uses[operand.index()] -= 1;
                if uses[operand.index()] == 0 {
                    free.push(place[operand.index()]);
                }
            }
            let to = match free.pop() {
                Some(register) => register,
                None => {
                    tape.registers += 1;
                    (tape.registers - 1) as Register
                }
            };
            place[node.index()] = to;
            let at = |node: Node| place[node.index()];
            let of = |code, a: Node, b: Node, c: Node| Instruction { code, to, a: at(a), b: at(b), c: at(c) };
            let one = |code, a: Node| Instruction { code, to, a: at(a), b: 0, c: 0 };
            let two = |code, a: Node, b: Node| Instruction { code, to, a: at(a), b: at(b), c: 0 };
            tape.instructions.push(match operation {
                Operation::Constant(bits) => {
                    tape.constants.push(f64::from_bits(bits));
                    let a = (tape.constants.len() - 1) as u16;
                    Instruction { code: Code::Constant, to, a, b: 0, c: 0 }
                }
                Operation::Input(k) => Instruction { code: Code::Input, to, a: k as u16, b: 0, c: 0 },
                Operation::Negate(a) => one(Code::Negate, a),
                Operation::Root(a) => one(Code::Root, a),
                Operation::Sine(a) => one(Code::Sine, a),
                Operation::Cosine(a) => one(Code::Cosine, a),
                Operation::Add(a, b) => two(Code::Add, a, b),
                Operation::Subtract(a, b) => two(Code::Subtract, a, b),
                Operation::Multiply(a, b) => two(Code::Multiply, a, b),
                Operation::Divide(a, b) => two(Code::Divide, a, b),
                Operation::Power(a, b) => two(Code::Power, a, b),
                Operation::Less(a, b) => two(Code::Less, a, b),
                Operation::Select(a, b, c) => of(Code::Select, a, b, c),
            });
            for index in &wanted[node.index()] {
                tape.instructions.push(Instruction { code: Code::Output, to: *index, a: to, b: 0, c: 0 });
                uses[node.index()] -= 1;
            }
            if uses[node.index()] == 0 {
                free.push(to);
            }
        }
        let needed = tape.registers.max(tape.constants.len() / 64);
        if tape.registers > REGISTERS || tape.constants.len() > usize::from(u16::MAX) {
            return Err(TooLarge { needed });
        }
        Ok(tape)
    }

    /// Compiles tapes to machine code, which they run from now on. Without the feature `compiled`, or on a machine
    /// that is not known, they go on as they are and the answer is no.
    pub fn compile(tapes: &[&Tape]) -> bool {
        #[cfg(feature = "compiled")]
        {
            let Some(machines) = super::machine::compile(tapes) else { return false };
            tapes.iter().zip(machines).for_each(|(tape, machine)| tape.machine.put(machine));
            true
        }
        #[cfg(not(feature = "compiled"))]
        {
            let _ = tapes;
            false
        }
    }

    /// What is to be done, in this order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The numbers that constants refer to.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// Number of registers, at most [`REGISTERS`].
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of instructions that compute something: all but constants, inputs and outputs.
    pub fn operations(&self) -> usize {
        let computes = |i: &&Instruction| !matches!(i.code, Code::Constant | Code::Input | Code::Output);
        self.instructions.iter().filter(computes).count()
    }
}

/// What some nodes need, each after its operands: depth first, with a stack of its own.
fn order(graph: &Graph, outputs: &[Node]) -> Vec<Node> {
    let mut order = Vec::new();
    let mut done = vec![false; graph.len()];
    let mut stack: Vec<Node> = Vec::new();
    for output in outputs {
        stack.push(*output);
        while let Some(&top) = stack.last() {
            if done[top.index()] {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let missing = operands(graph.operation(top)).into_iter().flatten();
            stack.extend(missing.filter(|a| !done[a.index()]));
            if stack.len() == before {
                done[top.index()] = true;
                order.push(top);
                stack.pop();
            }
        }
    }
    order
}
