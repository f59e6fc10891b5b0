//! The blocks and right-hand sides of bodies, joints, couplings and pulls at an iterate.
//!
//! A joint's rows are the constraint rows J and the coordinate rows Jθ of its kind, turned into world
//! axes and to the centres of mass of its two bodies: a row (l, a) of the child frame's body twist
//! becomes (R_F l, R_F a + r×R_F l) on the child, with r from its centre of mass to the child frame's
//! origin, and the negative of that, with its own r, on the parent.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::frames::{Frame, NodeLoad};
use super::model::{ABSENT, Coupling, Item, Joint, Model, limit_stiffness};
use crate::elimination::Assemble;
use crate::inputs::{Inputs, Pull};
use crate::joints::{JointKind, nearest_turn};
use crate::spatial::{Pose, left_jacobian_rotation_inverse, log_rotation, skew};
use crate::state::State;

/// Compliance of a row at an equilibrium, relative to that which augmentation leaves it.
const STATIC_SOFTNESS: f64 = 1e-10;

/// How the parts are weighed: a step of h seconds or an equilibrium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// Factor of mass and rotor inertia: 1, or the pseudo-mass of statics.
    pub mass: f64,
    /// Factor of stiffness: h², or 1.
    pub stiffness: f64,
    /// Factor of damping: h, or 0.
    pub damping: f64,
    /// Factor of forces on the right-hand side: h, or 1.
    pub force: f64,
    /// Factor of the closures on the right-hand side: 1/h, or 1.
    pub closing: f64,
    /// Stiffness put on the rows themselves, N·m/rad and N/m: changes no solution, but makes the blocks
    /// of bodies definite where mass does not.
    pub augment: [f64; 2],
    pub geometric: Geometric,
    /// An equilibrium: nothing moves, and the unknown multipliers are changes to those at hand.
    pub equilibrium: bool,
}

/// Where geometric stiffness is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Geometric {
    /// Nowhere.
    Nowhere,
    /// For joints with h²|λ|·lever above one, of the constraint forces alone.
    WhereNeeded,
    /// Everywhere, of all forces.
    Everywhere,
}

/// What assembly reads.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub model: &'a Model<'a>,
    /// The nodes, then the base.
    pub frames: &'a [Frame],
    pub inputs: &'a Inputs,
    pub loads: &'a [NodeLoad],
    /// Coordinates (to unwrap against), rates and multipliers at the start.
    pub state: &'a State,
    /// Constraint forces that geometric stiffness is made of: those of the last iteration.
    pub multipliers: &'a [f64],
    pub scheme: &'a Scheme,
    /// Scale of the dead loads.
    pub load_scale: f64,
}

/// A joint at an iterate: its rows in world axes, first those of the constraint, then those of the
/// coordinates.
pub(super) struct Placed {
    /// Linear part of each row, and angular part at the child's and at the parent's centre of mass.
    pub linear: [Vector3<f64>; 6],
    pub child: [Vector3<f64>; 6],
    pub parent: [Vector3<f64>; 6],
    /// From the child's and the parent's centre of mass to the child frame's origin.
    pub arms: [Vector3<f64>; 2],
    /// The child frame's z.
    pub axis: Vector3<f64>,
    /// C(X).
    pub residual: Vector6<f64>,
    /// θ(X) and its rate at the iterate.
    pub q: Vector6<f64>,
    pub rate: Vector6<f64>,
}

/// What spring, damper, rotor and limit of one freedom do at an iterate.
#[derive(Clone, Copy)]
pub(super) struct Drive {
    /// Factor of the coordinate row's square in the matrix.
    pub weight: f64,
    /// Factor of the coordinate row on the right-hand side.
    pub impulse: f64,
    /// Force of spring, damper and limit, N or N·m.
    pub force: f64,
}

impl Scene<'_> {
    /// A joint's side: a node, or the base if it is the world.
    #[inline(always)]
    fn side(&self, node: Option<usize>) -> &Frame {
        &self.frames[node.unwrap_or(self.model.nodes.len())]
    }

    /// The relative pose X of a joint, and its child frame in the world.
    #[inline(always)]
    fn frames_of(&self, joint: &Joint) -> (Pose, Pose) {
        let F = self.side(joint.child).pose * joint.in_child;
        ((self.side(joint.parent).pose * joint.in_parent).inverse_times(&F), F)
    }

    /// The rows, closure and coordinates of a joint.
    #[inline(always)]
    pub(super) fn place(&self, joint: &Joint) -> Placed {
        if joint.kind == JointKind::Hinge { self.place_hinge(joint) } else { self.place_any(joint) }
    }

    /// Any joint, by the answers of its kind.
    fn place_any(&self, joint: &Joint) -> Placed {
        let (X, F) = self.frames_of(joint);
        let (child, parent) = (self.side(joint.child), self.side(joint.parent));
        let (rc, rp) = (F.position - child.center, F.position - parent.center);
        let R = F.rotation_matrix();
        let d = joint.kind.freedoms();
        let reference = &self.state.coordinates[joint.coordinate..joint.coordinate + d];
        let q = joint.kind.coordinates(&X, reference);
        let (J, Jq) = (joint.kind.rows(&X), joint.kind.coordinates_jacobian(&X, &q.as_slice()[..d]));
        let zero = [Vector3::zeros(); 6];
        let mut placed = Placed {
            linear: zero,
            child: zero,
            parent: zero,
            arms: [rc, rp],
            axis: R.column(2).into(),
            residual: joint.kind.residual(&X),
            q,
            rate: Vector6::zeros(),
        };
        for i in 0..6 {
            let row = if i < 6 - d { J.row(i) } else { Jq.row(i - (6 - d)) };
            let l = R * Vector3::new(row[0], row[1], row[2]);
            let a = R * Vector3::new(row[3], row[4], row[5]);
            placed.linear[i] = l;
            placed.child[i] = a + rc.cross(&l);
            placed.parent[i] = a + rp.cross(&l);
        }
        for k in 0..d {
            let i = 6 - d + k;
            placed.rate[k] = placed.linear[i].dot(&(child.v - parent.v)) + placed.child[i].dot(&child.w)
                - placed.parent[i].dot(&parent.w);
        }
        placed
    }

    /// A hinge, in vectors alone: offsets along the parent's axes, dots of the child's z with the
    /// parent's x and y, and the angle between the two x axes.
    #[inline(always)]
    fn place_hinge(&self, joint: &Joint) -> Placed {
        let (child, parent) = (self.side(joint.child), self.side(joint.parent));
        let (Rc, Rp) = (child.R * joint.in_child_rotation, parent.R * joint.in_parent_rotation);
        let o = child.pose.position + child.R * joint.in_child.position;
        let gap = o - (parent.pose.position + parent.R * joint.in_parent.position);
        let (rc, rp) = (o - child.center, o - parent.center);
        let column = |M: &Matrix3<f64>, k: usize| -> Vector3<f64> { M.column(k).into() };
        let (xc, yc, zc) = (column(&Rc, 0), column(&Rc, 1), column(&Rc, 2));
        let p: [Vector3<f64>; 3] = std::array::from_fn(|k| column(&Rp, k));
        // φ = atan2(s, c); its rate is that of ω along (c ∂s − s ∂c)/(s² + c²).
        let (s, c) = (xc.dot(&p[1]) - yc.dot(&p[0]), xc.dot(&p[0]) + yc.dot(&p[1]));
        let ds = xc.cross(&p[1]) - yc.cross(&p[0]);
        let dc = xc.cross(&p[0]) + yc.cross(&p[1]);
        let axis = (ds * c - dc * s) / (s * s + c * c);
        let mut placed = Placed {
            linear: [p[0], p[1], p[2], Vector3::zeros(), Vector3::zeros(), Vector3::zeros()],
            child: [Vector3::zeros(); 6],
            parent: [Vector3::zeros(); 6],
            arms: [rc, rp],
            axis: zc,
            residual: Vector6::new(
                gap.dot(&p[0]),
                gap.dot(&p[1]),
                gap.dot(&p[2]),
                zc.dot(&p[0]),
                zc.dot(&p[1]),
                0.0,
            ),
            q: Vector6::zeros(),
            rate: Vector6::zeros(),
        };
        for k in 0..3 {
            placed.child[k] = rc.cross(&p[k]);
            placed.parent[k] = rp.cross(&p[k]);
        }
        for k in 0..2 {
            let a = zc.cross(&p[k]);
            placed.child[3 + k] = a;
            placed.parent[3 + k] = a;
        }
        placed.child[5] = axis;
        placed.parent[5] = axis;
        placed.q[0] = nearest_turn(s.atan2(c), self.state.coordinates[joint.coordinate]);
        placed.rate[0] = axis.dot(&(child.w - parent.w));
        placed
    }

    /// Spring, damper, rotor and limit of freedom k of a joint.
    #[inline(always)]
    pub(super) fn drive(&self, joint: &Joint, k: usize, placed: &Placed) -> Drive {
        let at = joint.coordinate + k;
        let freedom = &self.model.freedoms[at];
        let (q, rate, rate0) = (placed.q[k], placed.rate[k], self.state.rates[at]);
        let scheme = self.scheme;
        // (M + hD + h²K) δ = … − K(θ − θ₀) h − D θ̇ h + a(θ̇₀ − θ̇)
        let mut stiffness = freedom.stiffness;
        let mut force = freedom.stiffness * (self.inputs.rest[at] - q);
        if q > freedom.upper {
            let k_limit = limit_stiffness(joint.kind, k);
            stiffness += k_limit;
            force += k_limit * (freedom.upper - q);
        } else if q < freedom.lower {
            let k_limit = limit_stiffness(joint.kind, k);
            stiffness += k_limit;
            force += k_limit * (freedom.lower - q);
        }
        let damped = if scheme.damping == 0.0 { 0.0 } else { freedom.damping };
        force -= damped * rate;
        Drive {
            weight: scheme.stiffness * stiffness
                + scheme.damping * freedom.damping
                + scheme.mass * freedom.armature,
            impulse: scheme.force * force
                + if !scheme.equilibrium { freedom.armature * (rate0 - rate) } else { 0.0 },
            force,
        }
    }

    /// Mass and momentum of a body, and the forces on it. In its own front it is the first node.
    #[inline(always)]
    fn body(&self, n: usize, target: &mut Target) {
        let (node, frame, scheme) = (&self.model.nodes[n], &self.frames[n], self.scheme);
        let mass = node.mass * scheme.mass;
        for k in 0..3 {
            target.F[k * target.stride + k] += mass;
            for l in k..3 {
                target.F[(3 + k) * target.stride + 3 + l] += scheme.mass * frame.inertia[(k, l)];
            }
        }
        let (mut f, mut t) = (frame.force * scheme.force, frame.torque * scheme.force);
        if !scheme.equilibrium {
            f += (frame.v0 - frame.v) * node.mass;
            t += frame.momentum - frame.inertia * frame.w;
        }
        target.right(0, &f);
        target.right(3, &t);
        if scheme.geometric == Geometric::Everywhere {
            // A dead load's torque (R r)×F turns with the body: ∂/∂θ = −… = [F]×[Rr]×, symmetrised.
            for load in self.loads.iter().filter(|load| load.node == n) {
                let arm = frame.pose.transform_point(&load.point) - frame.center;
                let D = skew(&(load.wrench.force * self.load_scale)) * skew(&arm);
                target.symmetric(3, &((D + D.transpose()) * (-0.5 * scheme.stiffness)));
            }
        }
    }

    /// Rows, springs and geometric stiffness of a joint.
    #[inline(always)]
    fn joint(&self, joint: &Joint, child: usize, parent: usize, rows: usize, target: &mut Target) {
        let placed = self.place(joint);
        let scheme = self.scheme;
        let d = joint.kind.freedoms();
        for i in 0..6 - d {
            target.row(rows + i, child, &placed.linear[i], &placed.child[i], 1.0);
            target.row(rows + i, parent, &placed.linear[i], &placed.parent[i], -1.0);
            target.F[(rows + i) * target.stride + target.size] -= scheme.closing * placed.residual[i];
            if !scheme.equilibrium {
                // −ε(λ − λ₀): soft only against change, so that nothing gives way at rest.
                let softness = joint.softness[i];
                let last = -self.state.multipliers[joint.row + i] * scheme.force;
                target.F[(rows + i) * target.stride + rows + i] -= softness;
                target.F[(rows + i) * target.stride + target.size] -= softness * last;
            } else {
                let sigma =
                    if placed.linear[i] == Vector3::zeros() { scheme.augment[0] } else { scheme.augment[1] };
                target.F[(rows + i) * target.stride + rows + i] -= STATIC_SOFTNESS / sigma;
                let impulse = self.state.multipliers[joint.row + i] - sigma * placed.residual[i];
                let drive = Drive { weight: sigma, impulse, force: 0.0 };
                target.drive(child, parent, &placed, i, &drive, true);
            }
        }
        let mut forces = [0.0; 6];
        for k in 0..d {
            let drive = self.drive(joint, k, &placed);
            forces[k] = drive.force;
            target.drive(child, parent, &placed, 6 - d + k, &drive, k < joint.kind.translations());
        }
        match scheme.geometric {
            Geometric::Nowhere => {}
            Geometric::WhereNeeded => {
                let multipliers = &self.multipliers[joint.row..joint.row + 6 - d];
                let tension = multipliers.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                if scheme.stiffness * tension * joint.lever > 1.0 {
                    match joint.kind {
                        JointKind::Hinge | JointKind::Ball => {
                            self.geometric_of_tension(joint, child, parent, &placed, target);
                        }
                        _ => self.geometric(joint, child, parent, &[0.0; 6], target),
                    }
                }
            }
            Geometric::Everywhere => {
                for (row, factor) in &joint.couplings {
                    forces[0] += factor * self.multipliers[*row];
                }
                self.geometric(joint, child, parent, &forces, target);
            }
        }
    }

    /// Geometric stiffness of the constraint forces of a hinge or ball, in vectors: the second derivatives
    /// of λ·C. With N(a, b) = ½(abᵀ + baᵀ) − a·b I, the form of a·(θ×(θ×b)), f the force of the offset rows
    /// and g = Σ ν_k p_k that of the dot rows of the child's z:
    ///
    /// offsets: N(f, rc) on the child's turn, N(f, rp) on the parent's, \[f\] from the parent's turn to its
    /// own motion and −\[f\] to the child's, −\[rc\]\[f\] to the child's turn;
    /// dots: N(g, z) on both turns and −\[z\]\[g\] between them.
    #[inline(always)]
    fn geometric_of_tension(
        &self,
        joint: &Joint,
        child: usize,
        parent: usize,
        placed: &Placed,
        target: &mut Target,
    ) {
        let form = |a: &Vector3<f64>, b: &Vector3<f64>| {
            let ab = a * b.transpose();
            (ab + ab.transpose()) * 0.5 - Matrix3::identity() * a.dot(b)
        };
        let scale = -self.scheme.stiffness;
        let multipliers = &self.multipliers[joint.row..joint.row + 6 - joint.kind.freedoms()];
        // The offset rows are the parent's axes p_k; f and g are scaled along.
        let along =
            |k: usize| (placed.linear[0] * multipliers[k] + placed.linear[1] * multipliers[k + 1]) * scale;
        let f = along(0) + placed.linear[2] * (multipliers[2] * scale);
        let mut on_child = form(&f, &placed.arms[0]);
        let mut on_parent = form(&f, &placed.arms[1]);
        let mut between = -skew(&placed.arms[0]) * skew(&f);
        if joint.kind == JointKind::Hinge {
            let (g, z) = (along(3), &placed.axis);
            let dots = form(&g, z);
            on_child += dots;
            on_parent += dots;
            between -= skew(z) * skew(&g);
        }
        if child != ABSENT {
            target.symmetric(child + 3, &on_child);
        }
        if parent != ABSENT {
            target.symmetric(parent + 3, &on_parent);
            target.block3(parent, parent + 3, &skew(&f));
        }
        if child != ABSENT && parent != ABSENT {
            target.block3(child, parent + 3, &-skew(&f));
            target.block3(child + 3, parent + 3, &between);
        }
    }

    /// Geometric stiffness of any joint: the wrench w = Jᵀλ + Jθᵀτ of the child frame, given in its axes, changes by
    /// H ξ with the relative pose and turns with the child. With f its force and m its torque in world
    /// axes, T the map from a body's motion to the child frame's, r from the centres of mass:
    ///
    /// ∂(child)/∂child = TcᵀHTc + [0, −\[f\]; 0, −\[m + rc×f\]],   ∂(child)/∂parent = −TcᵀHTp,
    /// ∂(parent)/∂parent = TpᵀHTp + [0, 0; −\[f\], 0].
    ///
    /// The symmetric part is used: what is left out vanishes at an equilibrium.
    fn geometric(&self, joint: &Joint, child: usize, parent: usize, forces: &[f64], target: &mut Target) {
        let scheme = self.scheme;
        let d = joint.kind.freedoms();
        let (X, F) = self.frames_of(joint);
        let q = joint.kind.coordinates(&X, &self.state.coordinates[joint.coordinate..joint.coordinate + d]);
        let q = &q.as_slice()[..d];
        let multipliers = &self.multipliers[joint.row..joint.row + 6 - d];
        let H = joint.kind.wrench_derivative(&X, q, multipliers, &forces[..d]);
        let (J, Jq) = (joint.kind.rows(&X), joint.kind.coordinates_jacobian(&X, q));
        let mut w = Vector6::zeros();
        for (k, force) in multipliers.iter().enumerate() {
            w += J.row(k).transpose() * *force;
        }
        for (k, force) in forces[..d].iter().enumerate() {
            w += Jq.row(k).transpose() * *force;
        }
        let R = F.rotation_matrix();
        let (f, m) = (R * Vector3::new(w[0], w[1], w[2]), R * Vector3::new(w[3], w[4], w[5]));
        let (rc, rp) =
            (F.position - self.side(joint.child).center, F.position - self.side(joint.parent).center);
        // H in world axes, then at the centres of mass: T = [I, −[r]; 0, I].
        let mut Hw = Matrix6::zeros();
        for (i, j) in [(0, 0), (0, 3), (3, 0), (3, 3)] {
            let block = R * H.fixed_view::<3, 3>(i, j) * R.transpose();
            Hw.fixed_view_mut::<3, 3>(i, j).copy_from(&block);
        }
        let (Tc, Tp) = (arm_matrix(&rc), arm_matrix(&rp));
        let scale = -scheme.stiffness;
        if child != ABSENT {
            let mut K = Tc.transpose() * Hw * Tc;
            add_block(&mut K, 0, 3, -skew(&f));
            add_block(&mut K, 3, 3, -skew(&(m + rc.cross(&f))));
            target.symmetric6(child, &((K + K.transpose()) * (0.5 * scale)));
        }
        if parent != ABSENT {
            let mut K = Tp.transpose() * Hw * Tp;
            add_block(&mut K, 3, 0, -skew(&f));
            target.symmetric6(parent, &((K + K.transpose()) * (0.5 * scale)));
        }
        if child != ABSENT && parent != ABSENT {
            // Half of ∂(child)/∂parent and half of the transpose of ∂(parent)/∂child.
            let mut back = -(Tp.transpose() * Hw * Tc);
            add_block(&mut back, 0, 3, skew(&f));
            add_block(&mut back, 3, 0, skew(&f));
            add_block(&mut back, 3, 3, skew(&m) - skew(&f) * skew(&rc) + skew(&rp) * skew(&f));
            let K = (-(Tc.transpose() * Hw * Tp) + back.transpose()) * (0.5 * scale);
            target.block6(child, parent, &K);
        }
    }

    /// θ_joint − ratio·θ_of − offset = 0, one row over up to four bodies.
    fn coupling(&self, coupling: &Coupling, bodies: [usize; 4], row: usize, target: &mut Target) {
        let ends = [(coupling.joint, 1.0), (coupling.of, -coupling.ratio)];
        let mut residual = -coupling.offset;
        for (e, (j, factor)) in ends.into_iter().enumerate() {
            let joint = &self.model.joints[j];
            let placed = self.place(joint);
            residual += factor * placed.q[0];
            for (body, angular, sign) in
                [(bodies[2 * e], &placed.child[5], factor), (bodies[2 * e + 1], &placed.parent[5], -factor)]
            {
                target.row(row, body, &placed.linear[5], angular, sign);
                if self.scheme.equilibrium && body != ABSENT {
                    let force = sign * self.state.multipliers[coupling.row];
                    target.right(body, &(placed.linear[5] * force));
                    target.right(body + 3, &(angular * force));
                }
            }
        }
        target.F[row * target.stride + target.size] -= self.scheme.closing * residual;
        if self.scheme.equilibrium {
            target.F[row * target.stride + row] -= STATIC_SOFTNESS / self.scheme.augment[0];
        } else {
            // Soft only against change, as the rows of joints.
            let last = -self.state.multipliers[coupling.row] * self.scheme.force;
            target.F[row * target.stride + row] -= coupling.softness;
            target.F[row * target.stride + target.size] -= coupling.softness * last;
        }
    }

    /// A spring and damper from a frame on a body to a frame that moves. In the body's own front it is
    /// the first node.
    fn pull(&self, pull: &Pull, n: usize, frame: &Pose, target: &mut Target) {
        let scheme = self.scheme;
        let body = &self.frames[n];
        let (force, torque) = pull_wrench(pull, body, frame, !scheme.equilibrium);
        let at = body.pose * *frame;
        let arm = at.position - body.center;
        // R R_tᵀ turned by θ in world axes: ė = Jl(e)⁻¹ θ.
        let B =
            left_jacobian_rotation_inverse(&log_rotation(&(at.rotation * pull.target.rotation.inverse())));
        target.right(0, &(force * scheme.force));
        target.right(3, &((torque + arm.cross(&force)) * scheme.force));
        // Translations: k TᵀT with T = [I, −[r]]; rotations: the symmetric part of k B.
        let k = scheme.stiffness * pull.stiffness + scheme.damping * pull.damping;
        let T = arm_matrix(&arm).fixed_rows::<3>(0).into_owned();
        let mut K = T.transpose() * T * k;
        let turn = (B + B.transpose()) * (0.5 * scheme.stiffness * pull.turning_stiffness)
            + Matrix3::identity() * (scheme.damping * pull.turning_damping);
        add_block(&mut K, 3, 3, turn);
        if scheme.geometric == Geometric::Everywhere {
            // The arm of the force turns with the body, as that of a dead load.
            let D = skew(&force) * skew(&arm);
            add_block(&mut K, 3, 3, (D + D.transpose()) * (-0.5 * scheme.stiffness));
        }
        target.symmetric6(0, &K);
    }

    /// Adds the forces that act on each node at the iterate, at its centre of mass: loads, springs and
    /// constraint forces. Closures go to `closures` ([`State::multipliers`]' order).
    pub(super) fn residual(&self, forces: &mut [(Vector3<f64>, Vector3<f64>)], closures: &mut [f64]) {
        for (sum, frame) in forces.iter_mut().zip(self.frames) {
            *sum = (frame.force, frame.torque);
        }
        for joint in &self.model.joints {
            let placed = self.place(joint);
            let d = joint.kind.freedoms();
            for i in 0..6 {
                let force = if i < 6 - d {
                    closures[joint.row + i] = placed.residual[i];
                    self.state.multipliers[joint.row + i]
                } else {
                    self.drive(joint, i - (6 - d), &placed).force
                };
                add_row(forces, joint, &placed, i, force);
            }
        }
        for coupling in &self.model.couplings {
            let force = self.state.multipliers[coupling.row];
            let mut residual = -coupling.offset;
            for (j, factor) in [(coupling.joint, 1.0), (coupling.of, -coupling.ratio)] {
                let placed = self.place(&self.model.joints[j]);
                residual += factor * placed.q[0];
                add_row(forces, &self.model.joints[j], &placed, 5, factor * force);
            }
            closures[coupling.row] = residual;
        }
        for pull in &self.inputs.pulls {
            if let Some((node, frame)) = self.model.frame_in_node(pull.body, pull.frame) {
                let body = &self.frames[node];
                let (force, torque) = pull_wrench(pull, body, &frame, false);
                let arm = (body.pose * frame).position - body.center;
                forces[node].0 += force;
                forces[node].1 += torque + arm.cross(&force);
            }
        }
    }
}

impl Assemble for Scene<'_> {
    #[inline(always)]
    fn add_front(&self, f: usize, F: &mut [f64], stride: usize, size: usize) {
        let mut target = Target { F, stride, size };
        for item in &self.model.items[self.model.first_item[f]..self.model.first_item[f + 1]] {
            match *item {
                Item::Body { node } => self.body(node, &mut target),
                Item::Joint { joint, child, parent, rows } => {
                    self.joint(&self.model.joints[joint], child, parent, rows, &mut target);
                }
                Item::Coupling { coupling, bodies, row } => {
                    self.coupling(&self.model.couplings[coupling], bodies, row, &mut target);
                }
            }
        }
        for pull in &self.inputs.pulls {
            if let Some((node, frame)) = self.model.frame_in_node(pull.body, pull.frame)
                && self.model.nodes[node].front == f
            {
                self.pull(pull, node, &frame, &mut target);
            }
        }
    }
}

/// Force and torque of a pull, world axes, at the pulled frame's origin.
pub(super) fn pull_wrench(
    pull: &Pull,
    body: &Frame,
    frame: &Pose,
    damped: bool,
) -> (Vector3<f64>, Vector3<f64>) {
    let at = body.pose * *frame;
    let e = log_rotation(&(at.rotation * pull.target.rotation.inverse()));
    let mut force = (pull.target.position - at.position) * pull.stiffness;
    let mut torque = -e * pull.turning_stiffness;
    if damped {
        force += (pull.target_twist.linear - body.velocity_at(&at.position)) * pull.damping;
        torque += (pull.target_twist.angular - body.w) * pull.turning_damping;
    }
    (force, torque)
}

/// Adds a row's force to both bodies of a joint.
fn add_row(
    forces: &mut [(Vector3<f64>, Vector3<f64>)],
    joint: &Joint,
    placed: &Placed,
    i: usize,
    force: f64,
) {
    if let Some(n) = joint.child {
        forces[n].0 += placed.linear[i] * force;
        forces[n].1 += placed.child[i] * force;
    }
    if let Some(n) = joint.parent {
        forces[n].0 -= placed.linear[i] * force;
        forces[n].1 -= placed.parent[i] * force;
    }
}

/// T = [I, −\[r\]; 0, I]: the motion of a point at r from that of the centre of mass.
fn arm_matrix(r: &Vector3<f64>) -> Matrix6<f64> {
    let mut T = Matrix6::identity();
    T.fixed_view_mut::<3, 3>(0, 3).copy_from(&-skew(r));
    T
}

fn add_block(K: &mut Matrix6<f64>, i: usize, j: usize, block: Matrix3<f64>) {
    let mut view = K.fixed_view_mut::<3, 3>(i, j);
    view += block;
}

/// A front that is being assembled: upper triangle, right-hand side in column `size`.
struct Target<'a> {
    F: &'a mut [f64],
    stride: usize,
    size: usize,
}

impl Target<'_> {
    #[inline(always)]
    fn right(&mut self, at: usize, x: &Vector3<f64>) {
        for k in 0..3 {
            self.F[(at + k) * self.stride + self.size] += x[k];
        }
    }

    /// A constraint row (l, a)·factor between a row node and a body.
    #[inline(always)]
    fn row(&mut self, row: usize, body: usize, l: &Vector3<f64>, a: &Vector3<f64>, factor: f64) {
        if body == ABSENT {
            return;
        }
        let (start, step) =
            if body < row { (body * self.stride + row, self.stride) } else { (row * self.stride + body, 1) };
        let F = &mut self.F[start..start + 5 * step + 1];
        for k in 0..3 {
            F[k * step] += factor * l[k];
            F[(3 + k) * step] += factor * a[k];
        }
    }

    /// weight·(row)ᵀ(row) and impulse·(row)ᵀ of row i of a joint on its two bodies.
    #[inline(always)]
    fn drive(
        &mut self,
        child: usize,
        parent: usize,
        placed: &Placed,
        i: usize,
        drive: &Drive,
        translates: bool,
    ) {
        let (l, c, p) = (&placed.linear[i], &placed.child[i], &placed.parent[i]);
        if translates {
            let c = Vector6::new(l.x, l.y, l.z, c.x, c.y, c.z);
            let p = -Vector6::new(l.x, l.y, l.z, p.x, p.y, p.z);
            for (body, x) in [(child, &c), (parent, &p)] {
                if body != ABSENT {
                    self.symmetric6(body, &(x * x.transpose() * drive.weight));
                    for k in 0..6 {
                        self.F[(body + k) * self.stride + self.size] += x[k] * drive.impulse;
                    }
                }
            }
            if child != ABSENT && parent != ABSENT {
                self.block6(child, parent, &(c * p.transpose() * drive.weight));
            }
        } else {
            // A rotation's row has no linear part, and is the same on both sides but for the sign.
            if child != ABSENT {
                self.symmetric(child + 3, &(c * c.transpose() * drive.weight));
                self.right(child + 3, &(c * drive.impulse));
            }
            if parent != ABSENT {
                self.symmetric(parent + 3, &(p * p.transpose() * drive.weight));
                self.right(parent + 3, &(p * -drive.impulse));
            }
            if child != ABSENT && parent != ABSENT {
                let K = c * p.transpose() * -drive.weight;
                let (a, b, K) =
                    if child < parent { (child, parent, K) } else { (parent, child, K.transpose()) };
                for k in 0..3 {
                    for l in 0..3 {
                        self.F[(a + 3 + k) * self.stride + b + 3 + l] += K[(k, l)];
                    }
                }
            }
        }
    }

    /// A symmetric 3×3 block on the diagonal.
    #[inline(always)]
    fn symmetric(&mut self, at: usize, K: &Matrix3<f64>) {
        for k in 0..3 {
            for l in k..3 {
                self.F[(at + k) * self.stride + at + l] += K[(k, l)];
            }
        }
    }

    /// A 3×3 block off the diagonal.
    #[inline(always)]
    fn block3(&mut self, a: usize, b: usize, K: &Matrix3<f64>) {
        let (start, row, column) =
            if a < b { (a * self.stride + b, self.stride, 1) } else { (b * self.stride + a, 1, self.stride) };
        for k in 0..3 {
            for l in 0..3 {
                self.F[start + k * row + l * column] += K[(k, l)];
            }
        }
    }

    /// A symmetric 6×6 block on the diagonal.
    #[inline(always)]
    fn symmetric6(&mut self, at: usize, K: &Matrix6<f64>) {
        for k in 0..6 {
            for l in k..6 {
                self.F[(at + k) * self.stride + at + l] += K[(k, l)];
            }
        }
    }

    /// A 6×6 block between two bodies.
    #[inline(always)]
    fn block6(&mut self, a: usize, b: usize, K: &Matrix6<f64>) {
        for k in 0..6 {
            for l in 0..6 {
                let at = if a < b { (a + k) * self.stride + b + l } else { (b + l) * self.stride + a + k };
                self.F[at] += K[(k, l)];
            }
        }
    }
}
