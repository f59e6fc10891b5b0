//! The user's graph: bodies, joints, springs, limits, couplings, shapes, elastic zones, effectors, loads.
//!
//! A [`Mechanism`] is made by a [`MechanismBuilder`], which checks everything once; it never changes
//! afterwards and no simulation writes to it.
//!
//! ```
//! use pliant_core::gallery;
//!
//! let arm = gallery::arm();
//! let tip = arm.find_effector("tip").ok_or("no tip")?;
//! assert!(arm.effector(tip)?.body.index() < arm.bodies().len());
//! assert!(gallery::y().effector(tip).is_err()); // a handle of another mechanism
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apart;
mod builder;
mod building;
pub(crate) mod closing;
mod coupled;
mod defect;
mod description;
mod editing;
mod flexure;
mod handle;
#[doc(hidden)]
pub mod order;
mod repeated;
mod shape;
mod springs;
mod summary;
mod validate;
mod zone;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Matrix6, Vector3};

pub use apart::{Apart, Whereabouts};
pub use builder::MechanismBuilder;
pub use defect::{Defect, Element, InvalidMechanism};
pub use description::{
    CouplingDescription, EffectorDescription, JointDescription, LoadDescription, PerFreedom,
    SpringDescription, SpringEnd, SpringStart, TargetDescription,
};
pub(crate) use handle::Marks;
pub use handle::{BodyId, EffectorId, JointId, UnknownHandle};
pub use repeated::{NEARLY_WITHIN, NearlyRepeated, Repeated, TOLERANCE as REPEATED_WITHIN};
pub use shape::{Geometry, Shape};
pub use summary::Summary;
pub(crate) use zone::Ingredients;
pub use zone::{Zone, ZoneDescription, ZoneSolid};

use crate::joints::JointKind;
use crate::spatial::{Pose, SpatialInertia, Wrench};
use order::Order;

/// The name by which joints refer to what does not move.
pub const WORLD: &str = "world";

/// Gravity unless a file says otherwise, m/s².
pub const STANDARD_GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// A rigid body (link).
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Unique among bodies, not empty, not `world`.
    pub name: String,
    /// The link frame in the world, at rest.
    pub pose: Pose,
    /// Mass, centre of mass and inertia in the link frame; all zero for a massless link.
    pub inertia: SpatialInertia,
    /// Whether the body is a free base, held by no joint.
    pub free: bool,
    /// Shapes for contact and drawing.
    pub shapes: Vec<Shape>,
    /// Names of bodies, or `world`, that it does not touch; one of the two says it.
    pub passes: Vec<String>,
}

impl Body {
    /// A massless body at a pose.
    pub fn new(name: impl Into<String>, pose: Pose) -> Body {
        let (shapes, passes) = (Vec::new(), Vec::new());
        Body { name: name.into(), pose, inertia: SpatialInertia::ZERO, free: false, shapes, passes }
    }

    /// With this inertia.
    pub fn inertia(mut self, inertia: SpatialInertia) -> Body {
        self.inertia = inertia;
        self
    }

    /// With one more shape.
    pub fn shape(mut self, shape: Shape) -> Body {
        self.shapes.push(shape);
        self
    }

    /// Held by no joint.
    pub fn free(mut self) -> Body {
        self.free = true;
        self
    }
}

/// What acts on one freedom of a joint. Units follow the freedom: N/m, N·s/m, m and kg for a
/// translation, N·m/rad, N·m·s/rad, rad and kg·m² for a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freedom {
    /// Spring stiffness; zero is a passive freedom.
    pub stiffness: f64,
    /// Damping.
    pub damping: f64,
    /// Lower limit, −∞ for none.
    pub lower: f64,
    /// Upper limit, +∞ for none.
    pub upper: f64,
    /// Coordinate at which the spring is relaxed; the file's pose is 0.
    pub rest: f64,
    /// Rotor inertia along the coordinate.
    pub armature: f64,
    /// Dry friction: the largest force that it holds against, and with which it resists motion, N or N·m.
    pub friction: f64,
    /// The most that spring and damper together apply, N or N·m: what the motor can give; +∞ for no bound.
    pub torque_limit: f64,
    /// How far from `rest` the spring is as linear as it is written, m or rad: farther is a warning. +∞ for no bound.
    pub linear_to: f64,
}

impl Freedom {
    /// Free to move: no spring, damper, limit, rotor or friction.
    pub const PASSIVE: Freedom = Freedom {
        stiffness: 0.0,
        damping: 0.0,
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        rest: 0.0,
        armature: 0.0,
        friction: 0.0,
        torque_limit: f64::INFINITY,
        linear_to: f64::INFINITY,
    };

    /// Whether a spring acts.
    pub fn is_sprung(&self) -> bool {
        self.stiffness > 0.0
    }
}

/// A joint from a parent (or the world) to a child body.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Unique among joints, not empty.
    pub name: String,
    /// The motion it leaves.
    pub kind: JointKind,
    /// The body it hangs on; `None` is the world.
    pub parent: Option<BodyId>,
    /// The body it carries.
    pub child: BodyId,
    /// The joint frame in the world, at rest: there the parent's and the child's coincide.
    pub frame: Pose,
    /// One per freedom of the kind.
    pub freedoms: Vec<Freedom>,
    /// The coordinates that it is to start at, one per freedom; the file's pose is 0. Where loops or couplings have
    /// a say, a joint with zeros goes where they put it.
    pub start: Vec<f64>,
    /// First of its coordinates and of its constraint rows among those of all joints.
    pub(super) coordinate: usize,
    pub(super) row: usize,
}

impl Joint {
    /// Where its coordinates are among those of all joints.
    #[inline]
    pub fn coordinates(&self) -> Range<usize> {
        self.coordinate..self.coordinate + self.freedoms.len()
    }

    /// Where its constraint rows, six minus its freedoms, are among those of all joints.
    #[inline]
    pub fn rows(&self) -> Range<usize> {
        self.row..self.row + 6 - self.freedoms.len()
    }

    /// Whether every freedom has a spring (true for a fixed joint, which has none).
    pub fn is_held(&self) -> bool {
        self.freedoms.iter().all(Freedom::is_sprung)
    }
}

/// A frame on a body where the world touches the mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Effector {
    /// Unique among effectors, not empty.
    pub name: String,
    /// The body it sits on.
    pub body: BodyId,
    /// Its frame in the link frame.
    pub frame: Pose,
}

/// θ_joint = ratio · θ_of + offset, between two joints of one freedom each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// The joint that follows.
    pub joint: JointId,
    /// The joint that leads.
    pub of: JointId,
    /// Slope.
    pub ratio: f64,
    /// Offset, rad or m.
    pub offset: f64,
}

/// A dead load that a scene shows: world axes, at the effector's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Where it acts.
    pub effector: EffectorId,
    /// Force and torque, world axes.
    pub wrench: Wrench,
}

/// A set-point that moves in time, piecewise linear, constant before the first and after the last time.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The joint whose springs follow it.
    pub joint: JointId,
    /// Times, s, increasing.
    pub time: Vec<f64>,
    /// Spring rest positions at these times, one list per time, one number per freedom.
    pub position: Vec<Vec<f64>>,
}

/// A spring of the scene from a frame on a body to a point of the world: [`SpringDescription`].
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpring {
    /// Unique among springs.
    pub name: String,
    /// The effector it was given by, if by one.
    pub effector: Option<EffectorId>,
    /// The body it acts on.
    pub body: BodyId,
    /// The frame on it, in the link frame.
    pub frame: Pose,
    /// Times of a point that moves, s, increasing; none if it does not.
    pub time: Vec<f64>,
    /// World axes, m: one for each time, or the only one.
    pub point: Vec<[f64; 3]>,
    /// Stiffness of the translations, N/m.
    pub stiffness: f64,
    /// Stiffness of the rotations, N·m/rad.
    pub turning_stiffness: f64,
    /// Damping of the translations, N·s/m.
    pub damping: f64,
    /// Damping of the rotations, N·m·s/rad.
    pub turning_damping: f64,
}

impl PointSpring {
    /// Where its point is at a time, s, and how fast it got there, world axes.
    pub fn point_at(&self, time: f64) -> (Vector3<f64>, Vector3<f64>) {
        let point = |i: usize| Vector3::from(self.point[i]);
        let after = self.time.partition_point(|t| *t < time);
        if after == 0 || after == self.time.len() {
            return (point(after.min(self.point.len() - 1)), Vector3::zeros());
        }
        let (a, b) = (after - 1, after);
        let speed = (point(b) - point(a)) / (self.time[b] - self.time[a]);
        (point(a) + speed * (time - self.time[a]), speed)
    }
}

/// Where a mechanism starts, if not in its file's pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The link frame of each body in the world.
    pub poses: Vec<Pose>,
    /// Coordinates of all joints ([`Joint::coordinates`]).
    pub coordinates: Vec<f64>,
}

/// A mechanism: valid by construction, and never changed by a simulation. A clone shares all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    data: Arc<Data>,
}

/// What a mechanism consists of.
#[derive(Clone, Debug, PartialEq)]
struct Data {
    name: String,
    gravity: Vector3<f64>,
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    effectors: Vec<Effector>,
    couplings: Vec<Coupling>,
    coupled: Vec<Coupling>,
    loads: Vec<Load>,
    targets: Vec<Target>,
    springs: Vec<PointSpring>,
    zones: Vec<Zone>,
    /// Bodies with zones: their own inertia, without these.
    bones: Vec<(usize, SpatialInertia)>,
    world_shapes: Vec<Shape>,
    warnings: Vec<String>,
    notes: Vec<String>,
    body_names: HashMap<String, BodyId>,
    joint_names: HashMap<String, JointId>,
    effector_names: HashMap<String, EffectorId>,
    order: Order,
    marks: Marks,
    start: Option<Start>,
    loops: repeated::Found,
}

impl Mechanism {
    /// Its name, which may be empty.
    pub fn name(&self) -> &str {
        &self.data.name
    }

    /// Gravity, world axes, m/s².
    pub fn gravity(&self) -> Vector3<f64> {
        self.data.gravity
    }

    /// All bodies, in the order they were given.
    pub fn bodies(&self) -> &[Body] {
        &self.data.bodies
    }

    /// All joints, in the order they were given.
    pub fn joints(&self) -> &[Joint] {
        &self.data.joints
    }

    /// All effectors, in the order they were given.
    pub fn effectors(&self) -> &[Effector] {
        &self.data.effectors
    }

    /// All couplings.
    pub fn couplings(&self) -> &[Coupling] {
        &self.data.couplings
    }

    /// The same as rows to solve: each joint of a row of couplings against the fastest of them (`coupled.rs`).
    pub(crate) fn coupled(&self) -> &[Coupling] {
        &self.data.coupled
    }

    /// The loads the scene shows.
    pub fn loads(&self) -> &[Load] {
        &self.data.loads
    }

    /// Set-points over time.
    pub fn targets(&self) -> &[Target] {
        &self.data.targets
    }

    /// Springs to points of the world. Those between two bodies are joints.
    pub fn springs(&self) -> &[PointSpring] {
        &self.data.springs
    }

    /// Shapes that do not move.
    pub fn world_shapes(&self) -> &[Shape] {
        &self.data.world_shapes
    }

    /// What was assumed when the mechanism was read, such as springs that its file does not give.
    pub fn notes(&self) -> &[String] {
        &self.data.notes
    }

    /// What could not be taken, or was repaired, when the mechanism was read: those of [`Mechanism::warnings`] that only
    /// its reader knows.
    pub fn reader_warnings(&self) -> &[String] {
        &self.data.warnings
    }

    /// The same mechanism with what another reader said of it.
    pub fn with_remarks(mut self, warnings: Vec<String>, notes: Vec<String>) -> Mechanism {
        let data = Arc::make_mut(&mut self.data);
        (data.warnings, data.notes) = (warnings, notes);
        self
    }

    /// The sequence in which engines visit the mechanism.
    #[doc(hidden)]
    pub fn order(&self) -> &Order {
        &self.data.order
    }

    /// Where it starts; `None` is the file's pose.
    pub fn start(&self) -> Option<&Start> {
        self.data.start.as_ref()
    }

    /// Loop joints with directions that repeat what the rest of the mechanism closes already, within
    /// [`REPEATED_WITHIN`]: engines leave these out, and they stay open as far as they differ.
    pub fn repeated(&self) -> &[Repeated] {
        &self.data.loops.repeated
    }

    /// Loop joints that were not asked what they repeat, because all loops together are too long for that.
    pub fn loops_passed_over(&self) -> usize {
        self.data.loops.passed_over
    }

    /// Directions that loop joints repeat not within [`REPEATED_WITHIN`], but within [`NEARLY_WITHIN`]: they count, and may lock what is only written
    /// with too few digits.
    pub fn nearly_repeated(&self) -> Option<&NearlyRepeated> {
        self.data.loops.nearly.as_ref()
    }

    /// What is kept of the closure C and the rows J of a loop joint: P C and P J; `None` is all.
    pub(crate) fn kept(&self, joint: JointId) -> Option<Matrix6<f64>> {
        self.repeated_by(joint).map(|repeated| repeated.kept)
    }

    pub(crate) fn repeated_by(&self, joint: JointId) -> Option<&Repeated> {
        // They are in the order of the joints.
        let found =
            self.data.loops.repeated.binary_search_by_key(&joint.index(), |repeated| repeated.joint.index());
        found.ok().map(|i| &self.data.loops.repeated[i])
    }

    /// The handle of a body's name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.data.body_names.get(name).copied()
    }

    /// The handle of a joint's name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.data.joint_names.get(name).copied()
    }

    /// The handle of an effector's name.
    pub fn find_effector(&self, name: &str) -> Option<EffectorId> {
        self.data.effector_names.get(name).copied()
    }

    /// Xp: the joint frame in the parent's link frame (in the world, for a joint of the world).
    pub fn frame_in_parent(&self, joint: &Joint) -> Pose {
        match joint.parent {
            Some(parent) => self[parent].pose.inverse_times(&joint.frame),
            None => joint.frame,
        }
    }

    /// Xc: the joint frame in the child's link frame.
    pub fn frame_in_child(&self, joint: &Joint) -> Pose {
        self[joint.child].pose.inverse_times(&joint.frame)
    }

    /// The joint frame in the nodes of its parent and of its child; where the parent is the world, or welded to it, in the world.
    pub(crate) fn frames_in_nodes(&self, joint: &Joint) -> (Pose, Pose) {
        let (order, in_parent) = (self.order(), self.frame_in_parent(joint));
        let in_parent = joint.parent.map_or(in_parent, |parent| order.offset_of(parent) * in_parent);
        (in_parent, order.offset_of(joint.child) * self.frame_in_child(joint))
    }

    /// Number of coordinates of all joints together.
    pub fn coordinate_count(&self) -> usize {
        self.data.joints.last().map_or(0, |joint| joint.coordinates().end)
    }

    /// The name of a joint's parent, `world` included.
    pub fn parent_name(&self, joint: &Joint) -> &str {
        joint.parent.map_or(WORLD, |parent| &self[parent].name)
    }

    pub(crate) fn marks(&self) -> Marks {
        self.data.marks
    }
}
