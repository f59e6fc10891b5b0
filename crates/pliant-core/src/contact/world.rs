//! Everything that touches: a static world, free bodies, and mechanisms each with its own engine, stepped together
//! (`world/step.rs`) where they may meet (`world/pairing.rs`).

mod hits;
mod overlaps;
mod pairing;
mod step;

use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::Vector3;

use super::attachments::Attachments;
use super::broad::Broad;
use super::collider::{Collider, Surfaces};
use super::delassus::Equations;
use super::error::ContactError;
use super::events::Event;
use super::free_body::FreeBody;
use super::narrow::Narrow;
use super::pairs::{Around, Memory, Pair, Place, Thing};
use super::skin::{Between, Skins};
use super::zones::{PRESSED, ZoneId, pressed_in};
use super::{exact, impact};
use crate::engine::touch::Touch;
use crate::engine::{Simulation, Warning};
use crate::mechanism::{Body, BodyId, Shape, UnknownHandle, WORLD};
use crate::spatial::{Pose, Wrench};
use overlaps::{Passing, PassingLinks};

/// A simulation of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimulationId {
    pub(super) index: usize,
    serial: u64,
}

/// A free body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FreeBodyId {
    pub(super) index: usize,
    serial: u64,
}

/// A number that nothing else in this process has. Handles have one each: that of something which was removed, or added to a copy of
/// the world, is never taken for another.
pub(super) fn serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What a contact is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touched {
    /// The static world.
    World,
    /// A free body.
    Free(FreeBodyId),
    /// A body of a mechanism.
    Mechanism(SimulationId, BodyId),
}

/// How the equations of contact are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// Projected Gauss–Seidel with conjugate gradients, from the impulses of the last step; Newton's method where that is not
    /// enough for a group of at most 30 contacts, such as a heavy body on a light one.
    Pgs {
        /// At most so many a step; 50 by default, with which ten boxes stand on each other. 20 are enough for a grasp.
        sweeps: usize,
    },
    /// Newton's method on the augmented Lagrangian.
    Exact {
        /// Residual over the fastest velocity that contact must change, in each group of things that touch; 1e-9 is near
        /// rounding.
        tolerance: f64,
    },
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::Pgs { sweeps: 50 }
    }
}

/// A point at which two things touch, or were about to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// One of the two.
    pub first: Touched,
    /// The other.
    pub second: Touched,
    /// Halfway between the surfaces, world, m.
    pub point: Vector3<f64>,
    /// Out of the first, into the second.
    pub normal: Vector3<f64>,
    /// Distance of the surfaces at the start of the step or of its piece, below zero where they overlap, m.
    pub gap: f64,
    /// Mean force over the step on the second, world axes, N.
    pub force: Vector3<f64>,
    /// Coulomb coefficient of the two.
    pub friction: f64,
}

/// What a step of contact came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Points that touched or were about to, in every piece of the step.
    pub contacts: usize,
    /// Of them, those that pushed.
    pub pushing: usize,
    /// How deep the deepest was at the start of the step, m.
    pub penetration: f64,
    /// How far the impulses are from Coulomb's law, or how fast an overlap deepens where that is more, m/s.
    pub residual: f64,
    /// How many pieces the step was taken in ([`World::step`]).
    pub pieces: usize,
}

/// How deep something was at the start, of its radius; and the worst of all steps: how deep, with the contact and the time; how far the
/// forces were from the law, of the radius, m/s, and when.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    started: f64,
    deepest: Option<(f64, Contact, f64)>,
    unsolved: Option<(f64, f64, f64)>,
    /// How much of its thickness a zone was pressed in by, which, and when.
    pressed: Option<(f64, usize, f64)>,
    /// What was deepest inside a zone between its nodes, and when.
    between: Option<(Between, f64)>,
}

/// In what time, s, an overlap is driven out unless another is set, and how far what overlaps is driven apart in that time at most, of the
/// smaller shape's radius. Neither depends on the step, so a finer step does not push harder.
pub const RECOVERY_TIME: f64 = 1.0 / 48.0;
const RECOVERY: f64 = 0.0125;

/// A shape of a body that is fixed to the world: its place among those of the world, what it is of, and where the base was then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub shape: usize,
    pub of: (SimulationId, BodyId),
    pub at: Pose,
}

/// What is not where it was, of a shape's radius.
const MOVED: f64 = 1e-6;

/// A scene of contact.
///
/// ```
/// use pliant_core::{contact::*, mechanism::*, spatial::*};
///
/// let block = |size: [f64; 3]| Shape::new(Geometry::Box { size: size.into() });
/// let mut world = World::new(STANDARD_GRAVITY);
/// world.add_shape(&block([2.0, 2.0, 0.2]).at(Pose::translation([0.0, 0.0, -0.1])))?; // a floor
/// let body = Body::new("crate", Pose::translation([0.0, 0.0, 0.3])).shape(block([0.2; 3]));
/// let id = world.add_body(&body.inertia(SpatialInertia::of_box(3.0, [0.2; 3])))?;
/// let mut began = 0;
/// for _ in 0..100 {
///     world.step(0.01)?;
///     began += world.events().iter().filter(|event| event.change == Change::Began).count();
/// }
/// assert_eq!(began, 1); // it fell on the floor once, and lies there
/// let held = world.force_on(Touched::Free(id))?.force.z;
/// assert!((held - 3.0 * 9.81).abs() < 0.01); // its weight, N
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    gravity: Vector3<f64>,
    pub(super) solver: Solver,
    /// s.
    recovery_time: f64,
    /// Whether the step that is attempted is a piece of a longer one.
    in_pieces: bool,
    /// A factor on all coefficients of friction.
    pub(super) friction_part: f64,
    pub(super) surfaces: Surfaces,
    /// Of this world and its copies.
    mark: u64,
    pub(super) simulations: Vec<Box<dyn Touch>>,
    simulation_ids: Vec<SimulationId>,
    pub(super) bodies: Vec<FreeBody>,
    body_ids: Vec<FreeBodyId>,
    /// The static world first.
    pub(super) things: Vec<Thing>,
    /// Of the shapes of all things.
    around: Vec<Around>,
    /// Of each of these its place.
    shapes: Vec<Place>,
    pub(super) owners: Vec<Touched>,
    /// Names of what each thing does not touch.
    pub(super) passes: Vec<Vec<String>>,
    broad: Broad,
    /// Whether the pairs are those of the last sweep.
    paired: bool,
    /// Those that may come near each other, in the order of their shapes; and memory of others.
    pub(super) pairs: Vec<Pair>,
    pairs_before: Vec<Pair>,
    spare: Vec<Memory>,
    /// Things that a joint connects, and shapes that overlap where a joint is: they do not touch.
    joined: Vec<(usize, usize)>,
    overlapping: Vec<(Place, Place)>,
    /// Shapes of bodies of mechanisms that do not move, among those of the world.
    pub(super) bases: Vec<Base>,
    /// Shapes of links that do not touch until they are apart, sorted.
    passing: Vec<Passing>,
    passing_links: PassingLinks,
    /// First part of each simulation's in the equations; free bodies come after all of them, and after these what is held.
    pub(super) first_part: Vec<usize>,
    pub(super) first_body: usize,
    pub(super) attachments: Attachments,
    warnings: Vec<Warning>,
    narrow: Narrow,
    /// Soft surfaces of elastic zones.
    pub(super) skins: Skins,
    pub(super) zone_ids: Vec<ZoneId>,
    equations: Equations,
    exact: exact::Memory,
    impact: impact::Memory,
    /// What hits of links reach: whether it is a simulation, and which simulation or free body.
    hit: Vec<(bool, usize)>,
    residual: f64,
    /// The same as a way in a step over the radius of the smaller shape, where that is much.
    unsolved: f64,
    worst: Worst,
    /// Of each meeting: its pair, target of the normal, tangents.
    frames: Vec<(usize, [Vector3<f64>; 3])>,
    /// Those of the last step, and of the one that is attempted.
    contacts: Vec<Contact>,
    coming: Vec<Contact>,
    events: Vec<Event>,
    impulses: Vec<(usize, Wrench)>,
    report: Report,
    step: f64,
    time: f64,
    steps: u64,
}

impl World {
    /// Nothing yet, with this gravity on free bodies, world axes, m/s².
    pub fn new(gravity: [f64; 3]) -> World {
        let world = Thing::new(None, crate::spatial::Pose::identity(), Vec::new());
        World {
            gravity: gravity.into(),
            solver: Solver::default(),
            recovery_time: RECOVERY_TIME,
            in_pieces: false,
            friction_part: 1.0,
            surfaces: Surfaces::new(),
            mark: serial(),
            simulations: Vec::new(),
            simulation_ids: Vec::new(),
            bodies: Vec::new(),
            body_ids: Vec::new(),
            things: vec![world],
            around: Vec::new(),
            shapes: Vec::new(),
            owners: vec![Touched::World],
            passes: vec![Vec::new()],
            broad: Broad::default(),
            paired: false,
            pairs: Vec::new(),
            pairs_before: Vec::new(),
            spare: Vec::new(),
            joined: Vec::new(),
            overlapping: Vec::new(),
            bases: Vec::new(),
            passing: Vec::new(),
            passing_links: PassingLinks::default(),
            first_part: Vec::new(),
            first_body: 0,
            attachments: Attachments::default(),
            warnings: Vec::new(),
            narrow: Narrow::default(),
            skins: Skins::default(),
            zone_ids: Vec::new(),
            equations: Equations::default(),
            exact: exact::Memory::default(),
            impact: impact::Memory::default(),
            hit: Vec::new(),
            residual: 0.0,
            unsolved: 0.0,
            worst: Worst::default(),
            frames: Vec::new(),
            contacts: Vec::new(),
            coming: Vec::new(),
            events: Vec::new(),
            impulses: Vec::new(),
            report: Report::default(),
            step: 0.0,
            time: 0.0,
            steps: 0,
        }
    }

    /// Gives the surfaces that shapes of later calls have by file name.
    pub fn set_surfaces(&mut self, surfaces: Surfaces) {
        self.surfaces = surfaces;
    }

    /// Chooses how contact is solved.
    pub fn set_solver(&mut self, solver: Solver) {
        self.solver = solver;
    }

    /// Sets in what time an overlap is driven out, s: 1/48 by default, whatever the step. It is the only length of time that contact has:
    /// a scene in other units of time has another number here.
    pub fn set_recovery_time(&mut self, seconds: f64) -> Result<(), ContactError> {
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(ContactError::RecoveryTime { seconds });
        }
        self.recovery_time = seconds;
        Ok(())
    }

    /// Adds a shape that never moves, its pose in the world; one that cannot be touched is left out.
    pub fn add_shape(&mut self, shape: &Shape) -> Result<(), ContactError> {
        if !shape.touches {
            return Ok(());
        }
        let collider = Collider::new(shape, "the world", &self.surfaces)?;
        let last = (0, self.things[0].colliders.len());
        self.things[0].colliders.push(collider);
        self.pairs.iter_mut().for_each(|pair| pair.shift(1));
        self.added(|place| place == last);
        Ok(())
    }

    /// Adds a free body where its pose is, at rest.
    pub fn add_body(&mut self, body: &Body) -> Result<FreeBodyId, ContactError> {
        if !body.pose.is_finite() {
            let (body, why) = (format!("body `{}`", body.name), "its pose is not finite".into());
            return Err(ContactError::Attachment { body, what: "added", why });
        }
        let mut own = FreeBody::new(body)?;
        let id = FreeBodyId { index: self.bodies.len(), serial: serial() };
        let colliders = self.colliders(body)?;
        own.round = colliders.iter().all(|collider| collider.round);
        self.bodies.push(own);
        self.body_ids.push(id);
        let last = self.things.len();
        self.things.push(Thing::new(Some((0, 0)), body.pose, colliders));
        self.owners.push(Touched::Free(id));
        self.passes.push(body.passes.clone());
        self.pass(last);
        self.pass_bases(|place| place.0 == last);
        self.added(|place| place.0 == last);
        Ok(id)
    }

    /// Adds a mechanism with the engine that moves it; the world steps it from now on. Linear engines touch with the bodies
    /// of their effectors, the others with any body that has a shape. A body that is fixed to the world is part of it where it is now.
    ///
    /// ```
    /// use pliant_core::{articulated, contact::*, gallery, mechanism::*, spatial::Pose};
    ///
    /// let mechanism = gallery::chain(20); // alone its tip would hang down by 10 cm
    /// let mut world = World::new(STANDARD_GRAVITY);
    /// let table = Shape::new(Geometry::Box { size: [4.0, 1.0, 0.1].into() });
    /// world.add_shape(&table.at(Pose::translation([0.0, 0.0, -0.1])))?; // its top is 5 cm down
    /// let chain = world.add(articulated::Model::new(&mechanism).simulate())?;
    /// (0..200).try_for_each(|_| world.step(0.01).map(drop))?;
    ///
    /// let push = world.contacts().iter().find(|contact| contact.force.z > 0.0).ok_or("no contact")?;
    /// assert_eq!(push.first, Touched::World); // pushes up what is second
    /// assert!(matches!(push.second, Touched::Mechanism(id, _) if id == chain));
    /// assert!((push.point.z + 0.05).abs() < 1e-3); // m
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&mut self, simulation: impl Into<Box<dyn Simulation>>) -> Result<SimulationId, ContactError> {
        let simulation: Box<dyn Simulation> = simulation.into();
        let id = SimulationId { index: self.simulations.len(), serial: serial() };
        let (name, engine) = (simulation.mechanism().name().to_string(), simulation.engine());
        let Some(simulation) = simulation.into_touch() else {
            return Err(match engine {
                "blended" => ContactError::Untouchable { mechanism: name, engine },
                _ => ContactError::Nested { mechanism: name },
            });
        };
        let (mut things, mut base) = (Vec::new(), Vec::new());
        let mechanism = simulation.mechanism();
        let bodies = mechanism.body_ids();
        let mut without = Vec::new();
        for body in bodies {
            let own = &mechanism[body];
            if mechanism.order().node_of(body).is_none() {
                let at = simulation.inputs().base * own.pose;
                let shapes = own.shapes.iter().map(|shape| Shape { pose: at * shape.pose, ..shape.clone() });
                let fixed = Body { shapes: shapes.collect(), ..own.clone() };
                base.extend(self.colliders(&fixed)?.into_iter().map(|collider| (body, collider)));
                continue;
            }
            let Some(touch) = simulation.touch(body) else { continue };
            let has_zone = mechanism.zones().iter().any(|zone| zone.body == Some(body));
            if !has_zone && !own.shapes.iter().any(|shape| shape.touches) {
                without.push(format!("`{}`", own.name));
                continue;
            }
            let thing =
                Thing::new(Some((id.index, touch)), simulation.touch_pose(touch), self.colliders(own)?);
            things.push((thing, Touched::Mechanism(id, body), own.passes.clone()));
        }
        if things.is_empty() && base.is_empty() {
            let wanted =
                if without.is_empty() { "a body with an effector".into() } else { without.join(", ") };
            return Err(ContactError::NoShape { mechanism: name, engine, wanted });
        }
        let effector = |body: &str| mechanism.effectors().iter().any(|e| mechanism[e.body].name == body);
        let missing: Vec<_> =
            without.iter().filter(|b| effector(b.trim_matches('`'))).map(String::as_str).collect();
        if !missing.is_empty() {
            let (carry, them) = if missing.len() == 1 { ("carries", "it") } else { ("carry", "them") };
            let text = format!(
                "{} of mechanism `{name}` {carry} an effector but no shape, and so no contact: give {them} a shape",
                missing.join(", ")
            );
            let (measure, unit) = (missing.len() as f64, "bodies");
            self.warnings.push(Warning { kind: "shapeless", measure, unit, text });
        }
        let before = (!mechanism.zones().is_empty()).then(|| self.clone());
        let count = things.len();
        for (thing, owner, passes) in things {
            self.things.push(thing);
            self.owners.push(owner);
            self.passes.push(passes);
        }
        let first = self.things.len() - count;
        self.join(simulation.mechanism(), id, first);
        self.simulations.push(simulation);
        self.simulation_ids.push(id);
        self.pass(first);
        let fixed = self.things[0].colliders.len();
        self.pairs.iter_mut().for_each(|pair| pair.shift(base.len()));
        for (body, collider) in base {
            let at = self.simulations[id.index].inputs().base;
            self.bases.push(Base { shape: self.things[0].colliders.len(), of: (id, body), at });
            self.things[0].colliders.push(collider);
        }
        let is_new = |place: Place| place.0 >= first || (place.0 == 0 && place.1 >= fixed);
        self.pass_bases(is_new);
        self.added(is_new);
        if let Err(error) = self.add_zones_of(id) {
            before.into_iter().for_each(|before| *self = before);
            return Err(error);
        }
        Ok(id)
    }

    fn colliders(&self, body: &Body) -> Result<Vec<Collider>, ContactError> {
        let owner = format!("body `{}`", body.name);
        let touching = body.shapes.iter().filter(|shape| shape.touches);
        touching.map(|shape| Collider::new(shape, &owner, &self.surfaces)).collect()
    }

    /// The name of something touched, `world` included.
    pub fn name(&self, touched: Touched) -> Result<&str, UnknownHandle> {
        self.check(touched).map(|()| self.name_of(touched))
    }

    /// The same of something of this world.
    fn name_of(&self, touched: Touched) -> &str {
        match touched {
            Touched::World => WORLD,
            Touched::Free(id) => self.bodies[id.index].name(),
            Touched::Mechanism(id, body) => &self.simulations[id.index].mechanism()[body].name,
        }
    }

    /// Whether something is of this world.
    pub(super) fn check(&self, touched: Touched) -> Result<(), UnknownHandle> {
        match touched {
            Touched::World => Ok(()),
            Touched::Free(id) => self.find_body(id).map(drop),
            Touched::Mechanism(id, body) => self.simulation(id)?.mechanism().body(body).map(drop),
        }
    }

    pub(super) fn find_body(&self, id: FreeBodyId) -> Result<usize, UnknownHandle> {
        let known = self.body_ids.get(id.index) == Some(&id);
        known.then_some(id.index).ok_or(UnknownHandle { what: "free body", index: id.index })
    }

    pub(super) fn find_simulation(&self, id: SimulationId) -> Result<usize, UnknownHandle> {
        let known = self.simulation_ids.get(id.index) == Some(&id);
        known.then_some(id.index).ok_or(UnknownHandle { what: "simulation", index: id.index })
    }

    /// What was noticed while the scene was put together, and the worst of what contact came to in all steps: how deep shapes overlapped
    /// and how far forces were from their law, where that is much.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = self.warnings.clone();
        found.extend(self.warning_of_passing());
        if let Some((part, contact, time)) = self.worst.deepest {
            let text = format!(
                "`{}` and `{}` overlapped by {:.3} mm at {time:.3} s, {:.2} % of the radius of the smaller: the step is too long for \
                 these loads, speeds or masses; take shorter steps",
                self.name_of(contact.first),
                self.name_of(contact.second),
                -1e3 * contact.gap,
                100.0 * part
            );
            found.push(Warning { kind: "deep overlap", measure: -contact.gap, unit: "m", text });
        }
        if let Some((part, residual, time)) = self.worst.unsolved {
            let text = format!(
                "forces of contact were {residual:.2e} m/s from Coulomb's law at {time:.3} s, in a step {:.1} % of the radius of the \
                 shapes: bodies may sink or slide; take shorter steps, or another solver",
                100.0 * part
            );
            found.push(Warning { kind: "unsolved contact", measure: residual, unit: "m/s", text });
        }
        if let Some((part, skin, time)) = self.worst.pressed {
            found.push(pressed_in(&self.skins.list[skin].name, part, Some(time)));
        }
        if let Some((Between { depth, skin, thing }, time)) = self.worst.between {
            let zone = &self.skins.list[skin];
            let text = format!(
                "`{}` was {:.3} mm inside zone `{}` at {time:.3} s, between nodes that are up to {:.3} mm apart, without a contact \
                 force: a zone has contact at its nodes only; use smaller elements",
                self.name_of(self.owners[thing]),
                1e3 * depth,
                zone.name,
                1e3 * zone.edge()
            );
            found.push(Warning { kind: "coarse zone", measure: depth, unit: "m", text });
        }
        found.extend(self.warning_of_moved_bases());
        found
    }

    /// Of shapes of the world that belong to a base which has moved since: they stayed.
    fn warning_of_moved_bases(&self) -> Option<Warning> {
        let ways = self.bases.iter().map(|base| {
            let (simulation, shape) =
                (&self.simulations[base.of.0.index], &self.things[0].colliders[base.shape]);
            let moved = simulation.inputs().base * base.at.inverse();
            (base, (moved.transform_point(&shape.center) - shape.center).norm(), shape.radius)
        });
        let (base, way, _) =
            ways.filter(|(_, way, radius)| *way > MOVED * radius).max_by(|a, b| a.1.total_cmp(&b.1))?;
        let text = format!(
            "`{}` is fixed to a base that has moved by {way:.2e} m since it was added, and its contact shape stayed where it was: move \
             it by a joint with a set-point instead",
            self.simulations[base.of.0.index].mechanism()[base.of.1].name
        );
        Some(Warning { kind: "moved base", measure: way, unit: "m", text })
    }

    /// A simulation.
    pub fn simulation(&self, id: SimulationId) -> Result<&dyn Simulation, UnknownHandle> {
        self.find_simulation(id).map(|at| &*self.simulations[at] as &dyn Simulation)
    }

    /// A simulation, to change its inputs. The world steps it.
    pub fn simulation_mut(&mut self, id: SimulationId) -> Result<&mut dyn Simulation, UnknownHandle> {
        self.find_simulation(id).map(|at| &mut *self.simulations[at] as &mut dyn Simulation)
    }

    /// A free body.
    pub fn body(&self, id: FreeBodyId) -> Result<&FreeBody, UnknownHandle> {
        self.find_body(id).map(|at| &self.bodies[at])
    }

    /// A free body, to load or place it.
    pub fn body_mut(&mut self, id: FreeBodyId) -> Result<&mut FreeBody, UnknownHandle> {
        self.find_body(id).map(|at| &mut self.bodies[at])
    }

    /// All free bodies.
    pub fn bodies(&self) -> impl Iterator<Item = (FreeBodyId, &FreeBody)> {
        self.body_ids.iter().copied().zip(&self.bodies)
    }

    /// Everything as it is now: a copy to [`World::restore`].
    pub fn save(&self) -> SavedWorld {
        SavedWorld { world: Box::new(self.clone()) }
    }

    /// Restores what was saved of this world: simulations with their inputs, free bodies, contacts and what is attached,
    /// bit for bit. What was added since is removed.
    ///
    /// ```
    /// use pliant_core::{contact::World, mechanism::*, spatial::*};
    ///
    /// let mut world = World::new(STANDARD_GRAVITY);
    /// let ball = Body::new("ball", Pose::identity()).inertia(SpatialInertia::of_box(1.0, [0.1; 3]));
    /// let ball = world.add_body(&ball)?;
    /// let saved = world.save();
    /// (0..10).try_for_each(|_| world.step(0.01).map(drop))?;
    /// let fallen = world.body(ball)?.pose();
    /// world.restore(&saved)?;
    /// (0..10).try_for_each(|_| world.step(0.01).map(drop))?;
    /// assert_eq!(world.body(ball)?.pose(), fallen); // the same bits
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&mut self, saved: &SavedWorld) -> Result<(), UnknownHandle> {
        if saved.world.mark != self.mark {
            return Err(UnknownHandle { what: "world", index: saved.world.mark as usize });
        }
        self.clone_from(&saved.world);
        Ok(())
    }

    /// The contacts of the last step: of all its pieces, where it was taken in some ([`World::step`]).
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What began and what ended to touch in the last step; always in the same order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What the last step came to.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Sets gravity on free bodies, world axes, m/s².
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.gravity = gravity.into();
    }

    pub(super) fn set_time(&mut self, time: f64, steps: u64) {
        (self.time, self.steps) = (time, steps);
    }

    /// Number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The mean force and torque over the last step on something touched, world axes, at the world's origin.
    pub fn force_on(&self, touched: Touched) -> Result<Wrench, UnknownHandle> {
        self.check(touched)?;
        let mut sum = Wrench::ZERO;
        for contact in &self.contacts {
            let sign = match touched {
                _ if contact.second == touched => 1.0,
                _ if contact.first == touched => -1.0,
                _ => continue,
            };
            let force = contact.force * sign;
            sum = sum + Wrench { force, torque: contact.point.cross(&force) };
        }
        for hold in &self.attachments.holds {
            match touched {
                Touched::Free(id) if id.index == hold.body => sum = sum + hold.wrench,
                Touched::Mechanism(id, body) if (id.index, body) == (hold.simulation, hold.link) => {
                    sum = sum - hold.wrench;
                }
                _ => {}
            }
        }
        Ok(sum)
    }
}

/// A saved [`World`].
#[derive(Clone, Debug)]
pub struct SavedWorld {
    world: Box<World>,
}

/// The kind of warning of shapes that start inside each other.
pub(super) const INSIDE: &str = "inside";
