//! Nonlinear equilibrium: Newton's method on the forces on all bodies and the closures of all joints,
//! with exact geometric stiffness.
//!
//! A pseudo-mass on the bodies keeps each step within reach. It is raised until the matrix has as
//! many negative pivots as there are constraint rows, which by Sylvester's law of inertia says that
//! the energy is convex along every motion that the joints allow; then it falls by ten each step, so
//! that the end is plain Newton, quadratic. Where that does not settle, loads are raised in steps.

use nalgebra::Vector3;

use super::assembly::{Geometric, STATIC_SOFTNESS, Scene, Scheme};
use super::frames::{self, Frame, NodeLoad};
use super::model::{Constants, Joint, Model};
use super::step::Workspace;
use crate::engine::State;
use crate::engine::laws::Law;
use crate::engine::{Equilibrium, InputError, Inputs, Simulation, StaticsError, StaticsSettings};
use crate::spatial::Twist;

/// Pseudo-mass at the start, smallest and largest: what it is on the heaviest node, relative to the
/// stiffness that stands for the mechanism.
pub(super) const PSEUDO_MASS: [f64; 3] = [1e-10, 1e-12, 1e6];

/// The two pseudo-masses that the uniqueness of an equilibrium is probed with: what they are on a node of
/// middling inertia, relative to that stiffness. Rounding is at 1e-16, so a spring of 1e-10 still counts.
const PROBE_MASSES: (f64, f64) = (1e-8, 1e-10);

/// The least softness of rows in the matrix, relative to what augmentation leaves them: pivots of rows that repeat
/// others keep their sign, with rounding at 1e-5 of them.
const LEAST_SOFTNESS: f64 = 1e-11;

/// So many iterations in a row may leave more than half of the closures before rows are made less soft.
const SLOW_ITERATIONS: usize = 5;

/// How often the limits that act are chosen again in one iteration.
const LIMIT_ROUNDS: usize = 20;

/// How many times as many iterations as asked for there are at most.
const MOST_PATIENCE: f64 = 1000.0;

/// Largest turn of a body in one iteration, rad, and largest move, in radii.
const LARGEST_TURN: f64 = 0.4;
const LARGEST_MOVE: f64 = 0.4;

/// Brings the state to the equilibrium under the inputs. On an error the state is as it was; without
/// convergence it is the last equilibrium on the way, under part of the loads.
pub(super) fn settle(
    model: &Constants,
    inputs: &Inputs,
    settings: &StaticsSettings,
    state: &mut State,
    work: &mut Workspace,
) -> Result<Equilibrium, StaticsError> {
    inputs.check(&model.mechanism)?;
    check_held(model, inputs)?;
    let mut search = Search::new(model, inputs, settings);
    let mut current = state.clone();
    current.base = inputs.base;
    current.rates.fill(0.0);
    let (mut reached, mut stride) = (0.0, 1.0);
    let mut total = 0;
    let mut load_steps = 0;
    let mut outcome = loop {
        let mut attempt = current.clone();
        let target = f64::min(1.0, reached + stride);
        let outcome = search.newton(&mut attempt, work, target, reached == 0.0);
        total += outcome.iterations;
        load_steps += 1;
        if outcome.converged {
            current = attempt;
            reached = target;
            stride *= 2.0;
        } else {
            stride *= 0.5;
        }
        if reached >= 1.0 || stride < 0.5f64.powi(settings.halvings as i32) {
            break outcome;
        }
    };
    if reached < 1.0 {
        // What is left over of the whole load where the search ended.
        outcome.converged = false;
        search.place(&mut current, work, 1.0);
        let left = search.left(&current, work, 1.0);
        (outcome.residual, outcome.closure) = (left.force, left.closure);
    }
    // Loads of absurd size leave no numbers, even where nothing has moved yet.
    if !current.is_finite() {
        return Err(StaticsError::Failed("the forces are too large for f64: try smaller loads".into()));
    }
    outcome.load_reached = reached;
    search.softness = STATIC_SOFTNESS;
    let stable = outcome.converged && search.is_stable_and_unique(&current, work)?;
    *state = current;
    Ok(Equilibrium { iterations: total, load_steps, stable, ..outcome })
}

/// The equilibrium of a simulation of another engine that has the same one.
pub(crate) fn settle_by_full(
    simulation: &mut dyn Simulation,
    settings: &StaticsSettings,
) -> Result<Equilibrium, StaticsError> {
    let failed = |error: InputError| StaticsError::Failed(error.to_string());
    let mut own = Model::new(simulation.mechanism()).simulate();
    own.set_state(simulation.state()).map_err(failed)?;
    own.inputs.clone_from(simulation.inputs());
    let equilibrium = own.settle(settings)?;
    simulation.set_state(&own.state).map_err(failed)?;
    Ok(equilibrium)
}

pub(super) struct Search<'a> {
    pub model: &'a Constants,
    pub inputs: &'a Inputs,
    settings: &'a StaticsSettings,
    /// Lever that turns torques into forces, m.
    pub lever: f64,
    /// Size of the mechanism, m.
    size: f64,
    pub augment: [f64; 2],
    /// Softness of rows in the matrix, relative to what augmentation leaves them.
    softness: f64,
    /// Largest and geometric mean of the nodes' inertias, kg·m².
    pub(super) inertia: (f64, f64),
    /// Whether any joint has limits or torque limits.
    limited: bool,
    /// How many times as many iterations there are, for a joint that a coupling turns so many times as far as another.
    patience: usize,
}

/// Sizes of what is left over at an iterate.
struct Left {
    force: f64,
    closure: f64,
    /// The largest force that acts.
    scale: f64,
    /// Force that the last bits of the coordinates make of the stiffest spring or limit, N: less is none.
    rounding: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(model: &'a Constants, inputs: &'a Inputs, settings: &'a StaticsSettings) -> Search<'a> {
        let arms: Vec<f64> = (model.joints.iter())
            .flat_map(|j| {
                let arm =
                    |node: Option<usize>, at: Vector3<f64>| node.map(|n| (at - model.nodes[n].center).norm());
                [arm(j.child, j.in_child.position), arm(j.parent, j.in_parent.position)]
            })
            .flatten()
            .chain(inputs.springs.iter().filter_map(|pull| {
                let (node, frame) = model.frame_in_node(pull.body, pull.frame)?;
                Some((frame.position - model.nodes[node].center).norm())
            }))
            .collect();
        let mean = arms.iter().sum::<f64>() / arms.len().max(1) as f64;
        // A single link may have its frame, its joint and its centre of mass all in one point.
        let size = model.radius.max(mean);
        let size = if size > f64::MIN_POSITIVE { size } else { 1.0 };
        let lever = if mean > 0.0 { mean } else { size };
        // Augmentation of the order of the stiffest spring or, without springs, of the loads.
        let mut stiffest = 0.0f64;
        for joint in &model.joints {
            for k in 0..joint.kind.freedoms() {
                let unit = if k < joint.kind.translations() { lever * lever } else { 1.0 };
                stiffest = stiffest.max(inputs.laws[joint.coordinate + k].stiffness * unit);
            }
        }
        let weight: f64 = model.nodes.iter().map(|n| n.mass).sum::<f64>() * inputs.gravity.norm();
        let load =
            inputs.effector_loads.iter().chain(&inputs.body_loads).map(|w| w.force.norm()).sum::<f64>();
        stiffest = stiffest.max((weight + load) * lever);
        let angular = if stiffest > 0.0 { stiffest } else { 1.0 };
        // Inertia about a joint a lever away.
        let inertias = model.nodes.iter().map(|n| n.inertia.trace() / 3.0 + n.mass * lever * lever);
        let logarithms = inertias.clone().map(f64::ln).sum::<f64>() / model.nodes.len().max(1) as f64;
        let inertia = (inertias.fold(f64::MIN_POSITIVE, f64::max), logarithms.exp());
        let augment = [angular, angular / (lever * lever)];
        let bounds = |law: &Law| [law.lower, law.upper, law.torque_limit];
        let limited = inputs.laws.iter().any(|law| bounds(law).iter().any(|x| x.is_finite()));
        let softness = STATIC_SOFTNESS;
        let faster =
            model.couplings.iter().map(|coupling| coupling.ratio.abs().max(coupling.ratio.abs().recip()));
        let patience = faster.filter(|x| x.is_finite()).fold(1.0, f64::max).min(MOST_PATIENCE) as usize;
        Search { model, inputs, settings, lever, size, augment, softness, inertia, limited, patience }
    }

    pub(super) fn scheme(&self, pseudo_mass: f64) -> Scheme {
        Scheme {
            mass: pseudo_mass,
            stiffness: 1.0,
            damping: 0.0,
            force: 1.0,
            closing: 1.0,
            augment: self.augment,
            row_softness: self.softness,
            geometric: Geometric::Everywhere,
            equilibrium: true,
        }
    }

    /// Puts the frames where the state is, with loads scaled, and the state's coordinates and forces
    /// where the frames are.
    pub(super) fn place(&self, state: &mut State, work: &mut Workspace, load_scale: f64) {
        frames::load(self.model, self.inputs, state, 0.0, &mut work.frames);
        frames::collect_loads(self.model, self.inputs, &mut work.loads);
        frames::apply_loads(self.model, &self.inputs.gravity, &work.loads, load_scale, &mut work.frames);
        let scheme = self.scheme(0.0);
        for joint in &self.model.joints {
            let scene = self.scene(state, &work.frames, &work.loads, &scheme, load_scale);
            let placed = scene.place(joint);
            let forces: [f64; 6] = std::array::from_fn(|k| match k < joint.kind.freedoms() {
                true => scene.drive(joint, k, &placed).force,
                false => 0.0,
            });
            for k in 0..joint.kind.freedoms() {
                state.coordinates[joint.coordinate + k] = placed.q[k];
                state.forces[joint.coordinate + k] = forces[k];
            }
        }
    }

    pub(super) fn scene<'s>(
        &'s self,
        state: &'s State,
        frames: &'s [Frame],
        loads: &'s [NodeLoad],
        scheme: &'s Scheme,
        load_scale: f64,
    ) -> Scene<'s> {
        let (model, inputs, multipliers) = (self.model, self.inputs, state.multipliers.as_slice());
        let laws = &inputs.laws;
        Scene { model, frames, inputs, laws, loads, state, multipliers, scheme, load_scale, ahead: &[] }
    }

    /// Forces and closures left over.
    fn left(&self, state: &State, work: &mut Workspace, load_scale: f64) -> Left {
        let scheme = self.scheme(0.0);
        let Workspace { frames, loads, forces, closures, .. } = work;
        self.scene(state, frames, loads, &scheme, load_scale).residual(forces, closures);
        let size = |f: &Vector3<f64>, t: &Vector3<f64>| f.norm().max(t.norm() / self.lever);
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let external =
            frames[..self.model.nodes.len()].iter().map(|f| size(&f.force, &f.torque)).fold(0.0, f64::max);
        let mut stiffest = self.augment[0];
        for joint in self.model.joints.iter().filter(|_| self.limited) {
            for k in 0..joint.kind.freedoms() {
                let (freedom, q) =
                    (&self.inputs.laws[joint.coordinate + k], state.coordinates[joint.coordinate + k]);
                if q > freedom.upper || q < freedom.lower {
                    let unit = if k < joint.kind.translations() { self.lever * self.lever } else { 1.0 };
                    stiffest = stiffest.max(freedom.limit * unit);
                }
            }
        }
        Left {
            rounding: 64.0 * f64::EPSILON * stiffest / self.lever,
            force: forces.iter().map(|(f, t)| size(f, t)).fold(0.0, f64::max),
            closure: largest(closures),
            scale: external.max(largest(&state.multipliers)).max(largest(&state.forces)),
        }
    }

    /// Newton's method at one scale of the loads.
    ///
    /// Rows are soft in the matrix, ε, and exact in the limit. Closures that repeat each other but for the file's
    /// digits (a robot's parallel rods) see a compliance μ far below ε along their difference, and an iteration leaves
    /// ε/(ε + μ) of it: where that is slow, ε falls.
    fn newton(
        &mut self,
        state: &mut State,
        work: &mut Workspace,
        load_scale: f64,
        from_rest: bool,
    ) -> Equilibrium {
        let [start, smallest, largest] = PSEUDO_MASS.map(|m| m * self.augment[0] / self.inertia.0);
        let mut pseudo_mass = start;
        let mut best = f64::INFINITY;
        let (mut last_closure, mut slow) = (f64::INFINITY, 0);
        let mut result = Equilibrium {
            converged: false,
            residual: 0.0,
            closure: 0.0,
            iterations: 0,
            load_steps: 1,
            load_reached: 0.0,
            stable: false,
        };
        loop {
            self.place(state, work, load_scale);
            let left = self.left(state, work, load_scale);
            (result.residual, result.closure) = (left.force, left.closure);
            if !(left.force.is_finite() && left.closure.is_finite()) {
                return result;
            }
            let good = left.force <= (self.settings.tolerance * left.scale).max(left.rounding)
                && left.closure <= self.settings.tolerance * self.size;
            // Once good, go on as long as an iteration still halves what is left.
            if good && (left.force >= 0.5 * best || left.force <= 1e-14 * left.scale) {
                result.converged = true;
                return result;
            }
            if good {
                best = best.min(left.force);
            }
            if result.iterations == self.settings.iterations * self.patience {
                result.converged = good;
                return result;
            }
            result.iterations += 1;
            let open = left.closure > self.settings.tolerance * self.size;
            slow = if open && left.closure > 0.5 * last_closure { slow + 1 } else { 0 };
            last_closure = left.closure;
            if slow >= SLOW_ITERATIONS && self.softness > LEAST_SOFTNESS {
                (self.softness, slow) = (self.softness * 0.1, 0);
            }
            // Raise the pseudo-mass until the energy is convex along all motions. Torques have no energy to be
            // convex: once a part of them is balanced, the next part is reached by exact steps as they are.
            let torques = work.loads.iter().any(|load| load.wrench.torque != Vector3::zeros());
            while !self.solve_within_limits(state, work, pseudo_mass, load_scale) {
                if torques && !from_rest {
                    break;
                }
                pseudo_mass *= 10.0;
                // Where masses of absurd size leave no number to compare with, the search ends too.
                if !pseudo_mass.is_finite() || !largest.is_finite() || pseudo_mass > largest {
                    return result;
                }
            }
            if torques && pseudo_mass <= start {
                self.make_exact(state, work, load_scale);
            }
            self.advance(state, work);
            pseudo_mass = (pseudo_mass * 0.1).max(smallest);
        }
    }

    /// Solves for the next move with the limits acting that it runs into, and no others: an active-set
    /// iteration on the linear problem (Hintermüller, Ito, Kunisch 2002). A joint that ran past a limit
    /// first would be thrown back by it, with forces that no step of Newton's method gets rid of.
    pub(super) fn solve_within_limits(
        &self,
        state: &State,
        work: &mut Workspace,
        pseudo_mass: f64,
        load_scale: f64,
    ) -> bool {
        work.ahead.copy_from_slice(&state.coordinates);
        let mut good = self.solve(state, work, pseudo_mass, load_scale);
        for _ in 0..LIMIT_ROUNDS {
            if !good || !self.look_ahead(state, work, load_scale) {
                break;
            }
            good = self.solve(state, work, pseudo_mass, load_scale);
        }
        good
    }

    /// Where the solution takes all coordinates; whether other limits and torque limits act there than the solution assumed.
    fn look_ahead(&self, state: &State, work: &mut Workspace, load_scale: f64) -> bool {
        if !self.limited {
            return false;
        }
        let scheme = self.scheme(0.0);
        let Workspace { frames, loads, solution, ahead, .. } = work;
        let scene = self.scene(state, frames, loads, &scheme, load_scale);
        let mut other = false;
        for joint in &self.model.joints {
            let moves = scene.moves(joint, &scene.place(joint), solution);
            for k in 0..joint.kind.freedoms() {
                let at = joint.coordinate + k;
                let (law, q) = (&self.inputs.laws[at], state.coordinates[at] + moves[k]);
                let motor = |q: f64| law.stiffness * (self.inputs.rest[at] - q);
                let weak = |q: f64| (motor(q) > law.torque_limit, motor(q) < -law.torque_limit);
                let side = |q: f64| (q > law.upper, q < law.lower, weak(q));
                other |= side(q) != side(ahead[at]);
                ahead[at] = q;
            }
        }
        other
    }

    /// Solves for the next move; whether the matrix has the signs of a minimum.
    pub(super) fn solve(&self, state: &State, work: &mut Workspace, mass: f64, load_scale: f64) -> bool {
        let scheme = self.scheme(mass);
        let Workspace { frames, loads, solution, numeric, ahead, .. } = work;
        let scene = Scene { ahead, ..self.scene(state, frames, loads, &scheme, load_scale) };
        let solved = numeric.factor_and_solve(&self.model.plan, solution, scene);
        solved.is_ok() && numeric.negative_pivots() == self.model.rows
    }

    /// Moves bodies and multipliers along the solution, not further than is sensible.
    fn advance(&self, state: &mut State, work: &mut Workspace) {
        let (mut turn, mut travel) = (0.0f64, 0.0f64);
        for node in &self.model.nodes {
            let x = &work.solution[node.unknown..node.unknown + 6];
            travel = travel.max(Vector3::new(x[0], x[1], x[2]).norm());
            turn = turn.max(Vector3::new(x[3], x[4], x[5]).norm());
        }
        let scale = (LARGEST_TURN / turn).min(LARGEST_MOVE * self.size / travel).min(1.0);
        for (node, frame) in self.model.nodes.iter().zip(work.frames.iter_mut()) {
            let x = &work.solution[node.unknown..node.unknown + 6];
            frame.v = Vector3::new(x[0], x[1], x[2]) * scale;
            frame.w = Vector3::new(x[3], x[4], x[5]) * scale;
            frame.advance(node, 1.0);
        }
        frames::store(self.model, &work.frames, &self.inputs.base, &Twist::ZERO, None, state);
        self.model.for_each_row(|row, unknown| state.multipliers[row] -= scale * work.solution[unknown]);
    }

    /// Of each joint whether springs hold it, its own or those of a joint that it follows or that follows it.
    fn held_joints(&self) -> Vec<bool> {
        let joints = self.model.joints.iter();
        let mut held: Vec<bool> = joints.map(|joint| self.model.mechanism[joint.id].is_held()).collect();
        for _ in 0..self.model.couplings.len() {
            let before = held.clone();
            for coupling in self.model.couplings.iter().filter(|coupling| coupling.ratio != 0.0) {
                let either = held[coupling.joint] || held[coupling.of];
                (held[coupling.joint], held[coupling.of]) = (either, either);
            }
            if held == before {
                break;
            }
        }
        held
    }

    /// Whether the equilibrium is a minimum; an error if it is not the only one. An arbitrary small
    /// load must not move anything the further the less pseudo-mass there is.
    fn is_stable_and_unique(&self, state: &State, work: &mut Workspace) -> Result<bool, StaticsError> {
        let mut probe = state.clone();
        self.place(&mut probe, work, 1.0);
        // A load on every body that is no multiple of any symmetry: fractions of the golden ratio.
        let mut k = 0.0;
        for frame in &mut work.frames[..self.model.nodes.len()] {
            for x in frame.force.iter_mut().chain(frame.torque.iter_mut()) {
                k += 1.0;
                *x += (f64::fract(k * 0.618_033_988_749_894_9) - 0.5) * self.augment[0] / self.lever;
            }
        }
        let moved = |work: &Workspace| -> Vec<f64> {
            let scheme = self.scheme(0.0);
            let scene = self.scene(&probe, &work.frames, &work.loads, &scheme, 1.0);
            let joint_motion = |joint: &Joint| {
                scene
                    .moves(joint, &scene.place(joint), &work.solution)
                    .iter()
                    .fold(0.0f64, |m, x| m.max(x.abs()))
            };
            self.model.joints.iter().map(joint_motion).collect()
        };
        work.ahead.copy_from_slice(&probe.coordinates);
        let unit = self.augment[0] / self.inertia.1;
        let (with_more, with_less) = (PROBE_MASSES.0 * unit, PROBE_MASSES.1 * unit);
        if !self.solve(&probe, work, with_more, 1.0) {
            return Ok(false);
        }
        let before = moved(work);
        if !self.solve(&probe, work, with_less, 1.0) {
            return Ok(false);
        }
        let after = moved(work);
        // A free motion grows in proportion to 1/pseudo-mass, a held one hardly at all; and it leaves every spring
        // as it is, so a joint that is sprung throughout is no part of it, however soft a long chain makes it.
        let limit = 0.5 * with_more / with_less;
        let held = self.held_joints();
        let passive = |i: &usize| !held[*i];
        let growing = (0..after.len()).filter(passive).filter(|&i| after[i] > limit * before[i]);
        let Some(worst) = growing.max_by(|&a, &b| after[a].total_cmp(&after[b])) else { return Ok(true) };
        let joint = self.model.mechanism[self.model.joints[worst].id].name.clone();
        Err(StaticsError::NotUnique { joint })
    }
}

/// Factors the tangent at a state under its inputs, without pseudo-mass: whether it has the signs of a
/// minimum, and the augmentation that it contains.
pub(super) fn factor_tangent(
    model: &Constants,
    inputs: &Inputs,
    state: &State,
    work: &mut Workspace,
) -> Result<(bool, [f64; 2]), StaticsError> {
    check_held(model, inputs)?;
    let settings = StaticsSettings::default();
    let search = Search::new(model, inputs, &settings);
    let mut state = state.clone();
    search.place(&mut state, work, 1.0);
    search.is_stable_and_unique(&state, work)?;
    search.place(&mut state, work, 1.0);
    work.ahead.copy_from_slice(&state.coordinates);
    Ok((search.solve(&state, work, 0.0, 1.0), search.augment))
}

/// Every free base must be tied to the world, by joints of what it carries or by a pull.
pub(super) fn check_held(model: &Constants, inputs: &Inputs) -> Result<(), StaticsError> {
    // Sets of connected nodes; the world is one more.
    let world = model.nodes.len();
    let mut set: Vec<usize> = (0..=world).collect();
    fn find(set: &mut [usize], mut n: usize) -> usize {
        while set[n] != n {
            set[n] = set[set[n]];
            n = set[n];
        }
        n
    }
    let joints = model.joints.iter().map(|j| (j.child.unwrap_or(world), j.parent.unwrap_or(world)));
    let pulls = inputs.springs.iter().filter_map(|p| Some((model.frame_in_node(p.body, p.frame)?.0, world)));
    for (a, b) in joints.chain(pulls) {
        let (a, b) = (find(&mut set, a), find(&mut set, b));
        set[a] = b;
    }
    let held = |n: usize, set: &mut [usize]| find(set, n) == find(set, world);
    match (0..world).find(|&n| !held(n, &mut set)) {
        Some(n) => Err(StaticsError::FreeBase { body: model.mechanism[model.nodes[n].head].name.clone() }),
        None => Ok(()),
    }
}
