//! A joint as a text: what a scene file or a program says.

use super::compile::compile;
use super::error::{ExpressionError, Place};
use super::functions::is_function;
use super::ready::{self, Ready};
use super::{Expression, Parameter};
use crate::words::closest;

/// A transform written in the language of [`crate::expression`], with the names of its freedoms and parameters.
///
/// ```
/// use pliant_core::{expression::Formula, joints::JointKind};
///
/// let screw = Formula::new("translate(0, 0, pitch * turn) * rotate_z(turn)")
///     .angle("turn")
///     .parameter("pitch", 0.01) // m/rad
///     .compile()?;
/// assert_eq!(screw.freedoms(), 1);
/// let kind = JointKind::from(screw); // for a JointDescription
/// assert!((kind.transform(&[3.0]).position.z - 0.03).abs() < 1e-15); // turned by 3 rad, it is 3 cm up
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Formula {
    pub(super) text: String,
    pub(super) ready: Option<&'static Ready>,
    /// Freedoms in the order of the coordinates: lengths first.
    pub(super) freedoms: Vec<String>,
    pub(super) lengths: usize,
    pub(super) parameters: Vec<(String, Parameter)>,
}

/// How many lists a parameter may have inside each other: a grid of points has three.
const NESTED: usize = 3;

impl Formula {
    /// A text without freedoms yet.
    pub fn new(text: impl Into<String>) -> Formula {
        Formula { text: text.into(), ready: None, freedoms: Vec::new(), lengths: 0, parameters: Vec::new() }
    }

    /// A ready joint, with its freedoms and without its parameters.
    pub fn ready(name: &str) -> Result<Formula, ExpressionError> {
        let Some(ready) = ready::find(name) else {
            let names: Vec<&str> = ready::ALL.iter().map(|ready| ready.name).collect();
            let help = match closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", names.join(", ")),
            };
            let message = format!("there is no ready joint `{name}`");
            return Err(ExpressionError { place: Place::Ready, message, help });
        };
        let mut formula = Formula::new(ready.text);
        formula.ready = Some(ready);
        for name in ready.lengths {
            formula = formula.length(*name);
        }
        for name in ready.angles {
            formula = formula.angle(*name);
        }
        Ok(formula)
    }

    /// With one more freedom that is a length, m. Lengths come before angles.
    pub fn length(mut self, name: impl Into<String>) -> Formula {
        self.freedoms.insert(self.lengths, name.into());
        self.lengths += 1;
        self
    }

    /// With one more freedom that is an angle, rad.
    pub fn angle(mut self, name: impl Into<String>) -> Formula {
        self.freedoms.push(name.into());
        self
    }

    /// With a named constant.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Parameter>) -> Formula {
        let name = name.into();
        let at = self.parameters.partition_point(|(other, _)| *other <= name);
        self.parameters.insert(at, (name, value.into()));
        self
    }

    /// The text of the transform.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the ready joint that it is.
    pub fn ready_name(&self) -> Option<&'static str> {
        self.ready.map(|ready| ready.name)
    }

    /// Names of the freedoms that are lengths.
    pub fn lengths(&self) -> &[String] {
        &self.freedoms[..self.lengths]
    }

    /// Names of the freedoms that are angles.
    pub fn angles(&self) -> &[String] {
        &self.freedoms[self.lengths..]
    }

    /// Names of all freedoms, in the order of the coordinates.
    pub fn freedoms(&self) -> &[String] {
        &self.freedoms
    }

    /// Named constants, in the order of their names.
    pub fn parameters(&self) -> &[(String, Parameter)] {
        &self.parameters
    }

    /// Checks it and works out its derivatives.
    pub fn compile(self) -> Result<Expression, ExpressionError> {
        self.check()?;
        compile(self)
    }

    /// Names and numbers.
    fn check(&self) -> Result<(), ExpressionError> {
        let count = self.freedoms.len();
        if count == 0 || count > 6 {
            let message = match count {
                0 => "the joint has no freedom".to_string(),
                n => format!("the joint has {n} freedoms"),
            };
            let place = if count > 6 { Place::Freedom(6) } else { Place::Text(0..self.text.len()) };
            return Err(ExpressionError {
                place,
                message,
                help: "one to six, in `lengths` and `angles`".into(),
            });
        }
        for (k, name) in self.freedoms.iter().enumerate() {
            let twice = self.freedoms[..k].contains(name);
            check_name(name, twice, Place::Freedom(k))?;
        }
        for (k, (name, value)) in self.parameters.iter().enumerate() {
            let place = Place::Parameter(name.clone());
            let twice = self.parameters[..k].iter().any(|(other, _)| other == name);
            check_name(name, twice || self.freedoms.contains(name), place.clone())?;
            if !is_sound(value, NESTED) {
                let message = format!("the parameter `{name}` is not made of finite numbers");
                let help = "a number, a vector, a list of vectors or a grid of vectors".into();
                return Err(ExpressionError { place, message, help });
            }
        }
        let Some(ready) = self.ready else { return Ok(()) };
        let given = |name: &str| self.parameters.iter().any(|(other, _)| other == name);
        if let Some((name, about)) = ready.parameters.iter().find(|(name, _)| !given(name)) {
            let message = format!("`{}` needs the parameter `{name}`", ready.name);
            return Err(ExpressionError { place: Place::Ready, message, help: format!("{name}: {about}") });
        }
        let known = |name: &str| ready.parameters.iter().any(|(other, _)| *other == name);
        if let Some((name, _)) = self.parameters.iter().find(|(name, _)| !known(name)) {
            let names: Vec<&str> = ready.parameters.iter().map(|(name, _)| *name).collect();
            let message = format!("`{}` has no parameter `{name}`", ready.name);
            let help = format!("it has {}", names.join(", "));
            return Err(ExpressionError { place: Place::Parameter(name.clone()), message, help });
        }
        Ok(())
    }
}

fn check_name(name: &str, twice: bool, place: Place) -> Result<(), ExpressionError> {
    let word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.is_empty()
        && !name.as_bytes()[0].is_ascii_digit();
    let (message, help) = if !word {
        (format!("`{}` is not a name", name.escape_debug()), "letters, digits and _, a letter first")
    } else if name == "let" || name == "pi" || is_function(name) {
        (format!("`{name}` is a keyword of the language"), "choose another name")
    } else if twice {
        (format!("`{name}` is given twice"), "choose another name for one of the two")
    } else {
        return Ok(());
    };
    Err(ExpressionError { place, message, help: help.into() })
}

/// Whether a value has finite numbers only and not too many levels of lists.
fn is_sound(value: &Parameter, levels: usize) -> bool {
    match value {
        Parameter::Number(x) => x.is_finite(),
        Parameter::List(list) => levels > 0 && list.iter().all(|entry| is_sound(entry, levels - 1)),
    }
}
