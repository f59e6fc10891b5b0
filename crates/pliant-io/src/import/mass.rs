//! Mass and inertia of links, repaired where they cannot be, so that everything that moves has some.

use pliant_core::mechanism::{Geometry, Shape};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::SpatialInertia;

use super::context::Context;
use super::meaning::{Tree, weld};
use super::mesh::Mesh;
use super::parts::{Joint, Link};

/// The share of what it carries that a massless link between two joints takes over.
const SHARE: f64 = 1e-4;

/// How far the largest principal moment may exceed the sum of the others, as in the mechanism's checks.
const TRIANGLE_TOLERANCE: f64 = 1e-6;

/// Moments of inertia over the mass, m², up to which a link is a point: files have 1e-35 where they mean zero.
const POINT: f64 = 1e-20;

/// The smallest principal moment relative to the largest that is taken for a rounding error of zero.
const FLAT: f64 = 1e-9;

/// Density of the ball whose inertia a link gets that has mass but no inertia, and of shapes of robots without any mass, kg/m³.
const WATER: f64 = 1000.0;

trait Symmetric {
    fn symmetric(&self) -> Self;
}

impl Symmetric for Matrix3<f64> {
    /// The same but for rounding, equal to its transpose to the last bit.
    fn symmetric(&self) -> Self {
        (self + self.transpose()) * 0.5
    }
}

/// Makes a link's own inertia one that a rigid body can have.
pub(super) fn repair_inertia(link: &mut Link, context: &mut Context) {
    let Link { body, place } = link;
    let (name, M) = (&body.name, &mut body.inertia);
    if M.mass < 0.0 {
        context.warning(place, format!("link `{name}`: the mass is {}; it was read as 0", M.mass));
        *M = SpatialInertia::ZERO;
        return;
    }
    let moments = M.inertia.symmetric();
    M.inertia = moments;
    let scale = moments.amax();
    if M.mass == 0.0 {
        if scale > 0.0 {
            context.warning_of("inertia without mass", place, || {
                format!("link `{name}` has inertia but no mass; it was read as massless")
            });
        }
        *M = SpatialInertia::ZERO;
        return;
    }
    if scale <= POINT * M.mass {
        M.inertia = Matrix3::zeros();
        return;
    }
    if !scale.is_finite() {
        return;
    }
    let Some(eigen) = (moments / scale).try_symmetric_eigen(1e-15, 1000) else { return };
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let [a, b, c] = order.map(|i| eigen.eigenvalues[i]);
    if a >= -TRIANGLE_TOLERANCE * c && a + b >= c * (1.0 - TRIANGLE_TOLERANCE) && c > 0.0 {
        return;
    }
    // The least that makes a body of it: no moment below zero, then the two smaller ones raised alike
    // until their sum is the largest.
    let (a, b, c) = (a.max(0.0), b.max(0.0), c.max(0.0));
    let missing = (c - a - b).max(0.0) / 2.0;
    let mut repaired = Vector3::zeros();
    for (i, value) in order.into_iter().zip([a + missing, b + missing, c]) {
        repaired[i] = value;
    }
    let R = eigen.eigenvectors;
    // Rounding of a zero is not printed as a number.
    let rounded = |value: f64| if value.abs() < 1e-12 { 0.0 } else { value };
    let principal = order.map(|i| rounded(eigen.eigenvalues[i]) * scale);
    context.warning_of("impossible inertia", place, || {
        format!(
            "link `{name}`: no rigid body has the principal moments {:.4e}, {:.4e}, {:.4e} kg·m²; \
             the smaller ones were raised until one can",
            principal[0], principal[1], principal[2]
        )
    });
    M.inertia = (R * Matrix3::from_diagonal(&(repaired * scale)) * R.transpose()).symmetric();
}

/// Where no link of a robot has a mass, they get that of their collision shapes in water, so that it can be looked at all the same.
pub(super) fn give_shapes_mass(links: &mut [Link], context: &mut Context) {
    if links.iter().any(|link| link.body.inertia.mass != 0.0) {
        return;
    }
    let mut given = 0;
    for Link { body, .. } in &mut *links {
        let solids = body.shapes.iter().filter(|shape| shape.touches).filter_map(in_water);
        let Some(whole) = solids.reduce(|a, b| a.welded(&b)) else { continue };
        body.inertia = SpatialInertia { inertia: whole.inertia.symmetric(), ..whole };
        given += 1;
    }
    if let Some(Link { place, .. }) = links.first().filter(|_| given > 0) {
        let (place, of) = (place.clone(), links.len());
        context.warning(
            &place,
            format!(
                "no link has a mass: {given} of {of} got that of their collision shapes at the density of water ({WATER} kg/m³); weight, \
                 motion and default springs follow from it, but the file's own springs do not"
            ),
        );
    }
}

/// The inertia of a shape in water, if it encloses anything.
fn in_water(shape: &Shape) -> Option<SpatialInertia> {
    let heavy = Shape { density: Some(WATER), ..shape.clone() };
    if let Some(inertia) = heavy.inertia() {
        return Some(inertia);
    }
    let Geometry::Convex { file, scale } = &shape.geometry else { return None };
    let solid = Mesh::load(file, scale).and_then(|mesh| mesh.hull()).ok()?.solid();
    let (mass, inertia) = (solid.mass * WATER, solid.inertia * WATER);
    (mass > 0.0).then(|| SpatialInertia { mass, inertia, ..solid }.in_outer(&shape.pose))
}

/// Every set of welded links gets mass and inertia, or is welded to what carries it.
pub(super) fn give_mass(tree: &Tree, links: &mut [Link], joints: &mut [Joint], context: &mut Context) {
    let heads = tree.heads(joints);
    let mut sets: Vec<Set> = (0..links.len()).map(|_| Set::default()).collect();
    for &i in &tree.order {
        let Some(h) = heads[i] else { continue };
        let own = links[i].body.inertia.in_outer(&links[h].body.pose.inverse_times(&links[i].body.pose));
        sets[h].inertia = if i == h { own } else { sets[h].inertia.welded(&own) };
        sets[h].links.push(i);
    }
    sets.iter_mut().filter(|set| set.inertia.mass > 0.0).for_each(|set| set.thicken(links, context));

    let (mut welded, mut shared) = (Vec::new(), Vec::new());
    for &i in tree.order.iter().rev().filter(|i| heads[**i] == Some(**i)) {
        if sets[i].inertia.mass == 0.0 {
            match (sets[i].heaviest, tree.joint[i]) {
                (Some(carried), _) => {
                    let outer = links[i].body.pose.inverse_times(&links[carried].body.pose);
                    links[i].body.inertia = sets[carried].give_share(links).in_outer(&outer);
                    sets[i].inertia = links[i].body.inertia;
                    shared.push(i);
                }
                (None, Some(j)) => {
                    weld(&mut joints[j].description);
                    welded.push(i);
                    continue;
                }
                // A free link without mass: the mechanism's checks say so.
                (None, None) => continue,
            }
        }
        if let Some(above) = tree.parent[i].and_then(|p| heads[p]) {
            let lighter = |other: usize| sets[other].inertia.mass < sets[i].inertia.mass;
            if sets[above].heaviest.is_none_or(lighter) {
                sets[above].heaviest = Some(i);
            }
        }
    }
    for &i in welded.iter().rev() {
        let name = &links[i].body.name;
        let joint = tree.joint[i].map_or("", |j| &joints[j].description.name);
        context.warning_of("massless", &links[i].place, || {
            format!("link `{name}` has no mass and carries none: joint `{joint}` was fixed")
        });
    }
    if let Some(&first) = shared.last() {
        let (others, take) = match shared.len() {
            1 => (String::new(), "has no mass: it takes"),
            more => (format!(" and {} more", more - 1), "have no mass: each takes"),
        };
        let (line, name) = (context.line(&links[first].place), &links[first].body.name);
        context.note(format!(
            "{line}: link `{name}`{others} between two joints {take} {SHARE:e} of the mass it carries"
        ));
    }
}

/// Links that are welded together.
struct Set {
    /// Their inertia, in the frame of the first of them.
    inertia: SpatialInertia,
    links: Vec<usize>,
    /// The heaviest set that hangs on them by a joint that moves.
    heaviest: Option<usize>,
}

impl Default for Set {
    fn default() -> Set {
        Set { inertia: SpatialInertia::ZERO, links: Vec::new(), heaviest: None }
    }
}

impl Set {
    /// Gives them inertia about every axis, with a warning.
    fn thicken(&mut self, links: &mut [Link], context: &mut Context) {
        let Set { inertia: M, links: set, .. } = self;
        let scale = M.inertia.amax();
        let smallest = if scale > 0.0 { (M.inertia / scale).symmetric_eigenvalues().min() } else { 0.0 };
        if !M.mass.is_finite() || !scale.is_finite() || smallest > FLAT {
            return;
        }
        let (added, how) = if scale > 0.0 {
            (1e-3 * scale, "a thousandth of the largest moment was added to each")
        } else {
            let radius = (M.mass / WATER * 0.75 / std::f64::consts::PI).cbrt();
            (0.4 * M.mass * radius * radius, "it got the inertia of a ball of water of its mass")
        };
        // The heaviest: a link without mass can have no inertia.
        let by_mass =
            |a: &&usize, b: &&usize| links[**a].body.inertia.mass.total_cmp(&links[**b].body.inertia.mass);
        let Some(&i) = set.iter().max_by(by_mass) else { return };
        let Link { body, place } = &mut links[i];
        let name = &body.name;
        context.warning_of("flat inertia", place, || {
            format!("link `{name}` turns about some axis without inertia; {how}")
        });
        body.inertia.inertia += Matrix3::identity() * added;
        M.inertia += Matrix3::identity() * added;
    }

    /// Takes a small share of all of them, in the frame of the first.
    fn give_share(&mut self, links: &mut [Link]) -> SpatialInertia {
        let scaled = |M: &SpatialInertia, factor: f64| SpatialInertia {
            mass: M.mass * factor,
            center_of_mass: M.center_of_mass,
            inertia: M.inertia * factor,
        };
        let share = scaled(&self.inertia, SHARE);
        self.inertia = scaled(&self.inertia, 1.0 - SHARE);
        for &i in &self.links {
            links[i].body.inertia = scaled(&links[i].body.inertia, 1.0 - SHARE);
        }
        share
    }
}
