//! The equations of motion at a state, as functions: forward and inverse dynamics, mass matrix, Jacobians, momentum.
//!
//! Everything is in the speeds of [`Model::speeds`]. Loops and couplings are not closed here: these are the equations of
//! the spanning forest.

use std::sync::Arc;

use nalgebra::{DMatrix, Vector3};

use super::loads;
use super::model::{Constants, Model, Motion};
use super::placing::{place_and_move, pose_of};
use super::slot::{Six, Slots};
use super::small::*;
use super::sweeps::{Along, NoPivot, inward, outward};
use crate::engine::Energy;
use crate::engine::State;
use crate::engine::{InputError, Inputs};
use crate::joints::JointKind;
use crate::mechanism::{BodyId, EffectorId, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench};

/// A motion that nothing resists: neither mass nor rotor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no inertia along `{freedom}` of `{element}`: its acceleration is not determined")]
pub struct NoMass {
    /// The joint, or the free base.
    pub element: String,
    /// Which of its freedoms.
    pub freedom: String,
}

/// The equations of motion of a model at a state.
///
/// ```
/// use pliant_core::{articulated, engine::Inputs, gallery};
///
/// let mechanism = gallery::chain(4);
/// let model = articulated::Model::new(&mechanism);
/// let (inputs, mut dynamics) = (Inputs::new(&mechanism), model.dynamics());
///
/// // Inverse dynamics: what motors must do to hold it still against gravity.
/// let mut motors = [0.0; 4];
/// dynamics.forces(&inputs, &[0.0; 4], &mut motors);
/// assert!((motors[0] + 0.4 * 9.81 * 0.2).abs() < 1e-9); // 0.4 kg, 0.2 m away
///
/// // Forward dynamics: with that, nothing moves.
/// let mut accelerations = [1.0; 4];
/// dynamics.accelerations(&inputs, &motors, &mut accelerations)?;
/// assert!(accelerations.iter().all(|a| a.abs() < 1e-9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dynamics {
    pub(super) model: Arc<Constants>,
    pub(super) state: State,
    twist: Twist,
    pub(super) work: Slots,
    /// A wrench for each slot.
    pub(super) wrenches: Vec<Six>,
}

impl Model {
    /// The equations of motion where the mechanism starts, at rest.
    pub fn dynamics(&self) -> Dynamics {
        let mut dynamics = Dynamics {
            model: self.constants.clone(),
            state: State::at_rest(self.mechanism()),
            twist: Twist::ZERO,
            work: Slots::new(&self.constants),
            wrenches: vec![[0.0; 6]; self.constants.nodes.len() + 1],
        };
        dynamics.place();
        dynamics
    }
}

impl Constants {
    pub(super) fn no_mass(&self, pivot: NoPivot) -> NoMass {
        let node = &self.mechanism.order().nodes()[pivot.node];
        // A free base moves as a bushing does.
        let (element, kind) = match node.joint.map(|joint| &self.mechanism[joint]) {
            Some(joint) => (&joint.name, &joint.kind),
            None => (&self.mechanism[node.head].name, &JointKind::Bushing),
        };
        NoMass { element: element.clone(), freedom: kind.coordinate_name(pivot.freedom).into() }
    }
}

impl Dynamics {
    /// Goes to a state: its coordinates, rates and base, and the poses and twists of free bases. The base is taken to
    /// move steadily, with the twist given (world axes, at its origin).
    pub fn set_state(&mut self, state: &State, base_twist: Twist) -> Result<(), InputError> {
        state.check(&self.model.mechanism)?;
        self.state.clone_from(state);
        self.twist = base_twist;
        self.place();
        Ok(())
    }

    /// The state, with poses and twists of all bodies as its coordinates and rates make them.
    pub fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn place(&mut self) {
        place_and_move(&mut self.work, &self.model, &mut self.state, &self.twist);
    }

    /// The speeds of the state.
    pub fn speeds(&self) -> Vec<f64> {
        let mut speeds = vec![0.0; self.model.speeds];
        for node in &self.model.nodes {
            match node.motion {
                Motion::Hinge => speeds[node.speed] = self.state.rates[node.coordinate],
                Motion::General(g) | Motion::Free(g) => {
                    let d = self.model.general[g].freedoms;
                    speeds[node.speed..node.speed + d].copy_from_slice(&self.work.general[g].speeds[..d]);
                }
            }
        }
        speeds
    }

    /// Forward dynamics: the rates of the speeds, under the inputs' gravity, loads and spring couplings, the joints' springs,
    /// dampers and limits as they are now, and further forces along the speeds (N or N·m). Both lists have one
    /// number per speed. Allocates nothing.
    pub fn accelerations(
        &mut self,
        inputs: &Inputs,
        forces: &[f64],
        accelerations: &mut [f64],
    ) -> Result<(), NoMass> {
        self.place();
        loads::apply_now(&self.model, inputs, &mut self.work);
        let g = v(&inputs.gravity);
        let along = Along { forces: Some(forces), ..Along::now(&self.state, inputs) };
        inward(&mut self.work, &self.model, along).map_err(|pivot| self.model.no_mass(pivot))?;
        (self.work.slots[0].av, self.work.slots[0].aw) = (scale(g, -1.0), ZERO);
        outward(&mut self.work, &self.model, scale(g, -1.0));
        accelerations.copy_from_slice(&self.work.found);
        Ok(())
    }

    /// M⁻¹ x: the rates of the speeds that forces x along them make of a mechanism at rest that nothing else
    /// acts on. Allocates nothing.
    pub fn inverse_mass_times(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), NoMass> {
        self.place();
        for slot in &mut self.work.slots {
            (slot.f, slot.t, slot.cv, slot.cw) = (ZERO, ZERO, ZERO, ZERO);
        }
        let along = Along {
            state: &self.state,
            laws: &self.model.laws,
            rest: None,
            forces: Some(x),
            gravity: ZERO,
            h: 0.0,
            ahead: &[],
            hanging: false,
            floating: None,
        };
        inward(&mut self.work, &self.model, along).map_err(|pivot| self.model.no_mass(pivot))?;
        (self.work.slots[0].av, self.work.slots[0].aw) = (ZERO, ZERO);
        outward(&mut self.work, &self.model, ZERO);
        out.copy_from_slice(&self.work.found);
        Ok(())
    }

    /// The Jacobian of a frame on a body, 6×speeds: its twist per speed, in the frame's own axes at its origin.
    pub fn jacobian(&self, body: BodyId, frame: &Pose) -> Result<DMatrix<f64>, UnknownHandle> {
        self.model.mechanism.body(body)?;
        let mut J = DMatrix::zeros(6, self.model.speeds);
        let (mut slot, frame) = self.model.frame_in_slot(body, frame);
        let at = pose_of(&self.work.slots[slot]) * frame;
        while slot > 0 {
            let here = &self.work.slots[slot];
            let node = &self.model.nodes[slot - 1];
            // A motion at o, moved to the frame's origin and turned into its axes.
            let o = Vector3::from(here.o);
            let mut set = |k: usize, l: Vector3<f64>, a: Vector3<f64>| {
                let moved = Twist::new(l + a.cross(&(at.position - o)), a);
                let (l, a) = (at.rotation.inverse() * moved.linear, at.rotation.inverse() * moved.angular);
                J.column_mut(node.speed + k).copy_from(&Twist::new(l, a).to_vector());
            };
            match node.motion {
                Motion::Hinge => set(0, Vector3::zeros(), here.axis.into()),
                Motion::General(g) | Motion::Free(g) => {
                    for k in 0..self.model.general[g].freedoms {
                        let [x, y, z, a, b, c] = self.work.general[g].S[k];
                        set(k, Vector3::new(x, y, z), Vector3::new(a, b, c));
                    }
                }
            }
            slot = if matches!(node.motion, Motion::Free(_)) { 0 } else { node.parent };
        }
        Ok(J)
    }

    /// The Jacobian of an effector's frame.
    pub fn effector_jacobian(&self, effector: EffectorId) -> Result<DMatrix<f64>, UnknownHandle> {
        let effector = self.model.mechanism.effector(effector)?;
        self.jacobian(effector.body, &effector.frame)
    }

    /// Mass (kg), centre of mass (m) and its velocity (m/s), world axes, of all that moves; `None` if nothing does.
    pub fn center_of_mass(&self) -> Option<(f64, Vector3<f64>, Vector3<f64>)> {
        let (mut mass, mut first, mut momentum) = (0.0, Vector3::zeros(), Vector3::zeros());
        for (node, slot) in self.model.nodes.iter().zip(&self.work.slots[1..]) {
            let arm = turn::<false>(&slot.R, node.center);
            mass += node.mass;
            first += Vector3::from(plus(slot.o, arm)) * node.mass;
            momentum += Vector3::from(add_cross::<false>(slot.w, arm, slot.v)) * node.mass;
        }
        (mass > 0.0).then(|| (mass, first / mass, momentum / mass))
    }

    /// Linear momentum (N·s), and angular momentum about the world's origin (N·m·s), of all bodies, world axes.
    /// Rotors have none: they are not part of any body.
    pub fn momentum(&self) -> Wrench {
        let bodies = self.model.mechanism.bodies().iter().zip(&self.state.poses).zip(&self.state.twists);
        bodies.fold(Wrench::ZERO, |sum, ((body, pose), twist)| {
            sum + pose.wrench_to_outer(&body.inertia.momentum(twist))
        })
    }

    /// Kinetic energy, and that of springs and gravity under the inputs, J; limits not included.
    pub fn energy(&self, inputs: &Inputs) -> Energy {
        Energy::of(&self.state, &self.model.mechanism, inputs)
    }
}
