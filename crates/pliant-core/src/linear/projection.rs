//! What the effectors feel of a mechanism: their compliance, and the maps from wrenches on them to every link.
//!
//! One column per component of each effector's wrench (effector frame, force then torque), solved with the
//! whole mechanism: C_EE, twist maps T of every node, wrench maps of every joint and coordinate maps Θ.

use nalgebra::{DMatrix, Vector3, Vector6};

use super::basis::Basis;
use super::component::{Part, parts};
use super::effectors::{EffectorFrame, in_node};
use super::error::ReductionError;
use super::incremental;
use super::kkt::{Columns, Kkt, Undetermined};
use super::reference::Reference;
use super::softness::softest;
use crate::mechanism::{BodyId, JointId, UnknownHandle};
use crate::spatial::{Pose, Twist, Wrench, skew};

/// How the maps are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One sparse solve, exact for any topology.
    #[default]
    Exact,
    /// The chains, splits and merges of Andrews 2015, corrected: exact on trees and on loops whose inside
    /// holds no effector and has no other way out.
    Incremental,
}

/// Compliance and maps of a reference pose.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The frames that wrenches act on, in order.
    pub(super) effectors: Vec<EffectorFrame>,
    /// C_EE, 6|E|×6|E|: wrenches to twists, effector frames.
    pub(super) compliance: DMatrix<f64>,
    /// T, wrench maps and Θ, one column per wrench component.
    pub(super) maps: Columns,
    /// Where the method is not exact: bodies at which branches merge.
    pub(super) inexact: Vec<String>,
}

impl Projection {
    /// C_EE, 6|E|×6|E|: from wrenches on the effectors to their twists, effector frames, linear part first. It is symmetric
    /// unless dead torques act at a loaded reference.
    pub fn compliance(&self) -> &DMatrix<f64> {
        &self.compliance
    }

    /// The effectors, in the order of the compliance.
    pub fn effectors(&self) -> &[EffectorFrame] {
        &self.effectors
    }

    /// Whether the method is exact here.
    pub fn is_exact(&self) -> bool {
        self.inexact.is_empty()
    }

    /// The bodies at which the incremental method merges branches that it does not treat exactly.
    pub fn inexact_at(&self) -> &[String] {
        &self.inexact
    }

    /// Number of independent motions of the effectors at the reference: of each part of the mechanism, the
    /// eigenvalues of its compliance above 1e-9 of the largest, translations over the radius.
    pub fn rank(&self, reference: &Reference) -> usize {
        self.rank_above(reference, 0.0)
    }

    /// The same, of those above this compliance too, rad/(N·m) with translations in radii.
    pub fn rank_above(&self, reference: &Reference, least: f64) -> usize {
        let rank = |part: &Part| {
            let here = |e: &usize| {
                in_node(reference, &self.effectors[*e])
                    .is_some_and(|(n, _)| part.nodes.binary_search(&n).is_ok())
            };
            let rows: Vec<usize> =
                (0..self.effectors.len()).filter(here).flat_map(|e| 6 * e..6 * e + 6).collect();
            let block = self.compliance.select_rows(&rows).select_columns(&rows);
            let block = (&block + block.transpose()) * 0.5;
            let basis = Basis::new(&block, reference.radius, softest(reference, part));
            basis.stiffness.iter().filter(|stiffness| **stiffness * least < 1.0).count()
        };
        parts(reference).iter().map(rank).sum()
    }

    /// The twist of a body (link frame) per unit of each wrench component, 6×6|E|.
    pub fn twist_map(&self, reference: &Reference, body: BodyId) -> Result<DMatrix<f64>, UnknownHandle> {
        reference.mechanism.body(body)?;
        let m = self.maps.columns;
        let (node, offset) = reference.place(body);
        let mut map = DMatrix::zeros(6, m);
        let Some(n) = node else { return Ok(map) };
        for k in 0..m {
            map.set_column(k, &offset.twist_to_local(&twist_at(&self.maps.nodes, n, m, k)).to_vector());
        }
        Ok(map)
    }

    /// The wrench that a joint passes on to its child (link frame) per unit of each wrench component, 6×6|E|: what
    /// the child's side of the mechanism takes from the effectors. Zero for a joint between bodies that move as one.
    pub fn wrench_map(&self, reference: &Reference, joint: JointId) -> Result<DMatrix<f64>, UnknownHandle> {
        let child = reference.mechanism.joint(joint)?.child;
        let m = self.maps.columns;
        let mut map = DMatrix::zeros(6, m);
        let Some(j) = reference.joints.iter().position(|other| other.id == joint) else { return Ok(map) };
        let (_, offset) = reference.place(child);
        for k in 0..m {
            let w = Wrench::from_vector(&Vector6::from_fn(|i, _| self.maps.wrenches[(6 * j + i) * m + k]));
            map.set_column(k, &offset.wrench_to_local(&w).to_vector());
        }
        Ok(map)
    }

    /// The coordinates of a joint per unit of each wrench component, d×6|E|.
    pub fn coordinate_map(
        &self,
        reference: &Reference,
        joint: JointId,
    ) -> Result<DMatrix<f64>, UnknownHandle> {
        let range = reference.mechanism.joint(joint)?.coordinates();
        let m = self.maps.columns;
        Ok(DMatrix::from_fn(range.len(), m, |i, k| self.maps.coordinates[(range.start + i) * m + k]))
    }
}

/// A compliance below this part of the softest joint's, in units of the radius, is what rounding leaves of none.
const RIGID: f64 = 1e-12;

/// Column k of a node's twist map.
pub(super) fn twist_at(nodes: &[f64], n: usize, columns: usize, k: usize) -> Twist {
    Twist::from_vector(&Vector6::from_fn(|i, _| nodes[(6 * n + i) * columns + k]))
}

/// Computes the projection of a reference under dead torques on nodes, in their frames; the incremental method takes none.
pub(super) fn project(
    reference: &Reference,
    kkt: &Kkt,
    effectors: Vec<EffectorFrame>,
    torques: &[(usize, Vector3<f64>)],
    method: Method,
) -> Result<Projection, ReductionError> {
    let places: Vec<Option<(usize, Pose)>> = effectors.iter().map(|e| in_node(reference, e)).collect();
    let m = 6 * effectors.len();
    let all = m + 3 * torques.len();
    let mut maps = Columns::new(reference, all);
    let inexact = match method {
        Method::Exact => {
            for (e, place) in places.iter().enumerate() {
                let Some((n, frame)) = place else { continue };
                for k in 0..6 {
                    let unit = Wrench::from_vector(&Vector6::ith(k, 1.0));
                    let w = frame.wrench_to_outer(&unit).to_vector();
                    (0..6).for_each(|i| maps.nodes[(6 * n + i) * all + 6 * e + k] = w[i]);
                }
            }
            for (t, (n, _)) in torques.iter().enumerate() {
                (0..3).for_each(|k| maps.nodes[(6 * n + 3 + k) * all + m + 3 * t + k] = 1.0);
            }
            kkt.solve(&mut maps).map_err(|at| not_held(reference, &effectors, at))?;
            Vec::new()
        }
        Method::Incremental => incremental::project(reference, &places, &mut maps)
            .map_err(|at| not_held(reference, &effectors, at))?,
    };
    let mut maps = maps.kept();
    if !torques.is_empty() {
        maps = turn(&maps, m, torques).ok_or_else(|| {
            ReductionError::Options("the mechanism buckles under these torques: use smaller ones".into())
        })?;
    }
    let mut compliance = DMatrix::zeros(m, m);
    for (e, place) in places.iter().enumerate() {
        let Some((n, frame)) = place else { continue };
        for k in 0..m {
            let twist = frame.twist_to_local(&twist_at(&maps.nodes, *n, m, k)).to_vector();
            compliance.fixed_view_mut::<6, 1>(6 * e, k).copy_from(&twist);
        }
    }
    // Without torques it is symmetric, rounding aside.
    if torques.is_empty() {
        compliance = (&compliance + compliance.transpose()) * 0.5;
    }
    let parts = parts(reference);
    for (e, (effector, place)) in effectors.iter().zip(&places).enumerate() {
        let part = place.and_then(|(n, _)| parts.iter().find(|part| part.nodes.contains(&n)));
        let softest = part.map_or(0.0, |part| softest(reference, part));
        let length = |i: usize| if i % 6 < 3 { reference.radius } else { 1.0 };
        let of = |i: usize, k: usize| compliance[(i, 6 * e + k)].abs() / (length(i) * length(k));
        let most =
            (0..m).flat_map(|i| (0..6).map(move |k| (i, k))).map(|(i, k)| of(i, k)).fold(0.0, f64::max);
        let still = most <= RIGID * softest;
        let on_free_base = place.is_some_and(|(n, _)| !reference.moves(n));
        let carries = reference.carried_by(effector).is_some();
        // Only an exact method can decide it.
        if still && !on_free_base && !carries && inexact.is_empty() {
            return Err(immovable(reference, effector, place.map(|(n, _)| n)));
        }
    }
    Ok(Projection { effectors, compliance, maps, inexact })
}

/// The first m columns with A = −½\[τ\] on the turns of nodes added to the stiffness, from them and the columns Z of unit
/// torques on these nodes, three each: (K + A)⁻¹ = K⁻¹ − Z (I + A UᵀZ)⁻¹ A UᵀK⁻¹, U of these turns (Woodbury 1950). `None`
/// if there is no inverse.
fn turn(maps: &Columns, m: usize, torques: &[(usize, Vector3<f64>)]) -> Option<Columns> {
    let (all, n) = (maps.columns, 3 * torques.len());
    let turns = |i: usize, k: usize| maps.nodes[(6 * torques[i / 3].0 + 3 + i % 3) * all + k];
    let mut A = DMatrix::zeros(n, n);
    for (t, (_, torque)) in torques.iter().enumerate() {
        A.fixed_view_mut::<3, 3>(3 * t, 3 * t).copy_from(&(skew(torque) * -0.5));
    }
    let own = DMatrix::from_fn(n, n, |i, k| turns(i, m + k));
    let W = (DMatrix::identity(n, n) + &A * own).lu().solve(&(A * DMatrix::from_fn(n, m, turns)))?;
    let of = |list: &[f64]| -> Vec<f64> {
        let row = |row: &[f64]| -> Vec<f64> {
            (0..m).map(|k| row[k] - (0..n).map(|i| row[m + i] * W[(i, k)]).sum::<f64>()).collect()
        };
        list.chunks_exact(all).flat_map(row).collect()
    };
    let mut turned = maps.clone();
    turned.columns = m;
    for list in [&mut turned.nodes, &mut turned.coordinates, &mut turned.wrenches] {
        *list = of(list);
    }
    Some(turned)
}

/// The error of a solve that failed. It names the effector whose load drives a motion that nothing holds; if that
/// is not known, the first that hangs on the joint.
pub(super) fn not_held(
    reference: &Reference,
    effectors: &[EffectorFrame],
    at: Undetermined,
) -> ReductionError {
    let mechanism = &reference.mechanism;
    let joint = mechanism[at.joint].name.clone();
    if at.lost {
        return ReductionError::LostLoops { joint };
    }
    let hangs = |effector: &&EffectorFrame| {
        let mut node = reference.place(effector.body).0;
        while let Some(n) = node {
            let Some(j) = reference.tree[n] else { break };
            if reference.joints[j].id == at.joint {
                return true;
            }
            node = reference.joints[j].parent;
        }
        false
    };
    let driven = at.column.and_then(|column| effectors.get(column / 6));
    let effector = driven.or_else(|| effectors.iter().find(hangs)).unwrap_or(&effectors[0]);
    ReductionError::NotHeld {
        effector: effector.name.clone(),
        body: mechanism[effector.body].name.clone(),
        joint,
    }
}

/// Links that move with a joint that nothing determines, under a load that is not on the effectors.
pub(super) fn loose(reference: &Reference, at: Undetermined) -> ReductionError {
    let joint = reference.mechanism[at.joint].name.clone();
    if at.lost { ReductionError::LostLoops { joint } } else { ReductionError::Loose { joint } }
}

fn immovable(reference: &Reference, effector: &EffectorFrame, node: Option<usize>) -> ReductionError {
    let mechanism = &reference.mechanism;
    let why = match node.and_then(|n| reference.tree[n]) {
        Some(j) => {
            let joint = &mechanism[reference.joints[j].id].name;
            format!("loops or couplings hold joint `{joint}`, which moves it, and all joints before that")
        }
        None => "it is welded to the world".into(),
    };
    let body = mechanism[effector.body].name.clone();
    ReductionError::Immovable { effector: effector.name.clone(), body, why }
}
