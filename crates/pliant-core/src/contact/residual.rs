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
use crate::linear::wide::wide;

wide! {
    /// The largest of all contacts, sinking included.
    pub(super) fn residual, residual_lanes(equations: &Equations) -> f64
}

#[inline(always)]
fn residual_lanes<const FUSED: bool>(equations: &Equations) -> f64 {
    let contacts = 0..equations.meetings.len();
    // Where shapes overlap they are to part at a speed above zero.
    let sinking = |c: usize| match equations.meetings[c].target {
        target if target > 0.0 => -equations.velocity(c).x - target,
        _ => 0.0,
    };
    contacts.clone().map(sinking).fold(largest(equations, contacts), f64::max)
}

/// The largest of some contacts: what a solver can bring to zero; not a number where one of them is not.
#[inline(always)]
pub(super) fn largest(equations: &Equations, contacts: impl Iterator<Item = usize>) -> f64 {
    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let mut largest = 0.0;
    for c in contacts {
        largest = worse(largest, of_contact(equations, c));
    }
    largest
}

#[inline(always)]
fn of_contact(equations: &Equations, c: usize) -> f64 {
    let mut u = equations.velocity(c);
    let meeting = &equations.meetings[c];
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
    w * (normal * normal + (old - tangent).norm_squared()).sqrt()
}
