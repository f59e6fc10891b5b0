//! Default springs: joints of which a file says nothing are held as by PD control.
//!
//! With the motion S of a freedom and the inertia M of what it carries, gravity pulls at it with at most g |(M S)ᵥ|, whichever way is down:
//! (M S)ᵥ = m (v + ω×c) is the linear momentum that a unit rate gives. The stiffness lets the freedom sag by [`SAG`] at most under that
//! and its own dry friction, and holds what it carries at [`LEAST`] or above:
//!
//! k = max((g |(M S)ᵥ| + f)/sag, I ω²), d = 2 √(k I), I = SᵀM S with the armature,
//!
//! each the largest in poses within the limits of all joints: a stretched arm is not held by what a folded one needs. On a
//! free base, joints of legs also carry the rest of the robot: those between the base and links that are lowest at the start.

use std::collections::HashSet;

use pliant_core::mechanism::PerFreedom;
use pliant_core::nalgebra::{Matrix6, Vector3, Vector6};
use pliant_core::spatial::{Pose, SpatialInertia};

use super::context::Context;
use super::draft::Draft;
use super::meaning::Tree;
use super::parts::Joint;
use super::starting::{limits, values};

/// How far a freedom sags at most: rad where it turns, m where it slides.
const SAG: (f64, f64) = (0.01, 1e-3);

/// The lowest natural frequency, of joints that gravity hardly pulls at, Hz.
const LEAST: f64 = 5.0;

/// Standard gravity, m/s².
const G: f64 = 9.81;

/// How many poses are looked at next to the start.
const POSES: usize = 32;

/// Links whose origins are within this part of the robot's height from the lowest are what it stands on.
const LOW: f64 = 0.1;

/// What a freedom has to bear: the largest pull, N or N·m, and the largest inertia.
#[derive(Clone, Copy, Default)]
struct Burden {
    pull: f64,
    inertia: f64,
}

impl Burden {
    fn take(&mut self, M: &Matrix6<f64>, S: &Vector6<f64>) {
        let momentum = M * S;
        self.pull = self.pull.max(G * momentum.fixed_rows::<3>(0).norm());
        self.inertia = self.inertia.max(S.dot(&momentum));
    }
}

impl Draft {
    /// See the [module](self). Springs are at rest where the robot starts; joints that follow others are passive.
    pub(crate) fn add_default_springs(&mut self, context: &mut Context) {
        let followers: HashSet<&str> = self.couplings.iter().map(|(c, _)| c.joint.as_str()).collect();
        let wanting: Vec<bool> = (self.joints.iter())
            .map(|Joint { description, default_spring, .. }| {
                let held = description.stiffness.is_some() || followers.contains(description.name.as_str());
                *default_spring && !held && description.kind.freedoms() > 0
            })
            .collect();
        if !wanting.contains(&true) {
            return;
        }
        let burdens = self.burdens();
        let omega = std::f64::consts::TAU * LEAST;
        let mut count = 0;
        for ((joint, burdens), _) in (self.joints.iter_mut().zip(&burdens).zip(&wanting))
            .filter(|((_, burdens), wanting)| **wanting && !burdens.is_empty())
        {
            let description = &mut joint.description;
            let freedoms = description.kind.freedoms();
            let [armature, friction, damping] =
                [&description.armature, &description.friction, &description.damping]
                    .map(|x| values(x, freedoms));
            let springs: Vec<(f64, f64)> = (0..freedoms)
                .map(|f| {
                    let sag = if f < description.kind.translations() { SAG.1 } else { SAG.0 };
                    let I = burdens[f].inertia + armature[f];
                    let k = ((burdens[f].pull + friction[f]) / sag).max(I * omega * omega);
                    (k, damping[f].max(2.0 * (k * I).sqrt()))
                })
                .collect();
            if springs.iter().any(|(k, d)| !k.is_finite() || !d.is_finite()) {
                continue;
            }
            description.stiffness = Some(PerFreedom::Each(springs.iter().map(|(k, _)| *k).collect()));
            description.damping = Some(PerFreedom::Each(springs.iter().map(|(_, d)| *d).collect()));
            // A start that cannot be is reported once, as such.
            let sound = |start: &PerFreedom<f64>| match start {
                PerFreedom::All(q) => q.is_finite(),
                PerFreedom::Each(list) => list.len() == freedoms && list.iter().all(|q| q.is_finite()),
            };
            if description.rest.is_none() {
                description.rest = description.start.clone().filter(sound);
            }
            count += 1;
        }
        if count > 0 {
            let joints = if count == 1 { "1 joint is".into() } else { format!("{count} joints are") };
            let (turns, slides) = (SAG.0, 1e3 * SAG.1);
            context.note(format!(
                "{joints} held as by PD control, because the file gives no springs: each sags by at most {turns} rad or {slides} mm \
                 under the weight that it carries in any pose, and is critically damped; a scene file with `import` can give other \
                 springs"
            ));
        }
    }

    /// What each freedom of each joint has to bear, in the start and in poses within limits; nothing of joints without a child.
    fn burdens(&self) -> Vec<Vec<Burden>> {
        let tree = Tree::new(&self.links, &self.joints);
        let mut burdens: Vec<Vec<Burden>> = (self.joints.iter())
            .map(|joint| match tree.find(&joint.description.child) {
                Some(_) => vec![Burden::default(); joint.description.kind.freedoms()],
                None => Vec::new(),
            })
            .collect();
        let start = self.coordinates(0);
        let legs = self.legs(&tree, &self.poses(&tree, &start));
        for pose in 0..=POSES {
            let coordinates = if pose == 0 { start.clone() } else { self.coordinates(pose) };
            let poses = self.poses(&tree, &coordinates);
            let mut carried: Vec<SpatialInertia> = self.links.iter().map(|link| link.body.inertia).collect();
            let mut root: Vec<usize> = (0..self.links.len()).collect();
            for &i in &tree.order {
                root[i] = tree.parent[i].map_or(i, |p| root[p]);
            }
            for &i in tree.order.iter().rev() {
                if let Some(p) = tree.parent[i] {
                    carried[p] = carried[p].welded(&carried[i].in_outer(&poses[p].inverse_times(&poses[i])));
                }
            }
            for (j, joint) in self.joints.iter().enumerate() {
                let Some(child) = tree.find(&joint.description.child) else { continue };
                // The joint's frame on the child.
                let inner = self.links[child].body.pose.inverse_times(&joint.description.frame);
                let M = carried[child].in_outer(&inner.inverse()).matrix();
                let S = joint.description.kind.subspace(&coordinates[j]);
                let rest = legs[j].then(|| {
                    let whole = carried[root[child]];
                    whole.in_outer(&(poses[child] * inner).inverse_times(&poses[root[child]])).matrix() - M
                });
                for (f, burden) in burdens[j].iter_mut().enumerate() {
                    let S = S.column(f).into_owned();
                    burden.take(&M, &S);
                    rest.iter().for_each(|rest| burden.take(rest, &S));
                }
            }
        }
        burdens
    }

    /// Coordinates of every joint: where it starts, or anywhere within its limits, the same for the same name and number.
    fn coordinates(&self, pose: usize) -> Vec<Vec<f64>> {
        self.joints
            .iter()
            .map(|joint| {
                let description = &joint.description;
                let count = description.kind.freedoms();
                let start = values(&description.start, count);
                let windows = limits(&description.limits, count);
                (0..count)
                    .map(|f| {
                        let (lower, upper) = windows[f];
                        let turns = f >= description.kind.translations();
                        let all = if turns { std::f64::consts::PI } else { 0.0 };
                        let (lower, upper) = match (lower.is_finite(), upper.is_finite()) {
                            (true, true) => (lower, upper),
                            (true, false) => (lower, lower + all),
                            (false, true) => (upper - all, upper),
                            (false, false) => (start[f] - all, start[f] + all),
                        };
                        let part = fraction(&description.name, pose * 8 + f);
                        let anywhere = lower + (upper - lower) * part;
                        let q = if pose == 0 { start[f] } else { anywhere };
                        if q.is_finite() { q } else { 0.0 }
                    })
                    .collect()
            })
            .collect()
    }

    /// Poses of all links at coordinates.
    fn poses(&self, tree: &Tree, coordinates: &[Vec<f64>]) -> Vec<Pose> {
        let mut poses: Vec<Pose> = self.links.iter().map(|link| link.body.pose).collect();
        for &i in &tree.order {
            let Some(j) = tree.joint[i] else { continue };
            let description = &self.joints[j].description;
            let parent =
                tree.parent[i].map_or(Pose::identity(), |p| poses[p] * self.links[p].body.pose.inverse());
            let X = description.kind.transform(&coordinates[j]);
            poses[i] =
                parent * description.frame * X * description.frame.inverse_times(&self.links[i].body.pose);
        }
        poses
    }

    /// Which joints are of legs: between a free base and a link that is lowest where it starts.
    fn legs(&self, tree: &Tree, poses: &[Pose]) -> Vec<bool> {
        let gravity = self.gravity.map_or(-Vector3::z(), Vector3::from);
        let up = (-gravity).try_normalize(0.0).unwrap_or_else(Vector3::z);
        let mut legs = vec![false; self.joints.len()];
        let mut root: Vec<usize> = (0..self.links.len()).collect();
        for &i in &tree.order {
            root[i] = tree.parent[i].map_or(i, |p| root[p]);
        }
        for &base in tree.order.iter().filter(|i| tree.parent[**i].is_none() && self.links[**i].body.free) {
            let of_it = || tree.order.iter().copied().filter(|i| root[*i] == base);
            let heights = || of_it().map(|i| up.dot(&poses[i].position));
            let (low, high) =
                (heights().fold(f64::INFINITY, f64::min), heights().fold(f64::NEG_INFINITY, f64::max));
            for i in of_it().filter(|i| up.dot(&poses[*i].position) <= low + LOW * (high - low)) {
                let mut at = Some(i);
                while let Some(link) = at {
                    tree.joint[link].into_iter().for_each(|j| legs[j] = true);
                    at = tree.parent[link];
                }
            }
        }
        legs
    }
}

/// A number in [0, 1) of a name and a number: FNV-1a, then a last mixing.
fn fraction(name: &str, number: usize) -> f64 {
    let bytes = name.bytes().chain(number.to_le_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}
