//! What the parts of a robot file mean, the same for every format.
//!
//! - A root is fixed to the world, or free if the user says so.
//! - Several joints of one link become one joint of the right kind where they are exactly that, else a
//!   chain with links in between.
//! - Where the file has springs of its own, joints without one are passive; where it has none, all get one
//!   (see [`Draft`]).
//! - Swapped limits are swapped back, impossible inertias are repaired, each with a warning.
//! - A massless link that carries nothing heavy is welded to its parent. One between two joints takes a
//!   small share of what it carries, since nothing can be simulated without mass; the total stays.
//! - Loop joints point from earlier to later links, so that no circle of parents comes about.

use std::collections::{HashMap, HashSet};

use pliant_core::joints::JointKind;
use pliant_core::mechanism::{Body, CouplingDescription, JointDescription, PerFreedom, WORLD};
use pliant_core::nalgebra::{Matrix3, UnitQuaternion, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::context::{Context, Place};
use super::draft::Draft;
use super::parts::{Connection, Joint, Link, Parts};

/// The share of what it carries that a massless link between two joints takes over.
const SHARE: f64 = 1e-4;

/// How far the largest principal moment may exceed the sum of the others, as in the mechanism's checks.
const TRIANGLE_TOLERANCE: f64 = 1e-6;

/// The smallest principal moment relative to the largest that is taken for a rounding error of zero.
const FLAT: f64 = 1e-9;

/// How exactly axes must be parallel, at right angles or on one point to count as such.
const EXACT: f64 = 1e-9;

/// Density of the ball whose inertia a link gets that has mass but no inertia, kg/m³.
const WATER: f64 = 1000.0;

/// Gives the parts their meaning.
pub(crate) fn draft(parts: Parts, context: &mut Context) -> Draft {
    let Parts {
        name,
        gravity,
        mut links,
        mut connections,
        mut loops,
        couplings,
        effectors,
        loads,
        world_shapes,
    } = parts;
    for link in &mut links {
        repair_inertia(link, context);
    }
    hold_roots(&mut links, &mut connections, context);
    let coupled: HashSet<&str> =
        couplings.iter().flat_map(|(c, _)| [c.joint.as_str(), c.of.as_str()]).collect();
    let mut joints = Vec::new();
    for connection in connections {
        chain(connection, &coupled, &mut links, &mut joints);
    }
    for joint in joints.iter_mut().chain(&mut loops) {
        order_limits(joint, context);
    }
    if joints.iter().chain(&loops).any(|joint| is_sprung(&joint.description)) {
        joints.iter_mut().chain(&mut loops).for_each(|joint| joint.default_spring = false);
    }
    let tree = Tree::new(&links, &joints);
    tree.give_mass(&mut links, &mut joints, context);
    let mut couplings = couplings;
    drop_stuck_couplings(&mut couplings, &joints, context);
    loops.iter_mut().for_each(|joint| orient(joint, &tree, context));
    joints.append(&mut loops);
    Draft { name, gravity, links, joints, couplings, effectors, loads, world_shapes, targets: Vec::new() }
}

fn is_sprung(description: &JointDescription) -> bool {
    match &description.stiffness {
        None => false,
        Some(PerFreedom::All(k)) => *k > 0.0,
        Some(PerFreedom::Each(list)) => list.iter().any(|k| *k > 0.0),
    }
}

/// Roots are fixed to the world, or free.
fn hold_roots(links: &mut [Link], connections: &mut Vec<Connection>, context: &mut Context) {
    let free_base = context.options.free_base;
    if free_base {
        // What the file welds to the world is let go too.
        let welded: HashSet<String> = (connections.iter())
            .filter(|c| c.parent == WORLD && c.joints.iter().all(|j| j.description.kind == JointKind::Fixed))
            .map(|c| c.child.clone())
            .collect();
        connections.retain(|c| !(c.parent == WORLD && welded.contains(&c.child)));
    }
    let carried: HashSet<String> = connections.iter().map(|c| c.child.clone()).collect();
    let mut names: HashSet<String> =
        connections.iter().flat_map(|c| &c.joints).map(|j| j.description.name.clone()).collect();
    let mut held = false;
    for link in links.iter_mut().filter(|link| !link.body.free && !carried.contains(&link.body.name)) {
        held = true;
        if free_base {
            link.body.free = true;
            continue;
        }
        let mut name = format!("{}_to_world", link.body.name);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        let mut joint = Joint::new(name, JointKind::Fixed, link.place.clone());
        joint.description.frame = link.body.pose;
        connections.push(Connection {
            parent: WORLD.into(),
            child: link.body.name.clone(),
            joints: vec![joint],
        });
    }
    if free_base && !held && !links.iter().any(|link| link.body.free) {
        context.warning(
            &Place::START,
            "there is no base to set free: every link hangs on the world by a joint that moves",
        );
    }
}

/// One joint for each step from parent to child; steps that need a link of their own get one.
fn chain(connection: Connection, coupled: &HashSet<&str>, links: &mut Vec<Link>, joints: &mut Vec<Joint>) {
    let Connection { mut parent, child, joints: steps } = connection;
    let (pose, place) = match links.iter().find(|link| link.body.name == child) {
        Some(link) => (link.body.pose, link.place.clone()),
        None => (Pose::identity(), steps.first().map_or(Place::START, |step| step.place.clone())),
    };
    let mut steps = if steps.len() > 1 { merge(steps, coupled) } else { steps };
    if steps.is_empty() {
        let mut weld = Joint::new(child.as_str(), JointKind::Fixed, place.clone());
        weld.description.frame = pose;
        steps.push(weld);
    }
    let last = steps.len() - 1;
    for (i, mut step) in steps.into_iter().enumerate() {
        let next = if i == last {
            child.clone()
        } else {
            let between = format!("{child}:{}", step.description.name);
            links.push(Link { body: Body::new(between.as_str(), pose), place: step.place.clone() });
            between
        };
        step.description.parent = std::mem::replace(&mut parent, next.clone());
        step.description.child = next;
        joints.push(step);
    }
}

/// Neighbours that together are one joint of the library become it.
fn merge(steps: Vec<Joint>, coupled: &HashSet<&str>) -> Vec<Joint> {
    let mut merged = Vec::new();
    let mut rest = steps.as_slice();
    while let Some(first) = rest.first() {
        let alone =
            |count: usize| rest[..count].iter().all(|j| !coupled.contains(j.description.name.as_str()));
        let (joint, taken) = if rest.len() >= 3
            && alone(3)
            && let Some(planar) = planar(&rest[..3])
        {
            (planar, 3)
        } else if rest.len() >= 2
            && alone(2)
            && let Some(pair) = universal(&rest[..2]).or_else(|| cylindrical(&rest[..2]))
        {
            (pair, 2)
        } else {
            (first.clone(), 1)
        };
        merged.push(joint);
        rest = &rest[taken..];
    }
    merged
}

fn axis(joint: &Joint) -> Vector3<f64> {
    joint.description.frame.rotation * Vector3::z()
}

/// The frame with these axes, the third being their product.
fn frame(x: Vector3<f64>, y: Vector3<f64>, origin: Vector3<f64>) -> Pose {
    let R = Matrix3::from_columns(&[x, y, x.cross(&y)]);
    let rotation = pliant_core::nalgebra::Rotation3::from_matrix_unchecked(R);
    Pose::new(UnitQuaternion::from_rotation_matrix(&rotation), origin)
}

/// Two hinges at right angles through one point.
fn universal(steps: &[Joint]) -> Option<Joint> {
    let [a, b] = steps else { return None };
    if [a, b].iter().any(|j| j.description.kind != JointKind::Hinge) {
        return None;
    }
    let (x, y) = (axis(a), axis(b));
    let apart = b.description.frame.position - a.description.frame.position;
    let scale = 1.0 + apart.norm();
    if x.dot(&y).abs() > EXACT || apart.dot(&x.cross(&y)).abs() > EXACT * scale {
        return None;
    }
    // The point on the first axis that is nearest to the second.
    let origin = a.description.frame.position + x * apart.dot(&x);
    Some(joined(steps, &[0, 1], JointKind::Universal, frame(x, y, origin)))
}

/// A slider and a hinge along one line, in any order.
fn cylindrical(steps: &[Joint]) -> Option<Joint> {
    let kinds: Vec<JointKind> = steps.iter().map(|j| j.description.kind).collect();
    let order = match kinds[..] {
        [JointKind::Prismatic, JointKind::Hinge] => [0, 1],
        [JointKind::Hinge, JointKind::Prismatic] => [1, 0],
        _ => return None,
    };
    let hinge = &steps[order[1]];
    // A slider has no place, only a direction.
    let along = axis(&steps[order[0]]);
    if (along - axis(hinge)).norm() > EXACT {
        return None;
    }
    Some(joined(steps, &order, JointKind::Cylindrical, hinge.description.frame))
}

/// Two sliders at right angles, then a hinge across both.
fn planar(steps: &[Joint]) -> Option<Joint> {
    let kinds: Vec<JointKind> = steps.iter().map(|j| j.description.kind).collect();
    if kinds[..] != [JointKind::Prismatic, JointKind::Prismatic, JointKind::Hinge] {
        return None;
    }
    let (x, y, z) = (axis(&steps[0]), axis(&steps[1]), axis(&steps[2]));
    if x.dot(&y).abs() > EXACT || (x.cross(&y) - z).norm() > EXACT {
        return None;
    }
    Some(joined(steps, &[0, 1, 2], JointKind::Planar, frame(x, y, steps[2].description.frame.position)))
}

/// One joint of several of one freedom each, whose freedoms are the new one's in this order.
fn joined(steps: &[Joint], order: &[usize], kind: JointKind, frame: Pose) -> Joint {
    fn each<T: Copy + PartialEq>(
        steps: &[Joint],
        order: &[usize],
        absent: T,
        value: impl Fn(&JointDescription) -> Option<&PerFreedom<T>>,
    ) -> Option<PerFreedom<T>> {
        let values: Vec<T> = (order.iter())
            .map(|i| match value(&steps[*i].description) {
                Some(PerFreedom::All(x)) => *x,
                Some(PerFreedom::Each(list)) => list.first().copied().unwrap_or(absent),
                None => absent,
            })
            .collect();
        values.iter().any(|x| *x != absent).then_some(PerFreedom::Each(values))
    }
    let names: Vec<&str> = steps.iter().map(|step| step.description.name.as_str()).collect();
    let mut joint = Joint::new(names.join("+"), kind, steps[0].place.clone());
    joint.default_spring = steps.iter().all(|step| step.default_spring);
    joint.description.frame = frame;
    joint.description.stiffness = each(steps, order, 0.0, |d| d.stiffness.as_ref());
    joint.description.damping = each(steps, order, 0.0, |d| d.damping.as_ref());
    joint.description.rest = each(steps, order, 0.0, |d| d.rest.as_ref());
    joint.description.armature = each(steps, order, 0.0, |d| d.armature.as_ref());
    joint.description.limits = each(steps, order, (f64::NEG_INFINITY, f64::INFINITY), |d| d.limits.as_ref());
    joint
}

/// Limits the wrong way round are swapped.
fn order_limits(joint: &mut Joint, context: &mut Context) {
    let Joint { description, place, .. } = joint;
    let pairs = match &mut description.limits {
        None => return,
        Some(PerFreedom::All(pair)) => std::slice::from_mut(pair),
        Some(PerFreedom::Each(pairs)) => pairs.as_mut_slice(),
    };
    for (lower, upper) in pairs {
        if *lower > *upper {
            context.warning(
                place,
                format!(
                    "joint `{}`: the lower limit {lower} is above the upper limit {upper}; they were swapped",
                    description.name
                ),
            );
            std::mem::swap(lower, upper);
        }
    }
}

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
fn repair_inertia(link: &mut Link, context: &mut Context) {
    let Link { body, place } = link;
    let (name, M) = (&body.name, &mut body.inertia);
    if M.mass < 0.0 {
        context.warning(place, format!("link `{name}`: the mass is {}; it was taken as 0", M.mass));
        *M = SpatialInertia::ZERO;
        return;
    }
    let moments = M.inertia.symmetric();
    M.inertia = moments;
    let scale = moments.amax();
    if M.mass == 0.0 {
        if scale > 0.0 {
            context.warning_of("inertia without mass", place, || {
                format!("link `{name}` has inertia but no mass; it was taken as massless")
            });
        }
        *M = SpatialInertia::ZERO;
        return;
    }
    if scale == 0.0 || !scale.is_finite() {
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
    let principal = order.map(|i| eigen.eigenvalues[i] * scale);
    context.warning_of("impossible inertia", place, || {
        format!(
            "link `{name}`: no rigid body has the principal moments {:.4e}, {:.4e}, {:.4e} kg·m²; \
             the smaller ones were raised until one can",
            principal[0], principal[1], principal[2]
        )
    });
    M.inertia = (R * Matrix3::from_diagonal(&(repaired * scale)) * R.transpose()).symmetric();
}

/// The links in the order of their tree, parents first.
pub(crate) struct Tree {
    /// Links by name; of several of one name, the first.
    index: HashMap<String, usize>,
    /// Positions of links, parents first. Links in circles are not among them.
    pub(crate) order: Vec<usize>,
    /// Position in `order` of each link.
    rank: Vec<Option<usize>>,
    /// The joint that carries each link, by its position among the joints.
    pub(crate) joint: Vec<Option<usize>>,
    /// The parent of each link.
    pub(crate) parent: Vec<Option<usize>>,
}

impl Tree {
    /// Of links and the joints that carry them; the first joint of a link counts.
    pub(crate) fn new(links: &[Link], joints: &[Joint]) -> Tree {
        let mut index = HashMap::new();
        for (i, link) in links.iter().enumerate() {
            index.entry(link.body.name.clone()).or_insert(i);
        }
        let mut joint: Vec<Option<usize>> = vec![None; links.len()];
        let mut parent = vec![None; links.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        let mut waits = vec![false; links.len()];
        for (j, Joint { description, .. }) in joints.iter().enumerate() {
            let Some(&child) = index.get(&description.child) else { continue };
            if joint[child].is_some() {
                continue;
            }
            joint[child] = Some(j);
            if description.parent == WORLD {
                continue;
            }
            // A parent that there is none of is reported elsewhere; the link is left out here.
            waits[child] = true;
            if let Some(&p) = index.get(&description.parent) {
                parent[child] = Some(p);
                children[p].push(child);
            }
        }
        let mut order = Vec::with_capacity(links.len());
        let mut stack: Vec<usize> = (0..links.len()).rev().filter(|i| !waits[*i]).collect();
        while let Some(i) = stack.pop() {
            order.push(i);
            stack.extend(children[i].iter().rev());
        }
        let mut rank = vec![None; links.len()];
        order.iter().enumerate().for_each(|(r, i)| rank[*i] = Some(r));
        Tree { index, order, rank, joint, parent }
    }

    /// The link of a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// For each link, the first link of those that are welded together with it; `None` is the world.
    pub(crate) fn heads(&self, joints: &[Joint]) -> Vec<Option<usize>> {
        let mut heads = vec![None; self.rank.len()];
        for &i in &self.order {
            let welded = self.joint[i].is_some_and(|j| joints[j].description.kind == JointKind::Fixed);
            heads[i] = match (welded, self.parent[i]) {
                (true, Some(p)) => heads[p],
                (true, None) => None,
                (false, _) => Some(i),
            };
        }
        heads
    }

    /// Every set of welded links gets mass and inertia, or is welded to what carries it.
    fn give_mass(&self, links: &mut [Link], joints: &mut [Joint], context: &mut Context) {
        let heads = self.heads(joints);
        let mut sets: Vec<Set> = (0..links.len()).map(|_| Set::default()).collect();
        for &i in &self.order {
            let Some(h) = heads[i] else { continue };
            let own = links[i].body.inertia.in_outer(&links[h].body.pose.inverse_times(&links[i].body.pose));
            sets[h].inertia = if i == h { own } else { sets[h].inertia.welded(&own) };
            sets[h].links.push(i);
        }
        sets.iter_mut().filter(|set| set.inertia.mass > 0.0).for_each(|set| set.thicken(links, context));

        let (mut welded, mut shared) = (Vec::new(), Vec::new());
        for &i in self.order.iter().rev().filter(|i| heads[**i] == Some(**i)) {
            if sets[i].inertia.mass == 0.0 {
                match (sets[i].heaviest, self.joint[i]) {
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
            if let Some(above) = self.parent[i].and_then(|p| heads[p]) {
                let lighter = |other: usize| sets[other].inertia.mass < sets[i].inertia.mass;
                if sets[above].heaviest.is_none_or(lighter) {
                    sets[above].heaviest = Some(i);
                }
            }
        }
        for &i in welded.iter().rev() {
            let name = &links[i].body.name;
            let joint = self.joint[i].map_or("", |j| &joints[j].description.name);
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
    /// Gives them inertia about every axis, and tells.
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
            (0.4 * M.mass * radius * radius, "it got that of a ball of water of its mass")
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

/// Leaves out couplings of joints that do not move (any more), and tells.
pub(crate) fn drop_stuck_couplings(
    couplings: &mut Vec<(CouplingDescription, Place)>,
    joints: &[Joint],
    context: &mut Context,
) {
    let fixed: HashSet<&str> = (joints.iter())
        .filter(|joint| joint.description.kind == JointKind::Fixed)
        .map(|joint| joint.description.name.as_str())
        .collect();
    couplings.retain(|(CouplingDescription { joint, of, .. }, place)| {
        let Some(stuck) = [joint, of].into_iter().find(|name| fixed.contains(name.as_str())) else {
            return true;
        };
        let message =
            format!("the coupling of joint `{joint}` to `{of}` was left out: `{stuck}` does not move");
        context.warning(place, message);
        false
    });
}

/// Makes a joint one that holds its links together.
pub(crate) fn weld(description: &mut JointDescription) {
    description.kind = JointKind::Fixed;
    description.stiffness = None;
    description.damping = None;
    description.limits = None;
    description.rest = None;
    description.armature = None;
}

/// Turns a loop joint so that its parent comes before its child in the tree.
fn orient(joint: &mut Joint, tree: &Tree, context: &mut Context) {
    let Joint { description, place, .. } = joint;
    let rank =
        |name: &str| if name == WORLD { Some(-1) } else { tree.rank[tree.find(name)?].map(|r| r as i64) };
    let (Some(parent), Some(child)) = (rank(&description.parent), rank(&description.child)) else { return };
    if parent <= child {
        return;
    }
    std::mem::swap(&mut description.parent, &mut description.child);
    match description.kind {
        // Turned over, the axis points the other way and the coordinate keeps its sense.
        JointKind::Hinge | JointKind::Prismatic | JointKind::Cylindrical => {
            description.frame = description.frame * Pose::rotation([1.0, 0.0, 0.0], std::f64::consts::PI);
        }
        JointKind::Fixed => {}
        JointKind::Ball => {
            // The rotation vector of the inverse is its negative.
            match &mut description.rest {
                Some(PerFreedom::All(x)) => *x = -*x,
                Some(PerFreedom::Each(list)) => list.iter_mut().for_each(|x| *x = -*x),
                None => {}
            }
            let turn = |pair: &mut (f64, f64)| *pair = (-pair.1, -pair.0);
            match &mut description.limits {
                Some(PerFreedom::All(pair)) => turn(pair),
                Some(PerFreedom::Each(pairs)) => pairs.iter_mut().for_each(turn),
                None => {}
            }
        }
        JointKind::Universal | JointKind::Planar | JointKind::Bushing => {
            let sprung =
                description.stiffness.is_some() || description.limits.is_some() || description.rest.is_some();
            if sprung {
                context.warning(
                    place,
                    format!("joint `{}` closes a loop and was turned round: its springs and limits act on the other body's axes", description.name),
                );
            }
        }
    }
}
