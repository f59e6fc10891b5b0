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
//! (Together: [0 Gᵀ; G −(S Cθ Sᵀ)] [ξ; λ] = [w; 0].) A passive freedom has any compliance in Cθ, since what it
//! is multiplied with is zero. A body and the joint that carries it are eliminated as a pair [K I; I −JCθJᵀ],
//! which is invertible for any K, C ⪰ 0; so trees need no regularisation. Wrenches of loop joints get −ε and
//! passive coordinates +ε on their diagonal, taken out again by refinement against the matrix without it.
//!
//! Lengths are measured in radii and compliances in the largest one, so that all entries are of order one.

use super::reference::Reference;
use super::softness::Softness;
use super::system::{JointPart, System};
use crate::algebra::elimination::{Blocks, Ordering, Pivoted, Symbolic};
use crate::mechanism::JointId;

/// Refinements at most; a tree needs none, loops two to five. Where loops cannot be solved all together, more.
const REFINEMENTS: [usize; 2] = [8, 30];

/// Residual at which refinement ends, relative to the right-hand side: about what rounding leaves.
const REFINED: f64 = 1e-16;

/// Residual below which one refinement that gains nothing ends it; above, it takes two in a row: the first may
/// only move what is left from one part of the loops to another.
const ROUNDED: f64 = 1e-14;

/// Residual of a probe at which loops count as closed.
const PROBED: f64 = 1e-13;

/// Pivots of loops below this part of the largest are redundant closures.
const SINGULAR: f64 = 1e-12;

/// Most unknowns of loops that are solved all together where the sparse order loses too many digits.
const LAST_AT_MOST: usize = 600;

/// Residual above which there is no solution: some motion is held by nothing, or loops are lost in rounding.
const UNSOLVED: f64 = 1e-9;

/// When loops are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loops {
    /// Each as soon as both bodies of its joint have gone, regularised: near-linear time.
    Sparse,
    /// The independent ones all together in the end, with pivoting: any redundancy, the cube of their number.
    Last,
}

/// The factored system.
#[derive(Clone, Debug)]
pub(super) struct Kkt {
    plan: Symbolic,
    matrix: Blocks,
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

/// A freedom that nothing determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undetermined {
    pub joint: JointId,
    /// The right-hand side that drives it, if one does.
    pub column: Option<usize>,
    /// Whether it is no freedom at all, but a loop whose closure rounding has lost.
    pub lost: bool,
}

/// Right-hand sides and answers that stand side by side, column by column: `twists[(6 n + i) * columns + column]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub columns: usize,
    /// Six per node, in its frame: loads going in, twists coming out.
    pub nodes: Vec<f64>,
    /// One per coordinate: forces going in, coordinates coming out.
    pub coordinates: Vec<f64>,
    /// Six per joint of the reference, coming out: the wrench it passes on, child's node frame; or none.
    pub wrenches: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    memory: Vec<f64>,
    /// Largest number of each right-hand side.
    given: Vec<f64>,
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

    /// Without the memory of a solve, for answers that are kept.
    pub fn kept(self) -> Columns {
        let Columns { columns, nodes, coordinates, wrenches, .. } = self;
        Columns { columns, nodes, coordinates, wrenches, ..Columns::default() }
    }

    /// Zeros, for answers of nodes and coordinates alone.
    pub fn without_wrenches(reference: &Reference, columns: usize) -> Columns {
        Columns {
            columns,
            nodes: vec![0.0; 6 * reference.poses.len() * columns],
            coordinates: vec![0.0; reference.coordinates.len() * columns],
            ..Columns::default()
        }
    }
}

impl Kkt {
    /// Factors the system of a reference with the given softness of its joints.
    pub fn new(reference: &Reference, softness: &[Softness]) -> Result<Kkt, Undetermined> {
        let sparse = Kkt::arranged(reference, softness, Loops::Sparse)?;
        if sparse.closing == 0 || sparse.closing > LAST_AT_MOST {
            return Ok(sparse);
        }
        if sparse.probe(reference) <= PROBED {
            return Ok(sparse);
        }
        Kkt::arranged(reference, softness, Loops::Last)
    }

    /// What is left of a load on every node at once.
    fn probe(&self, reference: &Reference) -> f64 {
        let mut probe = Columns::without_wrenches(reference, 1);
        // Any numbers do that no symmetry of a mechanism shares.
        let unit = |i: usize| 1.0 / (self.length(i % 6) * self.soft);
        probe.nodes.iter_mut().enumerate().for_each(|(i, x)| *x = (1.0 + i as f64).sin() * unit(i));
        self.refine(&mut probe)
    }

    /// Factors the system with its loops closed in a given way.
    fn arranged(reference: &Reference, softness: &[Softness], loops: Loops) -> Result<Kkt, Undetermined> {
        let mut system = System::new(reference, softness);
        let closing = system.closing();
        // Trees list their pairs leaf to root; loops need a search for an order.
        let ordering = match loops {
            _ if closing == 0 => Ordering::AsGiven,
            Loops::Sparse => Ordering::MinimumDegree,
            Loops::Last => {
                system.join_closings();
                Ordering::AsGiven
            }
        };
        let plan = Symbolic::new(&system.graph, ordering);
        system.number(&plan);
        let System { matrix, regularisation, length, soft, twists, joints, couplings, .. } = system;
        let regularised =
            (loops == Loops::Sparse && closing > 0).then(|| matrix.clone().and(&regularisation));
        let singular = (loops == Loops::Last && closing > 0).then_some(SINGULAR);
        let factors =
            Pivoted::factor(&plan, &regularised.as_ref().unwrap_or(&matrix).placed(&plan), singular)
                .map_err(|pivot| undetermined(&joints, pivot.unknown))?;
        // Only refinement reads the matrix, and trees need none.
        let matrix = if closing == 0 { Blocks::default() } else { matrix };
        Ok(Kkt { plan, matrix, factors, closing, length, soft, twists, joints, couplings })
    }

    /// Columns of zeros with all the memory that solving for them takes.
    pub fn columns(&self, reference: &Reference, columns: usize) -> Columns {
        let unknowns = self.plan.unknowns() * columns;
        let largest = (0..self.plan.fronts()).map(|f| self.plan.front_size(f).1).max().unwrap_or(0);
        Columns {
            solution: Vec::with_capacity(unknowns),
            residual: Vec::with_capacity(unknowns),
            memory: Vec::with_capacity(2 * largest * columns),
            given: Vec::with_capacity(columns),
            ..Columns::without_wrenches(reference, columns)
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
        if self.closing == 0 {
            // A tree: exact to rounding at once, and held by all its springs.
            std::mem::swap(&mut columns.solution, &mut columns.residual);
            self.factors.solve(&self.plan, &mut columns.solution, m, &mut columns.memory);
            return 0.0;
        }
        columns.solution.clear();
        columns.solution.extend_from_slice(&columns.residual);
        columns.given.clear();
        columns.given.extend((0..m).map(|c| largest(&columns.residual, c, m)));
        self.factors.solve(&self.plan, &mut columns.solution, m, &mut columns.memory);
        let most = REFINEMENTS[usize::from(self.closing > LAST_AT_MOST)];
        let (mut last, mut stalled) = (f64::INFINITY, 0);
        for refinement in 0.. {
            // b − H x, for which the loads are written once more.
            columns.residual.fill(0.0);
            self.load(columns);
            self.matrix.subtract_product(&self.plan, &columns.solution, &mut columns.residual, m);
            // The worst column, relative to its answer and to its load.
            let (mut left, mut unsolved) = (0.0f64, 0.0f64);
            for (c, &given) in columns.given.iter().enumerate().filter(|(_, given)| **given > 0.0) {
                let rest = largest(&columns.residual, c, m);
                left = left.max(rest / given.max(largest(&columns.solution, c, m)));
                unsolved = unsolved.max(rest / given);
            }
            stalled = if left < 0.5 * last { 0 } else { stalled + 1 };
            let ended = stalled > usize::from(left > ROUNDED) || !left.is_finite();
            if left <= REFINED || refinement == most || ended {
                return unsolved;
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
            for i in 0..if columns.wrenches.is_empty() { 0 } else { 6 } {
                let to = &mut columns.wrenches[(6 * j + i) * m..][..m];
                to.fill(0.0);
                let unit = 1.0 / (self.length(i) * self.soft);
                match &joint.passed_on {
                    None => add(to, unit, &x[(joint.wrench + i) * m..][..m]),
                    Some(Q) => {
                        (0..6).for_each(|k| add(to, unit * Q[(k, i)], &x[(joint.wrench + k) * m..][..m]))
                    }
                }
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

    fn length(&self, i: usize) -> f64 {
        if i < 3 { self.length } else { 1.0 }
    }

    fn unit(&self, joint: &JointPart, k: usize) -> f64 {
        if k < joint.translations { self.length } else { 1.0 }
    }

    /// The joint with the largest residual, and the right-hand side that leaves it. The part of a load along
    /// motions that nothing holds is left on coordinates of passive freedoms; what is left on wrenches of joints
    /// are loops that do not close.
    fn worst(&self, residual: &[f64], m: usize) -> Undetermined {
        let mut worst = (0.0, Undetermined { joint: self.joints[0].id, column: None, lost: true });
        for joint in &self.joints {
            let passive = joint.passive.iter().flatten().map(|&u| (u, false));
            for (u, lost) in passive.chain((joint.wrench..joint.wrench + 6).map(|u| (u, true))) {
                for (column, left) in residual[u * m..(u + 1) * m].iter().enumerate() {
                    if left.abs() > worst.0 || left.is_nan() {
                        worst = (left.abs(), Undetermined { joint: joint.id, column: Some(column), lost });
                    }
                }
            }
        }
        worst.1
    }
}

/// Largest number of a column.
fn largest(list: &[f64], column: usize, columns: usize) -> f64 {
    let size = |m: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) };
    list.iter().skip(column).step_by(columns).fold(0.0, size)
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
    let joint = joints.iter().find(holds).unwrap_or(&joints[0]);
    let lost = !joint.passive.contains(&Some(unknown));
    Undetermined { joint: joint.id, column: None, lost }
}
