//! What moves: a mechanism alone, or one that touches, whose contact has a memory of its own next to the state.

use std::sync::Mutex;

use pliant_core::contact::{SavedWorld, Scene, Surfaces, World};
use pliant_core::engine::{InputError, Simulation, State};
use pliant_core::engines::{Engine, EngineError};
use pliant_core::mechanism::Mechanism;

/// A simulation, with contact or without.
///
/// ```
/// use pliant::prelude::*;
/// use pliant::Moving;
///
/// let mut moving = Moving::from(Engine::Articulated.simulate(&gallery::arm())?);
/// let (state, touching) = moving.save();
/// (0..10).try_for_each(|_| moving.simulation().step(0.01))?;
/// let later = moving.simulation().state().clone();
/// assert!(moving.restore(&state, touching.as_ref())?);
/// (0..10).try_for_each(|_| moving.simulation().step(0.01))?;
/// assert_eq!(*moving.simulation().state(), later);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub enum Moving {
    /// A mechanism alone.
    Alone(Box<dyn Simulation>),
    /// One that touches.
    Touching(Box<Scene>),
}

impl From<Box<dyn Simulation>> for Moving {
    fn from(simulation: Box<dyn Simulation>) -> Moving {
        Moving::Alone(simulation)
    }
}

impl From<Scene> for Moving {
    fn from(scene: Scene) -> Moving {
        Moving::Touching(Box::new(scene))
    }
}

impl Moving {
    /// A mechanism by an engine with its default settings: with contact if something in it can touch, and else without.
    pub fn new(mechanism: &Mechanism, surfaces: Surfaces, engine: Engine) -> Result<Moving, EngineError> {
        Ok(match mechanism.has_contact() {
            true => engine.scene(mechanism, surfaces)?.into(),
            false => engine.simulate(mechanism)?.into(),
        })
    }

    /// Either as what all engines are.
    pub fn simulation(&mut self) -> &mut dyn Simulation {
        match self {
            Moving::Alone(simulation) => &mut **simulation,
            Moving::Touching(scene) => &mut **scene,
        }
    }

    /// The scene, where something touches: its contacts, and the world that they are in.
    pub fn scene(&self) -> Option<&Scene> {
        match self {
            Moving::Touching(scene) => Some(scene),
            Moving::Alone(_) => None,
        }
    }

    /// The state, and what contact has next to it.
    pub fn save(&mut self) -> (State, Option<Touching>) {
        let touching = match self {
            Moving::Touching(scene) => Some(Touching::of(scene.world())),
            Moving::Alone(_) => None,
        };
        (self.simulation().state().clone(), touching)
    }

    /// Puts back what was saved. Whether all of it came back: what pushed in the last step is of use to the simulation that it was saved in,
    /// and its clones; another starts without.
    pub fn restore(&mut self, state: &State, touching: Option<&Touching>) -> Result<bool, InputError> {
        self.simulation().set_state(state)?;
        let (Moving::Touching(scene), Some(touching)) = (self, touching) else { return Ok(true) };
        let own = touching.world.lock().is_ok_and(|world| scene.world_mut().restore(&world).is_ok());
        Ok(own || !touching.pushes())
    }
}

/// What contact had in the last step.
pub struct Touching {
    world: Mutex<SavedWorld>,
    pushed: Vec<f64>,
}

impl Touching {
    fn of(world: &World) -> Touching {
        let mut pushed = Vec::new();
        for contact in world.contacts().iter().filter(|contact| contact.force.norm() > 0.0) {
            pushed.push(contact.gap);
            [contact.point, contact.normal, contact.force].iter().for_each(|of| pushed.extend(of.iter()));
        }
        for (_, zone) in world.zones() {
            for (node, load) in zone.loads() {
                pushed.push(f64::from(*node));
                pushed.extend(load.iter());
            }
        }
        Touching { world: Mutex::new(world.save()), pushed }
    }

    /// Of each contact that pushed its gap, point, normal and force; of each zone the forces on its nodes.
    pub fn pushed(&self) -> &[f64] {
        &self.pushed
    }

    /// Whether something pushed.
    pub fn pushes(&self) -> bool {
        !self.pushed.is_empty()
    }
}
