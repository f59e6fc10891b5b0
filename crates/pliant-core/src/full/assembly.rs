//! The blocks and right-hand sides of bodies, joints, couplings and pulls at an iterate.

use nalgebra::{Matrix3, Matrix6, Vector3};

use super::frames::{Frame, NodeLoad};
use super::model::{ABSENT, Constants, Coupling, Item, Joint};
use super::placing::Placed;
use super::target::Target;
use crate::algebra::elimination::{Assemble, Carry};
use crate::engine::State;
use crate::engine::laws::Law;
use crate::engine::{Inputs, Spring};
use crate::joints::JointKind;
use crate::spatial::{Pose, Twist, Wrench, skew};

/// Compliance of a row at an equilibrium, relative to that which augmentation leaves it. It acts on changes
/// of the multipliers, which Newton's method brings to zero; the smaller, the more digits a solve loses.
pub(super) const STATIC_SOFTNESS: f64 = 1e-7;

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
    /// Softness of rows at an equilibrium, relative to what augmentation leaves them.
    pub row_softness: f64,
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
    pub model: &'a Constants,
    /// The nodes, then the base.
    pub frames: &'a [Frame],
    pub inputs: &'a Inputs,
    /// What acts along coordinates.
    pub laws: &'a [Law],
    pub loads: &'a [NodeLoad],
    /// Coordinates (to unwrap against), rates and multipliers at the start.
    pub state: &'a State,
    /// Constraint forces that geometric stiffness is made of: those of the last iteration.
    pub multipliers: &'a [f64],
    pub scheme: &'a Scheme,
    /// Scale of the dead loads.
    pub load_scale: f64,
    /// Coordinates by which limits act or not, if not by those of the iterate: statics only.
    pub ahead: &'a [f64],
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
    /// Spring, damper, rotor and limit of freedom k of a joint.
    #[inline(always)]
    pub(super) fn drive(&self, joint: &Joint, k: usize, placed: &Placed) -> Drive {
        let at = joint.coordinate + k;
        let law = &self.laws[at];
        let (q, rate, rate0) = (placed.q[k], placed.rate[k], self.state.rates[at]);
        let scheme = self.scheme;
        // (M + hD + h²K) δ = … − K(θ − θ₀) h − D θ̇ h + a(θ̇₀ − θ̇)
        let mut stiffness = law.stiffness;
        let mut force = law.stiffness * (self.inputs.rest[at] - q) + law.push;
        let judged = self.ahead.get(at).copied().unwrap_or(q);
        if scheme.equilibrium {
            (stiffness, force) = at_rest(law, self.inputs.rest[at] - judged, force);
        }
        law.add_limit(judged, q, &mut stiffness, &mut force);
        let damped = if scheme.damping == 0.0 { 0.0 } else { law.damping };
        force -= damped * rate;
        Drive {
            weight: scheme.stiffness * stiffness + scheme.damping * law.damping + scheme.mass * law.armature,
            impulse: scheme.force * force
                + if !scheme.equilibrium { law.armature * (rate0 - rate) } else { 0.0 },
            force,
        }
    }

    /// How far a solution moves the coordinates of a joint.
    pub(super) fn moves(&self, joint: &Joint, placed: &Placed, solution: &[f64]) -> [f64; 6] {
        let velocity = |node: Option<usize>| {
            node.map_or([0.0; 6], |n| std::array::from_fn(|i| solution[self.model.nodes[n].unknown + i]))
        };
        let (c, p) = (velocity(joint.child), velocity(joint.parent));
        let d = joint.kind.freedoms();
        let coordinate = |i: usize| {
            let part = |x: usize| {
                placed.linear[i][x] * (c[x] - p[x]) + placed.child[i][x] * c[3 + x]
                    - placed.parent[i][x] * p[3 + x]
            };
            (0..3).map(part).sum::<f64>()
        };
        std::array::from_fn(|k| if k < d { coordinate(6 - d + k) } else { 0.0 })
    }

    /// Mass and momentum of a body, and the forces on it. In its own front it is the first node.
    #[inline(always)]
    pub(super) fn body(&self, n: usize, target: &mut Target) {
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
                // −ε(λ − λ₀): soft only against change, so that nothing yields at rest.
                let softness = joint.softness[i];
                let last = -self.state.multipliers[joint.row + i] * scheme.force;
                target.F[(rows + i) * target.stride + rows + i] -= softness;
                target.F[(rows + i) * target.stride + target.size] -= softness * last;
            } else {
                let sigma = scheme.augment[usize::from(!joint.turning[i])];
                target.F[(rows + i) * target.stride + rows + i] -= scheme.row_softness / sigma;
                let impulse = self.state.multipliers[joint.row + i] - sigma * placed.residual[i];
                let drive = Drive { weight: sigma, impulse, force: 0.0 };
                target.drive(child, parent, &placed, i, &drive, true);
            }
        }
        let mut forces = [0.0; 6];
        for k in 0..d {
            let drive = self.drive(joint, k, &placed);
            forces[k] = drive.force;
            target.drive(child, parent, &placed, 6 - d + k, &drive, !joint.kind.only_turns(k));
        }
        self.geometric_where_used(joint, child, parent, &placed, forces, target);
    }

    /// The joint by which the first body of a front hangs on its parent: by the inverse of its rows.
    #[inline(always)]
    fn carrying_joint(
        &self,
        joint: &Joint,
        child: usize,
        parent: usize,
        target: &mut Target,
        carry: &mut Carry,
    ) {
        let placed = self.place(joint);
        carry.onto = (parent != ABSENT).then_some(parent);
        self.geometric_where_used(joint, child, parent, &placed, [0.0; 6], target);
        if joint.kind == JointKind::Hinge {
            return self.carry_by_hinge(joint, &placed, carry);
        }
        let d = joint.kind.freedoms();
        for k in 0..d {
            let drive = self.drive(joint, k, &placed);
            target.drive(child, parent, &placed, 6 - d + k, &drive, !joint.kind.only_turns(k));
        }
        self.carry_by_any(joint, &placed, carry);
    }

    /// Geometric stiffness of a joint's constraint forces and `forces` of its coordinates, if the scheme wants it.
    #[inline(always)]
    fn geometric_where_used(
        &self,
        joint: &Joint,
        child: usize,
        parent: usize,
        placed: &Placed,
        mut forces: [f64; 6],
        target: &mut Target,
    ) {
        let (scheme, d) = (self.scheme, joint.kind.freedoms());
        match scheme.geometric {
            Geometric::Nowhere => {}
            Geometric::WhereNeeded => {
                let multipliers = &self.multipliers[joint.row..joint.row + 6 - d];
                let forces = multipliers.iter().zip(&joint.tension);
                let tension = forces.fold(0.0f64, |m, (x, count)| m.max(x.abs() * count));
                if scheme.stiffness * tension * joint.lever > 1.0 {
                    match joint.kind {
                        JointKind::Hinge | JointKind::Ball => {
                            self.geometric_of_tension(joint, child, parent, placed, target);
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
            target.F[row * target.stride + row] -= self.scheme.row_softness / self.scheme.augment[0];
        } else {
            // Soft only against change, as the rows of joints.
            let last = -self.state.multipliers[coupling.row] * self.scheme.force;
            target.F[row * target.stride + row] -= coupling.softness;
            target.F[row * target.stride + target.size] -= coupling.softness * last;
        }
    }

    /// A spring and damper from a frame on a body to a frame that moves. In the body's own front it is
    /// the first node.
    fn spring(&self, spring: &Spring, n: usize, frame: &Pose, target: &mut Target) {
        let scheme = self.scheme;
        let body = &self.frames[n];
        let at = body.pose * *frame;
        let arm = at.position - body.center;
        // At an equilibrium nothing is behind its target.
        let twist = match scheme.equilibrium {
            true => spring.target_twist,
            false => Twist { linear: body.velocity_at(&at.position), angular: body.w },
        };
        let at = body.in_world(&at, &arm, scheme.force);
        let Wrench { force, torque } = spring.wrench(&at, &twist);
        target.right(0, &(force * scheme.force));
        target.right(3, &((torque + arm.cross(&force)) * scheme.force));
        // Translations: k TᵀT with T = [I, −[r]].
        let k = scheme.stiffness * spring.stiffness + scheme.damping * spring.damping;
        let T = arm_matrix(&arm).fixed_rows::<3>(0).into_owned();
        let mut K = T.transpose() * T * k;
        let turn = spring.turning(&at) * scheme.stiffness
            + Matrix3::identity() * (scheme.damping * spring.turning_damping);
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
        for spring in &self.inputs.springs {
            if let Some((node, frame)) = self.model.frame_in_node(spring.body, spring.frame) {
                let body = &self.frames[node];
                let at = body.pose * frame;
                let Wrench { force, torque } = spring.wrench(&at, &spring.target_twist);
                let arm = at.position - body.center;
                forces[node].0 += force;
                forces[node].1 += torque + arm.cross(&force);
            }
        }
    }
}

impl Scene<'_> {
    /// Adds what is assembled in a front; where there is a `carry`, the joint that carries its body by that.
    #[inline(always)]
    fn add(&self, f: usize, target: &mut Target, mut carry: Option<&mut Carry>) {
        for item in &self.model.items[self.model.first_item[f]..self.model.first_item[f + 1]] {
            match *item {
                Item::Body { node } => self.body(node, target),
                Item::Joint { joint, child, parent, rows, carries } => {
                    let joint = &self.model.joints[joint];
                    match carry.as_deref_mut().filter(|_| carries) {
                        Some(carry) => self.carrying_joint(joint, child, parent, target, carry),
                        None => self.joint(joint, child, parent, rows, target),
                    }
                }
                Item::Coupling { coupling, bodies, row } => {
                    self.coupling(&self.model.couplings[coupling], bodies, row, target);
                }
            }
        }
        for spring in &self.inputs.springs {
            if let Some((node, frame)) = self.model.frame_in_node(spring.body, spring.frame)
                && self.model.nodes[node].front == f
            {
                self.spring(spring, node, &frame, target);
            }
        }
    }
}

impl Assemble for Scene<'_> {
    #[inline(always)]
    fn add_front(&self, f: usize, F: &mut [f64], stride: usize, size: usize) {
        self.add(f, &mut Target { F, stride, size }, None);
    }

    #[inline(always)]
    fn is_carried(&self, f: usize) -> bool {
        self.model.is_carried[f]
    }

    #[inline(always)]
    fn add_carried(&self, f: usize, F: &mut [f64], stride: usize, size: usize, carry: &mut Carry) {
        self.add(f, &mut Target { F, stride, size }, Some(carry));
    }
}

/// Stiffness and force of a spring within its torque limit, stretched so far, at rest.
#[cold]
#[inline(never)]
fn at_rest(law: &Law, stretch: f64, force: f64) -> (f64, f64) {
    let motor = law.stiffness * stretch;
    if motor.abs() > law.torque_limit {
        (0.0, law.torque_limit.copysign(motor))
    } else {
        (law.stiffness, force)
    }
}

/// T = [I, −\[r\]; 0, I]: the motion of a point at r from that of the centre of mass.
pub(super) fn arm_matrix(r: &Vector3<f64>) -> Matrix6<f64> {
    let mut T = Matrix6::identity();
    T.fixed_view_mut::<3, 3>(0, 3).copy_from(&-skew(r));
    T
}

pub(super) fn add_block(K: &mut Matrix6<f64>, i: usize, j: usize, block: Matrix3<f64>) {
    let mut view = K.fixed_view_mut::<3, 3>(i, j);
    view += block;
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
