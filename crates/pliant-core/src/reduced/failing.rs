//! Steps that fail: numbers that are not finite, closures that stay open, systems that determine nothing.

use super::balls;
use super::model::Constants;
use super::motion::Motion;
use crate::algebra::lanes::{Lanes, Number, one_block_at_a_time};
use crate::algebra::wide::wide;
use crate::engine::StepError;

/// Coordinates and rates beyond this leave no number when springs and masses multiply them.
const LARGEST: f64 = 1e100;

wide! {
    /// Whether everything is finite: 0·x is zero for those numbers alone, and every link's place is in the sum.
    pub(super) fn finite, finite_lanes(motion: &Motion) -> bool
}

#[inline(always)]
fn finite_lanes<const FUSED: bool>(motion: &Motion) -> bool {
    // Three sums do not wait for each other.
    let (mut sums, none) = ([Lanes::ZERO; 3], Lanes::ZERO);
    for (block, carried) in motion.places.blocks.iter().zip(&motion.carried) {
        one_block_at_a_time();
        for k in 0..3 {
            sums[k] = block.position[k].fma::<FUSED>(none, sums[k]);
            sums[k] = carried.velocity[k].fma::<FUSED>(none, sums[k]);
            sums[k] = carried.angular[k].fma::<FUSED>(none, sums[k]);
        }
    }
    let small = motion
        .y
        .iter()
        .chain(&motion.rates)
        .chain(&motion.owed)
        .chain(&motion.closed.s)
        .chain(&motion.closed.at.q)
        .all(|x| x.abs() < LARGEST);
    small && ((sums[0] + sums[1]) + sums[2]).0.iter().sum::<f64>() == 0.0
}

/// A closure that is left open further than this, radii or rad, is torn.
const TORN: f64 = 1e-3;

/// Whether closures could not be closed.
pub(super) fn torn(model: &Constants, next: &Motion, h: f64) -> Result<(), StepError> {
    if !next.closed.lambda.iter().all(|x| x.is_finite()) {
        return Err(not_finite(model, next, h));
    }
    if next.closed.gap <= TORN {
        return Ok(());
    }
    let closures = &model.closures;
    let open = |c: &super::closures::Closure| {
        let own = &next.closed.at.open[c.first..c.first + c.rows];
        own.iter().fold(0.0f64, |most, x| if x.is_finite() { most.max(x.abs()) } else { f64::INFINITY })
    };
    let curved = closures.all.iter().filter(|c| !c.flat);
    let worst = curved.max_by(|a, b| open(a).total_cmp(&open(b))).expect("a closure that is open");
    let gap = open(worst) * model.tree.radius;
    if !gap.is_finite() {
        return Err(not_finite(model, next, h));
    }
    let joint = model.tree.mechanism[worst.joint].name.clone();
    Err(StepError::Torn { step: next.steps, joint, gap, dt: h })
}

/// Why a step from a motion led to numbers that are not finite.
pub(super) fn failed(model: &Constants, from: &Motion, to: &Motion, h: f64) -> StepError {
    balls::turned_too_far(model, from, h).unwrap_or_else(|| not_finite(model, to, h))
}

fn not_finite(model: &Constants, motion: &Motion, h: f64) -> StepError {
    let links = &model.tree.links;
    let bad = (0..links.len()).find(|n| !motion.places.pose(*n).is_finite()).unwrap_or(0);
    StepError::NotFinite {
        step: motion.steps,
        body: model.tree.mechanism[links[bad].head].name.clone(),
        cause: format!(
            "a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt"
        ),
    }
}

/// The matrix of a step is not positive: something moves that has no mass and no spring, or numbers left f64.
pub(super) fn undetermined(model: &Constants, motion: &Motion, h: f64) -> StepError {
    if let Some(error) = balls::turned_too_far(model, motion, h) {
        return error;
    }
    let mut error = not_finite(model, motion, h);
    if let StepError::NotFinite { step, .. } = &mut error {
        *step += 1;
    }
    error
}
