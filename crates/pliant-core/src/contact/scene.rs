//! A scene file in motion: a mechanism with world shapes and free bodies, by the engine of its choice.

use super::actor::Actor;
use super::collider::Surfaces;
use super::error::ContactError;
use super::world::{ActorId, FreeBodyId, Report, Touched, World};
use crate::full::{Energy, StepError};
use crate::inputs::Inputs;
use crate::mechanism::{Apart, BodyId, Effector, EffectorId, Mechanism, Whereabouts};
use crate::spatial::{Pose, Twist, Wrench};
use crate::state::State;

/// A mechanism that touches the world and its free bodies. Inputs and state are those of the whole mechanism.
///
/// ```
/// use pliant_core::contact::{Scene, Surfaces};
/// use pliant_core::{articulated, gallery};
///
/// let whole = gallery::gripper_pick(); // a gripper, a table and a block
/// let apart = whole.take_apart();
/// let held = apart.held.as_ref().ok_or("no gripper")?;
/// let model = articulated::Model::new(held);
/// let mut scene = Scene::new(&whole, &apart, Some(model.simulate().into()), Surfaces::new())?;
/// let block = whole.find_body("block").ok_or("no block")?;
/// let before = scene.pose(block).position.z;
/// for k in 0..250 {
///     scene.inputs_mut().follow_targets(&whole, 0.008 * k as f64);
///     scene.step(0.008)?;
/// }
/// assert!(scene.pose(block).position.z > before + 0.08); // lifted by 10 cm
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene<'m> {
    whole: &'m Mechanism,
    apart: &'m Apart,
    world: World<'m>,
    actor: Option<ActorId>,
    loose: Vec<FreeBodyId>,
    inputs: Inputs,
    /// Whether the inputs changed since they were passed on.
    changed: bool,
    state: State,
    /// Whether the state tells where everything is.
    filled: bool,
}

impl<'m> Scene<'m> {
    /// Of a mechanism that was taken apart, with the engine that moves its held part.
    pub fn new(
        whole: &'m Mechanism,
        apart: &'m Apart,
        actor: Option<Actor<'m>>,
        surfaces: Surfaces,
    ) -> Result<Scene<'m>, ContactError> {
        let mut world = World::new(whole.gravity().into());
        world.set_surfaces(surfaces);
        for shape in whole.world_shapes() {
            world.add_shape(shape)?;
        }
        let actor = actor.map(|actor| world.add(actor)).transpose()?;
        let loose = apart.loose.iter().map(|body| world.add_body(body)).collect::<Result<_, _>>()?;
        Ok(Scene {
            whole,
            apart,
            world,
            actor,
            loose,
            inputs: Inputs::new(whole),
            changed: true,
            state: State::at_rest(whole),
            filled: false,
        })
    }

    /// The whole mechanism.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.whole
    }

    /// What touches.
    pub fn world(&self) -> &World<'m> {
        &self.world
    }

    /// What touches, to choose its solver.
    pub fn world_mut(&mut self) -> &mut World<'m> {
        self.filled = false;
        &mut self.world
    }

    /// The engine of what joints hold together.
    pub fn actor(&self) -> Option<&Actor<'m>> {
        self.actor.map(|id| self.world.actor(id))
    }

    /// What acts from outside; pulls and a moving base are those of the engine itself.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What acts from outside, to change it.
    pub fn inputs_mut(&mut self) -> &mut Inputs {
        self.changed = true;
        self.filled = false;
        &mut self.inputs
    }

    /// Goes on by dt seconds. On an error everything is what it was.
    pub fn step(&mut self, dt: f64) -> Result<Report, StepError> {
        if std::mem::take(&mut self.changed) {
            self.pass_on();
            // The point of such a load goes along with its body.
            let loads = self.inputs.effector_loads.iter().zip(&self.apart.effectors);
            self.changed = loads.into_iter().any(|(w, place)| place.is_none() && *w != Wrench::ZERO);
        }
        let report = self.world.step(dt)?;
        self.filled = false;
        Ok(report)
    }

    /// Gives everything its inputs.
    fn pass_on(&mut self) {
        let Scene { whole, apart, inputs, .. } = self;
        self.world.set_gravity(inputs.gravity.into());
        if let Some(actor) = self.actor {
            let own = self.world.actor_mut(actor).inputs_mut();
            own.gravity = inputs.gravity;
            own.rest.copy_from_slice(&inputs.rest);
            for (load, place) in inputs.effector_loads.iter().zip(&apart.effectors) {
                if let Some(effector) = place {
                    own.effector_loads[effector.index()] = *load;
                }
            }
            for (load, place) in inputs.body_loads.iter().zip(&apart.bodies) {
                if let Whereabouts::Held(body) = place {
                    own.body_loads[body.index()] = *load;
                }
            }
        }
        for (b, place) in apart.bodies.iter().enumerate() {
            let Whereabouts::Loose(at) = place else { continue };
            let mut sum = inputs.body_loads[b];
            // Loads on effectors turn with nothing: they are dead, at a point that the body carries.
            let pose = self.world.body(self.loose[*at]).pose();
            for (effector, load) in whole.effectors().iter().zip(&inputs.effector_loads) {
                if effector.body.index() == b {
                    let arm = pose.rotation * effector.frame.position;
                    sum = sum + Wrench { force: load.force, torque: load.torque + arm.cross(&load.force) };
                }
            }
            self.world.body_mut(self.loose[*at]).set_load(sum);
        }
    }

    /// Where everything is.
    pub fn state(&mut self) -> &State {
        if !std::mem::replace(&mut self.filled, true) {
            self.fill();
        }
        &self.state
    }

    fn fill(&mut self) {
        let state = &mut self.state;
        (state.time, state.steps) = (self.world.time(), self.world.steps());
        if let Some(actor) = self.actor {
            let own = self.world.actor_mut(actor).state();
            for (b, place) in self.apart.bodies.iter().enumerate() {
                if let Whereabouts::Held(body) = place {
                    state.poses[b] = own.poses[body.index()];
                    state.twists[b] = own.twists[body.index()];
                }
            }
            state.coordinates.copy_from_slice(&own.coordinates);
            state.rates.copy_from_slice(&own.rates);
            state.forces.copy_from_slice(&own.forces);
            state.multipliers.copy_from_slice(&own.multipliers);
            state.base = own.base;
        }
        for (b, place) in self.apart.bodies.iter().enumerate() {
            let Whereabouts::Loose(at) = place else { continue };
            let body = self.world.body(self.loose[*at]);
            let (pose, twist) = (body.pose(), body.twist());
            let back = pose.rotation.inverse();
            state.poses[b] = pose;
            state.twists[b] = Twist { linear: back * twist.linear, angular: back * twist.angular };
        }
    }

    /// The link frame of a body of the whole mechanism in the world.
    pub fn pose(&mut self, body: BodyId) -> Pose {
        self.state().pose(body)
    }

    /// The frame of an effector in the world, as its engine has it.
    pub fn effector_pose(&self, effector: EffectorId) -> Pose {
        let Effector { body, frame, .. } = self.whole.effector(effector);
        match (self.touched(*body), self.apart.effectors[effector.index()]) {
            (Touched::Mechanism(actor, _), Some(own)) => self.world.actor(actor).effector_pose(own),
            (Touched::Free(id), _) => self.world.body(id).pose() * *frame,
            _ => self.whole.body(*body).pose * *frame,
        }
    }

    /// What contact knows a body as.
    pub fn touched(&self, body: BodyId) -> Touched {
        match (self.apart.bodies[body.index()], self.actor) {
            (Whereabouts::Loose(at), _) => Touched::Free(self.loose[at]),
            (Whereabouts::Held(own), Some(actor)) => Touched::Mechanism(actor, own),
            (Whereabouts::Held(_), None) => Touched::World,
        }
    }

    /// Kinetic, elastic and potential energy.
    pub fn energy(&mut self) -> Energy {
        self.state();
        Energy::of(&self.state, self.whole, &self.inputs)
    }

    /// Sum over joints of the gap between the attachment points, over the mechanism's radius.
    pub fn violation(&mut self) -> f64 {
        let whole = self.whole;
        self.state().violation(whole)
    }
}
