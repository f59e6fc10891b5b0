//! A tape compiled to machine code, by Cranelift.
//!
//! One instruction of the tape is one of Cranelift; sines, cosines and powers are calls of the functions that the
//! interpreter calls, and nothing is fused or reordered. So the results are those of the interpreter to the last
//! bit, but for the payload of a NaN, which neither promises.

use std::fmt;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

use super::tape::{Code, Instruction, Tape};

/// Inputs to outputs.
type Function = unsafe extern "C" fn(*const f64, *mut f64);

/// The machine code of a tape.
#[derive(Clone)]
pub(super) struct Machine {
    function: Function,
    /// Where the code is, for as long as it is called.
    _memory: Arc<Memory>,
}

/// Memory with the code of some tapes, freed with the last of them. Taken only then.
struct Memory(Option<JITModule>);

// SAFETY: the module is not used again until it is dropped, by the last owner; code is only read.
#[allow(unsafe_code)]
unsafe impl Send for Memory {}
#[allow(unsafe_code)]
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: functions are called only by owners of this memory, of whom none is left.
            #[allow(unsafe_code)]
            unsafe {
                module.free_memory();
            }
        }
    }
}

impl Machine {
    /// Calls the code with as many inputs and outputs as its tape has.
    #[inline]
    pub fn call(&self, inputs: &[f64], outputs: &mut [f64]) {
        // SAFETY: the code reads and writes as many numbers as the tape has, and `Tape::run` gives so many.
        #[allow(unsafe_code)]
        unsafe {
            (self.function)(inputs.as_ptr(), outputs.as_mut_ptr());
        }
    }
}

/// Where a tape keeps its machine code once it is compiled. It takes no part in comparisons: tapes are equal if
/// their instructions are.
#[derive(Clone, Default)]
pub(super) struct Slot(OnceLock<Machine>);

impl Slot {
    #[inline]
    pub fn get(&self) -> Option<&Machine> {
        self.0.get()
    }

    pub fn put(&self, machine: Machine) {
        // What another thread put there first is as good.
        let _ = self.0.set(machine);
    }
}

impl PartialEq for Slot {
    fn eq(&self, _: &Slot) -> bool {
        true
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

/// The code of some tapes, in one piece of memory; `None` for a machine that Cranelift does not know.
pub(super) fn compile(tapes: &[&Tape]) -> Option<Vec<Machine>> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("is_pic", "false").ok()?;
    let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbol("sine", sine as *const u8);
    builder.symbol("cosine", cosine as *const u8);
    builder.symbol("power", power as *const u8);
    let mut module = JITModule::new(builder);
    let calls = Calls::declare(&mut module)?;
    let ids: Option<Vec<FuncId>> = tapes.iter().map(|tape| define(&mut module, &calls, tape)).collect();
    module.finalize_definitions().ok()?;
    let function = |id| {
        // SAFETY: `define` gave the code this signature.
        #[allow(unsafe_code)]
        unsafe {
            std::mem::transmute::<*const u8, Function>(module.get_finalized_function(id))
        }
    };
    let functions: Vec<Function> = ids?.into_iter().map(function).collect();
    let memory = Arc::new(Memory(Some(module)));
    Some(functions.into_iter().map(|function| Machine { function, _memory: memory.clone() }).collect())
}

extern "C" fn sine(x: f64) -> f64 {
    x.sin()
}

extern "C" fn cosine(x: f64) -> f64 {
    x.cos()
}

extern "C" fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// The functions that code calls.
struct Calls {
    sine: FuncId,
    cosine: FuncId,
    power: FuncId,
}

impl Calls {
    fn declare(module: &mut JITModule) -> Option<Calls> {
        let mut declare = |name, arguments| {
            let mut signature = module.make_signature();
            signature.params = vec![AbiParam::new(types::F64); arguments];
            signature.returns = vec![AbiParam::new(types::F64)];
            module.declare_function(name, Linkage::Import, &signature).ok()
        };
        Some(Calls { sine: declare("sine", 1)?, cosine: declare("cosine", 1)?, power: declare("power", 2)? })
    }
}

/// The code of a tape: a function of two pointers.
fn define(module: &mut JITModule, calls: &Calls, tape: &Tape) -> Option<FuncId> {
    let target = module.target_config();
    let pointer = target.pointer_type();
    let mut context = module.make_context();
    let signature: &mut Signature = &mut context.func.signature;
    signature.params = vec![AbiParam::new(pointer); 2];
    let id = module.declare_anonymous_function(&context.func.signature).ok()?;
    let sine = module.declare_func_in_func(calls.sine, &mut context.func);
    let cosine = module.declare_func_in_func(calls.cosine, &mut context.func);
    let power = module.declare_func_in_func(calls.power, &mut context.func);

    let mut memory = FunctionBuilderContext::new();
    let mut code = FunctionBuilder::new(&mut context.func, &mut memory);
    let block = code.create_block();
    code.append_block_params_for_function_params(block);
    code.switch_to_block(block);
    code.seal_block(block);
    let (inputs, outputs) = (code.block_params(block)[0], code.block_params(block)[1]);
    let flags = MemFlagsData::trusted();
    let place = |k: u16| 8 * i32::from(k);
    let (zero, one) = (code.ins().f64const(0.0), code.ins().f64const(1.0));
    let mut registers: Vec<Value> = vec![zero; tape.registers()];
    for Instruction { code: what, to, a, b, c } in tape.instructions().iter().copied() {
        let at = |register: u16| registers.get(usize::from(register)).copied().unwrap_or(zero);
        let (x, y, z) = (at(a), at(b), at(c));
        let value = match what {
            Code::Constant => code.ins().f64const(tape.constants()[usize::from(a)]),
            Code::Input => code.ins().load(types::F64, flags, inputs, place(a)),
            Code::Output => {
                code.ins().store(flags, x, outputs, place(to));
                continue;
            }
            Code::Negate => code.ins().fneg(x),
            Code::Root => code.ins().sqrt(x),
            Code::Sine => {
                let call = code.ins().call(sine, &[x]);
                code.inst_results(call)[0]
            }
            Code::Cosine => {
                let call = code.ins().call(cosine, &[x]);
                code.inst_results(call)[0]
            }
            Code::Add => code.ins().fadd(x, y),
            Code::Subtract => code.ins().fsub(x, y),
            Code::Multiply => code.ins().fmul(x, y),
            Code::Divide => code.ins().fdiv(x, y),
            Code::Power => {
                let call = code.ins().call(power, &[x, y]);
                code.inst_results(call)[0]
            }
            Code::Less => {
                let less = code.ins().fcmp(FloatCC::LessThan, x, y);
                code.ins().select(less, one, zero)
            }
            Code::Select => {
                let yes = code.ins().fcmp(FloatCC::NotEqual, x, zero);
                code.ins().select(yes, y, z)
            }
        };
        registers[usize::from(to)] = value;
    }
    code.ins().return_(&[]);
    code.finalize(target);
    module.define_function(id, &mut context).ok()?;
    Some(id)
}
