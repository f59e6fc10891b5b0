//! A mechanism written down in another way.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, Geometry, Joint, JointDescription, LoadDescription,
    Mechanism, MechanismBuilder, PerFreedom, Shape,
};
use pliant_core::nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

use crate::common::Random;

/// What is changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// The whole scene is moved by this, and gravity turned with it.
    pub motion: Pose,
    /// Mirrored in the plane z = 0 before that.
    pub mirrored: bool,
    /// A metre is so long, a kilogram so heavy, a second so long afterwards.
    pub units: [f64; 3],
    /// Bodies, joints and shapes are listed in another order.
    pub shuffled: Option<u64>,
    /// Random are rounded to so many significant digits.
    pub digits: Option<usize>,
    /// The first body that moves is split into two halves with a fixed joint between them.
    pub split: bool,
    /// A free body is added this far away.
    pub far: Option<f64>,
}

impl Default for Change {
    fn default() -> Change {
        Change {
            motion: Pose::identity(),
            mirrored: false,
            units: [1.0; 3],
            shuffled: None,
            digits: None,
            split: false,
            far: None,
        }
    }
}

impl Change {
    fn length(&self) -> f64 {
        self.units[0]
    }

    fn mirror(&self) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, if self.mirrored { -1.0 } else { 1.0 }))
    }

    fn rounded(&self, x: f64) -> f64 {
        match self.digits {
            Some(digits) if x != 0.0 && x.is_finite() => format!("{x:.*e}", digits - 1).parse().unwrap(),
            _ => x,
        }
    }

    fn vector(&self, v: Vector3<f64>) -> Vector3<f64> {
        v.map(|x| self.rounded(x))
    }

    /// A frame inside another one.
    fn inner(&self, pose: &Pose) -> Pose {
        let S = self.mirror();
        let R = S * pose.rotation.to_rotation_matrix().matrix() * S;
        let mut rotation = if self.mirrored {
            UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(R))
        } else {
            pose.rotation
        };
        if self.digits.is_some() {
            rotation = UnitQuaternion::new_normalize(Quaternion::from_vector(
                rotation.coords.map(|x| self.rounded(x)),
            ));
        }
        Pose::new(rotation, self.vector(S * pose.position * self.length()))
    }

    /// A pose in the world.
    pub fn pose(&self, pose: &Pose) -> Pose {
        let inner = self.inner(pose);
        let motion = Pose::new(self.motion.rotation, self.motion.position * self.length());
        motion * inner
    }

    /// The pose of the unchanged scene that a pose of the changed one stands for.
    pub fn undo(&self, pose: &Pose) -> Pose {
        let motion = Pose::new(self.motion.rotation, self.motion.position * self.length());
        let back = motion.inverse_times(pose);
        let S = self.mirror();
        let R = S * back.rotation.to_rotation_matrix().matrix() * S;
        let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(R));
        Pose::new(rotation, S * back.position / self.length())
    }

    fn inertia(&self, inertia: &SpatialInertia) -> SpatialInertia {
        let (S, [length, mass, _]) = (self.mirror(), self.units);
        SpatialInertia {
            mass: self.rounded(inertia.mass * mass),
            center_of_mass: self.vector(S * inertia.center_of_mass * length),
            inertia: (S * inertia.inertia * S * (mass * length * length)).map(|x| self.rounded(x)),
        }
    }

    fn wrench(&self, wrench: &Wrench) -> Wrench {
        let (S, R, [length, mass, time]) = (self.mirror(), self.motion.rotation, self.units);
        let force = R * (S * wrench.force) * (mass * length / time.powi(2));
        // A torque is a cross product: it turns round when mirrored.
        let torque = R * (S * wrench.torque * S.determinant()) * (mass * (length / time).powi(2));
        Wrench::new(self.vector(force), self.vector(torque))
    }

    /// None for what only robots have, and no scene of contact here.
    fn shape(&self, shape: &Shape) -> Option<Shape> {
        let s = self.length();
        let geometry = match &shape.geometry {
            Geometry::Box { size } => Geometry::Box { size: self.vector(size * s) },
            Geometry::Ball { radius } => Geometry::Ball { radius: self.rounded(radius * s) },
            Geometry::Capsule { radius, half_length } => Geometry::Capsule {
                radius: self.rounded(radius * s),
                half_length: self.rounded(half_length * s),
            },
            Geometry::Cylinder { radius, half_length } => Geometry::Cylinder {
                radius: self.rounded(radius * s),
                half_length: self.rounded(half_length * s),
            },
            _ => return None,
        };
        Some(Shape { geometry, pose: self.inner(&shape.pose), ..shape.clone() })
    }

    /// The mechanism, written so.
    pub fn apply(&self, mechanism: &Mechanism) -> Mechanism {
        let [length, mass, time] = self.units;
        let mut builder = MechanismBuilder::new(mechanism.name());
        let gravity = self.motion.rotation * (self.mirror() * mechanism.gravity()) * (length / time.powi(2));
        builder.gravity(gravity.into());
        let mut bodies: Vec<Body> = (mechanism.bodies().iter())
            .map(|body| Body {
                name: body.name.clone(),
                pose: self.pose(&body.pose),
                inertia: self.inertia(&body.inertia),
                free: body.free,
                shapes: body.shapes.iter().filter_map(|shape| self.shape(shape)).collect(),
                passes: body.passes.clone(),
            })
            .collect();
        let mut joints: Vec<JointDescription> = mechanism
            .joint_ids()
            .map(|id| {
                let joint = &mechanism[id];
                let parent = mechanism.parent_name(joint).to_string();
                let child = mechanism[joint.child].name.clone();
                let description = JointDescription::new(&joint.name, joint.kind.clone(), parent, child)
                    .frame(self.pose(&joint.frame));
                if joint.freedoms.is_empty() {
                    return description;
                }
                let slides = joint.kind.translations();
                // Of each freedom: its unit, m or 1, and the unit of its mass.
                let each = |f: &dyn Fn(usize, f64, f64) -> f64| -> PerFreedom<f64> {
                    let list = (0..joint.freedoms.len()).map(|k| {
                        let (unit, inertia) =
                            if k < slides { (length, mass) } else { (1.0, mass * length * length) };
                        self.rounded(f(k, unit, inertia))
                    });
                    list.collect::<Vec<f64>>().into()
                };
                let free = &joint.freedoms;
                let limits: Vec<(f64, f64)> = (free.iter().enumerate())
                    .map(|(k, f)| {
                        let unit = if k < slides { length } else { 1.0 };
                        (self.rounded(f.lower * unit), self.rounded(f.upper * unit))
                    })
                    .collect();
                description
                    .stiffness(each(&|k, _, inertia| free[k].stiffness * inertia / (time * time)))
                    .damping(each(&|k, _, inertia| free[k].damping * inertia / time))
                    .rest(each(&|k, unit, _| free[k].rest * unit))
                    .armature(each(&|k, _, inertia| free[k].armature * inertia))
                    .start(each(&|k, unit, _| joint.start[k] * unit))
                    .limits(limits)
            })
            .collect();
        if self.split {
            let at = bodies.iter().position(|body| body.inertia.mass > 0.0).unwrap();
            let half = &mut bodies[at];
            half.inertia.mass *= 0.5;
            half.inertia.inertia *= 0.5;
            let other = Body::new("the other half", half.pose).inertia(half.inertia);
            let joint = JointDescription::new("split", JointKind::Fixed, &half.name, "the other half")
                .frame(half.pose);
            bodies.push(other);
            joints.push(joint);
        }
        if let Some(far) = self.far {
            let (size, mass) = ([0.1 * length; 3], 1e-4 * mass);
            let at = Pose::translation([far * length, 0.0, 0.0]);
            let ball = Shape::new(Geometry::Ball { radius: 0.05 * length });
            bodies.push(
                Body::new("far away", at).inertia(SpatialInertia::of_box(mass, size)).shape(ball).free(),
            );
        }
        if let Some(seed) = self.shuffled {
            let mut numbers = Random(seed);
            let mut keys: Vec<(f64, Body)> = bodies.into_iter().map(|x| (numbers.unit(), x)).collect();
            keys.sort_by(|a, b| a.0.total_cmp(&b.0));
            bodies = keys.into_iter().map(|(_, x)| x).collect();
            bodies.iter_mut().for_each(|body| body.shapes.reverse());
            let mut keys: Vec<(f64, JointDescription)> =
                joints.into_iter().map(|x| (numbers.unit(), x)).collect();
            keys.sort_by(|a, b| a.0.total_cmp(&b.0));
            joints = keys.into_iter().map(|(_, x)| x).collect();
        }
        for body in bodies {
            builder.body(body);
        }
        for joint in joints {
            builder.joint(joint);
        }
        for effector in mechanism.effectors() {
            builder.effector(EffectorDescription {
                name: effector.name.clone(),
                body: mechanism[effector.body].name.clone(),
                frame: self.inner(&effector.frame),
            });
        }
        for coupling in mechanism.couplings() {
            let [joint, of] = [coupling.joint, coupling.of].map(|id| &mechanism[id]);
            let unit = |joint: &Joint| if joint.kind.translations() > 0 { length } else { 1.0 };
            builder.coupling(CouplingDescription {
                joint: joint.name.clone(),
                of: of.name.clone(),
                ratio: self.rounded(coupling.ratio * unit(joint) / unit(of)),
                offset: self.rounded(coupling.offset * unit(joint)),
            });
        }
        for load in mechanism.loads() {
            builder.load(LoadDescription {
                effector: mechanism[load.effector].name.clone(),
                wrench: self.wrench(&load.wrench),
            });
        }
        for shape in mechanism.world_shapes() {
            if let Some(changed) = self.shape(shape) {
                builder.world_shape(Shape { pose: self.pose(&shape.pose), ..changed });
            }
        }
        builder.build().unwrap()
    }
}
