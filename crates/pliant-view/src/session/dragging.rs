//! What a person holds: a body, by a spring from a point on it to the pointer.

use pliant_core::engine::{Spring, SpringId};
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{BodyId, Whereabouts};
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::{Pose, Twist, Wrench};

use super::Session;

/// Of a mass that is pulled about freely: how fast its spring swings, rad/s.
const SWING: f64 = 12.0;
/// Up to so many bodies and effectors, the compliance is found.
const MOST_BODIES: usize = 2000;
const MOST_EFFECTORS: usize = 32;

/// What is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    body: BodyId,
    /// In the link frame.
    point: Vector3<f64>,
    /// World.
    pub(super) goal: Vector3<f64>,
    /// N/m and N·s/m.
    pub(super) stiffness: f64,
    damping: f64,
    /// Springs act on bodies with joints; the load of a loose body is set before each step.
    spring: Option<SpringId>,
}

impl Held {
    /// The body, if it is a loose one, whose pull is its load.
    pub(super) fn loose(&self) -> Option<BodyId> {
        self.spring.is_none().then_some(self.body)
    }
}

impl Session {
    pub(super) fn grab(&mut self, body: u32, point: Vector3<f64>, stiffness: f64) -> Result<(), String> {
        let mechanism = self.loaded.mechanism.clone();
        let body: BodyId = mechanism.body_ids().nth(body as usize).ok_or("there is no such body")?;
        let loose = matches!(self.apart.bodies[body.index()], Whereabouts::Loose(_));
        let mass = if loose { mechanism[body].inertia.mass } else { mechanism.mass() };
        let stiffness = match stiffness {
            0.0 => self.natural_stiffness(body, &point, mass),
            k if (0.0..=1e9).contains(&k) => k,
            k => return Err(format!("a spring of {k} N/m is not between 0 and 10⁹ N/m")),
        };
        let pose = self.running.simulation().pose(body).map_err(|error| error.to_string())?;
        let goal = pose.transform_point(&point);
        // Half of critical for the whole mass: the pull does not ring.
        let damping = (stiffness * mass).sqrt();
        if !goal.iter().all(|x| x.is_finite()) {
            return Err("a point this far from its body cannot be held".into());
        }
        self.release();
        let spring = if loose {
            None
        } else {
            let spring = Spring {
                body,
                frame: Pose::translation(point.into()),
                target: Pose::translation(goal.into()),
                target_twist: Twist::ZERO,
                stiffness,
                turning_stiffness: 0.0,
                damping,
                turning_damping: 0.0,
            };
            let added =
                self.running.simulation().inputs_mut().add_spring(spring).map_err(|e| e.to_string())?;
            self.give_ghost_inputs();
            Some(added)
        };
        self.held = Some(Held { body, point, goal, stiffness, damping, spring });
        Ok(())
    }

    /// A spring about as stiff as the mechanism is there. At an effector that is its compliance at rest; elsewhere the sum of r²/k of the
    /// hinges (of 1/k of slides) that lead to the body, which leaves out what loops hold: no softer than the softest effector. Where no spring
    /// holds it, one that lets the mass swing twice a second.
    fn natural_stiffness(&mut self, body: BodyId, point: &Vector3<f64>, mass: f64) -> f64 {
        let compliances = self.compliances().to_vec();
        let mechanism = &self.loaded.mechanism;
        let own = mechanism.effectors().iter().position(|effector| effector.body == body);
        let at = mechanism[body].pose.transform_point(point);
        // The first joint that leads to each body.
        let mut leads = vec![None; mechanism.bodies().len()];
        mechanism.joints().iter().rev().for_each(|joint| leads[joint.child.index()] = Some(joint));
        let (mut compliance, mut next) = (0.0, Some(body));
        // Each leads on once: loops end.
        while let Some(joint) = next.and_then(|child| leads[child.index()].take()) {
            let arm = (at - joint.frame.position).norm();
            for (k, freedom) in joint.freedoms.iter().enumerate().filter(|(_, f)| f.is_sprung()) {
                let way = if k < joint.kind.translations() { 1.0 } else { arm };
                compliance += way * way / freedom.stiffness;
            }
            next = joint.parent;
        }
        let softest = compliances.iter().copied().fold(0.0, f64::max);
        match own.and_then(|at| compliances.get(at)) {
            Some(exact) if *exact > 0.0 => compliance = *exact,
            _ if softest > 0.0 => compliance = compliance.min(softest),
            _ => {}
        }
        let heavy = (mass * SWING * SWING).max(1e-3);
        let soft = if compliance > 0.0 { 1.0 / compliance } else { heavy };
        soft.clamp(1e-3, 1e7)
    }

    /// How far a newton moves each effector at rest, m/N, along what gives most; empty where there is no linear model. Found once.
    fn compliances(&mut self) -> &[f64] {
        let Session { compliances, loaded, apart, .. } = self;
        compliances.get_or_insert_with(|| {
            let held = if loaded.touches() { apart.held.as_ref() } else { Some(&loaded.mechanism) };
            let small = held.filter(|held| {
                held.bodies().len() <= MOST_BODIES && held.effectors().len() <= MOST_EFFECTORS
            });
            let projection = small.and_then(|held| Linearisation::at_rest(held).project().ok());
            let Some(projection) = projection else { return Vec::new() };
            let C = projection.compliance();
            // The largest eigenvalue of a symmetric block is at most its norm, and at least 1/√3 of it.
            let of_model =
                (0..projection.effectors().len()).map(|e| C.fixed_view::<3, 3>(6 * e, 6 * e).norm());
            let names: Vec<&str> = projection.effectors().iter().map(|e| e.name.as_str()).collect();
            let of_model: Vec<f64> = of_model.collect();
            let find = |name: &str| names.iter().position(|own| *own == name).map_or(0.0, |at| of_model[at]);
            loaded.mechanism.effectors().iter().map(|effector| find(&effector.name)).collect()
        })
    }

    pub(super) fn pull(&mut self, goal: Vector3<f64>) -> Result<(), String> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let far = 1e3 * self.loaded.mechanism.radius().max(1.0);
        if goal.norm() > far {
            return Err(format!("the mouse spring cannot reach beyond {far:.0} m"));
        }
        let Some(spring) = held.spring else {
            held.goal = goal;
            return Ok(());
        };
        let target = Pose::translation(goal.into());
        self.each_input(|simulation| {
            let set = simulation.inputs_mut().set_spring_target(spring, target, Twist::ZERO);
            set.map_err(|error| error.to_string())
        })?;
        self.held.iter_mut().for_each(|held| held.goal = goal);
        Ok(())
    }

    pub(super) fn release(&mut self) {
        let Some(held) = self.held.take() else { return };
        let before = self.loaded.inputs.body_load(held.body).unwrap_or(Wrench::ZERO);
        // A rebuilt simulation does not have it any more.
        let _ = self.each_input(|simulation| {
            match held.spring {
                Some(spring) => drop(simulation.inputs_mut().remove_spring(spring)),
                None => drop(simulation.inputs_mut().set_body_load(held.body, before)),
            }
            Ok(())
        });
    }

    /// The force on what is held, world axes, at its point.
    pub(super) fn pulling(&mut self) -> Option<(Held, Vector3<f64>, Vector3<f64>)> {
        let held = self.held?;
        let simulation = self.running.simulation();
        let at = simulation.pose(held.body).ok()?.transform_point(&held.point);
        let force = match held.spring {
            Some(spring) => simulation.spring_force(spring).ok()?.force,
            None => {
                let pose = simulation.pose(held.body).ok()?;
                let twist = simulation.state().world_twist(held.body).ok()?;
                let speed = twist.linear + twist.angular.cross(&(pose.rotation * held.point));
                (held.goal - at) * held.stiffness - speed * held.damping
            }
        };
        Some((held, at, force))
    }

    /// A loose body gets its pull as a load.
    pub(super) fn load_loose(&mut self) {
        let Some((held @ Held { spring: None, .. }, at, force)) = self.pulling() else { return };
        let before = self.loaded.inputs.body_load(held.body).unwrap_or(Wrench::ZERO);
        let _ = self.each_input(|simulation| {
            let arm = simulation.pose(held.body).map_or(Vector3::zeros(), |pose| at - pose.position);
            let load = before + Wrench { force, torque: arm.cross(&force) };
            simulation.inputs_mut().set_body_load(held.body, load).map_err(|error| error.to_string())
        });
    }

    fn give_ghost_inputs(&mut self) {
        let inputs = self.running.simulation().inputs().clone();
        if let Some((_, ghost)) = &mut self.ghost {
            ghost.simulation().inputs_mut().clone_from(&inputs);
        }
    }
}
