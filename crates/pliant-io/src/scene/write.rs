//! Mechanism to text. Every number is written with as many digits as bring its bits back, and what is
//! as a reader would assume it is left out.

use std::fmt::Write as _;

use pliant_core::expression::{Formula, Parameter};
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, Freedom, Geometry, Joint, Mechanism, STANDARD_GRAVITY, Shape, ZoneDescription, ZoneSolid,
};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

/// Writes a mechanism as a scene file. Reading it back gives the same mechanism, bit for bit.
///
/// ```
/// use pliant_core::gallery;
/// use pliant_io::scene;
///
/// let hand = gallery::build("hand")?;
/// let text = scene::write(&hand); // a file to change and to load again
/// assert!(text.starts_with("[mechanism]\nname = \"hand\""));
/// assert_eq!(scene::read(&text, "hand.toml")?, hand);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(mechanism: &Mechanism) -> String {
    let mut out = Writer::default();
    let gravity = mechanism.gravity();
    let default_gravity = same(gravity.as_slice(), &STANDARD_GRAVITY);
    if !mechanism.name().is_empty() || !default_gravity {
        out.header("[mechanism]");
        if !mechanism.name().is_empty() {
            out.text("name", mechanism.name());
        }
        if !default_gravity {
            out.list("gravity", gravity.as_slice());
        }
    }
    for shape in mechanism.world_shapes() {
        out.header("[[world.shape]]");
        out.shape(shape);
    }
    mechanism.bare_bodies().iter().for_each(|body| out.body(body));
    for joint in mechanism.joints() {
        out.joint(joint, mechanism.parent_name(joint), &mechanism[joint.child].name);
    }
    out.rest(mechanism);
    out.text
}

/// Whether two lists are the same bit for bit: a negative zero is not a zero.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// A number as TOML: the shortest digits that bring the same bits back. TOML knows Rust's `inf` and
/// exponents, and Rust's debug form always has a point or an exponent, which makes it a float.
fn number(x: f64) -> String {
    format!("{x:?}")
}

fn numbers(list: &[f64]) -> String {
    let list: Vec<String> = list.iter().map(|x| number(*x)).collect();
    format!("[{}]", list.join(", "))
}

fn rows(rows: &[Vec<f64>]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| numbers(row)).collect();
    format!("[{}]", rows.join(", "))
}

/// A string in quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => write!(quoted, "\\u{:04X}", u32::from(c)).expect("writing to a string"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A string as it stands, if it has several lines and nothing that would be read otherwise.
fn long_text(text: &str) -> String {
    let plain = |c: char| c == '\n' || c == '\t' || !(c.is_control() || c == '\\');
    if text.contains('\n') && !text.contains("\"\"\"") && !text.ends_with('"') && text.chars().all(plain) {
        format!("\"\"\"\n{text}\"\"\"")
    } else {
        quoted(text)
    }
}

/// Numbers in lists in lists.
fn parameter(value: &Parameter) -> String {
    match value {
        Parameter::Number(x) => number(*x),
        Parameter::List(list) => {
            let list: Vec<String> = list.iter().map(parameter).collect();
            format!("[{}]", list.join(", "))
        }
    }
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn header(&mut self, header: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(header);
        self.text.push('\n');
    }

    fn raw(&mut self, key: &str, value: &str) {
        for part in [key, " = ", value, "\n"] {
            self.text.push_str(part);
        }
    }

    fn text(&mut self, key: &str, value: &str) {
        self.raw(key, &quoted(value));
    }

    fn number(&mut self, key: &str, value: f64) {
        self.raw(key, &number(value));
    }

    fn list(&mut self, key: &str, values: &[f64]) {
        self.raw(key, &numbers(values));
    }

    fn pose(&mut self, pose: &Pose) {
        if !same(pose.position.as_slice(), &[0.0; 3]) {
            self.list("position", pose.position.as_slice());
        }
        let q = &pose.rotation;
        let rotation = [q.w, q.i, q.j, q.k];
        if !same(&rotation, &[1.0, 0.0, 0.0, 0.0]) {
            self.list("rotation", &rotation);
        }
    }

    fn body(&mut self, body: &Body) {
        self.header("[[body]]");
        self.text("name", &body.name);
        self.pose(&body.pose);
        self.inertia(body);
        if body.free {
            self.raw("free", "true");
        }
        if !body.passes.is_empty() {
            let names: Vec<String> = body.passes.iter().map(|name| quoted(name)).collect();
            self.raw("passes", &format!("[{}]", names.join(", ")));
        }
        for shape in &body.shapes {
            self.header("[[body.shape]]");
            self.shape(shape);
        }
    }

    /// Mass is written unless the body has none, and neither have its shapes a density to give it some.
    fn inertia(&mut self, body: &Body) {
        let SpatialInertia { mass, center_of_mass, inertia } = &body.inertia;
        let zero = same(&[*mass], &[0.0])
            && same(center_of_mass.as_slice(), &[0.0; 3])
            && same(inertia.as_slice(), &[0.0; 9]);
        if zero && body.shapes.iter().all(|shape| shape.density.is_none()) {
            return;
        }
        self.number("mass", *mass);
        if !same(center_of_mass.as_slice(), &[0.0; 3]) {
            self.list("center_of_mass", center_of_mass.as_slice());
        }
        if !(*mass == 0.0 && same(inertia.as_slice(), &[0.0; 9])) {
            self.list("inertia", &moments(inertia));
        }
    }

    fn shape(&mut self, shape: &Shape) {
        self.text("kind", shape.geometry.name());
        match &shape.geometry {
            Geometry::Box { size } => self.list("size", size.as_slice()),
            Geometry::Ball { radius } => self.number("radius", *radius),
            Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
                self.number("radius", *radius);
                self.number("half_length", *half_length);
            }
            Geometry::Mesh { file, scale } | Geometry::Convex { file, scale } => self.file(file, scale),
            Geometry::Plane => {}
            Geometry::Heightfield { size, heights } => {
                self.list("size", size);
                self.raw("heights", &rows(heights));
            }
        }
        self.pose(&shape.pose);
        if let Some(density) = shape.density {
            self.number("density", density);
        }
        if let Some(friction) = shape.friction {
            self.number("friction", friction);
        }
        if let Some(restitution) = shape.restitution {
            self.number("restitution", restitution);
        }
        if !shape.touches {
            self.raw("touches", "false");
        }
        if let Some(color) = &shape.color {
            self.list("color", if color[3] == 1.0 { &color[..3] } else { color });
        }
    }

    fn file(&mut self, file: &str, scale: &Vector3<f64>) {
        self.text("file", file);
        if same(scale.as_slice(), &[scale.x; 3]) {
            if scale.x != 1.0 {
                self.number("scale", scale.x);
            }
        } else {
            self.list("scale", scale.as_slice());
        }
    }

    fn joint(&mut self, joint: &Joint, parent: &str, child: &str) {
        self.header("[[joint]]");
        self.text("name", &joint.name);
        self.text("kind", joint.kind.name());
        if let JointKind::Expression(expression) = &joint.kind {
            self.formula(expression.formula());
        }
        self.text("parent", parent);
        self.text("child", child);
        self.pose(&joint.frame);
        let of = |value: fn(&Freedom) -> f64| joint.freedoms.iter().map(value).collect::<Vec<_>>();
        self.per_freedom("stiffness", &of(|f| f.stiffness));
        self.per_freedom("damping", &of(|f| f.damping));
        self.limits(&joint.freedoms);
        self.per_freedom("rest", &of(|f| f.rest));
        self.per_freedom("armature", &of(|f| f.armature));
        self.per_freedom("friction", &of(|f| f.friction));
        if joint.freedoms.iter().any(|f| f.torque_limit < f64::INFINITY) {
            self.per_freedom("torque_limit", &of(|f| f.torque_limit));
        }
        if joint.freedoms.iter().any(|f| f.linear_to < f64::INFINITY) {
            self.per_freedom("linear_to", &of(|f| f.linear_to));
        }
        self.per_freedom("start", &joint.start);
    }

    /// What moves a joint of kind `expression`.
    fn formula(&mut self, formula: &Formula) {
        match formula.ready_name() {
            Some(name) => self.text("ready", name),
            None => {
                for (key, names) in [("lengths", formula.lengths()), ("angles", formula.angles())] {
                    if !names.is_empty() {
                        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                        self.raw(key, &format!("[{}]", names.join(", ")));
                    }
                }
                self.raw("transform", &long_text(formula.text()));
            }
        }
        if !formula.parameters().is_empty() {
            let list = formula.parameters().iter();
            let list: Vec<String> = list.map(|(name, x)| format!("{name} = {}", parameter(x))).collect();
            self.raw("parameters", &format!("{{ {} }}", list.join(", ")));
        }
    }

    /// Zeros are what a reader assumes.
    fn per_freedom(&mut self, key: &str, values: &[f64]) {
        let Some(first) = values.first() else { return };
        if same(values, &vec![0.0; values.len()]) {
            return;
        }
        if same(values, &vec![*first; values.len()]) {
            self.number(key, *first);
        } else {
            self.list(key, values);
        }
    }

    /// No limits are what a reader assumes.
    fn limits(&mut self, freedoms: &[Freedom]) {
        let pairs: Vec<[f64; 2]> = freedoms.iter().map(|f| [f.lower, f.upper]).collect();
        let Some(first) = pairs.first() else { return };
        let equal = pairs.iter().all(|pair| same(pair, first));
        if equal && *first == [f64::NEG_INFINITY, f64::INFINITY] {
            return;
        }
        if equal {
            self.list("limits", first);
        } else {
            let pairs: Vec<Vec<f64>> = pairs.iter().map(|pair| pair.to_vec()).collect();
            self.raw("limits", &rows(&pairs));
        }
    }

    /// Effectors, couplings, loads, targets and springs.
    fn rest(&mut self, mechanism: &Mechanism) {
        for effector in mechanism.effectors() {
            self.header("[[effector]]");
            self.text("name", &effector.name);
            self.text("body", &mechanism[effector.body].name);
            self.pose(&effector.frame);
        }
        for coupling in mechanism.couplings() {
            self.header("[[coupling]]");
            self.text("joint", &mechanism[coupling.joint].name);
            self.text("of", &mechanism[coupling.of].name);
            if coupling.ratio != 1.0 {
                self.number("ratio", coupling.ratio);
            }
            if !same(&[coupling.offset], &[0.0]) {
                self.number("offset", coupling.offset);
            }
        }
        for load in mechanism.loads() {
            self.header("[[load]]");
            self.text("effector", &mechanism[load.effector].name);
            let (force, torque) = (load.wrench.force, load.wrench.torque);
            let no_torque = same(torque.as_slice(), &[0.0; 3]);
            if no_torque || !same(force.as_slice(), &[0.0; 3]) {
                self.list("force", force.as_slice());
            }
            if !no_torque {
                self.list("torque", torque.as_slice());
            }
        }
        for target in mechanism.targets() {
            self.header("[[target]]");
            self.text("joint", &mechanism[target.joint].name);
            self.list("time", &target.time);
            if target.position.iter().all(|position| position.len() == 1) {
                self.list("position", &target.position.concat());
            } else {
                self.raw("position", &rows(&target.position));
            }
        }
        for spring in mechanism.springs() {
            self.header("[[spring]]");
            self.text("name", &spring.name);
            match spring.effector {
                Some(effector) => self.text("effector", &mechanism[effector].name),
                None => {
                    self.text("body", &mechanism[spring.body].name);
                    self.pose(&spring.frame);
                }
            }
            match &spring.time[..] {
                [] => self.list("point", &spring.point[0]),
                time => {
                    self.list("time", time);
                    let points: Vec<Vec<f64>> = spring.point.iter().map(|point| point.to_vec()).collect();
                    self.raw("point", &rows(&points));
                }
            }
            self.number("stiffness", spring.stiffness);
            for (key, value) in [
                ("turning_stiffness", spring.turning_stiffness),
                ("damping", spring.damping),
                ("turning_damping", spring.turning_damping),
            ] {
                if !same(&[value], &[0.0]) {
                    self.number(key, value);
                }
            }
        }
        for zone in mechanism.zones() {
            self.zone(&zone.description);
        }
    }

    fn zone(&mut self, zone: &ZoneDescription) {
        self.header("[[zone]]");
        self.text("name", &zone.name);
        self.text("body", &zone.body);
        self.shape(&zone.shape);
        if !matches!(zone.solid, Some(ZoneSolid::Green(_))) {
            self.number("young", zone.young);
            self.number("poisson", zone.poisson);
        }
        if !same(&[zone.damping], &[0.0]) {
            self.number("damping", zone.damping);
        }
        if let Some(resolution) = zone.resolution {
            self.number("resolution", resolution);
        }
        if let Some(nodes) = zone.nodes {
            self.raw("nodes", &nodes.to_string());
        }
        if let Some(region) = &zone.bonded {
            self.header("[zone.bonded]");
            self.shape(region);
        }
    }
}

/// The diagonal, or six moments if there are others.
fn moments(inertia: &Matrix3<f64>) -> Vec<f64> {
    let diagonal = [inertia[(0, 0)], inertia[(1, 1)], inertia[(2, 2)]];
    let products = [inertia[(0, 1)], inertia[(0, 2)], inertia[(1, 2)]];
    if same(&products, &[0.0; 3]) { diagonal.to_vec() } else { [diagonal, products].concat() }
}
