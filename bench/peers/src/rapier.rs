//! Rapier, in its two kinds of joints: links of one multibody with its implicit joint springs and one solver iteration, or
//! impulse joints with motors as springs and the iterations it comes with. Loops are impulse joints in both. Single
//! precision, as Rapier comes.

use std::f64::consts::FRAC_PI_2;

use pliant::joints::JointKind;
use pliant::mechanism::{Joint, Mechanism};
use pliant::spatial::Pose;
use rapier3d::math::{Matrix, Pose as RapierPose, Rotation, Vector};
use rapier3d::prelude::{
    GenericJoint, GenericJointBuilder, JointAxesMask, JointAxis, MassProperties, MotorModel, MultibodyIndex,
    PhysicsWorld, RigidBodyBuilder, RigidBodyHandle,
};

use crate::engines::tip;
use crate::protocol::Racer;

/// The angle of a hinge among the six freedoms of a joint.
const TURN: usize = 3;

/// How the joints of the tree are made.
#[derive(Clone, Copy, PartialEq)]
pub enum Joints {
    /// Coordinates of one multibody.
    Multibody,
    /// Constraints between bodies.
    Impulse,
}

/// A scene in Rapier.
pub struct World {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
    multibody: Option<MultibodyIndex>,
    tip: RigidBodyHandle,
}

impl World {
    /// The scene with its load.
    pub fn new(mechanism: &Mechanism, joints: Joints) -> Result<World, String> {
        let mut world = PhysicsWorld::new();
        world.gravity = vector(mechanism.gravity().into());
        world.integration_parameters.dt = 1.0 / 60.0;
        let ground = world.insert_body(RigidBodyBuilder::fixed());
        let bodies: Vec<RigidBodyHandle> = (mechanism.bodies().iter())
            .map(|body| {
                let inertia = &body.inertia;
                let column = |c: usize| vector(inertia.inertia.column(c).into_owned().into());
                let matrix = Matrix::from_cols(column(0), column(1), column(2));
                let center = vector(inertia.center_of_mass.into());
                let mass = MassProperties::with_inertia_matrix(center, inertia.mass as f32, matrix);
                let builder = RigidBodyBuilder::dynamic().pose(pose(&body.pose));
                world.insert_body(builder.additional_mass_properties(mass).can_sleep(false))
            })
            .collect();
        let handle = |joint: &Joint| {
            (joint.parent.map_or(ground, |parent| bodies[parent.index()]), bodies[joint.child.index()])
        };
        let mut held = vec![false; bodies.len()];
        let mut sprung = Vec::new();
        for joint in mechanism.joints() {
            let first = !std::mem::replace(&mut held[joint.child.index()], true);
            let (parent, child) = handle(joint);
            if first && joints == Joints::Multibody {
                let description = frame(mechanism, joint, false)?;
                let link = world.insert_multibody_joint(parent, child, description);
                sprung.push((link.ok_or("Rapier refuses a joint of the tree")?, joint));
            } else {
                world.insert_impulse_joint(parent, child, frame(mechanism, joint, true)?);
            }
        }
        let mut multibody = None;
        for (link, joint) in sprung {
            let index = world.multibody_joints.rigid_body_link(bodies[joint.child.index()]);
            multibody = index.map(|index| index.multibody);
            let (links, id) = world.multibody_joints.get_mut(link).ok_or("a link is missing")?;
            let freedom = &joint.freedoms[0];
            // Joints have one freedom each, in the order of the links; the fixed root has none.
            links.damping_mut()[id - 1] = freedom.damping as f32;
            let link = links.link_mut(id).ok_or("a link is missing")?;
            link.joint.set_spring(TURN, freedom.stiffness as f32, 0.0);
        }
        if joints == Joints::Multibody {
            world.integration_parameters.num_solver_iterations = 1;
        }
        let tip = bodies[mechanism[tip(mechanism)].body.index()];
        if let Some(load) = mechanism.loads().first() {
            world.bodies[tip].add_force(vector(load.wrench.force.into()), true);
        }
        Ok(World { world, bodies, multibody, tip })
    }
}

impl Racer for World {
    fn step(&mut self) -> Result<(), String> {
        self.world.step();
        Ok(())
    }

    fn position(&mut self) -> [f64; 3] {
        let p = self.world.bodies[self.tip].translation();
        [p.x, p.y, p.z].map(f64::from)
    }

    fn speed(&mut self) -> Option<f64> {
        let of = |body: &RigidBodyHandle| {
            let body = &self.world.bodies[*body];
            f64::from(body.linvel().length_squared() + body.angvel().length_squared())
        };
        Some(self.bodies.iter().map(of).sum())
    }

    fn halt(&mut self) {
        for body in &self.bodies {
            let body = &mut self.world.bodies[*body];
            body.set_linvel(Vector::ZERO, true);
            body.set_angvel(Vector::ZERO, true);
        }
        if let Some(multibody) = self.multibody.and_then(|m| self.world.multibody_joints.get_multibody_mut(m))
        {
            multibody.generalized_velocity_mut().fill(0.0);
        }
    }
}

/// The joint's frames, turned so that x is the axis; with a motor as its spring, where the multibody has none.
fn frame(mechanism: &Mechanism, joint: &Joint, motor: bool) -> Result<GenericJoint, String> {
    let locked = match joint.kind {
        JointKind::Hinge => JointAxesMask::LOCKED_REVOLUTE_AXES,
        JointKind::Ball => JointAxesMask::LOCKED_SPHERICAL_AXES,
        _ => return Err(format!("joint `{}` is neither a hinge nor a ball", joint.name)),
    };
    let turned = Pose::rotation([0.0, 1.0, 0.0], -FRAC_PI_2);
    let mut builder = GenericJointBuilder::new(locked)
        .local_frame1(pose(&(mechanism.frame_in_parent(joint) * turned)))
        .local_frame2(pose(&(mechanism.frame_in_child(joint) * turned)));
    let freedom = &joint.freedoms[0];
    if motor && (freedom.stiffness > 0.0 || freedom.damping > 0.0) {
        if !matches!(joint.kind, JointKind::Hinge) {
            return Err(format!("joint `{}` is a ball with a spring", joint.name));
        }
        builder = builder.motor_model(JointAxis::AngX, MotorModel::ForceBased).motor_position(
            JointAxis::AngX,
            0.0,
            freedom.stiffness as f32,
            freedom.damping as f32,
        );
    }
    Ok(builder.build())
}

fn vector(x: [f64; 3]) -> Vector {
    Vector::new(x[0] as f32, x[1] as f32, x[2] as f32)
}

fn pose(pose: &Pose) -> RapierPose {
    let q = pose.rotation;
    let rotation = Rotation::from_xyzw(q.i as f32, q.j as f32, q.k as f32, q.w as f32);
    RapierPose::from_parts(vector(pose.position.into()), rotation)
}
