//! Where the paper's free base is wrong: what the weight of its links does.
//!
//! A hexapod stands on six springs, one below each foot, until it is at rest: how far its base sinks, in full, with the base as
//! in Andrews 2015, §6.1, and with mean axes.

use pliant::full;
use pliant::gallery;
use pliant::inputs::{Inputs, Pull};
use pliant::mechanism::{EffectorId, Mechanism};
use pliant::reduced::{FreeBase, Reduction};
use pliant::spatial::Twist;
use pliant::state::State;

use super::super::section::Finding;
use crate::failure::Failure;
use crate::page::text::{percent, significant};

const DT: f64 = 0.01;
const STEPS: usize = 3000;
/// Of the ground, N/m, N·m/rad, N·s/m and N·m·s/rad.
const STIFFNESS: f64 = 1e4;
const TURNING: f64 = 1.0;
const DAMPING: f64 = 100.0;

/// Puts a spring below each foot, where it is.
fn stand(mechanism: &Mechanism, inputs: &mut Inputs) -> Result<(), Failure> {
    let rest = State::at_rest(mechanism);
    for (e, effector) in mechanism.effectors().iter().enumerate() {
        let target = rest.effector_pose(mechanism, EffectorId::from_index(e));
        let pull = Pull {
            body: effector.body,
            frame: effector.frame,
            target,
            target_twist: Twist::ZERO,
            stiffness: STIFFNESS,
            turning_stiffness: TURNING,
            damping: DAMPING,
            turning_damping: 0.1 * TURNING,
        };
        inputs.add_pull(pull).map_err(Failure::job)?;
    }
    Ok(())
}

/// Stands.
pub fn finding() -> Result<Finding, Failure> {
    let mechanism = gallery::hexapod();
    let base = mechanism.find_body("base").ok_or_else(|| Failure::job("the hexapod has no base"))?;
    let start = State::at_rest(&mechanism).pose(base).position.z;
    let full_model = full::Model::new(&mechanism);
    let mut simulation = full_model.simulate();
    stand(&mechanism, simulation.inputs_mut())?;
    for _ in 0..STEPS {
        simulation.step(DT).map_err(Failure::job)?;
    }
    let truth = start - simulation.state().pose(base).position.z;
    let sag = |way: FreeBase| -> Result<f64, Failure> {
        let model = Reduction::at_rest(&mechanism).free_base(way).build().map_err(Failure::job)?;
        let mut simulation = model.simulate();
        stand(&mechanism, simulation.inputs_mut())?;
        for _ in 0..STEPS {
            simulation.step(DT).map_err(Failure::job)?;
        }
        Ok(start - simulation.state().pose(base).position.z)
    };
    let (paper, ours) = (sag(FreeBase::Uncoupled)?, sag(FreeBase::MeanAxes)?);
    let off = |sag: f64| (sag / truth - 1.0).abs();
    Ok(Finding {
        place: "[A] §6.1",
        claim: "A free base and the links on it move apart from each other but for the forces at the effectors. Links push their base back, and their weight \
                acts on base and links as one; mean axes keep that and stay uncoupled."
            .into(),
        shown: format!(
            "A hexapod that stands on six springs: its base sinks by {} mm in full, by {} mm as in the paper ({} off), by {} mm with mean axes ({} off).",
            significant(truth * 1e3, 3),
            significant(paper * 1e3, 3),
            percent(off(paper)),
            significant(ours * 1e3, 3),
            percent(off(ours))
        ),
        number: off(paper),
        meaning: "error of the sag of a standing hexapod over the sag, uncoupled base",
    })
}
