//! Projected Gauss–Seidel: contact by contact, normal and then tangents, the latter projected on the disk of radius μλ_n.
//!
//! What a sweep changes is taken for a gradient that nonlinear conjugate gradients go along (Silcowitz-Hansen, Niebe and
//! Erleben 2010): a stack of ten boxes needs 40 sweeps instead of hundreds.
//!
//! At the bound of the disk the tangents take gradient steps of length 1/‖W_tt‖, whose fixed point has λ_t exactly against u_t;
//! a projected Newton step would end elsewhere where W_tt is not round.

use nalgebra::{Vector2, Vector3};

use super::delassus::Equations;

/// A sweep that changes no velocity by more than this, m/s, is the last.
const STILL: f64 = 1e-9;

/// Steps of the tangents at the bound, each sweep.
const SLIDING: usize = 3;

/// Memory that is kept: impulses before a sweep, and the direction of the accelerated ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    before: Vec<Vector3<f64>>,
    along: Vec<Vector3<f64>>,
}

/// Takes so many sweeps from the impulses that are there, fewer where one changes nothing any more.
pub(super) fn solve(equations: &mut Equations, sweeps: usize, memory: &mut Memory) {
    let n = equations.meetings.len();
    memory.before.resize(n, Vector3::zeros());
    memory.along.clear();
    memory.along.resize(n, Vector3::zeros());
    let mut last = f64::INFINITY;
    for sweep in 0..sweeps {
        for (old, meeting) in memory.before.iter_mut().zip(&equations.meetings) {
            *old = meeting.impulse;
        }
        let mut changed = 0.0f64;
        for c in 0..n {
            changed = changed.max(relax(equations, c));
        }
        if changed < STILL {
            return;
        }
        // What a sweep changes is the gradient that nonlinear conjugate gradients go along.
        let moved = |c: usize| equations.meetings[c].impulse - memory.before[c];
        let length: f64 = (0..n).map(|c| moved(c).norm_squared()).sum();
        if sweep + 1 == sweeps {
            return;
        }
        let beta = if length > last { 0.0 } else { length / last };
        last = length;
        for c in 0..n {
            let gradient = equations.meetings[c].impulse - memory.before[c];
            let ahead = memory.along[c] * beta;
            memory.along[c] = ahead + gradient;
            if beta > 0.0 {
                let impulse = equations.meetings[c].impulse + ahead;
                equations.set_impulse(c, impulse);
            }
        }
    }
}

/// Solves one contact with all others held; how much its velocity changes by that, m/s.
#[inline]
fn relax(equations: &mut Equations, c: usize) -> f64 {
    let u = equations.velocity(c);
    let meeting = &equations.meetings[c];
    let (W, before) = (&meeting.own, meeting.impulse);
    let stiff = W[(0, 0)] + meeting.softness;
    let normal = (before.x - (u.x + meeting.softness * before.x) / stiff).max(0.0);
    let along = normal - before.x;
    // u_t = slip + W_tt λ_t
    let old = Vector2::new(before.y, before.z);
    let (tt, tu, uu) = (W[(1, 1)], W[(1, 2)], W[(2, 2)]);
    let apply = |x: &Vector2<f64>| Vector2::new(tt * x.x + tu * x.y, tu * x.x + uu * x.y);
    let slip = Vector2::new(u.y + W[(1, 0)] * along, u.z + W[(2, 0)] * along) - apply(&old);
    let bound = meeting.friction * normal;
    let determinant = tt * uu - tu * tu;
    let mut tangent = Vector2::new(tu * slip.y - uu * slip.x, tu * slip.x - tt * slip.y) / determinant;
    let sticks = tangent.norm_squared() <= bound * bound;
    if !sticks {
        let step = 1.0 / (0.5 * (tt + uu) + (0.25 * (tt - uu) * (tt - uu) + tu * tu).sqrt());
        tangent = old;
        for _ in 0..SLIDING {
            tangent -= (slip + apply(&tangent)) * step;
            let length = tangent.norm();
            if length > bound {
                tangent *= bound / length;
            }
        }
    }
    let after = Vector3::new(normal, tangent.x, tangent.y);
    let changed = (after - before).amax() * W[(0, 0)].max(tt).max(uu);
    if after != before {
        equations.set_impulse(c, after);
    }
    changed
}
