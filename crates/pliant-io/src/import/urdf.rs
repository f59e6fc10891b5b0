//! URDF to parts.
//!
//! The zero of every joint is the file's pose. What only control and sensing need (transmissions, plugins,
//! effort and velocity limits) is left out without a warning; of materials the color is taken.

use std::collections::{HashMap, HashSet};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, CouplingDescription, Geometry, PerFreedom, Shape, WORLD};
use pliant_core::nalgebra::{Matrix3, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::context::{Context, Place};
use super::parts::{self, Connection, Joint, Link, Parts};
use super::shape;
use super::xml::Element;

/// What a robot may have in addition to links and joints that says nothing about its mechanics.
const SILENT: [&str; 10] = [
    "material",
    "transmission",
    "gazebo",
    "sensor",
    "ros2_control",
    "group",
    "group_state",
    "disable_collisions",
    "static",
    "plugin",
];

/// Reads a robot from the root element.
pub(super) fn read(root: &Element, context: &mut Context) -> Parts {
    if root.child("link").is_none() && context.text(root.place.source).contains("<xacro:") {
        context.error(&root.place, "the file is a xacro, which must be expanded first", "run `xacro` on it");
        return Parts::default();
    }
    root.check_children(&[&["link", "joint"][..], &SILENT].concat(), context);
    let mut parts = Parts { name: root.value("name").unwrap_or_default().to_string(), ..Parts::default() };
    let colors = named_colors(root);
    for element in root.all("link") {
        let link = read_link(element, &colors, context);
        parts.links.push(link);
    }
    let joints: Vec<UrdfJoint> =
        root.all("joint").filter_map(|element| read_joint(element, context)).collect();
    check_parents(&joints, context);
    place_links(&mut parts.links, &joints);
    read_mimics(&joints, &mut parts, context);
    let roots: HashSet<String> = {
        let children: HashSet<&str> = joints.iter().map(|joint| joint.child).collect();
        let names = parts.links.iter().map(|link| &link.body.name);
        names.filter(|name| !children.contains(name.as_str())).cloned().collect()
    };
    warn_of_roots(&parts, &roots, context);
    let index = parts::index(&parts.links);
    for joint in joints {
        connect(joint, &roots, &index, &mut parts, context);
    }
    rename_world(&mut parts, &roots, context);
    parts
}

/// The colors of materials by name: those of the robot, and those that a link defines and others may use.
fn named_colors(root: &Element) -> HashMap<&str, [f64; 4]> {
    let visuals = root.all("link").flat_map(|link| link.all("visual"));
    let materials = root.all("material").chain(visuals.flat_map(|visual| visual.all("material")));
    materials.filter_map(|material| Some((material.value("name")?, own_color(material)?))).collect()
}

fn own_color(material: &Element) -> Option<[f64; 4]> {
    shape::color(material.child("color")?.value("rgba")?)
}

fn read_link(element: &Element, colors: &HashMap<&str, [f64; 4]>, context: &mut Context) -> Link {
    element.check_children(
        &[
            "inertial",
            "visual",
            "collision",
            "contact",
            "self_collision_checking",
            "collision_checking",
            "sensor",
        ],
        context,
    );
    let name = element.required("name", context).unwrap_or_default();
    let mut body = Body::new(name, Pose::identity());
    if let Some(inertial) = element.child("inertial") {
        body.inertia = read_inertia(inertial, name, context);
    }
    body.shapes.extend(element.all("collision").filter_map(|shape| read_shape(shape, true, context)));
    for visual in element.all("visual") {
        let Some(mut shape) = shape::drawn(element, context, |context| read_shape(visual, false, context))
        else {
            continue;
        };
        let material = visual.child("material");
        let named = |material: &Element| colors.get(material.value("name")?).copied();
        shape.color = material.and_then(|material| own_color(material).or_else(|| named(material)));
        body.shapes.push(shape);
    }
    Link { body, place: element.place_of("name").clone() }
}

fn read_inertia(inertial: &Element, link: &str, context: &mut Context) -> SpatialInertia {
    inertial.check_children(&["origin", "mass", "inertia"], context);
    let pose = read_origin(inertial, context);
    let mass = match inertial.child("mass") {
        Some(element) => element.number("value", context),
        None => None,
    };
    let Some(mass) = mass else {
        context.warning_of("missing mass", &inertial.place, || {
            format!("link `{link}`: <inertial> gives no mass; it was read as massless")
        });
        return SpatialInertia::ZERO;
    };
    let mut I = Matrix3::zeros();
    if let Some(element) = inertial.child("inertia") {
        let mut entry = |name: &str| element.number(name, context).unwrap_or(0.0);
        let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(&mut entry);
        let [xy, xz, yz] = ["ixy", "ixz", "iyz"].map(&mut entry);
        I = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    }
    SpatialInertia { mass, center_of_mass: Vector3::zeros(), inertia: I }.in_outer(&pose)
}

/// `<origin xyz rpy>`: fixed axes, roll first.
fn read_origin(element: &Element, context: &mut Context) -> Pose {
    let Some(origin) = element.child("origin") else { return Pose::identity() };
    let position = origin.vector::<3>("xyz", context).unwrap_or_default();
    let rotation = match origin.attribute("rpy") {
        Some(_) => {
            let [roll, pitch, yaw] = origin.vector::<3>("rpy", context).unwrap_or_default();
            UnitQuaternion::from_euler_angles(roll, pitch, yaw)
        }
        None => match origin.vector::<4>("quat_xyzw", context) {
            Some(q) if q.iter().any(|x| *x != 0.0) => {
                UnitQuaternion::from_quaternion(pliant_core::nalgebra::Quaternion::from(q))
            }
            _ => UnitQuaternion::identity(),
        },
    };
    Pose::new(rotation, position.into())
}

fn read_shape(element: &Element, collides: bool, context: &mut Context) -> Option<Shape> {
    let pose = read_origin(element, context);
    let geometry = element.child("geometry")?;
    let Some(kind) = geometry.children.first() else {
        context
            .warning_of("empty geometry", &geometry.place, || "a geometry is empty and was left out".into());
        return None;
    };
    let half = |length: f64| length * 0.5;
    let sizes: &[&str] = match kind.name.as_str() {
        "box" => &["size"],
        "sphere" => &["radius"],
        "cylinder" | "capsule" => &["radius", "length"],
        _ => &[],
    };
    if let Some(absent) = sizes.iter().find(|size| kind.attribute(size).is_none()) {
        context.warning_of("geometry without size", &kind.place, || {
            format!("a geometry <{}> has no `{absent}` and was left out", kind.name)
        });
        return None;
    }
    let geometry = match kind.name.as_str() {
        "box" => Geometry::Box { size: kind.vector::<3>("size", context)?.into() },
        "sphere" => Geometry::Ball { radius: kind.number("radius", context)? },
        "cylinder" => Geometry::Cylinder {
            radius: kind.number("radius", context)?,
            half_length: half(kind.number("length", context)?),
        },
        "capsule" => Geometry::Capsule {
            radius: kind.number("radius", context)?,
            half_length: half(kind.number("length", context)?),
        },
        "mesh" => {
            let file = kind.required("filename", context)?.to_string();
            let scale = kind.numbers("scale", context).unwrap_or_default();
            let scale = match scale[..] {
                [x, y, z] => Vector3::new(x, y, z),
                [s] => Vector3::repeat(s),
                _ => Vector3::repeat(1.0),
            };
            shape::mesh_of_file(&file, scale, collides, kind.place_of("filename"), context)?
        }
        other => {
            context.warning_of(format!("geometry {other}"), &kind.place, || {
                format!("a geometry <{other}> is unknown and was left out")
            });
            return None;
        }
    };
    let shape = Shape { touches: collides, ..Shape::new(geometry).at(pose) };
    shape::is_sound(&shape, &kind.place, context).then_some(shape)
}

/// A joint as the file has it, with its place in the child's frame yet to be found.
struct UrdfJoint<'e> {
    element: &'e Element,
    joint: Joint,
    parent: &'e str,
    child: &'e str,
    /// The child's frame in the parent's.
    origin: Pose,
    axis: Vector3<f64>,
    floating: bool,
}

fn read_joint<'e>(element: &'e Element, context: &mut Context) -> Option<UrdfJoint<'e>> {
    const KNOWN: [&str; 12] = [
        "origin",
        "parent",
        "child",
        "axis",
        "limit",
        "dynamics",
        "mimic",
        "safety_controller",
        "calibration",
        "hardwareInterface",
        "actuator",
        "material",
    ];
    element.check_children(&KNOWN, context);
    let name = element.required("name", context)?;
    let kind_word = element.required("type", context)?;
    let kind = match kind_word {
        "revolute" | "continuous" => JointKind::Hinge,
        "prismatic" => JointKind::Prismatic,
        "planar" => JointKind::Planar,
        "fixed" => JointKind::Fixed,
        "floating" => JointKind::Bushing,
        "spherical" | "ball" => JointKind::Ball,
        _ => {
            let message = format!("joint `{name}`: there is no joint of type `{kind_word}`");
            let help = "one of revolute, continuous, prismatic, planar, floating, fixed";
            context.error(element.place_of("type"), message, help);
            return None;
        }
    };
    let mut end = |which: &str| match element.child(which) {
        Some(end) => end.required("link", context),
        None => {
            let help = format!("add <{which} link=\"…\"/>");
            context.error(&element.place, format!("joint `{name}` has no {which}"), help);
            None
        }
    };
    let (parent, child) = (end("parent"), end("child"));
    let (parent, child) = (parent?, child?);

    let mut joint = Joint::new(name, kind.clone(), element.place_of("name").clone());
    joint.default_spring = kind != JointKind::Fixed && kind != JointKind::Bushing;
    read_dynamics(element, &mut joint, context);
    if matches!(kind_word, "revolute" | "prismatic") {
        read_limit(element, &mut joint, context);
    }
    let mut axis = Vector3::x();
    if let Some(element) = element.child("axis")
        && let Some(given) = element.vector::<3>("xyz", context)
    {
        axis = given.into();
        if axis.amax() == 0.0 && !matches!(kind, JointKind::Fixed | JointKind::Bushing | JointKind::Ball) {
            let place = element.place_of("xyz");
            context.warning(place, format!("joint `{name}`: the axis has no length; x was used"));
        }
        if axis.amax() == 0.0 {
            axis = Vector3::x();
        }
    }
    let origin = read_origin(element, context);
    Some(UrdfJoint { element, joint, parent, child, origin, axis, floating: kind_word == "floating" })
}

fn read_dynamics(element: &Element, joint: &mut Joint, context: &mut Context) {
    let Some(dynamics) = element.child("dynamics").filter(|_| joint.description.kind != JointKind::Fixed)
    else {
        return;
    };
    let name = joint.description.name.clone();
    match dynamics.number("damping", context) {
        Some(damping) if damping < 0.0 => {
            let place = dynamics.place_of("damping");
            context.warning(place, format!("joint `{name}`: the damping is {damping}; it was read as 0"));
        }
        Some(damping) if damping > 0.0 => joint.description.damping = Some(PerFreedom::All(damping)),
        _ => {}
    }
    match dynamics.number("friction", context) {
        Some(friction) if friction < 0.0 => {
            let place = dynamics.place_of("friction");
            context.warning(place, format!("joint `{name}`: the friction is {friction}; it was read as 0"));
        }
        Some(friction) if friction > 0.0 => joint.description.friction = Some(PerFreedom::All(friction)),
        _ => {}
    }
    // Bullet's and Drake's words for a spring of the joint.
    let stiffness = dynamics.number("spring_stiffness", context).filter(|k| *k > 0.0);
    if let Some(stiffness) = stiffness.filter(|_| joint.description.kind != JointKind::Bushing) {
        joint.description.stiffness = Some(PerFreedom::All(stiffness));
        if let Some(rest) = dynamics.number("spring_reference", context) {
            joint.description.rest = Some(PerFreedom::All(rest));
        }
    }
}

fn read_limit(element: &Element, joint: &mut Joint, context: &mut Context) {
    let name = &joint.description.name;
    let Some(limit) = element.child("limit") else {
        context.warning_of("missing limit", &element.place, || {
            format!("joint `{name}` must have a <limit>, but has none; it was read as a joint without limits")
        });
        return;
    };
    // A bound that is not given is zero, by the format's own words.
    let lower = limit.bound("lower", context).unwrap_or(0.0);
    let upper = limit.bound("upper", context).unwrap_or(0.0);
    if lower == upper && limit.attribute("lower").is_none() && limit.attribute("upper").is_none() {
        context.warning_of("missing bounds", &limit.place, || {
            format!("joint `{name}`: its <limit> has no `lower` and `upper`; it was read as a joint without limits")
        });
        return;
    }
    joint.description.limits = Some(PerFreedom::All((lower, upper)));
}

/// A link hangs on one joint: what closes a loop cannot be said in URDF.
fn check_parents(joints: &[UrdfJoint<'_>], context: &mut Context) {
    let mut carrier: HashMap<&str, &str> = HashMap::new();
    for joint in joints {
        let name = joint.joint.description.name.as_str();
        if let Some(other) = carrier.insert(joint.child, name) {
            let place =
                joint.element.child("child").map_or(&joint.element.place, |child| child.place_of("link"));
            let message =
                format!("link `{}` is the child of two joints, `{other}` and `{name}`", joint.child);
            context.error(
                place,
                message,
                "one parent for each link; add loops in a scene file that imports this one",
            );
        }
    }
}

/// Poses of all links in the world with every joint at zero. Those in a circle stay at the origin.
fn place_links(links: &mut [Link], joints: &[UrdfJoint<'_>]) {
    let mut below: HashMap<&str, Vec<&UrdfJoint<'_>>> = HashMap::new();
    for joint in joints {
        below.entry(joint.parent).or_default().push(joint);
    }
    let children: HashSet<&str> = joints.iter().map(|joint| joint.child).collect();
    let mut poses: HashMap<String, Pose> = HashMap::new();
    let mut stack: Vec<(&str, Pose)> = (links.iter())
        .map(|link| link.body.name.as_str())
        .chain([WORLD])
        .filter(|name| !children.contains(name))
        .map(|name| (name, Pose::identity()))
        .collect();
    while let Some((name, pose)) = stack.pop() {
        if poses.insert(name.to_string(), pose).is_some() {
            continue;
        }
        stack.extend(below.get(name).into_iter().flatten().map(|joint| (joint.child, pose * joint.origin)));
    }
    for link in links {
        link.body.pose = poses.get(&link.body.name).copied().unwrap_or_else(Pose::identity);
    }
}

fn read_mimics(joints: &[UrdfJoint<'_>], parts: &mut Parts, context: &mut Context) {
    let kinds: HashMap<&str, &JointKind> =
        joints.iter().map(|j| (j.joint.description.name.as_str(), &j.joint.description.kind)).collect();
    for UrdfJoint { element, joint, .. } in joints {
        let Some(mimic) = element.child("mimic") else { continue };
        let name = &joint.description.name;
        let Some(of) = mimic.required("joint", context) else { continue };
        let single = |joint: &str| kinds.get(joint).map(|kind| kind.freedoms() == 1);
        let place = mimic.place_of("joint");
        match (single(name), single(of)) {
            (Some(true), Some(true)) => {}
            (_, None) => {
                context.warning_of("mimic of nothing", place, || {
                    format!("joint `{name}` mimics `{of}`, which does not exist; it moves on its own")
                });
                continue;
            }
            _ => {
                context.warning_of("mimic of several freedoms", place, || {
                    format!(
                        "joint `{name}` cannot mimic `{of}`: only joints of one freedom can; it was left out"
                    )
                });
                continue;
            }
        }
        let coupling = CouplingDescription {
            joint: name.clone(),
            of: of.to_string(),
            ratio: mimic.number("multiplier", context).unwrap_or(1.0),
            offset: mimic.number("offset", context).unwrap_or(0.0),
        };
        parts.couplings.push((coupling, place.clone()));
    }
}

fn warn_of_roots(parts: &Parts, roots: &HashSet<String>, context: &mut Context) {
    if roots.len() < 2 {
        return;
    }
    let names: Vec<&str> =
        parts.links.iter().map(|link| link.body.name.as_str()).filter(|name| roots.contains(*name)).collect();
    let place =
        parts.links.iter().find(|link| link.body.name == names[1]).map_or(Place::START, |l| l.place.clone());
    context.warning(
        &place,
        format!("`{}` and `{}` are both roots: no joint carries them", names[0], names[1..].join("`, `")),
    );
}

fn connect(
    urdf: UrdfJoint<'_>,
    roots: &HashSet<String>,
    index: &HashMap<String, usize>,
    parts: &mut Parts,
    context: &Context,
) {
    let UrdfJoint { mut joint, parent, child, axis, floating, .. } = urdf;
    let Some(link) = index.get(child).map(|i| &mut parts.links[*i]) else {
        // The mechanism's checks say that there is no such link.
        parts.connections.push(Connection {
            parent: parent.into(),
            child: child.into(),
            joints: vec![joint],
        });
        return;
    };
    // What floats on something that does not move is free.
    let base_moves = context.options.free_base && parent != WORLD;
    if floating && (parent == WORLD || roots.contains(parent)) && !base_moves {
        link.body.free = true;
        return;
    }
    joint.description.frame = match joint.description.kind {
        JointKind::Hinge | JointKind::Prismatic | JointKind::Planar => {
            link.body.pose * Pose::with_z_along(axis, Vector3::zeros())
        }
        _ => link.body.pose,
    };
    parts.connections.push(Connection { parent: parent.into(), child: child.into(), joints: vec![joint] });
}

/// A massless root of the name `world` is the world; any other link of that name gets another.
fn rename_world(parts: &mut Parts, roots: &HashSet<String>, context: &mut Context) {
    let Some(i) = parts.links.iter().position(|link| link.body.name == WORLD) else { return };
    let body = &parts.links[i].body;
    if roots.contains(WORLD) && body.inertia == SpatialInertia::ZERO {
        let Link { body, place } = parts.links.remove(i);
        parts.world_shapes.extend(shape::of_world(body.shapes).map(|shape| (shape, place.clone())));
        return;
    }
    let mut name = "world_link".to_string();
    while parts.links.iter().any(|link| link.body.name == name) {
        name.push('_');
    }
    let place = parts.links[i].place.clone();
    context.warning(&place, format!("`world` is the name of the fixed world: the link was renamed `{name}`"));
    parts.links[i].body.name = name.clone();
    for connection in &mut parts.connections {
        for end in [&mut connection.parent, &mut connection.child] {
            if end == WORLD {
                *end = name.clone();
            }
        }
    }
}
