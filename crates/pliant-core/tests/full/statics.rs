//! Claim: statics finds the minimum of elastic energy, weight and loads over all poses that the joints allow,
//! and the damped simulation comes to rest there; trees and loops, with joints turned by more than 1 rad.
//!
//! The oracle shares nothing with the engine but the joints' own X(θ), θ(X) and C(X): it minimises over the
//! coordinates of the spanning tree, with forward kinematics, closures of the loop joints as constraints, and
//! derivatives by finite differences.

use crate::common::{FRAME, apart, come_to_rest, edited};
use pliant_core::engine::Simulation as _;
use pliant_core::engine::State;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{LIMIT_STIFFNESS, LIMIT_STIFFNESS_TRANSLATION, Model};
use pliant_core::gallery;
use pliant_core::joints::JointKind;
use pliant_core::mechanism::{
    Body, Freedom, JointDescription, JointId, Mechanism, MechanismBuilder, PerFreedom, WORLD,
};
use pliant_core::nalgebra::{DMatrix, DVector, Vector3};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

struct Oracle<'m> {
    mechanism: &'m Mechanism,
    /// Scale of the scene's loads.
    scale: f64,
    /// Tree joints with the place of their coordinates among the unknowns.
    tree: Vec<(JointId, usize)>,
    unknowns: usize,
    /// Joints that close loops.
    loops: Vec<JointId>,
}

impl<'m> Oracle<'m> {
    fn new(mechanism: &'m Mechanism, scale: f64) -> Oracle<'m> {
        let order = mechanism.order();
        let mut unknowns = 0;
        let tree = (order.bodies().iter())
            .map(|b| {
                let joint = order.tree_joint_of(*b).expect("no free base");
                let first = unknowns;
                unknowns += mechanism[joint].kind.freedoms();
                (joint, first)
            })
            .collect();
        Oracle { mechanism, scale, tree, unknowns, loops: order.loop_joints().to_vec() }
    }

    /// Forward kinematics, parents first.
    fn poses(&self, q: &DVector<f64>) -> Vec<Pose> {
        let mut poses = vec![Pose::identity(); self.mechanism.bodies().len()];
        for &(id, first) in &self.tree {
            let joint = &self.mechanism[id];
            let parent = joint.parent.map_or(Pose::identity(), |b| poses[b.index()]);
            let X = joint.kind.transform(&q.as_slice()[first..first + joint.kind.freedoms()]);
            poses[joint.child.index()] = parent
                * self.mechanism.frame_in_parent(&self.mechanism[id])
                * X
                * self.mechanism.frame_in_child(&self.mechanism[id]).inverse();
        }
        poses
    }

    /// Energy, and the closures of the loop joints.
    fn energy(&self, q: &DVector<f64>) -> (f64, DVector<f64>) {
        let m = self.mechanism;
        let poses = self.poses(q);
        let mut energy = 0.0;
        for (body, pose) in m.bodies().iter().zip(&poses) {
            energy -=
                body.inertia.mass * m.gravity().dot(&pose.transform_point(&body.inertia.center_of_mass));
        }
        for load in m.loads() {
            let effector = &m[load.effector];
            let at = poses[effector.body.index()] * effector.frame;
            energy -= self.scale * load.wrench.force.dot(&at.position);
        }
        for &(id, first) in &self.tree {
            let joint = &m[id];
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                energy += spring(freedom, q[first + k], k < joint.kind.translations());
            }
        }
        let mut closures = Vec::new();
        for &id in &self.loops {
            let joint = &m[id];
            let parent = joint.parent.map_or(Pose::identity(), |b| poses[b.index()]);
            let outer = parent * m.frame_in_parent(joint);
            let X = outer.inverse_times(&(poses[joint.child.index()] * m.frame_in_child(joint)));
            let d = joint.kind.freedoms();
            let angles = joint.kind.coordinates(&X, &vec![0.0; d]);
            let residual = joint.kind.residual(&X, &angles.as_slice()[..d]);
            closures.extend_from_slice(&residual.as_slice()[..6 - d]);
            for (k, freedom) in joint.freedoms.iter().enumerate() {
                energy += spring(freedom, angles[k], k < joint.kind.translations());
            }
        }
        (energy, DVector::from_vec(closures))
    }

    /// ∂/∂q of energy and closures, by the central difference of fourth order.
    fn slopes(&self, q: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let h = 1e-3;
        let rows = self.energy(q).1.len();
        let (mut g, mut J) = (DVector::zeros(self.unknowns), DMatrix::zeros(rows, self.unknowns));
        for k in 0..self.unknowns {
            let at = |t: f64| {
                let mut q = q.clone();
                q[k] += t;
                self.energy(&q)
            };
            let [(a, ca), (b, cb), (c, cc), (d, cd)] = [at(-2.0 * h), at(-h), at(h), at(2.0 * h)];
            g[k] = (a - d + 8.0 * (c - b)) / (12.0 * h);
            J.set_column(k, &((ca - cd + (cc - cb) * 8.0) / (12.0 * h)));
        }
        (g, J)
    }

    /// The constrained minimum, by Newton's method on energy + μ·closures.
    fn minimum(&self) -> DVector<f64> {
        let n = self.unknowns;
        let mut q = DVector::zeros(n);
        let mut multipliers = DVector::zeros(self.energy(&q).1.len());
        let rows = multipliers.len();
        for _ in 0..60 {
            let (g, J) = self.slopes(&q);
            let closures = self.energy(&q).1;
            // Hessian of the Lagrangian, by differences of its gradient.
            let h = 1e-4;
            let gradient = |q: &DVector<f64>| {
                let (g, J) = self.slopes(q);
                g + J.transpose() * &multipliers
            };
            let mut H = DMatrix::zeros(n, n);
            for k in 0..n {
                let (mut up, mut down) = (q.clone(), q.clone());
                up[k] += h;
                down[k] -= h;
                H.set_column(k, &((gradient(&up) - gradient(&down)) / (2.0 * h)));
            }
            H = (&H + H.transpose()) * 0.5;
            // Convex along the motions that the loops allow, raised if it is not.
            let free = null_space(&J, n);
            let along = free.transpose() * &H * &free;
            let lowest = along.symmetric_eigenvalues().min();
            if lowest < 1e-3 * H.amax() {
                H += DMatrix::identity(n, n) * (1e-3 * H.amax() - lowest);
            }
            let mut K = DMatrix::zeros(n + rows, n + rows);
            K.view_mut((0, 0), (n, n)).copy_from(&H);
            K.view_mut((0, n), (n, rows)).copy_from(&J.transpose());
            K.view_mut((n, 0), (rows, n)).copy_from(&J);
            let mut right = DVector::zeros(n + rows);
            right.rows_mut(0, n).copy_from(&-&g);
            right.rows_mut(n, rows).copy_from(&-&closures);
            let x = K.svd(true, true).solve(&right, 1e-9).unwrap();
            let step = x.rows(0, n).into_owned();
            let scale = (0.3 / step.amax()).min(1.0);
            q += &step * scale;
            multipliers = x.rows(n, rows).into_owned();
            if step.amax() < 1e-12 {
                break;
            }
        }
        q
    }
}

/// ½k(q − rest)² and the one-sided spring of a limit.
fn spring(freedom: &Freedom, q: f64, translates: bool) -> f64 {
    let limit = if translates { LIMIT_STIFFNESS_TRANSLATION } else { LIMIT_STIFFNESS };
    let beyond = (q - freedom.upper).max(freedom.lower - q).max(0.0);
    0.5 * freedom.stiffness * (q - freedom.rest).powi(2) + 0.5 * limit * beyond * beyond
}

/// Columns that span the motions J x = 0.
fn null_space(J: &DMatrix<f64>, n: usize) -> DMatrix<f64> {
    if J.nrows() == 0 {
        return DMatrix::identity(n, n);
    }
    let eigen = (J.transpose() * J).symmetric_eigen();
    let largest = eigen.eigenvalues.max();
    let columns: Vec<_> = (0..n)
        .filter(|&k| eigen.eigenvalues[k] < 1e-12 * largest)
        .map(|k| eigen.eigenvectors.column(k).into_owned())
        .collect();
    DMatrix::from_columns(&columns)
}

/// Statics, the minimum of energy and the simulation at rest: one pose.
fn agree(name: &str, scale: f64, turned_at_least: f64) {
    agree_on(&gallery::build(name).unwrap(), scale, turned_at_least);
}

fn agree_on(mechanism: &Mechanism, scale: f64, turned_at_least: f64) {
    let name = mechanism.name();
    let model = Model::new(mechanism);
    let mut statics = model.simulate();
    for load in mechanism.loads() {
        assert_eq!(load.wrench.torque.norm(), 0.0, "a dead torque has no energy");
        statics.set_load(load.effector, Wrench { force: load.wrench.force * scale, ..load.wrench }).unwrap();
    }
    let mut moving = statics.clone();
    let equilibrium = statics.settle(&StaticsSettings::default()).unwrap();
    assert!(equilibrium.converged && equilibrium.stable, "{name}: {equilibrium:?}");

    let oracle = Oracle::new(mechanism, scale);
    let q = oracle.minimum();
    let mut least = State::at_rest(mechanism);
    least.poses = oracle.poses(&q);
    let to_energy = apart(mechanism, &least, statics.state());
    let steps = come_to_rest(&mut moving, FRAME, 6000);
    let to_rest = apart(mechanism, moving.state(), statics.state());
    // In the oracle's tree and in the state alike.
    let turned = q.amax().min(statics.state().coordinates.iter().fold(0.0, |m, q| q.abs().max(m)));
    println!(
        "{name} × {scale}: energy {to_energy:.1e}, rest {to_rest:.1e} radii after {steps} steps, \
         turned {turned:.2}, {} iterations, {} load steps",
        equilibrium.iterations, equilibrium.load_steps
    );
    // Differences of energy of 1e-4 in the loops' Hessian, and a rest at 1e-11 radii a second.
    assert!(to_energy < 1e-9, "{name}: {to_energy:e}");
    assert!(to_rest < 1e-10, "{name}: {to_rest:e}");
    assert!(turned > turned_at_least, "{name}: {turned}");

    // A minimum: every pose nearby that keeps the closures has more energy.
    let (energy, _) = oracle.energy(&q);
    let (_, J) = oracle.slopes(&q);
    let free = null_space(&J, oracle.unknowns);
    for k in 0..free.ncols() {
        for sign in [1.0, -1.0] {
            let mut near = &q + free.column(k) * (sign * 0.02);
            for _ in 0..5 {
                let closures = oracle.energy(&near).1;
                if closures.is_empty() {
                    break;
                }
                let (_, J) = oracle.slopes(&near);
                near -= J.svd(true, true).solve(&closures, 1e-9).unwrap();
            }
            assert!(oracle.energy(&near).0 > energy, "{name}: freedom {k} goes down");
        }
    }
}

/// A mechanism with all its springs of one stiffness.
fn softened(name: &str, stiffness: f64) -> Mechanism {
    edited(&gallery::build(name).unwrap(), |joint| {
        joint.stiffness = joint.stiffness.take().map(|_| PerFreedom::All(stiffness));
    })
}

#[test]
fn y_settles_at_the_minimum_of_energy() {
    agree("y", 1.0, 0.0);
    agree_on(&softened("y", 40.0), 3.0, 1.0);
}

#[test]
fn two_link_settles_at_the_minimum_of_energy() {
    agree("two-link", 1.0, 0.0);
    agree("two-link", 10.0, 1.0);
}

#[test]
fn helix_settles_at_the_minimum_of_energy() {
    agree("helix:50", 1.0, 0.0);
    // A weak joint in every turn; all weak, it has several equilibria.
    let mut number = 0;
    let weak = edited(&gallery::helix(50), |joint| {
        joint.stiffness = Some(PerFreedom::All(if number % 12 == 10 { 1.0 } else { 200.0 }));
        number += 1;
    });
    agree_on(&weak, 1.0, 1.0);
}

#[test]
fn hand_settles_at_the_minimum_of_energy() {
    agree("hand", 1.0, 0.0);
    // The index bent down by 20 N.
    agree_on(&softened("hand", 0.1), -10.0, 1.0);
}

#[test]
fn rungs_settle_at_the_minimum_of_energy() {
    agree("rungs:24", 1.0, 0.0);
    agree("rungs:24", 40.0, 0.1);
    agree_on(&softened("rungs:24", 5.0), 3.0, 1.0);
}

#[test]
fn loops_settle_at_the_minimum_of_energy() {
    agree("loop", 1.0, 0.0);
    agree("loop", 20.0, 0.3);
    agree_on(&softened("loop", 8.0), 1.0, 1.0);
}

/// A long chain is so soft that its tip moves almost freely; but all its joints are sprung, so it is held.
#[test]
fn a_long_sprung_chain_is_held() {
    let mechanism = gallery::build("chain:1000").unwrap();
    let model = Model::new(&mechanism);
    for part in [1.0 / 128.0, 1.0 / 32.0, 1.0] {
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0, 0.0, -9.81 * part]).unwrap();
        let equilibrium = simulation.settle(&StaticsSettings::default()).unwrap();
        assert!(equilibrium.converged && equilibrium.stable, "{part}: {equilibrium:?}");
    }
}

/// A chain along x whose joints all start at one of their limits: gravity presses every other joint against its
/// own and turns the rest away. The oracle is the plane's trigonometry: the moment of all that a joint carries is
/// what spring and limit apply.
#[test]
fn joints_that_start_at_their_limits_settle_at_once() {
    let (links, length, mass, k) = (20, 0.05, 0.02, 2.0);
    let mut builder = MechanismBuilder::new("fingers");
    for i in 0..links {
        let (name, at) = (format!("link {i}"), i as f64 * length);
        let inertia = SpatialInertia::of_box(mass, [length, 0.01, 0.01]);
        builder.body(
            Body::new(name.as_str(), Pose::translation([at + 0.5 * length, 0.0, 0.0])).inertia(inertia),
        );
        let parent = if i == 0 { WORLD.to_string() } else { format!("link {}", i - 1) };
        let joint = JointDescription::new(format!("joint {i}"), JointKind::Hinge, parent, name);
        // Turning about y takes x to −z, as gravity does.
        let frame = Pose::with_z_along(Vector3::y(), Vector3::new(at, 0.0, 0.0));
        let limits = if i % 2 == 0 { (-1.0, 0.0) } else { (0.0, 1.0) };
        builder.joint(joint.frame(frame).stiffness(k).limits(limits));
    }
    let mechanism = builder.build().unwrap();
    let model = Model::new(&mechanism);
    for scale in [1.0 / 64.0, 1.0, 4.0] {
        let g = 9.81 * scale;
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0, 0.0, -g]).unwrap();
        let found = simulation.settle(&StaticsSettings::default()).unwrap();
        println!("gravity times {scale}: {found:?}");
        assert!(found.converged && found.stable && found.load_steps == 1 && found.iterations <= 12);
        let q = &simulation.state().coordinates;
        let (mut at, mut turned) = (0.0, 0.0);
        let mut joints = Vec::new();
        let mut centers = Vec::new();
        for angle in q {
            turned += angle;
            joints.push(at);
            centers.push(at + 0.5 * length * f64::cos(turned));
            at += length * f64::cos(turned);
        }
        for (i, angle) in q.iter().enumerate() {
            let moment: f64 = centers[i..].iter().map(|x| mass * g * (x - joints[i])).sum();
            let beyond = if i % 2 == 0 { angle.max(0.0) } else { angle.min(0.0) };
            let held = k * angle + LIMIT_STIFFNESS * beyond;
            // Coordinates are good to rounding, which the limit makes 1e5 times as much of.
            assert!((held - moment).abs() < 1e-9 * (1.0 + g), "joint {i}: {held} against {moment}");
            assert_eq!(beyond > 0.0, i % 2 == 0, "joint {i}");
        }
    }
}

/// A table on three legs in a plane, held by one spring, the top of the middle leg off by so much, m.
fn three_legs(off: f64) -> Mechanism {
    let mut builder = MechanismBuilder::new("three legs");
    builder.gravity([0.0; 3]);
    let hinge = |name: &str, parent: &str, child: &str, x: f64, z: f64| {
        JointDescription::new(name, JointKind::Hinge, parent, child)
            .axis(Vector3::new(x, 0.0, z), Vector3::y())
    };
    let inertia = SpatialInertia::of_box(1.0, [0.05; 3]);
    for (leg, x) in [("a", 0.0), ("b", 0.2), ("c", 0.4)] {
        builder.body(Body::new(leg, Pose::translation([x, 0.0, 0.15])).inertia(inertia));
        let foot = hinge(&format!("foot {leg}"), WORLD, leg, x, 0.0);
        builder.joint(if leg == "a" { foot.stiffness(10.0) } else { foot });
    }
    builder.body(Body::new("top", Pose::translation([0.2, 0.0, 0.3])).inertia(inertia));
    for (leg, x) in [("a", 0.0), ("b", 0.2 + off), ("c", 0.4)] {
        builder.joint(hinge(&format!("head {leg}"), leg, "top", x, 0.3));
    }
    builder.build().unwrap()
}

/// Closures that repeat each other but for digits count once: three parallel legs of one length swing, also if one is
/// another by some digits. If it is another by more, nothing can move, as turning by θ opens it by δθ. Newton's soft rows
/// alone would take δ⁻² iterations.
#[test]
fn closures_that_almost_repeat_each_other_hold() {
    let tolerance = StaticsSettings::default().tolerance;
    for off in [0.0, 1e-4, 1e-5, -1e-6, 1e-3, -2e-3, 1e-2] {
        let mechanism = three_legs(off);
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        let top = mechanism.find_body("top").unwrap();
        let force = 10.0;
        simulation.inputs_mut().set_body_load(top, Wrench::force([force, 0.0, 0.0])).unwrap();
        let found = simulation.settle(&StaticsSettings::default()).unwrap();
        println!("{off:e}: {found:?}");
        assert!(found.converged && found.load_steps == 1 && found.iterations < 100, "{off}: {found:?}");
        let turn =
            simulation.state().coordinates_of(&mechanism, mechanism.find_joint("foot a").unwrap()).unwrap()
                [0];
        if off.abs() < 5e-4 {
            // k θ = F l cos θ, and what the digits are of the table's size.
            let left = 10.0 * turn - force * 0.3 * turn.cos();
            assert!(left.abs() < 1e-7 + 10.0 * off.abs(), "{off}: {turn}");
        } else {
            // Closures may stay open by the tolerance, of a size of about 0.3 m.
            assert!(turn.abs() < tolerance / off.abs(), "{off}: {turn}");
        }
    }
}
