//! A scene at rest as a mechanism: every contact that pushes becomes a spring between the two points that touch, so stiff that it is a
//! constraint, stretched so that it pushes with the force of the contact; free bases become joints without springs. The
//! mechanism is in equilibrium where the scene rests, and its compliance there is that of the scene as long as all contacts stick.
//!
//! The points stay where they are on both surfaces: exact for what rests on points, edges and flat sides. A round surface also rolls,
//! which is left out; `rolling.rs` says how much that is.
//!
//! Contact itself yields a little in a rest that is found by steps (its softness, 1e-3 of W_nn); constraints do not. That is 1.6 % of
//! the compliance of a block of 1 kg between fingers of 0.1 kg that turn on sides of 6 cm, and in proportion to W_nn (`tests/contact/rest.rs`).
//!
//! One point has three such springs however many others share the load, so that loads which are shared in many ways are no obstacle:
//! each spring yields by YIELD of the radius under the largest force of all.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::rolling::{Rolling, rolling_radius};
use super::scene::Scene;
use super::world::{Contact, Touched};
use crate::engine::Simulation;
use crate::full;
use crate::joints::JointKind;
use crate::mechanism::{
    BodyId, Defect, Element, InvalidMechanism, JointDescription, Mechanism, SpringDescription, SpringEnd,
    SpringStart, WORLD,
};
use crate::spatial::{Pose, log_rotation};

/// What the largest contact force stretches a contact's spring by, in radii.
const YIELD: f64 = 1e-9;

/// What the largest contact force moves by less than this, in radii, is not a motion but what the springs of contacts yield.
const MOTION: f64 = 1e-6;

/// A scene at rest as a mechanism whose contacts are constraints ([`Scene::stuck`]).
#[derive(Clone, Debug)]
pub struct Stuck {
    /// In equilibrium where the scene rests.
    pub simulation: full::Simulation,
    /// Of all contacts, N.
    largest_force: f64,
    pub(super) rolling: Vec<Rolling>,
}

impl Stuck {
    /// The least compliance that is a motion and not what contacts yield, rad/(N·m), translations in radii.
    pub fn least_compliance(&self) -> f64 {
        let radius = self.simulation.mechanism().radius();
        let radius = if radius > 0.0 { radius } else { 1.0 };
        if self.largest_force > 0.0 { MOTION / (self.largest_force * radius) } else { 0.0 }
    }

    /// Whether round surfaces touch, which would roll.
    pub fn has_round_contacts(&self) -> bool {
        !self.rolling.is_empty()
    }
}

impl Scene {
    /// The scene where it is, with every contact that pushes as a constraint, under the same loads, gravity and set-points: at rest
    /// ([`Scene::rest`]) it is in equilibrium.
    pub fn stuck(&mut self) -> Result<Stuck, InvalidMechanism> {
        if let Some((_, zone)) = self.world().zones().find(|(_, zone)| !zone.loads().is_empty()) {
            let at = self.mechanism().zones().iter().position(|own| own.name == zone.name());
            return Err(InvalidMechanism {
                defects: vec![Defect {
                    element: Element::Zone(at.unwrap_or(0)),
                    field: None,
                    message: format!(
                        "zone `{}` has contact: it is compliant, and contacts as constraints are rigid",
                        zone.name()
                    ),
                    help: "differences of equilibria under two loads have its compliance".into(),
                }],
            });
        }
        let state = self.state().clone();
        let (stuck, names) = self.stuck_mechanism(&state.poses)?;
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
        let largest_force = self.pushing().map(|contact| contact.force.norm()).fold(0.0, f64::max);
        let rolling = names.iter().filter_map(|(name, contact)| {
            let joint = stuck.find_joint(name)?;
            let sides = [contact.first, contact.second].map(|side| {
                let body = whole.body_ids().find(|body| self.touched(*body).ok() == Some(side));
                match body {
                    Some(body) => (&whole[body].shapes[..], own.poses[body.index()]),
                    None => (whole.world_shapes(), Pose::identity()),
                }
            });
            let radius = rolling_radius(sides, &contact.point, &contact.normal);
            let parent = stuck[joint].parent.map_or(Pose::identity(), |parent| own.poses[parent.index()]);
            let axes = (parent * stuck.frame_in_parent(&stuck[joint])).rotation;
            let axes = axes.to_rotation_matrix().into_inner();
            let stiffness = axes.transpose() * radius * axes * contact.force.dot(&contact.normal);
            (stiffness.amax() > 0.0).then_some(Rolling { joint, stiffness })
        });
        let rolling = rolling.collect();
        Ok(Stuck { simulation, largest_force, rolling })
    }

    fn pushing(&self) -> impl Iterator<Item = &Contact> {
        self.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0)
    }

    /// The mechanism, and the names of the joints that its contacts are.
    fn stuck_mechanism(
        &self,
        poses: &[Pose],
    ) -> Result<(Mechanism, Vec<(String, Contact)>), InvalidMechanism> {
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
        let largest = self.pushing().map(|contact| contact.force.norm()).fold(0.0, f64::max);
        let radius = whole.radius().max(self.world().largest_size());
        let stiffness = (largest / (YIELD * radius)).min(1e200);
        let mut names = Vec::new();
        for (i, contact) in self.pushing().enumerate() {
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
            names.push((name.clone(), *contact));
            builder.spring(SpringDescription::new(name, on, to).stiffness(stiffness));
        }
        Ok((builder.build()?.with_springs_as_joints()?, names))
    }
}

/// A name that no joint has, and no spring.
fn unused(mechanism: &Mechanism, mut name: String) -> String {
    let springs = mechanism.springs();
    while mechanism.find_joint(&name).is_some() || springs.iter().any(|spring| spring.name == name) {
        name.push('_');
    }
    name
}
