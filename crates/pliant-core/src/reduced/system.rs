//! The small system: mass and geometric stiffness on the motions, from what each joint carries.
//!
//! Two joints move together what the outer one carries. With the mass Mᶜ of all that freedom i carries, F = Mᶜs_i, and
//! V = Σ s_j Θ_j of the freedoms before it,
//!
//! ```text
//! M = ΘᵀM(θ)Θ = ΘᵀU + UᵀΘ,   rows of U: u = VᵀF + ½(s_i·F)Θ_i
//! G = −∂Q/∂y  = ΘᵀU + UᵀΘ,   rows of U: u = Ωᵀm + ½(ω_i·m)Θ_i,   m = ω_i tr N − N ω_i − v_i × f + g × F_v
//! ```
//! s = (v, ω) at P, Ω the angular rows of V, f = Σ forces and N = Σ x fᵀ of the dead loads that it carries, F_v the linear part
//! of F; of couples the symmetric part counts. So a link costs products of matrices with vectors, none with matrices.
//!
//! Links are taken in groups that stay in the nearest memory: F and m of four links side by side, then U for four motions at a
//! time, whose V stays in registers, then ΘᵀU in tiles of four by four motions. With r motions a freedom takes 13r products
//! for M and 4r for G, and r² for each of ΘᵀU: at r = 16, 780 products, 200 vectors of four. Two of these a cycle would be 100 cycles.

use std::array::from_fn;

use super::basis::Basis;
use super::momentum::{Carried, sum_up};
use super::placing::{Places, Six};
use super::tree::{BASE, Tree};
use crate::algebra::lanes::{Lanes, Number, fma, one_block_at_a_time};
use crate::algebra::three::{Three, angular, cross, dot, linear};
use crate::algebra::wide::wide;

/// First moment and inertia at P of all that each of four links carries.
type Mass = [Lanes; 9];

/// Sum of dead forces, and N row by row.
pub(super) type Spread = [Lanes; 12];

/// Blocks of links in a group.
const TOGETHER: usize = 8;

/// Where V of a link starts, and where it is kept for others than the next link.
#[derive(Clone, Copy, Debug)]
struct Branch {
    from: From,
    kept: Option<usize>,
    freedoms: usize,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Base,
    /// The link before.
    Before,
    Kept(usize),
}

/// Branches of all links, and how many V are kept.
fn branches(tree: &Tree) -> (Vec<Branch>, usize) {
    let first = |link: &super::tree::Link| Branch { from: From::Base, kept: None, freedoms: link.count };
    let mut all: Vec<Branch> = tree.links.iter().map(first).collect();
    let mut count = 0;
    for (n, link) in tree.links.iter().enumerate().filter(|(_, link)| link.parent != BASE) {
        all[n].from = if link.parent + 1 == n {
            From::Before
        } else {
            let kept = *all[link.parent].kept.get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            From::Kept(kept)
        };
    }
    (all, count)
}

/// What a freedom does: s, F = Mᶜs and ½ s·F; m and ½ ω·m.
#[derive(Clone, Copy, Debug)]
struct Part {
    s: Six,
    F: Six,
    half: f64,
    m: Three<f64>,
    bend: f64,
}

const NO_PART: Part = Part { s: [0.0; 6], F: [0.0; 6], half: 0.0, m: [0.0; 3], bend: 0.0 };

/// Four motions.
type Four = [f64; 4];

/// Mass and geometric stiffness, square, with rows of `stride`.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub M: Vec<f64>,
    pub G: Vec<f64>,
    masses: Vec<Mass>,
    pub spreads: Vec<Spread>,
    /// Of a group of links: its freedoms, and rows of both U, by fours of motions.
    parts: Vec<Part>,
    U: [Vec<Four>; 2],
    /// V of the present link, and of those that branch: by fours of motions, six each.
    V: Vec<[Four; 6]>,
    kept: Vec<[Four; 6]>,
    branches: Vec<Branch>,
}

impl System {
    pub fn new(tree: &Tree, basis: &Basis) -> System {
        let (square, (branches, kept)) = (basis.stride * basis.stride, branches(tree));
        let of_group = |links: &[Branch]| links.iter().map(|link| link.freedoms).sum::<usize>();
        let most = branches.chunks(4 * TOGETHER).map(of_group).max().unwrap_or(0);
        let fours = basis.stride / 4;
        System {
            M: vec![0.0; square],
            G: vec![0.0; square],
            masses: vec![[Lanes::ZERO; 9]; tree.joints.len()],
            spreads: vec![[Lanes::ZERO; 12]; tree.joints.len()],
            parts: vec![NO_PART; most],
            U: [vec![[0.0; 4]; fours * most], vec![[0.0; 4]; fours * most]],
            V: vec![[[0.0; 4]; 6]; fours],
            kept: vec![[[0.0; 4]; 6]; kept * fours],
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
        self.V.fill([[0.0; 4]; 6]);
        let heavy = loaded || gravity != [0.0; 3];
        for first in (0..tree.joints.len()).step_by(TOGETHER) {
            let blocks = first..(first + TOGETHER).min(tree.joints.len());
            let links = 4 * first..(4 * blocks.end).min(tree.links.len());
            let freedom = tree.links[links.start].first;
            let count: usize = self.branches[links.clone()].iter().map(|link| link.freedoms).sum();
            let loads = loaded.then_some(&self.spreads[..]);
            let parts = &mut self.parts[..count];
            for b in blocks {
                hinges::<FUSED>(tree, places, b, &self.masses[b], gravity, loads, (freedom, &mut *parts));
            }
            let before = |link: usize| tree.others.partition_point(|&n| n < link);
            for &n in &tree.others[before(links.start)..before(links.end)] {
                others::<FUSED>(tree, places, n, &self.masses[n / 4], gravity, loads, (freedom, &mut *parts));
            }
            let rows = &basis.rows[freedom * stride..(freedom + count) * stride];
            self.pairs::<FUSED>(links, rows, stride, heavy, count, 6 * tree.floats.len());
            self.products::<FUSED>(rows, stride, heavy, count);
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

    /// Rows u of a group of links, four motions at a time.
    #[inline(always)]
    fn pairs<const FUSED: bool>(
        &mut self,
        links: std::ops::Range<usize>,
        rows: &[f64],
        stride: usize,
        heavy: bool,
        count: usize,
        free: usize,
    ) {
        let System { parts, U: [U, bends], V, kept, branches, .. } = self;
        let fours = stride / 4;
        for j in 0..fours {
            let mut v = V[j];
            let (U, bends) = (&mut U[j * count..][..count], &mut bends[j * count..][..count]);
            // A free base is turned explicitly.
            let turned: Four = from_fn(|l| f64::from(4 * j + l >= free));
            let mut own = parts[..count].iter().zip(rows.chunks_exact(stride)).zip(U).zip(bends);
            for branch in &branches[links.clone()] {
                match branch.from {
                    From::Before => {}
                    From::Base => v = [[0.0; 4]; 6],
                    From::Kept(at) => v = kept[at * fours + j],
                }
                for (((part, row), u), bend) in own.by_ref().take(branch.freedoms) {
                    let row: Four = from_fn(|l| row[4 * j + l]);
                    *u = along::<FUSED, _>(&part.F, &v, row.map(|x| x * part.half));
                    if heavy {
                        let omega = [v[3], v[4], v[5]];
                        let sum = along::<FUSED, _>(&part.m, &omega, row.map(|x| x * part.bend));
                        *bend = from_fn(|l| sum[l] * turned[l]);
                    }
                    for k in 0..6 {
                        v[k] = from_fn(|l| fma::<FUSED>(part.s[k], row[l], v[k][l]));
                    }
                }
                if let Some(at) = branch.kept {
                    kept[at * fours + j] = v;
                }
            }
            V[j] = v;
        }
    }

    /// Adds ΘᵀU of a group.
    #[inline(always)]
    fn products<const FUSED: bool>(&mut self, rows: &[f64], stride: usize, heavy: bool, count: usize) {
        let System { M, G, U: [U, bends], .. } = self;
        for i in (0..stride).step_by(4) {
            if heavy {
                for j in 0..stride / 4 {
                    let own = [&U[j * count..][..count], &bends[j * count..][..count]];
                    let [mass, bend] = tile::<FUSED>(rows, stride, i, own);
                    put(M, stride, (i, j), &mass);
                    put(G, stride, (i, j), &bend);
                }
            } else {
                for j in (0..stride / 4).step_by(2) {
                    let next = (j + 1).min(stride / 4 - 1);
                    let own = [&U[j * count..][..count], &U[next * count..][..count]];
                    let [mass, more] = tile::<FUSED>(rows, stride, i, own);
                    put(M, stride, (i, j), &mass);
                    if next > j {
                        put(M, stride, (i, next), &more);
                    }
                }
            }
        }
    }
}

/// Parts of four links on hinges.
#[inline(always)]
fn hinges<const FUSED: bool>(
    tree: &Tree,
    places: &Places,
    b: usize,
    mass: &Mass,
    gravity: Three<f64>,
    loads: Option<&[Spread]>,
    (first, parts): (usize, &mut [Part]),
) {
    one_block_at_a_time();
    let s = &places.blocks[b].axis;
    let F = times::<FUSED, _>(tree.weights[b].carried, mass, s);
    let half = half_of::<FUSED, _>(s, &F);
    let m = moment::<FUSED, _>(s, &F, gravity.map(Lanes::all), loads.map(|loads| &loads[b]));
    let bend = Lanes::all(0.5) * dot::<FUSED, _>(angular(s), m);
    for l in 0..4 {
        let freedom = tree.joints[b].freedom[l];
        if freedom != usize::MAX {
            parts[freedom - first] = Part {
                s: from_fn(|k| s[k].0[l]),
                F: from_fn(|k| F[k].0[l]),
                half: half.0[l],
                m: from_fn(|k| m[k].0[l]),
                bend: bend.0[l],
            };
        }
    }
}

/// Parts of a link that is not on a hinge.
#[inline(always)]
fn others<const FUSED: bool>(
    tree: &Tree,
    places: &Places,
    n: usize,
    mass: &Mass,
    gravity: Three<f64>,
    loads: Option<&[Spread]>,
    (first, parts): (usize, &mut [Part]),
) {
    let (link, l) = (&tree.links[n], n % 4);
    let carried: [f64; 9] = from_fn(|k| mass[k].0[l]);
    let own: Option<[f64; 12]> = loads.map(|loads| from_fn(|k| loads[n / 4][k].0[l]));
    for i in link.first..link.first + link.count {
        let s = places.axes[i];
        let F = times::<FUSED, _>(tree.weights[n / 4].carried.0[l], &carried, &s);
        let half = half_of::<FUSED, _>(&s, &F);
        let m = match link.joint {
            Some(_) => moment::<FUSED, _>(&s, &F, gravity, own.as_ref()),
            None => [0.0; 3],
        };
        let bend = 0.5 * dot::<FUSED, _>(angular(&s), m);
        parts[i - first] = Part { s, F, half, m, bend };
    }
}

/// ½ s·F.
#[inline(always)]
fn half_of<const FUSED: bool, T: Number>(s: &[T; 6], F: &[T; 6]) -> T {
    T::all(0.5) * (dot::<FUSED, _>(linear(s), linear(F)) + dot::<FUSED, _>(angular(s), angular(F)))
}

/// m = ω tr N − N ω − v × f + g × F_v.
#[inline(always)]
fn moment<const FUSED: bool, T: Number>(
    s: &[T; 6],
    F: &[T; 6],
    gravity: Three<T>,
    loads: Option<&[T; 12]>,
) -> Three<T> {
    let m = cross::<FUSED, _>(gravity, linear(F));
    let Some(own) = loads else { return m };
    let (v, w) = (linear(s), angular(s));
    let trace = own[3] + own[7] + own[11];
    let along = cross::<FUSED, _>(v, linear(own));
    from_fn(|k| {
        let N = [own[3 + 3 * k], own[4 + 3 * k], own[5 + 3 * k]];
        m[k] + (w[k].fma::<FUSED>(trace, -dot::<FUSED, _>(N, w)) - along[k])
    })
}

/// Mᶜs: f = m v − mc × ω, τ = mc × v + I ω.
#[inline(always)]
fn times<const FUSED: bool, T: Number>(mass: T, carried: &[T; 9], s: &[T; 6]) -> [T; 6] {
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

/// Σ x_k V_k + start.
#[inline(always)]
fn along<const FUSED: bool, const N: usize>(x: &[f64; N], V: &[Four; N], start: Four) -> Four {
    let mut sum = start;
    for k in 0..N {
        sum = from_fn(|l| fma::<FUSED>(x[k], V[k][l], sum[l]));
    }
    sum
}

/// Four motions of Θ from `i` on, times two fours of others: Σ Θ_i u.
#[inline(always)]
fn tile<const FUSED: bool>(rows: &[f64], stride: usize, i: usize, U: [&[Four]; 2]) -> [[Four; 4]; 2] {
    let mut sums = [[[0.0; 4]; 4]; 2];
    for ((row, one), two) in rows.chunks_exact(stride).zip(U[0]).zip(U[1]) {
        let x: Four = from_fn(|a| row[i + a]);
        for a in 0..4 {
            sums[0][a] = from_fn(|l| fma::<FUSED>(x[a], one[l], sums[0][a][l]));
            sums[1][a] = from_fn(|l| fma::<FUSED>(x[a], two[l], sums[1][a][l]));
        }
    }
    sums
}

/// Adds a tile to four rows of a matrix from `i` on, at the j-th four of its columns.
#[inline(always)]
fn put(A: &mut [f64], stride: usize, (i, j): (usize, usize), tile: &[Four; 4]) {
    for (a, sums) in tile.iter().enumerate() {
        let to = &mut A[(i + a) * stride + 4 * j..][..4];
        (0..4).for_each(|l| to[l] += sums[l]);
    }
}
