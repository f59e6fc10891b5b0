//! Text to mechanism: the top of a file, its small elements, and the way back from a defect of the
//! mechanism to the text it belongs to.

use std::collections::HashSet;
use std::ops::Range;

use pliant_core::mechanism::{
    CouplingDescription, Defect, EffectorDescription, Element, LoadDescription, Mechanism, MechanismBuilder,
    SpringDescription, SpringEnd, SpringStart, TargetDescription,
};
use pliant_core::spatial::Wrench;
use toml::de::DeTable;

use super::body::{read_body, read_shapes};
use super::joint::read_joint;
use super::keys::section;
use super::overlay::{Overlay, together};
use super::report::Report;
use super::table::Table;
use super::zone::read_zone;
use crate::diagnostic::{Finding, SceneErrors};
use crate::import::{Context, Options};

/// Reads a mechanism from the text of a scene file; `file` is the name that errors show.
///
/// All errors come at once. A file that is not valid TOML gets only its syntax errors, since nothing
/// else in it can be trusted.
///
/// ```
/// let text = r#"
///     [[body]]
///     name = "bob"
///     position = [0, 0, -1]
///     [[body.shape]]
///     kind = "ball"
///     radius = 0.1
///     density = 1000
///     [[joint]]
///     name = "pivot"
///     kind = "ball"
///     parent = "world"
///     child = "bob"
/// "#;
/// let mechanism = pliant_io::scene::read(text, "pendulum.toml")?;
/// assert_eq!(mechanism.bodies()[0].name, "bob");
/// # Ok::<(), pliant_io::SceneErrors>(())
/// ```
pub fn read(text: &str, file: &str) -> Result<Mechanism, SceneErrors> {
    read_with(text, file, &Options::default())
}

/// The same, with what the user says about a robot file that the scene imports.
pub fn read_with(text: &str, file: &str, options: &Options) -> Result<Mechanism, SceneErrors> {
    let (root, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        return Err(SceneErrors::new(file, text, syntax_findings(text, &syntax)));
    }
    let root = Table::new("file", 1, root.get_ref(), 0..0);
    read_root(&root, text, file, options)
        .map_err(|(findings, context)| together(findings, context, file, text))
}

/// What the parser found, the first on each line: the others mostly follow from it.
fn syntax_findings(text: &str, errors: &[toml::de::Error]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = (errors.iter())
        .map(|error| {
            let (message, help) = match error.message().split_once(", expected ") {
                Some((message, "nothing")) => (message, "remove it".into()),
                Some(("invalid mantissa" | "invalid fraction" | "invalid exponent", _)) => (
                    "a number lacks digits",
                    "digits before and after a point, and after `e`, such as 0.5 or 1e-3".into(),
                ),
                Some((message, expected)) => (message, format!("expected {expected}")),
                None if error.message() == "duplicate key" => ("repeated key", "give it only once".into()),
                None => (error.message(), "not valid TOML".into()),
            };
            let span = error.span().unwrap_or(text.len()..text.len());
            Finding { span, message: format!("cannot read the file: {message}"), help }
        })
        .collect();
    findings.sort_by_key(|finding| finding.span.start);
    findings.dedup_by(|next, kept| {
        let between = kept.span.start.min(text.len())..next.span.start.min(text.len());
        !text.as_bytes()[between].contains(&b'\n')
    });
    if let Some(i) = findings.iter().position(|finding| is_unclosed_list(text, finding)) {
        findings.truncate(i + 1);
        findings[i].help = "a comma is missing, or `]` before this line".into();
    }
    findings
}

/// Whether a comma is missed at the start of a line: most likely a list was not closed above it, and
/// everything below is taken for its entries.
fn is_unclosed_list(text: &str, finding: &Finding) -> bool {
    let before = text.get(..finding.span.start).unwrap_or(text).trim_end_matches([' ', '\t']);
    before.ends_with('\n') && finding.message.ends_with("missing comma between array elements")
}

/// What is wrong with the scene, and with the robot it imports.
type Wrong = (Vec<Finding>, Option<Box<Context>>);

fn read_root(root: &Table<'_>, text: &str, file: &str, options: &Options) -> Result<Mechanism, Wrong> {
    let mut report = Report::new(text, file, options);
    root.check_keys(&[section("Top of the file")], &mut report);
    let mut scene = Scene::default();
    if root.has("import") {
        match Overlay::read(root, file, options, &mut report) {
            Ok(overlay) => scene.overlay = Some(overlay),
            Err(context) => return Err((report.findings, context)),
        }
    } else if root.has("free_base") {
        let message = "`free_base` is given, but no `import`".to_string();
        let help = "say free = true of a body";
        root.error("free_base", root.place("free_base"), message, help, &mut report);
    }
    let complete = scene.read(root, &mut report);
    let context = |overlay: Option<Overlay<'_>>| overlay.map(|overlay| overlay.context);
    if !complete {
        return Err((report.findings, context(scene.overlay)));
    }
    let builder = std::mem::take(&mut scene.builder);
    match builder.build() {
        Ok(mechanism) if report.findings.is_empty() => Ok(mechanism),
        Ok(_) => Err((report.findings, context(scene.overlay))),
        Err(invalid) => {
            scene.report_defects(&invalid.defects, &mut report);
            Err((report.findings, context(scene.overlay)))
        }
    }
}

/// The elements given to the builder and, in the same order, the tables they came from.
#[derive(Default)]
struct Scene<'t> {
    builder: MechanismBuilder,
    /// The robot that the scene starts from; its elements come before those of the tables.
    overlay: Option<Overlay<'t>>,
    mechanism: Option<Table<'t>>,
    bodies: Vec<Table<'t>>,
    body_shapes: Vec<Vec<Table<'t>>>,
    world_shapes: Vec<Table<'t>>,
    joints: Vec<Table<'t>>,
    effectors: Vec<Table<'t>>,
    couplings: Vec<Table<'t>>,
    loads: Vec<Table<'t>>,
    targets: Vec<Table<'t>>,
    springs: Vec<Table<'t>>,
    zones: Vec<Table<'t>>,
    /// Whether the kind of some joint could not be read.
    unknown_kinds: bool,
}

impl<'t> Scene<'t> {
    /// Gives all elements to the builder; whether that is enough for it to check them against each other.
    fn read(&mut self, root: &Table<'t>, report: &mut Report) -> bool {
        let mut bodies = root.tables("body", None, report);
        let mut joints = root.tables("joint", None, report);
        let effectors = root.tables("effector", None, report);
        // What changes the robot comes first: its defaults depend on it.
        if let Some(overlay) = &mut self.overlay {
            if let Ok(bodies) = &mut bodies {
                bodies.retain(|table| match table.text("match", report) {
                    Ok(None) => true,
                    Ok(Some(pattern)) => {
                        overlay.change_bodies(table, pattern, report);
                        false
                    }
                    Err(_) => false,
                });
            }
            if let Ok(joints) = &mut joints {
                joints.retain(|table| match table.text("match", report) {
                    Ok(None) => true,
                    Ok(Some(pattern)) => {
                        overlay.change_joints(table, pattern, report);
                        false
                    }
                    Err(_) => false,
                });
            }
            self.builder = overlay.builder(root.has("effector"));
        }
        self.read_mechanism(root, report);
        let couplings = root.tables("coupling", None, report);
        let loads = root.tables("load", None, report);
        let targets = root.tables("target", None, report);
        let springs = root.tables("spring", None, report);
        let zones = root.tables("zone", None, report);
        let has_bodies = root.has("body") || self.overlay.is_some();
        if !has_bodies {
            let message = "the file has no body".to_string();
            report.add(0..0, message, "add one: [[body]], with name = \"…\" below it".into());
        }
        let mut complete = has_bodies && [&bodies, &joints, &effectors].iter().all(|list| list.is_ok());

        for table in bodies.unwrap_or_default() {
            let (body, shapes) = read_body(&table, report);
            self.builder.body(body);
            self.bodies.push(table);
            self.body_shapes.push(shapes);
        }
        for table in joints.unwrap_or_default() {
            complete &= self.read_joint(table, report);
        }
        effectors.unwrap_or_default().into_iter().for_each(|table| self.read_effector(table, report));
        couplings.unwrap_or_default().into_iter().for_each(|table| self.read_coupling(table, report));
        loads.unwrap_or_default().into_iter().for_each(|table| self.read_load(table, report));
        targets.unwrap_or_default().into_iter().for_each(|table| self.read_target(table, report));
        springs.unwrap_or_default().into_iter().for_each(|table| self.read_spring(table, report));
        for table in zones.unwrap_or_default() {
            if let Ok(zone) = read_zone(&table, report) {
                self.builder.zone(zone);
                self.zones.push(table);
            }
        }
        complete
    }

    /// `[mechanism]` and `[[world.shape]]`.
    fn read_mechanism(&mut self, root: &Table<'t>, report: &mut Report) {
        if let Ok(Some(table)) = root.table("mechanism", report) {
            table.check_keys(&[section("[mechanism]")], report);
            if let Ok(Some(name)) = table.text("name", report) {
                self.builder.name(name);
            }
            if let Ok(Some(gravity)) = table.vector("gravity", report) {
                self.builder.gravity(gravity);
            }
            self.mechanism = Some(table);
        }
        if let Ok(Some(table)) = root.table("world", report) {
            table.check_keys(&[section("[world]")], report);
            let mut shapes = Vec::new();
            (self.world_shapes, _) = read_shapes(&table, "the world".into(), &mut shapes, report);
            shapes.into_iter().for_each(|shape| {
                self.builder.world_shape(shape);
            });
        }
    }

    /// Whether it is a joint of its own.
    fn read_joint(&mut self, table: Table<'t>, report: &mut Report) -> bool {
        if let Some(pattern) = table.value("match") {
            let message = "`match` is given, but the scene imports nothing".to_string();
            let help = "add import = \"…\" at the top, or write the joint in full, with its name";
            table.error("match", pattern.span(), message, help, report);
            return false;
        }
        let (joint, kind_known) = read_joint(&table, report);
        self.unknown_kinds |= !kind_known;
        self.builder.joint(joint);
        self.joints.push(table);
        true
    }

    fn read_effector(&mut self, table: Table<'t>, report: &mut Report) {
        if let Some(overlay) = &self.overlay
            && let Ok(Some(pattern)) = table.text("match", report)
        {
            for effector in overlay.effectors(&table, pattern, report) {
                self.builder.effector(effector);
                self.effectors.push(table.clone());
            }
            return;
        }
        table.check_keys(&[section("[[effector]]")], report);
        let name = table.required("name", "give it one: name = \"…\"", table.text("name", report), report);
        let body = table.required("body", "name a body", table.text("body", report), report);
        self.builder.effector(EffectorDescription {
            name: name.unwrap_or_default().into(),
            body: body.unwrap_or_default().into(),
            frame: table.pose(report),
        });
        self.effectors.push(table);
    }

    fn read_coupling(&mut self, table: Table<'t>, report: &mut Report) {
        table.check_keys(&[section("[[coupling]]")], report);
        let help = "name the joint that follows";
        let joint = table.required("joint", help, table.text("joint", report), report);
        let of = table.required("of", "name the joint that leads", table.text("of", report), report);
        self.builder.coupling(CouplingDescription {
            joint: joint.unwrap_or_default().into(),
            of: of.unwrap_or_default().into(),
            ratio: table.number("ratio", report).ok().flatten().unwrap_or(1.0),
            offset: table.number("offset", report).ok().flatten().unwrap_or(0.0),
        });
        self.couplings.push(table);
    }

    fn read_load(&mut self, table: Table<'t>, report: &mut Report) {
        table.check_keys(&[section("[[load]]")], report);
        let effector = table.text("effector", report);
        let effector = table.required("effector", "name the effector it acts on", effector, report);
        let force = table.vector::<3>("force", report).ok().flatten().unwrap_or_default();
        let torque = table.vector::<3>("torque", report).ok().flatten().unwrap_or_default();
        if !table.has("force") && !table.has("torque") {
            let help = "give force = [x, y, z], N, or torque = [x, y, z], N·m, or both";
            let place = table.place("force");
            table.error("force", place, "neither `force` nor `torque` is given".into(), help, report);
        }
        self.builder.load(LoadDescription {
            effector: effector.unwrap_or_default().into(),
            wrench: Wrench { force: force.into(), torque: torque.into() },
        });
        self.loads.push(table);
    }

    fn read_target(&mut self, table: Table<'t>, report: &mut Report) {
        table.check_keys(&[section("[[target]]")], report);
        let joint = table.required("joint", "name a joint", table.text("joint", report), report);
        let time = table.numbers("time", report);
        let time = table.required("time", "give time = [0.0, …], s", time, report);
        let position = table.rows("position", report);
        let position = table.required("position", "give one position for each time", position, report);
        // A target refers to a joint and nothing refers to it: without its lists it can be left out.
        if let (Ok(time), Ok(position)) = (time, position) {
            let joint = joint.unwrap_or_default().into();
            self.builder.target(TargetDescription { joint, time, position });
            self.targets.push(table);
        }
    }

    fn read_spring(&mut self, table: Table<'t>, report: &mut Report) {
        table.check_keys(&[section("[[spring]]")], report);
        let before = report.findings.len();
        let name = table.required("name", "give it one: name = \"…\"", table.text("name", report), report);
        let on = match (table.text("body", report), table.text("effector", report)) {
            (Ok(Some(body)), Ok(None)) => SpringStart::Body { body: body.into(), frame: table.pose(report) },
            (Ok(None), Ok(Some(effector))) => {
                if let Some(key) = ["position", "rotation", "rpy"].into_iter().find(|key| table.has(key)) {
                    let message = format!("`{key}` is given with `effector`, which has a frame of its own");
                    table.error(key, table.place(key), message, "give `body` instead of `effector`", report);
                }
                SpringStart::Effector(effector.into())
            }
            (Ok(body), Ok(_)) => {
                let message = if body.is_some() {
                    "`body` and `effector` are given"
                } else {
                    "neither `body` nor `effector` is given"
                };
                table.error("body", table.place("body"), message.into(), "name one that it acts on", report);
                return;
            }
            _ => return,
        };
        let to = match (table.text("to", report), table.has("time")) {
            (Ok(Some(body)), false) => {
                let point = table.vector::<3>("point", report).ok().flatten().unwrap_or_default();
                SpringEnd::Body { body: body.into(), point }
            }
            (Ok(Some(_)), true) => {
                let message = "`time` is given with `to`: a point of a body moves with it".to_string();
                table.error("time", table.place("time"), message, "remove one of the two", report);
                return;
            }
            (Ok(None), false) => {
                let help = "give point = [x, y, z], m, world axes, or name another body: to = \"…\"";
                match table.required("point", help, table.vector::<3>("point", report), report) {
                    Ok(point) => SpringEnd::Point(point),
                    Err(_) => return,
                }
            }
            (Ok(None), true) => {
                let time =
                    table.required("time", "give time = [0.0, …], s", table.numbers("time", report), report);
                let point =
                    table.required("point", "give one for each time", table.rows("point", report), report);
                let (Ok(time), Ok(rows)) = (time, point) else { return };
                let points: Option<Vec<[f64; 3]>> = rows.into_iter().map(|row| row.try_into().ok()).collect();
                let Some(point) = points else {
                    let message = "a point does not have three numbers".to_string();
                    table.error("point", table.place("point"), message, "point = [[x, y, z], …], m", report);
                    return;
                };
                SpringEnd::Path { time, point }
            }
            (Err(_), _) => return,
        };
        let number = |key, report: &mut Report| table.number(key, report).ok().flatten();
        let stiffness =
            ["stiffness", "turning_stiffness", "damping", "turning_damping"].map(|key| number(key, report));
        if stiffness.iter().all(Option::is_none) && report.findings.len() == before {
            let place = table.place("stiffness");
            table.error(
                "stiffness",
                place,
                "it has neither stiffness nor damping".into(),
                "give stiffness = 100.0, N/m",
                report,
            );
        }
        let [stiffness, turning_stiffness, damping, turning_damping] =
            stiffness.map(Option::unwrap_or_default);
        self.builder.spring(SpringDescription {
            name: name.unwrap_or_default().into(),
            on,
            to,
            stiffness,
            turning_stiffness,
            damping,
            turning_damping,
        });
        self.springs.push(table);
    }

    /// Reports the builder's defects, but for those that only follow from what was reported.
    fn report_defects(&mut self, defects: &[Defect], report: &mut Report) {
        let mut defects = defects.to_vec();
        if let Some(overlay) = &mut self.overlay {
            defects.retain_mut(|defect| match own_element(defect.element, overlay) {
                Some(element) => {
                    defect.element = element;
                    true
                }
                None => {
                    overlay.report(defect, report);
                    false
                }
            });
        }
        let defects = defects.as_slice();
        let lists = [("body", &self.bodies), ("joint", &self.joints), ("effector", &self.effectors)];
        // Kinds of which some name could not be read, so that any reference may mean it.
        let nameless: Vec<&str> = (lists.into_iter())
            .filter(|(_, tables)| tables.iter().any(|table| !is_named(table)))
            .map(|(kind, _)| kind)
            .collect();
        let broken_shapes: HashSet<usize> = (defects.iter())
            .filter_map(|defect| match defect.element {
                Element::BodyShape(body, _) => Some(body),
                _ => None,
            })
            .collect();
        for defect in defects {
            let referred = referred_kind(defect);
            let follows = referred.is_some_and(|kind| nameless.contains(&kind))
                || (self.unknown_kinds && self.depends_on_kinds(defect))
                || matches!(defect.element, Element::Body(i) if self.comes_from_shapes(i, defect) && broken_shapes.contains(&i));
            let field = defect.field.unwrap_or("name");
            let table = self.table(defect.element);
            if !follows && table.is_none_or(|table| table.first(field, report)) {
                let place: Range<usize> = table.map_or(0..0, |table| table.place(field));
                report.add(place, defect.message.clone(), defect.help.clone());
            }
        }
    }

    /// Whether a defect is one of a mass that the body's shapes gave.
    fn comes_from_shapes(&self, body: usize, defect: &Defect) -> bool {
        matches!(defect.field, Some("mass" | "inertia" | "center_of_mass")) && !self.bodies[body].has("mass")
    }

    /// Whether a defect may be none once the kind of some joint is known.
    fn depends_on_kinds(&self, defect: &Defect) -> bool {
        match (defect.element, defect.field) {
            (Element::Coupling(_), Some("joint" | "of")) | (Element::Target(_), Some("position")) => true,
            (Element::Body(i), Some(field @ ("mass" | "inertia"))) => !self.bodies[i].has(field),
            _ => false,
        }
    }

    fn table(&self, element: Element) -> Option<&Table<'t>> {
        match element {
            Element::Mechanism => self.mechanism.as_ref(),
            Element::Body(i) => self.bodies.get(i),
            Element::BodyShape(i, k) => self.body_shapes.get(i)?.get(k),
            Element::WorldShape(i) => self.world_shapes.get(i),
            Element::Joint(i) => self.joints.get(i),
            Element::Effector(i) => self.effectors.get(i),
            Element::Coupling(i) => self.couplings.get(i),
            Element::Load(i) => self.loads.get(i),
            Element::Target(i) => self.targets.get(i),
            Element::Spring(i) => self.springs.get(i),
            Element::Zone(i) => self.zones.get(i),
        }
    }
}

/// The element counted among those of the scene; `None` for one that was imported.
fn own_element(element: Element, overlay: &Overlay<'_>) -> Option<Element> {
    let before = overlay.count(element);
    Some(match element {
        Element::Mechanism => Element::Mechanism,
        Element::Body(i) => Element::Body(i.checked_sub(before)?),
        Element::BodyShape(i, k) => Element::BodyShape(i.checked_sub(before)?, k),
        Element::WorldShape(i) => Element::WorldShape(i.checked_sub(before)?),
        Element::Joint(i) => Element::Joint(i.checked_sub(before)?),
        Element::Effector(i) => Element::Effector(i.checked_sub(before)?),
        Element::Coupling(i) => Element::Coupling(i.checked_sub(before)?),
        Element::Load(i) => Element::Load(i.checked_sub(before)?),
        Element::Target(i) => Element::Target(i.checked_sub(before)?),
        Element::Spring(i) => Element::Spring(i.checked_sub(before)?),
        Element::Zone(i) => Element::Zone(i.checked_sub(before)?),
    })
}

fn is_named(table: &Table<'_>) -> bool {
    let matched = table.has("match");
    matched
        || table.value("name").and_then(|name| name.get_ref().as_str()).is_some_and(|name| !name.is_empty())
}

/// The kind of element that the key of a defect names.
fn referred_kind(defect: &Defect) -> Option<&'static str> {
    match (defect.element, defect.field?) {
        (Element::Joint(_), "parent" | "child")
        | (Element::Effector(_), "body")
        | (Element::Spring(_), "body" | "to")
        | (Element::Zone(_), "body")
        | (Element::Body(_), "passes") => Some("body"),
        (Element::Coupling(_), "joint" | "of") | (Element::Target(_), "joint") => Some("joint"),
        (Element::Load(_) | Element::Spring(_), "effector") => Some("effector"),
        _ => None,
    }
}
