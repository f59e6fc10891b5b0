//! What engines are made of: joints, twists, the order of links, elimination, random mechanisms.

mod elimination;
mod flexure;
mod garbage;
mod joints;
mod order;
mod random_mechanisms;
mod spatial;
mod start;
mod wrench_derivative;
