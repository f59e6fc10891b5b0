//! Contact on the command line: its options, the scene of a mechanism that can touch something, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueHint};
use pliant::contact::{
    Change, Contact, ContactError, Event, Grip, Making, Report, Scene, Solver, Surfaces, Touched,
    TouchedNode, ZoneState, make_zones,
};
use pliant::engine::{Simulation, State, StepError, Warning};
use pliant::io::ZoneCache;
use pliant::io::trajectory::Touch;
use pliant::mechanism::{Apart, BodyId, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::shared::overlaps;
pub use pliant::shared::overlaps::{Overlap, Overlaps};
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::choices;
use crate::failure::Failure;
use crate::mechanism::MechanismArgument;
use crate::output::{quantity, table};
use crate::progress::Spinner;

/// Whether things touch, and how that is solved.
#[derive(Clone, Debug, Args)]
pub struct Touching {
    /// Switch contact off: bodies pass through each other and through the world
    #[arg(long)]
    no_contact: bool,
    /// Contact solver. pgs: sweeps over all contacts, from the forces of the last step; exact: Newton's method, until
    /// velocities are right to 1e-9 m/s [default: pgs]
    #[arg(long, value_name = "pgs|exact", value_parser = choices::solver, conflicts_with = "no_contact")]
    solver: Option<Solver>,
    /// Of pgs: largest number of sweeps in a step [default: 50]
    #[arg(long, value_name = "N", value_parser = sweeps, allow_negative_numbers = true, conflicts_with = "no_contact")]
    sweeps: Option<usize>,
    /// Folder that caches the Green's functions of elastic zones: computing them takes seconds for fine zones
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "no_contact")]
    zone_cache: Option<PathBuf>,
}

fn sweeps(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or("it must be a whole number above zero".into())
}

impl Touching {
    /// What a mechanism touches with; `None` where nothing does, and then there is no solver to choose.
    pub fn stage(
        &self,
        mechanism: &Mechanism,
        argument: &MechanismArgument,
        common: &Common,
    ) -> Result<Option<Stage>, Failure> {
        let stage = if self.no_contact { None } else { Stage::of(mechanism, argument, common)? };
        if let Some(stage) = &stage {
            self.make_zones(stage, common)?;
        }
        let given = [("--solver", self.solver.is_some()), ("--sweeps", self.sweeps.is_some())];
        if let (None, Some((option, _))) = (&stage, given.into_iter().find(|(_, given)| *given)) {
            return Err(Failure::input(format!(
                "{option} is for contact, and `{}` has none: leave it out, or give shapes to bodies and to the world",
                argument.label()
            )));
        }
        let solver = match (self.solver, self.sweeps) {
            (Some(Solver::Exact { .. }), Some(_)) => {
                return Err(Failure::input(
                    "--sweeps is for the solver `pgs`, but this is `exact`: leave it out, or change --solver",
                ));
            }
            (_, Some(sweeps)) => Solver::Pgs { sweeps },
            (solver, None) => solver.unwrap_or_default(),
        };
        Ok(stage.map(|stage| Stage { solver, ..stage }))
    }

    /// Makes the Green's functions of all zones, with a bar, or takes those of an earlier run.
    fn make_zones(&self, stage: &Stage, common: &Common) -> Result<(), Failure> {
        let cache = self.zone_cache.as_ref().map(ZoneCache::new);
        let names: Vec<String> = stage.whole.zones().iter().map(|zone| format!("`{}`", zone.name)).collect();
        let percent = Arc::new(AtomicU64::new(0));
        let what = format!("making {}", names.join(", "));
        let _bar = (!names.is_empty()).then(|| Spinner::of_parts(common.format(), what, percent.clone()));
        let mut unkept = None;
        let made = make_zones(
            &stage.whole,
            &stage.surfaces,
            &mut Making {
                progress: &mut |zone, part| {
                    let place = stage.whole.zones().iter().position(|own| own.name == zone).unwrap_or(0);
                    let done = (place as f64 + part) / names.len() as f64;
                    percent.store((100.0 * done) as u64, Ordering::Relaxed);
                },
                known: &mut |text| cache.as_ref()?.get(text),
                made: &mut |text, solid| {
                    if let Some(Err(error)) = cache.as_ref().map(|cache| cache.put(text, solid)) {
                        unkept = Some(error);
                    }
                },
            },
        );
        let input = |error: ContactError| {
            Failure::input(format!("`{}`: {error}; --no-contact runs without contact", stage.label))
        };
        made.map_err(input)?;
        match (unkept, &self.zone_cache) {
            (Some(error), Some(folder)) => {
                Err(Failure::input(format!("--zone-cache: cannot write to `{}`: {error}", folder.display())))
            }
            _ => Ok(()),
        }
    }

    /// The warning where the world has shapes and nothing touches them.
    pub fn untouched(&self, mechanism: &Mechanism) -> Option<String> {
        untouched(mechanism).filter(|_| !self.no_contact)
    }
}

/// The warning where the world has shapes and no body has one.
pub fn untouched(mechanism: &Mechanism) -> Option<String> {
    let idle = mechanism.world_shapes().iter().any(|shape| shape.touches) && !mechanism.has_contact();
    idle.then(|| "the world has shapes, but no body has one with contact: bodies pass through them".into())
}

/// A mechanism taken apart, with all that contact needs.
#[derive(Debug)]
pub struct Stage {
    whole: Mechanism,
    apart: Apart,
    surfaces: Surfaces,
    solver: Solver,
    /// The mechanism as the user named it.
    label: String,
}

impl Stage {
    /// Of a mechanism in which something can touch; `None` otherwise.
    pub fn of(
        mechanism: &Mechanism,
        argument: &MechanismArgument,
        common: &Common,
    ) -> Result<Option<Stage>, Failure> {
        if !mechanism.has_contact() {
            return Ok(None);
        }
        Ok(Some(Stage::with(mechanism, argument.surfaces(mechanism, common)?, argument.given())))
    }

    /// The same with the surfaces of its shapes.
    pub fn with(mechanism: &Mechanism, surfaces: Surfaces, label: String) -> Stage {
        let (whole, apart) = (mechanism.clone(), mechanism.take_apart());
        Stage { whole, apart, surfaces, solver: Solver::default(), label }
    }

    pub fn solver(&self) -> Solver {
        self.solver
    }

    /// What joints hold together; `None` if there are loose bodies only.
    pub fn held(&self) -> Option<&Mechanism> {
        self.apart.held.as_ref()
    }

    pub fn surfaces(&self) -> &Surfaces {
        &self.surfaces
    }

    /// The scene, with the simulation of what is held.
    pub fn scene(&self, simulation: Option<Box<dyn Simulation>>) -> Result<Scene, Failure> {
        let scene = self.put_together(simulation).and_then(|scene| scene.check_start().map(|()| scene));
        scene.map_err(|error| {
            Failure::input(format!("`{}`: {error}; --no-contact runs without contact", self.label))
        })
    }

    fn put_together(&self, simulation: Option<Box<dyn Simulation>>) -> Result<Scene, ContactError> {
        let mut scene = Scene::of(&self.whole, self.apart.clone(), self.surfaces.clone(), simulation)?;
        scene.world_mut().set_solver(self.solver);
        Ok(scene)
    }

    /// Looks for shapes that overlap, whatever moves them and wherever they start; `None` if the mechanism has no shape.
    pub fn overlaps(&self) -> Result<Option<Overlaps>, String> {
        Overlaps::new(&self.whole, &self.apart, &self.surfaces)
    }
}

/// Refuses an equilibrium, found without contact, in which things overlap; what could not be found out is a warning.
pub fn refuse_overlap(
    mechanism: &Mechanism,
    argument: &MechanismArgument,
    common: &Common,
    state: &State,
) -> Result<Option<Warning>, Failure> {
    let unknown = |why: String| Warning {
        kind: "overlap",
        measure: mechanism.bodies().iter().filter(|body| body.shapes.iter().any(|s| s.touches)).count()
            as f64,
        unit: "bodies",
        text: format!("whether bodies overlap each other or the world could not be checked: {why}"),
    };
    let mut scene = match Stage::of(mechanism, argument, common) {
        Ok(None) => return Ok(None),
        Ok(Some(stage)) => match stage.overlaps() {
            Ok(Some(overlaps)) => overlaps,
            Ok(None) => return Ok(None),
            Err(why) => return Ok(Some(unknown(why))),
        },
        Err(failure) => return Ok(Some(unknown(failure.message))),
    };
    match scene.deepest(state, |_| true) {
        Err(why) => Ok(Some(unknown(why))),
        Ok(Some(overlap)) if overlap.depth > overlaps::TOUCHING * mechanism.radius() => {
            let Overlap { body, other, depth } = &overlap;
            let about = json!({ "body": body, "other": other, "depth": depth });
            Err(Failure::job(overlaps::refusal(&overlap)).detail("overlap", about))
        }
        Ok(_) => Ok(None),
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    /// How deep anything was in anything else, m.
    pub penetration: f64,
    /// How far impulses were from Coulomb's law, m/s.
    pub residual: f64,
}

impl Worst {
    /// Takes a step in.
    pub fn add(&mut self, report: &Report) {
        self.penetration = self.penetration.max(report.penetration);
        self.residual = self.residual.max(report.residual);
    }
}

/// Events that are kept, at most: more than a reader reads.
const MOST_EVENTS: usize = 1000;

/// A scene in motion, with what its steps came to.
#[derive(Debug)]
pub struct Record {
    pub scene: Scene,
    worst: Worst,
    /// The first events, each with its time, s.
    events: Vec<(f64, Event)>,
    events_total: usize,
}

impl Record {
    /// Of a scene before its first step.
    pub fn new(scene: Scene) -> Record {
        Record { scene, worst: Worst::default(), events: Vec::new(), events_total: 0 }
    }

    /// Takes one step, with every link's pose.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        self.scene.step(dt)?;
        self.scene.state();
        let world = self.scene.world();
        self.worst.add(&world.report());
        let room = MOST_EVENTS - self.events.len();
        self.events.extend(world.events().iter().take(room).map(|event| (world.time(), *event)));
        self.events_total += world.events().len();
        Ok(())
    }
}

const OWN: &str = "a handle of the scene's own";

/// The force of all contacts on a body in the last step, world axes, N.
pub fn force_on(scene: &Scene, body: BodyId) -> Vector3<f64> {
    scene.world().force_on(scene.touched(body).expect(OWN)).expect(OWN).force
}

pub fn name(scene: &Scene, touched: Touched) -> &str {
    scene.world().name(touched).expect(OWN)
}

/// What touched in the last step, for a trajectory.
pub fn touch(scene: &Scene) -> Touch {
    let report = scene.report();
    Touch {
        pushing: report.pushing,
        penetration: report.penetration,
        residual: report.residual,
        forces: scene.mechanism().effectors().iter().map(|e| force_on(scene, e.body).into()).collect(),
    }
}

/// The contacts that pushed in the last step.
fn pushing(scene: &Scene) -> impl Iterator<Item = &Contact> {
    scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0)
}

/// A contact, with its force.
pub fn contact(scene: &Scene, contact: &Contact) -> Map<String, Value> {
    let three = |v: &Vector3<f64>| Value::from(vec![v.x, v.y, v.z]);
    [
        ("first", name(scene, contact.first).into()),
        ("second", name(scene, contact.second).into()),
        ("point", three(&contact.point)),
        ("normal", three(&contact.normal)),
        ("gap", contact.gap.into()),
        ("force", three(&contact.force)),
    ]
    .map(|(key, value): (&str, Value)| (key.to_string(), value))
    .into_iter()
    .collect()
}

/// `contacts` that pushed in the last step, elastic `zones` as it left them (with their `touching` nodes and their `surface` where these are
/// asked for), the worst `penetration` and `residual` of all steps, and their `events`.
pub fn document(record: &Record, zone_nodes: bool) -> Map<String, Value> {
    let Record { scene, worst, events, events_total } = record;
    let contacts: Vec<Value> = pushing(scene).map(|one| contact(scene, one).into()).collect();
    let kept: Vec<Value> = (events.iter())
        .map(|(time, event)| {
            json!({
                "time": time,
                "first": name(scene, event.first),
                "second": name(scene, event.second),
                "change": match event.change {
                    Change::Began => "began",
                    Change::Ended => "ended",
                },
            })
        })
        .collect();
    let zones: Vec<Value> = (scene.world().zones())
        .map(|(_, zone)| {
            let mut about = json!({
                "name": zone.name(),
                "nodes": zone.solid().nodes(),
                "touched": zone.loads().len(),
                "sticking": zone.touched().filter(|node| node.grip == Grip::Sticks).count(),
                "force": zone.force().as_slice(),
                "area": zone.contact_area(),
                "largest_pressure": zone.largest_pressure(),
                "largest_displacement": zone.largest_displacement(),
            });
            if zone_nodes {
                about["touching"] = zone.touched().map(|one| node(&zone, &one)).collect();
                about["surface"] = surface(&zone);
            }
            about
        })
        .collect();
    [
        ("contacts", contacts.into()),
        ("zones", zones.into()),
        ("penetration", worst.penetration.into()),
        ("residual", worst.residual.into()),
        ("events", kept.into()),
        ("events_total", (*events_total).into()),
    ]
    .map(|(key, value): (&str, Value)| (key.to_string(), value))
    .into_iter()
    .collect()
}

/// A node of a zone that is pushed, in world axes.
fn node(zone: &ZoneState, node: &TouchedNode) -> Value {
    let rest = zone.solid().points()[node.node];
    let turned = |v: &Vector3<f64>| Value::from((zone.pose.rotation * v).as_slice());
    json!({
        "node": node.node,
        "point": zone.pose.transform_point(&(rest + node.displacement)).as_slice(),
        "displacement": turned(&node.displacement),
        "force": turned(&node.force),
        "area": node.area,
        "pressure": node.pressure,
        "traction": turned(&node.traction),
        "slip": turned(&node.slip),
        "sticks": node.grip == Grip::Sticks,
    })
}

/// Where all points of a zone's surface are, how far from where they are at rest on the bone, in world axes, and its triangles.
fn surface(zone: &ZoneState) -> Value {
    let points = zone.solid().points();
    let mut displacements = vec![Vector3::zeros(); points.len()];
    zone.displacements(&mut displacements);
    let mut places =
        points.iter().zip(&displacements).map(|(rest, u)| zone.pose.transform_point(&(rest + u)));
    let rows = |vectors: &mut dyn Iterator<Item = Vector3<f64>>| -> Value {
        vectors.map(|v| Value::from(v.as_slice())).collect()
    };
    json!({
        "points": rows(&mut places),
        "displacements": rows(&mut displacements.iter().map(|u| zone.pose.rotation * u)),
        "triangles": zone.solid().triangles(),
    })
}

/// The worst of all steps, for people.
pub fn rows(record: &Record) -> [(&'static str, String); 2] {
    let worst = &record.worst;
    [
        ("penetration", format!("{} at most", quantity(worst.penetration, "m"))),
        ("residual", format!("{} at most", quantity(worst.residual, "m/s"))),
    ]
}

/// How hard what touches pushed in the last step, for people; pairs of bodies that touch in several points take one row.
pub fn contact_table(scene: &Scene) -> String {
    let mut pairs: Vec<((&str, &str), usize, Vector3<f64>)> = Vec::new();
    for contact in pushing(scene) {
        let names = (name(scene, contact.first), name(scene, contact.second));
        match pairs.iter_mut().find(|(pair, ..)| *pair == names) {
            Some((_, points, force)) => (*points, *force) = (*points + 1, *force + contact.force),
            None => pairs.push((names, 1, contact.force)),
        }
    }
    if pairs.is_empty() {
        return "no contact at the end\n".into();
    }
    let zones = zone_table(scene);
    let header = ["CONTACT", "ON", "POINTS", "FX", "FY", "FZ"].map(String::from).to_vec();
    let rows = pairs.iter().map(|((first, second), points, force)| {
        let cells = [first.to_string(), second.to_string(), points.to_string()];
        cells.into_iter().chain(force.iter().map(|x| quantity(*x, "N"))).collect()
    });
    table(&std::iter::once(header).chain(rows).collect::<Vec<Vec<String>>>()) + &zones
}

/// How hard elastic zones are pressed; empty if there are none.
fn zone_table(scene: &Scene) -> String {
    let rows: Vec<Vec<String>> = (scene.world().zones())
        .map(|(_, zone)| {
            vec![
                zone.name().into(),
                format!("{} of {}", zone.loads().len(), zone.solid().nodes()),
                zone.touched().filter(|node| node.grip == Grip::Sticks).count().to_string(),
                quantity(zone.force().norm(), "N"),
                quantity(1e6 * zone.contact_area(), "mm²"),
                quantity(zone.largest_pressure(), "Pa"),
                quantity(zone.largest_displacement(), "m"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header =
        ["ZONE", "NODES", "STICKING", "FORCE", "AREA", "PRESSURE", "DISPLACEMENT"].map(String::from).to_vec();
    format!("\n{}", table(&std::iter::once(header).chain(rows).collect::<Vec<Vec<String>>>()))
}

/// Every node of each zone that is pushed, for people; empty if there are none.
pub fn node_tables(scene: &Scene) -> String {
    let three = |v: &Vector3<f64>| v.iter().map(|x| format!("{:.3}", 1e3 * x)).collect::<Vec<_>>().join(", ");
    let of = |zone: &ZoneState| -> String {
        let rows = zone.touched().map(|node| {
            let at = zone.solid().points()[node.node] + node.displacement;
            vec![
                node.node.to_string(),
                three(&zone.pose.transform_point(&at)),
                three(&(zone.pose.rotation * node.displacement)),
                quantity(node.pressure, "Pa"),
                quantity(node.traction.norm(), "Pa"),
                quantity(node.slip.norm(), "m/s"),
                if node.grip == Grip::Sticks { "sticks" } else { "slips" }.to_string(),
            ]
        });
        let header =
            ["NODE", "AT (mm)", "DISPLACED (mm)", "PRESSURE", "TRACTION", "SLIP", ""].map(String::from);
        let rows: Vec<Vec<String>> = std::iter::once(header.to_vec()).chain(rows).collect();
        if rows.len() > 1 { format!("\n{}\n{}", zone.name(), table(&rows)) } else { String::new() }
    };
    scene.world().zones().map(|(_, zone)| of(&zone)).collect()
}
