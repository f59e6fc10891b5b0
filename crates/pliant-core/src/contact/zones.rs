//! Elastic zones of a world: how they are added, and what is known of them after a step.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_elastic::Solid;

use super::collider::Collider;
use super::error::ContactError;
use super::pairs::Thing;
use super::rest::Grip;
use super::skin::{Skin, solid_of};
use super::world::{Base, SimulationId, Touched, World, serial};
use crate::engine::Warning;
use crate::mechanism::{BodyId, Shape, UnknownHandle, ZoneDescription};
use crate::spatial::Pose;

/// An elastic zone of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZoneId {
    pub(super) index: usize,
    serial: u64,
}

/// What is known of an elastic zone after a step. Vectors are in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct ZoneState<'w> {
    skin: &'w Skin,
    /// Where its frame is in the world.
    pub pose: Pose,
}

/// A node of an elastic zone that something pushed on in the last step. Vectors are in the axes of the zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchedNode {
    /// Which of [`Solid::points`].
    pub node: usize,
    /// How far it is from where it is at rest, m.
    pub displacement: Vector3<f64>,
    /// What pushes on it, N.
    pub force: Vector3<f64>,
    /// Its area as the part of that along the normal sees it, m².
    pub area: f64,
    /// That part over the area, Pa; infinite where no area faces it.
    pub pressure: f64,
    /// The rest of the force, along what it touches, over the area, Pa.
    pub traction: Vector3<f64>,
    /// How fast it slides along what it touches, m/s; next to nothing where it sticks.
    pub slip: Vector3<f64>,
    /// Whether friction holds it.
    pub grip: Grip,
}

impl ZoneState<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.skin.name
    }

    /// Its material, surface at rest and Green's functions.
    pub fn solid(&self) -> &Solid {
        &self.skin.solid
    }

    /// Elastic forces on its nodes: node of [`ZoneState::solid`] and force, N. At rest they are those of contact.
    pub fn loads(&self) -> &[(u32, Vector3<f64>)] {
        self.skin.loads()
    }

    /// How far its most displaced node is from where it is at rest, m.
    pub fn largest_displacement(&self) -> f64 {
        self.skin.largest_now()
    }

    /// Area of the nodes that are pushed, as the forces on them see it, m².
    pub fn contact_area(&self) -> f64 {
        self.loads().iter().map(|(node, load)| self.skin.area(*node, load)).fold(0.0, |sum, area| sum + area)
    }

    /// The largest force on a node over its area, Pa.
    pub fn largest_pressure(&self) -> f64 {
        let pressure = |(node, load): &(u32, Vector3<f64>)| load.norm() / self.skin.area(*node, load);
        self.loads().iter().map(pressure).filter(|x| x.is_finite()).fold(0.0, f64::max)
    }

    /// The warning of a zone that is pressed in so far that it is not linear any more.
    pub fn warning(&self) -> Option<Warning> {
        let part = self.skin.strain_now();
        (part > PRESSED).then(|| pressed_in(self.name(), part, None))
    }

    /// The nodes that something pushed on in the last step, or in its last piece.
    ///
    /// ```
    /// use pliant_core::{contact::*, engine::Simulation, engines::Engine, gallery};
    ///
    /// let mut scene = Scene::new(&gallery::pad(), Surfaces::new(), |held| Engine::Articulated.simulate(held).unwrap())?;
    /// (0..500).try_for_each(|_| scene.step(1e-3))?; // down, and beginning to move sideways
    /// let (_, pad) = scene.world().zones().next().ok_or("no zone")?;
    /// let pushed: f64 = pad.touched().map(|node| node.pressure * node.area).sum();
    /// let grip = |grip| pad.touched().filter(|node| node.grip == grip).count();
    /// assert!((pushed / pad.force().z.abs() - 1.0).abs() < 0.1); // the contact is nearly flat
    /// assert!(grip(Grip::Sticks) > 0 && grip(Grip::Slips) > 0); // it slips at the rim first
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn touched(&self) -> impl Iterator<Item = TouchedNode> {
        let pushed = self.loads().iter().zip(self.skin.pushed());
        pushed.filter(|(_, push)| push.force != Vector3::zeros()).map(|((node, _), push)| {
            let area = self.skin.area(*node, &push.normal);
            TouchedNode {
                node: *node as usize,
                displacement: self.skin.displacement(*node as usize),
                force: push.force,
                area,
                pressure: push.normal.norm() / area,
                traction: (push.force - push.normal) / area,
                slip: push.slip(),
                grip: if push.slips { Grip::Slips } else { Grip::Sticks },
            }
        })
    }

    /// The sum of the forces on its nodes, N, in world axes: the load on its bone.
    pub fn force(&self) -> Vector3<f64> {
        self.pose.rotation * self.loads().iter().map(|(_, load)| load).sum::<Vector3<f64>>()
    }

    /// Displacements of all points of its surface, m; `out` has as many entries as [`Solid::points`].
    pub fn displacements(&self, out: &mut [Vector3<f64>]) {
        out.fill(Vector3::zeros());
        for (node, load) in self.loads() {
            for (axis, force) in load.iter().enumerate() {
                let column = self.solid().column(*node as usize, axis);
                for (u, c) in out.iter_mut().zip(column.chunks_exact(3)) {
                    *u += Vector3::new(c[0], c[1], c[2]) * *force;
                }
            }
        }
    }
}

/// From where on it is warned of that a zone is pressed in, of its thickness.
pub(super) const PRESSED: f64 = 1.0 / 6.0;

/// The warning of a zone that is pressed in by a part of its thickness, or was at a time, s.
pub(super) fn pressed_in(zone: &str, part: f64, time: Option<f64>) -> Warning {
    let (was, when) = time.map_or(("is", String::new()), |time| ("was", format!(" at {time:.3} s")));
    let text = format!(
        "zone `{zone}` {was} pressed in by {:.0} % of its thickness{when}, beyond small strains: a ball in a bonded layer is 3 to 8 % \
         too soft at a sixth of the thickness and 15 to 24 % at a third",
        100.0 * part
    );
    Warning { kind: "large strain", measure: part, unit: "of the thickness", text }
}

impl World {
    /// Adds an elastic zone to something that is in the world: its `body` is ignored, and a mechanism that is added brings its own. Where
    /// it says of no region where it is bonded, `bone` are the shapes inside of which it is.
    ///
    /// ```
    /// use pliant_core::{contact::*, mechanism::*, spatial::*};
    ///
    /// let mut world = World::new(STANDARD_GRAVITY);
    /// let mut pad = ZoneDescription::new("pad", WORLD, Shape::new(Geometry::Box { size: [0.02, 0.02, 0.01].into() }));
    /// (pad.young, pad.resolution) = (1e5, Some(0.0035)); // Pa, m
    /// let floor = Shape::new(Geometry::Box { size: [0.1, 0.1, 0.01].into() }).at(Pose::translation([0.0, 0.0, -0.01]));
    /// let pad = world.add_zone(Touched::World, &pad, &[floor])?;
    /// let ball = Body::new("ball", Pose::translation([0.0, 0.0, 0.0151])).shape(Shape::new(Geometry::Ball { radius: 0.01 }));
    /// world.add_body(&ball.inertia(SpatialInertia::of_box(0.1, [0.016; 3])))?; // 0.1 kg
    /// (0..400).try_for_each(|_| world.step(0.002).map(drop))?;
    /// assert!((world.zone(pad)?.force().z + 0.981).abs() < 1e-3); // it carries the weight, N
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_zone(
        &mut self,
        on: Touched,
        zone: &ZoneDescription,
        bone: &[Shape],
    ) -> Result<ZoneId, ContactError> {
        self.check(on)?;
        let solid = solid_of(zone, bone, &self.surfaces)?;
        self.add_solid(on, zone, solid, None)
    }

    fn add_solid(
        &mut self,
        on: Touched,
        zone: &ZoneDescription,
        solid: (Arc<Solid>, f64),
        base: Option<(SimulationId, BodyId)>,
    ) -> Result<ZoneId, ContactError> {
        let index = self.skins.list.len();
        let owner = format!("zone `{}`", zone.name);
        let collider = Collider::of_skin(index, solid.0.points(), &zone.shape, &owner)?;
        let thing = match self.owners.iter().position(|owner| *owner == on) {
            Some(thing) => thing,
            None => self.add_bone(on)?,
        };
        self.skins.list.push(Skin::new(&zone.name, solid, thing, zone.shape.pose));
        let place = (thing, self.things[thing].colliders.len());
        self.things[thing].add(collider);
        if thing == 0 {
            self.pairs.iter_mut().for_each(|pair| pair.shift(1));
        }
        if let Touched::Free(id) = on {
            self.bodies[id.index].round = false;
        }
        if let Some(of) = base {
            let at = self.simulations[of.0.index].inputs().base;
            self.bases.push(Base { shape: place.1, of, at });
        }
        self.pass_bases(|new| new == place);
        self.added(|new| new == place);
        let id = ZoneId { index, serial: serial() };
        self.zone_ids.push(id);
        Ok(id)
    }

    /// A body of a mechanism that nothing touched yet.
    fn add_bone(&mut self, on: Touched) -> Result<usize, ContactError> {
        let Touched::Mechanism(id, body) = on else { unreachable!("the world and free bodies are things") };
        let simulation = &self.simulations[id.index];
        let mechanism = simulation.mechanism().clone();
        let Some(touch) = simulation.touch(body) else {
            let (mechanism, engine) = (mechanism.name().to_string(), simulation.engine());
            let wanted = "a body that moves; of `linear`, one with an effector".into();
            return Err(ContactError::NoShape { mechanism, engine, wanted });
        };
        let last = self.things.len();
        self.things.push(Thing::new(Some((id.index, touch)), simulation.touch_pose(touch), Vec::new()));
        self.owners.push(on);
        self.passes.push(mechanism[body].passes.clone());
        self.join(&mechanism, id, last);
        self.pass(last);
        Ok(last)
    }

    /// Adds the zones of a mechanism that was added.
    pub(super) fn add_zones_of(&mut self, id: SimulationId) -> Result<(), ContactError> {
        let mechanism = self.simulations[id.index].mechanism().clone();
        for zone in mechanism.zones() {
            let Some(body) = zone.body else { continue };
            if mechanism.order().node_of(body).is_some() {
                self.add_zone(Touched::Mechanism(id, body), &zone.description, &mechanism[body].shapes)?;
                continue;
            }
            // What is fixed to the world is part of it, where it is now.
            let solid = solid_of(&zone.description, &mechanism[body].shapes, &self.surfaces)?;
            let at = self.simulations[id.index].inputs().base * mechanism[body].pose;
            let mut there = zone.description.clone();
            there.shape.pose = at * there.shape.pose;
            self.add_solid(Touched::World, &there, solid, Some((id, body)))?;
        }
        Ok(())
    }

    /// What is known of a zone.
    pub fn zone(&self, id: ZoneId) -> Result<ZoneState<'_>, UnknownHandle> {
        if self.zone_ids.get(id.index) != Some(&id) {
            return Err(UnknownHandle { what: "zone", index: id.index });
        }
        let skin = &self.skins.list[id.index];
        let carrier = match self.owners[skin.thing] {
            Touched::World => Pose::identity(),
            Touched::Free(id) => self.bodies[id.index].pose(),
            Touched::Mechanism(id, body) => self.simulations[id.index].body_pose(body.index()),
        };
        Ok(ZoneState { skin, pose: carrier * skin.frame })
    }

    /// All zones, in the order they were added.
    pub fn zones(&self) -> impl Iterator<Item = (ZoneId, ZoneState<'_>)> {
        self.zone_ids.iter().filter_map(|id| self.zone(*id).ok().map(|state| (*id, state)))
    }
}
