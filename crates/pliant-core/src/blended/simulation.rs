//! A running simulation: a model, its inputs and its motion, with the engine's workspace.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector6};

use super::evaluation::Moving;
use super::model::{Constants, Model};
use super::options::{Force, Links, Options};
use super::tree::Tree;
use crate::engine::touch::Internal;
use crate::engine::{
    self, Equilibrium, InputError, Inputs, Simulation as _, SpringId, State, StaticsError, StaticsSettings,
    StepError, Unsupported,
};
use crate::live;
use crate::mechanism::{EffectorId, Mechanism, UnknownHandle};
use crate::reduced::{Shifts, felt};
use crate::spatial::{Pose, Twist, Wrench};

/// Marks what this engine keeps in [`State::private`]: the base's twist, of each group how much stiffer it is than its
/// compliance, and of each effector rotation, position and twist. With forces from the live engine it is what that one keeps.
const STAMP: f64 = 0.391_827_364_550_918_3;

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) options: Options,
    pub(super) inputs: Inputs,
    pub(super) groups: Vec<Moving>,
    pub(super) trees: Vec<Tree>,
    /// Of each group that another carries, the frame of what does, in the base, as the anchors have it.
    pub(super) seats: Vec<Option<Pose>>,
    pub(super) base: Pose,
    /// World axes, at the base's origin.
    pub(super) base_twist: Twist,
    pub(super) time: f64,
    pub(super) steps: u64,
    /// Whether the groups are evaluated where they are.
    pub(super) evaluated: bool,
    /// Whether the loads of the groups are those of statics, which are put on in parts; and the part now.
    pub(super) settling: bool,
    pub(super) part: f64,
    /// Whether the state tells where the simulation is.
    pub(super) filled: bool,
    /// Loads off the effectors at each sample, and whether they may have changed.
    shifts: Vec<Shifts>,
    inputs_changed: bool,
    /// Whether the mover may not have all inputs yet but the loads on effectors.
    mover_behind: bool,
    shifted: bool,
    /// Whether they change as seats turn.
    turning: bool,
    accelerated: Twist,
    /// What moves with forces from the live engine.
    pub(super) mover: live::Simulation,
    /// The live engine at poses of the blend, and for each of its joint coordinates the group and the place there.
    pub(super) follower: live::Simulation,
    places: Vec<(usize, usize)>,
    /// The group of each coordinate of the mechanism, those of loop joints too.
    group_of: Vec<usize>,
    theta: Vec<f64>,
    rates: Vec<f64>,
    /// Loads that hold the effectors where they are.
    holding: Vec<Wrench>,
    pub(super) state: State,
}

/// A shift below this, in radii or rad, is what the statics of a sample leave over.
const NO_SHIFT: f64 = 1e-7;

impl Model {
    /// A simulation that starts at the first sample, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &*self.constants;
        let mechanism = &constants.mechanism;
        let mut places = vec![(usize::MAX, 0); mechanism.coordinate_count()];
        for (g, group) in constants.groups.iter().enumerate() {
            group.layout.coordinates.iter().enumerate().for_each(|(at, &q)| places[q] = (g, at));
        }
        let places: Vec<(usize, usize)> = constants.live.tree_coordinates().map(|q| places[q]).collect();
        let mut group_of = vec![0; mechanism.coordinate_count()];
        for joint in mechanism.joints() {
            let ends = [Some(joint.child), joint.parent];
            let node = ends.into_iter().flatten().find_map(|body| mechanism.order().node_of(body));
            if let Some(n) = node {
                let own = joint.coordinates();
                group_of[own].fill(constants.place_of_node[n].0);
            }
        }
        let mut simulation = Simulation {
            model: self.constants.clone(),
            options: constants.options,
            inputs: Inputs::new(mechanism),
            groups: constants.groups.iter().map(Moving::new).collect(),
            trees: Tree::all(&constants.groups),
            seats: vec![None; constants.groups.len()],
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            time: 0.0,
            steps: 0,
            evaluated: false,
            settling: false,
            part: 1.0,
            filled: false,
            shifts: constants.samples.iter().map(|s| s.model.constants.shifts()).collect(),
            inputs_changed: true,
            mover_behind: true,
            shifted: false,
            turning: false,
            accelerated: Twist::ZERO,
            mover: constants.live.simulate(),
            follower: constants.live.simulate(),
            theta: vec![0.0; places.len()],
            rates: vec![0.0; places.len()],
            places,
            group_of,
            holding: vec![Wrench::ZERO; mechanism.effectors().len()],
            state: State::at_rest(mechanism),
        };
        // A load that nothing holds is an error of the first step.
        let _ = simulation.evaluate(&Twist::ZERO, false);
        simulation.hand_over();
        simulation
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// How samples are blended.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Changes how samples are blended, but not whether they have their geometric stiffness and branches their own. Poses
    /// stay what they are, as near as the blend can come.
    pub fn set_options(&mut self, options: Options) {
        if self.options.force == Force::Live {
            let state = self.state().clone();
            self.take_over(&state);
        }
        self.options = options.in_samples_as(&self.options);
        self.inputs_changed = true;
        self.stale();
        let _ = self.evaluate(&Twist::ZERO, false);
        self.hand_over();
    }

    /// Gives the mover all inputs, or the loads on effectors if nothing else can have changed.
    pub(super) fn inform_mover(&mut self) {
        let inputs = self.mover.inputs_mut();
        if std::mem::take(&mut self.mover_behind) {
            inputs.copy_from(&self.inputs);
            inputs.copy_springs(&self.inputs);
        } else {
            inputs.set_effector_loads(&self.inputs.effector_loads);
        }
    }

    /// Puts the live engine where the blend is.
    pub(super) fn hand_over(&mut self) {
        self.put_follower();
        self.inform_mover();
        self.mover.hint(nearest(&self.model, &self.groups, &self.group_of));
        self.mover.put(&self.base, &self.base_twist, &self.theta, &self.rates);
        self.filled = false;
    }

    /// Puts effectors where a state has them.
    pub(super) fn take_over(&mut self, state: &State) {
        let model = self.model.clone();
        for (g, moving) in self.groups.iter_mut().enumerate() {
            let (base, base_twist) = match model.groups[g].carrier {
                Some((carrier, k)) => {
                    let body = model.effectors[model.groups[carrier].layout.effectors[k]].body;
                    (state.poses[body.index()], state.twists[body.index()])
                }
                None => {
                    let r = self.base.rotation.inverse();
                    let Twist { linear, angular } = self.base_twist;
                    (state.base, Twist { linear: r * linear, angular: r * angular })
                }
            };
            for (k, &e) in model.groups[g].layout.effectors.iter().enumerate() {
                let effector = &model.effectors[e];
                let pose = state.poses[effector.body.index()] * effector.frame;
                moving.anchors[k] = base.inverse_times(&pose);
                let twist = effector.frame.twist_to_local(&state.twists[effector.body.index()]);
                moving.twists[k] = twist - moving.anchors[k].twist_to_local(&base_twist);
            }
        }
        self.evaluated = false;
    }

    /// Sets the scene's targets at the end of a step of h seconds.
    pub(super) fn follow_targets(&mut self, h: f64) {
        if self.inputs.follows_targets() {
            let time = self.time + h;
            self.inputs_mut().follow_targets(time);
        }
    }

    fn stale(&mut self) {
        (self.evaluated, self.filled) = (false, false);
    }

    /// The samples that count for an effector now, with their weights.
    pub fn weights(&mut self, effector: EffectorId) -> Result<&[(usize, f64)], UnknownHandle> {
        self.model.mechanism.effector(effector)?;
        if self.options.force == Force::Live {
            let state = self.state().clone();
            self.take_over(&state);
            let _ = self.evaluate(&Twist::ZERO, false);
        }
        let of = |g: &usize| {
            let effectors = &self.model.groups[*g].layout.effectors;
            effectors.iter().any(|&e| self.model.effectors[e].id == Some(effector))
        };
        Ok((0..self.groups.len()).find(of).map_or(&[], |g| &self.groups[g].weights.of))
    }

    /// Blends at the present poses of the effectors, under loads that hold them there or that are given, and puts the
    /// links there.
    pub(super) fn evaluate(&mut self, acceleration: &Twist, given_loads: bool) -> Result<(), StepError> {
        self.shift(acceleration)?;
        if self.evaluated {
            return Ok(());
        }
        self.set_seats();
        if self.turning {
            self.update_shifts(acceleration)?;
        }
        // What a segment passes on is a load of what carries it: those that others carry come first.
        for g in (0..self.groups.len()).rev() {
            if !given_loads || self.settling {
                self.gather(g);
            }
            let moving = &mut self.groups[g];
            if given_loads && self.settling {
                moving.load.copy_from_slice(&moving.outside);
            }
            let shifts = self.shifted.then_some(&self.shifts[..]);
            moving.blend(&self.model, g, &self.options, shifts, given_loads);
        }
        if given_loads {
            self.correct();
        }
        for g in 0..self.groups.len() {
            if self.groups[g].theta.iter().any(|x| !x.is_finite()) {
                return Err(self.broken(g));
            }
            let base = self.model.groups[g].carrier.map_or(self.base, |(carrier, k)| {
                self.groups[carrier].links.pose(self.model.groups[carrier].layout.places[k].0)
            });
            self.groups[g].place(&self.model, g, &self.options, &base);
        }
        self.evaluated = true;
        Ok(())
    }

    /// Sets the seats by the anchors.
    pub(super) fn set_seats(&mut self) {
        for (g, group) in self.model.groups.iter().enumerate() {
            self.seats[g] = group.carrier.map(|(carrier, k)| {
                let anchor = self.groups[carrier].anchors[k];
                self.seats[carrier].map_or(anchor, |seat| seat * anchor)
            });
        }
    }

    /// The axes of a group's loads, in the world.
    pub(super) fn axes(&self, g: usize) -> UnitQuaternion<f64> {
        self.seats[g].map_or(self.base.rotation, |seat| self.base.rotation * seat.rotation)
    }

    /// What group g passes on to an effector k of the one that carries it, under loads on its effectors, in the axes of
    /// that one's loads.
    fn passed_on(&self, g: usize, carrier: (usize, usize), loads: &[f64]) -> Wrench {
        let at_base = felt(&self.inputs.gravity, &self.accelerated, &self.inputs.base);
        let a = self.seats[g].map_or(at_base, |seat| seat.twist_to_local(&at_base));
        let w = self.groups[g].passed_on(loads, &a, self.model.radius);
        let turn = self.groups[carrier.0].anchors[carrier.1].rotation;
        Wrench { force: turn * w.force, torque: turn * w.torque }
    }

    /// Sets `outside` to the loads that act on the effectors of a group, or in statics to a part of the way there.
    pub(super) fn gather(&mut self, g: usize) {
        let (model, turn) = (self.model.clone(), self.axes(g).inverse());
        let moving = &mut self.groups[g];
        for (to, &e) in moving.outside.chunks_exact_mut(6).zip(&model.groups[g].layout.effectors) {
            let w = model.effectors[e].id.map_or(Wrench::ZERO, |id| self.inputs.effector_loads[id.index()]);
            to[..3].copy_from_slice((turn * w.force * model.radius).as_slice());
            to[3..].copy_from_slice((turn * w.torque).as_slice());
        }
        for child in g + 1..self.groups.len() {
            let Some(carrier) = model.groups[child].carrier.filter(|(carrier, _)| *carrier == g) else {
                continue;
            };
            let w = self.passed_on(child, carrier, &self.groups[child].outside);
            let to = &mut self.groups[g].outside[6 * carrier.1..][..6];
            (0..3).for_each(|i| to[i] += w.force[i] * model.radius);
            (0..3).for_each(|i| to[3 + i] += w.torque[i]);
        }
        let (part, moving) = (self.part, &mut self.groups[g]);
        if part != 1.0 {
            for (f, s) in moving.outside.iter_mut().zip(&moving.start) {
                *f = s + part * (*f - s);
            }
        }
    }

    /// Condenses loads off the effectors at all samples, if they may have changed.
    fn shift(&mut self, acceleration: &Twist) -> Result<(), StepError> {
        let turned = self.base.rotation != self.inputs.base.rotation;
        if !(self.inputs_changed || turned || *acceleration != self.accelerated) {
            return Ok(());
        }
        self.evaluated = false;
        self.accelerated = *acceleration;
        self.set_seats();
        let apart = self.seats.iter().any(Option::is_some);
        if self.options.links == Links::Joint && !apart && self.is_as_sampled(acceleration) {
            (self.turning, self.shifted, self.inputs_changed) = (false, false, false);
            self.follower.inputs_mut().copy_from(&self.inputs);
            return Ok(());
        }
        self.update_shifts(acceleration)?;
        let shifts = self.shifts.iter().flat_map(|shifts| &shifts.of).flat_map(|shift| &shift.coordinates);
        let size = |most: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) };
        let felt = felt(&self.inputs.gravity, acceleration, &self.inputs.base);
        let loaded = felt != Twist::ZERO || self.inputs.body_loads.iter().any(|load| *load != Wrench::ZERO);
        self.turning = loaded && self.seats.iter().any(Option::is_some);
        self.shifted = self.turning || shifts.fold(0.0, size) > NO_SHIFT;
        self.follower.inputs_mut().copy_from(&self.inputs);
        self.inputs_changed = false;
        Ok(())
    }

    /// Condenses loads off the effectors at all samples, on the present seats.
    fn update_shifts(&mut self, acceleration: &Twist) -> Result<(), StepError> {
        for (sample, shifts) in self.model.samples.iter().zip(&mut self.shifts) {
            shifts.update(&sample.model.constants, &self.inputs, acceleration, &self.seats).map_err(
                |joint| {
                    let joint = &self.model.mechanism[joint];
                    StepError::NotFinite {
                        step: self.steps + 1,
                        body: self.model.mechanism[joint.child].name.clone(),
                        cause: format!("a load acts along joint `{}`, which has no spring there", joint.name),
                    }
                },
            )?;
        }
        if self.options.links == Links::Twist {
            for (g, moving) in self.groups.iter_mut().enumerate() {
                for (i, offsets) in moving.twist_offsets.iter_mut().enumerate() {
                    self.model.groups[g].twists[i].set_offsets(offsets, &self.shifts[i].of[g].nodes);
                }
            }
        }
        Ok(())
    }

    /// Whether all inputs but the loads on effectors are those that the samples were made with: then nothing shifts.
    fn is_as_sampled(&self, acceleration: &Twist) -> bool {
        let (mechanism, inputs) = (&self.model.mechanism, &self.inputs);
        let rests = mechanism.joints().iter().flat_map(|joint| &joint.freedoms).map(|f| f.rest);
        *acceleration == Twist::ZERO
            && inputs.base.rotation == UnitQuaternion::identity()
            && inputs.gravity == mechanism.gravity()
            && inputs.body_loads.iter().all(|load| *load == Wrench::ZERO)
            && inputs.rest.iter().copied().eq(rests)
    }

    /// One Gauss–Newton step of the live engine from the pose of the blend, under the loads that hold it: how far it
    /// moves the links, over the radius.
    pub(super) fn relax(&mut self) -> f64 {
        let model = self.model.clone();
        for (g, moving) in self.groups.iter().enumerate() {
            let turn = self.axes(g);
            for (k, &e) in model.groups[g].layout.effectors.iter().enumerate() {
                let w = &moving.load[6 * k..6 * k + 6];
                let force = Vector3::new(w[0], w[1], w[2]) / model.radius;
                let mut load = Wrench { force, torque: Vector3::new(w[3], w[4], w[5]) };
                if model.effectors[e].id.is_none() {
                    // What holds a body that carries segments, beside what these pass on.
                    for (child, group) in model.groups.iter().enumerate() {
                        if group.carrier == Some((g, k)) {
                            load = load - self.passed_on(child, (g, k), &self.groups[child].load);
                        }
                    }
                }
                let load = Wrench { force: turn * load.force, torque: turn * load.torque };
                match model.effectors[e].id {
                    Some(id) => self.holding[id.index()] = load,
                    None => {
                        let body = model.effectors[e].body.index();
                        let inputs = self.follower.inputs_mut();
                        inputs.body_loads[body] = self.inputs.body_loads[body] + load;
                    }
                }
            }
        }
        for (theta, &(g, at)) in self.theta.iter_mut().zip(&self.places) {
            *theta = self.groups[g].theta[at];
        }
        self.rates.fill(0.0);
        self.follower.inputs_mut().set_effector_loads(&self.holding);
        self.follower.hint(nearest(&self.model, &self.groups, &self.group_of));
        self.follower.put(&self.base, &Twist::ZERO, &self.theta, &self.rates);
        self.follower.estimate().expect("the live engine has one")
    }

    /// θ of that step instead of the blend's, if there is one.
    fn correct(&mut self) {
        if self.relax().is_finite() {
            for (x, &(g, at)) in self.follower.relaxed().iter().zip(&self.places) {
                self.groups[g].theta[at] = *x;
            }
        }
    }

    /// One step with forces from the live engine.
    pub(super) fn step_live(&mut self, h: f64) -> Result<(), StepError> {
        self.inform_mover();
        self.mover.step(h)?;
        self.moved(h);
        Ok(())
    }

    /// After a step of the mover.
    pub(super) fn moved(&mut self, h: f64) {
        (self.base, self.base_twist) = (self.inputs.base, self.inputs.base_twist);
        self.time += h;
        self.steps += 1;
        self.stale();
    }

    /// Puts the follower where the links are, moving as they move.
    fn put_follower(&mut self) {
        for (g, moving) in self.groups.iter_mut().enumerate() {
            moving.set_joint_rates(&self.model.groups[g], self.model.radius);
        }
        for (i, &(g, at)) in self.places.iter().enumerate() {
            (self.theta[i], self.rates[i]) = (self.groups[g].theta[at], self.groups[g].joint_rates[at]);
        }
        self.follower.hint(nearest(&self.model, &self.groups, &self.group_of));
        self.follower.put(&self.base, &self.base_twist, &self.theta, &self.rates);
    }

    fn fill(&mut self) {
        if self.options.force == Force::Live {
            self.inform_mover();
            self.state.clone_from(self.mover.state());
            (self.state.time, self.state.steps) = (self.time, self.steps);
            return;
        }
        let _ = self.evaluate(&self.accelerated.clone(), false);
        self.put_follower();
        self.follower.inputs_mut().copy_from(&self.inputs);
        self.state.clone_from(self.follower.state());
        (self.state.time, self.state.steps) = (self.time, self.steps);
        if self.options.links == Links::Twist {
            for b in 0..self.state.poses.len() {
                self.state.poses[b] = self.link_pose(b);
            }
        }
        let numbers = &mut self.state.private;
        numbers.clear();
        numbers.push(STAMP);
        numbers.extend_from_slice(self.base_twist.to_vector().as_slice());
        for moving in &self.groups {
            numbers.push(moving.stiffer);
            for (pose, twist) in moving.anchors.iter().zip(&moving.twists) {
                numbers.extend_from_slice(pose.rotation.coords.as_slice());
                numbers.extend_from_slice(pose.position.as_slice());
                numbers.extend_from_slice(twist.to_vector().as_slice());
            }
        }
    }

    /// The link frame of a body, by its position in the mechanism.
    pub(super) fn link_pose(&self, body: usize) -> Pose {
        if self.options.force == Force::Live {
            return self.mover.body_pose(body);
        }
        let (order, body) = (self.model.mechanism.order(), self.model.mechanism.body_id(body));
        let outer = match order.node_of(body) {
            None => self.base,
            Some(n) => {
                let (g, link) = self.model.place_of_node[n];
                self.groups[g].links.pose(link)
            }
        };
        outer * order.offset_of(body)
    }
}

impl engine::Simulation for Simulation {
    fn engine(&self) -> &'static str {
        "blended"
    }

    fn mechanism(&self) -> &Mechanism {
        &self.model.mechanism
    }

    fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    fn inputs_mut(&mut self) -> &mut Inputs {
        (self.inputs_changed, self.mover_behind) = (true, true);
        self.stale();
        &mut self.inputs
    }

    fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        self.inputs.set_load(effector, load)
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn capped_steps(&self) -> u64 {
        self.mover.capped_steps()
    }

    fn largest_turn(&self) -> f64 {
        self.mover.largest_turn()
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.follow_targets(dt);
        self.advance(dt)
    }

    /// Twists are those of the joints; links by their own poses are where the blend has them.
    fn state(&mut self) -> &State {
        if !self.filled {
            self.fill();
            self.filled = true;
        }
        &self.state
    }

    /// Of a state of another engine, poses and twists of the effectors count, or the joints with forces from the live
    /// engine.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(&self.model.mechanism)?;
        (self.time, self.steps) = (state.time, state.steps);
        (self.inputs_changed, self.mover_behind) = (true, true);
        self.stale();
        if self.options.force == Force::Live {
            self.mover.set_state(state)?;
            let twist = self.mover.inputs().base_twist;
            self.inputs.set_base(state.base, twist)?;
            (self.base, self.base_twist) = (state.base, twist);
            return Ok(());
        }
        let effectors: usize = self.groups.iter().map(|g| g.anchors.len()).sum();
        let own = state.private.len() == 7 + self.groups.len() + 13 * effectors && state.private[0] == STAMP;
        let twist_at =
            |at: usize| Twist::from_vector(&Vector6::from_column_slice(&state.private[at..at + 6]));
        let twist = if own { twist_at(1) } else { Twist::ZERO };
        self.inputs.set_base(state.base, twist)?;
        (self.base, self.base_twist) = (state.base, twist);
        if own {
            let mut at = 7;
            for moving in &mut self.groups {
                moving.stiffer = state.private[at];
                at += 1;
                for (anchor, twist) in moving.anchors.iter_mut().zip(&mut moving.twists) {
                    let [x, y, z, w] = [0, 1, 2, 3].map(|i| state.private[at + i]);
                    anchor.rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
                    anchor.position = Vector3::from_column_slice(&state.private[at + 4..at + 7]);
                    *twist = twist_at(at + 7);
                    at += 13;
                }
            }
        } else {
            self.take_over(state);
        }
        let _ = self.evaluate(&Twist::ZERO, false);
        Ok(())
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs_mut().teleport_base(motion)?;
        self.mover.teleport(motion)?;
        self.base = *motion * self.base;
        self.base_twist = self.base_twist.turned(&motion.rotation);
        let _ = self.evaluate(&Twist::ZERO, false);
        Ok(())
    }

    fn settle(&mut self, _: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        self.find_rest().map_err(|error| StaticsError::Failed(error.to_string()))
    }

    /// In motion, the distance is that of effectors that the blend's own force holds; with forces from the live engine, it
    /// is that engine's.
    fn estimate(&mut self) -> Result<f64, Unsupported> {
        if self.options.force == Force::Live {
            self.inform_mover();
            return self.mover.estimate();
        }
        Ok(match self.evaluate(&self.accelerated.clone(), false) {
            Ok(()) => self.relax(),
            Err(_) => f64::INFINITY,
        })
    }

    fn spring_force(&mut self, id: SpringId) -> Result<Wrench, UnknownHandle> {
        let spring = *self.inputs.spring(id)?;
        Ok(self.force_of(&spring))
    }
}

/// Coordinates of the nearest sample, of each group its own: joints that close loops have turned about as far as there,
/// whichever way the search for rest has come.
fn nearest<'a>(
    model: &'a Constants,
    groups: &'a [Moving],
    group_of: &'a [usize],
) -> impl Fn(usize) -> f64 + 'a {
    move |q| {
        let nearest = groups.get(group_of[q]).and_then(|moving| moving.weights.of.first());
        model.samples[nearest.map_or(0, |(sample, _)| *sample)].state().coordinates[q]
    }
}
