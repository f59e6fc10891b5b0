//! The pose at which a mechanism is linearised: where its nodes are, and what each joint lets them do there.
//!
//! Everything is in body frames. A joint is measured in its child's node frame: with Xc the joint frame there
//! and S(q) the joint's subspace, a small motion of the coordinates moves the child by J θ̇, J = Ad(Xc) S
//! (Andrews 2015, with J as in numerics), beside what it takes over from its parent, Ad(c,p) ξ_p.

use nalgebra::Matrix6;

use super::error::ReductionError;
use crate::joints::JointKind;
use crate::mechanism::{BodyId, Freedom, JointId, Mechanism};
use crate::spatial::Pose;
use crate::state::State;

/// A mechanism at one pose.
#[derive(Clone, Debug)]
pub struct Reference<'m> {
    pub(super) mechanism: &'m Mechanism,
    /// Length that translations are measured in: the mechanism's radius, m.
    pub(super) radius: f64,
    /// The frame of each node, in the world.
    pub(super) poses: Vec<Pose>,
    /// Coordinates of all joints.
    pub(super) coordinates: Vec<f64>,
    /// The joints between two nodes, or a node and the world.
    pub(super) joints: Vec<Joint>,
    /// The tree joint of each node, among `joints`; `None` for a free base, which is held.
    pub(super) tree: Vec<Option<usize>>,
    /// Geometric stiffness of the forces at the pose: blocks (a, b, K) between nodes, b = a or above it.
    pub(super) geometric: Vec<(usize, usize, Matrix6<f64>)>,
}

/// A joint at the reference pose.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub id: JointId,
    pub kind: JointKind,
    /// `None` is the world.
    pub child: Option<usize>,
    pub parent: Option<usize>,
    /// First of its coordinates among those of all joints.
    pub coordinate: usize,
    /// J = Ad(Xc) S, the first d columns.
    pub motion: Matrix6<f64>,
    /// Ad(c,p): the parent's twist in the child's frame.
    pub across: Matrix6<f64>,
    /// Springs (with those of limits that act) of its freedoms.
    pub stiffness: [f64; 6],
}

impl Joint {
    pub fn freedoms(&self) -> usize {
        self.kind.freedoms()
    }
}

impl<'m> Reference<'m> {
    /// The file's pose.
    pub fn at_rest(mechanism: &'m Mechanism) -> Reference<'m> {
        let heads = mechanism.order().nodes().iter().map(|n| mechanism.body(n.head).pose).collect();
        Reference::new(mechanism, heads, vec![0.0; mechanism.coordinate_count()])
    }

    /// The pose in which some joints are at given positions and the others where springs, unloaded, put them.
    pub fn at_positions(
        mechanism: &'m Mechanism,
        positions: &[(JointId, Vec<f64>)],
    ) -> Result<Reference<'m>, ReductionError> {
        let _ = (mechanism, positions);
        todo!()
    }

    /// The equilibrium of a full simulation under its present loads, with the geometric stiffness of the
    /// forces there.
    pub fn at_equilibrium(
        simulation: &mut crate::full::Simulation<'m>,
    ) -> Result<Reference<'m>, ReductionError> {
        let _ = simulation;
        todo!()
    }

    /// The pose of given nodes and coordinates, which must fit each other.
    pub(super) fn new(mechanism: &'m Mechanism, poses: Vec<Pose>, coordinates: Vec<f64>) -> Reference<'m> {
        let order = mechanism.order();
        let pose = |node: Option<usize>| node.map_or(Pose::identity(), |n| poses[n]);
        let mut joints = Vec::with_capacity(mechanism.joints().len());
        let mut tree = vec![None; poses.len()];
        for (j, joint) in mechanism.joints().iter().enumerate() {
            let id = JointId::from_index(j);
            let (child, parent) = (order.node_of(joint.child), joint.parent.and_then(|b| order.node_of(b)));
            if child == parent {
                continue;
            }
            if let Some(n) = child.filter(|&n| order.nodes()[n].joint == Some(id)) {
                tree[n] = Some(joints.len());
            }
            let range = mechanism.coordinates_of(id);
            let q = &coordinates[range.clone()];
            let in_child = order.offset_of(joint.child) * mechanism.frame_in_child(id);
            let mut stiffness = [0.0; 6];
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                stiffness[k] = freedom.stiffness;
                if beyond_limit(freedom, q[k]) {
                    stiffness[k] += crate::full::limit_stiffness(joint.kind, k);
                }
            }
            joints.push(Joint {
                id,
                kind: joint.kind,
                child,
                parent,
                coordinate: range.start,
                motion: in_child.adjoint() * joint.kind.subspace(q),
                across: pose(child).inverse_times(&pose(parent)).adjoint(),
                stiffness,
            });
        }
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        Reference { mechanism, radius, poses, coordinates, joints, tree, geometric: Vec::new() }
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.mechanism
    }

    /// Puts poses and coordinates into a state.
    pub(crate) fn write_to(&self, state: &mut State) {
        for b in 0..state.poses.len() {
            state.poses[b] = self.pose(BodyId::from_index(b));
        }
        state.coordinates.copy_from_slice(&self.coordinates);
    }

    /// The link frame of a body at the reference, in the world.
    pub fn pose(&self, body: BodyId) -> Pose {
        let (node, offset) = self.place(body);
        node.map_or(offset, |n| self.poses[n] * offset)
    }

    /// The node of a body, and its link frame there (in the world, if it is welded to that).
    pub(super) fn place(&self, body: BodyId) -> (Option<usize>, Pose) {
        let order = self.mechanism.order();
        (order.node_of(body), order.offset_of(body))
    }

    /// Whether a node moves at all: a free base is held.
    pub(super) fn moves(&self, node: usize) -> bool {
        self.tree[node].is_some()
    }
}

fn beyond_limit(freedom: &Freedom, q: f64) -> bool {
    q > freedom.upper || q < freedom.lower
}
