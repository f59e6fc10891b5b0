//! Handles by their position, for tests that go through all elements.

use pliant_core::mechanism::{BodyId, EffectorId, JointId, Mechanism};

pub fn body(mechanism: &Mechanism, index: usize) -> BodyId {
    mechanism.body_ids().nth(index).expect("a body of the mechanism")
}

pub fn joint(mechanism: &Mechanism, index: usize) -> JointId {
    mechanism.joint_ids().nth(index).expect("a joint of the mechanism")
}

pub fn effector(mechanism: &Mechanism, index: usize) -> EffectorId {
    mechanism.effector_ids().nth(index).expect("an effector of the mechanism")
}
