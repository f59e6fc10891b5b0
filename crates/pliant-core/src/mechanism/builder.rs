//! From descriptions, which refer by name, to a mechanism, which is valid.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use nalgebra::Vector3;

use super::description::{
    CouplingDescription, EffectorDescription, JointDescription, LoadDescription, PerFreedom,
    TargetDescription,
};
use super::validate::{Checks, with_article};
use super::{
    Body, BodyId, Coupling, Defect, Effector, EffectorId, Element, Freedom, InvalidMechanism, Joint, JointId,
    Load, Mechanism, STANDARD_GRAVITY, Shape, Target, WORLD,
};
use crate::full::{Unposed, pose_at};
use crate::order::Order;

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
    pub(super) world_shapes: Vec<Shape>,
    pub(super) warnings: Vec<String>,
    pub(super) notes: Vec<String>,
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
    pub fn build(mut self) -> Result<Mechanism, InvalidMechanism> {
        let mut checks = Checks::default();
        checks.values(&self);
        self.settle();

        let body_names =
            unique(&mut checks, self.bodies.iter().map(|b| b.name.as_str()), "body", Element::Body);
        let joint_names =
            unique(&mut checks, self.joints.iter().map(|j| j.name.as_str()), "joint", Element::Joint);
        let effector_names = unique(
            &mut checks,
            self.effectors.iter().map(|e| e.name.as_str()),
            "effector",
            Element::Effector,
        );

        // References by name become handles; an element with a broken one is left out of the rest.
        let mut joints = Vec::with_capacity(self.joints.len());
        for (i, joint) in self.joints.iter().enumerate() {
            let element = Element::Joint(i);
            let parent = if joint.parent == WORLD {
                Some(None)
            } else {
                checks
                    .refer(&body_names, &joint.parent, element, "parent", "body")
                    .map(|b| Some(BodyId::from_index(b)))
            };
            let child = checks.child(&body_names, joint, i);
            let (freedoms, start) = (freedoms(joint), start(joint));
            if let (Some(parent), Some(child), Some(freedoms), Some(start)) = (parent, child, freedoms, start)
            {
                let (name, kind, frame) = (joint.name.clone(), joint.kind.clone(), joint.frame);
                let child = BodyId::from_index(child);
                joints.push((i, Joint { name, kind, parent, child, frame, freedoms, start }));
            }
        }
        let effectors: Vec<_> = (self.effectors.iter().enumerate())
            .filter_map(|(i, e)| {
                let body = checks.refer(&body_names, &e.body, Element::Effector(i), "body", "body")?;
                Some(Effector { name: e.name.clone(), body: BodyId::from_index(body), frame: e.frame })
            })
            .collect();
        let loads: Vec<_> = (self.loads.iter().enumerate())
            .filter_map(|(i, l)| {
                let e =
                    checks.refer(&effector_names, &l.effector, Element::Load(i), "effector", "effector")?;
                Some(Load { effector: EffectorId::from_index(e), wrench: l.wrench })
            })
            .collect();
        let couplings = self.couplings(&mut checks, &joint_names);
        let targets = self.targets(&mut checks, &joint_names);

        checks.unheld(&self, &joints, &body_names);
        let joints_complete = joints.len() == self.joints.len();
        let indices: Vec<usize> = joints.iter().map(|(i, _)| *i).collect();
        let joints: Vec<Joint> = joints.into_iter().map(|(_, joint)| joint).collect();
        let order = match Order::new(&self.bodies, &joints) {
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
            (Ok(()), Some(order)) => started(Mechanism {
                body_names: handles(body_names, BodyId::from_index),
                joint_names: handles(joint_names, JointId::from_index),
                effector_names: handles(effector_names, EffectorId::from_index),
                first_coordinate: first_coordinates(&joints),
                name: self.name,
                gravity: self.gravity,
                bodies: self.bodies,
                joints,
                effectors,
                couplings,
                loads,
                targets,
                world_shapes: self.world_shapes,
                warnings: self.warnings,
                notes: self.notes,
                order,
                start: None,
            }),
            (Err(invalid), _) => Err(invalid),
            (Ok(()), None) => unreachable!("cycles are a defect"),
        }
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
    }

    fn couplings(&self, checks: &mut Checks, joints: &HashMap<String, usize>) -> Vec<Coupling> {
        let mut couplings = Vec::new();
        let mut leader: HashMap<usize, usize> = HashMap::new();
        for (i, coupling) in self.couplings.iter().enumerate() {
            let element = Element::Coupling(i);
            let joint = checks.refer(joints, &coupling.joint, element, "joint", "joint");
            let of = checks.refer(joints, &coupling.of, element, "of", "joint");
            let (Some(joint), Some(of)) = (joint, of) else { continue };
            if checks.coupling(self, i, joint, of, &mut leader) {
                couplings.push(Coupling {
                    joint: JointId::from_index(joint),
                    of: JointId::from_index(of),
                    ratio: coupling.ratio,
                    offset: coupling.offset,
                });
            }
        }
        couplings
    }

    fn targets(&self, checks: &mut Checks, joints: &HashMap<String, usize>) -> Vec<Target> {
        let mut targets = Vec::new();
        for (i, target) in self.targets.iter().enumerate() {
            let Some(joint) = checks.refer(joints, &target.joint, Element::Target(i), "joint", "joint")
            else {
                continue;
            };
            checks.target(i, target, &self.joints[joint]);
            targets.push(Target {
                joint: JointId::from_index(joint),
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

/// Running sum of the joints' freedoms.
fn first_coordinates(joints: &[Joint]) -> Vec<usize> {
    let mut first = vec![0];
    for joint in joints {
        first.push(first[first.len() - 1] + joint.freedoms.len());
    }
    first
}

/// The mechanism where its joints are to start, loops and couplings closed.
fn started(mut mechanism: Mechanism) -> Result<Mechanism, InvalidMechanism> {
    let given: Vec<(JointId, Vec<f64>)> = (mechanism.joints.iter().enumerate())
        .filter(|(_, joint)| joint.start.iter().any(|x| *x != 0.0))
        .map(|(j, joint)| (JointId::from_index(j), joint.start.clone()))
        .collect();
    let Some((first, _)) = given.first() else { return Ok(mechanism) };
    match pose_at(&mechanism, &given, START_REACHED) {
        Ok(start) => {
            mechanism.start = Some(Box::new(start));
            Ok(mechanism)
        }
        Err(Unposed { joint, why }) => {
            let joint = joint.unwrap_or(*first);
            let name = &mechanism.joint(joint).name;
            let defect = Defect {
                element: Element::Joint(joint.index()),
                field: Some("start"),
                message: format!("joint `{name}` cannot start at {:?}: {why}", mechanism.joint(joint).start),
                help: "start coordinates at which all loops and couplings close".into(),
            };
            Err(InvalidMechanism { defects: vec![defect] })
        }
    }
}

/// How far loops and couplings may leave a joint from where it is to start, rad or radii: key frames of robot files
/// have few decimals.
const START_REACHED: f64 = 1e-2;

/// The start coordinates of a joint; `None` if the list has the wrong length (which the checks report).
fn start(joint: &JointDescription) -> Option<Vec<f64>> {
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
    Some(freedoms)
}
