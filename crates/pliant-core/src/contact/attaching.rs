//! Free bodies are attached to effectors and let go again; [`super::holding`] holds them meanwhile.

use super::error::ContactError;
use super::holding::Hold;
use super::world::{ActorId, FreeBodyId, Touched, World};
use crate::mechanism::EffectorId;

impl World<'_> {
    /// Fixes a free body to effectors of a mechanism, where it is now, as if it were part of that: its mass and weight are
    /// carried, it closes loops between the effectors, and nothing slides. Velocities become equal by an impulse between
    /// them in the next step. What holds a body does not touch it: [`World::events`] tells that contact ended.
    ///
    /// ```
    /// use pliant_core::{contact::World, full, gallery, mechanism::Body, spatial::*};
    ///
    /// let mechanism = gallery::two_link(); // an arm in the xy plane
    /// let model = full::Model::new(&mechanism);
    /// let tip = mechanism.find_effector("tip").ok_or("no tip")?;
    /// let mut world = World::new([0.0, -9.81, 0.0]); // on free bodies
    /// let arm = world.add(model.simulate())?;
    /// let weight = Body::new("weight", Pose::translation([1.0, 0.0, 0.0]));
    /// let weight = world.add_body(&weight.inertia(SpatialInertia::of_box(2.0, [0.05; 3])))?;
    /// world.attach(weight, arm, &[tip])?;
    /// (0..200).try_for_each(|_| world.step(0.05).map(drop))?;
    /// let bent = world.actor(arm).effector_pose(tip).position;
    /// assert!(bent.y < -0.2 && (world.body(weight).pose().position - bent).norm() < 1e-9);
    ///
    /// world.detach(weight)?;
    /// (0..200).try_for_each(|_| world.step(0.05).map(drop))?;
    /// assert!(world.actor(arm).effector_pose(tip).position.y.abs() < 1e-3); // straight again
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach(
        &mut self,
        body: FreeBodyId,
        actor: ActorId,
        effectors: &[EffectorId],
    ) -> Result<(), ContactError> {
        let own = self.bodies.get(body.0).ok_or_else(|| unknown(body, "attached"))?;
        let wrong = |why: String| ContactError::Attachment {
            body: format!("`{}`", own.name()),
            what: "attached",
            why,
        };
        if self.is_attached(body) {
            return Err(wrong("it is already; detach it first".into()));
        }
        let by = self.actors.get(actor.0).ok_or_else(|| {
            wrong(format!("there is no mechanism {} in this world; `World::add` gives its number", actor.0))
        })?;
        if effectors.is_empty() {
            return Err(wrong("it needs at least one effector".into()));
        }
        let mut holds: Vec<Hold> = Vec::new();
        for &id in effectors {
            let mechanism = by.mechanism();
            let (name, Some(effector)) = (mechanism.name(), mechanism.effectors().get(id.index())) else {
                return Err(wrong(format!(
                    "mechanism `{}` has no effector {}; it has {}",
                    mechanism.name(),
                    id.index(),
                    mechanism.effectors().len()
                )));
            };
            let Some(touch) = by.touch(effector.body) else {
                return Err(wrong(format!(
                    "the {} engine does not move effector `{}` of mechanism `{name}`; choose one that it moves",
                    by.engine(),
                    effector.name
                )));
            };
            let link = effector.body;
            if holds.iter().any(|hold| hold.link == link) {
                return Err(wrong(format!(
                    "two of its effectors are on body `{}`; name one",
                    mechanism.body(link).name
                )));
            }
            let offset = by.pose(touch).inverse_times(&own.pose());
            holds.push(Hold::new(body.0, actor.0, link, touch, effector.frame, offset));
        }
        self.holding.holds.append(&mut holds);
        self.regroup();
        Ok(())
    }

    /// Lets go of a body, which goes on with the momentum that it has.
    pub fn detach(&mut self, body: FreeBodyId) -> Result<(), ContactError> {
        let own = self.bodies.get(body.0).ok_or_else(|| unknown(body, "detached"))?;
        if !self.is_attached(body) {
            let body = format!("`{}`", own.name());
            let why = "it is not attached".into();
            return Err(ContactError::Attachment { body, what: "detached", why });
        }
        self.holding.holds.retain(|hold| hold.body != body.0);
        self.regroup();
        Ok(())
    }

    /// Whether a body is fixed to effectors.
    pub fn is_attached(&self, body: FreeBodyId) -> bool {
        self.holding.holds.iter().any(|hold| hold.body == body.0)
    }

    /// After a change of what is held: a body does not touch the links that hold it, nor what is fixed to these.
    fn regroup(&mut self) {
        self.holding.regroup(&self.first_part, self.first_body, &self.actors);
        for pair in &mut self.pairs {
            let (body, actor, link) = match pair.things().map(|thing| self.owners[thing]) {
                [Touched::Free(body), Touched::Mechanism(actor, link)]
                | [Touched::Mechanism(actor, link), Touched::Free(body)] => (body, actor, link),
                _ => continue,
            };
            let order = self.actors[actor.0].mechanism().order();
            pair.held = self.holding.holds.iter().any(|hold| {
                let between = (hold.body, hold.actor) == (body.0, actor.0);
                between && order.node_of(hold.link) == order.node_of(link)
            });
        }
    }
}

fn unknown(body: FreeBodyId, what: &'static str) -> ContactError {
    let why = "it is not in this world; `World::add_body` gives its number".into();
    ContactError::Attachment { body: format!("free body {}", body.0), what, why }
}
