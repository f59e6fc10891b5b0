//! Elastic zones in contact (James and Pai 2002): nodes of a soft surface touch shapes and other soft surfaces.
//!
//! A node is a point of its bone and its own displacement u, which follows the forces f on all nodes of its zone at once,
//! without inertia of its own; with Kelvin–Voigt damping of τ seconds, in a step of h seconds,
//!
//! ```text
//! u + τu̇ = Ξf   ⟹   (u⁺ − u)/h = Ξλ/(h(h + τ)) − u/(h + τ),   λ = hf
//! ```
//!
//! so the equations of contact get Ξ/(h(h + τ)) between all nodes of a zone that touch, and −u/(h + τ) in their free velocities. The bone
//! feels the impulses at the nodes as it does those of its rigid shapes: the same solver, the same engines. Nothing is softened or
//! recovered over time: a node that touches is on the surface at the end of the step.
//!
//! u of all nodes need not be kept: u = Ξg, where g are the forces that the springs of the material carry, which only nodes have that are or
//! were touched; g⁺ = (hf + τg)/(h + τ).

mod clusters;
mod distance;
mod finding;
mod make;

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use parry3d_f64::shape::TriMesh;
use pliant_elastic::Solid;

use self::clusters::{Cluster, clusters};
use super::convert::vector;
use super::delassus::{Equations, Part};
use crate::spatial::Pose;
pub(super) use make::solid_of;
pub use make::{Making, make_zones};

/// A place on a soft surface: a node, or a point between three; with its displacement now, in the axes of the zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    nodes: [u32; 3],
    weights: [f64; 3],
    u: Vector3<f64>,
}

impl Spot {
    fn node(node: u32, u: Vector3<f64>) -> Spot {
        Spot { nodes: [node; 3], weights: [1.0, 0.0, 0.0], u }
    }

    fn parts(&self) -> impl Iterator<Item = (usize, f64)> {
        let pairs = self.nodes.into_iter().zip(self.weights);
        pairs.filter(|(_, weight)| *weight != 0.0).map(|(node, weight)| (node as usize, weight))
    }
}

/// One side of a contact that is soft.
#[derive(Clone, Copy, Debug)]
struct Side {
    skin: usize,
    /// Where its push is in the equations, and its contact.
    part: usize,
    place: usize,
    contact: usize,
    spot: Spot,
    /// Normal and tangents in the axes of the zone, as the force on it has them.
    axes: Matrix3<f64>,
}

/// The soft surface of a zone.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    pub name: String,
    pub solid: Arc<Solid>,
    /// What carries it, and its frame there.
    pub thing: usize,
    pub frame: Pose,
    damping: f64,
    at_rest: Arc<AtRest>,
    /// g, N, in the axes of the zone, what pushed on each of these nodes in the last step, and where each node is in the two lists.
    loads: Vec<(u32, Vector3<f64>)>,
    pushed: Vec<Pushed>,
    slots: Vec<u32>,
    /// How far a node is displaced at most, m.
    largest: f64,
    /// Nodes near the other shape at hand, and their displacements.
    near: Vec<Near>,
    moved: Vec<Vector3<f64>>,
}

/// A node near another shape, and how far from it it is at rest, m.
#[derive(Clone, Copy, Debug)]
struct Near {
    node: u32,
    at_rest: f64,
}

/// What pushed on a node in the last step, in the axes of the zone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pushed {
    /// N.
    pub force: Vector3<f64>,
    /// Its part along the normals of what pushes, N.
    pub normal: Vector3<f64>,
    /// How fast it slides along that, m/s, times the force along the normal, N.
    sliding: Vector3<f64>,
    pressing: f64,
    /// Whether friction is at its bound somewhere.
    pub slips: bool,
}

impl Pushed {
    /// A part of the force of a contact with these axes, normal first, and this force and sliding along them.
    fn new(
        axes: &Matrix3<f64>,
        (force, velocity): (&Vector3<f64>, &Vector3<f64>),
        friction: f64,
        weight: f64,
    ) -> Pushed {
        let pressing = force.x * weight;
        Pushed {
            force: axes * force * weight,
            normal: axes.column(0) * pressing,
            sliding: axes * Vector3::new(0.0, velocity.y, velocity.z) * pressing,
            pressing,
            slips: force.y.hypot(force.z) >= (1.0 - AT_BOUND) * friction * force.x,
        }
    }

    fn add(&mut self, other: &Pushed) {
        self.force += other.force;
        self.normal += other.normal;
        self.sliding += other.sliding;
        self.pressing += other.pressing;
        self.slips |= other.slips;
    }

    /// How fast it slides, m/s.
    pub fn slip(&self) -> Vector3<f64> {
        if self.pressing > 0.0 { self.sliding / self.pressing } else { Vector3::zeros() }
    }
}

/// Friction this near to its bound is at it, as of [`Contact::grip`](super::Contact::grip).
const AT_BOUND: f64 = 1e-6;

/// What does not change of a soft surface.
#[derive(Clone, Debug)]
struct AtRest {
    /// Its nodes that can be touched, those near each other together.
    clusters: Vec<Cluster>,
    /// Its triangles, and which of them are around each point.
    surface: TriMesh,
    around: Vec<Vec<u32>>,
    /// Of each point, the area of a third of the triangles around it times their normals, m².
    facing: Vec<Vector3<f64>>,
    /// The middle of the box around it and half its edges.
    bounds: (Vector3<f64>, Vector3<f64>),
    /// How far from what is bonded the farthest point is, m.
    thickness: f64,
    /// The longest edge of its triangles, m.
    edge: f64,
}

impl AtRest {
    fn new(solid: &Solid, thickness: f64) -> AtRest {
        let points = solid.points();
        let mut facing = vec![Vector3::zeros(); points.len()];
        let mut around = vec![Vec::new(); points.len()];
        let mut edge = 0.0f64;
        for (t, triangle) in solid.triangles().iter().enumerate() {
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            edge = [a - b, b - c, c - a].iter().fold(edge, |edge, side| edge.max(side.norm()));
            let share = (b - a).cross(&(c - a)) / 6.0;
            for i in triangle {
                facing[*i as usize] += share;
                around[*i as usize].push(t as u32);
            }
        }
        let low = points.iter().fold(Vector3::repeat(f64::INFINITY), |m, p| m.inf(p));
        let high = points.iter().fold(Vector3::repeat(f64::NEG_INFINITY), |m, p| m.sup(p));
        AtRest {
            clusters: clusters(&points[..solid.nodes()]),
            surface: TriMesh::new(points.iter().map(vector).collect(), solid.triangles().to_vec())
                .expect("a solid has a surface"),
            around,
            facing,
            bounds: ((low + high) * 0.5, (high - low) * 0.5),
            thickness,
            edge,
        }
    }
}

/// No slot.
const NONE: u32 = u32::MAX;

/// A load below this, of the largest, is over.
const OVER: f64 = 1e-9;

impl Skin {
    /// Relaxed, of a zone whose surface is at most so thick over what it is bonded to.
    pub fn new(name: &str, (solid, thickness): (Arc<Solid>, f64), thing: usize, frame: Pose) -> Skin {
        Skin {
            name: name.into(),
            thing,
            frame,
            damping: solid.material().damping(),
            at_rest: Arc::new(AtRest::new(&solid, thickness)),
            loads: Vec::with_capacity(solid.nodes()),
            pushed: Vec::with_capacity(solid.nodes()),
            slots: vec![NONE; solid.nodes()],
            largest: 0.0,
            near: Vec::with_capacity(solid.nodes()),
            moved: Vec::with_capacity(solid.nodes()),
            solid,
        }
    }

    /// Forces of the material's springs on its nodes, N, in the axes of the zone.
    pub fn loads(&self) -> &[(u32, Vector3<f64>)] {
        &self.loads
    }

    /// Of each of these nodes, what pushed on it in the last step.
    pub fn pushed(&self) -> &[Pushed] {
        &self.pushed
    }

    /// How far nodes that touched were displaced at most when the last step began, m.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// How far a node that is touched is displaced at most now, m.
    pub fn largest_now(&self) -> f64 {
        self.loads.iter().map(|(node, _)| self.displacement(*node as usize).norm()).fold(0.0, f64::max)
    }

    /// The area of a node as a force on it sees it, m².
    pub fn area(&self, node: u32, force: &Vector3<f64>) -> f64 {
        let length = force.norm();
        if length > 0.0 { (-self.at_rest.facing[node as usize].dot(force) / length).max(0.0) } else { 0.0 }
    }

    /// How far apart nodes of its surface are at most that are next to each other, m.
    pub fn edge(&self) -> f64 {
        self.at_rest.edge
    }

    /// How much of its thickness it was pressed in by when the last step began.
    pub fn strain(&self) -> f64 {
        self.of_thickness(self.largest)
    }

    /// The same now.
    pub fn strain_now(&self) -> f64 {
        self.of_thickness(self.largest_now())
    }

    fn of_thickness(&self, way: f64) -> f64 {
        let thickness = self.at_rest.thickness;
        if thickness > 0.0 { way / thickness } else { 0.0 }
    }

    /// Where a node is at rest.
    fn rest(&self, node: usize) -> Vector3<f64> {
        self.solid.points()[node]
    }

    /// Whether a node was touched lately.
    fn is_loaded(&self, node: usize) -> bool {
        self.slots[node] != NONE
    }

    /// Displacement of a node, in the axes of the zone.
    pub fn displacement(&self, node: usize) -> Vector3<f64> {
        let mut sum = Vector3::zeros();
        for (other, load) in &self.loads {
            for (axis, force) in load.iter().enumerate() {
                let u = &self.solid.column(*other as usize, axis)[3 * node..3 * node + 3];
                sum += Vector3::new(u[0], u[1], u[2]) * *force;
            }
        }
        sum
    }

    /// Displacements of the nodes that are near, load by load.
    fn move_near(&mut self) {
        self.moved.clear();
        self.moved.resize(self.near.len(), Vector3::zeros());
        for (other, load) in &self.loads {
            let columns = [0, 1, 2].map(|axis| self.solid.column(*other as usize, axis).as_chunks::<3>().0);
            for (sum, near) in self.moved.iter_mut().zip(&self.near) {
                let [x, y, z] = columns.map(|column| Vector3::from(column[near.node as usize]));
                *sum += x * load.x + y * load.y + z * load.z;
            }
        }
    }

    /// Displacement of a place.
    fn displacement_at(&self, spot: &Spot) -> Vector3<f64> {
        let loose = spot.parts().filter(|(node, _)| *node < self.slots.len());
        loose.map(|(node, weight)| self.displacement(node) * weight).sum()
    }

    /// After a step of h seconds with these forces on its nodes; how far its nodes that touch were displaced when it began, m.
    fn take(&mut self, h: f64, most_displaced: f64, forces: impl Iterator<Item = (usize, Pushed)>) {
        self.largest = most_displaced;
        let (new, old) = (h / (h + self.damping), self.damping / (h + self.damping));
        self.loads.iter_mut().for_each(|(_, load)| *load *= old);
        self.pushed.fill(Pushed::default());
        let nodes = self.slots.len();
        for (node, push) in forces.filter(|(node, _)| *node < nodes) {
            if self.slots[node] == NONE {
                self.slots[node] = self.loads.len() as u32;
                self.loads.push((node as u32, Vector3::zeros()));
                self.pushed.push(Pushed::default());
            }
            let slot = self.slots[node] as usize;
            self.loads[slot].1 += push.force * new;
            self.pushed[slot].add(&push);
        }
        let most = self.loads.iter().map(|(_, load)| load.norm_squared()).fold(0.0, f64::max);
        let Skin { loads, pushed, slots, .. } = self;
        let mut kept = 0;
        for i in 0..loads.len() {
            let (node, load) = loads[i];
            let stays = load.norm_squared() > most * (OVER * OVER);
            slots[node as usize] = if stays { kept as u32 } else { NONE };
            if stays {
                (loads[kept], pushed[kept]) = (loads[i], pushed[i]);
                kept += 1;
            }
        }
        loads.truncate(kept);
        pushed.truncate(kept);
    }
}

/// All soft surfaces of a world, and those sides of the contacts at hand that are on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Skins {
    pub list: Vec<Skin>,
    sides: Vec<Side>,
    /// Of each point that was found for the last pair: where it is on the two surfaces, if these are soft.
    pub spots: Vec<[Option<Spot>; 2]>,
    /// What is deepest inside a surface between its nodes, where nothing pushes.
    pub between: Option<Between>,
}

/// A thing that is inside a soft surface between its nodes, and how deep, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    pub depth: f64,
    pub skin: usize,
    pub thing: usize,
}

impl Skins {
    /// Before contacts are found.
    pub fn clear(&mut self) {
        self.sides.clear();
        self.between = None;
    }

    /// The free velocity of a place, (u⁺ − u)/h as if nothing touched, in world axes: it springs back.
    pub fn free(&self, skin: usize, spot: &Spot, pose: &Pose, h: f64) -> Vector3<f64> {
        let skin = &self.list[skin];
        -(pose.rotation * (skin.frame.rotation * spot.u)) / (h + skin.damping)
    }

    /// A contact is on a soft surface: `directions` are normal and tangents, world, as the force on it has them, and `pose` is that of
    /// what carries it.
    pub fn touch(
        &mut self,
        (skin, spot): (usize, Spot),
        (part, place): (usize, usize),
        contact: usize,
        directions: [Vector3<f64>; 3],
        pose: &Pose,
    ) {
        let turn = (pose.rotation * self.list[skin].frame.rotation).inverse();
        let axes = Matrix3::from_columns(&directions.map(|d| turn * d));
        self.sides.push(Side { skin, part, place, contact, spot, axes });
    }

    /// Adds the response of the material, Ξ/(h(h + τ)), to that of what carries it.
    pub fn respond(&self, parts: &mut [Part], h: f64) {
        for (i, one) in self.sides.iter().enumerate() {
            let skin = &self.list[one.skin];
            let scale = 1.0 / (h * (h + skin.damping));
            for two in self.sides[i..].iter().filter(|two| two.skin == one.skin) {
                let mut block = Matrix3::<f64>::zeros();
                for (node, weight) in one.spot.parts().filter(|(node, _)| *node < skin.slots.len()) {
                    for (other, by) in two.spot.parts().filter(|(node, _)| *node < skin.slots.len()) {
                        for b in 0..3 {
                            let u = &skin.solid.column(other, b)[3 * node..3 * node + 3];
                            (0..3).for_each(|a| block[(a, b)] += u[a] * (weight * by));
                        }
                    }
                }
                let block = one.axes.transpose() * (block * two.axes) * scale;
                let part = &mut parts[one.part];
                let n = 3 * part.pushes.len();
                for a in 0..3 {
                    for b in 0..3 {
                        part.matrix[(3 * one.place + a) * n + 3 * two.place + b] += block[(a, b)];
                        if one.place != two.place {
                            part.matrix[(3 * two.place + b) * n + 3 * one.place + a] += block[(a, b)];
                        }
                    }
                }
            }
        }
    }

    /// Takes the step of h seconds whose impulses are solved.
    pub fn take(&mut self, equations: &Equations, h: f64) {
        let Skins { list, sides, .. } = self;
        for (s, skin) in list.iter_mut().enumerate() {
            let most =
                sides.iter().filter(|side| side.skin == s).map(|side| side.spot.u.norm()).fold(0.0, f64::max);
            let own = sides.iter().filter(|side| side.skin == s);
            let pushing = own.filter(|side| equations.meetings[side.contact].impulse != Vector3::zeros());
            let forces = pushing.flat_map(|side| {
                let meeting = &equations.meetings[side.contact];
                let (force, velocity) = (meeting.impulse / h, equations.velocity(side.contact));
                side.spot.parts().map(move |(node, weight)| {
                    (node, Pushed::new(&side.axes, (&force, &velocity), meeting.friction, weight))
                })
            });
            skin.take(h, most, forces);
        }
    }
}
