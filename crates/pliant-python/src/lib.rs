//! The Python package `pliant`: mechanisms, statics, compliance and simulations of the crate `pliant`, as classes of Python.
//!
//! | file | what |
//! |---|---|
//! | `arrays.rs` | numbers and arrays of Python in and out, checked, each error with the argument's name |
//! | `errors.rs` | exceptions and warnings; panics stop here |
//! | `mechanism.rs`, `parts.rs` | `Mechanism`; its `Joint` and `Body` |
//! | `files.rs` | mechanisms from files, text and the gallery |
//! | `setup.rs` | what acts on a mechanism and where it starts, as dictionaries by name |
//! | `statics.rs` | equilibrium and compliance |
//! | `making.rs` | simulations of a mechanism |
//! | `simulation.rs`, `state.rs` | `Simulation`; what it saves, `State` |
//! | `inputs.rs` | what acts on a simulation: loads, set-points, springs, properties of joints |
//! | `placing.rs` | states from coordinates |
//! | `comparison.rs` | the engines next to each other, as `pliant compare` measures them |
//! | `linearization.rs` | matrices of a step about a state |
//! | `model.rs` | `Model`: few motions to a bound, and its file |
//! | `rollout.rs` | a batch of runs on all cores |
//! | `running.rs` | many steps in one call, recorded |
//!
//! What Python sees next to this module, stubs and tests are in `python/` and `tests/`.

mod arrays;
mod comparison;
mod errors;
mod files;
mod inputs;
mod linearization;
mod making;
mod mechanism;
mod model;
mod parts;
mod placing;
mod rollout;
mod running;
mod setup;
mod simulation;
mod state;
mod statics;

use pyo3::prelude::*;

/// The compiled part of the package `pliant`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<mechanism::Mechanism>()?;
    module.add_class::<parts::Joint>()?;
    module.add_class::<parts::Body>()?;
    module.add_class::<statics::Equilibrium>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<state::State>()?;
    module.add_class::<inputs::Spring>()?;
    module.add_class::<linearization::Linearization>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(model::load_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::model_from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(state::state_from_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(statics::equilibrium_from_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(linearization::linearization_from_matrices, module)?)?;
    module.add_function(wrap_pyfunction!(rollout::rollout, module)?)?;
    module.add_function(wrap_pyfunction!(files::load, module)?)?;
    module.add_function(wrap_pyfunction!(files::parse, module)?)?;
    module.add_function(wrap_pyfunction!(files::mechanism_from_text, module)?)?;
    module.add_function(wrap_pyfunction!(files::from_gallery, module)?)?;
    module.add_function(wrap_pyfunction!(files::gallery_entries, module)?)?;
    Ok(())
}
