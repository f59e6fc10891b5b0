//! Joints that turn about any axis. Their coordinates are a rotation vector r, and its rates have no bound at a whole turn.
//!
//! Where no spring, rotor, limit, friction or closure acts on r, and the turn is a motion of its own, Θ W = (unit columns of r), r
//! moves by the angular velocity and is counted from the other side before a whole turn, as in the articulated engine:
//!
//! ```text
//! r⁺ = log(exp(r) exp(hω)),  ω = J_r(r) ṙ,  ṙ⁺ = J_r(r⁺)⁻¹ ω
//! y += W (r⁺ − r − hṙ),  ẏ += W (ṙ⁺ − ṙ),  impulses p += Θᵀ(Cᵀ − 1)Wᵀp,  C = J_r(r)⁻¹ J_r(r⁺)
//! ```
//!
//! Any other may wind up about one axis; near a whole turn about axes that change, a step is refused.

use nalgebra::{DMatrix, Matrix3, Vector3};

use super::basis::Basis;
use super::closures::Closures;
use super::model::Constants;
use super::motion::Motion;
use super::step::Workspace;
use super::tree::Tree;
use crate::algebra::wide::dot;
use crate::engine::{Inputs, StepError};
use crate::joints::{JointKind, recentred};
use crate::spatial::{Pose, exp_rotation, right_jacobian_rotation, right_jacobian_rotation_inverse};

/// The turn of a ball joint or bushing.
#[derive(Clone, Debug)]
pub(super) struct Ball {
    link: usize,
    /// The first freedom of the rotation vector.
    first: usize,
    /// W, three rows of `stride`; none where the motions have no turn of this joint alone.
    alone: Option<[Vec<f64>; 3]>,
}

/// Part of a unit that the motions may miss of a turn.
const MISSED: f64 = 1e-9;

/// A step that moves a rotation vector further than this, rad, and so many times as far as its joint turns, is refused.
const FURTHEST: f64 = 1.0;
const LIFTED: f64 = 4.0;

/// All such joints of a tree with motions, and the matrix that gives y of coordinates.
pub(super) fn balls(
    tree: &Tree,
    basis: &Basis,
    closures: &Closures,
    motions: &DMatrix<f64>,
    projector: &DMatrix<f64>,
) -> Vec<Ball> {
    let base = 6 * tree.floats.len();
    let mut joints = 0;
    let mut balls = Vec::new();
    for (n, link) in tree.links.iter().enumerate().filter(|(_, link)| link.joint.is_some()) {
        let at = joints;
        joints += link.count;
        let own = match link.kind {
            JointKind::Ball => 0,
            JointKind::Bushing => 3,
            _ => continue,
        };
        let first = link.first + own;
        let bound = closures.groups.iter().any(|g| g.freedoms.iter().any(|i| (first..first + 3).contains(i)));
        let W = projector.columns(at + own, 3);
        let mut missed = motions * W;
        for k in 0..3 {
            missed[(at + own + k, k)] -= 1.0;
        }
        // Not a number where there are no such motions.
        let alone = !bound && missed.iter().all(|x| x.abs() < MISSED);
        let column = |c: usize| {
            let mut column = vec![0.0; basis.stride];
            (0..W.nrows()).for_each(|k| column[base + k] = W[(k, c)]);
            column
        };
        let alone = alone.then(|| std::array::from_fn(column));
        balls.push(Ball { link: n, first, alone });
    }
    balls
}

impl Ball {
    /// Whether nothing acts on its coordinates but dampers.
    fn passive(&self, model: &Constants, inputs: &Inputs) -> bool {
        (self.first..self.first + 3).all(|i| {
            let at = model.tree.freedoms[i].coordinate.expect("a joint");
            let law = &inputs.laws[at];
            let held = law.stiffness != 0.0 || law.armature != 0.0;
            let free = law.lower == f64::NEG_INFINITY && law.upper == f64::INFINITY;
            !held && free && inputs.governed.iter().all(|own| own.coordinate != at)
        })
    }

    fn turned_too_far(&self, model: &Constants, motion: &Motion, h: f64, r: &Vector3<f64>) -> StepError {
        let (link, mechanism) = (&model.tree.links[self.link], &model.tree.mechanism);
        let joint = &mechanism[link.joint.expect("a joint")].name;
        StepError::NotFinite {
            step: motion.steps + 1,
            body: mechanism[link.head].name.clone(),
            cause: format!(
                "joint `{joint}` has turned by {:.1} rad, and the rates of its rotation vector are unbounded at a full turn, 6.3 rad; use the engine `articulated`, keep the joint away by limits or a stiffer spring, or try \
                 a smaller dt than {h} s",
                r.norm()
            ),
        }
    }

    fn vector(&self, of: impl Fn(usize) -> f64) -> Vector3<f64> {
        Vector3::new(of(self.first), of(self.first + 1), of(self.first + 2))
    }
}

/// Moves turns on from where a step of h seconds started, with the rates that it found.
pub(super) fn turn(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let tree = &model.tree;
    for ball in &model.balls {
        let r = ball.vector(|i| motion.places.coordinate(tree, i));
        let rates = ball.vector(|i| work.end.rate(tree, i));
        let J = right_jacobian_rotation(&r);
        let Some(W) = ball.alone.as_ref().filter(|_| ball.passive(model, inputs)) else {
            let moved = h * rates.norm();
            if recentred(r) != r && moved > FURTHEST && moved > LIFTED * h * (J * rates).norm() {
                return Err(ball.turned_too_far(model, motion, h, &r));
            }
            continue;
        };
        let (next, end) = (&mut work.next, &mut work.end);
        // r⁺ = log(exp(r) exp(hω)), ω = J_r(r) ṙ
        let X =
            Pose { rotation: exp_rotation(&r) * exp_rotation(&(J * rates * h)), position: Vector3::zeros() };
        let to = recentred(JointKind::Ball.coordinates(&X, r.as_slice()).fixed_rows::<3>(0).into_owned());
        // ṙ⁺ = J_r(r⁺)⁻¹ ω
        let back = right_jacobian_rotation_inverse(&to);
        let ended = back * J * rates;
        let (moved, faster) = (to - r - rates * h, ended - rates);
        for (c, W) in W.iter().enumerate() {
            next.y.iter_mut().zip(W).for_each(|(y, w)| *y += w * moved[c]);
            next.rates.iter_mut().zip(W).for_each(|(rate, w)| *rate += w * faster[c]);
            end.others[ball.first + c] = ended[c];
            if model.closures.curved {
                next.closed.rolled[ball.first + c] = ended[c];
            }
        }
        // p += Θᵀ(Cᵀ − 1)Wᵀp
        let C = right_jacobian_rotation_inverse(&r) * right_jacobian_rotation(&to) - Matrix3::identity();
        let p = C.tr_mul(&Vector3::from_fn(|c, _| dot(&W[c], &next.owed)));
        for c in 0..3 {
            let row = model.basis.row(ball.first + c);
            next.owed.iter_mut().zip(row).for_each(|(owed, theta)| *owed += theta * p[c]);
        }
    }
    Ok(())
}

/// A joint that has turned so far that its coordinates may be why a step failed.
pub(super) fn turned_too_far(model: &Constants, motion: &Motion, h: f64) -> Option<StepError> {
    model.balls.iter().find_map(|ball| {
        let r = ball.vector(|i| motion.places.coordinate(&model.tree, i));
        (recentred(r) != r).then(|| ball.turned_too_far(model, motion, h, &r))
    })
}
