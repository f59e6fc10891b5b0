//! What is said of an equilibrium, or of a search for one that failed.

use super::words::{count, first_few, quantity};
use crate::contact::Rest;
use crate::engine::{Equilibrium, Warning};
use crate::mechanism::Mechanism;

/// The warning of an equilibrium that is not stable.
pub fn unstable() -> Warning {
    let text =
        "the equilibrium is unstable (a saddle point of the energy): the mechanism may not stay there".into();
    Warning { kind: "unstable", measure: 1.0, unit: "equilibria", text }
}

/// The warning of a search that found nothing.
pub fn not_converged(found: &Equilibrium, mechanism: &Mechanism) -> String {
    let left = match found.residual.is_finite() {
        true => format!("the residual is {}", quantity(found.residual, "N")),
        false => "the forces are too large for f64".into(),
    };
    let passive = passive_joints(mechanism);
    let loose = match passive.len() {
        0 => String::new(),
        n => {
            format!(", give a stiffness to {} without a spring ({})", count(n, "joint"), first_few(&passive))
        }
    };
    format!(
        "no equilibrium found in {} iterations beyond {:.0} % of gravity and loads: {left}; they may be too large for the mechanism: try \
         smaller ones{loose}, or simulate it to see how it moves",
        found.iterations,
        100.0 * found.load_reached
    )
}

/// The warning where nothing comes to rest.
pub fn unheld(rest: &Rest) -> String {
    match &rest.unheld {
        Some((body, true)) => format!(
            "nothing holds body `{body}`: it slides, rolls or tips on what it touches; more friction or another start may hold it; \
             simulate it to see where it goes"
        ),
        Some((body, false)) => {
            format!("nothing holds body `{body}`: it falls; put something below it, or a joint that holds it")
        }
        None => format!(
            "no equilibrium with contact was found in {}: it still moves by {} a step; simulate it to see where it goes",
            count(rest.steps, "step"),
            quantity(rest.moved, "m")
        ),
    }
}

/// Joints with a freedom that has no spring, and that follow no other by a coupling.
pub fn passive_joints(mechanism: &Mechanism) -> Vec<&str> {
    let follows = |id| mechanism.couplings().iter().any(|coupling| coupling.joint == id);
    let passive = mechanism
        .joint_ids()
        .filter(|id| mechanism[*id].freedoms.iter().any(|freedom| freedom.stiffness == 0.0) && !follows(*id));
    passive.map(|id| mechanism[id].name.as_str()).collect()
}
