//! What never changes while a mechanism is simulated: the links in visiting order, their joints and inertias, and
//! the effectors.

use std::sync::Arc;

use nalgebra::Vector3;

use super::closed::Closed;
use super::loops::Loops;
use super::plan::Plan;
use super::step::Motion;
use crate::engine::laws::{Law, laws};
use crate::joints::JointKind;
use crate::joints::hinge_lanes::Hinges;
use crate::linear::lanes::Lanes;
use crate::linear::three::Three;
use crate::mechanism::order::Node;
use crate::mechanism::{BodyId, JointId, Mechanism};
use crate::reduced::{EffectorFrame, ReductionError, choose_effectors};
use crate::spatial::{Pose, SpatialInertia};

/// The parent, or the free base, that is the base itself.
pub(super) const BASE: usize = usize::MAX;

/// A mechanism prepared for the live engine.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery, live, spatial::Wrench};
///
/// let mechanism = gallery::helix(20);
/// let mut simulation = live::Model::new(&mechanism)?.simulate();
/// let mut exact = full::Model::new(&mechanism).simulate();
/// let tip = simulation.effector("tip")?;
/// let (start, load) = (simulation.effector_pose(tip)?.position, Wrench::force([0.0, 0.0, -100.0]));
/// simulation.set_load(tip, load)?;
/// (0..200).try_for_each(|_| simulation.step(0.1))?; // to rest
///
/// exact.set_load(tip, load)?;
/// exact.settle(&Default::default())?;
/// let goal = exact.effector_pose(tip)?.position;
/// let error = (simulation.effector_pose(tip)?.position - goal).norm();
/// assert!(error < 1e-9 * (start - goal).norm()); // at rest it is exact
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Arc<Constants>,
}

impl Model {
    /// Prepares a mechanism, with all effectors of its file.
    pub fn new(mechanism: &Mechanism) -> Result<Model, ReductionError> {
        Constants::build(mechanism, None).map(|constants| Model { constants: Arc::new(constants) })
    }

    /// Prepares a mechanism with these effectors or bodies instead of all effectors of the file.
    pub fn with_effectors<S: Into<String>>(
        mechanism: &Mechanism,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Model, ReductionError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Constants::build(mechanism, Some(&names)).map(|constants| Model { constants: Arc::new(constants) })
    }

    /// The mechanism it was made from.
    pub fn mechanism(&self) -> &Mechanism {
        &self.constants.mechanism
    }

    /// The frames whose motion is dynamic; everything else follows them as at rest.
    pub fn effectors(&self) -> &[EffectorFrame] {
        &self.constants.effectors
    }

    /// For each freedom of the tree in turn, its coordinate of the state.
    pub(crate) fn tree_coordinates(&self) -> impl Iterator<Item = usize> + '_ {
        self.constants.freedoms.iter().map(|f| f.coordinate)
    }
}

/// What never changes.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    pub mechanism: Mechanism,
    /// Length that translations are measured in, m.
    pub radius: f64,
    /// The middle of the mechanism, in the base's frame: twists and wrenches are taken there.
    pub center: Vector3<f64>,
    /// The same in the frame of the first free base.
    pub center_in_float: Vector3<f64>,
    pub links: Vec<Link>,
    /// Constants of links, four by four.
    pub joints: Vec<Joints>,
    pub weights: Vec<Weights>,
    /// Links that are not on hinges; of each link, its joint's frame in the parent's node frame, and its node's frame in
    /// that of the joint, which hinges do not need.
    pub others: Vec<usize>,
    pub frames: Vec<(Pose, Pose)>,
    pub freedoms: Vec<Freedom>,
    /// Whether any joint of the tree has a limit.
    pub limited: bool,
    pub loops: Loops,
    /// Links that are free bases.
    pub floats: Vec<usize>,
    /// Those that were asked for, then inner links.
    pub effectors: Vec<EffectorFrame>,
    pub asked: usize,
}

/// A node of the order with the tree joint that carries it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub head: BodyId,
    pub parent: usize,
    /// `None` for a free base.
    pub joint: Option<JointId>,
    /// Which free base carries it; [`BASE`] if none does.
    pub float: usize,
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

/// Masses, centres of mass in the nodes' frames, and inertias about them, node axes: xx, yy, zz, xy, xz, yz.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub mass: Lanes,
    /// The mass of all that it carries, with its own.
    pub carried: Lanes,
    pub center: Three<Lanes>,
    pub inertia: [Lanes; 6],
}

/// What acts on one freedom of a tree joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freedom {
    pub stiffness: f64,
    /// 1/stiffness.
    pub softness: f64,
    pub damping: f64,
    pub armature: f64,
    pub lower: f64,
    pub upper: f64,
    /// Stiffness of the limits.
    pub limit: f64,
    /// Of the state.
    pub coordinate: usize,
    /// One over the longest way that a step may go.
    pub reach: f64,
}

/// Memory for dense matrices beyond which a mechanism is refused, bytes.
const MOST_MEMORY: f64 = 2.0 * GIB;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The longest way of a joint in a step, rad, or in radii.
const LONGEST: f64 = 0.15;

impl Constants {
    fn build(mechanism: &Mechanism, names: Option<&[String]>) -> Result<Constants, ReductionError> {
        let effectors = choose_effectors(mechanism, names)?;
        let order = mechanism.order();
        let radius = if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 };
        let reach =
            |kind: &JointKind, k: usize| 1.0 / (LONGEST * if k < kind.translations() { radius } else { 1.0 });
        let laws = laws(mechanism);
        let mut freedoms = Vec::new();
        let mut links: Vec<Link> = Vec::with_capacity(order.nodes().len());
        let (mut floats, mut frames, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let blocks = order.nodes().len().div_ceil(4);
        let mut joints: Vec<Joints> = (0..blocks).map(Joints::none).collect();
        let mut weights = vec![Weights::NONE; blocks];
        for (n, node) in order.nodes().iter().enumerate() {
            weights[n / 4].set(n % 4, &node.inertia);
            joints[n / 4].parent[n % 4] = node.parent.unwrap_or(BASE);
            let Some(id) = node.joint else {
                others.push(n);
                floats.push(links.len());
                frames.push((Pose::identity(), Pose::identity()));
                links.push(free_base(node, freedoms.len(), floats.len() - 1));
                continue;
            };
            let joint = &mechanism[id];
            let coordinate = joint.coordinates().start;
            let in_parent = mechanism.frame_in_parent(joint);
            let outer = joint.parent.map_or(in_parent, |b| order.offset_of(b) * in_parent);
            let in_child = mechanism.frame_in_child(joint);
            let first = freedoms.len();
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                freedoms.push(Freedom {
                    stiffness: freedom.stiffness,
                    softness: 1.0 / freedom.stiffness,
                    damping: freedom.damping,
                    armature: freedom.armature,
                    lower: freedom.lower,
                    upper: freedom.upper,
                    limit: laws[coordinate + k].limit,
                    coordinate: coordinate + k,
                    reach: reach(&joint.kind, k),
                });
            }
            match joint.kind {
                JointKind::Hinge => joints[n / 4].set(n % 4, first, &outer, &in_child),
                _ => others.push(n),
            }
            frames.push((outer, in_child.inverse()));
            links.push(Link {
                parent: node.parent.unwrap_or(BASE),
                joint: Some(id),
                kind: joint.kind.clone(),
                count: joint.freedoms.len(),
                ..free_base(node, first, node.parent.map_or(BASE, |n| links[n].float))
            });
        }
        let closes = !(order.loop_joints().is_empty() && mechanism.couplings().is_empty());
        if let (Some(&n), true) = (floats.first(), closes) {
            return Err(ReductionError::Options(format!(
                "the engine `live` does not take loops and couplings on a free base, and body `{}` is one; use `full` or `articulated`",
                mechanism[links[n].head].name
            )));
        }
        for (b, joint) in joints.iter_mut().enumerate() {
            joint.in_row = (1..4).all(|l| joint.parent[l] == 4 * b + l - 1);
        }
        weigh_carried(&links, &mut weights);
        let model = Constants {
            mechanism: mechanism.clone(),
            radius,
            center: middle(mechanism),
            center_in_float: floats.first().map_or(Vector3::zeros(), |&n| {
                mechanism[links[n].head].pose.inverse().transform_point(&middle(mechanism))
            }),
            loops: Loops::new(mechanism, &links, &laws, reach),
            links,
            joints,
            weights,
            others,
            frames,
            floats,
            limited: freedoms.iter().any(|f| f.lower > f64::NEG_INFINITY || f.upper < f64::INFINITY),
            freedoms,
            asked: effectors.len(),
            effectors,
        };
        let memory = Closed::memory(&model);
        if memory > MOST_MEMORY {
            return Err(ReductionError::Options(format!(
                "the engine `live` would take {:.1} GiB for loops over {} coordinates, as its matrices are dense; use `full`",
                memory / GIB,
                model.freedoms.len()
            )));
        }
        model.check_held()?;
        Ok(model)
    }

    /// Takes springs and dampers as they are now.
    pub fn take_springs(&mut self, laws: &[Law]) {
        for freedom in self.freedoms.iter_mut().chain(&mut self.loops.freedoms) {
            let Law { stiffness, damping, limit, .. } = laws[freedom.coordinate];
            (freedom.stiffness, freedom.softness, freedom.damping) = (stiffness, 1.0 / stiffness, damping);
            freedom.limit = limit;
        }
    }

    /// Every freedom needs a spring, or a loop that leads to one.
    pub fn check_held(&self) -> Result<(), ReductionError> {
        let mechanism = &self.mechanism;
        let passive = self.freedoms.iter().position(|f| f.stiffness == 0.0);
        let loose = if self.loops.is_empty() {
            passive
        } else {
            Closed::new(self, &Plan::new(self, &[])).check(self, &Motion::at_rest(self)).err()
        };
        let Some(loose) = loose else { return Ok(()) };
        let link = self.links.iter().rfind(|link| link.first <= loose).expect("a link has the freedom");
        let joint = mechanism[link.joint.expect("it has a freedom")].name.clone();
        let carries = |e: &&EffectorFrame| {
            let mut at = mechanism.order().node_of(e.body);
            while let Some(n) = at {
                if self.links[n].joint == link.joint {
                    return true;
                }
                at = mechanism.order().nodes()[n].parent;
            }
            false
        };
        Err(match self.effectors.iter().find(carries) {
            Some(effector) => ReductionError::NotHeld {
                effector: effector.name.clone(),
                body: mechanism[effector.body].name.clone(),
                joint,
            },
            None => ReductionError::Loose { joint },
        })
    }

    /// The node of a body, and its link frame there (in the base's frame, if it is welded to that).
    pub(super) fn place(&self, body: BodyId) -> (Option<usize>, Pose) {
        let order = self.mechanism.order();
        (order.node_of(body), order.offset_of(body))
    }
}

/// The middle of the bounding box of all link and joint origins at rest.
fn middle(mechanism: &Mechanism) -> Vector3<f64> {
    let mut low = Vector3::repeat(f64::INFINITY);
    let mut high = Vector3::repeat(f64::NEG_INFINITY);
    let joints = mechanism.joints().iter().map(|j| &j.frame);
    for pose in mechanism.bodies().iter().map(|b| &b.pose).chain(joints) {
        low = low.inf(&pose.position);
        high = high.sup(&pose.position);
    }
    if low.x <= high.x { (low + high) * 0.5 } else { Vector3::zeros() }
}

/// A node that no joint carries.
fn free_base(node: &Node, first: usize, float: usize) -> Link {
    Link { head: node.head, parent: BASE, joint: None, float, kind: JointKind::Fixed, first, count: 0 }
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

/// Sums masses up, last link first.
fn weigh_carried(links: &[Link], weights: &mut [Weights]) {
    for (n, link) in links.iter().enumerate().rev().filter(|(_, link)| link.parent != BASE) {
        weights[link.parent / 4].carried.0[link.parent % 4] += weights[n / 4].carried.0[n % 4];
    }
}

impl Weights {
    const NONE: Weights = Weights {
        mass: Lanes::ZERO,
        carried: Lanes::ZERO,
        center: [Lanes::ZERO; 3],
        inertia: [Lanes::ZERO; 6],
    };

    fn set(&mut self, l: usize, body: &SpatialInertia) {
        let I = &body.inertia;
        (self.mass.0[l], self.carried.0[l]) = (body.mass, body.mass);
        (0..3).for_each(|i| self.center[i].0[l] = body.center_of_mass[i]);
        for (k, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            self.inertia[k].0[l] = I[(i, j)];
        }
    }
}
