//! A running simulation: a model, its inputs and its motion, with the engine's workspace.

use std::sync::Arc;

use nalgebra::Vector3;

use super::contact::Answers;
use super::dynamics::{self, Motion};
use super::floating::{Floating, floating};
use super::loads::{Loads, felt};
use super::model::{Constants, Effector, Model};
use super::rebuild::{Placed, Rebuilder, Rebuilt, Reconstruction};
use super::statics;
use crate::algebra::wide::{combine, padded};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, SpringId, State, StaticsError, StaticsSettings, StepError,
    Unsupported,
};
use crate::full::estimate_by_full;
use crate::mechanism::{BodyId, Effector as EffectorOf, EffectorId, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench, exp, right_jacobian};

/// A displacement of a link, m or rad, beyond which a linear model has broken.
const TOO_FAR: f64 = 1e12;

/// A running simulation of a linear model.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) model: Arc<Constants>,
    pub(super) inputs: Inputs,
    pub(super) parts: Vec<Moving>,
    pub(super) effectors: Vec<(Effector, Pose)>,
    pub(super) base: Pose,
    /// The base's twist at the last step, world axes.
    pub(super) base_twist: Twist,
    reconstruction: Reconstruction,
    threads: usize,
    /// Reconstructions of chosen links only.
    chosen: Option<Vec<Rebuilder>>,
    loads: Loads,
    loads_changed: bool,
    bases: Vec<Pose>,
    pub(super) state: State,
    /// Whether the state is that of the simulation now.
    pub(super) filled: bool,
    pub(super) answers: Answers,
}

/// A component in motion.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    pub motion: Motion,
    pub floating: Option<Floating>,
    /// How far a link or joint is moved by unit acceleration, at most; sums over the axes.
    pub most_offset: f64,
    /// Where its base is.
    pub base: Pose,
    /// B row by row.
    pub effector_rows: Vec<f64>,
    /// B, and S of a free base under it, column by column, padded; and their product with z where the effectors are.
    pub columns: Vec<f64>,
    pub moved: Vec<f64>,
    /// What is added to the maps: loads and gravity.
    pub nodes: Vec<f64>,
    pub coordinates: Vec<f64>,
    felt: Twist,
    pub rebuilt: Rebuilt,
    /// Memory for 6×n rows, for those of the extended system of pulls on a free base, and that system.
    pub rows: Vec<f64>,
    pub extended_rows: Vec<f64>,
    pub extended: Vec<f64>,
    pub extended_right: Vec<f64>,
}

impl Model {
    /// A simulation that starts at the reference pose, at rest, in the mechanism's gravity, without loads.
    pub fn simulate(&self) -> Simulation {
        let constants = &*self.constants;
        let mechanism = &constants.reference.mechanism;
        let parts: Vec<Moving> = (constants.components.iter().zip(&constants.rebuilders))
            .map(|(component, rebuilder)| {
                let n = component.size();
                let floats = component.base.map(|_| floating(component, constants.free_base));
                let mass = floats.as_ref().map_or(&component.mass, |(_, mass)| mass);
                let sway = floats.as_ref().map_or(&[][..], |(floating, _)| &floating.sway);
                let stride = padded(component.motion.nrows() + if floats.is_some() { 6 } else { 0 });
                let mut columns = Vec::with_capacity(n * stride);
                for k in 0..n {
                    columns.extend(component.motion.column(k).iter());
                    columns.extend(sway.chunks_exact(n).map(|row| row[k]));
                    columns.resize((k + 1) * stride, 0.0);
                }
                Moving {
                    columns,
                    moved: vec![0.0; stride],
                    motion: Motion::new(component, mass),
                    floating: floats.map(|(floating, _)| floating),
                    most_offset: most(&component.base_offset.nodes)
                        .max(most(&component.base_offset.coordinates)),
                    base: component.base_pose,
                    effector_rows: component.motion.transpose().as_slice().to_vec(),
                    nodes: vec![0.0; 6 * component.part.nodes.len()],
                    coordinates: vec![0.0; component.coordinates.len()],
                    felt: Twist::ZERO,
                    rebuilt: rebuilder.memory(n),
                    rows: vec![0.0; 6 * n],
                    extended_rows: vec![0.0; 6 * (n + 6)],
                    extended: vec![0.0; (n + 6) * (n + 6)],
                    extended_right: vec![0.0; n + 6],
                }
            })
            .collect();
        let mut simulation = Simulation {
            model: self.constants.clone(),
            inputs: Inputs::new(mechanism),
            bases: parts.iter().map(|p| p.base).collect(),
            parts,
            effectors: constants.effectors.iter().map(|e| (e.clone(), e.rest)).collect(),
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            reconstruction: Reconstruction::default(),
            threads: 1,
            chosen: None,
            loads: Loads::new(constants),
            loads_changed: true,
            state: State::at_rest(mechanism),
            filled: false,
            answers: Answers::default(),
        };
        simulation.place_effectors();
        simulation.rebuild();
        simulation
    }
}

impl Simulation {
    /// The model that moves.
    pub fn model(&self) -> Model {
        Model { constants: self.model.clone() }
    }

    /// Sets how links other than the effectors are rebuilt.
    pub fn set_reconstruction(&mut self, reconstruction: Reconstruction) {
        self.reconstruction = reconstruction;
        self.rebuild();
    }

    /// Sets how many threads a large reconstruction may use; the results are the same bits.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Rebuilds only the links of these bodies, and those that carry them, from now on.
    pub fn rebuild_only(&mut self, bodies: &[BodyId]) -> Result<(), UnknownHandle> {
        let model = &self.model;
        bodies.iter().try_for_each(|body| model.reference.mechanism.body(*body).map(drop))?;
        let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); self.parts.len()];
        let of_bodies =
            bodies.iter().filter_map(|b| model.reference.place(*b).0).map(|n| model.place_of_node[n]);
        let of_effectors = model.effectors.iter().filter(|e| e.component < self.parts.len());
        for (c, at) in of_bodies.chain(of_effectors.map(|e| (e.component, e.node))) {
            wanted[c].push(at);
        }
        let chosen: Vec<Rebuilder> = (model.components.iter().zip(&wanted))
            .map(|(component, wanted)| Rebuilder::new(&model.reference, component, Some(wanted)))
            .collect();
        for (rebuilder, part) in chosen.iter().zip(&mut self.parts) {
            part.rebuilt = rebuilder.memory(part.motion.size());
            rebuilder.set_offsets(&mut part.rebuilt, &part.nodes, &part.coordinates);
        }
        self.chosen = Some(chosen);
        self.rebuild();
        Ok(())
    }

    /// The link of a node among those that are rebuilt.
    pub(super) fn link(&self, component: usize, node: usize) -> Option<usize> {
        match &self.chosen {
            Some(chosen) => chosen[component].nodes.binary_search(&node).ok(),
            None => Some(node),
        }
    }

    /// How links are rebuilt.
    pub fn reconstruction(&self) -> Reconstruction {
        self.reconstruction
    }

    /// Advances by `dt` seconds, effectors only: the links stay behind until [`Simulation::rebuild`].
    pub fn step_effectors(&mut self, dt: f64) -> Result<(), StepError> {
        self.solve_step(dt)?;
        self.attempt_step(dt)?;
        self.take_step(dt);
        Ok(())
    }

    /// Sees that what was solved for ends in numbers that can be held: z, free bases, and what links feel of gravity and
    /// acceleration.
    pub(super) fn attempt_step(&mut self, h: f64) -> Result<(), StepError> {
        let (gravity, acceleration) = (self.inputs.gravity, self.base_acceleration(h));
        for c in 0..self.parts.len() {
            let part = &mut self.parts[c];
            let (force, torque) = part.motion.rigid;
            let felt = match &mut part.floating {
                Some(floating) => floating.attempt(&force, &torque, h),
                None => Some(acceleration),
            };
            let strong = felt.map_or(f64::INFINITY, |a| (gravity - a.linear).amax() + a.angular.amax());
            // Finite numbers, with room for their squares.
            let far = strong * part.most_offset;
            if far.is_nan() || far > 1e100 || !part.motion.within_bounds(h) {
                return Err(self.too_large(c, h));
            }
        }
        Ok(())
    }

    /// Solves for the rates at the end of a step of h seconds; nothing moves yet.
    pub(super) fn solve_step(&mut self, h: f64) -> Result<(), StepError> {
        // A step so short has no inverse to be an acceleration with.
        if !(h.is_finite() && h > 1e-100) {
            return Err(StepError::TimeStep { dt: h });
        }
        self.inputs.check(&self.model.reference.mechanism)?;
        if self.inputs.follows_targets() {
            self.loads_changed = true;
            self.inputs.follow_targets(self.state.time + h);
        }
        self.condense()?;
        let acceleration = self.base_acceleration(h);
        for c in 0..self.parts.len() {
            self.load(c, &acceleration, h);
            let stays = |part: &Moving| {
                let (force, torque) = &part.motion.rigid;
                part.floating.as_ref().is_none_or(|floating| floating.stays(force, torque, h))
            };
            // What gravity and the base do apart from the coordinates is not solved for.
            let felt = self.inputs.gravity.amax().max(acceleration.to_vector().amax());
            if !self.parts[c].motion.solve(h) || !stays(&self.parts[c]) || felt > 1e100 {
                return Err(self.too_large(c, h));
            }
        }
        Ok(())
    }

    /// Of the scripted base over a step.
    fn base_acceleration(&self, h: f64) -> Twist {
        (self.inputs.base_twist - self.base_twist) * (1.0 / h)
    }

    pub(super) fn too_large(&self, c: usize, h: f64) -> StepError {
        self.broken(
            c,
            format!("a load or target is too large for f64, or dt = {h} s is too long; try a smaller dt"),
        )
    }

    /// Takes the step that was solved for.
    pub(super) fn take_step(&mut self, h: f64) {
        let acceleration = self.base_acceleration(h);
        for (c, part) in self.parts.iter_mut().enumerate() {
            if let Some(floating) = &mut part.floating {
                floating.take();
            }
            part.motion.advance(h);
            part.base = part.floating.as_ref().map_or(self.inputs.base, |f| f.base(&part.motion.z));
            let felt = match &part.floating {
                Some(floating) if !floating.uncoupled => {
                    felt(&self.inputs.gravity, &floating.acceleration, &part.base)
                }
                Some(_) => felt(&self.inputs.gravity, &Twist::ZERO, &part.base),
                None => felt(&self.inputs.gravity, &acceleration, &part.base),
            };
            if felt != part.felt {
                part.felt = felt;
                set_offsets(part, &self.model.components[c], &self.loads.condensed[c]);
                let rebuilders = self.chosen.as_deref().unwrap_or(&self.model.rebuilders);
                rebuilders[c].set_offsets(&mut part.rebuilt, &part.nodes, &part.coordinates);
            }
        }
        self.base = self.inputs.base;
        self.base_twist = self.inputs.base_twist;
        self.state.time += h;
        self.state.steps += 1;
        self.filled = false;
        self.place_effectors();
    }

    /// Condenses loads and set-points if they changed, or if a base turned under them.
    fn condense(&mut self) -> Result<(), StepError> {
        for (base, part) in self.bases.iter_mut().zip(&self.parts) {
            *base = part.floating.as_ref().map_or(self.inputs.base, |_| part.base);
        }
        let turning = self.loads.condensed.iter().any(|c| c.outside);
        if !(self.loads_changed || turning) {
            return Ok(());
        }
        let changed = self.loads.condense(&self.model, &self.inputs, &self.bases).map_err(|at| {
            let mechanism = &self.model.reference.mechanism;
            let joint = &mechanism[at.joint];
            StepError::NotFinite {
                step: self.state.steps + 1,
                body: mechanism[joint.child].name.clone(),
                cause: format!("a load acts along a freedom of joint `{}` that has no spring", joint.name),
            }
        })?;
        // Beyond all bounds is as bad as not finite.
        let far = |x: &f64| x.is_nan() || x.abs() > TOO_FAR;
        if let Some(c) =
            self.loads.condensed.iter().position(|c| c.nodes.iter().chain(&c.coordinates).any(far))
        {
            self.loads.forget();
            return Err(self.broken(c, "a load or target off the effectors is too large".into()));
        }
        if changed {
            let rebuilders = self.chosen.as_deref().unwrap_or(&self.model.rebuilders);
            for (c, part) in self.parts.iter_mut().enumerate() {
                set_offsets(part, &self.model.components[c], &self.loads.condensed[c]);
                rebuilders[c].set_offsets(&mut part.rebuilt, &part.nodes, &part.coordinates);
            }
        }
        self.loads_changed = false;
        Ok(())
    }

    /// Sets offsets for loads and gravity where everything is now, before any step was taken.
    pub(super) fn settle_offsets(&mut self) {
        // A load that nothing holds is an error of the next step.
        let _ = self.condense();
        let rebuilders = self.chosen.as_deref().unwrap_or(&self.model.rebuilders);
        for (c, part) in self.parts.iter_mut().enumerate() {
            part.felt = match &part.floating {
                Some(floating) if !floating.uncoupled => {
                    felt(&self.inputs.gravity, &floating.acceleration, &part.base)
                }
                _ => felt(&self.inputs.gravity, &Twist::ZERO, &part.base),
            };
            set_offsets(part, &self.model.components[c], &self.loads.condensed[c]);
            rebuilders[c].set_offsets(&mut part.rebuilt, &part.nodes, &part.coordinates);
        }
    }

    /// Sums up the forces on a component.
    fn load(&mut self, c: usize, acceleration: &Twist, h: f64) {
        let component = &self.model.components[c];
        let part = &mut self.parts[c];
        let n = part.motion.size();
        let condensed = &self.loads.condensed[c];
        part.motion.force.copy_from_slice(&condensed.force);
        part.motion.rigid = (Vector3::zeros(), Vector3::zeros());
        part.motion.let_go();
        let gravity = &self.inputs.gravity;
        let on_links = match &part.floating {
            None => Some(felt(gravity, acceleration, &self.inputs.base)),
            Some(floating) if floating.uncoupled => Some(felt(gravity, &Twist::ZERO, &part.base)),
            Some(_) => None,
        };
        if let Some(felt) = on_links {
            let a = felt.to_vector();
            for i in 0..n {
                part.motion.force[i] += (0..6).map(|k| component.base_load[(i, k)] * a[k]).sum::<f64>();
            }
        }
        if let Some(floating) = &part.floating {
            part.motion.rigid.0 += gravity * floating.mass();
            if condensed.outside {
                let w = part.base.wrench_to_outer(&condensed.on_base);
                part.motion.add_rigid(&w, &floating.center());
                let on_base = condensed.on_base.to_vector();
                part.motion.pull_back(&floating.sway, &on_base);
            }
        }
        for &e in &component.effectors {
            let (effector, pose) = &self.effectors[e];
            let of = |loads: &[Wrench]| effector.frame.id.map_or(Wrench::ZERO, |id| loads[id.index()]);
            let mut own = of(&self.inputs.effector_loads);
            // The loads that hold a loaded pose are in its stiffness: as body wrenches they stay what they are.
            let held = self.model.reference.loads.as_ref().map(|loads| of(loads));
            if let Some(held) = held {
                let turn = Pose::new(part.base.rotation, Vector3::zeros());
                own = own - turn.wrench_to_outer(&held);
                let w = dynamics::in_frame(&effector.rest, &Pose::identity(), &held);
                let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
                part.motion.push(rows, &w.to_vector());
            }
            let mut w = dynamics::in_frame(pose, &Pose::identity(), &own);
            for (_, at, load) in self.loads.direct.iter().filter(|(to, ..)| *to == e) {
                w = w + dynamics::in_frame(pose, at, load);
            }
            if w == Wrench::ZERO {
                continue;
            }
            let rows = &part.effector_rows[effector.row * n..(effector.row + 6) * n];
            let xi = dynamics::twist_at(&part.moved, effector.row);
            let u = right_jacobian(&xi).transpose() * w.to_vector();
            part.motion.push(rows, &u);
            if let Some(floating) = &part.floating {
                part.motion.add_rigid(&pose.wrench_to_outer(&w), &floating.center());
                let on_base = part.base.inverse_times(pose).wrench_to_outer(&w);
                let sway = -dynamics::twist_at(&part.moved, component.motion.nrows());
                let u = right_jacobian(&sway).transpose() * on_base.to_vector();
                part.motion.pull_back(&floating.sway, &u);
            }
        }
        self.pull(c, h);
    }

    pub(super) fn place_effectors(&mut self) {
        for part in &mut self.parts {
            combine(&part.motion.z, &part.columns, &mut part.moved);
        }
        for (effector, pose) in &mut self.effectors {
            *pose = match self.parts.get(effector.component) {
                None => self.base * effector.rest,
                Some(part) => part.base * effector.rest * exp(&dynamics::twist_at(&part.moved, effector.row)),
            };
        }
    }

    /// Rebuilds the links where the effectors are now: what a step ends with.
    pub fn rebuild(&mut self) {
        self.filled = false;
        let rebuilders = self.chosen.as_deref().unwrap_or(&self.model.rebuilders);
        for (c, part) in self.parts.iter_mut().enumerate() {
            let placed = Placed { z: &part.motion.z, base: &part.base, threads: self.threads };
            let component = &self.model.components[c];
            rebuilders[c].rebuild(
                self.reconstruction,
                &placed,
                component,
                &self.effectors,
                &mut part.rebuilt,
            );
        }
    }

    fn broken(&self, c: usize, cause: String) -> StepError {
        let component = &self.model.components[c];
        let node = component
            .effectors
            .first()
            .map_or(component.part.nodes[0], |&e| component.part.nodes[self.model.effectors[e].node]);
        let head = self.model.reference.mechanism.order().nodes()[node].head;
        StepError::NotFinite {
            step: self.state.steps + 1,
            body: self.model.reference.mechanism[head].name.clone(),
            cause,
        }
    }
}

impl engine::Simulation for Simulation {
    fn inputs_mut(&mut self) -> &mut Inputs {
        (self.loads_changed, self.filled) = (true, false);
        &mut self.inputs
    }

    fn set_load(&mut self, effector: EffectorId, load: Wrench) -> Result<(), InputError> {
        let linear = self.effectors.iter().any(|(e, _)| e.frame.id == Some(effector));
        self.loads_changed |= !linear;
        self.inputs.set_load(effector, load)
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.step_effectors(dt)?;
        self.rebuild();
        Ok(())
    }

    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        self.restore(state)
    }

    fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        self.inputs_mut().teleport_base(motion)?;
        self.carry(motion);
        Ok(())
    }

    fn settle(&mut self, _: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        self.inputs.check(&self.model.reference.mechanism)?;
        Ok(statics::settle(self))
    }

    fn estimate(&mut self) -> Result<f64, Unsupported> {
        estimate_by_full(self)
    }

    /// Where the linear model has it, whatever the links' reconstruction.
    fn effector_pose(&self, effector: EffectorId) -> Result<Pose, UnknownHandle> {
        let EffectorOf { body, frame, .. } = self.mechanism().effector(effector)?;
        let linear = self.effectors.iter().find(|(e, _)| e.frame.id == Some(effector));
        Ok(linear.map_or_else(|| self.link_pose(body.index()) * *frame, |(_, pose)| *pose))
    }

    fn spring_force(&mut self, id: SpringId) -> Result<Wrench, UnknownHandle> {
        let spring = *self.inputs.spring(id)?;
        self.model.reference.mechanism.body(spring.body)?;
        Ok(self.force_of(&spring))
    }
}

/// The largest sum of sizes over six numbers.
fn most(rows: &[f64]) -> f64 {
    rows.chunks_exact(6).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// Offsets of a component: those of its loads, and of what it feels of gravity and its base.
fn set_offsets(part: &mut Moving, component: &super::model::Component, loads: &super::loads::Condensed) {
    let a = part.felt.to_vector();
    let add = |to: &mut [f64], loads: &[f64], per: &[f64]| {
        for ((to, load), row) in to.iter_mut().zip(loads).zip(per.chunks_exact(6)) {
            *to = load + (0..6).map(|k| row[k] * a[k]).sum::<f64>();
        }
    };
    add(&mut part.nodes, &loads.nodes, &component.base_offset.nodes);
    add(&mut part.coordinates, &loads.coordinates, &component.base_offset.coordinates);
}
