//! CSV: `time`, then `NAME.px NAME.py NAME.pz NAME.qw NAME.qx NAME.qy NAME.qz` of each body, then
//! `NAME.0`, `NAME.1`… of each joint; where things touch `contacts`, `penetration`, `residual` and `NAME.fx NAME.fy
//! NAME.fz` of each effector. Numbers read back to the last bit.

use std::io::{self, Write};

use pliant_core::mechanism::Mechanism;

use super::joints;

const POSE: [&str; 7] = ["px", "py", "pz", "qw", "qx", "qy", "qz"];

pub(super) fn write_header(out: &mut impl Write, mechanism: &Mechanism, contact: bool) -> io::Result<()> {
    write!(out, "time")?;
    for body in mechanism.bodies() {
        for part in POSE {
            write!(out, ",{}", quoted(format!("{}.{part}", body.name)))?;
        }
    }
    for (joint, coordinates) in joints(mechanism) {
        for k in 0..coordinates {
            write!(out, ",{}", quoted(format!("{joint}.{k}")))?;
        }
    }
    if contact {
        write!(out, ",contacts,penetration,residual")?;
        for effector in mechanism.effectors() {
            for part in ["fx", "fy", "fz"] {
                write!(out, ",{}", quoted(format!("{}.{part}", effector.name)))?;
            }
        }
    }
    writeln!(out)
}

pub(super) fn write_row(out: &mut impl Write, numbers: impl Iterator<Item = f64>) -> io::Result<()> {
    for (i, number) in numbers.enumerate() {
        // `{:?}` is the shortest text that reads back the same, with an exponent where that is shorter.
        write!(out, "{}{number:?}", if i == 0 { "" } else { "," })?;
    }
    writeln!(out)
}

/// A field of RFC 4180.
fn quoted(field: String) -> String {
    if field.contains([',', '"', '\r', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("left arm.px".into()), "left arm.px");
        assert_eq!(quoted("a,b".into()), "\"a,b\"");
        assert_eq!(quoted("the \"arm\"".into()), "\"the \"\"arm\"\"\"");
    }
}
