//! Solids on bones, joined along faces (seams): which forces hold them together as the bones move.
//!
//! A seam pairs points of two solids. With λ the forces on the second solid of each seam and −λ on the first, world axes, R_z and
//! t_z the poses of the bones, every pair stays together:
//!
//! 0 = g = t_b + R_b(x_b + u_b) − t_a − R_a(x_a + u_a),  u_z = Ξ_z(loads + R_zᵀ(±λ)),
//!
//! which is F λ = −g₀ with g₀ the gaps without λ and F_st = Σ_z ± R_z Ξ_z[s, t] R_zᵀ. It is the system of [James 2002, §5] in
//! forces instead of displacements: symmetric and positive definite for any frames, its blocks coupled only by common solids.
//! Blocks are eliminated in an order of least degree: linear in the number of solids for chains and trees, with fill for loops.
//! The factor is kept in axes halfway between both bones of each seam: it stays exact while bones move without turning against each
//! other, and preconditions conjugate gradients when they turn.
//!
//! ```
//! use pliant_elastic::nalgebra::{Isometry3, Vector3};
//! use pliant_elastic::{Material, Mesh, Seam, Seams, Solid};
//!
//! // Two blocks of 20 mm in a row, each bonded to a bone at its outer end.
//! let mesh = Mesh::cuboid(Vector3::new(0.010, 0.006, 0.006), 0.004)?;
//! let rubber = Material::new(1e5, 0.45, 0.0, 1000.0)?;
//! let left = Solid::new(&mesh, &rubber, |p| p.x < -0.010 + 1e-9, |_| {})?;
//! let right = Solid::new(&mesh, &rubber, |p| p.x > 0.010 - 1e-9, |_| {})?;
//! let (solids, at) = ([&left, &right], |x| Isometry3::translation(x, 0.0, 0.0));
//! let seam = Seam::matching(&solids, &[at(0.0), at(0.020)], [0, 1], 1e-9)?;
//! let mut seams = Seams::new(&solids, vec![seam])?;
//!
//! let poses = [at(0.0), at(0.021)]; // pulled apart by 1 mm
//! seams.factor(&solids, &poses)?;
//! seams.solve(&solids, &poses, |_| &[], 1);
//! let [one, two] = [0, 1].map(|bone| seams.wrench(bone, &poses[bone]).force);
//! assert!(one.x > 0.1 && (one + two).norm() < 1e-9 * one.norm()); // N, towards each other
//! # Ok::<(), pliant_elastic::ElasticError>(())
//! ```

mod blocks;
mod seam;

use nalgebra::{DMatrix, DVectorView, DVectorViewMut, Isometry3, Matrix3, Matrix6, Point3, Vector3};

use blocks::{backward, cholesky, forward, right_divide, two};
pub use seam::{Seam, SeamPoint};

use crate::ElasticError;
use crate::solid::Solid;

/// Solids joined by seams: the forces of the seams, and what they do to the bones.
#[derive(Clone, Debug)]
pub struct Seams {
    seams: Vec<Seam>,
    /// First unknown of each seam.
    starts: Vec<usize>,
    /// The order of elimination, and for each seam those after it that it is coupled to.
    order: Vec<usize>,
    later: Vec<Vec<usize>>,
    /// L_kk of each seam, and L_ik for each of its later ones.
    diagonal: Vec<DMatrix<f64>>,
    below: Vec<Vec<DMatrix<f64>>>,
    /// λ, the gaps that are left, and memory of the conjugate gradients.
    forces: Vec<f64>,
    gaps: Vec<f64>,
    solved: Vec<f64>,
    search: Vec<f64>,
    response: Vec<f64>,
    /// Where both nodes of each pair are.
    places: Vec<[Vector3<f64>; 2]>,
    moved: Vec<[Vector3<f64>; 2]>,
    /// Axes of each seam.
    frames: Vec<Matrix3<f64>>,
}

/// What the seams do to the bone of a solid: world axes, torque about the bone's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeamWrench {
    /// N.
    pub force: Vector3<f64>,
    /// N·m.
    pub torque: Vector3<f64>,
}

impl Seams {
    /// Joins solids; nothing is factored yet.
    pub fn new(solids: &[&Solid], seams: Vec<Seam>) -> Result<Self, ElasticError> {
        for seam in &seams {
            let bad = |k: usize| {
                let Some(solid) = solids.get(seam.solids[k]) else { return true };
                seam.points.iter().any(|p| {
                    let sound = |(node, weight): (usize, f64)| node < solid.nodes() && weight.is_finite();
                    !p[k].parts().all(sound) || !p[k].rest.iter().all(|x| x.is_finite())
                })
            };
            if seam.solids[0] == seam.solids[1] || bad(0) || bad(1) {
                return Err(ElasticError::BadSeam { solids: seam.solids, count: solids.len() });
            }
        }
        let mut starts = vec![0];
        for seam in &seams {
            starts.push(starts[starts.len() - 1] + 3 * seam.points.len());
        }
        let (order, later) = eliminate(&seams);
        let size = |s: usize| 3 * seams[s].points.len();
        let diagonal = (0..seams.len()).map(|s| DMatrix::zeros(size(s), size(s))).collect();
        let below = (0..seams.len())
            .map(|s| later[s].iter().map(|&i| DMatrix::zeros(size(i), size(s))).collect())
            .collect();
        let unknowns = starts[seams.len()];
        let places = vec![[Vector3::zeros(); 2]; unknowns / 3];
        let zeros = || vec![0.0; unknowns];
        Ok(Self {
            starts,
            order,
            later,
            diagonal,
            below,
            forces: zeros(),
            gaps: zeros(),
            solved: zeros(),
            search: zeros(),
            response: zeros(),
            moved: places.clone(),
            places,
            frames: vec![Matrix3::identity(); seams.len()],
            seams,
        })
    }

    /// The seams.
    pub fn seams(&self) -> &[Seam] {
        &self.seams
    }

    /// Factors F for the bones' present rotations.
    pub fn factor(&mut self, solids: &[&Solid], poses: &[Isometry3<f64>]) -> Result<(), ElasticError> {
        self.turn(poses);
        let R: Vec<Matrix3<f64>> =
            poses.iter().map(|p| p.rotation.to_rotation_matrix().into_inner()).collect();
        for s in 0..self.seams.len() {
            assemble(&self.seams, solids, &R, &self.frames, s, s, &mut self.diagonal[s]);
            for (k, &i) in self.later[s].iter().enumerate() {
                assemble(&self.seams, solids, &R, &self.frames, i, s, &mut self.below[s][k]);
            }
        }
        for &k in &self.order {
            if !cholesky(&mut self.diagonal[k]) {
                return Err(ElasticError::SeamRepeated { solids: self.seams[k].solids });
            }
            // L_ik = F_ik L_kk⁻ᵀ, then F_ij −= L_ik L_jkᵀ.
            let mut column = std::mem::take(&mut self.below[k]);
            let L = &self.diagonal[k];
            column.iter_mut().for_each(|block| right_divide(block, L));
            for (a, &i) in self.later[k].iter().enumerate() {
                for (b, &j) in self.later[k].iter().enumerate() {
                    if i == j {
                        self.diagonal[i].gemm(-1.0, &column[a], &column[b].transpose(), 1.0);
                    } else if let Some(place) = self.later[j].iter().position(|&x| x == i) {
                        self.below[j][place].gemm(-1.0, &column[a], &column[b].transpose(), 1.0);
                    }
                }
            }
            self.below[k] = column;
        }
        Ok(())
    }

    /// Forces of the seams for poses of the bones and loads on each solid's nodes (its own axes), from the factor of
    /// [`factor`](Self::factor).
    ///
    /// With no corrections the factor is believed: right while no bone has turned against another since, and the torques on bones
    /// then have the arms of the solids without the seams' forces. Each correction is a step of conjugate gradients. Returns the
    /// largest gap that is left, m; without corrections it is not known, and zero.
    pub fn solve<'a>(
        &mut self,
        solids: &[&Solid],
        poses: &[Isometry3<f64>],
        loads: impl Fn(usize) -> &'a [(usize, Vector3<f64>)],
        corrections: usize,
    ) -> f64 {
        self.turn(poses);
        self.place(solids, poses, &loads);
        self.substitute();
        self.forces.copy_from_slice(&self.solved);
        if corrections == 0 {
            for pair in &mut self.places {
                *pair = [(pair[0] + pair[1]) / 2.0; 2];
            }
            return 0.0;
        }
        // r = −g₀ − F λ with λ = 0 at first, and the factor as the preconditioner.
        self.forces.fill(0.0);
        self.search.copy_from_slice(&self.solved);
        let mut slope = product(&self.gaps, &self.solved);
        for _ in 0..corrections {
            self.respond(solids, poses, Vector::Search);
            for (k, pair) in self.moved.iter().enumerate() {
                self.response[3 * k..3 * k + 3].copy_from_slice((pair[1] - pair[0]).as_slice());
            }
            let along = product(&self.search, &self.response);
            if along.is_nan() || along <= 0.0 {
                break;
            }
            let step = slope / along;
            for k in 0..self.gaps.len() {
                self.forces[k] += step * self.search[k];
                self.gaps[k] -= step * self.response[k];
            }
            self.substitute();
            let next = product(&self.gaps, &self.solved);
            let ratio = next / slope;
            slope = next;
            for k in 0..self.gaps.len() {
                self.search[k] = self.solved[k] + ratio * self.search[k];
            }
            if ratio < 1e-28 {
                break;
            }
        }
        self.respond(solids, poses, Vector::Forces);
        let mut largest = 0.0f64;
        for (place, moved) in self.places.iter_mut().zip(&self.moved) {
            place[0] += moved[0];
            place[1] += moved[1];
            largest = largest.max((place[1] - place[0]).norm());
        }
        largest
    }

    /// How the seams resist small motions of the bone of a solid, all other bones held: the wrench (force, torque) that it takes per twist
    /// (linear, angular) about a point, world axes. From the factor of [`factor`](Self::factor), for the same poses.
    ///
    /// F λ = −G ξ with G the gaps that a twist ξ opens, and K = GᵀF⁻¹G.
    pub fn stiffness(
        &mut self,
        solid: usize,
        poses: &[Isometry3<f64>],
        about: &Vector3<f64>,
    ) -> Matrix6<f64> {
        let arms: Vec<(f64, Vector3<f64>, usize)> = self
            .members(solid)
            .map(|(point, sign, place, _)| {
                (sign, (poses[solid] * Point3::from(point.rest)).coords - about, place)
            })
            .collect();
        let mut K = Matrix6::zeros();
        self.turn(poses);
        for (column, i) in (0..6).map(|i| (i, i % 3)) {
            let axis = Vector3::ith(i, 1.0);
            self.gaps.fill(0.0);
            for (sign, arm, place) in &arms {
                let moved = if column < 3 { axis } else { axis.cross(arm) };
                self.gaps[3 * place..3 * place + 3].copy_from_slice((moved * *sign).as_slice());
            }
            self.substitute();
            for (sign, arm, place) in &arms {
                let f = at(&self.solved, 3 * place) * *sign;
                let mut sum = K.fixed_view_mut::<3, 1>(0, column);
                sum += f;
                let mut sum = K.fixed_view_mut::<3, 1>(3, column);
                sum += arm.cross(&f);
            }
        }
        0.5 * (K + K.transpose())
    }

    /// λ of a seam's pairs: force on its second solid, minus that on its first, N, world axes.
    pub fn force(&self, seam: usize, pair: usize) -> Vector3<f64> {
        at(&self.forces, self.starts[seam] + 3 * pair)
    }

    /// The forces of all seams on a solid's nodes in its own axes, to be added to its loads.
    pub fn forces_on<'a>(
        &'a self,
        solid: usize,
        pose: &Isometry3<f64>,
    ) -> impl Iterator<Item = (usize, Vector3<f64>)> + 'a {
        let back = pose.rotation.inverse();
        self.members(solid).flat_map(move |(point, sign, place, _)| {
            let f = back * at(&self.forces, 3 * place) * sign;
            point.parts().map(move |(node, weight)| (node, f * weight))
        })
    }

    /// What the seams do to the bone of a solid. Arms are those of the deformed solid, which makes it the gradient of the
    /// elastic energy over the bone's pose, and the sum over all bones zero.
    pub fn wrench(&self, solid: usize, pose: &Isometry3<f64>) -> SeamWrench {
        let mut sum = SeamWrench::default();
        for (_, sign, place, side) in self.members(solid) {
            let f = at(&self.forces, 3 * place) * sign;
            sum.force += f;
            sum.torque += (self.places[place][side] - pose.translation.vector).cross(&f);
        }
        sum
    }

    /// (point, sign of λ, its place, side) for each pair of a solid.
    fn members(&self, solid: usize) -> impl Iterator<Item = (&SeamPoint, f64, usize, usize)> {
        self.seams.iter().zip(&self.starts).flat_map(move |(seam, start)| {
            (0..2).filter(move |&side| seam.solids[side] == solid).flat_map(move |side| {
                let sign = [-1.0, 1.0][side];
                seam.points.iter().enumerate().map(move |(k, p)| (&p[side], sign, start / 3 + k, side))
            })
        })
    }

    /// The axes of each seam: halfway between its bones.
    fn turn(&mut self, poses: &[Isometry3<f64>]) {
        for (frame, seam) in self.frames.iter_mut().zip(&self.seams) {
            let [a, b] = seam.solids.map(|z| poses[z].rotation);
            let half = a.try_slerp(&b, 0.5, 1e-9).unwrap_or(a);
            *frame = half.to_rotation_matrix().into_inner();
        }
    }

    /// Where both nodes of each pair are without the seams' forces, and −g₀.
    fn place<'a>(
        &mut self,
        solids: &[&Solid],
        poses: &[Isometry3<f64>],
        loads: &impl Fn(usize) -> &'a [(usize, Vector3<f64>)],
    ) {
        for (seam, start) in self.seams.iter().zip(&self.starts) {
            for (k, points) in seam.points.iter().enumerate() {
                let place = start / 3 + k;
                for side in 0..2 {
                    let (z, point) = (seam.solids[side], &points[side]);
                    let by = |i: usize| {
                        loads(z).iter().map(|&(j, f)| solids[z].block(i, j) * f).sum::<Vector3<f64>>()
                    };
                    let p = point.rest + point.parts().map(|(i, w)| by(i) * w).sum::<Vector3<f64>>();
                    self.places[place][side] = poses[z].rotation * p + poses[z].translation.vector;
                }
                let gap = self.places[place][0] - self.places[place][1];
                self.gaps[3 * place..3 * place + 3].copy_from_slice(gap.as_slice());
            }
        }
    }

    /// How forces of the seams move both nodes of each pair.
    fn respond(&mut self, solids: &[&Solid], poses: &[Isometry3<f64>], vector: Vector) {
        let x = match vector {
            Vector::Search => &self.search,
            Vector::Forces => &self.forces,
        };
        for (seam, start) in self.seams.iter().zip(&self.starts) {
            let own = start / 3..start / 3 + seam.points.len();
            for side in 0..2 {
                let z = seam.solids[side];
                let (solid, rotation) = (solids[z], &poses[z].rotation);
                let back = rotation.inverse();
                self.moved[own.clone()].iter_mut().for_each(|m| m[side] = Vector3::zeros());
                for (other, start) in self.seams.iter().zip(&self.starts) {
                    for far in (0..2).filter(|&far| other.solids[far] == z) {
                        for (j, points) in other.points.iter().enumerate() {
                            let f = back * at(x, start + 3 * j) * [-1.0, 1.0][far];
                            for (m, weight) in points[far].parts() {
                                let f = f * weight;
                                let columns = [0, 1, 2].map(|axis| solid.column(m, axis));
                                for (p, moved) in seam.points.iter().zip(&mut self.moved[own.clone()]) {
                                    for (n, w) in p[side].parts() {
                                        let c = columns.map(|c| &c[3 * n..3 * n + 3]);
                                        for axis in 0..3 {
                                            moved[side][axis] +=
                                                w * (c[0][axis] * f.x + c[1][axis] * f.y + c[2][axis] * f.z);
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                self.moved[own.clone()].iter_mut().for_each(|m| m[side] = rotation * m[side]);
            }
        }
    }

    /// The factor's solution of F x = gaps, each seam in its own axes.
    fn substitute(&mut self) {
        let (starts, x) = (&self.starts, &mut self.solved);
        for (s, frame) in self.frames.iter().enumerate() {
            for k in (starts[s]..starts[s + 1]).step_by(3) {
                x[k..k + 3].copy_from_slice(frame.tr_mul(&at(&self.gaps, k)).as_slice());
            }
        }
        for &k in &self.order {
            forward(&self.diagonal[k], &mut x[starts[k]..starts[k + 1]]);
            for (a, &i) in self.later[k].iter().enumerate() {
                let [target, source] = two(x, starts[i]..starts[i + 1], starts[k]..starts[k + 1]);
                let source = DVectorView::from_slice(source, source.len());
                DVectorViewMut::from_slice(target, starts[i + 1] - starts[i]).gemv(
                    -1.0,
                    &self.below[k][a],
                    &source,
                    1.0,
                );
            }
        }
        for &k in self.order.iter().rev() {
            for (a, &i) in self.later[k].iter().enumerate() {
                let [target, source] = two(x, starts[k]..starts[k + 1], starts[i]..starts[i + 1]);
                let source = DVectorView::from_slice(source, source.len());
                DVectorViewMut::from_slice(target, starts[k + 1] - starts[k]).gemv_tr(
                    -1.0,
                    &self.below[k][a],
                    &source,
                    1.0,
                );
            }
            backward(&self.diagonal[k], &mut x[starts[k]..starts[k + 1]]);
        }
        for (s, frame) in self.frames.iter().enumerate() {
            for k in (starts[s]..starts[s + 1]).step_by(3) {
                let turned = frame * at(x, k);
                x[k..k + 3].copy_from_slice(turned.as_slice());
            }
        }
    }
}

/// Which forces a response is to.
enum Vector {
    Search,
    Forces,
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn at(x: &[f64], start: usize) -> Vector3<f64> {
    Vector3::new(x[start], x[start + 1], x[start + 2])
}

/// The order of least degree, and for each seam those after it that it is coupled to, fill included.
fn eliminate(seams: &[Seam]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = seams.len();
    let share = |a: &Seam, b: &Seam| a.solids.iter().any(|z| b.solids.contains(z));
    let mut coupled: Vec<Vec<bool>> =
        (0..n).map(|s| (0..n).map(|t| s != t && share(&seams[s], &seams[t])).collect()).collect();
    let mut left: Vec<usize> = (0..n).collect();
    let (mut order, mut later) = (Vec::new(), vec![Vec::new(); n]);
    while !left.is_empty() {
        let degree = |s: usize| left.iter().filter(|&&t| coupled[s][t]).count();
        let k = *left.iter().min_by_key(|&&s| (degree(s), s)).expect("not empty");
        left.retain(|&s| s != k);
        let neighbours: Vec<usize> = left.iter().copied().filter(|&t| coupled[k][t]).collect();
        for &a in &neighbours {
            for &b in neighbours.iter().filter(|&&b| b != a) {
                coupled[a][b] = true;
            }
        }
        order.push(k);
        later[k] = neighbours;
    }
    // Rows in the order of elimination, so that each pair is stored with the one that goes first.
    let mut rank = vec![0; n];
    order.iter().enumerate().for_each(|(r, &s)| rank[s] = r);
    later.iter_mut().for_each(|list| list.sort_by_key(|&s| rank[s]));
    (order, later)
}

/// F_st = Σ_z σ_s σ_t Q_sᵀ R_z Ξ_z[s, t] R_zᵀ Q_t over the solids that both seams have, Q their axes.
fn assemble(
    seams: &[Seam],
    solids: &[&Solid],
    R: &[Matrix3<f64>],
    Q: &[Matrix3<f64>],
    s: usize,
    t: usize,
    F: &mut DMatrix<f64>,
) {
    F.fill(0.0);
    for a in 0..2 {
        for b in (0..2).filter(|&b| seams[s].solids[a] == seams[t].solids[b]) {
            let z = seams[s].solids[a];
            let sign = if a == b { 1.0 } else { -1.0 };
            let (left, right) = (Q[s].transpose() * R[z] * sign, R[z].transpose() * Q[t]);
            for (j, q) in seams[t].points.iter().enumerate() {
                for (i, p) in seams[s].points.iter().enumerate() {
                    let mut target = F.fixed_view_mut::<3, 3>(3 * i, 3 * j);
                    target += left * p[a].block(solids[z], &q[b]) * right;
                }
            }
        }
    }
}
