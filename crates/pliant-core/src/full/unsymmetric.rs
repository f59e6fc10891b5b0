//! Newton's step where the tangent is not symmetric: under dead torques, which have no potential.
//!
//! The factored matrix P has the symmetric part K of the tangent only. The step of the exact one, T, solves
//! T y = b by GMRES (Saad and Schultz 1986) on P⁻¹E T y = P⁻¹E b, where P⁻¹E T is the identity but for the
//! antisymmetric part, so that a few directions are enough. E = [I, σJᵀ; 0, I] is the augmentation that P
//! contains. T is applied to a direction by a central difference of the forces and closures.

use nalgebra::Vector3;

use super::frames;
use super::model::{ABSENT, Constants};
use super::statics::Search;
use super::step::Workspace;
use crate::engine::State;

/// Directions at the most, and how far the residual must fall: differences are good to about 1e-9.
const DIRECTIONS: usize = 40;
const ACCURACY: f64 = 1e-8;

/// How far a body turns for a difference, rad.
const DIFFERENCE: f64 = 1e-5;

impl Search<'_> {
    /// Turns the move of the symmetric tangent, the present solution, into that of the exact one. The factors
    /// must be those of the state.
    pub(super) fn make_exact(&self, state: &State, work: &mut Workspace, load_scale: f64) {
        let right = work.solution.clone();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = norm(&right);
        if size == 0.0 {
            return;
        }
        // Arnoldi: an orthonormal basis Q with (P⁻¹E T) Q = Q H; the least squares of H go by Givens turns.
        let mut basis = vec![right.iter().map(|x| x / size).collect::<Vec<f64>>()];
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut turns: Vec<(f64, f64)> = Vec::new();
        let mut g = vec![size];
        while columns.len() < DIRECTIONS && g[columns.len()].abs() > ACCURACY * size {
            let k = columns.len();
            let mut next = self.apply(state, work, load_scale, &basis[k]);
            let mut h: Vec<f64> = Vec::with_capacity(k + 2);
            for q in &basis {
                let along: f64 = q.iter().zip(&next).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
                h.push(along);
            }
            let rest = norm(&next);
            for (i, (c, s)) in turns.iter().enumerate() {
                (h[i], h[i + 1]) = (c * h[i] + s * h[i + 1], c * h[i + 1] - s * h[i]);
            }
            let length = h[k].hypot(rest);
            if !(length > 0.0 && length.is_finite()) {
                break;
            }
            let (c, s) = (h[k] / length, rest / length);
            h[k] = length;
            turns.push((c, s));
            g.push(-s * g[k]);
            g[k] *= c;
            columns.push(h);
            basis.push(next.iter().map(|x| x / rest.max(f64::MIN_POSITIVE)).collect());
        }
        // Back-substitution for the weights of the basis.
        let mut weights = g;
        for k in (0..columns.len()).rev() {
            weights[k] /= columns[k][k];
            for i in 0..k {
                weights[i] -= columns[k][i] * weights[k];
            }
        }
        work.solution.fill(0.0);
        for (q, weight) in basis.iter().zip(&weights[..columns.len()]) {
            work.solution.iter_mut().zip(q).for_each(|(x, q)| *x += weight * q);
        }
        self.restore(state, work, load_scale);
    }

    /// P⁻¹E T z.
    fn apply(&self, state: &State, work: &mut Workspace, load_scale: f64, z: &[f64]) -> Vec<f64> {
        let model: &Constants = self.model;
        let mut farthest = 0.0f64;
        for node in &model.nodes {
            let x = &z[node.unknown..node.unknown + 6];
            let travel = Vector3::new(x[0], x[1], x[2]).norm() / self.lever;
            farthest = farthest.max(travel).max(Vector3::new(x[3], x[4], x[5]).norm());
        }
        let step = if farthest > 0.0 { DIFFERENCE / farthest } else { 1.0 };
        let scheme = self.scheme(0.0);
        let mut moved = state.clone();
        let mut image = vec![0.0; z.len()];
        for sign in [1.0, -1.0] {
            let t = sign * step;
            self.restore(state, work, load_scale);
            for (node, frame) in model.nodes.iter().zip(work.frames.iter_mut()) {
                let x = &z[node.unknown..node.unknown + 6];
                frame.v = Vector3::new(x[0], x[1], x[2]) * t;
                frame.w = Vector3::new(x[3], x[4], x[5]) * t;
                frame.advance(node, 1.0);
            }
            frames::apply_loads(model, &self.inputs.gravity, &work.loads, load_scale, &mut work.frames);
            // The unknown multipliers are −Δμ.
            model.for_each_row(|row, unknown| {
                moved.multipliers[row] = state.multipliers[row] - t * z[unknown]
            });
            let Workspace { frames, loads, forces, closures, .. } = work;
            self.scene(&moved, frames, loads, &scheme, load_scale).residual(forces, closures);
            let factor = 0.5 * sign / step;
            for (node, (f, torque)) in model.nodes.iter().zip(forces.iter()) {
                for k in 0..3 {
                    image[node.unknown + k] -= factor * f[k];
                    image[node.unknown + 3 + k] -= factor * torque[k];
                }
            }
            model.for_each_row(|row, unknown| image[unknown] += factor * closures[row]);
        }
        // E: forces σJᵀ of the closures.
        self.restore(state, work, load_scale);
        let scene = self.scene(state, &work.frames, &work.loads, &scheme, load_scale);
        for joint in model.joints.iter().filter(|j| j.unknown != ABSENT) {
            let placed = scene.place(joint);
            for i in 0..6 - joint.kind.freedoms() {
                let sigma = self.augment[usize::from(!joint.turning[i])];
                let force = sigma * image[joint.unknown + i];
                for (node, angular, sign) in
                    [(joint.child, &placed.child[i], 1.0), (joint.parent, &placed.parent[i], -1.0)]
                {
                    let Some(n) = node else { continue };
                    let at = model.nodes[n].unknown;
                    for k in 0..3 {
                        image[at + k] += sign * force * placed.linear[i][k];
                        image[at + 3 + k] += sign * force * angular[k];
                    }
                }
            }
        }
        work.numeric.solve(&model.plan, &mut image);
        image
    }

    /// Puts the frames back where the state is.
    fn restore(&self, state: &State, work: &mut Workspace, load_scale: f64) {
        frames::load(self.model, self.inputs, state, 0.0, &mut work.frames);
        frames::apply_loads(self.model, &self.inputs.gravity, &work.loads, load_scale, &mut work.frames);
    }
}
