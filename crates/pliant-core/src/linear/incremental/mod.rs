//! The incremental method of Andrews 2015 (Algorithms 1 and 2), with the corrections below: chains, splits and
//! merges, one small matrix per body, no system to solve.
//!
//! 1. *Compliance*, root to leaves. Each node gets one step from its dominator, the last node that all paths to
//!    it share: F with C = F Fᵀ, and the motions P of passive freedoms. In a chain or at a split that is the
//!    joint itself (eq. 10: C_bb = J Cθ Jᵀ + Ad C_aa Adᵀ, of which only the first part is kept); at a merge it is
//!    what all branches do together ([`merge`]).
//! 2. *Wrenches*, leaves to root (Algorithm 2, eqs 15 and 18): f_n adds up what effectors and all joints below
//!    pass on. A merge divides f_n among its joints.
//! 3. *Twists*, root to leaves: T_n = Ad(n,d) T_d + F Fᵀ f_n + P φ, with d the dominator, and φ from the merge that
//!    closes the loop around a passive freedom. (Eq. 22 counts twice what two splits in a row share, and fails
//!    where an effector has bodies below.)
//!
//! It is exact for trees, and for loops that hold no effector between the dominator of their merge and the merge,
//! and lead nowhere else ([`graph`]), passive freedoms included. It knows nothing of couplings or geometric
//! stiffness. Where it is not exact, a passive freedom that is held by what it does not see stands still.

mod graph;
mod merge;

use nalgebra::{DMatrix, Matrix6, Matrix6xX};

use super::kkt::{Columns, Undetermined};
use super::reference::Reference;
use crate::mechanism::JointId;
use crate::spatial::Pose;
use graph::{Edge, Graph, adjoint, in_radii};
use merge::Merge;

/// The part of a wrench along a passive freedom that is not rounding, as in the exact method.
const UNHELD: f64 = 1e-9;

/// The step from a node's dominator to the node.
enum Step {
    /// One joint, or several of which none carries anything and the tree's is taken.
    Joint(usize),
    /// Several joints.
    Merge(Box<Branches>),
}

/// The branches that end at a node.
struct Branches {
    merge: Merge,
    /// Nodes between the dominator and the merge that it passes on the way, with the first of their passive motions
    /// among those of the merge.
    passed: Vec<(usize, usize)>,
}

struct Steps<'a> {
    reference: &'a Reference,
    graph: Graph,
    /// Per node; `None` for a free base.
    steps: Vec<Option<Step>>,
}

/// Fills the maps; returns the bodies at which they are not exact, none if they are.
pub(super) fn project(
    reference: &Reference,
    places: &[Option<(usize, Pose)>],
    maps: &mut Columns,
) -> Result<Vec<String>, Undetermined> {
    let moving = |place: &Option<(usize, Pose)>| place.map(|(n, _)| n).filter(|&n| reference.moves(n));
    let effectors: Vec<usize> = places.iter().filter_map(moving).collect();
    let steps = Steps::new(reference, &effectors);
    let inexact = inexact(reference, &steps.graph);

    let m = maps.columns;
    let mut f: Vec<Matrix6xX<f64>> = vec![Matrix6xX::zeros(m); reference.poses.len() + 1];
    for (e, place) in places.iter().enumerate() {
        let Some((n, frame)) = place else { continue };
        // w of the node = Ad(frame)⁻ᵀ w of the effector; forces times radius.
        let W = frame.inverse().adjoint().transpose();
        let scale = |i: usize| if i < 3 { reference.radius } else { 1.0 };
        (0..36).for_each(|ik| f[*n][(ik / 6, 6 * e + ik % 6)] += W[(ik / 6, ik % 6)] * scale(ik / 6));
    }
    let lambda = steps.wrenches(&mut f);
    if inexact.is_empty() {
        steps.check_held(&f)?;
    }
    let phi = steps.passive_motions(&f, &lambda);
    let T = steps.twists(&f, &phi, m);
    steps.write(&lambda, &T, maps);
    Ok(inexact)
}

/// The names of bodies at which something acts that the method does not see.
fn inexact(reference: &Reference, graph: &Graph) -> Vec<String> {
    let mechanism = &reference.mechanism;
    let head = |n: usize| mechanism.order().nodes()[n].head;
    let mut bodies: Vec<_> = graph.open.iter().map(|&n| head(n)).collect();
    for coupling in mechanism.coupled() {
        bodies.extend([coupling.joint, coupling.of].map(|j| mechanism[j].child));
    }
    bodies.extend(reference.geometric.iter().flat_map(|(a, b, _)| [head(*a), head(*b)]));
    bodies.sort_by_key(|b| b.index());
    bodies.dedup();
    bodies.into_iter().map(|b| mechanism[b].name.clone()).collect()
}

impl<'a> Steps<'a> {
    /// Compliance, root to leaves.
    fn new(reference: &'a Reference, effectors: &[usize]) -> Steps<'a> {
        let graph = Graph::new(reference, effectors);
        let mut out = Steps { reference, graph, steps: Vec::with_capacity(reference.poses.len()) };
        let mut column_of = vec![None; reference.poses.len()];
        for n in 0..reference.poses.len() {
            let step = match out.graph.into[n].as_slice() {
                [] => None,
                [edge] => Some(Step::Joint(*edge)),
                _ if out.graph.loaded[n] => Some(Step::Merge(Box::new(out.branches(n, &mut column_of)))),
                edges => {
                    let is_tree = |e: &&usize| reference.tree[n] == Some(out.graph.edges[**e].joint);
                    Some(Step::Joint(*edges.iter().find(is_tree).expect("a tree joint leads here")))
                }
            };
            out.steps.push(step);
        }
        out
    }

    /// F and P of a node's step.
    fn motions(&self, n: usize) -> (&DMatrix<f64>, &DMatrix<f64>) {
        match self.steps[n].as_ref().expect("not the root") {
            Step::Joint(e) => (&self.graph.edges[*e].F, &self.graph.edges[*e].P),
            Step::Merge(branches) => (&branches.merge.F, &branches.merge.P),
        }
    }

    /// The step from the dominator of a merge: the steps of each branch, and its last joint.
    fn branches(&self, m: usize, column_of: &mut [Option<(usize, usize)>]) -> Branches {
        let (graph, d) = (&self.graph, self.graph.dominators.parent[m]);
        let into = &graph.into[m];
        let path = |e: usize| {
            std::iter::successors(Some(graph.edges[e].from), |&n| Some(graph.dominators.parent[n]))
                .take_while(move |&n| n != d)
        };
        let mut passed: Vec<(usize, usize)> = Vec::new();
        let (mut c, mut q) = (0, 0);
        for n in into.iter().flat_map(|&e| path(e)) {
            if column_of[n].is_none() {
                column_of[n] = Some((c, q));
                passed.push((n, q));
                let (F, P) = self.motions(n);
                (c, q) = (c + F.ncols(), q + P.ncols());
            }
        }
        let own = |e: usize| (graph.edges[e].F.ncols(), graph.edges[e].P.ncols());
        let count = into.iter().map(|&e| own(e)).fold((c, q), |(c, q), (f, p)| (c + f, q + p));
        let mut F = DMatrix::zeros(6 * into.len(), count.0);
        let mut P = DMatrix::zeros(6 * into.len(), count.1);
        for (i, &e) in into.iter().enumerate() {
            for n in path(e) {
                // Eqs 10 and 12: what moves n relative to the dominator moves the end by Ad(m,n) of it.
                let Ad = adjoint(self.reference, m, n);
                let (F_n, P_n) = self.motions(n);
                let (c, q) = column_of[n].expect("just given");
                F.view_mut((6 * i, c), F_n.shape()).copy_from(&(Ad * F_n));
                P.view_mut((6 * i, q), P_n.shape()).copy_from(&(Ad * P_n));
            }
            let edge = &graph.edges[e];
            F.view_mut((6 * i, c), edge.F.shape()).copy_from(&edge.F);
            P.view_mut((6 * i, q), edge.P.shape()).copy_from(&edge.P);
            (c, q) = (c + edge.F.ncols(), q + edge.P.ncols());
        }
        passed.iter().for_each(|&(n, _)| column_of[n] = None);
        Branches { merge: Merge::new(F, &P), passed }
    }

    /// Ad(to, from) of an edge.
    fn across(&self, edge: &Edge) -> Matrix6<f64> {
        adjoint(self.reference, edge.to, edge.from)
    }

    /// Wrenches, leaves to root: λ of each edge, in the frame of the node it leads to. `f` has the loads of the nodes,
    /// and gets all that passes through them.
    fn wrenches(&self, f: &mut [Matrix6xX<f64>]) -> Vec<Option<Matrix6xX<f64>>> {
        let root = self.steps.len();
        let mut lambda: Vec<Option<Matrix6xX<f64>>> = vec![None; self.graph.edges.len()];
        for n in (0..root).rev().filter(|&n| self.graph.loaded[n]) {
            match &self.steps[n] {
                None => continue,
                Some(Step::Joint(e)) => lambda[*e] = Some(f[n].clone()),
                Some(Step::Merge(branches)) => {
                    for (i, &e) in self.graph.into[n].iter().enumerate() {
                        lambda[e] = Some(branches.merge.shares.fixed_rows::<6>(6 * i) * &f[n]);
                    }
                }
            }
            // Eqs 15, 18: f_a += Ad(b,a)ᵀ λ.
            for &e in &self.graph.into[n] {
                let edge = &self.graph.edges[e];
                if edge.from != root {
                    let passed = self.across(edge).tr_mul(lambda[e].as_ref().expect("just set"));
                    f[edge.from] += passed;
                }
            }
        }
        lambda
    }

    /// That no wrench acts along a passive freedom.
    fn check_held(&self, f: &[Matrix6xX<f64>]) -> Result<(), Undetermined> {
        for (n, f) in f[..self.steps.len()].iter().enumerate() {
            if self.steps[n].is_none() {
                continue;
            }
            let along = self.motions(n).1.tr_mul(f);
            if let Some(column) = along.column_iter().position(|c| c.amax() > UNHELD * f.amax()) {
                return Err(Undetermined { joint: self.passive_joint(n), column: Some(column), lost: false });
            }
        }
        Ok(())
    }

    /// A passive joint that lets a node move from its dominator.
    fn passive_joint(&self, n: usize) -> JointId {
        let mut ahead = vec![n];
        while let Some(n) = ahead.pop() {
            let passive = |e: &&usize| self.graph.edges[**e].P.ncols() > 0;
            if let Some(&e) = self.graph.into[n].iter().find(passive) {
                return self.reference.joints[self.graph.edges[e].joint].id;
            }
            if let Some(Step::Merge(branches)) = &self.steps[n] {
                let passive = |n: &usize| self.motions(*n).1.ncols() > 0;
                ahead.extend(branches.passed.iter().map(|(n, _)| *n).filter(passive));
            }
        }
        unreachable!("a node that moves freely is carried by a passive joint")
    }

    /// φ of each node's step: outer loops before those inside. What no loop closes does not move.
    fn passive_motions(
        &self,
        f: &[Matrix6xX<f64>],
        lambda: &[Option<Matrix6xX<f64>>],
    ) -> Vec<Option<DMatrix<f64>>> {
        let mut phi: Vec<Option<DMatrix<f64>>> = vec![None; self.steps.len()];
        for n in (0..self.steps.len()).rev() {
            let Some(Step::Merge(branches)) = &self.steps[n] else { continue };
            let passive = |n: usize| self.motions(n).1.ncols();
            if branches.passed.iter().all(|&(n, _)| passive(n) == 0) {
                continue;
            }
            let into = &self.graph.into[n];
            let W = DMatrix::from_fn(6 * into.len(), f[n].ncols(), |i, k| {
                lambda[into[i / 6]].as_ref().expect("a merge divides what it carries")[(i % 6, k)]
            });
            let motions = branches.merge.passive_motions(&W, &self.moved(n, &f[n], &phi[n]));
            for &(n, q) in branches.passed.iter().filter(|(n, _)| passive(*n) > 0) {
                phi[n] = Some(motions.rows(q, passive(n)).into_owned());
            }
        }
        phi
    }

    /// F Fᵀ f + P φ: the motion of a node relative to its dominator.
    fn moved(&self, n: usize, f: &Matrix6xX<f64>, phi: &Option<DMatrix<f64>>) -> DMatrix<f64> {
        let (F, P) = self.motions(n);
        let strained = F * F.tr_mul(f);
        match phi {
            Some(phi) => strained + P * phi,
            None => strained,
        }
    }

    /// Twists, root to leaves.
    fn twists(&self, f: &[Matrix6xX<f64>], phi: &[Option<DMatrix<f64>>], m: usize) -> Vec<Matrix6xX<f64>> {
        let root = self.steps.len();
        let mut T: Vec<Matrix6xX<f64>> = vec![Matrix6xX::zeros(m); root + 1];
        for (n, step) in self.steps.iter().enumerate() {
            let Some(step) = step else { continue };
            // A merge that carries nothing moves with the parent in the tree.
            let before = match step {
                Step::Joint(e) => self.graph.edges[*e].from,
                Step::Merge(_) => self.graph.dominators.parent[n],
            };
            let carried = adjoint(self.reference, n, before) * &T[before];
            T[n] = carried + self.moved(n, &f[n], &phi[n]);
        }
        T
    }

    /// Twists, wrenches and coordinates in the reference's terms.
    fn write(&self, lambda: &[Option<Matrix6xX<f64>>], T: &[Matrix6xX<f64>], maps: &mut Columns) {
        let (reference, m, root) = (self.reference, maps.columns, self.steps.len());
        let r = reference.radius;
        let unit = |i: usize| if i < 3 { r } else { 1.0 };
        for n in 0..root {
            for i in 0..6 {
                (0..m).for_each(|k| maps.nodes[(6 * n + i) * m + k] = T[n][(i, k)] * unit(i));
            }
        }
        maps.coordinates.fill(0.0);
        maps.wrenches.fill(0.0);
        for (edge, lambda) in self.graph.edges.iter().zip(lambda) {
            let joint = &reference.joints[edge.joint];
            let wrench = match lambda {
                Some(lambda) if edge.turned => {
                    // What the child passes up is the opposite of what the parent does.
                    let child = joint.child.unwrap_or(root);
                    -(adjoint(reference, edge.to, child).tr_mul(lambda))
                }
                Some(lambda) => lambda.clone(),
                None => Matrix6xX::zeros(m),
            };
            for i in 0..6 {
                (0..m).for_each(|k| maps.wrenches[(6 * edge.joint + i) * m + k] = wrench[(i, k)] / unit(i));
            }
            // θ = Cθ Jᵀ λ for sprung freedoms; passive ones take what is left of ξ_c − Ad ξ_p.
            let d = joint.freedoms();
            let translation = |k: usize| if k < joint.kind.translations() { r } else { 1.0 };
            let J = DMatrix::from_fn(6, d, |i, k| joint.motion[(i, k)] / unit(i) * translation(k));
            let mut theta = J.tr_mul(&wrench);
            let passive: Vec<usize> = (0..d).filter(|&k| joint.stiffness[k] == 0.0).collect();
            for k in 0..d {
                let C = match joint.stiffness[k] {
                    0.0 => 0.0,
                    stiffness => 1.0 / (stiffness * translation(k) * translation(k)),
                };
                theta.row_mut(k).scale_mut(C);
            }
            if !passive.is_empty() {
                let at = |n: Option<usize>| &T[n.unwrap_or(root)];
                let left =
                    at(joint.child) - in_radii(reference, &joint.across) * at(joint.parent) - &J * &theta;
                let J = J.select_columns(&passive);
                let free =
                    (J.tr_mul(&J).cholesky().expect("freedoms are independent")).solve(&J.tr_mul(&left));
                passive.iter().enumerate().for_each(|(i, &k)| theta.row_mut(k).copy_from(&free.row(i)));
            }
            for k in 0..d {
                let to = &mut maps.coordinates[(joint.coordinate + k) * m..][..m];
                to.iter_mut().enumerate().for_each(|(c, to)| *to = theta[(k, c)] * translation(k));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::effectors::{choose, in_node};
    use super::*;
    use crate::gallery::{Passive, RandomOptions, random, y};

    /// Every node is in balance: what its own joint passes up is the load and what comes from the joints below,
    /// whatever the loops, and whichever way round a joint was taken.
    #[test]
    fn wrenches_balance() {
        let (mut checked, mut turned) = (0, 0);
        for seed in 0..600 {
            let passive = [Passive::Never, Passive::InLoops][seed as usize % 2];
            let options = RandomOptions { loops: 0.3, passive, ..RandomOptions::default() };
            let mechanism = random(seed, &options);
            let reference = Reference::at_rest(&mechanism);
            let places: Vec<_> =
                choose(&mechanism, None).unwrap().iter().map(|e| in_node(&reference, e)).collect();
            let m = 6 * places.len();
            let mut maps = Columns::new(&reference, m);
            let Ok(inexact) = project(&reference, &places, &mut maps) else { continue };
            if !inexact.is_empty() {
                continue;
            }
            checked += 1;
            let effectors: Vec<usize> = places.iter().flatten().map(|(n, _)| *n).collect();
            let graph = Graph::new(&reference, &effectors);
            let wrench = |j: usize| Matrix6xX::from_fn(m, |i, k| maps.wrenches[(6 * j + i) * m + k]);
            turned += graph.edges.iter().filter(|e| e.turned && wrench(e.joint).amax() > 0.0).count();
            let mut left: Vec<Matrix6xX<f64>> = vec![Matrix6xX::zeros(m); reference.poses.len()];
            for (e, place) in places.iter().enumerate() {
                let Some((n, frame)) = place else { continue };
                let load = frame.inverse().adjoint().transpose();
                left[*n].fixed_columns_mut::<6>(6 * e).copy_from(&load);
            }
            let mut largest = 1.0f64;
            for (j, joint) in reference.joints.iter().enumerate() {
                let wrench = wrench(j);
                largest = largest.max(wrench.amax());
                if let Some(n) = joint.parent {
                    left[n] += joint.across.tr_mul(&wrench);
                }
                if let Some(n) = joint.child {
                    left[n] -= wrench;
                }
            }
            // Rounding of sums over the joints of a node.
            let off = left.iter().map(|f| f.amax()).fold(0.0, f64::max) / largest;
            assert!(off < 1e-13, "seed {seed}: {off:e}");
        }
        assert_eq!((checked, turned), (157, 16), "mechanisms, and joints taken the other way round");
    }
    #[test]
    fn names_bodies_with_geometric_stiffness() {
        let mechanism = y();
        let mut reference = Reference::at_rest(&mechanism);
        let places: Vec<_> =
            choose(&mechanism, None).unwrap().iter().map(|e| in_node(&reference, e)).collect();
        let mut maps = Columns::new(&reference, 12);
        assert!(project(&reference, &places, &mut maps).unwrap().is_empty());
        reference.geometric.push((1, 0, Matrix6::identity()));
        assert_eq!(project(&reference, &places, &mut maps).unwrap(), ["stem0", "stem1"]);
    }
}
