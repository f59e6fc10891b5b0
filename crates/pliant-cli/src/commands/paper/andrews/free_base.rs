//! Where the paper's free base is wrong: links that do not push back.
//!
//! A hexapod without gravity, pushed at a foot by a small force for 0.2 s: how far the foot has gone, in full, with the
//! base as in Andrews 2015, §6.1, and with mean axes.

use pliant::full;
use pliant::gallery;
use pliant::mechanism::EffectorId;
use pliant::nalgebra::Vector3;
use pliant::reduced::{FreeBase, Reduction};
use pliant::spatial::Wrench;

use super::super::section::Finding;
use crate::failure::Failure;
use crate::page::text::percent;

const DT: f64 = 1.0 / 1000.0;
const STEPS: usize = 200;
/// Small enough for every motion to be linear, N.
const FORCE: [f64; 3] = [3e-4, -5e-4, 1e-3];

/// Pushes.
pub fn finding() -> Result<Finding, Failure> {
    let mechanism = gallery::hexapod();
    let foot = EffectorId::from_index(0);
    let full_model = full::Model::new(&mechanism);
    let mut simulation = full_model.simulate();
    simulation.inputs_mut().set_gravity([0.0; 3]).map_err(Failure::job)?;
    simulation.set_load(foot, Wrench::force(FORCE)).map_err(Failure::job)?;
    let start = simulation.effector_pose(foot).position;
    for _ in 0..STEPS {
        simulation.step(DT).map_err(Failure::job)?;
    }
    let truth: Vector3<f64> = simulation.effector_pose(foot).position - start;
    let off = |base: FreeBase| -> Result<f64, Failure> {
        let model = Reduction::at_rest(&mechanism).free_base(base).build().map_err(Failure::job)?;
        let mut simulation = model.simulate();
        simulation.inputs_mut().set_gravity([0.0; 3]).map_err(Failure::job)?;
        simulation.set_load(foot, Wrench::force(FORCE)).map_err(Failure::job)?;
        for _ in 0..STEPS {
            simulation.step(DT).map_err(Failure::job)?;
        }
        let moved: Vector3<f64> = simulation.effector_pose(foot).position - start;
        Ok((moved - truth).norm() / truth.norm())
    };
    let (paper, ours) = (off(FreeBase::Uncoupled)?, off(FreeBase::MeanAxes)?);
    Ok(Finding {
        place: "[A] §6.1",
        claim: "A free base and the links on it move apart from each other but for the forces at the effectors. Links that swing push their base back; \
                mean axes keep that and stay uncoupled."
            .into(),
        shown: format!(
            "A hexapod pushed at a foot for {} s: the way of the foot is off by {} as in the paper, by {} with mean axes, against the full simulation.",
            DT * STEPS as f64,
            percent(paper),
            percent(ours)
        ),
        number: paper,
        meaning: "error of the foot's way over the way, uncoupled base",
    })
}
