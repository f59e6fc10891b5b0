//! What acts along the coordinates of joints while a simulation runs: springs, dampers, rotors, limits, torque limits and dry
//! friction.
//!
//! In a step of h seconds, with θ and θ̇ at its end, a motor gives at most its torque limit T, and friction at most F:
//!
//! ```text
//! τ = clamp(k(θ₀ − θ) − d θ̇, ±T)        λ = clamp(λ₀ − w θ̇/h, ±F)
//! ```
//! λ₀ is the friction of the last step and w a million times the inertia that the freedom feels, so that friction is soft
//! against its changes alone, as the rows of closures are: what sticks creeps by w⁻¹h²(λ − λ₀), once, and stays there.
//! Both fall with θ̇, and the step is the minimum of a convex function. Each is linear in three pieces. A step is solved on
//! one piece of each, and again where what it finds does not lie on them: with all of these on their next piece as long as
//! that leaves fewer (block principal pivoting, Júdice and Pires 1994), then by Newton's method with an exact line search,
//! which falls in every round and so ends.

use super::{Inputs, State};
use crate::mechanism::{Freedom, Mechanism};
use crate::spatial::SpatialInertia;

/// w over the inertia that a freedom feels.
const HELD: f64 = 1e6;

/// How far a force may be from its law: relative to its bound, and by rounding of the coordinates and rates that it is made of.
const ON_LAW: f64 = 1e-10;
const ROUNDING: f64 = 1e-13;

/// How often a step is solved again; how often in a row with all pieces changed although that leaves no fewer wrong; and how
/// often the way of a line search is halved.
const ROUNDS: usize = 100;
const PATIENCE: usize = 3;
const HALVINGS: usize = 50;

/// What acts along a coordinate as long as it stays on its piece: k(θ₀ − θ) − d θ̇ + `push`, a limit and a rotor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Law {
    pub stiffness: f64,
    pub damping: f64,
    pub lower: f64,
    pub upper: f64,
    /// Stiffness of the limits.
    pub limit: f64,
    pub armature: f64,
    /// A force that does not depend on the motion.
    pub push: f64,
    /// Bound of spring and damper; in a step, [`Pieces`] see to it.
    pub torque_limit: f64,
}

impl Law {
    /// Whether it has a limit.
    fn is_limited(&self) -> bool {
        self.lower > f64::NEG_INFINITY || self.upper < f64::INFINITY
    }

    /// Energy of the spring, stretched so far: within its torque limit T, U' = clamp(ks, ±T).
    pub fn energy(&self, stretch: f64) -> f64 {
        let force = self.stiffness * stretch.abs();
        match force > self.torque_limit {
            true => self.torque_limit * (stretch.abs() - 0.5 * self.torque_limit / self.stiffness),
            false => 0.5 * force * stretch.abs(),
        }
    }

    /// Energy of a limit that is passed.
    pub fn limit_energy(&self, q: f64) -> f64 {
        let beyond = (q - self.upper).max(self.lower - q).max(0.0);
        0.5 * self.limit * beyond * beyond
    }

    /// Adds stiffness and force, at q, of the limit beyond which the coordinate is judged to be.
    #[inline(always)]
    pub fn add_limit(&self, judged: f64, q: f64, stiffness: &mut f64, force: &mut f64) {
        if judged > self.upper {
            *stiffness += self.limit;
            *force += self.limit * (self.upper - q);
        } else if judged < self.lower {
            *stiffness += self.limit;
            *force += self.limit * (self.lower - q);
        }
    }
}

impl From<&Freedom> for Law {
    fn from(freedom: &Freedom) -> Law {
        let Freedom { stiffness, damping, lower, upper, armature, torque_limit, .. } = *freedom;
        Law { stiffness, damping, lower, upper, limit: 0.0, armature, push: 0.0, torque_limit }
    }
}

/// The laws of all freedoms of a mechanism.
pub(crate) fn laws(mechanism: &Mechanism) -> Vec<Law> {
    let mut laws: Vec<Law> =
        mechanism.joints().iter().flat_map(|joint| &joint.freedoms).map(Law::from).collect();
    stiffen_limits(mechanism, &mut laws);
    laws
}

/// Stiffness of a limit on a rotation, N·m/rad, at least: 10 N·m against it turn the joint 1e-4 rad too far.
pub const LIMIT_STIFFNESS: f64 = 1e5;

/// Stiffness of a limit on a translation, N/m, at least.
pub const LIMIT_STIFFNESS_TRANSLATION: f64 = 1e6;

/// A limit is stiffer than the spring of its freedom by this factor, and by this, 1/s², than the inertia that the freedom feels: a spring
/// presses a joint past its limit by 1e-3 of how far beyond it is relaxed at most, and a weight of any mass on an arm of 1 m, or on a
/// slide, by 1e-4 rad or m.
const LIMIT_OVER_SPRING: f64 = 1e3;
const LIMIT_OVER_INERTIA: f64 = 1e5;

/// Sets the stiffness of all limits, by springs as they are now.
pub(crate) fn stiffen_limits(mechanism: &Mechanism, laws: &mut [Law]) {
    if !laws.iter().any(Law::is_limited) {
        return;
    }
    let felt = felt_inertias(mechanism);
    for joint in mechanism.joints() {
        for (k, at) in joint.coordinates().enumerate() {
            let least =
                if k < joint.kind.translations() { LIMIT_STIFFNESS_TRANSLATION } else { LIMIT_STIFFNESS };
            let law = &mut laws[at];
            let inertia = felt[at] + law.armature;
            law.limit = least.max(LIMIT_OVER_SPRING * law.stiffness).max(LIMIT_OVER_INERTIA * inertia);
        }
    }
}

/// A coordinate with dry friction or a torque limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Governed {
    pub coordinate: usize,
    /// F.
    pub friction: f64,
    /// w, kg or kg·m².
    pub held: f64,
}

/// The coordinates with dry friction or a torque limit.
pub(crate) fn governed(mechanism: &Mechanism, friction: &[f64], laws: &[Law]) -> Vec<Governed> {
    let acts = |at: &usize| friction[*at] > 0.0 || laws[*at].torque_limit < f64::INFINITY;
    if (0..laws.len()).all(|at| !acts(&at)) {
        return Vec::new();
    }
    let felt = felt_inertias(mechanism);
    let one = |at: usize| Governed {
        coordinate: at,
        friction: friction[at],
        held: HELD * (felt[at] + laws[at].armature),
    };
    (0..laws.len()).filter(acts).map(one).collect()
}

/// What each freedom moves in the file's pose, if all others stand still: SᵀI S of all that its child carries, kg or kg·m².
fn felt_inertias(mechanism: &Mechanism) -> Vec<f64> {
    let nodes = mechanism.order().nodes();
    let mut carried: Vec<SpatialInertia> =
        nodes.iter().map(|node| node.inertia.in_outer(&mechanism[node.head].pose)).collect();
    for (n, node) in nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            carried[parent] = carried[parent].welded(&carried[n]);
        }
    }
    let mut felt = Vec::with_capacity(mechanism.coordinate_count());
    for joint in mechanism.joints() {
        let moved = [Some(joint.child), joint.parent].into_iter().flatten();
        let node = moved.filter_map(|body| mechanism.order().node_of(body)).next();
        let inertia = node.map_or(SpatialInertia::ZERO, |n| carried[n]).in_outer(&joint.frame.inverse());
        let (d, M) = (joint.freedoms.len(), inertia.matrix());
        let S = joint.kind.subspace(&[0.0; 6][..d]);
        for k in 0..d {
            let own = (S.column(k).transpose() * M * S.column(k))[0];
            felt.push(if own.is_finite() && own > 0.0 { own } else { inertia.mass.max(f64::MIN_POSITIVE) });
        }
    }
    felt
}

/// The piece of a clamped force: 0 between its bounds, or the sign of the one it is at.
type Piece = f64;

/// A governed freedom in a solution: its coordinate is start + h·rate, and the force that it was solved with balances all else.
#[derive(Clone, Copy, Debug)]
struct Point {
    start: f64,
    rate: f64,
    balance: f64,
}

/// The laws of a step: those of the inputs, with every governed freedom on one piece of its motor and one of its friction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    laws: Vec<Law>,
    /// Of each governed freedom: motor, friction.
    on: Vec<[Piece; 2]>,
    /// What friction applies in the solution that was last looked at.
    friction: Vec<f64>,
    /// Of a line search: where it is, and what was solved for.
    point: Vec<Point>,
    solved: Vec<Point>,
    /// What is still wrong: how many pieces, at least so far; how often more may be; how often it was tried.
    fewest: usize,
    patience: usize,
    rounds: usize,
    /// The furthest that a force was left from its law, relative to its bound.
    worst: f64,
}

impl Pieces {
    /// The laws on these pieces; those of the inputs where no freedom is governed.
    #[inline]
    pub fn laws<'a>(&'a self, inputs: &'a Inputs) -> &'a [Law] {
        if inputs.governed.is_empty() { &inputs.laws } else { &self.laws }
    }

    /// How far a force was left from its law at most, relative to its bound.
    pub fn worst(&self) -> f64 {
        self.worst
    }

    /// Starts a step of h seconds on the pieces that motors lie on now, and friction did in the last one.
    pub fn start(&mut self, inputs: &Inputs, state: &State, h: f64) {
        if inputs.governed.is_empty() {
            return;
        }
        self.laws.clone_from(&inputs.laws);
        self.on.clear();
        for points in [&mut self.point, &mut self.solved] {
            points.clear();
            points.reserve(inputs.governed.len());
        }
        self.friction.clear();
        self.friction.resize(inputs.governed.len(), 0.0);
        self.resume();
        for (g, own) in inputs.governed.iter().enumerate() {
            let at = own.coordinate;
            let (q, rate, last) = (state.coordinates[at], state.rates[at], last(own, state));
            let [motor, _] = wanted(inputs, own, state, (q + h * rate, rate), h);
            let slips = own.friction > 0.0 && last.abs() == own.friction;
            self.on.push([motor.piece, if slips { last.signum() } else { 0.0 }]);
            self.put(inputs, g, state, h);
        }
    }

    /// Starts to solve another system of the same step.
    pub fn resume(&mut self) {
        (self.fewest, self.patience, self.rounds) = (usize::MAX, PATIENCE, 0);
    }

    /// Sets the law of a governed freedom by its pieces.
    fn put(&mut self, inputs: &Inputs, g: usize, state: &State, h: f64) {
        let (own, [motor, friction]) = (&inputs.governed[g], self.on[g]);
        let mut law = inputs.laws[own.coordinate];
        if motor != 0.0 {
            (law.stiffness, law.damping, law.push) = (0.0, 0.0, motor * law.torque_limit);
        }
        if friction != 0.0 {
            law.push += friction * own.friction;
        } else if own.friction > 0.0 {
            law.damping += own.held / h;
            law.push += last(own, state);
        }
        self.laws[own.coordinate] = law;
    }

    /// Changes pieces that the coordinates and rates found at the end of the step do not lie on; whether it did, so that the
    /// step is to be solved again.
    pub fn revise(
        &mut self,
        inputs: &Inputs,
        state: &State,
        h: f64,
        mut found: impl FnMut(usize) -> (f64, f64),
    ) -> bool {
        let (mut wrong, mut worst) = (0, 0.0f64);
        self.solved.clear();
        for (g, own) in inputs.governed.iter().enumerate() {
            let (q, rate) = found(own.coordinate);
            let wanted = wanted(inputs, own, state, (q, rate), h);
            self.friction[g] = wanted[1].force.clamp(-own.friction, own.friction);
            let mut balance = 0.0;
            for (on, Wanted { piece, force, bound, rounding }) in self.on[g].iter_mut().zip(wanted) {
                // Between its bounds the force that was solved with may be beyond them, and on one it may be another.
                let used = if *on == 0.0 { force } else { *on * bound };
                balance += used;
                let off = (used - force.clamp(-bound, bound)).abs();
                if piece != *on && off > ON_LAW * bound + rounding {
                    (wrong, worst) = (wrong + 1, worst.max(off / bound));
                    // From a bound first to between them.
                    *on = if *on == 0.0 { piece } else { 0.0 };
                }
            }
            self.solved.push(Point { start: q - h * rate, rate, balance });
        }
        if wrong == 0 {
            return false;
        }
        self.rounds += 1;
        if self.rounds > ROUNDS {
            self.worst = self.worst.max(worst);
            return false;
        }
        if self.patience == 0 {
            self.search(inputs, state, h);
        } else if wrong < self.fewest {
            (self.fewest, self.patience) = (wrong, PATIENCE);
        } else {
            self.patience -= 1;
            if self.patience == 0 {
                self.point.clear();
                self.search(inputs, state, h);
            }
        }
        (0..inputs.governed.len()).for_each(|g| self.put(inputs, g, state, h));
        true
    }

    /// Goes from the last point towards the solution, as far as the sum of what is convex falls, and puts all freedoms on the
    /// pieces that they lie on there. Its slope along the way p is Σ pₖ(bₖ − τₖ), bₖ the force that balances all else, linear
    /// along it, and τₖ the law's; it grows.
    fn search(&mut self, inputs: &Inputs, state: &State, h: f64) {
        if self.point.is_empty() {
            self.point.clone_from(&self.solved);
        }
        let at = |from: &Point, to: &Point, t: f64| {
            let part = |a: f64, b: f64| if t == 1.0 { b } else { a + t * (b - a) };
            Point { start: to.start, rate: part(from.rate, to.rate), balance: part(from.balance, to.balance) }
        };
        let lies = |own: &Governed, point: &Point| {
            wanted(inputs, own, state, (point.start + h * point.rate, point.rate), h)
        };
        let slope = |t: f64| -> f64 {
            let each = inputs.governed.iter().zip(self.point.iter().zip(&self.solved));
            each.map(|(own, (from, to))| {
                let point = at(from, to, t);
                let law: f64 = lies(own, &point).iter().map(|w| w.force.clamp(-w.bound, w.bound)).sum();
                (to.rate - from.rate) * (point.balance - law)
            })
            .sum()
        };
        let (mut low, mut high) = (0.0, 1.0);
        if slope(1.0) > 0.0 {
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                *(if slope(middle) > 0.0 { &mut high } else { &mut low }) = middle;
            }
        }
        for (g, own) in inputs.governed.iter().enumerate() {
            self.point[g] = at(&self.point[g], &self.solved[g], high);
            self.on[g] = lies(own, &self.point[g]).map(|wanted| wanted.piece);
        }
    }

    /// Writes what friction applies into the next state.
    pub fn store_friction(&self, inputs: &Inputs, next: &mut State) {
        for (own, force) in inputs.governed.iter().zip(&self.friction) {
            next.friction[own.coordinate] = *force;
        }
    }
}

/// The friction of the last step, within its present bound.
fn last(own: &Governed, state: &State) -> f64 {
    state.friction[own.coordinate].clamp(-own.friction, own.friction)
}

/// What a motor or friction would be at a coordinate and its rate.
struct Wanted {
    piece: Piece,
    /// Without bounds, and the bound.
    force: f64,
    bound: f64,
    /// What rounding makes of the force.
    rounding: f64,
}

/// Of motor and friction.
fn wanted(inputs: &Inputs, own: &Governed, state: &State, (q, rate): (f64, f64), h: f64) -> [Wanted; 2] {
    let (at, law) = (own.coordinate, &inputs.laws[own.coordinate]);
    let motor = law.stiffness * (inputs.rest[at] - q) - law.damping * rate;
    let held = if own.friction > 0.0 { own.held / h } else { 0.0 };
    let friction = last(own, state) - held * rate;
    let rates = rate.abs() + state.rates[at].abs();
    [
        (motor, law.torque_limit, law.stiffness * q.abs() + law.damping * rates),
        (friction, own.friction, held * rates),
    ]
    .map(|(force, bound, of)| {
        let piece = if force.abs() > bound { force.signum() } else { 0.0 };
        Wanted { piece, force, bound, rounding: ROUNDING * of }
    })
}

/// Bounds what springs and dampers apply in a state, in which forces are those without bounds, by their torque limits.
pub(crate) fn bound_motors(inputs: &Inputs, state: &mut State) {
    for own in &inputs.governed {
        let (at, law) = (own.coordinate, &inputs.laws[own.coordinate]);
        let motor = law.stiffness * (inputs.rest[at] - state.coordinates[at]) - law.damping * state.rates[at];
        state.forces[at] += motor.clamp(-law.torque_limit, law.torque_limit) - motor;
    }
}
