//! All tests of the library's interface, in one program. Each folder has one subject; each file states its claim at its head.

mod common;

mod allocation;
mod articulated;
mod blended;
mod builder;
mod contact;
mod engines;
mod expression;
mod full;
mod gallery;
mod linear;
mod parts;
mod reduced;
