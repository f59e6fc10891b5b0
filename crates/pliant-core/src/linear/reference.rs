//! The pose at which a mechanism is linearised: where its nodes are, and what each joint lets them do there.
//!
//! Everything is in body frames. A joint is measured in its child's node frame: with Xc the joint frame there
//! and S(q) the joint's subspace, a small motion of the coordinates moves the child by J θ̇, J = Ad(Xc) S
//! (Andrews 2015, its J), in addition to what it takes over from its parent, Ad(c,p) ξ_p.

use nalgebra::{Matrix3, Matrix6, Vector3};

use super::effectors::EffectorFrame;
use super::error::ReductionError;
use super::segments::Segments;
use crate::engine::laws::laws;
use crate::engine::{Inputs, Simulation};
use crate::full;
use crate::joints::JointKind;
use crate::mechanism::closing::{Unposed, pose_at};
use crate::mechanism::{BodyId, Freedom, JointId, Mechanism, Start, UnknownHandle};
use crate::spatial::{Pose, Wrench};

/// A mechanism at one pose.
#[derive(Clone, Debug)]
pub struct Reference {
    pub(super) mechanism: Mechanism,
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
    /// Dead torques on nodes at a loaded pose, in the nodes' own frames: each adds −½\[τ\] to the node's turning, the
    /// antisymmetric part of the stiffness. (Torques of a potential turn by ½\[·\] in these coordinates; all of a node's sum
    /// to zero but for the dead ones.) Models leave it out; [`Linearisation::project`](super::Linearisation::project) does not.
    pub(super) torques: Vec<(usize, Vector3<f64>)>,
    /// Loads on the mechanism's effectors that hold the pose, base axes, if it is a loaded one.
    pub(super) loads: Option<Vec<Wrench>>,
    /// What nodes that carry segments bear of these.
    pub(super) carried: Vec<Carried>,
}

/// Dead loads on all that hangs on a node in other segments, in the axes of what carries the node, at its origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub node: usize,
    pub load: Wrench,
    /// Σ r fᵀ of the points r where they act: how their torque changes as the node turns with everything on it.
    pub levers: Matrix3<f64>,
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
    /// Q, lengths in radii: of a loop joint that repeats some of what the rest closes, what is kept of the gap between
    /// child and parent.
    pub passed_on: Option<Matrix6<f64>>,
    /// Ad(c,p): the parent's twist in the child's frame.
    pub across: Matrix6<f64>,
    /// Springs (with those of limits that act) of its freedoms.
    pub stiffness: [f64; 6],
    /// Of limits that act at the reference: their own stiffness and where they begin.
    pub limits: [(f64, f64); 6],
    /// Torque limits that motors are at there, N or N·m: these have no stiffness.
    pub push: [f64; 6],
}

impl Joint {
    pub fn freedoms(&self) -> usize {
        self.kind.freedoms()
    }

    /// What spring and limit apply along freedom k at a coordinate.
    pub fn force(&self, k: usize, rest: f64, q: f64) -> f64 {
        let (limit, bound) = self.limits[k];
        (self.stiffness[k] - limit) * (rest - q) + limit * (bound - q) + self.push[k]
    }
}

impl Reference {
    /// Where the mechanism starts: the file's pose, unless its joints say `start`.
    pub fn at_rest(mechanism: &Mechanism) -> Reference {
        match mechanism.start() {
            Some(start) => Reference::at_start(mechanism, start),
            None => {
                let heads = mechanism.order().nodes().iter().map(|n| mechanism[n.head].pose).collect();
                Reference::new(mechanism, heads, vec![0.0; mechanism.coordinate_count()])
            }
        }
    }

    /// The pose in which some joints are at given positions, one number per freedom. The others stay where the
    /// mechanism starts, or as near as loops and couplings let them.
    pub fn at_positions(
        mechanism: &Mechanism,
        positions: &[(JointId, Vec<f64>)],
    ) -> Result<Reference, ReductionError> {
        for (joint, position) in positions {
            let joint =
                mechanism.joint(*joint).map_err(|error| ReductionError::Position(error.to_string()))?;
            let (range, name) = (joint.coordinates(), &joint.name);
            if position.len() != range.len() {
                return Err(ReductionError::Position(format!(
                    "joint `{name}` has {} freedoms, not {}",
                    range.len(),
                    position.len()
                )));
            }
            if !position.iter().all(|x| x.is_finite()) {
                return Err(ReductionError::Position(format!(
                    "the position of joint `{name}` is not finite"
                )));
            }
        }
        let failed = |e: Unposed| {
            ReductionError::Position(format!("the joints cannot be at these positions: {}", e.why))
        };
        let at = pose_at(mechanism, positions, REACHED).map_err(failed)?;
        Ok(Reference::at_start(mechanism, &at))
    }

    /// The pose of bodies and coordinates that fit each other.
    fn at_start(mechanism: &Mechanism, start: &Start) -> Reference {
        let heads = mechanism.order().nodes().iter().map(|n| start.poses[n.head.index()]).collect();
        Reference::new(mechanism, heads, start.coordinates.clone())
    }

    /// The equilibrium of a full simulation under its present inputs, with the geometric stiffness of the forces
    /// there: settle it first ([`Simulation::settle`]).
    pub fn at_equilibrium(simulation: &mut full::Simulation) -> Reference {
        let whole = Segments::whole(simulation.mechanism());
        let mut reference = Reference::at_equilibrium_of(simulation, &whole);
        reference.torques = full::torques_on_nodes(simulation);
        reference
    }

    /// The same with every segment on a base of its own.
    pub(crate) fn at_equilibrium_of(simulation: &mut full::Simulation, segments: &Segments) -> Reference {
        let mechanism = simulation.mechanism().clone();
        let state = simulation.state();
        let nodes = mechanism.order().nodes().iter();
        let heads = nodes.map(|n| state.base.inverse_times(&state.poses[n.head.index()]));
        let mut reference = Reference::new(&mechanism, heads.collect(), state.coordinates.clone());
        let turn = Pose::new(state.base.rotation.inverse(), Vector3::zeros());
        let loads = simulation.inputs().effector_loads.iter().map(|load| turn.wrench_to_outer(load));
        reference.loads = Some(loads.collect());
        reference.take_laws(simulation.inputs());
        let gravity = turn.rotation * simulation.inputs().gravity;
        reference.geometric = full::geometric_stiffness(simulation, &segments.base_of_node);
        reference.cut(segments, &gravity);
        reference
    }

    /// Takes springs as they are now, and motors that are at their torque limits.
    fn take_laws(&mut self, inputs: &Inputs) {
        for joint in &mut self.joints {
            for k in 0..joint.kind.freedoms() {
                let at = joint.coordinate + k;
                let (law, limit) = (&inputs.laws[at], &mut joint.limits[k].0);
                *limit = if *limit > 0.0 { law.limit } else { 0.0 };
                let motor = law.stiffness * (inputs.rest[at] - self.coordinates[at]);
                (joint.stiffness[k], joint.push[k]) = match motor.abs() > law.torque_limit {
                    true => (*limit, law.torque_limit.copysign(motor)),
                    false => (law.stiffness + *limit, 0.0),
                };
            }
        }
    }

    /// Takes segments apart: what carries one is its world, and bears its weight and the loads on it.
    fn cut(&mut self, segments: &Segments, gravity: &Vector3<f64>) {
        let order = self.mechanism.order();
        let base = |n: usize| segments.base_of_node[n].map_or(Pose::identity(), |base| self.poses[base]);
        // Force, moment about the origin, and Σ r fᵀ.
        let mut passed = vec![(Wrench::ZERO, Matrix3::zeros()); self.poses.len()];
        let mut pass = |mut n: usize, point: Vector3<f64>, w: &Wrench| {
            while let Some(carrier) = segments.base_of_node[n] {
                let (sum, levers) = &mut passed[carrier];
                *sum = *sum + Wrench::new(w.force, w.torque + point.cross(&w.force));
                *levers += point * w.force.transpose();
                n = carrier;
            }
        };
        for (n, node) in order.nodes().iter().enumerate() {
            let center = self.poses[n].transform_point(&node.inertia.center_of_mass);
            pass(n, center, &Wrench::new(gravity * node.inertia.mass, Vector3::zeros()));
        }
        let loads = self.loads.as_mut().expect("it is a loaded pose");
        for (effector, load) in self.mechanism.effectors().iter().zip(loads) {
            let Some(n) = order.node_of(effector.body) else { continue };
            let point = (self.poses[n] * order.offset_of(effector.body) * effector.frame).position;
            pass(n, point, load);
            if segments.base_of_node[n].is_some() {
                *load = Pose::new(base(n).rotation.inverse(), Vector3::zeros()).wrench_to_outer(load);
            }
        }
        for &n in &segments.carriers {
            let (pose, turn) = (self.poses[n], base(n).rotation.inverse());
            let (Wrench { force, torque }, levers) = passed[n];
            let torque = torque - pose.position.cross(&force);
            let to_base = turn.to_rotation_matrix();
            self.carried.push(Carried {
                node: n,
                load: Wrench::new(turn * force, turn * torque),
                levers: to_base * (levers - pose.position * force.transpose()) * to_base.transpose(),
            });
            // Everything turns about the centre of mass as one body: −Σ[f][r] = Σ f·r − r fᵀ, symmetrised.
            let center = pose.transform_point(&order.nodes()[n].inertia.center_of_mass);
            let R = pose.rotation_matrix();
            let D = R.transpose() * (levers - center * force.transpose()) * R;
            let K_turn = Matrix3::identity() * D.trace() - (D + D.transpose()) * 0.5;
            let mut K = Matrix6::zeros();
            K.fixed_view_mut::<3, 3>(3, 3).copy_from(&K_turn);
            self.geometric.push((n, n, K));
        }
        let cut = |a: Option<usize>, b: Option<usize>| {
            a.filter(|a| b.is_none_or(|b| segments.base_of_node[b] != Some(*a)))
        };
        for joint in &mut self.joints {
            (joint.child, joint.parent) = (cut(joint.child, joint.parent), cut(joint.parent, joint.child));
        }
        let bases: Vec<Option<Pose>> =
            segments.base_of_node.iter().map(|base| base.map(|base| self.poses[base])).collect();
        for (pose, base) in self.poses.iter_mut().zip(bases) {
            if let Some(base) = base {
                *pose = base.inverse_times(pose);
            }
        }
    }

    /// The load that holds an effector at a loaded pose, base axes.
    pub(super) fn load_on(&self, effector: &EffectorFrame) -> Option<Wrench> {
        match effector.id {
            Some(id) => self.loads.as_ref().map(|loads| loads[id.index()]),
            None => self.carried_by(effector).map(|carried| carried.load),
        }
    }

    /// What the body of an effector bears of other segments.
    pub(super) fn carried_by(&self, effector: &EffectorFrame) -> Option<&Carried> {
        let node = self.place(effector.body).0;
        self.carried.iter().find(|carried| Some(carried.node) == node && effector.id.is_none())
    }

    /// The pose of given nodes and coordinates, which must fit each other.
    pub(super) fn new(mechanism: &Mechanism, poses: Vec<Pose>, coordinates: Vec<f64>) -> Reference {
        let order = mechanism.order();
        let pose = |node: Option<usize>| node.map_or(Pose::identity(), |n| poses[n]);
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let mut joints = Vec::with_capacity(mechanism.joints().len());
        let mut tree = vec![None; poses.len()];
        let laws = laws(mechanism);
        for (id, joint) in mechanism.joint_ids().zip(mechanism.joints()) {
            let (child, parent) = (order.node_of(joint.child), joint.parent.and_then(|b| order.node_of(b)));
            if child == parent {
                continue;
            }
            if let Some(n) = child.filter(|&n| order.nodes()[n].joint == Some(id)) {
                tree[n] = Some(joints.len());
            }
            let q = &coordinates[joint.coordinates()];
            let in_child = order.offset_of(joint.child) * mechanism.frame_in_child(joint);
            let (mut stiffness, mut limits) = ([0.0; 6], [(0.0, 0.0); 6]);
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                stiffness[k] = freedom.stiffness;
                if let Some(bound) = passed_limit(freedom, q[k]) {
                    limits[k] = (laws[joint.coordinates().start + k].limit, bound);
                    stiffness[k] += limits[k].0;
                }
            }
            // From the joint's frame to the node's, in radii.
            let passed_on = mechanism.repeated_by(id).map(|repeated| {
                let scaled = Pose::new(in_child.rotation, in_child.position / radius);
                scaled.adjoint() * repeated.passed_on(&joint.kind, q, radius) * scaled.inverse().adjoint()
            });
            joints.push(Joint {
                id,
                kind: joint.kind.clone(),
                passed_on,
                child,
                parent,
                coordinate: joint.coordinates().start,
                motion: in_child.adjoint() * joint.kind.subspace(q),
                across: pose(child).inverse_times(&pose(parent)).adjoint(),
                stiffness,
                limits,
                push: [0.0; 6],
            });
        }
        Reference {
            mechanism: mechanism.clone(),
            radius,
            poses,
            coordinates,
            joints,
            tree,
            geometric: Vec::new(),
            torques: Vec::new(),
            loads: None,
            carried: Vec::new(),
        }
    }

    /// Leaves out the geometric stiffness of the forces at a loaded pose.
    pub(crate) fn forget_geometric_stiffness(&mut self) {
        self.geometric.clear();
    }

    /// Coordinates of all joints at the pose, m or rad.
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The link frame of a body at the reference, in the world.
    pub fn pose(&self, body: BodyId) -> Result<Pose, UnknownHandle> {
        self.mechanism.body(body).map(|_| self.body_pose(body))
    }

    /// The same of a body of this mechanism.
    pub(super) fn body_pose(&self, body: BodyId) -> Pose {
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

/// The limit that a coordinate has passed.
fn passed_limit(freedom: &Freedom, q: f64) -> Option<f64> {
    if q > freedom.upper { Some(freedom.upper) } else { (q < freedom.lower).then_some(freedom.lower) }
}

/// How far a joint may stay from where it should be, rad or radii, before loops are said to forbid it.
const REACHED: f64 = 1e-8;
