//! Between this project's geometry and that of the collision library: the only file that knows both.

use parry3d_f64::math::{Pose as Placed, Rotation, Vector};

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::spatial::Pose;

/// A point or direction, for the library.
#[inline]
pub(super) fn vector(x: &Vector3<f64>) -> Vector {
    Vector::new(x.x, x.y, x.z)
}

/// A point or direction of the library.
#[inline]
pub(super) fn from_vector(x: Vector) -> Vector3<f64> {
    Vector3::new(x.x, x.y, x.z)
}

/// A pose, for the library.
#[inline]
pub(super) fn pose(x: &Pose) -> Placed {
    let q = x.rotation.coords;
    Placed { rotation: Rotation::from_xyzw(q[0], q[1], q[2], q[3]), translation: vector(&x.position) }
}

/// How the library's cylinders and height fields, which stand along y, stand along z here: its x, y, z are x, z, −y.
pub(super) fn upright() -> Pose {
    let columns = [Vector3::x(), Vector3::z(), -Vector3::y()];
    let turn = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&columns));
    Pose::new(UnitQuaternion::from_rotation_matrix(&turn), Vector3::zeros())
}
