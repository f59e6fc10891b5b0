//! Which shapes may touch which, and what is remembered of a pair from one step to the next.

use nalgebra::Vector3;

use super::broad::Bounds;
use super::collider::{Collider, Form};
use super::material::Material;
use super::narrow::{MORE, Narrow, POINTS, Point};
use super::spine;
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
    /// How fast it went and turned in the step when that was last tried, m/s and rad/s: contact may make it faster than it would be.
    pub tried: (f64, f64),
    /// How far it turns in the step, rad; zero if it is a ball about its origin.
    pub turn: f64,
    pub colliders: Vec<Collider>,
    /// Whether it looks the same however it is turned.
    round: bool,
}

/// The ball around a shape, world, and how far its surface can come in a step, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    center: Vector3<f64>,
    radius: f64,
    reach: f64,
    /// Of a ball or a capsule: half of its axis, world, and its radius.
    spine: Option<(Vector3<f64>, f64)>,
}

impl Around {
    /// Half the length of the box around a ball that moves.
    #[inline]
    fn half(&self) -> f64 {
        self.radius * (1.0 + MARGIN) + self.reach
    }

    /// That box, larger by some steps of its motion.
    pub fn bounds(&self, thing: usize) -> Bounds {
        let half = Vector3::repeat(self.half() + ROOM * self.radius + STEPS * self.reach);
        Bounds { low: self.center - half, high: self.center + half, thing }
    }

    /// Whether that box is in another.
    #[inline]
    pub fn is_in(&self, bounds: &Bounds) -> bool {
        bounds.holds(&self.center, self.half())
    }
}

impl Thing {
    /// At rest.
    pub fn new(moves: Option<(usize, usize)>, pose: Pose, colliders: Vec<Collider>) -> Thing {
        let round = colliders.iter().all(|collider| collider.round);
        let tried = (0.0, 0.0);
        Thing { moves, pose, twist: Twist::ZERO, free: Twist::ZERO, tried, turn: 0.0, colliders, round }
    }

    /// With one more shape.
    pub fn add(&mut self, collider: Collider) {
        self.round &= collider.round;
        self.colliders.push(collider);
    }

    /// Where each of its shapes is, and how far these can come in a step of h seconds.
    pub fn look_ahead(&mut self, h: f64, around: &mut Vec<Around>) {
        let speeds = |twist: &Twist| (twist.linear.norm(), twist.angular.norm());
        let (now, free) = (speeds(&self.twist), speeds(&self.free));
        self.turn = if self.round { 0.0 } else { h * now.1.max(free.1) };
        around.extend(self.colliders.iter().map(|collider| {
            let at = |speeds: (f64, f64)| speeds.0 + speeds.1 * collider.farthest;
            Around {
                center: self.pose.transform_point(&collider.center),
                radius: collider.radius,
                reach: h * at(now).max(at(free)).max(at(self.tried)) + collider.grown,
                spine: collider.spine.map(|(half, radius)| (self.pose.rotation * half, radius)),
            }
        }));
    }
}

/// A shape: what carries it, and which of its shapes it is.
pub(super) type Place = (usize, usize);

/// Where a pair pushed in the last step, in the frame of its first thing, and how, world axes: on the second.
pub(super) type Memory = Vec<(Vector3<f64>, Vector3<f64>)>;

/// Two shapes that may touch.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub first: Place,
    pub second: Place,
    /// Where these shapes are among those of all things, and whether the first is of the static world.
    around: [usize; 2],
    fixed: bool,
    pub material: Material,
    /// The smaller one's radius, m.
    pub size: f64,
    old: Memory,
    /// Whether it pushed in the step before that.
    before: bool,
    /// Whether one of the two holds the other: they do not touch.
    pub held: bool,
    /// Whether one of them is soft, and whether one is made of triangles.
    pub soft: bool,
    rough: bool,
}

/// How far apart points may be in two steps and be the same, of the smaller shape's radius.
const SAME: f64 = 0.2;

/// How much larger boxes are than what is in them, of its radius, and for how many steps of its motion.
const ROOM: f64 = 0.2;
const STEPS: f64 = 4.0;

/// Added to how far two shapes look ahead, of the smaller one's radius.
const MARGIN: f64 = 0.02;

impl Pair {
    /// Of two shapes by their places among those of all things, with memory for what it is to remember.
    pub fn new(things: &[Thing], shapes: &[Place], around: [usize; 2], mut memory: Memory) -> Pair {
        let [first, second] = around.map(|at| shapes[at]);
        let [one, two] = [first, second].map(|at: Place| &things[at.0].colliders[at.1]);
        memory.clear();
        memory.reserve(POINTS + MORE);
        Pair {
            first,
            second,
            around,
            fixed: things[first.0].moves.is_none(),
            material: one.material.meet(&two.material),
            size: one.radius.min(two.radius),
            old: memory,
            before: false,
            held: false,
            soft: [one, two].iter().any(|shape| matches!(shape.form, Form::Skin(_))),
            rough: [one, two].iter().any(|shape| matches!(shape.form, Form::Mesh(..) | Form::Field(..))),
        }
    }

    /// Its two shapes: pairs are in this order.
    pub fn key(&self) -> (Place, Place) {
        (self.first, self.second)
    }

    /// After shapes were added to the static world, which come first.
    pub fn shift(&mut self, by: usize) {
        self.around[1] += by;
        if !self.fixed {
            self.around[0] += by;
        }
    }

    /// Whether it touched in the last two steps: an event of it may be due.
    pub fn is_due(&self) -> bool {
        self.before || self.pushes()
    }

    /// Its memory, for another pair.
    pub fn into_memory(self) -> Memory {
        self.old
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

    /// How far the shapes can come toward each other in the step that the things looked ahead for; none if they stay apart
    /// for certain.
    #[inline]
    pub fn reach(&self, things: &[Thing], around: &[Around]) -> Option<f64> {
        let (one, two) = (&around[self.around[0]], &around[self.around[1]]);
        let reach = MARGIN * self.size + one.reach + two.reach;
        let (distance, sizes) = if self.fixed {
            // Ground is much larger than what stands on it.
            let shape = &things[self.first.0].colliders[self.first.1];
            (shape.distance_squared(&two.center), two.radius)
        } else {
            ((one.center - two.center).norm_squared(), one.radius + two.radius)
        };
        if distance.is_nan() || distance >= (sizes + reach).powi(2) {
            return None;
        }
        if let (Some((half, radius)), Some((other_half, other_radius))) = (&one.spine, &two.spine) {
            let (x, y) = spine::nearest(&(one.center, *half), &(two.center, *other_half));
            if (x - y).norm_squared() >= (radius + other_radius + reach).powi(2) {
                return None;
            }
        }
        Some(reach)
    }

    /// How far one shape goes past triangles of the other in h seconds, of the smaller one's radius: these are looked at where it starts.
    pub fn way_over(&self, things: &[Thing], h: f64) -> f64 {
        if !self.rough {
            return 0.0;
        }
        let (a, b) = (&things[self.first.0], &things[self.second.0]);
        let speed = (b.free.linear - a.free.linear).norm().max((b.twist.linear - a.twist.linear).norm());
        h * speed / self.size
    }

    /// Where the second's carrier is in the frame of the first's.
    pub fn between(&self, things: &[Thing]) -> Pose {
        things[self.first.0].pose.inverse_times(&things[self.second.0].pose)
    }

    /// How far the second shape reaches from its carrier's frame, m.
    pub fn farthest(&self, things: &[Thing]) -> f64 {
        things[self.second.0].colliders[self.second.1].farthest
    }

    /// Finds the points at which the shapes are closer than `reach`, and chooses among them for a step of h seconds.
    pub fn find(&self, things: &[Thing], reach: f64, h: f64, narrow: &mut Narrow) {
        let (a, b) = (&things[self.first.0], &things[self.second.0]);
        let (x, y) = (&a.colliders[self.first.1], &b.colliders[self.second.1]);
        if narrow.find_round((x, &a.pose), (y, &b.pose), reach, self.size) {
            return;
        }
        let at_origin = |thing: &Thing| {
            let Twist { linear, angular } = thing.free;
            Twist { linear: linear - angular.cross(&thing.pose.position), angular }
        };
        let (one, two) = (at_origin(a), at_origin(b));
        let motion =
            Twist { linear: (two.linear - one.linear) * h, angular: (two.angular - one.angular) * h };
        narrow.find((x, &a.pose), (y, &b.pose), reach, self.size, &motion);
    }

    /// What pushed near a point in the last step, world axes: on the second.
    pub fn remembered(&self, things: &[Thing], point: &Point) -> Vector3<f64> {
        let pose = &things[self.first.0].pose;
        let local = pose.rotation.inverse() * (point.at - pose.position);
        let nearest = (self.old.iter())
            .map(|(at, impulse)| ((at - local).norm(), impulse))
            .min_by(|x, y| x.0.total_cmp(&y.0));
        nearest.filter(|(distance, _)| *distance < SAME * self.size).map_or(Vector3::zeros(), |(_, i)| *i)
    }

    /// The most of what pushed in the last step, N·s.
    pub fn load(&self) -> f64 {
        self.old.iter().map(|(_, impulse)| impulse.norm()).fold(0.0, f64::max)
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
