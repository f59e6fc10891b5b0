//! A scene at rest as a mechanism: every contact that pushes becomes a spring between the two points that touch, so stiff that it is a
//! constraint, stretched so that it pushes with the force of the contact; free bases become joints without springs. The
//! mechanism is in equilibrium where the scene rests, and its compliance there is that of the scene as long as all contacts stick.
//!
//! The points stay where they are on both surfaces: exact for what rests on points, edges and flat sides. A curved surface also rolls, which
//! moves its point by radius times angle; that changes the compliance by a part of about force·radius/stiffness of what turns.
//!
//! Contact itself yields a little in a rest that is found by steps (its softness, 1e-3 of W_nn); constraints do not. That is 1.6 % of
//! the compliance of a block of 1 kg between fingers of 0.1 kg that turn on sides of 6 cm, and in proportion to W_nn (`tests/contact/rest.rs`).
//!
//! One point has three such springs however many others share the load, so that loads which are shared in many ways are no obstacle:
//! each spring yields by YIELD of the radius under the largest force of all.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::scene::Scene;
use super::world::{Contact, Touched};
use crate::engine::Simulation;
use crate::full;
use crate::joints::JointKind;
use crate::mechanism::{
    BodyId, InvalidMechanism, JointDescription, Mechanism, SpringDescription, SpringEnd, SpringStart, WORLD,
};
use crate::spatial::{Pose, log_rotation};

/// What the largest contact force stretches a contact's spring by, in radii.
const YIELD: f64 = 1e-9;

impl Scene {
    /// The scene where it is, with every contact that pushes as a constraint, under the same loads, gravity and set-points: at rest
    /// ([`Scene::rest`]) it is in equilibrium.
    pub fn stuck(&mut self) -> Result<full::Simulation, InvalidMechanism> {
        let state = self.state().clone();
        let stuck = self.stuck_mechanism(&state.poses)?;
        let whole = self.mechanism().clone();
        let mut simulation = full::Model::new(&stuck).simulate();
        let mut own = simulation.state().clone();
        own.poses.clone_from(&state.poses);
        own.coordinates[..whole.coordinate_count()].copy_from_slice(&state.coordinates);
        for joint in &stuck.joints()[whole.joints().len()..] {
            let parent = joint.parent.map_or(Pose::identity(), |parent| own.poses[parent.index()]);
            let parent = parent * stuck.frame_in_parent(joint);
            let child = own.poses[joint.child.index()] * stuck.frame_in_child(joint);
            let between = parent.inverse_times(&child);
            let turn = log_rotation(&between.rotation);
            let q = [between.position.as_slice(), turn.as_slice()].concat();
            own.coordinates[joint.coordinates()].copy_from_slice(&q);
        }
        simulation.set_state(&own).expect("a state of this mechanism");
        let VALID = "inputs of the same elements";
        let inputs = simulation.inputs_mut();
        inputs.set_gravity(self.inputs().gravity().into()).expect(VALID);
        for (id, of) in stuck.effector_ids().zip(whole.effector_ids()) {
            inputs.set_load(id, self.inputs().load(of).expect(VALID)).expect(VALID);
        }
        for (id, load) in stuck.body_ids().zip(&self.inputs().body_loads) {
            inputs.set_body_load(id, *load).expect(VALID);
        }
        for (id, joint) in stuck.joint_ids().zip(whole.joints()) {
            inputs.set_target(id, &self.inputs().rest()[joint.coordinates()]).expect(VALID);
        }
        Ok(simulation)
    }

    fn stuck_mechanism(&self, poses: &[Pose]) -> Result<Mechanism, InvalidMechanism> {
        let whole = self.mechanism();
        let bodies: HashMap<Touched, BodyId> =
            whole.body_ids().filter_map(|body| Some((self.touched(body).ok()?, body))).collect();
        let mut builder = whole.to_builder();
        for body in whole.bodies().iter().filter(|body| body.free) {
            builder.body_mut(&body.name).expect("a body of this mechanism").free = false;
            let name = unused(whole, format!("{} free", body.name));
            builder
                .joint(JointDescription::new(name, JointKind::Bushing, WORLD, &body.name).frame(body.pose));
        }
        let pushing = || self.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0);
        let largest = pushing().map(|contact| contact.force.norm()).fold(0.0, f64::max);
        let radius = whole.radius().max(self.world().largest_size());
        let stiffness = (largest / (YIELD * radius)).min(1e200);
        for (i, contact) in pushing().enumerate() {
            let Contact { first, second, point, force, .. } = *contact;
            // The force is that on the second.
            let (on, to, force) = match bodies.get(&second) {
                Some(on) => (*on, bodies.get(&first), force),
                None => match bodies.get(&first) {
                    Some(on) => (*on, None, -force),
                    None => continue,
                },
            };
            let frame = Pose::translation(poses[on.index()].inverse().transform_point(&point).into());
            let stretched: Vector3<f64> = point + force / stiffness;
            let to = match to {
                Some(to) => SpringEnd::Body {
                    body: whole[*to].name.clone(),
                    point: poses[to.index()].inverse().transform_point(&stretched).into(),
                },
                None => SpringEnd::Point(stretched.into()),
            };
            let on = SpringStart::Body { body: whole[on].name.clone(), frame };
            let name = unused(whole, format!("contact {i}"));
            builder.spring(SpringDescription::new(name, on, to).stiffness(stiffness));
        }
        builder.build()?.with_springs_as_joints()
    }
}

/// A name that no joint has.
fn unused(mechanism: &Mechanism, mut name: String) -> String {
    while mechanism.find_joint(&name).is_some() {
        name.push('_');
    }
    name
}
