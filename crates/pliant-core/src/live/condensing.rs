//! The small system of one tree: how its ports give, and what moves with them.
//!
//! Joint shapes are static answers to wrenches on the ports: T = Cθ Aᵀ Y, A the ports' motion per joint coordinate.
//! For a joint of a segment that is c·sᵀW, with one 6×n matrix W for the whole segment, so that with
//! G = Σ c s sᵀ over the joints up to a link, that link moves by V = V₀ + G W. Two joints i before j move together what
//! j carries, of mass M_j: with F = M_j s_j, sᵢᵀM_j s_j = sᵢ·F, and every sum over a segment is one of
//!
//! ```text
//! Σ c s Fᵀ, Σ c s uᵀ   mass, u = (G − ½ c s sᵀ)F: TᵀMT = Wᵀ(Σ c s uᵀ W + Σ c s Fᵀ V₀) + its transpose
//! Σ c s mᵀ, Σ c s uᵀ   geometric stiffness, the same with F = (0, m)
//! Σ c s sᵀp, Σ s e     momentum, and what is out of balance
//! ```
//!
//! with G up to the joint itself, which costs a link products of matrices with vectors, and none with matrices.
//!
//! C = A Cθ Aᵀ = L Lᵀ by Cholesky with pivots, as far as its rank; Y = E L₁₁⁻ᵀ, E the pivots, makes TᵀKT = I:
//! coordinates in which stiffness is one, and what a rank-deficient effector cannot do is simply not there.

use super::gathering::Gathered;
use super::kinematics::Places;
use super::model::Constants;
use super::plan::{NONE, Plan, Tree};
use super::rows::{
    Inertia, Row, Rows, V3, ZERO, add, angular, cross, dot, dot3, fma, linear, minus, plus, row,
};
use crate::linear::dense::cholesky;
use crate::linear::dense::eigen;
use crate::linear::dense::pivoted_cholesky;

/// The least that geometric stiffness may leave of a motion's stiffness.
const LEAST: f64 = 0.2;

/// Pivots of the compliance below this, of the largest, are not a motion: what acts there is followed as at rest.
pub(super) const RANK: f64 = 1e-6;

/// Sums over a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub G: Rows,
    /// Σ c s Fᵀ and Σ c s uᵀ of mass.
    pub M1: Rows,
    pub M2: Rows,
    /// Σ c s m_k, k = 0, 1, 2, and Σ c s uᵀ of geometric stiffness.
    B1: [Row; 3],
    B2: Rows,
    /// Σ c s sᵀp and Σ s e.
    pub p: Row,
    g: Row,
}

impl Sums {
    const ZERO: Sums = Sums {
        G: Rows::ZERO,
        M1: Rows::ZERO,
        M2: Rows::ZERO,
        B1: [ZERO; 3],
        B2: Rows::ZERO,
        p: ZERO,
        g: ZERO,
    };
}

/// Freedoms whose s, c u of mass and c u of geometric stiffness are kept and then added at once, so that sums stay in
/// registers.
const BLOCK: usize = 16;

impl Sums {
    /// Adds Σ s (c u)ᵀ, two rows at a time.
    #[inline(always)]
    fn take<const FUSED: bool>(&mut self, block: &[[Row; 3]]) {
        for k in [0, 2, 4] {
            let mut M = [self.M2.0[k], self.M2.0[k + 1]];
            let mut B = [self.B2.0[k], self.B2.0[k + 1]];
            for [s, u, b] in block {
                for j in 0..2 {
                    add::<FUSED>(&mut M[j], s[k + j], u);
                    add::<FUSED>(&mut B[j], s[k + j], b);
                }
            }
            [self.M2.0[k], self.M2.0[k + 1]] = M;
            [self.B2.0[k], self.B2.0[k + 1]] = B;
        }
    }
}

/// What one freedom is, in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// k + limits that act, and one over it.
    pub stiffness: f64,
    pub softness: f64,
    /// armature + h·damping.
    pub weight: f64,
    /// armature·θ̇.
    pub momentum: f64,
    /// How far it is from balance: softness·(springs, limits, loads).
    pub error: f64,
}

/// The spring of a pull on a port, world axes at the port: h²K + hD.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grip {
    pub port: usize,
    pub linear: f64,
    pub angular: [V3; 3],
}

/// Memory for the small systems.
#[derive(Clone, Debug)]
pub(super) struct Condensed {
    pub sums: Vec<Sums>,
    /// G and Σ s e from the root to the end of each segment.
    total: Vec<(Rows, Row)>,
    /// Wrench at P of each unit row of each port.
    units: Vec<Row>,
    C: Vec<f64>,
    L: Vec<f64>,
    left: Vec<f64>,
    pivots: Vec<usize>,
    Y: Vec<f64>,
    /// Columns of W and V₀ of each segment.
    W: Vec<Row>,
    V0: Vec<Row>,
    A: Vec<f64>,
    /// The motion of a port per coordinate, and ΣMV, mass between coordinates and a free base.
    J: Vec<f64>,
    coupling: Vec<Row>,
    K: Vec<f64>,
    test: Vec<f64>,
    right: Vec<f64>,
    out: Vec<f64>,
    /// W v⁺ and W q of each segment: c·s· of it is θ̇ of a joint, and the part of its error that moves with mass.
    pub rate: Vec<Row>,
    pub held: Vec<Row>,
    /// The twist of each free base at the end of the step, at P.
    pub floats: Vec<Row>,
    /// Momentum of all that free bases carry, at P in the pose of the start, and what the step changed of it.
    pub pushes: Vec<(Row, Row)>,
    /// Number of motions of each tree.
    pub rank: Vec<usize>,
    /// For contact, where it is asked for: the factors of each tree's A, and the motion of its ports per coordinate.
    pub captured: Option<Vec<Captured>>,
}

/// Factors of a small system and the motion of its ports per coordinate, six rows a port, world axes at the port.
#[derive(Clone, Debug, Default)]
pub(super) struct Captured {
    pub n: usize,
    pub A: Vec<f64>,
    pub J: Vec<f64>,
}

impl Captured {
    /// Takes factors A, n×n, and of n coordinates r in units of L, m rows; the others are those of a free base.
    pub fn take(
        &mut self,
        model: &Constants,
        A: &[f64],
        L: &[f64],
        [m, r, n]: [usize; 3],
        arms: impl Fn(usize) -> V3,
    ) {
        self.n = n;
        self.A.clear();
        self.A.extend_from_slice(&A[..n * n]);
        self.J.clear();
        self.J.resize(m * n, 0.0);
        for (row, J) in self.J.chunks_exact_mut(n.max(1)).enumerate() {
            let (port, k) = (row / 6, row % 6);
            let scale = if k < 3 { model.radius } else { std::f64::consts::PI };
            (0..r).for_each(|u| J[u] = L[row * m + u] * scale);
            // What moves by (v, ω) at P moves at the port by (v + ω×arm, ω).
            for (u, x) in J[r..].iter_mut().enumerate() {
                let mut unit = [0.0; 3];
                unit[u % 3] = 1.0;
                *x = match (u < 3, k < 3) {
                    (true, true) | (false, false) => unit[k % 3],
                    (true, false) => 0.0,
                    (false, true) => cross::<false, _>(unit, arms(port))[k],
                };
            }
        }
    }
}

impl Condensed {
    pub fn new(plan: &Plan) -> Condensed {
        let m = plan.trees.iter().map(|t| 6 * t.ports.len()).max().unwrap_or(0);
        let s = plan.segments.len();
        let floats = plan.trees.iter().filter(|t| t.float != NONE).count() + plan.rigid.len();
        Condensed {
            sums: vec![Sums::ZERO; s],
            total: vec![(Rows::ZERO, ZERO); s],
            units: vec![ZERO; 6 * plan.ports.len()],
            C: vec![0.0; m * m],
            L: vec![0.0; m * m],
            left: vec![0.0; m],
            pivots: vec![0; m],
            Y: vec![0.0; m * m],
            W: vec![ZERO; s * m],
            V0: vec![ZERO; s * m],
            A: vec![0.0; (m + 6) * (m + 6)],
            J: vec![0.0; 6 * (m + 6)],
            coupling: vec![ZERO; m],
            floats: vec![ZERO; floats],
            pushes: vec![(ZERO, ZERO); floats],
            K: vec![0.0; m * m],
            test: vec![0.0; m * m],
            right: vec![0.0; m + 6],
            out: vec![0.0; m],
            rate: vec![ZERO; s],
            held: vec![ZERO; s],
            rank: vec![0; plan.trees.len()],
            captured: None,
        }
    }

    /// Condenses all trees and solves their steps of h seconds, at whose end the base has a given twist. False if a
    /// matrix is not definite.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn solve<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        gathered: &Gathered,
        drives: &[Drive],
        grips: &[Grip],
        base: &Row,
        h: f64,
    ) -> bool {
        let mut block = [[ZERO; 3]; BLOCK];
        for (s, segment) in plan.segments.iter().enumerate() {
            let sums = &mut self.sums[s];
            *sums = Sums::ZERO;
            let root = segment.parent == NONE && model.floats.is_empty() && places.base == ZERO;
            let mut filled = 0;
            for &n in &plan.path[segment.path.clone()] {
                let link = &model.links[n];
                for i in link.first..link.first + link.count {
                    let to = &mut block[filled];
                    if root {
                        sum_joint::<FUSED, true>(places, gathered, drives, i, sums, to);
                    } else {
                        sum_joint::<FUSED, false>(places, gathered, drives, i, sums, to);
                    }
                    filled += 1;
                    if filled == BLOCK {
                        sums.take::<FUSED>(&block);
                        filled = 0;
                    }
                }
            }
            sums.take::<FUSED>(&block[..filled]);
            let (G, g) = if segment.parent == NONE { (Rows::ZERO, ZERO) } else { self.total[segment.parent] };
            let mut total = (sums.G, sums.g);
            for i in 0..6 {
                add::<FUSED>(&mut total.0.0[i], 1.0, &G.0[i]);
            }
            add::<FUSED>(&mut total.1, 1.0, &g);
            self.total[s] = total;
        }
        for &f in &plan.rigid {
            // (ΣM) φ⁺ = Σp + h ΣM·a
            let (M, a) = &gathered.floats[f];
            let mut p = gathered.momentum(model.floats[f]);
            let push = M.times::<FUSED>(a).map(|x| h * x);
            add::<FUSED>(&mut p, 1.0, &push);
            self.pushes[f] = (p, push);
            let Some(factor) = M.matrix().cholesky() else { return false };
            let x = factor.solve(&nalgebra::Vector6::from_column_slice(&p[..6]));
            self.floats[f] = row([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        }
        for t in 0..plan.trees.len() {
            if !self.solve_tree::<FUSED>(model, plan, places, gathered, grips, base, t, h) {
                return false;
            }
        }
        true
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn solve_tree<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        gathered: &Gathered,
        grips: &[Grip],
        base: &Row,
        t: usize,
        h: f64,
    ) -> bool {
        let tree = &plan.trees[t];
        let m = 6 * tree.ports.len();
        self.compliance::<FUSED>(model, plan, places, tree);
        let r = pivoted_cholesky::factor::<FUSED>(
            &self.C,
            m,
            RANK,
            &mut self.L,
            &mut self.left,
            &mut self.pivots,
        );
        pivoted_cholesky::invert::<FUSED>(&self.L, m, &self.pivots[..r], &mut self.Y);
        self.rank[t] = r;
        self.shapes::<FUSED>(plan, tree, m, r);
        let floats = tree.float != NONE;
        self.assemble::<FUSED>(tree, if floats { &ZERO } else { &places.base }, r);
        // q = TᵀKe = Yᵀ A e, with A e in `out`.
        for k in 0..r {
            self.left[k] = self.out[self.pivots[k]];
        }
        for u in 0..r {
            self.out[u] = (0..=u).map(|k| self.Y[k * r + u] * self.left[k]).sum();
            self.right[u] = fma::<FUSED>(h, self.out[u], self.right[u]);
        }
        // K = I + geometric stiffness, if that leaves every motion some of its own.
        for i in 0..r * r {
            self.test[i] = self.K[i];
        }
        for i in 0..r {
            self.test[i * r + i] += 1.0 - LEAST;
        }
        let geometric = cholesky::factor(&mut self.test[..r * r], r);
        if !geometric {
            eigen::raise(&mut self.K[..r * r], &mut self.test[..r * r], r, LEAST - 1.0);
        }
        for i in 0..r * r {
            self.A[i] = fma::<FUSED>(h * h, self.K[i], self.A[i]);
        }
        for i in 0..r {
            self.A[i * r + i] += h * h;
        }
        let n = if floats { r + 6 } else { r };
        if floats {
            let p = gathered.momentum(model.floats[tree.float]);
            self.float::<FUSED>(&gathered.floats[tree.float], p, r, h);
        }
        for grip in grips.iter().filter(|g| tree.ports.contains(&g.port)) {
            self.hold::<FUSED>(model, plan, places, if floats { &ZERO } else { base }, tree, grip, r, n);
        }
        if !cholesky::factor(&mut self.A[..n * n], n) {
            return false;
        }
        if let Some(captured) = &mut self.captured {
            let arm = |port: usize| port_arm(plan, places, tree.ports.start + port);
            captured[t].take(model, &self.A, &self.L, [m, r, n], arm);
        }
        cholesky::solve(&self.A[..n * n], n, &mut self.right[..n]);
        if floats {
            let x = &self.right[r..n];
            self.floats[tree.float] = row([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
            // ΣM φ⁺ + ΣMV v⁺, less Σp
            let mut after = gathered.floats[tree.float].0.times::<FUSED>(&self.floats[tree.float]);
            for u in 0..r {
                add::<FUSED>(&mut after, self.right[u], &self.coupling[u]);
            }
            let before = gathered.momentum(model.floats[tree.float]);
            self.pushes[tree.float] = (after, std::array::from_fn(|i| after[i] - before[i]));
        }
        for s in tree.segments.clone() {
            let W = &self.W[s * m..s * m + r];
            let (mut rate, mut held) = (ZERO, ZERO);
            for u in 0..r {
                add::<FUSED>(&mut rate, self.right[u], &W[u]);
                add::<FUSED>(&mut held, self.out[u], &W[u]);
            }
            (self.rate[s], self.held[s]) = (rate, held);
        }
        true
    }

    /// C = A Cθ Aᵀ of the tree's ports, translations over the radius and rotations over π; A e in `out`.
    #[inline(always)]
    fn compliance<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        tree: &Tree,
    ) {
        let count = tree.ports.len();
        let m = 6 * count;
        let scale = |i: usize| if i < 3 { 1.0 / model.radius } else { 1.0 / std::f64::consts::PI };
        for p in 0..count {
            let arm = port_arm(plan, places, tree.ports.start + p);
            // Xᵀe: a unit force has its torque about P, a unit torque is what it is.
            for k in 0..6 {
                let mut unit = [0.0; 3];
                unit[k % 3] = scale(k);
                let wrench =
                    if k < 3 { row(unit, cross::<FUSED, _>(arm, unit)) } else { row([0.0; 3], unit) };
                self.units[6 * (tree.ports.start + p) + k] = wrench;
            }
        }
        let units = &self.units[6 * tree.ports.start..6 * tree.ports.end];
        for p in 0..count {
            let own = tree.common[p * count + p];
            for k in 0..6 {
                self.out[6 * p + k] = dot::<FUSED>(&units[6 * p + k], &self.total[own].1);
            }
            for q in 0..=p {
                let common = tree.common[p * count + q];
                let G = &self.total[common].0.0;
                for k in 0..6 {
                    let mut Gu = ZERO;
                    let u = &units[6 * q + k];
                    for i in 0..6 {
                        add::<FUSED>(&mut Gu, u[i], &G[i]);
                    }
                    for l in 0..6 {
                        let c = dot::<FUSED>(&units[6 * p + l], &Gu);
                        self.C[(6 * p + l) * m + 6 * q + k] = c;
                        self.C[(6 * q + k) * m + 6 * p + l] = c;
                    }
                }
            }
        }
    }

    /// W and V₀ of every segment.
    #[inline(always)]
    fn shapes<const FUSED: bool>(&mut self, plan: &Plan, tree: &Tree, m: usize, r: usize) {
        for s in tree.segments.clone() {
            let segment = &plan.segments[s];
            let (before, rest) = self.W.split_at_mut(s * m);
            let W = &mut rest[..r];
            W.fill(ZERO);
            for k in 0..r {
                let port = tree.ports.start + self.pivots[k] / 6;
                if segment.ports.binary_search(&port).is_err() {
                    continue;
                }
                let unit = &self.units[6 * tree.ports.start + self.pivots[k]];
                for u in k..r {
                    add::<FUSED>(&mut W[u], self.Y[k * r + u], unit);
                }
            }
            // V₀ = V₀ + G W at the end of the segment before.
            let (V_before, V_rest) = self.V0.split_at_mut(s * m);
            let V0 = &mut V_rest[..r];
            if segment.parent == NONE {
                V0.fill(ZERO);
            } else {
                let p = segment.parent;
                let G = &self.sums[p].G.0;
                for u in 0..r {
                    V0[u] = V_before[p * m + u];
                    let w = &before[p * m + u];
                    for i in 0..6 {
                        add::<FUSED>(&mut V0[u], w[i], &G[i]);
                    }
                }
            }
        }
    }

    /// A = TᵀMT + hTᵀDT, K = geometric stiffness, and the momentum on the right-hand side, relative to the base:
    /// what its acceleration does is among the loads.
    #[inline(always)]
    fn assemble<const FUSED: bool>(&mut self, tree: &Tree, base: &Row, r: usize) {
        let m = 6 * tree.ports.len();
        self.A[..r * r].fill(0.0);
        self.K[..r * r].fill(0.0);
        self.right[..r].fill(0.0);
        self.coupling[..r].fill(ZERO);
        for s in tree.segments.clone() {
            let sums = &self.sums[s];
            let (W, V0) = (&self.W[s * m..s * m + r], &self.V0[s * m..s * m + r]);
            let root = s == tree.segments.start && tree.float == NONE;
            // Σ c s sᵀ(p − M·base)
            let mut p = sums.p;
            if *base != ZERO {
                (0..6).for_each(|i| p[i] -= dot::<FUSED>(&sums.M1.0[i], base));
            }
            for u in 0..r {
                // A column of Σ c s uᵀ W + Σ c s Fᵀ V₀, of mass and of geometric stiffness, and of ΣMV
                let (mut moved, mut bent) = (ZERO, ZERO);
                for i in 0..6 {
                    moved[i] = dot::<FUSED>(&sums.M2.0[i], &W[u]);
                    bent[i] = dot::<FUSED>(&sums.B2.0[i], &W[u]);
                }
                if !root {
                    for i in 0..6 {
                        moved[i] += dot::<FUSED>(&sums.M1.0[i], &V0[u]);
                        add::<FUSED>(&mut self.coupling[u], W[u][i], &sums.M1.0[i]);
                    }
                    for k in 0..3 {
                        add::<FUSED>(&mut bent, V0[u][3 + k], &sums.B1[k]);
                    }
                }
                for t in 0..r {
                    let (a, k) = (dot::<FUSED>(&W[t], &moved), dot::<FUSED>(&W[t], &bent));
                    self.A[t * r + u] += a;
                    self.A[u * r + t] += a;
                    self.K[t * r + u] += k;
                    self.K[u * r + t] += k;
                }
                self.right[u] += dot::<FUSED>(&W[u], &p);
            }
        }
    }

    /// Adds six rows for a free base: ΣM φ⁺ + ΣMV v⁺ = Σp + h ΣM·a, and gives back to the links what relieved them of
    /// its acceleration a.
    #[inline(always)]
    fn float<const FUSED: bool>(&mut self, (M, a): &(Inertia, Row), mut p: Row, r: usize, h: f64) {
        let n = r + 6;
        // From stride r to stride n, last row first.
        for i in (0..r).rev() {
            for k in (0..r).rev() {
                self.A[i * n + k] = self.A[i * r + k];
            }
        }
        add::<FUSED>(&mut p, h, &M.times::<FUSED>(a));
        let mass = M.matrix();
        for i in 0..6 {
            for u in 0..r {
                let c = self.coupling[u][i];
                (self.A[u * n + r + i], self.A[(r + i) * n + u]) = (c, c);
            }
            (0..6).for_each(|k| self.A[(r + i) * n + r + k] = mass[(i, k)]);
            self.right[r + i] = p[i];
        }
        for u in 0..r {
            self.right[u] = fma::<FUSED>(h, dot::<FUSED>(&self.coupling[u], a), self.right[u]);
        }
    }

    /// Adds the spring and damper of a pull, with J = S⁻¹L the port's motion per coordinate, and that of a free base.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn hold<const FUSED: bool>(
        &mut self,
        model: &Constants,
        plan: &Plan,
        places: &Places,
        base: &Row,
        tree: &Tree,
        grip: &Grip,
        r: usize,
        n: usize,
    ) {
        let m = 6 * tree.ports.len();
        let first = 6 * (grip.port - tree.ports.start);
        let arm = port_arm(plan, places, grip.port);
        let at_port = |x: &Row| row(plus(linear(x), cross::<FUSED, _>(angular(x), arm)), angular(x));
        for u in 0..n {
            let column: Row = if u < r {
                let scale = |k: usize| if k < 3 { model.radius } else { std::f64::consts::PI };
                std::array::from_fn(|k| if k < 6 { self.L[(first + k) * m + u] * scale(k) } else { 0.0 })
            } else {
                let mut unit = ZERO;
                unit[u - r] = 1.0;
                at_port(&unit)
            };
            (0..6).for_each(|k| self.J[k * n + u] = column[k]);
        }
        let carried = at_port(base);
        for u in 0..n {
            let column: Row = std::array::from_fn(|k| if k < 6 { self.J[k * n + u] } else { 0.0 });
            let turned = std::array::from_fn(|k| dot3::<FUSED, _>(grip.angular[k], angular(&column)));
            let force = row(linear(&column).map(|x| x * grip.linear), turned);
            for t in 0..n {
                self.A[t * n + u] += (0..6).map(|k| self.J[k * n + t] * force[k]).sum::<f64>();
            }
            self.right[u] -= dot::<FUSED>(&force, &carried);
        }
    }
}

/// From P to a port.
#[inline(always)]
pub(super) fn port_arm(plan: &Plan, places: &Places, p: usize) -> V3 {
    let port = &plan.ports[p];
    minus(places.link(port.link).point(port.frame.position.into()), places.point)
}

/// Adds a freedom to the sums of its segment, but for Σ c s uᵀ: sets s and c u of mass and of geometric stiffness. What
/// only segments further out need is left out where `ROOT` says so.
#[inline(always)]
fn sum_joint<const FUSED: bool, const ROOT: bool>(
    places: &Places,
    gathered: &Gathered,
    drives: &[Drive],
    i: usize,
    sums: &mut Sums,
    to: &mut [Row; 3],
) {
    let (s, F, m, drive) = (&places.axes[i], &gathered.moved[i], &gathered.levers[i], &drives[i]);
    let c = drive.softness;
    let cs = s.map(|x| c * x);
    // u = (G + ½ c s sᵀ)F, G of the joints before; the joint's own weight w adds w c s c sᵀ, which is ½ w c s in u
    let own = 0.5 * c * (drive.weight + dot::<FUSED>(s, F));
    let mut u = s.map(|x| own * x);
    let own = 0.5 * c * dot3::<FUSED, _>(angular(s), *m);
    let mut b = s.map(|x| own * x);
    for k in 0..6 {
        add::<FUSED>(&mut u, F[k], &sums.G.0[k]);
        if k >= 3 {
            add::<FUSED>(&mut b, m[k - 3], &sums.G.0[k]);
        }
        add::<FUSED>(&mut sums.G.0[k], cs[k], s);
    }
    *to = [*s, u.map(|x| c * x), b.map(|x| c * x)];
    add::<FUSED>(&mut sums.p, gathered.along[i] + drive.momentum, &cs);
    add::<FUSED>(&mut sums.g, drive.error, s);
    if !ROOT {
        for k in 0..6 {
            add::<FUSED>(&mut sums.M1.0[k], cs[k], F);
        }
        for k in 0..3 {
            add::<FUSED>(&mut sums.B1[k], m[k], &cs);
        }
    }
}
