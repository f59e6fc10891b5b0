//! Loops and couplings: what they close, as rows over the freedoms of the tree, and the motions that close them.
//!
//! With g the covector at P, world axes, of a row of a loop joint, C has s_i·g for every freedom i between the child and where its way
//! to the base meets the parent's, and −s_i·g on the parent's side. Rows that repeat others are left out
//! (`mechanism/repeated.rs`); lengths count in radii. Closures that share a freedom form a group. With N the weights of freedoms
//! (`reduction.rs`) and C₀ the rows where the mechanism starts,
//!
//! ```text
//! Φ = N⁻¹C₀ᵀ(C₀N⁻¹C₀ᵀ)⁻¹,   C₀Φ = 1,   P = 1 − ΦC₀
//! ```
//! are the motions that close a group with the least N, and the projection on those that leave it closed to first order. A
//! group that all motions P x leave closed to rounding, however large (couplings, parallelograms), is *flat*: it needs no Φ.

use nalgebra::{DMatrix, DVector, Matrix6, Vector3};

use super::basis::Basis;
use super::loop_joint::{LoopFreedom, LoopJoint, counted_rows, outward};
use super::placing::{Places, Reference};
use super::tree::{BASE, Tree};
use crate::engine::laws;
use crate::linear::ReductionError;
use crate::mechanism::JointId;
use crate::numbers::Numbers;
use crate::spatial::{Pose, Wrench};

/// Rows of a group that the others imply where the mechanism starts: eigenvalues of C₀N⁻¹C₀ᵀ, its diagonal 1.
const REPEATED: f64 = 1e-9;

/// Samples by which a group is found to be flat, the largest motions of a freedom there, rad or radii, and what they may leave open:
/// rounding of some products of poses.
const SAMPLES: usize = 6;
const SIZES: [f64; 2] = [0.3, 1.0];
const FLAT: f64 = 2e-12;

/// One end of a coupling.
#[derive(Clone, Debug)]
enum End {
    /// A freedom of the tree: its place on the path.
    Tree(usize),
    /// A freedom of a loop joint; the places of its path on that of the coupling.
    Loop(usize, Vec<usize>),
}

#[derive(Clone, Debug)]
enum What {
    /// Rows of the joint's closure that count, in radii or rad.
    Joint(usize, Vec<[f64; 6]>),
    /// Σ factor θ − offset; 1/m or 1.
    Coupling([(End, f64); 2], f64, f64),
}

/// A loop joint or coupling with rows.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    what: What,
    /// The joint, or the one that follows.
    pub joint: JointId,
    /// Freedoms of the tree.
    pub path: Vec<usize>,
    /// The places of the path among the freedoms of the group.
    pub in_group: Vec<usize>,
    pub rows: usize,
    /// First of its rows among those of all closures, and where they are in memory.
    pub first: usize,
    pub at: usize,
    /// Whether its group is flat.
    pub flat: bool,
    /// Place of its first multiplier in the state.
    multiplier: usize,
}

/// Closures that share freedoms, their rows one after the other.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub closures: Vec<usize>,
    pub freedoms: Vec<usize>,
    pub first: usize,
    pub rows: usize,
    /// C₀, a row of all freedoms of the group for each; Φ, a row of all columns for each freedom.
    pub start: Vec<f64>,
    pub corrections: Vec<f64>,
    pub flat: bool,
}

/// All that closes loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Closures {
    pub joints: Vec<LoopJoint>,
    pub freedoms: Vec<LoopFreedom>,
    pub all: Vec<Closure>,
    pub groups: Vec<Group>,
    /// Rows of all closures, and numbers of their rows over paths.
    pub rows: usize,
    pub values: usize,
    pub loop_values: usize,
    /// Whether a group, or a coordinate of a loop joint, is not flat.
    pub curved: bool,
    /// Freedoms of loop joints with limits, counted after those of the tree.
    pub limited: Vec<usize>,
    /// Of a mechanism that is not curved: rows S Θ of the loop joints' coordinates, `stride` apart; S over their paths.
    pub loop_rows: Vec<f64>,
    pub over_path: Vec<f64>,
    pub stride: usize,
}

/// Closures at a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct Evaluated {
    /// Coordinates of loop joints, and their rows S over the paths.
    pub q: Vec<f64>,
    pub loops: Vec<f64>,
    /// What is open, and rows C over the paths.
    pub open: Vec<f64>,
    pub values: Vec<f64>,
}

impl Closures {
    /// All loops and couplings of a mechanism with weights of the tree's freedoms, those of free bases not counted.
    pub fn new(tree: &Tree, norms: &[f64]) -> Result<Closures, ReductionError> {
        let mut closures = Closures::list(tree)?;
        if closures.joints.is_empty() && closures.all.is_empty() {
            return Ok(closures);
        }
        let mut all = vec![1.0; tree.freedoms.len()];
        let joints = tree.freedoms.iter().zip(&mut all).filter(|(freedom, _)| freedom.coordinate.is_some());
        joints.zip(norms).for_each(|((_, to), norm)| *to = *norm);
        let start = start_of(tree);
        let mut places = Places::new(tree);
        let mut pose = Posing::new(tree);
        pose.put(tree, &mut places, &start);
        let mut at = closures.memory();
        at.q.iter_mut().zip(&closures.freedoms).for_each(|(q, freedom)| *q = freedom.start);
        closures.evaluate(tree, &places, &mut at, true);
        let first = at.clone();
        closures.group(tree, &all, &first)?;
        let first = {
            let mut again = closures.memory();
            again.q.copy_from_slice(&first.q);
            closures.evaluate(tree, &places, &mut again, true);
            again
        };
        closures.over_path = first.loops.clone();
        closures.flatten(tree, &start, &first, &mut pose, &mut places);
        Ok(closures)
    }

    /// Memory for [`Closures::evaluate`].
    pub fn memory(&self) -> Evaluated {
        Evaluated {
            q: vec![0.0; self.freedoms.len()],
            loops: vec![0.0; self.loop_values],
            open: vec![0.0; self.rows],
            values: vec![0.0; self.values],
        }
    }

    fn list(tree: &Tree) -> Result<Closures, ReductionError> {
        let (mechanism, order) = (&tree.mechanism, tree.mechanism.order());
        let mut closures = Closures::default();
        let laws = laws::laws(mechanism);
        let way = |node: Option<usize>| {
            let mut way = Vec::new();
            let mut n = node.unwrap_or(BASE);
            while n != BASE {
                way.push(n);
                n = tree.links[n].parent;
            }
            way
        };
        for &id in order.loop_joints() {
            let joint = &mechanism[id];
            let (child, parent) = (order.node_of(joint.child), joint.parent.and_then(|b| order.node_of(b)));
            if child == parent {
                continue;
            }
            joint.kind.prepare_off_manifold();
            let (mut up, mut down) = (way(child), way(parent));
            while up.last().is_some() && up.last() == down.last() {
                up.pop();
                down.pop();
            }
            if up.iter().chain(&down).any(|n| tree.links[*n].joint.is_none()) {
                return Err(ReductionError::Options(format!(
                    "joint `{}` closes a loop between a free base and the world or another free base, which the engine `reduced` does \
                     not support; use `articulated` or `full`",
                    joint.name
                )));
            }
            let freedoms = |side: &[usize], sign: f64| -> Vec<(usize, f64)> {
                let of = |&n: &usize| {
                    let link = &tree.links[n];
                    (link.first..link.first + link.count).map(move |i| (i, sign))
                };
                side.iter().flat_map(of).collect()
            };
            let path: Vec<(usize, f64)> = [freedoms(&up, 1.0), freedoms(&down, -1.0)].concat();
            let (in_parent, in_child) = mechanism.frames_in_nodes(joint);
            let own = LoopJoint {
                id,
                kind: joint.kind.clone(),
                child: child.unwrap_or(BASE),
                parent: parent.unwrap_or(BASE),
                in_child,
                in_parent,
                first: closures.freedoms.len(),
                at: closures.loop_values,
                path,
                linear: false,
            };
            for (k, coordinate) in joint.coordinates().enumerate() {
                let start = mechanism.start().map_or(0.0, |start| start.coordinates[coordinate]);
                let law = &laws[coordinate];
                if law.lower > f64::NEG_INFINITY || law.upper < f64::INFINITY {
                    closures.limited.push(tree.freedoms.len() + closures.freedoms.len());
                }
                let joint = closures.joints.len();
                closures.freedoms.push(LoopFreedom { coordinate, joint, own: k, start });
            }
            let rows = counted_rows(&own.kind, mechanism.kept(id), tree.radius);
            closures.loop_values += joint.freedoms.len() * own.path.len();
            let path: Vec<usize> = own.path.iter().map(|(i, _)| *i).collect();
            if !rows.is_empty() && !path.is_empty() {
                let what = What::Joint(closures.joints.len(), rows);
                closures.all.push(Closure::new(what, id, path, joint.rows().start));
            }
            closures.joints.push(own);
        }
        let first_row = 6 * mechanism.joints().len() - mechanism.coordinate_count();
        for (c, coupling) in mechanism.coupled().iter().enumerate() {
            // One of a joint that cannot move is ignored, as the mechanism's warnings say.
            let mut path: Vec<usize> = Vec::new();
            let mut end = |id: JointId| -> Option<End> {
                let mut place = |i: usize| {
                    path.iter().position(|other| *other == i).unwrap_or_else(|| {
                        path.push(i);
                        path.len() - 1
                    })
                };
                if let Some(link) = tree.links.iter().find(|link| link.joint == Some(id)) {
                    return Some(End::Tree(place(link.first)));
                }
                let joint = closures.joints.iter().find(|joint| joint.id == id)?;
                let places = joint.path.iter().map(|(i, _)| place(*i)).collect();
                Some(End::Loop(joint.first, places))
            };
            if let (Some(a), Some(b)) = (end(coupling.joint), end(coupling.of)) {
                let slides = mechanism[coupling.joint].kind.translations() > 0;
                let scale = if slides { 1.0 / tree.radius } else { 1.0 };
                let what = What::Coupling([(a, 1.0), (b, -coupling.ratio)], coupling.offset, scale);
                closures.all.push(Closure::new(what, coupling.joint, path, first_row + c));
            }
        }
        closures.number();
        Ok(closures)
    }

    /// Where the rows of closures are.
    fn number(&mut self) {
        (self.rows, self.values) = (0, 0);
        let in_groups: Vec<usize> = self.groups.iter().flat_map(|g| g.closures.clone()).collect();
        let order: Vec<usize> =
            if self.groups.is_empty() { (0..self.all.len()).collect() } else { in_groups };
        for c in order {
            let closure = &mut self.all[c];
            (closure.first, closure.at) = (self.rows, self.values);
            self.rows += closure.rows;
            self.values += closure.rows * closure.path.len();
        }
    }

    /// Finds coordinates of loop joints, nearest to those there, what is open and the rows, at a pose; of flat groups only if asked.
    pub fn evaluate(&self, tree: &Tree, places: &Places, at: &mut Evaluated, flat_too: bool) {
        for joint in &self.joints {
            joint.measure(tree, places, at);
        }
        for closure in self.all.iter().filter(|c| c.rows > 0 && (flat_too || !c.flat)) {
            let width = closure.path.len();
            let open = &mut at.open[closure.first..closure.first + closure.rows];
            let values = &mut at.values[closure.at..closure.at + closure.rows * width];
            match &closure.what {
                What::Joint(j, counted) => {
                    let joint = &self.joints[*j];
                    let (X, inner) = joint.place(places);
                    let q = &at.q[joint.first..joint.first + joint.kind.freedoms()];
                    let (C, J) = (joint.kind.residual(&X, q), joint.kind.rows(&X, q));
                    let count = 6 - q.len();
                    for (r, own) in counted.iter().enumerate() {
                        open[r] = (0..count).map(|i| own[i] * C[i]).sum();
                        let row = Matrix6::from_fn(|_, k| (0..count).map(|i| own[i] * J[(i, k)]).sum());
                        let g = outward(&inner, places, &row, 0);
                        joint.write(tree, places, &g, &mut values[r * width..(r + 1) * width]);
                    }
                }
                What::Coupling(ends, offset, scale) => {
                    let mut sum = -offset;
                    values.fill(0.0);
                    for (end, factor) in ends {
                        match end {
                            End::Tree(place) => {
                                sum += factor * places.coordinate(tree, closure.path[*place]);
                                values[*place] += factor * scale;
                            }
                            End::Loop(l, way) => {
                                sum += factor * at.q[*l];
                                let joint = &self.joints[self.freedoms[*l].joint];
                                let S = &at.loops[joint.at..joint.at + joint.path.len()];
                                way.iter().zip(S).for_each(|(p, S)| values[*p] += factor * scale * S);
                            }
                        }
                    }
                    open[0] = sum * scale;
                }
            }
        }
    }

    /// Groups of closures that share freedoms, with C₀ and Φ; rows that others imply are left out.
    fn group(&mut self, tree: &Tree, norms: &[f64], at: &Evaluated) -> Result<(), ReductionError> {
        let mut label: Vec<usize> = (0..self.all.len()).collect();
        let mut owner = vec![usize::MAX; norms.len()];
        for c in 0..self.all.len() {
            for &i in &self.all[c].path.clone() {
                if owner[i] == usize::MAX {
                    owner[i] = c;
                } else {
                    let (a, b) = (label[owner[i]], label[c]);
                    label.iter_mut().filter(|l| **l == b).for_each(|l| *l = a);
                }
            }
        }
        let mut names = label.clone();
        names.sort_unstable();
        names.dedup();
        let mut groups = Vec::new();
        for name in names {
            let members: Vec<usize> = (0..self.all.len()).filter(|c| label[*c] == name).collect();
            let mut freedoms: Vec<usize> = members.iter().flat_map(|c| self.all[*c].path.clone()).collect();
            freedoms.sort_unstable();
            freedoms.dedup();
            for &c in &members {
                let closure = &mut self.all[c];
                let place = |i: &usize| freedoms.binary_search(i).expect("of the group");
                closure.in_group = closure.path.iter().map(place).collect();
            }
            let rows: Vec<(usize, usize)> =
                members.iter().flat_map(|&c| (0..self.all[c].rows).map(move |r| (c, r))).collect();
            let mut C = DMatrix::zeros(rows.len(), freedoms.len());
            for (k, &(c, r)) in rows.iter().enumerate() {
                let closure = &self.all[c];
                for (p, &f) in closure.in_group.iter().enumerate() {
                    C[(k, f)] += at.values[closure.at + r * closure.path.len() + p];
                }
            }
            let softness = DVector::from_iterator(freedoms.len(), freedoms.iter().map(|i| 1.0 / norms[*i]));
            let kept = independent(&C, &softness);
            for k in (0..rows.len()).rev().filter(|k| !kept.contains(k)) {
                let (c, r) = rows[k];
                self.all[c].leave_out(r);
            }
            let C = C.select_rows(&kept);
            let soft = DMatrix::from_fn(C.ncols(), C.nrows(), |i, k| C[(k, i)] * softness[i]);
            let W = &C * &soft;
            let Some(factor) = W.cholesky() else {
                let joint = tree.mechanism[self.all[members[0]].joint].name.clone();
                return Err(ReductionError::LostLoops { joint });
            };
            let corrections = factor.solve(&soft.transpose());
            groups.push(Group {
                closures: members,
                first: 0,
                rows: kept.len(),
                start: C.transpose().as_slice().to_vec(),
                corrections: corrections.as_slice().to_vec(),
                freedoms,
                flat: false,
            });
        }
        self.groups = groups;
        self.number();
        for group in &mut self.groups {
            group.first = self.all[group.closures[0]].first;
        }
        Ok(())
    }

    /// Finds out which groups, and which coordinates of loop joints, are flat.
    fn flatten(
        &mut self,
        tree: &Tree,
        start: &[f64],
        first: &Evaluated,
        pose: &mut Posing,
        places: &mut Places,
    ) {
        let mut numbers = Numbers(7);
        let mut at = self.memory();
        let (mut open, mut bent) = (vec![0.0f64; self.all.len()], vec![0.0f64; self.joints.len()]);
        for sample in 0..SAMPLES {
            let mut x: Vec<f64> = start.iter().map(|_| numbers.between(-1.0, 1.0)).collect();
            self.project(&mut x);
            let unit = |i: usize| if slides(tree, i) { tree.radius } else { 1.0 };
            let most = x.iter().enumerate().map(|(i, x)| x.abs() / unit(i)).fold(0.0, f64::max);
            let size = SIZES[sample % SIZES.len()] / most.max(f64::MIN_POSITIVE);
            x.iter_mut().for_each(|x| *x *= size);
            let there: Vec<f64> = start.iter().zip(&x).map(|(a, x)| a + x).collect();
            pose.put(tree, places, &there);
            let along = |joint: &LoopJoint, k: usize| {
                let S = &first.loops[joint.at + k * joint.path.len()..][..joint.path.len()];
                joint.path.iter().zip(S).map(|((i, _), S)| S * x[*i]).sum::<f64>()
            };
            // Turns count on from where linear ones would be.
            for (l, freedom) in self.freedoms.iter().enumerate() {
                at.q[l] = first.q[l] + along(&self.joints[freedom.joint], freedom.own);
            }
            let expected = at.q.clone();
            self.evaluate(tree, places, &mut at, true);
            for (closure, open) in self.all.iter().zip(&mut open) {
                let own = &at.open[closure.first..closure.first + closure.rows];
                *open = own.iter().fold(*open, |most, x| most.max(x.abs()));
            }
            for (l, freedom) in self.freedoms.iter().enumerate() {
                let unit = if freedom.own < self.joints[freedom.joint].kind.translations() {
                    tree.radius
                } else {
                    1.0
                };
                let off = (at.q[l] - expected[l]).abs() / unit;
                bent[freedom.joint] = bent[freedom.joint].max(if off.is_finite() { off } else { 1.0 });
            }
        }
        // Rounding grows with the number of poses that are multiplied.
        let rounding = FLAT * (1.0 + tree.links.len() as f64 / 100.0);
        for group in &mut self.groups {
            group.flat = group.closures.iter().all(|c| open[*c] <= rounding);
            for &c in &group.closures {
                self.all[c].flat = group.flat;
            }
        }
        for (joint, bent) in self.joints.iter_mut().zip(bent) {
            joint.linear = bent <= rounding;
        }
        self.curved = self.groups.iter().any(|g| !g.flat) || self.joints.iter().any(|j| !j.linear);
    }

    /// P x, over all freedoms of the tree.
    pub fn project(&self, x: &mut [f64]) {
        let mut open = vec![0.0; self.rows];
        // Of long ladders C₀N⁻¹C₀ᵀ is ill conditioned, and so Φ not known to rounding: the second time takes out what that leaves.
        (0..2).for_each(|_| self.project_in(x, &mut open));
    }

    /// The same with memory for a number of each row.
    pub fn project_in(&self, x: &mut [f64], open: &mut [f64]) {
        for group in self.groups.iter().filter(|g| g.rows > 0) {
            let open = &mut open[..group.rows];
            for (open, row) in open.iter_mut().zip(group.start.chunks_exact(group.freedoms.len())) {
                *open = row.iter().zip(&group.freedoms).map(|(c, i)| c * x[*i]).sum();
            }
            for (i, row) in group.freedoms.iter().zip(group.corrections.chunks_exact(group.rows)) {
                x[*i] -= row.iter().zip(&*open).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }

    /// Rows C of all closures and S of loop joints' coordinates over all freedoms of the tree, at a pose.
    pub fn dense_rows(&self, tree: &Tree, places: &Places) -> (Vec<DVector<f64>>, Vec<DVector<f64>>) {
        let mut at = self.memory();
        at.q.iter_mut().zip(&self.freedoms).for_each(|(q, freedom)| *q = freedom.start);
        self.evaluate(tree, places, &mut at, true);
        let n = tree.freedoms.len();
        let mut rows = Vec::new();
        for closure in &self.all {
            for own in at.values[closure.at..].chunks_exact(closure.path.len()).take(closure.rows) {
                let mut row = DVector::zeros(n);
                own.iter().zip(&closure.path).for_each(|(c, i)| row[*i] += c);
                rows.push(row);
            }
        }
        let loops = self.freedoms.iter().map(|freedom| {
            let joint = &self.joints[freedom.joint];
            let mut row = DVector::zeros(n);
            let S = &at.loops[joint.at + freedom.own * joint.path.len()..];
            joint.path.iter().zip(S).for_each(|((i, _), S)| row[*i] += S);
            row
        });
        let loops = loops.collect();
        (rows, loops)
    }

    /// Takes rows S Θ of loop joints' coordinates where the mechanism starts.
    pub fn take_rows(&mut self, basis: &Basis) {
        self.stride = basis.stride;
        self.loop_rows = vec![0.0; self.freedoms.len() * basis.stride];
        for (l, freedom) in self.freedoms.iter().enumerate() {
            let joint = &self.joints[freedom.joint];
            let S = &self.over_path[joint.at + freedom.own * joint.path.len()..];
            let row = &mut self.loop_rows[l * basis.stride..(l + 1) * basis.stride];
            for ((i, _), S) in joint.path.iter().zip(S) {
                row.iter_mut().zip(basis.row(*i)).for_each(|(to, theta)| *to += S * theta);
            }
        }
    }

    /// The row S of a loop freedom over its path, where the mechanism starts, times something of the tree's freedoms.
    pub fn along(&self, l: usize, of: impl Fn(usize) -> f64) -> f64 {
        let freedom = &self.freedoms[l];
        let joint = &self.joints[freedom.joint];
        let S = &self.over_path[joint.at + freedom.own * joint.path.len()..];
        joint.path.iter().zip(S).map(|((i, _), S)| S * of(*i)).sum()
    }

    /// The forces of a closure's rows as multipliers of the state.
    pub fn multipliers(&self, lambda: &[f64], to: &mut [f64]) {
        for closure in &self.all {
            let own = &lambda[closure.first..closure.first + closure.rows];
            match &closure.what {
                What::Joint(j, counted) => {
                    let count = 6 - self.joints[*j].kind.freedoms();
                    for i in 0..count {
                        to[closure.multiplier + i] = counted.iter().zip(own).map(|(row, l)| row[i] * l).sum();
                    }
                }
                What::Coupling(_, _, scale) => {
                    to[closure.multiplier] = own.first().map_or(0.0, |l| l * scale);
                }
            }
        }
    }

    /// The child, the parent, and at the joint the wrench, world axes, that forces along its rows put on the child; `None` for a coupling.
    pub fn wrench(
        &self,
        c: usize,
        at: &Evaluated,
        places: &Places,
        lambda: &[f64],
    ) -> Option<(usize, usize, Vector3<f64>, Wrench)> {
        let What::Joint(j, counted) = &self.all[c].what else { return None };
        let joint = &self.joints[*j];
        let (X, inner) = joint.place(places);
        let q = &at.q[joint.first..joint.first + joint.kind.freedoms()];
        let J = joint.kind.rows(&X, q);
        let closure = &self.all[c];
        let own = &lambda[closure.first..closure.first + closure.rows];
        let row = Matrix6::from_fn(|_, k| {
            let of = |counted: &[f64; 6]| (0..6 - q.len()).map(|i| counted[i] * J[(i, k)]).sum::<f64>();
            counted.iter().zip(own).map(|(row, l)| of(row) * l).sum()
        });
        let local = Wrench::from_vector(&row.row(0).transpose());
        let world = Pose::new(inner.rotation, Vector3::zeros()).wrench_to_outer(&local);
        Some((joint.child, joint.parent, inner.position, world))
    }
}

impl Closure {
    fn new(what: What, joint: JointId, path: Vec<usize>, multiplier: usize) -> Closure {
        let rows = match &what {
            What::Joint(_, rows) => rows.len(),
            What::Coupling(..) => 1,
        };
        Closure { what, joint, path, in_group: Vec::new(), rows, first: 0, at: 0, flat: false, multiplier }
    }

    fn leave_out(&mut self, row: usize) {
        self.rows -= 1;
        if let What::Joint(_, rows) = &mut self.what {
            rows.remove(row);
        }
    }
}

/// Rows that are independent in the metric of softness.
fn independent(C: &DMatrix<f64>, softness: &DVector<f64>) -> Vec<usize> {
    let scaled = DMatrix::from_fn(C.nrows(), C.ncols(), |i, k| C[(i, k)] * softness[k].sqrt());
    let mut left: Vec<DVector<f64>> = scaled.row_iter().map(|row| row.transpose()).collect();
    let sizes: Vec<f64> = left.iter().map(|x| x.norm()).collect();
    let mut kept: Vec<usize> = Vec::new();
    // The row with most left of it next.
    loop {
        let part = |i: &usize| if sizes[*i] > 0.0 { left[*i].norm() / sizes[*i] } else { 0.0 };
        let best = (0..left.len()).filter(|i| !kept.contains(i)).max_by(|a, b| part(a).total_cmp(&part(b)));
        let Some(best) = best.filter(|i| part(i).powi(2) > REPEATED) else { break };
        let next = left[best].normalize();
        kept.push(best);
        for _ in 0..2 {
            for x in &mut left {
                let along = next.dot(x);
                x.axpy(-along, &next, 1.0);
            }
        }
    }
    kept.sort_unstable();
    kept
}

/// Coordinates of the tree's freedoms where it starts.
pub(super) fn start_of(tree: &Tree) -> Vec<f64> {
    let mut start = vec![0.0; tree.freedoms.len()];
    if let Some(at) = tree.mechanism.start() {
        tree.gather(&at.coordinates, &mut start);
    }
    start
}

/// Whether a freedom slides.
pub(super) fn slides(tree: &Tree, freedom: usize) -> bool {
    let link = &tree.links[tree.freedoms[freedom].link];
    match link.joint {
        Some(_) => freedom - link.first < link.kind.translations(),
        None => freedom - link.first < 3,
    }
}

/// Puts a tree where coordinates of its freedoms have it.
pub(super) struct Posing {
    basis: Basis,
    reference: Reference,
}

impl Posing {
    pub fn new(tree: &Tree) -> Posing {
        let joints = tree.freedoms.len() - 6 * tree.floats.len();
        Posing { basis: Basis::new(tree, &DMatrix::zeros(joints, 0)), reference: Reference::new(tree) }
    }

    pub fn put(&mut self, tree: &Tree, places: &mut Places, coordinates: &[f64]) {
        self.reference.set(tree, coordinates);
        places.put(tree, &self.basis, &self.reference, &vec![0.0; self.basis.count]);
    }
}
