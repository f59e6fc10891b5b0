//! Where the paper's free base is wrong: a push at a foot reaches the base at once.
//!
//! A hexapod without gravity is pushed at a foot by a small force: how far its base has gone after a moment, in full, with the
//! base as in Andrews 2015, §6.1, and with mean axes.

use pliant::full;
use pliant::gallery;
use pliant::mechanism::{BodyId, EffectorId, Mechanism};
use pliant::nalgebra::Vector3;
use pliant::reduced::{FreeBase, Reduction};
use pliant::spatial::Wrench;
use pliant::state::State;

use crate::section::Finding;
use pliant_cli::failure::Failure;
use pliant_cli::page::text::percent;

/// Length of a step, s, and their number: 20 ms.
const DT: f64 = 2e-4;
const STEPS: usize = 100;
/// Small enough for every motion to be linear, N.
const FORCE: [f64; 3] = [3e-4, -5e-4, 1e-3];

/// The base of the hexapod and the foot that is pushed.
fn places(mechanism: &Mechanism) -> Result<(BodyId, EffectorId), Failure> {
    let base = mechanism.find_body("base").ok_or_else(|| Failure::job("the hexapod has no base"))?;
    Ok((base, EffectorId::from_index(0)))
}

/// How far the base goes in full.
fn in_full(mechanism: &Mechanism) -> Result<Vector3<f64>, Failure> {
    let (base, foot) = places(mechanism)?;
    let model = full::Model::new(mechanism);
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).map_err(Failure::job)?;
    simulation.set_load(foot, Wrench::force(FORCE)).map_err(Failure::job)?;
    for _ in 0..STEPS {
        simulation.step(DT).map_err(Failure::job)?;
    }
    Ok(simulation.state().pose(base).position - State::at_rest(mechanism).pose(base).position)
}

/// How far it goes in a reduced model.
fn reduced(mechanism: &Mechanism, way: FreeBase) -> Result<Vector3<f64>, Failure> {
    let (base, foot) = places(mechanism)?;
    let model = Reduction::at_rest(mechanism).free_base(way).build().map_err(Failure::job)?;
    let mut simulation = model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).map_err(Failure::job)?;
    simulation.set_load(foot, Wrench::force(FORCE)).map_err(Failure::job)?;
    for _ in 0..STEPS {
        simulation.step(DT).map_err(Failure::job)?;
    }
    Ok(simulation.state().pose(base).position - State::at_rest(mechanism).pose(base).position)
}

/// Pushes.
pub fn finding() -> Result<Finding, Failure> {
    let mechanism = gallery::hexapod();
    let truth = in_full(&mechanism)?;
    let off = |way| Ok((reduced(&mechanism, way)? - truth).norm() / truth.norm());
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
