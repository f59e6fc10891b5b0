//! The pose in which some joints are at given positions.
//!
//! Without loops, or where these are closed then, it is forward kinematics along the spanning forest, joints that follow
//! others where their leaders have them. Else the coordinates x of all joints, and the poses of free bases, are moved from where the mechanism starts, in strides:
//!
//! ```text
//! min ½ (x − x̂)ᵀ K (x − x̂)   such that   c(x) = 0
//! ```
//!
//! with K stiff on given joints, x̂ their positions, and on the others their own springs, relaxed where they were. c are the
//! gaps of loop joints (six each: the joint's own coordinates are among x) and of couplings. One iteration linearises c: with
//! δ = x̂ − x + K^−½ y, it is the least y with (J K^−½) y = −(c + J(x̂ − x)), by a pivoted QR factorisation, because loops
//! may repeat each other's constraints.

use nalgebra::{DMatrix, DVector, Matrix6, Vector6};

use super::{Joint, JointId, Mechanism, Start};
use crate::spatial::{Pose, Twist, exp, log};

/// Joints that cannot be where they should.
#[derive(Clone, Debug)]
pub(crate) struct Unposed {
    /// The joint that the others stop, if it is one.
    pub joint: Option<JointId>,
    pub why: String,
}

/// Largest part of a way, rad or radii, that joints are moved at once.
const STRIDE: f64 = 0.1;

/// The pose in which some joints are at given positions, one finite number per freedom, and the others where the
/// mechanism starts, or as near as loops and couplings let them. These may leave each joint so far from its position,
/// rad or radii.
pub(crate) fn pose_at(
    mechanism: &Mechanism,
    positions: &[(JointId, Vec<f64>)],
    reached: f64,
) -> Result<Start, Unposed> {
    // Gaps that are rounding of a product of poses, rad or radii.
    const CLOSED: f64 = 1e-12;
    // The most loops that are closed for the sake of couplings alone, not at anyone's request: a step is cubic in them.
    const MOST_LOOPS: usize = 100;
    let start = match mechanism.start() {
        Some(start) => start.clone(),
        None => Start {
            poses: mechanism.bodies().iter().map(|body| body.pose).collect(),
            coordinates: vec![0.0; mechanism.coordinate_count()],
        },
    };
    let mut at = start.clone();
    for (joint, position) in positions {
        at.coordinates[mechanism[*joint].coordinates()].copy_from_slice(position);
    }
    follow(mechanism, positions, &mut at.coordinates);
    place(mechanism, &mut at);
    if !at.poses.iter().all(Pose::is_finite) {
        return Err(Unposed { joint: None, why: "its transform is not finite there".into() });
    }
    if open(mechanism, &mut at) <= CLOSED {
        return Ok(at);
    }
    let loops = mechanism.order().loop_joints().len();
    if positions.is_empty() && loops > MOST_LOOPS {
        let why = format!("{loops} loops are too many to be closed there");
        return Err(Unposed { joint: None, why });
    }
    close(mechanism, start, positions, reached)
}

/// Joints that follow others go where their leaders have them, unless they are given: q = ratio p + offset. A row of
/// followers is as long as there are couplings at most.
fn follow(mechanism: &Mechanism, positions: &[(JointId, Vec<f64>)], coordinates: &mut [f64]) {
    let couplings = mechanism.couplings();
    for _ in couplings {
        let mut moved = false;
        for coupling in couplings.iter().filter(|c| positions.iter().all(|(given, _)| *given != c.joint)) {
            let [q, p] = [coupling.joint, coupling.of].map(|j| mechanism[j].coordinates().start);
            let followed = coupling.ratio * coordinates[p] + coupling.offset;
            moved |= coordinates[q] != followed;
            coordinates[q] = followed;
        }
        if !moved {
            return;
        }
    }
}

/// Length that translations count in, m.
fn radius(mechanism: &Mechanism) -> f64 {
    if mechanism.radius() > 0.0 { mechanism.radius() } else { 1.0 }
}

/// Puts bodies where the coordinates of the forest have them; free bases stay.
fn place(mechanism: &Mechanism, at: &mut Start) {
    let order = mechanism.order();
    let mut nodes: Vec<Pose> = Vec::with_capacity(order.nodes().len());
    for node in order.nodes() {
        let pose = match node.joint.map(|j| &mechanism[j]) {
            None => at.poses[node.head.index()],
            Some(joint) => {
                let (in_parent, in_child) = mechanism.frames_in_nodes(joint);
                let outer = node.parent.map_or(Pose::identity(), |n| nodes[n]) * in_parent;
                // At zero it is the identity: formulas need not be compiled to say so.
                let q = &at.coordinates[joint.coordinates()];
                let moved = q.iter().any(|x| *x != 0.0);
                let X = if moved { joint.kind.transform(q) } else { Pose::identity() };
                outer * X * in_child.inverse()
            }
        };
        nodes.push(pose);
    }
    for (body, pose) in mechanism.body_ids().zip(&mut at.poses) {
        if let Some(n) = order.node_of(body) {
            *pose = nodes[n] * order.offset_of(body);
        }
    }
}

/// The joint frames on its parent and on its child, in the world.
fn frames(mechanism: &Mechanism, joint: &Joint, at: &Start) -> [Pose; 2] {
    let parent = joint.parent.map_or(Pose::identity(), |b| at.poses[b.index()]);
    let child = at.poses[joint.child.index()];
    [parent * mechanism.frame_in_parent(joint), child * mechanism.frame_in_child(joint)]
}

/// Makes the coordinates of loop joints those of the poses; how far loops and couplings are open then, rad or radii.
fn open(mechanism: &Mechanism, at: &mut Start) -> f64 {
    let radius = radius(mechanism);
    let mut open = 0.0f64;
    for &id in mechanism.order().loop_joints() {
        let joint = &mechanism[id];
        let [outer, inner] = frames(mechanism, joint, at);
        let X = outer.inverse_times(&inner);
        let own = &mut at.coordinates[joint.coordinates()];
        if X == Pose::identity() && own.iter().all(|x| *x == 0.0) {
            continue;
        }
        let q = joint.kind.coordinates(&X, own);
        own.copy_from_slice(&q.as_slice()[..joint.kind.freedoms()]);
        let mut gap = log(&joint.kind.transform(own).inverse_times(&X)).to_vector();
        (0..3).for_each(|i| gap[i] /= radius);
        if let Some(repeated) = mechanism.repeated_by(id) {
            gap = repeated.passed_on(&joint.kind, own, radius) * gap;
        }
        open = open.max(gap.fixed_rows::<3>(0).norm()).max(gap.fixed_rows::<3>(3).norm());
    }
    for coupling in mechanism.coupled() {
        let [joint, of] = [coupling.joint, coupling.of].map(|j| &mechanism[j]);
        let [q, p] = [joint, of].map(|j| at.coordinates[j.coordinates()].first().copied());
        if let (Some(q), Some(p)) = (q, p) {
            open = open.max((q - coupling.ratio * p - coupling.offset).abs() / unit(joint, 0, radius));
        }
    }
    open
}

/// What a coordinate is measured in: radii or radians.
fn unit(joint: &Joint, freedom: usize, radius: f64) -> f64 {
    if freedom < joint.kind.translations() { radius } else { 1.0 }
}

/// The unknowns x: coordinates of all joints, then six for each free base.
struct Unknowns<'m> {
    mechanism: &'m Mechanism,
    radius: f64,
    /// Units of x, and 1/√K in these.
    units: Vec<f64>,
    soft: DVector<f64>,
    /// Nodes that are free bases.
    bases: Vec<usize>,
}

/// Moves the joints to their positions, loops and couplings closed.
fn close(
    mechanism: &Mechanism,
    start: Start,
    positions: &[(JointId, Vec<f64>)],
    reached: f64,
) -> Result<Start, Unposed> {
    // The longest way, in strides.
    const LONGEST: f64 = 200.0;
    let failed = |why: String| Unposed { joint: None, why };
    let unknowns = Unknowns::new(mechanism, positions);
    let way = (positions.iter())
        .flat_map(|(joint, x)| {
            let joint = &mechanism[*joint];
            let from = &start.coordinates[joint.coordinates()];
            let units = (0..x.len()).map(|k| unit(joint, k, unknowns.radius));
            x.iter().zip(from).zip(units).map(|((x, from), unit)| (x - from).abs() / unit)
        })
        .fold(0.0, f64::max);
    if way > LONGEST * STRIDE {
        return Err(failed(format!("the path of {way:.0} rad or radii is too long to follow")));
    }
    let strides = (way / STRIDE).ceil().max(1.0) as usize;
    // The small give of stiff springs is taken out by moving their rests on: the last rounds.
    const ROUNDS: usize = 3;
    let mut at = start.clone();
    let mut rest = start.coordinates.clone();
    for stride in 1..=strides + ROUNDS {
        let part = (stride as f64 / strides as f64).min(1.0);
        for (joint, position) in positions {
            for (q, x) in mechanism[*joint].coordinates().zip(position) {
                rest[q] = match stride > strides {
                    true => rest[q] + x - at.coordinates[q],
                    false => start.coordinates[q] + (x - start.coordinates[q]) * part,
                };
            }
        }
        if !unknowns.settle(&start, &rest, &mut at) {
            return Err(failed("loops prevent it".into()));
        }
    }
    for (id, position) in positions {
        let joint = &mechanism[*id];
        for (k, (q, x)) in joint.coordinates().zip(position).enumerate() {
            let got = at.coordinates[q];
            if (got - x).abs() > reached * unit(joint, k, unknowns.radius) {
                let why = format!("loops let joint `{}` reach {got:.6} only, not {x}", joint.name);
                return Err(Unposed { joint: Some(*id), why });
            }
        }
    }
    Ok(at)
}

impl<'m> Unknowns<'m> {
    fn new(mechanism: &'m Mechanism, positions: &[(JointId, Vec<f64>)]) -> Unknowns<'m> {
        // Stiffness that holds a joint at its position, relative to the stiffest spring; and of a passive joint, the inverse.
        const HELD: f64 = 1e6;
        let radius = radius(mechanism);
        let freedoms = mechanism.joints().iter().flat_map(|j| &j.freedoms);
        let stiffest = freedoms.map(|f| f.stiffness).fold(0.0, f64::max);
        let stiffest = if stiffest > 0.0 { stiffest } else { 1.0 };
        let (mut units, mut soft) = (Vec::new(), Vec::new());
        for (id, joint) in mechanism.joint_ids().zip(mechanism.joints()) {
            let given = positions.iter().any(|(other, _)| *other == id);
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                let stiffness = match given {
                    true => HELD * stiffest,
                    false if freedom.stiffness == 0.0 => stiffest / HELD,
                    false => freedom.stiffness,
                };
                units.push(unit(joint, k, radius));
                soft.push(1.0 / (stiffness.sqrt() * unit(joint, k, radius)));
            }
        }
        let nodes = mechanism.order().nodes().iter().enumerate();
        let bases: Vec<usize> = nodes.filter(|(_, node)| node.joint.is_none()).map(|(n, _)| n).collect();
        for _ in &bases {
            units.extend([radius, radius, radius, 1.0, 1.0, 1.0]);
            soft.extend([1.0 / stiffest.sqrt(); 6]);
        }
        Unknowns { mechanism, radius, units, soft: soft.into(), bases }
    }

    /// Newton's method, until loops and couplings are closed and nothing moves any more; false if that does not happen.
    fn settle(&self, start: &Start, rest: &[f64], at: &mut Start) -> bool {
        // Iterations of a stride, and the change, rad or radii, at which they have converged.
        const ITERATIONS: usize = 100;
        const STILL: f64 = 1e-13;
        let coordinates = rest.len();
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            place(self.mechanism, at);
            let (c, J) = self.constraints(at);
            // x̂ − x, in units.
            let mut away = DVector::zeros(self.units.len());
            for q in 0..coordinates {
                away[q] = (rest[q] - at.coordinates[q]) / self.units[q];
            }
            for (b, &n) in self.bases.iter().enumerate() {
                let head = self.mechanism.order().nodes()[n].head.index();
                let back = log(&at.poses[head].inverse_times(&start.poses[head])).to_vector();
                let first = coordinates + 6 * b;
                (0..6).for_each(|i| away[first + i] = back[i] / self.units[first + i]);
            }
            let A = DMatrix::from_fn(J.ncols(), J.nrows(), |i, k| J[(k, i)] * self.soft[i]);
            let Some(y) = least(A, &-(&c + &J * &away)) else { return false };
            let step = away + y.component_mul(&self.soft);
            let size = step.amax();
            if !size.is_finite() {
                return false;
            }
            // No longer than a stride at once.
            let scale = if size > STRIDE { STRIDE / size } else { 1.0 };
            for q in 0..coordinates {
                at.coordinates[q] += scale * step[q] * self.units[q];
            }
            for (b, &n) in self.bases.iter().enumerate() {
                let head = self.mechanism.order().nodes()[n].head.index();
                let first = coordinates + 6 * b;
                let moved = Vector6::from_fn(|i, _| scale * step[first + i] * self.units[first + i]);
                at.poses[head] = at.poses[head] * exp(&Twist::from_vector(&moved));
            }
            // At rounding, or no better than before there.
            if size < STILL || (size < 1e-9 && size >= before) {
                place(self.mechanism, at);
                return open(self.mechanism, at) < 1e-9;
            }
            before = size;
        }
        false
    }

    /// c and J, both in units: six rows for each loop joint, one for each coupling.
    fn constraints(&self, at: &Start) -> (DVector<f64>, DMatrix<f64>) {
        let (mechanism, order) = (self.mechanism, self.mechanism.order());
        let loops = order.loop_joints();
        let rows = 6 * loops.len() + mechanism.coupled().len();
        let mut c = DVector::zeros(rows);
        let mut J = DMatrix::zeros(rows, self.units.len());
        let scale = |i: usize| if i < 3 { 1.0 / self.radius } else { 1.0 };
        for (l, &id) in loops.iter().enumerate() {
            let joint = &mechanism[id];
            let [outer, inner] = frames(mechanism, joint, at);
            let q = &at.coordinates[joint.coordinates()];
            let gap = log(&joint.kind.transform(q).inverse_times(&outer.inverse_times(&inner))).to_vector();
            (0..6).for_each(|i| c[6 * l + i] = gap[i] * scale(i));
            let mut add = |at: usize, columns: &Matrix6<f64>, count: usize, sign: f64| {
                for (i, k) in (0..6).flat_map(|i| (0..count).map(move |k| (i, k))) {
                    J[(6 * l + i, at + k)] += sign * columns[(i, k)] * scale(i) * self.units[at + k];
                }
            };
            add(joint.coordinates().start, &joint.kind.subspace(q), joint.freedoms.len(), -1.0);
            // Motions of the joints between either side and the base, in the frame on the child.
            let sides = [(Some(joint.child), 1.0), (joint.parent, -1.0)];
            for (body, sign) in sides.into_iter().filter_map(|(b, sign)| Some((b?, sign))) {
                let mut node = order.node_of(body);
                while let Some(n) = node {
                    let own = &order.nodes()[n];
                    match own.joint.map(|j| &mechanism[j]) {
                        Some(tree) => {
                            let frame = inner.inverse_times(&frames(mechanism, tree, at)[1]);
                            let S = tree.kind.subspace(&at.coordinates[tree.coordinates()]);
                            let columns = frame.adjoint() * S;
                            add(tree.coordinates().start, &columns, tree.freedoms.len(), sign);
                        }
                        None => {
                            let base = self.bases.iter().position(|b| *b == n).expect("it is a free base");
                            let frame = inner.inverse_times(&at.poses[own.head.index()]);
                            add(mechanism.coordinate_count() + 6 * base, &frame.adjoint(), 6, sign);
                        }
                    }
                    node = own.parent;
                }
            }
            // What the rest closes already counts no more.
            if let Some(repeated) = mechanism.repeated_by(id) {
                let Q = repeated.passed_on(&joint.kind, q, self.radius);
                let (own, rows) = (Q * c.fixed_rows::<6>(6 * l), Q * J.fixed_rows::<6>(6 * l));
                c.fixed_rows_mut::<6>(6 * l).copy_from(&own);
                J.fixed_rows_mut::<6>(6 * l).copy_from(&rows);
            }
        }
        for (k, coupling) in mechanism.coupled().iter().enumerate() {
            let [joint, of] = [coupling.joint, coupling.of].map(|j| mechanism[j].coordinates().start);
            let row = 6 * loops.len() + k;
            let unit = self.units[joint];
            let gap = at.coordinates[joint] - coupling.ratio * at.coordinates[of] - coupling.offset;
            c[row] = gap / unit;
            J[(row, joint)] += 1.0;
            J[(row, of)] -= coupling.ratio * self.units[of] / unit;
        }
        (c, J)
    }
}

/// The least y with Aᵀy = b, rows that others imply left out.
fn least(A: DMatrix<f64>, b: &DVector<f64>) -> Option<DVector<f64>> {
    // Pivots below this, of the largest, are constraints that others imply.
    const RANK: f64 = 1e-11;
    let (n, m) = A.shape();
    if n == 0 || m == 0 {
        return Some(DVector::zeros(n));
    }
    let qr = A.col_piv_qr();
    let (Q, R) = (qr.q(), qr.r());
    let mut right = b.clone();
    qr.p().permute_rows(&mut right);
    let largest = R[(0, 0)].abs();
    let rank = (0..n.min(m)).take_while(|k| R[(*k, *k)].abs() > RANK * largest).count();
    // Rᵀ z = Pᵀb.
    let mut z = DVector::zeros(rank);
    for i in 0..rank {
        let sum: f64 = (0..i).map(|k| R[(k, i)] * z[k]).sum();
        z[i] = (right[i] - sum) / R[(i, i)];
    }
    z.iter().all(|x| x.is_finite()).then(|| Q.columns(0, rank) * z)
}
