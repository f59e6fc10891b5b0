//! Claim: MJCF files mean here what they mean in MuJoCo: mass, freedoms and the poses of all bodies, springs
//! and loops; what is not supported is reported; and no file makes the reader panic or hang.

mod features;
mod mutations;
