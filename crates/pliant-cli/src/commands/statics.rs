//! `pliant statics`: where a mechanism settles.

use pliant::full::{self, Equilibrium, StaticsSettings};
use pliant::inputs::Inputs;
use pliant::mechanism::Mechanism;
use pliant::state::State;
use serde_json::{Map, Value};

use crate::args::{Common, Statics};
use crate::blending::{Blended, radii};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::mechanism::Source;
use crate::output::{Answer, count, quantity, table};
use crate::progress::Spinner;
use crate::report;

/// What to tell of an equilibrium that is not stable.
pub const UNSTABLE: &str = "the equilibrium is no minimum of energy: the mechanism may not stay there";

/// The nonlinear equilibrium under gravity and loads.
pub fn run(arguments: &Statics, common: &Common) -> Result<Answer, Failure> {
    if let Some(engine) = arguments.engine.filter(|engine| !matches!(engine, Engine::Full | Engine::Blended))
    {
        return Err(Failure::input(format!(
            "the engine `{}` moves but does not settle: use `full` or `blended`, or leave --engine out; the linear answer \
             near the file's pose is `pliant compliance`",
            engine.name()
        )));
    }
    let source = arguments.mechanism.open(common)?;
    let default = if source.model().is_some() { Engine::Blended } else { Engine::Full };
    match arguments.engine.unwrap_or(default) {
        Engine::Blended => blended(arguments, common, &source),
        _ => full(arguments, common, source.mechanism()),
    }
}

fn full(arguments: &Statics, common: &Common, mechanism: &Mechanism) -> Result<Answer, Failure> {
    let _spinner = Spinner::new(common.format(), "looking for the equilibrium");
    let model = full::Model::new(mechanism);
    let mut simulation = model.simulate();
    arguments.loading.apply(mechanism, simulation.inputs_mut())?;
    let found = simulation
        .settle(&StaticsSettings::default())
        .map_err(|error| Failure::job(error).detail("converged", false))?;
    let state = simulation.state();
    let mut warnings = mechanism.warnings();
    if found.converged && !found.stable {
        warnings.push(UNSTABLE.into());
    }
    let json = document(mechanism, state, &found, &warnings);
    if !found.converged {
        return Err(Failure { details: json, ..Failure::job(not_converged(&found)) });
    }
    Ok(Answer { text: text(mechanism, state, &found), warnings, json: json.into() })
}

/// Where the blend of several models settles.
fn blended(arguments: &Statics, common: &Common, source: &Source) -> Result<Answer, Failure> {
    let mechanism = source.mechanism();
    // Bad input is told before a model is made.
    arguments.loading.apply(mechanism, &mut Inputs::new(mechanism))?;
    let blended = Blended::of(mechanism, source.model(), &arguments.mechanism, common.format())?;
    let mut simulation = blended.model.simulate();
    arguments.loading.apply(mechanism, simulation.inputs_mut())?;
    let unsettled = |failure: Failure| failure.detail("converged", false);
    let found = simulation.settle().map_err(|error| unsettled(Failure::job(error)))?;
    let estimate = simulation.estimate();
    let state = simulation.state().clone();
    let mut warnings = mechanism.warnings();
    warnings.extend(blended.warnings.iter().cloned());
    warnings.extend(blended.beyond(estimate).filter(|_| found.converged));
    let effector_pose = |id| simulation.effector_pose(id);
    let models = blended.model.samples().len();
    let mut json = report::state(mechanism, &state, effector_pose);
    json.insert("converged".into(), found.converged.into());
    json.insert("residual".into(), found.residual.into());
    json.insert("iterations".into(), found.iterations.into());
    json.insert("estimate".into(), estimate.into());
    json.insert("models".into(), models.into());
    json.insert("warnings".into(), warnings.clone().into());
    if !found.converged {
        let left = match found.residual.is_finite() {
            true => format!(": {} are left", quantity(found.residual, "radii or rad")),
            false => String::new(),
        };
        let message = format!(
            "the blend of {} does not come to rest in {} iterations{left}; the loads may be beyond those of its \
             samples: try smaller ones, or `--engine full`",
            count(models, "model"),
            found.iterations
        );
        return Err(Failure { details: json, ..Failure::job(message) });
    }
    let mut rows: Vec<Vec<String>> = [
        ("converged", format!("after {}", count(found.iterations, "iteration"))),
        ("residual", quantity(found.residual, "radii or rad")),
        ("models", models.to_string()),
        ("estimate", format!("off by about {}", radii(estimate))),
    ]
    .map(|(key, value)| vec![key.to_string(), value])
    .to_vec();
    rows.extend(report::largest_motions(mechanism, &state));
    let text = format!("{}\n{}", table(&rows), report::effector_table(mechanism, effector_pose));
    Ok(Answer { text, warnings, json: json.into() })
}

fn document(
    mechanism: &Mechanism,
    state: &State,
    found: &Equilibrium,
    warnings: &[String],
) -> Map<String, Value> {
    let mut json = report::state(mechanism, state, |id| state.effector_pose(mechanism, id));
    json.insert("converged".into(), found.converged.into());
    json.insert("residual".into(), found.residual.into());
    json.insert("closure".into(), found.closure.into());
    json.insert("iterations".into(), found.iterations.into());
    json.insert("load_steps".into(), found.load_steps.into());
    json.insert("load_reached".into(), found.load_reached.into());
    json.insert("stable".into(), found.stable.into());
    json.insert("warnings".into(), warnings.into());
    json
}

/// What to tell of a search that found nothing.
pub fn not_converged(found: &Equilibrium) -> String {
    let left = match found.residual.is_finite() {
        true => format!("{} are left over", quantity(found.residual, "N")),
        false => "the forces are too large for f64".into(),
    };
    format!(
        "no equilibrium found in {} iterations beyond {:.0} % of the loads: {left}; they may be more than the \
         mechanism can bear: try smaller ones, or watch it move with `pliant simulate`",
        found.iterations,
        100.0 * found.load_reached
    )
}

fn text(mechanism: &Mechanism, state: &State, found: &Equilibrium) -> String {
    let converged =
        format!("after {} in {}", count(found.iterations, "iteration"), count(found.load_steps, "load step"));
    let mut rows: Vec<Vec<String>> = [
        ("converged", converged),
        ("residual", quantity(found.residual, "N")),
        ("stable", if found.stable { "yes" } else { "no" }.to_string()),
    ]
    .map(|(key, value)| vec![key.to_string(), value])
    .to_vec();
    rows.extend(report::largest_motions(mechanism, state));
    format!(
        "{}\n{}",
        table(&rows),
        report::effector_table(mechanism, |id| state.effector_pose(mechanism, id))
    )
}
