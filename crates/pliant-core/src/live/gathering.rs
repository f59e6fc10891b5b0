//! What pulls at every joint: loads, weight, mass and momentum of all that it carries, summed up from the leaves.
//!
//! A dead load f at x adds f to the sum F and x fᵀ to N; the torque about P is the antisymmetric part of N. With
//! s = (v, ω) the motion of a freedom at P, its generalised force and how that changes with the turn of any joint j
//! before it (or with its own) are
//!
//! ```text
//! τ = v·F + ω·Σ x×f,   −∂τ/∂θ_j = ω_j·m,   m = ω tr N − N ω − v × F
//! ```
//!
//! which is geometric stiffness: −f·∂²x/∂θ∂θ_j = −ω_j·((v + ω×x) × f).

use nalgebra::Vector6;

use super::condensing::Drive;
use super::kinematics::{Places, bracket_force};
use super::model::{BASE, Model};
use super::rows::{Inertia, Row, V3, ZERO, add, angular, cross, dot, dot3, fma, linear, plus, row};

/// Sums of loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub force: V3,
    /// N, row by row.
    pub spread: [V3; 3],
}

impl Load {
    pub const ZERO: Load = Load { force: [0.0; 3], spread: [[0.0; 3]; 3] };

    /// A force at a place, seen from P.
    #[inline(always)]
    pub fn push(&mut self, force: V3, at: V3) {
        self.force = plus(self.force, force);
        for i in 0..3 {
            for k in 0..3 {
                self.spread[i][k] += at[i] * force[k];
            }
        }
    }

    /// A couple, half of it on each side of the diagonal.
    #[inline(always)]
    pub fn twist(&mut self, torque: V3) {
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            self.spread[j][k] += 0.5 * torque[i];
            self.spread[k][j] -= 0.5 * torque[i];
        }
    }

    /// Force and torque about P.
    #[inline(always)]
    pub fn wrench(&self) -> Row {
        let N = &self.spread;
        row(self.force, [N[1][2] - N[2][1], N[2][0] - N[0][2], N[0][1] - N[1][0]])
    }

    /// What is felt of an acceleration: −M a.
    #[inline(always)]
    fn accelerate(&mut self, felt: &Row) {
        self.push(linear(felt).map(|x| -x), [0.0; 3]);
        self.twist(angular(felt).map(|x| -x));
    }

    /// m of a freedom that carries it.
    #[inline(always)]
    fn lever<const FUSED: bool>(&self, s: &Row) -> V3 {
        let (N, w) = (&self.spread, angular(s));
        let trace = N[0][0] + N[1][1] + N[2][2];
        let along = cross::<FUSED>(linear(s), self.force);
        std::array::from_fn(|k| fma::<FUSED>(w[k], trace, -dot3::<FUSED>(N[k], w)) - along[k])
    }

    /// Adds another.
    #[inline(always)]
    pub fn add(&mut self, other: &Load) {
        self.force = plus(self.force, other.force);
        for i in 0..3 {
            self.spread[i] = plus(self.spread[i], other.spread[i]);
        }
    }
}

/// What all joints carry.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    pub loads: Vec<Load>,
    /// p = M ξ − h (M β + ξ ×* M ξ), and M, of all that each link carries.
    pub momenta: Vec<Row>,
    pub inertias: Vec<Inertia>,
    /// τ and m of each freedom.
    pub torques: Vec<f64>,
    pub levers: Vec<V3>,
    /// F = M s and s·p of each freedom.
    pub moved: Vec<Row>,
    pub along: Vec<f64>,
    /// Mass of all that a free base carries, and the acceleration that it has, as if rigid.
    pub floats: Vec<(Inertia, Row)>,
}

impl Gathered {
    pub fn new(model: &Model) -> Gathered {
        let (n, f) = (model.links.len(), model.freedoms.len());
        Gathered {
            loads: vec![Load::ZERO; n],
            momenta: vec![ZERO; n],
            inertias: vec![Inertia::ZERO; n],
            torques: vec![0.0; f],
            levers: vec![[0.0; 3]; f],
            moved: vec![ZERO; f],
            along: vec![0.0; f],
            floats: vec![(Inertia::ZERO, ZERO); model.floats.len()],
        }
    }

    /// Sets momenta, inertias and weights of all links, for a step of h seconds in a field of gravity on a base that
    /// accelerates (at P). Loads from outside are to be added then.
    #[inline(always)]
    pub fn weigh<const FUSED: bool>(
        &mut self,
        model: &Model,
        places: &Places,
        gravity: V3,
        acceleration: &Row,
        h: f64,
    ) {
        for n in 0..model.links.len() {
            let place = &places.links[n];
            let M = &place.inertia;
            // M(ξ − hβ) − h ξ ×* Mξ
            let turning = bracket_force::<FUSED>(&place.twist, &M.times::<FUSED>(&place.twist));
            let mut before = place.twist;
            add::<FUSED>(&mut before, -h, &place.bias);
            let mut p = M.times::<FUSED>(&before);
            add::<FUSED>(&mut p, -h, &turning);
            self.momenta[n] = p;
            self.inertias[n] = *M;
            let load = &mut self.loads[n];
            load.force = gravity.map(|g| M.mass * g);
            load.spread = M.moment.map(|x| gravity.map(|g| x * g));
            if *acceleration != ZERO && model.links[n].float == BASE {
                load.accelerate(&M.times::<FUSED>(acceleration));
            }
        }
    }

    /// Sums up, last link first.
    #[inline(always)]
    pub fn sum<const FUSED: bool>(&mut self, model: &Model, places: &Places) {
        if !self.floats.is_empty() {
            self.relieve(model, places);
        }
        for n in (0..model.links.len()).rev() {
            let link = &model.links[n];
            let (load, p, M) = (self.loads[n], self.momenta[n], self.inertias[n]);
            let wrench = load.wrench();
            for i in link.first..link.first + link.count {
                let s = &places.axes[i];
                self.torques[i] = dot::<FUSED>(s, &wrench);
                self.levers[i] = load.lever::<FUSED>(s);
                self.moved[i] = M.times::<FUSED>(s);
                self.along[i] = dot::<FUSED>(s, &p);
            }
            if link.parent != BASE {
                self.loads[link.parent].add(&load);
                add::<FUSED>(&mut self.momenta[link.parent], 1.0, &p);
                self.inertias[link.parent].add(&M);
            }
        }
    }
}

impl Gathered {
    /// Takes what accelerates a free base with all it carries from the loads: a = (ΣM)⁻¹ Σ loads, and −M a on each
    /// link, so that in free fall nothing pulls at a joint: mean axes.
    #[inline(never)]
    fn relieve(&mut self, model: &Model, places: &Places) {
        for f in 0..self.floats.len() {
            let (mut M, mut w) = (Inertia::ZERO, ZERO);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                M.add(&places.links[n].inertia);
                add::<false>(&mut w, 1.0, &self.loads[n].wrench());
            }
            let wrench = Vector6::from_column_slice(&w[..6]);
            let a = M.matrix().cholesky().map_or(Vector6::zeros(), |factor| factor.solve(&wrench));
            let a = row([a[0], a[1], a[2]], [a[3], a[4], a[5]]);
            self.floats[f] = (M, a);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                self.loads[n].accelerate(&places.links[n].inertia.times::<false>(&a));
            }
        }
    }

    /// m of all freedoms anew, after what links carry has been changed.
    #[inline(always)]
    pub fn lever<const FUSED: bool>(&mut self, model: &Model, places: &Places) {
        for (link, load) in model.links.iter().zip(&self.loads) {
            for i in link.first..link.first + link.count {
                self.levers[i] = load.lever::<FUSED>(&places.axes[i]);
            }
        }
    }
}

/// How much stiffer the loads make a change d of all coordinates: dᵀ G d over dᵀ K d, G the geometric stiffness.
/// `turns` is memory, three numbers a link.
#[inline(always)]
pub(super) fn stiffening<const FUSED: bool>(
    model: &Model,
    places: &Places,
    levers: &[V3],
    drives: &[Drive],
    change: &[f64],
    turns: &mut [V3],
) -> f64 {
    let (mut geometric, mut elastic) = (0.0, 0.0);
    for (n, link) in model.links.iter().enumerate() {
        let mut turn = if link.parent == BASE { [0.0; 3] } else { turns[link.parent] };
        for i in link.first..link.first + link.count {
            let (d, w, m) = (change[i], angular(&places.axes[i]), levers[i]);
            // 2 d m·Σ_{j<i} ω_j d_j + d² m·ω
            let own = w.map(|x| x * d);
            geometric += d * (2.0 * dot3::<FUSED>(m, turn) + dot3::<FUSED>(m, own));
            elastic += d * d * drives[i].stiffness;
            turn = plus(turn, own);
        }
        turns[n] = turn;
    }
    if elastic > 0.0 { geometric / elastic } else { 0.0 }
}
