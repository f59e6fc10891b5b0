//! Loads off the effectors, and set-points: condensed to the coordinates z, and what they do to the links near them.
//!
//! A load f gives Q = Nᵀf along z and moves the links by ξ_f − N K⁻¹Q more than z says; a set-point
//! θ* is the load k(θ* − q̄) on its coordinate. One solve with the whole mechanism, only when loads change.

use super::kkt::{Columns, Undetermined};
use super::model::Constants;
use crate::engine::Inputs;
use crate::mechanism::EffectorId;
use crate::spatial::{Pose, Twist, Wrench};

/// Loads as they were condensed last, and what came out.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// Loads and set-points, one column; then the answer.
    columns: Columns,
    /// What the last answer was for.
    last: Vec<f64>,
    now: Vec<f64>,
    /// Of each component: Q, the rest of the nodes' twists and of the coordinates, and ΣAdᵀf at the base.
    pub condensed: Vec<Condensed>,
    /// Loads on nodes that carry an effector: (effector, where in its frame, wrench).
    pub direct: Vec<(usize, Pose, Wrench)>,
}

/// The loads of one component.
#[derive(Clone, Debug)]
pub(super) struct Condensed {
    pub force: Vec<f64>,
    pub nodes: Vec<f64>,
    pub coordinates: Vec<f64>,
    pub on_base: Wrench,
    /// Whether a load of the world acts, which turns with the base.
    pub outside: bool,
}

impl Loads {
    pub fn new(model: &Constants) -> Loads {
        let condensed = (model.components.iter())
            .map(|c| Condensed {
                force: vec![0.0; c.size()],
                nodes: vec![0.0; 6 * c.part.nodes.len()],
                coordinates: vec![0.0; c.coordinates.len()],
                on_base: Wrench::ZERO,
                outside: false,
            })
            .collect();
        let columns = model.kkt.columns(&model.reference, 1);
        let numbers = columns.nodes.len() + columns.coordinates.len();
        let mechanism = &model.reference.mechanism;
        let most = mechanism.bodies().len() + mechanism.effectors().len();
        Loads {
            columns,
            last: vec![0.0; numbers],
            now: vec![0.0; numbers],
            condensed,
            direct: Vec::with_capacity(most),
        }
    }

    /// Forgets what was condensed last.
    pub fn forget(&mut self) {
        self.last.fill(f64::NAN);
    }

    /// Condenses the present loads with each component's base where it is. Returns whether anything changed.
    pub fn condense(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        bases: &[Pose],
    ) -> Result<bool, Undetermined> {
        let reference = &model.reference;
        let mechanism = &reference.mechanism;
        self.now.fill(0.0);
        self.direct.clear();
        self.condensed.iter_mut().for_each(|c| (c.on_base, c.outside) = (Wrench::ZERO, false));
        let (nodes, coordinates) = self.now.split_at_mut(self.columns.nodes.len());
        let linear = |id: EffectorId| model.effectors.iter().any(|e| e.frame.id == Some(id));
        let of_effectors = (inputs.effector_loads.iter().enumerate())
            .filter(|(e, load)| **load != Wrench::ZERO && !linear(mechanism.effector_id(*e)))
            .map(|(e, load)| (&mechanism.effectors()[e], load))
            .map(|(effector, load)| (effector.body, effector.frame, load));
        let of_bodies = (inputs.body_loads.iter().enumerate())
            .filter(|(_, load)| **load != Wrench::ZERO)
            .map(|(b, load)| (mechanism.body_id(b), Pose::identity(), load));
        for (body, frame, load) in of_effectors.chain(of_bodies) {
            let (Some(node), offset) = reference.place(body) else { continue };
            let (c, at) = model.place_of_node[node];
            let frame = offset * frame;
            // At a loaded pose the stiffness has the turning of its loads in it already: all are condensed.
            let on_effector = model.effectors.iter().position(|e| e.component == c && e.node == at);
            if let Some(e) = on_effector.filter(|_| reference.loads.is_none()) {
                self.direct.push((e, model.effectors[e].in_node.inverse_times(&frame), *load));
                continue;
            }
            // In the node's axes, at its reference pose on the present base.
            let component = &model.components[c];
            let rest = component.base_pose.inverse_times(&reference.poses[node]);
            let local = super::dynamics::in_frame(&(bases[c] * rest), &frame, load);
            self.condensed[c].on_base = self.condensed[c].on_base + rest.wrench_to_outer(&local);
            self.condensed[c].outside = true;
            (0..6).for_each(|i| nodes[6 * node + i] += local.to_vector()[i]);
        }
        for joint in &reference.joints {
            for k in 0..joint.freedoms() {
                let q = joint.coordinate + k;
                coordinates[q] = joint.force(k, inputs.rest[q], reference.coordinates[q]);
            }
        }
        if self.now == self.last {
            return Ok(false);
        }
        let (nodes, coordinates) = self.now.split_at(self.columns.nodes.len());
        self.columns.nodes.copy_from_slice(nodes);
        self.columns.coordinates.copy_from_slice(coordinates);
        for (component, condensed) in model.components.iter().zip(&mut self.condensed) {
            let n = component.size();
            condensed.force.fill(0.0);
            let shapes = &component.shapes;
            let mut add = |row: &[f64], load: f64| {
                condensed.force.iter_mut().zip(row).for_each(|(f, s)| *f += s * load);
            };
            for (at, &node) in component.part.nodes.iter().enumerate() {
                (0..6).for_each(|i| {
                    add(&shapes.nodes[(6 * at + i) * n..(6 * at + i + 1) * n], nodes[6 * node + i])
                });
            }
            for (at, &(_, _, q)) in component.coordinates.iter().enumerate() {
                add(&shapes.coordinates[at * n..(at + 1) * n], coordinates[q]);
            }
        }
        if self.now.iter().any(|x| *x != 0.0) {
            self.forget(); // what was condensed is gone, should this fail
            model.kkt.solve(&mut self.columns)?;
        }
        std::mem::swap(&mut self.last, &mut self.now);
        for (component, condensed) in model.components.iter().zip(&mut self.condensed) {
            let n = component.size();
            let shapes = &component.shapes;
            // ξ_f − N K⁻¹ Q
            let rest = |answer: f64, row: &[f64]| {
                let static_part: f64 =
                    (0..n).map(|i| row[i] * condensed.force[i] / component.stiffness[i]).sum();
                answer - static_part
            };
            for (at, &node) in component.part.nodes.iter().enumerate() {
                for i in 0..6 {
                    let row = &shapes.nodes[(6 * at + i) * n..(6 * at + i + 1) * n];
                    condensed.nodes[6 * at + i] = rest(self.columns.nodes[6 * node + i], row);
                }
            }
            for (at, &(_, _, q)) in component.coordinates.iter().enumerate() {
                let row = &shapes.coordinates[at * n..(at + 1) * n];
                condensed.coordinates[at] = rest(self.columns.coordinates[q], row);
            }
        }
        Ok(true)
    }
}

/// What gravity and the base's own acceleration are to the links: an acceleration of everything, base axes.
pub(crate) fn felt(gravity: &nalgebra::Vector3<f64>, acceleration: &Twist, base: &Pose) -> Twist {
    let r = base.rotation.inverse();
    Twist { linear: r * (gravity - acceleration.linear), angular: -(r * acceleration.angular) }
}
