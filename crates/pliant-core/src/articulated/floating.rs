//! Trees on free bases, stepped in axes that turn with them: [`crate::engine::whole`].

use nalgebra::{Matrix3, Vector3};

use super::model::{Constants, Node};
use super::placing::pose_of;
use super::slot::{Slot, Slots};
use super::small::Sym;
use super::step::moved_base;
use crate::engine::State;
use crate::engine::whole::{Turning, Whole};
use crate::spatial::{Pose, Twist, exp_rotation};

/// Memory of a step. Lists are empty if there is no free base.
#[derive(Clone, Debug)]
pub(super) struct Floating {
    /// Of each tree; `None` where its inertia does not say how it turns: then it is stepped in world axes.
    turnings: Vec<Option<Turning>>,
    /// The most that a tree with joints turned in a step so far, rad.
    pub largest_turn: f64,
    /// Twice the kinetic energy that the solution has beside that of the centre of mass.
    vis: Vec<f64>,
    /// Twists of all bodies with which momenta start.
    pub twists: Vec<Twist>,
    /// How fast the axes of each node turn, world axes.
    pub rates: Vec<Vector3<f64>>,
    /// Where free bases end, in the order of nodes, but for their centre of mass.
    pub bases: Vec<Pose>,
}

/// A node as a body.
struct Moving {
    center: Vector3<f64>,
    velocity: Vector3<f64>,
    momentum: Vector3<f64>,
    inertia: Matrix3<f64>,
}

fn matrix(S: &Sym) -> Matrix3<f64> {
    Matrix3::new(S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5])
}

/// Where a node's centre of mass is, and its inertia about it.
fn place(node: &Node, slot: &Slot) -> (Matrix3<f64>, Vector3<f64>, Matrix3<f64>) {
    let R = pose_of(slot).rotation_matrix();
    (
        R,
        Vector3::from(slot.o) + R * Vector3::from(node.center),
        R * matrix(&node.about_center) * R.transpose(),
    )
}

/// A node that moves with a body twist.
fn moving(node: &Node, slot: &Slot, twist: &Twist) -> Moving {
    let (R, center, inertia) = place(node, slot);
    let velocity = R * (twist.linear + twist.angular.cross(&Vector3::from(node.in_link)));
    Moving { center, velocity, momentum: R * (matrix(&node.about_center) * twist.angular), inertia }
}

/// The body twist of a node that has these momenta.
fn twist(node: &Node, slot: &Slot, velocity: &Vector3<f64>, momentum: &Vector3<f64>) -> Twist {
    let Rt = pose_of(slot).rotation_matrix().transpose();
    let angular = matrix(&node.inverse) * (Rt * momentum);
    Twist { linear: Rt * velocity + Vector3::from(node.in_link).cross(&angular), angular }
}

impl Floating {
    pub fn new(model: &Constants, state: &State) -> Floating {
        let floats = !model.floats.is_empty();
        Floating {
            turnings: vec![None; model.floats.len()],
            largest_turn: 0.0,
            vis: vec![0.0; model.floats.len()],
            twists: if floats { state.twists.clone() } else { Vec::new() },
            rates: if floats { vec![Vector3::zeros(); model.nodes.len()] } else { Vec::new() },
            bases: vec![Pose::identity(); model.floats.len()],
        }
    }

    /// Turns momenta back, at the pose of the start.
    pub fn start(&mut self, model: &Constants, slots: &Slots, state: &State, h: f64) {
        if model.floats.is_empty() {
            return;
        }
        self.twists.copy_from_slice(&state.twists);
        self.rates.fill(Vector3::zeros());
        for (tree, turning) in model.floats.iter().zip(&mut self.turnings) {
            let body =
                |n: usize| moving(&model.nodes[n], &slots.slots[n + 1], &state.twists[model.nodes[n].head]);
            let mut whole = Whole::about(slots.slots[tree[0] + 1].o.into());
            for &n in tree {
                let b = body(n);
                whole.add(
                    model.nodes[n].mass,
                    &b.center,
                    &b.velocity,
                    &b.momentum,
                    &b.inertia,
                    &Vector3::zeros(),
                );
            }
            *turning = Turning::new(&whole, h);
            let Some(turning) = turning else { continue };
            if tree.len() > 1 {
                self.largest_turn = self.largest_turn.max(turning.angle());
            }
            for &n in tree {
                let (node, b) = (&model.nodes[n], body(n));
                let (velocity, momentum) = turning.back(&b.velocity, &b.momentum);
                self.twists[node.head] = twist(node, &slots.slots[n + 1], &velocity, &momentum);
                self.rates[n] = turning.rate;
            }
        }
    }

    /// What the end of a step will give back to a point of a node.
    pub fn lost_at(&self, model: &Constants, n: usize, point: &Vector3<f64>) -> Twist {
        let tree = model.floats.iter().position(|tree| tree.binary_search(&n).is_ok());
        tree.and_then(|t| self.turnings[t].as_ref()).map_or(Twist::ZERO, |turning| turning.lost_at(point))
    }

    /// Takes what the step does to the whole, from the twists found, and where bases end.
    pub fn turn(&mut self, model: &Constants, slots: &Slots, h: f64) {
        let memory = self.turnings.iter_mut().zip(&mut self.bases).zip(&mut self.vis);
        for (tree, ((turning, base), vis)) in model.floats.iter().zip(memory) {
            let root = &slots.slots[tree[0] + 1];
            let Some(turning) = turning else {
                *base = moved_base(&model.nodes[tree[0]], root, h);
                continue;
            };
            // The solution, and what acted: what the former changed of momenta at the start of the step.
            let (mut whole, mut start) = (Whole::about(root.o.into()), Whole::about(root.o.into()));
            for &n in tree {
                let (node, slot) = (&model.nodes[n], &slots.slots[n + 1]);
                let b = moving(node, slot, &self.twists[node.head]);
                let (av, aw) = (Vector3::from(slot.av), Vector3::from(slot.aw));
                let velocity = av + aw.cross(&(b.center - Vector3::from(slot.o)));
                let momentum = matrix(&slot.K) * aw;
                whole.add(node.mass, &b.center, &velocity, &momentum, &b.inertia, &aw);
                start.add(node.mass, &b.center, &b.velocity, &b.momentum, &b.inertia, &aw);
            }
            let turned = |whole: &Whole| whole.angular(&Matrix3::identity());
            turning.pass(whole.velocity(), turned(&whole) - turned(&start), h);
            *vis = whole.vis() - whole.velocity().norm_squared() * whole.mass();
            let turn = exp_rotation(&((Vector3::from(root.aw) - turning.rate) * h));
            *base = turning.moved(&Pose { rotation: turn * pose_of(root).rotation, ..pose_of(root) });
        }
    }

    /// Turns momenta forth, where slots are placed for the end and hold what they carry; moves every tree to where its centre of mass
    /// has to be.
    pub fn end(&self, model: &Constants, slots: &mut Slots, next: &mut State) {
        for (tree, (turning, vis)) in model.floats.iter().zip(self.turnings.iter().zip(&self.vis)) {
            let Some(turning) = turning else { continue };
            let mut whole = Whole::about(turning.center);
            for &n in tree {
                let (node, slot) = (&model.nodes[n], &slots.slots[n + 1]);
                let (R, center, inertia) = place(node, slot);
                let (velocity, momentum) = turning.forth(&slot.av.into(), &slot.aw.into());
                let rate = R * (matrix(&node.inverse) * (R.transpose() * momentum));
                whole.add(node.mass, &center, &velocity, &momentum, &inertia, &rate);
            }
            let end = turning.end(&whole, *vis);
            for &n in tree {
                let (node, slot) = (&model.nodes[n], &slots.slots[n + 1]);
                let (_, center, inertia) = place(node, slot);
                let (velocity, momentum) = turning.forth(&slot.av.into(), &slot.aw.into());
                let (velocity, momentum) = end.apply(&center, &velocity, &momentum, &inertia);
                next.twists[node.head] = twist(node, slot, &velocity, &momentum);
            }
            next.poses[model.nodes[tree[0]].head].position += end.shift;
        }
        if !model.floats.is_empty() {
            super::placing::place(slots, model, next);
        }
    }
}
