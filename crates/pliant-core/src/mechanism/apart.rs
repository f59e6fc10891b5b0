//! A mechanism taken apart: what joints hold together, and the bodies that nothing holds, which only contact moves.

use crate::spatial::SpatialInertia;

use super::{Body, BodyId, Effector, EffectorId, Mechanism, Shape, Start};

/// Where a body went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// Into the mechanism that is left, as this body.
    Held(BodyId),
    /// Among the loose bodies, at this place.
    Loose(usize),
}

/// The two parts of a mechanism. Joints keep their order, so coordinates are the same numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// What joints hold together, world shapes included; `None` if there are no joints at all.
    pub held: Option<Mechanism>,
    /// Free bodies without any joint.
    pub loose: Vec<Body>,
    /// Where each body went.
    pub bodies: Vec<Whereabouts>,
    /// What each effector is in the mechanism that is left; `None` on a loose body.
    pub effectors: Vec<Option<EffectorId>>,
}

impl Apart {
    /// Whether these are parts of a mechanism.
    pub(crate) fn is_of(&self, whole: &Mechanism) -> bool {
        let held = |id: BodyId| self.held.as_ref().and_then(|held| held.body(id).ok());
        let body = |place: &Whereabouts| match place {
            Whereabouts::Held(id) => held(*id),
            Whereabouts::Loose(at) => self.loose.get(*at),
        };
        let names = self.bodies.iter().map(|place| body(place).map(|body| body.name.as_str()));
        let effector = |id: &EffectorId| self.held.as_ref().is_some_and(|held| held.effector(*id).is_ok());
        let joints = self.held.iter().flat_map(|held| held.joints());
        names.eq(whole.bodies().iter().map(|body| Some(body.name.as_str())))
            && self.effectors.len() == whole.effectors().len()
            && self.effectors.iter().flatten().all(effector)
            && joints
                .map(|joint| (&joint.name, &joint.kind))
                .eq(whole.joints().iter().map(|joint| (&joint.name, &joint.kind)))
    }
}

impl Mechanism {
    /// Whether there is something to touch (a shape of the world, of a body fixed to it without a joint to the other, or of a free body
    /// without joints) and another body that has a shape to touch it with.
    pub fn has_contact(&self) -> bool {
        let touches = |shapes: &[Shape]| shapes.iter().any(|shape| shape.touches);
        let has_zone = |body: Option<BodyId>| self.zones().iter().any(|zone| zone.body == body);
        let touching = |body: &BodyId| touches(&self[*body].shapes) || has_zone(Some(*body));
        let bodies = self.body_ids().filter(touching).count();
        let loose = || self.loose().iter().any(touching);
        let fixed = || {
            let (fixed, moving): (Vec<BodyId>, Vec<BodyId>) =
                self.body_ids().filter(touching).partition(|body| self.order().node_of(*body).is_none());
            let parts = self.parts();
            let apart = |a: &BodyId, b: &BodyId| parts[a.index()] != parts[b.index()];
            fixed.iter().any(|a| moving.iter().any(|b| apart(a, b)))
        };
        bodies > 0 && (touches(self.world_shapes()) || has_zone(None) || (bodies > 1 && (loose() || fixed())))
    }

    /// Of each body, the first one that joints connect it to, by others but not by the world.
    pub(crate) fn parts(&self) -> Vec<usize> {
        let mut first: Vec<usize> = (0..self.bodies().len()).collect();
        let find = |first: &[usize], mut body: usize| {
            while first[body] != body {
                body = first[body];
            }
            body
        };
        for joint in self.joints() {
            if let Some(parent) = joint.parent {
                let [a, b] = [parent, joint.child].map(|body| find(&first, body.index()));
                first[a.max(b)] = a.min(b);
            }
        }
        (0..first.len()).for_each(|body| first[body] = first[first[body]]);
        first
    }

    /// Free bodies without any joint.
    pub fn loose(&self) -> Vec<BodyId> {
        let joined =
            |b: BodyId| self.joints().iter().any(|joint| joint.child == b || joint.parent == Some(b));
        self.body_ids().filter(|b| self[*b].free && !joined(*b)).collect()
    }

    /// Takes free bodies without joints out.
    pub fn take_apart(&self) -> Apart {
        let loose = self.loose();
        let is_held = |name: &str| self.find_body(name).is_none_or(|b| !loose.contains(&b));
        let mut builder = self.to_builder();
        // Bodies have the masses of their zones already.
        builder.bodies = self.bodies().to_vec();
        builder.zones.retain(|zone| is_held(&zone.body));
        builder.zones.iter_mut().for_each(|zone| zone.inertia = Some(SpatialInertia::ZERO));
        // What a held body says of a loose one is said by that one.
        let mut loose_bodies: Vec<Body> = loose.iter().map(|b| self[*b].clone()).collect();
        for body in builder.bodies.iter_mut().filter(|body| is_held(&body.name)) {
            let own = std::mem::take(&mut body.passes);
            let (held, others) = own.into_iter().partition(|other| is_held(other));
            body.passes = held;
            for other in others {
                loose_bodies
                    .iter_mut()
                    .filter(|b| b.name == other)
                    .for_each(|b| b.passes.push(body.name.clone()));
            }
        }
        builder.bodies.retain(|body| is_held(&body.name));
        builder.springs.clear(); // a scene of contact passes them on with its inputs
        builder.retain_effectors(|effector| is_held(&effector.body));
        let start = self.start().map(|start| Start {
            poses: self
                .body_ids()
                .zip(&start.poses)
                .filter(|(b, _)| !loose.contains(b))
                .map(|(_, p)| *p)
                .collect(),
            coordinates: start.coordinates.clone(),
        });
        let held = (!builder.bodies.is_empty())
            .then(|| builder.build_at(start).expect("a part of a valid mechanism that no joint leaves"));
        let body = |id: BodyId| match loose.iter().position(|other| *other == id) {
            Some(at) => Whereabouts::Loose(at),
            None => Whereabouts::Held(
                held.as_ref().and_then(|held| held.find_body(&self[id].name)).expect("it is held"),
            ),
        };
        let effector = |e: &Effector| held.as_ref().and_then(|held| held.find_effector(&e.name));
        Apart {
            bodies: self.body_ids().map(body).collect(),
            effectors: self.effectors().iter().map(effector).collect(),
            loose: loose_bodies,
            held,
        }
    }
}
