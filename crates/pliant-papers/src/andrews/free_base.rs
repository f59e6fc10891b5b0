//! Where the paper's free base is wrong: a push at a foot reaches the base at once.
//!
//! A hexapod without gravity is pushed at a foot by a small force: how far its base has gone after a moment, in full, with the
//! base as in Andrews 2015, §6.1, and with mean axes.

use pliant::engine::Simulation;
use pliant::full;
use pliant::gallery;
use pliant::linear::{FreeBase, Linearisation};
use pliant::mechanism::Mechanism;
use pliant::nalgebra::Vector3;
use pliant::spatial::Wrench;

use crate::section::Finding;
use pliant_cli::failure::Failure;
use pliant_cli::page::text::percent;

/// Length of a step, s, and their number: 20 ms.
const DT: f64 = 2e-4;
const STEPS: usize = 100;
/// Small enough for every motion to be linear, N.
const FORCE: [f64; 3] = [3e-4, -5e-4, 1e-3];

/// How far the base goes.
fn way(mut simulation: Box<dyn Simulation>) -> Result<Vector3<f64>, Failure> {
    let mechanism = simulation.mechanism().clone();
    let base = mechanism.find_body("base").ok_or_else(|| Failure::job("the hexapod has no base"))?;
    let foot = mechanism.effector_ids().next().ok_or_else(|| Failure::job("the hexapod has no foot"))?;
    let start = simulation.pose(base).map_err(Failure::job)?.position;
    simulation.inputs_mut().set_gravity([0.0; 3]).map_err(Failure::job)?;
    simulation.set_load(foot, Wrench::force(FORCE)).map_err(Failure::job)?;
    for _ in 0..STEPS {
        simulation.step(DT).map_err(Failure::job)?;
    }
    Ok(simulation.pose(base).map_err(Failure::job)?.position - start)
}

/// How far it goes in a linear model.
fn linear(mechanism: &Mechanism, base: FreeBase) -> Result<Vector3<f64>, Failure> {
    let model = Linearisation::at_rest(mechanism).free_base(base).build().map_err(Failure::job)?;
    way(model.simulate().into())
}

/// Pushes.
pub fn finding() -> Result<Finding, Failure> {
    let mechanism = gallery::hexapod();
    let truth = way(full::Model::new(&mechanism).simulate().into())?;
    let off = |base| Ok((linear(&mechanism, base)? - truth).norm() / truth.norm());
    let (paper, ours): (f64, f64) = (off(FreeBase::Uncoupled)?, off(FreeBase::MeanAxes)?);
    Ok(Finding {
        place: "[A] §6.1",
        claim: "A free base and the links on it move apart from each other but for the forces at the effectors. Links push their base back as they \
                swing; mean axes keep that and stay uncoupled."
            .into(),
        shown: format!(
            "A hexapod pushed at a foot for {} ms: the way of its base is off by {} as in the paper, by {} with mean axes, against the full simulation.",
            (DT * STEPS as f64 * 1e3).round(),
            percent(paper),
            percent(ours)
        ),
        number: paper,
        meaning: "error of the base's way over the way, uncoupled base",
    })
}
