//! Springs and dampers from a frame on any body to a frame that moves: a mouse, a haptic device.
//!
//! In the axes of the pulled frame P, with e the offset to the target and G its body twist per ż:
//! w = w₀ − (h k + d) G ż⁺ with w₀ = k e + d (target's twist), so Gᵀ(h²k + h d)G joins the matrix and any
//! stiffness is stable. On a free base the base moves too: [φ_m; ż] is solved for first with all pulls, which
//! gives their w, and then both parts feel them.

use nalgebra::{Matrix6, Vector6};

use super::dynamics;
use super::simulation::{Moving, Simulation};
use crate::algebra::dense::cholesky;
use crate::engine::Spring;
use crate::spatial::{Pose, Twist, Wrench, exp, right_jacobian};

/// A pulled frame: its node's place, where it is in the node, its pose, and its body twist per ż.
struct Grip {
    component: usize,
    pose: Pose,
    /// Seen from the base.
    in_base: Pose,
}

impl Simulation {
    /// Where a pulled frame is; fills the component's rows with its body twist per ż, base at rest.
    fn grip(&mut self, pull: &Spring) -> Option<Grip> {
        let (node, offset) = self.model.reference.place(pull.body);
        let (c, at) = self.model.place_of_node[node?];
        let (component, part) = (&self.model.components[c], &mut self.parts[c]);
        let n = part.motion.size();
        let rows = &component.shapes.nodes[6 * at * n..6 * (at + 1) * n];
        let xi = dynamics::twist(rows, &part.motion.z, Some(&part.nodes[6 * at..6 * (at + 1)]));
        let frame = offset * pull.frame;
        let rest = component.base_pose.inverse_times(&self.model.reference.poses[node?]);
        let in_base = rest * exp(&xi) * frame;
        // Ad(X⁻¹) Jr(ξ) N, and −Ad(P,b) Jr(−Sz) S where the base sways.
        let J = frame.inverse().adjoint() * right_jacobian(&xi);
        multiply(&J, rows, n, &mut part.rows);
        if let Some(floating) = &part.floating {
            let sway = -floating.sway_of(&part.motion.z);
            let J = in_base.inverse().adjoint() * right_jacobian(&sway) * -1.0;
            add_product(&J, &floating.sway, n, &mut part.rows);
        }
        Some(Grip { component: c, pose: part.base * in_base, in_base })
    }

    /// Adds the pulls on a component to its step.
    pub(super) fn pull(&mut self, c: usize, h: f64) {
        if self.inputs.springs.is_empty() {
            return;
        }
        if self.parts[c].floating.is_some() {
            self.pull_free(c, h);
            return;
        }
        for p in 0..self.inputs.springs.len() {
            let Some((pull, grip)) = self.grip_in(p, c) else { continue };
            let part = &mut self.parts[c];
            let (mut w, K, D) = pull.in_frame(&grip.pose);
            // What the scripted base does to the frame is given.
            w -= D * base_part(&self.inputs.base_twist, &self.inputs.base, &grip);
            part.motion.push(&part.rows, &w);
            part.motion.hold(&part.rows, &(K * (h * h) + D * h));
        }
    }

    /// A pull and its grip, if it is on a component.
    fn grip_in(&mut self, p: usize, c: usize) -> Option<(Spring, Grip)> {
        let pull = self.inputs.springs[p];
        let node = self.model.reference.place(pull.body).0?;
        if self.model.place_of_node[node].0 != c {
            return None;
        }
        self.grip(&pull).map(|grip| (pull, grip))
    }

    /// Pulls on a free base: all of them with base and links in one system, whose last rows give their wrenches.
    fn pull_free(&mut self, c: usize, h: f64) {
        start(&mut self.parts[c], h);
        let mut any = false;
        for p in 0..self.inputs.springs.len() {
            let Some((pull, grip)) = self.grip_in(p, c) else { continue };
            any = true;
            let (w, K, D) = pull.in_frame(&grip.pose);
            let part = &mut self.parts[c];
            place(part, &grip);
            add(part, &w, &(K * h + D), h);
        }
        if !any {
            return;
        }
        let m = self.parts[c].motion.size() + 6;
        let part = &mut self.parts[c];
        if cholesky::factor(&mut part.extended, m) {
            cholesky::solve(&part.extended, m, &mut part.extended_right);
        } else {
            part.extended_right.fill(f64::NAN); // found by the step
        }
        for p in 0..self.inputs.springs.len() {
            let Some((pull, grip)) = self.grip_in(p, c) else { continue };
            let (w, K, D) = pull.in_frame(&grip.pose);
            let part = &mut self.parts[c];
            place(part, &grip);
            let moved = Vector6::from_fn(|i, _| {
                part.extended_rows[i * m..(i + 1) * m]
                    .iter()
                    .zip(&part.extended_right)
                    .map(|(g, x)| g * x)
                    .sum::<f64>()
            });
            let w = w - (K * h + D) * moved;
            part.motion.push(&part.rows, &w);
            let center = part.floating.as_ref().expect("it floats").center();
            part.motion.add_rigid(&grip.pose.wrench_to_outer(&Wrench::from_vector(&w)), &center);
        }
    }

    /// What a spring coupling exerts on its body now, world axes, at its frame's origin.
    pub(super) fn force_of(&mut self, pull: &Spring) -> Wrench {
        let Some(grip) = self.grip(pull) else { return Wrench::ZERO };
        let part = &self.parts[grip.component];
        let (mut w, _, D) = pull.in_frame(&grip.pose);
        let own = dynamics::twist(&part.rows, &part.motion.rate, None).to_vector();
        let carried = match &part.floating {
            Some(floating) => {
                let world = floating.twist();
                base_part(
                    &world,
                    &floating.mean,
                    &Grip { in_base: floating.mean.inverse_times(&grip.pose), ..grip },
                )
            }
            None => base_part(&self.base_twist, &self.base, &grip),
        };
        w -= D * (own + carried);
        Wrench::from_vector(&w).turned(&grip.pose.rotation)
    }
}

/// The body twist of a pulled frame that moves with a base, whose twist is in world axes at its origin.
fn base_part(twist: &Twist, base: &Pose, grip: &Grip) -> Vector6<f64> {
    grip.in_base.twist_to_local(&twist.turned(&base.rotation.inverse())).to_vector()
}

/// The system of base and links, (M_bb, M′ + hD + h²K), and its right-hand side, with the loads so far, in the
/// axes of H_m.
fn start(part: &mut Moving, h: f64) {
    let n = part.motion.size();
    let m = n + 6;
    let floating = part.floating.as_ref().expect("it floats");
    part.extended.fill(0.0);
    let M = floating.spatial_mass();
    for i in 0..6 {
        (0..6).for_each(|k| part.extended[i * m + k] = M[(i, k)]);
    }
    for i in 0..n {
        for k in 0..n {
            part.extended[(6 + i) * m + 6 + k] = part.motion.system(h, i, k);
        }
    }
    let world = floating.twist();
    let r = floating.mean.rotation.inverse();
    let twist = Twist { linear: r * world.linear, angular: r * world.angular };
    let (force, torque) = part.motion.rigid;
    let arm = floating.center() - floating.mean.position;
    let wrench = Wrench { force: r * force, torque: r * (torque + arm.cross(&force)) };
    let right = M * twist.to_vector() + wrench.to_vector() * h;
    (0..6).for_each(|i| part.extended_right[i] = right[i]);
    part.extended_right[6..].copy_from_slice(part.motion.momentum(h));
}

/// The body twist of a grip per (φ_m, ż).
fn place(part: &mut Moving, grip: &Grip) {
    let n = part.motion.size();
    let m = n + 6;
    let floating = part.floating.as_ref().expect("it floats");
    let J = floating.mean.inverse_times(&grip.pose).inverse().adjoint();
    for i in 0..6 {
        (0..6).for_each(|k| part.extended_rows[i * m + k] = J[(i, k)]);
        part.extended_rows[i * m + 6..(i + 1) * m].copy_from_slice(&part.rows[i * n..(i + 1) * n]);
    }
}

/// Adds h GᵀWG, symmetric as W is, to the system, and h Gᵀw to its right-hand side.
fn add(part: &mut Moving, w: &Vector6<f64>, W: &Matrix6<f64>, h: f64) {
    let m = part.motion.size() + 6;
    let G = &part.extended_rows;
    for i in 0..6 {
        for k in 0..6 {
            for a in 0..m {
                let left = h * W[(i, k)] * G[i * m + a];
                (0..m).for_each(|b| part.extended[a * m + b] += left * G[k * m + b]);
            }
        }
    }
    for a in 0..m {
        part.extended_right[a] += h * (0..6).map(|i| G[i * m + a] * w[i]).sum::<f64>();
    }
}

/// J times rows, 6×n, row by row.
fn multiply(J: &Matrix6<f64>, rows: &[f64], n: usize, out: &mut [f64]) {
    out.fill(0.0);
    add_product(J, rows, n, out);
}

fn add_product(J: &Matrix6<f64>, rows: &[f64], n: usize, out: &mut [f64]) {
    for i in 0..6 {
        for k in 0..6 {
            let j = J[(i, k)];
            for (out, row) in out[i * n..(i + 1) * n].iter_mut().zip(&rows[k * n..(k + 1) * n]) {
                *out += j * row;
            }
        }
    }
}
