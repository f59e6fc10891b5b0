//! Inverse dynamics: the forces that a motion takes.
//!
//! ```text
//! outward: a = X a_λ + c + S u̇;  f = I a + p − what acts from outside        a of the base: −g
//! inward:  τ = Sᵀf − springs, dampers, limits + rotors;  f_λ += Xᵀf           [Si 2010, eqs 18–24]
//! ```

use super::dynamics::Dynamics;
use super::loads;
use super::model::Motion;
use super::small::*;
use super::sweeps::{Along, dot6, inertia_times};
use crate::engine::Inputs;

impl Dynamics {
    /// The forces along the speeds (N or N·m) that make the speeds change at the given rates, in addition to the inputs'
    /// gravity, loads and pulls and the joints' springs, dampers and limits: what
    /// [`Dynamics::accelerations`] takes. Both lists have one number per speed. Allocates nothing.
    pub fn forces(&mut self, inputs: &Inputs, accelerations: &[f64], forces: &mut [f64]) {
        self.place();
        loads::apply_now(&self.model, inputs, &mut self.work);
        let g = v(&inputs.gravity);
        (self.work.slots[0].av, self.work.slots[0].aw) = (scale(g, -1.0), ZERO);
        for (n, node) in self.model.nodes.iter().enumerate() {
            let (before, after) = self.work.slots.split_at_mut(n + 1);
            let (parent, slot) = (&before[node.parent], &mut after[0]);
            slot.av = plus(add_cross::<false>(parent.aw, slot.r, parent.av), slot.cv);
            slot.aw = plus(parent.aw, slot.cw);
            match node.motion {
                Motion::Hinge => {
                    slot.aw = add_scaled::<false>(slot.axis, accelerations[node.speed], slot.aw);
                }
                Motion::General(g) | Motion::Free(g) => {
                    if matches!(node.motion, Motion::Free(_)) {
                        (slot.av, slot.aw) = (scale(v(&inputs.gravity), -1.0), ZERO);
                    }
                    for k in 0..self.model.general[g].freedoms {
                        let (S, rate) = (&self.work.general[g].S[k], accelerations[node.speed + k]);
                        slot.av = add_scaled::<false>([S[0], S[1], S[2]], rate, slot.av);
                        slot.aw = add_scaled::<false>([S[3], S[4], S[5]], rate, slot.aw);
                    }
                }
            }
            let (a, b) = (slot.av, slot.aw);
            let own = inertia_times(slot, &[a[0], a[1], a[2], b[0], b[1], b[2]]);
            let p = [slot.f[0], slot.f[1], slot.f[2], slot.t[0], slot.t[1], slot.t[2]];
            self.wrenches[n + 1] = std::array::from_fn(|i| own[i] + p[i]);
        }
        let along = Along::now(&self.state, inputs);
        for (n, node) in self.model.nodes.iter().enumerate().rev() {
            let (slot, w) = (&self.work.slots[n + 1], self.wrenches[n + 1]);
            match node.motion {
                Motion::Hinge => {
                    let (force, weight) = along.drive::<false>(node.coordinate);
                    forces[node.speed] = dot::<false, _>(slot.axis, [w[3], w[4], w[5]]) - force
                        + weight * accelerations[node.speed];
                }
                Motion::General(g) | Motion::Free(g) => {
                    let (own, constants) = (&self.work.general[g], &self.model.general[g]);
                    let (drives, weights) = own.drives::<false>(&self.model, constants, node, &along);
                    for k in 0..constants.freedoms {
                        let rotors =
                            (0..constants.freedoms).map(|l| weights[k][l] * accelerations[node.speed + l]);
                        forces[node.speed + k] = dot6(&own.S[k], &w) - drives[k] + rotors.sum::<f64>();
                    }
                }
            }
            let f = [w[0], w[1], w[2]];
            let t = add_cross::<false>(slot.r, f, [w[3], w[4], w[5]]);
            let parent = &mut self.wrenches[node.parent];
            (0..3).for_each(|i| (parent[i], parent[3 + i]) = (parent[i] + f[i], parent[3 + i] + t[i]));
        }
    }
}
