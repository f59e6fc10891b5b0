//! The functions of the language.

use std::rc::Rc;

use super::graph::Node;
use super::lower::{Lowered, Lowering};
use super::motion::Transform;
use super::spline::even_knots;
use super::syntax::{Form, Part};
use super::types::Value;
use super::vector::{Vector, transposed};
use crate::words::closest;

/// Each function as it is written, which is also what errors show.
const FUNCTIONS: [&str; 25] = [
    "sin(angle)",
    "cos(angle)",
    "tan(angle)",
    "sqrt(number)",
    "abs(number)",
    "vec(x, y, z)",
    "dot(a, b)",
    "cross(a, b)",
    "normalize(vector)",
    "length(vector)",
    "derivative(value, freedom)",
    "identity()",
    "rotate_x(angle)",
    "rotate_y(angle)",
    "rotate_z(angle)",
    "rotate(axis, angle)",
    "translate(vector) or translate(x, y, z)",
    "inverse(transform)",
    "frame_from_tangent(tangent, up, origin)",
    "frame_from_tangents(first, second, origin)",
    "piecewise(x, [breaks], [[coefficients], …])",
    "bezier(u, [points])",
    "bspline(u, degree, [points]) or bspline(u, degree, [knots], [points])",
    "bezier_surface(u, v, [[points], …])",
    "bspline_surface(u, v, degree_u, degree_v, [[points], …])",
];

/// The largest degree of a curve: beyond, f64 loses digits.
const DEGREE: usize = 30;

fn usage(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|usage| usage.split('(').next() == Some(name)).copied()
}

/// Whether a name is that of a function.
pub(super) fn is_function(name: &str) -> bool {
    usage(name).is_some()
}

/// A call with the arguments already known.
pub(super) fn call(
    lowering: &mut Lowering<'_>,
    part: Part,
    name: &str,
    arguments: &[Part],
) -> Lowered<Value> {
    let Some(usage) = usage(name) else {
        let names = || FUNCTIONS.iter().filter_map(|usage| usage.split('(').next());
        let help = match closest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(lowering.error(part, format!("there is no function `{name}`"), help));
    };
    Call { lowering, part, arguments, usage }.named(name)
}

struct Call<'c, 's> {
    lowering: &'c mut Lowering<'s>,
    part: Part,
    arguments: &'c [Part],
    usage: &'static str,
}

impl Call<'_, '_> {
    fn named(&mut self, name: &str) -> Lowered<Value> {
        let scalar = Value::Scalar;
        Ok(match name {
            "sin" => scalar(self.one_number(|graph, x| graph.sine(x))?),
            "cos" => scalar(self.one_number(|graph, x| graph.cosine(x))?),
            "tan" => scalar(self.one_number(|graph, x| {
                let (s, c) = (graph.sine(x), graph.cosine(x));
                graph.divide(s, c)
            })?),
            "sqrt" => scalar(self.one_number(|graph, x| graph.root(x))?),
            "abs" => scalar(self.one_number(|graph, x| {
                let (zero, negative) = (graph.constant(0.0), graph.negate(x));
                let below = graph.less(x, zero);
                graph.select(below, negative, x)
            })?),
            "vec" => {
                self.count(&[3])?;
                Value::Vector([self.number(0)?, self.number(1)?, self.number(2)?])
            }
            "dot" => {
                let (a, b) = self.two_vectors()?;
                scalar(self.lowering.space.graph.dot(&a, &b))
            }
            "cross" => {
                let (a, b) = self.two_vectors()?;
                Value::Vector(self.lowering.space.graph.cross(&a, &b))
            }
            "normalize" => {
                self.count(&[1])?;
                let a = self.vector(0)?;
                Value::Vector(self.lowering.space.graph.normalize(&a))
            }
            "length" => {
                self.count(&[1])?;
                let a = self.vector(0)?;
                let square = self.lowering.space.graph.dot(&a, &a);
                scalar(self.lowering.space.graph.root(square))
            }
            "derivative" => self.derivative()?,
            "piecewise" => self.piecewise()?,
            "bezier" => {
                self.count(&[2])?;
                let (u, points) = (self.number(0)?, self.points(1)?);
                self.at_least(1, points.len(), 2)?;
                self.at_most(1, points.len() - 1)?;
                let graph = &mut self.lowering.space.graph;
                let weights = graph.bernstein(u, points.len() - 1);
                Value::Vector(graph.weighted(&weights, &points))
            }
            "bspline" => self.bspline()?,
            "bezier_surface" => {
                self.count(&[3])?;
                let (u, v, grid) = (self.number(0)?, self.number(1)?, self.grid(2)?);
                self.at_least(2, grid.len().min(grid[0].len()), 2)?;
                self.at_most(2, grid.len().max(grid[0].len()) - 1)?;
                let graph = &mut self.lowering.space.graph;
                let (wu, wv) = (graph.bernstein(u, grid.len() - 1), graph.bernstein(v, grid[0].len() - 1));
                let rows: Vec<Vector> = grid.iter().map(|row| graph.weighted(&wv, row)).collect();
                Value::Vector(graph.weighted(&wu, &rows))
            }
            "bspline_surface" => {
                self.count(&[5])?;
                let (u, v, grid) = (self.number(0)?, self.number(1)?, self.grid(4)?);
                let (p, q) = (self.degree(2)?, self.degree(3)?);
                self.at_least(4, grid.len(), p + 1)?;
                self.at_least(4, grid[0].len(), q + 1)?;
                let graph = &mut self.lowering.space.graph;
                let across = even_knots(q, grid[0].len());
                let rows: Vec<Vector> = grid.iter().map(|row| graph.spline(v, q, &across, row)).collect();
                Value::Vector(graph.spline(u, p, &even_knots(p, rows.len()), &rows))
            }
            _ => Value::Transform(Rc::new(self.transform(name)?)),
        })
    }

    fn transform(&mut self, name: &str) -> Lowered<Transform> {
        match name {
            "identity" => {
                self.count(&[0])?;
                Ok(self.lowering.space.identity())
            }
            "rotate_x" | "rotate_y" | "rotate_z" => {
                self.count(&[1])?;
                let angle = self.number(0)?;
                let axis = ["rotate_x", "rotate_y", "rotate_z"].map(|axis| f64::from(axis == name));
                let n = self.lowering.space.graph.vector(axis);
                Ok(self.lowering.space.rotation(n, angle))
            }
            "rotate" => {
                self.count(&[2])?;
                let (axis, angle) = (self.vector(0)?, self.number(1)?);
                let n = self.lowering.space.graph.normalize(&axis);
                Ok(self.lowering.space.rotation(n, angle))
            }
            "translate" => {
                self.count(&[1, 3])?;
                let p = match self.arguments.len() {
                    1 => self.vector(0)?,
                    _ => [self.number(0)?, self.number(1)?, self.number(2)?],
                };
                Ok(self.lowering.space.translation(p))
            }
            "inverse" => {
                self.count(&[1])?;
                let Some(A) = self.value(0).transform().cloned() else {
                    return Err(self.expected(0, "a transform"));
                };
                Ok(self.lowering.space.inverse(&A))
            }
            // x along the tangent, z as near to `up` as that allows.
            "frame_from_tangent" => {
                self.count(&[3])?;
                let (tangent, up, origin) = (self.vector(0)?, self.vector(1)?, self.vector(2)?);
                let graph = &mut self.lowering.space.graph;
                let x = graph.normalize(&tangent);
                let across = graph.cross(&up, &x);
                let y = graph.normalize(&across);
                let z = graph.cross(&x, &y);
                Ok(self.lowering.space.frame(transposed(&[x, y, z]), origin))
            }
            // x along the first tangent, z across both.
            _ => {
                self.count(&[3])?;
                let (first, second, origin) = (self.vector(0)?, self.vector(1)?, self.vector(2)?);
                let graph = &mut self.lowering.space.graph;
                let x = graph.normalize(&first);
                let across = graph.cross(&first, &second);
                let z = graph.normalize(&across);
                let y = graph.cross(&z, &x);
                Ok(self.lowering.space.frame(transposed(&[x, y, z]), origin))
            }
        }
    }

    /// How a number or a vector changes with a freedom.
    fn derivative(&mut self) -> Lowered<Value> {
        self.count(&[2])?;
        let freedom = match &self.lowering.syntax.parts[self.arguments[1]] {
            Form::Name(name) => self.lowering.freedoms.iter().position(|freedom| freedom == name),
            _ => None,
        };
        let Some(k) = freedom else {
            let message = "the name of a freedom is expected here";
            return Err(self.lowering.error(self.arguments[1], message, self.usage));
        };
        let value = self.value(0).clone();
        let space = &mut self.lowering.space;
        if let Some(x) = value.scalar() {
            return Ok(Value::Scalar(space.along[k].of(&mut space.graph, x)));
        }
        match value.vector() {
            Some(v) => Ok(Value::Vector(space.along(k, &v))),
            None => Err(self.expected(0, "a number or a vector")),
        }
    }

    /// A polynomial in x for each piece between breaks, ascending powers.
    fn piecewise(&mut self) -> Lowered<Value> {
        self.count(&[3])?;
        let (x, breaks) = (self.number(0)?, self.increasing(1)?);
        let Some(pieces) = self.value(2).list().map(<[Value]>::to_vec) else {
            return Err(self.expected(2, "a list of lists of numbers"));
        };
        if pieces.len() != breaks.len() + 1 {
            let message =
                format!("{} breaks make {} pieces, not {}", breaks.len(), breaks.len() + 1, pieces.len());
            return Err(self.lowering.error(self.arguments[2], message, "one list of coefficients for each"));
        }
        let mut rows: Vec<Vec<Node>> = Vec::new();
        for piece in &pieces {
            let row: Option<Vec<Node>> =
                piece.list().and_then(|list| list.iter().map(Value::scalar).collect());
            let Some(row) = row.filter(|row| !row.is_empty()) else {
                return Err(self.expected(2, "a list of lists of numbers"));
            };
            rows.push(row);
        }
        let graph = &mut self.lowering.space.graph;
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let zero = graph.constant(0.0);
        let coefficients: Vec<Node> = (0..longest)
            .map(|power| {
                let each: Vec<Node> =
                    rows.iter().map(|row| row.get(power).copied().unwrap_or(zero)).collect();
                graph.choose(x, &breaks, &each)
            })
            .collect();
        Ok(Value::Scalar(graph.polynomial(x, &coefficients)))
    }

    fn bspline(&mut self) -> Lowered<Value> {
        self.count(&[3, 4])?;
        let last = self.arguments.len() - 1;
        let (u, p, points) = (self.number(0)?, self.degree(1)?, self.points(last)?);
        self.at_least(last, points.len(), p + 1)?;
        let knots = if last == 2 { even_knots(p, points.len()) } else { self.knots(2, p, points.len())? };
        Ok(Value::Vector(self.lowering.space.graph.spline(u, p, &knots, &points)))
    }

    /// Knots that fit a degree and a number of points.
    fn knots(&mut self, i: usize, p: usize, points: usize) -> Lowered<Vec<f64>> {
        let knots = self.numbers(i)?;
        let message = if knots.len() != points + p + 1 {
            format!("{} knots do not fit {points} points and degree {p}", knots.len())
        } else if knots.windows(2).any(|pair| pair[0] > pair[1]) {
            "the knots do not increase".into()
        } else if knots[p] >= knots[points] {
            "the knots leave no range for the curve".into()
        } else {
            return Ok(knots);
        };
        let help = format!("{} numbers that do not decrease", points + p + 1);
        Err(self.lowering.error(self.arguments[i], message, help))
    }

    fn value(&self, i: usize) -> &Value {
        &self.lowering.values[self.arguments[i]]
    }

    fn expected(&self, i: usize, what: &str) -> super::ExpressionError {
        self.lowering.expected(self.arguments[i], what, self.usage)
    }

    fn count(&self, allowed: &[usize]) -> Lowered<()> {
        if allowed.contains(&self.arguments.len()) {
            return Ok(());
        }
        let many = match self.arguments.len() {
            0 => "nothing in its brackets".into(),
            1 => "one value in its brackets".into(),
            n => format!("{n} values in its brackets"),
        };
        let name = self.usage.split('(').next().unwrap_or_default();
        Err(self.lowering.error(self.part, format!("`{name}` cannot have {many}"), self.usage))
    }

    fn number(&self, i: usize) -> Lowered<Node> {
        self.value(i).scalar().ok_or_else(|| self.expected(i, "a number"))
    }

    fn vector(&self, i: usize) -> Lowered<Vector> {
        self.value(i).vector().ok_or_else(|| self.expected(i, "a vector"))
    }

    fn one_number(&mut self, f: impl FnOnce(&mut super::Graph, Node) -> Node) -> Lowered<Node> {
        self.count(&[1])?;
        let x = self.number(0)?;
        Ok(f(&mut self.lowering.space.graph, x))
    }

    fn two_vectors(&self) -> Lowered<(Vector, Vector)> {
        self.count(&[2])?;
        Ok((self.vector(0)?, self.vector(1)?))
    }

    fn points(&self, i: usize) -> Lowered<Vec<Vector>> {
        self.value(i).points().ok_or_else(|| self.expected(i, "a list of points"))
    }

    /// Rows of points, all of the same length, at least one of one.
    fn grid(&self, i: usize) -> Lowered<Vec<Vec<Vector>>> {
        let grid: Option<Vec<Vec<Vector>>> =
            self.value(i).list().and_then(|rows| rows.iter().map(Value::points).collect());
        let grid = grid.ok_or_else(|| self.expected(i, "a list of rows of points"))?;
        let columns = grid.first().map_or(0, Vec::len);
        if columns == 0 || grid.iter().any(|row| row.len() != columns) {
            let message = "the rows of this grid are not all of the same length";
            return Err(self.lowering.error(self.arguments[i], message, self.usage));
        }
        Ok(grid)
    }

    /// Constants.
    fn numbers(&self, i: usize) -> Lowered<Vec<f64>> {
        let constant = |value: &Value| value.scalar().and_then(|x| self.lowering.space.graph.value(x));
        let list = self.value(i).list().and_then(|list| list.iter().map(constant).collect());
        list.ok_or_else(|| self.expected(i, "a list of constant numbers"))
    }

    fn increasing(&self, i: usize) -> Lowered<Vec<f64>> {
        let numbers = self.numbers(i)?;
        if numbers.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(numbers);
        }
        Err(self.lowering.error(
            self.arguments[i],
            "these numbers do not increase",
            "smallest first, each once",
        ))
    }

    fn degree(&self, i: usize) -> Lowered<usize> {
        let value = self.number(i)?;
        let value = self.lowering.space.graph.value(value);
        let whole = value.filter(|x| x.fract() == 0.0 && (1.0..=DEGREE as f64).contains(x));
        whole.map(|x| x as usize).ok_or_else(|| {
            let message = format!("a degree is expected here, a whole number from 1 to {DEGREE}");
            self.lowering.error(self.arguments[i], message, self.usage)
        })
    }

    fn at_least(&self, i: usize, found: usize, needed: usize) -> Lowered<()> {
        if found >= needed {
            return Ok(());
        }
        let message = match found {
            0 => "there is no point".into(),
            1 => "one point is too few".into(),
            n => format!("{n} points are too few"),
        };
        Err(self.lowering.error(self.arguments[i], message, format!("at least {needed} here")))
    }

    fn at_most(&self, i: usize, degree: usize) -> Lowered<()> {
        if degree <= DEGREE {
            return Ok(());
        }
        let message = format!("{} points make a curve of degree {degree}", degree + 1);
        let help = format!("at most degree {DEGREE}; take bspline for more points");
        Err(self.lowering.error(self.arguments[i], message, help))
    }
}
