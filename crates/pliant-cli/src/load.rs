//! What acts on a mechanism from outside, the same options for every command: `--load`, `--gravity`, `--no-gravity`, `--spring`; and of
//! those in which something moves or settles, `--scene-load`.

use std::str::FromStr;

use clap::Args;
use pliant::engine::{Inputs, Simulation, SpringId};
use pliant::mechanism::{Effector, LoadDescription, Mechanism};
use pliant::nalgebra::Vector6;
use pliant::shared::setup::{self, Place, PointSpring};
use pliant::spatial::Wrench;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::quantity;

/// Gravity.
#[derive(Clone, Debug, Args)]
pub struct Gravity {
    /// Gravity, world axes, m/s², instead of the file's
    #[arg(long, value_name = "x,y,z", value_parser = three, allow_hyphen_values = true, conflicts_with = "no_gravity")]
    gravity: Option<[f64; 3]>,
    /// Switch gravity off
    #[arg(long)]
    no_gravity: bool,
}

impl Gravity {
    /// What is said of it.
    fn given(&self) -> Option<[f64; 3]> {
        if self.no_gravity { Some([0.0; 3]) } else { self.gravity }
    }

    /// The option that was given, if one was.
    pub fn option(&self) -> Option<&'static str> {
        let given = [("--gravity", self.gravity.is_some()), ("--no-gravity", self.no_gravity)];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The mechanism in it.
    pub fn of(&self, mechanism: Mechanism) -> Result<Mechanism, Failure> {
        let Some(gravity) = self.given() else { return Ok(mechanism) };
        let mut builder = mechanism.to_builder();
        builder.gravity(gravity);
        builder.build().map_err(Failure::input)
    }
}

/// Loads and gravity.
#[derive(Clone, Debug, Args)]
pub struct Loading {
    /// Force (N) and torque (N·m) at the origin of an effector or body, world axes, constant. May
    /// be given several times; loads on the same place add up
    #[arg(long, value_name = "NAME=fx,fy,fz[,tx,ty,tz]")]
    load: Vec<LoadArgument>,
    #[command(flatten)]
    gravity: Gravity,
}

/// All that acts where something moves or settles.
#[derive(Clone, Debug, Args)]
pub struct Acting {
    #[command(flatten)]
    pub loading: Loading,
    /// Also apply the loads of the scene
    #[arg(long)]
    scene_load: bool,
}

/// A load by the name of what it acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadArgument {
    name: String,
    wrench: Wrench,
}

impl FromStr for LoadArgument {
    type Err = String;

    /// Names may hold any sign, numbers never a `=`: the last one splits.
    fn from_str(text: &str) -> Result<LoadArgument, String> {
        let Some((name, numbers)) = text.rsplit_once('=') else {
            return Err("there is no `=`; write NAME=fx,fy,fz, such as tip=0,0,-100".into());
        };
        let numbers = self::numbers(numbers)?;
        let wrench = match numbers.len() {
            3 => Wrench::force([numbers[0], numbers[1], numbers[2]]),
            6 => Wrench::from_vector(&Vector6::from_column_slice(&numbers)),
            n => {
                return Err(format!("{n} numbers; a force takes three (fx,fy,fz), a force and a torque six"));
            }
        };
        Ok(LoadArgument { name: name.into(), wrench })
    }
}

/// The option `--spring`.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringArgument(pub PointSpring);

impl FromStr for SpringArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<SpringArgument, String> {
        let Some((name, numbers)) = text.rsplit_once('=') else {
            return Err("there is no `=`; write NAME=x,y,z,k, such as tip=0.5,0,1,200".into());
        };
        match self::numbers(numbers)?[..] {
            [_, _, _, k] if k < 0.0 => Err(format!("the stiffness is {k} N/m; it must be zero or above")),
            [x, y, z, k] => {
                Ok(SpringArgument(PointSpring { name: name.into(), point: [x, y, z], stiffness: k }))
            }
            ref list => {
                Err(format!("{} numbers; a spring takes four: a point (x,y,z) and its stiffness", list.len()))
            }
        }
    }
}

/// Finite numbers between commas.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split(',').map(number).collect()
}

pub fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("`{}` is not finite", text.trim())),
        Err(_) => Err(format!("`{}` is not a number", text.trim())),
    }
}

fn three(text: &str) -> Result<[f64; 3], String> {
    let numbers = numbers(text)?;
    numbers.try_into().map_err(|list: Vec<f64>| format!("{} numbers; it takes three: x,y,z", list.len()))
}

impl Loading {
    /// The option that was given, if one was.
    pub fn option(&self) -> Option<&'static str> {
        if self.load.is_empty() { self.gravity.option() } else { Some("--load") }
    }

    /// Whether a load acts on this effector.
    pub fn acts_on(&self, name: &str) -> bool {
        self.load.iter().any(|load| load.name == name)
    }

    /// The inputs of a mechanism with them, and with the scene's own loads if wanted.
    pub fn inputs(&self, mechanism: &Mechanism, scene_load: bool) -> Result<Inputs, Failure> {
        let mut inputs = Inputs::new(mechanism);
        let mut effectors = vec![Wrench::ZERO; mechanism.effectors().len()];
        let mut bodies = vec![Wrench::ZERO; mechanism.bodies().len()];
        for LoadArgument { name, wrench } in &self.load {
            match setup::find("--load", name, mechanism).map_err(Failure::input)? {
                Place::Effector(effector) => {
                    effectors[effector.index()] = effectors[effector.index()] + *wrench;
                    inputs.set_load(effector, effectors[effector.index()]).map_err(Failure::input)?;
                }
                Place::Body(body) => {
                    bodies[body.index()] = bodies[body.index()] + *wrench;
                    inputs.set_body_load(body, bodies[body.index()]).map_err(Failure::input)?;
                }
            }
        }
        if scene_load {
            inputs.add_scene_loads();
        }
        if let Some(gravity) = self.gravity.given() {
            inputs.set_gravity(gravity).map_err(Failure::input)?;
        }
        Ok(inputs)
    }

    /// The mechanism with them as loads of its scene; these act on effectors.
    pub fn of_scene(&self, mechanism: Mechanism) -> Result<Mechanism, Failure> {
        let mechanism = self.gravity.of(mechanism)?;
        if self.load.is_empty() {
            return Ok(mechanism);
        }
        let mut builder = mechanism.to_builder();
        for LoadArgument { name, wrench } in &self.load {
            match setup::find("--load", name, &mechanism).map_err(Failure::input)? {
                Place::Effector(_) => {
                    builder.load(LoadDescription { effector: name.clone(), wrench: *wrench });
                }
                Place::Body(_) => {
                    return Err(Failure::input(format!(
                        "--load: here loads act on effectors, and `{name}` is a body without one: add one with \
                         `--effector {name}`"
                    )));
                }
            }
        }
        builder.build().map_err(Failure::input)
    }
}

impl Acting {
    /// The inputs of a mechanism with all of it.
    pub fn inputs(&self, mechanism: &Mechanism) -> Result<Inputs, Failure> {
        self.loading.inputs(mechanism, self.scene_load)
    }

    /// Whether a load acts on this effector.
    pub fn acts_on(&self, name: &str) -> bool {
        self.loading.acts_on(name)
    }
}

/// What springs exert, world axes, N.
#[derive(Debug, Default)]
pub struct Report {
    /// `springs` of the document, where there are any.
    pub json: Option<(String, Value)>,
    pub rows: Vec<(&'static str, String)>,
}

/// What the scene's springs exert at the end.
pub fn report(simulation: &mut dyn Simulation) -> Report {
    let springs: Vec<(String, SpringId)> =
        simulation.inputs().scene_springs().map(|(name, id)| (name.to_string(), id)).collect();
    let (mut list, mut rows) = (Vec::new(), Vec::new());
    for (name, id) in springs {
        let force = simulation.spring_force(id).expect("a spring of this run").force;
        let spring = *simulation.inputs().spring(id).expect("a spring of this run");
        // A model file's mechanism has not the springs that are given with it.
        let mechanism = simulation.mechanism();
        let sits = |e: &&Effector| e.body == spring.body && e.frame == spring.frame;
        let on = mechanism.effectors().iter().find(sits).map_or(&mechanism[spring.body].name, |e| &e.name);
        list.push(json!({ "name": name, "on": on, "force": [force.x, force.y, force.z] }));
        let [x, y, z] = [force.x, force.y, force.z].map(|x| quantity(x, "N"));
        let by = if name == *on { String::new() } else { format!(" by `{name}`") };
        rows.push(("spring", format!("{x}, {y}, {z} on `{on}`{by}")));
    }
    Report { json: (!list.is_empty()).then(|| ("springs".into(), list.into())), rows }
}

#[cfg(test)]
mod tests {
    use super::{LoadArgument, SpringArgument};

    #[test]
    fn the_last_equals_sign_splits() {
        let load: LoadArgument = "a=b= 1, -2e1,.5".parse().expect("a load");
        assert_eq!(load.name, "a=b");
        assert_eq!(load.wrench.to_vector().as_slice(), [1.0, -20.0, 0.5, 0.0, 0.0, 0.0]);
        let load: LoadArgument = "tip=1,2,3,4,5,6".parse().expect("a load");
        assert_eq!(load.wrench.to_vector().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let spring: SpringArgument = "a=b=1,-2,3, 4e2".parse().expect("a spring");
        assert_eq!(spring.0.name, "a=b");
        assert_eq!((spring.0.point, spring.0.stiffness), ([1.0, -2.0, 3.0], 400.0));
    }

    #[test]
    fn bad_springs_say_what_would_be_right() {
        for (text, words) in [
            ("tip", "NAME=x,y,z,k"),
            ("tip=1,2,3", "3 numbers"),
            ("tip=1,2,3,-4", "zero or above"),
            ("tip=1,2,3,nan", "`nan` is not finite"),
        ] {
            let error = text.parse::<SpringArgument>().expect_err("a bad spring");
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn bad_loads_say_what_would_be_right() {
        for (text, words) in [
            ("tip", "NAME=fx,fy,fz"),
            ("tip=1,2", "2 numbers"),
            ("tip=1,2,3,4", "4 numbers"),
            ("tip=1,2,x", "`x` is not a number"),
            ("tip=", "`` is not a number"),
            ("tip=1,2,inf", "`inf` is not finite"),
            ("tip=1,nan,3", "`nan` is not finite"),
            ("tip=1,2,1e999", "`1e999` is not finite"),
        ] {
            let error = text.parse::<LoadArgument>().expect_err("a bad load");
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
