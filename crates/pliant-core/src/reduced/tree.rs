//! The tree as the engine visits it: links in order, their joints and inertias, four side by side.

use nalgebra::Vector3;

use crate::algebra::lanes::Lanes;
use crate::algebra::three::Three;
use crate::full::inverse_inertia;
use crate::joints::JointKind;
use crate::joints::hinge_lanes::Hinges;
use crate::mechanism::{BodyId, JointId, Mechanism};
use crate::spatial::{Pose, SpatialInertia};

/// The parent that is the base.
pub(super) const BASE: usize = usize::MAX;

/// Everything of a mechanism that no motion changes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub mechanism: Mechanism,
    /// Length that translations are measured in, m.
    pub radius: f64,
    /// The middle of the mechanism in the base's frame: twists and wrenches are taken there.
    pub center: Vector3<f64>,
    pub links: Vec<Link>,
    /// Constants of links, four by four.
    pub joints: Vec<Joints>,
    pub weights: Vec<Weights>,
    /// Links that are not on hinges; of each link, its joint's frame in the parent's node frame, and its node's frame in
    /// that of the joint.
    pub others: Vec<usize>,
    pub frames: Vec<(Pose, Pose)>,
    /// Freedoms of the tree's joints, and six of each free base.
    pub freedoms: Vec<Freedom>,
    /// Links that are free bases.
    pub floats: Vec<usize>,
    /// Freedoms with a limit.
    pub limited: Vec<usize>,
}

/// A node of the order with the tree joint that carries it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub head: BodyId,
    pub parent: usize,
    /// `None` for a free base.
    pub joint: Option<JointId>,
    pub kind: JointKind,
    /// First of its freedoms, and how many.
    pub first: usize,
    pub count: usize,
}

/// The joints that carry four links; the motion s of hinges is in the child's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joints {
    /// Of links that are not there, to fill the last block, the link before.
    pub parent: [usize; 4],
    /// Whether each link but the first is on the one before.
    pub in_row: bool,
    /// No freedom where there is no hinge.
    pub freedom: [usize; 4],
    pub hinges: Hinges,
    pub axis: [Lanes; 6],
}

/// Masses, centres of mass in the nodes' frames, inertias about them and the inverse of these, node axes: xx, xy, xz, yy, yz,
/// zz.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub mass: Lanes,
    /// The mass of all that it carries, with its own.
    pub carried: Lanes,
    pub center: Three<Lanes>,
    pub inertia: [Lanes; 6],
    pub inverse: [Lanes; 6],
}

/// A freedom of a tree joint, or one of a free base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freedom {
    /// Of the state; none for a free base.
    pub coordinate: Option<usize>,
    pub link: usize,
}

impl Tree {
    pub fn new(mechanism: &Mechanism) -> Tree {
        let order = mechanism.order();
        let mut freedoms = Vec::new();
        let mut links: Vec<Link> = Vec::with_capacity(order.nodes().len());
        let (mut floats, mut frames, mut others, mut limited) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let blocks = order.nodes().len().div_ceil(4);
        let mut joints: Vec<Joints> = (0..blocks).map(Joints::none).collect();
        let mut weights = vec![Weights::NONE; blocks];
        for (n, node) in order.nodes().iter().enumerate() {
            weights[n / 4].set(n % 4, &node.inertia);
            joints[n / 4].parent[n % 4] = node.parent.unwrap_or(BASE);
            let first = freedoms.len();
            let (kind, count) = match node.joint {
                Some(id) => (mechanism[id].kind.clone(), mechanism[id].freedoms.len()),
                None => (JointKind::Fixed, 6),
            };
            let (mut outer, mut in_child) = (Pose::identity(), Pose::identity());
            match node.joint.map(|id| &mechanism[id]) {
                None => {
                    floats.push(n);
                    freedoms.extend([Freedom { coordinate: None, link: n }; 6]);
                }
                Some(joint) => {
                    (outer, in_child) = mechanism.frames_in_nodes(joint);
                    let coordinate = joint.coordinates().start;
                    for (k, freedom) in joint.freedoms.iter().enumerate() {
                        if freedom.lower > f64::NEG_INFINITY || freedom.upper < f64::INFINITY {
                            limited.push(first + k);
                        }
                        freedoms.push(Freedom { coordinate: Some(coordinate + k), link: n });
                    }
                }
            }
            if kind == JointKind::Hinge {
                joints[n / 4].set(n % 4, first, &outer, &in_child);
            } else {
                others.push(n);
            }
            frames.push((outer, in_child.inverse()));
            let parent = node.parent.unwrap_or(BASE);
            links.push(Link { head: node.head, parent, joint: node.joint, kind, first, count });
        }
        for (b, joint) in joints.iter_mut().enumerate() {
            joint.in_row = (1..4).all(|l| joint.parent[l] == 4 * b + l - 1);
        }
        for (n, link) in links.iter().enumerate().rev().filter(|(_, link)| link.parent != BASE) {
            weights[link.parent / 4].carried.0[link.parent % 4] += weights[n / 4].carried.0[n % 4];
        }
        let (center, radius) = middle_and_radius(mechanism);
        Tree {
            mechanism: mechanism.clone(),
            radius,
            center,
            links,
            joints,
            weights,
            others,
            frames,
            freedoms,
            floats,
            limited,
        }
    }

    /// The node of a body, and its link frame there (in the base's frame, if it is welded to that).
    pub fn place(&self, body: BodyId) -> (Option<usize>, Pose) {
        let order = self.mechanism.order();
        (order.node_of(body), order.offset_of(body))
    }

    /// Coordinates of the state in the order of the tree's freedoms; zero for those of free bases.
    pub fn gather(&self, coordinates: &[f64], to: &mut [f64]) {
        for (to, freedom) in to.iter_mut().zip(&self.freedoms) {
            *to = freedom.coordinate.map_or(0.0, |at| coordinates[at]);
        }
    }
}

/// The mean of all joints' origins and links' centres of mass at rest, and the furthest of them from it: the same place and length
/// in every frame that the mechanism is written in, unlike the middle of its bounding box.
fn middle_and_radius(mechanism: &Mechanism) -> (Vector3<f64>, f64) {
    let mut points = Vec::new();
    for node in mechanism.order().nodes() {
        points.push(mechanism[node.head].pose.transform_point(&node.inertia.center_of_mass));
        points.extend(node.joint.map(|joint| mechanism[joint].frame.position));
    }
    let middle = points.iter().sum::<Vector3<f64>>() / points.len().max(1) as f64;
    let radius = points.iter().map(|x| (x - middle).norm()).fold(0.0, f64::max);
    let known = if radius > 0.0 { radius } else { mechanism.radius() };
    (middle, if known > 0.0 { known } else { 1.0 })
}

impl Joints {
    fn none(block: usize) -> Joints {
        Joints {
            parent: std::array::from_fn(|l| (4 * block + l).wrapping_sub(1)),
            in_row: false,
            freedom: [usize::MAX; 4],
            hinges: Hinges::NONE,
            axis: [Lanes::ZERO; 6],
        }
    }

    /// The constants of a hinge, with its frame in the parent and in the child.
    fn set(&mut self, l: usize, freedom: usize, in_parent: &Pose, in_child: &Pose) {
        let axis = in_child.rotation * Vector3::z();
        let moment = in_child.position.cross(&axis);
        self.freedom[l] = freedom;
        self.hinges.set_hinge(l, in_parent, in_child);
        for i in 0..3 {
            (self.axis[i][l], self.axis[3 + i][l]) = (moment[i], axis[i]);
        }
    }
}

impl Weights {
    const NONE: Weights = Weights {
        mass: Lanes::ZERO,
        carried: Lanes::ZERO,
        center: [Lanes::ZERO; 3],
        inertia: [Lanes::ZERO; 6],
        inverse: [Lanes::ZERO; 6],
    };

    fn set(&mut self, l: usize, body: &SpatialInertia) {
        let inverse = inverse_inertia(&body.inertia);
        (self.mass.0[l], self.carried.0[l]) = (body.mass, body.mass);
        (0..3).for_each(|i| self.center[i].0[l] = body.center_of_mass[i]);
        for (k, at) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
            self.inertia[k].0[l] = body.inertia[at];
            self.inverse[k].0[l] = inverse[at];
        }
    }
}
