//! The tangent at an equilibrium, with geometric stiffness: how far everything moves under a small load.
//!
//! [K Jᵀ; J 0] [δ; −μ] = [f; 0], with K of springs and of all forces that turn with the bodies; the same
//! blocks and elimination as statics, factored once for any number of loads.

use nalgebra::Vector3;

use super::model::Model;
use super::simulation::Simulation;
use super::statics::{self, StaticsError};
use crate::elimination::Numeric;
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

/// The factored tangent at a state.
#[derive(Clone, Debug)]
pub struct Tangent<'m> {
    model: &'m Model<'m>,
    numeric: Numeric,
    poses: Vec<Pose>,
    /// Centre of mass of each node, world.
    centers: Vec<Vector3<f64>>,
    unknowns: Vec<f64>,
    stable: bool,
}

impl<'m> Simulation<'m> {
    /// The tangent at the present state under the present inputs. The state should be an equilibrium
    /// ([`Simulation::settle`]); an error says which motion nothing determines.
    pub fn tangent(&mut self) -> Result<Tangent<'m>, StaticsError> {
        let (model, inputs, state, work) = self.parts();
        let stable = statics::factor_tangent(model, inputs, state, work)?;
        Ok(Tangent {
            model,
            numeric: work.numeric.clone(),
            poses: state.poses.clone(),
            centers: work.frames[..model.nodes.len()].iter().map(|frame| frame.center).collect(),
            unknowns: vec![0.0; model.plan.unknowns()],
            stable,
        })
    }
}

impl Tangent<'_> {
    /// Whether the energy is convex along every motion that the joints allow.
    pub fn is_stable(&self) -> bool {
        self.stable
    }

    /// The small displacement of every body, world axes at its link frame, under more loads: dead
    /// wrenches in world axes at the link frames of bodies.
    pub fn displacement(&mut self, loads: &[(BodyId, Wrench)]) -> Vec<Twist> {
        let order = self.model.mechanism.order();
        self.unknowns.fill(0.0);
        for (body, load) in loads {
            let Some(n) = order.node_of(*body) else { continue };
            let arm = self.poses[body.index()].position - self.centers[n];
            let torque = load.torque + arm.cross(&load.force);
            let at = self.model.nodes[n].unknown;
            for k in 0..3 {
                self.unknowns[at + k] += load.force[k];
                self.unknowns[at + 3 + k] += torque[k];
            }
        }
        self.numeric.solve(&self.model.plan, &mut self.unknowns);
        (0..self.poses.len())
            .map(|b| {
                let Some(n) = order.node_of(BodyId::from_index(b)) else { return Twist::ZERO };
                let x = &self.unknowns[self.model.nodes[n].unknown..];
                let (v, w) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
                Twist { linear: v + w.cross(&(self.poses[b].position - self.centers[n])), angular: w }
            })
            .collect()
    }
}
