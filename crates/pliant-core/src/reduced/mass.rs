//! The mass that the effectors' motions feel, four ways.
//!
//! | option | M_y |
//! |---|---|
//! | condensed (Guyan 1965) | NᵀMN: links move as in statics |
//! | accelerability (Andrews 2015) | inverse of the projection of each joint's own accelerability (JᵀM_cJ)⁻¹ |
//! | composite accelerability | the same with the inertia of all that a joint carries |
//! | operational space (Khatib 1987) | inverse of what a wrench accelerates with all springs left out |
//!
//! The last three are measured in coordinates y = UᵀS ξ_E: M_y = (UᵀS A (UᵀS)ᵀ)⁻¹ with A the accelerability of
//! the effectors.

use nalgebra::{DMatrix, Matrix6};

use super::reference::Reference;
use super::softness::Softness;
use crate::spatial::SpatialInertia;

/// Which mass a model has.
///
/// ```
/// use pliant_core::{gallery, reduced::*};
///
/// let mechanism = gallery::helix(50);
/// let slowest = |mass| -> Result<f64, Box<dyn std::error::Error>> {
///     Ok(Reduction::at_rest(&mechanism).mass(mass).build()?.frequencies()[0])
/// };
/// let truth = Reduction::at_rest(&mechanism).build()?.full_frequencies(1)?[0]; // of all links
/// assert!((slowest(Mass::Condensed)? / truth - 1.0).abs() < 0.1);
/// assert!(slowest(Mass::Accelerability)? > 10.0 * truth);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mass {
    /// Links move along with the effectors as they do in statics: right for slow motion. Takes modes for more.
    #[default]
    Condensed,
    /// The projection of Andrews 2015 with each link's own inertia: on long mechanisms 10 to 150 times too high
    /// a frequency.
    Accelerability,
    /// The same with the inertia of everything a joint carries: on long mechanisms up to 5 times too high a
    /// frequency.
    CompositeAccelerability,
    /// What the effectors feel at the first instant, as if no joint had a spring.
    OperationalSpace,
}

/// Accelerabilities of all joints, (JᵀMJ)⁻¹ with the inertia of the child or of all that the tree carries
/// beyond it, rotors included.
pub(super) fn accelerabilities(reference: &Reference, composite: bool) -> Vec<Softness> {
    let nodes = reference.mechanism.order().nodes();
    let mut inertias: Vec<SpatialInertia> = nodes.iter().map(|n| n.inertia).collect();
    if composite {
        for n in (0..nodes.len()).rev() {
            if let Some(p) = reference.tree[n].and_then(|j| reference.joints[j].parent) {
                let offset = reference.poses[p].inverse_times(&reference.poses[n]);
                inertias[p] = inertias[p].welded(&inertias[n].in_outer(&offset));
            }
        }
    }
    (reference.joints.iter())
        .map(|joint| {
            let d = joint.freedoms();
            let M = joint.child.map_or(Matrix6::zeros(), |n| inertias[n].matrix());
            let own = joint.motion.transpose() * M * joint.motion;
            let freedoms = &reference.mechanism[joint.id].freedoms;
            let inertia =
                DMatrix::from_fn(d, d, |i, k| own[(i, k)] + if i == k { freedoms[i].armature } else { 0.0 });
            let inverse = inertia.try_inverse().unwrap_or_else(|| DMatrix::zeros(d, d));
            let mut softness = Softness { compliance: Matrix6::zeros(), passive: [false; 6] };
            softness.compliance.view_mut((0, 0), (d, d)).copy_from(&inverse);
            softness
        })
        .collect()
}
