//! Trees on free bases, stepped in axes that turn with them: [`crate::engine::whole`].

use nalgebra::{Matrix3, Vector3};

use super::frames::Frame;
use super::model::Constants;
use crate::engine::whole::{Turning, Whole};
use crate::engine::{Inputs, Spring, State};
use crate::spatial::{Pose, Twist};

/// Memory of a step, of each tree.
#[derive(Clone, Debug)]
pub(super) struct Floating {
    /// `None` where the inertia does not say how a tree turns: then it is stepped in world axes.
    turnings: Vec<Option<Turning>>,
    /// The most that a tree with joints turned in a step so far, rad.
    pub largest_turn: f64,
    /// Twice the kinetic energy that the solution has about the centre of mass.
    vis: Vec<f64>,
}

fn turned(R: &Matrix3<f64>, inertia: &Matrix3<f64>) -> Matrix3<f64> {
    R * inertia * R.transpose()
}

impl Floating {
    pub fn new(model: &Constants) -> Floating {
        let count = model.floats.len();
        Floating { turnings: vec![None; count], largest_turn: 0.0, vis: vec![0.0; count] }
    }

    /// Turns momenta back, at the start of a step of h seconds.
    pub fn start(&mut self, model: &Constants, h: f64, frames: &mut [Frame]) {
        for (tree, turning) in model.floats.iter().zip(&mut self.turnings) {
            let mut whole = Whole::about(frames[tree[0]].center0);
            for &n in tree {
                let (node, frame) = (&model.nodes[n], &frames[n]);
                let inertia = turned(&frame.R, &node.inertia);
                whole.add(node.mass, &frame.center0, &frame.v0, &frame.momentum, &inertia, &Vector3::zeros());
            }
            *turning = Turning::new(&whole, h);
            let Some(turning) = turning else { continue };
            if tree.len() > 1 {
                self.largest_turn = self.largest_turn.max(turning.angle());
            }
            for &n in tree {
                let (node, frame) = (&model.nodes[n], &mut frames[n]);
                (frame.v0, frame.momentum) = turning.back(&frame.v0, &frame.momentum);
                frame.w0 = frame.R * (node.inverse * (frame.R.transpose() * frame.momentum));
                frame.drift = Twist::new(turning.velocity_at(&frame.center0), turning.rate);
            }
        }
    }

    /// What the end of a step will give back to a point of a node.
    pub fn lost_at(&self, model: &Constants, n: usize, point: &Vector3<f64>) -> Twist {
        let tree = model.floats.iter().position(|tree| tree.binary_search(&n).is_ok());
        tree.and_then(|t| self.turnings[t].as_ref()).map_or(Twist::ZERO, |turning| turning.lost_at(point))
    }

    /// Takes what a step of h seconds does to the whole: its loads, and the springs that hold it.
    pub fn advance(&mut self, model: &Constants, inputs: &Inputs, h: f64, frames: &[Frame]) {
        for (tree, (turning, vis)) in model.floats.iter().zip(self.turnings.iter_mut().zip(&mut self.vis)) {
            let Some(turning) = turning else { continue };
            let mut whole = Whole::about(frames[tree[0]].center);
            for &n in tree {
                let (node, frame) = (&model.nodes[n], &frames[n]);
                let momentum = frame.inertia * frame.w;
                whole.add(node.mass, &frame.center, &frame.v, &momentum, &frame.inertia, &frame.w);
            }
            // What acted: loads; of a tree that springs hold, what the solution changed of its momentum.
            let held = |spring: &Spring| {
                let node = model.frame_in_node(spring.body, spring.frame);
                node.is_some_and(|(node, _)| tree.binary_search(&node).is_ok())
            };
            let turned = if inputs.springs.iter().any(held) {
                let mut start = Whole::about(frames[tree[0]].center);
                for &n in tree {
                    let (node, frame) = (&model.nodes[n], &frames[n]);
                    start.add(
                        node.mass,
                        &frame.center,
                        &frame.v0,
                        &frame.momentum,
                        &frame.inertia,
                        &frame.w0,
                    );
                }
                whole.angular(&Matrix3::identity()) - start.angular(&Matrix3::identity())
            } else {
                let about =
                    |frame: &Frame| frame.torque + (frame.center - whole.center()).cross(&frame.force);
                tree.iter().map(|&n| about(&frames[n])).sum::<Vector3<f64>>() * h
            };
            turning.pass(whole.velocity(), turned, h);
            *vis = whole.vis() - whole.velocity().norm_squared() * whole.mass();
        }
    }

    /// Turns momenta and places forth, into the state.
    pub fn end(&self, model: &Constants, frames: &[Frame], state: &mut State) {
        for (tree, (turning, vis)) in model.floats.iter().zip(self.turnings.iter().zip(&self.vis)) {
            let Some(turning) = turning else { continue };
            let moved = |n: usize| {
                let (node, frame) = (&model.nodes[n], &frames[n]);
                let pose = turning.moved(&frame.pose);
                let (v, L) = turning.forth(&frame.v, &(frame.inertia * frame.w));
                let R = pose.rotation_matrix();
                (pose, R, pose.position + R * node.center, v, L)
            };
            let mut whole = Whole::about(turning.center);
            for &n in tree {
                let (node, (_, R, center, v, L)) = (&model.nodes[n], moved(n));
                let rate = turned(&R, &node.inverse) * L;
                whole.add(node.mass, &center, &v, &L, &turned(&R, &node.inertia), &rate);
            }
            let end = turning.end(&whole, *vis);
            for &n in tree {
                let (node, (pose, R, center, v, L)) = (&model.nodes[n], moved(n));
                let (v, L) = end.apply(&center, &v, &L, &turned(&R, &node.inertia));
                let angular = node.inverse * (R.transpose() * L);
                let linear = R.transpose() * v - angular.cross(&node.center);
                let head = node.head.index();
                state.poses[head] = Pose { position: pose.position + end.shift, ..pose };
                state.twists[head] = Twist { linear, angular };
            }
        }
    }
}
