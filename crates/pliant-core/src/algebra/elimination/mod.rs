#![doc = include_str!("README.md")]

mod blocks;
mod joint_front;
mod kernel;
mod numeric;
mod pivoted;
mod symbolic;

pub use blocks::{Blocks, Placed};
pub use joint_front::Carry;
pub use numeric::{Assemble, Numeric, ZeroPivot};
pub use pivoted::Pivoted;
pub use symbolic::{Graph, Ordering, Place, Symbolic};
