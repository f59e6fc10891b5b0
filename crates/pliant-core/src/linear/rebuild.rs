//! The links of one component, rebuilt from its coordinates z.

use super::model::{Component, Effector};
use super::reconstruction::{JointOffsets, Joints, PoseLanes, TreeLink, TwistOffsets, Twists};
use super::reference::Reference;
use crate::spatial::{Pose, log};

/// How links other than the effectors are rebuilt.
///
/// ```
/// use pliant_core::{engine::Simulation, gallery, linear::*, spatial::Wrench};
///
/// let mechanism = gallery::helix(50);
/// let model = Linearisation::at_rest(&mechanism).build()?;
/// let mut simulation = model.simulate();
/// let tip = simulation.effector("tip")?;
/// simulation.set_load(tip, Wrench::force([0.0, 0.0, -100.0]))?;
/// (0..60).try_for_each(|_| simulation.step(1.0 / 60.0))?;
/// assert!(simulation.violation() < 1e-9); // no joint is open
///
/// simulation.set_reconstruction(Reconstruction::Twist);
/// assert!(simulation.violation() > 1e-3); // the same motion, with gaps
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconstruction {
    /// Each link by its own twist (Andrews 2015): any link alone, but joints open as the square of the
    /// displacement.
    Twist,
    /// Joint coordinates, then forward kinematics: no joint of the tree opens, loops hardly; the links end a
    /// little off the effector.
    #[default]
    Joint,
    /// The same, with the coordinates corrected until the links end at the effectors.
    Corrected,
}

/// Corrections of a rebuild, at most.
const CORRECTIONS: usize = 3;

/// A correction below this, m over radius or rad, is done.
const CORRECTED: f64 = 1e-12;

/// What never changes of a component's reconstruction, for all its links or some of them.
#[derive(Clone, Debug)]
pub(super) struct Rebuilder {
    pub twists: Twists,
    pub joints: Joints,
    /// The nodes that are rebuilt, by their place in the component, parents first.
    pub nodes: Vec<usize>,
    /// For each joint coordinate of `joints` in turn, its place among the component's coordinates.
    coordinates: Vec<usize>,
}

/// What a simulation changes of it.
#[derive(Clone, Debug)]
pub(super) struct Rebuilt {
    pub poses: PoseLanes,
    pub twist_offsets: TwistOffsets,
    pub joint_offsets: JointOffsets,
    /// Offsets in the order of the links, and corrected coordinates: memory.
    numbers: Vec<f64>,
    z: Vec<f64>,
    best: Vec<f64>,
    corrected: bool,
}

impl Rebuilt {
    /// The coordinates that the last rebuild used: corrected ones, if it corrected them.
    pub fn coordinates<'a>(&'a self, z: &'a [f64]) -> &'a [f64] {
        if self.corrected { &self.z } else { z }
    }
}

impl Rebuilder {
    /// For some nodes of a component, by their place; those that carry them come along.
    pub fn new(reference: &Reference, component: &Component, wanted: Option<&[usize]>) -> Rebuilder {
        let part = &component.part;
        let mut needed = vec![wanted.is_none(); part.nodes.len()];
        for &at in wanted.unwrap_or(&[]) {
            let mut next = Some(at);
            while let Some(at) = next.filter(|&at| !needed[at]) {
                needed[at] = true;
                next = parent_of(reference, component, at);
            }
        }
        let nodes: Vec<usize> = (0..part.nodes.len()).filter(|&at| needed[at]).collect();
        let n = component.size();
        let rest = |at: usize| component.base_pose.inverse_times(&reference.poses[part.nodes[at]]);
        let references: Vec<Pose> = nodes.iter().map(|&at| rest(at)).collect();
        let map: Vec<f64> = nodes
            .iter()
            .flat_map(|&at| &component.shapes.nodes[6 * at * n..6 * (at + 1) * n])
            .copied()
            .collect();
        let (links, coordinates) = tree_links(reference, component, &nodes);
        Rebuilder {
            twists: Twists::new(&references, &map, n),
            joints: Joints::new(&links, n),
            nodes,
            coordinates,
        }
    }

    /// For each joint coordinate of the links in turn, its place among the component's coordinates.
    pub fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    /// Memory for its poses.
    pub fn memory(&self, size: usize) -> Rebuilt {
        Rebuilt {
            poses: PoseLanes::new(self.nodes.len()),
            twist_offsets: self.twists.offsets(),
            joint_offsets: self.joints.offsets(),
            numbers: vec![0.0; (6 * self.nodes.len()).max(self.coordinates.len())],
            z: vec![0.0; size],
            best: vec![0.0; size],
            corrected: false,
        }
    }

    /// Sets what is added to the maps: twists of all nodes of the component, and coordinates of its joints.
    pub fn set_offsets(&self, rebuilt: &mut Rebuilt, nodes: &[f64], coordinates: &[f64]) {
        for (to, &at) in rebuilt.numbers.chunks_exact_mut(6).zip(&self.nodes) {
            to.copy_from_slice(&nodes[6 * at..6 * (at + 1)]);
        }
        self.twists.set_offsets(&mut rebuilt.twist_offsets, &rebuilt.numbers[..6 * self.nodes.len()]);
        for (to, &i) in rebuilt.numbers.iter_mut().zip(&self.coordinates) {
            *to = coordinates[i];
        }
        self.joints.set_offsets(&mut rebuilt.joint_offsets, &rebuilt.numbers[..self.coordinates.len()]);
    }

    /// The poses of all its links at z, with the effectors of the component where `effectors` says.
    pub fn rebuild(
        &self,
        how: Reconstruction,
        motion: &Placed,
        component: &Component,
        effectors: &[(Effector, Pose)],
        rebuilt: &mut Rebuilt,
    ) {
        let Placed { z, base, threads } = motion;
        rebuilt.corrected = how == Reconstruction::Corrected;
        match how {
            Reconstruction::Twist => {
                self.twists.rebuild(z, &rebuilt.twist_offsets, base, *threads, &mut rebuilt.poses);
            }
            Reconstruction::Joint => {
                self.joints.rebuild(z, &rebuilt.joint_offsets, base, &mut rebuilt.poses);
            }
            Reconstruction::Corrected => self.corrected(motion, component, effectors, rebuilt),
        }
    }

    /// θ ← θ + Θ E⁺ log(H_FK⁻¹ H_e), as long as it brings the links nearer to the effectors: past
    /// large displacements it would lead away.
    fn corrected(
        &self,
        motion: &Placed,
        component: &Component,
        effectors: &[(Effector, Pose)],
        rebuilt: &mut Rebuilt,
    ) {
        rebuilt.z.copy_from_slice(motion.z);
        let mut least = f64::INFINITY;
        for round in 0..=CORRECTIONS {
            self.joints.rebuild(&rebuilt.z, &rebuilt.joint_offsets, motion.base, &mut rebuilt.poses);
            let mut off = 0.0f64;
            let gap = |poses: &PoseLanes, effector: &Effector, target: &Pose| {
                let link = self.nodes.binary_search(&effector.node).expect("effectors are always rebuilt");
                log(&(poses.pose(link) * effector.in_node).inverse_times(target)).to_vector()
            };
            for &e in &component.effectors {
                let (effector, target) = &effectors[e];
                let gap = gap(&rebuilt.poses, effector, target);
                off = off.max((0..3).map(|i| gap[i].abs()).fold(0.0, f64::max) / component.radius);
                off = off.max((3..6).map(|i| gap[i].abs()).fold(0.0, f64::max));
            }
            if off.is_nan() || off >= least {
                // The last one was better.
                rebuilt.z.copy_from_slice(&rebuilt.best);
                self.joints.rebuild(&rebuilt.z, &rebuilt.joint_offsets, motion.base, &mut rebuilt.poses);
                return;
            }
            if off < CORRECTED || round == CORRECTIONS {
                return;
            }
            least = off;
            rebuilt.best.copy_from_slice(&rebuilt.z);
            for &e in &component.effectors {
                let (effector, target) = &effectors[e];
                let gap = gap(&rebuilt.poses, effector, target);
                for (i, z) in rebuilt.z.iter_mut().enumerate() {
                    *z += (0..6).map(|k| component.measure[(i, effector.row + k)] * gap[k]).sum::<f64>();
                }
            }
        }
    }
}

/// The place, in a component, of what carries a node of it.
fn parent_of(reference: &Reference, component: &Component, at: usize) -> Option<usize> {
    let nodes = &component.part.nodes;
    let joint = reference.tree[nodes[at]]?;
    reference.joints[joint].parent.and_then(|node| nodes.binary_search(&node).ok())
}

/// Links of some nodes of a component, by their places, parents first, and for each of their joint coordinates in
/// turn its place among those of the component.
fn tree_links<'a>(
    reference: &'a Reference,
    component: &'a Component,
    nodes: &[usize],
) -> (Vec<TreeLink<'a>>, Vec<usize>) {
    let (part, n) = (&component.part, component.size());
    let mut link_of = vec![usize::MAX; part.nodes.len()];
    nodes.iter().enumerate().for_each(|(link, &at)| link_of[at] = link);
    let mut first_coordinate = vec![usize::MAX; reference.joints.len()];
    for (i, &(j, k, _)) in component.coordinates.iter().enumerate() {
        first_coordinate[j] = if k == 0 { i } else { first_coordinate[j] };
    }
    let mut coordinates = Vec::new();
    let links = (nodes.iter())
        .map(|&at| {
            let Some(j) = reference.tree[part.nodes[at]] else {
                return TreeLink::fixed(
                    None,
                    component.base_pose.inverse_times(&reference.poses[part.nodes[at]]),
                );
            };
            let joint = &reference.joints[j];
            let (d, first) = (joint.freedoms(), first_coordinate[j]);
            coordinates.extend(first..first + d);
            let given = &reference.mechanism[joint.id];
            let (frame_in_parent, frame_in_child) = reference.mechanism.frames_in_nodes(given);
            TreeLink {
                parent: parent_of(reference, component, at).map(|at| link_of[at]),
                kind: joint.kind.clone(),
                frame_in_parent,
                frame_in_child,
                reference: &reference.coordinates[joint.coordinate..joint.coordinate + d],
                map: &component.shapes.coordinates[first * n..(first + d) * n],
            }
        })
        .collect();
    (links, coordinates)
}

/// Forward kinematics of all links of a component, from joint coordinates alone; and for each of these in turn its
/// place among those of the component.
pub(super) fn plain_joints(reference: &Reference, component: &Component) -> (Joints, Vec<usize>) {
    let nodes: Vec<usize> = (0..component.part.nodes.len()).collect();
    let (mut links, coordinates) = tree_links(reference, component, &nodes);
    links.iter_mut().for_each(|link| link.map = &[]);
    (Joints::new(&links, 0), coordinates)
}

/// Where a component is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub z: &'a [f64],
    pub base: &'a Pose,
    pub threads: usize,
}
