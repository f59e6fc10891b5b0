//! A robot that has its meaning but can still be changed: a scene file lays its own words over it, then
//! what no file says is filled in.

use pliant_core::mechanism::{
    CouplingDescription, Defect, EffectorDescription, Element, LoadDescription, Mechanism, MechanismBuilder,
    Shape, TargetDescription,
};

use super::context::{Context, Place};
use super::meaning;
use super::parts::{Joint, Link};

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
    /// Leaves out couplings of joints that the scene has fixed, with a warning.
    pub(crate) fn drop_stuck_couplings(&mut self, context: &mut Context) {
        meaning::drop_stuck_couplings(&mut self.couplings, &self.joints, context);
    }

    /// Where the start that the file gives leaves loops or couplings open, the file's pose is kept, with a warning.
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
            Element::Spring(_) | Element::Zone(_) => None,
        }
    }
}
