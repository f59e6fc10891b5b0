//! A dense null-space solve of the linear statics of a mechanism at its file's pose, written apart from the
//! library: world axes, joint screws, and nothing eliminated but the closures.
//!
//! Unknowns are the coordinates θ of all joints, loop joints included. Closures of loops and couplings are
//! A θ = 0; with Z a basis of the null space of A, θ = Z (Zᵀ K Z)⁻¹ Zᵀ Eᵀ w.

use pliant_core::mechanism::{BodyId, Mechanism};
use pliant_core::nalgebra::{DMatrix, DVector, Matrix6, Vector3};
use pliant_core::spatial::Pose;

/// The dense linear model.
pub struct Dense {
    /// Twist of each body per coordinate: body axes, link frame.
    pub bodies: Vec<DMatrix<f64>>,
    /// Basis of the motions that close all loops.
    pub closed: DMatrix<f64>,
    /// Stiffness of each coordinate.
    pub stiffness: DVector<f64>,
    /// Zᵀ K Z.
    pub linear: DMatrix<f64>,
}

/// Columns of joint motion in world axes at the world's origin.
fn screws(mechanism: &Mechanism, j: usize) -> DMatrix<f64> {
    let joint = &mechanism.joints()[j];
    let d = joint.kind.freedoms();
    let S = joint.kind.subspace(&vec![0.0; d]);
    let moved: Matrix6<f64> = joint.frame.adjoint() * S;
    DMatrix::from_fn(6, d, |i, k| moved[(i, k)])
}

impl Dense {
    /// The model; free bases are held.
    pub fn new(mechanism: &Mechanism) -> Dense {
        let count = mechanism.coordinate_count();
        // World twist of each body per coordinate, along the first joint that carries it.
        let mut world: Vec<Option<DMatrix<f64>>> = vec![None; mechanism.bodies().len()];
        let mut closures: Vec<DMatrix<f64>> = Vec::new();
        for &body in mechanism.order().bodies() {
            let carried = (0..mechanism.joints().len()).filter(|&j| mechanism.joints()[j].child == body);
            for j in carried {
                let joint = &mechanism.joints()[j];
                let mut motion = match joint.parent {
                    Some(parent) => world[parent.index()].clone().expect("parents come first"),
                    None => DMatrix::zeros(6, count),
                };
                let range = mechanism.joints()[j].coordinates();
                let mut own = motion.columns_mut(range.start, range.len());
                own += screws(mechanism, j);
                match &world[body.index()] {
                    None => world[body.index()] = Some(motion),
                    Some(first) => closures.push(first - motion),
                }
            }
            if world[body.index()].is_none() {
                world[body.index()] = Some(DMatrix::zeros(6, count));
            }
        }
        for coupling in mechanism.couplings() {
            let mut row = DMatrix::zeros(1, count);
            row[(0, mechanism[coupling.joint].coordinates().start)] += 1.0;
            row[(0, mechanism[coupling.of].coordinates().start)] -= coupling.ratio;
            closures.push(row);
        }
        let rows = closures.iter().map(|c| c.nrows()).sum();
        let mut A = DMatrix::zeros(rows, count);
        let mut at = 0;
        for closure in &closures {
            A.rows_mut(at, closure.nrows()).copy_from(closure);
            at += closure.nrows();
        }
        let closed = null_space(&A, count);
        let stiffness = DVector::from_iterator(
            count,
            mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.stiffness),
        );
        let linear = closed.transpose() * DMatrix::from_diagonal(&stiffness) * &closed;
        let bodies = (mechanism.bodies().iter().zip(world))
            .map(|(body, motion)| {
                let motion = motion.expect("all visited");
                let ad = body.pose.inverse().adjoint();
                DMatrix::from_column_slice(6, 6, ad.as_slice()) * motion
            })
            .collect();
        Dense { bodies, closed, stiffness, linear }
    }

    /// The twist of a frame on a body per coordinate, in that frame.
    pub fn frame(&self, body: BodyId, frame: &Pose) -> DMatrix<f64> {
        DMatrix::from_column_slice(6, 6, frame.inverse().adjoint().as_slice()) * &self.bodies[body.index()]
    }

    /// Coordinates under forces on coordinates: Z (ZᵀKZ)⁺ Zᵀ τ; `None` if some force acts along a motion that
    /// nothing holds.
    pub fn coordinates(&self, forces: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let unheld = self.unheld();
        let force = self.closed.tr_mul(forces);
        // What is held is so to rounding, times the condition of the closures.
        if unheld.tr_mul(&force).iter().any(|f| f.abs() > 1e-9 * forces.amax()) {
            return None;
        }
        // K + the projector on what is unheld has the same inverse on the rest.
        let held = &self.linear + &unheld * unheld.transpose() * self.stiffness.max().max(1.0);
        let force = &force - &unheld * unheld.tr_mul(&force);
        let solved = if held.is_empty() { force } else { held.cholesky()?.solve(&force) };
        Some(&self.closed * solved)
    }

    /// A basis of the motions that nothing holds, among those of `closed`.
    pub fn unheld(&self) -> DMatrix<f64> {
        if self.linear.is_empty() {
            return DMatrix::zeros(0, 0);
        }
        let eigen = self.linear.clone().symmetric_eigen();
        // Rounding leaves about 1e-15 of the stiffest spring.
        let none = 1e-11 * self.stiffness.max();
        let unheld: Vec<usize> =
            (0..eigen.eigenvalues.len()).filter(|&k| eigen.eigenvalues[k] <= none).collect();
        eigen.eigenvectors.select_columns(&unheld)
    }

    /// C_EE of frames on bodies.
    pub fn compliance(&self, frames: &[(BodyId, Pose)]) -> Option<DMatrix<f64>> {
        let E = self.stack(frames);
        Some(&E * self.coordinates(&E.transpose())?)
    }

    /// The rows of several frames below each other.
    pub fn stack(&self, frames: &[(BodyId, Pose)]) -> DMatrix<f64> {
        let mut E = DMatrix::zeros(6 * frames.len(), self.stiffness.len());
        for (e, (body, frame)) in frames.iter().enumerate() {
            E.rows_mut(6 * e, 6).copy_from(&self.frame(*body, frame));
        }
        E
    }

    /// The generalised mass of all coordinates, rotors included.
    pub fn mass(&self, mechanism: &Mechanism) -> DMatrix<f64> {
        let mut M = DMatrix::from_diagonal(&DVector::from_iterator(
            self.stiffness.len(),
            mechanism.joints().iter().flat_map(|j| &j.freedoms).map(|f| f.armature),
        ));
        for (body, motion) in mechanism.bodies().iter().zip(&self.bodies) {
            let inertia = DMatrix::from_column_slice(6, 6, body.inertia.matrix().as_slice());
            M += motion.transpose() * inertia * motion;
        }
        M
    }

    /// The forces of gravity on all coordinates.
    pub fn gravity(&self, mechanism: &Mechanism, gravity: &Vector3<f64>) -> DMatrix<f64> {
        let mut f = DMatrix::zeros(self.stiffness.len(), 1);
        for (body, motion) in mechanism.bodies().iter().zip(&self.bodies) {
            let g = body.pose.rotation.inverse() * gravity;
            let acceleration = DMatrix::from_column_slice(6, 1, &[g.x, g.y, g.z, 0.0, 0.0, 0.0]);
            let inertia = DMatrix::from_column_slice(6, 6, body.inertia.matrix().as_slice());
            f += motion.transpose() * inertia * acceleration;
        }
        f
    }

    /// Natural frequencies squared, ascending: eigenvalues of (ZᵀKZ, ZᵀMZ).
    pub fn frequencies(&self, mechanism: &Mechanism) -> Vec<f64> {
        let Z = &self.closed;
        let M = Z.transpose() * self.mass(mechanism) * Z;
        let L = M.cholesky().expect("mass along every motion").l();
        let inverse = L.clone().try_inverse().expect("a Cholesky factor");
        let A = &inverse * &self.linear * inverse.transpose();
        let mut values: Vec<f64> =
            ((&A + A.transpose()) * 0.5).symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values.into_iter().map(|x| x.max(0.0).sqrt()).collect()
    }
}

/// An orthonormal basis of the null space, by Gram–Schmidt with pivoting on the rows, twice for accuracy.
pub fn null_space(A: &DMatrix<f64>, count: usize) -> DMatrix<f64> {
    // An orthonormal basis of the row space first.
    let mut rows: Vec<DVector<f64>> = A.row_iter().map(|r| r.transpose()).collect();
    let largest = rows.iter().map(|r| r.norm()).fold(0.0, f64::max);
    let mut basis: Vec<DVector<f64>> = Vec::new();
    while let Some(best) = (0..rows.len()).max_by(|&a, &b| rows[a].norm().total_cmp(&rows[b].norm())) {
        // Closures that loops repeat are lost in rounding.
        if rows[best].norm() <= 1e-10 * largest {
            break;
        }
        let mut v = rows.swap_remove(best);
        basis.iter().for_each(|b| v -= b * b.dot(&v));
        v /= v.norm();
        rows.iter_mut().for_each(|r| *r -= &v * v.dot(r));
        basis.push(v);
    }
    // Its complement: unit vectors, less what the row space has of them, largest first.
    let mut rest: Vec<DVector<f64>> =
        (0..count).map(|k| DVector::from_fn(count, |i, _| f64::from(i == k))).collect();
    for v in &mut rest {
        for _ in 0..2 {
            basis.iter().for_each(|b| *v -= b * b.dot(v));
        }
    }
    let mut out: Vec<DVector<f64>> = Vec::new();
    while out.len() < count - basis.len() {
        let best =
            (0..rest.len()).max_by(|&a, &b| rest[a].norm().total_cmp(&rest[b].norm())).expect("enough");
        let mut v = rest.swap_remove(best);
        for _ in 0..2 {
            basis.iter().chain(&out).for_each(|b| v -= b * b.dot(&v));
        }
        v /= v.norm();
        rest.iter_mut().for_each(|r| *r -= &v * v.dot(r));
        out.push(v);
    }
    DMatrix::from_fn(count, out.len(), |i, k| out[k][i])
}
