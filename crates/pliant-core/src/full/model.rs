//! What never changes while a mechanism is simulated: inertias, frames, coefficients, and the plan
//! of elimination.

use std::sync::Arc;

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use crate::algebra::elimination::{Graph, Ordering, Symbolic};
use crate::joints::JointKind;
use crate::mechanism::{BodyId, EffectorId, JointId, Mechanism};
use crate::spatial::{Pose, skew};

/// Compliance of a constraint row that closes a loop, relative to the inverse mass it sees: makes rows that
/// loops repeat solvable. It acts against changes of the constraint force only, so nothing gives
/// way at rest. Anything from 1e-14 to 1e-6 gives the same motion where rows are repeated exactly; a pivot that is
/// nothing but this loses as many digits as it is small, so it is no smaller than it must be: rows that are kept have
/// singular values above 5e-4, squares above 2.5e-7 of the others. Rows of trees need none.
const ROW_SOFTNESS: f64 = 1e-8;

/// A mechanism prepared for the full engine.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery, spatial::Wrench};
///
/// let mechanism = gallery::four_bar(); // crank, coupler and rocker, a loop
/// let mut simulation = full::Model::new(&mechanism).simulate();
/// let coupler = simulation.effector("coupler")?;
/// let before = simulation.effector_pose(coupler)?.position.z;
/// simulation.set_load(coupler, Wrench::force([0.0, 0.0, -50.0]))?;
/// for _ in 0..60 {
///     simulation.step(1.0 / 60.0)?;
/// }
/// assert!(simulation.effector_pose(coupler)?.position.z < before - 0.001); // pressed down
/// assert!(simulation.violation() < 1e-12); // and the loop is closed
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
}

/// What never changes.
#[derive(Debug)]
pub(super) struct Constants {
    pub mechanism: Mechanism,
    pub nodes: Vec<Node>,
    pub joints: Vec<Joint>,
    /// The joint of each coordinate; absent where both its bodies move as one.
    pub joint_of: Vec<usize>,
    pub couplings: Vec<Coupling>,
    pub plan: Symbolic,
    /// What is assembled in each front: `items[first_item[f]..first_item[f + 1]]`.
    pub items: Vec<Item>,
    pub first_item: Vec<usize>,
    /// Whether a front's unit is a body with the rows of its tree joint, all of which are assembled there.
    pub is_carried: Vec<bool>,
    /// Nodes of each tree on a free base, that first.
    pub floats: Vec<Vec<usize>>,
    /// Bodies other than their node's head, with their node and offset.
    pub followers: Vec<(BodyId, Option<usize>, Pose)>,
    pub radius: f64,
    /// Number of constraint rows: how many pivots must be negative.
    pub rows: usize,
}

/// Constants of a node of the order: one or several welded bodies.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub head: BodyId,
    pub mass: f64,
    /// Centre of mass in the node's frame.
    pub center: Vector3<f64>,
    /// Inertia about it, node axes, and its inverse.
    pub inertia: Matrix3<f64>,
    pub inverse: Matrix3<f64>,
    /// First unknown in the solution.
    pub unknown: usize,
    /// The front in which it is eliminated, where its position is 0.
    pub front: usize,
}

/// Constants of a joint between two nodes.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub id: JointId,
    pub kind: JointKind,
    /// P: what is kept of its closure and rows, if not all.
    pub kept: Option<Matrix6<f64>>,
    /// Where P takes away rows and changes no other, which ones.
    pub left_out: Option<[bool; 6]>,
    /// Node of the child and of the parent; `None` is the world.
    pub child: Option<usize>,
    pub parent: Option<usize>,
    /// The joint frame in the child's and in the parent's node frame.
    pub in_child: Pose,
    pub in_parent: Pose,
    pub in_child_rotation: Matrix3<f64>,
    pub in_parent_rotation: Matrix3<f64>,
    /// First of its coordinates and of its rows in the state.
    pub coordinate: usize,
    pub row: usize,
    /// First unknown of its multipliers in the solution.
    pub unknown: usize,
    /// Compliance of its rows.
    pub softness: Vector6<f64>,
    /// Which of its rows are rotations alone, at rest.
    pub turning: [bool; 6],
    /// Couplings of its coordinate: position of the multiplier in the state, and factor of the coordinate.
    pub couplings: Vec<(usize, f64)>,
    /// |r|/I of both sides: times h²|λ| it says whether geometric stiffness is needed, 1/(kg·m).
    pub lever: f64,
    /// The gap beyond which it counts as torn: the arms of both sides, or a hundredth of the radius, m.
    pub reach: f64,
    /// What a row's multiplier counts as a force, 1/m for torques.
    pub tension: [f64; 6],
}

/// Constants of a coupling.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    pub joint: usize,
    pub of: usize,
    pub ratio: f64,
    pub offset: f64,
    /// Position of its multiplier in the state and in the solution.
    pub row: usize,
    pub unknown: usize,
    pub softness: f64,
}

/// One element of a front; positions are within it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Body { node: usize },
    Joint { joint: usize, child: usize, parent: usize, rows: usize, carries: bool },
    Coupling { coupling: usize, bodies: [usize; 4], row: usize },
}

/// The position of something that is not in a front: the world.
pub(super) const ABSENT: usize = usize::MAX;

impl Constants {
    pub fn new(mechanism: &Mechanism) -> Constants {
        mechanism.joints().iter().for_each(|joint| joint.kind.prepare_off_manifold());
        let order = mechanism.order();
        let mut nodes: Vec<Node> = (order.nodes().iter())
            .map(|node| Node {
                head: node.head,
                mass: node.inertia.mass,
                center: node.inertia.center_of_mass,
                inertia: node.inertia.inertia,
                inverse: inverse_of(&node.inertia.inertia),
                unknown: 0,
                front: 0,
            })
            .collect();
        // Of a mechanism that is only one point, the largest radius of gyration.
        let gyration =
            nodes.iter().map(|n| (n.inertia.trace() / n.mass).sqrt()).fold(f64::MIN_POSITIVE, f64::max);
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { gyration };
        let mut joints: Vec<Joint> =
            (mechanism.joint_ids()).filter_map(|j| joint(mechanism, j, &nodes, radius)).collect();
        let mut couplings = couplings(mechanism, &joints, &nodes);

        // Nodes of the graph: bodies, rows of joints, couplings. A body goes with its tree joint; other rows
        // wait for one of their bodies.
        let mut graph = Graph { sizes: vec![6; nodes.len()], ..Graph::default() };
        let mut units: Vec<Vec<usize>> = (0..nodes.len()).map(|n| vec![n]).collect();
        let mut row_node = vec![ABSENT; joints.len()];
        let mut loose: Vec<(usize, Vec<usize>)> = Vec::new();
        for (j, joint) in joints.iter().enumerate() {
            let rows = 6 - joint.kind.freedoms();
            let mut element: Vec<usize> = joint.child.into_iter().chain(joint.parent).collect();
            if rows > 0 {
                row_node[j] = graph.sizes.len();
                graph.sizes.push(rows);
                match joint.child {
                    Some(child) if order.nodes()[child].joint == Some(joint.id) => {
                        units[child].push(row_node[j]);
                    }
                    _ => loose.push((row_node[j], element.clone())),
                }
                element.push(row_node[j]);
            }
            graph.elements.push(element);
        }
        let mut coupling_elements = Vec::new();
        for coupling in &couplings {
            joints[coupling.joint].couplings.push((coupling.row, 1.0));
            joints[coupling.of].couplings.push((coupling.row, -coupling.ratio));
            let node = graph.sizes.len();
            graph.sizes.push(1);
            let ends = [coupling.joint, coupling.of].map(|j| [joints[j].child, joints[j].parent]);
            let mut element: Vec<usize> = ends.into_iter().flatten().flatten().collect();
            element.sort_unstable();
            element.dedup();
            loose.push((node, element.clone()));
            element.push(node);
            coupling_elements.push((node, ends));
            graph.elements.push(element);
        }
        let ordering = if loose.is_empty() { Ordering::AsGiven } else { Ordering::MinimumDegree };
        // Joints of a tree are independent, and so are couplings between them: nothing is redundant but what
        // closes loops.
        let in_tree = |joint: &Joint| joint.child.is_some_and(|c| order.nodes()[c].joint == Some(joint.id));
        joints.iter_mut().filter(|j| in_tree(j)).for_each(|j| j.softness = Vector6::zeros());
        if order.loop_joints().is_empty() {
            couplings.iter_mut().for_each(|c| c.softness = 0.0);
        }
        units.reverse(); // nodes are listed parents first
        for (rows, bodies) in loose {
            graph.waiting.push((units.len(), bodies));
            units.push(vec![rows]);
        }
        graph.units = units;
        let plan = Symbolic::new(&graph, ordering);

        // Every element to the front of its first eliminated node.
        let mut items: Vec<(usize, Item)> = Vec::new();
        for (n, node) in nodes.iter_mut().enumerate() {
            node.unknown = plan.first_of(n);
            node.front = plan.place(&[n]).front;
            items.push((node.front, Item::Body { node: n }));
        }
        let mut is_carried = vec![false; plan.fronts()];
        for (j, joint) in joints.iter_mut().enumerate() {
            let place = plan.place(&graph.elements[j]);
            let at = |node: usize| {
                let k = graph.elements[j].iter().position(|n| *n == node).expect("a node of the element");
                place.positions[k]
            };
            let rows = if row_node[j] == ABSENT { ABSENT } else { at(row_node[j]) };
            joint.unknown = if rows == ABSENT { ABSENT } else { plan.first_of(row_node[j]) };
            let (child, parent) = (joint.child.map_or(ABSENT, at), joint.parent.map_or(ABSENT, at));
            // Unless the parent went first, the element stands with the child's own unit: body, then rows.
            let carries = in_tree(joint) && (child, rows) == (0, 6);
            is_carried[place.front] |= carries;
            items.push((place.front, Item::Joint { joint: j, child, parent, rows, carries }));
        }
        for (c, (node, ends)) in coupling_elements.iter().enumerate() {
            let element = &graph.elements[joints.len() + c];
            let place = plan.place(element);
            let at = |node: usize| {
                place.positions[element.iter().position(|n| *n == node).expect("of the element")]
            };
            let ends: Vec<usize> = ends.iter().flatten().map(|n| n.map_or(ABSENT, at)).collect();
            couplings[c].unknown = plan.first_of(*node);
            let bodies = [ends[0], ends[1], ends[2], ends[3]];
            items.push((place.front, Item::Coupling { coupling: c, bodies, row: at(*node) }));
        }
        items.sort_by_key(|(front, _)| *front);
        let mut first_item = vec![0; plan.fronts() + 1];
        for (front, _) in &items {
            first_item[front + 1] += 1;
        }
        for f in 0..plan.fronts() {
            first_item[f + 1] += first_item[f];
        }

        let heads: Vec<BodyId> = nodes.iter().map(|n| n.head).collect();
        let followers = mechanism
            .body_ids()
            .filter(|b| order.node_of(*b).is_none_or(|n| heads[n] != *b))
            .map(|b| (b, order.node_of(b), order.offset_of(b)))
            .collect();
        let mut joint_of = vec![ABSENT; mechanism.coordinate_count()];
        for (j, joint) in joints.iter().enumerate() {
            joint_of[mechanism[joint.id].coordinates()].fill(j);
        }
        Constants {
            joint_of,
            mechanism: mechanism.clone(),
            rows: joints.iter().map(|j| 6 - j.kind.freedoms()).sum::<usize>() + couplings.len(),
            nodes,
            joints,
            couplings,
            plan,
            items: items.into_iter().map(|(_, item)| item).collect(),
            first_item,
            is_carried,
            floats: order.free_trees(),
            followers,
            radius,
        }
    }

    /// Every row of joints and couplings: its place in the state and among the unknowns.
    #[inline]
    pub(super) fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        for joint in self.joints.iter().filter(|j| j.unknown != ABSENT) {
            (0..6 - joint.kind.freedoms()).for_each(|i| visit(joint.row + i, joint.unknown + i));
        }
        self.couplings.iter().for_each(|c| visit(c.row, c.unknown));
    }

    /// The node and the pose, in its frame, of an effector's frame; `None` if it cannot move.
    pub(super) fn effector_in_node(&self, effector: EffectorId) -> Option<(usize, Pose)> {
        let effector = &self.mechanism[effector];
        self.frame_in_node(effector.body, effector.frame)
    }

    /// The node and the pose, in its frame, of a frame on a body; `None` if it cannot move.
    pub(super) fn frame_in_node(&self, body: BodyId, frame: Pose) -> Option<(usize, Pose)> {
        let node = self.mechanism.order().node_of(body)?;
        Some((node, self.mechanism.order().offset_of(body) * frame))
    }
}

/// The inverse of an inertia, by its principal moments; one that is lost in the rounding of the largest
/// counts as that.
pub(crate) fn inverse_of(inertia: &Matrix3<f64>) -> Matrix3<f64> {
    let scale = inertia.amax();
    let eigen = (inertia / scale).symmetric_eigen();
    let moments = eigen.eigenvalues.map(|m| 1.0 / (m.max(f64::EPSILON) * scale));
    eigen.eigenvectors * Matrix3::from_diagonal(&moments) * eigen.eigenvectors.transpose()
}

/// The constants of a joint; `None` if both its bodies move as one.
fn joint(mechanism: &Mechanism, id: JointId, nodes: &[Node], radius: f64) -> Option<Joint> {
    let order = mechanism.order();
    let joint = &mechanism[id];
    let child = order.node_of(joint.child);
    let parent = joint.parent.and_then(|b| order.node_of(b));
    if child == parent {
        return None;
    }
    let (in_parent, in_child) = mechanism.frames_in_nodes(joint);
    // What the rows see of the bodies at rest: J M⁻¹ Jᵀ, and |r|/I.
    let rows = joint.kind.rows(&Pose::identity(), &[0.0; 6][..joint.kind.freedoms()]);
    let mut softness = Vector6::zeros();
    let turning: [bool; 6] = std::array::from_fn(|i| rows.fixed_view::<1, 3>(i, 0).amax() == 0.0);
    let mut lever = 0.0;
    let mut reach = 0.01 * radius;
    for (node, frame) in [(child, &in_child), (parent, &in_parent)] {
        let Some(n) = node.map(|n| &nodes[n]) else { continue };
        for i in 0..6 - joint.kind.freedoms() {
            softness[i] += ROW_SOFTNESS * inverse_inertia(n, frame, &rows.row(i).transpose());
        }
        // A unit force at r turns the node by I⁻¹(r×f): only what moves the point counts.
        let r = frame.position - n.center;
        let turned = skew(&r) * n.inverse * skew(&r);
        reach += r.norm();
        lever += if r.norm() > 0.0 { turned.norm() / r.norm() } else { 0.0 };
    }
    Some(Joint {
        id,
        kind: joint.kind.clone(),
        kept: mechanism.kept(id),
        left_out: mechanism.kept(id).and_then(|P| left_out(&P)),
        child,
        parent,
        in_child,
        in_parent,
        in_child_rotation: in_child.rotation_matrix(),
        in_parent_rotation: in_parent.rotation_matrix(),
        coordinate: mechanism[id].coordinates().start,
        row: mechanism[id].rows().start,
        unknown: ABSENT,
        softness,
        turning,
        couplings: Vec::new(),
        lever,
        reach,
        // Torques count as forces at five times the length of the joint's arms: they turn what they act on little.
        tension: turning.map(|turning| if turning { 1.0 / (5.0 * reach) } else { 1.0 }),
    })
}

/// The rows that P = diag(0 or 1) takes away; none if it is another.
fn left_out(P: &Matrix6<f64>) -> Option<[bool; 6]> {
    let plain = (0..36).all(|k| P[k] == 0.0 || (P[k] == 1.0 && k % 7 == 0));
    plain.then(|| std::array::from_fn(|i| P[(i, i)] == 0.0))
}

/// What a row (l, a), in the axes and at the origin of a frame on a node, sees of the node: J M⁻¹ Jᵀ.
fn inverse_inertia(node: &Node, frame: &Pose, row: &Vector6<f64>) -> f64 {
    let R = frame.rotation.to_rotation_matrix();
    let l = R * Vector3::new(row[0], row[1], row[2]);
    let a = R * Vector3::new(row[3], row[4], row[5]) + (frame.position - node.center).cross(&l);
    l.norm_squared() / node.mass + a.dot(&(node.inverse * a))
}

/// The couplings whose two joints can move.
fn couplings(mechanism: &Mechanism, joints: &[Joint], nodes: &[Node]) -> Vec<Coupling> {
    let mut position = vec![None; mechanism.joints().len()];
    joints.iter().enumerate().for_each(|(k, joint)| position[joint.id.index()] = Some(k));
    let find = |id: JointId| position[id.index()];
    let first_row = 6 * mechanism.joints().len() - mechanism.coordinate_count();
    // What a joint's only coordinate sees of its two bodies at rest.
    let seen = |joint: &Joint| -> f64 {
        let row = joint.kind.coordinates_jacobian(&Pose::identity(), &[0.0]).row(0).transpose();
        let sides = [(joint.child, &joint.in_child), (joint.parent, &joint.in_parent)];
        sides.iter().filter_map(|(n, frame)| Some(inverse_inertia(&nodes[(*n)?], frame, &row))).sum()
    };
    (mechanism.coupled().iter().enumerate())
        .filter_map(|(c, coupling)| {
            let (joint, of) = (find(coupling.joint)?, find(coupling.of)?);
            let sees = seen(&joints[joint]) + coupling.ratio * coupling.ratio * seen(&joints[of]);
            Some(Coupling {
                joint,
                of,
                ratio: coupling.ratio,
                offset: coupling.offset,
                row: first_row + c,
                unknown: ABSENT,
                softness: ROW_SOFTNESS * sees,
            })
        })
        .collect()
}
