//! The tangent at an equilibrium, with geometric stiffness: how far everything moves under a small load.
//!
//! [K Jᵀ; J 0] [δ; −μ] = [f; 0], with K of springs and of all forces that turn with the bodies; the same
//! blocks and elimination as statics, factored once for any number of loads. Dead torques τ on a body, which have no
//! potential, add A = −½\[τ\] to its turning (world axes), which is not symmetric: by Woodbury's formula, from one more
//! solve for each turn of a body that has such a torque.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Dyn, LU, Vector3};

use super::assembly::STATIC_SOFTNESS;
use super::model::{ABSENT, Constants};
use super::simulation::Simulation;
use super::statics;
use crate::algebra::elimination::Numeric;
use crate::engine::StaticsError;
use crate::mechanism::{BodyId, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench, skew};

/// Solves for one load: each takes the rows' softness, 1e-7, out of the one before.
const SOLVES: usize = 3;

/// The factored tangent at a state.
#[derive(Clone, Debug)]
pub struct Tangent {
    model: Arc<Constants>,
    numeric: Numeric,
    poses: Vec<Pose>,
    /// Centre of mass of each node, world.
    centers: Vec<Vector3<f64>>,
    /// Compliance of each row, zero for the bodies.
    softness: Vec<f64>,
    stable: bool,
    turned: Option<Turned>,
}

/// What dead torques add to the tangent.
#[derive(Clone, Debug)]
struct Turned {
    /// Unknowns that are turns of bodies with such a torque.
    turns: Vec<usize>,
    /// A of these turns.
    torques: DMatrix<f64>,
    /// Answers to unit torques on them, one column each.
    answers: Vec<Vec<f64>>,
    /// I + A UᵀK⁻¹U.
    system: LU<f64, Dyn, Dyn>,
}

impl Simulation {
    /// The tangent at the present state under the present inputs. The state should be an equilibrium
    /// ([`settle`](crate::engine::Simulation::settle)); an error says which motion nothing determines.
    pub fn tangent(&mut self) -> Result<Tangent, StaticsError> {
        let (model, inputs, state, work) = self.parts();
        let (stable, augment) = statics::factor_tangent(model, inputs, state, work)?;
        let mut softness = vec![0.0; model.plan.unknowns()];
        for joint in model.joints.iter().filter(|j| j.unknown != ABSENT) {
            for i in 0..6 - joint.kind.freedoms() {
                softness[joint.unknown + i] = STATIC_SOFTNESS / augment[usize::from(!joint.turning[i])];
            }
        }
        for coupling in &model.couplings {
            softness[coupling.unknown] = STATIC_SOFTNESS / augment[0];
        }
        let mut dead = vec![Vector3::zeros(); model.nodes.len()];
        work.loads.iter().for_each(|load| dead[load.node] += load.wrench.torque);
        let mut tangent = Tangent {
            model: model.clone(),
            numeric: work.numeric.clone(),
            poses: state.poses.clone(),
            centers: work.frames[..model.nodes.len()].iter().map(|frame| frame.center).collect(),
            softness,
            stable,
            turned: None,
        };
        tangent.turn(&dead);
        Ok(tangent)
    }
}

impl Tangent {
    /// Whether the energy is convex along every motion that the joints allow.
    pub fn is_stable(&self) -> bool {
        self.stable
    }

    /// The small displacement of every body, world axes at its link frame, under more loads: dead
    /// wrenches in world axes at the link frames of bodies.
    pub fn displacement(&mut self, loads: &[(BodyId, Wrench)]) -> Result<Vec<Twist>, UnknownHandle> {
        loads.iter().try_for_each(|(body, _)| self.model.mechanism.body(*body).map(drop))?;
        let order = self.model.mechanism.order();
        let mut loads_on_nodes = vec![0.0; self.softness.len()];
        for (body, load) in loads {
            let Some(n) = order.node_of(*body) else { continue };
            let arm = self.poses[body.index()].position - self.centers[n];
            let torque = load.torque + arm.cross(&load.force);
            let at = self.model.nodes[n].unknown;
            for k in 0..3 {
                loads_on_nodes[at + k] += load.force[k];
                loads_on_nodes[at + 3 + k] += torque[k];
            }
        }
        let mut x = self.solve(&loads_on_nodes);
        if let Some(Turned { turns, torques, answers, system }) = &self.turned {
            let moved = torques * DVector::from_iterator(turns.len(), turns.iter().map(|&at| x[at]));
            // Where there is no answer, none is made up.
            let weights = system.solve(&moved).unwrap_or_else(|| DVector::repeat(turns.len(), f64::NAN));
            for (answer, weight) in answers.iter().zip(weights.iter()) {
                x.iter_mut().zip(answer).for_each(|(x, z)| *x -= weight * z);
            }
        }
        let order = self.model.mechanism.order();
        let moved = (0..self.poses.len())
            .map(|b| {
                let Some(n) = order.node_of(self.model.mechanism.body_id(b)) else { return Twist::ZERO };
                let x = &x[self.model.nodes[n].unknown..];
                let (v, w) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
                Twist { linear: v + w.cross(&(self.poses[b].position - self.centers[n])), angular: w }
            })
            .collect();
        Ok(moved)
    }

    /// The answer of the symmetric part.
    fn solve(&mut self, loads: &[f64]) -> Vec<f64> {
        // The factors hold J δ − ε ℓ = …; −ε ℓ of the solve before on the right takes the softness out.
        let mut x = vec![0.0; self.softness.len()];
        for _ in 0..SOLVES {
            for ((x, load), softness) in x.iter_mut().zip(loads).zip(&self.softness) {
                *x = load - softness * *x;
            }
            self.numeric.solve(&self.model.plan, &mut x);
        }
        x
    }

    /// Takes dead torques on the nodes in, world axes.
    fn turn(&mut self, dead: &[Vector3<f64>]) {
        let nodes: Vec<usize> = (0..dead.len()).filter(|&n| dead[n] != Vector3::zeros()).collect();
        if nodes.is_empty() {
            return;
        }
        let mut torques = DMatrix::zeros(3 * nodes.len(), 3 * nodes.len());
        let (mut turns, mut answers) = (Vec::new(), Vec::new());
        for (i, &n) in nodes.iter().enumerate() {
            torques.fixed_view_mut::<3, 3>(3 * i, 3 * i).copy_from(&(skew(&dead[n]) * -0.5));
            for k in 0..3 {
                let mut unit = vec![0.0; self.softness.len()];
                turns.push(self.model.nodes[n].unknown + 3 + k);
                unit[turns[3 * i + k]] = 1.0;
                answers.push(self.solve(&unit));
            }
        }
        let own = DMatrix::from_fn(turns.len(), turns.len(), |i, k| answers[k][turns[i]]);
        let system = (DMatrix::identity(turns.len(), turns.len()) + &torques * own).lu();
        self.turned = Some(Turned { turns, torques, answers, system });
    }
}
