//! What is inside of what in a pose of a mechanism, whatever moves it.

use super::words::quantity;
use crate::contact::{ContactError, Scene, Surfaces, Touched};
use crate::engine::{Simulation, State};
use crate::full;
use crate::mechanism::{Apart, BodyId, Mechanism, WORLD};
use crate::spatial::Twist;

/// How deep an overlap at an equilibrium counts, in radii: where things only just touch, the answer is right to about this.
pub const TOUCHING: f64 = 1e-4;

/// A scene in which every body with a shape touches: it reports what overlaps in a pose.
#[derive(Debug)]
pub struct Overlaps {
    scene: Scene,
}

/// Two things of which one is in the other.
#[derive(Debug)]
pub struct Overlap {
    /// One of the mechanism.
    pub body: String,
    /// What it is in: a body, or the world.
    pub other: String,
    /// m.
    pub depth: f64,
}

/// A step in which nothing moves, s: contacts are reported as they were before it.
const INSTANT: f64 = 1e-6;

impl Overlaps {
    /// Of what a mechanism that was taken apart touches, wherever it starts; `None` if it has no shape.
    pub fn new(whole: &Mechanism, apart: &Apart, surfaces: &Surfaces) -> Result<Option<Overlaps>, String> {
        let simulation = apart.held.as_ref().map(|held| full::Model::new(held).simulate().into());
        match Scene::of(whole, apart.clone(), surfaces.clone(), simulation) {
            Ok(scene) => Ok(Some(Overlaps { scene })),
            Err(ContactError::NoShape { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The deepest overlap in a state of the whole mechanism, of bodies of the mechanism that `counts` takes; none is
    /// `Ok(None)`, and what goes wrong is an error.
    pub fn deepest(
        &mut self,
        state: &State,
        counts: impl Fn(BodyId) -> bool,
    ) -> Result<Option<Overlap>, String> {
        let mut state = state.clone();
        state.rates.fill(0.0);
        state.twists.fill(Twist::ZERO);
        state.private.clear();
        self.scene.set_state(&state).map_err(|error| error.to_string())?;
        self.scene.step(INSTANT).map_err(|error| error.to_string())?;
        let of = |touched: Touched| match touched {
            Touched::Mechanism(..) => {
                let mut own = self.scene.mechanism().body_ids();
                own.any(|body| self.scene.touched(body) == Ok(touched) && counts(body))
            }
            _ => false,
        };
        let contacts = self.scene.world().contacts().iter();
        let within =
            contacts.filter(|contact| contact.gap < 0.0 && (of(contact.first) || of(contact.second)));
        let deepest = within.min_by(|a, b| a.gap.total_cmp(&b.gap));
        Ok(deepest.map(|contact| {
            let [first, second] =
                [contact.first, contact.second].map(|one| self.scene.world().name(one).unwrap_or(WORLD));
            let (body, other) = if of(contact.second) { (second, first) } else { (first, second) };
            Overlap { body: body.into(), other: other.into(), depth: -contact.gap }
        }))
    }
}

/// What is said of an equilibrium without contact in which something is inside of something else.
pub fn refusal(overlap: &Overlap) -> String {
    let Overlap { body, other, depth } = overlap;
    format!(
        "body `{body}` is {} deep in `{other}` there, and the equilibrium was found without contact: simulate it, with contact, until it \
         rests, or give shapes that are to pass through others `touches = false`",
        quantity(*depth, "m")
    )
}
