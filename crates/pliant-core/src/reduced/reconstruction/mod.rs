#![doc = include_str!("README.md")]

mod joint;
mod kinematics;
mod lanes;
mod poses;
#[cfg(test)]
mod tests;
mod twist;

pub use joint::{JointOffsets, Joints, TreeLink};
pub use poses::PoseLanes;
pub use twist::{TwistOffsets, Twists};

/// From this many links on, [`Twists::rebuild`] uses the threads it is given. To hand work to a pool and wait
/// for it takes about 20 µs, as long as 2,000 links on one thread; on two cores that others use too, two
/// threads began to gain between 8,000 and 16,000 links.
pub const PARALLEL_TWISTS: usize = 16_000;

/// Whether the machine has the vector instructions that the fast path is compiled for.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
