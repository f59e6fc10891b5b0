//! Reduced models: few coordinates that move a whole mechanism.

pub mod reconstruction;
