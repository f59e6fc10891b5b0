//! Restitution: what a hit gives back, of all contacts that feel each other together, and never more than there was.
//!
//! With u₀ the velocities at the start of the step and without any force, two impacts are solved: the plain one, λ_p, in which
//! nothing bounces, and one, λ_e, in which contacts that hit part at e times the speed at which they met. Between the two,
//!
//! ```text
//! λ = λ_p + s(λ_e − λ_p),   ΔE(s) = λᵀu₀ + ½λᵀWλ
//! ```
//!
//! is in the cones of friction and ΔE is a convex parabola in s with ΔE(0) ≤ 0: s is the largest up to 1 with ΔE ≤ 0. Newton's law
//! alone creates energy where there is friction or a contact's normal misses the centre of mass (Kane and Levinson 1985). Then the
//! step is solved as if nothing bounced, from velocities that have changed by Wλ.
//!
//! Of links that turn, W is that of one pose, and the step leads to others: to first order in their turn, ΔE is not what the step gains.
//! [`solve_again`] takes a smaller part of λ_e − λ_p; `world/hits.rs` finds a large one with which the step gains nothing.

use nalgebra::Vector3;

use super::delassus::Equations;

/// Memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// b of the step, the same after the impact, and the impulses it starts from.
    start: Vec<Vector3<f64>>,
    free: Vec<Vector3<f64>>,
    warm: Vec<Vector3<f64>>,
    softness: Vec<f64>,
    /// λ_p with the velocities after it, the most of λ, and λ.
    plain: Vec<(Vector3<f64>, Vector3<f64>)>,
    most: Vec<Vector3<f64>>,
    impact: Vec<Vector3<f64>>,
}

/// Solves a step with its hits; `solve` solves equations. How far it is from the law, m/s, comes from `residual`.
pub(super) fn solve(
    equations: &mut Equations,
    memory: &mut Memory,
    mut solve: impl FnMut(&mut Equations),
    residual: impl FnOnce(&Equations) -> f64,
) -> f64 {
    if !equations.meetings.iter().any(|meeting| meeting.bounce > 0.0) {
        solve(equations);
        find_support(equations);
        return residual(equations);
    }
    memory.begin(equations);
    solve(equations);
    memory.bounce(equations);
    solve(equations);
    memory.mix(equations);
    solve_again(equations, memory, 1.0, solve, residual)
}

/// Solves a step with hits again, with a part of what is given back.
pub(super) fn solve_again(
    equations: &mut Equations,
    memory: &mut Memory,
    part: f64,
    mut solve: impl FnMut(&mut Equations),
    residual: impl FnOnce(&Equations) -> f64,
) -> f64 {
    for ((impact, most), (plain, _)) in memory.impact.iter_mut().zip(&memory.most).zip(&memory.plain) {
        *impact = plain + (most - plain) * part;
    }
    memory.go_on(equations);
    solve(equations);
    find_support(equations);
    let far = residual(equations);
    for c in 0..equations.meetings.len() {
        equations.set_impulse(c, equations.meetings[c].impulse + memory.impact[c]);
    }
    far
}

impl Memory {
    /// The plain impact: velocities of the start, and gaps that the step must not close.
    fn begin(&mut self, equations: &mut Equations) {
        self.start.clear();
        self.warm.clear();
        self.softness.clear();
        for c in 0..equations.meetings.len() {
            let meeting = &mut equations.meetings[c];
            self.start.push(meeting.free);
            self.warm.push(meeting.impulse);
            self.softness.push(meeting.softness);
            meeting.free = meeting.now;
            meeting.free.x -= meeting.target.min(0.0);
            meeting.softness = 0.0;
            equations.set_impulse(c, Vector3::zeros());
        }
    }

    /// The same with what bounces, from there.
    fn bounce(&mut self, equations: &mut Equations) {
        self.plain.clear();
        for c in 0..equations.meetings.len() {
            let after = equations.velocity(c) + Vector3::x() * equations.meetings[c].target.min(0.0);
            self.plain.push((equations.meetings[c].impulse, after));
        }
        for meeting in equations.meetings.iter_mut().filter(|meeting| meeting.bounce > 0.0) {
            meeting.free.x = meeting.now.x - meeting.bounce;
        }
    }

    /// The most of λ, island by island; without hits none.
    fn mix(&mut self, equations: &Equations) {
        for list in [&mut self.impact, &mut self.most] {
            list.clear();
            list.resize(equations.meetings.len(), Vector3::zeros());
        }
        let hit = |island: usize| {
            equations.islands.contacts(island).iter().any(|c| equations.meetings[*c].bounce > 0.0)
        };
        for island in 0..equations.islands.len() {
            let contacts = equations.islands.contacts(island);
            if !hit(island) {
                contacts.iter().for_each(|c| self.plain[*c].0 = Vector3::zeros());
                continue;
            }
            // ΔE(s) = E + sB + s²A
            let (mut E, mut B, mut A) = (0.0, 0.0, 0.0);
            for &c in contacts {
                let meeting = &equations.meetings[c];
                let (plain, after) = self.plain[c];
                let more = meeting.impulse - plain;
                let bounced = equations.velocity(c) + meeting.now - meeting.free;
                E += 0.5 * plain.dot(&(meeting.now + after));
                B += more.dot(&after);
                A += 0.5 * more.dot(&(bounced - after));
            }
            let s = largest_part(E, B, A);
            contacts.iter().for_each(|&c| {
                let plain = self.plain[c].0;
                self.most[c] = plain + (equations.meetings[c].impulse - plain) * s;
            });
        }
    }

    /// The step itself, after the impact.
    fn go_on(&mut self, equations: &mut Equations) {
        for c in 0..equations.meetings.len() {
            equations.meetings[c].free = self.start[c];
            equations.meetings[c].softness = self.softness[c];
            equations.set_impulse(c, self.impact[c]);
        }
        self.free.clear();
        self.free.extend((0..equations.meetings.len()).map(|c| equations.velocity(c)));
        for c in 0..equations.meetings.len() {
            equations.meetings[c].free = self.free[c];
            equations.set_impulse(c, self.warm[c]);
        }
    }
}

/// Which contacts support what they push, or would if it went with the mean of its velocities.
fn find_support(equations: &mut Equations) {
    for c in 0..equations.meetings.len() {
        let meeting = &equations.meetings[c];
        let reached = || {
            let mean = equations.velocity(c).x + meeting.target - 0.5 * meeting.gained;
            meeting.gained > 0.0 && mean < meeting.target.min(0.0)
        };
        equations.meetings[c].supports = meeting.impulse.x > 0.0 || reached();
    }
}

/// The largest s in 0..1 with E + sB + s²A ≤ 0, for E ≤ 0 ≤ A; 0 where E is above zero.
fn largest_part(E: f64, B: f64, A: f64) -> f64 {
    if E + B + A <= 0.0 {
        return 1.0;
    }
    let root = (B * B - 4.0 * A * E.min(0.0)).sqrt();
    // The form without a difference of two large numbers.
    let s = if B > 0.0 { -2.0 * E.min(0.0) / (B + root) } else { (root - B) / (2.0 * A) };
    if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 }
}
