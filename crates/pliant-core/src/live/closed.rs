//! The step of a mechanism with loops or couplings: the same as that of trees, among the motions that the closures
//! leave, in dense matrices over all coordinates of the tree.
//!
//! ```text
//! R Z = 0, R δ = −c                            closures: what they leave, and what closes them
//! K_z = Zᵀ(K + SᵀK_l S + G)Z                   springs of tree and loop joints (rows S), geometric stiffness
//! C = A Z K_z⁻¹ Zᵀ Aᵀ = L Lᵀ,  T = Z K_z⁻¹ Zᵀ Aᵀ Y    shapes, with TᵀKT = I
//! θ⁺ = θ + δ + h T v⁺ + Z(e − T_z T_zᵀ r_z),  K_z e = r_z = Zᵀ(forces at θ + δ)
//! ```
//!
//! G is that of all loads and of the closures' own forces, which balance the rest along the pivots; where it takes
//! away more than four fifths of a motion's stiffness, less of it is used, or none.

use super::condensing::{Captured, Grip, RANK, port_arm};
use super::gathering::{Gathered, Load};
use super::kinematics::Places;
use super::loops::End;
use super::model::{BASE, Constants, Freedom};
use super::plan::Plan;
use super::rows::{Row, V3, ZERO, add, angular, cross, dot, dot3, linear, minus, row};
use super::step::{Motion, passed};
use crate::engine::Inputs;
use crate::linear::dense::cholesky;
use crate::linear::dense::null_space::NullSpace;
use crate::linear::dense::pivoted_cholesky;
use crate::spatial::Pose;

/// The least that geometric stiffness may leave of a motion's stiffness.
const LEAST: f64 = 0.2;

/// Parts of the geometric stiffness that are tried.
const PARTS: [f64; 3] = [1.0, 0.5, 0.25];

/// Motions of an effector below this, of those of the joints that carry it, are rounding: the closures hold it, and it has no shape.
const HELD: f64 = 1e-10;

/// Memory of a step with closures.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub space: NullSpace,
    /// Covectors of closure rows and of loop coordinates, and those coordinates' rows: zero but on their joint's path.
    rows: Vec<Row>,
    coordinates: Vec<Row>,
    S: Vec<f64>,
    /// m or 1 for each freedom of the tree, and 1/m or 1 for each closure row.
    pub units: Vec<f64>,
    scales: Vec<f64>,
    lambda: Vec<f64>,
    /// Springs of tree and loop freedoms with the limits that act, and their forces.
    stiffness: Vec<f64>,
    force: Vec<f64>,
    loop_stiffness: Vec<f64>,
    loop_force: Vec<f64>,
    loop_bounds: Vec<f64>,
    SZ: Vec<f64>,
    /// Ω of each link, three rows, and mᵀ(Ω + ½ ω zᵀ) of a freedom.
    turns: Vec<f64>,
    bent: Vec<f64>,
    pub H: Vec<f64>,
    K0: Vec<f64>,
    Gz: Vec<f64>,
    Kz: Vec<f64>,
    right: Vec<f64>,
    error: Vec<f64>,
    AZ: Vec<f64>,
    X: Vec<f64>,
    C: Vec<f64>,
    L: Vec<f64>,
    left: Vec<f64>,
    pivots: Vec<usize>,
    Y: Vec<f64>,
    Tz: Vec<f64>,
    T: Vec<f64>,
    ST: Vec<f64>,
    /// Columns of V of each link.
    V: Vec<Row>,
    A: Vec<f64>,
    momentum: Vec<f64>,
    pub rank: usize,
    /// For contact, where it is asked for.
    pub captured: Option<Captured>,
}

impl Closed {
    /// Bytes that [`Closed::new`] takes, but for lists that grow as the number of links; none without loops.
    pub fn memory(model: &Constants) -> f64 {
        if model.loops.is_empty() {
            return 0.0;
        }
        let (n, m, s) = (model.freedoms.len(), model.loops.rows(), model.loops.freedoms.len());
        let p = 6 * model.effectors.len();
        8.0 * (n as f64) * (5 * n + 3 * model.links.len() + 2 * (m + s) + 12 * p) as f64
    }

    pub fn new(model: &Constants, plan: &Plan) -> Closed {
        let (n, m, s) = (model.freedoms.len(), model.loops.rows(), model.loops.freedoms.len());
        let p = 6 * plan.ports.len();
        let mut units = vec![1.0; n];
        for link in &model.links {
            units[link.first..link.first + link.kind.translations()].fill(model.radius);
        }
        Closed {
            space: NullSpace::new(m, n),
            rows: vec![ZERO; m],
            coordinates: vec![ZERO; s],
            S: vec![0.0; s * n],
            units,
            scales: vec![1.0; m],
            lambda: vec![0.0; m],
            stiffness: vec![0.0; n],
            force: vec![0.0; n],
            loop_stiffness: vec![0.0; s],
            loop_force: vec![0.0; s],
            loop_bounds: vec![f64::NAN; s],
            SZ: vec![0.0; s * n],
            turns: vec![0.0; 3 * n * model.links.len()],
            bent: vec![0.0; n],
            H: vec![0.0; n * n],
            K0: vec![0.0; n * n],
            Gz: vec![0.0; n * n],
            Kz: vec![0.0; n * n],
            right: vec![0.0; n],
            error: vec![0.0; n],
            AZ: vec![0.0; p * n],
            X: vec![0.0; p * n],
            C: vec![0.0; p * p],
            L: vec![0.0; p * p],
            left: vec![0.0; p],
            pivots: vec![0; p],
            Y: vec![0.0; p * p],
            Tz: vec![0.0; n * p],
            T: vec![0.0; n * p],
            ST: vec![0.0; s * p],
            V: vec![ZERO; model.links.len() * p],
            A: vec![0.0; p * p],
            momentum: vec![0.0; p],
            rank: 0,
            captured: None,
        }
    }

    /// Closures at a pose, what they leave, and which limits of loop joints are passed there.
    #[inline(always)]
    pub fn close<const FUSED: bool>(&mut self, model: &Constants, motion: &Motion, base: &Pose) {
        let (n, loops, places) = (model.freedoms.len(), &model.loops, &motion.places);
        let space = &mut self.space;
        space.clear(&loops.blocks, &loops.spans);
        for (joint, block) in loops.joints.iter().zip(&loops.blocks) {
            let own = joint.first..joint.first + joint.kind.freedoms();
            let rows = &mut self.rows[block.clone()];
            let q = &motion.loop_theta[own.clone()];
            let coordinates = &mut self.coordinates[own.clone()];
            joint.covectors(places, base, q, &mut space.c[block.clone()], rows, coordinates);
            for i in block.clone() {
                let g = self.rows[i];
                // Rows that measure lengths count in radii.
                self.scales[i] = if linear(&g) == [0.0; 3] { 1.0 } else { 1.0 / model.radius };
                space.c[i] *= self.scales[i];
                let to = &mut space.R[i * n..(i + 1) * n];
                joint.write::<FUSED>(places, &g, self.scales[i], &self.units, to);
            }
            for k in own {
                let to = &mut self.S[k * n..(k + 1) * n];
                joint.write::<FUSED>(places, &self.coordinates[k], 1.0, &self.units, to);
                let freedom = &loops.freedoms[k];
                self.loop_bounds[k] = passed(freedom.lower, freedom.upper, motion.loop_theta[k]);
            }
        }
        for (coupling, block) in loops.couplings.iter().zip(&loops.blocks[loops.joints.len()..]) {
            let i = block.start;
            space.c[i] = -coupling.offset;
            for (end, factor) in coupling.ends {
                match end {
                    End::Tree(j) => {
                        space.R[i * n + j] += factor * self.units[j];
                        space.c[i] += factor * motion.theta[j];
                    }
                    End::Loop(k) => {
                        (0..n).for_each(|j| space.R[i * n + j] += factor * self.S[k * n + j]);
                        space.c[i] += factor * motion.loop_theta[k];
                    }
                }
            }
        }
        space.solve(&loops.blocks);
    }

    /// Whether springs hold what the closures leave; else a freedom of the tree that is loose.
    pub fn check(&mut self, model: &Constants, motion: &Motion) -> Result<(), usize> {
        self.close::<false>(model, motion, &Pose::identity());
        for (i, freedom) in model.freedoms.iter().enumerate() {
            self.stiffness[i] = freedom.stiffness * self.units[i] * self.units[i];
        }
        for (k, freedom) in model.loops.freedoms.iter().enumerate() {
            self.loop_stiffness[k] = freedom.stiffness;
        }
        self.elastic();
        let z = self.space.free.len();
        // A motion with 1e-10 of the largest stiffness is not held.
        let largest = (0..z).map(|k| self.K0[k * z + k]).fold(0.0, f64::max);
        (0..z).for_each(|k| self.K0[k * z + k] -= 1e-10 * largest);
        if z == 0 || cholesky::factor(&mut self.K0[..z * z], z) {
            return Ok(());
        }
        let moves = |i: usize| (0..z).any(|k| self.space.Z[i * z + k].abs() > 1e-6);
        let loose = (0..model.freedoms.len()).find(|&i| model.freedoms[i].stiffness == 0.0 && moves(i));
        Err(loose.unwrap_or(0))
    }

    /// SZ, and K₀ = Zᵀ(K + SᵀK_l S)Z.
    #[inline(always)]
    fn elastic(&mut self) {
        let z = self.space.free.len();
        let n = self.stiffness.len();
        let (Z, S) = (&self.space.Z, &self.S);
        self.K0[..z * z].fill(0.0);
        for i in 0..n {
            outer(&mut self.K0, z, &Z[i * z..(i + 1) * z], self.stiffness[i]);
        }
        for k in 0..self.loop_stiffness.len() {
            let to = &mut self.SZ[k * z..(k + 1) * z];
            to.fill(0.0);
            for i in 0..n {
                let s = S[k * n + i];
                if s != 0.0 {
                    to.iter_mut().zip(&Z[i * z..(i + 1) * z]).for_each(|(t, x)| *t += s * x);
                }
            }
            outer(&mut self.K0, z, &self.SZ[k * z..(k + 1) * z], self.loop_stiffness[k]);
        }
    }

    /// Springs and limits of all freedoms and the loads on them.
    #[inline(always)]
    fn drive(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        motion: &Motion,
        torques: &[f64],
        bounds: &[f64],
    ) {
        let spring = |freedom: &Freedom, q: f64, bound: f64| {
            let (mut k, mut f) =
                (freedom.stiffness, freedom.stiffness * (inputs.rest[freedom.coordinate] - q));
            if !bound.is_nan() {
                k += freedom.limit;
                f += freedom.limit * (bound - q);
            }
            (k, f)
        };
        for (i, freedom) in model.freedoms.iter().enumerate() {
            let (k, f) = spring(freedom, motion.theta[i], bounds[i]);
            let u = self.units[i];
            (self.stiffness[i], self.force[i]) = (k * u * u, (f + torques[i]) * u);
        }
        for (k, freedom) in model.loops.freedoms.iter().enumerate() {
            let (stiffness, force) = spring(freedom, motion.loop_theta[k], self.loop_bounds[k]);
            (self.loop_stiffness[k], self.loop_force[k]) = (stiffness, force);
        }
    }

    /// Adds the closures' forces to the loads that each link carries, and makes the levers of both.
    #[inline(always)]
    pub fn bend<const FUSED: bool>(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        motion: &Motion,
        gathered: &mut Gathered,
        bounds: &[f64],
    ) {
        let (n, places) = (model.freedoms.len(), &motion.places);
        self.drive(model, inputs, motion, &gathered.torques, bounds);
        // Forces of the tree's springs and loads and of the loops' springs, per coordinate.
        self.right[..n].copy_from_slice(&self.force);
        for (k, f) in self.loop_force.iter().enumerate().filter(|(_, f)| **f != 0.0) {
            (0..n).for_each(|i| self.right[i] += self.S[k * n + i] * f);
        }
        self.space.forces(&self.right[..n], &mut self.lambda);
        for (joint, block) in model.loops.joints.iter().zip(&model.loops.blocks) {
            let mut w = ZERO;
            for i in block.clone() {
                add::<FUSED>(&mut w, self.lambda[i] * self.scales[i], &self.rows[i]);
            }
            for k in joint.first..joint.first + joint.kind.freedoms() {
                add::<FUSED>(&mut w, self.loop_force[k], &self.coordinates[k]);
            }
            // At the joint: the force there, and the torque that is left.
            let arm = joint.arm(places, &motion.base);
            let couple = minus(angular(&w), cross::<FUSED, _>(arm, linear(&w)));
            for (side, sign) in joint.sides.iter().zip([1.0, -1.0]) {
                let mut load = Load::ZERO;
                load.push(linear(&w).map(|x| x * sign), arm);
                load.twist(couple.map(|x| x * sign));
                side.iter().for_each(|&link| gathered.loads[link].add(&load));
            }
        }
        gathered.lever::<FUSED>(model, places);
    }

    /// Solves a step of h seconds; sets the change and the rates of all freedoms of the tree. False if a matrix is
    /// not definite.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn solve<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        inputs: &Inputs,
        motion: &Motion,
        gathered: &Gathered,
        grips: &[Grip],
        base: &Row,
        bounds: &[f64],
        h: f64,
        change: &mut [f64],
        rates: &mut [f64],
    ) -> bool {
        let (n, places) = (model.freedoms.len(), &motion.places);
        let z = self.space.free.len();
        self.drive(model, inputs, motion, &gathered.torques, bounds);
        self.elastic();
        self.stiffen::<FUSED>(model, places, &gathered.levers, z);
        if !cholesky::factor(&mut self.Kz[..z * z], z) {
            return false;
        }
        // r_z at θ + δ
        let delta = &self.space.particular;
        self.right[..z].fill(0.0);
        for i in 0..n {
            let f = self.force[i] - self.stiffness[i] * delta[i];
            (0..z).for_each(|k| self.right[k] += f * self.space.Z[i * z + k]);
        }
        for l in 0..self.loop_force.len() {
            let moved = (0..n).map(|i| self.S[l * n + i] * delta[i]).sum::<f64>();
            let f = self.loop_force[l] - self.loop_stiffness[l] * moved;
            (0..z).for_each(|k| self.right[k] += f * self.SZ[l * z + k]);
        }
        self.error[..z].copy_from_slice(&self.right[..z]);
        cholesky::solve(&self.Kz[..z * z], z, &mut self.error[..z]);
        let r = self.shapes::<FUSED>(model, plan, places, z);
        self.rank = r;
        self.assemble::<FUSED>(model, motion, gathered, r, h);
        // q = T_zᵀ r_z; `left` keeps it.
        for u in 0..r {
            let q = (0..z).map(|k| self.Tz[k * r + u] * self.right[k]).sum::<f64>();
            self.left[u] = q;
            self.momentum[u] += h * q;
            self.A[u * r + u] += h * h;
        }
        for grip in grips {
            self.hold::<FUSED>(model, plan, places, base, grip, r);
        }
        if !cholesky::factor(&mut self.A[..r * r], r) {
            return false;
        }
        if let Some(captured) = &mut self.captured {
            captured.take(model, &self.A, &self.L, [6 * plan.ports.len(), r, r], |port| {
                port_arm(plan, places, port)
            });
        }
        cholesky::solve(&self.A[..r * r], r, &mut self.momentum[..r]);
        for k in 0..z {
            self.error[k] -= (0..r).map(|u| self.Tz[k * r + u] * self.left[u]).sum::<f64>();
        }
        for i in 0..n {
            let followed = (0..z).map(|k| self.space.Z[i * z + k] * self.error[k]).sum::<f64>();
            change[i] = self.units[i] * (followed + self.space.particular[i]);
            rates[i] = (0..r).map(|u| self.T[i * r + u] * self.momentum[u]).sum::<f64>();
        }
        true
    }

    /// H with ZᵀGZ = H + Hᵀ: freedoms i and j before it have G_ij = ω_j·m_i, and so with rows z of Z
    /// H = Σ z mᵀ(Ω + ½ ω zᵀ), Ω = Σ ω zᵀ of those before.
    #[inline(always)]
    pub fn geometric<const FUSED: bool>(
        &mut self,
        model: &Constants,
        places: &Places,
        levers: &[V3],
        z: usize,
    ) -> &[f64] {
        self.H[..z * z].fill(0.0);
        for (n, link) in model.links.iter().enumerate() {
            if link.parent == BASE {
                self.turns[3 * z * n..3 * z * (n + 1)].fill(0.0);
            } else {
                self.turns.copy_within(3 * z * link.parent..3 * z * (link.parent + 1), 3 * z * n);
            }
            let (x, yz) = self.turns[3 * z * n..3 * z * (n + 1)].split_at_mut(z);
            let (y, w) = yz.split_at_mut(z);
            for i in link.first..link.first + link.count {
                let Z = &self.space.Z[i * z..(i + 1) * z];
                let m = levers[i].map(|x| x * self.units[i]);
                let turn = angular(&places.axes[i]).map(|x| x * self.units[i]);
                let own = 0.5 * dot3::<FUSED, _>(m, turn);
                let bent = &mut self.bent[..z];
                for k in 0..z {
                    bent[k] = own * Z[k] + dot3::<FUSED, _>(m, [x[k], y[k], w[k]]);
                    x[k] += turn[0] * Z[k];
                    y[k] += turn[1] * Z[k];
                    w[k] += turn[2] * Z[k];
                }
                for k in (0..z).filter(|&k| Z[k] != 0.0) {
                    self.H[k * z..(k + 1) * z].iter_mut().zip(&*bent).for_each(|(t, b)| *t += Z[k] * b);
                }
            }
        }
        &self.H[..z * z]
    }

    /// K_z = K₀ + as much of ZᵀGZ as leaves every motion some of its stiffness.
    #[inline(always)]
    fn stiffen<const FUSED: bool>(&mut self, model: &Constants, places: &Places, levers: &[V3], z: usize) {
        self.geometric::<FUSED>(model, places, levers, z);
        // Of symmetric matrices, the lower triangle alone is used.
        for i in 0..z {
            for k in 0..=i {
                self.Gz[i * z + k] = self.H[i * z + k] + self.H[k * z + i];
            }
        }
        let part = PARTS.into_iter().find(|part| {
            for i in 0..z * z {
                self.Kz[i] = (1.0 - LEAST) * self.K0[i] + part * self.Gz[i];
            }
            cholesky::factor(&mut self.Kz[..z * z], z)
        });
        let part = part.unwrap_or(0.0);
        for i in 0..z * z {
            self.Kz[i] = self.K0[i] + part * self.Gz[i];
        }
    }

    /// A Z, C and T. Returns the rank.
    #[inline(always)]
    fn shapes<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        z: usize,
    ) -> usize {
        let (n, p) = (model.freedoms.len(), 6 * plan.ports.len());
        let scale = |i: usize| if i < 3 { 1.0 / model.radius } else { 1.0 / std::f64::consts::PI };
        self.AZ[..p * z].fill(0.0);
        for port in 0..plan.ports.len() {
            let arm = port_arm(plan, places, port);
            for k in 0..6 {
                let mut unit = [0.0; 3];
                unit[k % 3] = scale(k);
                let wrench =
                    if k < 3 { row(unit, cross::<FUSED, _>(arm, unit)) } else { row([0.0; 3], unit) };
                let to = &mut self.AZ[(6 * port + k) * z..(6 * port + k + 1) * z];
                let mut most = 0.0f64;
                let mut at = plan.ports[port].link;
                while at != BASE {
                    let link = &model.links[at];
                    for i in link.first..link.first + link.count {
                        let a = self.units[i] * dot::<FUSED>(&places.axes[i], &wrench);
                        most = most.max(a.abs());
                        to.iter_mut().zip(&self.space.Z[i * z..(i + 1) * z]).for_each(|(t, x)| *t += a * x);
                    }
                    at = link.parent;
                }
                to.iter_mut().filter(|t| t.abs() < HELD * most).for_each(|t| *t = 0.0);
            }
        }
        self.X[..p * z].copy_from_slice(&self.AZ[..p * z]);
        for i in 0..p {
            cholesky::solve(&self.Kz[..z * z], z, &mut self.X[i * z..(i + 1) * z]);
            for k in 0..p {
                let (a, x) = (&self.AZ[k * z..(k + 1) * z], &self.X[i * z..(i + 1) * z]);
                self.C[i * p + k] = a.iter().zip(x).map(|(a, x)| a * x).sum();
            }
        }
        let r = pivoted_cholesky::factor::<FUSED>(
            &self.C,
            p,
            RANK,
            &mut self.L,
            &mut self.left,
            &mut self.pivots,
        );
        pivoted_cholesky::invert::<FUSED>(&self.L, p, &self.pivots[..r], &mut self.Y);
        // T_z = K_z⁻¹ Zᵀ Aᵀ Y, T = Z T_z, and S Z T_z
        for k in 0..z {
            for u in 0..r {
                let column = |t: usize| self.Y[t * r + u] * self.X[self.pivots[t] * z + k];
                self.Tz[k * r + u] = (0..=u).map(column).sum();
            }
        }
        let Tz = &self.Tz[..z * r];
        let combine = |rows: &[f64], unit: f64, to: &mut [f64]| {
            to.fill(0.0);
            for k in (0..z).filter(|&k| rows[k] != 0.0) {
                let x = unit * rows[k];
                to.iter_mut().zip(&Tz[k * r..(k + 1) * r]).for_each(|(t, s)| *t += x * s);
            }
        };
        for i in 0..n {
            let rows = &self.space.Z[i * z..(i + 1) * z];
            combine(rows, self.units[i], &mut self.T[i * r..(i + 1) * r]);
        }
        for l in 0..self.loop_force.len() {
            combine(&self.SZ[l * z..(l + 1) * z], 1.0, &mut self.ST[l * r..(l + 1) * r]);
        }
        r
    }

    /// A = TᵀMT + TᵀaT + hTᵀDT, and the momentum, relative to the base.
    #[inline(always)]
    fn assemble<const FUSED: bool>(
        &mut self,
        model: &Constants,
        motion: &Motion,
        gathered: &Gathered,
        r: usize,
        h: f64,
    ) {
        self.A[..r * r].fill(0.0);
        self.momentum[..r].fill(0.0);
        let places = &motion.places;
        for (n, link) in model.links.iter().enumerate() {
            if link.parent == BASE {
                self.V[n * r..(n + 1) * r].fill(ZERO);
            } else {
                self.V.copy_within(link.parent * r..(link.parent + 1) * r, n * r);
            }
            let V = &mut self.V[n * r..(n + 1) * r];
            for i in link.first..link.first + link.count {
                // VᵀF T + its transpose, V before the joint and half of what it adds
                let (s, F, T) = (&places.axes[i], &gathered.moved[i], &self.T[i * r..(i + 1) * r]);
                let own = 0.5 * dot::<FUSED>(s, F);
                let p = gathered.along[i] - dot::<FUSED>(F, &places.base);
                for u in 0..r {
                    let a = own * T[u] + dot::<FUSED>(&V[u], F);
                    for t in 0..r {
                        self.A[u * r + t] += a * T[t];
                        self.A[t * r + u] += a * T[t];
                    }
                    self.momentum[u] += p * T[u];
                }
                (0..r).for_each(|u| add::<FUSED>(&mut V[u], T[u], s));
            }
        }
        let tree = model.freedoms.iter().zip(&motion.rates).zip(self.T.chunks_exact(r.max(1)));
        let loops = model.loops.freedoms.iter().zip(&motion.loop_rates).zip(self.ST.chunks_exact(r.max(1)));
        for ((freedom, rate), T) in tree.chain(loops) {
            let weight = freedom.armature + h * freedom.damping;
            for u in 0..r {
                self.momentum[u] += freedom.armature * rate * T[u];
                (0..r).for_each(|t| self.A[t * r + u] += weight * T[t] * T[u]);
            }
        }
    }

    /// Adds the spring and damper of a pull, with J = S⁻¹L the port's motion per coordinate.
    #[inline(always)]
    fn hold<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        base: &Row,
        grip: &Grip,
        r: usize,
    ) {
        let m = 6 * plan.ports.len();
        let J = |k: usize, u: usize| {
            self.L[(6 * grip.port + k) * m + u] * if k < 3 { model.radius } else { std::f64::consts::PI }
        };
        let arm = port_arm(plan, places, grip.port);
        let at = super::rows::plus(linear(base), cross::<FUSED, _>(angular(base), arm));
        for u in 0..r {
            let v: V3 = std::array::from_fn(|k| J(k, u));
            let w: V3 = std::array::from_fn(|k| J(3 + k, u));
            let Kv = v.map(|x| x * grip.linear);
            let Kw: V3 = std::array::from_fn(|k| dot3::<FUSED, _>(grip.angular[k], w));
            for t in 0..r {
                self.A[t * r + u] += (0..3).map(|k| J(k, t) * Kv[k] + J(3 + k, t) * Kw[k]).sum::<f64>();
            }
            self.momentum[u] -= dot3::<FUSED, _>(Kv, at) + dot3::<FUSED, _>(Kw, angular(base));
        }
    }

    /// Finds the limits of loop joints that act where the step ends; whether any is new or gone.
    #[inline(always)]
    pub fn limit(&mut self, model: &Constants, motion: &Motion, change: &[f64], letting_go: bool) -> bool {
        let n = model.freedoms.len();
        let mut changed = false;
        let limited = |f: &Freedom| f.lower > f64::NEG_INFINITY || f.upper < f64::INFINITY;
        for (k, freedom) in model.loops.freedoms.iter().enumerate().filter(|(_, f)| limited(f)) {
            let moved = (0..n).map(|i| self.S[k * n + i] / self.units[i] * change[i]).sum::<f64>();
            let bound = passed(freedom.lower, freedom.upper, motion.loop_theta[k] + moved);
            let before = self.loop_bounds[k];
            if before.is_nan() != bound.is_nan() && (letting_go || before.is_nan()) {
                self.loop_bounds[k] = bound;
                changed = true;
            }
        }
        changed
    }
}

/// K += w x xᵀ.
#[inline(always)]
fn outer(K: &mut [f64], z: usize, x: &[f64], w: f64) {
    for i in 0..z {
        let f = w * x[i];
        if f != 0.0 {
            K[i * z..(i + 1) * z].iter_mut().zip(x).for_each(|(k, x)| *k += f * x);
        }
    }
}
