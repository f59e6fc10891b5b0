//! Si, Guenter 2010: dynamics with general joints.

pub mod figures;
pub mod table_1;
