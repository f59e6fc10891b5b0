//! Values of the language and their types.

use std::rc::Rc;

use super::graph::Node;
use super::motion::Transform;
use super::vector::Vector;

/// What a part of a formula stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Node),
    Vector(Vector),
    Transform(Rc<Transform>),
    List(Rc<Vec<Value>>),
}

impl Value {
    /// The type, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Scalar(_) => "a number",
            Value::Vector(_) => "a vector",
            Value::Transform(_) => "a transform",
            Value::List(_) => "a list",
        }
    }

    pub fn scalar(&self) -> Option<Node> {
        match self {
            Value::Scalar(x) => Some(*x),
            _ => None,
        }
    }

    /// A vector, or a list of three numbers.
    pub fn vector(&self) -> Option<Vector> {
        match self {
            Value::Vector(v) => Some(*v),
            Value::List(list) => match list[..] {
                [Value::Scalar(x), Value::Scalar(y), Value::Scalar(z)] => Some([x, y, z]),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn transform(&self) -> Option<&Transform> {
        match self {
            Value::Transform(T) => Some(T),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Value]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// A list of vectors.
    pub fn points(&self) -> Option<Vec<Vector>> {
        self.list()?.iter().map(Value::vector).collect()
    }
}

/// A named constant of a formula: a number, a vector as three numbers, a list of vectors, and so on.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number.
    Number(f64),
    /// A list, of numbers or lists.
    List(Vec<Parameter>),
}

impl std::hash::Hash for Parameter {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Parameter::Number(x) => x.to_bits().hash(state),
            Parameter::List(list) => list.hash(state),
        }
    }
}

impl From<f64> for Parameter {
    fn from(value: f64) -> Parameter {
        Parameter::Number(value)
    }
}

impl<T: Into<Parameter>> From<Vec<T>> for Parameter {
    fn from(list: Vec<T>) -> Parameter {
        Parameter::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Parameter>, const N: usize> From<[T; N]> for Parameter {
    fn from(list: [T; N]) -> Parameter {
        Parameter::List(list.into_iter().map(Into::into).collect())
    }
}
