//! The blend at a pose of the effectors: weights, compliance, force, and where the links are.
//!
//! A sample gives the joint coordinates θ_i under the dead loads w_i on the effectors, and how they change with these,
//! Θ_i, in the effector's axes there. At a pose H, with ξ_i = log(H_i⁻¹H), which reads the same in the frames at both ends,
//!
//! ```text
//! ξ̄ = Σα ξ_i                           the way from the samples; B = Jr(ξ̄)ᵀRᵀ takes dead loads to its axes
//! C̄ = ΣαC_i = L Lᵀ                     with the largest pivot first, as far as its rank
//! y = L₁₁⁻¹(ξ̄ − s̄)_E                   coordinates of unit stiffness; s̄ of loads off the effectors
//! w = Σαw_i + B⁻¹ E L₁₁⁻ᵀ y              the loads that hold the effectors there (Andrews 2015, eq. 24), and along what
//!                                        hardly gives, those that act
//! θ = Σα (θ_i + Θ_i u_i),  u_i = Jr(ξ_i)ᵀRᵀ(w − w_i),   then forward kinematics
//! ```
//!
//! so that at a sample the blend is that sample. Lengths are in radii;
//! loads are in the base's axes, u and y in the effectors'.

use nalgebra::{Matrix6, Vector3, Vector6};

use super::aligned::orthonormalise;
use super::model::{Constants, Group};
use super::options::{Links, Matrices, Options};
use super::weights::{Weights, squared_distance};
use crate::algebra::dense::pivoted_cholesky;
use crate::linear::Shifts;
use crate::linear::reconstruction::{JointOffsets, PoseLanes, TwistOffsets};
use crate::spatial::{Pose, Twist, Wrench, exp, log, right_jacobian, right_jacobian_inverse};

/// Pivots of the compliance below this part of the largest are no motion: what a sample gives that little, such as a
/// nearly straight chain along itself, comes more from how it curves on the way than from its compliance. With 1e-4 and
/// below some damped runs never came to rest.
const RANK: f64 = 1e-2;

/// A group in motion, with memory.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    /// w, the dead loads (base axes) that hold the effectors where they are.
    pub load: Vec<f64>,
    /// Body twists of the effectors relative to the base.
    pub twists: Vec<Twist>,
    /// How much stiffer than by C̄ the blend was in the last steps, because weights change with the pose; 1 or more.
    pub stiffer: f64,
    /// Poses of the effectors in the base: where the blend has them, and where the links take them.
    pub anchors: Vec<Pose>,
    pub poses: Vec<Pose>,
    pub weights: Weights,
    /// ξ_i of each effector for each sample that counts, in the order of the weights, and ξ̄ = Σαξ_i.
    ways: Vec<Twist>,
    pub away: Vec<Twist>,
    /// w_i of each sample that counts, in the order of the weights, turned to the anchors.
    held: Vec<f64>,
    /// C̄, mass and damping per load.
    pub matrices: Vec<f64>,
    /// Factors of C̄.
    pub L: Vec<f64>,
    pub pivots: Vec<usize>,
    pub Y: Vec<f64>,
    pub rank: usize,
    /// y and its rate.
    pub y: Vec<f64>,
    pub rate: Vec<f64>,
    /// θ of the links in turn, and its rate when it was asked for.
    pub theta: Vec<f64>,
    /// θ of the last blend that was finite.
    last: Vec<f64>,
    pub joint_rates: Vec<f64>,
    /// Body twists of the links, when they were asked for.
    pub link_twists: Vec<Twist>,
    offsets: JointOffsets,
    /// Where the links are.
    pub links: PoseLanes,
    one: PoseLanes,
    /// Offsets of each sample's links by twists.
    pub twist_offsets: Vec<TwistOffsets>,
    /// If something carries it, ΣαM_bb and ΣαM_by: inertia at its base, and momentum there per load, 6×m. How far the
    /// first moment of its mass is from that of the samples; and loads off the effectors, at the base.
    pub inertia: Matrix6<f64>,
    pub momentum: Vec<f64>,
    moment: Vector3<f64>,
    off_effectors: Wrench,
    added: Vec<f64>,
    left: Vec<f64>,
    vectors: Vec<f64>,
    /// Memory of a step.
    pub product: Vec<f64>,
    pub damping: Vec<f64>,
    pub system: Vec<f64>,
    pub right: Vec<f64>,
    pub outside: Vec<f64>,
    /// Loads that statics start from.
    pub start: Vec<f64>,
    /// f − w in the effectors' axes.
    pub net: Vec<f64>,
    /// hLẏ⁺, how far the effectors moved in the last step.
    pub moved: Vec<f64>,
    pub before: Before,
}

/// What a step may have to go back to.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub load: Vec<f64>,
    pub stiffer: f64,
    pub anchors: Vec<Pose>,
    pub twists: Vec<Twist>,
}

impl Moving {
    /// At the first sample.
    pub fn new(group: &Group) -> Moving {
        let (m, d) = (group.m, group.layout.coordinates.len());
        let load = group.loads_of(0).to_vec();
        Moving {
            before: Before {
                load: load.clone(),
                stiffer: 1.0,
                anchors: group.poses_of(0).to_vec(),
                twists: vec![Twist::ZERO; m / 6],
            },
            load,
            twists: vec![Twist::ZERO; m / 6],
            stiffer: 1.0,
            y: vec![0.0; m],
            rate: vec![0.0; m],
            anchors: group.poses_of(0).to_vec(),
            poses: group.poses_of(0).to_vec(),
            weights: Weights::new(group.samples),
            ways: vec![Twist::ZERO; group.poses.len()],
            away: vec![Twist::ZERO; group.layout.effectors.len()],
            held: vec![0.0; group.loads.len()],
            matrices: vec![0.0; 3 * m * m],
            L: vec![0.0; m * m],
            pivots: vec![0; m],
            Y: vec![0.0; m * m],
            rank: 0,
            theta: vec![0.0; d],
            last: group.coordinates_of(0).0.to_vec(),
            joint_rates: vec![0.0; d],
            link_twists: vec![Twist::ZERO; group.layout.nodes.len()],
            offsets: group.layout.joints.offsets(),
            links: PoseLanes::new(group.layout.nodes.len()),
            one: PoseLanes::new(group.layout.nodes.len()),
            twist_offsets: group.twists.iter().map(|t| t.offsets()).collect(),
            inertia: Matrix6::zeros(),
            momentum: vec![0.0; if group.carrier.is_some() { 6 * m } else { 0 }],
            moment: Vector3::zeros(),
            off_effectors: Wrench::ZERO,
            added: vec![0.0; m],
            left: vec![0.0; m],
            vectors: vec![0.0; m * m],
            product: vec![0.0; m * m],
            damping: vec![0.0; m * m],
            system: vec![0.0; m * m],
            right: vec![0.0; m],
            outside: vec![0.0; m],
            start: vec![0.0; m],
            net: vec![0.0; m],
            moved: vec![0.0; m],
        }
    }

    /// Memory for one more sample.
    pub fn grow(&mut self, group: &Group) {
        self.weights.grow(group.samples);
        self.ways.resize(group.poses.len(), Twist::ZERO);
        self.held.resize(group.loads.len(), 0.0);
        self.twist_offsets.extend(group.twists[self.twist_offsets.len()..].iter().map(|t| t.offsets()));
    }

    /// Weights and compliance at the anchors, loads that hold them there, and θ.
    pub fn blend(
        &mut self,
        model: &Constants,
        g: usize,
        options: &Options,
        fading: &[f64],
        shifts: Option<&[Shifts]>,
    ) {
        let group = &model.groups[g];
        let (m, radius) = (group.m, model.radius);
        let anchors = &self.anchors;
        let squared = (0..group.samples).map(|i| {
            let pairs = group.poses_of(i).iter().zip(anchors);
            pairs.map(|(a, b)| squared_distance(a, b, radius)).sum::<f64>()
        });
        self.weights.weigh(squared, options, fading);
        self.matrices.fill(0.0);
        self.away.fill(Twist::ZERO);
        let effectors = self.anchors.len();
        for (at, &(i, alpha)) in self.weights.of.iter().enumerate() {
            group.turned_loads_of(i, &self.anchors, &mut self.held[at * m..(at + 1) * m]);
            for (to, x) in self.matrices.iter_mut().zip(group.matrices_of(i)) {
                *to += alpha * x;
            }
            for (k, pose) in group.poses_of(i).iter().enumerate() {
                let way = log(&pose.inverse_times(&self.anchors[k]));
                self.ways[at * effectors + k] = way;
                self.away[k] = self.away[k] + way * alpha;
            }
        }
        if options.matrices == Matrices::Eigen {
            self.blend_eigenvectors(group);
        }
        self.rank = pivoted_cholesky::factor::<false>(
            &self.matrices[..m * m],
            m,
            RANK,
            &mut self.L,
            &mut self.left,
            &mut self.pivots,
        );
        pivoted_cholesky::invert::<false>(&self.L, m, &self.pivots[..self.rank], &mut self.Y);
        self.hold(group, g, shifts, radius);
        self.theta.fill(0.0);
        self.inertia.fill(0.0);
        self.momentum.fill(0.0);
        (self.moment, self.off_effectors) = (Vector3::zeros(), Wrench::ZERO);
        for at in 0..self.weights.of.len() {
            let (i, alpha) = self.weights.of[at];
            self.set_added(at, radius);
            let (theta, map) = group.coordinates_of(i);
            self.theta.iter_mut().zip(theta).for_each(|(to, x)| *to += alpha * x);
            add_columns(&mut self.theta, map, &self.added, alpha);
            if let Some(shifts) = shifts {
                let shift = &shifts[i].of[g].coordinates;
                self.theta.iter_mut().zip(shift).for_each(|(to, x)| *to += alpha * x);
            }
            if group.carrier.is_some() {
                self.add_mass(group, i, alpha);
                if let Some(shifts) = shifts {
                    self.off_effectors = self.off_effectors + shifts[i].of[g].on_base * alpha;
                    self.moment += shifts[i].of[g].moment * alpha;
                }
            }
        }
    }

    /// Whether θ is finite.
    pub fn is_finite(&self) -> bool {
        self.theta.iter().all(|x| x.is_finite())
    }

    /// Keeps θ, or goes back to the last that was kept.
    pub fn keep_coordinates(&mut self, good: bool) {
        let (from, to) = if good { (&self.theta, &mut self.last) } else { (&self.last, &mut self.theta) };
        to.copy_from_slice(from);
    }

    /// Adds a sample's inertia and momentum at the base. The first moment m c of the mass changes by the linear part of
    /// the momentum.
    fn add_mass(&mut self, group: &Group, sample: usize, alpha: f64) {
        self.inertia += group.inertia[sample] * alpha;
        let momentum = group.momentum_of(sample);
        self.momentum.iter_mut().zip(momentum).for_each(|(to, x)| *to += alpha * x);
        for (column, u) in momentum.chunks_exact(6).zip(&self.added) {
            self.moment += Vector3::from_column_slice(&column[..3]) * (alpha * u);
        }
    }

    /// M_by of one coordinate: the momentum at the base per rate of y.
    pub fn momentum_column(&self, u: usize) -> Vector6<f64> {
        let of = |k: usize| Vector6::from_column_slice(&self.momentum[6 * self.pivots[k]..][..6]);
        (0..=u).map(|k| of(k) * self.Y[k * self.rank + u]).sum()
    }

    /// What it passes on to what carries it, in the axes of that, with everything accelerated by a and loads w on its
    /// effectors: Σ Ad⁻ᵀw + M_bb a.
    pub fn passed_on(&self, loads: &[f64], a: &Twist, radius: f64) -> Wrench {
        let mut sum = Wrench::from_vector(&(self.inertia * a.to_vector())) + self.off_effectors;
        sum.torque += self.moment.cross(&a.linear);
        for (w, anchor) in loads.chunks_exact(6).zip(&self.anchors) {
            let force = Vector3::from_column_slice(&w[..3]) / radius;
            sum.force += force;
            sum.torque += Vector3::from_column_slice(&w[3..]) + anchor.position.cross(&force);
        }
        sum
    }

    /// Sets y, and w₀ = w̄ + B⁻¹ E L₁₁⁻ᵀ y, then w = f + B⁻¹ E L₁₁⁻ᵀ LᵀB(w₀ − f): what is no motion of the blend follows the
    /// loads f at once.
    fn hold(&mut self, group: &Group, g: usize, shifts: Option<&[Shifts]>, radius: f64) {
        for (k, away) in self.away.iter().enumerate() {
            let away = away.to_vector();
            (0..6).for_each(|i| self.added[6 * k + i] = if i < 3 { away[i] / radius } else { away[i] });
        }
        if let Some(shifts) = shifts {
            for &(i, alpha) in &self.weights.of {
                let shift = &shifts[i].of[g].effectors;
                self.added.iter_mut().zip(shift).for_each(|(to, x)| *to -= alpha * x);
            }
        }
        let (xi, mut y) = (std::mem::take(&mut self.added), std::mem::take(&mut self.y));
        self.coordinates_of(&xi, &mut y);
        let mut own = xi;
        self.wrench_of(&y, &mut own);
        let mut load = std::mem::take(&mut self.load);
        self.to_base_axes(&own, radius, &mut load);
        let (m, r) = (group.m, self.rank);
        for (at, &(_, alpha)) in self.weights.of.iter().enumerate() {
            load.iter_mut().zip(&self.held[at * m..]).for_each(|(to, x)| *to += alpha * x);
        }
        if r < m {
            load.iter_mut().zip(&self.outside).for_each(|(w, f)| *w -= f);
            self.to_own_axes(&load, radius, &mut own);
            for u in 0..r {
                self.product[u] = (0..m).map(|i| self.L[i * m + u] * own[i]).sum();
            }
            self.wrench_of(&self.product, &mut own);
            self.to_base_axes(&own, radius, &mut load);
            load.iter_mut().zip(&self.outside).for_each(|(w, f)| *w += f);
        }
        (self.load, self.y, self.added) = (load, y, own);
    }

    /// y of a motion ξ' of the effectors: L₁₁ y = the rows that were pivots.
    pub fn coordinates_of(&self, xi: &[f64], y: &mut [f64]) {
        let m = xi.len();
        for k in 0..self.rank {
            let row = &self.L[self.pivots[k] * m..][..k + 1];
            let before: f64 = row[..k].iter().zip(&y[..k]).map(|(l, y)| l * y).sum();
            y[k] = (xi[self.pivots[k]] - before) / row[k];
        }
    }

    /// E L₁₁⁻ᵀ y, the wrench that y needs, effectors' axes.
    pub fn wrench_of(&self, y: &[f64], wrench: &mut [f64]) {
        let r = self.rank;
        wrench.fill(0.0);
        for k in 0..r {
            wrench[self.pivots[k]] = (k..r).map(|u| self.Y[k * r + u] * y[u]).sum();
        }
    }

    /// Sets `rate` to ẏ of the effectors' twists: ξ̇ = Jr(ξ̄)⁻¹φ.
    pub fn measure_rate(&mut self, radius: f64) {
        for (k, twist) in self.twists.iter().enumerate() {
            let xi = right_jacobian_inverse(&self.away[k]) * twist.to_vector();
            (0..6).for_each(|i| self.added[6 * k + i] = if i < 3 { xi[i] / radius } else { xi[i] });
        }
        let (xi, mut rate) = (std::mem::take(&mut self.added), std::mem::take(&mut self.rate));
        self.coordinates_of(&xi, &mut rate);
        (self.added, self.rate) = (xi, rate);
    }

    /// H ← H exp(δ), δ = log(H⁻¹H_links) less the motion that has the same pivots: along what is no motion of the blend
    /// the effectors go with the links.
    pub fn follow_links(&mut self, radius: f64) {
        let m = self.load.len();
        if self.rank == m {
            return;
        }
        self.set_gap(radius);
        let (gap, mut along) = (std::mem::take(&mut self.added), std::mem::take(&mut self.right));
        self.coordinates_of(&gap, &mut along);
        for (k, anchor) in self.anchors.iter_mut().enumerate() {
            let off = Vector6::from_fn(|i, _| {
                let row = &self.L[(6 * k + i) * m..][..self.rank];
                let inside: f64 = row.iter().zip(&along).map(|(l, y)| l * y).sum();
                (gap[6 * k + i] - inside) * if i < 3 { radius } else { 1.0 }
            });
            *anchor = *anchor * exp(&Twist::from_vector(&off));
            anchor.settle();
        }
        (self.added, self.right) = (gap, along);
    }

    /// Sets `added` to log(H⁻¹H_links).
    pub fn set_gap(&mut self, radius: f64) {
        for (k, (pose, anchor)) in self.poses.iter().zip(&self.anchors).enumerate() {
            let gap = log(&anchor.inverse_times(pose)).to_vector();
            (0..6).for_each(|i| self.added[6 * k + i] = if i < 3 { gap[i] / radius } else { gap[i] });
        }
    }

    /// What `set_gap` set.
    pub fn gap(&self) -> &[f64] {
        &self.added
    }

    /// Sets `added` to u_i of a sample that counts, by its place among the weights.
    fn set_added(&mut self, at: usize, radius: f64) {
        let m = self.load.len();
        let loads = &self.held[at * m..(at + 1) * m];
        for (k, anchor) in self.anchors.iter().enumerate() {
            let way = &self.ways[at * self.anchors.len() + k];
            let part = |i: usize| self.load[6 * k + i] - loads[6 * k + i];
            let force = anchor.rotation.inverse() * Vector3::new(part(0), part(1), part(2)) / radius;
            let torque = anchor.rotation.inverse() * Vector3::new(part(3), part(4), part(5));
            let u = right_jacobian(way).transpose()
                * Vector6::new(force.x, force.y, force.z, torque.x, torque.y, torque.z);
            for i in 0..6 {
                self.added[6 * k + i] = if i < 3 { u[i] * radius } else { u[i] };
            }
        }
    }

    /// To the effectors' axes: u = B w per effector, B = Jr(ξ̄)ᵀRᵀ; loads in base axes become what works along C̄.
    pub fn to_own_axes(&self, w: &[f64], radius: f64, u: &mut [f64]) {
        for (k, (w, u)) in w.chunks_exact(6).zip(u.chunks_exact_mut(6)).enumerate() {
            let r = self.anchors[k].rotation.inverse();
            let (force, torque) =
                (r * Vector3::new(w[0], w[1], w[2]) / radius, r * Vector3::new(w[3], w[4], w[5]));
            let x = right_jacobian(&self.away[k]).transpose()
                * Vector6::new(force.x, force.y, force.z, torque.x, torque.y, torque.z);
            (0..6).for_each(|i| u[i] = if i < 3 { x[i] * radius } else { x[i] });
        }
    }

    /// And back: w = B⁻¹u.
    pub fn to_base_axes(&self, u: &[f64], radius: f64, w: &mut [f64]) {
        for (k, (u, w)) in u.chunks_exact(6).zip(w.chunks_exact_mut(6)).enumerate() {
            let x = Vector6::from_fn(|i, _| if i < 3 { u[i] / radius } else { u[i] });
            let x = right_jacobian_inverse(&self.away[k]).transpose() * x;
            let r = self.anchors[k].rotation;
            let (force, torque) =
                (r * Vector3::new(x[0], x[1], x[2]) * radius, r * Vector3::new(x[3], x[4], x[5]));
            w[..3].copy_from_slice(force.as_slice());
            w[3..].copy_from_slice(torque.as_slice());
        }
    }

    /// C̄ by eigenvectors; if those are not independent, it stays ΣαC.
    fn blend_eigenvectors(&mut self, group: &Group) {
        let m = group.m;
        self.vectors.fill(0.0);
        let values = &mut self.L; // free until C̄ is factored
        values.fill(0.0);
        for &(i, alpha) in &self.weights.of {
            let aligned = &group.aligned[i];
            for (to, x) in self.vectors.iter_mut().zip(aligned.vectors.as_slice()) {
                *to += alpha * x;
            }
            for (to, x) in values.iter_mut().zip(aligned.values.as_slice()) {
                *to += alpha * x;
            }
        }
        if !orthonormalise(&mut self.vectors, m) {
            return;
        }
        // U Λ, then (U Λ) Uᵀ.
        let product = &mut self.product;
        for k in 0..m {
            for i in 0..m {
                product[k * m + i] = (0..m).map(|l| self.vectors[l * m + i] * values[k * m + l]).sum();
            }
        }
        for k in 0..m {
            for i in 0..m {
                self.matrices[k * m + i] = (0..m).map(|l| product[l * m + i] * self.vectors[l * m + k]).sum();
            }
        }
    }

    /// θ̇ = Σα Θ_i E L₁₁⁻ᵀ ẏ.
    pub fn set_joint_rates(&mut self, group: &Group, radius: f64) {
        self.measure_rate(radius);
        let (rate, mut own) = (std::mem::take(&mut self.rate), std::mem::take(&mut self.added));
        self.wrench_of(&rate, &mut own);
        (self.rate, self.added) = (rate, own);
        self.joint_rates.fill(0.0);
        for &(i, alpha) in &self.weights.of {
            let (_, map) = group.coordinates_of(i);
            add_columns(&mut self.joint_rates, map, &self.added, alpha);
        }
    }

    /// Sets the twists of the links by `joint_rates`, with that of what carries the segment.
    pub fn set_link_twists(&mut self, group: &Group, carried: &Twist) {
        let Moving { joint_rates, offsets, link_twists, .. } = self;
        group.layout.joints.twists_at(joint_rates, offsets, carried, link_twists);
    }

    /// The motion of effector k per unit of y: column u of J S⁻¹ L.
    pub fn column(&self, k: usize, J: &Matrix6<f64>, u: usize, radius: f64) -> Vector6<f64> {
        let m = self.load.len();
        let row = |i: usize| self.L[(6 * k + i) * m + u];
        J * Vector6::from_fn(|i, _| if i < 3 { row(i) * radius } else { row(i) })
    }

    /// Puts links and effectors where θ has them, links in the world.
    pub fn place(&mut self, model: &Constants, g: usize, options: &Options, base: &Pose) {
        let group = &model.groups[g];
        let joints = &group.layout.joints;
        joints.set_coordinates(&mut self.offsets, &self.theta);
        joints.rebuild(&[], &self.offsets, base, &mut self.links);
        for (pose, (link, frame)) in self.poses.iter_mut().zip(&group.layout.places) {
            *pose = base.inverse_times(&self.links.pose(*link)) * *frame;
        }
        if options.links == Links::Twist {
            self.links.clear();
            for at in 0..self.weights.of.len() {
                let (i, alpha) = self.weights.of[at];
                self.set_added(at, model.radius);
                group.twists[i].rebuild(&self.added, &self.twist_offsets[i], base, 1, &mut self.one);
                self.links.add(&self.one, alpha);
            }
            self.links.normalise();
        }
    }
}

/// to += α Σ w_k column_k.
fn add_columns(to: &mut [f64], columns: &[f64], wrench: &[f64], alpha: f64) {
    if to.is_empty() {
        return;
    }
    for (column, w) in columns.chunks_exact(to.len()).zip(wrench) {
        let w = alpha * w;
        if w != 0.0 {
            to.iter_mut().zip(column).for_each(|(to, x)| *to += w * x);
        }
    }
}
