//! Claim: what a ball feels of the effector that it hits, over time, is with a linear model what it is with the full engine:
//! within 2 % with the modes that scenes of contact have by default. `cargo test -p pliant-core impulse -- --nocapture` prints
//! the table of the contact module's README.

use nalgebra::{Matrix3, Vector3};
use pliant_core::contact::{FreeBodyId, Solver, Touched, World};
use pliant_core::engine::Simulation;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{Body, Geometry, Mechanism, Shape};
use pliant_core::nalgebra;
use pliant_core::spatial::{Pose, SpatialInertia, Twist};

const H: f64 = 1.0 / 240.0;
/// Slow, so that the ball moves the effector by millimetres, where a linear model holds.
const SPEED: f64 = 0.1;
const STEPS: usize = 60;

/// A world of a mechanism without weight and a ball in flight.
fn flight(
    mut actor: Box<dyn Simulation>,
    start: Vector3<f64>,
    velocity: Vector3<f64>,
    mass: f64,
) -> (World, FreeBodyId) {
    let radius = 0.01;
    let inertia = SpatialInertia {
        mass,
        center_of_mass: Vector3::zeros(),
        inertia: Matrix3::from_diagonal_element(0.4 * mass * radius * radius),
    };
    let shape = Shape { friction: Some(0.0), ..Shape::new(Geometry::Ball { radius }) };
    let pose = Pose::translation(start.into());
    actor.inputs_mut().set_gravity([0.0; 3]).unwrap();
    let mut world = World::new([0.0; 3]);
    world.set_solver(Solver::Exact { tolerance: 1e-10 });
    world.add(actor).unwrap();
    let ball = world.add_body(&Body::new("ball", pose).inertia(inertia).shape(shape).free()).unwrap();
    world.body_mut(ball).unwrap().place(pose, Twist { linear: velocity, angular: Vector3::zeros() });
    (world, ball)
}

/// Where a ball that flies at the body of the first effector is a millimetre before it touches something.
fn before_touch(model: &full::Model, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
    let mechanism = model.mechanism();
    let start = mechanism[mechanism.effectors()[0].body].pose.position - direction;
    let (mut world, ball) = flight(model.simulate().into(), start, direction * 1.0, 1e-3);
    for _ in 0..300 {
        let before = world.body(ball).unwrap().pose().position;
        if world.step(H).unwrap().pushing > 0 {
            let gap = world.contacts().iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min);
            return Some(before + direction * (gap - 1e-3));
        }
    }
    None
}

/// What a hit came to.
struct Hit {
    /// The momentum that the ball has lost, N·s, in each step from the first touch on.
    lost: Vec<f64>,
    /// The effector's mass as the first touch feels it, kg.
    felt: f64,
}

/// A ball flies at the body of the first effector; `None` if it touches another.
fn hit(actor: Box<dyn Simulation>, start: &Vector3<f64>, direction: &Vector3<f64>, mass: f64) -> Option<Hit> {
    let struck = actor.mechanism().effectors()[0].body;
    let (mut world, ball) = flight(actor, *start, direction * SPEED, mass);
    while world.step(H).unwrap().pushing == 0 {
        if world.time() > 1.0 {
            return None;
        }
    }
    let first = *world.contacts().iter().find(|contact| contact.force != Vector3::zeros())?;
    // λ = (v − gap/h)/(1/m + 1/M)
    let closing = SPEED * first.normal.dot(direction).abs() - first.gap / H;
    let felt = 1.0 / (closing / (first.force.norm() * H) - 1.0 / mass);
    let mut lost = Vec::new();
    for _ in 0..STEPS {
        lost.push(mass * SPEED - world.body(ball).unwrap().momentum().0.dot(direction));
        let is_other = |touched| !matches!(touched, Touched::Mechanism(_, body) if body == struck);
        if world.contacts().iter().any(|c| c.force != Vector3::zeros() && is_other(c.first)) {
            return None;
        }
        world.step(H).unwrap();
    }
    Some(Hit { lost, felt })
}

/// Of the directions in which the ball hits its effector and nothing else, the one in which that yields most: from where, which
/// way, and the mass that the first touch feels.
fn softest(model: &full::Model) -> (Vector3<f64>, Vector3<f64>, f64) {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let hits = axes.iter().flat_map(|axis| [*axis, -*axis]).filter_map(|way| {
        let start = before_touch(model, &way)?;
        let felt = hit(model.simulate().into(), &start, &way, 1e-3)?.felt;
        // Not where the effector is all but rigid; and a heavy ball must not touch others either.
        let soft =
            felt > 0.0 && felt < 10.0 && hit(model.simulate().into(), &start, &way, 10.0 * felt).is_some();
        soft.then_some((start, way, felt))
    });
    hits.min_by(|a, b| a.2.total_cmp(&b.2)).expect("no soft way to hit it")
}

/// How far a history is from another, of the momentum that is lost in all: at worst, at the end, and in its largest step.
fn compare(one: &[f64], truth: &[f64]) -> [f64; 3] {
    let total = truth[truth.len() - 1];
    let worst = one.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / total;
    let peak = |list: &[f64]| {
        let before = std::iter::once(&0.0).chain(list);
        list.iter().zip(before).map(|(a, b)| a - b).fold(0.0, f64::max)
    };
    [worst, (one[one.len() - 1] / total - 1.0).abs(), (peak(one) / peak(truth) - 1.0).abs()]
}

/// The largest differences over balls of 0.1, 1 and 10 times the mass that they feel, with no modes, those for the
/// step and those for contact.
fn measure(name: &str, mechanism: &Mechanism) -> [[f64; 3]; 3] {
    let full = full::Model::new(mechanism);
    let (start, way, felt) = softest(&full);
    let of = |model: &pliant_core::linear::Model| {
        let mut most = [0.0f64; 3];
        for mass in [0.1, 1.0, 10.0].map(|ratio| ratio * felt) {
            let truth = hit(full.simulate().into(), &start, &way, mass).unwrap();
            let own = hit(model.simulate().into(), &start, &way, mass).unwrap();
            let off = compare(&own.lost, &truth.lost);
            (0..3).for_each(|i| most[i] = most[i].max(off[i]));
        }
        most
    };
    let reduction = || Linearisation::at_rest(mechanism);
    let found = [reduction(), reduction().modes_for(H), reduction().modes_for_contact(H)]
        .map(|reduction| of(&reduction.build().unwrap()));
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let cells: Vec<String> = found.iter().flatten().map(|x| percent(*x)).collect();
    println!("| {name} | {felt:.2} | {} |", cells.join(" | "));
    found
}

/// They have none that a step feels: modes cost them nothing.
#[test]
fn stiff_mechanisms_have_no_modes() {
    for name in ["hexapod", "hand"] {
        let mechanism = gallery::build(name).unwrap();
        assert_eq!(
            Linearisation::at_rest(&mechanism).modes_for_contact(H).build().unwrap().modes(),
            0,
            "{name}"
        );
    }
}

#[test]
fn impulse_histories() {
    println!("| mechanism | kg | curve | total | peak | curve | total | peak | curve | total | peak |");
    let few = ["two-link", "chain:6", "y", "four-bar", "gripper", "hand", "hexapod", "helix:20"];
    // Vibrations of the last three count.
    for name in few.into_iter().chain(["arm", "chain:20", "helix:50"]) {
        let [none, _, by_default] = measure(name, &gallery::build(name).unwrap());
        assert!(!few.contains(&name) || none.iter().all(|off| *off < 0.03), "{name}: {none:?}");
        assert!(by_default.iter().all(|off| *off < 0.02), "{name}: {by_default:?}");
    }
}
