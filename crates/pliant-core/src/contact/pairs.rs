//! Which shapes may touch which, and what is remembered of a pair from one step to the next.

use nalgebra::Vector3;

use super::collider::Collider;
use super::material::Material;
use super::narrow::{Narrow, Point};
use crate::spatial::{Pose, Twist};

/// Something that carries shapes: a body of a mechanism, a free body, or the world itself.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    /// The block of equations it moves in, and which of its touched bodies it is; none for the static world.
    pub moves: Option<(usize, usize)>,
    pub pose: Pose,
    /// World axes at its origin: now, and at the end of the step as if nothing touched.
    pub twist: Twist,
    pub free: Twist,
    pub colliders: Vec<Collider>,
}

/// Two shapes that may touch.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// (thing, collider).
    pub first: (usize, usize),
    pub second: (usize, usize),
    pub material: Material,
    /// Where it pushed in the last step, in the frame of the first thing, and how, world axes: on the second.
    old: Vec<(Vector3<f64>, Vector3<f64>)>,
    /// Whether it pushed in the step before that.
    before: bool,
    /// Whether one of the two holds the other: they do not touch.
    pub held: bool,
}

/// How far apart points may be in two steps and be the same, of the smaller shape's radius.
const SAME: f64 = 0.2;

/// Added to how far two shapes look ahead, m.
const MARGIN: f64 = 1e-3;

impl Pair {
    pub fn new(things: &[Thing], first: (usize, usize), second: (usize, usize)) -> Pair {
        let of = |at: (usize, usize)| &things[at.0].colliders[at.1].material;
        Pair {
            first,
            second,
            material: of(first).meet(of(second)),
            old: Vec::new(),
            before: false,
            held: false,
        }
    }

    /// The two that carry the shapes.
    pub fn things(&self) -> [usize; 2] {
        [self.first.0, self.second.0]
    }

    /// Whether it pushed in the last step.
    pub fn pushes(&self) -> bool {
        !self.old.is_empty()
    }

    /// Whether it pushed in the step before the last.
    pub fn pushed_before(&self) -> bool {
        self.before
    }

    /// Finds the points at which the shapes touch, or may within a step of h seconds.
    pub fn find(&self, things: &[Thing], h: f64, narrow: &mut Narrow) {
        narrow.points.clear();
        let (a, b) = (&things[self.first.0], &things[self.second.0]);
        let (x, y) = (&a.colliders[self.first.1], &b.colliders[self.second.1]);
        // How far surfaces can come in a step.
        let speed = |thing: &Thing, collider: &Collider| {
            let at = |twist: &Twist| {
                twist.linear.norm() + twist.angular.norm() * (collider.center.norm() + collider.radius)
            };
            if thing.moves.is_some() { at(&thing.twist).max(at(&thing.free)) } else { 0.0 }
        };
        let reach = MARGIN + h * (speed(a, x) + speed(b, y));
        let near = match (a.moves, b.moves) {
            (None, _) => x.distance(&b.pose.transform_point(&y.center)) < y.radius + reach,
            _ => {
                let apart = a.pose.transform_point(&x.center) - b.pose.transform_point(&y.center);
                apart.norm() < x.radius + y.radius + reach
            }
        };
        if near {
            narrow.find((x, &a.pose), (y, &b.pose), reach);
        }
    }

    /// What pushed near a point in the last step, world axes: on the second.
    pub fn remembered(&self, things: &[Thing], point: &Point) -> Vector3<f64> {
        let (a, b) = (&things[self.first.0], &things[self.second.0]);
        let size = a.colliders[self.first.1].radius.min(b.colliders[self.second.1].radius);
        let local = a.pose.inverse() * Pose::new(Default::default(), point.at);
        let nearest = (self.old.iter())
            .map(|(at, impulse)| ((at - local.position).norm(), impulse))
            .min_by(|x, y| x.0.total_cmp(&y.0));
        nearest.filter(|(distance, _)| *distance < SAME * size).map_or(Vector3::zeros(), |(_, i)| *i)
    }

    /// Forgets what pushed.
    pub fn forget(&mut self) {
        self.before = self.pushes();
        self.old.clear();
    }

    /// Remembers what pushed at a point, world, for the next step.
    pub fn remember(&mut self, things: &[Thing], at: &Vector3<f64>, impulse: &Vector3<f64>) {
        let pose = &things[self.first.0].pose;
        self.old.push((pose.rotation.inverse() * (at - pose.position), *impulse));
    }
}
