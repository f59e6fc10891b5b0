//! The equilibrium on motions that stay on curved closures: Tᵀ(all forces) = 0, by Newton's method.
//!
//! The tangent is that of the true energy on the manifold, with the turning of T and of everything that pulls: by central differences of
//! the forces on the motions, two for each of the few motions. Where it is not positive, the sizes of its eigenvalues stand in
//! for them.

use nalgebra::{DMatrix, DVector};

use super::acting;
use super::limits;
use super::model::Constants;
use super::momentum::{Around, gather, own_impulses, push};
use super::motion::tangent;
use super::simulation::Simulation;
use crate::algebra::dense::eigen;
use crate::algebra::lanes::Lanes;
use crate::algebra::three::six;
use crate::spatial::Twist;

/// How far a difference turns the link that turns most, rad, or moves it, in radii: the cube root of rounding.
const APART: f64 = 1e-5;

/// The furthest that one direction turns a link in an iteration, rad, or moves it, in radii.
const FURTHEST: f64 = 0.3;

/// What closures may be left open by in an iteration, radii or rad; and how often its way is halved.
const OPEN: f64 = 1e-9;
const HALVINGS: usize = 10;

/// Eigenvalues below this part of the largest count as it.
const LEAST: f64 = 1e-12;

/// Forces on the motions where y has the mechanism, closures closed, with limits or without; how far closures are open.
fn forces(simulation: &mut Simulation, model: &Constants, limits: bool, out: &mut DVector<f64>) -> f64 {
    simulation.motion.place(model, &simulation.springs.now);
    let Simulation { motion, inputs, work, .. } = simulation;
    let (tree, n) = (&model.tree, model.basis.count);
    let around = Around { base: [0.0; 6], gravity: inputs.gravity.into(), h: 1.0 };
    own_impulses(tree, &motion.places, &motion.now, &around, &[], &mut motion.carried, &mut work.sums);
    let (sums, places) = (&mut work.sums, &motion.places);
    acting::each_load(tree, places, inputs, |n, at, load| {
        push(sums, places, n, at.into(), &six(load.force.into(), load.torque.into()));
    });
    for spring in &inputs.springs {
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        let wrench = spring.wrench(&at, &Twist::ZERO);
        push(sums, places, link, at.position.into(), &six(wrench.force.into(), wrench.torque.into()));
    }
    let mut columns = vec![Lanes::ZERO; n];
    gather(tree, tangent(model, &motion.closed), places, sums, &mut columns, out.as_mut_slice());
    for (at, i) in model.freedom_of.iter().enumerate() {
        let Some(i) = *i else { continue };
        let (law, q) = (&inputs.laws[at], motion.coordinate(model, i));
        let beyond = (q - law.upper).max(0.0) + (q - law.lower).min(0.0);
        let tau = law.stiffness * (inputs.rest[at] - q) - if limits { law.limit * beyond } else { 0.0 };
        if tau != 0.0 {
            out.iter_mut().zip(motion.row(model, i)).for_each(|(to, t)| *to += tau * t);
        }
    }
    motion.closed.gap
}

/// K⁻¹f with the sizes of K's eigenvalues, no direction further than [`FURTHEST`]; whether they are all positive, and how far it were.
fn newton(model: &Constants, K: &DMatrix<f64>, f: &DVector<f64>) -> Option<(DVector<f64>, bool, f64)> {
    let n = f.len();
    // In units in which every motion turns a link by as much.
    let units = DVector::from_fn(n, |k, _| 1.0 / model.turns[k].max(f64::MIN_POSITIVE.sqrt()));
    let scaled = DMatrix::from_fn(n, n, |i, k| 0.5 * (K[(i, k)] + K[(k, i)]) * units[i] * units[k]);
    let found = eigen::sorted(scaled);
    let most = found.eigenvalues.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if !(most > 0.0 && f.iter().all(|x| x.is_finite())) {
        return None;
    }
    let stable = found.eigenvalues.iter().all(|x| *x > 0.0);
    // Each direction for itself: stiff ones arrive while soft ones are on their way.
    let mut furthest = 0.0f64;
    let mut along = found.eigenvectors.tr_mul(&f.component_mul(&units));
    for (x, value) in along.iter_mut().zip(found.eigenvalues.iter()) {
        *x /= value.abs().max(LEAST * most);
        furthest = furthest.max(x.abs());
        *x = x.clamp(-FURTHEST, FURTHEST);
    }
    // Dead torques have no energy: near rest the tangent as it is.
    if stable
        && furthest <= FURTHEST
        && let Some(whole) = K.clone().lu().solve(f)
    {
        let size = whole.component_div(&units).amax();
        if size <= FURTHEST {
            return Some((whole, stable, size));
        }
    }
    Some(((&found.eigenvectors * along).component_mul(&units), stable, furthest))
}

/// One iteration: how far it moved a link, whether the tangent is positive, and how far closures are open.
pub(super) fn iterate(simulation: &mut Simulation, model: &Constants) -> (f64, bool, f64) {
    let n = model.basis.count;
    if n == 0 {
        return (0.0, true, simulation.motion.closed.gap);
    }
    let lost = (f64::NAN, false, f64::NAN);
    let (mut right, mut ahead, mut behind) = (DVector::zeros(n), DVector::zeros(n), DVector::zeros(n));
    let open = forces(simulation, model, false, &mut right);
    if open.is_nan() || open > OPEN {
        return lost;
    }
    let mut K = DMatrix::zeros(n, n);
    let start = (simulation.motion.y.clone(), simulation.motion.closed.s.clone());
    for k in 0..n {
        let step = APART / model.turns[k].max(f64::MIN_POSITIVE.sqrt());
        let y = simulation.motion.y[k];
        simulation.motion.y[k] = y + step;
        let up = forces(simulation, model, false, &mut ahead);
        simulation.motion.y[k] = y - step;
        let down = forces(simulation, model, false, &mut behind);
        simulation.motion.y[k] = y;
        simulation.motion.closed.s.clone_from(&start.1);
        if !(up <= OPEN && down <= OPEN) {
            return lost;
        }
        K.column_mut(k).copy_from(&((&behind - &ahead) / (2.0 * step)));
    }
    if !K.iter().all(|x| x.is_finite()) {
        return lost;
    }
    // Limits that act, and those that the way then leads beyond.
    simulation.motion.place(model, &simulation.springs.now);
    let laws = &simulation.inputs.laws;
    let limited: Vec<usize> = limits::limited(model).copied().collect();
    let mut acts = vec![0.0; limited.len()];
    let (mut moves, mut stable, mut furthest) = (DVector::zeros(n), false, 0.0);
    let mut pushed = right.clone();
    for _ in 0..=limited.len().min(8) {
        let mut changed = false;
        for (side, &i) in acts.iter_mut().zip(&limited) {
            let law = &laws[limits::coordinate_of(model, i)];
            let row = DVector::from_column_slice(&simulation.motion.row(model, i)[..n]);
            let q = simulation.motion.coordinate(model, i);
            let there = q + row.dot(&moves);
            if *side == 0.0 && (there > law.upper || there < law.lower) {
                *side = if there > law.upper { 1.0 } else { -1.0 };
                changed = true;
                let bound = if *side > 0.0 { law.upper } else { law.lower };
                K.ger(law.limit, &row, &row, 1.0);
                pushed.axpy(-law.limit * (q - bound), &row, 1.0);
            }
        }
        if !changed && !moves.is_empty() && moves.amax() > 0.0 {
            break;
        }
        let Some(found) = newton(model, &K, &pushed) else { return lost };
        (moves, stable, furthest) = found;
        if moves.is_empty() || moves.amax() == 0.0 {
            break;
        }
    }
    let turned: f64 = moves.iter().zip(&model.turns).map(|(x, t)| x.abs() * t).sum();
    let turned = if furthest > FURTHEST { furthest.max(turned) } else { turned };
    let mut part = 1.0;
    for _ in 0..HALVINGS {
        let there = moves.iter().zip(&start.0).map(|(x, y)| y + part * x);
        simulation.motion.y.iter_mut().zip(there).for_each(|(y, x)| *y = x);
        simulation.motion.closed.s.clone_from(&start.1);
        let gap = forces(simulation, model, true, &mut ahead);
        if gap <= OPEN && ahead.iter().all(|x| x.is_finite()) {
            return (turned, stable, gap);
        }
        part *= 0.5;
    }
    simulation.motion.y.clone_from(&start.0);
    simulation.motion.closed.s.clone_from(&start.1);
    lost
}
