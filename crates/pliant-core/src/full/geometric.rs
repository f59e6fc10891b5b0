//! Geometric stiffness: how the forces of a joint change as its bodies move, at fixed multipliers.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::assembly::{Geometric, STATIC_SOFTNESS, Scene, Scheme, add_block, arm_matrix};
use super::frames;
use super::model::{ABSENT, Joint};
use super::placing::Placed;
use super::simulation::Simulation;
use super::target::Target;
use crate::joints::{JointKind, Placement};
use crate::spatial::skew;

/// Geometric stiffness at the present state, of all forces of joints, couplings and dead loads: blocks between
/// nodes (a, b), in the nodes' own frames. To a joint, the node that carries its segment is the world.
pub(crate) fn geometric_stiffness(
    simulation: &mut Simulation,
    base_of_node: &[Option<usize>],
) -> Vec<(usize, usize, Matrix6<f64>)> {
    let (model, inputs, state, work) = simulation.parts();
    frames::load(model, inputs, state, 0.0, &mut work.frames);
    frames::collect_loads(model, inputs, &mut work.loads);
    frames::apply_loads(model, &inputs.gravity, &work.loads, 1.0, &mut work.frames);
    let scheme = Scheme {
        mass: 0.0,
        stiffness: 1.0,
        damping: 0.0,
        force: 0.0,
        closing: 0.0,
        augment: [0.0; 2],
        row_softness: STATIC_SOFTNESS,
        geometric: Geometric::Everywhere,
        equilibrium: true,
    };
    let scene = Scene {
        model,
        frames: &work.frames,
        inputs,
        laws: &inputs.laws,
        loads: &work.loads,
        state,
        multipliers: &state.multipliers,
        scheme: &scheme,
        load_scale: 1.0,
        ahead: &[],
    };
    // World axes at the centre of mass from a node's frame: [R, −R[c]; 0, R].
    let to_world = |n: usize| {
        let (R, c) = (work.frames[n].R, skew(&model.nodes[n].center));
        let mut T = Matrix6::zeros();
        add_block(&mut T, 0, 0, R);
        add_block(&mut T, 0, 3, -R * c);
        add_block(&mut T, 3, 3, R);
        T
    };
    let mut blocks = Vec::new();
    const SIZE: usize = 12;
    for joint in &model.joints {
        let mut F = [0.0; SIZE * (SIZE + 1)];
        let moving =
            |a: Option<usize>, b: Option<usize>| a.filter(|a| b.is_none_or(|b| base_of_node[b] != Some(*a)));
        let ends = (moving(joint.child, joint.parent), moving(joint.parent, joint.child));
        let (child, parent) = (ends.0.map_or(ABSENT, |_| 0), ends.1.map_or(ABSENT, |_| 6));
        let mut target = Target { F: &mut F, stride: SIZE + 1, size: SIZE };
        let placed = scene.place(joint);
        let mut forces = [0.0; 6];
        for k in 0..joint.kind.freedoms() {
            forces[k] = scene.drive(joint, k, &placed).force;
        }
        for (row, factor) in &joint.couplings {
            forces[0] += factor * state.multipliers[*row];
        }
        scene.geometric(joint, child, parent, &forces, &mut target);
        let sides = [(ends.0, 0), (ends.1, 6)];
        for (a, from) in sides {
            for (b, to) in sides {
                let (Some(a), Some(b)) = (a, b) else { continue };
                if from > to {
                    continue;
                }
                let at = |i: usize, k: usize| F[(from + i) * (SIZE + 1) + to + k];
                let K = Matrix6::from_fn(|i, k| if from == to && i > k { at(k, i) } else { at(i, k) });
                blocks.push((a, b, to_world(a).transpose() * K * to_world(b)));
            }
        }
    }
    for n in 0..model.nodes.len() {
        let mut F = [0.0; SIZE * (SIZE + 1)];
        scene.body(n, &mut Target { F: &mut F, stride: SIZE + 1, size: SIZE });
        let at = |i: usize, k: usize| F[i.min(k) * (SIZE + 1) + i.max(k)];
        let K = Matrix6::from_fn(at);
        if K != Matrix6::zeros() {
            blocks.push((n, n, to_world(n).transpose() * K * to_world(n)));
        }
    }
    blocks
}

/// The dead torque of all loads on each node that has one, in the node's own frame.
pub(crate) fn torques_on_nodes(simulation: &mut Simulation) -> Vec<(usize, Vector3<f64>)> {
    let (model, inputs, state, work) = simulation.parts();
    frames::load(model, inputs, state, 0.0, &mut work.frames);
    frames::collect_loads(model, inputs, &mut work.loads);
    let mut sum = vec![Vector3::zeros(); model.nodes.len()];
    work.loads.iter().for_each(|load| sum[load.node] += load.wrench.torque);
    let turned = sum.into_iter().enumerate().filter(|(_, torque)| *torque != Vector3::zeros());
    turned.map(|(n, torque)| (n, work.frames[n].R.transpose() * torque)).collect()
}

impl Scene<'_> {
    /// Geometric stiffness of the constraint forces of a hinge or ball, in vectors: the second derivatives
    /// of λ·C. With N(a, b) = ½(abᵀ + baᵀ) − a·b I, the form of a·(θ×(θ×b)), f the force of the offset rows
    /// and g = Σ ν_k p_k that of the dot rows of the child's z:
    ///
    /// offsets: N(f, rc) on the child's turn, N(f, rp) on the parent's, \[f\] from the parent's turn to its
    /// own motion and −\[f\] to the child's, −\[rc\]\[f\] to the child's turn;
    /// dots: N(g, z) on both turns and −\[z\]\[g\] between them.
    #[inline(always)]
    pub(super) fn geometric_of_tension(
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
        // The offset rows are the parent's axes p_k; f and g are scaled along. Where closures repeat each other the rows are P J, and
        // what they pass on is Jᵀ(Pᵀλ).
        let count = 6 - joint.kind.freedoms();
        let mut multipliers = Vector6::zeros();
        multipliers.as_mut_slice()[..count].copy_from_slice(&self.multipliers[joint.row..joint.row + count]);
        let mut axes = [placed.linear[0], placed.linear[1], placed.linear[2]];
        if let Some(P) = &joint.kept {
            multipliers = P.tr_mul(&multipliers);
            let frame = self.side(joint.parent).pose.rotation * joint.in_parent.rotation;
            axes = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| frame * axis);
        }
        let along = |k: usize| (axes[0] * multipliers[k] + axes[1] * multipliers[k + 1]) * scale;
        let f = along(0) + axes[2] * (multipliers[2] * scale);
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
    pub(super) fn geometric(
        &self,
        joint: &Joint,
        child: usize,
        parent: usize,
        forces: &[f64],
        target: &mut Target,
    ) {
        let scheme = self.scheme;
        let d = joint.kind.freedoms();
        let (X, F) = self.frames_of(joint);
        let reference = &self.state.coordinates[joint.coordinate..joint.coordinate + d];
        let Placement { coordinates: q, rows: J, coordinates_jacobian: Jq, .. } =
            joint.kind.place(&X, reference);
        let q = &q.as_slice()[..d];
        let mut multipliers = Vector6::zeros();
        multipliers.as_mut_slice()[..6 - d].copy_from_slice(&self.multipliers[joint.row..joint.row + 6 - d]);
        // (P J)ᵀλ = Jᵀ(Pᵀλ).
        if let Some(P) = &joint.kept {
            multipliers = P.tr_mul(&multipliers);
        }
        let multipliers = &multipliers.as_slice()[..6 - d];
        let H = joint.kind.wrench_derivative(&X, q, multipliers, &forces[..d]);
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
}
