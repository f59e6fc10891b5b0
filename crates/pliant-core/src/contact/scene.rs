//! A scene in motion: a mechanism with world shapes and free bodies, by the engine of its choice.

use super::collider::Surfaces;
use super::error::ContactError;
use super::world::{FreeBodyId, INSIDE, Report, SimulationId, Touched, World};
use crate::engine::touch::{Internal, Touch};
use crate::engine::{
    self, Equilibrium, InputError, Inputs, JointProperty, Simulation, State, StaticsError, StaticsSettings,
    StepError, Unsupported,
};
use crate::mechanism::{Apart, BodyId, Effector, EffectorId, JointId, Mechanism, UnknownHandle, Whereabouts};
use crate::spatial::{Pose, Twist, Wrench};

/// A mechanism that touches the world and its free bodies. It is a [`Simulation`] of the whole mechanism, whose step is
/// that of its [`World`].
///
/// ```
/// use pliant_core::contact::{Scene, Surfaces};
/// use pliant_core::{articulated, engine::Simulation, gallery};
///
/// let mechanism = gallery::gripper_pick(); // a gripper, a table and a block
/// let mut scene = Scene::new(&mechanism, Surfaces::new(), |held| articulated::Model::new(held).simulate())?;
/// let block = mechanism.find_body("block").ok_or("no block")?;
/// let before = scene.pose(block)?.position.z;
/// (0..250).try_for_each(|_| scene.step(0.008))?; // the scene's targets close it and lift
/// assert!(scene.pose(block)?.position.z > before + 0.08); // by 10 cm
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    whole: Mechanism,
    apart: Apart,
    world: World,
    simulation: Option<SimulationId>,
    loose: Vec<FreeBodyId>,
    inputs: Inputs,
    /// Whether the inputs changed since they were passed on.
    changed: bool,
    state: State,
    /// Whether the state is that of the world.
    filled: bool,
}

impl Scene {
    /// Of a whole mechanism; `simulate` makes the simulation of what its joints hold together, if they hold anything.
    pub fn new<S: Into<Box<dyn Simulation>>>(
        whole: &Mechanism,
        surfaces: Surfaces,
        simulate: impl FnOnce(&Mechanism) -> S,
    ) -> Result<Scene, ContactError> {
        let apart = whole.take_apart();
        let simulation = apart.held.as_ref().map(|held| simulate(held).into());
        let scene = Scene::of(whole, apart, surfaces, simulation)?;
        scene.check_start().map(|()| scene)
    }

    /// An error if shapes start inside each other: which way is out is not known, so no motion from there is right.
    pub fn check_start(&self) -> Result<(), ContactError> {
        match self.world.warnings().iter().find(|warning| warning.kind == INSIDE) {
            Some(inside) => Err(ContactError::Inside { text: inside.text.clone() }),
            None => Ok(()),
        }
    }

    /// Of a mechanism that was taken apart, with the simulation of what its joints hold together. Shapes may start inside each
    /// other ([`Scene::check_start`]).
    pub fn of(
        whole: &Mechanism,
        apart: Apart,
        surfaces: Surfaces,
        simulation: Option<Box<dyn Simulation>>,
    ) -> Result<Scene, ContactError> {
        if !apart.is_of(whole) {
            return Err(ContactError::Apart { mechanism: whole.name().into() });
        }
        let mut world = World::new(whole.gravity().into());
        world.set_surfaces(surfaces);
        for shape in whole.world_shapes() {
            world.add_shape(shape)?;
        }
        if let Some(simulation) = &simulation {
            let own = simulation.mechanism();
            if apart.held.as_ref().is_none_or(|held| held.marks() != own.marks()) {
                return Err(ContactError::Foreign { mechanism: own.name().into() });
            }
        }
        let simulation = simulation.map(|simulation| world.add(simulation)).transpose()?;
        let loose: Vec<FreeBodyId> =
            apart.loose.iter().map(|body| world.add_body(body)).collect::<Result<_, _>>()?;
        // Those of what joints hold together came with it.
        for zone in whole.zones() {
            match zone.body.map(|body| (body, apart.bodies[body.index()])) {
                None => world.add_zone(Touched::World, &zone.description, whole.world_shapes())?,
                Some((body, Whereabouts::Loose(at))) => {
                    world.add_zone(Touched::Free(loose[at]), &zone.description, &whole[body].shapes)?
                }
                Some((_, Whereabouts::Held(_))) => continue,
            };
        }
        Ok(Scene {
            apart,
            world,
            simulation,
            loose,
            inputs: Inputs::new(whole),
            changed: true,
            state: State::at_rest(whole),
            filled: false,
            whole: whole.clone(),
        })
    }

    /// What touches.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What touches, to choose its solver. Inputs are those of the scene.
    pub fn world_mut(&mut self) -> &mut World {
        self.filled = false;
        &mut self.world
    }

    /// What the last step came to.
    pub fn report(&self) -> Report {
        self.world.report()
    }

    /// What contact knows a body as.
    pub fn touched(&self, body: BodyId) -> Result<Touched, UnknownHandle> {
        self.whole.body(body)?;
        Ok(match (self.apart.bodies[body.index()], self.simulation) {
            (Whereabouts::Loose(at), _) => Touched::Free(self.loose[at]),
            (Whereabouts::Held(own), Some(simulation)) => Touched::Mechanism(simulation, own),
            (Whereabouts::Held(_), None) => Touched::World,
        })
    }

    /// An error where inputs are those of another mechanism, of the whole or of what joints hold together.
    pub(super) fn check_inputs(&self) -> Result<(), InputError> {
        let held = self.held().map_or(Ok(()), |held| held.inputs().check(held.mechanism()));
        self.inputs.check(&self.whole).and(held)
    }

    /// The simulation of what joints hold together.
    fn held(&self) -> Option<&dyn Touch> {
        self.simulation.map(|id| &*self.world.simulations[id.index])
    }

    pub(super) fn held_mut(&mut self) -> Option<&mut Box<dyn Touch>> {
        self.simulation.map(|id| &mut self.world.simulations[id.index])
    }

    /// Gives everything its inputs.
    fn pass_on(&mut self) -> Result<(), StepError> {
        let Scene { whole, apart, inputs, .. } = self;
        for spring in &inputs.springs {
            if let Whereabouts::Loose(_) = apart.bodies[spring.body.index()] {
                return Err(StepError::Spring {
                    body: whole[spring.body].name.clone(),
                    why: "it is a free body; spring couplings act on bodies with joints",
                });
            }
        }
        self.world.set_gravity(inputs.gravity.into());
        if let Some(id) = self.simulation {
            let own = self.world.simulations[id.index].inputs_mut();
            own.gravity = inputs.gravity;
            own.copy_rests(inputs);
            (own.base, own.base_twist) = (inputs.base, inputs.base_twist);
            own.follow_as(inputs);
            own.copy_springs(inputs);
            for spring in &mut own.springs {
                if let Whereabouts::Held(body) = apart.bodies[spring.body.index()] {
                    spring.body = body;
                }
            }
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
            let body = &mut self.world.bodies[self.loose[*at].index];
            let mut sum = inputs.body_loads[b];
            // Loads on effectors turn with nothing: they are dead, at a point that the body carries.
            for (effector, load) in whole.effectors().iter().zip(&inputs.effector_loads) {
                if effector.body.index() == b {
                    let arm = body.pose().rotation * effector.frame.position;
                    sum = sum + Wrench { force: load.force, torque: load.torque + arm.cross(&load.force) };
                }
            }
            body.set_load(sum);
        }
        Ok(())
    }

    fn fill(&mut self) {
        let state = &mut self.state;
        (state.time, state.steps) = (self.world.time(), self.world.steps());
        if let Some(id) = self.simulation {
            let own = self.world.simulations[id.index].state();
            for (b, place) in self.apart.bodies.iter().enumerate() {
                if let Whereabouts::Held(body) = place {
                    state.poses[b] = own.poses[body.index()];
                    state.twists[b] = own.twists[body.index()];
                }
            }
            state.copy_joints(own);
        }
        for (b, place) in self.apart.bodies.iter().enumerate() {
            let Whereabouts::Loose(at) = place else { continue };
            let body = &self.world.bodies[self.loose[*at].index];
            state.poses[b] = body.pose();
            state.twists[b] = body.twist().turned(&body.pose().rotation.inverse());
        }
    }
}

impl Internal for Scene {
    fn as_simulation(&self) -> &dyn Simulation {
        self
    }

    fn boxed(&self) -> Box<dyn Simulation> {
        Box::new(self.clone())
    }

    fn into_touch(self: Box<Self>) -> Option<Box<dyn Touch>> {
        None
    }

    fn body_pose(&self, body: usize) -> Pose {
        match (self.apart.bodies[body], self.held()) {
            (Whereabouts::Loose(at), _) => self.world.bodies[self.loose[at].index].pose(),
            (Whereabouts::Held(own), Some(held)) => held.body_pose(own.index()),
            (Whereabouts::Held(_), None) => self.whole.bodies()[body].pose,
        }
    }

    /// That of what joints hold together; `contact` if there are free bodies only.
    fn name(&self) -> &'static str {
        self.held().map_or("contact", |held| held.name())
    }

    fn whole(&self) -> &Mechanism {
        &self.whole
    }

    fn refresh(&mut self) {
        if !std::mem::replace(&mut self.filled, true) {
            self.fill();
        }
    }

    fn state_and_inputs(&self) -> (&State, &Inputs) {
        (&self.state, &self.inputs)
    }

    fn own_inputs(&mut self) -> &mut Inputs {
        &mut self.inputs
    }

    fn bound_friction(&mut self) -> bool {
        self.held_mut().is_some_and(|held| held.bound_friction())
    }
}

impl engine::Simulation for Scene {
    fn inputs_mut(&mut self) -> &mut Inputs {
        (self.changed, self.filled) = (true, false);
        &mut self.inputs
    }

    fn time(&self) -> f64 {
        self.world.time()
    }

    fn steps(&self) -> u64 {
        self.world.steps()
    }

    fn largest_turn(&self) -> f64 {
        self.held().map_or(0.0, |held| held.largest_turn())
    }

    fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.check_inputs()?;
        self.inputs.follow_targets(self.world.time() + dt);
        self.changed |= self.inputs.follows_springs();
        if self.changed {
            self.pass_on()?;
            // The point of such a load moves with its body.
            let loads = self.inputs.effector_loads.iter().zip(&self.apart.effectors);
            self.changed = loads.into_iter().any(|(w, place)| place.is_none() && *w != Wrench::ZERO);
        }
        self.world.step(dt)?;
        self.filled = false;
        Ok(())
    }

    /// Contact starts without a history: what pushed in the last step is not part of a state. [`World::save`] keeps that too.
    fn set_state(&mut self, state: &State) -> Result<(), InputError> {
        state.check(&self.whole)?;
        if let Some(held) = &self.apart.held {
            let mut own = State::at_rest(held);
            (own.time, own.steps) = (state.time, state.steps);
            for (b, place) in self.apart.bodies.iter().enumerate() {
                if let Whereabouts::Held(body) = place {
                    own.poses[body.index()] = state.poses[b];
                    own.twists[body.index()] = state.twists[b];
                }
            }
            own.copy_joints(state);
            if let Some(held) = self.held_mut() {
                held.set_state(&own)?;
            }
        }
        for (b, place) in self.apart.bodies.iter().enumerate() {
            let Whereabouts::Loose(at) = place else { continue };
            let body = &mut self.world.bodies[self.loose[*at].index];
            body.place(state.poses[b], state.world_twist_at(b));
        }
        self.inputs.set_base(state.base, Twist::ZERO)?;
        self.world.set_time(state.time, state.steps);
        (self.changed, self.filled) = (true, false);
        Ok(())
    }

    fn set_joint(
        &mut self,
        joint: JointId,
        property: JointProperty,
        values: &[f64],
    ) -> Result<(), InputError> {
        self.whole.joint(joint)?;
        if let Some(held) = self.held_mut() {
            // What joints hold together has all joints, in the same order.
            let own = held.mechanism().joint_ids().nth(joint.index()).expect("a joint of the same place");
            held.set_joint(own, property, values)?;
        }
        self.inputs.set_joint(joint, property, values)
    }

    fn teleport(&mut self, _: &Pose) -> Result<(), InputError> {
        let engine = engine::Simulation::engine(self);
        Err(Unsupported {
            engine,
            what: "teleport in a scene with contact, whose world does not move",
            engines: &[],
        }
        .into())
    }

    /// [`Scene::rest`] says more.
    fn settle(&mut self, settings: &StaticsSettings) -> Result<Equilibrium, StaticsError> {
        let rest = self.rest_within(200 * settings.iterations).map_err(|error| match error {
            StepError::Unsupported(error) => error.into(),
            StepError::Inputs(error) => error.into(),
            error => StaticsError::Failed(error.to_string()),
        })?;
        Ok(Equilibrium {
            converged: rest.converged,
            residual: rest.moved / self.whole.radius(),
            iterations: rest.steps,
            load_steps: 1,
            load_reached: if rest.converged { 1.0 } else { 0.0 },
            stable: rest.converged,
            ..Equilibrium::NONE
        })
    }

    fn estimate(&mut self) -> Result<f64, Unsupported> {
        let engine = engine::Simulation::engine(self);
        Err(Unsupported { engine, what: "estimate of its error with contact", engines: &[] })
    }

    fn warnings(&self) -> Vec<engine::Warning> {
        let held = self.held().map(|held| held.warnings()).unwrap_or_default();
        self.world.warnings().into_iter().chain(held).collect()
    }

    /// As its engine has it.
    fn effector_pose(&self, effector: EffectorId) -> Result<Pose, UnknownHandle> {
        let Effector { body, frame, .. } = self.whole.effector(effector)?;
        match (self.held(), self.apart.effectors[effector.index()]) {
            (Some(held), Some(own)) => held.effector_pose(own),
            _ => Ok(self.body_pose(body.index()) * *frame),
        }
    }
}
