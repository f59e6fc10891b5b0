//! A joint at an iterate: where its frames are, its rows in world axes, its closure, its coordinates.
//!
//! The rows are the constraint rows J and the coordinate rows Jθ of its kind, turned into world axes and to the
//! centres of mass of its two bodies: a row (l, a) of the child frame's body twist becomes
//! (R_F l, R_F a + r×R_F l) on the child, with r from its centre of mass to the child frame's origin, and the
//! negative of that, with its own r, on the parent.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::assembly::Scene;
use super::frames::Frame;
use super::model::Joint;
use crate::joints::{JointKind, Placement, nearest_turn};
use crate::spatial::Pose;

/// A joint at an iterate: its rows in world axes, first those of the constraint, then those of the
/// coordinates.
pub(super) struct Placed {
    /// Linear part of each row, and angular part at the child's and at the parent's centre of mass.
    pub linear: [Vector3<f64>; 6],
    pub child: [Vector3<f64>; 6],
    pub parent: [Vector3<f64>; 6],
    /// From the child's and the parent's centre of mass to the child frame's origin.
    pub arms: [Vector3<f64>; 2],
    /// The child frame's z.
    pub axis: Vector3<f64>,
    /// C(X), and the square of the part of it that is a distance.
    pub residual: Vector6<f64>,
    pub gap2: f64,
    /// θ(X) and its rate at the iterate.
    pub q: Vector6<f64>,
    pub rate: Vector6<f64>,
}

impl Placed {
    /// The same where P takes rows away.
    #[inline(never)]
    fn leave_out(&mut self, left_out: &[bool]) {
        for i in (0..left_out.len()).filter(|i| left_out[*i]) {
            self.residual[i] = 0.0;
            (self.linear[i], self.child[i], self.parent[i]) = Default::default();
        }
    }

    /// What is kept of the closure and its rows: P C and P J.
    #[inline(never)]
    fn keep(&mut self, P: &Matrix6<f64>, rows: usize) {
        self.residual = P * self.residual;
        for list in [&mut self.linear, &mut self.child, &mut self.parent] {
            let all = *list;
            for i in 0..rows {
                list[i] = (0..rows).map(|k| all[k] * P[(i, k)]).sum();
            }
        }
    }
}

impl Scene<'_> {
    /// A joint's side: a node, or the base if it is the world.
    #[inline(always)]
    pub(super) fn side(&self, node: Option<usize>) -> &Frame {
        &self.frames[node.unwrap_or(self.model.nodes.len())]
    }

    /// The relative pose X of a joint, and its child frame in the world.
    #[inline(always)]
    pub(super) fn frames_of(&self, joint: &Joint) -> (Pose, Pose) {
        let F = self.side(joint.child).pose * joint.in_child;
        ((self.side(joint.parent).pose * joint.in_parent).inverse_times(&F), F)
    }

    /// The rows, closure and coordinates of a joint.
    #[inline(always)]
    pub(super) fn place(&self, joint: &Joint) -> Placed {
        let mut placed =
            if joint.kind == JointKind::Hinge { self.place_hinge(joint) } else { self.place_any(joint) };
        match (&joint.left_out, &joint.kept) {
            (Some(left_out), _) => placed.leave_out(&left_out[..6 - joint.kind.freedoms()]),
            (None, Some(P)) => placed.keep(P, 6 - joint.kind.freedoms()),
            _ => {}
        }
        placed
    }

    /// Any joint, by the answers of its kind.
    fn place_any(&self, joint: &Joint) -> Placed {
        let (X, F) = self.frames_of(joint);
        let (child, parent) = (self.side(joint.child), self.side(joint.parent));
        let (rc, rp) = (F.position - child.center, F.position - parent.center);
        let R = F.rotation_matrix();
        let d = joint.kind.freedoms();
        let reference = &self.state.coordinates[joint.coordinate..joint.coordinate + d];
        let Placement { coordinates: q, residual, rows: J, coordinates_jacobian: Jq } =
            joint.kind.place(&X, reference);
        let zero = [Vector3::zeros(); 6];
        let mut placed = Placed {
            linear: zero,
            child: zero,
            parent: zero,
            arms: [rc, rp],
            axis: R.column(2).into(),
            residual,
            gap2: 0.0,
            q,
            rate: Vector6::zeros(),
        };
        for i in 0..6 {
            let row = if i < 6 - d { J.row(i) } else { Jq.row(i - (6 - d)) };
            let l = R * Vector3::new(row[0], row[1], row[2]);
            let a = R * Vector3::new(row[3], row[4], row[5]);
            placed.linear[i] = l;
            placed.child[i] = a + rc.cross(&l);
            placed.parent[i] = a + rp.cross(&l);
            if i < 6 - d {
                // The rows of a formula are distances in part.
                placed.gap2 += placed.residual[i] * placed.residual[i] * l.norm_squared();
            }
        }
        for k in 0..d {
            let i = 6 - d + k;
            placed.rate[k] = placed.linear[i].dot(&(child.v - parent.v)) + placed.child[i].dot(&child.w)
                - placed.parent[i].dot(&parent.w);
        }
        placed
    }

    /// A hinge, in vectors alone: offsets along the parent's axes, dots of the child's z with the
    /// parent's x and y, and the angle between the two x axes.
    #[inline(always)]
    fn place_hinge(&self, joint: &Joint) -> Placed {
        let (child, parent) = (self.side(joint.child), self.side(joint.parent));
        let (Rc, Rp) = (child.R * joint.in_child_rotation, parent.R * joint.in_parent_rotation);
        let o = child.pose.position + child.R * joint.in_child.position;
        let gap = o - (parent.pose.position + parent.R * joint.in_parent.position);
        let (rc, rp) = (o - child.center, o - parent.center);
        let column = |M: &Matrix3<f64>, k: usize| -> Vector3<f64> { M.column(k).into() };
        let (xc, yc, zc) = (column(&Rc, 0), column(&Rc, 1), column(&Rc, 2));
        let p: [Vector3<f64>; 3] = std::array::from_fn(|k| column(&Rp, k));
        // φ = atan2(s, c); its rate is that of ω along (c ∂s − s ∂c)/(s² + c²).
        let (s, c) = (xc.dot(&p[1]) - yc.dot(&p[0]), xc.dot(&p[0]) + yc.dot(&p[1]));
        let ds = xc.cross(&p[1]) - yc.cross(&p[0]);
        let dc = xc.cross(&p[0]) + yc.cross(&p[1]);
        let axis = (ds * c - dc * s) / (s * s + c * c);
        let mut placed = Placed {
            linear: [p[0], p[1], p[2], Vector3::zeros(), Vector3::zeros(), Vector3::zeros()],
            child: [Vector3::zeros(); 6],
            parent: [Vector3::zeros(); 6],
            arms: [rc, rp],
            axis: zc,
            residual: Vector6::new(
                gap.dot(&p[0]),
                gap.dot(&p[1]),
                gap.dot(&p[2]),
                zc.dot(&p[0]),
                zc.dot(&p[1]),
                0.0,
            ),
            gap2: gap.norm_squared(),
            q: Vector6::zeros(),
            rate: Vector6::zeros(),
        };
        for k in 0..3 {
            placed.child[k] = rc.cross(&p[k]);
            placed.parent[k] = rp.cross(&p[k]);
        }
        for k in 0..2 {
            let a = zc.cross(&p[k]);
            placed.child[3 + k] = a;
            placed.parent[3 + k] = a;
        }
        placed.child[5] = axis;
        placed.parent[5] = axis;
        placed.rate[0] = axis.dot(&(child.w - parent.w));
        // Turns are counted from where the rate leads in the step, so that fast ones are not lost.
        let expected = self.state.coordinates[joint.coordinate] + self.scheme.damping * placed.rate[0];
        placed.q[0] = nearest_turn(s.atan2(c), expected);
        placed
    }
}
