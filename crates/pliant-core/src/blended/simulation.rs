//! A running simulation: a model, its inputs and its motion, with the engine's workspace.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector6};

use super::evaluation::Moving;
use super::model::{Constants, Model};
use super::options::{Links, Options};
use super::tree::Tree;
use crate::engine::{
    self, Equilibrium, FOREIGN, InputError, Inputs, Simulation as _, SpringId, State, StaticsError,
    StaticsSettings, StepError, Unsupported,
};
use crate::linear::{Shifts, felt};
use crate::mechanism::{EffectorId, Joint, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench};

/// Marks what this engine keeps in [`State::private`]: the base's twist, of each group how much stiffer it is than its
/// compliance, of each effector rotation, position and twist, and how much each sample counts that fades in.
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
    /// Whether the groups are evaluated where they are.
    pub(super) evaluated: bool,
    /// The part of the loads that statics have put on; 1 in motion.
    pub(super) part: f64,
    /// How much the last samples count, which were added while it ran; 1 is in full.
    pub(super) fading: Vec<f64>,
    /// How much they counted before the step.
    pub(super) faded: Vec<f64>,
    /// Where a step would take the mechanism's effectors if these counted no more than before.
    pub(super) unfaded: Vec<Pose>,
    /// Whether the state is that of the simulation now.
    pub(super) filled: bool,
    /// Loads off the effectors at each sample, and whether they may have changed.
    pub(super) shifts: Vec<Shifts>,
    pub(super) inputs_changed: bool,
    shifted: bool,
    /// Whether they change as seats turn.
    turning: bool,
    accelerated: Twist,
    pub(super) state: State,
}

/// A shift below this, in radii or rad, is what the statics of a sample leave over.
const NO_SHIFT: f64 = 1e-7;

impl Model {
    /// A simulation that starts at the first sample, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &*self.constants;
        let mechanism = &constants.mechanism;
        let mut simulation = Simulation {
            model: self.constants.clone(),
            options: constants.options,
            inputs: Inputs::new(mechanism),
            groups: constants.groups.iter().map(Moving::new).collect(),
            trees: Tree::all(&constants.groups),
            seats: vec![None; constants.groups.len()],
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            evaluated: false,
            fading: Vec::new(),
            faded: Vec::new(),
            unfaded: vec![Pose::identity(); mechanism.effectors().len()],
            part: 1.0,
            filled: false,
            shifts: constants.samples.iter().map(|s| s.model.constants.shifts()).collect(),
            inputs_changed: true,
            shifted: false,
            turning: false,
            accelerated: Twist::ZERO,
            state: State::at_rest(mechanism),
        };
        // A load that nothing holds is an error of the first step.
        let _ = simulation.evaluate(&Twist::ZERO);
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
        self.options = options.in_samples_as(&self.options);
        self.inputs_changed = true;
        self.stale();
        let _ = self.evaluate(&Twist::ZERO);
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
            let time = self.state.time + h;
            self.inputs_mut().follow_targets(time);
        }
    }

    pub(super) fn stale(&mut self) {
        (self.evaluated, self.filled) = (false, false);
    }

    /// The samples that count for an effector now, with their weights.
    pub fn weights(&mut self, effector: EffectorId) -> Result<&[(usize, f64)], UnknownHandle> {
        self.model.mechanism.effector(effector)?;
        let _ = self.evaluate(&self.accelerated.clone());
        let of = |g: &usize| {
            let effectors = &self.model.groups[*g].layout.effectors;
            effectors.iter().any(|&e| self.model.effectors[e].id == Some(effector))
        };
        Ok((0..self.groups.len()).find(of).map_or(&[], |g| &self.groups[g].weights.of))
    }

    /// Blends at the present poses of the effectors, under loads that hold them there, and puts the links there. On an error they
    /// stay where they were.
    pub(super) fn evaluate(&mut self, acceleration: &Twist) -> Result<(), StepError> {
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
            self.gather(g);
            let shifts = self.shifted.then_some(&self.shifts[..]);
            self.groups[g].blend(&self.model, g, &self.options, &self.fading, shifts);
        }
        let broken = self.groups.iter().position(|moving| !moving.is_finite());
        self.groups.iter_mut().for_each(|moving| moving.keep_coordinates(broken.is_none()));
        if let Some(g) = broken {
            return Err(self.broken(g));
        }
        for g in 0..self.groups.len() {
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
            return Ok(());
        }
        self.update_shifts(acceleration)?;
        let shifts = self.shifts.iter().flat_map(|shifts| &shifts.of).flat_map(|shift| &shift.coordinates);
        let size = |most: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) };
        let felt = felt(&self.inputs.gravity, acceleration, &self.inputs.base);
        let loaded = felt != Twist::ZERO || self.inputs.body_loads.iter().any(|load| *load != Wrench::ZERO);
        self.turning = loaded && self.seats.iter().any(Option::is_some);
        self.shifted = self.turning || shifts.fold(0.0, size) > NO_SHIFT;
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
                        step: self.state.steps + 1,
                        body: self.model.mechanism[joint.child].name.clone(),
                        cause: format!(
                            "a load acts along a freedom of joint `{}` that has no spring",
                            joint.name
                        ),
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

    /// Distance to equilibrium: how far one Newton step of the full statics moves the links, over the radius, under the loads
    /// that hold the effectors where they are.
    pub(super) fn distance(&mut self) -> f64 {
        self.filled = false;
        let mut state = self.state().clone();
        state.rates.fill(0.0);
        state.twists.fill(Twist::ZERO);
        let mut inputs = self.inputs.clone();
        let model = self.model.clone();
        for (g, moving) in self.groups.iter().enumerate() {
            let turn = self.axes(g);
            for (k, &e) in model.groups[g].layout.effectors.iter().enumerate() {
                let w = &moving.load[6 * k..6 * k + 6];
                let force = Vector3::new(w[0], w[1], w[2]) / model.radius;
                let mut load = Wrench { force, torque: Vector3::new(w[3], w[4], w[5]) };
                if model.effectors[e].id.is_none() {
                    // What holds a body that carries segments, next to what these pass on.
                    for (child, group) in model.groups.iter().enumerate() {
                        if group.carrier == Some((g, k)) {
                            load = load - self.passed_on(child, (g, k), &self.groups[child].load);
                        }
                    }
                }
                let load = Wrench { force: turn * load.force, torque: turn * load.torque };
                match model.effectors[e].id {
                    Some(id) => inputs.effector_loads[id.index()] = load,
                    None => {
                        let body = model.effectors[e].body.index();
                        inputs.body_loads[body] = self.inputs.body_loads[body] + load;
                    }
                }
            }
        }
        // Springs to a device are among what holds.
        inputs.clear_springs();
        model.full.distance(&state, &inputs).unwrap_or(f64::INFINITY)
    }

    /// The state: twists are those of the joints; links by their own poses are where the blend has them.
    pub(super) fn fill(&mut self) {
        let _ = self.evaluate(&self.accelerated.clone());
        let model = self.model.clone();
        let (mechanism, order) = (&model.mechanism, model.mechanism.order());
        self.state.base = self.base;
        let base_twist = self.base_twist.turned(&self.base.rotation.inverse());
        for (g, group) in model.groups.iter().enumerate() {
            // Those that carry others come first.
            let carried = group.carrier.map_or(base_twist, |(carrier, k)| {
                self.groups[carrier].link_twists[model.groups[carrier].layout.places[k].0]
            });
            let moving = &mut self.groups[g];
            moving.set_joint_rates(group, model.radius);
            moving.set_link_twists(group, &carried);
            for (at, &q) in group.layout.coordinates.iter().enumerate() {
                (self.state.coordinates[q], self.state.rates[q]) = (moving.theta[at], moving.joint_rates[at]);
            }
        }
        for b in 0..self.state.poses.len() {
            let body = mechanism.body_id(b);
            let twist = order.node_of(body).map_or(base_twist, |n| {
                let (g, link) = model.place_of_node[n];
                self.groups[g].link_twists[link]
            });
            self.state.poses[b] = self.link_pose(b);
            self.state.twists[b] = order.offset_of(body).twist_to_local(&twist);
        }
        for &id in order.loop_joints() {
            self.fill_loop_joint(&mechanism[id]);
        }
        for (q, law) in self.inputs.laws.iter().enumerate() {
            let force = law.stiffness * (self.inputs.rest[q] - self.state.coordinates[q])
                - law.damping * self.state.rates[q];
            // A set-point that no step was taken with yet may be any number.
            self.state.forces[q] = force.clamp(-f64::MAX, f64::MAX);
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
        numbers.extend_from_slice(&self.fading);
    }

    /// Coordinates of a joint that closes a loop, by the poses of what it joins, nearest to those at the nearest sample; and
    /// their rates.
    fn fill_loop_joint(&mut self, joint: &Joint) {
        let model = &self.model;
        let (mechanism, order) = (&model.mechanism, model.mechanism.order());
        let ends = [Some(joint.child), joint.parent];
        let Some(n) = ends.into_iter().flatten().find_map(|body| order.node_of(body)) else { return };
        let nearest = self.groups[model.place_of_node[n].0].weights.of.first().map_or(0, |(i, _)| *i);
        let (own, d) = (joint.coordinates(), joint.kind.freedoms());
        let near = &model.samples[nearest].state().coordinates[own.clone()];
        let X = self.state.relative_pose(mechanism, joint);
        let q = joint.kind.coordinates(&X, near);
        let J = joint.kind.coordinates_jacobian(&X, &q.as_slice()[..d]);
        let inner = mechanism.frame_in_child(joint).twist_to_local(&self.state.twists[joint.child.index()]);
        let outer = match joint.parent {
            Some(body) => self.state.twists[body.index()],
            None => self.base_twist.turned(&self.base.rotation.inverse()),
        };
        let outer = X.twist_to_local(&mechanism.frame_in_parent(joint).twist_to_local(&outer));
        let rates = J * (inner - outer).to_vector();
        self.state.coordinates[own.clone()].copy_from_slice(&q.as_slice()[..d]);
        self.state.rates[own].copy_from_slice(&rates.as_slice()[..d]);
    }

    /// The link frame of a body, by its position in the mechanism.
    pub(super) fn link_pose(&self, body: usize) -> Pose {
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
    fn inputs_mut(&mut self) -> &mut Inputs {
        self.inputs_changed = true;
        self.stale();
        &mut self.inputs
    }

    fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        self.inputs.set_load(effector, load)
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.inputs.check(&self.model.mechanism)?;
        self.follow_targets(dt);
        self.advance(dt)
    }

    /// Of a state of another engine, poses and twists of the effectors count.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(&self.model.mechanism)?;
        (self.state.time, self.state.steps) = (state.time, state.steps);
        self.inputs_changed = true;
        self.stale();
        let effectors: usize = self.groups.iter().map(|g| g.anchors.len()).sum();
        let own = state.private.len() == 7 + self.groups.len() + 13 * effectors + self.fading.len()
            && state.private[0] == STAMP;
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
            self.fading.copy_from_slice(&state.private[at..]);
        } else {
            self.take_over(state);
        }
        let _ = self.evaluate(&Twist::ZERO);
        Ok(())
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs_mut().teleport_base(motion)?;
        self.base = *motion * self.base;
        self.base_twist = self.base_twist.turned(&motion.rotation);
        let _ = self.evaluate(&Twist::ZERO);
        Ok(())
    }

    fn settle(&mut self, _: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        self.inputs.check(&self.model.mechanism)?;
        self.find_rest().map_err(|error| StaticsError::Failed(error.to_string()))
    }

    /// Of the links, under the loads that hold the effectors where they are: in motion too, this is the error of the blend.
    fn estimate(&mut self) -> Result<f64, Unsupported> {
        if self.inputs.check(&self.model.mechanism).is_err() {
            return Err(Unsupported { engine: "blended", what: FOREIGN, engines: &[] });
        }
        Ok(match self.evaluate(&self.accelerated.clone()) {
            Ok(()) => self.distance(),
            Err(_) => f64::INFINITY,
        })
    }

    fn spring_force(&mut self, id: SpringId) -> Result<Wrench, UnknownHandle> {
        let spring = *self.inputs.spring(id)?;
        self.model.mechanism.body(spring.body)?;
        Ok(self.force_of(&spring))
    }
}
