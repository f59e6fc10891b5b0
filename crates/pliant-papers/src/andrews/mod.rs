//! Andrews, Teichmann, Kry 2015: reduced and blended models.

mod accelerability;
mod eigenvectors;
pub mod figure_7;
pub mod figures_5_and_6;
mod free_base;
mod mass;
mod merge;
pub mod table_1;
pub mod table_2;
