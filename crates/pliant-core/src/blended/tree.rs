//! One step of segments that hang together: what carries a segment takes all its mass along.
//!
//! V is the twist of what carries segment s, in its axes, and y the coordinates of all segments of the tree. With A the
//! anchor of what carries s, an effector of segment p,
//!
//! ```text
//! V_s = G_s ẏ = Ad(A⁻¹) V_p + Jr(ξ̄) L ẏ_p,   V = 0 of a segment on the base
//! M = Σ_s [G_s; E_s]ᵀ [M_bb M_by; M_yb M_yy] [G_s; E_s],   E_s ẏ = ẏ_s
//! ```
//!
//! M_bb is the segment's inertia as one rigid body at its base and M_by its momentum there per rate, both blended. Springs,
//! dampers and forces are of each segment alone.

use nalgebra::Vector6;

use super::evaluation::Moving;
use super::model::{Constants, Group};
use super::spring_couplings::{self, Held};
use crate::algebra::dense::cholesky;
use crate::engine::Inputs;
use crate::spatial::{Pose, right_jacobian};

/// Segments that hang together, those that carry others first, with memory.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub groups: Vec<usize>,
    /// Place of each group's first coordinate among those of the tree.
    first: Vec<usize>,
    /// G of each group, column by column.
    motion: Vec<Vec<Vector6<f64>>>,
    /// M_bb G + M_by E of one group, and M_by.
    momentum: Vec<Vector6<f64>>,
    own: Vec<Vector6<f64>>,
    /// What the bases add to the mass.
    mass: Vec<f64>,
    rate: Vec<f64>,
    system: Vec<f64>,
    right: Vec<f64>,
}

impl Tree {
    /// The trees of a model's groups.
    pub fn all(groups: &[Group]) -> Vec<Tree> {
        let root = |mut g: usize| {
            while let Some((carrier, _)) = groups[g].carrier {
                g = carrier;
            }
            g
        };
        let roots = (0..groups.len()).filter(|&g| groups[g].carrier.is_none());
        let together = |of: usize| (0..groups.len()).filter(|&g| root(g) == of).collect();
        roots.map(together).map(|of| Tree::new(of, groups)).collect()
    }

    fn new(of: Vec<usize>, groups: &[Group]) -> Tree {
        // A single segment needs none of it.
        let size = if of.len() > 1 { of.iter().map(|&g| groups[g].m).sum() } else { 0 };
        Tree {
            first: vec![0; of.len()],
            motion: vec![vec![Vector6::zeros(); size]; of.len()],
            momentum: vec![Vector6::zeros(); size],
            own: vec![Vector6::zeros(); size],
            mass: vec![0.0; size * size],
            rate: vec![0.0; size],
            system: vec![0.0; size * size],
            right: vec![0.0; size],
            groups: of,
        }
    }

    /// Solves for ẏ⁺ of all its groups, whose own systems are assembled; false if that is not definite.
    pub fn solve(
        &mut self,
        model: &Constants,
        moving: &mut [Moving],
        seats: &[Option<Pose>],
        inputs: &Inputs,
        h: f64,
    ) -> bool {
        if let [g] = self.groups[..] {
            let moving = &mut moving[g];
            let r = moving.rank;
            if !cholesky::factor(&mut moving.system[..r * r], r) {
                return false;
            }
            cholesky::solve(&moving.system[..r * r], r, &mut moving.right[..r]);
            return true;
        }
        let n = self.gather(moving);
        self.set_motion(model, moving, n);
        self.add_mass(model, moving, n);
        for pull in &inputs.springs {
            let Some(grip) = spring_couplings::grip(model, pull) else { continue };
            let Some(s) = self.groups.iter().position(|&g| g == grip.group) else { continue };
            let own = &moving[grip.group];
            let in_base = spring_couplings::in_base(own, seats[grip.group].as_ref(), &grip);
            let Held { wrench, implicit } =
                spring_couplings::held(pull, &in_base, (&inputs.base, &inputs.base_twist), h);
            // The pulled frame moves with the effector, and that with what carries the segment.
            let J = grip.frame.inverse().adjoint();
            let (Jy, JV) = (
                J * right_jacobian(&own.away[grip.effector]),
                J * own.anchors[grip.effector].inverse().adjoint(),
            );
            for u in 0..n {
                self.momentum[u] = JV * self.motion[s][u];
            }
            for u in 0..own.rank {
                self.momentum[self.first[s] + u] += own.column(grip.effector, &Jy, u, model.radius);
            }
            for u in 0..n {
                self.right[u] += h * self.momentum[u].dot(&wrench);
                let felt = implicit * self.momentum[u];
                for v in 0..n {
                    self.system[u * n + v] += self.momentum[v].dot(&felt);
                }
            }
        }
        if !cholesky::factor(&mut self.system[..n * n], n) {
            return false;
        }
        cholesky::solve(&self.system[..n * n], n, &mut self.right[..n]);
        for (&g, &first) in self.groups.iter().zip(&self.first) {
            let r = moving[g].rank;
            moving[g].right[..r].copy_from_slice(&self.right[first..first + r]);
        }
        true
    }

    /// Puts the groups' own systems side by side; how many coordinates there are.
    fn gather(&mut self, moving: &[Moving]) -> usize {
        let n = self.groups.iter().map(|&g| moving[g].rank).sum();
        self.system[..n * n].fill(0.0);
        let mut at = 0;
        for (&g, first) in self.groups.iter().zip(&mut self.first) {
            let (own, r) = (&moving[g], moving[g].rank);
            *first = at;
            self.right[at..at + r].copy_from_slice(&own.right[..r]);
            self.rate[at..at + r].copy_from_slice(&own.rate[..r]);
            for (u, row) in own.system[..r * r].chunks_exact(r.max(1)).enumerate() {
                self.system[(at + u) * n + at..][..r].copy_from_slice(row);
            }
            at += r;
        }
        n
    }

    /// Sets G of each group.
    fn set_motion(&mut self, model: &Constants, moving: &[Moving], n: usize) {
        for s in 0..self.groups.len() {
            let (before, motion) = self.motion.split_at_mut(s);
            motion[0][..n].fill(Vector6::zeros());
            let Some((carrier, k)) = model.groups[self.groups[s]].carrier else { continue };
            let p = self.groups.iter().position(|&g| g == carrier).expect("it is of the same tree");
            let carrier = &moving[carrier];
            let (Ad, Jr) = (carrier.anchors[k].inverse().adjoint(), right_jacobian(&carrier.away[k]));
            for u in 0..n {
                motion[0][u] = Ad * before[p][u];
            }
            for u in 0..carrier.rank {
                motion[0][self.first[p] + u] += carrier.column(k, &Jr, u, model.radius);
            }
        }
    }

    /// Adds what the bases' motion adds to the mass: GᵀM_bbG + GᵀM_byE + EᵀM_ybG.
    fn add_mass(&mut self, model: &Constants, moving: &[Moving], n: usize) {
        let Tree { groups, first, motion, momentum, own, mass, rate, system, right } = self;
        mass[..n * n].fill(0.0);
        for (s, &g) in groups.iter().enumerate() {
            if model.groups[g].carrier.is_none() {
                continue;
            }
            let (segment, G, first) = (&moving[g], &motion[s][..n], first[s]);
            let r = segment.rank;
            (0..n).for_each(|u| momentum[u] = segment.inertia * G[u]);
            for u in 0..r {
                own[u] = segment.momentum_column(u);
                momentum[first + u] += own[u];
            }
            for u in 0..n {
                for v in 0..n {
                    mass[u * n + v] += G[u].dot(&momentum[v]);
                }
            }
            for u in 0..r {
                for v in 0..n {
                    mass[(first + u) * n + v] += own[u].dot(&G[v]);
                }
            }
        }
        for u in 0..n {
            let row = &mass[u * n..(u + 1) * n];
            right[u] += row.iter().zip(&rate[..n]).map(|(m, y)| m * y).sum::<f64>();
            system[u * n..(u + 1) * n].iter_mut().zip(row).for_each(|(a, m)| *a += m);
        }
    }
}
