//! The articulated engine.

mod conservation;
mod dynamics;
mod equilibrium;
mod formulas;
mod motion;
mod repeat;
mod stability;
