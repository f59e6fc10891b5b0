#![doc = include_str!("README.md")]

mod blocks;
mod carried;
mod kernel;
mod numeric;
mod pivoted;
mod symbolic;

pub use blocks::{Blocks, Placed};
pub use carried::Carry;
pub use numeric::{Assemble, Numeric, ZeroPivot};
pub use pivoted::Pivoted;
pub use symbolic::{Graph, Ordering, Place, Symbolic};
