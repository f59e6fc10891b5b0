//! What acts on a mechanism from outside, the same options for every command: `--load`,
//! `--scene-load`, `--no-gravity`.

use std::str::FromStr;

use clap::Args;
use pliant::engine::Inputs;
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector6;
use pliant::spatial::Wrench;

use crate::choices::did_you_mean;
use crate::failure::Failure;
use crate::output::first_few;

/// Loads and gravity.
#[derive(Debug, Args)]
pub struct Loading {
    /// Force (N) and torque (N·m) at the origin of an effector or body, world axes, constant. May
    /// be given several times; loads on the same place add up
    #[arg(long, value_name = "NAME=fx,fy,fz[,tx,ty,tz]")]
    load: Vec<LoadArgument>,
    /// Also apply the loads that the scene itself shows
    #[arg(long)]
    scene_load: bool,
    /// Switch gravity off
    #[arg(long)]
    no_gravity: bool,
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
        let numbers: Vec<f64> = numbers.split(',').map(number).collect::<Result<_, String>>()?;
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

/// Reads a finite number.
pub fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("`{}` is not finite", text.trim())),
        Err(_) => Err(format!("`{}` is not a number", text.trim())),
    }
}

impl Loading {
    /// These loads, those of the scene too.
    pub fn with_scene(load: &[LoadArgument], no_gravity: bool) -> Loading {
        Loading { load: load.to_vec(), scene_load: true, no_gravity }
    }

    /// The inputs of a mechanism with them.
    pub fn inputs(&self, mechanism: &Mechanism) -> Result<Inputs, Failure> {
        let mut inputs = Inputs::new(mechanism);
        let mut effectors = vec![Wrench::ZERO; mechanism.effectors().len()];
        let mut bodies = vec![Wrench::ZERO; mechanism.bodies().len()];
        for LoadArgument { name, wrench } in &self.load {
            if let Some(effector) = mechanism.find_effector(name) {
                effectors[effector.index()] = effectors[effector.index()] + *wrench;
                inputs.set_load(effector, effectors[effector.index()]).map_err(Failure::input)?;
            } else if let Some(body) = mechanism.find_body(name) {
                bodies[body.index()] = bodies[body.index()] + *wrench;
                inputs.set_body_load(body, bodies[body.index()]).map_err(Failure::input)?;
            } else {
                return Err(unknown(name, mechanism));
            }
        }
        if self.scene_load {
            inputs.add_scene_loads();
        }
        if self.no_gravity {
            inputs.set_gravity([0.0; 3]).map_err(Failure::input)?;
        }
        Ok(inputs)
    }
}

fn unknown(name: &str, mechanism: &Mechanism) -> Failure {
    let effectors: Vec<&str> = mechanism.effectors().iter().map(|e| e.name.as_str()).collect();
    let bodies = mechanism.bodies().iter().map(|b| b.name.as_str());
    let guess = did_you_mean(name, effectors.iter().copied().chain(bodies));
    let there = first_few(&effectors);
    Failure::input(format!(
        "--load: there is no effector or body `{name}`{guess}\n\
         effectors: {there}; the name of a body works too\n\
         to add an effector, put this into the scene file (`pliant export` writes one):\n  \
         [[effector]]\n  name = \"{}\"\n  body = \"…\"",
        name.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::LoadArgument;

    #[test]
    fn the_last_equals_sign_splits() {
        let load: LoadArgument = "a=b= 1, -2e1,.5".parse().expect("a load");
        assert_eq!(load.name, "a=b");
        assert_eq!(load.wrench.to_vector().as_slice(), [1.0, -20.0, 0.5, 0.0, 0.0, 0.0]);
        let load: LoadArgument = "tip=1,2,3,4,5,6".parse().expect("a load");
        assert_eq!(load.wrench.to_vector().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
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
