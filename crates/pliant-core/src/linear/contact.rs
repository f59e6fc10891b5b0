//! What contact asks of a linear model: where its effectors are, how they would move, and how they answer to impulses.
//!
//! A push w on an effector works through Gᵀ = BᵀJr(ξ)ᵀ, and on a free base also on everything as a whole:
//!
//! ```text
//! G_z = Jr(ξ)B − Ad(e,b)Jr(−Sz)S,   W = G_z A⁻¹ G_zᵀ + G_m M_bb⁻¹ G_mᵀ
//! ```
//!
//! A = LLᵀ is the matrix of the step, factored once per h, and so are L⁻¹Bᵀ and L⁻¹Sᵀ made: a push is a sum of their rows, and W the
//! products of those sums. M_bb⁻¹ is taken apart in the same way, so that one product is all of W. Components are answers of their own: fingers of one hand do not feel
//! each other. Pulls on a free base are not in A.

use nalgebra::{Matrix3, Vector3};

use super::dynamics::twist_at;
use super::model::Component;
use super::simulation::{Moving, Simulation};
use crate::algebra::dense::cholesky;
use crate::algebra::wide::{add_rows, combine, padded, square, wide};
use crate::engine::StepError;
use crate::engine::touch::{Push, Touch, internal};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench, right_jacobian_blocks};

/// Memory of contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    effectors: Vec<Reach>,
    parts: Vec<Maps>,
    /// L⁻¹Gᵀ of all pushes on a component, a row for each.
    rows: Vec<f64>,
}

/// The link of an effector in a step: its frame's origin, how it moves with ξ, and its twists at the start and at the end as if
/// nothing touched, world axes at that origin.
#[derive(Clone, Copy, Debug)]
struct Reach {
    origin: Vector3<f64>,
    lever: Lever,
    twists: [Twist; 2],
}

/// A frame at exp(ξ) of another: its twist at its origin, world axes, is [D Q; 0 D] ξ̇, which is R Jr(ξ) ξ̇.
#[derive(Clone, Copy, Debug)]
struct Lever {
    origin: Vector3<f64>,
    D: Matrix3<f64>,
    Q: Matrix3<f64>,
}

impl Lever {
    fn new(xi: &Twist, pose: &Pose) -> Lever {
        let (D, Q) = right_jacobian_blocks(xi);
        let R = pose.rotation_matrix();
        Lever { origin: pose.position, D: R * D, Q: R * Q }
    }

    /// The twist at a point, world axes, that ξ̇ makes.
    #[inline(always)]
    fn twist(&self, rate: &Twist, point: &Vector3<f64>) -> Twist {
        let angular = self.D * rate.angular;
        let linear = self.D * rate.linear + self.Q * rate.angular;
        Twist { linear: linear + angular.cross(&(point - self.origin)), angular }
    }

    /// What a wrench at a point, world axes, does along ξ.
    #[inline(always)]
    fn pull(&self, w: &Wrench, point: &Vector3<f64>) -> [f64; 6] {
        let torque = w.torque + (point - self.origin).cross(&w.force);
        let force = self.D.tr_mul(&w.force);
        let turn = self.Q.tr_mul(&w.force) + self.D.tr_mul(&torque);
        [force.x, force.y, force.z, turn.x, turn.y, turn.z]
    }
}

/// The maps of a component in a step.
#[derive(Clone, Debug)]
struct Maps {
    /// Which factors the rows are for.
    of: Option<u64>,
    /// L⁻¹ of the rows of B, then of S on a free base, with room for six numbers more in each row there.
    rows: Vec<f64>,
    wide: usize,
    /// How many rows of B there are.
    sway: usize,
    /// Products of B and S with ż and ż⁺.
    moved: [Vec<f64>; 2],
    /// What carries the links, at the start of the step and at its end: a twist, world axes, about a point.
    carried: [(Twist, Vector3<f64>); 2],
    whole: Option<Whole>,
}

/// A free base in a step: how the base sways, and M_bb⁻¹ = HᵀH with H = diag(1/√m, half): world axes, about the centre.
#[derive(Clone, Copy, Debug)]
struct Whole {
    sway: Lever,
    center: Vector3<f64>,
    light: f64,
    half: Matrix3<f64>,
}

impl Maps {
    const NONE: Maps = Maps {
        of: None,
        rows: Vec::new(),
        wide: 0,
        sway: 0,
        moved: [Vec::new(), Vec::new()],
        carried: [(Twist::ZERO, Vector3::new(0.0, 0.0, 0.0)); 2],
        whole: None,
    };

    /// For the factors of A that a component has.
    fn halve(&mut self, part: &Moving, component: &Component) {
        let n = part.motion.size();
        let sway = part.floating.as_ref().map_or(&[][..], |floating| &floating.sway);
        let six = if part.floating.is_some() { 6 } else { 0 };
        self.of = Some(part.motion.version());
        self.wide = padded(n + six);
        self.sway = component.motion.nrows();
        self.moved.iter_mut().for_each(|moved| moved.resize(part.moved.len(), 0.0));
        self.rows.clear();
        let rows = part.effector_rows.chunks_exact(n.max(1)).chain(sway.chunks_exact(n.max(1)));
        for row in rows {
            let first = self.rows.len();
            self.rows.extend_from_slice(row);
            cholesky::forward(part.motion.factors(), n, &mut self.rows[first..]);
            self.rows.resize(first + self.wide, 0.0);
        }
    }

    /// For the rates that a component has.
    fn prepare(&mut self, part: &Moving, component: &Component) {
        if self.of != Some(part.motion.version()) {
            self.halve(part, component);
        }
        let motion = &part.motion;
        for (x, moved) in [&motion.rate, &motion.next].into_iter().zip(&mut self.moved) {
            combine(x, &part.columns, moved);
        }
        self.whole = part.floating.as_ref().map(|floating| {
            let (light, half) = floating.half_mobility();
            let sway = Lever::new(&-twist_at(&part.moved, self.sway), &part.base);
            Whole { sway, center: floating.center(), light, half }
        });
    }
}

internal! {
    name: "linear",
    mechanism: model.reference.mechanism,
    touch: Some,
    bounded: [],
    fill: [fill],
    pose: |simulation, body| simulation.link_pose(body),
}

impl Touch for Simulation {
    /// The first effector on a body, if it moves.
    fn touch(&self, body: BodyId) -> Option<usize> {
        let on =
            |e: &(super::model::Effector, Pose)| e.0.frame.body == body && e.0.component < self.parts.len();
        self.effectors.iter().position(on)
    }

    fn part_of(&self, touch: usize) -> usize {
        self.effectors[touch].0.component
    }

    fn part_count(&self) -> usize {
        self.parts.len()
    }

    fn touch_pose(&self, touch: usize) -> Pose {
        let (effector, pose) = &self.effectors[touch];
        *pose * effector.frame.frame.inverse()
    }

    fn solve_free(&mut self, h: f64) -> Result<(), StepError> {
        self.solve_step(h)?;
        let Answers { effectors, parts, .. } = &mut self.answers;
        parts.resize(self.parts.len(), Maps::NONE);
        effectors.clear();
        for ((part, maps), component) in self.parts.iter().zip(parts.iter_mut()).zip(&self.model.components) {
            maps.prepare(part, component);
            maps.carried = match &part.floating {
                None => [
                    (self.base_twist, self.base.position),
                    (self.inputs.base_twist, self.inputs.base.position),
                ],
                Some(floating) => {
                    let (force, torque) = part.motion.rigid;
                    let none = Vector3::zeros();
                    [floating.after(&none, &none), floating.after(&(force * h), &(torque * h))]
                }
            };
        }
        for (effector, pose) in &self.effectors {
            let origin = (*pose * effector.frame.frame.inverse()).position;
            let Some(maps) = parts.get(effector.component) else {
                // Welded to the world: it is never used.
                let lever = Lever::new(&Twist::ZERO, pose);
                effectors.push(Reach { origin, lever, twists: [Twist::ZERO; 2] });
                continue;
            };
            let lever = Lever::new(&twist_at(&self.parts[effector.component].moved, effector.row), pose);
            let twists = [0, 1].map(|k| {
                let (base, about) = &maps.carried[k];
                let linear = base.linear + base.angular.cross(&(origin - about));
                let of_base = Twist { linear, angular: base.angular };
                let of_sway = maps.whole.as_ref().map_or(Twist::ZERO, |whole| {
                    whole.sway.twist(&twist_at(&maps.moved[k], maps.sway), &origin)
                });
                of_base - of_sway + lever.twist(&twist_at(&maps.moved[k], effector.row), &origin)
            });
            effectors.push(Reach { origin, lever, twists });
        }
        Ok(())
    }

    fn touch_twist(&self, touch: usize) -> Twist {
        self.answers.effectors[touch].twists[0]
    }

    fn free_twist(&self, touch: usize, _: f64) -> Twist {
        self.answers.effectors[touch].twists[1]
    }

    fn respond(&mut self, _: f64, component: usize, pushes: &[Push], out: &mut [f64]) {
        let mut X = std::mem::take(&mut self.answers.rows);
        X.clear();
        X.resize(3 * pushes.len() * self.answers.parts[component].wide, 0.0);
        respond(self, component, pushes, &mut X, out);
        self.answers.rows = X;
    }

    fn attempt(&mut self, h: f64, impulses: &[(usize, Wrench)]) -> Result<(), StepError> {
        for c in 0..self.parts.len() {
            let n = self.parts[c].motion.size();
            let mut pushed = std::mem::take(&mut self.answers.rows);
            pushed.clear();
            pushed.resize(self.answers.parts[c].wide, 0.0);
            if push(self, c, impulses, &mut pushed) {
                let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
                if let Some(whole) = &self.answers.parts[c].whole {
                    for (touch, w) in impulses.iter().filter(|(t, _)| self.part_of(*t) == c) {
                        let arm = self.answers.effectors[*touch].origin - whole.center;
                        force += w.force;
                        torque += w.torque + arm.cross(&w.force);
                    }
                }
                let motion = &mut self.parts[c].motion;
                motion.hit(&pushed[..n]);
                motion.rigid.0 += force / h;
                motion.rigid.1 += torque / h;
            }
            self.answers.rows = pushed;
        }
        self.attempt_step(h)
    }

    fn take(&mut self, h: f64) {
        self.take_step(h);
        self.rebuild();
    }
}

wide! {
    /// W = XXᵀ of pushes on one component, X = GL⁻ᵀ.
    fn respond, respond_lanes(
        simulation: &Simulation, component: usize, pushes: &[Push], X: &mut [f64], out: &mut [f64]
    )
}

#[inline(always)]
fn respond_lanes<const FUSED: bool>(
    simulation: &Simulation,
    component: usize,
    pushes: &[Push],
    X: &mut [f64],
    out: &mut [f64],
) {
    let rows = pushes.iter().flat_map(|push| push.rows.iter().map(|row| (push.touch, row)));
    let wide = simulation.answers.parts[component].wide;
    for ((touch, row), x) in rows.zip(X.chunks_exact_mut(wide.max(1))) {
        project::<FUSED>(simulation, touch, &Wrench::from_vector(row), x);
    }
    square::<FUSED>(X, out, 3 * pushes.len());
}

wide! {
    /// Adds L⁻¹Gᵀ of impulses on one component; whether there is any.
    fn push, push_lanes(
        simulation: &Simulation, component: usize, impulses: &[(usize, Wrench)], into: &mut [f64]
    ) -> bool
}

#[inline(always)]
fn push_lanes<const FUSED: bool>(
    simulation: &Simulation,
    component: usize,
    impulses: &[(usize, Wrench)],
    into: &mut [f64],
) -> bool {
    let mut any = false;
    for (touch, w) in impulses.iter().filter(|(t, _)| simulation.part_of(*t) == component) {
        project::<FUSED>(simulation, *touch, w, into);
        any = true;
    }
    any
}

/// Adds a row of L⁻¹Gᵀ, and on a free base the six numbers of H(f, τ): W is the sum of both squares.
#[inline(always)]
fn project<const FUSED: bool>(simulation: &Simulation, touch: usize, w: &Wrench, into: &mut [f64]) {
    let effector = &simulation.effectors[touch].0;
    let reach = &simulation.answers.effectors[touch];
    let maps = &simulation.answers.parts[effector.component];
    let n = simulation.parts[effector.component].motion.size();
    if n > 0 {
        let own = reach.lever.pull(w, &reach.origin);
        add_rows::<FUSED, 6>(&own, &maps.rows[effector.row * maps.wide..], into);
    }
    let Some(whole) = &maps.whole else { return };
    if n > 0 {
        let sway = whole.sway.pull(w, &reach.origin).map(|x| -x);
        add_rows::<FUSED, 6>(&sway, &maps.rows[maps.sway * maps.wide..], into);
    }
    let torque = w.torque + (reach.origin - whole.center).cross(&w.force);
    let (force, turn) = (w.force * whole.light, whole.half * torque);
    for i in 0..3 {
        into[n + i] += force[i];
        into[n + 3 + i] += turn[i];
    }
}
