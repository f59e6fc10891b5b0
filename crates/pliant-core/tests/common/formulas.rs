//! Joints given by formulas, with the range in which each is to be tried.

use std::sync::{Arc, LazyLock};

use pliant_core::expression::{Expression, Formula, Parameter};
use pliant_core::joints::JointKind;

/// A formula that is tried with coordinates up to `range` either way.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    pub expression: Arc<Expression>,
    pub range: Vec<f64>,
    /// Where pieces of a curve meet: a coordinate and its value. Differences do not reach across.
    pub breaks: Vec<(usize, f64)>,
}

impl Case {
    fn new(name: &'static str, formula: Formula, range: &[f64]) -> Case {
        let expression = formula.compile().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(expression.freedoms(), range.len(), "{name}");
        Case { name, expression: Arc::new(expression), range: range.to_vec(), breaks: Vec::new() }
    }

    /// Coordinates within the range, from numbers between −1 and 1.
    pub fn at(&self, unit: &[f64]) -> Vec<f64> {
        self.range.iter().zip(unit).map(|(r, u)| r * u).collect()
    }

    /// Whether coordinates are farther from all breaks than differences reach.
    pub fn is_smooth_around(&self, q: &[f64]) -> bool {
        self.breaks.iter().all(|(k, at)| (q[*k] - at).abs() > 0.05)
    }

    pub fn kind(&self) -> JointKind {
        JointKind::Expression(self.expression.clone())
    }
}

/// Points of a curve that bends in all directions.
pub fn curve() -> Vec<[f64; 3]> {
    vec![[0.0, 0.0, 0.0], [0.2, 0.1, 0.0], [0.4, -0.1, 0.1], [0.6, 0.2, 0.05], [0.8, 0.0, -0.1]]
}

/// A patch of four by four points that bulges.
pub fn patch(height: f64) -> Vec<Vec<[f64; 3]>> {
    let at = |i: usize, j: usize| {
        let (x, y) = (i as f64 / 3.0 - 0.5, j as f64 / 3.0 - 0.5);
        [x, y, height * (x * x - 0.5 * y * y + 0.3 * x * y)]
    };
    (0..4).map(|i| (0..4).map(|j| at(i, j)).collect()).collect()
}

/// Every ready joint.
pub fn ready() -> Vec<Case> {
    let ready = |name: &'static str, parameters: &[(&str, Parameter)], range: &[f64]| {
        let mut formula = Formula::ready(name).unwrap();
        for (name, value) in parameters {
            formula = formula.parameter(*name, value.clone());
        }
        Case::new(name, formula, range)
    };
    let start = || Parameter::from([0.4, 0.6, 0.0]);
    let cases = vec![
        ready("screw", &[("pitch", 0.1.into())], &[9.0]),
        ready(
            "point-on-curve",
            &[("points", curve().into()), ("start", 0.5.into()), ("scale", 0.9.into())],
            &[0.4, 1.2, 1.2, 1.2],
        ),
        ready(
            "frame-on-curve",
            &[
                ("points", curve().into()),
                ("start", 0.5.into()),
                ("scale", 0.9.into()),
                ("up", [0.1, 0.0, 1.0].into()),
            ],
            &[0.4],
        ),
        ready(
            "frame-on-patch",
            &[("points", patch(0.6).into()), ("start", start()), ("scale", 1.0.into())],
            &[0.3, 0.3, 3.0],
        ),
        ready(
            "sphere-sphere",
            &[("radius1", 0.3.into()), ("radius2", 0.2.into())],
            &[3.0, 1.2, 3.0, 1.2, 3.0],
        ),
        ready(
            "ellipsoid-ellipsoid",
            &[("radii1", [0.3, 0.2, 0.25].into()), ("radii2", [0.15, 0.2, 0.1].into())],
            &[3.0, 1.0, 3.0, 1.0, 3.0],
        ),
        ready("torus-torus", &torus(), &[3.0, 1.0, 1.0, 3.0]),
        ready(
            "sphere-ellipsoid",
            &[("radius1", 0.3.into()), ("radii2", [0.15, 0.2, 0.1].into())],
            &[3.0, 1.0, 3.0, 1.0, 3.0],
        ),
        ready(
            "sphere-torus",
            &[("radius1", 0.3.into()), ("ring2", 0.15.into()), ("tube2", 0.04.into())],
            &[3.0, 1.0, 3.0, 1.0, 3.0],
        ),
        ready(
            "torus-ellipsoid",
            &[("ring1", 0.2.into()), ("tube1", 0.05.into()), ("radii2", [0.15, 0.2, 0.1].into())],
            &[3.0, 1.0, 3.0, 1.0, 3.0],
        ),
        ready(
            "patch-sphere",
            &[
                ("points", patch(0.6).into()),
                ("start", start()),
                ("scale", 1.0.into()),
                ("radius", 0.1.into()),
            ],
            &[0.3, 0.3, 3.0, 1.2, 3.0],
        ),
        ready(
            "patch-patch",
            &[
                ("points1", patch(0.6).into()),
                ("points2", patch(-0.4).into()),
                ("start1", start()),
                ("start2", start()),
                ("scale", 1.0.into()),
            ],
            &[0.3, 0.3, 0.3, 0.3, 3.0],
        ),
        ready(
            "four-bar-knee",
            &[
                ("ground", 0.04.into()),
                ("crank", 0.05.into()),
                ("coupler", 0.03.into()),
                ("rocker", 0.045.into()),
                ("start", 1.3.into()),
            ],
            &[0.4],
        ),
    ];
    assert_eq!(cases.len(), pliant_core::expression::ready::ALL.len());
    cases
}

/// Two tori of the same size.
pub fn torus() -> Vec<(&'static str, Parameter)> {
    vec![("ring1", 0.2.into()), ("tube1", 0.05.into()), ("ring2", 0.15.into()), ("tube2", 0.04.into())]
}

/// The lower pairs as formulas, with the joints that they are.
pub fn lower_pairs() -> Vec<(Case, JointKind)> {
    let pair = |name, text: &str, lengths: &[&str], angles: &[&str], range: &[f64], kind| {
        let formula = lengths.iter().fold(Formula::new(text), |f, name| f.length(*name));
        let formula = angles.iter().fold(formula, |f, name| f.angle(*name));
        (Case::new(name, formula, range), kind)
    };
    vec![
        pair("hinge", "rotate_z(a)", &[], &["a"], &[20.0], JointKind::Hinge),
        pair("universal", "rotate_x(a) * rotate_y(b)", &[], &["a", "b"], &[20.0; 2], JointKind::Universal),
        pair("prismatic", "translate(0, 0, s)", &["s"], &[], &[2.0], JointKind::Prismatic),
        pair(
            "cylindrical",
            "rotate([0, 0, 2], a) * translate(s * [0, 0, 1])",
            &["s"],
            &["a"],
            &[2.0, 20.0],
            JointKind::Cylindrical,
        ),
        pair(
            "planar",
            "translate(x, y, 0) * rotate_z(a)",
            &["x", "y"],
            &["a"],
            &[2.0, 2.0, 20.0],
            JointKind::Planar,
        ),
    ]
}

/// Formulas that use what the ready joints do not.
pub fn others() -> Vec<Case> {
    let text = "let c = bspline(0.5 + s, 3, [[0,0,0],[0.1,0.2,0],[0.3,0.1,0.1],[0.5,0.3,0.2],[0.7,0,0.1],[0.9,0.1,0]]);
        let lift = piecewise(a, [0, 0.5], [[0.1], [0.1, 0, 0.2], [0.05, 0.2]]);
        rotate(normalize([1, a, 0.5]), abs(a + 4) ^ 1.5) * translate(c + lift * [0, 0, 1])
          * frame_from_tangent(derivative(c, s), [0, 0, 1], [0, 0, 0])";
    let spline = Formula::new(text).length("s").angle("a");
    let text = "let p = bspline_surface(0.5 + s, 0.5 + t, 2, 3, points);
        frame_from_tangents(derivative(p, s), derivative(p, t), p / 2) * rotate_z(tan(a) / cos(a) ^ 2)";
    let surface = Formula::new(text).length("s").length("t").angle("a").parameter("points", patch(0.5));
    let text = "let T = rotate_x(a) * translate(0.1, 0.2, 0.3);
        translate(T * [b, 1, 0] * length([1, b, a]) ^ 0.3) * inverse(T * rotate_z(b)) * T";
    let mixed = Formula::new(text).angle("a").angle("b");
    // Knots that are not even, and one that is there twice.
    let text = "translate(bspline(1.2 + s, 3, [0, 0, 0, 0, 1, 1.5, 1.5, 3, 3, 3, 3], points)) * rotate_x(s)";
    let points = vec![
        [0.0, 0.0, 0.0],
        [0.3, 0.1, 0.0],
        [0.5, 0.4, 0.1],
        [0.8, 0.3, 0.2],
        [1.0, 0.0, 0.2],
        [1.3, 0.2, 0.1],
        [1.5, 0.3, 0.0],
    ];
    let knots = Formula::new(text).length("s").parameter("points", points);
    let sixth = 1.0 / 6.0;
    let breaks = vec![(0, -sixth), (0, sixth), (1, 0.0), (1, 0.5)];
    vec![
        Case { breaks, ..Case::new("bspline", spline, &[0.4, 0.8]) },
        Case { breaks: vec![(0, 0.0)], ..Case::new("bspline-surface", surface, &[0.3, 0.3, 0.6]) },
        Case { breaks: vec![(0, -0.2), (0, 0.3)], ..Case::new("knots", knots, &[0.4]) },
        Case::new("mixed", mixed, &[1.0, 1.0]),
    ]
}

/// All of them, compiled once for all tests.
pub fn all() -> Vec<Case> {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let pairs = lower_pairs().into_iter().map(|(case, _)| case);
        ready().into_iter().chain(pairs).chain(others()).collect()
    });
    ALL.clone()
}
