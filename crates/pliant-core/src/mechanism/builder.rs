//! The elements of a mechanism, as descriptions that refer to each other by name.

use nalgebra::Vector3;

use super::description::{
    CouplingDescription, EffectorDescription, JointDescription, LoadDescription, SpringDescription,
    TargetDescription,
};
use super::{Body, STANDARD_GRAVITY, Shape, ZoneDescription};

/// Collects the elements of a mechanism and checks them all at once.
///
/// ```
/// use pliant_core::{joints::JointKind, mechanism::*, spatial::*};
///
/// let mut builder = MechanismBuilder::new("pendulum");
/// builder.body(
///     Body::new("bob", Pose::translation([0.0, 0.0, -1.0])).inertia(SpatialInertia::of_box(1.0, [0.1; 3])),
/// );
/// builder.joint(JointDescription::new("pivot", JointKind::Ball, "world", "bob").stiffness(5.0));
/// let mechanism = builder.build()?;
/// assert_eq!(mechanism.summary().freedoms, 3);
/// # Ok::<(), InvalidMechanism>(())
/// ```
#[derive(Clone, Debug)]
pub struct MechanismBuilder {
    pub(super) name: String,
    pub(super) gravity: Vector3<f64>,
    pub(super) bodies: Vec<Body>,
    pub(super) joints: Vec<JointDescription>,
    pub(super) effectors: Vec<EffectorDescription>,
    pub(super) couplings: Vec<CouplingDescription>,
    pub(super) loads: Vec<LoadDescription>,
    pub(super) targets: Vec<TargetDescription>,
    pub(super) springs: Vec<SpringDescription>,
    pub(super) zones: Vec<ZoneDescription>,
    pub(super) world_shapes: Vec<Shape>,
    pub(super) warnings: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Default for MechanismBuilder {
    /// Without a name.
    fn default() -> MechanismBuilder {
        MechanismBuilder::new("")
    }
}

impl MechanismBuilder {
    /// An empty mechanism in standard gravity.
    pub fn new(name: impl Into<String>) -> MechanismBuilder {
        MechanismBuilder {
            name: name.into(),
            gravity: STANDARD_GRAVITY.into(),
            bodies: Vec::new(),
            joints: Vec::new(),
            effectors: Vec::new(),
            couplings: Vec::new(),
            loads: Vec::new(),
            targets: Vec::new(),
            springs: Vec::new(),
            zones: Vec::new(),
            world_shapes: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Sets its name, which may be empty.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = name.into();
        self
    }

    /// Sets gravity, world axes, m/s².
    pub fn gravity(&mut self, gravity: [f64; 3]) -> &mut Self {
        self.gravity = gravity.into();
        self
    }

    /// A body that was added, to change it.
    pub fn body_mut(&mut self, name: &str) -> Option<&mut Body> {
        self.bodies.iter_mut().find(|body| body.name == name)
    }

    /// A joint that was added, to change it.
    pub fn joint_mut(&mut self, name: &str) -> Option<&mut JointDescription> {
        self.joints.iter_mut().find(|joint| joint.name == name)
    }

    /// Adds a body.
    pub fn body(&mut self, body: Body) -> &mut Self {
        self.bodies.push(body);
        self
    }

    /// Adds a joint.
    pub fn joint(&mut self, joint: JointDescription) -> &mut Self {
        self.joints.push(joint);
        self
    }

    /// Adds an effector.
    pub fn effector(&mut self, effector: EffectorDescription) -> &mut Self {
        self.effectors.push(effector);
        self
    }

    /// Adds a coupling.
    pub fn coupling(&mut self, coupling: CouplingDescription) -> &mut Self {
        self.couplings.push(coupling);
        self
    }

    /// Adds a load of the scene.
    pub fn load(&mut self, load: LoadDescription) -> &mut Self {
        self.loads.push(load);
        self
    }

    /// Adds a moving set-point.
    pub fn target(&mut self, target: TargetDescription) -> &mut Self {
        self.targets.push(target);
        self
    }

    /// Adds a spring.
    pub fn spring(&mut self, spring: SpringDescription) -> &mut Self {
        self.springs.push(spring);
        self
    }

    /// Adds a shape that does not move.
    pub fn world_shape(&mut self, shape: Shape) -> &mut Self {
        self.world_shapes.push(shape);
        self
    }

    /// Adds something that a user should know and may want to change, such as what a reader left out.
    pub fn warning(&mut self, warning: impl Into<String>) -> &mut Self {
        self.warnings.push(warning.into());
        self
    }

    /// Adds something that was assumed and is most likely meant.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.notes.push(note.into());
        self
    }
}
