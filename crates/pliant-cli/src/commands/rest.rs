//! `pliant statics` of what touches: where a scene rests, with what forces, and how much friction that needs.

use pliant::contact::{Contact, Grip, Rest, Scene, Stuck};
use pliant::engine::{Inputs, Simulation, StaticsSettings, Warning};
use pliant::mechanism::Mechanism;
use pliant::shared::choosing::choose;
use pliant::shared::statics::{NEARLY, about_to_slip, not_converged, unheld, unstable};
use serde_json::{Value, json};

use crate::contact_options::{self, Stage};
use crate::failure::Failure;
use crate::load;
use crate::output::{Answer, count, listing, quantity, table};
use crate::report;

/// Where a scene rests on what it touches, from where it starts; `None` if it cannot be put together, because things start inside each
/// other.
pub fn on_what_it_touches(
    stage: &Stage,
    inputs: &Inputs,
    mechanism: &Mechanism,
    counted: Vec<Warning>,
) -> Option<Result<Answer, Failure>> {
    let found = look(stage, inputs)?;
    Some(found.map(|(rest, mut scene)| answer(&rest, &mut scene, mechanism, counted)))
}

/// The scene where it rests, and how; `None` if it cannot be put together.
fn look(stage: &Stage, inputs: &Inputs) -> Option<Result<(Rest, Scene), Failure>> {
    // Rest is the same in both engines with every freedom: the faster one looks for it, and in joint coordinates nothing tears.
    let (engine, _) = choose(stage.held());
    let simulation = stage.held().map(|held| engine.simulate(held)).transpose().ok()?;
    let mut scene = stage.scene(simulation).ok()?;
    scene.inputs_mut().clone_from(inputs);
    let unsettled = |failure: Failure| failure.detail("converged", false);
    Some(match scene.rest_with_margin() {
        Ok(rest) if rest.converged => Ok((rest, scene)),
        Ok(rest) => Err(unsettled(Failure::job(unheld(&rest)))),
        Err(error) => Err(unsettled(Failure::job(error))),
    })
}

/// A scene at rest with its contacts as constraints, in equilibrium, for its compliance. Refused where contacts are about to slip: they
/// then yield in one direction and not in the other.
pub fn stuck(stage: &Stage, inputs: &Inputs, counted: &mut Vec<Warning>) -> Option<Result<Stuck, Failure>> {
    let (rest, mut scene) = match look(stage, inputs)? {
        Ok(found) => found,
        Err(failure) => return Some(Err(failure)),
    };
    let needed = rest.friction_needed.unwrap_or(1.0);
    if needed > NEARLY {
        return Some(Err(Failure::job(format!(
            "at rest it needs {:.1} % of the available friction: it is about to slip, and its compliance is undefined; increase the friction",
            100.0 * needed
        ))));
    }
    Some(held(&mut scene, counted).map_err(|failure| failure.detail("converged", false)))
}

/// How far the equilibrium with constraints may be from the rest that it stands for, in radii.
const SAME: f64 = 1e-5;

fn held(scene: &mut Scene, counted: &mut Vec<Warning>) -> Result<Stuck, Failure> {
    let mut stuck = scene.stuck().map_err(Failure::job)?;
    let round = stuck.has_round_contacts();
    let simulation = &mut stuck.simulation;
    let found = simulation.settle(&StaticsSettings::default()).map_err(Failure::job)?;
    if !found.converged {
        return Err(Failure::job(not_converged(&found, simulation.mechanism())));
    }
    if !found.stable && round {
        counted.push(Warning {
            text: "a round surface is held at its contact point in an unstable equilibrium; it would roll, which the contact constraints \
                   leave out: compliances of the bodies in contact are off by that"
                .into(),
            ..unstable()
        });
    } else {
        counted.extend((!found.stable).then(unstable));
    }
    let radius = scene.mechanism().radius().max(f64::MIN_POSITIVE);
    let apart = (simulation.state().poses.iter().zip(&scene.state().poses))
        .map(|(a, b)| (a.position - b.position).norm() / radius)
        .fold(0.0, f64::max);
    counted.extend((apart > SAME).then(|| Warning {
        kind: "not at rest",
        measure: apart,
        unit: "radii",
        text: format!(
            "with its contacts as constraints the equilibrium moves by {}: the relative error of the compliance is of that order",
            quantity(apart, "radii")
        ),
    }));
    Ok(stuck)
}

/// Why a scene cannot be put together, with what may help.
pub fn blocked(stage: &Stage) -> Option<Failure> {
    let (engine, _) = choose(stage.held());
    let simulation = stage.held().map(|held| engine.simulate(held)).transpose().ok()?;
    let mut failure = stage.scene(simulation).err()?;
    if stage.held().is_some_and(|held| held.bodies().iter().any(|body| body.free)) {
        failure.message.push_str("; `--base x,y,z` places a free base higher");
    }
    Some(failure.detail("converged", false))
}

fn answer(rest: &Rest, scene: &mut Scene, mechanism: &Mechanism, mut counted: Vec<Warning>) -> Answer {
    let mut json = report::state(scene);
    let contacts: Vec<Value> = pushing(scene)
        .map(|contact| {
            let mut about = contact_options::contact(scene, contact);
            about.insert("friction_used".into(), contact.friction_used().into());
            about.insert("sticks".into(), (contact.grip() == Grip::Sticks).into());
            about.into()
        })
        .collect();
    json.insert("converged".into(), true.into());
    json.insert("iterations".into(), rest.steps.into());
    json.insert("residual".into(), rest.moved.into());
    json.insert("wander".into(), rest.wander.into());
    json.insert("friction_needed".into(), json!(rest.friction_needed));
    json.insert("contacts".into(), contacts.into());
    let needed = rest.friction_needed.unwrap_or(1.0);
    let friction = match needed {
        0.0 => "none".to_string(),
        needed => format!("{:.1} % of the available friction", 100.0 * needed),
    };
    let wander = match rest.wander {
        0.0 => String::new(),
        way => {
            format!(
                ", to {}: within that the position is not determined, as nothing else holds it",
                quantity(way, "m")
            )
        }
    };
    let slipping = pushing(scene).filter(|contact| contact.grip() == Grip::Slips).count();
    let rows = vec![
        ("at rest", format!("after {}{wander}", count(rest.steps, "step"))),
        ("contacts", format!("{}, {slipping} at their friction limit", pushing(scene).count())),
        ("friction needed", friction),
    ];
    counted.extend(scene.world().zones().filter_map(|(_, zone)| zone.warning()));
    counted.extend(scene.world().warnings().into_iter().filter(|warning| warning.kind == "coarse zone"));
    let springs = load::report(scene);
    json.extend(springs.json);
    let rows = rows.into_iter().chain(springs.rows).chain(report::largest_motions(scene));
    let text = format!("{}\n{}\n{}", listing(rows), contact_table(scene), report::effector_table(scene));
    counted.extend(about_to_slip(rest));
    Answer::warned(text, mechanism.warnings(), counted, json.into())
}

fn pushing(scene: &Scene) -> impl Iterator<Item = &Contact> {
    scene.world().contacts().iter().filter(|contact| contact.force.norm() > 0.0)
}

/// Each point with its force and what part of its friction is in use.
fn contact_table(scene: &Scene) -> String {
    let header = ["CONTACT", "ON", "X", "Y", "Z", "PRESSES", "ALONG", "FRICTION IN USE"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for contact in pushing(scene) {
        let presses = contact.force.dot(&contact.normal);
        let along = (contact.force - contact.normal * presses).norm();
        let used = format!("{:.0} %", 100.0 * contact.friction_used());
        let names = [contact.first, contact.second].map(|one| contact_options::name(scene, one).to_string());
        let place = contact.point.iter().map(|x| quantity(*x, "m"));
        let forces = [quantity(presses, "N"), quantity(along, "N"), used];
        rows.push(names.into_iter().chain(place).chain(forces).collect());
    }
    if rows.len() == 1 { "nothing touches\n".into() } else { table(&rows) }
}
