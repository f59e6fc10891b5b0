//! The matrix of a step: when mass and geometric stiffness are made again, how they are put together with springs and dampers,
//! and how they are saved with a state.

use nalgebra::{Vector3, Vector6};

use super::acting::{each_load, each_spring, loaded};
use super::basis::Basis;
use super::failing::undetermined;
use super::model::Constants;
use super::motion::{Motion, tangent};
use super::placing::Places;
use super::springs::Springs;
use super::step::Workspace;
use super::system::System;
use super::tree::Tree;
use crate::algebra::dense::cholesky;
use crate::algebra::lanes::Lanes;
use crate::engine::{Inputs, StepError};
use crate::spatial::Wrench;

/// Part of the matrix of a step that geometric stiffness has to leave of it.
const LEFT: f64 = 0.2;

/// What mass and geometric stiffness were made for.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    valid: bool,
    h: f64,
    pub springs: u64,
    pub y: Vec<f64>,
    X: Vec<f64>,
    loads: Vec<Wrench>,
    body_loads: f64,
    gravity: [f64; 3],
    pulled: [f64; 4],
}

/// What part of the forces of springs may have changed since geometric stiffness was made.
const PULLED: f64 = 0.1;

impl Workspace {
    /// Mass and stiffness are made again in the next step.
    pub fn forget(&mut self) {
        self.made.valid = false;
    }

    /// Writes mass and geometric stiffness with what they were made for, so that a restored state continues with the same bits.
    pub fn save(&self, to: &mut Vec<f64>) {
        let Made { valid, y, X, loads, body_loads, gravity, pulled, .. } = &self.made;
        // A sum of absurd loads is not saved: mass and stiffness are made again.
        let known = body_loads.is_finite() && pulled.iter().all(|x| x.is_finite());
        to.extend([f64::from(*valid && known), if known { *body_loads } else { 0.0 }]);
        to.extend(gravity);
        to.extend(pulled.map(|x| if known { x } else { 0.0 }));
        to.extend((0..self.solution.len()).map(|k| y.get(k).copied().unwrap_or(0.0)));
        for e in 0..self.effectors {
            let load = loads.get(e).copied().unwrap_or(Wrench::ZERO).to_vector();
            to.extend_from_slice(load.as_slice());
        }
        for matrix in [&self.system.M, &self.system.G] {
            to.extend(matrix.iter().map(|x| if *valid { *x } else { 0.0 }));
        }
        to.extend((0..self.leaning).map(|k| X.get(k).copied().unwrap_or(0.0)));
    }

    /// How many numbers that are.
    pub fn saved_length(&self) -> usize {
        9 + self.solution.len() + 6 * self.effectors + 2 * self.system.M.len() + self.leaning
    }

    /// Takes them back.
    pub fn restore(&mut self, from: &[f64]) {
        let (n, square) = (self.solution.len(), self.system.M.len());
        let made = &mut self.made;
        (made.valid, made.body_loads, made.h) = (from[0] != 0.0, from[1], f64::NAN);
        made.gravity.copy_from_slice(&from[2..5]);
        made.pulled.copy_from_slice(&from[5..9]);
        made.y.clear();
        made.y.extend_from_slice(&from[9..9 + n]);
        let (loads, matrices) = from[9 + n..].split_at(6 * self.effectors);
        made.loads.clear();
        let load = |x: &[f64]| Wrench::from_vector(&Vector6::from_column_slice(x));
        made.loads.extend(loads.chunks_exact(6).map(load));
        self.system.M.copy_from_slice(&matrices[..square]);
        let (G, X) = matrices[square..].split_at(square);
        self.system.G.copy_from_slice(G);
        made.X.clear();
        made.X.extend_from_slice(X);
    }
}

/// A sum that changes with any load on a body.
fn trace_of(loads: &[Wrench]) -> f64 {
    let of = |w: &Wrench| w.force.x + 1.7 * w.force.y + 2.3 * w.force.z + 0.9 * w.torque.sum();
    loaded(loads).map(|i| of(&loads[i]) * (1.0 + i as f64)).sum()
}

/// The forces of springs, each by a weight of its own, and the sum of their sizes.
fn pulled(tree: &Tree, places: &Places, inputs: &Inputs) -> [f64; 4] {
    let (mut sum, mut size, mut weight) = (Vector3::zeros(), 0.0, 1.0);
    each_spring(tree, places, inputs, |_, _, wrench| {
        sum += wrench.force * weight;
        size += wrench.force.norm();
        weight *= 0.9;
    });
    [sum.x, sum.y, sum.z, size]
}

/// Makes mass, geometric stiffness and the matrix of a step, if those there are no longer serve.
pub(super) fn make_if_needed(
    model: &Constants,
    springs: &mut Springs,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let (tree, basis, made) = (&model.tree, tangent(model, &motion.closed), &mut work.made);
    let curved = model.closures.curved;
    let n = basis.count;
    let far = || {
        let turned: f64 = (0..n).map(|k| model.turns[k] * (motion.y[k] - made.y[k]).abs()).sum();
        turned.is_nan() || turned > model.options.turned || (curved && leaned(model, motion, &made.X))
    };
    let gravity: [f64; 3] = inputs.gravity.into();
    let pulled = pulled(tree, &motion.places, inputs);
    let changed = (0..3).map(|i| (pulled[i] - made.pulled[i]).abs()).fold(0.0, f64::max);
    let fresh = made.valid
        && !motion.stale
        && changed <= PULLED * pulled[3].max(made.pulled[3])
        && tree.floats.is_empty()
        && model.options.turned > 0.0
        && made.gravity == gravity
        && made.loads == inputs.effector_loads
        && made.body_loads == trace_of(&inputs.body_loads)
        && !far();
    if !fresh {
        let mut any = false;
        if model.options.geometric {
            let spreads = &mut work.system.spreads;
            each_load(tree, &motion.places, inputs, |n, at, load| {
                if !any {
                    spreads.fill([Lanes::ZERO; 12]);
                    any = true;
                }
                spread(&mut spreads[n / 4], n % 4, &(at - Vector3::from(motion.places.point)), load);
            });
            each_spring(tree, &motion.places, inputs, |n, at, wrench| {
                if !any {
                    spreads.fill([Lanes::ZERO; 12]);
                    any = true;
                }
                let force = Wrench::force(wrench.force.into());
                spread(&mut spreads[n / 4], n % 4, &(at - Vector3::from(motion.places.point)), &force);
            });
        }
        if model.options.geometric && curved {
            let spreads = &mut work.system.spreads;
            let closed = &motion.closed;
            for (c, _) in model.closures.all.iter().enumerate().filter(|(_, c)| !c.flat) {
                let held = model.closures.wrench(c, &closed.at, &motion.places, &closed.lambda);
                let Some((child, parent, at, wrench)) = held else { continue };
                if !any {
                    spreads.fill([Lanes::ZERO; 12]);
                    any = true;
                }
                // What closes pulls the child back by λ.
                let arm = at - Vector3::from(motion.places.point);
                for (n, wrench) in [(child, wrench * -1.0), (parent, wrench)] {
                    if n != super::tree::BASE {
                        spread(&mut spreads[n / 4], n % 4, &arm, &wrench);
                    }
                }
            }
        }
        if curved {
            springs.project(model, inputs, basis, &motion.closed.loop_rows);
        }
        let at = if model.options.geometric { gravity } else { [0.0; 3] };
        let carried = if work.floating.is_empty() { &motion.carried } else { &work.back };
        work.system.make(tree, basis, &motion.places, carried, at, any);
        for i in 0..n {
            for k in 0..n {
                work.system.M[i * basis.stride + k] += springs.A[i * basis.stride + k];
            }
        }
        let sum: f64 = work.system.M.iter().chain(&work.system.G).map(|x| x * 0.0).sum();
        if sum != 0.0 {
            made.valid = false;
            return Err(undetermined(model, motion, h));
        }
        made.valid = true;
        (made.gravity, made.pulled) = (gravity, pulled);
        made.y.clear();
        made.y.extend_from_slice(&motion.y);
        made.X.clear();
        made.X.extend_from_slice(&motion.closed.X);
        made.loads.clone_from(&inputs.effector_loads);
        made.body_loads = trace_of(&inputs.body_loads);
    } else if made.h == h && made.springs == springs.version {
        return Ok(());
    } else if curved && made.springs != springs.version {
        springs.project(model, inputs, basis, &motion.closed.loop_rows);
    }
    (made.h, made.springs) = (h, springs.version);
    let M = &work.system.M;
    let at = |i: usize, k: usize| i * basis.stride + k;
    for i in 0..n {
        for k in 0..n {
            let a = at(i, k);
            work.base[i * n + k] = M[a] + h * (springs.D[a] + h * springs.K[a]);
        }
    }
    if model.options.geometric && stiffens(work, springs, basis, h) {
        let G = &work.system.G;
        for i in 0..n {
            for k in 0..n {
                work.factor[i * n + k] = (1.0 - LEFT) * work.base[i * n + k] + h * h * G[at(i, k)];
            }
        }
        let bends = cholesky::factor(&mut work.factor, n);
        for i in 0..n {
            for k in 0..n {
                let own = if bends {
                    G[at(i, k)]
                } else if i == k {
                    (0..n).map(|k| G[at(i, k)].abs()).sum()
                } else {
                    0.0
                };
                work.base[i * n + k] += h * h * own;
            }
        }
    }
    work.factor.copy_from_slice(&work.base);
    if cholesky::factor(&mut work.factor, n) {
        return Ok(());
    }
    work.made.valid = false;
    Err(undetermined(model, motion, h))
}

/// Whether T has changed by more than a part of the motions since X was as it was.
fn leaned(model: &Constants, motion: &Motion, X: &[f64]) -> bool {
    let stride = model.basis.stride;
    (0..model.basis.count).any(|k| {
        let change = |(j, t): (usize, &f64)| t * (motion.closed.X[j * stride + k] - X[j * stride + k]).abs();
        let changed: f64 = model.closing_turns.iter().enumerate().map(change).sum();
        changed.is_nan() || changed > model.options.turned * model.turns[k].max(f64::MIN_POSITIVE)
    })
}

/// Whether geometric stiffness is more than a step can hold at its start: G against K + 2D/h + 4M/h².
fn stiffens(work: &mut Workspace, springs: &Springs, basis: &Basis, h: f64) -> bool {
    let n = basis.count;
    let System { M, G, .. } = &work.system;
    for i in 0..n {
        for k in 0..n {
            let a = i * basis.stride + k;
            let held = springs.K[a] + (2.0 * springs.D[a] + 4.0 * M[a] / h) / h;
            work.factor[i * n + k] = held - G[a];
        }
    }
    !cholesky::factor(&mut work.factor, n)
}

/// Adds a dead load to the sums of its link; a couple by half on each side of the diagonal.
pub(super) fn spread(own: &mut [Lanes; 12], l: usize, at: &Vector3<f64>, load: &Wrench) {
    for i in 0..3 {
        own[i][l] += load.force[i];
        for k in 0..3 {
            own[3 + 3 * i + k][l] += at[i] * load.force[k];
        }
    }
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        own[3 + 3 * j + k][l] += 0.5 * load.torque[i];
        own[3 + 3 * k + j][l] -= 0.5 * load.torque[i];
    }
}
