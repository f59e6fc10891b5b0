#![doc = include_str!("README.md")]

mod joint;
mod kinematics;
mod poses;
#[cfg(test)]
mod tests;
mod twist;

pub use joint::{JointOffsets, Joints, TreeLink};
pub use poses::PoseLanes;
pub use twist::{TwistOffsets, Twists};

/// From this many links on, [`Twists::rebuild`] uses the threads it is given. To hand work to a pool and wait
/// for it took about 20 µs, so that two free cores would gain from some 6,000 links on. Measured were cores that
/// others used too: two threads lost at 8,000 links, were between a draw and a sixth slower at 16,000, and took
/// from half to all of the time of one at 100,000.
pub const PARALLEL_TWISTS: usize = 16_000;
