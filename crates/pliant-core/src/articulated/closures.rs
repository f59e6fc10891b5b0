//! Loops and couplings, closed by implicit constraints: rows J of the joints that are not in the forest, and of the
//! couplings, with forces f along them.
//!
//! ```text
//! u⁺ = u⁺_free + h Ĥ⁻¹Jᵀf,   (h W + E) f = E f₀ − C/h − J u⁺_free,   W = J Ĥ⁻¹Jᵀ
//! ```
//! so that the closure C vanishes at the end of the step, to first order. Ĥ is what the inward sweep factored, springs
//! included. For a row with wrenches F on slots, a sweep inward along the path to the base gives y = SᵀF at each
//! node, F − U D⁻¹y passing on to the parent, and W_rs = Σ y_rᵀD⁻¹y_s: linear in the length of the path for each
//! row, and no outward sweep.
//!
//! A row that closes has E = ε, a softness against *changes* of its force, which makes rows that loops repeat solvable
//! and gives way nowhere at rest, as in the full engine. Spring, damper, limit and rotor of a loop joint's own coordinate,
//! with impulse i and weight w in a step, are a row with E = h/w and right-hand side i/w − J u⁺_free.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::model::{Model, Motion, Node, frames};
use super::placing::pose_of;
use super::slot::{Six, Slots};
use super::small::*;
use super::sweeps::{dot6, impulse};
use crate::inputs::Inputs;
use crate::mechanism::{JointId, Mechanism};
use crate::spatial::{Pose, Twist};
use crate::state::State;

/// ε relative to the most that a row of its joint, of the same unit, sees of the mechanism, h W_rr.
const SOFTNESS: f64 = 1e-6;

/// What a row sees, relative to others, that stands for nothing.
const NOTHING: f64 = 1e-20;

/// A closure that is smaller, in radii or rad, is not corrected.
const CLOSED: f64 = 1e-13;

/// What closes loops.
#[derive(Clone, Debug)]
pub(super) struct Closures {
    pub joints: Vec<LoopJoint>,
    pub couplings: Vec<Coupling>,
    /// Most rows that there can be, and most numbers y of all of them.
    rows: usize,
    numbers: usize,
    /// Stand for what a row sees where none sees anything: 1/m and 1/(m radius²).
    plain: [f64; 2],
}

/// A joint between two slots that are in the forest without it.
#[derive(Clone, Debug)]
pub(super) struct LoopJoint {
    pub id: JointId,
    pub child: usize,
    pub parent: usize,
    pub in_child: Pose,
    pub in_parent: Pose,
    pub coordinate: usize,
    pub row: usize,
    /// The gap beyond which it counts as torn: the arms of both sides and a hundredth of the radius, m.
    pub reach: f64,
    path: Path,
}

/// One end of a coupling.
#[derive(Clone, Copy, Debug)]
enum End {
    /// A joint of the forest: its node.
    Tree(usize),
    /// One of the loop joints.
    Loop(usize),
}

/// θ_joint − ratio·θ_of − offset = 0.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    ends: [(End, f64); 2],
    offset: f64,
    row: usize,
    path: Path,
}

/// The nodes between some slots and the base, leaves first, each with its first place among the numbers y of a row; and
/// the speeds that these belong to.
#[derive(Clone, Debug)]
struct Path {
    nodes: Vec<(usize, usize)>,
    speeds: Vec<usize>,
    length: usize,
}

/// A row at a pose: wrenches on slots at their points o, world axes; forces along the only freedom of nodes.
#[derive(Clone, Copy, Debug)]
struct Row {
    wrenches: [(usize, Six); 4],
    direct: [(usize, f64); 2],
    /// Which closure it belongs to: loop joints, then couplings.
    closure: usize,
    /// Place among the numbers y.
    first: usize,
    /// E (0 where ε is still to be found) and right-hand side but for J u⁺_free.
    softness: f64,
    right: f64,
    /// Place in the state's multipliers of a row that closes.
    multiplier: usize,
    /// Whether it closes an angle, not a length.
    is_angle: bool,
}

const NOWHERE: usize = usize::MAX;

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    rows: Vec<Row>,
    numbers: Vec<f64>,
    /// The factor of h W + E, row by row, lower triangle; right-hand sides.
    factor: Vec<f64>,
    forces: Vec<f64>,
    /// A wrench and a twist for each slot, and a number for each speed.
    wrenches: Vec<Six>,
    twists: Vec<Six>,
    scattered: Vec<f64>,
    /// Displacements along the speeds.
    pub moves: Vec<f64>,
}

impl Closing {
    pub fn new(model: &Model) -> Closing {
        let (rows, slots) = (model.closures.rows, model.nodes.len() + 1);
        let some = |n: usize| if model.closures.is_empty() { 0 } else { n };
        Closing {
            rows: Vec::with_capacity(rows),
            numbers: vec![0.0; model.closures.numbers],
            factor: vec![0.0; rows * (rows + 1) / 2],
            forces: vec![0.0; rows],
            wrenches: vec![[0.0; 6]; some(slots)],
            twists: vec![[0.0; 6]; some(slots)],
            scattered: vec![0.0; some(model.speeds)],
            moves: vec![0.0; some(model.speeds)],
        }
    }
}

impl Closures {
    pub fn new(mechanism: &Mechanism, nodes: &[Node], freedoms: impl Fn(&Node) -> usize) -> Closures {
        let order = mechanism.order();
        let slot = |body| order.node_of(body).map_or(0, |n| n + 1);
        let path = |slots: &[usize]| path(nodes, &freedoms, slots);
        // From the centre of mass of a side to the joint.
        let arm = |slot: usize, frame: &Pose| match slot.checked_sub(1) {
            Some(n) => (frame.position - order.nodes()[n].inertia.center_of_mass).norm(),
            None => 0.0,
        };
        let joints: Vec<LoopJoint> = (order.loop_joints().iter())
            .filter_map(|&id| {
                let joint = mechanism.joint(id);
                let (child, parent) = (slot(joint.child), joint.parent.map_or(0, slot));
                let (in_parent, in_child) = frames(mechanism, id);
                (child != parent).then(|| LoopJoint {
                    id,
                    child,
                    parent,
                    in_child,
                    in_parent,
                    coordinate: mechanism.coordinates_of(id).start,
                    row: mechanism.rows_of(id).start,
                    reach: arm(child, &in_child) + arm(parent, &in_parent) + 0.01 * mechanism.radius(),
                    path: path(&[child, parent]),
                })
            })
            .collect();
        let end = |id: JointId| -> Option<End> {
            let tree = order.nodes().iter().position(|n| n.joint == Some(id)).map(End::Tree);
            tree.or_else(|| joints.iter().position(|j| j.id == id).map(End::Loop))
        };
        let first_row = 6 * mechanism.joints().len() - mechanism.coordinate_count();
        let couplings: Vec<Coupling> = (mechanism.couplings().iter().enumerate())
            .filter_map(|(c, coupling)| {
                let ends = [(end(coupling.joint)?, 1.0), (end(coupling.of)?, -coupling.ratio)];
                let slots = ends.iter().flat_map(|(end, _)| match *end {
                    End::Tree(n) => [n + 1, 0],
                    End::Loop(j) => [joints[j].child, joints[j].parent],
                });
                let path = path(&slots.collect::<Vec<_>>());
                Some(Coupling { ends, offset: coupling.offset, row: first_row + c, path })
            })
            .collect();
        // All six rows of a joint: those that close and those of its coordinates.
        let numbers = joints.iter().map(|j| 6 * j.path.length).sum::<usize>()
            + couplings.iter().map(|c| c.path.length).sum::<usize>();
        let mass: f64 = nodes.iter().map(|n| n.mass).sum();
        let radius = mechanism.radius().max(f64::MIN_POSITIVE.sqrt());
        let plain = [1.0 / mass, 1.0 / (mass * radius * radius)];
        Closures { rows: 6 * joints.len() + couplings.len(), numbers, plain, joints, couplings }
    }

    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.couplings.is_empty()
    }

    /// Number of rows that close.
    pub fn closing_rows(&self, mechanism: &Mechanism) -> usize {
        let of = |j: &LoopJoint| 6 - mechanism.joint(j.id).kind.freedoms();
        self.joints.iter().map(of).sum::<usize>() + self.couplings.len()
    }

    fn path(&self, closure: usize) -> &Path {
        match closure.checked_sub(self.joints.len()) {
            None => &self.joints[closure].path,
            Some(c) => &self.couplings[c].path,
        }
    }
}

/// All nodes between the slots and the base.
fn path(nodes: &[Node], freedoms: &impl Fn(&Node) -> usize, slots: &[usize]) -> Path {
    let mut list = Vec::new();
    for &slot in slots {
        let mut slot = slot;
        while slot > 0 {
            list.push(slot - 1);
            slot = if matches!(nodes[slot - 1].motion, Motion::Free(_)) { 0 } else { nodes[slot - 1].parent };
        }
    }
    list.sort_unstable_by(|a, b| b.cmp(a));
    list.dedup();
    let mut path = Path { nodes: Vec::new(), speeds: Vec::new(), length: 0 };
    for n in list {
        path.nodes.push((n, path.length));
        path.length += freedoms(&nodes[n]);
        path.speeds.extend((0..freedoms(&nodes[n])).map(|k| nodes[n].speed + k));
    }
    path
}

/// A loop joint at a pose: its frames, and a row of its twist as wrenches on its two slots.
pub(super) struct PlacedLoop {
    pub X: Pose,
    R: Matrix3<f64>,
    at: V,
}

impl LoopJoint {
    pub fn place(&self, work: &Slots) -> PlacedLoop {
        let F = pose_of(&work.slots[self.child]) * self.in_child;
        let X = (pose_of(&work.slots[self.parent]) * self.in_parent).inverse_times(&F);
        PlacedLoop { X, R: F.rotation_matrix(), at: v(&F.position) }
    }

    /// What is open, and how it moves with the body twist of the child frame: residual and rows of the joint at its
    /// coordinates.
    pub fn closure(&self, model: &Model, placed: &PlacedLoop, q: &[f64]) -> (Vector6<f64>, Matrix6<f64>) {
        let kind = &model.mechanism.joint(self.id).kind;
        (kind.residual(&placed.X, q), kind.rows(&placed.X, q))
    }

    /// A row of the child frame's body twist, on child and parent.
    fn wrenches(&self, placed: &PlacedLoop, row: [f64; 6], work: &Slots) -> [(usize, Six); 2] {
        let l = v(&(placed.R * Vector3::new(row[0], row[1], row[2])));
        let a = v(&(placed.R * Vector3::new(row[3], row[4], row[5])));
        [(self.child, 1.0), (self.parent, -1.0)].map(|(slot, sign)| {
            let t = add_cross::<false>(sub(placed.at, work.slots[slot].o), l, a);
            (slot, [l[0], l[1], l[2], t[0], t[1], t[2]].map(|x| x * sign))
        })
    }

    /// Coordinates near those of a reference.
    pub fn coordinates(&self, model: &Model, placed: &PlacedLoop, reference: &[f64]) -> Six {
        let kind = &model.mechanism.joint(self.id).kind;
        let d = kind.freedoms();
        kind.coordinates(&placed.X, &reference[self.coordinate..self.coordinate + d]).into()
    }

    /// Rates of the coordinates q with the twists of a state.
    pub fn rates(&self, model: &Model, placed: &PlacedLoop, q: &Six, state: &State, base: &Twist) -> Six {
        let twist = |slot: usize| match slot.checked_sub(1) {
            Some(n) => state.twists[model.nodes[n].head],
            None => {
                let Rt = state.base.rotation.inverse();
                Twist::new(Rt * base.linear, Rt * base.angular)
            }
        };
        let own = self.in_child.twist_to_local(&twist(self.child));
        let carried = placed.X.twist_to_local(&self.in_parent.twist_to_local(&twist(self.parent)));
        let kind = &model.mechanism.joint(self.id).kind;
        let J = kind.coordinates_jacobian(&placed.X, &q[..kind.freedoms()]);
        (J * (own - carried).to_vector()).into()
    }
}

/// Lists the rows at the state that the slots are placed in.
fn list(model: &Model, inputs: &Inputs, state: &State, h: f64, work: &Slots, closing: &mut Closing) {
    let closures = &model.closures;
    closing.rows.clear();
    let mut first = 0;
    let empty = Row {
        wrenches: [(0, [0.0; 6]); 4],
        direct: [(NOWHERE, 0.0); 2],
        closure: 0,
        first: 0,
        softness: 0.0,
        right: 0.0,
        multiplier: NOWHERE,
        is_angle: false,
    };
    for (closure, joint) in closures.joints.iter().enumerate() {
        let kind = &model.mechanism.joint(joint.id).kind;
        let d = kind.freedoms();
        let placed = joint.place(work);
        let q = joint.coordinates(model, &placed, &state.coordinates);
        let (C, J) = joint.closure(model, &placed, &q[..d]);
        let mut push = |row: [f64; 6], softness: f64, right: f64, multiplier: usize| {
            let is_angle = row[..3] == [0.0; 3];
            let [child, parent] = joint.wrenches(&placed, row, work);
            let wrenches = [child, parent, (0, [0.0; 6]), (0, [0.0; 6])];
            closing.rows.push(Row {
                wrenches,
                closure,
                first,
                softness,
                right,
                multiplier,
                is_angle,
                ..empty
            });
            first += joint.path.length;
        };
        for i in 0..6 - d {
            push(std::array::from_fn(|k| J[(i, k)]), 0.0, -C[i] / h, joint.row + i);
        }
        let Jq = kind.coordinates_jacobian(&placed.X, &q[..d]);
        for k in 0..d {
            let at = joint.coordinate + k;
            let (stiff, rest) = (model.limit_stiffness[at], inputs.rest[at]);
            let along = (q[k], state.rates[at], q[k] + h * state.rates[at]);
            let (impulse, weight) = impulse(&model.freedoms[at], stiff, rest, along, h);
            if weight > 0.0 {
                push(std::array::from_fn(|i| Jq[(k, i)]), h / weight, impulse / weight, NOWHERE);
            }
        }
    }
    for (c, coupling) in closures.couplings.iter().enumerate() {
        let mut row = Row { closure: closures.joints.len() + c, first, multiplier: coupling.row, ..empty };
        let mut C = -coupling.offset;
        for (e, (end, factor)) in coupling.ends.iter().enumerate() {
            match *end {
                End::Tree(n) => {
                    row.direct[e] = (n, *factor);
                    C += factor * state.coordinates[model.nodes[n].coordinate];
                }
                End::Loop(j) => {
                    let joint = &closures.joints[j];
                    let placed = joint.place(work);
                    let q = joint.coordinates(model, &placed, &state.coordinates);
                    let kind = &model.mechanism.joint(joint.id).kind;
                    let J = kind.coordinates_jacobian(&placed.X, &q[..1]);
                    let wrenches = joint.wrenches(&placed, std::array::from_fn(|i| factor * J[(0, i)]), work);
                    row.wrenches[2 * e..2 * e + 2].copy_from_slice(&wrenches);
                    C += factor * q[0];
                }
            }
        }
        row.right = -C / h;
        closing.rows.push(row);
        first += coupling.path.length;
    }
}

/// Closes what the twists of both sweeps leave open: adds the forces of the rows to the slots, so that another outward
/// sweep gives the twists with them. Writes the forces of closing rows to `multipliers`. An error is the
/// row of a closure whose equations have no solution.
pub(super) fn close(
    model: &Model,
    inputs: &Inputs,
    state: &State,
    h: f64,
    work: &mut Slots,
    closing: &mut Closing,
    multipliers: &mut [f64],
) -> Result<(), usize> {
    list(model, inputs, state, h, work, closing);
    sweep_rows(model, work, closing);
    for r in 0..closing.rows.len() {
        if closing.rows[r].softness == 0.0 {
            let row = closing.rows[r];
            let seen = seen(model, closing, &row);
            closing.rows[r].softness = SOFTNESS * h * seen;
            closing.rows[r].right += SOFTNESS * h * seen * state.multipliers[row.multiplier];
        }
    }
    for r in 0..closing.rows.len() {
        let row = &closing.rows[r];
        let mut moving = 0.0;
        for (slot, w) in &row.wrenches {
            let (v, a) = (work.slots[*slot].av, work.slots[*slot].aw);
            moving += dot6(w, &[v[0], v[1], v[2], a[0], a[1], a[2]]);
        }
        for (n, factor) in row.direct.iter().filter(|(n, _)| *n != NOWHERE) {
            moving += factor * work.found[model.nodes[*n].speed];
        }
        closing.forces[r] = row.right - moving;
        closing.factor[r * (r + 1) / 2..][..r + 1].iter_mut().for_each(|x| *x *= h);
        closing.factor[r * (r + 1) / 2 + r] += row.softness;
    }
    factor(&mut closing.factor, closing.rows.len())?;
    solve(&closing.factor, &mut closing.forces[..closing.rows.len()]);
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        if row.multiplier != NOWHERE {
            multipliers[row.multiplier] = *force;
        }
    }
    add_forces(model, h, work, closing);
    Ok(())
}

/// The most that a row of the same closure and unit sees, W_rr; of any closure, if those see nothing.
fn seen(model: &Model, closing: &Closing, row: &Row) -> f64 {
    let most = |same: &dyn Fn(&Row) -> bool| {
        let rows = closing.rows.iter().enumerate().filter(|(_, other)| same(other));
        rows.map(|(r, _)| closing.factor[r * (r + 1) / 2 + r]).fold(0.0f64, f64::max)
    };
    let alike = |other: &Row| other.is_angle == row.is_angle && other.multiplier != NOWHERE;
    let (far, plain) = (most(&alike), model.closures.plain[usize::from(row.is_angle)]);
    // What is nothing has the square of a rounding; stiff springs leave less than this of a mass.
    if far < NOTHING * plain {
        return plain;
    }
    let near = most(&|other| alike(other) && other.closure == row.closure);
    if near < NOTHING * far { far } else { near }
}

/// y of every row, and W in the place of the factor.
fn sweep_rows(model: &Model, work: &Slots, closing: &mut Closing) {
    for s in 0..closing.rows.len() {
        let row = closing.rows[s];
        for (slot, w) in &row.wrenches {
            (0..6).for_each(|i| closing.wrenches[*slot][i] += w[i]);
        }
        let path = model.closures.path(row.closure);
        for &(n, first) in &path.nodes {
            let node = &model.nodes[n];
            let mut y = [0.0; 6];
            let (d, _) = pass_inward(model, work, n, &row.direct, &mut closing.wrenches, &mut y);
            closing.numbers[row.first + first..][..d].copy_from_slice(&y[..d]);
            // D⁻¹y, where other rows find it.
            let z = &mut closing.scattered[node.speed..node.speed + d];
            match node.motion {
                Motion::Hinge => z[0] = y[0] * work.slots[n + 1].inverse,
                Motion::General(g) | Motion::Free(g) => {
                    let inverse = &work.general[g].inverse;
                    (0..d).for_each(|k| z[k] = (0..d).map(|l| inverse[k][l] * y[l]).sum());
                }
            }
        }
        closing.wrenches[0] = [0.0; 6];
        for r in 0..=s {
            let other = &closing.rows[r];
            let along = model.closures.path(other.closure);
            let numbers = &closing.numbers[other.first..other.first + along.length];
            closing.factor[s * (s + 1) / 2 + r] = gathered_dot(numbers, &along.speeds, &closing.scattered);
        }
        path.speeds.iter().for_each(|speed| closing.scattered[*speed] = 0.0);
    }
}

/// Σ a_i b_at(i), in four sums that do not wait for each other.
#[inline]
fn gathered_dot(a: &[f64], at: &[usize], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((a, a_rest), (at, at_rest)) = (a.as_chunks::<4>(), at.as_chunks::<4>());
    for (a, at) in a.iter().zip(at) {
        (0..4).for_each(|i| sums[i] += a[i] * b[at[i]]);
    }
    let rest: f64 = a_rest.iter().zip(at_rest).map(|(a, at)| a * b[*at]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Σ a_i b_i, in four sums that do not wait for each other.
#[inline]
fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        (0..4).for_each(|i| sums[i] += a[i] * b[i]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Takes the wrench on a node's slot: y = SᵀF plus what acts along the freedom itself; F − U D⁻¹y goes to the parent.
/// Returns the number of freedoms, and what went to the parent, at the slot's own point.
#[inline]
fn pass_inward(
    model: &Model,
    work: &Slots,
    n: usize,
    direct: &[(usize, f64)],
    wrenches: &mut [Six],
    y: &mut Six,
) -> (usize, Six) {
    let (node, slot) = (&model.nodes[n], &work.slots[n + 1]);
    let mut F = std::mem::replace(&mut wrenches[n + 1], [0.0; 6]);
    let along: f64 = direct.iter().filter(|(at, _)| *at == n).map(|(_, factor)| factor).sum();
    let d = match node.motion {
        Motion::Hinge => {
            y[0] = dot::<false>(slot.axis, [F[3], F[4], F[5]]) + along;
            let x = y[0] * slot.inverse;
            for i in 0..3 {
                F[i] -= slot.Uf[i] * x;
                F[3 + i] -= slot.Ut[i] * x;
            }
            1
        }
        Motion::General(g) | Motion::Free(g) => {
            let (own, d) = (&work.general[g], model.general[g].freedoms);
            (0..d).for_each(|k| y[k] = dot6(&own.S[k], &F));
            y[0] += along;
            for k in 0..d {
                let x: f64 = (0..d).map(|l| own.inverse[k][l] * y[l]).sum();
                (0..6).for_each(|i| F[i] -= own.U[k][i] * x);
            }
            d
        }
    };
    let f = [F[0], F[1], F[2]];
    let t = add_cross::<false>(slot.r, f, [F[3], F[4], F[5]]);
    let parent = &mut wrenches[node.parent];
    for i in 0..3 {
        parent[i] += f[i];
        parent[3 + i] += t[i];
    }
    (d, F)
}

/// Puts the rows' wrenches, times their forces and h, on the slots.
fn gather(h: f64, closing: &mut Closing) {
    closing.wrenches.fill([0.0; 6]);
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        for (slot, w) in &row.wrenches {
            (0..6).for_each(|i| closing.wrenches[*slot][i] += w[i] * force * h);
        }
    }
}

/// Of the rows' forces along the only freedom of a node, times h.
fn along(h: f64, closing: &Closing, n: usize) -> f64 {
    let mut sum = 0.0;
    for (row, force) in closing.rows.iter().zip(&closing.forces) {
        sum += row.direct.iter().filter(|(at, _)| *at == n).map(|(_, x)| x * force * h).sum::<f64>();
    }
    sum
}

/// Adds the rows' forces to reduced forces u and to what slots pass on.
fn add_forces(model: &Model, h: f64, work: &mut Slots, closing: &mut Closing) {
    gather(h, closing);
    for n in (0..model.nodes.len()).rev() {
        let direct = if model.closures.couplings.is_empty() { 0.0 } else { along(h, closing, n) };
        let mut y = [0.0; 6];
        let (d, F) = pass_inward(model, work, n, &[(n, direct)], &mut closing.wrenches, &mut y);
        match model.nodes[n].motion {
            Motion::Hinge => work.slots[n + 1].u += y[0],
            Motion::General(g) | Motion::Free(g) => {
                (0..d).for_each(|k| work.general[g].u[k] += y[k]);
            }
        }
        let slot = &mut work.slots[n + 1];
        slot.f = sub(slot.f, [F[0], F[1], F[2]]);
        slot.t = sub(slot.t, [F[3], F[4], F[5]]);
    }
}

/// After the step, at the pose of the slots: displacements along the speeds that close what is left open, by the factors
/// of the step. Returns false if everything is closed.
pub(super) fn correct(model: &Model, state: &State, h: f64, work: &Slots, closing: &mut Closing) -> bool {
    let closures = &model.closures;
    let mut worst = 0.0f64;
    let mut at = 0;
    let count = closing.rows.len();
    for joint in &closures.joints {
        let kind = &model.mechanism.joint(joint.id).kind;
        let placed = joint.place(work);
        let q = joint.coordinates(model, &placed, &state.coordinates);
        let (C, J) = joint.closure(model, &placed, &q[..kind.freedoms()]);
        for i in 0..6 - kind.freedoms() {
            let is_length = (0..3).any(|k| J[(i, k)] != 0.0);
            worst = worst.max(C[i].abs() / if is_length { model.radius } else { 1.0 });
            closing.forces[at] = -C[i] / h;
            at += 1;
        }
        while at < count && closing.rows[at].multiplier == NOWHERE {
            closing.forces[at] = 0.0;
            at += 1;
        }
    }
    for coupling in &closures.couplings {
        let mut C = -coupling.offset;
        for (end, factor) in &coupling.ends {
            C += factor
                * match *end {
                    End::Tree(n) => state.coordinates[model.nodes[n].coordinate],
                    End::Loop(j) => {
                        let joint = &closures.joints[j];
                        joint.coordinates(model, &joint.place(work), &state.coordinates)[0]
                    }
                };
        }
        worst = worst.max(C.abs());
        closing.forces[at] = -C / h;
        at += 1;
    }
    if worst <= CLOSED {
        return false;
    }
    solve(&closing.factor, &mut closing.forces[..count]);
    // Ĥ⁻¹Jᵀf, inward and outward without anything else.
    gather(h, closing);
    for n in (0..model.nodes.len()).rev() {
        let direct = if closures.couplings.is_empty() { 0.0 } else { along(h, closing, n) };
        let mut y = [0.0; 6];
        let (d, _) = pass_inward(model, work, n, &[(n, direct)], &mut closing.wrenches, &mut y);
        closing.moves[model.nodes[n].speed..][..d].copy_from_slice(&y[..d]);
    }
    closing.twists[0] = [0.0; 6];
    for (n, node) in model.nodes.iter().enumerate() {
        let slot = &work.slots[n + 1];
        let t = closing.twists[node.parent];
        let w = [t[3], t[4], t[5]];
        let l = add_cross::<false>(w, slot.r, [t[0], t[1], t[2]]);
        let mut own = [l[0], l[1], l[2], w[0], w[1], w[2]];
        match node.motion {
            Motion::Hinge => {
                let U = [slot.Uf[0], slot.Uf[1], slot.Uf[2], slot.Ut[0], slot.Ut[1], slot.Ut[2]];
                let x = (closing.moves[node.speed] - dot6(&U, &own)) * slot.inverse;
                closing.moves[node.speed] = x;
                (0..3).for_each(|i| own[3 + i] += slot.axis[i] * x);
            }
            Motion::General(g) | Motion::Free(g) => {
                if matches!(node.motion, Motion::Free(_)) {
                    own = [0.0; 6];
                }
                let (general, d) = (&work.general[g], model.general[g].freedoms);
                let y: Six = std::array::from_fn(|k| {
                    if k < d { closing.moves[node.speed + k] - dot6(&general.U[k], &own) } else { 0.0 }
                });
                for k in 0..d {
                    let x: f64 = (0..d).map(|l| general.inverse[k][l] * y[l]).sum();
                    closing.moves[node.speed + k] = x;
                    (0..6).for_each(|i| own[i] += general.S[k][i] * x);
                }
            }
        }
        closing.twists[n + 1] = own;
    }
    // The rows' forces were for a change of speed of −C/h.
    closing.moves.iter_mut().for_each(|x| *x *= h);
    true
}

/// Cholesky's factor in the place of the matrix, lower triangle row by row; or the first pivot that is not positive.
fn factor(A: &mut [f64], count: usize) -> Result<(), usize> {
    for i in 0..count {
        let (before, here) = A.split_at_mut(i * (i + 1) / 2);
        for j in 0..i {
            let row = &before[j * (j + 1) / 2..][..j + 1];
            here[j] = (here[j] - dot_product(&row[..j], &here[..j])) / row[j];
        }
        let pivot = here[i] - dot_product(&here[..i], &here[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(i);
        }
        here[i] = pivot.sqrt();
    }
    Ok(())
}

/// Solves with the factor, in place.
fn solve(L: &[f64], x: &mut [f64]) {
    for i in 0..x.len() {
        let row = &L[i * (i + 1) / 2..][..i + 1];
        x[i] = (x[i] - dot_product(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..x.len()).rev() {
        let row = &L[i * (i + 1) / 2..][..i + 1];
        x[i] /= row[i];
        let own = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, a)| *x -= a * own);
    }
}

/// The joint or coupling of a row, in words.
pub(super) fn name_of_row(model: &Model, closing: &Closing, row: usize) -> String {
    let closure = closing.rows[row].closure;
    match closure.checked_sub(model.closures.joints.len()) {
        None => model.mechanism.joint(model.closures.joints[closure].id).name.clone(),
        Some(c) => {
            let row = model.closures.couplings[c].row;
            let first = 6 * model.mechanism.joints().len() - model.mechanism.coordinate_count();
            model.mechanism.joint(model.mechanism.couplings()[row - first].joint).name.clone()
        }
    }
}
