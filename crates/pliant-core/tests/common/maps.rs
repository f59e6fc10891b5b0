//! Compliance, twists and coordinates of a projection, or of the dense solve, with lengths in radii: what tests
//! compare.

use pliant_core::linear::{Projection, Reference};
use pliant_core::mechanism::{BodyId, Joint, Mechanism};
use pliant_core::nalgebra::DMatrix;
use pliant_core::spatial::Pose;

use super::dense::Dense;

/// The maps of all bodies and joints.
pub struct Maps {
    pub compliance: DMatrix<f64>,
    pub twists: DMatrix<f64>,
    pub coordinates: DMatrix<f64>,
    /// The largest compliance of a joint.
    softest: f64,
}

/// The effectors of a mechanism as frames on bodies.
pub fn effectors(mechanism: &Mechanism) -> Vec<(BodyId, Pose)> {
    mechanism.effectors().iter().map(|e| (e.body, e.frame)).collect()
}

/// The largest compliance of a freedom, translations in radii.
pub fn softest(mechanism: &Mechanism) -> f64 {
    let r = mechanism.radius();
    let of = |joint: &Joint| {
        let unit = |k: usize| if k < joint.kind.translations() { r * r } else { 1.0 };
        let sprung = joint.freedoms.iter().enumerate().filter(|(_, f)| f.is_sprung());
        sprung.map(|(k, f)| 1.0 / (f.stiffness * unit(k))).fold(0.0, f64::max)
    };
    mechanism.joints().iter().map(of).fold(0.0, f64::max)
}

impl Maps {
    /// Of a projection.
    pub fn of(projection: &Projection, reference: &Reference) -> Maps {
        let mechanism = reference.mechanism();
        let columns = projection.compliance().ncols();
        let mut twists = DMatrix::zeros(6 * mechanism.bodies().len(), columns);
        for b in 0..mechanism.bodies().len() {
            let map = projection.twist_map(reference, crate::common::handles::body(mechanism, b)).unwrap();
            twists.rows_mut(6 * b, 6).copy_from(&map);
        }
        let mut coordinates = DMatrix::zeros(mechanism.coordinate_count(), columns);
        for j in 0..mechanism.joints().len() {
            let range = mechanism.joints()[j].coordinates();
            let map =
                projection.coordinate_map(reference, crate::common::handles::joint(mechanism, j)).unwrap();
            coordinates.rows_mut(range.start, range.len()).copy_from(&map);
        }
        Maps::scaled(mechanism, projection.compliance().clone(), twists, coordinates)
    }

    /// Of the dense solve, for the effectors of the mechanism; `None` if a load on them is held by nothing.
    pub fn dense(mechanism: &Mechanism, dense: &Dense) -> Option<Maps> {
        let frames = effectors(mechanism);
        let theta = dense.coordinates(&dense.stack(&frames).transpose())?;
        let mut twists = DMatrix::zeros(6 * mechanism.bodies().len(), theta.ncols());
        for (b, motion) in dense.bodies.iter().enumerate() {
            twists.rows_mut(6 * b, 6).copy_from(&(motion * &theta));
        }
        Some(Maps::scaled(mechanism, dense.stack(&frames) * &theta, twists, theta))
    }

    fn scaled(mechanism: &Mechanism, C: DMatrix<f64>, T: DMatrix<f64>, theta: DMatrix<f64>) -> Maps {
        let r = mechanism.radius();
        let unit = |i: usize| if i % 6 < 3 { r } else { 1.0 };
        let translations: Vec<bool> = (mechanism.joints().iter())
            .flat_map(|joint| (0..joint.kind.freedoms()).map(|k| k < joint.kind.translations()))
            .collect();
        let coordinate = |i: usize| if translations[i] { r } else { 1.0 };
        Maps {
            compliance: DMatrix::from_fn(C.nrows(), C.ncols(), |i, k| C[(i, k)] / (unit(i) * unit(k))),
            twists: DMatrix::from_fn(T.nrows(), T.ncols(), |i, k| T[(i, k)] / (unit(i) * unit(k))),
            coordinates: DMatrix::from_fn(theta.nrows(), theta.ncols(), |i, k| {
                theta[(i, k)] / (coordinate(i) * unit(k))
            }),
            softest: softest(mechanism),
        }
    }

    /// The largest difference of compliances, relative to the largest; where nothing moves, to what a millionth of
    /// the softest joint gives.
    pub fn apart_at_effectors(&self, expected: &Maps) -> f64 {
        self.relative(&self.compliance, &expected.compliance)
    }

    /// The same of all maps.
    pub fn apart(&self, expected: &Maps) -> f64 {
        self.apart_at_effectors(expected)
            .max(self.relative(&self.twists, &expected.twists))
            .max(self.relative(&self.coordinates, &expected.coordinates))
    }

    fn relative(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> f64 {
        let off = if a.is_empty() { 0.0 } else { (a - b).amax() };
        // Where no joint has a spring, nothing moves at all.
        if off == 0.0 { 0.0 } else { off / b.amax().max(1e-6 * self.softest) }
    }
}
