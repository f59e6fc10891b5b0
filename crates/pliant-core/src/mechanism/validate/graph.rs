//! What is wrong between elements: names that refer to nothing, couplings, targets, bodies that nothing holds or gives mass, circles.

use std::collections::{HashMap, HashSet};

use super::{Checks, SMALLEST, counted, finite, smallest_moment, with_article};
use crate::mechanism::description::{JointDescription, TargetDescription};
use crate::mechanism::order::{Cycles, Order};
use crate::mechanism::{Body, Element, Joint, MechanismBuilder, WORLD};
use crate::words::closest;

impl Checks {
    /// The position of a name that an element refers to; a defect if there is none.
    pub(in crate::mechanism) fn refer(
        &mut self,
        names: &HashMap<String, usize>,
        name: &str,
        element: Element,
        field: &'static str,
        what: &str,
    ) -> Option<usize> {
        if let Some(i) = names.get(name) {
            return Some(*i);
        }
        // A file with very many broken names gets no guesses: each takes a look at all names.
        let guess =
            if self.defects.len() < 20 { closest(name, names.keys().map(String::as_str)) } else { None };
        let help = match guess {
            Some(near) => format!("did you mean `{near}`?"),
            None if field == "parent" => "name a body of this file, or `world`".into(),
            None => format!("name {} of this file", with_article(what)),
        };
        self.push(element, Some(field), format!("there is no {what} `{name}`"), help);
        None
    }

    /// The position of a joint's child.
    pub(in crate::mechanism) fn child(
        &mut self,
        names: &HashMap<String, usize>,
        joint: &JointDescription,
        i: usize,
    ) -> Option<usize> {
        if joint.child == WORLD {
            self.push(
                Element::Joint(i),
                Some("child"),
                format!("joint `{}` has the world as its child", joint.name),
                "swap parent and child: the world is always a parent".into(),
            );
            return None;
        }
        self.refer(names, &joint.child, Element::Joint(i), "child", "body")
    }

    /// A coupling between two known joints; whether it can be kept.
    pub(in crate::mechanism) fn coupling(
        &mut self,
        builder: &MechanismBuilder,
        i: usize,
        joint: usize,
        of: usize,
        leader: &mut HashMap<usize, usize>,
    ) -> bool {
        let element = Element::Coupling(i);
        let name = |j: usize| &builder.joints[j].name;
        let before = self.defects.len();
        for (field, j) in [("joint", joint), ("of", of)] {
            let count = builder.joints[j].kind.freedoms();
            if count != 1 {
                self.push(
                    element,
                    Some(field),
                    format!(
                        "joint `{}` has {} and cannot be coupled",
                        name(j),
                        counted(count, "freedom", "freedoms")
                    ),
                    "couplings take joints of one freedom: hinge or prismatic".into(),
                );
            }
        }
        if leader.contains_key(&joint) {
            self.push(
                element,
                Some("joint"),
                format!("joint `{}` is coupled already", name(joint)),
                "a joint can follow only one other".into(),
            );
        } else if first_leader(leader, of, joint) == joint {
            self.push(
                element,
                Some("of"),
                format!("joint `{}` would follow itself", name(joint)),
                "the last joint in a chain of couplings must be a free one".into(),
            );
        } else {
            leader.insert(joint, of);
        }
        self.defects.len() == before
    }

    /// A moving set-point of a known joint.
    pub(in crate::mechanism) fn target(
        &mut self,
        i: usize,
        target: &TargetDescription,
        joint: &JointDescription,
    ) {
        let element = Element::Target(i);
        let count = joint.kind.freedoms();
        if target.time.is_empty()
            || target.time.iter().any(|t| !t.is_finite())
            || target.time.windows(2).any(|t| t[0] >= t[1])
        {
            self.push(
                element,
                Some("time"),
                format!("the times of the target of `{}` do not increase", target.joint),
                "at least one finite time, each later than the one before, s".into(),
            );
        }
        if target.position.len() != target.time.len() {
            self.push(
                element,
                Some("position"),
                format!(
                    "the target of `{}` has {} for {}",
                    target.joint,
                    counted(target.position.len(), "position", "positions"),
                    counted(target.time.len(), "time", "times")
                ),
                "give one position for each time".into(),
            );
        }
        if target.position.iter().any(|p| p.len() != count || p.iter().any(|x| !x.is_finite())) {
            self.push(
                element,
                Some("position"),
                format!(
                    "a position of the target of `{}` does not fit its {}",
                    target.joint,
                    counted(count, "freedom", "freedoms")
                ),
                format!("{} for each time, m or rad", counted(count, "finite number", "finite numbers")),
            );
        }
    }

    /// Bodies that nothing holds, and free bases that something does.
    pub(in crate::mechanism) fn unheld(
        &mut self,
        builder: &MechanismBuilder,
        joints: &[(usize, Joint)],
        body_names: &HashMap<String, usize>,
    ) {
        let mut holder: Vec<Option<usize>> = vec![None; builder.bodies.len()];
        for (i, joint) in joints {
            holder[joint.child.index()].get_or_insert(*i);
        }
        // A joint whose parent is unknown still says which body it was meant to hold.
        let broken: HashSet<&str> = if joints.len() == builder.joints.len() {
            HashSet::new()
        } else {
            builder.joints.iter().map(|j| j.child.as_str()).collect()
        };
        // So does a flexure that is wrong.
        let wrong = |i: usize| self.defects.iter().any(|defect| defect.element == Element::Zone(i));
        let flexures = builder.zones.iter().enumerate().filter(|(i, zone)| zone.to.is_some() && wrong(*i));
        let ends = flexures.flat_map(|(_, zone)| [Some(zone.body.as_str()), zone.to.as_deref()]).flatten();
        let broken: HashSet<&str> = broken.into_iter().chain(ends.filter(|name| *name != WORLD)).collect();
        // A joint whose child is unknown was meant to hold one of the bodies that seem unheld.
        let unsure = broken.iter().any(|child| !body_names.contains_key(*child));
        for (i, body) in builder.bodies.iter().enumerate() {
            let element = Element::Body(i);
            match holder[i] {
                None if !body.free && !unsure && !broken.contains(body.name.as_str()) => self.push(
                    element,
                    Some("name"),
                    format!("nothing holds body `{}`", body.name),
                    "add a joint with it as child, or say free = true".into(),
                ),
                Some(j) if body.free => self.push(
                    element,
                    Some("free"),
                    format!("body `{}` is free, but joint `{}` holds it", body.name, builder.joints[j].name),
                    "remove one of the two".into(),
                ),
                _ => {}
            }
        }
    }

    /// Directed cycles of joints.
    pub(in crate::mechanism) fn cycles(
        &mut self,
        bodies: &[Body],
        joints: &[Joint],
        indices: &[usize],
        cycles: Cycles,
    ) {
        let mut joint_between = HashMap::new();
        for (joint, index) in joints.iter().zip(indices) {
            joint_between.entry((joint.parent, joint.child)).or_insert(*index);
        }
        for cycle in cycles.0 {
            let mut names: Vec<&str> = cycle.iter().map(|b| bodies[b.index()].name.as_str()).collect();
            names.push(names[0]);
            if names.len() > 12 {
                names.splice(6..names.len() - 4, ["…"]);
            }
            self.push(
                Element::Joint(joint_between[&(cycle.last().copied(), cycle[0])]),
                Some("child"),
                format!("joints form a cycle: {}", names.join(" → ")),
                "swap parent and child of one of these joints: a loop is a body with two parents, not a cycle of parents"
                    .into(),
            );
        }
    }

    /// Nodes that nothing gives mass.
    pub(in crate::mechanism) fn massless(&mut self, bodies: &[Body], order: &Order) {
        let unsound: HashSet<usize> = self.unsound.iter().filter_map(|b| order.node_of_index(*b)).collect();
        for (_, node) in order.nodes().iter().enumerate().filter(|(n, _)| !unsound.contains(n)) {
            let i = node.head.index();
            let name = &bodies[i].name;
            let (M, moments) = (&node.inertia, &node.inertia.inertia);
            if !(M.mass.is_finite() && finite(&M.center_of_mass) && moments.iter().all(|x| x.is_finite())) {
                self.push(
                    Element::Body(i),
                    Some("mass"),
                    format!("body `{name}` and what is welded to it are too heavy to compute with"),
                    "masses, inertias and distances far below 1e150, in SI units".into(),
                );
            } else if M.mass <= 0.0 {
                self.push(
                    Element::Body(i),
                    Some("mass"),
                    format!("body `{name}` has no mass, and neither has anything welded to it"),
                    "give mass and inertia (or shapes with a density), or weld it to a body with mass or to the world".into(),
                );
            } else if M.mass < SMALLEST || (0.0 < moments.amax() && moments.amax() < SMALLEST) {
                self.push(
                    Element::Body(i),
                    Some(if M.mass < SMALLEST { "mass" } else { "inertia" }),
                    format!("body `{name}` and what is welded to it are too light to compute with"),
                    format!("masses and moments above {SMALLEST:e}, in SI units"),
                );
            } else if moments.amax() == 0.0 || smallest_moment(&(moments / moments.amax())) <= 0.0 {
                self.push(
                    Element::Body(i),
                    Some("inertia"),
                    format!("body `{name}` has mass but turns about some axis without inertia"),
                    "three moments above zero, kg·m²".into(),
                );
            }
        }
    }
}

/// The joint at the head of a row of couplings that starts at `of`; the walk stops early at `until`.
fn first_leader(leader: &HashMap<usize, usize>, of: usize, until: usize) -> usize {
    let mut at = of;
    while at != until
        && let Some(next) = leader.get(&at)
    {
        at = *next;
    }
    at
}
