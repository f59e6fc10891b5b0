//! The engine's own blocks, as a dense matrix and as its fronts, for the tests of this folder.

mod dynamics_blocks;
mod solving;
mod statics_blocks;

use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Vector3, Vector6};

use super::DEFAULT_ITERATIONS;
use super::assembly::{Geometric, STATIC_SOFTNESS, Scene, Scheme};
use super::frames::{self, Frame, NodeLoad};
use super::model::{ABSENT, Constants, Item, Joint, Model};
use super::simulation::Simulation;
use super::step::scheme as dynamics;
use crate::algebra::elimination::{Assemble, Numeric};
use crate::engine::State;
use crate::engine::{Inputs, Simulation as _, Spring, StaticsSettings};
use crate::expression::Formula;
use crate::gallery::{self, Passive, RandomOptions, random};
use crate::joints::JointKind;
use crate::mechanism::{Body, CouplingDescription, JointDescription, Mechanism, MechanismBuilder};
use crate::numbers::splitmix64;
use crate::spatial::{Pose, SpatialInertia, Twist, Wrench, exp_rotation};

/// A small generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        splitmix64(&mut self.0) as f64 / u64::MAX as f64 * 2.0 - 1.0
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
    model: &'m Constants,
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
    row_softness: STATIC_SOFTNESS,
    geometric: Geometric::Everywhere,
    equilibrium: true,
};

impl<'m> Setup<'m> {
    fn new(model: &'m Constants, numbers: &mut Random, scheme: Scheme, h: f64) -> Setup<'m> {
        let mechanism = &model.mechanism;
        let mut inputs = Inputs::new(mechanism);
        inputs.add_scene_loads();
        let somewhere = |numbers: &mut Random| {
            let b = (mechanism.bodies().len() as f64 * 0.5 * (1.0 + numbers.signed())) as usize;
            mechanism.body_id(b.min(mechanism.bodies().len() - 1))
        };
        inputs
            .set_base(numbers.pose(0.01, 0.1), Twist::new(numbers.vector(0.3), numbers.vector(0.3)))
            .unwrap();
        let load = Wrench::new(numbers.vector(20.0), numbers.vector(2.0));
        inputs.set_body_load(somewhere(numbers), load).unwrap();
        let body = somewhere(numbers);
        let pull = Spring {
            body,
            frame: numbers.pose(0.05, 1.0),
            target: mechanism[body].pose * numbers.pose(0.1, 0.5),
            target_twist: Twist::new(numbers.vector(0.3), numbers.vector(0.3)),
            stiffness: 300.0,
            turning_stiffness: 40.0,
            damping: 5.0,
            turning_damping: 2.0,
        };
        inputs.add_spring(pull).unwrap();
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

    /// Where a simulation is.
    fn of(model: &'m Constants, simulation: &mut Simulation, scheme: Scheme, h: f64) -> Setup<'m> {
        let (inputs, state) = (simulation.inputs().clone(), simulation.state().clone());
        let multipliers = state.multipliers.clone();
        let mut setup =
            Setup { model, inputs, state, frames: Vec::new(), loads: Vec::new(), scheme, multipliers };
        setup.load(h);
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
            laws: &self.inputs.laws,
            loads: &self.loads,
            state,
            multipliers: &self.multipliers,
            scheme: &self.scheme,
            load_scale: 1.0,
            ahead: &[],
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
                    Item::Joint { joint, child, parent, rows, .. } => {
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

    /// The solution as a step finds it, and the count of negative pivots.
    fn solved(&self) -> (DVector<f64>, usize) {
        let plan = &self.model.plan;
        let mut numeric = Numeric::new(plan);
        let mut x = vec![0.0; plan.unknowns()];
        let scene = self.scene(&self.state, &self.frames);
        numeric.carry_and_solve(plan, &mut x, scene).unwrap();
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
        Some(kind) => vec![kind.clone()],
    };
    for k in 0..JointKind::ALL.len() + 4 {
        for loops in [0.0, 0.4] {
            let options = RandomOptions {
                bodies,
                loops,
                kinds: kinds(k),
                loop_kinds: if k < JointKind::ALL.len() { vec![JointKind::ALL[k].clone()] } else { kinds(k) },
                free_bases: k % 3 == 2,
                passive: Passive::InLoops,
                ..RandomOptions::default()
            };
            list.push(random(100 + k as u64, &options));
        }
    }
    for (seed, loops) in [(200, 0.0), (201, 0.4)] {
        let options = RandomOptions { bodies, loops, kinds: formulas(), ..RandomOptions::default() };
        list.push(random(seed, &options));
    }
    list.extend((0..3).map(|seed| coupled(seed, bodies)));
    list
}

/// Whether some joint is a formula.
fn has_formulas(mechanism: &Mechanism) -> bool {
    mechanism.joints().iter().any(|joint| matches!(joint.kind, JointKind::Expression(_)))
}

/// Joints that are formulas: with lengths, with angles that move the frame, and both.
fn formulas() -> Vec<JointKind> {
    let torus = ["ring1", "tube1", "ring2", "tube2"].into_iter().zip([0.2, 0.05, 0.15, 0.04]);
    let torus = torus.fold(Formula::ready("torus-torus").unwrap(), |f, (name, x)| f.parameter(name, x));
    let screw = Formula::ready("screw").unwrap().parameter("pitch", 0.3);
    let curve =
        Formula::new("translate(s, s ^ 2, 0.1 * sin(s)) * rotate([0, s, 1], a)").length("s").angle("a");
    [torus, screw, curve].map(|formula| JointKind::from(formula.compile().unwrap())).to_vec()
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

impl Setup<'_> {
    /// The derivative of each coordinate by all motions, with the freedom it belongs to.
    fn coordinate_rows(&self) -> Vec<(DVector<f64>, crate::engine::laws::Law)> {
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
                list.push((row, self.inputs.laws[joint.coordinate + k]));
            }
        }
        list
    }

    /// Whether a finite difference would meet the corner of a limit.
    fn is_near_a_limit(&self) -> bool {
        self.model.joints.iter().any(|joint| {
            let q = self.coordinates(joint, &self.frames);
            (0..joint.kind.freedoms()).any(|k| {
                let freedom = &self.inputs.laws[joint.coordinate + k];
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
