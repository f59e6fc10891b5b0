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
//! which is geometric stiffness: −f·∂²x/∂θ∂θ_j = −ω_j·((v + ω×x) × f). Weight needs no sums of its own: with F = M s,
//! M of all that the freedom carries, it adds g·F_v to τ and g × F_v to m.

use nalgebra::Vector6;

use super::kinematics::{Place, Places};
use super::model::{BASE, Link, Model};
use super::rows::{
    Inertia, Row, V3, ZERO, add, angular, cross, dot, dot3, fma, linear, minus, plus, row, turn,
};

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
    gravity: V3,
    /// What each link carries, without weight.
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
            gravity: [0.0; 3],
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

    /// Sets momenta and inertias of all links, for a step of h seconds in a field of gravity on a base that accelerates
    /// (at P). Loads from outside are to be added then.
    #[inline(always)]
    pub fn weigh<const FUSED: bool>(
        &mut self,
        model: &Model,
        places: &Places,
        gravity: V3,
        acceleration: &Row,
        h: f64,
    ) {
        self.gravity = gravity;
        for (n, link) in model.links.iter().enumerate() {
            let (M, p) = weigh::<FUSED>(link, &places.links[n], places.point, h);
            (self.inertias[n], self.momenta[n]) = (M, p);
            let load = &mut self.loads[n];
            *load = Load::ZERO;
            if *acceleration != ZERO && link.float == BASE {
                load.accelerate(&M.times::<FUSED>(acceleration));
            }
        }
    }

    /// Sums up, last link first.
    #[inline(always)]
    pub fn sum<const FUSED: bool>(&mut self, model: &Model, places: &Places) {
        if !self.floats.is_empty() {
            self.relieve(model);
        }
        let g = self.gravity;
        for n in (0..model.links.len()).rev() {
            let link = &model.links[n];
            let (loads, load) = self.loads.split_at_mut(n);
            let (momenta, p) = self.momenta.split_at_mut(n);
            let (inertias, M) = self.inertias.split_at_mut(n);
            let (load, p, M) = (&load[0], &p[0], &M[0]);
            let wrench = load.wrench();
            for i in link.first..link.first + link.count {
                let s = &places.axes[i];
                let F = M.times::<FUSED>(s);
                self.torques[i] = dot::<FUSED>(s, &wrench) + dot3::<FUSED>(g, linear(&F));
                self.levers[i] = plus(load.lever::<FUSED>(s), cross::<FUSED>(g, linear(&F)));
                self.moved[i] = F;
                self.along[i] = dot::<FUSED>(s, p);
            }
            if link.parent != BASE {
                loads[link.parent].add(load);
                add::<FUSED>(&mut momenta[link.parent], 1.0, p);
                inertias[link.parent].add(M);
            }
        }
    }
}

impl Gathered {
    /// Takes what accelerates a free base with all it carries from the loads: a = (ΣM)⁻¹ Σ loads, and −M a on each
    /// link, so that in free fall nothing pulls at a joint: mean axes.
    #[inline(never)]
    fn relieve(&mut self, model: &Model) {
        for f in 0..self.floats.len() {
            let (mut M, mut w) = (Inertia::ZERO, ZERO);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                M.add(&self.inertias[n]);
                add::<false>(&mut w, 1.0, &self.loads[n].wrench());
            }
            add::<false>(&mut w, 1.0, &M.times::<false>(&row(self.gravity, [0.0; 3])));
            let wrench = Vector6::from_column_slice(&w[..6]);
            let a = M.matrix().cholesky().map_or(Vector6::zeros(), |factor| factor.solve(&wrench));
            let a = row([a[0], a[1], a[2]], [a[3], a[4], a[5]]);
            self.floats[f] = (M, a);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                self.loads[n].accelerate(&self.inertias[n].times::<false>(&a));
            }
        }
    }

    /// m of all freedoms anew, after what links carry has been changed.
    #[inline(always)]
    pub fn lever<const FUSED: bool>(&mut self, model: &Model, places: &Places) {
        for (link, load) in model.links.iter().zip(&self.loads) {
            for i in link.first..link.first + link.count {
                let weight = cross::<FUSED>(self.gravity, linear(&self.moved[i]));
                self.levers[i] = plus(load.lever::<FUSED>(&places.axes[i]), weight);
            }
        }
    }
}

/// The inertia of a link at P, R I Rᵀ and Steiner's part; and its momentum, less what h seconds of turning at θ̈ = 0 make of
/// it, M ξ − h (M β + ξ ×* M ξ), by way of its centre c:
///
/// ```text
/// v = ξ_v + ω×c,  a = β_v + β_ω×c + ω×v,  f = m(v − h a),  p = (f, c×f + I(ω − h β_ω) − h ω×I ω)
/// ```
#[inline(always)]
fn weigh<const FUSED: bool>(link: &Link, place: &Place, point: V3, h: f64) -> (Inertia, Row) {
    let R = place.columns::<FUSED>();
    let c = minus(plus(place.position, turn::<FUSED>(&R, link.center)), point);
    let m = link.mass;
    let [xx, yy, zz, xy, xz, yz] = link.inertia;
    let columns = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|x| turn::<FUSED>(&R, x));
    // (R I) Rᵀ: rows of R are columns of Rᵀ.
    let entry = |i: usize, j: usize| {
        let RI = [columns[0][i], columns[1][i], columns[2][i]];
        dot3::<FUSED>(RI, [R[0][j], R[1][j], R[2][j]])
    };
    let [xx, yy, zz] = [entry(0, 0), entry(1, 1), entry(2, 2)];
    let [xy, xz, yz] = [entry(0, 1), entry(0, 2), entry(1, 2)];
    let mc = c.map(|x| m * x);
    let square = dot3::<FUSED>(mc, c);
    let own = |i: usize, I: f64| fma::<FUSED>(-mc[i], c[i], I + square);
    let off = |i: usize, j: usize, I: f64| fma::<FUSED>(-mc[i], c[j], I);
    let inertia = [own(0, xx), own(1, yy), own(2, zz), off(0, 1, xy), off(0, 2, xz), off(1, 2, yz)];

    let I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let (w, b) = (angular(&place.twist), angular(&place.bias));
    let v = plus(linear(&place.twist), cross::<FUSED>(w, c));
    let a = plus(plus(linear(&place.bias), cross::<FUSED>(b, c)), cross::<FUSED>(w, v));
    let later = |x: V3, rate: V3| -> V3 { std::array::from_fn(|i| fma::<FUSED>(-h, rate[i], x[i])) };
    let f = later(v, a).map(|x| m * x);
    let turned = later(turn::<FUSED>(&I, later(w, b)), cross::<FUSED>(w, turn::<FUSED>(&I, w)));
    (Inertia { mass: m, moment: mc, inertia }, row(f, plus(cross::<FUSED>(c, f), turned)))
}
