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

use std::array::from_fn;

use nalgebra::Vector6;

use super::kinematics::{Block, Places};
use super::model::{BASE, Constants, Joints, Weights};
use super::rows::{
    Inertia, Row, V3, ZERO, add, angular, cross, dot, dot3, fma, lane, linear, minus, plus, row, turn,
};
use crate::linear::lanes::{Lanes, Number, one_block_at_a_time};
use crate::linear::three::{Three, matrix, six};

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
        let along = cross::<FUSED, _>(linear(s), self.force);
        from_fn(|k| fma::<FUSED>(w[k], trace, -dot3::<FUSED, _>(N[k], w)) - along[k])
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

/// Of each of four links, then of all that each carries: the first moment and inertia of M, and p = M ξ − h (M β +
/// ξ ×* M ξ).
#[derive(Clone, Copy, Debug)]
struct Carried([Lanes; 15]);

impl Carried {
    #[inline(always)]
    fn moment(&self) -> Three<Lanes> {
        from_fn(|k| self.0[k])
    }

    #[inline(always)]
    fn inertia(&self) -> [Lanes; 6] {
        from_fn(|k| self.0[3 + k])
    }

    #[inline(always)]
    fn momentum(&self) -> [Lanes; 6] {
        from_fn(|k| self.0[9 + k])
    }

    /// F = M s.
    #[inline(always)]
    fn times<const FUSED: bool>(&self, mass: Lanes, s: &[Lanes; 6]) -> [Lanes; 6] {
        let (v, w, mc) = (linear(s), angular(s), self.moment());
        let c = cross::<FUSED, _>(mc, w);
        let f = from_fn(|i| mass.fma::<FUSED>(v[i], -c[i]));
        let [xx, yy, zz, xy, xz, yz] = self.inertia();
        let turned = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|row| dot3::<FUSED, _>(row, w));
        six(f, plus(cross::<FUSED, _>(mc, v), turned))
    }

    /// M of one of them.
    #[inline(always)]
    fn of(&self, mass: &Lanes, l: usize) -> Inertia {
        Inertia {
            mass: mass.0[l],
            moment: from_fn(|k| self.0[k].0[l]),
            inertia: from_fn(|k| self.0[3 + k].0[l]),
        }
    }
}

/// Of four hinges: F = M s, what weight adds to τ and m, and s·p.
#[derive(Clone, Copy, Debug)]
struct Moving {
    F: [Lanes; 6],
    weight: Lanes,
    lever: Three<Lanes>,
    along: Lanes,
}

impl Moving {
    const ZERO: Moving =
        Moving { F: [Lanes::ZERO; 6], weight: Lanes::ZERO, lever: [Lanes::ZERO; 3], along: Lanes::ZERO };
}

/// What all joints carry.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    gravity: V3,
    /// What each link carries, without weight.
    pub loads: Vec<Load>,
    carried: Vec<Carried>,
    moving: Vec<Moving>,
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
    pub fn new(model: &Constants) -> Gathered {
        let (n, f) = (model.links.len(), model.freedoms.len());
        Gathered {
            gravity: [0.0; 3],
            loads: vec![Load::ZERO; n],
            carried: vec![Carried([Lanes::ZERO; 15]); model.weights.len()],
            moving: vec![Moving::ZERO; model.weights.len()],
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
        model: &Constants,
        places: &Places,
        gravity: V3,
        acceleration: &Row,
        h: f64,
    ) {
        self.gravity = gravity;
        self.loads.fill(Load::ZERO);
        let point = places.point.map(Lanes::all);
        for ((weights, block), to) in model.weights.iter().zip(&places.blocks).zip(&mut self.carried) {
            one_block_at_a_time();
            *to = weigh::<FUSED>(weights, block, point, Lanes::all(h));
        }
        if *acceleration != ZERO {
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == BASE) {
                let M = self.carried[n / 4].of(&model.weights[n / 4].mass, n % 4);
                self.loads[n].accelerate(&M.times::<FUSED>(acceleration));
            }
        }
    }

    /// Sums up, last link first.
    #[inline(always)]
    pub fn sum<const FUSED: bool>(&mut self, model: &Constants, places: &Places) {
        if !self.floats.is_empty() {
            self.relieve(model);
        }
        ascend(&model.joints, &mut self.carried);
        for n in (1..model.links.len()).rev() {
            let (loads, load) = self.loads.split_at_mut(n);
            if let Some(parent) = loads.get_mut(model.links[n].parent) {
                parent.add(&load[0]);
            }
        }
        let g = self.gravity.map(Lanes::all);
        for (b, to) in self.moving.iter_mut().enumerate() {
            let (s, carried) = (&places.blocks[b].axis, &self.carried[b]);
            let (v, w, p) = (linear(s), angular(s), carried.momentum());
            to.F = carried.times::<FUSED>(model.weights[b].carried, s);
            let f = linear(&to.F);
            to.weight = dot3::<FUSED, _>(g, f);
            to.lever = cross::<FUSED, _>(g, f);
            to.along = dot3::<FUSED, _>(v, linear(&p)) + dot3::<FUSED, _>(w, angular(&p));
        }
        let n = model.freedoms.len();
        let (torques, along) = (&mut self.torques[..n], &mut self.along[..n]);
        let (moved, levers, axes) = (&mut self.moved[..n], &mut self.levers[..n], &places.axes[..n]);
        for ((joint, of), loads) in model.joints.iter().zip(&self.moving).zip(self.loads.chunks(4)) {
            for (l, load) in loads.iter().enumerate() {
                let i = joint.freedom[l];
                if i < n {
                    torques[i] = of.weight.0[l] + dot::<FUSED>(&axes[i], &load.wrench());
                    levers[i] = plus(load.lever::<FUSED>(&axes[i]), of.lever.map(|x| x.0[l]));
                    (0..6).for_each(|k| moved[i][k] = of.F[k].0[l]);
                    along[i] = of.along.0[l];
                }
            }
        }
        for &n in &model.others {
            self.sum_other(model, places, n);
        }
    }

    /// What pulls at a joint that is no hinge.
    #[inline(never)]
    fn sum_other(&mut self, model: &Constants, places: &Places, n: usize) {
        let (g, link, load) = (self.gravity, &model.links[n], &self.loads[n]);
        let M = self.carried[n / 4].of(&model.weights[n / 4].carried, n % 4);
        let (wrench, p) = (load.wrench(), self.momentum(n));
        for i in link.first..link.first + link.count {
            let s = &places.axes[i];
            let F = M.times::<false>(s);
            self.torques[i] = dot::<false>(s, &wrench) + dot3::<false, _>(g, linear(&F));
            self.levers[i] = plus(load.lever::<false>(s), cross::<false, _>(g, linear(&F)));
            self.moved[i] = F;
            self.along[i] = dot::<false>(s, &p);
        }
    }

    /// p of all that a link carries.
    pub fn momentum(&self, n: usize) -> Row {
        lane(&self.carried[n / 4].momentum(), n % 4)
    }

    /// Leaves out momenta, as if nothing moved.
    pub fn stop(&mut self) {
        self.along.fill(0.0);
        self.carried.iter_mut().for_each(|c| c.0[9..].fill(Lanes::ZERO));
    }
}

/// Adds to each link what the links on it have, last link first.
#[inline(always)]
fn ascend(joints: &[Joints], carried: &mut [Carried]) {
    for (b, joint) in joints.iter().enumerate().rev() {
        let (before, own) = carried.split_at_mut(b);
        let own = &mut own[0].0;
        if joint.in_row {
            for x in own.iter_mut() {
                let [a, b, c, d] = x.0;
                let (c, b) = (c + d, b + (c + d));
                x.0 = [a + b, b, c, d];
            }
        } else {
            for l in (1..4).rev().filter(|&l| joint.parent[l] != BASE) {
                let parent = joint.parent[l];
                if let Some(before) = before.get_mut(parent / 4) {
                    (0..15).for_each(|k| before.0[k].0[parent % 4] += own[k].0[l]);
                } else {
                    (0..15).for_each(|k| own[k].0[parent % 4] += own[k].0[l]);
                }
            }
        }
        let parent = joint.parent[0];
        if let Some(before) = before.get_mut(parent / 4) {
            (0..15).for_each(|k| before.0[k].0[parent % 4] += own[k].0[0]);
        }
    }
}

impl Gathered {
    /// Takes what accelerates a free base with all it carries from the loads: a = (ΣM)⁻¹ Σ loads, and −M a on each
    /// link, so that in free fall nothing pulls at a joint: mean axes.
    #[inline(never)]
    fn relieve(&mut self, model: &Constants) {
        for f in 0..self.floats.len() {
            let (mut M, mut w) = (Inertia::ZERO, ZERO);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                M.add(&self.carried[n / 4].of(&model.weights[n / 4].mass, n % 4));
                add::<false>(&mut w, 1.0, &self.loads[n].wrench());
            }
            add::<false>(&mut w, 1.0, &M.times::<false>(&row(self.gravity, [0.0; 3])));
            let wrench = Vector6::from_column_slice(&w[..6]);
            let a = M.matrix().cholesky().map_or(Vector6::zeros(), |factor| factor.solve(&wrench));
            let a = row([a[0], a[1], a[2]], [a[3], a[4], a[5]]);
            self.floats[f] = (M, a);
            for (n, _) in model.links.iter().enumerate().filter(|(_, link)| link.float == f) {
                let M = self.carried[n / 4].of(&model.weights[n / 4].mass, n % 4);
                self.loads[n].accelerate(&M.times::<false>(&a));
            }
        }
    }

    /// m of all freedoms anew, after what links carry has been changed.
    #[inline(always)]
    pub fn lever<const FUSED: bool>(&mut self, model: &Constants, places: &Places) {
        for (link, load) in model.links.iter().zip(&self.loads) {
            for i in link.first..link.first + link.count {
                let weight = cross::<FUSED, _>(self.gravity, linear(&self.moved[i]));
                self.levers[i] = plus(load.lever::<FUSED>(&places.axes[i]), weight);
            }
        }
    }
}

/// The first moments and inertias of four links at P, R I Rᵀ and Steiner's part; and their momenta, less what h seconds of
/// turning at θ̈ = 0 make of them, M ξ − h (M β + ξ ×* M ξ), by way of their centres c:
///
/// ```text
/// v = ξ_v + ω×c,  a = β_v + β_ω×c + ω×v,  f = m(v − h a),  p = (f, c×f + I(ω − h β_ω) − h ω×I ω)
/// ```
#[inline(always)]
fn weigh<const FUSED: bool>(weights: &Weights, block: &Block, point: Three<Lanes>, h: Lanes) -> Carried {
    let R = matrix::<FUSED, _>(block.rotation);
    let c = minus(plus(block.position, turn::<FUSED, _>(&R, weights.center)), point);
    let m = weights.mass;
    let [xx, yy, zz, xy, xz, yz] = weights.inertia;
    let columns = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|x| turn::<FUSED, _>(&R, x));
    // (R I) Rᵀ: rows of R are columns of Rᵀ.
    let entry = |i: usize, j: usize| {
        let RI = [columns[0][i], columns[1][i], columns[2][i]];
        dot3::<FUSED, _>(RI, [R[0][j], R[1][j], R[2][j]])
    };
    let [xx, yy, zz] = [entry(0, 0), entry(1, 1), entry(2, 2)];
    let [xy, xz, yz] = [entry(0, 1), entry(0, 2), entry(1, 2)];
    let mc = c.map(|x| m * x);
    let square = dot3::<FUSED, _>(mc, c);
    let own = |i: usize, I: Lanes| (-mc[i]).fma::<FUSED>(c[i], I + square);
    let off = |i: usize, j: usize, I: Lanes| (-mc[i]).fma::<FUSED>(c[j], I);
    let inertia = [own(0, xx), own(1, yy), own(2, zz), off(0, 1, xy), off(0, 2, xz), off(1, 2, yz)];

    let I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let (w, b) = (angular(&block.twist), angular(&block.bias));
    let v = plus(linear(&block.twist), cross::<FUSED, _>(w, c));
    let a = plus(plus(linear(&block.bias), cross::<FUSED, _>(b, c)), cross::<FUSED, _>(w, v));
    let later = |x: Three<Lanes>, rate: Three<Lanes>| -> Three<Lanes> {
        from_fn(|i| (-h).fma::<FUSED>(rate[i], x[i]))
    };
    let f = later(v, a).map(|x| m * x);
    let turned = later(turn::<FUSED, _>(&I, later(w, b)), cross::<FUSED, _>(w, turn::<FUSED, _>(&I, w)));
    let p = six(f, plus(cross::<FUSED, _>(c, f), turned));
    let mut to = [Lanes::ZERO; 15];
    to[..3].copy_from_slice(&mc);
    to[3..9].copy_from_slice(&inertia);
    to[9..].copy_from_slice(&p);
    Carried(to)
}
