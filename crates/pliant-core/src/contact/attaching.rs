//! Free bodies are attached to effectors and let go again; [`super::attachments`] holds them meanwhile.

use super::attachments::Hold;
use super::error::ContactError;
use super::world::{FreeBodyId, SimulationId, Touched, World};
use crate::mechanism::{EffectorId, UnknownHandle};

impl World {
    /// Fixes a free body to effectors of a mechanism, where it is now, as if it were part of that: its mass and weight are
    /// carried, it closes loops between the effectors, and nothing slides. Velocities become equal by an impulse between
    /// them in the next step. What holds a body does not touch it: [`World::events`] reports that contact ended.
    ///
    /// ```
    /// use pliant_core::{contact::World, engine::Simulation, full, gallery, mechanism::Body, spatial::*};
    ///
    /// let mechanism = gallery::two_link(); // an arm in the xy plane
    /// let tip = mechanism.find_effector("tip").ok_or("no tip")?;
    /// let mut world = World::new([0.0, -9.81, 0.0]); // on free bodies
    /// let arm = world.add(full::Model::new(&mechanism).simulate())?;
    /// let weight = Body::new("weight", Pose::translation([1.0, 0.0, 0.0]));
    /// let weight = world.add_body(&weight.inertia(SpatialInertia::of_box(2.0, [0.05; 3])))?;
    /// world.attach(weight, arm, &[tip])?;
    /// (0..200).try_for_each(|_| world.step(0.05).map(drop))?;
    /// let bent = world.simulation(arm)?.effector_pose(tip)?.position;
    /// assert!(bent.y < -0.2 && (world.body(weight)?.pose().position - bent).norm() < 1e-9);
    ///
    /// world.detach(weight)?;
    /// (0..200).try_for_each(|_| world.step(0.05).map(drop))?;
    /// assert!(world.simulation(arm)?.effector_pose(tip)?.position.y.abs() < 1e-3); // straight again
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach(
        &mut self,
        body: FreeBodyId,
        simulation: SimulationId,
        effectors: &[EffectorId],
    ) -> Result<(), ContactError> {
        let own = &self.bodies[self.find_body(body)?];
        let wrong = |why: String| ContactError::Attachment {
            body: format!("`{}`", own.name()),
            what: "attached",
            why,
        };
        if self.holds(body) {
            return Err(wrong("it is already; detach it first".into()));
        }
        let by = &self.simulations[self.find_simulation(simulation)?];
        if effectors.is_empty() {
            return Err(wrong("it needs at least one effector".into()));
        }
        let mut holds: Vec<Hold> = Vec::new();
        for &id in effectors {
            let mechanism = by.mechanism();
            let (name, effector) = (mechanism.name(), mechanism.effector(id)?);
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
                    mechanism[link].name
                )));
            }
            let offset = by.touch_pose(touch).inverse_times(&own.pose());
            holds.push(Hold::new(body.index, simulation.index, link, touch, effector.frame, offset));
        }
        self.attachments.holds.append(&mut holds);
        self.regroup();
        Ok(())
    }

    /// Releases a body, which keeps its momentum.
    pub fn detach(&mut self, body: FreeBodyId) -> Result<(), ContactError> {
        let at = self.find_body(body)?;
        if !self.holds(body) {
            let body = format!("`{}`", self.bodies[at].name());
            let why = "it is not attached".into();
            return Err(ContactError::Attachment { body, what: "detached", why });
        }
        self.attachments.holds.retain(|hold| hold.body != at);
        self.regroup();
        Ok(())
    }

    /// Whether a body is fixed to effectors.
    pub fn is_attached(&self, body: FreeBodyId) -> Result<bool, UnknownHandle> {
        self.find_body(body).map(|_| self.holds(body))
    }

    fn holds(&self, body: FreeBodyId) -> bool {
        self.attachments.holds.iter().any(|hold| hold.body == body.index)
    }

    /// After a change of what is held: a body does not touch the links that hold it, nor what is fixed to these.
    fn regroup(&mut self) {
        self.attachments.regroup(&self.first_part, self.first_body, &self.simulations);
        self.mark_held();
    }

    /// Marks the pairs that do not touch because one holds the other.
    pub(super) fn mark_held(&mut self) {
        if self.attachments.holds.is_empty() && self.pairs.iter().all(|pair| !pair.held) {
            return;
        }
        for pair in &mut self.pairs {
            let (body, simulation, link) = match pair.things().map(|thing| self.owners[thing]) {
                [Touched::Free(body), Touched::Mechanism(simulation, link)]
                | [Touched::Mechanism(simulation, link), Touched::Free(body)] => (body, simulation, link),
                _ => continue,
            };
            let order = self.simulations[simulation.index].mechanism().order();
            pair.held = self.attachments.holds.iter().any(|hold| {
                let between = (hold.body, hold.simulation) == (body.index, simulation.index);
                between && order.node_of(hold.link) == order.node_of(link)
            });
        }
    }
}
