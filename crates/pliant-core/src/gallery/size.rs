//! Which sizes an entry can have.

/// The largest size of any entry.
pub const LARGEST_SIZE: usize = 1_000_000;

/// The sizes of an entry: its number of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Used where none is given.
    pub default: usize,
    /// The size must be a multiple of this.
    pub multiple: usize,
}

impl Size {
    /// What is wrong with a size of the entry of this name.
    pub(super) fn defect(&self, name: &str, size: usize) -> Option<String> {
        let Size { default, multiple } = *self;
        if size == 0 {
            Some(format!("`{name}:0` has no bodies: the smallest is `{name}:{multiple}`"))
        } else if size > LARGEST_SIZE {
            Some(too_large(name, size))
        } else if !size.is_multiple_of(multiple) {
            let below = size - size % multiple;
            let near = if below == 0 { multiple } else { below };
            Some(format!(
                "`{name}:{size}` is not a valid size: the size of `{name}` is a multiple of {multiple}, such as {near} or {}",
                if near == default { near + multiple } else { default }
            ))
        } else {
            None
        }
    }

    /// Stops where the caller asks for a size that cannot be.
    #[track_caller]
    pub(super) fn check(&self, name: &str, size: usize) {
        if let Some(message) = self.defect(name, size) {
            panic!("{message}");
        }
    }
}

pub(super) fn too_large(name: &str, size: impl std::fmt::Display) -> String {
    format!("`{name}:{size}` is too large: at most {LARGEST_SIZE} bodies")
}
