#![doc = include_str!("README.md")]

mod joint;
mod kinematics;
mod lanes;
mod poses;
mod twist;

pub use joint::{JointOffsets, Joints, TreeLink};
pub use poses::PoseLanes;
pub use twist::{TwistOffsets, Twists};

/// From this many links on, twist reconstruction uses the threads it is given; below, one thread is faster.
pub const PARALLEL_TWISTS: usize = 4_000;

/// Whether the machine has the vector instructions that the fast path is compiled for.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
