//! `<worldbody>`: the tree of bodies, with frames, joints, geoms and sites in it.
//!
//! Bodies come in the order of the file, each before those it carries. A body's pose is the one at MuJoCo's
//! `qpos0`, where every joint is at its `ref`. The sites of bodies that move are the default effectors.

use std::collections::{HashMap, HashSet};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, EffectorDescription, WORLD};
use pliant_core::nalgebra::{Matrix3, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::assets::Assets;
use super::compiler::{Compiler, InertiaSource};
use super::defaults::Defaults;
use super::geoms::{self, Geom};
use super::joints;
use crate::import::context::{Context, Place};
use crate::import::parts::{Connection, Joint, Link, Parts};
use crate::import::shape;
use crate::import::xml::{Attribute, Element};

/// The deepest nesting of bodies and frames.
const DEEPEST: usize = 400;

const ORIENTATION: [&str; 6] = ["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// The tree as it is read.
pub(super) struct Bodies<'r> {
    pub(super) compiler: &'r Compiler,
    pub(super) defaults: &'r Defaults,
    pub(super) assets: Assets,
    pub(super) parts: Parts,
    /// The body (or the world) and the pose there of each site.
    pub(super) sites: HashMap<String, (String, Pose)>,
    /// Of each joint by its name, its connection, its place in that and its `ref`.
    pub(super) joints: HashMap<String, (usize, usize, f64)>,
    /// Of each joint by its name, its `springref`.
    pub(super) spring_references: HashMap<String, f64>,
    /// Time constant and damping ratio of joints that have `springdamper`, by connection and place in that.
    pub(super) spring_dampers: Vec<(usize, usize, [f64; 2])>,
    /// Geoms by their names.
    pub(super) geoms: HashMap<String, Touching>,
    /// Whether anything touches.
    touches: bool,
    /// Geoms that a `<pair>` names.
    paired: HashSet<String>,
    /// Names of links by position.
    index: HashMap<String, usize>,
    names: Names,
    sites_without_name: usize,
}

/// What a geom touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touching {
    /// Its body; `None` is the world.
    pub(super) body: Option<usize>,
    /// What its body does not pass through.
    pub(super) what: Touches,
}

/// What a geom touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touches {
    /// All that touches.
    Everything,
    /// What a `<pair>` names it with; its body has no other geom that touches.
    Pairs,
    /// Nothing: it has no shape, or a pair asks for it next to geoms of its body that touch everything.
    Nothing,
}

/// Names of the file, so that no name that is made up is one of them.
#[derive(Debug, Default)]
pub(super) struct Names {
    bodies: HashSet<String>,
    joints: HashSet<String>,
    sites: HashSet<String>,
}

impl Names {
    fn collect(&mut self, element: &Element) {
        for child in &element.children {
            if let Some(name) = child.value("name") {
                let set = match child.name.as_str() {
                    "body" => &mut self.bodies,
                    "joint" | "freejoint" => &mut self.joints,
                    "site" => &mut self.sites,
                    _ => &mut HashSet::new(),
                };
                set.insert(name.to_string());
            }
            self.collect(child);
        }
    }

    /// A joint's name that is not taken.
    pub(super) fn new_joint(&mut self, name: String) -> String {
        unused(name, &mut self.joints)
    }
}

fn unused(name: String, taken: &mut HashSet<String>) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        number += 1;
    }
    free
}

/// Where something is read.
#[derive(Clone)]
struct Spot<'a> {
    /// The body's name, or `world`.
    body: &'a str,
    /// The body in the world.
    pose: Pose,
    /// The frame in the body.
    frame: Pose,
    class: Option<&'a str>,
    depth: usize,
}

/// What one body has.
#[derive(Default)]
struct Content {
    joints: Vec<(Joint, f64, Option<[f64; 2]>)>,
    free: Option<Place>,
    geoms: Vec<Geom>,
    inertial: Option<SpatialInertia>,
}

impl<'r> Bodies<'r> {
    /// Reads all `<worldbody>` elements.
    pub(super) fn read(
        root: &Element,
        compiler: &'r Compiler,
        defaults: &'r Defaults,
        assets: Assets,
        (touches, paired): (bool, HashSet<String>),
        context: &mut Context,
    ) -> Bodies<'r> {
        let mut names = Names::default();
        root.all("worldbody").for_each(|world| names.collect(world));
        let mut bodies = Bodies {
            compiler,
            defaults,
            assets,
            parts: Parts::default(),
            sites: HashMap::new(),
            joints: HashMap::new(),
            spring_references: HashMap::new(),
            spring_dampers: Vec::new(),
            geoms: HashMap::new(),
            touches,
            paired,
            index: HashMap::new(),
            names,
            sites_without_name: 0,
        };
        let mut content = Content::default();
        for world in root.all("worldbody") {
            let spot = Spot {
                body: WORLD,
                pose: Pose::identity(),
                frame: Pose::identity(),
                class: world.value("childclass"),
                depth: 0,
            };
            bodies.collect(world, &spot, &mut content, context);
        }
        content.geoms.iter_mut().for_each(|geom| geom.open(context));
        bodies.part_pairs(None, &mut content.geoms);
        for geom in content.geoms {
            let place = geom.place.clone();
            bodies.parts.world_shapes.extend(geom.shape.map(|shape| (shape, place)));
        }
        bodies.scale_to_total();
        bodies.keep_moving_sites();
        bodies
    }

    /// Notes what the geoms of a body touch. Where some touch everything, none can touch by pairs alone.
    fn part_pairs(&mut self, body: Option<usize>, geoms: &mut [Geom]) {
        let any = geoms.iter().any(|geom| geom.collides && !geom.by_pair && geom.shape.is_some());
        for geom in geoms {
            if geom.by_pair && any {
                geom.collides = false;
                if let Some(shape) = &mut geom.shape {
                    (shape.touches, shape.friction) = (false, None);
                }
            }
            let what = match (geom.collides && geom.shape.is_some(), geom.by_pair) {
                (false, _) => Touches::Nothing,
                (true, false) => Touches::Everything,
                (true, true) => Touches::Pairs,
            };
            if !geom.name.is_empty() {
                self.geoms.insert(geom.name.clone(), Touching { body, what });
            }
        }
    }

    /// Effectors are the sites of bodies that move.
    fn keep_moving_sites(&mut self) {
        let mut moves: Vec<bool> = self.parts.links.iter().map(|link| link.body.free).collect();
        let mut own = vec![false; moves.len()];
        for connection in &self.parts.connections {
            if let Some(child) = self.link(&connection.child) {
                own[child] = connection.joints.iter().any(|joint| joint.description.kind != JointKind::Fixed);
            }
        }
        for (i, parent) in self.parents().into_iter().enumerate() {
            moves[i] |= own[i] || parent.is_some_and(|p| moves[p]);
        }
        let index = &self.index;
        self.parts.effectors.retain(|(e, _)| index.get(&e.body).is_some_and(|i| moves[*i]));
    }

    /// The position of a body among the links; `None` is the world, or no body, which is reported.
    pub(super) fn find(&self, name: &str, at: &Place, context: &mut Context) -> Option<Option<usize>> {
        if name == WORLD {
            return Some(None);
        }
        let found = self.index.get(name).copied();
        if found.is_none() {
            context.error(at, format!("there is no body `{name}`"), "the name of a body, or world");
        }
        found.map(Some)
    }

    /// The pose of a body in the world.
    pub(super) fn pose(&self, body: Option<usize>) -> Pose {
        body.map_or(Pose::identity(), |i| self.parts.links[i].body.pose)
    }

    /// The name of a body.
    pub(super) fn name(&self, body: Option<usize>) -> String {
        body.map_or(WORLD.to_string(), |i| self.parts.links[i].body.name.clone())
    }

    /// A joint's name that is not taken.
    pub(super) fn new_joint(&mut self, name: String) -> String {
        self.names.new_joint(name)
    }

    /// The position of a link by its name.
    pub(super) fn link(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// What carries each link, by position; `None` is the world.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.parts.links.len()];
        for connection in &self.parts.connections {
            if let Some(child) = self.link(&connection.child) {
                // Bodies come before those that they carry; one of a name that is taken is reported later.
                parents[child] = self.link(&connection.parent).filter(|parent| *parent < child);
            }
        }
        parents
    }

    /// Everything in a body or frame; recursion as deep as the file.
    fn collect(&mut self, element: &Element, spot: &Spot<'_>, content: &mut Content, context: &mut Context) {
        if spot.depth > DEEPEST {
            let message = format!("bodies are nested more than {DEEPEST} deep");
            context.error(&element.place, message, "nest them less");
            return;
        }
        for child in &element.children {
            match child.name.as_str() {
                "body" => self.body(child, spot, context),
                "frame" => {
                    let known = [&ORIENTATION[..], &["name", "childclass"]].concat();
                    child.check_attributes(&known, context);
                    let inner = Spot {
                        frame: spot.frame * self.compiler.pose(child, context),
                        class: child.value("childclass").or(spot.class),
                        depth: spot.depth + 1,
                        ..spot.clone()
                    };
                    self.collect(child, &inner, content, context);
                }
                "joint" | "freejoint" => self.joint(child, spot, content, context),
                "geom" => {
                    let mut merged = self.defaults.merged(child, spot.class, context);
                    if !self.touches {
                        merged.attributes.retain(|a| !["contype", "conaffinity"].contains(&a.name.as_str()));
                        merged.attributes.extend(["contype", "conaffinity"].map(|name| Attribute {
                            name: name.into(),
                            value: "0".into(),
                            place: child.place.clone(),
                        }));
                    }
                    let geom =
                        geoms::read(&merged, &spot.frame, self.compiler, &self.assets, &self.paired, context);
                    content.geoms.extend(geom);
                }
                "site" => self.site(child, spot, context),
                "inertial" => content.inertial = self.inertial(child, context),
                "camera" | "light" => {}
                "composite" | "attach" => {
                    let message = format!("<{}> generates bodies and is not supported", child.name);
                    context.error(&child.place, message, "write the bodies out, or <replicate>");
                }
                _ => super::left_out(child, context),
            }
        }
    }

    fn body(&mut self, element: &Element, outer: &Spot<'_>, context: &mut Context) {
        let known = [
            &ORIENTATION[..],
            &["name", "childclass", "mocap", "gravcomp", "user", "sleep", "fuse", "simple"],
        ];
        element.check_attributes(&known.concat(), context);
        let name = match element.value("name").filter(|name| !name.is_empty()) {
            Some(WORLD) => {
                context.error(element.place_of("name"), "no body can be called `world`", "another name");
                return;
            }
            Some(name) => name.to_string(),
            None => {
                let number = self.parts.links.len() + 1;
                unused(format!("body_{number}"), &mut self.names.bodies)
            }
        };
        if element.number("gravcomp", context).is_some_and(|share| share != 0.0) {
            context.warning_of("gravcomp", element.place_of("gravcomp"), || {
                format!("body `{name}`: `gravcomp` is not supported; gravity acts on it in full")
            });
        }
        let pose = outer.pose * outer.frame * self.compiler.pose(element, context);
        let i = self.parts.links.len();
        self.index.entry(name.clone()).or_insert(i);
        self.parts.links.push(Link { body: Body::new(name.as_str(), pose), place: element.place.clone() });
        let mut content = Content::default();
        let spot = Spot {
            body: &name,
            pose,
            frame: Pose::identity(),
            class: element.value("childclass").or(outer.class),
            depth: outer.depth + 1,
        };
        self.collect(element, &spot, &mut content, context);
        if let (Some(place), false) = (&content.free, outer.body == WORLD && content.joints.is_empty()) {
            let message = format!("body `{name}` cannot move freely");
            context.error(place, message, "a free joint alone, on a body of the world");
        }
        let inertia = self.inertia(&content, context);
        let body = &mut self.parts.links[i].body;
        body.inertia = inertia;
        body.free = content.free.is_some();
        // Only the meshes that are taken are opened.
        content.geoms.iter_mut().filter(|geom| geom.collides).for_each(|geom| geom.open(context));
        self.part_pairs(Some(i), &mut content.geoms);
        let body = &mut self.parts.links[i].body;
        let touches = content.geoms.iter().any(|geom| geom.collides && geom.shape.is_some());
        // What is drawn next to it counts where what touches is hidden, and is opened when it is drawn.
        let hidden = !content.geoms.iter().any(|geom| geom.collides && geom.is_seen());
        let counts = |geom: &Geom| geom.collides == touches || (hidden && geom.is_seen());
        let taken = content.geoms.into_iter().filter(counts);
        body.shapes = taken
            .filter_map(|mut geom| {
                if geom.collides == touches {
                    geom.open(context);
                }
                geom.shape
            })
            .collect();
        let link = &mut self.parts.links[i];
        shape::end_planes(&mut link.body.shapes, &link.place, context);
        if content.free.is_some() {
            return;
        }
        let connection = self.parts.connections.len();
        let mut joints = Vec::new();
        for (j, (joint, reference, spring_damper)) in content.joints.into_iter().enumerate() {
            self.spring_dampers.extend(spring_damper.map(|both| (connection, j, both)));
            self.joints.entry(joint.description.name.clone()).or_insert((connection, j, reference));
            joints.push(joint);
        }
        if joints.is_empty() {
            let weld = self.new_joint(format!("{name}_weld"));
            let mut joint = Joint::new(weld, JointKind::Fixed, element.place.clone());
            joint.description.frame = pose;
            joints.push(joint);
        }
        self.parts.connections.push(Connection { parent: outer.body.to_string(), child: name, joints });
    }

    fn joint(&mut self, element: &Element, spot: &Spot<'_>, content: &mut Content, context: &mut Context) {
        if spot.body == WORLD {
            let message = format!("{}: the world has no joints", element.what());
            context.error(&element.place, message, "put it in a body");
            return;
        }
        let merged = match element.name.as_str() {
            "joint" => self.defaults.merged(element, spot.class, context),
            _ => element.clone(),
        };
        let name = match element.value("name").filter(|name| !name.is_empty()) {
            Some(name) => name.to_string(),
            None => {
                let number = content.joints.len() + 1;
                let name = match number {
                    1 => format!("{}_joint", spot.body),
                    _ => format!("{}_joint{number}", spot.body),
                };
                self.names.new_joint(name)
            }
        };
        match joints::read(&merged, name, &spot.pose, &spot.frame, self.compiler, context) {
            Some(joints::Read::Free) => content.free = Some(element.place.clone()),
            Some(joints::Read::Joint(joint, [reference, spring], spring_damper)) => {
                self.spring_references.entry(joint.description.name.clone()).or_insert(spring);
                content.joints.push((*joint, reference, spring_damper));
            }
            None => {}
        }
    }

    fn site(&mut self, element: &Element, spot: &Spot<'_>, context: &mut Context) {
        let merged = self.defaults.merged(element, spot.class, context);
        let mut own = self.compiler.pose(&merged, context);
        if let Some(span) = merged.vector::<6>("fromto", context) {
            let (middle, _, along) = geoms::from_to(span);
            own = Pose::with_z_along(along.unwrap_or(Vector3::z()), middle);
        }
        let frame = spot.frame * own;
        let name = match element.value("name").filter(|name| !name.is_empty()) {
            Some(name) => name.to_string(),
            None => {
                self.sites_without_name += 1;
                unused(format!("site_{}", self.sites_without_name), &mut self.names.sites)
            }
        };
        self.sites.insert(name.clone(), (spot.body.to_string(), frame));
        if spot.body != WORLD {
            let effector = EffectorDescription { name, body: spot.body.to_string(), frame };
            self.parts.effectors.push((effector, element.place.clone()));
        }
    }

    fn inertial(&mut self, element: &Element, context: &mut Context) -> Option<SpatialInertia> {
        let known = [&ORIENTATION[..], &["mass", "diaginertia", "fullinertia"]].concat();
        element.check_attributes(&known, context);
        let pose = self.compiler.pose(element, context);
        element.required("mass", context)?;
        let mass = element.number("mass", context)?;
        let I = if let Some([xx, yy, zz, xy, xz, yz]) = element.vector("fullinertia", context) {
            Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
        } else {
            let diagonal = element.vector::<3>("diaginertia", context).unwrap_or_default();
            Matrix3::from_diagonal(&diagonal.into())
        };
        Some(SpatialInertia { mass, center_of_mass: Vector3::zeros(), inertia: I }.in_outer(&pose))
    }

    /// A body's inertia: given, or that of its geoms; then what the compiler asks of all.
    fn inertia(&mut self, content: &Content, context: &mut Context) -> SpatialInertia {
        let (first, last) = self.compiler.inertia_groups;
        let from_geoms = match (self.compiler.inertia, &content.inertial) {
            (InertiaSource::Inertial, _) | (InertiaSource::Auto, Some(_)) => None,
            _ => {
                let mut counted =
                    content.geoms.iter().filter(|geom| (first..=last).contains(&geom.group)).peekable();
                counted.peek().is_some().then(|| {
                    counted.fold(SpatialInertia::ZERO, |sum, geom| {
                        let own = geom.inertia(&mut self.assets, context);
                        if own.mass == 0.0 { sum } else { sum.welded(&own) }
                    })
                })
            }
        };
        let mut M = from_geoms.or(content.inertial).unwrap_or(SpatialInertia::ZERO);
        M.mass = M.mass.max(self.compiler.least_mass);
        if self.compiler.least_inertia > 0.0 || self.compiler.balance {
            M.inertia = self.bound(&M.inertia);
        }
        M
    }

    /// Principal moments are at least the least one; impossible ones become their mean.
    fn bound(&self, I: &Matrix3<f64>) -> Matrix3<f64> {
        let scale = I.amax();
        if scale == 0.0 || !scale.is_finite() {
            return Matrix3::identity() * self.compiler.least_inertia;
        }
        let Some(mut eigen) = (I / scale).try_symmetric_eigen(1e-15, 1000) else { return *I };
        let least = self.compiler.least_inertia / scale;
        let moments = &mut eigen.eigenvalues;
        moments.iter_mut().for_each(|moment| *moment = moment.max(least));
        if self.compiler.balance && 2.0 * moments.max() > moments.sum() {
            moments.fill(moments.mean());
        }
        let V = eigen.eigenvectors;
        V * Matrix3::from_diagonal(&eigen.eigenvalues) * V.transpose() * scale
    }

    fn scale_to_total(&mut self) {
        let Some(total) = self.compiler.total_mass else { return };
        let mass: f64 = self.parts.links.iter().map(|link| link.body.inertia.mass).sum();
        if mass <= 0.0 {
            return;
        }
        for link in &mut self.parts.links {
            link.body.inertia.mass *= total / mass;
            link.body.inertia.inertia *= total / mass;
        }
    }
}
