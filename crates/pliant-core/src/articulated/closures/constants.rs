//! What never changes of the rows that close loops: which joints and couplings, and along which nodes their forces reach
//! the base.

use super::loop_joint::LoopJoint;
use crate::articulated::model::{Constants, Motion, Node, frames};
use crate::articulated::slot::Slots;
use crate::engine::State;
use crate::mechanism::{JointId, Mechanism};
use crate::spatial::Pose;

/// What closes loops.
#[derive(Clone, Debug)]
pub struct Closures {
    pub joints: Vec<LoopJoint>,
    pub couplings: Vec<Coupling>,
    /// Most rows that there can be, and most numbers y of all of them.
    pub rows: usize,
    pub numbers: usize,
    /// Stand for what a row sees where none sees anything: 1/m and 1/(m radius²).
    pub plain: [f64; 2],
}

/// One end of a coupling.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// A joint of the forest: its node.
    Tree(usize),
    /// One of the loop joints.
    Loop(usize),
}

/// θ_joint − ratio·θ_of − offset = 0.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// The joint that follows.
    pub joint: JointId,
    /// Both ends with their factors, 1 and −ratio.
    pub ends: [(End, f64); 2],
    pub offset: f64,
    /// Place in the state's multipliers.
    pub row: usize,
    pub path: Path,
}

/// The nodes between some slots and the base, leaves first, each with its first place among the numbers y of a row; and
/// the speeds that these belong to.
#[derive(Clone, Debug)]
pub struct Path {
    pub nodes: Vec<(usize, usize)>,
    pub speeds: Vec<usize>,
    /// Number of the numbers y.
    pub length: usize,
}

impl Closures {
    pub fn new(mechanism: &Mechanism, nodes: &[Node], freedoms: impl Fn(&Node) -> usize) -> Closures {
        let order = mechanism.order();
        let slot = |body| order.node_of(body).map_or(0, |n| n + 1);
        let path = |slots: &[usize]| path(nodes, &freedoms, slots);
        // From the centre of mass of a side to the joint.
        let arm = |slot: usize, frame: &Pose| match slot.checked_sub(1) {
            Some(n) => (frame.position - order.nodes()[n].inertia.center_of_mass).norm(),
            None => 0.0,
        };
        let joints: Vec<LoopJoint> = (order.loop_joints().iter())
            .filter_map(|&id| {
                let joint = &mechanism[id];
                joint.kind.prepare_off_manifold();
                let (child, parent) = (slot(joint.child), joint.parent.map_or(0, slot));
                let (in_parent, in_child) = frames(mechanism, id);
                (child != parent).then(|| LoopJoint {
                    id,
                    child,
                    parent,
                    in_child,
                    in_parent,
                    coordinate: mechanism[id].coordinates().start,
                    row: mechanism[id].rows().start,
                    kept: mechanism.kept(id),
                    reach: arm(child, &in_child) + arm(parent, &in_parent) + 0.01 * mechanism.radius(),
                    path: path(&[child, parent]),
                })
            })
            .collect();
        let end = |id: JointId| -> Option<End> {
            let tree = order.nodes().iter().position(|n| n.joint == Some(id)).map(End::Tree);
            tree.or_else(|| joints.iter().position(|j| j.id == id).map(End::Loop))
        };
        let first_row = 6 * mechanism.joints().len() - mechanism.coordinate_count();
        let couplings: Vec<Coupling> = (mechanism.couplings().iter().enumerate())
            .filter_map(|(c, coupling)| {
                let ends = [(end(coupling.joint)?, 1.0), (end(coupling.of)?, -coupling.ratio)];
                let slots = ends.iter().flat_map(|(end, _)| match *end {
                    End::Tree(n) => [n + 1, 0],
                    End::Loop(j) => [joints[j].child, joints[j].parent],
                });
                let path = path(&slots.collect::<Vec<_>>());
                Some(Coupling {
                    joint: coupling.joint,
                    ends,
                    offset: coupling.offset,
                    row: first_row + c,
                    path,
                })
            })
            .collect();
        // All six rows of a joint: those that close and those of its coordinates.
        let numbers = joints.iter().map(|j| 6 * j.path.length).sum::<usize>()
            + couplings.iter().map(|c| c.path.length).sum::<usize>();
        let mass: f64 = nodes.iter().map(|n| n.mass).sum();
        let radius = mechanism.radius().max(f64::MIN_POSITIVE.sqrt());
        let plain = [1.0 / mass, 1.0 / (mass * radius * radius)];
        Closures { rows: 6 * joints.len() + couplings.len(), numbers, plain, joints, couplings }
    }

    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.couplings.is_empty()
    }

    pub fn path(&self, closure: usize) -> &Path {
        match closure.checked_sub(self.joints.len()) {
            None => &self.joints[closure].path,
            Some(c) => &self.couplings[c].path,
        }
    }
}

impl Coupling {
    /// θ_joint − ratio·θ_of − offset: of joints in the forest by the state's coordinates, of loop joints by where the slots
    /// are.
    pub fn open(&self, model: &Constants, state: &State, work: &Slots) -> f64 {
        let coordinate = |end: End| match end {
            End::Tree(n) => state.coordinates[model.nodes[n].coordinate],
            End::Loop(j) => {
                let joint = &model.closures.joints[j];
                joint.coordinates(model, &joint.place(work), &state.coordinates)[0]
            }
        };
        self.ends.iter().map(|(end, factor)| factor * coordinate(*end)).sum::<f64>() - self.offset
    }
}

/// All nodes between the slots and the base.
fn path(nodes: &[Node], freedoms: &impl Fn(&Node) -> usize, slots: &[usize]) -> Path {
    let mut list = Vec::new();
    for &slot in slots {
        let mut slot = slot;
        while slot > 0 {
            list.push(slot - 1);
            slot = if matches!(nodes[slot - 1].motion, Motion::Free(_)) { 0 } else { nodes[slot - 1].parent };
        }
    }
    list.sort_unstable_by(|a, b| b.cmp(a));
    list.dedup();
    let mut path = Path { nodes: Vec::new(), speeds: Vec::new(), length: 0 };
    for n in list {
        path.nodes.push((n, path.length));
        path.length += freedoms(&nodes[n]);
        path.speeds.extend((0..freedoms(&nodes[n])).map(|k| nodes[n].speed + k));
    }
    path
}
