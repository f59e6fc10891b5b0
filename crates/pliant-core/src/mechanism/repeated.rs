//! Directions in which the closures of loops repeat what the rest of the mechanism does already.
//!
//! All hinges of a planar linkage are parallel, so the last one closes nothing out of the plane: three of its five rows
//! repeat the others. In a file the axes are parallel to a few digits only, and taken at its word the linkage is
//! locked, or held by forces that no number can carry. So every direction counts once. With J the rows of some loop joints
//! over the coordinates of the tree joints around them, lengths and translations measured in the loops' own size,
//!
//! ```text
//! |λᵀJ| < TOLERANCE, |λ| = 1            λ: a direction that is repeated at a pose, JJᵀ's eigenvectors
//! r = max over poses of the rank        of m rows; at a dead centre it is less, and that pose does not count
//! e = argmax Σ_poses |Λᵀe|²             Λ: all λ at a pose, e: lengths or angles of one loop joint. It is left out, until m = r
//! ```
//!
//! Poses are the file's and some on the way from it, J's null space followed and what is not repeated closed again. First
//! each loop is looked at alone, then all that share a tree joint or a coupling together. What is left of a loop joint's
//! closure C and rows J is P C and P J, with the same P at all poses, in every engine; so rows that were repeated nearly
//! are then repeated exactly, which engines can do.

use nalgebra::{DMatrix, DVector, Matrix6, Vector3, Vector6};

use super::{BodyId, Coupling, JointId, Mechanism};
use crate::joints::JointKind;
use crate::spatial::{Pose, Twist, exp};

/// A direction is repeated if a motion of 1 rad or size of all joints together (the root of the sum of squares) opens it by
/// less, rad or sizes: more than four digits of a file do (5e-5 in each number, about 2e-4 between axes), less than a
/// mechanism means.
pub const TOLERANCE: f64 = 5e-4;

/// Below this, and not below [`TOLERANCE`], a direction is nearly repeated: three digits of a file are as coarse, and some mechanisms mean it. It
/// counts, and that is warned of.
pub const NEARLY_WITHIN: f64 = 2.5e-3;

/// Poses that are tried in addition to the file's, and how far these move the joint that moves most, rad or sizes: far enough
/// from a dead centre to raise singular values by many tolerances.
const SAMPLES: usize = 6;
const STRIDE: f64 = 0.25;

/// Iterations to close a pose again, and the last of their moves, rad or sizes, with which it counts as closed; a gap that is
/// not larger is none.
const ITERATIONS: usize = 10;
const CLOSED: f64 = 1e-11;

/// A direction is left out only if the repeated ones have this much of it (a square, 1 at most) at every pose: without
/// it the others must close the loop.
const PRESENT: f64 = 0.05;

/// A row is left out as it is if it has this part of the best direction's share in the repeated ones.
const ALONE: f64 = 0.9;

/// Rows of loops and couplings that are looked at together; the time goes with the cube. Of larger groups a window moves along: what is kept
/// of the loops that came last, and the next ones.
const MOST_ROWS: usize = 30;

/// Tree joints around all loops together that are looked at, the shortest loops first: 0.2 µs each for each pose and
/// iteration.
const MOST_JOINTS: usize = 200_000;

/// What a loop joint repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// The loop joint.
    pub joint: JointId,
    /// How many directions of its closure count no more.
    pub directions: usize,
    /// The most that these were open at the poses tried: m, rad.
    pub gap: [f64; 2],
    /// P: (6−d)×(6−d).
    pub(crate) kept: Matrix6<f64>,
}

impl Repeated {
    /// The wrenches on the child's joint frame that the joint still passes on, at its coordinates: those of what is kept of
    /// its rows and those along its coordinates. Q projects on them, torques in units of a length times force.
    pub(crate) fn passed_on(&self, kind: &JointKind, q: &[f64], length: f64) -> Matrix6<f64> {
        let X = kind.transform(q);
        let rows = self.kept * kind.rows(&X, q);
        let coordinates = kind.coordinates_jacobian(&X, q);
        let mut sum = Matrix6::zeros();
        // Rows of which nothing is left are rounding.
        let kept = (0..6 - q.len()).filter(|&i| self.kept[(i, i)] > 1e-9).map(|i| rows.row(i));
        for row in kept.chain((0..q.len()).map(|k| coordinates.row(k))) {
            let w = Vector6::from_fn(|i, _| row[i] * if i < 3 { length } else { 1.0 });
            sum += w * w.transpose() / w.norm_squared();
        }
        let eigen = sum.symmetric_eigen();
        let mut order: [usize; 6] = std::array::from_fn(|i| i);
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let square = |&i: &usize| eigen.eigenvectors.column(i) * eigen.eigenvectors.column(i).transpose();
        order[..6 - self.directions].iter().map(square).sum()
    }
}

/// Directions that loop joints nearly repeat: they count, and lock what may be meant to move.
#[derive(Clone, Debug, PartialEq)]
pub struct NearlyRepeated {
    /// The loop joints.
    pub joints: Vec<JointId>,
    /// How many directions of them.
    pub directions: usize,
    /// By how much the least of these is opened by a motion of 1 rad or size of all joints together: rad or sizes.
    pub opened: f64,
}

/// What is found of the loops of a mechanism.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// What loop joints repeat, those that repeat nothing left out.
    pub repeated: Vec<Repeated>,
    pub nearly: Option<NearlyRepeated>,
    /// How many were not looked at.
    pub passed_over: usize,
}

/// What the loop joints of a mechanism repeat.
pub(super) fn repeated(mechanism: &Mechanism) -> Found {
    let order = mechanism.order();
    let mut loops: Vec<JointId> =
        order.loop_joints().iter().copied().filter(|id| mechanism[*id].kind.freedoms() < 6).collect();
    // No loop is longer than the way to the world and back: the others are not even walked along.
    let depth =
        |body: Option<BodyId>| body.and_then(|b| order.node_of(b)).map_or(0, |n| order.nodes()[n].depth);
    loops.sort_by_key(|id| depth(Some(mechanism[*id].child)) + depth(mechanism[*id].parent));
    let mut walk = 10 * MOST_JOINTS;
    let walked: Vec<_> = loops.iter().map_while(|id| Closure::new(mechanism, *id, &mut walk)).collect();
    let mut passed_over = loops.len() - walked.len();
    let mut closures: Vec<Closure> =
        walked.into_iter().filter(|closure| !closure.around.is_empty()).collect();
    let (mut left, mut nearly) = (MOST_JOINTS, None);
    let mut shortest: Vec<&mut Closure> = closures.iter_mut().collect();
    shortest.sort_by_key(|closure| closure.around.len());
    for closure in shortest {
        left = left.saturating_sub(closure.around.len());
        match left {
            0 => passed_over += 1,
            _ => Set::new(mechanism, std::slice::from_mut(closure), &[]).leave_out(),
        }
    }
    for (mut members, couplings) in groups(mechanism, closures.iter().map(|c| c.around.as_slice())) {
        if left == 0 {
            continue;
        }
        if members.len() == 1 && couplings.is_empty() {
            Set::new(mechanism, &mut closures[members[0]..=members[0]], &[]).look_near(&mut nearly);
            continue;
        }
        let Some(room) = MOST_ROWS.checked_sub(couplings.len()).filter(|room| *room >= MOST_ROWS / 2) else {
            passed_over += members.len();
            continue;
        };
        members.sort_unstable();
        let rows = |closures: &[Closure], window: &[usize]| -> usize {
            window.iter().map(|&m| closures[m].kept.ncols()).sum()
        };
        let mut window: Vec<usize> = Vec::new();
        for (k, &m) in members.iter().enumerate() {
            window.push(m);
            let next = members.get(k + 1).map(|next| closures[*next].kept.ncols());
            if next.is_some_and(|next| rows(&closures, &window) + next <= room) {
                continue;
            }
            let mut together: Vec<Closure> = window.iter().map(|&m| closures[m].clone()).collect();
            let mut set = Set::new(mechanism, &mut together, &couplings);
            set.leave_out();
            set.look_near(&mut nearly);
            window.iter().zip(together).for_each(|(&m, closure)| closures[m] = closure);
            // Of loops of which much is kept, the first make room.
            while rows(&closures, &window) > room / 2 {
                window.remove(0);
            }
        }
    }
    // Looked at by depth and name, listed by joint.
    closures.sort_by_key(|closure| closure.id.index());
    Found { repeated: closures.into_iter().filter_map(Closure::finish).collect(), nearly, passed_over }
}

/// A loop joint, what is kept of it, and what is around it.
#[derive(Clone, Debug)]
struct Closure {
    id: JointId,
    /// Nodes whose tree joints move one side and not the other, with the sign of the side; parents last.
    around: Vec<(usize, f64)>,
    /// Which rows are lengths.
    is_length: [bool; 6],
    /// B: an orthonormal basis of what is kept of the rows, and which of its columns are lengths; the others are angles.
    kept: DMatrix<f64>,
    lengths: Vec<bool>,
    /// Of this loop alone, m.
    size: f64,
    gap: [f64; 2],
}

impl Closure {
    /// None if it takes more steps along the loop than are left to walk.
    fn new(mechanism: &Mechanism, id: JointId, walk: &mut usize) -> Option<Closure> {
        let (order, joint) = (mechanism.order(), &mechanism[id]);
        let mut ends = [Some(joint.child), joint.parent].map(|body| body.and_then(|b| order.node_of(b)));
        // The world is above every node, and so above those that are free bases.
        let depth = |end: Option<usize>| end.map_or(0, |n| order.nodes()[n].depth + 1);
        let [mut up, mut down] = [Vec::new(), Vec::new()];
        // The deeper end goes up until both are the same.
        while ends[0] != ends[1] {
            *walk = walk.checked_sub(1)?;
            let (end, way) = if depth(ends[0]) >= depth(ends[1]) {
                (&mut ends[0], &mut up)
            } else {
                (&mut ends[1], &mut down)
            };
            let n = (*end)?;
            way.push(n);
            *end = order.nodes()[n].parent;
        }
        let around = up.into_iter().map(|n| (n, 1.0)).chain(down.into_iter().map(|n| (n, -1.0))).collect();
        let d = joint.kind.freedoms();
        let J = joint.kind.rows(&Pose::identity(), &[0.0; 6][..d]);
        let is_length: [bool; 6] = std::array::from_fn(|i| J.fixed_view::<1, 3>(i, 0).amax() > 0.0);
        let (kept, lengths) = (DMatrix::identity(6 - d, 6 - d), is_length[..6 - d].to_vec());
        let mut closure = Closure { id, around, is_length, kept, lengths, size: 1.0, gap: [0.0; 2] };
        closure.size = size(mechanism, std::slice::from_ref(&closure));
        Some(closure)
    }

    /// 1/size for rows that are lengths, else 1.
    fn scale(&self, i: usize) -> f64 {
        if self.is_length[i] { 1.0 / self.size } else { 1.0 }
    }

    /// P = B Bᵀ: lengths and angles apart, so that no unit matters.
    fn finish(self) -> Option<Repeated> {
        let directions = self.kept.nrows() - self.kept.ncols();
        let mut kept = Matrix6::zeros();
        kept.view_mut((0, 0), (self.kept.nrows(), self.kept.nrows()))
            .copy_from(&(&self.kept * self.kept.transpose()));
        let [length, angle] = self.gap;
        let told = |gap: f64, unit: f64| if gap > CLOSED * unit { gap } else { 0.0 };
        let gap = [told(length, self.size), told(angle, 1.0)];
        (directions > 0).then_some(Repeated { joint: self.id, directions, gap, kept })
    }
}

/// Diagonal of a box around all joints, links and centres of mass of loops, m.
fn size(mechanism: &Mechanism, closures: &[Closure]) -> f64 {
    let nodes = mechanism.order().nodes();
    let mut points: Vec<Vector3<f64>> = closures.iter().map(|c| mechanism[c.id].frame.position).collect();
    for &(n, _) in closures.iter().flat_map(|closure| &closure.around) {
        let link = mechanism[nodes[n].head].pose;
        points.extend([link.position, link.transform_point(&nodes[n].inertia.center_of_mass)]);
        points.extend(nodes[n].joint.map(|j| mechanism[j].frame.position));
    }
    let low = points.iter().fold(Vector3::repeat(f64::INFINITY), |low, p| low.inf(p));
    let high = points.iter().fold(Vector3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
    let size = (high - low).norm();
    if size > 0.0 { size } else { 1.0 }
}

/// Closures that share a node, or that a coupling joins, with the couplings among them.
fn groups<'a>(
    mechanism: &Mechanism,
    around: impl Iterator<Item = &'a [(usize, f64)]>,
) -> Vec<(Vec<usize>, Vec<Coupling>)> {
    // Sets of nodes; one of each set stands for it.
    let count = mechanism.order().nodes().len();
    let mut set: Vec<usize> = (0..count).collect();
    fn find(set: &mut [usize], mut n: usize) -> usize {
        while set[n] != n {
            set[n] = set[set[n]];
            n = set[n];
        }
        n
    }
    let mut firsts = Vec::new();
    let mut node_of_joint = vec![None; mechanism.joints().len()];
    for (n, node) in mechanism.order().nodes().iter().enumerate() {
        node.joint.into_iter().for_each(|j| node_of_joint[j.index()] = Some(n));
    }
    for around in around {
        firsts.push(around[0].0);
        for &(n, _) in around {
            let (a, b) = (find(&mut set, n), find(&mut set, around[0].0));
            set[a] = b;
        }
    }
    let between = |c: &Coupling| Some((node_of_joint[c.joint.index()]?, node_of_joint[c.of.index()]?));
    for (a, b) in mechanism.coupled().iter().filter_map(between) {
        let (a, b) = (find(&mut set, a), find(&mut set, b));
        set[a] = b;
    }
    let mut groups: Vec<(Vec<usize>, Vec<Coupling>)> = vec![Default::default(); count];
    firsts.iter().enumerate().for_each(|(i, &n)| groups[find(&mut set, n)].0.push(i));
    for coupling in mechanism.coupled() {
        if let Some((n, _)) = between(coupling) {
            groups[find(&mut set, n)].1.push(*coupling);
        }
    }
    groups.retain(|(members, _)| !members.is_empty());
    groups
}

/// Closures and couplings that are looked at together.
struct Set<'a> {
    mechanism: &'a Mechanism,
    closures: &'a mut [Closure],
    couplings: &'a [Coupling],
    size: f64,
    tolerance: f64,
    /// Nodes that are moved, parents first, and the first column of each.
    nodes: Vec<usize>,
    first: Vec<usize>,
    columns: usize,
}

/// Coordinates of the nodes' tree joints, or the pose of a free base.
#[derive(Clone)]
struct At {
    coordinates: Vec<f64>,
    poses: Vec<Pose>,
}

/// At a pose: closures and rows of what is kept.
struct Sample {
    c: DVector<f64>,
    J: DMatrix<f64>,
}

/// JJᵀ by its eigenvectors: those that count and what they are, and those that are repeated.
struct Directions {
    own: DMatrix<f64>,
    squares: DVector<f64>,
    repeated: DMatrix<f64>,
    /// By how much the least is opened.
    least: f64,
}

impl<'a> Set<'a> {
    fn new(mechanism: &'a Mechanism, closures: &'a mut [Closure], couplings: &'a [Coupling]) -> Set<'a> {
        let order = mechanism.order();
        let joints = couplings.iter().flat_map(|c| [c.joint, c.of]);
        let coupled = joints.filter_map(|j| order.node_of(mechanism[j].child));
        let mut nodes: Vec<usize> =
            closures.iter().flat_map(|c| c.around.iter().map(|&(n, _)| n)).chain(coupled).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut columns = 0;
        let mut first = Vec::with_capacity(nodes.len());
        for &n in &nodes {
            first.push(columns);
            columns += order.nodes()[n].joint.map_or(6, |j| mechanism[j].freedoms.len());
        }
        let size = size(mechanism, closures);
        Set { mechanism, closures, couplings, size, tolerance: TOLERANCE, nodes, first, columns }
    }

    fn start(&self) -> At {
        let head = |n: &usize| self.mechanism[self.mechanism.order().nodes()[*n].head].pose;
        At { coordinates: vec![0.0; self.columns], poses: self.nodes.iter().map(head).collect() }
    }

    /// Adds what is left that a larger tolerance would leave out, at all poses.
    fn look_near(&self, nearly: &mut Option<NearlyRepeated>) {
        let sample = self.sample(&self.start());
        let Some(near) = directions(&sample.J, NEARLY_WITHIN) else { return };
        if near.repeated.ncols() == 0 {
            return;
        }
        let mut closures = self.closures.to_vec();
        let mut set = Set::new(self.mechanism, &mut closures, self.couplings);
        set.tolerance = NEARLY_WITHIN;
        set.leave_out();
        for (before, after) in self.closures.iter().zip(&closures) {
            let directions = before.kept.ncols() - after.kept.ncols();
            let opened = near.least.max(TOLERANCE);
            if directions > 0 {
                let found =
                    nearly.get_or_insert(NearlyRepeated { joints: Vec::new(), directions: 0, opened });
                // Of several windows the first.
                if !found.joints.contains(&before.id) {
                    found.joints.push(before.id);
                    found.directions += directions;
                    found.opened = found.opened.min(opened);
                }
            }
        }
    }

    /// Leaves out what is repeated at all poses.
    fn leave_out(&mut self) {
        let start = self.start();
        let first = self.sample(&start);
        if directions(&first.J, self.tolerance).is_none_or(|d| d.repeated.ncols() == 0) {
            return;
        }
        let mut samples = vec![first];
        for k in 0..SAMPLES {
            samples.extend(self.moved(&start, &samples[0].J, k));
        }
        while self.leave_out_one(&mut samples) {}
    }

    /// A pose on the way from the start in some direction; none if loops cannot be closed there.
    fn moved(&self, start: &At, J: &DMatrix<f64>, k: usize) -> Option<Sample> {
        // Fractions of the golden ratio: no multiple of any symmetry, and the same every time.
        let any = |i: usize| f64::fract(((k * self.columns + i + 1) as f64) * 0.618_033_988_749_894_9) - 0.5;
        let direction = DVector::from_fn(self.columns, |i, _| any(i));
        let direction = &direction - directions(J, self.tolerance)?.correction(J, &(J * &direction));
        let most = direction.amax();
        if most.is_nan() || most < 1e-6 {
            return None; // nothing can move
        }
        let mut at = start.clone();
        self.advance(&mut at, &(direction * (STRIDE / most)));
        for _ in 0..ITERATIONS {
            let sample = self.sample(&at);
            let step = directions(&sample.J, self.tolerance)?.correction(&sample.J, &sample.c);
            match step.amax() {
                size if size < CLOSED => return Some(sample),
                size if size < 1.0 => self.advance(&mut at, &-step),
                _ => return None,
            }
        }
        None
    }

    /// Moves all coordinates, which are given in radians or sizes.
    fn advance(&self, at: &mut At, step: &DVector<f64>) {
        for (i, (&n, &first)) in self.nodes.iter().zip(&self.first).enumerate() {
            match self.mechanism.order().nodes()[n].joint.map(|j| &self.mechanism[j]) {
                Some(joint) => (0..joint.freedoms.len()).for_each(|k| {
                    at.coordinates[first + k] += step[first + k] * self.unit(joint.kind.translations(), k)
                }),
                None => {
                    let moved = Vector6::from_fn(|k, _| step[first + k] * self.unit(3, k));
                    at.poses[i] = at.poses[i] * exp(&Twist::from_vector(&moved));
                }
            }
        }
    }

    fn unit(&self, translations: usize, k: usize) -> f64 {
        if k < translations { self.size } else { 1.0 }
    }

    /// Closures and their rows at coordinates; free bases are where `at` has them.
    fn sample(&self, at: &At) -> Sample {
        let (mechanism, order) = (self.mechanism, self.mechanism.order());
        // Where the nodes are, and the frames on their side of the tree joints, with the motions there.
        let mut poses = at.poses.clone();
        let mut frames = poses.clone();
        let mut motions = Vec::with_capacity(self.nodes.len());
        for (i, (&n, &first)) in self.nodes.iter().zip(&self.first).enumerate() {
            let Some(joint) = order.nodes()[n].joint.map(|j| &mechanism[j]) else {
                motions.push((Matrix6::from_fn(|r, c| if r == c { self.unit(3, c) } else { 0.0 }), 6));
                continue;
            };
            let d = joint.freedoms.len();
            let q = &at.coordinates[first..first + d];
            let outer = self.body_pose(&poses[..i], joint.parent) * mechanism.frame_in_parent(joint);
            frames[i] = outer * joint.kind.transform(q);
            poses[i] = frames[i] * mechanism.frame_in_child(joint).inverse();
            let mut S = joint.kind.subspace(q);
            (0..d).for_each(|k| S.column_mut(k).scale_mut(self.unit(joint.kind.translations(), k)));
            motions.push((S, d));
        }
        let rows = self.closures.iter().map(|c| c.kept.ncols()).sum::<usize>() + self.couplings.len();
        let (mut c, mut J) = (DVector::zeros(rows), DMatrix::zeros(rows, self.columns));
        let mut row = 0;
        for closure in self.closures.iter() {
            let joint = &mechanism[closure.id];
            let (d, count) = (joint.freedoms.len(), closure.kept.ncols());
            let inner = self.body_pose(&poses, Some(joint.child)) * mechanism.frame_in_child(joint);
            let outer = self.body_pose(&poses, joint.parent) * mechanism.frame_in_parent(joint);
            let X = outer.inverse_times(&inner);
            let q = joint.kind.coordinates(&X, &[0.0; 6][..d]);
            let q = &q.as_slice()[..d];
            let (residual, own) = (joint.kind.residual(&X, q), joint.kind.rows(&X, q));
            // Bᵀ D C and Bᵀ D J Ad S.
            let open = DVector::from_fn(6 - d, |i, _| residual[i] * closure.scale(i));
            c.rows_mut(row, count).copy_from(&(closure.kept.transpose() * open));
            let own = DMatrix::from_fn(6 - d, 6, |i, k| own[(i, k)] * closure.scale(i));
            let own = closure.kept.transpose() * own;
            for &(n, sign) in &closure.around {
                let i = self.nodes.binary_search(&n).expect("it is around a closure");
                let (S, d) = &motions[i];
                let columns = &own * (inner.inverse_times(&frames[i]).adjoint() * S) * sign;
                J.view_mut((row, self.first[i]), (count, *d)).copy_from(&columns.columns(0, *d));
            }
            row += count;
        }
        // θ − ratio·θ_of from where it was, by the larger of both factors.
        for coupling in self.couplings {
            let ends = [(coupling.joint, 1.0), (coupling.of, -coupling.ratio)].map(|(id, factor)| {
                let node = order.node_of(mechanism[id].child).expect("it has a tree joint");
                let unit = self.unit(mechanism[id].kind.translations(), 0);
                (self.first[self.nodes.binary_search(&node).expect("it is coupled")], factor * unit, unit)
            });
            let largest = ends[0].1.abs().max(ends[1].1.abs());
            for (column, factor, unit) in ends {
                c[row] += factor / largest * at.coordinates[column] / unit;
                J[(row, column)] += factor / largest;
            }
            row += 1;
        }
        Sample { c, J }
    }

    /// Where a body is; what is not moved is where the file has it.
    fn body_pose(&self, poses: &[Pose], body: Option<BodyId>) -> Pose {
        let Some(body) = body else { return Pose::identity() };
        let node = self.mechanism.order().node_of(body).and_then(|n| self.nodes.binary_search(&n).ok());
        match node {
            Some(i) => poses[i] * self.mechanism.order().offset_of(body),
            None => self.mechanism[body].pose,
        }
    }

    /// Leaves out the direction of a closure that is repeated most at all poses; false if there is none.
    fn leave_out_one(&mut self, samples: &mut [Sample]) -> bool {
        let found: Option<Vec<Directions>> =
            samples.iter().map(|sample| directions(&sample.J, self.tolerance)).collect();
        let Some(mut found) = found else { return false };
        let fewest = found.iter().map(|d| d.repeated.ncols()).min().unwrap_or(0);
        if fewest == 0 {
            return false;
        }
        found.retain(|d| d.repeated.ncols() == fewest); // the others are dead centres
        let mut best: Option<(f64, usize, usize, DVector<f64>)> = None;
        let mut row = 0;
        for (i, closure) in self.closures.iter().enumerate() {
            let count = closure.kept.ncols();
            // Lengths or angles alone: a direction of both would be another one in other units.
            for is_length in [true, false] {
                let own: Vec<usize> = (0..count).filter(|&k| closure.lengths[k] == is_length).collect();
                let at: Vec<usize> = own.iter().map(|k| row + k).collect();
                let blocks: Vec<DMatrix<f64>> = found.iter().map(|d| d.repeated.select_rows(&at)).collect();
                let sum: DMatrix<f64> = blocks.iter().map(|L| L * L.transpose()).sum();
                if own.is_empty() {
                    continue;
                }
                let eigen = sum.clone().symmetric_eigen();
                let (most, row_alone) = (eigen.eigenvalues.max(), sum.diagonal().imax());
                // One of the rows alone, if that is nearly as good: then nothing is left of it, and engines need not look.
                let part = match sum[(row_alone, row_alone)] > ALONE * most {
                    true => DVector::from_fn(own.len(), |k, _| f64::from(u8::from(k == row_alone))),
                    false => eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned(),
                };
                let least = blocks.iter().map(|L| L.tr_mul(&part).norm_squared()).fold(1.0, f64::min);
                if least > PRESENT && best.as_ref().is_none_or(|(before, ..)| most > *before) {
                    let mut e = DVector::zeros(count);
                    own.iter().zip(part.iter()).for_each(|(&k, x)| e[k] = *x);
                    best = Some((most, i, row, e));
                }
            }
            row += count;
        }
        let Some((_, i, row, e)) = best else { return false };
        // All that is square to e: the reflection that takes e to the axis it is nearest to, without that axis.
        let (count, axis) = (e.len(), e.iamax());
        let mut v = e.clone();
        v[axis] += e[axis].signum();
        let others = DMatrix::identity(count, count) - &v * v.transpose() * (2.0 / v.norm_squared());
        let others = others.remove_column(axis);
        let closure = &mut self.closures[i];
        let is_length = closure.lengths.remove(axis);
        for sample in samples.iter_mut() {
            let (c, J) = (sample.c.rows(row, count), sample.J.rows(row, count));
            let gap = &mut closure.gap[usize::from(!is_length)];
            *gap = gap.max(c.dot(&e).abs() * if is_length { closure.size } else { 1.0 });
            let (c, J) = (others.tr_mul(&c), others.tr_mul(&J));
            sample.c = std::mem::take(&mut sample.c).remove_row(row + axis);
            sample.J = std::mem::take(&mut sample.J).remove_row(row + axis);
            sample.c.rows_mut(row, count - 1).copy_from(&c);
            sample.J.rows_mut(row, count - 1).copy_from(&J);
        }
        closure.kept = &closure.kept * others;
        true
    }
}

impl Directions {
    /// The least move that changes closures by c, but for repeated ones: Jᵀ(JJᵀ)⁺c.
    fn correction(&self, J: &DMatrix<f64>, c: &DVector<f64>) -> DVector<f64> {
        let along = self.own.tr_mul(c).component_div(&self.squares);
        J.tr_mul(&(&self.own * along))
    }
}

/// The directions of rows at a pose, repeated to a tolerance; none if there are no rows, or not finite ones.
fn directions(J: &DMatrix<f64>, tolerance: f64) -> Option<Directions> {
    let G = J * J.transpose();
    if G.is_empty() || !G.iter().all(|x| x.is_finite()) {
        return None;
    }
    let eigen = G.try_symmetric_eigen(f64::EPSILON, 10_000)?;
    let (own, repeated): (Vec<usize>, Vec<usize>) =
        (0..J.nrows()).partition(|&i| eigen.eigenvalues[i] > tolerance * tolerance);
    Some(Directions {
        squares: DVector::from_fn(own.len(), |i, _| eigen.eigenvalues[own[i]]),
        own: eigen.eigenvectors.select_columns(&own),
        repeated: eigen.eigenvectors.select_columns(&repeated),
        least: eigen.eigenvalues.min().max(0.0).sqrt(),
    })
}
