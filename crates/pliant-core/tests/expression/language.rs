//! Claim: a formula means what it says. Tapes give what a plain evaluation of the syntax tree with vectors and
//! matrices gives (curves by de Casteljau and de Boor), NaN where that has NaN; and what is not a formula
//! gets one clear error with its place.
#![allow(non_snake_case)]

use std::collections::HashMap;

use crate::common::formulas;
use pliant_core::expression::{ExpressionError, Form, Formula, Operator, Parameter, Place, Syntax};
use pliant_core::nalgebra::{Matrix3, Rotation3, Unit, Vector3};

#[derive(Clone, Debug)]
enum Plain {
    Scalar(f64),
    Vector(Vector3<f64>),
    Transform(Matrix3<f64>, Vector3<f64>),
    List(Vec<Plain>),
}

impl Plain {
    fn scalar(&self) -> f64 {
        let Plain::Scalar(x) = self else { panic!("{self:?}") };
        *x
    }

    fn vector(&self) -> Vector3<f64> {
        match self {
            Plain::Vector(v) => *v,
            Plain::List(list) => Vector3::new(list[0].scalar(), list[1].scalar(), list[2].scalar()),
            _ => panic!("{self:?}"),
        }
    }

    fn list(&self) -> &[Plain] {
        let Plain::List(list) = self else { panic!("{self:?}") };
        list
    }

    fn points(&self) -> Vec<Vector3<f64>> {
        self.list().iter().map(Plain::vector).collect()
    }

    fn of(parameter: &Parameter) -> Plain {
        match parameter {
            Parameter::Number(x) => Plain::Scalar(*x),
            Parameter::List(list) => Plain::List(list.iter().map(Plain::of).collect()),
        }
    }
}

/// The tree's value at q, part by part.
fn evaluate(formula: &Formula, syntax: &Syntax, q: &[f64]) -> Vec<Plain> {
    let mut names: HashMap<&str, Plain> = HashMap::from([("pi", Plain::Scalar(std::f64::consts::PI))]);
    names.extend(formula.parameters().iter().map(|(name, value)| (name.as_str(), Plain::of(value))));
    names.extend(formula.freedoms().iter().zip(q).map(|(name, q)| (name.as_str(), Plain::Scalar(*q))));
    let mut values: Vec<Plain> = Vec::new();
    for form in &syntax.parts {
        let value = match form {
            Form::Number(x) => Plain::Scalar(*x),
            Form::Name(name) => names[name.as_str()].clone(),
            Form::Bound(a) => values[*a].clone(),
            Form::List(list) => Plain::List(list.iter().map(|a| values[*a].clone()).collect()),
            Form::Component(a, k) => Plain::Scalar(values[*a].vector()[*k]),
            Form::Negative(a) => match &values[*a] {
                Plain::Scalar(x) => Plain::Scalar(-x),
                other => Plain::Vector(-other.vector()),
            },
            Form::Binary(operator, a, b) => binary(*operator, &values[*a], &values[*b]),
            Form::Call(name, list) if name == "derivative" => {
                let Form::Name(freedom) = &syntax.parts[list[1]] else { panic!("a freedom") };
                let k = formula.freedoms().iter().position(|name| name == freedom).unwrap();
                // Fourth order: off by 1e-12 of the fifth derivative.
                let h = 1e-3;
                let at = |t: f64| {
                    let mut q = q.to_vec();
                    q[k] += t * h;
                    let inner = Syntax { parts: syntax.parts[..=list[0]].to_vec(), ..syntax.clone() };
                    match &evaluate(formula, &inner, &q)[list[0]] {
                        Plain::Scalar(x) => Vector3::new(*x, 0.0, 0.0),
                        other => other.vector(),
                    }
                };
                let slope = ((at(1.0) - at(-1.0)) * 8.0 - (at(2.0) - at(-2.0))) / (12.0 * h);
                if matches!(values[list[0]], Plain::Scalar(_)) {
                    Plain::Scalar(slope.x)
                } else {
                    Plain::Vector(slope)
                }
            }
            Form::Call(name, list) => {
                call(name, &list.iter().map(|a| values[*a].clone()).collect::<Vec<_>>())
            }
        };
        values.push(value);
    }
    values
}

fn binary(operator: Operator, a: &Plain, b: &Plain) -> Plain {
    use Plain::{Scalar, Transform, Vector};
    match (operator, a, b) {
        (Operator::Add, Scalar(a), Scalar(b)) => Scalar(a + b),
        (Operator::Subtract, Scalar(a), Scalar(b)) => Scalar(a - b),
        (Operator::Multiply, Scalar(a), Scalar(b)) => Scalar(a * b),
        (Operator::Divide, Scalar(a), Scalar(b)) => Scalar(a / b),
        (Operator::Power, Scalar(a), Scalar(b)) => Scalar(a.powf(*b)),
        (Operator::Add, a, b) => Vector(a.vector() + b.vector()),
        (Operator::Subtract, a, b) => Vector(a.vector() - b.vector()),
        (Operator::Multiply, Transform(R, p), Transform(Q, r)) => Transform(R * Q, R * r + p),
        (Operator::Multiply, Transform(R, p), b) => Vector(R * b.vector() + p),
        (Operator::Multiply, Scalar(a), b) => Vector(b.vector() * *a),
        (Operator::Multiply, a, Scalar(b)) => Vector(a.vector() * *b),
        (Operator::Divide, a, Scalar(b)) => Vector(a.vector() / *b),
        _ => panic!("{operator:?}"),
    }
}

fn call(name: &str, list: &[Plain]) -> Plain {
    let x = |i: usize| list[i].scalar();
    let v = |i: usize| list[i].vector();
    let turn = |axis: Vector3<f64>, angle: f64| {
        let R = Rotation3::from_axis_angle(&Unit::new_normalize(axis), angle);
        Plain::Transform(R.into_inner(), Vector3::zeros())
    };
    let frame = |x: Vector3<f64>, y: Vector3<f64>, z: Vector3<f64>, p| {
        Plain::Transform(Matrix3::from_columns(&[x, y, z]), p)
    };
    match name {
        "sin" => Plain::Scalar(x(0).sin()),
        "cos" => Plain::Scalar(x(0).cos()),
        "tan" => Plain::Scalar(x(0).tan()),
        "sqrt" => Plain::Scalar(x(0).sqrt()),
        "abs" => Plain::Scalar(x(0).abs()),
        "vec" => Plain::Vector(Vector3::new(x(0), x(1), x(2))),
        "dot" => Plain::Scalar(v(0).dot(&v(1))),
        "cross" => Plain::Vector(v(0).cross(&v(1))),
        "normalize" => Plain::Vector(v(0) / v(0).norm()),
        "length" => Plain::Scalar(v(0).norm()),
        "identity" => Plain::Transform(Matrix3::identity(), Vector3::zeros()),
        "rotate_x" => turn(Vector3::x(), x(0)),
        "rotate_y" => turn(Vector3::y(), x(0)),
        "rotate_z" => turn(Vector3::z(), x(0)),
        "rotate" => turn(v(0), x(1)),
        "translate" if list.len() == 1 => Plain::Transform(Matrix3::identity(), v(0)),
        "translate" => Plain::Transform(Matrix3::identity(), Vector3::new(x(0), x(1), x(2))),
        "inverse" => {
            let Plain::Transform(R, p) = &list[0] else { panic!("a transform") };
            Plain::Transform(R.transpose(), -(R.transpose() * p))
        }
        "frame_from_tangent" => {
            let x = v(0).normalize();
            let y = v(1).cross(&x).normalize();
            frame(x, y, x.cross(&y), v(2))
        }
        "frame_from_tangents" => {
            let (x, z) = (v(0).normalize(), v(0).cross(&v(1)).normalize());
            frame(x, z.cross(&x), z, v(2))
        }
        "piecewise" => {
            let piece = list[1].list().iter().filter(|at| at.scalar() <= x(0)).count();
            let c = list[2].list()[piece].list().iter().map(Plain::scalar);
            Plain::Scalar(c.enumerate().map(|(i, c)| c * x(0).powi(i as i32)).sum())
        }
        "bezier" => Plain::Vector(casteljau(x(0), list[1].points())),
        "bezier_surface" => {
            let rows = list[2].list().iter().map(|row| casteljau(x(1), row.points()));
            Plain::Vector(casteljau(x(0), rows.collect()))
        }
        "bspline" => {
            let points = list.last().unwrap().points();
            let knots = match list.len() {
                4 => list[2].list().iter().map(Plain::scalar).collect(),
                _ => clamped(x(1) as usize, points.len()),
            };
            Plain::Vector(de_boor(x(0), x(1) as usize, &knots, &points))
        }
        "bspline_surface" => {
            let (p, q) = (x(2) as usize, x(3) as usize);
            let rows: Vec<Vector3<f64>> = (list[4].list().iter())
                .map(|row| de_boor(x(1), q, &clamped(q, row.points().len()), &row.points()))
                .collect();
            Plain::Vector(de_boor(x(0), p, &clamped(p, rows.len()), &rows))
        }
        other => panic!("{other}"),
    }
}

fn casteljau(u: f64, mut points: Vec<Vector3<f64>>) -> Vector3<f64> {
    while points.len() > 1 {
        points = points.windows(2).map(|p| p[0] * (1.0 - u) + p[1] * u).collect();
    }
    points[0]
}

fn clamped(degree: usize, points: usize) -> Vec<f64> {
    let spans = (points - degree) as f64;
    (0..points + degree + 1).map(|i| ((i as f64 - degree as f64) / spans).clamp(0.0, 1.0)).collect()
}

/// de Boor's triangle in the span that holds u.
fn de_boor(u: f64, p: usize, knots: &[f64], points: &[Vector3<f64>]) -> Vector3<f64> {
    let span = (p..points.len()).rev().find(|k| knots[*k] <= u && knots[*k] < knots[k + 1]).unwrap_or(p);
    let mut d: Vec<Vector3<f64>> = (0..=p).map(|j| points[j + span - p]).collect();
    for r in 1..=p {
        for j in (r..=p).rev() {
            let i = j + span - p;
            let a = (u - knots[i]) / (knots[i + 1 + p - r] - knots[i]);
            d[j] = d[j - 1] * (1.0 - a) + d[j] * a;
        }
    }
    d[p]
}

/// The twelve numbers of G(q) by the plain evaluation.
fn plain_pose(formula: &Formula, syntax: &Syntax, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
    match &evaluate(formula, syntax, q)[syntax.result] {
        Plain::Transform(R, p) => (*R, *p),
        other => panic!("{other:?}"),
    }
}

/// X(q) = G(0)⁻¹G(q), everywhere in the range and a little beyond it. Where the plain evaluation has differences
/// for derivatives it is off by their 1e-11.
#[test]
fn tapes_equal_a_plain_evaluation() {
    let number = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
    let mut compared = 0;
    for case in formulas::all() {
        let formula = case.expression.formula();
        let syntax = Syntax::parse(formula.text()).unwrap();
        let tolerance = if formula.text().contains("derivative") { 2e-10 } else { 1e-13 };
        let (R0, p0) = plain_pose(formula, &syntax, &vec![0.0; case.range.len()]);
        for round in 0..200 {
            let unit: Vec<f64> = (0..6).map(|k| number(7 * round + k)).collect();
            let q = case.at(&unit);
            if !case.is_smooth_around(&q) {
                continue;
            }
            compared += 1;
            let (R, p) = plain_pose(formula, &syntax, &q);
            let mut X = [0.0; 12];
            case.expression.position_tape().run(&q, &mut X);
            let rotation = R0.transpose() * R - Matrix3::from_column_slice(&X[..9]);
            let position = R0.transpose() * (p - p0) - Vector3::from_column_slice(&X[9..]);
            let error = rotation.amax().max(position.amax());
            assert!(error <= tolerance, "{} {q:?}: {error:e}", case.name);
        }
    }
    assert_eq!(compared, 4243, "of 200 places each");
}

/// A NaN among the coordinates is in every output that depends on it, and in no other: those are the same
/// numbers as without it. Infinite coordinates give NaN or numbers, and no panic.
#[test]
fn not_a_number_stays_where_it_belongs() {
    for case in formulas::all() {
        let d = case.range.len();
        for k in 0..d {
            let at = |x: f64| {
                let mut q: Vec<f64> = case.at(&[0.21, -0.32, 0.43, -0.17, 0.38, 0.26]);
                q[k] = x;
                let rate = vec![0.7; d];
                let mut out = [0.0; 54];
                let tape = case.expression.motion_tape();
                tape.run(&[q, rate].concat(), &mut out);
                out[..tape.outputs()].to_vec()
            };
            let (one, other) = (at(0.11 * case.range[k]), at(0.19 * case.range[k]));
            for ((nan, one), other) in at(f64::NAN).iter().zip(&one).zip(&other) {
                // What depends on a coordinate changes with it; a piece that is not taken does not show.
                if one != other {
                    assert!(nan.is_nan(), "{} coordinate {k}: {one} {other} {nan}", case.name);
                } else {
                    assert!(nan.is_nan() || nan == one, "{} coordinate {k}", case.name);
                }
            }
            at(f64::INFINITY);
            at(-f64::MAX);
        }
    }
}

fn error(formula: Formula) -> ExpressionError {
    formula.compile().expect_err("an error")
}

/// One error each, with its place and the type that was expected.
#[test]
fn errors_say_what_was_expected_and_where() {
    for (text, offending, message) in [
        ("rotate_z(a) + 1", "rotate_z(a)", "a number or a vector is expected here, not a transform"),
        ("rotate_z([1, 2, 3])", "[1, 2, 3]", "a number is expected here, not a list"),
        ("rotate_z(vec(1, 2, 3))", "vec(1, 2, 3)", "a number is expected here, not a vector"),
        ("translate(a)", "a", "a vector is expected here, not a number"),
        ("translate(1, a)", "translate(1, a)", "`translate` cannot have 2 values in its brackets"),
        ("rotate_z(a * b)", "b", "there is no `b`"),
        ("rotatez(a)", "rotatez(a)", "there is no function `rotatez`"),
        ("rotate_z(sin)", "sin", "there is no `sin`"),
        ("a", "a", "the last expression must be a transform, not a number"),
        ("translate([1, 2])", "[1, 2]", "a vector is expected here, not a list"),
        ("translate([a, 0, 0] * [1, 2, 3])", "[1, 2, 3]", "a number is expected here, not a list"),
        ("rotate_z(2 ^ a)", "a", "this power depends on a freedom"),
        ("rotate_z(a.x)", "a", "a vector is expected here, not a number"),
        ("inverse(a)", "a", "a transform is expected here, not a number"),
        ("rotate_z(a) * 2", "2", "a transform or a vector is expected here, not a number"),
        ("translate(bezier(a, [[0, 0, 0]]))", "[[0, 0, 0]]", "one point is too few"),
        (
            "translate(bspline(a, 3, [[0, 0, 0], [1, 0, 0], [1, 1, 0]]))",
            "[[0, 0, 0], [1, 0, 0], [1, 1, 0]]",
            "3 points are too few",
        ),
        (
            "translate(bspline(a, 1, [0, 1], [[0, 0, 0], [1, 0, 0]]))",
            "[0, 1]",
            "2 knots do not fit 2 points and degree 1",
        ),
        (
            "translate(bspline(a, a, [[0, 0, 0], [1, 0, 0]]))",
            "a",
            "a degree is expected here, a whole number from 1 to 30",
        ),
        ("rotate_z(piecewise(a, [0, 0], [[1], [2], [3]]))", "[0, 0]", "these numbers do not increase"),
        ("rotate_z(piecewise(a, [0], [[1]]))", "[[1]]", "1 breaks make 2 pieces, not 1"),
        ("translate(derivative([a, 0, 0], 2))", "2", "the name of a freedom is expected here"),
        ("let pi = 3; rotate_z(a)", "pi", "`pi` is already defined"),
        ("let a = 3; rotate_z(a)", "a", "`a` is already defined"),
        (
            "rotate_z(a) * frame_from_tangents([1, 0, 0], [2, 0, 0], [0, 0, 0])",
            "rotate_z(a) * frame_from_tangents([1, 0, 0], [2, 0, 0], [0, 0, 0])",
            "this transform is not rigid where all freedoms are zero, the file's pose",
        ),
        (
            "translate(1 / a, 0, 0)",
            "translate(1 / a, 0, 0)",
            "this transform is not rigid where all freedoms are zero, the file's pose",
        ),
        (
            "translate(sqrt(a - 1), 0, 0)",
            "translate(sqrt(a - 1), 0, 0)",
            "this transform is not rigid where all freedoms are zero, the file's pose",
        ),
    ] {
        let error = error(Formula::new(text).angle("a"));
        assert_eq!(error.message, message, "{text}");
        let Place::Text(span) = error.place else { panic!("{text}: no place") };
        assert_eq!(&text[span], offending, "{text}");
        assert!(!error.help.is_empty());
    }
}

/// What is wrong with names and numbers outside the text.
#[test]
fn errors_of_freedoms_and_parameters() {
    let turn = || Formula::new("rotate_z(a) * translate(0, 0, r)").angle("a");
    for (formula, place, message) in [
        (turn().parameter("r", 1.0).angle("b"), Place::Freedom(1), "nothing depends on the freedom `b`"),
        (turn().parameter("r", 1.0).angle("a"), Place::Freedom(1), "`a` is given twice"),
        (turn().parameter("r", 1.0).length("2x"), Place::Freedom(0), "`2x` is not a name"),
        (turn().parameter("r", 1.0).length("sin"), Place::Freedom(0), "`sin` is a keyword of the language"),
        (
            turn().parameter("r", f64::NAN),
            Place::Parameter("r".into()),
            "the parameter `r` is not made of finite numbers",
        ),
        (
            turn().parameter("r", 1.0).parameter("s", 2.0),
            Place::Parameter("s".into()),
            "nothing uses the parameter `s`",
        ),
        (turn().parameter("r", 1.0).parameter("a", 2.0), Place::Parameter("a".into()), "`a` is given twice"),
        (Formula::new("identity()"), Place::Text(0..10), "the joint has no freedom"),
        (
            Formula::new("rotate_z(a) * rotate_z(b)").angle("a").angle("b"),
            Place::Freedom(1),
            "in the file's pose the freedom `b` repeats the motion of the others",
        ),
        (
            Formula::new("rotate_z(a ^ 2)").angle("a"),
            Place::Freedom(0),
            "in the file's pose the freedom `a` repeats the motion of the others",
        ),
        (Formula::ready("screw").unwrap(), Place::Ready, "`screw` needs the parameter `pitch`"),
        (
            Formula::ready("screw").unwrap().parameter("pitch", 0.1).parameter("lead", 0.1),
            Place::Parameter("lead".into()),
            "`screw` has no parameter `lead`",
        ),
    ] {
        let error = error(formula);
        assert_eq!((error.message.as_str(), error.place), (message, place));
    }
    let error = Formula::ready("torus-tours").unwrap_err();
    assert_eq!((error.place, error.help.as_str()), (Place::Ready, "did you mean `torus-torus`?"));
    let seven = (0..7).fold(Formula::new("rotate_z(a0)"), |f, k| f.angle(format!("a{k}")));
    assert_eq!(seven.compile().unwrap_err().message, "the joint has 7 freedoms");
}

/// Nothing overflows: deep texts, long ones, and short ones with long derivatives or very many values at once.
#[test]
fn too_large_is_refused() {
    let deep = format!("rotate_z({}a{})", "(".repeat(1_000), ")".repeat(1_000));
    assert_eq!(error(Formula::new(deep).angle("a")).message, "brackets are nested too deeply");
    let long = format!("rotate_z(a{})", " + a".repeat(1_000_000));
    assert_eq!(error(Formula::new(long).angle("a")).message, "this expression is too long");
    // Forty thousand terms: fits, and runs.
    let fits = format!("rotate_z(a{})", " + sin(a)".repeat(20_000));
    assert!(Formula::new(fits).angle("a").compile().is_ok());
    // Each `let` doubles the tree: only the graph is small.
    let mut doubling = String::from("let x0 = a + 1;");
    for k in 1..100 {
        doubling += &format!("let x{k} = x{} * x{} + 0.1;", k - 1, k - 1);
    }
    assert!(Formula::new(format!("{doubling} rotate_z(a + 0 * x99)")).angle("a").compile().is_ok());
    // A spline takes as long as it has points: 300 run, and too many are refused.
    let wavy =
        |count: usize| -> Vec<[f64; 3]> { (0..count).map(|k| [k as f64, (k as f64).sin(), 0.0]).collect() };
    let spline = Formula::new("translate(bspline(0.5 + s, 3, points))").length("s");
    let long = spline.clone().parameter("points", wavy(300)).compile().unwrap();
    // Its middle is that of a span, far from the ends: 1/48, 23/48, 23/48 and 1/48 of four points.
    let p = |k: usize| Vector3::from(wavy(300)[k]);
    let middle = |k: usize| (p(k - 1) + p(k + 2)) / 48.0 + (p(k) + p(k + 1)) * (23.0 / 48.0);
    assert!((long.start().position - middle(149)).norm() < 1e-12, "{}", long.start().position);
    assert!(spline.parameter("points", wavy(20_000)).compile().is_err());
    // All of the sines are needed twice, the second time in the opposite order: none can be forgotten.
    let terms: Vec<String> = (0..1_500).map(|k| format!("sin(a + {k})")).collect();
    let sum = terms.join(" + ");
    let back = terms.iter().rev().cloned().collect::<Vec<_>>().join(" * ");
    let error = error(Formula::new(format!("rotate_z({sum}) * translate({back}, 0, 0)")).angle("a"));
    assert!(error.message.contains("registers"), "{error}");
}
