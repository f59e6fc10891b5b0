//! How far impulses are from a solution: the natural map of Coulomb's law, in m/s.
//!
//! ```text
//! r_n = λ_n − max(0, λ_n − u_n/w),   r_t = λ_t − P(λ_t − u_t/w),   P on the disk of radius μλ_n
//! ```
//!
//! with w the mean of the contact's own W; w·|r| is zero only where the law holds. A step reports the speed at which shapes that
//! overlap sink deeper where that is more, so that softness hides nothing.

use nalgebra::Vector2;

use super::delassus::Equations;
use crate::algebra::wide::wide;

wide! {
    /// The largest of all contacts, sinking included; not a number where one of them is not.
    pub(super) fn residual, residual_lanes(equations: &Equations) -> f64
}

#[inline(always)]
fn residual_lanes<const FUSED: bool>(equations: &Equations) -> f64 {
    (0..equations.meetings.len())
        .map(|c| of_contact(equations, c))
        .fold(0.0, |most, (law, sinking)| worse(worse(most, law), sinking))
}

/// The largest of some contacts, without sinking: what a solver can bring to zero.
#[inline(always)]
pub(super) fn largest(equations: &Equations, contacts: impl Iterator<Item = usize>) -> f64 {
    contacts.map(|c| of_contact(equations, c).0).fold(0.0, worse)
}

/// The largest of all contacts, as a way in a step of h seconds over the radius of the smaller shape.
pub(super) fn part_of_size(equations: &Equations, h: f64) -> f64 {
    let part = |c: usize| of_contact(equations, c).0 * h / equations.meetings[c].size;
    (0..equations.meetings.len()).map(part).fold(0.0, worse)
}

/// The larger one; not a number where one of them is not.
#[inline(always)]
pub(in crate::contact) fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// How far it is from the law, and how fast it sinks deeper, m/s.
#[inline(always)]
fn of_contact(equations: &Equations, c: usize) -> (f64, f64) {
    let mut u = equations.velocity(c);
    let meeting = &equations.meetings[c];
    // Where shapes overlap they are to part at a speed above zero.
    let sinking = if meeting.target > 0.0 { -u.x - meeting.target } else { 0.0 };
    let w = meeting.own.trace() / 3.0;
    let impulse = meeting.impulse;
    u.x += meeting.softness * impulse.x;
    let normal = impulse.x - (impulse.x - u.x / w).max(0.0);
    let old = Vector2::new(impulse.y, impulse.z);
    let mut tangent = old - Vector2::new(u.y, u.z) / w;
    let (length, bound) = (tangent.norm(), meeting.friction * impulse.x.max(0.0));
    if length > bound {
        tangent *= bound / length;
    }
    (w * (normal * normal + (old - tangent).norm_squared()).sqrt(), sinking)
}
