//! The equations of motion of a spanning forest, dense and written apart from the library's recursion: body
//! Jacobians by products of adjoints, their rates by finite differences along the motion, M = Σ JᵀIJ.
//!
//! Speeds are those of the articulated engine: rates of coordinates, but angular velocity for the turns of balls and
//! bushings and the body twist of free bases.

use pliant_core::articulated::Model;
use pliant_core::engine::Inputs;
use pliant_core::engine::State;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{BodyId, EffectorId, Mechanism};
use pliant_core::nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3};
use pliant_core::spatial::{Pose, Twist, Wrench, exp, exp_rotation, right_jacobian_rotation};

/// Random numbers between −1 and 1 (xorshift64*).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    pub fn list(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A state with coordinates up to 1 rad or 0.1 m and rates up to 2 per second; free bases anywhere. Its poses and
/// twists are not filled but for those of free bases.
pub fn random_state(mechanism: &Mechanism, numbers: &mut Numbers) -> State {
    let mut state = State::at_rest(mechanism);
    for (j, joint) in mechanism.joints().iter().enumerate() {
        for (k, at) in mechanism.joints()[j].coordinates().enumerate() {
            let reach = if k < joint.kind.translations() { 0.1 } else { 1.0 };
            state.coordinates[at] = reach * numbers.next();
            state.rates[at] = 2.0 * numbers.next();
        }
    }
    for (b, body) in mechanism.bodies().iter().enumerate().filter(|(_, body)| body.free) {
        let turn = exp_rotation(&(numbers.vector() * 2.0));
        state.poses[b] = Pose::new(turn, body.pose.position + numbers.vector());
        state.twists[b] = Twist::new(numbers.vector(), numbers.vector() * 2.0);
    }
    state
}

/// A tree joint or free base on its way.
struct Moving {
    /// The child's joint frame in the parent's; a free base's link frame in the world.
    X: Pose,
    /// Motion per speed, in the child's joint frame.
    S: DMatrix<f64>,
}

/// The forest at a state.
pub struct Forest<'m> {
    pub model: &'m Model,
    pub mechanism: &'m Mechanism,
    pub state: State,
    pub speeds: DVector<f64>,
    pub gravity: Vector3<f64>,
}

/// f′(0) by the central difference of sixth order; see `common::derivative`.
fn slope<T>(f: impl Fn(f64) -> T) -> T
where
    T: std::ops::Sub<Output = T> + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let h = 0.005;
    let odd = |k: f64| f(k * h) - f(-k * h);
    (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) * (1.0 / (60.0 * h))
}

fn dense(M: &Matrix6<f64>) -> DMatrix<f64> {
    DMatrix::from_column_slice(6, 6, M.as_slice())
}

impl<'m> Forest<'m> {
    pub fn new(model: &'m Model, state: &State) -> Forest<'m> {
        let mechanism = model.mechanism();
        let mut forest = Forest {
            model,
            mechanism,
            state: state.clone(),
            speeds: DVector::zeros(model.speeds()),
            gravity: mechanism.gravity(),
        };
        for &body in mechanism.order().bodies() {
            let Some(range) = model.speeds_of(body).unwrap() else { continue };
            let u: Vec<f64> = match mechanism.order().tree_joint_of(body) {
                None => state.twists[body.index()].to_vector().as_slice().to_vec(),
                Some(joint) => {
                    let at = mechanism[joint].coordinates();
                    let (q, mut u) = (&state.coordinates[at.clone()], state.rates[at].to_vec());
                    if let Some(first) = first_turn(&mechanism[joint].kind) {
                        let J = right_jacobian_rotation(&Vector3::from_column_slice(&q[first..]));
                        let w = J * Vector3::from_column_slice(&u[first..]);
                        u[first..].copy_from_slice(w.as_slice());
                    }
                    u
                }
            };
            forest.speeds.rows_mut(range.start, range.len()).copy_from_slice(&u);
        }
        forest
    }

    fn speeds_of(&self, body: BodyId) -> Vec<f64> {
        self.speeds.as_slice()[self.model.speeds_of(body).unwrap().expect("a node's head")].to_vec()
    }

    /// The tree joint of a body after moving with `u` for t seconds.
    fn moving(&self, body: BodyId, u: &[f64], t: f64) -> Moving {
        let Some(joint) = self.mechanism.order().tree_joint_of(body) else {
            let X = self.state.poses[body.index()] * exp(&(Twist::from_vector(&six(u)) * t));
            return Moving { X, S: DMatrix::identity(6, 6) };
        };
        let kind = &self.mechanism[joint].kind;
        let d = kind.freedoms();
        let q = &self.state.coordinates[self.mechanism[joint].coordinates()];
        match first_turn(kind) {
            None => {
                let q: Vec<f64> = q.iter().zip(u).map(|(q, u)| q + t * u).collect();
                let S = dense(&kind.subspace(&q)).columns(0, d).into_owned();
                Moving { X: kind.transform(&q), S }
            }
            Some(first) => {
                let mut X = kind.transform(q);
                X.rotation *= exp_rotation(&(Vector3::from_column_slice(&u[first..]) * t));
                let mut S = DMatrix::zeros(6, d);
                S.view_mut((3, first), (3, 3)).copy_from(&Matrix3::identity());
                if first == 3 {
                    X.position += Vector3::new(u[0], u[1], u[2]) * t;
                    S.view_mut((0, 0), (3, 3)).copy_from(&X.rotation_matrix().transpose());
                }
                Moving { X, S }
            }
        }
    }

    /// Pose of each body and twist per speed (body axes, link frame) after t seconds at constant speeds.
    pub fn jacobians(&self, t: f64) -> (Vec<Pose>, Vec<DMatrix<f64>>) {
        let count = self.mechanism.bodies().len();
        let mut poses = vec![Pose::identity(); count];
        let mut jacobians = vec![DMatrix::zeros(6, self.model.speeds()); count];
        for &body in self.mechanism.order().bodies() {
            let b = body.index();
            let Some(joint) = self.mechanism.order().tree_joint_of(body) else {
                let range = self.model.speeds_of(body).unwrap().expect("a free base");
                poses[b] = self.moving(body, &self.speeds_of(body), t).X;
                jacobians[b].view_mut((0, range.start), (6, 6)).fill_with_identity();
                continue;
            };
            let own = &self.mechanism[joint];
            let parent = own.parent;
            let (in_parent, in_child) =
                (self.mechanism.frame_in_parent(own), self.mechanism.frame_in_child(own));
            let outer = parent.map_or(self.state.base, |p| poses[p.index()]);
            let mut moved = Moving { X: Pose::identity(), S: DMatrix::zeros(6, 0) };
            let range = self.model.speeds_of(body).unwrap();
            if range.is_some() {
                moved = self.moving(body, &self.speeds_of(body), t);
            }
            let relative = in_parent * moved.X * in_child.inverse();
            poses[b] = outer * relative;
            let mut J = match parent {
                Some(p) => dense(&relative.inverse().adjoint()) * &jacobians[p.index()],
                None => DMatrix::zeros(6, self.model.speeds()),
            };
            if let Some(range) = range {
                let own = dense(&in_child.adjoint()) * moved.S;
                J.columns_mut(range.start, range.len()).copy_from(&own);
            }
            jacobians[b] = J;
        }
        (poses, jacobians)
    }

    /// Mass matrix with rotors, and what is left of the forces when the speeds do not change: M u̇ = rest.
    pub fn equations(
        &self,
        inputs: &Inputs,
        loads: &[(BodyId, Pose, Wrench)],
    ) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.model.speeds();
        let (mut M, mut rest) = (DMatrix::zeros(n, n), DVector::zeros(n));
        let (poses, jacobians) = self.jacobians(0.0);
        for (b, body) in self.mechanism.bodies().iter().enumerate() {
            let J = &jacobians[b];
            let I = dense(&body.inertia.matrix());
            let rate = slope(|t| self.jacobians(t).1.swap_remove(b));
            let xi = J * &self.speeds;
            let twist = Twist::from_vector(&six(xi.as_slice()));
            let gyro = twist.bracket_transpose(&body.inertia.momentum(&twist)).to_vector();
            let g = poses[b].rotation.inverse() * self.gravity;
            let weight = &I * DVector::from_column_slice(&[g.x, g.y, g.z, 0.0, 0.0, 0.0]);
            M += J.transpose() * &I * J;
            rest += J.transpose()
                * (DVector::from_column_slice(gyro.as_slice()) + weight - &I * rate * &self.speeds);
        }
        for (body, frame, wrench) in loads {
            let at = poses[body.index()] * *frame;
            let Rt = at.rotation.inverse();
            let local = frame.wrench_to_outer(&Wrench::new(Rt * wrench.force, Rt * wrench.torque));
            rest += jacobians[body.index()].transpose()
                * DVector::from_column_slice(local.to_vector().as_slice());
        }
        self.joint_forces(inputs, &mut M, &mut rest);
        (M, rest)
    }

    /// Springs, dampers and rotors along coordinates θ: Jθᵀ(k(θ₀ − θ) − dθ̇ − a J̇θu), JθᵀaJθ; by differences of θ(X).
    fn joint_forces(&self, inputs: &Inputs, M: &mut DMatrix<f64>, rest: &mut DVector<f64>) {
        for &body in self.mechanism.order().bodies() {
            let (Some(range), Some(joint)) =
                (self.model.speeds_of(body).unwrap(), self.mechanism.order().tree_joint_of(body))
            else {
                continue;
            };
            let at = self.mechanism[joint].coordinates();
            let (kind, q) = (&self.mechanism[joint].kind, &self.state.coordinates[at.clone()]);
            let u = self.speeds_of(body);
            let d = u.len();
            // θ̇ per speed, after moving for t seconds.
            let jacobian = |t: f64| -> DMatrix<f64> {
                let here = self.moving(body, &u, t);
                let S = here.S;
                DMatrix::from_fn(d, d, |i, k| {
                    let mut twist = six(S.column(k).as_slice());
                    twist *= 1.0;
                    let step = Twist::from_vector(&twist);
                    slope(|s| kind.coordinates(&(here.X * exp(&(step * s))), q)[i])
                })
            };
            let J = jacobian(0.0);
            let rates = &J * DVector::from_column_slice(&u);
            let change = slope(jacobian) * DVector::from_column_slice(&u);
            for (k, freedom) in self.mechanism[joint].freedoms.iter().enumerate() {
                let force = freedom.stiffness * (inputs.rest()[at.start + k] - q[k])
                    - freedom.damping * rates[k]
                    - freedom.armature * change[k];
                for i in 0..d {
                    rest[range.start + i] += J[(k, i)] * force;
                    for l in 0..d {
                        M[(range.start + i, range.start + l)] += J[(k, i)] * freedom.armature * J[(k, l)];
                    }
                }
            }
        }
    }
}

/// Where the turns of a ball or bushing start among its coordinates.
fn first_turn(kind: &JointKind) -> Option<usize> {
    match kind {
        JointKind::Ball => Some(0),
        JointKind::Bushing => Some(3),
        _ => None,
    }
}

fn six(x: &[f64]) -> pliant_core::nalgebra::Vector6<f64> {
    pliant_core::nalgebra::Vector6::from_column_slice(x)
}

/// The loads of a scene, as `Forest::equations` takes them.
pub fn scene_loads(mechanism: &Mechanism) -> Vec<(BodyId, Pose, Wrench)> {
    let place = |e: EffectorId| (mechanism[e].body, mechanism[e].frame);
    mechanism
        .loads()
        .iter()
        .map(|load| (place(load.effector).0, place(load.effector).1, load.wrench))
        .collect()
}
