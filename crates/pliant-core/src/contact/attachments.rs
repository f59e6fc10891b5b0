//! Bodies that are held: fixed to effectors as if they were part of the mechanism, until they are let go.
//!
//! Each effector that holds a body adds six rows, that the two move as one. With c the rows of contact and b those:
//!
//! ```text
//! u_b = b_b + W_bb λ_b + W_bc λ_c = 0
//! W = W_cc − W_cb W_bb⁻¹ W_bc,   b = b_c − W_cb W_bb⁻¹ b_b,   λ_b = −W_bb⁻¹ (b_b + W_bc λ_c)
//! ```
//!
//! So what is held together answers to contact as one thing, in one block of equations after all others; λ_b follows. The
//! first effector carries the body: after a step the body is put where that is. To the others it is drawn back within a
//! step, as the joints of loops are in the full engine. Rows in which nothing can move, or that others imply, are left out.

use nalgebra::Vector3;

use super::delassus::{Equations, Side};
use super::free_body::FreeBody;
use crate::algebra::dense::pivoted_cholesky;
use crate::engine::touch::{Push, Touch};
use crate::mechanism::BodyId;
use crate::spatial::{Pose, Twist, Wrench};

/// Numbers of contacts from here on are held rows, three each.
const HELD: usize = usize::MAX / 2;

/// Pivots of W_bb below this, of its largest, are rounding.
const RANK: f64 = 1e-10;

/// An effector that holds a body.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub body: usize,
    pub simulation: usize,
    /// The link that holds, and what the engine touches it by.
    pub link: BodyId,
    pub touch: usize,
    /// The effector and the body in the frame of the link.
    pub effector: Pose,
    pub offset: Pose,
    /// Whether it carries the body: the first of its effectors.
    pub carries: bool,
    /// Blocks of equations of the body and of the link.
    parts: [usize; 2],
    /// Mean force and torque on the body over the last step, world axes, at the world's origin.
    pub wrench: Wrench,
    /// Where the rows of the step act, and how long the arm of their torques is, m.
    point: Vector3<f64>,
    arm: f64,
}

impl Hold {
    pub fn new(
        body: usize,
        simulation: usize,
        link: BodyId,
        touch: usize,
        effector: Pose,
        offset: Pose,
    ) -> Hold {
        Hold {
            body,
            simulation,
            link,
            touch,
            effector,
            offset,
            carries: false,
            parts: [0; 2],
            wrench: Wrench::ZERO,
            point: Vector3::zeros(),
            arm: 0.0,
        }
    }
}

/// All that is held, with memory that is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachments {
    /// Those of one group stand together.
    pub holds: Vec<Hold>,
    groups: Vec<Group>,
}

/// What is held together.
#[derive(Clone, Debug, Default)]
struct Group {
    holds: std::ops::Range<usize>,
    /// Blocks of equations, and what each of their pushes is of.
    parts: Vec<usize>,
    members: Vec<usize>,
    /// b_b, and λ_b.
    free: Vec<f64>,
    impulses: Vec<f64>,
    /// W_bb, and its factors: their rows in this order, as many as the rank. What is left of its diagonal.
    own: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    rank: usize,
    left: Vec<f64>,
    /// W_bc, and L⁻¹W_bc and L⁻¹b_b in that order.
    coupled: Vec<f64>,
    halved: Vec<f64>,
    halved_free: Vec<f64>,
}

impl Attachments {
    /// Finds what hangs together, with the blocks of equations as they are now.
    pub fn regroup(&mut self, first_part: &[usize], first_body: usize, simulations: &[Box<dyn Touch>]) {
        let mut labels: Vec<usize> = (0..self.holds.len()).collect();
        for hold in &mut self.holds {
            let part = first_part[hold.simulation] + simulations[hold.simulation].part_of(hold.touch);
            hold.parts = [first_body + hold.body, part];
        }
        for i in 0..self.holds.len() {
            for k in 0..i {
                let shared = self.holds[i].parts.iter().any(|part| self.holds[k].parts.contains(part));
                if shared && labels[i] != labels[k] {
                    let (old, new) = (labels[i].max(labels[k]), labels[i].min(labels[k]));
                    labels.iter_mut().filter(|label| **label == old).for_each(|label| *label = new);
                }
            }
        }
        // The order of attaching is kept within a group.
        let mut order: Vec<usize> = (0..self.holds.len()).collect();
        order.sort_by_key(|i| labels[*i]);
        self.holds = order.iter().map(|i| self.holds[*i].clone()).collect();
        for i in 0..self.holds.len() {
            let body = self.holds[i].body;
            self.holds[i].carries = self.holds[..i].iter().all(|other| other.body != body);
        }
        self.groups.clear();
        let mut at = 0;
        for group in order.chunk_by(|a, b| labels[*a] == labels[*b]) {
            let holds = at..at + group.len();
            at = holds.end;
            let mut parts: Vec<usize> = self.holds[holds.clone()].iter().flat_map(|h| h.parts).collect();
            parts.sort_unstable();
            parts.dedup();
            self.groups.push(Group { holds, parts, ..Group::default() });
        }
    }

    /// How many blocks of equations there are besides those of what moves on its own.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Puts bodies where what carries them is.
    pub fn carry(&self, simulations: &[Box<dyn Touch>], bodies: &mut [FreeBody]) {
        for hold in self.holds.iter().filter(|hold| hold.carries) {
            bodies[hold.body].carry(simulations[hold.simulation].touch_pose(hold.touch) * hold.offset);
        }
    }

    /// Writes the rows of a step of h seconds: pushes into the equations, after those of contact, and b_b.
    pub fn write(
        &mut self,
        simulations: &[Box<dyn Touch>],
        bodies: &[FreeBody],
        h: f64,
        equations: &mut Equations,
    ) {
        for group in &mut self.groups {
            group.free.clear();
            for (place, hold) in self.holds[group.holds.clone()].iter_mut().enumerate() {
                let (body, simulation) = (&bodies[hold.body], &simulations[hold.simulation]);
                let (at, link) = (body.pose(), simulation.touch_pose(hold.touch));
                hold.point = link.transform_point(&hold.effector.position);
                hold.arm = body.gyration();
                for (side, sign, pose, touch) in [(0, 1.0, &at, 0), (1, -1.0, &link, hold.touch)] {
                    let lever = hold.point - pose.position;
                    for half in 0..2 {
                        let rows = [Vector3::x(), Vector3::y(), Vector3::z()].map(|d| {
                            let (force, torque) = if half == 0 {
                                (d, lever.cross(&d))
                            } else {
                                (Vector3::zeros(), d * hold.arm)
                            };
                            Wrench { force: force * sign, torque: torque * sign }.to_vector()
                        });
                        equations.push(hold.parts[side], HELD + 2 * place + half, Push { touch, rows });
                    }
                }
                let velocity = |twist: &Twist, pose: &Pose| {
                    twist.linear + twist.angular.cross(&(hold.point - pose.position))
                };
                let (one, two) = (body.free_twist(), simulation.free_twist(hold.touch, h));
                let mut linear = velocity(&one, &at) - velocity(&two, &link);
                let mut angular = one.angular - two.angular;
                if !hold.carries {
                    // How far the body is from where this effector has it.
                    let wanted = link * hold.offset;
                    let held = wanted.inverse_times(&Pose::new(Default::default(), hold.point)).position;
                    linear -= (hold.point - at.transform_point(&held)) / h;
                    angular -= (wanted.rotation * at.rotation.inverse()).scaled_axis() / h;
                }
                group.free.extend_from_slice(linear.as_slice());
                group.free.extend_from_slice((angular * hold.arm).as_slice());
            }
        }
    }

    /// Makes one block of equations of each group, in those that come last; contacts go there.
    pub fn fold(&mut self, equations: &mut Equations) {
        let first = equations.parts.len() - self.groups.len();
        for (g, group) in self.groups.iter_mut().enumerate() {
            group.gather(equations, first + g);
            group.factor();
            group.eliminate(equations, first + g);
        }
    }

    /// Once contact is solved: impulses of all that is held, into the blocks of equations they came from.
    pub fn unfold(&mut self, equations: &mut Equations) {
        let first = equations.parts.len() - self.groups.len();
        for (g, group) in self.groups.iter_mut().enumerate() {
            group.solve(&equations.parts[first + g].impulses);
            group.hand_out(equations, first + g);
        }
    }

    /// Before a step is taken: what holds push with in it, nothing yet.
    pub fn forget(&mut self) {
        self.holds.iter_mut().for_each(|hold| hold.wrench = Wrench::ZERO);
    }

    /// Once a piece of a step of dt seconds is taken: what holds pushed with, over dt.
    pub fn tell(&mut self, dt: f64) {
        for group in &self.groups {
            for (hold, x) in self.holds[group.holds.clone()].iter_mut().zip(group.impulses.chunks_exact(6)) {
                let force = Vector3::new(x[0], x[1], x[2]) / dt;
                let torque = Vector3::new(x[3], x[4], x[5]) * (hold.arm / dt);
                hold.wrench = hold.wrench + Wrench { force, torque: torque + hold.point.cross(&force) };
            }
        }
    }
}

impl Group {
    /// W_bb, W_bc and W_cc, this into the block that stands for all.
    fn gather(&mut self, equations: &mut Equations, into: usize) {
        let n = self.free.len();
        self.members.clear();
        let mut whole = std::mem::take(&mut equations.parts[into]);
        let is_contact = |c: &&usize| **c < HELD;
        let m = 3
            * (self.parts.iter())
                .map(|p| equations.parts[*p].contacts.iter().filter(is_contact).count())
                .sum::<usize>();
        for (list, size) in [(&mut self.own, n * n), (&mut self.coupled, n * m), (&mut whole.matrix, m * m)] {
            list.clear();
            list.resize(size, 0.0);
        }
        for &p in &self.parts {
            let part = &equations.parts[p];
            let (wide, at) = (3 * part.contacts.len(), whole.contacts.len());
            let own = part.contacts.iter().filter(is_contact).count();
            for (i, &one) in part.contacts.iter().enumerate() {
                for (k, &two) in part.contacts.iter().enumerate() {
                    let (list, to) = match (one.checked_sub(HELD), two.checked_sub(HELD)) {
                        (Some(i), Some(k)) => (&mut self.own, (3 * i, 3 * k, n)),
                        (Some(i), None) => (&mut self.coupled, (3 * i, 3 * (at + k), m)),
                        (None, None) => (&mut whole.matrix, (3 * (at + i), 3 * (at + k), m)),
                        (None, Some(_)) => continue,
                    };
                    for (a, b) in (0..9).map(|x| (x / 3, x % 3)) {
                        list[(to.0 + a) * to.2 + to.1 + b] += part.matrix[(3 * i + a) * wide + 3 * k + b];
                    }
                }
            }
            for (place, &c) in part.contacts[..own].iter().enumerate() {
                for side in &mut equations.meetings[c].sides {
                    if *side == (Side { part: p, place }) {
                        *side = Side { part: into, place: at + place };
                    }
                }
            }
            whole.pushes.extend_from_slice(&part.pushes[..own]);
            whole.contacts.extend_from_slice(&part.contacts[..own]);
            self.members.append(&mut equations.parts[p].contacts);
        }
        equations.parts[into] = whole;
    }

    /// W_bb = L Lᵀ, the largest pivot first, until there is none left.
    fn factor(&mut self) {
        let n = self.free.len();
        self.order.resize(n, 0);
        self.left.resize(n, 0.0);
        self.factors.resize(n * n, 0.0);
        let (L, left, order) = (&mut self.factors, &mut self.left, &mut self.order);
        self.rank = pivoted_cholesky::factor::<false>(&self.own, n, RANK, L, left, order);
    }

    /// W_cc −= (L⁻¹W_bc)ᵀ(L⁻¹W_bc), b_c −= (L⁻¹W_bc)ᵀ(L⁻¹b_b).
    fn eliminate(&mut self, equations: &mut Equations, into: usize) {
        let (n, r) = (self.free.len(), self.rank);
        let whole = &mut equations.parts[into];
        let m = 3 * whole.contacts.len();
        self.halved.clear();
        self.halved_free.clear();
        for i in 0..r {
            let from = self.order[i];
            let row = &self.factors[from * n..][..i + 1];
            let mut y = self.free[from];
            (0..i).for_each(|k| y -= row[k] * self.halved_free[k]);
            self.halved_free.push(y / row[i]);
            self.halved.extend_from_slice(&self.coupled[from * m..(from + 1) * m]);
            let (above, own) = self.halved.split_at_mut(i * m);
            for k in 0..i {
                own.iter_mut().zip(&above[k * m..(k + 1) * m]).for_each(|(x, y)| *x -= row[k] * y);
            }
            own.iter_mut().for_each(|x| *x /= row[i]);
            for a in 0..m {
                let factor = own[a];
                let to = &mut whole.matrix[a * m..(a + 1) * m];
                to.iter_mut().zip(own.iter()).for_each(|(w, x)| *w -= factor * x);
            }
            for (place, &c) in whole.contacts.iter().enumerate() {
                let free = &mut equations.meetings[c].free;
                (0..3).for_each(|a| free[a] -= own[3 * place + a] * self.halved_free[i]);
            }
        }
    }

    /// λ_b = −L⁻ᵀ(L⁻¹b_b + L⁻¹W_bc λ_c).
    fn solve(&mut self, contact: &[f64]) {
        let (n, r, m) = (self.free.len(), self.rank, contact.len());
        self.impulses.clear();
        self.impulses.resize(n, 0.0);
        for i in 0..r {
            let row = &self.halved[i * m..(i + 1) * m];
            self.halved_free[i] += row.iter().zip(contact).map(|(y, x)| y * x).sum::<f64>();
        }
        for i in (0..r).rev() {
            let row = &self.factors[self.order[i] * n..][..i + 1];
            let x = self.halved_free[i] / row[i];
            (0..i).for_each(|k| self.halved_free[k] -= row[k] * x);
            self.impulses[self.order[i]] = -x;
        }
    }

    /// Impulses of contact and of holds, to the blocks of equations they came from.
    fn hand_out(&self, equations: &mut Equations, from: usize) {
        let whole = std::mem::take(&mut equations.parts[from]);
        let (mut of_contact, mut members) = (whole.impulses.chunks_exact(3), self.members.iter());
        for &p in &self.parts {
            let part = &mut equations.parts[p];
            part.impulses.clear();
            for &c in members.by_ref().take(part.pushes.len()) {
                let impulse = match c.checked_sub(HELD) {
                    Some(row) => &self.impulses[3 * row..3 * row + 3],
                    None => of_contact.next().unwrap_or(&[0.0; 3]),
                };
                part.impulses.extend_from_slice(impulse);
            }
        }
        equations.parts[from] = whole;
    }
}
