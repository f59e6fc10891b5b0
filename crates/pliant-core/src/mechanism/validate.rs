//! The checks behind [`super::MechanismBuilder::build`]: each finds one kind of defect and says what
//! would be right.

mod graph;

use nalgebra::{Matrix3, Vector3};

use super::description::{JointDescription, PerFreedom};
use super::{Body, Defect, Element, Geometry, InvalidMechanism, MechanismBuilder, Shape, WORLD};
use crate::expression::Expression;
use crate::joints::JointKind;
use crate::spatial::{Pose, SpatialInertia};

/// How far the largest principal moment may exceed the sum of the others: files are printed with
/// six digits, and a thin plate or rod sits exactly on the bound.
const TRIANGLE_TOLERANCE: f64 = 1e-6;

/// How much an inertia may differ from its transpose, relative to its largest entry.
const SYMMETRY_TOLERANCE: f64 = 1e-9;

/// How far the norm of a rotation's quaternion may be from one: beyond, it is no rotation.
const NORM_TOLERANCE: f64 = 1e-3;

/// The smallest mass, kg, and largest moment, kg·m², that engines can invert without leaving f64.
const SMALLEST: f64 = 1e-100;

#[derive(Default)]
pub(super) struct Checks {
    defects: Vec<Defect>,
    /// Bodies with a pose or an inertia that no sum can be made of.
    unsound: Vec<usize>,
}

fn finite(x: &Vector3<f64>) -> bool {
    x.iter().all(|x| x.is_finite())
}

impl Checks {
    pub(super) fn push(
        &mut self,
        element: Element,
        field: Option<&'static str>,
        message: String,
        help: String,
    ) {
        self.defects.push(Defect { element, field, message, help });
    }

    /// How many defects there are so far.
    pub(super) fn count(&self) -> usize {
        self.defects.len()
    }

    pub(super) fn finish(self) -> Result<(), InvalidMechanism> {
        if self.defects.is_empty() { Ok(()) } else { Err(InvalidMechanism { defects: self.defects }) }
    }

    /// Whether a name may be used; a defect if not.
    pub(super) fn name(&mut self, name: &str, what: &str, element: Element) -> bool {
        let (message, help) = if name.is_empty() {
            (format!("{} has no name", with_article(what)), "give it one: name = \"…\"")
        } else if name.chars().any(char::is_control) {
            (format!("the {what} name {name:?} has a control character"), "use printable characters")
        } else if what == "body" && name == WORLD {
            ("no body can be called `world`".to_string(), "`world` is the name of the fixed world")
        } else {
            return true;
        };
        self.push(element, Some("name"), message, help.into());
        false
    }

    /// Every number of every element on its own.
    pub(super) fn values(&mut self, builder: &MechanismBuilder) {
        if !finite(&builder.gravity) {
            self.push(
                Element::Mechanism,
                Some("gravity"),
                "gravity is not finite".into(),
                "three finite numbers, m/s²".into(),
            );
        }
        for (i, body) in builder.bodies.iter().enumerate() {
            self.body(i, body);
        }
        for (i, shape) in builder.world_shapes.iter().enumerate() {
            self.shape(Element::WorldShape(i), "the world", shape);
        }
        for (i, joint) in builder.joints.iter().enumerate() {
            self.joint(i, joint);
        }
        for (i, effector) in builder.effectors.iter().enumerate() {
            self.pose(Element::Effector(i), &format!("effector `{}`", effector.name), &effector.frame);
        }
        for (i, load) in builder.loads.iter().enumerate() {
            for (field, part, unit) in
                [("force", &load.wrench.force, "N"), ("torque", &load.wrench.torque, "N·m")]
            {
                if !finite(part) {
                    self.push(
                        Element::Load(i),
                        Some(field),
                        format!("the {field} of the load on `{}` is not finite", load.effector),
                        format!("three finite numbers, {unit}"),
                    );
                }
            }
        }
        for (i, coupling) in builder.couplings.iter().enumerate() {
            for (field, value) in [("ratio", coupling.ratio), ("offset", coupling.offset)] {
                if !value.is_finite() {
                    self.push(
                        Element::Coupling(i),
                        Some(field),
                        format!("the {field} of the coupling of `{}` is not finite", coupling.joint),
                        "a finite number".into(),
                    );
                }
            }
        }
    }

    pub(super) fn pose(&mut self, element: Element, what: &str, pose: &Pose) {
        if !finite(&pose.position) {
            self.push(
                element,
                Some("position"),
                format!("{what}: the position is not finite"),
                "three finite numbers, m".into(),
            );
        }
        if !pose.rotation.coords.iter().all(|x| x.is_finite()) {
            self.push(
                element,
                Some("rotation"),
                format!("{what}: the rotation is not finite"),
                "a quaternion [w, x, y, z] of finite numbers".into(),
            );
            return;
        }
        let norm = pose.rotation.quaternion().norm();
        if (norm - 1.0).abs() > NORM_TOLERANCE {
            self.push(
                element,
                Some("rotation"),
                format!("{what}: the rotation is a quaternion of norm {norm:.4}"),
                "normalise it: w² + x² + y² + z² = 1".into(),
            );
        }
    }

    fn body(&mut self, i: usize, body: &Body) {
        let element = Element::Body(i);
        let what = format!("body `{}`", body.name);
        let before = self.defects.len();
        self.pose(element, &what, &body.pose);
        if let Some((field, message, help)) = inertia_defect(&body.inertia) {
            self.push(element, Some(field), format!("{what}: {message}"), help.into());
        }
        if self.defects.len() > before {
            self.unsound.push(i);
        }
        for (k, shape) in body.shapes.iter().enumerate() {
            self.shape(Element::BodyShape(i, k), &what, shape);
        }
    }

    pub(super) fn shape(&mut self, element: Element, owner: &str, shape: &Shape) {
        let what = format!("a {} shape of {owner}", shape.geometry.name());
        self.pose(element, &what, &shape.pose);
        let mut numbers: Vec<(&'static str, f64)> = Vec::new();
        match &shape.geometry {
            Geometry::Box { size } => numbers.extend(size.iter().map(|s| ("size", *s))),
            Geometry::Ball { radius } => numbers.push(("radius", *radius)),
            Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
                numbers.extend([("radius", *radius), ("half_length", *half_length)]);
            }
            Geometry::Mesh { scale, .. } | Geometry::Convex { scale, .. } => {
                if scale.iter().any(|s| !s.is_finite() || *s == 0.0) {
                    self.push(
                        element,
                        Some("scale"),
                        format!("{what}: the scale must not be zero or infinite"),
                        "three finite factors".into(),
                    );
                }
            }
            Geometry::Plane if !matches!(element, Element::WorldShape(_)) => {
                let message = format!("{what}: a plane is infinite, and cannot move");
                self.push(element, Some("kind"), message, "a [[world.shape]], or a box".into());
            }
            Geometry::Plane => {}
            Geometry::Heightfield { size, heights } => {
                numbers.extend(size.iter().map(|s| ("size", *s)));
                let columns = heights.first().map_or(0, Vec::len);
                let even =
                    heights.len() >= 2 && columns >= 2 && heights.iter().all(|row| row.len() == columns);
                if !even || heights.iter().flatten().any(|h| !h.is_finite()) {
                    self.push(
                        element,
                        Some("heights"),
                        format!("{what}: the heights do not form a grid"),
                        "at least two rows of the same length, at least two, of finite numbers, m".into(),
                    );
                }
            }
        }
        for (field, value) in numbers {
            if !(value.is_finite() && value > 0.0) {
                let message = format!("{what}: {field} must be a positive length, not {value}");
                self.push(element, Some(field), message, "a finite number above zero, m".into());
                break;
            }
        }
        if let Some(density) = shape.density
            && !(density.is_finite() && density > 0.0)
        {
            let message = format!("{what}: the density must be positive, not {density}");
            self.push(element, Some("density"), message, "a finite number above zero, kg/m³".into());
        }
        if let Some(friction) = shape.friction
            && !(friction.is_finite() && friction >= 0.0)
        {
            let message = format!("{what}: the friction must not be negative or infinite, but is {friction}");
            self.push(element, Some("friction"), message, "a finite number, zero or above".into());
        }
        if let Some(restitution) = shape.restitution
            && !(0.0..=1.0).contains(&restitution)
        {
            let message = format!("{what}: the restitution must be between 0 and 1, but is {restitution}");
            self.push(element, Some("restitution"), message, "a number from 0 to 1".into());
        }
        if let Some(part) = shape.color.iter().flatten().find(|part| !(0.0..=1.0).contains(*part)) {
            let message = format!("{what}: a part of the color is {part}");
            self.push(
                element,
                Some("color"),
                message,
                "[red, green, blue] or with opacity, each from 0 to 1".into(),
            );
        }
        for (field, given) in [("friction", shape.friction), ("restitution", shape.restitution)] {
            if given.is_some() && !shape.touches {
                let message = format!("{what}: it has a {field}, but `touches` is false");
                self.push(element, Some(field), message, "leave one of the two out".into());
            }
        }
    }

    fn joint(&mut self, i: usize, joint: &JointDescription) {
        let element = Element::Joint(i);
        let what = format!("joint `{}`", joint.name);
        let before = self.defects.len();
        self.pose(element, &what, &joint.frame);
        let count = joint.kind.freedoms();
        let not_negative: fn(f64) -> bool = |x| x.is_finite() && x >= 0.0;
        let lists = [
            ("stiffness", &joint.stiffness, not_negative, "finite and zero or above, N/m or N·m/rad"),
            ("damping", &joint.damping, not_negative, "finite and zero or above, N·s/m or N·m·s/rad"),
            ("armature", &joint.armature, not_negative, "finite and zero or above, kg or kg·m²"),
            ("friction", &joint.friction, not_negative, "finite and zero or above, N or N·m"),
            ("torque_limit", &joint.torque_limit, |x| x > 0.0, "above zero, N or N·m; inf for none"),
            ("linear_to", &joint.linear_to, |x| x > 0.0, "above zero, m or rad; inf for no bound"),
            ("rest", &joint.rest, f64::is_finite, "finite, m or rad"),
            ("start", &joint.start, f64::is_finite, "finite, m or rad"),
        ];
        for (field, values, valid, right) in lists {
            self.per_freedom(element, &what, &joint.kind, field, values.as_ref(), count);
            if let Some(values) = values
                && let Some(bad) = each(values).iter().find(|x| !valid(**x))
            {
                self.push(
                    element,
                    Some(field),
                    format!("{what}: {field} is {bad}"),
                    format!("it must be {right}"),
                );
            }
        }
        self.per_freedom(element, &what, &joint.kind, "limits", joint.limits.as_ref(), count);
        for (lower, upper) in joint.limits.as_ref().map_or(&[][..], each) {
            let (message, help) = if lower.is_nan() || upper.is_nan() {
                (format!("{what}: a limit is not a number"), "[lower, upper], m or rad; inf for none".into())
            } else if lower > upper {
                (
                    format!("{what}: the lower limit {lower} is above the upper limit {upper}"),
                    format!("write [{upper}, {lower}], m or rad"),
                )
            } else if *lower == f64::INFINITY || *upper == f64::NEG_INFINITY {
                (
                    format!("{what}: no coordinate lies within [{lower}, {upper}]"),
                    "-inf as the lower and inf as the upper limit mean none".into(),
                )
            } else {
                continue;
            };
            self.push(element, Some("limits"), message, help);
            break;
        }
        if let JointKind::Expression(expression) = &joint.kind
            && self.defects.len() == before
        {
            self.rigid(element, &what, expression, joint);
        }
    }

    /// A formula that is no rigid transform somewhere within its limits.
    fn rigid(&mut self, element: Element, what: &str, expression: &Expression, joint: &JointDescription) {
        let limits = match &joint.limits {
            None => vec![(f64::NEG_INFINITY, f64::INFINITY); expression.freedoms()],
            Some(PerFreedom::All(pair)) => vec![*pair; expression.freedoms()],
            Some(PerFreedom::Each(pairs)) => pairs.clone(),
        };
        let Some(q) = expression.not_rigid_within(&limits) else { return };
        let names = expression.formula().freedoms().iter();
        let at: Vec<String> = names.zip(&q).map(|(name, q)| format!("{name} = {q:.4}")).collect();
        let field = if joint.limits.is_some() {
            "limits"
        } else if expression.formula().ready_name().is_some() {
            "ready"
        } else {
            "transform"
        };
        self.push(
            element,
            Some(field),
            format!("{what}: the transform is not rigid at {}", at.join(", ")),
            "give limits within which no root is negative, nothing is divided by zero and tangents are not parallel".into(),
        );
    }

    fn per_freedom<T>(
        &mut self,
        element: Element,
        what: &str,
        kind: &JointKind,
        field: &'static str,
        values: Option<&PerFreedom<T>>,
        count: usize,
    ) {
        let kind = kind.name();
        let (message, help) = match values {
            None => return,
            Some(PerFreedom::Each(v)) if v.len() == count && count > 0 => return,
            Some(PerFreedom::All(_)) if count > 0 => return,
            Some(_) if count == 0 => (
                format!("{what}: a {kind} joint has no freedom that {field} could act on"),
                "leave it out, or choose another kind".to_string(),
            ),
            Some(PerFreedom::Each(v)) => (
                format!(
                    "{what}: {field} has {}, but a {kind} joint has {}",
                    counted(v.len(), "entry", "entries"),
                    counted(count, "freedom", "freedoms")
                ),
                format!("give one value for all, or a list of {count}"),
            ),
            Some(PerFreedom::All(_)) => return,
        };
        self.push(element, Some(field), message, help);
    }
}

/// A number with its noun.
fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// "a body", "an effector".
pub(super) fn with_article(noun: &str) -> String {
    format!("{} {noun}", if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" })
}

/// The values of a list, however it was written.
fn each<T>(values: &PerFreedom<T>) -> &[T] {
    match values {
        PerFreedom::All(value) => std::slice::from_ref(value),
        PerFreedom::Each(values) => values,
    }
}

/// Of a finite inertia.
fn smallest_moment(inertia: &Matrix3<f64>) -> f64 {
    inertia.symmetric_eigenvalues().min()
}

/// Field, message and help if no rigid body has this inertia.
fn inertia_defect(inertia: &SpatialInertia) -> Option<(&'static str, String, &'static str)> {
    let I = &inertia.inertia;
    if !(inertia.mass.is_finite() && inertia.mass >= 0.0) {
        return Some((
            "mass",
            format!("the mass is {}", inertia.mass),
            "it must be finite and zero or above, kg",
        ));
    }
    if !finite(&inertia.center_of_mass) {
        return Some((
            "center_of_mass",
            "the centre of mass is not finite".into(),
            "three finite numbers, m",
        ));
    }
    if I.iter().any(|x| !x.is_finite()) {
        return Some(("inertia", "the inertia is not finite".into(), "three or six finite numbers, kg·m²"));
    }
    if (I - I.transpose()).amax() > SYMMETRY_TOLERANCE * I.amax() {
        return Some(("inertia", "the inertia is not symmetric".into(), "xy = yx, xz = zx and yz = zy"));
    }
    if *I == Matrix3::zeros() {
        return None;
    }
    if inertia.mass == 0.0 {
        return Some(("inertia", "there is inertia without mass".into(), "give a mass above zero, kg"));
    }
    // Moments of a mass distribution satisfy 0 ≤ a ≤ b ≤ c ≤ a + b. Scaled, so that no square overflows.
    let scale = I.amax();
    let mut moments: [f64; 3] = (I / scale).symmetric_eigenvalues().into();
    moments.sort_by(f64::total_cmp);
    let [a, b, c] = moments;
    if a < -TRIANGLE_TOLERANCE * c || a + b < c * (1.0 - TRIANGLE_TOLERANCE) {
        let moments = moments.map(|m| m * scale);
        return Some((
            "inertia",
            format!(
                "no rigid body has the principal moments {:.4e}, {:.4e}, {:.4e} kg·m²",
                moments[0], moments[1], moments[2]
            ),
            "none may be negative and the largest must not exceed the sum of the others",
        ));
    }
    None
}
