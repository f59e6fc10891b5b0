#![doc = include_str!("README.md")]

mod closures;
mod contact;
mod dynamics;
mod inverse;
mod loads;
mod mass_matrix;
mod model;
mod placing;
mod runge_kutta;
mod simulation;
mod slot;
mod small;
mod step;
mod sweeps;

pub use dynamics::{Dynamics, NoMass};
pub use model::{MOST_CLOSING_ROWS, Model, closing_rows};
pub use simulation::{Integrator, Simulation};
