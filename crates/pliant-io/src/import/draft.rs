//! A robot that has its meaning but can still be changed: a scene file lays its own words over it, then
//! what nobody has said is filled in.

use std::collections::HashSet;

use pliant_core::mechanism::{
    CouplingDescription, Defect, EffectorDescription, Element, LoadDescription, Mechanism, MechanismBuilder,
    PerFreedom, Shape, TargetDescription,
};
use pliant_core::spatial::SpatialInertia;

use super::context::{Context, Place};
use super::meaning::{self, Tree};
use super::parts::{Joint, Link};

/// Natural frequency at which the default springs hold each joint against what it carries, Hz. At
/// 10 Hz an arm of half a metre sags by about g/(l ω²) = 5 mrad: held, and visibly compliant.
pub(crate) const DEFAULT_FREQUENCY: f64 = 10.0;

/// See the [module](self). Each element with where it was read.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The robot's name, or nothing.
    pub(crate) name: String,
    /// Gravity, if the file says so.
    pub(crate) gravity: Option<[f64; 3]>,
    /// Bodies.
    pub(crate) links: Vec<Link>,
    /// Joints, those of loops last.
    pub(crate) joints: Vec<Joint>,
    /// Couplings.
    pub(crate) couplings: Vec<(CouplingDescription, Place)>,
    /// Effectors; until the defaults are chosen, the sites of the file.
    pub(crate) effectors: Vec<(EffectorDescription, Place)>,
    /// Loads.
    pub(crate) loads: Vec<(LoadDescription, Place)>,
    /// Shapes that do not move.
    pub(crate) world_shapes: Vec<(Shape, Place)>,
    /// Set-points over time.
    pub(crate) targets: Vec<(TargetDescription, Place)>,
    /// Whether it starts in a key frame of the file.
    pub(crate) in_key_frame: bool,
}

impl Draft {
    /// Leaves out couplings of joints that the scene has fixed, and tells.
    pub(crate) fn drop_stuck_couplings(&mut self, context: &mut Context) {
        meaning::drop_stuck_couplings(&mut self.couplings, &self.joints, context);
    }

    /// Where the start that the file gives leaves loops or couplings open, the file's pose is kept, and that is told.
    pub(super) fn drop_open_start(&mut self, context: &mut Context) {
        // What else is wrong is reported when all is built.
        let Err(invalid) = self.quiet_builder().build() else { return };
        let Some(Defect { element, message, .. }) =
            invalid.defects.iter().find(|_| invalid.defects.iter().all(|d| d.field == Some("start")))
        else {
            return;
        };
        let place = self.place(*element).cloned().unwrap_or(Place::START);
        context.warning(&place, format!("{message}; all start in the file's pose instead"));
        self.joints.iter_mut().for_each(|joint| joint.description.start = None);
        self.in_key_frame = false;
    }

    /// Joints of which nothing is said are held as by PD control, and that is told. For each freedom,
    /// with the inertia I that it carries in the file's pose: k = I ω², d = 2 I ω (critical), at rest
    /// where it starts. Joints that follow others are passive.
    pub(crate) fn add_default_springs(&mut self, context: &mut Context) {
        let tree = Tree::new(&self.links, &self.joints);
        let mut carried: Vec<SpatialInertia> = self.links.iter().map(|link| link.body.inertia).collect();
        for &i in tree.order.iter().rev() {
            if let Some(p) = tree.parent[i] {
                let offset = self.links[p].body.pose.inverse_times(&self.links[i].body.pose);
                carried[p] = carried[p].welded(&carried[i].in_outer(&offset));
            }
        }
        let followers: HashSet<&str> = self.couplings.iter().map(|(c, _)| c.joint.as_str()).collect();
        let omega = std::f64::consts::TAU * DEFAULT_FREQUENCY;
        let mut count = 0;
        for joint in &mut self.joints {
            let Joint { description, default_spring: true, .. } = joint else { continue };
            let freedoms = description.kind.freedoms();
            let Some(child) = tree.find(&description.child).filter(|_| freedoms > 0) else { continue };
            if description.stiffness.is_some() || followers.contains(description.name.as_str()) {
                continue;
            }
            // I = Sᵀ M S, in the joint's frame.
            let M = carried[child].in_outer(&description.frame.inverse_times(&self.links[child].body.pose));
            let (M, S) = (M.matrix(), description.kind.subspace(&[0.0; 6][..freedoms]));
            let spread = |values: &Option<PerFreedom<f64>>, f: usize| match values {
                None => 0.0,
                Some(PerFreedom::All(x)) => *x,
                Some(PerFreedom::Each(list)) => list.get(f).copied().unwrap_or(0.0),
            };
            let armature = description.armature.clone();
            let inertia: Vec<f64> = (0..freedoms)
                .map(|f| (S.column(f).transpose() * M * S.column(f))[0] + spread(&armature, f))
                .collect();
            if inertia.iter().any(|I| !I.is_finite()) {
                continue;
            }
            let damping = description.damping.take();
            let damping =
                (0..freedoms).map(|f| spread(&damping, f).max(2.0 * inertia[f] * omega)).collect::<Vec<_>>();
            let stiffness = inertia.iter().map(|I| I * omega * omega).collect::<Vec<_>>();
            description.stiffness = Some(PerFreedom::Each(stiffness));
            description.damping = Some(PerFreedom::Each(damping));
            // A start that cannot be is reported once, as such.
            let sound = |start: &PerFreedom<f64>| match start {
                PerFreedom::All(q) => q.is_finite(),
                PerFreedom::Each(list) => list.len() == freedoms && list.iter().all(|q| q.is_finite()),
            };
            if description.rest.is_none() {
                description.rest = description.start.clone().filter(sound);
            }
            count += 1;
        }
        if count > 0 {
            let joints = if count == 1 { "1 joint is".into() } else { format!("{count} joints are") };
            context.note(format!(
                "no springs are given: {joints} held as by PD control, at {DEFAULT_FREQUENCY} Hz against what each \
                 carries and critically damped; a scene file with `import` can say otherwise"
            ));
        }
    }

    /// The mechanism; `None` if something is wrong with it, which is reported.
    pub(crate) fn build(mut self, context: &mut Context) -> Option<Mechanism> {
        self.add_default_effectors();
        self.add_default_springs(context);
        if context.has_errors() {
            return None;
        }
        match self.builder(context).build() {
            Ok(mechanism) => Some(mechanism),
            Err(invalid) => {
                for Defect { element, message, help, .. } in invalid.defects {
                    let place = self.place(element).cloned().unwrap_or(Place::START);
                    context.error_once(&place, message, help);
                }
                None
            }
        }
    }

    /// Everything, warnings and notes included, for the mechanism's checks.
    pub(crate) fn builder(&self, context: &Context) -> MechanismBuilder {
        let mut builder = self.quiet_builder();
        for warning in context.warnings() {
            builder.warning(warning);
        }
        for note in context.notes() {
            builder.note(note.as_str());
        }
        builder
    }

    /// Everything, without warnings and notes.
    pub(super) fn quiet_builder(&self) -> MechanismBuilder {
        let mut builder = MechanismBuilder::new(self.name.as_str());
        if let Some(gravity) = self.gravity {
            builder.gravity(gravity);
        }
        for link in &self.links {
            builder.body(link.body.clone());
        }
        for joint in &self.joints {
            builder.joint(joint.description.clone());
        }
        for (effector, _) in &self.effectors {
            builder.effector(effector.clone());
        }
        for (coupling, _) in &self.couplings {
            builder.coupling(coupling.clone());
        }
        for (load, _) in &self.loads {
            builder.load(load.clone());
        }
        for (target, _) in &self.targets {
            builder.target(target.clone());
        }
        for (shape, _) in &self.world_shapes {
            builder.world_shape(shape.clone());
        }
        builder
    }

    /// Where an element was read.
    pub(crate) fn place(&self, element: Element) -> Option<&Place> {
        fn second<T>((_, place): &(T, Place)) -> &Place {
            place
        }
        match element {
            Element::Mechanism => None,
            Element::Body(i) | Element::BodyShape(i, _) => self.links.get(i).map(|link| &link.place),
            Element::WorldShape(i) => self.world_shapes.get(i).map(second),
            Element::Joint(i) => self.joints.get(i).map(|joint| &joint.place),
            Element::Effector(i) => self.effectors.get(i).map(second),
            Element::Coupling(i) => self.couplings.get(i).map(second),
            Element::Load(i) => self.loads.get(i).map(second),
            Element::Target(i) => self.targets.get(i).map(second),
        }
    }
}
