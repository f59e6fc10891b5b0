//! Words and numbers in messages for people.

use crate::closest;

/// So many of something.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// How many names a message lists before it only counts them.
const LISTED: usize = 20;

/// Names there are, for a message about one that is not there.
pub fn first_few(names: &[&str]) -> String {
    let first = names[..names.len().min(LISTED)].join(", ");
    match names.len() {
        0 => "none".into(),
        n if n > LISTED => format!("{first} and {} more", n - LISTED),
        _ => first,
    }
}

/// A measured number for people: six digits are enough to tell two mechanisms apart.
pub fn quantity(value: f64, unit: &str) -> String {
    let digits = format!("{value:.5e}");
    // Adding zero takes the sign from −0.
    let rounded: f64 = digits.parse().unwrap_or(value) + 0.0;
    if rounded == 0.0 || (1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded} {unit}")
    } else {
        format!("{rounded:e} {unit}")
    }
}

/// The unit of errors.
pub const RADII: &str = "of the radius";

/// An error for people.
pub fn radii(error: f64) -> String {
    match error.is_finite() {
        true => quantity(format!("{error:.1e}").parse().unwrap_or(error), RADII),
        false => "an unknown amount".into(),
    }
}

/// The nearest of some names, as the end of a clause; empty if none is near.
pub fn did_you_mean<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> String {
    closest(text, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::quantity;

    #[test]
    fn quantities_have_six_digits_and_a_unit() {
        assert_eq!(quantity(0.0, "m"), "0 m");
        assert_eq!(quantity(-0.0, "m"), "0 m");
        assert_eq!(quantity(1.0 / 3.0, "m"), "0.333333 m");
        assert_eq!(quantity(12.0, "kg"), "12 kg");
        assert_eq!(quantity(2.0e-7 / 3.0, "kg"), "6.66667e-8 kg");
        assert_eq!(quantity(1.0e9, "m"), "1e9 m");
    }
}
