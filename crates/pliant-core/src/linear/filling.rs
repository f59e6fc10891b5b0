//! The state of a linear simulation, as every engine gives it, and back.
//!
//! Poses are those of the reconstruction, twists its derivative; coordinates and rates are Θ z and Θ ż with their
//! offsets, forces those of springs and dampers there. Multipliers are zero: a linear model has none.

use super::dynamics::twist;
use super::floating::Floating;
use super::rebuild::{Placed, Reconstruction};
use super::simulation::Simulation;
use crate::engine::State;
use crate::engine::{InputError, Simulation as _};
use crate::spatial::{Pose, Twist, exp, log, right_jacobian_inverse};

impl Simulation {
    pub(super) fn fill(&mut self) {
        let model = &self.model;
        let reference = &model.reference;
        let mut state = std::mem::replace(&mut self.state, State::at_rest(&reference.mechanism));
        state.base = self.base;
        let mut node_poses = vec![Pose::identity(); reference.poses.len()];
        let mut node_twists = vec![Twist::ZERO; reference.poses.len()];
        for (c, (component, part)) in model.components.iter().zip(&self.parts).enumerate() {
            let rebuilder = &model.rebuilders[c];
            let (z, rate) = (&part.motion.z, &part.motion.rate);
            let mut rebuilt = rebuilder.memory(z.len());
            rebuilder.set_offsets(&mut rebuilt, &part.nodes, &part.coordinates);
            let placed = Placed { z, base: &part.base, threads: 1 };
            rebuilder.rebuild(self.reconstruction(), &placed, component, &self.effectors, &mut rebuilt);
            let base_twist = match &part.floating {
                Some(floating) => floating.base_twist(z, rate),
                None => self.local_base_twist(),
            };
            let links = component.part.nodes.len();
            let mut twists = vec![Twist::ZERO; links];
            if self.reconstruction() == Reconstruction::Twist {
                for (link, twist) in twists.iter_mut().enumerate() {
                    *twist = rebuilder.twists.twist(link, z, rate, &rebuilt.twist_offsets, &base_twist);
                }
            } else {
                rebuilder.joints.twists(
                    rebuilt.coordinates(z),
                    rate,
                    &rebuilt.joint_offsets,
                    &base_twist,
                    &mut twists,
                );
            }
            for (at, &n) in component.part.nodes.iter().enumerate() {
                (node_poses[n], node_twists[n]) = (rebuilt.poses.pose(at), twists[at]);
            }
            let n = z.len();
            let along = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            for (at, &(j, k, q)) in component.coordinates.iter().enumerate() {
                let row = &component.shapes.coordinates[at * n..(at + 1) * n];
                let theta = rebuilt.coordinates(z);
                state.coordinates[q] = reference.coordinates[q] + along(row, theta) + part.coordinates[at];
                state.rates[q] = along(row, rate);
                let joint = &reference.joints[j];
                let freedom = &reference.mechanism[joint.id].freedoms[k];
                state.forces[q] = joint.force(k, self.inputs.rest[q], state.coordinates[q])
                    - freedom.damping * state.rates[q];
            }
        }
        let base_twist = self.local_base_twist();
        for b in 0..state.poses.len() {
            let (node, offset) = reference.place(reference.mechanism.body_id(b));
            let (outer, twist) = node.map_or((self.base, base_twist), |n| (node_poses[n], node_twists[n]));
            state.poses[b] = outer * offset;
            state.twists[b] = offset.twist_to_local(&twist);
        }
        state.private.clear();
        self.save(&mut state.private);
        self.state = state;
    }

    /// The base's body twist.
    fn local_base_twist(&self) -> Twist {
        self.base_twist.turned(&self.base.rotation.inverse())
    }

    /// The numbers that the engine's motion is made of.
    fn save(&self, out: &mut Vec<f64>) {
        out.push(self.model.stamp);
        for part in &self.parts {
            out.extend_from_slice(&part.motion.z);
            out.extend_from_slice(&part.motion.rate);
            if let Some(floating) = &part.floating {
                floating.save(out);
            }
        }
        out.extend_from_slice(self.base_twist.to_vector().as_slice());
    }

    /// A state of another engine is taken as near as the model
    /// can come: the effectors' poses and twists, no modes.
    pub(super) fn restore(&mut self, state: &State) -> Result<(), InputError> {
        state.check(self.mechanism())?;
        let saved: usize = (self.parts.iter())
            .map(|p| 2 * p.motion.size() + p.floating.as_ref().map_or(0, |_| Floating::SAVED))
            .sum();
        (self.state.time, self.state.steps, self.base) = (state.time, state.steps, state.base);
        self.inputs_mut().set_base(state.base, Twist::ZERO)?;
        self.base_twist = Twist::ZERO;
        if state.private.len() == saved + 7 && state.private[0] == self.model.stamp {
            let mut at = 1;
            let mut take = |to: &mut [f64]| {
                to.copy_from_slice(&state.private[at..at + to.len()]);
                at += to.len();
            };
            for part in &mut self.parts {
                take(&mut part.motion.z);
                take(&mut part.motion.rate);
                if let Some(floating) = &mut part.floating {
                    let mut numbers = [0.0; Floating::SAVED];
                    take(&mut numbers);
                    floating.restore(&numbers);
                }
            }
            let mut twist = [0.0; 6];
            take(&mut twist);
            let twist = Twist::from_vector(&nalgebra::Vector6::from_column_slice(&twist));
            self.inputs_mut().set_base(state.base, twist)?;
            self.base_twist = twist;
        } else {
            self.measure(state);
        }
        for part in &mut self.parts {
            part.base = part.floating.as_ref().map_or(state.base, |f| f.base(&part.motion.z));
        }
        self.settle_offsets();
        self.place_effectors();
        self.rebuild();
        Ok(())
    }

    /// y and its rate from the poses and twists of the effectors: ξ = log(H̄⁻¹H), ξ̇ = Jr(ξ)⁻¹φ.
    fn measure(&mut self, state: &State) {
        let model = &self.model;
        let mechanism = &model.reference.mechanism;
        for (component, part) in model.components.iter().zip(&mut self.parts) {
            part.motion.z.fill(0.0);
            part.motion.rate.fill(0.0);
            let nodes = mechanism.order().nodes();
            let (base, base_twist) = match component.base {
                Some(n) => (state.poses[nodes[n].head.index()], state.twists[nodes[n].head.index()]),
                None => (state.base, Twist::ZERO),
            };
            for &e in &component.effectors {
                let effector = &model.effectors[e];
                let pose = state.poses[effector.frame.body.index()] * effector.frame.frame;
                let twist = effector.frame.frame.twist_to_local(&state.twists[effector.frame.body.index()]);
                let carried = base.inverse_times(&pose).twist_to_local(&base_twist);
                let xi = log(&(base * effector.rest).inverse_times(&pose));
                let (x, v) = (xi.to_vector(), right_jacobian_inverse(&xi) * (twist - carried).to_vector());
                for i in 0..component.size() {
                    let row = |k: usize| component.measure[(i, effector.row + k)];
                    part.motion.z[i] += (0..6).map(|k| row(k) * x[k]).sum::<f64>();
                    part.motion.rate[i] += (0..6).map(|k| row(k) * v[k]).sum::<f64>();
                }
            }
            if let Some(floating) = &mut part.floating {
                floating.place(&base, &base_twist, &part.motion.z, &part.motion.rate);
            }
        }
    }

    /// Moves everything that turns with the world.
    pub(super) fn carry(&mut self, motion: &Pose) {
        self.base = *motion * self.base;
        self.base_twist = self.base_twist.turned(&motion.rotation);
        for part in &mut self.parts {
            part.base = *motion * part.base;
            if let Some(floating) = &mut part.floating {
                floating.mean = *motion * floating.mean;
                floating.linear = motion.rotation * floating.linear;
                floating.angular = motion.rotation * floating.angular;
                floating.acceleration = floating.acceleration.turned(&motion.rotation);
            }
        }
        self.place_effectors();
        self.rebuild();
    }

    /// The link frame of a body as it was rebuilt last; of one that is not among the chosen ones, where the linear motion
    /// alone takes it.
    pub(super) fn link_pose(&self, body: usize) -> Pose {
        let model = &self.model;
        let (node, offset) = model.reference.place(model.reference.mechanism.body_id(body));
        let Some(node) = node else { return self.base * offset };
        let (c, at) = model.place_of_node[node];
        let part = &self.parts[c];
        let outer = match self.link(c, at) {
            Some(link) => part.rebuilt.poses.pose(link),
            None => {
                let (component, n) = (&model.components[c], part.motion.size());
                let rows = &component.shapes.nodes[6 * at * n..6 * (at + 1) * n];
                let xi = twist(rows, &part.motion.z, Some(&part.nodes[6 * at..6 * (at + 1)]));
                part.base * component.base_pose.inverse_times(&model.reference.poses[node]) * exp(&xi)
            }
        };
        outer * offset
    }

    /// ½żᵀMż and ½zᵀKz: the energy that the model itself keeps, bases' own motion left out.
    pub fn model_energy(&self) -> (f64, f64) {
        let (mut kinetic, mut elastic) = (0.0, 0.0);
        for part in &self.parts {
            let (k, e) = part.motion.energy();
            kinetic += k;
            elastic += e;
        }
        (kinetic, elastic)
    }
}
