//! Poses in a scene file: `position`, and `rotation` (a quaternion) or `rpy` or, for a joint, `axis`.

use pliant_core::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use pliant_core::spatial::Pose;

use super::report::{Optional, Report};
use super::table::Table;

impl Table<'_> {
    /// The pose of an element. What is wrong is reported and taken as absent.
    pub(super) fn pose(&self, report: &mut Report) -> Pose {
        let position = self.vector::<3>("position", report).ok().flatten().unwrap_or_default();
        let position = Vector3::from(position);
        let rotations = ["axis", "rotation", "rpy"].map(|key| (key, self.value(key)));
        let mut given = rotations.iter().filter_map(|(key, value)| value.map(|value| (*key, value.span())));
        if let (Some((one, _)), Some((other, span))) = (given.next(), given.next()) {
            let message = format!("`{one}` and `{other}` both give its rotation");
            self.error("rotation", span, message, "give only one of the two", report);
            return Pose::new(UnitQuaternion::identity(), position);
        }
        if let Ok(Some(axis)) = self.axis(report) {
            return Pose::with_z_along(axis, position);
        }
        let rotation = match (self.quaternion(report), self.roll_pitch_yaw(report)) {
            (Ok(Some(rotation)), _) | (_, Ok(Some(rotation))) => rotation,
            _ => UnitQuaternion::identity(),
        };
        Pose::new(rotation, position)
    }

    /// [w, x, y, z] as it is written: the mechanism's builder checks and normalises it.
    fn quaternion(&self, report: &mut Report) -> Optional<UnitQuaternion<f64>> {
        let Some([w, x, y, z]) = self.vector::<4>("rotation", report)? else { return Ok(None) };
        Ok(Some(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))))
    }

    /// Fixed axes, roll about x first: R = Rz(yaw) Ry(pitch) Rx(roll).
    fn roll_pitch_yaw(&self, report: &mut Report) -> Optional<UnitQuaternion<f64>> {
        let Some(angles) = self.vector::<3>("rpy", report)? else { return Ok(None) };
        if angles.iter().any(|angle| !angle.is_finite()) {
            let message = "`rpy` is not finite".to_string();
            let help = "three finite angles [roll, pitch, yaw], rad";
            return Err(self.error("rotation", self.place("rpy"), message, help, report));
        }
        let [roll, pitch, yaw] = angles;
        Ok(Some(UnitQuaternion::from_euler_angles(roll, pitch, yaw)))
    }

    /// A direction, scaled so that its length is neither lost nor too large to square.
    fn axis(&self, report: &mut Report) -> Optional<Vector3<f64>> {
        let Some(axis) = self.vector::<3>("axis", report)? else { return Ok(None) };
        let axis = Vector3::from(axis);
        let largest = axis.amax();
        let message = if axis.iter().any(|x| !x.is_finite()) {
            "`axis` is not finite"
        } else if largest == 0.0 {
            "`axis` has no length"
        } else {
            return Ok(Some(axis / largest));
        };
        let help = "three finite numbers, not all zero: the direction of the joint's z, world axes";
        Err(self.error("rotation", self.place("axis"), message.into(), help, report))
    }
}
