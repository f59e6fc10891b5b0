//! Compliance of the coordinates of every joint: that of their springs.

use nalgebra::Matrix6;

use super::component::Part;
use super::reference::Reference;

/// The largest compliance of a part's springs, rad/(N·m), translations in radii.
pub(super) fn softest(reference: &Reference, part: &Part) -> f64 {
    let of_joint = |&j: &usize| {
        let joint = &reference.joints[j];
        let unit =
            |k: usize| if k < joint.kind.translations() { reference.radius * reference.radius } else { 1.0 };
        let sprung = (0..joint.freedoms()).filter(|&k| joint.stiffness[k] > 0.0);
        sprung.map(|k| 1.0 / (joint.stiffness[k] * unit(k))).fold(0.0, f64::max)
    };
    part.joints.iter().map(of_joint).fold(0.0, f64::max)
}

/// What each joint gives: compliance of its coordinates and which are passive.
#[derive(Clone, Debug)]
pub(super) struct Softness {
    /// Cθ, d×d, rad/(N·m) and the like; any positive number on a passive freedom.
    pub compliance: Matrix6<f64>,
    pub passive: [bool; 6],
}

impl Softness {
    /// The springs of all joints. Passive freedoms get the median compliance.
    pub fn of_springs(reference: &Reference) -> Vec<Softness> {
        let r = reference.radius;
        let mut all: Vec<f64> = Vec::new();
        for joint in &reference.joints {
            for k in 0..joint.freedoms() {
                let unit = if k < joint.kind.translations() { r * r } else { 1.0 };
                if joint.stiffness[k] > 0.0 {
                    all.push(1.0 / (joint.stiffness[k] * unit));
                }
            }
        }
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied().unwrap_or(1.0);
        (reference.joints.iter())
            .map(|joint| {
                let mut softness = Softness { compliance: Matrix6::zeros(), passive: [false; 6] };
                for k in 0..joint.freedoms() {
                    let unit = if k < joint.kind.translations() { r * r } else { 1.0 };
                    softness.passive[k] = joint.stiffness[k] == 0.0;
                    softness.compliance[(k, k)] =
                        if softness.passive[k] { median * unit } else { 1.0 / joint.stiffness[k] };
                }
                softness
            })
            .collect()
    }
}
