//! Elastic zones: soft material on a body, which the world touches.
//!
//! A zone is bonded to its body, the bone, where it is inside the bone's shapes or inside a region of its own; its mass is added to
//! that of the bone. What it is made of is linear and isotropic; its Green's functions are made where contact needs them
//! (`contact/skin/`). A zone between two bodies is a [flexure](super::flexure).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use pliant_elastic::{Mesh, Solid};

use super::validate::Checks;
use super::{Body, BodyId, Element, Geometry, Mechanism, MechanismBuilder, Shape, UnknownHandle, WORLD};
use crate::spatial::SpatialInertia;

/// An elastic zone as it is written down.
///
/// ```
/// use pliant_core::{gallery, mechanism::*, spatial::Pose};
///
/// let mut builder = gallery::gripper().to_builder();
/// let finger = builder.build()?.bodies()[1].name.clone();
/// let mut builder = gallery::gripper().to_builder();
/// let pad = Shape::new(Geometry::Box { size: [0.02, 0.02, 0.01].into() });
/// let mut zone = ZoneDescription::new("pad", finger, pad).elasticity(2e5, 0.45); // Pa
/// zone.bonded = Some(Shape::new(Geometry::Box { size: [0.02, 0.02, 0.002].into() }).at(Pose::translation([0.0, 0.0, -0.005])));
/// builder.zone(zone);
/// assert_eq!(builder.build()?.zones()[0].name, "pad");
/// # Ok::<(), InvalidMechanism>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneDescription {
    /// Unique among zones.
    pub name: String,
    /// The bone; `world` for one that does not move.
    pub body: String,
    /// The other body of a flexure: a box that joins the two at the ends of its longest edge, and is bushing joints and bodies between
    /// them once the mechanism is built.
    pub to: Option<String>,
    /// What it looks like at rest, in the bone's link frame, with its density (1000 kg/m³ unless it has one) and friction.
    pub shape: Shape,
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio, above −1 and below 0.5.
    pub poisson: f64,
    /// Kelvin–Voigt damping: stress is that of the strain plus this time, s, by its rate.
    pub damping: f64,
    /// How long the edges of its surface are to be, m; `None` is an eighth of its radius, or as `nodes` has it.
    pub resolution: Option<f64>,
    /// About how many nodes its surface is to have, in place of a resolution.
    pub nodes: Option<usize>,
    /// How many pieces a flexure is cut into, so that it bends far; `None` is eight.
    pub pieces: Option<usize>,
    /// Where it is bonded: inside this shape, in the bone's link frame. `None` is inside the bone's shapes.
    pub bonded: Option<Shape>,
    /// Its inertia in the bone's link frame, where the volume is only known from a file.
    pub inertia: Option<SpatialInertia>,
    /// What it is made from, in the axes of its shape; `None` fills the shape. Resolution and nodes are those of this then.
    pub solid: Option<ZoneSolid>,
    /// Its Green's functions, once something needed them.
    pub(crate) made: Made,
}

impl ZoneDescription {
    /// Soft rubber, without damping.
    pub fn new(name: impl Into<String>, body: impl Into<String>, shape: Shape) -> ZoneDescription {
        ZoneDescription {
            name: name.into(),
            body: body.into(),
            to: None,
            shape,
            young: 1e6,
            poisson: 0.45,
            damping: 0.0,
            resolution: None,
            nodes: None,
            pieces: None,
            bonded: None,
            inertia: None,
            solid: None,
            made: Made::default(),
        }
    }

    /// With this Young's modulus, Pa, and Poisson's ratio.
    pub fn elasticity(mut self, young: f64, poisson: f64) -> ZoneDescription {
        (self.young, self.poisson) = (young, poisson);
        self
    }

    /// Its density, kg/m³.
    pub fn density(&self) -> f64 {
        self.shape.density.unwrap_or(DENSITY)
    }

    /// Its inertia in the bone's link frame; `None` if its volume is not known.
    fn mass(&self) -> Option<SpatialInertia> {
        let weighed = || Shape { density: Some(self.density()), ..self.shape.clone() };
        self.inertia.or_else(|| weighed().inertia())
    }
}

/// What an elastic zone is made from in place of its shape.
#[derive(Clone, Debug)]
pub enum ZoneSolid {
    /// These tetrahedra.
    Tetrahedra(Arc<Mesh>),
    /// These Green's functions, measured or made elsewhere: Young's modulus, Poisson's ratio and what is bonded do not matter then.
    Green(Arc<Solid>),
}

impl PartialEq for ZoneSolid {
    fn eq(&self, other: &ZoneSolid) -> bool {
        match (self, other) {
            (ZoneSolid::Tetrahedra(one), ZoneSolid::Tetrahedra(two)) => one == two,
            (ZoneSolid::Green(one), ZoneSolid::Green(two)) => {
                let outside = |solid: &Solid| (solid.nodes(), solid.mass(), *solid.material());
                one.green() == two.green()
                    && one.points() == two.points()
                    && one.triangles() == two.triangles()
                    && outside(one) == outside(two)
            }
            _ => false,
        }
    }
}

/// An elastic zone of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Unique among zones.
    pub name: String,
    /// The bone; `None` is the world.
    pub body: Option<BodyId>,
    /// As it was written down; the bone's name is that of `body`.
    pub description: ZoneDescription,
}

/// Points and triangles.
type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// What the Green's functions of a zone follow from.
#[derive(Debug, PartialEq)]
pub(crate) struct Ingredients {
    pub zone: ZoneDescription,
    /// What it is bonded to.
    pub bone: Vec<Shape>,
    /// Points and triangles of the files that these name.
    pub surfaces: Vec<Triangles>,
}

impl Ingredients {
    /// All that matters, as text that is the same in another run.
    pub fn text(&self) -> String {
        let ZoneDescription { shape, young, poisson, resolution, nodes, solid, damping, .. } = &self.zone;
        let density = self.zone.density();
        let bone: Vec<_> = self.bone.iter().map(|shape| (&shape.geometry, &shape.pose)).collect();
        format!(
            "{} {:?} {:?} {young:?} {poisson:?} {damping:?} {density:?} {resolution:?} {nodes:?} {solid:?} {bone:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            shape.geometry,
            shape.pose,
            self.surfaces
        )
    }
}

/// Green's functions that were made for a zone: copies of a mechanism share them, so that they are made once.
#[derive(Clone, Default)]
pub(crate) struct Made(Arc<OnceLock<(Ingredients, Arc<Solid>)>>);

impl Made {
    /// Those that follow from the same, made if they are not there.
    pub fn get_or_make<E>(
        &self,
        of: Ingredients,
        make: impl FnOnce(&Ingredients) -> Result<Solid, E>,
    ) -> Result<Arc<Solid>, E> {
        if let Some((_, solid)) = self.0.get().filter(|(known, _)| *known == of) {
            return Ok(solid.clone());
        }
        let solid = Arc::new(make(&of)?);
        // Where two make them at once, one is kept; a zone that was changed keeps none.
        let _ = self.0.set((of, solid.clone()));
        Ok(solid)
    }
}

/// They follow from what is compared already.
impl PartialEq for Made {
    fn eq(&self, _: &Made) -> bool {
        true
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "made" } else { "not made" })
    }
}

/// Of a zone that gives none: rubber, kg/m³.
const DENSITY: f64 = 1000.0;

impl MechanismBuilder {
    /// Adds an elastic zone.
    pub fn zone(&mut self, zone: ZoneDescription) -> &mut Self {
        self.zones.push(zone);
        self
    }

    /// A zone that was added, to change it.
    pub fn zone_mut(&mut self, name: &str) -> Option<&mut ZoneDescription> {
        self.zones.iter_mut().find(|zone| zone.name == name)
    }

    /// Zones by handle; adds their masses to those of their bones.
    pub(super) fn zones(
        &mut self,
        checks: &mut Checks,
        bodies: &HashMap<String, usize>,
        mark: u32,
    ) -> Vec<Zone> {
        let mut zones = Vec::new();
        for (i, zone) in self.zones.iter().enumerate().filter(|(_, zone)| zone.to.is_none()) {
            checks.zone(i, zone);
            let body = match zone.body.as_str() {
                WORLD => None,
                name => match checks.refer(bodies, name, Element::Zone(i), "body", "body") {
                    Some(body) => Some(body),
                    None => continue,
                },
            };
            if let (Some(body), Some(mass)) = (body, zone.mass())
                && mass != SpatialInertia::ZERO
            {
                let bone = &mut self.bodies[body].inertia;
                *bone = if *bone == SpatialInertia::ZERO { mass } else { bone.welded(&mass) };
            }
            let bone: &[Shape] = body.map_or(&self.world_shapes, |body: usize| &self.bodies[body].shapes);
            if zone.bonded.is_none() && bone.is_empty() && !matches!(zone.solid, Some(ZoneSolid::Green(_))) {
                checks.push(
                    Element::Zone(i),
                    Some("bonded"),
                    format!("nothing bonds zone `{}`: `{}` has no shape that reaches into it", zone.name, zone.body),
                    "give the body a shape that reaches into the zone, or say where it is bonded: bonded = { kind = \"box\", … }"
                        .into(),
                );
            }
            let (name, body) = (zone.name.clone(), body.map(|body| BodyId::new(body, mark)));
            zones.push(Zone { name, body, description: zone.clone() });
        }
        zones
    }
}

impl Mechanism {
    /// Elastic zones, in the order they were given.
    pub fn zones(&self) -> &[Zone] {
        &self.data.zones
    }

    /// Shapes of a body, or of the world, and those of its elastic zones at rest.
    pub fn shapes_of(&self, body: Option<BodyId>) -> Result<impl Iterator<Item = &Shape>, UnknownHandle> {
        let own = body.map_or(Ok(self.world_shapes()), |body| self.body(body).map(|body| &*body.shapes))?;
        let zones = self.zones().iter().filter(move |zone| zone.body == body);
        Ok(own.iter().chain(zones.map(|zone| &zone.description.shape)))
    }

    /// Bodies as they were given: without the masses of their zones.
    pub fn bare_bodies(&self) -> Vec<Body> {
        let mut bodies = self.bodies().to_vec();
        self.data.bones.iter().for_each(|(body, inertia)| bodies[*body].inertia = *inertia);
        bodies
    }
}

impl Checks {
    /// Everything of a zone but what it refers to; whether nothing is wrong.
    pub(super) fn zone(&mut self, i: usize, zone: &ZoneDescription) -> bool {
        let before = self.count();
        self.pieces(i, zone);
        let (element, name) = (Element::Zone(i), &zone.name);
        let owner = format!("zone `{name}`");
        let mut number = |field: &'static str, value: f64, good: bool, help: &str| {
            if !good {
                self.push(element, Some(field), format!("`{field}` of {owner} is {value}"), help.into());
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        number("young", zone.young, positive(zone.young), "finite and above zero, Pa");
        let poisson = zone.poisson > -1.0 && zone.poisson < 0.5;
        number("poisson", zone.poisson, poisson, "above -1 and below 0.5; rubber has 0.45 to 0.499");
        let damping = zone.damping.is_finite() && zone.damping >= 0.0;
        number("damping", zone.damping, damping, "finite and zero or above, s");
        if let Some(resolution) = zone.resolution {
            number(
                "resolution",
                resolution,
                positive(resolution),
                "the length of edges, finite and above zero, m",
            );
            let longest = match zone.shape.geometry {
                Geometry::Box { size } => size.max(),
                Geometry::Ball { radius } => 2.0 * radius,
                Geometry::Capsule { radius, half_length } => 2.0 * (half_length + radius),
                Geometry::Cylinder { radius, half_length } => 2.0 * half_length.max(radius),
                _ => f64::INFINITY,
            };
            if resolution > longest && resolution.is_finite() {
                let help = format!("the length of edges, less than that of the zone, {longest} m");
                number("resolution", resolution, false, &help);
            }
        }
        if let Some(nodes) = zone.nodes {
            let help = "a whole number from 8 to 20000";
            number("nodes", nodes as f64, (8..=20_000).contains(&nodes), help);
            number(
                "nodes",
                nodes as f64,
                zone.resolution.is_none(),
                "give `nodes` or `resolution`, not both",
            );
        }
        let solid = |geometry: &Geometry| !matches!(geometry, Geometry::Heightfield { .. } | Geometry::Plane);
        for (shape, what, field) in [
            (Some(&zone.shape), owner.clone(), "kind"),
            (zone.bonded.as_ref(), format!("what bonds {owner}"), "bonded"),
        ] {
            let Some(shape) = shape else { continue };
            self.shape(element, &what, shape);
            if !solid(&shape.geometry) {
                let message = format!("{what} is a {}, which has no interior", shape.geometry.name());
                self.push(
                    element,
                    Some(field),
                    message,
                    "a box, ball, capsule, cylinder, mesh or convex".into(),
                );
            }
        }
        if zone.mass().is_none() && solid(&zone.shape.geometry) {
            let message = format!(
                "the mass of {owner} is unknown: the volume of its {} is in a file",
                zone.shape.geometry.name()
            );
            self.push(element, Some("file"), message, "give its inertia".into());
        }
        self.count() == before
    }
}
