//! later
/// x
pub struct Joints;
/// x
pub struct JointOffsets;
/// x
pub struct TreeLink;
