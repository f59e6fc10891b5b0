//! Small files, one feature each.
