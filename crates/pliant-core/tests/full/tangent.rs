//! Claim: the tangent at a loaded equilibrium is the derivative of the nonlinear equilibrium with respect to
//! the loads, geometric stiffness included; and it is reciprocal, as a conservative system's must be.

use pliant_core::engine::Simulation as _;
use pliant_core::engine::StaticsSettings;
use pliant_core::full::{Model, Simulation};
use pliant_core::gallery;
use pliant_core::mechanism::BodyId;
use pliant_core::spatial::{Twist, Wrench, log_rotation};

/// The displacement of every body between two equilibria, world axes at the link frames.
fn displacement(from: &Simulation, to: &Simulation) -> Vec<Twist> {
    let pairs = from.poses().zip(to.poses()).map(|((_, a), (_, b))| (a, b));
    pairs
        .map(|(a, b)| Twist {
            linear: b.position - a.position,
            angular: log_rotation(&(b.rotation * a.rotation.inverse())),
        })
        .collect()
}

#[test]
fn equals_the_difference_of_equilibria() {
    for (name, scale) in
        [("helix:50", 1.0), ("y", 3.0), ("rungs:24", 10.0), ("loop", 5.0), ("hand", 1.0), ("gripper", 1.0)]
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let settle = |extra: &[(BodyId, Wrench)]| {
            let mut simulation = model.simulate();
            for load in mechanism.loads() {
                simulation.set_load(load.effector, load.wrench * scale).unwrap();
            }
            for (body, wrench) in extra {
                simulation.inputs_mut().set_body_load(*body, *wrench).unwrap();
            }
            assert!(simulation.settle(&StaticsSettings::default()).unwrap().converged, "{name}");
            simulation
        };
        let mut at = settle(&[]);
        let mut tangent = at.tangent().unwrap();
        assert!(tangent.is_stable(), "{name}");
        let last = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        for direction in [[1.0, 0.3, 0.2], [-0.1, 1.0, 0.4], [0.2, -0.3, 1.0]] {
            let small = 1e-3;
            let expected = tangent.displacement(&[(last, Wrench::force(direction))]).unwrap();
            let plus = displacement(&at, &settle(&[(last, Wrench::force(direction) * small)]));
            let minus = displacement(&at, &settle(&[(last, Wrench::force(direction) * -small)]));
            let size = expected.iter().map(|t| t.to_vector().amax()).fold(0.0, f64::max);
            for ((e, p), m) in expected.iter().zip(&plus).zip(&minus) {
                // Central difference: the square of the step, 1e-6 of a compliance of the order of one, and
                // the equilibria's own 1e-13 over the step.
                let difference = ((*p - *m) * (0.5 / small) - *e).to_vector().amax() / size;
                assert!(difference < 2e-6, "{name} {direction:?}: {difference:e}");
            }
        }
    }
}

#[test]
fn is_reciprocal() {
    let mechanism = gallery::rungs(24);
    let model = Model::new(&mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().add_scene_loads();
    simulation.settle(&StaticsSettings::default()).unwrap();
    let mut tangent = simulation.tangent().unwrap();
    let (a, b) = (crate::common::handles::body(&mechanism, 4), crate::common::handles::body(&mechanism, 23));
    let (f, g) = (Wrench::force([1.0, 0.4, 0.1]), Wrench::force([-0.3, 1.0, 0.2]));
    let of_f = tangent.displacement(&[(a, f)]).unwrap()[b.index()];
    let of_g = tangent.displacement(&[(b, g)]).unwrap()[a.index()];
    // Betti: the work of each load on the other's displacement is the same.
    let (one, other) = (g.power(&of_f), f.power(&of_g));
    assert!((one - other).abs() < 1e-10 * one.abs(), "{one} {other}");
}
