//! A running simulation: a model, its inputs and its motion, with the engine's workspace.

use std::sync::Arc;

use nalgebra::Vector3;

use super::contact::Responses;
use super::manifold::Closed;
use super::model::{Constants, Model};
use super::momentum::Carried;
use super::motion::Motion;
use super::springs::Springs;
use super::step::{self, Workspace};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, State, StaticsError, StaticsSettings, StepError, Unsupported,
    Warning,
};
use crate::full::estimate_by_full;
use crate::spatial::{Pose, Twist};

/// Marks what this engine keeps in [`State::private`].
const STAMP: f64 = 0.381_966_011_250_105_1;

/// A running simulation of few motions.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) inputs: Inputs,
    pub(super) springs: Springs,
    pub(super) motion: Motion,
    pub(super) work: Workspace,
    pub(super) responses: Responses,
    pub(super) state: State,
    /// Whether the state is that of the motion.
    pub(super) filled: bool,
}

impl Model {
    /// A simulation that starts where the mechanism does, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let model = &self.constants;
        let inputs = Inputs::new(&model.tree.mechanism);
        let springs = Springs::new(model, &inputs);
        let motion = Motion::new(model, &springs.now);
        Simulation {
            model: model.clone(),
            work: Workspace::new(model, &motion),
            responses: Responses::default(),
            state: State::at_rest(&model.tree.mechanism),
            inputs,
            springs,
            motion,
            filled: false,
        }
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// Solves a step without taking it.
    pub(super) fn solve(&mut self, dt: f64) -> Result<(), StepError> {
        self.inputs.begin(&self.model.tree.mechanism, self.motion.time + dt)?;
        self.springs.take(&self.model, &self.inputs);
        if !self.inputs.governed.is_empty() {
            self.work.state.friction.copy_from_slice(&self.state.friction);
        }
        step::solve(&self.model, &mut self.springs, &self.inputs, dt, &mut self.motion, &mut self.work)
    }

    /// Takes the step that was made.
    pub(super) fn take_step(&mut self) {
        std::mem::swap(&mut self.motion, &mut self.work.next);
        self.springs.end();
        self.work.pieces.store_friction(&self.inputs, &mut self.state);
        self.filled = false;
    }

    pub(super) fn fill(&mut self) {
        self.motion.forget_lead(&self.model);
        let (model, motion, state) = (&self.model, &self.motion, &mut self.state);
        let tree = &model.tree;
        (state.time, state.steps, state.base) = (motion.time, motion.steps, motion.places.base);
        for b in 0..state.poses.len() {
            let (node, offset) = tree.place(tree.mechanism.body_id(b));
            let (outer, twist) = match node {
                None => {
                    let pose = motion.places.base;
                    (pose, motion.base_twist.turned(&pose.rotation.inverse()))
                }
                Some(n) => (motion.places.pose(n), carried_twist(model, motion, n)),
            };
            state.poses[b] = outer * offset;
            state.twists[b] = offset.twist_to_local(&twist);
        }
        for (at, i) in model.freedom_of.iter().enumerate() {
            let Some(i) = *i else { continue };
            let (q, mut rate) = (motion.coordinate(model, i), motion.rate(model, i));
            // Those that the step ended with, which rotors carry on.
            if let (true, Some(rolled)) = (model.closures.curved, motion.closed.rolled.get(i)) {
                rate = *rolled;
            }
            let law = &self.inputs.laws[at];
            let beyond = (q - law.upper).max(0.0) + (q - law.lower).min(0.0);
            let motor = law.stiffness * (self.inputs.rest[at] - q) - law.damping * rate;
            let force = motor.clamp(-law.torque_limit, law.torque_limit) - law.limit * beyond;
            state.coordinates[at] = q;
            state.rates[at] = rate;
            // A set-point that no step was taken with yet may be any number.
            state.forces[at] = force.clamp(-f64::MAX, f64::MAX);
        }
        if model.closures.curved {
            state.multipliers.fill(0.0);
            // λ balances torques; the state has the forces along the rows.
            model.closures.multipliers(&motion.closed.lambda, &mut state.multipliers);
            state.multipliers.iter_mut().for_each(|x| *x = -*x);
        }
        let private = &mut state.private;
        private.clear();
        private.push(STAMP);
        private.extend_from_slice(motion.base_twist.to_vector().as_slice());
        private.extend_from_slice(&motion.y);
        private.extend_from_slice(&motion.rates);
        private.extend_from_slice(&motion.owed);
        private.push(f64::from(motion.stale));
        private.extend_from_slice(&self.springs.now.all);
        private.extend_from_slice(self.springs.moved());
        for carried in &motion.carried {
            let lists = carried.velocity.iter().chain(&carried.angular);
            lists.for_each(|x| private.extend_from_slice(&x.0));
        }
        let Closed { s, at, rolled, loop_rolled, lambda, .. } = &motion.closed;
        [s, &at.q, rolled, loop_rolled, lambda].iter().for_each(|list| private.extend_from_slice(list));
        if model.closures.curved {
            // Those that the next step projects again, and absurd ones, are not saved.
            let Springs { K, D, version, .. } = &self.springs;
            let trace = self.springs.trace(&self.inputs);
            let finite = trace.is_finite() && K.iter().chain(D).all(|x| x.is_finite());
            let saved = finite && self.work.made.springs == *version;
            private.push(if saved { trace } else { -1.0 });
            private.extend(K.iter().chain(D).map(|x| if saved { *x } else { 0.0 }));
        }
        for pose in &motion.places.floats {
            private.extend_from_slice(pose.rotation.coords.as_slice());
            private.extend_from_slice(pose.position.as_slice());
        }
        self.work.save(private);
    }

    /// How long the private part of a state is.
    fn private_length(&self) -> usize {
        let (tree, stride) = (&self.model.tree, self.model.basis.stride);
        let moving =
            3 * stride + 1 + 2 * tree.freedoms.len() + 24 * tree.joints.len() + 7 * tree.floats.len();
        let Closed { s, at, rolled, loop_rolled, lambda, .. } = &self.motion.closed;
        let closing: usize = [s, &at.q, rolled, loop_rolled, lambda].iter().map(|list| list.len()).sum();
        let springs = if self.model.closures.curved { 1 + 2 * stride * stride } else { 0 };
        7 + moving + closing + springs + self.work.saved_length()
    }

    /// Takes a state of this engine to the last bit.
    fn restore(&mut self, state: &State) {
        let mut taken = 7;
        let mut next = |n: usize| {
            taken += n;
            &state.private[taken - n..taken]
        };
        let (tree, stride) = (&self.model.tree, self.model.basis.stride);
        let motion = &mut self.motion;
        motion.y.copy_from_slice(next(stride));
        motion.rates.copy_from_slice(next(stride));
        motion.owed.copy_from_slice(next(stride));
        motion.stale = next(1)[0] != 0.0;
        let (now, moved) = (next(tree.freedoms.len()), next(tree.freedoms.len()));
        self.springs.restore(tree, now, moved);
        for carried in &mut motion.carried {
            let lists = carried.velocity.iter_mut().chain(&mut carried.angular);
            lists.for_each(|x| x.0.copy_from_slice(next(4)));
        }
        let Closed { s, at, rolled, loop_rolled, lambda, .. } = &mut motion.closed;
        for list in [s, &mut at.q, rolled, loop_rolled, lambda] {
            let own = next(list.len());
            list.copy_from_slice(own);
        }
        if self.model.closures.curved {
            // Of other springs than those now, they are projected again.
            let same = next(1)[0] == self.springs.trace(&self.inputs);
            self.springs.K.copy_from_slice(next(stride * stride));
            self.springs.D.copy_from_slice(next(stride * stride));
            self.work.made.springs = if same { self.springs.version } else { u64::MAX };
        }
        for pose in &mut motion.places.floats {
            let q = next(7);
            let rotation = nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]);
            pose.rotation = nalgebra::UnitQuaternion::new_unchecked(rotation);
            pose.position = Vector3::new(q[4], q[5], q[6]);
        }
        self.work.restore(next(self.work.saved_length()));
    }

    /// Takes what the motions can have of the state of another engine: the nearest, in the metric of the springs.
    fn approach(&mut self, state: &State) {
        let model = &self.model;
        let (tree, base) = (&model.tree, 6 * model.tree.floats.len());
        self.springs.rest();
        let motion = &mut self.motion;
        motion.y.fill(0.0);
        motion.rates.fill(0.0);
        motion.owed.fill(0.0);
        if model.closures.curved {
            let closed = &mut motion.closed;
            closed.s.fill(0.0);
            closed.lambda.fill(0.0);
            for (i, freedom) in tree.freedoms.iter().enumerate() {
                closed.rolled[i] = freedom.coordinate.map_or(0.0, |at| state.rates[at]);
            }
            for (l, freedom) in model.closures.freedoms.iter().enumerate() {
                closed.at.q[l] = state.coordinates[freedom.coordinate];
                closed.loop_rolled[l] = state.rates[freedom.coordinate];
            }
        }
        let joints = tree.freedoms.iter().enumerate().filter_map(|(i, f)| Some((i, f.coordinate?)));
        for (j, (i, at)) in joints.enumerate() {
            let away = state.coordinates[at] - self.springs.now.all[i];
            for k in 0..model.projector.nrows() {
                motion.y[base + k] += model.projector[(k, j)] * away;
                motion.rates[base + k] += model.projector[(k, j)] * state.rates[at];
            }
        }
        for (f, &n) in tree.floats.iter().enumerate() {
            let head = tree.links[n].head.index();
            motion.places.floats[f] = state.poses[head];
            let twist = state.world_twist_at(head);
            let arm = motion.places.floats[0].position - state.poses[head].position;
            let at_point = Twist::new(twist.linear + twist.angular.cross(&arm), twist.angular);
            motion.rates[6 * f..6 * f + 6].copy_from_slice(at_point.to_vector().as_slice());
        }
    }

    /// Momenta of the twists of a state.
    fn take_momenta(&mut self, state: &State) {
        let tree = &self.model.tree;
        for (n, link) in tree.links.iter().enumerate() {
            let (twist, node) = (&state.twists[link.head.index()], &tree.mechanism.order().nodes()[n]);
            let R = self.motion.places.pose(n).rotation;
            let velocity = R * (twist.linear + twist.angular.cross(&node.inertia.center_of_mass));
            let L = R * (node.inertia.inertia * twist.angular);
            let Carried { velocity: v, angular, .. } = &mut self.motion.carried[n / 4];
            for i in 0..3 {
                (v[i][n % 4], angular[i][n % 4]) = (velocity[i], L[i]);
            }
        }
    }
}

/// The body twist with which a link has the momentum that it carries.
pub(super) fn carried_twist(model: &Constants, motion: &Motion, n: usize) -> Twist {
    let (carried, node) = (&motion.carried[n / 4], &model.tree.mechanism.order().nodes()[n]);
    let of = |x: &[crate::algebra::lanes::Lanes; 3]| Vector3::new(x[0][n % 4], x[1][n % 4], x[2][n % 4]);
    let back = motion.places.pose(n).rotation.inverse();
    let S = model.tree.weights[n / 4].inverse.map(|x| x[n % 4]);
    let inverse = nalgebra::Matrix3::new(S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]);
    let angular = inverse * (back * of(&carried.angular));
    let linear = back * of(&carried.velocity) + node.inertia.center_of_mass.cross(&angular);
    Twist { linear, angular }
}

impl engine::Simulation for Simulation {
    fn inputs_mut(&mut self) -> &mut Inputs {
        self.filled = false; // forces of springs depend on their rests
        &mut self.inputs
    }

    fn time(&self) -> f64 {
        self.motion.time
    }

    fn steps(&self) -> u64 {
        self.motion.steps
    }

    fn largest_turn(&self) -> f64 {
        self.work.floating.largest_turn
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.solve(dt)?;
        step::spin_end(&self.model, &self.springs, &self.motion, &mut self.work);
        step::advance(&self.model, &self.springs, &self.inputs, dt, &self.motion, &mut self.work)?;
        self.take_step();
        Ok(())
    }

    /// Of a state of another engine, what the motions can have of it.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        let model = self.model.clone();
        state.check(&model.tree.mechanism)?;
        let own = state.private.len() == self.private_length() && state.private[0] == STAMP;
        let twist = if own {
            Twist::from_vector(&nalgebra::Vector6::from_column_slice(&state.private[1..7]))
        } else {
            Twist::ZERO
        };
        self.inputs.set_base(state.base, twist)?;
        self.springs.take(&model, &self.inputs);
        self.state.friction.copy_from_slice(&state.friction);
        self.inputs.bound_friction(&mut self.state);
        (self.motion.time, self.motion.steps, self.motion.base_twist) = (state.time, state.steps, twist);
        self.motion.places.base = state.base;
        if own {
            self.restore(state);
        } else {
            self.approach(state);
        }
        self.motion.place(&model, &self.springs.now);
        if !own {
            self.take_momenta(state);
            self.work.forget();
        }
        self.filled = false;
        Ok(())
    }

    fn warnings(&self) -> Vec<Warning> {
        let turning = Warning::of_turning(self.largest_turn());
        turning.into_iter().chain(Warning::of_unsolved_friction(self.work.pieces.worst())).collect()
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs.teleport_base(motion)?;
        let state = self.state().clone();
        self.motion.places.base = *motion * self.motion.places.base;
        self.motion.base_twist = self.motion.base_twist.turned(&motion.rotation);
        for pose in &mut self.motion.places.floats {
            *pose = *motion * *pose;
        }
        for f in 0..self.motion.places.floats.len() {
            let own = &mut self.motion.rates[6 * f..6 * f + 6];
            let twist = Twist::from_vector(&nalgebra::Vector6::from_column_slice(own));
            own.copy_from_slice(twist.turned(&motion.rotation).to_vector().as_slice());
        }
        self.motion.place(&self.model, &self.springs.now);
        self.take_momenta(&state);
        self.work.forget();
        self.filled = false;
        Ok(())
    }

    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        self.inputs.check(&self.model.tree.mechanism)?;
        super::statics::settle(self, settings)
    }

    /// One Newton step of the full statics from here. Where nothing holds a free base there is no rest to be off.
    fn estimate(&mut self) -> Result<f64, Unsupported> {
        estimate_by_full(self)
    }
}

crate::engine::touch::internal! {
    name: "reduced",
    mechanism: model.tree.mechanism,
    touch: Some,
    bounded: [state],
    fill: [fill],
    pose: |simulation, body| {
        let (node, offset) = simulation.model.tree.place(simulation.model.tree.mechanism.body_id(body));
        node.map_or(simulation.motion.places.base, |n| simulation.motion.places.pose(n)) * offset
    },
}
