//! Claim: a coupling holds whatever its ratio, over ten decades and both signs, in the statics and at rest after motion, in every
//! engine: between wheels, a wheel and a slide, and links that carry each other and their weight.

use pliant_core::engine::{Simulation, StaticsSettings};
use pliant_core::engines::Engine;
use pliant_core::joints::JointKind;
use pliant_core::linear::Linearisation;
use pliant_core::mechanism::{
    Body, CouplingDescription, EffectorDescription, JointDescription, Mechanism, MechanismBuilder, WORLD,
};
use pliant_core::spatial::{Pose, SpatialInertia, Wrench};

const STIFFNESS: [f64; 2] = [3.0, 4.0];

/// Links `a`, of a hinge about y, and `b`, 0.4 m along x, with springs; each has its centre of mass so far from its joint along x.
fn coupled(
    b: (JointKind, &str),
    damping: [f64; 2],
    arm: f64,
    [joint, of]: [&str; 2],
    ratio: f64,
) -> Mechanism {
    let mut builder = MechanismBuilder::new("coupled");
    if arm == 0.0 {
        builder.gravity([0.0; 3]);
    }
    let mut inertia = SpatialInertia::of_box(1.0, [0.3, 0.1, 0.3]);
    inertia.center_of_mass.x = arm;
    for (i, (name, kind, parent)) in [("a", JointKind::Hinge, WORLD), ("b", b.0, b.1)].into_iter().enumerate()
    {
        let at = [0.4 * i as f64, 0.0, 0.0];
        builder.body(Body::new(name, Pose::translation(at)).inertia(inertia));
        let joint = JointDescription::new(name, kind, parent, name).axis(at.into(), [0.0, 1.0, 0.0].into());
        builder.joint(joint.stiffness(STIFFNESS[i]).damping(damping[i]));
    }
    builder.effector(EffectorDescription { name: "a".into(), body: "a".into(), frame: Pose::identity() });
    builder.coupling(CouplingDescription { joint: joint.into(), of: of.into(), ratio, offset: 0.0 });
    builder.build().unwrap()
}

/// 10⁻⁵ to 10⁵, both signs.
fn ratios() -> impl Iterator<Item = f64> {
    (-5..=5).flat_map(|n| [10f64.powi(n), -(10f64.powi(n))])
}

/// Compares the coordinates in the statics and after half a minute with what they should be; how often.
fn compare(mechanism: &Mechanism, engines: &[Engine], torque: f64, expected: [f64; 2]) -> usize {
    for engine in engines {
        let new = || {
            let mut simulation = engine.simulate(mechanism).unwrap();
            let a = simulation.effector("a").unwrap();
            simulation.set_load(a, Wrench::torque([0.0, torque, 0.0])).unwrap();
            simulation
        };
        let off = |simulation: &mut dyn Simulation| {
            let q = &simulation.state().coordinates;
            (q[0] / expected[0] - 1.0).abs().max((q[1] / expected[1] - 1.0).abs())
        };
        let what = format!("{engine:?}, ratio {:e}", mechanism.couplings()[0].ratio);
        let mut simulation = new();
        let equilibrium = simulation.settle(&StaticsSettings::default()).unwrap();
        assert!(equilibrium.converged && equilibrium.stable, "{what}: {equilibrium:?}");
        // The linear engine sees all springs through the compliance of the effector, in which the smaller is the square of the
        // ratio less.
        let ratio = mechanism.couplings()[0].ratio.abs();
        let bound = 1e-9
            + if *engine == Engine::Linear { f64::EPSILON * ratio.max(1.0 / ratio).powi(2) } else { 0.0 };
        let settled = off(&mut *simulation);
        assert!(settled < bound, "{what}: {settled:.1e} off in the statics");
        let mut simulation = new();
        (0..1800).for_each(|_| simulation.step(1.0 / 60.0).unwrap());
        // The torque on the wheel that moves by 1e-5 of the other is 1e5 times what moves this one.
        let moved = off(&mut *simulation);
        assert!(moved < 1e-6, "{what}: {moved:.1e} off after motion");
    }
    engines.len()
}

/// θ_a = r θ_b under a torque τ on a: θ_b = r τ/(r² k_a + k_b).
#[test]
fn of_any_ratio_pass_torque_on() {
    let engines = [Engine::Full, Engine::Articulated, Engine::Linear];
    let mut compared = 0;
    for ratio in ratios() {
        for (kind, parent, damping) in
            [(JointKind::Hinge, WORLD, 0.5), (JointKind::Hinge, "a", 0.5), (JointKind::Prismatic, WORLD, 4.0)]
        {
            let mechanism = coupled((kind, parent), [0.5, damping], 0.0, ["a", "b"], ratio);
            // The one that moves more moves by 0.1 rad or m.
            let b = 0.1 / ratio.abs().max(1.0);
            let torque = b * (ratio * ratio * STIFFNESS[0] + STIFFNESS[1]) / ratio;
            compared += compare(&mechanism, &engines, torque, [ratio * b, b]);
        }
    }
    assert_eq!(compared, 22 * 3 * 3);
}

/// A wheel without a spring that follows a link under its weight turns so many times as far, and holds nothing back.
#[test]
fn a_wheel_without_a_spring_follows() {
    let (mut compared, mut refused) = (0, 0);
    for ratio in (-6..=4).flat_map(|n| [10f64.powi(n), -(10f64.powi(n))]) {
        let mut builder = MechanismBuilder::new("wheel");
        for (name, mass, x, y) in [("link", 1.0, 0.5, 0.0), ("wheel", 1e-3, 0.0, 1.0)] {
            let inertia = SpatialInertia::of_box(mass, [0.01, 0.01, 0.01]);
            builder.body(Body::new(name, Pose::translation([x, y, 0.0])).inertia(inertia));
            let joint = JointDescription::new(name, JointKind::Hinge, WORLD, name);
            let stiffness = if name == "link" { 20.0 } else { 0.0 };
            builder.joint(joint.axis([0.0, y, 0.0].into(), [0.0, 1.0, 0.0].into()).stiffness(stiffness));
        }
        builder.effector(EffectorDescription {
            name: "a".into(),
            body: "link".into(),
            frame: Pose::identity(),
        });
        let (joint, of) = ("wheel".into(), "link".into());
        builder.coupling(CouplingDescription { joint, of, ratio, offset: 0.0 });
        let mechanism = builder.build().unwrap();
        let mut angle = 0.0f64;
        (0..100).for_each(|_| angle = 9.81 * 0.5 * angle.cos() / 20.0);
        for engine in [Engine::Full, Engine::Articulated, Engine::Reduced] {
            let mut simulation = engine.simulate(&mechanism).unwrap();
            let equilibrium = simulation.settle(&StaticsSettings::default()).unwrap();
            // `reduced` turns nothing as far as that wheel, and says so.
            if engine == Engine::Reduced && ratio.abs() > 100.0 {
                assert!(!equilibrium.converged);
                refused += 1;
                continue;
            }
            assert!(equilibrium.converged && equilibrium.stable, "{engine:?}, {ratio}: {equilibrium:?}");
            let q = &simulation.state().coordinates;
            let off = (q[0] / angle - 1.0).abs().max((q[1] / (ratio * angle) - 1.0).abs());
            assert!(off < 1e-9, "{engine:?}, {ratio}: {off}");
            compared += 1;
        }
        let C = Linearisation::at_rest(&mechanism).project().unwrap().compliance()[(4, 4)];
        assert!((C * 20.0 - 1.0).abs() < 1e-9, "{ratio}: {C}");
    }
    assert_eq!((compared, refused), (22 * 3 - 4, 4));
}

/// Two links that hang on each other, against the balance of torques found by bisection.
#[test]
fn of_any_ratio_carry_weight() {
    let mut compared = 0;
    for (ratio, swapped) in ratios().flat_map(|r| [(r, false), (r, true)]) {
        let ends = if swapped { ["b", "a"] } else { ["a", "b"] };
        let mechanism = coupled((JointKind::Hinge, "a"), [2.0, 2.0], 0.2, ends, ratio);
        // Angles of both per angle t of the one that moves more.
        let mut per = if ratio.abs() > 1.0 { [1.0, 1.0 / ratio] } else { [ratio, 1.0] };
        if swapped {
            per.reverse();
        }
        let [a, b] = per;
        // Turning by θ brings the end of a link down by sin θ.
        let torque = |t: f64| {
            let weight = 0.6 * a * (a * t).cos() + 0.2 * (a + b) * ((a + b) * t).cos();
            9.81 * weight - (STIFFNESS[0] * a * a + STIFFNESS[1] * b * b) * t
        };
        let (mut low, mut high) = if torque(0.0) > 0.0 { (0.0, 3.0) } else { (-3.0, 0.0) };
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            *(if torque(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        compared += compare(&mechanism, &[Engine::Full, Engine::Articulated], 0.0, [a * low, b * low]);
    }
    assert_eq!(compared, 44 * 2);
}

/// Rows of two and three couplings whose ratios are far from one and may come back to one, 10⁻⁵ and then 10⁵: links that hang on each
/// other, against the balance of torques along the one way in which they can move.
#[test]
fn in_a_row() {
    const ARM: f64 = 0.2;
    let far = [1e-6, 1e-5, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e5, 1e6];
    let mut rows: Vec<Vec<f64>> = far.iter().flat_map(|r| [vec![*r, 1.0 / r], vec![*r, -1.0 / r]]).collect();
    rows.extend(far.iter().map(|r| vec![*r, *r]));
    rows.extend([vec![1e-4, 1e3, 10.0], vec![1e4, 1e-4, 2.0], vec![0.5, 1e5, -1e-5], vec![1e-3, 1e6, 1e-3]]);
    let mut compared = 0;
    for ratios in &rows {
        let mut builder = MechanismBuilder::new("in a row");
        let count = ratios.len() + 1;
        // How far each turns over how far the fastest does.
        let mut per = vec![1.0];
        ratios.iter().for_each(|r| per.push(per[per.len() - 1] * r));
        let fastest = per.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        per.iter_mut().for_each(|x| *x /= fastest);
        for i in 0..count {
            let name = format!("link{i}");
            let parent = if i == 0 { WORLD.into() } else { format!("link{}", i - 1) };
            let mut inertia = SpatialInertia::of_box(0.3, [ARM, 0.05, 0.05]);
            inertia.center_of_mass.x = 0.5 * ARM;
            let at = [ARM * i as f64, 0.0, 0.0];
            builder.body(Body::new(&name, Pose::translation(at)).inertia(inertia));
            let joint = JointDescription::new(&name, JointKind::Hinge, parent, &name)
                .axis(at.into(), [0.0, 1.0, 0.0].into());
            builder.joint(joint.stiffness(10.0).damping(1.0));
        }
        for (i, ratio) in ratios.iter().enumerate() {
            let (joint, of) = (format!("link{}", i + 1), format!("link{i}"));
            builder.coupling(CouplingDescription { joint, of, ratio: *ratio, offset: 0.0 });
        }
        let mechanism = builder.build().unwrap();
        // A link that is turned by Σ brings what is beyond it down by sin Σ.
        let torque = |t: f64| {
            let (mut sum, mut rate, mut weight, mut springs) = (0.0, 0.0, 0.0, 0.0);
            for (i, x) in per.iter().enumerate() {
                (sum, rate, springs) = (sum + x * t, rate + x, springs + 10.0 * x * x * t);
                weight += 0.3 * ARM * (0.5 + (count - 1 - i) as f64) * rate * f64::cos(sum);
            }
            9.81 * weight - springs
        };
        let (mut low, mut high) = if torque(0.0) > 0.0 { (0.0, 3.0) } else { (-3.0, 0.0) };
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            *(if torque(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        for engine in [Engine::Full, Engine::Articulated] {
            for moves in [false, true] {
                let mut simulation = engine.simulate(&mechanism).unwrap();
                if moves {
                    (0..1800).for_each(|_| simulation.step(1.0 / 60.0).unwrap());
                } else {
                    let found = simulation.settle(&StaticsSettings::default()).unwrap();
                    assert!(found.converged && found.stable, "{engine:?} {ratios:?}: {found:?}");
                }
                for (q, x) in simulation.state().coordinates.iter().zip(&per) {
                    let off = (q - x * low).abs() / (x * low).abs();
                    // Poses of links have the digits that small angles have of them.
                    let digits = 1e-15 / (x * low).abs();
                    assert!(
                        off < 1e-6 + digits,
                        "{engine:?} {ratios:?}, {moves}: {q} for {}, {off:.1e} off",
                        x * low
                    );
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, (18 + 9 + 4) * 4);
}
