//! One step: what is out of balance is found at the pose as it is; the part that moves the ports goes through the
//! small implicit system, the rest is followed at once.
//!
//! ```text
//! e = (K + limits)⁻¹ (springs + limits + τ)                 how far each joint is from balance
//! (TᵀMT + hTᵀDT + h²(I + TᵀGT)) v⁺ = TᵀM(θ̇ − hβ) + h TᵀKe   backward Euler in the ports' motions
//! θ⁺ = θ + h T v⁺ + σ(e − T TᵀKe),  θ̇⁺ = T v⁺
//! ```
//!
//! The momentum is that of the links as they move, projected on the shapes of this pose, with the acceleration β that
//! turning joints have by themselves: no term of the exact equations on these shapes is left out. At rest e = 0: the
//! equilibrium is that of the whole mechanism, whatever the shapes are.
//!
//! A limit is a spring on one side. Which ones act at the end of the step is found by trying: those that are passed,
//! and that the step would pass, act; those that the step would leave do not; until nothing changes.

use super::closed::Closed;
use super::condensing::{Condensed, Drive, Grip, port_arm};
use super::floating;
use super::gathering::Gathered;
use super::kinematics::{Float, Places};
use super::model::{Constants, Freedom};
use super::plan::{NONE, Plan};
use super::rows::{Row, V3, ZERO, angular, cross, dot, dot3, fma, minus, plus, row};
use crate::engine::State;
use crate::engine::StepError;
use crate::engine::whole::Turning;
use crate::engine::{Inputs, Spring};
use crate::linear::wide::wide;
use crate::spatial::{Pose, Twist, Wrench};

/// How often limits are tried, and how often they may be let go in between.
const ROUNDS: usize = 12;
const LETTING_GO: usize = 4;

/// Seconds of a step from rest in which neither mass nor dampers count: their part is the square of a swing's time
/// over it.
const LONG: f64 = 1e6;

/// What a step spans.
#[derive(Clone, Copy, Debug)]
enum Span {
    /// So many seconds.
    Step(f64),
    /// From rest to where all is in balance, as far as one linearisation tells.
    Balance,
}

/// What moves.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub time: f64,
    pub steps: u64,
    pub base: Pose,
    /// World axes, at the base's origin.
    pub base_twist: Twist,
    pub theta: Vec<f64>,
    pub rates: Vec<f64>,
    pub floats: Vec<Float>,
    /// Coordinates and rates of loop joints, which follow.
    pub loop_theta: Vec<f64>,
    pub loop_rates: Vec<f64>,
    /// Steps that were cut short.
    pub capped: u64,
    /// The most that a free tree turned in a step, rad.
    pub largest_turn: f64,
    /// Where that puts the links.
    pub places: Places,
}

impl Motion {
    /// Where the mechanism starts, at rest.
    pub fn at_rest(model: &Constants) -> Motion {
        let start = State::at_rest(&model.mechanism);
        let of = |freedoms: &[Freedom]| freedoms.iter().map(|f| start.coordinates[f.coordinate]).collect();
        let (n, l) = (model.freedoms.len(), model.loops.freedoms.len());
        let mut motion = Motion {
            time: 0.0,
            steps: 0,
            base: Pose::identity(),
            base_twist: Twist::ZERO,
            theta: of(&model.freedoms),
            rates: vec![0.0; n],
            floats: (model.floats.iter())
                .map(|&f| Float { pose: start.poses[model.links[f].head.index()], twist: Twist::ZERO })
                .collect(),
            loop_theta: of(&model.loops.freedoms),
            loop_rates: vec![0.0; l],
            capped: 0,
            largest_turn: 0.0,
            places: Places::new(model),
        };
        motion.place(model);
        motion
    }

    /// Whether all its numbers are finite: 0·x is zero for those alone.
    fn is_finite(&self) -> bool {
        let mut sum = [0.0; 4];
        for block in &self.places.blocks {
            let numbers = block.rotation.iter().chain(&block.position).chain(&block.twist);
            for x in numbers {
                (0..4).for_each(|l| sum[l] += x.0[l] * 0.0);
            }
        }
        let lists = [&self.theta, &self.rates, &self.loop_theta, &self.loop_rates];
        let coordinates: f64 = lists.iter().flat_map(|list| list.iter()).map(|x| x * 0.0).sum();
        sum.iter().sum::<f64>() + coordinates == 0.0 && self.base.is_finite() && self.time.is_finite()
    }

    /// Puts links and loop joints where the coordinates have them.
    pub fn place(&mut self, model: &Constants) {
        self.places.put(model, &self.base, &self.base_twist, &self.floats, &self.theta, &self.rates);
        for joint in &model.loops.joints {
            let own = joint.first..joint.first + joint.kind.freedoms();
            let (q, rate) = (&mut self.loop_theta[own.clone()], &mut self.loop_rates[own]);
            joint.measure(&self.places, &self.base, q, rate);
        }
    }
}

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub plan: Plan,
    pub condensed: Condensed,
    pub closed: Option<Box<Closed>>,
    gathered: Gathered,
    drives: Vec<Drive>,
    grips: Vec<Grip>,
    /// Where limits act; not a number where none does.
    bounds: Vec<f64>,
    /// e − T TᵀKe, and θ̇⁺.
    pub change: Vec<f64>,
    rates: Vec<f64>,
    turns: Vec<V3>,
    turnings: Vec<Option<Turning>>,
    /// Whether the last step was cut short.
    capped: bool,
    /// Where a step leads, until it is known to be good.
    next: Motion,
}

impl Workspace {
    pub fn new(model: &Constants) -> Workspace {
        let plan = Plan::new(model, &[]);
        let f = model.freedoms.len();
        Workspace {
            condensed: Condensed::new(&plan),
            closed: closed(model, &plan),
            plan,
            gathered: Gathered::new(model),
            drives: vec![Drive { stiffness: 0.0, softness: 0.0, weight: 0.0, momentum: 0.0, error: 0.0 }; f],
            grips: Vec::new(),
            bounds: vec![f64::NAN; f],
            change: vec![0.0; f],
            rates: vec![0.0; f],
            turns: vec![[0.0; 3]; model.links.len()],
            turnings: vec![None; model.floats.len()],
            capped: false,
            next: Motion::at_rest(model),
        }
    }

    /// Makes the frames that are pulled ports, if they are not.
    pub fn plan_for(&mut self, model: &Constants, pulls: &[Spring]) {
        if !self.plan.fits(pulls) {
            self.plan = Plan::new(model, pulls);
            self.condensed = Condensed::new(&self.plan);
            self.closed = closed(model, &self.plan);
            self.grips = Vec::with_capacity(pulls.len());
        }
    }
}

/// Takes one step of h seconds.
pub(super) fn step(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &mut Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    attempt(model, inputs, h, motion, work)?;
    advance(model, inputs, h, motion, work)?;
    take(motion, work);
    Ok(())
}

/// A number, or zero where it is too small to matter. What dies out, such as a swing out of the plane of all loads, would
/// otherwise become too small to be normal, and arithmetic with such numbers takes many times as long.
#[inline(always)]
fn or_nothing(x: f64) -> f64 {
    if x.abs() < 1e-100 { 0.0 } else { x }
}

/// Takes the step that was attempted.
pub(super) fn take(motion: &mut Motion, work: &mut Workspace) {
    std::mem::swap(motion, &mut work.next);
}

/// Makes the motion at the end of the step that was solved for, in memory, and sees that it is finite.
pub(super) fn advance(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let next = &mut work.next;
    for (next, (theta, change)) in next.theta.iter_mut().zip(motion.theta.iter().zip(&work.change)) {
        *next = or_nothing(*theta + change);
    }
    for (next, rate) in next.rates.iter_mut().zip(&work.rates) {
        *next = or_nothing(*rate);
    }
    next.loop_theta.copy_from_slice(&motion.loop_theta);
    (next.base, next.base_twist) = (inputs.base, inputs.base_twist);
    (next.time, next.steps) = (motion.time + h, motion.steps + 1);
    next.capped = motion.capped + u64::from(work.capped);
    floating::advance(model, h, motion, &work.condensed, &mut work.turnings, next);
    let turns = work.turnings.iter().flatten().map(Turning::angle);
    next.largest_turn = turns.fold(motion.largest_turn, f64::max);
    if next.is_finite() {
        return Ok(());
    }
    let broken = |n: &usize| {
        let place = next.places.link(*n);
        !(place.pose().is_finite() && place.twist.iter().all(|x| x.is_finite()))
    };
    Err(not_finite(model, motion, (0..model.links.len()).find(broken).unwrap_or(0), h))
}

fn not_finite(model: &Constants, motion: &Motion, link: usize, h: f64) -> StepError {
    StepError::NotFinite {
        step: motion.steps + 1,
        body: model.mechanism[model.links[link].head].name.clone(),
        cause: format!(
            "a load, target or stiffness is too large for f64, or dt = {h} s is too long; try a smaller dt"
        ),
    }
}

/// Solves for the change and the rates of a step of h seconds; nothing moves.
pub(super) fn attempt(
    model: &Constants,
    inputs: &Inputs,
    h: f64,
    motion: &Motion,
    work: &mut Workspace,
) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::TimeStep { dt: h });
    }
    work.plan_for(model, &inputs.springs);
    let solved = work.solve(model, inputs, Span::Step(h), motion);
    let finite = |i: usize| work.change[i].is_finite() & work.rates[i].is_finite();
    let all = (0..model.freedoms.len()).fold(true, |all, i| all & finite(i));
    let broken = if all { None } else { (0..model.freedoms.len()).find(|&i| !finite(i)) };
    let floats = work.condensed.floats.iter().flatten().all(|x| x.is_finite());
    if !solved || !floats || broken.is_some() {
        let at = model.links.iter().rposition(|link| broken.is_some_and(|i| link.first <= i)).unwrap_or(0);
        return Err(not_finite(model, motion, at, h));
    }
    Ok(())
}

/// How far the links are from rest: the longest way that one Gauss–Newton step to balance moves one, over the radius;
/// infinite where that fails.
pub(super) fn estimate(model: &Constants, inputs: &Inputs, motion: &Motion, work: &mut Workspace) -> f64 {
    work.plan_for(model, &inputs.springs);
    if !work.solve(model, inputs, Span::Balance, motion) {
        return f64::INFINITY;
    }
    for (change, theta) in work.change.iter_mut().zip(&motion.theta) {
        *change += theta;
    }
    work.rates.fill(0.0);
    let trial = &mut work.next.places;
    trial.put(model, &motion.base, &Twist::ZERO, &motion.floats, &work.change, &work.rates);
    let mut furthest = 0.0f64;
    for n in 0..model.links.len() {
        let away = minus(trial.link(n).position, motion.places.link(n).position);
        let distance = (away[0] * away[0] + away[1] * away[1] + away[2] * away[2]).sqrt();
        furthest = if distance.is_nan() { f64::INFINITY } else { furthest.max(distance) };
    }
    furthest / model.radius
}

impl Workspace {
    wide! {
        /// Sets `change` and `rates` to those of a step.
        fn solve, solve_lanes(
            &mut self: Workspace, model: &Constants, inputs: &Inputs, span: Span, motion: &Motion
        ) -> bool
    }

    #[inline(always)]
    fn solve_lanes<const FUSED: bool>(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        span: Span,
        motion: &Motion,
    ) -> bool {
        let places = &motion.places;
        let (h, balance) = match span {
            Span::Step(h) => (h, false),
            Span::Balance => (LONG, true),
        };
        // The base at the end of the step, at P.
        let twist = &inputs.base_twist;
        let arm: V3 = minus(places.point, inputs.base.position.into());
        let turned = cross::<FUSED, _>(twist.angular.into(), arm);
        let mut base = row(plus(twist.linear.into(), turned), twist.angular.into());
        let mut acceleration: Row = std::array::from_fn(|i| (base[i] - places.base[i]) / h);
        if balance {
            (base, acceleration) = (ZERO, ZERO);
        }
        self.gathered.weigh::<FUSED>(model, places, inputs.gravity.into(), &acceleration, h);
        self.load(model, inputs, motion, h);
        self.gathered.sum::<FUSED>(model, places);
        if balance {
            self.gathered.stop();
        }
        if model.limited {
            for (i, freedom) in model.freedoms.iter().enumerate() {
                self.bounds[i] = passed(freedom.lower, freedom.upper, motion.theta[i]);
            }
        }
        if let Some(mut closed) = self.closed.take() {
            closed.close::<FUSED>(model, motion, &motion.base);
            closed.bend::<FUSED>(model, inputs, motion, &mut self.gathered, &self.bounds);
            let solved = self.solve_closed::<FUSED>(model, inputs, motion, &mut closed, &base, h, balance);
            self.closed = Some(closed);
            return solved;
        }
        for round in 0..ROUNDS {
            self.drive(model, inputs, motion, h);
            let solved = self.condensed.solve::<FUSED>(
                model,
                &self.plan,
                places,
                &self.gathered,
                &self.drives,
                &self.grips,
                &base,
                h,
            );
            if !solved {
                return false;
            }
            self.follow::<FUSED>(model, places, h, balance);
            if !self.limit(model, motion, round < LETTING_GO) {
                break;
            }
        }
        true
    }

    /// The same with closures.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn solve_closed<const FUSED: bool>(
        &mut self,
        model: &Constants,
        inputs: &Inputs,
        motion: &Motion,
        closed: &mut Closed,
        base: &Row,
        h: f64,
        balance: bool,
    ) -> bool {
        for round in 0..ROUNDS {
            let solved = closed.solve::<FUSED>(
                model,
                &self.plan,
                inputs,
                motion,
                &self.gathered,
                &self.grips,
                base,
                &self.bounds,
                h,
                &mut self.change,
                &mut self.rates,
            );
            if !solved {
                return false;
            }
            self.join::<FUSED>(model, 1.0, h, balance);
            let of_loops = closed.limit(model, motion, &self.change, round < LETTING_GO);
            if !(self.limit(model, motion, round < LETTING_GO) | of_loops) {
                break;
            }
        }
        true
    }

    /// What pulls at every joint of a mechanism at rest.
    #[cfg(test)]
    pub fn gather(&mut self, model: &Constants, inputs: &Inputs, motion: &Motion) -> &Gathered {
        self.gathered.weigh::<false>(model, &motion.places, inputs.gravity.into(), &ZERO, 1.0);
        self.load(model, inputs, motion, 1.0);
        self.gathered.sum::<false>(model, &motion.places);
        &self.gathered
    }

    /// What the last step was made from.
    #[cfg(test)]
    pub fn parts(&self) -> (&Plan, &Condensed, &[Drive], &Gathered, Option<&Closed>) {
        (&self.plan, &self.condensed, &self.drives, &self.gathered, self.closed.as_deref())
    }

    /// Steps a tree by the dense matrices of loops.
    #[cfg(test)]
    pub fn use_dense(&mut self, model: &Constants) {
        self.plan = Plan::build(model, &[], false);
        self.closed = Some(Box::new(Closed::new(model, &self.plan)));
    }

    /// Coordinates after the step of the last estimate.
    pub fn relaxed(&self) -> &[f64] {
        &self.change
    }

    /// How many motions of the ports had mass in the last step.
    pub fn rank(&self) -> usize {
        self.closed.as_ref().map_or_else(|| self.condensed.rank.iter().sum(), |closed| closed.rank)
    }

    /// Loads from outside, and the springs of pulls.
    #[inline(always)]
    fn load(&mut self, model: &Constants, inputs: &Inputs, motion: &Motion, h: f64) {
        let (places, loads) = (&motion.places, &mut self.gathered.loads);
        let acts = |w: &Wrench| w.force.norm_squared() + w.torque.norm_squared() > 0.0;
        let mut push = |body, frame: &Pose, load: &Wrench| {
            if let (Some(n), offset) = model.place(body) {
                let at = places.link(n).point((offset * *frame).position.into());
                loads[n].push(load.force.into(), minus(at, places.point));
                loads[n].twist(load.torque.into());
            }
        };
        for (effector, load) in model.mechanism.effectors().iter().zip(&inputs.effector_loads) {
            push(effector.body, &effector.frame, load);
        }
        for (b, load) in inputs.body_loads.iter().enumerate() {
            if acts(load) {
                push(model.mechanism.body_id(b), &Pose::identity(), load);
            }
        }
        self.grips.clear();
        for (p, pull) in inputs.springs.iter().enumerate() {
            let port = self.plan.pulls[p];
            if port == NONE {
                continue;
            }
            let n = self.plan.ports[port].link;
            let arm = port_arm(&self.plan, places, port);
            let pose = places.link(n).pose() * self.plan.ports[port].frame;
            let (wrench, turning) = (pull.wrench(&pose, &Twist::ZERO), pull.turning(&pose));
            loads[n].push(wrench.force.into(), arm);
            loads[n].twist(wrench.torque.into());
            let angular = std::array::from_fn(|i| {
                std::array::from_fn(|k| {
                    h * h * turning[(i, k)] + if i == k { h * pull.turning_damping } else { 0.0 }
                })
            });
            self.grips.push(Grip { port, linear: h * (h * pull.stiffness + pull.damping), angular });
        }
    }

    /// Springs, limits, dampers and rotors of all freedoms.
    #[inline(always)]
    fn drive(&mut self, model: &Constants, inputs: &Inputs, motion: &Motion, h: f64) {
        let n = model.freedoms.len();
        let (theta, rates, torques) = (&motion.theta[..n], &motion.rates[..n], &self.gathered.torques[..n]);
        let (drives, bounds) = (&mut self.drives[..n], &self.bounds[..n]);
        for (i, freedom) in model.freedoms.iter().enumerate() {
            let (q, rate) = (theta[i], rates[i]);
            let (mut stiffness, mut softness) = (freedom.stiffness, freedom.softness);
            let mut force = freedom.stiffness * (inputs.rest[freedom.coordinate] - q) + torques[i];
            if !bounds[i].is_nan() {
                stiffness += freedom.limit;
                softness = 1.0 / stiffness;
                force += freedom.limit * (bounds[i] - q);
            }
            drives[i] = Drive {
                stiffness,
                softness,
                weight: freedom.armature + h * freedom.damping,
                momentum: freedom.armature * rate,
                error: softness * force,
            };
        }
    }

    /// θ̇⁺ and the change of θ.
    #[inline(always)]
    fn follow<const FUSED: bool>(&mut self, model: &Constants, places: &Places, h: f64, balance: bool) {
        let (mut geometric, mut elastic) = (0.0, 0.0);
        // Lengths that the compiler sees to be the same.
        let n = model.freedoms.len();
        let (axes, levers, drives) = (&places.axes[..n], &self.gathered.levers[..n], &self.drives[..n]);
        let (rates, changes) = (&mut self.rates[..n], &mut self.change[..n]);
        for (n, (link, &segment)) in model.links.iter().zip(&self.plan.segment_of).enumerate() {
            let (rate, held) = match segment {
                NONE => (&ZERO, &ZERO),
                _ => (&self.condensed.rate[segment], &self.condensed.held[segment]),
            };
            let mut turn = self.turns.get(link.parent).map_or([0.0; 3], |turn| *turn);
            for i in link.first..link.first + link.count {
                let (s, m, drive) = (&axes[i], &levers[i], &drives[i]);
                let c = drive.softness;
                let d = fma::<FUSED>(-c, dot::<FUSED>(s, held), drive.error);
                (rates[i], changes[i]) = (c * dot::<FUSED>(s, rate), d);
                // dᵀG d and dᵀK d, G the geometric stiffness: 2 d m·Σ_{j<i} ω_j d_j + d² m·ω
                let own = angular(s).map(|x| x * d);
                let both: V3 = std::array::from_fn(|k| fma::<FUSED>(2.0, turn[k], own[k]));
                geometric = fma::<FUSED>(d, dot3::<FUSED, _>(*m, both), geometric);
                elastic = fma::<FUSED>(d * d, drive.stiffness, elastic);
                turn = plus(turn, own);
            }
            self.turns[n] = turn;
        }
        // Where loads stiffen what is followed at once, a full step would go too far.
        let stiffer = if elastic > 0.0 { geometric / elastic } else { 0.0 };
        let sigma = if stiffer > 0.0 { 1.0 / (1.0 + stiffer) } else { 1.0 };
        self.join::<FUSED>(model, sigma, h, balance);
    }

    /// Adds the way of the rates to σ of the change; in a step, no more of both than it may go.
    #[inline(always)]
    fn join<const FUSED: bool>(&mut self, model: &Constants, sigma: f64, h: f64, balance: bool) {
        let mut furthest = 0.0f64;
        for (i, freedom) in model.freedoms.iter().enumerate() {
            let change = fma::<FUSED>(h, self.rates[i], sigma * self.change[i]);
            self.change[i] = change;
            let way = change.abs() * freedom.reach;
            furthest = if way > furthest { way } else { furthest };
        }
        self.capped = furthest > 1.0 && !balance;
        if self.capped {
            let part = 1.0 / furthest;
            self.change.iter_mut().for_each(|x| *x *= part);
            self.rates.iter_mut().for_each(|x| *x *= part);
        }
    }

    /// Finds the limits that act where the step ends; whether any is new or gone.
    #[inline(always)]
    fn limit(&mut self, model: &Constants, motion: &Motion, letting_go: bool) -> bool {
        let mut changed = false;
        if !model.limited {
            return false;
        }
        for (i, freedom) in model.freedoms.iter().enumerate() {
            let bound = passed(freedom.lower, freedom.upper, motion.theta[i] + self.change[i]);
            let before = self.bounds[i];
            if before.is_nan() != bound.is_nan() && (letting_go || before.is_nan()) {
                self.bounds[i] = bound;
                changed = true;
            }
        }
        changed
    }
}

/// Memory for closures, if there are any.
fn closed(model: &Constants, plan: &Plan) -> Option<Box<Closed>> {
    (!model.loops.is_empty()).then(|| Box::new(Closed::new(model, plan)))
}

/// The limit that a coordinate has passed; not a number if it has not.
#[inline(always)]
pub(super) fn passed(lower: f64, upper: f64, q: f64) -> f64 {
    if q > upper {
        upper
    } else if q < lower {
        lower
    } else {
        f64::NAN
    }
}
