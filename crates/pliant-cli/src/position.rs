//! The option `--at`: where joints are.

use std::str::FromStr;

use pliant::mechanism::{JointId, Mechanism};

use crate::choices::did_you_mean;
use crate::failure::Failure;
use crate::load::number;
use crate::output::{count, first_few};

/// The position of a joint, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionArgument {
    name: String,
    /// One number for each freedom, m or rad.
    position: Vec<f64>,
}

impl FromStr for PositionArgument {
    type Err = String;

    /// Names may hold any sign, numbers never a `=`: the last one splits.
    fn from_str(text: &str) -> Result<PositionArgument, String> {
        let Some((name, numbers)) = text.rsplit_once('=') else {
            return Err("there is no `=`; write JOINT=VALUE, such as elbow=0.5".into());
        };
        let position = numbers.split(',').map(number).collect::<Result<_, String>>()?;
        Ok(PositionArgument { name: name.into(), position })
    }
}

/// The joints that are meant, with their positions.
pub fn resolve(
    positions: &[PositionArgument],
    mechanism: &Mechanism,
) -> Result<Vec<(JointId, Vec<f64>)>, Failure> {
    let mut resolved: Vec<(JointId, Vec<f64>)> = Vec::new();
    for PositionArgument { name, position } in positions {
        let joint = mechanism.find_joint(name).ok_or_else(|| unknown(name, mechanism))?;
        if resolved.iter().any(|(other, _)| *other == joint) {
            return Err(Failure::input(format!("--at: joint `{name}` is named twice")));
        }
        let freedoms = mechanism[joint].freedoms.len();
        if freedoms != position.len() {
            return Err(Failure::input(format!(
                "--at: joint `{name}` has {}, not {}; give one number for each, translations (m) before \
                 rotations (rad)",
                count(freedoms, "freedom"),
                position.len()
            )));
        }
        resolved.push((joint, position.clone()));
    }
    Ok(resolved)
}

fn unknown(name: &str, mechanism: &Mechanism) -> Failure {
    let joints: Vec<&str> = mechanism.joints().iter().map(|joint| joint.name.as_str()).collect();
    let guess = did_you_mean(name, joints.iter().copied());
    Failure::input(format!("--at: there is no joint `{name}`{guess}\njoints: {}", first_few(&joints)))
}

#[cfg(test)]
mod tests {
    use super::PositionArgument;

    #[test]
    fn the_last_equals_sign_splits() {
        let at: PositionArgument = "a=b= 1, -2e1".parse().expect("a position");
        assert_eq!(at, PositionArgument { name: "a=b".into(), position: vec![1.0, -20.0] });
    }

    #[test]
    fn bad_positions_say_what_would_be_right() {
        for (text, words) in [
            ("elbow", "JOINT=VALUE"),
            ("elbow=", "`` is not a number"),
            ("elbow=x", "`x` is not a number"),
            ("elbow=0.5,inf", "`inf` is not finite"),
        ] {
            let error = text.parse::<PositionArgument>().expect_err("a bad position");
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
