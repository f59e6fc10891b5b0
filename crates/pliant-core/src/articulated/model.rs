//! What never changes while a mechanism is simulated: the nodes in the order in which the recursion visits
//! them, with inertias and frames, and the loops and couplings that close it.

use std::ops::Range;
use std::sync::Arc;

use super::closures::Closures;
use super::small::{M, Q, Sym, V, m, sym, v};
use super::sweeps::first_turn;
use crate::engine::laws::{Law, laws};
use crate::full::inverse_inertia;
use crate::joints::JointKind;
use crate::mechanism::{BodyId, JointId, Mechanism, UnknownHandle};
use crate::spatial::{Pose, skew};

/// Closing rows beyond which this engine is not to be taken: those of ladder:30000, the longest that was tried.
pub const MOST_CLOSING_ROWS: usize = 30_000;

/// Number of rows that close the loops and couplings of a mechanism.
pub fn closing_rows(mechanism: &Mechanism) -> usize {
    let loops = mechanism.order().loop_joints().iter();
    loops.map(|j| 6 - mechanism[*j].kind.freedoms()).sum::<usize>() + mechanism.couplings().len()
}

/// A mechanism prepared for the articulated engine.
///
/// ```
/// use pliant_core::{articulated, engine::Simulation, gallery};
///
/// let mechanism = gallery::chain(20); // 2 m of links, sagging under gravity
/// let mut simulation = articulated::Model::new(&mechanism).simulate();
/// let tip = simulation.effector("tip")?;
/// for _ in 0..60 {
///     simulation.step(1.0 / 60.0)?;
/// }
/// assert!(simulation.effector_pose(tip)?.position.z < -0.1);
/// assert!(simulation.violation() < 1e-12); // coordinates cannot come apart
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Arc<Constants>,
}

impl Model {
    /// Prepares a mechanism.
    pub fn new(mechanism: &Mechanism) -> Model {
        Model { constants: Arc::new(Constants::new(mechanism)) }
    }

    /// The mechanism it was made from.
    pub fn mechanism(&self) -> &Mechanism {
        &self.constants.mechanism
    }

    /// Number of speeds: the freedoms of the spanning forest, six for each free base.
    ///
    /// A speed is the rate of a coordinate, but for turns about any axis: those of a ball or bushing are the
    /// child's angular velocity relative to the parent in the axes of the child's joint frame, rad/s, and a free
    /// base has its body twist. So no pose is singular.
    pub fn speeds(&self) -> usize {
        self.constants.speeds
    }

    /// Where the speeds of a body's tree joint, or of a free base, are among all speeds; `None` for a body that is
    /// welded to another.
    pub fn speeds_of(&self, body: BodyId) -> Result<Option<Range<usize>>, UnknownHandle> {
        self.mechanism().body(body)?;
        let Constants { nodes, speeds, .. } = &*self.constants;
        let node = nodes.iter().position(|node| node.head == body.index());
        Ok(node.map(|n| nodes[n].speed..nodes.get(n + 1).map_or(*speeds, |next| next.speed)))
    }
}

/// What never changes.
#[derive(Debug)]
pub(super) struct Constants {
    pub mechanism: Mechanism,
    /// The nodes of the order. What moves with node n is in slot n + 1; slot 0 is the base.
    pub nodes: Vec<Node>,
    pub general: Vec<GeneralNode>,
    /// What acts along the coordinates as the mechanism has it.
    pub laws: Vec<Law>,
    /// Coordinates of tree joints with limits, and their speeds.
    pub limited: Vec<(usize, usize)>,
    /// Where each coordinate is.
    pub places: Vec<Place>,
    /// Number of speeds.
    pub speeds: usize,
    pub closures: Closures,
    /// The mass that each node carries, with its own; and the largest sum of m|c| of what a node holds, over its own inertia,
    /// 1/m: times g, the square of how fast it swings against what hangs on it.
    pub carried: Vec<f64>,
    pub most_hanging: f64,
    /// Nodes of each tree on a free base, that first.
    pub floats: Vec<Vec<usize>>,
    /// Bodies other than their node's head, with their slot and offset.
    pub followers: Vec<(usize, usize, Pose)>,
    pub radius: f64,
}

/// Where a coordinate is: a freedom of a node's joint or of a loop joint, or of a joint within a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Tree(usize, usize),
    Loop(usize, usize),
    Still,
}

/// How a node hangs on its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// By a hinge.
    Hinge,
    /// By another joint, with its place among the general nodes.
    General(usize),
    /// Not at all: a free base, with its place among the general nodes.
    Free(usize),
}

/// Constants of a node: one or several welded bodies. Its reference point o is the origin of the joint frame
/// that it is carried by; a free base's is its link frame's. Axes are those of the link frame of its head.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub motion: Motion,
    /// Slot of the parent; 0 is the base.
    pub parent: usize,
    /// The body whose link frame is the node's.
    pub head: usize,
    /// First of its speeds, and of its joint's coordinates and rows in the state.
    pub speed: usize,
    pub coordinate: usize,
    pub row: usize,
    /// The node's axes in its parent's while the joint's coordinates are zero, and the axis of a hinge.
    pub turn: Q,
    pub axis: V,
    /// o in the parent's link frame while the coordinates are zero, and in the node's own.
    pub in_parent: V,
    pub in_child: V,
    /// Axes of the joint frame in the parent's link frame.
    pub joint_axes: M,
    pub mass: f64,
    pub inverse_mass: f64,
    /// From o to the centre of mass, the same times the mass, and the inertia about o.
    pub center: V,
    pub first_moment: V,
    pub inertia: Sym,
    /// The centre of mass in the link frame, the inertia about it and the inverse of that.
    pub in_link: V,
    pub about_center: Sym,
    pub inverse: Sym,
}

/// Constants of a node that is carried by another joint than a hinge, or by none.
#[derive(Clone, Debug)]
pub(super) struct GeneralNode {
    /// The joint; `None` for a free base.
    pub joint: Option<JointId>,
    pub freedoms: usize,
    /// Of a formula, its own length, m.
    pub own_length: Option<f64>,
    /// The joint frame in the parent's and in the node's own frame.
    pub in_parent: Pose,
    pub in_child: Pose,
}

impl Constants {
    pub fn new(mechanism: &Mechanism) -> Constants {
        let order = mechanism.order();
        let mut general = Vec::new();
        let mut nodes = Vec::with_capacity(order.nodes().len());
        let mut speeds = 0;
        for node in order.nodes() {
            let (in_parent, in_child) = match node.joint {
                Some(joint) => mechanism.frames_in_nodes(&mechanism[joint]),
                None => (Pose::identity(), Pose::identity()),
            };
            let freedoms = node.joint.map_or(6, |j| mechanism[j].kind.freedoms());
            let motion = match node.joint {
                Some(joint) if mechanism[joint].kind == JointKind::Hinge => Motion::Hinge,
                joint => {
                    let own_length = match joint.map(|joint| &mechanism[joint].kind) {
                        Some(JointKind::Expression(formula)) => Some(formula.own_length()),
                        _ => None,
                    };
                    general.push(GeneralNode { joint, freedoms, own_length, in_parent, in_child });
                    let at = general.len() - 1;
                    if joint.is_some() { Motion::General(at) } else { Motion::Free(at) }
                }
            };
            // About o: I + m(|c|² − c cᵀ).
            let center = node.inertia.center_of_mass - in_child.position;
            let C = skew(&center);
            let inertia = node.inertia.inertia - C * C * node.inertia.mass;
            let turn = (in_parent.rotation * in_child.rotation.inverse()).into_inner();
            nodes.push(Node {
                motion,
                parent: node.parent.map_or(0, |p| p + 1),
                head: node.head.index(),
                speed: speeds,
                coordinate: node.joint.map_or(0, |j| mechanism[j].coordinates().start),
                row: node.joint.map_or(0, |j| mechanism[j].rows().start),
                turn: turn.coords.into(),
                axis: v(&(in_child.rotation * nalgebra::Vector3::z())),
                in_parent: v(&in_parent.position),
                in_child: v(&in_child.position),
                joint_axes: m(&in_parent.rotation_matrix()),
                mass: node.inertia.mass,
                inverse_mass: if node.inertia.mass > 0.0 { 1.0 / node.inertia.mass } else { 0.0 },
                center: v(&center),
                first_moment: v(&(center * node.inertia.mass)),
                in_link: v(&node.inertia.center_of_mass),
                about_center: sym(&node.inertia.inertia),
                inverse: sym(&inverse_inertia(&node.inertia.inertia)),
                inertia: sym(&((inertia + inertia.transpose()) * 0.5)),
            });
            speeds += freedoms;
        }
        let followers = (mechanism.body_ids())
            .filter(|b| order.node_of(*b).is_none_or(|n| order.nodes()[n].head != *b))
            .map(|b| (b.index(), order.node_of(b).map_or(0, |n| n + 1), order.offset_of(b)))
            .collect();
        let gyration = order.nodes().iter().map(|n| (n.inertia.inertia.trace() / n.inertia.mass).sqrt());
        let gyration = gyration.fold(f64::MIN_POSITIVE, f64::max);
        let mut limited = Vec::new();
        for (node, at) in order.nodes().iter().zip(&nodes) {
            let Some(joint) = node.joint.map(|j| &mechanism[j]) else { continue };
            for (k, f) in joint.freedoms.iter().enumerate().take(first_turn(&joint.kind)) {
                if f.lower > f64::NEG_INFINITY || f.upper < f64::INFINITY {
                    limited.push((at.coordinate + k, at.speed + k));
                }
            }
        }
        let mut carried: Vec<f64> = nodes.iter().map(|node: &Node| node.mass).collect();
        let length = |x: V| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut hangs: Vec<f64> = nodes.iter().map(|node| node.mass * length(node.center)).collect();
        for (n, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.checked_sub(1) {
                carried[parent] += carried[n];
                let arm = std::array::from_fn(|i| node.in_parent[i] - nodes[parent].in_child[i]);
                hangs[parent] += carried[n] * length(arm);
            }
        }
        let own = |node: &Node| mean_moment(&node.inertia);
        let most_hanging =
            nodes.iter().zip(&hangs).map(|(node, hangs)| hangs / own(node)).fold(0.0, f64::max);
        let freedoms = nodes.iter().map(|node| match node.motion {
            Motion::Hinge => 1,
            Motion::General(g) | Motion::Free(g) => general[g].freedoms,
        });
        let closures = Closures::new(mechanism, &nodes, &freedoms.collect::<Vec<_>>());
        let mut places = vec![Place::Still; mechanism.coordinate_count()];
        for (n, node) in order.nodes().iter().enumerate() {
            let own = node.joint.map_or(0..0, |id| mechanism[id].coordinates());
            own.enumerate().for_each(|(k, at)| places[at] = Place::Tree(n, k));
        }
        for (j, joint) in closures.joints.iter().enumerate() {
            let own = mechanism[joint.id].coordinates();
            own.enumerate().for_each(|(k, at)| places[at] = Place::Loop(j, k));
        }
        Constants {
            limited,
            carried,
            most_hanging,
            mechanism: mechanism.clone(),
            closures,
            floats: order.free_trees(),
            nodes,
            general,
            laws: laws(mechanism),
            places,
            speeds,
            followers,
            radius: if mechanism.radius() > 0.0 { mechanism.radius() } else { gyration },
        }
    }

    /// The slot and the pose, in its link frame, of a frame on a body.
    pub(super) fn frame_in_slot(&self, body: BodyId, frame: &Pose) -> (usize, Pose) {
        let order = self.mechanism.order();
        (order.node_of(body).map_or(0, |n| n + 1), order.offset_of(body) * *frame)
    }
}

/// The mean of three moments of inertia.
fn mean_moment(I: &Sym) -> f64 {
    (I[0] + I[3] + I[5]) / 3.0
}
