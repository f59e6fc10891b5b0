//! Handles: the position of a body, joint or effector in its mechanism, with a mark of that mechanism, so that a handle
//! of another one is recognised.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Body, Effector, Joint};
use crate::joints::JointKind;

/// A handle that is of another mechanism, or of something that was removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} number {index} is unknown here: it belongs to another mechanism or simulation, or was removed"
)]
pub struct UnknownHandle {
    /// What it is a handle of.
    pub what: &'static str,
    /// Its position in the list of its own mechanism.
    pub index: usize,
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            index: u32,
            mark: u32,
        }

        impl $name {
            pub(crate) fn new(index: usize, mark: u32) -> Self {
                Self { index: u32::try_from(index).expect("more than four billion elements"), mark }
            }

            /// The position in the mechanism's list.
            #[inline]
            pub fn index(self) -> usize {
                self.index as usize
            }

            /// The position in a list of `count` elements of the mechanism with this mark.
            #[inline]
            pub(crate) fn check(self, mark: u32, count: usize) -> Result<usize, UnknownHandle> {
                if self.mark == mark && self.index() < count {
                    Ok(self.index())
                } else {
                    Err(UnknownHandle { what: $what, index: self.index() })
                }
            }
        }
    };
}

handle!(
    /// A body of a mechanism.
    BodyId,
    "body"
);
handle!(
    /// A joint of a mechanism.
    JointId,
    "joint"
);
handle!(
    /// An effector of a mechanism.
    EffectorId,
    "effector"
);

/// Marks of a mechanism's structure. Springs, inertias and poses do not count: a mechanism with other springs keeps its
/// handles and its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Of bodies, joints and the number of couplings: what a state fits.
    pub structure: u64,
    /// Of the same with the effectors.
    pub effectors: u32,
}

impl Marks {
    /// `parents` are the names of each joint's parent and child.
    pub fn new<'a>(
        bodies: impl Iterator<Item = &'a str>,
        joints: impl Iterator<Item = (&'a str, &'a JointKind, &'a str, &'a str)>,
        couplings: usize,
        effectors: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Marks {
        let mut hasher = DefaultHasher::new();
        bodies.for_each(|name| name.hash(&mut hasher));
        for (name, kind, parent, child) in joints {
            (name, kind.name(), parent, child).hash(&mut hasher);
            if let JointKind::Expression(expression) = kind {
                expression.formula().hash(&mut hasher);
            }
        }
        couplings.hash(&mut hasher);
        let structure = hasher.finish();
        effectors.for_each(|effector| effector.hash(&mut hasher));
        Marks { structure, effectors: hasher.finish() as u32 }
    }

    /// Of bodies and joints.
    pub fn structure(self) -> u32 {
        self.structure as u32
    }
}

impl super::Mechanism {
    /// A body, by its handle.
    pub fn body(&self, id: BodyId) -> Result<&Body, UnknownHandle> {
        id.check(self.marks().structure(), self.bodies().len()).map(|b| &self.bodies()[b])
    }

    /// A joint, by its handle.
    pub fn joint(&self, id: JointId) -> Result<&Joint, UnknownHandle> {
        id.check(self.marks().structure(), self.joints().len()).map(|j| &self.joints()[j])
    }

    /// An effector, by its handle.
    pub fn effector(&self, id: EffectorId) -> Result<&Effector, UnknownHandle> {
        id.check(self.marks().effectors, self.effectors().len()).map(|e| &self.effectors()[e])
    }

    /// The handles of all bodies, in the order of [`Mechanism::bodies`](super::Mechanism::bodies).
    pub fn body_ids(&self) -> impl ExactSizeIterator<Item = BodyId> + DoubleEndedIterator + Clone + use<> {
        let mark = self.marks().structure();
        (0..self.bodies().len()).map(move |b| BodyId::new(b, mark))
    }

    /// The handles of all joints, in the order of [`Mechanism::joints`](super::Mechanism::joints).
    pub fn joint_ids(&self) -> impl ExactSizeIterator<Item = JointId> + DoubleEndedIterator + Clone + use<> {
        let mark = self.marks().structure();
        (0..self.joints().len()).map(move |j| JointId::new(j, mark))
    }

    /// The handles of all effectors, in the order of [`Mechanism::effectors`](super::Mechanism::effectors).
    pub fn effector_ids(
        &self,
    ) -> impl ExactSizeIterator<Item = EffectorId> + DoubleEndedIterator + Clone + use<> {
        let mark = self.marks().effectors;
        (0..self.effectors().len()).map(move |e| EffectorId::new(e, mark))
    }

    #[inline]
    pub(crate) fn body_id(&self, index: usize) -> BodyId {
        BodyId::new(index, self.marks().structure())
    }

    #[inline]
    pub(crate) fn effector_id(&self, index: usize) -> EffectorId {
        EffectorId::new(index, self.marks().effectors)
    }
}

/// Elements by their handles, as of a list: a handle of another mechanism panics. Where that can happen, ask
/// [`Mechanism::body`](super::Mechanism::body), [`joint`](super::Mechanism::joint) or
/// [`effector`](super::Mechanism::effector).
macro_rules! index {
    ($id:ident, $element:ident, $list:ident, $mark:expr) => {
        impl std::ops::Index<$id> for super::Mechanism {
            type Output = $element;

            #[inline]
            fn index(&self, id: $id) -> &$element {
                match id.check($mark(self), self.$list().len()) {
                    Ok(index) => &self.$list()[index],
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
}

index!(BodyId, Body, bodies, |m: &super::Mechanism| m.marks().structure());
index!(JointId, Joint, joints, |m: &super::Mechanism| m.marks().structure());
index!(EffectorId, Effector, effectors, |m: &super::Mechanism| m.marks().effectors);
