//! From descriptions, which refer by name, to a mechanism, which is valid.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::closing::{Unposed, pose_at};
use super::coupled::coupled;
use super::description::{JointDescription, PerFreedom, SpringStart};
use super::order::Order;
use super::repeated::repeated;
use super::validate::{Checks, with_article};
use super::{
    BodyId, Coupling, Data, Defect, Effector, EffectorId, Element, Freedom, InvalidMechanism, Joint, JointId,
    Load, Marks, Mechanism, MechanismBuilder, Start, Target, WORLD,
};

impl MechanismBuilder {
    /// The mechanism, or everything that is wrong with it.
    ///
    /// ```
    /// use pliant_core::{joints::JointKind, mechanism::*, spatial::*};
    ///
    /// let mut builder = MechanismBuilder::new("broken");
    /// builder.body(Body::new("lever", Pose::identity()).inertia(SpatialInertia::of_box(-1.0, [0.1; 3])));
    /// builder.joint(JointDescription::new("pivot", JointKind::Ball, "world", "levr").stiffness(5.0));
    ///
    /// let defects = builder.build().unwrap_err().defects;
    /// assert!(defects[0].message.contains("the mass is -1"));
    /// assert!(defects[1].help.contains("did you mean `lever`?"));
    /// ```
    pub fn build(self) -> Result<Mechanism, InvalidMechanism> {
        self.build_at(None)
    }

    /// The mechanism with a known start; without one, it is found from the joints' start coordinates.
    pub(super) fn build_at(mut self, start: Option<Start>) -> Result<Mechanism, InvalidMechanism> {
        let mut checks = Checks::default();
        checks.values(&self);
        self.settle();
        let (written, given) = (self.joints.len(), self.bodies.len());
        self.join_by_springs();
        let sprung = self.joints.len();
        let flexed = self.join_by_flexures(&mut checks);

        let body_element = |i: usize| match i.checked_sub(given) {
            Some(k) => Element::Zone(flexed.bodies[k]),
            None => Element::Body(i),
        };
        let body_names =
            unique(&mut checks, self.bodies.iter().map(|b| b.name.as_str()), "body", body_element);
        // A joint that was written as a spring is reported as one.
        let between: Vec<usize> = (self.springs.iter().enumerate())
            .filter(|(_, spring)| self.joints[written..sprung].iter().any(|joint| joint.name == spring.name))
            .map(|(i, _)| i)
            .collect();
        let joint_element = |i: usize| match i {
            i if i < written => Element::Joint(i),
            i if i < sprung => Element::Spring(between.get(i - written).copied().unwrap_or(0)),
            i => Element::Zone(flexed.joints[i - sprung]),
        };
        let joint_names =
            unique(&mut checks, self.joints.iter().map(|j| j.name.as_str()), "joint", joint_element);
        unique(&mut checks, self.springs.iter().map(|s| s.name.as_str()), "spring", Element::Spring);
        unique(&mut checks, self.zones.iter().map(|z| z.name.as_str()), "zone", Element::Zone);
        let effector_names = unique(
            &mut checks,
            self.effectors.iter().map(|e| e.name.as_str()),
            "effector",
            Element::Effector,
        );

        for (i, body) in self.bodies.iter().enumerate() {
            for other in body.passes.iter().filter(|other| *other != WORLD) {
                checks.refer(&body_names, other, Element::Body(i), "passes", "body");
            }
        }
        let marks = self.marks();
        let (mark, of_effectors) = (marks.structure(), marks.effectors);
        let bare: Vec<_> = self.bodies.iter().map(|body| body.inertia).collect();
        let zones = self.zones(&mut checks, &body_names, mark);
        let bones = zones
            .iter()
            .filter_map(|zone| zone.body)
            .map(|body| (body.index(), bare[body.index()]))
            .collect();
        // References by name become handles; an element with a broken one is left out of the rest.
        let mut coordinate = 0;
        let mut joints = Vec::with_capacity(self.joints.len());
        for (i, joint) in self.joints.iter().enumerate() {
            let element = Element::Joint(i);
            let parent = if joint.parent == WORLD {
                Some(None)
            } else {
                checks
                    .refer(&body_names, &joint.parent, element, "parent", "body")
                    .map(|b| Some(BodyId::new(b, mark)))
            };
            let child = checks.child(&body_names, joint, i);
            let (freedoms, start) = (freedoms(joint), start_of(joint));
            if let (Some(parent), Some(child), Some(freedoms), Some(start)) = (parent, child, freedoms, start)
            {
                let (name, kind, frame) = (joint.name.clone(), joint.kind.clone(), joint.frame);
                let child = BodyId::new(child, mark);
                let row = 6 * joints.len() - coordinate;
                let count = freedoms.len();
                joints
                    .push((i, Joint { name, kind, parent, child, frame, freedoms, start, coordinate, row }));
                coordinate += count;
            }
        }
        let effectors: Vec<_> = (self.effectors.iter().enumerate())
            .filter_map(|(i, e)| {
                let body = checks.refer(&body_names, &e.body, Element::Effector(i), "body", "body")?;
                Some(Effector { name: e.name.clone(), body: BodyId::new(body, mark), frame: e.frame })
            })
            .collect();
        let loads: Vec<_> = (self.loads.iter().enumerate())
            .filter_map(|(i, l)| {
                let e =
                    checks.refer(&effector_names, &l.effector, Element::Load(i), "effector", "effector")?;
                Some(Load { effector: EffectorId::new(e, of_effectors), wrench: l.wrench })
            })
            .collect();
        let couplings = self.couplings(&mut checks, &joint_names, mark);
        let targets = self.targets(&mut checks, &joint_names, mark);
        let springs = self.point_springs(&mut checks, &body_names, &effector_names, &marks);

        checks.unheld(&self, &joints, &body_names);
        let joints_complete = joints.len() == self.joints.len();
        let indices: Vec<usize> = joints.iter().map(|(i, _)| *i).collect();
        let joints: Vec<Joint> = joints.into_iter().map(|(_, joint)| joint).collect();
        let order = match Order::new(&self.bodies, &joints, mark) {
            Ok(order) => {
                if joints_complete {
                    checks.massless(&self.bodies, &order);
                }
                Some(order)
            }
            Err(cycles) => {
                checks.cycles(&self.bodies, &joints, &indices, cycles);
                None
            }
        };

        match (checks.finish(), order) {
            (Ok(()), Some(order)) => started(Data {
                body_names: handles(body_names, |b| BodyId::new(b, mark)),
                joint_names: handles(joint_names, |j| JointId::new(j, mark)),
                effector_names: handles(effector_names, |e| EffectorId::new(e, of_effectors)),
                name: self.name,
                gravity: self.gravity,
                bodies: self.bodies,
                joints,
                effectors,
                coupled: Vec::new(),
                couplings,
                loads,
                targets,
                springs,
                zones,
                bones,
                world_shapes: self.world_shapes,
                warnings: self.warnings,
                notes: self.notes,
                order,
                marks,
                start,
                loops: Default::default(),
            }),
            (Err(invalid), _) => Err(invalid),
            (Ok(()), None) => unreachable!("cycles are a defect"),
        }
    }

    /// Marks of what is described.
    fn marks(&self) -> Marks {
        let joints = self.joints.iter();
        Marks::new(
            self.bodies.iter().map(|body| body.name.as_str()),
            joints.map(|j| (j.name.as_str(), &j.kind, j.parent.as_str(), j.child.as_str())),
            self.couplings.len(),
            self.effectors.iter().map(|effector| (effector.name.as_str(), effector.body.as_str())),
        )
    }

    /// Makes rotations unit quaternions and inertias symmetric to the last bit. What is so already
    /// keeps its bits, so that a mechanism built again from its own parts is the same one.
    fn settle(&mut self) {
        for body in &mut self.bodies {
            body.pose.settle();
            body.shapes.iter_mut().for_each(|shape| shape.pose.settle());
            body.inertia.inertia.fill_lower_triangle_with_upper_triangle();
        }
        self.world_shapes.iter_mut().for_each(|shape| shape.pose.settle());
        self.joints.iter_mut().for_each(|joint| joint.frame.settle());
        self.effectors.iter_mut().for_each(|effector| effector.frame.settle());
        for spring in &mut self.springs {
            if let SpringStart::Body { frame, .. } = &mut spring.on {
                frame.settle();
            }
        }
        for zone in &mut self.zones {
            zone.shape.pose.settle();
            zone.bonded.iter_mut().for_each(|shape| shape.pose.settle());
        }
    }

    fn couplings(&self, checks: &mut Checks, joints: &HashMap<String, usize>, mark: u32) -> Vec<Coupling> {
        let mut couplings = Vec::new();
        let mut leader: HashMap<usize, usize> = HashMap::new();
        for (i, coupling) in self.couplings.iter().enumerate() {
            let element = Element::Coupling(i);
            let joint = checks.refer(joints, &coupling.joint, element, "joint", "joint");
            let of = checks.refer(joints, &coupling.of, element, "of", "joint");
            let (Some(joint), Some(of)) = (joint, of) else { continue };
            if checks.coupling(self, i, joint, of, &mut leader) {
                couplings.push(Coupling {
                    joint: JointId::new(joint, mark),
                    of: JointId::new(of, mark),
                    ratio: coupling.ratio,
                    offset: coupling.offset,
                });
            }
        }
        couplings
    }

    fn targets(&self, checks: &mut Checks, joints: &HashMap<String, usize>, mark: u32) -> Vec<Target> {
        let mut targets = Vec::new();
        for (i, target) in self.targets.iter().enumerate() {
            let Some(joint) = checks.refer(joints, &target.joint, Element::Target(i), "joint", "joint")
            else {
                continue;
            };
            checks.target(i, target, &self.joints[joint]);
            targets.push(Target {
                joint: JointId::new(joint, mark),
                time: target.time.clone(),
                position: target.position.clone(),
            });
        }
        targets
    }
}

/// Names to positions; repeated, empty and reserved ones are defects.
fn unique<'a>(
    checks: &mut Checks,
    names: impl Iterator<Item = &'a str>,
    what: &str,
    element: impl Fn(usize) -> Element,
) -> HashMap<String, usize> {
    let mut positions = HashMap::new();
    for (i, name) in names.enumerate() {
        if !checks.name(name, what, element(i)) {
            continue;
        }
        match positions.entry(name.to_string()) {
            Entry::Vacant(entry) => {
                entry.insert(i);
            }
            Entry::Occupied(_) => checks.push(
                element(i),
                Some("name"),
                format!("there is already {} `{name}`", with_article(what)),
                "give each its own name".into(),
            ),
        }
    }
    positions
}

fn handles<Id>(positions: HashMap<String, usize>, handle: impl Fn(usize) -> Id) -> HashMap<String, Id> {
    positions.into_iter().map(|(name, i)| (name, handle(i))).collect()
}

/// The mechanism where its joints are to start, loops and couplings closed.
fn started(data: Data) -> Result<Mechanism, InvalidMechanism> {
    let mut mechanism = Mechanism { data: Arc::new(data) };
    let rows = coupled(mechanism.couplings(), mechanism.joints(), mechanism.order(), mechanism.radius());
    Arc::make_mut(&mut mechanism.data).coupled = rows;
    let loops = repeated(&mechanism);
    Arc::make_mut(&mut mechanism.data).loops = loops;
    let given: Vec<(JointId, Vec<f64>)> = (mechanism.joint_ids().zip(mechanism.joints()))
        .filter(|(_, joint)| joint.start.iter().any(|x| *x != 0.0))
        .map(|(id, joint)| (id, joint.start.clone()))
        .collect();
    // Where all coordinates are zero, loops are closed and couplings are off by their offsets.
    let offset = mechanism.couplings().iter().position(|coupling| coupling.offset != 0.0);
    if mechanism.start().is_some() || given.is_empty() && offset.is_none() {
        return Ok(mechanism);
    }
    match pose_at(&mechanism, &given, START_REACHED) {
        Ok(start) => {
            Arc::make_mut(&mut mechanism.data).start = Some(start);
            Ok(mechanism)
        }
        Err(Unposed { joint, why }) => {
            let defect = match (joint.or(given.first().map(|(id, _)| *id)), offset) {
                (None, Some(i)) => {
                    let coupling = &mechanism.couplings()[i];
                    let (name, of) = (&mechanism[coupling.joint].name, &mechanism[coupling.of].name);
                    Defect {
                        element: Element::Coupling(i),
                        field: Some("offset"),
                        message: format!("joint `{name}` cannot start where it follows `{of}`: {why}"),
                        help: "an offset at which all loops and couplings close".into(),
                    }
                }
                (id, _) => {
                    let id = id.expect("a joint is given, or a coupling has an offset");
                    let Joint { name, start, .. } = &mechanism[id];
                    Defect {
                        element: Element::Joint(id.index()),
                        field: Some("start"),
                        message: format!("joint `{name}` cannot start at {start:?}: {why}"),
                        help: "start coordinates at which all loops and couplings close".into(),
                    }
                }
            };
            Err(InvalidMechanism { defects: vec![defect] })
        }
    }
}

/// How far loops and couplings may leave a joint from where it is to start, rad or radii: key frames of robot files
/// have few decimals.
const START_REACHED: f64 = 1e-2;

/// The start coordinates of a joint; `None` if the list has the wrong length (which the checks report).
fn start_of(joint: &JointDescription) -> Option<Vec<f64>> {
    let count = joint.kind.freedoms();
    match &joint.start {
        None => Some(vec![0.0; count]),
        Some(PerFreedom::All(x)) => Some(vec![*x; count]),
        Some(PerFreedom::Each(list)) => (list.len() == count).then(|| list.clone()),
    }
}

/// The freedoms of a joint; `None` if a list has the wrong length (which the checks report).
fn freedoms(joint: &JointDescription) -> Option<Vec<Freedom>> {
    fn spread<T: Copy>(
        freedoms: &mut [Freedom],
        values: &Option<PerFreedom<T>>,
        set: impl Fn(&mut Freedom, T),
    ) -> Option<()> {
        match values {
            None => {}
            Some(PerFreedom::All(value)) => freedoms.iter_mut().for_each(|f| set(f, *value)),
            Some(PerFreedom::Each(values)) if values.len() == freedoms.len() => {
                freedoms.iter_mut().zip(values).for_each(|(f, value)| set(f, *value));
            }
            Some(PerFreedom::Each(_)) => return None,
        }
        Some(())
    }
    let mut freedoms = vec![Freedom::PASSIVE; joint.kind.freedoms()];
    spread(&mut freedoms, &joint.stiffness, |f, x| f.stiffness = x)?;
    spread(&mut freedoms, &joint.damping, |f, x| f.damping = x)?;
    spread(&mut freedoms, &joint.limits, |f, (lower, upper)| {
        f.lower = lower;
        f.upper = upper;
    })?;
    spread(&mut freedoms, &joint.rest, |f, x| f.rest = x)?;
    spread(&mut freedoms, &joint.armature, |f, x| f.armature = x)?;
    spread(&mut freedoms, &joint.friction, |f, x| f.friction = x)?;
    spread(&mut freedoms, &joint.torque_limit, |f, x| f.torque_limit = x)?;
    spread(&mut freedoms, &joint.linear_to, |f, x| f.linear_to = x)?;
    Some(freedoms)
}
