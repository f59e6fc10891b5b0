//! A mechanism as a user looks at it: joints, effectors and bodies by name, and the mechanism with joints started elsewhere, its base placed,
//! other effectors or more springs. Errors begin with the option or argument that is wrong.

use std::collections::HashSet;

use super::words::{count, did_you_mean, first_few, quantity};
use crate::engine::Warning;
use crate::linear::Reference;
use crate::mechanism::{
    BodyId, EffectorDescription, EffectorId, JointId, Mechanism, PerFreedom, SpringDescription, SpringEnd,
    SpringStart,
};
use crate::spatial::Pose;

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An effector.
    Effector(EffectorId),
    /// A body, by its link frame.
    Body(BodyId),
}

/// The effector of this name, or the body.
pub fn find(option: &str, name: &str, mechanism: &Mechanism) -> Result<Place, String> {
    let effector = mechanism.find_effector(name).map(Place::Effector);
    let found = effector.or_else(|| mechanism.find_body(name).map(Place::Body));
    found.ok_or_else(|| no_place(option, name, mechanism))
}

fn no_place(option: &str, name: &str, mechanism: &Mechanism) -> String {
    let effectors: Vec<&str> = mechanism.effectors().iter().map(|e| e.name.as_str()).collect();
    let bodies = mechanism.bodies().iter().map(|b| b.name.as_str());
    let guess = did_you_mean(name, effectors.iter().copied().chain(bodies));
    let there = first_few(&effectors);
    format!(
        "{option}: there is no effector or body `{name}`{guess}\n\
         effectors: {there}; the name of a body works too\n\
         to add an effector, put this into the scene file (`pliant export` writes one):\n  \
         [[effector]]\n  name = \"{}\"\n  body = \"…\"",
        name.escape_debug()
    )
}

/// The joint of this name.
pub fn find_joint(option: &str, name: &str, mechanism: &Mechanism) -> Result<JointId, String> {
    mechanism.find_joint(name).ok_or_else(|| {
        let joints: Vec<&str> = mechanism.joints().iter().map(|joint| joint.name.as_str()).collect();
        let guess = did_you_mean(name, joints.iter().copied());
        format!("{option}: there is no joint `{name}`{guess}\njoints: {}", first_few(&joints))
    })
}

/// Refuses a list that has not one number for each freedom of a joint.
pub fn one_per_freedom(option: &str, mechanism: &Mechanism, id: JointId, given: usize) -> Result<(), String> {
    let (name, freedoms) = (&mechanism[id].name, mechanism[id].freedoms.len());
    if freedoms == given {
        return Ok(());
    }
    Err(format!(
        "{option}: joint `{name}` has {}, not {given}; give one number for each, translations (m) before rotations (rad)",
        count(freedoms, "freedom")
    ))
}

/// Positions beyond limits, each with its limit.
pub fn beyond_limits(option: &str, mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (id, position) in positions {
        let joint = &mechanism[*id];
        for (k, (freedom, q)) in joint.freedoms.iter().zip(position).enumerate() {
            let unit = if k < joint.kind.translations() { "m" } else { "rad" };
            let limit = q.clamp(freedom.lower, freedom.upper);
            let measure = (q - limit).abs();
            if measure > 0.0 {
                let (name, at, limit) = (&joint.name, quantity(*q, unit), quantity(limit, unit));
                let text = format!("{option}: joint `{name}` is at {at}, beyond its limit of {limit}");
                warnings.push(Warning { kind: "limits", measure, unit, text });
            }
        }
    }
    warnings
}

/// The mechanism with these joints at these positions, and the others as near to where they were as loops and couplings let
/// them.
pub fn starting_at(mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)]) -> Result<Mechanism, String> {
    let reference = Reference::at_positions(mechanism, positions).map_err(|error| error.to_string())?;
    let mut builder = mechanism.to_builder();
    for joint in mechanism.joints() {
        let start = &reference.coordinates()[joint.coordinates()];
        if joint.start != start {
            let described = builder.joint_mut(&joint.name).expect("a joint of this mechanism");
            described.start = Some(PerFreedom::Each(start.to_vec()));
        }
    }
    builder.build().map_err(|error| error.to_string())
}

/// The mechanism with its free base there, and with it all that joints connect to it.
pub fn placed(option: &str, mechanism: &Mechanism, pose: &Pose) -> Result<Mechanism, String> {
    let loose = mechanism.loose();
    let free = |body: &BodyId| mechanism[*body].free;
    let bases: Vec<BodyId> = mechanism.body_ids().filter(free).filter(|b| !loose.contains(b)).collect();
    let bases = if bases.is_empty() { &loose } else { &bases };
    let base = match bases[..] {
        [base] => base,
        [] => {
            return Err(format!(
                "{option} places a free base, but this mechanism has none: the root of a robot file is made free when it is read, \
                 and `free = true` frees a body of a scene"
            ));
        }
        _ => {
            let names: Vec<&str> = bases.iter().map(|b| mechanism[*b].name.as_str()).collect();
            return Err(format!(
                "{option} places one free base, but this mechanism has {} free bodies: {}; place them in a scene file",
                names.len(),
                first_few(&names)
            ));
        }
    };
    let mut moved = HashSet::from([base]);
    let joined = |moved: &HashSet<BodyId>, a: Option<BodyId>, b: Option<BodyId>| {
        b.filter(|b| a.is_some_and(|a| moved.contains(&a)) && !moved.contains(b))
    };
    loop {
        let mut ends = mechanism.joints().iter().map(|joint| (joint.parent, Some(joint.child)));
        let next = ends.find_map(|(a, b)| joined(&moved, a, b).or_else(|| joined(&moved, b, a)));
        match next {
            Some(body) => moved.insert(body),
            None => break,
        };
    }
    if let Some(joint) = mechanism.joints().iter().find(|j| j.parent.is_none() && moved.contains(&j.child)) {
        return Err(format!(
            "{option}: joint `{}` connects `{}` to the world, so that its base is not free",
            joint.name, mechanism[base].name
        ));
    }
    let motion = *pose * mechanism[base].pose.inverse();
    let mut builder = mechanism.to_builder();
    for body in &moved {
        let body = builder.body_mut(&mechanism[*body].name).expect("a body of this mechanism");
        body.pose = motion * body.pose;
    }
    for joint in mechanism.joints().iter().filter(|joint| moved.contains(&joint.child)) {
        let described = builder.joint_mut(&joint.name).expect("a joint of this mechanism");
        described.frame = motion * described.frame;
    }
    builder.build().map_err(|error| error.to_string())
}

/// The mechanism with these effectors alone, and those on which loads act.
pub fn with_effectors(
    option: &str,
    mechanism: &Mechanism,
    names: &[String],
    loaded: impl Fn(&str) -> bool,
) -> Result<Mechanism, String> {
    let mut builder = mechanism.to_builder();
    let scene: HashSet<&str> =
        mechanism.loads().iter().map(|load| mechanism[load.effector].name.as_str()).collect();
    builder.retain_effectors(|e| names.contains(&e.name) || scene.contains(&*e.name) || loaded(&e.name));
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(format!("{option}: `{name}` is named twice"));
        }
        if let Place::Body(_) = find(option, name, mechanism)? {
            let frame = Pose::identity();
            builder.effector(EffectorDescription { name: name.clone(), body: name.clone(), frame });
        }
    }
    builder.build().map_err(|error| error.to_string())
}

/// A spring to a point of the world, by the name of what it acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpring {
    /// An effector or a body.
    pub name: String,
    /// m, world axes.
    pub point: [f64; 3],
    /// N/m.
    pub stiffness: f64,
}

/// The mechanism with these springs, as those of its scene.
pub fn with_springs(
    option: &str,
    mechanism: &Mechanism,
    springs: &[PointSpring],
) -> Result<Mechanism, String> {
    let mut builder = mechanism.to_builder();
    let mut taken: HashSet<String> = mechanism.springs().iter().map(|spring| spring.name.clone()).collect();
    for PointSpring { name, point, stiffness } in springs {
        let on = match find(option, name, mechanism)? {
            Place::Effector(_) => SpringStart::Effector(name.clone()),
            Place::Body(_) => SpringStart::Body { body: name.clone(), frame: Pose::identity() },
        };
        let mut own = name.clone();
        for k in 2.. {
            if taken.insert(own.clone()) {
                break;
            }
            own = format!("{name} {k}");
        }
        let spring = SpringDescription::new(own, on, SpringEnd::Point(*point));
        builder.spring(spring.stiffness(*stiffness));
    }
    builder.build().map_err(|error| error.to_string())
}
