//! What never changes of the rows that close loops: which joints and couplings, and in which order they are eliminated.

use super::Closing;
use super::loop_joint::LoopJoint;
use super::schedule::{Ends, Schedule};
use crate::articulated::model::{Constants, Node};
use crate::engine::State;
use crate::mechanism::{Freedom, JointId, Mechanism};
use crate::spatial::Pose;

/// What closes loops.
#[derive(Clone, Debug)]
pub struct Closures {
    pub joints: Vec<LoopJoint>,
    pub couplings: Vec<Coupling>,
    pub schedule: Schedule,
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
}

impl Closures {
    pub fn new(mechanism: &Mechanism, nodes: &[Node], freedoms: &[usize]) -> Closures {
        let order = mechanism.order();
        let slot = |body| order.node_of(body).map_or(0, |n| n + 1);
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
                let (in_parent, in_child) = mechanism.frames_in_nodes(&mechanism[id]);
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
                })
            })
            .collect();
        let end = |id: JointId| -> Option<End> {
            let tree = order.nodes().iter().position(|n| n.joint == Some(id)).map(End::Tree);
            tree.or_else(|| joints.iter().position(|j| j.id == id).map(End::Loop))
        };
        let first_row = 6 * mechanism.joints().len() - mechanism.coordinate_count();
        let couplings: Vec<Coupling> = (mechanism.coupled().iter().enumerate())
            .filter_map(|(c, coupling)| {
                let ends = [(end(coupling.joint)?, 1.0), (end(coupling.of)?, -coupling.ratio)];
                Some(Coupling { joint: coupling.joint, ends, offset: coupling.offset, row: first_row + c })
            })
            .collect();
        let mass: f64 = nodes.iter().map(|n| n.mass).sum();
        let radius = mechanism.radius().max(f64::MIN_POSITIVE.sqrt());
        let plain = [1.0 / mass, 1.0 / (mass * radius * radius)];
        let of_joint = |joint: &LoopJoint| {
            let own = &mechanism[joint.id];
            let closing = joint.rows(own.kind.freedoms()).count();
            let mut ends = Ends { closing, rows: closing, ..Ends::default() };
            ends.rows += own.freedoms.iter().filter(|f| **f != Freedom::PASSIVE).count();
            ends.add(&[joint.child, joint.parent]);
            ends
        };
        let of_coupling = |coupling: &Coupling| {
            let mut ends = Ends { closing: 1, rows: 1, ..Ends::default() };
            for (end, _) in &coupling.ends {
                match *end {
                    End::Tree(n) => ends.direct.push(n),
                    End::Loop(j) => ends.add(&[joints[j].child, joints[j].parent]),
                }
            }
            ends
        };
        let ends: Vec<Ends> = joints.iter().map(of_joint).chain(couplings.iter().map(of_coupling)).collect();
        let schedule = Schedule::new(nodes, freedoms, ends);
        Closures { schedule, plain, joints, couplings }
    }

    /// Loop joints and couplings.
    pub fn len(&self) -> usize {
        self.joints.len() + self.couplings.len()
    }

    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.couplings.is_empty()
    }
}

impl Coupling {
    /// θ_joint − ratio·θ_of − offset: of joints in the forest by the state's coordinates, of loop joints by where they were
    /// last evaluated.
    pub fn open(&self, model: &Constants, state: &State, closing: &Closing) -> f64 {
        let coordinate = |end: End| match end {
            End::Tree(n) => state.coordinates[model.nodes[n].coordinate],
            End::Loop(j) => closing.at[j].q[0],
        };
        self.ends.iter().map(|(end, factor)| factor * coordinate(*end)).sum::<f64>() - self.offset
    }
}
