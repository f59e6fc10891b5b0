//! A mechanism as lines and dots, from its joints alone: each link is drawn between the points where joints and
//! effectors sit on it.

use pliant::mechanism::{BodyId, JointId, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

/// Points on bodies, and what is drawn between and at them.
pub struct Skeleton {
    /// The body (`None` is the world) and the place in its link frame.
    points: Vec<(Option<BodyId>, Vector3<f64>)>,
    /// Lines.
    pub segments: Vec<[usize; 2]>,
    /// Where joints hold their children.
    pub joints: Vec<usize>,
    /// Where effectors are, in the mechanism's order.
    pub effectors: Vec<usize>,
    /// Where joints hold on to the world.
    pub anchors: Vec<usize>,
}

impl Skeleton {
    /// Of a mechanism.
    pub fn new(mechanism: &Mechanism) -> Skeleton {
        let near = 1e-9 * super::measure::size(mechanism);
        let bodies = mechanism.bodies().len();
        let mut skeleton = Skeleton {
            points: Vec::new(),
            segments: Vec::new(),
            joints: vec![],
            effectors: vec![],
            anchors: vec![],
        };
        let mut on_body: Vec<Vec<usize>> = vec![Vec::new(); bodies];
        let mut place = |skeleton: &mut Skeleton, body: BodyId, at: Vector3<f64>| -> usize {
            let own = &mut on_body[body.index()];
            match own.iter().find(|&&p| (skeleton.points[p].1 - at).norm() <= near) {
                Some(&p) => p,
                None => {
                    skeleton.points.push((Some(body), at));
                    own.push(skeleton.points.len() - 1);
                    skeleton.points.len() - 1
                }
            }
        };
        for (j, joint) in mechanism.joints().iter().enumerate() {
            let id = JointId::from_index(j);
            let child = place(&mut skeleton, joint.child, mechanism.frame_in_child(id).position);
            skeleton.joints.push(child);
            let at = mechanism.frame_in_parent(id).position;
            match joint.parent {
                Some(parent) => {
                    place(&mut skeleton, parent, at);
                }
                None => {
                    skeleton.points.push((None, at));
                    skeleton.anchors.push(skeleton.points.len() - 1);
                }
            }
        }
        for effector in mechanism.effectors() {
            let at = place(&mut skeleton, effector.body, effector.frame.position);
            skeleton.effectors.push(at);
        }
        for (b, own) in on_body.iter().enumerate() {
            skeleton.add_link(mechanism, BodyId::from_index(b), own, near);
        }
        skeleton
    }

    fn add_link(&mut self, mechanism: &Mechanism, body: BodyId, own: &[usize], near: f64) {
        let center = mechanism.body(body).inertia.center_of_mass;
        match own {
            [] => self.points.push((Some(body), center)),
            // A rod goes as far beyond its centre of mass as it begins before it.
            &[p] => {
                let by = center - self.points[p].1;
                if by.norm() > near {
                    self.points.push((Some(body), center + by));
                    self.segments.push([p, self.points.len() - 1]);
                }
            }
            &[p, q] => self.segments.push([p, q]),
            many => {
                let middle = many.iter().map(|&p| self.points[p].1).sum::<Vector3<f64>>() / many.len() as f64;
                let hub = many.iter().copied().find(|&p| (self.points[p].1 - middle).norm() <= near);
                let hub = hub.unwrap_or_else(|| {
                    self.points.push((Some(body), middle));
                    self.points.len() - 1
                });
                self.segments.extend(many.iter().filter(|&&p| p != hub).map(|&p| [hub, p]));
            }
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Where the points are in the world while the links are there.
    pub fn place(&self, poses: &[Pose]) -> Vec<Vector3<f64>> {
        let at = |(body, at): &(Option<BodyId>, Vector3<f64>)| match body {
            Some(body) => poses[body.index()].transform_point(at),
            None => *at,
        };
        self.points.iter().map(at).collect()
    }
}
