//! The small system: mass and geometric stiffness on the motions, from what each joint carries.
//!
//! Two joints move together what the outer one carries. With the mass Mᶜ of all that freedom i carries, F = Mᶜs_i, and
//! V = Σ s_j Θ_j of the freedoms before it,
//!
//! ```text
//! M = ΘᵀM(θ)Θ = Σ (Θ_i uᵀ + u Θ_iᵀ),   u = VᵀF + ½(s_i·F)Θ_i
//! G = −∂Q/∂y  = Σ (Θ_i uᵀ + u Θ_iᵀ),   u = Ωᵀm + ½(ω_i·m)Θ_i,   m = ω_i tr N − N ω_i − v_i × f + g × F_v
//! ```
//! s = (v, ω) at P, Ω the angular rows of V, f = Σ forces and N = Σ x fᵀ of the dead loads that it carries, F_v the linear part
//! of F; of couples the symmetric part counts. So a link costs products of matrices with vectors, none with matrices.

use std::array::from_fn;

use super::basis::Basis;
use super::momentum::{Carried, sum_up};
use super::placing::{Places, Six};
use super::tree::{BASE, Tree};
use crate::linear::lanes::{Lanes, fma, one_block_at_a_time};
use crate::linear::three::{Three, angular, cross, dot, linear};
use crate::linear::wide::wide;

/// First moment and inertia at P of all that each of four links carries.
type Mass = [Lanes; 9];

/// Sum of dead forces, and N row by row.
pub(super) type Spread = [Lanes; 12];

/// Which products V of a link others than the next one need.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// For each link, where its V is kept.
    kept: Vec<Option<usize>>,
    count: usize,
}

impl Branches {
    pub fn new(tree: &Tree) -> Branches {
        let mut kept = vec![None; tree.links.len()];
        let mut count = 0;
        for (n, link) in tree.links.iter().enumerate().filter(|(_, link)| link.parent != BASE) {
            if link.parent + 1 != n && kept[link.parent].is_none() {
                kept[link.parent] = Some(count);
                count += 1;
            }
        }
        Branches { kept, count }
    }
}

/// Mass and geometric stiffness, square, with rows of `stride`.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub M: Vec<f64>,
    pub G: Vec<f64>,
    masses: Vec<Mass>,
    pub spreads: Vec<Spread>,
    /// V of the present link, and of those that branch.
    V: Vec<f64>,
    kept: Vec<f64>,
    u: Vec<f64>,
    branches: Branches,
}

impl System {
    pub fn new(tree: &Tree, basis: &Basis) -> System {
        let (square, branches) = (basis.stride * basis.stride, Branches::new(tree));
        System {
            M: vec![0.0; square],
            G: vec![0.0; square],
            masses: vec![[Lanes::ZERO; 9]; tree.joints.len()],
            spreads: vec![[Lanes::ZERO; 12]; tree.joints.len()],
            V: vec![0.0; 6 * basis.stride],
            kept: vec![0.0; branches.count * 6 * basis.stride],
            u: vec![0.0; basis.stride],
            branches,
        }
    }

    wide! {
        /// Makes M at the present pose with the inertias K of a step, and G under gravity and, if some are given, the dead loads
        /// in `spreads`.
        pub fn make, make_lanes(
            &mut self: System, tree: &Tree, basis: &Basis, places: &Places, carried: &[Carried], gravity: Three<f64>, loaded: bool
        )
    }

    #[inline(always)]
    fn make_lanes<const FUSED: bool>(
        &mut self,
        tree: &Tree,
        basis: &Basis,
        places: &Places,
        carried: &[Carried],
        gravity: Three<f64>,
        loaded: bool,
    ) {
        let stride = basis.stride;
        for (((mass, block), weights), carried) in
            self.masses.iter_mut().zip(&places.blocks).zip(&tree.weights).zip(carried)
        {
            one_block_at_a_time();
            // K + m(|c|² − ccᵀ)
            let c = block.center;
            let mc = c.map(|x| x * weights.mass);
            let square = dot::<FUSED, _>(c, mc);
            let own = |i: usize, k: usize| (-mc[i]) * c[k];
            let K = &carried.middle;
            *mass = [
                mc[0],
                mc[1],
                mc[2],
                K[0] + square + own(0, 0),
                K[1] + own(0, 1),
                K[2] + own(0, 2),
                K[3] + square + own(1, 1),
                K[4] + own(1, 2),
                K[5] + square + own(2, 2),
            ];
        }
        sum_up(tree, &mut self.masses);
        if loaded {
            sum_up(tree, &mut self.spreads);
        }
        self.M.fill(0.0);
        self.G.fill(0.0);
        match stride / 4 {
            1 => self.links::<FUSED, 1>(tree, basis, places, gravity, loaded),
            2 => self.links::<FUSED, 2>(tree, basis, places, gravity, loaded),
            3 => self.links::<FUSED, 3>(tree, basis, places, gravity, loaded),
            4 => self.links::<FUSED, 4>(tree, basis, places, gravity, loaded),
            5 => self.links::<FUSED, 5>(tree, basis, places, gravity, loaded),
            6 => self.links::<FUSED, 6>(tree, basis, places, gravity, loaded),
            _ => self.links::<FUSED, 0>(tree, basis, places, gravity, loaded),
        }
        for matrix in [&mut self.M, &mut self.G] {
            for i in 0..basis.count {
                for k in 0..=i {
                    let sum = matrix[i * stride + k] + matrix[k * stride + i];
                    (matrix[i * stride + k], matrix[k * stride + i]) = (sum, sum);
                }
            }
        }
    }
}

impl System {
    /// Sums over all freedoms. C is the number of vectors of a row, so that loops over them are none; 0 for any.
    #[inline(always)]
    fn links<const FUSED: bool, const C: usize>(
        &mut self,
        tree: &Tree,
        basis: &Basis,
        places: &Places,
        gravity: Three<f64>,
        loaded: bool,
    ) {
        let stride = if C == 0 { basis.stride } else { 4 * C };
        let System { M, G, masses, spreads, V, kept, u, branches } = self;
        let (M, _) = M.split_at_mut(stride * stride);
        let (G, _) = G.split_at_mut(stride * stride);
        let (V, _) = V.split_at_mut(6 * stride);
        let (u, _) = u.split_at_mut(stride);
        let heavy = loaded || gravity != [0.0; 3];
        let free = 6 * tree.floats.len();
        for (n, link) in tree.links.iter().enumerate() {
            if link.parent == BASE {
                V.fill(0.0);
            } else if link.parent + 1 != n {
                let at = branches.kept[link.parent].expect("kept") * 6 * stride;
                V.copy_from_slice(&kept[at..at + 6 * stride]);
            }
            let l = n % 4;
            let mass = tree.weights[n / 4].carried[l];
            let mut carried = [0.0; 9];
            carried.iter_mut().zip(&masses[n / 4]).for_each(|(to, x)| *to = x.0[l]);
            for i in link.first..link.first + link.count {
                let s = places.axis(tree, i);
                let F = times::<FUSED>(mass, &carried, &s);
                let row = &basis.rows[i * stride..(i + 1) * stride];
                let half = 0.5
                    * (dot::<FUSED, _>(linear(&s), linear(&F)) + dot::<FUSED, _>(angular(&s), angular(&F)));
                add_up::<FUSED, 6>(V, stride, &F, half, row, u);
                add_product::<FUSED>(row, u, M);
                if heavy && link.joint.is_some() {
                    let (v, w) = (linear(&s), angular(&s));
                    let mut m = cross::<FUSED, _>(gravity, linear(&F));
                    if loaded {
                        let mut own = [0.0; 12];
                        own.iter_mut().zip(&spreads[n / 4]).for_each(|(to, x)| *to = x.0[l]);
                        let N = |i: usize| [own[3 + 3 * i], own[4 + 3 * i], own[5 + 3 * i]];
                        let trace = own[3] + own[7] + own[11];
                        let along = cross::<FUSED, _>(v, linear(&own));
                        for k in 0..3 {
                            m[k] += fma::<FUSED>(w[k], trace, -dot::<FUSED, _>(N(k), w)) - along[k];
                        }
                    }
                    let half = 0.5 * dot::<FUSED, _>(w, m);
                    add_up::<FUSED, 3>(&V[3 * stride..], stride, &m, half, row, u);
                    // A free base is turned explicitly.
                    u[..free].fill(0.0);
                    add_product::<FUSED>(row, u, G);
                }
                for k in 0..6 {
                    add::<FUSED>(s[k], row, &mut V[k * stride..(k + 1) * stride]);
                }
            }
            if let Some(at) = branches.kept[n] {
                let at = at * 6 * stride;
                kept[at..at + 6 * stride].copy_from_slice(V);
            }
        }
    }
}

/// Mᶜs: f = m v − mc × ω, τ = mc × v + I ω.
#[inline(always)]
fn times<const FUSED: bool>(mass: f64, carried: &[f64; 9], s: &Six) -> Six {
    let (v, w, mc) = (linear(s), angular(s), linear(carried));
    let c = cross::<FUSED, _>(mc, w);
    let d = cross::<FUSED, _>(mc, v);
    let [_, _, _, xx, xy, xz, yy, yz, zz] = *carried;
    let t = [
        dot::<FUSED, _>([xx, xy, xz], w),
        dot::<FUSED, _>([xy, yy, yz], w),
        dot::<FUSED, _>([xz, yz, zz], w),
    ];
    [mass * v[0] - c[0], mass * v[1] - c[1], mass * v[2] - c[2], d[0] + t[0], d[1] + t[1], d[2] + t[2]]
}

/// y += a·x.
#[inline(always)]
fn add<const FUSED: bool>(a: f64, x: &[f64], y: &mut [f64]) {
    for (x, y) in x.as_chunks::<4>().0.iter().zip(y.as_chunks_mut::<4>().0) {
        *y = from_fn(|i| fma::<FUSED>(a, x[i], y[i]));
    }
}

/// u = Σ x_k V_k + a·row.
#[inline(always)]
fn add_up<const FUSED: bool, const N: usize>(
    V: &[f64],
    stride: usize,
    x: &[f64; N],
    a: f64,
    row: &[f64],
    u: &mut [f64],
) {
    let columns: [&[[f64; 4]]; N] = from_fn(|k| V[k * stride..(k + 1) * stride].as_chunks::<4>().0);
    let chunks = u.as_chunks_mut::<4>().0.iter_mut().zip(row.as_chunks::<4>().0);
    for (j, (u, row)) in chunks.enumerate() {
        let mut sum: [f64; 4] = from_fn(|i| a * row[i]);
        for k in 0..N {
            sum = from_fn(|i| fma::<FUSED>(x[k], columns[k][j][i], sum[i]));
        }
        *u = sum;
    }
}

/// A += x uᵀ.
#[inline(always)]
fn add_product<const FUSED: bool>(x: &[f64], u: &[f64], A: &mut [f64]) {
    for (x, row) in x.iter().zip(A.chunks_exact_mut(u.len().max(1))) {
        add::<FUSED>(*x, u, row);
    }
}
