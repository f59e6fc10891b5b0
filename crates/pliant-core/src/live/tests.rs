//! The two ways of a step against each other, and the sums that go into it against finite differences and plain sums
//! over all links.

use nalgebra::{DMatrix, Matrix3, Matrix6, Vector3, Vector6};

use super::gathering::Gathered;
use super::kinematics::Places;
use super::model::{BASE, Constants, Model};
use super::plan::NONE;
use super::rows::{Row, Rows};
use super::step::{self, Motion, Workspace};
use crate::engine::Inputs;
use crate::gallery;
use crate::spatial::Wrench;

/// A pose and rates that are not special.
fn moving(model: &Constants) -> Motion {
    let mut motion = Motion::at_rest(model);
    for i in 0..model.freedoms.len() {
        motion.theta[i] = 0.2 * (1.7 * i as f64 + 0.3).sin();
        motion.rates[i] = 0.5 * (2.3 * i as f64).cos();
    }
    motion.place(model);
    motion
}

/// Without loads there is no geometric stiffness, and the sums over segments must give what the dense matrices over
/// all coordinates give: masses, momenta, springs, dampers, shapes, and what follows at once.
#[test]
fn segments_and_dense_matrices_give_the_same_step() {
    for name in ["two-link", "y", "arm", "hand", "chain:12", "helix:12"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap().constants;
        let mut inputs = Inputs::new(&mechanism);
        inputs.set_gravity([0.0; 3]).unwrap();
        for h in [1e-3, 1.0 / 60.0] {
            let mut tree = moving(&model);
            let mut dense = tree.clone();
            step::step(&model, &inputs, h, &mut tree, &mut Workspace::new(&model)).unwrap();
            let mut work = Workspace::new(&model);
            work.use_dense(&model);
            step::step(&model, &inputs, h, &mut dense, &mut work).unwrap();
            for i in 0..model.freedoms.len() {
                // Rounding, times the condition 1e6 of the compliance that shapes are made from, at worst.
                assert!((tree.theta[i] - dense.theta[i]).abs() < 1e-10, "{name} {i}");
                assert!((tree.rates[i] - dense.rates[i]).abs() < 1e-8, "{name} {i}");
            }
        }
    }
}

/// Generalised forces are the slope of the loads' energy, and levers are how they change.
#[test]
fn forces_and_geometric_stiffness_are_derivatives_of_energy() {
    for name in ["y", "arm", "hand", "chain:8"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap().constants;
        let mut inputs = Inputs::new(&mechanism);
        inputs.set_gravity([1.0, 2.0, -9.0]).unwrap();
        for e in 0..mechanism.effectors().len() {
            inputs.set_load(mechanism.effector_id(e), Wrench::force([3.0, -1.0 - e as f64, 2.0])).unwrap();
        }
        let motion = moving(&model);
        let n = model.freedoms.len();
        let energy = |theta: &[f64]| {
            let mut motion = motion.clone();
            motion.theta.copy_from_slice(theta);
            motion.place(&model);
            let mut sum = 0.0;
            for (n, node) in mechanism.order().nodes().iter().enumerate() {
                let at = motion.places.link(n).pose().transform_point(&node.inertia.center_of_mass);
                sum -= node.inertia.mass * inputs.gravity.dot(&at);
            }
            for (effector, load) in mechanism.effectors().iter().zip(&inputs.effector_loads) {
                let (node, offset) = model.place(effector.body);
                let at = motion.places.link(node.unwrap()).pose() * offset * effector.frame;
                sum -= load.force.dot(&at.position);
            }
            sum
        };
        let mut work = Workspace::new(&model);
        let gathered: &Gathered = work.gather(&model, &inputs, &motion);
        let step = 1e-3;
        let at = |moves: &[(usize, f64)]| {
            let mut theta = motion.theta.clone();
            moves.iter().for_each(|&(i, s)| theta[i] += s * step);
            energy(&theta)
        };
        for i in 0..n {
            let slope = (at(&[(i, -2.0)]) - at(&[(i, 2.0)]) + 8.0 * (at(&[(i, 1.0)]) - at(&[(i, -1.0)])))
                / (12.0 * step);
            // Differences of fourth order: h⁴/30 of the fifth derivative, and rounding over h.
            assert!((gathered.torques[i] + slope).abs() < 1e-9, "{name} {i}");
        }
        let ancestors = |i: usize| {
            let mut at = model.links.iter().rposition(|l| l.first <= i).unwrap();
            let mut all = Vec::new();
            while at != BASE {
                let link = &model.links[at];
                all.extend((link.first..link.first + link.count).filter(|&j| j < i));
                at = link.parent;
            }
            all
        };
        for i in 0..n {
            for j in ancestors(i) {
                let pair = |s: f64, t: f64| at(&[(i, s), (j, t)]);
                let second = (pair(1.0, 1.0) - pair(1.0, -1.0) - pair(-1.0, 1.0) + pair(-1.0, -1.0))
                    / (4.0 * step * step);
                let w = &motion.places.axes[j];
                let m = gathered.levers[i];
                let found = w[3] * m[0] + w[4] * m[1] + w[5] * m[2];
                // Second order: h²/6 of fourth derivatives of a few J, and rounding over h².
                assert!((found - second).abs() < 1e-5, "{name} {i} {j}: {found} {second}");
            }
        }
    }
}

fn vector(x: &Row) -> Vector6<f64> {
    Vector6::from_column_slice(&x[..6])
}

/// M of a link at P: with C = \[c\], (m, −m C; m C, R I Rᵀ − m C C).
fn inertia(model: &Constants, n: usize, places: &Places) -> Matrix6<f64> {
    let (body, pose) = (&model.mechanism.order().nodes()[n].inertia, places.link(n).pose());
    let R = pose.rotation.to_rotation_matrix().into_inner();
    let c = pose.transform_point(&body.center_of_mass) - Vector3::from(places.point);
    let (m, C) = (body.mass, c.cross_matrix());
    let mut M = Matrix6::zeros();
    M.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Matrix3::identity() * m));
    M.fixed_view_mut::<3, 3>(0, 3).copy_from(&(C * -m));
    M.fixed_view_mut::<3, 3>(3, 0).copy_from(&(C * m));
    M.fixed_view_mut::<3, 3>(3, 3).copy_from(&(R * body.inertia * R.transpose() - C * C * m));
    M
}

fn matrix(x: &Rows) -> Matrix6<f64> {
    Matrix6::from_fn(|i, k| x.0[i][k])
}

/// Every link b moves by G_b W, G_b = Σ c s sᵀ over the joints of a segment on its way to the base: the segment's sums of
/// mass and momentum are Σ G_b M_b G_b, Σ G_b M_b and Σ G_b (M_b(ξ − hβ) − h ξ ×* M_b ξ) over all links.
#[test]
fn sums_of_segments_are_those_over_all_links() {
    for name in ["two-link", "y", "arm", "hand", "chain:12", "helix:40"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap().constants;
        let motion = moving(&model);
        let h = 1.0 / 60.0;
        let mut work = Workspace::new(&model);
        step::step(&model, &Inputs::new(&mechanism), h, &mut motion.clone(), &mut work).unwrap();
        let (plan, condensed, drives, _, _) = work.parts();
        for (s, sums) in condensed.sums.iter().enumerate() {
            let (mut M2, mut M1) = (Matrix6::zeros(), Matrix6::zeros());
            let mut p = Vector6::zeros();
            for n in 0..model.links.len() {
                let place = motion.places.link(n);
                let mut G = Matrix6::zeros();
                let mut at = n;
                while at != BASE {
                    let link = &model.links[at];
                    for i in link.first..link.first + link.count {
                        let axis = vector(&motion.places.axes[i]);
                        if plan.segment_of[at] == s {
                            G += axis * axis.transpose() * drives[i].softness;
                        }
                    }
                    at = link.parent;
                }
                let (M, x, b) =
                    (inertia(&model, n, &motion.places), vector(&place.twist), vector(&place.bias));
                let (Mx, w) = (M * x, Vector3::new(x[3], x[4], x[5]));
                let (f, torque) = (Vector3::new(Mx[0], Mx[1], Mx[2]), Vector3::new(Mx[3], Mx[4], Mx[5]));
                let (turned, twisted) =
                    (w.cross(&f), w.cross(&torque) + Vector3::new(x[0], x[1], x[2]).cross(&f));
                let turning = Vector6::from_iterator(turned.iter().chain(&twisted).copied());
                M2 += G * M * G;
                M1 += G * M;
                p += G * (M * (x - b * h) - turning * h);
            }
            for (_, link) in model.links.iter().enumerate().filter(|(n, _)| plan.segment_of[*n] == s) {
                for i in link.first..link.first + link.count {
                    let cs = vector(&motion.places.axes[i]) * drives[i].softness;
                    M2 += cs * cs.transpose() * drives[i].weight;
                    p += cs * drives[i].momentum;
                }
            }
            // Rounding of some hundred terms.
            let half = matrix(&sums.M2);
            assert!((half + half.transpose() - M2).amax() < 1e-12 * M2.amax(), "{name} {s}");
            assert!((vector(&sums.p) - p).amax() < 1e-12 * p.amax(), "{name} {s}");
            if plan.segments[s].parent != NONE {
                assert!((matrix(&sums.M1) - M1).amax() < 1e-12 * M1.amax(), "{name} {s}");
            }
        }
    }
}

/// H + Hᵀ is ZᵀGZ with the matrix G over all freedoms, G_ij = ω_j·m_i for j before i.
#[test]
fn geometric_stiffness_of_loops_is_that_of_the_dense_matrix() {
    for name in ["loop", "gripper", "ladder:12", "rungs:18"] {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism).unwrap().constants;
        let mut inputs = Inputs::new(&mechanism);
        inputs.add_scene_loads();
        let motion = moving(&model);
        let mut work = Workspace::new(&model);
        step::step(&model, &inputs, 1e-3, &mut motion.clone(), &mut work).unwrap();
        let (_, _, _, gathered, closed) = work.parts();
        let closed = closed.unwrap();
        let (n, z) = (model.freedoms.len(), closed.space.free.len());
        let mut G = DMatrix::zeros(n, n);
        for link in &model.links {
            for i in link.first..link.first + link.count {
                let mut before: Vec<usize> = (link.first..=i).collect();
                let mut at = link.parent;
                while at != BASE {
                    before.extend(model.links[at].first..model.links[at].first + model.links[at].count);
                    at = model.links[at].parent;
                }
                for j in before {
                    let (w, m) = (&motion.places.axes[j], &gathered.levers[i]);
                    let turned = w[3] * m[0] + w[4] * m[1] + w[5] * m[2];
                    let g = closed.units[i] * closed.units[j] * turned;
                    (G[(i, j)], G[(j, i)]) = (g, g);
                }
            }
        }
        let Z = DMatrix::from_row_slice(n, z, &closed.space.Z[..n * z]);
        let H = DMatrix::from_row_slice(z, z, &closed.H[..z * z]);
        let dense = Z.transpose() * G * Z;
        assert!(z == 0 || dense.amax() > 0.0, "{name}");
        // Rounding of some hundred terms.
        assert!((&H + H.transpose() - &dense).amax() <= 1e-12 * dense.amax(), "{name}");
    }
}
