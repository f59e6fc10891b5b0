//! From a formula to what runs: graph, derivatives, tapes, and the checks at the file's pose.

use nalgebra::{Matrix3, Matrix6};

use super::error::{ExpressionError, Place};
use super::graph::{Graph, Node};
use super::jet::Derivative;
use super::lower::{Names, lower};
use super::motion::{Space, Transform, Twist, numbers, pose_numbers};
use super::syntax::Syntax;
use super::tape::{REGISTERS, Tape};
use super::vector::{Matrix, Vector};
use super::{Expression, Formula};

/// How far RᵀR may be from 1: rounding of long formulas, nothing else.
const RIGID: f64 = 1e-9;

/// S counts as having lost rank where its smallest singular value is below this part of its largest, lengths
/// in units of the joint's own.
pub(crate) const SINGULAR: f64 = 1e-9;

pub(super) fn compile(formula: Formula) -> Result<Expression, ExpressionError> {
    let syntax = Syntax::parse(&formula.text)?;
    let names = Names { freedoms: &formula.freedoms, parameters: &formula.parameters };
    let (mut space, transform) = lower(&syntax, &names)?;
    let whole = syntax.spans[syntax.result].clone();
    let d = formula.freedoms.len();
    let zero = |twist: &Twist| numbers(twist).all(|x| space.graph.is_zero(x));
    if let Some(k) = transform.subspace.iter().position(zero) {
        return Err(ExpressionError {
            place: Place::Freedom(k),
            message: format!("nothing depends on the freedom `{}`", formula.freedoms[k]),
            help: "use it in the transform, or leave it out".into(),
        });
    }

    let tape = |graph: &Graph, inputs: usize, outputs: &[Node]| {
        let too_large = |needed: usize| {
            let message = format!("this expression needs {needed} registers");
            let help = format!("at most {REGISTERS}: fewer points, or several joints");
            ExpressionError::at(whole.clone(), message, help)
        };
        if graph.is_overflown() {
            return Err(ExpressionError::at(
                whole.clone(),
                "this expression is too large with its derivatives",
                "fewer points, or several joints",
            ));
        }
        Tape::new(graph, inputs, outputs).map_err(|error| too_large(error.needed))
    };

    // X(q) = G(0)⁻¹ G(q): the frames coincide in the file's pose.
    let given = tape(&space.graph, d, &pose_numbers(&transform.rotation, &transform.position))?;
    let mut G = [0.0; 12];
    given.interpret(&[0.0; 6][..d], &mut G);
    if !is_rigid(&G) {
        let message = "this transform is not rigid where all freedoms are zero, the file's pose";
        let help = "no division by zero, no root of a negative number, no frame from parallel vectors there";
        return Err(ExpressionError::at(whole, message, help));
    }
    let (R, p) = from_start(&mut space, &transform, &G);

    let pose = pose_numbers(&R, &p);
    let subspace: Vec<Node> = transform.subspace.iter().flat_map(numbers).collect();
    let along = |along: &mut Derivative| -> Vec<Node> {
        subspace.iter().map(|x| along.of(&mut space.graph, *x)).collect()
    };
    let curvature: Vec<Node> = space.along.iter_mut().flat_map(along).collect();
    let velocity = [&pose[..], &subspace].concat();
    let motion: Vec<Node> = velocity.iter().copied().chain(numbers(&transform.bias)).collect();
    let mut expression = Expression {
        position: tape(&space.graph, d, &pose)?,
        subspace: tape(&space.graph, d, &velocity)?,
        motion: tape(&space.graph, 2 * d, &motion)?,
        curvature: tape(&space.graph, d, &curvature)?,
        start: super::pose(&G),
        length: 1.0,
        axes: [(0, 1.0); 6],
        compiled: std::sync::OnceLock::new(),
        curvature_compiled: std::sync::OnceLock::new(),
        formula,
    };

    let mut numbers = [0.0; 48];
    expression.subspace.interpret(&[0.0; 6][..d], &mut numbers);
    let S = super::columns(&numbers[12..]);
    expression.length = own_length(&S);
    if let Some(k) = super::complement::dependent_column(&S, d, expression.length, SINGULAR) {
        return Err(ExpressionError {
            place: Place::Freedom(k),
            message: format!(
                "in the file's pose the freedom `{}` repeats the motion of the others",
                expression.formula.freedoms[k]
            ),
            help:
                "choose a start where the freedoms move the joint independently: shift one, as in `u + 0.5`"
                    .into(),
        });
    }
    expression.axes = super::complement::axes(&S, d);
    Ok(expression)
}

/// Whether twelve numbers are a rotation, column by column, and a position.
pub(super) fn is_rigid(G: &[f64; 12]) -> bool {
    let R = Matrix3::from_column_slice(&G[..9]);
    G.iter().all(|x| x.is_finite())
        && (R.transpose() * R - Matrix3::identity()).amax() <= RIGID
        && R.determinant() > 0.0
}

/// G₀⁻¹ G.
fn from_start(space: &mut Space, transform: &Transform, G: &[f64; 12]) -> (Matrix, Vector) {
    let graph = &mut space.graph;
    let R: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| graph.constant(G[3 * j + i])));
    let p = graph.vector([G[9], G[10], G[11]]);
    let turned = super::vector::transposed(&R);
    let off = graph.subtract_vectors(&transform.position, &p);
    (graph.multiply_matrices(&turned, &transform.rotation), graph.apply(&turned, &off))
}

/// A length that belongs to the joint: how far its turning freedoms move it per radian, or one metre.
fn own_length(S: &Matrix6<f64>) -> f64 {
    let turning = (0..6).filter(|k| S.fixed_view::<3, 1>(3, *k).norm() > 0.0);
    let (mut far, mut turn) = (0.0, 0.0);
    for k in turning {
        far += S.fixed_view::<3, 1>(0, k).norm_squared();
        turn += S.fixed_view::<3, 1>(3, k).norm_squared();
    }
    let length = (far / turn).sqrt();
    if length > 1e-9 && length.is_finite() { length } else { 1.0 }
}
