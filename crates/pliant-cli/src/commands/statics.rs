//! `pliant statics`: where a mechanism settles.

use pliant::engine::{Equilibrium, Simulation, StaticsSettings, Warning};
use pliant::engines::Engine;
use pliant::shared::statics::{not_converged, unstable};
use pliant::{full, reduced};

use crate::args::{Common, Statics};
use crate::blending::{Blended, OF_FILE, another, beyond, mostly_error, radii};
use crate::commands::rest;
use crate::failure::Failure;
use crate::load;
use crate::output::{Answer, count, listing, quantity};
use crate::progress::Spinner;
use crate::report;
use crate::touching::{self, Stage};

/// The nonlinear equilibrium under gravity and loads.
pub fn run(arguments: &Statics, common: &Common) -> Result<Answer, Failure> {
    let settles = |engine: &Engine| matches!(engine, Engine::Full | Engine::Reduced | Engine::Blended);
    if let Some(engine) = arguments.engine.filter(|engine| !settles(engine)) {
        return Err(Failure::input(format!(
            "the engine `{}` has no statics: use `full`, `{}` or `blended`, or leave --engine out; `pliant compliance` has the linear \
             response near the file's pose",
            engine.name(),
            Engine::Reduced.name()
        )));
    }
    let opened = arguments.setup.open(&arguments.mechanism, common, |name| arguments.acting.acts_on(name));
    let (source, mut counted) = opened?;
    let mechanism = &source.mechanism;
    // Bad input is reported before a model is made.
    let inputs = arguments.acting.inputs(mechanism)?;
    let default = if source.model.is_some() { Engine::OF_MODEL_FILES } else { Engine::Full };
    let (mut blended, mut reduced) = (None, None);
    match arguments.engine.unwrap_or(default) {
        Engine::Blended => {
            blended = Some(Blended::of(mechanism, &arguments.mechanism, common.format())?);
        }
        Engine::Reduced => {
            let _spinner = Spinner::new(common.format(), "choosing motions");
            let model = match &source.model {
                Some(file) => file.model(),
                None => reduced::Reduction::at_rest(mechanism).unloaded().under(&inputs).build(),
            };
            reduced = Some(model.map_err(|error| arguments.mechanism.unreduced(error))?);
        }
        _ => {}
    }
    let full = blended.is_none() && reduced.is_none();
    let _spinner = Spinner::new(common.format(), "finding the equilibrium");
    // A free base and loose bodies rest on what they touch, or not at all.
    let stage = || Stage::of(mechanism, &arguments.mechanism, common);
    if full
        && mechanism.bodies().iter().any(|body| body.free)
        && let Some(stage) = stage()?
    {
        if let Some(answer) = rest::on_what_it_touches(&stage, &inputs, mechanism, counted.clone()) {
            return answer;
        }
        // Nothing else could hold what is free.
        if let Some(failure) = rest::blocked(&stage) {
            return Err(failure);
        }
    }
    let mut simulation: Box<dyn Simulation> = match (&blended, &reduced) {
        (Some(blended), _) => blended.model.simulate().into(),
        (None, Some(model)) => model.simulate().into(),
        (None, None) => full::Model::new(mechanism).simulate().into(),
    };
    simulation.inputs_mut().clone_from(&inputs);
    let unsettled = |failure: Failure| failure.detail("converged", false);
    let found =
        simulation.settle(&StaticsSettings::default()).map_err(|error| unsettled(Failure::job(error)))?;
    counted.extend(Warning::of_rest_with_friction(mechanism, simulation.inputs()));
    let engine = simulation.engine();
    counted.extend(Warning::of_limits(mechanism, engine, simulation.state()));
    counted.extend(Warning::of_ranges(mechanism, simulation.state()));
    let mut json = report::state(&mut *simulation);
    let springs = load::report(&mut *simulation);
    json.extend(springs.json);
    json.insert("converged".into(), found.converged.into());
    json.insert("residual".into(), found.residual.into());
    json.insert("iterations".into(), found.iterations.into());
    let mut said = mechanism.warnings();
    let iterations = count(found.iterations, "iteration");
    let (message, rows) = match (&blended, &reduced) {
        (None, Some(model)) => {
            let estimate = simulation.estimate().map_err(Failure::job)?;
            let bound = source.model.as_ref().and_then(|file| file.report.as_ref());
            let bound = bound.map(|(sampling, _)| sampling.max_error).filter(|_| found.converged);
            let far = bound.and_then(|bound| beyond(bound, estimate, OF_FILE));
            counted
                .extend(far.or_else(|| mostly_error(&mut *simulation, estimate)).filter(|_| found.converged));
            counted.extend(another(&mut *simulation, estimate).filter(|_| found.converged));
            counted.extend((found.converged && !found.stable).then(unstable));
            json.insert("estimate".into(), estimate.into());
            json.insert("coordinates".into(), model.motions().into());
            json.insert("stable".into(), found.stable.into());
            let of =
                format!("{} of {}", count(model.motions(), "motion"), count(model.freedoms(), "freedom"));
            let rows = vec![
                ("converged", format!("after {iterations}")),
                ("residual", quantity(found.residual, "radii or rad")),
                ("stable", if found.stable { "yes" } else { "no" }.to_string()),
                ("model", of.clone()),
                ("estimate", format!("off by about {}", radii(estimate))),
            ];
            (not_at_rest(&of, &found), rows)
        }
        (None, None) => {
            counted.extend((found.converged && !found.stable).then(unstable));
            json.insert("closure".into(), found.closure.into());
            json.insert("load_steps".into(), found.load_steps.into());
            json.insert("load_reached".into(), found.load_reached.into());
            json.insert("stable".into(), found.stable.into());
            let rows = vec![
                ("converged", format!("after {iterations} in {}", count(found.load_steps, "load step"))),
                ("residual", quantity(found.residual, "N")),
                ("stable", if found.stable { "yes" } else { "no" }.to_string()),
            ];
            (not_converged(&found, mechanism), rows)
        }
        (Some(blended), _) => {
            let estimate = simulation.estimate().map_err(Failure::job)?;
            said.extend(blended.advice.clone());
            counted.extend(blended.warnings.iter().cloned());
            let far = blended.beyond(estimate).or_else(|| mostly_error(&mut *simulation, estimate));
            counted.extend(far.filter(|_| found.converged));
            counted.extend(another(&mut *simulation, estimate).filter(|_| found.converged));
            let models = blended.model.samples().len();
            json.insert("estimate".into(), estimate.into());
            json.insert("models".into(), models.into());
            let rows = vec![
                ("converged", format!("after {iterations}")),
                ("residual", quantity(found.residual, "radii or rad")),
                ("models", models.to_string()),
                ("estimate", format!("off by about {}", radii(estimate))),
            ];
            (not_at_rest(&format!("the blend of {}", count(models, "model")), &found), rows)
        }
    };
    if !found.converged {
        json.insert("warnings".into(), said.into());
        return Err(Failure { details: json, ..Failure::job(message) });
    }
    let state = simulation.state().clone();
    match touching::refuse_overlap(mechanism, &arguments.mechanism, common, &state) {
        Ok(unknown) => counted.extend(unknown),
        // It comes to lie on something on the way, unless it starts inside.
        Err(refused) => {
            let found = match stage()? {
                Some(stage) if full => rest::on_what_it_touches(&stage, &inputs, mechanism, counted),
                _ => None,
            };
            return found.unwrap_or(Err(refused));
        }
    }
    let rows = rows.into_iter().chain(springs.rows).chain(report::largest_motions(&mut *simulation));
    let text = format!("{}\n{}", listing(rows), report::effector_table(&*simulation));
    Ok(Answer::warned(text, said, counted, json.into()))
}

/// The warning of a model that does not come to rest.
fn not_at_rest(model: &str, found: &Equilibrium) -> String {
    let left = match found.residual.is_finite() {
        true => format!(": the residual is {}", quantity(found.residual, "radii or rad")),
        false => String::new(),
    };
    format!(
        "{model} did not converge in {} iterations{left}; the loads may be beyond those it was built for: try smaller ones, or `--engine \
         full`",
        found.iterations
    )
}
