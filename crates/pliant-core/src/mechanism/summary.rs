//! What `pliant info` prints of a mechanism.

use nalgebra::Vector3;

use super::{Freedom, Joint, Mechanism};
use crate::spatial::Pose;

/// Counts, size and mass of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of bodies.
    pub bodies: usize,
    /// Number of joints.
    pub joints: usize,
    /// Freedoms of the spanning forest, before loops and couplings take some away: those of its joints,
    /// and six for each free base.
    pub freedoms: usize,
    /// Number of joints that close a loop.
    pub loops: usize,
    /// Names of the effectors.
    pub effectors: Vec<String>,
    /// Radius of the mechanism, m.
    pub radius: f64,
    /// Mass of all bodies, kg.
    pub mass: f64,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// So far outside its limits closing loops may leave a joint, rad or m.
const ROUNDING: f64 = 1e-9;

impl Mechanism {
    /// Radius of the ball, centred on the bounding box of all joint and link origins at rest, that
    /// holds them all, m.
    pub fn radius(&self) -> f64 {
        let points =
            || self.data.bodies.iter().map(|b| &b.pose).chain(self.data.joints.iter().map(|j| &j.frame));
        let mut low = Vector3::repeat(f64::INFINITY);
        let mut high = Vector3::repeat(f64::NEG_INFINITY);
        for Pose { position, .. } in points() {
            low = low.inf(position);
            high = high.sup(position);
        }
        let center = (low + high) * 0.5;
        points().map(|p| (p.position - center).norm()).fold(0.0, f64::max)
    }

    /// Mass of all bodies, kg.
    pub fn mass(&self) -> f64 {
        self.data.bodies.iter().map(|b| b.inertia.mass).sum()
    }

    /// What its file could not say here, and what is legal but probably not meant.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.data.warnings.clone();
        let node = |body| self.data.order.node_of(body);
        let is_stuck = |joint: &Joint| joint.parent.and_then(node) == node(joint.child);
        for joint in &self.data.joints {
            if !joint.freedoms.is_empty() && is_stuck(joint) {
                warnings.push(format!(
                    "joint `{}` joins bodies that fixed joints already weld together: it cannot move and its springs have no effect",
                    joint.name
                ));
            }
            // Where loops and couplings have put it.
            let closed = self.data.start.as_ref();
            let start = closed.map_or(&joint.start[..], |s| &s.coordinates[joint.coordinates()]);
            let outside = |(f, q): (&Freedom, &f64)| f.lower - ROUNDING > *q || f.upper + ROUNDING < *q;
            if joint.freedoms.iter().zip(start).any(outside) {
                let at = start.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
                let why = match start.iter().all(|q| *q == 0.0) {
                    true => "the file's pose is coordinate 0".into(),
                    false => format!("its `start` is {at}"),
                };
                warnings.push(format!("joint `{}` starts outside its limits: {why}", joint.name));
            }
        }
        for coupling in &self.data.couplings {
            let (joint, of) = (&self[coupling.joint], &self[coupling.of]);
            if is_stuck(joint) || is_stuck(of) {
                warnings.push(format!(
                    "the coupling of joint `{}` to `{}` is ignored: one of them cannot move",
                    joint.name, of.name
                ));
            }
        }
        warnings
    }

    /// Counts, size, mass and warnings.
    pub fn summary(&self) -> Summary {
        Summary {
            bodies: self.data.bodies.len(),
            joints: self.data.joints.len(),
            freedoms: self.data.order.freedoms(&self.data.joints),
            loops: self.data.order.loop_joints().len(),
            effectors: self.data.effectors.iter().map(|e| e.name.clone()).collect(),
            radius: self.radius(),
            mass: self.mass(),
            warnings: self.warnings(),
        }
    }
}
