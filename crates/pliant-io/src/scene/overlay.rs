//! A scene that starts from a robot file: `import`, and what the scene lays over it.

use std::collections::HashMap;
use std::path::Path;

use pliant_core::closest;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Defect, EffectorDescription, Element, MechanismBuilder, PerFreedom};

use super::body::{from_shapes, read_shapes};
use super::expression::names;
use super::joint::{SPRINGS, read_springs};
use super::keys::section;
use super::report::{Report, Reported};
use super::table::Table;
use crate::diagnostic::Finding;
use crate::import::{self, Context, Draft, Format, Options, Place};

/// An imported robot and what the scene says about it.
pub(super) struct Overlay<'t> {
    pub(super) context: Box<Context>,
    draft: Draft,
    /// The tables that changed each joint of the draft.
    changes: Vec<Vec<Table<'t>>>,
    /// The tables of the shapes that each link of the draft got.
    shapes: HashMap<usize, Vec<Table<'t>>>,
}

impl<'t> Overlay<'t> {
    /// Reads the file that `import` names. What is wrong with that file is left in the context.
    pub(super) fn read(
        root: &Table<'t>,
        file: &str,
        options: &Options,
        report: &mut Report,
    ) -> Result<Overlay<'t>, Option<Box<Context>>> {
        let free_base = root.flag("free_base", report).map_err(|_| None)?.unwrap_or(false);
        let name = match root.text("import", report) {
            Ok(Some(name)) => name,
            Ok(None) | Err(Reported) => return Err(None),
        };
        let error = |message: String, help: &str, report: &mut Report| {
            root.error("import", root.place("import"), message, help, report);
            Err(None)
        };
        let path = Path::new(file).parent().unwrap_or(Path::new("")).join(name);
        if Format::of(&path).is_none() {
            let message = format!("`{name}` is not a robot file");
            return error(
                message,
                "a path to a .urdf, .xml (MJCF) or .sdf file, relative to this one",
                report,
            );
        }
        let options = Options { free_base: free_base || options.free_base, ..options.clone() };
        let mut context = match Context::open(&path, Path::new(file), &options) {
            Ok(context) => Box::new(context),
            Err(reason) => {
                let message = format!("cannot read `{}`: {reason}", path.display());
                return error(message, "a path to a robot file, relative to this one", report);
            }
        };
        match import::read_draft(&mut context) {
            Some(draft) => {
                let changes = vec![Vec::new(); draft.joints.len()];
                Ok(Overlay { context, draft, changes, shapes: HashMap::new() })
            }
            None => Err(Some(context)),
        }
    }

    /// Changes the joints that a table's `match` names.
    pub(super) fn change_joints(&mut self, table: &Table<'t>, pattern: &str, report: &mut Report) {
        table.check_keys(&[section("[[joint]] with match"), section(SPRINGS)], report);
        let Ok(fix) = self.is_to_be_fixed(table, report) else { return };
        let springs = read_springs(table, report);
        let mut matched = 0;
        let mut changed = 0;
        for (joint, changes) in self.draft.joints.iter_mut().zip(&mut self.changes) {
            let description = &mut joint.description;
            if !matches(pattern, &description.name) {
                continue;
            }
            matched += 1;
            if description.kind == JointKind::Fixed {
                continue;
            }
            changed += 1;
            if fix {
                import::weld(description);
                continue;
            }
            let springs = springs.clone();
            if springs.stiffness.is_some() && std::mem::take(&mut joint.default_spring) {
                // Held where the robot starts, as by the springs in whose place these are.
                description.rest = description.rest.take().or_else(|| description.start.clone());
            }
            for (field, value) in [
                (&mut description.stiffness, springs.stiffness),
                (&mut description.damping, springs.damping),
                (&mut description.rest, springs.rest),
                (&mut description.armature, springs.armature),
                (&mut description.friction, springs.friction),
                (&mut description.torque_limit, springs.torque_limit),
                (&mut description.linear_to, springs.linear_to),
                (&mut description.start, springs.start),
            ] {
                if value.is_some() {
                    *field = value;
                }
            }
            if springs.limits.is_some() {
                description.limits = springs.limits;
            }
            changes.push(table.clone());
        }
        if matched == 0 {
            let names = self.draft.joints.iter().map(|joint| joint.description.name.as_str());
            nothing_matches(table, pattern, "joint", names, report);
        } else if changed == 0 {
            let message = format!("every joint that `{pattern}` matches is fixed");
            table.error("match", table.place("match"), message, "name joints that move", report);
        }
    }

    /// Changes the links that a table's `match` names: shapes take the place of theirs, and give them mass where they have
    /// a density.
    pub(super) fn change_bodies(&mut self, table: &Table<'t>, pattern: &str, report: &mut Report) {
        table.check_keys(&[section("[[body]] with match")], report);
        let mut shapes = Vec::new();
        let (tables, complete) = read_shapes(table, table.what(), &mut shapes, report);
        let Ok(passes) = names(table, "passes", report) else { return };
        if !complete {
            return;
        }
        let heavy = shapes.iter().any(|shape| shape.density.is_some());
        let inertia = match heavy.then(|| from_shapes(table, &shapes, &tables, report)).transpose() {
            Ok(inertia) => inertia,
            Err(Reported) => return,
        };
        let mut matched = 0;
        for (i, link) in self.draft.links.iter_mut().enumerate() {
            if !matches(pattern, &link.body.name) {
                continue;
            }
            matched += 1;
            if table.has("shape") {
                link.body.shapes = shapes.clone();
                self.shapes.insert(i, tables.clone());
            }
            link.body.inertia = inertia.unwrap_or(link.body.inertia);
            link.body.passes.extend(passes.iter().map(|(name, _)| name.to_string()));
        }
        if matched == 0 {
            let names = self.draft.links.iter().map(|link| link.body.name.as_str());
            nothing_matches(table, pattern, "link", names, report);
        }
    }

    /// Whether the table says `kind = "fixed"`, the only kind that a joint can be changed to.
    fn is_to_be_fixed(&self, table: &Table<'t>, report: &mut Report) -> Result<bool, Reported> {
        match table.text("kind", report)? {
            None => Ok(false),
            Some("fixed") => match section(SPRINGS).keys().iter().find(|key| table.has(key)) {
                None => Ok(true),
                Some(key) => {
                    let message = format!("a fixed joint has no freedom that {key} could act on");
                    Err(table.error("kind", table.place(key), message, "leave it out", report))
                }
            },
            Some(kind) => {
                let message = format!("an imported joint cannot become {kind}");
                Err(table.error("kind", table.place("kind"), message, "only \"fixed\"", report))
            }
        }
    }

    /// Effectors of the scene take the place of the file's: on every link that a `match` names.
    pub(super) fn effectors(
        &self,
        table: &Table<'t>,
        pattern: &str,
        report: &mut Report,
    ) -> Vec<EffectorDescription> {
        table.check_keys(&[section("[[effector]] with match")], report);
        let frame = table.pose(report);
        let names = || self.draft.links.iter().map(|link| link.body.name.as_str());
        let found: Vec<_> = names()
            .filter(|name| matches(pattern, name))
            .map(|name| EffectorDescription { name: name.into(), body: name.into(), frame })
            .collect();
        if found.is_empty() {
            nothing_matches(table, pattern, "link", names(), report);
        }
        found
    }

    /// Fills in what neither file says and hands the robot to the builder.
    pub(super) fn builder(&mut self, own_effectors: bool) -> MechanismBuilder {
        let Overlay { context, draft, .. } = self;
        draft.drop_stuck_couplings(context);
        if own_effectors {
            draft.effectors.clear();
        } else {
            draft.add_default_effectors();
        }
        draft.add_default_springs(context);
        draft.builder(context)
    }

    /// How many elements of a kind the robot has: those of the scene come after them.
    pub(super) fn count(&self, element: Element) -> usize {
        match element {
            Element::Mechanism => 0,
            Element::Body(_) | Element::BodyShape(..) => self.draft.links.len(),
            Element::WorldShape(_) => self.draft.world_shapes.len(),
            Element::Joint(_) => self.draft.joints.len(),
            Element::Effector(_) => self.draft.effectors.len(),
            Element::Coupling(_) => self.draft.couplings.len(),
            Element::Load(_) => self.draft.loads.len(),
            Element::Target(_) => self.draft.targets.len(),
            Element::Spring(_) | Element::Zone(_) => 0,
        }
    }

    /// Reports a defect of an imported element: where the scene changed it, else in the robot file.
    pub(super) fn report(&mut self, defect: &Defect, report: &mut Report) {
        let field = defect.field.unwrap_or("name");
        if let Element::Joint(i) = defect.element
            && let Some(table) = self.changes[i].iter().rev().find(|table| table.has_field(field))
        {
            if table.first(field, report) {
                report.add(table.place(field), defect.message.clone(), defect.help.clone());
            }
            return;
        }
        if let Element::BodyShape(i, k) = defect.element
            && let Some(table) = self.shapes.get(&i).and_then(|tables| tables.get(k))
        {
            if table.first(field, report) {
                report.add(table.place(field), defect.message.clone(), defect.help.clone());
            }
            return;
        }
        let place = self.draft.place(defect.element).cloned().unwrap_or(Place::START);
        self.context.error_once(&place, defect.message.clone(), defect.help.clone());
    }
}

/// What the springs of a table say.
#[derive(Clone)]
pub(super) struct Springs {
    pub(super) stiffness: Option<PerFreedom<f64>>,
    pub(super) damping: Option<PerFreedom<f64>>,
    pub(super) limits: Option<PerFreedom<(f64, f64)>>,
    pub(super) rest: Option<PerFreedom<f64>>,
    pub(super) armature: Option<PerFreedom<f64>>,
    pub(super) friction: Option<PerFreedom<f64>>,
    pub(super) torque_limit: Option<PerFreedom<f64>>,
    pub(super) linear_to: Option<PerFreedom<f64>>,
    pub(super) start: Option<PerFreedom<f64>>,
}

fn nothing_matches<'n>(
    table: &Table<'_>,
    pattern: &str,
    what: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    report: &mut Report,
) {
    let help = match closest(pattern, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let some: Vec<&str> = names.clone().take(6).collect();
            let more = if names.count() > 6 { ", …" } else { "" };
            format!("there are {}{more}; `*` stands for any letters, `?` for one", some.join(", "))
        }
    };
    let message = format!("no imported {what} matches `{pattern}`");
    table.error("match", table.place("match"), message, help, report);
}

/// Whether a name fits a pattern in which `*` stands for any letters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go on if the letters after the last star turn out not to fit.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// All findings of the scene and of the robot it imports.
pub(super) fn together(
    findings: Vec<Finding>,
    context: Option<Box<Context>>,
    file: &str,
    text: &str,
) -> crate::SceneErrors {
    match context {
        None => crate::SceneErrors::new(file, text, findings),
        Some(context) => context.into_errors_of(file, text, findings),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a?c", "abc"),
            ("*b*", "abc"),
            ("*é", "é"),
            ("a*b*c", "aXbYbc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("a", ""), ("?", ""), ("a*", "ba"), ("a?c", "ac"), ("*b", "abc"), ("**a", "b")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
