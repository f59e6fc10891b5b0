//! Claim: at a sample the blend is that sample; samples that are the same blend to either; several are as good as one near
//! rest and better further out; samples of different rank invent no motion.

use crate::common::loads;
use pliant_core::engine::Simulation as _;

use crate::common::apart;
use crate::common::loads::{Random, case, effectors_apart};
use pliant_core::blended::{Links, Matrices, Model, Options, Simulation};
use pliant_core::engine::State;
use pliant_core::full;
use pliant_core::gallery;
use pliant_core::mechanism::Mechanism;
use pliant_core::spatial::Wrench;

fn settled(model: &Model, options: Options, loads: &[Wrench]) -> Option<State> {
    let mut simulation = model.simulate();
    simulation.set_options(options);
    set(&mut simulation, loads);
    simulation.settle(&Default::default()).unwrap().converged.then(|| simulation.state().clone())
}

fn set(simulation: &mut Simulation, loads: &[Wrench]) {
    crate::common::loads::set_loads(simulation, loads);
}

/// The full statics under loads.
fn truth(mechanism: &Mechanism, loads: &[Wrench]) -> State {
    let model = full::Model::new(mechanism);
    let mut simulation = model.simulate();
    loads::set_loads(&mut simulation, loads);
    assert!(simulation.settle(&Default::default()).unwrap().converged);
    simulation.state().clone()
}

#[test]
fn at_a_sample_it_is_that_sample() {
    for name in ["y", "helix:20", "hand", "rungs:18", "gripper", "chain"] {
        let mechanism = gallery::build(name).unwrap();
        let mut model = Model::new(&mechanism, Options::default()).unwrap();
        let mut random = Random(2);
        while model.samples().len() < 5 {
            if let Some(case) = case(&mechanism, &mut random, 0.6, false) {
                let _ = model.add(&case.loads);
            }
        }
        for sample in model.samples() {
            for (links, matrices) in [(Links::Joint, Matrices::Eigen), (Links::Twist, Matrices::Compliance)] {
                let options = Options { links, matrices, ..Options::default() };
                let state = settled(&model, options, sample.loads()).unwrap();
                let off = apart(&mechanism, &state, sample.state());
                // Newton's method ends within 1e-10 radii of the sample, whose weight is one but for the fourth power
                // of that.
                assert!(off < 1e-9, "{name} {options:?}: {off}");
            }
        }
    }
}

/// With the same sample twice, and with one that differs by 1e-9.
#[test]
fn samples_that_are_the_same_blend_to_either() {
    for name in ["y", "helix:20", "hand"] {
        let mechanism = gallery::build(name).unwrap();
        let mut random = Random(4);
        let case = case(&mechanism, &mut random, 0.4, false).unwrap();
        let near: Vec<Wrench> = case.loads.iter().map(|w| *w * (1.0 + 1e-9)).collect();
        let half: Vec<Wrench> = case.loads.iter().map(|w| *w * 0.9).collect();
        for matrices in [Matrices::Compliance, Matrices::Eigen] {
            let options = Options { matrices, ..Options::default() };
            let alone = |second: &[Wrench]| {
                let sample = |loads: &[Wrench]| (truth(&mechanism, loads), loads.to_vec());
                let samples = vec![sample(&case.loads), sample(second)];
                let model = Model::from_samples(&mechanism, options, samples).unwrap();
                settled(&model, options, &half).unwrap()
            };
            let (twice, nearly) = (alone(&case.loads), alone(&near));
            let off = apart(&mechanism, &twice, &nearly);
            assert!(off < 1e-8, "{name} {matrices:?}: {off}");
        }
    }
}

/// Loads of the scene's direction: the error of an effector, in radii, with 1, 2 and 4 samples placed by hand, as in
/// Andrews 2015, Fig. 7; and near rest.
#[test]
fn several_samples_are_better_far_out_and_no_worse_near_rest() {
    for name in ["y", "rungs:18", "helix:50"] {
        let mechanism = gallery::build(name).unwrap();
        let rest = truth(&mechanism, &vec![Wrench::ZERO; mechanism.effectors().len()]);
        // Sizes of the load at displacements.
        let unit = |size: f64| {
            let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
            mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
            loads
        };
        let size_at = |wanted: f64| {
            let (mut low, mut high) = (0.0, 1e3);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let model = full::Model::new(&mechanism);
                let mut simulation = model.simulate();
                loads::set_loads(&mut simulation, &unit(middle));
                let found = simulation.settle(&Default::default()).unwrap();
                let less = found.converged && effectors_apart(&mechanism, simulation.state(), &rest) < wanted;
                if less { low = middle } else { high = middle }
            }
            low
        };
        let displacements = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0];
        let mut tables: Vec<Vec<f64>> = Vec::new();
        for samples in [&[][..], &[1.0], &[0.35, 0.7, 1.0]] {
            let mut model = Model::new(&mechanism, Options::default()).unwrap();
            for &at in samples {
                model.add(&unit(size_at(at))).unwrap();
            }
            let errors: Vec<f64> = (displacements.iter())
                .map(|&at| {
                    let loads = unit(size_at(at));
                    // One sample alone may come to no rest at all far out.
                    settled(&model, Options::default(), &loads).map_or(f64::INFINITY, |state| {
                        effectors_apart(&mechanism, &state, &truth(&mechanism, &loads))
                    })
                })
                .collect();
            eprintln!("{name}, {} samples: {errors:.4?}", samples.len() + 1);
            tables.push(errors);
        }
        for table in &tables[1..] {
            // Near rest several samples are never worse than one by more than 0.002.
            assert!(table[0] <= tables[0][0] + 0.002 && table[0] < 0.004, "{name}: {tables:?}");
        }
        // Four samples on the path are better at 0.4 and beyond than one.
        for at in 2..displacements.len() {
            assert!(tables[2][at] < 0.8 * tables[0][at] + 1e-3, "{name}: {tables:?}");
        }
    }
}

/// A straight ladder does not give along itself; samples of it when bent do. Pulled along itself at rest, it stays.
#[test]
fn samples_of_different_rank_invent_no_motion() {
    let mechanism = gallery::build("ladder:12").unwrap();
    let mut model = Model::new(&mechanism, Options::default()).unwrap();
    let bent = |size: f64| {
        let mut loads = vec![Wrench::ZERO; mechanism.effectors().len()];
        mechanism.loads().iter().for_each(|l| loads[l.effector.index()] = l.wrench * size);
        loads
    };
    for size in [5.0, -5.0, 10.0, -10.0] {
        model.add(&bent(size)).unwrap();
    }
    for size in [0.0, 1.0] {
        let mut loads = bent(size);
        loads[0] = loads[0] + Wrench::force([0.0, 0.0, 100.0]);
        let state = settled(&model, Options::default(), &loads).unwrap();
        let off = effectors_apart(&mechanism, &state, &truth(&mechanism, &loads));
        eprintln!("{size}: {off:.1e}");
        assert!(off < 2e-3, "{size}: {off}");
    }
}
