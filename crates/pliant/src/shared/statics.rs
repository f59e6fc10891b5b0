//! What is said of an equilibrium, or of a search for one that failed.

use super::watch::{another, beyond, mostly_error};
use super::words::{count, first_few, quantity};
use crate::contact::Rest;
use crate::engine::{Equilibrium, Simulation, Warning};
use crate::mechanism::Mechanism;

/// What is warned of at an equilibrium that was found; of a model with the estimate of its error, and the error that it was made for.
pub fn warnings(
    simulation: &mut dyn Simulation,
    found: &Equilibrium,
    of_model: Option<(f64, Option<f64>)>,
) -> Vec<Warning> {
    let (mechanism, engine) = (simulation.mechanism().clone(), simulation.engine());
    let mut warnings = Warning::of_rest_with_friction(&mechanism, simulation.inputs());
    warnings.extend(Warning::of_limits(&mechanism, engine, simulation.state()));
    warnings.extend(Warning::of_ranges(&mechanism, simulation.state()));
    if let Some((estimate, bound)) = of_model {
        let far = bound.and_then(|bound| beyond(engine, bound, estimate));
        warnings.extend(far.or_else(|| mostly_error(simulation, estimate)));
        warnings.extend(another(simulation, estimate));
    }
    warnings.extend((!found.stable).then(unstable));
    warnings
}

/// The warning of an equilibrium that is not stable.
pub fn unstable() -> Warning {
    let text =
        "the equilibrium is unstable (a saddle point of the energy): the mechanism may not stay there".into();
    Warning { kind: "unstable", measure: 1.0, unit: "equilibria", text }
}

/// A rest that needs more of its friction is about to slip.
pub const NEARLY: f64 = 0.98;

/// The warning of a rest that needs nearly all friction that there is.
pub fn about_to_slip(rest: &Rest) -> Option<Warning> {
    let measure = rest.friction_needed.unwrap_or(1.0);
    let text = format!("it needs {:.1} % of the available friction: it is about to slip", 100.0 * measure);
    (measure > NEARLY).then_some(Warning { kind: "about to slip", measure, unit: "of the friction", text })
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
