//! What a user writes down: elements that refer to each other by name. [`super::MechanismBuilder`]
//! turns them into a [`super::Mechanism`].

use nalgebra::Vector3;

use crate::joints::JointKind;
use crate::spatial::{Pose, Wrench};

/// One value for every freedom of a joint, or one each.
#[derive(Clone, Debug, PartialEq)]
pub enum PerFreedom<T> {
    /// The same for all.
    All(T),
    /// As many as the joint has freedoms.
    Each(Vec<T>),
}

impl<T> From<T> for PerFreedom<T> {
    fn from(value: T) -> Self {
        PerFreedom::All(value)
    }
}

impl<T: Copy, const N: usize> From<[T; N]> for PerFreedom<T> {
    fn from(values: [T; N]) -> Self {
        PerFreedom::Each(values.to_vec())
    }
}

impl<T> From<Vec<T>> for PerFreedom<T> {
    fn from(values: Vec<T>) -> Self {
        PerFreedom::Each(values)
    }
}

/// A joint as it is written down. Freedoms that nothing is said about are passive and without limits.
///
/// ```
/// use pliant_core::nalgebra::Vector3;
/// use pliant_core::{engine::Simulation, full, joints::JointKind, mechanism::*, spatial::*};
///
/// let flap = Body::new("flap", Pose::translation([0.5, 0.0, 0.0]));
/// let mut builder = MechanismBuilder::new("flap");
/// builder.body(flap.inertia(SpatialInertia::of_box(1.0, [1.0, 0.5, 0.01])));
/// builder.joint(
///     JointDescription::new("hinge", JointKind::Hinge, "world", "flap")
///         .axis(Vector3::zeros(), Vector3::y()) // at the origin, about y
///         .stiffness(2.0) // N·m/rad
///         .damping(0.1)
///         .limits((-0.2, 0.2)), // rad
/// );
/// let mechanism = builder.build()?;
///
/// // Its weight turns the flap down, further than the spring alone would allow: the limit stops it.
/// let model = full::Model::new(&mechanism);
/// let mut simulation = model.simulate();
/// simulation.settle(&Default::default())?;
/// assert!((simulation.state().coordinates[0] - 0.2).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointDescription {
    /// Unique among joints.
    pub name: String,
    /// The motion it leaves.
    pub kind: JointKind,
    /// A body's name, or `world`.
    pub parent: String,
    /// A body's name.
    pub child: String,
    /// The joint frame in the world, at rest.
    pub frame: Pose,
    /// Spring stiffness, N/m or N·m/rad.
    pub stiffness: Option<PerFreedom<f64>>,
    /// Damping, N·s/m or N·m·s/rad.
    pub damping: Option<PerFreedom<f64>>,
    /// Lower and upper limit, m or rad; ±∞ for none.
    pub limits: Option<PerFreedom<(f64, f64)>>,
    /// Spring rest position, m or rad.
    pub rest: Option<PerFreedom<f64>>,
    /// Rotor inertia, kg or kg·m².
    pub armature: Option<PerFreedom<f64>>,
    /// Dry friction, N or N·m.
    pub friction: Option<PerFreedom<f64>>,
    /// The most that spring and damper together apply, N or N·m; +∞ for no bound.
    pub torque_limit: Option<PerFreedom<f64>>,
    /// How far from where it is relaxed the spring is as linear as it is written, m or rad; farther is a warning. +∞ for no bound.
    pub linear_to: Option<PerFreedom<f64>>,
    /// Coordinate at the start, m or rad.
    pub start: Option<PerFreedom<f64>>,
}

impl JointDescription {
    /// A joint of a kind between two named bodies, with its frame at the world's origin.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        parent: impl Into<String>,
        child: impl Into<String>,
    ) -> JointDescription {
        JointDescription {
            name: name.into(),
            kind,
            parent: parent.into(),
            child: child.into(),
            frame: Pose::identity(),
            stiffness: None,
            damping: None,
            limits: None,
            rest: None,
            armature: None,
            friction: None,
            torque_limit: None,
            linear_to: None,
            start: None,
        }
    }

    /// With its frame at this pose in the world.
    pub fn frame(mut self, frame: Pose) -> Self {
        self.frame = frame;
        self
    }

    /// With its origin at a point of the world and its z along an axis (world axes, any length but zero).
    pub fn axis(self, position: Vector3<f64>, axis: Vector3<f64>) -> Self {
        self.frame(Pose::with_z_along(axis, position))
    }

    /// With springs, N/m or N·m/rad.
    pub fn stiffness(mut self, stiffness: impl Into<PerFreedom<f64>>) -> Self {
        self.stiffness = Some(stiffness.into());
        self
    }

    /// With dampers, N·s/m or N·m·s/rad.
    pub fn damping(mut self, damping: impl Into<PerFreedom<f64>>) -> Self {
        self.damping = Some(damping.into());
        self
    }

    /// With limits, m or rad.
    pub fn limits(mut self, limits: impl Into<PerFreedom<(f64, f64)>>) -> Self {
        self.limits = Some(limits.into());
        self
    }

    /// With springs relaxed at these coordinates, m or rad.
    pub fn rest(mut self, rest: impl Into<PerFreedom<f64>>) -> Self {
        self.rest = Some(rest.into());
        self
    }

    /// With rotor inertia, kg or kg·m².
    pub fn armature(mut self, armature: impl Into<PerFreedom<f64>>) -> Self {
        self.armature = Some(armature.into());
        self
    }

    /// With dry friction, N or N·m.
    pub fn friction(mut self, friction: impl Into<PerFreedom<f64>>) -> Self {
        self.friction = Some(friction.into());
        self
    }

    /// With a bound on what spring and damper together apply, N or N·m.
    pub fn torque_limit(mut self, torque_limit: impl Into<PerFreedom<f64>>) -> Self {
        self.torque_limit = Some(torque_limit.into());
        self
    }

    /// With a bound on how far its spring is linear, m or rad; farther is a warning.
    pub fn linear_to(mut self, linear_to: impl Into<PerFreedom<f64>>) -> Self {
        self.linear_to = Some(linear_to.into());
        self
    }

    /// With these coordinates at the start instead of 0, the file's pose, m or rad.
    pub fn start(mut self, start: impl Into<PerFreedom<f64>>) -> Self {
        self.start = Some(start.into());
        self
    }
}

/// An effector as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorDescription {
    /// Unique among effectors.
    pub name: String,
    /// A body's name.
    pub body: String,
    /// Its frame in the link frame.
    pub frame: Pose,
}

/// A coupling as it is written down: θ_joint = ratio · θ_of + offset.
#[derive(Clone, Debug, PartialEq)]
pub struct CouplingDescription {
    /// The joint that follows.
    pub joint: String,
    /// The joint that leads.
    pub of: String,
    /// Slope.
    pub ratio: f64,
    /// Offset, m or rad.
    pub offset: f64,
}

/// A load as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadDescription {
    /// An effector's name.
    pub effector: String,
    /// Force and torque at the effector's origin, world axes.
    pub wrench: Wrench,
}

/// A spring with damper as it is written down: from a frame on a body to a point, of the world or of another body. It has no length
/// when relaxed, and no turn in the pose of the file.
///
/// ```
/// use pliant_core::{engine::Simulation, full, gallery, mechanism::*};
///
/// let mut builder = gallery::two_link().to_builder(); // its tip is at [1, 0, 0]
/// let to = SpringEnd::Point([1.0, 0.2, 0.0]);
/// builder.spring(SpringDescription::new("hook", SpringStart::Effector("tip".into()), to).stiffness(80.0));
/// let mut simulation = full::Model::new(&builder.build()?).simulate();
/// simulation.settle(&Default::default())?;
/// let tip = simulation.effector("tip")?;
/// assert!((simulation.effector_pose(tip)?.position.y - 0.1).abs() < 2e-3); // it is as stiff as the tip
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SpringDescription {
    /// Unique among springs; a spring between two bodies becomes a joint, and its name is unique among these.
    pub name: String,
    /// What it acts on.
    pub on: SpringStart,
    /// Where it goes.
    pub to: SpringEnd,
    /// Stiffness of the translations, N/m.
    pub stiffness: f64,
    /// Stiffness of the rotations, N·m/rad.
    pub turning_stiffness: f64,
    /// Damping of the translations, N·s/m.
    pub damping: f64,
    /// Damping of the rotations, N·m·s/rad.
    pub turning_damping: f64,
}

/// What a spring acts on.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringStart {
    /// A frame on a body.
    Body {
        /// Its name.
        body: String,
        /// In the link frame.
        frame: Pose,
    },
    /// The frame of an effector, by its name.
    Effector(String),
}

/// Where a spring goes.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringEnd {
    /// A point of the world, m.
    Point([f64; 3]),
    /// A point of the world that moves, piecewise linear, constant before the first and after the last time.
    Path {
        /// Times, s, increasing.
        time: Vec<f64>,
        /// World axes, m, one for each time.
        point: Vec<[f64; 3]>,
    },
    /// A point of another body. Such a spring becomes a bushing joint.
    Body {
        /// Its name.
        body: String,
        /// In the link frame, m.
        point: [f64; 3],
    },
}

impl SpringDescription {
    /// A spring without stiffness or damping.
    pub fn new(name: impl Into<String>, on: SpringStart, to: SpringEnd) -> SpringDescription {
        let name = name.into();
        SpringDescription {
            name,
            on,
            to,
            stiffness: 0.0,
            turning_stiffness: 0.0,
            damping: 0.0,
            turning_damping: 0.0,
        }
    }

    /// With stiffness of the translations, N/m.
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.stiffness = stiffness;
        self
    }

    /// With damping of the translations, N·s/m.
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }
}

/// A moving set-point as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetDescription {
    /// A joint's name.
    pub joint: String,
    /// Times, s, increasing.
    pub time: Vec<f64>,
    /// Spring rest positions, one list per time, one number per freedom.
    pub position: Vec<Vec<f64>>,
}
