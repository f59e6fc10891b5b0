//! The mass at the effectors, three ways that the literature has and Pliant does not simulate with.
//!
//! | mass | A: acceleration of the effectors per wrench on them |
//! |---|---|
//! | accelerability (Andrews 2015) | each joint's own accelerability (JᵀM_cJ)⁻¹, projected as compliances are |
//! | composite accelerability | the same with the inertia of everything that the joint carries |
//! | operational space (Khatib 1987) | what a wrench accelerates with all springs left out |
//!
//! Unknowns are the speeds v of all joints, those that close loops included. Closures are G v = 0; with Z a basis of
//! their null space and E the Jacobian of the effectors,
//!
//! ```text
//! A = E Z (Zᵀ M Z)⁻¹ Zᵀ Eᵀ
//! ```
//!
//! M is the mass matrix for the operational space, and for accelerabilities the blocks JᵀM_cJ of all joints. A linear model
//! measures it in its coordinates y = UᵀS ξ_E: M_y = (UᵀS A (UᵀS)ᵀ)⁻¹.

use pliant::articulated::{self, Dynamics};
use pliant::linear::{Linearisation, Model};
use pliant::mechanism::{JointId, Mechanism};
use pliant::nalgebra::{DMatrix, Matrix6};
use pliant::spatial::{Pose, SpatialInertia};
use pliant_cli::failure::Failure;

/// Why a handle is good.
const OWN: &str = "a handle of this mechanism";

/// Closures that loops repeat leave singular values below this part of the largest.
const REPEATED: f64 = 1e-10;

/// Which mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mass {
    /// Of each joint, with its link's own inertia.
    Accelerability,
    /// Of each joint, with the inertia of everything it carries.
    CompositeAccelerability,
    /// Of all links, without springs.
    OperationalSpace,
}

/// A mechanism reduced to its effectors where it starts, with this mass.
pub fn model(mechanism: &Mechanism, mass: Mass) -> Result<Model, Failure> {
    let condensed = Linearisation::at_rest(mechanism).build().map_err(Failure::job)?;
    condensed.with_accelerability(&accelerability(mechanism, mass)?).map_err(Failure::job)
}

/// A, 6|E|×6|E|, effector frames.
fn accelerability(mechanism: &Mechanism, mass: Mass) -> Result<DMatrix<f64>, Failure> {
    let model = articulated::Model::new(mechanism);
    let speeds = Speeds::new(mechanism, &model);
    let M = match mass {
        Mass::Accelerability => speeds.joint_inertias(false),
        Mass::CompositeAccelerability => speeds.joint_inertias(true),
        Mass::OperationalSpace => speeds.mass(),
    };
    let Z = null_space(speeds.closures());
    let EZ = speeds.effectors() * &Z;
    let along = Z.tr_mul(&(M * &Z)).cholesky();
    let along = along.ok_or_else(|| {
        Failure::job(format!("{}: some motion that closes all loops has no mass", mechanism.name()))
    })?;
    Ok(&EZ * along.solve(&EZ.transpose()))
}

/// Speeds of the tree's joints, as the articulated engine has them, then those of loop joints.
struct Speeds<'m> {
    mechanism: &'m Mechanism,
    model: &'m articulated::Model,
    dynamics: Dynamics,
    /// First speed of each loop joint, in the order of the mechanism's.
    of_loops: Vec<usize>,
    count: usize,
}

impl<'m> Speeds<'m> {
    fn new(mechanism: &'m Mechanism, model: &'m articulated::Model) -> Speeds<'m> {
        let mut count = model.speeds();
        let of_loops = (mechanism.order().loop_joints().iter())
            .map(|&joint| {
                let first = count;
                count += mechanism[joint].kind.freedoms();
                first
            })
            .collect();
        Speeds { mechanism, model, dynamics: model.dynamics(), of_loops, count }
    }

    /// First speed of a joint.
    fn first(&self, joint: JointId) -> usize {
        let loops = self.mechanism.order().loop_joints();
        match loops.iter().position(|&other| other == joint) {
            Some(k) => self.of_loops[k],
            None => {
                let child = self.mechanism[joint].child;
                self.model.speeds_of(child).expect(OWN).expect("a joint that moves carries its child").start
            }
        }
    }

    /// The mechanism's coordinates of a joint where it starts.
    fn coordinates(&self, joint: JointId) -> &[f64] {
        &self.dynamics.state().coordinates[self.mechanism[joint].coordinates()]
    }

    /// E, the effectors below each other.
    fn effectors(&self) -> DMatrix<f64> {
        let count = self.mechanism.effectors().len();
        let mut E = DMatrix::zeros(6 * count, self.count);
        for e in 0..count {
            let J = self
                .dynamics
                .effector_jacobian(self.mechanism.effector_ids().nth(e).expect("an effector"))
                .expect(OWN);
            E.view_mut((6 * e, 0), J.shape()).copy_from(&J);
        }
        E
    }

    /// G, six rows for each loop joint and one for each coupling.
    fn closures(&self) -> DMatrix<f64> {
        let (mechanism, loops) = (self.mechanism, self.mechanism.order().loop_joints());
        let mut G = DMatrix::zeros(6 * loops.len() + mechanism.couplings().len(), self.count);
        for (k, (&id, &first)) in loops.iter().zip(&self.of_loops).enumerate() {
            let (joint, q) = (&mechanism[id], self.coordinates(id));
            // ξ of the joint's frame on the child, less that of the parent's at the same place, is S q̇.
            let child =
                self.dynamics.jacobian(joint.child, &mechanism.frame_in_child(&mechanism[id])).expect(OWN);
            let there = mechanism.frame_in_parent(&mechanism[id]) * joint.kind.transform(q);
            let parent = joint.parent.map(|body| self.dynamics.jacobian(body, &there).expect(OWN));
            let apart = parent.map_or(child.clone(), |parent| child - parent);
            G.view_mut((6 * k, 0), apart.shape()).copy_from(&apart);
            let S = joint.kind.subspace(q);
            (0..joint.kind.freedoms())
                .for_each(|c| G.fixed_view_mut::<6, 1>(6 * k, first + c).copy_from(&-S.column(c)));
        }
        for (k, coupling) in mechanism.couplings().iter().enumerate() {
            let row = 6 * loops.len() + k;
            G[(row, self.first(coupling.joint))] += 1.0;
            G[(row, self.first(coupling.of))] -= coupling.ratio;
        }
        G
    }

    /// Rotors of all joints.
    fn rotors(&self) -> DMatrix<f64> {
        let mut M = DMatrix::zeros(self.count, self.count);
        for j in 0..self.mechanism.joints().len() {
            let joint = self.mechanism.joint_ids().nth(j).expect("a joint");
            for (k, freedom) in self.mechanism[joint].freedoms.iter().enumerate() {
                let at = self.first(joint) + k;
                M[(at, at)] += freedom.armature;
            }
        }
        M
    }

    /// The mass matrix: Σ JᵀM_nJ over all nodes, and rotors.
    fn mass(&self) -> DMatrix<f64> {
        let mut M = self.rotors();
        for node in self.mechanism.order().nodes() {
            let J = self.dynamics.jacobian(node.head, &Pose::identity()).expect(OWN);
            let own = J.tr_mul(&(node.inertia.matrix() * &J));
            let mut block = M.view_mut((0, 0), own.shape());
            block += own;
        }
        M
    }

    /// JᵀM_cJ of all joints, J the motion of the child by the joint alone, and rotors.
    fn joint_inertias(&self, composite: bool) -> DMatrix<f64> {
        let (mechanism, nodes) = (self.mechanism, self.mechanism.order().nodes());
        let poses = &self.dynamics.state().poses;
        let mut inertias: Vec<SpatialInertia> = nodes.iter().map(|node| node.inertia).collect();
        if composite {
            for (n, node) in nodes.iter().enumerate().rev() {
                if let Some(p) = node.parent {
                    let [parent, own] = [nodes[p].head, node.head].map(|head| poses[head.index()]);
                    inertias[p] = inertias[p].welded(&inertias[n].in_outer(&parent.inverse_times(&own)));
                }
            }
        }
        let mut M = self.rotors();
        let mut add = |first: usize, J: &DMatrix<f64>, inertia: &Matrix6<f64>| {
            let own = J.tr_mul(&(inertia * J));
            let mut block = M.view_mut((first, first), own.shape());
            block += own;
        };
        for (node, inertia) in nodes.iter().zip(&inertias) {
            // The columns of its own speeds.
            let own = self.model.speeds_of(node.head).expect(OWN).expect("a node moves");
            let J = self.dynamics.jacobian(node.head, &Pose::identity()).expect(OWN);
            add(own.start, &J.columns_range(own).into_owned(), &inertia.matrix());
        }
        for (&id, &first) in mechanism.order().loop_joints().iter().zip(&self.of_loops) {
            let joint = &mechanism[id];
            let Some(n) = mechanism.order().node_of(joint.child) else { continue };
            let frame = mechanism.order().offset_of(joint.child) * mechanism.frame_in_child(&mechanism[id]);
            let J = frame.adjoint() * joint.kind.subspace(self.coordinates(id));
            let J = DMatrix::from_fn(6, joint.kind.freedoms(), |i, k| J[(i, k)]);
            add(first, &J, &inertias[n].matrix());
        }
        M
    }
}

/// An orthonormal basis of what G maps to zero.
fn null_space(G: DMatrix<f64>) -> DMatrix<f64> {
    let columns = G.ncols();
    if G.nrows() == 0 {
        return DMatrix::identity(columns, columns);
    }
    // With as many rows as columns, so that all right singular vectors come out.
    let rows = G.nrows().max(columns);
    let svd = G.resize_vertically(rows, 0.0).svd(false, true);
    let V = svd.v_t.expect("asked for").transpose();
    let least = REPEATED * svd.singular_values.max();
    let zero: Vec<usize> = (0..columns).filter(|&k| svd.singular_values[k] <= least).collect();
    V.select_columns(&zero)
}

#[cfg(test)]
#[allow(dead_code)] // the core's tests use the rest
#[path = "../../../pliant-core/tests/common/dense.rs"]
mod dense;

#[cfg(test)]
mod tests {
    use std::iter::successors;

    use super::dense::Dense;
    use super::*;
    use pliant::gallery;
    use pliant::joints::JointKind;
    use pliant::mechanism::{BodyId, Joint};
    use pliant::nalgebra::Vector3;

    /// Lowest frequency of a model over the lowest of the dense one.
    fn ratio(mechanism: &Mechanism, model: &Model) -> f64 {
        let full = Dense::new(mechanism).frequencies(mechanism);
        model.frequencies()[0] / full[0]
    }

    #[test]
    fn other_masses_are_what_they_are_said_to_be() {
        // The paper's mass overestimates frequencies by far; operational space less.
        for name in ["chain:20", "y", "rungs:48", "helix:50"] {
            let mechanism = gallery::build(name).unwrap();
            let condensed = ratio(&mechanism, &Linearisation::at_rest(&mechanism).build().unwrap());
            let of = |mass| ratio(&mechanism, &model(&mechanism, mass).unwrap());
            let [own, composite, operational] =
                [Mass::Accelerability, Mass::CompositeAccelerability, Mass::OperationalSpace].map(of);
            assert!(condensed < operational && condensed < composite && composite < own, "{name}");
            assert!(own > 10.0, "{name} {own}");
        }
    }

    #[test]
    fn operational_space_is_the_inverse_of_what_a_wrench_accelerates() {
        // E (Zᵀ M Z)⁻¹ Eᵀ of the dense model.
        for name in ["y", "rungs:24", "loop", "arm", "gripper"] {
            let mechanism = gallery::build(name).unwrap();
            let dense = Dense::new(&mechanism);
            let frames: Vec<_> = mechanism.effectors().iter().map(|e| (e.body, e.frame)).collect();
            let (Z, E) = (&dense.closed, dense.stack(&frames));
            let M = (Z.transpose() * dense.mass(&mechanism) * Z).cholesky().unwrap();
            let mobility = &E * Z * M.solve(&(Z.transpose() * E.transpose()));
            let model = model(&mechanism, Mass::OperationalSpace).unwrap();
            let K = dense.compliance(&frames).unwrap();
            // Lowest frequency by the dense matrices: ω² = smallest eigenvalue of A K⁻¹ on the range of C; through
            // C Λ: 1/ω² = largest eigenvalue of C A⁺. Compared in the range that C spans.
            let eigen = K.clone().symmetric_eigen();
            let kept: Vec<usize> =
                (0..K.nrows()).filter(|&k| eigen.eigenvalues[k] > 1e-9 * eigen.eigenvalues.max()).collect();
            let U = DMatrix::from_fn(K.nrows(), kept.len(), |i, k| eigen.eigenvectors[(i, kept[k])]);
            let A = U.transpose() * &mobility * &U;
            let C = U.transpose() * &K * &U;
            let L = A.cholesky().unwrap().l().try_inverse().unwrap();
            let values = (&L * C * L.transpose()).symmetric_eigenvalues();
            let lowest = 1.0 / values.max().sqrt();
            // The range is cut at 1e-9 in other units than the model's, which moves the softest motion by about as much.
            assert!(
                (model.frequencies()[0] / lowest - 1.0).abs() < 1e-6,
                "{name}: {} {lowest}",
                model.frequencies()[0]
            );
        }
    }
    /// Inertia along the turns of a hinge or ball, by parallel axes: eᵢᵀ(R I Rᵀ)eₖ + m (eᵢ×r)·(eₖ×r) summed over bodies,
    /// r from the joint to a centre of mass.
    fn inertia_about(mechanism: &Mechanism, joint: &Joint, bodies: &[BodyId]) -> DMatrix<f64> {
        let axes: Vec<Vector3<f64>> = match joint.kind {
            JointKind::Hinge => vec![Vector3::z()],
            JointKind::Ball => vec![Vector3::x(), Vector3::y(), Vector3::z()],
            _ => panic!("{} neither hinge nor ball", joint.name),
        };
        let e: Vec<Vector3<f64>> = axes.iter().map(|axis| joint.frame.rotation * axis).collect();
        let of_body = |body: BodyId| {
            let (pose, own) = (mechanism[body].pose, mechanism[body].inertia);
            let R = pose.rotation.to_rotation_matrix();
            let I = R.matrix() * own.inertia * R.matrix().transpose();
            let r = pose.rotation * own.center_of_mass + pose.position - joint.frame.position;
            DMatrix::from_fn(e.len(), e.len(), |i, k| {
                e[i].dot(&(I * e[k])) + own.mass * e[i].cross(&r).dot(&e[k].cross(&r))
            })
        };
        bodies.iter().map(|&body| of_body(body)).sum()
    }

    #[test]
    fn accelerabilities_are_projected_as_compliances_are() {
        // E Z (Zᵀ K Z)⁻¹ Zᵀ Eᵀ of the dense model, with inertias by parallel axes in place of springs.
        for name in ["chain:20", "y", "rungs:24", "helix:50", "ladder:24", "arm", "loop"] {
            let mechanism = gallery::build(name).unwrap();
            let dense = Dense::new(&mechanism);
            let frames: Vec<_> = mechanism.effectors().iter().map(|e| (e.body, e.frame)).collect();
            let EZ = dense.stack(&frames) * &dense.closed;
            let order = mechanism.order();
            let parent = |body: BodyId| order.tree_joint_of(body).and_then(|j| mechanism[j].parent);
            let all = mechanism.body_ids();
            for (mass, composite) in [(Mass::Accelerability, false), (Mass::CompositeAccelerability, true)] {
                let mut K = DMatrix::zeros(dense.stiffness.len(), dense.stiffness.len());
                for (j, joint) in mechanism.joints().iter().enumerate() {
                    let is_carried =
                        |body: &BodyId| successors(Some(*body), |b| parent(*b)).any(|b| b == joint.child);
                    let carried: Vec<BodyId> = match composite {
                        true => all.clone().filter(is_carried).collect(),
                        false => vec![joint.child],
                    };
                    let own = inertia_about(&mechanism, joint, &carried);
                    let at = mechanism.joints()[j].coordinates().start;
                    K.view_mut((at, at), own.shape()).copy_from(&own);
                    (joint.freedoms.iter().enumerate()).for_each(|(k, f)| K[(at + k, at + k)] += f.armature);
                }
                let along = (dense.closed.transpose() * K * &dense.closed).cholesky().unwrap();
                let expected = &EZ * along.solve(&EZ.transpose());
                let off = (accelerability(&mechanism, mass).unwrap() - &expected).amax() / expected.amax();
                // Rounding of two dense solves, times the condition of the inertias: 9e-15 at most.
                assert!(off < 1e-13, "{name} {mass:?}: {off:e}");
            }
        }
    }

    #[test]
    fn what_has_no_such_mass_is_reported() {
        let free = gallery::build("hexapod").unwrap();
        let refusal = model(&free, Mass::Accelerability).unwrap_err();
        assert!(refusal.message.contains("free base"), "{}", refusal.message);
        let chain = gallery::build("chain:5").unwrap();
        let modes = Linearisation::at_rest(&chain).modes(2).build().unwrap();
        let A = accelerability(&chain, Mass::OperationalSpace).unwrap();
        assert!(modes.with_accelerability(&A).unwrap_err().to_string().contains("modes"));
        let none =
            Linearisation::at_rest(&chain).build().unwrap().with_accelerability(&(A * 0.0)).unwrap_err();
        assert!(none.to_string().contains("is undefined"), "{none}");
    }
}
