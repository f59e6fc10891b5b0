//! The mass matrix by composite inertias: Ic = I + Σ XᵀIc X of the children; M_jk = S_jᵀXᵀIc_k S_k for j above k
//! (Featherstone 2008, §6.2).

use nalgebra::DMatrix;

use super::dynamics::Dynamics;
use super::model::Motion;
use super::slot::Six;
use super::small::*;
use super::sweeps::{Along, dot6, inertia_times, pass_on};

impl Dynamics {
    /// The mass matrix of the speeds, rotors included: kg, kg·m and kg·m². Twice the kinetic energy is uᵀMu.
    pub fn mass_matrix(&mut self) -> DMatrix<f64> {
        self.place();
        let mut M = DMatrix::zeros(self.model.speeds, self.model.speeds);
        let along = Along {
            state: &self.state,
            laws: &self.model.laws,
            rest: None,
            forces: None,
            gravity: ZERO,
            h: 0.0,
            ahead: &[],
            hanging: false,
            floating: None,
        };
        for (n, node) in self.model.nodes.iter().enumerate().rev() {
            let columns = |slot: usize| -> ([Six; 6], usize) {
                match self.model.nodes[slot - 1].motion {
                    Motion::Hinge => {
                        let a = self.work.slots[slot].axis;
                        let mut S = [[0.0; 6]; 6];
                        S[0][3..].copy_from_slice(&a);
                        (S, 1)
                    }
                    Motion::General(g) | Motion::Free(g) => {
                        (self.work.general[g].S, self.model.general[g].freedoms)
                    }
                }
            };
            let (S, d) = columns(n + 1);
            for k in 0..d {
                let mut F = inertia_times(&self.work.slots[n + 1], &S[k]);
                let mut slot = n + 1;
                while slot > 0 {
                    let above = &self.model.nodes[slot - 1];
                    let (S, d) = columns(slot);
                    // Of the node's own block, the upper triangle.
                    for j in 0..if slot == n + 1 { k + 1 } else { d } {
                        let x = dot6(&S[j], &F);
                        M[(above.speed + j, node.speed + k)] = x;
                        M[(node.speed + k, above.speed + j)] = x;
                    }
                    let f = [F[0], F[1], F[2]];
                    let t = add_cross::<false>(self.work.slots[slot].r, f, [F[3], F[4], F[5]]);
                    F = [f[0], f[1], f[2], t[0], t[1], t[2]];
                    slot = if matches!(above.motion, Motion::Free(_)) { 0 } else { above.parent };
                }
            }
            match node.motion {
                Motion::Hinge => M[(node.speed, node.speed)] += along.drive::<false>(node.coordinate).1,
                Motion::General(g) | Motion::Free(g) => {
                    let constants = &self.model.general[g];
                    let (_, weights) =
                        self.work.general[g].drives::<false>(&self.model, constants, node, &along);
                    for k in 0..d {
                        (0..d).for_each(|l| M[(node.speed + k, node.speed + l)] += weights[k][l]);
                    }
                }
            }
            let (before, after) = self.work.slots.split_at_mut(n + 1);
            pass_on::<false>(&after[0], &mut before[node.parent]);
        }
        M
    }
}
