//! Syntax tree to graph: names get their meaning, operators their types.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::{ExpressionError, Place};
use super::functions;
use super::motion::{Space, Transform};
use super::syntax::{Form, Operator, Part, Syntax};
use super::types::{Parameter, Value};
use crate::words::closest;

/// What names mean: freedoms by their input, parameters by their value.
pub(super) struct Names<'n> {
    pub freedoms: &'n [String],
    pub parameters: &'n [(String, Parameter)],
}

/// A formula while it is turned into a graph.
pub(super) struct Lowering<'s> {
    pub syntax: &'s Syntax,
    pub space: Space,
    pub values: Vec<Value>,
    pub freedoms: &'s [String],
}

pub(super) type Lowered<T> = Result<T, ExpressionError>;

/// The transform that a formula describes, and the graph that it is in.
pub(super) fn lower(syntax: &Syntax, names: &Names<'_>) -> Lowered<(Space, Rc<Transform>)> {
    let mut lowering = Lowering {
        syntax,
        space: Space::new(names.freedoms.len()),
        values: Vec::with_capacity(syntax.parts.len()),
        freedoms: names.freedoms,
    };
    let mut known: HashMap<&str, Value> = HashMap::new();
    known.insert("pi", Value::Scalar(lowering.space.graph.constant(std::f64::consts::PI)));
    for (k, name) in names.freedoms.iter().enumerate() {
        known.insert(name, Value::Scalar(lowering.space.graph.input(k)));
    }
    for (name, parameter) in names.parameters {
        let value = lowering.parameter(parameter);
        known.insert(name, value);
    }
    for (name, span) in &syntax.names {
        if known.contains_key(name.as_str()) || functions::is_function(name) {
            let message = format!("`{name}` is already defined");
            return Err(ExpressionError::at(span.clone(), message, "give this one another name"));
        }
    }
    let mut used: HashMap<&str, bool> =
        names.parameters.iter().map(|(name, _)| (name.as_str(), false)).collect();
    for part in 0..syntax.parts.len() {
        if let Form::Name(name) = &syntax.parts[part]
            && let Some(used) = used.get_mut(name.as_str())
        {
            *used = true;
        }
        let value = lowering.part(part, &known)?;
        lowering.values.push(value);
        if lowering.space.graph.is_overflown() {
            return Err(lowering.too_large(part));
        }
    }
    if let Some((name, _)) = names.parameters.iter().find(|(name, _)| !used[name.as_str()]) {
        return Err(ExpressionError {
            place: Place::Parameter(name.clone()),
            message: format!("nothing uses the parameter `{name}`"),
            help: "leave it out, or use it in the transform".into(),
        });
    }
    match &lowering.values[syntax.result] {
        Value::Transform(transform) => {
            let transform = transform.clone();
            Ok((lowering.space, transform))
        }
        other => {
            let message = format!("the last expression must be a transform, not {}", other.kind());
            let help = "made of rotate_x(…), translate(…), frame_from_tangent(…) and products of these";
            Err(ExpressionError::at(syntax.spans[syntax.result].clone(), message, help))
        }
    }
}

impl Lowering<'_> {
    fn parameter(&mut self, parameter: &Parameter) -> Value {
        match parameter {
            Parameter::Number(x) => Value::Scalar(self.space.graph.constant(*x)),
            Parameter::List(list) => {
                Value::List(Rc::new(list.iter().map(|entry| self.parameter(entry)).collect()))
            }
        }
    }

    fn too_large(&self, part: Part) -> ExpressionError {
        let help = "shorten it: fewer points, or several joints";
        ExpressionError::at(self.syntax.spans[part].clone(), "this expression is too large", help)
    }

    /// What is wrong with a part.
    pub fn error(&self, part: Part, message: impl Into<String>, help: impl Into<String>) -> ExpressionError {
        ExpressionError::at(self.syntax.spans[part].clone(), message, help)
    }

    fn part(&mut self, part: Part, known: &HashMap<&str, Value>) -> Lowered<Value> {
        match &self.syntax.parts[part] {
            Form::Number(x) => Ok(Value::Scalar(self.space.graph.constant(*x))),
            Form::Name(name) => known.get(name.as_str()).cloned().ok_or_else(|| {
                let all = known.keys().copied().chain(self.syntax.names.iter().map(|(n, _)| n.as_str()));
                let help = match closest(name, all) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if functions::is_function(name) => format!("call it: {name}(…)"),
                    None => "a freedom, a parameter, or a name that `let` gave before".into(),
                };
                self.error(part, format!("there is no `{name}`"), help)
            }),
            Form::Bound(value) => Ok(self.values[*value].clone()),
            Form::List(list) => {
                Ok(Value::List(Rc::new(list.iter().map(|entry| self.values[*entry].clone()).collect())))
            }
            Form::Negative(a) => self.negative(*a),
            Form::Binary(operator, a, b) => self.binary(*operator, *a, *b),
            Form::Component(a, k) => match self.values[*a].vector() {
                Some(v) => Ok(Value::Scalar(v[*k])),
                None => Err(self.expected(*a, "a vector", ".x, .y and .z take a component of a vector")),
            },
            Form::Call(name, arguments) => functions::call(self, part, name, arguments),
        }
    }

    /// Says which type a part should have had.
    pub fn expected(&self, part: Part, what: &str, help: &str) -> ExpressionError {
        let found = self.values[part].kind();
        self.error(part, format!("{what} is expected here, not {found}"), help)
    }

    fn negative(&mut self, a: Part) -> Lowered<Value> {
        let graph = &mut self.space.graph;
        if let Some(x) = self.values[a].scalar() {
            return Ok(Value::Scalar(graph.negate(x)));
        }
        match self.values[a].vector() {
            Some(v) => Ok(Value::Vector(graph.negate_vector(&v))),
            None => Err(self.expected(a, "a number or a vector", "`-` takes one of these")),
        }
    }

    fn binary(&mut self, operator: Operator, a: Part, b: Part) -> Lowered<Value> {
        let (x, y) = (self.values[a].clone(), self.values[b].clone());
        match operator {
            Operator::Add | Operator::Subtract => self.sum(operator == Operator::Add, a, &x, b, &y),
            Operator::Multiply => self.product(a, &x, b, &y),
            Operator::Divide => {
                let help = "`/` divides a number or a vector by a number";
                let Some(below) = y.scalar() else { return Err(self.expected(b, "a number", help)) };
                let graph = &mut self.space.graph;
                if let Some(above) = x.scalar() {
                    return Ok(Value::Scalar(graph.divide(above, below)));
                }
                match x.vector() {
                    Some(v) => Ok(Value::Vector(v.map(|x| graph.divide(x, below)))),
                    None => Err(self.expected(a, "a number or a vector", help)),
                }
            }
            Operator::Power => {
                let help = "`^` takes a number and a constant power";
                let Some(base) = x.scalar() else { return Err(self.expected(a, "a number", help)) };
                let Some(exponent) = y.scalar() else { return Err(self.expected(b, "a number", help)) };
                let Some(exponent) = self.space.graph.value(exponent) else {
                    let message = "this power depends on a freedom";
                    return Err(self.error(b, message, "a power must be a constant, such as 2 or 0.5"));
                };
                Ok(Value::Scalar(self.space.graph.power(base, exponent)))
            }
        }
    }

    fn sum(&mut self, plus: bool, a: Part, x: &Value, b: Part, y: &Value) -> Lowered<Value> {
        let graph = &mut self.space.graph;
        let help = "`+` and `-` take two numbers or two vectors";
        if let Some(x) = x.scalar() {
            let Some(y) = y.scalar() else { return Err(self.expected(b, "a number", help)) };
            return Ok(Value::Scalar(if plus { graph.add(x, y) } else { graph.subtract(x, y) }));
        }
        let Some(x) = x.vector() else { return Err(self.expected(a, "a number or a vector", help)) };
        let Some(y) = y.vector() else { return Err(self.expected(b, "a vector", help)) };
        Ok(Value::Vector(if plus { graph.add_vectors(&x, &y) } else { graph.subtract_vectors(&x, &y) }))
    }

    fn product(&mut self, a: Part, x: &Value, b: Part, y: &Value) -> Lowered<Value> {
        let help = "`*` takes two numbers, a number and a vector, two transforms, or a transform and a point";
        if let Some(x) = x.transform() {
            if let Some(y) = y.transform() {
                return Ok(Value::Transform(Rc::new(self.space.product(x, y))));
            }
            let Some(y) = y.vector() else {
                return Err(self.expected(b, "a transform or a vector", help));
            };
            let turned = self.space.graph.apply(&x.rotation, &y);
            return Ok(Value::Vector(self.space.graph.add_vectors(&turned, &x.position)));
        }
        let graph = &mut self.space.graph;
        if let Some(x) = x.scalar() {
            if let Some(y) = y.scalar() {
                return Ok(Value::Scalar(graph.multiply(x, y)));
            }
            return match y.vector() {
                Some(y) => Ok(Value::Vector(graph.scale(x, &y))),
                None => Err(self.expected(b, "a number or a vector", help)),
            };
        }
        let Some(x) = x.vector() else {
            return Err(self.expected(a, "a number, a vector or a transform", help));
        };
        match y.scalar() {
            Some(y) => Ok(Value::Vector(graph.scale(y, &x))),
            None if y.vector().is_some() => {
                Err(self.expected(b, "a number", "of two vectors, write dot(a, b) or cross(a, b)"))
            }
            None => Err(self.expected(b, "a number", help)),
        }
    }
}
