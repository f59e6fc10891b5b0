//! Springs as they are written down: those to points of the world are kept, those between two bodies become bushing joints.
//!
//! A spring of stiffness k from a point B of one body to a point A of another has the energy ½k|x_B − x_A|². A bushing whose frame
//! is at B when the file was written, with the body of A as parent, has the translation t = Rᵀ(x_B − x_B') of the child in the
//! axes of the parent, where B' is the point of the parent that B was at. With the rest r = Rᵀ(x_A − x_B'), which is constant,
//! ½k|t − r|² is the same. So it is in every engine that has loops.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::builder::MechanismBuilder;
use super::description::{JointDescription, PerFreedom, SpringDescription, SpringEnd, SpringStart};
use super::validate::Checks;
use super::{Body, BodyId, EffectorId, Element, InvalidMechanism, Marks, Mechanism, PointSpring, WORLD};
use crate::joints::JointKind;
use crate::spatial::Pose;

impl MechanismBuilder {
    /// Takes springs between two bodies as joints. What cannot be taken is reported with the others.
    pub(super) fn join_by_springs(&mut self) {
        let between = |spring: &&SpringDescription| matches!(spring.to, SpringEnd::Body { .. });
        let joints: Vec<JointDescription> =
            self.springs.iter().filter(between).filter_map(|spring| self.bushing(spring)).collect();
        self.joints.extend(joints);
    }

    /// The body and the frame that a spring acts on, if they are there.
    fn start_of(&self, spring: &SpringDescription) -> Option<(&Body, Pose)> {
        let (body, frame) = match &spring.on {
            SpringStart::Body { body, frame } => (body, *frame),
            SpringStart::Effector(name) => {
                let effector = self.effectors.iter().find(|effector| effector.name == *name)?;
                (&effector.body, effector.frame)
            }
        };
        Some((self.bodies.iter().find(|other| other.name == *body)?, frame))
    }

    fn bushing(&self, spring: &SpringDescription) -> Option<JointDescription> {
        let (on, frame) = self.start_of(spring)?;
        let (to, point): (&str, Vector3<f64>) = match &spring.to {
            SpringEnd::Point(point) => (WORLD, (*point).into()),
            SpringEnd::Path { point, .. } => (WORLD, point[0].into()),
            SpringEnd::Body { body, point } => {
                let to = self.bodies.iter().find(|other| other.name == *body)?;
                (&to.name, to.pose.transform_point(&(*point).into()))
            }
        };
        if strengths(spring).iter().any(|(_, x)| !possible(*x)) || on.name == to {
            return None; // a defect of the spring
        }
        let at = on.pose * frame;
        // A joint leads away from the world: neither to a free base nor back to what its child carries.
        let turned = to != WORLD && (on.free || self.carries(&on.name, to));
        let (parent, child, frame, apart) = match turned {
            false => (to, on.name.as_str(), at, point - at.position),
            true => (on.name.as_str(), to, Pose { position: point, ..at }, at.position - point),
        };
        let rest = frame.rotation.inverse() * apart;
        let each = |along: f64, about: f64| PerFreedom::Each(vec![along, along, along, about, about, about]);
        let mut joint = JointDescription::new(&spring.name, JointKind::Bushing, parent, child)
            .frame(frame)
            .stiffness(each(spring.stiffness, spring.turning_stiffness))
            .damping(each(spring.damping, spring.turning_damping));
        joint.rest = Some(PerFreedom::Each(vec![rest.x, rest.y, rest.z, 0.0, 0.0, 0.0]));
        Some(joint)
    }

    /// Whether joints lead from one body to another.
    pub(super) fn carries(&self, from: &str, to: &str) -> bool {
        let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
        for joint in &self.joints {
            children.entry(&joint.parent).or_default().push(&joint.child);
        }
        let (mut seen, mut open) = (std::collections::HashSet::from([from]), vec![from]);
        while let Some(body) = open.pop() {
            if body == to {
                return true;
            }
            let next = children.get(body).into_iter().flatten();
            open.extend(next.copied().filter(|child| seen.insert(child)));
        }
        false
    }

    /// Springs to points of the world, and what is wrong with any.
    pub(super) fn point_springs(
        &self,
        checks: &mut Checks,
        bodies: &HashMap<String, usize>,
        effectors: &HashMap<String, usize>,
        marks: &Marks,
    ) -> Vec<PointSpring> {
        let mut springs = Vec::new();
        for (i, spring) in self.springs.iter().enumerate() {
            checks.spring(i, spring);
            let element = Element::Spring(i);
            let (body, effector, frame) = match &spring.on {
                SpringStart::Body { body, frame } => {
                    (checks.refer(bodies, body, element, "body", "body"), None, *frame)
                }
                SpringStart::Effector(name) => {
                    let found = checks.refer(effectors, name, element, "effector", "effector");
                    let Some(e) = found else { continue };
                    let own = &self.effectors[e];
                    let effector = EffectorId::new(e, marks.effectors);
                    (bodies.get(&own.body).copied(), Some(effector), own.frame)
                }
            };
            let (time, point) = match &spring.to {
                SpringEnd::Point(point) => (Vec::new(), vec![*point]),
                SpringEnd::Path { time, point } => (time.clone(), point.clone()),
                SpringEnd::Body { body: other, .. } => {
                    let other = checks.refer(bodies, other, element, "to", "body");
                    if other.is_some() && other == body {
                        checks.spring_to_itself(i, spring);
                    }
                    continue;
                }
            };
            if let Some(body) = body {
                springs.push(PointSpring {
                    name: spring.name.clone(),
                    effector,
                    body: BodyId::new(body, marks.structure()),
                    frame,
                    time,
                    point,
                    stiffness: spring.stiffness,
                    turning_stiffness: spring.turning_stiffness,
                    damping: spring.damping,
                    turning_damping: spring.turning_damping,
                });
            }
        }
        springs
    }
}

impl Mechanism {
    /// The same with springs to points of the world as bushing joints, each where its point is at time 0: what only knows joints then has
    /// them. Springs on free bodies are left out, as no joint holds these.
    pub fn with_springs_as_joints(&self) -> Result<Mechanism, InvalidMechanism> {
        if self.springs().is_empty() {
            return Ok(self.clone());
        }
        let mut builder = self.to_builder();
        let springs = std::mem::take(&mut builder.springs);
        for (mut spring, of) in springs.into_iter().zip(self.springs()) {
            if self[of.body].free {
                continue;
            }
            spring.to = SpringEnd::Point(of.point_at(0.0).0.into());
            let taken = |name: &str| self.find_joint(name).is_some();
            while taken(&spring.name) {
                spring.name.push_str(" spring");
            }
            builder.joints.extend(builder.bushing(&spring));
        }
        builder.build()
    }
}

/// A spring's stiffness and damping, by the keys of a scene file.
fn strengths(spring: &SpringDescription) -> [(&'static str, f64); 4] {
    [
        ("stiffness", spring.stiffness),
        ("turning_stiffness", spring.turning_stiffness),
        ("damping", spring.damping),
        ("turning_damping", spring.turning_damping),
    ]
}

/// More leaves no number when it is multiplied by the square of a step.
fn possible(strength: f64) -> bool {
    (0.0..=1e200).contains(&strength)
}

impl Checks {
    /// Everything of a spring but what it refers to.
    fn spring(&mut self, i: usize, spring: &SpringDescription) {
        let (element, name) = (Element::Spring(i), &spring.name);
        for (field, value) in strengths(spring) {
            if !possible(value) {
                let message = format!("the {field} of spring `{name}` is {value}");
                self.push(element, Some(field), message, "zero or above and at most 1e200".into());
            }
        }
        if let SpringStart::Body { frame, .. } = &spring.on {
            self.pose(element, &format!("spring `{name}`"), frame);
        }
        let finite = |p: &[f64; 3]| Vector3::from(*p).iter().all(|x| x.is_finite());
        let points = match &spring.to {
            SpringEnd::Point(point) | SpringEnd::Body { point, .. } => finite(point),
            SpringEnd::Path { time, point } => {
                let later = time.windows(2).all(|t| t[0] < t[1]);
                if time.is_empty() || !later || time.iter().any(|t| !t.is_finite()) {
                    let message = format!("the times of spring `{name}` do not increase");
                    let help = "at least one finite time, each later than the one before, s";
                    self.push(element, Some("time"), message, help.into());
                }
                if time.len() != point.len() {
                    let (points, times) = (point.len(), time.len());
                    let message = format!("spring `{name}` has {points} points for {times} times");
                    self.push(element, Some("point"), message, "give one point for each time".into());
                }
                point.iter().all(finite)
            }
        };
        if !points {
            let message = format!("a point of spring `{name}` is not finite");
            self.push(element, Some("point"), message, "three finite numbers, m".into());
        }
    }

    fn spring_to_itself(&mut self, i: usize, spring: &SpringDescription) {
        let message = format!("spring `{}` goes from a body to itself", spring.name);
        self.push(
            Element::Spring(i),
            Some("to"),
            message,
            "name another body, or give a point of the world".into(),
        );
    }
}
