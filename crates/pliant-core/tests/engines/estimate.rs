//! Claim: the estimate, the way of one Newton step of the full statics, tells the error of a linear model's equilibrium under
//! loads that it has not seen: within 0.7 to 1.5 of the true error of the links.

use crate::common::loads::{Random, case};
use crate::common::{FRAME, apart};
use pliant_core::engine::Simulation as _;
use pliant_core::linear::Linearisation;
use pliant_core::{full, gallery};

#[test]
fn it_tells_the_error_of_a_linear_model() {
    let mut compared = Vec::new();
    for name in ["chain", "y", "helix:50", "arm", "rungs:18"] {
        let mechanism = gallery::build(name).unwrap();
        let (model, linear) =
            (full::Model::new(&mechanism), Linearisation::at_rest(&mechanism).build().unwrap());
        let mut random = Random(23);
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        let (mut cases, mut within) = (0, 0);
        for k in 0..12 {
            let wanted = [0.1, 0.3, 0.6, 1.0][k % 4];
            let Some(case) = case(&mechanism, &mut random, wanted, false) else { continue };
            cases += 1;
            let mut linear = linear.simulate();
            let mut simulation = model.simulate();
            for (e, load) in case.loads.iter().enumerate() {
                linear.set_load(crate::common::handles::effector(&mechanism, e), *load).unwrap();
                simulation.set_load(crate::common::handles::effector(&mechanism, e), *load).unwrap();
            }
            for _ in 0..2000 {
                linear.step(FRAME).unwrap();
            }
            let error = apart(&mechanism, linear.state(), &case.state);
            let ratio = linear.estimate().unwrap() / error;
            // Past half a radius there is no model left to tell the error of: 0.58 was the worst.
            if error < 0.5 {
                within += 1;
                (least, most) = (least.min(ratio), most.max(ratio));
            }
            // At rest there is none.
            simulation.set_state(&case.state).unwrap();
            let left = simulation.estimate().unwrap();
            assert!(left < 1e-5, "{name}: {left}");
        }
        eprintln!("{name}: {least:.2} to {most:.2}");
        assert!(least > 0.7 && most < 1.5, "{name}: {least} to {most}");
        compared.push((name, cases, within));
    }
    // Of 12 loads those with an equilibrium, and of these those within half a radius.
    let expected =
        [("chain", 11, 11), ("y", 12, 11), ("helix:50", 12, 12), ("arm", 11, 11), ("rungs:18", 10, 10)];
    assert_eq!(compared, expected);
}
