//! Claim: the articulated engine takes states of the full engine; with any integrator, no step returns a number that is not
//! finite. (What all engines must do is in `engines/repeat.rs`.)

use pliant_core::articulated::{Integrator, Model};
use pliant_core::engine::Simulation as _;
use pliant_core::nalgebra::Vector3;
use pliant_core::spatial::Wrench;
use pliant_core::{full, gallery};

use crate::common::models::EVERY_SORT;
use crate::common::{FRAME, apart, bits};

/// States go from one engine to the other and back.
#[test]
fn a_state_of_the_full_engine_is_taken() {
    for name in ["arm", "ladder:36", "hand", "hexapod"] {
        let mechanism = gallery::build(name).unwrap();
        let (full, model) = (full::Model::new(&mechanism), Model::new(&mechanism));
        let mut reference = full.simulate();
        reference.inputs_mut().add_scene_loads();
        (0..20).for_each(|_| reference.step(1e-3).unwrap());
        let mut simulation = model.simulate();
        simulation.inputs_mut().add_scene_loads();
        simulation.set_state(reference.state()).unwrap();
        assert!(apart(&mechanism, simulation.state(), reference.state()) < 1e-6, "{name}");
        for _ in 0..20 {
            reference.step(1e-3).unwrap();
            simulation.step(1e-3).unwrap();
        }
        let off = apart(&mechanism, simulation.state(), reference.state());
        println!("{name}: {off:.1e} radii apart after 20 ms");
        assert!(off < 1e-3, "{name}: {off:e}");
        reference.set_state(simulation.state()).unwrap();
        reference.step(1e-3).unwrap();
    }
}

/// Loads that no number can hold: every step is finite or an error that leaves the state, and the motion goes on after.
#[test]
fn a_step_is_finite_or_an_error() {
    let integrators = [Integrator::SemiImplicit, Integrator::RungeKutta4];
    let mut runs = 0;
    for (name, integrator) in
        EVERY_SORT.into_iter().flat_map(|name| integrators.map(|integrator| (name, integrator)))
    {
        let mechanism = gallery::build(name).unwrap();
        let model = Model::new(&mechanism);
        let mut simulation = model.simulate();
        if simulation.set_integrator(integrator).is_err() {
            continue; // loops
        }
        runs += 1;
        let last = crate::common::handles::body(&mechanism, mechanism.bodies().len() - 1);
        let mut failed = 0;
        for force in [1e10, 1e100, 1e200, 1e300, f64::MAX] {
            let wrench = Wrench::new(Vector3::new(force, -force, force), Vector3::new(force, force, -force));
            simulation.inputs_mut().set_body_load(last, wrench).unwrap();
            for _ in 0..5 {
                let before = bits(simulation.state());
                match simulation.step(FRAME) {
                    Ok(()) => assert!(simulation.state().is_finite(), "{name}"),
                    Err(error) => {
                        failed += 1;
                        assert!(bits(simulation.state()) == before, "{name}: {error}");
                        assert!(error.to_string().contains("step"), "{error}");
                    }
                }
            }
        }
        assert!(failed > 0, "{name}");
        simulation.inputs_mut().set_body_load(last, Wrench::ZERO).unwrap();
        simulation.set_state(model.simulate().state()).unwrap();
        simulation.step(1e-4).unwrap_or_else(|error| panic!("{name} {integrator:?}: {error}"));
    }
    assert_eq!(runs, 17, "all eleven with the first integrator, six trees with the second");
}
