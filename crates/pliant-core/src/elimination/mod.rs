#![doc = include_str!("README.md")]

mod carried;
mod kernel;
mod numeric;
mod symbolic;

pub use carried::Carry;
pub use numeric::{Assemble, Numeric, ZeroPivot};
pub use symbolic::{Graph, Ordering, Place, Symbolic};
