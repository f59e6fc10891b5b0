//! Joints that close loops, and couplings: rows over the coordinates of the tree.
//!
//! With X the joint's relative pose and g the covector of one of its rows at P, world axes, a row has s_j·g for every
//! joint between the child and where its way to the base meets the parent's, and −s_j·g on the parent's side.

use std::ops::Range;

use nalgebra::{Matrix6, Vector3};

use super::kinematics::Places;
use super::model::{BASE, Freedom, Link};
use super::rows::{Row, dot, row};
use crate::engine::laws::Law;
use crate::joints::JointKind;
use crate::mechanism::{JointId, Mechanism};
use crate::spatial::{Pose, Twist, Wrench};

/// All that closes loops.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    pub joints: Vec<LoopJoint>,
    pub couplings: Vec<Coupling>,
    /// Freedoms of the loop joints, one after the other.
    pub freedoms: Vec<Freedom>,
    /// Closure rows of each joint and each coupling: blocks that are eliminated together.
    pub blocks: Vec<Range<usize>>,
    /// The freedoms of the tree that each block is about, from the first to the one after the last.
    pub spans: Vec<Range<usize>>,
}

/// A joint that closes a loop.
#[derive(Clone, Debug)]
pub(super) struct LoopJoint {
    pub kind: JointKind,
    /// P: what is kept of its closure and rows, if not all.
    pub kept: Option<Matrix6<f64>>,
    /// Links, or the base.
    pub child: usize,
    pub parent: usize,
    pub in_child: Pose,
    pub in_parent: Pose,
    /// Freedoms of the tree that move one side and not the other, with the sign of the side.
    pub path: Vec<(usize, f64)>,
    /// The links of both sides.
    pub sides: [Vec<usize>; 2],
    /// First of its freedoms among those of all loop joints.
    pub first: usize,
}

/// Σ factor·θ = offset over two coordinates.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    pub ends: [(End, f64); 2],
    pub offset: f64,
}

/// A coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// A freedom of the tree.
    Tree(usize),
    /// A freedom of a loop joint.
    Loop(usize),
}

impl Loops {
    pub fn new(
        mechanism: &Mechanism,
        links: &[Link],
        laws: &[Law],
        reach: impl Fn(&JointKind, usize) -> f64,
    ) -> Loops {
        let order = mechanism.order();
        let mut loops = Loops {
            joints: Vec::new(),
            couplings: Vec::new(),
            freedoms: Vec::new(),
            blocks: Vec::new(),
            spans: Vec::new(),
        };
        let mut place: Vec<Option<usize>> = vec![None; mechanism.joints().len()];
        let mut rows = 0;
        for &id in order.loop_joints() {
            let joint = &mechanism[id];
            let (child, parent) = (order.node_of(joint.child), joint.parent.and_then(|b| order.node_of(b)));
            if child == parent {
                continue;
            }
            joint.kind.prepare_off_manifold();
            let way = |node: Option<usize>| {
                let mut way = Vec::new();
                let mut n = node.unwrap_or(BASE);
                while n != BASE {
                    way.push(n);
                    n = links[n].parent;
                }
                way
            };
            let (mut up, mut down) = (way(child), way(parent));
            while up.last().is_some() && up.last() == down.last() {
                up.pop();
                down.pop();
            }
            let freedoms = |side: &[usize], sign: f64| -> Vec<(usize, f64)> {
                let of =
                    |&n: &usize| (links[n].first..links[n].first + links[n].count).map(move |i| (i, sign));
                side.iter().flat_map(of).collect()
            };
            place[id.index()] = Some(loops.freedoms.len());
            let in_parent = mechanism.frame_in_parent(&mechanism[id]);
            loops.joints.push(LoopJoint {
                kind: joint.kind.clone(),
                kept: mechanism.kept(id),
                child: child.unwrap_or(BASE),
                parent: parent.unwrap_or(BASE),
                in_child: order.offset_of(joint.child) * mechanism.frame_in_child(&mechanism[id]),
                in_parent: joint.parent.map_or(in_parent, |b| order.offset_of(b) * in_parent),
                path: [freedoms(&up, 1.0), freedoms(&down, -1.0)].concat(),
                sides: [up, down],
                first: loops.freedoms.len(),
            });
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                loops.freedoms.push(Freedom {
                    stiffness: freedom.stiffness,
                    softness: 1.0 / freedom.stiffness,
                    damping: freedom.damping,
                    armature: freedom.armature,
                    lower: freedom.lower,
                    upper: freedom.upper,
                    limit: laws[joint.coordinates().start + k].limit,
                    coordinate: mechanism[id].coordinates().start + k,
                    reach: reach(&joint.kind, k),
                });
            }
            let count = 6 - joint.kind.freedoms();
            loops.blocks.push(rows..rows + count);
            loops.spans.push(span(loops.joints[loops.joints.len() - 1].path.iter().map(|&(i, _)| i)));
            rows += count;
        }
        let end = |id: JointId| {
            let of_tree = links.iter().find(|link| link.joint == Some(id)).map(|link| End::Tree(link.first));
            of_tree.or(place[id.index()].map(End::Loop))
        };
        for coupling in mechanism.coupled() {
            // One of a joint that cannot move is ignored, as the mechanism's warnings say.
            if let (Some(a), Some(b)) = (end(coupling.joint), end(coupling.of)) {
                let ends = [(a, 1.0), (b, -coupling.ratio)];
                let of = |end: End| match end {
                    End::Tree(i) => vec![i],
                    End::Loop(k) => {
                        let joint = loops.joints.iter().rfind(|joint| joint.first <= k);
                        joint.expect("it has the freedom").path.iter().map(|&(i, _)| i).collect()
                    }
                };
                loops.spans.push(span(of(a).into_iter().chain(of(b))));
                loops.couplings.push(Coupling { ends, offset: coupling.offset });
                loops.blocks.push(rows..rows + 1);
                rows += 1;
            }
        }
        loops
    }

    /// Whether there is nothing to close.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Number of closure rows.
    pub fn rows(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.end)
    }
}

impl LoopJoint {
    /// The two joint frames in the world.
    fn frames(&self, places: &Places, base: &Pose) -> (Pose, Pose) {
        let pose = |n: usize| if n == BASE { *base } else { places.link(n).pose() };
        (pose(self.parent) * self.in_parent, pose(self.child) * self.in_child)
    }

    /// θ(X), nearest to what it was, and its rate.
    pub fn measure(&self, places: &Places, base: &Pose, q: &mut [f64], rate: &mut [f64]) {
        let d = self.kind.freedoms();
        let (outer, inner) = self.frames(places, base);
        let X = outer.inverse_times(&inner);
        let theta = self.kind.coordinates(&X, q);
        q.copy_from_slice(&theta.as_slice()[..d]);
        let J = self.kind.coordinates_jacobian(&X, q);
        let twist = |n: usize| if n == BASE { places.base } else { places.link(n).twist };
        let (a, b) = (twist(self.child), twist(self.parent));
        let v = Vector3::new(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        let w = Vector3::new(a[3] - b[3], a[4] - b[4], a[5] - b[5]);
        let at = Pose::new(inner.rotation, inner.position - Vector3::from(places.point));
        let local = at.twist_to_local(&Twist::new(v, w)).to_vector();
        let rates = J * local;
        rate.copy_from_slice(&rates.as_slice()[..d]);
    }

    /// The residual, and the covectors at P of the closure rows and of the coordinates.
    pub fn covectors(
        &self,
        places: &Places,
        base: &Pose,
        q: &[f64],
        residual: &mut [f64],
        rows: &mut [Row],
        coordinates: &mut [Row],
    ) {
        let d = self.kind.freedoms();
        let (outer, inner) = self.frames(places, base);
        let X = outer.inverse_times(&inner);
        let (mut C, mut J) = (self.kind.residual(&X, q), self.kind.rows(&X, q));
        if let Some(P) = &self.kept {
            (C, J) = (P * C, P * J);
        }
        residual.copy_from_slice(&C.as_slice()[..6 - d]);
        let at = Pose::new(inner.rotation, inner.position - Vector3::from(places.point));
        let outward = |J: &Matrix6<f64>, i: usize| {
            let local = Wrench::from_vector(&J.row(i).transpose());
            let w = at.wrench_to_outer(&local);
            row(w.force.into(), w.torque.into())
        };
        rows.iter_mut().enumerate().for_each(|(i, g)| *g = outward(&J, i));
        let J = self.kind.coordinates_jacobian(&X, q);
        coordinates.iter_mut().enumerate().for_each(|(k, g)| *g = outward(&J, k));
    }

    /// Where it is, seen from P.
    pub fn arm(&self, places: &Places, base: &Pose) -> [f64; 3] {
        let (_, inner) = self.frames(places, base);
        (inner.position - Vector3::from(places.point)).into()
    }

    /// Writes a covector as a row over the freedoms of the tree, in their units.
    #[inline(always)]
    pub fn write<const FUSED: bool>(
        &self,
        places: &Places,
        g: &Row,
        scale: f64,
        units: &[f64],
        out: &mut [f64],
    ) {
        for &(i, sign) in &self.path {
            out[i] = sign * scale * units[i] * dot::<FUSED>(&places.axes[i], g);
        }
    }
}

/// From the least to the one after the largest.
fn span(indices: impl Iterator<Item = usize> + Clone) -> Range<usize> {
    let end = indices.clone().max().map_or(0, |i| i + 1);
    indices.min().unwrap_or(0)..end
}
