//! `pliant statics`: where a mechanism settles.

use pliant::engine::{Equilibrium, StaticsSettings};
use pliant::engines::{Engine, Model, Options};
use pliant::shared::statics::{not_converged, warnings};

use crate::args::{Common, Statics};
use crate::blending::Blended;
use crate::commands::rest;
use crate::contact_options::{self, Stage};
use crate::failure::Failure;
use crate::load;
use crate::output::{Answer, count, listing, quantity, radii};
use crate::progress::Spinner;
use crate::report;

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
    let mut said = mechanism.warnings();
    let bound;
    let model = match arguments.engine.unwrap_or(default) {
        Engine::Blended => {
            let blended = Blended::of(mechanism, &arguments.mechanism, common.format())?;
            said.extend(blended.advice);
            counted.extend(blended.warnings);
            bound = Some(blended.bound);
            Model::Blended(blended.model)
        }
        engine => {
            let _spinner =
                (engine != Engine::Full).then(|| Spinner::new(common.format(), "choosing motions"));
            let file = source.model.as_ref();
            bound = file.and_then(|file| file.report.as_ref()).map(|(sampling, _)| sampling.max_error);
            let motions = file.map(|file| &file.motions);
            let made =
                engine.model(mechanism, &Options { motions, acts: Some(&inputs), ..Options::default() });
            made.map_err(|error| arguments.mechanism.unmodelled(error))?
        }
    };
    let full = matches!(model, Model::Full(_));
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
    let mut simulation = model.simulate();
    simulation.inputs_mut().clone_from(&inputs);
    let unsettled = |failure: Failure| failure.detail("converged", false);
    let found =
        simulation.settle(&StaticsSettings::default()).map_err(|error| unsettled(Failure::job(error)))?;
    let mut json = report::state(&mut *simulation);
    let springs = load::report(&mut *simulation);
    json.extend(springs.json);
    json.insert("converged".into(), found.converged.into());
    json.insert("residual".into(), found.residual.into());
    json.insert("iterations".into(), found.iterations.into());
    let estimate = if full { None } else { Some(simulation.estimate().map_err(Failure::job)?) };
    if found.converged {
        let of_model = estimate.map(|estimate| (estimate, bound));
        counted.extend(warnings(&mut *simulation, &found, of_model));
    }
    let mut rows = vec![("converged", format!("after {}", count(found.iterations, "iteration")))];
    let stable = ("stable", if found.stable { "yes" } else { "no" }.to_string());
    let left = ("residual", quantity(found.residual, if full { "N" } else { "radii or rad" }));
    let message = match &model {
        Model::Blended(model) => {
            let models = model.samples().len();
            json.insert("models".into(), models.into());
            rows.extend([left, ("models", models.to_string())]);
            not_at_rest(&format!("the blend of {}", count(models, "model")), &found)
        }
        Model::Reduced(model) => {
            let of =
                format!("{} of {}", count(model.motions(), "motion"), count(model.freedoms(), "freedom"));
            json.insert("coordinates".into(), model.motions().into());
            json.insert("stable".into(), found.stable.into());
            rows.extend([left, stable, ("model", of.clone())]);
            not_at_rest(&of, &found)
        }
        _ => {
            json.insert("closure".into(), found.closure.into());
            json.insert("load_steps".into(), found.load_steps.into());
            json.insert("load_reached".into(), found.load_reached.into());
            json.insert("stable".into(), found.stable.into());
            rows[0].1 += &format!(" in {}", count(found.load_steps, "load step"));
            rows.extend([left, stable]);
            not_converged(&found, mechanism)
        }
    };
    if let Some(estimate) = estimate {
        json.insert("estimate".into(), estimate.into());
        rows.push(("estimate", format!("off by about {}", radii(estimate))));
    }
    if !found.converged {
        json.insert("warnings".into(), said.into());
        return Err(Failure { details: json, ..Failure::job(message) });
    }
    let state = simulation.state().clone();
    match contact_options::refuse_overlap(mechanism, &arguments.mechanism, common, &state) {
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
