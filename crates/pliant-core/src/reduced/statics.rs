//! The equilibrium on the motions: Q(y) = K(y − y₀), by Newton's method with geometric stiffness,
//!
//! ```text
//! (K + G) Δy = Q + K(y₀ − y)
//! ```
//! As the energy is exact on the motions, its gradient is what is solved for. Where K + G is not positive, the sizes of G stand in
//! for it; a step turns no link further than [`FURTHEST`].

use nalgebra::Vector3;

use super::acting;
use super::closed_statics;
use super::limits;
use super::matrix;
use super::model::Constants;
use super::momentum::{Around, Carried, gather, own_impulses};
use super::simulation::Simulation;
use super::step;
use crate::algebra::dense::cholesky;
use crate::engine::{Equilibrium, Simulation as _, State, StaticsError, StaticsSettings};
use crate::spatial::Twist;

/// The furthest that a link turns in an iteration, rad, or moves, in radii.
const FURTHEST: f64 = 0.5;

/// Iterates that move no link by more than this, rad or radii, are at rest.
const STILL: f64 = 1e-11;

/// The same with a tangent by differences, and on curved closures, whose rounding soft motions multiply.
const STILL_BY_DIFFERENCES: f64 = 1e-9;

/// Iterates below this that have stopped to fall, two in a row, are at rest to rounding.
const ROUNDING: f64 = 1e-7;

/// Iterations with a tangent by differences on a tree.
const FEW: usize = 30;

pub(super) fn settle(
    simulation: &mut Simulation,
    settings: &StaticsSettings,
) -> Result<Equilibrium, StaticsError> {
    let model = simulation.model.clone();
    if let Some(&n) = model.tree.floats.first() {
        let body = model.tree.mechanism[model.tree.links[n].head].name.clone();
        return Err(StaticsError::FreeBase { body });
    }
    let before = simulation.motion.clone();
    simulation.springs.take(&model, &simulation.inputs);
    simulation.springs.rest();
    simulation.motion.base_twist = Twist::ZERO;
    simulation.motion.places.base = simulation.inputs.base;
    simulation.motion.rates.fill(0.0);
    simulation.motion.owed.fill(0.0);
    simulation.motion.closed.rolled.fill(0.0);
    simulation.motion.closed.loop_rolled.fill(0.0);
    simulation.motion.carried.fill(Carried::STILL);
    // An equilibrium is sought among poses that are closed to rounding.
    simulation.motion.closed.tolerance = 0.0;
    let start = simulation.motion.clone();
    let mut found = search(simulation, &model, settings, model.closures.curved);
    let nearer: [fn(&mut Simulation, &Constants, &StaticsSettings); 3] =
        [|_, _, _| (), under_parts, let_down];
    for approach in nearer {
        if found.converged {
            break;
        }
        let iterations = found.iterations;
        simulation.motion = start.clone();
        approach(simulation, &model, settings);
        found = search(simulation, &model, settings, true);
        found.iterations += iterations;
    }
    simulation.motion.place(&model, &simulation.springs.now);
    simulation.motion.closed.tolerance = super::manifold::CLOSED;
    simulation.work.next.closed.tolerance = super::manifold::CLOSED;
    simulation.work.forget();
    if !found.converged {
        simulation.motion.clone_from(&before);
    }
    simulation.filled = false;
    let state = simulation.state().clone();
    debug_assert!(state.is_finite());
    if found.converged
        && let Some(why) = beyond_motors(simulation, &state)
    {
        simulation.motion = before;
        simulation.filled = false;
        return Err(StaticsError::Failed(why));
    }
    Ok(found)
}

/// The joint whose spring applies more than its torque limit in a state, which is then no rest: the search has springs alone.
fn beyond_motors(simulation: &Simulation, state: &State) -> Option<String> {
    let (model, inputs) = (&simulation.model, &simulation.inputs);
    model.tree.mechanism.joints().iter().find_map(|joint| {
        joint.coordinates().enumerate().find_map(|(k, at)| {
            let (law, unit) = (&inputs.laws[at], if k < joint.kind.translations() { "N" } else { "N·m" });
            let needed = (law.stiffness * (inputs.rest[at] - state.coordinates[at])).abs();
            (needed > law.torque_limit).then(|| {
                format!(
                    "joint `{}` would need {needed:.4} {unit}, above its torque limit of {:.4} {unit}, which statics of reduced models leave out; \
                     use the engine `full`",
                    joint.name, law.torque_limit
                )
            })
        })
    })
}

/// Into how many parts weight and loads are taken where all at once lead nowhere.
const PARTS: usize = 8;

/// Finds equilibria under growing parts of weight and loads, each from the one before.
fn under_parts(simulation: &mut Simulation, model: &Constants, settings: &StaticsSettings) {
    let whole = simulation.inputs.clone();
    for part in 1..PARTS {
        let part = part as f64 / PARTS as f64;
        let inputs = &mut simulation.inputs;
        inputs.gravity = whole.gravity * part;
        for (to, from) in
            [(&mut inputs.effector_loads, &whole.effector_loads), (&mut inputs.body_loads, &whole.body_loads)]
        {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from * part);
        }
        if !search(simulation, model, settings, true).converged {
            break;
        }
    }
    simulation.inputs = whole;
}

/// Steps of seconds with which a mechanism is let down where Newton's method does not arrive, and how many.
const STEP: f64 = 0.1;
const STEPS: usize = 300;

/// Lets the mechanism down, at rest at the start of every step: limits and closures are then met one after the other.
fn let_down(simulation: &mut Simulation, model: &Constants, _: &StaticsSettings) {
    // A tree then comes to rest, but not always where loads that grow lead it.
    if !model.closures.curved {
        return;
    }
    for _ in 0..STEPS {
        let Simulation { motion, inputs, springs, work, .. } = simulation;
        motion.rates.fill(0.0);
        motion.carried.fill(Carried::STILL);
        motion.closed.rolled.fill(0.0);
        motion.closed.loop_rolled.fill(0.0);
        motion.place(model, &springs.now);
        work.forget();
        if step::solve(model, springs, inputs, STEP, motion, work).is_err() {
            return;
        }
        step::spin_end(model, springs, motion, work);
        if step::advance(model, springs, inputs, STEP, motion, work).is_err() {
            return;
        }
        (work.next.time, work.next.steps) = (motion.time, motion.steps);
        std::mem::swap(motion, &mut work.next);
    }
    simulation.motion.rates.fill(0.0);
    simulation.motion.carried.fill(Carried::STILL);
}

/// Newton's method from where the motion is; with the tangent by differences, where closures are curved or joints turn about several
/// axes, or with G.
fn search(
    simulation: &mut Simulation,
    model: &Constants,
    settings: &StaticsSettings,
    by_differences: bool,
) -> Equilibrium {
    let mut found = Equilibrium::NONE;
    let mut risen = 0;
    // Where differences are a second attempt, they arrive soon or not at all.
    let few = by_differences && !model.closures.curved;
    for iteration in 0..settings.iterations.min(if few { FEW } else { usize::MAX }) {
        simulation.motion.place(model, &simulation.springs.now);
        let (moved, stable) = if by_differences {
            let (moved, stable, gap) = closed_statics::iterate(simulation, model);
            found.closure = if gap.is_finite() { gap } else { found.closure };
            (moved, stable)
        } else {
            iterate(simulation, model)
        };
        if !moved.is_finite() {
            break;
        }
        risen = if moved < ROUNDING && moved > 0.5 * found.residual { risen + 1 } else { 0 };
        (found.iterations, found.residual, found.stable) = (iteration + 1, moved, stable);
        // Differences leave a tangent of ten digits.
        let still = if by_differences { STILL_BY_DIFFERENCES } else { STILL };
        if moved <= still.max(1e-3 * settings.tolerance) || risen == 2 {
            (found.converged, found.load_reached) = (true, 1.0);
            break;
        }
    }
    found
}

/// One iteration: how far it moved a link, and whether the tangent is positive.
fn iterate(simulation: &mut Simulation, model: &Constants) -> (f64, bool) {
    let Simulation { motion, inputs, springs, work, .. } = simulation;
    let (tree, basis) = (&model.tree, &model.basis);
    let n = basis.count;
    let gravity: [f64; 3] = inputs.gravity.into();
    let (places, carried) = (&motion.places, &mut motion.carried);
    let around = Around { base: [0.0; 6], gravity, h: 1.0 };
    own_impulses(tree, places, &motion.now, &around, &[], carried, &mut work.sums);
    let (sums, places) = (&mut work.sums, &motion.places);
    acting::each_load(tree, places, inputs, |n, at, load| {
        let six = crate::algebra::three::six(load.force.into(), load.torque.into());
        super::momentum::push(sums, places, n, at.into(), &six);
    });
    let mut A = vec![0.0; n * n];
    let mut J = vec![0.0; 6 * basis.stride];
    for spring in &inputs.springs {
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        let wrench = spring.wrench(&at, &Twist::ZERO);
        let six = crate::algebra::three::six(wrench.force.into(), wrench.torque.into());
        super::momentum::push(sums, places, link, at.position.into(), &six);
        acting::jacobian(tree, basis, places, link, &mut J);
        let mut W = nalgebra::Matrix6::from_diagonal_element(spring.stiffness);
        W.fixed_view_mut::<3, 3>(3, 3).copy_from(&spring.turning(&at));
        let arm = at.position - Vector3::from(places.point);
        acting::add_spring(&mut A, n, &mut J, basis.stride, &arm, &W);
    }
    let mut right = vec![0.0; n];
    let mut columns = vec![crate::algebra::lanes::Lanes::ZERO; n];
    gather(tree, basis, places, sums, &mut columns, &mut right);
    let mut loaded = false;
    let spreads = &mut work.system.spreads;
    acting::each_load(tree, places, inputs, |n, at, load| {
        if !loaded {
            spreads.fill([crate::algebra::lanes::Lanes::ZERO; 12]);
            loaded = true;
        }
        matrix::spread(&mut spreads[n / 4], n % 4, &(at - Vector3::from(places.point)), load);
    });
    work.system.make(tree, basis, places, &motion.carried, gravity, loaded);
    for i in 0..n {
        let row = i * basis.stride..i * basis.stride + n;
        right[i] += springs.pull[i] - crate::algebra::wide::dot(&springs.K[row.clone()], &motion.y[..n]);
        for k in 0..n {
            A[i * n + k] += springs.K[i * basis.stride + k];
        }
    }
    for &i in limits::limited(model) {
        let law = &inputs.laws[limits::coordinate_of(model, i)];
        let (q, stiffness) = (motion.coordinate(model, i), law.limit);
        let beyond = (q - law.upper).max(0.0) + (q - law.lower).min(0.0);
        if beyond != 0.0 {
            let row = &motion.row(model, i)[..n];
            for a in 0..n {
                right[a] -= stiffness * beyond * row[a];
                (0..n).for_each(|b| A[a * n + b] += stiffness * row[a] * row[b]);
            }
        }
    }
    let G = &work.system.G;
    let mut whole: Vec<f64> = (0..n * n).map(|a| A[a] + G[a / n * basis.stride + a % n]).collect();
    let stable = cholesky::factor(&mut whole, n);
    if !stable {
        whole.copy_from_slice(&A);
        for i in 0..n {
            whole[i * n + i] += (0..n).map(|k| G[i * basis.stride + k].abs()).sum::<f64>();
        }
        if !cholesky::factor(&mut whole, n) {
            return (f64::NAN, false);
        }
    }
    cholesky::solve(&whole, n, &mut right);
    let turned: f64 = right.iter().zip(&model.turns).map(|(x, t)| x.abs() * t).sum();
    let part = if turned > FURTHEST { FURTHEST / turned } else { 1.0 };
    right.iter().zip(&mut motion.y).for_each(|(x, y)| *y += part * x);
    (turned, stable)
}
