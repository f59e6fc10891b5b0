//! Changed files.
