//! Claims: every block that is assembled is the derivative that it stands for, by finite differences of
//! the forces and of the coordinates, for every kind of joint, couplings, pulls and dead loads off the
//! centre of mass; and the elimination of the fronts solves the matrix that they add up to.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3, Vector6};

use super::LIMIT_STIFFNESS;
use super::assembly::{Geometric, Scene, Scheme};
use super::frames::{self, Frame, NodeLoad};
use super::model::{ABSENT, Item, Joint, Model};
use super::statics::StaticsSettings;
use crate::elimination::{Assemble, Numeric};
use crate::gallery::{self, Passive, RandomOptions, random};
use crate::inputs::{Inputs, Pull};
use crate::joints::JointKind;
use crate::mechanism::{Body, BodyId, CouplingDescription, JointDescription, Mechanism, MechanismBuilder};
use crate::spatial::{Pose, SpatialInertia, Twist, Wrench, exp_rotation};
use crate::state::State;

/// A small generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed()) * size
    }

    fn pose(&mut self, position: f64, angle: f64) -> Pose {
        Pose::new(exp_rotation(&self.vector(angle)), self.vector(position))
    }
}

/// A mechanism with everything that acts on it, somewhere off its joints' manifolds.
struct Setup<'m> {
    model: &'m Model<'m>,
    inputs: Inputs,
    state: State,
    frames: Vec<Frame>,
    loads: Vec<NodeLoad>,
    scheme: Scheme,
    /// Constraint forces that geometric stiffness is made of.
    multipliers: Vec<f64>,
}

const STATICS: Scheme = Scheme {
    mass: 0.3,
    stiffness: 1.0,
    damping: 0.0,
    force: 1.0,
    closing: 1.0,
    augment: [20.0, 700.0],
    geometric: Geometric::Everywhere,
    equilibrium: true,
};

fn dynamics(h: f64) -> Scheme {
    Scheme {
        mass: 1.0,
        stiffness: h * h,
        damping: h,
        force: h,
        closing: 1.0 / h,
        augment: [0.0; 2],
        geometric: Geometric::WhereNeeded,
        equilibrium: false,
    }
}

impl<'m> Setup<'m> {
    fn new(model: &'m Model<'m>, numbers: &mut Random, scheme: Scheme, h: f64) -> Setup<'m> {
        let mechanism = model.mechanism;
        let mut inputs = Inputs::new(mechanism);
        inputs.set_scene_loads(mechanism);
        let somewhere = |numbers: &mut Random| {
            let b = (mechanism.bodies().len() as f64 * 0.5 * (1.0 + numbers.signed())) as usize;
            BodyId::from_index(b.min(mechanism.bodies().len() - 1))
        };
        inputs
            .set_base(numbers.pose(0.01, 0.1), Twist::new(numbers.vector(0.3), numbers.vector(0.3)))
            .unwrap();
        let load = Wrench::new(numbers.vector(20.0), numbers.vector(2.0));
        inputs.set_body_load(somewhere(numbers), load).unwrap();
        let body = somewhere(numbers);
        let pull = Pull {
            body,
            frame: numbers.pose(0.05, 1.0),
            target: mechanism.body(body).pose * numbers.pose(0.1, 0.5),
            target_twist: Twist::new(numbers.vector(0.3), numbers.vector(0.3)),
            stiffness: 300.0,
            turning_stiffness: 40.0,
            damping: 5.0,
            turning_damping: 2.0,
        };
        inputs.add_pull(pull).unwrap();
        let mut state = State::at_rest(mechanism);
        state.base = inputs.base;
        for pose in &mut state.poses {
            *pose = Pose::new(
                pose.rotation * exp_rotation(&numbers.vector(0.3)),
                pose.position + numbers.vector(0.02),
            );
        }
        for twist in &mut state.twists {
            *twist = Twist::new(numbers.vector(1.0), numbers.vector(3.0));
        }
        state.rates.iter_mut().for_each(|x| *x = numbers.signed());
        if scheme.equilibrium {
            state.multipliers.iter_mut().for_each(|x| *x = 30.0 * numbers.signed());
        }
        let multipliers = state.multipliers.clone();
        let mut setup =
            Setup { model, inputs, state, frames: Vec::new(), loads: Vec::new(), scheme, multipliers };
        setup.load(h);
        for frame in &mut setup.frames[..model.nodes.len()] {
            (frame.v, frame.w) = (numbers.vector(1.0), numbers.vector(2.0));
        }
        setup
    }

    fn load(&mut self, h: f64) {
        self.frames = vec![Frame::empty(); self.model.nodes.len() + 1];
        frames::load(self.model, &self.inputs, &self.state, h, &mut self.frames);
        frames::collect_loads(self.model, &self.inputs, &mut self.loads);
        frames::apply_loads(self.model, &self.inputs.gravity, &self.loads, 1.0, &mut self.frames);
    }

    fn scene<'s>(&'s self, state: &'s State, frames: &'s [Frame]) -> Scene<'s> {
        Scene {
            model: self.model,
            frames,
            inputs: &self.inputs,
            loads: &self.loads,
            state,
            multipliers: &self.multipliers,
            scheme: &self.scheme,
            load_scale: 1.0,
        }
    }

    /// The frames with every node moved from where it is by six numbers.
    fn moved(&self, motion: &[f64]) -> Vec<Frame> {
        let mut moved = self.frames.clone();
        for ((node, frame), x) in self.model.nodes.iter().zip(&mut moved).zip(motion.chunks(6)) {
            let (v, w) = (frame.v, frame.w);
            (frame.center0, frame.rotation0) = (frame.center, frame.pose.rotation);
            (frame.v, frame.w) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
            frame.advance(node, 1.0);
            (frame.v, frame.w) = (v, w);
        }
        frames::apply_loads(self.model, &self.inputs.gravity, &self.loads, 1.0, &mut moved);
        moved
    }

    /// Forces on the nodes, then closures, after a motion.
    fn residual(&self, motion: &[f64], state: &State) -> DVector<f64> {
        let n = self.model.nodes.len();
        let frames = self.moved(motion);
        let mut forces = vec![Default::default(); n];
        let mut closures = vec![0.0; state.multipliers.len()];
        self.scene(state, &frames).residual(&mut forces, &mut closures);
        let bodies = forces.iter().flat_map(|(f, t)| f.iter().chain(t.iter()).copied().collect::<Vec<_>>());
        DVector::from_iterator(6 * n + closures.len(), bodies.chain(closures.iter().copied()))
    }

    /// The derivative of [`Setup::residual`] by all motions.
    fn derivative(&self, state: &State) -> DMatrix<f64> {
        let n = 6 * self.model.nodes.len();
        let column = |k: usize| {
            let at = |t: f64| {
                let mut motion = vec![0.0; n];
                motion[k] = t;
                self.residual(&motion, state)
            };
            sixth_order(at)
        };
        let columns: Vec<_> = (0..n).map(column).collect();
        DMatrix::from_columns(&columns)
    }

    /// Where the solution has each of the numbers of [`Setup::residual`]; `ABSENT` for rows of joints
    /// that cannot move.
    fn unknowns(&self) -> Vec<usize> {
        let mut list: Vec<usize> = self.model.nodes.iter().flat_map(|n| n.unknown..n.unknown + 6).collect();
        let bodies = list.len();
        list.resize(bodies + self.state.multipliers.len(), ABSENT);
        for joint in &self.model.joints {
            for i in 0..6 - joint.kind.freedoms() {
                list[bodies + joint.row + i] = joint.unknown + i;
            }
        }
        for coupling in &self.model.couplings {
            list[bodies + coupling.row] = coupling.unknown;
        }
        list
    }

    /// The matrix and right-hand side that the fronts add up to.
    fn assembled(&self) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.model.plan.unknowns();
        let (mut A, mut b) = (DMatrix::zeros(n, n), DVector::zeros(n));
        self.each_entry(
            |i, j, x| {
                A[(i, j)] += x;
                if i != j {
                    A[(j, i)] += x;
                }
            },
            |i, x| b[i] += x,
        );
        (A, b)
    }

    /// Goes through the fronts' entries (upper triangle) and right-hand sides, by unknowns.
    fn each_entry(&self, mut entry: impl FnMut(usize, usize, f64), mut right: impl FnMut(usize, f64)) {
        let (model, plan) = (self.model, &self.model.plan);
        for f in 0..plan.fronts() {
            let size = plan.front_size(f).0;
            let stride = size + 1;
            let mut F = vec![0.0; size * stride];
            self.scene(&self.state, &self.frames).add_front(f, &mut F, stride, size);
            let mut unknown = vec![ABSENT; size];
            let mut name = |at: usize, first: usize, count: usize| {
                if at != ABSENT {
                    (0..count).for_each(|k| unknown[at + k] = first + k);
                }
            };
            let node = |n: Option<usize>| n.map_or(ABSENT, |n| model.nodes[n].unknown);
            for item in &model.items[model.first_item[f]..model.first_item[f + 1]] {
                match *item {
                    Item::Body { node: n } => name(0, model.nodes[n].unknown, 6),
                    Item::Joint { joint, child, parent, rows } => {
                        let joint = &model.joints[joint];
                        name(child, node(joint.child), 6);
                        name(parent, node(joint.parent), 6);
                        name(rows, joint.unknown, 6 - joint.kind.freedoms());
                    }
                    Item::Coupling { coupling, bodies, row } => {
                        let coupling = &model.couplings[coupling];
                        let ends = [coupling.joint, coupling.of].map(|j| &model.joints[j]);
                        for (at, n) in bodies.into_iter().zip(ends.iter().flat_map(|j| [j.child, j.parent])) {
                            name(at, node(n), 6);
                        }
                        name(row, coupling.unknown, 1);
                    }
                }
            }
            for i in 0..size {
                for j in i..size {
                    if F[i * stride + j] != 0.0 {
                        entry(unknown[i], unknown[j], F[i * stride + j]);
                    }
                }
                if F[i * stride + size] != 0.0 {
                    right(unknown[i], F[i * stride + size]);
                }
            }
        }
    }

    fn solved(&self) -> (DVector<f64>, usize) {
        let plan = &self.model.plan;
        let mut numeric = Numeric::new(plan);
        let mut x = vec![0.0; plan.unknowns()];
        let scene = self.scene(&self.state, &self.frames);
        numeric.factor_and_solve(plan, &mut x, scene).unwrap();
        (DVector::from_vec(x), numeric.negative_pivots())
    }
}

/// f′(0) by the central difference of sixth order: with t = 1e-3 off by 1e-18 of the seventh derivative,
/// and by 1e-13 of f for rounding.
fn sixth_order(f: impl Fn(f64) -> DVector<f64>) -> DVector<f64> {
    let t = 1e-3;
    let odd = |k: f64| f(k * t) - f(-k * t);
    (odd(1.0) * 45.0 - odd(2.0) * 9.0 + odd(3.0)) / (60.0 * t)
}

/// Random mechanisms: all joints of one kind, for each kind; then all kinds together; trees and loops.
fn mechanisms(bodies: usize) -> Vec<Mechanism> {
    let mut list = Vec::new();
    let kinds = |k: usize| match JointKind::ALL.get(k) {
        Some(JointKind::Fixed) | None => JointKind::ALL.to_vec(),
        Some(kind) => vec![*kind],
    };
    for k in 0..JointKind::ALL.len() + 4 {
        for loops in [0.0, 0.4] {
            let options = RandomOptions {
                bodies,
                loops,
                kinds: kinds(k),
                loop_kinds: if k < JointKind::ALL.len() { vec![JointKind::ALL[k]] } else { kinds(k) },
                free_bases: k % 3 == 2,
                passive: Passive::InLoops,
                ..RandomOptions::default()
            };
            list.push(random(100 + k as u64, &options));
        }
    }
    list.extend((0..3).map(|seed| coupled(seed, bodies)));
    list
}

/// A random tree of hinges and sliders, every one coupled to one before it.
fn coupled(seed: u64, bodies: usize) -> Mechanism {
    let mut numbers = Random(seed);
    let mut builder = MechanismBuilder::new("coupled");
    for i in 0..bodies {
        let name = format!("body{i}");
        let mut inertia = SpatialInertia::of_box(1.0 + 0.5 * numbers.signed(), [0.1, 0.2, 0.15]);
        inertia.center_of_mass = numbers.vector(0.05);
        let at = Vector3::new(0.2 * i as f64, 0.0, 0.0);
        builder.body(Body::new(&name, Pose::new(exp_rotation(&numbers.vector(1.0)), at)).inertia(inertia));
        let kind = if i % 2 == 0 { JointKind::Hinge } else { JointKind::Prismatic };
        let parent = match i {
            0 => "world".to_string(),
            _ => format!("body{}", if numbers.signed() > 0.0 { i - 1 } else { i / 2 }),
        };
        let frame = Pose::new(exp_rotation(&numbers.vector(1.0)), at + numbers.vector(0.1));
        let joint = JointDescription::new(format!("joint{i}"), kind, parent, &name).frame(frame);
        builder.joint(joint.stiffness(100.0).damping(1.0));
        if i > 0 {
            builder.coupling(CouplingDescription {
                joint: format!("joint{i}"),
                of: format!("joint{}", i / 2),
                ratio: 0.7 + 0.3 * numbers.signed(),
                offset: 0.05 * numbers.signed(),
            });
        }
    }
    builder.build().unwrap()
}

fn dense_block(A: &DMatrix<f64>, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns.len(), |i, j| A[(rows[i], columns[j])])
}

/// Statics: the matrix is minus the symmetric part of the force derivative, plus the pseudo-mass and the
/// augmentation σJᵀJ; the rows are the derivative of the closures and of the forces by the multipliers.
#[test]
fn statics_blocks_are_the_derivatives_of_the_forces() {
    let (mut worst, mut worst_row, mut count) = (0.0f64, 0.0f64, 0);
    for (seed, mechanism) in mechanisms(7).iter().enumerate() {
        let model = Model::new(mechanism);
        let setup = Setup::new(&model, &mut Random(seed as u64), STATICS, 0.0);
        if setup.is_near_a_limit() {
            continue;
        }
        count += 1;
        let n = 6 * model.nodes.len();
        let unknowns = setup.unknowns();
        let (bodies, rows) = unknowns.split_at(n);
        let (A, b) = setup.assembled();
        let D = setup.derivative(&setup.state);
        let still = setup.residual(&vec![0.0; n], &setup.state);

        let force = D.rows(0, n);
        let mut K = (force + force.transpose()) * -0.5;
        let mut right = still.rows(0, n).into_owned();
        for (k, node) in model.nodes.iter().enumerate() {
            let frame = &setup.frames[k];
            for i in 0..3 {
                K[(6 * k + i, 6 * k + i)] += STATICS.mass * node.mass;
                for j in 0..3 {
                    K[(6 * k + 3 + i, 6 * k + 3 + j)] += STATICS.mass * frame.inertia[(i, j)];
                }
            }
        }
        // Rotors count as pseudo-mass too: their weight comes with the coordinate rows.
        let mut coordinates = setup.coordinate_rows();
        for (row, freedom) in &mut coordinates {
            K += &*row * row.transpose() * (STATICS.mass * freedom.armature);
        }
        let first_coupling = setup.state.multipliers.len() - mechanism.couplings().len();
        for (i, &unknown) in rows.iter().enumerate().filter(|(_, u)| **u != ABSENT) {
            let J = D.row(n + i).transpose();
            // ∂force/∂λ: the forces are linear in the multipliers.
            let mut one = setup.state.clone();
            one.multipliers[i] += 1.0;
            let by_multiplier = setup.residual(&vec![0.0; n], &one).rows(0, n) - still.rows(0, n);
            let assembled = DVector::from_fn(n, |k, _| A[(bodies[k], unknown)]);
            let scale = J.amax();
            worst_row = worst_row.max((&J - &assembled).amax() / scale);
            worst_row = worst_row.max((by_multiplier - &assembled).amax() / scale);
            assert!((b[unknown] + still[n + i]).abs() <= 1e-12, "the closure is on the right");
            if i < first_coupling {
                let linear = (0..n / 6).any(|k| J.rows(6 * k, 3).amax() > 1e-9);
                let sigma = STATICS.augment[usize::from(linear)];
                K += &J * J.transpose() * sigma;
                right -= &J * (sigma * still[n + i]);
            }
        }
        let assembled = dense_block(&A, bodies, bodies);
        worst = worst.max((K - &assembled).amax() / assembled.amax());
        let b = DVector::from_fn(n, |k, _| b[bodies[k]]);
        worst = worst.max((right - &b).amax() / b.amax());
    }
    println!("blocks {worst:.1e}, rows {worst_row:.1e}");
    // Rounding of the difference quotients: 1e-16 over 1e-3, and a few terms of that.
    assert!(worst < 1e-11, "{worst:e}");
    assert!(worst_row < 1e-10, "{worst_row:e}");
    assert!(count >= 25, "{count} mechanisms");
}

/// At an equilibrium nothing is lost by symmetry: the force derivative is symmetric, whatever the joints.
#[test]
fn the_force_derivative_is_symmetric_at_an_equilibrium() {
    let mut worst = 0.0f64;
    let mut count = 0;
    for mechanism in &mechanisms(7) {
        let model = Model::new(mechanism);
        let mut simulation = model.simulate();
        // Forces only: a torque that keeps its direction in the world has no potential.
        for load in mechanism.loads() {
            simulation.set_load(load.effector, Wrench { torque: Vector3::zeros(), ..load.wrench }).unwrap();
        }
        let Ok(equilibrium) = simulation.settle(&StaticsSettings::default()) else { continue };
        if !equilibrium.converged {
            continue;
        }
        let mut setup = Setup {
            model: &model,
            inputs: simulation.inputs().clone(),
            state: simulation.state().clone(),
            frames: Vec::new(),
            loads: Vec::new(),
            scheme: STATICS,
            multipliers: simulation.state().multipliers.clone(),
        };
        setup.load(0.0);
        if setup.is_near_a_limit() {
            continue;
        }
        count += 1;
        let n = 6 * model.nodes.len();
        let D = setup.derivative(&setup.state);
        let force = D.rows(0, n);
        worst = worst.max((force - force.transpose()).amax() / force.amax());
    }
    println!("antisymmetric part {worst:.1e} over {count} equilibria");
    // What is left over of the forces, 1e-14 to 1e-9 of the largest, and rounding as above.
    assert!(worst < 1e-9, "{worst:e}");
    assert!(count >= 15, "{count} equilibria");
}

impl Setup<'_> {
    /// The derivative of each coordinate by all motions, with the freedom it belongs to.
    fn coordinate_rows(&self) -> Vec<(DVector<f64>, crate::mechanism::Freedom)> {
        let n = 6 * self.model.nodes.len();
        let mut list = Vec::new();
        for joint in &self.model.joints {
            let d = joint.kind.freedoms();
            let mut rows = vec![DVector::zeros(n); d];
            for node in joint.child.into_iter().chain(joint.parent) {
                for k in 0..6 {
                    let at = |t: f64| {
                        let mut motion = vec![0.0; n];
                        motion[6 * node + k] = t;
                        let q = self.coordinates(joint, &self.moved(&motion));
                        DVector::from_column_slice(&q.as_slice()[..d])
                    };
                    let slope = sixth_order(at);
                    (0..d).for_each(|i| rows[i][6 * node + k] = slope[i]);
                }
            }
            for (k, row) in rows.into_iter().enumerate() {
                list.push((row, self.model.freedoms[joint.coordinate + k]));
            }
        }
        list
    }

    /// Whether a finite difference would meet the corner of a limit.
    fn is_near_a_limit(&self) -> bool {
        self.model.joints.iter().any(|joint| {
            let q = self.coordinates(joint, &self.frames);
            (0..joint.kind.freedoms()).any(|k| {
                let freedom = &self.model.freedoms[joint.coordinate + k];
                [freedom.lower, freedom.upper].iter().any(|bound| (q[k] - bound).abs() < 0.01)
            })
        })
    }

    /// θ(X) from the poses alone.
    fn coordinates(&self, joint: &Joint, frames: &[Frame]) -> Vector6<f64> {
        let pose = |n: Option<usize>| frames[n.unwrap_or(self.model.nodes.len())].pose;
        let outer = pose(joint.parent) * joint.in_parent;
        let X = outer.inverse_times(&(pose(joint.child) * joint.in_child));
        joint.kind.coordinates(
            &X,
            &self.state.coordinates[joint.coordinate..joint.coordinate + joint.kind.freedoms()],
        )
    }
}

/// Dynamics: M + Σ (h²k + hd + a) ∂θᵀ∂θ on the bodies, with ∂θ the finite difference of the coordinates;
/// the right-hand side M(v₀ − v) + h f, in which the damper's rate is ∂θ v.
#[test]
fn dynamics_blocks_are_mass_damping_and_stiffness() {
    let h = 1.0 / 60.0;
    let mut worst = 0.0f64;
    for (seed, mechanism) in mechanisms(7).iter().enumerate() {
        let model = Model::new(mechanism);
        let mut setup = Setup::new(&model, &mut Random(seed as u64), dynamics(h), h);
        // Half of the mechanisms under tension that needs geometric stiffness.
        let tension = if seed % 2 == 0 { 0.0 } else { 1e4 };
        let mut numbers = Random(seed as u64);
        setup.state.multipliers.iter_mut().for_each(|x| *x = tension * numbers.signed());
        setup.multipliers.clone_from(&setup.state.multipliers);
        let n = 6 * model.nodes.len();
        let unknowns = setup.unknowns();
        let (bodies, rows) = unknowns.split_at(n);
        let (A, b) = setup.assembled();
        let v = DVector::from_iterator(
            n,
            setup.frames[..n / 6].iter().flat_map(|f| [f.v.x, f.v.y, f.v.z, f.w.x, f.w.y, f.w.z]),
        );

        let mut expected = DMatrix::zeros(n, n);
        let mut right = DVector::zeros(n);
        for (k, node) in model.nodes.iter().enumerate() {
            let frame = &setup.frames[k];
            // The inertia of the middle of the step, and the momentum at its start, from the state.
            let (pose, twist) = (setup.state.pose(node.head), setup.state.world_twist(node.head));
            let middle = (exp_rotation(&(twist.angular * (0.5 * h))) * pose.rotation).to_rotation_matrix();
            let inertia = middle * node.inertia * middle.transpose();
            let R = pose.rotation_matrix();
            let L = R * node.inertia * R.transpose() * twist.angular;
            let v0 = twist.linear + twist.angular.cross(&(R * node.center));

            let mut M = Matrix6::zeros();
            M.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Matrix3::identity() * node.mass));
            M.fixed_view_mut::<3, 3>(3, 3).copy_from(&inertia);

            expected.view_mut((6 * k, 6 * k), (6, 6)).copy_from(&M);
            let linear = (v0 - frame.v) * node.mass + frame.force * h;
            let angular = L - inertia * frame.w + frame.torque * h;
            right.rows_mut(6 * k, 3).copy_from(&linear);
            right.rows_mut(6 * k + 3, 3).copy_from(&angular);
        }
        let base = &setup.frames[n / 6];
        let mut at = 0;
        let all = setup.coordinate_rows();
        for joint in &model.joints {
            let q = setup.coordinates(joint, &setup.frames);
            // How the base's own motion moves the coordinates.
            let with_base = |t: f64| {
                let mut frames = setup.frames.clone();
                let base = &mut frames[n / 6];
                base.pose = Pose::new(
                    exp_rotation(&(base.w * t)) * base.pose.rotation,
                    base.pose.position + base.v * t,
                );
                let q = setup.coordinates(joint, &frames);
                DVector::from_column_slice(q.as_slice())
            };
            let drift = if base.w.norm() > 0.0 { sixth_order(with_base) } else { DVector::zeros(6) };
            for k in 0..joint.kind.freedoms() {
                let (row, freedom) = &all[at];
                at += 1;
                let rate = row.dot(&v) + drift[k];
                let limit = if k < joint.kind.translations() {
                    super::LIMIT_STIFFNESS_TRANSLATION
                } else {
                    LIMIT_STIFFNESS
                };
                let mut stiffness = freedom.stiffness;
                let mut force = freedom.stiffness * (setup.inputs.rest[joint.coordinate + k] - q[k]);
                for (beyond, bound) in
                    [(q[k] > freedom.upper, freedom.upper), (q[k] < freedom.lower, freedom.lower)]
                {
                    if beyond {
                        stiffness += limit;
                        force += limit * (bound - q[k]);
                    }
                }
                force -= freedom.damping * rate;
                let rotor = freedom.armature * (setup.state.rates[joint.coordinate + k] - rate);
                let weight = h * h * stiffness + h * freedom.damping + freedom.armature;
                expected += row * row.transpose() * weight;
                right += row * (h * force + rotor);
            }
        }
        // The pull: force −k e − d ė of the frame's six displacements, e by finite differences of them.
        let pull = setup.inputs.pulls[0];
        if let Some((node, frame)) = model.frame_in_node(pull.body, pull.frame) {
            let gap = |frames: &[Frame]| {
                let at = frames[node].pose * frame;
                let e = crate::spatial::log_rotation(&(at.rotation * pull.target.rotation.inverse()));
                let x = at.position - pull.target.position;
                Vector6::new(x.x, x.y, x.z, e.x, e.y, e.z)
            };
            let x = gap(&setup.frames);
            let mut T = DMatrix::zeros(6, 6);
            for k in 0..6 {
                let at = |t: f64| {
                    let mut motion = vec![0.0; n];
                    motion[6 * node + k] = t;
                    DVector::from_column_slice(gap(&setup.moved(&motion)).as_slice())
                };
                T.set_column(k, &sixth_order(at));
            }
            // The torque −k e has the derivative −k B, B = ∂e/∂θ.
            let own = v.rows(6 * node, 6);
            let point = DVector::from_column_slice((T.rows(0, 3) * own).as_slice());
            let linear =
                (T.rows(0, 3).transpose() * T.rows(0, 3)) * (h * h * pull.stiffness + h * pull.damping);
            let B = T.view((3, 3), (3, 3)).into_owned();
            let mut K = linear;
            let turn = (&B + B.transpose()) * (0.5 * h * h * pull.turning_stiffness)
                + DMatrix::identity(3, 3) * (h * pull.turning_damping);
            let mut corner = K.view_mut((3, 3), (3, 3));
            corner += turn;
            let mut block = expected.view_mut((6 * node, 6 * node), (6, 6));
            block += K;
            let target = pull.target_twist;
            let force: DVector<f64> = DVector::from_fn(3, |i, _| {
                -pull.stiffness * x[i] + pull.damping * (target.linear[i] - point[i])
            });
            let torque = DVector::from_fn(3, |i, _| {
                -pull.turning_stiffness * x[3 + i] + pull.turning_damping * (target.angular[i] - own[3 + i])
            });
            let mut total = T.rows(0, 3).transpose() * force;
            let mut angular = total.rows_mut(3, 3);
            angular += torque;
            let mut block = right.rows_mut(6 * node, 6);
            block += total * h;
        }
        // Geometric stiffness of the constraint forces of joints with h²|λ|·lever above one.
        for joint in &model.joints {
            let range = joint.row..joint.row + 6 - joint.kind.freedoms();
            let largest = setup.state.multipliers[range.clone()].iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if h * h * largest * joint.lever > 1.0 {
                let (mut with, mut without) = (setup.state.clone(), setup.state.clone());
                without.multipliers.fill(0.0);
                with.multipliers.fill(0.0);
                with.multipliers[range.clone()].copy_from_slice(&setup.state.multipliers[range]);
                let G = setup.derivative(&with).rows(0, n) - setup.derivative(&without).rows(0, n);
                expected -= (&G + G.transpose()) * (0.5 * h * h);
            }
        }
        let assembled = dense_block(&A, bodies, bodies);
        let error = (&expected - &assembled).amax() / assembled.amax();
        let b_bodies = DVector::from_fn(n, |k, _| b[bodies[k]]);
        let error_right = (&right - &b_bodies).amax() / b_bodies.amax();
        worst = worst.max(error).max(error_right);
        // Rows: closures over h, soft against the last multiplier.
        let D = setup.derivative(&setup.state);
        let still = setup.residual(&vec![0.0; n], &setup.state);
        for (i, &unknown) in rows.iter().enumerate().filter(|(_, u)| **u != ABSENT) {
            let assembled = DVector::from_fn(n, |k, _| A[(bodies[k], unknown)]);
            worst = worst.max((D.row(n + i).transpose() - &assembled).amax() / assembled.amax());
            let soft = -A[(unknown, unknown)];
            let closing = -still[n + i] / h + soft * setup.state.multipliers[i] * h;
            assert!((b[unknown] - closing).abs() <= 1e-11, "{:e}", b[unknown] - closing);
        }
    }
    println!("dynamics {worst:.1e}");
    // Rounding of the difference quotients: 1e-13 of the coordinates, squared stiffness terms likewise.
    assert!(worst < 1e-11, "{worst:e}");
}

/// The step's elimination equals a dense LU solve of the same matrix. Rows that loops make redundant leave
/// nothing but their softness as pivot, 1e-6: one solve loses that many digits there.
#[test]
fn the_solution_equals_a_dense_one() {
    let h = 1.0 / 60.0;
    let (mut tree, mut left, mut looped, mut velocity, mut pose) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for (seed, mechanism) in mechanisms(12).iter().enumerate() {
        let model = Model::new(mechanism);
        let setup = Setup::new(&model, &mut Random(seed as u64), dynamics(h), h);
        let (A, b) = setup.assembled();
        let (x, negative) = setup.solved();
        assert_eq!(negative, model.rows, "as many negative pivots as rows");
        let oracle = dense_solve(&A, &b);
        if mechanism.order().loop_joints().is_empty() && mechanism.couplings().is_empty() {
            tree = tree.max((&x - &oracle).amax() / oracle.amax());
            left = left.max((&A * &x - &b).amax() / (A.amax() * x.amax()));
        } else {
            let bodies: Vec<usize> = model.nodes.iter().flat_map(|n| n.unknown..n.unknown + 6).collect();
            let pick = |x: &DVector<f64>| DVector::from_fn(bodies.len(), |k, _| x[bodies[k]]);
            looped = looped.max((pick(&x) - pick(&oracle)).amax() / pick(&oracle).amax());
        }

        // A whole step, the fifth under the scene's loads, with every solve dense.
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_scene_loads(mechanism);
        for _ in 0..4 {
            simulation.step(h).unwrap();
        }
        let mut setup = Setup {
            model: &model,
            inputs: simulation.inputs().clone(),
            state: simulation.state().clone(),
            frames: Vec::new(),
            loads: Vec::new(),
            scheme: dynamics(h),
            multipliers: simulation.state().multipliers.clone(),
        };
        setup.load(h);
        for _ in 0..super::DEFAULT_ITERATIONS {
            frames::apply_loads(&model, &setup.inputs.gravity, &setup.loads, 1.0, &mut setup.frames);
            let (A, b) = setup.assembled();
            let x = dense_solve(&A, &b);
            for (node, frame) in model.nodes.iter().zip(&mut setup.frames) {
                frame.v += Vector3::from_fn(|k, _| x[node.unknown + k]);
                frame.w += Vector3::from_fn(|k, _| x[node.unknown + 3 + k]);
                frame.advance(node, h);
            }
            let bodies = 6 * model.nodes.len();
            for (i, unknown) in setup.unknowns()[bodies..].iter().enumerate().filter(|(_, u)| **u != ABSENT) {
                setup.multipliers[i] = -x[*unknown] / h;
            }
        }
        simulation.step(h).unwrap();
        let fastest = simulation.state().twists.iter().map(|t| t.to_vector().amax()).fold(0.0, f64::max);
        for (node, frame) in model.nodes.iter().zip(&setup.frames) {
            let (twist, at) =
                (simulation.state().twists[node.head.index()], simulation.state().pose(node.head));
            let difference = frame.final_twist(node).to_vector() - twist.to_vector();
            velocity = velocity.max(difference.amax() / fastest);
            pose = pose.max((at.position - frame.pose.position).amax());
        }
    }
    println!("trees {tree:.1e}, residual {left:.1e}; loops, one solve {looped:.1e}");
    println!("a step: velocities {velocity:.1e}, positions {pose:.1e} m");
    assert!(tree < 1e-12, "{tree:e}");
    assert!(left < 1e-14, "{left:e}");
    assert!(looped < 1e-10, "{looped:e}");
    assert!(velocity < 1e-10, "{velocity:e}");
    assert!(pose < 1e-12, "{pose:e}");
}

/// In ordinary motion every matrix has the signs of a minimum, so that no step is solved twice.
#[test]
fn the_matrix_of_a_step_has_the_signs_of_a_minimum() {
    let h = 1.0 / 60.0;
    for name in
        ["chain", "ladder:36", "rungs:24", "loop", "hand", "gripper", "firefighters", "hexapod", "graph"]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_scene_loads(&mechanism);
        for _ in 0..30 {
            let mut setup = Setup {
                model: &model,
                inputs: simulation.inputs().clone(),
                state: simulation.state().clone(),
                frames: Vec::new(),
                loads: Vec::new(),
                scheme: dynamics(h),
                multipliers: simulation.state().multipliers.clone(),
            };
            setup.load(h);
            assert_eq!(setup.solved().1, model.rows, "{name}");
            simulation.step(h).unwrap();
        }
    }
}

/// LU with full pivoting and one step of refinement, which takes its own rounding out.
fn dense_solve(A: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let lu = A.clone().full_piv_lu();
    let x = lu.solve(b).unwrap();
    &x + lu.solve(&(b - A * &x)).unwrap()
}

/// Elimination does not lose digits along a chain of 10,000 links.
#[test]
fn a_long_chain_is_solved_to_rounding() {
    let mechanism = gallery::chain(10_000);
    let model = Model::new(&mechanism);
    let h = 1.0 / 60.0;
    let mut setup = Setup::new(&model, &mut Random(7), dynamics(h), h);
    setup.state = State::at_rest(&mechanism);
    setup.inputs = Inputs::new(&mechanism);
    setup.inputs.set_load(mechanism.find_effector("tip").unwrap(), Wrench::force([3.0, 5.0, 7.0])).unwrap();
    setup.load(h);
    let (x, _) = setup.solved();
    let n = x.len();
    let (mut Ax, mut right, mut size) =
        (DVector::<f64>::zeros(n), DVector::<f64>::zeros(n), DVector::<f64>::zeros(n));
    setup.each_entry(
        |i, j, a| {
            Ax[i] += a * x[j];
            size[i] += (a * x[j]).abs();
            if i != j {
                Ax[j] += a * x[i];
                size[j] += (a * x[i]).abs();
            }
        },
        |i, b| right[i] += b,
    );
    let relative = (0..n).map(|i| (Ax[i] - right[i]).abs()).fold(0.0, f64::max) / size.amax();
    println!("chain:10000 residual {relative:.1e}");
    assert!(relative < 1e-10, "{relative:e}");
}
