//! `<joint>` and `<freejoint>`. A coordinate of the mechanism is MuJoCo's less `ref`, which is where the file
//! has the joint: limits and rests are shifted by it.

use pliant_core::joints::JointKind;
use pliant_core::mechanism::PerFreedom;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Pose;

use super::compiler::Compiler;
use crate::import::context::Context;
use crate::import::parts::Joint;
use crate::import::xml::Element;

const ATTRIBUTES: [&str; 24] = [
    "actuatorfrclimited",
    "actuatorfrcrange",
    "actuatorgravcomp",
    "armature",
    "axis",
    "class",
    "damping",
    "frictionloss",
    "group",
    "limited",
    "margin",
    "name",
    "pos",
    "range",
    "ref",
    "solimpfriction",
    "solimplimit",
    "solreffriction",
    "solreflimit",
    "springdamper",
    "springref",
    "springyield",
    "stiffness",
    "type",
];

/// What a joint element is.
pub(super) enum Read {
    /// The body moves freely.
    Free,
    /// A joint, the coordinates at which the file has it and at which `springref` is, and its `springdamper` where that is in force.
    Joint(Box<Joint>, [f64; 2], Option<[f64; 2]>),
}

/// Reads a joint that has its defaults. `body` is the pose of its body in the world, `frame` that of the
/// joint's surroundings in the body.
pub(super) fn read(
    element: &Element,
    name: String,
    body: &Pose,
    frame: &Pose,
    compiler: &Compiler,
    context: &mut Context,
) -> Option<Read> {
    if element.name == "freejoint" {
        element.check_attributes(&["name", "group", "align"], context);
        if element.value("align") == Some("true") {
            context.warning_of("alignfree", element.place_of("align"), || {
                "`align` was left out: free bodies keep their own frames".into()
            });
        }
        return Some(Read::Free);
    }
    let known: Vec<&str> = ATTRIBUTES.into_iter().chain(["user"]).collect();
    element.check_attributes(&known, context);
    let mut stiffness = first_of(element, "stiffness", context);
    let mut damping = first_of(element, "damping", context);
    let mut armature = element.number("armature", context).unwrap_or(0.0);
    let mut friction = element.number("frictionloss", context).unwrap_or(0.0);
    for (name, value) in [
        ("stiffness", &mut stiffness),
        ("damping", &mut damping),
        ("armature", &mut armature),
        ("frictionloss", &mut friction),
    ] {
        if *value < 0.0 {
            let message = format!("{}: `{name}` is {value}; it was read as 0", element.what());
            context.warning(element.place_of(name), message);
            *value = 0.0;
        }
    }
    warn_of_left_out(element, context);
    let kind = match element.value("type").map_or("hinge", str::trim) {
        "hinge" => JointKind::Hinge,
        "slide" => JointKind::Prismatic,
        "ball" => JointKind::Ball,
        "free" => {
            if [stiffness, damping, armature, friction].iter().any(|x| *x != 0.0) {
                context.warning_of("free joint springs", &element.place, || {
                    format!(
                        "{}: spring, damper, armature and friction of a free joint were left out",
                        element.what()
                    )
                });
            }
            return Some(Read::Free);
        }
        other => {
            let message = format!("{}: `type` is `{other}`", element.what());
            context.error(element.place_of("type"), message, "hinge, slide, ball or free");
            return None;
        }
    };
    let turns = kind != JointKind::Prismatic;
    let angle = |x: f64| if turns { compiler.angle(x) } else { x };
    let position = *frame * Pose::translation(element.vector("pos", context).unwrap_or_default());
    let origin = body.transform_point(&position.position);
    let mut joint = Joint::new(name, kind.clone(), element.place.clone());
    let reference = element.number("ref", context).map_or(0.0, angle);
    let range = element.vector::<2>("range", context).map(|range| range.map(angle));
    let limited = match element.value("limited").map(str::trim) {
        None | Some("auto") => compiler.auto_limits && range.is_some(),
        Some(_) => element.flag("limited", context) == Some(true),
    };
    let description = &mut joint.description;
    if kind == JointKind::Ball {
        description.frame = Pose::new(body.rotation, origin);
        if let Some([_, most]) = range.filter(|_| limited) {
            context.warning_of("ball limits", element.place_of("range"), || {
                format!(
                    "{}: the limit of a ball joint's angle was put on each of its coordinates",
                    element.what()
                )
            });
            description.limits = Some(PerFreedom::All((-most, most)));
        }
    } else {
        let axis = Vector3::from(element.vector("axis", context).unwrap_or([0.0, 0.0, 1.0]));
        let Some(axis) = axis.try_normalize(1e-150) else {
            let message = format!("{}: `axis` has no direction", element.what());
            context.error(element.place_of("axis"), message, "numbers that are not all zero");
            return None;
        };
        description.frame = Pose::with_z_along(body.rotation * (frame.rotation * axis), origin);
        if let Some([lower, upper]) = range.filter(|_| limited) {
            description.limits = Some(PerFreedom::All((lower - reference, upper - reference)));
        }
    }
    let spring_damper = spring_damper(element, context);
    let spring_reference = element.number("springref", context).map_or(0.0, angle);
    if stiffness > 0.0 || spring_damper.is_some() {
        description.stiffness = Some(PerFreedom::All(stiffness));
        let rest = spring_reference - reference;
        if kind != JointKind::Ball && rest != 0.0 {
            description.rest = Some(PerFreedom::All(rest));
        }
    }
    description.damping = Some(PerFreedom::All(damping)).filter(|_| damping > 0.0);
    description.armature = Some(PerFreedom::All(armature)).filter(|_| armature > 0.0);
    description.friction = Some(PerFreedom::All(friction)).filter(|_| friction > 0.0);
    joint.default_spring = stiffness == 0.0 && spring_damper.is_none();
    Some(Read::Joint(Box::new(joint), [reference, spring_reference], spring_damper))
}

/// The linear part of a polynomial; more is a warning.
pub(super) fn first_of(element: &Element, name: &str, context: &mut Context) -> f64 {
    let Some(list) = element.numbers(name, context) else { return 0.0 };
    if list.iter().skip(1).any(|x| *x != 0.0) {
        context.warning_of(format!("polynomial {name}"), element.place_of(name), || {
            format!("{}: only the linear part of `{name}` was used", element.what())
        });
    }
    list.first().copied().unwrap_or(0.0)
}

/// Time constant and damping ratio, s and 1; not both above zero is none.
fn spring_damper(element: &Element, context: &mut Context) -> Option<[f64; 2]> {
    element.vector::<2>("springdamper", context).filter(|both| both.iter().all(|x| *x > 0.0))
}

fn warn_of_left_out(element: &Element, context: &mut Context) {
    let values = element.numbers("springyield", context).unwrap_or_default();
    if values.iter().any(|x| *x != 0.0) {
        context.warning_of("joint springyield", element.place_of("springyield"), || {
            format!("{}: `springyield` is not supported and was left out", element.what())
        });
    }
}
