//! Steps, corrections and responses to pushes with loops, against a dense solve of the same equations by nalgebra: Jacobians of
//! nodes along the forest, wrenches of closures on them, one matrix over all speeds and rows.

use nalgebra::{DMatrix, DVector, Matrix6, Vector3, Vector6};

use super::Stuck;
use super::constants::End;
use super::schedule::Unknown;
use crate::articulated::model::{Constants, Model, Motion};
use crate::articulated::placing::place;
use crate::articulated::slot::{Six, Slot, Slots};
use crate::articulated::small::*;
use crate::articulated::step::Workspace;
use crate::articulated::sweeps::{Along, impulse};
use crate::articulated::{Simulation, loads};
use crate::engine::Simulation as _;
use crate::engine::touch::{Push, Touch};
use crate::gallery::{self, Passive, RandomOptions, random};
use crate::joints::JointKind;
use crate::mechanism::{CouplingDescription, Mechanism};
use crate::spatial::{Pose, Twist, skew};

const DT: f64 = 1.0 / 240.0;

fn six(x: &Six) -> Vector6<f64> {
    Vector6::from_row_slice(x)
}

/// X of a shift: twists from one point to one r away.
fn shift(r: &V) -> DMatrix<f64> {
    let mut X = DMatrix::identity(6, 6);
    X.fixed_view_mut::<3, 3>(0, 3).copy_from(&-skew(&Vector3::from(*r)));
    X
}

fn six_of(x: &DVector<f64>) -> Vector6<f64> {
    Vector6::from_fn(|i, _| x[i])
}

fn inertia(slot: &Slot) -> Matrix6<f64> {
    let (A, B, C) = (&slot.A, &slot.B, &slot.C);
    let sym = |S: &Sym, i: usize, k: usize| S[[[0, 1, 2], [1, 3, 4], [2, 4, 5]][i][k]];
    Matrix6::from_fn(|i, k| match (i < 3, k < 3) {
        (true, true) => sym(A, i, k),
        (true, false) => B[i][k - 3],
        (false, true) => B[k][i - 3],
        (false, false) => sym(C, i - 3, k - 3),
    })
}

/// Twists of all slots at their points: Jacobians, and what the base's motion gives.
fn jacobians(model: &Constants, work: &Slots) -> (Vec<DMatrix<f64>>, Vec<Vector6<f64>>) {
    let base = &work.slots[0];
    let mut all = vec![DMatrix::zeros(6, model.speeds)];
    let mut given = vec![six(&super::front::twist(base))];
    for (n, node) in model.nodes.iter().enumerate() {
        let X = shift(&work.slots[n + 1].r);
        let (mut J, mut known): (DMatrix<f64>, Vector6<f64>) =
            (&X * &all[node.parent], six_of(&(&X * given[node.parent])));
        match node.motion {
            Motion::Hinge => {
                let a = work.slots[n + 1].axis;
                J.set_column(node.speed, &Vector6::new(0.0, 0.0, 0.0, a[0], a[1], a[2]));
            }
            Motion::General(g) | Motion::Free(g) => {
                if matches!(node.motion, Motion::Free(_)) {
                    (J, known) = (DMatrix::zeros(6, model.speeds), Vector6::zeros());
                }
                for k in 0..model.general[g].freedoms {
                    J.set_column(node.speed + k, &six(&work.general[g].S[k]));
                }
            }
        }
        all.push(J);
        given.push(known);
    }
    (all, given)
}

/// Everything dense.
struct Dense {
    /// Ĥ and rows J with E; b and right-hand sides but for ε f₀.
    H: DMatrix<f64>,
    J: DMatrix<f64>,
    b: DVector<f64>,
    right: DVector<f64>,
    nodes: Vec<DMatrix<f64>>,
    /// Closure and place in it of each row.
    at: Vec<(usize, usize)>,
}

impl Dense {
    fn new(simulation: &Simulation, work: &Workspace, along: &Along) -> Dense {
        let (model, state) = (&*simulation.model, along.state);
        let mut slots = work.slots.clone();
        let (nodes, given) = jacobians(model, &slots);
        let n = model.speeds;
        let (mut H, mut b) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (i, node) in model.nodes.iter().enumerate() {
            along.take_momentum::<false>(i, node, &mut slots.slots[i + 1]);
            let slot = &slots.slots[i + 1];
            let p = Vector6::new(slot.f[0], slot.f[1], slot.f[2], slot.t[0], slot.t[1], slot.t[2]);
            let J = &nodes[i + 1];
            H += J.transpose() * inertia(slot) * J;
            b -= J.transpose() * (inertia(slot) * given[i + 1] + p);
            match node.motion {
                Motion::Hinge => {
                    let (force, weight) = along.drive::<true>(node.coordinate);
                    b[node.speed] += force;
                    H[(node.speed, node.speed)] += weight;
                }
                Motion::General(g) | Motion::Free(g) => {
                    let drives = slots.general[g].drives::<true>(model, &model.general[g], node, along);
                    for k in 0..model.general[g].freedoms {
                        b[node.speed + k] += drives.0[k];
                        (0..model.general[g].freedoms)
                            .for_each(|l| H[(node.speed + k, node.speed + l)] += drives.1[k][l]);
                    }
                }
            }
        }
        let (mut rows, mut right, mut at) = (Vec::new(), Vec::new(), Vec::new());
        let on = |wrenches: &[(usize, Six); 2]| -> (DVector<f64>, f64) {
            let (mut row, mut known) = (DVector::zeros(n), 0.0);
            for (slot, w) in wrenches {
                row += nodes[*slot].transpose() * six(w);
                known += given[*slot].dot(&six(w));
            }
            (row, known)
        };
        for (c, joint) in model.closures.joints.iter().enumerate() {
            let kind = &model.mechanism[joint.id].kind;
            let d = kind.freedoms();
            let placed = joint.place(&slots);
            let q = joint.coordinates(model, &placed, &state.coordinates);
            let (C, J) = joint.closure(model, &placed, &q[..d]);
            for i in joint.rows(d) {
                let row = std::array::from_fn(|k| J[(i, k)]);
                let (row, known) = on(&joint.wrenches(&placed, row, &slots));
                at.push((c, at.iter().filter(|(other, _)| *other == c).count()));
                rows.push(row);
                right.push(-C[i] / DT - known);
            }
            let Jq = kind.coordinates_jacobian(&placed.X, &q[..d]);
            for k in 0..d {
                let a = joint.coordinate + k;
                let now = (q[k], state.rates[a], q[k] + DT * state.rates[a]);
                let rest = simulation.inputs.rest[a];
                let (i, w) = impulse(&along.laws[a], rest, now, DT);
                if w > 0.0 {
                    let row = std::array::from_fn(|i| Jq[(k, i)]);
                    let (row, known) = on(&joint.wrenches(&placed, row, &slots));
                    at.push((c, at.iter().filter(|(other, _)| *other == c).count()));
                    rows.push(row);
                    right.push(i / w - known);
                }
            }
        }
        for (i, coupling) in model.closures.couplings.iter().enumerate() {
            let (mut row, mut known) = (DVector::zeros(n), 0.0);
            for (end, factor) in &coupling.ends {
                match *end {
                    End::Tree(n) => row[model.nodes[n].speed] += factor,
                    End::Loop(j) => {
                        let joint = &model.closures.joints[j];
                        let placed = joint.place(&slots);
                        let q = joint.coordinates(model, &placed, &state.coordinates);
                        let Jq = model.mechanism[joint.id].kind.coordinates_jacobian(&placed.X, &q[..1]);
                        let own = std::array::from_fn(|i| factor * Jq[(0, i)]);
                        let (more, given) = on(&joint.wrenches(&placed, own, &slots));
                        row += more;
                        known += given;
                    }
                }
            }
            at.push((model.closures.joints.len() + i, 0));
            rows.push(row);
            right.push(-coupling.open(model, state, &work.closing) / DT - known);
        }
        let J = DMatrix::from_fn(rows.len(), n, |r, k| rows[r][k]);
        Dense { H, J, b, right: DVector::from_vec(right), nodes, at }
    }

    /// [H, Jᵀ; J, −E/h] over u and φ = −h f, rows and columns scaled to about one; and the scales.
    fn matrix(&self, E: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let (n, m) = (self.b.len(), E.len());
        let mut K = DMatrix::zeros(n + m, n + m);
        K.view_mut((0, 0), (n, n)).copy_from(&self.H);
        K.view_mut((0, n), (n, m)).copy_from(&self.J.transpose());
        K.view_mut((n, 0), (m, n)).copy_from(&self.J);
        for r in 0..m {
            K[(n + r, n + r)] = -E[r] / DT;
        }
        let inverse = self.H.clone().cholesky().expect("springs and masses").inverse();
        let W = &self.J * inverse * self.J.transpose();
        let scale = DVector::from_fn(n + m, |i, _| match i.checked_sub(n) {
            None => 1.0 / self.H[(i, i)].sqrt(),
            Some(r) => 1.0 / (W[(r, r)] + E[r] / DT).sqrt(),
        });
        (DMatrix::from_fn(n + m, n + m, |i, k| K[(i, k)] * scale[i] * scale[k]), scale)
    }

    /// u and f for forces b along the speeds and right-hand sides of the rows.
    fn solve(
        &self,
        E: &DVector<f64>,
        b: &DVector<f64>,
        right: &DVector<f64>,
    ) -> (DVector<f64>, DVector<f64>) {
        let (n, m) = (b.len(), right.len());
        let (K, scale) = self.matrix(E);
        let x = stack(b, right).component_mul(&scale);
        let z = K.full_piv_lu().solve(&x).expect("softness makes it regular").component_mul(&scale);
        (z.rows(0, n).into_owned(), z.rows(n, m) * (-1.0 / DT))
    }

    /// What a solution leaves of the scaled equations, relative to the largest of its numbers.
    fn residual(&self, E: &DVector<f64>, right: &DVector<f64>, u: &DVector<f64>, f: &DVector<f64>) -> f64 {
        let (K, scale) = self.matrix(E);
        let x = stack(&self.b, right).component_mul(&scale);
        let z = stack(u, &(f * -DT)).component_div(&scale);
        (K * &z - &x).amax() / (z.amax() + x.amax())
    }
}

fn stack(a: &DVector<f64>, b: &DVector<f64>) -> DVector<f64> {
    DVector::from_iterator(a.len() + b.len(), a.iter().chain(b.iter()).copied())
}

/// What was compared: the worst differences of speeds, in terms of the largest speed (twists at the mechanism's radius).
#[derive(Default)]
struct Worst {
    residual: f64,
    step: f64,
    correction: f64,
    response: f64,
    cases: usize,
    /// Cases in which a closure has to be patient that was not at the start.
    doubtful: usize,
}

/// In the order that a step tries first, and in that in which every closure is patient.
fn compare(mechanism: &Mechanism, worst: &mut Worst) {
    compare_in(mechanism, false, worst);
    compare_in(mechanism, true, worst);
}

/// After some steps under load, with the base moving: one more step's solution, a correction and responses.
fn compare_in(mechanism: &Mechanism, careful: bool, worst: &mut Worst) {
    let mut simulation = Model::new(mechanism).simulate();
    simulation.inputs_mut().add_scene_loads();
    let moving = Twist::new(Vector3::new(0.1, -0.2, 0.05), Vector3::new(0.3, 0.1, -0.2));
    for _ in 0..5 {
        if simulation.step(DT).is_err() {
            return;
        }
    }
    let base = simulation.state.base;
    simulation.inputs_mut().set_base(base, moving).expect("finite");
    let (model, inputs, state) =
        (simulation.model.clone(), simulation.inputs.clone(), simulation.state.clone());
    let mut work = simulation.work.clone();
    let mut next = state.clone();
    place(&mut work.slots, &model, &mut next);
    work.floating.start(&model, &work.slots, &state, DT);
    work.pieces.start(&inputs, &state, DT);
    loads::apply_step(&model, &inputs, DT, &mut work.slots);
    let slot = &mut work.slots.slots[0];
    (slot.av, slot.aw) = (v(&moving.linear), v(&moving.angular));
    let Workspace { slots, closing, floating, pieces, .. } = &mut work;
    let laws = pieces.laws(&inputs).to_vec();
    let along = Along {
        state: &state,
        laws: &laws,
        rest: Some(&inputs.rest),
        forces: None,
        gravity: v(&inputs.gravity),
        h: DT,
        ahead: &state.rates,
        hanging: false,
        floating: (!model.floats.is_empty()).then_some(floating),
    };
    closing.evaluate(&model, slots, &state.coordinates);
    let placed = Workspace { slots: slots.clone(), closing: closing.clone(), ..simulation.work.clone() };
    let dense = Dense::new(&simulation, &placed, &along);
    let mut multipliers = state.multipliers.clone();
    (closing.again, closing.careful) = (false, careful);
    match super::sweep(&model, &inputs, &laws, along, slots, closing, &mut multipliers) {
        Ok(()) => {}
        Err(Stuck::Doubtful) => {
            // A step goes on with the other order.
            assert!(!careful && simulation.step(DT).is_ok() && simulation.work.closing.careful);
            worst.doubtful += 1;
            return;
        }
        Err(stuck) => panic!("{stuck:?}"),
    }
    let m = dense.at.len();
    assert_eq!(m, closing.rows.iter().map(|rows| rows.count).sum::<usize>());
    let E = DVector::from_fn(m, |r, _| closing.rows[dense.at[r].0].softness[dense.at[r].1]);
    let right = DVector::from_fn(m, |r, _| {
        let (c, i) = dense.at[r];
        let rows = &closing.rows[c];
        dense.right[r] + if rows.closes(i) { E[r] * state.multipliers[rows.multiplier[i]] } else { 0.0 }
    });
    // Speeds in one unit: of all slots' twists, m/s at the radius.
    let difference = |found: &DVector<f64>, other: &DVector<f64>| -> f64 {
        let size = |u: &DVector<f64>| {
            let twists = dense.nodes.iter().map(|J| {
                let t = J * u;
                t.rows(0, 3).norm() + model.radius * t.rows(3, 3).norm()
            });
            twists.fold(0.0, f64::max)
        };
        size(&(found - other)) / size(other).max(1e-300)
    };
    let (u, f) = dense.solve(&E, &dense.b, &right);
    let found = DVector::from_column_slice(&slots.found);
    worst.step = worst.step.max(difference(&found, &u));
    // Forces: what they do.
    let forces = DVector::from_fn(m, |r, _| -closing.found[dense.at[r].0][dense.at[r].1] / DT);
    let push =
        |f: &DVector<f64>| dense.H.clone().cholesky().expect("regular").solve(&(dense.J.transpose() * f));
    worst.step = worst.step.max(difference(&push(&forces), &push(&f)));
    worst.residual = worst.residual.max(dense.residual(&E, &right, &found, &forces));
    // A correction: closures alone.
    let gap = DVector::from_fn(m, |r, _| {
        let (c, i) = dense.at[r];
        if closing.rows[c].closes(i) { ((r + 1) as f64 * 0.618).fract() - 0.5 } else { 0.0 }
    });
    closing.g.fill([0.0; 6]);
    (0..m).for_each(|r| closing.g[dense.at[r].0][dense.at[r].1] = gap[r] / DT);
    super::sweep::answer(&model, slots, closing);
    let found = DVector::from_column_slice(&closing.moves);
    let (u, _) = dense.solve(&E, &DVector::zeros(model.speeds), &(-&gap / DT));
    worst.correction = worst.correction.max(difference(&found, &u));
    // Responses to pushes on two bodies.
    simulation.work = work;
    let bodies: Vec<usize> = mechanism.body_ids().filter_map(|b| simulation.touch(b)).collect();
    let pushes = [bodies[bodies.len() / 2], bodies[bodies.len() - 1]].map(|touch| {
        let rows = std::array::from_fn(|i| {
            Vector6::from_fn(|k, _| ((7 * i + 3 * k + touch + 1) as f64 * 0.618).fract() - 0.5)
        });
        Push { touch, rows }
    });
    let mut out = vec![0.0; 36];
    simulation.respond(DT, 0, &pushes, &mut out);
    let mut columns = Vec::new();
    for push in &pushes {
        for row in &push.rows {
            let (slot, frame) = model.frame_in_slot(mechanism.body_id(push.touch), &Pose::identity());
            let own = &simulation.work.slots.slots[slot];
            let at = (crate::articulated::placing::pose_of(own) * frame).position;
            let X = shift(&v(&(at - Vector3::from(own.o))));
            columns.push(dense.nodes[slot].transpose() * (X.transpose() * row));
        }
    }
    for k in 0..6 {
        let (u, _) = dense.solve(&E, &columns[k], &DVector::zeros(m));
        for i in 0..6 {
            let size = (out[i * 7] * out[k * 7]).sqrt();
            worst.response = worst.response.max((out[i * 6 + k] - columns[i].dot(&u)).abs() / size);
        }
    }
    worst.cases += 1;
}

/// The equations hold to rounding, less the six digits that are lost where a closure's softness is all that is left for a
/// pivot. How far solutions are apart depends on how much of the closures is repeated as well, in the dense solve too: there the
/// softness divides what rounding leaves of their rows.
fn check(name: &str, worst: &Worst, cases: usize) {
    println!(
        "{name}: {} cases, {} doubtful, residual {:.1e}, step {:.1e}, correction {:.1e}, response {:.1e}",
        worst.cases, worst.doubtful, worst.residual, worst.step, worst.correction, worst.response
    );
    assert!(worst.cases >= cases, "{name}: {} of {cases} cases", worst.cases);
    // 2⁻⁵² times the 10⁶ of the softness, over a few operations; 2.1e-10 at most here.
    assert!(worst.residual < 1e-9, "{name}: residual {:e}", worst.residual);
    assert!(worst.step < 1e-5, "{name}: step {:e}", worst.step);
    assert!(worst.correction < 1e-5, "{name}: correction {:e}", worst.correction);
    assert!(worst.response < 1e-6, "{name}: response {:e}", worst.response);
}

#[test]
fn of_the_gallery() {
    for name in [
        "ladder:3",
        "ladder:36",
        "rungs:6",
        "rungs:48",
        "loop:24",
        "four-bar",
        "graph",
        "gripper",
        "firefighters",
        "stewart",
        "delta",
        "excavator",
        "fin-ray",
        "adaptive-gripper",
        "tendon-finger",
        "spring-leg",
        "bridge-heap",
    ] {
        let mut worst = Worst::default();
        compare(&gallery::build(name).expect("a gallery name"), &mut worst);
        check(name, &worst, 1);
    }
}

#[test]
fn of_random_mechanisms() {
    let mut families = Vec::new();
    for (free_bases, passive) in
        [false, true].into_iter().flat_map(|f| [(f, Passive::InLoops), (f, Passive::Never)])
    {
        let mut worst = Worst::default();
        for seed in 0..60 {
            let options = RandomOptions {
                bodies: 6 + seed as usize % 20,
                loops: 0.35,
                free_bases,
                passive,
                massless: 0.0,
                ..RandomOptions::default()
            };
            let mechanism = random(seed, &options);
            if !mechanism.order().loop_joints().is_empty() {
                compare(&mechanism, &mut worst);
            }
        }
        families.push((format!("random, free bases {free_bases}, passive {passive:?}"), worst));
    }
    for (name, worst) in &families {
        check(name, worst, 40);
    }
}

/// A mechanism with its first and last joints of one freedom coupled, and two between them.
fn coupled(mechanism: &Mechanism) -> Option<Mechanism> {
    let single: Vec<String> = (mechanism.joints().iter())
        .filter(|joint| joint.freedoms.len() == 1)
        .map(|joint| joint.name.clone())
        .collect();
    let mut builder = mechanism.to_builder();
    let last = single.len().checked_sub(4)? + 3;
    for (joint, of) in [(0, last), (last / 2, last / 2 + 1)] {
        let (joint, of) = (single[joint].clone(), single[of].clone());
        builder.coupling(CouplingDescription { joint, of, ratio: -0.7, offset: 0.0 });
    }
    builder.build().ok()
}

/// Loops and couplings together, of joints in the forest and of such as close loops.
#[test]
fn of_couplings() {
    let (mut worst, mut of_loops) = (Worst::default(), 0);
    for seed in 0..80 {
        let kinds = vec![JointKind::Hinge, JointKind::Prismatic, JointKind::Universal];
        let options = RandomOptions {
            bodies: 8 + seed as usize % 12,
            loops: 0.35,
            free_bases: seed % 3 == 0,
            passive: Passive::Never,
            massless: 0.0,
            rests: false,
            loop_kinds: kinds.clone(),
            kinds,
            ..RandomOptions::default()
        };
        let Some(mechanism) = coupled(&random(seed, &options)) else { continue };
        let before = worst.cases;
        compare(&mechanism, &mut worst);
        let is_loop = |id| mechanism.order().loop_joints().contains(&id);
        let any = mechanism.couplings().iter().any(|c| is_loop(c.joint) || is_loop(c.of));
        of_loops += usize::from(any && worst.cases > before);
    }
    assert!(of_loops > 10, "{of_loops} with couplings of loop joints");
    check("couplings", &worst, 50);
}

/// Which are open across a node: of rungs and ladders as few, however long they are.
#[test]
fn width_does_not_grow() {
    for (name, most) in [("rungs", 1), ("ladder", 3)] {
        for links in [12, 48, 480] {
            let model = Model::new(&gallery::build(&format!("{name}:{links}")).expect("a gallery name"));
            let schedule = model.constants.closures.schedule(false);
            assert!(schedule.widest <= most, "{name}:{links}: {} open", schedule.widest);
            println!("{name}:{links}: {} open, {} blocks", schedule.widest, schedule.blocks);
            assert!(schedule.blocks <= 3 * links, "{name}:{links}: {} blocks", schedule.blocks);
            let rows = schedule.fronts.iter().filter(|f| matches!(f.unknown, Unknown::Rows(_))).count();
            assert_eq!(rows, links / 3);
        }
    }
}
