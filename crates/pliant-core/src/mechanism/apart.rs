//! A mechanism taken apart: what joints hold together, and the bodies that nothing holds, which only contact moves.

use super::{Body, BodyId, Effector, EffectorId, Joint, Load, Mechanism, Shape, Start};
use crate::order::Order;

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

impl Mechanism {
    /// Whether there is something to touch (a shape of the world, or of a free body without joints) and another body that
    /// has a shape to touch it with.
    pub fn has_contact(&self) -> bool {
        let touches = |shapes: &[Shape]| shapes.iter().any(|shape| shape.touches);
        let bodies = self.bodies.iter().filter(|body| touches(&body.shapes)).count();
        let loose = || self.loose().iter().any(|body| touches(&self.body(*body).shapes));
        bodies > 0 && (touches(&self.world_shapes) || (bodies > 1 && loose()))
    }

    /// Free bodies without any joint.
    pub fn loose(&self) -> Vec<BodyId> {
        let joined = |b: usize| {
            let is = |id: BodyId| id.index() == b;
            self.joints.iter().any(|joint| is(joint.child) || joint.parent.is_some_and(is))
        };
        let loose = (0..self.bodies.len()).filter(|b| self.bodies[*b].free && !joined(*b));
        loose.map(BodyId::from_index).collect()
    }

    /// Takes free bodies without joints out.
    pub fn take_apart(&self) -> Apart {
        let loose = self.loose();
        let mut held = 0;
        let bodies: Vec<Whereabouts> = (0..self.bodies.len())
            .map(|b| match loose.iter().position(|l| l.index() == b) {
                Some(at) => Whereabouts::Loose(at),
                None => {
                    held += 1;
                    Whereabouts::Held(BodyId::from_index(held - 1))
                }
            })
            .collect();
        let new = |id: BodyId| match bodies[id.index()] {
            Whereabouts::Held(id) => Some(id),
            Whereabouts::Loose(_) => None,
        };
        let mut left = 0;
        let effectors: Vec<Option<EffectorId>> = (self.effectors.iter())
            .map(|effector| {
                new(effector.body).map(|_| {
                    left += 1;
                    EffectorId::from_index(left - 1)
                })
            })
            .collect();
        let of_loose = loose.iter().map(|b| self.body(*b).clone()).collect();
        let held = (held > 0).then(|| self.only(&bodies, &effectors, new));
        Apart { held, loose: of_loose, bodies, effectors }
    }

    /// The mechanism of the bodies that are held.
    fn only(
        &self,
        whereabouts: &[Whereabouts],
        places: &[Option<EffectorId>],
        new: impl Fn(BodyId) -> Option<BodyId>,
    ) -> Mechanism {
        let is_held = |b: &usize| matches!(whereabouts[*b], Whereabouts::Held(_));
        let kept: Vec<usize> = (0..self.bodies.len()).filter(is_held).collect();
        let bodies: Vec<Body> = kept.iter().map(|b| self.bodies[*b].clone()).collect();
        let joints: Vec<Joint> = (self.joints.iter())
            .map(|joint| Joint {
                parent: joint.parent.and_then(&new),
                child: new(joint.child).expect("a body with a joint is held"),
                ..joint.clone()
            })
            .collect();
        let effectors: Vec<Effector> = (self.effectors.iter())
            .filter_map(|effector| Some(Effector { body: new(effector.body)?, ..effector.clone() }))
            .collect();
        let loads = (self.loads.iter())
            .filter_map(|load| Some(Load { effector: places[load.effector.index()]?, ..*load }))
            .collect();
        let start = self.start.as_ref().map(|start| {
            let poses = kept.iter().map(|b| start.poses[*b]).collect();
            Box::new(Start { poses, ..(**start).clone() })
        });
        let order = Order::new(&bodies, &joints).unwrap_or_else(|_| unreachable!("its joints were in order"));
        let of_body = |(b, body): (usize, &Body)| (body.name.clone(), BodyId::from_index(b));
        let of_effector =
            |(e, effector): (usize, &Effector)| (effector.name.clone(), EffectorId::from_index(e));
        Mechanism {
            body_names: bodies.iter().enumerate().map(of_body).collect(),
            effector_names: effectors.iter().enumerate().map(of_effector).collect(),
            bodies,
            joints,
            effectors,
            loads,
            order,
            start,
            ..self.clone()
        }
    }
}
