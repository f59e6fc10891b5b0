//! Mechanisms changed after they were built: taken back into a builder, joined, and parts of them left out.

use std::collections::HashSet;

use super::description::{
    CouplingDescription, EffectorDescription, JointDescription, LoadDescription, PerFreedom,
    SpringDescription, SpringEnd, SpringStart, TargetDescription,
};
use super::{
    Body, BodyId, Freedom, Joint, JointId, Mechanism, MechanismBuilder, Shape, WORLD, ZoneDescription,
};
use crate::spatial::Pose;

impl MechanismBuilder {
    /// Takes out the effectors that are not to be kept, and the scene's loads on them.
    pub fn retain_effectors(&mut self, keep: impl Fn(&EffectorDescription) -> bool) -> &mut Self {
        // A spring does not depend on whether its frame is called an effector.
        for spring in &mut self.springs {
            if let SpringStart::Effector(name) = &spring.on
                && let Some(gone) = self.effectors.iter().find(|e| e.name == *name && !keep(e))
            {
                spring.on = SpringStart::Body { body: gone.body.clone(), frame: gone.frame };
            }
        }
        self.effectors.retain(keep);
        let left: HashSet<&str> = self.effectors.iter().map(|effector| effector.name.as_str()).collect();
        self.loads.retain(|load| left.contains(load.effector.as_str()));
        self
    }

    /// Adds everything of another mechanism but its gravity, moved by a pose: names get the prefix, what it joined to
    /// the world stays joined to the world.
    ///
    /// ```
    /// use pliant_core::{gallery, mechanism::*, spatial::Pose};
    ///
    /// let arm = gallery::arm();
    /// let mut builder = MechanismBuilder::new("two arms");
    /// builder.join(&arm, "left ", &Pose::translation([0.0, 0.5, 0.0]));
    /// builder.join(&arm, "right ", &Pose::translation([0.0, -0.5, 0.0]));
    /// let both = builder.build()?;
    /// assert_eq!(both.joints().len(), 2 * arm.joints().len());
    /// assert!(both.find_effector("left tip").is_some());
    /// # Ok::<(), InvalidMechanism>(())
    /// ```
    pub fn join(&mut self, other: &Mechanism, prefix: &str, motion: &Pose) -> &mut Self {
        let other = other.to_builder();
        let named = |name: &str| if name == WORLD { name.into() } else { format!("{prefix}{name}") };
        let moved = |pose: Pose| *motion * pose;
        let moved_point = |point: [f64; 3]| motion.transform_point(&point.into()).into();
        self.bodies.extend(other.bodies.into_iter().map(|b| Body {
            name: named(&b.name),
            pose: moved(b.pose),
            passes: b.passes.iter().map(|other| named(other)).collect(),
            ..b
        }));
        self.joints.extend(other.joints.into_iter().map(|j| JointDescription {
            name: named(&j.name),
            parent: named(&j.parent),
            child: named(&j.child),
            frame: moved(j.frame),
            ..j
        }));
        self.effectors.extend(other.effectors.into_iter().map(|e| EffectorDescription {
            name: named(&e.name),
            body: named(&e.body),
            ..e
        }));
        self.couplings.extend(other.couplings.into_iter().map(|c| CouplingDescription {
            joint: named(&c.joint),
            of: named(&c.of),
            ..c
        }));
        self.loads
            .extend(other.loads.into_iter().map(|l| LoadDescription { effector: named(&l.effector), ..l }));
        self.targets
            .extend(other.targets.into_iter().map(|t| TargetDescription { joint: named(&t.joint), ..t }));
        self.springs.extend(other.springs.into_iter().map(|spring| SpringDescription {
            name: named(&spring.name),
            on: match spring.on {
                SpringStart::Body { body, frame } => SpringStart::Body { body: named(&body), frame },
                SpringStart::Effector(effector) => SpringStart::Effector(named(&effector)),
            },
            to: match spring.to {
                SpringEnd::Point(point) => SpringEnd::Point(moved_point(point)),
                SpringEnd::Path { time, point } => {
                    SpringEnd::Path { time, point: point.into_iter().map(moved_point).collect() }
                }
                SpringEnd::Body { body, point } => SpringEnd::Body { body: named(&body), point },
            },
            ..spring
        }));
        self.zones.extend(other.zones.into_iter().map(|mut zone| {
            if zone.body == WORLD {
                zone.shape.pose = moved(zone.shape.pose);
                zone.bonded.iter_mut().for_each(|shape| shape.pose = moved(shape.pose));
                zone.inertia = zone.inertia.map(|inertia| inertia.in_outer(motion));
            }
            let to = zone.to.as_deref().map(named);
            ZoneDescription { name: named(&zone.name), body: named(&zone.body), to, ..zone }
        }));
        self.world_shapes
            .extend(other.world_shapes.into_iter().map(|shape| Shape { pose: moved(shape.pose), ..shape }));
        self.warnings.extend(other.warnings);
        self.notes.extend(other.notes);
        self
    }
}

impl Mechanism {
    /// A builder of the same mechanism, to change it and build it again. Handles and states stay good as long as bodies and
    /// joints do (and for effectors, these too).
    ///
    /// ```
    /// use pliant_core::gallery;
    ///
    /// let arm = gallery::arm();
    /// let mut builder = arm.to_builder();
    /// let elbow = arm.joints()[2].name.clone();
    /// builder.joint_mut(&elbow).ok_or("no such joint")?.stiffness = Some(50.0.into()); // N·m/rad
    /// let softer = builder.build()?;
    /// let elbow = arm.find_joint(&elbow).ok_or("no such joint")?;
    /// assert_eq!(softer.joint(elbow)?.freedoms[0].stiffness, 50.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_builder(&self) -> MechanismBuilder {
        let body = |id: BodyId| self[id].name.clone();
        let joint = |id: JointId| self[id].name.clone();
        // A joint without freedoms has nothing to say of them.
        fn each<T>(joint: &Joint, value: fn(&Freedom) -> T) -> Option<PerFreedom<T>> {
            let values: Vec<T> = joint.freedoms.iter().map(value).collect();
            (!values.is_empty()).then_some(PerFreedom::Each(values))
        }
        MechanismBuilder {
            name: self.name().into(),
            gravity: self.gravity(),
            bodies: self.bare_bodies(),
            joints: (self.joints().iter())
                .map(|joint| JointDescription {
                    name: joint.name.clone(),
                    kind: joint.kind.clone(),
                    parent: self.parent_name(joint).into(),
                    child: body(joint.child),
                    frame: joint.frame,
                    stiffness: each(joint, |f| f.stiffness),
                    damping: each(joint, |f| f.damping),
                    limits: each(joint, |f| (f.lower, f.upper)),
                    rest: each(joint, |f| f.rest),
                    armature: each(joint, |f| f.armature),
                    friction: each(joint, |f| f.friction),
                    torque_limit: each(joint, |f| f.torque_limit),
                    linear_to: each(joint, |f| f.linear_to),
                    start: (!joint.start.is_empty()).then(|| PerFreedom::Each(joint.start.clone())),
                })
                .collect(),
            effectors: (self.effectors().iter())
                .map(|e| EffectorDescription { name: e.name.clone(), body: body(e.body), frame: e.frame })
                .collect(),
            couplings: (self.couplings().iter())
                .map(|c| CouplingDescription {
                    joint: joint(c.joint),
                    of: joint(c.of),
                    ratio: c.ratio,
                    offset: c.offset,
                })
                .collect(),
            loads: (self.loads().iter())
                .map(|l| LoadDescription { effector: self[l.effector].name.clone(), wrench: l.wrench })
                .collect(),
            targets: (self.targets().iter())
                .map(|t| TargetDescription {
                    joint: joint(t.joint),
                    time: t.time.clone(),
                    position: t.position.clone(),
                })
                .collect(),
            springs: (self.springs().iter())
                .map(|s| SpringDescription {
                    name: s.name.clone(),
                    on: match s.effector {
                        Some(effector) => SpringStart::Effector(self[effector].name.clone()),
                        None => SpringStart::Body { body: body(s.body), frame: s.frame },
                    },
                    to: match &s.time[..] {
                        [] => SpringEnd::Point(s.point[0]),
                        time => SpringEnd::Path { time: time.to_vec(), point: s.point.clone() },
                    },
                    stiffness: s.stiffness,
                    turning_stiffness: s.turning_stiffness,
                    damping: s.damping,
                    turning_damping: s.turning_damping,
                })
                .collect(),
            zones: self.zones().iter().map(|zone| zone.description.clone()).collect(),
            world_shapes: self.world_shapes().to_vec(),
            warnings: self.reader_warnings().to_vec(),
            notes: self.notes().to_vec(),
        }
    }
}
