#![doc = include_str!("README.md")]

mod kernel;
mod numeric;
mod symbolic;

pub use numeric::{Assemble, Numeric, ZeroPivot};
pub use symbolic::{Graph, Ordering, Place, Symbolic};
