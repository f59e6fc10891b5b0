//! What two surfaces do to each other.

use super::error::ContactError;
use crate::mechanism::Shape;

/// Friction of a shape that says nothing of it.
const FRICTION: f64 = 0.5;

/// Coulomb friction and restitution of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Material {
    pub friction: f64,
    pub restitution: f64,
}

impl Material {
    /// Of a shape.
    pub fn new(shape: &Shape, owner: &str) -> Result<Material, ContactError> {
        let friction = shape.friction.unwrap_or(FRICTION);
        let restitution = shape.restitution.unwrap_or(0.0);
        let wrong = |what, value, range| ContactError::Material { what, owner: owner.into(), value, range };
        if !(friction.is_finite() && friction >= 0.0) {
            return Err(wrong("friction", friction, "finite and zero or above"));
        }
        if !(0.0..=1.0).contains(&restitution) {
            return Err(wrong("restitution", restitution, "between 0 and 1"));
        }
        Ok(Material { friction, restitution })
    }

    /// Where two touch: the geometric mean of friction, the larger restitution.
    pub fn meet(&self, other: &Material) -> Material {
        Material {
            friction: (self.friction * other.friction).sqrt(),
            restitution: self.restitution.max(other.restitution),
        }
    }
}
