//! What a user says about a mechanism by name, as dictionaries: where joints start, what acts, which effectors, springs. The words are
//! those of the command line, and so are the errors.

use pliant::engine::{Inputs, Warning};
use pliant::mechanism::{JointId, Mechanism};
use pliant::shared::setup::{self, Place, PointSpring};
use pliant::spatial::Wrench;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrays;
use crate::errors::input;

/// A mapping from names, or nothing.
pub type ByName<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The pairs of a mapping from names.
fn pairs<'py>(
    argument: &str,
    what: &str,
    given: ByName<'_, 'py>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Vec::new()) };
    let wrong = |got: &Bound<'_, PyAny>| {
        let got = got.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("{argument}: expected a dictionary from {what}, got {got}"))
    };
    let dict = match given.cast::<PyDict>() {
        Ok(dict) => dict.clone(),
        // What has names and values otherwise, such as a row of a pandas frame.
        Err(_) if given.hasattr("keys")? => {
            let dict = PyDict::new(given.py());
            dict.call_method1("update", (given,)).map_err(|_| wrong(given))?;
            dict
        }
        Err(_) => return Err(wrong(given)),
    };
    let mut list = Vec::new();
    for (key, value) in dict.iter() {
        let name = key.cast::<PyString>().map_err(|_| wrong(&key))?;
        list.push((name.to_str()?.to_string(), value));
    }
    Ok(list)
}

/// How an entry of a dictionary is named in an error.
fn entry(argument: &str, name: &str) -> String {
    format!("{argument}[{name:?}]")
}

/// Positions of joints.
fn positions(at: ByName<'_, '_>, mechanism: &Mechanism) -> PyResult<Vec<(JointId, Vec<f64>)>> {
    let mut list = Vec::new();
    for (name, value) in pairs("at", "joint names to positions (rad or m)", at)? {
        let id = setup::find_joint("at", &name, mechanism).map_err(input)?;
        let values = arrays::list(&entry("at", &name), &value)?;
        setup::one_per_freedom("at", mechanism, id, values.len()).map_err(input)?;
        list.push((id, values));
    }
    Ok(list)
}

/// Springs to points of the world.
fn springs(given: ByName<'_, '_>) -> PyResult<Vec<PointSpring>> {
    let what = "names of effectors or bodies to a point (m) and a stiffness (N/m): [x, y, z, k]";
    let mut list = Vec::new();
    for (name, value) in pairs("springs", what, given)? {
        let argument = entry("springs", &name);
        let [x, y, z, stiffness] =
            arrays::exactly(&argument, "a point and a stiffness [x, y, z, k]", &value)?;
        if stiffness < 0.0 {
            return Err(input(format!(
                "{argument}: the stiffness is {stiffness} N/m; it must be zero or above"
            )));
        }
        list.push(PointSpring { name, point: [x, y, z], stiffness });
    }
    Ok(list)
}

/// Where a mechanism starts, and what its effectors and springs are.
#[derive(Default)]
pub struct Setup<'a, 'py> {
    pub at: ByName<'a, 'py>,
    pub springs: ByName<'a, 'py>,
    pub effectors: &'a [String],
}

impl Setup<'_, '_> {
    /// The mechanism so set up, with positions beyond limits and closures that are in doubt.
    pub fn of(
        &self,
        mechanism: &Mechanism,
        loads: &[(String, Wrench)],
    ) -> PyResult<(Mechanism, Vec<Warning>)> {
        let (mut mechanism, mut warnings) = (mechanism.clone(), Vec::new());
        let positions = positions(self.at, &mechanism)?;
        if !positions.is_empty() {
            warnings = setup::beyond_limits("at", &mechanism, &positions);
            mechanism = setup::starting_at(&mechanism, &positions).map_err(input)?;
        }
        let springs = springs(self.springs)?;
        if !springs.is_empty() {
            mechanism = setup::with_springs("springs", &mechanism, &springs).map_err(input)?;
        }
        if !self.effectors.is_empty() {
            let kept = |name: &str| {
                loads.iter().any(|(own, _)| own == name) || springs.iter().any(|s| s.name == name)
            };
            mechanism =
                setup::with_effectors("effectors", &mechanism, self.effectors, kept).map_err(input)?;
        }
        warnings.extend(Warning::of_closures(&mechanism));
        Ok((mechanism, warnings))
    }
}

/// Loads by name.
pub fn loads(given: ByName<'_, '_>) -> PyResult<Vec<(String, Wrench)>> {
    let what = "names of effectors or bodies to forces (N), or forces and torques (N·m)";
    let list = pairs("loads", what, given)?;
    list.into_iter()
        .map(|(name, value)| Ok((name.clone(), arrays::wrench(&entry("loads", &name), &value)?)))
        .collect()
}

/// The inputs of a mechanism: loads, with those of its scene if wanted, and gravity if it is not the file's.
pub fn inputs(
    mechanism: &Mechanism,
    loads: &[(String, Wrench)],
    gravity: Option<&Bound<'_, PyAny>>,
    scene_loads: bool,
) -> PyResult<Inputs> {
    let mut inputs = Inputs::new(mechanism);
    for (name, wrench) in loads {
        match setup::find("loads", name, mechanism).map_err(input)? {
            Place::Effector(effector) => inputs.set_load(effector, *wrench),
            Place::Body(body) => inputs.set_body_load(body, *wrench),
        }
        .map_err(input)?;
    }
    if scene_loads {
        inputs.add_scene_loads();
    }
    if let Some(gravity) = gravity.filter(|gravity| !gravity.is_none()) {
        inputs.set_gravity(arrays::exactly("gravity", "m/s² along x, y, z", gravity)?).map_err(input)?;
    }
    Ok(inputs)
}
