//! Hinges and fixed joints four at a time. Their relative poses are linear in sines and cosines, with h = θ/2:
//!
//! rotation  q_rel = cos h · (q_p q_c⁻¹) + sin h · (q_p k q_c⁻¹),
//! step      t = R_relᵀ p_rel = t₀ + t₁ cos θ + t₂ sin θ, in the child's axes.
//!
//! A fixed joint is the same with the second part zero.

use std::array::from_fn;

use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector4};

use crate::algebra::angle::sines_cosines;
use crate::algebra::lanes::{LANES, Lanes, Number};
use crate::algebra::three::Three;
use crate::spatial::Pose;

/// The constants of four links with hinges or fixed joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hinges {
    /// q_p q_c⁻¹ and q_p k q_c⁻¹.
    rotation: [[Lanes; 4]; 2],
    /// t₀, t₁, t₂.
    step: [Three<Lanes>; 3],
}

impl Hinges {
    /// No turn and no step: what lanes of other kinds hold.
    pub const NONE: Hinges = Hinges {
        rotation: [[Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, Lanes([1.0; LANES])], [Lanes::ZERO; 4]],
        step: [[Lanes::ZERO; 3]; 3],
    };

    /// A hinge with its frame in the parent and in the child.
    pub fn set_hinge(&mut self, l: usize, in_parent: &Pose, in_child: &Pose) {
        let (q_p, q_c) = (in_parent.rotation, in_child.rotation);
        let k = UnitQuaternion::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 1.0));
        // R_relᵀ = R_c Rz(−θ) R_pᵀ and p_rel = p_p − R_rel p_c:  t = R_c Rz(−θ) a − p_c,  a = R_pᵀ p_p,
        // Rz(−θ) a = (0, 0, a_z) + cos θ (a_x, a_y, 0) + sin θ (a_y, −a_x, 0).
        let a = q_p.inverse() * in_parent.position;
        let steps = [
            q_c * Vector3::new(0.0, 0.0, a.z) - in_child.position,
            q_c * Vector3::new(a.x, a.y, 0.0),
            q_c * Vector3::new(a.y, -a.x, 0.0),
        ];
        self.set(l, [(q_p * q_c.inverse()).coords, (q_p * k * q_c.inverse()).coords], steps);
    }

    /// A fixed joint.
    pub fn set_fixed(&mut self, l: usize, in_parent: &Pose, in_child: &Pose) {
        let (q_p, q_c) = (in_parent.rotation, in_child.rotation);
        let step = q_c * (q_p.inverse() * in_parent.position) - in_child.position;
        let none = Vector3::zeros();
        self.set(l, [(q_p * q_c.inverse()).coords, Vector4::zeros()], [step, none, none]);
    }

    fn set(&mut self, l: usize, rotation: [Vector4<f64>; 2], step: [Vector3<f64>; 3]) {
        for (to, from) in self.rotation.iter_mut().zip(rotation) {
            (0..4).for_each(|i| to[i][l] = from[i]);
        }
        for (to, from) in self.step.iter_mut().zip(step) {
            (0..3).for_each(|i| to[i][l] = from[i]);
        }
    }

    /// (q_rel, t) at angles θ.
    #[inline(always)]
    pub fn pose<const FUSED: bool>(&self, theta: Lanes) -> ([Lanes; 4], Three<Lanes>) {
        let (s, c) = sines_cosines::<FUSED>(theta * Lanes::all(0.5));
        // cos θ = 1 − 2 sin²h, sin θ = 2 sin h cos h
        let twice = s + s;
        let (C, S) = ((-twice).fma::<FUSED>(s, Lanes::all(1.0)), twice * c);
        let [q0, q1] = &self.rotation;
        let [t0, t1, t2] = &self.step;
        (
            from_fn(|i| s.fma::<FUSED>(q1[i], c * q0[i])),
            from_fn(|i| S.fma::<FUSED>(t2[i], C.fma::<FUSED>(t1[i], t0[i]))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joints::JointKind;

    /// Xp · X(θ) · Xc⁻¹ to rounding of a few operations, beyond the series too.
    #[test]
    fn poses_are_those_of_the_joints() {
        let frame = |n: f64| Pose::translation([0.1 * n, 0.2, 0.3]) * Pose::rotation([0.0, 0.6, 0.8], n);
        let (in_parent, in_child) = (frame(1.0), frame(2.0));
        let mut hinges = Hinges::NONE;
        (0..3).for_each(|l| hinges.set_hinge(l, &in_parent, &in_child));
        hinges.set_fixed(3, &in_parent, &in_child);
        let theta = [0.7, -3.0, 5.0, 0.0];
        let (q, t) = hinges.pose::<false>(Lanes(theta));
        for l in 0..LANES {
            let X = if l < 3 { JointKind::Hinge.transform(&theta[l..=l]) } else { Pose::identity() };
            let H = in_parent * X * in_child.inverse();
            let step = H.rotation.inverse() * H.position;
            assert!((0..4).all(|i| (q[i][l] - H.rotation.coords[i]).abs() < 1e-15), "{l}");
            assert!((0..3).all(|i| (t[i][l] - step[i]).abs() < 1e-15), "{l}");
        }
    }
}
