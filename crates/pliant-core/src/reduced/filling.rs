//! The state of a reduced simulation, as every engine gives it, and back.
//!
//! Poses are those of the reconstruction, twists its derivative; coordinates and rates are Θ z and Θ ż with their
//! offsets, forces those of springs and dampers there. Multipliers are zero: a reduced model has none.

use super::floating::Floating;
use super::rebuild::{Placed, Reconstruction};
use super::simulation::Simulation;
use crate::full::Energy;
use crate::inputs::InputError;
use crate::mechanism::{BodyId, EffectorId};
use crate::spatial::{Pose, Twist, log, right_jacobian_inverse};
use crate::state::State;

impl Simulation<'_> {
    /// Where everything is: poses, twists, coordinates, rates and forces of all bodies and joints. A step leaves
    /// this to the first call after it.
    pub fn state(&mut self) -> &State {
        if !self.filled {
            self.fill();
            self.filled = true;
        }
        &self.state
    }

    fn fill(&mut self) {
        let model = self.model;
        let reference = &model.reference;
        let mut state = std::mem::replace(&mut self.state, State::at_rest(reference.mechanism));
        (state.time, state.steps, state.base) = (self.time, self.steps, self.base);
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
                let freedom = &reference.mechanism.joint(joint.id).freedoms[k];
                state.forces[q] = joint.force(k, self.inputs.rest[q], state.coordinates[q])
                    - freedom.damping * state.rates[q];
            }
        }
        let base_twist = self.local_base_twist();
        for b in 0..state.poses.len() {
            let (node, offset) = reference.place(BodyId::from_index(b));
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
        let r = self.base.rotation.inverse();
        Twist { linear: r * self.base_twist.linear, angular: r * self.base_twist.angular }
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

    /// Puts a saved state back; the base is at rest there. A state of another engine is taken as near as the
    /// model can come: the effectors' poses and twists, no modes.
    pub fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        let mechanism = self.mechanism();
        state.check(mechanism)?;
        let saved: usize = (self.parts.iter())
            .map(|p| 2 * p.motion.size() + p.floating.as_ref().map_or(0, |_| Floating::SAVED))
            .sum();
        (self.time, self.steps, self.base) = (state.time, state.steps, state.base);
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
        let model = self.model;
        let mechanism = model.reference.mechanism;
        for (component, part) in model.components.iter().zip(&mut self.parts) {
            part.motion.z.fill(0.0);
            part.motion.rate.fill(0.0);
            let nodes = mechanism.order().nodes();
            let (base, base_twist) = match component.base {
                Some(n) => (state.pose(nodes[n].head), state.twists[nodes[n].head.index()]),
                None => (state.base, Twist::ZERO),
            };
            for &e in &component.effectors {
                let effector = &model.effectors[e];
                let pose = state.pose(effector.frame.body) * effector.frame.frame;
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

    /// Moves the whole mechanism, base included, without any time passing: every pose H becomes motion·H;
    /// speeds go along. Loads and the frames of pulls stay where they are in the world.
    pub fn teleport(&mut self, motion: &Pose) -> Result<(), InputError> {
        if !motion.is_finite() {
            return Err(InputError::new("the motion of a teleport is not finite".into()));
        }
        let (base, mut twist) = (*motion * self.inputs.base, self.inputs.base_twist);
        twist.linear = motion.rotation * twist.linear;
        twist.angular = motion.rotation * twist.angular;
        self.inputs_mut().set_base(base, twist)?;
        self.base = *motion * self.base;
        self.base_twist.linear = motion.rotation * self.base_twist.linear;
        self.base_twist.angular = motion.rotation * self.base_twist.angular;
        for part in &mut self.parts {
            part.base = *motion * part.base;
            if let Some(floating) = &mut part.floating {
                floating.mean = *motion * floating.mean;
                floating.linear = motion.rotation * floating.linear;
                floating.angular = motion.rotation * floating.angular;
                floating.acceleration.linear = motion.rotation * floating.acceleration.linear;
                floating.acceleration.angular = motion.rotation * floating.acceleration.angular;
            }
        }
        self.place_effectors();
        self.rebuild();
        Ok(())
    }

    /// Every body with its link frame in the world, as it was rebuilt last; of the chosen ones, if some were.
    pub fn poses(&self) -> impl Iterator<Item = (BodyId, Pose)> + '_ {
        (0..self.mechanism().bodies().len())
            .map(BodyId::from_index)
            .filter_map(|body| Some((body, self.pose(body)?)))
    }

    /// The link frame of a body in the world, as it was rebuilt last; `None` if it is not among the chosen ones.
    pub fn pose(&self, body: BodyId) -> Option<Pose> {
        let (node, offset) = self.model.reference.place(body);
        let Some(node) = node else { return Some(self.base * offset) };
        let (c, at) = self.model.place_of_node[node];
        let link = self.link(c, at)?;
        Some(self.parts[c].rebuilt.poses.pose(link) * offset)
    }

    /// The frame of an effector in the world: where the model has it, whatever the links' reconstruction.
    pub fn effector_pose(&self, effector: EffectorId) -> Pose {
        let reduced = self.effectors.iter().find(|(e, _)| e.frame.id == Some(effector));
        reduced.map(|(_, pose)| *pose).unwrap_or_else(|| {
            let effector = self.mechanism().effector(effector);
            self.pose(effector.body).unwrap_or_else(Pose::identity) * effector.frame
        })
    }

    /// 4×4 transforms of all bodies for drawing, column by column, in the order of the mechanism's bodies.
    /// Bodies that are not rebuilt keep what is there.
    pub fn write_transforms(&self, out: &mut [[f32; 16]]) {
        for (body, pose) in self.poses() {
            let R = pose.rotation_matrix();
            let m = &mut out[body.index()];
            for k in 0..3 {
                (0..3).for_each(|i| m[4 * k + i] = R[(i, k)] as f32);
                m[4 * k + 3] = 0.0;
                m[12 + k] = pose.position[k] as f32;
            }
            m[15] = 1.0;
        }
    }

    /// Kinetic, elastic and potential energy of the state, as of any engine's.
    pub fn energy(&mut self) -> Energy {
        self.state();
        let mechanism = self.mechanism();
        Energy::of(&self.state, mechanism, &self.inputs)
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

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius.
    pub fn violation(&mut self) -> f64 {
        self.state();
        self.state.violation(self.mechanism())
    }
}
