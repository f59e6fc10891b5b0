//! The two ways of a step against each other, and the sums that go into it against finite differences.

use super::gathering::Gathered;
use super::model::Model;
use super::step::{self, Motion, Workspace};
use crate::gallery;
use crate::inputs::Inputs;
use crate::mechanism::EffectorId;
use crate::spatial::Wrench;

/// A pose and rates that are not special.
fn moving(model: &Model) -> Motion {
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
        let model = Model::new(&mechanism).unwrap();
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
        let model = Model::new(&mechanism).unwrap();
        let mut inputs = Inputs::new(&mechanism);
        inputs.set_gravity([1.0, 2.0, -9.0]).unwrap();
        for e in 0..mechanism.effectors().len() {
            inputs.set_load(EffectorId::from_index(e), Wrench::force([3.0, -1.0 - e as f64, 2.0])).unwrap();
        }
        let motion = moving(&model);
        let n = model.freedoms.len();
        let energy = |theta: &[f64]| {
            let mut motion = motion.clone();
            motion.theta.copy_from_slice(theta);
            motion.place(&model);
            let mut sum = 0.0;
            for (link, place) in model.links.iter().zip(&motion.places.links) {
                let at = place.pose().transform_point(&link.center.into());
                sum -= link.mass * inputs.gravity.dot(&at);
            }
            for (effector, load) in mechanism.effectors().iter().zip(&inputs.effector_loads) {
                let (node, offset) = model.place(effector.body);
                let at = motion.places.links[node.unwrap()].pose() * offset * effector.frame;
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
            while at != super::model::BASE {
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
