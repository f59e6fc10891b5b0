//! How a mechanism is looked at, the same options for every command: `--at`, `--base`, `--effector`, `--spring`. They change the mechanism
//! before anything else sees it.

use std::str::FromStr;

use clap::Args;
use pliant::engine::Warning;
use pliant::mechanism::{JointId, Mechanism};
use pliant::nalgebra::{UnitQuaternion, Vector3};
use pliant::shared::setup;
use pliant::spatial::Pose;

use crate::args::Common;
use crate::failure::Failure;
use crate::load::{self, SpringArgument};
use crate::mechanism::{MechanismArgument, Source};

/// Where a mechanism starts, and what its effectors are.
#[derive(Clone, Debug, Args)]
pub struct Setup {
    /// Where a joint starts (rad, m; 30deg is in degrees), one number for each freedom; the other joints stay
    /// where the file has them, or as near as loops and couplings allow. Springs keep their rest positions. May be
    /// given several times
    #[arg(long, value_name = "JOINT=VALUE[,VALUE…]")]
    at: Vec<PositionArgument>,
    /// Where a free base starts: position (m) and roll, pitch, yaw (rad) of its link frame in the world
    #[arg(long, value_name = "x,y,z[,r,p,y]", value_parser = placement, allow_hyphen_values = true)]
    base: Option<Pose>,
    /// Effector or body (its link frame) to use instead of all effectors of the file; those with loads are kept.
    /// May be given several times
    #[arg(long = "effector", value_name = "NAME")]
    pub effectors: Vec<String>,
    /// Spring of k N/m and zero rest length from the origin of an effector or body to a point of the world (m), in
    /// addition to those of the scene. May be given several times
    #[arg(long, value_name = "NAME=x,y,z,k")]
    spring: Vec<SpringArgument>,
}

/// The position of a joint, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionArgument {
    name: String,
    /// One number for each freedom, and whether it is in degrees.
    position: Vec<(f64, bool)>,
}

impl FromStr for PositionArgument {
    type Err = String;

    /// Names may hold any sign, numbers never a `=`: the last one splits.
    fn from_str(text: &str) -> Result<PositionArgument, String> {
        let Some((name, values)) = text.rsplit_once('=') else {
            return Err("there is no `=`; write JOINT=VALUE, such as elbow=0.5 or elbow=30deg".into());
        };
        let value = |text: &str| match text.trim().strip_suffix("deg") {
            Some(degrees) => Ok((load::number(degrees)?, true)),
            None => Ok((load::number(text)?, false)),
        };
        let position = values.split(',').map(value).collect::<Result<_, String>>()?;
        Ok(PositionArgument { name: name.into(), position })
    }
}

fn placement(text: &str) -> Result<Pose, String> {
    match load::numbers(text)?[..] {
        [x, y, z] => Ok(Pose::translation([x, y, z])),
        [x, y, z, roll, pitch, yaw] => {
            Ok(Pose::new(UnitQuaternion::from_euler_angles(roll, pitch, yaw), Vector3::new(x, y, z)))
        }
        ref list => {
            Err(format!("{} numbers; a position takes three (x,y,z), a pose six (x,y,z,r,p,y)", list.len()))
        }
    }
}

impl Setup {
    /// Whether springs are given, which a model file's models do not have.
    pub fn has_springs(&self) -> bool {
        !self.spring.is_empty()
    }

    /// What MECH names, so set up; `loaded` says on which effectors loads act, in addition to those of the scene.
    pub fn open(
        &self,
        argument: &MechanismArgument,
        common: &Common,
        loaded: impl Fn(&str) -> bool,
    ) -> Result<(Source, Vec<Warning>), Failure> {
        let Source { mut mechanism, model } = argument.open(common)?;
        let given = [
            ("--at", !self.at.is_empty()),
            ("--base", self.base.is_some()),
            ("--effector", !self.effectors.is_empty()),
        ];
        if let (Some(_), Some((option, _))) = (&model, given.into_iter().find(|(_, given)| *given)) {
            return Err(of_a_model(option));
        }
        let mut warnings = Vec::new();
        if !self.at.is_empty() {
            let positions = resolve(&self.at, &mechanism)?;
            warnings = setup::beyond_limits("--at", &mechanism, &positions);
            mechanism = setup::starting_at(&mechanism, &positions).map_err(Failure::input)?;
        }
        if let Some(pose) = &self.base {
            mechanism = setup::placed("--base", &mechanism, pose).map_err(Failure::input)?;
        }
        if !self.spring.is_empty() {
            let springs: Vec<_> = self.spring.iter().map(|spring| spring.0.clone()).collect();
            mechanism = setup::with_springs("--spring", &mechanism, &springs).map_err(Failure::input)?;
        }
        if !self.effectors.is_empty() {
            let sprung = |name: &str| self.spring.iter().any(|spring| spring.0.name == name);
            let kept = |name: &str| loaded(name) || sprung(name);
            mechanism = setup::with_effectors("--effector", &mechanism, &self.effectors, kept)
                .map_err(Failure::input)?;
        }
        warnings.extend(Warning::of_closures(&mechanism));
        Ok((Source { mechanism, model }, warnings))
    }
}

/// A model file holds models of one mechanism, at one place.
pub fn of_a_model(option: &str) -> Failure {
    Failure::input(format!(
        "{option} changes the mechanism, and a model file (.pliant) is of one fixed mechanism: give the mechanism that it was made from, \
         or build a model with this option by `pliant reduce`"
    ))
}

/// The joints that are meant, with their positions.
fn resolve(
    positions: &[PositionArgument],
    mechanism: &Mechanism,
) -> Result<Vec<(JointId, Vec<f64>)>, Failure> {
    let mut resolved: Vec<(JointId, Vec<f64>)> = Vec::new();
    for PositionArgument { name, position } in positions {
        let id = setup::find_joint("--at", name, mechanism).map_err(Failure::input)?;
        if resolved.iter().any(|(other, _)| *other == id) {
            return Err(Failure::input(format!("--at: joint `{name}` is named twice")));
        }
        setup::one_per_freedom("--at", mechanism, id, position.len()).map_err(Failure::input)?;
        let joint = &mechanism[id];
        let mut values = Vec::new();
        for (k, (value, degrees)) in position.iter().enumerate() {
            if *degrees && k < joint.kind.translations() {
                return Err(Failure::input(format!(
                    "--at: {value}deg of joint `{name}` is an angle, and this is a translation: give it in m"
                )));
            }
            values.push(if *degrees { value.to_radians() } else { *value });
        }
        resolved.push((id, values));
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::{PositionArgument, placement};

    #[test]
    fn the_last_equals_sign_splits() {
        let at: PositionArgument = "a=b= 1, -2e1, 30 deg".parse().expect("a position");
        let position = vec![(1.0, false), (-20.0, false), (30.0, true)];
        assert_eq!(at, PositionArgument { name: "a=b".into(), position });
    }

    #[test]
    fn bad_positions_say_what_would_be_right() {
        for (text, words) in [
            ("elbow", "JOINT=VALUE"),
            ("elbow=", "`` is not a number"),
            ("elbow=x", "`x` is not a number"),
            ("elbow=deg", "`` is not a number"),
            ("elbow=0.5,inf", "`inf` is not finite"),
        ] {
            let error = text.parse::<PositionArgument>().expect_err("a bad position");
            assert!(error.contains(words), "{text}: {error}");
        }
        for (text, words) in [("1,2", "2 numbers"), ("1,2,x", "not a number"), ("1,2,3,4", "4 numbers")] {
            let error = placement(text).expect_err("a bad pose");
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
