//! Claim: spring couplings act on bodies that carry effectors, and others are refused; a moved base moves all.

use pliant_core::blended::Model;
use pliant_core::engine::{Simulation as _, Spring};
use pliant_core::gallery;
use pliant_core::spatial::{Pose, Wrench};

use crate::common::FRAME;

fn model(mechanism: &pliant_core::mechanism::Mechanism) -> Model {
    let mut model = Model::new(mechanism, Default::default()).unwrap();
    for size in [1.0, -1.0] {
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
        model.add(&loads).unwrap();
    }
    model
}

#[test]
fn springs_and_bases_act() {
    let mechanism = gallery::build("helix:50").unwrap();
    let model = model(&mechanism);
    let mut simulation = model.simulate();
    let tip = mechanism.effectors()[0].clone();
    let start = simulation.pose(tip.body).unwrap();
    let target = Pose::translation([0.005, 0.0, 0.0]) * start;
    let pull = super::pull(tip.body, Pose::identity(), target, 1e7);
    let id = simulation.inputs_mut().add_spring(pull).unwrap();
    for _ in 0..600 {
        simulation.step(FRAME).unwrap();
    }
    // Far stiffer than the helix: it is where it is pulled to, but for the ratio of the two.
    let off = (simulation.pose(tip.body).unwrap().position - target.position).norm();
    assert!(off < 1e-4, "{off}");
    assert!(simulation.spring_force(id).unwrap().force.norm() > 0.1);
    // A body that carries no effector is no place to pull at.
    let elsewhere = Spring { body: crate::common::handles::body(&mechanism, 3), ..pull };
    simulation.inputs_mut().clear_springs();
    simulation.inputs_mut().add_spring(elsewhere).unwrap();
    assert!(simulation.step(FRAME).is_err());
    simulation.inputs_mut().clear_springs();
    // Moved as a whole, everything moves along.
    let motion = Pose::translation([1.0, 2.0, 3.0]);
    let before = simulation.pose(tip.body).unwrap();
    simulation.teleport(&motion).unwrap();
    let off = (simulation.pose(tip.body).unwrap().position - (motion * before).position).norm();
    assert!(off < 1e-12, "{off}");
}
