//! Running a tape; the plain interpreter is the reference for any other way to do it.

use super::tape::{Code, Instruction, REGISTERS, Tape};

impl Tape {
    /// Computes all outputs from all inputs. Nothing is allocated.
    ///
    /// # Panics
    ///
    /// If there are fewer inputs or outputs than the tape has.
    #[inline]
    pub fn run(&self, inputs: &[f64], outputs: &mut [f64]) {
        #[cfg(feature = "compiled")]
        if let Some(machine) = self.machine.get() {
            return machine.call(&inputs[..self.inputs], &mut outputs[..self.outputs]);
        }
        self.interpret(inputs, outputs);
    }

    /// The same by the interpreter, whether or not there is machine code.
    ///
    /// # Panics
    ///
    /// As [`Tape::run`].
    pub fn interpret(&self, inputs: &[f64], outputs: &mut [f64]) {
        let (inputs, outputs) = (&inputs[..self.inputs], &mut outputs[..self.outputs]);
        // Clearing registers takes time too: three sizes.
        match self.registers {
            0..=64 => self.run_on(&mut [0.0; 64], inputs, outputs),
            65..=256 => self.run_on(&mut [0.0; 256], inputs, outputs),
            _ => self.run_on(&mut [0.0; REGISTERS], inputs, outputs),
        }
    }

    #[inline(never)]
    fn run_on<const N: usize>(&self, registers: &mut [f64; N], inputs: &[f64], outputs: &mut [f64]) {
        // N is a power of two and above every register: the mask changes nothing but saves the check.
        let at = |register: u16| usize::from(register) & (N - 1);
        for Instruction { code, to, a, b, c } in self.instructions.iter().copied() {
            let (x, y) = (registers[at(a)], registers[at(b)]);
            registers[at(to)] = match code {
                Code::Constant => self.constants[usize::from(a)],
                Code::Input => inputs[usize::from(a)],
                Code::Output => {
                    outputs[usize::from(to)] = x;
                    continue;
                }
                Code::Negate => -x,
                Code::Root => x.sqrt(),
                Code::Sine => x.sin(),
                Code::Cosine => x.cos(),
                Code::Add => x + y,
                Code::Subtract => x - y,
                Code::Multiply => x * y,
                Code::Divide => x / y,
                Code::Power => x.powf(y),
                Code::Less => f64::from(x < y),
                Code::Select => {
                    if x != 0.0 {
                        y
                    } else {
                        registers[at(c)]
                    }
                }
            };
        }
    }
}
