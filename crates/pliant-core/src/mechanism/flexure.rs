//! Flexures: an elastic zone between two bodies becomes bushing joints in a row, with bodies between them.
//!
//! The zone is a box, bonded at the two ends of its longest edge, along e. `pliant_elastic::Flexure` condenses it to these ends: about
//! its middle, one end held, its stiffness K is diagonal, since the box is symmetric. Cut into n pieces with their middles at x_k, each
//! piece is one bushing there with the compliance c, a diagonal too, so that small motions of all together are those of the whole:
//!
//! ```text
//! K⁻¹ = Σ Ad(x_k) c Ad(x_k)ᵀ   ⟹   c_φ = C_φ/n,   c_p = (C_p − Σx_k² [e]ₓ c_φ [e]ₓᵀ)/n
//! ```
//!
//! with Σx_k² = s²n(n² − 1)/12 for pieces s apart. s is the length of a piece, or less where what is held at the ends makes the box
//! bend like a shorter one: 12 C_p/C_φ is the square of that length, and with it c_p is never negative. What is cut is exact for small
//! motions and bends far with the error of n straight pieces. The mass of a piece is shared by the two bodies that it joins.

use nalgebra::Vector3;
use pliant_elastic::flexure::Flexure;
use pliant_elastic::{ElasticError, Material, Mesh};

use super::builder::MechanismBuilder;
use super::description::{JointDescription, PerFreedom};
use super::validate::Checks;
use super::{Body, Element, Geometry, Shape, WORLD, ZoneDescription};
use crate::joints::JointKind;
use crate::spatial::{Pose, SpatialInertia};

/// Pieces of a zone that gives none: the shortening of a bent leaf is then right to 1 % (`tests/parts/flexure.rs`).
const PIECES: usize = 8;

/// Pieces at most.
const MOST: usize = 200;

/// What is this near to a shape, of the zone's length, is at it.
const AT: f64 = 1e-6;

/// Which zone each body and joint comes from that was added.
#[derive(Default)]
pub(super) struct Added {
    pub bodies: Vec<usize>,
    pub joints: Vec<usize>,
}

/// What keeps a zone from being a flexure: key, what is wrong, what would be right.
type Wrong = (&'static str, String, String);

/// A box between two bodies.
struct Leaf {
    /// The two bodies; the first holds the low end.
    ends: [End; 2],
    /// The middle of what is not held, its axes those of the box, in the world.
    pose: Pose,
    /// Its edges, and which of them is the longest.
    size: Vector3<f64>,
    axis: usize,
}

/// What holds an end: a body by its place among all, or the world; and how much of the box is inside it, m.
#[derive(Clone, Copy)]
struct End {
    body: Option<usize>,
    inside: f64,
}

impl MechanismBuilder {
    /// Takes zones between two bodies as joints and bodies.
    pub(super) fn join_by_flexures(&mut self, checks: &mut Checks) -> Added {
        let mut added = Added::default();
        let mut known: Vec<(ZoneDescription, [f64; 6])> = Vec::new();
        for i in 0..self.zones.len() {
            if self.zones[i].to.is_none() || !checks.zone(i, &self.zones[i]) {
                continue;
            }
            let zone = self.zones[i].clone();
            let made = self.leaf(&zone).and_then(|leaf| Ok((stiffness(&zone, &leaf, &mut known)?, leaf)));
            match made {
                Ok((stiffness, leaf)) => self.take(&zone, i, &leaf, &stiffness, &mut added),
                Err((field, message, help)) => checks.push(Element::Zone(i), Some(field), message, help),
            }
        }
        added
    }

    /// The shapes that hold a zone there, and their frame in the world.
    fn holding(&self, name: &str) -> Option<(Option<usize>, Pose, &[Shape])> {
        if name == WORLD {
            return Some((None, Pose::identity(), &self.world_shapes));
        }
        let i = self.bodies.iter().position(|body| body.name == name)?;
        Some((Some(i), self.bodies[i].pose, &self.bodies[i].shapes))
    }

    fn leaf(&self, zone: &ZoneDescription) -> Result<Leaf, Wrong> {
        let name = &zone.name;
        let to = zone.to.as_deref().expect("a zone between two bodies");
        let find = |field: &'static str, name: &str| {
            let help = "name a body of this file, or `world`".to_string();
            self.holding(name).ok_or_else(|| (field, format!("there is no body `{name}`"), help))
        };
        let holding = [find("body", &zone.body)?, find("to", to)?];
        if zone.body == to {
            let help = "name the two bodies that it joins".into();
            return Err(("to", format!("zone `{name}` joins `{to}` to itself"), help));
        }
        let Geometry::Box { size } = zone.shape.geometry else {
            let message = format!("zone `{name}` between two bodies is a {}", zone.shape.geometry.name());
            return Err(("kind", message, "a box, which is bonded at the ends of its longest edge".into()));
        };
        if zone.bonded.is_some() {
            let message = format!("zone `{name}` joins two bodies, and has a region where it is bonded");
            return Err((
                "bonded",
                message,
                "leave it out: it is bonded at the ends of its longest edge".into(),
            ));
        }
        let pose = holding[0].1 * zone.shape.pose;
        let axis = size.imax();
        let half = 0.5 * size[axis];
        let inside = |holding: &(Option<usize>, Pose, &[Shape]), x: f64| {
            let mut at = Vector3::zeros();
            at[axis] = x;
            let at = (holding.1.inverse() * pose).transform_point(&at);
            holding.2.iter().any(|shape| contains(shape, &at, AT * size[axis]))
        };
        // The end that is in a body's shape is that body's; where no shape says so, the first has the low end.
        let [one, two] = &holding;
        let straight = inside(one, -half) || inside(two, half);
        let swapped = !straight && (inside(one, half) || inside(two, -half));
        let [low, high] = if swapped { [two, one] } else { [one, two] };
        let mut deep = [0.0; 2];
        for (deep, (holding, side)) in deep.iter_mut().zip([(low, -1.0), (high, 1.0)]) {
            if inside(holding, 0.0) {
                let message =
                    format!("the middle of zone `{name}` is inside a shape of a body that holds its end");
                return Err((
                    "position",
                    message,
                    "between its two bodies, with an end at or in each".into(),
                ));
            }
            let (mut held, mut loose) = (half, 0.0);
            if inside(holding, side * half) {
                while held - loose > AT * half {
                    let x = 0.5 * (held + loose);
                    *(if inside(holding, side * x) { &mut held } else { &mut loose }) = x;
                }
            }
            // An end at a face is not inside.
            *deep = if half - held > 4.0 * AT * half { half - held } else { 0.0 };
        }
        let mut middle = Vector3::zeros();
        middle[axis] = 0.5 * (deep[0] - deep[1]);
        let mut free = size;
        free[axis] -= deep[0] + deep[1];
        let ends = [End { body: low.0, inside: deep[0] }, End { body: high.0, inside: deep[1] }];
        Ok(Leaf { ends, pose: pose * Pose::translation(middle.into()), size: free, axis })
    }

    /// Adds the joints and bodies of a leaf with this stiffness, and its mass.
    fn take(&mut self, zone: &ZoneDescription, i: usize, leaf: &Leaf, K: &[f64; 6], added: &mut Added) {
        let n = zone.pieces.unwrap_or(PIECES);
        let length = leaf.size[leaf.axis] / n as f64;
        let at = |x: f64| {
            let mut point = Vector3::zeros();
            point[leaf.axis] = x;
            leaf.pose * Pose::translation(point.into())
        };
        let slice = |from: f64, to: f64| {
            let mut size = leaf.size;
            size[leaf.axis] = to - from;
            let mass = zone.density() * size.product();
            let shape = Shape { touches: false, ..Shape::new(Geometry::Box { size }) };
            (at(0.5 * (from + to)), shape, SpatialInertia::of_box(mass, size.into()))
        };
        let half = 0.5 * leaf.size[leaf.axis];
        let name = |k: usize| format!("{} {k}", zone.name);
        let mut row = Vec::with_capacity(n + 1);
        for (end, (from, to)) in leaf.ends.iter().zip([
            (-half - leaf.ends[0].inside, 0.5 * length - half),
            (half - 0.5 * length, half + leaf.ends[1].inside),
        ]) {
            let (pose, shape, inertia) = slice(from, to);
            match end.body {
                Some(body) => {
                    let body = &mut self.bodies[body];
                    let in_link = body.pose.inverse() * pose;
                    let inertia = inertia.in_outer(&in_link);
                    let none = body.inertia == SpatialInertia::ZERO;
                    body.inertia = if none { inertia } else { body.inertia.welded(&inertia) };
                    body.shapes.push(shape.at(in_link));
                }
                None => self.world_shapes.push(shape.at(pose)),
            }
            row.push(end.body.map_or(WORLD.to_string(), |body| self.bodies[body].name.clone()));
        }
        for k in 1..n {
            let x = k as f64 * length - half;
            let (pose, shape, inertia) = slice(x - 0.5 * length, x + 0.5 * length);
            self.bodies.push(Body::new(name(k), pose).inertia(inertia).shape(shape));
            row.insert(k, name(k));
            added.bodies.push(i);
        }
        let (k, apart) = pieces(K, n, leaf);
        // Joints lead away from the world: not to a free base, nor back to what carries it.
        let is_root = |name: &str| name == WORLD || self.bodies.iter().any(|b| b.name == name && b.free);
        let backward = is_root(&row[n]) && !is_root(&row[0]) || self.carries(&row[n], &row[0]);
        for (piece, pair) in row.windows(2).enumerate() {
            let x = (piece as f64 - 0.5 * (n as f64 - 1.0)) * apart;
            let [parent, child] = if backward { [&pair[1], &pair[0]] } else { [&pair[0], &pair[1]] };
            let joint = JointDescription::new(
                format!("{} joint", name(piece + 1)),
                JointKind::Bushing,
                parent,
                child,
            )
            .frame(at(x))
            .stiffness(PerFreedom::Each(k.to_vec()))
            .linear_to(PerFreedom::Each(range(leaf, n).to_vec()))
            .damping(PerFreedom::Each(k.iter().map(|k| k * zone.damping).collect()));
            self.joints.push(joint);
            added.joints.push(i);
        }
    }
}

/// Stiffness of each of n pieces, and how far they are apart.
fn pieces(K: &[f64; 6], n: usize, leaf: &Leaf) -> ([f64; 6], f64) {
    let n = n as f64;
    let (a, b, c) = (leaf.axis, (leaf.axis + 1) % 3, (leaf.axis + 2) % 3);
    // A force along b bends about c, one along c about b; 12 C_p/C_φ = 12 K_φ/K_p.
    let lateral = [(b, c), (c, b)];
    let shortest = lateral.map(|(p, turn)| (12.0 * K[3 + turn] / K[p]).sqrt());
    let apart = shortest.into_iter().fold(leaf.size[a], f64::min) / n;
    let mut k = K.map(|k| n * k);
    for (p, turn) in lateral {
        let bent = apart * apart * (n * n - 1.0) / (12.0 * K[3 + turn]);
        k[p] = n / (K[p].recip() - bent);
    }
    (k, apart)
}

/// How far a piece of n is linear: up to a strain, and up to a turn that its chord is shorter by than its arc, θ²/24.
fn range(leaf: &Leaf, n: usize) -> [f64; 6] {
    let length = leaf.size[leaf.axis] / n as f64;
    let (a, b, c) = (leaf.axis, (leaf.axis + 1) % 3, (leaf.axis + 2) % 3);
    let mut range = [STRAIN * length; 6];
    // Bending about b strains along c, and twist both.
    let far = [(a, leaf.size[b].max(leaf.size[c])), (b, leaf.size[c]), (c, leaf.size[b])];
    for (turn, across) in far {
        range[3 + turn] = (2.0 * STRAIN * length / across).min(TURN);
    }
    range
}

/// A strain at which a bar that is bent is 2 % stiffer than a linear one (`crates/pliant-elastic/README.md`: 30° over three widths), and a
/// turn at which a chord is 1 % shorter than its arc, rad.
const STRAIN: f64 = 0.087;
const TURN: f64 = 0.5;

/// The diagonal of the stiffness about the middle of a leaf, one end held: force along its axes, torque about them.
fn stiffness(
    zone: &ZoneDescription,
    leaf: &Leaf,
    known: &mut Vec<(ZoneDescription, [f64; 6])>,
) -> Result<[f64; 6], Wrong> {
    // Leaves of a stage are often the same.
    let geometry = Geometry::Box { size: leaf.size };
    let alike = ZoneDescription {
        name: String::new(),
        body: String::new(),
        to: None,
        shape: Shape { density: zone.shape.density, ..Shape::new(geometry) },
        ..zone.clone()
    };
    if let Some((_, stiffness)) = known.iter().find(|(other, _)| *other == alike) {
        return Ok(*stiffness);
    }
    let wrong = |error: ElasticError| {
        (
            "resolution",
            format!("zone `{}` cannot be a flexure: {error}", zone.name),
            "another size or resolution".into(),
        )
    };
    let material = Material::new(zone.young, zone.poisson, zone.damping, zone.density()).map_err(wrong)?;
    let Some(cells) = cells(&leaf.size, zone.resolution) else {
        let message = format!("zone `{}` has more than {MOST_CELLS} cells at this resolution", zone.name);
        return Err(("resolution", message, "a coarser one, or none".into()));
    };
    let along = |i: usize| -> Vec<f64> {
        (0..=cells[i]).map(|k| leaf.size[i] * (k as f64 / cells[i] as f64 - 0.5)).collect()
    };
    let mesh = Mesh::grid(&along(0), &along(1), &along(2)).map_err(wrong)?;
    let half = 0.5 * leaf.size[leaf.axis];
    let end = |p: &Vector3<f64>| match p[leaf.axis] {
        x if x < -half * (1.0 - AT) => Some(0),
        x if x > half * (1.0 - AT) => Some(1),
        _ => None,
    };
    let flexure =
        Flexure::new(&mesh, &material, &[Vector3::zeros(), Vector3::zeros()], end, |_| ()).map_err(wrong)?;
    let stiffness = std::array::from_fn(|i| flexure.stiffness()[(6 + i, 6 + i)]);
    known.push((alike, stiffness));
    Ok(stiffness)
}

/// Cells along each edge, an even number, for the mesh has the symmetry of the box then; two across the thinnest, elsewhere not longer than
/// that is thin, or what makes too many (`tests/parts/flexure.rs` compares the frequency of a stage with that of half the edges).
/// `None` if a resolution makes too many.
fn cells(size: &Vector3<f64>, resolution: Option<f64>) -> Option<[usize; 3]> {
    let along = |edge: f64| size.map(|s| 2.0 * (0.5 * s / edge).ceil().max(1.0));
    let mut edge = resolution.unwrap_or(f64::INFINITY).min(size.min());
    while along(edge).product() > MOST_CELLS {
        if resolution.is_some() || edge > size.max() {
            return None;
        }
        edge *= 1.1;
    }
    Some(along(edge).map(|n| n as usize).into())
}

/// Cells at most: seconds.
const MOST_CELLS: f64 = 6000.0;

/// Whether a point in a link frame is in a shape, or as near to it. Shapes of files are not asked.
fn contains(shape: &Shape, point: &Vector3<f64>, near: f64) -> bool {
    let p = shape.pose.inverse().transform_point(point);
    match shape.geometry {
        Geometry::Box { size } => (0..3).all(|i| p[i].abs() <= 0.5 * size[i] + near),
        Geometry::Ball { radius } => p.norm() <= radius + near,
        Geometry::Capsule { radius, half_length } => {
            let beyond = (p.z.abs() - half_length).max(0.0);
            Vector3::new(p.x, p.y, beyond).norm() <= radius + near
        }
        Geometry::Cylinder { radius, half_length } => {
            p.xy().norm() <= radius + near && p.z.abs() <= half_length + near
        }
        Geometry::Mesh { .. } | Geometry::Convex { .. } | Geometry::Heightfield { .. } | Geometry::Plane => {
            false
        }
    }
}

impl Checks {
    /// What a zone between two bodies says that others do not; whether that is right.
    pub(super) fn pieces(&mut self, i: usize, zone: &ZoneDescription) {
        let (element, name) = (Element::Zone(i), &zone.name);
        if let Some(n) = zone.pieces.filter(|n| !(1..=MOST).contains(n)) {
            let message = format!("`pieces` of zone `{name}` is {n}");
            self.push(element, Some("pieces"), message, format!("a whole number from 1 to {MOST}"));
        }
        if zone.to.is_none() && zone.pieces.is_some() {
            let message = format!("zone `{name}` is in pieces, but joins no two bodies");
            self.push(element, Some("pieces"), message, "name the other body: to = \"…\"".into());
        }
        if zone.to.is_some() && zone.nodes.is_some() {
            let message = format!("zone `{name}` joins two bodies, and has a number of nodes");
            self.push(element, Some("nodes"), message, "give a resolution, or neither".into());
        }
    }
}
