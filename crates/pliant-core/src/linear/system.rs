//! The graph and the matrix of the linear statics, in units of the radius and of the largest compliance.

use nalgebra::Matrix6;

use super::reference::Reference;
use super::softness::Softness;
use crate::algebra::elimination::{Blocks, Graph, Symbolic};
use crate::mechanism::JointId;

/// Regularisation of loops and passive freedoms.
const EPSILON: f64 = 1e-10;

/// Unknowns as nodes of a graph, and the blocks between them.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub graph: Graph,
    pub matrix: Blocks,
    /// What is added to the matrix so that loops can be eliminated one by one.
    pub regularisation: Blocks,
    /// Length unit, m, and compliance unit, rad/(N·m).
    pub length: f64,
    pub soft: f64,
    /// Twist of each node that moves.
    pub twists: Vec<Option<usize>>,
    pub joints: Vec<JointPart>,
    /// Multiplier of each coupling.
    pub couplings: Vec<usize>,
    /// Which joints carry a node.
    in_tree: Vec<bool>,
}

/// A joint in the system.
#[derive(Clone, Debug)]
pub(super) struct JointPart {
    pub id: JointId,
    /// Unknown of its wrench.
    pub wrench: usize,
    pub coordinate: usize,
    pub freedoms: usize,
    pub translations: usize,
    /// Unknown of θ₀ of each passive freedom.
    pub passive: [Option<usize>; 6],
    /// Q in units of length: what is kept of the closure of a loop joint, if not all.
    pub passed_on: Option<Matrix6<f64>>,
    /// Q J in units of length, and Cθ in units of compliance.
    pub motion: Matrix6<f64>,
    pub compliance: Matrix6<f64>,
    /// Couplings of its coordinate, with g.
    pub couplings: Vec<(usize, f64)>,
}

impl System {
    /// The system of a reference with the given softness of its joints.
    pub fn new(reference: &Reference, softness: &[Softness]) -> System {
        let (joints, soft) = scaled_joints(reference, softness);
        let mut system = System {
            graph: Graph::default(),
            matrix: Blocks::default(),
            regularisation: Blocks::default(),
            length: reference.radius,
            soft,
            twists: vec![None; reference.poses.len()],
            in_tree: vec![false; joints.len()],
            joints,
            couplings: Vec::new(),
        };
        system.lay_out(reference, softness);
        system.fill(reference);
        system.graph.elements = system.matrix.elements();
        system
    }

    /// How many unknowns close loops: all but those of pairs.
    pub fn closing(&self) -> usize {
        let pairs = self.pairs();
        self.graph.units[pairs..].iter().flatten().map(|&n| self.graph.sizes[n]).sum()
    }

    fn pairs(&self) -> usize {
        self.twists.iter().flatten().count()
    }

    /// Puts all that closes loops into one last unit.
    pub fn join_closings(&mut self) {
        let last = self.graph.units.split_off(self.pairs()).concat();
        self.graph.units.push(last);
    }

    /// From nodes of the graph to unknowns of a plan.
    pub fn number(&mut self, plan: &Symbolic) {
        let unknown = |node: &mut usize| *node = plan.first_of(*node);
        self.twists.iter_mut().flatten().for_each(unknown);
        self.joints.iter_mut().for_each(|joint| unknown(&mut joint.wrench));
        self.joints.iter_mut().flat_map(|joint| joint.passive.iter_mut().flatten()).for_each(unknown);
        self.couplings.iter_mut().for_each(unknown);
    }

    fn node(&mut self, size: usize) -> usize {
        self.graph.sizes.push(size);
        self.graph.sizes.len() - 1
    }

    /// Nodes and units: a twist and a wrench for each pair, leaf to root; wrenches of loop joints with their
    /// passive coordinates; multipliers of couplings; passive coordinates of the tree.
    fn lay_out(&mut self, reference: &Reference, softness: &[Softness]) {
        for (n, tree) in reference.tree.iter().enumerate().rev() {
            if let Some(j) = *tree {
                let pair = [self.node(6), self.node(6)];
                (self.twists[n], self.joints[j].wrench, self.in_tree[j]) = (Some(pair[0]), pair[1], true);
                self.graph.units.push(pair.to_vec());
            }
        }
        for j in (0..self.joints.len()).filter(|&j| !self.in_tree[j]).collect::<Vec<_>>() {
            // Its own block is nothing until both its bodies have gone.
            let ends = [reference.joints[j].child, reference.joints[j].parent];
            for twist in ends.into_iter().flatten().filter_map(|n| self.twists[n]) {
                self.graph.waiting.push((self.graph.units.len(), vec![twist]));
            }
            let mut unit = vec![self.node(6)];
            self.joints[j].wrench = unit[0];
            for k in (0..self.joints[j].freedoms).filter(|&k| softness[j].passive[k]) {
                unit.push(self.node(1));
                self.joints[j].passive[k] = unit.last().copied();
            }
            self.graph.units.push(unit);
        }
        for (c, coupling) in reference.mechanism.coupled().iter().enumerate() {
            for (id, g) in [(coupling.joint, 1.0), (coupling.of, -coupling.ratio)] {
                if let Some(joint) = self.joints.iter_mut().find(|joint| joint.id == id) {
                    let unit = if joint.translations > 0 { self.length } else { 1.0 };
                    joint.couplings.push((c, g * unit));
                }
            }
            let multiplier = self.node(1);
            self.couplings.push(multiplier);
            self.graph.units.push(vec![multiplier]);
        }
        let around = loops_around(reference, softness, &self.in_tree);
        for j in (0..self.joints.len()).filter(|&j| self.in_tree[j]).collect::<Vec<_>>() {
            // The own block of a passive coordinate is nothing until its pair has gone, and a loop around
            // it or its coupling has been closed.
            let mut closing: Vec<usize> = around[j].iter().map(|&l| self.joints[l].wrench).collect();
            closing.extend(self.joints[j].couplings.iter().map(|&(c, _)| self.couplings[c]));
            for k in (0..self.joints[j].freedoms).filter(|&k| softness[j].passive[k]) {
                let unit = self.graph.units.len();
                self.graph.waiting.push((unit, vec![self.joints[j].wrench]));
                if !closing.is_empty() {
                    self.graph.waiting.push((unit, closing.clone()));
                }
                let theta = self.node(1);
                self.joints[j].passive[k] = Some(theta);
                self.graph.units.push(vec![theta]);
            }
        }
    }

    /// The blocks of joints, couplings and geometric stiffness.
    fn fill(&mut self, reference: &Reference) {
        let System { matrix, regularisation, twists, joints, couplings, in_tree, soft, .. } = self;
        let r = self.length;
        let length = |i: usize| if i < 3 { r } else { 1.0 };
        for (j, joint) in joints.iter().enumerate() {
            let at = &reference.joints[j];
            let Q = joint.passed_on.unwrap_or_else(Matrix6::identity);
            if let Some(child) = at.child.and_then(|n| twists[n]) {
                matrix.add(joint.wrench, child, 6, 6, |i, k| Q[(i, k)]);
            }
            if let Some(parent) = at.parent.and_then(|n| twists[n]) {
                let across = Q * Matrix6::from_fn(|i, k| at.across[(i, k)] / length(i) * length(k));
                matrix.add(joint.wrench, parent, 6, 6, |i, k| -across[(i, k)]);
            }
            let JCJ = joint.motion * joint.compliance * joint.motion.transpose();
            matrix.add(joint.wrench, joint.wrench, 6, 6, |i, k| -JCJ[(i, k)]);
            if !in_tree[j] {
                regularisation.add(
                    joint.wrench,
                    joint.wrench,
                    6,
                    6,
                    |i, k| if i == k { -EPSILON } else { 0.0 },
                );
            }
            for (k, theta) in joint.passive.iter().enumerate().filter_map(|(k, t)| Some((k, (*t)?))) {
                matrix.add(joint.wrench, theta, 6, 1, |i, _| -joint.motion[(i, k)]);
                regularisation.add(theta, theta, 1, 1, |_, _| EPSILON);
            }
            for &(c, g) in &joint.couplings {
                // Coupled joints have one freedom.
                let (mu, C) = (couplings[c], joint.compliance[(0, 0)]);
                matrix.add(mu, joint.wrench, 1, 6, |_, i| -g * C * joint.motion[(i, 0)]);
                matrix.add(mu, mu, 1, 1, |_, _| -g * C * g);
                if let Some(theta) = joint.passive[0] {
                    matrix.add(mu, theta, 1, 1, |_, _| -g);
                }
                // Two couplings of one joint share its compliance.
                for &(other, h) in joint.couplings.iter().filter(|(other, _)| *other < c) {
                    matrix.add(mu, couplings[other], 1, 1, |_, _| -g * C * h);
                }
            }
        }
        for &mu in couplings.iter() {
            regularisation.add(mu, mu, 1, 1, |_, _| -EPSILON);
        }
        for (a, b, K) in &reference.geometric {
            if let (Some(a), Some(b)) = (twists[*a], twists[*b]) {
                matrix.add(a, b, 6, 6, |i, k| K[(i, k)] * length(i) * length(k) * *soft);
            }
        }
    }
}

/// J and Cθ of all joints in units of length and compliance, and the unit of compliance: the largest.
fn scaled_joints(reference: &Reference, softness: &[Softness]) -> (Vec<JointPart>, f64) {
    let r = reference.radius;
    let length = |i: usize| if i < 3 { r } else { 1.0 };
    let mut joints: Vec<JointPart> = (reference.joints.iter().zip(softness))
        .map(|(joint, softness)| {
            let (d, translations) = (joint.freedoms(), joint.kind.translations());
            let unit = |k: usize| if k < translations { r } else { 1.0 };
            let motion =
                Matrix6::from_fn(|i, k| if k < d { joint.motion[(i, k)] / length(i) * unit(k) } else { 0.0 });
            let C = &softness.compliance;
            let motion = joint.passed_on.map_or(motion, |Q| Q * motion);
            JointPart {
                id: joint.id,
                wrench: 0,
                coordinate: joint.coordinate,
                freedoms: d,
                translations,
                passive: [None; 6],
                passed_on: joint.passed_on,
                motion,
                compliance: Matrix6::from_fn(|i, k| C[(i, k)] / (unit(i) * unit(k))),
                couplings: Vec::new(),
            }
        })
        .collect();
    let largest = joints.iter().map(|joint| joint.compliance.amax()).fold(0.0, f64::max);
    let soft = if largest > 0.0 { largest } else { 1.0 };
    joints.iter_mut().for_each(|joint| joint.compliance /= soft);
    (joints, soft)
}

/// For each tree joint with a passive freedom, the loop joints whose loops pass through it.
fn loops_around(reference: &Reference, softness: &[Softness], in_tree: &[bool]) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); in_tree.len()];
    let is_passive = |j: usize| softness[j].passive.contains(&true);
    if !(0..in_tree.len()).any(|j| in_tree[j] && is_passive(j)) {
        return around;
    }
    let up = |n: usize| reference.tree[n].map(|j| (j, reference.joints[j].parent));
    let mut seen = vec![usize::MAX; reference.poses.len()];
    for l in (0..in_tree.len()).filter(|&j| !in_tree[j]) {
        // Both ways to the world; what they share is not part of the loop.
        let mut paths: Vec<Vec<(usize, usize)>> = Vec::new();
        for end in [reference.joints[l].child, reference.joints[l].parent] {
            let (mut path, mut at) = (Vec::new(), end);
            while let Some(n) = at {
                let Some((j, parent)) = up(n) else { break };
                path.push((n, j));
                at = parent;
            }
            paths.push(path);
        }
        paths[0].iter().for_each(|&(n, _)| seen[n] = l);
        let shared = paths[1].iter().filter(|&&(n, _)| seen[n] == l).count();
        for path in &paths {
            for &(_, j) in path[..path.len() - shared].iter().filter(|&&(_, j)| is_passive(j)) {
                around[j].push(l);
            }
        }
    }
    around
}
