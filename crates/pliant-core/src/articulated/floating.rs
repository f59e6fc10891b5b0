//! Trees on free bases, stepped in axes that turn with them: [`crate::engine::whole`].

use nalgebra::{Matrix3, Vector3};

use super::model::{Constants, Node};
use super::placing::{pose_of, shift};
use super::slot::{Slot, Slots};
use super::small::*;
use super::step::moved_base;
use crate::algebra::wide::wide;
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
    /// Twice the kinetic energy that the solution has about the centre of mass.
    vis: Vec<f64>,
    /// All nodes as bodies: at the start, turned back; then at the end.
    bodies: Vec<Moving>,
    /// Twists of all bodies with which momenta start.
    pub twists: Vec<Twist>,
    /// How fast the axes of each node turn, world axes.
    pub rates: Vec<Vector3<f64>>,
    /// Where free bases end, in the order of nodes, but for their centre of mass.
    pub bases: Vec<Pose>,
}

/// A node as a body: its centre of mass, the velocity of that, and angular momentum and inertia about it.
#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    center: V,
    velocity: V,
    momentum: V,
    inertia: Sym,
}

fn matrix(S: &Sym) -> Matrix3<f64> {
    Matrix3::new(S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5])
}

/// Where a node's centre of mass is, and its inertia about it.
#[inline(always)]
fn place<const FUSED: bool>(node: &Node, slot: &Slot) -> (V, Sym) {
    (add_turn::<FUSED>(&slot.R, node.center, slot.o), turned::<FUSED>(&slot.R, &node.about_center))
}

/// The body twist of a node that has these momenta.
#[inline(always)]
fn twist<const FUSED: bool>(node: &Node, slot: &Slot, velocity: V, momentum: V) -> Twist {
    let angular = apply::<FUSED>(&node.inverse, turn_back::<FUSED, _>(&slot.R, momentum));
    let linear = add_cross::<FUSED>(node.in_link, angular, turn_back::<FUSED, _>(&slot.R, velocity));
    Twist { linear: linear.into(), angular: angular.into() }
}

impl Floating {
    pub fn new(model: &Constants, state: &State) -> Floating {
        let floats = !model.floats.is_empty();
        let count = if floats { model.nodes.len() } else { 0 };
        Floating {
            turnings: vec![None; model.floats.len()],
            largest_turn: 0.0,
            vis: vec![0.0; model.floats.len()],
            bodies: vec![Moving::default(); count],
            twists: if floats { state.twists.clone() } else { Vec::new() },
            rates: vec![Vector3::zeros(); count],
            bases: vec![Pose::identity(); model.floats.len()],
        }
    }

    /// Turns momenta back, at the pose of the start.
    pub fn start(&mut self, model: &Constants, slots: &Slots, state: &State, h: f64) {
        if !model.floats.is_empty() {
            self.twists.copy_from_slice(&state.twists);
            self.rates.fill(Vector3::zeros());
            self.turn_back(model, slots, state, h);
        }
    }

    wide! {
        fn turn_back, turn_back_lanes(
            &mut self: Floating, model: &Constants, slots: &Slots, state: &State, h: f64
        )
    }

    #[inline(always)]
    fn turn_back_lanes<const FUSED: bool>(
        &mut self,
        model: &Constants,
        slots: &Slots,
        state: &State,
        h: f64,
    ) {
        for (tree, turning) in model.floats.iter().zip(&mut self.turnings) {
            let mut whole = Whole::about(slots.slots[tree[0] + 1].o.into());
            for &n in tree {
                let (node, slot) = (&model.nodes[n], &slots.slots[n + 1]);
                let twist = &state.twists[node.head];
                let (w, l) = (v(&twist.angular), v(&twist.linear));
                let (center, inertia) = place::<FUSED>(node, slot);
                let velocity = turn::<FUSED>(&slot.R, add_cross::<FUSED>(w, node.in_link, l));
                let momentum = turn::<FUSED>(&slot.R, apply::<FUSED>(&node.about_center, w));
                self.bodies[n] = Moving { center, velocity, momentum, inertia };
                let (velocity, momentum) = (velocity.into(), momentum.into());
                let zero = Vector3::zeros();
                whole.add(node.mass, &center.into(), &velocity, &momentum, &matrix(&inertia), &zero);
            }
            *turning = Turning::new(&whole, h);
            let Some(turning) = turning else { continue };
            if tree.len() > 1 {
                self.largest_turn = self.largest_turn.max(turning.angle());
            }
            for &n in tree {
                let (node, b) = (&model.nodes[n], &mut self.bodies[n]);
                let (velocity, momentum) = turning.back(&b.velocity.into(), &b.momentum.into());
                (b.velocity, b.momentum) = (v(&velocity), v(&momentum));
                self.twists[node.head] = twist::<FUSED>(node, &slots.slots[n + 1], b.velocity, b.momentum);
                self.rates[n] = turning.rate;
            }
        }
    }

    /// What the end of a step will give back to a point of a node.
    pub fn lost_at(&self, model: &Constants, n: usize, point: &Vector3<f64>) -> Twist {
        let tree = model.floats.iter().position(|tree| tree.binary_search(&n).is_ok());
        tree.and_then(|t| self.turnings[t].as_ref()).map_or(Twist::ZERO, |turning| turning.lost_at(point))
    }

    wide! {
        /// Takes what the step does to the whole, from the twists found, and where bases end.
        pub fn turn, turn_lanes(&mut self: Floating, model: &Constants, slots: &Slots, h: f64)
    }

    #[inline(always)]
    fn turn_lanes<const FUSED: bool>(&mut self, model: &Constants, slots: &Slots, h: f64) {
        let memory = self.turnings.iter_mut().zip(&mut self.bases).zip(&mut self.vis);
        for (tree, ((turning, base), vis)) in model.floats.iter().zip(memory) {
            let root = &slots.slots[tree[0] + 1];
            let Some(turning) = turning else {
                *base = moved_base(&model.nodes[tree[0]], root, h);
                continue;
            };
            // Momenta of the solution, and what acted: what it changed of those at the start of the step, about the root.
            let (mut mass, mut first, mut linear, mut twice) = (0.0, ZERO, ZERO, 0.0);
            let (mut push, mut torque) = (ZERO, ZERO);
            for &n in tree {
                let (node, slot, b) = (&model.nodes[n], &slots.slots[n + 1], &self.bodies[n]);
                let velocity = add_cross::<FUSED>(slot.aw, minus(b.center, slot.o), slot.av);
                let momentum = apply::<FUSED>(&slot.K, slot.aw);
                let d = minus(b.center, root.o);
                mass += node.mass;
                first = add_scaled::<FUSED>(d, node.mass, first);
                linear = add_scaled::<FUSED>(velocity, node.mass, linear);
                twice += add_dot::<FUSED>(momentum, slot.aw, node.mass * dot::<FUSED, _>(velocity, velocity));
                let changed = scale(minus(velocity, b.velocity), node.mass);
                push = plus(push, changed);
                torque = plus(torque, add_cross::<FUSED>(d, changed, minus(momentum, b.momentum)));
            }
            // About the centre of mass.
            let offset = scale(first, 1.0 / mass);
            let torque = minus(torque, cross::<FUSED, _>(offset, push));
            let velocity = Vector3::from(linear) / mass;
            turning.pass(velocity, torque.into(), h);
            *vis = twice - velocity.norm_squared() * mass;
            let turn = exp_rotation(&((Vector3::from(root.aw) - turning.rate) * h));
            *base = turning.moved(&Pose { rotation: turn * pose_of(root).rotation, ..pose_of(root) });
        }
    }

    /// Turns momenta forth, where slots are placed for the end and hold what they carry; moves every tree to where its centre of mass
    /// has to be.
    pub fn end(&mut self, model: &Constants, slots: &mut Slots, next: &mut State) {
        if !model.floats.is_empty() {
            self.turn_forth(model, slots, next);
            shift(slots, model, next);
        }
    }

    wide! {
        fn turn_forth, turn_forth_lanes(
            &mut self: Floating, model: &Constants, slots: &mut Slots, next: &mut State
        )
    }

    #[inline(always)]
    fn turn_forth_lanes<const FUSED: bool>(
        &mut self,
        model: &Constants,
        slots: &mut Slots,
        next: &mut State,
    ) {
        for (tree, (turning, vis)) in model.floats.iter().zip(self.turnings.iter().zip(&self.vis)) {
            let Some(turning) = turning else { continue };
            let mut whole = Whole::about(turning.center);
            for &n in tree {
                let (node, slot) = (&model.nodes[n], &slots.slots[n + 1]);
                let (center, inertia) = place::<FUSED>(node, slot);
                let (velocity, momentum) = turning.forth(&slot.av.into(), &slot.aw.into());
                let own = apply::<FUSED>(&node.inverse, turn_back::<FUSED, _>(&slot.R, v(&momentum)));
                let rate = turn::<FUSED>(&slot.R, own).into();
                whole.add(node.mass, &center.into(), &velocity, &momentum, &matrix(&inertia), &rate);
                self.bodies[n] = Moving { center, velocity: v(&velocity), momentum: v(&momentum), inertia };
            }
            let end = turning.end(&whole, *vis);
            for &n in tree {
                let (node, slot, b) = (&model.nodes[n], &slots.slots[n + 1], &self.bodies[n]);
                let inertia = matrix(&b.inertia);
                let (velocity, momentum) =
                    end.apply(&b.center.into(), &b.velocity.into(), &b.momentum.into(), &inertia);
                next.twists[node.head] = twist::<FUSED>(node, slot, v(&velocity), v(&momentum));
            }
            next.poses[model.nodes[tree[0]].head].position += end.shift;
        }
    }
}
