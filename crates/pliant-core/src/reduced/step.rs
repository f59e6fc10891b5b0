//! One step: the rates of the motions at its end, from the momenta of all links, what acts on them, and springs, dampers and
//! limits at the end of the step.
//!
//! ```text
//! (M + a + hD + h²(K + G)) ẏ⁺ = M ẏ + a ẏ + r + ΘᵀJᵀ(momenta carried − momenta of ẏ + h·loads) + hK(y₀ − y),   y⁺ = y + h ẏ⁺
//! ```
//!
//! With M of the present pose the momenta of ẏ drop out, and this is the step of the articulated engine on the motions: the
//! twists nearest to those that each link would have alone. M is made again when a link has turned by [`TURNED`] since, and G
//! with it; between, M multiplies the change of the rates alone, and what it leaves of the impulses the next step has (`owed.rs`).

use super::balls;
use super::basis::Basis;
use super::floating::Floating;
use super::manifold::Closed;
use super::matrix::{Made, make_if_needed};
use super::model::Constants;
use super::momentum::{Around, Carried, carry, gather, own_impulses, push};
use super::owed;
use super::placing::{Places, Reference, Six, Turns};
use super::springs::Springs;
use super::system::System;
use super::tree::{BASE, Tree};
use crate::algebra::dense::cholesky;
use crate::algebra::lanes::{Lanes, Number, one_block_at_a_time};
use crate::algebra::three::{cross, minus, plus, six};
use crate::algebra::wide::{dot, wide};
use crate::engine::laws::Pieces;
use crate::engine::{Inputs, State, StepError};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};
use nalgebra::{Matrix6, Vector3, Vector6};

/// How far a link may have turned since mass and geometric stiffness were made, rad; slides count over the radius.
pub(super) const TURNED: f64 = 0.05;

/// Coordinates and rates beyond this leave no number when springs and masses multiply them.
const LARGEST: f64 = 1e100;

/// Everything that moves.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub time: f64,
    pub steps: u64,
    /// y and ẏ; of free bases nothing, and the twist at P.
    pub y: Vec<f64>,
    pub rates: Vec<f64>,
    /// Impulses that mass of an earlier pose has left, and whether they say that it no longer serves.
    pub owed: Vec<f64>,
    pub stale: bool,
    pub places: Places,
    /// How links move with ẏ, and what they carry; in a step, and after one that failed, with a reference that moves (`led`).
    pub now: Turns,
    led: bool,
    pub carried: Vec<Carried>,
    pub closed: Closed,
    pub base_twist: Twist,
}

/// How coordinates move with the motions: Θ, or T where there are curved closures.
#[inline(always)]
pub(super) fn tangent<'a>(model: &'a Constants, closed: &'a Closed) -> &'a Basis {
    if model.closures.curved { &closed.tangent } else { &model.basis }
}

impl Motion {
    pub fn new(model: &Constants, reference: &Reference) -> Motion {
        let (tree, stride) = (&model.tree, model.basis.stride);
        let mut motion = Motion {
            time: 0.0,
            steps: 0,
            y: vec![0.0; stride],
            rates: vec![0.0; stride],
            owed: vec![0.0; stride],
            stale: false,
            places: Places::new(tree),
            now: Turns::new(tree),
            led: false,
            carried: vec![Carried::STILL; tree.joints.len()],
            closed: Closed::new(model),
            base_twist: Twist::ZERO,
        };
        motion.place(model, reference);
        motion
    }

    /// Puts the links where y and the reference have them, and moves them by ẏ.
    pub fn place(&mut self, model: &Constants, reference: &Reference) {
        self.place_alike(model, reference, None);
    }

    /// Takes a reference that moved in a step that was not taken out of how links move.
    pub fn forget_lead(&mut self, model: &Constants) {
        if std::mem::take(&mut self.led) {
            let (basis, rates) = (tangent(model, &self.closed), &self.rates[..model.basis.count]);
            self.places.spin(&model.tree, basis, rates, None, &mut self.now);
            if model.closures.curved {
                self.closed.spin_loops(model, &self.now);
            }
        }
    }

    /// The same; with `alike`, the rates of all freedoms are known, where no closure is curved: those of other twists with the
    /// same ẏ.
    fn place_alike(&mut self, model: &Constants, reference: &Reference, alike: Option<&Turns>) {
        let (tree, count) = (&model.tree, model.basis.count);
        if model.closures.curved {
            self.closed.put(model, reference, &self.y[..count], &mut self.places);
        } else {
            self.places.put(tree, &model.basis, reference, &self.y[..count]);
        }
        let basis = tangent(model, &self.closed);
        match alike.filter(|_| !model.closures.curved) {
            Some(turns) => self.places.spin_alike(tree, turns, &mut self.now),
            None => self.places.spin(tree, basis, &self.rates[..count], None, &mut self.now),
        }
        if model.closures.curved {
            self.closed.spin_loops(model, &self.now);
        }
    }

    /// The coordinate of a freedom; those of loop joints are counted after those of the tree.
    pub fn coordinate(&self, model: &Constants, freedom: usize) -> f64 {
        let tree = &model.tree;
        let Some(l) = freedom.checked_sub(tree.freedoms.len()) else {
            return self.places.coordinate(tree, freedom);
        };
        if model.closures.curved {
            return self.closed.at.q[l];
        }
        let away = |i: usize| self.places.coordinate(tree, i) - model.start[i];
        model.closures.freedoms[l].start + model.closures.along(l, away)
    }

    /// Its rate.
    pub fn rate(&self, model: &Constants, freedom: usize) -> f64 {
        let tree = &model.tree;
        let Some(l) = freedom.checked_sub(tree.freedoms.len()) else {
            return self.now.rate(tree, freedom);
        };
        if model.closures.curved {
            return self.closed.loop_rates[l];
        }
        model.closures.along(l, |i| self.now.rate(tree, i))
    }

    /// How it moves with the motions.
    pub fn row<'a>(&'a self, model: &'a Constants, freedom: usize) -> &'a [f64] {
        let Some(l) = freedom.checked_sub(model.tree.freedoms.len()) else {
            return tangent(model, &self.closed).row(freedom);
        };
        let stride = model.basis.stride;
        let rows = if model.closures.curved { &self.closed.loop_rows } else { &model.closures.loop_rows };
        &rows[l * stride..(l + 1) * stride]
    }

    fn copy_small(&mut self, other: &Motion) {
        (self.time, self.steps, self.base_twist) = (other.time, other.steps, other.base_twist);
        self.y.copy_from_slice(&other.y);
        self.rates.copy_from_slice(&other.rates);
        self.closed.copy_small(&other.closed);
    }
}

/// A coordinate on which more acts in a step than its spring and damper: an impulse, and a weight on its rate.
#[derive(Clone, Copy, Debug)]
struct Extra {
    freedom: usize,
    weight: f64,
    impulse: f64,
}

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub next: Motion,
    pub system: System,
    pub made: Made,
    /// The matrix of a step without what changes in every one, and its factor; the same with all, and its factor.
    pub base: Vec<f64>,
    pub factor: Vec<f64>,
    matrix: Vec<f64>,
    pub whole: Vec<f64>,
    /// Whether the last step had more than the first.
    pub more: bool,
    pub sums: Vec<[Lanes; 6]>,
    pub columns: Vec<Lanes>,
    pub Q: Vec<f64>,
    right: Vec<f64>,
    /// The same without contact, and what contact adds to it.
    free: Vec<f64>,
    pub pushed: Vec<f64>,
    /// ẏ⁺.
    pub solution: Vec<f64>,
    /// ẏ⁺ − ẏ.
    pub change: Vec<f64>,
    pub end: Turns,
    pub floating: Floating,
    /// Momenta in the axes that turn with free trees, and where their bases end.
    pub back: Vec<Carried>,
    bases: Vec<Pose>,
    extras: Vec<Extra>,
    /// Along each freedom, where there are curved closures.
    torques: Vec<f64>,
    /// Rates of limited freedoms that tell which limits act.
    ahead: Vec<f64>,
    pub pieces: Pieces,
    jacobian: Vec<f64>,
    pub effectors: usize,
    /// Numbers of X.
    pub leaning: usize,
    /// Coordinates, rates and friction as the laws of friction ask for them.
    pub state: State,
}

impl Workspace {
    pub fn new(model: &Constants, motion: &Motion) -> Workspace {
        let (tree, basis) = (&model.tree, &model.basis);
        let (n, stride) = (basis.count, basis.stride);
        Workspace {
            next: motion.clone(),
            system: System::new(tree, basis),
            made: Made::default(),
            base: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            matrix: vec![0.0; n * n],
            whole: vec![0.0; n * n],
            more: false,
            sums: vec![[Lanes::ZERO; 6]; tree.joints.len()],
            columns: vec![Lanes::ZERO; n],
            Q: vec![0.0; n],
            right: vec![0.0; n],
            free: vec![0.0; n],
            pushed: vec![0.0; n],
            solution: vec![0.0; stride],
            change: vec![0.0; stride],
            end: Turns::new(tree),
            floating: Floating::new(model),
            back: if tree.floats.is_empty() { Vec::new() } else { motion.carried.clone() },
            bases: motion.places.floats.clone(),
            extras: Vec::with_capacity(2 * (tree.freedoms.len() + model.closures.freedoms.len())),
            ahead: vec![0.0; tree.limited.len() + model.closures.limited.len()],
            torques: vec![0.0; if model.closures.curved { tree.freedoms.len() } else { 0 }],
            pieces: Pieces::default(),
            jacobian: vec![0.0; 6 * stride],
            effectors: tree.mechanism.effectors().len(),
            leaning: motion.closed.X.len(),
            state: State::at_rest(&tree.mechanism),
        }
    }

    /// The factor of the last step's matrix.
    pub fn factored(&self) -> &[f64] {
        if self.more { &self.whole } else { &self.factor }
    }
}

/// Calls with the link, the point and the force and torque of every dead load.
pub(super) fn each_load(
    tree: &Tree,
    places: &Places,
    inputs: &Inputs,
    mut push: impl FnMut(usize, Vector3<f64>, &Wrench),
) {
    let mut dead = |body: BodyId, frame: &Pose, load: &Wrench| {
        if let (Some(n), offset) = tree.place(body) {
            push(n, (places.pose(n) * offset * *frame).position, load);
        }
    };
    for (e, load) in inputs.effector_loads.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO) {
        let effector = &tree.mechanism.effectors()[e];
        dead(effector.body, &effector.frame, load);
    }
    for b in loaded(&inputs.body_loads) {
        dead(tree.mechanism.body_id(b), &Pose::identity(), &inputs.body_loads[b]);
    }
}

/// Calls with the link, the point and the wrench of every spring coupling, without its damper.
pub(super) fn each_spring(
    tree: &Tree,
    places: &Places,
    inputs: &Inputs,
    mut pull: impl FnMut(usize, Vector3<f64>, &Wrench),
) {
    for spring in &inputs.springs {
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        pull(link, at.position, &spring.wrench(&at, &Twist::ZERO));
    }
}

/// Which bodies have a load: where none of eight has one, these take as few instructions as there are numbers.
pub(super) fn loaded(loads: &[Wrench]) -> impl Iterator<Item = usize> {
    // Of the bits of a number but its sign.
    let bits = |w: &Wrench| w.force.iter().chain(&w.torque).fold(0, |all, x| all | x.to_bits() << 1);
    (loads.chunks(8).enumerate())
        .filter(move |(_, eight)| eight.iter().fold(0, |all, w| all | bits(w)) != 0)
        .flat_map(move |(k, eight)| {
            (0..eight.len()).filter(move |i| bits(&eight[*i]) != 0).map(move |i| 8 * k + i)
        })
}

/// ΘᵀJᵀ of a link: how it moves with each motion at P, six rows of `stride`.
pub(super) fn jacobian(tree: &Tree, basis: &Basis, places: &Places, n: usize, J: &mut [f64]) {
    J.fill(0.0);
    let mut at = n;
    while at != BASE {
        let link = &tree.links[at];
        for i in link.first..link.first + link.count {
            let s = places.axis(tree, i);
            for (k, row) in J.chunks_exact_mut(basis.stride.max(1)).enumerate().filter(|(k, _)| s[*k] != 0.0)
            {
                row.iter_mut().zip(basis.row(i)).for_each(|(J, theta)| *J += s[k] * theta);
            }
        }
        at = link.parent;
    }
}

/// The twist that the base has at the end of a step, at P; none where the tree is free.
pub(super) fn base_at_point(places: &Places, inputs: &Inputs) -> Six {
    if !places.floats.is_empty() {
        return [0.0; 6];
    }
    let (arm, twist) = (minus(places.point, inputs.base.position.into()), &inputs.base_twist);
    let w: [f64; 3] = twist.angular.into();
    six(plus(twist.linear.into(), cross::<false, _>(w, arm)), w)
}

/// Solves for ẏ⁺ in a step of h seconds, in memory; nothing moves.
pub(super) fn solve(
    model: &Constants,
    springs: &mut Springs,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    let (tree, n) = (&model.tree, model.basis.count);
    let curved = model.closures.curved;
    let base = base_at_point(&motion.places, inputs);
    springs.begin(h);
    if curved {
        motion.closed.slip.fill(0.0);
    }
    if !springs.still {
        if curved {
            motion.closed.lead(model, &springs.drift);
        }
        let drift = if curved { &motion.closed.drift } else { &springs.drift };
        let basis = tangent(model, &motion.closed);
        motion.places.spin(tree, basis, &motion.rates[..n], Some(drift), &mut motion.now);
        motion.led = true;
        if curved {
            motion.closed.spin_loops(model, &motion.now);
        }
    } else {
        motion.forget_lead(model);
    }
    let around = Around { base, gravity: inputs.gravity.into(), h };
    let places = &motion.places;
    let (floating, back) = (&mut work.floating, &mut work.back);
    if floating.is_empty() {
        let carried = &mut motion.carried;
        own_impulses(tree, places, &motion.now, &around, &[], carried, &mut work.sums);
    } else {
        floating.start(model, places, &motion.carried, back, h);
        own_impulses(tree, places, &motion.now, &around, &floating.rates, back, &mut work.sums);
    }
    let sums = &mut work.sums;
    each_load(tree, places, inputs, |n, at, load| {
        let impulse = six((load.force * h).into(), (load.torque * h).into());
        push(sums, places, n, at.into(), &impulse);
    });
    make_if_needed(model, springs, inputs, h, motion, work)?;
    let basis = tangent(model, &motion.closed);
    let (places, sums) = (&motion.places, &mut work.sums);
    work.more = !inputs.springs.is_empty();
    if work.more {
        work.matrix.copy_from_slice(&work.base);
    }
    for spring in &inputs.springs {
        // h²k + h d on the velocity of its frame, and the impulse on a frame at rest where it is now.
        let (Some(link), offset) = tree.place(spring.body) else { continue };
        let at = places.pose(link) * offset * spring.frame;
        let Wrench { force, torque } = spring.wrench(&at, &Twist::ZERO);
        jacobian(tree, basis, places, link, &mut work.jacobian);
        let mut W = Matrix6::from_diagonal_element(h * (h * spring.stiffness + spring.damping));
        let turning = spring.turning(&at) * (h * h)
            + nalgebra::Matrix3::from_diagonal_element(h * spring.turning_damping);
        W.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        let arm = at.position - Vector3::from(places.point);
        add_spring(&mut work.matrix, n, &mut work.jacobian, basis.stride, &arm, &W);
        // What moves the frame without the motions: the base, and a reference that moves.
        let twist = motion.now.twists[link / 4].map(|x| x[link % 4]);
        let w = Vector3::new(twist[3] + base[3], twist[4] + base[4], twist[5] + base[5]);
        let v = Vector3::new(twist[0] + base[0], twist[1] + base[1], twist[2] + base[2]) + w.cross(&arm);
        let moved = Vector6::from_fn(|i, _| {
            let own = dot(&work.jacobian[i * basis.stride..(i + 1) * basis.stride], &motion.rates);
            if i < 3 { v[i] - own } else { w[i - 3] - own }
        });
        let held = W * moved;
        let impulse: Six =
            std::array::from_fn(|i| if i < 3 { h * force[i] - held[i] } else { h * torque[i - 3] - held[i] });
        push(sums, places, link, at.position.into(), &impulse);
    }
    gather(tree, basis, places, sums, &mut work.columns, &mut work.Q);
    if curved {
        act_along(model, springs, inputs, h, motion, work);
        return find(model, inputs, h, motion, work);
    }
    // M ẏ + Q + r + hK(y₀ − y), and what a reference that moves does to dampers and rotors.
    for k in 0..n {
        let row = k * basis.stride..k * basis.stride + basis.stride;
        work.right[k] = work.Q[k]
            + motion.owed[k]
            + dot(&work.system.M[row.clone()], &motion.rates)
            + h * (springs.pull[k] - dot(&springs.K[row], &motion.y));
    }
    if !springs.still {
        springs.resist(model, h, &mut work.right);
    }
    find(model, inputs, h, motion, work)
}

/// The right side where T changes from step to step: springs, dampers and rotors act as they would with the present rates, and the matrix
/// multiplies the change of these, (M + hD + h²K)(ẏ⁺ − ẏ) = Q + r + Tᵀ(h(k(θ₀ − θ − hθ̇) − dθ̇) − a(θ̇ − θ̇_last)). Then what closes.
fn act_along(
    model: &Constants,
    springs: &Springs,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
    work: &mut Workspace,
) {
    let (tree, basis) = (&model.tree, &motion.closed.tangent);
    let n = basis.count;
    for k in 0..n {
        let row = k * basis.stride..(k + 1) * basis.stride;
        work.right[k] = work.Q[k]
            + motion.owed[k]
            + dot(&work.system.M[row.clone()], &motion.rates)
            + h * dot(&springs.D[row.clone()], &motion.rates)
            + h * h * dot(&springs.K[row], &motion.rates);
    }
    let impulse = |at: usize, q: f64, rate: f64, rolled: f64| {
        let law = &inputs.laws[at];
        h * (law.stiffness * (inputs.rest[at] - q - h * rate) - law.damping * rate)
            - law.armature * (rate - rolled)
    };
    for (i, freedom) in tree.freedoms.iter().enumerate() {
        work.torques[i] = 0.0;
        let Some(at) = freedom.coordinate else { continue };
        let (q, rate) = (motion.places.coordinate(tree, i), motion.now.rate(tree, i));
        let tau = impulse(at, q, rate, motion.closed.rolled[i]);
        work.torques[i] = tau;
        if tau != 0.0 {
            work.right.iter_mut().zip(basis.row(i)).for_each(|(to, t)| *to += tau * t);
        }
    }
    for (l, freedom) in model.closures.freedoms.iter().enumerate() {
        let closed = &motion.closed;
        let tau = impulse(freedom.coordinate, closed.at.q[l], closed.loop_rates[l], closed.loop_rolled[l]);
        if tau == 0.0 {
            continue;
        }
        let row = &closed.loop_rows[l * basis.stride..(l + 1) * basis.stride];
        work.right.iter_mut().zip(row).for_each(|(to, t)| *to += tau * t);
        let joint = &model.closures.joints[freedom.joint];
        let S = &closed.at.loops[joint.at + freedom.own * joint.path.len()..];
        joint.path.iter().zip(S).for_each(|((i, _), S)| work.torques[*i] += S * tau);
    }
    // What closes balances the rest, at the present rates.
    let (places, sums) = (&motion.places, &work.sums);
    for (i, freedom) in tree.freedoms.iter().enumerate().filter(|(_, f)| f.coordinate.is_some()) {
        let (s, sum) = (places.axis(tree, i), sums[freedom.link / 4].map(|x| x[freedom.link % 4]));
        work.torques[i] += s.iter().zip(&sum).map(|(s, f)| s * f).sum::<f64>();
    }
    motion.closed.balance(model, |i| work.torques[i] / h);
}

/// Adds JᵀWJ of a frame at an arm from P to a matrix; `J` is that of its link at P, and becomes that of the frame.
pub(super) fn add_spring(
    matrix: &mut [f64],
    n: usize,
    J: &mut [f64],
    stride: usize,
    arm: &Vector3<f64>,
    W: &Matrix6<f64>,
) {
    shift(J, stride, arm);
    for a in 0..n {
        let row: [f64; 6] =
            std::array::from_fn(|i| (0..6).map(|k| W[(i, k)] * J[k * stride + a]).sum::<f64>());
        for b in 0..n {
            matrix[b * n + a] += (0..6).map(|i| J[i * stride + b] * row[i]).sum::<f64>();
        }
    }
}

/// Rows of motion at P, at a point that is an arm from it: v + ω × arm.
pub(super) fn shift(J: &mut [f64], stride: usize, arm: &Vector3<f64>) {
    for k in 0..stride {
        let w = Vector3::new(J[3 * stride + k], J[4 * stride + k], J[5 * stride + k]).cross(arm);
        (0..3).for_each(|i| J[i * stride + k] += w[i]);
    }
}

/// Solves the small system, with the limits and laws that its solution lies on.
fn find(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    for (ahead, &i) in work.ahead.iter_mut().zip(limited(model)) {
        *ahead = motion.rate(model, i);
    }
    let governed = !inputs.governed.is_empty();
    if governed {
        for (at, i) in model.freedom_of.iter().enumerate() {
            let Some(i) = *i else { continue };
            work.state.coordinates[at] = motion.coordinate(model, i);
            work.state.rates[at] = motion.rate(model, i);
        }
        work.pieces.start(inputs, &work.state, h);
    }
    solve_once(model, inputs, h, motion, work)?;
    let mut again =
        look_ahead(model, h, motion, inputs, work) | (governed && revise(model, inputs, h, motion, work));
    while again {
        solve_once(model, inputs, h, motion, work)?;
        again =
            governed && (look_ahead(model, h, motion, inputs, work) | revise(model, inputs, h, motion, work));
    }
    Ok(())
}

/// Freedoms with a limit, those of loop joints after those of the tree.
pub(super) fn limited(model: &Constants) -> impl Iterator<Item = &usize> {
    model.tree.limited.iter().chain(&model.closures.limited)
}

/// The coordinate of the state that a freedom has.
pub(super) fn coordinate_of(model: &Constants, freedom: usize) -> usize {
    match freedom.checked_sub(model.tree.freedoms.len()) {
        None => model.tree.freedoms[freedom].coordinate.expect("a joint"),
        Some(l) => model.closures.freedoms[l].coordinate,
    }
}

/// The rate of a freedom that the solution has.
fn found(model: &Constants, motion: &Motion, solution: &[f64], freedom: usize) -> f64 {
    dot(motion.row(model, freedom), solution)
}

/// Whether the rates found lead beyond limits that did not act.
fn look_ahead(model: &Constants, h: f64, motion: &Motion, inputs: &Inputs, work: &mut Workspace) -> bool {
    let mut changed = false;
    for (ahead, &i) in work.ahead.iter_mut().zip(limited(model)) {
        let law = &inputs.laws[coordinate_of(model, i)];
        let q = motion.coordinate(model, i);
        let beyond = |rate: f64| q + h * rate > law.upper || q + h * rate < law.lower;
        let rate = found(model, motion, &work.solution, i);
        if beyond(rate) && !beyond(*ahead) {
            (*ahead, changed) = (rate, true);
        }
    }
    changed
}

/// Whether friction and torque limits are on other pieces at the rates found than these were solved for.
fn revise(model: &Constants, inputs: &Inputs, h: f64, motion: &Motion, work: &mut Workspace) -> bool {
    let (solution, state) = (&work.solution, &work.state);
    work.pieces.revise(inputs, state, h, |at| {
        let rate = model.freedom_of[at].map_or(0.0, |i| found(model, motion, solution, i));
        (state.coordinates[at] + h * rate, rate)
    })
}

/// Solves on the present pieces.
fn solve_once(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let n = model.basis.count;
    work.extras.clear();
    for (&ahead, &i) in work.ahead.iter().zip(limited(model)) {
        let law = &inputs.laws[coordinate_of(model, i)];
        let (q, stiffness) = (motion.coordinate(model, i), law.limit);
        let end = q + h * ahead;
        let bound = if end > law.upper { law.upper } else { law.lower };
        if end > law.upper || end < law.lower {
            let (weight, impulse) = (h * h * stiffness, h * stiffness * (bound - q));
            work.extras.push(Extra { freedom: i, weight, impulse });
        }
    }
    let laws = work.pieces.laws(inputs);
    for own in &inputs.governed {
        let (at, own) = (own.coordinate, &inputs.laws[own.coordinate]);
        let (Some(i), law) = (model.freedom_of[at], &laws[at]) else { continue };
        let (k, d) = (law.stiffness - own.stiffness, law.damping - own.damping);
        let force = k * (inputs.rest[at] - motion.coordinate(model, i)) + law.push;
        work.extras.push(Extra { freedom: i, weight: h * (d + h * k), impulse: h * force });
    }
    let solution = &mut work.solution;
    solution[..n].copy_from_slice(&work.right);
    if work.extras.is_empty() && inputs.springs.is_empty() {
        work.more = false;
        cholesky::solve(&work.factor, n, &mut solution[..n]);
        return Ok(());
    }
    work.more = true;
    work.whole.copy_from_slice(if inputs.springs.is_empty() { &work.base } else { &work.matrix });
    for extra in &work.extras {
        let row = &motion.row(model, extra.freedom)[..n];
        for i in (0..n).filter(|i| row[*i] != 0.0) {
            let scaled = extra.weight * row[i];
            solution[i] += extra.impulse * row[i];
            for k in 0..n {
                work.whole[i * n + k] += scaled * row[k];
            }
        }
    }
    if !cholesky::factor(&mut work.whole, n) {
        return Err(undetermined(model, motion, h));
    }
    cholesky::solve(&work.whole, n, &mut solution[..n]);
    Ok(())
}

/// The twists that the solution gives all links where they are.
pub(super) fn spin_end(model: &Constants, springs: &Springs, motion: &Motion, work: &mut Workspace) {
    let closed = &motion.closed;
    let drift = if model.closures.curved { &closed.drift } else { &springs.drift };
    let solution = &work.solution[..model.basis.count];
    let drift = (!springs.still).then_some(drift);
    motion.places.spin(&model.tree, tangent(model, closed), solution, drift, &mut work.end);
}

/// Of a link, at P, with that of the base.
pub(super) fn end_twist(inputs: &Inputs, motion: &Motion, work: &Workspace, n: usize) -> Twist {
    let own = work.end.twists[n / 4].map(|x| x[n % 4]);
    let base = base_at_point(&motion.places, inputs);
    let of = |k: usize| own[k] + base[k];
    Twist::new(Vector3::new(of(0), of(1), of(2)), Vector3::new(of(3), of(4), of(5)))
}

/// Solves the same step with more on the right side, on the pieces that it was solved on. Limits are looked for again: a push may lift a
/// joint off the stop that it would have come to.
pub(super) fn find_pushed(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    work.free.clone_from(&work.right);
    work.right.iter_mut().zip(&work.pushed).for_each(|(right, pushed)| *right += pushed);
    for (ahead, &i) in work.ahead.iter_mut().zip(limited(model)) {
        *ahead = motion.rate(model, i);
    }
    let mut solved = solve_once(model, inputs, h, motion, work);
    if solved.is_ok() && look_ahead(model, h, motion, inputs, work) {
        solved = solve_once(model, inputs, h, motion, work);
    }
    work.right.clone_from(&work.free);
    solved
}

/// Moves on with the solution, in memory; its twists are at the end.
pub(super) fn advance(
    model: &Constants,
    springs: &Springs,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let (tree, n) = (&model.tree, model.basis.count);
    let Workspace { next, solution, end, floating, back, .. } = &mut *work;
    next.copy_small(motion);
    next.time += h;
    next.steps += 1;
    next.led = false;
    next.base_twist = inputs.base_twist;
    let base = base_at_point(&motion.places, inputs);
    let from = if floating.is_empty() { &motion.carried } else { &*back };
    carry(&motion.places, end, &base, from, &mut next.carried);
    floating.turn(model, &motion.places, end, back, h, &mut next.places.floats);
    next.rates[..n].copy_from_slice(&solution[..n]);
    for k in 6 * tree.floats.len()..n {
        next.y[k] += h * solution[k];
    }
    next.places.base = inputs.base;
    if model.closures.curved {
        next.closed.predict(&motion.closed, &solution[..n], h);
        for (i, rolled) in next.closed.rolled.iter_mut().enumerate() {
            *rolled = end.rate(tree, i);
        }
        for (l, rolled) in next.closed.loop_rolled.iter_mut().enumerate() {
            let freedom = &model.closures.freedoms[l];
            let joint = &model.closures.joints[freedom.joint];
            let S = &motion.closed.at.loops[joint.at + freedom.own * joint.path.len()..];
            *rolled = joint.path.iter().zip(S).map(|((i, _), S)| S * end.rate(tree, *i)).sum();
        }
    }
    owed::leave(model, springs, h, motion, work);
    balls::turn(model, inputs, h, motion, work)?;
    let Workspace { next, end, floating, bases, .. } = &mut *work;
    // The rates of a reference that moves are not those of the motions alone.
    next.place_alike(model, &springs.goal, springs.still.then_some(&*end));
    if model.closures.curved {
        torn(model, next, h)?;
    }
    if !floating.is_empty() {
        let (places, carried) = (&next.places, &mut next.carried);
        bases.clone_from(&places.floats);
        floating.end(model, places, carried, bases);
        next.places.floats.copy_from_slice(bases);
        next.place(model, &springs.goal);
    }
    if finite(next) { Ok(()) } else { Err(failed(model, motion, next, h)) }
}

wide! {
    /// Whether everything is finite: 0·x is zero for those numbers alone, and every link's place is in the sum.
    fn finite, finite_lanes(motion: &Motion) -> bool
}

#[inline(always)]
fn finite_lanes<const FUSED: bool>(motion: &Motion) -> bool {
    // Three sums do not wait for each other.
    let (mut sums, none) = ([Lanes::ZERO; 3], Lanes::ZERO);
    for (block, carried) in motion.places.blocks.iter().zip(&motion.carried) {
        one_block_at_a_time();
        for k in 0..3 {
            sums[k] = block.position[k].fma::<FUSED>(none, sums[k]);
            sums[k] = carried.velocity[k].fma::<FUSED>(none, sums[k]);
            sums[k] = carried.angular[k].fma::<FUSED>(none, sums[k]);
        }
    }
    let small = motion
        .y
        .iter()
        .chain(&motion.rates)
        .chain(&motion.owed)
        .chain(&motion.closed.s)
        .chain(&motion.closed.at.q)
        .all(|x| x.abs() < LARGEST);
    small && ((sums[0] + sums[1]) + sums[2]).0.iter().sum::<f64>() == 0.0
}

/// A closure that is left open further than this, radii or rad, is torn.
const TORN: f64 = 1e-3;

/// Whether closures could not be closed.
fn torn(model: &Constants, next: &Motion, h: f64) -> Result<(), StepError> {
    if !next.closed.lambda.iter().all(|x| x.is_finite()) {
        return Err(not_finite(model, next, h));
    }
    if next.closed.gap <= TORN {
        return Ok(());
    }
    let closures = &model.closures;
    let open = |c: &super::closures::Closure| {
        let own = &next.closed.at.open[c.first..c.first + c.rows];
        own.iter().fold(0.0f64, |most, x| if x.is_finite() { most.max(x.abs()) } else { f64::INFINITY })
    };
    let curved = closures.all.iter().filter(|c| !c.flat);
    let worst = curved.max_by(|a, b| open(a).total_cmp(&open(b))).expect("a closure that is open");
    let gap = open(worst) * model.tree.radius;
    if !gap.is_finite() {
        return Err(not_finite(model, next, h));
    }
    let joint = model.tree.mechanism[worst.joint].name.clone();
    Err(StepError::Torn { step: next.steps, joint, gap, dt: h })
}

/// Why a step from a motion led to numbers that are not finite.
fn failed(model: &Constants, from: &Motion, to: &Motion, h: f64) -> StepError {
    balls::turned_too_far(model, from, h).unwrap_or_else(|| not_finite(model, to, h))
}

fn not_finite(model: &Constants, motion: &Motion, h: f64) -> StepError {
    let links = &model.tree.links;
    let bad = (0..links.len()).find(|n| !motion.places.pose(*n).is_finite()).unwrap_or(0);
    StepError::NotFinite {
        step: motion.steps,
        body: model.tree.mechanism[links[bad].head].name.clone(),
        cause: format!(
            "a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt"
        ),
    }
}

/// The matrix of a step is not positive: something moves that has no mass and no spring, or numbers left f64.
pub(super) fn undetermined(model: &Constants, motion: &Motion, h: f64) -> StepError {
    if let Some(error) = balls::turned_too_far(model, motion, h) {
        return error;
    }
    let mut error = not_finite(model, motion, h);
    if let StepError::NotFinite { step, .. } = &mut error {
        *step += 1;
    }
    error
}
