//! The linear statics of a whole mechanism, any topology: one factorisation, any number of loads.
//!
//! Unknowns are the twist ξ of every node, the wrench λ that every joint passes on (child's node frame), the
//! coordinate θ₀ of every passive freedom, and the multiplier μ of every coupling g·θ = 0:
//!
//! ```text
//! Σ λ of the joints of a body = w          (+ K_g ξ where forces act at the reference)
//! ξ_c − Ad(c,p) ξ_p = J θ,   θ = Cθ(Jᵀλ + g μ + τ) + θ₀
//! Jᵀλ + g μ + τ = 0          for passive freedoms
//! g·θ = 0                    for couplings
//! ```
//!
//! (numerics §4: [0 Gᵀ; G −(S Cθ Sᵀ)] [ξ; λ] = [w; 0].) A passive freedom has any compliance in Cθ, since what it
//! is multiplied with is zero. A body and the joint that carries it are eliminated as a pair [K I; I −JCθJᵀ],
//! which is invertible for any K, C ⪰ 0; so trees need no regularisation. Wrenches of loop joints get −ε and
//! passive coordinates +ε on their diagonal, taken out again by refinement against the matrix without it.
//!
//! Lengths are measured in radii and compliances in the largest one, so that all entries are of order one.

use nalgebra::Matrix6;

use super::reference::Reference;
use crate::elimination::{Blocks, Graph, Ordering, Pivoted, Symbolic};
use crate::mechanism::JointId;

/// Regularisation of the factors, where lengths are radii and the largest compliance is one.
const EPSILON: f64 = 1e-10;

/// Refinements at most; a tree needs none, loops two or three. Where loops cannot be solved all together, more.
const REFINEMENTS: [usize; 2] = [6, 30];

/// Residual at which refinement ends, relative to the right-hand side: about what rounding leaves.
const REFINED: f64 = 1e-16;

/// Residual of a probe at which loops count as closed.
const PROBED: f64 = 1e-13;

/// Pivots of loops below this part of the largest are redundant closures.
const SINGULAR: f64 = 1e-12;

/// Most unknowns of loops that are solved all together where the sparse order loses too many digits.
const LAST_AT_MOST: usize = 600;

/// Residual above which the system has no solution: some motion is held by nothing.
const UNSOLVED: f64 = 1e-6;

/// What each joint gives: compliance of its coordinates and which are passive.
#[derive(Clone, Debug)]
pub(super) struct Softness {
    /// Cθ, d×d, rad/(N·m) and the like; any positive number on a passive freedom.
    pub compliance: Matrix6<f64>,
    pub passive: [bool; 6],
}

impl Softness {
    /// The springs of all joints. Passive freedoms get the median compliance.
    pub fn of_springs(reference: &Reference) -> Vec<Softness> {
        let r = reference.radius;
        let mut all: Vec<f64> = Vec::new();
        for joint in &reference.joints {
            for k in 0..joint.freedoms() {
                let unit = if k < joint.kind.translations() { r * r } else { 1.0 };
                if joint.stiffness[k] > 0.0 {
                    all.push(1.0 / (joint.stiffness[k] * unit));
                }
            }
        }
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied().unwrap_or(1.0);
        (reference.joints.iter())
            .map(|joint| {
                let mut softness = Softness { compliance: Matrix6::zeros(), passive: [false; 6] };
                for k in 0..joint.freedoms() {
                    let unit = if k < joint.kind.translations() { r * r } else { 1.0 };
                    softness.passive[k] = joint.stiffness[k] == 0.0;
                    softness.compliance[(k, k)] =
                        if softness.passive[k] { median * unit } else { 1.0 / joint.stiffness[k] };
                }
                softness
            })
            .collect()
    }
}

/// When loops are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loops {
    /// Each as soon as both bodies of its joint have gone, regularised: near-linear time.
    Sparse,
    /// All together in the end, with pivoting and rank: any redundancy, the cube of their number.
    Last,
}

/// The factored system.
#[derive(Clone, Debug)]
pub(super) struct Kkt {
    plan: Symbolic,
    blocks: Blocks,
    factors: Pivoted,
    /// How many unknowns close loops.
    closing: usize,
    /// Length unit, m, and compliance unit, rad/(N·m).
    length: f64,
    soft: f64,
    /// Unknown of each node's twist, of each joint's wrench and of each freedom's θ₀.
    twists: Vec<Option<usize>>,
    joints: Vec<JointPart>,
    /// Unknown of each coupling's multiplier.
    couplings: Vec<usize>,
}

#[derive(Clone, Debug)]
struct JointPart {
    id: JointId,
    wrench: usize,
    coordinate: usize,
    freedoms: usize,
    translations: usize,
    /// Unknown of θ₀ of each passive freedom.
    passive: [Option<usize>; 6],
    /// J in units of length, and Cθ in units of compliance.
    motion: Matrix6<f64>,
    compliance: Matrix6<f64>,
    /// Couplings of its coordinate, with g.
    couplings: Vec<(usize, f64)>,
}

/// A freedom that nothing determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undetermined {
    pub joint: JointId,
}

/// Right-hand sides and answers that stand side by side, column by column: `twists[(6 n + i) * columns + column]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub columns: usize,
    /// Six per node, in its frame: loads going in, twists coming out.
    pub nodes: Vec<f64>,
    /// One per coordinate: forces going in, coordinates coming out.
    pub coordinates: Vec<f64>,
    /// Six per joint of the reference, coming out: the wrench it passes on, child's node frame.
    pub wrenches: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    memory: Vec<f64>,
}

impl Columns {
    /// Zeros.
    pub fn new(reference: &Reference, columns: usize) -> Columns {
        Columns {
            columns,
            nodes: vec![0.0; 6 * reference.poses.len() * columns],
            coordinates: vec![0.0; reference.coordinates.len() * columns],
            wrenches: vec![0.0; 6 * reference.joints.len() * columns],
            ..Columns::default()
        }
    }
}

impl Kkt {
    /// Factors the system of a reference with the given softness of its joints.
    pub fn new(reference: &Reference, softness: &[Softness]) -> Result<Kkt, Undetermined> {
        let sparse = Kkt::arranged(reference, softness, Loops::Sparse)?;
        if sparse.closing == 0 || sparse.closing > LAST_AT_MOST || sparse.solves_a_probe(reference) {
            return Ok(sparse);
        }
        Kkt::arranged(reference, softness, Loops::Last)
    }

    /// Whether a load on every node at once is solved to rounding.
    fn solves_a_probe(&self, reference: &Reference) -> bool {
        let mut probe = Columns::new(reference, 1);
        // Any numbers do that no symmetry of a mechanism shares.
        let unit = |i: usize| 1.0 / (self.length(i % 6) * self.soft);
        probe.nodes.iter_mut().enumerate().for_each(|(i, x)| *x = (1.0 + i as f64).sin() * unit(i));
        self.refine(&mut probe) <= PROBED
    }

    /// Factors the system with its loops closed in a given way.
    fn arranged(reference: &Reference, softness: &[Softness], loops: Loops) -> Result<Kkt, Undetermined> {
        let r = reference.radius;
        let length = |i: usize| if i < 3 { r } else { 1.0 };
        // J and Cθ in units of length; the largest compliance is the unit of compliance.
        let mut joints: Vec<JointPart> =
            (reference.joints.iter().zip(softness))
                .map(|(joint, softness)| {
                    let (d, translations) = (joint.freedoms(), joint.kind.translations());
                    let unit = |k: usize| if k < translations { r } else { 1.0 };
                    let motion = Matrix6::from_fn(|i, k| {
                        if k < d { joint.motion[(i, k)] / length(i) * unit(k) } else { 0.0 }
                    });
                    let C = &softness.compliance;
                    JointPart {
                        id: joint.id,
                        wrench: 0,
                        coordinate: joint.coordinate,
                        freedoms: d,
                        translations,
                        passive: [None; 6],
                        motion,
                        compliance: Matrix6::from_fn(|i, k| C[(i, k)] / (unit(i) * unit(k))),
                        couplings: Vec::new(),
                    }
                })
                .collect();
        let largest = joints.iter().map(|joint| joint.compliance.amax()).fold(0.0, f64::max);
        let soft = if largest > 0.0 { largest } else { 1.0 };
        joints.iter_mut().for_each(|joint| joint.compliance /= soft);

        // Nodes of the graph: a twist and a wrench for each pair, wrenches of loop joints with their passive
        // coordinates, passive coordinates of the tree, multipliers of couplings.
        let mut graph = Graph::default();
        let mut twists = vec![None; reference.poses.len()];
        let mut tree_joint = vec![false; joints.len()];
        for (n, tree) in reference.tree.iter().enumerate().rev() {
            if let Some(j) = *tree {
                let pair = vec![graph.sizes.len(), graph.sizes.len() + 1];
                (twists[n], joints[j].wrench, tree_joint[j]) = (Some(pair[0]), pair[1], true);
                graph.sizes.extend([6, 6]);
                graph.units.push(pair);
            }
        }
        for (j, joint) in joints.iter_mut().enumerate().filter(|(j, _)| !tree_joint[*j]) {
            joint.wrench = graph.sizes.len();
            graph.sizes.push(6);
            let ends = [reference.joints[j].child, reference.joints[j].parent];
            for twist in ends.into_iter().flatten().filter_map(|n| twists[n]) {
                graph.waiting.push((graph.units.len(), vec![twist]));
            }
            graph.units.push(vec![joint.wrench]);
            for k in (0..joint.freedoms).filter(|&k| softness[j].passive[k]) {
                joint.passive[k] = Some(graph.sizes.len());
                graph.units.last_mut().expect("just added").push(graph.sizes.len());
                graph.sizes.push(1);
            }
        }
        let mut couplings: Vec<usize> = Vec::new();
        for coupling in reference.mechanism.couplings() {
            for (id, g) in [(coupling.joint, 1.0), (coupling.of, -coupling.ratio)] {
                if let Some(joint) = joints.iter_mut().find(|joint| joint.id == id) {
                    let unit = if joint.translations > 0 { r } else { 1.0 };
                    joint.couplings.push((couplings.len(), g * unit));
                }
            }
            couplings.push(graph.sizes.len());
            graph.units.push(vec![graph.sizes.len()]);
            graph.sizes.push(1);
        }
        let around = loops_around(reference, softness, &tree_joint);
        for j in (0..joints.len()).filter(|&j| tree_joint[j]) {
            // The own block of a passive coordinate is nothing until its pair has gone, and a loop around
            // it or its coupling has been closed.
            let mut closing: Vec<usize> = around[j].iter().map(|&l| joints[l].wrench).collect();
            closing.extend(joints[j].couplings.iter().map(|&(c, _)| couplings[c]));
            for k in (0..joints[j].freedoms).filter(|&k| softness[j].passive[k]) {
                joints[j].passive[k] = Some(graph.sizes.len());
                graph.waiting.push((graph.units.len(), vec![joints[j].wrench]));
                if !closing.is_empty() {
                    graph.waiting.push((graph.units.len(), closing.clone()));
                }
                graph.units.push(vec![graph.sizes.len()]);
                graph.sizes.push(1);
            }
        }

        let mut blocks = Blocks::default(); // the matrix
        let mut factored = Blocks::default(); // what the factors have beside it
        for (j, joint) in joints.iter().enumerate() {
            let at = &reference.joints[j];
            if let Some(child) = at.child.and_then(|n| twists[n]) {
                blocks.add(joint.wrench, child, 6, 6, |i, k| f64::from(i == k));
            }
            if let Some(parent) = at.parent.and_then(|n| twists[n]) {
                blocks.add(joint.wrench, parent, 6, 6, |i, k| -at.across[(i, k)] / length(i) * length(k));
            }
            let JCJ = joint.motion * joint.compliance * joint.motion.transpose();
            blocks.add(joint.wrench, joint.wrench, 6, 6, |i, k| -JCJ[(i, k)]);
            if !tree_joint[j] {
                factored.add(joint.wrench, joint.wrench, 6, 6, |i, k| if i == k { -EPSILON } else { 0.0 });
            }
            for (k, theta) in joint.passive.iter().enumerate().filter_map(|(k, t)| Some((k, (*t)?))) {
                blocks.add(joint.wrench, theta, 6, 1, |i, _| -joint.motion[(i, k)]);
                factored.add(theta, theta, 1, 1, |_, _| EPSILON);
            }
            for &(c, g) in &joint.couplings {
                // Coupled joints have one freedom.
                let (mu, C) = (couplings[c], joint.compliance[(0, 0)]);
                blocks.add(mu, joint.wrench, 1, 6, |_, i| -g * C * joint.motion[(i, 0)]);
                blocks.add(mu, mu, 1, 1, |_, _| -g * C * g);
                if let Some(theta) = joint.passive[0] {
                    blocks.add(mu, theta, 1, 1, |_, _| -g);
                }
                // Two couplings of one joint share its compliance.
                for &(other, h) in joint.couplings.iter().filter(|(other, _)| *other < c) {
                    blocks.add(mu, couplings[other], 1, 1, |_, _| -g * C * h);
                }
            }
        }
        for &mu in &couplings {
            factored.add(mu, mu, 1, 1, |_, _| -EPSILON);
        }
        for (a, b, K) in &reference.geometric {
            if let (Some(a), Some(b)) = (twists[*a], twists[*b]) {
                blocks.add(a, b, 6, 6, |i, k| K[(i, k)] * length(i) * length(k) * soft);
            }
        }
        graph.elements = blocks.elements();
        // Trees list their pairs leaf to root; loops need a search for an order.
        let pairs = twists.iter().flatten().count();
        let closing: usize = graph.units[pairs..].iter().flatten().map(|&n| graph.sizes[n]).sum();
        let ordering = match loops {
            _ if closing == 0 => Ordering::AsGiven,
            Loops::Sparse => Ordering::MinimumDegree,
            Loops::Last => {
                let last = graph.units.split_off(pairs).concat();
                graph.units.push(last);
                Ordering::AsGiven
            }
        };
        let plan = Symbolic::new(&graph, ordering);
        let regularised = (loops == Loops::Sparse && closing > 0).then(|| blocks.clone().and(&factored));
        let matrix = regularised.as_ref().unwrap_or(&blocks);
        // From nodes of the graph to unknowns.
        let unknown = |node: &mut usize| *node = plan.first_of(*node);
        twists.iter_mut().flatten().for_each(unknown);
        joints.iter_mut().for_each(|joint| unknown(&mut joint.wrench));
        joints.iter_mut().flat_map(|joint| joint.passive.iter_mut().flatten()).for_each(unknown);
        couplings.iter_mut().for_each(unknown);
        let singular = (loops == Loops::Last && closing > 0).then_some(SINGULAR);
        let factors = Pivoted::factor(&plan, &matrix.placed(&plan), singular)
            .map_err(|pivot| undetermined(&joints, pivot.unknown))?;
        Ok(Kkt { plan, blocks, factors, closing, length: r, soft, twists, joints, couplings })
    }

    /// Columns of zeros with all the memory that solving for them takes.
    pub fn columns(&self, reference: &Reference, columns: usize) -> Columns {
        let unknowns = self.plan.unknowns() * columns;
        let largest = (0..self.plan.fronts()).map(|f| self.plan.front_size(f).1).max().unwrap_or(0);
        Columns {
            solution: Vec::with_capacity(unknowns),
            residual: Vec::with_capacity(unknowns),
            memory: Vec::with_capacity(largest * columns),
            ..Columns::new(reference, columns)
        }
    }

    /// Solves for loads on nodes and forces on coordinates, column by column, in place.
    pub fn solve(&self, columns: &mut Columns) -> Result<(), Undetermined> {
        // What is left relative to the loads, not to the answer: a motion that nothing holds is huge.
        if self.refine(columns) > UNSOLVED {
            return Err(self.worst(&columns.residual, columns.columns));
        }
        self.unload(columns);
        Ok(())
    }

    /// Solves in units of length and compliance; returns the largest residual over the largest load.
    fn refine(&self, columns: &mut Columns) -> f64 {
        let m = columns.columns;
        let size = self.plan.unknowns() * m;
        columns.residual.clear();
        columns.residual.resize(size, 0.0);
        self.load(columns);
        columns.solution.clear();
        columns.solution.extend_from_slice(&columns.residual);
        let given = largest(&columns.residual);
        self.factors.solve(&self.plan, &mut columns.solution, m, &mut columns.memory);
        if self.closing == 0 {
            return 0.0; // a tree: exact to rounding at once, and held by all its springs
        }
        let most = REFINEMENTS[usize::from(self.closing > LAST_AT_MOST)];
        let mut last = f64::INFINITY;
        for refinement in 0.. {
            // b − H x, for which the loads are written once more.
            columns.residual.fill(0.0);
            self.load(columns);
            self.blocks.subtract_product(&self.plan, &columns.solution, &mut columns.residual, m);
            let scale = given.max(largest(&columns.solution));
            let left = largest(&columns.residual);
            if left <= REFINED * scale || refinement == most || left.is_nan() || left >= 0.5 * last {
                return if given > 0.0 { left / given } else { left };
            }
            last = left;
            self.factors.solve(&self.plan, &mut columns.residual, m, &mut columns.memory);
            for (x, correction) in columns.solution.iter_mut().zip(&columns.residual) {
                *x += correction;
            }
        }
        unreachable!("the loop returns")
    }

    /// Adds the right-hand side, in units of length and compliance, to `residual`.
    fn load(&self, columns: &mut Columns) {
        let m = columns.columns;
        let b = &mut columns.residual;
        for (n, unknown) in self.twists.iter().enumerate() {
            let Some(unknown) = *unknown else { continue };
            for i in 0..6 {
                let unit = self.length(i) * self.soft;
                add(&mut b[(unknown + i) * m..][..m], unit, &columns.nodes[(6 * n + i) * m..][..m]);
            }
        }
        for joint in &self.joints {
            for k in 0..joint.freedoms {
                let tau = &columns.coordinates[(joint.coordinate + k) * m..][..m];
                if tau.iter().all(|t| *t == 0.0) {
                    continue;
                }
                let unit = self.unit(joint, k) * self.soft;
                // J Cθ τ, τ itself for a passive freedom, g Cθ τ for a coupling.
                let JC = joint.motion * joint.compliance.column(k) * unit;
                (0..6).for_each(|i| add(&mut b[(joint.wrench + i) * m..][..m], JC[i], tau));
                if let Some(theta) = joint.passive[k] {
                    add(&mut b[theta * m..][..m], unit, tau);
                }
                for &(c, g) in &joint.couplings {
                    let gC = g * joint.compliance[(0, 0)] * unit;
                    add(&mut b[self.couplings[c] * m..][..m], gC, tau);
                }
            }
        }
    }

    /// Twists, wrenches and coordinates of the solution, in SI units.
    fn unload(&self, columns: &mut Columns) {
        let m = columns.columns;
        let x = &columns.solution;
        for (n, unknown) in self.twists.iter().enumerate() {
            for i in 0..6 {
                let to = &mut columns.nodes[(6 * n + i) * m..][..m];
                to.fill(0.0);
                if let Some(unknown) = *unknown {
                    add(to, self.length(i), &x[(unknown + i) * m..][..m]);
                }
            }
        }
        for (j, joint) in self.joints.iter().enumerate() {
            for i in 0..6 {
                let to = &mut columns.wrenches[(6 * j + i) * m..][..m];
                to.fill(0.0);
                add(to, 1.0 / (self.length(i) * self.soft), &x[(joint.wrench + i) * m..][..m]);
            }
            // θ = Cθ(Jᵀλ + g μ + τ) + θ₀
            let d = joint.freedoms;
            let CJ = joint.compliance * joint.motion.transpose();
            let forces = &mut columns.coordinates[joint.coordinate * m..(joint.coordinate + d) * m];
            for column in 0..m {
                let mut theta = [0.0; 6];
                for k in 0..d {
                    theta[k] = (0..6).map(|i| CJ[(k, i)] * x[(joint.wrench + i) * m + column]).sum::<f64>();
                    for l in 0..d {
                        let tau = forces[l * m + column] * self.unit(joint, l) * self.soft;
                        theta[k] += joint.compliance[(k, l)] * tau;
                    }
                    for &(c, g) in &joint.couplings {
                        theta[k] += joint.compliance[(0, 0)] * g * x[self.couplings[c] * m + column];
                    }
                    theta[k] += joint.passive[k].map_or(0.0, |t| x[t * m + column]);
                }
                for k in 0..d {
                    forces[k * m + column] = theta[k] * self.unit(joint, k);
                }
            }
        }
    }

    /// The largest compliance of a joint, rad/(N·m), translations in radii.
    pub fn softest(&self) -> f64 {
        self.soft
    }

    fn length(&self, i: usize) -> f64 {
        if i < 3 { self.length } else { 1.0 }
    }

    fn unit(&self, joint: &JointPart, k: usize) -> f64 {
        if k < joint.translations { self.length } else { 1.0 }
    }

    /// The joint with the largest residual.
    fn worst(&self, residual: &[f64], m: usize) -> Undetermined {
        let size = |unknown: usize| largest(&residual[unknown * m..(unknown + 1) * m]);
        let of_joint = |joint: &JointPart| {
            let passive = joint.passive.iter().flatten().map(|&t| size(t)).fold(0.0, f64::max);
            (0..6).map(|i| size(joint.wrench + i)).fold(passive, f64::max)
        };
        let mut worst = (0.0, JointId::from_index(0));
        for joint in &self.joints {
            let left = of_joint(joint);
            if left > worst.0 || left.is_nan() {
                worst = (left, joint.id);
            }
        }
        Undetermined { joint: worst.1 }
    }
}

/// Largest number of a list.
fn largest(list: &[f64]) -> f64 {
    list.iter().fold(0.0f64, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The joint that an unknown without a pivot belongs to.
fn undetermined(joints: &[JointPart], unknown: usize) -> Undetermined {
    let holds = |joint: &&JointPart| {
        (joint.wrench..joint.wrench + 6).contains(&unknown) || joint.passive.contains(&Some(unknown))
    };
    Undetermined { joint: joints.iter().find(holds).unwrap_or(&joints[0]).id }
}

/// For each tree joint with a passive freedom, the loop joints whose loops pass through it.
fn loops_around(reference: &Reference, softness: &[Softness], tree_joint: &[bool]) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); tree_joint.len()];
    let is_passive = |j: usize| softness[j].passive.contains(&true);
    if !(0..tree_joint.len()).any(|j| tree_joint[j] && is_passive(j)) {
        return around;
    }
    let up = |n: usize| reference.tree[n].map(|j| (j, reference.joints[j].parent));
    let mut seen = vec![usize::MAX; reference.poses.len()];
    for l in (0..tree_joint.len()).filter(|&j| !tree_joint[j]) {
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
