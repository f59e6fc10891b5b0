//! How a mechanism is looked at, the same options for every command: `--at`, `--base`, `--effector`, `--spring`. They change the mechanism
//! before anything else sees it.

use std::collections::HashSet;
use std::str::FromStr;

use clap::Args;
use pliant::engine::Warning;
use pliant::linear::Reference;
use pliant::mechanism::{BodyId, EffectorDescription, JointId, Mechanism, PerFreedom};
use pliant::nalgebra::{UnitQuaternion, Vector3};
use pliant::spatial::Pose;

use crate::args::Common;
use crate::choices::did_you_mean;
use crate::failure::Failure;
use crate::load::{self, Place, SpringArgument};
use crate::mechanism::{MechanismArgument, Source};
use crate::output::{count, first_few, quantity};

/// Where a mechanism starts, and what its effectors are.
#[derive(Debug, Args)]
pub struct Setup {
    /// Where a joint starts (rad, m; 30deg is in degrees), one number for each freedom; the other joints stay
    /// where the file has them, or as near as loops and couplings let them. Springs keep their rest. May be
    /// given several times
    #[arg(long, value_name = "JOINT=VALUE[,VALUE…]")]
    at: Vec<PositionArgument>,
    /// Where a free base starts: position (m) and roll, pitch, yaw (rad) of its link frame in the world
    #[arg(long, value_name = "x,y,z[,r,p,y]", value_parser = placement, allow_hyphen_values = true)]
    base: Option<Pose>,
    /// Effector or body (its link frame) to look at, instead of all effectors of the file; those with loads
    /// stay. May be given several times
    #[arg(long = "effector", value_name = "NAME")]
    pub effectors: Vec<String>,
    /// Spring of k N/m from the origin of an effector or body to a point of the world (m), without length when at
    /// rest, in addition to those of the scene. May be given several times
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

    /// What MECH names, so set up; `loaded` says on which effectors loads act, beside those of the scene.
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
            warnings = beyond_limits(&mechanism, &positions);
            mechanism = starting_at(&mechanism, &positions)?;
        }
        if let Some(pose) = &self.base {
            mechanism = placed(&mechanism, pose)?;
        }
        if !self.spring.is_empty() {
            mechanism = load::with_springs(&mechanism, &self.spring)?;
        }
        if !self.effectors.is_empty() {
            let sprung = |name: &str| self.spring.iter().any(|spring| spring.name == name);
            mechanism = with_effectors(&mechanism, &self.effectors, |name| loaded(name) || sprung(name))?;
        }
        Ok((Source { mechanism, model }, warnings))
    }
}

/// A model file holds models of one mechanism, at one place.
pub fn of_a_model(option: &str) -> Failure {
    Failure::input(format!(
        "{option} changes the mechanism, and a model file (.pliant) holds models of it as it is: give the mechanism that it was \
         made of, or make a model with it by `pliant reduce`"
    ))
}

/// The joints that are meant, with their positions.
fn resolve(
    positions: &[PositionArgument],
    mechanism: &Mechanism,
) -> Result<Vec<(JointId, Vec<f64>)>, Failure> {
    let mut resolved: Vec<(JointId, Vec<f64>)> = Vec::new();
    for PositionArgument { name, position } in positions {
        let id = mechanism.find_joint(name).ok_or_else(|| unknown(name, mechanism))?;
        if resolved.iter().any(|(other, _)| *other == id) {
            return Err(Failure::input(format!("--at: joint `{name}` is named twice")));
        }
        let joint = &mechanism[id];
        if joint.freedoms.len() != position.len() {
            return Err(Failure::input(format!(
                "--at: joint `{name}` has {}, not {}; give one number for each, translations (m) before \
                 rotations (rad)",
                count(joint.freedoms.len(), "freedom"),
                position.len()
            )));
        }
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

fn unknown(name: &str, mechanism: &Mechanism) -> Failure {
    let joints: Vec<&str> = mechanism.joints().iter().map(|joint| joint.name.as_str()).collect();
    let guess = did_you_mean(name, joints.iter().copied());
    Failure::input(format!("--at: there is no joint `{name}`{guess}\njoints: {}", first_few(&joints)))
}

/// Positions beyond limits, each with its limit.
fn beyond_limits(mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, position) in positions {
        let joint = &mechanism[*id];
        for (k, (freedom, q)) in joint.freedoms.iter().zip(position).enumerate() {
            let unit = if k < joint.kind.translations() { "m" } else { "rad" };
            let limit = q.clamp(freedom.lower, freedom.upper);
            let measure = (q - limit).abs();
            if measure > 0.0 {
                let (name, at, limit) = (&joint.name, quantity(*q, unit), quantity(limit, unit));
                let text = format!("--at: joint `{name}` is at {at}, beyond its limit of {limit}");
                warnings.push(Warning { kind: "limits", measure, unit, text });
            }
        }
    }
    warnings
}

/// The mechanism with these joints at these positions, and the others as near to where they were as loops and couplings let
/// them.
fn starting_at(mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)]) -> Result<Mechanism, Failure> {
    let reference = Reference::at_positions(mechanism, positions).map_err(Failure::input)?;
    let mut builder = mechanism.to_builder();
    for joint in mechanism.joints() {
        let start = &reference.coordinates()[joint.coordinates()];
        if joint.start != start {
            let described = builder.joint_mut(&joint.name).expect("a joint of this mechanism");
            described.start = Some(PerFreedom::Each(start.to_vec()));
        }
    }
    builder.build().map_err(Failure::input)
}

/// The mechanism with its free base there, and with it all that joints connect to it.
fn placed(mechanism: &Mechanism, pose: &Pose) -> Result<Mechanism, Failure> {
    let loose = mechanism.loose();
    let free = |body: &BodyId| mechanism[*body].free;
    let bases: Vec<BodyId> = mechanism.body_ids().filter(free).filter(|b| !loose.contains(b)).collect();
    let bases = if bases.is_empty() { &loose } else { &bases };
    let base = match bases[..] {
        [base] => base,
        [] => {
            return Err(Failure::input(
                "--base places a free base, and this mechanism has none: `--free-base` lets the root of a robot file go, \
                 `free = true` a body of a scene",
            ));
        }
        _ => {
            let names: Vec<&str> = bases.iter().map(|b| mechanism[*b].name.as_str()).collect();
            return Err(Failure::input(format!(
                "--base places one free base, and this mechanism has {} free bodies: {}; place them in a scene file",
                names.len(),
                first_few(&names)
            )));
        }
    };
    let mut moved = HashSet::from([base]);
    let joined = |moved: &HashSet<BodyId>, a: Option<BodyId>, b: Option<BodyId>| {
        b.filter(|b| a.is_some_and(|a| moved.contains(&a)) && !moved.contains(b))
    };
    loop {
        let mut ends = mechanism.joints().iter().map(|joint| (joint.parent, Some(joint.child)));
        let next = ends.find_map(|(a, b)| joined(&moved, a, b).or_else(|| joined(&moved, b, a)));
        match next {
            Some(body) => moved.insert(body),
            None => break,
        };
    }
    if let Some(joint) = mechanism.joints().iter().find(|j| j.parent.is_none() && moved.contains(&j.child)) {
        return Err(Failure::input(format!(
            "--base: joint `{}` holds `{}` to the world, so that its base is not free",
            joint.name, mechanism[base].name
        )));
    }
    let motion = *pose * mechanism[base].pose.inverse();
    let mut builder = mechanism.to_builder();
    for body in &moved {
        let body = builder.body_mut(&mechanism[*body].name).expect("a body of this mechanism");
        body.pose = motion * body.pose;
    }
    for joint in mechanism.joints().iter().filter(|joint| moved.contains(&joint.child)) {
        let described = builder.joint_mut(&joint.name).expect("a joint of this mechanism");
        described.frame = motion * described.frame;
    }
    builder.build().map_err(Failure::input)
}

/// The mechanism with these effectors alone, and those on which loads act.
fn with_effectors(
    mechanism: &Mechanism,
    names: &[String],
    loaded: impl Fn(&str) -> bool,
) -> Result<Mechanism, Failure> {
    let mut builder = mechanism.to_builder();
    let scene: HashSet<&str> =
        mechanism.loads().iter().map(|load| mechanism[load.effector].name.as_str()).collect();
    builder.retain_effectors(|e| names.contains(&e.name) || scene.contains(&*e.name) || loaded(&e.name));
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(Failure::input(format!("--effector: `{name}` is named twice")));
        }
        if let Place::Body(_) = load::find("--effector", name, mechanism)? {
            let frame = Pose::identity();
            builder.effector(EffectorDescription { name: name.clone(), body: name.clone(), frame });
        }
    }
    builder.build().map_err(Failure::input)
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
