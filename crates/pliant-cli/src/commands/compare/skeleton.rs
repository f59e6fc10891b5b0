//! A mechanism as lines and dots, from its joints: each link is drawn between the points where joints and effectors sit on
//! it. Thin lines show what joints alone do not: discs that roll, and the curves and surfaces that formulas follow.
#![allow(missing_docs)] // for `pliant-papers` alone

use pliant::contact::Surfaces;
use pliant::joints::JointKind;
use pliant::mechanism::{BodyId, Geometry, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::spatial::Pose;

use super::solids::Solid;

/// Points on bodies, and what is drawn between and at them.
pub struct Skeleton {
    /// The body (`None` is the world) and the place in its link frame.
    points: Vec<(Option<BodyId>, Vector3<f64>)>,
    pub segments: Vec<[usize; 2]>,
    /// Where joints hold their children.
    pub joints: Vec<usize>,
    /// Where effectors are, in the mechanism's order.
    pub effectors: Vec<usize>,
    /// Where joints hold on to the world.
    pub anchors: Vec<usize>,
    /// Thin lines next to the links: rims of discs, and where formulas of joints lead.
    pub outlines: Vec<Vec<usize>>,
    /// Shapes of bodies, as triangles that are shaded.
    pub solids: Vec<Carried>,
}

/// Triangles that a body carries.
pub struct Carried {
    /// Points at the origin of the link frame and at this distance along its axes.
    pub frame: [usize; 4],
    pub arm: f64,
    pub solid: Solid,
}

impl Carried {
    /// Its vertices while points are there: along the axes that its frame has then.
    pub fn place(&self, points: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let [o, x, y, z] = self.frame.map(|p| points[p]);
        let axes = [x - o, y - o, z - o].map(|axis| axis / self.arm);
        self.solid.vertices.iter().map(|v| o + axes[0] * v.x + axes[1] * v.y + axes[2] * v.z).collect()
    }
}

/// Triangles of a page at most, and of one shape that lies in a file.
const MOST_TRIANGLES: usize = 4000;
const MOST_OF_A_FILE: usize = 400;

/// Outlines have at most this many points.
const MOST_OUTLINED: usize = 600;

impl Skeleton {
    pub fn new(mechanism: &Mechanism) -> Skeleton {
        let near = 1e-9 * super::measure::size(mechanism);
        let bodies = mechanism.bodies().len();
        let mut skeleton = Skeleton {
            points: Vec::new(),
            segments: Vec::new(),
            joints: vec![],
            effectors: vec![],
            anchors: vec![],
            outlines: vec![],
            solids: vec![],
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
        for joint in mechanism.joints() {
            let child = place(&mut skeleton, joint.child, mechanism.frame_in_child(joint).position);
            skeleton.joints.push(child);
            let at = mechanism.frame_in_parent(joint).position;
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
        for (body, own) in mechanism.body_ids().zip(&on_body) {
            skeleton.add_link(mechanism, body, own, near);
        }
        let outlines: Vec<_> = rims(mechanism).into_iter().chain(ways(mechanism)).collect();
        if outlines.iter().map(|(_, line)| line.len()).sum::<usize>() <= MOST_OUTLINED {
            for (body, line) in outlines {
                let first = skeleton.points.len();
                skeleton.points.extend(line.into_iter().map(|at| (body, at)));
                skeleton.outlines.push((first..skeleton.points.len()).collect());
            }
        }
        skeleton
    }

    /// Adds the shapes of all bodies, shaded, as many as a page can hold.
    pub fn add_solids(&mut self, mechanism: &Mechanism, surfaces: &Surfaces) {
        let mut left = MOST_TRIANGLES;
        let most = (MOST_TRIANGLES / mechanism.bodies().len().max(1)).clamp(60, MOST_OF_A_FILE);
        for body in mechanism.body_ids() {
            let solid = Solid::of(mechanism, body, surfaces, most);
            let size = solid.vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
            let fits = left.checked_sub(solid.triangles.len()).filter(|_| size > 0.0 && size.is_finite());
            let Some(rest) = fits else { continue };
            left = rest;
            // Within the body, so that a drawing is not larger for them.
            let arm = 0.5 * size;
            let first = self.points.len();
            let ends = [Vector3::zeros(), Vector3::x() * arm, Vector3::y() * arm, Vector3::z() * arm];
            self.points.extend(ends.map(|at| (Some(body), at)));
            self.solids.push(Carried { frame: [0, 1, 2, 3].map(|k| first + k), arm, solid });
        }
    }

    fn add_link(&mut self, mechanism: &Mechanism, body: BodyId, own: &[usize], near: f64) {
        let center = mechanism[body].inertia.center_of_mass;
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

    /// Where the points are in the world while the links are there.
    pub fn place(&self, poses: &[Pose]) -> Vec<Vector3<f64>> {
        let at = |(body, at): &(Option<BodyId>, Vector3<f64>)| match body {
            Some(body) => poses[body.index()].transform_point(at),
            None => *at,
        };
        self.points.iter().map(at).collect()
    }
}

/// A line on a body (`None` is the world).
type Line = (Option<BodyId>, Vec<Vector3<f64>>);

/// The rims of cylinders that are wider than long.
fn rims(mechanism: &Mechanism) -> Vec<Line> {
    // Points of a rim.
    const RIM: usize = 24;
    let mut lines = Vec::new();
    for body in mechanism.body_ids() {
        for shape in &mechanism[body].shapes {
            let Geometry::Cylinder { radius, half_length } = shape.geometry else { continue };
            if radius > half_length {
                let at = |k: usize| {
                    let (s, c) = (std::f64::consts::TAU * k as f64 / RIM as f64).sin_cos();
                    shape.pose.transform_point(&Vector3::new(radius * c, radius * s, 0.0))
                };
                lines.push((Some(body), (0..=RIM).map(at).collect()));
            }
        }
    }
    lines
}

/// Where the lengths of formulas, one or two between limits, lead their joints while the angles are zero: a curve, or lines
/// across a surface.
fn ways(mechanism: &Mechanism) -> Vec<Line> {
    // Points of a curve; lines across a surface, and points of each.
    const CURVE: usize = 40;
    const ACROSS: usize = 8;
    const ALONG: usize = 16;
    let mut lines = Vec::new();
    for joint in mechanism.joints() {
        let JointKind::Expression(formula) = &joint.kind else { continue };
        let lengths = formula.lengths();
        let limited = |k: usize| joint.freedoms[k].lower.is_finite() && joint.freedoms[k].upper.is_finite();
        if lengths == 0 || lengths > 2 || !(0..lengths).all(limited) {
            continue;
        }
        let frame = mechanism.frame_in_parent(joint);
        // Parts of the ways between the limits.
        let at = |parts: [f64; 2]| {
            let mut q = [0.0; 6];
            for k in 0..lengths {
                let (lower, upper) = (joint.freedoms[k].lower, joint.freedoms[k].upper);
                q[k] = lower + parts[k] * (upper - lower);
            }
            frame.transform_point(&formula.transform(&q[..formula.freedoms()]).position)
        };
        let part = |k: usize, of: usize| k as f64 / of as f64;
        if lengths == 1 {
            lines.push((joint.parent, (0..=CURVE).map(|k| at([part(k, CURVE), 0.0])).collect()));
            continue;
        }
        for i in 0..=ACROSS {
            let i = part(i, ACROSS);
            lines.push((joint.parent, (0..=ALONG).map(|k| at([i, part(k, ALONG)])).collect()));
            lines.push((joint.parent, (0..=ALONG).map(|k| at([part(k, ALONG), i])).collect()));
        }
    }
    lines
}
